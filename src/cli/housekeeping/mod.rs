//! Looking after the journal: `backup` and `prune`.

pub(super) mod backup;
pub(super) mod prune;

//! What the service shows of a row, and what it means for it.

pub(super) mod child_companies;
pub(super) mod classify;
pub(super) mod lookup_answer;
pub(super) mod lookup_control;
pub(super) mod lookups;
pub(super) mod matching;
pub(super) mod oneoff_lookup;
pub(super) mod recent_creations;
pub(super) mod settle_timer;
pub(super) mod verify;

//! The queue: what a run asks of the journal and writes to it.

pub(super) mod audit;
pub(super) mod calls;
pub(super) mod canary;
pub(super) mod clock_jump;
pub(super) mod paused_sheets;
pub(super) mod remaining;
pub(super) mod runs;
pub(super) mod work;
pub(super) mod writer;

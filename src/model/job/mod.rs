//! What becomes of a job: where it stands and why, what an answer means for it, what is left to do, and the news of it.

pub mod event;
pub mod quota;
pub mod reason;
pub mod remaining;
pub mod settle;
pub mod state;
pub mod tally;
pub mod verdict;

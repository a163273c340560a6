//! The state machine on disk: one named write for each transition, and what people decide.

pub(super) mod attempt;
pub(super) mod audit;
pub(super) mod baseline;
pub(super) mod cancellation;
pub(super) mod decision_log;
pub(super) mod dependents;
pub(super) mod doubt;
pub(super) mod hold;
pub(super) mod import_reserve;
pub(super) mod import_turn;
pub(super) mod job_row;
pub(super) mod licence;
pub(super) mod operator;
pub(super) mod quota;
pub(super) mod selection;
pub(super) mod step;
pub(super) mod transition;
pub(super) mod write;

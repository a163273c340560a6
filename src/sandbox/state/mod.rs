//! What the service holds: its records, what was done, what was counted, and what is there before the first request.

pub(super) mod ledger;
pub(super) mod seed_data;
pub(super) mod statistics;
pub(super) mod world;

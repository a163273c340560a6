//! What the service holds: its records and what hangs on them, what was done, what was counted, and what is there before
//! the first request.

pub(super) mod attachments;
pub(super) mod ledger;
pub(super) mod seed_data;
pub(super) mod statistics;
pub(super) mod world;

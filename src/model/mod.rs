//! The words and the rules that need no world: ids, records, job states, verdicts, natural keys, retry
//! arithmetic, events and tallies. No input or output, no SQL, no HTTP, no clock.

pub mod action;
pub mod amount;
pub mod company_forest;
pub mod content_hash;
pub mod descriptor;
pub mod device_status;
pub mod digest;
pub mod forecast;
pub mod id;
mod job;
pub(crate) mod json;
pub mod key;
pub mod kind;
pub mod operation;
pub mod policy;
pub mod record;
pub mod time;
pub(crate) mod unseen;
pub mod window;
pub(crate) mod words;
pub mod zone;

pub use job::{event, quota, reason, remaining, settle, state, tally, verdict};

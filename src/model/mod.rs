//! The words and the rules that need no world: ids, records, job states, verdicts, natural keys, retry
//! arithmetic, events and tallies. No input or output, no SQL, no HTTP, no clock.

pub mod amount;
pub mod company_forest;
pub mod digest;
pub mod event;
pub mod forecast;
pub mod id;
pub mod key;
pub mod kind;
pub mod operation;
pub mod policy;
pub mod quota;
pub mod reason;
pub mod record;
pub mod remaining;
pub mod settle;
pub mod state;
pub mod tally;
pub mod time;
pub mod verdict;
pub mod zone;

//! The simulated service: all operations of the specification in one process, for rehearsals, demonstrations and
//! tests.
//!
//! The service is a function of its state, a request and a moment ([`Sandbox::respond`]); the server in front of it
//! ([`Running`]) only reads requests and does to the answers what they say. A [`Scenario`] sets limits,
//! clock and faults; the ledger tells what was really done, apart from what was answered. It imports nothing of the
//! rest of the crate, which meets it over HTTP only.
//!
//! Where the specification is silent the sandbox takes what it gets: a rehearsal must not teach rules that are not
//! there.

mod error;
mod exchange;
mod faults;
mod handle;
mod operations;
mod scenario;
mod server;
mod service;
mod state;

#[cfg(test)]
mod tests;

pub use error::SandboxError;
pub use exchange::{Answer, Effect, Millis, Request, Response};
pub use faults::{Fault, FaultKind};
pub use handle::Sandbox;
pub use scenario::{ClientEntry, CompanyEntry, DeviceStatus, Scenario};
pub use server::{CallersClock, Running, bind, steady_clock, wall_clock};
pub use state::attachments::Attachment;
pub use state::ledger::LedgerEntry;
pub use state::seed_data::{
    Being, ENTERPRISE_TEMPLATES, Founded, Founding, MODELS, Present, ROOT_COMPANY, TEMPLATE_DEVICE,
    VPN_CLOUDS,
};
pub use state::statistics::Statistics;

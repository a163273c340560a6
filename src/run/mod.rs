//! A run: every unfinished job of a journal, sent to the service under its limits, once each.
//!
//! The `dispatcher` is the one owner of what is under way. The order permission, claim, send, settle, tell stands
//! there, in one place. What stands around it:
//!
//! ```text
//! session      opens and closes a run               ends, terms  how it ended, and what it went by
//! supply       jobs from the journal                closing      whether it is over
//! hand         jobs, mail and tickets               withdrawal   what was to leave and did not
//!
//! lane         the errands of an operation          departures   its pace at the door, whatever the disk does
//! breaker      an operation that fails              probing      what finds out whether it works again
//! reach        a service out of reach               capacity     a machine out of sockets
//! quota        the creations of a day               counting     kept in step with what leaves and comes home
//!
//! outcome      an answer, for its row               consequence  the same, for the run
//! before       the look before sending              after        the way out of doubt
//! lookups      which question tells what            reading      what its answer says, and to whom
//! witness      what a look-up is proved by          refusals     sheets set aside
//! matching     which record found is ours           weigh        what that means for the row
//! family       the children of a company, by name   own_site     the site that a device makes
//! made         what this run made lately            audit        reads it back (sighting, readback)
//! unseen       rows refused below it
//!
//! timekeeping  a clock that jumps                   settling     how long "not there" is not believed
//! watchdog     notices that nothing moves           standstill   what it is shown
//! remaining    what is still to be done, told and noted for the forecast
//! ```
//!
//! Outside of a run, `verify` asks the service for a person who decides, by way of `inquiry`; `lock` keeps two runs from
//! one account. What an answer means is decided in [`crate::service`], what follows from it in [`crate::model::settle`].

mod after;
mod audit;
mod before;
mod breaker;
mod capacity;
mod closing;
mod consequence;
mod counting;
mod departures;
mod dispatcher;
mod ends;
#[cfg(test)]
mod example;
mod family;
mod hand;
mod inquiry;
mod lane;
mod lock;
mod lookups;
mod made;
mod matching;
mod outcome;
mod own_site;
mod probing;
mod quota;
mod reach;
mod readback;
mod reading;
mod refusals;
mod remaining;
mod session;
mod settling;
mod sighting;
mod standstill;
mod supply;
mod terms;
mod timekeeping;
mod unseen;
mod verify;
mod watchdog;
mod weigh;
mod withdrawal;
mod witness;

use std::time::Duration;

use crate::journal::{AuditScope, Writing};
use crate::model::id::SheetId;
use crate::model::time::Moment;
use crate::service::Rate;

pub use ends::{Ending, LeftSheet, end_of, require_available};
pub use lock::{AccountHolder, AccountLock, account_locks, lock_account};
pub use session::run;
pub use verify::{Identity, Sight, Verifier};
pub use watchdog::{LOOK_EVERY, PATIENCE, Pulse, Standstill, Watchdog};

/// Everything a run is told besides journal and client.
#[derive(Debug, Clone)]
pub struct Options {
    /// What to do where there is a choice.
    pub policy: Policy,
    /// How fast and how much.
    pub limits: Limits,
    /// Begin no more requests from this moment on.
    pub until: Option<Moment>,
    /// Where the journal is written.
    pub writing: Writing,
}

/// What to do where there is a choice; the section `policy` of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// When the day's quota is spent.
    pub on_quota: OnQuota,
    /// When a record with the row's key is there before we send.
    pub on_existing: OnExisting,
    /// When an answer was lost and nothing is found.
    pub in_doubt: InDoubt,
    /// How long after a lost answer "not there" may be believed.
    pub settle: Duration,
    /// Which records are read back before the run ends; `None` for none.
    pub audit: Option<AuditScope>,
    /// When the service refuses the rows of a sheet one after another for the same reason.
    pub on_rejections: OnRejections,
}

/// When the service refuses the rows of a sheet one after another for the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRejections {
    /// Set the sheet aside and ask: [`Interrupt::GoOn`] or [`Interrupt::Leave`] is the answer.
    Ask,
    /// Set the sheet aside; its rows stay ready.
    Leave,
    /// Send its other rows all the same.
    GoOn,
}

/// When the day's quota is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnQuota {
    /// Wait for the service's midnight.
    Wait,
    /// End the run; a later one goes on.
    Exit,
}

/// When a record with the row's key is there before we send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    /// Take it as the row's record and carry out what the row asks for besides.
    Adopt,
    /// Take it as the row's record and leave it as it is.
    Skip,
    /// Refuse the row.
    Fail,
}

/// When an answer was lost and nothing is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InDoubt {
    /// Send again once absence is proved.
    Settle,
    /// Leave it to a person.
    Hold,
}

/// How fast and how much; the section `limits` of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The pace of each operation.
    pub rate: Rate,
    /// Requests under way at once.
    pub concurrency: usize,
    /// Creations a day, when known.
    pub daily_quota: Option<u64>,
    /// Creations a day to leave for others.
    pub reserve: u64,
}

/// What a person at the terminal, or the system, asks of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// Begin nothing more; let what is under way come home.
    Drain,
    /// End at once. What is under way is in doubt at the next start.
    Abort,
    /// Go on with a sheet that was set aside, whatever the service says.
    GoOn(SheetId),
    /// Leave a sheet set aside.
    Leave(SheetId),
}

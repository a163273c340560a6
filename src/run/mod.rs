//! A run: every unfinished job of a journal, sent to the service under its limits, once each.
//!
//! The `dispatcher` keeps the order permission, claim, send, settle, tell, in one place. The parts own their state behind
//! private fields and answer with values, or with actions (`run_action`) that the dispatcher carries out:
//!
//! ```text
//! gates/          may a request leave now?         breaker, operation_gate (pace), connectivity, capacity, quota, creations;
//!                                                  paused_sheets
//! in_flight/      what is in memory                jobs, queues and writes; job_source
//! evidence/       what the service shows of a row  question, lookups, matching, classify; record_list, list_ahead, reference_lag,
//!                                                  recent_creations, settle_timer
//! decide/         what follows for a row           pre_send, settle, reconcile: functions of the row and what is known
//! audit/          reads back what was made         read_back, findings
//! canary          the rows that are sent and verified first
//! journal_client  writes to the journal, asks it
//! ```
//!
//! `dispatcher/lookup_answers` carries out decisions and hands answers of look-ups to whoever asked; `dispatcher/rounds` sees to
//! the clock (`clock_watch`), to what is shown of the run (`remaining`, `watchdog`) and to its end.
//!
//! Before a run, the ids that its rows name are verified (`id_check`). A run begins (`opening`) and ends (`ending`) in
//! `session`, after it has waited for the hours in which it may send (`waiting`) and has signed in (`first_sign_in`). Outside
//! of a run, `verify` asks the service for a person who decides, by way of `oneoff_lookup`; `account_lock` keeps two runs from
//! one account. What an answer means is decided in [`crate::service`], what follows from it in [`crate::model::settle`].

mod account_lock;
mod audit;
mod canary;
mod clock_watch;
mod decide;
mod dispatcher;
mod ending;
mod evidence;
mod first_sign_in;
mod gates;
mod id_check;
mod in_flight;
mod journal_client;
mod opening;
mod rejection_shape;
mod remaining;
mod run_action;
mod session;
#[cfg(test)]
mod tests;
mod waiting;
mod watchdog;

use std::time::Duration;

use crate::journal::{AuditScope, Writing};
use crate::model::id::SheetId;
use crate::model::time::Moment;
use crate::model::window::SendingHours;
use crate::service::Rate;

pub use crate::model::policy::{InDoubt, OnClose, OnExisting, OnQuota};
pub use account_lock::{AccountHolder, AccountLock, account_locks, lock_account};
pub use canary::choose_canary;
pub use ending::{Ending, LeftSheet, end_of};
pub use evidence::list_ahead::ListAhead;
pub use evidence::verify::{RecordCheck, RecordSearch, Verifier};
pub use first_sign_in::sign_in;
pub use id_check::{look_up_of, verify_ids};
pub use opening::require_available;
pub use session::run;
pub use waiting::{Begun, Waited, end_unsent, note_empty, wait_to_begin};
pub use watchdog::{CHECK_EVERY, PATIENCE, Pulse, Standstill, Watchdog};

/// Everything a run is told besides journal and client.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// What to do where there is a choice.
    pub policy: RunPolicy,
    /// How fast and how much.
    pub limits: RunLimits,
    /// Begin no more requests from this moment on.
    pub until: Option<Moment>,
    /// When requests may leave.
    pub hours: SendingHours,
    /// The options that were typed for this run alone: each with a space before it.
    pub typed: String,
    /// The run's entry in the journal, where it is open already.
    pub begun: Option<Begun>,
    /// A list that was taken since the lock of the account is held.
    pub list_ahead: Option<ListAhead>,
    /// Where the journal is written.
    pub writing: Writing,
}

/// What to do where there is a choice; the section `policy` of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunPolicy {
    /// When the day's quota is spent.
    pub on_quota: OnQuota,
    /// Outside the hours in which requests may leave.
    pub on_close: OnClose,
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
    /// Whether an update sets fields that the service has changed since the row was exported.
    pub overwrite: bool,
}

/// When the service refuses the rows of a sheet one after another for the same reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRejections {
    /// Pause the sheet and ask: [`Interrupt::GoOn`] or [`Interrupt::Leave`] is the answer.
    Ask,
    /// Pause the sheet; its rows stay ready.
    Leave,
    /// Send its other rows anyway.
    GoOn,
}

/// How fast and how much; the section `limits` of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLimits {
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
    /// Begin nothing more; wait for what is under way.
    Drain,
    /// End at once. What is under way is in doubt at the next start.
    Abort,
    /// Go on with a paused sheet, whatever the service says.
    GoOn(SheetId),
    /// Leave a sheet paused.
    Leave(SheetId),
}

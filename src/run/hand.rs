//! What the dispatcher has in its hands: jobs with what they wait for, and the mail that comes in about them.

use std::time::Duration;

use super::after::Finding;
use super::audit;
use super::breaker::Phase;
use super::ends::Ending;
use crate::error::Result;
use crate::journal::{Reply, Shelved, Work};
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::time::{Day, Moment};

/// A job in the dispatcher's hands.
pub(super) struct InHand {
    pub(super) work: Work,
    pub(super) stage: Stage,
    /// The phase of its operation's breaker in which its request got permission.
    pub(super) phase: Phase,
    /// The day on which the creation under way counts.
    pub(super) counted: Option<Day>,
    /// The baseline found by the look before sending, to be stored with the claim.
    pub(super) baseline: Option<Vec<RemoteId>>,
}

/// What a job in hand is waiting for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stage {
    /// Permission for its errand.
    Queued,
    /// The list of its parent's children, asked for by another job.
    AwaitingFamily,
    /// A look-up under way.
    Looking,
    /// The journal's word on who owns the records that were found.
    Owners(Box<Finding>),
    /// Its claim to be on disk.
    Claiming,
    /// Its answer.
    UnderWay,
    /// Its outcome to be on disk; `sent` when that is the outcome of a request.
    Settling { sent: bool },
}

/// News for the dispatcher besides answers.
pub(super) enum Inbox {
    /// The journal's writer answers.
    Journal(Reply),
    /// Which operations unfinished jobs need, and whether another process has written.
    Survey { lanes: Vec<Operation>, version: i64 },
    /// What the journal knows of the quota of a day.
    Ledger { day: Day, used: u64 },
    /// The moments that rows wait for were brought forward in the journal, as the clock was set back.
    BroughtForward,
    /// A sheet is set aside in the journal.
    Shelved { sheet: SheetId, shelved: Result<Shelved> },
    /// Records known to exist, to prove a look-up by.
    Witnesses { job: JobId, operation: Operation, witnesses: Vec<Work> },
    /// What the journal says about records that are read back.
    Audit(audit::News),
}

/// What a write was for.
pub(super) enum Ticket {
    Claim(JobId),
    /// `makes` when it confirms that a request of ours made the job's record.
    Settle {
        job: JobId,
        makes: bool,
        /// Until when it is sent again, where it was put off for what the service does not show yet.
        unseen_until: Option<Moment>,
    },
    Note,
}

/// The first reason to stop, and what is left to wait for.
pub(super) struct Drain {
    pub(super) ending: Ending,
    pub(super) deadline: Duration,
}

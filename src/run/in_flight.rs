//! What the dispatcher has in its hands: jobs with what they wait for, the mail that comes in about them, and the writes
//! that the journal has yet to answer.

use std::collections::HashMap;
use std::time::Duration;

use super::audit;
use super::decide::reconcile::FoundRecords;
use super::decide::reference_lag::Refused;
use super::gates::breaker::Phase;
use crate::error::Result;
use crate::journal::{Reply, Shelved, Unfinished, Work};
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::tally::Tally;
use crate::model::time::Day;

/// A job in the dispatcher's hands.
pub(super) struct ActiveJob {
    pub(super) work: Work,
    pub(super) stage: Stage,
    /// The phase of its operation's breaker in which its request got permission.
    pub(super) phase: Phase,
    /// The day on which the creation under way counts.
    pub(super) counted: Option<Day>,
    /// The baseline found by the look before sending, to be stored with the claim.
    pub(super) baseline: Option<Vec<RemoteId>>,
    /// When its request left, by [`crate::clock::Clock::elapsed`].
    pub(super) left: Duration,
}

/// What a job in hand is waiting for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stage {
    /// Permission for its errand.
    Queued,
    /// The list of its parent's children, asked for by another job.
    AwaitingChildren,
    /// A look-up under way.
    Looking,
    /// To be seen whether what it refers to is visible: it was refused with `noDataFound`.
    AwaitingReference,
    /// The journal's word on who owns the records that were found.
    Owners(Box<FoundRecords>),
    /// Its claim to be on disk.
    Claiming,
    /// Its answer.
    UnderWay,
    /// Its outcome to be on disk; `sent` when that is the outcome of a request.
    SettleTimers { sent: bool },
}

/// News for the dispatcher besides answers.
pub(super) enum Message {
    /// The journal's writer answers.
    Journal(Reply),
    /// Which operations unfinished jobs need, and whether another process has written.
    JournalChanges { lanes: Vec<Operation>, version: i64, tally: Option<Tally> },
    /// What the journal knows of the quota of a day.
    QuotaLedger { day: Day, sent: u64 },
    /// The moments that rows wait for were brought forward in the journal, as the clock was set back.
    DueTimesRebased,
    /// A sheet is set aside in the journal.
    SheetPaused { sheet: SheetId, paused: Result<Shelved> },
    /// Records known to exist, to prove a look-up by.
    Controls { job: JobId, operation: Operation, witnesses: Vec<Work> },
    /// What is still to be done, by the journal; `None` when it could not be read.
    Unfinished(Option<Box<Unfinished>>),
    /// What the journal says about records that are read back.
    Audit(audit::AuditReply),
}

/// What a write was for.
pub(super) enum Ticket {
    /// To put the job's step on disk as `sending`.
    Claim(JobId),
    /// `makes` when it confirms that a request of ours made the job's record.
    Settle {
        job: JobId,
        makes: bool,
        /// Present when it waits in hand until it is known whether what it refers to is visible.
        refused: Option<Box<Refused>>,
    },
    /// Nothing waits for it.
    Note,
}

/// What the writes under way are for, by the numbers that the journal's writer answers with.
#[derive(Default)]
pub(super) struct Tickets {
    open: HashMap<u64, Ticket>,
    next: u64,
}

impl Tickets {
    /// The number for a write.
    pub(super) fn issue(&mut self, ticket: Ticket) -> u64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, ticket);
        number
    }

    /// What the write of this number was for, now that it is answered.
    pub(super) fn redeem(&mut self, number: u64) -> Option<Ticket> {
        self.open.remove(&number)
    }

    /// How many writes are not answered yet.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether every write is answered.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

//! Decisions about one row: what follows from a look-up or an answer, as a function of the row, of what was said, and of
//! what the run knows. The dispatcher carries them out.

pub(super) mod pre_send;
pub(super) mod reconcile;
pub(super) mod settle;
mod update;
pub(super) mod upkeep;

use std::time::Duration;

use super::RunPolicy;
use super::evidence::RunEvidence;
use super::evidence::question::Question;
use crate::journal::Write;
use crate::model::action::Action;
use crate::model::action::before::Before;
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::model::verdict::Rejection;
use crate::service::{Found, Lookup};

/// What follows for a row.
#[derive(Debug, PartialEq)]
pub(super) enum RowDecision {
    /// Its step is sent as soon as that is permitted.
    Send,
    /// The same, and this is what the record has of what the step changes.
    SendOver(Before),
    /// The service is asked.
    Ask(Lookup, Question),
    /// A list is compared with it, once it is there: the children of a company, or what a record has.
    CompareWithList(Lookup),
    /// It is put in the journal, and compared with a newer list when it comes again.
    WriteUnlisted(Lookup, Box<Write>),
    /// A list has shown the id of what the row names: it goes on with this action.
    Resolved(Box<Action>),
    /// The journal is asked who owns these records; of a row that adds a licence code, for which none is found, what it knows of
    /// other requests for it.
    AskOwners(FoundRecords),
    /// A record known to exist is looked up by this operation, which did not find the row's.
    AskControl(Operation),
    /// It is put in the journal, and with that the row leaves memory.
    Write(Box<Write>),
    /// The service has refused it in the request whose answer was lost.
    Refused(Rejection),
    /// It leaves memory as it is.
    Drop,
    /// These records were there before it is sent, as far as that is known; and the rest follows.
    Baseline(Option<Vec<RemoteId>>, Box<Self>),
}

impl RowDecision {
    fn write(write: Write) -> Self {
        Self::Write(Box::new(write))
    }
}

/// Records that were found, while the journal says who owns them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FoundRecords {
    pub(super) question: Question,
    /// The operation that found them.
    pub(super) operation: Operation,
    pub(super) found: Vec<Found>,
    /// Whether they are out of all that the service has of what was asked for, and not out of what may be one page of it.
    pub(super) is_whole: bool,
}

impl FoundRecords {
    /// The ids of the records.
    pub(super) fn ids(&self) -> Vec<RemoteId> {
        self.found.iter().filter_map(|found| found.id).collect()
    }
}

/// What the run knows, as far as it matters for one row.
pub(super) struct RunFacts<'run> {
    /// Whether an operation can be used.
    pub(super) usable: &'run dyn Fn(Operation) -> bool,
    pub(super) evidence: &'run RunEvidence,
    pub(super) policy: RunPolicy,
    /// By [`crate::clock::Clock::elapsed`].
    pub(super) elapsed: Duration,
    pub(super) now: Moment,
    /// Whether the row's sheet is paused.
    pub(super) is_paused: bool,
    /// Whether the service fails at the operation of the row's step, or has only just come back.
    pub(super) is_unstable: bool,
}

impl RunFacts<'_> {
    /// The look-up, where its operation can be used.
    fn if_usable(&self, lookup: Option<Lookup>) -> Option<Lookup> {
        lookup.filter(|lookup| (self.usable)(lookup.operation()))
    }
}

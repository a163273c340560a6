//! The queue of one operation: requests that wait for permission, claimed jobs that wait to be sent, and whether the
//! journal has more jobs for it.

use std::collections::VecDeque;

use crate::model::id::JobId;
use crate::model::time::Moment;
use crate::run::evidence::question::{Question, Tries};
use crate::service::Lookup;

/// Something that waits for permission to send one request.
#[derive(Debug, Clone)]
pub(in crate::run) enum QueuedRequest {
    /// The current step of a job.
    Send(JobId),
    /// A look-up, and what became of its tries so far.
    Look { lookup: Lookup, question: Question, tries: Tries },
}

/// Whether the journal has more jobs for an operation than are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Backlog {
    /// It may have.
    Unknown,
    /// It has been asked.
    Asked,
    /// It has none until the moment given, if one is.
    Exhausted { next_due: Option<Moment> },
}

impl Backlog {
    /// Whether it is time to ask the journal.
    pub(in crate::run) fn wants_asking(self, now: Moment) -> bool {
        match self {
            Self::Unknown => true,
            Self::Asked => false,
            Self::Exhausted { next_due } => next_due.is_some_and(|due| due <= now),
        }
    }

    /// The journal has given a page, which brought something new or not.
    pub(in crate::run) fn answered(&mut self, is_fresh: bool, next_due: Option<Moment>) {
        if *self == Self::Asked {
            // A page that brought nothing new leaves nothing to ask for until something is due.
            *self = if is_fresh { Self::Unknown } else { Self::Exhausted { next_due } };
        }
    }

    /// When the next job falls due, as far as the journal has said.
    pub(in crate::run) fn next_due(self) -> Option<Moment> {
        match self {
            Self::Unknown | Self::Asked => None,
            Self::Exhausted { next_due } => next_due,
        }
    }

    /// Whether nothing is to be had now or later.
    pub(in crate::run) fn is_spent(self) -> bool {
        matches!(self, Self::Exhausted { next_due: None })
    }
}

/// See the module. Only [`super::InFlight`] has one.
pub(super) struct OperationQueue {
    pub(super) waiting: VecDeque<QueuedRequest>,
    /// Jobs whose claims are on disk and whose requests leave as soon as the sliding second permits it.
    pub(super) claimed: VecDeque<JobId>,
    pub(super) backlog: Backlog,
    /// Jobs of this operation in memory, those in doubt excepted.
    pub(super) jobs: usize,
}

impl Default for OperationQueue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            claimed: VecDeque::new(),
            // Nobody asks the journal for look-ups; the backlog of jobs is `Unknown` as soon as one needs the operation.
            backlog: Backlog::Exhausted { next_due: None },
            jobs: 0,
        }
    }
}

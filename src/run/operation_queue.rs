//! One operation of a run: its pace, its breaker, and the errands that wait for its permission.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::audit::AuditQuestion;
use super::gates::breaker::Breaker;
use super::gates::send_window::SendWindow;
use crate::clock::Clock;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::service::{Limiter, Lookup, Rate};

/// Something that waits for permission to send one request.
#[derive(Debug, Clone)]
pub(super) enum QueuedRequest {
    /// The current step of a job.
    Send(JobId),
    /// A look-up, and what became of its tries so far.
    Look { lookup: Lookup, purpose: Purpose, tries: Tries },
}

/// The tries of a look-up without an answer that tells anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tries {
    /// How many failed at the service.
    pub(super) failed: u32,
    /// How many in a row, up to the last, were refused for their access token.
    pub(super) token_refused: u32,
}

/// Why nothing of an operation is sent any more in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Halt {
    /// The service answered with a page or a redirect of this HTTP status: the endpoint is not where it was looked for.
    Missing { status: u16 },
    /// Its path is neither documented nor mapped, and rows that need it came in during the run.
    Unmapped,
}

/// What a look-up is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// Whether the record of a job is there before it is sent.
    PreSend(JobId),
    /// The children of a company, for every job below it.
    Children(RemoteId),
    /// What became of a job whose answer was lost.
    Reconcile(JobId),
    /// Whether the only candidate for a job agrees in full.
    Confirm(JobId, RemoteId),
    /// Whether a look-up finds what is known to exist, for a job it did not find.
    Control(JobId, RemoteId),
    /// Whether what was made is there, and only once.
    Audit(AuditQuestion),
    /// Whether the site of a device's own was made, when the device was not.
    CustomSite(JobId),
    /// Whether the record of a job, which has this id, is visible to the rows that refer to it.
    Reference(JobId, RemoteId),
    /// Whether the service answers at all, before a request of this operation may find out whether it works.
    HealthCheck(Operation),
}

impl Purpose {
    /// The job that waits for the answer, when it is a single one.
    pub(super) fn job(self) -> Option<JobId> {
        match self {
            Self::PreSend(job)
            | Self::Reconcile(job)
            | Self::Confirm(job, _)
            | Self::Control(job, _)
            | Self::CustomSite(job) => Some(job),
            Self::Children(_) | Self::Audit(_) | Self::Reference(..) | Self::HealthCheck(_) => None,
        }
    }
}

/// Whether the journal has more jobs for a lane than are in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backlog {
    /// It may have.
    Unknown,
    /// It has been asked.
    Asked,
    /// It has none until the moment given, if one is.
    Exhausted { next_due: Option<Moment> },
}

impl Backlog {
    /// Whether it is time to ask the journal.
    pub(super) fn wants_asking(self, now: Moment) -> bool {
        match self {
            Self::Unknown => true,
            Self::Asked => false,
            Self::Exhausted { next_due } => next_due.is_some_and(|due| due <= now),
        }
    }

    /// The journal has given a page, which brought something new or not.
    pub(super) fn answered(&mut self, is_fresh: bool, next_due: Option<Moment>) {
        if *self == Self::Asked {
            // A page that brought nothing new leaves nothing to ask for until something is due.
            *self = if is_fresh { Self::Unknown } else { Self::Exhausted { next_due } };
        }
    }

    /// When the next job falls due, as far as the journal has said.
    pub(super) fn next_due(self) -> Option<Moment> {
        match self {
            Self::Unknown | Self::Asked => None,
            Self::Exhausted { next_due } => next_due,
        }
    }

    /// Whether nothing is to be had now or later.
    pub(super) fn is_spent(self) -> bool {
        matches!(self, Self::Exhausted { next_due: None })
    }
}

/// One operation of a run.
pub(super) struct Lane {
    pub(super) limiter: Limiter,
    pub(super) breaker: Breaker,
    pub(super) queue: VecDeque<QueuedRequest>,
    /// Jobs whose claims are on disk and whose requests leave as soon as the sliding second permits it.
    pub(super) claimed: VecDeque<JobId>,
    /// `None` where no limit is to be kept.
    send_window: Option<SendWindow>,
    pub(super) halt: Option<Halt>,
    pub(super) supply: Backlog,
    /// Jobs of this operation in the dispatcher's hands.
    pub(super) active: usize,
    /// Requests sent in this run.
    pub(super) sent: u64,
}

impl Lane {
    pub(super) fn new(operation: Operation, rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self {
            limiter: Limiter::new(rate, clock),
            send_window: match rate {
                Rate::PerSecond(_) => Some(SendWindow::default()),
                Rate::Unlimited => None,
            },
            claimed: VecDeque::new(),
            breaker: Breaker::of(operation),
            queue: VecDeque::new(),
            halt: None,
            // Look-up lanes never ask the journal; lanes of jobs are set to `Unknown` when they are needed.
            supply: Backlog::Exhausted { next_due: None },
            active: 0,
            sent: 0,
        }
    }

    /// Whether nothing more is to be had for it: no errand waits and the journal has no job now or later.
    pub(super) fn is_spent(&self) -> bool {
        self.halt.is_some() || (self.queue.is_empty() && self.supply.is_spent())
    }

    /// Whether the sliding second has room for a departure; if not, when it has.
    pub(super) fn may_depart(&self, now: Duration) -> Result<(), Duration> {
        self.send_window.as_ref().map_or(Ok(()), |send_window| send_window.permit(now))
    }

    /// A request leaves.
    pub(super) fn departs(&mut self, now: Duration) {
        self.sent += 1;
        if let Some(send_window) = &mut self.send_window {
            send_window.on_send(now);
        }
    }

    /// Whether breaker and pace let a request leave now; if not, when to ask again (`None`: after news).
    pub(super) fn permits(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        if self.halt.is_some() {
            return Err(None);
        }
        self.breaker.permits(now)?;
        self.may_depart(now).map_err(Some)?;
        // The limiter comes last: asking it takes the permission.
        self.limiter.permit().map_err(Some)
    }
}

//! The gate of one operation: its endpoint, its breaker, its pace.

use std::sync::Arc;
use std::time::Duration;

use super::breaker::Breaker;
use crate::clock::Clock;
use crate::model::operation::Operation;
use crate::service::{Limiter, Rate};

/// Why nothing of an operation is sent any more in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Halt {
    /// The service answered with a page or a redirect of this HTTP status: the endpoint is not where it was looked for.
    Missing { status: u16 },
    /// Its path is neither documented nor mapped, and rows that need it came in during the run.
    Unmapped,
}

/// See the module. Only [`super::Gates`] has one.
pub(super) struct OperationGate {
    /// Whether its requests are claimed before they leave. Look-ups change nothing and leave at once.
    is_claimed: bool,
    limiter: Limiter,
    breaker: Breaker,
    halt: Option<Halt>,
    /// Requests sent in this run.
    sent: u64,
}

impl OperationGate {
    pub(super) fn new(operation: Operation, rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self {
            is_claimed: !operation.looks_up(),
            limiter: Limiter::new(rate, clock),
            breaker: Breaker::of(operation),
            halt: None,
            sent: 0,
        }
    }

    /// What the failures of the operation say.
    pub(super) fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    pub(super) fn breaker_mut(&mut self) -> &mut Breaker {
        &mut self.breaker
    }

    /// Why nothing of the operation is sent any more.
    pub(super) fn halt(&self) -> Option<Halt> {
        self.halt
    }

    /// Nothing of the operation is sent any more. Whether that is news; the first reason counts.
    pub(super) fn stop(&mut self, halt: Halt) -> bool {
        let is_news = self.halt.is_none();
        self.halt.get_or_insert(halt);
        is_news
    }

    /// Requests sent in this run.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// The requests a second that may be sent now.
    pub(super) fn rate(&self) -> f64 {
        self.limiter.rate()
    }

    /// The service asks for a slower pace. The new one, when it is slower.
    pub(super) fn slow_down(&mut self) -> Option<f64> {
        let before = self.limiter.rate();
        let rate = self.limiter.refused();
        (rate < before).then_some(rate)
    }

    /// Whether the sliding second has room for a request; if not, when it has.
    pub(super) fn has_room(&self) -> Result<(), Duration> {
        self.limiter.has_room()
    }

    /// A request leaves.
    pub(super) fn on_departure(&mut self) {
        self.sent += 1;
        self.limiter.on_departure();
    }

    /// Whether breaker and pace let a request leave now, or be claimed now; if not, when to ask again (`None`: after an answer).
    pub(super) fn permit(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        if self.halt.is_some() {
            return Err(None);
        }
        self.breaker.permits(now)?;
        // The limiter comes last: asking it takes the permission.
        let permitted = if self.is_claimed { self.limiter.permit_claim() } else { self.limiter.permit() };
        permitted.map_err(Some)
    }
}

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
    /// Whether its requests wait while the day's quota is spent.
    waits_for_quota: bool,
    /// Requests sent in this run.
    sent: u64,
    /// Those of them of which nothing left this machine.
    unsent: u64,
}

impl OperationGate {
    pub(super) fn new(operation: Operation, rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self {
            is_claimed: !operation.looks_up(),
            limiter: Limiter::new(rate, clock),
            breaker: Breaker::of(operation),
            halt: None,
            waits_for_quota: operation.creates(),
            sent: 0,
            unsent: 0,
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

    /// Whether its requests wait while the day's quota is spent: creations, and what the service has refused for it.
    pub(super) fn waits_for_quota(&self) -> bool {
        self.waits_for_quota
    }

    /// The service refused a request of it as the day's quota is spent.
    pub(super) fn on_quota_refused(&mut self) {
        self.waits_for_quota = true;
    }

    /// Requests sent in this run, those included that could not leave.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Requests that have left this machine in this run.
    pub(super) fn have_left(&self) -> u64 {
        self.sent - self.unsent
    }

    /// Nothing of a request that was sent has left.
    pub(super) fn on_not_sent(&mut self) {
        self.unsent += 1;
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

    /// Takes the permission of the pace for a request that leaves now; if there is none, when to ask again.
    pub(super) fn permit_departure(&mut self) -> Result<(), Duration> {
        self.limiter.permit()
    }

    /// A request leaves.
    pub(super) fn on_departure(&mut self) {
        self.sent += 1;
    }

    /// This process stood still until now; what was to leave `since` then may have left only now.
    pub(super) fn on_stall(&mut self, since: Duration) {
        self.limiter.on_stall(since);
    }

    /// Whether breaker and pace let a request leave now; or, where requests are claimed before, be claimed now, a lead before
    /// its turn after those that are claimed already. If not, when to ask again (`None`: after an answer).
    pub(super) fn permit(
        &mut self,
        now: Duration,
        (claimed, lead): (usize, Duration),
    ) -> Result<(), Option<Duration>> {
        if self.halt.is_some() {
            return Err(None);
        }
        self.breaker.permits(now)?;
        // The pace comes last: a look-up takes its permission by asking.
        let permitted =
            if self.is_claimed { self.limiter.may_claim(claimed, lead) } else { self.limiter.permit() };
        permitted.map_err(Some)
    }
}

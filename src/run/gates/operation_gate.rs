//! The gate of one operation: its endpoint, its breaker, its pace (limiter and sliding window).

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::breaker::Breaker;
use crate::clock::Clock;
use crate::model::operation::Operation;
use crate::service::{Limiter, Rate};

/// Requests of one operation that the service accepts in a sliding second (specification 8).
const LIMIT: usize = 100;
/// A second, and by how much the time on the way may vary between two requests.
const WINDOW: Duration = Duration::from_millis(1_020);

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
    limiter: Limiter,
    breaker: Breaker,
    /// `None` where no limit is to be kept.
    window: Option<SendWindow>,
    halt: Option<Halt>,
    /// Requests sent in this run.
    sent: u64,
}

impl OperationGate {
    pub(super) fn new(operation: Operation, rate: Rate, clock: Arc<dyn Clock>) -> Self {
        Self {
            limiter: Limiter::new(rate, clock),
            breaker: Breaker::of(operation),
            window: match rate {
                Rate::PerSecond(_) => Some(SendWindow::default()),
                Rate::Unlimited => None,
            },
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
    pub(super) fn has_room(&self, now: Duration) -> Result<(), Duration> {
        self.window.as_ref().map_or(Ok(()), |window| window.permit(now))
    }

    /// A request leaves.
    pub(super) fn on_departure(&mut self, now: Duration) {
        self.sent += 1;
        if let Some(window) = &mut self.window {
            window.on_send(now);
        }
    }

    /// Whether breaker and pace let a request leave now; if not, when to ask again (`None`: after an answer).
    pub(super) fn permit(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        if self.halt.is_some() {
            return Err(None);
        }
        self.breaker.permits(now)?;
        self.has_room(now).map_err(Some)?;
        // The limiter comes last: asking it takes the permission.
        self.limiter.permit().map_err(Some)
    }
}

/// When the last requests of an operation left. The limiter decides the pace before a job is claimed; the claim then waits
/// for the disk, and requests whose claims came to disk together would leave together. This keeps the sliding second of
/// what leaves within the service's limit whatever the disk does. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone, Default)]
struct SendWindow {
    last: VecDeque<Duration>,
}

impl SendWindow {
    /// Whether a request may leave at `now`; if not, when.
    fn permit(&self, now: Duration) -> Result<(), Duration> {
        match self.last.front() {
            Some(&earliest) if self.last.len() >= LIMIT && now < earliest + WINDOW => Err(earliest + WINDOW),
            _ => Ok(()),
        }
    }

    /// A request leaves at `now`.
    fn on_send(&mut self, now: Duration) {
        if self.last.len() >= LIMIT {
            self.last.pop_front();
        }
        self.last.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_that_come_from_the_disk_in_heaps_never_leave_more_than_a_hundred_a_second() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut send_window = SendWindow::default();
        let mut left: Vec<Duration> = Vec::new();
        let mut now = Duration::ZERO;
        while left.len() < 2_000 {
            // A commit brings a heap of claims after a pause of up to a third of a second.
            now += Duration::from_millis(random.u64(0..300));
            for _ in 0..random.usize(1..40) {
                if let Err(at) = send_window.permit(now) {
                    now = now.max(at);
                }
                assert_eq!(send_window.permit(now), Ok(()));
                send_window.on_send(now);
                left.push(now);
            }
        }
        for (index, &from) in left.iter().enumerate() {
            let within = left[index..].iter().take_while(|&&at| at < from + Duration::from_secs(1)).count();
            assert!(within <= LIMIT, "{within} in the second from {from:?}");
        }
        let pace = left.len() as f64 / (now - left[0]).as_secs_f64();
        assert!(pace > 60.0, "it holds back only what it must: {pace}");
    }
}

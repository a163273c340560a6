//! The gate of one operation: its endpoint, its breaker, its pace.

use std::sync::Arc;
use std::time::Duration;

use super::breaker::Breaker;
use super::send_window::SendWindow;
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
    pub(super) limiter: Limiter,
    pub(super) breaker: Breaker,
    /// `None` where no limit is to be kept.
    window: Option<SendWindow>,
    pub(super) halt: Option<Halt>,
    /// Requests sent in this run.
    pub(super) sent: u64,
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

//! What the run does about its breakers: which request tries a failing service, what is told, and when it is no use
//! to wait any longer.
//!
//! A request that changes something leaves its row in doubt when it fails. So the first to go is a question whose
//! answer is known, for the company of the row that is next; only when the service answers it does one row go
//! ahead. An outage of hours costs questions and no rows. When opening and closing are due is left to `breaker`.

use std::time::Duration;

use super::breaker::Change;
use crate::ending::End;
use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::run::dispatcher::Dispatcher;
use crate::run::ending::Ending;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookups;
use crate::run::operation_queue::{Purpose, QueuedRequest, Tries};
use crate::service::Lookup;

/// When nothing else is left to do than to try a failing service, the run ends after so long without a success:
/// longer than a maintenance lasts.
const PATIENCE: Duration = Duration::from_secs(24 * 3_600);

/// How long a service counts as only just back: long enough for a look to see what it makes again.
const RECENTLY_CLOSED: Duration = Duration::from_secs(30);

impl Dispatcher {
    /// Whether a question must be answered before a request of `operation` may try the service; it is on its way
    /// then.
    pub(in crate::run) fn needs_health_check(&mut self, operation: Operation, now: Duration) -> bool {
        let lane = self.lane(operation);
        if !lane.breaker.wants_health_check(now) {
            return false;
        }
        let next = lane.queue.front().cloned();
        let Some(lookup) = next.and_then(|request| self.health_check_for(&request)) else { return false };
        self.lane(operation).breaker.on_health_check_sent();
        // Before what waits there: rows of two operations depend on it.
        let tries = Tries::default();
        let purpose = Purpose::HealthCheck(operation);
        let asking = lookup.operation();
        self.lane(asking).queue.push_front(QueuedRequest::Look { lookup, purpose, tries });
        true
    }

    /// The question for an errand. Where there is none, the errand itself finds out.
    fn health_check_for(&self, request: &QueuedRequest) -> Option<Lookup> {
        match request {
            QueuedRequest::Send(job) => lookups::of_company(&self.active.get(job)?.work)
                .filter(|lookup| self.usable(lookup.operation())),
            QueuedRequest::Look { .. } => None,
        }
    }

    /// The question has its answer, and any answer will do.
    pub(in crate::run) fn on_health_check(&mut self, operation: Operation, reading: &LookupAnswer) {
        let answered = match reading {
            LookupAnswer::Failed(_) => false,
            // Not available after all: a request of the operation must find out.
            LookupAnswer::Records(_) | LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => true,
        };
        let now = self.clock.elapsed();
        let change = self.lane(operation).breaker.on_health_check(answered, now);
        self.tell_breaker(operation, change);
    }

    /// Whether the service fails at an operation and will be tried again, or has only just come back.
    pub(in crate::run) fn is_unstable(&self, operation: Operation) -> bool {
        let now = self.clock.elapsed();
        self.lanes.get(&operation).is_some_and(|lane| {
            let to_be_tried = !lane.queue.is_empty() || lane.breaker.is_trying();
            (!lane.breaker.is_closed() && to_be_tried)
                || lane.breaker.closed_for(now).is_some_and(|closed| closed < RECENTLY_CLOSED)
        })
    }

    /// Tells what changed, and notes it for whoever asks the journal.
    pub(in crate::run) fn tell_breaker(&mut self, operation: Operation, change: Change) {
        let (open, reason, next_try_in) = match change {
            Change::Same => return,
            Change::Opened { reason, pause } | Change::StillOpen { reason, pause } => {
                (true, reason.words(), Some(pause))
            }
            Change::Closed => (false, "the service answers again".to_owned(), None),
        };
        if !matches!(change, Change::StillOpen { .. }) {
            self.note_held_back();
        }
        self.remaining_count.renew();
        self.tell(Event::Breaker { operation, open, reason, next_try_in });
    }

    /// Notes for whoever asks the journal which operations are held back.
    fn note_held_back(&self) {
        let held_back: Vec<&str> = self
            .lanes
            .iter()
            .filter(|(_, lane)| !lane.breaker.is_closed())
            .map(|(operation, _)| operation.name())
            .collect();
        let words = (!held_back.is_empty())
            .then(|| format!("{} paused, because the service fails at it", held_back.join(", ")));
        let run = self.run;
        self.writer.ask(Box::new(move |journal| {
            // Only `status` reads it; a journal that cannot be written shows itself at the next write.
            drop(journal.note_held_back(run, words.as_deref()));
        }));
    }

    /// When everything that is left waits for a service that has failed for longer than patience lasts.
    pub(in crate::run) fn failed_too_long(&self) -> Option<Ending> {
        let now = self.clock.elapsed();
        let mut waiting =
            self.lanes.iter().filter(|(_, lane)| lane.halt.is_none() && !lane.queue.is_empty()).peekable();
        let (first, _) = *waiting.peek()?;
        let vain = waiting.all(|(_, lane)| lane.breaker.open_for(now).is_some_and(|open| open >= PATIENCE));
        vain.then(|| Ending::Stopped {
            end: End::Breaker,
            why: format!(
                "the service has failed at every try of {first} for {} hours",
                PATIENCE.as_secs() / 3_600
            ),
            hint: "ask the service's operator, then run again; no row was rejected".to_owned(),
        })
    }
}

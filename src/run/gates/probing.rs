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
use crate::run::evidence::lookup_answer::Reading;
use crate::run::evidence::lookups;
use crate::run::operation_queue::{Errand, Purpose, Tries};
use crate::service::Lookup;

/// When nothing else is left to do than to try a failing service, the run ends after so long without a success:
/// longer than a maintenance lasts.
const PATIENCE: Duration = Duration::from_secs(24 * 3_600);

/// How long a service counts as only just back: long enough for a look to see what it makes again.
const CONVALESCENCE: Duration = Duration::from_secs(30);

impl Dispatcher {
    /// Whether a question must be answered before a request of `operation` may try the service; it is on its way
    /// then.
    pub(in crate::run) fn sounds_first(&mut self, operation: Operation, now: Duration) -> bool {
        let lane = self.lane(operation);
        if !lane.breaker.wants_sounding(now) {
            return false;
        }
        let next = lane.queue.front().cloned();
        let Some(lookup) = next.and_then(|errand| self.sounding(&errand)) else { return false };
        self.lane(operation).breaker.sounds();
        // Before what waits there: rows of two operations depend on it.
        let tries = Tries::default();
        let purpose = Purpose::Sounding(operation);
        let asking = lookup.operation();
        self.lane(asking).queue.push_front(Errand::Look { lookup, purpose, tries });
        true
    }

    /// The question for an errand. Where there is none, the errand itself finds out.
    fn sounding(&self, errand: &Errand) -> Option<Lookup> {
        match errand {
            Errand::Send(job) => lookups::of_company(&self.in_hand.get(job)?.work)
                .filter(|lookup| self.usable(lookup.operation())),
            Errand::Look { .. } => None,
        }
    }

    /// The question has its answer, and any answer will do.
    pub(in crate::run) fn sounded(&mut self, operation: Operation, reading: &Reading) {
        let answered = match reading {
            Reading::Failed(_) => false,
            // Not available after all: a request of the operation must find out.
            Reading::Records(_) | Reading::Inconclusive(_) | Reading::Unavailable => true,
        };
        let now = self.clock.elapsed();
        let change = self.lane(operation).breaker.sounded(answered, now);
        self.tell_breaker(operation, change);
    }

    /// Whether the service fails at an operation and will be tried again, or has only just come back.
    pub(in crate::run) fn is_troubled(&self, operation: Operation) -> bool {
        let now = self.clock.elapsed();
        self.lanes.get(&operation).is_some_and(|lane| {
            let to_be_tried = !lane.queue.is_empty() || lane.breaker.is_trying();
            (!lane.breaker.is_closed() && to_be_tried)
                || lane.breaker.closed_for(now).is_some_and(|closed| closed < CONVALESCENCE)
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
        self.reckoning.renew();
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
    pub(in crate::run) fn failing_for_good(&self) -> Option<Ending> {
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

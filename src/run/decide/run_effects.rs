//! What an answer means for the run besides its row: a slower pace, creations parked, an operation or everything
//! stopped, a breaker that opens.
//!
//! Which consequence a verdict has for a step is decided in [`crate::model::settle`], and here for a look-up. What
//! becomes of the row itself is left to `outcome`.

use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::model::settle::Consequence;
use crate::model::time::Day;
use crate::model::verdict::{Doubt, NotSent, Refusal, Verdict};
use crate::run::dispatcher::Dispatcher;
use crate::run::ending::Ending;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::gates::breaker::{Outcome, Phase};
use crate::run::operation_queue::{Halt, QueuedRequest, Tries};
use crate::service::Answer;

impl Dispatcher {
    /// Carries out what follows for the run from an answer.
    pub(in crate::run) fn follow(
        &mut self,
        operation: Operation,
        counted: Option<Day>,
        consequence: Consequence,
        (outcome, phase): (Outcome, Phase),
    ) {
        if !matches!(consequence, Consequence::Unreachable(_) | Consequence::LowerConcurrency(_)) {
            self.connectivity.reached();
        }
        let now = self.clock.elapsed();
        let breaker = &mut self.lane(operation).breaker;
        if let Consequence::Nothing | Consequence::Failure = consequence {
            let change = breaker.heard(outcome, phase, now);
            self.tell_breaker(operation, change);
        } else {
            breaker.on_no_outcome(phase);
        }
        match consequence {
            Consequence::Nothing | Consequence::Failure => {}
            Consequence::SlowDown => self.slow_down(operation),
            Consequence::ParkCreations => self.quota_refused(counted),
            Consequence::StopOperation(status) => self.stop_operation(operation, status),
            Consequence::StopRun(refusal) => self.drain(Ending::refused(refusal)),
            Consequence::Distrust(words) => self.drain(Ending::distrusted(&words)),
            Consequence::LowerConcurrency(words) => self.ran_short(operation, &words),
            Consequence::Unreachable(words) => {
                if let Some(retry_in) = self.connectivity.failed(now, &words) {
                    self.remaining_count.renew();
                    self.tell(Event::Unreachable { reason: words, retry_in });
                }
            }
        }
    }

    /// What follows for the run from the answer to a look-up.
    pub(in crate::run) fn follow_lookup(
        &mut self,
        operation: Operation,
        verdict: &Verdict,
        tries: Tries,
        phase: Phase,
    ) {
        let consequence = match verdict {
            Verdict::Succeeded(_)
            | Verdict::Rejected(_)
            | Verdict::NoDataFound(_)
            | Verdict::Duplicate(_)
            | Verdict::Contradicted(_) => Consequence::Nothing,
            Verdict::TokenInvalid if tries.token_refused == 0 => Consequence::Nothing,
            Verdict::TokenInvalid => Consequence::StopRun(Refusal::TokenRefused),
            Verdict::NotSent(NotSent::Untrusted(words)) => Consequence::Distrust(words.clone()),
            Verdict::NotSent(NotSent::NoResources(words)) => Consequence::LowerConcurrency(words.clone()),
            Verdict::NotSent(why) => Consequence::Unreachable(why.words().to_owned()),
            Verdict::Throttled | Verdict::QuotaSpent => Consequence::SlowDown,
            Verdict::Refused(refusal) => Consequence::StopRun(*refusal),
            Verdict::EndpointMissing(status) => Consequence::StopOperation(*status),
            Verdict::Doubtful(_) => Consequence::Failure,
        };
        self.follow(operation, None, consequence, (outcome_of(verdict), phase));
    }

    /// A 429 that says nothing we know: in doubt for the row, and a plain sign to slow down. A redirect: in doubt for
    /// the row, and a sign that the service is elsewhere, so that each further row would only be put in doubt as well.
    /// Questions are harmless and go on being asked: the network may have sent us to a sign-in page of its own.
    pub(in crate::run) fn apply_status(&mut self, operation: Operation, answer: &Answer) {
        match (answer.status, &answer.verdict) {
            (Some(429), Verdict::Doubtful(_)) => self.slow_down(operation),
            (Some(status), Verdict::Doubtful(Doubt::Redirect)) if !operation.looks_up() => {
                self.stop_operation(operation, status);
            }
            _ => {}
        }
    }

    fn slow_down(&mut self, operation: Operation) {
        let limiter = &mut self.lane(operation).limiter;
        let before = limiter.rate();
        let rate = limiter.refused();
        if rate < before {
            self.tell(Event::SlowedDown { operation, rate });
        }
    }

    /// The endpoint of an operation is not where it was looked for: nothing of it is sent any more.
    fn stop_operation(&mut self, operation: Operation, status: u16) {
        let lane = self.lane(operation);
        if lane.halt.is_some() {
            return;
        }
        lane.halt = Some(Halt::Missing { status });
        let waiting: Vec<_> = lane.queue.drain(..).collect();
        self.tell(Event::Note {
            text: format!("the service answered {status} to {operation}: stopped sending it"),
        });
        for request in waiting {
            self.give_up_request(operation, &request);
        }
    }

    /// An errand of a halted operation: a step goes back to the journal, a question is answered with silence.
    fn give_up_request(&mut self, operation: Operation, request: &QueuedRequest) {
        match request {
            QueuedRequest::Send(job) => self.drop_job(*job),
            QueuedRequest::Look { purpose, .. } => self.read(operation, *purpose, LookupAnswer::Unavailable),
        }
    }
}

/// What an answer says about the service. Told only of answers that say anything.
pub(in crate::run) fn outcome_of(verdict: &Verdict) -> Outcome {
    match verdict {
        // A redirect, like a page, comes from something that stands before the service.
        Verdict::Doubtful(Doubt::Unreadable | Doubt::Redirect) => Outcome::Page,
        Verdict::Doubtful(_) | Verdict::Contradicted(_) => Outcome::Failed,
        Verdict::Succeeded(_)
        | Verdict::Rejected(_)
        | Verdict::NoDataFound(_)
        | Verdict::Duplicate(_)
        | Verdict::NotSent(_)
        | Verdict::Throttled
        | Verdict::QuotaSpent
        | Verdict::TokenInvalid
        | Verdict::Refused(_)
        | Verdict::EndpointMissing(_) => Outcome::Answered,
    }
}

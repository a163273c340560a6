//! Effects of an answer on the run: what the gates are told, what is given up, the health check of a failing service.
//!
//! Which consequence a verdict has for a step is decided in [`crate::model::settle`], and here for a look-up. What
//! becomes of the row itself is in `settle`.

use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::settle::Consequence;
use crate::model::time::Day;
use crate::model::verdict::{Doubt, NotSent, Refusal, Verdict};
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookups;
use crate::run::gates::{Outcome, Phase};
use crate::run::in_flight::{Purpose, QueuedRequest, Tries};
use crate::service::Answer;

impl Dispatcher {
    /// Carries out what follows for the run from an answer.
    pub(in crate::run) fn follow(
        &mut self,
        operation: Operation,
        counted: Option<Day>,
        consequence: Consequence,
        outcome: (Outcome, Phase),
    ) {
        self.check_clock();
        let under_way = self.under_way();
        let actions = self.gates.on_answer(operation, counted, consequence, outcome, under_way);
        self.carry_out(actions);
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
            (Some(429), Verdict::Doubtful(_)) => {
                let actions = self.gates.slow_down(operation);
                self.carry_out(actions);
            }
            (Some(status), Verdict::Doubtful(Doubt::Redirect)) if !operation.looks_up() => {
                let actions = self.gates.stop(operation, status);
                self.carry_out(actions);
            }
            _ => {}
        }
    }

    /// Nothing of an operation is sent any more: a step goes back to the journal, a question is answered with silence.
    pub(in crate::run) fn give_up(&mut self, operation: Operation) {
        for request in self.in_flight.take_all(operation) {
            match request {
                QueuedRequest::Send(job) => self.drop_job(job),
                QueuedRequest::Look { purpose, .. } => {
                    self.on_lookup_answer(operation, purpose, LookupAnswer::Unavailable);
                }
            }
        }
    }

    /// Whether the service fails at an operation and will be tried again, or has only just come back.
    pub(in crate::run) fn is_unstable(&self, operation: Operation) -> bool {
        self.gates.is_unstable(operation, self.in_flight.has_waiting(operation))
    }

    /// Whether a health check must be answered before a request of `operation` may try the service; it is on its way
    /// then: a question about the company of the row that is next, which the service can always answer. Where there is
    /// none, the request itself finds out.
    pub(in crate::run) fn health_check_first(&mut self, operation: Operation) -> bool {
        if !self.gates.wants_health_check(operation) {
            return false;
        }
        let next = match self.in_flight.first(operation) {
            Some(QueuedRequest::Send(job)) => self.in_flight.work(*job),
            Some(QueuedRequest::Look { .. }) | None => None,
        };
        let lookup = next.and_then(lookups::of_company);
        let Some(lookup) = lookup.filter(|lookup| self.gates.usable(lookup.operation())) else {
            return false;
        };
        self.gates.on_health_check_queued(operation);
        // Before what waits there: rows of two operations depend on it.
        let (purpose, tries) = (Purpose::HealthCheck(operation), Tries::default());
        self.in_flight.push_first(lookup.operation(), QueuedRequest::Look { lookup, purpose, tries });
        true
    }

    /// The health check has its answer, and any answer will do.
    pub(in crate::run) fn on_health_check(&mut self, operation: Operation, answer: &LookupAnswer) {
        let answered = match answer {
            LookupAnswer::Failed(_) => false,
            // Not available after all: a request of the operation must find out.
            LookupAnswer::Records(_) | LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => true,
        };
        let actions = self.gates.on_health_check(operation, answered);
        self.carry_out(actions);
    }

    /// The ledger on disk has changed.
    pub(in crate::run) fn tell_quota(&self, ledger: QuotaDay) {
        if let Some(event) = self.gates.quota_news(ledger) {
            self.tell(event);
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

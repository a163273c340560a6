//! Answers to look-ups: asked again when they tell nothing, else handed to whoever asked.

use crate::journal::Work;
use crate::model::id::RemoteId;
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookup_control::{Asker, ControlResult, control_lookup};
use crate::run::gates::Phase;
use crate::run::in_flight::{Purpose, QueuedRequest, Tries};
use crate::service::{Answer, Lookup};

/// How often a look-up is tried when the service fails at it.
const LOOK_UP_TRIES: u32 = 3;

impl Dispatcher {
    /// A look-up has its answer.
    pub(in crate::run) fn on_lookup_response(
        &mut self,
        lookup: Lookup,
        purpose: Purpose,
        tries: Tries,
        answer: Answer,
        phase: Phase,
    ) {
        let operation = lookup.operation();
        self.apply_status(operation, &answer);
        let tries = if answer.token_ended { Tries { token_refused: 0, ..tries } } else { tries };
        self.follow_lookup(operation, &answer.verdict, tries, phase);
        if self.drain.is_some() {
            return;
        }
        let tries = Tries { token_refused: 0, ..tries };
        let again = match &answer.verdict {
            // Not executed: the question stands, whatever held it back.
            Verdict::NotSent(_) | Verdict::Throttled | Verdict::QuotaSpent => Some(tries),
            // Once, with the token that is fetched meanwhile: the second time ends the run.
            Verdict::TokenInvalid => Some(Tries { token_refused: 1, ..tries }),
            // That the service fails is what it was to find out.
            Verdict::Doubtful(_) if matches!(purpose, Purpose::HealthCheck(_)) => None,
            // A service that fails at every look-up says nothing of this one: hours of it use up no try.
            Verdict::Doubtful(_) if !self.gates.is_closed(operation) => Some(tries),
            Verdict::Doubtful(_) if tries.failed + 1 < LOOK_UP_TRIES => {
                Some(Tries { failed: tries.failed + 1, ..tries })
            }
            Verdict::Doubtful(_)
            | Verdict::Succeeded(_)
            | Verdict::Rejected(_)
            | Verdict::NoDataFound(_)
            | Verdict::Duplicate(_)
            | Verdict::Refused(_)
            | Verdict::EndpointMissing(_)
            | Verdict::Contradicted(_) => None,
        };
        // Another answer may have shown meanwhile that the look-up is not available: nothing leaves its queue then.
        let halted = self.gates.halt(operation).is_some();
        if let Some(tries) = again
            && !halted
        {
            self.queue(operation, QueuedRequest::Look { lookup, purpose, tries });
            return;
        }
        let answer = LookupAnswer::of(operation, answer.verdict, again.is_some());
        self.on_lookup_answer(operation, purpose, answer);
    }

    /// Hands what a look-up says to whoever asked.
    pub(in crate::run) fn on_lookup_answer(
        &mut self,
        operation: Operation,
        purpose: Purpose,
        answer: LookupAnswer,
    ) {
        match purpose {
            Purpose::PreSend(job) => self.on_pre_send_answer(job, operation, answer),
            Purpose::Children(parent) => self.on_child_list(parent, answer),
            Purpose::HealthCheck(checked) => self.on_health_check(checked, &answer),
            Purpose::Reconcile(job) => self.on_reconcile_answer(job, operation, answer),
            Purpose::CustomSite(job) => self.on_custom_site(job, answer),
            Purpose::Confirm(job, id) => self.on_confirmation(job, id, answer),
            Purpose::Control(asker, expected) => self.on_control_answer(asker, operation, expected, answer),
            Purpose::Reference(reference, id) => self.on_reference_answer(reference, id, answer),
            Purpose::Audit(question) => {
                self.audit(|audit, cx| audit.on_answer(cx, question, operation, answer));
            }
        }
    }

    /// The journal has named records that are known to exist: looks one of them up by the same operation.
    pub(in crate::run) fn on_controls(&mut self, asker: Asker, operation: Operation, rows: &[Work]) {
        if self.evidence.controls.is_proved(operation) {
            return self.on_control_result(asker, ControlResult::Proved);
        }
        let mut rows = rows.iter().filter(|row| !self.audit.misses(row.job));
        match rows.find_map(|row| control_lookup(row, operation)) {
            Some((lookup, id)) if self.gates.usable(operation) => {
                self.queue_lookup(lookup, Purpose::Control(asker, id));
            }
            Some(_) => self.on_control_result(asker, ControlResult::Unavailable),
            None => self.on_control_result(asker, ControlResult::NoRecord),
        }
    }

    /// A control look-up has its answer.
    pub(in crate::run) fn on_control_answer(
        &mut self,
        asker: Asker,
        operation: Operation,
        expected: RemoteId,
        answer: LookupAnswer,
    ) {
        let result = match answer {
            LookupAnswer::Records(found) if found.iter().any(|found| found.id == Some(expected)) => {
                self.evidence.controls.prove(operation);
                ControlResult::Proved
            }
            LookupAnswer::Records(_) => ControlResult::NotProved(
                "the look-up does not find a record that is known to exist".to_owned(),
            ),
            LookupAnswer::Inconclusive(why) => {
                ControlResult::NotProved(format!("the look-up was inconclusive: {why}"))
            }
            LookupAnswer::Failed(why) => {
                ControlResult::Failed(format!("the look-up was inconclusive: {why}"))
            }
            LookupAnswer::Unavailable => ControlResult::Unavailable,
        };
        self.on_control_result(asker, result);
    }

    fn on_control_result(&mut self, asker: Asker, result: ControlResult) {
        match asker {
            Asker::Reconcile(job) => self.on_control(job, result),
            Asker::Audit(job) => self.audit(|audit, cx| audit.on_control(cx, job, &result)),
        }
    }
}

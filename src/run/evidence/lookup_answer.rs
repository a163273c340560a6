//! Look-ups: asked, asked again when the answer tells nothing, and what it says handed to whoever wanted to know.
//!
//! Which look-up answers a question is in `lookups`. What follows from a reading is left to those who asked: `before`,
//! `after`, `custom_site`, `witness`, `unseen`, `audit` and `probing`.

use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::run::dispatcher::Dispatcher;
use crate::run::gates::Phase;
use crate::run::in_flight::{Purpose, QueuedRequest, Tries};
use crate::service::{self, Answer, Found, Lookup};

/// How often a look-up is tried when the service fails at it.
const LOOK_UP_TRIES: u32 = 3;

/// What the answer to a look-up says.
#[derive(Debug)]
pub(in crate::run) enum LookupAnswer {
    /// These records, possibly none.
    Records(Vec<Found>),
    /// Nothing that can be relied on, and asking again would say the same; says why.
    Inconclusive(String),
    /// No answer, or a failure of the service: asking again later may tell; says why.
    Failed(String),
    /// The look-up is not available at all.
    Unavailable,
}

impl LookupAnswer {
    /// What a verdict says; `stands` when the question was to be asked again and cannot be.
    fn of(operation: Operation, verdict: Verdict, stands: bool) -> Self {
        match verdict {
            Verdict::Succeeded(success) => match service::found(operation, &success.body) {
                Ok(found) => Self::Records(found),
                Err(why) => Self::Inconclusive(why),
            },
            Verdict::NoDataFound(_) => Self::Records(Vec::new()),
            Verdict::EndpointMissing(_) => Self::Unavailable,
            _ if stands => Self::Unavailable,
            Verdict::Doubtful(doubt) => Self::Failed(doubt.words().to_owned()),
            Verdict::Rejected(rejection) | Verdict::Duplicate(rejection) => {
                Self::Inconclusive(rejection.message)
            }
            Verdict::Contradicted(contradiction) => Self::Inconclusive(contradiction.what),
            // Not executed: it says nothing of the record, and must not count as a look that found nothing.
            Verdict::TokenInvalid | Verdict::Refused(_) => {
                Self::Failed("the service refused our credentials".to_owned())
            }
            Verdict::NotSent(_) | Verdict::Throttled | Verdict::QuotaSpent => {
                Self::Failed("the look-up was not carried out".to_owned())
            }
        }
    }
}

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
        let reading = LookupAnswer::of(operation, answer.verdict, again.is_some());
        self.on_lookup_answer(operation, purpose, reading);
    }

    /// Hands a reading to whoever asked.
    pub(in crate::run) fn on_lookup_answer(
        &mut self,
        operation: Operation,
        purpose: Purpose,
        reading: LookupAnswer,
    ) {
        match purpose {
            Purpose::PreSend(job) => self.on_pre_send_answer(job, operation, reading),
            Purpose::Children(parent) => self.on_child_list(parent, reading),
            Purpose::HealthCheck(on_health_check) => self.on_health_check(on_health_check, &reading),
            Purpose::Reconcile(job) => self.on_reconcile_answer(job, operation, reading),
            Purpose::CustomSite(job) => self.on_custom_site(job, reading),
            Purpose::Confirm(job, id) => self.on_confirmation(job, id, reading),
            Purpose::Control(job, expected) => {
                self.on_control_answer(job, operation, expected, reading);
            }
            Purpose::Reference(reference, id) => self.on_reference_answer(reference, id, reading),
            Purpose::Audit(question) => self.on_audit_answer(question, operation, reading),
        }
    }
}

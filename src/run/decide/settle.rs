//! Settles a step by its answer: the verdict, what follows from it for the job, and the write that puts it in the journal.
//!
//! The rules are [`crate::model::settle`]; what follows for the run is in `run_effects`.

use std::time::Duration;

use super::run_effects::outcome_of;
use crate::journal::{Action, Candidate, Evidence, How, Write};
use crate::mistake::{self, Mistake};
use crate::model::id::{JobId, RemoteId};
use crate::model::reason::{Reason, ServiceCode};
use crate::model::settle::{Consequence, Settled, Standing, settle};
use crate::model::state::JobState;
use crate::model::verdict::{Doubt, Execution, Refusal, Verdict};
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookups;
use crate::run::gates::Phase;
use crate::service::Answer;

/// How long after a lost answer the first look is taken: most late commits have happened by then.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// The answer of a request whose task was lost: it may have been sent.
pub(in crate::run) fn lost() -> Answer {
    Answer::unsent(Verdict::Doubtful(Doubt::WorkerLost))
}

impl Dispatcher {
    /// A step of a job has its answer.
    pub(in crate::run) fn on_answer(&mut self, job: JobId, answer: Answer, phase: Phase) {
        let Some(work) = self.in_flight.work(job) else { return };
        let (operation, creation) = (work.operation, matches!(work.action, Action::Create));
        let counted = self.in_flight.counted(job);
        let not_found = match &answer.verdict {
            Verdict::NoDataFound(rejection) => Some(self.missing_references(job, rejection)),
            _ => None,
        };
        if answer.token_ended {
            self.in_flight.clear_token_refusals(job);
        }
        let standing = Standing {
            creation,
            fresh_reference: matches!(not_found, Some(Some(_))),
            token_refusals: self.in_flight.token_refusals(job),
        };
        let evidence = self.evidence(&answer);
        let contradicting = match &answer.verdict {
            Verdict::Contradicted(contradiction) => contradiction.id,
            _ => None,
        };
        if answer.verdict == Verdict::TokenInvalid {
            self.in_flight.add_token_refusal(job);
        } else {
            self.in_flight.clear_token_refusals(job);
        }
        if matches!(answer.verdict, Verdict::Succeeded(_)) {
            self.on_references_visible(job);
        }
        self.apply_status(operation, &answer);
        let outcome = outcome_of(&answer.verdict);
        let (settled, consequence) = settle(standing, answer.verdict);
        let settled = match settled {
            // It was sent again without a look, since the service refuses a second record: what else it says of the
            // second request says nothing about the first.
            Settled::Rejected(rejection) | Settled::Unseen(rejection) if self.may_be_there(job) => {
                Settled::Held {
                    code: Reason::RefusedInDoubt.as_str(),
                    reason: format!(
                        "an earlier answer was lost, and the service refused the row when it was sent again: {}",
                        rejection.message
                    ),
                }
            }
            settled => settled,
        };
        // A probe fails for the service's sake, not for the row's: not one of the doubts that a row may have.
        let charged = !self.gates.is_probe(operation, phase);
        if let Some(day) = counted {
            let parks = consequence == Consequence::ParkCreations;
            let actions = self.gates.on_creation(day, evidence.execution, parks);
            self.carry_out(actions);
        }
        self.follow(operation, counted, consequence, (outcome, phase));
        match &settled {
            Settled::Done { .. } => {
                self.note_verdict(job, None);
                self.evidence.lag.probed(job, true);
            }
            Settled::Rejected(rejection) => {
                let counted = self.evidence.lag.is_counted(job);
                if not_found.is_some() {
                    self.evidence.lag.probed(job, false);
                }
                if !counted {
                    self.note_verdict(job, Some(rejection));
                }
            }
            Settled::Unseen(_)
            | Settled::Returned { .. }
            | Settled::Deferred { .. }
            | Settled::InDoubt(_)
            | Settled::Held { .. } => {}
        }
        match (settled, not_found.flatten()) {
            (Settled::Unseen(_), Some(refused)) => self.await_references(job, refused, evidence),
            (settled, _) => {
                let write = self.outcome(job, standing, settled, evidence, charged, contradicting);
                self.settle(job, write);
            }
        }
    }

    /// Whether an earlier request may have made the record, and no look-up can tell.
    fn may_be_there(&self, job: JobId) -> bool {
        self.in_flight.work(job).is_some_and(|work| {
            let looked = lookups::by_key(work, &|operation| self.gates.usable(operation)).is_some();
            let taken_in = !mistake::made(Mistake::DuplicateRejects);
            matches!(work.action, Action::Create) && work.doubted && !looked && taken_in
        })
    }

    /// The write that puts `settled` in the journal.
    fn outcome(
        &self,
        job: JobId,
        standing: Standing,
        settled: Settled,
        evidence: Evidence,
        charged: bool,
        contradicting: Option<RemoteId>,
    ) -> Write {
        let from = JobState::Sending;
        match settled {
            Settled::Done { id } => {
                let how = if standing.creation { How::Created } else { How::Done };
                Write::Advance { job, from, how, id, evidence }
            }
            Settled::Rejected(rejection) | Settled::Unseen(rejection) => {
                Write::Reject { job, from, rejection, evidence }
            }
            Settled::Returned { code, reason } => {
                Write::Return { job, code: code.to_owned(), reason, evidence }
            }
            Settled::Deferred { delay, code, reason } => {
                let until = evidence.at.plus(delay);
                Write::Defer { job, until, code: code.to_owned(), reason, evidence }
            }
            Settled::InDoubt(doubt) => {
                let until = if doubt.executed() {
                    evidence.at
                } else {
                    evidence.at.plus(FIRST_LOOK.min(self.options.policy.settle))
                };
                let (executed, charged) = (doubt.executed(), charged && !doubt.executed());
                Write::Doubt { job, doubt, executed, charged, until, evidence }
            }
            Settled::Held { code, reason } => {
                let candidates = contradicting
                    .map(|id| Candidate {
                        id: Some(id),
                        name: None,
                        details: "named in the answer".to_owned(),
                        difference: reason.clone(),
                    })
                    .into_iter()
                    .collect();
                Write::Hold { job, from, code: code.to_owned(), reason, candidates, evidence }
            }
        }
    }

    fn evidence(&self, answer: &Answer) -> Evidence {
        let execution = match answer.verdict.execution() {
            Execution::Refused if mistake::made(Mistake::RefusalNotCounted) => Execution::NotExecuted,
            execution => execution,
        };
        Evidence {
            at: self.clock.now(),
            execution,
            status: answer.status,
            code: code(&answer.verdict),
            excerpt: answer.excerpt.clone(),
            took_ms: u64::try_from(answer.took.as_millis()).ok(),
        }
    }
}

/// The code under which an attempt is kept.
fn code(verdict: &Verdict) -> Option<String> {
    let code = match verdict {
        Verdict::Succeeded(_) => return None,
        Verdict::Rejected(rejection) | Verdict::NoDataFound(rejection) | Verdict::Duplicate(rejection) => {
            &rejection.code
        }
        Verdict::NotSent(_) => Reason::NotSent.as_str(),
        Verdict::Throttled => ServiceCode::RateLimitExceeded.as_str(),
        Verdict::QuotaSpent => ServiceCode::QuotaLimitExceeded.as_str(),
        Verdict::TokenInvalid | Verdict::Refused(Refusal::TokenRefused) => ServiceCode::InvalidToken.as_str(),
        Verdict::Refused(Refusal::InvalidClient) => ServiceCode::InvalidClient.as_str(),
        Verdict::Refused(Refusal::UnauthorizedSource) => ServiceCode::UnauthorizedSource.as_str(),
        Verdict::EndpointMissing(_) => Reason::EndpointMissing.as_str(),
        Verdict::Contradicted(_) => Reason::AnswerContradicts.as_str(),
        Verdict::Doubtful(doubt) => doubt.code(),
    };
    Some(code.to_owned())
}

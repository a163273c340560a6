//! Settles a step by its answer: the write that puts what follows in the journal, and the evidence that is kept of it.
//!
//! The rules are [`crate::model::settle`].

use std::time::Duration;

use crate::journal::{Candidate, Evidence, How, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::action::Repeat;
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::reason::{Reason, ServiceCode};
use crate::model::settle::Settled;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::{Doubt, Execution, Refusal, Verdict};
use crate::run::evidence::lookups;
use crate::service::Answer;

/// How long after a lost answer the first look is taken: most late commits have happened by then.
const FIRST_LOOK: Duration = Duration::from_secs(2);

/// The answer of a request whose task was lost: it may have been sent.
pub(in crate::run) fn lost() -> Answer {
    Answer::unsent(Verdict::Doubtful(Doubt::WorkerLost))
}

/// What is kept of an answer.
pub(in crate::run) fn evidence(answer: &Answer, at: Moment) -> Evidence {
    let execution = match answer.verdict.execution() {
        Execution::Refused if mistake::made(Mistake::RefusalNotCounted) => Execution::NotExecuted,
        execution => execution,
    };
    Evidence {
        at,
        execution,
        status: answer.status,
        code: code(&answer.verdict),
        excerpt: answer.excerpt.clone(),
        left: None,
    }
}

/// That the step of a row was not sent, and why. What an earlier step has brought about is there.
pub(in crate::run) fn not_sent(work: &Work, why: &str) -> String {
    let what = work.action.descriptor().words;
    match (work.remote_id, work.step) {
        (Some(_), _) => {
            format!("the {} is there; the request for {what} was not sent: {why}", work.kind.singular())
        }
        (None, 1..) => format!("the earlier steps are done; the request for {what} was not sent: {why}"),
        (None, 0) => format!("{why}; nothing was sent"),
    }
}

/// Does not reject a row that the service refused when it was sent again after a lost answer: what it says of the second
/// request says nothing about the first. Where that may have made a record that no look-up finds, a person decides; where
/// it may still change one, the record is looked at once more when late requests are over.
pub(in crate::run) fn unless_in_doubt(
    settled: Settled,
    work: &Work,
    usable: &dyn Fn(Operation) -> bool,
) -> Settled {
    let may_be_there = lookups::creates(work)
        && work.doubted
        && lookups::by_key(work, usable).is_none()
        && !mistake::made(Mistake::DuplicateRejects);
    match settled {
        Settled::Rejected(rejection) | Settled::Unseen(rejection) if may_be_there => Settled::Held {
            code: Reason::RefusedInDoubt.as_str(),
            reason: format!(
                "the outcome of an earlier request was unknown, and the service refused the row when it was sent again: {}",
                rejection.message
            ),
            record: None,
        },
        Settled::Rejected(_) | Settled::Unseen(_) if may_still_change(work) => {
            Settled::InDoubt(Doubt::Refused)
        }
        settled => settled,
    }
}

/// Whether a request of the row whose answer was lost may still change what the row asks to change.
pub(super) fn may_still_change(work: &Work) -> bool {
    work.doubted && work.action.repeat() == Repeat::Harmless
}

/// A step that has its answer.
pub(in crate::run) struct SettledStep {
    pub(in crate::run) job: JobId,
    pub(in crate::run) creates: bool,
    /// Whether a doubt counts as one of those that the row may have.
    pub(in crate::run) charged: bool,
    /// How long after a lost answer "not there" is not believed.
    pub(in crate::run) settle: Duration,
}

impl SettledStep {
    /// The write that puts what follows in the journal.
    pub(in crate::run) fn write(self, settled: Settled, evidence: Evidence) -> Write {
        let (job, from) = (self.job, JobState::Sending);
        match settled {
            Settled::Done { id } => {
                let how = if self.creates { How::Created } else { How::Done };
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
                let executed = doubt.executed();
                let wait = if executed { Duration::ZERO } else { FIRST_LOOK.min(self.settle) };
                let (until, charged) = (evidence.at.plus(wait), self.charged && !executed);
                Write::Doubt { job, doubt, executed, charged, until, evidence }
            }
            Settled::Held { code, reason, record } => {
                let candidate = |id| Candidate {
                    id: Some(id),
                    name: None,
                    details: "named in the answer".to_owned(),
                    difference: reason.clone(),
                };
                let candidates = record.map(candidate).into_iter().collect();
                Write::Hold { job, from, code: code.to_owned(), reason, candidates, evidence }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::action::Action;
    use crate::model::kind::{Kind, Upkeep};
    use crate::model::verdict::Rejection;
    use crate::run::tests::{device, record, site};

    fn step(creates: bool, charged: bool) -> SettledStep {
        SettledStep { job: JobId(1), creates, charged, settle: Duration::from_secs(600) }
    }

    #[test]
    fn a_doubt_is_looked_up_soon_and_at_once_where_the_record_is_there() {
        let evidence = Evidence::at(Moment::from_millis(0));
        let table = [
            (Doubt::Timeout, true, (true, 2_000)),
            (Doubt::Timeout, false, (false, 2_000)),
            (Doubt::NoId, true, (false, 0)),
        ];
        for (doubt, charged, expected) in table {
            let write = step(true, charged).write(Settled::InDoubt(doubt), evidence.clone());
            let Write::Doubt { charged, until, .. } = write else { panic!("{write:?}") };
            assert_eq!((charged, until.millis()), expected, "{doubt:?}");
        }
    }

    #[test]
    fn what_is_done_is_created_only_by_a_creation_and_a_contradiction_names_its_record() {
        let evidence = || Evidence::at(Moment::from_millis(0));
        let done = |creates| step(creates, true).write(Settled::Done { id: None }, evidence());
        assert!(matches!(done(true), Write::Advance { how: How::Created, .. }));
        assert!(matches!(done(false), Write::Advance { how: How::Done, .. }));
        let held = Settled::Held { code: "code", reason: "why".to_owned(), record: Some(record(1)) };
        let Write::Hold { candidates, .. } = step(true, true).write(held, evidence()) else {
            panic!("not held")
        };
        assert_eq!(candidates[0].id, Some(record(1)));
    }

    #[test]
    fn a_step_that_was_not_sent_is_told_with_what_is_there_already() {
        let put = || Action::PutLabels(vec!["till".into()]);
        let labels = || Work { action: put(), step: 1, remote_id: Some(record(1)), ..site("Depot", None) };
        let label =
            |step| Work { kind: Kind::Upkeep(Upkeep::SiteUpdates), step, remote_id: None, ..labels() };
        let words = "the request for setting its labels was not sent: the run was ending";
        let table = [
            (site("Depot", None), "the run was ending; nothing was sent".to_owned()),
            (labels(), format!("the site is there; {words}")),
            (label(0), "the run was ending; nothing was sent".to_owned()),
            (label(1), format!("the earlier steps are done; {words}")),
        ];
        for (work, expected) in table {
            assert_eq!(not_sent(&work, "the run was ending"), expected);
        }
    }

    #[test]
    fn a_refusal_of_a_row_sent_again_does_not_reject_it_while_the_first_request_may_be_carried_out() {
        let (code, message) = ("invalidData".to_owned(), "no".to_owned());
        let refusal = Rejection { code, message, violations: Vec::new() };
        let doubted = |work: Work| Work { doubted: true, ..work };
        let labels = || Work { action: Action::PutLabels(vec!["till".into()]), ..site("Depot", None) };
        let licence = || Work { action: Action::AddLicence("L".into()), ..site("Depot", None) };
        let mac = Some("00:1a:2b:3c:4d:5e");
        let table = [
            ("never in doubt", device("Till", mac), false, "rejected"),
            ("in doubt, and looked up", doubted(site("Depot", None)), true, "rejected"),
            ("in doubt, and never looked up", doubted(device("Till", mac)), false, "held"),
            ("a change that was never in doubt", labels(), true, "rejected"),
            ("a change in doubt", doubted(labels()), true, "in doubt"),
            ("a change that a person let send again", doubted(licence()), true, "rejected"),
        ];
        for (case, work, usable, expected) in table {
            for refused in [Settled::Rejected(refusal.clone()), Settled::Unseen(refusal.clone())] {
                let told = match unless_in_doubt(refused, &work, &|_| usable) {
                    Settled::Rejected(_) | Settled::Unseen(_) => "rejected",
                    Settled::Held { .. } => "held",
                    Settled::InDoubt(Doubt::Refused) => "in doubt",
                    other => panic!("{case}: {other:?}"),
                };
                assert_eq!(told, expected, "{case}");
            }
        }
    }
}

//! Questions to the service: who asks what with a look-up, when it is asked again, and what its answer says.
//!
//! The look before sending, reconciliation, reading back and the health check put the same questions; each goes through the
//! gates, and its answer goes back to whoever asked.

use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::service::{self, Found};

/// How often a look-up is tried when the service fails at it.
const LOOK_UP_TRIES: u32 = 3;

/// What a look-up is to find out, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) struct Question {
    pub(in crate::run) asker: Asker,
    pub(in crate::run) subject: Subject,
}

/// Who gets the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Asker {
    /// The look before a row is sent.
    PreSend,
    /// The look after a lost answer.
    Reconcile,
    /// Rows refused below a record that may not be visible yet.
    ReferenceLag,
    /// Reading back what was made.
    Audit,
    /// The breaker of this operation, before a request of it may find out whether the service works again.
    Breaker(Operation),
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::run) enum Subject {
    /// The record with the key of a row; or what its step was to bring about.
    Key(JobId),
    /// The same, by a shorter list than one that may be a page of a longer one.
    Narrower(JobId),
    /// The children of a company, for every row below it.
    Children(RemoteId),
    /// For a row, the record with this id.
    Record(JobId, RemoteId),
    /// The sites of the name that creating the device of a row makes as well.
    CustomSites(JobId),
    /// For a row that was not found, a record that is known to exist: whether the look-up finds that.
    Control(JobId, RemoteId),
    /// A list that several rows need, for each of them.
    SharedList,
    /// Nothing; any answer shows that the service works.
    Anything,
}

impl Question {
    /// The job that waits for the answer, when it is a single one and nothing else can be done for it.
    pub(in crate::run) fn job(self) -> Option<JobId> {
        match (self.asker, self.subject) {
            (Asker::Audit | Asker::ReferenceLag | Asker::Breaker(_), _) => None,
            (
                Asker::PreSend | Asker::Reconcile,
                Subject::Key(job)
                | Subject::Narrower(job)
                | Subject::Record(job, _)
                | Subject::CustomSites(job)
                | Subject::Control(job, _),
            ) => Some(job),
            (
                Asker::PreSend | Asker::Reconcile,
                Subject::Children(_) | Subject::SharedList | Subject::Anything,
            ) => None,
        }
    }
}

/// The tries of a look-up without an answer that tells anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::run) struct Tries {
    /// How many failed at the service.
    pub(in crate::run) failed: u32,
    /// How many in a row, up to the last, were refused for their access token.
    pub(in crate::run) token_refused: u32,
}

impl Tries {
    /// The tries so far when the question is asked again after this verdict; `None` when it has its answer. `is_closed`
    /// when nothing of the operation is held back for failures.
    pub(in crate::run) fn again(
        self,
        question: Question,
        verdict: &Verdict,
        is_closed: bool,
    ) -> Option<Self> {
        let asker = question.asker;
        let tries = Self { token_refused: 0, ..self };
        match verdict {
            // Not executed: the question stands, whatever held it back.
            Verdict::NotSent(_) | Verdict::Throttled | Verdict::QuotaSpent => Some(tries),
            // Once, with the token that is fetched meanwhile: the second time ends the run.
            Verdict::TokenInvalid => Some(Self { token_refused: 1, ..tries }),
            // That the service fails is what it was to find out.
            Verdict::Doubtful(_) if matches!(asker, Asker::Breaker(_)) => None,
            // One row must not be all that is tried: a control shows whether the service fails at other look-ups too.
            Verdict::Doubtful(_) if !is_closed && asker == Asker::PreSend && question.job().is_some() => None,
            // A service that fails at every look-up says nothing of this one: hours of it use up no try.
            Verdict::Doubtful(_) if !is_closed => Some(tries),
            Verdict::Doubtful(_) if tries.failed + 1 < LOOK_UP_TRIES => {
                Some(Self { failed: tries.failed + 1, ..tries })
            }
            Verdict::Doubtful(_)
            | Verdict::Succeeded(_)
            | Verdict::Rejected(_)
            | Verdict::NoDataFound(_)
            | Verdict::Duplicate(_)
            | Verdict::Refused(_)
            | Verdict::EndpointMissing(_)
            | Verdict::Contradicted(_) => None,
        }
    }
}

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
    pub(in crate::run) fn of(operation: Operation, verdict: Verdict, stands: bool) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{Doubt, NotSent};

    #[test]
    fn a_look_up_is_asked_again_until_it_is_answered_or_has_failed_three_times() {
        let tries = |failed, token_refused| Tries { failed, token_refused };
        let lost = || Verdict::Doubtful(Doubt::Timeout);
        let breaker = Asker::Breaker(Operation::AddSite);
        let table = [
            (
                "not sent",
                Asker::PreSend,
                tries(2, 0),
                Verdict::NotSent(NotSent::NoConnection(String::new())),
                true,
                Some(tries(2, 0)),
            ),
            ("too fast", Asker::Audit, tries(0, 1), Verdict::Throttled, true, Some(tries(0, 0))),
            ("token", Asker::Reconcile, tries(1, 0), Verdict::TokenInvalid, true, Some(tries(1, 1))),
            ("the first failure", Asker::PreSend, tries(0, 0), lost(), true, Some(tries(1, 0))),
            ("the third failure", Asker::PreSend, tries(2, 0), lost(), true, None),
            (
                "the service fails at all of them",
                Asker::Reconcile,
                tries(2, 0),
                lost(),
                false,
                Some(tries(2, 0)),
            ),
            ("the same before sending", Asker::PreSend, tries(0, 0), lost(), false, None),
            ("a health check", breaker, tries(0, 0), lost(), false, None),
            ("no such endpoint", Asker::PreSend, tries(0, 0), Verdict::EndpointMissing(404), true, None),
        ];
        for (case, asker, tries, verdict, is_closed, expected) in table {
            let question = Question { asker, subject: Subject::Key(JobId(1)) };
            assert_eq!(tries.again(question, &verdict, is_closed), expected, "{case}");
        }
    }
}

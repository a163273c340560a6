//! What the answer to a look-up says: the records found, or why nothing can be relied on.

use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::service::{self, Found};

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

//! Asking the service whether its endpoints answer, with questions about a record that cannot exist.
//!
//! Look-ups only, all of them GET: a creation is never tried, and nothing that changes a record is.

use crate::cli::call::answer::words;
use crate::model::descriptor::ActionDescriptor;
use crate::model::id::RemoteId;
use crate::model::kind::Kind;
use crate::model::operation::{Method, Operation};
use crate::model::verdict::Verdict;
use crate::service::Call;
use crate::service::{Endpoints, Origin};

/// Look-ups that only some questions need: whether a company of a name is anywhere, and where a person belongs.
const OTHERS: [Operation; 2] = [Operation::FindCompaniesByName, Operation::ListPeople];

/// Whether fleetload itself uses a look-up, to find what is there and to get out of doubt.
fn is_used(operation: Operation) -> bool {
    let of_kind = |kind: Kind| {
        kind.descriptor().by_id == Some(operation) || kind.descriptor().look_ups.contains(&operation)
    };
    OTHERS.contains(&operation)
        || Kind::ALL.into_iter().any(of_kind)
        || ActionDescriptor::ALL.iter().any(|action| action.shown_by.contains(&operation))
}

/// What an endpoint did when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Finding {
    /// It answered as the specification describes.
    Answers,
    /// There is nothing at its path, or the path takes another method.
    Missing(String),
    /// It answered something else.
    Unclear(String),
    /// The service refuses us, or cannot be reached: asking further is of no use.
    Refused(String),
}

/// The questions to ask: the look-ups that fleetload uses or the profile maps, where their path is known.
pub(in crate::cli) fn questions(endpoints: &Endpoints) -> Vec<(Operation, Origin, Call)> {
    Operation::ALL
        .iter()
        .filter_map(|&operation| {
            let endpoint = endpoints.get(operation)?;
            let harmless = operation.method() == Method::Get && endpoint.method() == Method::Get;
            let wanted = is_used(operation) || endpoint.origin() == Origin::Mapped;
            (harmless && wanted).then(|| (operation, endpoint.origin(), question(operation)))
        })
        .collect()
}

/// A question about a record that cannot exist.
pub(super) fn question(operation: Operation) -> Call {
    let parameters = operation
        .parameters()
        .into_iter()
        .map(|parameter| {
            let value = match parameter.name {
                "name" | "companyName" | "username" | "label" | "key" => "fleetload-doctor".to_owned(),
                "macAddress" => "00:00:00:00:00:00".to_owned(),
                _ => RemoteId::nil().to_string(),
            };
            (parameter.name, value)
        })
        .collect();
    Call { operation, parameters, body: None }
}

/// What an answer to such a question says about the endpoint.
pub(in crate::cli) fn finding(verdict: &Verdict) -> Finding {
    let why = words(verdict);
    match verdict {
        Verdict::Succeeded(_) | Verdict::NoDataFound(_) | Verdict::Rejected(_) | Verdict::Duplicate(_) => {
            Finding::Answers
        }
        Verdict::EndpointMissing(status) => Finding::Missing(format!("the service answers {status}")),
        Verdict::TokenInvalid | Verdict::Refused(_) | Verdict::NotSent(_) => Finding::Refused(why),
        Verdict::Throttled | Verdict::QuotaSpent | Verdict::Contradicted(_) | Verdict::Doubtful(_) => {
            Finding::Unclear(why)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{Doubt, Refusal, Rejection};
    use crate::service::{Mapping, Paths};
    use std::collections::BTreeMap;

    #[test]
    fn only_look_ups_are_asked_and_every_one_about_nothing() {
        let assumed = Endpoints::new(Paths::Assumed, BTreeMap::new()).unwrap();
        let questions = questions(&assumed);
        assert_eq!(questions.len(), 21);
        for (operation, _, call) in &questions {
            assert_eq!(operation.method(), Method::Get, "{operation}");
            assert!(call.body.is_none());
            for (name, value) in &call.parameters {
                let nothing =
                    ["fleetload-doctor", "00:00:00:00:00:00", "00000000-0000-0000-0000-000000000000"];
                assert!(nothing.contains(&value.as_str()), "{operation} {name}");
            }
        }
    }

    #[test]
    fn a_look_up_that_the_profile_maps_is_asked_unless_it_is_a_post() {
        let of = |method, operation: Operation| {
            let mapping = Mapping { method, path: operation.path().to_owned() };
            let endpoints =
                Endpoints::new(Paths::Documented, BTreeMap::from([(operation, mapping)])).unwrap();
            questions(&endpoints).into_iter().any(|(asked, _, _)| asked == operation)
        };
        assert!(of(Method::Get, Operation::ListTimeZones));
        assert!(!of(Method::Post, Operation::GetSite));
        assert!(!of(Method::Post, Operation::AddSite));
        assert!(!of(Method::Post, Operation::DeleteDeviceMetadata));
    }

    #[test]
    fn no_data_found_is_an_answer_and_a_page_is_none() {
        let rejection = Rejection { code: "x".into(), message: "y".into(), violations: vec![] };
        let table = [
            (Verdict::NoDataFound(rejection), Finding::Answers),
            (Verdict::EndpointMissing(404), Finding::Missing("the service answers 404".into())),
            (
                Verdict::Doubtful(Doubt::Unreadable),
                Finding::Unclear("the answer is not one that the service documents".into()),
            ),
            (
                Verdict::Refused(Refusal::InvalidClient),
                Finding::Refused("the client id or the client secret is wrong or revoked".into()),
            ),
        ];
        for (verdict, expected) in table {
            assert_eq!(finding(&verdict), expected);
        }
    }
}

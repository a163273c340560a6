//! What an answer means: (operation, what was sent, status, body) to a verdict, and nothing else.
//!
//! Only a listed proof lets an answer count as executed or as not executed; everything else is in doubt
//! (specification 2.1 and 7). What follows from a verdict is decided elsewhere.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::call::Call;
use super::envelope::{List, Reading, largest, read, read_apart};
use super::wording::Wording;
use crate::model::id::RemoteId;
use crate::model::key::{Likeness, likeness, mac_digits};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::verdict::{Contradiction, Doubt, Refusal, Rejection, Success, Verdict};

/// How much of a value is quoted when it contradicts what was sent, in characters.
const LONGEST_QUOTE: usize = 80;

/// An answer as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    /// The HTTP status.
    pub status: u16,
    /// The body, as far as it was read.
    pub body: Bytes,
    /// Why the body was not read to its end, when it was not.
    pub flaw: Option<Doubt>,
}

/// What a success must agree with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expectation {
    /// The id asked for, of a get by id.
    pub id: Option<RemoteId>,
    /// The name sent.
    pub name: Option<String>,
    /// The username sent, of a person.
    pub username: Option<String>,
    /// The company sent.
    pub company: Option<RemoteId>,
    /// The MAC address sent, of a device.
    pub identification: Option<String>,
}

impl Expectation {
    /// What a success of `call` must agree with: the record of a creation, the id of a get by id, else nothing.
    pub fn of(call: &Call) -> Self {
        if call.operation.creates() {
            let sent =
                |field: &str| call.body.as_ref().and_then(|body| body.get(field)).and_then(Value::as_str);
            return Self {
                id: None,
                name: sent("name").map(str::to_owned),
                username: sent("username").map(str::to_owned),
                company: sent("companyId").and_then(parse_id),
                identification: sent("identification").map(str::to_owned),
            };
        }
        let by_id = Kind::ALL.into_iter().any(|kind| kind.descriptor().by_id == Some(call.operation));
        let id = call.parameters.iter().find(|(name, _)| by_id && *name == "id");
        Self { id: id.and_then(|(_, id)| parse_id(id)), ..Self::default() }
    }
}

/// Judges the answer to one request of `operation`.
pub fn judge(operation: Operation, expectation: &Expectation, raw: &Raw) -> Verdict {
    judge_without(&[], operation, expectation, raw)
}

/// As [`judge`], with these secrets taken out of every word of the service that is kept.
pub(crate) fn judge_without(
    secrets: &[&str],
    operation: Operation,
    expectation: &Expectation,
    raw: &Raw,
) -> Verdict {
    let wording = Wording { secrets };
    judge_read(operation, expectation, raw, wording, || read(&raw.body, largest(operation), wording))
}

/// As [`judge_without`]; the entries of a list are given apart, and the body of the success is an empty list.
pub(crate) fn judge_apart(
    secrets: &[&str],
    operation: Operation,
    expectation: &Expectation,
    raw: &Raw,
) -> (Verdict, Option<List>) {
    let wording = Wording { secrets };
    let mut list = None;
    let verdict = judge_read(operation, expectation, raw, wording, || {
        let (reading, entries) = read_apart(&raw.body, largest(operation), wording)?;
        list = entries;
        Ok(reading)
    });
    let is_success = matches!(verdict, Verdict::Succeeded(_));
    (verdict, list.filter(|_| is_success))
}

/// Judges an answer whose body is read with `read`, where its status leaves that to be done.
fn judge_read(
    operation: Operation,
    expectation: &Expectation,
    raw: &Raw,
    wording: Wording<'_>,
    read: impl FnOnce() -> Result<Reading, Doubt>,
) -> Verdict {
    if let Some(flaw) = raw.flaw {
        return Verdict::Doubtful(flaw);
    }
    match raw.status {
        300..=399 => return Verdict::Doubtful(Doubt::Redirect),
        500..=599 => return Verdict::Doubtful(Doubt::ServerError),
        _ => {}
    }
    let reading = match read() {
        Ok(reading) => reading,
        Err(doubt) => return Verdict::Doubtful(doubt),
    };
    if reading.code() == Some("internalServerError") {
        return Verdict::Doubtful(Doubt::ServerError);
    }
    match raw.status {
        200 => match reading {
            Reading::Ok(body) => succeeded(operation, expectation, body, wording),
            Reading::Failed(rejection) => failed(rejection),
            Reading::Word(_) | Reading::Strange => Verdict::Doubtful(Doubt::UnknownAnswer),
            Reading::Foreign(_) | Reading::Page => Verdict::Doubtful(Doubt::Unreadable),
        },
        401 => match reading.code() {
            Some("invalid_token") => Verdict::TokenInvalid,
            Some("invalid_client") => Verdict::Refused(Refusal::InvalidClient),
            Some("unauthorizedSource") => Verdict::Refused(Refusal::UnauthorizedSource),
            _ => Verdict::Doubtful(Doubt::UnknownAnswer),
        },
        // Specification 7 promises pages here. An envelope means that the operation was reached after all.
        404 | 405 | 415 => match reading {
            Reading::Page | Reading::Foreign(_) | Reading::Word(_) => Verdict::EndpointMissing(raw.status),
            Reading::Failed(rejection) => failed(rejection),
            Reading::Ok(_) | Reading::Strange => Verdict::Doubtful(Doubt::UnknownAnswer),
        },
        // The two limits prove that nothing was executed only together with their status: with 200 the contract is
        // not the one we know, and sending again would rest on a guess.
        429 => match reading.code() {
            Some("rateLimitExceeded") => Verdict::Throttled,
            Some("quotaLimitExceeded") => Verdict::QuotaSpent,
            _ => Verdict::Doubtful(Doubt::UnknownAnswer),
        },
        _ => Verdict::Doubtful(Doubt::UnknownAnswer),
    }
}

/// The failures that come with HTTP 200 (specification 7).
fn failed(rejection: Rejection) -> Verdict {
    match rejection.code.as_str() {
        "invalidParam" | "malformedJsonInput" | "invalidData" | "invalidState" | "generalError" => {
            Verdict::Rejected(rejection)
        }
        "noDataFound" => Verdict::NoDataFound(rejection),
        "duplicateEntity" => Verdict::Duplicate(rejection),
        _ => Verdict::Doubtful(Doubt::UnknownAnswer),
    }
}

fn succeeded(operation: Operation, expectation: &Expectation, body: Value, wording: Wording<'_>) -> Verdict {
    let strict = operation.creates() || expectation.id.is_some();
    let id = match &body {
        Value::Object(record) if strict => match agreed(expectation, record, wording) {
            Ok(id) => id,
            Err(contradiction) => return Verdict::Contradicted(contradiction),
        },
        Value::Object(record) => record.get("id").and_then(Value::as_str).and_then(parse_id),
        // Status OK without a record: it was done, and its id must be looked up.
        Value::Null => None,
        _ if strict => {
            return Verdict::Contradicted(Contradiction {
                id: None,
                what: "the service says OK, but its answer is not a record".to_owned(),
            });
        }
        _ => None,
    };
    Verdict::Succeeded(Success { id, body })
}

/// The id of a record that agrees with what was sent in everything it shows.
fn agreed(
    expectation: &Expectation,
    record: &Map<String, Value>,
    wording: Wording<'_>,
) -> Result<Option<RemoteId>, Contradiction> {
    let contradiction =
        |id, field: &str, got: &Value, sent: &str| contradiction(id, field, got, sent, wording);
    let shown = |field: &str| record.get(field).filter(|value| !value.is_null());
    let id = match shown("id") {
        None => None,
        Some(value) => match value.as_str().and_then(parse_id) {
            Some(id) => Some(id),
            None => return Err(contradiction(None, "id", value, "an id as the service gives them")),
        },
    };
    if let (Some(asked), Some(got)) = (expectation.id, id)
        && asked != got
    {
        return Err(contradiction(id, "id", &Value::from(got.to_string()), &asked.to_string()));
    }
    for (field, sent) in [("name", &expectation.name), ("username", &expectation.username)] {
        if let (Some(sent), Some(value)) = (sent, shown(field))
            && !value.as_str().is_some_and(|text| likeness(text, sent) == Likeness::Equal)
        {
            return Err(contradiction(id, field, value, &quoted(sent, wording)));
        }
    }
    if let (Some(sent), Some(value)) = (expectation.company, shown("companyId"))
        && value.as_str().and_then(parse_id) != Some(sent)
    {
        return Err(contradiction(id, "companyId", value, &sent.to_string()));
    }
    // The service may write the address its own way, or show something else here for a device that has none.
    if let (Some(sent), Some(value)) = (&expectation.identification, shown("identification"))
        && let (Some(sent_digits), Some(digits)) = (mac_digits(sent), value.as_str().and_then(mac_digits))
        && sent_digits != digits
    {
        return Err(contradiction(id, "identification", value, &quoted(sent, wording)));
    }
    Ok(id)
}

fn contradiction(
    id: Option<RemoteId>,
    field: &str,
    got: &Value,
    sent: &str,
    wording: Wording<'_>,
) -> Contradiction {
    let got = match got {
        Value::String(text) => quoted(text, wording),
        other => wording.clean(&other.to_string(), LONGEST_QUOTE),
    };
    Contradiction {
        id,
        what: format!("the service says OK, but answers {field} {got} where {sent} was expected"),
    }
}

fn quoted(text: &str, wording: Wording<'_>) -> String {
    format!("'{}'", wording.clean(text, LONGEST_QUOTE))
}

/// An id in the one form the service writes: 36 characters with hyphens, and not all zeros.
pub(crate) fn parse_id(text: &str) -> Option<RemoteId> {
    (text.len() == 36).then(|| RemoteId::try_parse(text).ok()).flatten().filter(|id| !id.is_nil())
}

//! What came of a call: the answer on standard output, its meaning on standard error, and how the command ends.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use crate::cli::context::Context;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::model::operation::Operation;
use crate::model::reason::{Reason, ServiceCode};
use crate::model::time::Rfc3339;
use crate::model::verdict::{AnswerClass, NotSent, Refusal, Rejection, Verdict, Violation};
use crate::run::end_of;
use crate::service::Answer;
use crate::status::catalogue;

/// Tells the answer to an operation: its body as JSON, one object for programs, or the bytes as they came. What was not
/// carried out or is not known ends the command as its table says.
///
/// # Errors
/// `Service` when the service refuses us, cannot be reached, or gives no usable answer to a look-up.
pub(super) fn tell(
    context: &Context<'_>,
    operation: Operation,
    answer: &Answer,
    raw: Option<&Bytes>,
) -> Result<Summary> {
    let terminal = context.terminal;
    let (code, message) = meaning(&answer.verdict);
    let body = match &answer.verdict {
        Verdict::Succeeded(success) => &success.body,
        _ => &Value::Null,
    };
    terminal.object(&CallObject {
        operation,
        verdict: answer.verdict.class(),
        code: code.as_deref(),
        message: message.as_deref(),
        violations: rejection(&answer.verdict).map(|rejection| rejection.violations.as_slice()),
        status: answer.status,
        took_ms: u64::try_from(answer.took.as_millis()).unwrap_or(u64::MAX),
        body,
    });
    match raw {
        Some(bytes) => terminal.bytes(bytes),
        None if terminal.json() => {}
        None if !body.is_null() => terminal.pretty(body),
        None if matches!(answer.verdict, Verdict::Succeeded(_)) => {
            terminal.say("OK; the service returns no data");
        }
        None => {}
    }
    let end = end(operation, &answer.verdict);
    match end {
        End::Done => {}
        End::CallRejected | End::Quota | End::CallUnknown => tell_unfinished(context, operation, end, answer),
        _ => return Err(failure(operation, end, answer)),
    }
    let resumes_at = (end == End::Quota).then(|| {
        let today = answer.date.unwrap_or_else(|| context.now()).day();
        today.next().start().into()
    });
    Ok(Summary::new(end).with(&CallSummary { operation, resumes_at }))
}

/// How the command ends.
fn end(operation: Operation, verdict: &Verdict) -> End {
    match verdict {
        Verdict::Succeeded(_) => End::Done,
        Verdict::Rejected(_) | Verdict::NoDataFound(_) | Verdict::Duplicate(_) => End::CallRejected,
        Verdict::QuotaSpent => End::Quota,
        Verdict::Throttled => End::Service,
        Verdict::TokenInvalid => End::Credentials,
        Verdict::Refused(_) | Verdict::NotSent(_) | Verdict::EndpointMissing(_) => end_of(verdict),
        Verdict::Contradicted(_) | Verdict::Doubtful(_) if operation.changes() => End::CallUnknown,
        Verdict::Contradicted(_) | Verdict::Doubtful(_) => End::Service,
    }
}

/// The code of a verdict, as it is noted and explained; nothing for a success.
pub(super) fn code(verdict: &Verdict) -> Option<String> {
    meaning(verdict).0
}

/// The words of a verdict; nothing for a success.
pub(in crate::cli) fn words(verdict: &Verdict) -> String {
    meaning(verdict).1.unwrap_or_default()
}

/// The code and the words of a verdict; nothing for a success.
fn meaning(verdict: &Verdict) -> (Option<String>, Option<String>) {
    let of_service = |code: ServiceCode, words: &str| (code.as_str().to_owned(), words.to_owned());
    let (code, message) = match verdict {
        Verdict::Succeeded(_) => return (None, None),
        Verdict::Rejected(said) | Verdict::NoDataFound(said) | Verdict::Duplicate(said) => {
            (said.code.clone(), said.message.clone())
        }
        Verdict::NotSent(why) => not_sent(why),
        Verdict::Throttled => of_service(
            ServiceCode::RateLimitExceeded,
            "the service asks for a slower pace; nothing was carried out",
        ),
        Verdict::QuotaSpent => of_service(
            ServiceCode::QuotaLimitExceeded,
            "the day's quota of creations is spent; nothing was carried out",
        ),
        Verdict::TokenInvalid => {
            of_service(ServiceCode::InvalidToken, "the service does not accept its own access token")
        }
        Verdict::Refused(refusal) => refused(*refusal),
        Verdict::EndpointMissing(status) => {
            let words =
                format!("the service answered {status}: there is no such endpoint; nothing was carried out");
            (Reason::EndpointMissing.as_str().to_owned(), words)
        }
        Verdict::Contradicted(contradiction) => {
            (Reason::AnswerContradicts.as_str().to_owned(), contradiction.what.clone())
        }
        Verdict::Doubtful(doubt) => (doubt.code().to_owned(), doubt.words().to_owned()),
    };
    (Some(code), Some(message))
}

fn not_sent(why: &NotSent) -> (String, String) {
    let (reason, words) = match why {
        NotSent::NoConnection(words) => (Reason::Unreachable, format!("no connection: {words}")),
        NotSent::NoToken(words) => (Reason::Unreachable, format!("no token: {words}")),
        NotSent::NoResources(words) => {
            (Reason::Resources, format!("this machine has no more sockets or open files: {words}"))
        }
        NotSent::Untrusted(words) => {
            (Reason::Untrusted, format!("the certificate of the service is not accepted: {words}"))
        }
    };
    (reason.as_str().to_owned(), words)
}

fn refused(refusal: Refusal) -> (String, String) {
    let (code, words) = match refusal {
        Refusal::InvalidClient => {
            (ServiceCode::InvalidClient, "the client id or the client secret is wrong or revoked")
        }
        Refusal::UnauthorizedSource => {
            (ServiceCode::UnauthorizedSource, "the address of this machine is not on the service's list")
        }
        Refusal::TokenRefused => {
            (ServiceCode::InvalidToken, "the service does not accept its own access token")
        }
    };
    (code.as_str().to_owned(), words.to_owned())
}

fn rejection(verdict: &Verdict) -> Option<&Rejection> {
    match verdict {
        Verdict::Rejected(said) | Verdict::NoDataFound(said) | Verdict::Duplicate(said) => Some(said),
        Verdict::Succeeded(_)
        | Verdict::NotSent(_)
        | Verdict::Throttled
        | Verdict::QuotaSpent
        | Verdict::TokenInvalid
        | Verdict::Refused(_)
        | Verdict::EndpointMissing(_)
        | Verdict::Contradicted(_)
        | Verdict::Doubtful(_) => None,
    }
}

/// Tells what was rejected, what the quota does not allow, and what is not known.
fn tell_unfinished(context: &Context<'_>, operation: Operation, end: End, answer: &Answer) {
    let (code, message) = meaning(&answer.verdict);
    let message = message.unwrap_or_default();
    let mut lines = match end {
        End::CallUnknown => vec![format!(
            "the outcome of {operation} is unknown: {message}; it may have been carried out, and it is not sent again"
        )],
        End::Quota => vec![message],
        _ => vec![format!(
            "the service rejected {operation}: {}: {message}",
            code.as_deref().unwrap_or_default()
        )],
    };
    let said = rejection(&answer.verdict).map_or(&[][..], |said| said.violations.as_slice());
    lines.extend(said.iter().map(|violation| format!("{}: {}", violation.path, violation.message)));
    if let Some(entry) = rejection(&answer.verdict).and_then(|said| catalogue::of_row(&said.code)) {
        // Most of what is sent is a row, and the catalogue says so.
        lines.push(format!("that is: {}", entry.words.replace("the row", "the request")));
    }
    context.terminal.warn(lines.join("\n"));
    let advice = match (end, code) {
        (End::CallUnknown, _) => {
            let words = "check in the service whether it was carried out before you send it again; the call is kept: ";
            look_ups(operation).into_iter().fold(context.advice(words, "status"), |advice, look_up| {
                let help = context.again(&format!("call {look_up} --help"));
                advice.words("\nto see what the service has: ").command(help)
            })
        }
        (End::Quota, _) => "send it again after midnight UTC".into(),
        (_, Some(code)) => context.advice("what the code means: ", &format!("explain {code}")),
        (_, None) => return,
    };
    context.terminal.hint(advice);
}

/// The look-ups that show what a creation made.
fn look_ups(operation: Operation) -> Vec<Operation> {
    operation.makes().map_or_else(Vec::new, |kind| kind.descriptor().look_ups.to_vec())
}

/// The error of a service that refuses us, cannot be reached, or gives no usable answer.
fn failure(operation: Operation, end: End, answer: &Answer) -> Error {
    let message = words(&answer.verdict);
    let error = Error::service(format!("{operation}: {message}")).ending(end);
    match (end, &answer.verdict) {
        (End::EndpointMissing, _) => {
            error.hint(format!("set method and path in [profile.NAME.endpoints.{operation}]"))
        }
        (_, Verdict::Throttled) => error.hint("send it again in a moment"),
        (_, _) => error.hint(crate::advice::Advice::from("to find the cause: ").command("fleetload doctor")),
    }
}

/// The answer to a call.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CallObject<'a> {
    operation: Operation,
    verdict: AnswerClass,
    /// What is the matter; docs/codes.md explains the codes. `null` for a success.
    code: Option<&'a str>,
    /// The same in words.
    message: Option<&'a str>,
    /// The violated fields of a rejection.
    violations: Option<&'a [Violation]>,
    /// The HTTP status; `null` where no answer came.
    status: Option<u16>,
    /// How long the answer took, in milliseconds.
    took_ms: u64,
    /// The body of the answer, as the service gave it; `null` where it was not carried out.
    body: &'a Value,
}

/// How a call ended.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CallSummary {
    pub(super) operation: Operation,
    /// When creations go on, where the quota is spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resumes_at: Option<Rfc3339>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{Contradiction, Doubt, Success};

    #[test]
    fn every_verdict_ends_the_command_by_the_table_of_endings() {
        let said = |code: &str| Rejection { code: code.into(), message: "no".into(), violations: vec![] };
        let table = [
            (Verdict::Succeeded(Success::default()), End::Done, End::Done),
            (Verdict::Rejected(said("invalidData")), End::CallRejected, End::CallRejected),
            (Verdict::NoDataFound(said("noDataFound")), End::CallRejected, End::CallRejected),
            (Verdict::Duplicate(said("duplicateEntity")), End::CallRejected, End::CallRejected),
            (Verdict::QuotaSpent, End::Quota, End::Quota),
            (Verdict::Throttled, End::Service, End::Service),
            (Verdict::TokenInvalid, End::Credentials, End::Credentials),
            (Verdict::Refused(Refusal::InvalidClient), End::Credentials, End::Credentials),
            (Verdict::Refused(Refusal::UnauthorizedSource), End::SourceAddress, End::SourceAddress),
            (Verdict::NotSent(NotSent::NoConnection("x".into())), End::Unreachable, End::Unreachable),
            (Verdict::NotSent(NotSent::Untrusted("x".into())), End::Certificate, End::Certificate),
            (Verdict::EndpointMissing(404), End::EndpointMissing, End::EndpointMissing),
            (
                Verdict::Contradicted(Contradiction { id: None, what: "x".into() }),
                End::CallUnknown,
                End::Service,
            ),
            (Verdict::Doubtful(Doubt::Timeout), End::CallUnknown, End::Service),
        ];
        for (verdict, changing, reading) in table {
            assert_eq!(end(Operation::AddSite, &verdict), changing, "{verdict:?}");
            assert_eq!(end(Operation::GetSite, &verdict), reading, "{verdict:?}");
        }
    }
}

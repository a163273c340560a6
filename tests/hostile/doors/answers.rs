//! Answers of the service: judged, and read as look-ups. Whatever they are, only the proofs listed in the
//! specification let a request count as executed or as not executed.

use bytes::Bytes;
use fleetload::model::id::RemoteId;
use fleetload::model::operation::Operation;
use fleetload::model::time::Moment;
use fleetload::model::verdict::{Doubt, Refusal, Rejection, Verdict};
use fleetload::service::{Expectation, Raw, found, judge};
use serde_json::Value;

use super::input::Input;

/// Statuses that mean something, and some that do not.
const STATUSES: [u16; 24] = [
    200, 201, 204, 206, 301, 302, 307, 308, 400, 401, 403, 404, 405, 409, 413, 415, 418, 429, 500, 502, 503,
    504, 599, 100,
];

/// The longest message of the service that is kept, in characters.
const LONGEST: usize = 500;

/// Operation, status, what was expected and where the answer is cut off; then its body.
pub(crate) fn answer(data: &[u8]) {
    let mut input = Input::new(data);
    let operation = Operation::ALL[usize::from(input.byte()) % Operation::ALL.len()];
    let status = match usize::from(input.byte()) {
        known if known < STATUSES.len() => STATUSES[known],
        other => u16::try_from(other).unwrap_or(0) * 4,
    };
    let expectation = expectation(operation, input.byte());
    let cut = usize::from(input.short());
    let body = input.rest();

    let whole = Raw { status, body: Bytes::copy_from_slice(body), flaw: None };
    let verdict = judge(operation, &expectation, &whole);
    is_proved(&verdict, status, body, &expectation);
    is_fit_to_be_shown(&verdict);
    if let Verdict::Succeeded(success) = &verdict {
        look_up(operation, &success.body);
    }
    // A look-up reads whatever stands in the place of a body.
    if let Ok(body) = serde_json::from_slice::<Value>(body) {
        look_up(operation, &body);
    }

    // The clock of the service is read from a header of any text.
    if let Ok(text) = std::str::from_utf8(body) {
        drop(Moment::parse_http_date(text).map(|moment| moment.to_string()));
        assert!(Moment::parse(text).is_none_or(|moment| moment.day().next().start() > moment));
    }

    // An answer that did not come to its end proves nothing, whatever of it came.
    let flawed = Raw { flaw: Some(Doubt::Truncated), ..whole };
    assert_eq!(judge(operation, &expectation, &flawed), Verdict::Doubtful(Doubt::Truncated));
    // Nor does one whose end is missing without anybody having noticed, as long as something of it came.
    if let Some(end) = body.iter().rposition(|&byte| byte == b'}')
        && !matches!(verdict, Verdict::EndpointMissing(_) | Verdict::Doubtful(_))
    {
        let start = body.iter().position(|&byte| byte == b'{').unwrap_or(0);
        let cut = start + 1 + cut % (end - start).max(1);
        let part = Raw { status, body: Bytes::copy_from_slice(&body[..cut.min(end)]), flaw: None };
        let judged = judge(operation, &expectation, &part);
        assert!(matches!(judged, Verdict::Doubtful(_)), "cut at {cut}: {judged:?}");
    }
}

fn expectation(operation: Operation, choice: u8) -> Expectation {
    let id = (!operation.creates() && choice & 1 > 0).then_some(RemoteId::from_u128(7));
    let text = |bit: u8, text: &str| (choice & bit > 0).then(|| text.to_owned());
    Expectation {
        id,
        name: text(2, "Acme"),
        username: text(4, "a@b.example"),
        company: (choice & 8 > 0).then_some(RemoteId::from_u128(8)),
        identification: text(16, "00:1a:2b:3c:4d:5e"),
    }
}

/// What the specification lists, read from the answer a second time and in another way.
fn is_proved(verdict: &Verdict, status: u16, body: &[u8], expectation: &Expectation) {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let json: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
    let told = |code: &str| {
        let error = &json["error"];
        error == code || error["errorCode"] == code || (error.is_null() && json["errorCode"] == code)
    };
    let refused = |rejection: &Rejection, codes: &[&str]| {
        codes.contains(&rejection.code.as_str())
            && told(&rejection.code)
            && [200, 404, 405, 415].contains(&status)
            && json["status"] != "OK"
    };
    let proved = match verdict {
        Verdict::Succeeded(success) => {
            let id = json["body"]["id"].as_str();
            let id_agrees = match success.id {
                Some(given) => {
                    !given.is_nil() && id == Some(given.hyphenated().to_string().as_str())
                        || id.is_some_and(|id| id.eq_ignore_ascii_case(&given.hyphenated().to_string()))
                }
                None => true,
            };
            let asked_for = expectation.id.is_none() || success.id.is_none() || success.id == expectation.id;
            status == 200 && json["status"] == "OK" && json["error"].is_null() && id_agrees && asked_for
        }
        Verdict::Contradicted(_) => status == 200 && json["status"] == "OK",
        Verdict::Rejected(rejection) => refused(
            rejection,
            &["invalidParam", "malformedJsonInput", "invalidData", "invalidState", "generalError"],
        ),
        Verdict::NoDataFound(rejection) => refused(rejection, &["noDataFound"]),
        Verdict::Duplicate(rejection) => refused(rejection, &["duplicateEntity"]),
        Verdict::Throttled => status == 429 && told("rateLimitExceeded"),
        Verdict::QuotaSpent => status == 429 && told("quotaLimitExceeded"),
        Verdict::TokenInvalid => status == 401 && told("invalid_token"),
        Verdict::Refused(Refusal::InvalidClient) => status == 401 && told("invalid_client"),
        Verdict::Refused(Refusal::UnauthorizedSource) => status == 401 && told("unauthorizedSource"),
        Verdict::EndpointMissing(seen) => {
            *seen == status
                && [404, 405, 415].contains(&status)
                && !matches!(json["status"].as_str(), Some("OK" | "FAILED"))
        }
        // These are never what an answer means.
        Verdict::Refused(Refusal::TokenRefused) | Verdict::NotSent(_) => false,
        Verdict::Doubtful(_) => true,
    };
    assert!(proved, "{verdict:?} is not proved by {status} {}", String::from_utf8_lossy(body));
}

fn is_fit_to_be_shown(verdict: &Verdict) {
    let fit = |text: &str| {
        assert!(text.chars().count() <= LONGEST, "too long: {text}");
        assert!(!text.chars().any(char::is_control), "{text:?}");
    };
    match verdict {
        Verdict::Rejected(rejection) | Verdict::NoDataFound(rejection) | Verdict::Duplicate(rejection) => {
            fit(&rejection.code);
            fit(&rejection.message);
            assert!(rejection.violations.len() <= 100);
            for violation in &rejection.violations {
                fit(&violation.path);
                fit(&violation.message);
            }
        }
        Verdict::Contradicted(contradiction) => fit(&contradiction.what),
        _ => {}
    }
}

/// "Nothing there" is only what an empty list says.
fn look_up(operation: Operation, body: &Value) {
    let Ok(entries) = found(operation, body) else { return };
    match body {
        Value::Array(listed) => assert_eq!(entries.len(), listed.len()),
        _ => assert_eq!(entries.len(), 1, "{body}"),
    }
    for entry in entries {
        assert!(entry.raw.is_object());
        assert!(![entry.id, entry.company, entry.site].contains(&Some(RemoteId::nil())));
    }
}

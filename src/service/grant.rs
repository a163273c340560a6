//! Reads the answer to a request for a token (specification 4.1 and 5), which is not wrapped like the others.
//!
//! When to ask and how long to keep what was granted is left to [`super::token`].

use std::time::Duration;

use http::HeaderValue;
use serde_json::{Map, Value};

use super::envelope::{Reading, largest, read};
use super::judge::{Expectation, Raw, judge_without};
use super::transport::SendFailure;
use super::wording::Wording;
use crate::model::operation::Operation;
use crate::model::verdict::{NotSent, Verdict};

/// The longest life that is believed, in seconds: a year.
const LONGEST_LIFE: u64 = 366 * 24 * 60 * 60;

/// The longest token, in bytes: servers take no longer header.
const LONGEST_TOKEN: usize = 8 * 1024;

/// What it means for whoever needs a token that the request for one failed.
pub(crate) fn not_had(failure: SendFailure) -> Verdict {
    Verdict::NotSent(match failure {
        SendFailure::NotSent(why) => why,
        SendFailure::Doubtful(doubt) => no_token(doubt.words()),
    })
}

fn no_token(why: &str) -> NotSent {
    NotSent::NoToken(format!("asked for a token, {why}"))
}

/// The header and the life of the token in an answer, or what the answer means for whoever needed one: refused, the
/// endpoint missing, else no token for now.
pub(crate) fn grant(raw: &Raw, secret: &str) -> Result<(HeaderValue, Option<Duration>), Verdict> {
    if raw.status == 200
        && raw.flaw.is_none()
        && let Ok(Reading::Foreign(fields)) = read(&raw.body, largest(Operation::Auth), Wording::default())
    {
        return token_in(&fields).map_err(|why| Verdict::NotSent(no_token(why)));
    }
    Err(match judge_without(&[secret], Operation::Auth, &Expectation::default(), raw) {
        verdict @ (Verdict::Refused(_) | Verdict::EndpointMissing(_)) => verdict,
        Verdict::NotSent(why) => Verdict::NotSent(why),
        Verdict::Doubtful(doubt) => Verdict::NotSent(no_token(doubt.words())),
        Verdict::Throttled | Verdict::QuotaSpent => {
            Verdict::NotSent(no_token("the service said that it is asked too often"))
        }
        Verdict::Rejected(said) | Verdict::NoDataFound(said) | Verdict::Duplicate(said) => {
            Verdict::NotSent(no_token(&format!("the service answered {}: {}", said.code, said.message)))
        }
        Verdict::Succeeded(_) | Verdict::TokenInvalid | Verdict::Contradicted(_) => {
            Verdict::NotSent(no_token("the answer is not one that the service documents"))
        }
    })
}

fn token_in(fields: &Map<String, Value>) -> Result<(HeaderValue, Option<Duration>), &'static str> {
    let token = fields
        .get("access_token")
        .and_then(Value::as_str)
        .filter(|token| token.len() <= LONGEST_TOKEN && !token.is_empty())
        .filter(|token| token.bytes().all(|byte| byte.is_ascii_graphic()))
        .ok_or("the answer held none that can be used")?;
    let bearer = match fields.get("token_type") {
        None | Some(Value::Null) => true,
        Some(kind) => kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")),
    };
    if !bearer {
        return Err("the service gave one that is not of the type Bearer");
    }
    let mut header = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| "the answer held none that can be used")?;
    header.set_sensitive(true);
    Ok((header, fields.get("expires_in").and_then(life)))
}

/// `expires_in` as seconds, where that makes sense.
fn life(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::String(text) => text.parse().ok()?,
        other => other.as_u64()?,
    };
    (1..=LONGEST_LIFE).contains(&seconds).then(|| Duration::from_secs(seconds))
}

//! The access token: one for all workers, renewed before it expires, by one of them at a time and at most once a
//! second (specification 4.1 and 5).
//!
//! The unit of `expires_in` is not stated: it is taken as seconds, and when that makes no sense or proves wrong the
//! token is renewed when the service refuses it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;

use super::envelope::{Reading, largest, read};
use super::judge::{Expectation, Raw, judge_without};
use super::transport::{HttpRequest, SendFailure, Transport};
use super::wording::Wording;
use crate::clock::Clock;
use crate::model::operation::{Method, Operation};
use crate::model::time::Moment;
use crate::model::verdict::{AnswerClass, Doubt, NotSent, Verdict};

/// The least time between the starts of two requests for a token.
const BETWEEN: Duration = Duration::from_secs(1);

/// The most by which a token is renewed before it expires; a tenth of its life when that is less.
const MARGIN: Duration = Duration::from_secs(60);

/// For so long a token that was had is as good as a new one: one command signs in once.
const JUST_NOW: Duration = Duration::from_secs(60);

/// The longest life that is believed, in seconds: a year.
const LONGEST_LIFE: u64 = 366 * 24 * 60 * 60;

/// The longest token, in bytes: servers take no longer header.
const LONGEST_TOKEN: usize = 8 * 1024;

/// What is reported about a token; never the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenInfo {
    /// How long it is good for, where the service says so sensibly.
    pub expires_in: Option<Duration>,
    /// How long the service took.
    pub took: Duration,
    /// The service's clock, from its `Date` header.
    pub date: Option<Moment>,
}

/// A token and the turn it was had in. A later token has a higher generation.
pub(crate) struct Token {
    header: HeaderValue,
    pub(crate) generation: u64,
    renew: Option<Due>,
    expires: Option<Due>,
    info: TokenInfo,
    /// Whether the service has taken it in a request.
    taken: AtomicBool,
}

/// A time on both clocks: the monotonic one stands still while the machine is suspended, the wall clock may jump.
#[derive(Clone, Copy)]
struct Due {
    elapsed: Duration,
    wall: Moment,
}

impl Due {
    fn passed(self, clock: &dyn Clock) -> bool {
        clock.elapsed() >= self.elapsed || clock.now() >= self.wall
    }
}

impl Token {
    /// The value of the `Authorization` header, marked sensitive.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The token itself, only to be taken out of texts.
    pub(crate) fn text(&self) -> &str {
        self.header.to_str().unwrap_or_default().trim_start_matches("Bearer ")
    }

    /// Notes whether the service took it. Whether it had taken it before.
    pub(crate) fn came_home(&self, taken: bool) -> bool {
        if taken { self.taken.swap(true, Ordering::Relaxed) } else { self.taken.load(Ordering::Relaxed) }
    }

    fn is_expired(&self, clock: &dyn Clock) -> bool {
        self.expires.is_some_and(|due| due.passed(clock))
    }

    fn is_due(&self, clock: &dyn Clock) -> bool {
        self.renew.is_some_and(|due| due.passed(clock))
    }
}

/// Where and as whom a token is asked for.
pub(crate) struct Login {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) client_id: String,
    pub(crate) client_secret: SecretString,
}

/// Keeps the token.
pub(crate) struct Keeper {
    login: Login,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    kept: Mutex<CachedToken>,
    /// Held by whoever asks for a token.
    turn: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct CachedToken {
    token: Option<Arc<Token>>,
    /// How many tokens were had.
    obtained: u64,
    /// How many requests for a token have ended.
    asked: u64,
    last_start: Option<Duration>,
    last_failure: Option<Verdict>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").field("client_id", &self.login.client_id).finish_non_exhaustive()
    }
}

impl Keeper {
    pub(crate) fn new(login: Login, transport: Arc<dyn Transport>, clock: Arc<dyn Clock>) -> Self {
        Self { login, transport, clock, kept: Mutex::default(), turn: tokio::sync::Mutex::new(()) }
    }

    /// A token that is good as far as is known. The failure of one request is shared by all who waited for it.
    pub(crate) async fn token(&self) -> Result<Arc<Token>, Verdict> {
        let (good, asked) = {
            let kept = self.kept();
            (self.good(&kept), kept.asked)
        };
        let turn = match good {
            Some(token) if !token.is_due(&*self.clock) || self.too_soon() => return Ok(token),
            // It will expire soon: one asks for the next, the others go on with this one.
            Some(token) => match self.turn.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Ok(token),
            },
            None => self.turn.lock().await,
        };
        {
            let kept = self.kept();
            let good = self.good(&kept);
            match good {
                Some(token) if !token.is_due(&*self.clock) => return Ok(token),
                Some(_) => {}
                None if kept.asked != asked => {
                    if let Some(failure) = &kept.last_failure {
                        return Err(failure.clone());
                    }
                }
                None => {}
            }
        }
        let asked = self.ask().await;
        drop(turn);
        // Renewing early may fail without harm as long as the old token is good.
        asked.or_else(|failure| self.good(&self.kept()).ok_or(failure))
    }

    /// Asks for a token now, whether or not there is one.
    pub(crate) async fn renew(&self) -> Result<TokenInfo, Verdict> {
        let _turn = self.turn.lock().await;
        self.ask().await.map(|token| token.info)
    }

    /// The token that was had a moment ago, else a new one; with the service's clock as it is now.
    pub(crate) async fn sign_in(&self) -> Result<TokenInfo, Verdict> {
        let (token, asked_at) = {
            let kept = self.kept();
            (self.good(&kept), kept.last_start)
        };
        if let (Some(token), Some(asked_at)) = (token, asked_at) {
            let age = self.clock.elapsed().saturating_sub(asked_at);
            if age < JUST_NOW {
                return Ok(TokenInfo { date: token.info.date.map(|date| date.plus(age)), ..token.info });
            }
        }
        self.renew().await
    }

    /// Drops the token of `generation`, which the service refused; a newer one stays.
    pub(crate) fn refused(&self, generation: u64) {
        let mut kept = self.kept();
        if kept.token.as_ref().is_some_and(|token| token.generation == generation) {
            kept.token = None;
        }
    }

    /// The secret, only to be taken out of texts.
    pub(crate) fn secret(&self) -> &str {
        self.login.client_secret.expose_secret()
    }

    fn kept(&self) -> MutexGuard<'_, CachedToken> {
        // Nothing panics while it is held, and every change to it is one assignment after another's end.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn good(&self, kept: &CachedToken) -> Option<Arc<Token>> {
        kept.token.clone().filter(|token| !token.is_expired(&*self.clock))
    }

    /// When the next request for a token may start.
    fn earliest(&self) -> Duration {
        self.kept().last_start.map_or(Duration::ZERO, |start| start.saturating_add(BETWEEN))
    }

    fn too_soon(&self) -> bool {
        self.clock.elapsed() < self.earliest()
    }

    /// One request for a token. The caller holds the turn.
    async fn ask(&self) -> Result<Arc<Token>, Verdict> {
        if self.too_soon() {
            self.clock.sleep_until(self.earliest()).await;
        }
        let started = Due { elapsed: self.clock.elapsed(), wall: self.clock.now() };
        self.kept().last_start = Some(started.elapsed);
        tracing::debug!(operation = %Operation::Auth, "sent");
        let answer = self.transport.send(self.request()).await;
        let took = self.clock.elapsed().saturating_sub(started.elapsed);
        let granted = answer.map_err(not_had).and_then(|answer| {
            let raw = Raw { status: answer.status, body: answer.body, flaw: answer.flaw };
            grant(&raw, self.secret()).map(|(header, expires_in)| (header, expires_in, answer.date))
        });
        let class = granted.as_ref().map_or_else(Verdict::class, |_granted| AnswerClass::Succeeded);
        tracing::debug!(operation = %Operation::Auth, class = class.as_str(), ?took, "answered");
        let mut kept = self.kept();
        kept.asked += 1;
        match granted {
            Ok((header, life, date)) => {
                kept.obtained += 1;
                let after = |life: Duration| Due {
                    elapsed: started.elapsed.saturating_add(life),
                    wall: started.wall.plus(life),
                };
                let token = Arc::new(Token {
                    header,
                    generation: kept.obtained,
                    renew: life.map(|life| after(life - MARGIN.min(life / 10))),
                    expires: life.map(after),
                    info: TokenInfo { expires_in: life, took, date },
                    taken: AtomicBool::new(false),
                });
                kept.last_failure = None;
                kept.token = Some(Arc::clone(&token));
                Ok(token)
            }
            Err(failure) => {
                kept.last_failure = Some(failure.clone());
                Err(failure)
            }
        }
    }

    fn request(&self) -> HttpRequest {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded; charset=utf-8"),
        );
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", &self.login.client_id)
            .append_pair("client_secret", self.secret())
            .finish();
        HttpRequest {
            method: self.login.method,
            url: self.login.url.clone(),
            headers,
            body: Bytes::from(body),
            largest_answer: largest(Operation::Auth),
        }
    }
}

/// What it means for whoever needs a token that the request for one failed.
pub(crate) fn not_had(failure: SendFailure) -> Verdict {
    Verdict::NotSent(match failure {
        SendFailure::NotSent(why) => why,
        SendFailure::Doubtful(doubt) => no_token(doubt.words()),
    })
}

/// The words about an answer that is not the service's own, as a rule.
fn web_page(status: u16) -> String {
    let with = if status == 200 { String::new() } else { format!(" with the status {status}") };
    format!(
        "the answer is a web page{with}: perhaps base_url is wrong, or a proxy or the sign-in page of a network answered"
    )
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
        Verdict::Doubtful(Doubt::Unreadable | Doubt::UnknownAnswer)
            if raw.body.trim_ascii_start().starts_with(b"<") =>
        {
            Verdict::NotSent(no_token(&web_page(raw.status)))
        }
        Verdict::Doubtful(doubt @ Doubt::UnknownAnswer) => {
            Verdict::NotSent(no_token(&format!("{} (status {})", doubt.words(), raw.status)))
        }
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

//! The client: finds the path, takes a token, sends once, has the answer judged.
//!
//! It never sends anything a second time; whether to is left to the run, and so is asking the limiter first.

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::json;
use url::Url;

use super::call::Call;
use super::config::{Config, check_base};
use super::endpoint::{Endpoint, Endpoints};
use super::envelope::{List, largest};
use super::judge::{Expectation, Raw, judge_apart, judge_without};
use super::token::{Keeper, Login, Token, TokenInfo};
use super::transport::{HttpAnswer, HttpRequest, Reach, SendFailure, Sending, Transport, Wire};
use super::wording::{excerpt, shown};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::time::Moment;
use crate::model::verdict::{NotSent, Rejection, Success, Verdict};

/// What became of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What it means.
    pub verdict: Verdict,
    /// The HTTP status, where one arrived.
    pub status: Option<u16>,
    /// The service's clock, from the `Date` header.
    pub date: Option<Moment>,
    /// From the first byte out to the end of the answer, without the time for a token.
    pub took: Duration,
    /// The beginning of an answer that is no success, for logs and held rows: at most 500 characters, control
    /// characters escaped, token and secret taken out.
    pub excerpt: Option<String>,
    /// The token was refused, and the service had taken it before: it has ended, as tokens do. A fresh one that is
    /// refused says that no token will be taken.
    pub token_ended: bool,
}

/// How a list in an answer is parsed.
#[derive(Clone, Copy)]
pub(super) enum Parsing {
    /// All of it, as a part of the body.
    Whole,
    /// Entry by entry: it is empty in the body, and given apart.
    ByEntry,
}

/// What came of one request, with its body as it came and the list in it, where that is given apart.
struct Exchanged {
    answer: Answer,
    body: Bytes,
    list: Option<List>,
}

/// A client of the service. Clones share the token and the connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    base: Base,
    endpoints: Endpoints,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
    keeper: Keeper,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("base", &self.0.base.as_str()).finish_non_exhaustive()
    }
}

/// The address that all others begin with, with or without a slash at its end.
struct Base(Url);

impl Base {
    /// Without a slash at its end.
    fn as_str(&self) -> &str {
        self.0.as_str().trim_end_matches('/')
    }

    /// The address with this path, and a query where it has one, after it.
    fn with(&self, path: &str) -> Url {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = self.0.clone();
        url.set_path(&[self.0.path().trim_end_matches('/'), path].concat());
        url.set_query(query);
        url
    }
}

impl Client {
    /// A client over the network. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// A usage error when the base address is not https (or loopback), carries more than a path, or when the
    /// certificates cannot be used.
    pub fn new(config: Config, clock: Arc<dyn Clock>) -> Result<Self> {
        check_base(&config.base_url).map_err(|rule| {
            Error::usage(format!("base_url {rule}")).hint("write it like https://provisioning.example")
        })?;
        let reach = Reach {
            request_timeout: config.request_timeout,
            connect_timeout: config.connect_timeout,
            proxy: config.proxy,
            ca_file: config.ca_file.clone(),
        };
        let transport = Arc::new(Wire::new(&config.base_url, &reach)?);
        Ok(Self::with_transport(config, clock, transport))
    }

    /// A client over any transport. Time limits, proxy and certificates are the transport's own affair.
    pub fn with_transport(config: Config, clock: Arc<dyn Clock>, transport: Arc<dyn Transport>) -> Self {
        let base = Base(config.base_url);
        let (method, path) = match config.endpoints.get(Operation::Auth) {
            Some(endpoint) => (endpoint.method(), endpoint.path()),
            None => (Operation::Auth.method(), Operation::Auth.path()),
        };
        // The path was checked to need no escaping, so it stays as it is.
        let url = base.with(path);
        let login = Login { method, url, client_id: config.client_id, client_secret: config.client_secret };
        let keeper = Keeper::new(login, Arc::clone(&transport), Arc::clone(&clock));
        Self(Arc::new(Inner { base, endpoints: config.endpoints, transport, clock, keeper }))
    }

    /// Sends `call` once and judges the answer.
    ///
    /// Three verdicts need no answer: [`Verdict::EndpointMissing`] with status 0 when the operation is unavailable in
    /// this profile, [`Verdict::Rejected`] with the code `request.parameter` when a parameter cannot be sent, and
    /// what asking for a token came to, where that failed.
    pub async fn send(&self, call: Call) -> Answer {
        self.send_parsing(call, Parsing::Whole).await.0
    }

    /// As [`Client::send`]; a list is parsed as is said, and given apart from the verdict where that is entry by entry.
    pub(super) async fn send_parsing(&self, call: Call, parsing: Parsing) -> (Answer, Option<List>) {
        let exchanged = self.exchange(call, |body, _token| body, parsing).await;
        (exchanged.answer, exchanged.list)
    }

    /// As [`Client::send`], for an answer that is shown: also gives its bytes as they came. Neither they nor the body of a
    /// success repeat the access token.
    pub async fn send_and_show(&self, call: Call) -> (Answer, Bytes) {
        let exchanged = self.exchange(call, |body, token| shown(body, &[token]), Parsing::Whole).await;
        (exchanged.answer, exchanged.body)
    }

    /// Sends once, and logs what came of it; `cleaned` goes over the answer before it is judged.
    async fn exchange(&self, call: Call, cleaned: fn(Bytes, &str) -> Bytes, parsing: Parsing) -> Exchanged {
        let operation = call.operation;
        if operation == Operation::Auth {
            return Exchanged { answer: self.authenticated().await, body: Bytes::new(), list: None };
        }
        let exchanged = self.exchange_unlogged(call, cleaned, parsing).await;
        let Answer { verdict, took, .. } = &exchanged.answer;
        tracing::debug!(%operation, class = verdict.class().as_str(), ?took, "answered");
        exchanged
    }

    async fn exchange_unlogged(
        &self,
        call: Call,
        cleaned: fn(Bytes, &str) -> Bytes,
        parsing: Parsing,
    ) -> Exchanged {
        let without_body = |answer| Exchanged { answer, body: Bytes::new(), list: None };
        let unsent = |verdict| without_body(Answer::unsent(verdict));
        let (endpoint, url) = match self.address(&call) {
            Ok(found) => found,
            Err(verdict) => return unsent(verdict),
        };
        let token = match self.0.keeper.token().await {
            Ok(token) => token,
            Err(Verdict::EndpointMissing(status)) => {
                let why =
                    format!("the address for tokens answered {status}; see [endpoints.auth] in the profile");
                return unsent(Verdict::NotSent(NotSent::NoToken(why)));
            }
            Err(verdict) => return unsent(verdict),
        };
        let expectation = Expectation::of(&call);
        let request = request(&call, endpoint, url, &token);
        tracing::debug!(operation = %call.operation, "sent");
        let started = self.0.clock.elapsed();
        let answered = on_its_way(call.operation, self.0.transport.send(request)).await;
        let took = self.0.clock.elapsed().saturating_sub(started);
        let lost = |verdict| without_body(Answer { took, ..Answer::unsent(verdict) });
        match answered {
            Err(SendFailure::NotSent(why)) => lost(Verdict::NotSent(why)),
            Err(SendFailure::Doubtful(doubt)) => lost(Verdict::Doubtful(doubt)),
            Ok(answer) => {
                let body = cleaned(answer.body, token.text());
                let raw = Raw { status: answer.status, body, flaw: answer.flaw };
                let secrets = [token.text(), self.0.keeper.secret()];
                let (verdict, list) = match parsing {
                    Parsing::Whole => (judge_without(&secrets, call.operation, &expectation, &raw), None),
                    Parsing::ByEntry => judge_apart(&secrets, call.operation, &expectation, &raw),
                };
                let excerpt = match verdict {
                    Verdict::Succeeded(_) => None,
                    _ => excerpt(&raw.body, &secrets),
                };
                let refused = verdict == Verdict::TokenInvalid;
                if refused {
                    self.0.keeper.refused(token.generation);
                }
                let token_ended = token.came_home(!refused) && refused;
                let status = Some(raw.status);
                let answer = Answer { verdict, status, date: answer.date, took, excerpt, token_ended };
                Exchanged { answer, body: raw.body, list }
            }
        }
    }

    /// Asks for a new token, whether or not there is one.
    ///
    /// # Errors
    ///
    /// [`Verdict::Refused`], [`Verdict::EndpointMissing`] or [`Verdict::NotSent`]: why there is none.
    pub async fn authenticate(&self) -> std::result::Result<TokenInfo, Verdict> {
        self.0.keeper.renew().await
    }

    /// Asks for a token, unless one was had a moment ago.
    ///
    /// # Errors
    ///
    /// As [`Self::authenticate`].
    pub async fn sign_in(&self) -> std::result::Result<TokenInfo, Verdict> {
        self.0.keeper.sign_in().await
    }

    /// Where the operations are.
    pub fn endpoints(&self) -> &Endpoints {
        &self.0.endpoints
    }

    /// The endpoint and the whole address of a call.
    fn address(&self, call: &Call) -> std::result::Result<(&Endpoint, Url), Verdict> {
        let endpoint = self.0.endpoints.get(call.operation).ok_or(Verdict::EndpointMissing(0))?;
        let unsendable = |message: String| {
            Verdict::Rejected(Rejection {
                code: Reason::RequestParameter.as_str().to_owned(),
                message,
                violations: Vec::new(),
            })
        };
        let path = endpoint.fill(&call.parameters).map_err(unsendable)?;
        let url = self.0.base.with(&path);
        // Readers of addresses tidy them up; one that would be read as another is not sent.
        match url.as_str().strip_prefix(self.0.base.as_str()) == Some(&path) {
            true => Ok((endpoint, url)),
            false => Err(unsendable(format!("the address of {} cannot be formed", call.operation))),
        }
    }

    /// The answer to the operation that fetches tokens: its success tells the type of the token and its life, never the
    /// token. One of another type is refused.
    async fn authenticated(&self) -> Answer {
        match self.authenticate().await {
            Ok(info) => {
                let life = info.expires_in.map(|life| life.as_secs());
                let body = json!({ "token_type": "Bearer", "expires_in": life });
                Answer {
                    verdict: Verdict::Succeeded(Success { id: None, body }),
                    status: Some(200),
                    date: info.date,
                    took: info.took,
                    excerpt: None,
                    token_ended: false,
                }
            }
            Err(verdict) => Answer::unsent(verdict),
        }
    }
}

/// Sees a request through, past the steps at which the proofs end the process: some or all of its bytes are out.
async fn on_its_way(
    operation: Operation,
    mut sending: Sending,
) -> std::result::Result<HttpAnswer, SendFailure> {
    let (handed_over, under_way, answered) = if operation.creates() {
        ("creation.handed-over", "creation.under-way", "creation.answered")
    } else if operation.looks_up() {
        ("look.handed-over", "look.under-way", "look.answered")
    } else {
        ("step.handed-over", "step.under-way", "step.answered")
    };
    failpoint::reach(handed_over);
    let mut is_under_way = false;
    let answer = poll_fn(|context| {
        let polled = sending.as_mut().poll(context);
        // Once, however often it is looked at meanwhile.
        if polled.is_pending() && !mem::replace(&mut is_under_way, true) {
            failpoint::reach(under_way);
        }
        polled
    })
    .await;
    failpoint::reach(answered);
    answer
}

impl Answer {
    /// A verdict without an answer.
    pub fn unsent(verdict: Verdict) -> Self {
        Self { verdict, status: None, date: None, took: Duration::ZERO, excerpt: None, token_ended: false }
    }
}

fn request(call: &Call, endpoint: &Endpoint, url: Url, token: &Token) -> HttpRequest {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(AUTHORIZATION, token.header());
    let body = match &call.body {
        None => Bytes::new(),
        Some(body) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
            Bytes::from(body.to_string())
        }
    };
    HttpRequest { method: endpoint.method(), url, headers, body, largest_answer: largest(call.operation) }
}

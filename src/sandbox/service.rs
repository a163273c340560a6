//! The simulated service itself: a function of its state, a request and a moment. It has no clock, does no I/O and
//! draws every chance from the seed, so that the same requests at the same moments are answered the same.
//!
//! The order of the checks is the one sensible order where the specification shows none: path, method, media type,
//! source, token, rate, quota, body. What faults do to a request is in `spoil`.

use std::mem;

use serde_json::{Value, json};

use super::call::{Call, fresh_id};
use super::error::SandboxError;
use super::exchange::{Answer, Effect, Millis, Request, Response};
use super::failure::Failure;
use super::faults::Faults;
use super::ledger::{LedgerEntry, Line};
use super::limits::{Client, Limits};
use super::routes::{self, Act, Deed, Route};
use super::scenario::Scenario;
use super::statistics::{Counters, Statistics};
use super::world::World;
use super::{control, founding};
use jiff::Timestamp;

/// The state of the service.
pub(crate) struct Service {
    pub(super) scenario: Scenario,
    pub(super) world: World,
    pub(super) limits: Limits,
    pub(super) faults: Faults,
    pub(super) counters: Counters,
    pub(super) ledger: Vec<LedgerEntry>,
    /// The service's own clock less the caller's.
    pub(super) offset: Millis,
    // Each use of chance has a generator of its own: a fault more must not change the ids that follow.
    ids: fastrand::Rng,
    tokens: fastrand::Rng,
    pub(super) chances: fastrand::Rng,
    latencies: fastrand::Rng,
    /// Requests that are carried out later than they came, with the moment.
    pub(super) late: Vec<(Millis, Request)>,
    /// Lines for the state file that have not been taken yet, when there is such a file.
    outbox: Option<Vec<Line>>,
}

/// What an operation came to.
pub(super) struct Outcome {
    pub(super) response: Response,
    pub(super) name: &'static str,
}

impl Service {
    /// A service with the world of the scenario. `kept` says that the lines of a state file will be asked for.
    pub(crate) fn new(scenario: Scenario, now: Millis, kept: bool) -> Result<Self, SandboxError> {
        scenario.verify()?;
        let offset = match scenario.clock_starts_at {
            Some(start) => start.as_millisecond() - now,
            None => scenario.clock_offset_seconds.saturating_mul(1000),
        };
        let mut faults = Faults::default();
        faults.replace(&scenario.fault);
        let seeded =
            |use_of: u64| fastrand::Rng::with_seed(scenario.seed.wrapping_mul(8).wrapping_add(use_of));
        Ok(Self {
            world: founding::world(&scenario)?,
            limits: Limits::default(),
            faults,
            counters: Counters::default(),
            ledger: Vec::new(),
            offset,
            ids: seeded(1),
            tokens: seeded(2),
            chances: seeded(3),
            latencies: seeded(4),
            late: Vec::new(),
            outbox: kept.then(Vec::new),
            scenario,
        })
    }

    /// Takes in one line of a state file.
    pub(crate) fn replay(&mut self, line: Line) {
        match line {
            Line::Commit { entry, change } => {
                self.world.apply(change);
                if entry.charged {
                    let client = self.limits.client(&entry.client);
                    self.limits.charge(client, entry.at.as_millisecond());
                }
                self.ledger.push(entry);
            }
            Line::Charge { at, client } => {
                let client = self.limits.client(&client);
                self.limits.charge(client, at);
            }
        }
    }

    /// After a replay: no id or token that was handed out before may be drawn again.
    pub(crate) fn leave_the_past(&mut self, now: Millis) {
        let lives = (self.ledger.len() as u64) ^ now.unsigned_abs().rotate_left(20);
        for generator in [&mut self.ids, &mut self.tokens] {
            *generator = fastrand::Rng::with_seed(generator.u64(..) ^ lives);
        }
    }

    /// The lines for the state file since the last call.
    pub(crate) fn take_lines(&mut self) -> Vec<Line> {
        self.outbox.as_mut().map(mem::take).unwrap_or_default()
    }

    /// The service's own clock.
    pub(super) fn own(&self, now: Millis) -> Millis {
        now.saturating_add(self.offset)
    }

    pub(super) fn timestamp(&self, now: Millis) -> Timestamp {
        Timestamp::from_millisecond(self.own(now)).unwrap_or_default()
    }

    /// Answers one request.
    pub(crate) fn respond(&mut self, request: &Request, now: Millis) -> Answer {
        self.settle(now);
        let mut answer = if request.path().starts_with("/sandbox/") {
            control::answer(self, request, now)
        } else {
            match routes::find(request.path()) {
                Some((route, values)) => self.meet(route, &values, request, now),
                None => {
                    self.counters.answer(Failure::NotFoundPage.name());
                    self.plain(Failure::NotFoundPage.response(false))
                }
            }
        };
        if !answer.response.headers.iter().any(|(name, _)| *name == NO_DATE) {
            let date = self.timestamp(now).strftime("%a, %d %b %Y %H:%M:%S GMT");
            answer.response.headers.push(("Date", date.to_string()));
        }
        answer.response.headers.retain(|(name, _)| *name != NO_DATE);
        answer
    }

    /// Carries out what was put off until now.
    pub(crate) fn settle(&mut self, now: Millis) {
        if self.late.is_empty() {
            return;
        }
        self.late.sort_by_key(|(due, _)| *due);
        let waiting = self.late.partition_point(|(due, _)| *due <= now);
        let due: Vec<_> = self.late.drain(..waiting).collect();
        for (at, request) in due {
            if let Some((route, values)) = routes::find(request.path()) {
                self.perform(route, &values, &request, at);
            }
        }
    }

    fn plain(&mut self, response: Response) -> Answer {
        let [least, most] = self.scenario.latency_ms;
        Answer {
            response,
            delay_ms: if most == 0 { 0 } else { self.latencies.u64(least..=most) },
            effect: Effect::Deliver,
        }
    }

    fn meet(&mut self, route: &'static Route, values: &[String], request: &Request, now: Millis) -> Answer {
        let client = self.limits.holder(request.authorization.as_deref(), now);
        self.counters.arrive(client, route.operation, now);
        let (fault, latency) =
            self.faults.draw(route.operation, route.creates, route.reads(), &mut self.chances);
        let mut answer = match fault {
            Some(fault) => self.spoilt(&fault, route, values, request, now),
            None => {
                let outcome = self.perform(route, values, request, now);
                self.plain(outcome.response)
            }
        };
        answer.delay_ms = answer.delay_ms.saturating_add(latency);
        if matches!(route.act, Act::SignIn) {
            self.counters.sign_in(now, answer.delay_ms);
        }
        answer
    }

    pub(super) fn delivered(&mut self, response: Response) -> Answer {
        self.plain(response)
    }

    /// Does what is asked, if it may be done.
    pub(super) fn perform(
        &mut self,
        route: &'static Route,
        values: &[String],
        request: &Request,
        now: Millis,
    ) -> Outcome {
        let result = self.checked(route, values, request, now);
        let (response, name) = match result {
            Ok(response) => (response, "OK"),
            Err(failure) => {
                let bare = self.scenario.bare_errors;
                (failure.response(bare), failure.name())
            }
        };
        self.counters.answer(name);
        Outcome { response, name }
    }

    fn checked(
        &mut self,
        route: &'static Route,
        values: &[String],
        request: &Request,
        now: Millis,
    ) -> Result<Response, Failure> {
        if request.method != route.method {
            return Err(Failure::MethodNotAllowedPage);
        }
        check_media(route, request)?;
        if self.scenario.unauthorized {
            return Err(Failure::UnauthorizedSource);
        }
        let deed = match route.act {
            Act::SignIn => return self.sign_in(request, now),
            Act::Does(deed) => deed,
        };
        let client = self
            .limits
            .holder(request.authorization.as_deref(), now)
            .filter(|client| !self.is_revoked(*client))
            .ok_or(Failure::InvalidToken)?;
        let rate = self.scenario.rate;
        if !self.limits.pass(client, route.operation, rate, now) {
            return Err(Failure::RateLimitExceeded(rate));
        }
        if route.creates && self.limits.used(client, self.own(now)) >= self.scenario.daily_quota {
            return Err(Failure::QuotaLimitExceeded);
        }
        let body = if request.body.is_empty() {
            Ok(Value::Null)
        } else {
            serde_json::from_slice(&request.body)
                .map_err(|error| Failure::MalformedJson(format!("Cannot parse the request body: {error}")))
        };
        let result = match &body {
            Ok(body) => self.carry_out(deed, route, values, request, body, client, now),
            Err(failure) => Err(failure.clone()),
        };
        if route.creates && result.is_err() && self.scenario.quota_counts_failures {
            self.charge_failure(client, now);
        }
        let value = result?;
        let mut envelope = json!({ "status": "OK" });
        if !value.is_null() {
            envelope["body"] = value;
        }
        Ok(Response::json(200, &envelope))
    }

    #[expect(clippy::too_many_arguments, reason = "what belongs to one request, passed on once")]
    fn carry_out(
        &mut self,
        deed: Deed,
        route: &'static Route,
        values: &[String],
        request: &Request,
        body: &Value,
        client: Client,
        now: Millis,
    ) -> Result<Value, Failure> {
        let own = self.own(now);
        let in_path = route.parameters().map(str::to_owned).zip(values.to_vec());
        let in_query = url::form_urlencoded::parse(request.query().as_bytes()).into_owned();
        let mut call = Call {
            world: &mut self.world,
            chance: &mut self.ids,
            now: own,
            lookup_lag: Millis::try_from(self.scenario.lookup_lag_ms).unwrap_or(Millis::MAX),
            page_limit: self.scenario.page_limit,
            parameters: in_path.chain(in_query).collect(),
            body,
            commits: Vec::new(),
        };
        let result = deed(&mut call);
        let commits = call.commits;
        if route.creates && result.is_ok() {
            self.limits.charge(client, own);
        }
        let at = self.timestamp(now);
        let last = commits.len().saturating_sub(1);
        for (place, commit) in commits.into_iter().enumerate() {
            let entry = LedgerEntry {
                sequence: self.ledger.len() as u64 + 1,
                at,
                client: self.limits.name(client).to_owned(),
                operation: route.operation.to_owned(),
                created: commit.created,
                kind: commit.kind.to_owned(),
                id: commit.id,
                parent: commit.parent,
                charged: route.creates && place == last,
                request: body.clone(),
            };
            if let Some(outbox) = &mut self.outbox {
                outbox.push(Line::Commit { entry: entry.clone(), change: commit.change });
            }
            self.ledger.push(entry);
        }
        result
    }

    fn charge_failure(&mut self, client: Client, now: Millis) {
        let at = self.own(now);
        self.limits.charge(client, at);
        let client = self.limits.name(client).to_owned();
        if let Some(outbox) = &mut self.outbox {
            outbox.push(Line::Charge { at, client });
        }
    }

    fn is_revoked(&self, client: Client) -> bool {
        let name = self.limits.name(client);
        self.scenario.revoked_clients.iter().any(|id| id == name)
    }

    /// Specification 4.1 and 5: a token for a client id and its secret, without an envelope.
    fn sign_in(&mut self, request: &Request, now: Millis) -> Result<Response, Failure> {
        let mut id = String::new();
        let mut secret = String::new();
        for (name, value) in url::form_urlencoded::parse(&request.body) {
            match name.as_ref() {
                "client_id" => id = value.into_owned(),
                "client_secret" => secret = value.into_owned(),
                _ => {}
            }
        }
        let listed = &self.scenario.client;
        let known =
            listed.is_empty() || listed.iter().any(|client| client.id == id && client.secret == secret);
        if id.is_empty() || secret.is_empty() || !known || self.scenario.revoked_clients.contains(&id) {
            return Err(Failure::InvalidClient);
        }
        let client = self.limits.client(&id);
        let token = fresh_id(&mut self.tokens).simple().to_string();
        let seconds = i64::try_from(self.scenario.token_seconds).unwrap_or(i64::MAX);
        let expires = now.saturating_add(seconds.saturating_mul(1000));
        self.limits.admit(token.clone(), client, now, expires);
        self.counters.tokens_issued += 1;
        Ok(Response::json(
            200,
            &json!({
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": self.scenario.answered_expires_in.unwrap_or(seconds),
            }),
        ))
    }

    pub(crate) fn statistics(&self, now: Millis) -> Statistics {
        let own = self.own(now);
        Statistics {
            faults_fired: self
                .faults
                .fired()
                .iter()
                .map(|(kind, count)| (kind.name().to_owned(), *count))
                .collect(),
            quota_used: self
                .limits
                .usage(own)
                .into_iter()
                .map(|(name, used)| (name.to_owned(), used))
                .collect(),
            records: self.world.census().into_iter().map(|(kind, count)| (kind.to_owned(), count)).collect(),
            commits: self.ledger.len(),
            ..self.counters.snapshot()
        }
    }

    /// Puts another scenario in the place of this one. The clock and the world stay as they are.
    pub(crate) fn change(&mut self, scenario: Scenario) -> Result<(), SandboxError> {
        scenario.verify()?;
        if scenario.fault != self.scenario.fault {
            self.faults.replace(&scenario.fault);
        }
        self.world.models = founding::models(&scenario);
        self.scenario = scenario;
        Ok(())
    }
}

/// Marks a response that shall have no `Date`; never sent.
pub(super) const NO_DATE: &str = "-";

/// Bodies have the documented type, and JSON is among what the client takes (specification 7, 415).
fn check_media(route: &Route, request: &Request) -> Result<(), Failure> {
    let media = |value: &str| value.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let wanted = match route.act {
        Act::SignIn => "application/x-www-form-urlencoded",
        Act::Does(_) => "application/json",
    };
    let sent = request.content_type.as_deref().map(media);
    if !request.body.is_empty() && sent.as_deref() != Some(wanted) {
        return Err(Failure::UnsupportedMediaPage);
    }
    let taken = request.accept.as_deref().is_none_or(|accept| {
        accept
            .split(',')
            .any(|range| matches!(media(range).as_str(), "application/json" | "application/*" | "*/*"))
    });
    if taken { Ok(()) } else { Err(Failure::UnsupportedMediaPage) }
}

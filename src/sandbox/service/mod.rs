//! The simulated service itself: a function of its state, a request and a moment. It has no clock, does no I/O and
//! draws every chance from the seed, so that the same requests at the same moments are answered the same.
//!
//! Who may do what is in `admission`, what faults do to a request in `spoil`, the operations in files of their own.

pub(super) mod admission;
mod control;
pub(super) mod failure;
pub(super) mod limits;

use std::mem;

use jiff::Timestamp;
use serde_json::Value;

use self::failure::Failure;
use self::limits::{Client, Limits};
use super::error::SandboxError;
use super::exchange::{Answer, Effect, Millis, Request, Response};
use super::faults::Faults;
use super::operations::call::Call;
use super::operations::routes::{self, Act, Deed, Route};
use super::scenario::Scenario;
use super::state::ledger::{LedgerEntry, Line};
use super::state::seed_data;
use super::state::seed_data::Present;
use super::state::statistics::{Counters, Statistics};
use super::state::world::{Change, World};

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
    /// When it was opened, by its own clock.
    opened: Millis,
    // Each use of chance has a generator of its own: a fault more must not change the ids that follow.
    ids: fastrand::Rng,
    pub(super) tokens: fastrand::Rng,
    pub(super) chances: fastrand::Rng,
    latencies: fastrand::Rng,
    /// Requests that are carried out later than they came, with the moment.
    pub(super) late: Vec<(Millis, Request)>,
    /// Set while a fault ends a creation once its site is made.
    pub(super) ends_after_site: bool,
    /// What takes back what the last request changed, change by change.
    previous: Vec<Change>,
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
            world: seed_data::world(&scenario)?,
            limits: Limits::default(),
            faults,
            counters: Counters::default(),
            ledger: Vec::new(),
            offset,
            opened: now.saturating_add(offset),
            ids: seeded(1),
            tokens: seeded(2),
            chances: seeded(3),
            latencies: seeded(4),
            late: Vec::new(),
            ends_after_site: false,
            previous: Vec::new(),
            outbox: kept.then(Vec::new),
            scenario,
        })
    }

    /// Takes what somebody refers to as present; a strict service does not.
    pub(crate) fn take_as_present(&mut self, present: &Present) {
        if !self.scenario.strict {
            seed_data::take_as_present(&mut self.world, present);
        }
    }

    /// Takes in one line of a state file.
    pub(crate) fn replay(&mut self, line: Line) {
        match line {
            Line::Commit { entry, change } => {
                self.world.apply(change);
                if entry.charged {
                    let at = entry.at.as_millisecond();
                    self.recharge(&entry.client, &entry.operation, at);
                }
                self.ledger.push(entry);
            }
            Line::Charge { at, client, operation } => self.recharge(&client, &operation, at),
        }
    }

    fn recharge(&mut self, client: &str, operation: &str, at: Millis) {
        let client = self.limits.client(client);
        if let Some(operation) = routes::names().find(|name| *name == operation) {
            self.limits.charge(client, operation, at);
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

    #[expect(clippy::too_many_arguments, reason = "what belongs to one request, passed on once")]
    pub(super) fn carry_out(
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
            device_status: &self.scenario.device_status,
            seed: self.scenario.seed,
            opened: self.opened,
            parameters: in_path.chain(in_query).collect(),
            body,
            commits: Vec::new(),
            ends_after_site: self.ends_after_site,
        };
        let result = deed(&mut call);
        let commits = call.commits;
        let charged = route.creates && result.is_ok();
        if charged {
            self.limits.charge(client, route.operation, own);
        }
        let at = self.timestamp(now);
        let last = commits.len().saturating_sub(1);
        self.previous.clear();
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
                charged: charged && place == last,
                request: body.clone(),
            };
            if let Some(outbox) = &mut self.outbox {
                outbox.push(Line::Commit { entry: entry.clone(), change: commit.change });
            }
            self.ledger.push(entry);
            self.previous.push(commit.previous);
        }
        result
    }

    /// Takes back everything that changed since the ledger had `known` entries, by the last request; says whether anything
    /// did.
    pub(super) fn lose_what_came_after(&mut self, known: usize, now: Millis) -> bool {
        let made = self.ledger[known..].to_vec();
        let previous = std::mem::take(&mut self.previous);
        let at = self.timestamp(now);
        for (entry, change) in made.iter().zip(previous).rev() {
            self.world.apply(change.clone());
            let entry = LedgerEntry {
                sequence: self.ledger.len() as u64 + 1,
                at,
                operation: "vanished".to_owned(),
                created: false,
                charged: false,
                request: Value::Null,
                ..entry.clone()
            };
            if let Some(outbox) = &mut self.outbox {
                outbox.push(Line::Commit { entry: entry.clone(), change });
            }
            self.ledger.push(entry);
        }
        !made.is_empty()
    }

    /// Counts a creation that was rejected against the quota.
    pub(super) fn charge_failure(&mut self, client: Client, route: &Route, now: Millis) {
        let at = self.own(now);
        self.limits.charge(client, route.operation, at);
        let client = self.limits.name(client).to_owned();
        if let Some(outbox) = &mut self.outbox {
            let operation = route.operation.to_owned();
            outbox.push(Line::Charge { at, client, operation });
        }
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
            quota_by_day: self.limits.by_day(),
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
        // Those that were taken as present stay.
        let before = seed_data::models(&self.scenario);
        self.world.models.retain(|model| !before.contains(model));
        self.world.models.extend(seed_data::models(&scenario));
        self.scenario = scenario;
        Ok(())
    }
}

/// Marks a response that shall have no `Date`; never sent.
pub(super) const NO_DATE: &str = "-";

//! The gates: whether a request of an operation may leave now. Endpoint, breaker, pace, connectivity, capacity and quota
//! have their say here, and learn here what left and what came back.
//!
//! A request that changes something leaves its row in doubt when it fails. So the first to try a failing service is a
//! look-up whose answer is known (the health check); only when the service answers it does one row go ahead. An outage
//! of hours costs look-ups and no rows.
//!
//! Nothing outside reads or changes a gate: every method answers with a value, or with the [`RunAction`]s that follow.

mod breaker;
mod capacity;
mod claim_lead;
mod connectivity;
mod creations;
mod hours;
pub(super) mod import_turns;
mod operation_gate;
pub(super) mod paused_sheets;
mod quota;
mod reserves;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use self::breaker::{Breaker, BreakerChange};
use self::capacity::{Capacity, Shortage};
use self::claim_lead::ClaimLead;
use self::connectivity::{Connectivity, Lack};
use self::hours::HoursGate;
use self::operation_gate::OperationGate;
use self::quota::{DailyQuota, ServiceClock};
use self::reserves::Reserves;
use super::RunLimits;
use super::ending::Ending;
use super::run_action::{Inquiry, RunAction};
use crate::clock::Clock;
use crate::ending::End;
use crate::journal::Waiting;
use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::settle::{Consequence, consequence};
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Doubt, NotSent, Verdict};
use crate::model::window::{SendingHours, Standing};
use crate::service::{Answer, Client, Rate};

pub(super) use self::breaker::{BreakerOutcome, Phase};
pub(super) use self::creations::QUOTA_SPENT;
pub(super) use self::operation_gate::Halt;

/// When nothing else is left to do than to try a failing service, the run ends after so long without a success:
/// longer than a maintenance lasts.
const BREAKER_PATIENCE: Duration = Duration::from_secs(24 * 3_600);

/// What a person may do about a service that has failed for so long.
const ASK_THE_OPERATOR: &str = "ask the service's operator, then run again; no row was rejected";

/// How long a service counts as only just back: long enough for a look-up to see what it makes again.
const RECENTLY_CLOSED: Duration = Duration::from_secs(30);

/// Every gate of a run. Instants are those of [`Clock::elapsed`].
pub(super) struct Gates {
    clock: Arc<dyn Clock>,
    client: Client,
    rate: Rate,
    operations: BTreeMap<Operation, OperationGate>,
    connectivity: Connectivity,
    capacity: Capacity,
    claim_lead: ClaimLead,
    quota: DailyQuota,
    reserve: u64,
    reserves: Reserves,
    service_clock: ServiceClock,
    hours: HoursGate,
    /// Until when creations were last told to be parked, by the service's clock.
    reported_parking: Option<Moment>,
}

/// What the forecast is told about an operation.
pub(super) struct OperationPace {
    /// Requests sent in this run.
    pub(super) sent: u64,
    /// Whether nothing of it can be sent now, for whatever reason but its pace.
    pub(super) stopped: bool,
}

/// An operation whose breaker is not closed.
pub(super) struct OpenBreaker {
    pub(super) operation: Operation,
    /// When the next request may leave; `None` while one finds out.
    pub(super) next_try: Option<Duration>,
    /// Whether most requests get through.
    pub(super) is_brief: bool,
    /// Whether a request or a question finds out.
    pub(super) is_trying: bool,
}

impl Gates {
    /// The gates as a run begins: of the creations of the service's day the journal has counted `today`, and an earlier
    /// refusal has taught the ceiling `learned`.
    pub(super) fn new(
        clock: Arc<dyn Clock>,
        client: Client,
        limits: RunLimits,
        today: &QuotaDay,
        learned: Option<u64>,
    ) -> Self {
        let mut quota = DailyQuota::new(today.day, today.sent, limits.daily_quota, learned, limits.reserve);
        if today.partial {
            quota.mark_partial();
        }
        if today.spent {
            // An earlier run was refused today: one creation finds out whether that still holds.
            quota.begin_with_one_ahead();
        }
        Self {
            clock,
            client,
            rate: limits.rate,
            operations: BTreeMap::new(),
            connectivity: Connectivity::default(),
            capacity: Capacity::new(limits.concurrency),
            claim_lead: ClaimLead::default(),
            quota,
            reserve: limits.reserve,
            reserves: Reserves::default(),
            service_clock: ServiceClock::default(),
            hours: HoursGate::default(),
            reported_parking: None,
        }
    }

    /// The same for a run that may send only in these hours.
    pub(super) fn within(self, hours: SendingHours) -> Self {
        Self { hours: HoursGate::new(hours), ..self }
    }

    /// When the run may send.
    pub(super) fn hours(&self) -> &SendingHours {
        self.hours.hours()
    }

    /// Until when nothing may leave; `None` while it may.
    pub(super) fn closed_until(&mut self) -> Option<Moment> {
        self.hours.closed_until(self.clock.now())
    }

    /// Until when nothing leaves, outside the hours of the run, and why. A run that `only_creates` waits for the quota as well.
    pub(super) fn pause(&mut self, only_creates: bool) -> Option<Waiting> {
        let closed = self.closed_until()?;
        let quota_resets_at = self.quota_resets_at();
        let creates_at = self.parked_until().filter(|until| only_creates && *until > closed);
        let outside = self.hours.hours().why_closed(self.clock.now());
        let why = match creates_at {
            Some(_) => format!("{outside}, and {QUOTA_SPENT}"),
            None => outside,
        };
        let until = creates_at.unwrap_or(closed);
        Some(Waiting { waits_for: End::Window, until, quota_resets_at, why })
    }

    /// Tells, once, that the hours in which the run may send are over or have come.
    pub(super) fn hours_news(&mut self, pause: Option<Waiting>) -> Vec<RunAction> {
        let actions = self.hours.news(pause);
        if !actions.is_empty() {
            // What is noted of the quota is noted again.
            self.reported_parking = None;
        }
        actions
    }

    fn gate(&mut self, operation: Operation) -> &mut OperationGate {
        let (rate, clock) = (self.rate, &self.clock);
        self.operations.entry(operation).or_insert_with(|| OperationGate::new(operation, rate, clock.clone()))
    }

    fn breaker(&self, operation: Operation) -> Option<&Breaker> {
        self.operations.get(&operation).map(OperationGate::breaker)
    }

    /// Whether an operation can be used as far as is known.
    pub(super) fn usable(&self, operation: Operation) -> bool {
        self.client.endpoints().available(operation) && self.halt(operation).is_none()
    }

    /// Why nothing of an operation is sent any more.
    pub(super) fn halt(&self, operation: Operation) -> Option<Halt> {
        self.operations.get(&operation)?.halt()
    }

    /// Rows need an operation: it is halted when it has no endpoint.
    pub(super) fn require(&mut self, operation: Operation) {
        if !self.client.endpoints().available(operation) {
            self.gate(operation).stop(Halt::Unmapped);
        }
    }

    /// Operations that change something and are not sent any more.
    pub(super) fn halted(&self) -> impl Iterator<Item = (Operation, Halt)> {
        let changing = self.operations.iter().filter(|(operation, _)| !operation.looks_up());
        changing.filter_map(|(operation, gate)| Some((*operation, gate.halt()?)))
    }

    /// Requests that have left this machine in this run.
    pub(super) fn sent(&self) -> BTreeMap<Operation, u64> {
        let left = self.operations.iter().map(|(operation, gate)| (*operation, gate.have_left()));
        left.filter(|(_, requests)| *requests > 0).collect()
    }

    /// Whether another request may leave while so many are under way; if not, when to ask again (`None`: after one
    /// has come back).
    pub(super) fn has_capacity(&mut self, under_way: usize) -> Result<(), Option<Duration>> {
        self.capacity.permits(under_way, self.clock.elapsed())
    }

    /// How many requests may be under way.
    pub(super) fn capacity(&self) -> usize {
        self.capacity.allowed()
    }

    /// Whether the service may be connected to; if not, when to ask again (`None`: after an answer).
    pub(super) fn may_connect(&self) -> Result<(), Option<Duration>> {
        self.connectivity.permits(self.clock.elapsed())
    }

    /// Whether requests of an operation wait while the day's quota is spent.
    pub(super) fn waits_for_quota(&self, operation: Operation) -> bool {
        self.operations.get(&operation).map_or(operation.creates(), OperationGate::waits_for_quota)
    }

    /// Whether connectivity and quota let a request of the operation leave; if not, when to ask again (`None`: after an
    /// answer).
    pub(super) fn is_open(&mut self, operation: Operation) -> Result<(), Option<Duration>> {
        self.may_connect()?;
        let (now, service_now) = (self.clock.elapsed(), self.service_now());
        if !self.waits_for_quota(operation) {
            return Ok(());
        }
        self.quota.permits(service_now).map_err(|until| until.map(|until| now + until.since(service_now)))
    }

    /// Takes the permission for one request of the operation, as breaker and pace have it, while so many are `claimed` and have
    /// not left; if they do not, when to ask again (`None`: after an answer).
    pub(super) fn permit(&mut self, operation: Operation, claimed: usize) -> Result<(), Option<Duration>> {
        let (now, lead) = (self.clock.elapsed(), self.claim_lead.get());
        self.gate(operation).permit(now, (claimed, lead))
    }

    /// A claim took so long to come to disk.
    pub(super) fn on_claimed(&mut self, took: Duration) {
        self.claim_lead.on_claimed(took, self.clock.elapsed());
    }

    /// A request that has its permission is claimed, or sent where nothing is to be claimed. Whoever brings its answer
    /// says so with the phase.
    pub(super) fn on_permitted(&mut self, operation: Operation) -> Phase {
        let now = self.clock.elapsed();
        self.connectivity.on_send(now);
        if self.is_uncounted(operation) {
            self.quota.go_ahead();
        }
        self.gate(operation).breaker_mut().on_send()
    }

    /// Whether requests of an operation wait for the quota and do not count against it.
    fn is_uncounted(&self, operation: Operation) -> bool {
        !operation.creates() && self.waits_for_quota(operation)
    }

    /// What was permitted did not leave: it finds out nothing about the operation or the service, so another one may.
    pub(super) fn on_not_sent(&mut self, operation: Operation, phase: Phase) {
        self.connectivity.on_not_sent();
        if self.is_uncounted(operation) {
            self.quota.on_unknown_outcome();
        }
        self.gate(operation).breaker_mut().on_no_outcome(phase);
    }

    /// Takes the permission of the pace for a claimed request that leaves now; if there is none, when to ask again.
    pub(super) fn permit_departure(&mut self, operation: Operation) -> Result<(), Duration> {
        self.gate(operation).permit_departure()
    }

    /// This process stood still until now; what was to leave `since` then may have left only now.
    pub(super) fn on_stall(&mut self, since: Duration) {
        self.operations.values_mut().for_each(|gate| gate.on_stall(since));
    }

    /// Whether a claimed request of this phase should stay: the breaker has opened since it was permitted.
    pub(super) fn withdraws(&self, operation: Operation, phase: Phase) -> bool {
        self.breaker(operation).is_some_and(|breaker| breaker.withdraws(phase))
    }

    /// A request leaves.
    pub(super) fn on_departure(&mut self, operation: Operation) {
        self.gate(operation).on_departure();
    }

    /// Whether the request of this phase that is under way is a probe of its breaker.
    pub(super) fn is_probe(&self, operation: Operation, phase: Phase) -> bool {
        self.breaker(operation).is_some_and(|breaker| breaker.is_probe(phase))
    }

    /// Whether nothing of an operation is held back for its failures.
    pub(super) fn is_closed(&self, operation: Operation) -> bool {
        self.breaker(operation).is_none_or(Breaker::is_closed)
    }

    /// Whether a health check must be answered before a request of the operation may try the service.
    pub(super) fn wants_health_check(&self, operation: Operation) -> bool {
        let now = self.clock.elapsed();
        self.breaker(operation).is_some_and(|breaker| breaker.wants_health_check(now))
    }

    /// The health check is on its way. [`Self::on_health_check`] must follow.
    pub(super) fn on_health_check_queued(&mut self, operation: Operation) {
        self.gate(operation).breaker_mut().on_health_check_sent();
    }

    /// The health check came back: whether the service answered it.
    pub(super) fn on_health_check(&mut self, operation: Operation, answered: bool) -> Vec<RunAction> {
        let now = self.clock.elapsed();
        let change = self.gate(operation).breaker_mut().on_health_check(answered, now);
        self.breaker_changed(operation, change)
    }

    /// Whether the service fails at an operation and will be tried again, or has only just come back. `waits` when a
    /// request of it does.
    pub(super) fn is_unstable(&self, operation: Operation, waits: bool) -> bool {
        let now = self.clock.elapsed();
        self.breaker(operation).is_some_and(|breaker| {
            (!breaker.is_closed() && (waits || breaker.is_trying()))
                || breaker.closed_for(now).is_some_and(|closed| closed < RECENTLY_CLOSED)
        })
    }

    /// When everything that is left waits for a service that has failed for too long. `waiting` are the operations that
    /// requests wait for.
    pub(super) fn failed_too_long(&self, waiting: impl IntoIterator<Item = Operation>) -> Option<Ending> {
        let now = self.clock.elapsed();
        let mut waiting = waiting.into_iter().filter(|operation| self.halt(*operation).is_none()).peekable();
        let first = *waiting.peek()?;
        let failed = |operation| {
            let open = self.breaker(operation).and_then(|breaker| breaker.open_for(now));
            open.is_some_and(|open| open >= BREAKER_PATIENCE)
        };
        waiting.all(failed).then(|| Ending::Stopped {
            end: End::Breaker,
            why: format!(
                "the service has failed at every try of {first} for {} hours",
                BREAKER_PATIENCE.as_secs() / 3_600
            ),
            hint: ASK_THE_OPERATOR.to_owned(),
        })
    }

    /// How the run ends when the service could not be reached, or gave no token, for too long.
    pub(super) fn unreachable_too_long(&self) -> Option<Ending> {
        let (lack, words) = self.connectivity.given_up()?;
        let minutes = connectivity::PATIENCE.as_secs() / 60;
        let hours = BREAKER_PATIENCE.as_secs() / 3_600;
        let (end, why, hint) = match lack {
            Lack::Connection => (
                End::Unreachable,
                format!("no request could be sent for {minutes} minutes: {words}"),
                "check the network and base_url, then run again; `fleetload doctor` tests the connection",
            ),
            Lack::Token => (
                End::Breaker,
                format!("the service has given no token for {hours} hours: {words}"),
                ASK_THE_OPERATOR,
            ),
        };
        Some(Ending::Stopped { end, why, hint: hint.to_owned() })
    }

    /// The service is asked for its time before it has answered anything. [`Self::on_time_told`] or [`Self::on_no_time`]
    /// follows.
    pub(super) fn on_first_time_request(&mut self) {
        self.connectivity.on_send(self.clock.elapsed());
    }

    /// The service has answered that request, or one like it, with a token.
    pub(super) fn on_time_told(&mut self) -> Vec<RunAction> {
        let gives_again = self.connectivity.on_token();
        self.tokens_again(gives_again)
    }

    /// That request was not answered: it did not leave, as one of a row may not, or its task was lost, and another may find
    /// out. `under_way` are the requests under way, itself not among them.
    pub(super) fn on_no_time(&mut self, verdict: &Verdict, under_way: usize) -> Vec<RunAction> {
        match verdict {
            Verdict::NotSent(NotSent::NoResources(words)) => {
                self.on_no_sockets(Operation::Auth, words.clone(), under_way)
            }
            Verdict::NotSent(NotSent::NoToken(words)) => self.on_no_token(words),
            Verdict::NotSent(why) => self.on_no_connection(why.words().to_owned()),
            _ => {
                self.connectivity.on_not_sent();
                Vec::new()
            }
        }
    }

    /// An answer of the operation: what it says about the service, and what follows from it for the run. `under_way` are
    /// the requests under way, itself not among them; `counted` is the day on which it counted against the quota.
    pub(super) fn on_answer(
        &mut self,
        operation: Operation,
        counted: Option<Day>,
        consequence: Consequence,
        (outcome, phase): (BreakerOutcome, Phase),
        under_way: usize,
    ) -> Vec<RunAction> {
        let is_answer = !matches!(
            consequence,
            Consequence::Unreachable(_) | Consequence::NoToken(_) | Consequence::LowerConcurrency(_)
        );
        let gives_tokens_again = is_answer && self.connectivity.on_answer();
        let mut actions = self.tokens_again(gives_tokens_again);
        if self.is_uncounted(operation) {
            self.quota.on_unknown_outcome();
        }
        let now = self.clock.elapsed();
        let breaker = self.gate(operation).breaker_mut();
        if !matches!(consequence, Consequence::Nothing | Consequence::Failure) {
            breaker.on_no_outcome(phase);
        }
        actions.extend(match consequence {
            Consequence::Nothing | Consequence::Failure => {
                let change = breaker.on_outcome(outcome, phase, now);
                let mut actions = self.breaker_changed(operation, change);
                if consequence == Consequence::Nothing && counted.is_none() && self.waits_for_quota(operation)
                {
                    actions.extend(self.on_quota_accepted());
                }
                actions
            }
            Consequence::SlowDown => self.slow_down(operation),
            Consequence::ParkCreations => {
                self.gate(operation).on_quota_refused();
                self.on_quota_refused(counted, operation.creates())
            }
            Consequence::StopOperation(status) => self.stop(operation, status),
            Consequence::StopRun(refusal) => vec![RunAction::Drain(Ending::refused(refusal))],
            Consequence::Distrust(words) => vec![RunAction::Drain(Ending::distrusted(&words))],
            Consequence::LowerConcurrency(words) => self.on_no_sockets(operation, words, under_way),
            Consequence::Unreachable(words) => self.on_no_connection(words),
            Consequence::NoToken(words) => self.on_no_token(&words),
        });
        actions
    }

    /// What the status of an answer says beside its verdict. A 429 that says nothing we know: in doubt for the row, and the
    /// operation slows down. A redirect: in doubt for the row, and a sign that the service is elsewhere, so that each
    /// further row would only be put in doubt as well. Questions are harmless and go on being asked: the network may have
    /// sent us to a sign-in page of its own. Of what was not sent, no request has left.
    pub(super) fn on_status(&mut self, operation: Operation, answer: &Answer) -> Vec<RunAction> {
        match (answer.status, &answer.verdict) {
            (Some(429), Verdict::Doubtful(_)) => self.slow_down(operation),
            (Some(status), Verdict::Doubtful(Doubt::Redirect)) if !operation.looks_up() => {
                self.stop(operation, status)
            }
            (_, Verdict::NotSent(_)) => {
                self.gate(operation).on_not_sent();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The service asks for a slower pace.
    fn slow_down(&mut self, operation: Operation) -> Vec<RunAction> {
        match self.gate(operation).slow_down() {
            Some(rate) => vec![RunAction::Tell(Event::SlowedDown { operation, rate })],
            None => Vec::new(),
        }
    }

    /// The endpoint of an operation is not where it was looked for: nothing of it is sent any more.
    fn stop(&mut self, operation: Operation, status: u16) -> Vec<RunAction> {
        if !self.gate(operation).stop(Halt::Missing { status }) {
            return Vec::new();
        }
        let text = format!("the service answered {status} to {operation}: stopped sending it");
        vec![RunAction::Tell(Event::Note { text }), RunAction::GiveUp(operation)]
    }

    /// The machine has no more sockets or open files: fewer requests at once.
    fn on_no_sockets(&mut self, operation: Operation, words: String, under_way: usize) -> Vec<RunAction> {
        let now = self.clock.elapsed();
        self.connectivity.on_not_sent();
        match self.capacity.ran_short(under_way + 1, now) {
            Shortage::Lowered(allowed) => vec![RunAction::Tell(Event::Note {
                text: format!(
                    "this machine has no more sockets or open files ({words}): {operation} was not sent; at most \
                     {allowed} requests at once from now on. A higher limit (ulimit -n) or a lower concurrency helps"
                ),
            })],
            Shortage::Echo => Vec::new(),
            // As good as unreachable: one request at a time finds out, and patience ends.
            Shortage::Nothing => {
                self.connectivity.on_send(now);
                self.on_no_connection(words)
            }
        }
    }

    fn on_no_connection(&mut self, reason: String) -> Vec<RunAction> {
        let now = self.clock.elapsed();
        match self.connectivity.on_failure(now, Lack::Connection, &reason) {
            Some(retry_in) => vec![RunAction::Tell(Event::Unreachable { reason, retry_in })],
            None => Vec::new(),
        }
    }

    /// The service has answered a request for a token, and gives none: every operation waits, as one does whose breaker is
    /// open.
    fn on_no_token(&mut self, words: &str) -> Vec<RunAction> {
        let now = self.clock.elapsed();
        let Some(retry_in) = self.connectivity.on_failure(now, Lack::Token, words) else { return Vec::new() };
        let reason = format!("the service gives no token: {words}");
        let (operation, next_try_in) = (Operation::Auth, Some(retry_in));
        let news = RunAction::Tell(Event::Breaker { operation, open: true, reason, next_try_in });
        vec![self.held_back(), news]
    }

    /// The service gives tokens again, if it does and gave none before.
    fn tokens_again(&self, gives_again: bool) -> Vec<RunAction> {
        if !gives_again {
            return Vec::new();
        }
        let reason = "the service gives tokens again".to_owned();
        let operation = Operation::Auth;
        let news = RunAction::Tell(Event::Breaker { operation, open: false, reason, next_try_in: None });
        vec![self.held_back(), news]
    }

    fn breaker_changed(&self, operation: Operation, change: BreakerChange) -> Vec<RunAction> {
        let (open, reason, next_try_in) = match change {
            BreakerChange::Same => return Vec::new(),
            BreakerChange::Opened { reason, pause } | BreakerChange::StillOpen { reason, pause } => {
                (true, reason.words(), Some(pause))
            }
            BreakerChange::Closed => (false, "the service answers again".to_owned(), None),
        };
        let news = RunAction::Tell(Event::Breaker { operation, open, reason, next_try_in });
        if matches!(change, BreakerChange::StillOpen { .. }) {
            vec![news]
        } else {
            vec![self.held_back(), news]
        }
    }

    /// Which operations are held back, for whoever asks the journal.
    fn held_back(&self) -> RunAction {
        let names: Vec<&str> = self.open_breakers().map(|open| open.operation.name()).collect();
        RunAction::AskJournal(Inquiry::NoteHeldBack(
            (!names.is_empty())
                .then(|| format!("{} paused, because the service fails at it", names.join(", "))),
        ))
    }

    /// Operations that are held back for their failures. Of tokens that the service does not give, all others wait.
    pub(super) fn open_breakers(&self) -> impl Iterator<Item = OpenBreaker> {
        let tokens = self.connectivity.next_token_try().map(|next_try| OpenBreaker {
            operation: Operation::Auth,
            next_try,
            is_brief: false,
            is_trying: next_try.is_none(),
        });
        let others = self.operations.iter().filter(|(_, gate)| !gate.breaker().is_closed()).map(
            |(operation, gate)| {
                let breaker = gate.breaker();
                let (next_try, is_brief, is_trying) =
                    (breaker.next_try(), breaker.is_brief(), breaker.is_trying());
                OpenBreaker { operation: *operation, next_try, is_brief, is_trying }
            },
        );
        tokens.into_iter().chain(others)
    }

    /// A person has asked not to wait for the next try: what is tried now, in words.
    pub(super) fn try_now(&mut self) -> Vec<String> {
        let now = self.clock.elapsed();
        let mut tried = Vec::new();
        if self.connectivity.try_now(now) {
            tried.push("the connection to the service".to_owned());
        }
        for (operation, gate) in &mut self.operations {
            if gate.breaker_mut().try_now(now) {
                tried.push(operation.to_string());
            }
        }
        if self.quota.try_now() {
            tried.push("one creation beyond the quota".to_owned());
        }
        tried
    }

    /// When the service is tried again, while it cannot be reached.
    pub(super) fn next_try(&self) -> Option<Duration> {
        self.connectivity.next_try()
    }

    /// What the pace of an operation is measured by.
    pub(super) fn pace(&self, operation: Operation) -> OperationPace {
        let Some(gate) = self.operations.get(&operation) else {
            return OperationPace { sent: 0, stopped: false };
        };
        let waits = !gate.breaker().is_closed() && !gate.breaker().is_brief();
        let stopped = self.connectivity.is_lost()
            || matches!(self.hours().standing(self.clock.now()), Standing::Closed { .. })
            || waits
            || gate.halt().is_some()
            || (gate.waits_for_quota() && self.is_parked());
        OperationPace { sent: gate.sent(), stopped }
    }

    /// The requests a second that an operation may send now; `None` where no limit is kept.
    pub(super) fn limit(&self, operation: Operation) -> Option<f64> {
        match self.rate {
            Rate::PerSecond(most) => Some(self.operations.get(&operation).map_or(most, |gate| gate.rate())),
            Rate::Unlimited => None,
        }
    }
}

/// What follows for the run from the answer to a look-up; `token_refused` when an answer before it refused its token.
pub(super) fn consequence_of_lookup(verdict: &Verdict, token_refused: bool) -> Consequence {
    match (verdict, consequence(verdict, token_refused)) {
        // The service answered, and a look-up changes nothing.
        (Verdict::Contradicted(_), _) => Consequence::Nothing,
        // A look-up is no creation.
        (_, Consequence::ParkCreations) => Consequence::SlowDown,
        (_, follows) => follows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::verdict::{Contradiction, Refusal, Rejection, Success};

    #[test]
    fn a_look_up_asks_of_the_run_what_a_step_does_but_parks_no_creations_and_counts_no_contradiction() {
        let rejection = || Rejection { code: "c".into(), message: "m".into(), violations: Vec::new() };
        let not_sent = |make: fn(String) -> NotSent| Verdict::NotSent(make("words".to_owned()));
        let (nothing, words) = (Consequence::Nothing, || "words".to_owned());
        let stop = Consequence::StopRun;
        // The verdict, and what follows where no answer before refused the token, and where one did.
        let table = [
            (Verdict::Succeeded(Success::default()), [nothing.clone(), nothing.clone()]),
            (Verdict::Rejected(rejection()), [nothing.clone(), nothing.clone()]),
            (Verdict::NoDataFound(rejection()), [nothing.clone(), nothing.clone()]),
            (Verdict::Duplicate(rejection()), [nothing.clone(), nothing.clone()]),
            (
                Verdict::Contradicted(Contradiction { id: None, what: words() }),
                [nothing.clone(), nothing.clone()],
            ),
            (Verdict::TokenInvalid, [nothing, stop(Refusal::TokenRefused)]),
            (not_sent(NotSent::NoConnection), [(); 2].map(|()| Consequence::Unreachable(words()))),
            (not_sent(NotSent::NoToken), [(); 2].map(|()| Consequence::NoToken(words()))),
            (not_sent(NotSent::NoResources), [(); 2].map(|()| Consequence::LowerConcurrency(words()))),
            (not_sent(NotSent::Untrusted), [(); 2].map(|()| Consequence::Distrust(words()))),
            (Verdict::Throttled, [Consequence::SlowDown, Consequence::SlowDown]),
            (Verdict::QuotaSpent, [Consequence::SlowDown, Consequence::SlowDown]),
            (Verdict::Refused(Refusal::InvalidClient), [(); 2].map(|()| stop(Refusal::InvalidClient))),
            (Verdict::EndpointMissing(405), [(); 2].map(|()| Consequence::StopOperation(405))),
            (Verdict::Doubtful(Doubt::Timeout), [Consequence::Failure, Consequence::Failure]),
        ];
        for (verdict, expected) in table {
            let follows = [false, true].map(|refused| consequence_of_lookup(&verdict, refused));
            assert_eq!(follows, expected, "{verdict:?}");
        }
    }
}

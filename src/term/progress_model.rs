//! The progress of a run as its events add up to: counts, pace, quota, and when it will be done.
//!
//! Pure: time comes in, words and numbers go out. How they are shown is left to [`super::progress`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::counts::{RowCounts, stand};
use super::figures::{awaited, count, counted, expected, moment, span, time_of_day};
use super::{Ink, Line, Object};
use crate::model::event::Event;
use crate::model::forecast::{Forecast, Next, forecast};
use crate::model::id::{JobId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::remaining::{HeldBack, Remaining, sheet_paused};
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::{Moment, Rfc3339};
use crate::model::window::Standing;

/// Seconds over which the pace of requests is shown.
const REQUESTS_WINDOW: u64 = 5;
/// A pace below this is none.
const HARDLY_ANY: f64 = 0.05;

/// How often at most it is said of one operation that it is held back: where only some requests fail, that comes and
/// goes within seconds.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// A pace below this part of the one that was reported is reported again.
const MUCH_SLOWER: f64 = 0.8;
/// A pause of an operation that goes on at once; the pace includes it.
const BRIEF: Duration = Duration::from_secs(2);

/// A reading of both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// The wall clock.
    pub now: Moment,
    /// The monotonic clock.
    pub elapsed: Duration,
}

/// What is known of a run.
#[derive(Debug)]
pub(super) struct Picture {
    tally: Tally,
    requests: u64,
    paces: BTreeMap<Operation, Pace>,
    begun: Duration,
    quota: QuotaDay,
    /// What is still to be done, and whether the run has counted it yet.
    facts: Remaining,
    is_counted: bool,
    /// Rows whose reference the service does not show yet, with the moment until which they are sent again.
    unseen: BTreeMap<JobId, (Kind, Moment)>,
    /// Sheets that were set aside.
    aside: BTreeSet<SheetId>,
    /// The operations of which it was said that they are slowed down, and to how many requests a second.
    slowed: BTreeMap<Operation, f64>,
    /// How many records were read back, and of how many.
    read_back: Option<(u64, u64)>,
    /// Whether nothing more is begun: what is left is left to the next run.
    is_stopping: bool,
    /// The operations that are held back, and whether it was said.
    held_back: BTreeMap<Operation, bool>,
    /// When it was last said of an operation that it is held back.
    told: BTreeMap<Operation, Duration>,
}

/// An operation that is paused.
pub fn operation_paused(operation: Operation, reason: &str, next_try_in: Option<Duration>) -> String {
    let wait = next_try_in
        .map_or_else(String::new, |wait| format!("; next try in {}, one request at a time", span(wait)));
    format!("{operation} is paused: {reason}{wait}")
}

/// A service that cannot be reached.
pub fn unreachable(reason: &str) -> String {
    format!("no request can be sent: {reason}")
}

/// The pace of an operation.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PaceOf {
    /// Requests a second over the last seconds.
    per_second: f64,
    /// The most that are sent in a second; `null` without a limit.
    limit: Option<f64>,
}

/// The picture as one JSON object.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ProgressObject {
    /// When it was so.
    at: Rfc3339,
    #[serde(flatten)]
    standing: RowCounts,
    /// The same for each kind that has rows.
    #[cfg_attr(feature = "schemas", schemars(with = "BTreeMap<crate::model::kind::Plural, RowCounts>"))]
    by_kind: BTreeMap<&'static str, RowCounts>,
    /// Requests that this run has sent, look-ups included.
    requests: u64,
    /// Requests a second over the last seconds, of all operations together.
    requests_per_second: f64,
    /// The pace of each operation that is being sent.
    pace: BTreeMap<Operation, PaceOf>,
    /// Creations of the day that count against the quota.
    quota_used: u64,
    /// Those of them that the service confirmed.
    quota_confirmed: u64,
    /// Those of them that the service rejected.
    quota_refused: u64,
    /// Those of them of which it is not known whether they were counted.
    quota_doubtful: u64,
    /// The daily quota, as far as it is known.
    quota_ceiling: Option<u64>,
    /// How much of it is left.
    quota_left: Option<u64>,
    /// Sheets that are paused because the service rejected row after row.
    sheets_set_aside: usize,
    /// Records that were verified.
    read_back: u64,
    /// Records that are verified in all.
    to_read_back: u64,
    /// Until when creations wait for the quota.
    parked_until: Option<Rfc3339>,
    /// Until when the window is closed in which requests may leave.
    paused_until: Option<Rfc3339>,
    /// Operations that are paused because the service fails at them.
    held_back: Vec<Operation>,
    /// When everything is expected to be done, where that can be known.
    finish_estimate: Option<Rfc3339>,
    /// What is waited for.
    next_events: Vec<Next>,
}

impl Object for ProgressObject {
    const NAME: &'static str = "progress";
}

impl Picture {
    pub(super) fn new((tally, quota): (Tally, QuotaDay), tick: Tick) -> Self {
        Self {
            tally,
            requests: 0,
            paces: BTreeMap::new(),
            begun: tick.elapsed,
            quota,
            facts: Remaining { at: tick.now, moving: true, ..Remaining::default() },
            is_counted: false,
            unseen: BTreeMap::new(),
            aside: BTreeSet::new(),
            slowed: BTreeMap::new(),
            read_back: None,
            is_stopping: false,
            held_back: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// Takes in a piece of news; what a person should read of it comes back.
    pub(super) fn take(&mut self, event: &Event, tick: Tick, here: &TimeZone) -> Option<String> {
        match event {
            Event::Moved { job, kind, from, to } => self.moved((*job, *kind), (*from, *to)),
            Event::Rows { tally } => {
                self.tally = tally.clone();
                None
            }
            // Said of the first of them; how many there are is seen meanwhile.
            Event::Unseen { job, kind, until } => {
                let is_first = self.unseen.is_empty();
                self.unseen.insert(*job, (*kind, *until));
                self.unseen_line(here).filter(|_| is_first)
            }
            Event::Sent { operation } => {
                self.requests += 1;
                let begun = self.begun;
                let pace = self.paces.entry(*operation).or_insert_with(|| Pace::over(REQUESTS_WINDOW, begun));
                pace.add(tick.elapsed);
                None
            }
            Event::Answered { took: Some(_), .. } => {
                // What was counted before knows nothing of it.
                self.facts.unreachable_until = None;
                None
            }
            Event::Answered { took: None, .. } => None,
            Event::Remaining(facts) => {
                self.facts = (**facts).clone();
                self.is_counted = true;
                None
            }
            Event::QuotaUsed(day) => {
                self.quota = *day;
                None
            }
            Event::Parked { until } => {
                let still = if self.facts.parked_until.replace(*until).is_some() { "still " } else { "" };
                Some(format!(
                    "today's quota is {still}spent; rows that need it wait until {} ({} from now)",
                    moment(*until, here),
                    span(until.since(tick.now))
                ))
            }
            Event::Woken => {
                self.facts.parked_until = None;
                Some("rows that need the quota go on".to_owned())
            }
            Event::OutsideHours { until, why } => Some(format!(
                "paused until {} ({} from now): {why}",
                moment(*until, here),
                span(until.since(tick.now))
            )),
            Event::WithinHours => Some("requests go on: the run may send again".to_owned()),
            Event::SlowedDown { operation, rate } => self.slow_down(*operation, *rate),
            Event::Breaker { operation, open: true, reason, next_try_in } => {
                self.hold_back(*operation, reason, *next_try_in, tick)
            }
            Event::Breaker { operation, open: false, reason, next_try_in: _ } => {
                self.facts.held_back.retain(|held_back| held_back.operation != *operation);
                let was_told = self.held_back.remove(operation).unwrap_or_default();
                was_told.then(|| format!("{operation} goes on: {reason}"))
            }
            Event::SheetPaused { sheet, title, times, code, message, asks: _ } => {
                self.aside.insert(*sheet);
                Some(format!("{}: {message}; everything else goes on", sheet_paused(title, *times, code)))
            }
            Event::Unreachable { reason, retry_in } => {
                self.facts.unreachable_until = Some(tick.now.plus(*retry_in));
                let wait = span((*retry_in).max(Duration::from_secs(1)));
                Some(format!("{}; next try in {wait}", unreachable(reason)))
            }
            Event::ReadBack { done, of } => {
                self.read_back = Some((*done, *of));
                None
            }
            Event::ClockSkew { seconds } => Some(format!(
                "this machine's clock is {} {} the service's; the service's clock counts",
                span(Duration::from_secs(seconds.unsigned_abs())),
                if *seconds > 0 { "behind" } else { "ahead of" }
            )),
            Event::Note { text } => Some(text.clone()),
            Event::Draining { under_way } => {
                self.is_stopping = true;
                Some(match under_way {
                    0 => "stopping: nothing is under way".to_owned(),
                    _ => format!(
                        "stopping: waiting for {} under way (once more to stop at once)",
                        counted(u64::try_from(*under_way).unwrap_or(u64::MAX), "request", "requests")
                    ),
                })
            }
        }
    }

    /// A row has gone from one state to another.
    fn moved(&mut self, (job, kind): (JobId, Kind), (from, to): (JobState, JobState)) -> Option<String> {
        self.tally.shift(kind, from, to);
        if !matches!(to, JobState::Ready | JobState::Sending | JobState::Deferred) {
            self.unseen.remove(&job);
        }
        // Of very many, now and then how many there are.
        let held = self.standing().held;
        (to == JobState::Held && held.is_power_of_two())
            .then(|| format!("a row of {kind} is on hold: needs your decision ({} so far)", count(held)))
    }

    /// The service asks for a slower pace. Said at the first time, and when it is much slower than what was said: the pace goes
    /// down in many steps and recovers automatically.
    fn slow_down(&mut self, operation: Operation, rate: f64) -> Option<String> {
        let is_news = self.slowed.get(&operation).is_none_or(|told| rate < told * MUCH_SLOWER);
        is_news.then(|| {
            self.slowed.insert(operation, rate);
            format!("the service asks for a slower pace: {operation} at {rate:.0} requests a second")
        })
    }

    /// The service fails at an operation. Said at the first time, and then now and then.
    fn hold_back(
        &mut self,
        operation: Operation,
        reason: &str,
        next_try_in: Option<Duration>,
        tick: Tick,
    ) -> Option<String> {
        let next_try = next_try_in.map(|wait| tick.now.plus(wait));
        self.facts.held_back.retain(|held_back| held_back.operation != operation);
        let brief = next_try_in.is_some_and(|wait| wait <= BRIEF);
        self.facts.held_back.push(HeldBack { operation, next_try, brief });
        if self.held_back.contains_key(&operation) {
            return None;
        }
        let told = self.told.get(&operation).is_none_or(|last| tick.elapsed >= *last + TOLD_EVERY);
        self.held_back.insert(operation, told);
        told.then(|| {
            self.told.insert(operation, tick.elapsed);
            operation_paused(operation, reason, next_try_in)
        })
    }

    /// Where all rows stand.
    pub(super) fn standing(&self) -> RowCounts {
        stand(|state| self.tally.in_state(state))
    }

    /// Where the rows of one kind stand.
    pub(super) fn standing_of(&self, kind: Kind) -> RowCounts {
        stand(|state| self.tally.of(kind, state))
    }

    /// One line: counts of all rows, pace, quota, when it is done and what is waited for.
    pub(super) fn line(&self, tick: Tick, here: &TimeZone) -> String {
        let mut parts = vec![self.standing().words()];
        parts.extend(self.pace_line(tick));
        parts.extend(self.finish_line(tick, here));
        parts.extend(self.next_lines(tick, here));
        parts.extend(self.read_line());
        parts.extend(self.quota_line());
        parts.extend(self.unseen_line(here));
        parts.join("; ")
    }

    /// One line while records are verified and nothing else is left: how many were, or how much is left of what was begun
    /// beside the creations.
    pub(super) fn read_line(&self) -> Option<String> {
        match self.read_back {
            Some((done, of)) => (done < of).then(|| format!("{} of {} verified", count(done), count(of))),
            None if self.standing().left == 0 => {
                let lanes = self.facts.verifying.values().chain(self.facts.verifying_at_end.values());
                let look_ups: u64 = lanes.map(|lane| lane.requests).sum();
                let left = || format!("verification: {} left", counted(look_ups, "look-up", "look-ups"));
                (look_ups > 0).then(left)
            }
            None => None,
        }
    }

    /// The run has ended: nothing more comes of it, and what is left to be verified is left to the next one.
    pub(super) fn end(&mut self) {
        self.is_stopping = true;
        self.facts.verifying.clear();
        self.facts.verifying_at_end.clear();
    }

    /// When everything is done.
    fn forecast(&self) -> Forecast {
        if self.is_stopping {
            return Forecast::default();
        }
        let known = forecast(&self.facts).with_in_doubt(self.standing().in_doubt);
        Forecast { finish: known.finish.filter(|_| self.is_counted), ..known }
    }

    /// When everything is done, where that can be known and something is left. A forecast whose moment has passed was none:
    /// what is left then, such as rows of a paused sheet, is not part of it.
    fn finish(&self, now: Moment) -> Option<Moment> {
        // What is left to be verified is counted more often than the rest.
        let is_to_verify = self.read_back.map_or_else(|| self.facts.is_to_verify(), |(done, of)| done < of);
        let nothing_left = self.standing().left == 0 && !is_to_verify;
        self.forecast().finish.filter(|finish| !nothing_left && finish.plus(Duration::from_secs(1)) >= now)
    }

    /// One line: when everything is done.
    pub(super) fn finish_line(&self, tick: Tick, here: &TimeZone) -> Option<String> {
        let words = expected(self.finish(tick.now)?, tick.now, here);
        let verifies = self.facts.is_to_verify() && self.standing().left > 0;
        Some(if verifies { format!("{words}, verification included") } else { words })
    }

    /// What is waited for, a line each.
    pub(super) fn next_lines(&self, tick: Tick, here: &TimeZone) -> Vec<String> {
        awaited(&self.forecast().next, tick.now, here)
    }

    /// One line: rows that wait until the service shows what they refer to.
    pub(super) fn unseen_line(&self, here: &TimeZone) -> Option<String> {
        let until = self.unseen.values().map(|(_, until)| *until).max()?;
        let of = |kind: Kind| self.unseen.values().filter(|(of, _)| *of == kind).count();
        let rows: Vec<String> = Kind::ALL
            .into_iter()
            .filter(|&kind| of(kind) > 0)
            .map(|kind| counted(u64::try_from(of(kind)).unwrap_or(u64::MAX), kind.singular(), kind.plural()))
            .collect();
        let (wait, they) =
            if self.unseen.len() == 1 { ("waits", "it refers to") } else { ("wait", "they refer to") };
        Some(format!(
            "{} {wait}: the service does not show yet what {they}, which was created moments ago; tried until {}",
            rows.join(" and "),
            time_of_day(until, here)
        ))
    }

    /// One line: creations of today, as far as any are known.
    pub(super) fn quota_line(&self) -> Option<String> {
        let day = self.quota;
        let (least, most) = day.bounds();
        match (day.ceiling, day.left()) {
            (Some(ceiling), Some(left)) => Some(format!(
                "quota {least}{} of {} used, {most}{} left",
                count(day.used()),
                count(ceiling),
                count(left)
            )),
            _ if day.used() > 0 => {
                let known = counted(day.used() - day.doubtful, "creation", "creations");
                Some(match day.doubtful {
                    0 => format!("{least}{known} today"),
                    doubtful => {
                        format!("{least}{known} today, {} more not known to be counted", count(doubtful))
                    }
                })
            }
            _ => None,
        }
    }

    /// One line: what needs a person, with the command that tells more.
    pub(super) fn person_line(&self, command: &str) -> Option<Line> {
        let mut parts = Vec::new();
        let held = self.standing().held;
        if held > 0 {
            parts.push(format!("{} on hold", count(held)));
        }
        let aside = u64::try_from(self.aside.len()).unwrap_or(u64::MAX);
        if aside > 0 {
            parts.push(counted(aside, "paused sheet", "paused sheets"));
        }
        (!parts.is_empty()).then(|| {
            let words = format!("needs your decision: {}: ", parts.join(", "));
            Line::new().ink(Ink::Warning, words).command(Ink::Warning, command)
        })
    }

    /// The pace of each operation that is being sent. Look-ups before sending go along with what is sent, unless the service
    /// asked for a slower pace of them; only those of the verification stand alone.
    fn paces(&self, tick: Tick) -> BTreeMap<Operation, PaceOf> {
        let rounded = |pace: f64| (pace * 10.0).round() / 10.0;
        let limits = self.facts.making.iter().filter_map(|(operation, lane)| Some((*operation, lane.limit?)));
        let limits: BTreeMap<Operation, f64> = limits.collect();
        let usual = limits.values().copied().fold(0.0, f64::max);
        let is_slowed = |operation: Operation| limits.get(&operation).is_some_and(|limit| *limit < usual);
        let sending = |operation: Operation| !operation.looks_up() || is_slowed(operation);
        let paces: Vec<_> = self
            .paces
            .iter()
            .map(|(&operation, pace)| (operation, pace.per_second(tick.elapsed)))
            .filter(|(_, pace)| *pace >= HARDLY_ANY)
            .collect();
        let verifies = !paces.iter().any(|(operation, _)| sending(*operation));
        paces
            .into_iter()
            .filter(|(operation, _)| {
                sending(*operation) || (verifies && self.facts.verifying_by(*operation).is_some())
            })
            .map(|(operation, pace)| {
                let lane = self.facts.making.get(&operation).or(self.facts.verifying_by(operation));
                let limit = lane.and_then(|lane| lane.limit).map(rounded);
                (operation, PaceOf { per_second: rounded(pace), limit })
            })
            .collect()
    }

    /// One line: requests a second of each operation, beside its limit.
    pub(super) fn pace_line(&self, tick: Tick) -> Option<String> {
        let paces = self.paces(tick).into_iter().map(|(operation, PaceOf { per_second, limit })| {
            let of = limit.map_or_else(String::new, |limit| format!(" of {limit:.0}"));
            let digits = usize::from(per_second < 1.0);
            format!("{operation} {per_second:.digits$}/s{of}")
        });
        let paces: Vec<String> = paces.collect();
        (!paces.is_empty()).then(|| paces.join(", "))
    }

    /// Whether the quota is spent and creations wait.
    pub(super) fn is_parked(&self) -> bool {
        self.facts.parked_until.is_some()
            || matches!(self.facts.hours.standing(self.facts.at), Standing::Closed { .. })
    }

    /// How many requests a second left lately, with one digit.
    fn requests_per_second(&self, tick: Tick) -> f64 {
        // The sum of nothing is a negative zero.
        let sum = self.paces.values().fold(0.0, |sum, pace| sum + pace.per_second(tick.elapsed));
        (sum * 10.0).round() / 10.0
    }

    /// The picture for programs.
    pub(super) fn object(&self, tick: Tick) -> ProgressObject {
        ProgressObject {
            at: tick.now.into(),
            standing: self.standing(),
            by_kind: Kind::ALL
                .into_iter()
                .map(|kind| (kind.plural(), self.standing_of(kind)))
                .filter(|(_, standing)| standing.rows > 0)
                .collect(),
            requests: self.requests,
            requests_per_second: self.requests_per_second(tick),
            pace: self.paces(tick),
            quota_used: self.quota.used(),
            quota_confirmed: self.quota.confirmed,
            quota_refused: self.quota.refused,
            quota_doubtful: self.quota.doubtful,
            quota_ceiling: self.quota.ceiling,
            quota_left: self.quota.left(),
            sheets_set_aside: self.aside.len(),
            read_back: self.read_back.map_or(0, |(done, _)| done),
            to_read_back: self.read_back.map_or(0, |(_, of)| of),
            parked_until: self.facts.parked_until.map(Rfc3339),
            paused_until: match self.facts.hours.standing(tick.now) {
                Standing::Closed { until } => Some(until.into()),
                Standing::Open { .. } => None,
            },
            held_back: self.held_back.keys().copied().collect(),
            finish_estimate: self.finish(tick.now).map(Rfc3339),
            next_events: self.forecast().next,
        }
    }
}

/// Counts over a sliding window of whole seconds.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    window: u64,
    started: u64,
    /// Second and count, oldest first; only seconds inside the window.
    seconds: VecDeque<(u64, u64)>,
}

impl Pace {
    /// A pace over the last `window` seconds, that begins at `elapsed`.
    pub(super) fn over(window: u64, elapsed: Duration) -> Self {
        Self { window: window.max(1), started: elapsed.as_secs(), seconds: VecDeque::new() }
    }

    /// Counts one at `elapsed`.
    pub(super) fn add(&mut self, elapsed: Duration) {
        let now = elapsed.as_secs();
        match self.seconds.back_mut() {
            Some((second, count)) if *second >= now => *count += 1,
            _ => self.seconds.push_back((now, 1)),
        }
        while self.seconds.front().is_some_and(|(second, _)| second + self.window < now) {
            self.seconds.pop_front();
        }
    }

    /// How many a second, over the whole seconds of the window that are past at `elapsed`.
    pub(super) fn per_second(&self, elapsed: Duration) -> f64 {
        let now = elapsed.as_secs();
        let from = now.saturating_sub(self.window).max(self.started);
        if now <= from {
            return 0.0;
        }
        let counted: u64 = self
            .seconds
            .iter()
            .filter(|(second, _)| (from..now).contains(second))
            .map(|(_, count)| count)
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "a pace is shown with one digit")]
        let pace = counted as f64 / (now - from) as f64;
        pace
    }
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_pace_is_that_of_the_last_seconds_and_falls_to_nothing() {
        let mut pace = Pace::over(5, at(10_000));
        assert_eq!(pace.per_second(at(10_000)), 0.0);
        for n in 0..300 {
            pace.add(at(10_000 + n * 10));
        }
        assert_eq!(pace.per_second(at(13_000)), 100.0);
        assert_eq!(pace.per_second(at(15_000)), 60.0);
        assert_eq!(pace.per_second(at(17_000)), 20.0);
        assert_eq!(pace.per_second(at(18_000)), 0.0);
    }
}

#[cfg(test)]
mod tests;

//! The picture of a run that its news adds up to: counts, pace, quota, and when it will be done.
//!
//! Pure: time comes in, words and numbers go out. How they are shown is left to [`super::progress`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::figures::{count, counted, moment, short_moment, span, time_of_day};
use super::pace::Pace;
use super::standing::{Standing, stand};
use crate::model::event::Event;
use crate::model::id::{JobId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::plan::forecast::{Allowance, Forecast, forecast};

/// Seconds over which the pace of requests is shown.
const REQUESTS_WINDOW: u64 = 5;
/// Seconds over which the pace of finished rows is measured for the time to finish: long enough to be steady.
const ROWS_WINDOW: u64 = 60;

/// How often at most it is said of one operation that it is held back: where only some requests fail, that comes and
/// goes within seconds.
const TOLD_EVERY: Duration = Duration::from_secs(60);

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
    request_pace: Pace,
    row_pace: Pace,
    /// The pace of finished rows when one was last finished.
    last_pace: f64,
    used: u64,
    ceiling: Option<u64>,
    parked_until: Option<Moment>,
    /// Rows whose reference the service does not show yet, with the moment until which they are sent again.
    unseen: BTreeMap<JobId, (Kind, Moment)>,
    /// Sheets that were set aside.
    aside: BTreeSet<SheetId>,
    /// The operations of which it was said that they are slowed down.
    slowed: BTreeSet<Operation>,
    /// How many records were read back, and of how many.
    read_back: Option<(u64, u64)>,
    read_pace: Pace,
    /// The operations that are held back.
    held_back: BTreeMap<Operation, HeldBack>,
    /// When it was last said of an operation that it is held back.
    told: BTreeMap<Operation, Duration>,
}

/// An operation at which the service fails.
#[derive(Debug, Clone, Copy)]
struct HeldBack {
    next_try: Option<Duration>,
    /// Whether it was said.
    told: bool,
}

/// The picture as one JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Progressed {
    object: &'static str,
    at: String,
    #[serde(flatten)]
    standing: Standing,
    by_kind: BTreeMap<&'static str, Standing>,
    requests: u64,
    requests_per_second: f64,
    quota_used: u64,
    quota_ceiling: Option<u64>,
    quota_left: Option<u64>,
    sheets_set_aside: usize,
    read_back: u64,
    to_read_back: u64,
    parked_until: Option<String>,
    held_back: Vec<Operation>,
    finish_estimate: Option<String>,
}

impl Picture {
    pub(super) fn new(tally: Tally, tick: Tick) -> Self {
        Self {
            tally,
            requests: 0,
            request_pace: Pace::over(REQUESTS_WINDOW, tick.elapsed),
            row_pace: Pace::over(ROWS_WINDOW, tick.elapsed),
            last_pace: 0.0,
            used: 0,
            ceiling: None,
            parked_until: None,
            unseen: BTreeMap::new(),
            aside: BTreeSet::new(),
            slowed: BTreeSet::new(),
            read_back: None,
            read_pace: Pace::over(ROWS_WINDOW, tick.elapsed),
            held_back: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// Takes in a piece of news; what a person should read of it comes back.
    pub(super) fn take(&mut self, event: &Event, tick: Tick, here: &TimeZone) -> Option<String> {
        match event {
            Event::Moved { job, kind, from, to } => self.moved((*job, *kind), (*from, *to), tick),
            // Said of the first of them; how many there are is seen meanwhile.
            Event::Unseen { job, kind, until } => {
                let is_first = self.unseen.is_empty();
                self.unseen.insert(*job, (*kind, *until));
                self.unseen_line(here).filter(|_| is_first)
            }
            Event::Sent { operation: _ } => {
                self.requests += 1;
                self.request_pace.add(tick.elapsed);
                None
            }
            Event::QuotaUsed { used, ceiling } => {
                self.used = *used;
                self.ceiling = *ceiling;
                None
            }
            Event::Parked { until } => {
                self.parked_until = Some(*until);
                Some(format!(
                    "today's quota is spent; creations wait until {} ({} from now)",
                    moment(*until, here),
                    span(until.since(tick.now))
                ))
            }
            Event::Woken => {
                self.parked_until = None;
                Some("creations go on".to_owned())
            }
            // Said once for each operation: the pace goes down in many steps and comes back by itself.
            Event::SlowedDown { operation, rate } => self.slowed.insert(*operation).then(|| {
                format!("the service asks for a slower pace: {operation} at {rate:.0} requests a second")
            }),
            Event::Breaker { operation, open: true, reason, next_try_in } => {
                self.hold_back(*operation, reason, *next_try_in, tick)
            }
            Event::Breaker { operation, open: false, reason, next_try_in: _ } => self
                .held_back
                .remove(operation)
                .is_some_and(|held_back| held_back.told)
                .then(|| format!("{operation} goes on: {reason}")),
            Event::SheetPaused { sheet, title, times, code, message, asks: _ } => {
                self.aside.insert(*sheet);
                Some(format!(
                    "the sheet {title} is set aside: the service refused {times} of its rows in a row with {code}: \
                     {message}; everything else goes on"
                ))
            }
            Event::Unreachable { reason, retry_in } => Some(format!(
                "the service cannot be reached: {reason}; next try in {}",
                span((*retry_in).max(Duration::from_secs(1)))
            )),
            Event::ReadBack { done, of } => {
                // The pace is that of reading back, not of the hours before it.
                if *done == 0 {
                    self.read_pace = Pace::over(ROWS_WINDOW, tick.elapsed);
                } else {
                    self.read_pace.add(tick.elapsed);
                }
                self.read_back = Some((*done, *of));
                None
            }
            Event::ClockSkew { seconds } => Some(format!(
                "this machine's clock is {} {} the service's; the service's counts",
                span(Duration::from_secs(seconds.unsigned_abs())),
                if *seconds > 0 { "behind" } else { "ahead of" }
            )),
            Event::Note { text } => Some(text.clone()),
            Event::Draining { under_way: 0 } => Some("stopping: nothing is under way".to_owned()),
            Event::Draining { under_way } => Some(format!(
                "stopping: waiting for {} under way (once more to stop at once)",
                counted(u64::try_from(*under_way).unwrap_or(u64::MAX), "request", "requests")
            )),
        }
    }

    /// A row has gone from one state to another.
    fn moved(
        &mut self,
        (job, kind): (JobId, Kind),
        (from, to): (JobState, JobState),
        tick: Tick,
    ) -> Option<String> {
        self.tally.shift(kind, from, to);
        if !matches!(to, JobState::Ready | JobState::Sending | JobState::Deferred) {
            self.unseen.remove(&job);
        }
        if to.is_final() {
            self.row_pace.add(tick.elapsed);
            let pace = self.row_pace.per_second(tick.elapsed);
            if pace > 0.0 {
                self.last_pace = pace;
            }
        }
        (to == JobState::Held).then(|| {
            format!("a row of {kind} is held until a person decides ({} so far)", self.standing().held)
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
        let next_try = next_try_in.map(|wait| tick.elapsed + wait);
        if let Some(held_back) = self.held_back.get_mut(&operation) {
            held_back.next_try = next_try;
            return None;
        }
        let told = self.told.get(&operation).is_none_or(|last| tick.elapsed >= *last + TOLD_EVERY);
        self.held_back.insert(operation, HeldBack { next_try, told });
        told.then(|| {
            self.told.insert(operation, tick.elapsed);
            let wait = next_try_in.map_or_else(String::new, |wait| {
                format!("; tried again in {}, one request at a time", span(wait))
            });
            format!("{operation} is held back: {reason}{wait}")
        })
    }

    /// Where all rows stand.
    pub(super) fn standing(&self) -> Standing {
        stand(|state| self.tally.in_state(state))
    }

    /// Where the rows of one kind stand.
    pub(super) fn standing_of(&self, kind: Kind) -> Standing {
        stand(|state| self.tally.of(kind, state))
    }

    /// One line: counts of all rows, pace and quota, and until when it is parked.
    pub(super) fn line(&self, tick: Tick, here: &TimeZone) -> String {
        let mut parts = vec![self.pace_line(tick, here)];
        parts.extend(self.quota_line());
        let waits = [self.read_line(tick), self.unseen_line(here), self.parked_line(tick, here)];
        let waits: String = waits.into_iter().flatten().map(|wait| format!("; {wait}")).collect();
        format!("{}; {}{waits}", self.standing().words(), parts.join(", "))
    }

    /// One line while records are read back: how many were, and how long the rest takes.
    pub(super) fn read_line(&self, tick: Tick) -> Option<String> {
        let (done, of) = self.read_back.filter(|(done, of)| done < of)?;
        let pace = self.read_pace.per_second(tick.elapsed);
        let left = forecast(of - done, pace, None, tick.now).map_or_else(String::new, |forecast| {
            let left = forecast.finish.since(tick.now).max(Duration::from_secs(1));
            format!(", about {} to go", span(left))
        });
        Some(format!("{} of {} records read back{left}", count(done), count(of)))
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
        match self.ceiling {
            Some(ceiling) => Some(format!(
                "quota {} of {} used, {} left",
                count(self.used),
                count(ceiling),
                count(ceiling.saturating_sub(self.used))
            )),
            None if self.used > 0 => Some(format!("{} today", counted(self.used, "creation", "creations"))),
            None => None,
        }
    }

    /// One line: what needs a person, with the command that tells more.
    pub(super) fn person_line(&self, command: &str) -> Option<String> {
        let mut parts = Vec::new();
        let held = self.standing().held;
        if held > 0 {
            parts.push(format!("{} held", count(held)));
        }
        let aside = u64::try_from(self.aside.len()).unwrap_or(u64::MAX);
        if aside > 0 {
            parts.push(counted(aside, "sheet aside", "sheets aside"));
        }
        (!parts.is_empty()).then(|| format!("for a person: {}: {command}", parts.join(", ")))
    }

    /// One line: requests a second, time to finish, and what is held back.
    pub(super) fn pace_line(&self, tick: Tick, here: &TimeZone) -> String {
        let mut parts = vec![format!("{:.0} requests/s", self.request_pace.per_second(tick.elapsed))];
        match (self.parked_until, self.finish(tick)) {
            (Some(until), Some(finish)) if finish > until => {
                parts.push(format!("done about {}", short_moment(finish, here)));
            }
            (None, Some(finish)) if finish > tick.now => parts.push(if finish.day() == tick.now.day() {
                format!("about {} to go", span(finish.since(tick.now).max(Duration::from_secs(1))))
            } else {
                format!("done about {}", short_moment(finish, here))
            }),
            (Some(_) | None, Some(_) | None) => {}
        }
        for (operation, held_back) in &self.held_back {
            parts.push(match held_back.next_try.map(|at| at.saturating_sub(tick.elapsed)) {
                Some(wait) if !wait.is_zero() => {
                    format!("{operation} held back, next try in {}", span(wait.max(Duration::from_secs(1))))
                }
                Some(_) | None => format!("{operation} held back, being tried"),
            });
        }
        parts.join(", ")
    }

    /// Whether the quota is spent and creations wait.
    pub(super) fn is_parked(&self) -> bool {
        self.parked_until.is_some()
    }

    /// One line while the quota is spent.
    pub(super) fn parked_line(&self, tick: Tick, here: &TimeZone) -> Option<String> {
        self.parked_until.map(|until| {
            let wait = span(until.since(tick.now).max(Duration::from_secs(1)));
            format!("parked {wait}, until {}", short_moment(until, here))
        })
    }

    /// The picture for programs.
    pub(super) fn object(&self, tick: Tick) -> Progressed {
        Progressed {
            object: "progress",
            at: tick.now.to_string(),
            standing: self.standing(),
            by_kind: Kind::ALL
                .into_iter()
                .map(|kind| (kind.plural(), self.standing_of(kind)))
                .filter(|(_, standing)| standing.rows > 0)
                .collect(),
            requests: self.requests,
            requests_per_second: (self.request_pace.per_second(tick.elapsed) * 10.0).round() / 10.0,
            quota_used: self.used,
            quota_ceiling: self.ceiling,
            quota_left: self.ceiling.map(|ceiling| ceiling.saturating_sub(self.used)),
            sheets_set_aside: self.aside.len(),
            read_back: self.read_back.map_or(0, |(done, _)| done),
            to_read_back: self.read_back.map_or(0, |(_, of)| of),
            parked_until: self.parked_until.map(|until| until.to_string()),
            held_back: self.held_back.keys().copied().collect(),
            finish_estimate: self.finish(tick).map(|finish| finish.to_string()),
        }
    }

    fn finish(&self, tick: Tick) -> Option<Moment> {
        let left = self.standing().left;
        if left == 0 {
            return None;
        }
        let allowance = self.ceiling.map(|ceiling| Allowance {
            per_day: ceiling,
            today: if self.is_parked() { 0 } else { ceiling.saturating_sub(self.used) },
        });
        // While nothing is created the pace is what it was before.
        let pace = match self.row_pace.per_second(tick.elapsed) {
            pace if pace > 0.0 => pace,
            _ => self.last_pace,
        };
        let waits = self.parked_until.filter(|&until| until > tick.now);
        match (waits, allowance) {
            (Some(until), None) => forecast(left, pace, None, until),
            (Some(until), Some(_)) => forecast(left, pace, allowance, tick.now)
                .map(|forecast| Forecast { finish: forecast.finish.max(until), ..forecast }),
            (None, allowance) => forecast(left, pace, allowance, tick.now),
        }
        .map(|forecast| forecast.finish)
    }
}

#[cfg(test)]
mod tests;

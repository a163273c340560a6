//! The picture of a run that its news adds up to: counts, pace, quota, and when it will be done.
//!
//! Pure: time comes in, words and numbers go out. How they are shown is left to [`super::progress`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::figures::{count, counted, moment, span};
use super::pace::Pace;
use crate::model::event::Event;
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
    /// The operations of which it was said that they are slowed down.
    slowed: BTreeSet<Operation>,
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

/// Where the rows of one kind, or of all, stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Standing {
    pub(super) rows: u64,
    pub(super) done: u64,
    pub(super) left: u64,
    pub(super) failed: u64,
    pub(super) held: u64,
}

/// The picture as one JSON object.
#[derive(Debug, Serialize)]
pub(super) struct Progressed {
    object: &'static str,
    at: String,
    #[serde(flatten)]
    standing: Standing,
    requests: u64,
    requests_per_second: f64,
    quota_used: u64,
    quota_ceiling: Option<u64>,
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
            slowed: BTreeSet::new(),
            held_back: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// Takes in a piece of news; what a person should read of it comes back.
    pub(super) fn take(&mut self, event: &Event, tick: Tick, here: &TimeZone) -> Option<String> {
        match event {
            Event::Moved { kind, from, to, job: _ } => {
                self.tally.shift(*kind, *from, *to);
                if to.is_final() {
                    self.row_pace.add(tick.elapsed);
                    let pace = self.row_pace.per_second(tick.elapsed);
                    if pace > 0.0 {
                        self.last_pace = pace;
                    }
                }
                (*to == JobState::Held).then(|| {
                    format!(
                        "a row of {kind} is held until a person decides ({} so far)",
                        self.standing().held
                    )
                })
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
                let next_try = next_try_in.map(|wait| tick.elapsed + wait);
                let news = match self.held_back.get_mut(operation) {
                    Some(held_back) => {
                        held_back.next_try = next_try;
                        false
                    }
                    None => {
                        let told =
                            self.told.get(operation).is_none_or(|last| tick.elapsed >= *last + TOLD_EVERY);
                        self.held_back.insert(*operation, HeldBack { next_try, told });
                        told
                    }
                };
                news.then(|| {
                    self.told.insert(*operation, tick.elapsed);
                    let wait = next_try_in.map_or_else(String::new, |wait| {
                        format!("; tried again in {}, one request at a time", span(wait))
                    });
                    format!("{operation} is held back: {reason}{wait}")
                })
            }
            Event::Breaker { operation, open: false, reason, next_try_in: _ } => self
                .held_back
                .remove(operation)
                .is_some_and(|held_back| held_back.told)
                .then(|| format!("{operation} goes on: {reason}")),
            Event::SheetPaused { title, times, code, message, .. } => Some(format!(
                "the sheet {title} is set aside: the service refused {times} of its rows in a row with {code}: \
                 {message}; everything else goes on"
            )),
            Event::Unreachable { reason, retry_in } => Some(format!(
                "the service cannot be reached: {reason}; next try in {}",
                span((*retry_in).max(Duration::from_secs(1)))
            )),
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

    /// Where all rows stand.
    pub(super) fn standing(&self) -> Standing {
        stand(|state| self.tally.in_state(state))
    }

    /// Where the rows of one kind stand.
    pub(super) fn standing_of(&self, kind: Kind) -> Standing {
        stand(|state| self.tally.of(kind, state))
    }

    /// One line: counts of all rows, then [`Picture::pace_line`].
    pub(super) fn line(&self, tick: Tick, here: &TimeZone) -> String {
        let standing = self.standing();
        format!("{}; {}", standing.words(), self.pace_line(tick, here))
    }

    /// One line: requests a second, time to finish, quota.
    pub(super) fn pace_line(&self, tick: Tick, here: &TimeZone) -> String {
        let mut parts = vec![format!("{:.0} requests/s", self.request_pace.per_second(tick.elapsed))];
        match (self.parked_until, self.finish(tick)) {
            (Some(until), Some(finish)) if finish > until => {
                parts.push(format!("done about {}", moment(finish, here)));
            }
            (None, Some(finish)) if finish > tick.now => parts.push(if finish.day() == tick.now.day() {
                format!("about {} to go", span(finish.since(tick.now).max(Duration::from_secs(1))))
            } else {
                format!("done about {}", moment(finish, here))
            }),
            (Some(_) | None, Some(_) | None) => {}
        }
        match self.ceiling {
            Some(ceiling) => parts.push(format!(
                "quota {} of {} used, {} left",
                count(self.used),
                count(ceiling),
                count(ceiling.saturating_sub(self.used))
            )),
            None if self.used > 0 => {
                parts.push(format!("{} today", counted(self.used, "creation", "creations")));
            }
            None => {}
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
            format!("parked until {} ({} from now)", moment(until, here), span(until.since(tick.now)))
        })
    }

    /// The picture for programs.
    pub(super) fn object(&self, tick: Tick) -> Progressed {
        Progressed {
            object: "progress",
            at: tick.now.to_string(),
            standing: self.standing(),
            requests: self.requests,
            requests_per_second: (self.request_pace.per_second(tick.elapsed) * 10.0).round() / 10.0,
            quota_used: self.used,
            quota_ceiling: self.ceiling,
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

impl Standing {
    /// `done 12 of 30, 17 left, 1 failed`; held rows only when there are any.
    pub(super) fn words(self) -> String {
        let mut words =
            format!("{} of {} done, {} left", count(self.done), count(self.rows), count(self.left));
        if self.failed > 0 {
            words.push_str(&format!(", {} failed", count(self.failed)));
        }
        if self.held > 0 {
            words.push_str(&format!(", {} held", count(self.held)));
        }
        words
    }
}

fn stand(in_state: impl Fn(JobState) -> u64) -> Standing {
    let mut standing = Standing { rows: 0, done: 0, left: 0, failed: 0, held: 0 };
    for &state in JobState::ALL {
        let jobs = in_state(state);
        standing.rows += jobs;
        match state {
            JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => {
                standing.done += jobs;
            }
            JobState::Rejected | JobState::Skipped | JobState::Cancelled => standing.failed += jobs,
            JobState::Held => standing.held += jobs,
            JobState::Blocked
            | JobState::Ready
            | JobState::Deferred
            | JobState::Sending
            | JobState::InDoubt => standing.left += jobs,
        }
    }
    standing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{JobId, SheetId};

    fn tick(seconds: u64) -> Tick {
        let start = Moment::parse("2026-03-01T12:00:00Z").unwrap();
        Tick { now: start.plus(Duration::from_secs(seconds)), elapsed: Duration::from_secs(seconds) }
    }

    fn moved(from: JobState, to: JobState) -> Event {
        Event::Moved { job: JobId(1), kind: Kind::Device, from, to }
    }

    fn picture(devices: u64) -> Picture {
        let mut tally = Tally::default();
        tally.add(Kind::Device, JobState::Ready, devices);
        Picture::new(tally, tick(0))
    }

    #[test]
    fn the_line_tells_counts_pace_quota_and_time_to_finish() {
        let mut picture = picture(1_000);
        for second in 0..10 {
            for _ in 0..20 {
                let sent = Event::Sent { operation: Operation::AddDevice };
                assert_eq!(picture.take(&sent, tick(second), &TimeZone::UTC), None);
                let news = moved(JobState::Ready, JobState::Created);
                assert_eq!(picture.take(&news, tick(second), &TimeZone::UTC), None);
            }
        }
        assert_eq!(
            picture.line(tick(10), &TimeZone::UTC),
            "200 of 1,000 done, 800 left; 20 requests/s, about 40 s to go"
        );
        let quota = Event::QuotaUsed { used: 200, ceiling: Some(500) };
        assert_eq!(picture.take(&quota, tick(10), &TimeZone::UTC), None);
        assert_eq!(
            picture.line(tick(10), &TimeZone::UTC),
            "200 of 1,000 done, 800 left; 20 requests/s, done about 2026-03-02 00:00:25 UTC, \
             quota 200 of 500 used, 300 left"
        );
    }

    #[test]
    fn what_failed_and_what_is_held_is_counted_apart_and_the_counts_add_up() {
        let mut picture = picture(10);
        for to in [JobState::Rejected, JobState::Skipped, JobState::Adopted, JobState::InDoubt] {
            picture.take(&moved(JobState::Ready, to), tick(1), &TimeZone::UTC);
        }
        let told = picture.take(&moved(JobState::Ready, JobState::Held), tick(1), &TimeZone::UTC);
        assert_eq!(told.as_deref(), Some("a row of devices is held until a person decides (1 so far)"));
        let standing = picture.standing_of(Kind::Device);
        assert_eq!(standing, Standing { rows: 10, done: 1, left: 6, failed: 2, held: 1 });
        assert_eq!(standing.words(), "1 of 10 done, 6 left, 2 failed, 1 held");
    }

    #[test]
    fn every_notable_event_has_its_sentence() {
        let midnight = Moment::parse("2026-03-02T00:00:05Z").unwrap();
        let table = [
            (
                Event::Parked { until: midnight },
                "today's quota is spent; creations wait until 2026-03-02 00:00:05 UTC (12 h from now)",
            ),
            (Event::Woken, "creations go on"),
            (
                Event::SlowedDown { operation: Operation::AddSite, rate: 68.6 },
                "the service asks for a slower pace: addSite at 69 requests a second",
            ),
            (
                Event::Breaker {
                    operation: Operation::AddSite,
                    open: true,
                    reason: "20 failures in a row".into(),
                    next_try_in: Some(Duration::from_secs(5)),
                },
                "addSite is held back: 20 failures in a row; tried again in 5 s, one request at a time",
            ),
            (
                Event::Unreachable {
                    reason: "connection refused".into(),
                    retry_in: Duration::from_millis(500),
                },
                "the service cannot be reached: connection refused; next try in 1 s",
            ),
            (
                Event::ClockSkew { seconds: 90 },
                "this machine's clock is 1 min 30 s behind the service's; the service's counts",
            ),
            (
                Event::ClockSkew { seconds: -90 },
                "this machine's clock is 1 min 30 s ahead of the service's; the service's counts",
            ),
            (
                Event::SheetPaused {
                    sheet: SheetId(3),
                    title: "'Devices' of onboarding.xlsx".into(),
                    times: 50,
                    code: "invalidData".into(),
                    message: "device.costCentre: is required".into(),
                    asks: false,
                },
                "the sheet 'Devices' of onboarding.xlsx is set aside: the service refused 50 of its rows in a row with \
                 invalidData: device.costCentre: is required; everything else goes on",
            ),
            (Event::Draining { under_way: 0 }, "stopping: nothing is under way"),
            (
                Event::Draining { under_way: 1 },
                "stopping: waiting for 1 request under way (once more to stop at once)",
            ),
        ];
        for (event, expected) in table {
            let told = picture(1).take(&event, tick(0), &TimeZone::UTC);
            assert_eq!(told.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_slower_pace_is_told_once_for_each_operation() {
        let mut picture = picture(1);
        let mut told = |operation, rate| {
            picture.take(&Event::SlowedDown { operation, rate }, tick(1), &TimeZone::UTC).is_some()
        };
        assert!(told(Operation::AddSite, 68.6));
        assert!(!told(Operation::AddSite, 48.0));
        assert!(told(Operation::AddPerson, 68.6));
    }

    #[test]
    fn the_last_rows_are_never_done_in_no_time() {
        let mut picture = picture(100);
        for _ in 0..99 {
            picture.take(&moved(JobState::Ready, JobState::Created), tick(1), &TimeZone::UTC);
        }
        let line = picture.pace_line(tick(2), &TimeZone::UTC);
        assert!(line.ends_with("about 1 s to go"), "{line}");
    }

    #[test]
    fn that_an_operation_is_held_back_is_said_once_and_shown_until_it_goes_on() {
        let mut picture = picture(10);
        let operation = Operation::AddSite;
        let mut take = |open: bool, wait: Option<u64>, second: u64| {
            let next_try_in = wait.map(Duration::from_secs);
            let event = Event::Breaker { operation, open, reason: "a reason".into(), next_try_in };
            let told = picture.take(&event, tick(second), &TimeZone::UTC);
            (told, picture.pace_line(tick(second + 1), &TimeZone::UTC))
        };
        let (told, line) = take(true, Some(5), 0);
        let opened = "addSite is held back: a reason; tried again in 5 s, one request at a time";
        assert_eq!(told.as_deref(), Some(opened));
        assert_eq!(line, "0 requests/s, addSite held back, next try in 4 s");
        let (told, line) = take(true, Some(10), 5);
        assert_eq!((told, line.as_str()), (None, "0 requests/s, addSite held back, next try in 9 s"));
        let (told, line) = take(false, None, 15);
        assert_eq!(told.as_deref(), Some("addSite goes on: a reason"));
        assert_eq!(line, "0 requests/s");
        // It comes and goes: said again after a minute.
        assert_eq!(take(true, Some(1), 20).0, None);
        assert_eq!(take(false, None, 22).0, None);
        assert!(take(true, Some(1), 61).0.is_some());
        assert_eq!(take(true, Some(0), 62).1, "0 requests/s, addSite held back, being tried");
    }

    #[test]
    fn while_parked_the_rest_of_the_quota_does_not_count() {
        let mut picture = picture(100);
        let midnight = Moment::parse("2026-03-02T00:00:05Z").unwrap();
        picture.take(&Event::Parked { until: midnight }, tick(0), &TimeZone::UTC);
        assert_eq!(
            picture.parked_line(tick(0), &TimeZone::UTC).as_deref(),
            Some("parked until 2026-03-02 00:00:05 UTC (12 h from now)")
        );
        for second in 1..11 {
            picture.take(&moved(JobState::Ready, JobState::Created), tick(second), &TimeZone::UTC);
        }
        // Long after the last row: by the pace of before, from the moment creations go on.
        let estimate = picture.object(tick(3_600)).finish_estimate;
        assert_eq!(estimate.as_deref(), Some("2026-03-02T00:01:45Z"));
        picture.take(&Event::Woken, tick(1), &TimeZone::UTC);
        assert_eq!(picture.parked_line(tick(1), &TimeZone::UTC), None);
    }
}

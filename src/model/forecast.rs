//! When everything would be done, or the next event where that cannot be known. Plain arithmetic on facts.
//!
//! The one place that says so: the live display, `status`, JSON and the plan hand in what is [`Remaining`] and render what
//! comes out.

mod daily_creations;

use std::time::Duration;

use serde::Serialize;

use crate::model::operation::Operation;
use crate::model::remaining::{Doubts, Lane, Remaining, Unanswered};
use crate::model::time::{Moment, rfc_3339};
use crate::model::window::Standing;

pub use crate::model::remaining::Allowance;
pub use daily_creations::DayShare;
use daily_creations::{create, day_end, lasting, within};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Next {
    /// The first sign-in of the run is answered.
    SignedIn {
        /// Since when the run waits for that.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        since: Moment,
    },
    /// The service, or one operation that it fails at, is tried again.
    NextTry {
        /// The operation; `None` when the service cannot be reached at all.
        operation: Option<Operation>,
        /// When; `None` while a request finds out.
        #[serde(serialize_with = "rfc_3339_or_null")]
        #[cfg_attr(feature = "schemas", schemars(with = "Option<crate::model::time::Rfc3339>"))]
        at: Option<Moment>,
    },
    /// Creations go on: the quota of the next day.
    QuotaResets {
        /// When.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        at: Moment,
    },
    /// The hours come in which the run may send.
    HoursBegin {
        /// When.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        at: Moment,
    },
    /// The outcome of rows in doubt is settled by then, as long as look-ups are answered.
    DoubtSettled {
        /// How many rows.
        rows: u64,
        /// When; null where that is not known.
        #[serde(serialize_with = "rfc_3339_or_null")]
        #[cfg_attr(feature = "schemas", schemars(with = "Option<crate::model::time::Rfc3339>"))]
        at: Option<Moment>,
    },
    /// Records that the verification did not find are looked up until then.
    MissingLookedUp {
        /// How many records.
        records: u64,
        /// When.
        #[serde(serialize_with = "rfc_3339_or_null")]
        #[cfg_attr(feature = "schemas", schemars(with = "Option<crate::model::time::Rfc3339>"))]
        at: Option<Moment>,
    },
    /// The service has answered none of the requests under way for a while.
    Unanswered {
        /// How many requests.
        requests: u64,
        /// Since when no answer has come.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        since: Moment,
    },
    /// The run, which would have counted again by now, has noted nothing: its process may be suspended.
    Silent {
        /// Since when.
        #[serde(serialize_with = "rfc_3339")]
        #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
        since: Moment,
    },
}

fn rfc_3339_or_null<S: serde::Serializer>(at: &Option<Moment>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => rfc_3339(at, serializer),
        None => serializer.serialize_none(),
    }
}

/// When everything would be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forecast {
    /// When the last row would be done and verified; `None` where nobody can know.
    pub finish: Option<Moment>,
    /// UTC days on which something is created, counting today; `None` when it would never end.
    pub days: Option<u64>,
    /// What is created on each of these days; of very many, the first and the last.
    pub shares: Vec<DayShare>,
    /// What is waited for.
    pub next: Vec<Next>,
}

impl Forecast {
    /// The same with the rows in doubt that there are now: they are counted more often than what is left to do.
    #[must_use]
    pub fn with_in_doubt(mut self, now: u64) -> Self {
        self.next.retain_mut(|next| match next {
            Next::DoubtSettled { rows, .. } => {
                *rows = now;
                now > 0
            }
            Next::SignedIn { .. }
            | Next::NextTry { .. }
            | Next::QuotaResets { .. }
            | Next::HoursBegin { .. }
            | Next::MissingLookedUp { .. }
            | Next::Unanswered { .. }
            | Next::Silent { .. } => true,
        });
        self
    }
}

/// A pace beyond that of any machine, a second.
const UNLIMITED: f64 = 1e9;
/// A share below this says nothing of the next one.
const FEW: f64 = 0.1;
/// Expected doubts below this are taken to be none.
const HARDLY_ANY: f64 = 0.5;

/// Forecasts the end.
///
/// The operations run side by side, each at its own pace, so the longest of them decides; the quota may be longer. Most of
/// what was made is verified meanwhile, the rest once all of it is done. Answers that were lost so far will be lost again: the last of them take the time
/// to look them up, or to settle. A service that fails or cannot be reached leaves no end to be known.
pub fn forecast(facts: &Remaining) -> Forecast {
    let next = next(facts);
    let creating = || facts.making.iter().filter(|(operation, _)| operation.creates()).map(|(_, lane)| lane);
    let creations = requests_of(creating());
    let start = start(facts);
    let longest = longest(creating());
    let pace = longest.map(|longest| per_second(creations, longest));
    // On a later day, and once creations that were parked go on, all of a day is there again.
    let is_another_day = facts.parked_until.is_some() || start >= day_end(facts.at, facts.service_ahead_ms);
    let quota = facts.quota.map(|quota| match is_another_day {
        true => Allowance { today: quota.per_day, ..quota },
        false => quota,
    });
    let from = (start, facts.service_ahead_ms);
    let created = create(&facts.hours, creations, pace.unwrap_or(UNLIMITED), quota, from);
    let Some(created) = created else {
        return Forecast { next, ..Forecast::default() };
    };
    // Without a limit the pace is that of the machine, which nobody knows beforehand; the quota is known anyway.
    let (ended, shares) = match pace {
        Some(_) => (Some(created.finish), created.shares),
        None => (None, Vec::new()),
    };
    Forecast { finish: finish(facts, ended), days: Some(created.days), shares, next }
}

/// The same for facts that a run noted in the journal, seen from `now`: old ones say nothing of the end.
pub fn forecast_noted(facts: &Remaining, now: Moment) -> Forecast {
    match facts.is_overdue(now) {
        true => Forecast { next: vec![Next::Silent { since: facts.at }], ..Forecast::default() },
        false => forecast(facts),
    }
}

/// What is waited for.
fn next(facts: &Remaining) -> Vec<Next> {
    let mut next = Vec::new();
    if let Some(since) = facts.signing_in {
        next.push(Next::SignedIn { since });
    }
    if let Some(at) = facts.unreachable_until {
        next.push(Next::NextTry { operation: None, at: Some(at) });
    }
    for held_back in facts.held_back.iter().filter(|held_back| !held_back.brief) {
        next.push(Next::NextTry { operation: Some(held_back.operation), at: held_back.next_try });
    }
    if let Standing::Closed { until } = facts.hours.standing(facts.at) {
        next.push(Next::HoursBegin { at: until });
    }
    if let Some(at) = facts.parked_until {
        next.push(Next::QuotaResets { at });
    }
    let Doubts { rows, decided_by, .. } = facts.doubts;
    if rows > 0 {
        // After that the look-ups go on until one can be relied on; while the service fails nothing can be looked up.
        let at = decided_by.filter(|by| *by > facts.at && !facts.fails());
        next.push(Next::DoubtSettled { rows, at });
    }
    if facts.missing.records > 0 {
        next.push(Next::MissingLookedUp { records: facts.missing.records, at: facts.missing.looked_up_by });
    }
    if let Some(Unanswered { requests, since }) = facts.unanswered {
        next.push(Next::Unanswered { requests, since });
    }
    next
}

/// When the next creation may leave.
fn start(facts: &Remaining) -> Moment {
    let parked = facts.parked_until.into_iter();
    let doubts = (!facts.moving && facts.doubts.rows > 0).then(|| doubts_end(&facts.doubts)).flatten();
    facts.hours.opening(parked.chain(doubts).fold(facts.at, Moment::max))
}

/// When the present doubts are expected to be over: a look-up finds what was made, if it was.
fn doubts_end(doubts: &Doubts) -> Option<Moment> {
    if doubts.not_found > 0 { doubts.settled_by } else { doubts.first_look_by }
}

/// Whether the first look-up has ended nearly all doubts of this run so far. Before any was looked up that is expected only while
/// other rows are sent: where the doubts alone decide the end, nobody knows it.
fn found_at_once(facts: &Remaining) -> bool {
    match facts.doubts.looked_up {
        0 => facts.moving,
        _ => facts.doubts.share_not_found < FEW,
    }
}

/// When everything would be made and verified.
fn finish(facts: &Remaining, created: Option<Moment>) -> Option<Moment> {
    let quota_unknown = facts.parked_until.is_some() && facts.quota.is_none();
    let requests = requests_of(facts.making.values());
    // Nobody knows whether the service will know what these rows refer to.
    let mostly_unseen = facts.unseen * 2 > requests;
    if facts.fails() || quota_unknown || mostly_unseen || facts.missing.records > 0 {
        return None;
    }
    let hours = &facts.hours;
    let making = together(facts, facts.making.values())?;
    let steps = hours.after(facts.at, making)?;
    let doubts = &facts.doubts;
    let made = created?.max(steps).max(facts.deferred_until.unwrap_or(facts.at));
    let made = match tail(facts) {
        Duration::ZERO => made,
        // The time goes on outside the hours; what it leads to is sent within them.
        tail => hours.opening(made.plus(tail)),
    };
    let made = match (doubts.rows, doubts.not_found) {
        (0, _) => made,
        (_, 0) if found_at_once(facts) => made.max(doubts.first_look_by.unwrap_or(made)),
        // Nobody knows yet: found by a later look-up, or sent again when it has settled, or for a person.
        _ if !facts.moving || doubts.decided_by.is_none_or(|by| by > made) => return None,
        _ => made,
    };
    let end = made.max(hours.after(facts.at, verifying(facts, making)?)?);
    match together(facts, facts.verifying_at_end.values())? {
        Duration::ZERO => Some(end),
        at_end => hours.after(end, at_end),
    }
}

/// How long everything is verified, as far as that goes on beside what is made, which takes `making`. After that nothing else
/// takes a share of the requests that may be under way.
fn verifying(facts: &Remaining, making: Duration) -> Option<Duration> {
    let beside: Vec<Lane> =
        facts.verifying.iter().map(|(operation, lane)| facts.beside(*operation, lane)).collect();
    let alone = longest(beside.iter())?;
    let left: Vec<Lane> = beside
        .iter()
        .map(|lane| {
            let meanwhile = within(making, lane.pace.or(lane.limit).unwrap_or_default());
            let requests = lane.requests.saturating_sub(meanwhile);
            Lane { requests, pace: lane.limit.or(lane.pace), ..*lane }
        })
        .collect();
    let after = together(facts, left.iter())?;
    let all = requests_of(facts.making.values().chain(facts.verifying.values()));
    Some(alone.min(making.saturating_add(after)).max(at_least(facts, all)))
}

/// How long these take side by side; `None` when the pace of one is not known.
fn together<'a>(facts: &Remaining, lanes: impl Iterator<Item = &'a Lane> + Clone) -> Option<Duration> {
    Some(longest(lanes.clone())?.max(at_least(facts, requests_of(lanes))))
}

/// How long so many requests take at least, of whatever operations: as many as may be under way at once are answered in the time
/// that an answer takes. The last of them leaves anywhere in that time.
fn at_least(facts: &Remaining, requests: u64) -> Duration {
    match facts.answer_time {
        Some(answer_time) if requests > 0 => {
            #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
            let rounds = requests as f64 / facts.at_once.max(1) as f64 + 0.5;
            Duration::try_from_secs_f64(answer_time.as_secs_f64() * rounds.max(1.0)).unwrap_or(Duration::MAX)
        }
        Some(_) | None => Duration::ZERO,
    }
}

fn requests_of<'a>(lanes: impl Iterator<Item = &'a Lane>) -> u64 {
    lanes.map(|lane| lane.requests).sum()
}

/// How long the last answers that will be lost take after the last request.
fn tail(facts: &Remaining) -> Duration {
    let doubts = &facts.doubts;
    let sending = facts.making.iter().filter(|(operation, _)| !operation.looks_up());
    let requests = requests_of(sending.map(|(_, lane)| lane));
    let Some(longest) = longest(facts.making.values()).filter(|longest| !longest.is_zero()) else {
        return Duration::ZERO;
    };
    let within = |span: Duration| {
        #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
        let all = requests as f64;
        all.min(per_second(requests, longest) * span.as_secs_f64()) * doubts.share
    };
    let mut not_found = within(doubts.settle) * doubts.share_not_found;
    let mut settling = Duration::ZERO;
    // What is sent again is lost again as often.
    while not_found >= HARDLY_ANY {
        settling += doubts.settle;
        not_found *= (doubts.share * doubts.share_not_found).min(HARDLY_ANY);
    }
    if settling.is_zero() && within(doubts.first_look) >= HARDLY_ANY { doubts.first_look } else { settling }
}

/// How long the longest of these takes; `None` when its pace is not known.
fn longest<'a>(lanes: impl Iterator<Item = &'a Lane>) -> Option<Duration> {
    let mut longest = Duration::ZERO;
    for lane in lanes.filter(|lane| lane.requests > 0) {
        longest = longest.max(lasting(lane.requests, lane.pace.or(lane.limit)?)?);
    }
    Some(longest)
}

fn per_second(requests: u64, length: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let requests = requests as f64;
    if length.is_zero() { UNLIMITED } else { requests / length.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remaining::{HeldBack, Missing};
    use crate::model::window::{SendingHours, Windows};
    use jiff::tz::TimeZone;

    fn at(text: &str) -> Moment {
        Moment::parse(&format!("2026-03-01T{text}Z")).unwrap()
    }

    fn lane(requests: u64, limit: f64) -> Lane {
        Lane { requests, limit: Some(limit), pace: None }
    }

    /// So many devices to create at noon.
    fn devices(requests: u64, pace: f64, allowance: Option<(u64, u64)>) -> Remaining {
        Remaining {
            at: at("12:00:00"),
            making: [(Operation::AddDevice, lane(requests, pace))].into(),
            moving: true,
            quota: allowance.map(|(per_day, today)| Allowance { per_day, today }),
            ..Remaining::default()
        }
    }

    fn finish(facts: &Remaining) -> Option<String> {
        forecast(facts).finish.map(|finish| finish.to_string())
    }

    #[test]
    fn what_a_run_noted_is_no_forecast_once_it_would_have_counted_again() {
        let noted = devices(1_000, 10.0, None);
        let later = |seconds| at("12:00:00").plus(Duration::from_secs(seconds));
        assert_eq!(forecast_noted(&noted, later(100)), forecast(&noted));
        let silent = Forecast { next: vec![Next::Silent { since: at("12:00:00") }], ..Forecast::default() };
        assert_eq!(forecast_noted(&noted, later(121)), silent);
        // What may hold for long is not counted again, and nor is nothing.
        let may_hold = [
            Remaining { parked_until: Some(later(40_000)), ..noted.clone() },
            Remaining { signing_in: Some(at("12:00:00")), ..noted.clone() },
            Remaining { moving: false, ..noted.clone() },
            Remaining { unreachable_until: Some(later(60)), ..noted.clone() },
            Remaining {
                unanswered: Some(Unanswered { requests: 3, since: at("11:59:00") }),
                ..noted.clone()
            },
            Remaining { making: [].into(), ..noted },
        ];
        for noted in may_hold {
            assert_eq!(forecast_noted(&noted, later(3_600)), forecast(&noted), "{noted:?}");
        }
    }

    #[test]
    fn a_quota_turns_seconds_into_days() {
        let table = [
            (0, 98.0, None, Some(("2026-03-01T12:00:00Z", 0))),
            (980, 98.0, None, Some(("2026-03-01T12:00:10Z", 1))),
            (980, 98.0, Some((10_000, 10_000)), Some(("2026-03-01T12:00:10Z", 1))),
            // 400 today, 500 tomorrow, 80 on the third day.
            (980, 98.0, Some((500, 400)), Some(("2026-03-03T00:00:00Z", 3))),
            // Nothing is left today: two days, tomorrow and the one after.
            (980, 98.0, Some((500, 0)), Some(("2026-03-03T00:00:04Z", 2))),
            // Exactly today's rest and one whole day.
            (1_000, 100.0, Some((500, 500)), Some(("2026-03-02T00:00:05Z", 2))),
            // The pace, not the quota, is what takes long.
            (100_000, 1.0, None, Some(("2026-03-02T15:46:40Z", 2))),
            (980, 98.0, Some((0, 0)), None),
            (980, 0.0, None, None),
        ];
        for (creations, pace, allowance, expected) in table {
            let got = forecast(&devices(creations, pace, allowance));
            let got = got.finish.map(|finish| (finish.to_string(), got.days.unwrap()));
            let expected = expected.map(|(finish, days)| (finish.to_owned(), days));
            assert_eq!(got, expected, "{creations} {pace} {allowance:?}");
        }
    }

    #[test]
    fn the_days_are_those_of_the_service_whatever_this_machines_clock_says() {
        // Parked until the day of the service begins: 1,100 creations take three days of 400.
        for (ahead_s, parked_until, days) in [
            (
                0,
                "2026-03-02T00:00:00Z",
                ["2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "2026-03-04T00:00:00Z"],
            ),
            (
                10,
                "2026-03-01T23:59:50Z",
                ["2026-03-01T23:59:50Z", "2026-03-02T23:59:50Z", "2026-03-03T23:59:50Z"],
            ),
            (
                -600,
                "2026-03-02T00:10:00Z",
                ["2026-03-02T00:10:00Z", "2026-03-03T00:10:00Z", "2026-03-04T00:10:00Z"],
            ),
        ] {
            let parked = Moment::parse(parked_until);
            for windows in [None, Windows::new(vec!["00:00-24:00".parse().unwrap()], TimeZone::UTC)] {
                let facts = Remaining {
                    parked_until: parked,
                    service_ahead_ms: ahead_s * 1_000,
                    hours: SendingHours { from: None, windows },
                    ..devices(1_100, 100.0, Some((400, 0)))
                };
                let told = forecast(&facts);
                let from: Vec<_> = told.shares.iter().map(|share| share.from.to_string()).collect();
                assert_eq!(from, days, "{ahead_s}");
                assert_eq!(told.finish, Moment::parse(days[2]).map(|day| day.plus(Duration::from_secs(3))));
            }
        }
    }

    #[test]
    fn the_hours_in_which_a_run_may_send_decide_how_much_a_day_takes() {
        let hours = |between: &str| {
            let windows = Windows::new(vec![between.parse().unwrap()], TimeZone::UTC);
            SendingHours { from: None, windows: windows.filter(|_| !between.is_empty()) }
        };
        let table = [
            // Noon is outside: it begins at 22:00.
            ("22:00-06:00", 980, 98.0, None, "2026-03-01T22:00:10Z", 1),
            // An hour of one a second before midnight, then two hours of the next day.
            ("23:00-06:00", 10_800, 1.0, None, "2026-03-02T02:00:00Z", 2),
            // Two hours a day: the third day has the rest.
            ("13:00-15:00", 18_000, 1.0, None, "2026-03-03T14:00:00Z", 3),
            // The quota is spent before the window closes.
            ("13:00-15:00", 900, 1.0, Some((500, 400)), "2026-03-02T13:08:20Z", 2),
            // What is left of today's quota says nothing of tomorrow, when it begins.
            ("06:00-08:00", 900, 1.0, Some((500, 100)), "2026-03-03T06:06:40Z", 2),
        ];
        for (between, creations, pace, allowance, expected, days) in table {
            let facts = Remaining { hours: hours(between), ..devices(creations, pace, allowance) };
            let told = forecast(&facts);
            assert_eq!(told.finish.unwrap().to_string(), expected, "{between} {creations}");
            assert_eq!(told.days, Some(days), "{between} {creations}");
            assert_eq!(told.shares.iter().map(|share| share.creations).sum::<u64>(), creations);
        }
        let facts = Remaining { hours: hours("13:00-15:00"), ..devices(10, 98.0, None) };
        assert_eq!(forecast(&facts).next, [Next::HoursBegin { at: at("13:00:00") }]);
        let never = Remaining { hours: hours("13:00-15:00"), ..devices(1_000_000_000, 1.0, None) };
        assert_eq!(forecast(&never).finish, None);
    }

    #[test]
    fn the_days_are_listed_with_what_each_of_them_takes_and_only_the_last_of_very_many() {
        let shares = forecast(&devices(980, 100.0, Some((500, 400)))).shares;
        let lines: Vec<_> =
            shares.iter().map(|s| format!("{} {} {}", s.from, s.until, s.creations)).collect();
        assert_eq!(
            lines,
            [
                "2026-03-01T12:00:00Z 2026-03-01T12:00:04Z 400",
                "2026-03-02T00:00:00Z 2026-03-02T00:00:05Z 500",
                "2026-03-03T00:00:00Z 2026-03-03T00:00:00Z 80",
            ]
        );
        let long = forecast(&devices(1_000_000, 100.0, Some((1, 1))));
        assert_eq!((long.days, long.shares.len()), (Some(1_000_000), 32));
        assert_eq!(long.shares.last().map(|share| share.until), long.finish);
    }

    #[test]
    fn the_longest_operation_decides_at_the_pace_it_has_and_lists_that_verify_come_after_it() {
        let mut facts = devices(980, 98.0, None);
        facts.making.insert(Operation::PutDeviceLabels, lane(1_960, 98.0));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:20Z"));
        facts.making.insert(Operation::AddDevice, Lane { pace: Some(24.5), ..lane(980, 98.0) });
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:40Z"), "slower than its limit");
        facts.verifying.insert(Operation::GetDevice, lane(2_940, 98.0));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:40Z"), "verified meanwhile");
        facts.verifying.insert(Operation::FindSitesByName, lane(2_940, 98.0));
        facts.making.insert(Operation::FindSitesByName, lane(1_960, 98.0));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:50Z"), "an operation that both need");
        facts.verifying_at_end.insert(Operation::GetChildCompanies, lane(980, 98.0));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:01:00Z"));
        let unlimited = Remaining {
            making: [(Operation::AddDevice, Lane { requests: 9, ..Lane::default() })].into(),
            ..devices(0, 98.0, None)
        };
        assert_eq!((finish(&unlimited), forecast(&unlimited).days), (None, Some(1)), "nobody knows the pace");
    }

    #[test]
    fn a_service_that_fails_leaves_no_end_to_be_known_but_the_next_try() {
        let mut facts = devices(980, 98.0, None);
        let held_back = |next_try, brief| HeldBack { operation: Operation::AddDevice, next_try, brief };
        facts.held_back = vec![held_back(Some(at("12:04:22")), false)];
        let next = |operation, next_try| Next::NextTry { operation, at: next_try };
        let told = forecast(&facts);
        assert_eq!(told.finish, None);
        assert_eq!(told.next, [next(Some(Operation::AddDevice), Some(at("12:04:22")))]);
        facts.held_back = vec![held_back(Some(at("12:00:01")), true)];
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:10Z"), "the pace includes it");
        facts.unreachable_until = Some(at("12:00:30"));
        let told = forecast(&facts);
        assert_eq!((told.finish, told.next), (None, vec![next(None, Some(at("12:00:30")))]));
    }

    #[test]
    fn rows_in_doubt_are_settled_by_a_moment_and_the_end_is_not_invented() {
        let mut facts = devices(0, 98.0, None);
        facts.verifying.insert(Operation::GetDeviceByMac, lane(980, 98.0));
        facts.doubts = Doubts {
            rows: 9,
            first_look_by: Some(at("12:00:04")),
            settled_by: Some(at("12:10:00")),
            decided_by: Some(at("12:10:40")),
            ..Doubts::default()
        };
        let settled = Next::DoubtSettled { rows: 9, at: Some(at("12:10:40")) };
        facts.moving = false;
        assert_eq!(finish(&facts), None, "none was looked up, and they alone decide the end");
        facts.moving = true;
        assert_eq!(finish(&facts), Some("2026-03-01T12:00:10Z".to_owned()));
        (facts.doubts.looked_up, facts.doubts.share_not_found) = (20, 0.5);
        assert_eq!(finish(&facts), None, "every second one was not found");
        facts.doubts.share_not_found = 0.0;
        let told = forecast(&facts);
        assert_eq!(told.finish, Some(at("12:00:10")), "the first look-up finds what was made");
        assert_eq!(told.next, [settled]);
        facts.doubts.not_found = 1;
        let told = forecast(&facts);
        assert_eq!((told.finish, told.next), (None, vec![settled]));
        // What else is to be made takes longer than that.
        facts.making.insert(Operation::AddDevice, lane(98_000, 98.0));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:16:40Z"));
        // It stays as it is while the last look-ups go on, and past it no other moment is promised.
        facts.doubts.settled_by = Some(at("11:59:59"));
        assert_eq!(forecast(&facts).next, [settled]);
        facts.doubts.decided_by = Some(at("11:59:59"));
        assert_eq!(forecast(&facts).next, [Next::DoubtSettled { rows: 9, at: None }]);
        facts.doubts.decided_by = Some(at("12:10:40"));
        facts.unreachable_until = Some(at("12:00:30"));
        assert_eq!(
            forecast(&facts).next[1],
            Next::DoubtSettled { rows: 9, at: None },
            "nothing is looked up"
        );
    }

    #[test]
    fn answers_that_were_lost_so_far_will_be_lost_to_the_end() {
        let mut facts = devices(980, 98.0, None);
        facts.doubts = Doubts {
            share: 0.05,
            first_look: Duration::from_secs(4),
            settle: Duration::from_secs(60),
            ..Doubts::default()
        };
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:14Z"), "found by the first look-up");
        facts.doubts.share_not_found = 1.0;
        // 49 of 980 are sent again, and two or three of those.
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:02:10Z"));
        facts.doubts.share = 0.000_1;
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:10Z"), "hardly one");
    }

    #[test]
    fn no_more_is_answered_than_may_be_under_way_at_once() {
        let mut facts = devices(980, 98.0, None);
        (facts.at_once, facts.answer_time) = (100, Some(Duration::from_millis(200)));
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:10Z"), "the limit decides");
        facts.answer_time = Some(Duration::from_secs(10));
        // 9.8 rounds, and the last request leaves within one.
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:01:43Z"));
        facts.making = [(Operation::AddDevice, lane(3, 98.0))].into();
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:10Z"), "one answer");
    }

    #[test]
    fn verification_that_has_a_share_beside_what_is_made_has_all_after_it() {
        let mut facts = devices(1_000, 100.0, None);
        let slow = Lane { pace: Some(20.0), ..lane(1_000, 100.0) };
        facts.verifying = [(Operation::GetDevice, slow)].into();
        // 200 in the ten seconds of the creations, 800 at the limit of the operation.
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:18Z"));
        (facts.at_once, facts.answer_time) = (100, Some(Duration::from_secs(2)));
        // At most 50 a second of both together.
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:41Z"));
    }

    #[test]
    fn a_spent_quota_is_waited_for_and_its_end_is_known_when_the_quota_is() {
        let mut facts = devices(980, 98.0, Some((500, 0)));
        let morning = Moment::parse("2026-03-02T00:00:03Z").unwrap();
        facts.parked_until = Some(morning);
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-03T00:00:04Z"));
        assert_eq!(forecast(&facts).next, [Next::QuotaResets { at: morning }]);
        facts.quota = None;
        assert_eq!(finish(&facts), None);
    }

    #[test]
    fn where_most_rows_wait_for_what_the_service_does_not_show_yet_no_end_is_invented() {
        let mut facts = devices(980, 98.0, None);
        facts.unseen = 9;
        assert_eq!(finish(&facts).as_deref(), Some("2026-03-01T12:00:10Z"));
        facts.unseen = 980;
        assert_eq!(finish(&facts), None);
    }

    #[test]
    fn records_that_are_not_found_leave_no_end_to_be_known() {
        let mut facts = devices(0, 98.0, None);
        facts.missing = Missing { records: 2, looked_up_by: Some(at("12:04:18")) };
        let told = forecast(&facts);
        assert_eq!(told.finish, None);
        assert_eq!(told.next, [Next::MissingLookedUp { records: 2, at: Some(at("12:04:18")) }]);
    }
}

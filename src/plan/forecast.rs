//! When so many creations would be finished, given a pace and a daily quota. Plain arithmetic on UTC days.

use std::time::Duration;

use serde::Serialize;

use crate::model::time::Moment;

/// The day's quota as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Creations that a day allows us.
    pub per_day: u64,
    /// Creations that today still allows us.
    pub today: u64,
}

/// The creations of one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DayShare {
    /// When the first of them would be sent.
    #[serde(serialize_with = "written")]
    pub from: Moment,
    /// When the last of them would be done.
    #[serde(serialize_with = "written")]
    pub until: Moment,
    /// How many.
    pub creations: u64,
}

fn written<S: serde::Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// When a number of creations would be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forecast {
    /// When the last one would be done.
    pub finish: Moment,
    /// UTC days on which something is created, counting today.
    pub days: u64,
    /// The first of these days, and the last.
    pub shares: Vec<DayShare>,
}

/// Days that are listed one by one; of more, the last is listed as well.
const LISTED: u64 = 30;

/// Forecasts the end of `creations` at `pace` a second, starting at `now`; without an allowance, no day stops it.
/// `None` when it would never end: no pace, or a quota of nothing.
pub fn forecast(creations: u64, pace: f64, allowance: Option<Allowance>, now: Moment) -> Option<Forecast> {
    if creations == 0 {
        return Some(Forecast { finish: now, days: 0, shares: Vec::new() });
    }
    let tomorrow = now.day().start().plus(DAY);
    let today =
        within(tomorrow.since(now), pace).min(allowance.map_or(u64::MAX, |allowance| allowance.today));
    let per_day = within(DAY, pace).min(allowance.map_or(u64::MAX, |allowance| allowance.per_day));
    let mut shares = Vec::new();
    let mut share = |from: Moment, creations: u64| -> Option<Moment> {
        let until = from.plus(lasting(creations, pace)?);
        shares.push(DayShare { from, until, creations });
        Some(until)
    };
    let at_once = creations.min(today);
    let mut days = u64::from(at_once > 0);
    let mut finish = now;
    if at_once > 0 {
        finish = share(now, at_once)?;
    }
    let rest = creations - at_once;
    if rest > 0 {
        if per_day == 0 {
            return None;
        }
        let later = rest.div_ceil(per_day);
        days += later;
        let on_the_last = rest - (later - 1) * per_day;
        let morning = |day: u64| tomorrow.plus(DAY.saturating_mul(u32::try_from(day).unwrap_or(u32::MAX)));
        for day in 0..(later - 1).min(LISTED) {
            share(morning(day), per_day)?;
        }
        finish = share(morning(later - 1), on_the_last)?;
    }
    Some(Forecast { finish, days, shares })
}

const DAY: Duration = Duration::from_secs(86_400);

/// How many creations go into a span of time.
fn within(span: Duration, pace: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, and what is too large stops at the largest number"
    )]
    let creations = (span.as_secs_f64() * pace).floor() as u64;
    creations
}

fn lasting(creations: u64, pace: f64) -> Option<Duration> {
    if !pace.is_finite() || pace <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let seconds = creations as f64 / pace;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(creations: u64, pace: f64, allowance: Option<(u64, u64)>) -> Option<(String, u64)> {
        let now = Moment::parse("2026-03-01T12:00:00Z").unwrap();
        let allowance = allowance.map(|(per_day, today)| Allowance { per_day, today });
        forecast(creations, pace, allowance, now).map(|f| (f.finish.to_string(), f.days))
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
            let expected = expected.map(|(finish, days)| (finish.to_owned(), days));
            assert_eq!(told(creations, pace, allowance), expected, "{creations} {pace} {allowance:?}");
        }
    }

    #[test]
    fn the_days_are_listed_with_what_each_of_them_takes_and_only_the_last_of_very_many() {
        let now = Moment::parse("2026-03-01T12:00:00Z").unwrap();
        let told = |creations, per_day, today| {
            let allowance = Allowance { per_day, today };
            forecast(creations, 100.0, Some(allowance), now).unwrap()
        };
        let shares = told(980, 500, 400).shares;
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
        let long = told(1_000_000, 1, 1);
        assert_eq!((long.days, long.shares.len()), (1_000_000, 32));
        assert_eq!(long.shares.last().unwrap().until, long.finish);
    }
}

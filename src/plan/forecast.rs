//! When so many creations would be finished, given a pace and a daily quota. Plain arithmetic on UTC days.

use std::time::Duration;

use crate::model::time::Moment;

/// The day's quota as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Creations that a day allows us.
    pub per_day: u64,
    /// Creations that today still allows us.
    pub today: u64,
}

/// When a number of creations would be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// When the last one would be done.
    pub finish: Moment,
    /// UTC days on which something is created, counting today.
    pub days: u64,
}

/// Forecasts the end of `creations` at `pace` a second, starting at `now`; without an allowance, no day stops it.
/// `None` when it would never end: no pace, or a quota of nothing.
pub fn forecast(creations: u64, pace: f64, allowance: Option<Allowance>, now: Moment) -> Option<Forecast> {
    if creations == 0 {
        return Some(Forecast { finish: now, days: 0 });
    }
    let steady = now.plus(lasting(creations, pace)?);
    let Some(allowance) = allowance else {
        return Some(Forecast { finish: steady, days: days_between(now, steady) });
    };
    let rest = creations.saturating_sub(allowance.today);
    if rest == 0 {
        return Some(Forecast { finish: steady, days: days_between(now, steady) });
    }
    if allowance.per_day == 0 {
        return None;
    }
    let later_days = rest.div_ceil(allowance.per_day);
    let on_the_last = rest - (later_days - 1) * allowance.per_day;
    let last_day = now.day().start().plus(DAY.saturating_mul(u32::try_from(later_days).unwrap_or(u32::MAX)));
    let finish = last_day.plus(lasting(on_the_last, pace)?).max(steady);
    Some(Forecast { finish, days: later_days + u64::from(allowance.today > 0) })
}

const DAY: Duration = Duration::from_secs(86_400);

fn lasting(creations: u64, pace: f64) -> Option<Duration> {
    if !pace.is_finite() || pace <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let seconds = creations as f64 / pace;
    Duration::try_from_secs_f64(seconds).ok()
}

fn days_between(from: Moment, to: Moment) -> u64 {
    u64::try_from(to.day().number() - from.day().number()).unwrap_or(0) + 1
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
}

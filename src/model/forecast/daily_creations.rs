//! The creations that are left, on the UTC days on which the quota, the hours and the pace let them leave.

use std::time::Duration;

use serde::Serialize;

use crate::model::remaining::Allowance;
use crate::model::time::{Moment, rfc_3339};
use crate::model::window::SendingHours;

/// Days that are listed one by one; of more, the last is listed as well.
const LISTED: u64 = 30;
/// More days are waited for by nobody.
const MOST_DAYS: u64 = 3_660;
const DAY: Duration = Duration::from_secs(86_400);

/// The creations of one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DayShare {
    /// When the first of them would be sent.
    #[serde(serialize_with = "rfc_3339")]
    #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
    pub from: Moment,
    /// When the last of them would be done.
    #[serde(serialize_with = "rfc_3339")]
    #[cfg_attr(feature = "schemas", schemars(with = "crate::model::time::Rfc3339"))]
    pub until: Moment,
    /// How many.
    pub creations: u64,
}

/// The creations on their days.
pub(super) struct Created {
    pub(super) finish: Moment,
    pub(super) days: u64,
    pub(super) shares: Vec<DayShare>,
}

/// When the day of the service ends that it is `at` a moment of this machine's clock, by this machine's clock; the service's
/// is ahead by so many milliseconds.
pub(super) fn day_end(at: Moment, service_ahead_ms: i64) -> Moment {
    let there = Moment::from_millis(at.millis().saturating_add(service_ahead_ms));
    let end = there.day().start().plus(DAY);
    Moment::from_millis(end.millis().saturating_sub(service_ahead_ms))
}

/// When so many creations would be done at `pace` a second from `start` on; without an allowance, no day stops it. The days
/// are those of the service, whose clock is ahead by so many milliseconds. `None` when it would never end: no pace, or a
/// quota of nothing.
pub(super) fn create(
    creations: u64,
    pace: f64,
    allowance: Option<Allowance>,
    (start, service_ahead_ms): (Moment, i64),
) -> Option<Created> {
    if creations == 0 {
        return Some(Created { finish: start, days: 0, shares: Vec::new() });
    }
    let tomorrow = day_end(start, service_ahead_ms);
    let today =
        within(tomorrow.since(start), pace).min(allowance.map_or(u64::MAX, |allowance| allowance.today));
    let per_day = within(DAY, pace).min(allowance.map_or(u64::MAX, |allowance| allowance.per_day));
    let mut shares = Vec::new();
    let mut share = |from: Moment, creations: u64| -> Option<Moment> {
        let until = from.plus(lasting(creations, pace)?);
        shares.push(DayShare { from, until, creations });
        Some(until)
    };
    let at_once = creations.min(today);
    let mut days = u64::from(at_once > 0);
    let mut finish = start;
    if at_once > 0 {
        finish = share(start, at_once)?;
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
    Some(Created { finish, days, shares })
}

/// The same within the hours in which a run may send: a day has the creations for which its open time is long enough.
pub(super) fn create_within(
    hours: &SendingHours,
    creations: u64,
    pace: f64,
    allowance: Option<Allowance>,
    (start, service_ahead_ms): (Moment, i64),
) -> Option<Created> {
    let mut created = Created { finish: start, days: 0, shares: Vec::new() };
    let (mut left, mut at) = (creations, start);
    for number in 0..MOST_DAYS {
        if left == 0 {
            return Some(created);
        }
        let tomorrow = day_end(at, service_ahead_ms);
        let allowed = allowance.map_or(u64::MAX, |allowance| match number {
            0 => allowance.today,
            _ => allowance.per_day,
        });
        let today = within(hours.within(at, tomorrow), pace).min(allowed).min(left);
        if today > 0 {
            let (from, until) = (hours.opening(at), hours.after(at, lasting(today, pace)?)?);
            left -= today;
            created.days += 1;
            created.finish = until;
            if created.days <= LISTED || left == 0 {
                created.shares.push(DayShare { from, until, creations: today });
            }
        }
        at = tomorrow;
    }
    None
}

/// How many creations go into a span of time.
pub(super) fn within(span: Duration, pace: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate, and what is too large stops at the largest number"
    )]
    let creations = (span.as_secs_f64() * pace).floor() as u64;
    creations
}

/// How long so many take; `None` without a pace.
pub(super) fn lasting(creations: u64, pace: f64) -> Option<Duration> {
    if !pace.is_finite() || pace <= 0.0 {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let seconds = creations as f64 / pace;
    Duration::try_from_secs_f64(seconds).ok()
}

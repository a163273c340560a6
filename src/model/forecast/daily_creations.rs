//! The creations that are left, on the UTC days on which the quota, the hours and the pace let them leave.

use std::time::Duration;

use serde::Serialize;

use crate::model::remaining::Allowance;
use crate::model::time::{Moment, rfc_3339};
use crate::model::window::SendingHours;

/// Days that are listed one by one; of more, the last is listed as well.
const LISTED: u64 = 30;
/// More days are waited for by nobody, where a run may send only within windows.
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

/// When so many creations would be done at `pace` a second from `start` on: a day has the creations for which its time is
/// long enough in which a run may send; without an allowance, nothing else stops it. The days are those of the service, whose
/// clock is ahead by so many milliseconds. `None` when it would never end: no pace, or a quota of nothing.
pub(super) fn create(
    hours: &SendingHours,
    creations: u64,
    pace: f64,
    allowance: Option<Allowance>,
    (start, service_ahead_ms): (Moment, i64),
) -> Option<Created> {
    let mut created = Created { finish: start, days: 0, shares: Vec::new() };
    let (mut left, mut at) = (creations, start);
    for number in 0_u64.. {
        if left == 0 {
            break;
        }
        let tomorrow = day_end(at, service_ahead_ms);
        let allowed = allowance.map_or(u64::MAX, |allowance| match number {
            0 => allowance.today,
            _ => allowance.per_day,
        });
        let today = within(hours.within(at, tomorrow), pace).min(allowed).min(left);
        // Without windows every later day is like the second.
        let (is_endless, is_among_first) = match hours.windows {
            None => (number > 0 && today == 0, number <= LISTED),
            Some(_) => (number == MOST_DAYS, created.days < LISTED),
        };
        if is_endless {
            return None;
        }
        if today > 0 {
            let (from, until) = (hours.opening(at), hours.after(at, lasting(today, pace)?)?);
            left -= today;
            created.days += 1;
            created.finish = until;
            if is_among_first || left == 0 {
                created.shares.push(DayShare { from, until, creations: today });
            }
        }
        at = tomorrow;
    }
    Some(created)
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

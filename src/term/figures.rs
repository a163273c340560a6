//! Numbers, lengths of time and moments as a person reads them.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::model::time::Moment;
use crate::plan::forecast::Next;

pub use crate::model::amount::{count, counted};

/// What comes next, in words, seen from `now`.
pub fn awaited(next: &Next, now: Moment, here: &TimeZone) -> String {
    let at = |at: Moment| near(at, now, here);
    match *next {
        Next::NextTry { operation: Some(operation), at: Some(try_at) } => {
            format!("{operation} paused, next try {}", at(try_at))
        }
        Next::NextTry { operation: Some(operation), at: None } => {
            format!("{operation} paused, being tried now")
        }
        Next::NextTry { operation: None, at: Some(try_at) } => {
            format!("the service cannot be reached, next try {}", at(try_at))
        }
        Next::NextTry { operation: None, at: None } => {
            "the service cannot be reached, being tried now".to_owned()
        }
        Next::QuotaResets { at: morning } => format!(
            "today's quota is spent, creations wait {}, until {}",
            span(morning.since(now).max(Duration::from_secs(1))),
            short_moment(morning, here)
        ),
        Next::DoubtSettled { rows, at: Some(by) } => {
            format!("in doubt {}, settled by {}", count(rows), at(by))
        }
        Next::DoubtSettled { rows, at: None } => format!("in doubt {}", count(rows)),
        Next::MissingLookedUp { records, at: until } => {
            let until =
                until.map_or_else(String::new, |until| format!(", looked up again until {}", at(until)));
            format!("{} not found yet{until}", counted(records, "record", "records"))
        }
    }
}

/// When everything will be done, in words, seen from `now`.
pub fn expected(finish: Moment, now: Moment, here: &TimeZone) -> String {
    let left = span(finish.since(now).max(Duration::from_secs(1)));
    format!("done about {}, in {left}", near(finish, now, here))
}

/// The time of day where it is that of today, else the day as well.
fn near(at: Moment, now: Moment, here: &TimeZone) -> String {
    if at.day() == now.day() { time_of_day(at, here) } else { short_moment(at, here) }
}

/// A length of time in its two largest units: `3 min 20 s`.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => two(minutes, "min", seconds % 60, "s"),
        (0, _, _) => two(hours, "h", minutes, "min"),
        _ => two(days, "d", hours, "h"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

/// A moment in UTC and, where the clock on the wall shows something else, in local time.
pub fn moment(moment: Moment, here: &TimeZone) -> String {
    let utc = moment.civil();
    let Ok(stamp) = jiff::Timestamp::from_millisecond(moment.millis()) else {
        return moment.to_string();
    };
    let local = stamp.to_zoned(here.clone());
    let shown = utc.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    if local.datetime() == utc {
        shown
    } else if local.date() == utc.date() {
        format!("{shown} ({} here)", local.strftime("%H:%M:%S"))
    } else {
        format!("{shown} ({} here)", local.strftime("%Y-%m-%d %H:%M:%S"))
    }
}

/// The same to the minute, for a line that must stay short; the local day comes last, and only where it is another one.
pub(super) fn short_moment(moment: Moment, here: &TimeZone) -> String {
    let utc = moment.civil();
    let Ok(stamp) = jiff::Timestamp::from_millisecond(moment.millis()) else {
        return moment.to_string();
    };
    let local = stamp.to_zoned(here.clone());
    let shown = utc.strftime("%Y-%m-%d %H:%M UTC").to_string();
    if local.datetime() == utc {
        shown
    } else if local.date() == utc.date() {
        format!("{shown} ({} here)", local.strftime("%H:%M"))
    } else {
        format!("{shown} ({} here)", local.strftime("%H:%M on %Y-%m-%d"))
    }
}

/// The time of day only, for a moment that is near.
pub(super) fn time_of_day(moment: Moment, here: &TimeZone) -> String {
    let utc = moment.civil();
    let Ok(stamp) = jiff::Timestamp::from_millisecond(moment.millis()) else {
        return moment.to_string();
    };
    let local = stamp.to_zoned(here.clone());
    let shown = utc.strftime("%H:%M:%S UTC").to_string();
    if local.datetime() == utc { shown } else { format!("{shown} ({} here)", local.strftime("%H:%M:%S")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_show_their_two_largest_units() {
        let table = [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (200, "3 min 20 s"),
            (3_600, "1 h"),
            (7_500, "2 h 5 min"),
            (100_000, "1 d 3 h"),
        ];
        for (seconds, expected) in table {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn moments_are_told_in_utc_and_in_local_time_where_that_differs() {
        let at = Moment::parse("2026-03-02T00:00:05Z").unwrap();
        assert_eq!(moment(at, &TimeZone::UTC), "2026-03-02 00:00:05 UTC");
        let auckland = TimeZone::get("Pacific/Auckland").unwrap();
        assert_eq!(moment(at, &auckland), "2026-03-02 00:00:05 UTC (13:00:05 here)");
        assert_eq!(short_moment(at, &auckland), "2026-03-02 00:00 UTC (13:00 here)");
        let new_york = TimeZone::get("America/New_York").unwrap();
        assert_eq!(short_moment(at, &new_york), "2026-03-02 00:00 UTC (19:00 on 2026-03-01 here)");
        assert_eq!(short_moment(at, &TimeZone::UTC), "2026-03-02 00:00 UTC");
        assert_eq!(time_of_day(at, &TimeZone::UTC), "00:00:05 UTC");
        assert_eq!(time_of_day(at, &auckland), "00:00:05 UTC (13:00:05 here)");
        assert_eq!(moment(at, &new_york), "2026-03-02 00:00:05 UTC (2026-03-01 19:00:05 here)");
    }
}

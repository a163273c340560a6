//! Numbers, lengths of time and moments as a person reads them.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::model::time::Moment;

pub use crate::model::amount::{count, counted};

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

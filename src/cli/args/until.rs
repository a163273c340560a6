//! The time of `--until`: a moment with its date and zone, or a time of day on the reader's clock.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::error::{Error, Result};
use crate::model::time::Moment;

/// The moment that `text` means: RFC 3339, or `HH:MM`, the next time the reader's clock shows it.
pub(in crate::cli) fn until(text: &str, now: Moment, here: &TimeZone) -> Result<Moment> {
    let text = text.trim();
    let moment = match Moment::parse(text) {
        Some(moment) => moment,
        None => time_of_day(text, now, here).ok_or_else(|| {
            Error::usage(format!("--until: '{text}' is not a time"))
                .hint("write 18:00 for the next time your clock shows it, or 2026-03-02T06:00:00Z")
        })?,
    };
    if moment <= now {
        return Err(Error::usage(format!("--until: {moment} is past")).hint("give a time in the future"));
    }
    Ok(moment)
}

fn time_of_day(text: &str, now: Moment, here: &TimeZone) -> Option<Moment> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |part: &str| (part.len() <= 2).then(|| part.parse::<i8>().ok()).flatten();
    let time = Time::new(digits(hours)?, digits(minutes)?, 0, 0).ok()?;
    let today = Timestamp::from_millisecond(now.millis()).ok()?.to_zoned(here.clone()).date();
    [Some(today), today.tomorrow().ok()].into_iter().flatten().find_map(|date| {
        let stamp = date.to_datetime(time).to_zoned(here.clone()).ok()?.timestamp();
        let moment = Moment::from_millis(stamp.as_millisecond());
        (moment > now).then_some(moment)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_the_next_time_the_readers_clock_shows_it() {
        let now = Moment::parse("2026-03-01T10:00:00Z").unwrap();
        let auckland = TimeZone::get("Pacific/Auckland").unwrap();
        let table = [
            ("18:00", &TimeZone::UTC, "2026-03-01T18:00:00Z"),
            ("09:30", &TimeZone::UTC, "2026-03-02T09:30:00Z"),
            ("10:00", &TimeZone::UTC, "2026-03-02T10:00:00Z"),
            // 23:00 in Auckland now.
            ("23:30", &auckland, "2026-03-01T10:30:00Z"),
            ("6:00", &auckland, "2026-03-01T17:00:00Z"),
            ("2026-03-02T06:00:00+01:00", &TimeZone::UTC, "2026-03-02T05:00:00Z"),
        ];
        for (text, here, expected) in table {
            assert_eq!(until(text, now, here).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_to_come_is_refused() {
        let now = Moment::parse("2026-03-01T10:00:00Z").unwrap();
        for text in ["soon", "25:00", "18", "18:60", "2026-03-01T09:00:00Z", "-1:30", ""] {
            let error = until(text, now, &TimeZone::UTC).unwrap_err();
            assert!(error.what().starts_with("--until: ") && error.next_step().is_some(), "{text}");
        }
    }
}

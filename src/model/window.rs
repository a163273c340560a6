//! When a run may send: from a moment on, and within windows of the week by the clock of a time zone.
//!
//! A window belongs to the day on which it begins, also where it goes on after midnight. Where clocks are set back, a time
//! that comes twice counts the first time; where they are set forward, a time that is skipped is the moment of the change.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, TimeZone};
use serde::{Deserialize, Serialize};

use super::time::Moment;

/// Minutes of a day, which may be the end of a window: `24:00`.
const DAY_MINUTES: u16 = 24 * 60;
/// Days that are looked at for the next window: every window comes within a week, unless a change of the clock skips it.
const HORIZON: i64 = 16;
/// More windows are passed through by no run: ten years of nights.
const MOST_WINDOWS: usize = 4_000;

/// The names of days, Monday first.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// From one time of day to another, on some days of the week: `22:00-06:00`, `Mon-Fri 22:00-06:00`, `Sat,Sun 00:00-24:00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The days on which it begins, Monday first.
    days: [bool; 7],
    /// In minutes since the beginning of the day.
    from: u16,
    to: u16,
    text: String,
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split_whitespace().collect();
        let (days, times) = match parts.as_slice() {
            [times] => ([true; 7], times),
            [days, times] => (days_of(days)?, times),
            _ => return Err("a window is days, which may be left away, and two times".to_owned()),
        };
        let (from, to) = times.split_once('-').ok_or("a window has two times with - between them")?;
        let (from, to) = (minutes_of(from)?, minutes_of(to)?);
        if from == to || from == DAY_MINUTES {
            return Err("a window ends at another time than it begins; a whole day is 00:00-24:00".to_owned());
        }
        Ok(Self { days, from, to, text: parts.join(" ") })
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `Mon`, `Mon-Fri`, `Fri-Mon`, `Mon,Wed,Sat-Sun`.
fn days_of(text: &str) -> Result<[bool; 7], String> {
    let day = |name: &str| {
        let found = DAYS.iter().position(|day| day.eq_ignore_ascii_case(name));
        found.ok_or_else(|| format!("'{name}' is not a day; the days are {}", DAYS.join(", ")))
    };
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (day(first)?, day(last)?),
            None => (day(part)?, day(part)?),
        };
        let mut at = first;
        days[at] = true;
        while at != last {
            at = (at + 1) % 7;
            days[at] = true;
        }
    }
    Ok(days)
}

fn minutes_of(text: &str) -> Result<u16, String> {
    let wrong = || format!("'{text}' is not a time of day such as 22:00");
    let (hours, minutes) = text.split_once(':').ok_or_else(wrong)?;
    let number = |part: &str, most: u16| {
        let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u16>().ok().filter(|number| is_number && *number <= most).ok_or_else(wrong)
    };
    let all = number(hours, 24)? * 60 + number(minutes, 59)?;
    if all <= DAY_MINUTES { Ok(all) } else { Err(wrong()) }
}

/// Windows by the clock of a zone; there is at least one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "WrittenWindows", into = "WrittenWindows")]
pub struct Windows {
    between: Vec<Window>,
    zone: TimeZone,
    zone_name: String,
}

/// Windows as they are written.
#[derive(Serialize, Deserialize)]
struct WrittenWindows {
    between: Vec<String>,
    zone: String,
}

impl TryFrom<WrittenWindows> for Windows {
    type Error = String;

    fn try_from(written: WrittenWindows) -> Result<Self, String> {
        let zone = TimeZone::get(&written.zone).map_err(|error| error.to_string())?;
        let between = written.between.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
        Ok(Self { between, zone, zone_name: written.zone })
    }
}

impl From<Windows> for WrittenWindows {
    fn from(windows: Windows) -> Self {
        Self { between: windows.between.iter().map(Window::to_string).collect(), zone: windows.zone_name }
    }
}

impl Windows {
    /// By the clock of a zone that has a name in the IANA database; `None` of a zone that has none.
    pub fn new(between: Vec<Window>, zone: TimeZone) -> Option<Self> {
        let zone_name = zone.iana_name()?.to_owned();
        Some(Self { between, zone, zone_name })
    }

    /// The zone.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// As they are written: `Mon-Fri 22:00-06:00, Sat 00:00-24:00 (Pacific/Auckland)`.
    pub fn words(&self) -> String {
        let between: Vec<&str> = self.between.iter().map(|window| window.text.as_str()).collect();
        format!("{} ({})", between.join(", "), self.zone_name)
    }

    /// The first stretch of open time that is not over at `at`: when it begins and ends. Windows that meet are one stretch.
    fn stretch(&self, at: Moment) -> Option<(Moment, Moment)> {
        let today = Timestamp::from_millisecond(at.millis()).ok()?.to_zoned(self.zone.clone()).date();
        let mut spans = Vec::new();
        for ahead in -2..HORIZON {
            let Ok(date) = today.checked_add(jiff::Span::new().days(ahead)) else { continue };
            for window in &self.between {
                spans.extend(self.span(window, date));
            }
        }
        spans.sort_unstable();
        let mut open: Option<(Moment, Moment)> = None;
        for (from, to) in spans {
            match &mut open {
                Some((_, until)) if from <= *until => *until = (*until).max(to),
                Some((_, until)) if at < *until => break,
                _ => open = Some((from, to)),
            }
        }
        open.filter(|(_, until)| at < *until)
    }

    /// When a window that begins on this day opens and closes; nothing where it does not begin then, or a change of the clock
    /// skips all of it.
    fn span(&self, window: &Window, date: Date) -> Option<(Moment, Moment)> {
        if !window.days[usize::from(date.weekday().to_monday_zero_offset().unsigned_abs())] {
            return None;
        }
        let end = if window.to < window.from { date.tomorrow().ok()? } else { date };
        let (from, to) = (self.instant(date, window.from)?, self.instant(end, window.to)?);
        (from < to).then_some((from, to))
    }

    fn instant(&self, date: Date, minutes: u16) -> Option<Moment> {
        let date = if minutes == DAY_MINUTES { date.tomorrow().ok()? } else { date };
        let minutes = i8::try_from(minutes % 60).ok().zip(i8::try_from(minutes % DAY_MINUTES / 60).ok());
        let (minute, hour) = minutes?;
        moment_of(date.at(hour, minute, 0, 0), &self.zone)
    }
}

/// When the clock of a zone shows this for the first time; of what a change of the clock skips, the moment of the change.
pub fn moment_of(shown: DateTime, zone: &TimeZone) -> Option<Moment> {
    let ambiguous = zone.to_ambiguous_timestamp(shown);
    let stamp = match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(shown).ok()?,
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(shown).ok()?,
        AmbiguousOffset::Gap { after, .. } => {
            // By the offset after it this is a moment before the change.
            let earlier = after.to_timestamp(shown).ok()?;
            zone.following(earlier).next()?.timestamp()
        }
    };
    Some(Moment::from_millis(stamp.as_millisecond()))
}

/// When a run may send; always, unless something is said.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SendingHours {
    /// Not before this moment.
    pub from: Option<Moment>,
    /// Only within these windows.
    pub windows: Option<Windows>,
}

impl SendingHours {
    /// Whether a run may send at every time.
    pub fn is_always(&self) -> bool {
        *self == Self::default()
    }

    /// When it may send, at this moment or after it.
    pub fn opening(&self, at: Moment) -> Moment {
        let from = self.from.map_or(at, |from| from.max(at));
        match &self.windows {
            // A window that never comes is none of these: it is looked for again then.
            Some(windows) => {
                windows.stretch(from).map_or(from.plus(HORIZON_LENGTH), |(opens, _)| opens.max(from))
            }
            None => from,
        }
    }

    /// Until when it stays as it is at this moment: when it opens, of hours that are closed; when it closes, of open ones,
    /// where they do.
    pub fn standing(&self, at: Moment) -> Standing {
        let opens = self.opening(at);
        if opens > at {
            return Standing::Closed { until: opens };
        }
        let closes = self.windows.as_ref().and_then(|windows| windows.stretch(at)).map(|(_, closes)| closes);
        Standing::Open { until: closes }
    }

    /// When so much time has passed in which a run may send; `None` where that takes longer than anybody would wait.
    pub fn after(&self, at: Moment, length: Duration) -> Option<Moment> {
        let (mut at, mut left) = (self.opening(at), length);
        let Some(windows) = &self.windows else { return Some(at.plus(left)) };
        for _ in 0..MOST_WINDOWS {
            let (opens, closes) = windows.stretch(at)?;
            at = at.max(opens);
            let open = closes.since(at);
            if left <= open {
                return Some(at.plus(left));
            }
            (at, left) = (closes, left - open);
        }
        None
    }

    /// How long a run may send between two moments.
    pub fn within(&self, from: Moment, to: Moment) -> Duration {
        let (mut at, mut open) = (self.opening(from), Duration::ZERO);
        while at < to {
            let closes = match self.standing(at) {
                Standing::Open { until } => until.unwrap_or(to).min(to),
                Standing::Closed { until } => {
                    at = until;
                    continue;
                }
            };
            open += closes.since(at);
            at = self.opening(closes);
            if closes >= to {
                break;
            }
        }
        open
    }

    /// Why a run may not send at this moment, in words.
    pub fn why_closed(&self, at: Moment) -> String {
        match (&self.windows, self.from.filter(|from| *from > at)) {
            (Some(windows), None) => format!("outside the window {}", windows.words()),
            (_, Some(_)) => "the time given with --at has not come".to_owned(),
            (None, None) => String::new(),
        }
    }
}

const HORIZON_LENGTH: Duration = Duration::from_secs(HORIZON.unsigned_abs() * 86_400);

/// Whether a run may send, and until when that stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Open {
        /// Until then; without end where nothing closes it.
        until: Option<Moment>,
    },
    /// It may not.
    Closed {
        /// Until then.
        until: Moment,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        Moment::parse(text).expect(text)
    }

    fn hours(between: &[&str], zone: &str) -> SendingHours {
        let between = between.iter().map(|text| text.parse().expect(text)).collect();
        let windows = Windows::new(between, TimeZone::get(zone).expect(zone)).expect(zone);
        SendingHours { from: None, windows: Some(windows) }
    }

    /// Whether it is open then, and until when: `open 2026-03-02T06:00:00Z`.
    fn standing(hours: &SendingHours, now: &str) -> String {
        match hours.standing(at(now)) {
            Standing::Open { until: Some(until) } => format!("open {until}"),
            Standing::Open { until: None } => "open".to_owned(),
            Standing::Closed { until } => format!("closed {until}"),
        }
    }

    #[test]
    fn a_window_is_open_from_its_first_minute_until_its_last_and_belongs_to_the_day_on_which_it_begins() {
        // 2026-03-02 is a Monday.
        let table = [
            ("22:00-06:00", "2026-03-02T21:59:59Z", "closed 2026-03-02T22:00:00Z"),
            ("22:00-06:00", "2026-03-02T22:00:00Z", "open 2026-03-03T06:00:00Z"),
            ("22:00-06:00", "2026-03-03T05:59:59Z", "open 2026-03-03T06:00:00Z"),
            ("22:00-06:00", "2026-03-03T06:00:00Z", "closed 2026-03-03T22:00:00Z"),
            ("08:00-18:00", "2026-03-02T12:00:00Z", "open 2026-03-02T18:00:00Z"),
            ("08:00-24:00", "2026-03-02T23:59:59Z", "open 2026-03-03T00:00:00Z"),
            // The night that begins on Friday goes on until Saturday morning; on Sunday none begins.
            ("Mon-Fri 22:00-06:00", "2026-03-07T05:00:00Z", "open 2026-03-07T06:00:00Z"),
            ("Mon-Fri 22:00-06:00", "2026-03-07T22:30:00Z", "closed 2026-03-09T22:00:00Z"),
            ("Mon-Fri 22:00-06:00", "2026-03-09T05:00:00Z", "closed 2026-03-09T22:00:00Z"),
            ("Sat-Sun 00:00-24:00", "2026-03-07T12:00:00Z", "open 2026-03-09T00:00:00Z"),
            ("Fri-Mon 10:00-11:00", "2026-03-03T00:00:00Z", "closed 2026-03-06T10:00:00Z"),
            ("sun,wed 10:00-11:00", "2026-03-02T00:00:00Z", "closed 2026-03-04T10:00:00Z"),
        ];
        for (window, now, expected) in table {
            assert_eq!(standing(&hours(&[window], "UTC"), now), expected, "{window} {now}");
        }
    }

    #[test]
    fn windows_that_meet_or_overlap_are_one_and_others_are_not() {
        let hours = hours(&["Mon-Fri 22:00-06:00", "Sat 00:00-24:00", "Sun 00:00-12:00"], "UTC");
        assert_eq!(standing(&hours, "2026-03-06T23:00:00Z"), "open 2026-03-08T12:00:00Z");
        assert_eq!(standing(&hours, "2026-03-03T12:00:00Z"), "closed 2026-03-03T22:00:00Z");
    }

    #[test]
    fn the_clock_of_the_zone_counts_and_its_changes_move_the_window_in_utc() {
        let table = [
            // Auckland: daylight-saving time ends on 2026-04-05 at 03:00, which becomes 02:00, and begins on 2026-09-27 at
            // 02:00, which becomes 03:00.
            ("22:00-06:00", "Pacific/Auckland", "2026-03-02T09:00:00Z", "open 2026-03-02T17:00:00Z"),
            ("22:00-06:00", "Pacific/Auckland", "2026-04-04T09:00:00Z", "open 2026-04-04T18:00:00Z"),
            ("22:00-06:00", "Pacific/Auckland", "2026-09-26T10:00:00Z", "open 2026-09-26T17:00:00Z"),
            // 02:30 comes twice: the first time counts, for the beginning and for the end.
            ("02:30-06:00", "Pacific/Auckland", "2026-04-04T13:29:59Z", "closed 2026-04-04T13:30:00Z"),
            ("22:00-02:30", "Pacific/Auckland", "2026-04-04T13:29:59Z", "open 2026-04-04T13:30:00Z"),
            ("22:00-02:30", "Pacific/Auckland", "2026-04-04T14:00:00Z", "closed 2026-04-05T10:00:00Z"),
            // 02:30 is skipped: the moment of the change is meant.
            ("02:30-06:00", "Pacific/Auckland", "2026-09-26T13:59:59Z", "closed 2026-09-26T14:00:00Z"),
            ("22:00-02:30", "Pacific/Auckland", "2026-09-26T13:00:00Z", "open 2026-09-26T14:00:00Z"),
            // All of it is skipped: the next night has it.
            ("02:10-02:50", "Pacific/Auckland", "2026-09-26T13:00:00Z", "closed 2026-09-27T13:10:00Z"),
            ("02:10-02:50", "Europe/Berlin", "2026-03-29T00:00:00Z", "closed 2026-03-30T00:10:00Z"),
            // A change of half an hour, and a day that there was not.
            ("01:45-03:00", "Australia/Lord_Howe", "2026-10-03T15:00:00Z", "closed 2026-10-03T15:15:00Z"),
            ("02:15-03:00", "Australia/Lord_Howe", "2026-10-03T15:29:59Z", "closed 2026-10-03T15:30:00Z"),
            ("10:00-11:00", "Pacific/Apia", "2011-12-29T22:00:00Z", "closed 2011-12-30T20:00:00Z"),
        ];
        for (window, zone, now, expected) in table {
            assert_eq!(standing(&hours(&[window], zone), now), expected, "{window} {zone} {now}");
        }
    }

    #[test]
    fn a_moment_to_begin_at_comes_before_the_windows_and_nothing_said_is_always_open() {
        let mut hours = hours(&["22:00-06:00"], "UTC");
        hours.from = Some(at("2026-03-03T00:05:00Z"));
        assert_eq!(standing(&hours, "2026-03-02T23:00:00Z"), "closed 2026-03-03T00:05:00Z");
        assert_eq!(standing(&hours, "2026-03-03T00:05:00Z"), "open 2026-03-03T06:00:00Z");
        hours.from = Some(at("2026-03-03T12:00:00Z"));
        assert_eq!(standing(&hours, "2026-03-02T23:00:00Z"), "closed 2026-03-03T22:00:00Z");
        let always = SendingHours::default();
        assert!(always.is_always());
        assert_eq!(standing(&always, "2026-03-02T23:00:00Z"), "open");
    }

    #[test]
    fn work_takes_the_time_in_which_a_run_may_send() {
        let hours = hours(&["22:00-06:00"], "UTC");
        let hour = Duration::from_secs(3_600);
        let table = [
            ("2026-03-02T12:00:00Z", hour, Some("2026-03-02T23:00:00Z")),
            ("2026-03-02T23:00:00Z", hour * 7, Some("2026-03-03T06:00:00Z")),
            ("2026-03-02T23:00:00Z", hour * 8, Some("2026-03-03T23:00:00Z")),
            ("2026-03-02T22:00:00Z", hour * 80, Some("2026-03-12T06:00:00Z")),
            ("2026-03-02T12:00:00Z", Duration::ZERO, Some("2026-03-02T22:00:00Z")),
            ("2026-03-02T12:00:00Z", hour * 8 * 5_000, None),
        ];
        for (from, length, expected) in table {
            let got = hours.after(at(from), length).map(|moment| moment.to_string());
            assert_eq!(got.as_deref(), expected, "{from} {length:?}");
        }
        assert_eq!(hours.within(at("2026-03-02T00:00:00Z"), at("2026-03-03T00:00:00Z")), hour * 8);
        assert_eq!(hours.within(at("2026-03-02T05:30:00Z"), at("2026-03-02T22:30:00Z")), hour);
        assert_eq!(hours.within(at("2026-03-02T07:00:00Z"), at("2026-03-02T08:00:00Z")), Duration::ZERO);
        assert_eq!(
            SendingHours::default().within(at("2026-03-02T07:00:00Z"), at("2026-03-02T08:00:00Z")),
            hour
        );
    }

    #[test]
    fn what_is_no_window_is_refused_with_its_reason() {
        for text in [
            "",
            "22:00",
            "22:00-",
            "22-06",
            "25:00-06:00",
            "22:60-06:00",
            "24:30-06:00",
            "06:00-06:00",
            "24:00-06:00",
            "Monday 22:00-06:00",
            "Mon 22:00 - 06:00",
            "Mon- 22:00-06:00",
            "-1:00-06:00",
            "022:00-06:00",
        ] {
            assert!(text.parse::<Window>().is_err(), "{text}");
        }
    }

    #[test]
    fn hours_are_read_as_they_were_written() {
        let mut hours = hours(&["Mon-Fri 22:00-06:00", "Sat 00:00-24:00"], "Pacific/Auckland");
        hours.from = Some(at("2026-03-03T00:05:00Z"));
        let text = serde_json::to_string(&hours).unwrap();
        assert_eq!(serde_json::from_str::<SendingHours>(&text).unwrap(), hours);
        assert_eq!(hours.windows.unwrap().words(), "Mon-Fri 22:00-06:00, Sat 00:00-24:00 (Pacific/Auckland)");
    }
}

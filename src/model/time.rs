//! Moments and days, in the two forms fleetload needs: milliseconds to count with and RFC 3339 to show.
//!
//! No clock lives here; the edges ask [`crate::clock`] and hand a [`Moment`] down.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Milliseconds of one UTC day.
const DAY_MS: i64 = 86_400_000;

/// A moment in UTC, in milliseconds since 1970. Shown as RFC 3339 with seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
#[serde(transparent)]
pub struct Moment(i64);

impl Moment {
    /// From milliseconds since 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// This moment and `later` after it; stops at the end of time instead of wrapping.
    #[must_use]
    pub fn plus(self, later: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(later.as_millis()).unwrap_or(i64::MAX)))
    }

    /// So much earlier.
    #[must_use]
    pub fn minus(self, earlier: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(earlier.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long after `earlier` this is; zero when it is not after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The UTC day this moment lies in.
    pub fn day(self) -> Day {
        Day(self.0.div_euclid(DAY_MS))
    }

    /// From an RFC 3339 text.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<Timestamp>().ok().map(|stamp| Self(stamp.as_millisecond()))
    }

    /// From the text of an HTTP `Date` header (RFC 9110 section 5.6.7).
    pub fn parse_http_date(text: &str) -> Option<Self> {
        jiff::fmt::rfc2822::parse(text).ok().map(|zoned| Self(zoned.timestamp().as_millisecond()))
    }

    /// Year, month, day, hour, minute and second in UTC, for places that write a calendar of their own.
    pub fn civil(self) -> jiff::civil::DateTime {
        let stamp = Timestamp::from_millisecond(self.0).unwrap_or(if self.0 < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        });
        stamp.to_zoned(TimeZone::UTC).datetime()
    }
}

/// Writes a moment for programs as people write it, RFC 3339, instead of the number that the journal keeps.
///
/// # Errors
///
/// Those of the serializer.
pub fn rfc_3339<S: serde::Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// A moment that serialises as RFC 3339, in UTC and whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rfc3339(pub Moment);

impl From<Moment> for Rfc3339 {
    fn from(at: Moment) -> Self {
        Self(at)
    }
}

impl Serialize for Rfc3339 {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rfc_3339(&self.0, serializer)
    }
}

#[cfg(feature = "schemas")]
impl schemars::JsonSchema for Rfc3339 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rfc3339".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "format": "date-time"})
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", self.civil().strftime("%Y-%m-%dT%H:%M:%S"))
    }
}

/// A UTC day, counted from 1970-01-01. The quota of the service is counted by it (specification 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(i64);

impl Day {
    /// From days since 1970-01-01.
    pub const fn from_number(number: i64) -> Self {
        Self(number)
    }

    /// Days since 1970-01-01.
    pub const fn number(self) -> i64 {
        self.0
    }

    /// The first moment of this day.
    pub fn start(self) -> Moment {
        Moment(self.0.saturating_mul(DAY_MS))
    }

    /// The day after.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.start().civil().strftime("%Y-%m-%d"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_and_read_as_rfc_3339() {
        let moment = Moment::from_millis(1_772_409_599_999);
        assert_eq!(moment.to_string(), "2026-03-01T23:59:59Z");
        assert_eq!(Moment::parse("2026-03-01T23:59:59Z"), Some(Moment::from_millis(1_772_409_599_000)));
    }

    #[test]
    fn the_day_turns_at_midnight_utc_and_not_a_millisecond_before() {
        let midnight = Moment::parse("2026-03-02T00:00:00Z").unwrap();
        assert_eq!(midnight.day().to_string(), "2026-03-02");
        assert_eq!(Moment::from_millis(midnight.millis() - 1).day().to_string(), "2026-03-01");
        assert_eq!(Moment::from_millis(-1).day().to_string(), "1969-12-31");
        assert_eq!(midnight.day().start(), midnight);
    }

    #[test]
    fn the_date_header_of_http_is_understood() {
        let parsed = Moment::parse_http_date("Sun, 01 Mar 2026 23:59:59 GMT").unwrap();
        assert_eq!(parsed.to_string(), "2026-03-01T23:59:59Z");
        assert_eq!(Moment::parse_http_date("yesterday"), None);
    }

    #[test]
    fn years_end_leap_days_pass_and_a_leap_second_is_the_last_of_its_minute_or_nothing() {
        let day = |text| Moment::parse_http_date(text).expect(text).day();
        let new_year = day("Fri, 01 Jan 2027 00:00:00 GMT");
        assert_eq!(day("Thu, 31 Dec 2026 23:59:59 GMT").next(), new_year);
        assert_eq!(day("Mon, 28 Feb 2028 12:00:00 GMT").next().to_string(), "2028-02-29");
        assert_eq!(day("Sun, 28 Feb 2027 12:00:00 GMT").next().to_string(), "2027-03-01");
        // Whether the reader knows leap seconds or not: no panic, and no other day than that second's or the next.
        if let Some(leap) = Moment::parse_http_date("Sat, 31 Dec 2016 23:59:60 GMT") {
            assert!(leap.since(Moment::parse("2016-12-31T23:59:59Z").unwrap()).as_secs() <= 1, "{leap}");
        }
        assert_eq!(Moment::parse_http_date("Thu, 30 Feb 2026 00:00:00 GMT"), None);
    }

    #[test]
    fn arithmetic_at_the_ends_of_time_does_not_wrap() {
        assert_eq!(Moment::from_millis(i64::MAX).plus(Duration::from_secs(1)).millis(), i64::MAX);
        assert_eq!(Moment::from_millis(0).since(Moment::from_millis(5)), Duration::ZERO);
        let _shown_without_panic = Moment::from_millis(i64::MAX).to_string();
    }
}

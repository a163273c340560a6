//! Numbers, lengths of time and moments as a person reads them.

use std::time::Duration;

use jiff::tz::TimeZone;

use crate::model::forecast::Next;
use crate::model::operation::Operation;
use crate::model::time::Moment;

pub use crate::model::amount::{count, counted, size, span};

/// What comes next, in words, seen from `now`. Operations that are tried again at the same moment are named together.
pub fn awaited(events: &[Next], now: Moment, here: &TimeZone) -> Vec<String> {
    let at = |at: Moment| near(at, now, here);
    let words = |event: &Next| match *event {
        Next::SignedIn { since } => Some(format!(
            "signing in for {}: the service has not answered yet",
            span(now.since(since).max(Duration::from_secs(1)))
        )),
        Next::NextTry { operation: Some(operation), at: tried } => {
            let together = events.iter().filter_map(|other| match *other {
                Next::NextTry { operation: Some(other), at } => (at == tried).then_some(other),
                Next::SignedIn { .. }
                | Next::NextTry { operation: None, .. }
                | Next::QuotaResets { .. }
                | Next::HoursBegin { .. }
                | Next::DoubtSettled { .. }
                | Next::MissingLookedUp { .. }
                | Next::Unanswered { .. }
                | Next::Silent { .. } => None,
            });
            let together: Vec<Operation> = together.collect();
            if together.first() != Some(&operation) {
                return None;
            }
            let names: Vec<&str> = together.iter().map(|operation| operation.name()).collect();
            let tried =
                tried.map_or_else(|| "being tried now".to_owned(), |tried| format!("next try {}", at(tried)));
            Some(format!("{} paused, {tried}", names.join(", ")))
        }
        Next::NextTry { operation: None, at: Some(tried) } => {
            Some(format!("the service cannot be reached, next try {}", at(tried)))
        }
        Next::NextTry { operation: None, at: None } => {
            Some("the service cannot be reached, being tried now".to_owned())
        }
        Next::HoursBegin { at: opening } => {
            Some(format!("paused until {}: outside the hours of this run", short_moment(opening, here)))
        }
        Next::QuotaResets { at: morning } => Some(format!(
            "today's quota is spent, rows that need it wait {}, until {}",
            span(morning.since(now).max(Duration::from_secs(1))),
            short_moment(morning, here)
        )),
        Next::DoubtSettled { rows, at: Some(by) } => {
            Some(format!("in doubt {}, settled by {}", count(rows), at(by)))
        }
        Next::DoubtSettled { rows, at: None } => Some(format!("in doubt {}", count(rows))),
        Next::MissingLookedUp { records, at: until } => {
            let until =
                until.map_or_else(String::new, |until| format!(", looked up again until {}", at(until)));
            Some(format!("{} not verified yet{until}", counted(records, "record", "records")))
        }
        Next::Unanswered { requests, since } => Some(format!(
            "the service has answered none of {} for {}",
            counted(requests, "request", "requests"),
            span(now.since(since).max(Duration::from_secs(1)))
        )),
        Next::Silent { since } => {
            Some(format!("it has noted nothing for {}, its process may be suspended", span(now.since(since))))
        }
    };
    events.iter().filter_map(words).collect()
}

/// A forecast of a moment that has passed, or of the present one, is a forecast of the next one.
pub fn upcoming(finish: Moment, now: Moment) -> Moment {
    finish.max(now.plus(Duration::from_secs(1)))
}

/// When everything will be done, in words, seen from `now`.
pub fn expected(finish: Moment, now: Moment, here: &TimeZone) -> String {
    let finish = upcoming(finish, now);
    format!("done about {}, in {}", near(finish, now, here), span(finish.since(now)))
}

/// The time of day where it is that of today, else the day as well.
fn near(at: Moment, now: Moment, here: &TimeZone) -> String {
    if at.day() == now.day() { time_of_day(at, here) } else { short_moment(at, here) }
}

/// A moment in UTC and, where the clock on the wall shows something else, in local time.
pub fn moment(moment: Moment, here: &TimeZone) -> String {
    in_both(moment, here, ["%Y-%m-%d %H:%M:%S UTC", "%H:%M:%S %Q", "%Y-%m-%d %H:%M:%S %Q"])
}

/// The same to the minute, for a line that must stay short; the local day comes last, and only where it is another one.
pub(super) fn short_moment(moment: Moment, here: &TimeZone) -> String {
    in_both(moment, here, ["%Y-%m-%d %H:%M UTC", "%H:%M %Q", "%H:%M %Q on %Y-%m-%d"])
}

/// The time of day only, for a moment that is near.
pub(super) fn time_of_day(moment: Moment, here: &TimeZone) -> String {
    in_both(moment, here, ["%H:%M:%S UTC", "%H:%M:%S %Q", "%H:%M:%S %Q"])
}

/// A moment in these forms: of UTC, of a local time of the same day, and of one of another day.
fn in_both(moment: Moment, here: &TimeZone, [of_utc, of_day, of_another]: [&str; 3]) -> String {
    let utc = moment.civil();
    let Ok(stamp) = jiff::Timestamp::from_millisecond(moment.millis()) else {
        return moment.to_string();
    };
    let local = stamp.to_zoned(here.clone());
    let shown = utc.strftime(of_utc).to_string();
    if local.datetime() == utc {
        return shown;
    }
    let form = if local.date() == utc.date() { of_day } else { of_another };
    // A zone is named by its place, else by the letters of its clock.
    let form = if local.time_zone().iana_name().is_some() { form } else { &form.replace("%Q", "%Z") };
    format!("{shown} ({})", local.strftime(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_are_tried_again_at_the_same_moment_are_named_together() {
        let now = Moment::parse("2026-03-02T12:00:00Z").unwrap();
        let try_of = |operation, seconds: Option<u64>| Next::NextTry {
            operation: Some(operation),
            at: seconds.map(|seconds| now.plus(Duration::from_secs(seconds))),
        };
        let events = [
            try_of(Operation::AddDevice, Some(30)),
            try_of(Operation::AddSite, Some(40)),
            try_of(Operation::AddPerson, Some(30)),
            try_of(Operation::AddCompany, None),
            Next::DoubtSettled { rows: 3, at: None },
            Next::Unanswered { requests: 60, since: Moment::parse("2026-03-02T11:58:48Z").unwrap() },
            Next::Silent { since: Moment::parse("2026-03-02T11:55:00Z").unwrap() },
        ];
        let expected = [
            "addDevice, addPerson paused, next try 12:00:30 UTC",
            "addSite paused, next try 12:00:40 UTC",
            "addCompany paused, being tried now",
            "in doubt 3",
            "the service has answered none of 60 requests for 1 min 12 s",
            "it has noted nothing for 5 min, its process may be suspended",
        ];
        assert_eq!(awaited(&events, now, &TimeZone::UTC), expected);
    }

    #[test]
    fn moments_are_told_in_utc_and_in_local_time_where_that_differs() {
        let at = Moment::parse("2026-03-02T00:00:05Z").unwrap();
        assert_eq!(moment(at, &TimeZone::UTC), "2026-03-02 00:00:05 UTC");
        let auckland = TimeZone::get("Pacific/Auckland").unwrap();
        assert_eq!(moment(at, &auckland), "2026-03-02 00:00:05 UTC (13:00:05 Pacific/Auckland)");
        assert_eq!(short_moment(at, &auckland), "2026-03-02 00:00 UTC (13:00 Pacific/Auckland)");
        let new_york = TimeZone::get("America/New_York").unwrap();
        assert_eq!(
            short_moment(at, &new_york),
            "2026-03-02 00:00 UTC (19:00 America/New_York on 2026-03-01)"
        );
        assert_eq!(short_moment(at, &TimeZone::UTC), "2026-03-02 00:00 UTC");
        assert_eq!(time_of_day(at, &TimeZone::UTC), "00:00:05 UTC");
        assert_eq!(time_of_day(at, &auckland), "00:00:05 UTC (13:00:05 Pacific/Auckland)");
        assert_eq!(moment(at, &new_york), "2026-03-02 00:00:05 UTC (2026-03-01 19:00:05 America/New_York)");
    }
}

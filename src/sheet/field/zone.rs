//! Time zones: kept as written when the IANA list has them, otherwise told with the name that is probably meant.
//!
//! Which names the service takes only the service knows, so that most of what is told is a warning; an offset is an
//! error, for it is no zone.

use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::super::code::Code;
use super::super::finding::shown;
use super::super::text::{did_you_mean, nearest};
use super::zones::{RENAMED, WINDOWS};
use super::{Problem, Reading, Value};

const RULE: &str = "a name of the IANA list of time zones, such as Pacific/Auckland";

/// Names of the list that are abbreviations and follow the rules of no place that could be meant with certainty.
const ABBREVIATIONS: [&str; 11] =
    ["EST", "MST", "HST", "EST5EDT", "CST6CDT", "MST7MDT", "PST8PDT", "WET", "CET", "MET", "EET"];

/// Reads a time zone.
pub(super) fn timezone(text: &str, reading: &mut Reading) -> Result<Value, Problem> {
    if let Ok(zone) = TimeZone::get(text) {
        let name = zone.iana_name().unwrap_or(text);
        reading.problems.extend(listed(name));
        return Ok(Value::Text(name.to_owned()));
    }
    if let Some(zone) = of_windows(text) {
        reading.problems.push(
            warning(format!(
                "'{}' is what Windows calls the time zone: enter {zone}, as the service knows IANA names",
                shown(text)
            ))
            .suggest(zone),
        );
        return Ok(Value::Text(text.to_owned()));
    }
    if is_offset(text) {
        return Err(warning(
            "an offset from UTC is not a time zone, as it knows no summer time: enter a name such as \
             Pacific/Auckland"
                .to_owned(),
        )
        .error());
    }
    reading.problems.push(unknown(text));
    Ok(Value::Text(text.to_owned()))
}

fn warning(message: String) -> Problem {
    Problem::new(Code::CellTimezone, message).rule(RULE).warning()
}

/// What there is to say about a name that the list has.
fn listed(name: &str) -> Option<Problem> {
    if let Some((_, today)) = RENAMED.iter().find(|(old, _)| *old == name) {
        return Some(
            warning(format!(
                "{name} is an older name of {today} and is sent as it stands: enter {today} unless the service \
                 knows the older one only"
            ))
            .suggest(*today),
        );
    }
    if let Some(offset) = name.strip_prefix("Etc/GMT").filter(|offset| offset.len() > 1) {
        let (way, hours) = match offset.split_at(1) {
            ("-", hours) => ("ahead of", hours),
            (_, hours) => ("behind", hours),
        };
        return (hours != "0").then(|| {
            warning(format!(
                "{name} is {hours} hours {way} UTC, not the other way round, and has no summer time: enter the zone of \
                 a city, such as Pacific/Auckland"
            ))
        });
    }
    ABBREVIATIONS.contains(&name).then(|| {
        warning(format!(
            "{name} is an abbreviation, which may not follow the summer time of the place: enter the zone of a city, \
             such as America/New_York"
        ))
    })
}

fn unknown(text: &str) -> Problem {
    static ZONES: OnceLock<Vec<String>> = OnceLock::new();
    let zones = ZONES.get_or_init(|| jiff::tz::db().available().map(|name| name.to_string()).collect());
    let names = || zones.iter().map(String::as_str);
    // `Auckland` for `Pacific/Auckland`.
    let spelled = text.replace(' ', "_");
    let cities: Vec<&str> = names()
        .filter(|zone| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&spelled)))
        .collect();
    if let [zone] = cities.as_slice() {
        return warning(format!(
            "'{}' is not the whole name of a time zone: enter {zone} if that is meant",
            shown(text)
        ))
        .suggest(*zone);
    }
    let problem = warning(format!(
        "'{}' is not in the IANA list of time zones and is sent as it stands: correct it.{}",
        shown(text),
        did_you_mean(text, names())
    ));
    match nearest(text, names()).as_slice() {
        [] => problem,
        [best, ..] => problem.suggest(*best),
    }
}

/// `+12`, `GMT+12`, `(UTC+12:00) and whatever follows`.
fn is_offset(text: &str) -> bool {
    let plain = text.trim_start_matches('(').to_ascii_uppercase();
    let rest = plain.strip_prefix("GMT").or_else(|| plain.strip_prefix("UTC")).unwrap_or(&plain).trim_start();
    rest.starts_with(['+', '-', '±']) && rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit())
}

/// The IANA zone for a name of Windows, or for what Windows shows in its list: `(UTC+12:00) Auckland, Wellington`.
fn of_windows(text: &str) -> Option<&'static str> {
    let folded = fold(text);
    if let Some((.., zone)) = WINDOWS.iter().find(|(name, ..)| fold(name) == folded) {
        return Some(zone);
    }
    let (offset, places) = text.strip_prefix('(')?.split_once(')')?;
    if !offset.starts_with("UTC") && !offset.starts_with("GMT") {
        return None;
    }
    let folded = fold(places);
    if let Some((.., zone)) = WINDOWS.iter().find(|(_, shown, _)| fold(shown) == folded) {
        return Some(zone);
    }
    // The list differs between versions of Windows: one of its places is enough.
    let wanted: Vec<String> = places.split(',').map(fold).filter(|place| place.len() > 2).collect();
    let mut fitting = WINDOWS
        .iter()
        .filter(|(_, shown, _)| shown.split(',').map(fold).any(|place| wanted.contains(&place)));
    match (fitting.next(), fitting.next()) {
        (Some((.., zone)), None) => Some(zone),
        _ => None,
    }
}

fn fold(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_zone_that_is_suggested_is_in_the_list_and_of_today() {
        for (name, shown, zone) in WINDOWS {
            assert!(TimeZone::get(zone).is_ok(), "{name}: {zone}");
            assert!(!RENAMED.iter().any(|(old, _)| old == zone), "{name}: {zone}");
            assert!(!shown.is_empty());
        }
        for (old, today) in RENAMED {
            assert!(TimeZone::get(old).is_ok(), "{old}");
            assert!(TimeZone::get(today).is_ok(), "{today}");
            assert!(!RENAMED.iter().any(|(other, _)| other == today), "{old}: {today}");
        }
        for name in ABBREVIATIONS {
            assert_eq!(TimeZone::get(name).unwrap().iana_name(), Some(name));
        }
    }

    #[test]
    fn a_zone_of_windows_is_known_by_its_name_and_by_its_places() {
        let table = [
            ("New Zealand Standard Time", Some("Pacific/Auckland")),
            ("(UTC+12:00) Auckland, Wellington", Some("Pacific/Auckland")),
            ("(UTC+12:00) Auckland", Some("Pacific/Auckland")),
            ("(GMT-05:00) Eastern Time (US & Canada)", Some("America/New_York")),
            ("(UTC+12:00) Nowhere", None),
            ("Auckland", None),
        ];
        for (text, zone) in table {
            assert_eq!(of_windows(text), zone, "{text}");
        }
    }
}

//! Time zones: names of the service's own list where it is known, of the IANA list otherwise; for anything else the name
//! that is probably meant.
//!
//! What is not in the service's list is an error. Offline nobody knows which names the service takes, so that most of what
//! is reported then is a warning; an offset is an error, for it is no zone.

use std::sync::OnceLock;

use jiff::tz::TimeZone;

use super::{CellReading, Problem, Value};
use crate::model::zone::ZoneList;
use crate::sheet::data::{RENAMED_ZONES, WINDOWS_ZONES, WindowsZone, ZONE_ABBREVIATIONS, ZONES_OF_NO_PLACE};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::text::{did_you_mean, nearest};

const RULE: &str = "a name of the IANA list of time zones, such as Pacific/Auckland";
const RULE_OF_SERVICE: &str = "a zone of the service's list of time zones, such as Pacific/Auckland";

/// Reads a time zone; `seeks` says whether it is sought what a wrong one means.
pub(super) fn timezone(
    text: &str,
    of_service: Option<&ZoneList>,
    seeks: bool,
    reading: &mut CellReading,
) -> Result<Value, Problem> {
    let named = match of_service {
        Some(list) => list.spelled(text).map(str::to_owned),
        None => TimeZone::get(text).ok().map(|zone| zone.iana_name().unwrap_or(text).to_owned()),
    };
    if let Some(name) = named {
        // An older name is good where the service has it.
        let older = of_service.is_none().then(|| renamed(&name)).flatten();
        reading.add_all(older.or_else(|| misleading(&name)));
        return Ok(Value::Text(name.into()));
    }
    if is_offset(text) && !(seeks && of_windows(text).is_some()) {
        return Err(warning(
            "a UTC offset is not a time zone because it ignores daylight saving time: enter a name such as \
             Pacific/Auckland"
                .to_owned(),
        )
        .error());
    }
    let Some(list) = of_service else {
        reading.add(unlisted(text, seeks));
        return Ok(Value::Text(text.into()));
    };
    Err(unknown_to_service(text, list, seeks))
}

fn warning(message: String) -> Problem {
    Problem::new(Code::CellTimezone, message).rule(RULE).warning()
}

/// An older name of the IANA list.
fn renamed(name: &str) -> Option<Problem> {
    let [_, today] = RENAMED_ZONES.iter().find(|[old, _]| old == name)?;
    Some(
        warning(format!(
            "{name} is an older name of {today} and is sent as it is: enter {today} unless the service knows only the \
             older one"
        ))
        .suggest(today),
    )
}

/// A name that is in the list and probably does not mean what was meant.
fn misleading(name: &str) -> Option<Problem> {
    if let Some(offset) = name.strip_prefix("Etc/GMT").filter(|offset| offset.len() > 1) {
        let (way, hours) = match offset.split_at(1) {
            ("-", hours) => ("ahead of", hours),
            (_, hours) => ("behind", hours),
        };
        return (hours != "0").then(|| {
            warning(format!(
                "{name} is {hours} hours {way} UTC, not the other way round, and has no daylight saving time: enter \
                 the zone of a city, such as Pacific/Auckland"
            ))
        });
    }
    abbreviated(name).map(|such_as| {
        warning(format!(
            "{name} is an abbreviation, which may not follow the daylight saving time of the place: enter the zone of \
             a city, such as {such_as}"
        ))
    })
}

/// Zones of cities that go by an abbreviation.
fn abbreviated(text: &str) -> Option<&'static str> {
    ZONE_ABBREVIATIONS
        .iter()
        .find(|[name, _]| name.eq_ignore_ascii_case(text))
        .map(|[_, such_as]| such_as.as_str())
}

/// What is said of an abbreviation that is no name of a list.
fn of_abbreviation(such_as: &str) -> String {
    format!(
        "it is an abbreviation, which several places may use and which changes with daylight saving time: enter the \
         zone of a city, such as {such_as}"
    )
}

/// A name that is not in the IANA list.
fn unlisted(text: &str, seeks: bool) -> Problem {
    let of_list = |near: &[&str]| {
        let problem = warning(format!(
            "'{}' is not in the IANA list of time zones and is sent as it is: correct it.{}",
            shown(text),
            did_you_mean(near)
        ));
        match near {
            [] => problem,
            [best, ..] => problem.suggest(*best),
        }
    };
    if !seeks {
        return of_list(&[]);
    }
    if let Some(zone) = of_windows(text) {
        return warning(format!(
            "'{}' is the Windows name of the time zone: enter {zone}, because the service uses IANA names",
            shown(text)
        ))
        .suggest(zone);
    }
    if let Some(such_as) = abbreviated(text) {
        let of_abbreviation = of_abbreviation(such_as);
        return warning(format!(
            "'{}' is not in the IANA list of time zones; {of_abbreviation}",
            shown(text)
        ));
    }
    static ZONES: OnceLock<Vec<String>> = OnceLock::new();
    let zones = ZONES.get_or_init(|| jiff::tz::db().available().map(|name| name.to_string()).collect());
    let names = || zones.iter().map(String::as_str);
    if let Some(zone) = of_city(text, names()) {
        return warning(format!(
            "'{}' is not the complete name of a time zone: enter {zone} if that is right",
            shown(text)
        ))
        .suggest(zone);
    }
    of_list(&nearest(text, names()))
}

/// A name that is not in the service's list.
fn unknown_to_service(text: &str, list: &ZoneList, seeks: bool) -> Problem {
    let names = || list.ids().iter().map(String::as_str);
    let of_day =
        format!("the service's list of {} time zones of {}", list.ids().len(), list.asked_at().day());
    let problem = |advice: String| {
        let message = format!("'{}' is not in {of_day}: {advice}", shown(text));
        Problem::new(Code::CellTimezone, message).rule(RULE_OF_SERVICE).error()
    };
    if !seeks {
        return problem("correct it.".to_owned());
    }
    // The service may know a zone by its older name only, or by that of today only.
    let iana =
        of_windows(text).or_else(|| of_city(text, RENAMED_ZONES.iter().map(|[_, today]| today.as_str())));
    let meant = iana
        .and_then(|zone| list.spelled(zone).or_else(|| other_name(zone, list)))
        .or_else(|| other_name(text, list))
        .or_else(|| of_city(text, names()));
    if let Some(zone) = meant {
        return problem(format!("enter {} if that is right", shown(zone))).suggest(zone);
    }
    if let Some(such_as) = abbreviated(text) {
        return problem(of_abbreviation(such_as));
    }
    let near = nearest(text, names());
    let problem = problem(format!("correct it.{}", did_you_mean(&near)));
    match near.as_slice() {
        [] => problem,
        [best, ..] => problem.suggest(*best),
    }
}

/// Another name of the same zone that the service has: the one of today, an older one, or what UTC and GMT are called
/// besides.
fn other_name<'a>(zone: &str, list: &'a ZoneList) -> Option<&'a str> {
    let same = |name: &str| name.eq_ignore_ascii_case(zone);
    if let Some([_, time]) = ZONES_OF_NO_PLACE.iter().find(|[name, _]| same(name)) {
        let names = ZONES_OF_NO_PLACE.iter().filter(|[_, of]| of == time);
        return names.into_iter().find_map(|[name, _]| list.spelled(name));
    }
    let today = RENAMED_ZONES.iter().find(|[old, _]| same(old)).map_or(zone, |[_, today]| today);
    let older = RENAMED_ZONES
        .iter()
        .filter(|[_, of_old]| of_old.eq_ignore_ascii_case(today))
        .map(|[old, _]| old.as_str());
    std::iter::once(today).chain(older).find_map(|name| list.spelled(name))
}

/// The one zone that is named after this city: `Pacific/Auckland` for `Auckland`.
fn of_city<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let spelled = text.replace(' ', "_");
    let is_it = |zone: &&str| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(&spelled));
    let mut cities = names.filter(is_it);
    match (cities.next(), cities.next()) {
        (Some(zone), None) => Some(zone),
        _ => None,
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
    let the_one = |is_it: &dyn Fn(&WindowsZone) -> bool| {
        WINDOWS_ZONES.iter().find(|zone| is_it(zone)).map(|zone| zone.zone.as_str())
    };
    if let Some(zone) = the_one(&|zone| fold(&zone.name) == folded) {
        return Some(zone);
    }
    // What Windows shows without the offset, where that is the name of a time and not of places.
    if let Some(zone) = the_one(&|zone| zone.places.contains(" Time") && fold(&zone.places) == folded) {
        return Some(zone);
    }
    let (offset, places) = text.strip_prefix('(')?.split_once(')')?;
    if !offset.starts_with("UTC") && !offset.starts_with("GMT") {
        return None;
    }
    let folded = fold(places);
    if let Some(zone) = the_one(&|zone| fold(&zone.places) == folded) {
        return Some(zone);
    }
    // The list differs between versions of Windows: one of its places is enough.
    let wanted: Vec<String> = places.split(',').map(fold).filter(|place| place.len() > 2).collect();
    let mut fitting = WINDOWS_ZONES
        .iter()
        .filter(|zone| zone.places.split(',').map(fold).any(|place| wanted.contains(&place)));
    match (fitting.next(), fitting.next()) {
        (Some(zone), None) => Some(&zone.zone),
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
        for WindowsZone { name, places, zone } in WINDOWS_ZONES.iter() {
            assert!(TimeZone::get(zone).is_ok(), "{name}: {zone}");
            assert!(!RENAMED_ZONES.iter().any(|[old, _]| old == zone), "{name}: {zone}");
            assert!(!places.is_empty());
        }
        for [old, today] in RENAMED_ZONES.iter() {
            assert!(TimeZone::get(old).is_ok(), "{old}");
            assert!(TimeZone::get(today).is_ok(), "{today}");
            assert!(!RENAMED_ZONES.iter().any(|[other, _]| other == today), "{old}: {today}");
        }
        for [name, _] in ZONES_OF_NO_PLACE.iter() {
            assert!(TimeZone::get(name).is_ok(), "{name}");
            assert!(!RENAMED_ZONES.iter().any(|names| names.contains(name)), "{name}");
        }
        for [name, such_as] in ZONE_ABBREVIATIONS.iter() {
            for zone in such_as.split(", ").flat_map(|zones| zones.split(" or ")) {
                assert_eq!(TimeZone::get(zone).unwrap().iana_name(), Some(zone), "{name}");
                assert!(misleading(zone).is_none() && renamed(zone).is_none(), "{name}: {zone}");
            }
        }
        assert!(ZONE_ABBREVIATIONS.is_sorted_by(|left, right| left[0] < right[0]));
    }

    #[test]
    fn a_zone_of_windows_is_known_by_its_name_and_by_its_places() {
        let table = [
            ("New Zealand Standard Time", Some("Pacific/Auckland")),
            ("(UTC+12:00) Auckland, Wellington", Some("Pacific/Auckland")),
            ("(UTC+12:00) Auckland", Some("Pacific/Auckland")),
            ("(GMT-05:00) Eastern Time (US & Canada)", Some("America/New_York")),
            ("(UTC) Coordinated Universal Time", Some("Etc/UTC")),
            ("Coordinated Universal Time", Some("Etc/UTC")),
            ("Eastern Time (US & Canada)", Some("America/New_York")),
            ("Hawaii", None),
            ("(UTC+12:00) Nowhere", None),
            ("Auckland", None),
        ];
        for (text, zone) in table {
            assert_eq!(of_windows(text), zone, "{text}");
        }
    }

    #[test]
    fn utc_is_known_by_any_name_that_the_services_list_has() {
        let asked_at = crate::model::time::Moment::parse("2026-03-01T10:00:00Z").unwrap();
        let of_utc = |id: &str, text: &str| {
            let list = ZoneList::new(vec![id.to_owned(), "Pacific/Auckland".to_owned()], asked_at).unwrap();
            let read = timezone(text, Some(&list), true, &mut CellReading::default());
            read.err().and_then(|problem| problem.suggestion)
        };
        for (id, text) in [
            ("UTC", "Etc/UTC"),
            ("UTC", "Coordinated Universal Time"),
            ("UTC", "(UTC) Coordinated Universal Time"),
            ("UTC", "Zulu"),
            ("Etc/UTC", "UTC"),
            ("Etc/UTC", "utc"),
            ("Etc/UCT", "(UTC) Coordinated Universal Time"),
            ("GMT", "Etc/GMT"),
            ("Etc/GMT", "Greenwich"),
        ] {
            assert_eq!(of_utc(id, text).as_deref(), Some(id), "{text}");
        }
        // It is no other name of the time of London.
        assert_eq!(of_utc("Europe/London", "UTC"), None);
        let list =
            ZoneList::new(["Europe/Kyiv", "Pacific/Auckland"].map(str::to_owned).to_vec(), asked_at).unwrap();
        let problem = timezone("Auckland", Some(&list), true, &mut CellReading::default()).unwrap_err();
        assert_eq!(
            problem.message,
            "'Auckland' is not in the service's list of 2 time zones of 2026-03-01: enter Pacific/Auckland if that is \
             right"
        );
    }
}

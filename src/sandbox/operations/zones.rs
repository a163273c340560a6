//! The time zones that the service lists (specification 2.8): those of the IANA database that have a place, and UTC. The
//! region is the first part of the identifier. Addresses are not checked against this list, since the specification does
//! not say that they are.

use serde_json::{Value, json};

/// The list, in the order of the identifiers.
pub(crate) fn zones() -> impl Iterator<Item = Value> {
    // Those that come along with the program, so that the service is the same on every machine.
    let bundled = jiff::tz::TimeZoneDatabase::bundled();
    let mut ids: Vec<String> = bundled
        .available()
        .map(|name| name.to_string())
        .filter(|name| name == "UTC" || (name.contains('/') && !name.starts_with("Etc/")))
        .collect();
    ids.sort_unstable();
    ids.into_iter().map(|id| {
        let named = NAMES.iter().find(|(zone, _)| *zone == id);
        let name = named.map_or_else(|| id.replace('_', " "), |(_, name)| (*name).to_owned());
        let region = id.split('/').next().unwrap_or(&id);
        json!({ "zoneId": id, "name": name, "region": region })
    })
}

/// What people call some of them.
#[rustfmt::skip]
static NAMES: [(&str, &str); 64] = [
    ("Africa/Cairo", "Eastern European Time (Cairo)"),
    ("Africa/Casablanca", "Western European Time (Casablanca)"),
    ("Africa/Johannesburg", "South Africa Standard Time"),
    ("Africa/Lagos", "West Africa Time"),
    ("Africa/Nairobi", "East Africa Time"),
    ("America/Anchorage", "Alaska Time"),
    ("America/Argentina/Buenos_Aires", "Argentina Time"),
    ("America/Bogota", "Colombia Time"),
    ("America/Chicago", "Central Time"),
    ("America/Denver", "Mountain Time"),
    ("America/Halifax", "Atlantic Time"),
    ("America/Lima", "Peru Time"),
    ("America/Los_Angeles", "Pacific Time"),
    ("America/Mexico_City", "Central Time (Mexico City)"),
    ("America/New_York", "Eastern Time"),
    ("America/Phoenix", "Mountain Time (Phoenix)"),
    ("America/Santiago", "Chile Time"),
    ("America/Sao_Paulo", "Brasilia Time"),
    ("America/St_Johns", "Newfoundland Time"),
    ("America/Toronto", "Eastern Time (Toronto)"),
    ("America/Vancouver", "Pacific Time (Vancouver)"),
    ("Asia/Bangkok", "Indochina Time"),
    ("Asia/Dubai", "Gulf Time"),
    ("Asia/Ho_Chi_Minh", "Indochina Time (Ho Chi Minh City)"),
    ("Asia/Hong_Kong", "Hong Kong Time"),
    ("Asia/Jakarta", "Western Indonesia Time"),
    ("Asia/Jerusalem", "Israel Time"),
    ("Asia/Karachi", "Pakistan Time"),
    ("Asia/Kathmandu", "Nepal Time"),
    ("Asia/Kolkata", "India Time"),
    ("Asia/Kuala_Lumpur", "Malaysia Time"),
    ("Asia/Manila", "Philippine Time"),
    ("Asia/Seoul", "Korea Time"),
    ("Asia/Shanghai", "China Time"),
    ("Asia/Singapore", "Singapore Time"),
    ("Asia/Taipei", "Taipei Time"),
    ("Asia/Tokyo", "Japan Time"),
    ("Atlantic/Reykjavik", "Greenwich Mean Time (Reykjavik)"),
    ("Australia/Adelaide", "Central Time (Adelaide)"),
    ("Australia/Brisbane", "Eastern Time (Brisbane)"),
    ("Australia/Darwin", "Central Time (Darwin)"),
    ("Australia/Hobart", "Eastern Time (Hobart)"),
    ("Australia/Melbourne", "Eastern Time (Melbourne)"),
    ("Australia/Perth", "Western Time (Perth)"),
    ("Australia/Sydney", "Eastern Time (Sydney)"),
    ("Europe/Amsterdam", "Central European Time (Amsterdam)"),
    ("Europe/Athens", "Eastern European Time (Athens)"),
    ("Europe/Berlin", "Central European Time (Berlin)"),
    ("Europe/Dublin", "Irish Time"),
    ("Europe/Helsinki", "Eastern European Time (Helsinki)"),
    ("Europe/Istanbul", "Turkey Time"),
    ("Europe/Lisbon", "Western European Time (Lisbon)"),
    ("Europe/London", "United Kingdom Time"),
    ("Europe/Madrid", "Central European Time (Madrid)"),
    ("Europe/Paris", "Central European Time (Paris)"),
    ("Europe/Prague", "Central European Time (Prague)"),
    ("Europe/Rome", "Central European Time (Rome)"),
    ("Europe/Stockholm", "Central European Time (Stockholm)"),
    ("Europe/Warsaw", "Central European Time (Warsaw)"),
    ("Europe/Zurich", "Central European Time (Zurich)"),
    ("Pacific/Auckland", "New Zealand Time"),
    ("Pacific/Fiji", "Fiji Time"),
    ("Pacific/Honolulu", "Hawaii Time"),
    ("Pacific/Port_Moresby", "Papua New Guinea Time"),
];

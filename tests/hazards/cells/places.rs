//! Places: countries (D8), time zones (D9, D10), and what can be said about addresses.

use std::sync::Arc;

use fleetload::model::time::Moment;
use fleetload::model::zone::ZoneList;
use fleetload::sheet::CountryForm;

use super::record::{cases, csv, device, judged, site, spoiled};

/// Countries as people write them: codes of two and three letters, names of parts, older names.
#[test]
fn d08_a_country_is_known_by_code_name_and_usual_names_and_anything_else_is_a_warning() {
    for (value, code) in [
        ("nz", "NZ"),
        ("NZL", "NZ"),
        ("new zealand", "NZ"),
        ("UK", "GB"),
        ("England", "GB"),
        ("USA", "US"),
        ("U.S.A.", "US"),
        ("the Netherlands", "NL"),
        ("The U.K.", "GB"),
        ("Holland", "NL"),
        ("Turkey", "TR"),
        ("Türkiye", "TR"),
        ("Cote d’Ivoire", "CI"),
        ("Trinidad & Tobago", "TT"),
        ("St Lucia", "LC"),
        ("NA", "NA"),
        ("Réunion", "RE"),
    ] {
        let desk = csv("sites", &[("country", value)]);
        assert_eq!(judged(&desk).0, [""; 0], "{value}");
        assert_eq!(site(&desk).address.country.as_deref(), Some(value), "sent as it stands");
        let coded = desk.read_with(|options| options.country = Some(CountryForm::Alpha2));
        assert_eq!(site(&coded).address.country.as_deref(), Some(code), "{value}");
    }
    cases(
        "sites",
        "country",
        &[
            ("New Zeland", "warning cell.country", Some("New Zealand")),
            ("Neuseeland", "warning cell.country", None),
            ("Auckland", "warning cell.country", None),
            ("1010", "warning cell.country", None),
            ("n/a", "warning cell.country", None),
            ("n.a.", "warning cell.country", None),
            ("D E", "warning cell.country", None),
            ("N-Z", "warning cell.country", None),
        ],
    );
}

/// The same, where a code or a name was asked for.
#[test]
fn d08_a_country_is_sent_as_the_code_or_name_that_was_asked_for() {
    let sent = |value: &str, form: CountryForm| {
        let desk = csv("sites", &[("country", value)]).read_with(|options| options.country = Some(form));
        site(&desk).address.country
    };
    for value in ["gb", "GBR", "UK", "England", "United Kingdom"] {
        assert_eq!(sent(value, CountryForm::Alpha2).as_deref(), Some("GB"), "{value}");
        assert_eq!(sent(value, CountryForm::Name).as_deref(), Some("United Kingdom"), "{value}");
        assert_eq!(sent(value, CountryForm::AsIs).as_deref(), Some(value));
    }
    assert_eq!(
        sent("Erewhon", CountryForm::Alpha2).as_deref(),
        Some("Erewhon"),
        "told, and left to the service"
    );
}

/// Time zones out of Outlook and Windows, offsets, abbreviations, and the zones whose sign is the other way round.
#[test]
fn d09_a_time_zone_is_a_name_of_the_list_and_what_is_meant_is_suggested() {
    let auckland = Some("Pacific/Auckland");
    cases(
        "sites",
        "timezone",
        &[
            ("Pacific/Auckland", "", None),
            ("pacific/auckland", "", None),
            ("UTC", "", None),
            ("New Zealand Standard Time", "warning cell.timezone", auckland),
            ("(UTC+12:00) Auckland, Wellington", "warning cell.timezone", auckland),
            ("Auckland", "warning cell.timezone", auckland),
            ("Pacific/Aukland", "warning cell.timezone", auckland),
            ("EST", "warning cell.timezone", None),
            ("PST", "warning cell.timezone", None),
            ("(UTC) Coordinated Universal Time", "warning cell.timezone", Some("Etc/UTC")),
            ("Etc/GMT-12", "warning cell.timezone", None),
            ("GMT+12", "error cell.timezone", None),
            ("+12:00", "error cell.timezone", None),
            ("(UTC+12:00)", "error cell.timezone", None),
        ],
    );
    for (zone, sent) in [("pacific/auckland", auckland), ("Pacific/Aukland", Some("Pacific/Aukland"))] {
        assert_eq!(site(&csv("sites", &[("timezone", zone)])).address.timezone.as_deref(), sent);
    }
    for (zone, such_as) in
        [("CET", "such as Europe/Berlin"), ("IST", "such as Asia/Kolkata, Asia/Jerusalem or Europe/Dublin")]
    {
        let message = csv("sites", &[("timezone", zone)]).the("cell.timezone").message;
        assert!(message.ends_with(such_as), "{message}");
    }
    let finding = csv("sites", &[("timezone", "Etc/GMT-12")]).the("cell.timezone");
    assert!(finding.message.contains("12 hours ahead of UTC"), "{}", finding.message);
}

/// The same where the service has said which zones it has: what it does not list is an error, whatever the world knows.
#[test]
fn d09_a_time_zone_is_one_of_the_services_own_list_where_that_is_known() {
    let ids = [
        "America/New_York",
        "Asia/Calcutta",
        "EST",
        "Etc/GMT-12",
        "Europe/Kyiv",
        "Pacific/Auckland",
        "PST8PDT",
    ];
    let list = Arc::new(ZoneList::new(ids.map(str::to_owned).into(), Moment::default()).expect("a list"));
    let read = |zone: &str| {
        csv("sites", &[("timezone", zone)]).read_with(|options| options.zones = Some(list.clone()))
    };
    for (zone, found, sent) in [
        ("Pacific/Auckland", "", "Pacific/Auckland"),
        ("pacific/auckland", "", "Pacific/Auckland"),
        // An older name is right where the service has it, and one of today is wrong where it has not.
        ("Asia/Calcutta", "", "Asia/Calcutta"),
        ("EST", "warning cell.timezone H2", "EST"),
        ("Etc/GMT-12", "warning cell.timezone H2", "Etc/GMT-12"),
        ("PST8PDT", "warning cell.timezone H2", "PST8PDT"),
    ] {
        let (told, suggestion) = judged(&read(zone));
        assert_eq!((told.concat().as_str(), suggestion), (found, None), "{zone}");
        assert_eq!(site(&read(zone)).address.timezone.as_deref(), Some(sent), "{zone}");
    }
    for (zone, suggestion) in [
        ("Asia/Kolkata", Some("Asia/Calcutta")),
        ("Europe/Kiev", Some("Europe/Kyiv")),
        ("New Zealand Standard Time", Some("Pacific/Auckland")),
        ("India Standard Time", Some("Asia/Calcutta")),
        ("Auckland", Some("Pacific/Auckland")),
        ("Pacific/Aukland", Some("Pacific/Auckland")),
        ("Europe/Oslo", None),
        ("Tokyo Standard Time", None),
        ("UTC", None),
        ("GMT+12", None),
        ("+12:00", None),
    ] {
        let found = vec!["error cell.timezone H2".to_owned()];
        assert_eq!(judged(&read(zone)), (found, suggestion.map(str::to_owned)), "{zone}");
    }
}

/// Names of zones out of older systems.
#[test]
fn d10_an_older_name_of_a_zone_is_sent_as_it_is_and_the_name_of_today_suggested() {
    cases(
        "sites",
        "timezone",
        &[
            ("Asia/Calcutta", "warning cell.timezone", Some("Asia/Kolkata")),
            ("Europe/Kiev", "warning cell.timezone", Some("Europe/Kyiv")),
            ("NZ", "warning cell.timezone", Some("Pacific/Auckland")),
        ],
    );
    let desk = csv("sites", &[("timezone", "Asia/Calcutta")]);
    assert_eq!(site(&desk).address.timezone.as_deref(), Some("Asia/Calcutta"));
}

/// A list of customers without streets.
#[test]
fn a_first_line_of_address_may_lack_where_that_was_said_and_for_devices_never() {
    assert_eq!(spoiled("sites", "address1", "").0, ["error cell.required E2"]);
    for kind in ["companies", "people", "sites"] {
        let blank = csv(kind, &[("address1", "")]).read_with(|options| options.allow_missing_address1 = true);
        assert_eq!(judged(&blank).0, [""; 0], "{kind}");
        assert_eq!(blank.examined().sheets[0].usable, 1, "{kind}");
    }
    let device =
        csv("devices", &[("address1", "")]).read_with(|options| options.allow_missing_address1 = true);
    assert_eq!(judged(&device).0, ["error cell.required G2"]);
    let sheet =
        "company,name,phone,city,country\n6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11,A,+64 9 557 0000,Ulm,DE\n";
    let without = crate::desk::Desk::with("sites.csv", sheet);
    assert_eq!(without.found(), ["fatal header.required-missing row 1"]);
    let without = without.read_with(|options| options.allow_missing_address1 = true);
    assert_eq!(without.found(), [""; 0]);
}

/// A sheet with one pair of coordinates, where the service has two.
#[test]
fn the_coordinates_of_a_site_are_copied_to_its_address_only_where_that_was_said() {
    let cells = [("latitude", "-36.8485"), ("longitude", "174.7633")];
    let address = |desk: &crate::desk::Desk| {
        let address = site(desk).address;
        (address.latitude, address.longitude)
    };
    assert_eq!(address(&csv("sites", &cells)), (None, None));
    let copied = csv("sites", &cells).read_with(|options| options.copy_coordinates = true);
    assert_eq!(address(&copied), (Some(-36.8485), Some(174.7633)));
    let own = [cells[0], cells[1], ("address_latitude", "-36.9"), ("address_longitude", "174.8")];
    let own = csv("sites", &own).read_with(|options| options.copy_coordinates = true);
    assert_eq!(address(&own), (Some(-36.9), Some(174.8)));
    let device = device(&csv("devices", &cells));
    assert_eq!((device.address.latitude, device.address.longitude), (Some(-36.8485), Some(174.7633)));
}

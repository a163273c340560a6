//! Numbers and booleans: what spreadsheet programs and scripts make of digits (N1 to N14).

use super::record::{cases, csv, device, judged, number, number_with, person, row, site, spoiled};

/// A phone number typed into a cell of format General: its leading zero or plus sign is gone.
#[test]
fn n01_a_phone_number_stored_as_a_number_is_a_warning_and_an_error_when_too_short() {
    let desk = number("sites", "phone", "95551234");
    assert_eq!(judged(&desk), (vec!["warning cell.numeric-identifier sites!D2".to_owned()], None));
    assert_eq!(site(&desk).phone_number, "95551234");
    let finding = desk.the("cell.numeric-identifier");
    assert!(finding.message.contains("a leading 0 or + may be lost"), "{}", finding.message);
    for (value, severity) in [("555123", "error"), ("555.01", "error"), ("555.0123", "warning")] {
        let expected = [format!("{severity} cell.numeric-identifier sites!D2")];
        assert_eq!(judged(&number("sites", "phone", value)).0, expected, "{value}");
    }
    assert_eq!(site(&number("sites", "phone", "555.0123")).phone_number, "555.0123");
}

/// Shelf 1.10 in a cell of format General, and a key of the same kind.
#[test]
fn n01_a_number_with_a_fraction_is_a_warning_and_an_error_where_it_says_which_record_is_meant() {
    for column in ["name", "address2", "reference"] {
        let desk = number("sites", column, "1.1");
        assert_eq!(desk.the("cell.numeric-identifier").value.as_deref(), Some("1.1"));
        assert_eq!(desk.examined().sheets[0].usable, 1, "{column}: warning cell.numeric-identifier");
        assert!(format!("{:?}", site(&desk)).contains("\"1.1\""), "{column}");
    }
    for (column, cell) in [("key", "A2"), ("company", "B2")] {
        let expected = [format!("error cell.numeric-identifier sites!{cell}")];
        assert_eq!(judged(&number("sites", column, "1.1")).0, expected);
    }
}

/// A CSV saved by Excel: a long number became a power of ten.
#[test]
fn n02_a_phone_number_as_a_power_of_ten_has_lost_its_digits() {
    cases(
        "sites",
        "phone",
        &[
            ("4.41235E+11", "error cell.scientific", None),
            ("4,41235E+11", "error cell.scientific", None),
            ("4.41E11", "error cell.scientific", None),
            ("6.49 E+11", "error cell.scientific", None),
            ("649E-1", "error cell.scientific", None),
        ],
    );
    assert_eq!(spoiled("sites", "reference", "1.2E+10").0, ["error cell.scientific H2"]);
    assert_eq!(spoiled("sites", "key", "1E+10").0, ["error cell.scientific A2"]);
    let finding = csv("sites", &[("phone", "4.41235E+11")]).the("cell.scientific");
    assert!(finding.message.contains("digits were lost when the sheet was saved"), "{}", finding.message);
}

/// A column with a blank cell, written by a script that knows only decimals then.
#[test]
fn n03_a_point_and_a_zero_after_digits_are_taken_off_with_a_warning() {
    let desk = csv("sites", &[("phone", "441234567890.0")]);
    assert_eq!(judged(&desk).0, ["warning cell.numeric-identifier D2"]);
    assert_eq!(site(&desk).phone_number, "441234567890");
    assert_eq!(site(&csv("sites", &[("name", "2.0")])).name, "2.0");
    // As money is written; three zeros are a thousand.
    for (column, cell, value, sent) in [
        ("phone", "D2", "95551234.00", "95551234"),
        ("phone", "D2", "95551234,00", "95551234"),
        ("postcode", "H2", "2134.00", "2134"),
    ] {
        let desk = csv("sites", &[(column, value)]);
        assert_eq!(judged(&desk).0, [format!("warning cell.numeric-identifier {cell}")], "{value}");
        let site = site(&desk);
        assert!(
            [site.address.post_or_zip_code.as_deref(), Some(&site.phone_number)].contains(&Some(sent)),
            "{value}"
        );
    }
    assert_eq!(postcode(&csv("sites", &[("postcode", "2.000")])), "2.000");
}

/// More digits than Excel keeps: the last ones are zeros now.
#[test]
fn n04_a_number_of_sixteen_digits_has_lost_some() {
    let name = number("sites", "name", "0.30000000000000004");
    assert_eq!(judged(&name).0, ["error cell.precision-lost sites!C2"]);
    let desk = number("sites", "phone", "1234567890123456");
    assert_eq!(judged(&desk).0, ["error cell.precision-lost sites!D2"]);
    assert_eq!(
        judged(&number("sites", "phone", "123456789012345")).0,
        ["warning cell.numeric-identifier sites!D2"]
    );
}

/// A MAC address that has no letters, typed into a cell of format General.
#[test]
fn n05_a_mac_of_digits_stored_as_a_number_is_an_error_with_the_padded_address() {
    let found = judged(&number("devices", "mac", "1122334455"));
    let expected = vec!["error cell.numeric-identifier devices!E2".to_owned()];
    assert_eq!(found, (expected, Some("00:11:22:33:44:55".to_owned())));
    // The address of a group, one that no manufacturer gave, and twelve digits.
    for value in ["112233445566", "21122334455"] {
        assert_eq!(judged(&number("devices", "mac", value)).1, None, "{value}");
    }
    let whole = number("devices", "mac", "881122334455");
    assert_eq!(judged(&whole).1.as_deref(), Some("88:11:22:33:44:55"));
    let message = whole.the("cell.numeric-identifier").message;
    assert!(
        message.contains("leading zeros or an exponent may be lost") && !message.contains("this has 12"),
        "{message}"
    );
    assert_eq!(spoiled("devices", "mac", "1122334455.0").0, ["error cell.numeric-identifier E2"]);
    // In a text table the digits are text, and too few.
    let finding = csv("devices", &[("mac", "1122334455")]).the("cell.mac-length");
    assert!(finding.message.contains("leading zeros may be lost"), "{}", finding.message);
}

/// A MAC address with one E among digits, which Excel took for a power of ten.
#[test]
fn n06_a_mac_that_became_a_power_of_ten_cannot_be_restored() {
    let expected = vec!["error cell.numeric-identifier devices!E2".to_owned()];
    assert_eq!(judged(&number("devices", "mac", "1635442100")), (expected, None));
    cases("devices", "mac", &[("1.64E+09", "error cell.scientific", None)]);
}

/// The postcode of a site as it is sent.
fn postcode(desk: &crate::desk::Desk) -> String {
    site(desk).address.post_or_zip_code.expect("a postcode").into()
}

/// A postcode of New England without its zero.
#[test]
fn n07_zeros_of_a_postcode_are_restored_where_the_country_makes_them_certain() {
    for (country, value, sent) in [("US", "2134", "02134"), ("Norway", "10", "0010"), ("IT", "118", "00118")]
    {
        let desk = number_with("sites", "postcode", value, &[("country", country)]);
        let expected = vec!["warning cell.zero-padded-format sites!H2".to_owned()];
        assert_eq!(judged(&desk), (expected, Some(sent.to_owned())), "{country}");
        assert_eq!(postcode(&desk), sent, "{country}");
        // A report has it as text, which nothing is put back in when it is read again.
        assert_eq!(row(&desk).cells[7], sent, "{country}");
    }
    let desk = number_with("sites", "postcode", "2134", &[("country", "US")]);
    assert_eq!(
        desk.the("cell.zero-padded-format").message,
        "the cell holds a number, which has no leading zeros, but the postcodes of the row's country (United States) \
         have 5 digits: 2134 is sent as 02134. Compare it, and format the column as Text"
    );
    let desk = number_with("sites", "postcode", "2134", &[("country", "")])
        .read_with(|options| options.set_default("sites.country=US").expect("a column"));
    assert_eq!(postcode(&desk), "02134");
}

/// No country, one whose postcodes are no numbers, one without zeros in front, one that writes a dash; and text,
/// which has what was typed.
#[test]
fn n07_no_zero_is_added_to_a_postcode_where_that_is_not_certain() {
    for (country, value) in
        [("", "2134"), ("GB", "2134"), ("US", "213"), ("AT", "101"), ("PL", "1001"), ("Wonderland", "2134")]
    {
        let desk = number_with("sites", "postcode", value, &[("country", country)]);
        let found = judged(&desk).0;
        assert!(
            found.contains(&"warning cell.numeric-identifier sites!H2".to_owned()),
            "{country}: {found:?}"
        );
        assert_eq!(postcode(&desk), value, "{country}");
    }
    for text in ["02134", "2134"] {
        let desk = csv("sites", &[("postcode", text), ("country", "US")]);
        assert_eq!((judged(&desk).0, postcode(&desk)), (Vec::new(), text.to_owned()));
    }
    // A script may have written the zeros and taken them for nothing, or not.
    let desk = csv("sites", &[("postcode", "2134.0"), ("country", "US")]);
    let expected = vec!["warning cell.numeric-identifier H2".to_owned()];
    assert_eq!(judged(&desk), (expected, Some("02134".to_owned())));
    assert_eq!(postcode(&desk), "2134");
}

/// Latitude and longitude as they are sent.
fn place(latitude: &str, longitude: &str) -> (Option<f64>, Option<f64>) {
    let site = site(&csv("sites", &[("latitude", latitude), ("longitude", longitude)]));
    (site.latitude, site.longitude)
}

/// The binary fraction that Excel stores for a decimal one.
#[test]
fn n08_coordinates_have_at_most_seven_decimals() {
    assert_eq!(place("51.507400000000004", "-0.12780000000000002"), (Some(51.5074), Some(-0.1278)));
    assert_eq!(place("51.50740001234", "-0.0"), (Some(51.5074), Some(0.0)));
}

/// What is told of a latitude, beside a longitude that is right.
#[track_caller]
fn latitudes(table: &[(&str, &str, Option<&str>)]) {
    for (value, told, suggestion) in table {
        let found = judged(&csv("sites", &[("longitude", "174.7633"), ("latitude", value)]));
        let expected: Vec<String> = if told.is_empty() { vec![] } else { vec![format!("error {told} I2")] };
        assert_eq!(found, (expected, suggestion.map(str::to_owned)), "{value:?}");
    }
}

/// Numbers as Germany, France and Switzerland write them.
#[test]
fn n09_a_decimal_comma_is_read_where_no_comma_separates_cells_and_thousands_never() {
    latitudes(&[
        ("51,5074", "cell.decimal-comma", Some("51.5074")),
        ("1.234,5", "cell.decimal-comma", None),
        ("1 234,5", "cell.decimal-comma", None),
        ("1 000", "cell.number", None),
        ("1'000", "cell.number", None),
        ("1747645,5", "cell.decimal-comma", None),
    ]);
    let header = "company;name;phone;address1;city;country;latitude;longitude";
    let row = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11;A;+64 9 557 0000;1 Earl St;Ulm;DE;48,4011;9,9876";
    let desk = crate::desk::Desk::with("sites.csv", format!("{header}\n{row}\n"));
    assert_eq!(judged(&desk).0, [""; 0]);
    assert_eq!((site(&desk).latitude, site(&desk).longitude), (Some(48.4011), Some(9.9876)));
}

/// Coordinates copied from a map.
#[test]
fn n10_degrees_and_minutes_and_both_coordinates_in_a_cell_are_errors_with_the_decimal_value() {
    latitudes(&[
        ("51°30'26\"N", "cell.dms", Some("51.5072222")),
        ("51°30'26\"S", "cell.dms", Some("-51.5072222")),
        ("51.5 N", "cell.dms", Some("51.5")),
        ("51.5, -0.12", "cell.coords-pair", Some("51.5")),
        ("51.5074 -0.1278", "cell.coords-pair", Some("51.5074")),
        ("51°30'26\"N 0°7'39\"W", "cell.coords-pair", Some("51.5072222")),
    ]);
    latitudes(&[
        ("51,5 N", "cell.dms", Some("51.5")),
        ("36.8 South", "cell.dms", Some("-36.8")),
        ("-36.8N", "cell.dms", None),
        ("51 30", "cell.dms", None),
        ("174.7 E", "cell.coords-swapped", None),
        ("O 12.5", "cell.coords-swapped", None),
        ("95°", "cell.coords-swapped", None),
        ("195°", "cell.range", None),
        ("174.7 N", "cell.coords-swapped", None),
        ("51.5N 200E", "cell.coords-pair", None),
        ("51,5; -0,12", "cell.coords-pair", Some("51.5")),
        ("174.76, -36.85", "cell.coords-pair", None),
        ("1/2", "cell.number", None),
        ("½", "cell.number", None),
        ("51·5", "cell.number", None),
    ]);
    let west = judged(&csv("sites", &[("latitude", "51.5"), ("longitude", "0,12 W")]));
    assert_eq!(west, (vec!["error cell.dms I2".to_owned()], Some("-0.12".to_owned())));
    let east_or_west = csv("sites", &[("latitude", "51.5"), ("longitude", "12.5 O")]);
    assert_eq!(judged(&east_or_west), (vec!["error cell.dms I2".to_owned()], None));
    let found = judged(&csv("sites", &[("latitude", "51.5"), ("longitude", "51.5, -0.12")]));
    assert_eq!(found, (vec!["error cell.coords-pair I2".to_owned()], Some("-0.12".to_owned())));
}

/// Columns swapped by hand, a decimal point lost to a locale, and the zeros of a database.
#[test]
fn n11_coordinates_that_are_swapped_scaled_missing_or_zero_are_told() {
    let told = |latitude: &str, longitude: &str| {
        judged(&csv("sites", &[("latitude", latitude), ("longitude", longitude)])).0
    };
    assert_eq!(told("174.7633", "-36.8485"), ["error cell.coords-swapped H2"]);
    assert_eq!(told("-36.8485", "1747633"), ["error cell.range I2"]);
    assert_eq!(told("-368485", "174.7633"), ["error cell.range H2"]);
    assert_eq!(told("-36.8485", ""), ["error row.incomplete-group I2"]);
    assert_eq!(told("", "174.7633"), ["error row.incomplete-group H2"]);
    assert_eq!(told("0", "0"), ["warning cell.placeholder H2"]);
    assert_eq!(told("0", "174.7633"), [""; 0]);
    let finding = csv("sites", &[("latitude", "-36.8"), ("longitude", "1747633")]).the("cell.range");
    assert!(finding.message.contains("perhaps its decimal point was lost"), "{}", finding.message);
}

/// Yes and no out of Excels of other languages.
#[test]
fn n12_yes_and_no_are_read_in_the_words_of_the_list_and_in_no_others() {
    let yes = [
        "TRUE",
        "WAHR",
        "VRAI",
        "VERDADERO",
        "VERDADEIRO",
        "VERO",
        "WAAR",
        "SANT",
        "SAND",
        "TOSI",
        "PRAWDA",
        "ИСТИНА",
        "DOĞRU",
        "yes",
        "y",
        "1",
        "on",
        "t",
        "ja",
        "oui",
        "sí",
        "si",
        "sim",
    ];
    let no = [
        "FALSE", "FALSCH", "FAUX", "FALSO", "ONWAAR", "FALSKT", "FALSK", "EPÄTOSI", "FAŁSZ", "ЛОЖЬ",
        "YANLIŞ", "no", "n", "N", "0", "off", "f", "nein", "non", "não",
    ];
    for (words, expected) in [(yes.as_slice(), true), (no.as_slice(), false)] {
        for word in words {
            assert_eq!(person(&csv("people", &[("allow_login", word)])).allow_login, expected, "{word}");
        }
    }
    cases(
        "people",
        "allow_login",
        &[
            ("x", "error cell.bool", None),
            ("maybe", "error cell.bool", None),
            ("1.0", "error cell.bool", Some("1")),
            ("0.0", "error cell.bool", Some("0")),
        ],
    );
    assert_eq!(judged(&csv("people", &[("allow_login", "")])).0, ["error cell.required I2"]);
    let finding = csv("people", &[("allow_login", "x")]).the("cell.bool");
    assert!(finding.message.contains("yes or no (or true/false, y/n, 1/0, on/off)"), "{}", finding.message);
}

/// What scripts write for a number that is none.
#[test]
fn n13_only_decimal_numbers_are_numbers() {
    latitudes(&[
        ("NaN", "cell.number", None),
        ("inf", "cell.number", None),
        ("1e400", "cell.number", None),
        ("1e1", "cell.number", None),
        ("--5", "cell.number", None),
        ("0x10", "cell.number", None),
    ]);
    // In a cell of a workbook, where the digits are gone.
    let place = number_with("sites", "latitude", "1E400", &[("longitude", "174.7633")]);
    assert_eq!(judged(&place).0, ["error cell.number sites!H2"]);
    for (column, cell) in [("phone", "D2"), ("name", "C2")] {
        let desk = number("sites", column, "1E400");
        assert_eq!(judged(&desk).0, [format!("error cell.precision-lost sites!{cell}")]);
        assert_eq!(desk.the("cell.precision-lost").value.as_deref(), Some(">1.79E+308"));
    }
}

/// Numbers as people type them.
#[test]
fn n14_a_number_may_lack_a_zero_have_a_plus_or_be_written_in_full_width() {
    assert_eq!(place(".5", "+5"), (Some(0.5), Some(5.0)));
    assert_eq!(place("-.5", "+174.7633"), (Some(-0.5), Some(174.7633)));
    assert_eq!(place("5.", "１２"), (Some(5.0), Some(12.0)));
    let device = device(&csv("devices", &[("latitude", "－36.8485"), ("longitude", "174.7633")]));
    assert_eq!(device.address.latitude, Some(-36.8485));
}

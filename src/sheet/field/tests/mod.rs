//! Each rule of each form, as tables.

use super::*;
use crate::model::kind::{Kind, Upkeep};
use crate::sheet::address::CellRange;
use crate::sheet::cell::Cover;
use crate::sheet::table::column::{column, columns};

const CSV: TableSetting = TableSetting { is_text_table: true, comma_is_free: false };

fn field(
    kind: Kind,
    name: &str,
    cell: impl std::borrow::Borrow<Cell>,
) -> (Option<Value>, Vec<(Code, Severity)>, Option<String>) {
    let reading = read(
        column(kind, name).unwrap(),
        cell.borrow(),
        CellContext::default(),
        CSV,
        &Ways::of(&Options::default()),
    );
    let suggestion = reading.problems().iter().find_map(|problem| problem.suggestion.clone());
    let problems = reading.problems().iter().map(|problem| (problem.code, problem.severity)).collect();
    (reading.value, problems, suggestion)
}

fn text(kind: Kind, name: &str, value: &str) -> std::result::Result<Value, Code> {
    let (value, problems, _) = field(kind, name, Cell::text(value));
    match problems.iter().find(|(_, severity)| *severity == Severity::Error) {
        Some((code, _)) => Err(*code),
        None => Ok(value.unwrap_or(Value::Text(SmolStr::default()))),
    }
}

fn number(value: f64) -> Cell {
    Cell { kind: CellKind::Number { value, padded: false }, text: format!("{value}").into() }
}

#[test]
fn macs_are_read_in_every_notation_and_nothing_is_guessed() {
    let good = "00:1a:2b:3c:4d:5e";
    for text_value in [
        "00:1A:2B:3C:4D:5E",
        "00-1a-2b-3c-4d-5e",
        "001A.2B3C.4D5E",
        "001a2b3c4d5e",
        "0:1a:2b:3c:4d:5e",
        "'001a2b3c4d5e",
        "\u{ff10}01A2B3C4D5E",
    ] {
        assert_eq!(text(Kind::Device, "mac", text_value), Ok(Value::Text(good.into())), "{text_value}");
    }
    let table = [
        ("00:1A:2B:3C:4D", Code::CellMacLength),
        ("001a2b3c4d5e6f70", Code::CellMacLength),
        ("000000000000", Code::CellMacReserved),
        ("ff:ff:ff:ff:ff:ff", Code::CellMacReserved),
        ("01:00:5e:00:00:01", Code::CellMacReserved),
        ("O0:1A:2B:3C:4D:5E", Code::CellMac),
        ("SN-99812", Code::CellMac),
        ("00:1А:2B:3C:4D:5E", Code::CellNonAsciiLookalike),
        ("1.63544E+09", Code::CellScientific),
    ];
    for (value, code) in table {
        assert_eq!(text(Kind::Device, "mac", value), Err(code), "{value}");
    }
    let (value, problems, _) = field(Kind::Device, "mac", Cell::text("n/a"));
    assert_eq!((value, problems), (None, vec![(Code::CellPlaceholder, Severity::Warning)]));
    let (value, problems, _) = field(Kind::Device, "mac", Cell::text("02:1a:2b:3c:4d:5e"));
    assert!(value.is_some());
    assert_eq!(problems, [(Code::CellMacReserved, Severity::Warning)]);
}

#[test]
fn a_number_where_a_mac_belongs_is_an_error_with_the_padded_address() {
    let (value, problems, suggestion) = field(Kind::Device, "mac", number(1_122_334_455.0));
    assert_eq!(value, None);
    assert_eq!(problems, [(Code::CellNumericIdentifier, Severity::Error)]);
    assert_eq!(suggestion.as_deref(), Some("00:11:22:33:44:55"));
}

#[test]
fn numbers_in_text_columns_are_told() {
    let table = [
        ("phone", 95_551_234.0, Some("95551234"), vec![(Code::CellNumericIdentifier, Severity::Warning)]),
        ("phone", 5_551.0, None, vec![(Code::CellNumericIdentifier, Severity::Error)]),
        ("phone", 12_345_678_901_234_568.0, None, vec![(Code::CellPrecisionLost, Severity::Error)]),
        ("postcode", 2134.0, Some("2134"), vec![(Code::CellNumericIdentifier, Severity::Warning)]),
        ("name", 7.5, Some("7.5"), vec![(Code::CellNumericIdentifier, Severity::Warning)]),
        ("address2", 1.5, Some("1.5"), vec![(Code::CellNumericIdentifier, Severity::Warning)]),
        ("phone", 555.01, None, vec![(Code::CellNumericIdentifier, Severity::Error)]),
        ("phone", 555.0123, Some("555.0123"), vec![(Code::CellNumericIdentifier, Severity::Warning)]),
        ("key", 1.1, None, vec![(Code::CellNumericIdentifier, Severity::Error)]),
        ("name", 0.1 + 0.2, None, vec![(Code::CellPrecisionLost, Severity::Error)]),
        ("name", f64::INFINITY, None, vec![(Code::CellPrecisionLost, Severity::Error)]),
    ];
    for (name, value, expected, problems) in table {
        let (found, told, _) = field(Kind::Device, name, number(value));
        assert_eq!(found, expected.map(|text| Value::Text(text.into())), "{name} {value}");
        assert_eq!(told, problems, "{name} {value}");
    }
    // Of which record a row is, nobody knows either, nor of which kind.
    for kind in [Kind::Upkeep(Upkeep::Labels), Kind::Upkeep(Upkeep::Metadata)] {
        let (found, told, _) = field(kind, "owner", number(1.1));
        assert_eq!((found, told), (None, vec![(Code::CellNumericIdentifier, Severity::Error)]), "{kind}");
        assert_eq!(text(kind, "owner", "1.0"), Err(Code::CellNumericIdentifier), "{kind}");
    }
    let padded = Cell { kind: CellKind::Number { value: 123.0, padded: true }, text: "00123".into() };
    assert_eq!(field(Kind::Device, "postcode", padded), (Some(Value::Text("00123".into())), vec![], None));
}

#[test]
fn dates_booleans_and_formula_errors_are_never_text() {
    let date = Cell { kind: CellKind::Date, text: "2024-02-01".into() };
    let truth = Cell { kind: CellKind::Bool(true), text: "TRUE".into() };
    let error = Cell { kind: CellKind::Error, text: "#N/A".into() };
    assert_eq!(field(Kind::Site, "name", date).1, [(Code::CellDateUnexpected, Severity::Error)]);
    assert_eq!(field(Kind::Site, "name", truth.clone()).1, [(Code::CellBoolUnexpected, Severity::Error)]);
    assert_eq!(field(Kind::Site, "name", error).1, [(Code::CellFormulaError, Severity::Error)]);
    assert_eq!(text(Kind::Site, "name", "#BEZUG!"), Err(Code::CellFormulaError));
    assert_eq!(field(Kind::Person, "allow_login", truth).0, Some(Value::Bool(true)));
}

#[test]
fn what_the_reports_show_of_a_refused_cell_is_refused_as_a_text_too() {
    let kind = |kind, text: &str| Cell { kind, text: text.into() };
    let cover = Cover { at: (7, 7), merge: CellRange::of("G7:H7").unwrap() };
    let mut cells = vec![
        kind(CellKind::Date, "2026-05-02"),
        kind(CellKind::Date, "10:20:30"),
        kind(CellKind::Bool(true), "TRUE"),
        kind(CellKind::Error, "#N/A"),
        kind(CellKind::Error, "#NEW!"),
        kind(CellKind::Unsaved, ""),
        kind(CellKind::Covered(cover), ""),
        Cell::text("someone@customer.example"),
        Cell::text("Someone"),
    ];
    let numbers = [1e11, 123_456_789_012.0, 1_234_567_890_123_456_789.0, 1.1, 12_345.0, -1.0, f64::INFINITY];
    cells.extend(numbers.map(number));
    let setting = TableSetting { is_text_table: false, comma_is_free: true };
    let link = CellContext { link: Some("other@customer.example"), ..CellContext::default() };
    let (mut refused, mut shown_otherwise) = (0, 0);
    for column in Kind::ALL.iter().flat_map(|kind| columns(*kind)) {
        for cell in &cells {
            let reading = read(column, cell, link, setting, &Ways::of(&Options::default()));
            if !reading.is_wrong() {
                continue;
            }
            let restored = reading.remarks.as_ref().and_then(|remarks| remarks.restored.clone());
            let shown = Cell::text(restored.as_deref().unwrap_or(&cell.text));
            let again = read(column, &shown, CellContext::default(), setting, &Ways::of(&Options::default()));
            assert!(again.is_wrong(), "{} {cell:?} {shown:?}", column.name);
            refused += 1;
            shown_otherwise += usize::from(restored.is_some());
        }
    }
    assert!(shown_otherwise > 100 && refused > shown_otherwise, "{shown_otherwise} of {refused}");
}

#[test]
fn usernames_follow_the_pattern_and_are_not_lowered_silently() {
    assert_eq!(text(Kind::Person, "username", "jane.doe@acme"), Ok(Value::Text("jane.doe@acme".into())));
    let (value, problems, suggestion) = field(Kind::Person, "username", Cell::text("Jane.Doe"));
    assert_eq!((value, problems), (None, vec![(Code::CellUsername, Severity::Error)]));
    assert_eq!(suggestion.as_deref(), Some("jane.doe"));
    assert_eq!(text(Kind::Person, "username", "jane_doe"), Err(Code::CellUsername));
    assert_eq!(text(Kind::Person, "username", "jаne"), Err(Code::CellNonAsciiLookalike));
}

#[test]
fn e_mail_addresses_are_bare_and_have_a_domain() {
    let table = [
        ("jane@Acme.Example", Ok("jane@acme.example")),
        ("jane@müller.example", Ok("jane@müller.example")),
        ("jane@acme", Err(Code::CellEmail)),
        ("jane@[127.0.0.1]", Err(Code::CellEmail)),
        ("jane@127.0.0.1", Err(Code::CellEmail)),
        ("Jane <jane@acme.example>", Err(Code::CellEmail)),
        ("mailto:jane@acme.example", Err(Code::CellEmail)),
        ("\"jane\"@acme.example", Err(Code::CellEmail)),
        ("a@x.example; b@x.example", Err(Code::CellMultipleValues)),
        ("jane acme.example", Err(Code::CellEmail)),
        ("tbd", Err(Code::CellPlaceholder)),
    ];
    for (value, expected) in table {
        assert_eq!(
            text(Kind::Person, "email", value),
            expected.map(|text| Value::Text(text.into())),
            "{value}"
        );
    }
    let (_, _, suggestion) = field(Kind::Person, "email", Cell::text("Jane <jane@Acme.example>"));
    assert_eq!(suggestion.as_deref(), Some("jane@acme.example"));
}

#[test]
fn enumerations_ignore_case_and_separators_and_suggest_near_misses() {
    assert_eq!(text(Kind::Company, "company_type", " customer"), Ok(Value::Choice(0)));
    assert_eq!(text(Kind::Person, "template_scope", "Company no-inherit"), Ok(Value::Choice(1)));
    assert_eq!(text(Kind::Person, "user_type", "vpn  USER"), Ok(Value::Choice(5)));
    let (_, problems, suggestion) = field(Kind::Company, "company_type", Cell::text("CUSTOMR"));
    assert_eq!(problems, [(Code::CellEnum, Severity::Error)]);
    assert_eq!(suggestion.as_deref(), Some("CUSTOMER"));
}

#[test]
fn yes_and_no_are_understood_in_the_languages_of_excel() {
    for (word, truth) in [
        ("TRUE", true),
        ("ja", true),
        ("sí", true),
        ("WAHR", true),
        ("1", true),
        ("nein", false),
        ("ЛОЖЬ", false),
        ("N", false),
    ] {
        assert_eq!(text(Kind::Person, "allow_login", word), Ok(Value::Bool(truth)), "{word}");
    }
    assert_eq!(text(Kind::Person, "allow_login", "maybe"), Err(Code::CellBool));
}

#[test]
fn coordinates_are_decimal_degrees() {
    let table = [
        ("latitude", "51.507400000000004", Ok(51.5074)),
        ("latitude", "-.5", Ok(-0.5)),
        ("longitude", "+174.7633", Ok(174.7633)),
        ("latitude", "51,5074", Err(Code::CellDecimalComma)),
        ("latitude", "51°30'26\"N", Err(Code::CellDms)),
        ("latitude", "51.5 N", Err(Code::CellDms)),
        ("latitude", "51.5, -0.12", Err(Code::CellCoordsPair)),
        ("latitude", "174.7633", Err(Code::CellCoordsSwapped)),
        ("longitude", "1747645", Err(Code::CellRange)),
        ("latitude", "NaN", Err(Code::CellNumber)),
        ("latitude", "1e2", Err(Code::CellNumber)),
        ("latitude", "--5", Err(Code::CellNumber)),
    ];
    for (name, value, expected) in table {
        assert_eq!(text(Kind::Site, name, value), expected.map(Value::Number), "{value}");
    }
    let free = TableSetting { is_text_table: true, comma_is_free: true };
    let reading = read(
        column(Kind::Site, "latitude").unwrap(),
        &Cell::text("51,5074"),
        CellContext::default(),
        free,
        &Ways::of(&Options::default()),
    );
    assert_eq!(reading.value, Some(Value::Number(51.5074)));
    assert_eq!(field(Kind::Site, "latitude", Cell::text("51°30'0\"S")).2.as_deref(), Some("-51.5"));
}

#[test]
fn after_many_wrong_countries_it_is_not_sought_what_one_means() {
    let ways = Ways::of(&Options::default());
    let suggested = |text: String| {
        let country = column(Kind::Site, "country").unwrap();
        let reading = read(country, &Cell::text(text), CellContext::default(), CSV, &ways);
        reading.problems()[0].suggestion.clone()
    };
    for number in 0..SOUGHT {
        assert_eq!(suggested("New Zealandd".to_owned()).as_deref(), Some("New Zealand"), "{number}");
    }
    assert_eq!(suggested("New Zealandd".to_owned()), None);
}

#[test]
fn phones_stay_text_and_only_what_cannot_be_one_is_told() {
    for value in ["+64 9 555 0100", "(09) 555-0100 ext 5", "09 555 0100 x5", "1.800.555/0100"] {
        assert_eq!(field(Kind::Site, "phone", Cell::text(value)).1, [], "{value}");
    }
    assert_eq!(
        field(Kind::Site, "phone", Cell::text("1-800-FLOWERS")).1,
        [(Code::CellPhone, Severity::Warning)]
    );
    assert_eq!(text(Kind::Site, "phone", "5"), Err(Code::CellPhone));
    assert_eq!(text(Kind::Site, "phone", "09 555 0100; 09 555 0101"), Err(Code::CellMultipleValues));
    assert_eq!(text(Kind::Site, "phone", "4.41235E+11"), Err(Code::CellScientific));
    assert_eq!(text(Kind::Site, "phone", "=\"0955512\""), Ok(Value::Text("0955512".into())));
}

#[test]
fn keys_and_references_have_their_forms() {
    let id = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    assert_eq!(text(Kind::Site, "key", "Q-01"), Ok(Value::Text("Q-01".into())));
    assert_eq!(text(Kind::Site, "key", &id.to_string()), Err(Code::RefKeyIsUuid));
    assert_eq!(text(Kind::Site, "key", "a b"), Err(Code::CellKey));
    assert_eq!(text(Kind::Site, "key", &"x".repeat(65)), Err(Code::CellKey));
    assert_eq!(fold_key(" Q\u{2013}01 "), "q-01");
    let table = [
        (id.to_string().to_uppercase(), Pointer::Id(id)),
        (format!("{{{id}}}"), Pointer::Id(id)),
        (id.simple().to_string(), Pointer::Id(id)),
        (format!("id:{id}"), Pointer::Id(id)),
        ("key:acme".into(), Pointer::Key("acme".into())),
        ("Name: Acme Ltd".into(), Pointer::Name("Acme Ltd".into())),
        ("Acme  Ltd".into(), Pointer::Any("Acme Ltd".into())),
    ];
    for (value, expected) in table {
        assert_eq!(text(Kind::Site, "company", &value), Ok(Value::Pointer(expected)), "{value}");
    }
    assert_eq!(text(Kind::Site, "company", "id:acme"), Err(Code::CellUuid));
    // Whether that is a key is known when all rows are.
    let cut = "01234567-89ab-cdef-0123-456789abc";
    assert_eq!(text(Kind::Site, "company", cut), Ok(Value::Pointer(Pointer::Any(cut.into()))));
    for key in ["key:1", "ID:5", "name:x"] {
        assert_eq!(text(Kind::Site, "key", key), Err(Code::CellKey), "{key}");
    }
    assert_eq!(text(Kind::Site, "key", "keys:1"), Ok(Value::Text("keys:1".into())));
}

#[test]
fn labels_are_split_at_semicolons_unless_quoted() {
    let labels = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
    let table = [
        ("retail; north;retail", "retail|north"),
        ("\"North; South\"; b", "North; South|b"),
        ("a \"b\";c", "a \"b\"|c"),
    ];
    for (value, expected) in table {
        assert_eq!(text(Kind::Site, "labels", value), Ok(Value::Labels(labels(expected))), "{value}");
    }
    assert_eq!(text(Kind::Site, "labels", "\"a; b"), Err(Code::RowQuoteUnterminated));
    assert_eq!(text(Kind::Site, "labels", "\"a\" b"), Err(Code::RowQuoteStray));
}

#[test]
fn networks_are_cidr_or_address_and_netmask() {
    for value in ["10.1.0.0/16", "10.1.0.0/255.255.0.0", "fd00::/8"] {
        assert_eq!(text(Kind::Device, "snat:", value), Ok(Value::Text(value.into())));
    }
    for value in ["10.1.0.0", "10.1.0.0/33", "10.1.0.0/255.0.255.0", "10.1.0/16", "fd00::/255.0.0.0"] {
        assert_eq!(text(Kind::Device, "snat:", value), Err(Code::CellNetwork), "{value}");
    }
}

#[test]
fn time_zones_of_the_iana_list_are_taken_and_offsets_are_not() {
    assert_eq!(text(Kind::Site, "timezone", "pacific/auckland"), Ok(Value::Text("Pacific/Auckland".into())));
    assert_eq!(text(Kind::Site, "timezone", "GMT+12"), Err(Code::CellTimezone));
    let (value, problems, suggestion) = field(Kind::Site, "timezone", Cell::text("Pacific/Aukland"));
    assert_eq!(value, Some(Value::Text("Pacific/Aukland".into())));
    assert_eq!(problems, [(Code::CellTimezone, Severity::Warning)]);
    assert_eq!(suggestion.as_deref(), Some("Pacific/Auckland"));
}

#[test]
fn damaged_and_suspicious_text_is_told() {
    let table = [
        ("name", "a\nb", Code::CellLineBreak, Severity::Error),
        ("name", "a\u{7}b", Code::CellControlChar, Severity::Error),
        ("name", "a\u{202e}b", Code::CellControlChar, Severity::Error),
        ("name", "Caf\u{fffd}", Code::CellReplacementChar, Severity::Error),
        ("name", "Caf? Z?rich", Code::CellReplacementChar, Severity::Error),
        ("name", "CafÃ©", Code::CellMojibake, Severity::Warning),
        ("name", "Smith &amp; Sons", Code::CellHtml, Severity::Warning),
        ("name", "=1+1", Code::CellFormulaText, Severity::Warning),
        ("name", "TBD", Code::CellPlaceholder, Severity::Error),
        ("suburb", "TBD", Code::CellPlaceholder, Severity::Warning),
    ];
    for (name, value, code, severity) in table {
        assert_eq!(field(Kind::Site, name, Cell::text(value)).1, [(code, severity)], "{value:?}");
    }
    assert_eq!(
        field(Kind::Site, "name", Cell::text("x".repeat(40_000))).1,
        [(Code::CellTooLong, Severity::Error)]
    );
    assert_eq!(
        field(Kind::Site, "name", Cell::text("x".repeat(300))).1,
        [(Code::CellTooLong, Severity::Warning)]
    );
    assert_eq!(field(Kind::Person, "last_name", Cell::text("Null")).1, []);
    assert_eq!(text(Kind::Site, "action", "Create"), Ok(Value::Choice(0)));
    assert_eq!(text(Kind::Site, "action", "UPDATE"), Ok(Value::Choice(1)));
    assert_eq!(text(Kind::Site, "action", "delete"), Err(Code::CellUnsupportedAction));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    /// Whatever a cell holds, it is a value or a finding.
    #[test]
    fn no_text_breaks_a_field(value in "[ -~]{0,30}|\\PC{0,20}|[0-9a-fA-F:.+@;,/'\"=-]{0,40}", digits in proptest::num::f64::ANY) {
        for kind in Kind::ALL {
            for column in crate::sheet::table::column::columns(kind) {
                let beside = CellContext { country: Some("US"), link: Some(&value) };
                for cell in [Cell::text(&value), number(digits)] {
                    let reading = read(column, &cell, beside, CSV, &Ways::of(&Options::default()));
                    let blank = crate::sheet::text::is_blank(&cell.text);
                    proptest::prop_assert!(
                        reading.value.is_some() || !reading.problems().is_empty() || blank || reading.changes.unwrapped,
                        "{} {:?}", column.name, cell
                    );
                }
            }
        }
    }
}

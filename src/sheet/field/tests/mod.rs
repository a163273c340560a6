//! Each rule of each form, as tables.

use super::*;
use crate::model::kind::{Kind, Upkeep};
use crate::sheet::NumberShown;
use crate::sheet::address::CellRange;
use crate::sheet::cell::Cover;
use crate::sheet::table::column::{column, columns};

const CSV: TableSetting = TableSetting { is_text_table: true, comma_is_free: false, wraps_text: true };

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
    Cell { kind: CellKind::Number { value, shown: NumberShown::Plain }, text: format!("{value}").into() }
}

#[test]
fn an_owner_stored_as_a_number_with_a_fraction_is_an_error() {
    for kind in [Kind::Upkeep(Upkeep::Labels), Kind::Upkeep(Upkeep::Metadata)] {
        let (found, told, _) = field(kind, "owner", number(1.1));
        assert_eq!((found, told), (None, vec![(Code::CellNumericIdentifier, Severity::Error)]), "{kind}");
        assert_eq!(text(kind, "owner", "1.0"), Err(Code::CellNumericIdentifier), "{kind}");
    }
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
        Cell::text("52,5"),
        Cell::text("=\"52,5\""),
    ];
    let numbers = [1e11, 123_456_789_012.0, 1_234_567_890_123_456_789.0, 1.1, 12_345.0, -1.0, f64::INFINITY];
    cells.extend(numbers.map(number));
    let link = CellContext { link: Some("other@customer.example"), ..CellContext::default() };
    let (mut refused, mut shown_otherwise) = (0, 0);
    for column in Kind::ALL.iter().flat_map(|kind| columns(*kind)) {
        for (cell, setting) in cells.iter().flat_map(|cell| [(cell, TableSetting::OF_WORKBOOK), (cell, CSV)])
        {
            let ways = Ways::of(&Options::default());
            let reading = read(column, cell, link, setting, &ways);
            if !reading.is_wrong() {
                continue;
            }
            let restored = reading.remarks.as_ref().and_then(|remarks| remarks.restored.clone());
            let shown = Cell::text(restored.as_deref().unwrap_or(&cell.text));
            let again = read(column, &shown, CellContext::default(), TableSetting::OF_WORKBOOK, &ways);
            assert!(again.is_wrong(), "{} {cell:?} {shown:?}", column.name);
            refused += 1;
            shown_otherwise += usize::from(restored.is_some());
        }
    }
    assert!(shown_otherwise > 100 && refused > shown_otherwise, "{shown_otherwise} of {refused}");
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
    // Whether that is a key is known when all rows are.
    let cut = "01234567-89ab-cdef-0123-456789abc";
    assert_eq!(text(Kind::Site, "company", cut), Ok(Value::Pointer(Pointer::Any(cut.into()))));
    assert_eq!(text(Kind::Site, "key", "keys:1"), Ok(Value::Text("keys:1".into())));
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
fn an_action_is_one_of_two_in_any_case() {
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

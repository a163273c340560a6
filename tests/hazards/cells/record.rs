//! One row that is right of each kind, with the cells that a test wants otherwise.

use fleetload::model::action::Action;
use fleetload::model::record::{Device, Person, Record, Site};
use fleetload::sheet::Row;
use fleetload::sheet::finding::{Finding, Severity};

use crate::desk::{Desk, line, package};

const COMPANY: &str = "6f1c9c8e-3b0a-4d55-9f5a-0c8f0d3a2b11";

/// The cells of a right row: header and value.
fn right(kind: &str) -> Vec<(String, String)> {
    let own: &[(&str, &str)] = match kind {
        "companies" => &[
            ("key", "acme"),
            ("parent", COMPANY),
            ("company_type", "CUSTOMER"),
            ("name", "Acme Ltd"),
            ("phone", "+64 9 557 0000"),
            ("support_email", "help@acme.example"),
            ("sales_email", "orders@acme.example"),
            ("accounts_email", "bills@acme.example"),
        ],
        "people" => &[
            ("key", "p1"),
            ("company", COMPANY),
            ("user_type", "VPN User"),
            ("template_scope", "COMPANY_INHERIT"),
            ("first_name", "Jane"),
            ("last_name", "Doe"),
            ("username", "jane.doe"),
            ("email", "jane@acme.example"),
            ("allow_login", "no"),
        ],
        "sites" => &[("key", "s1"), ("company", COMPANY), ("name", "Earl St"), ("phone", "+64 9 557 0000")],
        "devices" => &[
            ("key", "d1"),
            ("company", COMPANY),
            ("name", "Till 1"),
            ("device_model", "Edge 100"),
            ("mac", "00:1a:2b:3c:4d:5e"),
            ("phone", "+64 9 557 0000"),
        ],
        other => panic!("no kind is called {other}"),
    };
    let address = [("address1", "1 Earl Street"), ("city", "Auckland"), ("country", "NZ")];
    own.iter().copied().chain(address).map(|(header, value)| (header.to_owned(), value.to_owned())).collect()
}

/// The right row with these cells; columns that it does not have are added.
fn with(kind: &str, cells: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut row = right(kind);
    for (header, value) in cells {
        match row.iter_mut().find(|(known, _)| known == header) {
            Some((_, known)) => *known = (*value).to_owned(),
            None => row.push(((*header).to_owned(), (*value).to_owned())),
        }
    }
    row
}

/// A text table with one row of this kind, right but for these cells; every cell is quoted.
pub(super) fn csv(kind: &str, cells: &[(&str, &str)]) -> Desk {
    let row = with(kind, cells);
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let line = |cells: Vec<&String>| cells.into_iter().map(|cell| quoted(cell)).collect::<Vec<_>>().join(",");
    let headers = line(row.iter().map(|(header, _)| header).collect());
    let values = line(row.iter().map(|(_, value)| value).collect());
    Desk::with(&format!("{kind}.csv"), format!("{headers}\n{values}\n"))
}

/// A workbook with one row of this kind, right but for one cell, which holds this number.
pub(super) fn number(kind: &str, column: &str, number: &str) -> Desk {
    number_with(kind, column, number, &[])
}

/// The same with other cells as they are given.
pub(super) fn number_with(kind: &str, column: &str, number: &str, cells: &[(&str, &str)]) -> Desk {
    let row = with(kind, &[&[(column, "")], cells].concat());
    let text = |at: usize, row: u32, text: &str| {
        let letter = char::from(b'A' + u8::try_from(at).expect("few columns"));
        format!("<c r=\"{letter}{row}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let mut header = String::new();
    let mut values = String::new();
    for (at, (name, value)) in row.iter().enumerate() {
        header.push_str(&text(at, 1, name));
        if name == column {
            let letter = char::from(b'A' + u8::try_from(at).expect("few columns"));
            values.push_str(&format!("<c r=\"{letter}2\"><v>{number}</v></c>"));
        } else {
            values.push_str(&text(at, 2, value));
        }
    }
    let data = format!("<row r=\"1\">{header}</row><row r=\"2\">{values}</row>");
    Desk::with("book.xlsx", package(kind, &data, &[]))
}

/// What is found beyond notes, each as `severity code place`, and what is suggested. Whatever is told of a cell has to
/// say what the rule is, what to do, and what the cell holds.
#[track_caller]
pub(super) fn judged(desk: &Desk) -> (Vec<String>, Option<String>) {
    let findings: Vec<Finding> =
        desk.findings().into_iter().filter(|finding| finding.severity != Severity::Info).collect();
    for finding in &findings {
        let told = format!("{}: {}", line(finding), finding.message);
        if finding.value.is_some() {
            assert!(finding.message.contains(':'), "says what to do: {told}");
            assert!(finding.rule.is_some(), "has a rule: {told}");
        }
    }
    let suggestion = findings.iter().find_map(|finding| finding.suggestion.clone());
    (findings.iter().map(line).collect(), suggestion)
}

/// What is found in a text table with one row that is right but for one cell.
#[track_caller]
pub(super) fn spoiled(kind: &str, column: &str, value: &str) -> (Vec<String>, Option<String>) {
    judged(&csv(kind, &[(column, value)]))
}

/// Checks a table of values of one column: what is told at that cell, and what is suggested.
#[track_caller]
pub(super) fn cases(kind: &str, column: &str, table: &[(&str, &str, Option<&str>)]) {
    let at = with(kind, &[(column, "")]).iter().position(|(header, _)| header == column).expect("a column");
    let cell = format!("{}2", char::from(b'A' + u8::try_from(at).expect("few columns")));
    for (value, told, suggestion) in table {
        let expected: Vec<String> = if told.is_empty() { vec![] } else { vec![format!("{told} {cell}")] };
        assert_eq!(spoiled(kind, column, value), (expected, suggestion.map(str::to_owned)), "{value:?}");
    }
}

/// The only row of the first table.
pub(super) fn row(desk: &Desk) -> Row {
    desk.rows().pop().expect("a row")
}

/// What is to be sent for the only row.
#[track_caller]
pub(super) fn record(desk: &Desk) -> Record {
    let step = row(desk).draft.expect("the row is right").steps.into_iter().next();
    match step {
        Some(Action::Create(record)) => record,
        other => panic!("no record: {other:?}"),
    }
}

/// The same of a site.
#[track_caller]
pub(super) fn site(desk: &Desk) -> Site {
    match record(desk) {
        Record::Site(site) => site,
        other => panic!("not a site: {other:?}"),
    }
}

/// The same of a device.
#[track_caller]
pub(super) fn device(desk: &Desk) -> Device {
    match record(desk) {
        Record::Device(device) => device,
        other => panic!("not a device: {other:?}"),
    }
}

/// The same of a person.
#[track_caller]
pub(super) fn person(desk: &Desk) -> Person {
    match record(desk) {
        Record::Person(person) => person,
        other => panic!("not a person: {other:?}"),
    }
}

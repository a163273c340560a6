//! What was once dropped, guessed or imported without a word, and must never be again.

use fleetload::sheet::finding::Severity;
use fleetload::sheet::open;
use rust_xlsxwriter::Workbook;

use super::desk::{Desk, SITES, line, package, site};

/// Nothing found.
const NOTHING: [&str; 0] = [];

/// A workbook of several sheets, every cell as text.
fn workbook(sheets: &[(&str, &[&str])]) -> Vec<u8> {
    let mut book = Workbook::new();
    for (name, rows) in sheets {
        let page = book.add_worksheet().set_name(*name).expect("a name");
        for (row, cells) in (0..).zip(*rows) {
            for (column, cell) in (0..).zip(cells.trim_end().split(',')) {
                if !cell.is_empty() {
                    page.write_string(row, column, cell).expect("a cell");
                }
            }
        }
    }
    book.save_to_buffer().expect("a workbook")
}

#[test]
fn a_sheet_that_fits_two_kinds_is_never_dropped_without_a_word() {
    let bytes = workbook(&[
        ("Sites", &[SITES, &site("a")]),
        (
            "Stores North",
            &["key,company,name,phone,address1,city", "b,acme,North,+64 9 557 0000,1 Earl Street,Auckland"],
        ),
        ("Notes", &["whatever"]),
    ]);
    let desk = Desk::with("book.xlsx", &bytes);
    assert_eq!(desk.found(), ["fatal sheet.ambiguous Stores North"]);
    let message = desk.the("sheet.ambiguous").message;
    assert!(message.contains("fit sites and devices equally well: rename the sheet"), "{message}");
    let ignored = open(desk.path(), &desk.options).expect("a book").ignored;
    assert_eq!(
        ignored,
        [
            ("Stores North".to_owned(), "fits two kinds of row equally well"),
            ("Notes".to_owned(), "holds no known kind of row"),
        ]
    );
    // Either choice the message offers ends it.
    let desk = desk.read_with(|options| options.sheets = vec!["Sites".into()]);
    assert_eq!(desk.found(), NOTHING);
    let desk = desk.read_with(|options| {
        options.sheets = vec!["Stores North".into()];
        options.kind = Some(fleetload::model::kind::Kind::Site);
    });
    assert_eq!(desk.examined().sheets[0].name, "Stores North");
}

#[test]
fn a_damaged_sheet_is_told_whatever_its_name() {
    let cell = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let names: String = ('A'..)
        .zip(["key", "company", "name", "mac"])
        .map(|(at, name)| cell(&format!("{at}1"), name))
        .collect();
    // In the third row a cell of a kind that does not exist.
    let remark = cell("A2", "all of them");
    let data = format!(
        "<row r=\"1\">{names}</row><row r=\"2\">{remark}</row><row r=\"3\"><c r=\"A3\" t=\"zz\"><v>1</v></c></row>"
    );
    for (sheet, data, severity) in [
        ("Devices", &data[..], Severity::Fatal),
        ("Notes", "<row r=\"1\"><c r=\"A1\" t=\"zz\"><v>1</v></c></row>", Severity::Warning),
        ("North", &data[..], Severity::Fatal),
    ] {
        let findings = Desk::with("book.xlsx", package(sheet, data, &[])).findings();
        let told: Vec<String> = findings.iter().map(line).collect();
        let unreadable = findings.iter().find(|finding| finding.code.as_str() == "sheet.unreadable");
        assert_eq!(unreadable.map(|finding| finding.severity), Some(severity), "{sheet} {told:?}");
    }
}

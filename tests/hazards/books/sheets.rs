//! Which worksheets of a workbook are read (X1), and where their values come from (X31).

use std::process::Command;

use super::super::desk::{Desk, package};
use super::{COMPANY, HEADER, PHONE, row, site, told, worksheet};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook of these sheets: name and rows.
fn book(sheets: &[(&str, &[&[&str]])]) -> Desk {
    let mut book = rust_xlsxwriter::Workbook::new();
    for (name, rows) in sheets {
        let sheet = book.add_worksheet().set_name(*name).expect("a name");
        for (row, cells) in (0..).zip(*rows) {
            for (column, cell) in (0..).zip(*cells) {
                sheet.write_string(row, column, *cell).expect("a cell");
            }
        }
    }
    Desk::with("book.xlsx", book.save_to_buffer().expect("a workbook"))
}

const NOTES: &[&[&str]] = &[&["Rollout of the north"], &["Ask Ada before June"]];
const SITES: &[&[&str]] = &[&HEADER, &["S-1", COMPANY, "Earl St", PHONE, "1 Earl Street", "Auckland"]];
const DEVICES: &[&[&str]] = &[
    &["company", "name", "device_model", "mac", "phone", "address1", "city", "country"],
    &[COMPANY, "Till", "Edge 100", "00:1a:2b:3c:4d:5e", PHONE, "1 Earl Street", "Auckland", "NZ"],
];

/// The names and kinds of the sheets that are read.
fn read(desk: &Desk) -> Vec<(String, &'static str)> {
    desk.examined().sheets.iter().map(|sheet| (sheet.name.clone(), sheet.kind.plural())).collect()
}

/// Notes first, then sheets by their own names, by another usual name, and by nothing but their headers.
#[test]
fn x01_sheets_are_found_by_name_or_headers_and_the_others_are_listed() {
    let desk = book(&[
        ("Read first", NOTES),
        ("Till list", DEVICES),
        ("LOCATIONS", SITES),
        ("No\u{202e}tes", NOTES),
    ]);
    assert_eq!(desk.found(), [""; 0]);
    assert_eq!(read(&desk), [("Till list".to_owned(), "devices"), ("LOCATIONS".to_owned(), "sites")]);
    let output = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetload"));
        let output =
            command.arg("check").arg(desk.path()).args(arguments).output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let listed = "book.xlsx, not read: \"Read first\" (holds no known kind of row), \"No\\u{202e}tes\" (holds no known \
                  kind of row)";
    assert!(output(&[]).contains(listed), "{}", output(&[]));
    let object: serde_json::Value =
        serde_json::from_str(output(&["--json"]).lines().last().expect("a summary")).expect("JSON");
    let expected = serde_json::json!([
        {"file": "book.xlsx", "name": "Read first", "why": "holds no known kind of row"},
        {"file": "book.xlsx", "name": "No\u{202e}tes", "why": "holds no known kind of row"},
    ]);
    assert_eq!(object["not_read"], expected);
}

/// Last year's list beside this year's.
#[test]
fn x01_two_sheets_of_one_kind_are_refused_until_one_is_named_and_a_named_one_must_be_there() {
    let desk = book(&[("Sites", SITES), ("Old sites", SITES)]);
    assert_eq!(desk.found(), ["fatal sheet.ambiguous"]);
    let message = desk.the("sheet.ambiguous").message;
    assert!(message.starts_with("the sheets 'Sites' and 'Old sites' all hold sites: rename"), "{message}");
    let desk = desk.read_with(|options| options.sheets = vec!["old  SITES".into()]);
    assert_eq!(desk.found(), [""; 0]);
    assert_eq!(read(&desk), [("Old sites".to_owned(), "sites")]);
    let desk = desk.read_with(|options| options.sheets = vec!["Sitse".into()]);
    assert_eq!(desk.found(), ["fatal sheet.not-found"]);
    let message = desk.the("sheet.not-found").message;
    assert!(
        message.contains("no sheet 'Sitse': name one of those it has, 'Sites', 'Old sites'"),
        "{message}"
    );
    let desk = book(&[("Read first", NOTES), ("Prices", &[&["item", "price"], &["Till", "9"]])]);
    assert_eq!(desk.found(), ["fatal sheet.not-found"], "no other sheet is taken in place of the right one");
}

/// A workbook with sites, notes in a second sheet, and these links besides: of the workbook, and of the two sheets.
fn linked(of_workbook: &[&str], of_sites: &[&str], of_notes: &[&str], name: &str) -> Desk {
    let links = |all: &[&str], from: usize| -> String {
        let link = |(at, what): (usize, &&str)| {
            format!(
                "<Relationship Id=\"rId{}\" Type=\"{RELATIONS}/{what}\" Target=\"{what}.xml\"/>",
                at + from
            )
        };
        all.iter().enumerate().map(link).collect()
    };
    let sheet = |at: usize| {
        format!(
            "<Relationship Id=\"rId{at}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{at}.xml\"/>"
        )
    };
    let cell = format!("<c r=\"C2\" t=\"str\"><f>{name}</f><v>Earl St</v></c>");
    let named = "<c r=\"C2\" t=\"inlineStr\"><is><t>Site 2</t></is></c>";
    let row_2 = if name.is_empty() { site(2) } else { site(2).replace(named, &cell) };
    let parts = [
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets><sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/>\
                 <sheet name=\"Notes\" sheetId=\"2\" r:id=\"rId2\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!("<Relationships>{}{}{}</Relationships>", sheet(1), sheet(2), links(of_workbook, 3)),
        ),
        ("xl/worksheets/sheet1.xml", worksheet("", &format!("{}{row_2}", row(1, &HEADER)), "")),
        ("xl/worksheets/sheet2.xml", worksheet("", &row(1, &["Ask Ada"]), "")),
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            format!("<Relationships>{}</Relationships>", links(of_sites, 1)),
        ),
        (
            "xl/worksheets/_rels/sheet2.xml.rels",
            format!("<Relationships>{}</Relationships>", links(of_notes, 1)),
        ),
    ];
    let parts: Vec<_> = parts.iter().map(|(name, content)| (*name, content.as_str())).collect();
    Desk::with("book.xlsx", package("Sites", "", &parts))
}

/// A query on a database or a web page fills a sheet; what was fetched last stands in the file.
#[test]
fn x31_a_data_connection_draws_one_warning_for_the_file() {
    let desk = linked(&["connections", "pivotCacheDefinition"], &["queryTable"], &["queryTable"], "");
    assert_eq!(told(&desk), ["warning file.external-links"]);
    let message = desk.the("file.external-links").message;
    assert!(
        message.contains("a query or a data connection") && message.contains("refresh it in Excel"),
        "{message}"
    );
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

/// A pivot table in the sheet that is read, and one in a sheet that is not.
#[test]
fn x31_a_pivot_table_in_a_sheet_that_is_read_draws_a_warning_there() {
    let desk = linked(&["pivotCacheDefinition"], &["pivotTable", "drawing"], &["pivotTable"], "");
    assert_eq!(told(&desk), ["warning file.external-links Sites"]);
    assert!(desk.the("file.external-links").message.starts_with("the sheet has a pivot table"));
    assert_eq!(told(&linked(&["pivotCacheDefinition"], &[], &["pivotTable"], "")), [""; 0]);
}

/// Formulas that lead to another workbook by way of a name or of a sheet beside; without any, the link is only left over.
#[test]
fn x31_other_workbooks_behind_names_draw_a_warning_where_formulas_are_read() {
    let desk = linked(&["externalLink"], &[], &[], "Notes!A1&amp;Region");
    assert_eq!(desk.found(), ["warning file.external-links"]);
    assert!(
        desk.the("file.external-links").message.starts_with("the workbook takes values from other workbooks")
    );
    assert_eq!(linked(&["externalLink"], &[], &[], "").found(), [""; 0]);
    // The formula that says it itself is told at its cell, and nothing twice.
    let direct = linked(&["externalLink"], &[], &[], "[1]Prices!A2");
    assert_eq!(direct.found(), ["warning file.external-links Sites!C2"]);
}

/// What leads from a worksheet to other parts is needed for nothing else: when it is broken, the rows are read.
#[test]
fn x31_broken_links_of_a_worksheet_do_not_matter() {
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    let parts = [
        ("xl/worksheets/sheet1.xml", part.as_str()),
        ("xl/worksheets/_rels/sheet1.xml.rels", "<Relationships><x"),
    ];
    assert_eq!(told(&Desk::with("sites.xlsx", package("Sites", "", &parts))), [""; 0]);
}

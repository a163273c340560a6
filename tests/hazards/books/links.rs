//! Links behind cells: what an address leads to when somebody clicks on it (T9).

use super::super::desk::{Desk, package};
use super::{PEOPLE, person, row, text_cell, worksheet};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const LINK: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink";

/// People in these rows, with links of these cells to these targets.
fn people(rows: &str, links: &[(&str, &str)]) -> Desk {
    let relations: String = (1..)
        .zip(links)
        .map(|(id, (_, target))| {
            format!(
                "<Relationship Id=\"rId{id}\" Type=\"{LINK}\" Target=\"{target}\" TargetMode=\"External\"/>"
            )
        })
        .collect();
    let relations = format!("<Relationships>{relations}</Relationships>");
    linked(rows, links, &relations)
}

/// The same with the relations of the worksheet as they are given.
fn linked(rows: &str, links: &[(&str, &str)], relations: &str) -> Desk {
    let links: String = (1..)
        .zip(links)
        .map(|(id, (cells, _))| format!("<hyperlink ref=\"{cells}\" r:id=\"rId{id}\"/>"))
        .collect();
    let part =
        worksheet("", &format!("{}{rows}", row(1, &PEOPLE)), &format!("<hyperlinks>{links}</hyperlinks>"));
    let part = part.replace(
        &format!("xmlns=\"{MAIN}\""),
        &format!(
            "xmlns=\"{MAIN}\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\""
        ),
    );
    let parts =
        [("xl/worksheets/sheet1.xml", part.as_str()), ("xl/worksheets/_rels/sheet1.xml.rels", relations)];
    Desk::with("people.xlsx", package("People", "", &parts))
}

/// What is found of a person whose cell has this text and a link to this target, and what is suggested.
fn behind(text: &str, target: &str) -> (Vec<String>, Option<String>) {
    let desk = people(&person(2, 'H', &text_cell("H2", text)), &[("H2", target)]);
    let suggestion = desk.findings().into_iter().find_map(|finding| finding.suggestion);
    (desk.found(), suggestion)
}

/// Excel makes a link of an address that is typed, and keeps it when another text is typed over it.
#[test]
fn t09_a_link_that_leads_to_another_address_than_its_text_is_an_error_that_chooses_neither() {
    let error = ["error cell.email People!H2"];
    for text in ["jane@acme.example", "Jane Doe &lt;jane@acme.example&gt;", "mailto:jane@acme.example"] {
        assert_eq!(
            behind(text, "mailto:ann@acme.example"),
            (error.map(str::to_owned).to_vec(), None),
            "{text}"
        );
    }
    let desk = people(
        &person(2, 'H', &text_cell("H2", "jane@acme.example")),
        &[("H2", "mailto:ann@acme.example?subject=Hello%20there&amp;body=x")],
    );
    assert_eq!(
        desk.the("cell.email").message,
        "the cell says jane@acme.example, and the link behind it leads to ann@acme.example: enter the right one, and \
         remove the link"
    );
}

/// A name in place of the address, which stands in the link.
#[test]
fn t09_a_name_with_a_link_to_an_address_is_an_error_with_that_address() {
    let (found, suggestion) = behind("Anna Smith", "mailto:Anna.Smith@Acme.Example");
    assert_eq!(found, ["error cell.email People!H2"]);
    assert_eq!(suggestion.as_deref(), Some("Anna.Smith@acme.example"));
    // What is no address is not suggested.
    let (found, suggestion) = behind("Anna Smith", "mailto:anna%20smith");
    assert_eq!((found, suggestion), (vec!["error cell.email People!H2".to_owned()], None));
}

#[test]
fn t09_a_link_that_leads_to_its_text_or_to_no_address_is_nothing() {
    for target in [
        "mailto:jane@acme.example",
        "MAILTO:Jane@ACME.example",
        "mailto:jane%40acme.example?subject=Hello",
        "mailto:",
        "https://acme.example/?mailto:ann@acme.example",
    ] {
        assert_eq!(behind("jane@acme.example", target).0, [""; 0], "{target}");
    }
    // What is wrong with the text is told as ever.
    for (text, found) in [
        ("jane@acme.example; ann@acme.example", "error cell.multiple-values People!H2"),
        ("j\u{430}ne@acme.example", "error cell.non-ascii-lookalike People!H2"),
        ("jane@acme", "error cell.email People!H2"),
    ] {
        assert_eq!(behind(text, "mailto:jane@acme.example").0, [found], "{text}");
    }
}

/// One link over several cells, and one in a column that holds no addresses.
#[test]
fn t09_a_link_counts_for_all_its_cells_and_in_columns_of_addresses_only() {
    let rows: String =
        (2..=5).map(|row| person(row, 'H', &text_cell(&format!("H{row}"), "jane@acme.example"))).collect();
    let desk = people(
        &rows,
        &[
            ("H3:I4", "mailto:ann@acme.example"),
            ("E5:F5", "mailto:bob@acme.example"),
            ("A1:", "mailto:x@y.example"),
        ],
    );
    assert_eq!(desk.found(), ["error cell.email People!H3", "error cell.email People!H4"]);
}

/// A list of links that breaks off: the sheet is read, and that the links are unknown is told where they matter.
#[test]
fn t09_links_that_cannot_be_read_are_a_warning_where_they_matter() {
    let rows = person(2, 'H', &text_cell("H2", "jane@acme.example"));
    let broken = "<Relationships><Relationship Id=";
    let desk = linked(&rows, &[("H2", "")], broken);
    assert_eq!(desk.found(), ["warning cell.email People!H1"]);
    assert_eq!(linked(&rows, &[("A2:G2", "")], broken).found(), [""; 0]);
    assert_eq!(linked(&rows, &[], broken).found(), [""; 0]);
}

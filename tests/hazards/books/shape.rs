//! How a worksheet is built: far cells, styled rows, missing addresses, disorder, damage.

use super::super::desk::{Desk, package};
use super::{HEADER, row, site, sites, text_cell, told, worksheet};

/// Whole columns were formatted: a hundred thousand rows of nothing but styles.
#[test]
fn x17_styled_empty_rows_are_no_rows() {
    let styled: String = (3..100_000)
        .map(|number| format!("<row r=\"{number}\" s=\"0\"><c r=\"A{number}\" s=\"0\"/></row>"))
        .collect();
    let desk = sites("", &format!("{}{styled}", site(2)), "");
    assert_eq!(told(&desk), Vec::<String>::new());
    assert_eq!(desk.examined().sheets[0].rows, 1);
}

/// A stray keystroke in the last cell of the sheet.
#[test]
fn x18_a_value_at_the_far_end_is_a_row_of_its_own_and_costs_nothing() {
    let stray = "<row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>";
    let desk = sites("", &format!("{}{stray}", site(2)), "");
    assert_eq!(
        desk.found(),
        [
            "warning row.footer Sites row 1048576",
            "warning row.too-many-cells Sites row 1048576",
            "warning sheet.row-limit Sites row 1048576",
        ]
    );
    assert_eq!(desk.examined().sheets[0].usable, 1);
    let beside = site(2).replace("</row>", &format!("{}</row>", text_cell("N2", "stray")));
    assert_eq!(sites("", &beside, "").found(), ["warning row.too-many-cells Sites!N2"]);
}

#[test]
fn x22_a_wrong_dimension_does_not_lose_rows() {
    for dimension in
        ["", "<dimension ref=\"A1\"/>", "<dimension ref=\"A1:B2\"/>", "<dimension ref=\"A1:XFD1048576\"/>"]
    {
        let desk = sites(dimension, &[site(2), site(3)].concat(), "");
        assert_eq!(desk.found(), Vec::<String>::new(), "{dimension}");
        assert_eq!(desk.examined().sheets[0].usable, 2, "{dimension}");
    }
}

#[test]
fn x22_a_dimension_that_is_none_is_refused_with_the_way_out() {
    for dimension in ["A0:B2", "1:4", "Sheet1!A1", "", "A1:B2:C3", "ZZZZZZZZZZZ99999999999999"] {
        let desk = sites(&format!("<dimension ref=\"{dimension}\"/>"), &site(2), "");
        assert_eq!(desk.found(), ["fatal sheet.unreadable Sites"], "{dimension}");
        let message = desk.the("sheet.unreadable").message;
        assert!(message.starts_with("the sheet is damaged at its start"), "{message}");
        assert!(message.ends_with("open it in Excel and save it"), "{message}");
    }
}

/// A generator that leaves all addresses out.
#[test]
fn x23_cells_and_rows_without_address_are_counted() {
    let bare = |text: &str| text.replace(" r=\"A2\"", "");
    let row_2: String = HEADER.iter().map(|_| String::new()).collect::<String>() + &site(2);
    let mut row_2 = bare(&row_2).replace("<row r=\"2\">", "<row>");
    for column in 'B'..='F' {
        row_2 = row_2.replace(&format!(" r=\"{column}2\""), "");
    }
    assert!(!row_2.contains(" r="), "{row_2}");
    let desk = sites("", &row_2, "");
    assert_eq!(desk.found(), Vec::<String>::new());
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

#[test]
fn x23_rows_out_of_order_are_put_in_order() {
    let part = worksheet("", &[site(4), site(2), row(1, &HEADER), site(3)].concat(), "");
    let desk = Desk::with("sites.xlsx", package("Sites", "", &[("xl/worksheets/sheet1.xml", &part)]));
    assert_eq!(desk.found(), Vec::<String>::new());
    let numbers: Vec<_> =
        desk.rows().into_iter().map(|mut row| (row.number, row.cells.swap_remove(0))).collect();
    assert_eq!(numbers, [(2, "S-2".into()), (3, "S-3".into()), (4, "S-4".into())]);
}

#[test]
fn x23_the_same_cell_twice_is_refused() {
    let twice = [
        format!("<row r=\"3\">{}{}</row>", text_cell("A3", "a"), text_cell("A3", "b")),
        format!("<row r=\"3\">{}</row><row r=\"3\">{}</row>", text_cell("A3", "a"), text_cell("A3", "b")),
        format!(
            "<row r=\"3\">{}</row>{}<row r=\"3\">{}</row>",
            text_cell("A3", "a"),
            site(4),
            text_cell("A3", "b")
        ),
        format!("<row r=\"3\"><c r=\"B3\"><v>1</v></c>{}<c><v>1</v></c></row>", text_cell("A3", "a")),
    ];
    for rows in twice {
        let desk = sites("", &format!("{}{rows}", site(2)), "");
        assert_eq!(desk.found(), ["fatal sheet.unreadable Sites"], "{rows}");
    }
}

/// Whatever the reader would take for another cell or value, or pass over, is refused after the last good cell.
#[test]
fn x24_a_broken_cell_is_told_by_the_last_good_one() {
    let table = [
        ("<c r=\"A3\" t=\"zz\"><v>1</v></c>", "a kind that is not known"),
        ("<c r=\"A3\"><v>1</v><extLst><ext/></extLst></c>", "a part called extLst"),
        ("<c r=\"A3\" t=\"s\"><v>77</v></c>", "the text of the next cell is missing"),
        ("<c r=\"A3\" t=\"s\"><v>x</v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\" t=\"s\"><v>-1</v></c>", "the value of a cell is broken"),
        // 2^32 and 2^64, which come round to the first text in fewer bits.
        ("<c r=\"A3\" t=\"s\"><v>4294967296</v></c>", "the text of the next cell is missing"),
        ("<c r=\"A3\" t=\"s\"><v>18446744073709551616</v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\"><v>1&#50;</v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\"><v><!-- 1 -->2</v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\" t=\"str\"><v><![CDATA[a]]></v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\" t=\"inlineStr\"><v>a</v></c>", "the value of a cell is broken"),
        ("<c r=\"A3\" t=\"n\"><v>abc</v></c>", "a number that is none"),
        (
            "<c r=\"A3\" t=\"e\"><v>#ODD!</v></c><c><v>1</v></c>",
            "its formula has an error, and the next cell",
        ),
        ("<c r=\"A3\" t=\"b\"><v>2</v></c>", "its structure is broken"),
        ("<c r=\"A3\"><v>1</v><v>2</v></c>", "a cell has two values"),
        ("<c r=\"A3\"><v>1</v><f>A1</f></c>", "a formula comes after its result"),
        ("<c r=\"A9\"><v>1</v></c>", "A9 is in row 3"),
        ("<c r=\"A4294967298\"><v>1</v></c>", "no address that a worksheet can have"),
        ("<c r=\"A3\" r=\"B3\"><v>1</v></c>", "an attribute is broken"),
        ("<c r=\"A3\"><c r=\"B3\"><v>1</v></c></c>", "its cells are inside each other"),
        ("<c r=\"A3\"><v>1</c></v>", "its structure is broken"),
        ("<c r=\"A3\"><v>&bomb;</v></c>", "the value of a cell is broken"),
    ];
    for (cell, what) in table {
        let desk = sites("", &format!("{}<row r=\"3\">{cell}</row>", site(2)), "");
        assert_eq!(desk.found().last().map(String::as_str), Some("fatal sheet.unreadable Sites"), "{cell}");
        let message = desk.the("sheet.unreadable").message;
        assert!(message.contains(what), "{cell}: {message}");
        let last = if what.contains("has an error") { "after A3" } else { "after F2" };
        assert!(message.contains(last) || what == "an attribute is broken", "{cell}: {message}");
        assert!(message.ends_with(": open it in Excel and save it"), "{message}");
    }
}

#[test]
fn x24_a_sheet_that_breaks_off_is_not_read_to_its_middle() {
    let part = worksheet("", &format!("{}{}", row(1, &HEADER), site(2)), "");
    for cut in ["</sheetData></worksheet>", "</worksheet>", "</c></row></sheetData></worksheet>"] {
        let part = part.strip_suffix(cut).expect("the part ends so");
        let desk = Desk::with("sites.xlsx", package("Sites", "", &[("xl/worksheets/sheet1.xml", part)]));
        assert_eq!(desk.found(), ["fatal sheet.unreadable Sites"], "{cut}");
    }
}

/// Programs that write every element with a prefix.
#[test]
fn x24_prefixes_of_names_do_not_matter() {
    let data =
        format!("{}{}", row(1, &HEADER), site(2).replace("<row r=\"2\">", "<row r=\"2\" hidden=\"true\">"));
    let mut part = worksheet("", &data, "");
    for name in ["worksheet", "sheetData", "row", "c", "is", "t"] {
        part = part.replace(&format!("<{name} "), &format!("<x:{name} "));
        part = part.replace(&format!("<{name}>"), &format!("<x:{name}>"));
        part = part.replace(&format!("</{name}>"), &format!("</x:{name}>"));
    }
    let part = part.replace("xmlns=", "xmlns:x=");
    let desk = Desk::with("sites.xlsx", package("Sites", "", &[("xl/worksheets/sheet1.xml", &part)]));
    assert_eq!(desk.found(), ["error sheet.hidden-rows Sites row 2"]);
}

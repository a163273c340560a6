//! What the cells of a workbook compute and hold: formulas, errors, dates, formats, booleans.

use fleetload::sheet::finding::ValueKind;

use super::super::desk::{Desk, package};
use super::{COMPANY, HEADER, PEOPLE, PHONE, errors, person, row, site, sites, text_cell, told, worksheet};

/// A site whose name is this cell, of column C.
fn named(cell: &str) -> Desk {
    sites("", &with_name(cell), "")
}

fn with_name(cell: &str) -> String {
    with(&[("C", cell)])
}

/// A site in row 2 with some of its cells as they are given.
fn with(cells: &[(&str, &str)]) -> String {
    let usual = [
        ("A", "S-2"),
        ("B", COMPANY),
        ("C", "Site 2"),
        ("D", PHONE),
        ("E", "1 Earl Street"),
        ("F", "Auckland"),
    ];
    let cells: String = usual
        .iter()
        .map(|(column, text)| {
            let given = cells.iter().find(|(given, _)| given == column);
            given.map_or_else(|| text_cell(&format!("{column}2"), text), |(_, cell)| (*cell).to_owned())
        })
        .collect();
    format!("<row r=\"2\">{cells}</row>")
}

#[test]
fn x08_results_of_formulas_are_used_and_counted() {
    let desk = named("<c r=\"C2\" t=\"str\"><f>A2&amp;\"x\"</f><v>S-2x</v></c>");
    assert_eq!(told(&desk), ["note sheet.formulas Sites row 1"]);
    assert_eq!(desk.the("sheet.formulas").message, "1 cell has a formula; the last saved result is read");
    assert_eq!(desk.examined().sheets[0].usable, 1);
}

#[test]
fn x08_a_result_that_changes_by_itself_draws_a_warning() {
    let desk = named("<c r=\"C2\" t=\"str\"><f>\"Site \"&amp;TODAY()</f><v>Site 45000</v></c>");
    assert_eq!(desk.found(), ["warning sheet.formulas Sites!C2"]);
}

/// What openpyxl, ClosedXML and EPPlus write: a formula, and no result or an empty one.
#[test]
fn x09_a_formula_without_a_saved_result_is_not_called_blank() {
    for result in ["", "<v></v>", "<v/>"] {
        let desk = named(&format!("<c r=\"C2\"><f>A2</f>{result}</c>"));
        assert_eq!(told(&desk), ["error cell.formula-no-value Sites!C2"], "{result}");
        let finding = desk.the("cell.formula-no-value");
        assert_eq!(
            finding.message,
            "the cell has a formula whose result was never saved: open the workbook in Excel and save it, or enter \
             the value"
        );
        assert_eq!(finding.header.as_deref(), Some("name"));
    }
}

/// A formula may come to an empty text: that is a result, and a blank one.
#[test]
fn x09_an_empty_text_is_a_result() {
    assert_eq!(
        named("<c r=\"C2\" t=\"str\"><f>\"\"</f><v></v></c>").found(),
        ["error cell.required Sites!C2"]
    );
}

/// A row of nothing but formulas without results, as a script makes it, does not vanish.
#[test]
fn x09_a_row_of_formulas_without_results_is_a_row() {
    let cells: String = ('A'..='F').map(|column| format!("<c r=\"{column}2\"><f>G2</f></c>")).collect();
    let desk = sites("", &format!("<row r=\"2\">{cells}</row>"), "");
    assert_eq!(
        desk.found(),
        ["A", "B", "C", "D", "E", "F"].map(|column| format!("error cell.formula-no-value Sites!{column}2"))
    );
}

/// Libraries that cannot calculate write 0 and ask Excel to calculate when it opens the file.
#[test]
fn x09_a_result_left_to_the_next_program_is_none() {
    let workbook = "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
         <sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/></sheets><calcPr calcId=\"124519\" fullCalcOnLoad=\"1\"/></workbook>";
    let data = format!("{}{}", row(1, &HEADER), with_name("<c r=\"C2\"><f>A2</f><v>0</v></c>"));
    let part = worksheet("", &data, "");
    let desk = Desk::with(
        "sites.xlsx",
        package("Sites", "", &[("xl/workbook.xml", workbook), ("xl/worksheets/sheet1.xml", &part)]),
    );
    assert_eq!(desk.found(), ["error cell.formula-no-value Sites!C2"]);
}

#[test]
fn x10_the_error_of_a_formula_is_told_and_never_called_blank() {
    for error in ["#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NULL!", "#NUM!"] {
        let desk = named(&format!("<c r=\"C2\" t=\"e\"><f>A9</f><v>{error}</v></c>"));
        assert_eq!(desk.found(), ["error cell.formula-error Sites!C2"], "{error}");
        let finding = desk.the("cell.formula-error");
        assert!(finding.message.contains(error) && finding.rule.is_some());
        assert_eq!(finding.value_kind, Some(ValueKind::Error));
    }
}

/// What newer versions of Excel, LibreOffice and other languages write into a cell of errors; the library that reads
/// workbooks knows seven.
#[test]
fn x10_an_error_of_any_name_is_one_cell_and_all_other_rows_are_read() {
    let names = [
        "#SPILL!",
        "#CALC!",
        "#FIELD!",
        "#BLOCKED!",
        "#CONNECT!",
        "#UNKNOWN!",
        "#BUSY!",
        "#PYTHON!",
        "#EXTERNAL!",
        "#GETTING_DATA",
        "#ERROR!",
        "#WERT!",
        "#n/a",
        "Err:502",
        "#",
    ];
    for name in names {
        let broken = with_name(&format!("<c r=\"C2\" t=\"e\"><f>A9</f><v>{name}</v></c>"));
        let desk = sites("", &format!("{broken}{}{}", site(3), site(4)), "");
        assert_eq!(desk.found(), ["error cell.formula-error Sites!C2"], "{name}");
        let finding = desk.the("cell.formula-error");
        assert!(
            finding.message.contains(name) && finding.value.as_deref() == Some(name),
            "{}",
            finding.message
        );
        assert_eq!(finding.value_kind, Some(ValueKind::Error));
        let sheet = &desk.examined().sheets[0];
        assert_eq!((sheet.rows, sheet.usable), (3, 2), "{name}");
    }
    // Several in a row and below each other, without addresses in front, at the end, and in a column that is not read.
    let (odd, known) = ("t=\"e\"><v>#SPILL!</v></c>", "t=\"e\"><v>#N/A</v></c>");
    let row_2 = with(&[("A", &format!("<c r=\"A2\" {odd}")), ("B", &format!("<c r=\"B2\" {known}"))]);
    let row_3 = with(&[("E", &format!("<c r=\"E2\" {odd}")), ("F", &format!("<c r=\"F2\" {odd}"))]);
    let row_3 = row_3.replace("2\" t=", "3\" t=").replace("<row r=\"2\">", "<row r=\"3\">");
    let desk = sites("", &format!("{row_2}{row_3}{}", site(4)), "");
    let found = ["A2", "B2", "E3", "F3"].map(|cell| format!("error cell.formula-error Sites!{cell}"));
    assert_eq!(desk.found(), found);
}

/// Rows that stand in the file in another order than they are shown in.
#[test]
fn x10_an_error_of_any_name_is_told_at_its_cell_also_where_rows_are_out_of_order() {
    let broken = with_name("<c r=\"C2\" t=\"e\"><v>#SPILL!</v></c>");
    let last = site(5).replace("</row>", "<c r=\"H5\" t=\"e\"><v>#CALC!</v></c></row>");
    let desk = sites("", &format!("{last}{broken}{}", site(3)), "");
    let found = desk.found();
    assert!(found.contains(&"error cell.formula-error Sites!C2".to_owned()), "{found:?}");
    assert_eq!(desk.the("row.too-many-cells").cell.as_deref(), Some("H5"));
}

/// Styles with a date in format 1, zeros in format 2, a time in format 3, and words beside a number in those from 4 on, but for
/// the last.
const STYLES: &str = "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><numFmts>\
     <numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd\"/><numFmt numFmtId=\"165\" formatCode=\"00000\"/>\
     <numFmt numFmtId=\"166\" formatCode=\"hh:mm:ss\"/>\
     <numFmt numFmtId=\"167\" formatCode=\"0.0000&quot;\u{b0} S&quot;\"/><numFmt numFmtId=\"168\" formatCode=\"[Red]_(\\S-0000\"/>\
     <numFmt numFmtId=\"169\" formatCode=\"#,##0.00\\ [$EUR-407];&quot;minus&quot;0\"/></numFmts><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"164\"/>\
     <xf numFmtId=\"165\"/><xf numFmtId=\"166\"/><xf numFmtId=\"167\"/><xf numFmtId=\"9\"/><xf numFmtId=\"168\"/>\
     <xf numFmtId=\"169\"/></cellXfs></styleSheet>";

/// Sites with one row and formats of cells.
fn styled(row_2: &str, header: [&str; 6], workbook_properties: &str) -> Desk {
    let workbook = format!(
        "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">{workbook_properties}<sheets>\
         <sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>"
    );
    let part = worksheet("", &format!("{}{row_2}", row(1, &header)), "");
    let parts = [
        ("xl/workbook.xml", workbook.as_str()),
        ("xl/styles.xml", STYLES),
        ("xl/worksheets/sheet1.xml", &part),
    ];
    Desk::with("sites.xlsx", package("Sites", "", &parts))
}

/// Excel made a date of the key 2024-10, and of the phone number 12-5-2024.
#[test]
fn x12_a_date_in_a_text_field_is_an_error_that_shows_the_date() {
    let cells = with(&[
        ("A", "<c r=\"A2\" s=\"1\"><v>45323</v></c>"),
        ("D", "<c r=\"D2\" s=\"1\"><v>45323.5</v></c>"),
    ]);
    let desk = styled(&cells, HEADER, "");
    assert_eq!(desk.found(), ["error cell.date-unexpected Sites!A2", "error cell.date-unexpected Sites!D2"]);
    let messages = errors(&desk);
    assert!(messages[0].contains("(2024-02-01)"), "{messages:?}");
    assert!(messages[1].contains("a phone number with dashes"), "{messages:?}");
}

/// A workbook of an old Excel for Mac, whose days are counted from 1904.
#[test]
fn x13_the_date_system_of_the_workbook_is_heeded() {
    let cells = with(&[("A", "<c r=\"A2\" s=\"1\"><v>43861</v></c>")]);
    let desk = styled(&cells, HEADER, "<workbookPr date1904=\"1\"/>");
    assert!(desk.the("cell.date-unexpected").message.contains("(2024-02-01)"));
}

/// Dates that no calendar has do not upset anything.
#[test]
fn x13_absurd_dates_are_dates_all_the_same() {
    for number in ["60", "-1", "1e300", "-1e300", "2958466", "0", "NaN", "inf"] {
        let cells = with(&[("A", &format!("<c r=\"A2\" s=\"1\"><v>{number}</v></c>"))]);
        let desk = styled(&cells, HEADER, "");
        assert_eq!(desk.found(), ["error cell.date-unexpected Sites!A2"], "{number}");
    }
}

/// What strict Open XML writes.
#[test]
fn x14_an_iso_date_is_a_date() {
    let desk = named("<c r=\"C2\" t=\"d\"><v>2024-02-01</v></c>");
    assert_eq!(desk.found(), ["error cell.date-unexpected Sites!C2"]);
    assert!(desk.the("cell.date-unexpected").message.contains("(2024-02-01)"));
}

/// Excel in Japan writes how a name is read beside it; web exporters write CDATA.
#[test]
fn x15_rich_text_and_readings_come_to_the_text_that_is_shown() {
    let texts = [
        ("<r><t>Site</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\"> North</t></r>", "Site North"),
        (
            "<t>\u{6771}\u{4eac}</t><rPh sb=\"0\" eb=\"2\"><t>\u{30c8}\u{30a6}\u{30ad}\u{30e7}\u{30a6}</t></rPh>",
            "\u{6771}\u{4eac}",
        ),
        ("<t><![CDATA[Smith & Sons]]></t>", "Smith & Sons"),
        ("<t>  Site  </t>", "Site"),
    ];
    for (inline, expected) in texts {
        let desk = named(&format!("<c r=\"C2\" t=\"inlineStr\"><is>{inline}</is></c>"));
        assert_eq!(desk.found(), Vec::<String>::new(), "{inline}");
        let names: Vec<_> = desk.rows().iter().map(|row| row.cells[2].trim().to_owned()).collect();
        assert_eq!(names, [expected]);
    }
    let broken = named("<c r=\"C2\" t=\"inlineStr\"><is><t>Site_x000D_\nNorth</t></is></c>");
    assert_eq!(broken.found(), ["error cell.line-break Sites!C2"]);
}

/// What a library trims and another keeps: spaces in a text, marked as meant or not, in the cell or in the list of texts.
#[test]
fn x16_spaces_around_a_text_are_gone_whatever_the_library_does() {
    for t in [
        "<t>  Earl St  </t>",
        "<t xml:space=\"preserve\">  Earl St  </t>",
        "<r><t>  Earl</t></r><r><t xml:space=\"preserve\"> St </t></r>",
    ] {
        let strings = format!(
            "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" count=\"1\" uniqueCount=\"1\"><si>{t}</si></sst>"
        );
        let links = "<Relationships><Relationship Id=\"rId1\" Type=\"x/worksheet\" Target=\"worksheets/sheet1.xml\"/>\
             <Relationship Id=\"rId2\" Type=\"x/sharedStrings\" Target=\"sharedStrings.xml\"/></Relationships>";
        let data = format!("{}{}", row(1, &HEADER), with_name("<c r=\"C2\" t=\"s\"><v>0</v></c>"));
        let part = worksheet("", &data, "");
        let shared = Desk::with(
            "sites.xlsx",
            package(
                "Sites",
                "",
                &[
                    ("xl/worksheets/sheet1.xml", &part),
                    ("xl/sharedStrings.xml", &strings),
                    ("xl/_rels/workbook.xml.rels", links),
                ],
            ),
        );
        for desk in [named(&format!("<c r=\"C2\" t=\"inlineStr\"><is>{t}</is></c>")), shared] {
            assert_eq!(desk.found(), Vec::<String>::new(), "{t}");
            let drafts = desk.rows().into_iter().filter_map(|row| row.draft);
            let names: Vec<_> = drafts.map(|draft| draft.name().into_owned()).collect();
            assert_eq!(names, ["Earl St"], "{t}");
        }
    }
}

/// A format says where a coordinate is, or what stands before a number: what a person reads is not what the cell holds.
#[test]
fn x27_a_number_that_is_shown_with_words_is_not_sent_without_them() {
    let found = |column: &'static str, style: u8, number: &str| {
        let header = ["key", "company", "name", "phone", "address1", column];
        let cell = format!("<c r=\"F2\" s=\"{style}\"><v>{number}</v></c>");
        let mut found = styled(&with(&[("F", &cell)]), header, "").found();
        found.retain(|line| line.ends_with("F2"));
        found
    };
    assert_eq!(found("latitude", 4, "36.8485"), ["error cell.number Sites!F2"]);
    assert_eq!(found("reference", 4, "12"), ["error cell.numeric-identifier Sites!F2"]);
    assert_eq!(found("latitude", 5, "0.15"), ["error cell.number Sites!F2"]);
    assert_eq!(found("reference", 6, "12"), ["error cell.numeric-identifier Sites!F2"]);
    assert_eq!(found("reference", 7, "12"), ["warning cell.numeric-identifier Sites!F2"]);
    assert_eq!(found("latitude", 7, "36.8485"), [""; 0]);
}

/// Excel users keep zeros by a number format.
#[test]
fn x27_zeros_of_a_format_are_restored_and_counted() {
    let header = ["key", "company", "name", "phone", "address1", "postcode"];
    let desk = styled(&with(&[("F", "<c r=\"F2\" s=\"2\"><v>123</v></c>")]), header, "");
    assert_eq!(desk.found(), Vec::<String>::new());
    assert!(told(&desk).contains(&"note cell.zero-padded-format Sites!F1".to_owned()));
    // As many digits as the format shows: none was lost, and none is put back.
    let desk = styled(&with(&[("F", "<c r=\"F2\" s=\"2\"><v>78701</v></c>")]), header, "");
    assert_eq!(desk.found(), Vec::<String>::new());
    assert!(!told(&desk).iter().any(|told| told.contains("zero-padded")), "{:?}", told(&desk));
    let desk = styled(&with(&[("F", "<c r=\"F2\" s=\"2\"><v>787012</v></c>")]), header, "");
    assert_eq!(desk.found(), ["warning cell.numeric-identifier Sites!F2"]);
    let desk = styled(&with(&[("F", "<c r=\"F2\"><v>123</v></c>")]), header, "");
    assert_eq!(desk.found(), ["warning cell.numeric-identifier Sites!F2"]);
}

#[test]
fn x28_a_boolean_is_an_error_in_a_text_field_and_right_where_yes_or_no_belongs() {
    let desk = named("<c r=\"C2\" t=\"b\"><v>1</v></c>");
    assert_eq!(desk.found(), ["error cell.bool-unexpected Sites!C2"]);
    assert!(desk.the("cell.bool-unexpected").message.contains("TRUE"));
    // Excel writes a boolean; LibreOffice a number with a format.
    for cell in ["<c r=\"I2\" t=\"b\"><v>1</v></c>", "<c r=\"I2\"><v>1</v></c>"] {
        let part = worksheet("", &format!("{}{}", row(1, &PEOPLE), person(2, 'I', cell)), "");
        let desk = Desk::with("people.xlsx", package("People", "", &[("xl/worksheets/sheet1.xml", &part)]));
        assert_eq!(desk.found(), Vec::<String>::new(), "{cell}");
        assert!(format!("{:?}", desk.rows()[0].draft).contains("allow_login: true"), "{cell}");
    }
}

/// A note on a cell and a colour mean nothing.
#[test]
fn x30_notes_on_cells_are_passed_over() {
    let part = worksheet(
        "",
        &format!("{}{}", row(1, &HEADER), site(2)),
        "<legacyDrawing r:id=\"rId1\" xmlns:r=\"r\"/>",
    );
    let comments = "<comments><commentList><comment ref=\"A2\"><text><t>skip</t></text></comment></commentList></comments>";
    let desk = Desk::with(
        "sites.xlsx",
        package("Sites", "", &[("xl/worksheets/sheet1.xml", &part), ("xl/comments1.xml", comments)]),
    );
    assert_eq!(told(&desk), Vec::<String>::new());
}

/// A customer crosses out what is cancelled; a cell crossed out alone is a correction of hers.
#[test]
fn x30_a_row_that_is_struck_through_draws_a_warning_and_a_row_with_a_cell_that_is_does_not() {
    let styles = "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><fonts><font/>\
                  <font><strike/></font></fonts><cellXfs><xf fontId=\"0\"/><xf fontId=\"1\"/></cellXfs></styleSheet>";
    let struck = |cells: &str| cells.replace("<c r=", "<c s=\"1\" r=");
    let one = site(4).replacen("<c r=", "<c s=\"1\" r=", 1);
    let rows = [row(1, &HEADER), struck(&site(2)), site(3), one].concat();
    let part = worksheet("", &rows, "");
    let parts = [("xl/styles.xml", styles), ("xl/worksheets/sheet1.xml", &part)];
    let desk = Desk::with("sites.xlsx", package("Sites", "", &parts));
    assert_eq!(desk.found(), ["warning row.struck-out Sites row 2"]);
    assert_eq!(
        desk.the("row.struck-out").message,
        "every cell of the row is crossed out, and the row is imported like the others: delete the row if it no longer counts"
    );
    assert_eq!(desk.examined().sheets[0].usable, 3);
}

/// A price list in another workbook, looked up.
#[test]
fn x31_values_of_another_workbook_draw_a_warning_that_names_the_first() {
    let desk = named("<c r=\"C2\" t=\"str\"><f>VLOOKUP(A2,'[1]Price list'!A:B,2,0)</f><v>North</v></c>");
    assert_eq!(desk.found(), ["warning file.external-links Sites!C2"]);
    assert!(
        desk.the("file.external-links").message.starts_with("1 cell takes its value from another workbook")
    );
    // A text that only looks so.
    for formula in ["\"[1]x\"&amp;A9", "&quot;[1]x&quot;&amp;A9"] {
        let desk = named(&format!("<c r=\"C2\" t=\"str\"><f>{formula}</f><v>North</v></c>"));
        assert_eq!(desk.found(), [""; 0], "{formula}");
    }
}

/// 10:20:30 typed into a phone cell.
#[test]
fn x32_a_time_in_a_phone_cell_is_an_error_with_a_hint() {
    let desk = styled(&with(&[("D", "<c r=\"D2\" s=\"3\"><v>0.43090277777777775</v></c>")]), HEADER, "");
    assert_eq!(desk.found(), ["error cell.date-unexpected Sites!D2"]);
    let message = desk.the("cell.date-unexpected").message;
    assert!(message.contains("(10:20:30)") && message.contains("a phone number with dashes"), "{message}");
    let header = ["company", "name", "phone", "address1", "device_model", "mac"];
    let cells = [COMPANY, "Till", PHONE, "1 Earl Street", "Edge 100", "-"];
    let time = "<c r=\"F2\" s=\"3\"><v>0.43090277777777775</v></c>";
    let part = format!("{}{}", row(1, &header), row(2, &cells).replace(&text_cell("F2", "-"), time));
    let parts = [("xl/styles.xml", STYLES), ("xl/worksheets/sheet1.xml", &worksheet("", &part, ""))];
    let desk = Desk::with("devices.xlsx", package("Devices", "", &parts));
    assert!(desk.found().contains(&"error cell.date-unexpected Devices!F2".to_owned()), "{:?}", desk.found());
    let message = desk.the("cell.date-unexpected").message;
    assert!(message.contains("a MAC address of digits and colons looks like a time"), "{message}");
}

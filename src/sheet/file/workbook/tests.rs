//! Workbooks as programs write them, and as they should not be.

use super::*;
use crate::sheet::finding::code::Code;
use rust_xlsxwriter::{ExcelDateTime, Format, Workbook as Writer};
use std::io::Write;

fn rows(workbook: &mut Workbook, sheet: usize) -> std::result::Result<Vec<SheetRow>, String> {
    let survey = workbook.survey(sheet).map_err(|fault| fault.message)?;
    let mut rows = Vec::new();
    let result = workbook.rows(sheet, &survey, None, &mut |row| {
        rows.push(row);
        Ok(ControlFlow::Continue(()))
    });
    result.unwrap().map(|()| rows).map_err(|broken| broken.why)
}

fn package(parts: &[(&str, &str)]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xlsx");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, content) in parts {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap();
    (folder, path)
}

#[test]
fn cells_come_with_their_kind_place_and_the_zeros_of_their_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xlsx");
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet().set_name("Devices").unwrap();
    sheet.write_string(0, 0, "name").unwrap();
    sheet.write_number(2, 1, 123.0).unwrap();
    sheet.write_number_with_format(2, 2, 123.0, &Format::new().set_num_format("00000")).unwrap();
    sheet.write_boolean(2, 3, true).unwrap();
    let date = ExcelDateTime::from_ymd(2024, 2, 1).unwrap();
    sheet.write_datetime_with_format(2, 4, date, &Format::new().set_num_format("yyyy-mm-dd")).unwrap();
    sheet.write_blank(900, 5, &Format::new().set_bold()).unwrap();
    let hidden = writer.add_worksheet().set_name("Lists").unwrap();
    hidden.set_hidden(true);
    writer.save(&path).unwrap();

    look_through(&path, "a.xlsx").unwrap();
    let mut workbook = Workbook::open(&path, "a.xlsx").unwrap();
    let listed: Vec<(&str, bool)> =
        workbook.listed().iter().map(|sheet| (sheet.name.as_str(), sheet.hidden)).collect();
    assert_eq!(listed, [("Devices", false), ("Lists", true)]);
    let rows = rows(&mut workbook, 0).unwrap();
    assert_eq!(rows.iter().map(|row| row.number).collect::<Vec<_>>(), [1, 3], "styled cells make no row");
    let cells = &rows[1].cells;
    assert!(cells[0].is_blank());
    assert_eq!(cells[1].text, "123");
    assert_eq!(
        (cells[2].text.as_str(), cells[2].kind),
        ("00123", CellKind::Number { value: 123.0, shown: NumberShown::Padded })
    );
    assert_eq!(cells[3].kind, CellKind::Bool(true));
    assert_eq!((cells[4].text.as_str(), cells[4].kind), ("2024-02-01", CellKind::Date));
}

#[test]
fn what_only_looks_like_a_workbook_is_refused_with_the_way_out() {
    let table: [(&[(&str, &str)], Code); 5] = [
        (&[("a.csv", "x")], Code::FileFormatUnsupported),
        (&[("xl/workbook.bin", "x")], Code::FileFormatUnsupported),
        (&[("mimetype", "x"), ("content.xml", "x")], Code::FileFormatUnsupported),
        (&[("word/document.xml", "x"), ("_rels/.rels", "x")], Code::FileFormatUnsupported),
        (&[("xl/workbook.xml", "<a/>"), ("xl/macrosheets/sheet1.xml", "<a/>")], Code::FileFormatUnsupported),
    ];
    for (parts, code) in table {
        let (_folder, path) = package(parts);
        assert_eq!(look_through(&path, "a.xlsx").unwrap_err().code, code, "{parts:?}");
    }
}

/// A workbook of one sheet with this sheet data.
fn raw_sheet(data: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let sheet = format!(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><sheetData>{data}</sheetData></worksheet>"
    );
    package(&[
        (
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"><Override PartName=\"/xl/workbook.xml\" ContentType=\"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml\"/></Types>",
        ),
        (
            "_rels/.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
        ),
        (
            "xl/workbook.xml",
            "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets><sheet name=\"Sites\" sheetId=\"1\" r:id=\"rId1\"/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
        ),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

#[test]
fn a_value_at_the_far_end_of_a_sheet_costs_nothing() {
    let (_folder, path) = raw_sheet(
        "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>name</t></is></c></row>\
         <row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c></row>",
    );
    look_through(&path, "a.xlsx").unwrap();
    let rows = rows(&mut Workbook::open(&path, "a.xlsx").unwrap(), 0).unwrap();
    assert_eq!((rows[1].number, rows[1].cells.len()), (1_048_576, COLUMN_LIMIT + 1));
}

#[test]
fn a_damaged_sheet_says_after_which_cell() {
    let table = [
        "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"A2\"><v>2</v></c></row>",
        "<row r=\"2\"><c r=\"A2\"><v>1</v></c><c r=\"B2\" t=\"s\"><v>77</v></c></row>",
    ];
    for data in table {
        let (_folder, path) = raw_sheet(data);
        let error = rows(&mut Workbook::open(&path, "a.xlsx").unwrap(), 0).unwrap_err();
        assert!(error.contains("after A2"), "{error}");
    }
}

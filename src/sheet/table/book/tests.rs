//! Whole files: what is found in them, and where. What becomes of rows that are right is reported in `records`.

mod records;

use std::path::PathBuf;

use proptest::prelude::*;
use rust_xlsxwriter::Workbook as Writer;
use tempfile::TempDir;

use super::*;
use crate::model::kind::Kind;
use crate::model::record::Record;
use crate::sheet::Pointer;
use crate::sheet::finding::code::Code;

/// A file of this name with this content, as long as the folder lives.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// A workbook of these sheets, every cell as text.
fn workbook(sheets: &[(&str, &[&[&str]])]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.xlsx");
    let mut writer = Writer::new();
    for (name, rows) in sheets {
        let sheet = writer.add_worksheet().set_name(*name).unwrap();
        for (row, cells) in (0..).zip(*rows) {
            for (column, cell) in (0..).zip(*cells) {
                if !cell.is_empty() {
                    sheet.write_string(row, column, *cell).unwrap();
                }
            }
        }
    }
    writer.save(&path).unwrap();
    (folder, path)
}

fn rows_of(book: &Book, table: &Table) -> (Vec<Row>, TableSummary) {
    let mut rows = Vec::new();
    let summary = book
        .read(table, &mut |row| {
            rows.push(row);
            Ok(())
        })
        .unwrap();
    (rows, summary)
}

/// Code and cell of everything that is found in a file.
fn findings(path: &Path, options: &Options) -> Vec<(Code, String)> {
    let mut all = Vec::new();
    match open(path, options) {
        Err(findings) => all.extend(findings),
        Ok(book) => {
            all.extend(book.findings.iter().cloned());
            for table in &book.tables {
                let (rows, summary) = rows_of(&book, table);
                all.extend(rows.into_iter().flat_map(|row| row.findings));
                all.extend(summary.findings);
            }
        }
    }
    all.into_iter()
        .map(|finding| {
            let place = finding.cell.or(finding.row.map(|row| row.to_string())).unwrap_or_default();
            (finding.code, place)
        })
        .collect()
}

fn at(code: Code, place: &str) -> (Code, String) {
    (code, place.to_owned())
}

const SITES: &[&[&str]] = &[
    &[
        "Key",
        "Company",
        "Site Name",
        "Phone",
        "Street Address",
        "City",
        "Country",
        "lat",
        "long",
        "labels",
        "meta:Contract No",
    ],
    &[
        "q-01",
        "acme",
        "Harbour Shop",
        "+64 9 555 0100",
        "14 Queen Street",
        "Auckland",
        "New Zealand",
        "-36.8485",
        "174.7633",
        "retail; north",
        "C-77",
    ],
    &[
        "",
        "name:Acme Ltd",
        "Zürich, Haupt \"A\"",
        "044 555 01 00",
        "Bahnhofstrasse 1",
        "Zürich",
        "Switzerland",
        "",
        "",
        "",
        "",
    ],
];

const HEAD: &str = "key,company,name,phone,address1,city,country\n";

#[test]
fn the_kind_comes_from_the_name_or_the_headers_or_is_asked_for() {
    let devices = "company,name,phone,address1,mac\nacme,Till,+64 9 555,1 High St,001a2b3c4d5e\n";
    let (_keep, path) = file("export.csv", devices);
    assert_eq!(open(&path, &Options::default()).unwrap().tables[0].kind, Kind::Device);
    let (_keep, path) = file("export.csv", "company,name,phone,address1\nacme,Till,+64 9 555,1 High St\n");
    let refused = open(&path, &Options::default()).err().unwrap();
    assert_eq!(refused[0].code, Code::SheetAmbiguous);
    let options = Options { kind: Some(Kind::Site), ..Options::default() };
    assert_eq!(open(&path, &options).unwrap().tables[0].kind, Kind::Site);
}

#[test]
fn defaults_renamed_headers_and_ignored_ones_are_obeyed() {
    let content = "Ref,Bezeichnung,phone,address1,city,country,Notiz\na,A,+64 9 555,1 High St,Ulm,DE,x\n";
    let (_keep, path) = file("sites.csv", content);
    let mut options = Options {
        rename: vec![("Ref".into(), "key".into()), ("Bezeichnung".into(), "name".into())],
        ignore_columns: vec!["notiz".into()],
        ..Options::default()
    };
    options.set_default("sites.company=acme").unwrap();
    let book = open(&path, &options).unwrap();
    assert_eq!(book.findings, []);
    let (rows, _) = rows_of(&book, &book.tables[0]);
    assert_eq!(rows[0].findings, []);
    let draft = rows[0].draft.as_ref().unwrap();
    assert_eq!(draft.references[0].pointer, Pointer::Any("acme".into()));
    assert_eq!(rows[0].cells.len(), 7, "the original cells, those not read included");
}

#[test]
fn all_kinds_with_two_worksheets_are_told_at_once() {
    let devices: &[&[&str]] = &[&["company", "name", "mac"], &["acme", "Till", "001a2b3c4d5e"]];
    let sheets = [("Sites", SITES), ("Old sites", SITES), ("Devices", devices), ("Old devices", devices)];
    let (_keep, path) = workbook(&sheets);
    let refused = open(&path, &Options::default()).err().unwrap();
    let message = "the sheets 'Sites' and 'Old sites' all hold sites, and the sheets 'Devices' and 'Old devices' all hold \
                   devices: rename the wrong ones, or name with --worksheet every sheet to read, those that hold other \
                   rows among them";
    assert_eq!(refused.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(), [message]);
}

#[test]
fn the_kind_that_was_said_is_that_of_the_only_worksheet_with_rows() {
    let german: &[&[&str]] = &[
        &["Filialen der Gruppe"],
        &["Firma", "Bezeichnung", "Telefon", "Adresse"],
        &["acme", "Ulm", "+49 731 555010", "Ring 1"],
    ];
    let names =
        [("Firma", "company"), ("Bezeichnung", "name"), ("Telefon", "phone"), ("Adresse", "address1")];
    let rename: Vec<_> = names.map(|(header, column)| (header.to_owned(), column.to_owned())).into();
    let of = |kind: Option<Kind>, rename: &[(String, String)]| Options {
        kind,
        rename: rename.to_vec(),
        ..Options::default()
    };
    let refusal = |path: &Path, options: &Options| {
        let refused = open(path, options).err().unwrap().remove(0);
        (refused.code, refused.message)
    };
    let (_keep, path) = workbook(&[("Filialen", german), ("Blank", &[])]);
    assert_eq!(open(&path, &of(Some(Kind::Site), &rename)).unwrap().tables[0].kind, Kind::Site);
    assert_eq!(open(&path, &of(Some(Kind::Device), &rename)).unwrap().tables[0].kind, Kind::Device);
    assert_eq!(refusal(&path, &of(None, &rename)).0, Code::SheetAmbiguous);

    // Without the names of its columns it is told which they are, and not that there is no such sheet.
    let (code, message) = refusal(&path, &of(Some(Kind::Site), &[]));
    assert_eq!(code, Code::HeaderMissing);
    assert!(message.starts_with("no row looks like a header; row 2 has 'Firma', 'Bezeichnung'"), "{message}");
    let (code, message) = refusal(&path, &of(None, &[]));
    assert_eq!(code, Code::SheetNotFound);
    assert!(message.contains("it has 'Filialen': rename the one"), "{message}");

    // Of two, nobody has said which is meant.
    let (_keep, path) = workbook(&[("Filialen", german), ("Archiv", german)]);
    let (code, message) = refusal(&path, &of(Some(Kind::Site), &[]));
    assert_eq!(code, Code::SheetNotFound);
    assert!(message.contains("'Filialen', 'Archiv'"), "{message}");
    // In a workbook of ours there is one about the others besides.
    let mut checked = german.to_vec();
    checked[1] = &["Firma", "Bezeichnung", "Telefon", "Adresse", "result_status"];
    let (_keep, path) = workbook(&[("Findings", &[&["Check of book.xlsx"]]), ("Filialen", &checked)]);
    let book = open(&path, &of(Some(Kind::Site), &rename)).unwrap();
    assert_eq!((book.tables.len(), &*book.tables[0].name), (1, "Filialen"));
    // One that is named is the one that holds rows of ours.
    let (_keep, path) = workbook(&[("Sites", SITES), ("Anmerkungen", &[&["bitte anrufen"]])]);
    let book = open(&path, &of(Some(Kind::Device), &[])).unwrap();
    assert_eq!((book.tables.len(), book.tables[0].kind), (1, Kind::Site));
    let (_keep, path) = workbook(&[("Sheet1", &[])]);
    assert_eq!(refusal(&path, &of(Some(Kind::Site), &[])).0, Code::FileEmpty);
}

#[test]
fn a_remark_is_one_in_a_workbook_of_ours_too_where_our_own_words_stand_beside_it() {
    let rows: &[&[&str]] = &[
        &[
            "key",
            "company",
            "name",
            "phone",
            "address1",
            "city",
            "country",
            "result_status",
            "result_code",
            "result_message",
        ],
        &["", "acme", "Till", "+64 9 555 0100", "1 High St", "Ulm", "DE", "ok", "", ""],
        &["* checked by Ann", "", "", "", "", "", "", "warning", "row.footer", "taken for a total or remark"],
    ];
    let (_keep, path) = workbook(&[("Sites", rows)]);
    let book = open(&path, &Options::default()).unwrap();
    let (rows, summary) = rows_of(&book, &book.tables[0]);
    assert_eq!(rows.len(), 1);
    let told = summary.findings.iter().find(|finding| finding.code == Code::RowFooter).unwrap();
    assert!(told.message.contains("not read: * checked by Ann"), "{}", told.message);
    assert!(!told.message.contains("row.footer"), "{}", told.message);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Blank lines, line breaks in cells and any line end: the row is the one a spreadsheet shows, the line the one
    /// an editor shows.
    #[test]
    fn rows_and_lines_are_numbered_right(
        shape in prop::collection::vec(0_usize..4, 1..20),
        line_end in prop::sample::select(vec!["\n", "\r\n", "\r"]),
    ) {
        let mut content = HEAD.trim_end().to_owned() + line_end;
        let mut expected = Vec::new();
        let (mut row, mut line) = (2_u32, 2_u64);
        for breaks in shape {
            if breaks == 3 {
                content.push_str(line_end);
            } else {
                let inside = line_end.repeat(breaks);
                content.push_str(&format!("k{row},acme,\"A{inside}B\",+64 9 555,1 High St,Ulm,DE{line_end}"));
                expected.push((row, Some(line), format!("k{row}")));
                line += breaks as u64;
            }
            row += 1;
            line += 1;
        }
        let (_keep, path) = file("sites.csv", &content);
        let book = open(&path, &Options::default()).unwrap();
        let (rows, _) = rows_of(&book, &book.tables[0]);
        let found: Vec<_> = rows.into_iter().map(|row| (row.number, row.line, row.cells[0].to_string())).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn cells_that_exclude_or_need_each_other_are_found() {
    let head = "company,name,phone,address1,site,custom_site_name,template,mac,device_model,copy_dhcp_leases,latitude,longitude,snat:HQ:LAN1\n";
    let table: [(&str, Vec<(Code, String)>); 9] = [
        ("a,T,+64 9 555,1 High St,s,Own,,,Edge,,,,", vec![at(Code::RowConflict, "F2")]),
        ("a,T,+64 9 555,1 High St,,,d0,001a2b3c4d5e,,,,,", vec![at(Code::RowConflict, "H2")]),
        ("a,T,+64 9 555,1 High St,,,d0,,Edge,,,,", vec![at(Code::RowConflict, "I2")]),
        ("a,T,+64 9 555,1 High St,,,,,Edge,yes,,,", vec![at(Code::RowConflict, "J2")]),
        ("a,T,+64 9 555,1 High St,,,,,Edge,no,,,", vec![]),
        ("a,T,+64 9 555,1 High St,,,,,Edge,,51.5,,", vec![at(Code::RowIncompleteGroup, "L2")]),
        ("a,T,+64 9 555,1 High St,,,,,Edge,,,,10.1.0.0/16", vec![at(Code::RowConflict, "M2")]),
        // What is wrong is reported at its cell, and not called missing as well.
        ("a,T,+64 9 555,1 High St,,,,,Edge,,515,-0.1,", vec![at(Code::CellRange, "K2")]),
        ("a,T,+64 9 555,1 High St,,,,,Edge,,51.5,1 E,", vec![at(Code::CellDms, "L2")]),
    ];
    for (row, expected) in table {
        let (_keep, path) = file("devices.csv", format!("{head}{row}\n"));
        assert_eq!(of_columns_that_are_there(findings(&path, &Options::default())), expected, "{row}");
    }
}

/// Without those about columns that a table should have.
fn of_columns_that_are_there(mut findings: Vec<(Code, String)>) -> Vec<(Code, String)> {
    findings.retain(|found| *found != at(Code::CellRequired, "1"));
    findings
}

#[test]
fn what_is_changed_in_cells_is_told_once_a_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sites.xlsx");
    let mut writer = Writer::new();
    let sheet = writer.add_worksheet().set_name("Sites").unwrap();
    for (column, header) in (0..).zip(["company", "name", "phone", "address1", "postcode"]) {
        sheet.write_string(0, column, header).unwrap();
    }
    for row in 1..4 {
        for (column, value) in (0..).zip([" acme", "A\u{200b}B", "+64 9 555", "1 High St"]) {
            sheet.write_string(row, column, value).unwrap();
        }
        let format = rust_xlsxwriter::Format::new().set_num_format("00000");
        sheet.write_number_with_format(row, 4, 2134.0, &format).unwrap();
    }
    writer.save(&path).unwrap();
    assert_eq!(
        of_columns_that_are_there(findings(&path, &Options::default())),
        [
            at(Code::CellTrimmed, "A1"),
            at(Code::CellInvisibleRemoved, "B1"),
            at(Code::CellZeroPaddedFormat, "E1")
        ]
    );
    let book = open(&path, &Options::default()).unwrap();
    let (rows, _) = rows_of(&book, &book.tables[0]);
    let Some(Record::Site(site)) = rows[0].draft.as_ref().unwrap().record() else { panic!("a site") };
    assert_eq!((site.name.as_str(), site.address.post_or_zip_code.as_deref()), ("AB", Some("02134")));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever a file holds, it is read to its end or refused, and never anything worse.
    #[test]
    fn no_bytes_break_the_reading(
        head in prop::sample::select(vec!["", HEAD, "sep=;\n", "\u{feff}key;company;name;phone;address1\n"]),
        tail in prop::collection::vec(prop::sample::select(b"a\"',;\t|\r\n =#\\\0\x1a\xe9\xc3\xbc@:-0123456789".to_vec()), 0..200),
    ) {
        let (_keep, path) = file("sites.csv", [head.as_bytes(), &tail].concat());
        let _read_without_panic = findings(&path, &Options::default());
    }
}

#[test]
fn the_guards_of_our_own_reports_are_taken_off_and_those_of_others_stay() {
    let header = "name,'-note,phone,address1,company,result_source";
    let row = "'=Sum,x,'+64 9 555 0100,1 High St,acme,a!b!2";
    let (_folder, path) = file("sites.csv", format!("{header}\r\n{row}\r\n"));
    let book = open(&path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    assert_eq!(book.tables[0].headers[1], "-note");
    let (rows, _) = rows_of(&book, &book.tables[0]);
    assert_eq!(rows[0].cells[..3], ["=Sum", "x", "+64 9 555 0100"]);

    let (_folder, path) = file("sites.csv", format!("{header}_2\r\n{row}\r\n"));
    let book = open(&path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
    assert_eq!(book.tables[0].headers[1], "'-note");
    let (rows, _) = rows_of(&book, &book.tables[0]);
    assert_eq!(rows[0].cells[0], "'=Sum");
}

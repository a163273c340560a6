use std::fs::File;
use std::io::Read as _;

use rust_xlsxwriter::ExcelDateTime;
use zip::ZipArchive;

use super::*;
use crate::sheet::Options;
use crate::sheet::finding::Severity;

/// Writes a file into a folder and checks it into `out`; what was written.
fn check(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    check_file(folder, path)
}

/// Checks a file into `out`; what was written.
fn check_file(folder: &Path, path: PathBuf) -> PathBuf {
    let book = crate::sheet::open(&path, &Options::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let mut findings = Findings::default();
    findings.extend(book.findings.iter().cloned());
    for table in &book.tables {
        let summary = book.read(table, &mut |row| {
            findings.extend(row.findings);
            Ok(())
        });
        findings.extend(summary.unwrap().findings);
    }
    assert!(findings.iter().any(|finding| finding.severity == Severity::Error));
    let checked = Checked::prepare(&[path], &folder.join("out")).unwrap();
    checked.write(&[book], &findings, &|_| true, &|_| "fleetload check it".to_owned()).unwrap().remove(0)
}

fn part(path: &Path, name: &str) -> String {
    let mut archive = ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

const SITES: &str =
    "key,company,name,phone,address1\ns1,acme,,12345,1 High St\ns2,acme,Depot,12345,2 High St\n";

#[test]
fn the_cell_to_correct_is_red_and_has_a_note_and_the_list_leads_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let written = check(folder.path(), "sites.csv", SITES);
    let notes = part(&written, "xl/comments1.xml");
    assert!(notes.contains("ref=\"C2\"") && notes.contains("[cell.required]"), "{notes}");
    let sheet = part(&written, "xl/worksheets/sheet2.xml");
    let style = |cell: &str| {
        let rest = sheet.split(&format!("<c r=\"{cell}\" s=\"")).nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().parse::<usize>().unwrap_or_default()
    };
    assert_ne!(style("C2"), style("C3"), "a blank cell that is red");
    assert!(sheet.contains("<autoFilter ref=\"A1:J3\"/>"), "{sheet}");
    assert!(sheet.contains("<pane ySplit=\"1\""), "{sheet}");
    let list = part(&written, "xl/worksheets/sheet1.xml");
    assert!(list.contains("location=\"'sites'!C2\""), "{list}");
}

/// The formats of the cells of a sheet: the fill and the form of the numbers of the style that each has.
fn fill_and_form(written: &Path, sheet: &str, cell: &str) -> (String, String) {
    let sheet = part(written, sheet);
    let rest = sheet.split(&format!("<c r=\"{cell}\" s=\"")).nth(1).unwrap();
    let style: usize = rest.split('"').next().unwrap().parse().unwrap();
    let styles = part(written, "xl/styles.xml");
    let formats = styles.split("<cellXfs").nth(1).unwrap().split("</cellXfs>").next().unwrap();
    let format = formats.split("<xf ").nth(style + 1).unwrap();
    let attribute = |text: &str, name: &str| {
        let rest = text.split(&format!("{name}=\"")).nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let number = attribute(format, "numFmtId");
    let own = styles.split("<numFmt ").find(|own| own.starts_with(&format!("numFmtId=\"{number}\"")));
    (attribute(format, "fillId"), own.map_or(number, |own| attribute(own, "formatCode")))
}

#[test]
fn a_date_is_red_only_where_it_is_wrong_and_is_shown_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sites.xlsx");
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet().set_name("Sites").unwrap();
    let headers = ["key", "company", "name", "phone", "address1", "x-Start", "x-Opens", "x-Seen"];
    sheet.write_row(0, 0, headers).unwrap();
    sheet.write_row(1, 0, ["s1", "acme", "Till", "12345", "1 High St"]).unwrap();
    sheet.write_row(2, 0, ["s2", "acme", "Depot", "12345"]).unwrap();
    let (date, time) = (rust_xlsxwriter::Format::new().set_num_format("yyyy-mm-dd"), "hh:mm");
    let time = rust_xlsxwriter::Format::new().set_num_format(time);
    let value = |text| ExcelDateTime::parse_from_str(text).unwrap();
    for row in 1..=2 {
        sheet.write_datetime_with_format(row, 5, value("2026-03-01"), &date).unwrap();
        sheet.write_datetime_with_format(row, 6, value("08:30:00"), &time).unwrap();
        sheet.write_datetime_with_format(row, 7, value("2026-03-01 08:30:00"), &date).unwrap();
    }
    // A date in place of a text is an error.
    sheet.write_datetime_with_format(2, 4, value("2026-03-01"), &date).unwrap();
    book.save(&path).unwrap();
    let written = check_file(folder.path(), path);
    let shown = |cell: &str| fill_and_form(&written, "xl/worksheets/sheet2.xml", cell);
    let plain = shown("A2").0;
    for row in ["2", "3"] {
        assert_eq!(shown(&format!("F{row}")), (plain.clone(), "yyyy-mm-dd".to_owned()));
        assert_eq!(shown(&format!("G{row}")), (plain.clone(), "hh:mm:ss".to_owned()));
        assert_eq!(shown(&format!("H{row}")), (plain.clone(), "yyyy-mm-dd hh:mm:ss".to_owned()));
    }
    let (fill, form) = shown("E3");
    assert_ne!(fill, plain, "the date that is wrong");
    assert_eq!(form, "yyyy-mm-dd");
}

#[test]
fn only_what_we_wrote_and_nobody_has_saved_since_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let written = check(folder.path(), "sites.csv", SITES);
    assert!(is_as_written(&written));
    assert_eq!(check(folder.path(), "sites.csv", SITES), written);
    std::fs::write(&written, "mine").unwrap();
    let error = Checked::prepare(&[folder.path().join("sites.csv")], &folder.path().join("out")).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    assert_eq!(std::fs::read_to_string(&written).unwrap(), "mine");
}

#[test]
fn rows_whose_findings_are_too_many_to_be_kept_are_errors_all_the_same() {
    let survey = CheckedRows::default();
    let (status, _) = survey.verdict(7, &[], &[]);
    assert_eq!(status, by_row::CheckStatus::None);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sites.csv");
    let rows: String = (0..1_200).map(|n| format!("s{n},acme,,12345,1 High St\n")).collect();
    std::fs::write(&path, format!("key,company,name,phone,address1\n{rows}")).unwrap();
    let book = crate::sheet::open(&path, &Options::default()).unwrap_or_else(|found| panic!("{found:?}"));
    let mut first = 0;
    let survey = CheckedRows::of(&book, &book.tables[0], &mut first, &|_| true).unwrap();
    let (status, results) = survey.verdict(1_150, &[], &[]);
    assert_eq!((status, first), (by_row::CheckStatus::Error, 1_200));
    assert!(results[2].contains("too frequent"), "{results:?}");
}

#[test]
fn what_is_wrong_in_thousands_of_cells_is_counted_placed_and_coloured_in_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..2_500).map(|n| format!("s{n},acme,,12345,1 High St\n")).collect();
    let text = format!("key,company,name,phone,address1\n{rows}s,acme,Depot,12345,1 High St\n");
    let written = check(folder.path(), "sites.csv", &text);
    let sheet = part(&written, "xl/worksheets/sheet2.xml");
    let style = |cell: &str| {
        let rest = sheet.split(&format!("<c r=\"{cell}\" s=\"")).nth(1).unwrap_or_default();
        rest.split('"').next().unwrap_or_default().parse::<usize>().unwrap_or_default()
    };
    assert_eq!((style("C2"), style("C2")), (style("C1001"), style("C2501")));
    assert_ne!(style("C2501"), style("C2502"), "the one below has a name");
    let list = part(&written, "xl/worksheets/sheet1.xml");
    assert!(list.contains("<v>2500</v>"), "{list:.3000}");
    let words = part(&written, "xl/sharedStrings.xml");
    for told in [
        "Errors: 2500. Warnings: 2.",
        "C2:C2501",
        "1500 more findings cell.required of the same column are not listed",
        "Some problems are so frequent",
    ] {
        assert!(words.contains(told), "{told}: {words:.3000}");
    }
}

#[test]
fn files_of_one_name_are_told_apart_by_their_folders() {
    let folder = tempfile::tempdir().unwrap();
    let names = |files: &[&str]| -> Vec<String> {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let checked = Checked::prepare(&files, folder.path()).unwrap();
        checked.names.into_iter().map(|(_, name)| name.trim_end_matches(ENDING).to_owned()).collect()
    };
    assert_eq!(names(&["east/sites.csv", "west/sites.csv"]), ["east-sites", "west-sites"]);
    assert_eq!(names(&["sites.csv", "west/sites.csv", "west/people.csv"]), ["sites", "west-sites", "people"]);
    assert_eq!(names(&["a/x/sites.csv", "b/x/sites.csv"]), ["a-x-sites", "b-x-sites"]);
    assert_eq!(names(&["x/sites.csv", "/b/x/sites.csv"]), ["x-sites", "b-x-sites"]);
    // What the folders do not tell, a number does; also where a file has the name of a folder and another file.
    assert_eq!(names(&["../sites.csv", "sites.csv", "sites.xlsx"]), ["sites", "sites-2", "sites-3"]);
    assert_eq!(
        names(&["east-sites.csv", "east/sites.csv", "sites.csv"]),
        ["east-sites", "east-sites-2", "sites"]
    );
    let twice = ["sites.csv", "sites.csv"].map(PathBuf::from);
    assert_eq!(Checked::prepare(&twice, folder.path()).unwrap_err().what(), "sites.csv is named twice");
}

//! Whole reports: of a journal with a tree of companies and devices in every state a row can be in.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;

use calamine::{Data, Reader, Xlsx, open_workbook};

use super::*;
use crate::journal::{How, NewRow, NewSheet};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::sheet::formula_guard::unguarded;
use crate::status::{Commands, ImportFacts};

mod corrected;
mod documented;
mod fixture;
mod page;
mod worksheets;

use fixture::*;

/// The records of a CSV report, header first, guards still on.
fn records(path: &Path) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap();
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").expect("a byte order mark");
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text)
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

/// A summary without the digests of the fix files, which depend on how well they are compressed.
fn without_digests(text: &str) -> String {
    let plain = |line: &str| match line.split_once("fix.csv\": ").or(line.split_once("fix.xlsx\": ")) {
        Some((_, digest)) => line.replace(digest.trim_matches([',', '"']), "DIGEST"),
        None => line.to_owned(),
    };
    text.lines().map(|line| plain(line) + "\n").collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn every_row_is_told_with_its_state_and_what_to_do() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    assert_eq!(
        names(&written.folder),
        [
            "Companies.fix.csv",
            "Companies.results.csv",
            "_Till_ devices.fix.csv",
            "_Till_ devices.results.csv",
            "fix.xlsx",
            "report.html",
            "results.jsonl",
            "results.xlsx",
            "summary.json",
        ]
    );
    assert_eq!(written.to_fix, 3);
    for name in ["Companies.results.csv", "Companies.fix.csv", "_Till_ devices.results.csv"] {
        let text = fs::read_to_string(written.folder.join(name)).unwrap();
        assert!(
            text.starts_with('\u{feff}') && text.lines().count() * 2 == text.matches(['\r', '\n']).count()
        );
        insta::assert_snapshot!(name.replace(' ', "_"), text.replace(['\u{feff}', '\r'], ""));
    }
    for name in ["results.jsonl", "summary.json"] {
        let text = fs::read_to_string(written.folder.join(name)).unwrap();
        insta::assert_snapshot!(name, without_digests(&text));
    }
}

#[test]
fn the_fixture_has_a_row_in_every_state() {
    let (bench, import) = every_state();
    let tally = bench.journal.tally(Some(import)).unwrap();
    for &state in JobState::ALL {
        assert!(tally.in_state(state) > 0, "{state}");
    }
}

#[test]
fn the_same_journal_gives_the_same_bytes() {
    let (bench, import) = every_state();
    let first = bench.write(import, "first");
    let again = bench.write(import, "first");
    let second = bench.write(import, "second");
    assert_eq!(first, again);
    for name in names(&first.folder) {
        let bytes = |folder: &Path| fs::read(folder.join(&name)).unwrap();
        assert!(bytes(&first.folder) == bytes(&second.folder), "{name}");
    }
}

#[test]
fn every_original_cell_reads_back_unchanged_and_none_is_a_formula() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    for (text, file, name) in [
        (COMPANIES, "Companies.results.csv", "companies.csv"),
        (DEVICES, "_Till_ devices.results.csv", "devices.csv"),
    ] {
        let (table, rows) = rows_of(name, text);
        let records = records(&written.folder.join(file));
        assert!(
            records.iter().flatten().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']))
        );
        let width = table.headers.len();
        assert_eq!(records[0][..width], table.headers);
        assert_eq!(records[0][width..], RESULT_COLUMNS);
        assert_eq!(records.len(), rows.len() + 1);
        for (record, row) in records[1..].iter().zip(&rows) {
            let cells: Vec<&str> = record[..width].iter().map(|cell| unguarded(cell)).collect();
            assert_eq!(cells, row.cells);
        }
    }
}

#[test]
fn the_workbook_has_a_summary_and_every_cell_as_text() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let mut book: Xlsx<_> = open_workbook(written.folder.join("results.xlsx")).unwrap();
    assert_eq!(book.sheet_names(), ["Summary", "Companies", ".._Till_ devices"]);
    for (text, worksheet, name) in
        [(COMPANIES, "Companies", "companies.csv"), (DEVICES, ".._Till_ devices", "devices.csv")]
    {
        let range = book.worksheet_range(worksheet).unwrap();
        let (table, rows) = rows_of(name, text);
        assert_eq!(range.height(), rows.len() + 1);
        for (cells, row) in range.rows().skip(1).zip(&rows) {
            for (shown, cell) in cells.iter().zip(&row.cells) {
                match shown {
                    Data::Empty => assert_eq!(cell, ""),
                    Data::String(shown) => assert_eq!(shown, cell),
                    other => panic!("{other:?} for {cell:?}"),
                }
            }
            assert!(matches!(cells[table.headers.len()], Data::String(_)), "the status");
        }
        assert!(book.worksheet_formula(worksheet).unwrap().is_empty());
    }
    let summary = book.worksheet_range("Summary").unwrap();
    let row = |label: &str| {
        summary.rows().find(|row| row[0] == Data::String(label.into())).unwrap_or_else(|| panic!("{label}"))
    };
    let all: Vec<f64> = row("All sheets")[2..]
        .iter()
        .filter_map(|cell| if let Data::Float(n) = cell { Some(*n) } else { None })
        .collect();
    assert_eq!(all[0], 16.0);
    assert_eq!(all[1..].iter().sum::<f64>(), 16.0);
}

/// The parts of a workbook that are XML, by their names.
fn parts(path: &Path) -> BTreeMap<String, String> {
    let mut archive = zip::ZipArchive::new(fs::File::open(path).unwrap()).unwrap();
    let mut parts = BTreeMap::new();
    for at in 0..archive.len() {
        let mut part = archive.by_index(at).unwrap();
        let mut text = String::new();
        if std::io::Read::read_to_string(&mut part, &mut text).is_ok() {
            parts.insert(part.name().unwrap().into_owned(), text);
        }
    }
    parts
}

/// What somebody types over a cell of theirs, or below the last one, keeps its zeros.
#[test]
fn every_column_of_the_users_and_every_cell_in_it_has_the_format_of_text() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let width = COMPANIES.lines().next().unwrap().split(',').count();
    // In fix.xlsx the reason is first.
    for (file, sheet, first) in [("results.xlsx", 2, 0), ("fix.xlsx", 2, 3)] {
        let parts = parts(&written.folder.join(file));
        let (styles, sheet) = (&parts["xl/styles.xml"], &parts[&format!("xl/worksheets/sheet{sheet}.xml")]);
        let between = |text: &str, open: &str, close: &str| -> Vec<String> {
            text.split(open).skip(1).filter_map(|rest| rest.split(close).next().map(str::to_owned)).collect()
        };
        let attribute =
            |element: &str, name: &str| between(element, &format!(" {name}=\""), "\"").first().cloned();
        let text =
            between(styles, "<numFmt", "/>").into_iter().find(|format| format.contains("formatCode=\"@\""));
        let text = text.and_then(|format| attribute(&format, "numFmtId")).expect("a format of text");
        let formats = between(&between(styles, "<cellXfs", "</cellXfs>")[0], "<xf", ">");
        let is_text = |style: &str| {
            attribute(&formats[style.parse::<usize>().unwrap()], "numFmtId").as_ref() == Some(&text)
        };
        let mut columns = 0;
        for column in between(sheet, "<col", "/>").iter().filter(|column| column.starts_with(' ')) {
            let number = |name: &str| attribute(column, name).unwrap().parse::<usize>().unwrap();
            if number("min") > first && number("max") <= first + width {
                assert!(is_text(&attribute(column, "style").expect("a style")), "{file}: {column}");
                columns += number("max") + 1 - number("min");
            }
        }
        assert_eq!(columns, width, "{file}");
        let mut cells = 0;
        for cell in between(sheet, "<c", ">").iter().filter(|cell| cell.starts_with(" r=")) {
            let at = attribute(cell, "r").unwrap();
            let letters = at.trim_end_matches(|c: char| c.is_ascii_digit());
            if letters.len() == 1
                && (first..first + width).contains(&usize::from(letters.as_bytes()[0] - b'A'))
            {
                assert!(is_text(&attribute(cell, "s").expect("a style")), "{file}: {cell}");
                cells += 1;
            }
        }
        assert!(cells > width, "{file}: {cells}");
    }
}

/// Every sheet of a workbook as text, a line a row.
fn told(path: &Path) -> String {
    let mut book: Xlsx<_> = open_workbook(path).unwrap();
    let mut told = String::new();
    for name in book.sheet_names() {
        told.push_str(&format!("[{name}]\n"));
        for row in book.worksheet_range(&name).unwrap().rows() {
            let cells: Vec<String> = row.iter().map(|cell| cell.to_string().replace('\n', "\\n")).collect();
            told.push_str(cells.join(" | ").trim_end_matches([' ', '|']));
            told.push('\n');
        }
    }
    told
}

#[test]
fn the_workbooks_are_told_whole() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    insta::assert_snapshot!("results.xlsx", told(&written.folder.join("results.xlsx")));
    insta::assert_snapshot!("fix.xlsx", told(&written.folder.join("fix.xlsx")));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 40, ..Default::default() })]

    /// Whatever text stands in a cell is in every report as it was, and our reader reads it back so.
    #[test]
    fn any_text_goes_out_and_comes_back_unchanged(texts in proptest::collection::vec("(?s)[=+@'\\-]?\\PC{0,12}[ \"\n\t]?\\PC{0,6}", 1..6)) {
        let mut bench = Bench::new();
        let lines = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
        let (table, mut rows) = rows_of("companies.csv", &lines);
        let mut row = rows.remove(0);
        row.cells.extend(texts.iter().map(Into::into));
        let mut writer = bench.journal.begin_import(at(0)).unwrap();
        let import = writer.import();
        let mut headers = table.headers.clone();
        headers.extend((0..texts.len()).map(|n| format!("x-{n}")));
        let sheet = NewSheet {
            name: "companies".into(), file: "companies.csv".into(), worksheet: None, kind: table.kind, headers,
            header_row: 1,
        };
        let sheet = writer.sheet(&sheet).unwrap();
        let (job, disposition) = job_of(&mut writer, &mut bench.jobs, &row);
        let cells = row.cells.iter().map(ToString::to_string).collect();
        writer.row(&NewRow { sheet, number: 2, line: None, cells, job, disposition }).unwrap();
        writer.finish().unwrap();
        bench.claim("acme", Operation::AddCompany, 1);
        bench.reject("acme", "invalidData", "no", &[], 2);
        let written = bench.write(import, "reports");
        for file in ["companies.results.csv", "companies.fix.csv", "results.xlsx", "fix.xlsx"] {
            let (table, rows) = read(&written.folder.join(file)).remove(0);
            let first = table.headers.iter().position(|header| header == "x-0").unwrap();
            proptest::prop_assert_eq!(&rows[0].cells[first..first + texts.len()], &texts[..], "{}", file);
        }
    }
}

/// The text of the parts of a workbook whose names begin like this.
fn text_of(path: &Path, prefix: &str) -> String {
    parts(path).into_iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, text)| text).collect()
}

#[test]
fn every_sheet_is_printed_across_with_its_header_its_first_columns_and_the_number_of_the_page() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    for (name, sheets, last) in [("results.xlsx", 3, "A"), ("fix.xlsx", 3, "C")] {
        let tables = 2;
        let path = written.folder.join(name);
        let text = text_of(&path, "xl/worksheets/sheet");
        for (mark, times) in [
            ("orientation=\"landscape\"", sheets),
            ("fitToHeight=\"0\"", sheets),
            ("<pageSetUpPr fitToPage=\"1\"/>", sheets),
            ("Page &amp;P of &amp;N", sheets),
        ] {
            assert_eq!(text.matches(mark).count(), times, "{name}: {mark}");
        }
        let titles = text_of(&path, "xl/workbook.xml");
        assert_eq!(titles.matches("_xlnm.Print_Titles").count(), tables, "{name}");
        assert_eq!(titles.matches(&format!("!$A:${last},")).count(), tables, "{name}");
        // Tables that are too wide to be read on one page are printed over several; nothing else is.
        assert_eq!(text.matches("fitToWidth=\"").count(), tables, "{name}");
    }
}

#[test]
fn the_cells_to_blame_carry_notes() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    let notes = text_of(&written.folder.join("fix.xlsx"), "xl/comments");
    for (cell, words) in [
        ("H2", "must be a phone number"),
        ("L2", "must not contain quotes"),
        ("F2", "already in use by"),
        ("K3", "no such licence"),
    ] {
        let (_, after) =
            notes.split_once(&format!("ref=\"{cell}\"")).unwrap_or_else(|| panic!("{cell}: {notes}"));
        let note = after.split("</comment>").next().unwrap();
        assert!(note.contains(words), "{cell}: {note}");
    }
}

#[test]
fn what_is_wrong_is_frozen_at_the_left_of_the_rows_to_correct_and_what_they_are_known_by_in_the_results() {
    let (bench, import) = every_state();
    let written = bench.write(import, "reports");
    for (name, frozen) in [("results.xlsx", [4, 2]), ("fix.xlsx", [3, 3])] {
        let parts = parts(&written.folder.join(name));
        for (sheet, columns) in [2, 3].into_iter().zip(frozen) {
            let sheet = &parts[&format!("xl/worksheets/sheet{sheet}.xml")];
            assert!(
                sheet.contains(&format!("<pane xSplit=\"{columns}\" ySplit=\"1\"")),
                "{name}: {sheet:.900}"
            );
        }
    }
    let mut book: Xlsx<_> = open_workbook(written.fix.unwrap()).unwrap();
    let sheet = book.worksheet_range("Companies").unwrap();
    let header: Vec<String> = sheet.rows().next().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(header[..4], ["result_status", "result_message", "result_advice", "Key"]);
}

#[test]
fn rows_known_from_before_say_so_when_nothing_was_sent_for_them() {
    let (mut bench, first) = every_state();
    // A report with its own result columns comes back, changed by hand in one row.
    let before = bench.write(first, "first");
    let text = fs::read_to_string(before.folder.join("Companies.results.csv")).unwrap();
    let text = text.replace("555 0106", "555 9999");
    let second = bench.import(&[("Companies.results.csv", "Companies.results", &text)]);
    bench.claim("ready", Operation::AddCompany, 61);
    bench.done("ready", JobState::Sending, How::Created, 4, 62);

    let written = bench.write(second, "second");
    let records = records(&written.folder.join("Companies.results.csv"));
    assert_eq!(records[0].iter().filter(|header| *header == "result_source").count(), 1);
    assert!(records[0].contains(&"result_note".to_owned()), "a column of the customer's own stays");
    let column = |name: &str| records[0].iter().position(|header| header == name).unwrap();
    let (status, message) = (column("result_status"), column("result_message"));
    let told: Vec<String> = records[1..]
        .iter()
        .map(|record| format!("{}: {}: {}", record[0], record[status], record[message]))
        .filter(|line| ["acme", "evil", "adop", "ther", "read"].iter().any(|key| line.starts_with(key)))
        .collect();
    insta::assert_snapshot!("known_from_before", told.join("\n"));
}

#[test]
fn cells_beyond_the_headers_and_cells_that_no_workbook_holds_are_not_lost() {
    let mut bench = Bench::new();
    let huge = "x".repeat(40_000);
    let line: String = COMPANIES.lines().take(2).map(|line| format!("{line}\n")).collect();
    let (table, mut rows) = rows_of("companies.csv", &line);
    let row = &mut rows[0];
    row.cells[10] = "a\0b\u{1b}\r\n".into();
    row.cells.extend(["beyond".into(), huge.as_str().into()]);
    let mut writer = bench.journal.begin_import(at(0)).unwrap();
    let import = writer.import();
    let sheet = writer
        .sheet(&NewSheet {
            name: "companies".into(),
            file: "c.xlsx".into(),
            worksheet: Some("companies".into()),
            kind: table.kind,
            headers: table.headers,
            header_row: 1,
        })
        .unwrap();
    let (job, disposition) = job_of(&mut writer, &mut bench.jobs, row);
    let cells = row.cells.iter().map(ToString::to_string).collect();
    writer.row(&NewRow { sheet, number: 2, line: None, cells, job, disposition }).unwrap();
    writer.finish().unwrap();

    let written = bench.write(import, "reports");
    let records = records(&written.folder.join("companies.results.csv"));
    assert_eq!(records[0][11..13], ["x-column-12", "x-column-13"]);
    assert_eq!(records[1][10..13], ["a\0b\u{1b}\r\n", "beyond", huge.as_str()]);
    let mut book: Xlsx<_> = open_workbook(written.folder.join("results.xlsx")).unwrap();
    let range = book.worksheet_range("companies").unwrap();
    let Data::String(cut) = &range[(1, 12)] else { panic!("no text") };
    assert!(cut.starts_with("xxx") && cut.ends_with("in the CSV report)"), "{}", cut.len());
}

#[test]
fn how_the_rows_of_an_import_are_corrected_is_asked_once_for_all_that_needs_it() {
    let (bench, _) = every_state();
    let (again, asked) = (Again::default(), Cell::new(0));
    let correction = |_: &ImportFacts| {
        asked.set(asked.get() + 1);
        Advisor::new(&again, None).correction()
    };
    let unavailable = Vec::new();
    let commands =
        Commands { again: &again, correction: &correction, unavailable, in_report: false, is_watched: false };
    let needs = Status::now(&bench.journal, None, at(30)).unwrap().needs(&commands);
    let causes: Vec<&str> = needs.iter().map(|need| need.cause).collect();
    assert!(causes.contains(&"rejected") && causes.contains(&"incomplete"), "{causes:?}");
    assert_eq!(asked.get(), 1);
}

#[test]
fn an_import_that_is_not_there_is_refused_with_those_that_are() {
    let (bench, _) = every_state();
    let standing = ImportEnd { end: End::Done, exit_code: 0, resumes_at: None, holder: None };
    let folder = bench.folder.path().join("none");
    let error =
        write(&bench.journal, ImportId(9), &folder, &standing, caller(&Again::default())).unwrap_err();
    assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
    assert!(error.next_step().unwrap().contains("numbered 1 to 1"));
    assert!(!folder.exists());
}

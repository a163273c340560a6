//! Sheets: text tables and workbooks are examined, imported, reported on, and the reports read again.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;

use fleetload::ending::End;
use fleetload::import::{self, Examined, Outcome};
use fleetload::journal::Journal;
use fleetload::model::kind::Kind;
use fleetload::model::time::Moment;
use fleetload::report::{self, Caller, ImportEnd};
use fleetload::sheet::Options;
use fleetload::status::next_command::Again;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::base;
use super::input::{Input, parts};

/// The moment of every import.
const NOW: Moment = Moment::from_millis(1_790_000_000_000);

/// The most parts of a workbook: more would only be slow.
const MOST_PARTS: usize = 64;

/// A text table is examined. The first byte says under which name it comes and how it is read.
pub(crate) fn csv(data: &[u8]) {
    let (name, options, content) = text_table(data);
    examine(&name, content, &options);
}

/// A text table is examined, imported as far as it is right, reported on and read again.
pub(crate) fn import(data: &[u8]) {
    let (name, options, content) = text_table(data);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs::write(&file, content).expect("a file");
    take_in(folder.path(), &file, &options);
}

/// Any bytes as a workbook.
pub(crate) fn archive(data: &[u8]) {
    examine("book.xlsx", data, &Options::default());
}

/// A workbook of these parts (`@@@ xl/workbook.xml` and so on), packed as a workbook is.
pub(crate) fn workbook(data: &[u8]) {
    examine("book.xlsx", &packed(data), &Options::default());
}

/// The same, imported as far as it is right.
pub(crate) fn workbook_import(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("book.xlsx");
    fs::write(&file, packed(data)).expect("a file");
    take_in(folder.path(), &file, &Options::default());
}

/// How many rows are found in an input of [`csv`].
pub(crate) fn rows_of_table(data: &[u8]) -> u64 {
    let (name, options, content) = text_table(data);
    rows(&name, content, &options)
}

/// How many rows are found in an input of [`workbook`].
pub(crate) fn rows_of_parts(data: &[u8]) -> u64 {
    rows("book.xlsx", &packed(data), &Options::default())
}

fn rows(name: &str, content: &[u8], options: &Options) -> u64 {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs::write(&file, content).expect("a file");
    examined(&file, options, None).map_or(0, |examined| examined.sheets.iter().map(|sheet| sheet.rows).sum())
}

fn text_table(data: &[u8]) -> (String, Options, &[u8]) {
    let mut input = Input::new(data);
    let mut options = Options::default();
    let name = match input.byte() {
        b'c' => "companies.csv",
        b's' => "sites.csv",
        b'p' => "people.csv",
        b'x' => "devices.xlsx",
        b'k' => {
            options.kind = Some(Kind::Device);
            "table.txt"
        }
        b';' => {
            options.delimiter = Some(';');
            "devices.csv"
        }
        b'e' => {
            options.escape = Some('\\');
            options.allow_empty = true;
            "sites.csv"
        }
        b'w' => {
            options.set_encoding("windows-1252").expect("an encoding that is known");
            "people.csv"
        }
        b'h' => {
            options.header_row = Some(2);
            options.rename = vec![("what".into(), "name".into())];
            options.ignore_columns = vec!["notes".into()];
            options.set_default("companies.country=New Zealand").expect("a column that is known");
            "companies.csv"
        }
        _ => "devices.csv",
    };
    (name.to_owned(), options, input.rest())
}

fn packed(data: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts(data).into_iter().take(MOST_PARTS) {
        // Two parts of one name, and names that are none, cannot be packed.
        if zip.start_file(name, options).is_ok() {
            zip.write_all(content).expect("memory");
        }
    }
    zip.finish().expect("memory").into_inner()
}

/// Examines a file twice: both times the same is found, and what is found makes sense.
fn examine(name: &str, content: &[u8], options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs::write(&file, content).expect("a file");
    let once = examined(&file, options, None);
    let again = examined(&file, options, None);
    match (once, again) {
        (Some(once), Some(again)) => {
            assert_eq!(once.sheets, again.sheets);
            assert!(once.findings.iter().eq(again.findings.iter()), "the same file has other findings");
        }
        (once, again) => assert!(once.is_none() && again.is_none(), "a file can be read only sometimes"),
    }
}

fn examined(file: &Path, options: &Options, journal: Option<&Journal>) -> Option<Examined> {
    let examined = import::examine(&[file.to_owned()], options, journal).ok()?;
    for sheet in &examined.sheets {
        assert!(sheet.usable <= sheet.rows, "{sheet:?}");
    }
    for finding in examined.findings.iter() {
        assert!(!finding.message.is_empty(), "{finding:?}");
        assert_ne!(finding.row, Some(0), "{finding:?}");
        serde_json::to_string(finding).expect("a finding has a written form");
    }
    assert!(
        !examined.is_clean() || examined.sheets.iter().any(|sheet| sheet.rows > 0),
        "a file without rows must be said to be one"
    );
    Some(examined)
}

/// Imports what is right of a file, writes the reports, reads these again, and imports a second time.
fn take_in(folder: &Path, file: &Path, options: &Options) {
    let path = folder.join("fleetload.db");
    fs::write(&path, base::empty()).expect("a journal");
    let mut journal = Journal::open(&path).expect("an empty journal");
    let Some(first) = examined(file, options, None) else { return };
    let usable: u64 = first.sheets.iter().map(|sheet| sheet.usable).sum();
    let outcome = import::import(&first, &mut journal, true, NOW).expect("a file that stays as it is");
    let Outcome::Imported(imported, _) = outcome else { return };
    let all: u64 = first.sheets.iter().map(|sheet| sheet.rows).sum();
    assert_eq!(imported.rows, all, "a row has no answer: {imported:?}");
    assert_eq!(imported.left_out.total(), all - usable, "{imported:?} of {usable}");
    assert_eq!(imported.added + imported.revised + imported.recognised, usable, "{imported:?}");

    let standing = ImportEnd { end: End::Done, exit_code: 0, resumes_at: None, holder: None };
    let caller = Caller { again: &Again::default(), folder };
    let written = report::write(&journal, imported.import, &folder.join("reports"), &standing, caller)
        .expect("a report of what was imported");
    for file in written.files.iter().filter(|file| is_sheet(file)) {
        examined(file, &Options::default(), Some(&journal));
    }

    let Some(second) = examined(file, options, Some(&journal)) else {
        panic!("the file could be read a moment ago");
    };
    match import::import(&second, &mut journal, true, NOW).expect("a file that stays as it is") {
        Outcome::Imported(again, _) => {
            // A reference that only the journal can resolve makes a row usable that was not before.
            if second.sheets == first.sheets {
                assert_eq!((again.added, again.rows), (0, imported.rows), "imported twice: {again:?}");
            }
        }
        Outcome::Refused(_) => {}
    }
}

fn is_sheet(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "csv" || ending == "xlsx")
}

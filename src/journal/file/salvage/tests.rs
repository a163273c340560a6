//! Pages overwritten with nonsense: noticed, told, and read around.

use std::fs::OpenOptions;
use std::io::{Seek as _, SeekFrom, Write as _};

use super::*;
use crate::error::ErrorKind;
use crate::journal::fixture::*;
use crate::model::id::ImportId;

const PAGE: u64 = 4_096;

/// A journal with many rows, closed, so that all of it lies in its file.
fn closed() -> (tempfile::TempDir, std::path::PathBuf) {
    let mut bench = bench();
    let names: Vec<String> = (0..2_000).map(|number| format!("Company {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    import_companies(&mut bench.journal, &names, false);
    (bench.folder, bench.journal.path().to_owned())
}

/// The pages of a table or an index, but for its root.
fn pages(path: &Path, name: &str) -> Vec<u64> {
    let connection = Connection::open(path).unwrap();
    // The bundled SQLite has no dbstat: the pages are known by what `quick_check` says of each when it is torn.
    let root: i64 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [name], |row| row.get(0))
        .unwrap();
    drop(connection);
    let bytes = std::fs::read(path).unwrap();
    let start = (root.unsigned_abs() - 1) * PAGE;
    let page = &bytes[usize::try_from(start).unwrap()..][..PAGE as usize];
    assert_eq!(page[0], 0x05, "the root of {name} is an interior page of a table");
    let cells = usize::from(u16::from_be_bytes([page[3], page[4]]));
    (0..cells)
        .map(|cell| {
            let at = 12 + 2 * cell;
            let cell = usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
            u64::from(u32::from_be_bytes([page[cell], page[cell + 1], page[cell + 2], page[cell + 3]]))
        })
        .collect()
}

fn overwrite(path: &Path, page: u64) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * PAGE)).unwrap();
    file.write_all(&[0xA5; PAGE as usize]).unwrap();
}

#[test]
fn a_sound_journal_passes_and_is_read_in_full() {
    let (_folder, path) = closed();
    let mut journal = Journal::open_existing(&path).unwrap();
    journal.check_pages().unwrap();
    journal.finish_page_check().unwrap();
    journal.begin_page_check().unwrap();
    journal.finish_page_check().unwrap();
    drop(journal);
    let before = std::fs::read(&path).unwrap();
    let salvaged = Salvaged::of(&path).unwrap();
    assert_eq!((salvaged.lost.as_slice(), salvaged.parts.as_slice()), (&[][..], &[][..]));
    assert_eq!(salvaged.journal.tally(Some(ImportId(1))).unwrap().total(), 2_000);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_check_is_due_until_it_has_ended_though_runs_begin_and_end_meanwhile() {
    let (_folder, path) = closed();
    let mut journal = Journal::open_existing(&path).unwrap();
    assert!(!journal.is_page_check_due().unwrap());
    journal.begin_page_check().unwrap();
    let run = journal.queue().begin_run(at(9)).unwrap();
    journal.queue().withdraw_run(run).unwrap();
    assert!(journal.is_page_check_due().unwrap());
    journal.finish_page_check().unwrap();
    assert!(!journal.is_page_check_due().unwrap());
}

#[test]
fn around_overwritten_pages_every_other_row_is_read() {
    for (table, count) in [("job", 1), ("job", 3), ("sheet_row", 2), ("step", 2)] {
        let (_folder, path) = closed();
        let pages = pages(&path, table);
        assert!(pages.len() > 4, "{table} has {} pages", pages.len());
        for at in 0..count {
            overwrite(&path, pages[1 + at * (pages.len() - 2) / count]);
        }
        let mut journal = Journal::open_existing(&path).unwrap();
        journal.begin_page_check().unwrap();
        for error in [journal.check_pages().unwrap_err(), journal.finish_page_check().unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Journal, "{error}");
            assert!(is_damage(&error) && error.to_string().contains("damaged"), "{error}");
        }
        drop(journal);
        let before = std::fs::read(&path).unwrap();
        let salvaged = Salvaged::of(&path).unwrap();
        assert_eq!(salvaged.parts, [table]);
        assert_eq!(std::fs::read(&path).unwrap(), before, "the damaged file is not touched");
        let shown = salvaged.journal.tally(Some(ImportId(1))).unwrap().total();
        if table == "step" {
            assert_eq!(shown, 2_000, "reports need no step");
            continue;
        }
        let [lost] = salvaged.lost.as_slice() else { panic!("{:?}", salvaged.lost) };
        assert_eq!((lost.rows + shown, lost.of), (2_000, 2_000));
        // A page holds at most some two hundred rows of these.
        assert!(lost.rows > 0 && lost.rows < 200 * count as u64, "{table}: {} rows lost", lost.rows);
        if table == "job" {
            assert_eq!(lost.numbers.len() as u64, lost.rows, "their places are known");
        }
    }
}

#[test]
fn an_error_of_another_kind_is_not_taken_for_damage() {
    assert!(!is_damage(&Error::journal("locked")));
    let full = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL), None);
    assert!(!is_damage(&full.into()));
}

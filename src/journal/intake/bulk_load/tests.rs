use std::fs;

use super::*;
use crate::journal::ImportWriter;
use crate::journal::file::db_file::beside;
use crate::journal::file::file_watch::log_of;
use crate::journal::fixture::{at, bench, company, import_companies, link, row, sheet};
use crate::journal::{Disposition, Journal};
use crate::model::kind::Kind;
use crate::model::record::Role;

fn schema(journal: &Journal) -> Vec<(String, Option<String>)> {
    journal
        .connection
        .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

#[test]
fn the_first_import_leaves_the_indexes_as_they_were_whether_it_is_finished_or_undone() {
    let mut bench = bench();
    let before = schema(&bench.journal);
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    assert!(import.is_first());
    let customers = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    let job = import.add_job(&company("Acme", vec![])).unwrap();
    import.row(&row(customers, 2, job, Disposition::New)).unwrap();
    drop(import);
    assert_eq!(schema(&bench.journal), before);
    for name in ["Acme", "Bolt"] {
        import_companies(&mut bench.journal, &[name], false);
        assert_eq!(schema(&bench.journal), before);
    }
    assert!(!bench.journal.begin_import(at(2)).unwrap().is_first());
    let sound: String =
        bench.journal.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

#[test]
fn indexes_are_put_aside_during_the_first_import_only_and_back_once_it_is_complete() {
    let mut bench = bench();
    let kept = |import: &ImportWriter<'_>| -> usize {
        let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)";
        let is_there =
            |name: &str| -> bool { import.transaction.query_row(sql, [name], |row| row.get(0)).unwrap() };
        DROPPED.iter().filter(|&name| is_there(name)).count()
    };
    let mut first = bench.journal.begin_import(at(1)).unwrap();
    assert_eq!(kept(&first), 0);
    first.complete().unwrap();
    assert_eq!(kept(&first), DROPPED.len());
    first.finish().unwrap();
    assert_eq!(kept(&bench.journal.begin_import(at(2)).unwrap()), DROPPED.len());
}

#[test]
fn the_jobs_of_a_first_import_are_counted_as_the_trigger_counts_them() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let customers = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    let acme = import.add_job(&company("Acme", vec![])).unwrap();
    let below = |name: &str| company(name, vec![link(Role::Parent, acme)]);
    let bolt = import.add_job(&below("Bolt")).unwrap();
    // Changed before all rows are there: what is added after that is counted by the trigger.
    import.revise_job(bolt, &below("Bolt Ltd")).unwrap();
    let crane = import.add_job(&company("Crane", vec![])).unwrap();
    for (job, number) in [(acme, 2), (bolt, 3), (crane, 4)] {
        import.row(&row(customers, number, job, Disposition::New)).unwrap();
    }
    import.finish().unwrap();
    let counted = |sql: &str| -> Vec<(String, i64)> {
        let mut statement = bench.journal.connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let expected = counted(
        "SELECT kind || ' ' || operation || ' ' || state || ' ' || made_doubted || first_import, count(*) FROM job
         GROUP BY 1 ORDER BY 1",
    );
    let kept = counted(
        "SELECT kind || ' ' || operation || ' ' || state || ' ' || made_doubted || first_import, jobs FROM job_count
         WHERE audit = '' AND jobs > 0 ORDER BY 1",
    );
    assert_eq!(kept, expected);
    assert_eq!(expected.iter().map(|(_, jobs)| jobs).sum::<i64>(), 3);
}

fn mode(connection: &Connection) -> (String, i64, i64, i64) {
    let asked = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap();
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    (mode, asked("synchronous"), asked("foreign_keys"), asked("ignore_check_constraints"))
}

fn as_opened() -> (String, i64, i64, i64) {
    ("wal".to_owned(), 2, 1, 0)
}

#[test]
fn the_log_is_put_away_for_the_first_import_only_and_is_back_whether_it_is_finished_or_undone() {
    let mut bench = bench();
    let log = log_of(bench.journal.path());
    for is_finished in [false, true] {
        let import = bench.journal.begin_import(at(1)).unwrap();
        assert!(import.is_first());
        assert_eq!(mode(&import.transaction), ("truncate".to_owned(), 2, 0, 1));
        assert!(!log.exists());
        if is_finished {
            drop(import.finish().unwrap())
        } else {
            drop(import)
        }
        assert_eq!(mode(&bench.journal.connection), as_opened());
        let broken = "UPDATE identity SET serial = -1";
        let refused = bench.journal.connection.execute(broken, []).unwrap_err().to_string();
        assert!(refused.contains("CHECK"), "{refused}");
        assert!(log.exists());
        bench.journal.look_at_files().unwrap();
    }
    let second = bench.journal.begin_import(at(2)).unwrap();
    assert_eq!(mode(&second.transaction), as_opened());
}

#[test]
fn a_journal_that_another_process_has_open_keeps_its_log() {
    let mut bench = bench();
    let other = Journal::open(bench.journal.path()).unwrap();
    assert!(other.imports().unwrap().is_empty());
    let import = bench.journal.begin_import(at(1)).unwrap();
    assert_eq!(mode(&import.transaction), as_opened());
    assert!(other.imports().unwrap().is_empty(), "it is read meanwhile");
    import.finish().unwrap();
    assert_eq!(other.imports().unwrap().len(), 1);
}

#[test]
fn what_is_left_of_a_first_import_that_was_cut_off_is_a_journal_without_it() {
    let mut bench = bench();
    let path = bench.journal.path().to_owned();
    let copy = bench.folder.path().join("copy.db");
    let before = fs::metadata(&path).unwrap().len();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    // Few pages in memory: what otherwise takes many rows.
    import.transaction.pragma_update(None, "cache_size", 10).unwrap();
    let customers = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    for number in 2..500 {
        let job = import.add_job(&company(&format!("Customer {number}"), vec![])).unwrap();
        import.row(&row(customers, number, job, Disposition::New)).unwrap();
    }
    for ending in ["", "-journal"] {
        fs::copy(beside(&path, ending), beside(&copy, ending)).unwrap();
    }
    drop(import);
    assert!(fs::metadata(&copy).unwrap().len() > before, "a part of the rows was in the file");
    let mut copy = Journal::open(&copy).unwrap();
    assert!(copy.imports().unwrap().is_empty());
    assert_eq!(mode(&copy.connection), as_opened());
    let sound: String = copy.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    assert_eq!(import_companies(&mut copy, &["Acme"], false).0.rows, 1);
}

#[test]
fn a_row_or_link_of_a_job_that_was_never_made_is_refused_though_no_foreign_key_is_looked_up() {
    let mut bench = bench();
    let mut import = bench.journal.begin_import(at(1)).unwrap();
    let customers = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    let acme = import.add_job(&company("Acme", vec![])).unwrap();
    for never in [JobId(acme.0 + 1), JobId(0), JobId(-1)] {
        let error = import.row(&row(customers, 2, never, Disposition::New)).unwrap_err();
        assert!(error.to_string().contains("was never made"), "{error}");
    }
    let below = company("Bolt", vec![link(Role::Parent, JobId(acme.0 + 2))]);
    assert!(import.add_job(&below).unwrap_err().to_string().contains("was never made"));
}

//! The first import of a journal, written past the write-ahead log, which would take every page of it a second time.
//!
//! A journal that holds nothing yet needs no log to undo an import: in SQLite's other way of keeping its promise only
//! pages that were there before are saved beside the file, and what was added behind them is cut off again. Whoever opens
//! the journal after the process has died has that done by SQLite, and finds no import. The log is back before anything
//! else is written; a journal that another process has open keeps it throughout.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::error::Result;
use crate::journal::file::file_watch::Presence;
use crate::journal::file::open;

/// How a change is undone without the log: what is saved for that lies in a file that is emptied, and synced, by a commit.
const WITHOUT_LOG: &str = "TRUNCATE";

/// Not looked up meanwhile: that every job which is named was made is known without asking (`adding`).
const FOREIGN_KEYS: &str = "foreign_keys";

/// A journal without its log, until this is ended or dropped; or one that has kept it.
#[derive(Debug)]
pub(in crate::journal) struct Direct<'a> {
    connection: &'a Connection,
    path: &'a Path,
    presence: &'a mut Presence,
    is_under_way: bool,
}

impl<'a> Direct<'a> {
    /// Begins a transaction, without the log when nothing was ever imported and nobody else has the journal open.
    pub(in crate::journal) fn begin(
        connection: &'a Connection,
        path: &'a Path,
        presence: &'a mut Presence,
    ) -> Result<(Self, Transaction<'a>)> {
        let mut direct = Self { connection, path, presence, is_under_way: false };
        let begin = || Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
        if is_empty(connection)? {
            direct.put_log_away()?;
        }
        let transaction = begin()?;
        if !direct.is_under_way || is_empty(&transaction)? {
            return Ok((direct, transaction));
        }
        // Another process has imported meanwhile.
        transaction.rollback()?;
        direct.take_log_back()?;
        Ok((direct, begin()?))
    }

    /// Whether the log is put away, and foreign keys are not looked up.
    pub(in crate::journal) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Goes on with the log.
    pub(in crate::journal) fn end(mut self) -> Result<()> {
        self.take_log_back()
    }

    fn put_log_away(&mut self) -> Result<()> {
        let mode = self
            .connection
            .pragma_update_and_check(None, "journal_mode", WITHOUT_LOG, |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) => self.is_under_way = mode.eq_ignore_ascii_case(WITHOUT_LOG),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {}
                _ => return Err(error.into()),
            },
        }
        if self.is_under_way {
            open::set(self.connection, FOREIGN_KEYS, 0)?;
        }
        Ok(())
    }

    fn take_log_back(&mut self) -> Result<()> {
        if !self.is_under_way {
            return Ok(());
        }
        open::set(self.connection, FOREIGN_KEYS, 1)?;
        open::demand_log(self.connection, self.path)?;
        // The log is made by the first look at the journal.
        is_empty(self.connection)?;
        self.presence.look_anew(self.path);
        self.is_under_way = false;
        Ok(())
    }
}

/// Whether nothing was ever imported.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM import)", [], |row| row.get(0))
}

impl Drop for Direct<'_> {
    fn drop(&mut self) {
        // An import that was undone has been told, with its reason. The next commit says what is wrong with the log.
        if let Err(error) = self.take_log_back() {
            tracing::debug!(%error, "the journal goes on without its log");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::journal::file::file_watch::log_of;
    use crate::journal::file::migrate::beside;
    use crate::journal::fixture::{at, bench, company, import_companies, link, row, sheet};
    use crate::journal::{Disposition, Journal};
    use crate::model::id::JobId;
    use crate::model::kind::Kind;
    use crate::model::record::Role;

    fn mode(connection: &Connection) -> (String, i64, i64) {
        let asked = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0)).unwrap();
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        (mode, asked("synchronous"), asked("foreign_keys"))
    }

    fn as_opened() -> (String, i64, i64) {
        ("wal".to_owned(), 2, 1)
    }

    #[test]
    fn the_log_is_put_away_for_the_first_import_only_and_is_back_whether_it_is_finished_or_undone() {
        let mut bench = bench();
        let log = log_of(bench.journal.path());
        for is_finished in [false, true] {
            let import = bench.journal.begin_import(at(1)).unwrap();
            assert!(import.is_first());
            assert_eq!(mode(&import.transaction), ("truncate".to_owned(), 2, 0));
            assert!(!log.exists());
            if is_finished {
                drop(import.finish().unwrap())
            } else {
                drop(import)
            }
            assert_eq!(mode(&bench.journal.connection), as_opened());
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
        let sound: String =
            copy.connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
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
}

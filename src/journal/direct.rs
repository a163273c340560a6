//! The first import of a journal, written past the write-ahead log, which would take every page of it a second time.
//!
//! A journal that holds nothing yet needs no log to undo an import: in SQLite's other way of keeping its promise only
//! pages that were there before are saved beside the file, and what was added behind them is cut off again. Whoever opens
//! the journal after the process has died has that done by SQLite, and finds no import. The log is back before anything
//! else is written; a journal that another process has open keeps it throughout.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::open;
use super::presence::Presence;
use crate::error::Result;

/// How a change is undone without the log: what is saved for that lies in a file that is emptied, and synced, by a commit.
const WITHOUT_LOG: &str = "TRUNCATE";

/// Not looked up meanwhile: that every job which is named was made is known without asking (`adding`).
const FOREIGN_KEYS: &str = "foreign_keys";

/// A journal without its log, until this is ended or dropped; or one that has kept it.
#[derive(Debug)]
pub(super) struct Direct<'a> {
    connection: &'a Connection,
    path: &'a Path,
    presence: &'a mut Presence,
    is_under_way: bool,
}

impl<'a> Direct<'a> {
    /// Begins a transaction, without the log when nothing was ever imported and nobody else has the journal open.
    pub(super) fn begin(
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
    pub(super) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Goes on with the log.
    pub(super) fn end(mut self) -> Result<()> {
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

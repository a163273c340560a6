//! The first import of a journal, written past the write-ahead log, which would take every page of it a second time.
//!
//! A journal that holds nothing yet needs no log to undo an import: in SQLite's other way of keeping its promise only
//! pages that were there before are saved beside the file, and what was added behind them is cut off again. Whoever opens
//! the journal after the process has died has that done by SQLite, and finds no import. The log is back before anything
//! else is written; a journal that another process has open keeps it throughout.

use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use super::open;
use super::presence::Presence;
use crate::error::Result;

/// How a change is undone without the log: what is saved for that lies in a file that is emptied, and synced, by a commit.
const WITHOUT_LOG: &str = "TRUNCATE";

/// A journal without its log, until this is ended or dropped; or one that has kept it.
#[derive(Debug)]
pub(super) struct Direct<'a> {
    connection: &'a Connection,
    path: &'a Path,
    presence: &'a mut Presence,
    is_without_log: bool,
}

impl<'a> Direct<'a> {
    /// Puts the log of a journal away when nothing was ever imported into it and nobody else uses it.
    pub(super) fn begin(
        connection: &'a Connection,
        path: &'a Path,
        presence: &'a mut Presence,
    ) -> Result<Self> {
        let mut direct = Self { connection, path, presence, is_without_log: false };
        let is_empty =
            connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM import)", [], |row| row.get(0))?;
        if is_empty {
            direct.is_without_log = put_log_away(connection)?;
        }
        Ok(direct)
    }

    /// Goes on with the log.
    pub(super) fn end(mut self) -> Result<()> {
        self.take_log_back()
    }

    fn take_log_back(&mut self) -> Result<()> {
        if !self.is_without_log {
            return Ok(());
        }
        open::demand_log(self.connection, self.path)?;
        // The log is made by the first look at the journal.
        self.connection.query_row("SELECT count(*) FROM import", [], |_| Ok(()))?;
        self.presence.look_anew(self.path);
        self.is_without_log = false;
        Ok(())
    }
}

impl Drop for Direct<'_> {
    fn drop(&mut self) {
        // An import that was undone has been told, with its reason. The next commit says what is wrong with the log.
        if let Err(error) = self.take_log_back() {
            tracing::debug!(%error, "the journal goes on without its log");
        }
    }
}

/// Whether the log could be put away.
fn put_log_away(connection: &Connection) -> Result<bool> {
    match connection.pragma_update_and_check(None, "journal_mode", WITHOUT_LOG, |row| row.get::<_, String>(0))
    {
        Ok(mode) => Ok(mode.eq_ignore_ascii_case(WITHOUT_LOG)),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Ok(false),
            _ => Err(error.into()),
        },
    }
}

//! A copy of the journal as it is at one moment, to try things in.
//!
//! Copied as one reader sees it: those who write meanwhile neither wait for it nor change it.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journal::file::db_file;

/// All pages in one step, so that no write of others comes between and makes it begin again.
const ALL_PAGES: i32 = -1;

impl Journal {
    /// Copies the journal to a new file, readable by its owner only, and opens that.
    ///
    /// # Errors
    /// When the file cannot be written, for lack of space for one.
    pub fn snapshot(&self, to: &Path) -> Result<Self> {
        db_file::create_private(to)?;
        copy_pages(&self.view.connection, to).map_err(|error| {
            Error::journal(format!(
                "the journal {} could not be copied to {}",
                self.view.path.display(),
                to.display()
            ))
            .because(error)
            .hint("free some space in the folder for temporary files, or name another one in TMPDIR")
        })?;
        Self::open_existing(to)
    }
}

/// Copies every page to a file.
pub(in crate::journal) fn copy_pages(source: &Connection, to: &Path) -> Result<()> {
    let mut target = Connection::open(to)?;
    match Backup::new(source, &mut target)?.step(ALL_PAGES)? {
        StepResult::Done => Ok(()),
        _ => Err(Error::journal("another program keeps the journal to itself").ending(End::JournalLocked)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::Moment;

    #[test]
    fn a_snapshot_is_taken_while_another_writes_and_is_written_to_without_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("live.db");
        let mut live = Journal::open(&path).unwrap();
        live.begin_import(Moment::from_millis(1)).unwrap().finish().unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; DELETE FROM import").unwrap();
        let mut snapshot = live.snapshot(&place.path().join("copy.db")).unwrap();
        assert_eq!(snapshot.imports().unwrap().len(), 1);
        snapshot.begin_import(Moment::from_millis(2)).unwrap().finish().unwrap();
        assert_eq!((snapshot.imports().unwrap().len(), live.imports().unwrap().len()), (2, 1));
        other.execute_batch("ROLLBACK").unwrap();
    }
}

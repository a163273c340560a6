//! Backups: a copy of the journal in one file, complete and checked before it has its name, and the look at such a copy.
//!
//! It is taken as one reader sees the journal, so a run goes on meanwhile. A copy has no write-ahead log: it is one file that
//! may be copied, moved and kept on a disk that cannot be written. It notes when it was taken, so that a journal that was
//! restored from it is known as an older copy (`lineage::regression`).

use std::io;
use std::ops::Deref;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::file::db_file::{OpenFile, no_journal, refuse_other_files, refuse_own};
use crate::journal::file::migrate;
use crate::journal::file::salvage::is_damage;
use crate::journal::file::snapshot::copy_pages;
use crate::journal::{Journal, View, file::page_check};
use crate::model::time::Moment;
use crate::private_file::{folder_of, part_in, sync_folder_of};

/// A backup that is read, never written.
#[derive(Debug)]
pub struct Backup {
    view: View,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Deref for Backup {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

impl Journal {
    /// Copies the journal to a file for its owner alone, which gets its name when it is whole, checked and on disk. A file
    /// of that name is replaced only if `replace`.
    ///
    /// # Errors
    /// Usage when the file exists, or is the journal or belongs to it; journal when it cannot be written.
    pub fn back_up(&self, to: &Path, replace: bool, at: Moment) -> Result<Backup> {
        refuse_own(&self.view.path, to)
            .map_err(|error| error.hint("name another file for the backup, best on another disk"))?;
        match to.symlink_metadata() {
            Ok(there) if !there.is_file() => {
                return Err(Error::usage(format!("{} is not a file that could be replaced", to.display()))
                    .hint("name another file for the backup"));
            }
            Ok(_) if !replace => return Err(taken(to)),
            Ok(_) | Err(_) => {}
        }
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::StorageFull => unwritten(to).ending(End::JournalFull).because(error),
            _ => unwritten(to).because(error),
        };
        let mut beside = part_in(folder_of(to)).map_err(failed)?;
        copy_complete(&self.view.connection, beside.path(), at).map_err(|error| match error.end() {
            End::JournalLocked => error,
            // A copy has the damage of what was copied.
            End::JournalDamaged => match self.check_pages() {
                Err(of_journal) if is_damage(&of_journal) => of_journal,
                Ok(()) | Err(_) => unwritten(to).because(error),
            },
            End::JournalFull => unwritten(to).ending(End::JournalFull).because(error),
            _ => unwritten(to).because(error),
        })?;
        beside.as_file_mut().sync_all().map_err(failed)?;
        let put = if replace { beside.persist(to) } else { beside.persist_noclobber(to) };
        put.map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => taken(to),
            _ => failed(error.error),
        })?;
        // The copy is whole and has its name: that this is on disk is as much as the system can do.
        let _best_effort = sync_folder_of(to);
        Backup::open(to)
    }
}

impl Backup {
    /// Opens a backup to read it.
    ///
    /// # Errors
    /// When there is none, it is no journal, or it was written by another version of fleetload.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Err(Error::journal(format!("there is no backup at {}", path.display()))
                .ending(End::JournalMissing)
                .hint("name the file that `fleetload backup` wrote"));
        }
        // What is advised for a journal is of no use for a copy of one.
        let (connection, open_file) = Self::open_ours(path)
            .map_err(|error| error.hint("name a file that `fleetload backup` wrote and that you may read"))?;
        let version = migrate::version(&connection).map_err(|error| damaged(path, error))?;
        if version != migrate::STEPS.len() {
            return Err(Error::journal(format!(
                "the backup {} is of version {version}, and this fleetload checks version {}",
                path.display(),
                migrate::STEPS.len()
            ))
            .hint("check it with the fleetload that wrote it; an older one is brought up to date when it is used as a journal"));
        }
        let bytes = path.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self { view: View::of(connection, path, open_file), bytes })
    }

    /// Opens a file that is a journal.
    fn open_ours(path: &Path) -> Result<(Connection, OpenFile)> {
        refuse_other_files(path)?;
        let open_file = OpenFile::hold(path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_update(None, "trusted_schema", 0)?;
        connection.pragma_update(None, "cell_size_check", 1)?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if application == migrate::APPLICATION_ID {
            Ok((connection, open_file))
        } else {
            Err(no_journal(path))
        }
    }

    /// Looks at every page. What is found is an error that says that the file is damaged, and where.
    pub fn check_pages(&self) -> Result<()> {
        let checked = page_check::check(&self.view.connection, &self.view.path);
        checked.map_err(|error| damaged(&self.view.path, error))
    }

    /// When it was taken; `None` for a file that `fleetload backup` did not write.
    pub fn taken_at(&self) -> Result<Option<Moment>> {
        Ok(self.view.connection.query_row("SELECT taken_at FROM identity", [], |row| row.get(0))?)
    }
}

/// What is said of damage to a backup: the journal may be in order.
fn damaged(path: &Path, error: Error) -> Error {
    if !is_damage(&error) {
        return error;
    }
    error
        .saying(format!("the backup {} is damaged", path.display()))
        .hint("use another backup; where the journal is in order, write a new one: fleetload backup FILE")
}

/// Copies every page, notes the moment, and looks at every page of the copy.
fn copy_complete(source: &Connection, to: &Path, at: Moment) -> Result<()> {
    copy_pages(source, to)?;
    let copy = Connection::open(to)?;
    // Without a log: one file, which need not be written to be read.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    copy.execute("UPDATE identity SET taken_at = ?1", [at])?;
    page_check::check(&copy, to)
}

fn taken(to: &Path) -> Error {
    Error::usage(format!("{} already exists", to.display()))
        .hint("name another file, or replace this one with --force")
}

fn unwritten(to: &Path) -> Error {
    Error::journal(format!("the backup {} could not be written", to.display())).hint(
        "name a file in an existing folder that you may write to, on a disk with room for the whole journal; what was \
         there before is unchanged",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::journal::fixture::{at, bench, import_companies};

    #[test]
    fn a_backup_is_one_whole_file_of_a_moment_while_another_writes() {
        let mut bench = bench();
        import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        let other = Connection::open(bench.journal.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; UPDATE job SET natural_key = 'half' WHERE id = 1").unwrap();
        let to = bench.folder.path().join("copy.db");
        let backup = bench.journal.back_up(&to, false, at(7_000)).unwrap();
        backup.check_pages().unwrap();
        assert_eq!((backup.imports().unwrap().len(), backup.taken_at().unwrap()), (1, Some(at(7_000))));
        assert_eq!(backup.tally(None).unwrap().total(), 2);
        assert_eq!(backup.by_natural_key(crate::model::kind::Kind::Company, "half").unwrap(), None);
        other.execute_batch("ROLLBACK").unwrap();
        drop(backup);
        let names: Vec<_> =
            std::fs::read_dir(bench.folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().starts_with("copy.db-")), "{names:?}");
        assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{names:?}");
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&to.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
        // It is a journal that can be used as it is.
        assert_eq!(Journal::open_existing(&to).unwrap().tally(None).unwrap().total(), 2);
    }

    #[test]
    fn what_is_there_is_replaced_only_when_that_is_said_and_the_journal_never() {
        let bench = bench();
        let folder = bench.folder.path();
        let there = folder.join("there.db");
        std::fs::write(&there, "somebody's").unwrap();
        let refused = |to: &Path, replace| {
            let error = bench.journal.back_up(to, replace, at(1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
            error.to_string()
        };
        assert!(refused(&there, false).contains("already exists"));
        assert_eq!(std::fs::read(&there).unwrap(), b"somebody's");
        bench.journal.back_up(&there, true, at(1)).unwrap();
        assert!(refused(folder, true).contains("is not a file"));
        std::fs::hard_link(bench.journal.path(), folder.join("linked.db")).unwrap();
        for own in ["fleetload.db", "fleetload.db-wal", "fleetload.db.v1.bak", "linked.db", "./fleetload.db"]
        {
            assert!(refused(&folder.join(own), true).contains("the journal itself"), "{own}");
        }
        #[cfg(unix)]
        {
            let linked = folder.join("far");
            std::fs::create_dir(&linked).unwrap();
            std::os::unix::fs::symlink(bench.journal.path(), linked.join("j.db")).unwrap();
            let linked = Journal::open_existing(&linked.join("j.db")).unwrap();
            for own in ["fleetload.db.rescued", "far/j.db", "far/j.db.rescued"] {
                let error = linked.back_up(&folder.join(own), true, at(1)).unwrap_err();
                assert!(error.to_string().contains("the journal itself"), "{own}: {error}");
            }
        }
        // Only the beginning is the same.
        bench.journal.back_up(&folder.join("fleetload.db.bak"), false, at(1)).unwrap();
    }

    #[test]
    fn a_backup_that_cannot_be_written_leaves_what_was_there() {
        let bench = bench();
        let nowhere = bench.folder.path().join("no such folder").join("copy.db");
        let error = bench.journal.back_up(&nowhere, false, at(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.to_string().contains("could not be written"), "{error}");
    }

    #[test]
    fn what_is_no_backup_and_what_is_damaged_is_said() {
        let mut bench = bench();
        import_companies(&mut bench.journal, &["Acme"; 1], false);
        let folder = bench.folder.path();
        assert_eq!(Backup::open(&folder.join("none.db")).unwrap_err().end(), End::JournalMissing);
        let text = folder.join("text.db");
        std::fs::write(&text, "name,address\n").unwrap();
        assert!(Backup::open(&text).unwrap_err().to_string().contains("is not a fleetload journal"));
        let to = folder.join("copy.db");
        bench.journal.back_up(&to, false, at(1)).unwrap();
        let mut bytes = std::fs::read(&to).unwrap();
        let end = bytes.len();
        bytes[end - 4096 * 3..].fill(0x5a);
        std::fs::write(&to, &bytes).unwrap();
        let found = Backup::open(&to).and_then(|backup| backup.check_pages());
        assert_eq!(found.unwrap_err().end(), End::JournalDamaged);
    }
}

//! The versions of the journal: an ordered list of steps, each in a transaction of its own.
//!
//! A journal that holds something is copied before the first step. One written by a newer fleetload is refused
//! before anything of it is read.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::db_file;
use crate::journal::file::snapshot::copy_pages;

/// Marks a file as a journal of fleetload: `FLOD`.
pub(in crate::journal) const APPLICATION_ID: i32 = 0x464C_4F44;

/// The steps from an empty file to the present version; the version of a journal is how many it has taken.
/// A step that has been released is never changed: append another one.
pub(in crate::journal) const STEPS: &[&str] = &[include_str!("../schema.sql")];

/// The version of a journal.
pub(in crate::journal) fn version(connection: &Connection) -> Result<usize> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    usize::try_from(version).map_err(|_| {
        Error::journal(format!("the journal says it is of version {version}, which does not exist"))
            .hint("it was changed by another program or is damaged: go back to a copy of it")
    })
}

/// Brings a journal to the version that `steps` leads to.
pub(in crate::journal) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<()> {
    let present = version(connection)?;
    if present > steps.len() {
        return Err(Error::journal(format!(
            "the journal {} was written by a newer fleetload: it is of version {present}, this fleetload knows versions up to {}",
            path.display(),
            steps.len()
        ))
        .hint("install the newer fleetload, or name another file with --journal FILE"));
    }
    if present == steps.len() {
        return Ok(());
    }
    if present > 0 {
        failpoint::reach("migration.before-copy");
        copy(connection, path, present)?;
        failpoint::reach("migration.copied");
    }
    for (taken, step) in steps.iter().enumerate().skip(present) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have taken this step while we waited for the lock.
        if version(&transaction)? > taken {
            continue;
        }
        failpoint::reach("migration.begun");
        transaction.execute_batch(step)?;
        failpoint::reach("migration.half-done");
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", i64::try_from(taken + 1).unwrap_or(i64::MAX))?;
        failpoint::reach("migration.before-commit");
        transaction.commit()?;
        failpoint::reach("migration.committed");
    }
    Ok(())
}

/// Copies a journal of version `present` before it is changed; an older copy of the same version stays.
fn copy(connection: &Connection, path: &Path, present: usize) -> Result<()> {
    let copy = copy_path(path, present);
    if copy.exists() {
        return Ok(());
    }
    let unfinished = db_file::beside(&copy, ".part");
    db_file::create_private(&unfinished)?;
    let part = match OpenOptions::new().write(true).open(&unfinished) {
        Ok(part) => part,
        // Another process was at the same copy, and has put it in its place.
        Err(_) if copy.exists() => return Ok(()),
        Err(error) => return Err(uncopied(&unfinished, error)),
    };
    part.lock().map_err(|error| uncopied(&unfinished, error))?;
    if copy.exists() {
        // Begun after the other process had put its own in place; already gone otherwise.
        drop(std::fs::remove_file(&unfinished));
        return Ok(());
    }
    // What an interrupted copy left behind holds nothing of value.
    part.set_len(0).map_err(|error| uncopied(&unfinished, error))?;
    copy_pages(connection, &unfinished)?;
    failpoint::reach("migration.copy-beside");
    std::fs::rename(&unfinished, &copy).map_err(|error| uncopied(&copy, error))
}

fn uncopied(copy: &Path, error: std::io::Error) -> Error {
    Error::journal(format!("the journal could not be copied to {} before changing it", copy.display()))
        .hint("make the folder of the journal writable and free some space, then run the same command again")
        .because(error)
}

/// Where the copy of a journal of version `present` lies.
pub(in crate::journal) fn copy_path(path: &Path, present: usize) -> PathBuf {
    db_file::beside(path, &format!(".v{present}.bak"))
}

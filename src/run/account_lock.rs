//! One run at a time for an account on this machine: the service counts requests per user, so two runs beside
//! each other would break the limit without either knowing.
//!
//! The lock is an advisory lock on a file named after the account, in the user's state folder; it ends with
//! the process, however that ends.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::journal::state_folder;
use crate::model::digest::hexadecimal;
use crate::model::time::Moment;
use crate::private_file::{self, private_folder};

/// Held as long as a run uses an account.
#[derive(Debug)]
pub struct AccountLock {
    /// Unlocked when closed.
    _file: File,
}

/// Who uses the account now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountHolder {
    /// The process, when it could be read.
    pub pid: Option<u32>,
    /// Since when, when it could be read.
    pub since: Option<Moment>,
    /// The journal it runs, when it could be read.
    pub journal: Option<PathBuf>,
}

/// Takes the lock for the account of (`base_url`, `client_id`), or says who holds it.
///
/// # Errors
///
/// `Journal` when the lock file cannot be made.
pub fn lock_account(
    base_url: &str,
    client_id: &str,
    journal: &Path,
    now: Moment,
) -> Result<std::result::Result<AccountLock, AccountHolder>> {
    lock_in(&account_locks()?, base_url, client_id, journal, now)
}

/// The folder of the locks, made where it is missing: whether a run can take its lock shows before it imports anything.
///
/// # Errors
///
/// `Journal` when it cannot be made.
pub fn account_locks() -> Result<PathBuf> {
    let folder = state_folder().join("locks");
    private_folder(&folder).map_err(|error| unusable(&folder, error))?;
    Ok(folder)
}

fn lock_in(
    folder: &Path,
    base_url: &str,
    client_id: &str,
    journal: &Path,
    now: Moment,
) -> Result<std::result::Result<AccountLock, AccountHolder>> {
    let path = folder.join(format!("{}.lock", fingerprint(base_url, client_id)));
    let mut file = private_file::open(&path).map_err(|error| unusable(&path, error))?;
    match file.try_lock() {
        Ok(()) => {
            let journal = std::path::absolute(journal).unwrap_or_else(|_| journal.to_path_buf());
            let lines = format!("{}\n{now}\n{}\n", std::process::id(), journal.display());
            let written =
                file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(lines.as_bytes()));
            written.map_err(|error| unusable(&path, error))?;
            Ok(Ok(AccountLock { _file: file }))
        }
        Err(TryLockError::WouldBlock) => {
            let mut lines = String::new();
            // Whoever holds it may be writing this moment; what cannot be read is not said.
            let _unread = file.read_to_string(&mut lines);
            Ok(Err(holder(&lines)))
        }
        Err(TryLockError::Error(error)) => Err(unusable(&path, error)),
    }
}

fn holder(lines: &str) -> AccountHolder {
    let mut lines = lines.lines();
    AccountHolder {
        pid: lines.next().and_then(|line| line.parse().ok()),
        since: lines.next().and_then(Moment::parse),
        journal: lines.next().map(PathBuf::from),
    }
}

/// Names the account without naming it: the file may be seen by others.
fn fingerprint(base_url: &str, client_id: &str) -> String {
    let digest = Sha256::new().chain_update(base_url).chain_update([0]).chain_update(client_id).finalize();
    hexadecimal(&digest[..12])
}

fn unusable(path: &Path, error: std::io::Error) -> Error {
    Error::journal(format!("cannot use the lock {}", path.display()))
        .because(error)
        .hint("set XDG_STATE_HOME to a folder of your own that can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_to_ask_learns_who_holds_the_account_and_another_account_is_free() {
        let now = Moment::parse("2026-03-01T10:00:00Z").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let lock = |client_id: &str| {
            lock_in(folder.path(), "https://service.example", client_id, Path::new("/data/fleetload.db"), now)
        };
        let journal = Path::new("/data/fleetload.db");
        let held = lock("acme").unwrap().expect("free");
        let holder = lock("acme").unwrap().expect_err("held");
        assert_eq!(
            holder,
            AccountHolder {
                pid: Some(std::process::id()),
                since: Some(now),
                journal: Some(journal.to_path_buf())
            }
        );
        assert!(lock("other").unwrap().is_ok());
        drop(held);
        assert!(lock("acme").unwrap().is_ok());
    }
}

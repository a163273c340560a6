//! The lock of a run: one process sends for a journal, others put their rows in and leave them to it.
//!
//! The lock is the operating system's and ends with the process; the file only tells who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journal::file::db_file;
use crate::model::time::Moment;

/// The longest that what a lock file holds can be: a process id.
const LONGEST: u64 = 32;

/// The lock, held until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

/// Who holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder {
    /// The process, when it wrote its number down.
    pub pid: Option<u32>,
    /// Since when, as far as the file tells.
    pub since: Option<Moment>,
}

impl Journal {
    /// Takes the lock for sending, without waiting; or tells who has it.
    pub fn lock_for_run(&self) -> Result<std::result::Result<RunLock, Holder>> {
        lock_file(&db_file::beside(&self.view.path, ".lock"))
    }
}

/// How often it is tried to take a lock that somebody has.
const TRIES: u32 = 20;
/// What passes between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Takes the lock of a file, made where it is missing, without waiting; or tells who has it.
///
/// # Errors
/// Journal when the file cannot be made or locked.
pub fn lock_file(path: &Path) -> Result<std::result::Result<RunLock, Holder>> {
    lock_patiently(path, || std::thread::sleep(PAUSE))
}

/// The same; `pause` is what it does before it tries once more. Whoever only looks whether a run is at work has the lock
/// for a moment (`View::run_at_work`) and is not taken for a run.
fn lock_patiently(path: &Path, mut pause: impl FnMut()) -> Result<std::result::Result<RunLock, Holder>> {
    if !path.exists() {
        db_file::create_private(path)?;
    }
    let mut file =
        OpenOptions::new().read(true).write(true).open(path).map_err(|error| unlockable(path, error))?;
    let mut tries = 0;
    let locked = loop {
        tries += 1;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if tries < TRIES => pause(),
            tried => break tried,
        }
    };
    match locked {
        Ok(()) => {
            let written = file
                .set_len(0)
                .and_then(|()| file.seek(SeekFrom::Start(0)))
                .and_then(|_start| write!(file, "{}", std::process::id()));
            written.map_err(|error| unlockable(path, error))?;
            Ok(Ok(RunLock { _file: file }))
        }
        Err(TryLockError::WouldBlock) => Ok(Err(Holder::of(file))),
        Err(TryLockError::Error(error)) => Err(unlockable(path, error)),
    }
}

impl Holder {
    /// What the lock file tells; where locked files cannot be read, nothing.
    pub(in crate::journal) fn of(file: File) -> Self {
        let since = file
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|time: SystemTime| time.duration_since(UNIX_EPOCH).ok())
            .and_then(|since| i64::try_from(since.as_millis()).ok())
            .map(Moment::from_millis);
        let mut text = String::new();
        let pid =
            file.take(LONGEST).read_to_string(&mut text).ok().and_then(|_read| text.trim().parse().ok());
        Self { pid, since }
    }
}

fn unlockable(path: &Path, error: std::io::Error) -> Error {
    Error::journal(format!("cannot lock {}", path.display()))
        .hint("keep it on a local disk, in a folder that you may write to")
        .because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::tempdir;

    #[test]
    fn the_second_to_lock_is_told_who_holds_it_until_the_first_lets_go() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let (first, second) = (Journal::open(&path).unwrap(), Journal::open(&path).unwrap());
        let lock = first.lock_for_run().unwrap().unwrap();
        let holder = second.lock_for_run().unwrap().unwrap_err();
        assert_eq!(holder.pid, Some(std::process::id()));
        assert!(holder.since.is_some());
        drop(lock);
        assert!(second.lock_for_run().unwrap().is_ok());
    }

    #[test]
    fn whoever_looks_whether_a_run_is_at_work_is_not_taken_for_one() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db.lock");
        drop(lock_file(&path).unwrap().unwrap());
        let look = std::fs::File::open(&path).unwrap();
        look.try_lock_shared().unwrap();
        let mut pauses = 0;
        let locked = lock_patiently(&path, || {
            pauses += 1;
            look.unlock().unwrap();
        });
        assert!(locked.unwrap().is_ok());
        assert_eq!(pauses, 1);
    }
}

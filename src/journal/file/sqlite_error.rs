//! What a failure of SQLite means to a reader: the one place where its errors become ours, with words per code.
//!
//! A broken constraint is a broken invariant of fleetload (internal); everything about the file, the disk or
//! what the file holds is an error of the journal (exit code 6).

use rusqlite::{ErrorCode, ffi};

use crate::ending::End;
use crate::error::Error;

impl From<rusqlite::Error> for Error {
    fn from(failure: rusqlite::Error) -> Self {
        let (end, what, hint) = match &failure {
            rusqlite::Error::SqliteFailure(error, _) => match words(meant(*error)) {
                Some(words) => words,
                None => return Self::internal("the journal refused a change").because(failure),
            },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => (
                End::JournalDamaged,
                "the journal holds a value that fleetload never writes",
                "it was changed by another program or is damaged: go back to a copy of it, or start a new one with --journal FILE",
            ),
            _ => return Self::internal("the journal could not be queried").because(failure),
        };
        Self::journal(what).ending(end).hint(hint).because(failure)
    }
}

/// The failure of SQLite that an error of ours comes from.
pub(in crate::journal) fn failure(error: &Error) -> Option<&ffi::Error> {
    std::error::Error::source(error)?.downcast_ref::<rusqlite::Error>()?.sqlite_error()
}

/// The primary code of a failure, or the one that it comes from: the file beside the journal that readers share is made
/// larger without being written, and a full disk shows in that as a failing one.
fn meant(error: ffi::Error) -> ErrorCode {
    if error.extended_code == ffi::SQLITE_IOERR_SHMSIZE { ErrorCode::DiskFull } else { error.code }
}

/// What a primary code of SQLite means, and what to do; `None` for those that only a mistake of ours can cause.
fn words(code: ErrorCode) -> Option<(End, &'static str, &'static str)> {
    match code {
        ErrorCode::DiskFull => Some((
            End::JournalFull,
            "the disk is full, so the journal cannot be written",
            "free some space on the disk that holds the journal, then run the same command again; nothing that was written is lost",
        )),
        ErrorCode::SystemIoFailure => Some((
            End::Journal,
            "the disk failed while the journal was read or written",
            "check the disk and the connection to it, then run the same command again",
        )),
        ErrorCode::ReadOnly => Some((
            End::Journal,
            "the journal may be read but not written",
            "make the journal and its folder writable for you, or name another file with --journal FILE",
        )),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => Some((
            End::JournalLocked,
            "another program has kept the journal locked for too long",
            "wait until the other fleetload is done (or close the program that has the file open), then run the same command again",
        )),
        ErrorCode::DatabaseCorrupt => Some((
            End::JournalDamaged,
            "the journal is damaged",
            "keep the file as it is: `fleetload report` writes what can still be read of it; then go back to a \
            backup. Do not import its sheets into a new journal before you know which records were created",
        )),
        ErrorCode::NotADatabase => Some((
            End::JournalDamaged,
            "the file is not a fleetload journal",
            "name the journal with --journal FILE; the default is fleetload.db in the current folder",
        )),
        ErrorCode::CannotOpen => Some((
            End::Journal,
            "the journal cannot be opened",
            "check that its folder exists and that you may write to it, or name another file with --journal FILE",
        )),
        ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied => Some((
            End::Journal,
            "you are not allowed to use the journal",
            "ask the owner of the file for the right to write it, or name another file with --journal FILE",
        )),
        ErrorCode::NoLargeFileSupport | ErrorCode::TooBig => Some((
            End::JournalFull,
            "the journal would grow beyond what its disk or its format can hold",
            "import fewer rows at once",
        )),
        _ => None,
    }
}

/// Text of the journal that is not what fleetload writes there.
pub(in crate::journal) fn damaged(
    what: &str,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    Error::journal(format!("the journal holds {what} that cannot be read"))
        .ending(End::JournalDamaged)
        .hint("it was changed by another program or is damaged: go back to a copy of it")
        .because(cause)
}

/// A value of ours that cannot be written as JSON.
pub(in crate::journal) fn unwritable(cause: serde_json::Error) -> Error {
    Error::internal("a value could not be written into the journal").because(cause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn every_failure_of_the_disk_or_the_file_is_one_of_the_journal_and_says_what_to_do() {
        for code in [
            ffi::SQLITE_FULL,
            ffi::SQLITE_IOERR,
            ffi::SQLITE_IOERR_FSYNC,
            ffi::SQLITE_READONLY,
            ffi::SQLITE_BUSY,
            ffi::SQLITE_CORRUPT,
            ffi::SQLITE_NOTADB,
            ffi::SQLITE_CANTOPEN,
            ffi::SQLITE_PERM,
        ] {
            let error = Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            assert_eq!(error.kind(), ErrorKind::Journal, "{code}: {error}");
            assert!(error.next_step().is_some(), "{code}");
        }
    }

    #[test]
    fn a_disk_that_is_full_is_told_so_whatever_file_found_no_room() {
        let advice = |code| {
            let error = Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
            error.next_step().map(ToString::to_string)
        };
        assert_eq!(advice(ffi::SQLITE_IOERR_SHMSIZE), advice(ffi::SQLITE_FULL));
        assert_ne!(advice(ffi::SQLITE_IOERR_WRITE), advice(ffi::SQLITE_FULL));
    }

    #[test]
    fn a_broken_constraint_is_a_mistake_of_ours() {
        let error =
            Error::from(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CONSTRAINT_CHECK), None));
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}

//! Opening a journal: the right kind of database, and the durability that everything rests on.
//!
//! What SQLite was asked for is asserted afterwards: a journal that is not in WAL mode with full synchronisation
//! is refused, since a claim must be on disk before its request leaves. Versions are a matter of `migrate`, the
//! file itself is one of `db_file`.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use crate::advice::Advice;
use crate::ending::End;
use crate::error::{Error, ErrorKind, Result};
use crate::failpoint;
use crate::journal::file::db_file::{
    OpenFile, create_private, no_journal, refuse_lone_log, refuse_other_files,
};
use crate::journal::file::file_watch::{self, FileWatch};
use crate::journal::file::migrate;
use crate::journal::file::sqlite_error;
use crate::journal::{Journal, View};
use crate::mistake::{self, Mistake};

/// How long to wait for another writer. An import of a million rows holds the lock for some seconds.
pub(in crate::journal) const PATIENCE: Duration = Duration::from_secs(60);

/// Between two tries where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(5);

/// Page cache in KiB: the end of each table and the upper pages of its indexes. More of it costs a run time: SQLite looks
/// through the whole cache at most commits. An import takes more (`bulk_load`).
pub(in crate::journal) const CACHE_KIB: i64 = 16_384;

/// Pages in the write-ahead log before it is copied back: 4 MiB, every two seconds of a run at the service's limit. Fewer
/// would cost pace; more would take room on a small disk that the journal itself does not need.
const CHECKPOINT_PAGES: i64 = 1_024;

/// Tries to open a journal that others are making at the same time.
const MOST_TRIES: u32 = 100;

/// Bytes of a page, SQLite's default.
const PAGE_BYTES: i64 = 4_096;

/// Prepared statements kept; more than there are different ones.
const STATEMENTS: usize = 128;

impl Journal {
    /// Opens the journal, or creates it, readable by its owner only.
    ///
    /// An older version is brought up to date, with a copy beside it. Refused: a file that is no journal, a newer
    /// version, a disk on which SQLite cannot keep its promises.
    pub fn open(path: &Path) -> Result<Self> {
        if !path.exists() {
            if let Some(copy) = file_watch::saved_copy_of(path) {
                return Err(missing(path).hint(file_watch::go_on_with(&copy)));
            }
            refuse_lone_log(path)?;
            create_private(path)?;
        }
        Self::open_file(path)
    }

    /// Opens a journal that must be there already.
    pub fn open_existing(path: &Path) -> Result<Self> {
        if !path.exists() {
            if let Some(copy) = file_watch::saved_copy_of(path) {
                return Err(missing(path).hint(file_watch::go_on_with(&copy)));
            }
            refuse_lone_log(path)?;
            let begin = Advice::from("name the journal with --journal FILE, or begin one with: ")
                .command("fleetload import FILE");
            return Err(missing(path).hint(begin));
        }
        Self::open_file(path)
    }

    fn open_file(path: &Path) -> Result<Self> {
        Self::open_checked(path).map_err(|error| match file_watch::saved_copy_of(path) {
            Some(copy) if error.kind() == ErrorKind::Journal => error.hint(file_watch::go_on_with(&copy)),
            _ => error,
        })
    }

    fn open_checked(path: &Path) -> Result<Self> {
        refuse_lone_log(path)?;
        refuse_other_files(path)?;
        let open_file = OpenFile::hold(path);
        let had_log = file_watch::log_of(path).metadata().is_ok_and(|log| log.len() > 0);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let steps = [migrate::STEPS, failpoint::further_migration()].concat();
        let mut tries = 0;
        let connection = loop {
            let mut connection =
                Connection::open_with_flags(path, flags).map_err(|error| at(path, error.into()))?;
            tries += 1;
            match prepare(&mut connection, path, &steps) {
                Ok(()) => break connection,
                // Several processes make the same new journal: each removes the log of an empty one, and the last to
                // close removes log and index. SQLite does not forgive that a file went away under it.
                Err(error) if tries < MOST_TRIES && went_away(&error) => std::thread::sleep(PAUSE),
                Err(error) => return Err(at(path, error)),
            }
        };
        let (file_watch, spill_beside, paused_sheets) =
            (FileWatch::of(path), path.to_owned(), BTreeSet::new());
        Ok(Self {
            view: View::of(connection, path, open_file),
            had_log,
            file_watch,
            entry: None,
            reserve: None,
            spill_beside,
            paused_sheets,
            with_mac: None,
            of_paused: None,
            page_check: None,
        })
    }
}

fn missing(path: &Path) -> Error {
    Error::journal(format!("there is no journal at {}", path.display())).ending(End::JournalMissing)
}

/// Names the file in an error that does not.
fn at(path: &Path, error: Error) -> Error {
    let shown = path.display().to_string();
    if error.what().contains(&shown) {
        return error;
    }
    let hint = error.advice().cloned();
    let named = Error::new(error.kind(), format!("cannot use {shown}")).ending(error.end()).because(error);
    match hint {
        Some(hint) => named.hint(hint),
        None => named,
    }
}

/// Whether SQLite failed because a file beside the journal went away.
fn went_away(error: &Error) -> bool {
    sqlite_error::failure(error).is_some_and(|failure| {
        [ffi::SQLITE_IOERR_DELETE_NOENT, ffi::SQLITE_IOERR_FSTAT].contains(&failure.extended_code)
    })
}

fn prepare(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Before any change: somebody else's database stays as it is.
    refuse_other_databases(connection, path)?;
    if connection.is_readonly("main")? {
        return Err(Error::journal(format!("the journal {} may be read but not written", path.display()))
            .hint(
                "make the file and its folder writable for you, or name another file with --journal FILE",
            ));
    }
    keep_plans(connection)?;
    set(connection, "trusted_schema", 0)?;
    set(connection, "foreign_keys", 1)?;
    set(connection, "cell_size_check", 1)?;
    demand_log(connection, path)?;
    set(connection, "synchronous", synchronous())?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    set(connection, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // What an import made of the write-ahead log is given back to the disk afterwards.
    set(connection, "journal_size_limit", CHECKPOINT_PAGES * PAGE_BYTES)?;
    migrate::migrate(connection, path, steps)
}

/// A plan does not depend on the values that are bound. Without that SQLite looks whether a value may make a partial index
/// useful, and prepares the statement again each time it is bound.
fn keep_plans(connection: &Connection) -> Result<()> {
    if connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)? {
        Ok(())
    } else {
        Err(Error::internal("SQLite did not keep the plans of statements"))
    }
}

/// FULL: every commit is on disk before it is believed.
fn synchronous() -> i64 {
    if mistake::made(Mistake::SynchronousOff) {
        0
    } else if mistake::made(Mistake::SynchronousNormal) {
        1
    } else {
        2
    }
}

/// Switches to the write-ahead log, and refuses a journal that cannot have one.
pub(in crate::journal) fn demand_log(connection: &Connection, path: &Path) -> Result<()> {
    let mode = write_ahead(connection)?;
    if mode.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    Err(Error::journal(format!(
        "the journal {} cannot be kept safely in its folder: the write-ahead log cannot be used there (mode '{mode}')",
        path.display()
    ))
    .hint("keep the journal on a local disk: name a file there with --journal FILE"))
}

/// Switches to the write-ahead log and gives the mode that holds. SQLite does not wait here by itself when another
/// process is switching the same new file, so we do.
fn write_ahead(connection: &Connection) -> rusqlite::Result<String> {
    let mut waited = Duration::ZERO;
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && waited < PATIENCE => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            decided => return decided,
        }
    }
}

/// Sets a pragma and asserts that it holds: SQLite ignores silently what it cannot do.
pub(in crate::journal) fn set(connection: &Connection, pragma: &str, value: i64) -> Result<()> {
    connection.pragma_update(None, pragma, value)?;
    let kept: i64 = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
    if kept == value {
        Ok(())
    } else {
        Err(Error::internal(format!("SQLite did not keep {pragma} = {value}: it says {kept}")))
    }
}

fn refuse_other_databases(connection: &Connection, path: &Path) -> Result<()> {
    // One read transaction: another process may be making the journal at this very moment.
    let reading = connection.unchecked_transaction()?;
    let objects: i64 = reading.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application: i32 = reading.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let fresh = application == 0 && objects == 0 && migrate::version(&reading)? == 0;
    reading.finish()?;
    if fresh || application == migrate::APPLICATION_ID { Ok(()) } else { Err(no_journal(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::journal::Account;
    use crate::journal::file::db_file;
    use tempfile::tempdir;

    #[test]
    fn a_new_journal_is_private_synchronised_and_of_the_present_version() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let mut journal = Journal::open(&path).unwrap();
        journal.bind(&Account { base_url: "https://a".into(), client_id: "me".into() }).unwrap();
        let pragma = |name: &str| -> String {
            journal
                .connection
                .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
                .map(|value| format!("{value:?}"))
                .unwrap()
        };
        assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
        assert_eq!(pragma("synchronous"), "Integer(2)");
        assert_eq!(pragma("trusted_schema"), "Integer(0)");
        assert_eq!(pragma("foreign_keys"), "Integer(1)");
        assert_eq!(pragma("user_version"), format!("Integer({})", migrate::STEPS.len()));
        #[cfg(unix)]
        for file in [path.clone(), db_file::beside(&path, "-wal"), db_file::beside(&path, "-shm")] {
            let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600, "{}", file.display());
        }
    }

    #[test]
    fn the_log_is_copied_back_before_it_is_larger_than_a_small_disk_bears() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let journal = Journal::open(&path).unwrap();
        let log = || db_file::beside(&path, "-wal").metadata().unwrap().len();
        let connection = &journal.connection;
        connection.execute_batch("CREATE TABLE filling (id INTEGER PRIMARY KEY, text BLOB)").unwrap();
        let fill = |pages: i64| {
            let text = vec![0_u8; 4_000];
            let transaction = connection.unchecked_transaction().unwrap();
            for id in 0..pages {
                transaction.execute("REPLACE INTO filling VALUES (?1, ?2)", (id, &text)).unwrap();
            }
            transaction.commit().unwrap();
        };
        let mut largest = 0;
        for _ in 0..100 {
            fill(64);
            largest = largest.max(log());
        }
        assert!(largest > 4 << 20, "it was filled and copied back: {largest}");
        assert!(largest < 6 << 20, "{largest}");
        // One large transaction, as an import is, makes it as large as that, until something is written again.
        fill(4_096);
        assert!(log() > 16 << 20, "{}", log());
        fill(1);
        assert!(log() < 6 << 20, "{}", log());
    }

    #[test]
    fn a_journal_that_must_be_there_and_is_not_is_named_with_the_next_step() {
        let folder = tempdir().unwrap();
        let error = Journal::open_existing(&folder.path().join("fleetload.db")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.to_string().contains("there is no journal at"), "{error}");
        assert!(error.next_step().unwrap().contains("fleetload import"), "{error}");
        assert!(!folder.path().join("fleetload.db").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempdir().unwrap();
        let error = Journal::open(&folder.path().join("nowhere").join("fleetload.db")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.next_step().unwrap().contains("nowhere"), "{:?}", error.next_step());
    }

    #[test]
    fn a_journal_of_a_newer_version_is_refused_and_left_as_it_is() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let journal = Journal::open(&path).unwrap();
        journal.connection.pragma_update(None, "user_version", 99).unwrap();
        drop(journal);
        let before = std::fs::read(&path).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.to_string().contains("newer fleetload"), "{error}");
        assert!(error.to_string().contains("version 99"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn an_older_journal_is_copied_and_then_brought_up_to_date() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let mut journal = Journal::open(&path).unwrap();
        journal.bind(&Account { base_url: "https://a".into(), client_id: "me".into() }).unwrap();
        drop(journal);
        let mut connection = Connection::open(&path).unwrap();
        let steps = [migrate::STEPS, &["CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT"]].concat();
        prepare(&mut connection, &path, &steps).unwrap();
        assert_eq!(migrate::version(&connection).unwrap(), steps.len());
        connection.execute("INSERT INTO later VALUES (1)", []).unwrap();

        let copy = Connection::open(migrate::copy_path(&path, migrate::STEPS.len())).unwrap();
        assert_eq!(migrate::version(&copy).unwrap(), migrate::STEPS.len());
        let client: String = copy.query_row("SELECT client_id FROM account", [], |row| row.get(0)).unwrap();
        assert_eq!(client, "me");
    }

    #[test]
    fn every_journal_has_an_identity_of_its_own() {
        let folder = tempdir().unwrap();
        let ids = ["one.db", "two.db"].map(|name| -> String {
            let journal = Journal::open(&folder.path().join(name)).unwrap();
            let identity = "SELECT id FROM identity WHERE serial = 0 AND NOT under_way";
            journal.connection.query_row(identity, [], |row| row.get(0)).unwrap()
        });
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids[0].len(), 32);
    }

    #[test]
    fn a_journal_that_another_program_keeps_locked_is_told_as_such() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let mut journal = Journal::open(&path).unwrap();
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // Waiting is SQLite's; here it is told not to.
        journal.connection.busy_timeout(Duration::ZERO).unwrap();
        let error = journal.queue().begin_run(crate::model::time::Moment::from_millis(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Journal);
        assert!(error.to_string().contains("kept the journal locked"), "{error}");
        assert!(error.next_step().unwrap().contains("close the program"), "{error:?}");
        other.execute_batch("ROLLBACK").unwrap();
        journal.queue().begin_run(crate::model::time::Moment::from_millis(1)).unwrap();
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        drop(Journal::open(&path).unwrap());
        let mut connection = Connection::open(&path).unwrap();
        let steps = [migrate::STEPS, &["CREATE TABLE later (id INTEGER); SELECT nonsense"]].concat();
        assert!(prepare(&mut connection, &path, &steps).is_err());
        assert_eq!(migrate::version(&connection).unwrap(), migrate::STEPS.len());
        let left: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'later'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(left, 0);
        drop(connection);
        Journal::open(&path).unwrap();
    }

    #[test]
    fn a_journal_belongs_to_one_account() {
        let folder = tempdir().unwrap();
        let mut journal = Journal::open(&folder.path().join("fleetload.db")).unwrap();
        assert_eq!(journal.account().unwrap(), None);
        let ours = Account { base_url: "https://a".into(), client_id: "me".into() };
        journal.bind(&ours).unwrap();
        journal.bind(&ours).unwrap();
        for other in [
            Account { base_url: "https://b".into(), ..ours.clone() },
            Account { client_id: "you".into(), ..ours.clone() },
        ] {
            let error = journal.bind(&other).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            for word in ["https://a", "me", &other.base_url, &other.client_id] {
                assert!(error.to_string().contains(word), "{error}");
            }
            assert!(error.next_step().unwrap().contains("--journal"), "{error}");
        }
        assert_eq!(journal.account().unwrap(), Some(ours));
    }
}

//! The file of a journal before SQLite sees it: made for its owner only, and told from files that are none.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind as Io, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::file::file_watch::{FileId, log_of, saved_copy_of};
use crate::private_file::{self, folder_of};

/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The first bytes of the log that SQLite keeps before a file is in WAL mode, and undoes an interrupted change with.
const LOG_MAGIC: &[u8; 8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// Creates an empty file that only its owner may read; SQLite gives its companions the same rights.
pub(in crate::journal) fn create_private(path: &Path) -> Result<()> {
    let mut options = private_file::options();
    options.write(true).create_new(true);
    match options.open(path) {
        Ok(_created) => Ok(()),
        // Another process was faster; what it made is checked like any other file.
        Err(error) if error.kind() == Io::AlreadyExists => Ok(()),
        Err(error) => Err(uncreated(path, error)),
    }
}

fn uncreated(path: &Path, error: std::io::Error) -> Error {
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.display().to_string(),
        _ => ".".to_owned(),
    };
    let hint = match error.kind() {
        Io::NotFound => format!("create the folder {folder} first, or name another file with --journal FILE"),
        Io::PermissionDenied | Io::ReadOnlyFilesystem => {
            format!("make the folder {folder} writable for you, or name a file elsewhere with --journal FILE")
        }
        Io::StorageFull => "free some space on that disk, then run the same command again".to_owned(),
        _ => "name another file with --journal FILE".to_owned(),
    };
    Error::journal(format!("cannot create the journal {}", path.display())).because(error).hint(hint)
}

/// The databases that this process has open, and how often.
static OPEN: Mutex<BTreeMap<FileId, usize>> = Mutex::new(BTreeMap::new());

/// A database that this process has open, or is about to open, through SQLite.
///
/// A process loses all its locks on a file once it closes any handle of it, and SQLite's with them: another program would take
/// itself for the last one and remove the log. So nothing but SQLite opens the file of a journal that is open.
#[derive(Debug)]
pub(in crate::journal) struct OpenFile(Option<FileId>);

impl OpenFile {
    /// To be held from before SQLite opens the file until after it has closed it.
    pub(in crate::journal) fn hold(path: &Path) -> Self {
        let file = fs::metadata(path).ok().map(|metadata| FileId::of(&metadata));
        if let Some(file) = file {
            *open_files().entry(file).or_default() += 1;
        }
        Self(file)
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let Some(file) = self.0 else { return };
        let mut open = open_files();
        if let Some(times) = open.get_mut(&file) {
            *times -= 1;
            if *times == 0 {
                open.remove(&file);
            }
        }
    }
}

fn open_files() -> MutexGuard<'static, BTreeMap<FileId, usize>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Refuses what is certainly no SQLite file before SQLite writes anything beside it.
pub(in crate::journal) fn refuse_other_files(path: &Path) -> Result<()> {
    // Nobody begins to open it meanwhile.
    let open = open_files();
    if fs::metadata(path).is_ok_and(|metadata| open.contains_key(&FileId::of(&metadata))) {
        return Ok(());
    }
    let start = beginning(path, MAGIC.len()).map_err(|error| {
        let hint = match error.kind() {
            Io::PermissionDenied => {
                "run the command as the user that the file belongs to, or give the file to the user that runs fleetload; \
                 a copy that another user made, such as a restored backup, belongs to that one"
            }
            _ => "name a journal you may read and write with --journal FILE",
        };
        Error::journal(format!("cannot read the journal {}", path.display())).because(error).hint(hint)
    })?;
    if start.is_empty() || start == MAGIC || is_half_made(path) { Ok(()) } else { Err(no_journal(path)) }
}

/// Whether a write-ahead log lies beside a database that is empty or not there: SQLite would remove it.
fn has_lone_log(path: &Path) -> bool {
    let has_bytes = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.len() > 0);
    // The log is looked at first: who makes a journal writes the database before the log.
    has_bytes(&log_of(path)) && !has_bytes(path)
}

/// Refuses a write-ahead log without its database, before SQLite removes it.
pub(in crate::journal) fn refuse_lone_log(path: &Path) -> Result<()> {
    if !has_lone_log(path) {
        return Ok(());
    }
    let (shown, log) = (path.display(), log_of(path));
    let state = if path.exists() { "is empty" } else { "is not there" };
    let what = format!(
        "the journal {shown} {state}, and {} beside it holds what was written to it last; neither was touched",
        log.display()
    );
    Err(Error::journal(what).ending(End::JournalDamaged).hint(format!(
        "bring back the file {shown} as it was, and leave the other one beside it: the two are one journal. If it cannot be \
         brought back, move both away and put a backup in their place. A new journal would create the rows again"
    )))
}

/// Whether a journal is there, or was: a copy that a run saved, or its log, is left of it.
pub(crate) fn was_there(path: &Path) -> bool {
    path.exists() || saved_copy_of(path).is_some() || has_lone_log(path)
}

/// How the names of the files and folders go on that SQLite and fleetload keep beside a journal.
const BESIDE: [&str; 11] = [
    "-wal",
    "-shm",
    "-journal",
    ".lock",
    ".spill",
    ".rescued",
    ".plan.json",
    ".zones.json",
    ".sandbox",
    ".stdin",
    ".v",
];

/// Refuses to write over the journal, under any name, and over what belongs to it.
///
/// # Errors
/// Usage, without a hint.
pub(crate) fn refuse_own(journal: &Path, file: &Path) -> Result<()> {
    if belongs_to(journal, file) {
        return Err(Error::usage(format!("{} is the journal itself or belongs to it", file.display())));
    }
    Ok(())
}

/// Whether a file is the journal, under any name, or belongs to it: it lies beside it, or in a folder there, by a name that
/// goes on from the journal's as those of SQLite and ours do.
fn belongs_to(journal: &Path, file: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let place = |path: &Path| Some(real(folder_of(path))?.join(path.file_name()?));
    // Where the system does not tell which file it is, all are the same.
    let id = |path: &Path| path.metadata().ok().filter(|_| cfg!(unix)).map(|file| FileId::of(&file));
    if id(file).is_some() && id(file) == id(journal) {
        return true;
    }
    // SQLite follows a link to the journal; what is ours lies beside the link.
    let (own, file) = ([place(journal), real(journal)], [place(file), real(file)]);
    own.iter().flatten().any(|own| file.iter().flatten().any(|file| goes_on_from(own, file)))
}

/// Whether the name of a file, or of a folder it is in, is that of a journal, or goes on from it as those beside it do.
fn goes_on_from(own: &Path, file: &Path) -> bool {
    let (Some(folder), Some(name)) = (own.parent(), own.file_name()) else { return false };
    let first = file.strip_prefix(folder).ok().and_then(|path| path.components().next());
    let rest =
        first.and_then(|first| first.as_os_str().as_encoded_bytes().strip_prefix(name.as_encoded_bytes()));
    rest.is_some_and(|rest| {
        rest.is_empty() || BESIDE.iter().any(|ending| rest.starts_with(ending.as_bytes()))
    })
}

/// Whether the power went while SQLite wrote the first page: any part of the page may be there, and SQLite undoes it
/// with the log it left beside the file. Only when that is a log: SQLite would remove anything else of that name.
fn is_half_made(path: &Path) -> bool {
    beginning(&beside(path, "-journal"), LOG_MAGIC.len()).is_ok_and(|start| start == LOG_MAGIC)
}

/// The first bytes of a file, fewer when it is shorter.
fn beginning(path: &Path, count: usize) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    File::open(path)?.take(count as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// A file beside another one, named after it.
pub(in crate::journal) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The refusal of a file or database that is none of ours.
pub(in crate::journal) fn no_journal(path: &Path) -> Error {
    Error::journal(format!("{} is not a fleetload journal", path.display()))
        .ending(End::JournalDamaged)
        .hint("name the journal with --journal FILE; the default is fleetload.db in the current folder")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::journal::Journal;
    use rusqlite::Connection;
    use tempfile::tempdir;

    #[test]
    fn files_that_are_no_journal_are_refused_and_left_as_they_are() {
        let folder = tempdir().unwrap();
        let text = folder.path().join("customers.csv");
        std::fs::write(&text, "name,address\nAcme,1 High St\n").unwrap();
        let database = folder.path().join("other.db");
        Connection::open(&database).unwrap().execute_batch("CREATE TABLE theirs (id INTEGER)").unwrap();
        for path in [text, database] {
            let before = std::fs::read(&path).unwrap();
            let error = Journal::open(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Journal, "{error}");
            assert!(error.to_string().contains("is not a fleetload journal"), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
    }

    #[test]
    fn every_file_that_the_documentation_names_beside_a_journal_belongs_to_it() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/journal.md")).unwrap();
        let journal = Path::new("fleetload.db");
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `fleetload.db")?.split(" | ").next());
        let endings: Vec<&str> = rows.flat_map(|names| names.split('`').step_by(2)).collect();
        assert!(endings.len() > 12, "{endings:?}");
        for ending in endings {
            assert!(belongs_to(journal, &beside(journal, ending)), "{ending}");
        }
        for other in ["fleetload.db.bak", "fleetload.dbx", "fleetload.db-2026-03-01", "fleetload.prom"] {
            assert!(!belongs_to(journal, Path::new(other)), "{other}");
        }
    }

    #[test]
    fn a_journal_whose_first_page_was_cut_off_by_a_power_cut_is_made_again() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let beside = beside(&path, "-journal");
        // What SQLite keeps of a file that was empty: its log with no page, in sectors of 512 bytes, pages of 4096.
        let mut log = LOG_MAGIC.to_vec();
        for number in [0_u32, 0, 0, 512, 4096] {
            log.extend(number.to_be_bytes());
        }
        log.resize(512, 0);
        for page in [vec![0; 4096], vec![0x5a; 4096]] {
            std::fs::write(&path, &page).unwrap();
            std::fs::write(&beside, &log).unwrap();
            Journal::open(&path).unwrap();
            assert!(!beside.exists());
            std::fs::remove_file(&path).unwrap();

            // A file of that name that is no log of SQLite is somebody else's, and so is what it lies beside.
            std::fs::write(&path, &page).unwrap();
            std::fs::write(&beside, "a diary").unwrap();
            let error = Journal::open(&path).unwrap_err();
            assert!(error.to_string().contains("is not a fleetload journal"), "{error}");
            assert_eq!(std::fs::read(&beside).unwrap(), b"a diary");
            std::fs::remove_file(&beside).unwrap();
        }
    }

    /// The locks that this process has on a file. They are read from its open files: the list of the whole machine
    /// is read in parts and lacks locks while others come and go.
    #[cfg(target_os = "linux")]
    fn locks_on(path: &Path) -> usize {
        use std::collections::BTreeSet;
        use std::os::unix::fs::MetadataExt as _;
        let file = path.metadata().unwrap().ino().to_string();
        // Files of other tests close meanwhile.
        let open_files = std::fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
        let about: Vec<String> =
            open_files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
        let locks: BTreeSet<&str> =
            about.iter().flat_map(|about| about.lines()).filter(|line| line.starts_with("lock:")).collect();
        let is_on_it =
            |line: &&&str| line.split_whitespace().any(|word| word.rsplit(':').next() == Some(file.as_str()));
        locks.iter().filter(is_on_it).count()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_second_look_at_an_open_journal_takes_no_lock_from_the_first() {
        let folder = tempdir().unwrap();
        let path = folder.path().join("fleetload.db");
        let mut first = Journal::open(&path).unwrap();
        first.begin_import(crate::model::time::Moment::from_millis(1)).unwrap().finish().unwrap();
        let held = locks_on(&path);
        assert!(held > 0, "SQLite keeps a lock on a journal that is open");
        for _ in 0..2 {
            drop(Journal::open_existing(&path).unwrap());
            assert_eq!(locks_on(&path), held);
        }
        first
            .back_up(&folder.path().join("copy.db"), false, crate::model::time::Moment::from_millis(2))
            .unwrap();
        assert_eq!(locks_on(&path), held);
        drop(first);
        assert_eq!(locks_on(&path), 0);
        std::fs::write(&path, "no journal any more").unwrap();
        assert!(Journal::open(&path).is_err(), "looked at again once it is closed");
    }
}

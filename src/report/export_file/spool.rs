//! What an export has read so far, in a file beside its target, `<target>.part`: an interrupted export goes on from it.
//!
//! One JSON object a line: what the export is, then what it asks about, then for each of these, in the same order, its rows.
//! A line that was cut off when the process ended is dropped. The file is for its owner alone and is removed when the target
//! is in its place.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::export::{Owner, Row};
use crate::model::time::Moment;
use crate::private_file;

/// How the name of the file ends.
const ENDING: &str = ".part";

/// The form of the file.
const FORM: u32 = 1;

/// What an export is. Only the same export goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpoolHead {
    /// The form of the file; set when it is written.
    #[serde(rename = "fleetload_export")]
    form: u32,
    /// What is exported.
    pub what: String,
    /// Which records, in words.
    pub scope: String,
    /// Whose they are: account and service.
    pub account: String,
    /// When it was begun.
    pub at: Moment,
    /// How the records were found, a sentence each.
    pub ways: Vec<String>,
    /// What the export cannot know, a sentence each.
    pub limits: Vec<String>,
    /// How many owners follow.
    owners: usize,
}

impl SpoolHead {
    /// What an export is that begins now.
    pub fn new(what: &str, scope: &str, account: String, at: Moment) -> Self {
        let (what, scope) = (what.to_owned(), scope.to_owned());
        Self { form: FORM, what, scope, account, at, ways: Vec::new(), limits: Vec::new(), owners: 0 }
    }

    /// Whether another one is the same export.
    fn is_same(&self, other: &Self) -> bool {
        (&self.what, &self.scope, &self.account) == (&other.what, &other.scope, &other.account)
    }
}

/// The rows of an owner.
#[derive(Debug, Serialize, Deserialize)]
struct OwnerRows {
    rows: Vec<Row>,
}

/// What an interrupted export has left.
#[derive(Debug)]
pub struct Resumed {
    /// The file, to be added to.
    pub spool: Spool,
    /// What the export is.
    pub head: SpoolHead,
    /// How many owners were asked about.
    pub done: u64,
    /// Those that are still to be asked about.
    pub left: Vec<Owner>,
}

/// The file, open at its end.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: File,
}

impl Spool {
    /// Begins the file; one that an earlier export has left is replaced, any other file is not.
    ///
    /// # Errors
    ///
    /// Usage when the file is somebody else's, or another export is writing it, or it cannot be written.
    pub fn begin(target: &Path, head: &SpoolHead, owners: &[Owner]) -> Result<Self> {
        let path = beside(target);
        let file = open(&path).map_err(|error| unwritten(&path, error))?;
        let mut this = Self { path, file };
        this.lock()?;
        if this.file.metadata().map_err(|error| this.failed(error))?.len() > 0 && this.head()?.is_none() {
            return Err(Error::usage(format!("{} is not a file of an export", this.path.display()))
                .hint("move it away, or name another file with --out"));
        }
        this.cut_at(0)?;
        let head = SpoolHead { owners: owners.len(), ..head.clone() };
        let mut text = line(&head).map_err(|error| this.failed(error))?;
        for owner in owners {
            text.extend(line(owner).map_err(|error| this.failed(error))?);
        }
        this.file.write_all(&text).map_err(|error| this.failed(error))?;
        Ok(this)
    }

    /// Opens what the same export has left, and shows each of its rows to `each`.
    ///
    /// # Errors
    ///
    /// Usage when there is nothing to go on from.
    pub fn resume(target: &Path, wanted: &SpoolHead, each: &mut dyn FnMut(&Row)) -> Result<Resumed> {
        let path = beside(target);
        let none = || {
            Error::usage(format!("there is no interrupted export to go on with: {}", path.display()))
                .hint("omit --resume to begin a new export")
        };
        if !path.is_file() {
            return Err(none());
        }
        let file = open(&path).map_err(|error| unwritten(&path, error))?;
        let mut this = Self { path: path.clone(), file };
        this.lock()?;
        let head = this.head()?.ok_or_else(none)?;
        if !head.is_same(wanted) {
            return Err(Error::usage(format!(
                "{} is of another export: {} of {} ({})",
                this.path.display(),
                head.what,
                head.scope,
                head.account
            ))
            .hint("type the same command as before, or omit --resume to begin a new export"));
        }
        let mut lines = this.lines()?;
        let mut whole = lines.next_line()?.map_or(0, |line| line.len() as u64);
        let mut owners = Vec::new();
        while owners.len() < head.owners {
            let Some(line) = lines.next_line()? else { return Err(none()) };
            let Ok(owner) = serde_json::from_slice(&line) else { return Err(none()) };
            owners.push(owner);
            whole += line.len() as u64;
        }
        let mut done = 0;
        while let Some(line) = lines.next_line()? {
            let Ok(OwnerRows { rows }) = serde_json::from_slice(&line) else { break };
            rows.iter().for_each(&mut *each);
            done += 1;
            whole += line.len() as u64;
        }
        this.cut_at(whole)?;
        let left = owners.split_off(done.min(owners.len()));
        Ok(Resumed { spool: this, head, done: owners.len() as u64, left })
    }

    /// Adds the rows of the next owner.
    ///
    /// # Errors
    ///
    /// Usage when they cannot be written.
    pub fn add(&mut self, rows: Vec<Row>) -> Result<()> {
        let text = line(&OwnerRows { rows }).map_err(|error| self.failed(error))?;
        self.file.write_all(&text).map_err(|error| self.failed(error))
    }

    /// Reads all rows from the beginning, one after the other.
    ///
    /// # Errors
    ///
    /// Usage when they cannot be read.
    pub fn rows(&self) -> Result<impl FnMut() -> Result<Option<Row>>> {
        let mut lines = self.lines()?;
        let head = lines.next_line()?.and_then(|line| serde_json::from_slice::<SpoolHead>(&line).ok());
        for _ in 0..head.map_or(0, |head| head.owners) {
            lines.next_line()?;
        }
        let mut rows = Vec::new().into_iter();
        Ok(move || {
            loop {
                if let Some(row) = rows.next() {
                    return Ok(Some(row));
                }
                let Some(line) = lines.next_line()? else { return Ok(None) };
                let read: OwnerRows = serde_json::from_slice(&line)
                    .map_err(|error| Error::internal("an export cannot be read again").because(error))?;
                rows = read.rows.into_iter();
            }
        })
    }

    /// Removes the file.
    pub fn remove(self) {
        // What stays is replaced by the next export.
        let _removed = std::fs::remove_file(&self.path);
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> Result<()> {
        match self.file.try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(Error::usage(format!("another export is writing {}", self.path.display()))
                    .hint("wait for it to end, or name another file with --out"))
            }
            // Where there are no locks, nobody else is told apart.
            Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    /// What the export is, by its first line.
    fn head(&self) -> Result<Option<SpoolHead>> {
        let line = self.lines()?.next_line()?;
        let head = line.and_then(|line| serde_json::from_slice::<SpoolHead>(&line).ok());
        Ok(head.filter(|head| head.form == FORM))
    }

    fn lines(&self) -> Result<Lines> {
        let file = File::open(&self.path).map_err(|error| self.failed(error))?;
        Ok(Lines { reader: BufReader::new(file), path: self.path.clone() })
    }

    fn cut_at(&mut self, length: u64) -> Result<()> {
        let cut = self.file.set_len(length).and_then(|()| self.file.seek(SeekFrom::Start(length)));
        cut.map(drop).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl Into<std::io::Error>) -> Error {
        unwritten(&self.path, error.into())
    }
}

/// The whole lines of the file, each with its line end.
struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
}

impl Lines {
    /// The next line; `None` at the end, and for one that was cut off.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).map_err(|error| unwritten(&self.path, error))?;
        Ok(Some(line).filter(|line| line.ends_with(b"\n")))
    }
}

fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(text)
}

fn beside(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = private_file::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path)
}

fn unwritten(path: &Path, error: std::io::Error) -> Error {
    Error::usage(format!("what the export has read cannot be kept in {}", path.display()))
        .because(error)
        .hint("see that the folder exists and its disk has room, or name another file with --out")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::OwnerKind;
    use crate::model::id::RemoteId;
    use serde_json::json;

    fn owners(count: u128) -> Vec<Owner> {
        (1..=count).map(|number| Owner::new(OwnerKind::Device, RemoteId::from_u128(number))).collect()
    }

    fn row(text: &str) -> Row {
        Row { values: vec![json!(text)], ..Row::default() }
    }

    fn head(what: &str) -> SpoolHead {
        SpoolHead::new(what, "everything", "me".to_owned(), Moment::from_millis(5))
    }

    fn all(spool: &Spool) -> Vec<Row> {
        let mut next = spool.rows().unwrap();
        std::iter::from_fn(|| next().unwrap()).collect()
    }

    #[test]
    fn an_interrupted_export_goes_on_after_the_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("devices.csv");
        let mut spool = Spool::begin(&target, &head("devices"), &owners(4)).unwrap();
        spool.add(vec![row("a"), row("b")]).unwrap();
        spool.add(Vec::new()).unwrap();
        let path = spool.path().to_owned();
        spool.file.write_all(b"{\"rows\":[{\"values\":[\"cu").unwrap();
        drop(spool);

        let mut seen = Vec::new();
        let resumed = Spool::resume(&target, &head("devices"), &mut |row| seen.push(row.clone()));
        let Resumed { mut spool, head: was, done, left } = resumed.unwrap();
        assert_eq!((was.at, done, left), (Moment::from_millis(5), 2, owners(4).split_off(2)));
        assert_eq!(seen, [row("a"), row("b")]);
        spool.add(vec![row("c")]).unwrap();
        spool.add(vec![row("d")]).unwrap();
        assert_eq!(all(&spool), [row("a"), row("b"), row("c"), row("d")]);
        spool.remove();
        assert!(!path.exists());
    }

    #[test]
    fn another_export_and_a_file_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("devices.csv");
        let resume = |what: &str| Spool::resume(&target, &head(what), &mut |_| {}).map(drop);
        assert!(resume("devices").unwrap_err().what().contains("no interrupted export"));
        let spool = Spool::begin(&target, &head("devices"), &owners(1)).unwrap();
        let busy = Spool::begin(&target, &head("devices"), &owners(1)).map(drop);
        assert!(busy.unwrap_err().what().contains("another export is writing"));
        drop(spool);
        assert!(resume("sites").unwrap_err().what().contains("another export: devices"));
        resume("devices").unwrap();
        std::fs::write(beside(&target), "a letter").unwrap();
        assert!(
            Spool::begin(&target, &head("devices"), &[])
                .unwrap_err()
                .what()
                .contains("is not a file of an export")
        );
        assert_eq!(std::fs::read_to_string(beside(&target)).unwrap(), "a letter");
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::begin(&folder.path().join("x.csv"), &head("devices"), &[]).unwrap();
        assert_eq!(std::fs::metadata(spool.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

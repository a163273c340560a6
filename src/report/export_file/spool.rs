//! What an export has read so far, in a file beside its target, `<target>.part`: an interrupted export goes on from it.
//!
//! One JSON object a line: what the export is, then what it asks about, then how that was found, then for each owner, in the
//! same order, its rows and a line that ends them. What was cut off when the process ended is dropped. The file is for its
//! owner alone and is removed when the target is in its place. An export to standard output has a file without a name, and
//! keeps no rows.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::export::{Owner, Row, Survey};
use crate::model::time::Moment;
use crate::private_file;

/// How the name of the file ends.
const ENDING: &str = ".part";

/// The form of the file.
const FORM: u32 = 2;

/// What an export is. Only the same export goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpoolHead {
    /// The form of the file.
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
}

impl SpoolHead {
    /// What an export is that begins now.
    pub fn new(what: &str, scope: &str, account: String, at: Moment) -> Self {
        Self { form: FORM, what: what.to_owned(), scope: scope.to_owned(), account, at }
    }

    /// Whether another one is the same export.
    fn is_same(&self, other: &Self) -> bool {
        (&self.what, &self.scope, &self.account) == (&other.what, &other.scope, &other.account)
    }
}

/// The first line of a file of any form.
#[derive(Deserialize)]
struct AnyForm {
    #[serde(rename = "fleetload_export")]
    _form: u32,
}

/// A line after the first.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line<O, R> {
    /// What is asked about.
    Owner(O),
    /// How that was found: no owner follows.
    Found(Survey),
    /// A row of the next owner.
    Row(R),
    /// The owner has no more rows.
    End,
}

type WrittenLine<'a> = Line<&'a Owner, &'a Row>;
type ReadLine = Line<Owner, Row>;

/// What an interrupted export has left.
#[derive(Debug)]
pub struct Resumed {
    /// The file, to be added to.
    pub spool: Spool,
    /// What the export is.
    pub head: SpoolHead,
    /// How its owners were found.
    pub found: Survey,
    /// How many owners were asked about.
    pub done: u64,
    /// Those that are still to be asked about.
    pub left: Owners,
}

/// The file, open at its end.
#[derive(Debug)]
pub struct Spool {
    path: PathBuf,
    file: BufWriter<File>,
    /// The same file to read from, where it has no name.
    nameless: Option<File>,
    head: SpoolHead,
    owners: u64,
    stage: Stage,
}

/// How far a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It is as it was found.
    Untouched,
    /// Owners are added: nothing can go on from it yet.
    Owners,
    /// Rows are added.
    Rows,
}

impl Spool {
    /// Prepares the file; one that an earlier export has left is replaced with the first owner, any other file is not.
    ///
    /// # Errors
    ///
    /// Usage when the file is somebody else's, or another export is writing it, or it cannot be written.
    pub fn begin(target: &Path, head: &SpoolHead) -> Result<Self> {
        let this = Self::open(beside(target), head)?;
        let first = this.lines()?.next_line()?;
        let is_ours = |line: Vec<u8>| serde_json::from_slice::<AnyForm>(&line).is_ok();
        let is_empty = this.file.get_ref().metadata().map_err(|error| this.failed(error))?.len() == 0;
        if !is_empty && !first.is_some_and(is_ours) {
            return Err(Error::usage(format!("{} is not a file of an export", this.path.display()))
                .hint("move it away, or name another file with --out"));
        }
        Ok(this)
    }

    fn open(path: PathBuf, head: &SpoolHead) -> Result<Self> {
        let file = private_file::open(&path).map_err(|error| unwritten(&path, error))?;
        let (file, head) = (BufWriter::new(file), head.clone());
        let this = Self { path, file, nameless: None, head, owners: 0, stage: Stage::Untouched };
        this.lock()?;
        Ok(this)
    }

    /// Prepares a file without a name, for owners alone.
    ///
    /// # Errors
    ///
    /// Usage when it cannot be made.
    pub fn nameless(head: &SpoolHead) -> Result<Self> {
        let folder = std::env::temp_dir();
        let made = NamedTempFile::new_in(&folder).and_then(|file| Ok((file.reopen()?, file.into_file())));
        let (nameless, file) = made.map_err(|error| unwritten(&folder, error))?;
        let (file, head) = (BufWriter::new(file), head.clone());
        let nameless = Some(nameless);
        Ok(Self { path: folder, file, nameless, head, owners: 0, stage: Stage::Untouched })
    }

    /// Adds an owner that is to be asked about.
    ///
    /// # Errors
    ///
    /// Usage when it cannot be written.
    pub fn keep(&mut self, owner: &Owner) -> Result<()> {
        self.begin_owners()?;
        self.owners += 1;
        self.write(&WrittenLine::Owner(owner))
    }

    /// Replaces what was there, once.
    fn begin_owners(&mut self) -> Result<()> {
        if self.stage == Stage::Untouched {
            self.stage = Stage::Owners;
            self.cut_at(0)?;
            let head = self.head.clone();
            self.write(&head)?;
        }
        Ok(())
    }

    /// Ends the owners, and gives them from the first.
    ///
    /// # Errors
    ///
    /// Usage when they cannot be written.
    pub fn found(&mut self, survey: &Survey) -> Result<Owners> {
        self.begin_owners()?;
        self.write(&WrittenLine::Found(survey.clone()))?;
        self.file.flush().map_err(|error| self.failed(error))?;
        self.stage = Stage::Rows;
        self.owners_after(0)
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
        let mut this = Self::open(path.clone(), wanted)?;
        let mut lines = this.lines()?;
        let first = lines.next_line()?.ok_or_else(none)?;
        let head = serde_json::from_slice::<SpoolHead>(&first).ok().filter(|head| head.form == FORM);
        let head = head.ok_or_else(none)?;
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
        let (mut at, mut whole, mut done, mut found) = (first.len() as u64, 0, 0, None);
        while let Some((line, length)) = lines.parsed()? {
            at += length;
            match line {
                Line::Owner(_) if found.is_none() => this.owners += 1,
                Line::Found(survey) if found.is_none() => (found, whole) = (Some(survey), at),
                Line::Row(_) if found.is_some() => {}
                Line::End if found.is_some() && done < this.owners => (done, whole) = (done + 1, at),
                Line::Owner(_) | Line::Found(_) | Line::Row(_) | Line::End => break,
            }
        }
        let found = found.ok_or_else(none)?;
        this.cut_at(whole)?;
        this.head = head.clone();
        this.stage = Stage::Rows;
        this.rows().and_then(|mut next| {
            while let Some(row) = next()? {
                each(&row);
            }
            Ok(())
        })?;
        let left = this.owners_after(done)?;
        Ok(Resumed { spool: this, head, found, done, left })
    }

    /// Adds a row of the next owner.
    ///
    /// # Errors
    ///
    /// Usage when it cannot be written.
    pub fn add(&mut self, row: &Row) -> Result<()> {
        self.write(&WrittenLine::Row(row))
    }

    /// Ends the rows of an owner: it is not asked about again.
    ///
    /// # Errors
    ///
    /// Usage when that cannot be written.
    pub fn end_owner(&mut self) -> Result<()> {
        self.write(&WrittenLine::End)?;
        self.file.flush().map_err(|error| self.failed(error))
    }

    /// Reads all rows from the beginning, one after the other.
    ///
    /// # Errors
    ///
    /// Usage when they cannot be read.
    pub fn rows(&self) -> Result<impl FnMut() -> Result<Option<Row>>> {
        let mut lines = self.lines()?;
        // What the export is, its owners, and how they were found.
        for _ in 0..self.owners + 2 {
            lines.next_line()?;
        }
        Ok(move || {
            loop {
                let Some(line) = lines.next_line()? else { return Ok(None) };
                match read_again(&line)? {
                    Line::Row(row) => return Ok(Some(row)),
                    Line::Owner(_) | Line::Found(_) | Line::End => {}
                }
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

    /// The owners but the first ones, so many.
    fn owners_after(&self, done: u64) -> Result<Owners> {
        let mut lines = self.lines()?;
        for _ in 0..=done {
            lines.next_line()?;
        }
        Ok(Owners { lines, left: self.owners - done })
    }

    fn write(&mut self, value: &impl Serialize) -> Result<()> {
        let written = serde_json::to_writer(&mut self.file, value).map_err(Into::into);
        written.and_then(|()| self.file.write_all(b"\n")).map_err(|error| self.failed(error))
    }

    fn lock(&self) -> Result<()> {
        match self.file.get_ref().try_lock() {
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(Error::usage(format!("another export is writing {}", self.path.display()))
                    .hint("wait for it to end, or name another file with --out"))
            }
            // Where there are no locks, nobody else is told apart.
            Ok(()) | Err(std::fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    fn lines(&self) -> Result<Lines> {
        let file = match &self.nameless {
            Some(file) => file.try_clone().and_then(|mut file| file.rewind().map(|()| file)),
            None => File::open(&self.path),
        };
        let file = file.map_err(|error| self.failed(error))?;
        Ok(Lines { reader: BufReader::new(file), path: self.path.clone() })
    }

    fn cut_at(&mut self, length: u64) -> Result<()> {
        let file = self.file.get_mut();
        let cut = file.set_len(length).and_then(|()| file.seek(SeekFrom::Start(length)));
        cut.map(drop).map_err(|error| self.failed(error))
    }

    fn failed(&self, error: impl Into<std::io::Error>) -> Error {
        unwritten(&self.path, error.into())
    }
}

impl Drop for Spool {
    /// Removes a file that nothing can go on from, and one that is still empty.
    fn drop(&mut self) {
        let is_empty = || self.file.get_ref().metadata().is_ok_and(|file| file.len() == 0);
        let is_of_no_use = match self.stage {
            Stage::Untouched => is_empty(),
            Stage::Owners => true,
            Stage::Rows => false,
        };
        if is_of_no_use && self.nameless.is_none() {
            let _removed = std::fs::remove_file(&self.path);
        }
    }
}

/// Owners, read one by one.
#[derive(Debug)]
pub struct Owners {
    lines: Lines,
    left: u64,
}

impl Owners {
    /// How many there still are.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The next one.
    ///
    /// # Errors
    ///
    /// Usage when it cannot be read.
    pub fn next_owner(&mut self) -> Result<Option<Owner>> {
        if self.left == 0 {
            return Ok(None);
        }
        let line = self.lines.next_line()?.unwrap_or_default();
        match read_again(&line)? {
            Line::Owner(owner) => {
                self.left -= 1;
                Ok(Some(owner))
            }
            Line::Found(_) | Line::Row(_) | Line::End => Err(Error::internal("an export has lost an owner")),
        }
    }
}

/// The whole lines of the file, each with its line end.
#[derive(Debug)]
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

    /// The next line and its length; `None` as well for one that is none of an export.
    fn parsed(&mut self) -> Result<Option<(ReadLine, u64)>> {
        let line = self.next_line()?;
        Ok(line.and_then(|line| Some((serde_json::from_slice(&line).ok()?, line.len() as u64))))
    }
}

/// A line that was written by this process, or checked by it.
fn read_again(line: &[u8]) -> Result<ReadLine> {
    serde_json::from_slice(line)
        .map_err(|error| Error::internal("an export cannot be read again").because(error))
}

fn beside(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(ENDING);
    name.into()
}

fn unwritten(path: &Path, error: std::io::Error) -> Error {
    Error::usage(format!("what the export has read cannot be kept in {}", path.display()))
        .because(error)
        .hint("see that the folder exists and its disk has room, or name another file with --out")
}

#[cfg(test)]
mod tests;

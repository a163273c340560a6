//! Whether the files of an open journal are still where they were: deleted, renamed or replaced ones would take in
//! everything that is written and be gone at the end.
//!
//! Looked at before each commit, for the price of two questions to the system. What the open journal holds is then
//! saved beside the place it had.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::advice::{Advice, quoted};
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journal::file::db_file;
use crate::journal::file::snapshot::copy_pages;

/// Bytes of the write-ahead log beyond which some other program must be keeping it from being copied back: some
/// 100,000 rows, at 43 KiB a row.
const LOG_LIMIT: u64 = 4 << 30;

/// Commits in a row that find the log larger before that is believed: a large import makes it so for a moment.
const PATIENCE: u32 = 256;

/// Names tried for a saved copy.
const COPIES: u32 = 100;

/// The files as they were when the journal was opened; `None` where there was no such file.
#[derive(Debug)]
pub(in crate::journal) struct FileWatch {
    journal: Option<FileId>,
    log: Option<FileId>,
    limit: u64,
    beyond: u32,
}

/// Which file it is, whatever its name. Where the system does not tell, any file is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::journal::file) struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    pub(in crate::journal::file) fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self(metadata.dev(), metadata.ino())
    }

    #[cfg(not(unix))]
    pub(in crate::journal::file) fn of(_metadata: &Metadata) -> Self {
        Self(0, 0)
    }
}

impl FileWatch {
    /// The files of a journal that has just been opened.
    pub(in crate::journal) fn of(path: &Path) -> Self {
        let id = |path: &Path| fs::metadata(path).ok().map(|metadata| FileId::of(&metadata));
        Self { journal: id(path), log: id(&log_of(path)), limit: LOG_LIMIT, beyond: 0 }
    }

    /// Takes the files for what they are now: the log was put away and made again.
    pub(in crate::journal) fn look_anew(&mut self, path: &Path) {
        *self = Self { limit: self.limit, ..Self::of(path) };
    }

    fn look(&mut self, path: &Path) -> std::result::Result<(), Displaced> {
        let shown = path.display();
        let using = "while fleetload was using it";
        match (self.journal, fs::metadata(path)) {
            (Some(known), Ok(now)) if FileId::of(&now) != known => {
                let what = format!("another file was put in the place of the journal {shown} {using}");
                return Err(Displaced(Error::journal(what)));
            }
            (Some(_), Err(error)) => {
                let what = format!("the journal {shown} was deleted, renamed or moved {using}");
                return Err(Displaced(Error::journal(what).because(error)));
            }
            (Some(_), Ok(_)) | (None, _) => {}
        }
        let log = log_of(path);
        let Some(known) = self.log else { return Ok(()) };
        match fs::metadata(&log) {
            Ok(now) if FileId::of(&now) == known => {
                self.beyond = if now.len() > self.limit { self.beyond + 1 } else { 0 };
                Ok(())
            }
            Ok(_) | Err(_) => {
                let what = format!(
                    "the file {}, which belongs to the journal, was deleted or replaced {using}",
                    log.display()
                );
                Err(Displaced(Error::journal(what)))
            }
        }
    }
}

/// The journal is no longer where it was.
struct Displaced(Error);

impl Journal {
    /// Makes sure that what is written will be found again. When the files have gone, what the journal holds is saved
    /// beside their place, and spilled outcomes go beside that copy.
    pub(in crate::journal) fn look_at_files(&mut self) -> Result<()> {
        if let Err(Displaced(error)) = self.file_watch.look(&self.view.path) {
            return Err(self.rescue(error));
        }
        if self.file_watch.beyond > PATIENCE {
            return Err(Error::journal(format!(
                "the file {} has grown beyond {} MiB, since another program keeps an old view of the journal open",
                log_of(&self.view.path).display(),
                self.file_watch.limit >> 20
            ))
            .hint("close the program that has the journal open (a database viewer, perhaps), then run the same command again; nothing is lost"));
        }
        Ok(())
    }

    /// From now on nothing more is written to the files, not even on closing: a disk that has failed to write once
    /// may say that it has written at the second try; and beside a journal that was replaced lie the files of another.
    pub(in crate::journal) fn touch_no_more(&self) {
        // A failure leaves what SQLite does by itself, which is safe for its own files.
        let _kept = self.view.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    fn rescue(&mut self, error: Error) -> Error {
        self.touch_no_more();
        match save(&self.view.connection, &self.view.path) {
            Ok(copy) => {
                let words = format!(
                    "nothing further was sent, and all that the journal held was saved to {}.\n\
                     Go on with that copy, not with the file that was moved: ",
                    copy.display()
                );
                let command = format!("fleetload run --journal {}", quoted(&copy.to_string_lossy()));
                let hint = Advice::from(words).command(command);
                self.spill_beside = copy;
                error.hint(hint)
            }
            Err(unsaved) => error.hint(format!(
                "nothing further was sent. Put the journal back, with the files of the same name that end in -wal and \
                 .spill, then run the same command again. It could not be saved beside its place: {unsaved}"
            )),
        }
    }
}

/// The names of saved copies of a journal, the first one first.
fn copies_of(path: &Path) -> impl DoubleEndedIterator<Item = PathBuf> {
    (1..=COPIES).map(|number| match number {
        1 => db_file::beside(path, ".rescued"),
        _ => db_file::beside(path, &format!(".rescued-{number}")),
    })
}

/// The newest copy of a journal that a run saved when its files had gone, if one is there and no journal is that was written
/// to later.
pub(crate) fn saved_copy_of(path: &Path) -> Option<PathBuf> {
    let written = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let copy = copies_of(path).rev().find(|copy| copy.is_file())?;
    (written(path) <= written(&copy)).then_some(copy)
}

/// How to go on with a saved copy.
pub(in crate::journal) fn go_on_with(copy: &Path) -> Advice {
    let shown = copy.display();
    Advice::from(format!(
        "a run saved what the journal held in {shown}. Go on with that copy, since a journal that lacks its rows would \
         create them again: "
    ))
    .command(format!("fleetload run --journal {}", quoted(&copy.to_string_lossy())))
}

/// Saves what a connection sees to a new file beside `path`.
fn save(connection: &Connection, path: &Path) -> Result<PathBuf> {
    let copy = copies_of(path)
        .find(|copy| !copy.exists())
        .ok_or_else(|| Error::journal("too many saved copies of the journal lie there already"))?;
    db_file::create_private(&copy)?;
    copy_pages(connection, &copy)?;
    Ok(copy)
}

/// The write-ahead log of a journal.
pub(in crate::journal) fn log_of(path: &Path) -> PathBuf {
    db_file::beside(path, "-wal")
}

#[cfg(test)]
mod tests;

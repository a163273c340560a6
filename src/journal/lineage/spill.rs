//! The spill file: settlements that the journal could not take, and how the run ended because of that, kept beside it until
//! the next start.
//!
//! JSON lines, synced before anything else happens, each with an id of its own so that none is taken in twice.
//! A line that was cut off by the end of the process was never acknowledged; its job is in doubt, which is safe.

use std::fs;
use std::io::{ErrorKind as Io, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ending::{End, RunEnd};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::db_file;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::lineage::batch;
use crate::journal::lineage::identity;
use crate::journal::queue::runs;
use crate::journal::state::write::Write;
use crate::journal::{Journal, RunId, View};
use crate::model::time::Moment;
use crate::private_file;

/// One line of a spill file.
#[derive(Debug, Serialize, Deserialize)]
struct SpillLine {
    id: Uuid,
    /// The journal whose jobs it speaks of.
    #[serde(default)]
    journal: Option<String>,
    #[serde(flatten)]
    content: Content,
}

/// What a line says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    /// A settlement.
    Write(Write),
    /// How a run ended.
    End(SpilledEnd),
}

/// How a run ended whose journal could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::journal) struct SpilledEnd {
    pub(in crate::journal) run: i64,
    pub(in crate::journal) at: Moment,
    /// The word of the end.
    ending: String,
}

impl SpilledEnd {
    /// The end, if a journal keeps it.
    pub(in crate::journal) fn end(&self) -> Option<End> {
        End::parse(&self.ending).filter(|end| RunEnd::EARLY.contains(end))
    }
}

/// What became of the lines of a spill file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::journal) struct TakenIn {
    /// Lines carried out.
    pub(in crate::journal) carried_out: u64,
    /// Lines that no longer fit the state of their job, or that cannot be read.
    pub(in crate::journal) left_out: u64,
}

/// Bytes kept back on the disk for the spill file: what is in hand at a few hundred requests under way, and more.
const RESERVE: usize = 1 << 20;

impl Journal {
    /// Appends settlements to the spill file of the journal, and syncs it. Gives the file's name.
    ///
    /// Claims are left out: what was not on disk was not sent.
    pub fn spill(&self, writes: &[Write]) -> Result<PathBuf> {
        let settlements = writes.iter().filter(|write| write.is_settlement());
        self.spill_lines(settlements.cloned().map(Content::Write))
    }

    /// Notes in the spill file how a run ended because the journal cannot be written, so that nobody takes it for killed.
    pub fn spill_end(&self, run: RunId, at: Moment, end: End) -> Result<PathBuf> {
        let content = Content::End(SpilledEnd { run: run.0, at, ending: end.as_str().to_owned() });
        self.spill_lines([content])
    }

    fn spill_lines(&self, contents: impl IntoIterator<Item = Content>) -> Result<PathBuf> {
        let spill = spill_path(&self.spill_beside);
        // A journal that cannot even be read any more spills anyway.
        let journal = identity::id(&self.view.connection).ok();
        let mut text = String::new();
        for content in contents {
            let line = SpillLine { id: Uuid::new_v4(), journal: journal.clone(), content };
            text.push_str(&serde_json::to_string(&line).map_err(unwritable)?);
            text.push('\n');
        }
        if !text.is_empty() {
            failpoint::reach("spill.before");
            release(&self.view.path);
            append(&spill, &text).map_err(|error| {
                Error::journal(format!(
                    "the last answers could be written neither to the journal nor to {}",
                    spill.display()
                ))
                .hint("free some space there; the rows concerned will be looked up at the next run")
                .because(error)
            })?;
            failpoint::reach("spill.written");
        }
        Ok(spill)
    }
}

impl View {
    /// How the last run ended whose journal could not be written, if no run has begun since. What cannot be read says nothing.
    pub(in crate::journal) fn spilled_end(&self) -> Option<SpilledEnd> {
        let text = fs::read(spill_path(&self.path)).ok()?;
        let own = identity::id(&self.connection).ok()?;
        let lines = text.split(|&byte| byte == b'\n').rev();
        lines.filter_map(|line| serde_json::from_slice::<SpillLine>(line).ok()).find_map(|line| {
            match line.content {
                Content::End(end) if line.journal.as_ref() == Some(&own) => Some(end),
                Content::End(_) | Content::Write(_) => None,
            }
        })
    }
}

/// Room kept on the disk, given back when this is dropped.
#[derive(Debug)]
pub(in crate::journal) struct Reserve(PathBuf);

impl Drop for Reserve {
    fn drop(&mut self) {
        release(&self.0);
    }
}

/// Keeps room on the disk for a spill file: when the disk is full is when one is needed.
pub(in crate::journal) fn reserve(path: &Path) -> Result<Reserve> {
    let file = reserve_path(path);
    // Dropped when it cannot be kept, which gives back what there is of it.
    let reserve = Reserve(path.to_owned());
    if file.metadata().is_ok_and(|file| file.len() == RESERVE as u64) {
        return Ok(reserve);
    }
    let mut options = private_file::options();
    options.write(true).create(true).truncate(true);
    let kept = options.open(&file).and_then(|mut open| {
        // Zeros might be kept as a hole that takes no room.
        open.write_all(&vec![b'-'; RESERVE])?;
        open.sync_all()
    });
    kept.map_err(|error| {
        Error::journal(format!("there is no room beside the journal {} for a run", path.display()))
            .ending(End::JournalFull)
            .because(error)
            .hint("free some space on the disk that holds the journal, then run the same command again; nothing was sent")
    })?;
    Ok(reserve)
}

/// Gives the room back. What cannot be removed is taken again by the next run.
fn release(path: &Path) {
    drop(fs::remove_file(reserve_path(path)));
}

fn reserve_path(path: &Path) -> PathBuf {
    db_file::beside(path, ".spill-reserve")
}

fn append(spill: &Path, text: &str) -> std::io::Result<()> {
    let mut options = private_file::options();
    options.append(true).create(true);
    let fresh = !spill.exists();
    let mut file = options.open(spill)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    if fresh { private_file::sync_folder_of(spill) } else { Ok(()) }
}

/// Where the settlements of a journal are spilled.
fn spill_path(path: &Path) -> PathBuf {
    db_file::beside(path, ".spill")
}

/// Carries out the lines of the spill file, within the transaction of the recovery.
pub(in crate::journal) fn take_in(connection: &Connection, path: &Path, at: Moment) -> Result<TakenIn> {
    let mut taken_in = TakenIn::default();
    let text = match fs::read(spill_path(path)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == Io::NotFound => return Ok(taken_in),
        Err(error) => return Err(untaken(path, error)),
    };
    let own = identity::id(connection)?;
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let Ok(line) = serde_json::from_slice::<SpillLine>(line) else {
            taken_in.left_out += 1;
            continue;
        };
        // Another journal lay here when it was written.
        if line.journal.as_ref().is_some_and(|journal| *journal != own) {
            taken_in.left_out += 1;
            continue;
        }
        let fresh = connection
            .prepare_cached("INSERT INTO spill_taken (id, at) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?
            .execute((line.id.hyphenated().to_string(), at))?;
        if fresh == 0 {
            continue;
        }
        match &line.content {
            Content::Write(write) => match batch::alone(connection, write)? {
                Ok(_moved) => taken_in.carried_out += 1,
                Err(_does_not_fit) => taken_in.left_out += 1,
            },
            Content::End(ended) => runs::take_in_end(connection, ended)?,
        }
    }
    Ok(taken_in)
}

/// Puts the spill file away once the journal holds what it said; with lines left out it is kept for examination.
pub(in crate::journal) fn put_away(path: &Path, taken_in: TakenIn) -> Result<()> {
    let spill = spill_path(path);
    if taken_in.left_out > 0 {
        return set_aside(path).map(drop);
    }
    match fs::remove_file(&spill) {
        Err(error) if error.kind() != Io::NotFound => Err(untaken(path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Moves the spill file, if there is one, to a name that none has had before; gives that name.
pub(in crate::journal) fn set_aside(path: &Path) -> Result<Option<PathBuf>> {
    let spill = spill_path(path);
    if !spill.exists() {
        return Ok(None);
    }
    let mut aside = db_file::beside(&spill, ".left-out");
    let mut number = 1;
    while aside.exists() {
        number += 1;
        aside = db_file::beside(&spill, &format!(".left-out-{number}"));
    }
    fs::rename(&spill, &aside).map_err(|error| untaken(path, error))?;
    Ok(Some(aside))
}

fn untaken(path: &Path, error: std::io::Error) -> Error {
    let spill = spill_path(path);
    Error::journal(format!("the answers spilled to {} cannot be taken in", spill.display()))
        .hint("make the file and its folder readable and writable for you, then run the same command again")
        .because(error)
}

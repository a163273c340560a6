//! What the journal acknowledged and when: marks in the record of the disk, and what the journal held after each
//! commit, so that whatever is found after a power cut can be compared with what must be there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fleetload::journal::Write;
use fleetload::model::id::{ImportId, JobId};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use crate::disk::Event;
use crate::vfs::Recording;

/// Something that was acknowledged.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    /// The state of the journal that it is first found in.
    pub(crate) state: usize,
    /// What it was.
    pub(crate) what: What,
}

/// What was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A claim: the request leaves now.
    Sent { job: JobId, attempt: u32 },
    /// What became of a job: its last attempt, whether that has ended, and the id of its record.
    Settled { job: JobId, attempt: u32, ended: bool, record: Option<String> },
    /// An import with this many rows.
    Imported { import: ImportId, rows: u64 },
    /// Anything else.
    Kept,
}

/// A script that was carried out.
pub(crate) struct Account {
    /// What the disk was asked, with marks.
    pub(crate) events: Vec<Event>,
    /// What the marks mean.
    pub(crate) marks: Vec<Mark>,
    /// All that the journal held after each commit.
    pub(crate) states: Vec<String>,
}

/// Keeps the account of a script while it goes on.
pub(crate) struct Scribe {
    path: PathBuf,
    recording: Recording,
    kept: Mutex<(Vec<Mark>, Vec<String>)>,
}

impl Scribe {
    pub(crate) fn new(path: &Path, recording: Recording) -> Self {
        Self { path: path.to_owned(), recording, kept: Mutex::default() }
    }

    /// Lets the journal that was opened last meet what otherwise takes a million rows: pages that leave the memory
    /// within a transaction, a write-ahead log that is copied back, begun again and cut off. The log holds more than one
    /// import writes: one that is copied back by its own commit could not be lost.
    pub(crate) fn squeeze(&self) {
        self.recording.squeeze(16, 80, 120_000);
    }

    /// The journal has acknowledged something just now.
    pub(crate) fn acknowledged(&self, what: What) {
        let reader = reader(&self.path).expect("the journal can be read");
        self.note(&reader, what);
    }

    /// The journal has acknowledged a write just now.
    pub(crate) fn written(&self, write: &Write) {
        let reader = reader(&self.path).expect("the journal can be read");
        let what = match write.job() {
            Some(job) => {
                let (attempt, ended, record) = standing(&reader, job).expect("a job");
                if write.is_settlement() {
                    What::Settled { job, attempt, ended, record }
                } else {
                    What::Sent { job, attempt }
                }
            }
            None => What::Kept,
        };
        self.note(&reader, what);
    }

    fn note(&self, reader: &Connection, what: What) {
        let now = everything(reader).expect("the journal can be read");
        let mut kept = self.kept.lock().expect("no panic while noting");
        let (marks, states) = &mut *kept;
        if states.last() != Some(&now) {
            states.push(now);
        }
        marks.push(Mark { state: states.len() - 1, what });
        self.recording.mark(marks.len() - 1);
    }

    /// Ends the account; what the journal does from now on is not in it.
    pub(crate) fn end(self) -> Account {
        let (marks, states) = self.kept.into_inner().expect("no panic while noting");
        Account { events: self.recording.end(), marks, states }
    }
}

/// A connection that only reads.
pub(crate) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// The number of the last attempt of a job, whether it has ended, and the id of the job's record.
pub(crate) fn standing(reader: &Connection, job: JobId) -> rusqlite::Result<(u32, bool, Option<String>)> {
    reader.query_row(
        "SELECT attempts, EXISTS (SELECT 1 FROM attempt
                 WHERE attempt.job = jobs.job AND number = attempts AND ended_at IS NOT NULL), id
         FROM jobs WHERE job = ?1",
        [job.0],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
}

/// All that is in a journal, as text.
pub(crate) fn everything(reader: &Connection) -> rusqlite::Result<String> {
    let mut text = String::new();
    for pragma in ["application_id", "user_version"] {
        let value: i64 = reader.pragma_query_value(None, pragma, |row| row.get(0))?;
        writeln!(text, "{pragma} {value}").expect("a text grows");
    }
    let tables: Vec<String> = reader
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for table in tables {
        let columns = reader.prepare(&format!("SELECT * FROM {table}"))?.column_count();
        let order: Vec<String> = (1..=columns).map(|column| column.to_string()).collect();
        let mut statement =
            reader.prepare(&format!("SELECT * FROM {table} ORDER BY {}", order.join(", ")))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<Value>> = (0..columns)
                // A journal that is made once more after a power cut gets another random name.
                .filter(|column| (table.as_str(), *column) != ("identity", 1))
                .map(|column| row.get(column))
                .collect();
            writeln!(text, "{table} {:?}", values?).expect("a text grows");
        }
    }
    Ok(text)
}

//! What must hold of whatever is found after a power cut: the journal opens, is sound, holds exactly what it held
//! after some commit, and that commit is not before the last one that was acknowledged.
//!
//! Lost outcomes and missing intents are looked for a second time, row by row, without that comparison.

use std::fs;
use std::path::Path;

use fleetload::journal::{Journal, Recovered};
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::disk::{Cut, Disk};
use crate::scribe::{Account, Mark, What, everything, reader, standing};
use crate::script::NAME;
use crate::vfs::Recording;

/// The moment of the recovery.
const LATER: Moment = Moment::from_millis(2_000_000_000_000);

/// What is wrong with an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Violation {
    /// It does not open, or is damaged.
    Unusable(String),
    /// It holds what the journal never held.
    NeverWas(String),
    /// What became of a job was acknowledged and is gone.
    OutcomeLost(String),
    /// A request left, and nothing says so.
    IntentMissing(String),
    /// A whole import was acknowledged and is gone, or a part of it.
    ImportLost(String),
    /// Something else was acknowledged and is gone.
    OtherLost(String),
    /// The start after the power cut did what it should not, or not what it should.
    BadRecovery(String),
}

/// What an image should hold.
#[derive(Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// What the journal held after each commit.
    pub(crate) states: &'a [String],
    /// The number of the state that was acknowledged last.
    pub(crate) acknowledged: Option<usize>,
    /// What had been acknowledged by then.
    pub(crate) marks: &'a [Mark],
}

impl<'a> Expected<'a> {
    /// What must be found when the power goes after the first `marks` marks of a script.
    pub(crate) fn after(account: &'a Account, marks: usize) -> Self {
        let marks = &account.marks[..marks];
        Self { states: &account.states, acknowledged: marks.last().map(|mark| mark.state), marks }
    }
}

/// Starts on what a power cut left, and says all that is wrong. With `again`, the power also goes during that start,
/// and what is left then is looked at too; gives how many images were looked at.
pub(crate) fn look(
    image: &[(String, Vec<u8>)],
    expected: Expected<'_>,
    again: Option<u64>,
) -> (usize, Vec<Violation>) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in image {
        fs::write(folder.path().join(name), content).expect("a file");
    }
    let recording = Recording::of(folder.path());
    let mut violations = Vec::new();
    match start(&folder, expected, &mut violations) {
        Ok((found, recovered)) => {
            let Some(seed) = again else { return (1, violations) };
            let images =
                cut_again(image, recording, &[found, recovered], expected.marks, seed, &mut violations);
            (images + 1, violations)
        }
        Err(violation) => {
            violations.push(violation);
            (1, violations)
        }
    }
}

/// Opens the journal, compares it, recovers it twice, looks for damage. Gives what it held before and after.
fn start(
    folder: &TempDir,
    expected: Expected<'_>,
    violations: &mut Vec<Violation>,
) -> Result<(String, String), Violation> {
    let path = folder.path().join(NAME);
    let mut journal =
        Journal::open(&path).map_err(|error| Violation::Unusable(format!("does not open: {error}")))?;
    let found = read(&path)?;
    match expected.states.iter().rposition(|state| *state == found) {
        None => violations.push(Violation::NeverWas(difference(&found, expected))),
        Some(state) => {
            if let Some(acknowledged) = expected.acknowledged {
                violations.extend(lost(state, expected.marks));
                if state > acknowledged + 1 {
                    violations.push(Violation::NeverWas(format!("state {state} from after {acknowledged}")));
                }
            }
        }
    }
    let reader = reader(&path).map_err(unusable)?;
    for mark in expected.marks {
        violations.extend(gone(&reader, mark).map_err(unusable)?);
    }
    let sending: Vec<i64> = reader
        .prepare("SELECT id FROM job WHERE state = 'sending'")
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .map_err(unusable)?;
    let recover = |journal: &mut Journal| {
        journal
            .queue()
            .recover(LATER)
            .map_err(|error| Violation::Unusable(format!("does not recover: {error}")))
    };
    let recovered = recover(&mut journal)?;
    if recovered != (Recovered { doubtful: sending.len() as u64, ..Recovered::default() }) {
        violations.push(Violation::BadRecovery(format!("{recovered:?} with {} under way", sending.len())));
    }
    for job in sending {
        let work = journal.work(fleetload::model::id::JobId(job));
        match work.map(|work| work.map(|work| work.state)) {
            Ok(Some(JobState::InDoubt)) => {}
            other => violations.push(Violation::BadRecovery(format!("job {job} was under way: {other:?}"))),
        }
    }
    let once = read(&path)?;
    let second = recover(&mut journal)?;
    if second != Recovered::default() || read(&path)? != once {
        violations.push(Violation::BadRecovery(format!("not done after the first: {second:?}")));
    }
    // Closed and opened again, so that everything has been copied back.
    drop((reader, journal));
    let connection = reader_after(&path)?;
    for pragma in ["integrity_check", "foreign_key_check"] {
        let complaints: Vec<String> = connection
            .prepare(&format!("PRAGMA {pragma}"))
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .map_err(unusable)?;
        if !(complaints.is_empty() || complaints == ["ok"]) {
            return Err(Violation::Unusable(format!("{pragma}: {complaints:?}")));
        }
    }
    Ok((found, once))
}

fn reader_after(path: &Path) -> Result<Connection, Violation> {
    reader(path).map_err(unusable)
}

/// Cuts the start itself, at a few of its moments.
fn cut_again(
    image: &[(String, Vec<u8>)],
    recording: Recording,
    states: &[String],
    marks: &[Mark],
    seed: u64,
    violations: &mut Vec<Violation>,
) -> usize {
    let events = recording.end();
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut disk = Disk::holding(image);
    let mut images = 0;
    // What had to be there before has to be there still; that the recovery is lost again is no loss.
    let expected = Expected { states, acknowledged: None, marks };
    let chosen: Vec<usize> = (0..3).map(|_| rng.usize(..=events.len())).collect();
    for at in 0..=events.len() {
        for _ in chosen.iter().filter(|&&chosen| chosen == at) {
            let (more, found) = look(&disk.cut(Cut::Mixed(rng.u64(..))), expected, None);
            images += more;
            violations.extend(found);
        }
        if let Some(event) = events.get(at) {
            disk.take(event);
        }
    }
    images
}

/// What was acknowledged and is younger than the state that was found.
fn lost(state: usize, marks: &[Mark]) -> Vec<Violation> {
    marks
        .iter()
        .filter(|mark| mark.state > state)
        .map(|mark| {
            let told = format!("{:?} of commit {}, found {state}", mark.what, mark.state);
            match mark.what {
                What::Sent { .. } => Violation::IntentMissing(told),
                What::Settled { .. } => Violation::OutcomeLost(told),
                What::Imported { .. } => Violation::ImportLost(told),
                What::Kept => Violation::OtherLost(told),
            }
        })
        .collect()
}

/// The same, by the rows themselves.
fn gone(reader: &Connection, mark: &Mark) -> rusqlite::Result<Option<Violation>> {
    let told = || format!("{:?} has no rows", mark.what);
    let count = |sql: &str, values: [i64; 2]| reader.query_row(sql, values, |row| row.get::<_, i64>(0));
    Ok(match &mark.what {
        What::Sent { job, attempt } => {
            let sql = "SELECT count(*) FROM attempt WHERE job = ?1 AND number = ?2";
            (count(sql, [job.0, i64::from(*attempt)])? != 1).then(|| Violation::IntentMissing(told()))
        }
        What::Settled { job, attempt, ended, record } => {
            let sql = "SELECT count(*) FROM attempt WHERE job = ?1 AND number = ?2 AND ended_at IS NOT NULL";
            let attempt_lost = *ended && count(sql, [job.0, i64::from(*attempt)])? != 1;
            let record_lost =
                record.is_some() && standing(reader, *job).map_or(true, |(_, _, found)| found != *record);
            (attempt_lost || record_lost).then(|| Violation::OutcomeLost(told()))
        }
        What::Imported { import, rows } => {
            let sql = "SELECT count(*) FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
                       WHERE sheet.import = ?1 AND ?2 = ?2";
            let rows_there = count(sql, [import.0, 0])?;
            (u64::try_from(rows_there).ok() != Some(*rows)).then(|| Violation::ImportLost(told()))
        }
        What::Kept => None,
    })
}

fn read(path: &Path) -> Result<String, Violation> {
    reader(path).and_then(|reader| everything(&reader)).map_err(unusable)
}

#[expect(clippy::needless_pass_by_value, reason = "the shape of map_err")]
fn unusable(error: rusqlite::Error) -> Violation {
    Violation::Unusable(error.to_string())
}

/// The first line in which what was found is not what was expected.
fn difference(found: &str, expected: Expected<'_>) -> String {
    let state = expected.acknowledged.unwrap_or(0);
    let there: Vec<&str> = expected.states.get(state).map_or(Vec::new(), |text| text.lines().collect());
    let line = found.lines().zip(there).find(|(found, there)| found != there);
    format!("beside state {state}: {line:?}")
}

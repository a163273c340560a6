//! The order of upkeep rows within one record: after all steps of the row that makes it, what takes something away, then what puts
//! something there, then what gives it settings. Rows of a later turn wait, blocked, until those of an earlier one are settled.
//! Different records go side by side.
//!
//! A row is settled once it has a final state: those after it go on when it was rejected or cancelled. While one is in doubt or
//! on hold, they wait. Rows that were sent already are not held back.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::moved;
use crate::error::Result;
use crate::journal::state::write::Moved;
use crate::model::action::Turn;
use crate::model::id::JobId;
use crate::model::state::JobState;

/// Whether a row, of which this is the job, comes before another one at the same record and is not settled.
macro_rules! comes_before {
    ($first:literal, $job:literal, $own:literal) => {
        concat!(
            $first,
            ".record = ",
            $own,
            ".record AND ",
            $first,
            ".turn < ",
            $own,
            ".turn AND ",
            $job,
            ".finished_at IS NULL"
        )
    };
}

pub(in crate::journal) use comes_before;

/// Notes which record a job makes or is about, and its turn.
pub(in crate::journal) fn note(connection: &Connection, job: JobId, record: &str, turn: Turn) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO upkeep (job, record, turn) VALUES (?1, ?2, ?3)")?
        .execute((job, record, turn as i64))?;
    Ok(())
}

/// Rows that were noted with one name of a record are about the one with the other name.
pub(in crate::journal) fn rename(connection: &Connection, from: &str, to: &str) -> Result<()> {
    connection.prepare_cached("UPDATE upkeep SET record = ?2 WHERE record = ?1")?.execute((from, to))?;
    Ok(())
}

/// The record that a job makes, if upkeep rows are about it.
pub(in crate::journal) fn made_by(connection: &Connection, job: JobId) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT record FROM upkeep WHERE job = ?1 AND turn = ?2")?
        .query_row((job, Turn::Create as i64), |row| row.get(0))
        .optional()?)
}

/// Whether something comes before a job that is not settled.
pub(in crate::journal) fn waits(connection: &Connection, job: JobId) -> Result<bool> {
    Ok(connection
        .prepare_cached(concat!(
            "SELECT EXISTS (SELECT 1 FROM upkeep AS own CROSS JOIN upkeep AS first CROSS JOIN job AS open ON open.id = first.job
                            WHERE own.job = ?1 AND ",
            comes_before!("first", "open", "own"),
            ")"
        ))?
        .query_row([job], |row| row.get(0))?)
}

/// Where the rows about a record stand now: those of a later turn than the one it is are held back (ready → blocked), the
/// others let go (blocked → ready).
pub(in crate::journal) fn keep(connection: &Connection, record: &str) -> Result<Vec<Moved>> {
    let turn = turn_of(connection, record)?;
    let mut moves = Vec::new();
    for (sql, from, to) in [
        (
            "UPDATE job SET state = 'blocked', code = NULL, message = NULL
             WHERE +state = 'ready' AND id IN (SELECT job FROM upkeep WHERE record = ?1 AND turn > ?2)
             RETURNING id, kind, operation",
            JobState::Ready,
            JobState::Blocked,
        ),
        (
            "UPDATE job SET state = 'ready'
             WHERE +state = 'blocked' AND id IN (SELECT job FROM upkeep WHERE record = ?1 AND turn <= ?2)
               AND NOT EXISTS (SELECT 1 FROM link JOIN job AS other ON other.id = link.target_job
                               WHERE link.job = job.id AND other.remote_id IS NULL)
             RETURNING id, kind, operation",
            JobState::Blocked,
            JobState::Ready,
        ),
    ] {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map((record, turn), |row| moved(row, from, to))?;
        moves.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
    }
    Ok(moves)
}

/// The same for the records of these jobs, when they have been settled or are open again, as far as others come after them.
pub(in crate::journal) fn keep_after(
    connection: &Connection,
    jobs: impl IntoIterator<Item = JobId>,
) -> Result<Vec<Moved>> {
    let mut followed = connection.prepare_cached(
        "SELECT record FROM upkeep AS own WHERE job = ?1
         AND EXISTS (SELECT 1 FROM upkeep AS later WHERE later.record = own.record AND later.turn > own.turn)",
    )?;
    let mut records: BTreeSet<String> = BTreeSet::new();
    for job in jobs {
        records.extend(followed.query_row([job], |row| row.get::<_, String>(0)).optional()?);
    }
    let mut moved = Vec::new();
    for record in records {
        moved.extend(keep(connection, &record)?);
    }
    Ok(moved)
}

/// Whose turn it is at a record: the first with a row that is not settled, else everybody's. Of one turn the rows of the last
/// jobs are looked at first: those before them are sent first, so that few settled ones are passed on the way.
fn turn_of(connection: &Connection, record: &str) -> Result<i64> {
    let first: Option<i64> = connection
        .prepare_cached(
            "SELECT row.turn FROM upkeep AS row CROSS JOIN job ON job.id = row.job
             WHERE row.record = ?1 AND job.finished_at IS NULL ORDER BY row.turn, row.job DESC LIMIT 1",
        )?
        .query_row([record], |row| row.get(0))
        .optional()?;
    Ok(first.unwrap_or(i64::MAX))
}

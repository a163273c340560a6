//! The order of upkeep rows within one record: after all steps of the row that makes it those of the first import, then those of
//! the next; of one import what takes something away, then what puts something there, then what gives it settings. Rows of a
//! later turn wait, blocked, until those of an earlier one are settled. Different records go side by side.
//!
//! A row is settled once it has a final state: those after it go on when it was rejected or cancelled. While one is in doubt they
//! wait. For one on hold only those of its own import wait, unless it makes the record: nobody knows when it will be decided.
//! Rows that were sent already are not held back.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::moved;
use crate::error::Result;
use crate::journal::state::write::Moved;
use crate::model::action::Turn;
use crate::model::id::{ImportId, JobId};
use crate::model::state::JobState;

/// Turns of one import, also in the statements here: rows of import 3 have those from 12 to 15.
const OF_IMPORT: i64 = 4;
/// The turn of the row that makes the record, whatever its import.
const MAKES: i64 = 0;

/// Whether a row, whose job has this name, comes before another one at the same record, and that one waits for it.
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
            ".finished_at IS NULL AND (",
            $job,
            ".state <> 'held' OR ",
            $first,
            ".turn / 4 IN (0, ",
            $own,
            ".turn / 4))"
        )
    };
}

pub(in crate::journal) use comes_before;

/// Notes that a job makes a record, which upkeep rows are about.
pub(in crate::journal) fn note_maker(connection: &Connection, job: JobId, record: &str) -> Result<()> {
    put(connection, job, record, MAKES)
}

/// Notes which record a job is about, and its turn.
pub(in crate::journal) fn note(
    connection: &Connection,
    (job, import): (JobId, ImportId),
    record: &str,
    turn: Turn,
) -> Result<()> {
    put(connection, job, record, import.0 * OF_IMPORT + turn as i64)
}

fn put(connection: &Connection, job: JobId, record: &str, turn: i64) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO upkeep (job, record, turn) VALUES (?1, ?2, ?3)")?
        .execute((job, record, turn))?;
    Ok(())
}

/// A row that was not sent yet has come again in an import: it counts as one of that. Returns the record that it is about.
pub(in crate::journal) fn come_again(
    connection: &Connection,
    job: JobId,
    import: ImportId,
) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(
            "UPDATE upkeep SET turn = ?2 * 4 + turn % 4 WHERE job = ?1 AND turn > 0
             AND EXISTS (SELECT 1 FROM job WHERE id = ?1 AND state IN ('ready', 'blocked', 'deferred'))
             RETURNING record",
        )?
        .query_row((job, import), |row| row.get(0))
        .optional()?)
}

/// The record that a job makes, if upkeep rows are about it.
pub(in crate::journal) fn made_by(connection: &Connection, job: JobId) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT record FROM upkeep WHERE job = ?1 AND turn = ?2")?
        .query_row((job, MAKES), |row| row.get(0))
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

/// A row on hold comes before this one in their import.
macro_rules! held_before {
    () => {
        "EXISTS (SELECT 1 FROM upkeep AS first JOIN job AS held ON held.id = first.job
                 WHERE first.record = own.record AND first.turn < own.turn AND first.turn >= own.turn / 4 * 4
                   AND held.state = 'held')"
    };
}

/// Where the rows about a record stand now: those before which others come are held back (ready → blocked), the others let
/// go (blocked → ready).
pub(in crate::journal) fn keep(connection: &Connection, record: &str) -> Result<Vec<Moved>> {
    let turn = turn_of(connection, record)?;
    let mut moves = Vec::new();
    for (sql, from, to) in [
        (
            concat!(
                "UPDATE job SET state = 'blocked', code = NULL, message = NULL
                 WHERE +state = 'ready' AND id IN (SELECT own.job FROM upkeep AS own
                                                   WHERE own.record = ?1 AND (own.turn > ?2 OR ",
                held_before!(),
                ")) RETURNING id, kind, operation"
            ),
            JobState::Ready,
            JobState::Blocked,
        ),
        (
            concat!(
                "UPDATE job SET state = 'ready'
                 WHERE +state = 'blocked' AND id IN (SELECT own.job FROM upkeep AS own
                                                     WHERE own.record = ?1 AND own.turn <= ?2 AND NOT ",
                held_before!(),
                ")
                   AND NOT EXISTS (SELECT 1 FROM link JOIN job AS other ON other.id = link.target_job
                                   WHERE link.job = job.id AND other.remote_id IS NULL)
                 RETURNING id, kind, operation"
            ),
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

/// The same for the records of these jobs, when they have been settled, are on hold or open again, as far as others come after
/// them.
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

/// Whose turn it is at a record: the first with a row that is not settled, but for those on hold, else everybody's. Of one turn
/// the rows of the last jobs are looked at first: those before them are sent first, so that few settled ones are passed on the
/// way.
fn turn_of(connection: &Connection, record: &str) -> Result<i64> {
    let first: Option<i64> = connection
        .prepare_cached(
            "SELECT row.turn FROM upkeep AS row CROSS JOIN job ON job.id = row.job
             WHERE row.record = ?1 AND job.finished_at IS NULL AND (job.state <> 'held' OR row.turn = 0)
             ORDER BY row.turn, row.job DESC LIMIT 1",
        )?
        .query_row([record], |row| row.get(0))
        .optional()?;
    Ok(first.unwrap_or(i64::MAX))
}

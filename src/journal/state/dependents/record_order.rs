//! The order of upkeep rows within one record: what is put on a record waits, blocked, until what is taken away from it is
//! settled. Different records go side by side.
//!
//! A removal is settled once it has a final state: what was put goes on after one that was rejected or cancelled. While one
//! is in doubt or on hold, what is put waits. Rows that were sent already are not held back.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension};

use super::moved;
use crate::error::Result;
use crate::journal::state::write::Moved;
use crate::model::id::JobId;
use crate::model::state::JobState;

/// Notes which record an upkeep row is about, and whether it takes something away from it.
pub(in crate::journal) fn note(
    connection: &Connection,
    job: JobId,
    (record, removes): (&str, bool),
) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO upkeep (job, record, removes) VALUES (?1, ?2, ?3)")?
        .execute((job, record, removes))?;
    Ok(())
}

/// The record that a job takes something away from; `None` for a job that takes nothing away.
pub(in crate::journal) fn removes_from(connection: &Connection, job: JobId) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached("SELECT record FROM upkeep WHERE job = ?1 AND removes = 1")?
        .query_row([job], |row| row.get(0))
        .optional()?)
}

/// Whether a job puts something on a record from which something is still to be taken away.
pub(in crate::journal) fn waits(connection: &Connection, job: JobId) -> Result<bool> {
    let record: Option<String> = connection
        .prepare_cached("SELECT record FROM upkeep WHERE job = ?1 AND removes = 0")?
        .query_row([job], |row| row.get(0))
        .optional()?;
    record.map_or(Ok(false), |record| Ok(open_removal(connection, &record)?.is_some()))
}

/// Where what is put on a record stands now: held back while a removal is open (ready → blocked), let go otherwise (blocked →
/// ready).
pub(in crate::journal) fn keep(connection: &Connection, record: &str) -> Result<Vec<Moved>> {
    let (sql, from, to) = match open_removal(connection, record)? {
        Some(_) => (
            "UPDATE job SET state = 'blocked', code = NULL, message = NULL
             WHERE +state = 'ready' AND id IN (SELECT job FROM upkeep WHERE record = ?1 AND removes = 0)
             RETURNING id, kind, operation",
            JobState::Ready,
            JobState::Blocked,
        ),
        None => (
            "UPDATE job SET state = 'ready'
             WHERE +state = 'blocked' AND id IN (SELECT job FROM upkeep WHERE record = ?1 AND removes = 0)
               AND NOT EXISTS (SELECT 1 FROM link JOIN job AS other ON other.id = link.target_job
                               WHERE link.job = job.id AND other.remote_id IS NULL)
             RETURNING id, kind, operation",
            JobState::Blocked,
            JobState::Ready,
        ),
    };
    connection
        .prepare_cached(sql)?
        .query_map([record], |row| moved(row, from, to))?
        .collect::<rusqlite::Result<_>>()
        .map_err(Into::into)
}

/// The same for the records that any of these jobs takes something away from, when they have been settled or are open again.
pub(in crate::journal) fn keep_after(
    connection: &Connection,
    jobs: impl IntoIterator<Item = JobId>,
) -> Result<Vec<Moved>> {
    let mut records = BTreeSet::new();
    for job in jobs {
        records.extend(removes_from(connection, job)?);
    }
    let mut moved = Vec::new();
    for record in records {
        moved.extend(keep(connection, &record)?);
    }
    Ok(moved)
}

/// A removal from a record that is not settled, the one that was imported last: those before it are sent first, so that few
/// settled ones are passed on the way.
fn open_removal(connection: &Connection, record: &str) -> Result<Option<JobId>> {
    Ok(connection
        .prepare_cached(
            "SELECT removal.job FROM upkeep AS removal CROSS JOIN job ON job.id = removal.job
             WHERE removal.record = ?1 AND removal.removes = 1 AND job.finished_at IS NULL
             ORDER BY removal.job DESC LIMIT 1",
        )?
        .query_row([record], |row| row.get(0))
        .optional()?)
}

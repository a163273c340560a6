//! What happens to the jobs below a job when it is made, fails or is cancelled: children are released, descendants are
//! skipped or brought back.
//!
//! A job waits for those of its links whose job has no remote id yet, and as `record_order` says. Everything here happens in
//! the transaction of the change that caused it.

pub(in crate::journal) mod changed_record;
pub(in crate::journal) mod record_order;

use rusqlite::{Connection, Row};

use crate::error::Result;
use crate::journal::row_ref::{self, last_import_of_job};
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::write::Moved;
use crate::model::id::JobId;
use crate::model::reason::Reason;
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::model::time::Moment;

/// The code of a job skipped because something it needs was rejected.
pub(in crate::journal) const PARENT_REJECTED: &str = Reason::ParentRejected.as_str();

/// The code of a job skipped because something it needs was cancelled.
pub(in crate::journal) const PARENT_CANCELLED: &str = Reason::ParentCancelled.as_str();

/// What the jobs that a job links to mean for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::journal) enum ParentState {
    /// All of them exist in the service, and nothing comes first.
    Made,
    /// Some are still to be made, or other rows about the record come first.
    Waiting,
    /// One of them, named here, will not be made.
    Lost(JobId),
}

/// Looks at the jobs that a job links to.
pub(in crate::journal) fn parent_state(connection: &Connection, job: JobId) -> Result<ParentState> {
    let mut statement = connection.prepare_cached(
        "SELECT parent.id, parent.state FROM link JOIN job AS parent ON parent.id = link.target_job
         WHERE link.job = ?1 AND parent.remote_id IS NULL",
    )?;
    let mut rows = statement.query([job])?;
    let mut state = ParentState::Made;
    while let Some(row) = rows.next()? {
        if is_lost(row.get(1)?) {
            return Ok(ParentState::Lost(row.get(0)?));
        }
        state = ParentState::Waiting;
    }
    if state == ParentState::Made && record_order::waits(connection, job)? {
        state = ParentState::Waiting;
    }
    Ok(state)
}

/// Whether a job in this state, without a remote id, will never have one by itself.
pub(in crate::journal) fn is_lost(state: JobState) -> bool {
    match state {
        JobState::Rejected | JobState::Skipped | JobState::Cancelled => true,
        JobState::Blocked
        | JobState::Ready
        | JobState::Deferred
        | JobState::Sending
        | JobState::InDoubt
        | JobState::Held
        | JobState::Created
        | JobState::Adopted
        | JobState::Existing
        | JobState::Done
        | JobState::Incomplete => false,
    }
}

/// blocked → ready for the children of a job that has just got its remote id and that wait for nothing else. Of one that was
/// `made` just now, none can have been sent before.
pub(in crate::journal) fn release_children(
    connection: &Connection,
    parent: JobId,
    made: bool,
) -> Result<Vec<Moved>> {
    if !has_children(connection, parent)? {
        return Ok(Vec::new());
    }
    if made {
        assure_children(connection, parent)?;
    }
    children(connection, parent)
}

fn children(connection: &Connection, parent: JobId) -> Result<Vec<Moved>> {
    // The plus keeps SQLite from walking all blocked jobs instead of the children of this one.
    let mut statement = connection.prepare_cached(concat!(
        "UPDATE job SET state = 'ready'
         WHERE +state = 'blocked'
           AND id IN (SELECT link.job FROM link WHERE link.target_job = ?1)
           AND NOT EXISTS (SELECT 1 FROM link JOIN job AS other ON other.id = link.target_job
                           WHERE link.job = job.id AND other.remote_id IS NULL)
           AND NOT EXISTS (SELECT 1 FROM upkeep AS own CROSS JOIN upkeep AS first
                           CROSS JOIN job AS open ON open.id = first.job
                           WHERE own.job = job.id AND ",
        record_order::comes_before!("first", "open", "own"),
        ") RETURNING id, kind, operation"
    ))?;
    statement
        .query_map([parent], |row| moved(row, JobState::Blocked, JobState::Ready))?
        .collect::<rusqlite::Result<_>>()
        .map_err(Into::into)
}

/// What lies below a record that was made just now cannot have been sent before, whatever the journal may not know.
/// A copy of it may have: it lies elsewhere.
fn assure_children(connection: &Connection, parent: JobId) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE job SET unsure = 0
             WHERE +unsure = 1 AND +remote_id IS NULL
               AND id IN (SELECT link.job FROM link WHERE link.target_job = ?1 AND link.role <> ?2)",
        )?
        .execute((parent, Role::Template))?;
    Ok(())
}

/// The jobs below the job `?1` that are in a state, as far as all between them are as well: the table `below` of a statement.
macro_rules! below {
    ($state:literal) => {
        concat!(
            "WITH RECURSIVE below (id) AS (
                 SELECT link.job FROM link JOIN job AS child ON child.id = link.job
                 WHERE link.target_job = ?1 AND child.state = '",
            $state,
            "' UNION
                 SELECT link.job FROM below JOIN link ON link.target_job = below.id
                 JOIN job AS child ON child.id = link.job
                 WHERE child.state = '",
            $state,
            "') "
        )
    };
}

/// blocked → skipped for everything below a job that will not be made; rows that come after them at their records go on. Nothing
/// when its record exists. What was skipped as that one was rejected is skipped as it is cancelled now.
pub(in crate::journal) fn skip_below(
    connection: &Connection,
    lost: &JobRow,
    code: &str,
    at: Moment,
) -> Result<Vec<Moved>> {
    if lost.remote_id.is_some() || !has_children(connection, lost.job)? {
        return Ok(Vec::new());
    }
    let became = if code == PARENT_CANCELLED { JobState::Cancelled } else { JobState::Rejected };
    let message = format!(
        "not sent, because the {} '{}' it belongs to ({}) was {became}",
        lost.kind.singular(),
        lost.name,
        row_ref::of_job(connection, lost.job)?
    );
    if code == PARENT_CANCELLED {
        connection
            .prepare_cached(concat!(
                below!("skipped"),
                "UPDATE job SET code = ?2, message = ?3 WHERE id IN (SELECT id FROM below) AND code = ?4"
            ))?
            .execute((lost.job, code, &message, PARENT_REJECTED))?;
    }
    let mut statement = connection.prepare_cached(concat!(
        below!("blocked"),
        "UPDATE job SET state = 'skipped', code = ?2, message = ?3, finished_at = ?4
         WHERE id IN (SELECT id FROM below) AND +state = 'blocked'
         RETURNING id, kind, operation"
    ))?;
    let mut skipped = statement
        .query_map((lost.job, code, &message, at), |row| moved(row, JobState::Blocked, JobState::Skipped))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let jobs: Vec<JobId> = skipped.iter().map(|moved| moved.job).collect();
    skipped.extend(record_order::keep_after(connection, jobs)?);
    Ok(skipped)
}

/// blocked → skipped for a job that was given another chance, and all below it, if something that it needs will not be made.
pub(in crate::journal) fn skip_below_lost(
    connection: &Connection,
    job: JobId,
    at: Moment,
) -> Result<Vec<Moved>> {
    match parent_state(connection, job)? {
        ParentState::Lost(parent) => {
            let lost = job_row::of(connection, parent)?;
            skip_below(connection, &lost, parent_code(lost.state), at)
        }
        ParentState::Made | ParentState::Waiting => Ok(Vec::new()),
    }
}

/// The code of a job that is skipped below one in a state in which it will not be made.
pub(in crate::journal) fn parent_code(lost: JobState) -> &'static str {
    match lost {
        JobState::Cancelled => PARENT_CANCELLED,
        _ => PARENT_REJECTED,
    }
}

/// skipped → blocked or ready for everything below a job that is to be made after all, as far as nothing else it
/// needs is lost.
pub(in crate::journal) fn revive_below(connection: &Connection, found: JobId) -> Result<Vec<Moved>> {
    let mut revived = Vec::new();
    let mut open = vec![found];
    while let Some(parent) = open.pop() {
        for child in skipped_children(connection, parent)? {
            let to = match parent_state(connection, child)? {
                ParentState::Made => JobState::Ready,
                ParentState::Waiting => JobState::Blocked,
                ParentState::Lost(_) => continue,
            };
            let mut statement = connection.prepare_cached(concat!(
                "UPDATE job SET state = ?2, code = NULL, message = NULL, finished_at = NULL, last_import = ",
                last_import_of_job!(),
                " WHERE id = ?1 AND state = 'skipped' RETURNING id, kind, operation"
            ))?;
            revived.push(statement.query_row((child, to), |row| moved(row, JobState::Skipped, to))?);
            open.push(child);
        }
    }
    let again: Vec<JobId> = revived.iter().map(|moved| moved.job).collect();
    revived.extend(record_order::keep_after(connection, again)?);
    Ok(revived)
}

/// Whether any job links to this one. Most have none, and asking is far cheaper than changing nothing.
fn has_children(connection: &Connection, parent: JobId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM link WHERE target_job = ?1)")?
        .query_row([parent], |row| row.get(0))?)
}

fn skipped_children(connection: &Connection, parent: JobId) -> Result<Vec<JobId>> {
    connection
        .prepare_cached(
            "SELECT child.id FROM link JOIN job AS child ON child.id = link.job
             WHERE link.target_job = ?1 AND child.state = 'skipped' ORDER BY child.id",
        )?
        .query_map([parent], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()
        .map_err(Into::into)
}

fn moved(row: &Row<'_>, from: JobState, to: JobState) -> rusqlite::Result<Moved> {
    Ok(Moved { job: row.get(0)?, kind: row.get(1)?, from, to, operation: row.get(2)? })
}

/// Where a job that is given another chance stands, with its creation not done.
pub(in crate::journal) fn initial_state(connection: &Connection, standing: &JobRow) -> Result<JobState> {
    if standing.remote_id.is_some() {
        return Ok(JobState::Ready);
    }
    Ok(match parent_state(connection, standing.job)? {
        ParentState::Made => JobState::Ready,
        ParentState::Waiting | ParentState::Lost(_) => JobState::Blocked,
    })
}

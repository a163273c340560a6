//! Where a job stands, read before it is moved, and the guard of every transition.

use rusqlite::{Connection, OptionalExtension, ToSql};

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::state::write::Moved;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::state::JobState;

/// What the transitions need to know of a job.
#[derive(Debug, Clone)]
pub(in crate::journal) struct JobRow {
    pub(in crate::journal) job: JobId,
    pub(in crate::journal) kind: Kind,
    pub(in crate::journal) state: JobState,
    pub(in crate::journal) step: u32,
    pub(in crate::journal) operation: Operation,
    pub(in crate::journal) remote_id: Option<RemoteId>,
    pub(in crate::journal) outcome: Option<JobState>,
    pub(in crate::journal) attempts: u32,
    /// The number of its baseline.
    pub(in crate::journal) baseline: Option<i64>,
    /// Whether a request of its step was in doubt.
    pub(in crate::journal) doubted: bool,
    pub(in crate::journal) executed: bool,
    pub(in crate::journal) deaths: u32,
    pub(in crate::journal) name: String,
    pub(in crate::journal) content_hash: ContentHash,
}

/// Reads where a job stands.
pub(in crate::journal) fn find(connection: &Connection, job: JobId) -> Result<Option<JobRow>> {
    let standing = connection
        .prepare_cached(
            "SELECT kind, state, step, operation, remote_id, outcome, attempts, baseline, executed, deaths, name, content_hash,
                doubted
             FROM job WHERE id = ?1",
        )?
        .query_row([job], |row| {
            Ok(JobRow {
                job,
                kind: row.get(0)?,
                state: row.get(1)?,
                step: row.get(2)?,
                operation: row.get(3)?,
                remote_id: row.get::<_, Option<Id>>(4)?.map(|id| id.0),
                outcome: row.get(5)?,
                attempts: row.get(6)?,
                baseline: row.get(7)?,
                doubted: row.get(12)?,
                executed: row.get(8)?,
                deaths: row.get(9)?,
                name: row.get(10)?,
                content_hash: row.get(11)?,
            })
        })
        .optional()?;
    Ok(standing)
}

/// Reads where a job stands that must be there.
pub(in crate::journal) fn of(connection: &Connection, job: JobId) -> Result<JobRow> {
    find(connection, job)?.ok_or_else(|| Error::internal(format!("the journal has no job {job}")))
}

/// Refuses a write about other values than its job has now.
pub(in crate::journal) fn has_values(
    connection: &Connection,
    job: Option<JobId>,
    content: ContentHash,
) -> Result<()> {
    let job =
        job.ok_or_else(|| Error::internal("a write that is about no job cannot be about its values"))?;
    of(connection, job)?.has_values(content)
}

impl JobRow {
    /// Refuses unless the job is in one of these states; `deed` is what was to be done, as in "cannot be claimed".
    pub(in crate::journal) fn leaves(&self, allowed: &[JobState], deed: &str) -> Result<()> {
        if allowed.contains(&self.state) {
            return Ok(());
        }
        let allowed: Vec<_> = allowed.iter().map(|state| state.as_str()).collect();
        Err(Error::internal(format!(
            "job {} is {}, so it cannot be {deed}: only a job that is {} can",
            self.job,
            self.state,
            allowed.join(" or ")
        )))
    }

    /// Refuses unless the job is in the state the writer believes it in, and that state is allowed.
    pub(in crate::journal) fn leaves_as(
        &self,
        from: JobState,
        allowed: &[JobState],
        deed: &str,
    ) -> Result<()> {
        if self.state != from {
            return Err(Error::internal(format!(
                "job {} cannot be {deed}: it was expected to be {from} but is {}",
                self.job, self.state
            )));
        }
        self.leaves(allowed, deed)
    }

    /// Refuses unless the digest of the job's values is this one.
    pub(in crate::journal) fn has_values(&self, content: ContentHash) -> Result<()> {
        if self.content_hash == content {
            return Ok(());
        }
        Err(Error::internal(format!(
            "job {} has other values by now: its row was corrected meanwhile",
            self.job
        )))
    }

    /// Changes the row of the job, provided that it still is where it was read: `?1` is the job, `?2` that state.
    pub(in crate::journal) fn change(
        &self,
        connection: &Connection,
        sql: &str,
        rest: &[&dyn ToSql],
    ) -> Result<()> {
        let mut values: Vec<&dyn ToSql> = Vec::with_capacity(rest.len() + 2);
        values.push(&self.job);
        values.push(&self.state);
        values.extend_from_slice(rest);
        let changed = connection.prepare_cached(sql)?.execute(values.as_slice())?;
        if changed == 1 {
            return Ok(());
        }
        let actual = find(connection, self.job)?.map_or("gone", |standing| standing.state.as_str());
        Err(Error::internal(format!("job {} was expected to be {} but is {actual}", self.job, self.state)))
    }

    /// The news that the job went to another state, at the same step.
    pub(in crate::journal) fn moved(&self, to: JobState) -> Moved {
        Moved { job: self.job, kind: self.kind, from: self.state, to, operation: self.operation }
    }
}

//! The transitions around doubt: into it, staying in it and out of it.
//!
//! On hold is in `hold`, the rest of the state machine in `transition`; that a write happens whole or not at all is guarded by `batch`.

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::journal::state::attempt::end_attempt;
use crate::journal::state::decision_log;
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::step;
use crate::journal::state::write::{Evidence, Moved};
use crate::model::id::JobId;
use crate::model::state::JobState::{self, Deferred, InDoubt, Ready, Sending};
use crate::model::time::Moment;
use crate::model::verdict::{Doubt, Execution};

/// sending → in doubt. Once a person said that an earlier request made nothing, a record that is found after this one was made
/// with what this one was sent with.
pub(in crate::journal) fn begin(
    connection: &Connection,
    job: JobId,
    doubt: Doubt,
    (executed, charged): (bool, bool),
    until: Moment,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[Sending], "put in doubt")?;
    end_attempt(connection, &standing, evidence)?;
    let may_be_made = matches!(evidence.execution, Execution::Confirmed | Execution::Doubtful);
    if may_be_made && standing.doubted && decision_log::is_ruled_out(connection, &standing)? {
        step::was_not_made_as_sent(connection, job)?;
    }
    enter(connection, &standing, doubt, (executed, charged), (evidence.at, until))
}

/// ready or deferred → in doubt, for a job of which this copy of the journal may not know everything, or of which an earlier
/// request may still be carried out.
pub(in crate::journal) fn suspect(
    connection: &Connection,
    job: JobId,
    from: JobState,
    doubt: Doubt,
    at: Moment,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Ready, Deferred], "suspected")?;
    enter(connection, &standing, doubt, (false, true), (at, at))
}

/// Into doubt since a moment, to be looked up at another; the guard is the caller's.
fn enter(
    connection: &Connection,
    standing: &JobRow,
    doubt: Doubt,
    (executed, charged): (bool, bool),
    (since, until): (Moment, Moment),
) -> Result<Vec<Moved>> {
    if standing.remote_id.is_none() && standing.operation.creates() {
        step::keep_sent(connection, standing.job)?;
    }
    standing.change(
        connection,
        "UPDATE job SET state = 'in_doubt', doubted = doubted OR NOT ?3, executed = ?3, doubt = ?4, doubt_since = ?5, due = ?6,
            doubts = doubts + ?8, absent_reads = 0, looks = 0, code = ?4, message = ?7, audit = iif(remote_id IS NULL, NULL, audit)
         WHERE id = ?1 AND state = ?2",
        &[&executed, &doubt, &since, &until, &doubt.words(), &charged],
    )?;
    Ok(vec![standing.moved(InDoubt)])
}

/// in doubt → in doubt, one look later.
pub(in crate::journal) fn keep(
    connection: &Connection,
    job: JobId,
    until: Moment,
    absent_reads: u32,
    note: &str,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[InDoubt], "kept in doubt")?;
    standing.change(
        connection,
        "UPDATE job SET due = ?3, absent_reads = ?4, looks = looks + 1, message = ?5 WHERE id = ?1 AND state = ?2",
        &[&until, &absent_reads, &note],
    )?;
    Ok(vec![standing.moved(InDoubt)])
}

/// in doubt → ready. What the service said it carried out is never released: it would be made twice. What is certain
/// not to be there was never sent, whatever the journal may not know. Of what was refused meanwhile no earlier request is
/// carried out any more, so that a refusal counts from now on.
pub(in crate::journal) fn release(connection: &Connection, job: JobId, note: &str) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[InDoubt], "released")?;
    if standing.executed {
        return Err(Error::internal(format!(
            "job {job} was carried out according to the service, so it must not be sent again"
        )));
    }
    let is_over: bool = connection
        .prepare_cached("SELECT absent_reads > 0 OR doubt IS ?2 FROM job WHERE id = ?1")?
        .query_row((job, Doubt::Refused), |row| row.get(0))?;
    if is_over {
        step::was_not_made_as_sent(connection, job)?;
    }
    standing.change(
        connection,
        "UPDATE job SET state = 'ready', due = NULL, doubt = NULL, doubt_since = NULL, absent_reads = 0, looks = 0,
            unsure = 0, doubted = doubted AND doubt IS NOT ?4, code = NULL, message = ?3
         WHERE id = ?1 AND state = ?2",
        &[&note, &Doubt::Refused],
    )?;
    Ok(vec![standing.moved(Ready)])
}

//! The transitions around doubt: into it, staying in it, out of it, and on hold until a person decides.
//!
//! The rest of the state machine is in `transition`; that a write happens whole or not at all is guarded by `batch`.

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::row_ref;
use crate::journal::state::job_row::{self, Standing};
use crate::journal::state::transition::end_attempt;
use crate::journal::state::write::{Candidate, Evidence, Moved};
use crate::model::id::{JobId, RemoteId};
use crate::model::reason::Reason;
use crate::model::state::JobState::{self, Deferred, Held, InDoubt, Ready, Sending};
use crate::model::time::Moment;
use crate::model::verdict::Doubt;

/// The code of a job held because the id it got belongs to another job.
const ID_OWNED: &str = Reason::IdOwned.as_str();

/// The exclusive claim on a record: the second job to come with the same id is held, and a person looks.
pub(in crate::journal) fn hold_for_owner(
    connection: &Connection,
    standing: &Standing,
    id: RemoteId,
    owner: JobId,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let owner = job_row::of(connection, owner)?;
    let place = row_ref::of_job(connection, owner.job)?;
    let reason = format!(
        "the service answered with the id {id}, which is already that of the {} '{}' ({place})",
        owner.kind.singular(),
        owner.name
    );
    let candidate = Candidate {
        id: Some(id),
        name: Some(owner.name),
        details: format!("job {} in state {}, {place}", owner.job, owner.state),
        difference: "belongs to another row".to_owned(),
    };
    put_on_hold(connection, standing, (ID_OWNED, &reason), &[candidate], evidence)
}

/// sending → in doubt.
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
    standing.change(
        connection,
        "UPDATE job SET state = 'in_doubt', doubted = doubted OR NOT ?3, executed = ?3, doubt = ?4, doubt_since = ?5, due = ?6,
            doubts = doubts + ?8, absent_reads = 0, looks = 0, code = ?4, message = ?7, audit = iif(remote_id IS NULL, NULL, audit)
         WHERE id = ?1 AND state = ?2",
        &[&executed, &doubt, &evidence.at, &until, &doubt.words(), &charged],
    )?;
    Ok(vec![standing.moved(InDoubt)])
}

/// ready or deferred → in doubt, for a job of which this copy of the journal may not know everything.
pub(in crate::journal) fn suspect(
    connection: &Connection,
    job: JobId,
    from: JobState,
    at: Moment,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Ready, Deferred], "suspected")?;
    let doubt = Doubt::JournalBehind;
    standing.change(
        connection,
        "UPDATE job SET state = 'in_doubt', doubted = 1, doubts = doubts + 1, doubt = ?3, doubt_since = ?4, due = ?4,
            absent_reads = 0, looks = 0, code = ?3, message = ?5, audit = iif(remote_id IS NULL, NULL, audit)
         WHERE id = ?1 AND state = ?2",
        &[&doubt, &at, &doubt.words()],
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

/// in doubt → ready. What the service said it carried out is never let go: it would be made twice. What is certain
/// not to be there was never sent, whatever the journal may not know.
pub(in crate::journal) fn let_go(connection: &Connection, job: JobId, note: &str) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[InDoubt], "let go")?;
    if standing.executed {
        return Err(Error::internal(format!(
            "job {job} was carried out according to the service, so it must not be sent again"
        )));
    }
    standing.change(
        connection,
        "UPDATE job SET state = 'ready', due = NULL, doubt = NULL, doubt_since = NULL, absent_reads = 0, looks = 0,
            unsure = 0, code = NULL, message = ?3
         WHERE id = ?1 AND state = ?2",
        &[&note],
    )?;
    Ok(vec![standing.moved(Ready)])
}

/// ready, deferred, sending or in doubt → held.
pub(in crate::journal) fn hold(
    connection: &Connection,
    job: JobId,
    from: JobState,
    why: (&str, &str),
    candidates: &[Candidate],
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Ready, Deferred, Sending, InDoubt], "put on hold")?;
    put_on_hold(connection, &standing, why, candidates, evidence)
}

/// Holds a job; the guard is the caller's.
pub(in crate::journal) fn put_on_hold(
    connection: &Connection,
    standing: &Standing,
    (code, reason): (&str, &str),
    candidates: &[Candidate],
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    end_attempt(connection, standing, evidence)?;
    let candidates = match candidates {
        [] => None,
        candidates => Some(serde_json::to_string(candidates).map_err(unwritable)?),
    };
    standing.change(
        connection,
        "UPDATE job SET state = 'held', held_since = ?3, code = ?4, message = ?5, candidates = ?6, due = NULL
         WHERE id = ?1 AND state = ?2",
        &[&evidence.at, &code, &reason, &candidates],
    )?;
    Ok(vec![standing.moved(Held)])
}

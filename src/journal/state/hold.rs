//! The transitions into the state on hold, until a person decides; and the exclusive claim on a record, which leads there.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::row_ref;
use crate::journal::state::attempt::end_attempt;
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::write::{Candidate, Evidence, Moved};
use crate::model::id::{JobId, RemoteId};
use crate::model::reason::Reason;
use crate::model::state::JobState::{self, Deferred, Held, InDoubt, Ready, Sending};

/// The code of a job held because the id it got belongs to another job.
const ID_OWNED: &str = Reason::IdOwned.as_str();

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
    standing: &JobRow,
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

/// The job that owns a record of the service, whatever its kind: ids are never given twice.
pub(in crate::journal) fn owner_of(connection: &Connection, id: RemoteId) -> Result<Option<JobId>> {
    let mut statement = connection.prepare_cached("SELECT id FROM job WHERE remote_id = ?1")?;
    let mut rows = statement.query([Id(id)])?;
    match rows.next()? {
        Some(row) => Ok(Some(row.get(0)?)),
        None => Ok(None),
    }
}

/// The exclusive claim on a record: the second job to come with the same id is held, and a person looks.
pub(in crate::journal) fn hold_for_owner(
    connection: &Connection,
    standing: &JobRow,
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

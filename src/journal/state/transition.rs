//! The state machine on disk: one function per write, each guarded by the states it may leave.
//!
//! What a transition does to other jobs is in `dependents`, what leads into doubt and out of it in `doubt`. Which write is
//! carried out by which function, and in which transaction, is in `batch`.

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::state::attempt::end_attempt;
use crate::journal::state::dependents::{changed_record, record_order};
use crate::journal::state::hold::{hold_for_owner, owner_of};
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::quota;
use crate::journal::state::write::{Evidence, How, Moved};
use crate::journal::state::{audit, baseline, dependents, import_turn, step};
use crate::model::action::before::Before;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::state::JobState::{
    self, Blocked, Deferred, Done, Existing, Held, InDoubt, Incomplete, Ready, Rejected, Sending,
};
use crate::model::time::{Day, Moment};
use crate::model::verdict::Rejection;

/// ready or deferred → sending.
pub(in crate::journal) fn claim(
    connection: &Connection,
    job: JobId,
    (operation, content): (Operation, Option<ContentHash>),
    (seen, before): (Option<&[RemoteId]>, Option<&Before>),
    counted: Option<Day>,
    at: Moment,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[Ready, Deferred], "claimed")?;
    if standing.operation != operation {
        return Err(Error::internal(format!(
            "job {job} cannot be claimed for {operation}: it stands at {}",
            standing.operation
        )));
    }
    content.map_or(Ok(()), |content| standing.has_values(content))?;
    import_turn::refuse_paused(connection, job)?;
    let baseline = baseline::at_claim(connection, &standing, seen)?;
    standing.change(
        connection,
        "UPDATE job SET state = 'sending', due = NULL, code = NULL, message = NULL,
            attempts = attempts + 1, first_sent_at = coalesce(first_sent_at, ?3), baseline = ?4
         WHERE id = ?1 AND state = ?2",
        &[&at, &baseline],
    )?;
    step::keep_before(connection, &standing, before)?;
    connection
        .prepare_cached(
            "INSERT INTO attempt (job, number, step, operation, sent_at, import, counted)
             VALUES (?1, ?2, ?3, ?4, ?5, (SELECT max(id) FROM import), ?6)",
        )?
        .execute((job, standing.attempts + 1, standing.step, operation, at, counted))?;
    if let Some(day) = counted {
        quota::begin(connection, day)?;
    }
    Ok(vec![standing.moved(Sending)])
}

/// The step is done → ready at the next one, or the final state.
pub(in crate::journal) fn advance(
    connection: &Connection,
    job: JobId,
    from: JobState,
    how: How,
    id: Option<RemoteId>,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Sending, InDoubt, Ready, Deferred, Held], "advanced")?;
    finish_step(connection, &standing, how, id, evidence)
}

/// Ends the step a job stands at; the guard is the caller's.
pub(in crate::journal) fn finish_step(
    connection: &Connection,
    standing: &JobRow,
    how: How,
    id: Option<RemoteId>,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let job = standing.job;
    // The record that the job comes by at this step.
    let made = match (standing.remote_id, id) {
        (Some(known), Some(given)) if known != given => {
            return Err(Error::internal(format!("job {job} made the record {known}, not {given}")));
        }
        (Some(_), _) => None,
        (None, id) if !standing.operation.creates() => {
            if let Some(given) = id {
                return Err(Error::internal(format!("job {job} makes no record, not {given} either")));
            }
            None
        }
        (None, Some(given)) => Some(given),
        (None, None) => {
            return Err(Error::internal(format!("job {job} cannot be done without the id of its record")));
        }
    };
    if let Some(id) = made
        && let Some(owner) = owner_of(connection, id)?
    {
        return hold_for_owner(connection, standing, id, owner, evidence);
    }
    end_attempt(connection, standing, evidence)?;
    if standing.state != Sending && matches!(how, How::Created | How::Adopted | How::Done) {
        quota::found(connection, standing)?;
    }
    let outcome = match standing.outcome {
        // A row of several changes is done once one of them was carried out.
        Some(Existing) if standing.step > 0 && !standing.kind.is_record() => how.outcome(),
        Some(outcome) if standing.step > 0 => outcome,
        Some(_) | None => how.outcome(),
    };
    // Of the first request of a job nothing was sent before.
    let is_first = standing.state == Sending && standing.attempts == 1 && !standing.doubted;
    match how {
        _ if made.is_none() || is_first => {}
        How::Adopted => step::was_made_as_sent(connection, job)?,
        How::Created | How::Existing | How::Done => step::was_not_made_as_sent(connection, job)?,
    }
    step::end(connection, job, standing.step)?;
    let next = step::next(connection, job)?;
    // Where the row ends with it and nothing was sent, the note says so.
    if let Some(left) = evidence.left.as_ref().filter(|_| next.is_some() || how == How::Done) {
        step::keep_before(connection, standing, Some(left))?;
    }
    let (to, step, operation) = match next {
        Some((step, operation)) => (Ready, step, operation),
        None => (outcome, standing.step, standing.operation),
    };
    let finished_at = next.is_none().then_some(evidence.at);
    // Of what was so already, what was seen that is worth saying.
    let note = (how == How::Existing && standing.state != Sending).then_some(());
    // Where nothing was sent for an earlier step either, what was seen then is still worth saying.
    let is_second = note.is_some() && evidence.code.is_none() && standing.step > 0;
    let kept_code = is_second.then_some(Reason::ChangedSinceExport.as_str());
    // What was made is read back at the end of a run, against what the creation was sent with; so is what was changed.
    let is_change = !standing.kind.is_record();
    let is_due = match is_change {
        true => next.is_none() && outcome == Done,
        false => made.is_some() && matches!(how, How::Created | How::Adopted),
    };
    standing.change(
        connection,
        "UPDATE job SET state = ?3, step = ?4, operation = ?5, remote_id = ?6, outcome = ?7, finished_at = ?8,
            due = NULL, deaths = 0, first_sent_at = NULL, baseline = NULL,
            doubted = 0, doubts = 0, executed = 0, doubt = NULL, doubt_since = NULL, absent_reads = 0, looks = 0,
            held_since = NULL, code = iif(code = ?14, code, ?11), message = iif(code = ?14, message, ?12),
            violations = NULL, candidates = NULL,
            audit = iif(?9, 'due', audit), made_baseline = iif(?9, baseline, made_baseline),
            made_doubted = CASE WHEN ?13 THEN made_doubted OR doubted
                WHEN ?9 THEN doubted OR ?10 ELSE made_doubted END
         WHERE id = ?1 AND state = ?2",
        &[
            &to,
            &step,
            &operation,
            &standing.remote_id.or(made).map(Id),
            &outcome,
            &finished_at,
            &is_due,
            &(how == How::Adopted),
            &note.and(evidence.code.as_ref()),
            &note.and(evidence.excerpt.as_ref()),
            &is_change,
            &kept_code,
        ],
    )?;
    changed_record::note(connection, job, standing.kind, standing.step)?;
    if !standing.operation.creates() {
        audit::forget_changed_again(connection, job, standing.step)?;
    }
    let mut moved = vec![Moved { job, kind: standing.kind, from: standing.state, to, operation }];
    if made.is_some() {
        let made_now = how == How::Created && standing.state == Sending;
        moved.extend(dependents::release_children(connection, job, made_now)?);
    }
    // What waits for a record that is finished as it is made was released with the other children.
    if finished_at.is_some() && made.is_none() {
        moved.extend(record_order::keep_after(connection, [job])?);
    }
    Ok(moved)
}

/// sending, ready, deferred or in doubt → rejected, and what is blocked below it → skipped. Once a step was carried out →
/// incomplete: what is below a record that is there goes on.
pub(in crate::journal) fn reject(
    connection: &Connection,
    job: JobId,
    from: JobState,
    rejection: &Rejection,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Sending, Ready, Deferred, InDoubt], "rejected")?;
    let mut moved = vec![reject_row(connection, &standing, rejection, evidence)?];
    moved.extend(dependents::skip_below(connection, &standing, dependents::PARENT_REJECTED, evidence.at)?);
    moved.extend(record_order::keep_after(connection, [job])?);
    Ok(moved)
}

/// ready, deferred or blocked → rejected, of rows that were never sent; then what is blocked below them → skipped. A row that is
/// below another one of them has its own reason.
pub(in crate::journal) fn reject_unsent(
    connection: &Connection,
    rejections: &[(JobId, Rejection)],
    at: Moment,
) -> Result<()> {
    let mut rejected = Vec::with_capacity(rejections.len());
    for (job, rejection) in rejections {
        let standing = job_row::of(connection, *job)?;
        standing.leaves(&[Ready, Deferred, Blocked], "rejected")?;
        reject_row(connection, &standing, rejection, &Evidence::at(at))?;
        rejected.push(standing);
    }
    for standing in &rejected {
        dependents::skip_below(connection, standing, dependents::PARENT_REJECTED, at)?;
    }
    record_order::keep_after(connection, rejected.iter().map(|standing| standing.job))?;
    Ok(())
}

/// Rejects a row itself; the guard, and what it means for others, is the caller's.
fn reject_row(
    connection: &Connection,
    standing: &JobRow,
    rejection: &Rejection,
    evidence: &Evidence,
) -> Result<Moved> {
    let to = if standing.outcome.is_some() { Incomplete } else { Rejected };
    // The steps of an upkeep row that were carried out before this one.
    let is_due = !standing.kind.is_record() && standing.outcome == Some(Done);
    end_attempt(connection, standing, evidence)?;
    let violations = match rejection.violations.as_slice() {
        [] => None,
        violations => Some(serde_json::to_string(violations).map_err(unwritable)?),
    };
    standing.change(
        connection,
        "UPDATE job SET state = ?7, code = ?3, message = ?4, violations = ?5, finished_at = ?6, due = NULL,
            audit = iif(?8, 'due', audit)
         WHERE id = ?1 AND state = ?2",
        &[&rejection.code, &rejection.message, &violations, &evidence.at, &to, &is_due],
    )?;
    Ok(standing.moved(to))
}

/// sending → deferred.
pub(in crate::journal) fn defer(
    connection: &Connection,
    job: JobId,
    until: Moment,
    (code, reason): (&str, &str),
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[Sending], "deferred")?;
    end_attempt(connection, &standing, evidence)?;
    standing.change(
        connection,
        "UPDATE job SET state = 'deferred', due = ?3, code = ?4, message = ?5
         WHERE id = ?1 AND state = ?2",
        &[&until, &code, &reason],
    )?;
    Ok(vec![standing.moved(Deferred)])
}

/// sending → ready.
pub(in crate::journal) fn give_back(
    connection: &Connection,
    job: JobId,
    (code, reason): (&str, &str),
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves(&[Sending], "given back")?;
    end_attempt(connection, &standing, evidence)?;
    standing.change(
        connection,
        "UPDATE job SET state = 'ready', due = NULL, code = ?3, message = ?4 WHERE id = ?1 AND state = ?2",
        &[&code, &reason],
    )?;
    Ok(vec![standing.moved(Ready)])
}

/// ready or deferred → existing, without any of its steps.
pub(in crate::journal) fn leave(
    connection: &Connection,
    job: JobId,
    from: JobState,
    id: RemoteId,
    evidence: &Evidence,
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Ready, Deferred], "left as it is")?;
    // Before the steps are: a row that is held instead still wants them.
    if standing.remote_id.is_none()
        && let Some(owner) = owner_of(connection, id)?
    {
        return hold_for_owner(connection, &standing, id, owner, evidence);
    }
    step::skip(connection, job)?;
    finish_step(connection, &standing, How::Existing, Some(id), evidence)
}

/// ready or deferred → deferred.
pub(in crate::journal) fn postpone(
    connection: &Connection,
    job: JobId,
    from: JobState,
    until: Moment,
    (code, reason): (&str, &str),
) -> Result<Vec<Moved>> {
    let standing = job_row::of(connection, job)?;
    standing.leaves_as(from, &[Ready, Deferred], "postponed")?;
    standing.change(
        connection,
        "UPDATE job SET state = 'deferred', due = ?3, code = ?4, message = ?5 WHERE id = ?1 AND state = ?2",
        &[&until, &code, &reason],
    )?;
    Ok(vec![standing.moved(Deferred)])
}

#[cfg(test)]
mod tests;

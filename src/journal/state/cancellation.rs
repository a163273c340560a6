//! Cancelling a job: at once, or, where a request of it is under way or its outcome is unknown, as soon as it would be sent
//! again. What was carried out by then stays.

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::journal::state::dependents::{self, record_order};
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::write::Moved;
use crate::model::id::JobId;
use crate::model::reason::Reason;
use crate::model::state::JobState::{
    self, Blocked, Cancelled, Created, Deferred, Held, InDoubt, Incomplete, Ready, Rejected, Skipped,
};
use crate::model::time::Moment;
use crate::model::verdict::Doubt;

/// Notes that a job of which a request is under way, or in doubt, is to be sent no more.
pub(in crate::journal) fn ask(connection: &Connection, job: JobId, who: &str) -> Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO cancellation (job, who) VALUES (?1, ?2)")?
        .execute((job, who))?;
    Ok(())
}

/// The job is wanted again.
pub(in crate::journal) fn forget(connection: &Connection, job: JobId) -> Result<()> {
    connection.prepare_cached("DELETE FROM cancellation WHERE job = ?1")?.execute([job])?;
    Ok(())
}

/// Cancels a job that a write or a decision has `moved` to where it would be sent again, now or once what it belongs to is made,
/// if that was asked for meanwhile.
pub(in crate::journal) fn instead_of_sending(
    connection: &Connection,
    mut moved: Vec<Moved>,
    at: Moment,
) -> Result<Vec<Moved>> {
    let open = [Blocked, Ready, Deferred, Skipped];
    let Some(first) = moved.first_mut().filter(|first| open.contains(&first.to)) else { return Ok(moved) };
    let who: Option<String> = connection
        .prepare_cached("SELECT who FROM cancellation WHERE job = ?1")?
        .query_row([first.job], |row| row.get(0))
        .optional()?;
    let Some(who) = who else { return Ok(moved) };
    let standing = job_row::of(connection, first.job)?;
    first.to = Cancelled;
    let below = abandon(connection, &standing, &who, at)?;
    moved.extend(below.into_iter().skip(1));
    Ok(moved)
}

/// Whether a job was cancelled at this step while the outcome of a request of it, with this natural key, was unknown.
pub(in crate::journal) fn is_in_doubt(
    connection: &Connection,
    job: JobId,
    natural_key: &str,
    step: u32,
) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT state = 'cancelled' AND doubt IS NOT NULL AND natural_key = ?2 AND step = ?3 FROM job WHERE id = ?1",
        )?
        .query_row((job, natural_key, step), |row| row.get(0))?)
}

/// → cancelled, with what is blocked below it; the job itself comes first.
pub(in crate::journal) fn abandon(
    connection: &Connection,
    standing: &JobRow,
    who: &str,
    at: Moment,
) -> Result<Vec<Moved>> {
    let mut moved = vec![give_up(connection, standing, who, at)?];
    moved.extend(dependents::skip_below(connection, standing, dependents::PARENT_CANCELLED, at)?);
    moved.extend(record_order::keep_after(connection, [standing.job])?);
    Ok(moved)
}

/// → cancelled. Whether a request of it was carried out may be unknown for good.
pub(in crate::journal) fn give_up(
    connection: &Connection,
    standing: &JobRow,
    who: &str,
    at: Moment,
) -> Result<Moved> {
    let cancellable = [Blocked, Ready, Deferred, Held, InDoubt, Rejected, Incomplete, Skipped];
    standing.leaves(&cancellable, JobState::Cancelled.as_str())?;
    let mut message = format!("cancelled by {who}");
    if let Some(id) = standing.remote_id {
        // Whether it is there still is for verification to say.
        let how = if standing.outcome == Some(Created) { "created" } else { "found" };
        message.push_str(&format!("; the {} was {how} with the id {id}", standing.kind.singular()));
    }
    if is_unsure(connection, standing.job)? {
        message.push_str("; it may have been sent before, of which this copy of the journal knows nothing");
    }
    if standing.state.is_failed() || standing.state == Skipped {
        let why: Option<String> = connection
            .prepare_cached("SELECT message FROM job WHERE id = ?1")?
            .query_row([standing.job], |row| row.get(0))?;
        message.push_str(&format!("; before that it was {}", standing.state));
        if let Some(why) = why {
            message.push_str(&format!(": {why}"));
        }
    }
    standing.change(
        connection,
        // What may have been carried out is in doubt for the case that the row comes again (`is_in_doubt`).
        "UPDATE job SET state = 'cancelled', finished_at = ?3, code = ?5, message = ?4, due = NULL,
            doubt = CASE WHEN ?6 AND first_sent_at IS NOT NULL THEN coalesce(doubt, ?7) WHEN ?6 OR executed THEN doubt END,
            doubt_since = CASE WHEN ?6 AND first_sent_at IS NOT NULL THEN coalesce(doubt_since, ?3)
                WHEN ?6 OR executed THEN doubt_since END
         WHERE id = ?1 AND state = ?2",
        &[
            &at,
            &message,
            &Reason::Cancelled.as_str(),
            &[Held, InDoubt].contains(&standing.state),
            // Of a row on hold that was in no doubt, the answer was one that cannot be.
            &Doubt::Unreadable,
        ],
    )?;
    forget(connection, standing.job)?;
    Ok(standing.moved(Cancelled))
}

/// Whether the job may have been sent by a newer copy of the journal, and was not looked up since.
fn is_unsure(connection: &Connection, job: JobId) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT unsure FROM job WHERE id = ?1")?
        .query_row([job], |row| row.get(0))?)
}

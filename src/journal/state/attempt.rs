//! The end of the attempt under way, with what it counts for in the quota ledger.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::state::job_row::JobRow;
use crate::journal::state::quota;
use crate::journal::state::write::Evidence;
use crate::model::state::JobState::Sending;

/// Ends the attempt under way, and what it counts for in the quota ledger, when there is one: only a job that is sending
/// has one.
pub(in crate::journal) fn end_attempt(
    connection: &Connection,
    standing: &JobRow,
    evidence: &Evidence,
) -> Result<()> {
    if standing.state != Sending {
        return Ok(());
    }
    let ended = connection
        .prepare_cached(
            "UPDATE attempt SET ended_at = ?3, execution = ?4, status = ?5, code = ?6, excerpt = ?7
             WHERE job = ?1 AND number = ?2 AND ended_at IS NULL",
        )?
        .execute((
            standing.job,
            standing.attempts,
            evidence.at,
            evidence.execution,
            evidence.status,
            &evidence.code,
            &evidence.excerpt,
        ))?;
    match ended {
        0 => Ok(()),
        _ => quota::end_attempt(connection, standing, evidence.execution),
    }
}

//! The steps of a job: what it is to bring about, one action after the other, each as JSON with its operation beside it.
//!
//! The number of a step is job * 2^16 + n, so that those of a job lie together and in order.

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::state::job_row::JobRow;
use crate::model::action::Action;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// Adds a step: its job, its number, its operation, its action, its state.
pub(in crate::journal) const ADD_STEP: &str =
    "INSERT INTO step (id, job, n, operation, action, state) VALUES (?1 << 16 | ?2, ?1, ?2, ?3, ?4, ?5)";

/// The operation that carries out an action for rows of a kind.
pub(in crate::journal) fn operation_of(kind: Kind, action: &Action) -> Result<Operation> {
    action.operation(kind).ok_or_else(|| {
        Error::internal(format!("the service has no operation for this of a {}: {action:?}", kind.singular()))
    })
}

/// Replaces the steps of a job; one that was done and is asked for unchanged stays done, and so does a creation that made
/// its record. Returns the operation of the first one.
pub(in crate::journal) fn revise(
    connection: &Connection,
    standing: &JobRow,
    steps: &[Action],
) -> Result<Operation> {
    let mut done: Vec<String> = connection
        .prepare_cached(
            "SELECT action FROM step WHERE id BETWEEN ?1 << 16 AND (?1 << 16) + 65535 AND state = 'done'",
        )?
        .query_map([standing.job], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    connection
        .prepare_cached("DELETE FROM step WHERE id BETWEEN ?1 << 16 AND (?1 << 16) + 65535")?
        .execute([standing.job])?;
    let mut first = None;
    let mut add = connection.prepare_cached(ADD_STEP)?;
    for (action, n) in steps.iter().zip(0_u32..) {
        let text = serde_json::to_string(action).map_err(unwritable)?;
        let is_done = match done.iter().position(|known| *known == text) {
            Some(found) => {
                done.swap_remove(found);
                true
            }
            None => action.record().is_some() && standing.remote_id.is_some(),
        };
        let operation = operation_of(standing.kind, action)?;
        first = first.or(Some(operation));
        add.execute((standing.job, n, operation, &text, if is_done { "done" } else { "waiting" }))?;
    }
    first.ok_or_else(|| Error::internal("a job without a step"))
}

/// The first step that is not done yet.
pub(in crate::journal) fn next(connection: &Connection, job: JobId) -> Result<Option<(u32, Operation)>> {
    let mut statement = connection.prepare_cached(
        "SELECT n, operation FROM step WHERE id BETWEEN ?1 << 16 AND (?1 << 16) + 65535 AND state = 'waiting' ORDER BY id LIMIT 1",
    )?;
    let mut rows = statement.query([job])?;
    match rows.next()? {
        Some(row) => Ok(Some((row.get(0)?, row.get(1)?))),
        None => Ok(None),
    }
}

/// An action as the journal keeps it.
pub(in crate::journal) fn parse_action(text: &str) -> Result<Action> {
    serde_json::from_str(text).map_err(|error| damaged("a step", error))
}

/// The actions that a statement finds for a job.
pub(in crate::journal) fn read_actions(
    connection: &Connection,
    sql: &str,
    job: JobId,
) -> Result<Vec<Action>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([job])?;
    let mut actions = Vec::new();
    while let Some(row) = rows.next()? {
        actions.push(parse_action(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
    }
    Ok(actions)
}

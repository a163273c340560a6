//! The steps of a job: what it is to bring about, one action after the other, each as JSON with its operation beside it.
//!
//! The number of a step is job * 2^16 + n, so that those of a job lie together and in order. Those from [`FORMER`] on are no part
//! of what the job is to bring about: they were carried out for earlier values of an upkeep row.

use rusqlite::{Connection, OptionalExtension, Row};

use crate::error::{Error, Result};
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::state::job_row::JobRow;
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::model::action::Action;
use crate::model::action::before::Before;
use crate::model::content_hash::ContentHash;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;

/// The `n` of the first step that was carried out before the row got other values; the requests for it have that number as well.
pub(in crate::journal) const FORMER: u32 = 1 << 15;

/// The condition that a step of the job `?1` was carried out: it is done, and where `?3` is false a request that was, or may have
/// been, carried out was sent for it since the import `?2`. Or it is open, was carried out since, and a person had it carried out
/// again, for which nothing has been sent yet: the last request was confirmed, and the first decision after that was to try again.
/// What was read before that request is still with the step.
macro_rules! carried_out {
    () => {
        "(ended = 1
             AND (?3 AND n < 32768 OR EXISTS (SELECT 1 FROM attempt WHERE attempt.job = ?1 AND attempt.step = step.n
                 AND attempt.execution IN ('confirmed', 'doubtful') AND attempt.import >= ?2))
             OR ended = 0 AND EXISTS (
                 SELECT 1 FROM attempt AS last
                 WHERE last.job = ?1 AND last.step = step.n AND last.execution = 'confirmed' AND last.import >= ?2
                   AND NOT EXISTS (SELECT 1 FROM attempt AS later
                       WHERE later.job = ?1 AND later.step = step.n AND later.number > last.number)
                   AND (SELECT what FROM decision WHERE decision.job = ?1 AND decision.at >= last.ended_at AND what <> 'seen'
                        ORDER BY decision.id LIMIT 1) = 'retry'))"
    };
}
pub(in crate::journal) use carried_out;

/// The condition that a step is one of the job `?1`, without the former ones.
macro_rules! own_steps {
    () => {
        "id BETWEEN ?1 << 16 AND (?1 << 16) + 32767"
    };
}
pub(in crate::journal) use own_steps;

/// A statement about the steps of the job `?1`, without the former ones.
macro_rules! of_job {
    // Their actions, as they are stored.
    ($after:literal) => {
        of_job!(concat!("SELECT ", stored_action!("step"), " FROM step WHERE "), $after)
    };
    ($before:expr, $after:literal) => {
        concat!($before, own_steps!(), $after)
    };
}

/// Adds a step: its job, its number, its operation, its action, whether it is done; its shape and the place of its row, or neither.
pub(in crate::journal) const ADD_STEP: &str = "INSERT INTO step (id, operation, action, ended, shape, place) VALUES (?1 << 16 | ?2, ?3, ?4, ?5, ?6, ?7)";

/// The operation that carries out an action for rows of a kind.
pub(in crate::journal) fn operation_of(kind: Kind, action: &Action) -> Result<Operation> {
    action.operation(kind).ok_or_else(|| {
        Error::internal(format!("the service has no operation for this of a {}: {action:?}", kind.singular()))
    })
}

/// Replaces the steps of a job, which has this natural key from now on; one that was done and is asked for unchanged stays
/// done, and so does a creation that made its record. What an upkeep row asks for is to be done again, whatever was done; what was
/// carried out of it so far stays known ([`FORMER`]). What was read before a step that is not done stays with it if the step asks
/// for the same, or if an earlier request for it may still be carried out; with a creation of which that may be stays what that
/// request was sent with. Returns the operation of the first one.
pub(in crate::journal) fn revise(
    connection: &Connection,
    standing: &JobRow,
    (natural_key, steps): (&str, &[Action]),
) -> Result<Operation> {
    if !standing.kind.is_record() {
        keep_carried_out(connection, standing.job)?;
    }
    let mut done = written_actions(connection, of_job!(" AND ended = 1"), standing.job)?;
    let read_before = read_before(connection, standing.job)?;
    let own = steps.first().map(serde_json::to_string).transpose().map_err(unwritable)?;
    let sent = sent_before(connection, standing, natural_key)?;
    if sent.is_none() || sent == own {
        was_not_made_as_sent(connection, standing.job)?;
    }
    connection.prepare_cached(of_job!("DELETE FROM step WHERE ", ""))?.execute([standing.job])?;
    let mut first = None;
    let mut texts = Vec::with_capacity(steps.len());
    let mut add = connection.prepare_cached(ADD_STEP)?;
    for (action, n) in steps.iter().zip(0_u32..) {
        let text = serde_json::to_string(action).map_err(unwritable)?;
        let is_done = match done.iter().position(|known| standing.kind.is_record() && *known == text) {
            Some(found) => {
                done.swap_remove(found);
                true
            }
            None => action.record().is_some() && standing.remote_id.is_some(),
        };
        let operation = operation_of(standing.kind, action)?;
        first = first.or(Some(operation));
        add.execute((standing.job, n, operation, &text, is_done, None::<i64>, None::<i64>))?;
        texts.push(text);
    }
    for (n, asked, before) in read_before {
        let asks_for_the_same = texts.get(n as usize) == Some(&asked);
        if asks_for_the_same || is_doubted(connection, standing, natural_key, n)? {
            connection
                .prepare_cached("UPDATE step SET before = ?3 WHERE id = ?1 << 16 | ?2 AND ended = 0")?
                .execute((standing.job, n, &before))?;
        }
    }
    if let Some(sent) = sent {
        connection
            .prepare_cached("UPDATE step SET sent = ?2 WHERE id = ?1 << 16")?
            .execute((standing.job, &sent))?;
    }
    first.ok_or_else(|| Error::internal("a job without a step"))
}

/// Puts the steps of an upkeep job that were carried out behind those that its row asks for, which is to get other values.
fn keep_carried_out(connection: &Connection, job: JobId) -> Result<()> {
    let carried_out: Vec<u32> = connection
        .prepare_cached(of_job!(
            concat!("SELECT n FROM step WHERE ", carried_out!(), " AND "),
            " ORDER BY id"
        ))?
        .query_map((job, 0, false), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let free: u32 = connection
        .prepare_cached("SELECT max(?2, coalesce(max(n) + 1, 0)) FROM step WHERE id BETWEEN ?1 << 16 AND ?1 << 16 | 65535")?
        .query_row((job, FORMER), |row| row.get(0))?;
    for (n, former) in carried_out.into_iter().zip(free..=u32::from(u16::MAX)) {
        connection
            .prepare_cached("UPDATE step SET id = ?1 << 16 | ?3, ended = 1 WHERE id = ?1 << 16 | ?2")?
            .execute((job, n, former))?;
        connection
            .prepare_cached("UPDATE attempt SET step = ?3 WHERE job = ?1 AND step = ?2")?
            .execute((job, n, former))?;
    }
    Ok(())
}

/// Keeps what a request for the creation of a job was sent with that may have been carried out, unless that of an earlier one
/// is kept.
pub(in crate::journal) fn keep_sent(connection: &Connection, job: JobId) -> Result<()> {
    let own = own_creation(connection, job)?;
    connection
        .prepare_cached("UPDATE step SET sent = coalesce(sent, ?2) WHERE id = ?1 << 16")?
        .execute((job, &own))?;
    Ok(())
}

/// What the creation of a job is to be sent with.
fn own_creation(connection: &Connection, job: JobId) -> Result<Option<String>> {
    Ok(written_actions(connection, of_job!(" AND n = 0"), job)?.pop())
}

/// What the creation of a job was sent with, if that may have been carried out and the job keeps its natural key.
fn sent_before(connection: &Connection, standing: &JobRow, natural_key: &str) -> Result<Option<String>> {
    let kept: Option<(Option<String>, bool)> = connection
        .prepare_cached(
            "SELECT sent, state = 'cancelled' AND doubt IS NOT NULL FROM job JOIN step ON step.id = job.id << 16
             WHERE job.id = ?1 AND remote_id IS NULL AND natural_key = ?2",
        )?
        .query_row((standing.job, natural_key), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match kept {
        Some((Some(sent), _)) => Ok(Some(sent)),
        // On hold, it was in doubt only once it was cancelled.
        Some((None, true)) if standing.kind.is_record() => own_creation(connection, standing.job),
        Some((None, _)) | None => Ok(None),
    }
}

/// What the record of a job may have been made with, where its row was corrected since.
pub(in crate::journal) fn sent(connection: &Connection, job: JobId) -> Result<Option<Action>> {
    sent_otherwise(connection, job)?.map(|sent| parse_action(&sent)).transpose()
}

/// The same, as JSON.
fn sent_otherwise(connection: &Connection, job: JobId) -> Result<Option<String>> {
    let sent: Option<String> = connection
        .prepare_cached("SELECT sent FROM step WHERE id = ?1 << 16")?
        .query_row([job], |row| row.get(0))?;
    Ok(match sent {
        Some(_) if sent == own_creation(connection, job)? => None,
        sent => sent,
    })
}

/// The record that was found for a job was made with what was sent before its row was corrected, if it was: these are its
/// values, and in what its rows differ from them is noted with the rows.
pub(in crate::journal) fn was_made_as_sent(connection: &Connection, job: JobId) -> Result<()> {
    if let Some(sent) = sent_otherwise(connection, job)? {
        connection
            .prepare_cached("UPDATE step SET action = ?2, shape = NULL, place = NULL WHERE id = ?1 << 16")?
            .execute((job, &sent))?;
        // That of no row, so that each is compared value by value.
        connection
            .prepare_cached("UPDATE job SET content_hash = ?2 WHERE id = ?1")?
            .execute((job, ContentHash::OF_NO_ROW))?;
    }
    forget_sent(connection, job)?;
    Ok(())
}

/// What was sent of a job so far was not carried out.
pub(in crate::journal) fn was_not_made_as_sent(connection: &Connection, job: JobId) -> Result<()> {
    if forget_sent(connection, job)? > 0 {
        // The rows that gave it its values, or have them, do not differ from it.
        connection
            .prepare_cached(
                "DELETE FROM difference WHERE place IN
                     (SELECT place FROM sheet_row WHERE job = ?1 AND disposition <> 'changed_since')",
            )?
            .execute([job])?;
    }
    Ok(())
}

/// Forgets what a job was sent with; returns how many steps had it.
fn forget_sent(connection: &Connection, job: JobId) -> Result<usize> {
    Ok(connection
        .prepare_cached("UPDATE step SET sent = NULL WHERE id = ?1 << 16 AND sent IS NOT NULL")?
        .execute([job])?)
}

/// What was read before the steps of a job that are not done, each with the number of the step and what that asks for.
fn read_before(connection: &Connection, job: JobId) -> Result<Vec<(u32, String, String)>> {
    let mut texts = StoredTexts::of(connection);
    let mut statement = connection.prepare_cached(of_job!(
        concat!("SELECT n, before, ", stored_action!("step"), " FROM step WHERE "),
        " AND ended = 0 AND before IS NOT NULL"
    ))?;
    let mut rows = statement.query([job])?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        read.push((row.get(0)?, texts.action_json(text(row, 2)?)?.into_owned(), row.get(1)?));
    }
    Ok(read)
}

/// Whether a job whose steps were replaced stands at the step `n` with the natural key that it had, and an earlier request for
/// that step may still be carried out.
fn is_doubted(connection: &Connection, standing: &JobRow, natural_key: &str, n: u32) -> Result<bool> {
    let is_next = next(connection, standing.job)?.is_some_and(|(next, _)| next == n);
    if !(standing.doubted && standing.step == n && is_next) {
        return Ok(false);
    }
    Ok(connection
        .prepare_cached("SELECT natural_key = ?2 FROM job WHERE id = ?1")?
        .query_row((standing.job, natural_key), |row| row.get(0))?)
}

/// Keeps what the record had before the step that a job stands at, with the claim of that step. What was read before an
/// attempt that may have been carried out stays as it is: a look after it may show what that attempt did.
pub(in crate::journal) fn keep_before(
    connection: &Connection,
    standing: &JobRow,
    before: Option<&Before>,
) -> Result<()> {
    if before.is_none() && standing.attempts == 0 {
        return Ok(());
    }
    let (job, n) = (standing.job, standing.step);
    let merged;
    let before = match standing.doubted {
        false => before,
        true => {
            merged = before_first_request(connection, (job, n), before)?;
            merged.as_ref()
        }
    };
    let before = before.map(serde_json::to_string).transpose().map_err(unwritable)?;
    connection
        .prepare_cached("UPDATE step SET before = ?3 WHERE id = ?1 << 16 | ?2")?
        .execute((job, n, &before))?;
    Ok(())
}

/// What the record had before the first request for a step that may have been carried out, as it was read then, with what the
/// step asks for now; `again` is what was read before this request.
fn before_first_request(
    connection: &Connection,
    (job, n): (JobId, u32),
    again: Option<&Before>,
) -> Result<Option<Before>> {
    let id = job.0 << 16 | i64::from(n);
    let first: Option<String> = connection
        .prepare_cached("SELECT before FROM step WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let Some(first) = parse_before(first.as_deref())? else { return Ok(None) };
    let action = action(connection, &mut StoredTexts::of(connection), id)?;
    Ok(Some(first.kept_for(&action, again)))
}

/// The first step that is not done yet.
pub(in crate::journal) fn next(connection: &Connection, job: JobId) -> Result<Option<(u32, Operation)>> {
    let found = connection
        .prepare_cached(of_job!(
            "SELECT n, operation FROM step WHERE ",
            " AND ended = 0 ORDER BY id LIMIT 1"
        ))?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(found)
}

/// Has all steps of a job done once more. Returns the first one.
pub(in crate::journal) fn restart(connection: &Connection, job: JobId) -> Result<(u32, Operation)> {
    connection
        .prepare_cached(of_job!("UPDATE step SET ended = 0 WHERE ", " AND ended = 1"))?
        .execute([job])?;
    next(connection, job)?.ok_or_else(|| Error::internal("a job without a step"))
}

/// Marks a step as done.
pub(in crate::journal) fn end(connection: &Connection, job: JobId, n: u32) -> Result<()> {
    connection
        .prepare_cached("UPDATE step SET ended = 1 WHERE id = ?1 << 16 | ?2 AND ended = 0")?
        .execute((job, n))?;
    Ok(())
}

/// Marks what is not done as skipped.
pub(in crate::journal) fn skip(connection: &Connection, job: JobId) -> Result<()> {
    connection
        .prepare_cached(of_job!("UPDATE step SET ended = 2 WHERE ", " AND ended = 0"))?
        .execute([job])?;
    Ok(())
}

/// What a job is to bring about.
pub(in crate::journal) fn actions(connection: &Connection, job: JobId) -> Result<Vec<Action>> {
    let actions = written_actions(connection, of_job!(" ORDER BY id"), job)?;
    actions.iter().map(|action| parse_action(action)).collect()
}

/// Actions as JSON.
fn written_actions(connection: &Connection, sql: &str, job: JobId) -> Result<Vec<String>> {
    let mut texts = StoredTexts::of(connection);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([job])?;
    let mut actions = Vec::new();
    while let Some(row) = rows.next()? {
        actions.push(texts.action_json(text(row, 0)?)?.into_owned());
    }
    Ok(actions)
}

/// The action of the step with this number.
pub(in crate::journal) fn action(
    connection: &Connection,
    texts: &mut StoredTexts<'_>,
    id: i64,
) -> Result<Action> {
    let mut statement =
        connection.prepare_cached(concat!("SELECT ", stored_action!("step"), " FROM step WHERE id = ?1"))?;
    let mut rows = statement.query([id])?;
    match rows.next()? {
        Some(row) => texts.action(text(row, 0)?),
        None => Err(damaged("a step", "it is not there")),
    }
}

/// A text in a column, left where it is.
pub(in crate::journal) fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r str>> {
    Ok(row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?)
}

/// What was read before a step, as the journal keeps it.
pub(in crate::journal) fn parse_before(text: Option<&str>) -> Result<Option<Before>> {
    text.map(|text| serde_json::from_str(text).map_err(|error| damaged("what was read before a step", error)))
        .transpose()
}

/// An action as the journal keeps it.
pub(in crate::journal) fn parse_action(text: &str) -> Result<Action> {
    serde_json::from_str(text).map_err(|error| damaged("a step", error))
}

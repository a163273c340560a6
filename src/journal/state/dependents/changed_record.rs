//! What updates have set of the record of another job since that was made. Rows that come later are compared with the record
//! as it is now, and find it by the name that it has now or by one that it had.

use rusqlite::{Connection, OptionalExtension};

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::intake::job_lookup::links;
use crate::journal::state::step;
use crate::journal::stored_row::StoredTexts;
use crate::model::action::Action;
use crate::model::action::before::Before;
use crate::model::action::record_update::FieldValues;
use crate::model::id::JobId;
use crate::model::key::{comparable, natural_key};
use crate::model::kind::Kind;
use crate::model::record::{Link, Record, Role, Target, target_of};

/// Stands before the number of a job, at the end of its natural key, where its own is that of another one: no other natural
/// key of the kind has so many parts.
pub(in crate::journal) const SET_ASIDE: char = '\u{1f}';

/// A step of a job is done: if it updates the record of another job, notes what that record has now, and by which name it is
/// known.
pub(in crate::journal) fn note(connection: &Connection, job: JobId, kind: Kind, step: u32) -> Result<()> {
    let Kind::Upkeep(upkeep) = kind else { return Ok(()) };
    let Some(updated) = upkeep.updated() else { return Ok(()) };
    let Some(fields) = set_by(connection, job, step)? else { return Ok(()) };
    let Some(made_by) = owner(&links(connection, job)?, updated, connection)? else { return Ok(()) };
    let mut all = self::fields(connection, made_by)?;
    all.extend(fields);
    let text = serde_json::to_string(&all).map_err(unwritable)?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO changed_record (job, fields) VALUES (?1, ?2)")?
        .execute((made_by, &text))?;
    name(connection, made_by)
}

/// What updates have set of the record of a job since it was made.
pub(in crate::journal) fn fields(connection: &Connection, job: JobId) -> Result<FieldValues> {
    let text: Option<String> = connection
        .prepare_cached("SELECT fields FROM changed_record WHERE job = ?1")?
        .query_row([job], |row| row.get(0))
        .optional()?;
    text.map_or(Ok(FieldValues::new()), |text| {
        serde_json::from_str(&text).map_err(|error| damaged("what updates have set", error))
    })
}

/// The record that a job creates, as updates have left it.
///
/// # Errors
/// When it creates none.
pub(in crate::journal) fn record_now(connection: &Connection, job: JobId) -> Result<Record> {
    let steps = step::actions(connection, job)?;
    match steps.iter().find_map(Action::record) {
        Some(created) => as_updated(connection, job, created),
        None => Err(Error::internal(format!("job {job} creates no record"))),
    }
}

/// A record that a job was read to create, as updates have left it.
///
/// # Errors
/// When the journal cannot be read.
pub(in crate::journal) fn as_updated(
    connection: &Connection,
    job: JobId,
    created: &Record,
) -> Result<Record> {
    Ok(created.with_fields(&fields(connection, job)?))
}

/// What a step set, if it is an update: what was asked for, what was sent besides, and what was left as the service has it.
fn set_by(connection: &Connection, job: JobId, n: u32) -> Result<Option<FieldValues>> {
    let id = job.0 << 16 | i64::from(n);
    let Action::Update(update) = step::action(connection, &mut StoredTexts::of(connection), id)? else {
        return Ok(None);
    };
    let before: Option<String> = connection
        .prepare_cached("SELECT before FROM step WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let mut fields = update.fields;
    if let Some(Before::Fields { sent, left, .. }) = step::parse_before(before.as_deref())? {
        fields.extend(left);
        fields.extend(sent);
    }
    Ok(Some(fields))
}

/// The job whose record an upkeep job is about.
fn owner(links: &[Link], updated: Kind, connection: &Connection) -> Result<Option<JobId>> {
    match target_of(links, Role::owner(updated)) {
        Some(Target::Job(job)) => Ok(Some(job)),
        Some(Target::Remote(id)) => Ok(connection
            .prepare_cached("SELECT id FROM job WHERE remote_id = ?1 AND kind = ?2")?
            .query_row((Id(id), updated), |row| row.get(0))
            .optional()?),
        None => Ok(None),
    }
}

/// Gives a job the name that its record has now; the one before stays known.
fn name(connection: &Connection, job: JobId) -> Result<()> {
    let (kind, old_key, old_name): (Kind, String, String) = connection
        .prepare_cached("SELECT kind, natural_key, name FROM job WHERE id = ?1")?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let record = record_now(connection, job)?;
    let (mut key, name) = (natural_key(&record, &links(connection, job)?), comparable(record.name()));
    let other = connection
        .prepare_cached("SELECT id FROM job WHERE natural_key = ?1 AND kind = ?2 AND id <> ?3")?
        .exists((&key, kind, job))?;
    if other {
        key.push(SET_ASIDE);
        key.push_str(&job.to_string());
    }
    if (&key, &name) == (&old_key, &old_name) {
        return Ok(());
    }
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO former_name (job, kind, natural_key, name) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((job, kind, &old_key, &old_name))?;
    connection
        .prepare_cached("UPDATE job SET natural_key = ?2, name = ?3 WHERE id = ?1")?
        .execute((job, &key, &name))?;
    if key == old_key {
        return Ok(());
    }
    // Another record may have been given the name before this one gave it up.
    let waiting = format!("{old_key}{SET_ASIDE}");
    let waiting: Option<JobId> = connection
        .prepare_cached(
            "SELECT id FROM job WHERE natural_key BETWEEN ?1 || '0' AND ?1 || ':' AND kind = ?2
                 AND natural_key = ?1 || id AND remote_id IS NOT NULL",
        )?
        .query_row((&waiting, kind), |row| row.get(0))
        .optional()?;
    match waiting {
        Some(waiting) => self::name(connection, waiting),
        None => Ok(()),
    }
}

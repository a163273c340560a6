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

/// What a step set, if it is an update: what was asked for, and what was left as the service has it.
fn set_by(connection: &Connection, job: JobId, n: u32) -> Result<Option<FieldValues>> {
    let id = job.0 << 16 | i64::from(n);
    let Action::Update(update) = step::action(connection, &mut StoredTexts::of(connection), id)? else {
        return Ok(None);
    };
    let before: Option<String> = connection
        .prepare_cached("SELECT before FROM step WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    let mut fields = update.fields;
    if let Some(Before::Fields { left, .. }) = step::parse_before(before.as_deref())? {
        fields.extend(left);
    }
    Ok(Some(fields))
}

/// The job whose record an upkeep job is about.
pub(in crate::journal) fn owner(
    links: &[Link],
    updated: Kind,
    connection: &Connection,
) -> Result<Option<JobId>> {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::journal::fixture::{apply, at, bench, claim, created, id, rejected, site, state};
    use crate::journal::{Evidence, How, Journal, NewJob, Write};
    use crate::model::action::record_update::RecordUpdate;
    use crate::model::content_hash::ContentHash;
    use crate::model::kind::Upkeep;
    use crate::model::operation::Operation::{AddSite, UpdateSite};
    use crate::model::state::JobState::{self, Done, Existing, Ready, Sending};
    use crate::model::verdict::{Doubt, Execution};

    /// A row that gives the site of a job another name.
    fn rename(made_by: JobId, name: &str) -> NewJob {
        let fields = FieldValues::from([("name".to_owned(), json!(name))]);
        let update = RecordUpdate { called: "A".into(), fields, ..RecordUpdate::default() };
        NewJob {
            kind: Kind::Upkeep(Upkeep::SiteUpdates),
            sheet_key: None,
            name: "A".into(),
            natural_key: format!("update of {made_by}"),
            content_hash: ContentHash::of(name),
            links: vec![Link { role: Role::owner(Kind::Site), target: Target::Job(made_by) }],
            steps: vec![Action::Update(update)],
        }
    }

    /// A request for the new name, after the record was read.
    fn claimed(job: JobId, was: &str, now: &str) -> Write {
        let Write::Claim { operation, content, baseline, counted, at, .. } = claim(job, UpdateSite) else {
            unreachable!("it is a claim")
        };
        let name = |value: &str| FieldValues::from([("name".to_owned(), json!(value))]);
        let before = Before::Fields {
            fields: name(was),
            sent: name(now),
            left: FieldValues::new(),
            meanwhile: FieldValues::new(),
        };
        Write::Claim { job, operation, content, baseline, before: Some(before), counted, at }
    }

    fn ended(journal: &mut Journal, job: JobId, from: JobState, how: How) {
        let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(3_000)) };
        apply(journal, Write::Advance { job, from, how, id: None, evidence }).unwrap();
    }

    /// A site named A, and a row that names it B, for which a request has left.
    fn sent() -> (crate::journal::fixture::Bench, JobId, JobId) {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let mut import = journal.begin_import(at(1_000)).unwrap();
        let made_by = import.add_job(&site("A", vec![], vec![])).unwrap();
        import.finish().unwrap();
        apply(journal, claim(made_by, AddSite)).unwrap();
        apply(journal, created(made_by, Sending, id(1))).unwrap();
        let mut import = journal.begin_import(at(1_500)).unwrap();
        let job = import.add_job(&rename(made_by, "B")).unwrap();
        import.finish().unwrap();
        apply(journal, claimed(job, "A", "B")).unwrap();
        (bench, made_by, job)
    }

    fn correct(journal: &mut Journal, job: JobId, values: &NewJob) {
        let mut import = journal.begin_import(at(2_500)).unwrap();
        import.revise_job(job, values).unwrap();
        import.finish().unwrap();
    }

    fn name_of(journal: &Journal, made_by: JobId) -> String {
        record_now(&journal.connection, made_by).unwrap().name().to_owned()
    }

    fn before_of(journal: &Journal, job: JobId) -> Option<Before> {
        let text: Option<String> = journal
            .connection
            .query_row("SELECT before FROM step WHERE id = ?1 << 16", [job], |row| row.get(0))
            .unwrap();
        step::parse_before(text.as_deref()).unwrap()
    }

    fn fields_before(was: &str, now: &str) -> Option<Before> {
        match claimed(JobId(1), was, now) {
            Write::Claim { before, .. } => before,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_corrected_after_a_lost_request_sets_what_it_asks_for_now_in_the_place_of_what_was_there_first() {
        let (mut bench, made_by, job) = sent();
        let journal = &mut bench.journal;
        let (doubt, until, evidence) = (Doubt::Timeout, at(2_200), Evidence::at(at(2_200)));
        apply(journal, Write::Doubt { job, doubt, executed: false, charged: true, until, evidence }).unwrap();
        apply(journal, Write::Release { job, note: "not there".into(), at: at(2_300) }).unwrap();
        correct(journal, job, &rename(made_by, "C"));
        assert_eq!(state(journal, job), Ready);
        // The first request was carried out late.
        apply(journal, claimed(job, "B", "C")).unwrap();
        ended(journal, job, Sending, How::Done);
        assert_eq!(state(journal, job), Done);
        assert_eq!(before_of(journal, job), fields_before("A", "C"));
        assert_eq!(name_of(journal, made_by), "C");
    }

    #[test]
    fn what_was_read_before_a_refused_request_says_nothing_of_a_corrected_row() {
        let (mut bench, made_by, job) = sent();
        let journal = &mut bench.journal;
        apply(journal, rejected(job, Sending)).unwrap();
        correct(journal, job, &rename(made_by, "C"));
        assert_eq!(before_of(journal, job), None);
        // A person has set it in the service meanwhile.
        ended(journal, job, Ready, How::Existing);
        assert_eq!(state(journal, job), Existing);
        assert_eq!(name_of(journal, made_by), "C");
    }
}

//! What an import changed of records that were there: its rows, how each ended, and what was read before they were sent.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::file::column::Id;
use crate::journal::queue::work::links;
use crate::journal::state::step::{self, FORMER, carried_out, parse_before, text};
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::journal::{View, row_ref};
use crate::model::action::before::Before;
use crate::model::action::inverse::{LeftValue, left};
use crate::model::action::{Action, asks_again};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::key;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::model::state::JobState;
use crate::model::time::Moment;

/// A row of an import that sent something, or that is still to.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedRow {
    /// `file!sheet!row`.
    pub place: String,
    /// Its job.
    pub job: JobId,
    /// What the row is.
    pub kind: Kind,
    /// Where its job stands.
    pub state: JobState,
    /// How its record came to be there; of an upkeep row how its first step was done.
    pub outcome: Option<JobState>,
    /// Whether a request whose outcome is not known was sent for the step it stands at.
    pub is_doubted: bool,
    /// The record that it made.
    pub remote_id: Option<RemoteId>,
    /// The records that it refers to.
    pub links: Vec<(Role, RemoteId)>,
    /// The steps that requests of this import carried out, and what was read before each.
    pub done: Vec<DoneStep>,
    /// The first later import that asks for all of it again: it is still to be sent, or what this one sent is known with it only.
    pub asked_again: Option<ImportId>,
    /// What later imports changed of what the steps left ([`left`]), by the number of the step and what it is: the first of them
    /// since it was last as this import left it.
    pub changed_since: BTreeMap<(u32, String), ImportId>,
}

/// A step that was carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct DoneStep {
    /// Its number.
    pub n: u32,
    /// Its operation.
    pub operation: Operation,
    /// What it brought about.
    pub action: Action,
    /// What its record had before, where that was read.
    pub before: Option<Before>,
}

impl View {
    /// Hands the rows of an import to `each`, in order, that the import sent or is still to send; not those that were done
    /// before it, that were as asked, or for which nothing was ever sent.
    pub fn changed_rows(
        &self,
        import: ImportId,
        each: &mut dyn FnMut(ChangedRow) -> Result<()>,
    ) -> Result<()> {
        let (first, last) = row_ref::range_of(&self.connection, import)?;
        let mut statement = self.connection.prepare_cached(
            "SELECT sheet_row.place, job.id, job.kind, job.state, job.outcome, job.doubted, job.remote_id,
                 (SELECT later.import FROM sheet_row AS again JOIN sheet AS later ON later.id = again.place >> 32
                  WHERE again.job = job.id AND again.place > ?2 AND again.disposition = 'revised'
                  ORDER BY again.place LIMIT 1) AS asked_again
             FROM sheet_row JOIN job ON job.id = sheet_row.job
             WHERE sheet_row.place BETWEEN ?1 AND ?2
                 AND sheet_row.disposition IN ('new', 'revised', 'recognised')
                 AND job.last_import >= ?3
             ORDER BY 1",
        )?;
        let mut rows = statement.query((first, last, import))?;
        while let Some(row) = rows.next()? {
            let (place, job): (i64, JobId) = (row.get(0)?, row.get(1)?);
            let (state, is_doubted): (JobState, bool) = (row.get(3)?, row.get(5)?);
            let links = links(&self.connection, job)?.0;
            let sent = done(&self.connection, job, import, false)?;
            let (own, mut later, asked_again) = match row.get::<_, Option<ImportId>>(7)? {
                Some(again) if !was_sent(&self.connection, job, import, again)? => continue,
                Some(again) => {
                    let (own, later): (Vec<_>, Vec<_>) =
                        sent.into_iter().partition(|sent| sent.is_former(again));
                    let is_left_to_it = own.is_empty() || !state.is_final();
                    (
                        own,
                        later_values(&self.connection, (job, &links), later)?,
                        is_left_to_it.then_some(again),
                    )
                }
                None => (sent, Vec::new(), None),
            };
            // What changed nothing leaves nothing to a later row.
            let asked_beside = match own.is_empty() && state.is_final() && !is_doubted {
                true => None,
                false => add_beside(&self.connection, (job, &links), &mut later)?,
            };
            let changed_since = own.iter().flat_map(|own| own.changed_since(&links, &later)).collect();
            each(ChangedRow {
                place: row_ref::written(&self.connection, place)?,
                job,
                kind: row.get(2)?,
                state,
                outcome: row.get(4)?,
                is_doubted,
                remote_id: row.get::<_, Option<Id>>(6)?.map(|id| id.0),
                links,
                done: own.into_iter().map(|own| own.step).collect(),
                asked_again: asked_again.or(asked_beside),
                changed_since,
            })?;
        }
        Ok(())
    }
}

/// A step of another job on the same record, for which a request was, or may have been, carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct LaterChange {
    /// The other job.
    pub job: JobId,
    /// What it brought about.
    pub action: Action,
    /// When the last such request was sent.
    pub at: Moment,
}

/// The condition that `$column` is the natural key `$key`, or that of a job beside the one with it ([`key::beside`]).
macro_rules! is_about_the_same {
    ($column:literal, $key:literal) => {
        concat!(
            "(",
            $column,
            " = ",
            $key,
            " OR ",
            $column,
            " > ",
            $key,
            " || char(31) AND ",
            $column,
            " < ",
            $key,
            " || ' ')"
        )
    };
}

/// What was sent for some other jobs on a record (`$others` selects them) since the job `?1` was carried out, as far as its
/// `$own` steps are concerned, or found the record as asked. What a later import asks for of the same (`?4` as natural keys have
/// it) is later, whatever clocks say, and so is the update of a record that the job makes.
macro_rules! changed_later {
    ($others:expr, $own:literal) => {
        concat!(
            "SELECT other.job, ",
            stored_action!("step"),
            ", max(attempt.sent_at) AS sent_at FROM (",
            $others,
            ") AS other
             CROSS JOIN step ON step.id BETWEEN other.job << 16 AND (other.job << 16) + 65535
             CROSS JOIN attempt ON attempt.job = other.job AND attempt.step = step.n
             WHERE other.job <> ?1
               AND (attempt.execution IS NULL OR attempt.execution IN ('confirmed', 'doubtful'))
               AND ((attempt.sent_at >= (SELECT iif(own.outcome = 'existing', coalesce(own.finished_at, 0), 0)
                       FROM job AS own WHERE own.id = ?1)
                   AND attempt.sent_at >= coalesce((SELECT max(sent_at) FROM attempt AS own
                       WHERE own.job = ?1 AND own.execution IN ('confirmed', 'doubtful')",
            $own,
            "), 0))
                   OR (other.job > ?1 AND EXISTS (SELECT 1 FROM job AS later WHERE later.id = other.job AND ",
            is_about_the_same!("later.natural_key", "?4"),
            ")))
             GROUP BY step.id ORDER BY 3, step.id"
        )
    };
}

/// The jobs about the record `?2`, whose id as text is `?3`.
macro_rules! about_record {
    () => {
        "SELECT job FROM upkeep WHERE record IN (SELECT ?3 UNION SELECT '#' || id FROM job WHERE remote_id = ?2)
         UNION SELECT id AS job FROM job WHERE remote_id = ?2"
    };
}

/// The jobs that make the record `?2` or, with the natural key `?3`, update it, and those with a natural key between `?5` and
/// `?6`.
macro_rules! by_record_rows {
    () => {
        concat!(
            "SELECT id AS job FROM job WHERE ",
            is_about_the_same!("natural_key", "?3"),
            " UNION SELECT id FROM job WHERE remote_id = ?2
             UNION SELECT id FROM job WHERE natural_key > ?5 AND natural_key < ?6"
        )
    };
}

/// Which later changes of a record are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaterScope<'a> {
    /// Those since the job was carried out, or found the record as asked.
    All,
    /// Those since it made or found the record itself, whatever it did to it after that.
    AfterCreation,
    /// Of all only those by the row that makes the record and by those that update it: of many rows about one record none is
    /// looked at, but those about the same label of an interface, which may be named otherwise.
    ByRecordRows {
        /// The text of that label.
        label: Option<&'a str>,
    },
}

/// What other jobs changed of a record since a job; the earliest first.
pub(in crate::journal) fn changed_later(
    connection: &Connection,
    job: JobId,
    record: RemoteId,
    scope: LaterScope<'_>,
) -> Result<Vec<LaterChange>> {
    let sql = match scope {
        LaterScope::All => changed_later!(about_record!(), ""),
        LaterScope::AfterCreation => changed_later!(about_record!(), " AND own.step = 0"),
        LaterScope::ByRecordRows { .. } => changed_later!(by_record_rows!(), ""),
    };
    let (kind, own): (Kind, String) = connection
        .prepare_cached("SELECT kind, natural_key FROM job WHERE id = ?1")?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut statement = connection.prepare_cached(sql)?;
    let same = match kind.is_record() {
        // What is updated was made before.
        true => key::update_of(kind, job),
        false => key::without_number(&own).to_owned(),
    };
    let mut rows = match scope {
        LaterScope::All | LaterScope::AfterCreation => {
            statement.query((job, Id(record), record.to_string(), same))?
        }
        LaterScope::ByRecordRows { label } => {
            let (from, to) = label.map(|label| key::of_label(&own, label)).unwrap_or_default();
            statement.query((job, Id(record), key::of_update(&own), same, from, to))?
        }
    };
    let mut texts = StoredTexts::of(connection);
    let mut later = Vec::new();
    while let Some(row) = rows.next()? {
        let (job, at) = (row.get(0)?, row.get(2)?);
        later.push(LaterChange { job, action: texts.action(text(row, 1)?)?, at });
    }
    Ok(later)
}

/// A step that was carried out, and which import was the newest, and when, as the last request for it was sent that was, or may
/// have been, carried out; nothing where no attempt tells.
struct SentStep {
    step: DoneStep,
    sent: Option<(ImportId, Moment)>,
}

impl SentStep {
    /// Whether it was carried out for values that its row had before this import gave it others.
    fn is_former(&self, until: ImportId) -> bool {
        self.step.n >= FORMER && self.sent.is_some_and(|(import, _)| import < until)
    }

    /// What it has left of its record; the links are those of its job, which may have been others when a former step was sent.
    fn left(&self, links: &[(Role, RemoteId)]) -> Vec<LeftValue> {
        let site = links.iter().find(|(role, _)| *role == Role::Site && self.step.n < FORMER);
        left(&self.step.action, self.step.before.as_ref(), site.map(|(_, id)| *id))
    }

    /// What of it is another value now, after the later steps in their order, and the import that changed it.
    fn changed_since(
        &self,
        links: &[(Role, RemoteId)],
        later: &[LaterValues],
    ) -> Vec<((u32, String), ImportId)> {
        let since = |own: LeftValue| {
            let mut since = None;
            for later in later {
                match later.values.iter().find(|now| now.of == own.of) {
                    Some(now) if now.value == own.value => since = None,
                    Some(_) => since = since.or(Some(later.import)),
                    None => {}
                }
            }
            Some(((self.step.n, own.of), since?))
        };
        self.left(links).into_iter().filter_map(since).collect()
    }
}

/// What a step of a later import has left.
struct LaterValues {
    sent: Option<(ImportId, Moment)>,
    import: ImportId,
    values: Vec<LeftValue>,
}

/// What steps of a job have left, each with the import for whose rows it was sent.
fn later_values(
    connection: &Connection,
    (job, links): (JobId, &[(Role, RemoteId)]),
    steps: Vec<SentStep>,
) -> Result<Vec<LaterValues>> {
    let mut import = connection.prepare_cached(
        "SELECT max(sheet.import) FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
         WHERE sheet_row.job = ?1 AND sheet_row.disposition IN ('new', 'revised') AND (?2 IS NULL OR sheet.import <= ?2)",
    )?;
    let mut later = Vec::new();
    for step in steps {
        let newest = step.sent.map(|(import, _)| import);
        let import: Option<ImportId> = import.query_row((job, newest), |row| row.get(0))?;
        let values = step.left(links);
        later.extend(import.map(|import| LaterValues { sent: step.sent, import, values }));
    }
    Ok(later)
}

/// The jobs after the job `?1` about the same, whose natural key is `?2`, and those that update its record, with `?3`. The plus
/// keeps SQLite from walking all later jobs instead of these few.
const BESIDE: &str = concat!(
    "SELECT id, kind, state, first_import FROM job WHERE +id > ?1 AND (",
    is_about_the_same!("natural_key", "?2"),
    " OR ",
    is_about_the_same!("natural_key", "?3"),
    ") ORDER BY id"
);

/// The jobs after the job `?1` about its record `?2`, whose id as text is `?3`.
const ABOUT_RECORD: &str = concat!(
    "SELECT job.id, job.kind, job.state, job.first_import FROM (",
    about_record!(),
    ") AS about CROSS JOIN job ON job.id = about.job WHERE job.id > ?1 ORDER BY job.id"
);

/// Adds what other jobs were sent with after an upkeep row that may be about the same, and puts all into its order. Returns the
/// first import with one that is still to be sent and asks for all of the row again.
fn add_beside(
    connection: &Connection,
    (job, links): (JobId, &[(Role, RemoteId)]),
    later: &mut Vec<LaterValues>,
) -> Result<Option<ImportId>> {
    let (kind, natural_key): (Kind, String) = connection
        .prepare_cached("SELECT kind, natural_key FROM job WHERE id = ?1")?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if kind.is_record() {
        return Ok(None);
    }
    let own = step::actions(connection, job)?;
    let owner = Role::owner(kind.sheet());
    let record = links.iter().find(|(role, _)| kind.sheet().is_record() && *role == owner);
    let sql = if record.is_some() { ABOUT_RECORD } else { BESIDE };
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = match record {
        Some((_, id)) => statement.query((job, Id(*id), id.to_string()))?,
        None => statement.query((job, key::without_number(&natural_key), key::of_update(&natural_key)))?,
    };
    let mut open = None;
    while let Some(row) = rows.next()? {
        let (other, state): (JobId, JobState) = (row.get(0)?, row.get(2)?);
        let is_open = row.get::<_, Kind>(1)? == kind && !state.is_final();
        if is_open && open.is_none() && asks_again(kind, &own, &step::actions(connection, other)?) {
            open = Some(row.get(3)?);
        }
        let sent = done(connection, other, ImportId(0), false)?;
        if !sent.is_empty() {
            let links = self::links(connection, other)?.0;
            later.extend(later_values(connection, (other, &links), sent)?);
        }
    }
    later.sort_by_key(|later| later.sent);
    Ok(open)
}

/// Whether a request of a job that was, or may have been, carried out was sent between two imports.
fn was_sent(connection: &Connection, job: JobId, since: ImportId, until: ImportId) -> Result<bool> {
    let was_sent = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM attempt WHERE job = ?1 AND execution IN ('confirmed', 'doubtful')
                 AND import >= ?2 AND import < ?3)",
        )?
        .query_row((job, since, until), |row| row.get(0))?;
    Ok(was_sent)
}

/// The steps of the job `?1` that were carried out ([`carried_out`]): all but the former ones, where `?3`, else those for which a
/// request was sent since the import `?2`.
const DONE: &str = concat!(
    "SELECT n, step.operation, ",
    stored_action!("step"),
    ", before, last.import, last.sent_at
     FROM step LEFT JOIN attempt AS last ON last.job = ?1 AND last.number = (SELECT max(number) FROM attempt
         WHERE attempt.job = ?1 AND attempt.step = step.n AND attempt.execution IN ('confirmed', 'doubtful'))
     WHERE id BETWEEN ?1 << 16 AND ?1 << 16 | 65535 AND ",
    carried_out!(),
    " ORDER BY id"
);

/// The steps of a job that were carried out since an import, or `ever`.
fn done(connection: &Connection, job: JobId, since: ImportId, ever: bool) -> Result<Vec<SentStep>> {
    let mut statement = connection.prepare_cached(DONE)?;
    let mut rows = statement.query((job, since, ever))?;
    let (mut done, mut texts) = (Vec::new(), StoredTexts::of(connection));
    while let Some(row) = rows.next()? {
        let step = DoneStep {
            n: row.get(0)?,
            operation: row.get(1)?,
            action: texts.action(text(row, 2)?)?,
            before: parse_before(row.get::<_, Option<String>>(3)?.as_deref())?,
        };
        let import: Option<ImportId> = row.get(4)?;
        done.push(SentStep { step, sent: import.zip(row.get(5)?) });
    }
    Ok(done)
}

/// The steps that were carried out for the rows of an import about a job, before which something was read. The import has its
/// last row at `last`.
pub(in crate::journal) fn before(
    connection: &Connection,
    job: JobId,
    last: i64,
    import: ImportId,
) -> Result<Vec<DoneStep>> {
    let of_import = match is_of(connection, job, last, import)? {
        true => done(connection, job, import, true)?,
        false => {
            let revised_by: Option<ImportId> = connection
                .prepare_cached(
                    "SELECT min(sheet.import) FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
                     WHERE sheet_row.job = ?1 AND sheet_row.place > ?2 AND sheet_row.disposition = 'revised'",
                )?
                .query_row((job, last), |row| row.get(0))?;
            let Some(until) = revised_by else { return Ok(Vec::new()) };
            let mut sent = done(connection, job, import, false)?;
            sent.retain(|sent| sent.is_former(until));
            sent
        }
    };
    let steps = of_import.into_iter().map(|sent| sent.step);
    Ok(steps.filter(|step| step.before.is_some()).collect())
}

/// Whether what a job brought about was carried out for the rows of an import with its last row at `last`: the job had not ended
/// before, and no row after those asked for something else.
fn is_of(connection: &Connection, job: JobId, last: i64, import: ImportId) -> Result<bool> {
    let is_of = connection
        .prepare_cached(
            "SELECT state IN ('done', 'rejected', 'incomplete') AND last_import >= ?3 AND NOT EXISTS (
                 SELECT 1 FROM sheet_row AS later
                 WHERE later.job = job.id AND later.place > ?2 AND later.disposition = 'revised')
             FROM job WHERE id = ?1",
        )?
        .query_row((job, last, import), |row| row.get(0))?;
    Ok(is_of)
}

#[cfg(test)]
mod tests {
    use crate::journal::fixture::{apply, at, bench, claim, plan, row, sheet};
    use crate::journal::{
        AuditFinding, Disposition, DoneStep, Evidence, How, Journal, NewJob, ReadBy, Selection, Write,
    };
    use crate::model::action::before::Before;
    use crate::model::action::{Action, OwnedEntry, Owner};
    use crate::model::content_hash::ContentHash;
    use crate::model::id::{ImportId, JobId, RemoteId};
    use crate::model::kind::{Kind, Upkeep};
    use crate::model::operation::Operation::PutDeviceMetadata;
    use crate::model::record::{Link, Role, Target};
    use crate::model::state::JobState::{InDoubt, Ready, Sending};
    use crate::model::time::Moment;
    use crate::model::verdict::{Doubt, Execution, Rejection};

    fn asset(value: &str) -> NewJob {
        let entry = OwnedEntry {
            owner: Owner::Device,
            key: "asset".into(),
            value: Some(value.into()),
            exported: None,
            id: None,
        };
        NewJob {
            kind: Kind::Upkeep(Upkeep::Metadata),
            sheet_key: None,
            name: "asset".into(),
            natural_key: "device 7 asset".into(),
            content_hash: ContentHash::of(value),
            links: vec![Link { role: Role::Device, target: Target::Remote(RemoteId::from_u128(7)) }],
            steps: vec![Action::PutMetadataEntry(entry)],
        }
    }

    /// An import at a moment whose one row asks for a value; a new one, or one that revises the job there is.
    fn import(journal: &mut Journal, moment: i64, value: &str, known: Option<JobId>) -> (ImportId, JobId) {
        let mut import = journal.begin_import(at(moment)).unwrap();
        let metadata = import.sheet(&sheet("metadata", Kind::Upkeep(Upkeep::Metadata))).unwrap();
        let job = match known {
            None => import.add_job(&asset(value)).unwrap(),
            Some(job) => {
                import.revise_job(job, &asset(value)).unwrap();
                job
            }
        };
        let disposition = if known.is_some() { Disposition::Revised } else { Disposition::New };
        import.row(&row(metadata, 2, job, disposition)).unwrap();
        (import.finish().unwrap().import, job)
    }

    fn claimed_over(job: JobId, before: Option<&str>) -> Write {
        let Write::Claim { operation, content, baseline, counted, at, .. } = claim(job, PutDeviceMetadata)
        else {
            unreachable!("it is a claim")
        };
        let before = before.map(|value| Before::Value { value: value.to_owned(), meanwhile: None });
        Write::Claim { job, operation, content, baseline, before, counted, at }
    }

    fn evidence(execution: Execution, moment: i64) -> Evidence {
        Evidence { execution, ..Evidence::at(at(moment)) }
    }

    fn done(job: JobId, from: crate::model::state::JobState, moment: i64) -> Write {
        let evidence = evidence(Execution::Confirmed, moment);
        Write::Advance { job, from, how: How::Done, id: None, evidence }
    }

    fn shown(journal: &Journal, import: ImportId) -> Option<String> {
        let sheet = journal.sheets(import).unwrap()[0].sheet;
        let mut shown = Vec::new();
        journal
            .rows(sheet, &mut |row| {
                shown.push(row.before);
                Ok(())
            })
            .unwrap();
        match shown.as_slice() {
            [shown] => match shown.as_slice() {
                [
                    DoneStep {
                        operation: PutDeviceMetadata, before: Some(Before::Value { value, .. }), ..
                    },
                ] => Some(value.clone()),
                [] => None,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    /// How many changes an import has made.
    fn changes(journal: &Journal, import: ImportId) -> usize {
        let mut changes = 0;
        journal
            .changed_rows(import, &mut |row| {
                changes += row.done.len();
                Ok(())
            })
            .unwrap();
        changes
    }

    #[test]
    fn what_was_there_before_is_shown_for_each_import_that_changed_it() {
        // The second clock is set back after the imports.
        for (first_at, second_at) in [(1_000, 4_000), (9_000, 9_500)] {
            let mut bench = bench();
            let journal = &mut bench.journal;
            let (first, job) = import(journal, first_at, "A-2", None);
            apply(journal, claimed_over(job, Some("A-1"))).unwrap();
            assert_eq!(shown(journal, first), None, "it is under way");
            apply(journal, done(job, Sending, 3_000)).unwrap();
            assert_eq!((shown(journal, first).as_deref(), changes(journal, first)), (Some("A-1"), 1));

            let (second, _) = import(journal, second_at, "A-3", Some(job));
            let both = |journal: &Journal| (shown(journal, first), shown(journal, second));
            assert_eq!(both(journal), (Some("A-1".into()), None));
            apply(journal, claimed_over(job, Some("A-2"))).unwrap();
            apply(journal, done(job, Sending, 5_000)).unwrap();
            assert_eq!(both(journal), (Some("A-1".into()), Some("A-2".into())));
            assert_eq!((changes(journal, first), changes(journal, second)), (1, 1));
        }
    }

    #[test]
    fn what_was_carried_out_is_shown_of_a_row_that_is_rejected_when_it_is_carried_out_again() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        apply(journal, claimed_over(job, Some("A-1"))).unwrap();
        apply(journal, done(job, Sending, 3_000)).unwrap();
        let run = journal.queue().begin_run(at(3_100)).unwrap();
        let finding = AuditFinding {
            code: AuditFinding::REVERTED.to_owned(),
            message: "the value is 'A-9' now".to_owned(),
            found: vec![],
        };
        let content = journal.work(job).unwrap().expect("a job").content_hash;
        let (by, finding) = (ReadBy::Key, Some(finding));
        let audited = Write::Audited { job, id: None, content, run, by, finding, site: None, at: at(3_200) };
        apply(journal, audited).unwrap();
        let again = |journal: &mut Journal, code: &str, moment: i64| {
            let selection = Selection { code: Some(code.to_owned()), ..Selection::default() };
            assert_eq!(journal.retry(&selection, "kim", at(moment)).unwrap().retried, 1);
        };
        let refuse = |journal: &mut Journal, from, execution, moment: i64| {
            let rejection =
                Rejection { code: "invalidData".into(), message: "no".into(), violations: vec![] };
            let evidence = evidence(execution, moment);
            apply(journal, Write::Reject { job, from, rejection, evidence }).unwrap();
        };
        // Rejected before anything is sent: what was read then is still about what was carried out.
        again(journal, AuditFinding::REVERTED, 4_000);
        refuse(journal, Ready, Execution::NotExecuted, 4_100);
        assert_eq!(shown(journal, first).as_deref(), Some("A-1"));
        // The service rejects the second request: what was read last is about that one.
        again(journal, "invalidData", 5_000);
        apply(journal, claimed_over(job, Some("A-9"))).unwrap();
        refuse(journal, Sending, Execution::Refused, 5_100);
        assert_eq!(shown(journal, first), None);
    }

    #[test]
    fn what_was_read_first_stays_until_it_is_proved_that_nothing_was_carried_out() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        // Proved not executed: somebody may change it before the next request, which is read again.
        apply(journal, claimed_over(job, Some("A-0"))).unwrap();
        let (code, reason) = ("rateLimitExceeded".to_owned(), "too fast".to_owned());
        let not_sent = evidence(Execution::NotExecuted, 2_100);
        apply(journal, Write::Return { job, code, reason, evidence: not_sent }).unwrap();
        apply(journal, claimed_over(job, Some("A-1"))).unwrap();
        // The answer is lost: what the look-up shows from now on may be what that request did.
        let (doubt, until) = (Doubt::Timeout, at(2_200));
        let lost = evidence(Execution::Doubtful, 2_200);
        apply(journal, Write::Doubt { job, doubt, executed: false, charged: true, until, evidence: lost })
            .unwrap();
        let note = "its values were not there".to_owned();
        apply(journal, Write::Release { job, note, at: at(2_300) }).unwrap();
        apply(journal, claimed_over(job, Some("A-2"))).unwrap();
        // Killed.
        journal.queue().recover(Moment::from_millis(2_400)).unwrap();
        apply(journal, done(job, InDoubt, 3_000)).unwrap();
        assert_eq!(shown(journal, first).as_deref(), Some("A-1"));
    }

    #[test]
    fn what_was_never_read_is_not_known_even_if_a_later_look_shows_something() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (first, job) = import(journal, 1_000, "A-2", None);
        apply(journal, claimed_over(job, None)).unwrap();
        journal.queue().recover(Moment::from_millis(2_400)).unwrap();
        let note = "its values were not there".to_owned();
        apply(journal, Write::Release { job, note, at: at(2_500) }).unwrap();
        apply(journal, claimed_over(job, Some("A-2"))).unwrap();
        apply(journal, done(job, Sending, 3_000)).unwrap();
        assert_eq!(shown(journal, first), None);
    }

    #[test]
    fn jobs_about_the_same_are_found_by_their_natural_key() {
        let plan = plan(&bench().journal, super::BESIDE);
        let searches: Vec<_> = plan.iter().filter(|step| step.contains("job")).collect();
        assert_eq!(searches.len(), 4, "{plan:?}");
        assert!(searches.iter().all(|step| step.contains("USING INDEX job_natural_key")), "{plan:?}");
    }
}

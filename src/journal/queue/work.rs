//! What the dispatcher reads: the jobs of a lane that may be sent, those in doubt that are due, and who owns what.
//!
//! Each page is read by a partial index that holds only jobs in the state asked for, so that a million finished
//! jobs cost nothing. Putting several reads in order with the writes is left to `writer`.

use std::cmp::Reverse;

use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::Result;
use crate::journal::file::column::{Id, count};
use crate::journal::queue::canary::of_canary;
use crate::journal::row_ref::last_sheet_of_job;
use crate::journal::state::step::text;
use crate::journal::state::{baseline, licence};
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::journal::{JobQueue, SameLicence, SheetId, View};
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::key::{Likeness, likeness};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Record, Role};
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::verdict::Doubt;

/// Everything needed to carry out the step a job stands at.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// The job.
    pub job: JobId,
    /// The sheet that named it last.
    pub sheet: SheetId,
    /// Its import.
    pub import: ImportId,
    /// The priority of that.
    pub priority: i64,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Where it stands.
    pub state: JobState,
    /// The step, counted from 0.
    pub step: u32,
    /// The operation of the step.
    pub operation: Operation,
    /// Its name as names are compared.
    pub name: String,
    /// What the step is to bring about.
    pub action: Action,
    /// The record that an earlier step created.
    pub created: Option<Record>,
    /// The ids it refers to, of records that exist.
    pub links: Vec<(Role, RemoteId)>,
    /// The jobs of ours that it refers to.
    pub parents: Vec<(Role, JobId)>,
    /// The id of the record that the job created or adopted.
    pub remote_id: Option<RemoteId>,
    /// How often the process ended while this step was being sent.
    pub deaths: u32,
    /// Whether an earlier attempt of this step ended in doubt.
    pub doubted: bool,
    /// How often this step was in doubt, requests not counted that were sent to find out whether a failing service
    /// works again.
    pub doubts: u32,
    /// Whether the service said OK without an id: it must never be sent again.
    pub executed: bool,
    /// Why it is in doubt.
    pub doubt: Option<Doubt>,
    /// Since when.
    pub doubt_since: Option<Moment>,
    /// Agreeing admissible look-ups so far that found nothing.
    pub absent_reads: u32,
    /// Look-ups so far.
    pub looks: u32,
    /// The ids that look-ups showed before this step was sent, sorted; `None` when none was taken before the last send.
    pub baseline: Option<Vec<RemoteId>>,
    /// Whether it may have been sent without this copy of the journal knowing of it.
    pub unsure: bool,
    /// The digest of the values the row has.
    pub content_hash: ContentHash,
    /// When this step was sent first.
    pub first_sent_at: Option<Moment>,
}

impl Work {
    /// The record that the job creates, at this step or an earlier one; `None` for a job that creates none.
    pub fn record(&self) -> Option<&Record> {
        self.action.record().or(self.created.as_ref())
    }

    /// The record that its step is about, where that is there: the row's own, or the one that an upkeep row refers to.
    pub fn owner(&self) -> Option<(Kind, RemoteId)> {
        if self.kind.is_record() {
            return self.remote_id.map(|id| (self.kind, id));
        }
        let about = self.action.about(self.kind);
        let link = self.links.iter().find(|(role, _)| *role == Role::owner(about));
        link.map(|&(_, id)| (about, id))
    }
}

/// Some jobs, and when more come due.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WorkPage {
    /// The jobs, oldest first.
    pub work: Vec<Work>,
    /// The earliest moment at which a job of this lane that waits for its time comes due.
    pub next_due: Option<Moment>,
}

/// Selects what [`read`] reads.
macro_rules! work {
    ($rest:expr) => {
        work!("job", $rest)
    };
    ($from:literal, $rest:expr) => {
        concat!(
            "SELECT job.id, job.kind, job.state, job.step, job.operation, job.remote_id, job.deaths, job.unsure,
                job.doubts, job.doubted, job.executed, job.doubt, job.doubt_since, job.absent_reads, job.looks,
                job.baseline, job.first_sent_at, ", stored_action!("step"), ", ", stored_action!("first"), ",
                job.content_hash, job.name, ", last_sheet_of_job!(), ",
                job.last_import, (SELECT priority FROM import WHERE import.id = job.last_import)
             FROM ", $from, " JOIN step ON step.id = job.id << 16 | job.step
             LEFT JOIN step AS first ON first.id = job.id << 16 AND job.step > 0 WHERE ",
            $rest
        )
    };
}

/// That a job is of none of the paused sheets ?3, is none of the jobs ?4, and is of one of the imports ?5, or of any where none
/// is named.
macro_rules! may_be_handed_out {
    () => {
        concat!(
            "(?3 = '[]' OR ",
            last_sheet_of_job!(),
            " NOT IN (SELECT value FROM json_each(?3)))
             AND job.id NOT IN (SELECT value FROM json_each(?4))
             AND (?5 = '[]' OR job.last_import IN (SELECT value FROM json_each(?5)))"
        )
    };
}

/// That a job of an operation is deferred, and what else it takes to hand it out.
macro_rules! deferred {
    () => {
        concat!(
            "job.state = 'deferred' AND job.operation = ?1
             AND EXISTS (SELECT 1 FROM import WHERE import.id = job.last_import AND import.paused_at IS NULL) AND ",
            may_be_handed_out!()
        )
    };
}

/// The statements that hand jobs out.
struct HandOut {
    /// Ready jobs in the order in which they are sent.
    ready: &'static str,
    /// Deferred jobs that are due.
    due: &'static str,
    /// When the next deferred job is due.
    next_due: &'static str,
    /// Jobs in doubt whose next look is due.
    doubtful: &'static str,
    /// When the next look is due.
    next_look: &'static str,
}

/// The statements over these jobs; for ready ones, with their imports.
macro_rules! hand_out {
    ($with_import:literal, $jobs:literal) => {
        HandOut {
            ready: work!(
                $with_import,
                concat!(
                    "import.paused_at IS NULL AND job.state = 'ready' AND job.operation = ?1
                     AND job.last_import = import.id AND ",
                    may_be_handed_out!(),
                    " ORDER BY import.priority DESC, import.id, job.id LIMIT ?2"
                )
            ),
            due: work!($jobs, concat!(deferred!(), " AND job.due <= ?6 ORDER BY job.due, job.id LIMIT ?2")),
            next_due: concat!(
                "SELECT due FROM ",
                $jobs,
                " WHERE ",
                deferred!(),
                " AND due > ?2 ORDER BY due LIMIT 1"
            ),
            doubtful: work!(
                $jobs,
                "job.state = 'in_doubt' AND job.due <= ?1
                 AND job.id NOT IN (SELECT value FROM json_each(?3)) ORDER BY job.due, job.id LIMIT ?2"
            ),
            next_look: concat!("SELECT min(due) FROM ", $jobs, " WHERE state = 'in_doubt' AND due > ?1"),
        }
    };
}

/// Of all jobs; the ready ones import by import, each read by its place in `job_ready`.
const OF_ALL: HandOut = hand_out!("import CROSS JOIN job INDEXED BY job_ready", "job");
/// Of those of the canary. They are few, and looked up among all jobs, not the other way round.
const OF_CANARY: HandOut = hand_out!(
    "canary CROSS JOIN job ON job.id = canary.job CROSS JOIN import",
    "canary CROSS JOIN job ON job.id = canary.job"
);

impl JobQueue<'_> {
    /// Jobs of one operation that may be sent, of all imports; see [`Self::ready_of`].
    pub fn ready(
        &self,
        operation: Operation,
        now: Moment,
        limit: usize,
        in_hand: &[JobId],
    ) -> Result<WorkPage> {
        self.ready_of(&[], operation, now, limit, in_hand)
    }

    /// Jobs of one operation that may be sent, of these imports or, where none is named, of all: ready ones, and deferred
    /// ones that are due; those of imports with a higher priority first. None of a paused sheet or a paused import, and
    /// none of those `in_hand` already. While there is a canary, none but its rows.
    pub fn ready_of(
        &self,
        imports: &[ImportId],
        operation: Operation,
        now: Moment,
        limit: usize,
        in_hand: &[JobId],
    ) -> Result<WorkPage> {
        let has_canary = self.has_canary()?;
        let sql = if has_canary { &OF_CANARY } else { &OF_ALL };
        let connection = &self.journal.view.connection;
        let (limit_there, aside, in_hand) = (count(limit), self.journal.paused_sheet_list(), list(in_hand));
        let imports = list(imports.iter().filter(|_| !has_canary));
        let mut work = read(connection, sql.ready, (operation, limit_there, &aside, &in_hand, &imports))?;
        let values = (operation, limit_there, &aside, &in_hand, &imports, now);
        work.extend(read(connection, sql.due, values)?);
        work.sort_unstable_by_key(|work| (Reverse(work.priority), work.import, work.job));
        work.truncate(limit);
        let next_due = connection
            .prepare_cached(sql.next_due)?
            .query_row((operation, now, &aside, &in_hand, &imports), |row| row.get(0))
            .optional()?;
        Ok(WorkPage { work, next_due })
    }

    /// Jobs in doubt whose next look is due, of any operation; none of those `in_hand` already. While there is a canary, none
    /// but its rows: one that was not carried out would be sent again.
    pub fn doubtful(&self, now: Moment, limit: usize, in_hand: &[JobId]) -> Result<WorkPage> {
        let sql = if self.has_canary()? { &OF_CANARY } else { &OF_ALL };
        let connection = &self.journal.view.connection;
        let mut work = read(connection, sql.doubtful, (now, count(limit), list(in_hand)))?;
        work.sort_unstable_by_key(|work| work.job);
        let next_due = connection.prepare_cached(sql.next_look)?.query_row([now], |row| row.get(0))?;
        Ok(WorkPage { work, next_due })
    }
}

impl View {
    /// The operations that some unfinished job still needs, now or at a later step, in the specification's order. Held
    /// jobs need none before they are decided.
    pub fn lanes(&self) -> Result<Vec<Operation>> {
        let mut lanes = Vec::new();
        for &operation in Operation::ALL {
            // One look into each partial index; a list of states in one condition would use none of them.
            let needed: bool = self
                .connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'ready' AND operation = ?1)
                         OR EXISTS (SELECT 1 FROM job WHERE state = 'blocked' AND operation = ?1)
                         OR EXISTS (SELECT 1 FROM job WHERE state = 'deferred' AND operation = ?1)
                         OR EXISTS (SELECT 1 FROM job WHERE state = 'sending' AND operation = ?1)
                         OR EXISTS (SELECT 1 FROM job WHERE state = 'in_doubt' AND operation = ?1)
                         OR EXISTS (SELECT 1 FROM step JOIN job ON job.id = step.job
                                    WHERE step.ended = 0 AND step.n > 0 AND step.operation = ?1
                                      AND job.state NOT IN ('rejected', 'incomplete', 'skipped', 'cancelled', 'held'))",
                )?
                .query_row([operation], |row| row.get(0))?;
            if needed {
                lanes.push(operation);
            }
        }
        Ok(lanes)
    }

    /// Whether some job could go on with this operation, were it to be had: one that is ready or waits for its time.
    pub fn waits_for(&self, operation: Operation) -> Result<bool> {
        let waits = self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'ready' AND operation = ?1)
                     OR EXISTS (SELECT 1 FROM job WHERE state = 'deferred' AND operation = ?1)",
            )?
            .query_row([operation], |row| row.get(0))?;
        Ok(waits)
    }

    /// Which of these ids belong to jobs of ours, and to which; in the order given.
    pub fn owners(&self, ids: &[RemoteId]) -> Result<Vec<(RemoteId, JobId)>> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM job WHERE remote_id = ?1")?;
        let mut owners = Vec::new();
        for &id in ids {
            let mut rows = statement.query([Id(id)])?;
            while let Some(row) = rows.next()? {
                owners.push((id, row.get(0)?));
            }
        }
        Ok(owners)
    }

    /// What is known of other requests that add the licence code of a job to its device.
    pub fn same_licence(&self, job: JobId) -> Result<Option<SameLicence>> {
        let work = self.work(job)?;
        work.map_or(Ok(None), |work| licence::of_others(&self.connection, &work))
    }

    /// Those of these ids whose records get another name by jobs that are open, or of the last import of this one. What a look-up
    /// shows of them may be older than that.
    pub fn renamed(&self, job: JobId, ids: &[RemoteId]) -> Result<Vec<(RemoteId, JobId)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT max(job.id) FROM upkeep
             JOIN job ON job.id = upkeep.job
             JOIN step ON step.id BETWEEN job.id << 16 AND (job.id << 16) + 32767
             WHERE upkeep.record = ?2 AND json_extract(step.action, '$.value.fields.name') IS NOT NULL
               AND (job.finished_at IS NULL
                   OR job.state IN ('done', 'existing')
                   AND job.last_import = (SELECT last_import FROM job WHERE id = ?1))",
        )?;
        let mut renamed = Vec::new();
        for &id in ids {
            let by: Option<JobId> = statement.query_row((job, id.to_string()), |row| row.get(0))?;
            renamed.extend(by.map(|by| (id, by)));
        }
        Ok(renamed)
    }

    /// Rows of the kind of a job, with names that a look-up may take for its own, whose creation is under way or in doubt:
    /// the service may show their records before it is known whose these are. While there is a canary, none whose doubt waits
    /// for its end.
    pub fn under_way_like(&self, job: JobId) -> Result<Vec<Work>> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT other.id, other.name, own.name
             FROM (SELECT id, kind, name FROM job WHERE state = 'sending' AND remote_id IS NULL
                   UNION ALL
                   SELECT id, kind, name FROM job WHERE state = 'in_doubt' AND remote_id IS NULL
                       AND (id IN (SELECT job FROM canary) OR NOT EXISTS (SELECT 1 FROM ",
            of_canary!(""),
            "))) AS other
             JOIN job AS own ON own.kind = other.kind WHERE own.id = ?1 AND other.id <> ?1",
        ))?;
        let mut rows = statement.query([job])?;
        let mut alike = Vec::new();
        while let Some(row) = rows.next()? {
            let (name, own): (String, String) = (row.get(1)?, row.get(2)?);
            if likeness(&name, &own) != Likeness::Different {
                alike.extend(self.work(row.get(0)?)?);
            }
        }
        Ok(alike)
    }

    /// Jobs whose record is known to exist because we made it, newest first: what a look-up must be able to find.
    pub fn witness(&self, kind: Kind, limit: usize) -> Result<Vec<Work>> {
        read(
            &self.connection,
            work!(
                "job.kind = ?1 AND job.remote_id IS NOT NULL AND job.outcome IN ('created', 'adopted')
                 ORDER BY job.id DESC LIMIT ?2"
            ),
            (kind, count(limit)),
        )
    }

    /// One job, whatever its state.
    pub fn work(&self, job: JobId) -> Result<Option<Work>> {
        read(&self.connection, work!("job.id = ?1"), [job]).map(|mut work| work.pop())
    }

    /// Those of these jobs that will not be sent as they stand: somebody has cancelled or decided them.
    pub fn not_to_send(&self, jobs: &[JobId]) -> Result<Vec<JobId>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM job WHERE id IN (SELECT value FROM json_each(?1))
             AND state NOT IN ('ready', 'deferred', 'sending', 'in_doubt')",
        )?;
        let found = statement.query_map([list(jobs)], |row| row.get(0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// A number that changes when another connection has committed since it was asked last.
    pub fn data_version(&self) -> Result<i64> {
        Ok(self.connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?)
    }

    /// The earliest moment at which any job that waits for its time comes due.
    pub fn next_due(&self) -> Result<Option<Moment>> {
        let deferred: Option<Moment> = self.connection.query_row(
            "SELECT min(due) FROM job INDEXED BY job_deferred WHERE state = 'deferred'",
            [],
            |row| row.get(0),
        )?;
        let doubtful: Option<Moment> =
            self.connection
                .query_row("SELECT min(due) FROM job WHERE state = 'in_doubt'", [], |row| row.get(0))?;
        Ok(deferred.into_iter().chain(doubtful).min())
    }
}

/// Numbers of jobs, sheets or imports as SQL takes a list.
pub(in crate::journal) fn list(numbers: impl IntoIterator<Item: ToString>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}

fn read(connection: &Connection, sql: &str, values: impl Params) -> Result<Vec<Work>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let (mut page, mut texts) = (Vec::new(), StoredTexts::of(connection));
    while let Some(row) = rows.next()? {
        page.push(one(connection, &mut texts, row)?);
    }
    Ok(page)
}

fn one(connection: &Connection, texts: &mut StoredTexts<'_>, row: &Row<'_>) -> Result<Work> {
    let job: JobId = row.get(0)?;
    let action = texts.action(text(row, 17)?)?;
    let created = match text(row, 18)? {
        None => None,
        first => match texts.action(first)? {
            Action::Create(record) => Some(record),
            _ => None,
        },
    };
    let (links, parents) = links(connection, job)?;
    let baseline = match row.get(15)? {
        Some(number) => Some(baseline::load(connection, number)?),
        None => None,
    };
    Ok(Work {
        job,
        sheet: row.get(21)?,
        import: row.get(22)?,
        priority: row.get(23)?,
        kind: row.get(1)?,
        state: row.get(2)?,
        step: row.get(3)?,
        operation: row.get(4)?,
        name: row.get(20)?,
        action,
        created,
        links,
        parents,
        remote_id: row.get::<_, Option<Id>>(5)?.map(|id| id.0),
        deaths: row.get(6)?,
        doubted: row.get(9)?,
        doubts: row.get(8)?,
        executed: row.get(10)?,
        doubt: row.get(11)?,
        doubt_since: row.get(12)?,
        absent_reads: row.get(13)?,
        looks: row.get(14)?,
        baseline,
        content_hash: row.get(19)?,
        unsure: row.get(7)?,
        first_sent_at: row.get(16)?,
    })
}

/// What a job refers to: the ids that are known, and the jobs of ours among them.
pub(in crate::journal) type Links = (Vec<(Role, RemoteId)>, Vec<(Role, JobId)>);

pub(in crate::journal) fn links(connection: &Connection, job: JobId) -> Result<Links> {
    let mut statement = connection.prepare_cached(
        "SELECT link.role, link.target_job, coalesce(link.target_id, parent.remote_id)
         FROM link LEFT JOIN job AS parent ON parent.id = link.target_job WHERE link.job = ?1 ORDER BY link.role",
    )?;
    let mut rows = statement.query([job])?;
    let (mut ids, mut parents) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let role = row.get(0)?;
        if let Some(parent) = row.get(1)? {
            parents.push((role, parent));
        }
        if let Some(Id(id)) = row.get(2)? {
            ids.push((role, id));
        }
    }
    Ok((ids, parents))
}

#[cfg(test)]
mod tests;

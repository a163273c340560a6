//! Imports: all rows of the sheets read together, in one transaction, or none of them.
//!
//! Which row is new, revised or recognised is decided by the importer; here the jobs are made or changed and stand
//! ready or blocked by what they link to.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use rusqlite::{OptionalExtension, Row, Transaction};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::column::count;
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::intake::bulk_load::{self, Dropped, Inserts, WithoutLog};
use crate::journal::intake::job_lookup::JobIndexes;
use crate::journal::intake::named_id;
use crate::journal::intake::rounds::{self, GivenTurn};
use crate::journal::lineage::identity;
use crate::journal::state::dependents::{self, changed_record, record_order};
use crate::journal::state::job_row;
use crate::journal::state::selection::refused;
use crate::journal::state::step;
use crate::journal::state::{audit, cancellation};
use crate::journal::view::awaited::Awaited;
use crate::journal::view::tallies;
use crate::journal::{
    Account, Disposition, Imported, Journal, NewJob, NewRow, NewSheet, RowEncoder, SheetId, StoredRow, View,
    WrittenStep, bind_in, row_ref,
};
use crate::model::action::setting::{Setting, asked};
use crate::model::action::{Action, Turn};
use crate::model::id::check::NamedId;
use crate::model::id::{ImportId, JobId};
use crate::model::key::{self, upkeep_record};
use crate::model::kind::Kind;
use crate::model::record::{Link, Role, Target, target_of};
use crate::model::state::JobState::{
    self, Blocked, Cancelled, Deferred, Done, Existing, InDoubt, Incomplete, Ready, Rejected, Skipped,
};
use crate::model::tally::Tally;
use crate::model::time::Moment;

/// Room for the JSON of an action of usual length.
const USUAL_ACTION: usize = 512;

/// What is said of a row that comes again after it was cancelled in doubt.
const CANCELLED_IN_DOUBT: &str = "cancelled while its outcome was unknown; looked up before it is sent again";

/// A job that the import `?2` has not, and that is not settled or that `retry` could send.
macro_rules! open_of_earlier_import {
    () => {
        concat!("job.last_import <> ?2 AND (job.finished_at IS NULL OR ", refused!(), ")")
    };
}

impl Journal {
    /// Begins an import. Nothing of it is seen by others before [`ImportWriter::finish`]; dropped, it never was.
    pub fn begin_import(&mut self, now: Moment) -> Result<ImportWriter<'_>> {
        let Self { view: View { connection, path, .. }, file_watch, .. } = self;
        let (without_log, transaction) = WithoutLog::begin(connection, path, file_watch)?;
        let import =
            ImportId(transaction.prepare_cached("INSERT INTO import (at) VALUES (?1)")?.insert([now])?);
        let accepted = identity::was_accepted(&transaction)?;
        let some_wait = are_waiting(&transaction)?;
        let dropped = Dropped::of(&transaction, import)?;
        failpoint::reach("import.begun");
        Ok(ImportWriter {
            transaction,
            path,
            import,
            now,
            accepted,
            files: 0,
            sheets: BTreeMap::new(),
            lost: BTreeSet::new(),
            records: BTreeSet::new(),
            asking: HashMap::new(),
            named: BTreeSet::new(),
            made: Tally::default(),
            dispositions: [0; 4],
            left_out: Tally::default(),
            answered: 0,
            some_wait,
            dropped,
            job_indexes: JobIndexes::default(),
            turn: Cell::default(),
            inserts: RefCell::new(Inserts::to(connection, (import, accepted), without_log.is_under_way())?),
            without_log,
        })
    }
}

/// An import under way.
#[derive(Debug)]
pub struct ImportWriter<'a> {
    pub(in crate::journal) transaction: Transaction<'a>,
    pub(in crate::journal) path: &'a Path,
    import: ImportId,
    pub(in crate::journal) now: Moment,
    /// Whether the journal may lack what was sent with it once: rows that are new to it may be none.
    accepted: bool,
    files: i64,
    /// Rows so far of each sheet.
    pub(in crate::journal) sheets: BTreeMap<SheetId, u64>,
    /// Jobs that will not be made, and that jobs of this import link to. Looked at again at the end, since a later
    /// row may yet correct them.
    pub(in crate::journal) lost: BTreeSet<JobId>,
    /// The ids by which rows name records that no job makes.
    named: BTreeSet<NamedId>,
    /// The jobs made so far, as they were made.
    made: Tally,
    /// Rows so far, by disposition.
    dispositions: [u64; 4],
    /// Rows so far that are left out and have no answer.
    pub(in crate::journal) left_out: Tally,
    /// Rows so far that are left out as they were before, and that an earlier import has without errors.
    pub(in crate::journal) answered: u64,
    /// The records of which upkeep rows of this import may change the order.
    records: BTreeSet<String>,
    /// Of records that rows are about, the jobs of earlier imports that asked for something and were open: a record may have many.
    asking: HashMap<String, HashMap<Setting, Vec<JobId>>>,
    /// Whether rows that earlier imports left out have not come again yet.
    pub(in crate::journal) some_wait: bool,
    /// What is not kept while rows are added.
    pub(in crate::journal) dropped: Dropped,
    pub(in crate::journal) job_indexes: JobIndexes,
    /// What of its turn was given: otherwise a further round has that of the one before it.
    turn: Cell<GivenTurn>,
    inserts: RefCell<Inserts<'a>>,
    /// Ended, or dropped, after the transaction.
    without_log: WithoutLog<'a>,
}

impl ImportWriter<'_> {
    /// The number of this import.
    pub fn import(&self) -> ImportId {
        self.import
    }

    /// Binds the journal to the account that the rows are for, together with them.
    ///
    /// # Errors
    /// Usage when the journal is bound to another one.
    pub fn bind(&self, account: &Account) -> Result<()> {
        bind_in(&self.transaction, self.path, account)
    }

    /// Notes a file that was read.
    pub fn file(&mut self, name: &str, sha256: &str) -> Result<()> {
        self.files += 1;
        self.transaction
            .prepare_cached(
                "INSERT INTO import_file (import, position, name, sha256) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((self.import, self.files, name, sha256))?;
        Ok(())
    }

    /// Notes how the files were read: the options of a command, each with a space before it.
    pub fn reading(&mut self, options: &str) -> Result<()> {
        let noted = "UPDATE import SET reading = ?2 WHERE id = ?1";
        self.transaction.prepare_cached(noted)?.execute((self.import, options))?;
        Ok(())
    }

    /// Notes what the import is called.
    pub fn label(&mut self, label: &str) -> Result<()> {
        let noted = "UPDATE import SET label = ?2 WHERE id = ?1";
        self.transaction.prepare_cached(noted)?.execute((self.import, label))?;
        Ok(())
    }

    /// Keeps so many creations of each day's quota for the import.
    pub fn reserve(&self, creations: u64) -> Result<()> {
        let given = "UPDATE import SET reserve = ?2 WHERE id = ?1";
        self.transaction.prepare_cached(given)?.execute((self.import, count(creations)))?;
        self.turn.set(GivenTurn { reserve: true, ..self.turn.get() });
        Ok(())
    }

    /// Gives the import a priority.
    pub fn priority(&self, priority: i64) -> Result<()> {
        let given = "UPDATE import SET priority = ?2 WHERE id = ?1";
        self.transaction.prepare_cached(given)?.execute((self.import, priority))?;
        self.turn.set(GivenTurn { priority: true, ..self.turn.get() });
        Ok(())
    }

    /// Adds a sheet; its rows follow.
    pub fn sheet(&mut self, sheet: &NewSheet) -> Result<SheetId> {
        let headers = serde_json::to_string(&sheet.headers).map_err(unwritable)?;
        let id = self
            .transaction
            .prepare_cached(
                "INSERT INTO sheet (import, name, file, worksheet, kind, headers, header_row)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .insert((
                self.import,
                &sheet.name,
                &sheet.file,
                &sheet.worksheet,
                sheet.kind,
                &headers,
                sheet.header_row,
            ))?;
        let id = SheetId(id);
        self.sheets.insert(id, 0);
        failpoint::reach("import.sheet");
        Ok(id)
    }

    /// Makes a job. It stands ready, or blocked while a job it links to has no record yet; below a job that
    /// will not be made it is skipped when the import ends.
    pub fn add_job(&mut self, job: &NewJob) -> Result<JobId> {
        let steps = written_steps(job.kind, &job.steps)?;
        let id = self.add_job_of_row(job, &steps, None)?;
        self.flush()?;
        Ok(id)
    }

    /// The same, for a job whose steps were written elsewhere ([`written_step`]), made from a row at this place. Of a job
    /// that creates a record nobody asks for the steps themselves.
    pub fn add_written_job(
        &mut self,
        job: &NewJob,
        steps: &[WrittenStep],
        row: &StoredRow,
        (sheet, number): (SheetId, u32),
    ) -> Result<JobId> {
        self.add_job_of_row(job, steps, Some((row, row_ref::key(sheet, number))))
    }

    fn add_job_of_row(
        &mut self,
        job: &NewJob,
        steps: &[WrittenStep],
        source: Option<(&StoredRow, i64)>,
    ) -> Result<JobId> {
        let state = self.initial_state(&job.links)?;
        let inserts = self.inserts.get_mut();
        let (id, operation) = inserts.job(job, (steps, source), state)?;
        inserts.links(id, &job.links)?;
        self.dropped.count(job.kind, operation, state);
        self.made.add(job.kind, state, 1);
        self.note_record(id, job)?;
        self.note_named(&job.links);
        Ok(id)
    }

    /// Gives a job new values, and another chance. Allowed from blocked, ready, deferred, rejected, skipped and
    /// cancelled; a creation that was done stays done, and so do other steps that have not changed.
    pub fn revise_job(&mut self, job: JobId, values: &NewJob) -> Result<()> {
        // A change of a job that is not counted yet would count for nothing.
        self.complete()?;
        let standing = job_row::of(&self.transaction, job)?;
        let mut allowed = vec![Blocked, Ready, Deferred, Rejected, Incomplete, Skipped, Cancelled];
        if !standing.kind.is_record() {
            // What was done for a record that exists may be asked for otherwise later.
            allowed.extend([Done, Existing]);
        }
        standing.leaves(&allowed, "revised")?;
        if values.kind != standing.kind {
            return Err(Error::internal(format!(
                "job {job} is a {}, not a {}",
                standing.kind.singular(),
                values.kind.singular()
            )));
        }
        self.transaction.prepare_cached("DELETE FROM link WHERE job = ?1")?.execute([job])?;
        self.inserts.get_mut().links(job, &values.links)?;
        self.flush()?;
        self.note_named(&values.links);
        let first = step::revise(&self.transaction, &standing, (&values.natural_key, &values.steps))?;

        let initial_state = self.initial_state(&values.links)?;
        cancellation::forget(&self.transaction, job)?;
        let (state, step, operation) = match (standing.remote_id, step::next(&self.transaction, job)?) {
            (None, Some((step, operation))) => (initial_state, step, operation),
            (Some(_), Some((step, operation))) => (Ready, step, operation),
            // Nothing is left to do: the job is what its first step made of it, and stands at no step it no longer has.
            (_, None) => {
                let outcome = standing.outcome.ok_or_else(|| {
                    Error::internal(format!(
                        "all steps of job {job} are done, but not how its first one ended"
                    ))
                })?;
                (outcome, 0, first)
            }
        };
        let is_in_doubt = cancellation::is_in_doubt(&self.transaction, job, &values.natural_key, step)?;
        let state = if is_in_doubt { InDoubt } else { state };
        let finished_at = state.is_final().then_some(self.now);
        standing.change(
            &self.transaction,
            // What is known of earlier sends is about the old natural key and is worth nothing for another one. With the
            // same key, what the service said it carried out is still there: the row is looked up before it is sent.
            // What was never known of the old key is not known of the new one either. A row that was cancelled while its
            // outcome was unknown is in doubt again: what was sent of it may have been carried out.
            "UPDATE job SET state = ?3, step = ?4, operation = ?5, finished_at = ?6,
                outcome = iif(?12, outcome, NULL),
                natural_key = ?7, sheet_key = coalesce(?8, sheet_key), name = ?9, content_hash = ?10,
                doubted = iif(natural_key = ?7 AND step = ?4, doubted OR executed, 0),
                doubts = iif(natural_key = ?7 AND step = ?4, doubts, 0),
                first_sent_at = iif(natural_key = ?7 AND step = ?4, first_sent_at, NULL),
                baseline = iif(natural_key = ?7 AND step = ?4, baseline, NULL),
                unsure = unsure OR (?11 AND natural_key <> ?7 AND remote_id IS NULL),
                deaths = 0, executed = ?14 AND executed, due = iif(?14, ?15, NULL),
                doubt = iif(?14, doubt, NULL), doubt_since = iif(?14, doubt_since, NULL),
                absent_reads = 0, looks = 0, held_since = NULL,
                code = iif(?14, doubt, NULL), message = iif(?14, ?16, NULL), violations = NULL, candidates = NULL,
                audit = iif(?12, audit, NULL), made_doubted = ?12 AND made_doubted, last_import = ?13
             WHERE id = ?1 AND state = ?2",
            &[
                &state,
                &step,
                &operation,
                &finished_at,
                &values.natural_key,
                &values.sheet_key,
                &values.name,
                &values.content_hash,
                &self.accepted,
                &standing.kind.is_record(),
                &self.import,
                &is_in_doubt,
                &self.now,
                &CANCELLED_IN_DOUBT,
            ],
        )?;
        if !standing.kind.is_record() {
            audit::forget(&self.transaction, job)?;
        }
        dependents::revive_below(&self.transaction, job)?;
        self.records.extend(record_order::made_by(&self.transaction, job)?);
        self.note_record(job, values)
    }

    /// Notes the record that an upkeep row is about. Where its rows stand is decided once all of them are there.
    fn note_record(&mut self, job: JobId, values: &NewJob) -> Result<()> {
        let (false, Some(action)) = (values.kind.is_record(), values.steps.first()) else { return Ok(()) };
        let (record, maker) = self.record_about(values, action)?;
        record_order::note(&self.transaction, job, &record, action.turn())?;
        if let Some(maker) = maker {
            record_order::note(&self.transaction, maker, &record, Turn::Create)?;
            // A job of a first import has found no record yet.
            if !self.is_first()
                && let Some(id) = self.remote_id_of(maker)?
            {
                record_order::rename(&self.transaction, &id.to_string(), &record)?;
            }
        }
        if action.turn() != Turn::Put || !self.is_first() {
            self.records.insert(record);
        }
        Ok(())
    }

    /// The record that an upkeep row with this first step is about, and the job that makes or has found it.
    fn record_about(&self, values: &NewJob, first: &Action) -> Result<(String, Option<JobId>)> {
        let about = first.about(values.kind);
        let maker = match target_of(&values.links, Role::owner(about)) {
            // No record of another job is known yet, nor its index there.
            Some(Target::Remote(_)) if self.is_first() => None,
            Some(_) | None => changed_record::owner(&values.links, about, &self.transaction)?,
        };
        let record = maker.map_or_else(|| upkeep_record(values.kind, first, &values.links), key::record_of);
        Ok((record, maker))
    }

    /// The upkeep jobs of earlier imports about the record of such a row that are not settled, or that `retry` could send, and ask
    /// for one of these things; each with its state and the step that it stands at.
    pub fn open_about_record_of<'s>(
        &mut self,
        values: &NewJob,
        settings: impl Iterator<Item = &'s Setting>,
    ) -> Result<Vec<(JobId, JobState, u32)>> {
        let Some(first) = values.steps.first() else { return Ok(Vec::new()) };
        let (record, maker) = self.record_about(values, first)?;
        if !self.asking.contains_key(&record) {
            let asking = self.asking_about(&record, maker)?;
            self.asking.insert(record.clone(), asking);
        }
        let asking = self.asking.get(&record);
        let jobs: BTreeSet<&JobId> = settings.filter_map(|setting| asking?.get(setting)).flatten().collect();
        // Rows of this import may have changed or cancelled them since.
        let mut open = self.transaction.prepare_cached(concat!(
            "SELECT id, state, step FROM job WHERE id = ?1 AND ",
            open_of_earlier_import!()
        ))?;
        let mut found = Vec::new();
        for job in jobs {
            let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            found.extend(open.query_row((job, self.import), row).optional()?);
        }
        Ok(found)
    }

    /// The open upkeep jobs of earlier imports about a record, oldest first, by what they ask for.
    fn asking_about(&self, record: &str, maker: Option<JobId>) -> Result<HashMap<Setting, Vec<JobId>>> {
        let id = maker.map_or(Ok(None), |maker| self.remote_id_of(maker))?.map(|id| id.to_string());
        let mut open = self.transaction.prepare_cached(concat!(
            "SELECT job.id FROM upkeep CROSS JOIN job ON job.id = upkeep.job
             WHERE upkeep.record IN (?1, ?3) AND upkeep.turn > 0 AND ",
            open_of_earlier_import!(),
            " ORDER BY 1"
        ))?;
        let mut rows = open.query((record, self.import, id))?;
        let mut asking: HashMap<Setting, Vec<JobId>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let job = row.get(0)?;
            for (setting, _) in self.steps_of(job)?.iter().flat_map(asked) {
                asking.entry(setting).or_default().push(job);
            }
        }
        Ok(asking)
    }

    /// The first update of the record that a job makes which is not settled, and where that stands.
    pub fn unsettled_update_of(&self, job: JobId, updates: Kind) -> Result<Option<(JobId, JobState)>> {
        let id = self.remote_id_of(job)?.map(|id| id.to_string());
        let unsettled = "SELECT job.id, job.state FROM upkeep CROSS JOIN job ON job.id = upkeep.job
             WHERE upkeep.record IN (?1, ?2) AND job.kind = ?3 AND job.finished_at IS NULL ORDER BY 1 LIMIT 1";
        let mut statement = self.transaction.prepare_cached(unsettled)?;
        let found =
            statement.query_row((key::record_of(job), id, updates), |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    /// Cancels a job that failed, as a row of this import asks for something else, and no `retry` is to send it after that.
    pub fn cancel_for(&mut self, job: JobId, (sheet, number): (SheetId, u32)) -> Result<()> {
        self.complete()?;
        let row = row_ref::written(&self.transaction, row_ref::key(sheet, number))?;
        let by = format!("import {}, whose row {row} asks for something else", self.import);
        cancellation::give_up(&self.transaction, &job_row::of(&self.transaction, job)?, &by, self.now)?;
        Ok(())
    }

    /// Gives a job that has none the key by which later sheets refer to it. Allowed from every state, as nothing that is
    /// sent depends on it; where the job stands, and all else of it, stays.
    pub fn learn_key(&mut self, job: JobId, folded_key: &str) -> Result<()> {
        let learnt = self
            .transaction
            .prepare_cached("UPDATE job SET sheet_key = ?2 WHERE id = ?1 AND sheet_key IS NULL")?
            .execute((job, folded_key))?;
        if learnt != 1 {
            return Err(Error::internal(format!("job {job} has a key already, or is not there")));
        }
        Ok(())
    }

    /// Notes another key that a row has for a job, which keeps its own one.
    pub fn other_key(&mut self, job: JobId, folded_key: &str) -> Result<()> {
        self.transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO other_key (job, kind, sheet_key) SELECT id, kind, ?2 FROM job WHERE id = ?1",
            )?
            .execute((job, folded_key))?;
        Ok(())
    }

    /// What writes the rows of this import as they are kept.
    pub fn encoder(&self) -> Result<RowEncoder> {
        RowEncoder::after(&self.transaction)
    }

    /// Adds what a row is the first to have, and rows after it refer to: in the order in which they were encoded.
    pub fn add_texts(&mut self, row: &StoredRow) -> Result<()> {
        self.inserts.get_mut().texts(row)
    }

    /// Adds a row.
    pub fn row(&mut self, row: &NewRow) -> Result<()> {
        self.written_row(row, &written(&row.cells)?)?;
        self.flush()
    }

    /// The same, for a row that was encoded.
    pub fn stored_row(&mut self, row: &NewRow, stored: &StoredRow) -> Result<()> {
        self.written_row(row, &stored.cells)
    }

    fn written_row(&mut self, row: &NewRow, cells: &str) -> Result<()> {
        self.count_row(row.sheet)?;
        self.inserts.get_mut().row(row, cells)?;
        let count = match row.disposition {
            Disposition::New => &mut self.dispositions[0],
            Disposition::Revised => &mut self.dispositions[1],
            Disposition::Recognised => &mut self.dispositions[2],
            Disposition::ChangedSince => &mut self.dispositions[3],
            Disposition::LeftOut => return Err(Error::internal("a row that is not imported has no job")),
        };
        *count += 1;
        if row.disposition != Disposition::New {
            // A finished job learns it when it is opened again: most that come again stay as they are.
            self.transaction
                .prepare_cached("UPDATE job SET last_import = ?2 WHERE id = ?1 AND finished_at IS NULL")?
                .execute((row.job, self.import))?;
        }
        failpoint::reach("import.row");
        Ok(())
    }

    /// Whether nothing was imported before.
    pub fn is_first(&self) -> bool {
        self.import() == bulk_load::FIRST
    }

    /// Adds what a first import has handed over to be added together. What is read of its jobs needs that.
    pub(in crate::journal) fn flush(&self) -> Result<()> {
        self.inserts.borrow_mut().flush()
    }

    /// All rows are added: what they are looked up by is made of them. Before that looking up jobs of the first import by
    /// their natural key takes long.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn complete(&mut self) -> Result<()> {
        self.flush()?;
        self.dropped.build(&self.transaction)
    }

    /// Commits the import: when this returns, all of it is on disk.
    pub fn finish(mut self) -> Result<Imported> {
        self.complete()?;
        self.skip_below_the_lost()?;
        let mut held_back = 0;
        for record in &self.records {
            held_back += record_order::keep(&self.transaction, record)?.len();
        }
        let mut rows = 0;
        for (&sheet, &count_of_sheet) in &self.sheets {
            rows += count_of_sheet;
            self.transaction
                .prepare_cached("UPDATE sheet SET row_count = ?2 WHERE id = ?1")?
                .execute((sheet, count(count_of_sheet)))?;
        }
        self.transaction
            .prepare_cached("UPDATE import SET row_count = ?2 WHERE id = ?1")?
            .execute((self.import, count(rows)))?;
        if !self.is_first() {
            rounds::note(&self.transaction, self.import, rows, self.turn.get())?;
        }
        let is_plain = self.is_first() && held_back == 0;
        let tally = if is_plain && self.made.total() == rows && self.dispositions[0] == rows {
            // Every row made a job of its own, and nothing has moved since.
            self.made.clone()
        } else {
            tallies::tally_of(&self.transaction, &Awaited::of(self.path), self.import)?
        };
        named_id::add(&self.transaction, &self.named)?;
        self.dropped.end(&self.transaction)?;
        failpoint::reach("import.before-commit");
        self.transaction.commit()?;
        failpoint::reach("import.committed");
        self.without_log.end()?;
        let [added, revised, recognised, changed_since] = self.dispositions;
        Ok(Imported {
            import: self.import,
            rows,
            tally,
            added,
            revised,
            recognised,
            changed_since,
            left_out: self.left_out,
            answered: self.answered,
        })
    }

    /// Notes the ids that are to be verified.
    fn note_named(&mut self, links: &[Link]) {
        for link in links {
            if let Target::Remote(id) = link.target {
                self.named.insert((link.role.target(), id));
            }
        }
    }

    /// Where a job with these links stands before anything is sent.
    fn initial_state(&mut self, links: &[Link]) -> Result<JobState> {
        let mut state = Ready;
        for link in links {
            let Target::Job(target) = link.target else { continue };
            if self.is_first() {
                // Made by this import, as every job.
                state = Blocked;
                continue;
            }
            let mut statement =
                self.transaction.prepare_cached("SELECT state, remote_id IS NULL FROM job WHERE id = ?1")?;
            let (parent, unmade): (JobState, bool) =
                statement.query_row([target], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if unmade {
                state = Blocked;
                if dependents::is_lost(parent) {
                    self.lost.insert(target);
                }
            }
        }
        Ok(state)
    }
}

/// Whether rows of earlier imports were left out and have not come again.
fn are_waiting(transaction: &Transaction<'_>) -> Result<bool> {
    Ok(transaction
        .query_row("SELECT EXISTS (SELECT 1 FROM left_out WHERE job IS NULL)", [], |row| row.get(0))?)
}

/// A value as the journal keeps it.
///
/// # Errors
/// When it cannot be written as JSON, which is a mistake of ours.
pub fn written(value: &impl Serialize) -> Result<String> {
    let mut written = Vec::with_capacity(USUAL_ACTION);
    serde_json::to_writer(&mut written, value).map_err(unwritable)?;
    String::from_utf8(written).map_err(|error| Error::internal("JSON that is no text").because(error))
}

/// A step as the journal keeps it.
///
/// # Errors
/// When the service has no operation for it, or it cannot be written as JSON: mistakes of ours.
pub fn written_step(kind: Kind, action: &Action) -> Result<WrittenStep> {
    Ok(WrittenStep { operation: step::operation_of(kind, action)?, action: written(action)? })
}

/// The steps of a job of this kind as the journal keeps them.
///
/// # Errors
/// Those of [`written_step`].
pub fn written_steps(kind: Kind, actions: &[Action]) -> Result<Vec<WrittenStep>> {
    actions.iter().map(|action| written_step(kind, action)).collect()
}

#[cfg(test)]
mod tests;

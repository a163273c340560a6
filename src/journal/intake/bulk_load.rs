//! The bulk load of an import: prepared statements, and for the first import of a journal no trigger, no write-ahead log, no
//! look-up of foreign keys, no CHECK and no indexes whose entries come in no order meanwhile.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, Statement, ToSql, Transaction, TransactionBehavior};

use crate::error::{Error, Result};
use crate::journal::file::column::{Id, count};
use crate::journal::file::file_watch::FileWatch;
use crate::journal::file::open;
use crate::journal::stored_row::{Shaped, StoredRow};
use crate::journal::{Disposition, NewJob, NewRow, WrittenStep, row_ref};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Link, Target};
use crate::model::state::JobState;

/// The first import of a journal.
pub(in crate::journal) const FIRST: ImportId = ImportId(1);

/// Page cache in KiB while a later import writes its rows: the random inserts into the indexes of a million jobs stay in
/// memory. The first one has no indexes meanwhile, so that rows only ever go to the end of their tables.
const CACHE_KIB: i64 = 65_536;

/// Threads that sort an index beside the one that reads its table.
const SORTING_THREADS: i64 = 1;

/// Page cache in KiB while indexes are built, and so the entries that are sorted at once: in pieces of this size, which stay in
/// the processor's cache, sorting and merging take less than in larger ones.
const SORTING_KIB: i64 = 4_096;

/// What is dropped while the first import of a journal writes its rows. The indexes in which new rows have entries in no order,
/// and which nothing asks meanwhile: others stay, as to add an entry behind all others takes less than to sort them, and to
/// build one that is empty its whole table has to be read. And the trigger that counts every job as it is added: those of a
/// first import are counted here.
const DROPPED: [&str; 3] = ["job_natural_key", "link_target", "job_added"];

/// The indexes and the trigger that are dropped while the first import of a journal writes its rows, and made again when all are
/// there: an index is sorted once then, instead of being searched for the place of every entry. All of it happens in the
/// transaction of the import: undone, it leaves them as they were.
#[derive(Debug, Default)]
pub(in crate::journal) struct Dropped {
    /// The statements that make them.
    statements: Vec<String>,
    /// The jobs that were added without the trigger.
    added: BTreeMap<(Kind, Operation, JobState), i64>,
    /// The page cache as it was, when it is another one now; that of an import that is undone stays large.
    cache: Option<i64>,
}

impl Dropped {
    /// Drops them for the first import, and none for a later one, which has a larger page cache instead. What SQLite cannot
    /// sort in memory lies in its folder for temporary files for a moment.
    pub(in crate::journal) fn of(transaction: &Transaction<'_>, import: ImportId) -> Result<Self> {
        if import != FIRST {
            return Ok(Self { cache: exchange_cache(transaction, CACHE_KIB)?, ..Self::default() });
        }
        let mut text_of = transaction.prepare("SELECT type, sql FROM sqlite_schema WHERE name = ?1")?;
        let mut statements = Vec::with_capacity(DROPPED.len());
        for name in DROPPED {
            let (what, text): (String, String) =
                text_of.query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            statements.push(text);
            transaction.execute_batch(&format!("DROP {what} {name}"))?;
        }
        Ok(Self { statements, ..Self::default() })
    }

    /// Counts a job that is added, where no trigger does.
    pub(in crate::journal) fn count(&mut self, kind: Kind, operation: Operation, state: JobState) {
        if !self.statements.is_empty() {
            *self.added.entry((kind, operation, state)).or_default() += 1;
        }
    }

    /// Makes them, with what they would have of the jobs added meanwhile.
    pub(in crate::journal) fn build(&mut self, connection: &Connection) -> Result<()> {
        if self.statements.is_empty() {
            return Ok(());
        }
        let mut count = connection.prepare(
            "INSERT INTO job_count (first_import, kind, operation, state, audit, made_doubted, jobs)
             VALUES (?1, ?2, ?3, ?4, '', 0, ?5)",
        )?;
        for ((kind, operation, state), jobs) in std::mem::take(&mut self.added) {
            count.execute((FIRST, kind, operation, state, jobs))?;
        }
        build_indexes(connection, &std::mem::take(&mut self.statements).join(";"))
    }

    /// Gives the journal its page cache again, when everything of the import is written and read.
    pub(in crate::journal) fn end(self, connection: &Connection) -> Result<()> {
        give_back(connection, self.cache)
    }
}

/// Carries out statements that build indexes.
pub(in crate::journal) fn build_indexes(connection: &Connection, statements: &str) -> Result<()> {
    let cache: i64 = connection.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    // Sizes in KiB are negative numbers; a smaller one stays.
    connection.pragma_update(None, "cache_size", cache.max(-SORTING_KIB))?;
    connection.pragma_update(None, "threads", SORTING_THREADS)?;
    let built = connection.execute_batch(statements);
    connection.pragma_update(None, "threads", 0)?;
    connection.pragma_update(None, "cache_size", cache)?;
    Ok(built?)
}

/// Takes a page cache of this size; returns the one before, and `None` where that was chosen on purpose and stays.
fn exchange_cache(connection: &Connection, kib: i64) -> Result<Option<i64>> {
    let cache: i64 = connection.pragma_query_value(None, "cache_size", |row| row.get(0))?;
    if cache != -open::CACHE_KIB {
        return Ok(None);
    }
    connection.pragma_update(None, "cache_size", -kib)?;
    Ok(Some(cache))
}

/// Takes the page cache that was exchanged for another again.
fn give_back(connection: &Connection, cache: Option<i64>) -> Result<()> {
    if let Some(cache) = cache {
        connection.pragma_update(None, "cache_size", cache)?;
    }
    Ok(())
}

/// Rows that one statement adds in a first import, where nothing is asked of them before all are there. To find its place in
/// the table again takes a statement longer than to add a row.
const TOGETHER: usize = 100;

/// A statement that adds rows to a table: each at once, or so many together.
///
/// Rows that are added together are the first of so many SELECTs, up to a limit, which costs less than to take them out of
/// VALUES. What would break a constraint ends the import, and the statement the transaction with it: that needs no copy of
/// each page as it was before the statement.
#[derive(Debug)]
struct RowInsert<'a> {
    statement: Statement<'a>,
    /// Values that are bound for each row.
    columns: usize,
    together: usize,
    /// Rows that are bound, and not added yet.
    bound: usize,
}

impl<'a> RowInsert<'a> {
    fn into(
        connection: &'a Connection,
        table: &str,
        columns: &[(&str, InsertedAs)],
        together: usize,
    ) -> Result<Self> {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> = columns.iter().map(|(_, inserted)| inserted.value()).collect();
        let (or, limit) = if together > 1 { (" OR ROLLBACK", " LIMIT ?") } else { ("", "") };
        let row = format!("SELECT {}", values.join(", "));
        let rows = vec![row; together].join(" UNION ALL ");
        let statement = format!("INSERT{or} INTO {table} ({}) {rows}{limit}", names.join(", "));
        let columns = columns.iter().filter(|(_, inserted)| inserted.is_bound()).count();
        Ok(Self { statement: connection.prepare(&statement)?, columns, together, bound: 0 })
    }

    /// Adds a row of so many values as are bound.
    fn add<const COLUMNS: usize>(&mut self, row: [&dyn ToSql; COLUMNS]) -> Result<()> {
        debug_assert_eq!(self.columns, COLUMNS, "every value that is bound");
        for (value, column) in row.into_iter().zip(1..) {
            self.statement.raw_bind_parameter(self.bound * COLUMNS + column, value)?;
        }
        self.bound += 1;
        if self.bound == self.together { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.bound > 0 {
            if self.together > 1 {
                self.statement.raw_bind_parameter(self.together * self.columns + 1, count(self.bound))?;
            }
            self.bound = 0;
            self.statement.raw_execute()?;
        }
        Ok(())
    }
}

/// What stands in a column.
#[derive(Debug, Clone, Copy)]
enum InsertedAs {
    /// The value that is bound.
    Value,
    /// The word with the number that is bound: numbers are bound without memory of their own.
    Word(&'static [&'static str]),
    /// This number in every row; nothing is bound.
    Same(i64),
}

impl InsertedAs {
    fn is_bound(self) -> bool {
        !matches!(self, Self::Same(_))
    }

    fn value(self) -> String {
        match self {
            Self::Value => "?".to_owned(),
            Self::Word(words) => {
                let cases: String =
                    words.iter().enumerate().map(|(n, word)| format!(" WHEN {n} THEN '{word}'")).collect();
                format!("CASE ?{cases} END")
            }
            Self::Same(number) => number.to_string(),
        }
    }
}

/// The states in which a job is made.
const STATES: [&str; 2] = [JobState::Ready.as_str(), JobState::Blocked.as_str()];

/// What an import makes of a row with a job, each in its place in [`Disposition`].
const DISPOSITIONS: [&str; 4] = [
    Disposition::New.as_str(),
    Disposition::Revised.as_str(),
    Disposition::Recognised.as_str(),
    Disposition::ChangedSince.as_str(),
];

/// The statements that every new row of an import takes, prepared once: looked up by their text for each row, they take as
/// long as what they do.
#[derive(Debug)]
pub(in crate::journal) struct Inserts<'a> {
    connection: &'a Connection,
    job: RowInsert<'a>,
    step: RowInsert<'a>,
    link: RowInsert<'a>,
    row: RowInsert<'a>,
    text: Statement<'a>,
    shape: Statement<'a>,
    /// The last job that was made, where all jobs are of this import and foreign keys are not looked up.
    last: Option<JobId>,
}

impl<'a> Inserts<'a> {
    /// Adds to a journal what an import brings: `unsure` when the journal may lack what was sent with it once; `to_nothing`
    /// when there is no job in it yet and foreign keys are not looked up: what is added is there after [`Inserts::flush`] then.
    pub(in crate::journal) fn to(
        connection: &'a Connection,
        (import, unsure): (ImportId, bool),
        to_nothing: bool,
    ) -> Result<Self> {
        let together = if to_nothing { TOGETHER } else { 1 };
        let into = |table, columns: &[_]| RowInsert::into(connection, table, columns, together);
        let value = |name| (name, InsertedAs::Value);
        let same = |name, number| (name, InsertedAs::Same(number));
        Ok(Self {
            connection,
            job: into(
                "job",
                &[
                    value("kind"),
                    ("state", InsertedAs::Word(&STATES)),
                    value("operation"),
                    same("first_import", import.0),
                    same("last_import", import.0),
                    value("natural_key"),
                    value("sheet_key"),
                    value("name"),
                    value("content_hash"),
                    same("unsure", i64::from(unsure)),
                ],
            )?,
            step: into(
                "step",
                &[
                    value("id"),
                    value("operation"),
                    value("action"),
                    same("ended", 0),
                    value("shape"),
                    value("place"),
                ],
            )?,
            link: into("link", &["job", "role", "target_job", "target_id"].map(value))?,
            row: into(
                "sheet_row",
                &[
                    value("place"),
                    value("job"),
                    value("line_offset"),
                    ("disposition", InsertedAs::Word(&DISPOSITIONS)),
                    value("cells"),
                ],
            )?,
            text: connection.prepare("INSERT INTO cell_text (id, text) VALUES (?1, ?2)")?,
            shape: connection.prepare("INSERT INTO shape (id, text) VALUES (?1, ?2)")?,
            last: to_nothing.then_some(JobId(0)),
        })
    }

    /// Adds what was handed over.
    pub(in crate::journal) fn flush(&mut self) -> Result<()> {
        [&mut self.job, &mut self.step, &mut self.link, &mut self.row]
            .into_iter()
            .try_for_each(RowInsert::flush)
    }

    /// Adds the texts and the shape that a row is the first to have.
    pub(in crate::journal) fn texts(&mut self, stored: &StoredRow) -> Result<()> {
        for (number, text) in &stored.texts {
            self.text.execute((number, text))?;
        }
        if let Some(Shaped { shape, text: Some(text), .. }) = &stored.shaped {
            self.shape.execute((shape, &**text))?;
        }
        Ok(())
    }

    /// Adds a job in `state` with these steps; `source` is the row from which the first was made, and its place. Returns it
    /// with the operation it stands at.
    pub(in crate::journal) fn job(
        &mut self,
        job: &NewJob,
        (steps, source): (&[WrittenStep], Option<(&StoredRow, i64)>),
        state: JobState,
    ) -> Result<(JobId, Operation)> {
        let first = steps.first().ok_or_else(|| Error::internal("a job without a step"))?.operation;
        let state_number: i64 = match state {
            JobState::Ready => 0,
            JobState::Blocked => 1,
            _ => return Err(Error::internal(format!("a job would be made {state}"))),
        };
        self.job.add([
            &job.kind,
            &state_number,
            &first,
            &job.natural_key,
            &job.sheet_key,
            &job.name,
            &job.content_hash,
        ])?;
        // SQLite numbers them in the order in which they are added.
        let id = match &mut self.last {
            Some(last) => {
                last.0 += 1;
                *last
            }
            None => JobId(self.connection.last_insert_rowid()),
        };
        let shaped = source.and_then(|(stored, place)| Some((stored.shaped.as_ref()?, place)));
        for (WrittenStep { operation, action }, n) in steps.iter().zip(0_i64..) {
            let (text, shape, place) = match shaped.filter(|_| n == 0) {
                Some((shaped, place)) => (shaped.values.as_deref(), Some(shaped.shape), Some(place)),
                None => (Some(action.as_str()), None, None),
            };
            self.step.add([&(id.0 << 16 | n), operation, &text, &shape, &place])?;
        }
        Ok((id, first))
    }

    /// Adds what a job refers to.
    pub(in crate::journal) fn links(&mut self, job: JobId, links: &[Link]) -> Result<()> {
        for link in links {
            let (target, id) = match link.target {
                Target::Job(target) => (Some(self.made(target)?), None),
                Target::Remote(id) => (None, Some(Id(id))),
            };
            self.link.add([&job, &link.role, &target, &id])?;
        }
        Ok(())
    }

    /// Adds a row.
    pub(in crate::journal) fn row(&mut self, row: &NewRow, cells: &str) -> Result<()> {
        let offset = row.line.map(|line| count(line).saturating_sub(i64::from(row.number)));
        let job = self.made(row.job)?;
        self.row.add([&row_ref::key(row.sheet, row.number), &job, &offset, &(row.disposition as i64), &cells])
    }

    /// The job, which must be there.
    fn made(&self, job: JobId) -> Result<JobId> {
        match self.last {
            // Jobs of a first import are numbered from 1 without a gap.
            Some(last) if !(1..=last.0).contains(&job.0) => {
                Err(Error::internal(format!("job {job} was never made")))
            }
            Some(_) | None => Ok(job),
        }
    }
}

/// How a change is undone without the log: what is saved for that lies in a file that is emptied, and synced, by a commit.
const WITHOUT_LOG: &str = "TRUNCATE";

/// Not looked up meanwhile: that every job which is named was made is known without asking (`Inserts`).
const FOREIGN_KEYS: &str = "foreign_keys";

/// Meanwhile no CHECK is carried out: each would be for every row again what is so for all. Every job that is added has the few
/// columns that `Inserts` fills, in one of two states; the tests look at whole journals with all CHECKs.
const IGNORE_CHECKS: &str = "ignore_check_constraints";

/// The first import of a journal, written past the write-ahead log, which would take every page of it a second time; until
/// this is ended or dropped.
///
/// A journal that holds nothing yet needs no log to undo an import: in SQLite's other way of keeping its promise only pages
/// that were there before are saved beside the file, and what was added behind them is cut off again. Whoever opens the
/// journal after the process has died has that done by SQLite, and finds no import. The log is back before anything else is
/// written; a journal that another process has open keeps it throughout.
#[derive(Debug)]
pub(in crate::journal) struct WithoutLog<'a> {
    connection: &'a Connection,
    path: &'a Path,
    file_watch: &'a mut FileWatch,
    is_under_way: bool,
}

impl<'a> WithoutLog<'a> {
    /// Begins a transaction, without the log when nothing was ever imported and nobody else has the journal open.
    pub(in crate::journal) fn begin(
        connection: &'a Connection,
        path: &'a Path,
        file_watch: &'a mut FileWatch,
    ) -> Result<(Self, Transaction<'a>)> {
        let mut without_log = Self { connection, path, file_watch, is_under_way: false };
        let begin = || Transaction::new_unchecked(connection, TransactionBehavior::Immediate);
        if is_empty(connection)? {
            without_log.leave_log()?;
        }
        let transaction = begin()?;
        if !without_log.is_under_way || is_empty(&transaction)? {
            return Ok((without_log, transaction));
        }
        // Another process has imported meanwhile.
        transaction.rollback()?;
        without_log.take_log_back()?;
        Ok((without_log, begin()?))
    }

    /// Whether the log is put away, and foreign keys are not looked up.
    pub(in crate::journal) fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Goes on with the log.
    pub(in crate::journal) fn end(mut self) -> Result<()> {
        self.take_log_back()
    }

    fn leave_log(&mut self) -> Result<()> {
        let mode = self
            .connection
            .pragma_update_and_check(None, "journal_mode", WITHOUT_LOG, |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) => self.is_under_way = mode.eq_ignore_ascii_case(WITHOUT_LOG),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {}
                _ => return Err(error.into()),
            },
        }
        if self.is_under_way {
            open::set(self.connection, FOREIGN_KEYS, 0)?;
            open::set(self.connection, IGNORE_CHECKS, 1)?;
        }
        Ok(())
    }

    fn take_log_back(&mut self) -> Result<()> {
        if !self.is_under_way {
            return Ok(());
        }
        open::set(self.connection, IGNORE_CHECKS, 0)?;
        open::set(self.connection, FOREIGN_KEYS, 1)?;
        open::demand_log(self.connection, self.path)?;
        // The log is made by the first look at the journal.
        is_empty(self.connection)?;
        self.file_watch.look_anew(self.path);
        self.is_under_way = false;
        Ok(())
    }
}

/// Whether nothing was ever imported.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM import)", [], |row| row.get(0))
}

impl Drop for WithoutLog<'_> {
    fn drop(&mut self) {
        // An import that was undone has been told, with its reason. The next commit says what is wrong with the log.
        if let Err(error) = self.take_log_back() {
            tracing::debug!(%error, "the journal goes on without its log");
        }
    }
}

#[cfg(test)]
mod tests;

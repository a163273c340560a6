//! Looking for jobs by what names them: natural key, key in a sheet, name, id. For the import and for `check`.

use std::cell::Cell;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Params, Statement};

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::file::sqlite_error;
use crate::journal::intake::bulk_load::build_indexes;
use crate::journal::row_ref;
use crate::journal::state::selection::refused;
use crate::journal::{ImportWriter, View};
use crate::model::content_hash::ContentHash;
use crate::model::id::{ImportId, JobId, RemoteId, SheetId};
use crate::model::kind::Kind;
use crate::model::record::{Link, Target};
use crate::model::state::JobState;

/// A job that is in the journal already.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownJob {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Where it stands.
    pub state: JobState,
    /// The record it made, or found.
    pub remote_id: Option<RemoteId>,
    /// The key other rows refer to it by, folded.
    pub sheet_key: Option<String>,
    /// Its name as names are compared.
    pub name: String,
    /// Its natural key.
    pub natural_key: String,
    /// The hash of the values it has now.
    pub content_hash: ContentHash,
    /// What it refers to.
    pub links: Vec<Link>,
    /// The import that brought it first.
    pub first_import: ImportId,
}

/// The indexes of jobs by key and by name. Only what comes after a first import looks for jobs by those, and to make the indexes
/// takes a seventh of that import.
const INDEXES: &str = "
    CREATE INDEX IF NOT EXISTS job_sheet_key ON job (sheet_key, kind) WHERE sheet_key IS NOT NULL;
    CREATE INDEX IF NOT EXISTS job_name ON job (name, kind);";

/// Whether a connection knows that the indexes of jobs by key and by name are there, or that there is no room for them.
#[derive(Debug, Default)]
pub(in crate::journal) struct JobIndexes {
    are_there: Cell<bool>,
    lack_room: Cell<bool>,
}

impl JobIndexes {
    /// Makes the indexes unless they are there.
    fn make(&self, connection: &Connection) -> Result<()> {
        if !self.are_there.get() {
            build_indexes(connection, INDEXES)?;
            self.are_there.set(true);
        }
        Ok(())
    }
}

impl View {
    /// Makes the indexes unless they are there, or they cannot be made now: whoever only reads waits for nobody who writes, and
    /// needs no room. Jobs are found without them too, in more time. On a full disk they are tried once: that takes nearly as
    /// long as to make them.
    fn index_jobs(&self) -> Result<()> {
        if self.job_indexes.are_there.get() || self.job_indexes.lack_room.get() {
            return Ok(());
        }
        // Otherwise a first import would have them to keep.
        let is_empty = "SELECT NOT EXISTS (SELECT 1 FROM job)";
        if self.connection.prepare_cached(is_empty)?.query_row([], |row| row.get(0))? {
            return Ok(());
        }
        let patience: u32 = self.connection.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
        self.connection.busy_timeout(Duration::ZERO)?;
        let made = self.job_indexes.make(&self.connection);
        self.connection.busy_timeout(Duration::from_millis(patience.into()))?;
        made.or_else(|error| match sqlite_error::failure(&error).map(|failure| failure.code) {
            Some(ErrorCode::DiskFull) => {
                self.job_indexes.lack_room.set(true);
                Ok(())
            }
            // Others write, or this process may not.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ReadOnly) => Ok(()),
            _ => Err(error),
        })
    }
}

impl ImportWriter<'_> {
    fn index_jobs(&self) -> Result<()> {
        self.job_indexes.make(&self.transaction)
    }
}

/// The columns of a [`KnownJob`].
macro_rules! known {
    ($condition:literal) => {
        concat!(
            "SELECT id, kind, state, remote_id, sheet_key, name, natural_key, content_hash, first_import FROM job WHERE ",
            $condition
        )
    };
}

/// Gives a type with a connection the four look-ups.
macro_rules! look_ups {
    ($type:ty, $connection:ident) => {
        impl $type {
            /// The job of this kind with this natural key.
            pub fn by_natural_key(&self, kind: Kind, natural_key: &str) -> Result<Option<KnownJob>> {
                find(&self.$connection, known!("kind = ?1 AND natural_key = ?2"), (kind, natural_key))
                    .map(|mut jobs| jobs.pop())
            }

            /// The jobs of this kind with this key in their sheets, newest first.
            pub fn by_sheet_key(&self, kind: Kind, folded_key: &str) -> Result<Vec<KnownJob>> {
                self.index_jobs()?;
                let sql = known!("kind = ?1 AND sheet_key = ?2 ORDER BY id DESC");
                find(&self.$connection, sql, (kind, folded_key))
            }

            /// The jobs of this kind with this name, newest first; without any, those whose record had it before an
            /// update.
            pub fn by_name(&self, kind: Kind, comparable_name: &str) -> Result<Vec<KnownJob>> {
                self.index_jobs()?;
                let sql = known!("kind = ?1 AND name = ?2 ORDER BY id DESC");
                let jobs = find(&self.$connection, sql, (kind, comparable_name))?;
                if !jobs.is_empty() {
                    return Ok(jobs);
                }
                let sql = known!(
                    "id IN (SELECT job FROM former_name WHERE kind = ?1 AND name = ?2) ORDER BY id DESC"
                );
                find(&self.$connection, sql, (kind, comparable_name))
            }

            /// The job that owns this record.
            pub fn by_remote_id(&self, kind: Kind, id: RemoteId) -> Result<Option<KnownJob>> {
                find(&self.$connection, known!("kind = ?1 AND remote_id = ?2"), (kind, Id(id)))
                    .map(|mut jobs| jobs.pop())
            }
        }
    };
}

look_ups!(View, connection);
look_ups!(ImportWriter<'_>, transaction);

/// Jobs with one name that are looked at, of which there may be as many as rows.
const MOST_OF_A_NAME: i64 = 20;

impl ImportWriter<'_> {
    /// Whether an import is paused.
    pub fn is_paused(&self, import: ImportId) -> Result<bool> {
        let sql = "SELECT paused_at IS NOT NULL FROM import WHERE id = ?1";
        Ok(self.transaction.prepare_cached(sql)?.query_row([import], |row| row.get(0))?)
    }

    /// The import that named a job last.
    pub fn last_import_of(&self, job: JobId) -> Result<ImportId> {
        row_ref::last_import_of(&self.transaction, job)
    }
}

impl View {
    /// The jobs of this kind that rows may refer to by this key, newest first: their own one, or one that a later row had for
    /// them.
    pub fn by_any_key(&self, kind: Kind, folded_key: &str) -> Result<Vec<KnownJob>> {
        self.index_jobs()?;
        let sql = known!(
            "id IN (SELECT id FROM job WHERE kind = ?1 AND sheet_key = ?2
                 UNION ALL SELECT job FROM other_key WHERE kind = ?1 AND sheet_key = ?2) ORDER BY id DESC"
        );
        find(&self.connection, sql, (kind, folded_key))
    }

    /// The keys and names of the newest `most` jobs of a kind that have their record, and of those among the newest of all
    /// kinds that have none yet.
    pub fn keys_and_names(&self, kind: Kind, most: u32) -> Result<Vec<(Option<String>, String)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT * FROM (SELECT sheet_key, name FROM job INDEXED BY job_made
                 WHERE kind = ?1 AND remote_id IS NOT NULL ORDER BY id DESC LIMIT ?2)
             UNION ALL SELECT sheet_key, name FROM job
                 WHERE id > (SELECT max(id) FROM job) - ?2 AND kind = ?1 AND remote_id IS NULL AND state <> 'cancelled'",
        )?;
        let names = statement.query_map((kind, most), |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(names.collect::<rusqlite::Result<_>>()?)
    }

    /// What a job refers to.
    pub fn links_of(&self, job: JobId) -> Result<Vec<Link>> {
        links(&self.connection, job)
    }

    /// The id of a job's record, where there is one, its name, and `file!sheet!row` of the row that named it last.
    pub fn named_in(&self, job: JobId) -> Result<(Option<RemoteId>, String, String)> {
        let (id, name): (Option<Id>, String) = self
            .connection
            .prepare_cached("SELECT remote_id, name FROM job WHERE id = ?1")?
            .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok((id.map(|id| id.0), name, row_ref::of_job(&self.connection, job)?))
    }
}

impl ImportWriter<'_> {
    /// The newest jobs of this kind and name that earlier imports brought: a few, where many have it.
    pub fn earlier_by_name(&self, kind: Kind, comparable_name: &str) -> Result<Vec<KnownJob>> {
        self.index_jobs()?;
        let sql = known!("kind = ?1 AND name = ?2 AND first_import < ?3 ORDER BY id DESC LIMIT ?4");
        find(&self.transaction, sql, (kind, comparable_name, self.import(), MOST_OF_A_NAME))
    }

    /// A job by its number.
    pub fn by_job(&self, job: JobId) -> Result<Option<KnownJob>> {
        find(&self.transaction, known!("id = ?1"), [job]).map(|mut jobs| jobs.pop())
    }

    /// The code of what was said of a job last.
    pub fn code_of(&self, job: JobId) -> Result<Option<String>> {
        let sql = "SELECT code FROM job WHERE id = ?1";
        Ok(self.transaction.prepare_cached(sql)?.query_row([job], |row| row.get(0))?)
    }

    /// Whether jobs of earlier imports were rejected, are incomplete or were skipped.
    pub fn has_failed(&self) -> Result<bool> {
        let any = concat!("SELECT EXISTS (SELECT 1 FROM job WHERE ", refused!(), ")");
        Ok(self.transaction.prepare_cached(any)?.query_row([], |row| row.get(0))?)
    }

    /// The newest sheets of earlier imports with this file and name (`file!sheet`): a few, where there are many.
    pub fn earlier_sheets(&self, name: &str) -> Result<Vec<SheetId>> {
        let sql =
            "SELECT id FROM sheet WHERE file || '!' || name = ?1 AND import < ?2 ORDER BY id DESC LIMIT ?3";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let sheets = statement.query_map((name, self.import(), MOST_OF_A_NAME), |row| row.get(0))?;
        Ok(sheets.collect::<rusqlite::Result<_>>()?)
    }

    /// The job of a row, where it is of this kind.
    pub fn placed_at(&self, kind: Kind, sheet: SheetId, row: u32) -> Result<Option<KnownJob>> {
        let sql =
            known!("kind = ?1 AND id = (SELECT sheet_row.job FROM sheet_row WHERE sheet_row.place = ?2)");
        find(&self.transaction, sql, (kind, row_ref::key(sheet, row))).map(|mut jobs| jobs.pop())
    }

    /// The job of this kind whose record had this natural key before an update, the newest of several.
    pub fn by_former_key(&self, kind: Kind, natural_key: &str) -> Result<Option<KnownJob>> {
        let sql =
            known!("id IN (SELECT job FROM former_name WHERE kind = ?1 AND natural_key = ?2) ORDER BY id");
        find(&self.transaction, sql, (kind, natural_key)).map(|mut jobs| jobs.pop())
    }

    /// What a job refers to.
    pub fn links_of(&self, job: JobId) -> Result<Vec<Link>> {
        links(&self.transaction, job)
    }
}

fn find(connection: &Connection, sql: &str, values: impl Params) -> Result<Vec<KnownJob>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        let job = row.get(0)?;
        jobs.push(KnownJob {
            job,
            kind: row.get(1)?,
            state: row.get(2)?,
            remote_id: row.get::<_, Option<Id>>(3)?.map(|id| id.0),
            sheet_key: row.get(4)?,
            name: row.get(5)?,
            natural_key: row.get(6)?,
            content_hash: row.get(7)?,
            first_import: row.get(8)?,
            links: links(connection, job)?,
        });
    }
    Ok(jobs)
}

/// What a job refers to.
pub(in crate::journal) fn links(connection: &Connection, job: JobId) -> Result<Vec<Link>> {
    let mut statement = connection.prepare_cached(LINKS)?;
    read_links(&mut statement, job)
}

/// What the job `?1` refers to.
pub(in crate::journal) const LINKS: &str =
    "SELECT role, target_job, target_id FROM link WHERE job = ?1 ORDER BY role";

/// The same by the statement [`LINKS`].
pub(in crate::journal) fn read_links(links: &mut Statement<'_>, job: JobId) -> Result<Vec<Link>> {
    let mut rows = links.query([job])?;
    let mut links = Vec::new();
    while let Some(row) = rows.next()? {
        let target = match (row.get(1)?, row.get::<_, Option<Id>>(2)?) {
            (Some(target), _) => Target::Job(target),
            (None, Some(id)) => Target::Remote(id.0),
            // A CHECK keeps one of the two.
            (None, None) => return Err(Error::internal(format!("a link of job {job} points nowhere"))),
        };
        links.push(Link { role: row.get(0)?, target });
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{at, bench, import_companies};

    /// How many of the indexes are there, and whether SQLite looks jobs up by them.
    fn indexes(connection: &Connection) -> (i64, bool) {
        let count = "SELECT count(*) FROM sqlite_schema WHERE name IN ('job_sheet_key', 'job_name')";
        let plan_of = |condition: &str| -> String {
            let sql = format!("EXPLAIN QUERY PLAN {} {condition}", known!(""));
            connection.query_row(&sql, [], |row| row.get(3)).unwrap()
        };
        let is_used = plan_of("kind = 1 AND sheet_key = 'a' ORDER BY id DESC").contains("job_sheet_key")
            && plan_of("kind = 1 AND name = 'a' ORDER BY id DESC").contains("job_name");
        (connection.query_row(count, [], |row| row.get(0)).unwrap(), is_used)
    }

    #[test]
    fn the_indexes_by_key_and_name_are_made_when_a_job_is_first_looked_up_by_one() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        assert!(bench.journal.by_natural_key(Kind::Company, "Acme").unwrap().is_some());
        assert_eq!(indexes(&bench.journal.connection), (0, false), "a first import needs neither");

        let import = bench.journal.begin_import(at(2)).unwrap();
        assert_eq!(import.by_name(Kind::Company, "Bolt").unwrap()[0].job, jobs[1]);
        assert_eq!(indexes(&import.transaction), (2, true));
        drop(import);
        assert_eq!(indexes(&bench.journal.connection), (0, false), "an import that is undone leaves nothing");

        assert_eq!(bench.journal.by_any_key(Kind::Company, "acme").unwrap()[0].job, jobs[0]);
        assert_eq!(indexes(&bench.journal.connection), (2, true));
        let import = bench.journal.begin_import(at(3)).unwrap();
        assert_eq!(import.earlier_by_name(Kind::Company, "Acme").unwrap()[0].job, jobs[0]);
        import.finish().unwrap();
        assert_eq!(indexes(&bench.journal.connection), (2, true));
    }

    #[test]
    fn whoever_only_reads_waits_for_nobody_who_writes_and_needs_no_room() {
        let mut bench = bench();
        assert_eq!(bench.journal.by_name(Kind::Company, "Acme").unwrap(), []);
        assert_eq!(indexes(&bench.journal.connection), (0, false), "of an empty journal");
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        let found = |journal: &View| journal.by_any_key(Kind::Company, "bolt").unwrap()[0].job;

        let other = Connection::open(bench.journal.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!((found(&bench.journal), indexes(&bench.journal.connection)), (jobs[1], (0, false)));
        other.execute_batch("ROLLBACK").unwrap();

        let connection = &bench.journal.connection;
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        let limit =
            |pages: i64| connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()));
        limit(pages).unwrap();
        assert_eq!((found(&bench.journal), indexes(connection)), (jobs[1], (0, false)));
        limit(pages + 100).unwrap();
        assert_eq!((found(&bench.journal), indexes(connection)), (jobs[1], (0, false)));
        let patience: i64 = connection.pragma_query_value(None, "busy_timeout", |row| row.get(0)).unwrap();
        assert_eq!(u128::try_from(patience).unwrap(), crate::journal::file::open::PATIENCE.as_millis());
        let import = bench.journal.begin_import(at(3)).unwrap();
        assert_eq!(import.by_name(Kind::Company, "Bolt").unwrap()[0].job, jobs[1]);
        assert_eq!(indexes(&import.transaction), (2, true), "an import needs them");
    }
}

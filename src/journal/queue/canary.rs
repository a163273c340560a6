//! The canary: rows that are sent and verified before all others. While there are any, no other row is handed out, by this run
//! or by a later one. Which rows are chosen, and whether they are right, is decided in the run.

use rusqlite::Row;

use crate::error::Result;
use crate::journal::file::column::{count, natural};
use crate::journal::row_ref::last_sheet_of_job;
use crate::journal::state::dependents::record_order::comes_before;
use crate::journal::{AuditScope, JobQueue, SheetId, View, Work, row_ref};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::state::JobState;

/// A row that could be sent, with what spreads a choice of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanaryCandidate {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// The sheet that named it last.
    pub sheet: SheetId,
    /// The company, or whatever else it belongs to; the same text for the same one.
    pub owner: String,
}

/// A row of the canary and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanaryRow {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Its name as names are compared.
    pub name: String,
    /// `file!sheet!row`.
    pub place: String,
    /// The import that named it last.
    pub import: ImportId,
    /// Where it stands.
    pub state: JobState,
    /// The code of what is the matter, with it or, by verification, with its record; and the same in words.
    pub code: Option<String>,
    /// The same in words.
    pub message: Option<String>,
    /// How its record was verified.
    pub verification: CanaryVerification,
}

/// How the record of a row of the canary was verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanaryVerification {
    /// It was read back, or there is nothing to read back.
    Done,
    /// It is still to be read back.
    Due,
    /// No look-up shows it.
    Impossible,
    /// Reading it back found something that nobody has looked into.
    Problem,
}

/// The rows of one state that could be sent; a list of states would use none of the indexes.
macro_rules! sendable {
    ($state:literal) => {
        concat!(
            "SELECT job.id AS id, job.kind AS kind, ",
            last_sheet_of_job!(),
            " AS sheet,
                 coalesce((SELECT coalesce(CAST(target_job AS TEXT), hex(target_id)) FROM link
                     WHERE link.job = job.id ORDER BY role LIMIT 1), '') AS owner
             FROM job WHERE state = '",
            $state,
            "' AND (?2 IS NULL OR last_import = ?2)
             AND EXISTS (SELECT 1 FROM import WHERE import.id = job.last_import AND import.paused_at IS NULL)"
        )
    };
}

/// The jobs of the canary, where no person has cancelled them (`$counts`). CROSS JOIN: the few of a canary are looked up among
/// all jobs, and not the other way round. Those of a paused import keep nobody waiting: they count again when it is resumed.
macro_rules! of_canary {
    () => {
        of_canary!(" AND job.state <> 'cancelled'")
    };
    ($counts:literal) => {
        concat!(
            "canary CROSS JOIN job ON job.id = canary.job
                AND EXISTS (SELECT 1 FROM import WHERE import.id = job.last_import AND import.paused_at IS NULL)",
            $counts
        )
    };
}
pub(super) use of_canary;

const CANARY: &str = concat!("SELECT job.id, job.kind FROM ", of_canary!(), " ORDER BY canary.job");
const CANARY_ROWS: &str = concat!(
    "SELECT job.id, job.kind, job.name, job.state,
         coalesce(audit.code, job.code), coalesce(audit.message, job.message), audit.job IS NOT NULL, job.audit
     FROM ",
    of_canary!(),
    "
     LEFT JOIN audit ON audit.job = job.id AND NOT EXISTS (SELECT 1 FROM decision
         WHERE decision.job = job.id AND what = 'seen' AND details = CAST(audit.run AS TEXT))
     ORDER BY canary.job"
);

impl View {
    /// The rows of the canary that nobody has cancelled and whose import is not paused.
    pub fn canary(&self) -> Result<Vec<(JobId, Kind)>> {
        Ok(self
            .connection
            .prepare_cached(CANARY)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// Whether no row beside it is handed out, also when all of its rows are cancelled: until that is closed.
    pub(in crate::journal) fn has_canary(&self) -> Result<bool> {
        let any = concat!("SELECT EXISTS (SELECT 1 FROM ", of_canary!(""), ")");
        Ok(self.connection.prepare_cached(any)?.query_row([], |row| row.get(0))?)
    }

    /// Rows of an import, or of all, that could be sent, or could be once others are: of each kind, sheet and owner the first
    /// few, oldest first.
    pub fn canary_candidates(&self, of_each: u64, import: Option<ImportId>) -> Result<Vec<CanaryCandidate>> {
        let sql = concat!(
            "SELECT id, kind, sheet, owner FROM (
                 SELECT *, row_number() OVER (PARTITION BY kind, sheet, owner ORDER BY id) AS number FROM (",
            sendable!("ready"),
            " UNION ALL ",
            sendable!("deferred"),
            " UNION ALL ",
            sendable!("blocked"),
            ")) WHERE number <= ?1 ORDER BY id"
        );
        let candidate = |row: &Row<'_>| {
            Ok(CanaryCandidate {
                job: row.get(0)?,
                kind: row.get(1)?,
                sheet: row.get(2)?,
                owner: row.get(3)?,
            })
        };
        Ok(self
            .connection
            .prepare_cached(sql)?
            .query_map((count(of_each), import), candidate)?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// The rows that must be done before this one is sent; `None` when one of them cannot be, as it failed, needs a person or
    /// belongs to a paused import.
    pub fn waits_for_rows(&self, job: JobId) -> Result<Option<Vec<(JobId, Kind)>>> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT other.id, other.kind, other.state,
                 (SELECT paused_at IS NOT NULL FROM import WHERE import.id = other.last_import)
             FROM (SELECT target_job AS id FROM link JOIN job ON job.id = target_job
                   WHERE link.job = ?1 AND job.remote_id IS NULL
                   UNION
                   SELECT before.job FROM upkeep AS own
                   CROSS JOIN upkeep AS before CROSS JOIN job ON job.id = before.job
                   WHERE own.job = ?1 AND ",
            comes_before!("before", "job", "own"),
            " AND (SELECT finished_at IS NULL FROM job WHERE id = ?1)) AS waited
             JOIN job AS other ON other.id = waited.id ORDER BY 1",
        ))?;
        let mut rows = statement.query([job])?;
        let mut others = Vec::new();
        while let Some(row) = rows.next()? {
            let state: JobState = row.get(2)?;
            if state.is_final() || state == JobState::Held || row.get(3)? {
                return Ok(None);
            }
            others.push((row.get(0)?, row.get(1)?));
        }
        Ok(Some(others))
    }

    /// The same, each with how it stands.
    pub fn canary_rows(&self) -> Result<Vec<CanaryRow>> {
        let mut statement = self.connection.prepare_cached(CANARY_ROWS)?;
        let mut found = statement.query([])?;
        let mut rows = Vec::new();
        while let Some(row) = found.next()? {
            let (job, audit): (JobId, Option<String>) = (row.get(0)?, row.get(7)?);
            let verification = match audit.as_deref() {
                _ if row.get(6)? => CanaryVerification::Problem,
                Some("due") => CanaryVerification::Due,
                Some("unread") => CanaryVerification::Impossible,
                Some(_) | None => CanaryVerification::Done,
            };
            rows.push(CanaryRow {
                job,
                kind: row.get(1)?,
                name: row.get(2)?,
                place: row_ref::of_job(&self.connection, job)?,
                import: row_ref::last_import_of(&self.connection, job)?,
                state: row.get(3)?,
                code: row.get(4)?,
                message: row.get(5)?,
                verification,
            });
        }
        Ok(rows)
    }

    /// How many rows that are not of the canary could be sent now or later.
    pub fn beside_canary(&self) -> Result<u64> {
        let beside = "SELECT (SELECT coalesce(sum(jobs), 0) FROM job_count
                 WHERE state IN ('ready', 'deferred', 'in_doubt'))
             - (SELECT count(*) FROM canary JOIN job ON job.id = canary.job
                WHERE job.state IN ('ready', 'deferred', 'in_doubt', 'sending'))";
        Ok(natural(self.connection.prepare_cached(beside)?.query_row([], |row| row.get(0))?))
    }
}

impl JobQueue<'_> {
    /// Adds rows to the canary.
    pub fn open_canary(&mut self, jobs: &[JobId]) -> Result<()> {
        let transaction = self.journal.begin()?;
        for job in jobs {
            transaction.prepare_cached("INSERT OR IGNORE INTO canary (job) VALUES (?1)")?.execute([job])?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Ends the canary: all other rows may be sent. That of paused imports stays, until they are resumed.
    pub fn close_canary(&mut self) -> Result<()> {
        let sql = concat!("DELETE FROM canary WHERE job IN (SELECT canary.job FROM ", of_canary!(""), ")");
        self.journal.view.connection.execute(sql, [])?;
        Ok(())
    }

    /// Ends the canary also of paused imports.
    pub fn drop_canary(&mut self) -> Result<()> {
        self.journal.view.connection.execute("DELETE FROM canary", [])?;
        Ok(())
    }

    /// The rows of the canary that are to be read back, as [`Self::unaudited`] gives them.
    pub(in crate::journal) fn unaudited_of_canary(&self, after: Option<JobId>) -> Result<Vec<Work>> {
        let jobs = self.canary()?.into_iter().map(|(job, _)| job);
        let later: Vec<JobId> = jobs.filter(|job| after.is_none_or(|after| *job > after)).collect();
        self.unaudited_among(AuditScope::All, &later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Disposition, Journal, WorkPage};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::Sending;

    #[test]
    fn the_canary_is_not_sought_among_all_jobs() {
        let bench = bench();
        for sql in [CANARY, CANARY_ROWS] {
            assert!(plan(&bench.journal, sql).contains(&"SCAN canary".to_owned()), "{sql}");
        }
    }

    fn handed_out(journal: &mut Journal) -> Vec<JobId> {
        let page = journal.queue().ready(AddCompany, at(9_000), 10, &[]).unwrap();
        page.work.iter().map(|work| work.job).collect()
    }

    fn candidates(journal: &Journal, of_each: u64) -> Vec<JobId> {
        journal.canary_candidates(of_each, None).unwrap().iter().map(|row| row.job).collect()
    }

    #[test]
    fn while_there_is_a_canary_no_other_row_is_handed_out_or_read_back() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (_, jobs) = import_companies(journal, &["A", "B", "C"], false);
        apply(journal, claim(jobs[0], AddCompany)).unwrap();
        apply(journal, created(jobs[0], Sending, id(1))).unwrap();
        assert_eq!(handed_out(journal), jobs[1..]);
        let due = |journal: &mut Journal| journal.queue().unaudited(AuditScope::All, None, 9).unwrap().len();
        assert_eq!(due(journal), 1);

        journal.queue().open_canary(&[jobs[2]]).unwrap();
        journal.queue().open_canary(&[jobs[2]]).unwrap();
        assert_eq!(handed_out(journal), [jobs[2]]);
        assert_eq!(due(journal), 0, "the row that was done before is no row of it");
        assert_eq!((journal.canary().unwrap().len(), journal.beside_canary().unwrap()), (1, 1));
        let in_hand = journal.queue().ready(AddCompany, at(9_000), 10, &[jobs[2]]).unwrap();
        assert_eq!(in_hand, WorkPage::default());

        // It is verified, and its other steps are not those of anybody else.
        apply(journal, claim(jobs[2], AddCompany)).unwrap();
        apply(journal, created(jobs[2], Sending, id(3))).unwrap();
        assert_eq!((handed_out(journal), due(journal)), (vec![], 1));
        let row = journal.canary_rows().unwrap().remove(0);
        assert_eq!((row.state, row.verification), (JobState::Created, CanaryVerification::Due));
        assert_eq!(row.place, "customers.csv!customers!4");
        let total = journal.queue().count_to_read_back(AuditScope::All).unwrap();
        assert_eq!((total.records, total.changes), (1, 0));

        journal.queue().close_canary().unwrap();
        assert_eq!((handed_out(journal), due(journal)), (vec![jobs[1]], 2));
    }

    #[test]
    fn rows_that_could_be_sent_are_few_of_each_sheet_and_owner_and_say_what_they_wait_for() {
        let mut bench = bench();
        let journal = &mut bench.journal;
        let (_, chain) = import_companies(journal, &["A", "B", "C"], true);
        assert_eq!(candidates(journal, 9), chain);
        assert_eq!(journal.waits_for_rows(chain[0]).unwrap(), Some(vec![]));
        assert_eq!(journal.waits_for_rows(chain[2]).unwrap(), Some(vec![(chain[1], Kind::Company)]));
        let mut import = journal.begin_import(at(2_000)).unwrap();
        let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        let mut below = Vec::new();
        for number in 2..6 {
            let owner = link(crate::model::record::Role::Company, chain[0]);
            let job = import.add_job(&site(&format!("S{number}"), vec![owner], Vec::new())).unwrap();
            import.row(&row(sites, number, job, Disposition::New)).unwrap();
            below.push(job);
        }
        import.finish().unwrap();
        assert_eq!(candidates(journal, 1), [chain[0], chain[1], chain[2], below[0]]);
        assert_eq!(candidates(journal, 2).len(), 5);

        // What is done is waited for no more, and below what failed nothing can be sent.
        apply(journal, claim(chain[0], AddCompany)).unwrap();
        apply(journal, created(chain[0], Sending, id(1))).unwrap();
        assert_eq!(journal.waits_for_rows(chain[1]).unwrap(), Some(vec![]));
        apply(journal, claim(chain[1], AddCompany)).unwrap();
        apply(journal, rejected(chain[1], Sending)).unwrap();
        assert_eq!(journal.waits_for_rows(chain[2]).unwrap(), None);
        assert_eq!(candidates(journal, 1), [below[0]]);
    }
}

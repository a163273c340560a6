//! Counts jobs and rows by kind and state.
//!
//! How many jobs there are of each kind in each state the journal keeps itself (`job_count`), so that a million of them take
//! no longer than ten. Those that are sending are few, and counted one by one.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::natural;
use crate::journal::row_ref;
use crate::journal::view::awaited::Awaited;
use crate::journal::view::every_row::every_row;
use crate::model::id::ImportId;
use crate::model::kind::{Kind, Upkeep};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// How many jobs of each kind are in each state, by the import that made them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobTallies {
    by_import: BTreeMap<ImportId, Tally>,
    /// Whether every row is there that was imported: in a journal that was read around damaged pages some are not.
    has_every_row: bool,
}

impl JobTallies {
    /// Those of all imports.
    pub fn all(&self) -> Tally {
        let mut all = Tally::default();
        self.by_import.values().for_each(|of_import| all.add_all(of_import));
        all
    }

    fn add(&mut self, import: ImportId, kind: Kind, state: JobState, jobs: u64) {
        self.by_import.entry(import).or_default().add(kind, state, jobs);
    }
}

/// The jobs of each kind in each state, by the import that made them.
const BY_IMPORT: &str = "SELECT first_import, kind, state, sum(jobs) FROM (
        SELECT first_import, kind, state, jobs FROM job_count
        UNION ALL SELECT first_import, kind, 'ready', -1 FROM job INDEXED BY job_sending WHERE state = 'sending'
        UNION ALL SELECT first_import, kind, 'sending', 1 FROM job INDEXED BY job_sending WHERE state = 'sending')
    GROUP BY first_import, kind, state HAVING sum(jobs) > 0";

impl View {
    /// How many jobs of each kind are in each state, by the import that made them.
    pub fn job_tallies(&self) -> Result<JobTallies> {
        let has_every_row = "SELECT (SELECT count(*) FROM sheet_row) + (SELECT count(*) FROM left_out)
             IS (SELECT sum(row_count) FROM sheet)";
        let has_every_row = self.connection.prepare_cached(has_every_row)?.query_row([], |row| row.get(0))?;
        let mut tallies = JobTallies { by_import: BTreeMap::new(), has_every_row };
        let mut statement = self.connection.prepare_cached(BY_IMPORT)?;
        let (mut rows, awaited) = (statement.query([])?, self.awaited());
        while let Some(row) = rows.next()? {
            let state = awaited.state(row.get(2)?);
            tallies.add(row.get(0)?, row.get(1)?, state, natural(row.get(3)?));
        }
        Ok(tallies)
    }

    /// How many jobs of each kind are in each state; for an import, each of its rows counts once.
    pub fn tally(&self, import: Option<ImportId>) -> Result<Tally> {
        let jobs = self.job_tallies()?;
        match import {
            Some(import) => self.tally_with(import, &jobs),
            None => Ok(jobs.all()),
        }
    }

    /// The rows of an import, where its jobs are counted already.
    pub fn tally_with(&self, import: ImportId, jobs: &JobTallies) -> Result<Tally> {
        let left_out = self.tally_left_out(import)?;
        match one_each(&self.connection, import, jobs, &left_out)? {
            Some(jobs) => {
                let mut rows = left_out;
                rows.add_all(jobs);
                Ok(rows)
            }
            None => tally_of(&self.connection, &self.awaited(), import),
        }
    }

    /// The same for the rows of an import that have a job: not those that it left out.
    pub fn tally_of_jobs(&self, import: ImportId) -> Result<Tally> {
        let mut rows = self.tally(Some(import))?;
        rows.take_away(&self.tally_left_out(import)?);
        Ok(rows)
    }

    /// How many of the cancelled rows of an import, or of all, had made a record before.
    pub fn cancelled_with_record(&self, import: Option<ImportId>) -> Result<u64> {
        let (first, last) = match import {
            Some(import) => row_ref::range_of(&self.connection, import)?,
            None => (0, 0),
        };
        let sql = match import {
            Some(_) => {
                "SELECT job.kind, count(*) FROM sheet_row JOIN job ON job.id = sheet_row.job
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.state = 'cancelled' AND job.outcome IS NOT NULL
                     AND job.audit IS NOT NULL GROUP BY job.kind"
            }
            None => {
                "SELECT kind, sum(jobs) FROM job_count WHERE ?1 = ?2 AND state = 'cancelled' AND audit <> '' GROUP BY kind"
            }
        };
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query((first, last))?;
        let mut made = 0;
        while let Some(row) = rows.next()? {
            if row.get::<_, Kind>(0)?.is_record() {
                made += natural(row.get(1)?);
            }
        }
        Ok(made)
    }

    /// Whether every row of an import that has a job made it, and no other row of the import is of that job; a row that was
    /// left out and came again has the job of a later import.
    pub(in crate::journal) fn makes_each(&self, import: ImportId) -> Result<bool> {
        let came_again =
            "SELECT EXISTS (SELECT 1 FROM left_out WHERE job IS NOT NULL AND place BETWEEN ?1 AND ?2)";
        let range = row_ref::range_of(&self.connection, import)?;
        if self.connection.prepare_cached(came_again)?.query_row(range, |row| row.get(0))? {
            return Ok(false);
        }
        let (jobs, left_out) = (self.job_tallies()?, self.tally_left_out(import)?);
        Ok(one_each(&self.connection, import, &jobs, &left_out)?.is_some())
    }

    /// The rows of an import beyond the first of their job: settings of a device in a VPN cloud are several rows and one job.
    pub fn rows_beyond_jobs(&self, import: ImportId) -> Result<Tally> {
        counted(
            &self.connection,
            &self.awaited(),
            "SELECT job.kind, job.state, count(*) - count(DISTINCT job.id) FROM sheet
             JOIN sheet_row ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
             JOIN job ON job.id = sheet_row.job
             WHERE sheet.import = ?1 AND sheet.kind = ?2 AND job.kind = ?2 GROUP BY job.kind, job.state",
            (import, Kind::Upkeep(Upkeep::Vpn)),
        )
    }

    /// The rows that an import left out, as the reports show them.
    fn tally_left_out(&self, import: ImportId) -> Result<Tally> {
        counted(
            &self.connection,
            &self.awaited(),
            "SELECT left_out.kind, coalesce(job.state, iif(left_out.given_up IS NULL, left_out.state, 'cancelled')), count(*)
             FROM left_out LEFT JOIN job ON job.id = left_out.job WHERE left_out.place BETWEEN ?1 AND ?2 GROUP BY 1, 2",
            row_ref::range_of(&self.connection, import)?,
        )
    }

    /// Which of these operations rows still wait to be sent with, by their names, and how many rows each; of an import, or of
    /// all.
    pub fn waiting_for(
        &self,
        import: Option<ImportId>,
        operations: &[Operation],
    ) -> Result<Vec<(Operation, u64)>> {
        let range = import.map(|import| row_ref::range_of(&self.connection, import)).transpose()?;
        let (first, last) = range.unzip();
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM (
                 SELECT id FROM job WHERE state = 'blocked' AND operation = ?1
                 UNION ALL SELECT id FROM job WHERE state = 'ready' AND operation = ?1
                 UNION ALL SELECT id FROM job WHERE state = 'deferred' AND operation = ?1
                 UNION SELECT job.id FROM step JOIN job ON job.id = step.job
                 WHERE step.ended = 0 AND step.n > 0 AND step.operation = ?1
                     AND job.state IN ('blocked', 'ready', 'deferred'))
             WHERE ?2 IS NULL OR EXISTS (
                 SELECT 1 FROM sheet_row WHERE sheet_row.job = id AND sheet_row.place BETWEEN ?2 AND ?3)",
        )?;
        let mut waiting = Vec::new();
        for &operation in operations {
            let rows = natural(statement.query_row((operation, first, last), |row| row.get(0))?);
            if rows > 0 {
                waiting.push((operation, rows));
            }
        }
        waiting.sort_by_key(|(operation, _)| operation.name());
        Ok(waiting)
    }
}

/// The jobs that an import made, where each of its rows with a job made it and no two made the same: then they are its rows.
fn one_each<'t>(
    connection: &Connection,
    import: ImportId,
    jobs: &'t JobTallies,
    left_out: &Tally,
) -> Result<Option<&'t Tally>> {
    let rows: Option<i64> = connection
        .prepare_cached("SELECT sum(row_count) FROM sheet WHERE import = ?1")?
        .query_row([import], |row| row.get(0))?;
    let made = jobs.by_import.get(&import).filter(|_| jobs.has_every_row);
    Ok(made.filter(|made| made.total() + left_out.total() == natural(rows.unwrap_or_default())))
}

/// How many rows of an import have a job of each kind in each state, row by row.
pub(in crate::journal) fn tally_of(
    connection: &Connection,
    awaited: &Awaited<'_>,
    import: ImportId,
) -> Result<Tally> {
    let sql = every_row!("SELECT kind, state, count(*) FROM (", ") GROUP BY kind, state");
    counted(connection, awaited, sql, row_ref::range_of(connection, import)?)
}

fn counted(connection: &Connection, awaited: &Awaited<'_>, sql: &str, values: impl Params) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        tally.add(row.get(0)?, awaited.state(row.get(1)?), natural(row.get(2)?));
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Disposition;
    use crate::journal::fixture::*;
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::{Created, Rejected};

    /// The same, counted row by row.
    fn row_by_row(bench: &Bench) -> Tally {
        let sql = "SELECT kind, state, count(*) FROM job GROUP BY kind, state";
        super::counted(&bench.journal.connection, &bench.journal.awaited(), sql, []).unwrap()
    }

    #[test]
    fn jobs_are_counted_by_the_journal_as_they_are_row_by_row() {
        let mut bench = bench();
        let names = ["Acme", "Bolt", "Cord", "Dole", "Eden"];
        let (first, jobs) = import_companies(&mut bench.journal, &names, true);
        let check = |bench: &Bench| {
            assert_eq!(bench.journal.tally(None).unwrap(), row_by_row(bench));
            let rows = tally_of(&bench.journal.connection, &bench.journal.awaited(), first.import).unwrap();
            assert_eq!(bench.journal.tally(Some(first.import)).unwrap(), rows);
            assert_eq!(bench.journal.tally_of_jobs(first.import).unwrap(), rows);
        };
        check(&bench);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        check(&bench);
        apply(&mut bench.journal, created(jobs[0], JobState::Sending, id(1))).unwrap();
        check(&bench);
        apply(&mut bench.journal, claim(jobs[1], AddCompany)).unwrap();
        apply(&mut bench.journal, rejected(jobs[1], JobState::Sending)).unwrap();
        check(&bench);
        assert_eq!(bench.journal.tally(None).unwrap().in_state(Created), 1);
        assert_eq!(bench.journal.tally(None).unwrap().in_state(Rejected), 1);

        // A row of a later import that is about a job of this one counts in both.
        let mut import = bench.journal.begin_import(at(4_000)).unwrap();
        let again = import.sheet(&sheet("again", Kind::Company)).unwrap();
        import.row(&row(again, 2, jobs[0], Disposition::Recognised)).unwrap();
        let second = import.finish().unwrap();
        check(&bench);
        let tally = bench.journal.tally(Some(second.import)).unwrap();
        assert_eq!((tally.total(), tally.in_state(Created)), (1, 1));
        assert_eq!(bench.journal.tally(None).unwrap().total(), 5);
    }
}

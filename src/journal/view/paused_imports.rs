//! The rows that wait for a paused import to be resumed, or for rows on hold, and those that came again in an import that is not
//! paused.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::queue::remaining::{and_what_it_waits_for, and_what_waits_for};
use crate::journal::state::dependents::record_order::comes_before;
use crate::journal::state::import_turn::unsent;
use crate::journal::{UnsentRows, View, row_ref};
use crate::model::id::{ImportId, JobId};

/// The import that has a job, where that is paused.
pub(in crate::journal) fn paused_by(connection: &Connection, job: JobId) -> Result<Option<ImportId>> {
    Ok(connection
        .prepare_cached(
            "SELECT import.id FROM job JOIN import ON import.id = job.last_import
             WHERE job.id = ?1 AND import.paused_at IS NOT NULL",
        )?
        .query_row([job], |row| row.get(0))
        .optional()?)
}

/// The paused import that has one of some jobs, or one of those that they wait for, directly or through others: the first that is
/// met, and only where that job is not sent meanwhile.
macro_rules! kept_by {
    ($jobs:expr) => {
        concat!(
            "WITH RECURSIVE waiting (id) AS (",
            $jobs,
            and_what_it_waits_for!("waiting"),
            ")
             SELECT import.id FROM waiting CROSS JOIN job ON job.id = waiting.id CROSS JOIN import ON import.id = job.last_import
             WHERE import.paused_at IS NOT NULL AND job.state IN ('ready', 'deferred', 'blocked') LIMIT 1"
        )
    };
}

/// The paused import that keeps a job from being sent, or one of those that it waits for.
pub(in crate::journal) fn kept_by(connection: &Connection, job: JobId) -> Result<Option<ImportId>> {
    let mut statement = connection.prepare_cached(kept_by!("SELECT ?1"))?;
    Ok(statement.query_row([job], |row| row.get(0)).optional()?)
}

/// The same of those that come before a job at the same record.
pub(in crate::journal) fn earlier_kept_by(connection: &Connection, job: JobId) -> Result<Option<ImportId>> {
    let mut statement = connection.prepare_cached(kept_by!(concat!(
        "SELECT first.job FROM upkeep AS own CROSS JOIN upkeep AS first CROSS JOIN job ON job.id = first.job
         WHERE own.job = ?1 AND ",
        comes_before!("first", "job", "own")
    )))?;
    Ok(statement.query_row([job], |row| row.get(0)).optional()?)
}

/// Rows that are not sent whatever run there is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRows {
    /// How many.
    pub rows: u64,
    /// How many wait for each paused import, or, directly or through others, for rows of it; `None`: for rows on hold. A row may
    /// wait for several.
    pub by: Vec<(Option<ImportId>, u64)>,
}

impl KeptRows {
    /// The paused imports for which they wait.
    pub fn paused_imports(&self) -> BTreeSet<ImportId> {
        self.by.iter().filter_map(|(paused, _)| *paused).collect()
    }
}

/// Blocked rows that wait, directly or through others, for rows of paused imports, each with the import; and those of `$first`
/// with what waits for them. Rows of paused imports, which may be very many, are looked at only where others wait for them.
macro_rules! with_kept {
    ($first:literal, $rest:literal) => {
        concat!(
            "WITH RECURSIVE paused (id) AS (SELECT id FROM import WHERE paused_at IS NOT NULL),
             kept (id, cause) AS (",
            $first,
            "SELECT waits.id, job.last_import FROM job AS waits INDEXED BY job_blocked
             CROSS JOIN link ON link.job = waits.id CROSS JOIN job ON job.id = link.target_job
             WHERE EXISTS (SELECT 1 FROM paused) AND waits.state = 'blocked' AND waits.last_import NOT IN paused
               AND job.last_import IN paused AND job.state IN ('ready', 'deferred', 'blocked') AND job.remote_id IS NULL
             UNION SELECT waits.id, job.last_import FROM job AS waits INDEXED BY job_blocked
             CROSS JOIN upkeep AS own ON own.job = waits.id CROSS JOIN upkeep AS first CROSS JOIN job ON job.id = first.job
             WHERE EXISTS (SELECT 1 FROM paused) AND waits.state = 'blocked' AND waits.last_import NOT IN paused
               AND job.last_import IN paused AND job.state IN ('ready', 'deferred', 'blocked') AND ",
            comes_before!("first", "job", "own"),
            and_what_waits_for!("kept", "cause"),
            "), ",
            $rest
        )
    };
}

/// See [`View::kept_rows`]. Rows on hold and those below them have no import that keeps them.
const KEPT: &str = with_kept!(
    "SELECT id, NULL FROM job INDEXED BY job_held WHERE state = 'held' UNION ",
    "own (id, cause) AS (SELECT kept.id, kept.cause FROM kept CROSS JOIN job ON job.id = kept.id
                         WHERE job.state = 'blocked'
                           AND iif(?1 IS NULL, job.last_import NOT IN paused, job.last_import = ?1))
     SELECT cause, count(*), (SELECT count(DISTINCT id) FROM own) FROM own GROUP BY 1 ORDER BY cause IS NULL, cause"
);

/// See [`View::rows_below_pauses`].
const BELOW_PAUSES: &str = with_kept!(
    "",
    "below (id, cause, is_first) AS (
         SELECT kept.id, kept.cause, kept.cause = min(kept.cause) OVER (PARTITION BY kept.id)
         FROM kept CROSS JOIN job ON job.id = kept.id WHERE job.state = 'blocked' AND job.last_import NOT IN paused)
     SELECT sheet.import, cause, count(*), sum(is_first) FROM below CROSS JOIN sheet_row ON sheet_row.job = below.id
     CROSS JOIN sheet ON sheet.id = sheet_row.place >> 32 GROUP BY 1, 2"
);

impl View {
    /// The blocked rows of an import that is not paused, or of all such imports, which wait, directly or through others, for rows
    /// on hold or of paused imports.
    pub fn kept_rows(&self, import: Option<ImportId>) -> Result<KeptRows> {
        let mut kept = KeptRows::default();
        let mut statement = self.connection.prepare_cached(KEPT)?;
        let mut rows = statement.query([import])?;
        while let Some(row) = rows.next()? {
            kept.by.push((row.get(0)?, natural(row.get(1)?)));
            kept.rows = natural(row.get(2)?);
        }
        Ok(kept)
    }

    /// The paused imports for which jobs wait, oldest first, each with these; of one import, those of its rows that wait for
    /// each. A row belongs to the import that named it last.
    pub fn rows_by_paused_import(&self, import: Option<ImportId>) -> Result<Vec<UnsentRows>> {
        let mut turns = self.import_turns()?;
        turns.retain(|turn| turn.paused_at.is_some());
        let Some(import) = import.filter(|_| !turns.is_empty()) else {
            let waiting = turns.iter().map(|turn| unsent(&self.connection, turn.import));
            return waiting.filter(|rows| !matches!(rows, Ok(rows) if rows.all == 0)).collect();
        };
        Ok(self
            .connection
            .prepare_cached(
                "SELECT import.id, sum(job.state <> 'blocked'), count(*)
                 FROM sheet_row JOIN job ON job.id = sheet_row.job JOIN import ON import.id = job.last_import
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.state IN ('ready', 'deferred', 'blocked')
                   AND import.paused_at IS NOT NULL GROUP BY 1 ORDER BY 1",
            )?
            .query_map(row_ref::range_of(&self.connection, import)?, |row| {
                Ok(UnsentRows {
                    import: row.get(0)?,
                    sendable: natural(row.get(1)?),
                    all: natural(row.get(2)?),
                })
            })?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// How many jobs wait only for a paused import to be resumed; of one import, how many of its rows.
    pub fn paused_rows(&self, import: Option<ImportId>) -> Result<u64> {
        Ok(self.rows_by_paused_import(import)?.iter().map(|rows| rows.sendable).sum())
    }

    /// The rows of an import that are not sent before a paused import is resumed; `below` is what
    /// [`rows_below_pauses`](Self::rows_below_pauses) tells.
    pub fn rows_kept_by_pauses(
        &self,
        import: ImportId,
        below: &BTreeMap<ImportId, KeptRows>,
    ) -> Result<KeptRows> {
        let mut kept = below.get(&import).cloned().unwrap_or_default();
        for paused in self.rows_by_paused_import(Some(import))? {
            kept.rows += paused.all;
            kept.by.push((Some(paused.import), paused.all));
        }
        Ok(kept)
    }

    /// By import, those of its rows that are of no paused import and wait for rows of one, directly or through others.
    pub fn rows_below_pauses(&self) -> Result<BTreeMap<ImportId, KeptRows>> {
        let mut below: BTreeMap<ImportId, KeptRows> = BTreeMap::new();
        let mut statement = self.connection.prepare_cached(BELOW_PAUSES)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let kept = below.entry(row.get(0)?).or_default();
            kept.by.push((row.get(1)?, natural(row.get(2)?)));
            kept.rows += natural(row.get(3)?);
        }
        Ok(below)
    }

    /// The rows of an import that belonged to a paused import before and are not sent yet, by that import.
    pub fn taken_from_paused(&self, import: ImportId) -> Result<Vec<(ImportId, u64)>> {
        if self.import_turns()?.iter().all(|turn| turn.paused_at.is_none()) {
            return Ok(Vec::new());
        }
        let (first, last) = row_ref::range_of(&self.connection, import)?;
        Ok(self
            .connection
            .prepare_cached(
                "SELECT import.id, count(DISTINCT job.id) FROM sheet_row JOIN job ON job.id = sheet_row.job
                 JOIN sheet ON sheet.id = (SELECT max(earlier.place) FROM sheet_row AS earlier
                                           WHERE earlier.job = job.id AND earlier.place < ?1) >> 32
                 JOIN import ON import.id = sheet.import
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.last_import = ?3
                   AND job.state IN ('ready', 'deferred', 'blocked') AND import.paused_at IS NOT NULL
                 GROUP BY 1 ORDER BY 1",
            )?
            .query_map((first, last, import), |row| Ok((row.get(0)?, natural(row.get(1)?))))?
            .collect::<rusqlite::Result<_>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{BELOW_PAUSES, KEPT};
    use crate::journal::Disposition;
    use crate::journal::fixture::*;
    use crate::model::kind::Kind;
    use crate::model::operation::Operation::AddCompany;

    #[test]
    fn what_waits_for_rows_of_paused_imports_is_looked_up_row_by_row() {
        for sql in [KEPT, BELOW_PAUSES] {
            let plan = plan(&bench().journal, sql).join("; ");
            for sought in ["AUTOMATIC", "SCAN job;", "SCAN sheet", "SCAN link", "SCAN upkeep"] {
                assert!(!plan.contains(sought), "{sought}: {plan}");
            }
        }
    }

    #[test]
    fn rows_wait_for_the_paused_import_that_named_them_last_unless_they_are_under_way() {
        let mut bench = bench();
        let rows = |bench: &Bench, import| -> Vec<_> {
            let waiting = bench.journal.rows_by_paused_import(import).unwrap();
            waiting.iter().map(|rows| (rows.import, rows.all)).collect()
        };
        let (first, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], false);
        assert_eq!(rows(&bench, None), []);
        apply(&mut bench.journal, claim(jobs[0], AddCompany)).unwrap();
        bench.journal.pause(first.import, "kim", at(3_000)).unwrap();
        let one = [(first.import, 2)];
        assert_eq!(rows(&bench, None), one, "one is under way");
        assert_eq!(rows(&bench, Some(first.import)), one);
        let mut import = bench.journal.begin_import(at(4_000)).unwrap();
        let again = import.sheet(&sheet("again", Kind::Company)).unwrap();
        for (number, &job) in (2..).zip(&jobs) {
            import.row(&row(again, number, job, Disposition::Recognised)).unwrap();
        }
        let second = import.finish().unwrap().import;
        assert_eq!(rows(&bench, None), []);
        assert_eq!(bench.journal.taken_from_paused(second).unwrap(), one);
        assert_eq!(bench.journal.taken_from_paused(first.import).unwrap(), []);
        bench.journal.pause(second, "kim", at(5_000)).unwrap();
        for import in [None, Some(first.import), Some(second)] {
            assert_eq!(rows(&bench, import), [(second, 2)], "{import:?}");
        }
    }
}

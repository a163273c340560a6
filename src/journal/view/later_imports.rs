//! Rows that did not get through, or that differ from their record, and came again in a later import: of the rows about one
//! record, the newest answers for all of them.
//!
//! A row with a job came again when a later import has a row with that job; one that was left out, when a later import left
//! it out once more.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Params};

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::row_ref;
use crate::journal::state::selection::refused;
use crate::journal::view::differences::differing;
use crate::journal::{ImportInfo, SheetId, View};
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::reason::Reason;
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// Rows of an import that a later one answers for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// The import that answers.
    pub by: ImportId,
    /// Those with a job: rejected, incomplete or skipped.
    pub refused: Tally,
    /// Those that were left out, by the state that reports show.
    pub left_out: Tally,
}

/// Rows of an import for which no later one answers, and that stand alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnansweredRows {
    /// How they stand: rejected, incomplete or skipped.
    pub state: JobState,
    /// Their code; empty for none.
    pub code: String,
    /// Whether they were rejected with values of an earlier import, and those of this one were not sent.
    pub is_unsent: bool,
    /// How many they are.
    pub rows: u64,
}

/// Rows with a job between the places `?1` and `?2` that did not get through: place, kind, state and the newest place
/// of a row with the same job. They are found by their jobs, which are few of many.
const REFUSED: &str = concat!(
    "SELECT place, kind, state,
         (SELECT max(later.place) FROM sheet_row AS later WHERE later.job = shown.id) AS newest
     FROM (SELECT sheet_row.place AS place, job.kind AS kind, job.state AS state, job.id AS id
           FROM job INDEXED BY job_refused CROSS JOIN sheet_row ON sheet_row.job = job.id
           WHERE ",
    refused!(),
    " AND sheet_row.place BETWEEN ?1 AND ?2
           UNION ALL
           SELECT left_out.place, left_out.kind, job.state, job.id FROM left_out JOIN job ON job.id = left_out.job
           WHERE job.state IN ('rejected', 'incomplete', 'skipped') AND left_out.place BETWEEN ?1 AND ?2) AS shown"
);

/// The same of rows that were left out and have no job.
const LEFT_OUT: &str = "SELECT place, kind, state,
         (SELECT max(later.place) FROM left_out AS later WHERE later.origin = shown.origin AND later.job IS NULL) AS newest
     FROM left_out AS shown WHERE job IS NULL AND given_up IS NULL AND place BETWEEN ?1 AND ?2";

/// Whether there is no later import.
pub(in crate::journal) fn is_newest(connection: &Connection, import: ImportId) -> Result<bool> {
    let newest = "SELECT NOT EXISTS (SELECT 1 FROM import WHERE id > ?1)";
    Ok(connection.prepare_cached(newest)?.query_row([import], |row| row.get(0))?)
}

/// The rows of a sheet that later imports answer for, by their places: the import that does.
pub(in crate::journal) fn of_sheet(
    connection: &Connection,
    sheet: SheetId,
) -> Result<HashMap<i64, ImportId>> {
    let import = connection
        .prepare_cached("SELECT import FROM sheet WHERE id = ?1")?
        .query_row([sheet], |row| row.get(0))
        .optional()?;
    let Some(import) = import else { return Ok(HashMap::new()) };
    if is_newest(connection, import)? {
        return Ok(HashMap::new());
    }
    let ((first, last), (_, last_of_import)) =
        (row_ref::range(sheet), row_ref::range_of(connection, import)?);
    let mut answered = HashMap::new();
    for rows in [REFUSED, LEFT_OUT] {
        let sql = format!(
            "SELECT place, sheet.import FROM ({rows}) JOIN sheet ON sheet.id = newest >> 32 WHERE newest > ?3"
        );
        let mut statement = connection.prepare_cached(&sql)?;
        let mut found = statement.query((first, last, last_of_import))?;
        while let Some(row) = found.next()? {
            answered.insert(row.get(0)?, row.get(1)?);
        }
    }
    let mut statement = connection.prepare_cached(concat!(
        "SELECT place, sheet.import FROM (",
        differing!(),
        ") JOIN sheet ON sheet.id = newest >> 32 WHERE place BETWEEN ?1 AND ?2 AND newest > ?3"
    ))?;
    let mut found = statement.query((first, last, last_of_import))?;
    while let Some(row) = found.next()? {
        answered.insert(row.get(0)?, row.get(1)?);
    }
    Ok(answered)
}

/// The import that gave the job of a row other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplacedBy {
    /// The newest one.
    pub import: ImportId,
    /// Whether something was sent for the row before that.
    pub was_sent: bool,
}

/// The rows of a sheet of which a later import has asked something else of the same record, by their places. Their import has
/// its last row at `last_of_import`.
pub(in crate::journal) fn replaced(
    connection: &Connection,
    sheet: SheetId,
    last_of_import: i64,
) -> Result<HashMap<i64, ReplacedBy>> {
    let (first, last) = row_ref::range(sheet);
    let is_last = "SELECT NOT EXISTS (SELECT 1 FROM sheet_row WHERE place > ?1)";
    if connection.prepare_cached(is_last)?.query_row([last_of_import], |row| row.get(0))? {
        return Ok(HashMap::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT own.place, sheet.import,
             (SELECT min(sheet.import) FROM sheet_row AS given JOIN sheet ON sheet.id = given.place >> 32
              WHERE given.job = own.job AND given.place = (
                  SELECT max(place) FROM sheet_row AS giving WHERE giving.job = own.job AND giving.place <= own.place
                      AND giving.disposition IN ('new', 'revised')))
         FROM sheet_row AS later CROSS JOIN sheet_row AS own ON own.job = later.job
         JOIN sheet ON sheet.id = later.place >> 32
         WHERE later.place > ?3 AND later.disposition = 'revised'
             AND own.place BETWEEN ?1 AND ?2 AND own.disposition IN ('new', 'revised', 'recognised')
         ORDER BY later.place DESC",
    )?;
    let mut found = statement.query((first, last, last_of_import))?;
    // Newest first: that import is reported, and what was sent from when the row's values came until the oldest was sent for
    // this row.
    let mut replaced: HashMap<i64, (ImportId, Option<ImportId>, ImportId)> = HashMap::new();
    while let Some(row) = found.next()? {
        let (place, import) = (row.get(0)?, row.get(1)?);
        replaced.entry(place).and_modify(|(.., until)| *until = import).or_insert((
            import,
            row.get(2)?,
            import,
        ));
    }
    let mut was_sent = connection.prepare_cached(
        "SELECT 1 FROM attempt JOIN sheet_row ON sheet_row.job = attempt.job
         WHERE sheet_row.place = ?1 AND attempt.import >= ?2 AND attempt.import < ?3",
    )?;
    let replaced = replaced.into_iter().map(|(place, (import, from, until))| {
        let was_sent = was_sent.exists((place, from, until))?;
        Ok((place, ReplacedBy { import, was_sent }))
    });
    replaced.collect()
}

/// How many rows of a statement each later import answers for, by kind and state.
fn counted(rows: &str) -> String {
    format!(
        "SELECT sheet.import, rows.kind, rows.state, count(*) FROM ({rows}) AS rows
         JOIN sheet ON sheet.id = newest >> 32 WHERE newest > ?2 GROUP BY 1, 2, 3"
    )
}

/// Rows between the places `?1` and `?2` that wait or need someone and whose job has a row in a later round of the import
/// `?3`; the jobs of those that were left out were made by such a round.
const OPEN_LATER: &str = "SELECT
     (SELECT count(*) FROM sheet_row AS own JOIN job ON job.id = own.job
      WHERE own.place BETWEEN ?1 AND ?2 AND job.finished_at IS NULL AND EXISTS (
          SELECT 1 FROM sheet_row AS later JOIN sheet ON sheet.id = later.place >> 32
          JOIN import ON import.id = sheet.import
          WHERE later.job = own.job AND later.place > ?2 AND import.round_of = ?3))
     + (SELECT count(*) FROM left_out JOIN job ON job.id = left_out.job
        JOIN import ON import.id = job.first_import
        WHERE left_out.place BETWEEN ?1 AND ?2 AND job.finished_at IS NULL AND import.round_of = ?3)";

impl View {
    /// How many rows of an import wait or need someone in a later round of it: what becomes of them is shown there.
    pub fn open_in_later_rounds(&self, import: &ImportInfo) -> Result<u64> {
        let (first, last) = row_ref::range_of(&self.connection, import.import)?;
        let mut statement = self.connection.prepare_cached(OPEN_LATER)?;
        Ok(natural(statement.query_row((first, last, import.first_round()), |row| row.get(0))?))
    }

    /// With which codes rows of an import were rejected, are incomplete or were skipped below a cancelled one, for which no later
    /// import answers.
    pub fn unanswered_codes(&self, import: ImportId) -> Result<Vec<UnansweredRows>> {
        let (first, last) = row_ref::range_of(&self.connection, import)?;
        Ok(self
            .connection
            .prepare_cached(concat!(
                "SELECT job.state, coalesce(job.code, ''),
                     job.state = 'rejected' AND sheet_row.disposition = 'changed_since', count(*)
                 FROM job INDEXED BY job_refused CROSS JOIN sheet_row ON sheet_row.job = job.id WHERE ",
                refused!(),
                " AND (job.state <> 'skipped' OR job.code = ?3) AND sheet_row.place BETWEEN ?1 AND ?2
                 AND NOT EXISTS (SELECT 1 FROM sheet_row AS later WHERE later.job = job.id AND later.place > ?2)
                 GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
            ))?
            .query_map((first, last, Reason::ParentCancelled.as_str()), |row| {
                Ok(UnansweredRows {
                    state: row.get(0)?,
                    code: row.get(1)?,
                    is_unsent: row.get(2)?,
                    rows: natural(row.get(3)?),
                })
            })?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// The rows of an import that did not get through and that later imports answer for, by these.
    pub fn answered_later(&self, import: ImportId) -> Result<Vec<Answered>> {
        let mut answered: Vec<Answered> = Vec::new();
        if is_newest(&self.connection, import)? {
            return Ok(answered);
        }
        let range = row_ref::range_of(&self.connection, import)?;
        let mut add = |with_job: bool, by, kind: Kind, state, count| {
            let at = answered.iter().position(|known| known.by == by).unwrap_or_else(|| {
                answered.push(Answered { by, refused: Tally::default(), left_out: Tally::default() });
                answered.len() - 1
            });
            let tally = if with_job { &mut answered[at].refused } else { &mut answered[at].left_out };
            tally.add(kind, state, count);
        };
        each(&self.connection, &counted(REFUSED), range, |by, kind, state, count| {
            add(true, by, kind, state, count);
        })?;
        each(&self.connection, &counted(LEFT_OUT), range, |by, kind, state, count| {
            add(false, by, kind, state, count);
        })?;
        answered.sort_by_key(|answered| answered.by);
        Ok(answered)
    }
}

/// Hands on every line of a statement: an import, a kind, a state and how many rows there are of them.
fn each(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut take: impl FnMut(ImportId, Kind, JobState, u64),
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        take(row.get(0)?, row.get(1)?, row.get(2)?, natural(row.get(3)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::{apply, at, bench, claim, import_companies, rejected, row, sheet};
    use crate::journal::{Because, Disposition, LeftOut, Provenance};
    use crate::model::operation::Operation::AddCompany;

    #[test]
    fn a_refused_row_that_came_again_is_answered_for_by_the_newest_import_that_has_it() {
        let mut bench = bench();
        let (first, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], false);
        for &job in &jobs[..2] {
            apply(&mut bench.journal, claim(job, AddCompany)).unwrap();
            apply(&mut bench.journal, rejected(job, JobState::Sending)).unwrap();
        }
        assert_eq!(bench.journal.answered_later(first.import).unwrap(), []);
        let mut last = first.import;
        for _ in 0..2 {
            let mut import = bench.journal.begin_import(at(4_000)).unwrap();
            let fix = import.sheet(&sheet("fix", Kind::Company)).unwrap();
            import.row(&row(fix, 2, jobs[0], Disposition::Recognised)).unwrap();
            // One that is not refused has nothing to be answered.
            import.row(&row(fix, 3, jobs[2], Disposition::Recognised)).unwrap();
            last = import.finish().unwrap().import;
        }
        let answered = bench.journal.answered_later(first.import).unwrap();
        assert_eq!(answered.iter().map(|answered| answered.by).collect::<Vec<_>>(), [last]);
        assert_eq!(answered[0].refused.in_state(JobState::Rejected), 1, "and Bolt did not come again");
        assert_eq!(answered[0].left_out.total(), 0);
        let mut by_row = Vec::new();
        let sheet = bench.journal.sheets(first.import).unwrap()[0].sheet;
        bench
            .journal
            .rows(sheet, &mut |row| {
                by_row.push((row.number, row.answered_by));
                Ok(())
            })
            .unwrap();
        assert_eq!(by_row, [(2, Some(last)), (3, None), (4, None)]);
        assert_eq!(bench.journal.answered_later(last).unwrap(), []);
        for import in [first.import, last] {
            let codes = bench.journal.unanswered_codes(import).unwrap();
            let (state, code) = (JobState::Rejected, "invalidData".to_owned());
            assert_eq!(codes, [UnansweredRows { state, code, is_unsent: false, rows: 1 }], "one row of each");
        }
    }

    #[test]
    fn a_row_that_is_left_out_once_more_is_known_by_its_key_and_by_where_it_comes_from() {
        let mut bench = bench();
        let mut imports = Vec::new();
        for again in [false, true] {
            let mut import = bench.journal.begin_import(at(1)).unwrap();
            let name = if again { "fix" } else { "sites" };
            let sites = import.sheet(&sheet(name, Kind::Site)).unwrap();
            for (number, key, source) in [
                (2, Some("s1"), None),
                (3, None, Some("sites.csv!sites!3")),
                (4, None, None),
                (5, Some("s2"), None),
            ] {
                let row = LeftOut {
                    sheet: sites,
                    kind: Kind::Site,
                    number,
                    line: None,
                    cells: vec![format!("Branch {number}")],
                    because: if number == 3 { Because::OfWhatItBelongsTo } else { Because::OfItsErrors },
                    code: "cell.required".into(),
                    message: "name is blank".into(),
                    columns: Vec::new(),
                    sheet_key: key.map(str::to_owned),
                    natural_key: None,
                    name: None,
                };
                // Another company has a site of the same key.
                let owner = if number == 5 { format!("company {again}") } else { "acme".to_owned() };
                let source = source.filter(|_| again);
                let provenance = Provenance { sheet: sites, source, natural_key: None, owner };
                import.leave_out(&row, &provenance).unwrap();
            }
            imports.push(import.finish().unwrap().import);
        }
        let answered = bench.journal.answered_later(imports[0]).unwrap();
        assert_eq!(answered.len(), 1, "{answered:?}");
        assert_eq!(answered[0].by, imports[1]);
        let of = |state| answered[0].left_out.in_state(state);
        assert_eq!((of(JobState::Rejected), of(JobState::Skipped)), (1, 1));
        assert_eq!(bench.journal.answered_later(imports[1]).unwrap(), []);
    }
}

//! Rows that an import left out: kept so that every row of every sheet has its answer, though no job is made for them.
//!
//! When a later import brings the row again, known by the same key, its job becomes the answer of the row that was left
//! out. Which rows are left out, and why, is decided by the importer.

use rusqlite::{OptionalExtension as _, Transaction};

use crate::error::{Error, Result};
use crate::journal::file::column::{count, natural};
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::intake::import_writer::ImportWriter;
use crate::journal::row_ref;
use crate::journal::{Journal, SheetId};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::verdict::Violation;

/// A row that is not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its sheet.
    pub sheet: SheetId,
    /// What it would have been.
    pub kind: Kind,
    /// Its number in the sheet, as a spreadsheet counts.
    pub number: u32,
    /// The line of the file it begins at, for CSV.
    pub line: Option<u64>,
    /// Its cells, as they stood.
    pub cells: Vec<String>,
    /// Whose errors they are.
    pub because: Because,
    /// The code of the finding.
    pub code: String,
    /// The same in words.
    pub message: String,
    /// The columns that are wrong, by their names in the table of columns, each with what is wrong.
    pub columns: Vec<(String, String)>,
    /// The key by which the row is recognised when it comes again, folded.
    pub sheet_key: Option<String>,
    /// The same by its natural key, where that does not depend on other rows.
    pub natural_key: Option<String>,
}

/// By what a row is recognised as one that was left out before.
#[derive(Debug, Clone)]
pub struct Provenance<'a> {
    /// Its sheet.
    pub sheet: SheetId,
    /// Its number in the sheet, as a spreadsheet counts.
    pub number: u32,
    /// Where it says it comes from (`file!sheet!row`), as the rows of a fix sheet do.
    pub source: Option<&'a str>,
    /// What it says it belongs to, folded as keys are; empty for nothing.
    pub owner: String,
    /// Its cells.
    pub cells: &'a [String],
}

/// Why a row is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// It has errors; in the reports it is rejected.
    OfItsErrors,
    /// What it belongs to is left out; in the reports it is skipped.
    OfWhatItBelongsTo,
}

impl Because {
    /// The state that reports show.
    pub const fn state(self) -> JobState {
        match self {
            Self::OfItsErrors => JobState::Rejected,
            Self::OfWhatItBelongsTo => JobState::Skipped,
        }
    }
}

impl ImportWriter<'_> {
    /// Keeps a row that is left out.
    pub fn leave_out(&mut self, row: &LeftOut, provenance: &Provenance<'_>) -> Result<()> {
        self.count_row(row.sheet)?;
        let cells = serde_json::to_string(&row.cells).map_err(unwritable)?;
        let violations: Vec<Violation> = row
            .columns
            .iter()
            .map(|(path, message)| Violation { path: path.clone(), message: message.clone() })
            .collect();
        let violations = serde_json::to_string(&violations).map_err(unwritable)?;
        let earlier = match self.some_wait {
            true => place_of(&self.transaction, row.kind, provenance)?,
            false => None,
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO left_out
                    (place, kind, line, cells, state, code, message, violations, sheet_key, natural_key, owner, earlier)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute((
                row_ref::key(row.sheet, row.number),
                row.kind,
                row.line.map(count),
                &cells,
                row.because.state(),
                &row.code,
                &row.message,
                &violations,
                &row.sheet_key,
                &row.natural_key,
                &provenance.owner,
                earlier,
            ))?;
        self.left_out += 1;
        Ok(())
    }
}

/// Gives up the rows that an import left out and that have not come again; how many they are.
pub(in crate::journal) fn give_up(transaction: &Transaction<'_>, import: ImportId, who: &str) -> Result<u64> {
    let (first, last) = row_ref::range_of(transaction, import)?;
    let given_up = transaction
        .prepare_cached(
            "UPDATE left_out SET given_up = ?3
             WHERE job IS NULL AND given_up IS NULL AND place BETWEEN ?1 AND ?2",
        )?
        .execute((first, last, who))?;
    Ok(given_up as u64)
}

/// Whether rows of earlier imports were left out and have not come again.
pub(in crate::journal) fn are_waiting(transaction: &Transaction<'_>) -> Result<bool> {
    Ok(transaction
        .query_row("SELECT EXISTS (SELECT 1 FROM left_out WHERE job IS NULL)", [], |row| row.get(0))?)
}

/// The row that was left out and that this one is, corrected: the one it says it comes from, or the one at its own place.
fn place_of(transaction: &Transaction<'_>, kind: Kind, row: &Provenance<'_>) -> Result<Option<i64>> {
    match row.source {
        Some(source) => at_source(transaction, kind, row, source),
        None => at_own_place(transaction, kind, row),
    }
}

/// The row that was left out at the place of this one in a sheet of the same name and headers, the last time that sheet
/// came; `None` unless nothing differs but as many cells as were wrong.
fn at_own_place(transaction: &Transaction<'_>, kind: Kind, row: &Provenance<'_>) -> Result<Option<i64>> {
    let mut statement = transaction.prepare_cached(
        "SELECT left_out.place, left_out.cells, json_array_length(left_out.violations)
         FROM sheet AS now JOIN sheet USING (file, name, headers) JOIN left_out ON left_out.place = sheet.id << 32 | ?2
         WHERE now.id = ?1 AND sheet.import < now.import AND left_out.kind = ?3 AND left_out.job IS NULL
         ORDER BY sheet.import DESC LIMIT 1",
    )?;
    let found = statement.query_row((row.sheet, row.number, kind), |found| {
        Ok((found.get::<_, i64>(0)?, found.get::<_, String>(1)?, found.get::<_, Option<u32>>(2)?))
    });
    let Some((place, cells, wrong)) = found.optional()? else { return Ok(None) };
    let cells: Vec<String> =
        serde_json::from_str(&cells).map_err(|error| damaged("the cells of a row", error))?;
    let differing = cells.iter().zip(row.cells).filter(|(before, now)| before != now).count();
    let is_it = cells.len() == row.cells.len()
        && differing <= wrong.and_then(|wrong| usize::try_from(wrong).ok()).unwrap_or(0);
    Ok(is_it.then_some(place))
}

/// The row that was left out at the place that a row says it comes from; `None` unless it is exactly one, and is like it.
fn at_source(
    transaction: &Transaction<'_>,
    kind: Kind,
    row: &Provenance<'_>,
    source: &str,
) -> Result<Option<i64>> {
    let Some((table, number)) = source.rsplit_once('!') else { return Ok(None) };
    let Ok(number) = number.parse::<u32>() else { return Ok(None) };
    let mut statement = transaction.prepare_cached(
        "SELECT left_out.place, left_out.cells FROM sheet JOIN left_out ON left_out.place = sheet.id << 32 | ?2
         WHERE sheet.file || '!' || sheet.name = ?1 AND left_out.kind = ?3 AND left_out.job IS NULL
             AND sheet.import < (SELECT import FROM sheet WHERE id = ?4)",
    )?;
    let mut rows = statement.query((table, number, kind, row.sheet))?;
    let mut found = None;
    while let Some(candidate) = rows.next()? {
        let cells: String = candidate.get(1)?;
        let cells: Vec<String> =
            serde_json::from_str(&cells).map_err(|error| damaged("the cells of a row", error))?;
        if is_like(&cells, row.cells) && found.replace(candidate.get(0)?).is_some() {
            return Ok(None);
        }
    }
    Ok(found)
}

/// Whether a row may be another one corrected: at least half of its cells are as they were.
fn is_like(before: &[String], now: &[String]) -> bool {
    let filled = before.iter().filter(|cell| !cell.is_empty()).count();
    let same = before.iter().zip(now).filter(|(before, now)| !before.is_empty() && before == now).count();
    same * 2 >= filled
}

/// Lets the job `?1` be the answer of the rows of imports before that of the sheet `?2` that were left out and have the
/// same value in a column that a job has too.
macro_rules! takes_the_place {
    ($column:literal) => {
        concat!(
            "UPDATE left_out SET job = job.id FROM job WHERE job.id = ?1 AND left_out.job IS NULL
                AND left_out.kind = job.kind AND left_out.",
            $column,
            " = job.",
            $column,
            " AND (left_out.sheet_key IS NULL OR job.sheet_key IS NULL OR left_out.sheet_key = job.sheet_key)
                AND (SELECT import FROM sheet WHERE id = left_out.place >> 32) < (SELECT import FROM sheet WHERE id = ?2)"
        )
    };
}

impl ImportWriter<'_> {
    /// Rows of this import so far that are left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether rows of earlier imports were left out and have not come again.
    pub fn rows_wait(&self) -> bool {
        self.some_wait
    }

    /// Lets the job of a row be the answer of the rows that earlier imports left out and whose place it takes: those with
    /// its key under the same owner or in the same sheet, with its natural key, where it says it comes from, or at its
    /// place in the sheet.
    pub fn comes_again(&mut self, job: JobId, kind: Kind, row: &Provenance<'_>) -> Result<()> {
        if !self.some_wait {
            return Ok(());
        }
        self.transaction
            .prepare_cached(concat!(
                takes_the_place!("sheet_key"),
                " AND (left_out.owner = ?3 OR (SELECT file || '!' || name FROM sheet WHERE id = left_out.place >> 32)
                    = (SELECT file || '!' || name FROM sheet WHERE id = ?2))"
            ))?
            .execute((job, row.sheet, &row.owner))?;
        self.transaction
            .prepare_cached(concat!(
                takes_the_place!("natural_key"),
                // Without keys a MAC address or username alone is not enough.
                " AND (left_out.sheet_key = job.sheet_key OR left_out.owner = ?3
                    OR (job.kind <> 'person'
                        AND EXISTS (SELECT 1 FROM json_each(left_out.cells) WHERE trim(value) = job.name)))"
            ))?
            .execute((job, row.sheet, &row.owner))?;
        if let Some(place) = place_of(&self.transaction, kind, row)? {
            self.transaction
                .prepare_cached(
                    "UPDATE left_out SET job = ?1 WHERE job IS NULL AND place IN (
                        WITH RECURSIVE chain (place) AS (
                            SELECT ?2 UNION
                            SELECT earlier FROM left_out JOIN chain USING (place) WHERE earlier IS NOT NULL)
                        SELECT place FROM chain)",
                )?
                .execute((job, place))?;
        }
        Ok(())
    }

    /// Counts a row of a sheet of this import.
    pub(in crate::journal) fn count_row(&mut self, sheet: SheetId) -> Result<()> {
        match self.sheets.get_mut(&sheet) {
            Some(rows) => {
                *rows += 1;
                Ok(())
            }
            None => Err(Error::internal(format!("sheet {sheet} is not of this import"))),
        }
    }
}

impl Journal {
    /// How many rows an import, or all of them, left out that have neither come again since nor been given up.
    pub fn left_out(&self, import: Option<ImportId>) -> Result<u64> {
        Ok(self.left_out_tally(import)?.total())
    }

    /// How many rows of a sheet were left out.
    pub fn left_out_of_sheet(&self, sheet: SheetId) -> Result<u64> {
        let sql = "SELECT count(*) FROM left_out WHERE place BETWEEN ?1 AND ?2";
        let count =
            self.connection.prepare_cached(sql)?.query_row(row_ref::range(sheet), |row| row.get(0))?;
        Ok(natural(count))
    }

    /// The same by kind and by the state that reports show.
    pub fn left_out_tally(&self, import: Option<ImportId>) -> Result<Tally> {
        let mut statement = self.connection.prepare_cached(
            "SELECT kind, state, count(*) FROM left_out WHERE job IS NULL AND given_up IS NULL
             AND (?1 IS NULL OR place >> 32 IN (SELECT id FROM sheet WHERE import = ?1)) GROUP BY kind, state",
        )?;
        let mut rows = statement.query([import])?;
        let mut tally = Tally::default();
        while let Some(row) = rows.next()? {
            tally.add(row.get(0)?, row.get(1)?, natural(row.get(2)?));
        }
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::Because;
    use crate::journal::fixture::{at, bench, sheet};
    use crate::model::kind::Kind;
    use crate::model::state::JobState;

    use crate::journal::{LeftOut, Provenance};

    #[test]
    fn a_row_that_is_left_out_is_counted_in_its_sheet_and_answers_for_itself() {
        let mut bench = bench();
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let sites = import.sheet(&sheet("sites", Kind::Site)).unwrap();
        let row = LeftOut {
            sheet: sites,
            kind: Kind::Site,
            number: 7,
            line: None,
            cells: vec!["x".into()],
            because: Because::OfItsErrors,
            code: "cell.required".into(),
            message: "name is blank".into(),
            columns: vec![("name".into(), String::new())],
            sheet_key: None,
            natural_key: None,
        };
        let provenance = Provenance {
            sheet: sites,
            number: 7,
            source: None,
            owner: String::new(),
            cells: &row.cells.clone(),
        };
        import.leave_out(&row, &provenance).unwrap();
        let stranger = LeftOut { sheet: super::SheetId(99), ..row };
        assert!(import.leave_out(&stranger, &provenance).is_err(), "a sheet of another import");
        let imported = import.finish().unwrap();
        assert_eq!((imported.rows, imported.left_out), (1, 1));
        assert_eq!(bench.journal.sheets(imported.import).unwrap()[0].rows, 1);
        assert_eq!(bench.journal.tally(Some(imported.import)).unwrap().in_state(JobState::Rejected), 1);
        assert_eq!(bench.journal.tally(None).unwrap().total(), 0, "no job is made for it");
    }
}

//! Rows that an import left out: kept so that every row of every sheet has its answer, though no job is made for them.
//!
//! When a later import brings the row again, known by the same key, its job becomes the answer of the row that was left
//! out. Which rows are left out, and why, is decided by the importer.

use rusqlite::{Connection, OptionalExtension, Transaction};

use super::column::{count, natural};
use super::failure::unwritable;
use super::intake::ImportWriter;
use super::{Journal, SheetId, place};
use crate::error::{Error, Result};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::state::JobState;
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
    /// Where it says it comes from (`file!sheet!row`), as the rows of a fix sheet do.
    pub source: Option<String>,
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
    pub fn leave_out(&mut self, row: &LeftOut) -> Result<()> {
        self.count_row(row.sheet)?;
        let cells = serde_json::to_string(&row.cells).map_err(unwritable)?;
        let violations: Vec<Violation> = row
            .columns
            .iter()
            .map(|(path, message)| Violation { path: path.clone(), message: message.clone() })
            .collect();
        let violations = serde_json::to_string(&violations).map_err(unwritable)?;
        let earlier = match row.source.as_deref().filter(|_| self.some_wait) {
            Some(source) => place_of(&self.transaction, source, self.import())?,
            None => None,
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO left_out
                    (place, kind, line, cells, state, code, message, violations, sheet_key, natural_key, earlier)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute((
                place::key(row.sheet, row.number),
                row.kind,
                row.line.map(count),
                &cells,
                row.because.state(),
                &row.code,
                &row.message,
                &violations,
                &row.sheet_key,
                &row.natural_key,
                earlier,
            ))?;
        self.left_out += 1;
        Ok(())
    }
}

/// Whether rows of earlier imports were left out and have not come again.
pub(super) fn are_waiting(transaction: &Transaction<'_>) -> Result<bool> {
    Ok(transaction
        .query_row("SELECT EXISTS (SELECT 1 FROM left_out WHERE job IS NULL)", [], |row| row.get(0))?)
}

/// The row at a place (`file!sheet!row`) of the latest import before `import` that has such a sheet, if it was left out.
fn place_of(transaction: &Transaction<'_>, source: &str, import: ImportId) -> Result<Option<i64>> {
    let mut parts = source.rsplitn(2, '!');
    let (Some(Ok(number)), Some(table)) = (parts.next().map(str::parse::<u32>), parts.next()) else {
        return Ok(None);
    };
    Ok(transaction
        .prepare_cached(
            "SELECT place FROM left_out WHERE place =
                (SELECT max(id) FROM sheet WHERE file || '!' || name = ?1 AND import < ?3) << 32 | ?2",
        )?
        .query_row((table, number, import), |row| row.get(0))
        .optional()?)
}

/// Lets the job of a row be the answer of the rows with its keys that imports before that of `sheet` left out.
pub(super) fn answer(transaction: &Transaction<'_>, job: JobId, sheet: SheetId) -> Result<()> {
    for sql in [
        "UPDATE left_out SET job = job.id FROM job WHERE job.id = ?1 AND left_out.job IS NULL
            AND left_out.kind = job.kind AND left_out.sheet_key = job.sheet_key
            AND (SELECT import FROM sheet WHERE id = left_out.place >> 32) < (SELECT import FROM sheet WHERE id = ?2)",
        "UPDATE left_out SET job = job.id FROM job WHERE job.id = ?1 AND left_out.job IS NULL
            AND left_out.kind = job.kind AND left_out.natural_key = job.natural_key
            AND (SELECT import FROM sheet WHERE id = left_out.place >> 32) < (SELECT import FROM sheet WHERE id = ?2)",
    ] {
        transaction.prepare_cached(sql)?.execute((job, sheet))?;
    }
    Ok(())
}

impl Journal {
    /// How many rows an import, or all of them, left out that have not come again since.
    pub fn left_out(&self, import: Option<ImportId>) -> Result<u64> {
        waiting(&self.connection, import)
    }
}

fn waiting(connection: &Connection, import: Option<ImportId>) -> Result<u64> {
    let number = connection
        .prepare_cached(
            "SELECT count(*) FROM left_out WHERE job IS NULL
             AND (?1 IS NULL OR place >> 32 IN (SELECT id FROM sheet WHERE import = ?1))",
        )?
        .query_row([import], |row| row.get(0))?;
    Ok(natural(number))
}

impl ImportWriter<'_> {
    /// Lets the job of a row that says of itself where it comes from (`file!sheet!row`), as those of a fix sheet do, be
    /// the answer of the row there, and of those whose place that was to take.
    pub fn comes_from(&mut self, job: JobId, source: &str) -> Result<()> {
        if !self.some_wait {
            return Ok(());
        }
        if let Some(place) = place_of(&self.transaction, source, self.import())? {
            self.transaction
                .prepare_cached(
                    "UPDATE left_out SET job = job.id FROM job WHERE job.id = ?1 AND left_out.job IS NULL
                        AND left_out.kind = job.kind AND left_out.place IN (
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
    pub(super) fn count_row(&mut self, sheet: SheetId) -> Result<()> {
        match self.sheets.get_mut(&sheet) {
            Some(rows) => {
                *rows += 1;
                Ok(())
            }
            None => Err(Error::internal(format!("sheet {sheet} is not of this import"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::journal::Because;
    use crate::journal::fixture::{at, bench, sheet};
    use crate::model::kind::Kind;
    use crate::model::state::JobState;

    use super::LeftOut;

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
            source: None,
        };
        import.leave_out(&row).unwrap();
        let stranger = LeftOut { sheet: super::SheetId(99), ..row };
        assert!(import.leave_out(&stranger).is_err(), "a sheet of another import");
        let imported = import.finish().unwrap();
        assert_eq!((imported.rows, imported.left_out), (1, 1));
        assert_eq!(bench.journal.sheets(imported.import).unwrap()[0].rows, 1);
        assert_eq!(bench.journal.tally(Some(imported.import)).unwrap().in_state(JobState::Rejected), 1);
        assert_eq!(bench.journal.tally(None).unwrap().total(), 0, "no job is made for it");
    }
}

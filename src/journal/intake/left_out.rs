//! Rows that an import left out: kept so that every row of every sheet has its answer, though no job is made for them.
//!
//! When a later import brings the row again, known by its keys, its name or where it says it comes from, its job becomes the
//! answer of the row that was left out; one that no import brings again stays in the report of its own. A row that is left out
//! once more as it was, cell by cell, has the answer that it has had since. Which rows are left out, and why, is decided by the
//! importer.

use rusqlite::{OptionalExtension, Transaction};
use serde::Serialize;
use smol_str::SmolStr;

use crate::error::{Error, Result};
use crate::journal::file::column::{count, natural};
use crate::journal::file::sqlite_error::unwritable;
use crate::journal::intake::import_writer::ImportWriter;
use crate::journal::row_ref;
use crate::journal::{Disposition, NewJob, SheetId, View};
use crate::model::id::{ImportId, JobId};
use crate::model::key::{key_in_owner, keys_with_name};
use crate::model::kind::Kind;
use crate::model::record::Record;
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
    /// The same by what tells it from all others of its kind, where that is not wrong ([`Provenance::natural_key`]).
    pub natural_key: Option<String>,
    /// What it is known by among those with the same owner ([`crate::model::key::key_in_owner`]).
    pub name: Option<String>,
}

/// By what a row is recognised as one that was left out before, besides its keys.
#[derive(Debug, Clone)]
pub struct Provenance<'a> {
    /// Its sheet.
    pub sheet: SheetId,
    /// Where it says it comes from (`file!sheet!row`), as the rows of a fix sheet do.
    pub source: Option<&'a str>,
    /// What tells it from all others of its kind, whatever became of other rows.
    pub natural_key: Option<String>,
    /// What it says it belongs to, folded as keys are; empty for nothing.
    pub owner: String,
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
        let cells = written(&row.cells)?;
        let violations: Vec<Violation> = row
            .columns
            .iter()
            .map(|(path, message)| Violation { path: path.clone(), message: message.clone() })
            .collect();
        let violations = serde_json::to_string(&violations).map_err(unwritable)?;
        let place = row_ref::key(row.sheet, row.number);
        let keys = Keys {
            kind: row.kind,
            sheet: row.sheet_key.as_deref(),
            natural: row.natural_key.as_deref(),
            name: row.name.as_deref(),
            names_it_alone: true,
        };
        let answer = answer_since(&self.transaction, row, &cells)?;
        let before = match self.some_wait {
            true => origins(&self.transaction, &keys, provenance)?,
            false => Vec::new(),
        };
        self.transaction
            .prepare_cached(
                "INSERT INTO left_out
                    (place, kind, line, cells, state, code, message, violations, sheet_key, natural_key, name, owner, origin, job)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
            )?
            .execute((
                place,
                row.kind,
                row.line.map(count),
                &cells,
                row.because.state(),
                &row.code,
                &row.message,
                &violations,
                &row.sheet_key,
                &row.natural_key,
                &row.name,
                &provenance.owner,
                answer.map(|(origin, _)| origin).or_else(|| before.first().copied()).unwrap_or(place),
                answer.map(|(_, job)| job),
            ))?;
        match answer {
            Some(_) => self.answered += 1,
            None => self.left_out.add(row.kind, row.because.state(), 1),
        }
        Ok(())
    }
}

/// Cells as they are kept.
fn written(cells: &[impl Serialize]) -> Result<String> {
    serde_json::to_string(cells).map_err(unwritable)
}

/// What a row is that an earlier import left out of a sheet of this name, where all of its cells are the same: its origin, and
/// the job of the row that took its place, unless that one came to nothing. Of several that are the same, the one with its
/// number is preferred.
fn answer_since(transaction: &Transaction<'_>, row: &LeftOut, cells: &str) -> Result<Option<(i64, JobId)>> {
    let mut statement = transaction.prepare_cached(
        "SELECT before.origin, before.job FROM sheet AS own
         CROSS JOIN left_out AS before ON before.cells = ?2 AND before.job IS NOT NULL AND before.kind = ?3
         JOIN sheet ON sheet.id = before.place >> 32 JOIN job ON job.id = before.job
         WHERE own.id = ?1 AND sheet.import < own.import AND sheet.file = own.file AND sheet.name = own.name
             AND sheet.headers = own.headers AND job.state NOT IN ('rejected', 'incomplete', 'skipped', 'cancelled')
         ORDER BY before.place & 4294967295 = ?4 DESC, before.place DESC LIMIT 1",
    )?;
    let found = statement
        .query_row((row.sheet, cells, row.kind, row.number), |found| Ok((found.get(0)?, found.get(1)?)));
    Ok(found.optional()?)
}

/// The keys of a row.
struct Keys<'a> {
    /// The kind of its sheet.
    kind: Kind,
    /// Its own, folded.
    sheet: Option<&'a str>,
    /// Its natural key.
    natural: Option<&'a str>,
    /// What it is known by among those with the same owner.
    name: Option<&'a str>,
    /// Whether no other row has that name, and it is right, so that the row is known by it alone.
    names_it_alone: bool,
}

/// The rows that earlier imports left out and that this one is, each by its origin: those with its key under the same owner,
/// or, where their owner was wrong, with its key and name in the same sheet; those with its natural key, which alone may be
/// mistyped, and the same key or owner; and the one with its name under the same owner, as well as the one where it says it
/// comes from, unless it may be one of several.
fn origins(transaction: &Transaction<'_>, keys: &Keys<'_>, row: &Provenance<'_>) -> Result<Vec<i64>> {
    let mut statement = transaction.prepare_cached(
        "WITH now AS (SELECT id, import, file || '!' || name AS title FROM sheet WHERE id = ?1),
             waiting AS NOT MATERIALIZED (
                 SELECT left_out.*, sheet.file || '!' || sheet.name AS title FROM left_out
                 JOIN sheet ON sheet.id = left_out.place >> 32
                 WHERE left_out.job IS NULL AND left_out.kind = ?2 AND sheet.import < (SELECT import FROM now))
         SELECT origin FROM waiting
             WHERE sheet_key = ?3 AND (owner = ?6 OR title = (SELECT title FROM now) AND name = ?5 AND (state = 'skipped'
                 OR EXISTS (SELECT 1 FROM json_each(violations) WHERE value ->> 'path' IN ('company', 'parent'))))
         UNION SELECT origin FROM waiting
             WHERE natural_key = ?4 AND (sheet_key = ?3 OR owner = ?6) AND coalesce(sheet_key = ?3, TRUE)
         UNION SELECT min(origin) FROM waiting
             WHERE ?7 AND name = ?5 AND owner = ?6 AND coalesce(sheet_key = ?3, TRUE) HAVING count(DISTINCT origin) = 1
         ORDER BY 1",
    )?;
    let found = statement.query_map(
        (row.sheet, keys.kind, keys.sheet, keys.natural, keys.name, &row.owner, keys.names_it_alone),
        |found| found.get(0),
    )?;
    let mut origins = found.collect::<rusqlite::Result<Vec<i64>>>()?;
    if let [origin] = origins_at_source(transaction, keys.kind, row)?[..] {
        origins.push(origin);
    }
    Ok(origins)
}

/// The rows that wait where this one says it comes from, by their origins: files of several imports may have one name.
fn origins_at_source(transaction: &Transaction<'_>, kind: Kind, row: &Provenance<'_>) -> Result<Vec<i64>> {
    let Some((title, number)) = row.source.and_then(|source| source.rsplit_once('!')) else {
        return Ok(Vec::new());
    };
    let Ok(number) = number.parse::<u32>() else { return Ok(Vec::new()) };
    let mut statement = transaction.prepare_cached(
        "SELECT DISTINCT origin FROM sheet JOIN left_out ON left_out.place = sheet.id << 32 | ?2
         WHERE sheet.file || '!' || sheet.name = ?1 AND left_out.kind = ?3 AND left_out.job IS NULL
             AND sheet.import < (SELECT import FROM sheet WHERE id = ?4)",
    )?;
    let found = statement.query_map((title, number, kind, row.sheet), |found| found.get(0))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Whether an import had a row of a job beside the one with this origin, which it left out and which has other cells than these.
fn stood_beside(transaction: &Transaction<'_>, origin: i64, job: JobId, cells: &str) -> Result<bool> {
    let mut statement = transaction.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM left_out JOIN sheet ON sheet.id = left_out.place >> 32
             JOIN sheet_row ON sheet_row.job = ?2 JOIN sheet AS other ON other.id = sheet_row.place >> 32
             WHERE left_out.origin = ?1 AND left_out.job IS NULL AND left_out.cells <> ?3 AND other.import = sheet.import)",
    )?;
    Ok(statement.query_row((origin, job, cells), |found| found.get(0))?)
}

fn key_of_record(record: &Record) -> Option<String> {
    let reference = match record {
        Record::Site(site) => site.reference.as_deref(),
        Record::Company(_) | Record::Person(_) | Record::Device(_) => None,
    };
    key_in_owner(record.kind(), Some(record.name()), reference)
}

impl ImportWriter<'_> {
    /// Rows of this import so far that are left out and have no answer, by kind and by the state that reports show.
    pub fn left_out(&self) -> &Tally {
        &self.left_out
    }

    /// Rows of this import so far that are left out as they were before, and that an earlier import has without errors.
    pub fn answered(&self) -> u64 {
        self.answered
    }

    /// How many rows of a sheet of this import are left out.
    pub fn left_out_of_sheet(&self, sheet: SheetId) -> Result<u64> {
        let sql = "SELECT count(*) FROM left_out WHERE place BETWEEN ?1 AND ?2";
        let count =
            self.transaction.prepare_cached(sql)?.query_row(row_ref::range(sheet), |row| row.get(0))?;
        Ok(natural(count))
    }

    /// Whether rows of earlier imports were left out and have not come again.
    pub fn rows_wait(&self) -> bool {
        self.some_wait
    }

    /// Lets the job of a row be the answer of the rows that earlier imports left out and that it is, known by its keys or
    /// by where it says it comes from; by its name alone only when the job is new, since others may have the name too,
    /// or it was wrong. A row of a record that the job had beside another one is no answer to that.
    pub fn comes_again(
        &mut self,
        job: JobId,
        values: &NewJob,
        (row, cells): (&Provenance<'_>, &[SmolStr]),
        disposition: Disposition,
    ) -> Result<()> {
        // What a row has that differs from its record is nowhere.
        if !self.some_wait || disposition == Disposition::ChangedSince {
            return Ok(());
        }
        let name = values.record().and_then(key_of_record);
        let keys = Keys {
            kind: values.kind.sheet(),
            sheet: values.sheet_key.as_deref(),
            natural: row.natural_key.as_deref(),
            name: name.as_deref(),
            names_it_alone: disposition == Disposition::New,
        };
        let may_be_another = values.kind.is_record() && disposition == Disposition::Recognised;
        for origin in origins(&self.transaction, &keys, row)? {
            if may_be_another && stood_beside(&self.transaction, origin, job, &written(cells)?)? {
                continue;
            }
            self.transaction
                .prepare_cached("UPDATE left_out SET job = ?1 WHERE job IS NULL AND origin = ?2")?
                .execute((job, origin))?;
        }
        Ok(())
    }

    /// Whether a row, which seems to be this job, is one that an import left out though it had a row of the job: the two are not
    /// one. The row is known by where it says it comes from, and by its `cells` under the same headers.
    pub fn was_left_out_beside(
        &self,
        job: JobId,
        values: &NewJob,
        row: &Provenance<'_>,
        cells: Option<&[SmolStr]>,
    ) -> Result<bool> {
        if !self.some_wait {
            return Ok(false);
        }
        let mut origins = origins_at_source(&self.transaction, values.kind, row)?;
        if let Some(cells) = cells {
            let mut statement = self.transaction.prepare_cached(
                "SELECT before.origin FROM sheet AS own JOIN left_out AS before JOIN sheet ON sheet.id = before.place >> 32
                 WHERE own.id = ?1 AND before.kind = ?2 AND before.job IS NULL AND (before.name = ?3 OR before.natural_key = ?4)
                     AND before.cells = ?5 AND sheet.import < own.import AND sheet.headers = own.headers",
            )?;
            let name = values.record().and_then(key_of_record);
            let known_by = (row.sheet, values.kind, name, &row.natural_key, written(cells)?);
            let found = statement.query_map(known_by, |found| found.get::<_, i64>(0))?;
            origins.extend(found.collect::<rusqlite::Result<Vec<i64>>>()?);
        }
        for origin in origins {
            if stood_beside(&self.transaction, origin, job, "")? {
                return Ok(true);
            }
        }
        Ok(false)
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

/// The latest import that left out a row which waits still, under a condition.
macro_rules! latest_import {
    ($condition:literal) => {
        concat!(
            "SELECT max(sheet.import) FROM left_out JOIN sheet ON sheet.id = left_out.place >> 32
             WHERE left_out.job IS NULL AND left_out.given_up IS NULL AND left_out.kind = ?1 AND ",
            $condition
        )
    };
}

impl View {
    /// The latest import that left out a row of a kind with this key, folded, which has not come again since.
    pub fn left_out_by_key(&self, kind: Kind, folded_key: &str) -> Result<Option<ImportId>> {
        let mut statement = self.connection.prepare_cached(latest_import!("left_out.sheet_key = ?2"))?;
        Ok(statement.query_row((kind, folded_key), |row| row.get(0))?)
    }

    /// The same by its name, as names are compared, whatever its reference.
    pub fn left_out_by_name(&self, kind: Kind, comparable_name: &str) -> Result<Option<ImportId>> {
        let (first, last) = keys_with_name(kind, comparable_name);
        let mut statement =
            self.connection.prepare_cached(latest_import!("left_out.name BETWEEN ?2 AND ?3"))?;
        Ok(statement.query_row((kind, first, last), |row| row.get(0))?)
    }

    /// How many rows an import, or all of them, left out that have neither come again since nor been given up.
    pub fn left_out(&self, import: Option<ImportId>) -> Result<u64> {
        Ok(self.left_out_tally(import)?.total())
    }

    /// The same by kind and by the state that reports show.
    pub fn left_out_tally(&self, import: Option<ImportId>) -> Result<Tally> {
        let range = row_ref::range_of_any(&self.connection, import)?;
        let mut statement = self.connection.prepare_cached(
            "SELECT kind, state, count(*) FROM left_out WHERE job IS NULL AND given_up IS NULL
             AND place BETWEEN ?1 AND ?2 GROUP BY kind, state",
        )?;
        let mut rows = statement.query(range)?;
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
            name: None,
        };
        let provenance = Provenance { sheet: sites, source: None, natural_key: None, owner: String::new() };
        import.leave_out(&row, &provenance).unwrap();
        let stranger = LeftOut { sheet: super::SheetId(99), ..row };
        assert!(import.leave_out(&stranger, &provenance).is_err(), "a sheet of another import");
        let imported = import.finish().unwrap();
        assert_eq!((imported.rows, imported.left_out.total()), (1, 1));
        assert_eq!(bench.journal.sheets(imported.import).unwrap()[0].rows, 1);
        assert_eq!(bench.journal.tally(Some(imported.import)).unwrap().in_state(JobState::Rejected), 1);
        assert_eq!(bench.journal.tally(None).unwrap().total(), 0, "no job is made for it");
    }
}

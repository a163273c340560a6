//! What an import asks of the rows that the journal has, to find out in what its own rows differ, and notes of it.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, ToSql};

use crate::error::Result;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::intake::import_writer::ImportWriter;
use crate::journal::state::cancellation;
use crate::journal::state::dependents::changed_record::{self, SET_ASIDE};
use crate::journal::state::{job_row, step};
use crate::journal::stored_row::StoredTexts;
use crate::journal::view::changes::{self, LaterChange, LaterScope};
use crate::journal::view::differences::Difference;
use crate::journal::{KnownJob, SheetId, row_ref};
use crate::model::action::Action;
use crate::model::action::record_update::FieldValues;
use crate::model::id::{JobId, RemoteId};
use crate::model::record::Record;
use crate::model::time::Moment;

/// A row as it stood in its sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierRow {
    /// The headers of its sheet.
    pub headers: Vec<String>,
    /// Its cells.
    pub cells: Vec<String>,
}

/// How the place of a row is that of a row of an earlier import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamePlace {
    /// It says that it comes from there, as the rows of a fix sheet do.
    Source,
    /// It is in a sheet of the same name, in the same row.
    Own,
}

impl ImportWriter<'_> {
    /// Notes in what a row of this import differs from the record of its job.
    pub fn differs(&mut self, sheet: SheetId, number: u32, differences: &[Difference]) -> Result<()> {
        let columns = serde_json::to_string(differences).map_err(unwritable)?;
        self.transaction
            .prepare_cached("INSERT INTO difference (place, columns) VALUES (?1, ?2)")?
            .execute((row_ref::key(sheet, number), &columns))?;
        Ok(())
    }

    /// What a job is to bring about, by the values it has now.
    pub fn steps_of(&self, job: JobId) -> Result<Vec<Action>> {
        self.flush()?;
        step::actions(&self.transaction, job)
    }

    /// What the record of a job may have been made with, where its row was corrected since.
    pub fn sent_of(&self, job: JobId) -> Result<Option<Action>> {
        step::sent(&self.transaction, job)
    }

    /// The record of a job as updates have left it.
    ///
    /// # Errors
    /// When it creates none.
    pub fn record_of(&self, job: JobId) -> Result<Record> {
        self.flush()?;
        changed_record::record_now(&self.transaction, job)
    }

    /// What updates have set of the record of a job since it was made.
    pub fn updated_fields(&self, job: JobId) -> Result<FieldValues> {
        changed_record::fields(&self.transaction, job)
    }

    /// Whether any row changes a record that exists.
    pub fn has_upkeep(&self) -> Result<bool> {
        let any = "SELECT EXISTS (SELECT 1 FROM upkeep)";
        Ok(self.transaction.prepare_cached(any)?.query_row([], |row| row.get(0))?)
    }

    /// When a request that was, or may have been, carried out was last sent for each step of a job.
    pub fn steps_sent(&self, job: JobId) -> Result<BTreeMap<u32, Moment>> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT step, max(sent_at) FROM attempt WHERE job = ?1 AND execution IN ('confirmed', 'doubtful') GROUP BY step",
        )?;
        let sent = statement.query_map([job], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(sent.collect::<rusqlite::Result<_>>()?)
    }

    /// What other jobs changed of a record since a job; the earliest first.
    pub fn changed_later(
        &self,
        job: JobId,
        record: RemoteId,
        scope: LaterScope<'_>,
    ) -> Result<Vec<LaterChange>> {
        changes::changed_later(&self.transaction, job, record, scope)
    }

    /// The record that a job made or found.
    pub fn remote_id_of(&self, job: JobId) -> Result<Option<RemoteId>> {
        Ok(job_row::of(&self.transaction, job)?.remote_id)
    }

    /// A row of this import, as it stands in its sheet.
    pub fn row_as_written(&self, sheet: SheetId, number: u32) -> Result<EarlierRow> {
        let row = self.earlier_row("sheet_row.place = ?1", row_ref::key(sheet, number))?;
        row.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }

    /// The row from which a job has its values; not one that differs, of which only the steps after the creation were taken.
    pub fn row_of_values(&self, job: JobId) -> Result<Option<EarlierRow>> {
        let values = "sheet_row.job = ?1 AND sheet_row.disposition IN ('new', 'revised')
             AND NOT EXISTS (SELECT 1 FROM difference WHERE difference.place = sheet_row.place)
             ORDER BY sheet_row.place DESC LIMIT 1";
        self.earlier_row(values, job)
    }

    fn earlier_row(&self, which: &str, value: impl ToSql) -> Result<Option<EarlierRow>> {
        let sql = format!(
            "SELECT sheet.headers, sheet_row.cells FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
             WHERE {which}"
        );
        let found: Option<(String, String)> = self
            .transaction
            .prepare_cached(&sql)?
            .query_row([value], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((headers, cells)) = found else { return Ok(None) };
        let headers = serde_json::from_str(&headers).map_err(|error| damaged("headers", error))?;
        Ok(Some(EarlierRow { headers, cells: StoredTexts::of(&self.transaction).cells(&cells)? }))
    }

    /// Whether a row of a sheet of this import is at the place of a row of this job: where it says it comes from
    /// (`file!sheet!row`), else where it stands.
    pub fn is_at_place_of(
        &self,
        job: JobId,
        sheet: SheetId,
        number: u32,
        source: Option<&str>,
    ) -> Result<Option<SamePlace>> {
        let is_source: bool = self
            .transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
                     WHERE sheet_row.job = ?1
                     AND sheet.file || '!' || sheet.name || '!' || (sheet_row.place & 4294967295) = ?2)",
            )?
            .query_row((job, source), |row| row.get(0))?;
        if is_source {
            return Ok(Some(SamePlace::Source));
        }
        let is_own: bool = self
            .transaction
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM sheet AS now JOIN sheet ON sheet.file = now.file AND sheet.name = now.name
                     JOIN sheet_row ON sheet_row.place = sheet.id << 32 | ?3
                     WHERE now.id = ?2 AND sheet_row.job = ?1)",
            )?
            .query_row((job, sheet, number), |row| row.get(0))?;
        Ok(is_own.then_some(SamePlace::Own))
    }

    /// Whether it is unknown whether a job that was cancelled made its record.
    pub fn may_have_made(&self, known: &KnownJob) -> Result<bool> {
        cancellation::is_in_doubt(&self.transaction, known.job, &known.natural_key, 0)
    }

    /// Takes its natural key from a job of which nothing was ever made, so that another row may have it.
    pub fn release_natural_key(&mut self, job: JobId) -> Result<()> {
        self.transaction
            .prepare_cached(
                "UPDATE job SET natural_key = natural_key || ?2 || id WHERE id = ?1 AND remote_id IS NULL",
            )?
            .execute((job, SET_ASIDE.to_string()))?;
        Ok(())
    }
}

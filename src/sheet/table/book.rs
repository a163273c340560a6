//! A file opened: its tables found, and their rows handed over one by one, as often as wanted.
//!
//! How the tables are found is in `worksheet_search`, `separators` and `header_row`; what one reading of a table comes to is
//! left to `reading`.

mod header_row;
mod separators;
mod worksheet_notes;
mod worksheet_search;

use std::mem;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use smol_str::SmolStr;

use super::Table;
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::cell::Cell;
use crate::sheet::field::TableSetting;
use crate::sheet::file::csv::Records;
use crate::sheet::file::encoding;
use crate::sheet::file::preflight::WorksheetSurvey;
use crate::sheet::file::source;
use crate::sheet::file::source::{Format, SourceFile};
use crate::sheet::file::workbook::{MergeReading, Workbook};
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::Code;
use crate::sheet::formula_guard;
use crate::sheet::options::Options;
use crate::sheet::read_ahead::{read_ahead, weight};
use crate::sheet::row::cell_reader::CellReader;
use crate::sheet::row::reading::{TableReading, TableSummary};
use crate::sheet::row::{RawRow, Row};
use crate::sheet::table::header::kind_of_name;
use worksheet_notes::Worksheets;

/// A file with its tables.
pub struct Book {
    /// The file.
    pub file: SourceFile,
    /// Its tables, in their order.
    pub tables: Vec<Table>,
    /// Worksheets that are not read, each with the reason.
    pub ignored: Vec<(String, &'static str)>,
    /// What was found about the file and its headers.
    pub findings: Vec<Finding>,
    options: Options,
    /// The workbook as it is open; whoever reads of it has it alone.
    workbook: Mutex<Option<Workbook>>,
    worksheets: Worksheets,
}

/// Opens a file and finds its tables.
///
/// # Errors
/// The findings, at least one of them fatal, when nothing of the file can be used.
pub fn open(path: &Path, options: &Options) -> std::result::Result<Book, Vec<Finding>> {
    let name =
        path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
    open_as(path, &name, options)
}

/// The same under another name, where the file's own is that of another file too.
///
/// # Errors
/// As [`open`].
pub fn open_as(path: &Path, name: &str, options: &Options) -> std::result::Result<Book, Vec<Finding>> {
    let told = |mut findings: Vec<Finding>| {
        findings
            .iter_mut()
            .for_each(|finding| finding.kind = finding.kind.or_else(|| likely_kind(finding, options)));
        findings
    };
    let mut findings = Vec::new();
    if let Err(error) = options.check() {
        let message = format!("{}: {}", error.what(), error.next_step().unwrap_or_default());
        return Err(vec![Finding::of_file(Code::FileDelimiterAmbiguous, name, message)]);
    }
    let file = match source::inspect(path, name, options.encoding(), &mut findings) {
        Ok(file) => file,
        Err(finding) => {
            findings.push(*finding);
            return Err(told(findings));
        }
    };
    let mut book = Book {
        file,
        tables: Vec::new(),
        ignored: Vec::new(),
        findings,
        options: options.clone(),
        workbook: Mutex::new(None),
        worksheets: Worksheets::default(),
    };
    let found = match book.file.format {
        Format::Workbook => book.find_worksheets(None),
        Format::Text { .. } => book.find_text_table(),
    };
    if let Err(finding) = found {
        book.findings.push(*finding);
    }
    book.findings = told(book.findings);
    if book.tables.is_empty() {
        return Err(book.findings);
    }
    Ok(book)
}

/// What the rows are that a finding without a table is about, by what was said or by the name of their sheet or text
/// table; a workbook may hold any.
fn likely_kind(finding: &Finding, options: &Options) -> Option<Kind> {
    let of_name = || match &finding.sheet {
        Some(sheet) => kind_of_name(sheet),
        None => {
            let (stem, ending) = finding.file.rsplit_once('.')?;
            let is_text = ["csv", "tsv", "txt"].iter().any(|text| ending.eq_ignore_ascii_case(text));
            if is_text { kind_of_name(stem.rsplit('/').next()?) } else { None }
        }
    };
    options.kind.or_else(of_name)
}

impl Book {
    /// Hands over every row of a table that is not blank. May be called again; the rows are the same as long as the
    /// file is.
    ///
    /// # Errors
    /// When the file can no longer be read, and whatever `each` returns.
    pub fn read(&self, table: &Table, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<TableSummary> {
        let setting = self.setting(table);
        let cells = CellReader::new(table, &self.options, setting);
        let mut reading = TableReading::new(table, &self.options, setting, each);
        match &table.worksheet {
            Some(worksheet) => {
                let mut workbook = self.workbook();
                let (workbook, seen) = self.seen(&mut workbook, worksheet)?;
                let options = (self.options.hidden_rows, self.options.fill_merged);
                worksheet_notes::read(workbook, seen, table, options, (cells, reading))
            }
            None => {
                let ended = reading.take_all(cells, |each| self.read_text(table, each))?;
                reading.finish(ended.unwrap_or(Ok(())))
            }
        }
    }

    /// What holds for the cells of a table.
    pub(crate) fn setting(&self, table: &Table) -> TableSetting {
        match &self.file.format {
            Format::Workbook => TableSetting::OF_WORKBOOK,
            // In a table of ours a cell is as it was in the sheet that was imported, whatever separated the cells there.
            Format::Text { delimiter, .. } => {
                let is_ours = formula_guard::is_ours(&table.headers);
                let comma_is_free = *delimiter != ',' || is_ours;
                TableSetting { is_text_table: true, comma_is_free, wraps_text: !is_ours }
            }
        }
    }

    /// Hands over everything that stands in the file of a table, as it stands there: the rows above the header and those
    /// that are not read as well. Where merged cells count for all their rows, each row has the value. The inner error says why it cannot be read to its end.
    pub(crate) fn raw(
        &self,
        table: &Table,
        each: &mut dyn FnMut(RawRow) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        let Some(worksheet) = &table.worksheet else { return self.read_text(table, each) };
        let mut workbook = self.workbook();
        let (workbook, (place, survey)) = self.seen(&mut workbook, worksheet)?;
        let emails = worksheet_notes::email_columns(table);
        let is_read = |column| worksheet_notes::is_read(table, column);
        let below = MergeReading { header_row: table.header_row, fill_merged: true, is_read: &is_read };
        // Otherwise a covered cell is blank here as it is there.
        let below = self.options.fill_merged.then_some(&below);
        let ended = workbook
            .rows(*place, survey, below, &mut |row| each(worksheet_notes::raw_row(row, survey, &emails)))?;
        Ok(ended.map_err(|broken| broken.why))
    }

    /// The workbook. A reading that ended in a panic has left nothing half done: each begins again.
    fn workbook(&self) -> MutexGuard<'_, Option<Workbook>> {
        self.workbook.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worksheet that is read, with what was seen in it.
    fn seen<'s>(
        &'s self,
        workbook: &'s mut Option<Workbook>,
        worksheet: &str,
    ) -> Result<(&'s mut Workbook, &'s (usize, WorksheetSurvey))> {
        let (Some(workbook), Some(seen)) = (workbook, self.worksheets.get(worksheet)) else {
            return Err(Error::internal("a worksheet was to be read that was not looked through"));
        };
        Ok((workbook, seen))
    }

    fn read_text(
        &self,
        table: &Table,
        each: &mut dyn FnMut(RawRow) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        let Format::Text { encoding, delimiter } = &self.file.format else {
            return Err(Error::internal("a workbook was to be read as text"));
        };
        let failed = |error: std::io::Error| self.file.unreadable(error);
        let reader = encoding::reader(&self.file.path, encoding).map_err(failed)?;
        let width = table.width();
        let mut records =
            Records::new(reader, *delimiter).map_err(failed)?.escaping(self.options.escape).of_width(width);
        let ours = formula_guard::is_ours(&table.headers);
        // The text is cut into cells while the rows before are read.
        let cut = |give: &mut dyn FnMut(RawRow, usize) -> ControlFlow<()>| {
            while let Some(record) = records.next()? {
                if records.is_hopeless() {
                    return Ok(Some(record.row));
                }
                let raw = RawRow {
                    number: record.row,
                    line: Some(record.line),
                    cells: record.cells.into_iter().map(|text| Cell::text(plain(text, ours))).collect(),
                    links: Vec::new(),
                    damage: record.damage,
                    is_hidden: false,
                    is_struck_out: false,
                };
                let bytes = weight(&raw.cells);
                if give(raw, bytes).is_break() {
                    break;
                }
            }
            Ok(None)
        };
        match read_ahead(cut, &mut |row| each(mem::take(row)))? {
            Some(Ok(Some(row))) => Ok(Err(format!(
                "so many quotation marks are never closed that reading stops at row {row}: export the file again"
            ))),
            Some(Ok(None)) | None => Ok(Ok(())),
            Some(Err(error)) => Err(failed(error)),
        }
    }
}

/// A cell of a text table; without its guard when the table was written by our reports.
fn plain(text: SmolStr, ours: bool) -> SmolStr {
    if ours && formula_guard::unguarded(&text).len() < text.len() {
        formula_guard::unguarded(&text).into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests;

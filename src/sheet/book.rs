//! A file opened: its tables found, and their rows handed over one by one, as often as wanted.
//!
//! How the tables are found is in `search`; what one reading of a table comes to is left to `reading`.

mod search;

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::Path;

use crate::error::{Error, Result};

use super::cell::Cell;
use super::csv::Records;
use super::encoding;
use super::field::Setting;
use super::finding::Finding;
use super::guard;
use super::options::Options;
use super::reading::{Reading, Summary};
use super::row::{Raw, Row, RowReader};
use super::source::{self, Format, SourceFile};
use super::table::Table;
use super::workbook::Workbook;

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
    workbook: RefCell<Option<Workbook>>,
}

/// Opens a file and finds its tables.
///
/// # Errors
/// The findings, at least one of them fatal, when nothing of the file can be used.
pub fn open(path: &Path, options: &Options) -> std::result::Result<Book, Vec<Finding>> {
    let mut findings = Vec::new();
    let file = match source::inspect(path, options.encoding(), &mut findings) {
        Ok(file) => file,
        Err(finding) => {
            findings.push(*finding);
            return Err(findings);
        }
    };
    let mut book = Book {
        file,
        tables: Vec::new(),
        ignored: Vec::new(),
        findings,
        options: options.clone(),
        workbook: RefCell::new(None),
    };
    let found = match book.file.format {
        Format::Workbook => book.find_worksheets(),
        Format::Text { .. } => book.find_text_table(),
    };
    if let Err(finding) = found {
        book.findings.push(*finding);
    }
    if book.tables.is_empty() {
        return Err(book.findings);
    }
    Ok(book)
}

impl Book {
    /// Hands over every row of a table that is not blank. May be called again; the rows are the same as long as the
    /// file is.
    ///
    /// # Errors
    /// When the file can no longer be read, and whatever `each` returns.
    pub fn read(&self, table: &Table, each: &mut dyn FnMut(Row) -> Result<()>) -> Result<Summary> {
        let setting = match &self.file.format {
            Format::Workbook => Setting { is_text_table: false, comma_is_free: true },
            Format::Text { delimiter, .. } => {
                Setting { is_text_table: true, comma_is_free: *delimiter != ',' }
            }
        };
        let mut reading = Reading::new(table, RowReader::new(table, &self.options, setting), each);
        let ended = self.raw(table, &mut |raw| reading.take(raw))?;
        reading.finish(ended)
    }

    /// Hands over everything that stands in the file of a table, as it stands there: the rows above the header and those
    /// that are not read as well. The inner error says why it cannot be read to its end.
    pub(crate) fn raw(
        &self,
        table: &Table,
        each: &mut dyn FnMut(Raw) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        match (&table.worksheet, &self.file.format) {
            (Some(worksheet), _) => self.read_worksheet(worksheet, each),
            (None, format) => self.read_text(format, table, each),
        }
    }

    fn read_worksheet(
        &self,
        worksheet: &str,
        each: &mut dyn FnMut(Raw) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        let mut workbook = self.workbook.borrow_mut();
        let workbook = match &mut *workbook {
            Some(workbook) => workbook,
            empty => empty.insert(
                Workbook::open(&self.file.path, &self.file.name)
                    .map_err(|finding| Error::sheets(format!("{}: {}", self.file.name, finding.message)))?,
            ),
        };
        workbook.rows(worksheet, &mut |row| {
            each(Raw { number: row.number, line: None, cells: row.cells, damage: None })
        })
    }

    fn read_text(
        &self,
        format: &Format,
        table: &Table,
        each: &mut dyn FnMut(Raw) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        let Format::Text { encoding, delimiter } = format else {
            return Err(Error::internal("a workbook was to be read as text"));
        };
        let failed = |error: std::io::Error| {
            Error::sheets(format!("{} can no longer be read", self.file.name)).because(error)
        };
        let reader = encoding::reader(&self.file.path, encoding).map_err(failed)?;
        let mut records = Records::new(reader, *delimiter).map_err(failed)?;
        let ours = guard::is_ours(&table.headers);
        while let Some(record) = records.next().map_err(failed)? {
            if records.is_hopeless() {
                return Ok(Err(format!(
                    "so many quotation marks are never closed that reading stops at row {}: export the file again",
                    record.row
                )));
            }
            let cells = record.cells.into_iter().map(|text| Cell::text(plain(text, ours))).collect();
            let raw = Raw { number: record.row, line: Some(record.line), cells, damage: record.damage };
            if each(raw)?.is_break() {
                break;
            }
        }
        Ok(Ok(()))
    }
}

/// A cell of a text table; without its guard when the table was written by our reports.
fn plain(text: String, ours: bool) -> String {
    if ours && guard::unguarded(&text).len() < text.len() { guard::unguarded(&text).to_owned() } else { text }
}

#[cfg(test)]
mod tests;

//! One reading of a table: which rows are handed over, which are skipped, and what is said at the end.

use std::mem;
use std::ops::ControlFlow;

use smol_str::SmolStr;

use super::cell_reader::{CellReader, ReadRow};
use super::notes::EXAMPLE_KEY;
use super::{RawRow, Row, RowOutcome, RowReader};
use crate::error::Result;
use crate::sheet::address::column_of_address;
use crate::sheet::cell::Cell;
use crate::sheet::field::{NOT_ACCEPTED, TableSetting};
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::finding::{Finding, shown};
use crate::sheet::formula_guard;
use crate::sheet::options::Options;
use crate::sheet::read_ahead::{read_ahead, weight};
use crate::sheet::table::Table;
use crate::sheet::table::header::Mapped;
use crate::sheet::table::layout;
use crate::sheet::table::widths;
use crate::sheet::table::widths::RowWidths;
use crate::sheet::text::is_formula_error;

/// Most rows of one table.
const ROW_LIMIT: u32 = 1_048_576;
/// Row counts at which exports are cut off: those of Excel, now and before 2007.
const CUT_OFF_ROWS: [u32; 2] = [1_048_576, 65_536];
/// Rows that look like footers and wait for what follows.
const FOOTER_ROWS: usize = 10;
/// What is said of a row not read whose key can be one.
const KEY_ALONE: &str = ". If it is one of the rows, fill in its other cells";

/// What one reading of a table came to.
#[derive(Debug, Default)]
pub struct TableSummary {
    /// Rows handed over.
    pub rows: u64,
    /// Blank rows between them, which are skipped.
    pub blank: u64,
    /// What is said once for the whole table.
    pub findings: Vec<Finding>,
    /// The rows taken for totals or remarks that have a key, with it.
    pub keys_alone: Vec<(u32, SmolStr)>,
    /// How many cells its rows have by habit of the file.
    pub widths: RowWidths,
}

/// One reading of a table under way.
pub(crate) struct TableReading<'a, 'e> {
    table: &'a Table,
    rows: RowReader<'a>,
    each: &'e mut dyn FnMut(Row) -> Result<()>,
    /// Whether a header without rows is no error.
    empty_is_right: bool,
    /// Rows that are footers if no row of data follows.
    waiting: Vec<(Row, Option<usize>)>,
    widths: widths::WidthsSeen,
    summary: TableSummary,
    last: u32,
}

impl<'a, 'e> TableReading<'a, 'e> {
    /// A reading of the rows below the header.
    pub(crate) fn new(
        table: &'a Table,
        options: &Options,
        setting: TableSetting,
        each: &'e mut dyn FnMut(Row) -> Result<()>,
    ) -> Self {
        Self {
            table,
            rows: RowReader::new(table, options, setting),
            each,
            empty_is_right: options.allow_empty,
            waiting: Vec::new(),
            widths: widths::WidthsSeen::default(),
            summary: TableSummary::default(),
            last: table.header_row,
        }
    }

    /// Takes the rows of the file as `rows` hands them over, and makes records of them while the cells of those after them are
    /// read. What `rows` returned; `None` where no more are wanted.
    pub(crate) fn take_all<R: Send>(
        &mut self,
        mut cells: CellReader,
        rows: impl FnOnce(&mut dyn FnMut(RawRow) -> Result<ControlFlow<()>>) -> Result<R> + Send,
    ) -> Result<Option<R>> {
        let read = move |give: &mut dyn FnMut(ReadRow, usize) -> ControlFlow<()>| {
            rows(&mut |raw| {
                let row = cells.read(raw);
                let bytes = weight(&row.raw.cells) + size_of_val(row.readings.as_slice());
                Ok(give(row, bytes))
            })
        };
        read_ahead(read, &mut |row| self.take(mem::take(row)))?.transpose()
    }

    /// Takes the next row of the file; breaks when no more are wanted.
    fn take(&mut self, row: ReadRow) -> Result<ControlFlow<()>> {
        let raw = &row.raw;
        if raw.number <= self.table.header_row {
            return Ok(ControlFlow::Continue(()));
        }
        if raw.number > ROW_LIMIT {
            self.summary.findings.push(
                self.table
                    .finding(Code::FileTooLarge, format!("more than {ROW_LIMIT} rows: split the file"))
                    .in_row(raw.number, raw.line),
            );
            return Ok(ControlFlow::Break(()));
        }
        if raw.damage.is_none() && raw.cells.iter().all(Cell::is_blank) {
            self.summary.blank += 1;
            return Ok(ControlFlow::Continue(()));
        }
        self.last = raw.number;
        let is_cut = raw.damage.is_none() && self.table.worksheet.is_none();
        let width = is_cut.then_some(raw.cells.len());
        let is_a_header = || layout::is_other_header(&raw.cells) || self.rows.is_of_header(&raw.cells);
        if raw.damage.is_none()
            && is_a_header()
            && !self.rows.is_header(&raw.cells)
            && !self.rows.begins_with_a_choice(&row)
        {
            self.end_before(raw);
            return Ok(ControlFlow::Break(()));
        }
        match self.rows.read(row) {
            RowOutcome::Skipped => {}
            RowOutcome::Footer(row)
                if !self.table.referred.contains(&row.number) && self.waiting.len() < FOOTER_ROWS =>
            {
                self.waiting.push((row, width));
            }
            RowOutcome::Footer(row) | RowOutcome::Row(row) => {
                self.give_waiting()?;
                self.give(row, width)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the table where another one begins.
    fn end_before(&mut self, raw: &RawRow) {
        let of_its_own = if self.table.worksheet.is_some() { "sheet" } else { "file" };
        let message = format!(
            "another table begins here; nothing is read from this row on: put it into a {of_its_own} of its own"
        );
        let mut finding = self.table.finding(Code::SheetExtraTable, message).in_row(raw.number, raw.line);
        if let Some((column, cell)) = raw.cells.iter().enumerate().find(|(_, cell)| !cell.is_blank()) {
            finding = finding.in_column(column).showing(&cell.text, cell.value_kind());
        }
        self.summary.findings.push(finding);
    }

    fn give_waiting(&mut self) -> Result<()> {
        for (row, width) in std::mem::take(&mut self.waiting) {
            self.give(row, width)?;
        }
        Ok(())
    }

    /// Hands over a row; of one that is cut into cells as it should be, with how many it has.
    fn give(&mut self, mut row: Row, width: Option<usize>) -> Result<()> {
        if let Some(width) = width {
            let header = self.table.width();
            let is_complete = width == header || self.rows.is_complete(&row);
            self.widths.note(width, header, is_complete);
        }
        remark(&mut row);
        refuse_again(self.table, &mut row);
        self.summary.rows += 1;
        (self.each)(row)
    }

    /// Ends the reading; `ended` says why the table could not be read to its end.
    pub(crate) fn finish(mut self, ended: std::result::Result<(), String>) -> Result<TableSummary> {
        if self.summary.rows == 0 || ended.is_err() {
            self.give_waiting()?;
        }
        let mut findings = self.summary.findings;
        if let Err(message) = ended {
            findings.push(self.table.finding(Code::SheetUnreadable, message));
        }
        let mut keys_alone = Vec::new();
        for (row, _) in self.waiting {
            keys_alone.extend(row.identity.key.clone().map(|key| (row.number, key)));
            let text: Vec<String> = self
                .rows
                .own(&row.cells)
                .iter()
                .filter(|cell| !cell.is_empty())
                .map(|cell| shown(cell))
                .collect();
            findings.push(
                self.table
                    .finding(
                        Code::RowFooter,
                        format!(
                            "taken for a total or remark and not read: {}{}",
                            text.join(" "),
                            if row.identity.key.is_some() { KEY_ALONE } else { "" }
                        ),
                    )
                    .in_row(row.number, row.line),
            );
            // A stray value far out is reported as what it is.
            let is_stray =
                |finding: &Finding| finding.code == Code::RowTooManyCells && finding.value.is_some();
            findings.extend(row.findings.into_iter().filter(is_stray));
        }
        let is_untouched_template = self.rows.has_met_a_template() && self.summary.rows == 0;
        findings.extend(self.rows.finish());
        if self.summary.blank > 0 {
            findings.push(self.table.finding(
                Code::RowBlank,
                match self.summary.blank {
                    1 => "1 blank row is not read".to_owned(),
                    rows => format!("{rows} blank rows are not read"),
                },
            ));
        }
        if self.summary.rows == 0 {
            let message = if is_untouched_template {
                format!(
                    "there is no row but the example, whose key is {EXAMPLE_KEY} and which is not read: fill in the \
                     rows below it, or give that row a key of its own"
                )
            } else {
                "there is a header but no row of data below it: check whether the export was complete, or omit the \
                 file"
                    .to_owned()
            };
            let mut finding = self
                .table
                .finding(Code::SheetEmpty, message)
                .in_row(self.table.header_row, self.table.header_line);
            if is_untouched_template || self.empty_is_right || formula_guard::is_ours(&self.table.headers) {
                // A sheet of ours that is not needed may stay as it is, and so may one whose rows were all deleted; another
                // one that is empty is an export that failed.
                finding.severity = Severity::Info;
            }
            findings.push(finding);
        }
        if CUT_OFF_ROWS.contains(&self.last) {
            findings.push(
                self.table
                    .finding(
                        Code::SheetRowLimit,
                        format!(
                            "the sheet ends exactly at Excel's limit of {} rows: compare it with its source, because \
                             rows may be cut off",
                            self.last
                        ),
                    )
                    .in_row(self.last, None),
            );
        }
        let widths = self.widths.habit();
        Ok(TableSummary { rows: self.summary.rows, blank: self.summary.blank, findings, keys_alone, widths })
    }
}

/// The reports show the cells of a row each in its column and may be read again: a row of a text table that was not cut into
/// cells as it should be is shown there with a cell that is refused before those of which nobody knows where they belong.
fn refuse_again(table: &Table, row: &mut Row) {
    if table.worksheet.is_some() {
        return;
    }
    let first_unsure = |finding: &Finding| {
        let column = finding.cell.as_deref().and_then(column_of_address);
        match finding.code {
            Code::RowTooFewCells => Some(column? + 1),
            // Which of them is one too many is not known.
            Code::RowTooManyCells => Some(table.width()),
            Code::RowQuoteStray | Code::RowQuoteUnterminated => column,
            Code::CellTooLong if column.is_none() => Some(0),
            _ => None,
        }
    };
    let Some(unsure) = row.findings.iter().filter(|finding| finding.is_error()).find_map(first_unsure) else {
        return;
    };
    let is_read = |at: &usize| matches!(table.mapping.get(*at), Some(Mapped::Column { .. }));
    let read = (unsure..table.width()).find(is_read).or_else(|| (0..table.width()).rfind(is_read));
    let Some(at) = read.filter(|at| *at <= row.cells.len()) else { return };
    match row.cells.get_mut(at) {
        Some(cell) if cell.is_empty() => *cell = NOT_ACCEPTED.into(),
        Some(_) | None => row.cells.insert(at, NOT_ACCEPTED.into()),
    }
}

/// Says of a row with errors that begins with `#` that nothing is a comment because of that.
fn remark(row: &mut Row) {
    let Some(error) = row.findings.iter().position(Finding::is_error) else { return };
    let first = row.cells.iter().map(|cell| cell.trim()).find(|cell| !cell.is_empty());
    if first.is_some_and(|cell| cell.starts_with('#') && !is_formula_error(cell)) {
        let message = &mut row.findings[error].message;
        let sentence = message.trim_end_matches('.').len();
        message.truncate(sentence);
        message.push_str(". A # at the start of a row has no meaning here: delete the row if it is a remark");
    }
}

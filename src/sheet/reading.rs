//! One reading of a table: which rows are handed over, which are skipped, and what is said at the end.

use std::ops::ControlFlow;

use crate::error::Result;

use super::cell::Cell;
use super::code::{Code, Severity};
use super::finding::{Finding, shown};
use super::layout;
use super::row::{EXAMPLE_KEY, Identity, Outcome, Raw, Row, RowReader};
use super::table::Table;
use super::text::is_formula_error;

/// Most rows of one table.
const ROW_LIMIT: u32 = 1_048_576;
/// Row counts at which exports are cut off: those of Excel, now and before 2007.
const CUT_OFF_ROWS: [u32; 2] = [1_048_576, 65_536];
/// Rows that look like footers and wait for what follows.
const FOOTER_ROWS: usize = 10;
/// What one reading of a table came to.
#[derive(Debug, Default)]
pub struct Summary {
    /// Rows handed over.
    pub rows: u64,
    /// Blank rows between them, which are skipped.
    pub blank: u64,
    /// What is said once for the whole table.
    pub findings: Vec<Finding>,
}

/// One reading of a table under way.
pub(crate) struct Reading<'a, 'e> {
    pub(super) table: &'a Table,
    rows: RowReader<'a>,
    each: &'e mut dyn FnMut(Row) -> Result<()>,
    /// Whether a header without rows is no error.
    pub(super) empty_is_right: bool,
    /// Rows that are footers if no row of data follows.
    waiting: Vec<Row>,
    /// A row that ends too early and may go on in the next one, and how many cells it has.
    short: Option<(Row, usize)>,
    summary: Summary,
    last: u32,
}

impl<'a, 'e> Reading<'a, 'e> {
    /// A reading of the rows below the header.
    pub(crate) fn new(
        table: &'a Table,
        rows: RowReader<'a>,
        each: &'e mut dyn FnMut(Row) -> Result<()>,
    ) -> Self {
        Self {
            table,
            rows,
            each,
            empty_is_right: false,
            waiting: Vec::new(),
            short: None,
            summary: Summary::default(),
            last: table.header_row,
        }
    }

    /// Takes the next row of the file; breaks when no more are wanted.
    pub(crate) fn take(&mut self, raw: Raw) -> Result<ControlFlow<()>> {
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
        let width = raw.cells.len();
        if raw.damage.is_none() && layout::is_other_header(&raw.cells) && !self.rows.is_header(&raw.cells) {
            self.end_before(&raw);
            return Ok(ControlFlow::Break(()));
        }
        match self.rows.read(raw) {
            Outcome::Skipped => {}
            Outcome::Footer(row)
                if self.waiting.len() < FOOTER_ROWS && self.joined(&row, width).is_none() =>
            {
                self.waiting.push(row);
            }
            Outcome::Footer(row) | Outcome::Row(row) => {
                self.give_waiting()?;
                self.give_with_short(row, width)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Ends the table where another one begins.
    fn end_before(&mut self, raw: &Raw) {
        let of_its_own = if self.table.worksheet.is_some() { "sheet" } else { "file" };
        let message = format!(
            "another table begins here; from this row on nothing is read: put it into a {of_its_own} of its own"
        );
        let mut finding = self.table.finding(Code::SheetExtraTable, message).in_row(raw.number, raw.line);
        if let Some((column, cell)) = raw.cells.iter().enumerate().find(|(_, cell)| !cell.is_blank()) {
            finding = finding.in_column(column).showing(&cell.text, cell.value_kind());
        }
        self.summary.findings.push(finding);
    }

    /// The short row before this one, when the two look like one row that a line break has cut in two. A row without
    /// errors of its own is no half of another, however many cells the two have.
    fn joined(&self, row: &Row, width: usize) -> Option<u32> {
        let (short, before) = self.short.as_ref()?;
        let is_next = row.number == short.number + 1 && row.findings.iter().any(Finding::is_error);
        (is_next && before + width == self.table.headers.len() + self.table.blank_headers + 1)
            .then_some(short.number)
    }

    /// Hands a row over, after the short one before it; a short one waits for the next.
    fn give_with_short(&mut self, mut row: Row, width: usize) -> Result<()> {
        remark_on_hash(&mut row);
        let joined = self.joined(&row, width);
        if let Some((mut short, _)) = self.short.take() {
            if joined.is_some() {
                self.break_in_two(&mut short, &mut row);
            }
            self.give(short)?;
        }
        if joined.is_none() && row.findings.iter().any(|finding| finding.code == Code::RowTooFewCells) {
            self.short = Some((row, width));
            return Ok(());
        }
        self.give(row)
    }

    /// Says of two halves of a row that they are; what stands in the second one is in other columns than its own.
    fn break_in_two(&self, first: &mut Row, second: &mut Row) {
        let (above, below) = (first.number, second.number);
        let message = format!(
            "this looks like one row broken by a line break: rows {above} and {below} together have the cells of one. \
             Join them, or put the cell with the line break in quotation marks"
        );
        for finding in first.findings.iter_mut().filter(|finding| finding.code == Code::RowTooFewCells) {
            finding.message.clone_from(&message);
            finding.related.push(self.table.related(below, None, "where it goes on"));
        }
        let mut finding =
            self.table.finding(Code::RowTooFewCells, message).in_row(below, second.line).in_column(0);
        finding.related.push(self.table.related(above, None, "where the row begins"));
        second.findings = vec![finding];
        second.draft = None;
        second.identity = Identity::default();
    }

    fn give_waiting(&mut self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.give_short()?;
        for mut row in std::mem::take(&mut self.waiting) {
            remark_on_hash(&mut row);
            self.give(row)?;
        }
        Ok(())
    }

    fn give_short(&mut self) -> Result<()> {
        match self.short.take() {
            Some((short, _)) => self.give(short),
            None => Ok(()),
        }
    }

    fn give(&mut self, row: Row) -> Result<()> {
        self.summary.rows += 1;
        (self.each)(row)
    }

    /// Ends the reading; `ended` says why the table could not be read to its end.
    pub(crate) fn finish(mut self, ended: std::result::Result<(), String>) -> Result<Summary> {
        self.give_short()?;
        if self.summary.rows == 0 || ended.is_err() {
            self.give_waiting()?;
        }
        let mut findings = self.summary.findings;
        if let Err(message) = ended {
            findings.push(self.table.finding(Code::SheetUnreadable, message));
        }
        for row in self.waiting {
            let text: Vec<String> =
                row.cells.iter().filter(|cell| !cell.is_empty()).map(|cell| shown(cell)).collect();
            findings.push(
                self.table
                    .finding(
                        Code::RowFooter,
                        format!("taken for a total or remark and not read: {}", text.join(" ")),
                    )
                    .in_row(row.number, row.line),
            );
            // A stray value far out is told as what it is.
            findings.extend(row.findings.into_iter().filter(|finding| finding.code == Code::RowTooManyCells));
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
                "there is a header but no row of data below it: see whether the export was complete, or leave the file \
                 out"
                    .to_owned()
            };
            let mut finding = self
                .table
                .finding(Code::SheetEmpty, message)
                .in_row(self.table.header_row, self.table.header_line);
            if is_untouched_template || self.empty_is_right {
                // A sheet of ours that is not needed may stay as it is; an empty one is an export that failed.
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
                            "the sheet ends exactly at Excel's limit of {} rows: compare it with where it comes from, as rows may be cut off",
                            self.last
                        ),
                    )
                    .in_row(self.last, None),
            );
        }
        Ok(Summary { rows: self.summary.rows, blank: self.summary.blank, findings })
    }
}

/// Says of a row with errors that begins with `#` that nothing is a comment because of that.
fn remark_on_hash(row: &mut Row) {
    let starts = row
        .cells
        .iter()
        .find(|cell| !cell.trim().is_empty())
        .is_some_and(|cell| cell.trim_start().starts_with('#') && !is_formula_error(cell.trim()));
    if starts && let Some(finding) = row.findings.iter_mut().find(|finding| finding.is_error()) {
        let sentence = finding.message.trim_end_matches('.').len();
        finding.message.truncate(sentence);
        finding
            .message
            .push_str(". A # at the start of a row has no meaning here: delete the row if it is a remark");
    }
}

//! One reading of a table: which rows are handed over, which are skipped, and what is said at the end.

use std::ops::ControlFlow;

use crate::error::Result;

use super::cell::Cell;
use super::code::{Code, Severity};
use super::finding::{Finding, shown};
use super::row::{EXAMPLE_KEY, Outcome, Raw, Row, RowReader};
use super::table::Table;

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
    waiting: Vec<Row>,
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
        Self { table, rows, each, waiting: Vec::new(), summary: Summary::default(), last: table.header_row }
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
        match self.rows.read(raw) {
            Outcome::Skipped => {}
            Outcome::Footer(row) if self.waiting.len() < FOOTER_ROWS => self.waiting.push(row),
            Outcome::Footer(row) | Outcome::Row(row) => {
                self.give_waiting()?;
                self.give(row)?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn give_waiting(&mut self) -> Result<()> {
        for row in std::mem::take(&mut self.waiting) {
            self.give(row)?;
        }
        Ok(())
    }

    fn give(&mut self, row: Row) -> Result<()> {
        self.summary.rows += 1;
        (self.each)(row)
    }

    /// Ends the reading; `ended` says why the table could not be read to its end.
    pub(crate) fn finish(mut self, ended: std::result::Result<(), String>) -> Result<Summary> {
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
            findings.push(
                self.table.finding(Code::RowBlank, format!("{} blank rows are not read", self.summary.blank)),
            );
        }
        if self.summary.rows == 0 {
            let message = if is_untouched_template {
                format!(
                    "there is no row but the example, whose key is {EXAMPLE_KEY} and which is not read: fill in the \
                     rows below it, or give that row a key of its own"
                )
            } else {
                "there is a header but no row of data below it".to_owned()
            };
            let mut finding =
                self.table.finding(Code::SheetEmpty, message).in_row(self.table.header_row, None);
            if is_untouched_template {
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
                            "the sheet ends exactly at Excel's limit of {} rows: was something cut off?",
                            self.last
                        ),
                    )
                    .in_row(self.last, None),
            );
        }
        Ok(Summary { rows: self.summary.rows, blank: self.summary.blank, findings })
    }
}

//! What is wrong with a row as a whole: it has another width than the header, or is no record.
//!
//! Nothing else is told of such a row, as its cells may belong to other columns, or to none.

use super::Row;
use super::RowReader;
use crate::sheet::cell::Cell;
use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, shown};
use crate::sheet::table::column::Need;
use crate::sheet::table::layout;

/// Cells that every row needs and a row that is no record lacks at least.
const LACKING: usize = 2;

impl RowReader<'_> {
    /// Whether something is wrong with a row as a whole, which is told in place of all that was found in its cells.
    pub(super) fn is_wrong_as_a_whole(&mut self, cells: &[Cell], row: &mut Row) -> bool {
        let Some(mut finding) = self.wrong_width(cells, row).or_else(|| self.no_record(cells, row)) else {
            return false;
        };
        finding.header = finding
            .cell
            .as_deref()
            .and_then(crate::sheet::cell::column_of_address)
            .and_then(|column| self.table.headers.get(column))
            .map(|header| shown(header));
        // A character that no text has says more of a row of one cell than its width, and what stands far out is none of its
        // cells.
        row.findings.retain(|found| matches!(found.code, Code::CellControlChar | Code::RowTooManyCells));
        row.findings.push(finding);
        true
    }

    /// The finding for a row of a text table that has not as many cells as the header, where that is no habit.
    fn wrong_width(&mut self, cells: &[Cell], row: &Row) -> Option<Finding> {
        // Blank cells beyond the columns that are read are none of the header's either.
        let (count, width) = (cells.len().min(COLUMN_LIMIT + 1), self.table.width());
        if !self.setting.is_text_table || self.table.widths.allow(count, width) && !self.is_beyond(cells) {
            return None;
        }
        let has = format!("the row has {count} {} and the header has {width}", plural(count, "cell"));
        if count >= width {
            let message = format!(
                "{has}: put a cell that contains the separator in quotation marks, or delete the extra separator"
            );
            let beyond = cells.iter().enumerate().skip(width).find(|(_, cell)| !cell.is_blank());
            let at = beyond.map_or(width, |(position, _)| position);
            let finding = self.table.finding(Code::RowTooManyCells, message);
            let finding = finding.in_row(row.number, row.line).in_column(at);
            return Some(match beyond {
                Some((_, cell)) => finding.showing(&cell.text, cell.value_kind()),
                None => finding,
            });
        }
        let above = self.last_short.replace((row.number, count));
        let message = match above {
            Some((above, cells)) if above + 1 == row.number && cells + count == width + 1 => format!(
                "this looks like one row broken by a line break: rows {above} and {} together have the cells of one \
                 row. Join them, or put the cell with the line break in quotation marks",
                row.number
            ),
            Some(_) | None => {
                let missing = self.lacking(cells, count);
                let missing = match missing.as_slice() {
                    [] => String::new(),
                    [one] => format!(", so {one} is missing"),
                    names => format!(", so {} are missing", names.join(", ")),
                };
                format!(
                    "{has}{missing}: a separator is missing, or a line break has cut the row. Add the separators, also \
                     those of blank cells, or put the cell with the line break in quotation marks"
                )
            }
        };
        let finding = self.table.finding(Code::RowTooFewCells, message);
        Some(finding.in_row(row.number, row.line).in_column(count.saturating_sub(1)))
    }

    /// Whether a row has a value beyond the header.
    fn is_beyond(&self, cells: &[Cell]) -> bool {
        cells.iter().skip(self.table.width()).any(|cell| !cell.is_blank())
    }

    /// The finding for a row that lacks what makes a record: a heading, a total or a remark among the records.
    fn no_record(&self, cells: &[Cell], row: &Row) -> Option<Finding> {
        let own = self.table.own(cells);
        // Asked of every row, and true of hardly any.
        if !layout::is_total_or_remark(own) || own.iter().any(Cell::is_covered) {
            return None;
        }
        let lacking = self.lacking(cells, 0);
        if lacking.len() < LACKING {
            return None;
        }
        let filled = own.iter().filter(|cell| !cell.is_blank()).count();
        let message = format!(
            "this row has a value in {filled} {}, and {} are missing: delete the row if it is a heading, a total or a \
             remark, or fill it in",
            plural(filled, "cell"),
            lacking.join(", ")
        );
        Some(self.table.finding(Code::RowTooFewCells, message).in_row(row.number, row.line))
    }

    /// The columns from this one on that every row needs and this one has no value for.
    fn lacking(&self, cells: &[Cell], from: usize) -> Vec<&'static str> {
        let is_there = |position: usize| cells.get(position).is_some_and(|cell| !cell.is_blank());
        let needed = self.plan.iter().filter(|planned| {
            planned.column.need == Need::Required && planned.default.is_none() && planned.position >= from
        });
        needed.filter(|planned| !is_there(planned.position)).map(|planned| planned.column.name).collect()
    }
}

/// A word as it stands after this number.
fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

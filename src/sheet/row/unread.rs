//! What stands in cells that are not read: beyond the header, under no header, or in a column that is none of ours. None of
//! it is lost without a word.

use super::Row;
use super::RowReader;
use super::plan::NOWHERE;
use crate::sheet::cell::Cell;
use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::table::column::Need;
use crate::sheet::table::header;
use crate::sheet::table::header::Mapped;

impl RowReader<'_> {
    /// Values in columns that have no header, or that are not read.
    pub(super) fn unread(&mut self, cells: &[Cell], row: &mut Row) {
        let width = self.table.headers.len();
        let named = self.table.width();
        if !self.setting.is_text_table
            && let Some((position, cell)) =
                cells.iter().enumerate().skip(named).find(|(_, cell)| !cell.is_blank())
        {
            let message = format!(
                "the row has a value beyond the {width} columns of the header: delete it if it is a remark, or give the \
                 column a header"
            );
            let finding = self.table.finding(Code::RowTooManyCells, message).in_row(row.number, row.line);
            let finding = finding.as_severity(Severity::Warning).showing(&cell.text, cell.value_kind());
            // What is further out is kept as one cell, whose column is no longer known.
            row.findings.push(if position < COLUMN_LIMIT { finding.in_column(position) } else { finding });
        }
        for (position, mapped) in self.table.mapping.iter().enumerate() {
            if matches!(mapped, Mapped::Blank)
                && let Some(cell) = cells.get(position).filter(|cell| !cell.is_blank())
            {
                self.counts[position].without_header(row.number, &cell.text);
            }
        }
        if self.setting.is_text_table {
            for (position, mapped) in self.table.mapping.iter().enumerate() {
                if !matches!(mapped, Mapped::Column { .. })
                    && let Some(cell) = cells.get(position).filter(|cell| cell.text.contains('\n'))
                {
                    row.findings.extend(self.rows_inside(cell, position, row));
                }
            }
        }
        for (position, cell) in cells.iter().enumerate().take(named).skip(width) {
            if !cell.is_blank() && !self.nameless_are_ignored {
                self.counts[position].without_header(row.number, &cell.text);
            }
        }
    }

    /// A warning about a cell that is not read and has lines like rows, as a quotation mark left open makes it.
    fn rows_inside(&self, cell: &Cell, position: usize, row: &Row) -> Option<Finding> {
        let last = self.plan.iter().filter(|planned| planned.column.need == Need::Required);
        let last = last.map(|planned| planned.position).filter(|position| *position != NOWHERE).max()?;
        let is_row =
            |line: &str| [',', ';', '\t', '|'].iter().any(|mark| line.matches(*mark).count() >= last.max(2));
        if !cell.text.lines().any(is_row) {
            return None;
        }
        let mut finding = self
            .table
            .finding(
                Code::CellLineBreak,
                format!(
                    "the cell goes over {} lines, some of which look like rows: check whether a quotation mark is not \
                     closed",
                    cell.text.lines().count()
                ),
            )
            .as_severity(Severity::Warning)
            .in_row(row.number, row.line)
            .in_column(position)
            .showing(&cell.text, cell.value_kind());
        finding.header = self.table.headers.get(position).map(|header| header::cut(header));
        finding.rule = Some("one line of text".to_owned());
        Some(finding)
    }
}

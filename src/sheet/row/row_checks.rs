//! What is wrong with a row as a whole: it has another width than the header, is no record, still is the example of a
//! template, or has values in cells that are not read.

use super::notes::EXAMPLE_KEY;
use super::plan::{NOWHERE, Planned};
use super::{Row, RowReader};
use crate::sheet::cell::{Cell, CellKind};
use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::finding::{Finding, shown};
use crate::sheet::table::column::Need;
use crate::sheet::table::header::Mapped;
use crate::sheet::table::{header_name, layout};

/// Cells that every row needs and a row that is no record lacks at least.
const LACKING: usize = 2;

impl RowReader<'_> {
    /// Whether something is wrong with a row as a whole, which is reported in place of all that was found in its cells.
    pub(super) fn is_wrong_as_a_whole(&mut self, cells: &[Cell], row: &mut Row) -> bool {
        let Some(mut finding) = self.wrong_width(cells, row).or_else(|| self.no_record(cells, row)) else {
            return false;
        };
        finding.header = finding
            .cell
            .as_deref()
            .and_then(crate::sheet::address::column_of_address)
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
        let (count, width) = (cells.len(), self.table.width());
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
            let finding = finding.in_row(row.number, row.line);
            let finding = if at < COLUMN_LIMIT { finding.in_column(at) } else { finding };
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
        let own = self.own(cells);
        // Asked of every row, and true of hardly any.
        if self.values.is_update() || !layout::is_total_or_remark(own) || own.iter().any(is_below_a_merge) {
            return None;
        }
        let lacking = self.lacking(cells, 0);
        if lacking.len() < LACKING {
            return None;
        }
        let filled = own.iter().filter(|cell| !cell.is_blank() && !cell.is_covered()).count();
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
        let has_value = |cell: &Cell| !cell.is_blank() && !cell.is_covered();
        let is_there = |position: usize| cells.get(position).is_some_and(has_value);
        let needed = self.plan.iter().filter(|planned| {
            planned.column.need == Need::Required && planned.default.is_none() && planned.position >= from
        });
        needed.filter(|planned| !is_there(planned.position)).map(|planned| planned.column.name).collect()
    }
}

/// Whether a merged range that reaches from one row into others lies over a cell, and not one along its row, as over a heading.
fn is_below_a_merge(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Covered(cover) if !cover.merge.is_horizontal())
}

/// A word as it stands after this number.
fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

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
        finding.header = self.table.headers.get(position).map(|header| header_name::cut(header));
        finding.rule = Some("one line of text".to_owned());
        Some(finding)
    }
}

/// Cells with the template's example values from which on a row is the example when its name is the example's, too.
const LEFT_OF_EXAMPLE: usize = 4;
/// The same under another name: short rows of one's own may agree with the example in a few cells.
const LEFT_UNDER_OTHER_NAME: usize = 8;
/// Other cells that such a row may have.
const TYPED_OVER_EXAMPLE: usize = 3;

impl RowReader<'_> {
    /// Whether a row is the template's example by its key, which is not read. Who wrote a record of their own over it
    /// is reported.
    pub(super) fn is_the_example(&mut self, cells: &[Cell], number: u32, line: Option<u64>) -> bool {
        let cell = self.example.and_then(|example| cells.get(example));
        if cell.is_none_or(|cell| cell.text.trim() != EXAMPLE_KEY) {
            return false;
        }
        self.tally.template();
        if self.is_typed_over(cells) {
            let message = format!(
                "this row still has the key {EXAMPLE_KEY} of the template's example, so it is not read: give it a key \
                 of its own, or delete it"
            );
            let finding = self.table.finding(Code::RowTemplate, message).in_row(number, line);
            self.findings.push(finding.as_severity(Severity::Warning));
        }
        true
    }

    /// Whether somebody has written a record of their own over the template's example: its name is another one.
    fn is_typed_over(&self, cells: &[Cell]) -> bool {
        self.plan.iter().filter(|planned| matches!(planned.column.name, "name" | "username")).any(|planned| {
            let typed = cells.get(planned.position).filter(|cell| !cell.is_blank());
            typed.is_some_and(|cell| cell.text.trim() != planned.column.example)
        })
    }

    /// The finding for a row that still is the template's example but for a few cells: the example's record would be
    /// made under a key of its own.
    pub(super) fn left_of_the_example(
        &self,
        cells: &[Cell],
        number: u32,
        line: Option<u64>,
    ) -> Option<Finding> {
        let filled = |planned: &&Planned| cells.get(planned.position).is_some_and(|cell| !cell.is_blank());
        let is_example = |planned: &&Planned| {
            cells.get(planned.position).is_some_and(|cell| cell.text.trim() == planned.column.example)
        };
        let is_typed = |planned: &&Planned| filled(planned) && !is_example(planned);
        // Asked of every row, and true of hardly any.
        if self.plan.iter().filter(is_typed).nth(TYPED_OVER_EXAMPLE).is_some() {
            return None;
        }
        let left: Vec<&Planned> =
            self.plan.iter().filter(|planned| filled(planned) && is_example(planned)).collect();
        let has_its_name = left.iter().any(|planned| matches!(planned.column.name, "name" | "username"));
        let enough = if has_its_name { LEFT_OF_EXAMPLE } else { LEFT_UNDER_OTHER_NAME };
        if left.len() < enough {
            return None;
        }
        let names: Vec<&str> = left.iter().map(|planned| planned.column.name).collect();
        let message = format!(
            "this row still has the values of the template's example: {}. Enter those of the record",
            names.join(", ")
        );
        let finding = self.table.finding(Code::RowTemplate, message).in_row(number, line);
        Some(finding.as_severity(Severity::Error))
    }
}

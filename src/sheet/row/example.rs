//! The template's example under its own key, or left of it: a row that still has the example's values in most of its
//! cells would make the example's record.
//!
//! Which key is the example's own is said in `tally`; what is told of a row goes among its findings in [`super`].

use super::RowReader;
use super::plan::Planned;
use super::table_notes::EXAMPLE_KEY;
use crate::sheet::cell::Cell;
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::{Code, Severity};

/// Cells with the template's example values from which on a row is the example when its name is the example's, too.
const LEFT_OF_EXAMPLE: usize = 4;
/// The same under another name: short rows of one's own may agree with the example in a few cells.
const LEFT_UNDER_OTHER_NAME: usize = 8;
/// Other cells that such a row may have.
const TYPED_OVER_EXAMPLE: usize = 3;

impl RowReader<'_> {
    /// Whether a row is the template's example by its key, which is not read. Who wrote a record of their own over it
    /// is told.
    pub(super) fn is_the_example(
        &mut self,
        key: Option<&str>,
        cells: &[Cell],
        number: u32,
        line: Option<u64>,
    ) -> bool {
        if key != Some(EXAMPLE_KEY) {
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

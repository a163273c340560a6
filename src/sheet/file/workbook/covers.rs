//! Merged ranges while rows go by: which cells lie under one, and what the value of its first cell is.

use std::collections::VecDeque;

use super::SheetRow;
use crate::sheet::cell::{Cell, CellKind, Cover};
use crate::sheet::file::preflight::{COLUMN_LIMIT, Merge};

/// The merged ranges of a worksheet, row after row.
pub(super) struct Covers {
    waiting: VecDeque<Merge>,
    /// Those that reach the row at hand, with the value of their first cell.
    open: Vec<(Merge, Cell)>,
    /// Whether the value of a merge down one column counts for all its rows.
    fill: bool,
}

impl Covers {
    /// The ranges in the order of their first rows. Those that begin in the header or above it have no value to give.
    pub(super) fn new(merges: &[Merge], header_row: u32, fill: bool) -> Self {
        let below = |merge: &&Merge| merge.first_row > header_row && merge.first_row < merge.last_row;
        let beside = |merge: &&Merge| merge.first_row == merge.last_row && merge.first_row > header_row;
        let waiting = merges.iter().filter(|merge| below(merge) || beside(merge)).copied().collect();
        Self { waiting, open: Vec::new(), fill }
    }

    /// Marks, or fills, the cells of a row that lie under a merged range, in the columns that are read.
    pub(super) fn lay_over(&mut self, row: &mut SheetRow, is_read: &dyn Fn(usize) -> bool) {
        self.open.retain(|(merge, _)| merge.last_row >= row.number);
        while self.waiting.front().is_some_and(|merge| merge.first_row <= row.number) {
            let Some(merge) = self.waiting.pop_front() else { break };
            let anchor = row.cells.get(usize::from(merge.first_column));
            // A range whose first row has no value at all has none to hide either.
            if let Some(anchor) = anchor.filter(|cell| merge.first_row == row.number && !cell.is_blank()) {
                self.open.push((merge, anchor.clone()));
            }
        }
        for (merge, anchor) in &self.open {
            for column in
                usize::from(merge.first_column)..=usize::from(merge.last_column).min(COLUMN_LIMIT - 1)
            {
                let is_anchor = row.number == merge.first_row && column == usize::from(merge.first_column);
                if is_anchor || !is_read(column) {
                    continue;
                }
                if row.cells.len() <= column {
                    row.cells.resize(column + 1, Cell::default());
                }
                let cell = &mut row.cells[column];
                if cell.is_blank() {
                    *cell = if self.fill && merge.is_vertical() {
                        anchor.clone()
                    } else {
                        let at = (row.number, u16::try_from(column).unwrap_or_default());
                        Cell { kind: CellKind::Covered(Cover { at, merge: *merge }), text: String::new() }
                    };
                }
            }
        }
    }
}

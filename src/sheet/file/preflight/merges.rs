//! Merged ranges of a worksheet: that none lies over another, and, while rows go by, which cells lie under one.

use std::collections::{BTreeMap, VecDeque};

use smol_str::SmolStr;

use super::COLUMN_LIMIT;
use crate::sheet::address::CellRange;
use crate::sheet::cell::{Cell, CellKind, Cover};

/// Orders ranges by their first row; the first range that lies over another is an error.
pub(super) fn ordered(mut merges: Vec<CellRange>) -> Result<Vec<CellRange>, CellRange> {
    merges.sort_unstable_by_key(|merge| (merge.first_row, merge.first_column));
    // The ranges that may reach the row at hand, by their first column; no two share a column.
    let mut open: BTreeMap<u16, (u16, u32)> = BTreeMap::new();
    for merge in &merges {
        while let Some((&first, &(last, last_row))) = open.range(..=merge.last_column).next_back()
            && last >= merge.first_column
        {
            if last_row >= merge.first_row {
                return Err(*merge);
            }
            open.remove(&first);
        }
        open.insert(merge.first_column, (merge.last_column, merge.last_row));
    }
    Ok(merges)
}

/// The merged ranges of a worksheet, row after row.
pub(in crate::sheet::file) struct Covers {
    waiting: VecDeque<CellRange>,
    /// Those that reach the row at hand, with the value of their first cell.
    open: Vec<(CellRange, Cell)>,
    /// Whether the value of a merge down one column counts for all its rows.
    fill: bool,
}

impl Covers {
    /// The ranges in the order of their first rows. Those that begin in the header or above it have no value to give.
    pub(in crate::sheet::file) fn new(merges: &[CellRange], header_row: u32, fill: bool) -> Self {
        let waiting = merges.iter().filter(|merge| merge.first_row > header_row).copied().collect();
        Self { waiting, open: Vec::new(), fill }
    }

    /// Marks, or fills, the cells of a row that lie under a merged range, in the columns that are read.
    pub(in crate::sheet::file) fn lay_over(
        &mut self,
        row: u32,
        cells: &mut Vec<Cell>,
        is_read: &dyn Fn(usize) -> bool,
    ) {
        self.open.retain(|(merge, _)| merge.last_row >= row);
        while let Some(merge) = self.waiting.pop_front_if(|merge| merge.first_row <= row) {
            let anchor = cells.get(usize::from(merge.first_column));
            // A range whose first row has no value at all has none to hide either.
            if let Some(anchor) = anchor.filter(|cell| merge.first_row == row && !cell.is_blank()) {
                self.open.push((merge, anchor.clone()));
            }
        }
        for (merge, anchor) in &self.open {
            for at in merge.first_column..=merge.last_column {
                let column = usize::from(at);
                let is_anchor = row == merge.first_row && at == merge.first_column;
                if column >= COLUMN_LIMIT {
                    break;
                }
                if is_anchor || !is_read(column) {
                    continue;
                }
                if cells.len() <= column {
                    cells.resize(column + 1, Cell::default());
                }
                if cells[column].is_blank() {
                    cells[column] = if self.fill && merge.is_vertical() {
                        anchor.clone()
                    } else {
                        let cover = Cover { at: (row, at), merge: *merge };
                        Cell { kind: CellKind::Covered(cover), text: SmolStr::default() }
                    };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_ordered_and_none_may_lie_over_another() {
        type Case = (&'static [&'static str], Result<&'static [&'static str], &'static str>);
        let table: [Case; 5] = [
            (&["C4:C8", "A1:F1"], Ok(&["A1:F1", "C4:C8"])),
            (&["A1:B2", "C1:D2", "A3:D3"], Ok(&["A1:B2", "C1:D2", "A3:D3"])),
            (&["A1:B2", "B2:C3"], Err("B2:C3")),
            (&["A1:D9", "B2:B3"], Err("B2:B3")),
            (&["B2:B3", "A3:D3"], Err("A3:D3")),
        ];
        for (ranges, expected) in table {
            let ranges: Vec<CellRange> = ranges.iter().filter_map(|text| CellRange::of(text)).collect();
            let told = ordered(ranges).map(|all| all.iter().map(CellRange::address).collect::<Vec<_>>());
            let expected = expected.map(|all| all.iter().map(ToString::to_string).collect());
            assert_eq!(told.map_err(|one| one.address()), expected.map_err(str::to_owned));
        }
    }
}

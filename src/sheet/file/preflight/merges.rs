//! Merged ranges of a worksheet: ordered, and none over another.

use std::collections::BTreeMap;

use super::COLUMN_LIMIT;
use crate::sheet::cell::address;

/// A merged range of more than one cell. Rows as shown, columns from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merge {
    pub(crate) first_row: u32,
    pub(crate) last_row: u32,
    pub(crate) first_column: u16,
    pub(crate) last_column: u16,
}

impl Merge {
    /// The range between two corners; `None` for one that is a single cell or beyond the columns that are read.
    pub(super) fn between(
        [(first_row, first_column), (last_row, last_column)]: [(u32, u16); 2],
    ) -> Option<Self> {
        let is_one = first_row == last_row && first_column == last_column;
        (!is_one && usize::from(first_column) < COLUMN_LIMIT).then_some(Self {
            first_row,
            last_row,
            first_column,
            last_column,
        })
    }

    /// Whether it runs down one column.
    pub(crate) fn is_vertical(&self) -> bool {
        self.first_column == self.last_column
    }

    /// As a spreadsheet program shows it: `C4:C8`.
    pub(crate) fn range(&self) -> String {
        format!("{}:{}", self.anchor(), address(usize::from(self.last_column), self.last_row))
    }

    /// The cell that has the value.
    pub(crate) fn anchor(&self) -> String {
        address(usize::from(self.first_column), self.first_row)
    }
}

/// Orders ranges by their first row; the first range that lies over another is an error.
pub(super) fn ordered(mut merges: Vec<Merge>) -> Result<Vec<Merge>, Merge> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::file::preflight::place;

    fn merges(ranges: &[&str]) -> Result<Vec<String>, String> {
        let merges = ranges.iter().filter_map(|text| Merge::between(place::range(text)?)).collect();
        ordered(merges).map(|all| all.iter().map(Merge::range).collect()).map_err(|one| one.range())
    }

    #[test]
    fn ranges_are_ordered_and_none_may_lie_over_another() {
        type Case = (&'static [&'static str], Result<&'static [&'static str], &'static str>);
        let table: [Case; 6] = [
            (&["C4:C8", "A1:F1", "B2:B2"], Ok(&["A1:F1", "C4:C8"])),
            (&["A1:B2", "C1:D2", "A3:D3"], Ok(&["A1:B2", "C1:D2", "A3:D3"])),
            (&["A1:B2", "B2:C3"], Err("B2:C3")),
            (&["A1:D9", "B2:B3"], Err("B2:B3")),
            (&["B2:B3", "A3:D3"], Err("A3:D3")),
            (&["ZZZ1:ZZZ2", "XFD1:XFD5"], Ok(&[])),
        ];
        for (ranges, expected) in table {
            let expected = expected.map(|all| all.iter().map(ToString::to_string).collect());
            assert_eq!(merges(ranges), expected.map_err(str::to_owned), "{ranges:?}");
        }
    }
}

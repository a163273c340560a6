//! What one pass over a worksheet comes to: everything that the values alone do not tell.

use std::collections::BTreeMap;

use super::COLUMN_LIMIT;
use super::links::Links;
use crate::sheet::cell::address;

/// What a worksheet hides, merges, computes and links to.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Hidden rows that hold something.
    pub(crate) hidden_rows: RowSet,
    /// Whether a filter is set.
    pub(crate) has_filter: bool,
    /// Merged ranges, by their first row; none lies over another.
    pub(crate) merges: Vec<Merge>,
    /// Links to e-mail addresses.
    pub(crate) links: Links,
    /// Cells with the error of a formula that the reader does not know, as they stand in the file: row and column.
    pub(crate) unknown_errors: Vec<(u32, u16)>,
    /// Whether the rows stand in their order.
    pub(crate) is_ordered: bool,
    /// Values.
    pub(crate) values: u64,
    columns: Vec<ColumnSurvey>,
}

/// The same of one column.
#[derive(Debug, Clone, Default)]
pub(crate) struct ColumnSurvey {
    /// Whether it is hidden.
    pub(crate) is_hidden: bool,
    /// Cells with a formula whose result was saved.
    pub(crate) formulas: Tally,
    /// Those whose result changes by itself, such as `TODAY()`.
    pub(crate) volatile: Tally,
    /// Those that refer to another workbook.
    pub(crate) external: Tally,
    /// Those whose result was never saved.
    pub(crate) unsaved: RowSet,
}

/// How many cells, and the row of the first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    pub(crate) first: u32,
}

impl Tally {
    /// Counts a cell of this row.
    pub(super) fn add(&mut self, row: u32) {
        if self.count == 0 {
            self.first = row;
        }
        self.count += 1;
    }
}

impl Survey {
    /// Nothing seen yet but where its links lead.
    pub(super) fn new(links: Links) -> Self {
        Self { is_ordered: true, links, ..Self::default() }
    }

    /// A column, counted from 0, if there is anything to say of it.
    pub(crate) fn column(&self, column: usize) -> Option<&ColumnSurvey> {
        self.columns.get(column)
    }

    /// Whether the formula of a cell has no saved result.
    pub(crate) fn is_unsaved(&self, column: usize, row: u32) -> bool {
        self.columns.get(column).is_some_and(|column| column.unsaved.contains(row))
    }

    /// A column to note something in; `None` beyond the columns that are read.
    pub(super) fn column_mut(&mut self, column: usize) -> Option<&mut ColumnSurvey> {
        if column >= COLUMN_LIMIT {
            return None;
        }
        if self.columns.len() <= column {
            self.columns.resize(column + 1, ColumnSurvey::default());
        }
        self.columns.get_mut(column)
    }

    /// Brings what was noted out of order into order, once all is seen.
    pub(super) fn order(&mut self) {
        self.hidden_rows.order();
        self.links.settle();
        for column in &mut self.columns {
            column.unsaved.order();
        }
    }
}

/// Rows, as ranges.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RowSet {
    ranges: Vec<(u32, u32)>,
}

impl RowSet {
    /// Adds a row; whether that took another range.
    pub(crate) fn add(&mut self, row: u32) -> bool {
        match self.ranges.last_mut() {
            Some((first, last)) if (*first..=*last).contains(&row) => false,
            Some((_, last)) if *last + 1 == row => {
                *last = row;
                false
            }
            _ => {
                self.ranges.push((row, row));
                true
            }
        }
    }

    /// Whether a row is among them.
    pub(crate) fn contains(&self, row: u32) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= row);
        after > 0 && self.ranges[after - 1].1 >= row
    }

    /// How many rows.
    pub(crate) fn count(&self) -> u64 {
        self.ranges.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// The first row.
    pub(crate) fn first(&self) -> Option<u32> {
        self.ranges.first().map(|(first, _)| *first)
    }

    /// In words: `rows 8-49, 60 and 3 more ranges`.
    pub(crate) fn words(&self) -> String {
        const SHOWN: usize = 8;
        let mut words: Vec<String> = self
            .ranges
            .iter()
            .take(SHOWN)
            .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
            .collect();
        let more = self.ranges.len().saturating_sub(SHOWN);
        if more > 0 {
            words.push(format!("and {more} more places"));
        }
        format!("{} {}", if self.count() == 1 { "row" } else { "rows" }, words.join(", "))
    }

    fn order(&mut self) {
        self.ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for (first, last) in self.ranges.drain(..) {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        self.ranges = merged;
    }
}

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
    use crate::sheet::file::preflight::attributes;

    #[test]
    fn rows_are_kept_as_ranges_and_told_as_people_say_them() {
        let mut rows = RowSet::default();
        for row in [8, 9, 10, 60, 12, 11, 60] {
            rows.add(row);
        }
        rows.order();
        assert_eq!((rows.words().as_str(), rows.count(), rows.first()), ("rows 8-12, 60", 6, Some(8)));
        let found: Vec<u32> = (1..70).filter(|row| rows.contains(*row)).collect();
        assert_eq!(found, [8, 9, 10, 11, 12, 60]);
        let mut many = RowSet::default();
        (0..20).for_each(|row| {
            many.add(row * 2 + 1);
        });
        assert_eq!(many.words(), "rows 1, 3, 5, 7, 9, 11, 13, 15, and 12 more places");
    }

    fn merges(ranges: &[&str]) -> Result<Vec<String>, String> {
        let merges = ranges.iter().filter_map(|text| Merge::between(attributes::range(text)?)).collect();
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

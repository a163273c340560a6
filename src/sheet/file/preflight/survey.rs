//! What one pass over a worksheet comes to: everything that the values alone do not tell.

use super::COLUMN_LIMIT;
use super::links::MailLinks;
use crate::sheet::address::CellRange;

/// What a worksheet hides, merges, computes and links to.
#[derive(Debug, Default)]
pub(crate) struct WorksheetSurvey {
    /// Hidden rows that hold something.
    pub(crate) hidden_rows: RowSet,
    /// Whether a filter is set.
    pub(crate) has_filter: bool,
    /// Merged ranges, by their first row; none lies over another.
    pub(crate) merges: Vec<CellRange>,
    /// Links to e-mail addresses.
    pub(crate) links: MailLinks,
    /// Whether some of its cells are those of a pivot table.
    pub(crate) has_pivot: bool,
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
    pub(crate) formulas: CellCount,
    /// Those whose result changes by itself, such as `TODAY()`.
    pub(crate) volatile: CellCount,
    /// Those that refer to another workbook.
    pub(crate) external: CellCount,
    /// Those whose result was never saved.
    pub(crate) unsaved: RowSet,
}

/// How many cells, and the row of the first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CellCount {
    pub(crate) count: u64,
    pub(crate) first: u32,
}

impl CellCount {
    /// Counts a cell of this row, if it is one of them.
    pub(super) fn add_if(&mut self, is_one: bool, row: u32) {
        if is_one && self.count == 0 {
            self.first = row;
        }
        self.count += u64::from(is_one);
    }
}

impl WorksheetSurvey {
    /// Nothing seen yet but where its links lead.
    pub(super) fn new(links: MailLinks, has_pivot: bool) -> Self {
        Self { is_ordered: true, links, has_pivot, ..Self::default() }
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

#[cfg(test)]
mod tests {
    use super::*;

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
}

//! Where equal findings are: the cells of a column, or whole rows, as ranges in the words of a spreadsheet.
//!
//! Ten thousand cells below each other are one range. Cells that never touch are placed up to a limit, and counted
//! beyond it, so that no sheet fills the memory.

use super::Finding;
use crate::sheet::address::{address, column_of_address, letters};

/// Ranges kept of one group of findings.
const RANGES: usize = 1_000;

/// A cell, or a row where the column is `None`; columns count from 0.
type Place = (Option<usize>, u32);

/// Rows of one column without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    column: Option<usize>,
    first: u32,
    last: u32,
}

impl Range {
    fn len(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// The places of equal findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// By column and row, none of them touching.
    ranges: Vec<Range>,
    /// Places that found no room.
    beyond: u64,
}

impl Places {
    /// Adds the place of a finding, if it has one.
    pub(in crate::sheet) fn add(&mut self, finding: &Finding) {
        if let Some(place) = place(finding) {
            self.insert(place);
        }
    }

    fn insert(&mut self, (column, row): Place) {
        let at = self.ranges.partition_point(|range| (range.column, range.first) <= (column, row));
        let follows = self.ranges.get(at).is_some_and(|next| next.column == column && next.first == row + 1);
        if let Some(before) = at.checked_sub(1).and_then(|before| self.ranges.get_mut(before))
            && before.column == column
            && row <= before.last.saturating_add(1)
        {
            if row <= before.last {
                return;
            }
            before.last = row;
            if follows {
                let next = self.ranges.remove(at);
                self.ranges[at - 1].last = next.last;
            }
        } else if follows {
            self.ranges[at].first = row;
        } else if self.ranges.len() < RANGES {
            self.ranges.insert(at, Range { column, first: row, last: row });
        } else {
            self.beyond += 1;
        }
    }

    /// Adds the places of others.
    pub(in crate::sheet) fn append(&mut self, others: &Self) {
        if self.ranges.is_empty() {
            self.ranges.clone_from(&others.ranges);
            self.beyond += others.beyond;
            return;
        }
        for range in &others.ranges {
            for row in range.first..=range.last {
                self.insert((range.column, row));
            }
        }
        self.beyond += others.beyond;
    }

    /// The same without the places of some findings.
    #[must_use]
    pub fn without<'a>(&self, findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let mut rest = self.clone();
        for (column, row) in findings.into_iter().filter_map(place) {
            let holds = |range: &Range| range.column == column && range.first <= row && row <= range.last;
            let Some(at) = rest.ranges.iter().position(holds) else { continue };
            let range = rest.ranges.remove(at);
            if row < range.last {
                rest.ranges.insert(at, Range { first: row + 1, ..range });
            }
            if range.first < row {
                rest.ranges.insert(at, Range { last: row - 1, ..range });
            }
        }
        rest
    }

    /// How many cells or rows there are.
    pub fn len(&self) -> u64 {
        self.ranges.iter().map(Range::len).sum::<u64>() + self.beyond
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The letter of the column, when all are in one.
    pub fn letter(&self) -> Option<String> {
        let column = self.ranges.first()?.column?;
        self.ranges.iter().all(|range| range.column == Some(column)).then(|| letters(column))
    }

    /// The cells whose place is kept: column, first and last row.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, u32, u32)> {
        self.ranges.iter().filter_map(|range| Some((range.column?, range.first, range.last)))
    }

    /// Up to `limit` ranges, as a spreadsheet program takes them: `F2:F10`, `F14`, `3:3` for a whole row.
    pub fn ranges(&self, limit: usize) -> Vec<String> {
        let told = |range: &Range| match range.column {
            Some(column) if range.first == range.last => address(column, range.first),
            Some(column) => format!("{}:{}", address(column, range.first), address(column, range.last)),
            None => format!("{}:{}", range.first, range.last),
        };
        self.ranges.iter().take(limit).map(told).collect()
    }

    /// How many ranges there are beyond `limit`, those that were not kept counted one by one.
    pub fn ranges_beyond(&self, limit: usize) -> u64 {
        self.ranges.len().saturating_sub(limit) as u64 + self.beyond
    }

    /// Up to `limit` ranges in words, `F2:F10, F14` or `rows 3 to 9`, and how many more cells or rows there are.
    pub fn words(&self, limit: usize) -> (String, u64) {
        let told = |range: &Range| match range.column {
            Some(_) => None,
            None if range.first == range.last => Some(format!("row {}", range.first)),
            None => Some(format!("rows {} to {}", range.first, range.last)),
        };
        let cells = self.ranges(limit);
        let shown: Vec<String> =
            self.ranges.iter().zip(cells).map(|(range, cell)| told(range).unwrap_or(cell)).collect();
        let more: u64 = self.ranges.iter().skip(shown.len()).map(Range::len).sum();
        (shown.join(", "), more + self.beyond)
    }
}

/// Where a finding is, when it is in a row.
fn place(finding: &Finding) -> Option<Place> {
    Some((finding.cell.as_deref().and_then(column_of_address), finding.row?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::Code;

    fn cell(column: usize, row: u32) -> Finding {
        Finding::of_file(Code::CellRequired, "a.csv", "fill it").in_row(row, None).in_column(column)
    }

    fn places(findings: &[Finding]) -> Places {
        let mut places = Places::default();
        findings.iter().for_each(|finding| places.add(finding));
        places
    }

    #[test]
    fn cells_below_each_other_are_one_range_in_whatever_order_they_come() {
        let rows: [&[u32]; 4] = [&[2, 3, 4, 5], &[5, 4, 3, 2], &[2, 5, 3, 4], &[4, 2, 2, 5, 3, 4]];
        for rows in rows {
            let places = places(&rows.iter().map(|row| cell(5, *row)).collect::<Vec<_>>());
            assert_eq!((places.words(3), places.len()), (("F2:F5".to_owned(), 0), 4), "{rows:?}");
        }
    }

    #[test]
    fn ranges_are_told_up_to_a_limit_and_the_rest_is_counted() {
        let mut all: Vec<Finding> = (2..=10).chain([14, 20, 30]).map(|row| cell(27, row)).collect();
        assert_eq!(places(&all).words(2), ("AB2:AB10, AB14".to_owned(), 2));
        let turned: Vec<Finding> = [2].into_iter().chain(10..=16).map(|row| cell(1, row)).collect();
        assert_eq!(places(&turned).words(1), ("B2".to_owned(), 7));
        assert_eq!(places(&turned).ranges_beyond(1), 1);
        assert_eq!(places(&all[..11]).words(9), ("AB2:AB10, AB14, AB20".to_owned(), 0));
        assert_eq!(places(&all).letter().as_deref(), Some("AB"));
        all.push(cell(0, 3));
        assert_eq!(places(&all).letter(), None);
        assert_eq!(places(&all).ranges(2), ["A3", "AB2:AB10"]);
    }

    #[test]
    fn whole_rows_are_told_as_rows() {
        let row = |row| Finding::of_file(Code::RowFooter, "a.csv", "not read").in_row(row, None);
        assert_eq!(places(&[row(3), row(4), row(9)]).words(3).0, "rows 3 to 4, row 9");
        assert_eq!(places(&[row(3), row(4), row(9)]).ranges(3), ["3:4", "9:9"]);
        let file = Finding::of_file(Code::FileEmpty, "a.csv", "empty");
        assert!(places(std::slice::from_ref(&file)).is_empty());
    }

    #[test]
    fn what_was_told_already_is_taken_out() {
        let all: Vec<Finding> = (2..=10).map(|row| cell(5, row)).collect();
        assert_eq!(places(&all).without(&all[..5]).words(3).0, "F7:F10");
        assert_eq!(places(&all).without([&all[4]]).words(3).0, "F2:F5, F7:F10");
        assert_eq!(places(&all).without(&all).words(3).0, "");
    }

    #[test]
    fn cells_that_never_touch_are_counted_beyond_the_limit() {
        let all: Vec<Finding> = (1..=5_000).map(|row| cell(0, row * 2)).collect();
        let places = places(&all);
        assert_eq!((places.ranges.len(), places.len()), (RANGES, 5_000));
        assert_eq!(places.words(1), ("A2".to_owned(), 4_999));
    }
}

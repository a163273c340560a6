//! How many cells the rows of a text table have, and which other widths are a habit of the file.
//!
//! A row of another width than the header's is wrong: a separator too many or too few shifts its values, and a line break
//! outside quotation marks cuts it, whatever stands in its last cells. Only where all rows of a file agree on another
//! width, or many leave out what is blank at their end and none lacks anything else, that is how the file is written.

/// Fewest rows that make a habit.
const SEVERAL: u64 = 3;
/// Of how many rows one is short at least where short rows are a habit.
const SHARE: u64 = 4;

/// How many cells the rows of a text table have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowWidths {
    /// As many as the header.
    #[default]
    Header,
    /// Blank cells at the end of a row are left out.
    EndEarly,
    /// All rows have so many, blank ones behind those of the header.
    Wider(usize),
}

impl RowWidths {
    /// Whether a row of so many cells is one of a table whose header has `header`.
    pub(in crate::sheet) fn allow(self, cells: usize, header: usize) -> bool {
        cells == header
            || match self {
                Self::Header => false,
                Self::EndEarly => cells < header,
                Self::Wider(wider) => cells == wider,
            }
    }
}

/// What was seen of the rows of a table.
#[derive(Debug, Default)]
pub(in crate::sheet) struct WidthsSeen {
    rows: u64,
    short: u64,
    wide: u64,
    /// The cells of the first wide row.
    width: usize,
    /// Whether a row is short or wide in a way that is no habit.
    is_damaged: bool,
}

impl WidthsSeen {
    /// Notes a row of so many cells; `is_complete` says that it has what every row needs.
    pub(in crate::sheet) fn note(&mut self, cells: usize, header: usize, is_complete: bool) {
        self.rows += 1;
        if cells == header {
            return;
        }
        self.is_damaged |= !is_complete;
        if cells < header {
            self.short += 1;
        } else {
            self.wide += 1;
            self.is_damaged |= self.wide > 1 && cells != self.width;
            self.width = cells;
        }
    }

    /// The habit of the file.
    pub(in crate::sheet) fn habit(&self) -> RowWidths {
        if self.is_damaged || (self.short > 0 && self.wide > 0) {
            RowWidths::Header
        } else if self.wide >= SEVERAL && self.wide == self.rows {
            RowWidths::Wider(self.width)
        } else if self.short >= SEVERAL && self.short * SHARE >= self.rows {
            RowWidths::EndEarly
        } else {
            RowWidths::Header
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_width_than_the_headers_is_a_habit_of_many_rows_that_lack_nothing_or_of_all() {
        let habit = |rows: &[(usize, bool)]| {
            let mut seen = WidthsSeen::default();
            rows.iter().for_each(|(cells, is_complete)| seen.note(*cells, 5, *is_complete));
            seen.habit()
        };
        let (whole, short, cut, wide) = ((5, true), (4, true), (3, false), (6, true));
        assert_eq!(habit(&[short, short, (3, true), whole, whole]), RowWidths::EndEarly);
        assert_eq!(habit(&[wide, wide, wide]), RowWidths::Wider(6));
        for rows in [
            &[whole, whole, short][..],
            &[short, short],
            &[short, short, short, cut],
            &[wide, wide, wide, whole],
            &[wide, wide, (7, true)],
            &[wide, wide],
            &[short, short, short, wide],
            &[short; 3].into_iter().chain([whole; 10]).collect::<Vec<_>>(),
        ] {
            assert_eq!(habit(rows), RowWidths::Header, "{rows:?}");
        }
    }

    #[test]
    fn rows_of_the_headers_width_are_right_under_every_habit() {
        let allowed = |widths: RowWidths| (3..8).filter(|cells| widths.allow(*cells, 5)).collect::<Vec<_>>();
        assert_eq!(allowed(RowWidths::Header), [5]);
        assert_eq!(allowed(RowWidths::EndEarly), [3, 4, 5]);
        assert_eq!(allowed(RowWidths::Wider(7)), [5, 7]);
    }
}

//! The rows of one owner, each made when it is asked for: until then the entries of a list are the bytes of the answer.

use std::collections::VecDeque;
use std::fmt;

use super::row::Row;

/// See the module.
#[derive(Default)]
pub struct Rows {
    parts: VecDeque<Box<dyn Iterator<Item = Row> + Send>>,
    size: usize,
}

impl Rows {
    /// A row that is known already.
    pub(super) fn one(row: Row) -> Self {
        let mut this = Self::default();
        this.add(0, [row]);
        this
    }

    /// Adds rows that are made of so many bytes of an answer.
    pub(super) fn add(&mut self, size: usize, rows: impl IntoIterator<Item = Row, IntoIter: Send + 'static>) {
        self.size += size;
        self.parts.push_back(Box::new(rows.into_iter()));
    }

    /// The bytes of the answers that are kept until the last row is made.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

impl Iterator for Rows {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        while let Some(part) = self.parts.front_mut() {
            if let Some(row) = part.next() {
                return Some(row);
            }
            self.parts.pop_front();
        }
        None
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("parts", &self.parts.len()).field("size", &self.size).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_one_row_is_made_at_a_time_whatever_the_length_of_the_list() {
        let made = Arc::new(AtomicUsize::new(0));
        let count = |_| {
            let made = Arc::clone(&made);
            (0..1000).map(move |_| {
                made.fetch_add(1, Ordering::Relaxed);
                Row::default()
            })
        };
        let mut rows = Rows::one(Row::default());
        (0..3).map(count).for_each(|list| rows.add(100, list));
        assert_eq!((rows.size(), made.load(Ordering::Relaxed)), (300, 0));
        let mut taken = 0;
        for row in rows {
            assert_eq!(row, Row::default());
            assert_eq!(made.load(Ordering::Relaxed), taken);
            taken += 1;
        }
        assert_eq!(taken, 3001);
    }
}

//! A table read on a thread of its own, while the rows read before are worked on. Order, errors and what is found are
//! those of reading and working in turns.

use std::mem;
use std::ops::ControlFlow;

use crate::error::{Error, Result};
use crate::sheet::{Book, Row, Table, TableSummary, read_ahead, weight};

/// Hands over every row of a table, as [`Book::read`] does, and as `prepare` makes it on the thread that reads.
///
/// # Errors
/// When the file can no longer be read, and whatever `prepare` and `each` return.
pub(super) fn read<T: Default + Send>(
    book: &Book,
    table: &Table,
    mut prepare: impl FnMut(Row) -> Result<T> + Send,
    each: &mut dyn FnMut(T) -> Result<()>,
) -> Result<TableSummary> {
    let not_wanted = || Error::internal("rows are read that nobody takes");
    let read = |give: &mut dyn FnMut(T, usize) -> ControlFlow<()>| {
        book.read(table, &mut |row| {
            let bytes = weight(&row.cells);
            match give(prepare(row)?, bytes) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(not_wanted()),
            }
        })
    };
    read_ahead(read, &mut |row| each(mem::take(row)).map(ControlFlow::Continue))?
        .unwrap_or_else(|| Err(not_wanted()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{AHEAD, BATCH, Options, open};

    /// A book with more rows than fit into the batches that wait, the last of them wrong.
    fn book(folder: &tempfile::TempDir) -> Book {
        let path = folder.path().join("sites.csv");
        let rows: String = (0..BATCH * (AHEAD + 3) + 7)
            .map(|n| format!("s{n},acme,Site {n},+64 9 555 0100,{n} High St\n"))
            .collect();
        std::fs::write(&path, format!("key,company,name,phone,address1\n{rows}short\n")).unwrap();
        open(&path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"))
    }

    #[test]
    fn rows_come_as_they_do_without_a_thread() {
        let folder = tempfile::tempdir().unwrap();
        let book = book(&folder);
        let (mut expected, mut rows) = (Vec::new(), Vec::new());
        let keep = |rows: &mut Vec<Row>, row| {
            rows.push(row);
            Ok(())
        };
        let summary = book.read(&book.tables[0], &mut |row| keep(&mut expected, row)).unwrap();
        let ahead = read(&book, &book.tables[0], Ok, &mut |row| keep(&mut rows, row)).unwrap();
        assert_eq!(rows, expected);
        assert_eq!((ahead.rows, ahead.findings), (summary.rows, summary.findings));
        assert!(rows.len() > BATCH * AHEAD, "{}", rows.len());
    }

    #[test]
    fn an_error_of_a_row_ends_the_reading_and_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let book = book(&folder);
        for wanted in [1, BATCH, BATCH + 1, BATCH * (AHEAD + 3)] {
            let mut taken = 0;
            let error = read(&book, &book.tables[0], Ok, &mut |_| {
                taken += 1;
                if taken < wanted { Ok(()) } else { Err(Error::sheets("enough")) }
            })
            .unwrap_err();
            assert_eq!((error.what(), taken), ("enough", wanted));
        }
    }

    #[test]
    fn a_file_that_is_gone_is_told_as_without_a_thread() {
        let folder = tempfile::tempdir().unwrap();
        let book = book(&folder);
        std::fs::remove_file(folder.path().join("sites.csv")).unwrap();
        let mut taken = 0;
        let error = read(&book, &book.tables[0], Ok, &mut |_| {
            taken += 1;
            Ok(())
        })
        .unwrap_err();
        assert!(error.what().contains("sites.csv can no longer be read"), "{error}");
        assert_eq!(taken, 0);
    }
}

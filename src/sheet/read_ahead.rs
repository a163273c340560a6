//! Work in two stages on two threads: what one reads, the other works on. Order, errors and what is found are those of
//! reading and working in turns.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::{mem, panic, thread};

use crate::error::Result;

/// Items handed over at once: so many that the threads seldom wait for each other. To wake one takes as long as some rows,
/// on a virtual machine as some dozens.
pub(crate) const BATCH: usize = 1_024;
/// Bytes after which fewer are enough: a row may be long, or wide. A batch of ordinary rows, of some dozens of columns, has less.
const BATCH_BYTES: usize = 1 << 21;
/// Batches that are read before they are asked for: so few that they take no memory to speak of.
pub(crate) const AHEAD: usize = 3;

/// The bytes that cells take: their text, and their places, which blank ones have too.
pub(crate) fn weight<C: AsRef<str>>(cells: &[C]) -> usize {
    size_of_val(cells) + cells.iter().map(|cell| cell.as_ref().len()).sum::<usize>()
}

/// Whether so many items of so many bytes are handed over.
fn is_enough(items: usize, bytes: usize) -> bool {
    items >= BATCH || bytes >= BATCH_BYTES
}

/// Has `read` hand over items, each with the bytes that it takes ([`weight`]), and `each` work on them, until `each` or the items
/// end. `read` runs on a thread of its own, and its callback breaks when nobody wants more. What `read` returned; `None` where
/// `each` wanted no more.
///
/// `each` takes an item away, or works on it where it lies: what is left of it goes back to the thread that made it, which has to
/// give its memory back then. That is for an `each` that has the longest way; any other one frees what it has just looked at
/// with less work.
///
/// # Errors
/// Those of `each`.
pub(crate) fn read_ahead<T: Send, R: Send>(
    read: impl FnOnce(&mut dyn FnMut(T, usize) -> ControlFlow<()>) -> R + Send,
    each: &mut dyn FnMut(&mut T) -> Result<ControlFlow<()>>,
) -> Result<Option<R>> {
    thread::scope(|scope| {
        let (sender, batches) = sync_channel(AHEAD);
        let (back, worked_on) = channel();
        let reader = scope.spawn(move || {
            let (mut batch, mut size) = (empty_batch(&worked_on), 0);
            let returned = read(&mut |item, bytes| {
                batch.push(item);
                size += bytes;
                if !is_enough(batch.len(), size) {
                    return ControlFlow::Continue(());
                }
                size = 0;
                match sender.send(mem::replace(&mut batch, empty_batch(&worked_on))) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(_not_wanted) => ControlFlow::Break(()),
                }
            });
            // Where they are not wanted any more, the other side says why.
            drop(sender.send(batch));
            returned
        });
        // An error ends the receiver, and with it the reader.
        for mut batch in batches {
            for item in &mut batch {
                if each(item)?.is_break() {
                    return Ok(None);
                }
            }
            // The reader may have ended.
            drop(back.send(batch));
        }
        Ok(Some(reader.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))))
    })
}

/// One that was worked on, or a new one.
fn empty_batch<T>(worked_on: &Receiver<Vec<T>>) -> Vec<T> {
    match worked_on.try_recv() {
        Ok(mut batch) => {
            batch.clear();
            batch
        }
        Err(_none_yet) => Vec::with_capacity(BATCH),
    }
}

#[cfg(test)]
mod tests {
    use smol_str::SmolStr;

    use super::*;
    use crate::sheet::Cell;
    use crate::sheet::file::preflight::COLUMN_LIMIT;

    /// Rows like this one in a batch.
    fn rows_of_a_batch(weight: usize) -> usize {
        (1..=BATCH).find(|rows| is_enough(*rows, rows * weight)).unwrap()
    }

    #[test]
    fn blank_cells_weigh_as_much_as_the_memory_that_they_take() {
        let (blank, names) =
            (vec![Cell::default(); COLUMN_LIMIT + 1], vec![SmolStr::default(); COLUMN_LIMIT + 1]);
        for (weight, place) in [(weight(&blank), size_of::<Cell>()), (weight(&names), size_of::<SmolStr>())] {
            let rows = rows_of_a_batch(weight);
            assert!(rows * (COLUMN_LIMIT + 1) * place < 2 * BATCH_BYTES, "{rows} rows");
        }
        assert!(weight(&[Cell::text("x".repeat(1_000))]) > 1_000);
    }

    #[test]
    fn ordinary_rows_fill_whole_batches() {
        assert_eq!(rows_of_a_batch(weight(&vec![Cell::text("22 Queen Street"); 32])), BATCH);
    }
}

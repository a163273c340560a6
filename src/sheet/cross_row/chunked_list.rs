//! A list that grows by chunks: what is in it is not copied then, and never in memory twice.

use std::ops::{Index, IndexMut};

/// Items of a chunk: of what is kept of a row a megabyte.
const CHUNK: usize = 1 << 14;

/// A list by the numbers of its items, which count up from 0.
#[derive(Debug)]
pub(super) struct ChunkedList<T> {
    /// All but the last are full.
    chunks: Vec<Vec<T>>,
}

impl<T> Default for ChunkedList<T> {
    fn default() -> Self {
        Self { chunks: Vec::new() }
    }
}

impl<T> ChunkedList<T> {
    /// Adds an item and returns its number.
    pub(super) fn push(&mut self, item: T) -> usize {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => last.push(item),
            None => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(item);
                self.chunks.push(chunk);
            }
        }
        self.len() - 1
    }

    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    /// The items in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.chunks.iter_mut().flatten()
    }
}

impl<T> Index<usize> for ChunkedList<T> {
    type Output = T;

    fn index(&self, number: usize) -> &T {
        &self.chunks[number / CHUNK][number % CHUNK]
    }
}

impl<T> IndexMut<usize> for ChunkedList<T> {
    fn index_mut(&mut self, number: usize) -> &mut T {
        &mut self.chunks[number / CHUNK][number % CHUNK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_their_numbers_in_every_chunk() {
        for items in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 3] {
            let mut list = ChunkedList::default();
            assert!((0..items).all(|item| list.push(item) == item));
            assert_eq!(list.len(), items);
            assert!(list.iter().copied().eq(0..items));
            list.iter_mut().for_each(|item| *item += 1);
            (0..items).for_each(|number| list[number] *= 2);
            assert!((0..items).all(|number| list[number] == 2 * (number + 1)));
        }
    }
}

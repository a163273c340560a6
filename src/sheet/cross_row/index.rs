//! Rows found by a text of theirs: hashes in order, sixteen bytes a row, made when needed and dropped after.
//!
//! A hash only leads to rows; that the texts are truly equal is checked by whoever asks.

use std::hash::{BuildHasher, Hash, RandomState};

/// Row numbers by the hash of something.
pub(super) struct Index {
    hasher: RandomState,
    sorted: Vec<(u64, u32)>,
}

impl Index {
    /// Indexes the rows for which `of` gives a value.
    pub(super) fn new<T: Hash>(rows: usize, mut of: impl FnMut(usize) -> Option<T>) -> Self {
        let hasher = RandomState::new();
        let mut sorted: Vec<(u64, u32)> = (0..rows)
            .filter_map(|row| {
                let hash = hasher.hash_one(of(row)?);
                Some((hash, u32::try_from(row).ok()?))
            })
            .collect();
        sorted.sort_unstable();
        Self { hasher, sorted }
    }

    /// The rows that may have this value, lowest first.
    pub(super) fn find(&self, value: impl Hash) -> impl Iterator<Item = u32> {
        let hash = self.hasher.hash_one(value);
        let start = self.sorted.partition_point(|(known, _)| *known < hash);
        self.sorted[start..].iter().take_while(move |(known, _)| *known == hash).map(|(_, row)| *row)
    }

    /// Runs of at least two rows that may have one value, lowest first.
    pub(super) fn runs(&self) -> impl Iterator<Item = &[(u64, u32)]> {
        self.sorted.chunk_by(|left, right| left.0 == right.0).filter(|run| run.len() > 1)
    }
}

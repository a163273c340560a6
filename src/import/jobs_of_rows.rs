//! Which job each row of an import is. The thread that prepares rows asks while the one that writes places them: what it
//! finds of a row stays so, and what is not there yet is worked out by the other.

use std::sync::atomic::{AtomicI64, Ordering};

use crate::model::id::JobId;

/// A row that is not placed yet.
const UNPLACED: i64 = 0;
/// A row that is not imported.
const LEFT_OUT: i64 = -1;

/// The job of each row, by the number of the row in its import.
pub(super) struct JobsOfRows(Vec<AtomicI64>);

impl JobsOfRows {
    /// Of so many rows none is placed yet.
    pub(super) fn unplaced(rows: usize) -> Self {
        Self((0..rows).map(|_| AtomicI64::new(UNPLACED)).collect())
    }

    /// The job of a row that is placed and imported.
    pub(super) fn of(&self, row: usize) -> Option<JobId> {
        let job = self.at(row);
        (job != UNPLACED && job != LEFT_OUT).then_some(JobId(job))
    }

    /// Whether a row has its job, or is not imported.
    pub(super) fn is_placed(&self, row: usize) -> bool {
        self.at(row) != UNPLACED
    }

    /// Whether a row is not imported.
    pub(super) fn is_left_out(&self, row: usize) -> bool {
        self.at(row) == LEFT_OUT
    }

    /// A row is this job.
    pub(super) fn place(&self, row: usize, job: JobId) {
        self.0[row].store(job.0, Ordering::Relaxed);
    }

    /// A row is not imported.
    pub(super) fn leave_out(&self, row: usize) {
        self.0[row].store(LEFT_OUT, Ordering::Relaxed);
    }

    fn at(&self, row: usize) -> i64 {
        // Nothing but this number says anything of a row.
        self.0[row].load(Ordering::Relaxed)
    }
}

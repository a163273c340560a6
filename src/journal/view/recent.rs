//! What is going on right now: whether a run is at work, and how many rows it finished lately.

use std::fs::{File, TryLockError};

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::natural;
use crate::journal::file::migrate;
use crate::model::time::Moment;

/// What happened since a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recent {
    /// Requests for rows that left.
    pub requests: u64,
    /// Rows that came to an end.
    pub finished: u64,
}

/// Requests that left since `?1`, read from an index: a journal has millions.
const REQUESTS: &str = "SELECT count(*) FROM attempt WHERE sent_at > ?1";
/// Rows that came to an end since `?1`, likewise.
const FINISHED: &str = "SELECT count(*) FROM job WHERE finished_at > ?1";

impl View {
    /// Whether a run holds the lock of this journal. Where that cannot be seen, it is taken to be so: what is said of
    /// it is only shown.
    pub fn is_run_at_work(&self) -> bool {
        let Ok(file) = File::open(migrate::beside(&self.path, ".lock")) else { return false };
        match file.try_lock_shared() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        }
    }

    /// What happened since a moment.
    pub fn recent(&self, since: Moment) -> Result<Recent> {
        let count = |sql: &str| -> Result<u64> {
            Ok(natural(self.connection.query_row(sql, [since], |row| row.get::<_, i64>(0))?))
        };
        Ok(Recent { requests: count(REQUESTS)?, finished: count(FINISHED)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;

    #[test]
    fn a_run_is_at_work_while_it_holds_the_lock() {
        let bench = bench();
        assert!(!bench.journal.is_run_at_work());
        let lock = bench.journal.lock_for_run().unwrap().unwrap();
        assert!(bench.journal.is_run_at_work());
        drop(lock);
        assert!(!bench.journal.is_run_at_work());
        assert_eq!(bench.journal.recent(at(0)).unwrap(), Recent::default());
    }

    #[test]
    fn what_happened_lately_is_read_from_indexes_alone() {
        let bench = bench();
        for (sql, index) in [(REQUESTS, "attempt_sent"), (FINISHED, "job_finished")] {
            let plan: Vec<String> = bench
                .journal
                .connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap()
                .query_map([at(0)], |row| row.get(3))
                .unwrap()
                .collect::<rusqlite::Result<_>>()
                .unwrap();
            let columns = if index == "attempt_sent" { "sent_at>?" } else { "finished_at>?" };
            let table = if index == "attempt_sent" { "attempt" } else { "job" };
            assert_eq!(plan, [format!("SEARCH {table} USING COVERING INDEX {index} ({columns})")]);
        }
    }
}

//! Figures about the journal as a whole, for metrics: since when rows wait, when the last came to its end, how the last
//! command ended, and how large the file is. Each is read from an index or a count, however many rows there are.

use rusqlite::OptionalExtension;

use crate::error::Result;
use crate::journal::View;
use crate::journal::file::column::natural;
use crate::model::time::Moment;

/// Since when rows are where they are; nothing where no row is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowTimes {
    /// When the oldest row was imported that waits to be sent or for another row.
    pub waiting_since: Option<Moment>,
    /// Since when the oldest row in doubt is.
    pub in_doubt_since: Option<Moment>,
    /// Since when the oldest row on hold is.
    pub on_hold_since: Option<Moment>,
    /// When a row last came to its end, whichever.
    pub last_finished: Option<Moment>,
}

/// How the last command that ran the journal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandEnd {
    /// When.
    pub at: Moment,
    /// With which exit code.
    pub exit_code: u8,
    /// When one last ended with 0.
    pub succeeded_at: Option<Moment>,
}

impl View {
    /// Since when rows are where they are.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn row_times(&self) -> Result<RowTimes> {
        let moment = |sql: &str| -> Result<Option<Moment>> {
            Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
        };
        Ok(RowTimes {
            waiting_since: moment(
                "SELECT min(import.at) FROM job_count JOIN import ON import.id = first_import
                 WHERE jobs > 0 AND state IN ('blocked', 'ready', 'deferred')",
            )?,
            in_doubt_since: moment("SELECT min(doubt_since) FROM job WHERE state = 'in_doubt'")?,
            on_hold_since: moment("SELECT min(held_since) FROM job WHERE state = 'held'")?,
            last_finished: moment("SELECT max(finished_at) FROM job WHERE finished_at IS NOT NULL")?,
        })
    }

    /// How the last command that ran the journal ended; nothing before one has.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn command_end(&self) -> Result<Option<CommandEnd>> {
        let sql = "SELECT at, exit_code, succeeded_at FROM command_end";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(CommandEnd { at: row.get(0)?, exit_code: row.get(1)?, succeeded_at: row.get(2)? })
        };
        let noted: Option<CommandEnd> =
            self.connection.prepare_cached(sql)?.query_row([], read).optional()?;
        let spilled = self.spilled_end().and_then(|ended| Some((ended.at, ended.end()?.exit().code())));
        Ok(match spilled.filter(|(at, _)| noted.is_none_or(|noted| noted.at < *at)) {
            Some((at, exit_code)) => {
                Some(CommandEnd { at, exit_code, succeeded_at: noted.and_then(|noted| noted.succeeded_at) })
            }
            None => noted,
        })
    }

    /// The bytes of the journal, as its file has them once the log beside it is taken in.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn size_in_bytes(&self) -> Result<u64> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
        Ok(natural(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Evidence, Write};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::Sending;
    use crate::model::verdict::{Doubt, Execution};

    #[test]
    fn since_when_rows_wait_are_in_doubt_and_on_hold_is_that_of_the_oldest() {
        let mut bench = bench();
        assert_eq!(bench.journal.row_times().unwrap(), RowTimes::default());
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        let imported = bench.journal.imports().unwrap()[0].at;
        let waiting = RowTimes { waiting_since: Some(imported), ..RowTimes::default() };
        assert_eq!(bench.journal.row_times().unwrap(), waiting);
        for (job, when) in [(jobs[0], 5_000), (jobs[1], 3_000)] {
            apply(&mut bench.journal, claim(job, AddCompany)).unwrap();
            let evidence = Evidence { execution: Execution::Doubtful, ..Evidence::at(at(when)) };
            let (doubt, until) = (Doubt::Timeout, at(9_000));
            let write = Write::Doubt { job, doubt, executed: false, charged: true, until, evidence };
            apply(&mut bench.journal, write).unwrap();
        }
        let found = bench.journal.row_times().unwrap();
        assert_eq!((found.in_doubt_since, found.waiting_since), (Some(at(3_000)), Some(imported)));
        apply(&mut bench.journal, claim(jobs[2], AddCompany)).unwrap();
        apply(&mut bench.journal, created(jobs[2], Sending, id(1))).unwrap();
        let found = bench.journal.row_times().unwrap();
        assert!(found.waiting_since.is_none() && found.last_finished.is_some(), "{found:?}");
    }

    #[test]
    fn the_last_command_is_kept_and_when_one_last_ended_with_0() {
        let mut bench = bench();
        assert_eq!(bench.journal.command_end().unwrap(), None);
        for (when, exit_code, expected) in [(1, 5, None), (2, 0, Some(at(2))), (3, 4, Some(at(2)))] {
            bench.journal.note_command_end(at(when), exit_code).unwrap();
            let end = CommandEnd { at: at(when), exit_code, succeeded_at: expected };
            assert_eq!(bench.journal.command_end().unwrap(), Some(end));
        }
    }

    #[test]
    fn the_size_is_that_of_the_file_with_what_is_in_its_log() {
        let mut bench = bench();
        import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        let size = bench.journal.size_in_bytes().unwrap();
        let take_in = "PRAGMA wal_checkpoint(TRUNCATE)";
        bench.journal.connection.query_row(take_in, [], |_row| Ok(())).unwrap();
        assert_eq!(size, std::fs::metadata(bench.journal.path()).unwrap().len());
    }
}

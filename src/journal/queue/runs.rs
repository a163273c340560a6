//! Runs: when sending began and ended, how, and how many requests left.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;

use crate::ending::RunEnd;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::lineage::high_water_mark::RegisterEntry;
use crate::journal::lineage::identity;
use crate::journal::{JobQueue, Journal, RunId, View};
use crate::model::operation::Operation;
use crate::model::time::Moment;

/// A run of the jobs of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunInfo {
    /// Its number.
    pub run: RunId,
    /// When it began.
    pub started_at: Moment,
    /// When it ended; `None` while it goes on, and for ever when its process was ended from outside.
    pub ended_at: Option<Moment>,
    /// How it ended; `None` as long as it has not.
    pub ending: Option<RunEnd>,
    /// More about its end, in words.
    pub detail: Option<String>,
    /// What holds it back while it goes on, in words.
    pub held_back: Option<String>,
    /// When it may go on, when it was parked.
    pub resumes_at: Option<Moment>,
    /// Requests sent, by operation.
    pub requests: BTreeMap<Operation, u64>,
}

/// How a run ended, and when the next may go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndOfRun {
    /// How.
    pub ending: RunEnd,
    /// More about it, in words.
    pub detail: Option<String>,
    /// When creations can go on, when it was parked.
    pub resumes_at: Option<Moment>,
}

impl JobQueue<'_> {
    /// Notes that a run begins.
    pub fn begin_run(&mut self, at: Moment) -> Result<RunId> {
        // What an earlier run set aside on this connection is tried again.
        self.journal.shelved.clear();
        // While sockets use up the files that this process may open, a batch of writes must not need one more for what it
        // may have to take back.
        self.journal.view.connection.pragma_update(None, "temp_store", "MEMORY")?;
        let transaction = self.journal.begin()?;
        let run = transaction.prepare_cached("INSERT INTO run (started_at) VALUES (?1)")?.insert([at])?;
        identity::mark(&transaction, true)?;
        transaction.commit()?;
        failpoint::reach("run.begun");
        // The mark belongs into the file itself: without the log beside it, it must still be there. A reader may keep
        // it from getting there; then an older copy is recognised by how far it has come alone.
        self.journal.view.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_row| Ok(()))?;
        Ok(RunId(run))
    }

    /// Notes what a run goes by.
    pub fn note_terms(&mut self, run: RunId, terms: &str) -> Result<()> {
        self.journal.view.connection.execute("UPDATE run SET terms = ?2 WHERE id = ?1", (run, terms))?;
        Ok(())
    }

    /// Notes until when a run waits, while it goes on; `None` when it waits no longer.
    pub fn note_resumption(&mut self, run: RunId, at: Option<Moment>) -> Result<()> {
        self.journal.view.connection.execute("UPDATE run SET resumes_at = ?2 WHERE id = ?1", (run, at))?;
        failpoint::reach("ceiling.resumption-noted");
        Ok(())
    }

    /// Notes what holds a run back, while it goes on; `None` when nothing does.
    pub fn note_held_back(&mut self, run: RunId, words: Option<&str>) -> Result<()> {
        self.journal
            .view
            .connection
            .execute("UPDATE run SET held_back = ?2 WHERE id = ?1 AND ended_at IS NULL", (run, words))?;
        Ok(())
    }

    /// Notes how a run ended.
    pub fn end_run(
        &mut self,
        run: RunId,
        at: Moment,
        end: &EndOfRun,
        requests: &BTreeMap<Operation, u64>,
    ) -> Result<()> {
        self.journal.look_at_files()?;
        let requests = serde_json::to_string(requests).map_err(unwritable)?;
        failpoint::reach("run.before-end");
        let transaction = self.journal.begin()?;
        let changed = transaction.execute(
            "UPDATE run SET ended_at = ?2, ending = ?3, detail = ?4, held_back = NULL, resumes_at = ?5, requests = ?6
             WHERE id = ?1",
            (run, at, end.ending, &end.detail, end.resumes_at, &requests),
        )?;
        if changed != 1 {
            return Err(Error::internal(format!("the journal has no run {run}")));
        }
        identity::mark(&transaction, false)?;
        transaction.commit()?;
        failpoint::reach("run.ended");
        self.journal.reserve = None;
        // What the reports sort need not fit into memory.
        self.journal.view.connection.pragma_update(None, "temp_store", "DEFAULT")?;
        if let Some(Err(error)) = self.journal.entry.as_ref().map(RegisterEntry::sync) {
            tracing::warn!(%error, "how far the journal has come is not on disk in the state folder");
        }
        Ok(())
    }
}

impl Journal {
    /// Notes how a command that ran the journal ended. It needs no lock: no row depends on it.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note_command_end(&mut self, at: Moment, exit_code: u8) -> Result<()> {
        self.view.connection.execute(
            "INSERT INTO command_end (only_row, at, exit_code, succeeded_at) VALUES (1, ?1, ?2, iif(?2 = 0, ?1, NULL))
             ON CONFLICT (only_row) DO UPDATE SET at = ?1, exit_code = ?2, succeeded_at = iif(?2 = 0, ?1, succeeded_at)",
            (at, exit_code),
        )?;
        Ok(())
    }
}

impl View {
    /// What the last run that noted it went by, in the words of whoever noted it.
    pub fn last_terms(&self) -> Result<Option<String>> {
        Ok(self
            .connection
            .query_row("SELECT terms FROM run WHERE terms IS NOT NULL ORDER BY id DESC LIMIT 1", [], |row| {
                row.get(0)
            })
            .optional()?)
    }

    /// The run that began last.
    pub fn last_run(&self) -> Result<Option<RunInfo>> {
        let found = self
            .connection
            .query_row(
                "SELECT id, started_at, ended_at, ending, detail, held_back, resumes_at, requests FROM run
                 ORDER BY id DESC LIMIT 1",
                [],
                |row| {
                    let info = RunInfo {
                        run: row.get(0)?,
                        started_at: row.get(1)?,
                        ended_at: row.get(2)?,
                        ending: row.get(3)?,
                        detail: row.get(4)?,
                        held_back: row.get(5)?,
                        resumes_at: row.get(6)?,
                        requests: BTreeMap::new(),
                    };
                    Ok((info, row.get::<_, Option<String>>(7)?))
                },
            )
            .optional()?;
        let Some((mut info, requests)) = found else { return Ok(None) };
        if let Some(requests) = requests {
            info.requests =
                serde_json::from_str(&requests).map_err(|error| damaged("counts of requests", error))?;
        }
        Ok(Some(info))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ending::End;
    use crate::journal::fixture::*;

    #[test]
    fn what_a_run_goes_by_is_there_for_the_next_even_if_one_between_noted_nothing() {
        let mut bench = bench();
        assert_eq!(bench.journal.last_terms().unwrap(), None);
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        bench.journal.queue().note_terms(run, "these").unwrap();
        bench.journal.queue().begin_run(at(2)).unwrap();
        assert_eq!(bench.journal.last_terms().unwrap().as_deref(), Some("these"));
    }

    #[test]
    fn a_run_lets_sqlite_open_no_file_for_what_a_batch_may_take_back() {
        let mut bench = bench();
        bench.journal.queue().begin_run(at(1)).unwrap();
        let connection = &bench.journal.view.connection;
        let kept: i64 = connection.query_row("PRAGMA temp_store", [], |row| row.get(0)).unwrap();
        assert_eq!(kept, 2, "in memory");
    }

    #[test]
    fn the_last_run_is_told_with_its_end_and_its_requests() {
        let mut bench = bench();
        assert_eq!(bench.journal.last_run().unwrap(), None);
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        let open = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((open.run, open.ended_at), (run, None));
        let requests = BTreeMap::from([(Operation::AddDevice, 3), (Operation::Auth, 1)]);
        bench.journal.queue().note_held_back(run, Some("addDevice held back")).unwrap();
        let open = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((open.ending, open.held_back.as_deref()), (None, Some("addDevice held back")));
        let end = EndOfRun {
            ending: RunEnd::Early(End::Quota),
            detail: Some("the day's quota is spent".to_owned()),
            resumes_at: Some(at(9)),
        };
        bench.journal.queue().end_run(run, at(5), &end, &requests).unwrap();
        let ended = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((ended.ended_at, ended.ending, ended.held_back), (Some(at(5)), Some(end.ending), None));
        assert_eq!((ended.detail, ended.resumes_at), (end.detail.clone(), end.resumes_at));
        assert_eq!(ended.requests, requests);
        assert!(bench.journal.queue().end_run(RunId(9), at(5), &end, &requests).is_err());
    }

    #[test]
    fn the_journal_takes_every_way_in_which_a_run_can_end_and_no_other_word() {
        let mut bench = bench();
        let early = RunEnd::EARLY.into_iter().map(RunEnd::Early);
        for ending in early.chain([RunEnd::Finished]) {
            let run = bench.journal.queue().begin_run(at(1)).unwrap();
            let end = EndOfRun { ending, detail: None, resumes_at: None };
            bench.journal.queue().end_run(run, at(2), &end, &BTreeMap::new()).unwrap();
            assert_eq!(bench.journal.last_run().unwrap().unwrap().ending, Some(ending));
        }
        for sql in ["UPDATE run SET ending = 'stopped: no answer'", "UPDATE run SET ending = NULL"] {
            assert!(bench.journal.connection.execute(sql, []).is_err(), "{sql}");
        }
    }
}

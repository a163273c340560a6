//! Runs: when sending began and ended, how, and how many requests left.

use std::collections::BTreeMap;

use rusqlite::OptionalExtension;

use super::failure::{damaged, unwritable};
use super::register::Entry;
use super::{Journal, RunId, identity, spill};
use crate::error::{Error, Result};
use crate::failpoint;
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
    /// How it ended; while it goes on, what holds it back, in words.
    pub ending: Option<String>,
    /// When it may go on, when it was parked.
    pub resumes_at: Option<Moment>,
    /// Requests sent, by operation.
    pub requests: BTreeMap<Operation, u64>,
}

impl Journal {
    /// Notes that a run begins.
    pub fn begin_run(&mut self, at: Moment) -> Result<RunId> {
        // What an earlier run set aside on this connection is tried again.
        self.shelved.clear();
        let transaction = self.begin()?;
        let run = transaction.prepare_cached("INSERT INTO run (started_at) VALUES (?1)")?.insert([at])?;
        identity::mark(&transaction, true)?;
        transaction.commit()?;
        failpoint::reach("run.begun");
        // The mark belongs into the file itself: without the log beside it, it must still be there. A reader may keep
        // it from getting there; then an older copy is recognised by how far it has come alone.
        self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_row| Ok(()))?;
        Ok(RunId(run))
    }

    /// What the last run that noted it went by, in the words of whoever noted it.
    pub fn last_terms(&self) -> Result<Option<String>> {
        Ok(self
            .connection
            .query_row("SELECT terms FROM run WHERE terms IS NOT NULL ORDER BY id DESC LIMIT 1", [], |row| {
                row.get(0)
            })
            .optional()?)
    }

    /// Notes what a run goes by.
    pub fn note_terms(&mut self, run: RunId, terms: &str) -> Result<()> {
        self.connection.execute("UPDATE run SET terms = ?2 WHERE id = ?1", (run, terms))?;
        Ok(())
    }

    /// Notes until when a run waits, while it goes on; `None` when it waits no longer.
    pub fn note_resumption(&mut self, run: RunId, at: Option<Moment>) -> Result<()> {
        self.connection.execute("UPDATE run SET resumes_at = ?2 WHERE id = ?1", (run, at))?;
        failpoint::reach("ceiling.resumption-noted");
        Ok(())
    }

    /// Notes what holds a run back, while it goes on; `None` when nothing does.
    pub fn note_hindrance(&mut self, run: RunId, words: Option<&str>) -> Result<()> {
        self.connection
            .execute("UPDATE run SET ending = ?2 WHERE id = ?1 AND ended_at IS NULL", (run, words))?;
        Ok(())
    }

    /// Notes how a run ended.
    pub fn end_run(
        &mut self,
        run: RunId,
        at: Moment,
        ending: &str,
        resumes_at: Option<Moment>,
        requests: &BTreeMap<Operation, u64>,
    ) -> Result<()> {
        self.look_at_files()?;
        let requests = serde_json::to_string(requests).map_err(unwritable)?;
        failpoint::reach("run.before-end");
        let transaction = self.begin()?;
        let changed = transaction.execute(
            "UPDATE run SET ended_at = ?2, ending = ?3, resumes_at = ?4, requests = ?5 WHERE id = ?1",
            (run, at, ending, resumes_at, &requests),
        )?;
        if changed != 1 {
            return Err(Error::internal(format!("the journal has no run {run}")));
        }
        identity::mark(&transaction, false)?;
        transaction.commit()?;
        failpoint::reach("run.ended");
        spill::release(&self.path);
        if let Some(Err(error)) = self.entry.as_ref().map(Entry::sync) {
            tracing::warn!(%error, "how far the journal has come is not on disk in the state folder");
        }
        Ok(())
    }

    /// The run that began last.
    pub fn last_run(&self) -> Result<Option<RunInfo>> {
        let found = self
            .connection
            .query_row(
                "SELECT id, started_at, ended_at, ending, resumes_at, requests FROM run ORDER BY id DESC LIMIT 1",
                [],
                |row| {
                    let info = RunInfo {
                        run: row.get(0)?,
                        started_at: row.get(1)?,
                        ended_at: row.get(2)?,
                        ending: row.get(3)?,
                        resumes_at: row.get(4)?,
                        requests: BTreeMap::new(),
                    };
                    Ok((info, row.get::<_, Option<String>>(5)?))
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
    use crate::journal::fixture::*;

    #[test]
    fn what_a_run_goes_by_is_there_for_the_next_even_if_one_between_noted_nothing() {
        let mut bench = bench();
        assert_eq!(bench.journal.last_terms().unwrap(), None);
        let run = bench.journal.begin_run(at(1)).unwrap();
        bench.journal.note_terms(run, "these").unwrap();
        bench.journal.begin_run(at(2)).unwrap();
        assert_eq!(bench.journal.last_terms().unwrap().as_deref(), Some("these"));
    }

    #[test]
    fn the_last_run_is_told_with_its_end_and_its_requests() {
        let mut bench = bench();
        assert_eq!(bench.journal.last_run().unwrap(), None);
        let run = bench.journal.begin_run(at(1)).unwrap();
        let open = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((open.run, open.ended_at), (run, None));
        let requests = BTreeMap::from([(Operation::AddDevice, 3), (Operation::Auth, 1)]);
        bench.journal.end_run(run, at(5), "parked", Some(at(9)), &requests).unwrap();
        let ended = bench.journal.last_run().unwrap().unwrap();
        assert_eq!(
            (ended.ended_at, ended.ending.as_deref(), ended.resumes_at),
            (Some(at(5)), Some("parked"), Some(at(9)))
        );
        assert_eq!(ended.requests, requests);
        assert!(bench.journal.end_run(RunId(9), at(5), "done", None, &requests).is_err());
    }
}

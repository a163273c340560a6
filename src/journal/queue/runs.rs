//! Runs: when sending began and ended, how, and how many requests left.

use std::collections::BTreeMap;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

use crate::ending::{End, RunEnd};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::column::natural;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::lineage::high_water_mark::RegisterEntry;
use crate::journal::lineage::identity;
use crate::journal::lineage::spill::SpilledEnd;
use crate::journal::{AuditFigures, JobQueue, Journal, RunId, View};
use crate::model::operation::Operation;
use crate::model::reason::ServiceCode;
use crate::model::remaining::{Remaining, SheetPause};
use crate::model::time::Moment;

/// No quota resets later than this: a day ends, and the service may be asked again some minutes after that.
const LONGEST_DAY: Duration = Duration::from_hours(25);

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
    /// For what it waits until then.
    pub waits_for: Option<RunEnd>,
    /// When the quota resets that it waits for. Where it may send only later, it goes on later.
    pub quota_resets_at: Option<Moment>,
    /// The options that were typed for it and that the next run has only if they are typed again: each with a space before
    /// it.
    pub typed: String,
    /// Requests sent, by operation.
    pub requests: BTreeMap<Operation, u64>,
}

impl RunInfo {
    /// Until when it waits as `end` says, or would wait if it had not ended; nothing where that has passed at `now`.
    pub fn waits_until(&self, end: End, now: Moment) -> Option<Moment> {
        self.goes_on_at(now).filter(|_| self.waits_for == Some(RunEnd::Early(end)))
    }

    /// When it may go on; nothing where that has passed at `now`, or was noted by a clock that has been set back since.
    pub fn goes_on_at(&self, now: Moment) -> Option<Moment> {
        let latest = now.plus(LONGEST_DAY);
        let is_of_this_clock = self.quota_resets_at.is_none_or(|resets_at| resets_at <= latest);
        self.resumes_at.filter(|at| is_of_this_clock && *at > now)
    }
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
    /// The paused sheets that it left.
    pub sheets_left: Vec<SheetPause>,
}

/// For what a run waits, until when, and why in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// As a run would end that did not wait: for the quota or a window.
    pub waits_for: End,
    /// Until when.
    pub until: Moment,
    /// When the quota resets, where it is spent.
    pub quota_resets_at: Option<Moment>,
    /// Why, in words.
    pub why: String,
}

impl JobQueue<'_> {
    /// A run that has waited to begin begins.
    pub fn begin_waiting_run(&mut self, run: RunId, at: Moment) -> Result<()> {
        self.note_waiting(run, None)?;
        self.journal.view.connection.execute("UPDATE run SET started_at = ?2 WHERE id = ?1", (run, at))?;
        Ok(())
    }

    /// A run that has its entry ends before it has sent anything: takes the entry back.
    pub fn withdraw_run(&mut self, run: RunId) -> Result<()> {
        self.journal.view.connection.pragma_update(None, "temp_store", "DEFAULT")?;
        let transaction = self.journal.begin()?;
        transaction.execute("DELETE FROM run WHERE id = ?1 AND ended_at IS NULL", [run])?;
        identity::mark(&transaction, false)?;
        transaction.commit()?;
        Ok(())
    }

    /// Notes that a run begins.
    pub fn begin_run(&mut self, at: Moment) -> Result<RunId> {
        // The sheets that an earlier run paused on this connection are tried again.
        self.journal.paused_sheets.clear();
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
        self.note(run, "terms", Some(terms))
    }

    /// Notes the options that were typed for a run and that the next one has only if they are typed again.
    pub fn note_typed(&mut self, run: RunId, options: &str) -> Result<()> {
        self.note(run, "typed", Some(options))
    }

    /// Notes for what a run waits, while it goes on; `None` when it waits no longer.
    pub fn note_waiting(&mut self, run: RunId, waiting: Option<&Waiting>) -> Result<()> {
        self.journal.view.connection.execute(
            "UPDATE run SET resumes_at = ?2, waits_for = ?3, detail = ?4, quota_resets_at = ?5
             WHERE id = ?1 AND ended_at IS NULL",
            (
                run,
                waiting.map(|waiting| waiting.until),
                waiting.map(|waiting| RunEnd::Early(waiting.waits_for)),
                waiting.map(|waiting| waiting.why.as_str()),
                waiting.and_then(|waiting| waiting.quota_resets_at),
            ),
        )?;
        failpoint::reach("ceiling.resumption-noted");
        Ok(())
    }

    /// Notes what holds a run back, while it goes on; `None` when nothing does.
    pub fn note_held_back(&mut self, run: RunId, words: Option<&str>) -> Result<()> {
        self.note(run, "held_back", words)
    }

    /// Notes what a run has still to do, while it goes on; `None` when that is not known.
    pub fn note_remaining(&mut self, run: RunId, remaining: Option<&Remaining>) -> Result<()> {
        let text = remaining.map(serde_json::to_string).transpose().map_err(unwritable)?;
        self.note(run, "remaining", text.as_deref())
    }

    /// Notes what a run read back, before it ends.
    pub fn note_audit(&mut self, run: RunId, figures: &AuditFigures) -> Result<()> {
        let text = serde_json::to_string(figures).map_err(unwritable)?;
        self.note(run, "audit", Some(&text))
    }

    /// Notes something of a run that has not ended.
    fn note(&mut self, run: RunId, column: &str, value: Option<&str>) -> Result<()> {
        let sql = format!("UPDATE run SET {column} = ?2 WHERE id = ?1 AND ended_at IS NULL");
        self.journal.view.connection.execute(&sql, (run, value))?;
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
        let left = Remaining { at, sheet_pauses: end.sheets_left.clone(), ..Remaining::default() };
        let left = Some(left).filter(|left| !left.sheet_pauses.is_empty());
        let left = left.as_ref().map(serde_json::to_string).transpose().map_err(unwritable)?;
        failpoint::reach("run.before-end");
        let transaction = self.journal.begin()?;
        let changed = transaction.execute(
            "UPDATE run SET ended_at = ?2, ending = ?3, detail = ?4, held_back = NULL, resumes_at = ?5, waits_for = ?7,
                requests = ?6, remaining = coalesce(?8, remaining)
             WHERE id = ?1",
            (
                run,
                at,
                end.ending,
                &end.detail,
                end.resumes_at,
                &requests,
                end.resumes_at.map(|_| end.ending),
                &left,
            ),
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
        note_command_end(&self.view.connection, at, exit_code)
    }

    /// Asks the run at work to try again at once what it waits to try, and makes deferred rows due, but those that wait for
    /// what they refer to. How many rows that are; `None` where no run is under way.
    pub fn ask_now(&mut self, at: Moment) -> Result<Option<u64>> {
        let transaction = self.begin()?;
        let asked = transaction.execute(
            "UPDATE run SET asked_now = asked_now + 1 WHERE id = (SELECT max(id) FROM run) AND ended_at IS NULL",
            [],
        )?;
        let due = make_due(&transaction, at)?;
        transaction.commit()?;
        Ok((asked == 1).then_some(due))
    }

    /// Makes deferred rows due, as [`Journal::ask_now`] does, for a run that begins.
    pub fn make_due(&mut self, at: Moment) -> Result<u64> {
        let transaction = self.begin()?;
        let due = make_due(&transaction, at)?;
        transaction.commit()?;
        Ok(due)
    }
}

fn note_command_end(connection: &Connection, at: Moment, exit_code: u8) -> Result<()> {
    connection.execute(
        "INSERT INTO command_end (only_row, at, exit_code, succeeded_at) VALUES (1, ?1, ?2, iif(?2 = 0, ?1, NULL))
         ON CONFLICT (only_row) DO UPDATE SET at = ?1, exit_code = ?2, succeeded_at = iif(?2 = 0, ?1, succeeded_at)",
        (at, exit_code),
    )?;
    Ok(())
}

/// Notes how a run ended that could not write the journal any more.
pub(in crate::journal) fn take_in_end(connection: &Connection, ended: &SpilledEnd) -> Result<()> {
    let Some(end) = ended.end() else { return Ok(()) };
    let changed = connection.execute(
        "UPDATE run SET ended_at = ?2, ending = ?3, held_back = NULL, resumes_at = NULL, waits_for = NULL
         WHERE id = ?1 AND ended_at IS NULL",
        (ended.run, ended.at, RunEnd::Early(end)),
    )?;
    if changed == 1 { note_command_end(connection, ended.at, end.exit().code()) } else { Ok(()) }
}

fn make_due(connection: &Connection, at: Moment) -> Result<u64> {
    let due = connection.execute(
        "UPDATE job SET due = ?1 WHERE state = 'deferred' AND due > ?1 AND code IS NOT ?2",
        (at, ServiceCode::NoDataFound.as_str()),
    )?;
    Ok(due as u64)
}

impl View {
    /// How often the run was asked to try again at once.
    pub fn asked_now(&self, run: RunId) -> Result<u64> {
        let asked: Option<i64> = self
            .connection
            .prepare_cached("SELECT asked_now FROM run WHERE id = ?1")?
            .query_row([run], |row| row.get(0))
            .optional()?;
        Ok(natural(asked.unwrap_or_default()))
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

    /// Whether the run that began last has noted what it goes by.
    pub fn has_noted_terms(&self) -> Result<bool> {
        let noted = "SELECT terms IS NOT NULL FROM run ORDER BY id DESC LIMIT 1";
        Ok(self.connection.query_row(noted, [], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// The last run that sent a request, or has not ended.
    pub fn last_run_that_sent(&self) -> Result<Option<RunId>> {
        let sent = "SELECT max(id) FROM run WHERE requests IS NOT '{}'";
        Ok(self.connection.query_row(sent, [], |row| row.get(0))?)
    }

    /// The run that began last. How it ended stands in the spill file if it could not write the journal any more.
    pub fn last_run(&self) -> Result<Option<RunInfo>> {
        let found = self
            .connection
            .query_row(
                "SELECT id, started_at, ended_at, ending, detail, held_back, resumes_at, requests, waits_for,
                    quota_resets_at, coalesce(typed, '')
                 FROM run ORDER BY id DESC LIMIT 1",
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
                        waits_for: row.get(8)?,
                        quota_resets_at: row.get(9)?,
                        typed: row.get(10)?,
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
        if info.ended_at.is_none()
            && let Some(ended) = self.spilled_end().filter(|ended| ended.run == info.run.0)
            && let Some(end) = ended.end()
        {
            (info.ended_at, info.ending) = (Some(ended.at), Some(RunEnd::Early(end)));
            (info.held_back, info.resumes_at, info.waits_for) = (None, None, None);
        }
        Ok(Some(info))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{CommandEnd, Write};
    use crate::model::state::JobState;

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
    fn a_run_under_way_is_asked_to_try_again_and_deferred_rows_come_due_but_those_that_wait_for_others() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Cord"], false);
        for (job, code) in [(jobs[0], "look-up"), (jobs[1], "noDataFound")] {
            let (reason, until) = ("later".to_owned(), at(9_000));
            let write = Write::Postpone { job, from: JobState::Ready, until, code: code.into(), reason };
            apply(&mut bench.journal, write).unwrap();
        }
        assert_eq!(bench.journal.ask_now(at(20)).unwrap(), None, "no run is under way");
        let page = bench.journal.queue().ready(Operation::AddCompany, at(20), 10, &[]).unwrap();
        assert_eq!(page.work.len(), 2, "what was deferred is due anyway");
        let run = bench.journal.queue().begin_run(at(21)).unwrap();
        assert_eq!(bench.journal.asked_now(run).unwrap(), 0);
        assert_eq!(bench.journal.ask_now(at(22)).unwrap(), Some(0));
        assert_eq!(bench.journal.asked_now(run).unwrap(), 1);
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
            sheets_left: Vec::new(),
        };
        bench.journal.queue().end_run(run, at(5), &end, &requests).unwrap();
        let ended = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((ended.ended_at, ended.ending, ended.held_back), (Some(at(5)), Some(end.ending), None));
        assert_eq!((ended.detail, ended.resumes_at), (end.detail.clone(), end.resumes_at));
        assert_eq!(ended.requests, requests);
        assert!(bench.journal.queue().end_run(RunId(9), at(5), &end, &requests).is_err());
    }

    #[test]
    fn a_run_that_could_not_write_the_journal_is_not_taken_for_killed_before_the_next_start_and_after_it() {
        let mut bench = bench();
        bench.journal.note_command_end(at(0), 0).unwrap();
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        bench.journal.spill_end(run, at(5), End::JournalFull).unwrap();
        let how_it_ended = |journal: &Journal| {
            let ended = journal.last_run().unwrap().unwrap();
            (ended.ended_at, ended.ending, journal.command_end().unwrap().unwrap())
        };
        let expected = (
            Some(at(5)),
            Some(RunEnd::Early(End::JournalFull)),
            CommandEnd { at: at(5), exit_code: 6, succeeded_at: Some(at(0)) },
        );
        assert_eq!(how_it_ended(&bench.journal), expected, "beside the journal");
        let recovered = bench.journal.queue().recover(at(9)).unwrap();
        assert_eq!((recovered.spilled, recovered.left_out), (0, 0), "no answer was spilled");
        assert_eq!(how_it_ended(&bench.journal), expected, "in the journal");
        let next = bench.journal.queue().begin_run(at(10)).unwrap();
        bench.journal.spill_end(run, at(11), End::JournalFull).unwrap();
        let last = bench.journal.last_run().unwrap().unwrap();
        assert_eq!((last.run, last.ended_at), (next, None), "the file speaks of another run");
    }

    #[test]
    fn the_journal_takes_every_way_in_which_a_run_can_end_and_no_other_word() {
        let mut bench = bench();
        let early = RunEnd::EARLY.into_iter().map(RunEnd::Early);
        for ending in early.chain([RunEnd::Finished]) {
            let run = bench.journal.queue().begin_run(at(1)).unwrap();
            let end = EndOfRun { ending, detail: None, resumes_at: None, sheets_left: Vec::new() };
            bench.journal.queue().end_run(run, at(2), &end, &BTreeMap::new()).unwrap();
            assert_eq!(bench.journal.last_run().unwrap().unwrap().ending, Some(ending));
        }
        for sql in ["UPDATE run SET ending = 'stopped: no answer'", "UPDATE run SET ending = NULL"] {
            assert!(bench.journal.connection.execute(sql, []).is_err(), "{sql}");
        }
    }
}

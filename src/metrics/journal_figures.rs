//! What the journal knows at any time, whether or not a run is in progress.

use crate::ending::End;
use crate::error::Result;
use crate::journal::{CommandEnd, Journal, RowTimes, RunInfo, Whose};
use crate::model::quota::QuotaDay;
use crate::model::remaining::Remaining;
use crate::model::tally::Tally;
use crate::model::time::Moment;

/// See the module.
#[derive(Debug)]
pub struct JournalFigures {
    pub(super) whose: Whose,
    pub(super) rows: Tally,
    pub(super) times: RowTimes,
    pub(super) quota: QuotaDay,
    pub(super) run: Option<RunInfo>,
    pub(super) at_work: bool,
    /// What the run in progress has still to do.
    pub(super) remaining: Option<Remaining>,
    pub(super) command_end: Option<CommandEnd>,
    pub(super) bytes: u64,
}

impl JournalFigures {
    /// Reads them; `daily_quota` is the configured one, where the caller knows of one.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn read(journal: &Journal, now: Moment, daily_quota: Option<u64>) -> Result<Self> {
        let run = journal.last_run()?;
        let open = run.as_ref().filter(|run| run.ended_at.is_none());
        let at_work = open.is_some() && journal.is_run_at_work();
        let remaining = match open.filter(|_| at_work) {
            Some(run) => journal.noted_remaining(run.run)?,
            None => None,
        };
        Ok(Self {
            whose: journal.whose()?,
            rows: journal.tally(None)?,
            times: journal.row_times()?,
            quota: journal.limited_quota(now, daily_quota, at_work)?,
            command_end: journal.command_end()?,
            bytes: journal.size_in_bytes()?,
            run,
            at_work,
            remaining,
        })
    }

    /// The exit code of the last command; that of a killed run where the last one did not end.
    pub(super) fn exit_code(&self) -> Option<u8> {
        let killed = self.run.as_ref().is_some_and(|run| run.ended_at.is_none()) && !self.at_work;
        let killed = killed.then(|| End::Killed.exit().code());
        killed.or(self.command_end.map(|end| end.exit_code))
    }

    /// Since when and until when creations wait for the quota, where a run has ended for it.
    pub(super) fn parked(&self, now: Moment) -> Option<(Moment, Moment)> {
        let run = self.run.as_ref()?;
        Some((run.ended_at?, run.waits_until(End::Quota, now)?))
    }
}

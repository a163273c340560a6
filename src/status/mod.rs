//! Where things stand and what to do next, computed once: facts of the journal become a [`Status`] with its state, its
//! sentence and what needs a person. The terminal, JSON, the page and the workbook only show it.
//!
//! ```text
//! facts      what the journal knows        run_state      how the run stands: one value
//! sentence   that in one sentence          to_do          what needs a person, and what to type next
//! catalogue  every code in words           row_advice     what to do about one row
//! row_words  rows in words                 next_command   commands about the same journal and account
//! before_words  what a row changed or removed      undo  what restores an import, and what cannot be restored
//! rollout    which devices are online, by company and site
//! ```

pub mod before_words;
pub mod catalogue;
mod facts;
pub mod next_command;
pub mod rollout;
pub mod row_advice;
pub mod row_words;
pub mod run_state;
mod sentence;
mod to_do;
pub mod undo;

use crate::ending::End;
use crate::error::Result;
use crate::journal::{Holder, Journal, RunInfo};
use crate::model::id::ImportId;
use crate::model::remaining::SheetPause;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;

use self::facts::Facts;
pub use self::facts::{ImportFacts, Unanswered, sheet_pauses};
pub use self::run_state::RunState;
use self::run_state::{Left, end_of_rows};
pub use self::sentence::Wording;
pub use self::to_do::{Commands, Correction, Need, Review, Step, Unavailable, room_needed};

/// How the rows of an import, or of all, stand.
pub struct Status {
    facts: Facts,
    state: RunState,
    resumes_at: Option<Moment>,
    /// Who runs it at this moment.
    holder: Option<Holder>,
}

impl Status {
    /// As it is now.
    ///
    /// # Errors
    /// Journal when it cannot be read.
    pub fn now(journal: &Journal, import: Option<ImportId>, now: Moment) -> Result<Self> {
        Self::of(journal, import, Some(now))
    }

    /// Of an import as a report says it, whose reader may have another clock.
    ///
    /// # Errors
    /// Journal when it cannot be read.
    pub fn of_report(journal: &Journal, import: ImportId) -> Result<Self> {
        Self::of(journal, Some(import), None)
    }

    /// After a command that ended like this.
    ///
    /// # Errors
    /// Journal when it cannot be read.
    pub fn after(
        journal: &Journal,
        import: Option<ImportId>,
        end: End,
        resumes_at: Option<Moment>,
    ) -> Result<Self> {
        let facts = Facts::of(journal, import)?;
        let has_rows = facts.tally.total() + facts.left_out.total() > 0;
        let state = if has_rows || end != End::Done { RunState::Ended(end) } else { RunState::Empty };
        Ok(Self { facts, state, resumes_at, holder: None })
    }

    /// The same while this run is at work.
    #[must_use]
    pub fn under(self, holder: Option<Holder>) -> Self {
        Self { holder, ..self }
    }

    fn of(journal: &Journal, import: Option<ImportId>, now: Option<Moment>) -> Result<Self> {
        let facts = Facts::of(journal, import)?;
        let open = facts.run.as_ref().is_some_and(|run| run.ended_at.is_none());
        let holder = if open || now.is_none() { journal.run_at_work() } else { None };
        let rows = match facts.awaited.as_slice() {
            [] => end_of_rows(&facts.tally, facts.paused, facts.differing(), facts.findings.is_some()),
            awaited if awaited.iter().any(|rows| !rows.is_held && !rows.is_paused) => End::RowsWaiting,
            awaited if awaited.iter().any(|rows| rows.is_paused) => End::ImportPaused,
            _ => End::RowsHeld,
        };
        let run = facts.run.as_ref();
        let left = Left {
            paused: facts.paused,
            unread: facts.unread,
            later: facts.later,
            needs_no_quota: facts.needs_no_quota,
        };
        let (state, resumes_at) = match RunState::of(&facts.tally, left, rows, run, holder.is_some(), now) {
            (RunState::Empty, _) if facts.left_out.total() > 0 => (RunState::Ended(rows), None),
            found => found,
        };
        Ok(Self { facts, state, resumes_at, holder })
    }

    /// How the run stands.
    pub const fn state(&self) -> RunState {
        self.state
    }

    /// How a report says that it ended.
    pub const fn end(&self) -> End {
        match self.state {
            RunState::Empty => End::Done,
            RunState::NotBegun | RunState::Running => End::RowsWaiting,
            RunState::Ended(end) => end,
        }
    }

    /// How a check says that it stands: rows that failed, were skipped or differ count until a later import answers for
    /// them, and so do those that were not imported.
    pub fn end_to_check(&self) -> End {
        let has_failed = self.imports().iter().any(ImportFacts::has_failed);
        match self.end() {
            End::RowsFailed if !has_failed => End::Done,
            End::Done if has_failed => End::RowsFailed,
            end => end,
        }
    }

    /// When creations go on that wait for another day.
    pub const fn resumes_at(&self) -> Option<Moment> {
        self.resumes_at
    }

    /// Whether a run is at work.
    pub const fn at_work(&self) -> bool {
        self.holder.is_some()
    }

    /// The run that is at work.
    pub const fn holder(&self) -> Option<Holder> {
        self.holder
    }

    /// The last run.
    pub const fn run(&self) -> Option<&RunInfo> {
        self.facts.run.as_ref()
    }

    /// The sheets that the run at work does not go on with.
    pub fn sheet_pauses(&self) -> &[SheetPause] {
        &self.facts.sheet_pauses
    }

    /// Rows by state.
    pub const fn tally(&self) -> &Tally {
        &self.facts.tally
    }

    /// Rows that were left out and have not come again.
    pub const fn left_out(&self) -> &Tally {
        &self.facts.left_out
    }

    /// Rows by state, those that were left out not among them.
    pub fn with_job(&self) -> Tally {
        let mut rows = self.facts.tally.clone();
        if self.facts.is_of_one {
            rows.take_away(&self.facts.left_out);
        }
        rows
    }

    /// Rows by state, those included that were left out.
    pub fn all_rows(&self) -> Tally {
        let mut rows = self.facts.tally.clone();
        if !self.facts.is_of_one {
            rows.add_all(&self.facts.left_out);
        }
        rows
    }

    /// Whether all rows are done, and nothing is to be looked at.
    pub fn is_good(&self) -> bool {
        self.state == RunState::Ended(End::Done)
            && self.facts.left_out.total() == 0
            && self.facts.tally.in_state(JobState::Cancelled) == 0
    }

    /// Each import that it is about.
    pub fn imports(&self) -> &[ImportFacts] {
        &self.facts.imports
    }

    /// Rows that differ from what was imported earlier.
    pub fn differing(&self) -> u64 {
        self.facts.differing()
    }

    /// What needs a person, the gravest first.
    pub fn needs(&self, commands: &Commands<'_>) -> Vec<Need> {
        to_do::needs(&self.facts, self.state, commands)
    }

    /// What to type next; nothing where nothing is to be typed.
    pub fn next(&self, commands: &Commands<'_>) -> Vec<Step> {
        to_do::next(&self.facts, (self.state, self.at_work()), commands)
    }
}

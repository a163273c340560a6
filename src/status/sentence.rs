//! How it stands, in one sentence without a full stop. Every surface shows this one.

use super::Status;
use super::row_words::{incomplete, not_imported};
use super::run_state::{RunState, unfinished};
use crate::ending::End;
use crate::model::amount::{count, counted, listed};
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;

/// What a surface says in its own way: moments, by the clock of its reader, and a run that goes on while it is read.
pub struct Wording<'a> {
    /// A moment that is waited for.
    pub until: &'a dyn Fn(Moment) -> String,
    /// What a run at work has done and will do; `None` where nobody can watch it.
    pub running: Option<&'a dyn Fn() -> String>,
}

impl Status {
    /// How it stands, in one sentence without a full stop.
    pub fn sentence(&self, wording: &Wording<'_>) -> String {
        match self.state {
            RunState::Empty if self.facts.imported => {
                "the sheets have no rows: there is nothing to do".to_owned()
            }
            RunState::Empty => "nothing has been imported yet".to_owned(),
            RunState::Ended(End::Done | End::RowsFailed | End::Verification) => self.finished(),
            RunState::NotBegun | RunState::Running | RunState::Ended(_) => {
                let words = self.unfinished(wording);
                let besides = match self.state {
                    // What is excepted is all that is not as it should be.
                    RunState::Ended(End::RowsHeld | End::SheetPaused) => self.besides(),
                    RunState::Ended(End::ImportPaused) if self.facts.awaited.is_empty() => self.besides(),
                    _ if !self.facts.awaited.is_empty() => self.beside_awaited(),
                    _ if self.facts.left_out.total() > 0 => vec![left_out(&self.facts.left_out)],
                    _ => Vec::new(),
                };
                match listed(&besides) {
                    Some(besides) => format!("{words}; {besides}"),
                    None => words,
                }
            }
        }
    }

    /// How rows stand of which some are left.
    fn unfinished(&self, wording: &Wording<'_>) -> String {
        let left = self.left();
        match self.state {
            RunState::NotBegun => format!("imported, nothing sent yet: {left}"),
            RunState::Running => wording.running.map_or(left, |running| running()),
            RunState::Ended(end @ (End::Quota | End::Window)) => {
                let (waits, why) = match end {
                    End::Quota => ("parked", "today's quota is spent"),
                    _ => ("paused", self.why(end)),
                };
                let until =
                    self.resumes_at.map_or_else(String::new, |at| format!(" until {}", (wording.until)(at)));
                let goes_on = if self.at_work() { "; the run goes on automatically then" } else { "" };
                format!("{waits}{until}: {why}, {left}{goes_on}")
            }
            RunState::Ended(End::Until) => format!("stopped at the time given: {left}"),
            RunState::Ended(End::Signal) => format!("stopped on request: {left}"),
            RunState::Ended(End::Killed) => format!("the last run was killed: {left}"),
            RunState::Ended(End::SheetPaused) => {
                let sheets = match self.facts.sheets_left.len() {
                    0 | 1 => "a paused sheet".to_owned(),
                    sheets => format!("{} paused sheets", count(sheets as u64)),
                };
                format!("finished except for {sheets}: {left}")
            }
            RunState::Ended(End::ImportPaused) if !self.facts.awaited.is_empty() => left,
            RunState::Ended(End::ImportPaused) => format!("paused: {}, {left}", self.paused_imports()),
            RunState::Ended(End::Canary) => format!("stopped after the canary: {left}"),
            RunState::Ended(End::RowsWaiting) if wording.running.is_some() => {
                format!("{left}; no run is in progress")
            }
            RunState::Ended(End::RowsWaiting) | RunState::Empty => left,
            RunState::Ended(End::RowsHeld) if self.facts.tally.in_state(JobState::Held) == 0 => left,
            RunState::Ended(End::RowsHeld) => self.held(),
            RunState::Ended(end) => format!("stopped: {}; {left}", self.why(end)),
        }
    }

    /// What is left to be done.
    fn left(&self) -> String {
        match (unfinished(&self.facts.tally), self.facts.unread) {
            (0, 0) => "nothing is left to be sent".to_owned(),
            (0, _) => "only verification is left".to_owned(),
            (rows, _) => match self.awaited() {
                None => counted(rows, "row remaining", "rows remaining"),
                Some(awaited) => {
                    let rows = counted(rows - self.facts.stuck, "row remaining", "rows remaining");
                    format!("{rows}, waiting for {awaited}")
                }
            },
        }
    }

    /// For which rows of other imports rows wait, in words.
    fn awaited(&self) -> Option<String> {
        let awaited: Vec<String> = self
            .facts
            .awaited
            .iter()
            .map(|awaited| {
                let rows = counted(awaited.rows, "row", "rows");
                let why = match (awaited.is_held, awaited.is_paused, awaited.rows) {
                    (true, _, 1) => " that needs your decision",
                    (true, _, _) => " that need your decision",
                    (false, true, _) => ", which is paused",
                    (false, false, _) => "",
                };
                format!("{rows} of import {}{why}", awaited.import)
            })
            .collect();
        (!awaited.is_empty()).then(|| awaited.join(" and "))
    }

    /// The paused imports for which rows wait, in words.
    fn paused_imports(&self) -> String {
        let paused: Vec<String> =
            self.facts.paused_imports.iter().map(|rows| rows.import.to_string()).collect();
        match paused.as_slice() {
            [] => "its import".to_owned(),
            [one] => format!("import {one}"),
            several => format!("imports {}", several.join(", ")),
        }
    }

    fn held(&self) -> String {
        let held = self.facts.tally.in_state(JobState::Held);
        let rows = counted(held, "row that needs your decision", "rows that need your decision");
        let mut words = format!("finished except for {rows}");
        if let Some(stuck) = self.stuck() {
            words.push_str(&format!("; {stuck}"));
        }
        if let Some(awaited) = self.awaited() {
            let rows = unfinished(&self.facts.tally) - self.facts.stuck;
            words.push_str(&format!("; {} for {awaited}", counted(rows, "row waits", "rows wait")));
        } else if self.facts.paused > 0 {
            let rows = counted(self.facts.paused, "row remaining", "rows remaining");
            words.push_str(&format!("; paused: {}, {rows}", self.paused_imports()));
        }
        words
    }

    /// The rows that wait for rows on hold, in words.
    fn stuck(&self) -> Option<String> {
        let them = if self.facts.tally.in_state(JobState::Held) == 1 { "it" } else { "them" };
        let stuck = self.facts.stuck;
        (stuck > 0).then(|| format!("{} for {them}", counted(stuck, "row waits", "rows wait")))
    }

    /// The rows of an import that are not among those that wait for rows of others, in words.
    fn beside_awaited(&self) -> Vec<String> {
        let held = self.facts.tally.in_state(JobState::Held);
        let rows = || counted(held, "row needs your decision", "rows need your decision");
        let mut parts = Vec::new();
        parts.extend((held > 0).then(rows));
        parts.extend(self.stuck());
        parts.extend((self.facts.left_out.total() > 0).then(|| left_out(&self.facts.left_out)));
        parts
    }

    /// What became of the rows when none is left.
    fn finished(&self) -> String {
        match listed(&self.besides()) {
            None => "finished: every row is done".to_owned(),
            Some(besides) => format!("finished; {besides}"),
        }
    }

    /// The rows that are neither done nor left, in words, a part for each sort.
    fn besides(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if let Some(review) = &self.facts.findings {
            let rows = counted(review.rows(), "row", "rows");
            parts.push(format!("verification found problems with {rows}"));
        }
        let mut put = |number, one, more| {
            if number > 0 {
                parts.push(counted(number, one, more));
            }
        };
        if self.state == RunState::Ended(End::SheetPaused) {
            let held = self.facts.tally.in_state(JobState::Held);
            put(held, "row needs your decision", "rows need your decision");
        }
        let (rejected, skipped) = self.facts.refused;
        put(rejected, "row was rejected", "rows were rejected");
        if rejected > 0 {
            put(skipped, "dependent row was skipped", "dependent rows were skipped");
        } else {
            put(skipped, "row was skipped", "rows were skipped");
        }
        match self.facts.tally.in_state(JobState::Incomplete) {
            0 => {}
            rows => parts.push(incomplete(rows)),
        }
        if self.facts.left_out.total() > 0 {
            parts.push(left_out(&self.facts.left_out));
        }
        let cancelled = self.facts.tally.in_state(JobState::Cancelled);
        if cancelled > 0 {
            parts.push(counted(cancelled, "row was cancelled", "rows were cancelled"));
        }
        match self.facts.differing() {
            0 => {}
            rows => parts.push(format!(
                "{} from what was imported earlier",
                counted(rows, "row differs", "rows differ")
            )),
        }
        parts
    }

    /// Why the last run was stopped, as it noted it.
    fn why(&self, end: End) -> &str {
        let noted = self.facts.run.as_ref().and_then(|run| run.detail.as_deref());
        noted.unwrap_or(end.entry().words)
    }
}

/// Rows that were left out, in words.
fn left_out(tally: &Tally) -> String {
    not_imported("", tally.in_state(JobState::Rejected), tally.in_state(JobState::Skipped))
}

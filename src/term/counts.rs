//! Counts of rows by the groups that a person asks for. Every state counts as exactly one of them.

use serde::Serialize;

use super::figures::{count, counted};
use super::{Ink, Line};
use crate::model::state::{JobState, RowGroup};

/// Where the rows of one kind, or of all, stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct RowCounts {
    /// All rows.
    pub(super) rows: u64,
    /// Rows that are done.
    pub(super) done: u64,
    /// Those waiting and those in doubt.
    pub(super) left: u64,
    /// Rows that are still to be sent, or under way.
    pub(super) waiting: u64,
    /// Rows whose outcome is unknown and being settled.
    pub(super) in_doubt: u64,
    /// Rows that are rejected or incomplete.
    pub(super) failed: u64,
    /// Rows that are skipped because what they depend on failed.
    pub(super) skipped: u64,
    /// Rows that need a decision.
    pub(super) held: u64,
    /// Rows that are cancelled.
    pub(super) cancelled: u64,
}

impl RowCounts {
    /// `12 of 30 done, 15 waiting, 2 in doubt, 1 failed`; besides done only what there is.
    pub(super) fn line(self) -> Line {
        self.line_of(&count(self.rows))
    }

    /// The same, with all of them as given.
    fn line_of(self, all: &str) -> Line {
        let done = format!("{} of {all} done", count(self.done));
        let all_done = self.done == self.rows;
        let mut line = if all_done { Line::new().ink(Ink::Good, done) } else { Line::plain(done) };
        for (rows, words, ink, _) in self.rest() {
            if rows > 0 {
                line = line.text(", ").ink(ink, format!("{} {words}", count(rows)));
            }
        }
        line
    }

    /// The same without colour and of all kinds together. A row that came again is one job with the earlier one.
    pub(super) fn words(self) -> String {
        self.line_of(&counted(self.rows, "job", "jobs")).render(false, None)
    }

    /// What is not done: rows, words, colour, and what fills a bar.
    fn rest(self) -> [(u64, &'static str, Ink, &'static str); 6] {
        [
            (self.waiting, "waiting", Ink::Plain, " "),
            (self.in_doubt, "in doubt", Ink::Warning, "▒"),
            (self.failed, "failed", Ink::Error, "▓"),
            (self.skipped, "skipped", Ink::Error, "░"),
            (self.held, "on hold", Ink::Warning, "░"),
            (self.cancelled, "cancelled", Ink::Faint, "░"),
        ]
    }

    /// A bar of so many characters: what is done, failed, skipped, on hold, cancelled and in doubt, each in its own way, and
    /// blanks for what waits. What there is has one character at least, and the bar is full only when nothing waits.
    pub(super) fn bar(self, characters: usize) -> Line {
        let [waiting, in_doubt, failed, skipped, held, cancelled] = self.rest();
        let done = (self.done, "done", Ink::Good, "█");
        let parts = [done, failed, skipped, held, cancelled, in_doubt, waiting];
        let mut cells = parts.map(|(rows, ..)| {
            let share = u128::from(rows) * characters as u128 / u128::from(self.rows.max(1));
            usize::try_from(share).unwrap_or(characters).max(usize::from(rows > 0))
        });
        // What is missing goes to what has most, what is too much is taken from it.
        let largest = (0..parts.len()).max_by_key(|&part| cells[part]).unwrap_or_default();
        let others: usize = cells.iter().sum::<usize>() - cells[largest];
        cells[largest] = characters.saturating_sub(others);
        let mut line = Line::plain("[");
        for ((_, _, ink, fill), cells) in parts.into_iter().zip(cells) {
            line = line.ink(ink, fill.repeat(cells));
        }
        line.text("]")
    }
}

pub(super) fn stand(in_state: impl Fn(JobState) -> u64) -> RowCounts {
    let mut standing = RowCounts::default();
    for &state in JobState::ALL {
        let jobs = in_state(state);
        standing.rows += jobs;
        *match RowGroup::of(state) {
            RowGroup::Done => &mut standing.done,
            RowGroup::Failed | RowGroup::NotImported => &mut standing.failed,
            RowGroup::Skipped => &mut standing.skipped,
            RowGroup::Cancelled => &mut standing.cancelled,
            RowGroup::Held => &mut standing.held,
            RowGroup::InDoubt => &mut standing.in_doubt,
            RowGroup::Waiting => &mut standing.waiting,
        } += jobs;
    }
    standing.left = standing.waiting + standing.in_doubt;
    standing
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(done: u64, failed: u64, in_doubt: u64, waiting: u64) -> String {
        let rows = done + failed + in_doubt + waiting;
        let left = waiting + in_doubt;
        let standing = RowCounts { rows, done, left, waiting, in_doubt, failed, ..RowCounts::default() };
        standing.bar(8).render(false, None)
    }

    #[test]
    fn what_failed_does_not_fill_the_bar_like_what_is_done_and_what_there_is_is_seen() {
        let table = [
            ((0, 0, 0, 10), "[        ]"),
            ((10, 0, 0, 0), "[████████]"),
            ((5, 0, 0, 5), "[████    ]"),
            ((9_999, 0, 0, 1), "[███████ ]"),
            ((9_990, 1, 9, 0), "[██████▓▒]"),
            ((1, 0, 0, 9_999), "[█       ]"),
            ((0, 600, 0, 0), "[▓▓▓▓▓▓▓▓]"),
        ];
        for ((done, failed, in_doubt, waiting), expected) in table {
            assert_eq!(bar(done, failed, in_doubt, waiting), expected);
        }
    }
}

//! Counts of jobs, as tables and for programs.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::Result;
use crate::journal::Journal;
use crate::model::id::ImportId;
use crate::model::kind::{Kind, Plural};
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::term::{Ink, Line, Table, count, counted};

/// The states as columns, by what they mean to the reader. Every state is in exactly one.
const COLUMNS: &[(&str, &[JobState])] = &[
    ("waiting", &[JobState::Blocked, JobState::Ready, JobState::Deferred]),
    ("under way", &[JobState::Sending]),
    ("in doubt", &[JobState::InDoubt]),
    ("held", &[JobState::Held]),
    ("created", &[JobState::Created]),
    ("adopted", &[JobState::Adopted]),
    ("existing", &[JobState::Existing]),
    ("done", &[JobState::Done]),
    ("rejected", &[JobState::Rejected]),
    ("incomplete", &[JobState::Incomplete]),
    ("skipped", &[JobState::Skipped]),
    ("cancelled", &[JobState::Cancelled]),
];

/// What rows are called that were not imported.
const NOT_IMPORTED: &str = "not imported";

/// Counts of rows, one line a kind and one for all; states without any row are not shown. The rows include those that were not
/// imported, which have a column of their own. `width` is how many columns a line has on the screen, where it is one.
pub(in crate::cli) fn table(rows: &Tally, not_imported: &Tally, width: Option<usize>) -> Vec<Line> {
    by_columns(rows, not_imported, COLUMNS).lines_within(width)
}

fn by_columns(rows: &Tally, not_imported: &Tally, columns: &[(&'static str, &[JobState])]) -> Table {
    let among = |tally: &Tally, kind: Option<Kind>, states: &[JobState]| -> u64 {
        let of = |&state| kind.map_or_else(|| tally.in_state(state), |kind| tally.of(kind, state));
        states.iter().map(of).sum()
    };
    let of = |kind, states: &[JobState]| among(rows, kind, states) - among(not_imported, kind, states);
    let out = |kind| among(not_imported, kind, JobState::ALL);
    let columns: Vec<_> = columns.iter().filter(|(_, states)| of(None, states) > 0).collect();
    let mut heads = vec!["", "rows"];
    heads.extend(columns.iter().map(|(head, _)| *head));
    heads.extend((out(None) > 0).then_some(NOT_IMPORTED));
    let numbers: Vec<usize> = (1..heads.len()).collect();
    let mut table = Table::new(&heads, &numbers);
    let mut line = |name: &str, kind| {
        let mut numbers = vec![of(kind, JobState::ALL) + out(kind)];
        numbers.extend(columns.iter().map(|(_, states)| of(kind, states)));
        numbers.extend((out(None) > 0).then(|| out(kind)));
        table.row([name.to_owned()].into_iter().chain(numbers.into_iter().map(count)));
    };
    let kinds: Vec<_> = Kind::ALL.into_iter().filter(|&kind| rows.of_kind(kind) > 0).collect();
    kinds.iter().for_each(|&kind| line(kind.plural(), Some(kind)));
    if kinds.len() != 1 {
        line("all", None);
    }
    table
}

/// What the reader wants to know of the rows of a kind; every state is in exactly one.
const GLANCE: [(&str, &[JobState]); 7] = [
    ("done", &[JobState::Created, JobState::Adopted, JobState::Existing, JobState::Done]),
    ("waiting", &[JobState::Blocked, JobState::Ready, JobState::Deferred, JobState::Sending]),
    ("in doubt", &[JobState::InDoubt]),
    ("failed", &[JobState::Rejected, JobState::Incomplete]),
    ("skipped", &[JobState::Skipped]),
    ("needs a decision", &[JobState::Held]),
    ("cancelled", &[JobState::Cancelled]),
];

/// The table of one glance: what is done, waiting, in doubt, failed, skipped, for a person to decide and cancelled, by kind. The
/// rows include those that were not imported, which have a column of their own.
pub(in crate::cli) fn glance(rows: &Tally, not_imported: &Tally, width: Option<usize>) -> Vec<Line> {
    by_columns(rows, not_imported, &GLANCE).lines_within(width)
}

/// How many rows are in each state, in words: `12 created, 3 held, 1 not imported`. The rows include those that were not
/// imported.
pub(in crate::cli) fn states(rows: &Tally, not_imported: &Tally) -> String {
    let of = |tally: &Tally, states: &[JobState]| tally.count(|state| states.contains(&state));
    let parts: Vec<String> = COLUMNS
        .iter()
        .map(|&(head, states)| (head, of(rows, states) - of(not_imported, states)))
        .chain([(NOT_IMPORTED, not_imported.total())])
        .filter(|(_, number)| *number > 0)
        .map(|(head, number)| format!("{} {head}", count(number)))
        .collect();
    parts.join(", ")
}

/// How many of the cancelled rows had made a record before, where some had.
pub(in crate::cli) fn cancelled_with_record(
    journal: &Journal,
    import: Option<ImportId>,
    rows: &Tally,
) -> Result<Option<Line>> {
    let cancelled = rows.in_state(JobState::Cancelled);
    let made = if cancelled > 0 { journal.cancelled_with_record(import)? } else { 0 };
    let (one, many) = ("cancelled row has a record", "cancelled rows have a record");
    let words = || format!("{} in the service, created before the cancellation", counted(made, one, many));
    Ok((made > 0).then(|| Line::new().ink(Ink::Faint, words())))
}

/// The rows of a kind as [`glance`] shows them, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct GlanceCounts {
    /// Rows that are done.
    done: u64,
    /// Rows that are still to be sent, or under way.
    waiting: u64,
    /// Rows whose outcome is unknown and being settled.
    in_doubt: u64,
    /// Rows that are rejected or incomplete.
    failed: u64,
    /// Rows that are skipped because what they depend on failed.
    skipped: u64,
    /// Rows that are on hold until a person decides.
    needs_a_decision: u64,
    /// Rows that are cancelled.
    cancelled: u64,
    /// Rows that were not imported, and that did not come again.
    not_imported: u64,
    /// All rows; of all imports those that came again, and those that are one request, count once.
    rows: u64,
    /// Rows that go on automatically: waiting and in doubt.
    left: u64,
    /// Rows that are on hold until a person decides.
    needs_a_person: u64,
}

/// The same as [`glance`] for programs.
pub(super) fn by_kind(rows: &Tally, left_out: &Tally) -> BTreeMap<Plural, GlanceCounts> {
    let kinds = Kind::ALL.into_iter().filter(|&kind| rows.of_kind(kind) > 0);
    let figures = kinds.map(|kind| {
        let of = |&state: &JobState| rows.of(kind, state) - left_out.of(kind, state);
        let [done, waiting, in_doubt, failed, skipped, needs_a_decision, cancelled] =
            GLANCE.map(|(_, states)| states.iter().map(of).sum());
        let (rows, not_imported) = (rows.of_kind(kind), left_out.of_kind(kind));
        let (left, needs_a_person) = (waiting + in_doubt, needs_a_decision);
        let counts = GlanceCounts {
            done,
            waiting,
            in_doubt,
            failed,
            skipped,
            needs_a_decision,
            cancelled,
            not_imported,
            rows,
            left,
            needs_a_person,
        };
        (Plural(kind), counts)
    });
    figures.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{Manner, testing::terminal};

    fn tally(jobs: &[(Kind, JobState, u64)]) -> Tally {
        let mut tally = Tally::default();
        for &(kind, state, count) in jobs {
            tally.add(kind, state, count);
        }
        tally
    }

    #[test]
    fn every_state_is_in_exactly_one_column() {
        for columns in [COLUMNS, &GLANCE] {
            let mut states: Vec<_> = columns.iter().flat_map(|(_, states)| states.iter().copied()).collect();
            states.sort_unstable();
            assert_eq!(states, JobState::ALL);
        }
    }

    #[test]
    fn one_glance_shows_what_is_done_waiting_in_doubt_failed_and_to_be_decided_and_the_states_behind_it() {
        let jobs = [
            (Kind::Company, JobState::Created, 10),
            (Kind::Company, JobState::Held, 2),
            (Kind::Device, JobState::InDoubt, 3),
            (Kind::Device, JobState::Existing, 7),
        ];
        let (tally, none) = (tally(&jobs), Tally::default());
        let (terminal, results, _) = terminal(Manner::default());
        for line in super::glance(&tally, &none, None) {
            terminal.result(line);
        }
        terminal.result(states(&tally, &none));
        insta::assert_snapshot!(results.text());
        let companies = serde_json::json!({
            "rows": 12, "done": 10, "left": 0, "waiting": 0, "in_doubt": 0, "failed": 0, "skipped": 0,
            "needs_a_decision": 2, "needs_a_person": 2, "cancelled": 0, "not_imported": 0,
        });
        assert_eq!(serde_json::to_value(by_kind(&tally, &none)).unwrap()["companies"], companies);
    }

    #[test]
    fn the_table_shows_what_there_is_and_adds_it_up() {
        use JobState::{Cancelled, Created, Rejected, Skipped};
        let jobs =
            [(Kind::Company, Created, 12), (Kind::Device, Rejected, 1_000), (Kind::Device, Cancelled, 1)];
        let out = [(Kind::Person, Rejected, 2), (Kind::Device, Skipped, 1)];
        let (terminal, results, _) = terminal(Manner::default());
        let (rows, out) = (tally(&[&jobs[..], &out[..]].concat()), tally(&out));
        for line in super::table(&rows, &out, None) {
            terminal.result(line);
        }
        assert_eq!(states(&rows, &out), "12 created, 1,000 rejected, 1 cancelled, 3 not imported");
        let figures = serde_json::to_value(by_kind(&rows, &out)).unwrap();
        let of = |kind: &str| {
            ["rows", "failed", "skipped", "not_imported"].map(|name| figures[kind][name].clone())
        };
        assert_eq!(of("people"), [2, 0, 0, 2].map(serde_json::Value::from));
        assert_eq!(of("devices"), [1_002, 1_000, 0, 1].map(serde_json::Value::from));
        insta::assert_snapshot!(results.text(), @"
                    rows  created  rejected  cancelled  not imported
        companies     12       12         0          0             0
        people         2        0         0          0             2
        devices    1,002        0     1,000          1             1
        all        1,016       12     1,000          1             3
        ");
    }

    #[test]
    fn counts_that_are_wider_than_the_screen_as_a_table_are_told_in_words() {
        use JobState::{
            Cancelled, Created, Deferred, Existing, Held, InDoubt, Incomplete, Rejected, Skipped,
        };
        let of_companies = |states: &[JobState]| -> Vec<_> {
            states.iter().map(|&state| (Kind::Company, state, 1_000)).collect()
        };
        let out = [(Kind::Device, Skipped, 1)];
        let jobs = of_companies(&[Created, Existing, Rejected, Incomplete, Skipped, Cancelled]);
        let all = tally(&[&jobs[..], &out[..], &[(Kind::Device, Created, 12)]].concat());
        let left = tally(&of_companies(&[Created, Deferred, InDoubt, Rejected, Skipped, Held, Cancelled]));
        let (terminal, results, _) = terminal(Manner::default());
        for width in [110, 80] {
            for line in super::table(&all, &tally(&out), Some(width)) {
                terminal.result(line);
            }
        }
        for line in super::glance(&left, &Tally::default(), Some(80)) {
            terminal.result(line);
        }
        insta::assert_snapshot!(results.text(), @"
                    rows  created  existing  rejected  incomplete  skipped  cancelled  not imported
        companies  6,000    1,000     1,000     1,000       1,000    1,000      1,000             0
        devices       13       12         0         0           0        0          0             1
        all        6,013    1,012     1,000     1,000       1,000    1,000      1,000             1
        companies: rows 6,000; created 1,000; existing 1,000; rejected 1,000; incomplete 1,000; skipped 1,000; cancelled 1,000
        devices: rows 13; created 12; not imported 1
        all: rows 6,013; created 1,012; existing 1,000; rejected 1,000; incomplete 1,000; skipped 1,000; cancelled 1,000; not imported 1
        companies: rows 7,000; done 1,000; waiting 1,000; in doubt 1,000; failed 1,000; skipped 1,000; needs a decision 1,000; cancelled 1,000
        ");
    }
}

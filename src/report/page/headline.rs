//! How an import stands, in one sentence, and what to do next with the command to type.

use crate::journal::RunInfo;
use crate::look::{count, counted, left_out, shares, shown, with_along};
use crate::model::state::JobState;
use crate::report::RunState;
use crate::report::advice::Advisor;
use crate::report::figures::Figures;

use super::attention::readable;
use super::badge::{Badge, Tone, tone};
use super::moment::{When, minute};

/// What stands at the head of the page.
pub(in crate::report) struct Headline {
    pub(in crate::report) badge: Badge,
    /// The state in one sentence, without a full stop.
    pub(in crate::report) sentence: String,
    /// What is to be said besides; empty when nothing is.
    pub(in crate::report) besides: String,
    /// When a parked import may go on.
    pub(super) resumes_at: Option<When>,
    pub(in crate::report) next: Vec<Next>,
    pub(in crate::report) numbers: Vec<Number>,
    /// Whether there is a workbook of rows to correct.
    pub(super) has_fix: bool,
}

/// Something to do.
pub(in crate::report) struct Next {
    pub(in crate::report) words: String,
    pub(in crate::report) command: String,
}

/// A number and what it counts.
pub(in crate::report) struct Number {
    pub(in crate::report) label: &'static str,
    pub(in crate::report) value: u64,
    pub(in crate::report) note: String,
    /// Whether it is of rows by what became of them; together they are all rows.
    pub(in crate::report) of_rows: bool,
}

impl Number {
    /// The number as people write it.
    pub(super) fn written(&self) -> String {
        count(self.value)
    }
}

/// Rows by what they mean.
struct Rows {
    all: u64,
    done: u64,
    refused: u64,
    /// Left out because of errors; neither refused nor aside.
    left_out: u64,
    /// Those of them that have none: they come along with what they belong to.
    along: u64,
    held: u64,
    left: u64,
    aside: u64,
    findings: u64,
}

impl Headline {
    pub(in crate::report) fn of(figures: &Figures, run: Option<&RunInfo>, advisor: &Advisor<'_>) -> Self {
        let with = |wanted: Tone| figures.states.count(|state| tone(state) == wanted);
        let left_out_in = |state| figures.left_out.in_state(state);
        let rows = Rows {
            all: figures.rows,
            done: with(Tone::Done),
            refused: with(Tone::Failed).saturating_sub(left_out_in(JobState::Rejected)),
            left_out: figures.left_out.total(),
            along: figures.along(),
            held: with(Tone::Person),
            left: with(Tone::Waiting),
            aside: with(Tone::Aside).saturating_sub(left_out_in(JobState::Skipped)),
            findings: figures.audit.findings(),
        };
        Self {
            badge: Badge::of_run(figures.standing.state, rows.refused + rows.left_out > 0),
            sentence: sentence(figures, &rows),
            besides: besides(figures, &rows, run),
            resumes_at: figures.standing.resumes_at.filter(|_| rows.left > 0).map(When::of),
            next: next(figures, &rows, advisor),
            numbers: numbers(figures, &rows),
            has_fix: advisor.has_fix(),
        }
    }
}

fn sentence(figures: &Figures, rows: &Rows) -> String {
    let left = format!("{} still to do", counted(rows.left, "row is", "rows are"));
    match figures.standing.state {
        RunState::Finished if rows.refused > 0 => {
            let were = if rows.refused == 1 { "was" } else { "were" };
            let and = match rows.left_out {
                0 => String::new(),
                _ => format!("; {}", left_out(rows.left_out - rows.along, rows.along)),
            };
            format!(
                "Finished: {} of {} {were} refused{and}",
                count(rows.refused),
                counted(rows.all, "row", "rows")
            )
        }
        RunState::Finished if rows.left_out > 0 => {
            let own = rows.left_out - rows.along;
            let were = if own == 1 { "was" } else { "were" };
            let of = counted(rows.all, "row", "rows");
            let words = match own {
                0 => left_out(own, rows.along),
                _ => with_along(
                    format!("{} of {of} {were} left out because of errors", count(own)),
                    own,
                    rows.along,
                ),
            };
            format!("Finished: {words}")
        }
        RunState::Finished if rows.aside > 0 => {
            format!(
                "Finished: {} done, {} left out",
                counted(rows.done, "row is", "rows are"),
                count(rows.aside)
            )
        }
        RunState::Finished if rows.all == 0 => "Nothing to do: the sheets have no rows".to_owned(),
        RunState::Finished if rows.all == 1 => "Finished: the row is done".to_owned(),
        RunState::Finished => format!("Finished: all {} rows are done", count(rows.all)),
        RunState::Parked => match figures.standing.resumes_at {
            Some(at) => format!("Parked until {}: {left}", minute(at)),
            None => format!("Not finished: {left}"),
        },
        RunState::Stopped => format!("Stopped: {left}"),
        RunState::Held => match (rows.held, rows.findings) {
            (0, 0) => format!("Waiting for a person: {left}"),
            (0, findings) => format!(
                "Finished, and {} after reading back",
                counted(findings, "row needs a look", "rows need a look")
            ),
            (held, _) => counted(held, "row needs a person", "rows need a person"),
        },
    }
}

/// What the sentence does not say yet.
fn besides(figures: &Figures, rows: &Rows, run: Option<&RunInfo>) -> String {
    let mut parts = Vec::new();
    if figures.standing.state == RunState::Held && rows.held > 0 && rows.left > 0 {
        let them = if rows.held == 1 { "it" } else { "them" };
        parts.push(format!("{} for {them}", counted(rows.left, "row waits", "rows wait")));
    }
    if figures.standing.state == RunState::Stopped
        && let Some(ending) = run.and_then(|run| run.ending.as_deref())
    {
        parts.push(readable(ending));
    }
    if figures.standing.state != RunState::Finished && rows.refused > 0 {
        parts.push(format!("{} refused", counted(rows.refused, "row was", "rows were")));
    }
    if figures.standing.state != RunState::Finished && rows.left_out > 0 {
        parts.push(left_out(rows.left_out - rows.along, rows.along));
    }
    if figures.standing.state != RunState::Held && rows.held > 0 {
        parts.push(counted(rows.held, "row needs a person", "rows need a person"));
    }
    let skipped = figures
        .states
        .in_state(JobState::Skipped)
        .saturating_sub(figures.left_out.in_state(JobState::Skipped));
    if skipped > 0 {
        parts.push(format!(
            "{} because what {} was refused",
            counted(skipped, "row was left out", "rows were left out"),
            if skipped == 1 { "it belongs to" } else { "they belong to" }
        ));
    }
    for (number, by) in &figures.answered {
        parts.push(format!(
            "{} again since: import {by} answers for {}",
            counted(*number, "row came", "rows came"),
            if *number == 1 { "it" } else { "them" }
        ));
    }
    if rows.findings > 0 && rows.held > 0 {
        parts.push(counted(rows.findings, "finding of reading back", "findings of reading back"));
    }
    if figures.changed_since > 0 {
        parts.push(format!(
            "{} from what was done earlier and left as it was",
            counted(figures.changed_since, "row differs", "rows differ")
        ));
    }
    if parts.is_empty() { String::new() } else { format!("{}.", parts.join("; ")) }
}

/// What to do, the most urgent first.
fn next(figures: &Figures, rows: &Rows, advisor: &Advisor<'_>) -> Vec<Next> {
    let import = figures.import;
    let mut next = Vec::new();
    let mut put =
        |words: &str, command: String| next.push(Next { words: words.to_owned(), command: shown(&command) });
    match figures.standing.state {
        RunState::Stopped => {
            put("See what keeps the service from answering:", advisor.command("doctor"));
            put("Then go on with what is left:", advisor.command("run"));
        }
        RunState::Parked if figures.standing.resumes_at.is_some() => {
            put("Leave it until then; what is still to do goes on with:", advisor.command("run"));
        }
        RunState::Parked => put("Go on with what is still to do:", advisor.command("run")),
        RunState::Finished | RunState::Held => {}
    }
    if rows.held > 0 {
        put(
            "Decide the held rows; this shows each with what the service has of it:",
            advisor.command(&format!("resolve --import {import}")),
        );
    }
    if rows.findings > 0 {
        put(
            "When you have looked into what reading back found:",
            advisor.command(&format!("resolve --import {import} --seen")),
        );
    }
    let to_correct = match (rows.refused, rows.left_out) {
        (0, 0) => None,
        (_, 0) => Some("the refused rows"),
        (0, _) => Some("the rows that were left out"),
        _ => Some("the rows that were refused or left out"),
    };
    // Corrected or not, they have come again: another report says what is to be done about them.
    if figures.to_fix == 0
        && let Some((_, by)) = figures.answered.last()
    {
        put(
            "What did not get through came again; see where it stands now:",
            advisor.command(&format!("status {by}")),
        );
    } else if let Some(them) = to_correct {
        put(
            &format!("Correct {them}, in the sheet or in fix.xlsx beside this report, and import that file:"),
            advisor.run_corrected(),
        );
    }
    if figures.standing.state == RunState::Held && rows.left > 0 {
        put("Then go on with what is left:", advisor.command("run"));
    }
    next
}

fn numbers(figures: &Figures, rows: &Rows) -> Vec<Number> {
    let aside = rows.aside + rows.left_out;
    let parts = [rows.done, rows.refused, rows.held, rows.left, aside];
    // That all of them are of one sort is seen without a share.
    let said = if parts.contains(&rows.all) { Default::default() } else { shares(&parts) };
    let of_all = |at: usize| said.get(at).cloned().unwrap_or_default();
    let mut numbers = vec![
        Number {
            label: "Rows",
            value: rows.all,
            note: counted(figures.sheets.len() as u64, "sheet", "sheets"),
            of_rows: true,
        },
        Number { label: "Done", value: rows.done, note: of_all(0), of_rows: true },
    ];
    let mut put = |label, value: u64, note, of_rows| {
        if value > 0 {
            numbers.push(Number { label, value, note, of_rows });
        }
    };
    put("Refused", rows.refused, of_all(1), true);
    put("A person decides", rows.held, of_all(2), true);
    put("Still to do", rows.left, of_all(3), true);
    put("Left out", aside, of_all(4), true);
    put("Known from before", figures.recognised, String::new(), false);
    put("Requests", figures.requests, "look-ups not counted".to_owned(), false);
    numbers
}

/// The files of an import: name and the beginning of its digest.
pub(super) fn files(figures: &Figures) -> Vec<(String, String)> {
    figures
        .files
        .iter()
        .map(|(name, sha256)| (shown(name), shown(sha256.get(..12).unwrap_or(sha256))))
        .collect()
}

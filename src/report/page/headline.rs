//! How an import stands, in one sentence, and what to do next with the command to type.

use crate::ending::{End, State};
use crate::error::Exit;
use crate::journal::RunInfo;
use crate::look::{count, counted, incomplete, not_imported, shares, shown};
use crate::model::state::JobState;
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

/// Rows by what they mean; together they are all of them.
struct Rows {
    all: u64,
    done: u64,
    rejected: u64,
    /// Created, with a later step that was rejected.
    incomplete: u64,
    /// Not imported because of errors, and not given up since.
    not_imported: u64,
    /// Those of them that have none: they come along with what they belong to.
    along: u64,
    held: u64,
    in_doubt: u64,
    waiting: u64,
    skipped: u64,
    cancelled: u64,
    /// Findings of verification that nobody has looked into; of rows that are done.
    findings: u64,
}

impl Rows {
    fn of(figures: &Figures) -> Self {
        let of = |state| figures.states.in_state(state);
        let with_job = |state| of(state).saturating_sub(figures.left_out.in_state(state));
        Self {
            all: figures.rows,
            done: figures.states.count(JobState::is_success),
            rejected: with_job(JobState::Rejected),
            incomplete: of(JobState::Incomplete),
            not_imported: figures.left_out.total(),
            along: figures.along(),
            held: of(JobState::Held),
            in_doubt: of(JobState::InDoubt),
            waiting: figures.states.count(|state| tone(state) == Tone::Waiting && state != JobState::InDoubt),
            skipped: with_job(JobState::Skipped),
            cancelled: of(JobState::Cancelled),
            findings: figures.findings,
        }
    }

    /// Those that the service refused, or a part of them.
    fn failed(&self) -> u64 {
        self.rejected + self.incomplete
    }

    /// Those that go on without anybody.
    fn left(&self) -> u64 {
        self.waiting + self.in_doubt
    }

    /// What kept rows from being done, each in words.
    fn not_done(&self) -> Vec<String> {
        let mut parts = self.failures();
        if self.skipped > 0 {
            let they = if self.skipped == 1 { "it depends" } else { "they depend" };
            parts.push(format!(
                "{} skipped because what {they} on {}",
                counted(self.skipped, "row was", "rows were"),
                if self.failed() == 0 && self.cancelled > 0 { "was cancelled" } else { "failed" }
            ));
        }
        if self.cancelled > 0 {
            parts.push(counted(self.cancelled, "row was cancelled", "rows were cancelled"));
        }
        parts
    }

    /// What is to be corrected, each in words.
    fn failures(&self) -> Vec<String> {
        let mut parts = Vec::new();
        if self.rejected > 0 {
            let were = if self.rejected == 1 { "was" } else { "were" };
            let of = counted(self.all, "row", "rows");
            parts.push(format!("{} of {of} {were} rejected", count(self.rejected)));
        }
        if self.incomplete > 0 {
            parts.push(incomplete(self.incomplete));
        }
        if self.not_imported > 0 {
            parts.push(not_imported(self.not_imported - self.along, self.along));
        }
        parts
    }
}

impl Headline {
    pub(in crate::report) fn of(figures: &Figures, run: Option<&RunInfo>, advisor: &Advisor<'_>) -> Self {
        let rows = Rows::of(figures);
        Self {
            badge: Badge::of_run(
                figures.standing.end.state(),
                rows.failed() + rows.not_imported + figures.changed_since > 0,
            ),
            sentence: sentence(figures, &rows),
            besides: besides(figures, &rows, run),
            resumes_at: figures.standing.resumes_at.filter(|_| rows.left() > 0).map(When::of),
            next: next(figures, &rows, advisor),
            numbers: numbers(figures, &rows),
            has_fix: advisor.has_fix(),
        }
    }
}

fn sentence(figures: &Figures, rows: &Rows) -> String {
    let left = format!("{} still to do", counted(rows.left(), "row is", "rows are"));
    match figures.standing.end.state() {
        State::Finished => match rows.not_done() {
            parts if !parts.is_empty() => format!("Finished: {}", parts.join("; ")),
            _ if figures.changed_since > 0 => format!(
                "Finished: {} of {} {} from what was created earlier",
                count(figures.changed_since),
                counted(rows.all, "row", "rows"),
                if figures.changed_since == 1 { "differs" } else { "differ" }
            ),
            _ if rows.all == 0 => "Nothing to do: the sheets have no rows".to_owned(),
            _ if rows.all == 1 => "Finished: the row is done".to_owned(),
            _ => format!("Finished: all {} rows are done", count(rows.all)),
        },
        State::Parked => match figures.standing.resumes_at {
            Some(at) => format!("Parked until {}: {left}", minute(at)),
            None => format!("Not finished: {left}"),
        },
        State::Waiting => format!("Not finished: {left}"),
        State::Stopped | State::Failed => match figures.standing.end {
            End::Signal => format!("Stopped on request: {left}"),
            End::Until => format!("Stopped at the time given: {left}"),
            End::Killed => format!("The last run was killed: {left}"),
            _ => format!("Stopped: {left}"),
        },
        State::Held => match (rows.held, rows.findings) {
            (0, 0) => format!("Waiting for your decision: {left}"),
            (0, findings) => format!(
                "Finished, and verification found problems with {}",
                counted(findings, "record", "records")
            ),
            (held, _) => counted(held, "row needs your decision", "rows need your decision"),
        },
    }
}

/// What the sentence does not say yet.
fn besides(figures: &Figures, rows: &Rows, run: Option<&RunInfo>) -> String {
    let mut parts = Vec::new();
    if figures.standing.end.state() == State::Held && rows.held > 0 && rows.left() > 0 {
        let them = if rows.held == 1 { "it" } else { "them" };
        parts.push(format!("{} for {them}", counted(rows.left(), "row waits", "rows wait")));
    }
    if figures.standing.end.state() == State::Stopped
        && figures.standing.end.exit() == Exit::Service
        && let Some(why) = run.and_then(|run| run.detail.as_deref())
    {
        parts.push(readable(why));
    }
    if figures.standing.end.state() != State::Finished {
        parts.extend(rows.not_done());
    }
    if figures.standing.end.state() != State::Held && rows.held > 0 {
        parts.push(counted(rows.held, "row needs your decision", "rows need your decision"));
    }
    for (number, by) in &figures.answered {
        parts.push(format!(
            "{} again since: import {by} answers for {}",
            counted(*number, "row came", "rows came"),
            if *number == 1 { "it" } else { "them" }
        ));
    }
    if rows.findings > 0 && (figures.standing.end.state() != State::Held || rows.held > 0) {
        let words = counted(rows.findings, "record", "records");
        parts.push(format!("verification found problems with {words}"));
    }
    if figures.changed_since > 0 {
        parts.push(format!(
            "{} from what was created earlier, and nothing was sent for {}",
            counted(figures.changed_since, "row differs", "rows differ"),
            if figures.changed_since == 1 { "it" } else { "them" }
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
    match figures.standing.end.state() {
        State::Stopped | State::Failed if figures.standing.end.exit() == Exit::Service => {
            put("See what keeps the service from answering:", advisor.command("doctor"));
            put("Then go on with what is left:", advisor.command("run"));
        }
        State::Parked if figures.standing.resumes_at.is_some() => {
            put("Leave it until then; what is still to do goes on with:", advisor.command("run"));
        }
        State::Parked | State::Waiting | State::Stopped | State::Failed => {
            put("Go on with what is still to do:", advisor.command("run"));
        }
        State::Finished | State::Held => {}
    }
    if rows.held > 0 {
        put(
            "Decide the rows on hold; this shows each with what the service has of it:",
            advisor.command(&format!("resolve --import {import}")),
        );
    }
    if rows.findings > 0 {
        put(
            "Review the findings of verification, then mark them as reviewed:",
            advisor.command(&format!("resolve --import {import} --seen")),
        );
    }
    let to_correct = match (rows.failed(), rows.not_imported) {
        (0, 0) => None,
        (_, 0) => Some("the rows that failed"),
        (0, _) => Some("the rows that were not imported"),
        _ => Some("the rows that failed or were not imported"),
    };
    // Corrected or not, they have come again: another report says what is to be done about them.
    if figures.to_fix == 0
        && let Some((_, by)) = figures.answered.last()
    {
        put(
            "The rows that failed came again; see where they stand now:",
            advisor.command(&format!("status {by}")),
        );
    } else if let Some(them) = to_correct {
        put(
            &format!("Correct {them}, in the sheet or in fix.xlsx beside this report, and import that file:"),
            advisor.run_corrected(),
        );
    }
    if figures.standing.end.state() == State::Held && rows.left() > 0 {
        put("Then go on with what is left:", advisor.command("run"));
    }
    next
}

fn numbers(figures: &Figures, rows: &Rows) -> Vec<Number> {
    let parts = [
        rows.done,
        rows.rejected,
        rows.incomplete,
        rows.not_imported,
        rows.skipped,
        rows.held,
        rows.in_doubt,
        rows.waiting,
        rows.cancelled,
    ];
    let labels = [
        "Done",
        "Rejected",
        "Incomplete",
        "Not imported",
        "Skipped",
        "Needs your decision",
        "In doubt",
        "Waiting",
        "Cancelled",
    ];
    // That all of them are of one sort is seen without a share.
    let said = if parts.contains(&rows.all) { Default::default() } else { shares(&parts) };
    let mut numbers = vec![Number {
        label: "Rows",
        value: rows.all,
        note: counted(figures.sheets.len() as u64, "sheet", "sheets"),
        of_rows: true,
    }];
    for (at, (label, value)) in labels.into_iter().zip(parts).enumerate() {
        // What is done is told even where nothing is.
        if value > 0 || at == 0 {
            numbers.push(Number {
                label,
                value,
                note: said.get(at).cloned().unwrap_or_default(),
                of_rows: true,
            });
        }
    }
    let mut put = |label, value: u64, note| {
        if value > 0 {
            numbers.push(Number { label, value, note, of_rows: false });
        }
    };
    put("Known from before", figures.recognised, String::new());
    put("Requests", figures.requests, "look-ups not counted".to_owned());
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

//! How an import stands, in one sentence, and what to do next with the command to type.

use crate::ending::{End, State};
use crate::error::Exit;
use crate::journal::RunInfo;
use crate::model::amount::{count, counted};
use crate::model::state::JobState;
use crate::report::badge::{Badge, Group};
use crate::report::figures::Figures;
use crate::report::page_assets::shown;
use crate::status::row_advice::Advisor;
use crate::status::row_words::{incomplete, not_imported};

use super::attention::readable;
use super::moment::{When, minute};

/// What stands at the head of the page.
pub(in crate::report) struct Headline {
    pub(in crate::report) badge: Badge,
    /// The state in one sentence, without a full stop.
    pub(in crate::report) sentence: String,
    /// What is to be said besides; empty when nothing is.
    pub(in crate::report) besides: String,
    /// How many rows are done; empty where the sentence says it, or there are no rows.
    pub(super) done: String,
    /// When a parked import may go on.
    pub(super) resumes_at: Option<When>,
    pub(in crate::report) next: Vec<Next>,
    /// Whether there is a workbook of rows to correct.
    pub(super) has_fix: bool,
}

/// Something to do.
pub(in crate::report) struct Next {
    pub(in crate::report) words: String,
    pub(in crate::report) command: String,
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
            done: figures.in_group(Group::Done),
            rejected: with_job(JobState::Rejected),
            incomplete: of(JobState::Incomplete),
            not_imported: figures.left_out.total(),
            along: figures.along(),
            held: of(JobState::Held),
            in_doubt: of(JobState::InDoubt),
            waiting: figures.in_group(Group::Waiting),
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
            badge: badge(figures, &rows),
            sentence: sentence(figures, &rows),
            besides: besides(figures, &rows, run),
            done: match rows.done {
                done if done == rows.all => String::new(),
                done => {
                    let are = if done == 1 { "is" } else { "are" };
                    format!("{} of {} {are} done.", count(done), counted(rows.all, "row", "rows"))
                }
            },
            resumes_at: figures.standing.resumes_at.filter(|_| rows.left() > 0).map(When::of),
            next: next(figures, &rows, advisor),
            has_fix: advisor.has_fix(),
        }
    }
}

/// How the import stands, in the fewest words.
fn badge(figures: &Figures, rows: &Rows) -> Badge {
    let rows_are =
        |group: Group, rows: u64, words: &str| (group, format!("{} {words}", counted(rows, "row", "rows")));
    let (group, words) = match figures.standing.end.state() {
        State::Finished if rows.failed() > 0 => rows_are(Group::Failed, rows.failed(), "failed"),
        State::Finished if rows.not_imported > 0 => {
            rows_are(Group::NotImported, rows.not_imported, "not imported")
        }
        State::Finished if figures.changed_since > 0 => {
            (Group::Failed, counted(figures.changed_since, "row differs", "rows differ"))
        }
        State::Finished if rows.skipped > 0 => rows_are(Group::Skipped, rows.skipped, "skipped"),
        State::Finished if rows.cancelled > 0 => rows_are(Group::Cancelled, rows.cancelled, "cancelled"),
        State::Finished => (Group::Done, "done".to_owned()),
        State::Parked | State::Waiting => (Group::Waiting, "waiting".to_owned()),
        State::Stopped | State::Failed if figures.standing.end.exit() == Exit::Service => {
            (Group::Failed, "stopped".to_owned())
        }
        State::Stopped | State::Failed => (Group::Waiting, "stopped".to_owned()),
        State::Held if rows.held == 0 && rows.findings > 0 => (Group::Held, "needs your review".to_owned()),
        State::Held => (Group::Held, "needs your decision".to_owned()),
    };
    Badge { group, words }
}

/// The rows that go on without anybody.
fn left(rows: &Rows) -> String {
    let mut parts = Vec::new();
    if rows.waiting > 0 || rows.in_doubt == 0 {
        parts.push(counted(rows.waiting, "row is waiting", "rows are waiting"));
    }
    if rows.in_doubt > 0 {
        let of = counted(rows.in_doubt, "row", "rows");
        parts.push(format!("the outcome of {of} is unknown and being settled"));
    }
    parts.join("; ")
}

fn sentence(figures: &Figures, rows: &Rows) -> String {
    let left = left(rows);
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
            put("Find out why the service does not answer:", advisor.command("doctor"));
            put("Then go on with the waiting rows:", advisor.command("run"));
        }
        State::Parked if figures.standing.resumes_at.is_some() => {
            put("Wait until then. The waiting rows go on with:", advisor.command("run"));
        }
        State::Parked | State::Waiting | State::Stopped | State::Failed => {
            put("Go on with the waiting rows:", advisor.command("run"));
        }
        State::Finished | State::Held => {}
    }
    if rows.held > 0 {
        put(
            "Decide the rows on hold. This command shows each row and the records that the service has:",
            advisor.command(&format!("resolve --import {import}")),
        );
    }
    if rows.findings > 0 {
        put(
            "Review what verification found (see the rows below), then mark it as reviewed:",
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
            "A later import has the rows that failed. See how they stand now:",
            advisor.command(&format!("status {by}")),
        );
    } else if let Some(them) = to_correct {
        put(
            &format!("Correct {them}, in the sheet or in fix.xlsx beside this report, and import that file:"),
            advisor.run_corrected(),
        );
    }
    if figures.standing.end.state() == State::Held && rows.left() > 0 {
        put("Then go on with the waiting rows:", advisor.command("run"));
    }
    next
}

/// The files of an import: name and the beginning of its digest.
pub(super) fn files(figures: &Figures) -> Vec<(String, String)> {
    figures
        .files
        .iter()
        .map(|(name, sha256)| (shown(name), shown(sha256.get(..12).unwrap_or(sha256))))
        .collect()
}

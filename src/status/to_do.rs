//! What needs a person and what to type next, each with its words and its command.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::facts::{Facts, ImportFacts};
use super::next_command::Again;
use super::row_advice::may_be_retried;
use super::row_words::not_imported;
use super::run_state::{RunState, moving};
use crate::advice::Advice;
use crate::ending::{End, RunEnd};
use crate::error::Exit;
use crate::journal::{UnansweredRows, UnsentRows};
use crate::model::amount::counted;
use crate::model::id::{ImportId, JobId};
use crate::model::operation::Operation;
use crate::model::remaining::SheetPause;
use crate::model::state::JobState;

/// Something that needs a person, and the command for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Need {
    /// The word for programs.
    pub cause: &'static str,
    /// How many rows or records.
    pub count: u64,
    /// What it is and what to do; it names other commands that may be typed.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "schemas", schemars(with = "String"))]
    pub words: Advice,
    /// The command to type.
    pub command: String,
}

fn as_text<S: serde::Serializer>(words: &Advice, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(words.as_str())
}

/// What to do next: words, and the commands behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is for; empty where the command says it.
    pub words: String,
    /// The command to type.
    pub command: String,
}

/// Rows that wait for an operation of which nobody has said where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// The operation.
    pub operation: Operation,
    /// How many rows wait for it.
    pub rows: u64,
    /// The profile in which it can be said.
    pub profile: String,
}

/// How the rows of an import are corrected.
pub struct Correction {
    /// The workbook of rows to correct, where it goes.
    pub fix: PathBuf,
    /// Whether it is there, with all of them.
    pub is_there: bool,
    /// The commands for it: what is corrected is read as the files of the import were.
    pub again: Again,
}

/// How commands are typed from where the status is told.
pub struct Commands<'a> {
    /// About the journal.
    pub again: &'a Again,
    /// About the rows of an import.
    pub correction: &'a dyn Fn(&ImportFacts) -> Correction,
    /// Operations without a path that rows wait for.
    pub unavailable: Vec<Unavailable>,
    /// Whether a report tells them: it needs no command for itself, and has its rows with what to do about them.
    pub in_report: bool,
    /// Whether a watch goes on with what is left.
    pub is_watched: bool,
}

/// What an operation does, in words; that of a later step is called by its name.
fn purpose(operation: Operation) -> String {
    let Some(kind) = operation.makes() else { return operation.to_string() };
    let how = if kind.descriptor().creation == operation { "" } else { " from templates" };
    format!("creating {}{how} ({operation})", kind.plural())
}

/// Findings of verification that one command names at most.
const REVIEWED_AT_ONCE: usize = 20;

/// How a person says that findings of verification are reviewed. The command names each, so that it says nothing of one
/// that is found later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The first rows with one.
    jobs: Vec<JobId>,
    /// How many more rows there are with one.
    more: u64,
}

impl Review {
    /// Of the findings of these rows that nobody has looked into; `None` when there is none.
    pub fn of(jobs: impl IntoIterator<Item = JobId>) -> Option<Self> {
        let mut all = jobs.into_iter();
        let jobs: Vec<JobId> = all.by_ref().take(REVIEWED_AT_ONCE).collect();
        let more = all.count() as u64;
        (!jobs.is_empty()).then_some(Self { jobs, more })
    }

    /// How many rows have such a finding.
    pub const fn rows(&self) -> u64 {
        self.jobs.len() as u64 + self.more
    }

    /// What is reviewed before the command is typed.
    pub fn what(&self) -> String {
        match (self.jobs.as_slice(), self.more) {
            ([_], 0) => "it".to_owned(),
            (_, 0) => "them".to_owned(),
            (first, _) => format!("the first {} of them", first.len()),
        }
    }

    /// The command, without the name of the program.
    pub fn command(&self) -> String {
        let jobs: Vec<String> = self.jobs.iter().map(ToString::to_string).collect();
        format!("resolve {} --seen", jobs.join(" "))
    }
}

/// What needs a person, the gravest first.
pub(super) fn needs(facts: &Facts, state: RunState, commands: &Commands<'_>) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut put = |cause, count, words: String, command: &str| {
        needs.push(Need { cause, count, words: words.into(), command: commands.again.command(command) });
    };
    let held = facts.tally.in_state(JobState::Held);
    if held > 0 {
        let rows = counted(held, "row needs", "rows need");
        put("held", held, format!("{rows} your decision: check the service first"), "resolve");
    }
    if let Some(rows) = facts.of_paused_sheets() {
        let why: Vec<String> = facts.sheets_left.iter().map(SheetPause::words).collect();
        let them = if why.len() == 1 { "the sheet and run it" } else { "the sheets and run them" };
        let words = format!("{}; correct {them} again, or send the rest anyway", why.join("; "));
        put("set_aside", rows, words, "run --despite-rejections");
    }
    for pause in &facts.sheet_pauses {
        let sheet = pause.words();
        let rows = counted(pause.rows, "more row of it is", "more rows of it are");
        let when = match pause.asked {
            true => "answer the question at the terminal of the run, or, when the run has ended,",
            false => "when the run has ended,",
        };
        let words = format!(
            "{sheet}, and {rows} not sent; {when} correct the sheet and run it again, or send the rest anyway"
        );
        put("set_aside", pause.rows, words, "run --despite-rejections");
    }
    for &UnsentRows { import: number, all: left, .. } in &facts.paused_imports {
        let (left_words, them) =
            (counted(left, "row waits", "rows wait"), if left == 1 { "it" } else { "them" });
        let below = facts.below_paused.get(&number).map_or_else(String::new, |&rows| {
            let below = counted(rows, "row of another import waits", "rows of other imports wait");
            format!(", and {below} for {them}")
        });
        let words = format!("import {number} is paused: {left_words} until you resume it{below}");
        put("import_paused", left, words, &format!("resume {number}"));
    }
    let detail = facts.run.as_ref().and_then(|run| run.detail.as_deref());
    if state == RunState::Ended(End::Canary) {
        let rows = detail.unwrap_or("not all rows are right");
        let words =
            format!("canary: {rows}; correct them and run the sheet again, or send the other rows anyway");
        put("canary", moving(&facts.tally), words, "run --canary 0");
    }
    if let Some(review) = &facts.findings {
        let rows = counted(review.rows(), "row", "rows");
        let what = review.what();
        let words =
            format!("verification found problems with {rows}: review {what}, then mark {what} as reviewed");
        put("read_back", review.rows(), words, &review.command());
    }
    match state {
        // No doctor finds it: the path is known, and whether it is right shows when a row is sent.
        RunState::Ended(end @ End::EndpointMissing) => {
            let what = detail.unwrap_or(end.entry().words);
            let words =
                format!("{what}; set method and path of the operation in the profile, then run again");
            put("stopped", moving(&facts.tally), words, "run");
        }
        RunState::Ended(end) if end.exit() == Exit::Service => {
            let words = "the service stopped the run: find the cause, fix it, then run again".to_owned();
            put("stopped", moving(&facts.tally), words, "doctor");
        }
        RunState::Ended(End::JournalFull) => put("stopped", moving(&facts.tally), room_needed(), "run"),
        RunState::Empty | RunState::NotBegun | RunState::Running | RunState::Ended(_) => {}
    }
    for Unavailable { operation, rows, profile } in &commands.unavailable {
        let words = format!(
            "{} is not available in this account: {}; set [profile.{profile}.endpoints.{operation}], or \
             paths = \"assumed\", and check that it answers",
            purpose(*operation),
            counted(*rows, "row waits", "rows wait")
        );
        put("unavailable", *rows, words, "doctor");
    }
    for import in &facts.imports {
        needs.extend(of_import(import, commands));
    }
    needs
}

/// What a person does about a full disk.
pub fn room_needed() -> String {
    format!("{}: free space on its disk, then run again", End::JournalFull.entry().words)
}

/// What to do about rows of an import that failed, were not imported or differ, and for which no later import answers.
fn of_import(facts: &ImportFacts, commands: &Commands<'_>) -> Vec<Need> {
    let mut needs = Vec::new();
    let (import, rows) = (facts.info.import, &facts.unanswered);
    let of = format!(" of import {import}");
    let mut put = |cause, count, told: String, what: &dyn Fn() -> (Advice, String)| {
        if count > 0 {
            let (words, command) = what();
            let words = Advice::from(format!("{told}: ")).join(&words);
            needs.push(Need { cause, count, words, command });
        }
    };
    let were =
        |rows, what: &str| counted(rows, &format!("row{of} was {what}"), &format!("rows{of} were {what}"));
    let correction = LazyCell::new(|| (commands.correction)(facts));
    let correct = |rows: (u64, u64, u64), retry: Advice| {
        let (words, command) = to_correct(facts, rows, &correction, commands);
        (retry.words(words), command)
    };
    let retry = |state| to_retry(facts, |of| of == state, commands.again);
    put("rejected", rows.refused, were(rows.refused, "rejected"), &|| match facts.exist_already() {
        true => of_existing(import, commands.again),
        false => correct((rows.refused, 0, facts.unsent()), retry(JobState::Rejected)),
    });
    let what = "carried out in part, but a later step failed";
    put("incomplete", rows.incomplete, were(rows.incomplete, what), &|| {
        correct((rows.incomplete, 0, 0), retry(JobState::Incomplete))
    });
    let told = not_imported(&of, rows.left_out, rows.along);
    put("left_out", rows.left_out + rows.along, told, &|| {
        correct((rows.left_out, rows.along, 0), Advice::new())
    });
    let told = were(facts.below_cancelled, "skipped because of a cancelled row");
    put("skipped", facts.below_cancelled, told, &|| of_below_cancelled(import, commands.again));
    if facts.differing > 0 {
        needs.push(Need {
            cause: "differs",
            count: facts.differing,
            words: format!(
                "{} of import {import} {} from what was imported earlier: the report lists the columns; put the \
                 earlier values into the sheet, give a row that is another record a key and a name of its own, or, where it \
                 is the same company, site or device and the service can change the column, write update into a column \
                 action of the row",
                counted(facts.differing, "row", "rows"),
                if facts.differing == 1 { "differs" } else { "differ" }
            )
            .into(),
            command: commands.again.command(&format!("report {import}")),
        });
    }
    needs
}

/// How rows of an import in these states are sent again as they are, in words, where their codes allow that.
fn to_retry(facts: &ImportFacts, is_wanted: impl Fn(JobState) -> bool, again: &Again) -> Advice {
    let import = facts.info.import;
    // Those whose own values were not sent would be sent with the earlier ones again.
    let may_help = |rows: &&UnansweredRows| !rows.is_unsent && may_be_retried(&rows.code, rows.state);
    let mut of_state = facts.codes.iter().filter(|rows| is_wanted(rows.state));
    if facts.codes.iter().all(|known| may_help(&known)) {
        return match of_state.next() {
            Some(_) => Advice::from("where no cell is wrong and the cause is gone, type ")
                .command(again.command(&format!("retry {import}")))
                .words("; otherwise "),
            None => Advice::new(),
        };
    }
    let is_unsent = |code: &str| facts.codes.iter().any(|rows| rows.is_unsent && rows.code == code);
    let codes = of_state.filter(may_help).map(|rows| rows.code.as_str());
    let codes = codes.filter(|code| !code.is_empty() && !is_unsent(code));
    // Rows in two states may have the same.
    let codes: BTreeSet<&str> = codes.collect();
    if codes.is_empty() {
        return Advice::new();
    }
    let which = codes.iter().copied().collect::<Vec<_>>().join(" or ");
    let words = format!("where the code is {which}, no cell is wrong and the cause is gone, type ");
    let or = |(at, code): (usize, &&str)| {
        let command = again.command(&format!("retry {import} --code {code}"));
        Advice::from(if at == 0 { "" } else { " or " }).command(command)
    };
    let commands = codes.iter().enumerate().map(or);
    commands.fold(Advice::from(words), |advice, command| advice.join(&command)).words("; otherwise ")
}

/// What to do about rows whose records the service has and that the profile rejects, and the command for the last of it.
fn of_existing(import: ImportId, again: &Again) -> (Advice, String) {
    let words = Advice::from(
        "to take the records that are there, set on_existing = \"adopt\" in the profile and type ",
    )
    .command(again.command(&format!("retry {import}")))
    .words("; to leave them as they are, when the other rows of the import are done, cancel the import");
    (words, again.command(&format!("cancel {import}")))
}

/// What to do about rows that depend on one that was cancelled, and the command for the last of it.
fn of_below_cancelled(import: ImportId, again: &Again) -> (Advice, String) {
    let words = "change that row and import it again, or, when the other rows of the import are done, cancel the import";
    (words.into(), again.command(&format!("cancel {import}")))
}

/// How rows of an import are corrected, and the command for it; `own` are those with something to correct, or, those
/// `unsent`, to be sent as they are; the others come along.
fn to_correct(
    facts: &ImportFacts,
    (own, along, unsent): (u64, u64, u64),
    correction: &Correction,
    commands: &Commands<'_>,
) -> (String, String) {
    let them = if own == 1 || (own, along) == (0, 1) { "it" } else { "them" };
    if correction.is_there {
        let fix = &correction.fix;
        let fix_name = fix.display();
        let words = match (own, unsent) {
            (0, _) => format!("to import {them} again, run {fix_name}"),
            (_, 0) => format!("correct {them} in {fix_name}, then run that file"),
            (1, 1) => format!("its values were not sent: leave it as it is and run {fix_name}"),
            _ if own <= unsent => {
                format!("their values were not sent: leave them as they are and run {fix_name}")
            }
            _ => format!(
                "correct them in {fix_name}, except {} whose values were not sent, then run that file",
                counted(unsent, "row", "rows")
            ),
        };
        (words, correction.again.with_file("run", fix))
    } else {
        let words = format!("write the report, which has {them} in fix.xlsx");
        (words, commands.again.command(&format!("report {}", facts.info.import)))
    }
}

/// The command that goes on with a run that ended early: what was typed for that one holds only if it is typed again.
fn go_on(facts: &Facts, again: &Again) -> String {
    let early = facts.run.as_ref().filter(|run| run.ending != Some(RunEnd::Finished));
    again.command(&format!("run{}", early.map_or("", |run| &run.typed)))
}

/// Imports of which the next steps name the rows to correct, one by one.
const NAMED: usize = 5;

/// What to type next, by how the rows stand; nothing while a run is at work on them, except in a report, and where a paused
/// sheet tells how it is decided. Each import with rows to correct, or that differ, has a step of its own, after that for the
/// others.
pub(super) fn next(facts: &Facts, (state, at_work): (RunState, bool), commands: &Commands<'_>) -> Vec<Step> {
    let again = commands.again;
    let step = |words: &str, command: String| vec![Step { words: words.to_owned(), command }];
    // A report is read without the command that wrote it.
    let at_work_step = || match commands.in_report {
        true => step("a run is at work on the rest. To see how far it is", again.command("status")),
        false => Vec::new(),
    };
    let Some(last) = facts.imports.last() else { return step("", again.command("run SHEET.xlsx")) };
    if state == RunState::Ended(End::SheetPaused) {
        return Vec::new();
    }
    let goes_on_alone = at_work || commands.is_watched;
    let ended = facts.run.as_ref().and_then(|run| run.ending);
    // Rows of an import may wait for those of another one that can be sent.
    let goes_on = moving(&facts.tally) > facts.paused || state == RunState::Ended(End::RowsWaiting);
    if goes_on && (at_work || ended != Some(RunEnd::Early(End::Canary))) {
        let words = match state {
            RunState::Ended(end) if end.exit() == Exit::Service => "when the cause is fixed",
            RunState::Ended(End::JournalFull) => "when there is space on the journal's disk",
            _ => "to go on",
        };
        return if goes_on_alone { at_work_step() } else { step(words, go_on(facts, again)) };
    }
    let is_left = |import: &&ImportFacts| {
        !import.unanswered.is_empty() || import.differing > 0 || import.below_cancelled > 0
    };
    let to_correct: Vec<&ImportFacts> = facts.imports.iter().filter(is_left).collect();
    let mut steps = Vec::new();
    if let Some(UnsentRows { import: paused, .. }) = facts.paused_imports.first().filter(|_| facts.paused > 0)
    {
        steps = step("to let its rows go on", again.command(&format!("resume {paused}")));
    } else if facts.unread > 0 {
        return if goes_on_alone { at_work_step() } else { step("to verify the rest", go_on(facts, again)) };
    } else if facts.tally.in_state(JobState::Held) > 0 {
        // What needs a person says how they are decided.
    } else if to_correct.is_empty()
        && !commands.in_report
        && ended == Some(RunEnd::Early(End::Canary))
        && moving(&facts.tally) > 0
    {
        steps = step(
            "a canary is not right, and no other row is sent before it is. Which rows it is, and why",
            again.command("status"),
        );
    } else if let (true, Some((_, by))) = (to_correct.is_empty(), last.unanswered.answered.last()) {
        steps = step("the rows that failed were imported again", again.command(&format!("status {by}")));
    } else if commands.in_report {
        return steps;
    } else if let Some(review) = &facts.findings {
        let words = match review.rows() {
            1 => "when you have reviewed what verification found".to_owned(),
            _ => format!("when you have reviewed {}", review.what()),
        };
        steps = step(&words, again.command(&review.command()));
    } else if to_correct.is_empty() {
        steps = step("the report", again.command(&format!("report {}", last.info.import)));
    }
    if !commands.in_report {
        steps.extend(corrections(&to_correct, commands));
    }
    steps
}

/// A step for each of the first imports with rows to correct, and one for the rest.
fn corrections(to_correct: &[&ImportFacts], commands: &Commands<'_>) -> Vec<Step> {
    let mut steps: Vec<Step> =
        to_correct.iter().take(NAMED).map(|import| correct(import, commands)).collect();
    if to_correct.len() > NAMED {
        let rest = (to_correct.len() - NAMED) as u64;
        let imports = counted(rest, "more import", "more imports");
        steps.push(Step {
            words: format!("what to correct in {imports}"),
            command: commands.again.command("status --unfinished"),
        });
    }
    steps
}

/// How the rows of an import are corrected, or sent again as they are.
fn correct(facts: &ImportFacts, commands: &Commands<'_>) -> Step {
    let (import, rows) = (facts.info.import, &facts.unanswered);
    let report = || commands.again.command(&format!("report {import}"));
    if rows.is_empty() && facts.differing == 0 {
        let (words, command) = of_below_cancelled(import, commands.again);
        return Step { words: format!("rows were skipped because of a cancelled row: {words}"), command };
    }
    if rows.is_empty() {
        return Step { words: "the report lists the columns that differ".to_owned(), command: report() };
    }
    if facts.exist_already() && rows.total() == rows.refused {
        let (words, command) = of_existing(import, commands.again);
        return Step { words: words.to_string(), command };
    }
    let correction = (commands.correction)(facts);
    let fix = correction.fix.display();
    let how = match (correction.is_there, rows.total() > rows.along) {
        (true, true) if facts.unsent() >= rows.total() => "to send the values that were not sent".to_owned(),
        (true, true) if facts.unsent() > 0 => {
            format!("correct the rows in {fix}, except those whose values were not sent, then")
        }
        (true, true) => format!("correct the rows in {fix}, then"),
        (true, false) => "to import the rows again".to_owned(),
        (false, _) => "write the report, which has the rows in fix.xlsx".to_owned(),
    };
    let command = match correction.is_there {
        true => correction.again.with_file("run", &correction.fix),
        false => report(),
    };
    let retry = to_retry(facts, |_| true, commands.again);
    Step { words: format!("{retry}{how}"), command }
}

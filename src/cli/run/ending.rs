//! The end of a run: reports written, counts shown, how it ended, what to type next, and the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;

use super::reports::{self, KeptFile};
use crate::advice::Advice;
use crate::cli::context::Context;
use crate::cli::notify::draft::RunEnded;
use crate::cli::notify::notifier::Notifier;
use crate::cli::status::counts;
use crate::cli::status::next_commands::tell_next;
use crate::cli::status::review;
use crate::cli::status::{ink, waited_for};
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{
    AuditFigures, AuditScope, Audited, CanaryRow, CanaryVerification, ImportInfo, Journal, RunId,
};
use crate::model::amount::listed;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Plural;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::{Moment, Rfc3339};
use crate::run::{Ending, LeftSheet};
use crate::status::run_state::{end_of_rows, is_failure, worse};
use crate::status::{Status, Step, Wording};
use crate::term::{Ink, Line, counted};

/// The workbook of rows to correct of each import that has one, and the command that runs it.
type Fixes = BTreeMap<ImportId, (PathBuf, String)>;

/// What a run came to, and what it was about.
pub(super) struct Ended<'a> {
    pub(in crate::cli) ending: &'a Ending,
    /// The last run before this command.
    pub(in crate::cli) earlier: Option<RunId>,
    /// Which records this command reads back; `None` for none.
    pub(in crate::cli) scope: Option<AuditScope>,
    /// The import of its sheets; without any a run speaks of the whole journal.
    pub(in crate::cli) imported: Option<ImportId>,
    pub(super) concerned: &'a [ImportId],
    /// Who tells others.
    pub(super) notifier: &'a Notifier,
}

/// Writes the reports, says how it ended and what to type next.
pub(super) fn conclude(context: &Context<'_>, journal: &Journal, ended: &Ended<'_>) -> Result<Summary> {
    let concerned = with_read_back(journal, ended.concerned)?;
    let read_back = ReadBack::since(journal, ended.earlier, ended.scope)?;
    let left = ended.imported.map(|import| earlier_rounds_to_correct(journal, import));
    let left = left.transpose()?.unwrap_or_default();
    let (rows, failed) = worst_of_rows(journal, ended, &left)?;
    let rows = match rows {
        End::Done | End::RowsFailed if read_back.unseen().next().is_some() => End::Verification,
        end => end,
    };
    let is_all_of = |import: ImportId| failed.iter().all(|failed| *failed == import);
    // A row may be in several imports, so their counts are not added up.
    let about = match concerned.as_slice() {
        &[import] if is_all_of(import) => Some(import),
        _ => None,
    };
    let (end, resumes_at) = judged(ended.ending, rows);
    let exit = end.exit();
    let terminal = context.terminal;
    context.tell_whose(&journal.whose()?);
    if ended.imported.is_some() && about.is_none() {
        terminal.result("rows of all imports in the journal:");
    }
    let standing = Status::after(journal, about, end, resumes_at)?;
    for line in counts::table(&standing.all_rows(), standing.left_out(), terminal.result_columns()) {
        terminal.result(line);
    }
    let cancelled = counts::cancelled_with_record(journal, about, standing.tally())?;
    cancelled.into_iter().for_each(|line| terminal.result(line));
    let (mut folders, mut kept) = (Vec::new(), Vec::new());
    let mut fixes = Fixes::new();
    for &import in &concerned {
        // As `report` writes it.
        let (written, again) =
            reports::write(context, journal, import, &reports::standing(journal, import)?)?;
        folders.push(written.folder.display().to_string());
        kept.extend(reports::kept(&written));
        if let Some(file) = written.fix {
            let command = again.with_file("run", &file);
            fixes.insert(import, (file, command));
        }
    }
    kept.extend(reports::renew(context, journal, &concerned)?.iter().flat_map(reports::kept));
    if exit == Exit::Held || exit == Exit::Rejections || exit == Exit::Done {
        // A row of several imports is one job.
        let import = match concerned.as_slice() {
            [import] => Some(*import),
            _ => None,
        };
        review::tell(context, journal, import)?;
    }
    read_back.tell(context);
    // How it ended is said of the import of this command, where its rows alone decide that.
    let of_import = match ended.imported.or(about).filter(|import| is_all_of(*import)) {
        Some(import) => Some(Status::now(journal, Some(import), context.now())?),
        None => None,
    };
    let of_import = of_import.filter(|status| status.end() == end && ended.ending.early().is_none());
    // Where another import is paused, that is said as well.
    let paused_elsewhere = journal.paused_rows(None)? != journal.paused_rows(ended.imported.or(about))?;
    let of_import = of_import.filter(|_| !paused_elsewhere);
    let named = ended.imported.filter(|_| of_import.is_some() && about.is_none());
    let status = match of_import {
        Some(status) => status,
        None => Status::after(journal, about, end, resumes_at)?,
    };
    let words = ending_words(context, ended.ending, &status);
    // The table above has the rows of others too.
    let text = named.map_or_else(|| words.clone(), |import| format!("import {import}: {words}"));
    let told = tell_ending(context, ended.ending, (&status, &text), &fixes);
    review::tell_how_to_review(context, read_back.unseen().map(|finding| finding.job).collect(), &told);
    for import in left.into_iter().filter(|_| ended.ending.early().is_none()) {
        let words = format!("to cancel the rows of import {import} that are still to be corrected: ");
        terminal.hint(context.advice(words, &format!("cancel {import}")));
    }
    let imports: Vec<ImportId> = concerned.iter().chain(&failed).copied().collect();
    let told = RunEnded { end, text: &text, status: &status, imports: &imports, resumes_at };
    ended.notifier.ended(context, journal, &told);
    Ok(Summary::new(end).with(&RunSummary {
        imports: concerned,
        rows: standing.tally().total(),
        counts: standing.tally().by_state(),
        left_out: standing.left_out().total(),
        changed_since: journal.differing(about)?,
        failed,
        audit: read_back.figures,
        findings_unseen: read_back.unseen().count(),
        resumes_at: resumes_at.map(Rfc3339),
        reports: folders,
        kept,
    }))
}

/// The worst ending of the rows that the command is about, and the imports of which rows failed; `left` are the
/// earlier rounds of its import of which rows are still to be corrected.
fn worst_of_rows(journal: &Journal, ended: &Ended<'_>, left: &[ImportId]) -> Result<(End, Vec<ImportId>)> {
    let mut failed = BTreeSet::new();
    let worst = match ended.imported {
        None => {
            let whole = Status::after(journal, None, End::Done, None)?;
            failed.extend(
                whole.imports().iter().filter(|facts| facts.has_failed()).map(|facts| facts.info.import),
            );
            let of_jobs = end_of_rows(
                &journal.tally(None)?,
                journal.paused_rows(None)?,
                journal.differing(None)?,
                false,
            );
            // Rows that were not imported have no job.
            worse(of_jobs, whole.end_to_check())
        }
        Some(_) => {
            failed.extend(left);
            if left.is_empty() { End::Done } else { End::RowsFailed }
        }
    };
    let (mut rows, mut paused, mut differ) = (Tally::default(), 0, 0);
    for &import in ended.concerned {
        // A row that an earlier import left out is no work of this one.
        let (tally, differing) = match ended.imported {
            Some(imported) if import != imported => (journal.tally_of_jobs(import)?, 0),
            Some(_) => (journal.tally(Some(import))?, journal.differing(Some(import))?),
            None => (journal.tally(Some(import))?, 0),
        };
        rows.add_all(&tally);
        paused += journal.paused_rows(Some(import))?;
        differ += differing;
        if ended.imported.is_some() && (differing > 0 || tally.count(is_failure) > 0) {
            failed.insert(import);
        }
    }
    let worst = worse(worst, end_of_rows(&rows, paused, differ, false));
    Ok((worst, failed.into_iter().collect()))
}

/// The earlier rounds of an import of which rows are still to be corrected.
fn earlier_rounds_to_correct(journal: &Journal, import: ImportId) -> Result<Vec<ImportId>> {
    let infos = journal.imports()?;
    let first = infos.iter().find(|info| info.import == import).map(ImportInfo::first_round);
    let mut found = Vec::new();
    for info in infos.iter().filter(|info| info.import < import && Some(info.first_round()) == first) {
        let round = Status::after(journal, Some(info.import), End::Done, None)?;
        if round.imports().iter().any(|facts| !facts.unanswered.is_empty()) {
            found.push(info.import);
        }
    }
    Ok(found)
}

/// The imports that the command is about, with those that were finished before and of which something was found when
/// it was read back.
fn with_read_back(journal: &Journal, concerned: &[ImportId]) -> Result<Vec<ImportId>> {
    let mut concerned = concerned.to_vec();
    for info in journal.imports()? {
        if !concerned.contains(&info.import) && !journal.unseen_findings(Some(info.import))?.is_empty() {
            concerned.push(info.import);
        }
    }
    Ok(concerned)
}

/// What reading back has shown.
struct ReadBack {
    figures: AuditFigures,
    /// What the runs of this command found, that included which somebody has looked into meanwhile.
    found: Vec<Audited>,
    /// What earlier runs found and nobody has looked into yet.
    found_earlier: Vec<Audited>,
}

impl ReadBack {
    /// As the journal has it; `earlier` is the last run before this command, `scope` what it reads back.
    fn since(journal: &Journal, earlier: Option<RunId>, scope: Option<AuditScope>) -> Result<Self> {
        let mut figures = journal.audited_after(earlier)?.unwrap_or_default();
        let (found, mut found_earlier): (Vec<_>, Vec<_>) = journal
            .audit_findings(None, None)?
            .into_iter()
            .partition(|finding| earlier.is_none_or(|earlier| finding.run > earlier));
        found_earlier.retain(|finding| finding.seen.is_none());
        // A run that was killed noted its findings, but not how many.
        figures.set_findings(&found);
        // A run that ended early did not count what it left.
        if let Some(scope) = scope {
            figures.set_unread(journal.count_unaudited(scope)?);
        }
        Ok(Self { figures, found, found_earlier })
    }

    /// The findings that nobody has looked into yet.
    fn unseen(&self) -> impl Iterator<Item = &Audited> {
        self.found.iter().chain(&self.found_earlier).filter(|finding| finding.seen.is_none())
    }

    /// Tells them, and what to do about them.
    fn tell(&self, context: &Context<'_>) {
        if self.figures != AuditFigures::default() {
            review::tell_verified(context, &self.figures, &self.found);
            if self.figures.not_checked + self.figures.changes_not_checked > 0 {
                context.terminal.hint(context.advice("to see which rows could not be verified: ", "status"));
            }
        }
        review::tell_earlier_findings(context, &self.found_earlier);
    }
}

/// How the command ended, and when it can go on: as the run did when that ended early, else as the rows stand.
fn judged(ending: &Ending, rows: End) -> (End, Option<Moment>) {
    let resumes_at = match ending {
        Ending::Parked { until, .. } => Some(*until),
        Ending::Finished
        | Ending::SheetsLeft { .. }
        | Ending::CanaryWrong { .. }
        | Ending::Interrupted { .. }
        | Ending::Stopped { .. } => None,
    };
    (ending.early().unwrap_or(rows), resumes_at)
}

/// How it ended, in one sentence.
fn ending_words(context: &Context<'_>, ending: &Ending, status: &Status) -> String {
    if let Ending::Stopped { why, .. } = ending {
        return format!("stopped: {why}; the rows not sent stay ready");
    }
    let until = |until: Moment| waited_for(&context.here, until, context.now());
    status.sentence(&Wording { until: &until, running: None })
}

/// Says how it ended, and what to type next; that, as far as it follows from how the rows stand.
fn tell_ending(
    context: &Context<'_>,
    ending: &Ending,
    (status, text): (&Status, &str),
    fixes: &Fixes,
) -> Vec<Step> {
    if let Ending::Stopped { end, hint, .. } = ending {
        let error = if *end == End::UnknownIds { Error::sheets(text) } else { Error::service(text) };
        let error = error.ending(*end);
        let hint = Advice::from(hint.as_str()).words("\nthen: ").command(context.again("run"));
        context.terminal.error(&error.hint(hint));
        return Vec::new();
    }
    context.terminal.result(Line::new().ink(ink(status), text));
    match ending {
        Ending::SheetsLeft { sheets } => tell_sheets_left(context, sheets, fixes),
        Ending::CanaryWrong { rows, of } => tell_canary(context, (rows, *of), fixes),
        Ending::Finished | Ending::Parked { .. } | Ending::Interrupted { .. } | Ending::Stopped { .. } => {
            return tell_next(context, status);
        }
    }
    Vec::new()
}

/// Rows of a canary that are listed at most.
const LISTED: usize = 20;

/// Rows of the canary are not as they should be: which, why, and the ways on.
fn tell_canary(context: &Context<'_>, (rows, of): (&[CanaryRow], u64), fixes: &Fixes) {
    let terminal = context.terminal;
    let are = if rows.len() == 1 { "is" } else { "are" };
    terminal.result(Line::new().ink(Ink::Warning, "canary").text(format!(
        ": {} of {} {are} not right; no other row was sent",
        rows.len(),
        counted(of, "row", "rows")
    )));
    for row in rows.iter().take(LISTED) {
        let state = match row.verification {
            CanaryVerification::Due => format!("{}, not verified yet", row.state),
            CanaryVerification::Problem => format!("{}, with a verification finding", row.state),
            CanaryVerification::Done | CanaryVerification::Impossible => row.state.to_string(),
        };
        let why: Vec<&str> = row.code.iter().chain(&row.message).map(String::as_str).collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(": ")) };
        terminal.result(format!(
            "  job {}, {} '{}', {}: {state}{why}",
            row.job,
            row.kind.singular(),
            row.name,
            row.place
        ));
        terminal.object(&CanaryRowObject {
            job: row.job,
            kind: Plural(row.kind),
            name: &row.name,
            source: &row.place,
            status: row.state,
            code: row.code.as_deref(),
            message: row.message.as_deref(),
        });
    }
    if rows.len() > LISTED {
        terminal.result(format!("  and {} more", rows.len() - LISTED));
    }
    let has_state = |state: JobState| rows.iter().any(|row| row.state == state);
    let unread = rows.iter().any(|row| row.verification == CanaryVerification::Due);
    let mut advice = Advice::new();
    let mut say = |words: &str, command: String| {
        advice = std::mem::take(&mut advice).words(words).command(command).words("\n");
    };
    let failed: BTreeSet<ImportId> =
        rows.iter().filter(|row| is_failure(row.state)).map(|row| row.import).collect();
    for (file, command) in failed.iter().filter_map(|import| fixes.get(import)) {
        say(&format!("to correct the rows in {} and go on: ", file.display()), command.clone());
    }
    if has_state(JobState::Held) {
        say("to decide the rows on hold: ", context.again("resolve"));
    }
    if unread {
        say("to verify the rows again: ", context.again("run"));
    }
    terminal.hint(advice.words("to send the other rows anyway: ").command(context.again("run --canary 0")));
}

/// Sheets were set aside: what the service said of each, and the ways on.
fn tell_sheets_left(context: &Context<'_>, sheets: &[LeftSheet], fixes: &Fixes) {
    let terminal = context.terminal;
    for left in sheets {
        let (words, rows) = (left.pause.words(), left.pause.rows);
        terminal.result(Line::new().ink(Ink::Warning, words).text(format!(": {}", left.message)));
        terminal.result(format!(
            "{} not sent and {} ready",
            counted(rows, "of its rows was", "of its rows were"),
            if rows == 1 { "stays" } else { "stay" }
        ));
    }
    // The rows that were not sent may have the same mistake; a sheet to fix has none of them.
    let sheet =
        "if more of its rows have this mistake, correct it in the sheet itself and run that again".to_owned();
    let imports: BTreeSet<ImportId> = sheets.iter().map(|left| left.pause.import).collect();
    let files = imports.iter().filter_map(|import| fixes.get(import));
    let files: Vec<String> = files.map(|(file, _)| file.display().to_string()).collect();
    let refused = match listed(&files) {
        Some(files) => format!("{sheet}; only the rows rejected so far are in {files}"),
        None => sheet,
    };
    let mut advice = Advice::from(refused)
        .words("\nto send its other rows anyway: ")
        .command(context.again("run --despite-rejections"))
        .words("\nto cancel them: ");
    for (number, import) in imports.iter().enumerate() {
        advice = advice
            .words(if number == 0 { "" } else { ", " })
            .command(context.again(&format!("cancel {import}")));
    }
    terminal.hint(advice);
}

/// What a run came to.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RunSummary {
    /// The imports that it was about.
    imports: Vec<ImportId>,
    /// All rows of the import; of the journal where it was about several, or where rows of others failed.
    rows: u64,
    /// These rows in each state.
    counts: BTreeMap<JobState, u64>,
    /// Rows that were not imported because of errors, or with what they belong to, and that did not come again. Of one import
    /// they are among `rows` and `counts`, of the journal they are not.
    left_out: u64,
    /// Rows that differ from what was imported earlier.
    changed_since: u64,
    /// The imports of which rows were rejected, skipped or not imported, or differ: exit code 4 speaks of them.
    failed: Vec<ImportId>,
    /// What verification came to in this run, of whatever import; `counts` and `left_out` are of all runs.
    audit: AuditFigures,
    /// Findings of verification that nobody has reviewed.
    findings_unseen: usize,
    /// When the rows go on.
    resumes_at: Option<Rfc3339>,
    /// The folders of the reports.
    reports: Vec<String>,
    /// Fix files with corrections, which have another name now.
    kept: Vec<KeptFile>,
}

/// A row of the canary that is not right.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CanaryRowObject<'a> {
    job: JobId,
    kind: Plural,
    /// Its name, as names are compared.
    name: &'a str,
    /// `file!sheet!row` of the row.
    source: &'a str,
    status: JobState,
    /// What is wrong; docs/codes.md explains the codes.
    code: Option<&'a str>,
    /// The same in words.
    message: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_command_ends_follows_from_the_run_and_then_from_the_rows() {
        let until = Moment::from_millis(1);
        let parked = Ending::Parked { end: End::Quota, until, why: String::new() };
        let closed = Ending::Parked { end: End::Window, until, why: String::new() };
        let interrupted = |by| Ending::Interrupted { by, why: String::new() };
        let stopped = |end| Ending::Stopped { end, why: String::new(), hint: String::new() };
        let left = Ending::SheetsLeft { sheets: Vec::new() };
        let table = [
            (left, End::RowsWaiting, "sheet-paused", "held", 8),
            (Ending::CanaryWrong { rows: Vec::new(), of: 0 }, End::RowsWaiting, "canary", "held", 8),
            (Ending::Finished, End::Done, "done", "finished", 0),
            (Ending::Finished, End::RowsFailed, "rows-failed", "finished", 4),
            (Ending::Finished, End::RowsHeld, "rows-held", "held", 8),
            (Ending::Finished, End::RowsWaiting, "rows-waiting", "waiting", 5),
            (parked.clone(), End::RowsHeld, "quota", "parked", 5),
            (closed, End::RowsWaiting, "window", "parked", 5),
            (interrupted(End::Signal), End::RowsFailed, "signal", "stopped", 5),
            (interrupted(End::Until), End::RowsWaiting, "until", "stopped", 5),
            (stopped(End::Unreachable), End::Done, "unreachable", "stopped", 7),
            (stopped(End::EndpointMissing), End::Done, "endpoint-missing", "stopped", 7),
        ];
        for (ending, rows, reason, state, code) in table {
            let (end, _) = judged(&ending, rows);
            let got = (end.as_str(), end.state().as_str(), end.exit().code());
            assert_eq!(got, (reason, state, code), "{ending:?} {rows:?}");
        }
        assert_eq!(judged(&parked, End::Done).1, Some(until));
    }
}

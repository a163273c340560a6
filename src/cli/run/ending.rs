//! The end of a run: reports written, counts shown, how it ended, what to type next, and the exit code.

use std::path::PathBuf;

use serde_json::json;

use super::reports;
use crate::cli::context::Context;
use crate::cli::status::audit;
use crate::cli::status::counts;
use crate::cli::status::held;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{AuditFigures, AuditScope, Audited, Journal, RunId};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::report::Standing;
use crate::run::{Ending, LeftSheet};
use crate::term::{Ink, Line, counted};

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
}

/// Writes the reports, says how it ended and what to type next.
pub(super) fn conclude(context: &Context<'_>, journal: &Journal, ended: &Ended<'_>) -> Result<Summary> {
    let unread = ended.scope.map_or(Ok(0), |scope| journal.count_unaudited(scope))?;
    let concerned = with_read_back(journal, ended.concerned)?;
    let read_back = ReadBack::since(journal, ended.earlier)?;
    let rows = end_of_rows(worst_of_rows(journal, ended)?, read_back.first().is_some());
    // A row may be in several imports, so their counts are not added up.
    let sum = match concerned.as_slice() {
        [import] => journal.tally(Some(*import))?,
        _ => journal.tally(None)?,
    };
    let (end, resumes_at) = judged(ended.ending, rows);
    let exit = end.exit();
    let standing = Standing { end, exit_code: exit.code(), resumes_at };
    let terminal = context.terminal;
    context.tell_whose(&journal.whose()?);
    let not_imported = match concerned.as_slice() {
        [import] => journal.left_out_tally(Some(*import))?,
        _ => Tally::default(),
    };
    for line in counts::table(&sum, &not_imported) {
        terminal.result(line);
    }
    let (mut folders, mut kept) = (Vec::new(), Vec::new());
    let mut fix: Option<(PathBuf, String)> = None;
    for &import in &concerned {
        let (written, again) = reports::write(context, journal, import, &standing)?;
        folders.push(written.folder.display().to_string());
        kept.push(reports::kept_object(&written));
        let with_command = |file: PathBuf| {
            let command = again.with_file("run", &file);
            (file, command)
        };
        fix = written.fix.map(with_command).or(fix);
    }
    kept.extend(reports::renew(context, journal, &concerned)?.iter().map(reports::kept_object));
    if exit == Exit::Held || exit == Exit::Rejections || exit == Exit::Done {
        for &import in &concerned {
            held::tell(context, journal, Some(import))?;
        }
    }
    read_back.tell(context, unread);
    let differing = journal.differing(match concerned.as_slice() {
        [import] => Some(*import),
        _ => None,
    })?;
    let left = left(counts::moving(&journal.tally(None)?), unread);
    let told = Told {
        fix: fix.as_ref(),
        found: read_back.first().is_some(),
        left,
        no_rows: !concerned.is_empty() && sum.total() == 0,
        differing,
        failed: sum.count(|state| state.is_failed() || state == JobState::Skipped),
    };
    tell_ending(context, ended.ending, exit, &told);
    Ok(Summary::new(end).with_all(json!({
        "imports": concerned, "rows": sum.total(),
        "counts": counts::object(&sum), "changed_since": differing, "audit": read_back.figures,
        "findings_unseen": read_back.found.len() + read_back.found_earlier.len(),
        "resumes_at": resumes_at.map(|at| at.to_string()),
        "reports": folders, "kept": kept.iter().flat_map(|of_import| of_import.as_array()).flatten().collect::<Vec<_>>(),
    })))
}

/// The worst of what became of the rows that the command is about.
fn worst_of_rows(journal: &Journal, ended: &Ended<'_>) -> Result<Exit> {
    let mut worst = match ended.imported {
        None => counts::exit_with(&journal.tally(None)?, journal.differing(None)?),
        Some(_) => Exit::Done,
    };
    for &import in ended.concerned {
        // A row that an earlier import left out is no work of this one.
        let tally = match ended.imported {
            Some(imported) if import != imported => journal.tally_of_jobs(import)?,
            Some(_) | None => journal.tally(Some(import))?,
        };
        let differing = match ended.imported {
            Some(imported) if import == imported => journal.differing(Some(import))?,
            Some(_) | None => 0,
        };
        worst = worse(worst, counts::exit_with(&tally, differing));
    }
    Ok(worst)
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

/// What reading back has shown and nobody has looked into yet.
struct ReadBack {
    figures: AuditFigures,
    /// What the runs of this command found.
    found: Vec<Audited>,
    found_earlier: Vec<Audited>,
}

impl ReadBack {
    /// As the journal has it; `earlier` is the last run before this command.
    fn since(journal: &Journal, earlier: Option<RunId>) -> Result<Self> {
        let mut figures = journal.audited_after(earlier)?.unwrap_or_default();
        let (found, found_earlier): (Vec<_>, Vec<_>) = journal
            .unseen_findings(None)?
            .into_iter()
            .partition(|finding| earlier.is_none_or(|earlier| finding.run > earlier));
        // A run that was killed noted its findings, but not how many.
        figures.set_findings(&found);
        Ok(Self { figures, found, found_earlier })
    }

    /// The first of all findings.
    fn first(&self) -> Option<&Audited> {
        self.found.first().or(self.found_earlier.first())
    }

    /// Tells them, and what to do about them; `unread` records are still to be read back.
    fn tell(&self, context: &Context<'_>, unread: u64) {
        if self.figures != AuditFigures::default() {
            audit::tell(context, &self.figures, &self.found);
            // Only what the next run asks for as well: it has the same profile.
            if self.figures.not_verified_yet > 0 && unread > 0 {
                let again = context.again("run");
                context.terminal.hint(format!("to verify the rest: {again}"));
            }
        }
        audit::tell_earlier(context, &self.found_earlier);
        audit::tell_how_to_end(context, self.first());
    }
}

/// How the command ended, and when it can go on: as the run did when that ended early, else as the rows stand.
fn judged(ending: &Ending, rows: End) -> (End, Option<Moment>) {
    let resumes_at = match ending {
        Ending::Parked { until, .. } => Some(*until),
        Ending::Finished
        | Ending::SheetsLeft { .. }
        | Ending::Interrupted { .. }
        | Ending::Stopped { .. } => None,
    };
    (ending.early().unwrap_or(rows), resumes_at)
}

/// How a command ends whose rows stand like this; `found` says whether verification has found something.
pub(in crate::cli) fn end_of_rows(rows: Exit, found: bool) -> End {
    match rows {
        Exit::Parked => End::RowsWaiting,
        Exit::Held => End::RowsHeld,
        Exit::Rejections | Exit::Done if found => End::Verification,
        Exit::Rejections => End::RowsFailed,
        Exit::Done | Exit::Failed | Exit::Usage | Exit::Sheets | Exit::Journal | Exit::Service => End::Done,
    }
}

/// The worse of two exit codes: work left before a person, a person before refusals.
fn worse(left: Exit, right: Exit) -> Exit {
    let weight = |exit: Exit| match exit {
        Exit::Done => 0,
        Exit::Rejections => 1,
        Exit::Held => 2,
        Exit::Parked => 3,
        Exit::Failed | Exit::Usage | Exit::Sheets | Exit::Journal | Exit::Service => 4,
    };
    if weight(right) > weight(left) { right } else { left }
}

/// What a run that was stopped left undone: rows, or records to be read back.
fn left(moving: u64, unread: u64) -> &'static str {
    match (moving, unread) {
        (0, 0) => "nothing is left to be sent",
        (0, _) => "only verification is left",
        _ => "work is left",
    }
}

/// What the words at the end depend on besides how it ended.
struct Told<'a> {
    /// The workbook of the rows to correct, and the command that takes it.
    fix: Option<&'a (PathBuf, String)>,
    /// Whether reading back has found something that nobody has looked into.
    found: bool,
    /// What is left to be done, in words.
    left: &'static str,
    /// Whether there was no row at all.
    no_rows: bool,
    /// Rows that differ from what was created earlier.
    differing: u64,
    /// Rows that were rejected or skipped.
    failed: u64,
}

/// Says how it ended, and what to type next.
fn tell_ending(context: &Context<'_>, ending: &Ending, exit: Exit, told: &Told<'_>) {
    let terminal = context.terminal;
    let again = context.again("run");
    match ending {
        Ending::Finished => tell_finished(context, exit, told),
        Ending::SheetsLeft { sheets } => tell_sheets_left(context, sheets, told.fix),
        Ending::Parked { until, why } => {
            terminal.result(
                Line::new()
                    .ink(Ink::Warning, "parked")
                    .text(format!(" until {}: {why}", context.moment(*until))),
            );
            terminal.hint(format!("then: {again}"));
        }
        Ending::Interrupted { why, .. } => {
            terminal.result(Line::new().ink(Ink::Warning, "stopped").text(format!(" {why}; {}", told.left)));
            terminal.hint(format!("to go on: {again}"));
        }
        Ending::Stopped { end, why, hint } => {
            let error = Error::service(format!("stopped: {why}; the rows not sent stay ready")).ending(*end);
            terminal.error(&error.hint(format!("{hint}\nthen: {again}")));
        }
    }
}

/// Nothing is left that goes on by itself, whatever became of the rows.
fn tell_finished(context: &Context<'_>, exit: Exit, told: &Told<'_>) {
    let terminal = context.terminal;
    match exit {
        Exit::Done => {
            let done = if told.no_rows {
                "the sheets have no rows: there is nothing to do"
            } else {
                "every row is done"
            };
            terminal.result(Line::new().ink(Ink::Good, done));
            terminal.hint(format!("to see it again at any time: {}", context.again("status")));
        }
        Exit::Rejections => {
            if told.failed > 0 || told.differing == 0 {
                terminal.result(
                    Line::new().ink(Ink::Warning, "finished; some rows were rejected, incomplete or skipped"),
                );
            }
            tell_differing(context, told.differing);
            match told.fix {
                Some((fix, run)) => {
                    terminal.hint(format!("correct the rows in {}, then: {run}", fix.display()))
                }
                None if told.failed > 0 => {
                    terminal.hint(format!("which rows failed, and why: {}", context.again("report")));
                }
                None => terminal.hint(format!(
                    "the columns that differ are in the report: {}\n\
                     put the earlier values back into the sheet, or change the records in the service",
                    context.again("report")
                )),
            }
        }
        Exit::Held if told.found => {
            terminal.result(Line::new().ink(Ink::Warning, "finished; review what verification found"))
        }
        Exit::Held => terminal
            .result(Line::new().ink(Ink::Warning, "finished; some rows are on hold and need your decision")),
        Exit::Parked | Exit::Failed | Exit::Usage | Exit::Sheets | Exit::Journal | Exit::Service => {
            terminal.result("work is left that can go on later");
            terminal.hint(format!("to go on: {}", context.again("run")));
        }
    }
}

/// Says how many rows differ from what was created earlier.
fn tell_differing(context: &Context<'_>, differing: u64) {
    if differing > 0 {
        let rows = counted(differing, "row differs", "rows differ");
        let words = format!(
            "finished; {rows} from what was created earlier; nothing was sent for {}",
            if differing == 1 { "it" } else { "them" }
        );
        context.terminal.result(Line::new().ink(Ink::Warning, words));
    }
}

/// Sheets were set aside: what the service said of each, and the ways on.
fn tell_sheets_left(context: &Context<'_>, sheets: &[LeftSheet], fix: Option<&(PathBuf, String)>) {
    let terminal = context.terminal;
    for left in sheets {
        terminal.result(Line::new().ink(Ink::Warning, "paused").text(format!(
            ": the sheet {}. The service rejected {} of its rows in a row with {}: {}",
            left.title, left.times, left.code, left.message
        )));
        terminal.result(format!(
            "{} not sent and {} ready",
            counted(left.unsent, "of its rows was", "of its rows were"),
            if left.unsent == 1 { "stays" } else { "stay" }
        ));
    }
    let refused = fix.map_or_else(
        || "if the sheet is wrong, correct it and run it again".to_owned(),
        |(fix, _)| {
            format!(
                "the rejected rows are in {}; if the sheet is wrong, correct it and run it again",
                fix.display()
            )
        },
    );
    let mut imports: Vec<ImportId> = sheets.iter().map(|left| left.import).collect();
    imports.dedup();
    let cancel: Vec<String> =
        imports.iter().map(|import| context.again(&format!("cancel {import}"))).collect();
    terminal.hint(format!(
        "{refused}\nto send its other rows anyway: {}\nto cancel them: {}",
        context.again("run --despite-rejections"),
        cancel.join(", ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_command_ends_follows_from_the_run_and_then_from_the_rows() {
        let until = Moment::from_millis(1);
        let parked = Ending::Parked { until, why: String::new() };
        let interrupted = |by| Ending::Interrupted { by, why: String::new() };
        let stopped = |end| Ending::Stopped { end, why: String::new(), hint: String::new() };
        let left = Ending::SheetsLeft { sheets: Vec::new() };
        let table = [
            (left, Exit::Parked, "sheet-paused", "held", 8),
            (Ending::Finished, Exit::Done, "done", "finished", 0),
            (Ending::Finished, Exit::Rejections, "rows-failed", "finished", 4),
            (Ending::Finished, Exit::Held, "rows-held", "held", 8),
            (Ending::Finished, Exit::Parked, "rows-waiting", "waiting", 5),
            (parked.clone(), Exit::Held, "quota", "parked", 5),
            (interrupted(End::Signal), Exit::Rejections, "signal", "stopped", 5),
            (interrupted(End::Until), Exit::Parked, "until", "stopped", 5),
            (stopped(End::Unreachable), Exit::Done, "unreachable", "stopped", 7),
            (stopped(End::EndpointMissing), Exit::Done, "endpoint-missing", "stopped", 7),
        ];
        for (ending, rows, reason, state, code) in table {
            let (end, _) = judged(&ending, end_of_rows(rows, false));
            let got = (end.as_str(), end.state().as_str(), end.exit().code());
            assert_eq!(got, (reason, state, code), "{ending:?} {rows:?}");
        }
        assert_eq!(judged(&parked, End::Done).1, Some(until));
    }

    #[test]
    fn what_verification_found_needs_a_person_unless_rows_need_one_already_or_go_on() {
        let table = [
            (Exit::Done, End::Verification),
            (Exit::Rejections, End::Verification),
            (Exit::Held, End::RowsHeld),
            (Exit::Parked, End::RowsWaiting),
        ];
        for (rows, end) in table {
            assert_eq!(end_of_rows(rows, true), end, "{rows:?}");
        }
    }

    #[test]
    fn a_run_that_is_stopped_says_what_is_left() {
        assert_eq!(left(3, 2), "work is left");
        assert_eq!(left(0, 2), "only verification is left");
        assert_eq!(left(0, 0), "nothing is left to be sent");
    }

    #[test]
    fn of_two_imports_the_worse_counts() {
        assert_eq!(worse(Exit::Rejections, Exit::Held), Exit::Held);
        assert_eq!(worse(Exit::Held, Exit::Rejections), Exit::Held);
        assert_eq!(worse(Exit::Held, Exit::Parked), Exit::Parked);
        assert_eq!(worse(Exit::Done, Exit::Rejections), Exit::Rejections);
    }
}

//! What a person decides about jobs: `fleetload retry` and `cancel`, which send nothing, and the resolution of rows in doubt.

pub(super) mod ask_service;
pub(super) mod resolve;
pub(super) mod turn;

use serde::Serialize;

use super::args::commands::{Cancel, Retry};
use super::context::Context;
use super::run::{preconditions, reports};
use super::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{ImportInfo, Selection};
use crate::model::id::{ImportId, JobId};
use crate::model::reason::Reason;
use crate::model::state::JobState;
use crate::term::{count, counted};
use turn::RowsOfImport;

/// Rows of one state that are listed at once; the reports have them all.
const LISTED: usize = 20;

/// Makes rejected and incomplete jobs ready again.
pub(super) fn retry(context: &Context<'_>, typed: &Retry) -> Result<Summary> {
    let mut journal = context.journal()?;
    preconditions::refuse_older(context, &journal)?;
    context.tell_whose(&journal.whose()?);
    let imports = journal.imports()?;
    if let Some(import) = typed.import {
        ImportInfo::find(&imports, import)?;
    }
    let selection = Selection {
        import: typed.import,
        sheet: typed.sheet.clone(),
        row: typed.row,
        code: typed.code.clone(),
    };
    let retried = journal.retry(&selection, &context.who(), context.now())?;
    let terminal = context.terminal;
    let summary = Summary::new(End::Done).with(&retried);
    let skipped = (retried.skipped > 0).then(|| {
        counted(
            retried.skipped,
            "row is skipped instead, since the row that it depends on failed or was cancelled",
            "rows are skipped instead, since rows that they depend on failed or were cancelled",
        )
    });
    if retried.retried == 0 {
        if let Some(skipped) = skipped {
            terminal.result(skipped);
            terminal.hint(context.advice("which rows failed, and why: ", "report"));
            return Ok(summary);
        }
        terminal.result("no rejected or incomplete row matches; nothing was changed");
        terminal.hint(context.advice("which rows failed, and why: ", "report"));
        return Ok(summary);
    }
    let mut told = format!("{} ready again", counted(retried.retried, "row is", "rows are"));
    if retried.released > 0 {
        let them = if retried.retried == 1 { "it" } else { "them" };
        let (one, many) =
            (format!("row that depends on {them} is"), format!("rows that depend on {them} are"));
        told.push_str(&format!(", and {} no longer skipped", counted(retried.released, &one, &many)));
    }
    terminal.result(told);
    if let Some(skipped) = skipped {
        terminal.result(skipped);
    }
    let paused = imports
        .iter()
        .rev()
        .find(|info| info.paused_at.is_some() && typed.import.is_none_or(|import| import == info.import));
    let in_run = preconditions::goes_on_in_run(context, &journal)?;
    let has = |code: Reason| retried.codes.contains(code.as_str());
    let advice = match paused {
        Some(info) if journal.paused_rows(Some(info.import))? > 0 => {
            let number = info.import;
            context.advice(
                format!("rows of import {number}, which is paused, are sent once you type: "),
                &format!("resume {number}"),
            )
        }
        Some(_) | None if let Some(in_run) = in_run => in_run,
        Some(_) | None if has(Reason::ChangedSinceExport) && retried.codes.len() == 1 => context.advice(
            "to set their values although the service has other ones since the export: ",
            "run --overwrite",
        ),
        Some(_) | None if has(Reason::ChangedSinceExport) => context
            .advice("to send them: ", "run")
            .words(format!(
                "\nthose with the code {} are rejected again, unless you set their values although the service has other \
                 ones since the export: ",
                Reason::ChangedSinceExport.as_str()
            ))
            .command(context.again("run --overwrite")),
        Some(_) | None if has(Reason::AuditReverted) => context
            .advice("to carry them out again: ", "run")
            .words("\nif they come from an export, which did not see what the service has now: ")
            .command(context.again("run --overwrite")),
        Some(_) | None => context.advice("to send them: ", "run"),
    };
    terminal.hint(advice);
    Ok(summary)
}

/// Gives up what has not been sent of an import.
pub(super) fn cancel(context: &Context<'_>, typed: &Cancel) -> Result<Summary> {
    let mut journal = context.journal()?;
    preconditions::refuse_older(context, &journal)?;
    context.tell_whose(&journal.whose()?);
    let named = ImportInfo::find(&journal.imports()?, typed.import)?.named();
    let cancelled = journal.cancel(typed.import, &context.who(), context.now())?;
    let terminal = context.terminal;
    let given_up = cancelled.cancelled + cancelled.left_out;
    let mut told = format!("{} of import {named} cancelled", counted(given_up, "row", "rows"));
    let is_one = given_up == 1;
    if cancelled.left_out > 0 {
        let which =
            if is_one { "which was".to_owned() } else { format!("{} of them", count(cancelled.left_out)) };
        told.push_str(&format!(", {which} not imported because of errors"));
    }
    if cancelled.skipped > 0 {
        let them = if is_one { "it" } else { "them" };
        let one = format!("row of another import that depends on {them}");
        let many = format!("rows of other imports that depend on {them}");
        told.push_str(&format!(", and {} skipped", counted(cancelled.skipped, &one, &many)));
    }
    if given_up + cancelled.skipped + cancelled.left_in_doubt + cancelled.left_held == 0 {
        let own = if cancelled.left_to.is_empty() { "" } else { " in this import alone" };
        told = format!("nothing to cancel: no row of import {named} is waiting or to be corrected{own}");
    }
    terminal.result(told);
    for (&other, &rows) in &cancelled.left_to {
        let words = counted(
            rows,
            "row that another import has is left: it is",
            "rows that another import has are left: they are",
        );
        terminal.hint(
            context.advice(format!("{words} cancelled with import {other}: "), &format!("cancel {other}")),
        );
    }
    let end = match (cancelled.left_in_doubt, cancelled.left_held) {
        (0, 0) => End::Done,
        (0, _) => End::RowsHeld,
        _ => End::RowsWaiting,
    };
    let selection = Selection { import: Some(typed.import), ..Selection::default() };
    for state in [JobState::Sending, JobState::InDoubt, JobState::Held] {
        let left = journal.places(state, &selection)?;
        for (job, place) in left.iter().take(LISTED) {
            terminal.result(format!("  still open: job {job}  {place}  ({state})"));
        }
        if left.len() > LISTED {
            terminal.result(format!("  and {} more ({state})", count((left.len() - LISTED) as u64)));
        }
        for &(job, ref place) in &left {
            terminal.object(&LeftObject { job, place, state });
        }
    }
    reports::renew(context, &journal, &[])?;
    if cancelled.left_in_doubt > 0 && journal.is_run_at_work() {
        let rows = counted(
            cancelled.left_in_doubt,
            "row is under way or in doubt; the run in progress records its outcome and does not send it again",
            "rows are under way or in doubt; the run in progress records their outcomes and sends none of them again",
        );
        let words = format!("{rows}, which you see with: ");
        terminal.hint(context.advice(words, "status"));
    } else if cancelled.left_in_doubt > 0 {
        let words = counted(
            cancelled.left_in_doubt,
            "row is in doubt; the next run finds out whether it was created, and does not send it again: ",
            "rows are in doubt; the next run finds out whether they were created, and sends none of them again: ",
        );
        terminal.hint(context.advice(words, "run"));
    } else if cancelled.left_held > 0 {
        let rows = counted(cancelled.left_held, "row is", "rows are");
        terminal.hint(context.advice(format!("{rows} on hold until you decide: "), "status"));
    } else {
        terminal.hint(context.advice("the report: ", &format!("report {}", typed.import)));
    }
    Ok(Summary::new(end).with(&CancelSummary {
        import: typed.import,
        cancelled: given_up,
        left_out: cancelled.left_out,
        skipped: cancelled.skipped,
        left_in_doubt: cancelled.left_in_doubt,
        left_held: cancelled.left_held,
        left_to: cancelled.left_to.iter().map(|(&import, &rows)| RowsOfImport { import, rows }).collect(),
    }))
}

/// What was cancelled of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CancelSummary {
    import: ImportId,
    /// Rows that are cancelled now, those included that were not imported.
    cancelled: u64,
    /// Those of them that were not imported because of errors.
    left_out: u64,
    /// Rows of other imports that depend on them and are skipped.
    skipped: u64,
    /// Rows whose outcome is unknown; they are settled by the next run.
    left_in_doubt: u64,
    /// Rows that stay on hold.
    left_held: u64,
    /// Rows that other imports have, and that are cancelled with those.
    left_to: Vec<RowsOfImport>,
}

/// A row of a cancelled import that is still open.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct LeftObject<'a> {
    job: JobId,
    /// `file!sheet!row` of the row.
    place: &'a str,
    state: JobState,
}

//! `fleetload retry`, `resolve` and `cancel`: what a person decides about jobs. Sends nothing.

use serde_json::json;

use super::commands::{Cancel, Resolve, Retry};
use super::context::Context;
use super::status;
use crate::error::{Error, Exit, Result};
use crate::journal::{Decision, Selection};
use crate::model::state::JobState;
use crate::term::{count, counted};

/// Makes rejected jobs ready again.
pub(super) fn retry(context: &Context<'_>, typed: &Retry) -> Result<Exit> {
    let mut journal = context.journal()?;
    if let Some(import) = typed.import {
        status::require(&journal.imports()?, import)?;
    }
    let selection = Selection {
        import: typed.import,
        sheet: typed.sheet.clone(),
        row: typed.row,
        code: typed.code.clone(),
    };
    let retried = journal.retry(&selection, &context.who(), context.now())?;
    let terminal = context.terminal;
    terminal.object(&json!({"object": "summary", "retried": retried.retried, "released": retried.released}));
    if retried.retried == 0 {
        terminal.result("no rejected row matches; nothing was changed");
        terminal.hint(format!("what was rejected, and why: {}", context.again("report")));
        return Ok(Exit::Done);
    }
    terminal.result(format!(
        "{} ready again{}",
        counted(retried.retried, "row is", "rows are"),
        if retried.released > 0 {
            format!(", and {} below them no longer skipped", count(retried.released))
        } else {
            String::new()
        }
    ));
    terminal.hint(format!("to send them: {}", context.again("run")));
    Ok(Exit::Done)
}

/// Carries out a decision about held jobs.
pub(super) fn resolve(context: &Context<'_>, typed: &Resolve) -> Result<Exit> {
    let decision = match (typed.created, typed.not_created, typed.abandon) {
        (Some(id), false, false) => Decision::Created(id),
        (None, true, false) => Decision::NotCreated,
        (None, false, true) => Decision::Abandon,
        _ => return Err(Error::usage("say one of --created ID, --not-created and --abandon")),
    };
    if typed.created.is_some() && typed.jobs.len() > 1 {
        return Err(Error::usage("one id belongs to one job")
            .hint("give the jobs one by one, each with the id of its own record"));
    }
    let mut journal = context.journal()?;
    let (who, now) = (context.who(), context.now());
    for &job in &typed.jobs {
        let moved = journal.resolve(job, decision, &who, now)?;
        for step in &moved {
            context.terminal.object(&json!({
                "object": "moved", "job": step.job, "kind": step.kind, "from": step.from, "to": step.to,
            }));
        }
        let below = u64::try_from(moved.iter().filter(|step| step.job != job).count()).unwrap_or(u64::MAX);
        let now_in = moved.iter().rev().find(|step| step.job == job).map(|step| step.to);
        let became = match now_in {
            Some(JobState::Ready) => "is ready to be sent",
            Some(JobState::Cancelled) => "is given up",
            _ => "has its record",
        };
        let rows = if below > 0 {
            format!("; {} with it", counted(below, "row below it moves", "rows below it move"))
        } else {
            String::new()
        };
        context.terminal.result(format!("job {job} {became}{rows}"));
    }
    let tally = journal.tally(None)?;
    let left = tally.in_state(JobState::Held);
    if left > 0 {
        context.terminal.hint(format!(
            "{} still held: {}",
            counted(left, "row is", "rows are"),
            context.again("status")
        ));
    } else {
        context.terminal.hint(format!("to go on: {}", context.again("run")));
    }
    Ok(Exit::Done)
}

/// Gives up what has not been sent of an import.
pub(super) fn cancel(context: &Context<'_>, typed: &Cancel) -> Result<Exit> {
    let mut journal = context.journal()?;
    status::require(&journal.imports()?, typed.import)?;
    let cancelled = journal.cancel(typed.import, &context.who(), context.now())?;
    let terminal = context.terminal;
    terminal.object(&json!({
        "object": "summary", "import": typed.import, "cancelled": cancelled.cancelled,
        "skipped": cancelled.skipped, "left_in_doubt": cancelled.left_in_doubt, "left_held": cancelled.left_held,
    }));
    let mut told =
        format!("{} of import {} given up", counted(cancelled.cancelled, "row", "rows"), typed.import);
    if cancelled.skipped > 0 {
        told.push_str(&format!(", and {} of other imports below them skipped", count(cancelled.skipped)));
    }
    terminal.result(told);
    if cancelled.left_in_doubt > 0 {
        terminal.hint(format!(
            "{} in doubt; the next run clears up whether they were created: {}",
            counted(cancelled.left_in_doubt, "row is", "rows are"),
            context.again("run")
        ));
    } else if cancelled.left_held > 0 {
        terminal.hint(format!(
            "{} held until you decide: {}",
            counted(cancelled.left_held, "row is", "rows are"),
            context.again("status")
        ));
    } else {
        terminal.hint(format!("the report: {}", context.again(&format!("report {}", typed.import))));
    }
    Ok(Exit::Done)
}

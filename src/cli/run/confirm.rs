//! Asks a person before a run, where the profile wants that: the plan is shown first.

use std::sync::mpsc;

use crate::cli::args::commands::{Plan, Run};
use crate::cli::context::Context;
use crate::cli::plan;
use crate::cli::settings::Settings;
use crate::cli::status::counts;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::model::tally::Tally;
use crate::plan::SavedPlan;
use crate::term::counted;

/// What a person answered.
pub(super) enum Confirmation {
    /// The run begins; of its sheets exactly this plan is carried out, where one was shown.
    Begin(Option<SavedPlan>),
    /// It does not: the plan was not confirmed, or is none that could be carried out.
    Ended(Summary),
}

/// Shows what would happen and asks.
///
/// # Errors
/// Usage where nobody can be asked.
pub(super) fn confirm(context: &Context<'_>, typed: &Run, settings: &Settings) -> Result<Confirmation> {
    if !settings.confirm.value || typed.yes {
        return Ok(Confirmation::Begin(None));
    }
    if !context.terminal.can_ask() {
        return Err(Error::usage(format!(
            "a run must be confirmed (confirm = true, {}), and nobody can be asked here; nothing was imported and nothing \
             was sent",
            settings.confirm.origin
        ))
        .ending(End::NobodyToAsk)
        .hint("to run without being asked, add --yes"));
    }
    if typed.files.is_empty() {
        let journal = context.journal()?;
        let left = journal.tally(None)?;
        counts::glance(&left, &Tally::default(), context.terminal.result_columns())
            .into_iter()
            .for_each(|line| context.terminal.result(line));
        context.terminal.result(counted(journal.rows_to_send()?, "row is to be sent", "rows are to be sent"));
    } else {
        let summary = plan::plan(context, &as_plan(typed))?;
        if summary.end() != End::Done {
            return Ok(Confirmation::Ended(summary));
        }
    }
    let (answer, answered) = mpsc::channel();
    context.terminal.ask("carry it out? (y/N)", move |yes| {
        let _given_up = answer.send(yes);
    });
    if answered.recv().unwrap_or(false) {
        let shown = if typed.files.is_empty() { None } else { plan::saved::kept(context) };
        return Ok(Confirmation::Begin(shown));
    }
    context.terminal.result("not confirmed: nothing was imported and nothing was sent");
    Ok(Confirmation::Ended(Summary::new(End::NotConfirmed)))
}

/// The plan of a run.
fn as_plan(typed: &Run) -> Plan {
    Plan {
        files: typed.files.clone(),
        refresh: false,
        rows: false,
        out: None,
        save: None,
        detailed_exitcode: false,
        reading: typed.reading.clone(),
        rehearsal: typed.rehearsal.clone(),
        window: typed.window.clone(),
        overrides: typed.overrides.clone(),
    }
}

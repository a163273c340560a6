//! `fleetload pause`, `resume`, `priority` and `reserve`: whether and when the rows of an import are sent, and how many of a
//! day at least. A run at work follows at once.

use serde::Serialize;

use crate::cli::args::commands::{Pause as Typed, Priority, Reserve};
use crate::cli::args::options::Overrides;
use crate::cli::context::Context;
use crate::cli::run::{preconditions, reports};
use crate::cli::settings::Purpose;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{ImportInfo, Journal, KeptRows, TurnChange};
use crate::model::id::ImportId;
use crate::term::{count, counted};

/// Pauses an import.
pub(in crate::cli) fn pause(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let import = typed.import;
    let (mut journal, named) = open(context, import)?;
    let change = journal.pause(import, &context.who(), context.now())?;
    if !change.is_open && change.was_paused.is_none() {
        let later = journal.came_again(import)?;
        let own = if later.is_empty() { "" } else { " with this import" };
        context
            .terminal
            .result(format!("no row of import {named} waits to be sent{own}; nothing was changed"));
        tell_later(context, &later, |later| format!("pause {later}"));
        return ended(context, &journal, typed, (change, false));
    }
    let rows = counted(change.ready + change.blocked, "row waits", "rows wait");
    let told = match change.was_paused {
        Some(since) => format!("import {named} is already paused, since {}; {rows}", context.moment(since)),
        None => format!("import {named} is paused; {rows} until it is resumed"),
    };
    context.terminal.result(told);
    if change.under_way > 0 {
        let rows = counted(
            change.under_way,
            "row of it is under way or in doubt",
            "rows of it are under way or in doubt",
        );
        context.terminal.say(format!("{rows}: their outcomes are still recorded and settled"));
    }
    tell_later(context, &journal.came_again(import)?, |later| format!("pause {later}"));
    context.terminal.hint(context.advice("to let its rows go on: ", &format!("resume {import}")));
    ended(context, &journal, typed, (change, true))
}

/// Tells which rows of an import have the turn of a later one, and how to give that the same.
fn tell_later(context: &Context<'_>, later: &[(ImportId, u64)], command: impl Fn(ImportId) -> String) {
    for &(import, rows) in later {
        let came = format!("of its unfinished rows came again in import {import} and");
        let rows = counted(rows, &format!("{came} is"), &format!("{came} are"));
        let words = format!("{rows} sent when that import's rows are; to do the same for it: ");
        context.terminal.hint(context.advice(words, &command(import)));
    }
}

/// Ends the pause of an import.
pub(in crate::cli) fn resume(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let import = typed.import;
    let (mut journal, named) = open(context, import)?;
    let change = journal.resume(import, &context.who(), context.now())?;
    let kept = if change.blocked > 0 { journal.kept_rows(Some(import))? } else { KeptRows::default() };
    let goes_on = (change.ready + change.blocked).saturating_sub(kept.rows);
    let rows = counted(goes_on, "row goes on", "rows go on");
    let told = match (change.was_paused, journal.is_run_at_work()) {
        (None, _) => format!("import {named} is not paused; nothing was changed"),
        (Some(_), true) => format!("import {named} is resumed; {rows} in the run in progress"),
        (Some(_), false) => format!("import {named} is resumed; {rows} with the next run"),
    };
    context.terminal.result(told);
    for &(paused, rows) in &kept.by {
        let rows = counted(rows, "row of it waits", "rows of it wait");
        context.terminal.hint(match paused {
            Some(other) => context.advice(
                format!("{rows} for rows of import {other}, which is paused; to let these go on too: "),
                &format!("resume {other}"),
            ),
            None => {
                context.advice(format!("{rows} for rows that need your decision; to decide: "), "resolve")
            }
        });
    }
    if !journal.is_run_at_work() && goes_on > 0 {
        context.terminal.hint(context.advice("to send them: ", "run"));
    }
    ended(context, &journal, typed, (change, false))
}

/// Gives an import a priority.
pub(in crate::cli) fn priority(context: &Context<'_>, typed: &Priority) -> Result<Summary> {
    let (import, priority, terminal) = (typed.import, typed.priority, context.terminal);
    let (mut journal, named) = open(context, import)?;
    let change = journal.prioritise(import, priority, &context.who(), context.now())?;
    let rows = counted(change.ready, "row of it could be sent now", "rows of it could be sent now");
    terminal.result(match change.before == priority {
        true => format!("import {named} has the priority {priority} already; {rows}"),
        false => format!("import {named} has the priority {priority} now, after {}; {rows}", change.before),
    });
    for &(other, rows) in &change.wait_for {
        let rows = counted(rows, "row of it waits", "rows of it wait");
        let words = format!(
            "{rows} for rows of import {other}, which has a lower priority; to send these first too: "
        );
        terminal.hint(context.advice(words, &format!("priority {other} {priority}")));
    }
    tell_later(context, &journal.came_again(import)?, |later| format!("priority {later} {priority}"));
    Ok(Summary::new(End::Done).with(&PrioritySummary {
        import,
        priority,
        before: change.before,
        ready: change.ready,
        wait_for: change.wait_for.iter().map(|&(import, rows)| RowsOfImport { import, rows }).collect(),
    }))
}

/// Keeps creations of each day's quota for an import.
pub(in crate::cli) fn reserve(context: &Context<'_>, typed: &Reserve) -> Result<Summary> {
    let (import, creations, terminal) = (typed.import, typed.creations, context.terminal);
    let (mut journal, named) = open(context, import)?;
    let ceiling = refuse_too_much(context, Some(&journal), Some(import), creations)?;
    let before = journal.reserve(import, creations, &context.who(), context.now())?;
    let words = counted(creations, "creation a day", "creations a day");
    terminal.result(match (before == creations, creations) {
        (true, 0) => format!("import {named} has no reserve; nothing was changed"),
        (true, _) => format!("import {named} has a reserve of {words} already"),
        (false, 0) => format!("import {named} has no reserve any more, after {} a day", count(before)),
        (false, _) => format!("import {named} has a reserve of {words} now, after {}", count(before)),
    });
    let now = context.now();
    let stands = journal.import_reserves(journal.quota_now(now)?.day, now, None)?;
    let stands = stands.iter().find(|stands| stands.import == import).copied();
    if let Some(stands) = stands {
        if stands.left == 0 {
            terminal.say("none of its rows can be sent now, so nothing is kept for it until one can");
        }
        if ceiling.is_none() {
            terminal.say(
                "the day's quota is not known: until the service refuses a creation for it, or daily_quota is set, its rows \
                 are sent before those of other imports, until the reserve is used",
            );
        }
    }
    Ok(Summary::new(End::Done).with(&ReserveSummary {
        import,
        reserve: creations,
        before,
        kept_today: stands.map_or(0, |stands| stands.kept()),
    }))
}

/// Refuses a reserve that the day's quota, as far as it is known, cannot give beside those of other imports; that quota.
pub(in crate::cli) fn refuse_too_much(
    context: &Context<'_>,
    journal: Option<&Journal>,
    import: Option<ImportId>,
    creations: u64,
) -> Result<Option<u64>> {
    let settings = context.settings(&Purpose::Reckoning, &Overrides::default())?;
    let (now, account) = (context.now(), journal.map(|journal| journal.account()).transpose()?.flatten());
    let is_its = account.is_none() || account == settings.identity();
    let set = settings.daily_quota.value.filter(|_| is_its);
    // As the status shows it.
    let quota = |journal: &Journal| journal.limited_quota(now, set, journal.is_run_at_work());
    let known = journal.map(quota).transpose()?.map_or(set, |day| day.ceiling);
    let Some(ceiling) = known else { return Ok(None) };
    let allowed = ceiling.saturating_sub(if is_its { settings.reserve.value } else { 0 });
    let others = match journal {
        Some(journal) => journal.import_reserves(journal.quota_now(now)?.day, now, None)?,
        None => Vec::new(),
    };
    let others: Vec<_> =
        others.iter().filter(|other| Some(other.import) != import && other.left > 0).collect();
    let together = others.iter().map(|other| other.reserve).sum::<u64>().saturating_add(creations);
    if creations == 0 || together <= allowed {
        return Ok(Some(ceiling));
    }
    let beside: Vec<String> =
        others.iter().map(|other| format!("{} of import {}", count(other.reserve), other.import)).collect();
    let beside = if beside.is_empty() { String::new() } else { format!(" beside {}", beside.join(", ")) };
    let shown = journal.map(|journal| journal.latest_ceiling()).transpose()?.flatten();
    let of = if set == Some(ceiling) {
        settings.daily_quota.origin.to_string()
    } else if shown == Some(ceiling) {
        "as the service has shown".to_owned()
    } else {
        "the limit of the last run".to_owned()
    };
    Err(Error::usage(format!(
        "a reserve of {}{beside} is more than the {} that a day has for fleetload ({of})",
        count(creations),
        counted(allowed, "creation", "creations"),
    ))
    .hint("give a smaller reserve, lower that of another import with `fleetload reserve IMPORT N`, or raise daily_quota"))
}

/// The journal, and what the import is called. An older copy is left as it is, and so are the reports, which may be newer.
fn open(context: &Context<'_>, import: ImportId) -> Result<(Journal, String)> {
    let journal = context.journal()?;
    preconditions::refuse_older(context, &journal)?;
    context.tell_whose(&journal.whose()?);
    let named = ImportInfo::find(&journal.imports()?, import)?.named();
    Ok((journal, named))
}

fn ended(
    context: &Context<'_>,
    journal: &Journal,
    typed: &Typed,
    (change, paused): (TurnChange, bool),
) -> Result<Summary> {
    reports::renew(context, journal, &[])?;
    Ok(Summary::new(End::Done).with(&PauseSummary {
        import: typed.import,
        paused,
        was_paused: change.was_paused.is_some(),
        ready: change.ready,
        under_way: change.under_way,
    }))
}

/// The priority of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PrioritySummary {
    import: ImportId,
    /// Its priority now; rows of a higher one are sent first.
    priority: i64,
    /// Its priority before.
    before: i64,
    /// Its rows that could be sent now.
    ready: u64,
    /// Imports with a lower priority whose rows its own rows depend on.
    wait_for: Vec<RowsOfImport>,
}

/// The reserve of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReserveSummary {
    import: ImportId,
    /// Creations of each day's quota that are kept for it now.
    reserve: u64,
    /// How many it was before.
    before: u64,
    /// How many of today's are kept.
    kept_today: u64,
}

/// Rows that have to do with another import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct RowsOfImport {
    /// The other import.
    pub(super) import: ImportId,
    /// How many rows they are.
    pub(super) rows: u64,
}

/// An import that was paused or resumed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct PauseSummary {
    import: ImportId,
    /// Whether it is paused now.
    paused: bool,
    /// Whether it was paused before.
    was_paused: bool,
    /// Its rows that wait, or go on.
    ready: u64,
    /// Its rows that are under way or in doubt; their outcomes are still recorded.
    under_way: u64,
}

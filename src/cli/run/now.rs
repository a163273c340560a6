//! `run --now` beside a run in progress: that run tries again what it waits to try. Nothing else is cut short, so that no
//! promise depends on it: rows in doubt keep their time.

use serde::Serialize;

use super::preconditions::Taken;
use crate::cli::context::Context;
use crate::cli::lock_holder;
use crate::cli::summary::{HeldBy, HeldBySummary, Summary};
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Holder, Journal};
use crate::model::remaining::Remaining;
use crate::model::time::Moment;
use crate::status::Status;
use crate::term::counted;

/// Asks the run in progress, and tells what it waited for.
pub(super) fn ask(context: &Context<'_>, journal: &mut Journal, holder: &Holder) -> Result<Summary> {
    let run = journal.last_run()?.filter(|run| run.ended_at.is_none());
    let mut remaining = match &run {
        Some(run) => journal.noted_remaining(run.run)?.unwrap_or_default(),
        None => Remaining::default(),
    };
    let now = context.now();
    // That is noted at once, the rest of what is left every few seconds.
    let parked = run.as_ref().and_then(|run| run.waits_until(End::Quota, now));
    remaining.parked_until = remaining.parked_until.or(parked);
    // Where only creations are left, the run waits for the quota as well; it may send before that.
    let opens = Some(remaining.hours.opening(now)).filter(|opens| *opens > now);
    let closed =
        run.as_ref().and_then(|run| run.waits_until(End::Window, now)).map(|until| opens.unwrap_or(until));
    let Some(due) = journal.ask_now(now)? else {
        return Ok(Taken::journal(context, journal, *holder)?.tell(context));
    };
    let waited = if closed.is_some() { Vec::new() } else { waited_for(context, &remaining, due) };
    let (process, suspended) = (lock_holder::process(holder.pid), lock_holder::suspended(holder.pid));
    let terminal = context.terminal;
    match (waited.as_slice(), closed) {
        (_, Some(until)) => terminal.result(format!(
            "the run in progress{process} is outside its hours until {}, and tries nothing before that",
            context.moment(until)
        )),
        (waited, None) => {
            terminal.result(format!(
                "the run in progress{process} {}",
                match (waited, suspended) {
                    ([], None) => "does not wait for another try",
                    ([], Some(_)) => "is suspended: it does nothing until it is continued",
                    (_, None) => "tries again within seconds:",
                    (_, Some(_)) => "is suspended: once it is continued, it tries again:",
                }
            ));
            for words in waited {
                terminal.result(format!("  {words}"));
            }
        }
    }
    terminal.hint(lock_holder::progress_advice(context, suspended));
    let HeldBySummary { held_by } = (*holder).into();
    // Nothing ended: the rows stand as the run in progress leaves them.
    let state = Status::now(journal, None, now)?.state();
    let told = TriedNowSummary { held_by, tried_now: waited, rows_due: due };
    Ok(Summary::new(End::Done).with(&told).about(state))
}

/// What the run waited for, in words.
fn waited_for(context: &Context<'_>, remaining: &Remaining, due: u64) -> Vec<String> {
    let (mut waited, now) = (Vec::new(), context.now());
    if let Some(since) = remaining.signing_in {
        waited.push(format!("the sign-in, which has had no answer since {}", context.moment(since)));
    }
    let mut put = |what: String, until: Option<Moment>| {
        if let Some(until) = until.filter(|until| *until > now) {
            waited.push(format!("{what}, which waited until {}", context.moment(until)));
        }
    };
    put("the connection to the service".to_owned(), remaining.unreachable_until);
    for held_back in &remaining.held_back {
        put(held_back.operation.to_string(), held_back.next_try);
    }
    put("one creation, in case the quota was raised".to_owned(), remaining.parked_until);
    if due > 0 {
        waited.push(counted(due, "row that waited for a later try", "rows that waited for a later try"));
    }
    waited
}

/// What the run in progress tries again at once.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct TriedNowSummary {
    /// The run in progress.
    held_by: HeldBy,
    /// What it waited for, in words.
    tried_now: Vec<String>,
    /// Rows that waited for their time.
    rows_due: u64,
}

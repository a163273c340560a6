//! `fleetload resolve`: shows held jobs with what the service has of them now, or carries out a person's decision
//! about them, checked by asking the service before it is believed.
//!
//! The asking is in [`crate::cli::decide::ask_service`]; what counts as a row's record is decided in [`crate::run`], what each decision
//! leads to in the journal.

use serde::Serialize;

use super::ask_service::RowVerifier;
use crate::cli::args::commands::Resolve;
use crate::cli::context::Context;
use crate::cli::run::preconditions;
use crate::cli::status::review;
use crate::cli::status::review_objects::HeldObject;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{Candidate, Decision, HeldJob, ImportInfo, Journal, Moved, Selection};
use crate::model::descriptor::ActionDescriptor;
use crate::model::id::{CallId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::state::JobState;
use crate::run::RecordSearch;
use crate::term::{Line, counted};

/// What was typed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    /// The same decision for every job.
    Decision(Decision),
    /// What each row asks for is so: the record is the one that it is about.
    Done,
}

/// How a decision is recorded that the service was not asked about.
const NOT_CHECKED: &str = "not checked";

/// Shows the jobs, or decides them.
pub(in crate::cli) fn resolve(context: &Context<'_>, typed: &Resolve) -> Result<Summary> {
    let mut journal = context.journal()?;
    context.tell_whose(&journal.whose()?);
    if let Some(import) = typed.import {
        ImportInfo::find(&journal.imports()?, import)?;
    }
    let selection =
        Selection { import: typed.import, sheet: typed.sheet.clone(), row: None, code: typed.code.clone() };
    if !typed.calls.is_empty() {
        return review_calls(context, &mut journal, &typed.calls);
    }
    if typed.seen {
        return seen(context, typed, &mut journal, &selection);
    }
    let held = journal.held(&selection)?;
    let jobs =
        if typed.jobs.is_empty() { held.iter().map(|job| job.job).collect() } else { each_once(&typed.jobs) };
    if jobs.is_empty() {
        context.terminal.result("no row on hold matches; nothing was changed");
        context.terminal.hint(context.advice("to list the rows on hold and why: ", "status"));
        return Ok(Summary::new(End::Done).with(&ResolveSummary { selected: 0, decided: 0, refused: 0 }));
    }
    let Some(choice) = choice(typed) else { return show(context, typed, &journal, &held, &jobs) };
    preconditions::refuse_older(context, &journal)?;
    if typed.created.is_some() && jobs.len() > 1 {
        return Err(Error::usage("one id belongs to one job")
            .hint("give the jobs one by one, each with the id of its own record"));
    }
    let asks = !typed.unchecked && choice != Choice::Decision(Decision::Abandon);
    let mut service = asks.then(|| RowVerifier::reach(context, typed, &mut journal)).transpose()?;
    let (mut decided, mut refused) = (0_u64, 0_u64);
    let mut outcome = Ok(());
    for &job in &jobs {
        let shown =
            held.iter().find(|held| held.job == job).map_or(&[][..], |held| held.candidates.as_slice());
        match decide(context, &mut journal, service.as_mut(), (job, shown), choice) {
            Ok(()) => decided += 1,
            Err(error) if error.kind() == ErrorKind::Usage && jobs.len() > 1 => {
                refused += 1;
                tell_refused(context, job, &error);
            }
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    if let Some(service) = service {
        service.leave();
    }
    // What was decided stays decided, whatever came after it.
    if let Err(error) = outcome {
        if decided + refused > 0 {
            context
                .terminal
                .say(format!("{} before that", counted(decided, "row was decided", "rows were decided")));
        }
        return Err(error);
    }
    tell_next(context, &journal, refused)?;
    let end = if refused > 0 { End::RowsHeld } else { End::Done };
    Ok(Summary::new(end).with(&ResolveSummary { selected: jobs.len(), decided, refused }))
}

/// Takes a person's word that findings of reading back have been looked into.
fn seen(
    context: &Context<'_>,
    typed: &Resolve,
    journal: &mut Journal,
    selection: &Selection,
) -> Result<Summary> {
    let seen = journal.acknowledge(&typed.jobs, selection, &context.who(), context.now())?;
    let terminal = context.terminal;
    for finding in &seen {
        terminal.object(&ReviewedFindingObject { job: finding.job, code: &finding.code });
        terminal.result(format!(
            "job {} (\"{}\"): {} marked as reviewed",
            finding.job, finding.name, finding.code
        ));
    }
    let left = journal.unseen_findings(None)?.len();
    if seen.is_empty() {
        terminal.result("no finding to review matches; nothing was changed");
    }
    if left > 0 {
        let findings = counted(left as u64, "finding is", "findings are");
        terminal.hint(context.advice(format!("{findings} still to be reviewed: "), "status"));
    }
    Ok(Summary::new(End::Done).with(&ReviewSummary { seen: seen.len(), findings_unseen: Some(left) }))
}

/// Takes a person's word that calls with an unknown outcome have been looked into.
fn review_calls(context: &Context<'_>, journal: &mut Journal, calls: &[CallId]) -> Result<Summary> {
    let reviewed = journal.review_calls(calls, &context.who(), context.now())?;
    for &call in calls {
        let is_new = reviewed.contains(&call);
        context.terminal.object(&ReviewedCallObject { call, reviewed_before: !is_new });
        let words = if is_new { "marked as reviewed" } else { "was marked as reviewed before" };
        context.terminal.result(format!("call {call}: {words}"));
    }
    Ok(Summary::new(End::Done).with(&ReviewSummary { seen: reviewed.len(), findings_unseen: None }))
}

fn choice(typed: &Resolve) -> Option<Choice> {
    let decision = match (typed.created, typed.not_created, typed.abandon) {
        (Some(id), _, _) => Decision::Created(id),
        (None, true, _) => Decision::NotCreated,
        (None, false, true) => Decision::Abandon,
        (None, false, false) => return typed.done.then_some(Choice::Done),
    };
    Some(Choice::Decision(decision))
}

/// The id of the record that the step of a row is about.
fn about(context: &Context<'_>, journal: &Journal, job: JobId) -> Result<RemoteId> {
    let Some(work) = journal.work(job)? else {
        return Err(Error::usage(format!("the journal has no job {job}"))
            .hint(context.advice("to list the rows on hold, type: ", "status")));
    };
    match (work.action.record(), work.owner()) {
        (None, Some((_, id))) => Ok(id),
        (Some(_), _) | (None, None) => {
            let kind = work.kind.singular();
            Err(Error::usage(format!("job {job} creates a {kind}, which has an id if it was created"))
                .hint(context.advice("give its id: ", &format!("resolve {job} --created ID"))))
        }
    }
}

/// The jobs in the order given; one that is named twice is decided once.
fn each_once(jobs: &[JobId]) -> Vec<JobId> {
    let mut once = Vec::with_capacity(jobs.len());
    for &job in jobs {
        if !once.contains(&job) {
            once.push(job);
        }
    }
    once
}

/// Checks one decision, has the journal carry it out, and tells. A refusal is a usage error.
fn decide(
    context: &Context<'_>,
    journal: &mut Journal,
    service: Option<&mut RowVerifier>,
    (job, shown): (JobId, &[Candidate]),
    choice: Choice,
) -> Result<()> {
    let decision = match choice {
        Choice::Decision(decision) => decision,
        Choice::Done => Decision::Created(about(context, journal, job)?),
    };
    let check = match (service, decision) {
        (Some(service), Decision::NotCreated) => Some(service.check_absent(context, journal, job, shown)?),
        (Some(service), Decision::Created(id)) => Some(service.check_identity(context, journal, job, id)?),
        (None, Decision::Created(_) | Decision::NotCreated) => Some(NOT_CHECKED.to_owned()),
        (_, Decision::Abandon) => None,
    };
    let moved = journal
        .resolve(job, decision, check.as_deref(), &context.who(), context.now())
        .map_err(|error| context.with_commands(error))?;
    // The step that is left, where this one is done.
    let next = match decision {
        Decision::Created(_) => journal.work(job)?.and_then(|work| work.action.operation(work.kind)),
        Decision::NotCreated | Decision::Abandon => None,
    };
    let next = next.and_then(ActionDescriptor::of).map(|action| action.words);
    tell_decided(context, job, (choice, next), &moved, check.as_deref());
    if decision == Decision::NotCreated
        && let Some(import) = journal.with_other_values(job)?
    {
        context.terminal.result(format!(
            "    import {import} has other values for this row: import that file again before the next run, or the \
             earlier values are sent"
        ));
    }
    Ok(())
}

/// Tells a decision; `next` is the step that is left, in words.
fn tell_decided(
    context: &Context<'_>,
    job: JobId,
    (choice, next): (Choice, Option<&str>),
    moved: &[Moved],
    check: Option<&str>,
) {
    let terminal = context.terminal;
    for step in moved {
        let &Moved { job, kind, from, to, .. } = step;
        terminal.object(&MovedObject { job, kind, from, to });
    }
    let now_in = moved.iter().rev().find(|step| step.job == job).map(|step| step.to);
    terminal.object(&DecidedObject { job, state: now_in, check });
    let is_so = match choice {
        Choice::Decision(_) => "has its record",
        Choice::Done => "has this step done",
    };
    let (became, goes_on) = match (now_in, next) {
        (Some(JobState::Ready), Some(_)) => (is_so, "is ready to be sent"),
        (Some(JobState::Blocked), Some(_)) => (is_so, "waits for the row that it depends on"),
        (Some(JobState::Ready), None) => ("is ready to be sent", ""),
        (Some(JobState::Blocked), None) => ("waits for the row that it depends on", ""),
        (Some(JobState::Cancelled), _) if matches!(choice, Choice::Decision(Decision::NotCreated)) => {
            ("is cancelled, as its import was while its outcome was unknown", "")
        }
        (Some(JobState::Cancelled), _) => ("is cancelled", ""),
        (Some(JobState::Skipped), _) => {
            ("is skipped, since the row that it depends on failed or was cancelled", "")
        }
        (Some(JobState::Held), _) => ("is still on hold", ""),
        (Some(JobState::Done), _) => ("is done", ""),
        _ => ("has its record", ""),
    };
    let left = next.filter(|_| !goes_on.is_empty());
    let left = left.map_or_else(String::new, |next| format!("; its next step, {next}, {goes_on}"));
    let dependents = |state| moved.iter().filter(|step| step.job != job && step.to == state).count() as u64;
    let rows: String =
        [(JobState::Skipped, "skipped"), (JobState::Ready, "ready"), (JobState::Blocked, "waiting")]
            .into_iter()
            .map(|(state, word)| (dependents(state), word))
            .filter(|(number, _)| *number > 0)
            .map(|(number, word)| format!("; {} {word}", counted(number, "dependent row", "dependent rows")))
            .collect();
    let check = check.map(|check| format!(" ({check})")).unwrap_or_default();
    terminal.result(format!("job {job} {became}{check}{left}{rows}"));
}

fn tell_refused(context: &Context<'_>, job: JobId, error: &Error) {
    context.terminal.object(&RefusedObject { job, reason: error.to_string(), next: error.next_step() });
    context.terminal.result(format!("job {job} stays as it is: {error}"));
    for line in error.advice().into_iter().flat_map(Line::of_advice) {
        context.terminal.result(Line::plain("    ").join(line));
    }
}

fn tell_next(context: &Context<'_>, journal: &Journal, refused: u64) -> Result<()> {
    let left = journal.tally(None)?.in_state(JobState::Held);
    let terminal = context.terminal;
    if refused > 0 {
        let decisions = counted(refused, "decision was", "decisions were");
        let words = format!("{decisions} refused; to see what the service has of the rows: ");
        terminal.hint(context.advice(words, "resolve"));
    } else if left > 0 {
        let rows = counted(left, "row is", "rows are");
        terminal.hint(context.advice(format!("{rows} still on hold: "), "resolve"));
    } else {
        let in_run = preconditions::goes_on_in_run(context, journal)?;
        terminal.hint(in_run.unwrap_or_else(|| context.advice("to go on: ", "run")));
    }
    Ok(())
}

/// Shows held jobs with what was found when they were held and what the service has of them now. Decides nothing.
fn show(
    context: &Context<'_>,
    typed: &Resolve,
    journal: &Journal,
    held: &[HeldJob],
    jobs: &[JobId],
) -> Result<Summary> {
    let terminal = context.terminal;
    let chosen: Vec<&HeldJob> = held.iter().filter(|held| jobs.contains(&held.job)).collect();
    let mut service = match RowVerifier::reach_for_reading(context, typed, journal) {
        Ok(service) => Some(service),
        Err(error) => {
            tell_unasked(context, &error);
            None
        }
    };
    for job in &chosen {
        let mut seen = None;
        if let Some(asking) = &mut service {
            match asking.sight(journal, job.job, &job.candidates) {
                Ok(sight) => seen = Some(sight),
                Err(error) if error.kind() == ErrorKind::Service => {
                    tell_unasked(context, &error);
                    if let Some(service) = service.take() {
                        service.leave();
                    }
                }
                Err(error) => return Err(error),
            }
        }
        review::tell_with(context, job, &seen.as_ref().map_or_else(Vec::new, sight_in_words));
        terminal.object(&HeldObject::of(job, Some(seen.as_ref())));
    }
    for &job in jobs.iter().filter(|job| chosen.iter().all(|held| held.job != **job)) {
        match journal.work(job)? {
            Some(work) => {
                terminal.result(format!("job {job} (\"{}\") is {}, not held", work.name, work.state))
            }
            None => terminal.result(format!("the journal has no job {job}")),
        }
    }
    if let Some(service) = service {
        service.leave();
    }
    if let Some(first) = chosen.first() {
        terminal.hint(review::ways(context, "to decide:".into(), first));
    }
    Ok(Summary::new(End::Done).with(&HeldSummary { selected: jobs.len(), held: chosen.len() }))
}

fn tell_unasked(context: &Context<'_>, error: &Error) {
    context.terminal.warn(format!(
        "the service could not be asked, so this is the evidence from when the rows were put on hold: \
            {error}"
    ));
}

/// What a look-up has found that shows no record which may be the row's.
pub(super) fn found_none(earlier: &[Candidate]) -> &'static str {
    match earlier {
        [] => "no record found",
        _ => "no record found but those that were there before",
    }
}

/// What the service shows of a row, as lines.
fn sight_in_words(sight: &RecordSearch) -> Vec<String> {
    match sight {
        RecordSearch::Answered { by, candidates, earlier } => {
            let mut lines: Vec<String> =
                candidates.iter().map(|candidate| format!("{by}: {}", review::in_words(candidate))).collect();
            if lines.is_empty() {
                lines.push(format!("{by}: {}", found_none(earlier)));
            }
            lines.extend(earlier.iter().map(review::in_words));
            lines
        }
        RecordSearch::Change { by, is_so } => {
            let words = if *is_so { "it is as the row asks for" } else { "it is not as the row asks for" };
            vec![format!("{by}: {words}")]
        }
        RecordSearch::Unknown { untold: why } => vec![format!("unknown: {why}")],
    }
}

/// Decisions, in numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ResolveSummary {
    /// Rows that were named or selected.
    selected: usize,
    /// Rows that were decided.
    decided: u64,
    /// Decisions that were refused.
    refused: u64,
}

/// Rows on hold that were shown.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct HeldSummary {
    /// Rows that were named or selected.
    selected: usize,
    /// Those of them that are on hold.
    held: usize,
}

/// What was marked as reviewed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReviewSummary {
    /// Findings or calls that are marked now and were not before.
    seen: usize,
    /// Findings of verification that are still to be reviewed; absent where calls were marked.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings_unseen: Option<usize>,
}

/// A finding of verification that was marked as reviewed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReviewedFindingObject<'a> {
    job: JobId,
    /// The code of the finding.
    code: &'a str,
}

/// A call with an unknown outcome that was marked as reviewed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReviewedCallObject {
    call: CallId,
    /// Whether it was marked before.
    reviewed_before: bool,
}

/// A row whose state a decision changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct MovedObject {
    job: JobId,
    kind: Kind,
    /// The state that it left.
    from: JobState,
    /// The state that it is in.
    to: JobState,
}

/// A decision that was carried out.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DecidedObject<'a> {
    job: JobId,
    /// The state that the row is in now; `null` where it was not changed.
    state: Option<JobState>,
    /// How the decision was checked, in words.
    check: Option<&'a str>,
}

/// A decision that was refused.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RefusedObject<'a> {
    job: JobId,
    /// Why.
    reason: String,
    /// What to do or type next.
    next: Option<&'a str>,
}

//! `fleetload resolve`: shows held jobs with what the service has of them now, or carries out a person's decision
//! about them, checked by asking the service before it is believed.
//!
//! What counts as a row's record is decided in [`crate::run`]; what each decision leads to, in the journal.

use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::args::Overrides;
use super::commands::Resolve;
use super::context::Context;
use super::rehearsal::{self, Rehearsal};
use super::settings::Purpose;
use super::{held, status};
use crate::error::{Error, ErrorKind, Exit, Result};
use crate::journal::{Candidate, Decision, HeldJob, Journal, Moved, Selection};
use crate::model::id::{JobId, RemoteId};
use crate::model::state::JobState;
use crate::run::{Identity, Sight, Verifier};
use crate::term::{count, counted};

/// How a decision is recorded that the service was not asked about.
const NOT_CHECKED: &str = "not checked";

/// Shows the jobs, or decides them.
pub(super) fn resolve(context: &Context<'_>, typed: &Resolve) -> Result<Exit> {
    let mut journal = context.journal()?;
    if let Some(import) = typed.import {
        status::require(&journal.imports()?, import)?;
    }
    let selection =
        Selection { import: typed.import, sheet: typed.sheet.clone(), row: None, code: typed.code.clone() };
    let held = journal.held(&selection)?;
    let jobs =
        if typed.jobs.is_empty() { held.iter().map(|job| job.job).collect() } else { each_once(&typed.jobs) };
    if jobs.is_empty() {
        context.terminal.result("no held row matches; nothing was changed");
        context
            .terminal
            .object(&json!({"object": "summary", "selected": 0, "decided": 0, "refused": 0, "exit_code": 0}));
        context.terminal.hint(format!("what is held, and why: {}", context.again("status")));
        return Ok(Exit::Done);
    }
    let Some(decision) = decision(typed) else { return show(context, typed, &journal, &held, &jobs) };
    if typed.created.is_some() && jobs.len() > 1 {
        return Err(Error::usage("one id belongs to one job")
            .hint("give the jobs one by one, each with the id of its own record"));
    }
    let asks = !typed.unchecked && decision != Decision::Abandon;
    let mut service = asks.then(|| Service::reach(context, typed, &mut journal)).transpose()?;
    let (mut decided, mut refused) = (0_u64, 0_u64);
    let mut outcome = Ok(());
    for &job in &jobs {
        let shown =
            held.iter().find(|held| held.job == job).map_or(&[][..], |held| held.candidates.as_slice());
        match decide(context, &mut journal, service.as_mut(), (job, shown), decision) {
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
    let exit = if refused > 0 { Exit::Held } else { Exit::Done };
    context.terminal.object(&json!({
        "object": "summary", "selected": jobs.len(), "decided": decided, "refused": refused,
        "exit_code": exit.code(),
    }));
    tell_next(context, &journal, refused)?;
    Ok(exit)
}

fn decision(typed: &Resolve) -> Option<Decision> {
    match (typed.created, typed.not_created, typed.abandon) {
        (Some(id), _, _) => Some(Decision::Created(id)),
        (None, true, _) => Some(Decision::NotCreated),
        (None, false, true) => Some(Decision::Abandon),
        (None, false, false) => None,
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
    service: Option<&mut Service>,
    (job, shown): (JobId, &[Candidate]),
    decision: Decision,
) -> Result<()> {
    let check = match (service, decision) {
        (Some(service), Decision::NotCreated) => Some(service.check_absent(context, journal, job, shown)?),
        (Some(service), Decision::Created(id)) => Some(service.check_identity(context, journal, job, id)?),
        (None, Decision::Created(_) | Decision::NotCreated) => Some(NOT_CHECKED.to_owned()),
        (_, Decision::Abandon) => None,
    };
    let moved = journal.resolve(job, decision, check.as_deref(), &context.who(), context.now())?;
    tell_decided(context, job, &moved, check.as_deref());
    Ok(())
}

fn tell_decided(context: &Context<'_>, job: JobId, moved: &[Moved], check: Option<&str>) {
    let terminal = context.terminal;
    for step in moved {
        terminal.object(&json!({
            "object": "moved", "job": step.job, "kind": step.kind, "from": step.from, "to": step.to,
        }));
    }
    let now_in = moved.iter().rev().find(|step| step.job == job).map(|step| step.to);
    terminal.object(&json!({"object": "decided", "job": job, "state": now_in, "check": check}));
    let below = moved.iter().filter(|step| step.job != job).count() as u64;
    let became = match now_in {
        Some(JobState::Ready) => "is ready to be sent",
        Some(JobState::Blocked) => "waits for the row above it",
        Some(JobState::Cancelled) => "is given up",
        Some(JobState::Held) => "is still held",
        _ => "has its record",
    };
    let rows = if below > 0 {
        format!("; {} with it", counted(below, "row below it moves", "rows below it move"))
    } else {
        String::new()
    };
    let check = check.map(|check| format!(" ({check})")).unwrap_or_default();
    terminal.result(format!("job {job} {became}{check}{rows}"));
}

fn tell_refused(context: &Context<'_>, job: JobId, error: &Error) {
    context.terminal.object(&json!({
        "object": "refused", "job": job, "reason": error.to_string(), "next": error.next_step(),
    }));
    context.terminal.result(format!("job {job} stays as it is: {error}"));
    if let Some(hint) = error.next_step() {
        for line in hint.lines() {
            context.terminal.result(format!("    {line}"));
        }
    }
}

fn tell_next(context: &Context<'_>, journal: &Journal, refused: u64) -> Result<()> {
    let left = journal.tally(None)?.in_state(JobState::Held);
    let terminal = context.terminal;
    if refused > 0 {
        terminal.hint(format!(
            "{} refused; what the service shows of them: {}",
            counted(refused, "decision was", "decisions were"),
            context.again("resolve")
        ));
    } else if left > 0 {
        terminal.hint(format!(
            "{} still held: {}",
            counted(left, "row is", "rows are"),
            context.again("resolve")
        ));
    } else {
        terminal.hint(format!("to go on: {}", context.again("run")));
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
) -> Result<Exit> {
    let terminal = context.terminal;
    let chosen: Vec<&HeldJob> = held.iter().filter(|held| jobs.contains(&held.job)).collect();
    let mut service = match Service::reach_for_reading(context, typed, journal) {
        Ok(service) => Some(service),
        Err(error) => {
            tell_unasked(context, &error);
            None
        }
    };
    for job in &chosen {
        let mut told = Value::Null;
        let mut lines = Vec::new();
        if let Some(asking) = &mut service {
            match asking.sight(journal, job.job, &job.candidates) {
                Ok(sight) => (lines, told) = sight_in_words(&sight),
                Err(error) if error.kind() == ErrorKind::Service => {
                    tell_unasked(context, &error);
                    if let Some(service) = service.take() {
                        service.leave();
                    }
                }
                Err(error) => return Err(error),
            }
        }
        held::tell_with(context, job, &lines);
        terminal.object(&json!({
            "object": "held", "job": job.job, "kind": job.kind.singular(), "name": job.name, "place": job.place,
            "code": job.code, "reason": job.reason, "since": job.since.to_string(),
            "candidates": job.candidates.iter().map(object).collect::<Vec<_>>(), "now": told,
        }));
    }
    for &job in jobs.iter().filter(|job| chosen.iter().all(|held| held.job != **job)) {
        match journal.work(job)? {
            Some(work) => {
                terminal.result(format!("job {job} (\"{}\") is {}, not held", work.record.name(), work.state))
            }
            None => terminal.result(format!("the journal has no job {job}")),
        }
    }
    if let Some(service) = service {
        service.leave();
    }
    terminal.object(&json!({"object": "summary", "selected": jobs.len(), "held": chosen.len()}));
    if let Some(first) = chosen.first() {
        terminal.hint(format!(
            "to decide:\n{}\n{}\n{}",
            context.again(&format!("resolve {} --created ID", first.job)),
            context.again(&format!("resolve {} --not-created", first.job)),
            context.again(&format!("resolve {} --abandon", first.job)),
        ));
    }
    Ok(Exit::Done)
}

fn tell_unasked(context: &Context<'_>, error: &Error) {
    context
        .terminal
        .warn(format!("the service was not asked, so this is what was found when they were held: {error}"));
}

fn object(candidate: &Candidate) -> Value {
    json!({
        "id": candidate.id, "name": candidate.name, "details": candidate.details, "difference": candidate.difference,
    })
}

/// What the service shows of a row, as lines and for programs.
fn sight_in_words(sight: &Sight) -> (Vec<String>, Value) {
    match sight {
        Sight::Told { by, candidates, earlier } => {
            let mut lines: Vec<String> =
                candidates.iter().map(|candidate| format!("{by}: {}", held::in_words(candidate))).collect();
            if lines.is_empty() {
                lines.push(format!("{by}: nothing there"));
            }
            lines.extend(earlier.iter().map(held::in_words));
            let told = json!({
                "by": by, "candidates": candidates.iter().map(object).collect::<Vec<_>>(),
                "earlier": earlier.iter().map(object).collect::<Vec<_>>(),
            });
            (lines, told)
        }
        Sight::Untold(why) => (vec![format!("cannot be told: {why}")], json!({"untold": why})),
    }
}

/// The service that is asked about rows: the real one, or that of a rehearsal.
struct Service {
    runtime: Runtime,
    rehearsal: Option<Rehearsal>,
    verifier: Verifier,
}

impl Service {
    /// Gets ready to ask, for a decision; says in its errors what can be done without asking.
    fn reach(context: &Context<'_>, typed: &Resolve, journal: &mut Journal) -> Result<Self> {
        Self::reach_for_reading(context, typed, journal).map_err(|error| match error.next_step() {
            Some(hint) => {
                let hint = format!("{hint}\n{}", WITHOUT_ASKING);
                error.hint(hint)
            }
            None => error.hint(WITHOUT_ASKING),
        })
    }

    fn reach_for_reading(context: &Context<'_>, typed: &Resolve, journal: &Journal) -> Result<Self> {
        let runtime = context.runtime()?;
        let rehearsing = typed.rehearsal.sandbox || context.rehearsing.get();
        let (rehearsal, purpose) = if rehearsing {
            let state = rehearsal::state_file(journal.path());
            let scenario = typed.rehearsal.scenario.as_deref();
            let rehearsal = runtime.block_on(Rehearsal::start(scenario, Some(&state)))?;
            let purpose = Purpose::Rehearsal(rehearsal.account.clone());
            (Some(rehearsal), purpose)
        } else {
            (None, Purpose::Service)
        };
        let settings = context.settings(&purpose, &Overrides::default())?;
        // What another account shows says nothing about the rows of this one.
        let account = settings.identity().ok_or_else(|| Error::internal("a look-up without an account"))?;
        if let Some(bound) = journal.account()?.filter(|bound| *bound != account) {
            return Err(Error::usage(format!(
                "the rows were sent as {} to {}, and the profile is that of {} at {}",
                bound.client_id, bound.base_url, account.client_id, account.base_url
            ))
            .hint("choose the profile this journal belongs to with --profile NAME"));
        }
        let verifier = Verifier::new(settings.client(context.clock.clone())?, context.clock.clone());
        Ok(Self { runtime, rehearsal, verifier })
    }

    /// Ends the sandbox of a rehearsal.
    fn leave(self) {
        if let Some(rehearsal) = self.rehearsal {
            self.runtime.block_on(rehearsal.running.stop());
        }
    }

    fn sight(&mut self, journal: &Journal, job: JobId, shown: &[Candidate]) -> Result<Sight> {
        let work = work(journal, job)?;
        let shown: Vec<RemoteId> = shown.iter().filter_map(|candidate| candidate.id).collect();
        self.runtime.block_on(self.verifier.sight(journal, &work, &shown)).map_err(unreached)
    }

    /// Believes that a record was not made when the service shows none; says how that was checked.
    fn check_absent(
        &mut self,
        context: &Context<'_>,
        journal: &Journal,
        job: JobId,
        shown: &[Candidate],
    ) -> Result<String> {
        match self.sight(journal, job, shown)? {
            Sight::Told { by, candidates, earlier: _ } => {
                let Some(first) = candidates.first() else {
                    return Ok(format!("checked by {by}: nothing there"));
                };
                let found: Vec<String> = candidates.iter().map(held::in_words).collect();
                let more = match candidates.len() {
                    1 => String::new(),
                    many => format!(" and {} more", count(many as u64 - 1)),
                };
                let adopt = first.id.map(|id| {
                    format!(
                        "if it is the row's record: {}\n",
                        context.again(&format!("resolve {job} --created {id}"))
                    )
                });
                Err(Error::usage(format!("{by} shows what may be the row's record: {}{more}", found[0]))
                    .hint(format!(
                        "{}if you are certain that it is not: {}",
                        adopt.unwrap_or_default(),
                        context.again(&format!("resolve {job} --not-created --unchecked"))
                    )))
            }
            Sight::Untold(why) => Err(Error::usage(format!("whether it is there cannot be checked: {why}"))
                .hint(format!(
                    "look in the service yourself; when it certainly is not there: {}",
                    context.again(&format!("resolve {job} --not-created --unchecked"))
                ))),
        }
    }

    /// Believes that a record is the row's when it can be read and is not another one; says how that was checked.
    fn check_identity(
        &mut self,
        context: &Context<'_>,
        journal: &Journal,
        job: JobId,
        id: RemoteId,
    ) -> Result<String> {
        let work = work(journal, job)?;
        refuse_record_of_another_row(journal, job, id)?;
        match self.runtime.block_on(self.verifier.identity(journal, &work, id)).map_err(unreached)? {
            Identity::Confirmed { by, notes } if notes.is_empty() => {
                Ok(format!("checked by {by}: it agrees"))
            }
            Identity::Confirmed { by, notes } => {
                Ok(format!("checked by {by}: it agrees, but for: {}", notes.join("; ")))
            }
            Identity::Another { by, differences } => Err(Error::usage(format!(
                "{id} is not the record of this row ({by}): {}",
                differences.join("; ")
            ))
            .hint(format!(
                "what the service shows of the row: {}",
                context.again(&format!("resolve {job}"))
            ))),
            Identity::Untold(why) => {
                Err(Error::usage(format!("the record cannot be compared with the row: {why}")).hint(format!(
                    "look at it in the service; when it certainly is the row's: {}",
                    context.again(&format!("resolve {job} --created {id} --unchecked"))
                )))
            }
        }
    }
}

/// What to type when the service cannot be asked.
const WITHOUT_ASKING: &str =
    "when the service cannot be asked, add --unchecked: your word is taken for it, and recorded as such";

/// Adds what can be done without asking to an error of the service.
fn unreached(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Service => error.hint(WITHOUT_ASKING),
        ErrorKind::Internal | ErrorKind::Usage | ErrorKind::Sheets | ErrorKind::Journal => error,
    }
}

/// The record of another row is refused before the service is asked; the journal itself refuses it as well.
fn refuse_record_of_another_row(journal: &Journal, job: JobId, id: RemoteId) -> Result<()> {
    let owners = journal.owners(&[id])?;
    match owners.iter().find(|(_, owner)| *owner != job) {
        Some((_, owner)) => {
            let name = journal.work(*owner)?.map(|work| work.record.name().to_owned()).unwrap_or_default();
            Err(Error::usage(format!(
                "the record {id} is already that of job {owner} ('{name}'); one record cannot answer for two rows"
            ))
            .hint("look for the other record and give its id"))
        }
        None => Ok(()),
    }
}

/// A job that can be decided, as it stands.
fn work(journal: &Journal, job: JobId) -> Result<crate::journal::Work> {
    let work = journal.work(job)?.ok_or_else(|| {
        Error::usage(format!("the journal has no job {job}")).hint("fleetload status lists the held jobs")
    })?;
    if ![JobState::Held, JobState::InDoubt].contains(&work.state) {
        return Err(Error::usage(format!(
            "job {job} ('{}') is {}; only a job that is held or in doubt can be decided",
            work.record.name(),
            work.state
        ))
        .hint("fleetload status lists the held jobs"));
    }
    Ok(work)
}

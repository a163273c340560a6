//! `fleetload run`: imports the files, takes the locks, runs every unfinished job, reports.
//!
//! What is sent, and when, is decided in [`crate::run`]; this file prepares, shows, and says how it ended.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::args::Run as Typed;
use super::choice::{InDoubtWord, OnExistingWord, OnQuotaWord};
use super::context::Context;
use super::rehearsal::{self, Rehearsal};
use super::settings::{Purpose, Rehearsed, Settings};
use super::signals::Signals;
use super::until::until;
use super::{counts, held, intake, reports};
use crate::clock::Clock;
use crate::error::{Error, Exit, Result};
use crate::journal::{Journal, RunLock};
use crate::model::event::Event;
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::report::{RunState, Standing};
use crate::run::{
    AccountLock, Ending, InDoubt, Interrupt, Limits, OnExisting, OnQuota, Options, Policy, lock_account,
};
use crate::service::Client;
use crate::term::{Ink, Line, Progress, Tick, counted, span};

/// How often the display is brought up to date.
const TICK: Duration = Duration::from_millis(250);

/// Imports, runs and reports.
pub(super) fn run(context: &Context<'_>, typed: &Typed) -> Result<Exit> {
    let until = typed.until.as_deref().map(|text| until(text, context.now(), &context.here)).transpose()?;
    context.rehearsing.set(typed.rehearsal.sandbox);
    let purpose = if typed.rehearsal.sandbox { unborn_rehearsal(typed)? } else { Purpose::Service };
    let settings = context.settings(&purpose, &typed.overrides)?;
    if !typed.rehearsal.sandbox {
        // Everything that can be wrong with the profile is found before anything is imported.
        drop(settings.client(context.clock.clone())?);
    }
    let Some((mut journal, imported)) = prepare(context, typed, &settings)? else { return Ok(Exit::Sheets) };

    let concerned = concerned(&journal, imported)?;
    let Some(locks) = Locks::take(context, &journal, &settings, typed.rehearsal.sandbox)? else {
        return Ok(Exit::Parked);
    };
    let recovered = journal.recover(context.now())?;
    tell_recovered(context, &recovered);
    if counts::moving(&journal.tally(None)?) == 0 {
        context.terminal.say("nothing is left to be sent");
        return conclude(context, &journal, &concerned, imported.is_none(), &Ending::Finished);
    }
    let (journal, ending) = context.runtime()?.block_on(async {
        let rehearsal = if typed.rehearsal.sandbox {
            let state = rehearsal::state_file(journal.path());
            Some(Rehearsal::start(typed.rehearsal.scenario.as_deref(), Some(&state)).await?)
        } else {
            None
        };
        let settings = match &rehearsal {
            Some(rehearsal) => {
                context.settings(&Purpose::Rehearsal(rehearsal.account.clone()), &typed.overrides)?
            }
            None => settings,
        };
        if rehearsal.is_some() {
            context.terminal.say(format!(
                "rehearsal: a simulated service in this process; doubt is settled after {} instead of 10 min",
                span(settings.settle.value)
            ));
        }
        let client = settings.client(context.clock.clone())?;
        let options = settings.options(until);
        let ended = send(context, journal, client, options, &concerned).await;
        if let Some(rehearsal) = rehearsal {
            rehearsal.running.stop().await;
        }
        ended
    })?;
    drop(locks);
    conclude(context, &journal, &concerned, imported.is_none(), &ending)
}

/// The settings of a rehearsal before its sandbox runs, which is not before the journal is locked.
fn unborn_rehearsal(typed: &Typed) -> Result<Purpose> {
    let scenario = rehearsal::read_scenario(typed.rehearsal.scenario.as_deref())?;
    let (client_id, client_secret) = rehearsal::client_of(&scenario);
    let address = "http://127.0.0.1"
        .parse()
        .map_err(|error| Error::internal("the address of this machine is none").because(error))?;
    Ok(Purpose::Rehearsal(Rehearsed { address, client_id, client_secret: client_secret.into() }))
}

/// Opens the journal and brings the files in; `None` when the sheets have problems, which were told.
fn prepare(
    context: &Context<'_>,
    typed: &Typed,
    settings: &Settings,
) -> Result<Option<(Journal, Option<ImportId>)>> {
    let account = settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
    let path = &context.common.journal;
    if typed.files.is_empty() {
        let mut journal = Journal::open_existing(path)?;
        journal.bind(&account)?;
        return Ok(Some((journal, None)));
    }
    if path.exists() {
        // Rows for one account must not get into the journal of another.
        let journal = Journal::open_existing(path)?;
        if journal.account()?.is_some() {
            let mut journal = journal;
            journal.bind(&account)?;
        }
    }
    let endpoints = settings.endpoints()?;
    let available = |operation| endpoints.available(operation);
    let Some((mut journal, imported)) =
        intake::import(context, &typed.files, &typed.reading, Some(&available))?
    else {
        return Ok(None);
    };
    journal.bind(&account)?;
    Ok(Some((journal, Some(imported))))
}

/// What this command is about: the import it made, and those that are not finished; else the latest.
fn concerned(journal: &Journal, imported: Option<ImportId>) -> Result<Vec<ImportId>> {
    let (mut concerned, mut last) = (Vec::new(), None);
    for info in journal.imports()? {
        let tally = journal.tally(Some(info.import))?;
        let open = counts::unfinished(&tally) + tally.in_state(JobState::Held) > 0;
        if open || Some(info.import) == imported {
            concerned.push(info.import);
        }
        last = Some(info.import);
    }
    if concerned.is_empty() {
        concerned.extend(last);
    }
    Ok(concerned)
}

/// The right to send: for the journal, and for the account on this machine.
struct Locks {
    _journal: RunLock,
    /// Each rehearsal has a service of its own.
    _account: Option<AccountLock>,
}

impl Locks {
    /// Takes both; `None` when a run of the same journal is under way, which goes on with our rows.
    fn take(
        context: &Context<'_>,
        journal: &Journal,
        settings: &Settings,
        rehearsal: bool,
    ) -> Result<Option<Self>> {
        let since = |pid: Option<u32>, since: Option<Moment>| {
            let pid = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
            let since = since.map_or_else(String::new, |since| format!(", since {}", context.moment(since)));
            format!("{pid}{since}")
        };
        let lock = match journal.lock_for_run()? {
            Ok(lock) => lock,
            Err(holder) => {
                context.terminal.result(format!(
                    "another run of this journal is under way{}; it goes on with these rows",
                    since(holder.pid, holder.since)
                ));
                context.terminal.hint(format!("to see how far it is: {}", context.again("status")));
                context.terminal.object(&json!({"object": "summary", "state": "parked", "exit_code": 5}));
                return Ok(None);
            }
        };
        if rehearsal {
            return Ok(Some(Self { _journal: lock, _account: None }));
        }
        let account = settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
        let path = std::path::absolute(journal.path()).unwrap_or_else(|_| journal.path().to_owned());
        match lock_account(&account.base_url, &account.client_id, &path, context.now())? {
            Ok(held) => Ok(Some(Self { _journal: lock, _account: Some(held) })),
            Err(holder) => {
                let with = holder
                    .journal
                    .map_or_else(String::new, |journal| format!(" with the journal {}", journal.display()));
                Err(Error::journal(format!(
                    "another run uses the account {}{with}{}; two at once would exceed its limits",
                    account.client_id,
                    since(holder.pid, holder.since)
                ))
                .hint(format!("wait for it to end, then: {}", context.again("run"))))
            }
        }
    }
}

fn tell_recovered(context: &Context<'_>, recovered: &crate::journal::Recovered) {
    let terminal = context.terminal;
    if recovered.doubtful > 0 {
        terminal.say(format!(
            "the last run ended in the middle of {}; whether they were executed is looked up first",
            counted(recovered.doubtful, "request", "requests")
        ));
    }
    if recovered.held > 0 {
        terminal.warn(format!(
            "{} held: three runs ended while sending the same row",
            counted(recovered.held, "row is", "rows are")
        ));
    }
    if recovered.spilled > 0 {
        terminal.say(format!(
            "{} taken in that could not be written when the last run ended",
            counted(recovered.spilled, "outcome was", "outcomes were")
        ));
    }
    if recovered.left_out > 0 {
        terminal.warn(format!(
            "{} of the spill file no longer fit and were kept beside it",
            counted(recovered.left_out, "line", "lines")
        ));
    }
}

impl Settings {
    /// What the run is told.
    fn options(&self, until: Option<Moment>) -> Options {
        let policy = Policy {
            on_quota: match self.on_quota.value {
                OnQuotaWord::Wait => OnQuota::Wait,
                OnQuotaWord::Exit => OnQuota::Exit,
            },
            on_existing: match self.on_existing.value {
                OnExistingWord::Adopt => OnExisting::Adopt,
                OnExistingWord::Skip => OnExisting::Skip,
                OnExistingWord::Fail => OnExisting::Fail,
            },
            in_doubt: match self.in_doubt.value {
                InDoubtWord::Settle => InDoubt::Settle,
                InDoubtWord::Hold => InDoubt::Hold,
            },
            settle: self.settle.value,
        };
        let limits = Limits {
            rate: self.pace(),
            concurrency: self.concurrency.value,
            daily_quota: self.daily_quota.value,
            reserve: self.reserve.value,
        };
        Options { policy, limits, until }
    }
}

/// Runs the jobs, shows how it goes, and passes signals on.
async fn send(
    context: &Context<'_>,
    journal: Journal,
    client: Client,
    options: Options,
    concerned: &[ImportId],
) -> Result<(Journal, Ending)> {
    let mut signals =
        Signals::listen().map_err(|error| Error::internal("cannot listen for signals").because(error))?;
    let clock: Arc<dyn Clock> = context.clock.clone();
    let tick = || Tick { now: clock.now(), elapsed: clock.elapsed() };
    let shown = match concerned {
        [import] => journal.tally(Some(*import))?,
        _ => journal.tally(None)?,
    };
    let mut progress = Progress::start(context.terminal, shown, tick(), context.here.clone());
    let (interrupt, interrupts) = mpsc::channel(2);
    let (tell, mut news) = mpsc::unbounded_channel::<Event>();
    let mut asked = Some(Interrupt::Drain);
    // On a task of its own, so that a slow terminal does not hold it up.
    let mut running =
        tokio::spawn(crate::run::run(journal, client, clock.clone(), options, interrupts, tell));
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            Some(event) = news.recv() => {
                progress.news(&event, tick());
                while let Ok(event) = news.try_recv() {
                    progress.news(&event, tick());
                }
            }
            () = clock.sleep_until(clock.elapsed() + TICK) => {}
            () = signals.next() => {
                if let Some(now) = asked {
                    let _ended_meanwhile = interrupt.try_send(now);
                    asked = (now == Interrupt::Drain).then_some(Interrupt::Abort);
                }
            }
        }
        progress.tick(tick());
    };
    while let Ok(event) = news.try_recv() {
        progress.news(&event, tick());
    }
    progress.finish(tick());
    let (journal, ending) =
        ended.map_err(|error| Error::internal("the run ended unforeseen").because(error))?;
    let ending = ending?;
    Ok((journal?, ending))
}

/// Writes the reports, says how it ended and what to type next.
fn conclude(
    context: &Context<'_>,
    journal: &Journal,
    concerned: &[ImportId],
    of_everything: bool,
    ending: &Ending,
) -> Result<Exit> {
    // Without sheets of its own a run speaks of the whole journal.
    let mut worst = if of_everything { counts::exit(&journal.tally(None)?) } else { Exit::Done };
    let mut sum = Tally::default();
    for &import in concerned {
        let tally = journal.tally(Some(import))?;
        worst = worse(worst, counts::exit(&tally));
        for kind in Kind::ALL {
            for &state in JobState::ALL {
                sum.add(kind, state, tally.of(kind, state));
            }
        }
    }
    let (exit, state, resumes_at) = judged(ending, worst);
    let standing = Standing { state, exit_code: exit.code(), resumes_at };
    let terminal = context.terminal;
    for line in counts::table(&sum) {
        terminal.result(line);
    }
    let mut folders = Vec::new();
    for &import in concerned {
        let written = reports::write(context, journal, import, &standing)?;
        folders.push(written.folder.display().to_string());
    }
    if exit == Exit::Held || exit == Exit::Rejections || exit == Exit::Done {
        for &import in concerned {
            held::tell(context, journal, Some(import))?;
        }
    }
    tell_ending(context, ending, exit);
    terminal.object(&json!({
        "object": "summary", "imports": concerned, "state": state.as_str(), "rows": sum.total(),
        "counts": counts::object(&sum), "resumes_at": resumes_at.map(|at| at.to_string()),
        "reports": folders, "exit_code": exit.code(),
    }));
    Ok(exit)
}

/// Exit code, state for the reports and restart time that follow from how a run ended.
fn judged(ending: &Ending, rows: Exit) -> (Exit, RunState, Option<Moment>) {
    match ending {
        Ending::Finished => match rows {
            Exit::Held => (rows, RunState::Held, None),
            Exit::Parked => (rows, RunState::Parked, None),
            _ => (rows, RunState::Finished, None),
        },
        Ending::Parked { until, .. } => (Exit::Parked, RunState::Parked, Some(*until)),
        Ending::Interrupted { .. } => (Exit::Parked, RunState::Parked, None),
        Ending::Stopped { .. } => (Exit::Service, RunState::Stopped, None),
    }
}

/// The exit code of two imports: work left before a person, a person before refusals.
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

fn tell_ending(context: &Context<'_>, ending: &Ending, exit: Exit) {
    let terminal = context.terminal;
    let again = context.again("run");
    match ending {
        Ending::Finished => match exit {
            Exit::Done => {
                terminal.result(Line::new().ink(Ink::Good, "every row is done"));
                terminal.hint(format!("to see it again at any time: {}", context.again("status")));
            }
            Exit::Rejections => {
                terminal
                    .result(Line::new().ink(Ink::Warning, "finished; some rows were rejected or skipped"));
                terminal.hint(format!(
                    "correct the rows in fix.xlsx of the reports, then: {}",
                    context.again("run fix.xlsx")
                ));
            }
            Exit::Held => terminal
                .result(Line::new().ink(Ink::Warning, "finished; some rows are held until a person decides")),
            _ => {
                terminal.result("work is left that can go on later");
                terminal.hint(format!("to go on: {again}"));
            }
        },
        Ending::Parked { until, why } => {
            terminal.result(
                Line::new()
                    .ink(Ink::Warning, "parked")
                    .text(format!(" until {}: {why}", context.moment(*until))),
            );
            terminal.hint(format!("then: {again}"));
        }
        Ending::Interrupted { why } => {
            terminal.result(Line::new().ink(Ink::Warning, "stopped").text(format!(": {why}; work is left")));
            terminal.hint(format!("to go on: {again}"));
        }
        Ending::Stopped { why, hint } => {
            let error = Error::service(format!("stopped: {why}; the rows not sent stay ready"));
            terminal.error(&error.hint(format!("{hint}\nthen: {again}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_follows_from_the_ending_and_then_from_the_rows() {
        let until = Moment::from_millis(1);
        let parked = Ending::Parked { until, why: String::new() };
        let interrupted = Ending::Interrupted { why: String::new() };
        let stopped = Ending::Stopped { why: String::new(), hint: String::new() };
        let table = [
            (&Ending::Finished, Exit::Done, Exit::Done, "finished"),
            (&Ending::Finished, Exit::Rejections, Exit::Rejections, "finished"),
            (&Ending::Finished, Exit::Held, Exit::Held, "held"),
            (&Ending::Finished, Exit::Parked, Exit::Parked, "parked"),
            (&parked, Exit::Held, Exit::Parked, "parked"),
            (&interrupted, Exit::Rejections, Exit::Parked, "parked"),
            (&stopped, Exit::Done, Exit::Service, "stopped"),
        ];
        for (ending, rows, exit, state) in table {
            let (got, standing, _) = judged(ending, rows);
            assert_eq!((got, standing.as_str()), (exit, state), "{ending:?} {rows:?}");
        }
        assert_eq!(judged(&parked, Exit::Done).2, Some(until));
    }

    #[test]
    fn of_two_imports_the_worse_counts() {
        assert_eq!(worse(Exit::Rejections, Exit::Held), Exit::Held);
        assert_eq!(worse(Exit::Held, Exit::Rejections), Exit::Held);
        assert_eq!(worse(Exit::Held, Exit::Parked), Exit::Parked);
        assert_eq!(worse(Exit::Done, Exit::Rejections), Exit::Rejections);
    }
}

//! `fleetload run`: imports the files, takes the locks, runs every unfinished job, reports.
//!
//! This file prepares. What goes on meanwhile is in `run_loop` and `display`, how it ended is said in `ending`.

mod confirm;
pub(super) mod display;
pub(super) mod ending;
pub(super) mod meter;
pub(super) mod now;
pub(super) mod preconditions;
pub(super) mod reports;
pub(super) mod run_loop;
pub(super) mod signals;
pub(super) mod watchdog;

use std::cell::RefCell;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use self::confirm::Confirmation;
use self::ending::{Ended, conclude};
use self::preconditions::{HeldAccount, Locks, Taken};
use self::run_loop::{Passes, tell_recovered};
use self::signals::Watch;
use crate::advice::{Advice, quoted, quoted_files};
use crate::cli::args::commands::Run as Typed;
use crate::cli::args::moment_to_come;
use crate::cli::args::options::RehearsalArgs;
use crate::cli::context::Context;
use crate::cli::ids;
use crate::cli::import::{self, files};
use crate::cli::import::{LookUp, ServiceFacts};
use crate::cli::notify::notifier::Notifier;
use crate::cli::plan::saved;
use crate::cli::reading::access::ServiceAccess;
use crate::cli::sandbox::rehearsal;
use crate::cli::settings::account::Rehearsed;
use crate::cli::settings::window::zone_typed;
use crate::cli::settings::{Purpose, Settings};
use crate::cli::summary::Summary;
use crate::cli::zones;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{Account, AuditScope, Journal, Whose, Writing};
use crate::model::id::ImportId;
use crate::model::id::check::{IdCheck, NamedId};
use crate::model::kind::Kind;
use crate::model::policy::Audit;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::model::window::SendingHours;
use crate::model::zone::ZoneList;
use crate::plan::SavedPlan;
use crate::run::{
    Ending, OnClose, OnRejections, RunLimits, RunOptions, RunPolicy, account_locks, choose_canary,
};
use crate::service::Client;
use crate::sheet::cross_row::Checked;
use crate::status::run_state;

/// How long connections may take to close.
const CLOSING: Duration = Duration::from_secs(1);

/// Imports, runs and reports, and notifies whom the profile names. How it ended is noted by [`meter::Meter::finish`], once the
/// result is printed: a result that could not be printed changes the exit code.
pub(in crate::cli) fn run(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    run_unless_outdated(context, typed, &|_| false)
}

/// The same of files that somebody may still be writing. Where a run could not begin, and its end is outdated since they have
/// changed, nobody is notified.
pub(in crate::cli) fn run_unless_outdated(
    context: &Context<'_>,
    typed: &Typed,
    is_outdated: &dyn Fn(End) -> bool,
) -> Result<Summary> {
    let notifier = Notifier::default();
    let ended = import_and_run(context, typed, &notifier);
    let end = ended.as_ref().map_or_else(Error::end, Summary::end);
    notifier.finish(context, end, is_outdated(end));
    ended
}

fn import_and_run(context: &Context<'_>, typed: &Typed, notifier: &Notifier) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    let meter = &context.meter;
    meter.take(context, typed);
    let zone = zone_typed(&typed.window, &context.here)?;
    let to_come = |option, text: &Option<String>| {
        text.as_deref().map(|text| moment_to_come(option, text, context.now(), &zone)).transpose()
    };
    let (until, at) = (to_come("--until", &typed.until)?, to_come("--at", &typed.at)?);
    if let (Some(until), Some(at)) = (until, at)
        && until <= at
    {
        let words = format!(
            "--until {} is not after --at {}: nothing would be sent",
            context.moment(until),
            context.moment(at)
        );
        return Err(Error::usage(words).hint("give a later time to --until, or an earlier one to --at"));
    }
    let purpose =
        if typed.rehearsal.sandbox { unborn_rehearsal(&typed.rehearsal)? } else { Purpose::Service };
    let settings = context.settings(&purpose, &typed.overrides)?;
    let watch = Watch::start(context, Whose::from(settings.identity()))?;
    notifier.watched_by(&watch);
    let cannot_begin = |error| {
        if !typed.rehearsal.sandbox {
            notifier.start(context, &settings, typed)?;
        }
        Err(error)
    };
    let files = match files::expand(context, &typed.files) {
        Ok(files) => files,
        Err(error) => return cannot_begin(error),
    };
    let typed = &Typed { files, ..typed.clone() };
    let hours = settings.window.hours(&typed.window, at, &context.here)?;
    tell_hours(context, &hours, until);
    let agreed = match confirm::confirm(context, typed, &settings) {
        Ok(Confirmation::Begin(agreed)) => agreed,
        // Who did not confirm is at the terminal.
        Ok(Confirmation::Ended(summary)) => return Ok(summary),
        Err(error) => return cannot_begin(error),
    };
    // Everything that can be wrong with the profile is found before anything is imported.
    let client = if typed.rehearsal.sandbox { None } else { Some(settings.client(context.clock.clone())?) };
    if !typed.rehearsal.sandbox {
        notifier.start(context, &settings, typed)?;
    }
    meter.probe(&context.common.journal)?;
    preconditions::refuse_unsafe_storage(context)?;
    preconditions::examine(context, typed)?;
    let runtime = context.runtime()?;
    // Outside the window nothing is asked either; a time to start at is only for what is sent.
    let is_closed = SendingHours { from: None, ..hours.clone() }.opening(context.now()) > context.now();
    let asked = client.as_ref().filter(|_| !is_closed);
    let zones = || runtime.block_on(zones_of(context, asked?));
    let (asked_before, ahead) = (RefCell::new(IdCheck::default()), RefCell::new(None));
    let look_up = |sheets: &Checked, ids| {
        if is_closed {
            return Ok(None);
        }
        let (check, locked) = match &client {
            Some(client) => look_up_ahead(context, &settings, (&runtime, client), sheets, ids)?,
            None => (look_up_in_rehearsal(context, typed, ids)?, None),
        };
        asked_before.replace(check.clone().unwrap_or_default());
        ahead.replace(locked);
        Ok(check)
    };
    let (mut journal, imported) = match prepare(context, typed, (&settings, agreed), (&zones, &look_up))? {
        Ok(prepared) => prepared,
        Err(refused) => return Ok(refused),
    };

    context.note_whose(&journal)?;
    watch.imported(context);
    let concerned = concerned(&journal, imported)?;
    let locks = match Locks::take(context, &journal, &settings, typed.rehearsal.sandbox, ahead.take())? {
        Ok(locks) => locks,
        Err(Taken::Journal { holder, .. }) if typed.now => {
            notifier.leave_to_other();
            return now::ask(context, &mut journal, &holder);
        }
        Err(taken) => return Ok(taken.tell(context)),
    };
    notifier.begin(context, &journal);
    meter.begin(context)?;
    preconditions::enter(context, typed, &mut journal)?;
    let recovered = journal.queue().recover(context.now())?;
    tell_recovered(context, &recovered);
    match typed.canary.map(NonZeroU32::new) {
        // It holds for later runs as well, however this one ends.
        Some(Some(of_each)) => {
            choose_canary(&mut journal, of_each, imported)?;
            tell_no_canary(context, &journal, imported, of_each)?;
        }
        Some(None) => journal.queue().drop_canary()?,
        None => {}
    }
    if typed.now {
        journal.make_due(context.now())?;
    }
    let earlier = journal.last_run()?.map(|run| run.run);
    let newest = journal.imports()?.last().map(|info| info.import);
    // An earlier run may have ended before it had read back what it made.
    let scope = settings.audit_scope();
    let unread = scope.map_or(Ok(0), |scope| journal.count_unaudited(scope).map(|due| due.total()))?;
    let ended = |ending| Ended { ending, earlier, scope, imported, concerned: &concerned, notifier };
    let passes = Passes {
        context,
        typed,
        settings: &settings,
        runtime: &runtime,
        client: client.as_ref(),
        until,
        hours,
        concerned: &concerned,
        asked_before: &asked_before.take(),
        watch: &watch,
        notifier,
        meter,
    };
    if !journal.goes_on()? && unread == 0 {
        journal.finish_page_check()?;
        passes.note_unverified(&mut journal)?;
        context.terminal.say(match journal.paused_rows(None)? {
            0 => "nothing is left to be sent",
            _ => "nothing can be sent: the rows that are left belong to paused imports, or wait for rows of them",
        });
        watch.reporting(context, &journal);
        return conclude(context, &journal, &ended(&Ending::Finished));
    }
    let (journal, ending) = passes.make(journal, locks)?;
    watch.reporting(context, &journal);
    // Connections that are kept open hold files that the reports may need.
    drop(client);
    runtime.shutdown_timeout(CLOSING);
    // Another command may have imported rows while this one ran, and left them to it.
    let new = journal.imports()?.into_iter().map(|info| info.import).filter(|import| Some(*import) > newest);
    let concerned: Vec<ImportId> = concerned.iter().copied().chain(new).collect();
    conclude(context, &journal, &Ended { concerned: &concerned, ..ended(&ending) })
}

/// Tells that a canary has no row of the import of this command, or of the journal, where none of those can be sent yet.
fn tell_no_canary(
    context: &Context<'_>,
    journal: &Journal,
    imported: Option<ImportId>,
    of_each: NonZeroU32,
) -> Result<()> {
    let left = run_state::unfinished(&journal.tally(imported)?);
    let (of, all_wait) = match imported {
        Some(import) => (format!(" of import {import}"), journal.kept_rows(Some(import))?.rows == left),
        None => (String::new(), journal.canary()?.is_empty()),
    };
    if left > 0 && all_wait {
        let words = format!("no row{of} can be sent yet, so none is in a canary; when they can be sent: ");
        context.terminal.hint(context.advice(words, &format!("run --canary {of_each}")));
    }
    Ok(())
}

/// Tells what a run was given of times, as they were understood.
fn tell_hours(context: &Context<'_>, hours: &SendingHours, until: Option<Moment>) {
    if let Some(windows) = &hours.windows {
        context.terminal.say(format!("requests leave only in the window {}", windows.words()));
    }
    if let Some(until) = until {
        context.terminal.say(format!("no request starts after {}", context.moment(until)));
    }
}

/// The settings of a rehearsal before its sandbox runs, which is not before the journal is locked.
pub(super) fn unborn_rehearsal(typed: &RehearsalArgs) -> Result<Purpose> {
    let scenario = rehearsal::read_scenario(typed.scenario.as_deref())?;
    let (client_id, client_secret) = rehearsal::client_of(&scenario);
    let address = "http://127.0.0.1"
        .parse()
        .map_err(|error| Error::internal("the address of this machine is none").because(error))?;
    Ok(Purpose::Rehearsal(Rehearsed { address, client_id, client_secret: client_secret.into() }))
}

/// The time zones that the service lists. What it does not answer is reported, and keeps nothing from going on.
async fn zones_of(context: &Context<'_>, client: &Client) -> Option<ZoneList> {
    if !zones::can_be_asked(client) {
        return None;
    }
    context.terminal.say("asking the service for its list of time zones");
    let told = |why| {
        context
            .terminal
            .say(format!("it gave none ({why}): time zones are checked against the IANA list only"));
    };
    zones::ask(client, context.now()).await.map_err(told).ok()
}

/// Looks up the ids that sheets name before they are imported. What is below the company that the first row names is listed
/// meanwhile, under the lock of the account, where no other run has it.
fn look_up_ahead(
    context: &Context<'_>,
    settings: &Settings,
    (runtime, client): (&Runtime, &Client),
    sheets: &Checked,
    ids: Vec<NamedId>,
) -> Result<(Option<IdCheck>, Option<HeldAccount>)> {
    let parent = sheets.first_parent().filter(|id| ids.contains(&(Kind::Company, *id)));
    let mut held = match parent {
        Some(_) => HeldAccount::take(context, settings)?.ok(),
        None => None,
    };
    let (asked, parent) = ((client, settings.rate.value), parent.filter(|_| held.is_some()));
    let (check, list) = runtime.block_on(ids::before_import(context, asked, ids, parent))?;
    if let Some(held) = &mut held {
        held.list = list;
    }
    Ok((check, held))
}

/// The same for a rehearsal, which takes ids as there, unless its scenario is strict.
fn look_up_in_rehearsal(context: &Context<'_>, typed: &Typed, ids: Vec<NamedId>) -> Result<Option<IdCheck>> {
    let scenario = typed.rehearsal.scenario.as_deref();
    if ids.is_empty() || !rehearsal::read_scenario(scenario)?.strict {
        return Ok(None);
    }
    let journal = Some(context.common.journal.as_path()).filter(|journal| journal.exists());
    let access = ServiceAccess::reach(context, true, scenario, journal, &typed.overrides)?;
    let client = access.settings.client(context.clock.clone())?;
    let asked = (&client, access.settings.rate.value);
    let check = access.runtime.block_on(ids::before_import(context, asked, ids, None));
    access.leave();
    Ok(check?.0)
}

/// Opens the journal and brings the files in; when the sheets have problems, which were told, how the command ended.
fn prepare(
    context: &Context<'_>,
    typed: &Typed,
    (settings, agreed): (&Settings, Option<SavedPlan>),
    (zones, look_up): (&dyn Fn() -> Option<ZoneList>, &LookUp<'_>),
) -> Result<std::result::Result<(Journal, Option<ImportId>), Summary>> {
    let account = settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
    let path = &context.common.journal;
    if typed.files.is_empty() {
        let mut journal = Journal::open_existing(path)?;
        context.at_journal.set(true);
        bind(context, typed, &mut journal, &account)?;
        return Ok(Ok((journal, None)));
    }
    if path.exists() {
        // Rows for one account must not get into the journal of another.
        let journal = Journal::open_existing(path)?;
        if journal.account()?.is_some() {
            let mut journal = journal;
            bind(context, typed, &mut journal, &account)?;
        }
    }
    // That the run's lock cannot be taken is found out before rows are in the journal.
    if !typed.rehearsal.sandbox {
        account_locks()?;
    }
    let endpoints = settings.endpoints()?;
    let available = |operation| endpoints.available(operation);
    let zones = || zones().inspect(|list| zones::keep(context, &account.base_url, list));
    let named = typed.plan.as_deref().map(|file| saved::named(context, file)).transpose()?;
    let plan = named.as_ref().or(agreed.as_ref());
    let service = ServiceFacts { available: &available, account: &account, zones: &zones, look_up, plan };
    let turn = (typed.label.as_deref(), &typed.turn, None);
    Ok(match import::import(context, &typed.files, turn, &typed.reading, Some(&service))? {
        Ok((journal, imported)) => Ok((journal, Some(imported.import))),
        Err(refused) => Err(refused),
    })
}

/// Binds the journal to the account. Who rehearsed in this folder and now means it is told how to begin in earnest,
/// and the other way round.
fn bind(context: &Context<'_>, typed: &Typed, journal: &mut Journal, account: &Account) -> Result<()> {
    let rehearsed = journal.account()?.is_some_and(|bound| bound.is_rehearsal());
    let rehearsing = account.is_rehearsal();
    if rehearsed == rehearsing || journal.account()?.is_none() {
        return journal.bind(account);
    }
    let path = context.common.journal.display();
    let mut typed_again = quoted_files(&typed.files);
    if let Some(label) = &typed.label {
        typed_again.push_str(&format!(" --label {}", quoted(label)));
    }
    typed_again.push_str(&typed.reading.settle(context)?.command_line());
    typed_again.push_str(&typed.overrides.command_line());
    typed_again.push_str(&typed.window.command_line());
    let (what, name, options) = if rehearsed {
        (format!("the journal {path} holds a rehearsal, not work with a service"), "service.db", "")
    } else {
        (
            format!("the journal {path} holds work with a service; a rehearsal needs one of its own"),
            "rehearsal.db",
            " --sandbox",
        )
    };
    // The other journal is of the kind that was typed.
    context.rehearsing.set(rehearsing);
    let journal = with_journal_beside(&context.common.reports, name);
    let command = context.again(&format!("run{typed_again}{journal}{options}"));
    Err(Error::usage(what).hint(Advice::from("name another journal: ").command(command)))
}

/// The options that name another journal, with a folder of its own for its reports.
pub(super) fn with_journal(name: &str) -> String {
    with_journal_beside(Path::new("reports"), name)
}

/// The same with that folder beside the one which was typed.
fn with_journal_beside(reports: &Path, name: &str) -> String {
    let stem = name.trim_end_matches(".db");
    let own = reports.file_name().map_or_else(|| "reports".into(), |own| own.to_string_lossy());
    let reports = reports.with_file_name(format!("{own}-{stem}"));
    format!(" --journal {name} --reports {}", quoted(&reports.to_string_lossy()))
}

/// What this command is about: the import it made, those that are not finished, and those with findings that nobody has
/// looked into; else the latest.
fn concerned(journal: &Journal, imported: Option<ImportId>) -> Result<Vec<ImportId>> {
    let (mut concerned, mut last) = (Vec::new(), None);
    let jobs = journal.job_tallies()?;
    for info in journal.imports()? {
        let tally = journal.tally_with(info.import, &jobs)?;
        let open = run_state::unfinished(&tally) + tally.in_state(JobState::Held) > 0
            || !journal.unseen_findings(Some(info.import))?.is_empty();
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

impl Settings {
    /// Which records are read back.
    fn audit_scope(&self) -> Option<AuditScope> {
        match self.audit.value {
            Audit::All => Some(AuditScope::All),
            Audit::Doubtful => Some(AuditScope::Doubtful),
            Audit::None => None,
        }
    }

    /// What the run is told.
    pub(super) fn options(
        &self,
        (until, hours): (Option<Moment>, SendingHours),
        on_close: Option<OnClose>,
        on_rejections: OnRejections,
        overwrite: bool,
        typed: String,
    ) -> RunOptions {
        let policy = RunPolicy {
            on_quota: self.on_quota.value,
            on_close: on_close.unwrap_or(self.window.on_close.value),
            on_existing: self.on_existing.value,
            in_doubt: self.in_doubt.value,
            settle: self.settle.value,
            audit: self.audit_scope(),
            on_rejections,
            overwrite,
        };
        let limits = RunLimits {
            rate: self.rate.value,
            concurrency: self.concurrency.value,
            daily_quota: self.daily_quota.value,
            reserve: self.reserve.value,
        };
        RunOptions {
            policy,
            limits,
            until,
            hours,
            typed,
            begun: None,
            list_ahead: None,
            writing: Writing::default(),
        }
    }
}

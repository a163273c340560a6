//! The loop of a run: one pass over the journal, and another one for rows that came in at its last moment.
//!
//! What comes before the first pass, and what is said after the last, is left to `run` and `ending`; how a pass goes is
//! shown by `display`.

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::display::{InterruptChannel, send};
use super::meter::Meter;
use super::preconditions;
use super::preconditions::{Locks, Taken};
use super::signals::Watch;
use crate::cli::args::commands::Run;
use crate::cli::context::Context;
use crate::cli::ids;
use crate::cli::notify::notifier::Notifier;
use crate::cli::sandbox::rehearsal::Rehearsal;
use crate::cli::settings::{Purpose, Settings};
use crate::error::{Error, ErrorKind, Result};
use crate::journal::{Journal, Recovered};
use crate::model::event::Event;
use crate::model::id::ImportId;
use crate::model::id::check::IdCheck;
use crate::model::time::Moment;
use crate::model::window::SendingHours;
use crate::run::{
    Ending, Interrupt, ListAhead, OnRejections, RunOptions, Waited, end_unsent, note_empty, wait_to_begin,
};
use crate::service::{Client, Rate};
use crate::term::{EventObject, counted, span};

/// What every pass of a run is made with.
pub(super) struct Passes<'a> {
    pub(in crate::cli) context: &'a Context<'a>,
    pub(in crate::cli) typed: &'a Run,
    pub(in crate::cli) settings: &'a Settings,
    pub(in crate::cli) runtime: &'a Runtime,
    /// Who talks to the service; a rehearsal has a service and a client of its own in each pass.
    pub(in crate::cli) client: Option<&'a Client>,
    /// Begin no more requests from this moment on.
    pub(in crate::cli) until: Option<Moment>,
    /// When requests may leave.
    pub(in crate::cli) hours: SendingHours,
    /// The imports whose rows are shown.
    pub(super) concerned: &'a [ImportId],
    /// What was looked up before the sheets of the command were imported.
    pub(super) asked_before: &'a IdCheck,
    /// Who passes signals on.
    pub(super) watch: &'a Watch,
    /// Who tells others.
    pub(super) notifier: &'a Notifier,
    /// Who counts.
    pub(super) meter: &'a Meter,
}

impl Passes<'_> {
    /// Passes over the journal until nothing is left that came in meanwhile; the locks end with the last pass.
    pub(in crate::cli) fn make(&self, mut journal: Journal, mut locks: Locks) -> Result<(Journal, Ending)> {
        let mut finished = false;
        loop {
            let before = journal.data_version()?;
            let ending;
            (journal, ending) = match self.runtime.block_on(self.once(journal, locks.take_list())) {
                Ok(sent) => sent,
                // What came in at the last moment could not be sent; the run before it is finished anyway.
                Err(error) if finished && error.kind() == ErrorKind::Usage => {
                    drop(locks);
                    let journal = Journal::open_existing(&self.context.common.journal)?;
                    tell_left(self.context, &error);
                    return Ok((journal, Ending::Finished));
                }
                Err(error) => return Err(error),
            };
            drop(locks);
            // Another command may have put rows in the journal at the last moment, and left them to this run because it
            // still held the lock.
            let changed = journal.data_version()? != before;
            if ending != Ending::Finished || !changed || !journal.goes_on()? {
                return Ok((journal, ending));
            }
            finished = true;
            locks = match begin_again(self.context, self.typed, self.settings, &mut journal) {
                Ok(Ok(again)) => again,
                Ok(Err(taken)) => {
                    self.context.terminal.say(taken.words(self.context));
                    return Ok((journal, ending));
                }
                Err(error) => {
                    tell_left(self.context, &error);
                    return Ok((journal, ending));
                }
            };
        }
    }

    /// Notes a run that sends and verifies nothing, where the one before it has left rows to verify.
    pub(in crate::cli) fn note_unverified(&self, journal: &mut Journal) -> Result<()> {
        if journal.left_to_verify(None)? == 0 {
            return Ok(());
        }
        let options = self.options(self.settings);
        let changes = note_empty(journal, &self.settings.endpoints()?, &options, self.context.now())?;
        if let Some(changes) = changes {
            self.context.terminal.say(changes);
        }
        Ok(())
    }

    /// One pass, over the service or a simulated one.
    async fn once(&self, mut journal: Journal, list_ahead: Option<ListAhead>) -> Result<(Journal, Ending)> {
        let Some(client) = self.client else { return self.rehearse(journal).await };
        let mut options = RunOptions { list_ahead, ..self.options(self.settings) };
        let (interrupt, mut interrupts) = self.listen();
        let asked = (client, self.settings.rate.value);
        if let Some(ending) = self.before_sending(&mut journal, &mut options, asked, &mut interrupts).await? {
            return Ok((journal, ending));
        }
        let told = ((interrupt, interrupts), self.notifier, self.meter);
        let shown = (self.concerned, self.typed.events);
        send(self.context, journal, client.clone(), options, shown, told).await
    }

    /// One pass against a sandbox of its own.
    async fn rehearse(&self, mut journal: Journal) -> Result<(Journal, Ending)> {
        let &Self { context, typed, notifier, meter, .. } = self;
        let scenario = typed.rehearsal.scenario.as_deref();
        let rehearsal = Rehearsal::start(scenario, Some(journal.path())).await?;
        // From wherever the next command is typed, it means the same file.
        journal.note_scenario(scenario.and_then(|file| std::path::absolute(file).ok()).as_deref())?;
        let settings = context.settings(&Purpose::Rehearsal(rehearsal.account.clone()), &typed.overrides)?;
        context.terminal.say(format!(
            "rehearsal: a simulated service in this process; unknown outcomes are settled after {} instead of 10 min",
            span(settings.settle.value)
        ));
        let client = settings.client(context.clock.clone())?;
        let mut options = self.options(&settings);
        let (interrupt, mut interrupts) = self.listen();
        let asked = (&client, settings.rate.value);
        let ended = match self.before_sending(&mut journal, &mut options, asked, &mut interrupts).await {
            Ok(None) => {
                let shown = (self.concerned, typed.events);
                let told = ((interrupt, interrupts), notifier, meter);
                send(context, journal, client, options, shown, told).await
            }
            Ok(Some(ending)) => Ok((journal, ending)),
            Err(error) => Err(error),
        };
        rehearsal.running.stop().await;
        ended
    }

    /// From now on a signal goes to this run.
    fn listen(&self) -> InterruptChannel {
        let (interrupt, interrupts) = mpsc::channel(16);
        self.watch.sending(interrupt.clone());
        (interrupt, interrupts)
    }

    /// Opens the run's entry in the journal, waits until requests may leave, and looks up the ids that no look-up has shown. How
    /// the run ended, where it did before that.
    async fn before_sending(
        &self,
        journal: &mut Journal,
        options: &mut RunOptions,
        asked: (&Client, Rate),
        interrupts: &mut mpsc::Receiver<Interrupt>,
    ) -> Result<Option<Ending>> {
        let begun = match self.wait(journal, options, interrupts).await? {
            Waited::Begun(begun) => *options.begun.insert(begun),
            Waited::Ended(ending) => return Ok(Some(ending)),
        };
        let (context, seen) = (self.context, (&mut *journal, begun.run()));
        let looked_up = tokio::select! {
            biased;
            Some(_) = interrupts.recv() => None,
            refused = ids::before_run(context, asked, seen, self.asked_before) => Some(refused),
        };
        match looked_up {
            Some(Ok(None)) => Ok(None),
            Some(refused) => {
                journal.queue().withdraw_run(begun.run())?;
                refused
            }
            None => end_unsent(journal, begun, context.now(), Ending::interrupted_unsent()).map(Some),
        }
    }

    /// Opens the run's entry, and waits until requests may leave.
    async fn wait(
        &self,
        journal: &mut Journal,
        options: &RunOptions,
        interrupts: &mut mpsc::Receiver<Interrupt>,
    ) -> Result<Waited> {
        let (context, clock) = (self.context, &*self.context.clock);
        let tell = |until, why: &str| {
            let words = format!("paused until {}: {why}; nothing is sent before", context.moment(until));
            context.terminal.say(words.as_str());
            let event = Event::OutsideHours { until, why: why.to_owned() };
            let (at, message) = (clock.now().into(), Some(words));
            context.terminal.object(&EventObject { at, message, event: &event });
        };
        wait_to_begin(journal, clock, options, interrupts, tell).await
    }

    /// What a pass goes by.
    fn options(&self, settings: &Settings) -> RunOptions {
        let (hours, on_close) = (self.hours.clone(), self.typed.window.on_close);
        let typed = self.typed.options_again();
        let until_and_hours = (self.until, hours);
        let overwrite = self.typed.overwrite;
        settings.options(until_and_hours, on_close, self.on_rejections(), overwrite, typed)
    }

    /// What to do with a sheet that the service refuses: ask, when somebody is there.
    fn on_rejections(&self) -> OnRejections {
        if self.typed.despite_rejections {
            OnRejections::GoOn
        } else if self.context.terminal.can_ask() {
            OnRejections::Ask
        } else {
            OnRejections::Leave
        }
    }
}

/// Takes the locks for another pass over the journal, or says which other run has them. That run may have come and
/// gone since, so that what it left is taken up as at any start.
fn begin_again(
    context: &Context<'_>,
    typed: &Run,
    settings: &Settings,
    journal: &mut Journal,
) -> Result<std::result::Result<Locks, Taken>> {
    let locks = match Locks::take(context, journal, settings, typed.rehearsal.sandbox, None)? {
        Ok(locks) => locks,
        Err(taken) => return Ok(Err(taken)),
    };
    preconditions::enter_again(journal)?;
    let recovered = journal.queue().recover(context.now())?;
    tell_recovered(context, &recovered);
    Ok(Ok(locks))
}

/// Tells why rows that came in at the last moment are left, where that does not make the finished run any less so.
fn tell_left(context: &Context<'_>, error: &Error) {
    context.terminal.warn(format!("rows that were imported meanwhile are left to the next run: {error}"));
    if let Some(advice) = error.advice() {
        context.terminal.hint(advice.clone());
    }
}

/// Tells what a run that did not come to its end left behind.
pub(super) fn tell_recovered(context: &Context<'_>, recovered: &Recovered) {
    let terminal = context.terminal;
    if recovered.doubtful > 0 {
        let requests = counted(
            recovered.doubtful,
            "request under way; fleetload first looks up whether it was executed",
            "requests under way; fleetload first looks up whether they were executed",
        );
        terminal.say(format!("the last run ended with {requests}"));
    }
    if recovered.held > 0 {
        terminal.warn(format!(
            "{} on hold: three runs ended while sending the same row",
            counted(recovered.held, "row is", "rows are")
        ));
    }
    if recovered.spilled > 0 {
        terminal.say(format!(
            "{} recovered that could not be written when the last run ended",
            counted(recovered.spilled, "outcome was", "outcomes were")
        ));
    }
    if recovered.left_out > 0 {
        terminal.warn(counted(
            recovered.left_out,
            "line of the spill file no longer fits and was kept beside it",
            "lines of the spill file no longer fit and were kept beside it",
        ));
    }
}

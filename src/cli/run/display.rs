//! The display of a run: the run is on a task of its own; its events go to the terminal and the log, and what a person
//! answers meanwhile goes to the run. Signals are passed on by [`crate::cli::run::signals`].
//!
//! What is sent, and when, is decided in [`crate::run`].

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use super::meter::Meter;
use super::watchdog;
use crate::cli::context::Context;
use crate::cli::notify::notifier::Notifier;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::model::event::Event;
use crate::model::id::{ImportId, SheetId};
use crate::run::{Ending, Interrupt, Pulse, RunOptions};
use crate::service::Client;
use crate::term::{EventDetail, Progress, Terminal, Tick};

/// How often the display is brought up to date.
const TICK: Duration = Duration::from_millis(250);

/// The way of signals and answers to a run.
pub(super) type InterruptChannel = (mpsc::Sender<Interrupt>, mpsc::Receiver<Interrupt>);

/// Runs the jobs, and shows how it goes.
pub(super) async fn send(
    context: &Context<'_>,
    journal: Journal,
    client: Client,
    options: RunOptions,
    (concerned, detail): (&[ImportId], EventDetail),
    ((interrupt, interrupts), notifier, meter): (InterruptChannel, &Notifier, &Meter),
) -> Result<(Journal, Ending)> {
    let clock: Arc<dyn Clock> = context.clock.clone();
    let tick = || Tick { now: clock.now(), elapsed: clock.elapsed() };
    let shown = match concerned {
        [import] => {
            // Moves are reported for jobs.
            let mut rows = journal.tally(Some(*import))?;
            rows.take_away(&journal.rows_beyond_jobs(*import)?);
            rows
        }
        _ => journal.tally(None)?,
    };
    // Until the run has found out which day it is at the service.
    let today = journal.quota_now(tick().now)?;
    let today = options.limits.daily_quota.map_or(today, |set| today.limited_to(set));
    let known = (shown, today);
    let mut progress =
        Progress::start(context.terminal, known, tick(), context.here.clone(), context.again("status"));
    if context.terminal.json() && detail == EventDetail::Rows {
        let rows = Journal::open_existing(journal.path())?;
        // A row that cannot be read at this moment has its news without its place.
        progress = progress.with_rows(Box::new(move |job| rows.row_identity(job).ok().flatten()));
    }
    let mut questions = Questions::new(context.terminal);
    let (tell, mut news) = mpsc::unbounded_channel::<Event>();
    // On a task of its own, so that a slow terminal does not hold it up.
    let pulse = Pulse::default();
    let _watchdog = watchdog::start(context, &pulse)?;
    let mut running =
        tokio::spawn(crate::run::run(journal, client, clock.clone(), options, interrupts, tell, pulse));
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            Some(event) = news.recv() => {
                take_in(&mut progress, (notifier, meter), &event, tick());
                questions.take(&event);
                while let Ok(event) = news.try_recv() {
                    take_in(&mut progress, (notifier, meter), &event, tick());
                    questions.take(&event);
                }
            }
            answer = questions.answer() => {
                let _ended_meanwhile = interrupt.try_send(answer);
            }
            () = clock.sleep_until(clock.elapsed() + TICK) => {}
        }
        progress.tick(tick());
        meter.tick(tick());
    };
    while let Ok(event) = news.try_recv() {
        take_in(&mut progress, (notifier, meter), &event, tick());
    }
    progress.finish(tick());
    let (journal, ending) = ended.map_err(|error| {
        Error::internal("fleetload failed in the middle of the run; nothing was sent after that")
            .because(error)
            .hint(
                context
                    .advice("to go on: ", "run")
                    .words("\nrequests that were under way are looked up before anything is sent again"),
            )
    })?;
    let ending = ending?;
    Ok((journal?, ending))
}

/// Shows a piece of news, hands it to notifier and meter, and logs it: with `-v` what moves a row or the run, with `-vv` what the
/// run reckons with as well.
fn take_in(progress: &mut Progress, (notifier, meter): (&Notifier, &Meter), event: &Event, tick: Tick) {
    match event {
        Event::ReadBack { done, of } => tracing::debug!(done, of, "verified"),
        Event::QuotaUsed(day) => tracing::debug!(used = day.used(), ceiling = day.ceiling, "quota"),
        Event::Remaining(_) => tracing::debug!(?event, "remaining"),
        Event::Moved { job, kind, from, to } => {
            tracing::info!(job = job.0, kind = kind.singular(), %from, %to, "moved");
        }
        // The client logs each request, whichever command sends it.
        Event::Sent { .. } | Event::Answered { .. } => {}
        Event::Rows { .. }
        | Event::Unseen { .. }
        | Event::Parked { .. }
        | Event::Woken
        | Event::OutsideHours { .. }
        | Event::WithinHours
        | Event::SlowedDown { .. }
        | Event::Breaker { .. }
        | Event::SheetPaused { .. }
        | Event::Unreachable { .. }
        | Event::ClockSkew { .. }
        | Event::Note { .. }
        | Event::Draining { .. } => tracing::info!(?event, "run"),
    }
    progress.news(event, tick);
    notifier.news(event);
    meter.news(event, tick);
}

/// The questions of one run for the person at the terminal, one at a time. The run goes on meanwhile; what is asked and
/// what follows from the answer is decided in [`crate::run`].
struct Questions<'a> {
    terminal: &'a Terminal,
    waiting: VecDeque<(SheetId, String)>,
    /// Whether one is before the person.
    asked: bool,
    tell: mpsc::UnboundedSender<Interrupt>,
    answers: mpsc::UnboundedReceiver<Interrupt>,
}

impl<'a> Questions<'a> {
    fn new(terminal: &'a Terminal) -> Self {
        let (tell, answers) = mpsc::unbounded_channel();
        Self { terminal, waiting: VecDeque::new(), asked: false, tell, answers }
    }

    /// Puts the question, when a piece of news is one.
    fn take(&mut self, event: &Event) {
        if let Event::SheetPaused { sheet, title, asks: true, .. } = event {
            let question = format!("send the other rows of {title} anyway? (y/N)");
            self.waiting.push_back((*sheet, question));
            self.ask();
        }
    }

    /// Waits for the next answer.
    async fn answer(&mut self) -> Interrupt {
        match self.answers.recv().await {
            Some(answer) => {
                self.asked = false;
                self.ask();
                answer
            }
            // Never: the sender is kept here.
            None => std::future::pending().await,
        }
    }

    fn ask(&mut self) {
        if self.asked {
            return;
        }
        let Some((sheet, question)) = self.waiting.pop_front() else { return };
        self.asked = true;
        let tell = self.tell.clone();
        self.terminal.ask(&question, move |yes| {
            let answer = if yes { Interrupt::GoOn(sheet) } else { Interrupt::Leave(sheet) };
            let _ended_meanwhile = tell.send(answer);
        });
    }
}

//! A run from its opening to its close: it signs in, finds where the journal stands, lets the dispatcher work, and notes
//! in the journal how it ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::audit::Audit;
use super::decide::paused_sheets::PausedSheets;
use super::dispatcher::Dispatcher;
use super::ending::{Ending, Opening, sign_in};
use super::evidence::RunEvidence;
use super::gates::Gates;
use super::in_flight::InFlight;
use super::journal_questions::Message;
use super::remaining::RemainingCount;
use super::watch::clock::ClockWatch;
use super::watch::progress::Progress;
use super::watch::watchdog::Pulse;
use super::{Interrupt, Options, drain};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Journal, Writer};
use crate::model::event::Event;
use crate::service::Client;

/// Runs every unfinished job of `journal` until nothing goes on automatically.
///
/// Gives the journal back, closed to writes of the run. News is told only after what it tells is on disk; `pulse` shows how
/// the run stands, for a [`Watchdog`](super::Watchdog).
///
/// # Errors
///
/// `Usage` when an operation that some job needs is neither documented nor mapped; `Journal` when the journal
/// cannot be written any more (nothing further was sent; outcomes are in the spill file).
pub async fn run(
    journal: Journal,
    client: Client,
    clock: Arc<dyn Clock>,
    options: Options,
    interrupts: mpsc::Receiver<Interrupt>,
    news: mpsc::UnboundedSender<Event>,
    pulse: Pulse,
) -> (Result<Journal>, Result<Ending>) {
    let clock_watch = ClockWatch::start(&*clock);
    let (mut journal, mut interrupts) = (journal, interrupts);
    let date = tokio::select! {
        signed_in = sign_in(&client) => match signed_in {
            Ok(date) => date,
            Err(ending) => return (Ok(journal), Ok(ending)),
        },
        Some(_) = interrupts.recv() => {
            let why = "on request, before anything was sent".to_owned();
            return (Ok(journal), Ok(Ending::Interrupted { by: End::Signal, why }));
        }
    };
    let (now, service_now) = (clock.now(), date.unwrap_or_else(|| clock.now()));
    let opening = match Opening::of(&mut journal, &client, options.policy, now, service_now.day()) {
        Ok(opening) => opening,
        Err(error) => return (Ok(journal), Err(error)),
    };
    let (inbox, mut messages) = mpsc::unbounded_channel();
    let replies = inbox.clone();
    let writer = Writer::start(journal, options.writing.clone(), move |reply| {
        // The dispatcher outlives the writer; once it is gone nobody waits for replies.
        drop(replies.send(Message::Journal(reply)));
    });
    let writer = match writer {
        Ok(writer) => writer,
        Err(error) => return (Err(error), Ok(Ending::Finished)),
    };
    let mut this = Dispatcher {
        gates: Gates::new(
            clock.clone(),
            client.clone(),
            options.limits,
            &opening.today,
            opening.learned_ceiling,
        ),
        in_flight: InFlight::new(&opening.operations),
        requests: JoinSet::new(),
        sent: HashMap::new(),
        evidence: RunEvidence::default(),
        audit: Audit::new(opening.run, options.policy.audit, options.policy.settle),
        paused_sheets: PausedSheets::new(options.policy.on_rejections),
        run: opening.run,
        clock,
        client,
        options,
        writer,
        inbox,
        news,
        version: None,
        checked_at: Duration::ZERO,
        drain: None,
        failure: None,
        clock_watch,
        progress: Progress::new(pulse),
        remaining_count: RemainingCount::default(),
    };
    if let Some(date) = date {
        this.observe_date(date);
    }
    this.tell_quota(opening.today);
    if let Some(text) = opening.changes {
        this.tell(Event::Note { text });
    }
    let ending = this.work(&mut messages, interrupts).await;
    close(this, ending).await
}

/// Notes in the journal how a run ended, once everything it had to write is there.
async fn close(mut this: Dispatcher, ending: Ending) -> (Result<Journal>, Result<Ending>) {
    this.requests.abort_all();
    let requests = this.gates.sent();
    let at = this.clock.now();
    let journal = this.writer.close().await;
    if let Some(error) = this.failure {
        return (journal, Err(error));
    }
    let mut journal = match journal {
        Ok(journal) => journal,
        Err(error) => return (Err(error), Ok(ending)),
    };
    let ended = drain::natural_end(ending, &this.gates, &journal).and_then(|ending| {
        if let Some(figures) = this.audit.figures() {
            journal.queue().note_audit(this.run, figures)?;
        }
        journal.queue().end_run(this.run, at, &ending.noted(), &requests)?;
        Ok(ending)
    });
    (Ok(journal), ended)
}

//! A run from its opening to its close: it signs in, finds where the journal stands, lets the dispatcher work, and notes
//! in the journal how it ended.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::clock_watch::ClockWatch;
use super::dispatcher::{Dispatcher, Finish};
use super::ending::Ending;
use super::first_sign_in::{answered, sign_in};
use super::gates::{Gates, Halt};
use super::journal_client::JournalClient;
use super::opening::RunOpening;
use super::waiting::{Begun, end_unsent};
use super::watchdog::Pulse;
use super::{Interrupt, RunOptions};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::Result;
use crate::journal::Journal;
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
    options: RunOptions,
    interrupts: mpsc::Receiver<Interrupt>,
    news: mpsc::UnboundedSender<Event>,
    pulse: Pulse,
) -> (Result<Journal>, Result<Ending>) {
    let clock_watch = ClockWatch::start(&*clock);
    let (mut journal, mut interrupts) = (journal, interrupts);
    // Its entry is open before anything is waited for, so that others see the run and can ask it to try again.
    let begun = match options.begun {
        Some(begun) => begun,
        None => match Begun::at_once(&mut journal, clock.now()) {
            Ok(begun) => begun,
            Err(error) => return (Ok(journal), Err(error)),
        },
    };
    let run = begun.run();
    let tell = |text: &str| drop(news.send(Event::Note { text: text.to_owned() }));
    let sent = clock.now();
    let signed_in = tokio::select! {
        signed_in = sign_in(&client, &*clock, (&mut journal, run), tell) => answered(signed_in),
        Some(_) = interrupts.recv() => Err(Ending::interrupted_unsent()),
    };
    let token = match signed_in {
        Ok(token) => token,
        Err(ending) => {
            let ended = end_unsent(&mut journal, begun, clock.now(), ending);
            return (Ok(journal), ended);
        }
    };
    let date = token.and_then(|token| token.date);
    let opening = match RunOpening::of((&mut journal, run), &client, &options, clock.now(), date) {
        Ok(opening) => opening,
        Err(error) => {
            // What is in the way counts, not that this cannot be noted.
            drop(journal.queue().withdraw_run(run));
            return (Ok(journal), Err(error));
        }
    };
    let page_check = journal.take_page_check();
    let (inbox, mut messages) = mpsc::unbounded_channel();
    let journal = match JournalClient::start(journal, options.writing.clone(), run, inbox) {
        Ok(journal) => journal,
        Err(error) => return (Err(error), Ok(Ending::Finished)),
    };
    let watched = (clock.clone(), clock_watch);
    let mut dispatcher = Dispatcher::new(&opening, journal, client, watched, options, news, pulse);
    dispatcher.tell_opening(opening, (token, sent));
    if let Some(check) = page_check {
        dispatcher.hold_until_checked(check);
    }
    let ending = dispatcher.work(&mut messages, interrupts).await;
    let Finish { journal, failure, gates, audit, news } = dispatcher.finish();
    let at = clock.now();
    let journal = journal.close().await;
    if let Some(error) = failure {
        if let Ok(journal) = &journal
            && let Err(unwritten) = journal.spill_end(run, at, error.end())
        {
            tracing::warn!(error = %unwritten, "how the run ended is not on disk");
        }
        return (journal, Err(error));
    }
    let mut journal = match journal {
        Ok(journal) => journal,
        Err(error) => return (Err(error), Ok(ending)),
    };
    let ended = natural_end(ending, &gates, &journal).and_then(|ending| {
        if let Some(figures) = audit.figures() {
            journal.queue().note_audit(run, figures)?;
        }
        journal.queue().end_run(run, at, &ending.noted(), &gates.sent())?;
        // The last picture of the run says what the journal says from now on.
        if journal.latest_quota()?.is_some_and(|day| day.under_way() > 0)
            && let Some(used) = gates.quota_news(journal.quota_now(at)?.with_none_awaited())
        {
            drop(news.send(used));
        }
        Ok(ending)
    });
    (Ok(journal), ended)
}

/// Nothing is left that goes on automatically: finished, unless rows wait for an operation that had to stop. One that
/// only held rows need has stopped nothing.
pub(super) fn natural_end(ending: Ending, gates: &Gates, journal: &Journal) -> Result<Ending> {
    if !matches!(ending, Ending::Finished | Ending::SheetsLeft { .. }) {
        return Ok(ending);
    }
    for (operation, halt) in gates.halted() {
        if !journal.waits_for(operation)? {
            continue;
        }
        return Ok(match halt {
            Halt::Unmapped => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!("rows that were added meanwhile need {operation}, whose path is not known"),
                hint: format!("map it as [profile.NAME.endpoints.{operation}] with method and path"),
            },
            Halt::Missing { status: status @ 300..=399 } => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!(
                    "the service answered {status} to {operation}: it sends us to another address, which is never followed"
                ),
                hint: format!(
                    "check base_url and the network (a sign-in page?), or set method and path in \
                     [profile.NAME.endpoints.{operation}], then run again; no row was rejected"
                ),
            },
            Halt::Missing { status } => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!("the service answered {status} to {operation}: there is no such endpoint"),
                hint: format!(
                    "set method and path in [profile.NAME.endpoints.{operation}], then run again; no row was rejected"
                ),
            },
        });
    }
    ending.counted(journal)
}

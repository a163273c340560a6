//! The wait before a run begins, where it begins outside the hours in which it may send: nothing is asked of the service before.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;

use super::ending::Ending;
use super::{Interrupt, OnClose, RunOptions};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::Result;
use crate::journal::{Journal, RunId, Waiting};
use crate::model::time::Moment;
use crate::model::window::Standing;

/// The longest sleep: a machine that was suspended, or a clock that was set, is noticed within this.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);

/// What the wait came to.
#[derive(Debug)]
pub enum Waited {
    /// There was nothing to wait for.
    Not,
    /// The hours have come; the run has this number.
    Begun(RunId),
    /// The run is over before it began.
    Ended(Ending),
}

/// Waits until a run may send. `tell` is called once, with the moment and the reason, when there is something to wait for.
///
/// # Errors
/// Journal when it cannot be written.
pub async fn wait_to_begin(
    journal: &mut Journal,
    clock: &dyn Clock,
    options: &RunOptions,
    interrupts: &mut mpsc::Receiver<Interrupt>,
    tell: impl Fn(Moment, &str),
) -> Result<Waited> {
    let hours = &options.hours;
    if matches!(hours.standing(clock.now()), Standing::Open { .. }) {
        return Ok(Waited::Not);
    }
    let run = journal.queue().begin_run(clock.now())?;
    let mut noted = None;
    loop {
        let now = clock.now();
        let Standing::Closed { until } = hours.standing(now) else {
            journal.queue().begin_waiting_run(run, now)?;
            return Ok(Waited::Begun(run));
        };
        if noted.replace(until) != Some(until) {
            let why = hours.why_closed(now);
            tell(until, &why);
            journal.queue().note_waiting(run, Some(&Waiting { waits_for: End::Window, until, why }))?;
        }
        if let Some(ending) = ended(options, now, until) {
            return end(journal, run, now, ending);
        }
        let next = options.until.map_or(until, |stop| stop.min(until)).since(now).min(LONGEST_SLEEP);
        tokio::select! {
            biased;
            Some(interrupt) = interrupts.recv() => {
                if matches!(interrupt, Interrupt::Drain | Interrupt::Abort) {
                    return end(journal, run, now, Ending::interrupted_unsent());
                }
            }
            () = clock.sleep_until(clock.elapsed() + next) => {}
        }
    }
}

/// Why the run does not wait any longer.
fn ended(options: &RunOptions, now: Moment, until: Moment) -> Option<Ending> {
    if options.until.is_some_and(|stop| now >= stop) {
        return Some(Ending::until(options.until));
    }
    // A moment that was given is waited for; a window need not be.
    let by_window = options.hours.from.is_none_or(|from| from <= now);
    (options.policy.on_close == OnClose::Exit && by_window).then(|| Ending::Parked {
        end: End::Window,
        until,
        why: options.hours.why_closed(now),
    })
}

fn end(journal: &mut Journal, run: RunId, at: Moment, ending: Ending) -> Result<Waited> {
    end_unsent(journal, Some(run), at, ending).map(Waited::Ended)
}

/// Ends a run that has sent nothing. One that has waited for its hours is in the journal, and so is its end.
///
/// # Errors
///
/// Journal when it cannot be written.
pub fn end_unsent(journal: &mut Journal, begun: Option<RunId>, at: Moment, ending: Ending) -> Result<Ending> {
    if let Some(run) = begun {
        journal.queue().end_run(run, at, &ending.noted(), &BTreeMap::new())?;
    }
    Ok(ending)
}

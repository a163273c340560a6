//! The entry of a run in the journal, and the wait before it begins, where that is outside the hours in which it may send:
//! nothing is asked of the service before.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::mpsc;

use super::ending::Ending;
use super::opening::note_terms;
use super::{Interrupt, OnClose, RunOptions};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Exit, Result};
use crate::journal::{Journal, RunId, Waiting};
use crate::model::time::Moment;
use crate::model::window::Standing;
use crate::service::Endpoints;

/// The longest sleep: a machine that was suspended, or a clock that was set, is noticed within this.
const LONGEST_SLEEP: Duration = Duration::from_secs(15);

/// A run that has its entry in the journal and has sent nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    run: RunId,
    /// Whether it has waited for its hours.
    has_waited: bool,
}

impl Begun {
    /// Opens the entry of a run that has no hours to wait for.
    ///
    /// # Errors
    ///
    /// Journal when it cannot be written.
    pub fn at_once(journal: &mut Journal, at: Moment) -> Result<Self> {
        Ok(Self { run: journal.queue().begin_run(at)?, has_waited: false })
    }

    /// The number of the run.
    pub const fn run(self) -> RunId {
        self.run
    }
}

/// What the wait came to.
#[derive(Debug)]
pub enum Waited {
    /// The run may send.
    Begun(Begun),
    /// The run is over before it began.
    Ended(Ending),
}

/// Opens the entry of a run, and waits until the run may send. `tell` is called once, with the moment and the reason, when
/// there is something to wait for.
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
    let run = journal.queue().begin_run(clock.now())?;
    journal.queue().note_typed(run, &options.typed)?;
    if matches!(hours.standing(clock.now()), Standing::Open { .. }) {
        return Ok(Waited::Begun(Begun { run, has_waited: false }));
    }
    let had_rows = journal.goes_on()?;
    let mut noted = None;
    loop {
        let now = clock.now();
        if had_rows && !journal.goes_on()? && journal.left_to_verify(None)? == 0 {
            // A person has paused or cancelled what the run was to send.
            return end(journal, run, now, &Ending::Finished).map(|()| Waited::Ended(Ending::Finished));
        }
        let Standing::Closed { until } = hours.standing(now) else {
            journal.queue().begin_waiting_run(run, now)?;
            return Ok(Waited::Begun(Begun { run, has_waited: true }));
        };
        if noted.replace(until) != Some(until) {
            let why = hours.why_closed(now);
            tell(until, &why);
            let waiting = Waiting { waits_for: End::Window, until, quota_resets_at: None, why };
            journal.queue().note_waiting(run, Some(&waiting))?;
        }
        if let Some(ending) = ended(options, now, until) {
            return end(journal, run, now, &ending).map(|()| Waited::Ended(ending));
        }
        let next = options.until.map_or(until, |stop| stop.min(until)).since(now).min(LONGEST_SLEEP);
        tokio::select! {
            biased;
            Some(interrupt) = interrupts.recv() => {
                if matches!(interrupt, Interrupt::Drain | Interrupt::Abort) {
                    let ending = Ending::interrupted_unsent();
                    return end(journal, run, now, &ending).map(|()| Waited::Ended(ending));
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
    // A moment that was given is waited for; a window need not be, nor what comes too late.
    let by_window = options.hours.from.is_none_or(|from| from <= now);
    let is_too_late = options.until.is_some_and(|stop| stop <= until);
    (options.policy.on_close == OnClose::Exit && by_window || is_too_late).then(|| Ending::Parked {
        end: End::Window,
        until,
        why: options.hours.why_closed(now),
    })
}

/// Notes a run that finds nothing to send or to verify: its terms say that what the run before it was to verify is not to be
/// verified any more. What is different from the last run, in words.
///
/// # Errors
/// Journal when it cannot be written.
pub fn note_empty(
    journal: &mut Journal,
    endpoints: &Endpoints,
    options: &RunOptions,
    at: Moment,
) -> Result<Option<String>> {
    let run = journal.queue().begin_run(at)?;
    let changes = note_terms(journal, run, endpoints, options)?;
    end(journal, run, at, &Ending::Finished)?;
    Ok(changes)
}

fn end(journal: &mut Journal, run: RunId, at: Moment, ending: &Ending) -> Result<()> {
    journal.queue().end_run(run, at, &ending.noted(), &BTreeMap::new())
}

/// Ends a run that has sent nothing. One that has waited for its hours, or that the service did not let in, stays in the journal
/// with its end. Of another one nothing stays: how the run before it ended still says how the rows stand.
///
/// # Errors
///
/// Journal when it cannot be written.
pub fn end_unsent(journal: &mut Journal, begun: Begun, at: Moment, ending: Ending) -> Result<Ending> {
    let is_refused = ending.early().is_some_and(|end| end.exit() == Exit::Service);
    match begun.has_waited || is_refused {
        true => end(journal, begun.run, at, &ending)?,
        false => journal.queue().withdraw_run(begun.run)?,
    }
    Ok(ending)
}

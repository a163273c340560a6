//! What the loop shows to the watchdog: how much has moved, what explains that nothing does, what is in hand.
//!
//! Numbers and names of operations only: nothing of what rows hold, no addresses, no secrets.

use std::fmt::Write as _;
use std::time::Duration;

use super::clock::rough;
use super::watchdog::{ProgressReport, Pulse};
use crate::run::dispatcher::Dispatcher;

/// How often the loop shows itself.
const SHOW_EVERY: Duration = Duration::from_secs(1);
/// A request that left longer ago than this and has no answer explains nothing any more: that is twice the longest
/// time for a request that a profile may set, for the token and for itself, and room besides.
const OVERDUE: Duration = Duration::from_secs(1800);

/// What has moved, and where it is shown.
#[derive(Debug)]
pub(in crate::run) struct Progress {
    pulse: Pulse,
    moved: u64,
    shown_at: Option<Duration>,
    sent_at: Duration,
    /// Whether pace, breaker, quota or reach have held something back in this round, for a known time.
    held_back: bool,
}

impl Progress {
    pub(in crate::run) fn new(pulse: Pulse) -> Self {
        Self { pulse, moved: 0, shown_at: None, sent_at: Duration::ZERO, held_back: false }
    }

    /// The loop begins another round.
    pub(in crate::run) fn begin_round(&mut self) {
        self.held_back = false;
    }

    /// A gate holds something back, until a known time.
    pub(in crate::run) fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// Something moved: an answer came, a row was written or found.
    pub(in crate::run) fn moved(&mut self) {
        self.moved += 1;
    }

    /// A request left.
    pub(in crate::run) fn sent(&mut self, now: Duration) {
        self.moved += 1;
        self.sent_at = now;
    }
}

impl Dispatcher {
    /// Leaves the mark of another round, and shows how the run stands when that was last done a while ago.
    pub(in crate::run) fn report_progress(&mut self) {
        self.progress.pulse.beat();
        let now = self.clock.elapsed();
        if self.progress.shown_at.is_some_and(|at| now < at + SHOW_EVERY) {
            return;
        }
        self.progress.shown_at = Some(now);
        let shown = ProgressReport {
            moved: self.progress.moved,
            waits_for: self.waits_for(now),
            in_hand: self.in_words(),
        };
        self.progress.pulse.show(shown);
    }

    /// What the run waits for and will come by itself; `None` when something is to be done, or the journal owes an
    /// answer.
    fn waits_for(&self, now: Duration) -> Option<&'static str> {
        if self.in_flight.awaits_journal() {
            None
        } else if self.drain.is_some() {
            Some("requests under way, which have a time to come home by")
        } else if !self.requests.is_empty() && now < self.progress.sent_at + OVERDUE {
            Some("an answer of the service")
        } else if self.progress.held_back {
            Some("pace, quota or a pause")
        } else if self.paused_sheets.await_answer() {
            Some("the answer of a person")
        } else if self.next_due(now) < Duration::MAX {
            Some("a row whose moment has not come")
        } else {
            None
        }
    }

    /// What is in hand, for whoever has to find out why nothing moves.
    fn in_words(&self) -> String {
        let now = self.clock.now();
        let mut words = format!(
            "requests under way {} of at most {}, {}",
            self.requests.len(),
            self.gates.capacity(),
            self.in_flight.describe(now, |operation| self.gates.halt(operation).is_some()),
        );
        if let Some(until) = self.gates.parked_until() {
            let _ = write!(words, "; creations parked for {}", rough(until.since(now)));
        }
        words
    }
}

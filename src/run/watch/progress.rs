//! What the loop shows to the watchdog: how much has moved, what explains that nothing does, what is in hand.
//!
//! Numbers and names of operations only: nothing of what rows hold, no addresses, no secrets.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use super::clock::rough;
use super::watchdog::{ProgressReport, Pulse};
use crate::run::dispatcher::Dispatcher;
use crate::run::in_flight::Stage;
use crate::run::operation_queue::Backlog;

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
    left_at: Duration,
    /// Whether pace, breaker, quota or reach have held something back in this round, for a known time.
    pub(in crate::run) held_back: bool,
}

impl Progress {
    pub(in crate::run) fn new(pulse: Pulse) -> Self {
        Self { pulse, moved: 0, shown_at: None, left_at: Duration::ZERO, held_back: false }
    }

    /// Something moved: an answer came, a row was written or found.
    pub(in crate::run) fn step(&mut self) {
        self.moved += 1;
    }

    /// A request left.
    pub(in crate::run) fn left(&mut self, now: Duration) {
        self.moved += 1;
        self.left_at = now;
    }
}

impl Dispatcher {
    /// Leaves the mark of another round, and shows how the run stands when that was last done a while ago.
    pub(in crate::run) fn show(&mut self) {
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
        let owed = !self.tickets.is_empty()
            || self.doubtful == Backlog::Asked
            || self.lanes.values().any(|lane| lane.supply == Backlog::Asked);
        if owed {
            None
        } else if self.drain.is_some() {
            Some("requests under way, which have a time to come home by")
        } else if !self.requests.is_empty() && now < self.progress.left_at + OVERDUE {
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
        let mut stages: BTreeMap<&str, usize> = BTreeMap::new();
        for active in self.active.values() {
            let stage = match active.stage {
                Stage::Queued => "waiting to leave",
                Stage::AwaitingChildren => "waiting for a list",
                Stage::Looking => "being looked up",
                Stage::AwaitingReference => "waiting for what they refer to",
                Stage::Owners(_) => "waiting for the journal's word",
                Stage::Claiming => "being claimed",
                Stage::UnderWay => "under way",
                Stage::SettleTimers { .. } => "being written down",
            };
            *stages.entry(stage).or_default() += 1;
        }
        let mut words = format!(
            "requests under way {} of at most {}, writes not confirmed {}, rows in hand {} (in doubt {})",
            self.requests.len(),
            self.capacity.allowed(),
            self.tickets.len(),
            self.active.len(),
            self.active_doubts,
        );
        for (stage, count) in stages {
            let _ = write!(words, "; {count} {stage}");
        }
        let now = self.clock.now();
        let supply = |supply: Backlog| match supply {
            Backlog::Unknown => "to be asked for".to_owned(),
            Backlog::Asked => "asked for".to_owned(),
            Backlog::Exhausted { next_due: None } => "none".to_owned(),
            Backlog::Exhausted { next_due: Some(due) } => format!("none for {}", rough(due.since(now))),
        };
        let _ = write!(words, "; more rows in doubt: {}", supply(self.doubtful));
        for (operation, lane) in &self.lanes {
            let busy = lane.active + lane.queue.len() + lane.claimed.len() > 0 || !lane.supply.is_spent();
            if busy {
                let _ = write!(
                    words,
                    "; {operation}: {} queued, {} claimed, {} in hand, more rows: {}{}",
                    lane.queue.len(),
                    lane.claimed.len(),
                    lane.active,
                    supply(lane.supply),
                    if lane.halt.is_some() { ", stopped" } else { "" },
                );
            }
        }
        if let Some(until) = self.quota.parked_until() {
            let there = self.service_clock.at(now);
            let _ = write!(words, "; creations parked for {}", rough(until.since(there)));
        }
        words
    }
}

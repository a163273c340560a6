//! Where a run's jobs come from: pages of the journal for each operation, jobs in doubt whose look is due, rows that
//! another command has put in the journal meanwhile. What is done with them is left to `before` and `after`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use super::dispatcher::Dispatcher;
use super::gates::breaker::Phase;
use super::in_flight::{ActiveJob, Message, Stage};
use super::operation_queue::{Backlog, Halt, Lane, QueuedRequest};
use crate::error::Error;
use crate::journal::{Page, Work};
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::tally::Tally;

/// Jobs fetched from the journal at once.
const PAGE: usize = 1024;
/// A lane with fewer jobs in hand than this asks the journal for more.
const LOW_WATER: usize = 512;
/// Jobs in doubt that are looked into at once.
const DOUBTS_AT_ONCE: usize = 512;
/// How often the journal is asked whether another process has written to it.
const SURVEY_EVERY: Duration = Duration::from_secs(2);

impl Dispatcher {
    /// The lane of `operation`, made at its first use.
    pub(super) fn lane(&mut self, operation: Operation) -> &mut Lane {
        let (rate, clock) = (self.options.limits.rate, &self.clock);
        self.lanes.entry(operation).or_insert_with(|| Lane::new(operation, rate, clock.clone()))
    }

    /// Queues an errand for its operation.
    pub(super) fn queue(&mut self, operation: Operation, request: QueuedRequest) {
        self.lane(operation).queue.push_back(request);
    }

    /// Asks the journal for whatever may be had and is not in hand yet.
    pub(super) fn refill(&mut self) {
        if self.failure.is_none() && self.writer.is_gone() {
            self
                .fail(Error::internal("writing the journal failed; nothing was sent after that").hint(
                "run the same command again: requests that were under way are looked up before anything is sent again",
            ));
        }
        if self.drain.is_some() || self.failure.is_some() {
            return;
        }
        let now = self.clock.now();
        for (&operation, lane) in &mut self.lanes {
            if lane.halt.is_none() && lane.active < LOW_WATER && lane.supply.wants_asking(now) {
                lane.supply = Backlog::Asked;
                // Those in hand are still ready in the journal and would come first in its answer.
                let active =
                    jobs(&self.active, |work| work.operation == operation && work.state != JobState::InDoubt);
                self.writer.ready(operation, now, PAGE, active);
            }
        }
        if self.active_doubts < DOUBTS_AT_ONCE && self.doubtful.wants_asking(now) {
            self.doubtful = Backlog::Asked;
            let active = jobs(&self.active, |work| work.state == JobState::InDoubt);
            self.writer.doubtful(now, DOUBTS_AT_ONCE, active);
        }
        self.retry_missing();
        self.resolve_reference_lag();
        self.drop_failing_lookups();
        self.check_for_changes();
    }

    /// When the next job falls due, or the time to come home ends.
    pub(super) fn next_due(&self, now: Duration) -> Duration {
        let wall = self.clock.now();
        // Only what `refill` would ask for: the loop must not wake for what it then leaves where it is.
        let asks = self.drain.is_none() && self.failure.is_none();
        let lanes = self.lanes.values().filter(|lane| lane.halt.is_none() && lane.active < LOW_WATER);
        let doubts = (self.active_doubts < DOUBTS_AT_ONCE).then_some(self.doubtful);
        let due = lanes
            .map(|lane| lane.supply)
            .chain(doubts)
            .filter(|_| asks)
            .filter_map(Backlog::next_due)
            .min()
            .map(|due| now + due.since(wall));
        let deadline = self.drain.as_ref().map(|drain| drain.deadline);
        let look = self.audit.next_look().filter(|_| asks);
        let reference_lag = self.reference_lag.next_due().filter(|_| asks);
        due.into_iter().chain(deadline).chain(look).chain(reference_lag).min().unwrap_or(Duration::MAX)
    }

    /// Asks, now and then, whether another process has put rows in the journal.
    fn check_for_changes(&mut self) {
        let now = self.clock.elapsed();
        if now < self.checked_at + SURVEY_EVERY && self.version.is_some() {
            return;
        }
        self.checked_at = now;
        self.child_lists.drop_old(now);
        let (inbox, known) = (self.inbox.clone(), self.version);
        self.writer.ask(Box::new(move |journal| {
            // A failure here shows itself at the next write as well, where it ends the run.
            let Ok(version) = journal.data_version() else { return };
            if known != Some(version)
                && let Ok(lanes) = journal.lanes()
                // What the run began with is known already.
                && let Ok(tally) = known.map(|_| journal.tally(None)).transpose()
            {
                drop(inbox.send(Message::JournalChanges { lanes, version, tally }));
            }
        }));
    }

    pub(super) fn on_journal_changes(&mut self, lanes: &[Operation], version: i64, tally: Option<Tally>) {
        if self.version.replace(version) == Some(version) {
            return;
        }
        if let Some(tally) = tally {
            self.tell(Event::Rows { tally });
        }
        for &operation in lanes {
            if !self.client.endpoints().available(operation) {
                self.lane(operation).halt.get_or_insert(Halt::Unmapped);
            }
            let supply = &mut self.lane(operation).supply;
            if matches!(supply, Backlog::Exhausted { .. }) {
                *supply = Backlog::Unknown;
            }
        }
    }

    /// The journal has a job in `state` for `operation` now, or may have one later.
    pub(super) fn supply(&mut self, state: JobState, operation: Operation) {
        match state {
            JobState::Ready | JobState::Deferred => self.lane(operation).supply = Backlog::Unknown,
            JobState::InDoubt => self.doubtful = Backlog::Unknown,
            JobState::Blocked
            | JobState::Sending
            | JobState::Held
            | JobState::Created
            | JobState::Adopted
            | JobState::Existing
            | JobState::Done
            | JobState::Rejected
            | JobState::Incomplete
            | JobState::Skipped
            | JobState::Cancelled => {}
        }
    }

    /// A page of jobs that may be sent.
    pub(super) fn on_jobs(&mut self, operation: Operation, page: Page) {
        if self.drain.is_some() {
            return;
        }
        let fresh = self.add_jobs(page.work);
        let lane = self.lane(operation);
        lane.active += fresh.len();
        lane.supply.answered(!fresh.is_empty(), page.next_due);
        for job in fresh {
            self.pre_send_lookup(job);
        }
    }

    /// A page of jobs in doubt whose look is due.
    pub(super) fn on_doubtful_jobs(&mut self, page: Page) {
        if self.drain.is_some() {
            return;
        }
        let fresh = self.add_jobs(page.work);
        self.active_doubts += fresh.len();
        self.doubtful.answered(!fresh.is_empty(), page.next_due);
        for job in fresh {
            self.reconcile(job);
        }
    }

    /// Takes jobs in hand that are not yet; returns those.
    fn add_jobs(&mut self, work: Vec<Work>) -> Vec<JobId> {
        let mut fresh = Vec::new();
        for work in work {
            let job = work.job;
            let Entry::Vacant(place) = self.active.entry(job) else { continue };
            self.progress.step();
            let stage = Stage::Queued;
            let (phase, left) = (Phase::default(), Duration::ZERO);
            place.insert(ActiveJob { work, stage, phase, counted: None, baseline: None, left });
            fresh.push(job);
        }
        fresh
    }

    /// Lets a job go: the journal knows the rest.
    pub(super) fn drop_job(&mut self, job: JobId) {
        let Some(active) = self.active.remove(&job) else { return };
        self.reference_lag.forget(job);
        if active.work.state == JobState::InDoubt {
            self.active_doubts -= 1;
        } else {
            let lane = self.lane(active.work.operation);
            lane.active -= 1;
        }
    }
}

/// The jobs in hand of one sort, in order.
fn jobs(active: &HashMap<JobId, ActiveJob>, wanted: impl Fn(&Work) -> bool) -> Vec<JobId> {
    let mut jobs: Vec<JobId> =
        active.values().map(|active| &active.work).filter(|work| wanted(work)).map(|work| work.job).collect();
    jobs.sort_unstable();
    jobs
}

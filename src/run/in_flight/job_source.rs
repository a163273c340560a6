//! Where jobs come from: pages of the journal for each operation, and jobs in doubt whose look-up is due.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

use super::{ActiveJob, Backlog, Fetch, InFlight, QueuedRequest, Stage};
use crate::journal::{Work, WorkPage};
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::run::clock_watch::rough;
use crate::run::gates::Phase;

/// Jobs fetched from the journal at once: few, since no claim comes to disk while they are read.
const PAGE: usize = 512;
/// The journal is asked for more jobs of an operation when fewer than these are in memory. More than are claimed, under way and
/// settled at once, so that there are always some to be looked up.
const LOW_WATER: usize = 1024;
/// The same two where rows of some imports go before those of others: what is in memory is sent first, whatever comes later.
const PAGE_IN_TURN: usize = 128;
const LOW_WATER_IN_TURN: usize = 64;
/// Jobs in doubt that are looked up at once.
const DOUBTS_AT_ONCE: usize = 512;

impl InFlight {
    /// What to ask the journal for now, but for operations that are `halted`.
    pub(in crate::run) fn fetches(&mut self, now: Moment, halted: impl Fn(Operation) -> bool) -> Vec<Fetch> {
        let mut fetches = Vec::new();
        let (page, low_water) = self.ahead();
        for (&operation, queue) in &mut self.queues {
            if !halted(operation) && queue.jobs < low_water && queue.backlog.wants_asking(now) {
                queue.backlog = Backlog::Asked;
                let in_memory =
                    jobs(&self.jobs, |work| work.operation == operation && work.state != JobState::InDoubt);
                let imports = if operation.creates() { self.create_only_for.clone() } else { Vec::new() };
                fetches.push(Fetch::Ready { operation, imports, limit: page, in_memory });
            }
        }
        if self.doubts < DOUBTS_AT_ONCE && self.doubt_backlog.wants_asking(now) {
            self.doubt_backlog = Backlog::Asked;
            let in_memory = jobs(&self.jobs, |work| work.state == JobState::InDoubt);
            fetches.push(Fetch::Doubtful { limit: DOUBTS_AT_ONCE, in_memory });
        }
        fetches
    }

    /// How many jobs are fetched at once, and below how many in memory.
    fn ahead(&self) -> (usize, usize) {
        match self.has_priorities {
            true => (PAGE_IN_TURN, LOW_WATER_IN_TURN),
            false => (PAGE, LOW_WATER),
        }
    }

    /// When the next job falls due that [`Self::fetches`] would ask for.
    pub(in crate::run) fn next_due(&self, halted: impl Fn(Operation) -> bool) -> Option<Moment> {
        let queues = self.queues.iter();
        let (_, low_water) = self.ahead();
        let queues = queues.filter(|(operation, queue)| !halted(**operation) && queue.jobs < low_water);
        let doubts = (self.doubts < DOUBTS_AT_ONCE).then_some(self.doubt_backlog);
        queues.map(|(_, queue)| queue.backlog).chain(doubts).filter_map(Backlog::next_due).min()
    }

    /// The journal has a job in `state` for `operation` now, or may have one later.
    pub(in crate::run) fn on_job_moved(&mut self, state: JobState, operation: Operation) {
        match state {
            JobState::Ready | JobState::Deferred => self.queue(operation).backlog.may_have_more(),
            JobState::InDoubt => self.doubt_backlog.may_have_more(),
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

    /// Another process has written to the journal, which may have jobs for an operation now.
    pub(in crate::run) fn on_journal_changed(&mut self, operation: Operation) {
        self.queue(operation).backlog.may_have_more();
    }

    /// Jobs that were dropped from memory are still to be had, in another order than those of a page under way.
    pub(in crate::run) fn ask_again(&mut self) {
        for queue in self.queues.values_mut() {
            queue.is_page_stale = queue.backlog.is_asked();
            queue.backlog.may_have_more();
        }
    }

    /// The journal may hand out jobs in doubt that it kept back.
    pub(in crate::run) fn on_doubts_changed(&mut self) {
        self.doubt_backlog.may_have_more();
    }

    /// The moments that jobs wait for have changed.
    pub(in crate::run) fn on_due_times_changed(&mut self) {
        let backlogs = self.queues.values_mut().map(|queue| &mut queue.backlog);
        for backlog in backlogs.chain([&mut self.doubt_backlog]) {
            if !backlog.is_spent() {
                backlog.may_have_more();
            }
        }
    }

    /// A page of jobs that may be sent; returns those that were not in memory.
    pub(in crate::run) fn add_ready(&mut self, operation: Operation, page: WorkPage) -> Vec<JobId> {
        let is_stale = std::mem::take(&mut self.queue(operation).is_page_stale);
        let fresh = if is_stale { Vec::new() } else { self.add_jobs(page.work) };
        let queue = self.queue(operation);
        queue.jobs += fresh.len();
        queue.backlog.answered(!fresh.is_empty(), page.next_due);
        fresh
    }

    /// A page of jobs in doubt whose look-up is due; returns those that were not in memory.
    pub(in crate::run) fn add_doubtful(&mut self, page: WorkPage) -> Vec<JobId> {
        let fresh = self.add_jobs(page.work);
        self.doubts += fresh.len();
        self.doubt_backlog.answered(!fresh.is_empty(), page.next_due);
        fresh
    }

    fn add_jobs(&mut self, work: Vec<Work>) -> Vec<JobId> {
        let mut fresh = Vec::new();
        for work in work {
            let job = work.job;
            let Entry::Vacant(place) = self.jobs.entry(job) else { continue };
            let (phase, sent_at) = (Phase::default(), Duration::ZERO);
            let stage = Stage::Queued;
            place.insert(ActiveJob {
                work,
                stage,
                phase,
                counted: None,
                baseline: None,
                before: None,
                looked_up_at: None,
                sent_at,
            });
            fresh.push(job);
        }
        fresh
    }

    /// Whether the journal owes an answer.
    pub(in crate::run) fn awaits_journal(&self) -> bool {
        let mut backlogs = self.queues.values().map(|queue| queue.backlog).chain([self.doubt_backlog]);
        !self.writes.is_empty() || backlogs.any(Backlog::is_asked)
    }

    /// Whether nothing more is to be had, now or later: no request waits and the journal has no job, but for operations
    /// that are `halted`.
    pub(in crate::run) fn is_spent(&self, halted: impl Fn(Operation) -> bool) -> bool {
        self.doubt_backlog.is_spent()
            && self.queues.iter().all(|(operation, queue)| {
                halted(*operation) || (queue.waiting.is_empty() && queue.backlog.is_spent())
            })
    }

    /// Whether only rows are left that are kept back, as far as the journal knows, but for operations that are `halted`.
    pub(in crate::run) fn has_only_kept_back(&self, halted: impl Fn(Operation) -> bool) -> bool {
        !self.create_only_for.is_empty()
            && self.doubt_backlog.is_spent()
            && self.jobs.values().all(|active| self.is_kept_back(&active.work))
            && self.queues.iter().all(|(operation, queue)| {
                let only_rows = queue.waiting.iter().all(|request| matches!(request, QueuedRequest::Send(_)));
                halted(*operation) || (only_rows && queue.backlog.is_spent())
            })
    }

    /// Whether the journal may have jobs in doubt, or for one of these operations, now or later.
    pub(in crate::run) fn awaits_jobs(&self, mut of: impl FnMut(Operation) -> bool) -> bool {
        let mut queues = self.queues.iter();
        !self.doubt_backlog.is_spent()
            || queues.any(|(operation, queue)| !queue.backlog.is_spent() && of(*operation))
    }

    /// What is in flight, in numbers and names of operations only, for whoever has to find out why nothing moves.
    pub(in crate::run) fn describe(&self, now: Moment, halted: impl Fn(Operation) -> bool) -> String {
        let mut words = format!(
            "writes not confirmed {}, rows in hand {} (in doubt {})",
            self.writes.len(),
            self.jobs.len(),
            self.doubts,
        );
        for (stage, count) in self.stages() {
            let _ = write!(words, "; {count} {stage}");
        }
        let more = |backlog: Backlog| match backlog {
            Backlog::Unknown => "to be asked for".to_owned(),
            Backlog::Asked => "asked for".to_owned(),
            Backlog::Outdated => "asked for, and to be asked for again".to_owned(),
            Backlog::Exhausted { next_due: None } => "none".to_owned(),
            Backlog::Exhausted { next_due: Some(due) } => format!("none for {}", rough(due.since(now))),
        };
        let _ = write!(words, "; more rows in doubt: {}", more(self.doubt_backlog));
        for (operation, queue) in &self.queues {
            let busy =
                queue.jobs + queue.waiting.len() + queue.claimed.len() > 0 || !queue.backlog.is_spent();
            if busy {
                let _ = write!(
                    words,
                    "; {operation}: {} queued, {} claimed, {} in hand, more rows: {}{}",
                    queue.waiting.len(),
                    queue.claimed.len(),
                    queue.jobs,
                    more(queue.backlog),
                    if halted(*operation) { ", stopped" } else { "" },
                );
            }
        }
        words
    }

    fn stages(&self) -> BTreeMap<&'static str, usize> {
        let mut stages = BTreeMap::new();
        for active in self.jobs.values() {
            let stage = match active.stage {
                Stage::Queued => "waiting to leave",
                Stage::AwaitingList => "waiting for a list",
                Stage::Looking => "being looked up",
                Stage::AwaitingReference => "waiting for what they refer to",
                Stage::Owners(_) => "waiting for the journal's word",
                Stage::Claiming => "being claimed",
                Stage::UnderWay => "under way",
                Stage::Settling { .. } => "being written down",
            };
            *stages.entry(stage).or_default() += 1;
        }
        stages
    }
}

/// The jobs in memory of one sort, in order.
fn jobs(active: &HashMap<JobId, ActiveJob>, wanted: impl Fn(&Work) -> bool) -> Vec<JobId> {
    let mut jobs: Vec<JobId> =
        active.values().map(|active| &active.work).filter(|work| wanted(work)).map(|work| work.job).collect();
    jobs.sort_unstable();
    jobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::device;

    const ADD: Operation = Operation::AddDevice;
    const NOW: Moment = Moment::from_millis(1_000);

    /// What the journal is asked for, with what is in memory.
    fn asked(in_flight: &mut InFlight) -> Vec<Vec<JobId>> {
        let fetches = in_flight.fetches(NOW, |_| false);
        let ready = fetches.into_iter().filter_map(|fetch| match fetch {
            Fetch::Ready { in_memory, .. } => Some(in_memory),
            Fetch::Doubtful { .. } => None,
        });
        ready.collect()
    }

    #[test]
    fn a_row_that_is_deferred_while_the_journal_is_asked_for_others_is_not_forgotten() {
        let mut in_flight = InFlight::new(&[ADD]);
        let row = device("a", None);
        let job = row.job;
        assert_eq!(asked(&mut in_flight), [vec![]]);
        in_flight.add_ready(ADD, WorkPage { work: vec![row], next_due: None });
        in_flight.add_doubtful(WorkPage { work: Vec::new(), next_due: None });
        assert_eq!(asked(&mut in_flight), [vec![job]], "for more, without the row in memory");
        // The service refuses its request: it is deferred on disk before the journal has answered.
        in_flight.drop_job(job);
        in_flight.on_job_moved(JobState::Deferred, ADD);
        assert!(asked(&mut in_flight).is_empty(), "one question at a time");
        // The answer leaves the row out, as it was in memory then.
        in_flight.add_ready(ADD, WorkPage { work: Vec::new(), next_due: None });
        assert!(!in_flight.is_spent(|_| false));
        assert_eq!(asked(&mut in_flight), [vec![]], "for the row too");
        let due = NOW.plus(Duration::from_secs(1));
        in_flight.add_ready(ADD, WorkPage { work: Vec::new(), next_due: Some(due) });
        assert_eq!(in_flight.next_due(|_| false), Some(due));
        assert!(!in_flight.is_spent(|_| false));
    }
}

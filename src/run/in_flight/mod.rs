//! What is in flight: jobs in memory with what each waits for, the queue of each operation, and the writes that the
//! journal has yet to answer.
//!
//! The order in which a job passes through its stages is in `dispatcher`.

mod job_source;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use super::decide::FoundRecords;
use super::evidence::question::{Asker, Question, Tries};
use super::evidence::reference_lag::RefusedRow;
use super::gates::Phase;
use crate::journal::Work;
use crate::model::action::Action;
use crate::model::action::before::Before;
use crate::model::content_hash::ContentHash;
use crate::model::id::{ImportId, JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::Verdict;
use crate::service::{Answer, Lookup};

/// Something that waits for permission to send one request.
#[derive(Debug, Clone)]
pub(super) enum QueuedRequest {
    /// The current step of a job.
    Send(JobId),
    /// A look-up, and what became of its tries so far.
    Lookup { lookup: Lookup, question: Question, tries: Tries },
}

impl QueuedRequest {
    /// Whether it is a look-up of the audit.
    pub(super) fn is_of_audit(&self) -> bool {
        matches!(self, Self::Lookup { question, .. } if question.asker == Asker::Audit)
    }
}

/// A page to ask the journal for.
pub(super) enum Fetch {
    /// Jobs that may be sent.
    Ready {
        /// By this operation.
        operation: Operation,
        /// Of these imports, or of all.
        imports: Vec<ImportId>,
        /// At most so many.
        limit: usize,
        /// Those in memory, which are still ready in the journal and would come first in its answer.
        in_memory: Vec<JobId>,
    },
    /// Jobs in doubt.
    Doubtful {
        /// At most so many.
        limit: usize,
        /// Those in memory.
        in_memory: Vec<JobId>,
    },
}

/// Whether the journal has more jobs for an operation than are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backlog {
    /// It may have.
    Unknown,
    /// It has been asked.
    Asked,
    /// It has been asked, and something has changed since: its answer may not know of it.
    Outdated,
    /// It has none until the moment given, if one is.
    Exhausted { next_due: Option<Moment> },
}

impl Backlog {
    /// Whether it is time to ask the journal.
    pub(super) fn wants_asking(self, now: Moment) -> bool {
        match self {
            Self::Unknown => true,
            Self::Asked | Self::Outdated => false,
            Self::Exhausted { next_due } => next_due.is_some_and(|due| due <= now),
        }
    }

    /// The journal has given a page, which brought something new or not.
    pub(super) fn answered(&mut self, is_fresh: bool, next_due: Option<Moment>) {
        *self = match *self {
            // A page that brought nothing new leaves nothing to ask for until something is due.
            Self::Asked if !is_fresh => Self::Exhausted { next_due },
            Self::Asked | Self::Outdated => Self::Unknown,
            unasked @ (Self::Unknown | Self::Exhausted { .. }) => unasked,
        };
    }

    /// The journal may have more now. It is asked once at a time: the answer to an earlier question leaves out what was in
    /// memory when it was asked, so it must not be taken for the answer to a later one.
    pub(super) fn may_have_more(&mut self) {
        *self = match *self {
            Self::Asked | Self::Outdated => Self::Outdated,
            Self::Unknown | Self::Exhausted { .. } => Self::Unknown,
        };
    }

    /// Whether the journal owes an answer.
    pub(super) fn is_asked(self) -> bool {
        matches!(self, Self::Asked | Self::Outdated)
    }

    /// When the next job falls due, as far as the journal has said.
    pub(super) fn next_due(self) -> Option<Moment> {
        match self {
            Self::Unknown | Self::Asked | Self::Outdated => None,
            Self::Exhausted { next_due } => next_due,
        }
    }

    /// Whether nothing is to be had now or later.
    pub(super) fn is_spent(self) -> bool {
        matches!(self, Self::Exhausted { next_due: None })
    }
}

/// The queue of one operation.
struct OperationQueue {
    waiting: VecDeque<QueuedRequest>,
    /// How many jobs are claimed, with those whose claims are on their way to disk, and have not been sent.
    claims: usize,
    /// Those whose claims are on disk.
    claimed: VecDeque<JobId>,
    backlog: Backlog,
    /// Whether the page that the journal has been asked for is in an order that no longer holds.
    is_page_stale: bool,
    /// Jobs of this operation in memory, those in doubt excepted.
    jobs: usize,
}

impl Default for OperationQueue {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            claims: 0,
            claimed: VecDeque::new(),
            // Nobody asks the journal for look-ups; the backlog of jobs is `Unknown` as soon as one needs the operation.
            backlog: Backlog::Exhausted { next_due: None },
            is_page_stale: false,
            jobs: 0,
        }
    }
}

/// A job in memory.
struct ActiveJob {
    work: Work,
    stage: Stage,
    /// The phase of its operation's breaker in which its request got permission.
    phase: Phase,
    /// The day on which the creation under way counts.
    counted: Option<Day>,
    /// The baseline found by the look-up before sending, to be stored with the claim.
    baseline: Option<Vec<RemoteId>>,
    /// What the look-up before sending showed of what its step changes, to be stored with the claim.
    before: Option<Before>,
    /// When it was looked up before sending, by [`crate::clock::Clock::elapsed`]; `None` where nobody can say.
    looked_up_at: Option<Duration>,
    /// When its request left, by [`crate::clock::Clock::elapsed`].
    sent_at: Duration,
}

/// What a job in memory is waiting for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stage {
    /// Permission for its request.
    Queued,
    /// The list of its parent's children, asked for by another job.
    AwaitingList,
    /// A look-up under way.
    Looking,
    /// To be seen whether what it refers to is visible: it was refused with `noDataFound`.
    AwaitingReference,
    /// The journal's word on who owns the records that were found.
    Owners(Box<FoundRecords>),
    /// Its claim to be on disk.
    Claiming,
    /// Its answer.
    UnderWay,
    /// Its outcome to be on disk; `sent` when that is the outcome of a request.
    Settling { sent: bool },
}

/// What a write was for.
pub(super) enum Ticket {
    /// To put the job's step on disk as `sending`.
    Claim {
        job: JobId,
        operation: Operation,
        /// Since when, by [`crate::clock::Clock::elapsed`].
        since: Duration,
    },
    /// `makes` when it confirms that a request of ours made the job's record.
    Settle {
        job: JobId,
        makes: bool,
        /// Present when it waits in memory until it is known whether what it refers to is visible.
        refused: Option<Box<RefusedRow>>,
    },
    /// Nothing waits for it.
    Note,
}

/// What the claim of a job needs to know.
pub(super) struct ClaimedContent {
    /// The content that was compared before sending.
    pub(super) content: ContentHash,
    /// Records with its key that were there before, when they are known.
    pub(super) baseline: Option<Vec<RemoteId>>,
    /// What the record has of what the step changes, when it is known.
    pub(super) before: Option<Before>,
}

/// See the module.
pub(super) struct InFlight {
    jobs: HashMap<JobId, ActiveJob>,
    queues: BTreeMap<Operation, OperationQueue>,
    /// Whether the journal has more jobs in doubt than are in memory.
    doubt_backlog: Backlog,
    doubts: usize,
    /// What the writes under way are for, by the numbers that the journal's writer answers with.
    writes: HashMap<u64, Ticket>,
    next_write: u64,
    /// Answers in a row that said the token is invalid, by job.
    token_refusals: HashMap<JobId, u32>,
    /// Whether rows of some imports go before those of others.
    has_priorities: bool,
    /// The imports for whose rows something may be created; all where none is named.
    create_only_for: Vec<ImportId>,
}

impl InFlight {
    /// Nothing; the journal has jobs for these operations.
    pub(super) fn new(operations: &[Operation]) -> Self {
        let mut queues: BTreeMap<Operation, OperationQueue> = BTreeMap::new();
        for operation in operations {
            queues.entry(*operation).or_default().backlog = Backlog::Unknown;
        }
        Self {
            jobs: HashMap::new(),
            queues,
            doubt_backlog: Backlog::Unknown,
            doubts: 0,
            writes: HashMap::new(),
            next_write: 0,
            token_refusals: HashMap::new(),
            has_priorities: false,
            create_only_for: Vec::new(),
        }
    }

    /// Only for rows of these imports something is created from now on, or for all where none is named.
    pub(super) fn create_only_for(&mut self, imports: Vec<ImportId>) {
        self.create_only_for = imports;
        self.ask_again();
    }

    /// Whether a row waits because something may be created only for rows of other imports.
    pub(super) fn is_kept_back(&self, work: &Work) -> bool {
        !self.create_only_for.is_empty()
            && work.operation.creates()
            && !self.create_only_for.contains(&work.import)
    }

    /// Rows of some imports go before those of others, or no longer do.
    pub(super) fn set_priorities(&mut self, has_priorities: bool) {
        self.has_priorities = has_priorities;
    }

    /// What a job in memory asks for.
    pub(super) fn work(&self, job: JobId) -> Option<&Work> {
        self.jobs.get(&job).map(|active| &active.work)
    }

    /// The jobs in memory.
    pub(super) fn all_jobs(&self) -> Vec<JobId> {
        self.jobs.keys().copied().collect()
    }

    /// Whether no job is in memory.
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// How many jobs in doubt are in memory.
    pub(super) fn doubts(&self) -> usize {
        self.doubts
    }

    /// A job waits for something else from now on.
    pub(super) fn set_stage(&mut self, job: JobId, stage: Stage) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.stage = stage;
        }
    }

    /// A job was looked up before it is sent.
    pub(super) fn on_looked_up(&mut self, job: JobId, now: Duration) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.looked_up_at = Some(now);
        }
    }

    /// Queues the step of a job.
    pub(super) fn queue_send(&mut self, job: JobId) {
        let Some(active) = self.jobs.get_mut(&job) else { return };
        active.stage = Stage::Queued;
        let operation = active.work.operation;
        self.push(operation, QueuedRequest::Send(job));
    }

    /// For how long a job has waited to be sent since it was looked up.
    pub(super) fn waited(&self, job: JobId, now: Duration) -> Duration {
        let waited =
            |active: &ActiveJob| active.looked_up_at.map_or(Duration::MAX, |at| now.saturating_sub(at));
        self.jobs.get(&job).map_or(Duration::ZERO, waited)
    }

    /// The machine may have slept: nobody can say how long ago the jobs were looked up that wait to be sent.
    pub(super) fn on_sleep(&mut self) {
        self.jobs.values_mut().for_each(|active| active.looked_up_at = None);
    }

    /// The records that a job waits to know the owners of, when it does.
    pub(super) fn take_found(&mut self, job: JobId) -> Option<FoundRecords> {
        let active = self.jobs.get_mut(&job)?;
        if !matches!(active.stage, Stage::Owners(_)) {
            return None;
        }
        match std::mem::replace(&mut active.stage, Stage::Looking) {
            Stage::Owners(found) => Some(*found),
            _ => None,
        }
    }

    /// The records with the key of a job that are there before it is sent; `None` when that is not known.
    pub(super) fn set_baseline(&mut self, job: JobId, baseline: Option<Vec<RemoteId>>) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.baseline = baseline;
        }
    }

    /// What the record of a job has of what its step changes.
    pub(super) fn set_before(&mut self, job: JobId, before: Before) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.before = Some(before);
        }
    }

    /// The action of a job with the id that a list has shown.
    pub(super) fn set_action(&mut self, job: JobId, action: Action) {
        if let Some(active) = self.jobs.get_mut(&job) {
            active.work.action = action;
        }
    }

    /// A job is claimed: its request has permission, in this phase of the breaker, and counts on this day.
    pub(super) fn begin_claim(
        &mut self,
        job: JobId,
        phase: Phase,
        counted: Option<Day>,
    ) -> Option<ClaimedContent> {
        let active = self.jobs.get_mut(&job)?;
        (active.phase, active.counted, active.stage) = (phase, counted, Stage::Claiming);
        let operation = active.work.operation;
        let content = ClaimedContent {
            content: active.work.content_hash,
            // It may be sent again from memory.
            baseline: active.baseline.clone(),
            before: active.before.clone(),
        };
        self.queue(operation).claims += 1;
        Some(content)
    }

    /// The claim of a job is on disk: it waits to be sent.
    pub(super) fn on_claimed(&mut self, job: JobId, operation: Operation) {
        self.queue(operation).claimed.push_back(job);
    }

    /// The claim of a job was refused by the journal; says in which phase it was permitted.
    pub(super) fn on_claim_refused(&mut self, job: JobId, operation: Operation) -> Option<Phase> {
        self.queue(operation).claims -= 1;
        self.jobs.get(&job).map(|active| active.phase)
    }

    /// The job that is to be sent next of those that are claimed on disk, with the phase in which it got permission.
    pub(super) fn next_claimed(&mut self, operation: Operation) -> Option<(JobId, Phase)> {
        loop {
            let job = *self.queues.get(&operation)?.claimed.front()?;
            if let Some(active) = self.jobs.get(&job) {
                return Some((job, active.phase));
            }
            self.take_claimed(operation);
        }
    }

    /// That job is sent, or its claim is taken back.
    pub(super) fn take_claimed(&mut self, operation: Operation) {
        let queue = self.queue(operation);
        if queue.claimed.pop_front().is_some() {
            queue.claims -= 1;
        }
    }

    /// The request of a job leaves.
    pub(super) fn on_departure(&mut self, job: JobId, now: Duration) {
        if let Some(active) = self.jobs.get_mut(&job) {
            (active.stage, active.sent_at) = (Stage::UnderWay, now);
        }
    }

    /// When the request of a job left.
    pub(super) fn sent_at(&self, job: JobId) -> Option<Duration> {
        self.jobs.get(&job).map(|active| active.sent_at)
    }

    /// When the first of the requests left whose answers are not on disk yet.
    pub(super) fn first_departure(&self) -> Option<Duration> {
        let sent = self
            .jobs
            .values()
            .filter(|active| matches!(active.stage, Stage::UnderWay | Stage::Settling { sent: true }));
        sent.map(|active| active.sent_at).min()
    }

    /// How many jobs of an operation are claimed, with those whose claims are on their way to disk, and have not been sent.
    pub(super) fn claims(&self, operation: Operation) -> usize {
        self.queues.get(&operation).map_or(0, |queue| queue.claims)
    }

    /// The day on which the creation of a job under way counts.
    pub(super) fn counted(&self, job: JobId) -> Option<Day> {
        self.jobs.get(&job)?.counted
    }

    /// The same, and it does not count any more.
    pub(super) fn take_counted(&mut self, job: JobId) -> Option<Day> {
        self.jobs.get_mut(&job)?.counted.take()
    }

    /// A job has its answer: how many before it in a row said that the token is invalid.
    pub(super) fn on_token(&mut self, job: JobId, answer: &Answer) -> u32 {
        if answer.token_ended {
            self.token_refusals.remove(&job);
        }
        let before = self.token_refusals.get(&job).copied().unwrap_or(0);
        if answer.verdict == Verdict::TokenInvalid {
            self.token_refusals.insert(job, before + 1);
        } else {
            self.token_refusals.remove(&job);
        }
        before
    }

    /// The outcome of a job goes to disk.
    pub(super) fn begin_settle(&mut self, job: JobId) {
        if let Some(active) = self.jobs.get_mut(&job) {
            let sent = matches!(active.stage, Stage::Claiming | Stage::UnderWay);
            active.stage = Stage::Settling { sent };
        }
    }

    /// Whether what is to be written of a job is the outcome of no request.
    pub(super) fn settles_unsent(&self, job: JobId) -> bool {
        self.jobs.get(&job).is_some_and(|active| active.stage == Stage::Settling { sent: false })
    }

    /// It is on disk that a refused job is put off; it waits in memory for what it refers to.
    pub(super) fn defer(&mut self, job: JobId) {
        if let Some(active) = self.jobs.get_mut(&job) {
            (active.stage, active.counted) = (Stage::AwaitingReference, None);
            active.work.state = JobState::Deferred;
        }
    }

    /// Drops a job from memory: the journal knows the rest.
    pub(super) fn drop_job(&mut self, job: JobId) {
        let Some(active) = self.jobs.remove(&job) else { return };
        if active.work.state == JobState::InDoubt {
            self.doubts -= 1;
        } else {
            self.queue(active.work.operation).jobs -= 1;
        }
    }

    /// Drops everything that has not begun to leave.
    pub(super) fn drop_waiting(&mut self) {
        for queue in self.queues.values_mut() {
            queue.waiting.clear();
        }
        let has_begun = |active: &ActiveJob| {
            matches!(active.stage, Stage::Claiming | Stage::UnderWay | Stage::Settling { .. })
        };
        let waiting: Vec<JobId> =
            self.jobs.iter().filter(|(_, active)| !has_begun(active)).map(|(&job, _)| job).collect();
        for job in waiting {
            self.drop_job(job);
        }
    }

    /// Another job in memory that stands at the same step of the same record.
    pub(super) fn with_same_step(&self, job: JobId) -> Option<JobId> {
        let own = &self.jobs.get(&job)?.work;
        let is_same = |other: &Work| other.action == own.action && other.owner() == own.owner();
        let mut others = self.jobs.values().map(|active| &active.work).filter(|other| other.job != job);
        others.find(|other| is_same(other)).map(|other| other.job)
    }

    /// Whether so many jobs of a sheet are being sent.
    pub(super) fn has_under_way(&self, sheet: SheetId, count: usize) -> bool {
        let under_way = self.jobs.values().filter(|active| {
            active.work.sheet == sheet && matches!(active.stage, Stage::Claiming | Stage::UnderWay)
        });
        under_way.take(count).count() == count
    }

    // The queues.

    fn queue(&mut self, operation: Operation) -> &mut OperationQueue {
        self.queues.entry(operation).or_default()
    }

    /// The operations that have a queue.
    pub(super) fn operations(&self) -> Vec<Operation> {
        self.queues.keys().copied().collect()
    }

    /// The operations that a request waits for.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Operation> {
        self.queues.iter().filter(|(_, queue)| !queue.waiting.is_empty()).map(|(operation, _)| *operation)
    }

    /// Whether a request waits for an operation.
    pub(super) fn has_waiting(&self, operation: Operation) -> bool {
        self.queues.get(&operation).is_some_and(|queue| !queue.waiting.is_empty())
    }

    /// Whether there is something to do for an operation: look-ups that wait, or jobs in memory.
    pub(super) fn is_busy(&self, operation: Operation) -> bool {
        self.queues.get(&operation).is_some_and(|queue| {
            if operation.looks_up() { !queue.waiting.is_empty() } else { queue.jobs > 0 }
        })
    }

    /// Rows in memory that an operation is to carry out.
    pub(super) fn in_memory(&self, operation: Operation) -> u64 {
        self.queues.get(&operation).map_or(0, |queue| queue.jobs as u64)
    }

    /// Look-ups before rows that wait, by operation.
    pub(super) fn look_ups(&self) -> impl Iterator<Item = (Operation, u64)> {
        let of_rows = |queue: &OperationQueue| {
            let waiting = queue.waiting.iter();
            waiting.filter(|r| matches!(r, QueuedRequest::Lookup { .. }) && !r.is_of_audit()).count() as u64
        };
        self.queues
            .iter()
            .map(move |(&operation, queue)| (operation, of_rows(queue)))
            .filter(|(_, waiting)| *waiting > 0)
    }

    /// Queues a request. The look-ups of the audit come after all others.
    pub(super) fn push(&mut self, operation: Operation, request: QueuedRequest) {
        let place = self.place_in_turn(operation, &request);
        let waiting = &mut self.queue(operation).waiting;
        let place = place.unwrap_or_else(|| match request.is_of_audit() {
            true => waiting.len(),
            false => waiting.iter().rposition(|before| !before.is_of_audit()).map_or(0, |last| last + 1),
        });
        waiting.insert(place, request);
    }

    /// The place of the first job that waits and has a lower priority than the one to be sent.
    fn place_in_turn(&self, operation: Operation, request: &QueuedRequest) -> Option<usize> {
        let QueuedRequest::Send(job) = request else { return None };
        let priority_of = |job: &JobId| self.jobs.get(job).map(|active| active.work.priority);
        let own = priority_of(job).filter(|_| self.has_priorities)?;
        self.position(operation, |before| match before {
            QueuedRequest::Send(other) => priority_of(other).is_some_and(|priority| priority < own),
            QueuedRequest::Lookup { .. } => false,
        })
    }

    /// Whether the request at this place is a look-up of the audit.
    pub(super) fn is_of_audit(&self, operation: Operation, place: usize) -> bool {
        let queue = self.queues.get(&operation);
        queue.and_then(|queue| queue.waiting.get(place)).is_some_and(QueuedRequest::is_of_audit)
    }

    /// Queues a request before all others.
    pub(super) fn push_first(&mut self, operation: Operation, request: QueuedRequest) {
        self.queue(operation).waiting.push_front(request);
    }

    /// The first request that waits for an operation.
    pub(super) fn first(&self, operation: Operation) -> Option<&QueuedRequest> {
        self.queues.get(&operation)?.waiting.front()
    }

    /// The place of the first request that may leave, as `may_leave` has it.
    pub(super) fn position(
        &self,
        operation: Operation,
        may_leave: impl FnMut(&QueuedRequest) -> bool,
    ) -> Option<usize> {
        self.queues.get(&operation)?.waiting.iter().position(may_leave)
    }

    /// Takes the request at this place.
    pub(super) fn take(&mut self, operation: Operation, place: usize) -> Option<QueuedRequest> {
        self.queue(operation).waiting.remove(place)
    }

    /// Takes everything that waits for an operation.
    pub(super) fn take_all(&mut self, operation: Operation) -> Vec<QueuedRequest> {
        self.queue(operation).waiting.drain(..).collect()
    }

    /// Takes the look-ups of the audit that wait for an operation.
    pub(super) fn take_audit_lookups(&mut self, operation: Operation) -> Vec<(Lookup, Question)> {
        let mut taken = Vec::new();
        self.queue(operation).waiting.retain(|request| match request {
            QueuedRequest::Lookup { lookup, question, .. } if question.asker == Asker::Audit => {
                taken.push((lookup.clone(), *question));
                false
            }
            QueuedRequest::Lookup { .. } | QueuedRequest::Send(_) => true,
        });
        taken
    }

    /// Drops these of the jobs that wait to be sent, or to be looked up before that; returns them.
    pub(super) fn drop_unsent(&mut self, is_meant: impl Fn(&Work) -> bool) -> Vec<JobId> {
        let mut dropped = Vec::new();
        for queue in self.queues.values_mut() {
            queue.waiting.retain(|request| {
                let job = match request {
                    QueuedRequest::Send(job) => Some(*job),
                    QueuedRequest::Lookup { question, .. } if question.asker == Asker::PreSend => {
                        question.job()
                    }
                    QueuedRequest::Lookup { .. } => None,
                };
                let meant = job.filter(|job| self.jobs.get(job).is_some_and(|active| is_meant(&active.work)));
                dropped.extend(meant);
                meant.is_none()
            });
        }
        for job in &dropped {
            self.drop_job(*job);
        }
        dropped
    }

    // The writes.

    /// The number for a write.
    pub(super) fn begin_write(&mut self, ticket: Ticket) -> u64 {
        let number = self.next_write;
        self.next_write += 1;
        self.writes.insert(number, ticket);
        number
    }

    /// What the write of this number was for, now that it is answered.
    pub(super) fn end_write(&mut self, number: u64) -> Option<Ticket> {
        self.writes.remove(&number)
    }

    /// Whether every write is answered and nothing is being claimed.
    pub(super) fn is_at_rest(&self) -> bool {
        self.writes.is_empty() && self.queues.values().all(|queue| queue.claims == 0)
    }
}

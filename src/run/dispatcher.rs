//! The one owner of what is under way. It waits for the first of: an answer, news of the journal, a due time,
//! the pace of an operation, a signal; and keeps one order for every request:
//!
//! 1. **permission**: pace, breaker, quota and reach let one request of the operation leave ([`Dispatcher::offer`]);
//! 2. **claim**: the job is `sending` on disk, with its attempt ([`Dispatcher::begin`]);
//! 3. **send**: a task sends it once and brings the answer home ([`Dispatcher::depart`]);
//! 4. **settle**: what the answer means for the job goes to disk (`outcome`, `before`, `after`);
//! 5. **tell**: only then anything follows from it ([`Dispatcher::written`]).
//!
//! Permission comes before the claim, so that a crash leaves in doubt only what was truly under way. What was about to
//! leave and did not is in `withdrawal`, when the work is over in `closing`; how a run is opened and closed is left to
//! `session`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{self, JoinError, JoinSet};

use super::audit::Audit;
use super::decide::paused_sheets::PausedSheets;
use super::decide::reference_lag::{Refused, Unseen};
use super::drain::Drain;
use super::ending::Ending;
use super::evidence::child_companies::ChildLists;
use super::evidence::lookups;
use super::evidence::recent_creations::RecentCreations;
use super::evidence::settle_timer::SettleTimers;
use super::gates::breaker::Phase;
use super::gates::capacity::Capacity;
use super::gates::connectivity::Connectivity;
use super::gates::quota::{Quota, ServiceClock};
use super::in_flight::{ActiveJob, Message, Stage, Ticket, Tickets};
use super::operation_queue::{Backlog, Lane, QueuedRequest};
use super::remaining::RemainingCount;
use super::watch::clock::ClockWatch;
use super::watch::progress::Progress;
use super::{Interrupt, Options};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::Error;
use crate::failpoint;
use crate::journal::{How, Moved, Reply, RunId, Write, Writer};
use crate::mistake::{self, Mistake};
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Moment;
use crate::service::{Answer, Call, Client};

/// The longest the loop sleeps: a suspended machine is noticed within this, and so are rows that another
/// command has put in the journal.
const LONGEST_SLEEP: Duration = Duration::from_secs(2);
/// The same while creations are parked and nothing is under way, perhaps for a day.
const PARKED_SLEEP: Duration = Duration::from_secs(15);

/// The state of a run. See the module for its order of work.
pub(super) struct Dispatcher {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) client: Client,
    pub(super) options: Options,
    pub(super) writer: Writer,
    pub(super) inbox: mpsc::UnboundedSender<Message>,
    pub(super) news: mpsc::UnboundedSender<Event>,
    pub(super) lanes: BTreeMap<Operation, Lane>,
    pub(super) active: HashMap<JobId, ActiveJob>,
    /// Whether the journal has more jobs in doubt than are in hand.
    pub(super) doubtful: Backlog,
    pub(super) active_doubts: usize,
    pub(super) tickets: Tickets,
    pub(super) requests: JoinSet<Answer>,
    pub(super) sent: HashMap<task::Id, (QueuedRequest, Phase)>,
    /// Jobs whose claims are on their way to disk, or on it and waiting for their departure.
    pub(super) claiming: usize,
    pub(super) quota: Quota,
    pub(super) service_clock: ServiceClock,
    pub(super) connectivity: Connectivity,
    pub(super) paused_sheets: PausedSheets,
    pub(super) child_lists: ChildLists,
    /// Look-up operations that have found in this run what is known to exist.
    pub(super) proved: HashSet<Operation>,
    /// The records of this run, for rows that refer to them.
    pub(super) recent_creations: RecentCreations,
    /// Rows refused because of a record that may not be visible yet.
    pub(super) reference_lag: Unseen,
    /// Answers in a row that said the token is invalid, by job.
    pub(super) token_refusals: HashMap<JobId, u32>,
    /// Until when creations were last told to be parked, by the service's clock.
    pub(super) told_parking: Option<Moment>,
    pub(super) audit: Audit,
    /// This run in the journal.
    pub(super) run: RunId,
    /// The version of the journal's content that was last seen; `None` when it is to be looked at anew.
    pub(super) version: Option<i64>,
    pub(super) checked_at: Duration,
    /// Why nothing more is begun, once it is not.
    pub(super) drain: Option<Drain>,
    /// What ended the run at once.
    pub(super) failure: Option<Error>,
    pub(super) clock_watch: ClockWatch,
    pub(super) settle_timers: SettleTimers,
    pub(super) capacity: Capacity,
    pub(super) progress: Progress,
    pub(super) remaining_count: RemainingCount,
}

impl Dispatcher {
    /// The loop.
    pub(super) async fn work(
        &mut self,
        mail: &mut mpsc::UnboundedReceiver<Message>,
        mut interrupts: mpsc::Receiver<Interrupt>,
    ) -> Ending {
        let mut listening = true;
        loop {
            self.check_clock();
            self.refill();
            let wake = self.offer();
            let wake = self.request_time(wake);
            self.show();
            self.count_remaining();
            if let Some(ending) = self.ending() {
                return ending;
            }
            // In this order, so that the same events lead to the same run.
            tokio::select! {
                biased;
                interrupt = interrupts.recv(), if listening => match interrupt {
                    Some(Interrupt::Drain) => self.drain(Ending::Interrupted {
                        by: End::Signal,
                        why: "on request".to_owned(),
                    }),
                    Some(Interrupt::Abort) => {
                        let why = "at once, on a second request".to_owned();
                        return Ending::Interrupted { by: End::Signal, why };
                    }
                    Some(Interrupt::GoOn(sheet)) => self.resume_sheet(sheet),
                    Some(Interrupt::Leave(sheet)) => self.leave(sheet),
                    None => {
                        listening = false;
                        self.paused_sheets.nobody_answers();
                    }
                },
                Some(news) = mail.recv() => {
                    self.receive(news);
                    // Take in what has gathered before offering again: one round for many answers.
                    while let Ok(news) = mail.try_recv() {
                        self.receive(news);
                    }
                }
                Some(home) = self.requests.join_next_with_id(), if !self.requests.is_empty() => {
                    self.on_response(home);
                    while let Some(home) = self.requests.try_join_next_with_id() {
                        self.on_response(home);
                    }
                }
                () = self.clock.sleep_until(wake) => {}
            }
        }
    }

    /// **Permission.** Lets errands leave, one of each operation in turn, while everything permits it. Returns
    /// when to look again.
    fn offer(&mut self) -> Duration {
        let now = self.clock.elapsed();
        self.progress.held_back = false;
        let parked = self.requests.is_empty() && self.quota.parked_until().is_some();
        let mut wake = self.next_due(now).min(now + if parked { PARKED_SLEEP } else { LONGEST_SLEEP });
        if self.options.until.is_some_and(|until| self.clock.now() >= until) {
            let why = "the time given with --until has come".to_owned();
            self.drain(Ending::Interrupted { by: End::Until, why });
        }
        let operations: Vec<Operation> = self.lanes.keys().copied().collect();
        for &operation in &operations {
            wake = self.depart(operation).unwrap_or(wake).min(wake);
        }
        let mut moving = self.drain.is_none() && self.failure.is_none();
        while moving {
            moving = false;
            for &operation in &operations {
                if let Err(at) = self.capacity.permits(self.requests.len() + self.claiming, now) {
                    return at.map_or(wake, |at| wake.min(at));
                }
                match self.permission(operation, now) {
                    Permission::Granted(request) => {
                        self.begin(operation, request);
                        moving = true;
                    }
                    Permission::Later(at) => {
                        self.progress.held_back = true;
                        wake = wake.min(at);
                    }
                    Permission::AfterNews | Permission::NothingWaits => {}
                }
            }
        }
        self.tell_parking();
        wake
    }

    /// Asks everything that can hold a request of `operation` back. The pace comes last: asking it takes the
    /// permission.
    fn permission(&mut self, operation: Operation, now: Duration) -> Permission {
        let service_now = self.service_now();
        if self.lanes.get(&operation).is_none_or(|lane| lane.queue.is_empty()) {
            return Permission::NothingWaits;
        }
        let held_back = self.connectivity.permits(now).err().or_else(|| {
            if !operation.creates() {
                return None;
            }
            self.quota
                .permits(service_now)
                .err()
                .map(|until| until.map(|until| now + until.since(service_now)))
        });
        if held_back.is_none() && self.needs_health_check(operation, now) {
            return Permission::Later(now);
        }
        let Some(first) = self.first_sendable(operation) else { return Permission::AfterNews };
        let Some(lane) = self.lanes.get_mut(&operation) else { return Permission::NothingWaits };
        match held_back.or_else(|| lane.permits(now).err()) {
            Some(Some(at)) => Permission::Later(at),
            Some(None) => Permission::AfterNews,
            None => lane.queue.remove(first).map_or(Permission::NothingWaits, Permission::Granted),
        }
    }

    /// An errand has its permission. **Claim**: a step of a job is put on disk as `sending` before anything
    /// leaves. A look-up changes nothing and leaves at once.
    fn begin(&mut self, operation: Operation, request: QueuedRequest) {
        failpoint::reach("permission.granted");
        self.connectivity.on_send(self.clock.elapsed());
        let phase = self.lane(operation).breaker.on_send();
        match request {
            QueuedRequest::Send(job) => {
                let service_now = self.service_now();
                let Some(active) = self.active.get_mut(&job) else {
                    return self.on_not_sent(operation, phase);
                };
                active.phase = phase;
                let now = self.clock.now();
                let day = operation.creates().then(|| self.quota.on_send(service_now));
                active.stage = Stage::Claiming;
                active.counted = day;
                let baseline = active.baseline.take();
                let content = Some(active.work.content_hash.clone());
                self.claiming += 1;
                self.write(
                    Ticket::Claim(job),
                    Write::Claim { job, operation, content, baseline, counted: day, at: now },
                );
                if mistake::made(Mistake::IntentAfterSend) {
                    self.claimed(job);
                }
            }
            QueuedRequest::Look { lookup, purpose, tries } => {
                if let Some(active) = purpose.job().and_then(|job| self.active.get_mut(&job)) {
                    active.stage = Stage::Looking;
                }
                let call = lookup.call();
                self.send(operation, call, QueuedRequest::Look { lookup, purpose, tries }, phase);
            }
        }
    }

    /// The claim is on disk: its request may leave.
    fn claimed(&mut self, job: JobId) {
        failpoint::reach("claim.on-disk");
        let Some(active) = self.active.get(&job) else {
            self.claiming -= 1;
            return;
        };
        let operation = active.work.operation;
        self.lane(operation).claimed.push_back(job);
        self.depart(operation);
    }

    /// **Send**, once each, what is claimed, as far as the sliding second has room. Returns when it has more.
    fn depart(&mut self, operation: Operation) -> Option<Duration> {
        let now = self.clock.elapsed();
        let stopping = self.drain.is_some() || self.failure.is_some();
        loop {
            let lane = self.lanes.get_mut(&operation)?;
            let job = *lane.claimed.front()?;
            if !stopping && let Err(at) = lane.may_depart(now) {
                return Some(at);
            }
            lane.claimed.pop_front();
            self.claiming -= 1;
            let Some(active) = self.active.get_mut(&job) else { continue };
            // Nothing has left: the claim is taken back rather than left in doubt.
            if stopping {
                self.undo_claim(job, "the run was ending; nothing was sent");
                continue;
            }
            let phase = active.phase;
            if lane.breaker.withdraws(phase) {
                self.on_not_sent(operation, phase);
                self.undo_claim(job, "the service began to fail; nothing was sent");
                continue;
            }
            if self.paused_sheets.is_paused(active.work.sheet) {
                self.on_not_sent(operation, phase);
                self.undo_claim(job, "its sheet was paused; nothing was sent");
                continue;
            }
            active.stage = Stage::UnderWay;
            active.left = now;
            match lookups::step(&active.work) {
                Some(call) => self.send(operation, call, QueuedRequest::Send(job), phase),
                None => {
                    self.undo_claim(job, "it could not be sent");
                    self.fail(Error::internal(format!("job {job} has no id for its step {operation}")));
                }
            }
        }
    }

    fn send(&mut self, operation: Operation, call: Call, request: QueuedRequest, phase: Phase) {
        let client = self.client.clone();
        let task = self.requests.spawn(async move { client.send(call).await });
        self.sent.insert(task.id(), (request, phase));
        let now = self.clock.elapsed();
        self.progress.left(now);
        self.lane(operation).departs(now);
        self.tell(Event::Sent { operation });
    }

    /// A request came home, or the task that sent it was lost.
    fn on_response(&mut self, home: std::result::Result<(task::Id, Answer), JoinError>) {
        let (id, answer) = match home {
            Ok(home) => home,
            Err(error) => (error.id(), super::decide::settle::lost()),
        };
        self.progress.step();
        match answer.date {
            Some(date) => self.observe_date(date),
            None => self.note_undated(&answer),
        }
        let Some((request, phase)) = self.sent.remove(&id) else { return self.on_time_response(id, &answer) };
        match request {
            QueuedRequest::Send(job) => {
                failpoint::reach("answer.received");
                self.answered(job, answer, phase);
            }
            QueuedRequest::Look { lookup, purpose, tries } => {
                failpoint::reach("look.received");
                self.on_lookup_response(lookup, purpose, tries, answer, phase);
            }
        }
    }

    /// **Settle.** Hands an outcome to the journal; what follows from it waits for [`Self::written`].
    pub(super) fn settle(&mut self, job: JobId, write: Write) {
        self.settle_as(job, write, None);
    }

    /// The same for a row that was refused and waits in hand until it is known why.
    pub(super) fn settle_and_wait(&mut self, job: JobId, write: Write, refused: Refused) {
        self.settle_as(job, write, Some(Box::new(refused)));
    }

    fn settle_as(&mut self, job: JobId, write: Write, refused: Option<Box<Refused>>) {
        if let Some(active) = self.active.get_mut(&job) {
            let sent = matches!(active.stage, Stage::Claiming | Stage::UnderWay);
            active.stage = Stage::SettleTimers { sent };
        }
        let makes = matches!(write.bare(), Write::Advance { how: How::Created | How::Adopted, .. });
        self.write(Ticket::Settle { job, makes, refused }, write);
    }

    /// A write that no job waits for.
    pub(super) fn note(&mut self, write: Write) {
        self.write(Ticket::Note, write);
    }

    fn write(&mut self, ticket: Ticket, write: Write) {
        let number = self.tickets.issue(ticket);
        self.writer.write(number, write);
    }

    /// **Tell.** A write is on disk: what follows from it may happen now.
    fn written(&mut self, number: u64, moved: &[Moved]) {
        match self.tickets.redeem(number) {
            Some(Ticket::Claim(_)) if mistake::made(Mistake::IntentAfterSend) => {}
            Some(Ticket::Claim(job)) => self.claimed(job),
            Some(Ticket::Settle { job, makes, refused }) => {
                failpoint::reach("settlement.on-disk");
                if makes {
                    self.recent_creations.confirm(job, self.clock.elapsed());
                }
                match refused {
                    Some(refused) => self.wait_for_references(job, *refused),
                    None => self.drop_job(job),
                }
            }
            Some(Ticket::Note) | None => {}
        }
        for &Moved { job, kind, from, to, operation } in moved {
            self.supply(to, operation);
            self.progress.step();
            self.remaining_count.moved(job, from, to);
            if from != to {
                if to == JobState::InDoubt {
                    self.settle_timers.begin(job, self.clock.elapsed(), self.options.policy.settle);
                } else {
                    self.settle_timers.end(job);
                }
                self.tell(Event::Moved { job, kind, from, to });
            }
        }
        failpoint::reach("settlement.told");
    }

    /// News that is not an answer.
    fn receive(&mut self, news: Message) {
        match news {
            Message::Journal(Reply::Written { ticket, moved }) => self.written(ticket, &moved),
            Message::Journal(Reply::Refused { ticket, error }) => self.refused(ticket, error),
            Message::Journal(Reply::Ready { operation, page }) => self.on_jobs(operation, page),
            Message::Journal(Reply::Doubtful { page }) => self.on_doubtful_jobs(page),
            Message::Journal(Reply::Owners { ticket, owners }) => {
                self.owned(JobId(ticket.cast_signed()), &owners)
            }
            Message::Journal(Reply::Quota { day }) => self.tell_quota(day),
            Message::Journal(Reply::Failed { error }) => self.fail(error),
            Message::JournalChanges { lanes, version, tally } => {
                self.on_journal_changes(&lanes, version, tally)
            }
            Message::DueTimesRebased => self.reread_due_jobs(),
            Message::SheetPaused { sheet, paused } => self.on_sheet_paused(sheet, paused),
            Message::QuotaLedger { day, sent } => self.quota.add_sent(day, sent),
            Message::Controls { job, operation, witnesses } => self.run_control(job, operation, &witnesses),
            Message::Unfinished(unfinished) => self.on_remaining(unfinished.as_deref()),
            Message::Audit(news) => self.on_audit_reply(news),
        }
    }

    pub(super) fn tell(&self, event: Event) {
        // Whoever shows the news may have gone (a closed pipe); the run goes on without it.
        drop(self.news.send(event));
    }
}

/// The answer to "may a request of this operation leave now?".
enum Permission {
    Granted(QueuedRequest),
    Later(Duration),
    AfterNews,
    NothingWaits,
}

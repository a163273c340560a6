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
use super::decide::paused_sheets::Refusals;
use super::decide::reference_lag::{Refused, Unseen};
use super::drain::Drain;
use super::ending::Ending;
use super::evidence::child_companies::Families;
use super::evidence::lookups;
use super::evidence::recent_creations::Made;
use super::evidence::settle_timer::Settling;
use super::gates::breaker::Phase;
use super::gates::capacity::Capacity;
use super::gates::connectivity::Reach;
use super::gates::quota::{Quota, ServiceClock};
use super::in_flight::{InHand, Inbox, Stage, Ticket, Tickets};
use super::operation_queue::{Errand, Lane, Supply};
use super::remaining::Reckoning;
use super::watch::clock::Timekeeping;
use super::watch::progress::Movement;
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
    pub(super) inbox: mpsc::UnboundedSender<Inbox>,
    pub(super) news: mpsc::UnboundedSender<Event>,
    pub(super) lanes: BTreeMap<Operation, Lane>,
    pub(super) in_hand: HashMap<JobId, InHand>,
    /// Whether the journal has more jobs in doubt than are in hand.
    pub(super) doubtful: Supply,
    pub(super) doubts_in_hand: usize,
    pub(super) tickets: Tickets,
    pub(super) requests: JoinSet<Answer>,
    pub(super) errands: HashMap<task::Id, (Errand, Phase)>,
    /// Jobs whose claims are on their way to disk, or on it and waiting for their departure.
    pub(super) claiming: usize,
    pub(super) quota: Quota,
    pub(super) service_clock: ServiceClock,
    pub(super) reach: Reach,
    pub(super) refusals: Refusals,
    pub(super) families: Families,
    /// Look-up operations that have found in this run what is known to exist.
    pub(super) proved: HashSet<Operation>,
    /// The records of this run, for rows that refer to them.
    pub(super) made: Made,
    /// Rows refused because of a record that may not be visible yet.
    pub(super) unseen: Unseen,
    /// Answers in a row that said the token is invalid, by job.
    pub(super) token_refusals: HashMap<JobId, u32>,
    /// Until when creations were last told to be parked, by the service's clock.
    pub(super) told_parking: Option<Moment>,
    pub(super) audit: Audit,
    /// This run in the journal.
    pub(super) run: RunId,
    /// The version of the journal's content that was last seen; `None` when it is to be looked at anew.
    pub(super) version: Option<i64>,
    pub(super) surveyed_at: Duration,
    /// Why nothing more is begun, once it is not.
    pub(super) drain: Option<Drain>,
    /// What ended the run at once.
    pub(super) failure: Option<Error>,
    pub(super) timekeeping: Timekeeping,
    pub(super) settling: Settling,
    pub(super) capacity: Capacity,
    pub(super) movement: Movement,
    pub(super) reckoning: Reckoning,
}

impl Dispatcher {
    /// The loop.
    pub(super) async fn work(
        &mut self,
        mail: &mut mpsc::UnboundedReceiver<Inbox>,
        mut interrupts: mpsc::Receiver<Interrupt>,
    ) -> Ending {
        let mut listening = true;
        loop {
            self.keep_time();
            self.refill();
            let wake = self.offer();
            let wake = self.ask_time(wake);
            self.show();
            self.reckon();
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
                    Some(Interrupt::GoOn(sheet)) => self.go_on_with(sheet),
                    Some(Interrupt::Leave(sheet)) => self.leave(sheet),
                    None => {
                        listening = false;
                        self.refusals.nobody_answers();
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
                    self.come_home(home);
                    while let Some(home) = self.requests.try_join_next_with_id() {
                        self.come_home(home);
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
        self.movement.held_back = false;
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
                    Permission::Granted(errand) => {
                        self.begin(operation, errand);
                        moving = true;
                    }
                    Permission::Later(at) => {
                        self.movement.held_back = true;
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
        let there = self.there();
        if self.lanes.get(&operation).is_none_or(|lane| lane.queue.is_empty()) {
            return Permission::NothingWaits;
        }
        let held_back = self.reach.permits(now).err().or_else(|| {
            if !operation.creates() {
                return None;
            }
            self.quota.permits(there).err().map(|until| until.map(|until| now + until.since(there)))
        });
        if held_back.is_none() && self.sounds_first(operation, now) {
            return Permission::Later(now);
        }
        let Some(first) = self.first_to_leave(operation) else { return Permission::AfterNews };
        let Some(lane) = self.lanes.get_mut(&operation) else { return Permission::NothingWaits };
        match held_back.or_else(|| lane.permits(now).err()) {
            Some(Some(at)) => Permission::Later(at),
            Some(None) => Permission::AfterNews,
            None => lane.queue.remove(first).map_or(Permission::NothingWaits, Permission::Granted),
        }
    }

    /// An errand has its permission. **Claim**: a step of a job is put on disk as `sending` before anything
    /// leaves. A look-up changes nothing and leaves at once.
    fn begin(&mut self, operation: Operation, errand: Errand) {
        failpoint::reach("permission.granted");
        self.reach.leaves(self.clock.elapsed());
        let phase = self.lane(operation).breaker.leaves();
        match errand {
            Errand::Send(job) => {
                let there = self.there();
                let Some(in_hand) = self.in_hand.get_mut(&job) else {
                    return self.never_left(operation, phase);
                };
                in_hand.phase = phase;
                let now = self.clock.now();
                let day = operation.creates().then(|| self.quota.leaves(there));
                in_hand.stage = Stage::Claiming;
                in_hand.counted = day;
                let baseline = in_hand.baseline.take();
                let content = Some(in_hand.work.content_hash.clone());
                self.claiming += 1;
                self.write(
                    Ticket::Claim(job),
                    Write::Claim { job, operation, content, baseline, counted: day, at: now },
                );
                if mistake::made(Mistake::IntentAfterSend) {
                    self.claimed(job);
                }
            }
            Errand::Look { lookup, purpose, tries } => {
                if let Some(in_hand) = purpose.job().and_then(|job| self.in_hand.get_mut(&job)) {
                    in_hand.stage = Stage::Looking;
                }
                let call = lookup.call();
                self.send(operation, call, Errand::Look { lookup, purpose, tries }, phase);
            }
        }
    }

    /// The claim is on disk: its request may leave.
    fn claimed(&mut self, job: JobId) {
        failpoint::reach("claim.on-disk");
        let Some(in_hand) = self.in_hand.get(&job) else {
            self.claiming -= 1;
            return;
        };
        let operation = in_hand.work.operation;
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
            let Some(in_hand) = self.in_hand.get_mut(&job) else { continue };
            // Nothing has left: the claim is taken back rather than left in doubt.
            if stopping {
                self.take_back(job, "the run was ending; nothing was sent");
                continue;
            }
            let phase = in_hand.phase;
            if lane.breaker.withdraws(phase) {
                self.never_left(operation, phase);
                self.take_back(job, "the service began to fail; nothing was sent");
                continue;
            }
            if self.refusals.sets_aside(in_hand.work.sheet) {
                self.never_left(operation, phase);
                self.take_back(job, "its sheet was paused; nothing was sent");
                continue;
            }
            in_hand.stage = Stage::UnderWay;
            in_hand.left = now;
            match lookups::step(&in_hand.work) {
                Some(call) => self.send(operation, call, Errand::Send(job), phase),
                None => {
                    self.take_back(job, "it could not be sent");
                    self.fail(Error::internal(format!("job {job} has no id for its step {operation}")));
                }
            }
        }
    }

    fn send(&mut self, operation: Operation, call: Call, errand: Errand, phase: Phase) {
        let client = self.client.clone();
        let task = self.requests.spawn(async move { client.send(call).await });
        self.errands.insert(task.id(), (errand, phase));
        let now = self.clock.elapsed();
        self.movement.left(now);
        self.lane(operation).departs(now);
        self.tell(Event::Sent { operation });
    }

    /// A request came home, or the task that sent it was lost.
    fn come_home(&mut self, home: std::result::Result<(task::Id, Answer), JoinError>) {
        let (id, answer) = match home {
            Ok(home) => home,
            Err(error) => (error.id(), super::decide::settle::lost()),
        };
        self.movement.step();
        match answer.date {
            Some(date) => self.hear_date(date),
            None => self.note_undated(&answer),
        }
        let Some((errand, phase)) = self.errands.remove(&id) else { return self.told_time(id, &answer) };
        match errand {
            Errand::Send(job) => {
                failpoint::reach("answer.received");
                self.answered(job, answer, phase);
            }
            Errand::Look { lookup, purpose, tries } => {
                failpoint::reach("look.received");
                self.looked(lookup, purpose, tries, answer, phase);
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
        if let Some(in_hand) = self.in_hand.get_mut(&job) {
            let sent = matches!(in_hand.stage, Stage::Claiming | Stage::UnderWay);
            in_hand.stage = Stage::Settling { sent };
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
                    self.made.confirm(job, self.clock.elapsed());
                }
                match refused {
                    Some(refused) => self.wait_for_references(job, *refused),
                    None => self.let_go(job),
                }
            }
            Some(Ticket::Note) | None => {}
        }
        for &Moved { job, kind, from, to, operation } in moved {
            self.supply(to, operation);
            self.movement.step();
            self.reckoning.moved(job, from, to);
            if from != to {
                if to == JobState::InDoubt {
                    self.settling.begin(job, self.clock.elapsed(), self.options.policy.settle);
                } else {
                    self.settling.end(job);
                }
                self.tell(Event::Moved { job, kind, from, to });
            }
        }
        failpoint::reach("settlement.told");
    }

    /// News that is not an answer.
    fn receive(&mut self, news: Inbox) {
        match news {
            Inbox::Journal(Reply::Written { ticket, moved }) => self.written(ticket, &moved),
            Inbox::Journal(Reply::Refused { ticket, error }) => self.refused(ticket, error),
            Inbox::Journal(Reply::Ready { operation, page }) => self.supplied(operation, page),
            Inbox::Journal(Reply::Doubtful { page }) => self.supplied_doubts(page),
            Inbox::Journal(Reply::Owners { ticket, owners }) => {
                self.owned(JobId(ticket.cast_signed()), &owners)
            }
            Inbox::Journal(Reply::Quota { day }) => self.tell_quota(day),
            Inbox::Journal(Reply::Failed { error }) => self.fail(error),
            Inbox::Survey { lanes, version, tally } => self.surveyed(&lanes, version, tally),
            Inbox::BroughtForward => self.ask_for_waiting(),
            Inbox::Shelved { sheet, shelved } => self.shelved(sheet, shelved),
            Inbox::Ledger { day, sent } => self.quota.add_sent(day, sent),
            Inbox::Witnesses { job, operation, witnesses } => self.prove(job, operation, &witnesses),
            Inbox::Unfinished(unfinished) => self.reckoned(unfinished.as_deref()),
            Inbox::Audit(news) => self.heard_of_audit(news),
        }
    }

    pub(super) fn tell(&self, event: Event) {
        // Whoever shows the news may have gone (a closed pipe); the run goes on without it.
        drop(self.news.send(event));
    }
}

/// The answer to "may a request of this operation leave now?".
enum Permission {
    Granted(Errand),
    Later(Duration),
    AfterNews,
    NothingWaits,
}

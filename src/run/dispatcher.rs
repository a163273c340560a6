//! The loop of a run, the one owner of the order in which a request is handled. It waits for the first of: an answer, a
//! message of the journal, a due time, the pace of an operation, a signal; and keeps one order for every request:
//!
//! 1. **permission**: the gates let one request of the operation leave ([`Dispatcher::offer`]);
//! 2. **claim**: the job is `sending` on disk, with its attempt ([`Dispatcher::begin`]);
//! 3. **send**: one task sends it once ([`Dispatcher::send_claimed`]);
//! 4. **settle**: what the answer means for the job goes to disk ([`Dispatcher::settle`]);
//! 5. **tell**: only then anything follows from it ([`Dispatcher::on_written`]).
//!
//! Permission comes before the claim, so that a crash leaves in doubt only what was truly under way. The parts (`gates`,
//! `in_flight`, `evidence`, `audit`) own their state and answer with [`Action`]s, which are carried out here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{self, JoinError, JoinSet};

use super::action::Action;
use super::audit::{self, Audit};
use super::decide::paused_sheets::PausedSheets;
use super::drain::Drain;
use super::ending::Ending;
use super::evidence::reference_lag::Refused;
use super::evidence::{RunEvidence, lookups};
use super::gates::{Gates, Phase};
use super::in_flight::{InFlight, Purpose, QueuedRequest, Stage, Ticket, Tries};
use super::journal_questions::Message;
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
use crate::service::{Answer, Call, Client, Lookup};

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
    pub(super) gates: Gates,
    pub(super) in_flight: InFlight,
    /// The tasks that send.
    pub(super) requests: JoinSet<Answer>,
    /// What they send, with the phase of the breaker in which it was permitted.
    pub(super) sent: HashMap<task::Id, (QueuedRequest, Phase)>,
    pub(super) paused_sheets: PausedSheets,
    pub(super) evidence: RunEvidence,
    pub(super) audit: Audit,
    /// This run in the journal.
    pub(super) run: RunId,
    /// The version of the journal's content that was last seen; `None` when it is to be looked at again.
    pub(super) version: Option<i64>,
    pub(super) checked_at: Duration,
    /// Why nothing more is begun, once it is not.
    pub(super) drain: Option<Drain>,
    /// What ended the run at once.
    pub(super) failure: Option<Error>,
    pub(super) clock_watch: ClockWatch,
    pub(super) progress: Progress,
    pub(super) remaining_count: RemainingCount,
}

impl Dispatcher {
    /// The loop.
    pub(super) async fn work(
        &mut self,
        messages: &mut mpsc::UnboundedReceiver<Message>,
        mut interrupts: mpsc::Receiver<Interrupt>,
    ) -> Ending {
        let mut listening = true;
        loop {
            self.check_clock();
            self.refill();
            let wake = self.offer();
            let wake = self.request_time(wake);
            self.report_progress();
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
                Some(message) = messages.recv() => {
                    self.receive(message);
                    // Take in what has gathered before offering again: one round for many answers.
                    while let Ok(message) = messages.try_recv() {
                        self.receive(message);
                    }
                }
                Some(response) = self.requests.join_next_with_id(), if !self.requests.is_empty() => {
                    self.on_response(response);
                    while let Some(response) = self.requests.try_join_next_with_id() {
                        self.on_response(response);
                    }
                }
                () = self.clock.sleep_until(wake) => {}
            }
        }
    }

    /// **Permission.** Lets requests leave, one of each operation in turn, while everything permits it. Returns
    /// when to look again.
    fn offer(&mut self) -> Duration {
        let now = self.clock.elapsed();
        self.progress.begin_round();
        let parked = self.requests.is_empty() && self.gates.parked_until().is_some();
        let mut wake = self.next_due(now).min(now + if parked { PARKED_SLEEP } else { LONGEST_SLEEP });
        if self.options.until.is_some_and(|until| self.clock.now() >= until) {
            let why = "the time given with --until has come".to_owned();
            self.drain(Ending::Interrupted { by: End::Until, why });
        }
        let operations = self.in_flight.operations();
        for &operation in &operations {
            wake = self.send_claimed(operation).unwrap_or(wake).min(wake);
        }
        let mut moving = !self.is_stopping();
        while moving {
            moving = false;
            for &operation in &operations {
                if let Err(at) = self.gates.has_capacity(self.under_way()) {
                    return at.map_or(wake, |at| wake.min(at));
                }
                match self.permission(operation, now) {
                    Permission::Granted(request) => {
                        self.begin(operation, request);
                        moving = true;
                    }
                    Permission::Later(at) => {
                        self.progress.hold_back();
                        wake = wake.min(at);
                    }
                    Permission::AfterAnswer | Permission::NothingWaits => {}
                }
            }
        }
        let news = self.gates.parking_news();
        self.carry_out(news);
        wake
    }

    /// Asks everything that can hold a request of `operation` back. The pace comes last: asking it takes the
    /// permission.
    fn permission(&mut self, operation: Operation, now: Duration) -> Permission {
        self.check_clock();
        if !self.in_flight.has_waiting(operation) {
            return Permission::NothingWaits;
        }
        let mut open = self.gates.is_open(operation);
        if open.is_ok() && self.health_check_first(operation) {
            return Permission::Later(now);
        }
        let Some(first) = self.first_sendable(operation) else { return Permission::AfterAnswer };
        if open.is_ok() {
            open = self.gates.permit(operation);
        }
        match open {
            Err(Some(at)) => Permission::Later(at),
            Err(None) => Permission::AfterAnswer,
            Ok(()) => {
                self.in_flight.take(operation, first).map_or(Permission::NothingWaits, Permission::Granted)
            }
        }
    }

    /// A request has its permission. **Claim**: a step of a job is put on disk as `sending` before anything
    /// leaves. A look-up changes nothing and leaves at once.
    fn begin(&mut self, operation: Operation, request: QueuedRequest) {
        failpoint::reach("permission.granted");
        let phase = self.gates.on_permitted(operation);
        match request {
            QueuedRequest::Send(job) => {
                if self.in_flight.work(job).is_none() {
                    return self.gates.on_not_sent(operation, phase);
                }
                self.check_clock();
                let counted = operation.creates().then(|| self.gates.count_creation());
                let Some(claim) = self.in_flight.begin_claim(job, phase, counted) else { return };
                let (content, baseline, at) = (Some(claim.content), claim.baseline, self.clock.now());
                self.write(
                    Ticket::Claim(job),
                    Write::Claim { job, operation, content, baseline, counted, at },
                );
                if mistake::made(Mistake::IntentAfterSend) {
                    self.on_claimed(job);
                }
            }
            QueuedRequest::Look { lookup, purpose, tries } => {
                if let Some(job) = purpose.job() {
                    self.in_flight.set_stage(job, Stage::Looking);
                }
                let call = lookup.call();
                self.send(operation, call, QueuedRequest::Look { lookup, purpose, tries }, phase);
            }
        }
    }

    /// The claim is on disk: its request may leave.
    fn on_claimed(&mut self, job: JobId) {
        failpoint::reach("claim.on-disk");
        if let Some(operation) = self.in_flight.on_claimed(job) {
            self.send_claimed(operation);
        }
    }

    /// **Send**, once each, what is claimed, as far as the sliding second has room. Returns when it has more.
    fn send_claimed(&mut self, operation: Operation) -> Option<Duration> {
        while self.in_flight.has_claimed(operation) {
            let stopping = self.is_stopping();
            if !stopping && let Err(at) = self.gates.has_room(operation) {
                return Some(at);
            }
            let (job, phase) = self.in_flight.next_claimed(operation)?;
            let work = self.in_flight.work(job)?;
            // Nothing has left: the claim is taken back rather than left in doubt.
            if stopping {
                self.undo_claim(job, "the run was ending; nothing was sent");
            } else if self.gates.withdraws(operation, phase) {
                self.gates.on_not_sent(operation, phase);
                self.undo_claim(job, "the service began to fail; nothing was sent");
            } else if self.paused_sheets.is_paused(work.sheet) {
                self.gates.on_not_sent(operation, phase);
                self.undo_claim(job, "its sheet was paused; nothing was sent");
            } else if let Some(call) = lookups::step(work) {
                self.in_flight.on_departure(job, self.clock.elapsed());
                self.send(operation, call, QueuedRequest::Send(job), phase);
            } else {
                self.undo_claim(job, "it could not be sent");
                self.fail(Error::internal(format!("job {job} has no id for its step {operation}")));
            }
        }
        None
    }

    fn send(&mut self, operation: Operation, call: Call, request: QueuedRequest, phase: Phase) {
        let id = self.spawn(call);
        self.sent.insert(id, (request, phase));
        self.progress.sent(self.clock.elapsed());
        self.gates.on_departure(operation);
        self.tell(Event::Sent { operation });
    }

    /// One task per request; its answer comes back through the set of tasks.
    pub(super) fn spawn(&mut self, call: Call) -> task::Id {
        let client = self.client.clone();
        self.requests.spawn(async move { client.send(call).await }).id()
    }

    /// A request has its answer, or the task that sent it was lost.
    fn on_response(&mut self, response: std::result::Result<(task::Id, Answer), JoinError>) {
        let (id, answer) = match response {
            Ok(response) => response,
            Err(error) => (error.id(), super::decide::settle::lost()),
        };
        self.progress.moved();
        match answer.date {
            Some(date) => self.observe_date(date),
            None => self.note_undated(&answer),
        }
        let Some((request, phase)) = self.sent.remove(&id) else { return self.on_time_response(id, &answer) };
        match request {
            QueuedRequest::Send(job) => {
                failpoint::reach("answer.received");
                self.on_answer(job, answer, phase);
            }
            QueuedRequest::Look { lookup, purpose, tries } => {
                failpoint::reach("look.received");
                self.on_lookup_response(lookup, purpose, tries, answer, phase);
            }
        }
    }

    /// **Settle.** Hands an outcome to the journal; what follows from it waits for [`Self::on_written`].
    pub(super) fn settle(&mut self, job: JobId, write: Write) {
        self.settle_as(job, write, None);
    }

    /// The same for a row that was refused and waits in hand until it is known why.
    pub(super) fn settle_and_wait(&mut self, job: JobId, write: Write, refused: Refused) {
        self.settle_as(job, write, Some(Box::new(refused)));
    }

    fn settle_as(&mut self, job: JobId, write: Write, refused: Option<Box<Refused>>) {
        self.in_flight.begin_settle(job);
        let makes = matches!(write.bare(), Write::Advance { how: How::Created | How::Adopted, .. });
        self.write(Ticket::Settle { job, makes, refused }, write);
    }

    fn write(&mut self, ticket: Ticket, write: Write) {
        let number = self.in_flight.begin_write(ticket);
        self.writer.write(number, write);
    }

    /// **Tell.** A write is on disk: what follows from it may happen now.
    fn on_written(&mut self, number: u64, moved: &[Moved]) {
        match self.in_flight.end_write(number) {
            Some(Ticket::Claim(_)) if mistake::made(Mistake::IntentAfterSend) => {}
            Some(Ticket::Claim(job)) => self.on_claimed(job),
            Some(Ticket::Settle { job, makes, refused }) => {
                failpoint::reach("settlement.on-disk");
                if makes {
                    self.evidence.created.confirm(job, self.clock.elapsed());
                }
                match refused {
                    Some(refused) => self.wait_for_references(job, *refused),
                    None => self.drop_job(job),
                }
            }
            Some(Ticket::Note) | None => {}
        }
        for &Moved { job, kind, from, to, operation } in moved {
            self.in_flight.on_job_moved(to, operation);
            self.progress.moved();
            self.remaining_count.moved(job, from, to);
            if from != to {
                if to == JobState::InDoubt {
                    self.evidence.settle.begin(job, self.clock.elapsed(), self.options.policy.settle);
                } else {
                    self.evidence.settle.end(job);
                }
                self.tell(Event::Moved { job, kind, from, to });
            }
        }
        failpoint::reach("settlement.told");
    }

    /// Carries out what a part asks for.
    pub(super) fn carry_out(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Tell(event) => {
                    self.remaining_count.on_event(&event);
                    self.tell(event);
                }
                Action::Write(write) => self.write(Ticket::Note, write),
                Action::LookUp(lookup, purpose) => self.queue_lookup(lookup, purpose),
                Action::AskAudit(inquiry) => self.ask_audit(inquiry),
                Action::AskControls(asker, operation, kind) => self.ask_controls(asker, operation, kind),
                Action::NoteResumption(until) => self.note_resumption(until),
                Action::NoteHeldBack(words) => self.note_held_back(words),
                Action::AskQuota(day) => self.ask_quota(day),
                Action::GiveUp(operation) => self.give_up(operation),
                Action::Drain(ending) => self.drain(ending),
            }
        }
    }

    /// Lets the audit go on, and carries out what it asks for.
    pub(super) fn audit(&mut self, step: impl FnOnce(&mut Audit, &mut audit::Context<'_>)) {
        let mut context = audit::Context {
            gates: &self.gates,
            controls: &mut self.evidence.controls,
            now: self.clock.elapsed(),
            wall: self.clock.now(),
        };
        step(&mut self.audit, &mut context);
        let actions = self.audit.take_actions();
        self.carry_out(actions);
    }

    /// Queues a request of a job.
    pub(super) fn queue(&mut self, operation: Operation, request: QueuedRequest) {
        self.in_flight.push(operation, request);
    }

    /// Puts a question to the service as soon as it may be asked.
    pub(super) fn queue_lookup(&mut self, lookup: Lookup, purpose: Purpose) {
        self.queue(lookup.operation(), QueuedRequest::Look { lookup, purpose, tries: Tries::default() });
    }

    /// Drops a job from memory: the journal knows the rest.
    pub(super) fn drop_job(&mut self, job: JobId) {
        self.in_flight.drop_job(job);
        self.evidence.lag.forget(job);
    }

    /// How many requests are under way, or are about to be.
    pub(super) fn under_way(&self) -> usize {
        self.requests.len() + self.in_flight.claiming()
    }

    /// Whether nothing more is begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.drain.is_some() || self.failure.is_some()
    }

    /// A message that is not an answer of the service.
    fn receive(&mut self, message: Message) {
        match message {
            Message::Journal(Reply::Written { ticket, moved }) => self.on_written(ticket, &moved),
            Message::Journal(Reply::Refused { ticket, error }) => self.on_write_refused(ticket, error),
            Message::Journal(Reply::Ready { operation, page }) => self.on_jobs(operation, page),
            Message::Journal(Reply::Doubtful { page }) => self.on_doubtful_jobs(page),
            Message::Journal(Reply::Owners { ticket, owners }) => {
                self.on_owners(JobId(ticket.cast_signed()), &owners)
            }
            Message::Journal(Reply::Quota { day }) => self.tell_quota(day),
            Message::Journal(Reply::Failed { error }) => self.fail(error),
            Message::JournalChanges { operations, version, tally } => {
                self.on_journal_changes(&operations, version, tally);
            }
            Message::DueTimesRebased => self.in_flight.on_due_times_changed(),
            Message::SheetPaused { sheet, paused } => self.on_sheet_paused(sheet, paused),
            Message::QuotaLedger { day, sent } => self.gates.add_creations(day, sent),
            // Nothing is looked up any more.
            Message::Controls { .. } | Message::Audit(_) if self.drain.is_some() => {}
            Message::Controls { asker, operation, rows } => self.on_controls(asker, operation, &rows),
            Message::Unfinished(unfinished) => self.on_remaining(unfinished.as_deref()),
            Message::Audit(reply) => self.audit(|audit, cx| audit.on_reply(cx, reply)),
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
    AfterAnswer,
    NothingWaits,
}

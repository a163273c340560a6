//! The loop of a run, the one owner of the order in which a request is handled. It waits for the first of: an answer, a
//! message of the journal, a due time, the pace of an operation, a signal; and keeps one order for every request:
//!
//! 1. **permission**: the gates let one request of the operation leave ([`Dispatcher::offer`]);
//! 2. **claim**: the job is `sending` on disk, with its attempt ([`Dispatcher::begin`]);
//! 3. **send**: in its turn at the pace, one task sends it once ([`Dispatcher::send_claimed`]);
//! 4. **settle**: what the answer means for the job goes to disk ([`Dispatcher::on_answer`]);
//! 5. **tell**: only then anything follows from it ([`Dispatcher::on_written`]).
//!
//! Permission comes before the claim, and no more is claimed than leaves while a claim is on its way to disk, so that a crash
//! leaves in doubt only what was under way or about to leave. The parts (`gates`, `in_flight`, `evidence`, `audit`) own their
//! state and answer with [`RunAction`]s; what follows for one row is decided in `decide`. Both are carried out here, and only
//! here.

mod lookup_answers;
mod rounds;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{self, JoinError, JoinSet};

use super::audit::{Audit, AuditContext};
use super::canary::Canary;
use super::clock_watch::ClockWatch;
use super::decide::settle::{self, SettledStep};
use super::ending::Ending;
use super::evidence::list_ahead::ListAhead;
use super::evidence::reference_lag::RefusedRow;
use super::evidence::shared_lists::{self, ListUser};
use super::evidence::{RunEvidence, lookups};
use super::gates::import_turns::ImportTurns;
use super::gates::paused_sheets::PausedSheets;
use super::gates::{BreakerOutcome, Gates, Phase};
use super::in_flight::{InFlight, QueuedRequest, Stage, Ticket};
use super::journal_client::{JournalClient, JournalMessage};
use super::opening::RunOpening;
use super::remaining::RemainingCount;
use super::run_action::{Inquiry, RunAction};
use super::watchdog::{LoopProgress, Pulse};
use super::{Interrupt, OnClose, RunOptions};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::{AuditScope, Evidence, How, Moved, PageCheck, Reply, Waiting, Work, Write};
use crate::mistake::{self, Mistake};
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::reason::Reason;
use crate::model::settle::{Consequence, Settled, StepContext};
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Execution, Rejection, Verdict};
use crate::service::{Answer, Call, Client, TokenInfo};

/// The longest the loop sleeps: a suspended machine is noticed within this, and so are rows that another
/// command has put in the journal.
const LONGEST_SLEEP: Duration = Duration::from_secs(2);
/// The same while creations are parked and nothing is under way, perhaps for a day.
const PARKED_SLEEP: Duration = Duration::from_secs(15);
/// A loop that wakes so much too late did not run meanwhile: the machine stood still, or was busy with something else.
const PUNCTUAL: Duration = Duration::from_millis(2);
/// One request under way of so many may be a look-up of the audit, while rows are still carried out.
const AUDIT_SHARE: usize = 4;

/// The state of a run. See the module for its order of work.
pub(super) struct Dispatcher {
    clock: Arc<dyn Clock>,
    clock_watch: ClockWatch,
    client: Client,
    options: RunOptions,
    journal: JournalClient,
    news: mpsc::UnboundedSender<Event>,
    gates: Gates,
    paused_sheets: PausedSheets,
    import_turns: ImportTurns,
    in_flight: InFlight,
    /// The tasks that send; each gives its answer, and the moment at which it was sent.
    requests: JoinSet<(Moment, Answer)>,
    /// What they send, with the phase of the breaker in which it was permitted.
    sent: HashMap<task::Id, (QueuedRequest, Phase)>,
    evidence: RunEvidence,
    audit: Audit,
    canary: Canary,
    /// Why nothing more is begun, once it is not.
    drain: Option<Drain>,
    /// What ended the run at once.
    failure: Option<Error>,
    progress: LoopProgress,
    remaining_count: RemainingCount,
    /// How often a person asked to try again at once.
    asked_now: u64,
    /// The look at every page of the journal, until it has ended: nothing leaves before that but look-ups.
    page_check: Option<PageCheck>,
}

/// The first reason to begin nothing more, and until when what is under way is waited for.
struct Drain {
    ending: Ending,
    deadline: Duration,
}

/// What is left of a run that has ended.
pub(super) struct Finish {
    pub(super) journal: JournalClient,
    pub(super) failure: Option<Error>,
    pub(super) gates: Gates,
    pub(super) audit: Audit,
    pub(super) news: mpsc::UnboundedSender<Event>,
}

impl Dispatcher {
    /// A run of what `opening` has read, whose clock is watched since before that.
    pub(super) fn new(
        opening: &RunOpening,
        journal: JournalClient,
        client: Client,
        (clock, clock_watch): (Arc<dyn Clock>, ClockWatch),
        mut options: RunOptions,
        news: mpsc::UnboundedSender<Event>,
        pulse: Pulse,
    ) -> Self {
        let (limits, policy) = (options.limits, options.policy);
        let mut evidence = RunEvidence::default();
        let ahead = options.list_ahead.take().filter(|ahead| ahead.is_good(clock.now()));
        if let Some(ListAhead { of, list, at, .. }) = ahead {
            evidence.lists.on_list(&of, Some(list), at);
        }
        let canary = opening.canary.clone();
        // What a canary made is always read back.
        let audited = if canary.is_open() { Some(AuditScope::All) } else { policy.audit };
        Self {
            gates: Gates::new(clock.clone(), client.clone(), limits, &opening.today, opening.learned_ceiling)
                .within(options.hours.clone()),
            paused_sheets: PausedSheets::new(policy.on_rejections),
            import_turns: ImportTurns::new(&opening.turns),
            in_flight: InFlight::new(&opening.operations),
            requests: JoinSet::new(),
            sent: HashMap::new(),
            evidence,
            audit: Audit::new(opening.run, audited, policy.settle),
            canary,
            remaining_count: RemainingCount::new(clock.elapsed()),
            clock,
            clock_watch,
            client,
            options,
            journal,
            news,
            drain: None,
            failure: None,
            progress: LoopProgress::new(pulse),
            asked_now: opening.asked_now,
            page_check: None,
        }
    }

    /// Tells with what the run begins, after a sign-in that was `sent` then and answered, if it was.
    pub(super) fn tell_opening(&mut self, opening: RunOpening, (token, sent): (Option<TokenInfo>, Moment)) {
        self.in_flight.set_priorities(self.import_turns.has_priorities());
        self.gates.on_reserves(opening.today.day, &opening.reserves);
        if let Some(token) = token {
            self.remaining_count.answered(token.took);
            if let Some(date) = token.date {
                self.observe_date(date, sent);
            }
        }
        self.tell_quota(opening.today);
        for text in opening.changes.into_iter().chain(opening.too_much).chain(opening.canary_words) {
            self.tell(Event::Note { text });
        }
    }

    /// Lets nothing leave but look-ups until the journal is known to be whole.
    pub(super) fn hold_until_checked(&mut self, check: PageCheck) {
        self.page_check = Some(check);
    }

    /// Ends the run: what is under way is not waited for.
    pub(super) fn finish(self) -> Finish {
        let Self { journal, failure, gates, audit, news, .. } = self;
        Finish { journal, failure, gates, audit, news }
    }

    /// The loop.
    pub(super) async fn work(
        &mut self,
        messages: &mut mpsc::UnboundedReceiver<JournalMessage>,
        mut interrupts: mpsc::Receiver<Interrupt>,
    ) -> Ending {
        let mut listening = true;
        loop {
            let began = self.clock.elapsed();
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
                    Some(Interrupt::GoOn(sheet)) => {
                        self.gates.on_reserves_changed();
                        let actions = self.paused_sheets.resume(sheet);
                        self.carry_out(actions);
                    }
                    Some(Interrupt::Leave(sheet)) => {
                        let actions = self.paused_sheets.leave(sheet);
                        self.carry_out(actions);
                    }
                    None => {
                        listening = false;
                        self.paused_sheets.nobody_answers();
                    }
                },
                checked = checked(&mut self.page_check) => {
                    self.page_check = None;
                    match checked {
                        Ok(()) => self.journal.ask(Inquiry::NotePagesWhole),
                        Err(damage) => self.fail(damage),
                    }
                }
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
            if self.clock.elapsed() > wake + PUNCTUAL {
                self.gates.on_stall(began);
            }
        }
    }

    /// **Permission.** Lets requests leave, one of each operation in turn, while everything permits it. Returns
    /// when to look again.
    fn offer(&mut self) -> Duration {
        let now = self.clock.elapsed();
        self.progress.begin_round();
        let waits = self.gates.is_parked() || self.gates.closed_until().is_some();
        let parked = self.requests.is_empty() && waits;
        let mut wake = self.next_due(now).min(now + if parked { PARKED_SLEEP } else { LONGEST_SLEEP });
        if self.options.until.is_some_and(|until| self.clock.now() >= until) {
            self.drain(Ending::until(self.options.until));
        }
        let only_creates = self.gates.is_parked() && self.creates_only();
        let pause = self.gates.pause(only_creates);
        let closed = pause.as_ref().map(|waiting| waiting.until);
        let news = self.gates.hours_news(pause.clone());
        self.carry_out(news);
        self.follow_reserves();
        if let Some(Waiting { waits_for: end, until, why, .. }) = pause
            && self.options.policy.on_close == OnClose::Exit
        {
            self.drain(Ending::Parked { end, until, why });
        }
        let operations = self.in_flight.operations();
        for &operation in &operations {
            wake = self.send_claimed(operation).unwrap_or(wake).min(wake);
        }
        if let Some(until) = closed {
            self.progress.hold_back();
            return wake.min(now + until.since(self.clock.now()));
        }
        let mut moving = !self.is_stopping();
        while moving {
            moving = false;
            for &operation in &operations {
                if let Err(at) = self.gates.has_capacity(self.requests.len()) {
                    return at.map_or(wake, |at| wake.min(at));
                }
                match self.permission(operation, now) {
                    Permission::Granted(request) => {
                        // What is dropped instead comes again from the journal, which is asked at once.
                        if self.begin(operation, request) {
                            wake = now;
                        }
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
        if self.follow_reserves() { now } else { wake }
    }

    /// Creates only for imports for which what is left of the day is kept, or for all again. Whether that has changed. A
    /// canary goes first.
    fn follow_reserves(&mut self) -> bool {
        if self.canary.is_open() {
            return false;
        }
        let news = self.gates.reserve_news();
        let has_changed = !news.is_empty();
        self.carry_out(news);
        has_changed
    }

    /// Asks everything that can hold a request of `operation` back. The pace comes last: asking it takes the
    /// permission.
    fn permission(&mut self, operation: Operation, now: Duration) -> Permission {
        if !self.in_flight.has_waiting(operation) {
            return Permission::NothingWaits;
        }
        self.check_clock();
        let is_held = self.page_check.is_some() && !mistake::made(Mistake::PageCheckNotAwaited);
        if is_held && !operation.looks_up() {
            return Permission::AfterAnswer;
        }
        let claims = self.in_flight.claims(operation);
        // As many as may be under way may be about to leave, each at most a lead before its turn.
        if claims >= self.gates.capacity() {
            return Permission::AfterAnswer;
        }
        if operation.creates() && !self.clock_watch.is_answered() {
            // The day on which it counts is the service's, which its first answer tells.
            self.clock_watch.ask_now(now);
            return match self.gates.may_connect() {
                Err(Some(at)) => Permission::Later(at),
                Ok(()) | Err(None) => Permission::AfterAnswer,
            };
        }
        let mut open = self.gates.is_open(operation);
        if open.is_ok() && self.health_check_first(operation) {
            return Permission::Later(now);
        }
        let Some(first) = self.first_sendable(operation) else { return Permission::AfterAnswer };
        if self.in_flight.is_of_audit(operation, first) && !self.has_room_for_audit() {
            return Permission::AfterAnswer;
        }
        if open.is_ok() {
            open = self.gates.permit(operation, claims);
        }
        match open {
            Err(Some(at)) => Permission::Later(at),
            Err(None) => Permission::AfterAnswer,
            Ok(()) => {
                self.in_flight.take(operation, first).map_or(Permission::NothingWaits, Permission::Granted)
            }
        }
    }

    /// Whether one more look-up of the audit may be under way.
    fn has_room_for_audit(&self) -> bool {
        let under_way = self.sent.values().filter(|(request, _)| request.is_of_audit()).count();
        self.in_flight.is_empty() || under_way < (self.gates.capacity() / AUDIT_SHARE).max(1)
    }

    /// A request has its permission. **Claim**: a step of a job is put on disk as `sending` before anything leaves. A look-up
    /// changes nothing and leaves at once. Returns whether the queue was emptied instead, as what was in it waited for too long.
    fn begin(&mut self, operation: Operation, request: QueuedRequest) -> bool {
        if let QueuedRequest::Send(job) = request
            && self.in_flight.waited(job, self.clock.elapsed()) >= shared_lists::GOOD_FOR
        {
            // What was looked up before it waited for quota, hours or the service may have changed, also of the row that is to
            // find out whether the service works again. Where look-ups fail as well, they find it out.
            self.drop_job(job);
            self.carry_out(vec![RunAction::QueueAgain]);
            return true;
        }
        failpoint::reach("permission.granted");
        let phase = self.gates.on_permitted(operation);
        match request {
            QueuedRequest::Send(job) => {
                let Some(import) = self.in_flight.work(job).map(|work| work.import) else {
                    self.gates.on_not_sent(operation, phase);
                    return false;
                };
                self.check_clock();
                let counted = operation.creates().then(|| self.gates.count_creation(import));
                let Some(claim) = self.in_flight.begin_claim(job, phase, counted) else { return false };
                let (content, at) = (Some(claim.content), self.clock.now());
                let (baseline, before) = (claim.baseline, claim.before);
                let ticket = Ticket::Claim { job, operation, since: self.clock.elapsed() };
                self.write(ticket, Write::Claim { job, operation, content, baseline, before, counted, at });
                if mistake::made(Mistake::IntentAfterSend) {
                    self.on_claimed(job, operation);
                }
            }
            QueuedRequest::Lookup { lookup, question, tries } => {
                if let Some(job) = question.job() {
                    self.in_flight.set_stage(job, Stage::Looking);
                }
                let call = lookup.call();
                self.send(operation, call, QueuedRequest::Lookup { lookup, question, tries }, phase);
            }
        }
        false
    }

    /// The claim is on disk: its request may leave.
    fn on_claimed(&mut self, job: JobId, operation: Operation) {
        failpoint::reach("claim.on-disk");
        self.in_flight.on_claimed(job, operation);
        self.check_clock();
        self.send_claimed(operation);
    }

    /// **Send**, once each, what is claimed, as far as capacity and pace permit it. Returns when they permit more; `None` when
    /// nothing waits for them, or only for an answer.
    fn send_claimed(&mut self, operation: Operation) -> Option<Duration> {
        while let Some((job, phase)) = self.in_flight.next_claimed(operation) {
            let work = self.in_flight.work(job)?;
            // Nothing has left: the claim is taken back rather than left in doubt.
            let why_not = if self.is_stopping() {
                Some("the run was ending")
            } else if self.gates.closed_until().is_some() {
                Some("the hours in which the run may send were over")
            } else if self.gates.withdraws(operation, phase) {
                Some("the service began to fail")
            } else if self.is_paused(work) {
                Some("its sheet or import was paused")
            } else if self.in_flight.waited(job, self.clock.elapsed()) >= shared_lists::GOOD_FOR {
                Some("it was looked up too long before")
            } else {
                None
            };
            if let Some(why) = why_not {
                let reason = settle::not_sent(work, why);
                self.in_flight.take_claimed(operation);
                self.gates.on_not_sent(operation, phase);
                self.undo_claim(job, &reason);
                continue;
            }
            if let Err(at) = self.gates.has_capacity(self.requests.len()) {
                return at;
            }
            if let Err(at) = self.gates.permit_departure(operation) {
                return Some(at);
            }
            self.in_flight.take_claimed(operation);
            if let Some(call) = self.in_flight.work(job).and_then(lookups::step) {
                self.in_flight.on_departure(job, self.clock.elapsed());
                self.note_unseen(job);
                self.send(operation, call, QueuedRequest::Send(job), phase);
            } else {
                self.undo_claim(job, "it could not be sent");
                self.fail(Error::internal(format!("job {job} has no id for its step {operation}")));
            }
        }
        None
    }

    /// A request that changes what a list shows has left, or has its answer: a list that was asked for before shows nothing of it.
    fn note_unseen(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job).filter(|work| !lookups::creates(work)) else { return };
        let Some(lookup) = lookups::of_step(work, &|operation| self.gates.usable(operation)) else { return };
        // What a row puts on the record that it makes is seen by all rows about that.
        match work.kind.is_record() || work.action.replaces() {
            true => self.evidence.lists.on_replaced(&lookup),
            false => self.evidence.lists.on_sent(&lookup, ListUser::of(work, work.action.turn())),
        }
    }

    fn send(&mut self, operation: Operation, call: Call, request: QueuedRequest, phase: Phase) {
        let id = self.spawn(call);
        self.sent.insert(id, (request, phase));
        self.progress.sent(self.clock.elapsed());
        self.gates.on_departure(operation);
        self.tell(Event::Sent { operation });
    }

    /// One task per request; its answer comes back through the set of tasks.
    fn spawn(&mut self, call: Call) -> task::Id {
        if self.requests.is_empty() {
            self.remaining_count.heard(self.clock.elapsed());
        }
        let (client, sent) = (self.client.clone(), self.clock.now());
        self.requests.spawn(async move { (sent, client.send(call).await) }).id()
    }

    /// A request has its answer, or the task that sent it was lost.
    fn on_response(&mut self, response: std::result::Result<(task::Id, (Moment, Answer)), JoinError>) {
        let (id, (sent, answer)) = match response {
            Ok(response) => response,
            Err(error) => (error.id(), (self.clock.now(), settle::lost())),
        };
        self.progress.moved();
        self.remaining_count.heard(self.clock.elapsed());
        self.remaining_count.answered(answer.took);
        match answer.date {
            Some(date) => self.observe_date(date, sent),
            None => self.on_undated(&answer),
        }
        let Some((request, phase)) = self.sent.remove(&id) else { return self.on_time_response(id, &answer) };
        match request {
            QueuedRequest::Send(job) => {
                failpoint::reach("answer.received");
                self.on_answer(job, answer, phase);
            }
            QueuedRequest::Lookup { lookup, question, tries } => {
                failpoint::reach("look.received");
                self.on_lookup_response((lookup, question, tries), (answer, sent), phase);
            }
        }
    }

    /// **Settle.** A step of a job has its answer: what it means for the job goes to disk, and the gates learn what it says
    /// about the service.
    fn on_answer(&mut self, job: JobId, answer: Answer, phase: Phase) {
        let Some(work) = self.in_flight.work(job) else { return };
        let (operation, import) = (work.operation, work.import);
        let (creates, removal) = (lookups::creates(work), work.action.removes());
        self.tell(answered(operation, &answer));
        self.note_unseen(job);
        let Some(work) = self.in_flight.work(job) else { return };
        let counted = self.in_flight.counted(job);
        let unseen = match (&answer.verdict, self.in_flight.sent_at(job)) {
            (Verdict::NoDataFound(rejection), Some(sent_at)) if !removal => {
                let usable = |operation| self.gates.usable(operation);
                self.evidence.lag.on_refused(work, rejection, sent_at, &usable)
            }
            _ => None,
        };
        if matches!(answer.verdict, Verdict::Succeeded(_)) {
            self.evidence.lag.on_accepted(work, self.clock.elapsed());
        }
        let token_refusals = self.in_flight.on_token(job, &answer);
        let fresh_reference = unseen.is_some();
        let standing = StepContext { creation: creates, removal, fresh_reference, token_refusals };
        let evidence = settle::evidence(&answer, self.clock.now());
        let is_not_found = matches!(answer.verdict, Verdict::NoDataFound(_));
        let actions = self.gates.on_status(operation, &answer);
        self.carry_out(actions);
        let outcome = BreakerOutcome::of(&answer.verdict);
        let (mut settled, consequence) = crate::model::settle::settle(standing, answer.verdict);
        if let Some(work) = self.in_flight.work(job) {
            settled = settle::unless_in_doubt(settled, work, &|operation| self.gates.usable(operation));
        }
        // A probe fails for the service's sake, not for the row's: not one of the doubts that a row may have.
        let charged = !self.gates.is_probe(operation, phase);
        if let Some(day) = counted {
            let actions = self.gates.on_creation((day, import), evidence.execution);
            self.carry_out(actions);
        }
        self.follow(operation, counted, consequence, (outcome, phase));
        self.count_settled(job, &settled, is_not_found);
        match (settled, unseen) {
            (Settled::Unseen(_), Some(refused)) => self.await_references(job, refused, evidence),
            (settled, _) => {
                let settle = self.options.policy.settle;
                let step = SettledStep { job, creates, charged, settle };
                self.settle(job, step.write(settled, evidence));
            }
        }
    }

    /// Counts what becomes of a row for the pause of its sheet, and for the rows that were refused alike.
    fn count_settled(&mut self, job: JobId, settled: &Settled, is_not_found: bool) {
        match settled {
            Settled::Done { .. } => {
                self.count_verdict(job, None);
                self.evidence.lag.probed(job, true);
            }
            Settled::Rejected(rejection) => {
                let is_counted = self.evidence.lag.is_counted(job);
                if is_not_found {
                    self.evidence.lag.probed(job, false);
                }
                if !is_counted {
                    self.count_verdict(job, Some(rejection));
                }
            }
            Settled::Unseen(_)
            | Settled::Returned { .. }
            | Settled::Deferred { .. }
            | Settled::InDoubt(_)
            | Settled::Held { .. } => {}
        }
    }

    /// Carries out what follows for the run from an answer.
    fn follow(
        &mut self,
        operation: Operation,
        counted: Option<Day>,
        consequence: Consequence,
        outcome: (BreakerOutcome, Phase),
    ) {
        self.check_clock();
        let under_way = self.requests.len();
        let actions = self.gates.on_answer(operation, counted, consequence, outcome, under_way);
        self.carry_out(actions);
    }

    /// The service did what a row asks for, or refused it: a sheet whose rows are refused one after another is paused.
    fn count_verdict(&mut self, job: JobId, rejection: Option<&Rejection>) {
        let Some(work) = self.in_flight.work(job) else { return };
        let actions = self.paused_sheets.on_verdict(work, rejection);
        self.carry_out(actions);
    }

    /// Hands an outcome to the journal; what follows from it waits for [`Self::on_written`].
    fn settle(&mut self, job: JobId, write: Write) {
        self.settle_as(job, write, None);
    }

    /// The same; a row that was `refused` waits in memory until it is known why.
    fn settle_as(&mut self, job: JobId, write: Write, refused: Option<Box<RefusedRow>>) {
        self.in_flight.begin_settle(job);
        let makes = matches!(write.bare(), Write::Advance { how: How::Created | How::Adopted, .. });
        self.write(Ticket::Settle { job, makes, refused }, write);
    }

    /// Takes a claim back whose request never left: nothing is in doubt, and quota and breaker have not counted it.
    fn undo_claim(&mut self, job: JobId, reason: &str) {
        self.uncount(job);
        let evidence = Evidence { execution: Execution::NotExecuted, ..Evidence::at(self.clock.now()) };
        let reason = reason.to_owned();
        self.settle(job, Write::Return { job, code: Reason::NotSent.as_str().to_owned(), reason, evidence });
    }

    /// A creation that was counted has not left.
    fn uncount(&mut self, job: JobId) {
        let import = self.in_flight.work(job).map(|work| work.import);
        if let (Some(day), Some(import)) = (self.in_flight.take_counted(job), import) {
            let actions = self.gates.uncount_creation(day, import);
            self.carry_out(actions);
        }
    }

    fn write(&mut self, ticket: Ticket, write: Write) {
        let number = self.in_flight.begin_write(ticket);
        self.journal.write(number, write);
    }

    /// **Tell.** A write is on disk: what follows from it may happen now.
    fn on_written(&mut self, number: u64, moved: &[Moved]) {
        match self.in_flight.end_write(number) {
            Some(Ticket::Claim { .. }) if mistake::made(Mistake::IntentAfterSend) => {}
            Some(Ticket::Claim { job, operation, since }) => {
                self.gates.on_claimed(self.clock.elapsed().saturating_sub(since));
                self.on_claimed(job, operation);
            }
            Some(Ticket::Settle { job, makes, refused }) => {
                failpoint::reach("settlement.on-disk");
                if makes && let Some(work) = self.in_flight.work(job) {
                    self.audit.on_made(work);
                    self.evidence.lag.on_created(work, self.clock.elapsed());
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

    /// A write was refused: the job is not in the state it was thought to be in, or has other values. As long as no
    /// request of ours is concerned, a person has decided, cancelled or corrected it meanwhile, and the journal's
    /// word counts.
    fn on_write_refused(&mut self, number: u64, error: Error) {
        // Where the job stands now is for the journal to say, even if it was asked while the job was in memory.
        self.journal.check_again();
        match self.in_flight.end_write(number) {
            Some(Ticket::Claim { job, operation, .. }) => {
                self.uncount(job);
                if let Some(phase) = self.in_flight.on_claim_refused(job, operation) {
                    self.gates.on_not_sent(operation, phase);
                }
                self.drop_job(job);
            }
            Some(Ticket::Settle { job, .. }) if self.in_flight.settles_unsent(job) => self.drop_job(job),
            Some(Ticket::Settle { .. } | Ticket::Note) => self.fail(error),
            None => {}
        }
    }

    /// Carries out what a part asks for.
    fn carry_out(&mut self, actions: Vec<RunAction>) {
        for action in actions {
            match action {
                RunAction::Tell(event) => {
                    self.remaining_count.on_event(&event);
                    self.tell(event);
                }
                RunAction::Write(write) => self.write(Ticket::Note, write),
                RunAction::LookUp(lookup, question) => self.ask(lookup, question),
                RunAction::AskJournal(inquiry) => self.journal.ask(inquiry),
                RunAction::GiveUp(operation) => self.give_up(operation),
                RunAction::DropSheet(sheet) => self.drop_unsent(|work| work.sheet == sheet),
                RunAction::DropImport(import) => self.drop_unsent(|work| work.import == import),
                RunAction::QueueAgain => {
                    self.drop_unsent(|_| true);
                    self.in_flight.ask_again();
                }
                RunAction::CreateOnlyFor(imports) => {
                    self.drop_unsent(|work| work.operation.creates());
                    self.in_flight.create_only_for(imports);
                }
                RunAction::Drain(ending) => self.drain(ending),
            }
        }
    }

    /// Drops these of the rows that wait to be sent: the journal has them.
    fn drop_unsent(&mut self, is_meant: impl Fn(&Work) -> bool) {
        for job in self.in_flight.drop_unsent(is_meant) {
            self.evidence.lag.forget(job);
        }
    }

    /// Whether a person, or the service by its refusals, has paused what a row belongs to.
    fn is_paused(&self, work: &Work) -> bool {
        self.paused_sheets.is_paused(work.sheet) || self.import_turns.is_paused(work)
    }

    /// Whether a row waits as what is left of the day's quota is kept for rows of other imports.
    fn is_kept_back(&self, work: &Work) -> bool {
        work.operation.creates() && !self.canary.is_open() && self.gates.keeps_back(work.import)
    }

    /// Lets the audit go on, and carries out what it asks for.
    fn audit(&mut self, step: impl FnOnce(&mut Audit, &mut AuditContext<'_>)) {
        let mut context = AuditContext {
            gates: &self.gates,
            controls: &mut self.evidence.controls,
            now: self.clock.elapsed(),
            wall: self.clock.now(),
        };
        step(&mut self.audit, &mut context);
        let actions = self.audit.take_actions();
        self.carry_out(actions);
    }

    /// Drops a job from memory: the journal knows the rest.
    fn drop_job(&mut self, job: JobId) {
        self.in_flight.drop_job(job);
        self.evidence.lag.forget(job);
    }

    /// A message of the journal.
    fn receive(&mut self, message: JournalMessage) {
        match message {
            JournalMessage::Reply(Reply::Written { ticket, moved }) => self.on_written(ticket, &moved),
            JournalMessage::Reply(Reply::Refused { ticket, error }) => self.on_write_refused(ticket, error),
            JournalMessage::Reply(Reply::Ready { operation, page }) => self.on_jobs(operation, page),
            JournalMessage::Reply(Reply::Doubtful { page }) => self.on_doubtful_jobs(page),
            JournalMessage::Reply(Reply::Owners { job, ownership }) => self.on_owners(job, &ownership),
            JournalMessage::Reply(Reply::Quota { day }) => self.tell_quota(day),
            JournalMessage::Reply(Reply::Locked) => {
                let text = "the journal is locked by another program: waiting for it".to_owned();
                self.tell(Event::Note { text });
            }
            JournalMessage::Reply(Reply::Failed { error }) => self.fail(error),
            JournalMessage::Changed { operations, version, tally, turns, not_to_send, asked_now } => {
                let not_to_send: HashSet<JobId> = not_to_send.into_iter().collect();
                self.drop_unsent(|work| not_to_send.contains(&work.job));
                let actions = self.import_turns.on_changed(&turns);
                self.in_flight.set_priorities(self.import_turns.has_priorities());
                self.gates.on_reserves_changed();
                self.carry_out(actions);
                self.on_journal_changed(&operations, version, tally);
                if std::mem::replace(&mut self.asked_now, asked_now) < asked_now {
                    self.try_now();
                }
            }
            JournalMessage::BroughtForward => self.in_flight.on_due_times_changed(),
            JournalMessage::SheetPaused { sheet, paused } => {
                let actions = self.paused_sheets.on_paused(sheet, paused);
                self.carry_out(actions);
            }
            JournalMessage::Reserves { day, reserves } => self.gates.on_reserves(day, &reserves),
            JournalMessage::Quota { day, sent } => self.gates.add_creations(day, sent),
            // Nothing is looked up any more.
            JournalMessage::Controls { .. } | JournalMessage::Audit(_) if self.drain.is_some() => {}
            JournalMessage::Controls { asker, job, operation, rows } => {
                self.on_controls(asker, job, operation, &rows);
            }
            JournalMessage::Canary(rows, others) => self.on_canary(&rows, others),
            JournalMessage::Unfinished(unfinished) => self.on_counted(&unfinished),
            JournalMessage::Audit(reply) => self.audit(|audit, cx| audit.on_reply(cx, reply)),
        }
    }

    /// A person has asked, in another terminal, to try again now what is waited for.
    fn try_now(&mut self) {
        let tried = self.gates.try_now();
        let text = match tried.as_slice() {
            [] => "asked to try again now: nothing waits for another try".to_owned(),
            tried => format!("asked to try again now: {}", tried.join(", ")),
        };
        self.carry_out(vec![RunAction::Tell(Event::Note { text })]);
        self.in_flight.on_due_times_changed();
    }

    /// The ledger on disk has changed.
    fn tell_quota(&self, ledger: QuotaDay) {
        if let Some(event) = self.gates.quota_news(ledger) {
            self.tell(event);
        }
    }

    fn tell(&self, event: Event) {
        // Whoever shows the news may have gone (a closed pipe); the run goes on without it.
        drop(self.news.send(event));
    }
}

/// That a request has its answer, as far as it is counted.
fn answered(operation: Operation, answer: &Answer) -> Event {
    let took = answer.status.map(|_| answer.took);
    Event::Answered { operation, class: answer.verdict.class(), took }
}

/// What the look at every page of the journal has found; never where there is none.
async fn checked(check: &mut Option<PageCheck>) -> Result<()> {
    match check {
        Some(check) => check.ended().await,
        None => std::future::pending().await,
    }
}

/// The answer to "may a request of this operation leave now?".
enum Permission {
    Granted(QueuedRequest),
    Later(Duration),
    AfterAnswer,
    NothingWaits,
}

//! What each round of the loop sees to besides requests: the clock, jobs from the journal, what is shown of the run, and
//! whether it is over.
//!
//! A drain begins nothing more and waits for what is under way; a failure of the journal, or of an invariant of ours,
//! stops everything.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::task;

use super::{Dispatcher, Drain};
use crate::ending::End;
use crate::error::Error;
use crate::journal::{CanaryRow, Unfinished};
use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::model::tally::Tally;
use crate::model::time::Moment;
use crate::run::OnQuota;
use crate::run::audit::Audit;
use crate::run::clock_watch::{jump_words, latest_due, rough};
use crate::run::ending::Ending;
use crate::run::first_sign_in::ending_of;
use crate::run::gates::QUOTA_SPENT;
use crate::run::remaining::RunView;
use crate::run::run_action::{Inquiry, RunAction};
use crate::service::{Answer, Call};

/// How long requests under way may take after the first signal. Below the ten seconds that
/// container hosts grant.
const DRAIN_GRACE: Duration = Duration::from_secs(8);

impl Dispatcher {
    // The clock.

    /// Compares the clocks, before anything is decided by them.
    pub(super) fn check_clock(&mut self) {
        let Some(jump) = self.clock_watch.jump(&*self.clock) else { return };
        self.tell(Event::Note { text: jump_words(jump) });
        self.gates.on_clock_jump(jump);
        if self.gates.knows_service_time() {
            self.clock_watch.ask_now(self.clock.elapsed());
        }
        if jump > 0 {
            // The machine may have slept: what was looked up before that is looked up again.
            self.evidence.lists.forget();
            self.evidence.lag.forget_companies();
            self.in_flight.on_sleep();
            self.carry_out(vec![RunAction::QueueAgain]);
            return self.in_flight.on_due_times_changed();
        }
        // The journal's moments come first: a page that was read before may still be on its way until then.
        let (now, by) = (self.clock.now(), Duration::from_millis(jump.unsigned_abs()));
        let latest = latest_due(now, self.options.policy.settle);
        self.journal.ask(Inquiry::BringForward { by, now, latest });
    }

    /// Learns the service's time from an answer to a request that was `sent` then.
    pub(super) fn observe_date(&mut self, date: Moment, sent: Moment) {
        self.check_clock();
        let actions = self.gates.observe_date(date, sent);
        if self.gates.knows_service_time() {
            self.clock_watch.on_answered();
        }
        self.carry_out(actions);
    }

    /// An answer does not say what time it is: tells, once, when none ever did.
    pub(super) fn on_undated(&mut self, answer: &Answer) {
        if answer.status.is_none() {
            return;
        }
        self.clock_watch.on_answered();
        if !self.gates.knows_service_time()
            && let Some(event) = self.clock_watch.on_undated()
        {
            self.tell(event);
        }
    }

    /// Asks the service for its time where it has not said yet, or where a jump has left it uncertain. A request for a token
    /// does, and takes the token's age out of question as well. Returns when to look again: at `wake`, or sooner.
    pub(super) fn request_time(&mut self, wake: Duration) -> Duration {
        if self.is_stopping() || self.gates.closed_until().is_some() {
            return wake;
        }
        let is_first = !self.clock_watch.is_answered();
        if is_first && let Err(at) = self.gates.may_connect() {
            return at.map_or(wake, |at| wake.min(at));
        }
        match self.clock_watch.wants_asking(self.clock.elapsed()) {
            Err(at) => at.map_or(wake, |at| wake.min(at)),
            Ok(()) => {
                if is_first {
                    self.gates.on_first_time_request();
                }
                let call = Call { operation: Operation::Auth, parameters: Vec::new(), body: None };
                let request = self.spawn(call);
                self.clock_watch.on_asked(request);
                wake
            }
        }
    }

    /// A request came back that no row sent: the one that asks for the time.
    pub(super) fn on_time_response(&mut self, id: task::Id, answer: &Answer) {
        if self.clock_watch.on_time_response(id, answer, self.clock.elapsed()) {
            // It no longer says: this machine's clock is all there is.
            self.gates.forget_service_time();
        }
        if answer.status.is_some() {
            let actions = self.gates.on_time_told();
            self.carry_out(actions);
        } else if !self.clock_watch.is_answered() {
            // It was the first sign-in again.
            match ending_of(&answer.verdict) {
                Some(ending) => self.drain(ending),
                None => {
                    let actions = self.gates.on_no_time(&answer.verdict, self.requests.len());
                    self.carry_out(actions);
                }
            }
        }
    }

    // Jobs from the journal.

    /// Asks the journal for whatever may be had and is not in memory yet, and sees to what is due.
    pub(super) fn refill(&mut self) {
        if self.failure.is_none() && self.journal.is_gone() {
            self
                .fail(Error::internal("writing the journal failed; nothing was sent after that").hint(
                "run the same command again: requests that were under way are looked up before anything is sent again",
            ));
        }
        if self.is_stopping() {
            return;
        }
        let now = self.clock.now();
        let gates = &self.gates;
        for fetch in self.in_flight.fetches(now, |operation| gates.halt(operation).is_some()) {
            self.journal.fetch(fetch, now);
        }
        if let Some(day) = self.gates.reserves_to_ask(self.import_turns.has_reserves()) {
            self.journal.ask(Inquiry::Reserves(day, now));
        }
        self.audit(Audit::retry_missing);
        self.audit(Audit::read_early);
        self.resolve_reference_lag();
        self.drop_failing_lookups();
        let elapsed = self.clock.elapsed();
        if self.journal.check_for_changes(elapsed, || self.in_flight.all_jobs()) {
            self.evidence.lists.drop_old(elapsed);
            self.evidence.lag.forget_records_until(self.in_flight.first_departure().unwrap_or(elapsed));
        }
    }

    /// When the next job falls due, or the time for what is under way ends.
    pub(super) fn next_due(&self, now: Duration) -> Duration {
        let wall = self.clock.now();
        // Only what `refill` would ask for: the loop must not wake for what it then leaves where it is.
        let asks = !self.is_stopping();
        let due = self.in_flight.next_due(|operation| self.gates.halt(operation).is_some());
        let due = due.filter(|_| asks).map(|due| now + due.since(wall));
        let deadline = self.drain.as_ref().map(|drain| drain.deadline);
        let retry = self.audit.next_lookup().filter(|_| asks);
        let reference = self.evidence.lag.next_due().filter(|_| asks);
        due.into_iter().chain(deadline).chain(retry).chain(reference).min().unwrap_or(Duration::MAX)
    }

    /// Another process may have written to the journal.
    pub(super) fn on_journal_changed(
        &mut self,
        operations: &[Operation],
        version: i64,
        tally: Option<Tally>,
    ) {
        if !self.journal.see(version) {
            return;
        }
        if let Some(tally) = tally {
            self.tell(Event::Rows { tally });
            // It has changed since the run began: another command may have put rows in doubt, or asked for another try of rows
            // that were compared with what is known.
            self.in_flight.on_doubts_changed();
            self.evidence.lists.forget();
        }
        for &operation in operations {
            self.gates.require(operation);
            self.in_flight.on_journal_changed(operation);
        }
    }

    // What is shown of the run.

    /// Leaves the mark of another round, and shows how the run stands when that was last done a while ago.
    pub(super) fn report_progress(&mut self) {
        let now = self.clock.elapsed();
        if self.progress.beat(now) {
            let (waits_for, in_hand) = (self.waits_for(now), self.in_hand());
            self.progress.show(waits_for, in_hand, now);
        }
    }

    /// What the run waits for and will come by itself; `None` when something is to be done, or the journal owes an
    /// answer.
    fn waits_for(&self, now: Duration) -> Option<&'static str> {
        if self.in_flight.awaits_journal() {
            None
        } else if self.drain.is_some() {
            Some("answers to the requests under way, for a limited time")
        } else if self.page_check.is_some() {
            Some("the check of the journal")
        } else if !self.requests.is_empty() && !self.progress.is_overdue(now) {
            Some("an answer of the service")
        } else if self.progress.is_held_back() {
            Some("pace, quota, a window or a pause")
        } else if self.paused_sheets.awaits_answer() {
            Some("the answer of a person")
        } else if self.next_due(now) < Duration::MAX {
            Some("a row whose moment has not come")
        } else {
            None
        }
    }

    /// What is in hand, in words, for whoever has to find out why nothing moves.
    fn in_hand(&self) -> String {
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

    /// Has the journal count what is still to be done, when that was last done a while ago.
    pub(super) fn count_remaining(&mut self) {
        let now = self.clock.elapsed();
        if !self.is_stopping() && self.remaining_count.measure(now, &self.in_flight, &self.gates) {
            self.journal.ask(Inquiry::Unfinished(self.options.policy.audit));
        }
    }

    /// The journal has counted.
    pub(super) fn on_counted(&mut self, unfinished: &Unfinished) {
        let run = RunView {
            gates: &self.gates,
            in_flight: &self.in_flight,
            audit: &self.audit,
            settle_timers: &self.evidence.settle,
            paused_sheets: &self.paused_sheets,
            settle: self.options.policy.settle,
            under_way: self.requests.len(),
            elapsed: self.clock.elapsed(),
            now: self.clock.now(),
        };
        let Some(remaining) = self.remaining_count.on_counted(unfinished, &run) else { return };
        let remaining = Box::new(remaining);
        self.journal.ask(Inquiry::NoteRemaining(remaining.clone()));
        self.tell(Event::Remaining(remaining));
    }

    // The end.

    /// The journal, or an invariant of ours, is broken: nothing further is sent.
    pub(super) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Begins nothing more. The first reason counts.
    pub(super) fn drain(&mut self, ending: Ending) {
        if self.drain.is_some() {
            return;
        }
        self.tell(Event::Draining { under_way: self.requests.len() });
        self.drain = Some(Drain { ending, deadline: self.clock.elapsed() + DRAIN_GRACE });
        self.in_flight.drop_waiting();
    }

    /// Whether nothing more is begun.
    pub(super) fn is_stopping(&self) -> bool {
        self.drain.is_some() || self.failure.is_some()
    }

    /// Whether the run is over, and how it ended.
    pub(super) fn ending(&mut self) -> Option<Ending> {
        let now = self.clock.elapsed();
        let at_rest = self.requests.is_empty() && self.in_flight.is_at_rest();
        if self.failure.is_some() {
            // The writer takes nothing more, so that no ticket comes back; answers under way are spilled.
            let too_late = self.drain.as_ref().is_some_and(|drain| now >= drain.deadline);
            return (self.requests.is_empty() || too_late).then_some(Ending::Finished);
        }
        if let Some(Drain { ending, deadline }) = &self.drain {
            let is_checked = self.page_check.is_none();
            return ((at_rest && is_checked) || now >= *deadline).then(|| ending.clone());
        }
        if let Some(ending) = self.gates.unreachable_too_long() {
            self.drain(ending);
            return self.ending();
        }
        if at_rest
            && self.gates.closed_until().is_none()
            && let Some(ending) = self.gates.failed_too_long(self.in_flight.waiting())
        {
            self.drain(ending);
            return self.ending();
        }
        // Not before what is under way has come back, and what creates nothing is done.
        if at_rest
            && self.options.policy.on_quota == OnQuota::Exit
            && self.creates_only()
            && let Some(until) = self.gates.parked_until()
        {
            self.drain(Ending::Parked { end: End::Quota, until, why: QUOTA_SPENT.to_owned() });
            return self.ending();
        }
        if at_rest
            && self.journal.is_seen()
            && self.in_flight.has_only_kept_back(|operation| self.gates.halt(operation).is_some())
        {
            let actions = self.gates.release_reserves();
            self.carry_out(actions);
            return None;
        }
        let spent = self.in_flight.is_spent(|operation| self.gates.halt(operation).is_some());
        let over = at_rest
            && spent
            && self.in_flight.is_empty()
            && self.journal.is_seen()
            && self.page_check.is_none();
        // What was made is read back first.
        if !over || self.paused_sheets.awaits_answer() || !self.is_audited() {
            return None;
        }
        if self.canary.is_open() {
            let (ending, actions) = self.canary.at_rest();
            self.carry_out(actions);
            return ending;
        }
        Some(self.paused_sheets.ending())
    }

    /// The journal has said how the rows stand that were sent first; once they are right, all others follow.
    pub(super) fn on_canary(&mut self, rows: &[CanaryRow], others: u64) {
        let otherwise = match self.paused_sheets.ending() {
            Ending::Finished if self.gates.halted().next().is_none() => None,
            ending => Some(ending),
        };
        let actions = self.canary.on_rows(rows, others, otherwise);
        self.carry_out(actions);
        if !self.canary.is_open() {
            self.audit.begin_again(self.options.policy.audit);
            self.in_flight.on_doubts_changed();
        }
    }

    /// Whether what was made has been read back. Goes on with it if not.
    fn is_audited(&mut self) -> bool {
        let mut is_done = false;
        self.audit(|audit, _| is_done = audit.is_done());
        is_done
    }

    /// Gives up look-ups of the audit whose breaker has opened: everything is made, so that nobody has to wait for the
    /// service to recover.
    fn drop_failing_lookups(&mut self) {
        if !self.audit.is_under_way() {
            return;
        }
        let failing: Vec<Operation> = self.gates.open_breakers().map(|open| open.operation).collect();
        for operation in failing {
            for (lookup, question) in self.in_flight.take_audit_lookups(operation) {
                self.audit(|audit, cx| audit.failed(cx, &lookup, question.subject));
            }
        }
    }

    /// Whether nothing in memory, nor in the journal, can go on while creations are parked.
    pub(super) fn creates_only(&self) -> bool {
        let goes_on = |operation: Operation| {
            !self.gates.waits_for_quota(operation)
                && self.gates.halt(operation).is_none()
                && self.gates.is_closed(operation)
        };
        self.in_flight.doubts() == 0
            && !self.in_flight.waiting().any(goes_on)
            && !self.in_flight.awaits_jobs(goes_on)
    }
}

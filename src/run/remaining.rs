//! What is still to be done, counted by the journal every second or so, with what the run knows besides: the pace of each
//! operation, what holds it back, how doubts went so far. Told, and noted for whoever asks the journal.
//!
//! Facts only; what follows from them is in [`crate::model::forecast`].

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use super::audit::Audit;
use super::decide::reconcile::{self, FIRST_WAIT};
use super::evidence::settle_timer::SettleTimers;
use super::gates::paused_sheets::PausedSheets;
use super::gates::{Gates, OpenBreaker, OperationPace};
use super::in_flight::InFlight;
use crate::journal::Unfinished;
use crate::model::descriptor::ActionDescriptor;
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::remaining::{Doubts, HeldBack, Lane, Missing, Remaining, Unanswered};
use crate::model::state::JobState;
use crate::model::time::Moment;

/// How often the journal is asked to count.
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// How often while nothing moves.
const IDLE: Duration = Duration::from_secs(60);
/// Rows and records for which it is asked a second later each: counting must not hold up what is written.
const ROWS_A_SECOND: u64 = 50_000;
/// Over how long the pace of an operation is measured, in time in which it could be sent.
const MEASURED: Duration = Duration::from_secs(30);
/// Without an answer for so long while requests are under way, nobody knows when they are answered.
const SILENT: Duration = Duration::from_secs(5);
/// A look so long after the last one says nothing of the pace: the process stood still meanwhile.
const STOOD_STILL: Duration = Duration::from_secs(5);
/// How many answers say how long one takes.
const ANSWERS: u32 = 256;
/// How much of its limit counts as measured: the first seconds say little.
const PRESUMED: Duration = Duration::from_secs(1);

/// The pace of an operation.
#[derive(Debug, Default)]
struct MeasuredPace {
    /// Requests and the time they took, oldest first.
    spans: VecDeque<(u64, Duration)>,
    /// How many had been sent at the last look.
    sent: u64,
    /// Whether there was something to send at the last look.
    busy: bool,
}

impl MeasuredPace {
    /// Takes in what was sent in `span`. It counts when there was something to send all the time.
    fn measure(&mut self, sent: u64, busy: bool, span: Duration) {
        let requests = sent.saturating_sub(std::mem::replace(&mut self.sent, sent));
        let counts = std::mem::replace(&mut self.busy, busy) && busy;
        // How long it takes to the first request says nothing of the pace.
        if !counts || span >= STOOD_STILL || (self.spans.is_empty() && requests == 0) {
            return;
        }
        self.spans.push_back((requests, span));
        while self.spans.iter().map(|(_, span)| *span).sum::<Duration>() > MEASURED {
            self.spans.pop_front();
        }
    }

    /// Requests a second; `None` when nothing is measured.
    fn pace(&self, limit: Option<f64>) -> Option<f64> {
        let sent: u64 = self.spans.iter().map(|(requests, _)| requests).sum();
        let time: Duration = self.spans.iter().map(|(_, span)| *span).sum();
        #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
        let sent = sent as f64;
        let presumed = limit.map_or(Duration::ZERO, |_| PRESUMED);
        (!time.is_zero()).then(|| {
            (sent + limit.unwrap_or_default() * presumed.as_secs_f64()) / (time + presumed).as_secs_f64()
        })
    }
}

/// How long answers take, the last ones above all.
#[derive(Debug, Default)]
struct AnswerTime {
    answers: u32,
    mean: Duration,
}

impl AnswerTime {
    fn measure(&mut self, took: Duration) {
        self.answers = ANSWERS.min(self.answers + 1);
        self.mean = (self.mean * (self.answers - 1) + took) / self.answers;
    }
}

/// What is known for the forecast besides what the journal counts.
#[derive(Debug, Default)]
pub(super) struct RemainingCount {
    /// When the journal is asked next; `None` for at once.
    next: Option<Duration>,
    asked: bool,
    /// Whether nothing moves, so that the journal is asked seldom.
    idle: bool,
    looked_at: Duration,
    measured: BTreeMap<Operation, MeasuredPace>,
    answer_time: AnswerTime,
    /// Rows in doubt that a look-up has not found.
    not_found: HashSet<JobId>,
    /// Doubts of this run, those whose first look-up ended them, and the others.
    doubts: u64,
    found_at_once: u64,
    found_later: u64,
    /// When the last answer came, or the first request of those under way left.
    heard: Duration,
    /// What was told last.
    last: Option<Remaining>,
}

impl RemainingCount {
    /// Nothing is counted yet. It is counted a while from now, when the first rows are on their way.
    pub(super) fn new(now: Duration) -> Self {
        Self { looked_at: now, heard: now, ..Self::default() }
    }

    /// Something has changed that whoever asks should see soon.
    fn renew(&mut self) {
        self.next = None;
    }

    /// What is reported changes what remains.
    pub(super) fn on_event(&mut self, event: &Event) {
        if matches!(
            event,
            Event::Breaker { .. }
                | Event::Unreachable { .. }
                | Event::Parked { .. }
                | Event::SheetPaused { .. }
                | Event::Woken
                | Event::OutsideHours { .. }
                | Event::WithinHours
        ) {
            self.renew();
        }
    }

    /// An answer has come, or a request has left while none was under way.
    pub(super) fn heard(&mut self, now: Duration) {
        self.heard = now;
        if self.last.as_ref().is_some_and(|last| last.unanswered.is_some()) {
            self.renew();
        }
    }

    /// An answer came, or none did, after so long; no time for a request that has not left.
    pub(super) fn answered(&mut self, took: Duration) {
        if !took.is_zero() {
            self.answer_time.measure(took);
        }
    }

    /// A row moved, or was looked up in vain.
    pub(super) fn moved(&mut self, job: JobId, from: JobState, to: JobState) {
        if std::mem::take(&mut self.idle) {
            self.renew();
        }
        match (from, to) {
            (JobState::InDoubt, JobState::InDoubt) => {
                self.found_later += u64::from(self.not_found.insert(job));
            }
            (_, JobState::InDoubt) => self.doubts += 1,
            (JobState::InDoubt, _) => self.found_at_once += u64::from(!self.not_found.remove(&job)),
            (_, _) => {}
        }
    }

    /// Measures the pace, now and then. Whether the journal is to count what is still to be done; [`Self::on_counted`]
    /// follows.
    pub(super) fn measure(&mut self, now: Duration, in_flight: &InFlight, gates: &Gates) -> bool {
        let span = now.saturating_sub(self.looked_at);
        if span < COUNT_EVERY {
            return false;
        }
        self.looked_at = now;
        for operation in in_flight.operations() {
            let OperationPace { sent, stopped } = gates.pace(operation);
            let busy = in_flight.is_busy(operation) && !stopped;
            self.measured.entry(operation).or_default().measure(sent, busy, span);
        }
        let due = !self.asked && self.next.is_none_or(|next| now >= next);
        self.asked |= due;
        due
    }

    /// The journal has counted. What remains, when that is news.
    pub(super) fn on_counted(&mut self, unfinished: &Unfinished, run: &RunView<'_>) -> Option<Remaining> {
        self.asked = false;
        let counted: u64 = unfinished.requests.values().chain(unfinished.records.values()).sum();
        self.next = Some(run.elapsed + COUNT_EVERY + Duration::from_secs(counted / ROWS_A_SECOND));
        let remaining = run.remaining(self, unfinished);
        // While nothing moves the same facts hold, however long that is.
        let same = self.last.as_ref().is_some_and(|last| {
            // Requests under way may go unanswered from now on.
            let is_still = remaining.waits() && run.under_way == 0 || remaining.unanswered.is_some();
            is_still && Remaining { at: last.at, ..remaining.clone() } == *last
        });
        if same {
            (self.next, self.idle) = (Some(run.elapsed + IDLE), true);
            return None;
        }
        self.last = Some(remaining.clone());
        Some(remaining)
    }
}

/// A part of a whole; nothing of nothing.
fn share(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

/// A share of a number of rows.
fn part_of(rows: u64, share: f64) -> u64 {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a number of rows, for an estimate"
    )]
    let part = (rows as f64 * share).round() as u64;
    part.min(rows)
}

/// What the run knows besides what the journal counts.
pub(super) struct RunView<'run> {
    pub(super) gates: &'run Gates,
    pub(super) in_flight: &'run InFlight,
    pub(super) audit: &'run Audit,
    pub(super) settle_timers: &'run SettleTimers,
    pub(super) paused_sheets: &'run PausedSheets,
    pub(super) settle: Duration,
    /// Requests under way.
    pub(super) under_way: usize,
    /// By [`crate::clock::Clock::elapsed`].
    pub(super) elapsed: Duration,
    pub(super) now: Moment,
}

impl RunView<'_> {
    /// When an instant of the steady clock is, by the wall clock.
    fn when(&self, at: Duration) -> Moment {
        self.now.plus(at.saturating_sub(self.elapsed))
    }

    fn remaining(&self, count: &RemainingCount, unfinished: &Unfinished) -> Remaining {
        let when = |at| self.when(at);
        let (missing, looked_up_by) = self.audit.missing();
        let verified_by = self.lanes_of(count, self.verified_by(unfinished));
        let (verifying, verifying_at_end) = match self.audit.takes_early() {
            true => Remaining::verified_by(verified_by),
            false => (BTreeMap::new(), verified_by),
        };
        Remaining {
            at: self.now,
            making: self.lanes_of(count, self.made_by(unfinished)),
            verifying,
            verifying_at_end,
            moving: unfinished.moving > 0,
            deferred_until: unfinished.deferred_until.filter(|until| *until > self.now),
            unseen: unfinished.unseen,
            quota: self.gates.allowance(),
            service_ahead_ms: self.gates.service_ahead_ms(),
            parked_until: self.gates.parked_until(),
            hours: self.gates.hours().clone(),
            doubts: self.doubts(count, unfinished),
            held_back: self
                .gates
                .open_breakers()
                .filter(|open| self.is_waited_for(open))
                .map(|open| HeldBack {
                    operation: open.operation,
                    next_try: open.next_try.map(when),
                    brief: open.is_brief,
                })
                .collect(),
            signing_in: None,
            unreachable_until: self.gates.next_try().map(when),
            missing: Missing {
                records: missing,
                looked_up_by: looked_up_by.filter(|_| missing > 0).map(when),
            },
            unanswered: self.unanswered(count),
            at_once: self.gates.capacity() as u64,
            answer_time: Some(count.answer_time.mean).filter(|mean| !mean.is_zero()),
            sheet_pauses: self.paused_sheets.noted(&unfinished.paused),
        }
    }

    /// Whether requests wait for an operation at which the service failed; else nothing of it is tried. For a token all do.
    fn is_waited_for(&self, open: &OpenBreaker) -> bool {
        open.operation == Operation::Auth || open.is_trying || self.in_flight.is_busy(open.operation)
    }

    /// The requests under way, when none has been answered for a while.
    fn unanswered(&self, count: &RemainingCount) -> Option<Unanswered> {
        let silence = self.elapsed.saturating_sub(count.heard);
        let is_silent = self.under_way > 0 && silence >= SILENT;
        is_silent.then(|| Unanswered { requests: self.under_way as u64, since: self.now.minus(silence) })
    }

    /// With limit and pace; operations that are stopped are not sent any more.
    fn lanes_of(
        &self,
        count: &RemainingCount,
        requests: BTreeMap<Operation, u64>,
    ) -> BTreeMap<Operation, Lane> {
        let lane = |(operation, requests)| {
            if requests == 0 || self.gates.halt(operation).is_some() {
                return None;
            }
            let limit = self.gates.limit(operation);
            let measured = count.measured.get(&operation);
            Some((
                operation,
                Lane { requests, limit, pace: measured.and_then(|measured| measured.pace(limit)) },
            ))
        };
        requests.into_iter().filter_map(lane).collect()
    }

    /// The requests that carry out rows, and the look-ups before them.
    fn made_by(&self, unfinished: &Unfinished) -> BTreeMap<Operation, u64> {
        let mut requests = unfinished.requests.clone();
        for (&operation, &rows) in &unfinished.requests {
            let rows = rows.saturating_sub(self.in_flight.in_memory(operation));
            // Where one list shows many of them it hardly counts.
            if let Some(kind) = operation.makes().filter(|kind| !kind.is_listed()) {
                self.put(&mut requests, kind, rows, unfinished.with_mac, Kind::found_by);
            }
        }
        for (operation, waiting) in self.in_flight.look_ups() {
            *requests.entry(operation).or_default() += waiting;
        }
        requests
    }

    /// The look-ups that verify records and changes.
    fn verified_by(&self, unfinished: &Unfinished) -> BTreeMap<Operation, u64> {
        let mut requests = BTreeMap::new();
        for (&operation, &records) in &unfinished.changed {
            self.put_first(&mut requests, records, ActionDescriptor::shown_by_of(operation).as_slice());
        }
        for (&kind, &records) in &unfinished.records {
            let records = match kind {
                Kind::Company if self.gates.usable(Operation::GetChildCompanies) => {
                    records.min(unfinished.parents)
                }
                Kind::Company | Kind::Site | Kind::Person | Kind::Device => records,
                // They make no record.
                Kind::Upkeep(_) => continue,
            };
            self.put(&mut requests, kind, records, unfinished.with_mac, Kind::read_back_by);
        }
        requests
    }

    /// Adds a look-up for each of so many rows, by the best way there is with a MAC address and without.
    fn put(
        &self,
        requests: &mut BTreeMap<Operation, u64>,
        kind: Kind,
        rows: u64,
        with_mac: f64,
        ways: fn(Kind, bool) -> Vec<Operation>,
    ) {
        let with_mac = if kind == Kind::Device { part_of(rows, with_mac) } else { 0 };
        self.put_first(requests, with_mac, &ways(kind, true));
        self.put_first(requests, rows - with_mac, &ways(kind, false));
    }

    /// Adds requests by the first of these operations that is usable.
    fn put_first(&self, requests: &mut BTreeMap<Operation, u64>, rows: u64, ways: &[Operation]) {
        if let Some(&operation) = ways.iter().find(|&&operation| self.gates.usable(operation)) {
            *requests.entry(operation).or_default() += rows;
        }
    }

    /// The rows in doubt, and how doubts went so far.
    fn doubts(&self, count: &RemainingCount, unfinished: &Unfinished) -> Doubts {
        let settle = self.settle;
        let sent = self.gates.sent();
        let sent = sent.iter().filter(|(operation, _)| !operation.looks_up()).map(|(_, sent)| sent).sum();
        let ended = count.found_at_once + count.found_later;
        // Doubts of an earlier run are taken up one by one, and each waits the whole time then.
        let waiting = unfinished.doubts.rows > self.settle_timers.len() as u64;
        let in_journal = waiting.then(|| self.now.plus(settle));
        // One that is over already stays where it was.
        let when = |end: Duration| self.when(end).minus(self.elapsed.saturating_sub(end));
        let active = self.settle_timers.last().map(when);
        // Look-ups leave only within the hours.
        let last_look = |end| self.gates.hours().opening(end).plus(reconcile::last_look_after(settle));
        Doubts {
            settled_by: active.max(in_journal).filter(|_| unfinished.doubts.rows > 0),
            decided_by: active.filter(|_| !waiting && unfinished.doubts.rows > 0).map(last_look),
            share: share(count.doubts, sent),
            looked_up: ended,
            share_not_found: share(count.found_later, ended),
            first_look: FIRST_WAIT.min(settle),
            settle,
            ..unfinished.doubts
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_which_the_process_stood_still_says_nothing_of_the_pace() {
        let mut pace = MeasuredPace::default();
        for second in 0..10 {
            pace.measure(second * 90, true, Duration::from_secs(1));
        }
        let before = pace.pace(None);
        assert_eq!(before, Some(90.0));
        pace.measure(9 * 90 + 5, true, Duration::from_secs(12));
        assert_eq!(pace.pace(None), before);
        pace.measure(10 * 90 + 5, true, Duration::from_secs(1));
        assert_eq!(pace.pace(None), before, "what was sent meanwhile is not counted later either");
    }

    #[test]
    fn the_last_answers_say_above_all_how_long_one_takes() {
        let mut count = RemainingCount::new(Duration::ZERO);
        count.answered(Duration::ZERO);
        assert_eq!(count.answer_time.mean, Duration::ZERO, "a request that has not left takes no time");
        count.answered(Duration::from_secs(4));
        assert_eq!(count.answer_time.mean, Duration::from_secs(4), "the first answer counts at once");
        for _ in 0..2_000 {
            count.answered(Duration::from_secs(1));
        }
        assert!(count.answer_time.mean < Duration::from_millis(1_010), "{:?}", count.answer_time.mean);
    }
}

//! What is still to be done, counted by the journal every second or so, with what the run knows besides: the pace of each
//! operation, what holds it back, how doubts went so far. Told, and noted for whoever asks the journal.
//!
//! Facts only; what follows from them is in [`crate::model::forecast`].

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use super::decide::reconcile::FIRST_WAIT;
use super::dispatcher::Dispatcher;
use super::gates::OperationPace;
use crate::journal::Unfinished;
use crate::model::event::Event;
use crate::model::id::JobId;
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::remaining::{Doubts, HeldBack, Lane, Missing, Remaining};
use crate::model::state::JobState;

/// How often the journal is asked to count.
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// How often while nothing moves.
const IDLE: Duration = Duration::from_secs(60);
/// Rows and records for which it is asked a second later each: counting must not hold up what is written.
const ROWS_A_SECOND: u64 = 50_000;
/// Over how long the pace of an operation is measured, in time in which it could be sent.
const MEASURED: Duration = Duration::from_secs(30);
/// How much of its limit counts as measured: the first seconds say little.
const PRESUMED: Duration = Duration::from_secs(1);

/// The pace of an operation.
#[derive(Debug, Default)]
struct Measured {
    /// Requests and the time they took, oldest first.
    spans: VecDeque<(u64, Duration)>,
    /// How many had been sent at the last look.
    sent: u64,
    /// Whether there was something to send at the last look.
    busy: bool,
}

impl Measured {
    /// Takes in what was sent in `span`. It counts when there was something to send all the time.
    fn look(&mut self, sent: u64, busy: bool, span: Duration) {
        let requests = sent.saturating_sub(std::mem::replace(&mut self.sent, sent));
        let counts = std::mem::replace(&mut self.busy, busy) && busy;
        // How long it takes to the first request says nothing of the pace.
        if !counts || (self.spans.is_empty() && requests == 0) {
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

/// What is known for the forecast besides what the journal counts.
#[derive(Debug, Default)]
pub(super) struct RemainingCount {
    /// When the journal is asked next; `None` for at once.
    next: Option<Duration>,
    asked: bool,
    /// Whether nothing moves, so that the journal is asked seldom.
    idle: bool,
    looked_at: Duration,
    measured: BTreeMap<Operation, Measured>,
    /// Rows in doubt that a look-up has not found.
    not_found: HashSet<JobId>,
    /// Doubts of this run, those whose first look-up ended them, and the others.
    doubts: u64,
    found_at_once: u64,
    found_later: u64,
    told: Option<Remaining>,
}

impl RemainingCount {
    /// Something has changed that whoever asks should see soon.
    fn renew(&mut self) {
        self.next = None;
    }

    /// What is reported changes what remains.
    pub(super) fn on_event(&mut self, event: &Event) {
        if matches!(
            event,
            Event::Breaker { .. } | Event::Unreachable { .. } | Event::Parked { .. } | Event::Woken
        ) {
            self.renew();
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
}

/// A part of a whole; nothing of nothing.
fn share(part: u64, whole: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "an estimate needs no more than 52 bits")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

impl Dispatcher {
    /// Measures the pace, and has the journal count what is still to be done when that was last done a while ago.
    pub(super) fn count_remaining(&mut self) {
        let now = self.clock.elapsed();
        let span = now.saturating_sub(self.remaining_count.looked_at);
        if span < COUNT_EVERY || self.is_stopping() {
            return;
        }
        self.remaining_count.looked_at = now;
        self.measure(span);
        if self.remaining_count.asked || self.remaining_count.next.is_some_and(|next| now < next) {
            return;
        }
        self.remaining_count.asked = true;
        self.ask_unfinished();
    }

    fn measure(&mut self, span: Duration) {
        for operation in self.in_flight.operations() {
            let OperationPace { sent, stopped } = self.gates.pace(operation);
            let busy = self.in_flight.is_busy(operation) && !stopped;
            self.remaining_count.measured.entry(operation).or_default().look(sent, busy, span);
        }
    }

    /// The journal has counted.
    pub(super) fn on_remaining(&mut self, unfinished: Option<&Unfinished>) {
        let now = self.clock.elapsed();
        self.remaining_count.asked = false;
        let Some(unfinished) = unfinished else { return };
        let counted: u64 = unfinished.requests.values().chain(unfinished.records.values()).sum();
        self.remaining_count.next = Some(now + COUNT_EVERY + Duration::from_secs(counted / ROWS_A_SECOND));
        let remaining = self.remaining(unfinished, now);
        // While nothing moves the same facts hold, however long that is.
        let same = self.remaining_count.told.as_ref().is_some_and(|told| {
            let fails =
                remaining.unreachable_until.is_some() || remaining.held_back.iter().any(|held| !held.brief);
            let waits = remaining.parked_until.is_some() || !remaining.moving || fails;
            waits && Remaining { at: told.at, ..remaining.clone() } == *told
        });
        if same {
            (self.remaining_count.next, self.remaining_count.idle) = (Some(now + IDLE), true);
            return;
        }
        self.note_remaining(remaining.clone());
        self.remaining_count.told = Some(remaining.clone());
        self.tell(Event::Remaining(Box::new(remaining)));
    }

    fn remaining(&self, unfinished: &Unfinished, now: Duration) -> Remaining {
        let wall = self.clock.now();
        let when = |at: Duration| wall.plus(at.saturating_sub(now));
        let (missing, looked_up_by) = self.audit.missing();
        Remaining {
            at: wall,
            making: self.lanes_of(unfinished.requests.clone()),
            verifying: self.lanes_of(self.verified_by(unfinished)),
            moving: unfinished.moving > 0,
            deferred_until: unfinished.deferred_until.filter(|until| *until > wall),
            unseen: unfinished.unseen,
            quota: self.gates.allowance(),
            parked_until: self.gates.parked_until(),
            doubts: self.doubts(unfinished, now),
            held_back: self
                .gates
                .open_breakers()
                .map(|open| HeldBack {
                    operation: open.operation,
                    next_try: open.next_try.map(when),
                    brief: open.is_brief,
                })
                .collect(),
            unreachable_until: self.gates.next_try().map(when),
            missing: Missing {
                records: missing,
                looked_up_by: looked_up_by.filter(|_| missing > 0).map(when),
            },
        }
    }

    /// With limit and pace; operations that are stopped are not sent any more.
    fn lanes_of(&self, requests: BTreeMap<Operation, u64>) -> BTreeMap<Operation, Lane> {
        let lane = |(operation, requests)| {
            if requests == 0 || self.gates.halt(operation).is_some() {
                return None;
            }
            let limit = self.gates.limit(operation);
            let measured = self.remaining_count.measured.get(&operation);
            Some((
                operation,
                Lane { requests, limit, pace: measured.and_then(|measured| measured.pace(limit)) },
            ))
        };
        requests.into_iter().filter_map(lane).collect()
    }

    /// The look-ups that verify records: by their key, or by their id where that alone is available.
    fn verified_by(&self, unfinished: &Unfinished) -> BTreeMap<Operation, u64> {
        let mut requests = BTreeMap::new();
        let mut put = |records: u64, look_ups: &[Operation]| {
            if let Some(&operation) = look_ups.iter().find(|&&operation| self.gates.usable(operation)) {
                *requests.entry(operation).or_default() += records;
            }
        };
        for (kind, &records) in &unfinished.records {
            match kind {
                Kind::Company if self.gates.usable(Operation::GetChildCompanies) => {
                    put(records.min(unfinished.parents), &[Operation::GetChildCompanies]);
                }
                Kind::Company => put(records, &[Operation::GetCompany]),
                Kind::Site => put(records, &[Operation::FindSitesByName, Operation::GetSite]),
                Kind::Person => put(records, &[Operation::GetPersonByUsername, Operation::GetPerson]),
                Kind::Device => {
                    #[expect(
                        clippy::cast_precision_loss,
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a share of a number of rows, for an estimate"
                    )]
                    let with_mac = ((records as f64 * unfinished.with_mac).round() as u64).min(records);
                    let by_name = [Operation::FindDevicesByName, Operation::GetDevice];
                    put(with_mac, &[Operation::GetDeviceByMac, by_name[0], by_name[1]]);
                    put(records - with_mac, &by_name);
                }
            }
        }
        requests
    }

    /// The rows in doubt, and how doubts went so far.
    fn doubts(&self, unfinished: &Unfinished, now: Duration) -> Doubts {
        let settle = self.options.policy.settle;
        let sent = self.gates.sent();
        let sent = sent.iter().filter(|(operation, _)| !operation.looks_up()).map(|(_, sent)| sent).sum();
        let remaining_count = &self.remaining_count;
        let ended = remaining_count.found_at_once + remaining_count.found_later;
        // Doubts of an earlier run are taken up one by one; until then the journal says since when they are there.
        let in_journal = unfinished.doubt_since.map(|since| since.plus(settle));
        let active = self.evidence.settle.last().map(|end| self.clock.now().plus(end.saturating_sub(now)));
        Doubts {
            settled_by: active.max(in_journal).filter(|_| unfinished.doubts.rows > 0),
            share: share(remaining_count.doubts, sent),
            looked_up: ended,
            share_not_found: share(remaining_count.found_later, ended),
            first_look: FIRST_WAIT.min(settle),
            settle,
            ..unfinished.doubts
        }
    }
}

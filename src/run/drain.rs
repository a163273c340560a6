//! How a run comes to its end: what begins the end, what is waited for then, and what it is called.
//!
//! A drain begins nothing more and lets come home what is under way; a failure of the journal, or of an invariant of
//! ours, stops everything. What the ends are in words is in `ends`; that the journal notes them is left to `session`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::OnQuota;
use super::dispatcher::Dispatcher;
use super::ending::Ending;
use super::gates::connectivity;
use super::in_flight::Stage;
use super::operation_queue::{Halt, Lane};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::model::event::Event;
use crate::model::operation::Operation;

/// How long requests under way may take to come home after the first signal. Below the ten seconds that
/// container hosts grant.
const DRAIN_GRACE: Duration = Duration::from_secs(8);

/// The first reason to stop, and what is left to wait for.
pub(super) struct Drain {
    pub(super) ending: Ending,
    pub(super) deadline: Duration,
}

impl Dispatcher {
    /// The journal, or an invariant of ours, is broken: nothing further is sent.
    pub(super) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Begins nothing more. The first reason counts.
    pub(super) fn drain(&mut self, ending: Ending) {
        if self.drain.is_some() {
            return;
        }
        self.tell(Event::Draining { under_way: self.requests.len() + self.claiming });
        self.drain = Some(Drain { ending, deadline: self.clock.elapsed() + DRAIN_GRACE });
        for lane in self.lanes.values_mut() {
            lane.queue.clear();
        }
        self.active.retain(|_, active| {
            matches!(active.stage, Stage::Claiming | Stage::UnderWay | Stage::SettleTimers { .. })
        });
    }

    /// Whether the run is over, and how it ended.
    pub(super) fn ending(&mut self) -> Option<Ending> {
        let now = self.clock.elapsed();
        let at_rest = self.requests.is_empty() && self.tickets.is_empty() && self.claiming == 0;
        if self.failure.is_some() {
            // The writer takes nothing more, so that no ticket comes back; answers under way are spilled.
            let too_late = self.drain.as_ref().is_some_and(|drain| now >= drain.deadline);
            return (self.requests.is_empty() || too_late).then_some(Ending::Finished);
        }
        if let Some(Drain { ending, deadline }) = &self.drain {
            return (at_rest || now >= *deadline).then(|| ending.clone());
        }
        if let Some(words) = self.connectivity.given_up() {
            let minutes = connectivity::PATIENCE.as_secs() / 60;
            let why = format!("the service could not be reached for {minutes} minutes: {words}");
            let hint =
                "check the network and base_url, then run again; `fleetload doctor` tests the connection";
            self.drain(Ending::Stopped { end: End::Unreachable, why, hint: hint.to_owned() });
            return self.ending();
        }
        if at_rest && let Some(ending) = self.failed_too_long() {
            self.drain(ending);
            return self.ending();
        }
        // Not before what is under way has come home, and what creates nothing is done.
        if at_rest
            && self.options.policy.on_quota == OnQuota::Exit
            && self.creates_only()
            && let Some(until) = self.quota.parked_until()
        {
            let until = self.service_clock.ours(until);
            self.drain(Ending::Parked { until, why: "the day's quota of creations is spent".to_owned() });
            return self.ending();
        }
        let spent = self.doubtful.is_spent() && self.lanes.values().all(|lane| lane.is_spent());
        let over = at_rest && spent && self.active.is_empty() && self.version.is_some();
        // What was made is read back first.
        (over && !self.paused_sheets.await_answer() && self.is_audited()).then(|| self.finished())
    }

    /// Whether nothing in hand can go on while creations are parked.
    fn creates_only(&self) -> bool {
        let waits = |lane: &Lane| !lane.queue.is_empty() && lane.halt.is_none() && lane.breaker.is_closed();
        self.active_doubts == 0
            && !self.lanes.iter().any(|(operation, lane)| !operation.creates() && waits(lane))
    }
}

/// Nothing is left that goes on by itself: finished, unless rows wait for an operation that had to stop. One that
/// only held rows need has stopped nothing.
pub(super) fn natural_end(
    ending: Ending,
    lanes: &BTreeMap<Operation, Lane>,
    journal: &Journal,
) -> Result<Ending> {
    if !matches!(ending, Ending::Finished | Ending::SheetsLeft { .. }) {
        return Ok(ending);
    }
    for (&operation, lane) in lanes.iter().filter(|(operation, _)| !operation.looks_up()) {
        let Some(halt) = lane.halt else { continue };
        if !journal.waits_for(operation)? {
            continue;
        }
        return Ok(match halt {
            Halt::Unmapped => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!("rows that were added meanwhile need {operation}, whose path is not known"),
                hint: format!("map it as [profile.NAME.endpoints.{operation}] with method and path"),
            },
            Halt::Missing { status: status @ 300..=399 } => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!(
                    "the service answered {status} to {operation}: it sends us to another address, which is never followed"
                ),
                hint: format!(
                    "check base_url and the network (a sign-in page?), or set method and path in \
                     [profile.NAME.endpoints.{operation}], then run again; no row was rejected"
                ),
            },
            Halt::Missing { status } => Ending::Stopped {
                end: End::EndpointMissing,
                why: format!("the service answered {status} to {operation}: there is no such endpoint"),
                hint: format!(
                    "set method and path in [profile.NAME.endpoints.{operation}], then run again; no row was rejected"
                ),
            },
        });
    }
    ending.counted(journal)
}

//! Draining and the end of a run: what begins it, what is waited for then, and what it is called.
//!
//! A drain begins nothing more and waits for what is under way; a failure of the journal, or of an invariant of ours,
//! stops everything. What the ends are in words is in `ending`; `session` notes them in the journal.

use std::time::Duration;

use super::OnQuota;
use super::dispatcher::Dispatcher;
use super::ending::Ending;
use super::gates::{Gates, Halt};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::model::event::Event;
use crate::model::operation::Operation;

/// How long requests under way may take after the first signal. Below the ten seconds that
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
        self.tell(Event::Draining { under_way: self.under_way() });
        self.drain = Some(Drain { ending, deadline: self.clock.elapsed() + DRAIN_GRACE });
        self.in_flight.drop_waiting();
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
            return (at_rest || now >= *deadline).then(|| ending.clone());
        }
        if let Some(ending) = self.gates.unreachable_too_long() {
            self.drain(ending);
            return self.ending();
        }
        if at_rest && let Some(ending) = self.gates.failed_too_long(self.in_flight.waiting()) {
            self.drain(ending);
            return self.ending();
        }
        // Not before what is under way has come back, and what creates nothing is done.
        if at_rest
            && self.options.policy.on_quota == OnQuota::Exit
            && self.creates_only()
            && let Some(until) = self.gates.parked_until()
        {
            self.drain(Ending::Parked { until, why: "the day's quota of creations is spent".to_owned() });
            return self.ending();
        }
        let spent = self.in_flight.is_spent(|operation| self.gates.halt(operation).is_some());
        let over = at_rest && spent && self.in_flight.is_empty() && self.version.is_some();
        // What was made is read back first.
        (over && !self.paused_sheets.await_answer() && self.is_audited()).then(|| self.finished())
    }

    /// Whether what was made has been read back. Goes on with it if not.
    fn is_audited(&mut self) -> bool {
        let mut is_done = false;
        self.audit(|audit, _| is_done = audit.is_done());
        is_done
    }

    /// Gives up look-ups of the audit whose breaker has opened: everything is made, so that nobody has to wait for the
    /// service to recover.
    pub(super) fn drop_failing_lookups(&mut self) {
        if !self.audit.is_under_way() {
            return;
        }
        let failing: Vec<Operation> = self.gates.open_breakers().map(|open| open.operation).collect();
        for operation in failing {
            for question in self.in_flight.take_audit_lookups(operation) {
                self.audit(|audit, _| audit.failed(question));
            }
        }
    }

    /// Whether nothing in memory can go on while creations are parked.
    fn creates_only(&self) -> bool {
        let goes_on = |operation| self.gates.halt(operation).is_none() && self.gates.is_closed(operation);
        self.in_flight.doubts() == 0
            && !self.in_flight.waiting().any(|operation| !operation.creates() && goes_on(operation))
    }
}

/// Nothing is left that goes on automatically: finished, unless rows wait for an operation that had to stop. One that
/// only held rows need has stopped nothing.
pub(super) fn natural_end(ending: Ending, gates: &Gates, journal: &Journal) -> Result<Ending> {
    if !matches!(ending, Ending::Finished | Ending::SheetsLeft { .. }) {
        return Ok(ending);
    }
    for (operation, halt) in gates.halted() {
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

//! Rows refused with `noDataFound` below a record created moments ago wait here for what they refer to; which further rows
//! may leave meanwhile. The rules are those of `evidence::reference_lag`.

use std::collections::HashMap;

use super::paused_sheets::shape;
use crate::journal::{Evidence, Write};
use crate::model::event::Event;
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::reason::ServiceCode;
use crate::model::state::JobState;
use crate::model::verdict::Rejection;
use crate::run::dispatcher::Dispatcher;
use crate::run::evidence::lookup_answer::LookupAnswer;
use crate::run::evidence::lookups::{self, Reference};
use crate::run::evidence::reference_lag::{RefusalShape, Refused, Step};
use crate::run::in_flight::{Purpose, QueuedRequest};

impl Dispatcher {
    /// A row was refused with `noDataFound`: what it waits for, when a record it refers to may not be visible yet.
    pub(in crate::run) fn missing_references(&self, job: JobId, rejection: &Rejection) -> Option<Refused> {
        let references = lookups::references(self.in_flight.work(job)?);
        let sent_at = self.in_flight.sent_at(job)?;
        let named = rejection.message.to_lowercase();
        let mut missed = false;
        let mut unproved = Vec::new();
        for reference in references {
            let Some(until) = self.evidence.created.unproved(reference.job, sent_at) else { continue };
            // It was not visible then, whatever it is now.
            missed |=
                self.evidence.created.is_late(reference.job) || named.contains(&reference.id.to_string());
            if !self.evidence.created.is_shown(reference.job) {
                let is_usable = self.gates.usable(reference.lookup.operation());
                missed |= !is_usable;
                unproved.push((reference, is_usable, until));
            }
        }
        let counted = self.evidence.lag.is_counted(job);
        let waits = missed || !unproved.is_empty();
        waits.then(|| Refused { rejection: rejection.clone(), unproved, missed, counted })
    }

    /// Puts a refused row off until it is known whether what it refers to is visible. It stays in memory.
    pub(in crate::run) fn await_references(&mut self, job: JobId, mut refused: Refused, evidence: Evidence) {
        // Where no look-up can tell, the refusal counts now: it may take a minute until it is final.
        if !refused.counted && refused.unproved.iter().any(|(_, is_usable, _)| !is_usable) {
            refused.counted = true;
            self.note_verdict(job, Some(&refused.rejection));
        }
        let now = self.clock.elapsed();
        let until = refused.unproved.iter().map(|(.., until)| *until).max().unwrap_or(now);
        let until = evidence.at.plus(until.saturating_sub(now));
        let code = ServiceCode::NoDataFound.as_str().to_owned();
        let reason = "rejected; the service may not show yet the record that this row refers to, which was created moments ago";
        let write = Write::Defer { job, until, code, reason: reason.to_owned(), evidence };
        self.settle_and_wait(job, write, refused);
    }

    /// It is on disk that a row was refused and put off.
    pub(in crate::run) fn wait_for_references(&mut self, job: JobId, mut refused: Refused) {
        let now = self.clock.elapsed();
        // A look may have been read while this was written.
        refused.missed |=
            refused.unproved.iter().any(|(reference, ..)| self.evidence.created.is_late(reference.job));
        refused.unproved.retain(|(reference, ..)| !self.evidence.created.is_shown(reference.job));
        let Some(work) = self.in_flight.work(job).filter(|_| self.drain.is_none()) else {
            return self.drop_job(job);
        };
        let shape = RefusalShape(work.operation, shape(&refused.rejection, work.record.name()));
        self.evidence.lag.wait(job, shape, work.sheet, refused, now);
        self.in_flight.defer(job);
    }

    /// A row was accepted: what its step refers to is visible.
    pub(in crate::run) fn on_references_visible(&mut self, job: JobId) {
        let Some(work) = self.in_flight.work(job) else { return };
        let now = self.clock.elapsed();
        for reference in lookups::references(work) {
            self.evidence.created.show(reference.job, now);
            self.evidence.lag.on_visible(reference.job);
        }
    }

    /// Looks, sends again and rejects, as it is time to.
    pub(in crate::run) fn resolve_reference_lag(&mut self) {
        let now = self.clock.elapsed();
        for step in self.evidence.lag.steps(now) {
            match step {
                Step::Look(Reference { job, id, lookup }) => {
                    self.queue_lookup(lookup, Purpose::Reference(job, id));
                }
                Step::Send(job) => self.queue_send(job),
                Step::Reject { job, rejection, counted } => {
                    if !counted {
                        self.note_verdict(job, Some(&rejection));
                    }
                    let evidence = Evidence::at(self.clock.now());
                    let from = JobState::Deferred;
                    self.settle_unless_corrected(job, Write::Reject { job, from, rejection, evidence });
                }
                Step::Tell(job, until) => {
                    let Some(work) = self.in_flight.work(job) else { continue };
                    let until = self.clock.now().plus(until.saturating_sub(now));
                    self.tell(Event::Unseen { job, kind: work.kind, until });
                }
            }
        }
    }

    /// A look whether a record is visible has been read.
    pub(in crate::run) fn on_reference_answer(
        &mut self,
        reference: JobId,
        id: RemoteId,
        answer: LookupAnswer,
    ) {
        let now = self.clock.elapsed();
        match answer {
            LookupAnswer::Records(found) if found.iter().any(|found| found.id == Some(id)) => {
                self.evidence.created.show(reference, now);
                self.evidence.lag.on_visible(reference);
            }
            LookupAnswer::Records(_) => {
                self.evidence.created.note_late(reference);
                self.evidence.lag.on_not_visible(reference, true, now);
            }
            LookupAnswer::Failed(_) => self.evidence.lag.on_not_visible(reference, false, now),
            LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => {
                self.evidence.lag.on_no_lookup(reference)
            }
        }
    }

    /// The place in its queue of the first request of an operation that may leave now. A row stays where it is while
    /// the answers to others of its sheet may show that it would be refused as well.
    pub(in crate::run) fn first_sendable(&self, operation: Operation) -> Option<usize> {
        if self.evidence.lag.is_empty() && self.paused_sheets.is_calm() {
            return self.in_flight.has_waiting(operation).then_some(0);
        }
        let now = self.clock.elapsed();
        let mut sheets = HashMap::new();
        self.in_flight.position(operation, |request| {
            let QueuedRequest::Send(job) = request else { return true };
            let Some(work) = self.in_flight.work(*job) else { return true };
            let sheet = work.sheet;
            let &mut (has_room, is_full) = sheets
                .entry(sheet)
                .or_insert_with(|| (self.has_room_for(sheet), self.evidence.lag.is_full(sheet)));
            let is_young = || {
                let references = lookups::references(work);
                references
                    .iter()
                    .any(|reference| self.evidence.created.unproved(reference.job, now).is_some())
            };
            has_room && (!is_full || self.evidence.lag.has(*job) || !is_young())
        })
    }

    /// Whether one more row of a sheet may be under way.
    fn has_room_for(&self, sheet: SheetId) -> bool {
        self.paused_sheets.room(sheet).is_none_or(|room| !self.in_flight.has_under_way(sheet, room))
    }
}

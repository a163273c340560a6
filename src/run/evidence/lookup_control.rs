//! Witnesses: a look-up that found nothing is believed only when the same operation finds, in this run, a record that is
//! known to exist.
//!
//! Which records those are the journal says. What follows from a look-up that is proved, or cannot be, is left to
//! `after`.

use super::classify::guarded_by_mac;
use super::lookup_answer::LookupAnswer;
use super::lookups;
use crate::journal::{Action, Work};
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::run::InDoubt;
use crate::run::dispatcher::Dispatcher;
use crate::run::in_flight::Purpose;

impl Dispatcher {
    /// Nothing was found, by a look-up that has yet to show that it finds anything.
    pub(in crate::run) fn find_control(&mut self, job: JobId, operation: Operation) {
        let Some(work) = self.in_flight.work(job) else { return };
        self.ask_controls(job, operation, work.kind);
    }

    /// Whether a job may be sent again without any look-up, since the service refuses a second record.
    fn is_guarded(&self, job: JobId) -> bool {
        self.options.policy.in_doubt == InDoubt::Settle
            && self.in_flight.work(job).is_some_and(|work| {
                matches!(work.action, Action::Create) && !work.executed && guarded_by_mac(&work.record)
            })
    }

    /// Looks up a record that is known to exist, by the same operation.
    pub(in crate::run) fn run_control(&mut self, job: JobId, operation: Operation, witnesses: &[Work]) {
        let control = witnesses
            .iter()
            .find_map(|witness| Some((lookups::by_operation(witness, operation)?, witness.remote_id?)));
        match control {
            Some((lookup, expected)) if self.gates.usable(operation) => {
                self.queue_lookup(lookup, Purpose::Control(job, expected));
            }
            Some(_) => self.reconcile(job),
            // The service's own uniqueness is proof enough.
            None if self.is_guarded(job) => self.without_lookup(job),
            None => self.retry_lookup_later(job, "nothing known to exist could prove the look-up"),
        }
    }

    pub(in crate::run) fn on_control_answer(
        &mut self,
        job: JobId,
        operation: Operation,
        expected: RemoteId,
        reading: LookupAnswer,
    ) {
        match reading {
            LookupAnswer::Records(found) if found.iter().any(|found| found.id == Some(expected)) => {
                self.proved.insert(operation);
                self.absent(job);
            }
            LookupAnswer::Records(_) => {
                self.retry_lookup_later(job, "the look-up does not find a record that is known to exist");
            }
            LookupAnswer::Inconclusive(why) | LookupAnswer::Failed(why) => {
                self.retry_lookup_later(job, &format!("the look-up was inconclusive: {why}"))
            }
            LookupAnswer::Unavailable => self.reconcile(job),
        }
    }
}

//! Witnesses: a look-up that found nothing is believed only when the same operation finds, in this run, a record that is
//! known to exist.
//!
//! Which records those are the journal says. What follows from a look-up that is proved, or cannot be, is left to
//! `after`.

use super::classify::guarded_by_mac;
use super::lookup_answer::Reading;
use super::lookups;
use crate::journal::{Action, Work};
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::run::InDoubt;
use crate::run::dispatcher::Dispatcher;
use crate::run::in_flight::Inbox;
use crate::run::operation_queue::Purpose;

impl Dispatcher {
    /// Nothing was found, by a look-up that has yet to show that it finds anything.
    pub(in crate::run) fn ask_for_witnesses(&mut self, job: JobId, operation: Operation) {
        let Some(in_hand) = self.in_hand.get(&job) else { return };
        let (kind, inbox) = (in_hand.work.kind, self.inbox.clone());
        self.writer.ask(Box::new(move |journal| {
            // Without witnesses the look-up stays unproved, which is the safe side.
            let witnesses = journal.witness(kind, 8).unwrap_or_default();
            drop(inbox.send(Inbox::Witnesses { job, operation, witnesses }));
        }));
    }

    /// Whether a job may be sent again without any look-up, since the service refuses a second record.
    fn is_guarded(&self, job: JobId) -> bool {
        self.options.policy.in_doubt == InDoubt::Settle
            && self.in_hand.get(&job).is_some_and(|in_hand| {
                let work = &in_hand.work;
                matches!(work.action, Action::Create) && !work.executed && guarded_by_mac(&work.record)
            })
    }

    /// Looks up a record that is known to exist, by the same operation.
    pub(in crate::run) fn prove(&mut self, job: JobId, operation: Operation, witnesses: &[Work]) {
        let control = witnesses
            .iter()
            .find_map(|witness| Some((lookups::by_operation(witness, operation)?, witness.remote_id?)));
        match control {
            Some((lookup, expected)) if self.usable(operation) => {
                self.look_up(lookup, Purpose::Control(job, expected));
            }
            Some(_) => self.look_after(job),
            // The service's own uniqueness is proof enough.
            None if self.is_guarded(job) => self.without_look_up(job),
            None => self.look_later(job, "nothing known to exist could prove the look-up"),
        }
    }

    pub(in crate::run) fn read_control(
        &mut self,
        job: JobId,
        operation: Operation,
        expected: RemoteId,
        reading: Reading,
    ) {
        match reading {
            Reading::Records(found) if found.iter().any(|found| found.id == Some(expected)) => {
                self.proved.insert(operation);
                self.absent(job);
            }
            Reading::Records(_) => {
                self.look_later(job, "the look-up does not find a record that is known to exist");
            }
            Reading::Inconclusive(why) | Reading::Failed(why) => {
                self.look_later(job, &format!("the look-up was inconclusive: {why}"))
            }
            Reading::Unavailable => self.look_after(job),
        }
    }
}

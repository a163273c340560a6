//! Takes a claim back whose request did not leave, and deals with a write that the journal refused.
//!
//! As long as no request of ours left for it, nothing is in doubt: the row stands where it stood or where a person has
//! put it, and quota and breaker have not counted it.

use crate::error::Error;
use crate::journal::{Evidence, Write};
use crate::model::id::JobId;
use crate::model::reason::Reason;
use crate::model::verdict::Execution;
use crate::run::dispatcher::Dispatcher;
use crate::run::in_flight::Ticket;

impl Dispatcher {
    /// Takes a claim back whose request never left.
    pub(in crate::run) fn undo_claim(&mut self, job: JobId, reason: &str) {
        self.uncount(job);
        let evidence = Evidence { execution: Execution::NotExecuted, ..Evidence::at(self.clock.now()) };
        let reason = reason.to_owned();
        self.settle(job, Write::Return { job, code: Reason::NotSent.as_str().to_owned(), reason, evidence });
    }

    /// A write was refused: the job is not in the state it was thought to be in, or has other values. As long as no
    /// request of ours is concerned, a person has decided, cancelled or corrected it meanwhile, and the journal's
    /// word counts.
    pub(in crate::run) fn on_write_refused(&mut self, number: u64, error: Error) {
        // Where the job stands now is for the journal to say, even if it was asked while the job was in memory.
        self.version = None;
        match self.in_flight.end_write(number) {
            Some(Ticket::Claim(job)) => {
                self.uncount(job);
                if let Some((operation, phase)) = self.in_flight.on_claim_refused(job) {
                    self.gates.on_not_sent(operation, phase);
                }
                self.drop_job(job);
            }
            Some(Ticket::Settle { job, makes: _, refused: _ }) => {
                if self.in_flight.settles_unsent(job) {
                    self.drop_job(job);
                } else {
                    self.fail(error);
                }
            }
            Some(Ticket::Note) => self.fail(error),
            None => {}
        }
    }

    /// A creation that was counted has not left.
    fn uncount(&mut self, job: JobId) {
        if let Some(day) = self.in_flight.take_counted(job) {
            let actions = self.gates.uncount_creation(day);
            self.carry_out(actions);
        }
    }
}

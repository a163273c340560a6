//! What was about to leave and did not: permission given back, a claim taken back, a write that the journal refused.
//!
//! As long as no request of ours left for it, nothing is in doubt: the row stands where it stood or where a person has
//! put it, and quota and breaker have not counted it. The order of which this is the other way is in `dispatcher`.

use crate::error::Error;
use crate::journal::{Evidence, Write};
use crate::model::id::JobId;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::verdict::Execution;
use crate::run::dispatcher::Dispatcher;
use crate::run::gates::breaker::Phase;
use crate::run::in_flight::{Stage, Ticket};

impl Dispatcher {
    /// What was to leave did not: it finds out nothing about the operation or the service, so another one may.
    pub(in crate::run) fn on_not_sent(&mut self, operation: Operation, phase: Phase) {
        self.connectivity.on_not_sent();
        self.lane(operation).breaker.on_no_outcome(phase);
    }

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
    pub(in crate::run) fn refused(&mut self, number: u64, error: Error) {
        // Where the job stands now is for the journal to say, even if it was asked while the job was in hand.
        self.version = None;
        match self.tickets.redeem(number) {
            Some(Ticket::Claim(job)) => {
                self.claiming -= 1;
                self.uncount(job);
                if let Some(active) = self.active.get(&job) {
                    self.on_not_sent(active.work.operation, active.phase);
                }
                self.drop_job(job);
            }
            Some(Ticket::Settle { job, makes: _, refused: _ }) => {
                match self.active.get(&job).map(|active| &active.stage) {
                    Some(Stage::SettleTimers { sent: false }) => self.drop_job(job),
                    _ => self.fail(error),
                }
            }
            Some(Ticket::Note) => self.fail(error),
            None => {}
        }
    }
}

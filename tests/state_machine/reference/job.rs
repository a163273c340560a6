//! One job of the reference: what is known of it, and what new values and another chance do to that.

use std::collections::BTreeSet;

use fleetload::model::content_hash::ContentHash;
use fleetload::model::kind::Kind;
use fleetload::model::operation::Operation;
use fleetload::model::state::JobState::{self, Blocked, Cancelled, Held, InDoubt, Ready};

use super::Record;

/// A step after the creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) operation: Operation,
    pub(crate) extra: u8,
    pub(crate) done: bool,
}

/// What a row says of its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Values {
    /// The row, whatever it says: what the importer recognises it by.
    pub(crate) row: u8,
    pub(crate) kind: Kind,
    pub(crate) natural_key: String,
    pub(crate) content: String,
    /// The jobs it belongs to, by their numbers.
    pub(crate) parents: Vec<usize>,
    pub(crate) steps: Vec<(Operation, u8)>,
    /// The operation of its first step.
    pub(crate) first: Operation,
    /// The record that it names by its id, of a row that makes none.
    pub(crate) about: Option<Record>,
}

impl Values {
    /// By what the journal knows it.
    pub(crate) fn content_hash(&self) -> ContentHash {
        if self.content.is_empty() { ContentHash::OF_NO_ROW } else { ContentHash::of(&self.content) }
    }

    /// What the record is made with besides its natural key.
    pub(super) fn of_the_record(&self) -> String {
        self.content.rsplit(' ').next().unwrap_or_default().to_owned()
    }

    /// Whether the job makes a record, as against one that changes something about another.
    pub(crate) fn makes_a_record(&self) -> bool {
        self.kind.is_record()
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) values: Values,
    pub(crate) state: JobState,
    /// The record it made or found.
    pub(crate) record: Option<Record>,
    /// How its creation ended.
    pub(crate) outcome: Option<JobState>,
    /// The step it stands at: 0 is the creation.
    pub(crate) at: usize,
    pub(crate) steps: Vec<Step>,
    /// When its state is looked at again.
    pub(crate) due: Option<i64>,
    /// Requests sent at all.
    pub(crate) sent_ever: u64,
    pub(crate) deaths: u32,
    /// An earlier request of this step may have been carried out.
    pub(crate) doubted: bool,
    /// How often the step was in doubt, as far as that is held against the row.
    pub(crate) doubts: u32,
    /// The service said that it was carried out.
    pub(crate) executed: bool,
    /// It is to be sent no more, as was said while its outcome was not known.
    pub(crate) to_cancel: bool,
    /// It was cancelled while its outcome was not known.
    pub(crate) cancelled_in_doubt: bool,
    /// What a request of its creation was sent with that may have been carried out.
    pub(crate) sent_with: Option<String>,
    /// A person said that no request so far was carried out that may have been.
    pub(crate) ruled_out: bool,
    pub(crate) absent_reads: u32,
    pub(crate) looks: u32,
    pub(crate) baseline: Option<BTreeSet<Record>>,
    pub(crate) first_sent: Option<i64>,
    pub(crate) candidates: BTreeSet<Record>,
    pub(crate) code: Option<String>,
}

impl Job {
    pub(super) fn new(values: Values) -> Self {
        let steps = values.steps.iter().map(|&(operation, extra)| Step { operation, extra, done: false });
        Self {
            steps: steps.collect(),
            values,
            state: Blocked,
            record: None,
            outcome: None,
            at: 0,
            due: None,
            sent_ever: 0,
            deaths: 0,
            doubted: false,
            doubts: 0,
            executed: false,
            to_cancel: false,
            cancelled_in_doubt: false,
            sent_with: None,
            ruled_out: false,
            absent_reads: 0,
            looks: 0,
            baseline: None,
            first_sent: None,
            candidates: BTreeSet::new(),
            code: None,
        }
    }

    /// New values and another chance. What was done stays done: the record, and each step that is asked for again.
    pub(super) fn revise(&mut self, values: Values, now: i64) {
        let mut done: Vec<u8> = self.steps.iter().filter(|step| step.done).map(|step| step.extra).collect();
        self.steps = Vec::new();
        for &(operation, extra) in &values.steps {
            let known = done.iter().position(|&known| known == extra).map(|known| done.swap_remove(known));
            self.steps.push(Step { operation, extra, done: known.is_some() });
        }
        let stood_at = self.at;
        let next = self.steps.iter().position(|step| !step.done);
        if !values.makes_a_record() {
            // What was done for a record is asked for otherwise: it is to be done again.
            self.outcome = None;
        }
        (self.state, self.at) = match (self.record, next, self.outcome) {
            (None, ..) => (Blocked, 0),
            (Some(_), Some(next), _) => (Ready, next + 1),
            (Some(_), None, Some(outcome)) => (outcome, 0),
            (Some(_), None, None) => unreachable!("a record comes with its outcome"),
        };
        let doubts = self.doubts;
        let was_in_doubt = std::mem::take(&mut self.cancelled_in_doubt);
        self.to_cancel = false;
        if was_in_doubt {
            self.keep_sent();
        }
        let is_kept = self.record.is_none() && self.values.natural_key == values.natural_key;
        self.sent_with = self.sent_with.take().filter(|_| is_kept);
        let sent_before = (self.doubted, self.executed, self.first_sent, self.baseline.take());
        self.forget_the_step();
        if self.at == stood_at && self.values.natural_key == values.natural_key && was_in_doubt {
            // What was sent may be there: it is found out before anything is sent again.
            self.state = InDoubt;
            self.due = Some(now);
            self.executed = sent_before.1;
        }
        if self.at == stood_at && !self.state.is_final() && self.values.natural_key == values.natural_key {
            let (doubted, executed, first_sent, baseline) = sent_before;
            // What the service said it carried out may be there, whatever the row says now.
            self.doubted = doubted || executed;
            self.doubts = doubts;
            (self.first_sent, self.baseline) = (first_sent, baseline);
        }
        self.values = values;
    }

    /// The operation of the step it stands at.
    pub(crate) fn operation(&self) -> Operation {
        match self.at {
            0 => self.values.first,
            n => self.steps[n - 1].operation,
        }
    }

    /// Keeps what a request of its creation was sent with that may have been carried out, the first one first.
    pub(super) fn keep_sent(&mut self) {
        if self.record.is_none() && self.values.makes_a_record() {
            self.sent_with.get_or_insert(self.values.of_the_record());
        }
    }

    /// A request may have been carried out, and those before it were not, as a person said.
    pub(super) fn forget_ruled_out(&mut self) {
        self.sent_with = self.sent_with.take().filter(|_| !self.ruled_out);
    }

    /// Cancels it.
    pub(super) fn cancel(&mut self) {
        let may_be_there = match self.state {
            InDoubt => true,
            Held => self.first_sent.is_some(),
            _ => self.executed,
        };
        self.cancelled_in_doubt = may_be_there;
        self.state = Cancelled;
        self.due = None;
        self.code = Some("cancelled".to_owned());
        self.to_cancel = false;
    }

    /// Another chance at the same step: what was sent before is remembered, how it went is not.
    pub(super) fn reopen(&mut self) {
        self.to_cancel = false;
        self.due = None;
        self.deaths = 0;
        self.doubted |= self.executed;
        self.executed = false;
        self.absent_reads = 0;
        self.looks = 0;
        self.candidates.clear();
        self.code = None;
    }

    /// What was learned while sending a step is worth nothing for another one.
    pub(super) fn forget_the_step(&mut self) {
        self.due = None;
        self.deaths = 0;
        self.doubted = false;
        self.doubts = 0;
        self.executed = false;
        self.absent_reads = 0;
        self.looks = 0;
        self.baseline = None;
        self.first_sent = None;
        self.candidates.clear();
        self.code = None;
    }
}

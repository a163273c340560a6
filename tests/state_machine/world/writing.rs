//! The writes of a sequence, as the journal takes them.

use fleetload::journal::{self, Candidate, Evidence, Write};
use fleetload::model::content_hash::ContentHash;
use fleetload::model::id::RemoteId;
use fleetload::model::operation::Operation as Call;
use fleetload::model::state::JobState;
use fleetload::model::time::{Day, Moment};
use fleetload::model::verdict::{Doubt, Execution, Rejection};

use super::{World, id_of};
use crate::operations::{How, What};

impl World {
    /// The digest of the values a job has, or of some that it has not.
    pub(super) fn content(&self, number: usize, right: bool) -> ContentHash {
        match self.reference.jobs.get(&number) {
            Some(known) if right => known.values.content_hash(),
            Some(_) | None => ContentHash::of("an older row"),
        }
    }

    pub(super) fn as_write(&self, number: usize, from: JobState, execution: Execution, what: &What) -> Write {
        let (job, at) = (id_of(number), self.moment());
        let later = |after: i64| Moment::from_millis(self.now + after);
        let evidence = Evidence { execution, status: Some(200), ..Evidence::at(at) };
        let (code, reason) = ("some.code".to_owned(), "some words".to_owned());
        let known = self.reference.jobs.get(&number);
        match what {
            What::Claim { right_operation, content, baseline, counted } => Write::Claim {
                job,
                operation: match known {
                    Some(known) if *right_operation => known.operation(),
                    Some(_) | None => Call::AddPerson,
                },
                content: content.map(|right| self.content(number, right)),
                before: None,
                baseline: baseline
                    .as_ref()
                    .map(|ids| ids.iter().map(|&id| RemoteId::from_u128(u128::from(id))).collect()),
                // Only creations count (specification 8).
                counted: counted
                    .filter(|_| known.is_some_and(|known| known.operation().creates()))
                    .map(|day| Day::from_number(i64::from(day))),
                at,
            },
            What::Advance { how, id } => Write::Advance {
                job,
                from,
                how: match how {
                    How::Created => journal::How::Created,
                    How::Adopted => journal::How::Adopted,
                    How::Existing => journal::How::Existing,
                    How::Done => journal::How::Done,
                },
                id: id.map(RemoteId::from_u128),
                evidence,
            },
            What::Leave { id } => Write::Leave { job, from, id: RemoteId::from_u128(*id), evidence },
            What::Reject => {
                let code = "invalidData".to_owned();
                let rejection = Rejection { code, message: reason, violations: vec![] };
                Write::Reject { job, from, rejection, evidence }
            }
            What::Defer { after } => Write::Defer { job, until: later(*after), code, reason, evidence },
            What::Return => Write::Return { job, code, reason, evidence },
            What::Postpone { after } => Write::Postpone { job, from, until: later(*after), code, reason },
            What::Doubt { executed, charged, after } => Write::Doubt {
                job,
                doubt: if *executed { Doubt::NoId } else { Doubt::Timeout },
                executed: *executed,
                charged: *charged,
                until: later(*after),
                evidence,
            },
            What::KeepDoubting { after, absent_reads } => {
                Write::KeepDoubting { job, until: later(*after), absent_reads: *absent_reads, note: reason }
            }
            What::Release => Write::Release { job, note: reason, at },
            What::Hold { candidates } => Write::Hold {
                job,
                from,
                code: "look.unsure".to_owned(),
                reason,
                candidates: candidates
                    .iter()
                    .map(|&id| Candidate {
                        id: Some(RemoteId::from_u128(u128::from(id))),
                        name: None,
                        details: "found".to_owned(),
                        difference: "its name".to_owned(),
                    })
                    .collect(),
                evidence,
            },
            What::Ceiling { day, ceiling } => {
                Write::Ceiling { day: Day::from_number(i64::from(*day)), ceiling: *ceiling }
            }
        }
    }
}

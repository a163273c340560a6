//! Rows and records for the tests of this room.

use serde_json::Value;

use super::evidence::matching::Seen;
use crate::journal::{Action, Work};
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::operation::Operation;
use crate::model::record::{Record, Role, Site};
use crate::model::state::JobState;
use crate::service::{Found, found as read};
use crate::testing;

/// The company the rows belong to.
pub(super) const OURS: RemoteId = RemoteId::from_u128(0xa11ce);
/// Another company.
pub(super) const OTHER: RemoteId = RemoteId::from_u128(0xb0b);

/// The id of the nth record.
pub(super) fn record(n: u128) -> RemoteId {
    RemoteId::from_u128(0x1000 + n)
}

fn work(record: Record, role: Role) -> Work {
    Work {
        job: JobId(1),
        sheet: SheetId(1),
        kind: record.kind(),
        state: JobState::Ready,
        step: 0,
        operation: record.creation(),
        action: Action::Create,
        record,
        links: vec![(role, OURS)],
        parents: vec![],
        remote_id: None,
        attempts: 0,
        deaths: 0,
        doubted: false,
        doubts: 0,
        executed: false,
        doubt: None,
        doubt_since: None,
        absent_reads: 0,
        looks: 0,
        baseline: None,
        unsure: false,
        content_hash: String::new(),
        first_sent_at: None,
    }
}

pub(super) fn company(name: &str) -> Work {
    work(Record::Company(testing::company(name)), Role::Parent)
}

pub(super) fn site(name: &str, reference: Option<&str>) -> Work {
    let site = Site { reference: reference.map(str::to_owned), ..testing::site(name) };
    work(Record::Site(site), Role::Company)
}

pub(super) fn person(username: &str) -> Work {
    work(Record::Person(testing::person(username)), Role::Company)
}

pub(super) fn device(name: &str, mac: Option<&str>) -> Work {
    work(Record::Device(testing::device(name, mac)), Role::Company)
}

/// A returned record.
pub(super) fn found(returned: Value) -> Found {
    let list = Value::Array(vec![returned]);
    read(Operation::FindSitesByName, &list).expect("a readable answer").remove(0)
}

/// A returned record and the job of ours that owns it.
pub(super) fn seen(returned: Value, owner: Option<i64>) -> Seen {
    Seen { found: found(returned), owner: owner.map(JobId) }
}

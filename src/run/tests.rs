//! Rows, records and decisions for the tests of this room.

use std::time::Duration;

use serde_json::Value;

use super::decide::{RowDecision, RunFacts};
use super::evidence::RunEvidence;
use super::evidence::matching::SeenRecord;
use super::{InDoubt, OnClose, OnExisting, OnQuota, OnRejections, RunPolicy};
use crate::journal::{Work, Write};
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{ImportId, JobId, RemoteId, SheetId};
use crate::model::key::comparable;
use crate::model::operation::Operation;
use crate::model::record::{Record, Role, Site};
use crate::model::state::JobState;
use crate::model::time::Moment;
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
        import: ImportId(1),
        priority: 0,
        kind: record.kind(),
        state: JobState::Ready,
        step: 0,
        operation: record.creation(),
        name: comparable(record.name()),
        action: Action::Create(record),
        created: None,
        links: vec![(role, OURS)],
        parents: vec![],
        remote_id: None,
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
        content_hash: ContentHash::OF_NO_ROW,
        first_sent_at: None,
    }
}

pub(super) fn company(name: &str) -> Work {
    work(Record::Company(testing::company(name)), Role::Parent)
}

pub(super) fn site(name: &str, reference: Option<&str>) -> Work {
    let site = Site { reference: reference.map(Into::into), ..testing::site(name) };
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
pub(super) fn seen(returned: Value, owner: Option<i64>) -> SeenRecord {
    SeenRecord { found: found(returned), owner: owner.map(JobId), renamed_by: None }
}

/// The defaults of a profile.
pub(super) const POLICY: RunPolicy = RunPolicy {
    on_quota: OnQuota::Wait,
    on_close: OnClose::Wait,
    on_existing: OnExisting::Adopt,
    in_doubt: InDoubt::Settle,
    settle: Duration::from_secs(600),
    audit: None,
    on_rejections: OnRejections::Leave,
    overwrite: false,
};

/// What a run knows a second after its beginning.
pub(super) fn facts<'run>(
    usable: &'run dyn Fn(Operation) -> bool,
    evidence: &'run RunEvidence,
) -> RunFacts<'run> {
    RunFacts {
        usable,
        evidence,
        policy: POLICY,
        elapsed: Duration::from_secs(1),
        now: Moment::from_millis(1_000_000),
        is_paused: false,
        is_unstable: false,
    }
}

/// A decision in a few words.
pub(super) fn named(decision: &RowDecision) -> String {
    match decision {
        RowDecision::Send => "is sent".to_owned(),
        RowDecision::SendOver(before) => format!("is sent over {before:?}"),
        RowDecision::Ask(lookup, _) => format!("asks {:?}", lookup.operation()),
        RowDecision::CompareWithList(lookup) => format!("is compared with {}", lookup.operation()),
        RowDecision::Resolved(action) => format!("goes on with {action:?}"),
        RowDecision::AskOwners(found) => format!("asks who owns {}", found.ids().len()),
        RowDecision::AskControl(operation) => format!("asks for a control of {operation:?}"),
        RowDecision::Write(write) | RowDecision::WriteUnlisted(_, write) => named_write(write),
        RowDecision::Refused(_) => "was refused".to_owned(),
        RowDecision::Drop => "is dropped".to_owned(),
        RowDecision::Baseline(Some(seen), then) => format!("{}, after {} seen", named(then), seen.len()),
        RowDecision::Baseline(None, then) => format!("{}, after an unknown number", named(then)),
    }
}

fn named_write(write: &Write) -> String {
    match write.bare() {
        Write::Advance { how, .. } => format!("advances {how:?}"),
        Write::Reject { .. } => "is rejected".to_owned(),
        Write::Hold { code, .. } => format!("holds {code}"),
        Write::KeepDoubting { absent_reads, .. } => format!("stays in doubt after {absent_reads} reads"),
        Write::Release { .. } => "is sent again".to_owned(),
        Write::Leave { .. } => "is left".to_owned(),
        Write::Postpone { .. } => "is postponed".to_owned(),
        Write::Suspect { .. } => "is suspected".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Why a row is held.
pub(super) fn reason(decision: &RowDecision) -> String {
    match decision {
        RowDecision::Write(write) => match write.bare() {
            Write::Hold { reason, .. } => reason.clone(),
            other => format!("not held: {other:?}"),
        },
        other => format!("not held: {other:?}"),
    }
}

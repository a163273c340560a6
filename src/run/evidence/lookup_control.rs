//! Control look-ups: "not found" is believed only of an operation that has found, in this run, a record known to exist.
//!
//! Which records those are the journal says. Reconciliation and audit ask; what follows from the result is theirs.

use std::collections::HashSet;

use super::lookups;
use crate::journal::Work;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;
use crate::service::Lookup;

/// Look-up operations that have found in this run what is known to exist.
#[derive(Debug, Default)]
pub(in crate::run) struct LookupControls {
    proved: HashSet<Operation>,
}

impl LookupControls {
    /// An operation has found a record that is known to exist: its "not found" counts from now on.
    pub(in crate::run) fn prove(&mut self, operation: Operation) {
        self.proved.insert(operation);
    }

    /// Whether an operation's "not found" counts.
    pub(in crate::run) fn is_proved(&self, operation: Operation) -> bool {
        self.proved.contains(&operation)
    }
}

/// For whom a look-up is to be proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::run) enum Asker {
    /// A job in doubt that it did not find.
    Reconcile(JobId),
    /// A row that is read back, and that it did not find.
    Audit(JobId),
}

/// What came of a control look-up.
#[derive(Debug)]
pub(in crate::run) enum ControlResult {
    /// It finds what is known to exist.
    Proved,
    /// It does not, or says nothing; says what.
    NotProved(String),
    /// The service failed at it; says how.
    Failed(String),
    /// The look-up is not available.
    Unavailable,
    /// There is no record to try it by.
    NoRecord,
}

/// The look-up by `operation` that must find the record of this row, and the id it must find.
pub(in crate::run) fn control_lookup(row: &Work, operation: Operation) -> Option<(Lookup, RemoteId)> {
    let id = row.remote_id?;
    let by_id = Some(Lookup::record(row.kind, id)).filter(|lookup| lookup.operation() == operation);
    Some((by_id.or_else(|| lookups::by_operation(row, operation))?, id))
}

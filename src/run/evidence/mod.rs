//! Evidence: what the service shows of a row, and what it means for it. A question has a look-up that answers it
//! (`lookups`); the records found are compared with the row (`matching`), and `classify` says what they mean.
//!
//! It serves the look before sending, the reconciliation after a lost answer, the audit, and `verify` for a person who
//! decides.

pub(super) mod classify;
pub(super) mod list_ahead;
pub(super) mod lookups;
pub(super) mod matching;
mod oneoff_lookup;
pub(super) mod question;
mod recent_creations;
pub(super) mod record_list;
pub(super) mod reference_lag;
pub(super) mod settle_timer;
pub(super) mod shared_lists;
pub(super) mod verify;

use std::collections::{HashMap, HashSet};

use self::question::LookupAnswer;
use self::reference_lag::ReferenceLag;
use self::settle_timer::SettleTimers;
use self::shared_lists::SharedLists;
use crate::model::id::{JobId, RemoteId};
use crate::model::operation::Operation;

/// What a run knows of what the service shows. Each part owns what it knows.
#[derive(Debug, Default)]
pub(super) struct RunEvidence {
    /// Which look-ups are believed when they find nothing.
    pub(super) controls: LookupControls,
    /// Lists that several rows need: the children of companies, what records have that upkeep rows are about.
    pub(super) lists: SharedLists,
    /// What this run has made, and the rows refused because the service may not show it yet.
    pub(super) lag: ReferenceLag,
    /// How long "not found" is not believed.
    pub(super) settle: SettleTimers,
    /// Look-ups that say nothing before rows are sent, as far as it was told.
    pub(super) inconclusive: HashSet<Operation>,
    /// Rows at whose look-up before sending the service fails.
    pub(super) failed_looks: HashMap<JobId, FailedLook>,
}

/// How the look-up before sending a row fails.
#[derive(Debug, Default)]
pub(super) struct FailedLook {
    /// How it failed last, in words.
    pub(super) why: String,
    /// How often in a row it failed while the service answered the same look-up for a record that is known to exist.
    pub(super) alone: u32,
}

/// Look-up operations that have found in this run what is known to exist: only of these "not found" is believed. Which
/// records are known to exist the journal says.
#[derive(Debug, Default)]
pub(super) struct LookupControls {
    proved: HashSet<Operation>,
}

impl LookupControls {
    /// An operation has found a record that is known to exist: its "not found" counts from now on.
    pub(super) fn prove(&mut self, operation: Operation) {
        self.proved.insert(operation);
    }

    /// Whether an operation's "not found" counts.
    pub(super) fn is_proved(&self, operation: Operation) -> bool {
        self.proved.contains(&operation)
    }
}

/// What came of a control look-up.
#[derive(Debug)]
pub(super) enum ControlResult {
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

impl ControlResult {
    /// What the answer to a control look-up says, which must show the record with the id `expected`.
    pub(super) fn of(expected: RemoteId, answer: LookupAnswer) -> Self {
        match answer {
            LookupAnswer::Records(found) if found.iter().any(|found| found.id == Some(expected)) => {
                Self::Proved
            }
            LookupAnswer::Records(_) => {
                Self::NotProved("the look-up does not find a record that is known to exist".to_owned())
            }
            LookupAnswer::Inconclusive(why) => {
                Self::NotProved(format!("the look-up was inconclusive: {why}"))
            }
            LookupAnswer::Failed(why) => Self::Failed(format!("the look-up was inconclusive: {why}")),
            LookupAnswer::Unavailable => Self::Unavailable,
        }
    }
}

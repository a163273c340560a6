//! What a run does with a row, and how many rows have which action.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::json_schema::serialize_as_word;
use crate::model::state::JobState;
use crate::model::words::words;

words! {
    /// What a run does with a row, if nothing goes wrong: what sends comes first.
    #[derive(Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PlannedAction: as_str {
        /// Its record is created, and what the row asks for besides is done.
        Create = "create",
        /// What it asks for of a record is carried out, unless it is so already.
        Apply = "apply",
        /// Its record is there; what the row asks for besides is still to be done.
        Complete = "complete",
        /// Nothing: no cell of it was changed since it was exported.
        Unchanged = "unchanged",
        /// Nothing: it is done.
        There = "there",
        /// Nothing: it is done, with other values than the row has now.
        Changed = "changed",
        /// Nothing: it was rejected and has not changed since; only `retry` sends it again.
        Rejected = "rejected",
        /// Nothing: it was created, a later step was rejected, and it has not changed since; only `retry` sends that again.
        Incomplete = "incomplete",
        /// Nothing before a person has decided.
        Held = "held",
        /// It is looked up whether its request was carried out.
        InDoubt = "in_doubt",
        /// Nothing: it was cancelled.
        Cancelled = "cancelled",
        /// Nothing: something it needs is missing.
        Blocked = "blocked",
    }
}

serialize_as_word!(
    PlannedAction,
    PlannedAction::as_str,
    "PlannedAction",
    "What a run does with a row, if nothing goes wrong.",
    PlannedAction::ALL
);

impl PlannedAction {
    /// What is said of such rows, as in "3 rows to be created".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Create => "to be created",
            Self::Apply => "to be carried out",
            Self::Complete => "created already and still to be completed",
            Self::Unchanged => "unchanged since the export",
            Self::There => "already in the service",
            Self::Changed => "already in the service, with other values",
            Self::Rejected => "rejected earlier and unchanged",
            Self::Incomplete => "created, with a later step that failed, and unchanged",
            Self::Held => "on hold: needs your decision",
            Self::InDoubt => "outcome unknown, to be looked up",
            Self::Cancelled => "cancelled earlier, and unchanged or with a record already",
            Self::Blocked => "blocked by something missing",
        }
    }

    /// Whether the run asks something for such a row at once. What nobody has changed is looked up as well.
    pub const fn sends(self) -> bool {
        matches!(self, Self::Create | Self::Apply | Self::Complete | Self::Unchanged)
    }

    /// Whether such a row needs something before it is sent.
    pub const fn waits(self) -> bool {
        match self {
            Self::Rejected
            | Self::Incomplete
            | Self::Held
            | Self::InDoubt
            | Self::Cancelled
            | Self::Blocked => true,
            Self::Create | Self::Apply | Self::Complete | Self::Unchanged | Self::There | Self::Changed => {
                false
            }
        }
    }

    /// The action of a job that waits for nothing; `None` for one whose action is that of what it waits for.
    pub(super) fn of(state: JobState, made: bool, changed_since: bool) -> Option<Self> {
        match state {
            JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => {
                Some(if changed_since { Self::Changed } else { Self::There })
            }
            // What is under way a run awaits.
            JobState::Ready | JobState::Deferred | JobState::Sending => {
                Some(if made { Self::Complete } else { Self::Create })
            }
            JobState::InDoubt => Some(Self::InDoubt),
            JobState::Held => Some(Self::Held),
            JobState::Rejected => Some(Self::Rejected),
            JobState::Incomplete => Some(Self::Incomplete),
            JobState::Cancelled => Some(Self::Cancelled),
            JobState::Skipped => Some(Self::Blocked),
            JobState::Blocked => None,
        }
    }
}

/// Rows by their action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schemas",
    derive(schemars::JsonSchema),
    schemars(with = "BTreeMap<PlannedAction, u64>")
)]
pub struct ActionCounts(BTreeMap<PlannedAction, u64>);

impl ActionCounts {
    /// Adds rows.
    pub fn add(&mut self, action: PlannedAction, rows: u64) {
        // A zero is not written.
        if rows > 0 {
            *self.0.entry(action).or_default() += rows;
        }
    }

    /// Adds those of another count.
    pub fn add_all(&mut self, other: &Self) {
        other.0.iter().for_each(|(&action, &rows)| self.add(action, rows));
    }

    /// Rows with this action.
    pub fn of(&self, action: PlannedAction) -> u64 {
        self.0.get(&action).copied().unwrap_or_default()
    }

    /// All rows.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Rows that are done.
    pub fn there(&self) -> u64 {
        self.of(PlannedAction::There) + self.of(PlannedAction::Changed)
    }

    /// Rows that need something before they are sent.
    pub fn waiting(&self) -> u64 {
        self.0.iter().filter(|(action, _)| action.waits()).map(|(_, rows)| rows).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fate_of_a_row_follows_from_where_its_job_stands() {
        use JobState::{
            Adopted, Blocked, Cancelled, Created, Deferred, Done, Existing, Held, InDoubt, Incomplete, Ready,
            Rejected, Sending, Skipped,
        };
        for &state in JobState::ALL {
            let expected = match state {
                Ready | Deferred | Sending => Some(PlannedAction::Create),
                InDoubt => Some(PlannedAction::InDoubt),
                Created | Adopted | Existing | Done => Some(PlannedAction::There),
                Held => Some(PlannedAction::Held),
                Rejected => Some(PlannedAction::Rejected),
                Incomplete => Some(PlannedAction::Incomplete),
                Cancelled => Some(PlannedAction::Cancelled),
                Skipped => Some(PlannedAction::Blocked),
                Blocked => None,
            };
            assert_eq!(PlannedAction::of(state, false, false), expected, "{state}");
        }
        assert_eq!(PlannedAction::of(Ready, true, false), Some(PlannedAction::Complete));
        assert_eq!(PlannedAction::of(Created, true, true), Some(PlannedAction::Changed));
    }

    #[test]
    fn counts_are_written_without_zeros_and_read_back() {
        let mut actions = ActionCounts::default();
        for action in
            [PlannedAction::Create, PlannedAction::Create, PlannedAction::There, PlannedAction::Held]
        {
            actions.add(action, 1);
        }
        assert_eq!((actions.total(), actions.there(), actions.waiting()), (4, 1, 1));
        let text = serde_json::to_string(&actions).unwrap();
        assert_eq!(text, r#"{"create":2,"there":1,"held":1}"#);
        assert_eq!(serde_json::from_str::<ActionCounts>(&text).unwrap(), actions);
    }

    #[test]
    fn every_action_is_read_from_its_word() {
        for &action in PlannedAction::ALL {
            assert_eq!(serde_json::from_value::<PlannedAction>(action.as_str().into()).unwrap(), action);
        }
    }
}

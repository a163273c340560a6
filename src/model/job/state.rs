//! The states a job goes through. Every job is in exactly one.
//!
//! Which event leads from which state to which is decided in [`super::settle`]; the journal writes it down.

use std::fmt;

use serde::Deserialize;

use crate::json_schema::serialize_as_word;
use crate::model::words::words;

words! {
    /// Where a job stands.
    pub enum JobState: as_str, parse {
        /// Its parent is not created yet.
        Blocked = "blocked",
        /// May be sent.
        Ready = "ready",
        /// Was not executed; may be sent again at a known time.
        Deferred = "deferred",
        /// A request for it is under way, or was when the process ended.
        Sending = "sending",
        /// A request left, and no answer told whether it was carried out.
        InDoubt = "in_doubt",
        /// A person decides.
        Held = "held",
        /// The service confirmed the creation.
        Created = "created",
        /// Ours, found after a lost answer.
        Adopted = "adopted",
        /// Was there before we sent anything.
        Existing = "existing",
        /// A row that creates no record was carried out.
        Done = "done",
        /// The service, or a rule of ours, refused it.
        Rejected = "rejected",
        /// Its record was created and is there; a later step was rejected.
        Incomplete = "incomplete",
        /// Its parent was rejected or cancelled.
        Skipped = "skipped",
        /// Cancelled before it was sent.
        Cancelled = "cancelled",
    }
}

impl JobState {
    /// Whether nothing more happens to the job by itself.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Created
            | Self::Adopted
            | Self::Existing
            | Self::Done
            | Self::Rejected
            | Self::Incomplete
            | Self::Skipped
            | Self::Cancelled => true,
            Self::Blocked | Self::Ready | Self::Deferred | Self::Sending | Self::InDoubt | Self::Held => {
                false
            }
        }
    }

    /// Whether the row got what it asked for.
    pub const fn is_success(self) -> bool {
        matches!(RowGroup::of(self), RowGroup::Done)
    }

    /// Whether the service, or a rule of ours, refused the row or a part of it, so that somebody corrects it.
    pub const fn is_failed(self) -> bool {
        matches!(RowGroup::of(self), RowGroup::Failed)
    }
}

/// What a state means to whoever reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowGroup {
    /// It got what it asked for.
    Done,
    /// It, or a later step of it, was rejected.
    Failed,
    /// It was left out because of errors; nothing was sent.
    NotImported,
    /// What it depends on failed.
    Skipped,
    /// A person decides.
    Held,
    /// Its outcome is unknown and being settled.
    InDoubt,
    /// It goes on automatically.
    Waiting,
    /// It was cancelled.
    Cancelled,
}

impl RowGroup {
    /// All of them, in the order of the totals.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::NotImported,
        Self::Skipped,
        Self::Held,
        Self::InDoubt,
        Self::Waiting,
        Self::Cancelled,
    ];

    /// Of a row with a job.
    pub const fn of(state: JobState) -> Self {
        match state {
            JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => Self::Done,
            JobState::Rejected | JobState::Incomplete => Self::Failed,
            JobState::Held => Self::Held,
            JobState::InDoubt => Self::InDoubt,
            JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending => Self::Waiting,
            JobState::Skipped => Self::Skipped,
            JobState::Cancelled => Self::Cancelled,
        }
    }

    /// Of a row. One that has no job because of errors was not imported.
    pub const fn of_row(state: JobState, has_job: bool) -> Self {
        match Self::of(state) {
            Self::Failed | Self::Skipped if !has_job => Self::NotImported,
            group => group,
        }
    }

    /// The states of its rows; of those that were not imported none.
    pub fn states(self) -> impl Iterator<Item = JobState> {
        JobState::ALL.iter().copied().filter(move |&state| Self::of(state) == self)
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

serialize_as_word!(JobState, JobState::as_str, "JobState", "Where a row stands.", JobState::ALL);

impl<'de> Deserialize<'de> for JobState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom(format_args!("'{word}' is not a state of a job"));
        Self::parse(&word).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_back_from_its_word() {
        for &state in JobState::ALL {
            assert_eq!(JobState::parse(state.as_str()), Some(state));
        }
    }

    #[test]
    fn a_held_job_is_neither_final_nor_a_success() {
        assert!(!JobState::Held.is_final());
        assert!(!JobState::Held.is_success());
    }
}

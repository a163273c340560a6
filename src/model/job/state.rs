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
        /// A request left and no answer told what became of it.
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
        /// Given up before it was sent.
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
        match self {
            Self::Created | Self::Adopted | Self::Existing | Self::Done => true,
            Self::Blocked
            | Self::Ready
            | Self::Deferred
            | Self::Sending
            | Self::InDoubt
            | Self::Held
            | Self::Rejected
            | Self::Incomplete
            | Self::Skipped
            | Self::Cancelled => false,
        }
    }

    /// Whether the service, or a rule of ours, refused the row or a part of it, so that somebody corrects it.
    pub const fn is_failed(self) -> bool {
        match self {
            Self::Rejected | Self::Incomplete => true,
            Self::Blocked
            | Self::Ready
            | Self::Deferred
            | Self::Sending
            | Self::InDoubt
            | Self::Held
            | Self::Created
            | Self::Adopted
            | Self::Existing
            | Self::Done
            | Self::Skipped
            | Self::Cancelled => false,
        }
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

//! The groups of rows as the reports show them: each with a sign and a word, so that nothing is said by colour alone.

use crate::model::state::{JobState, RowGroup};

impl RowGroup {
    /// The class in the style sheet.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed | Self::NotImported => "failed",
            Self::Held | Self::InDoubt => "person",
            Self::Waiting => "waiting",
            Self::Skipped | Self::Cancelled => "aside",
        }
    }

    /// The sign.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Done => "\u{2713}",
            Self::Failed | Self::NotImported => "\u{2715}",
            Self::Held => "!",
            Self::InDoubt => "?",
            Self::Waiting => "\u{2026}",
            Self::Skipped | Self::Cancelled => "\u{2013}",
        }
    }

    /// What a person reads.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::NotImported => "not imported",
            Self::Skipped => "skipped",
            Self::Held => "on hold",
            Self::InDoubt => "outcome unknown",
            Self::Waiting => "waiting",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Words in the look of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Badge {
    pub(super) group: RowGroup,
    pub(super) words: String,
}

impl Badge {
    /// Of a row; one without a job may not have been imported.
    pub(super) fn of(state: JobState, has_job: bool) -> Self {
        let group = RowGroup::of_row(state, has_job);
        let words = match (group, state) {
            (RowGroup::Failed, JobState::Incomplete) => "incomplete",
            (RowGroup::Failed, _) => "rejected",
            _ => group.words(),
        };
        Self { group, words: words.to_owned() }
    }
}

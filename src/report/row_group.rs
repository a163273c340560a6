//! A state as the reports show it: the group it belongs to, with a sign and a word, so that nothing is said by colour alone.

use crate::model::state::JobState;

/// What a state means to whoever reads a report. The style sheet has a class for each look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum RowGroup {
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
    /// A person cancelled it.
    Cancelled,
}

impl RowGroup {
    /// All of them, in the order of the totals.
    pub(super) const ALL: [Self; 8] = [
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
    pub(super) const fn of(state: JobState) -> Self {
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
    pub(super) const fn of_row(state: JobState, has_job: bool) -> Self {
        match Self::of(state) {
            Self::Failed | Self::Skipped if !has_job => Self::NotImported,
            group => group,
        }
    }

    /// The states of its rows; of those that were not imported none.
    pub(super) fn states(self) -> impl Iterator<Item = JobState> {
        JobState::ALL.iter().copied().filter(move |&state| Self::of(state) == self)
    }

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

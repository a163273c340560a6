//! A state as the page shows it: a tone, a sign and its word, so that nothing is said by colour alone.

use crate::ending::State;
use crate::model::state::JobState;

/// What a state means to whoever reads the page; the classes of the style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::report) enum Tone {
    /// It got what it asked for.
    Done,
    /// It, or a later step of it, was rejected.
    Failed,
    /// A person must look at it.
    Person,
    /// It goes on by itself.
    Waiting,
    /// It was left out.
    Aside,
}

impl Tone {
    /// All of them, in the order of a bar.
    pub(in crate::report) const ALL: [Self; 5] =
        [Self::Done, Self::Failed, Self::Person, Self::Waiting, Self::Aside];

    /// The class in the style sheet.
    pub(in crate::report) const fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Person => "person",
            Self::Waiting => "waiting",
            Self::Aside => "aside",
        }
    }

    /// What its rows are, in a legend.
    pub(in crate::report) const fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Person => "a person decides",
            Self::Waiting => "still to do",
            Self::Aside => "left out",
        }
    }
}

/// A state with its tone, sign and word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::report) struct Badge {
    pub(in crate::report) tone: Tone,
    pub(in crate::report) sign: &'static str,
    pub(in crate::report) word: &'static str,
}

impl Badge {
    /// The class in the style sheet.
    pub(in crate::report) const fn class(&self) -> &'static str {
        self.tone.class()
    }

    /// The word as people write it.
    pub(in crate::report) fn label(&self) -> String {
        self.word.replace('_', " ")
    }

    /// Of a row.
    pub(in crate::report) const fn of(state: JobState) -> Self {
        let tone = tone(state);
        let sign = match state {
            JobState::Created | JobState::Adopted | JobState::Done => "\u{2713}",
            JobState::Existing => "=",
            JobState::Rejected | JobState::Incomplete => "\u{2715}",
            JobState::Held => "!",
            JobState::InDoubt => "?",
            JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending => "\u{2026}",
            JobState::Skipped | JobState::Cancelled => "\u{2013}",
        };
        Self { tone, sign, word: state.as_str() }
    }

    /// Of a run.
    pub(in crate::report) const fn of_run(state: State, refused: bool) -> Self {
        let (tone, sign) = match state {
            State::Finished if refused => (Tone::Failed, "\u{2715}"),
            State::Finished => (Tone::Done, "\u{2713}"),
            State::Parked | State::Waiting => (Tone::Waiting, "\u{2026}"),
            State::Stopped | State::Failed => (Tone::Failed, "\u{2715}"),
            State::Held => (Tone::Person, "!"),
        };
        Self { tone, sign, word: state.as_str() }
    }
}

/// The tone of a state.
pub(in crate::report) const fn tone(state: JobState) -> Tone {
    match state {
        JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => Tone::Done,
        JobState::Rejected | JobState::Incomplete => Tone::Failed,
        JobState::Held => Tone::Person,
        JobState::Blocked | JobState::Ready | JobState::Deferred | JobState::Sending | JobState::InDoubt => {
            Tone::Waiting
        }
        JobState::Skipped | JobState::Cancelled => Tone::Aside,
    }
}

//! Where rows stand, as a person asks: done, left, failed, held. Every state counts as exactly one of these.

use serde::Serialize;

use super::figures::count;
use crate::model::state::JobState;

/// Where the rows of one kind, or of all, stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Standing {
    pub(super) rows: u64,
    pub(super) done: u64,
    pub(super) left: u64,
    pub(super) failed: u64,
    pub(super) held: u64,
}

impl Standing {
    /// `done 12 of 30, 17 left, 1 failed`; held rows only when there are any.
    pub(super) fn words(self) -> String {
        let mut words =
            format!("{} of {} done, {} left", count(self.done), count(self.rows), count(self.left));
        if self.failed > 0 {
            words.push_str(&format!(", {} failed", count(self.failed)));
        }
        if self.held > 0 {
            words.push_str(&format!(", {} held", count(self.held)));
        }
        words
    }
}

pub(super) fn stand(in_state: impl Fn(JobState) -> u64) -> Standing {
    let mut standing = Standing { rows: 0, done: 0, left: 0, failed: 0, held: 0 };
    for &state in JobState::ALL {
        let jobs = in_state(state);
        standing.rows += jobs;
        match state {
            JobState::Created | JobState::Adopted | JobState::Existing | JobState::Done => {
                standing.done += jobs;
            }
            JobState::Rejected | JobState::Incomplete | JobState::Skipped | JobState::Cancelled => {
                standing.failed += jobs;
            }
            JobState::Held => standing.held += jobs,
            JobState::Blocked
            | JobState::Ready
            | JobState::Deferred
            | JobState::Sending
            | JobState::InDoubt => standing.left += jobs,
        }
    }
    standing
}

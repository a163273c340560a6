//! Where the whole stands, by its rows and by the last run: one of a few states, each of which is told in its own words.
//!
//! The words are in [`crate::cli::status::glance`].

use super::counts;
use crate::ending::{End, RunEnd};
use crate::error::Exit;
use crate::journal::RunInfo;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;

/// Where the whole stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// There is no row.
    Empty,
    /// Rows wait, and no run has begun.
    NotBegun,
    /// A run is at work.
    Running,
    /// Creations wait for the next day, in a run that goes on or until the next one.
    Parked(Moment),
    /// The last run ended with work left, at somebody's wish.
    Interrupted(End),
    /// The last run was stopped by the service.
    Stopped(End),
    /// The last run was killed.
    Killed,
    /// The last run set a sheet aside.
    SetAside,
    /// Rows came in, or were made ready again, since the last run.
    Waiting,
    /// Nothing goes on by itself, and rows are held.
    Held,
    /// Nothing is left.
    Finished,
}

impl Stand {
    /// How a run would have ended that left it like this; nothing where none has to. `rows` is how a command ends of which
    /// only the rows speak.
    pub(in crate::cli) const fn end(self, rows: End) -> Option<End> {
        match self {
            Self::Empty | Self::Running => None,
            Self::NotBegun | Self::Waiting => Some(End::RowsWaiting),
            Self::Parked(_) => Some(End::Quota),
            Self::Interrupted(end) | Self::Stopped(end) => Some(end),
            Self::Killed => Some(End::Killed),
            Self::SetAside => Some(End::SheetPaused),
            Self::Held | Self::Finished => Some(rows),
        }
    }

    /// The word for programs.
    pub(in crate::cli) const fn word(self, rows: End) -> &'static str {
        match (self, self.end(rows)) {
            (Self::Empty, _) => "empty",
            (_, Some(end)) => end.state().as_str(),
            (_, None) => "running",
        }
    }
}

/// Where the whole stands, by its rows and by the last run.
pub(super) fn stand(tally: &Tally, run: Option<&RunInfo>, working: bool, now: Moment) -> Stand {
    if tally.total() == 0 {
        return Stand::Empty;
    }
    let moving = counts::moving(tally) > 0;
    let parked = run.and_then(|run| run.resumes_at).filter(|&at| at > now && moving);
    if let Some(until) = parked {
        return Stand::Parked(until);
    }
    if working {
        return Stand::Running;
    }
    if !moving {
        let stuck = tally.in_state(JobState::Held) + tally.in_state(JobState::Blocked);
        return if stuck > 0 { Stand::Held } else { Stand::Finished };
    }
    let Some(run) = run else { return Stand::NotBegun };
    if run.ended_at.is_none() {
        return Stand::Killed;
    }
    match run.ending {
        Some(RunEnd::Early(End::SheetPaused)) => Stand::SetAside,
        Some(RunEnd::Early(end)) if end.exit() == Exit::Service => Stand::Stopped(end),
        Some(RunEnd::Early(end @ (End::Signal | End::Until))) => Stand::Interrupted(end),
        Some(RunEnd::Early(_) | RunEnd::Finished) | None => Stand::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::journal::RunId;
    use crate::model::kind::Kind;

    fn run(ending: Option<RunEnd>, resumes: Option<i64>) -> RunInfo {
        RunInfo {
            run: RunId(1),
            started_at: Moment::from_millis(1),
            ended_at: ending.map(|_| Moment::from_millis(2)),
            ending,
            detail: None,
            held_back: None,
            resumes_at: resumes.map(Moment::from_millis),
            requests: BTreeMap::new(),
        }
    }

    #[test]
    fn where_the_whole_stands_follows_from_its_rows_and_the_last_run() {
        use JobState::{Blocked, Created, Held, Ready, Rejected};
        let later = Moment::from_millis(9);
        let under_way = Some(run(None, None));
        let early = |end, resumes| Some(run(Some(RunEnd::Early(end)), resumes));
        let finished = Some(run(Some(RunEnd::Finished), None));
        type Case = (&'static [JobState], Option<RunInfo>, bool, Stand, &'static str);
        let table: Vec<Case> = vec![
            (&[], None, false, Stand::Empty, "empty"),
            (&[Ready], None, false, Stand::NotBegun, "waiting"),
            (&[Ready, Created], under_way.clone(), true, Stand::Running, "running"),
            (&[Ready, Created], under_way, false, Stand::Killed, "stopped"),
            (&[Ready], early(End::Quota, Some(9)), false, Stand::Parked(later), "parked"),
            (&[Ready], Some(run(None, Some(9))), true, Stand::Parked(later), "parked"),
            (&[Ready], early(End::Quota, Some(3)), false, Stand::Waiting, "waiting"),
            (&[Created], early(End::Quota, Some(9)), false, Stand::Finished, "finished"),
            (&[Ready], early(End::Signal, None), false, Stand::Interrupted(End::Signal), "stopped"),
            (&[Ready], early(End::Until, None), false, Stand::Interrupted(End::Until), "stopped"),
            (&[Ready], early(End::Breaker, None), false, Stand::Stopped(End::Breaker), "stopped"),
            (&[Ready], early(End::SheetPaused, None), false, Stand::SetAside, "held"),
            (&[Ready], finished.clone(), false, Stand::Waiting, "waiting"),
            (&[Held, Blocked], finished.clone(), false, Stand::Held, "held"),
            (&[Created, Rejected], finished, false, Stand::Finished, "finished"),
        ];
        for (states, run, working, expected, word) in table {
            let mut tally = Tally::default();
            for &state in states {
                tally.add(Kind::Device, state, 1);
            }
            let got = stand(&tally, run.as_ref(), working, Moment::from_millis(5));
            assert_eq!(got, expected, "{states:?} {run:?}");
            let rows = if got == Stand::Held { End::RowsHeld } else { End::Done };
            assert_eq!(got.word(rows), word, "{states:?} {run:?}");
        }
    }
}

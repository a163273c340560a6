//! Where the whole stands, by its rows and by the last run: one of a few states, each of which is told in its own words.
//!
//! The words are in [`super::glance`].

use super::counts;
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
    Interrupted,
    /// The last run was stopped by the service.
    Stopped,
    /// The last run was ended from outside.
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
    /// The word for programs.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::NotBegun => "not_begun",
            Self::Running => "running",
            Self::Parked(_) => "parked",
            Self::Interrupted => "interrupted",
            Self::Stopped => "stopped",
            Self::Killed => "killed",
            Self::SetAside => "set_aside",
            Self::Waiting => "waiting",
            Self::Held => "held",
            Self::Finished => "finished",
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
    match run.ending.as_deref().map(|words| words.split(':').next().unwrap_or(words)) {
        Some("interrupted") => Stand::Interrupted,
        Some("stopped") => Stand::Stopped,
        Some("held") => Stand::SetAside,
        _ => Stand::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::journal::RunId;
    use crate::model::kind::Kind;

    fn run(ended: bool, ending: &str, resumes: Option<i64>) -> RunInfo {
        RunInfo {
            run: RunId(1),
            started_at: Moment::from_millis(1),
            ended_at: ended.then(|| Moment::from_millis(2)),
            ending: (!ending.is_empty()).then(|| ending.to_owned()),
            resumes_at: resumes.map(Moment::from_millis),
            requests: BTreeMap::new(),
        }
    }

    #[test]
    fn where_the_whole_stands_follows_from_its_rows_and_the_last_run() {
        use JobState::{Blocked, Created, Held, Ready, Rejected};
        let later = Moment::from_millis(9);
        let table: Vec<(&[JobState], Option<RunInfo>, bool, Stand)> = vec![
            (&[], None, false, Stand::Empty),
            (&[Ready], None, false, Stand::NotBegun),
            (&[Ready, Created], Some(run(false, "", None)), true, Stand::Running),
            (&[Ready, Created], Some(run(false, "", None)), false, Stand::Killed),
            (&[Ready], Some(run(true, "parked", Some(9))), false, Stand::Parked(later)),
            (&[Ready], Some(run(false, "", Some(9))), true, Stand::Parked(later)),
            (&[Ready], Some(run(true, "parked", Some(3))), false, Stand::Waiting),
            (&[Created], Some(run(true, "parked", Some(9))), false, Stand::Finished),
            (&[Ready], Some(run(true, "interrupted", None)), false, Stand::Interrupted),
            (&[Ready], Some(run(true, "stopped", None)), false, Stand::Stopped),
            (&[Ready], Some(run(true, "held: 'Devices' was refused", None)), false, Stand::SetAside),
            (&[Ready], Some(run(true, "finished", None)), false, Stand::Waiting),
            (&[Held, Blocked], Some(run(true, "finished", None)), false, Stand::Held),
            (&[Created, Rejected], Some(run(true, "finished", None)), false, Stand::Finished),
        ];
        for (states, run, working, expected) in table {
            let mut tally = Tally::default();
            for &state in states {
                tally.add(Kind::Device, state, 1);
            }
            let got = stand(&tally, run.as_ref(), working, Moment::from_millis(5));
            assert_eq!(got, expected, "{states:?} {run:?}");
        }
    }
}

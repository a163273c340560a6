//! How a run stands: the state of the rows and of the last run as one value.
//!
//! What a command ends with, in numbers and words for programs, is the table of [`crate::ending`].

use crate::ending::{End, RunEnd};
use crate::error::Exit;
use crate::journal::RunInfo;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Moment;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// There is no row.
    Empty,
    /// Rows wait, and no run has begun.
    NotBegun,
    /// A run is at work.
    Running,
    /// As after a command that ended like this: of a run that left work, else of which only the rows speak.
    Ended(End),
}

/// What is left, as far as the tally of the rows does not say it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Rows that wait for a paused import.
    pub(super) paused: u64,
    /// Rows that the last run has not verified.
    pub(super) unread: u64,
    /// Rows that can be sent, of imports that came after the last run had ended: it says nothing of them.
    pub(super) later: u64,
    /// Whether rows can be sent now that need no quota.
    pub(super) needs_no_quota: bool,
}

impl RunState {
    /// How a command would have ended that left it like this; nothing where none has to.
    pub const fn end(self) -> Option<End> {
        match self {
            Self::Empty | Self::Running => None,
            Self::NotBegun => Some(End::RowsWaiting),
            Self::Ended(end) => Some(end),
        }
    }

    /// The word for programs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Running => "running",
            Self::NotBegun => End::RowsWaiting.state().as_str(),
            Self::Ended(end) => end.state().as_str(),
        }
    }

    /// By the rows and the last run, with the moment at which it goes on, where there is one. `rows` is how a command ends of
    /// which only the rows speak; without a `now`, the moment of the last run counts whether it has passed or not.
    pub(super) fn of(
        tally: &Tally,
        left: Left,
        rows: End,
        run: Option<&RunInfo>,
        at_work: bool,
        now: Option<Moment>,
    ) -> (Self, Option<Moment>) {
        if tally.total() == 0 {
            return (Self::Empty, None);
        }
        let Left { paused, unread, .. } = left;
        if moving(tally) <= paused {
            if let Some(run) =
                run.filter(|_| unread > 0 && !at_work && matches!(rows, End::Done | End::RowsFailed))
            {
                return (Self::unverified(run).map_or(Self::Ended(rows), Self::Ended), None);
            }
            let is_watched = at_work && now.is_some();
            return (if is_watched { Self::Running } else { Self::Ended(rows) }, None);
        }
        // Rows in doubt are settled whatever is paused, and need no quota for it.
        let settling = tally.in_state(JobState::InDoubt) + tally.in_state(JobState::Sending);
        let needs_no_quota = left.needs_no_quota || paused > 0 && moving(tally) <= paused + settling;
        let waits_for_quota = |run: &RunInfo| {
            !matches!(run.waits_for, Some(RunEnd::Early(End::Window))) && run.resumes_at.is_some()
        };
        // Nobody waits for the moment that a killed run has noted.
        let is_killed = |run: &RunInfo| run.ended_at.is_none() && !at_work;
        let run_waits = run.filter(|run| !(is_killed(run) || needs_no_quota && waits_for_quota(run)));
        let goes_on_at = |run: &RunInfo| now.map_or(run.resumes_at, |now| run.goes_on_at(now));
        let resumes_at = run_waits.and_then(goes_on_at);
        let state = match run {
            Some(run) if now.is_some() && resumes_at.is_some() => Self::Ended(match run.waits_for {
                Some(RunEnd::Early(end)) => end,
                Some(RunEnd::Finished) | None => End::Quota,
            }),
            _ if at_work => Self::Running,
            None => Self::NotBegun,
            Some(run) if is_killed(run) => Self::Ended(End::Killed),
            Some(run) => match run.ending {
                Some(RunEnd::Early(End::Quota | End::Window)) if now.is_some() => {
                    Self::Ended(End::RowsWaiting)
                }
                Some(RunEnd::Early(End::Quota)) if needs_no_quota => Self::Ended(End::RowsWaiting),
                // The next run sends those of the later import.
                Some(RunEnd::Early(End::SheetPaused)) if left.later > 0 => Self::Ended(End::RowsWaiting),
                Some(RunEnd::Early(end)) if left.is_later(tally, end) => Self::Ended(End::RowsWaiting),
                Some(RunEnd::Early(end)) => Self::Ended(end),
                Some(RunEnd::Finished) | None => Self::Ended(End::RowsWaiting),
            },
        };
        (state, resumes_at)
    }

    /// How it stands where all rows are done and not all are verified, as the last run ended before that; nothing where it ended
    /// without a usable look-up, or with rows that a person has cancelled since.
    fn unverified(run: &RunInfo) -> Option<End> {
        match (run.ended_at, run.ending) {
            (None, _) => Some(End::Killed),
            (Some(_), Some(RunEnd::Finished) | None) => None,
            (Some(_), Some(RunEnd::Early(End::Quota | End::Window | End::SheetPaused | End::Canary))) => None,
            (Some(_), Some(RunEnd::Early(end))) => Some(end),
        }
    }
}

impl Left {
    /// Whether a run that ended like this says nothing of the rows, as all that can be sent came later. A canary and a closed
    /// window hold those back as well, and the quota those that create.
    fn is_later(self, tally: &Tally, end: End) -> bool {
        moving(tally) <= self.paused + self.later && !matches!(end, End::Canary | End::Quota | End::Window)
    }
}

/// Jobs that are neither final nor held.
pub fn unfinished(tally: &Tally) -> u64 {
    tally.count(|state| !state.is_final() && state != JobState::Held)
}

/// Jobs that go on by themselves. Blocked ones do when what they wait for does, so they do not count here: below a
/// held row they stay.
pub fn moving(tally: &Tally) -> u64 {
    unfinished(tally) - tally.in_state(JobState::Blocked)
}

/// Whether a row in this state did not get through.
pub fn is_failure(state: JobState) -> bool {
    state.is_failed() || state == JobState::Skipped
}

/// How a command ends whose rows stand like this: whether there is work left that is not `paused`, else whether a row is on hold,
/// else whether rows are paused or wait for a person, else whether something was found by verification, refused or differs.
pub fn end_of_rows(tally: &Tally, paused: u64, differing: u64, findings: bool) -> End {
    if moving(tally) > paused {
        End::RowsWaiting
    } else if tally.in_state(JobState::Held) > 0 {
        End::RowsHeld
    } else if moving(tally) > 0 {
        End::ImportPaused
    } else if tally.in_state(JobState::Blocked) > 0 {
        End::RowsHeld
    } else if findings {
        End::Verification
    } else if differing > 0 || tally.count(is_failure) > 0 {
        End::RowsFailed
    } else {
        End::Done
    }
}

/// The worse of two ends of rows: work left before a person, a person before refusals.
pub fn worse(left: End, right: End) -> End {
    let weight = |end: End| match end.exit() {
        Exit::Done | Exit::Changes => 0,
        Exit::Rejections => 1,
        Exit::Held => 2,
        Exit::Parked => 3,
        Exit::Failed | Exit::Usage | Exit::Sheets | Exit::Journal | Exit::Service => 4,
    };
    let goes_on = (left, right) == (End::ImportPaused, End::RowsWaiting);
    if weight(right) > weight(left) || goes_on { right } else { left }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::journal::RunId;
    use crate::model::kind::Kind;

    fn tally(states: &[JobState]) -> Tally {
        let mut tally = Tally::default();
        for &state in states {
            tally.add(Kind::Device, state, 1);
        }
        tally
    }

    fn run(ending: Option<RunEnd>, resumes: Option<i64>) -> RunInfo {
        RunInfo {
            run: RunId(1),
            started_at: Moment::from_millis(1),
            ended_at: ending.map(|_| Moment::from_millis(2)),
            ending,
            detail: None,
            held_back: None,
            resumes_at: resumes.map(Moment::from_millis),
            waits_for: ending.filter(|_| resumes.is_some()),
            quota_resets_at: None,
            typed: String::new(),
            requests: BTreeMap::new(),
        }
    }

    #[test]
    fn how_a_run_stands_follows_from_its_rows_and_the_last_run() {
        use JobState::{Blocked, Cancelled, Created, Held, Ready, Rejected};
        let under_way = Some(run(None, None));
        let early = |end, resumes| Some(run(Some(RunEnd::Early(end)), resumes));
        let finished = Some(run(Some(RunEnd::Finished), None));
        let resets_at = Moment::from_millis(3 * 24 * 3_600_000);
        let days_ahead = early(End::Quota, Some(resets_at.millis()))
            .map(|run| RunInfo { quota_resets_at: Some(resets_at), ..run });
        let ended = RunState::Ended;
        type Case = (&'static [JobState], Option<RunInfo>, bool, RunState, &'static str);
        let now = Some(Moment::from_millis(5));
        let table: Vec<Case> = vec![
            (&[], None, false, RunState::Empty, "empty"),
            (&[Ready], None, false, RunState::NotBegun, "waiting"),
            (&[Ready, Created], under_way.clone(), true, RunState::Running, "running"),
            (&[Created], under_way.clone(), true, RunState::Running, "running"),
            (&[Ready, Created], under_way, false, ended(End::Killed), "stopped"),
            (&[Ready], early(End::Quota, Some(9)), false, ended(End::Quota), "parked"),
            (&[Ready], Some(run(None, Some(9))), true, ended(End::Quota), "parked"),
            // Nobody waits for the moment that a killed run waited for.
            (&[Ready], Some(run(None, Some(9))), false, ended(End::Killed), "stopped"),
            (&[Ready], early(End::Window, Some(9)), false, ended(End::Window), "parked"),
            (&[Ready], early(End::Window, Some(3)), false, ended(End::RowsWaiting), "waiting"),
            (&[Ready], early(End::Quota, Some(3)), false, ended(End::RowsWaiting), "waiting"),
            // The clock that said so was days ahead, and is right by now.
            (&[Ready], days_ahead, false, ended(End::RowsWaiting), "waiting"),
            (&[Created], early(End::Quota, Some(9)), false, ended(End::Done), "finished"),
            (&[Ready], early(End::Signal, None), false, ended(End::Signal), "stopped"),
            (&[Ready], early(End::Until, None), false, ended(End::Until), "stopped"),
            (&[Ready], early(End::Breaker, None), false, ended(End::Breaker), "stopped"),
            (&[Ready], early(End::SheetPaused, None), false, ended(End::SheetPaused), "held"),
            (&[Ready], finished.clone(), false, ended(End::RowsWaiting), "waiting"),
            (&[Held, Blocked], finished.clone(), false, ended(End::RowsHeld), "held"),
            (&[Created, Rejected], finished, false, ended(End::RowsFailed), "finished"),
        ];
        for (states, run, at_work, expected, word) in table {
            let tally = tally(states);
            let rows = end_of_rows(&tally, 0, 0, false);
            let (got, resumes_at) = RunState::of(&tally, Left::default(), rows, run.as_ref(), at_work, now);
            assert_eq!((got, got.word()), (expected, word), "{states:?} {run:?}");
            assert_eq!(
                resumes_at.is_some(),
                [ended(End::Quota), ended(End::Window)].contains(&got),
                "{states:?} {run:?}"
            );
        }
        // Rows that are done and not verified, as the run ended before that.
        for (states, run, at_work, expected) in [
            (&[Created][..], Some(run(None, None)), true, RunState::Running),
            (&[Created], Some(run(None, None)), false, ended(End::Killed)),
            (&[Created], early(End::Signal, None), false, ended(End::Signal)),
            (&[Created, Rejected], early(End::Breaker, None), false, ended(End::Breaker)),
            (&[Created, Cancelled], early(End::Quota, Some(9)), false, ended(End::Done)),
            (&[Created, Cancelled], early(End::SheetPaused, None), false, ended(End::Done)),
            (&[Created, Held], early(End::Signal, None), false, ended(End::RowsHeld)),
            (&[Created], Some(run(Some(RunEnd::Finished), None)), false, ended(End::Done)),
        ] {
            let tally = tally(states);
            let rows = end_of_rows(&tally, 0, 0, false);
            let (got, _) =
                RunState::of(&tally, Left { unread: 1, ..Left::default() }, rows, run.as_ref(), at_work, now);
            assert_eq!(got, expected, "{states:?} {run:?}");
        }
        // A report has no clock: whether the day has come is for its reader to see.
        let tally = tally(&[Ready]);
        let parked = run(Some(RunEnd::Early(End::Quota)), Some(3));
        let got = RunState::of(&tally, Left::default(), End::RowsWaiting, Some(&parked), false, None);
        assert_eq!(got, (ended(End::Quota), Some(Moment::from_millis(3))));
    }

    #[test]
    fn rows_end_as_the_worst_of_them_and_what_verification_found_needs_a_person_unless_rows_do() {
        use JobState::{
            Adopted, Blocked, Cancelled, Created, Done, Existing, Held, InDoubt, Incomplete, Ready, Rejected,
            Skipped,
        };
        let table: &[(&[JobState], End, End)] = &[
            (&[], End::Done, End::Verification),
            (&[Created, Adopted, Existing, Done], End::Done, End::Verification),
            (&[Created, Cancelled], End::Done, End::Verification),
            (&[Created, Rejected], End::RowsFailed, End::Verification),
            (&[Created, Incomplete], End::RowsFailed, End::Verification),
            (&[Created, Skipped], End::RowsFailed, End::Verification),
            (&[Rejected, Held], End::RowsHeld, End::RowsHeld),
            (&[Held, Ready], End::RowsWaiting, End::RowsWaiting),
            (&[Held, Blocked], End::RowsHeld, End::RowsHeld),
            (&[Blocked], End::RowsHeld, End::RowsHeld),
            (&[Blocked, Ready], End::RowsWaiting, End::RowsWaiting),
            (&[Rejected, InDoubt], End::RowsWaiting, End::RowsWaiting),
        ];
        for (states, expected, with_findings) in table {
            let tally = tally(states);
            assert_eq!(end_of_rows(&tally, 0, 0, false), *expected, "{states:?}");
            assert_eq!(end_of_rows(&tally, 0, 0, true), *with_findings, "{states:?}");
        }
        assert_eq!(end_of_rows(&tally(&[Created]), 0, 1, false), End::RowsFailed);
        // Of paused imports: nothing goes on before a person resumes them.
        for (states, paused, expected) in [
            (&[Ready, Ready][..], 2, End::ImportPaused),
            (&[Ready, Blocked, Held], 1, End::RowsHeld),
            (&[Ready, Blocked], 1, End::ImportPaused),
            (&[Ready, InDoubt], 1, End::RowsWaiting),
            (&[Ready, Ready], 1, End::RowsWaiting),
        ] {
            let (tally, run) = (tally(states), run(Some(RunEnd::Finished), None));
            let rows = end_of_rows(&tally, paused, 0, true);
            assert_eq!(rows, expected, "{states:?}");
            let now = Some(Moment::from_millis(5));
            let left = Left { paused, ..Left::default() };
            assert_eq!(RunState::of(&tally, left, rows, Some(&run), false, now).0, RunState::Ended(expected));
        }
        // Rows in doubt need no quota, so that nothing of a paused import goes on when it is there again.
        for (end, states, paused, expected) in [
            (End::Quota, &[Ready, Ready, InDoubt][..], 2, End::RowsWaiting),
            (End::Quota, &[Ready, Ready, InDoubt], 1, End::Quota),
            (End::Quota, &[InDoubt], 0, End::Quota),
            (End::Window, &[Ready, Ready, InDoubt], 2, End::Window),
        ] {
            let (tally, run) = (tally(states), run(Some(RunEnd::Early(end)), Some(9)));
            let rows = end_of_rows(&tally, paused, 0, false);
            let left = Left { paused, ..Left::default() };
            for now in [None, Some(Moment::from_millis(5))] {
                let (state, resumes_at) = RunState::of(&tally, left, rows, Some(&run), false, now);
                assert_eq!(state, RunState::Ended(expected), "{end:?} {states:?} {paused}");
                assert_eq!(resumes_at.is_some(), expected != End::RowsWaiting, "{end:?} {states:?} {paused}");
            }
        }
    }

    #[test]
    fn a_run_says_nothing_of_an_import_that_came_after_its_end_and_a_spent_quota_nothing_of_what_needs_none()
    {
        use JobState::Ready;
        let later = |later| Left { later, ..Left::default() };
        let free = Left { needs_no_quota: true, ..Left::default() };
        let tally = tally(&[Ready, Ready]);
        for (end, left, expected) in [
            (End::SheetPaused, later(0), End::SheetPaused),
            (End::SheetPaused, later(1), End::RowsWaiting),
            (End::SheetPaused, later(2), End::RowsWaiting),
            (End::SheetPaused, Left { paused: 1, ..later(1) }, End::RowsWaiting),
            (End::Signal, later(1), End::Signal),
            (End::Signal, later(2), End::RowsWaiting),
            (End::Unreachable, later(2), End::RowsWaiting),
            (End::Canary, later(2), End::Canary),
            (End::Quota, later(2), End::Quota),
            (End::Quota, free, End::RowsWaiting),
            (End::Window, free, End::Window),
        ] {
            let resumes = [End::Quota, End::Window].contains(&end).then_some(9);
            let run = run(Some(RunEnd::Early(end)), resumes);
            for now in [None, Some(Moment::from_millis(5))] {
                let (state, resumes_at) =
                    RunState::of(&tally, left, End::RowsWaiting, Some(&run), false, now);
                assert_eq!(state, RunState::Ended(expected), "{end:?} {left:?}");
                assert_eq!(resumes_at.is_some(), resumes.is_some() && end == expected, "{end:?} {left:?}");
            }
        }
    }

    #[test]
    fn of_two_imports_the_worse_counts() {
        assert_eq!(worse(End::RowsFailed, End::RowsHeld), End::RowsHeld);
        assert_eq!(worse(End::RowsHeld, End::RowsFailed), End::RowsHeld);
        assert_eq!(worse(End::RowsHeld, End::RowsWaiting), End::RowsWaiting);
        assert_eq!(worse(End::Done, End::RowsFailed), End::RowsFailed);
        assert_eq!(worse(End::ImportPaused, End::RowsWaiting), End::RowsWaiting);
        assert_eq!(worse(End::RowsWaiting, End::ImportPaused), End::RowsWaiting);
    }
}

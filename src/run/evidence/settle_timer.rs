//! Settle timers: how long after a lost answer "not there" is not believed, on the monotonic clock.
//!
//! The journal knows since when a row is in doubt by the wall clock, which can be set forward: a settle time read
//! from it could be over seconds after the answer was lost, while the service is still at work. So each doubt of
//! this run has an end on the steady clock, and a doubt from an earlier run what was left of its time when this
//! one began.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::id::JobId;
use crate::model::time::Moment;

/// When each doubt may be settled, as instants of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(in crate::run) struct SettleTimers(HashMap<JobId, Duration>);

/// The clocks when a doubt from an earlier run is taken up.
#[derive(Debug, Clone, Copy)]
pub(in crate::run) struct ClockTimes {
    /// The time that has passed.
    pub(in crate::run) elapsed: Duration,
    /// The wall clock.
    pub(in crate::run) wall: Moment,
    /// The wall clock had it gone evenly since the run began.
    pub(in crate::run) steady: Moment,
}

impl SettleTimers {
    /// The answer of a job was lost in this run.
    pub(in crate::run) fn begin(&mut self, job: JobId, now: Duration, settle: Duration) {
        self.0.insert(job, now + settle);
    }

    /// A job that is in doubt is fetched; `since` is from the journal. What this run knows itself stays.
    pub(in crate::run) fn resume(
        &mut self,
        job: JobId,
        since: Option<Moment>,
        clocks: ClockTimes,
        settle: Duration,
    ) {
        self.0.entry(job).or_insert_with(|| {
            // Of the two clocks the one by which less has passed; at most the whole time from now on, whatever
            // a clock that was set back makes of it.
            let now = clocks.wall.min(clocks.steady);
            let left = since.map_or(settle, |since| since.plus(settle).since(now));
            clocks.elapsed + left.min(settle)
        });
    }

    /// When the last of them may be settled.
    pub(in crate::run) fn last(&self) -> Option<Duration> {
        self.0.values().max().copied()
    }

    /// The job is no longer in doubt.
    pub(in crate::run) fn end(&mut self, job: JobId) {
        self.0.remove(&job);
    }

    /// What is left of the settle time of a job; all of it for one that was never taken up.
    pub(in crate::run) fn left(&self, job: JobId, now: Duration, settle: Duration) -> Duration {
        self.0.get(&job).map_or(settle, |end| end.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTLE: Duration = Duration::from_secs(600);
    const JOB: JobId = JobId(1);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn at(text: &str) -> Moment {
        Moment::parse(text).unwrap()
    }

    fn clocks(wall: &str, steady: &str) -> ClockTimes {
        ClockTimes { elapsed: seconds(50), wall: at(wall), steady: at(steady) }
    }

    fn left_after_taking_up(since: &str, wall: &str, steady: &str) -> u64 {
        let mut settle_timers = SettleTimers::default();
        settle_timers.resume(JOB, Some(at(since)), clocks(wall, steady), SETTLE);
        settle_timers.left(JOB, seconds(50), SETTLE).as_secs()
    }

    #[test]
    fn a_doubt_of_this_run_settles_when_the_time_has_passed_whatever_the_wall_clock_shows() {
        let mut settle_timers = SettleTimers::default();
        settle_timers.begin(JOB, seconds(5), SETTLE);
        // The clock was set forward by an hour: the journal's moment looks long past.
        let later = clocks("2026-03-01T11:00:00Z", "2026-03-01T10:00:00Z");
        settle_timers.resume(JOB, Some(at("2026-03-01T10:00:00Z")), later, SETTLE);
        assert_eq!(settle_timers.left(JOB, seconds(10), SETTLE), seconds(595));
        assert_eq!(settle_timers.left(JOB, seconds(605), SETTLE), Duration::ZERO);
    }

    #[test]
    fn a_doubt_from_an_earlier_run_has_what_is_left_of_its_time() {
        let now = "2026-03-01T10:00:00Z";
        assert_eq!(left_after_taking_up("2026-03-01T09:55:00Z", now, now), 300);
        assert_eq!(left_after_taking_up("2026-02-28T09:55:00Z", now, now), 0, "long over");
    }

    #[test]
    fn a_clock_that_was_set_neither_shortens_nor_prolongs_it() {
        let (then, begun) = ("2026-03-01T09:55:00Z", "2026-03-01T10:00:00Z");
        assert_eq!(left_after_taking_up(then, "2026-03-01T13:00:00Z", begun), 300, "set forward meanwhile");
        assert_eq!(left_after_taking_up(then, "2026-03-01T07:00:00Z", begun), 600, "set back meanwhile");
        // Set back between two runs: the whole time again, and not three hours.
        assert_eq!(left_after_taking_up("2026-03-01T13:00:00Z", begun, begun), 600);
    }

    #[test]
    fn a_doubt_that_ended_leaves_nothing_to_the_next_of_the_same_row() {
        let mut settle_timers = SettleTimers::default();
        settle_timers.begin(JOB, seconds(0), SETTLE);
        settle_timers.end(JOB);
        assert_eq!(settle_timers.left(JOB, seconds(1000), SETTLE), SETTLE);
        settle_timers.begin(JOB, seconds(1000), SETTLE);
        assert_eq!(settle_timers.left(JOB, seconds(1001), SETTLE), seconds(599));
    }
}

//! Settle timers: how long after a lost answer "not there" is not believed, on the monotonic clock.
//!
//! The journal knows since when a row is in doubt by the wall clock, which can be set forward: a settle time read
//! from it could be over seconds after the answer was lost, while the service is still at work. So each doubt has an
//! end on the steady clock. No clock tells how much of its time a doubt from an earlier run has waited already: it waits
//! the whole time again, from when this run takes it up. What is found meanwhile is adopted at once.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::id::JobId;

/// When each doubt may be settled, as instants of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(in crate::run) struct SettleTimers(HashMap<JobId, Duration>);

impl SettleTimers {
    /// The answer of a job was lost in this run.
    pub(in crate::run) fn begin(&mut self, job: JobId, now: Duration, settle: Duration) {
        self.0.insert(job, now + settle);
    }

    /// A job that is in doubt is fetched. What this run knows of it stays.
    pub(in crate::run) fn take_up(&mut self, job: JobId, now: Duration, settle: Duration) {
        self.0.entry(job).or_insert(now + settle);
    }

    /// How many doubts this run has taken up.
    pub(in crate::run) fn len(&self) -> usize {
        self.0.len()
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

    #[test]
    fn a_doubt_of_this_run_settles_when_the_time_has_passed() {
        let mut settle_timers = SettleTimers::default();
        settle_timers.begin(JOB, seconds(5), SETTLE);
        settle_timers.take_up(JOB, seconds(9), SETTLE);
        assert_eq!(settle_timers.left(JOB, seconds(10), SETTLE), seconds(595));
        assert_eq!(settle_timers.left(JOB, seconds(605), SETTLE), Duration::ZERO);
    }

    #[test]
    fn a_doubt_from_an_earlier_run_waits_the_whole_time_from_when_it_is_taken_up_first() {
        let mut settle_timers = SettleTimers::default();
        settle_timers.take_up(JOB, seconds(50), SETTLE);
        settle_timers.take_up(JOB, seconds(90), SETTLE);
        assert_eq!(settle_timers.left(JOB, seconds(90), SETTLE), seconds(560));
        assert_eq!((settle_timers.len(), settle_timers.last()), (1, Some(seconds(650))));
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

//! What this run has made, and what of it the service has shown to know.
//!
//! The service may check references against a state that lags behind: for a while a record that was confirmed is "not
//! found" to the rows below it. That ends when it takes one such row, or with time. What follows for a row that was
//! refused meanwhile is left to [`crate::model::settle`].

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::model::id::JobId;

/// A record made by us less than this ago may not be visible to the service's checks yet.
const FRESH: Duration = Duration::from_secs(60);

/// The records of this run, by job; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(super) struct Made {
    /// When each was confirmed.
    confirmed: HashMap<JobId, Duration>,
    /// Those that others have been created below.
    shown: HashSet<JobId>,
}

impl Made {
    /// The record of a job is confirmed, made or adopted. One that was there before us is not told here: it may have
    /// children that are not ours.
    pub(super) fn confirm(&mut self, job: JobId, now: Duration) {
        self.confirmed.insert(job, now);
    }

    /// Whether the record of a job is one of this run.
    pub(super) fn has(&self, job: JobId) -> bool {
        self.confirmed.contains_key(&job)
    }

    /// The service has taken a row that refers to these.
    pub(super) fn show(&mut self, jobs: impl IntoIterator<Item = JobId>) {
        self.shown.extend(jobs);
    }

    /// Whether the service may not know the record of a job yet.
    pub(super) fn is_fresh(&self, job: JobId, now: Duration) -> bool {
        let confirmed = self.confirmed.get(&job).filter(|_| !self.shown.contains(&job));
        confirmed.is_some_and(|confirmed| now.saturating_sub(*confirmed) < FRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: JobId = JobId(1);
    const NOW: Duration = Duration::from_secs(100);

    #[test]
    fn a_record_is_fresh_from_its_confirmation_for_a_minute() {
        let mut made = Made::default();
        assert!(!made.is_fresh(PARENT, NOW), "it was there before this run");
        made.confirm(PARENT, NOW);
        assert!(made.is_fresh(PARENT, NOW) && made.is_fresh(PARENT, NOW + FRESH - Duration::from_millis(1)));
        assert!(!made.is_fresh(PARENT, NOW + FRESH));
        assert!(made.has(PARENT), "it stays one of this run");
    }

    #[test]
    fn a_record_that_the_service_took_a_row_below_is_not_fresh() {
        let mut made = Made::default();
        made.confirm(PARENT, NOW);
        made.show([PARENT, JobId(2)]);
        assert!(!made.is_fresh(PARENT, NOW));
        assert!(
            made.has(PARENT) && !made.has(JobId(2)),
            "to be known to the service is not to be of this run"
        );
    }
}

//! Recent creations of this run, and which of them the service has shown to know.
//!
//! The service may check references against a state that lags behind: for a while a record that was confirmed is "not
//! found" to the rows below it. That ends when it takes one such row, when a look-up finds it, or with time. What follows
//! for a row that was refused meanwhile is in `reference_lag`.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::model::id::JobId;

/// A record made by us less than this ago may not be visible to the service's checks yet.
const YOUNG: Duration = Duration::from_secs(60);

/// The records of this run, by job; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(super) struct RecentCreations {
    /// When each was confirmed.
    confirmed: HashMap<JobId, Duration>,
    /// Since when the service is known to show them.
    shown: HashMap<JobId, Duration>,
    /// Those that a look did not find at first.
    late: HashSet<JobId>,
}

impl RecentCreations {
    /// The record of a job is confirmed, made or adopted. One that was there before us is not told here: it may have
    /// children that are not ours.
    pub(in crate::run) fn confirm(&mut self, job: JobId, now: Duration) {
        self.confirmed.insert(job, now);
    }

    /// Whether the record of a job is one of this run.
    pub(in crate::run) fn has(&self, job: JobId) -> bool {
        self.confirmed.contains_key(&job)
    }

    /// Whether the record of a job was confirmed so lately that what belongs to it may not be listed yet.
    pub(super) fn is_young(&self, job: JobId, now: Duration) -> bool {
        self.confirmed.get(&job).is_some_and(|confirmed| now < *confirmed + YOUNG)
    }

    /// The service shows the record of a job: it has taken a row that refers to it, or a look has found it.
    pub(in crate::run) fn show(&mut self, job: JobId, now: Duration) {
        self.shown.entry(job).or_insert(now);
    }

    /// A look did not find the record of a job.
    pub(super) fn note_late(&mut self, job: JobId) {
        self.late.insert(job);
    }

    /// Whether the service is known to show the record of a job.
    pub(super) fn is_shown(&self, job: JobId) -> bool {
        self.shown.contains_key(&job)
    }

    /// Whether a look did not find the record of a job.
    pub(in crate::run) fn is_late(&self, job: JobId) -> bool {
        self.late.contains(&job)
    }

    /// Whether the service may not have known the record of a job at a moment; until when that could be so.
    pub(in crate::run) fn unproved(&self, job: JobId, then: Duration) -> Option<Duration> {
        let until = *self.confirmed.get(&job)? + YOUNG;
        let is_shown = self.shown.get(&job).is_some_and(|shown| *shown <= then);
        (then < until && !is_shown).then_some(until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: JobId = JobId(1);
    const NOW: Duration = Duration::from_secs(100);
    const MOMENT: Duration = Duration::from_millis(1);

    #[test]
    fn a_record_is_young_from_its_confirmation_for_a_minute() {
        let mut recent_creations = RecentCreations::default();
        assert_eq!(recent_creations.unproved(PARENT, NOW), None, "it was there before this run");
        recent_creations.confirm(PARENT, NOW);
        assert_eq!(recent_creations.unproved(PARENT, NOW), Some(NOW + YOUNG));
        assert_eq!(recent_creations.unproved(PARENT, NOW + YOUNG - MOMENT), Some(NOW + YOUNG));
        assert_eq!(recent_creations.unproved(PARENT, NOW + YOUNG), None);
        assert!(recent_creations.has(PARENT), "it stays one of this run");
    }

    #[test]
    fn a_record_that_the_service_shows_is_proved_from_then_on() {
        let mut recent_creations = RecentCreations::default();
        recent_creations.confirm(PARENT, NOW);
        let shown = NOW + Duration::from_secs(2);
        recent_creations.show(PARENT, shown);
        recent_creations.show(PARENT, shown + MOMENT);
        recent_creations.show(JobId(2), shown);
        assert_eq!(recent_creations.unproved(PARENT, shown), None);
        assert!(
            recent_creations.unproved(PARENT, shown - MOMENT).is_some(),
            "what was sent before says nothing"
        );
        assert!(
            recent_creations.has(PARENT) && !recent_creations.has(JobId(2)),
            "to be known to the service is not to be of this run"
        );
    }
}

//! Recent creations of this run, and which of them the service has shown to know.
//!
//! The service may check references against a state that lags behind: for a while a record that was confirmed is "not
//! found" to the rows below it. That ends when it takes one such row, when a look-up finds it, or with time. What follows
//! for a row that was refused meanwhile is in `reference_lag`.
//!
//! A creation is kept while a request may be unanswered that left when it was young. Of companies it is kept for as long as a
//! list of what is below them would be used.

use std::collections::HashMap;
use std::time::Duration;

use super::shared_lists::GOOD_FOR;
use crate::model::id::JobId;

/// A record made by us less than this ago may not be visible to the service's checks yet.
const YOUNG: Duration = Duration::from_secs(60);

/// The records of this run, by job; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(super) struct RecentCreations {
    recent: HashMap<JobId, Creation>,
    /// The companies, with the moments at which they were made: nothing was below them then.
    companies: HashMap<JobId, Duration>,
}

/// A record that was made a while ago at most.
#[derive(Debug)]
struct Creation {
    confirmed: Duration,
    /// Since when the service is known to show it.
    shown: Option<Duration>,
    /// Whether a look did not find it at first.
    late: bool,
}

impl Creation {
    /// From when on it is no longer young.
    fn until(&self) -> Duration {
        self.confirmed + YOUNG
    }
}

impl RecentCreations {
    /// The record of a job is confirmed, made or adopted. One that was there before us is not told here: it may have
    /// children that are not ours.
    pub(super) fn confirm(&mut self, job: JobId, now: Duration) {
        self.recent.insert(job, Creation { confirmed: now, shown: None, late: false });
    }

    /// The company of a job was made just now.
    pub(super) fn add_company(&mut self, job: JobId, now: Duration) {
        self.companies.insert(job, now);
    }

    /// Forgets the records that were no longer young at a moment. Every request that is unanswered left then or later.
    pub(super) fn forget_until(&mut self, moment: Duration) {
        self.recent.retain(|_, creation| creation.until() > moment);
        self.companies.retain(|_, made| *made + GOOD_FOR > moment);
        // What a fast service has made in a minute may be far more than what it makes in the next.
        if self.recent.capacity() / 4 > self.recent.len() {
            self.recent.shrink_to_fit();
        }
    }

    /// Whether a company was made by this run so lately that nothing is below it but what is ours.
    pub(super) fn has_company(&self, job: JobId, now: Duration) -> bool {
        self.companies.get(&job).is_some_and(|made| now.saturating_sub(*made) < GOOD_FOR)
    }

    /// Nobody can say how long ago the companies were made.
    pub(super) fn forget_companies(&mut self) {
        self.companies.clear();
    }

    /// Whether the record of a job was confirmed so lately that what belongs to it may not be listed yet.
    pub(super) fn is_young(&self, job: JobId, now: Duration) -> bool {
        self.recent.get(&job).is_some_and(|creation| now < creation.until())
    }

    /// The service shows the record of a job: it has taken a row that refers to it, or a look has found it.
    pub(super) fn show(&mut self, job: JobId, now: Duration) {
        if let Some(creation) = self.recent.get_mut(&job) {
            creation.shown.get_or_insert(now);
        }
    }

    /// A look did not find the record of a job.
    pub(super) fn note_late(&mut self, job: JobId) {
        if let Some(creation) = self.recent.get_mut(&job) {
            creation.late = true;
        }
    }

    /// Whether the service is known to show the record of a job.
    pub(super) fn is_shown(&self, job: JobId) -> bool {
        self.recent.get(&job).is_some_and(|creation| creation.shown.is_some())
    }

    /// Whether a look did not find the record of a job.
    pub(super) fn is_late(&self, job: JobId) -> bool {
        self.recent.get(&job).is_some_and(|creation| creation.late)
    }

    /// Whether the service may not have known the record of a job at a moment; until when that could be so.
    pub(super) fn unproved(&self, job: JobId, then: Duration) -> Option<Duration> {
        let creation = self.recent.get(&job)?;
        let is_shown = creation.shown.is_some_and(|shown| shown <= then);
        (then < creation.until() && !is_shown).then(|| creation.until())
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
    }

    #[test]
    fn a_record_is_forgotten_when_no_answer_can_be_due_that_left_while_it_was_young() {
        let mut recent_creations = RecentCreations::default();
        recent_creations.confirm(PARENT, NOW);
        recent_creations.note_late(PARENT);
        let sent = NOW + YOUNG - MOMENT;
        recent_creations.forget_until(sent);
        assert_eq!(recent_creations.unproved(PARENT, sent), Some(NOW + YOUNG), "its answer comes later");
        assert!(recent_creations.is_late(PARENT));
        recent_creations.forget_until(NOW + YOUNG);
        assert_eq!(recent_creations.unproved(PARENT, NOW), None);
        assert!(recent_creations.recent.is_empty());
    }

    #[test]
    fn nothing_is_below_a_company_that_was_made_just_now_until_others_may_have_worked_with_it() {
        let mut recent_creations = RecentCreations::default();
        recent_creations.add_company(PARENT, NOW);
        let (lately, old) = (NOW + GOOD_FOR - MOMENT, NOW + GOOD_FOR);
        recent_creations.forget_until(lately);
        assert!(recent_creations.has_company(PARENT, lately) && !recent_creations.has_company(PARENT, old));
        assert!(!recent_creations.has_company(JobId(2), NOW), "it was there before");
        recent_creations.forget_until(old);
        assert!(recent_creations.companies.is_empty());
        recent_creations.add_company(PARENT, NOW);
        recent_creations.forget_companies();
        assert!(!recent_creations.has_company(PARENT, NOW), "this machine may have slept");
    }
}

//! Rows refused with `noDataFound` while a record that they refer to was created moments ago: does the service not show
//! that record yet (its checks lag behind), or is a cell of the row wrong?
//!
//! The record is looked up, which costs no quota. When it is there, the row is rejected on the answer it has. When it is not
//! there yet, the row waits until it is, and of all rows refused alike one probes, that is, is sent again. When the
//! probe is accepted, those behind it are sent again as well; when a few probes are refused although everything they
//! refer to is there, those behind them are rejected on the answers they have. A record that no look-up can find is waited
//! for with probes only, at growing distances, until it is no longer young.
//!
//! Rules only; `decide::await_references` sends, looks up and rejects by them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::lookups::Reference;
use crate::model::id::{JobId, SheetId};
use crate::model::operation::Operation;
use crate::model::verdict::Rejection;

/// The wait after the first look or probe that did not find a record; each further one doubles.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest of these waits.
const LONGEST_WAIT: Duration = Duration::from_secs(16);
/// Probes refused alike after which the rows behind them are not sent again: one may be refused for a reason of its
/// own, so many are not by chance.
const PROBES: u32 = 3;
/// Rows of a sheet that wait for a record at once, beyond which no further one below such a record is sent: each may
/// cost a creation for nothing.
const WAITING_AT_ONCE: usize = 8;

/// What rows refused alike share: the operation, and the refusal without what differs from row to row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::run) struct RefusalShape(pub(in crate::run) Operation, pub(in crate::run) String);

/// A row that was refused and waits.
#[derive(Debug)]
struct Waiting {
    shape: RefusalShape,
    sheet: SheetId,
    /// Records it refers to that are not known to be visible.
    unproved: BTreeSet<JobId>,
    /// Whether one of them was not visible when the row was sent: the refusal may be due to that.
    missed: bool,
    rejection: Rejection,
    /// Whether the refusal counts towards the pause of its sheet already.
    counted: bool,
    /// Whether it was told that the row waits.
    told: bool,
}

/// Rows refused alike.
#[derive(Debug, Default)]
struct Alike {
    /// The row that is sent again for all of them.
    probe: Option<JobId>,
    /// Probes refused since one was accepted.
    refused: u32,
    /// Whether the last probe was accepted.
    accepted: bool,
    /// When the next may leave, where no look-up says it.
    due: Duration,
}

/// A record that rows wait for.
#[derive(Debug)]
struct Awaited {
    look: Look,
    /// Looks that did not find it.
    looks: u32,
    /// From when on it is no longer young.
    until: Duration,
}

/// How it is found out whether a record is visible.
#[derive(Debug)]
enum Look {
    /// By this one, at this moment.
    Due(Duration, Reference),
    /// By this one, which is under way.
    UnderWay(Reference),
    /// No look-up can tell.
    Impossible,
}

/// What is to be done about a row or a record now.
#[derive(Debug, PartialEq)]
pub(in crate::run) enum Step {
    /// Look whether a record is visible.
    Look(Reference),
    /// Send a row again.
    Send(JobId),
    /// Reject a row on the answer it has; `counted` when the refusal was counted before.
    Reject { job: JobId, rejection: Rejection, counted: bool },
    /// Tell that a row waits for what is not visible, until this moment at the latest.
    Tell(JobId, Duration),
}

/// The rows that wait, and what they wait for; instants are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Default)]
pub(in crate::run) struct ReferenceLag {
    waiting: BTreeMap<JobId, Waiting>,
    alike: HashMap<RefusalShape, Alike>,
    awaited: BTreeMap<JobId, Awaited>,
    /// When there may be something to do next.
    wake: Option<Duration>,
}

/// A row that was refused, on its way to those that wait.
#[derive(Debug)]
pub(in crate::run) struct Refused {
    pub(in crate::run) rejection: Rejection,
    /// The records not known to be visible, whether a look-up can tell, and from when on they are no longer young.
    pub(in crate::run) unproved: Vec<(Reference, bool, Duration)>,
    pub(in crate::run) missed: bool,
    pub(in crate::run) counted: bool,
}

impl ReferenceLag {
    /// A row waits from now on.
    pub(in crate::run) fn wait(
        &mut self,
        job: JobId,
        shape: RefusalShape,
        sheet: SheetId,
        refused: Refused,
        now: Duration,
    ) {
        self.wake = Some(Duration::ZERO);
        let Refused { rejection, unproved, missed, counted } = refused;
        let references = unproved.iter().map(|(reference, ..)| reference.job).collect();
        for (reference, is_usable, until) in unproved {
            let job = reference.job;
            let look = if is_usable { Look::Due(now, reference) } else { Look::Impossible };
            self.awaited.entry(job).or_insert(Awaited { look, looks: 0, until });
        }
        let alike = self
            .alike
            .entry(shape.clone())
            .or_insert_with(|| Alike { due: now + FIRST_WAIT, ..Alike::default() });
        if alike.probe == Some(job) {
            // A probe below a record that no look-up can find.
            alike.probe = None;
            alike.accepted = false;
            alike.refused += 1;
            alike.due = now + wait_after(alike.refused);
        }
        let told = false;
        self.waiting
            .insert(job, Waiting { shape, sheet, unproved: references, missed, rejection, counted, told });
    }

    /// The record of a job is visible.
    pub(in crate::run) fn on_visible(&mut self, reference: JobId) {
        if self.awaited.remove(&reference).is_some() {
            self.wake = Some(Duration::ZERO);
            for waiting in self.waiting.values_mut() {
                waiting.unproved.remove(&reference);
            }
        }
    }

    /// A look did not find the record of a job, or told nothing.
    pub(in crate::run) fn on_not_visible(&mut self, reference: JobId, found_nothing: bool, now: Duration) {
        self.wake = Some(Duration::ZERO);
        if let Some(awaited) = self.awaited.get_mut(&reference)
            && let Look::UnderWay(lookup) = &awaited.look
        {
            awaited.look = Look::Due(now + wait_after(awaited.looks), lookup.clone());
            awaited.looks += 1;
        }
        if found_nothing {
            self.miss(reference);
        }
    }

    /// No look-up finds the record of a job.
    pub(in crate::run) fn on_no_lookup(&mut self, reference: JobId) {
        self.wake = Some(Duration::ZERO);
        if let Some(awaited) = self.awaited.get_mut(&reference) {
            awaited.look = Look::Impossible;
        }
        self.miss(reference);
    }

    /// What was not visible explains the refusals of these rows.
    fn miss(&mut self, reference: JobId) {
        for waiting in self.waiting.values_mut() {
            waiting.missed |= waiting.unproved.contains(&reference);
        }
    }

    /// A row has its answer, accepted or refused as before. When it was the probe of others, that settles theirs too.
    pub(in crate::run) fn probed(&mut self, job: JobId, accepted: bool) {
        let Some(waiting) = self.waiting.get(&job) else { return };
        let alike = self.alike.get_mut(&waiting.shape).filter(|alike| alike.probe == Some(job));
        if let Some(alike) = alike {
            alike.accepted = accepted;
            alike.refused = if accepted { 0 } else { alike.refused + 1 };
        }
        self.forget(job);
    }

    /// A job is no longer in memory.
    pub(in crate::run) fn forget(&mut self, job: JobId) {
        let Some(Waiting { shape, .. }) = self.waiting.remove(&job) else { return };
        self.wake = Some(Duration::ZERO);
        if let Some(alike) = self.alike.get_mut(&shape)
            && alike.probe == Some(job)
        {
            alike.probe = None;
        }
    }

    /// Whether a row was refused and waits, or is sent again.
    pub(in crate::run) fn has(&self, job: JobId) -> bool {
        self.waiting.contains_key(&job)
    }

    /// Whether the refusal of a row that waits was counted.
    pub(in crate::run) fn is_counted(&self, job: JobId) -> bool {
        self.waiting.get(&job).is_some_and(|waiting| waiting.counted)
    }

    /// Whether enough rows of a sheet wait.
    pub(in crate::run) fn is_full(&self, sheet: SheetId) -> bool {
        let of_sheet = self.waiting.values().filter(|waiting| waiting.sheet == sheet);
        of_sheet.take(WAITING_AT_ONCE).count() == WAITING_AT_ONCE
    }

    /// Whether no row waits.
    pub(in crate::run) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// When there may be something to do, whatever happens meanwhile.
    pub(in crate::run) fn next_due(&self) -> Option<Duration> {
        self.wake
    }

    /// What is to be done now.
    pub(in crate::run) fn steps(&mut self, now: Duration) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.wake.is_none_or(|wake| wake > now) {
            return steps;
        }
        self.drop_unneeded();
        let old: Vec<JobId> =
            self.awaited.iter().filter(|(_, awaited)| awaited.until <= now).map(|(job, _)| *job).collect();
        for reference in old {
            self.miss(reference);
            self.on_visible(reference);
        }
        let mut wake = self.awaited.values().map(|awaited| awaited.until).min();
        for awaited in self.awaited.values_mut() {
            match &awaited.look {
                Look::Due(at, reference) if *at <= now => {
                    steps.push(Step::Look(reference.clone()));
                    awaited.look = Look::UnderWay(reference.clone());
                }
                Look::Due(at, _) => wake = wake.map(|wake| wake.min(*at)),
                Look::UnderWay(_) | Look::Impossible => {}
            }
        }
        let mut settled = Vec::new();
        for (&job, waiting) in &mut self.waiting {
            let Some(alike) = self.alike.get_mut(&waiting.shape).filter(|alike| alike.probe != Some(job))
            else {
                continue;
            };
            let blind = |reference: &JobId| {
                self.awaited.get(reference).is_some_and(|awaited| matches!(awaited.look, Look::Impossible))
            };
            if waiting.unproved.is_empty() {
                if !waiting.missed || (!alike.accepted && alike.refused >= PROBES) {
                    let (rejection, counted) = (waiting.rejection.clone(), waiting.counted);
                    steps.push(Step::Reject { job, rejection, counted });
                    settled.push(job);
                } else if alike.accepted {
                    steps.push(Step::Send(job));
                    settled.push(job);
                } else if alike.probe.is_none() {
                    alike.probe = Some(job);
                    steps.push(Step::Send(job));
                }
                continue;
            }
            if waiting.missed && !waiting.told {
                waiting.told = true;
                let until = waiting.unproved.iter().filter_map(|reference| self.awaited.get(reference));
                steps.extend(until.map(|awaited| awaited.until).max().map(|until| Step::Tell(job, until)));
            }
            if alike.probe.is_none() && waiting.unproved.iter().all(blind) {
                if alike.due <= now {
                    alike.probe = Some(job);
                    steps.push(Step::Send(job));
                } else {
                    wake = wake.map(|wake| wake.min(alike.due));
                }
            }
        }
        for job in settled {
            self.forget(job);
        }
        self.wake = wake;
        steps
    }

    /// Drops what no row waits for any more.
    fn drop_unneeded(&mut self) {
        let waiting = &self.waiting;
        self.alike.retain(|shape, _| waiting.values().any(|waiting| waiting.shape == *shape));
        self.awaited.retain(|job, _| waiting.values().any(|waiting| waiting.unproved.contains(job)));
    }
}

/// The wait after a look or a probe in vain, when so many were before it.
fn wait_after(times: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << times.min(16)).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::RemoteId;

    const SITE: JobId = JobId(100);
    const START: Duration = Duration::from_secs(10);
    const UNTIL: Duration = Duration::from_secs(70);

    fn seconds(seconds: u64) -> Duration {
        START + Duration::from_secs(seconds)
    }

    fn site() -> Reference {
        let id = RemoteId::from_u128(7);
        Reference { job: SITE, id, lookup: crate::service::Lookup::Site(id) }
    }

    fn rejection(job: JobId) -> Rejection {
        Rejection { code: "noDataFound".into(), message: format!("row {job}"), violations: vec![] }
    }

    /// A row is refused below a site; `is_usable` when a look-up can tell of that.
    fn refuse(reference_lag: &mut ReferenceLag, job: i64, is_usable: bool, now: Duration) {
        let job = JobId(job);
        let shape = RefusalShape(Operation::AddDevice, "noDataFound".into());
        let missed = !is_usable;
        let unproved = vec![(site(), is_usable, UNTIL)];
        let refused = Refused { rejection: rejection(job), unproved, missed, counted: false };
        reference_lag.wait(job, shape, SheetId(1), refused, now);
    }

    /// Rows that wait for the first look, which is under way.
    fn looking(rows: i64) -> ReferenceLag {
        let mut reference_lag = ReferenceLag::default();
        for job in 1..=rows {
            refuse(&mut reference_lag, job, true, START);
        }
        assert_eq!(reference_lag.steps(START), [Step::Look(site())], "one look for all");
        assert_eq!(reference_lag.steps(START), []);
        reference_lag
    }

    fn rejected(steps: &[Step]) -> Vec<i64> {
        steps
            .iter()
            .map(|step| match step {
                Step::Reject { job, rejection: answer, .. } => {
                    assert_eq!(*answer, rejection(*job), "its own answer");
                    job.0
                }
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn rows_below_a_record_that_is_there_are_rejected_on_the_answers_they_have() {
        let mut reference_lag = looking(3);
        reference_lag.on_visible(SITE);
        assert_eq!(rejected(&reference_lag.steps(START)), [1, 2, 3]);
        assert!(reference_lag.is_empty() && reference_lag.steps(seconds(100)).is_empty());
    }

    #[test]
    fn a_record_that_is_not_there_yet_is_looked_for_at_growing_distances_and_its_rows_are_told_of() {
        let mut reference_lag = looking(1);
        let mut at = Vec::new();
        reference_lag.on_not_visible(SITE, true, START);
        let mut now = START;
        assert_eq!(reference_lag.steps(now), [Step::Tell(JobId(1), UNTIL)]);
        while at.len() < 5 {
            now = reference_lag.next_due().expect("a moment to look again");
            assert_eq!(reference_lag.steps(now), [Step::Look(site())]);
            reference_lag.on_not_visible(SITE, true, now);
            assert_eq!(reference_lag.steps(now), []);
            at.push((now - START).as_secs());
        }
        assert_eq!(at, [1, 3, 7, 15, 31]);
    }

    #[test]
    fn once_it_is_there_one_row_probes_and_when_it_is_accepted_the_others_follow() {
        let mut reference_lag = looking(4);
        reference_lag.on_not_visible(SITE, true, START);
        reference_lag.steps(START);
        reference_lag.on_visible(SITE);
        assert_eq!(reference_lag.steps(seconds(1)), [Step::Send(JobId(1))]);
        assert_eq!(reference_lag.steps(seconds(1)), [], "the others wait for it");
        reference_lag.probed(JobId(1), true);
        assert_eq!(reference_lag.steps(seconds(1)), [2, 3, 4].map(|job| Step::Send(JobId(job))));
        assert!(reference_lag.is_empty());
    }

    #[test]
    fn three_probes_refused_although_all_is_there_speak_for_the_others() {
        let mut reference_lag = looking(6);
        reference_lag.on_not_visible(SITE, true, START);
        reference_lag.steps(START);
        reference_lag.on_visible(SITE);
        for job in 1..=3 {
            assert_eq!(reference_lag.steps(seconds(1)), [Step::Send(JobId(job))]);
            reference_lag.probed(JobId(job), false);
        }
        assert_eq!(rejected(&reference_lag.steps(seconds(1))), [4, 5, 6]);
    }

    #[test]
    fn a_probe_that_does_not_come_home_with_an_answer_is_followed_by_another() {
        let mut reference_lag = looking(2);
        reference_lag.on_not_visible(SITE, true, START);
        reference_lag.steps(START);
        reference_lag.on_visible(SITE);
        assert_eq!(reference_lag.steps(seconds(1)), [Step::Send(JobId(1))]);
        reference_lag.forget(JobId(1));
        assert_eq!(reference_lag.steps(seconds(1)), [Step::Send(JobId(2))]);
    }

    #[test]
    fn what_no_look_up_can_tell_of_is_probed_by_one_row_at_growing_distances_while_it_is_young() {
        let mut reference_lag = ReferenceLag::default();
        for job in 1..=4 {
            refuse(&mut reference_lag, job, false, START);
        }
        let told = [1, 2, 3, 4].map(|job| Step::Tell(JobId(job), UNTIL));
        assert_eq!(reference_lag.steps(START), told);
        let mut at = Vec::new();
        for _ in 0..5 {
            let now = reference_lag.next_due().expect("a moment to probe");
            assert_eq!(reference_lag.steps(now), [Step::Send(JobId(1))]);
            at.push((now - START).as_secs());
            refuse(&mut reference_lag, 1, false, now);
            reference_lag.steps(now);
        }
        assert_eq!(at, [1, 3, 7, 15, 31]);
        // It is young no longer: the last probe speaks for all.
        let now = UNTIL;
        let steps = reference_lag.steps(now);
        assert_eq!(rejected(&steps), [1, 2, 3, 4], "five probes were refused");
    }

    #[test]
    fn a_record_that_never_shows_is_probed_for_once_it_is_no_longer_young() {
        let mut reference_lag = looking(2);
        reference_lag.on_not_visible(SITE, true, START);
        assert_eq!(reference_lag.steps(UNTIL), [Step::Send(JobId(1))]);
        reference_lag.probed(JobId(1), false);
        assert_eq!(reference_lag.steps(UNTIL), [Step::Send(JobId(2))]);
    }

    #[test]
    fn a_sheet_is_full_with_eight_rows_that_wait() {
        let mut reference_lag = looking(7);
        assert!(!reference_lag.is_full(SheetId(1)));
        refuse(&mut reference_lag, 8, true, START);
        assert!(reference_lag.is_full(SheetId(1)) && !reference_lag.is_full(SheetId(2)));
    }
}

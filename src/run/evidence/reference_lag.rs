//! Rows refused with `noDataFound` while a record that they refer to was created moments ago: does the service not show
//! that record yet (its checks lag behind), or is a cell of the row wrong?
//!
//! The record is looked up, which costs no quota. When it is there, the row is rejected on the answer it has. When it is not
//! there yet, the row waits until it is, and of all rows refused alike one probes, that is, is sent again. When the
//! probe is accepted, those behind it are sent again as well; when a few probes are refused although everything they
//! refer to is there, those behind them are rejected on the answers they have. A record that no look-up can find is waited
//! for with probes only, at growing distances, until it is no longer young.
//!
//! The dispatcher sends, looks up and rejects by these rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::lookups::{self, ReferencedRecord};
use super::question::LookupAnswer;
use super::recent_creations::RecentCreations;
use crate::journal::Work;
use crate::model::id::{JobId, RemoteId, SheetId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::verdict::Rejection;
use crate::run::rejection_shape::rejection_shape;

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
type Shape = (Operation, String);

/// A row that was refused and waits.
#[derive(Debug)]
struct Waiting {
    shape: Shape,
    sheet: SheetId,
    /// Records it refers to that are not known to be visible.
    unproved: BTreeSet<JobId>,
    /// Whether one of them was not visible when the row was sent: the refusal may be due to that.
    missed: bool,
    rejection: Rejection,
    /// Whether the refusal counts towards the pause of its sheet already.
    counted: bool,
    /// Whether it was reported that the row waits.
    reported: bool,
}

/// Rows refused alike.
#[derive(Debug, Default)]
struct RefusedAlike {
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
    lookup: VisibilityLookup,
    /// Looks that did not find it.
    lookups: u32,
    /// From when on it is no longer young.
    until: Duration,
}

/// How it is found out whether a record is visible.
#[derive(Debug)]
enum VisibilityLookup {
    /// By this one, at this moment.
    Due(Duration, ReferencedRecord),
    /// By this one, which is under way.
    UnderWay(ReferencedRecord),
    /// No look-up can tell.
    Impossible,
}

/// What is to be done about a row or a record now.
#[derive(Debug, PartialEq)]
pub(in crate::run) enum LagStep {
    /// Look whether a record is visible.
    LookUp(ReferencedRecord),
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
    created: RecentCreations,
    waiting: BTreeMap<JobId, Waiting>,
    alike: HashMap<Shape, RefusedAlike>,
    awaited: BTreeMap<JobId, Awaited>,
    /// When there may be something to do next.
    wake: Option<Duration>,
}

/// A row that was refused, on its way to those that wait.
#[derive(Debug)]
pub(in crate::run) struct RefusedRow {
    pub(in crate::run) rejection: Rejection,
    /// The records not known to be visible, whether a look-up can tell, and from when on they are no longer young.
    pub(in crate::run) unproved: Vec<(ReferencedRecord, bool, Duration)>,
    pub(in crate::run) missed: bool,
    pub(in crate::run) counted: bool,
}

impl RefusedRow {
    /// Whether the refusal counts at once: where no look-up can tell, it may take a minute until it is final.
    pub(in crate::run) fn counts_at_once(&self) -> bool {
        !self.counted && self.unproved.iter().any(|(_, is_usable, _)| !is_usable)
    }

    /// When the last record that the row refers to is no longer young.
    pub(in crate::run) fn until(&self) -> Option<Duration> {
        self.unproved.iter().map(|(.., until)| *until).max()
    }
}

impl ReferenceLag {
    /// The record of a row is confirmed, made or adopted.
    pub(in crate::run) fn on_created(&mut self, work: &Work, now: Duration) {
        self.created.confirm(work.job, now);
        // One that was in doubt may have been made long before.
        if work.kind == Kind::Company && !work.doubted && !work.executed {
            self.created.add_company(work.job, now);
        }
    }

    /// Whether a company was made by this run so lately that nothing is below it but what is ours.
    pub(in crate::run) fn has_company(&self, job: JobId, now: Duration) -> bool {
        self.created.has_company(job, now)
    }

    /// This machine may have slept: nobody can say how long ago the companies were made.
    pub(in crate::run) fn forget_companies(&mut self) {
        self.created.forget_companies();
    }

    /// Forgets the records that were no longer young at a moment, when every request that is unanswered left then or later.
    pub(in crate::run) fn forget_records_until(&mut self, moment: Duration) {
        self.created.forget_until(moment);
    }

    /// Whether one of the records that a row refers to was made so lately that what belongs to it may not be listed yet.
    pub(in crate::run) fn is_below_young(&self, work: &Work, now: Duration) -> bool {
        let own = work.remote_id.map(|_| work.job);
        let above = work.parents.iter().map(|(_, parent)| *parent);
        above.chain(own).any(|job| self.created.is_young(job, now))
    }

    /// A row that left at `sent_at` was refused with `noDataFound`: what it waits for, when a record it refers to may not
    /// be visible yet.
    pub(in crate::run) fn on_refused(
        &self,
        work: &Work,
        rejection: &Rejection,
        sent_at: Duration,
        usable: &dyn Fn(Operation) -> bool,
    ) -> Option<RefusedRow> {
        let named = rejection.message.to_lowercase();
        let mut missed = false;
        let mut unproved = Vec::new();
        for reference in lookups::references(work) {
            let Some(until) = self.created.unproved(reference.job, sent_at) else { continue };
            // It was not visible then, whatever it is now.
            missed |= self.created.is_late(reference.job) || named.contains(&reference.id.to_string());
            if !self.created.is_shown(reference.job) {
                let is_usable = usable(reference.lookup.operation());
                missed |= !is_usable;
                unproved.push((reference, is_usable, until));
            }
        }
        let waits = missed || !unproved.is_empty();
        let counted = self.is_counted(work.job);
        waits.then(|| RefusedRow { rejection: rejection.clone(), unproved, missed, counted })
    }

    /// A row was accepted: what its step refers to is visible.
    pub(in crate::run) fn on_accepted(&mut self, work: &Work, now: Duration) {
        for reference in lookups::references(work) {
            self.on_visible(reference.job, now);
        }
    }

    /// A look whether a record is visible has been read.
    pub(in crate::run) fn on_answer(
        &mut self,
        reference: JobId,
        id: RemoteId,
        answer: LookupAnswer,
        now: Duration,
    ) {
        match answer {
            LookupAnswer::Records(found) if found.iter().any(|found| found.id == Some(id)) => {
                self.on_visible(reference, now);
            }
            LookupAnswer::Records(_) => {
                self.created.note_late(reference);
                self.on_not_visible(reference, true, now);
            }
            LookupAnswer::Failed(_) => self.on_not_visible(reference, false, now),
            LookupAnswer::Inconclusive(_) | LookupAnswer::Unavailable => self.on_no_lookup(reference),
        }
    }

    /// Whether a row may be refused because a record it refers to is not visible yet.
    pub(in crate::run) fn may_be_refused(&self, work: &Work, now: Duration) -> bool {
        let references = lookups::references(work);
        references.iter().any(|reference| self.created.unproved(reference.job, now).is_some())
    }

    /// It is on disk that a row was refused and put off: it waits from now on.
    pub(in crate::run) fn wait(&mut self, work: &Work, mut refused: RefusedRow, now: Duration) {
        // A look may have been read while this was written.
        refused.missed |= refused.unproved.iter().any(|(reference, ..)| self.created.is_late(reference.job));
        refused.unproved.retain(|(reference, ..)| !self.created.is_shown(reference.job));
        let shape = (work.operation, rejection_shape(&refused.rejection, &work.name));
        self.add(work.job, shape, work.sheet, refused, now);
    }

    fn add(&mut self, job: JobId, shape: Shape, sheet: SheetId, refused: RefusedRow, now: Duration) {
        self.wake = Some(Duration::ZERO);
        let RefusedRow { rejection, unproved, missed, counted } = refused;
        let references = unproved.iter().map(|(reference, ..)| reference.job).collect();
        for (reference, is_usable, until) in unproved {
            let job = reference.job;
            let lookup =
                if is_usable { VisibilityLookup::Due(now, reference) } else { VisibilityLookup::Impossible };
            self.awaited.entry(job).or_insert(Awaited { lookup, lookups: 0, until });
        }
        let alike = self
            .alike
            .entry(shape.clone())
            .or_insert_with(|| RefusedAlike { due: now + FIRST_WAIT, ..RefusedAlike::default() });
        if alike.probe == Some(job) {
            // A probe below a record that no look-up can find.
            alike.probe = None;
            alike.accepted = false;
            alike.refused += 1;
            alike.due = now + wait_after(alike.refused);
        }
        let reported = false;
        self.waiting.insert(
            job,
            Waiting { shape, sheet, unproved: references, missed, rejection, counted, reported },
        );
    }

    /// The record of a job is visible.
    fn on_visible(&mut self, reference: JobId, now: Duration) {
        self.created.show(reference, now);
        self.await_no_more(reference);
    }

    /// No row waits for the record of a job any more.
    fn await_no_more(&mut self, reference: JobId) {
        if self.awaited.remove(&reference).is_some() {
            self.wake = Some(Duration::ZERO);
            for waiting in self.waiting.values_mut() {
                waiting.unproved.remove(&reference);
            }
        }
    }

    /// A look did not find the record of a job, or reported nothing.
    fn on_not_visible(&mut self, reference: JobId, found_nothing: bool, now: Duration) {
        self.wake = Some(Duration::ZERO);
        if let Some(awaited) = self.awaited.get_mut(&reference)
            && let VisibilityLookup::UnderWay(lookup) = &awaited.lookup
        {
            awaited.lookup = VisibilityLookup::Due(now + wait_after(awaited.lookups), lookup.clone());
            awaited.lookups += 1;
        }
        if found_nothing {
            self.miss(reference);
        }
    }

    /// No look-up finds the record of a job.
    fn on_no_lookup(&mut self, reference: JobId) {
        self.wake = Some(Duration::ZERO);
        if let Some(awaited) = self.awaited.get_mut(&reference) {
            awaited.lookup = VisibilityLookup::Impossible;
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
    pub(in crate::run) fn steps(&mut self, now: Duration) -> Vec<LagStep> {
        let mut steps = Vec::new();
        if self.wake.is_none_or(|wake| wake > now) {
            return steps;
        }
        self.drop_unneeded();
        let old: Vec<JobId> =
            self.awaited.iter().filter(|(_, awaited)| awaited.until <= now).map(|(job, _)| *job).collect();
        for reference in old {
            self.miss(reference);
            self.await_no_more(reference);
        }
        let mut wake = self.awaited.values().map(|awaited| awaited.until).min();
        for awaited in self.awaited.values_mut() {
            match &awaited.lookup {
                VisibilityLookup::Due(at, reference) if *at <= now => {
                    steps.push(LagStep::LookUp(reference.clone()));
                    awaited.lookup = VisibilityLookup::UnderWay(reference.clone());
                }
                VisibilityLookup::Due(at, _) => wake = wake.map(|wake| wake.min(*at)),
                VisibilityLookup::UnderWay(_) | VisibilityLookup::Impossible => {}
            }
        }
        let mut settled = Vec::new();
        for (&job, waiting) in &mut self.waiting {
            let Some(alike) = self.alike.get_mut(&waiting.shape).filter(|alike| alike.probe != Some(job))
            else {
                continue;
            };
            let blind = |reference: &JobId| {
                self.awaited
                    .get(reference)
                    .is_some_and(|awaited| matches!(awaited.lookup, VisibilityLookup::Impossible))
            };
            if waiting.unproved.is_empty() {
                if !waiting.missed || (!alike.accepted && alike.refused >= PROBES) {
                    let (rejection, counted) = (waiting.rejection.clone(), waiting.counted);
                    steps.push(LagStep::Reject { job, rejection, counted });
                    settled.push(job);
                } else if alike.accepted {
                    steps.push(LagStep::Send(job));
                    settled.push(job);
                } else if alike.probe.is_none() {
                    alike.probe = Some(job);
                    steps.push(LagStep::Send(job));
                }
                continue;
            }
            if waiting.missed && !waiting.reported {
                waiting.reported = true;
                let until = waiting.unproved.iter().filter_map(|reference| self.awaited.get(reference));
                steps.extend(until.map(|awaited| awaited.until).max().map(|until| LagStep::Tell(job, until)));
            }
            if alike.probe.is_none() && waiting.unproved.iter().all(blind) {
                if alike.due <= now {
                    alike.probe = Some(job);
                    steps.push(LagStep::Send(job));
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
mod tests;

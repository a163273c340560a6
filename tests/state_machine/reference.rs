//! The reference: the life of jobs as it is promised, in memory and in the plainest words, to hold the journal
//! against.
//!
//! It is not made from the journal's code. Above all, what the fate of one job means for those below it is not a
//! matter of transitions here: after everything that happens, [`Reference::settle_below`] puts every job that waits
//! where its parents say it belongs.

mod job;

use std::collections::{BTreeMap, BTreeSet};

use fleetload::model::state::JobState::{
    self, Adopted, Blocked, Cancelled, Created, Deferred, Done, Existing, Held, InDoubt, Incomplete, Ready,
    Rejected, Sending, Skipped,
};

pub(crate) use job::{Job, Values};

use fleetload::model::verdict::Execution;

use crate::operations::{How, What};

/// How many deaths of the process in the middle of it a row may have.
const DEATHS: u32 = 3;

/// A record of the service, by a small number.
pub(crate) type Record = u128;

/// A job that left a state, or a step.
pub(crate) type Move = (usize, JobState, JobState);

/// What the reference says to something: the jobs that move, or that it must be refused.
pub(crate) type Answer = Option<BTreeSet<Move>>;

/// A request that counts against the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Creation {
    pub(crate) job: usize,
    /// The step it was sent for: how often the job had come to another step before.
    pub(crate) step: usize,
    pub(crate) day: i64,
    /// What is known of it; nothing while it is under way.
    pub(crate) known: Option<Execution>,
    /// Whether it was found to be executed after all.
    pub(crate) found: bool,
}

/// What a cancellation did: given up, skipped, under way or in doubt, held.
pub(crate) type GivenUp = (u64, u64, u64, u64);

/// What a person decides of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Created(Record),
    NotCreated,
    Abandon,
}

/// What a row of an import did to the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    New(usize),
    Revised(usize),
    Recognised(usize),
    ChangedSince(usize),
    /// New values for a job that must not have any.
    Refused,
}

/// All jobs of a journal, numbered from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) jobs: BTreeMap<usize, Job>,
    /// In the order they left.
    pub(crate) creations: Vec<Creation>,
    pub(crate) ceilings: BTreeMap<i64, u64>,
    /// The job of each row of each import.
    pub(crate) imports: Vec<Vec<usize>>,
}

/// The states that something may happen in.
pub(crate) fn allowed(what: &What) -> &'static [JobState] {
    match what {
        What::Claim { .. } | What::Leave { .. } | What::Postpone { .. } => &[Ready, Deferred],
        What::Advance { .. } => &[Ready, Deferred, Sending, InDoubt, Held],
        What::Reject | What::Hold { .. } => &[Ready, Deferred, Sending, InDoubt],
        What::Defer { .. } | What::Return | What::Doubt { .. } => &[Sending],
        What::KeepDoubting { .. } | What::Release => &[InDoubt],
        What::Ceiling { .. } => &[],
    }
}

/// Whether a request that ended so may have been carried out.
fn may_be_made(execution: Execution) -> bool {
    matches!(execution, Execution::Confirmed | Execution::Doubtful)
}

impl Reference {
    /// Puts every job that waits for others where they say it belongs, and tells which ones moved.
    fn settle_below(&mut self) -> BTreeSet<Move> {
        let before: BTreeMap<usize, JobState> = self.jobs.iter().map(|(&job, it)| (job, it.state)).collect();
        loop {
            let mut quiet = true;
            for number in self.jobs.keys().copied().collect::<Vec<_>>() {
                let job = &self.jobs[&number];
                // What is about a record waits for all that its own row puts on it.
                let maker = job.values.parents.first().filter(|_| !job.values.makes_a_record());
                let is_open = |job: &Job| job.record.is_some() && !job.state.is_final();
                let waits = maker.is_some_and(|maker| is_open(&self.jobs[maker]));
                let may_move = matches!(job.state, Blocked | Skipped) || (waits && job.state == Ready);
                if !may_move {
                    continue;
                }
                let unmade: Vec<JobState> = job
                    .values
                    .parents
                    .iter()
                    .map(|parent| &self.jobs[parent])
                    .filter(|parent| parent.record.is_none())
                    .map(|parent| parent.state)
                    .collect();
                let state = if unmade.iter().any(|state| matches!(state, Rejected | Skipped | Cancelled)) {
                    Skipped
                } else if unmade.is_empty() && !waits {
                    Ready
                } else {
                    Blocked
                };
                if state != job.state {
                    self.job(number).state = state;
                    quiet = false;
                }
            }
            if quiet {
                break;
            }
        }
        let moves = self.jobs.iter().map(|(&job, it)| (job, before[&job], it.state));
        moves.filter(|(_, from, to)| from != to).collect()
    }

    fn job(&mut self, number: usize) -> &mut Job {
        self.jobs.get_mut(&number).expect("the reference is asked about jobs that are there")
    }

    /// The job that owns a record. Ids are never given twice, whatever the kind.
    fn owner(&self, record: Record) -> Option<usize> {
        self.jobs.iter().find(|(_, job)| job.record == Some(record)).map(|(&job, _)| job)
    }

    /// The job of a row.
    pub(crate) fn of_row(&self, row: u8) -> Option<usize> {
        self.jobs.iter().find(|(_, job)| job.values.row == row).map(|(&job, _)| job)
    }

    /// Moves one job by hand and the others after it.
    fn go(&mut self, number: usize, to: JobState) -> Answer {
        let job = self.job(number);
        let from = std::mem::replace(&mut job.state, to);
        if matches!(to, Ready | Deferred) && job.to_cancel {
            job.cancel();
        }
        let to = job.state;
        let mut moves = self.settle_below();
        moves.insert((number, from, to));
        Some(moves)
    }

    /// A write to a job believed to be in `from`.
    pub(crate) fn write(
        &mut self,
        number: usize,
        from: JobState,
        (what, execution): (&What, Execution),
        now: i64,
    ) -> Answer {
        let (state, at) = self.jobs.get(&number).map(|job| (job.state, job.at))?;
        if !allowed(what).contains(&state) || (what.names_its_state() && from != state) {
            return None;
        }
        if matches!(what, What::Doubt { .. }) && may_be_made(execution) {
            self.job(number).forget_ruled_out();
        }
        let answer = self.change(number, what, now);
        if answer.is_some() {
            match what {
                // Held instead, as the record is another job's: nothing was found.
                _ if state == Sending => self.come_home(number, execution),
                What::Advance { how: How::Created | How::Adopted | How::Done, .. }
                    if self.jobs[&number].state != Held =>
                {
                    self.find(number, at);
                }
                _ => {}
            }
        }
        answer
    }

    /// The creation under way has ended.
    fn come_home(&mut self, number: usize, execution: Execution) {
        self.job(number).ruled_out &= !may_be_made(execution);
        let under_way = |it: &&mut Creation| it.job == number && it.known.is_none();
        if let Some(it) = self.creations.iter_mut().find(under_way) {
            it.known = Some(execution);
        }
    }

    /// What the step of a job makes was found: one of its doubtful creations was executed, unless another one made it,
    /// which the service has confirmed. If they left on several days, nobody knows which.
    fn find(&mut self, number: usize, step: usize) {
        let made =
            |it: &Creation| it.job == number && it.step == step && it.known == Some(Execution::Confirmed);
        if self.creations.iter().any(made) {
            return;
        }
        let mut doubtful: Vec<&mut Creation> = self
            .creations
            .iter_mut()
            .filter(|it| it.job == number && it.step == step && it.known == Some(Execution::Doubtful))
            .collect();
        let day = doubtful.first().map(|it| it.day);
        if doubtful.iter().all(|it| Some(it.day) == day)
            && let Some(it) = doubtful.first_mut()
        {
            it.found = true;
        }
    }

    /// A day of the ledger: sent, confirmed, refused, doubtful.
    pub(crate) fn ledger(&self, day: i64) -> (u64, u64, u64, u64) {
        let count = |holds: fn(&Creation) -> bool| {
            self.creations.iter().filter(|it| it.day == day && holds(it)).count() as u64
        };
        (
            count(|it| it.known != Some(Execution::NotExecuted)),
            count(|it| it.found || it.known == Some(Execution::Confirmed)),
            count(|it| it.known == Some(Execution::Refused)),
            count(|it| !it.found && it.known == Some(Execution::Doubtful)),
        )
    }

    /// The ceiling learned last that no later day proves wrong.
    pub(crate) fn latest_ceiling(&self) -> Option<u64> {
        let proved_wrong = |day: i64, ceiling: u64| {
            let days: BTreeSet<i64> = self.creations.iter().map(|it| it.day).collect();
            days.into_iter().any(|later| {
                let (_, confirmed, refused, _) = self.ledger(later);
                later >= day && confirmed + refused > ceiling
            })
        };
        let known = self.ceilings.iter().rev().map(|(&day, &ceiling)| (day, ceiling));
        // That others have spent a quota teaches nothing.
        let mut known = known.filter(|(_, ceiling)| *ceiling > 0);
        known.find(|&(day, ceiling)| !proved_wrong(day, ceiling)).map(|(_, ceiling)| ceiling)
    }

    fn change(&mut self, number: usize, what: &What, now: i64) -> Answer {
        match what {
            What::Claim { right_operation, content, baseline, counted } => {
                if !right_operation || *content == Some(false) {
                    return None;
                }
                let job = self.job(number);
                let counted = counted.filter(|_| job.operation().creates());
                job.due = None;
                job.sent_ever += 1;
                job.first_sent.get_or_insert(now);
                if !(job.doubted && job.baseline.is_some()) {
                    let seen = baseline.iter().map(|ids| ids.iter().map(|&id| Record::from(id)));
                    let known = job.baseline.take().unwrap_or_default();
                    job.baseline = seen.map(|seen| known.iter().copied().chain(seen).collect()).next();
                }
                if let Some(day) = counted {
                    let (step, day) = (job.at, i64::from(day));
                    self.creations.push(Creation { job: number, step, day, known: None, found: false });
                }
                self.go(number, Sending)
            }
            What::Advance { how, id } => self.finish(number, *how, *id),
            What::Leave { .. } if !self.jobs[&number].values.makes_a_record() => None,
            What::Leave { id } => {
                let job = &self.jobs[&number];
                let taken = job.record.is_none() && self.owner(*id).is_some();
                if job.record.is_none_or(|known| known == *id) && !taken {
                    self.job(number).steps.iter_mut().for_each(|step| step.done = true);
                }
                self.finish(number, How::Existing, Some(*id))
            }
            What::Reject => {
                let job = self.job(number);
                job.due = None;
                job.code = Some("invalidData".to_owned());
                // What was made stays made.
                let to = if job.record.is_some() { Incomplete } else { Rejected };
                self.go(number, to)
            }
            What::Defer { after } => {
                let job = self.job(number);
                job.due = Some(now + after);
                self.go(number, Deferred)
            }
            What::Return => {
                self.job(number).due = None;
                self.go(number, Ready)
            }
            What::Postpone { after } => {
                self.job(number).due = Some(now + after);
                self.go(number, Deferred)
            }
            What::Doubt { executed, charged, after } => {
                let job = self.job(number);
                job.doubts += u32::from(*charged);
                job.doubted |= !executed;
                job.keep_sent();
                job.executed = *executed;
                job.absent_reads = 0;
                job.looks = 0;
                job.due = Some(now + after);
                self.go(number, InDoubt)
            }
            What::KeepDoubting { after, absent_reads } => {
                let job = self.job(number);
                job.looks += 1;
                job.absent_reads = *absent_reads;
                job.due = Some(now + after);
                self.go(number, InDoubt)
            }
            What::Release => {
                let job = self.job(number);
                if job.executed {
                    return None;
                }
                job.due = None;
                if job.absent_reads > 0 {
                    job.sent_with = None;
                }
                job.absent_reads = 0;
                job.looks = 0;
                self.go(number, Ready)
            }
            What::Hold { candidates } => {
                let job = self.job(number);
                job.due = None;
                job.code = Some("look.unsure".to_owned());
                job.candidates = candidates.iter().map(|&id| Record::from(id)).collect();
                self.go(number, Held)
            }
            What::Ceiling { .. } => unreachable!("it is about no job"),
        }
    }

    /// The step a job stands at is done.
    fn finish(&mut self, number: usize, how: How, id: Option<Record>) -> Answer {
        let job = &self.jobs[&number];
        if !job.values.makes_a_record() {
            return self.finish_upkeep(number, how, id);
        }
        match (job.record, id) {
            (None, None) => return None,
            (Some(known), Some(given)) if known != given => return None,
            (None, Some(given)) if self.owner(given).is_some() => {
                let job = self.job(number);
                job.due = None;
                job.code = Some("id.owned".to_owned());
                job.candidates = BTreeSet::from([given]);
                return self.go(number, Held);
            }
            _ => {}
        }
        let job = self.job(number);
        match job.at {
            0 => {
                job.record = id;
                let sent = job.sent_with.take();
                let is_other = sent.is_some_and(|sent| sent != job.values.of_the_record());
                if is_other && how == How::Adopted {
                    // It was made with that, which is what no row says.
                    job.values.content = String::new();
                }
                job.outcome = Some(match how {
                    How::Created => Created,
                    How::Adopted => Adopted,
                    How::Existing => Existing,
                    How::Done => Done,
                });
            }
            n => job.steps[n - 1].done = true,
        }
        job.forget_the_step();
        let to = match job.steps.iter().position(|step| !step.done) {
            Some(next) => {
                job.at = next + 1;
                Ready
            }
            None => job.outcome.expect("it has just been made, or was before its later steps"),
        };
        self.go(number, to)
    }

    /// The one step of a job that makes no record is done: it has no id to come home with.
    fn finish_upkeep(&mut self, number: usize, how: How, id: Option<Record>) -> Answer {
        let outcome = match how {
            How::Done => Done,
            How::Existing => Existing,
            How::Created | How::Adopted => return None,
        };
        if id.is_some() {
            return None;
        }
        let job = self.job(number);
        job.forget_the_step();
        job.outcome = Some(outcome);
        self.go(number, outcome)
    }

    /// The record that a job which makes none is about, where it is there.
    pub(crate) fn about(&self, number: usize) -> Option<Record> {
        let values = &self.jobs.get(&number)?.values;
        let parent = values.parents.first().and_then(|parent| self.jobs[parent].record);
        values.about.or(parent).filter(|_| !values.makes_a_record())
    }

    /// Takes a row of the import under way. With `force`, its values are given to its job whatever state that is in.
    pub(crate) fn take(&mut self, values: Values, force: bool, now: i64) -> Taken {
        let Some(number) = self.of_row(values.row) else {
            let number = self.jobs.len() + 1;
            self.jobs.insert(number, Job::new(values));
            return Taken::New(number);
        };
        let job = &self.jobs[&number];
        let may =
            matches!(job.state, Blocked | Ready | Deferred | Rejected | Incomplete | Skipped | Cancelled)
                || matches!(job.state, Done | Existing) && !job.values.makes_a_record();
        match (force, may) {
            (true, false) => return Taken::Refused,
            (true, true) => {}
            (false, _) if job.values.content == values.content => return Taken::Recognised(number),
            (false, true) => {}
            (false, false) if job.state.is_final() => return Taken::ChangedSince(number),
            (false, false) => return Taken::Recognised(number),
        }
        self.job(number).revise(values, now);
        Taken::Revised(number)
    }

    /// Ends an import with a row for each of these jobs.
    pub(crate) fn end_import(&mut self, rows: Vec<usize>) {
        self.imports.push(rows);
        self.settle_below();
    }

    /// The process ended and another one starts: how many are in doubt, how many held for good reason.
    pub(crate) fn recover(&mut self, now: i64) -> (u64, u64) {
        for it in self.creations.iter_mut().filter(|it| it.known.is_none()) {
            it.known = Some(Execution::Doubtful);
        }
        let (mut doubtful, mut held) = (0, 0);
        for job in self.jobs.values_mut().filter(|job| job.state == Sending) {
            job.deaths += 1;
            job.doubted = true;
            job.forget_ruled_out();
            job.ruled_out = false;
            job.keep_sent();
            job.doubts += 1;
            job.absent_reads = 0;
            job.looks = 0;
            if job.deaths >= DEATHS {
                job.state = Held;
                job.due = None;
                job.code = Some("poison".to_owned());
                job.candidates.clear();
                held += 1;
            } else {
                job.state = InDoubt;
                job.due = Some(now);
                doubtful += 1;
            }
        }
        (doubtful, held)
    }

    /// Rejected and incomplete jobs get another chance: how many, and how many below them.
    pub(crate) fn retry(&mut self, import: Option<usize>, code: Option<&str>) -> (u64, u64) {
        let meant = self.meant(import);
        let mut retried = 0;
        for number in meant {
            let job = self.job(number);
            if matches!(job.state, Rejected | Incomplete)
                && code.is_none_or(|code| job.code.as_deref() == Some(code))
            {
                job.reopen();
                job.state = Ready;
                retried += 1;
            }
        }
        let revived = self.settle_below().into_iter().filter(|(_, from, _)| *from == Skipped);
        (retried, revived.count() as u64)
    }

    /// A person says that the record is there with this id, not there (`None`), or gives the job up.
    pub(crate) fn resolve(&mut self, number: usize, decision: Decision) -> Answer {
        let job = self.jobs.get(&number)?;
        if !matches!(job.state, Held | InDoubt) {
            return None;
        }
        match decision {
            Decision::Created(id) if !job.values.makes_a_record() => match self.about(number) {
                Some(about) if about == id => self.finish(number, How::Done, None),
                Some(_) | None => None,
            },
            Decision::Created(id) => {
                if job.record.is_none() && self.owner(id).is_some() {
                    return None;
                }
                let at = self.jobs[&number].at;
                let answer = self.finish(number, How::Adopted, Some(id))?;
                self.find(number, at);
                Some(answer)
            }
            Decision::NotCreated => {
                let job = self.job(number);
                let ruled_out = std::mem::take(&mut job.candidates);
                if !ruled_out.is_empty() {
                    job.baseline.get_or_insert_default().extend(ruled_out);
                }
                // Of a change nothing is left of which it would not be known.
                job.doubted &= job.values.makes_a_record();
                job.ruled_out = true;
                // What was to be sent no more is cancelled, now that it is known not to be there.
                let to_cancel = job.to_cancel;
                job.reopen();
                job.to_cancel = to_cancel;
                self.go(number, Ready)
            }
            Decision::Abandon => {
                self.job(number).ruled_out = false;
                let from = self.jobs[&number].state;
                self.job(number).cancel();
                let mut moves = self.settle_below();
                moves.insert((number, from, Cancelled));
                Some(moves)
            }
        }
    }

    /// Gives up what an import has not sent; `None` when there is no such import.
    pub(crate) fn cancel(&mut self, import: usize) -> Option<GivenUp> {
        self.imports.get(import)?;
        let mut counts = (0, 0, 0, 0);
        for number in self.meant(Some(import)) {
            let comes_again = self.imports[import + 1..].iter().any(|later| later.contains(&number));
            match self.job(number).state {
                Blocked | Ready | Deferred | Rejected | Incomplete | Skipped if comes_again => {}
                Blocked | Ready | Deferred | Rejected | Incomplete | Skipped => {
                    self.job(number).cancel();
                    counts.0 += 1;
                }
                Sending | InDoubt => {
                    self.job(number).to_cancel |= !comes_again;
                    counts.2 += 1;
                }
                Held => counts.3 += 1,
                Created | Adopted | Existing | Done | Cancelled => {}
            }
        }
        counts.1 = self.settle_below().into_iter().filter(|(_, _, to)| *to == Skipped).count() as u64;
        Some(counts)
    }

    /// The jobs with a row in an import; all jobs without one.
    fn meant(&self, import: Option<usize>) -> BTreeSet<usize> {
        match import {
            Some(import) => self.imports.get(import).into_iter().flatten().copied().collect(),
            None => self.jobs.keys().copied().collect(),
        }
    }
}

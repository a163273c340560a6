//! What the journal says, compared with what the reference says: each job, the pages a run reads, the counts a report
//! shows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use fleetload::journal::Selection;
use fleetload::model::id::{ImportId, RemoteId};
use fleetload::model::kind::Kind;
use fleetload::model::operation::Operation as Call;
use fleetload::model::state::JobState;
use fleetload::model::time::{Day, Moment};

use super::{TABLES, World, id_of, number_of};
use crate::reference::{Job, Record};

impl World {
    /// What the journal says of each job is what the reference says.
    pub(crate) fn agree(&self) {
        self.jobs_agree();
        self.attempts_agree();
    }

    /// Everything else the journal says is what the reference says.
    pub(crate) fn agree_in_all(&mut self) {
        self.pages_agree();
        self.counts_agree();
        self.witnesses_agree();
        self.lanes_agree();
    }

    fn jobs_agree(&self) {
        for (&number, job) in &self.reference.jobs {
            let work = self.journal.work(id_of(number)).unwrap().expect("no job is lost");
            let record = job.record.map(RemoteId::from_u128);
            assert_eq!((work.state, work.remote_id), (job.state, record), "job {number}");
            assert_eq!(work.content_hash, job.values.content_hash(), "job {number}");
            let mut parents: Vec<usize> = work.parents.iter().map(|(_, job)| number_of(*job)).collect();
            parents.sort_unstable();
            let mut expected = job.values.parents.clone();
            expected.sort_unstable();
            assert_eq!(parents, expected, "job {number}");
            if job.state.is_final() {
                continue;
            }
            assert_eq!((work.step as usize, work.operation), (job.at, job.operation()), "job {number}");
            assert_eq!(work.deaths, job.deaths, "job {number}");
            assert_eq!((work.doubted, work.executed), (job.doubted, job.executed), "job {number}");
            assert_eq!(work.doubts, job.doubts, "job {number}");
            assert_eq!((work.absent_reads, work.looks), (job.absent_reads, job.looks), "job {number}");
            let baseline: Option<BTreeSet<Record>> =
                work.baseline.map(|ids| ids.iter().map(RemoteId::as_u128).collect());
            assert_eq!(baseline, job.baseline, "job {number}");
            assert_eq!(work.first_sent_at.map(Moment::millis), job.first_sent, "job {number}");
        }
        let extra = id_of(self.reference.jobs.len() + 1);
        assert_eq!(self.journal.work(extra).unwrap(), None);
    }

    fn witnesses_agree(&self) {
        for kind in [Kind::Company, Kind::Site, Kind::Device] {
            let found = self.journal.witness(kind, 10).unwrap();
            let found: BTreeSet<usize> = found.iter().map(|work| number_of(work.job)).collect();
            let made = |outcome| matches!(outcome, Some(JobState::Created | JobState::Adopted));
            let expected = self.numbers(|job| job.values.kind == kind && made(job.outcome));
            assert_eq!(found, expected, "what a look-up of a {} must find", kind.singular());
        }
    }

    /// The jobs for which something holds.
    fn numbers(&self, holds: impl Fn(&Job) -> bool) -> BTreeSet<usize> {
        self.reference.jobs.iter().filter(|(_, job)| holds(job)).map(|(&number, _)| number).collect()
    }

    /// The operations of the jobs there are, and one of none.
    fn operations(&self) -> Vec<Call> {
        let mut operations = vec![Call::AddPerson];
        for operation in self.reference.jobs.values().map(Job::operation) {
            if !operations.contains(&operation) {
                operations.push(operation);
            }
        }
        operations
    }

    fn lanes_agree(&self) {
        let mut lanes = BTreeSet::new();
        for job in self.reference.jobs.values() {
            // A held job needs nothing before it is decided.
            if job.state == JobState::Held {
                continue;
            }
            if !job.state.is_final() {
                lanes.insert(job.operation().name());
            }
            if !matches!(
                job.state,
                JobState::Rejected | JobState::Incomplete | JobState::Skipped | JobState::Cancelled
            ) {
                lanes.extend(job.steps.iter().filter(|step| !step.done).map(|step| step.operation.name()));
            }
        }
        let told = self.journal.lanes().unwrap();
        assert_eq!(told.iter().map(|lane| lane.name()).collect::<BTreeSet<_>>(), lanes);
    }

    fn pages_agree(&mut self) {
        let (now, moment) = (self.now, self.moment());
        let due = |job: &Job| job.due.expect("what waits knows until when");
        for lane in self.operations() {
            let page = self.journal.queue().ready(lane, moment, 50, &[]).unwrap();
            let found: Vec<usize> = page.work.iter().map(|work| number_of(work.job)).collect();
            let order = page.work.iter().map(|work| (work.import, work.job));
            assert!(order.is_sorted(), "import by import, in each the oldest first");
            let expected = self.numbers(|job| {
                job.operation() == lane
                    && (job.state == JobState::Ready || job.state == JobState::Deferred && due(job) <= now)
            });
            assert_eq!(BTreeSet::from_iter(found), expected, "{lane} at {now}");
            let waiting =
                |job: &&Job| job.state == JobState::Deferred && job.operation() == lane && due(job) > now;
            let next = self.reference.jobs.values().filter(waiting).map(due).min();
            assert_eq!(page.next_due.map(Moment::millis), next, "{lane} at {now}");
        }
        let page = self.journal.queue().doubtful(moment, 50, &[]).unwrap();
        let found = page.work.iter().map(|work| number_of(work.job)).collect::<BTreeSet<_>>();
        assert_eq!(found, self.numbers(|job| job.state == JobState::InDoubt && due(job) <= now));
        let waiting = self.reference.jobs.values();
        let waits = |job: &&Job| matches!(job.state, JobState::Deferred | JobState::InDoubt);
        let next = waiting.filter(waits).map(due).min();
        assert_eq!(self.journal.next_due().unwrap().map(Moment::millis), next);
        let held = self.journal.held(&Selection::default()).unwrap();
        let held: BTreeMap<usize, String> =
            held.into_iter().map(|held| (number_of(held.job), held.code)).collect();
        let expected = self.reference.jobs.iter().filter(|(_, job)| job.state == JobState::Held);
        let expected: BTreeMap<usize, String> =
            expected.map(|(&number, job)| (number, job.code.clone().unwrap_or_default())).collect();
        assert_eq!(held, expected);
    }

    fn counts_agree(&self) {
        // As they are written: what is under way is awaited.
        let _run = self.journal.lock_for_run().unwrap().unwrap();
        let tally = self.journal.tally(None).unwrap();
        assert_eq!(tally.total(), self.reference.jobs.len() as u64);
        for &state in JobState::ALL {
            assert_eq!(tally.in_state(state), self.numbers(|job| job.state == state).len() as u64, "{state}");
        }
        let counted = "SELECT count(*) FROM (
            SELECT first_import, kind, operation, iif(state = 'sending', 'ready', state), iif(outcome IS NULL, '', coalesce(audit, '')), made_doubted, count(*)
            FROM job GROUP BY 1, 2, 3, 4, 5, 6
            EXCEPT SELECT first_import, kind, operation, state, audit, made_doubted, jobs FROM job_count)";
        let missing: i64 =
            self.side.prepare_cached(counted).unwrap().query_row([], |row| row.get(0)).unwrap();
        assert_eq!(missing, 0, "the journal counts its jobs as they are");
        let elsewhere = "SELECT count(*) FROM job WHERE finished_at IS NULL AND last_import <>
            (SELECT import FROM sheet_row JOIN sheet ON sheet.id = place >> 32 WHERE job = job.id ORDER BY place DESC LIMIT 1)";
        let strangers: i64 =
            self.side.prepare_cached(elsewhere).unwrap().query_row([], |row| row.get(0)).unwrap();
        assert_eq!(strangers, 0, "an open job belongs to the import that named it last");
        for (index, (jobs, sheets)) in self.reference.imports.iter().zip(&self.sheets).enumerate() {
            let import = ImportId(i64::try_from(index).unwrap() + 1);
            let tally = self.journal.tally(Some(import)).unwrap();
            for &state in JobState::ALL {
                let expected = jobs.iter().filter(|job| self.reference.jobs[job].state == state).count();
                assert_eq!(tally.in_state(state), expected as u64, "{state} in import {import}");
            }
            let infos = self.journal.sheets(import).unwrap();
            let told: Vec<_> = infos.iter().map(|info| (info.sheet, info.rows)).collect();
            assert_eq!(&told, sheets);
            let requests: u64 = jobs.iter().map(|job| self.reference.jobs[job].sent_ever).sum();
            assert_eq!(self.journal.attempts(import).unwrap().requests, requests);
        }
        let latest = self.reference.latest_ceiling();
        assert_eq!(self.journal.latest_ceiling().unwrap(), latest);
        for day in 0..2 {
            let ledger = self.journal.quota(Day::from_number(day)).unwrap();
            let told = (ledger.sent, ledger.confirmed, ledger.refused, ledger.doubtful);
            assert_eq!(told, self.reference.ledger(day), "day {day}");
            let ceiling =
                self.reference.ceilings.get(&day).copied().filter(|ceiling| *ceiling > 0).or(latest);
            assert_eq!(ledger.ceiling, ceiling.filter(|&ceiling| ceiling >= ledger.used()), "day {day}");
        }
    }

    /// Exactly the jobs that are being sent have an attempt that has not ended, and it is their last one.
    fn attempts_agree(&self) {
        let count = |sql: &str| -> u32 {
            self.side.prepare_cached(sql).unwrap().query_row([], |row| row.get(0)).unwrap()
        };
        let open = count("SELECT count(*) FROM attempt WHERE ended_at IS NULL");
        let rightly = count(
            "SELECT count(*) FROM attempt JOIN job ON job.id = attempt.job
             WHERE ended_at IS NULL AND state = 'sending' AND number = attempts",
        );
        let sending = self.numbers(|job| job.state == JobState::Sending).len() as u32;
        assert_eq!((open, rightly), (sending, sending), "attempts under way");
    }

    /// All rows of all tables.
    pub(super) fn dump(&self) -> String {
        let mut text = String::new();
        for table in TABLES {
            let mut statement =
                self.side.prepare_cached(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                let values: Vec<rusqlite::types::ValueRef<'_>> =
                    (0..columns).map(|column| row.get_ref(column).unwrap()).collect();
                writeln!(text, "{table} {values:?}").unwrap();
            }
        }
        text
    }
}

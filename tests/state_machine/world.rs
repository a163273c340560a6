//! A real journal and the reference side by side: everything happens to both, and both must say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fleetload::error::Error;
use fleetload::journal::{
    self, Candidate, Disposition, Evidence, Journal, Moved, NewJob, NewRow, NewSheet, Selection, SheetId,
    Write,
};
use fleetload::model::id::{ImportId, JobId, RemoteId};
use fleetload::model::kind::Kind;
use fleetload::model::operation::Operation as Call;
use fleetload::model::record::{
    self, Address, Company, CompanyType, Device, Extra, Link, Metadata, Role, Site, Target,
};
use fleetload::model::state::JobState;
use fleetload::model::time::{Day, Moment};
use fleetload::model::verdict::{Doubt, Rejection};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::operations::{How, Operation, RowSpec, Verdict, What, WriteSpec};
use crate::reference::{Answer, Decision, Record, Reference, Taken, Values, allowed};

/// A record that no job of ours made.
const FOREIGN: Record = 9_000_000;
/// Between two operations, in milliseconds.
const TICK: i64 = 1_000;
/// Who decides.
const WHO: &str = "operator";

/// What was seen to happen: a sequence that nothing happens in proves nothing.
pub(crate) type Seen = BTreeMap<&'static str, u64>;

/// The tables of a journal that a sequence of operations writes to.
const TABLES: [&str; 13] = [
    "import",
    "import_file",
    "sheet",
    "baseline",
    "job",
    "record",
    "link",
    "step",
    "attempt",
    "sheet_row",
    "quota",
    "decision",
    "spill_taken",
];

/// See the module.
pub(crate) struct World {
    folder: TempDir,
    journal: Journal,
    /// A second look at the same file, by nothing but SQL.
    side: Connection,
    reference: Reference,
    sheets: Vec<Vec<(SheetId, u64)>>,
    now: i64,
    pub(crate) seen: Seen,
}

impl World {
    /// An empty journal, in memory where there is such a folder, since none of this is about the disk.
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder for the journal");
        let path = folder.path().join("fleetload.db");
        let journal = Journal::open(&path).expect("a new journal");
        let side = Connection::open(&path).expect("a second look at the journal");
        side.pragma_update(None, "foreign_keys", false).expect("tables are emptied in any order");
        let (reference, sheets, seen) = (Reference::default(), Vec::new(), Seen::new());
        Self { folder, journal, side, reference, sheets, now: 1_000_000, seen }
    }

    /// Begins again with nothing in the journal. The file stays: opening a new one for every sequence would take
    /// longer than the sequence.
    pub(crate) fn clear(&mut self) {
        let sql: String = TABLES.iter().map(|table| format!("DELETE FROM {table};")).collect();
        self.side.execute_batch(&format!("BEGIN IMMEDIATE; {sql} COMMIT")).expect("the tables are emptied");
        self.reference = Reference::default();
        self.sheets.clear();
        self.now = 1_000_000;
    }

    /// Lets it happen to both; panics when they differ.
    pub(crate) fn go(&mut self, operation: &Operation) {
        self.now += TICK;
        match operation {
            Operation::Import { rows, given_up } => self.import(rows, *given_up),
            Operation::Write(writes) => self.write(writes),
            Operation::Crash { spilled } => self.crash(spilled),
            Operation::Reopen => self.reopen(),
            Operation::Retry { import, code } => self.retry(*import, *code),
            Operation::Resolve { job, fitting, verdict } => self.resolve(*job, *fitting, *verdict),
            Operation::Cancel { import } => self.cancel(*import),
        }
    }

    fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn moment(&self) -> Moment {
        Moment::from_millis(self.now)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("fleetload.db")
    }

    fn reopen(&mut self) {
        self.journal = Journal::open_existing(&self.path()).expect("the journal opens again");
    }

    fn import(&mut self, rows: &[RowSpec], given_up: bool) {
        let before = self.reference.clone();
        let dump = (given_up || rows.iter().any(|row| row.force)).then(|| self.dump());
        let now = self.moment();
        let mut import = self.journal.begin_import(now).unwrap();
        import.file("rows.xlsx", "digest").unwrap();
        let mut sheets = BTreeMap::new();
        for kind in [Kind::Company, Kind::Site, Kind::Device] {
            let sheet = NewSheet {
                name: kind.singular().to_owned(),
                file: "rows.xlsx".to_owned(),
                worksheet: Some(kind.singular().to_owned()),
                kind,
                headers: vec!["name".to_owned()],
                header_row: 1,
            };
            sheets.insert(kind, (import.sheet(&sheet).unwrap(), 0_u64));
        }
        let mut taken = Vec::new();
        let mut refused = false;
        for spec in rows {
            if taken.iter().any(|&(row, _)| row == spec.row) {
                continue;
            }
            let (values, job) = row(spec, &self.reference);
            let kind = values.kind;
            let known = self.reference.of_row(spec.row);
            let took = self.reference.take(values, spec.force);
            let (number, disposition) = match took {
                Taken::New(number) => {
                    assert_eq!(import.add_job(&job).unwrap(), id_of(number));
                    (number, Disposition::New)
                }
                Taken::Revised(number) => {
                    import.revise_job(id_of(number), &job).unwrap();
                    (number, Disposition::Revised)
                }
                Taken::Refused => {
                    let known = known.expect("only what is there can be refused new values");
                    assert!(import.revise_job(id_of(known), &job).is_err(), "{spec:?} must be refused");
                    refused = true;
                    break;
                }
                Taken::Recognised(number) => (number, Disposition::Recognised),
                Taken::ChangedSince(number) => (number, Disposition::ChangedSince),
            };
            let (sheet, count) = sheets.get_mut(&kind).expect("every kind has its sheet");
            *count += 1;
            let number_in_sheet = u32::try_from(*count).unwrap() + 1;
            import
                .row(&NewRow {
                    sheet: *sheet,
                    number: number_in_sheet,
                    line: None,
                    cells: vec![job.name.clone()],
                    job: id_of(number),
                    disposition,
                })
                .unwrap();
            taken.push((spec.row, (number, disposition)));
        }
        if refused || given_up {
            drop(import);
            self.reference = before;
            assert_eq!(Some(self.dump()), dump, "an import that does not end leaves nothing behind");
            self.saw(if refused { "import refused" } else { "import given up" });
            return;
        }
        let imported = import.finish().unwrap();
        self.reference.end_import(taken.iter().map(|&(_, (number, _))| number).collect());
        self.sheets.push(sheets.into_values().collect());
        assert_eq!(imported.import, ImportId(i64::try_from(self.reference.imports.len()).unwrap()));
        assert_eq!(imported.rows, taken.len() as u64);
        for (disposition, count) in [
            (Disposition::New, imported.added),
            (Disposition::Revised, imported.revised),
            (Disposition::Recognised, imported.recognised),
            (Disposition::ChangedSince, imported.changed_since),
        ] {
            let expected = taken.iter().filter(|(_, (_, it))| *it == disposition).count();
            assert_eq!(count, expected as u64, "{disposition:?}");
        }
        if before.jobs.iter().any(|(number, job)| {
            let now = self.reference.jobs[number].state;
            job.state == JobState::Skipped && now != JobState::Skipped
        }) {
            self.saw("skipped job brought back by an import");
        }
        if imported.revised > 0 {
            self.saw("job revised");
        }
    }

    /// The jobs that a number may mean, and the one it does.
    fn choose(&self, number: usize, fitting: bool, allowed: &[JobState]) -> usize {
        let jobs = &self.reference.jobs;
        let fit: Vec<usize> =
            jobs.iter().filter(|(_, job)| allowed.contains(&job.state)).map(|(&job, _)| job).collect();
        match fit.as_slice() {
            fit if fitting && !fit.is_empty() => fit[number % fit.len()],
            // One past the last is a job that is not there.
            _ => number % (jobs.len() + 1) + 1,
        }
    }

    /// The write for the journal, and what the reference says to it.
    fn plan(&mut self, spec: &WriteSpec) -> (Write, Answer) {
        let number = self.choose(spec.job, spec.fitting, allowed(&spec.what));
        let known = self.reference.jobs.get(&number).cloned();
        let state = known.as_ref().map_or(JobState::Ready, |job| job.state);
        let from = spec.believed.map_or(state, |index| JobState::ALL[index % JobState::ALL.len()]);
        let mut what = spec.what.clone();
        if let What::Advance { id: Some(id), .. } | What::Leave { id } = &mut what
            && let Some(record) = known.as_ref().and_then(|job| job.record)
            && *id % 8 != 0
        {
            *id = record;
        }
        let write = self.as_write(number, from, &what);
        let answer = match what {
            What::Ceiling { day, ceiling } => {
                self.reference.quota.entry(i64::from(day)).or_default().3 = Some(ceiling);
                Some(BTreeSet::new())
            }
            What::Quota { day, sent, confirmed, doubtful } => {
                self.reference.count(i64::from(day), sent, confirmed, doubtful);
                Some(BTreeSet::new())
            }
            _ => self.reference.write(number, from, &what, self.now),
        };
        let job = self.reference.jobs.get(&number);
        match (&what, &answer, &known) {
            (What::Release, None, Some(known)) if known.state == JobState::InDoubt => {
                self.saw("executed, never let go");
            }
            (_, Some(_), _) if job.is_some_and(|job| job.code.as_deref() == Some("id.owned")) => {
                self.saw("held, since another job owns the record");
            }
            (What::Leave { .. }, Some(_), _) => self.saw("left as it was"),
            (_, Some(moves), _) if moves.iter().any(|&(_, _, to)| to == JobState::Skipped) => {
                self.saw("skipped");
            }
            (What::Advance { .. }, Some(moves), _) if moves.len() > 1 => self.saw("children released"),
            (What::Advance { .. }, Some(_), Some(known)) if known.at > 0 => {
                self.saw("later step done");
            }
            (_, None, _) => self.saw("write refused"),
            _ => {}
        }
        (write, answer)
    }

    fn write(&mut self, specs: &[WriteSpec]) {
        let (writes, answers): (Vec<_>, Vec<_>) = specs.iter().map(|spec| self.plan(spec)).unzip();
        let dump = answers.iter().all(Option::is_none).then(|| self.dump());
        let outcomes = self.journal.apply(&writes).expect("the journal can be written");
        for ((write, answer), outcome) in writes.iter().zip(&answers).zip(outcomes) {
            self.compare(write, answer, outcome);
        }
        if dump.is_some() {
            assert_eq!(Some(self.dump()), dump, "refused writes change nothing: {writes:?}");
        }
    }

    fn compare(&self, what: &dyn std::fmt::Debug, answer: &Answer, outcome: Result<Vec<Moved>, Error>) {
        match (answer, outcome) {
            (None, Err(_)) => {}
            (Some(moves), Ok(moved)) => {
                let count = moved.len();
                let told: BTreeSet<_> =
                    moved.iter().map(|moved| (number_of(moved.job), moved.from, moved.to)).collect();
                assert_eq!((&told, count), (moves, moves.len()), "{what:?}");
                for moved in moved {
                    let job = &self.reference.jobs[&number_of(moved.job)];
                    assert_eq!(moved.kind, job.values.kind, "{what:?}");
                }
            }
            (None, Ok(moved)) => panic!("{what:?} must be refused, but moved {moved:?}"),
            (Some(moves), Err(error)) => panic!("{what:?} must move {moves:?}, but was refused: {error}"),
        }
    }

    fn crash(&mut self, spilled: &[WriteSpec]) {
        let (mut lines, mut fit) = (Vec::new(), 0);
        for spec in spilled.iter().filter(|spec| !matches!(spec.what, What::Claim { .. })) {
            let (write, answer) = self.plan(spec);
            lines.push(write);
            fit += u64::from(answer.is_some());
        }
        // The new process finds what is on disk, and nothing else: the journal keeps nothing in memory. Opening it
        // again is an operation of its own.
        Journal::spill(&self.path(), &lines).unwrap();
        let recovered = self.journal.recover(self.moment()).unwrap();
        let (doubtful, held) = self.reference.recover(self.now);
        assert_eq!((recovered.doubtful, recovered.held), (doubtful, held));
        assert_eq!((recovered.spilled, recovered.left_out), (fit, lines.len() as u64 - fit));
        if doubtful > 0 {
            self.saw("in doubt after a crash");
        }
        if held > 0 {
            self.saw("held after three deaths");
        }
        let dump = self.dump();
        let again = self.journal.recover(self.moment()).unwrap();
        assert_eq!(again, journal::Recovered::default());
        assert_eq!(self.dump(), dump, "a second recovery changes nothing");
    }

    fn retry(&mut self, import: Option<u8>, code: Option<bool>) {
        let word = code.map(|real| if real { "invalidData" } else { "no.such.code" });
        let selection = Selection {
            import: import.map(|import| ImportId(i64::from(import) + 1)),
            code: word.map(str::to_owned),
            ..Selection::default()
        };
        let retried = self.journal.retry(&selection, WHO, self.moment()).unwrap();
        let expected = self.reference.retry(import.map(usize::from), word);
        assert_eq!((retried.retried, retried.released), expected);
        if expected.1 > 0 {
            self.saw("skipped job brought back by a retry");
        }
    }

    fn resolve(&mut self, job: usize, fitting: bool, verdict: Verdict) {
        let number = self.choose(job, fitting, &[JobState::Held, JobState::InDoubt]);
        let known = self.reference.jobs.get(&number).and_then(|job| job.record);
        let decision = match verdict {
            Verdict::Created(id) => Decision::Created(id),
            Verdict::CreatedAsKnown => Decision::Created(known.unwrap_or(2_000_000 + number as u128)),
            Verdict::NotCreated => Decision::NotCreated,
            Verdict::Abandon => Decision::Abandon,
        };
        let asked = match decision {
            Decision::Created(id) => journal::Decision::Created(RemoteId::from_u128(id)),
            Decision::NotCreated => journal::Decision::NotCreated,
            Decision::Abandon => journal::Decision::Abandon,
        };
        let answer = self.reference.resolve(number, decision);
        let dump = answer.is_none().then(|| self.dump());
        let outcome = self.journal.resolve(id_of(number), asked, WHO, self.moment());
        self.compare(&(number, decision), &answer, outcome);
        if dump.is_some() {
            assert_eq!(Some(self.dump()), dump, "a refused decision changes nothing");
            self.saw("decision refused");
        } else {
            self.saw("decision taken");
        }
    }

    fn cancel(&mut self, import: u8) {
        let answer = self.reference.cancel(usize::from(import));
        let dump = answer.is_none().then(|| self.dump());
        let outcome = self.journal.cancel(ImportId(i64::from(import) + 1), WHO, self.moment());
        match (answer, outcome) {
            (Some(expected), Ok(done)) => {
                let told = (done.cancelled, done.skipped, done.left_in_doubt, done.left_held);
                assert_eq!(told, expected);
                self.saw("import cancelled");
            }
            (None, Err(_)) => assert_eq!(Some(self.dump()), dump, "a refused cancellation changes nothing"),
            (expected, outcome) => panic!("cancel {import}: {outcome:?} instead of {expected:?}"),
        }
    }

    /// What the journal says of each job is what the reference says.
    pub(crate) fn agree(&self) {
        self.jobs_agree();
        self.attempts_agree();
    }

    /// Everything else the journal says is what the reference says.
    pub(crate) fn agree_in_all(&self) {
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
            assert_eq!(work.content_hash, job.values.content, "job {number}");
            let mut parents: Vec<usize> = work.parents.iter().map(|(_, job)| number_of(*job)).collect();
            parents.sort_unstable();
            let mut expected = job.values.parents.clone();
            expected.sort_unstable();
            assert_eq!(parents, expected, "job {number}");
            if job.state.is_final() {
                continue;
            }
            assert_eq!((work.step as usize, work.operation), (job.at, job.operation()), "job {number}");
            assert_eq!((work.attempts, work.deferrals, work.deaths), (job.sent, job.deferrals, job.deaths));
            assert_eq!((work.doubted, work.executed), (job.doubted, job.executed), "job {number}");
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
    fn numbers(&self, holds: impl Fn(&crate::reference::Job) -> bool) -> BTreeSet<usize> {
        self.reference.jobs.iter().filter(|(_, job)| holds(job)).map(|(&number, _)| number).collect()
    }

    /// The operations of the jobs there are, and one of none.
    fn operations(&self) -> Vec<Call> {
        let mut operations = vec![Call::AddPerson];
        for operation in self.reference.jobs.values().map(crate::reference::Job::operation) {
            if !operations.contains(&operation) {
                operations.push(operation);
            }
        }
        operations
    }

    fn lanes_agree(&self) {
        let mut lanes = BTreeSet::new();
        for job in self.reference.jobs.values() {
            if !job.state.is_final() {
                lanes.insert(job.operation().name());
            }
            if !matches!(job.state, JobState::Rejected | JobState::Skipped | JobState::Cancelled) {
                lanes.extend(job.steps.iter().filter(|step| !step.done).map(|step| step.operation.name()));
            }
        }
        let told = self.journal.lanes().unwrap();
        assert_eq!(told.iter().map(|lane| lane.name()).collect::<BTreeSet<_>>(), lanes);
    }

    fn pages_agree(&self) {
        let now = self.now;
        let due = |job: &crate::reference::Job| job.due.expect("what waits knows until when");
        for lane in self.operations() {
            let page = self.journal.ready(lane, self.moment(), 50).unwrap();
            let found: Vec<usize> = page.work.iter().map(|work| number_of(work.job)).collect();
            assert!(found.is_sorted(), "oldest first");
            let expected = self.numbers(|job| {
                job.operation() == lane
                    && (job.state == JobState::Ready || job.state == JobState::Deferred && due(job) <= now)
            });
            assert_eq!(BTreeSet::from_iter(found), expected, "{lane} at {now}");
            let waiting = |job: &&crate::reference::Job| {
                job.state == JobState::Deferred && job.operation() == lane && due(job) > now
            };
            let next = self.reference.jobs.values().filter(waiting).map(due).min();
            assert_eq!(page.next_due.map(Moment::millis), next, "{lane} at {now}");
        }
        let page = self.journal.doubtful(self.moment(), 50).unwrap();
        let found = page.work.iter().map(|work| number_of(work.job)).collect::<BTreeSet<_>>();
        assert_eq!(found, self.numbers(|job| job.state == JobState::InDoubt && due(job) <= now));
        let waiting = self.reference.jobs.values();
        let waits =
            |job: &&crate::reference::Job| matches!(job.state, JobState::Deferred | JobState::InDoubt);
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
        let tally = self.journal.tally(None).unwrap();
        assert_eq!(tally.total(), self.reference.jobs.len() as u64);
        for &state in JobState::ALL {
            assert_eq!(tally.in_state(state), self.numbers(|job| job.state == state).len() as u64, "{state}");
        }
        for (index, (jobs, sheets)) in self.reference.imports.iter().zip(&self.sheets).enumerate() {
            let import = ImportId(i64::try_from(index).unwrap() + 1);
            let tally = self.journal.tally(Some(import)).unwrap();
            for &state in JobState::ALL {
                let expected = jobs.iter().filter(|job| self.reference.jobs[job].state == state).count();
                assert_eq!(tally.in_state(state), expected as u64, "{state} in import {import}");
            }
            for &(sheet, rows) in sheets {
                assert_eq!(self.journal.tally_of_sheet(sheet).unwrap().total(), rows, "sheet {sheet}");
            }
            let infos = self.journal.sheets(import).unwrap();
            let told: Vec<_> = infos.iter().map(|info| (info.sheet, info.rows)).collect();
            assert_eq!(&told, sheets);
            let requests: u64 = jobs.iter().map(|job| self.reference.jobs[job].sent_ever).sum();
            assert_eq!(self.journal.attempts(import).unwrap().requests, requests);
        }
        for (&day, &(sent, confirmed, doubtful, ceiling)) in &self.reference.quota {
            let ledger = self.journal.quota(Day::from_number(day)).unwrap();
            let told = (ledger.sent, ledger.confirmed, ledger.doubtful, ledger.ceiling);
            assert_eq!(told, (sent, confirmed, doubtful, ceiling), "day {day}");
        }
        let latest = self.reference.quota.values().rev().find_map(|ledger| ledger.3);
        assert_eq!(self.journal.latest_ceiling().unwrap(), latest);
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
    fn dump(&self) -> String {
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

    fn as_write(&self, number: usize, from: JobState, what: &What) -> Write {
        let (job, at) = (id_of(number), self.moment());
        let later = |after: i64| Moment::from_millis(self.now + after);
        let evidence = Evidence { status: Some(200), took_ms: Some(12), ..Evidence::at(at) };
        let (code, reason) = ("some.code".to_owned(), "some words".to_owned());
        let known = self.reference.jobs.get(&number);
        match what {
            What::Claim { right_operation, content, baseline, counted } => Write::Claim {
                job,
                operation: match known {
                    Some(known) if *right_operation => known.operation(),
                    Some(_) | None => Call::AddPerson,
                },
                content: content.map(|right| match known {
                    Some(known) if right => known.values.content.clone(),
                    Some(_) | None => "of an older row".to_owned(),
                }),
                baseline: baseline
                    .as_ref()
                    .map(|ids| ids.iter().map(|&id| RemoteId::from_u128(u128::from(id))).collect()),
                counted: counted.map(|day| Day::from_number(i64::from(day))),
                at,
            },
            What::Advance { how, id } => Write::Advance {
                job,
                from,
                how: match how {
                    How::Created => journal::How::Created,
                    How::Adopted => journal::How::Adopted,
                    How::Existing => journal::How::Existing,
                    How::Done => journal::How::Done,
                },
                id: id.map(RemoteId::from_u128),
                evidence,
            },
            What::Leave { id } => Write::Leave { job, from, id: RemoteId::from_u128(*id), evidence },
            What::Reject => {
                let code = "invalidData".to_owned();
                let rejection = Rejection { code, message: reason, violations: vec![] };
                Write::Reject { job, from, rejection, evidence }
            }
            What::Defer { after, charged } => {
                Write::Defer { job, until: later(*after), charged: *charged, code, reason, evidence }
            }
            What::Return => Write::Return { job, code, reason, evidence },
            What::Postpone { after } => Write::Postpone { job, from, until: later(*after), code, reason, at },
            What::Doubt { executed, after } => Write::Doubt {
                job,
                doubt: if *executed { Doubt::NoId } else { Doubt::Timeout },
                executed: *executed,
                until: later(*after),
                evidence,
            },
            What::KeepDoubting { after, absent_reads } => Write::KeepDoubting {
                job,
                until: later(*after),
                absent_reads: *absent_reads,
                note: reason,
                at,
            },
            What::Release => Write::Release { job, note: reason, at },
            What::Hold { candidates } => Write::Hold {
                job,
                from,
                code: "look.unsure".to_owned(),
                reason,
                candidates: candidates
                    .iter()
                    .map(|&id| Candidate {
                        id: Some(RemoteId::from_u128(u128::from(id))),
                        name: None,
                        details: "found".to_owned(),
                        difference: "its name".to_owned(),
                    })
                    .collect(),
                evidence,
            },
            What::Ceiling { day, ceiling } => {
                Write::Ceiling { day: Day::from_number(i64::from(*day)), ceiling: *ceiling, at }
            }
            What::Quota { day, sent, confirmed, doubtful } => Write::Quota {
                day: Day::from_number(i64::from(*day)),
                sent: *sent,
                confirmed: *confirmed,
                doubtful: *doubtful,
            },
        }
    }
}

fn id_of(number: usize) -> JobId {
    JobId(i64::try_from(number).expect("a small number"))
}

fn number_of(job: JobId) -> usize {
    usize::try_from(job.0).expect("numbered from 1")
}

/// What a row says, for the reference and for the journal.
fn row(spec: &RowSpec, reference: &Reference) -> (Values, NewJob) {
    let kind = match spec.row {
        0..=2 => Kind::Company,
        3 | 4 => Kind::Site,
        _ => Kind::Device,
    };
    let owner = if kind == Kind::Company { Role::Parent } else { Role::Company };
    let mut wishes = vec![(owner, spec.first, 0)];
    if kind == Kind::Device {
        wishes.push((Role::Site, spec.second, 3));
    }
    let (mut links, mut parents) = (Vec::new(), Vec::new());
    for (role, wish, first_row) in wishes {
        match wish {
            0 => {}
            1 => links.push(Link { role, target: Target::Remote(RemoteId::from_u128(FOREIGN)) }),
            // Only rows before it, so that nobody is their own parent, and only those that are there.
            n => {
                let row = first_row + n - 2;
                if let Some(parent) = reference.of_row(row).filter(|_| row < spec.row) {
                    links.push(Link { role, target: Target::Job(id_of(parent)) });
                    parents.push(parent);
                }
            }
        }
    }
    let name = format!("row {}{}", spec.row, if spec.renamed { " renamed" } else { "" });
    let steps: Vec<(Call, u8)> = spec.extras.iter().map(|&extra| (step(kind, extra), extra)).collect();
    let content = format!("{name} {links:?} {:?} {}", spec.extras, spec.version);
    let address = Address::default();
    let phone_number = format!("+64 9 555 010{}", spec.version);
    let mail = || "a@example.com".to_owned();
    let record = match kind {
        Kind::Company => record::Record::Company(Company {
            company_type: CompanyType::Customer,
            name: name.clone(),
            address,
            phone_number,
            fax_number: None,
            support_email: mail(),
            sales_email: mail(),
            accounts_email: mail(),
        }),
        Kind::Site => record::Record::Site(Site {
            name: name.clone(),
            reference: None,
            latitude: None,
            longitude: None,
            address,
            phone_number,
            fax_number: None,
        }),
        Kind::Device | Kind::Person => record::Record::Device(Device {
            name: name.clone(),
            address,
            phone_number,
            fax_number: None,
            device_model: None,
            identification: None,
            custom_site_id: None,
            custom_site_name: None,
            copy: None,
        }),
    };
    let job = NewJob {
        record,
        sheet_key: Some(format!("row {}", spec.row)),
        name: name.clone(),
        natural_key: name.clone(),
        content_hash: content.clone(),
        links,
        extras: spec.extras.iter().map(|&extra| wanted(kind, extra)).collect(),
    };
    (Values { row: spec.row, kind, natural_key: name, content, parents, steps }, job)
}

fn wanted(kind: Kind, extra: u8) -> Extra {
    let metadata = vec![Metadata { key: "tier".to_owned(), value: extra.to_string() }];
    match (kind, extra) {
        (Kind::Device, 0) => Extra::Licence("A-1".to_owned()),
        (Kind::Site, 0 | 1) | (Kind::Device, 1) => Extra::Labels(vec![extra.to_string()]),
        _ => Extra::Metadata(metadata),
    }
}

/// The operation of such a step, from the specification and not from the code.
fn step(kind: Kind, extra: u8) -> Call {
    match (kind, extra) {
        (Kind::Company | Kind::Person, _) => Call::PutCompanyMetadataList,
        (Kind::Site, 0 | 1) => Call::PutSiteLabels,
        (Kind::Site, _) => Call::PutSiteMetadataList,
        (Kind::Device, 0) => Call::AddLicenceCode,
        (Kind::Device, 1) => Call::PutDeviceLabels,
        (Kind::Device, _) => Call::PutDeviceMetadataList,
    }
}

//! A real journal and the reference side by side: everything happens to both, and both must say the same.

mod agreement;
mod rows;
mod writing;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fleetload::error::Error;
use fleetload::journal::{self, Disposition, Journal, Moved, NewRow, NewSheet, Selection, SheetId, Write};
use fleetload::model::id::{ImportId, JobId, RemoteId};
use fleetload::model::kind::{Kind, Upkeep};
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use fleetload::model::verdict::Execution;
use rusqlite::Connection;
use tempfile::TempDir;

use self::rows::row;
use crate::operations::{How, Operation, RowSpec, Verdict, What, WriteSpec};
use crate::reference::{Answer, Decision, Job, Reference, Taken, allowed};

/// Between two operations, in milliseconds.
const TICK: i64 = 1_000;
/// Who decides.
const WHO: &str = "operator";

/// What was seen to happen: a sequence that nothing happens in proves nothing.
pub(crate) type Seen = BTreeMap<&'static str, u64>;

/// The tables of a journal that a sequence of operations writes to.
const TABLES: [&str; 15] = [
    "import",
    "import_file",
    "sheet",
    "baseline",
    "job",
    "job_count",
    "cancellation",
    "link",
    "step",
    "attempt",
    "sheet_row",
    "quota",
    "decision",
    "spill_taken",
    "upkeep",
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
        let upkeep = [Kind::Upkeep(Upkeep::Metadata), Kind::Upkeep(Upkeep::Licences)];
        for kind in [Kind::Company, Kind::Site, Kind::Device].into_iter().chain(upkeep) {
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
            let took = self.reference.take(values, spec.force, self.now);
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
        if before.jobs.iter().any(|(number, job)| {
            (job.state, self.reference.jobs[number].state) == (JobState::Cancelled, JobState::InDoubt)
        }) {
            self.saw("cancelled job in doubt again");
        }
        let was_done = |job: &Job| !job.values.makes_a_record() && job.outcome.is_some();
        if before.jobs.iter().any(|(number, job)| was_done(job) && !was_done(&self.reference.jobs[number])) {
            self.saw("upkeep row asked for otherwise");
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
        if known.as_ref().is_some_and(|job| !job.values.makes_a_record()) {
            what = of_upkeep(what);
        }
        if let What::Advance { id: Some(id), .. } | What::Leave { id } = &mut what
            && let Some(record) = known.as_ref().and_then(|job| job.record)
            && *id % 8 != 0
        {
            *id = record;
        }
        let execution = Execution::ALL[spec.execution];
        let write = self.as_write(number, from, execution, &what);
        let content = spec.content.filter(|_| what.names_its_state());
        let write = match content {
            Some(right) => Write::IfUnchanged { content: self.content(number, right), then: Box::new(write) },
            None => write,
        };
        let outdated = content == Some(false);
        let answer = match what {
            What::Ceiling { day, ceiling } => {
                self.reference.ceilings.insert(i64::from(day), ceiling);
                Some(BTreeSet::new())
            }
            _ if outdated => None,
            _ => self.reference.write(number, from, (&what, execution), self.now),
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
            (What::Reject, Some(_), _) if job.is_some_and(|job| job.state == JobState::Incomplete) => {
                self.saw("incomplete");
            }
            (_, Some(moves), _) if moves.iter().any(|&(_, _, to)| to == JobState::Skipped) => {
                self.saw("skipped");
            }
            (What::Advance { .. }, Some(_), Some(known)) if !known.values.makes_a_record() => {
                self.saw("upkeep row done");
            }
            (What::Advance { .. }, Some(moves), _) if moves.len() > 1 => self.saw("children released"),
            (What::Advance { .. }, Some(_), Some(known)) if known.at > 0 => {
                self.saw("later step done");
            }
            (_, None, Some(known)) if outdated && allowed(&what).contains(&known.state) => {
                self.saw("of values the row has no more");
            }
            (_, None, _) => self.saw("write refused"),
            _ => {}
        }
        (write, answer)
    }

    fn write(&mut self, specs: &[WriteSpec]) {
        let (writes, answers): (Vec<_>, Vec<_>) = specs.iter().map(|spec| self.plan(spec)).unzip();
        let dump = answers.iter().all(Option::is_none).then(|| self.dump());
        let outcomes = self.journal.queue().apply(&writes).expect("the journal can be written");
        let is_cancelled =
            |answer: &Answer| answer.iter().flatten().any(|(.., to)| *to == JobState::Cancelled);
        if answers.iter().any(is_cancelled) {
            self.saw("job cancelled instead of being sent again");
        }
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
        self.journal.spill(&lines).unwrap();
        let now = self.moment();
        let recovered = self.journal.queue().recover(now).unwrap();
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
        let again = self.journal.queue().recover(now).unwrap();
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
        let incomplete = |reference: &Reference| {
            reference.jobs.values().filter(|job| job.state == JobState::Incomplete).count()
        };
        let before = incomplete(&self.reference);
        let retried = self.journal.retry(&selection, WHO, self.moment()).unwrap();
        let expected = self.reference.retry(import.map(usize::from), word);
        assert_eq!((retried.retried, retried.released), expected);
        if incomplete(&self.reference) < before {
            self.saw("incomplete, tried again");
        }
        if expected.1 > 0 {
            self.saw("skipped job brought back by a retry");
        }
    }

    fn resolve(&mut self, job: usize, fitting: bool, verdict: Verdict) {
        let number = self.choose(job, fitting, &[JobState::Held, JobState::InDoubt]);
        let record = self.reference.jobs.get(&number).and_then(|job| job.record);
        let known = record.or_else(|| self.reference.about(number));
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
        let outcome = self.journal.resolve(id_of(number), asked, None, WHO, self.moment());
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
}

/// A write as a job gets it that makes no record: it is done or was so already, and hardly ever comes home with an id.
fn of_upkeep(what: What) -> What {
    match what {
        What::Advance { how: How::Created | How::Done, id } => {
            What::Advance { how: How::Done, id: id.filter(|id| id % 8 == 0) }
        }
        What::Advance { how: How::Adopted | How::Existing, id } => {
            What::Advance { how: How::Existing, id: id.filter(|id| id % 8 == 0) }
        }
        // Of records only.
        What::Leave { .. } => What::Return,
        other => other,
    }
}

fn id_of(number: usize) -> JobId {
    JobId(i64::try_from(number).expect("a small number"))
}

fn number_of(job: JobId) -> usize {
    usize::try_from(job.0).expect("numbered from 1")
}

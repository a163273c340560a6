//! What the tests of the journal share: a journal in a folder of its own, records to put in it, and a look at all
//! of it.

use std::fmt::Write as _;

use rusqlite::types::Value;
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::{
    Disposition, Evidence, How, Imported, Journal, Moved, NewJob, NewRow, NewSheet, SheetId, Write,
};
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Link, Record, Role, Target};
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Execution, Rejection};
use crate::testing;

/// A journal in a folder that goes away with it.
pub(super) struct Bench {
    pub(super) journal: Journal,
    pub(super) folder: TempDir,
}

pub(super) fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(&folder.path().join("fleetload.db")).unwrap();
    Bench { journal, folder }
}

/// The steps by which SQLite finds the rows of a query.
pub(super) fn plan(journal: &Journal, sql: &str) -> Vec<String> {
    let mut statement = journal.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let count = statement.parameter_count();
    let steps =
        statement.query_map(rusqlite::params_from_iter(vec![1_i64; count]), |row| row.get(3)).unwrap();
    steps.collect::<rusqlite::Result<_>>().unwrap()
}

pub(super) fn at(millis: i64) -> Moment {
    Moment::from_millis(millis)
}

pub(super) fn id(number: u128) -> RemoteId {
    RemoteId::from_u128(number)
}

pub(super) fn link(role: Role, job: JobId) -> Link {
    Link { role, target: Target::Job(job) }
}

pub(super) fn company(name: &str, links: Vec<Link>) -> NewJob {
    new_job(Record::Company(testing::company(name)), links, Vec::new())
}

pub(super) fn site(name: &str, links: Vec<Link>, later: Vec<Action>) -> NewJob {
    new_job(Record::Site(testing::site(name)), links, later)
}

pub(super) fn device(name: &str, links: Vec<Link>, later: Vec<Action>) -> NewJob {
    new_job(Record::Device(testing::device(name, None)), links, later)
}

fn new_job(record: Record, links: Vec<Link>, later: Vec<Action>) -> NewJob {
    let name = record.name().to_owned();
    let sheet_key = Some(name.to_lowercase());
    NewJob {
        natural_key: name.clone(),
        content_hash: ContentHash::of(&name),
        kind: record.kind(),
        sheet_key,
        name,
        links,
        steps: std::iter::once(Action::Create(record)).chain(later).collect(),
    }
}

pub(super) fn sheet(name: &str, kind: Kind) -> NewSheet {
    NewSheet {
        name: name.into(),
        file: format!("{name}.csv"),
        worksheet: None,
        kind,
        headers: vec!["name".into(), "phone".into()],
        header_row: 1,
    }
}

pub(super) fn row(sheet: SheetId, number: u32, job: JobId, disposition: Disposition) -> NewRow {
    NewRow {
        sheet,
        number,
        line: Some(u64::from(number)),
        cells: vec![format!("cell {number}")],
        job,
        disposition,
    }
}

/// Imports companies by these names, in a sheet `customers`, from row 2 on; each below the one before when `chained`.
pub(super) fn import_companies(
    journal: &mut Journal,
    names: &[&str],
    chained: bool,
) -> (Imported, Vec<JobId>) {
    let mut import = journal.begin_import(at(1_000)).unwrap();
    import.file("customers.csv", "0123").unwrap();
    let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
    let mut jobs: Vec<JobId> = Vec::new();
    for (name, number) in names.iter().zip(2_u32..) {
        let links = match jobs.last() {
            Some(&last) if chained => vec![link(Role::Parent, last)],
            Some(_) | None => Vec::new(),
        };
        let job = import.add_job(&company(name, links)).unwrap();
        import.row(&row(sheet, number, job, Disposition::New)).unwrap();
        jobs.push(job);
    }
    (import.finish().unwrap(), jobs)
}

/// Carries out one write.
pub(super) fn apply(journal: &mut Journal, write: Write) -> std::result::Result<Vec<Moved>, Error> {
    journal.queue().apply(&[write]).unwrap().pop().unwrap()
}

pub(super) fn claim(job: JobId, operation: Operation) -> Write {
    Write::Claim { content: None, job, operation, before: None, baseline: None, counted: None, at: at(2_000) }
}

pub(super) fn created(job: JobId, from: JobState, id: RemoteId) -> Write {
    let evidence = Evidence { execution: Execution::Confirmed, ..Evidence::at(at(3_000)) };
    Write::Advance { job, from, how: How::Created, id: Some(id), evidence }
}

/// A claim whose request counts on `day`.
pub(super) fn counted(job: JobId, operation: Operation, day: Day) -> Write {
    Write::Claim {
        content: None,
        job,
        operation,
        before: None,
        baseline: None,
        counted: Some(day),
        at: at(2_000),
    }
}

pub(super) fn rejected(job: JobId, from: JobState) -> Write {
    let rejection =
        Rejection { code: "invalidData".into(), message: "no such zone".into(), violations: vec![] };
    let evidence = Evidence { execution: Execution::Refused, ..Evidence::at(at(3_000)) };
    Write::Reject { job, from, rejection, evidence }
}

pub(super) fn state(journal: &super::View, job: JobId) -> JobState {
    journal.work(job).unwrap().unwrap().state
}

pub(super) fn code(journal: &Journal, job: JobId) -> Option<String> {
    text(journal, "code", job)
}

pub(super) fn message(journal: &Journal, job: JobId) -> Option<String> {
    text(journal, "message", job)
}

fn text(journal: &Journal, column: &str, job: JobId) -> Option<String> {
    let sql = format!("SELECT {column} FROM job WHERE id = ?1");
    journal.connection.query_row(&sql, [job], |row| row.get(0)).unwrap()
}

/// Puts a job into a state with everything that the schema wants of it there, whatever it went through.
pub(super) fn force(journal: &Journal, job: JobId, state: JobState) {
    let outcome = match state {
        JobState::Incomplete => Some(JobState::Created),
        state => state.is_success().then_some(state),
    };
    let remote = outcome.map(|_| Id(id(0xF000 + u128::from(job.0.unsigned_abs()))));
    journal
        .connection
        .execute(
            "UPDATE job SET state = ?2, remote_id = ?3, outcome = ?4, due = 5000, doubt = 'answer.timeout',
                doubt_since = 4000, held_since = 4000, code = 'some.code', message = 'some words', finished_at = 4000
             WHERE id = ?1",
            (job, state, remote, outcome),
        )
        .unwrap();
}

/// Everything that is in a journal, to compare it before and after.
pub(super) fn everything(journal: &Journal) -> Result<String> {
    let mut text = String::new();
    for table in ["job", "link", "step", "attempt", "baseline", "quota", "sheet_row", "decision"] {
        let mut statement = journal.connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: rusqlite::Result<Vec<Value>> = (0..columns).map(|column| row.get(column)).collect();
            writeln!(text, "{table} {:?}", values?).unwrap();
        }
    }
    Ok(text)
}

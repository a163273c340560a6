//! Journals that somebody or something has changed: opened, recovered, read from end to end, reported on, decided
//! about and worked on. Each of these may be refused; none may end the process or go on for ever.

use std::fs;
use std::path::{Path, PathBuf};

use fleetload::ending::End;
use fleetload::journal::{Decision, Evidence, How, Journal, Recovered, Salvaged, Selection, Write};
use fleetload::model::id::{JobId, RemoteId};
use fleetload::model::kind::Kind;
use fleetload::model::state::JobState::{self, Ready, Sending};
use fleetload::model::time::Moment;
use fleetload::model::verdict::Rejection;
use fleetload::report::{self, Caller, ImportEnd};
use fleetload::status::next_command::Again;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value};
use tempfile::TempDir;

use super::base::{self, THEN};
use super::input::Input;

/// The moment at which the changed journal is looked at.
const NOW: Moment = Moment::from_millis(THEN.millis() + 3_600_000);

/// The most changes of one input.
const MOST_CHANGES: usize = 64;

/// Jobs of the busy journal, and some.
const JOBS: std::ops::Range<i64> = 0..20;

/// Changes of bytes of the file: a place, how many bytes, the bytes; again and again. A last one without bytes cuts
/// the file there.
pub(crate) fn bytes(data: &[u8]) {
    let mut file = base::busy().to_vec();
    let mut input = Input::new(data);
    for _ in 0..MOST_CHANGES {
        if input.is_empty() {
            break;
        }
        let place = (usize::from(input.short()) << 8 | usize::from(input.byte())) % file.len().max(1);
        let count = usize::from(input.byte() % 32);
        let changed = input.take(count);
        if changed.is_empty() && input.is_empty() {
            file.truncate(place);
        }
        for (old, new) in file.iter_mut().skip(place).zip(changed) {
            *old = *new;
        }
    }
    let (_folder, path) = placed(&file);
    salvage(&path);
    live_through(&path);
}

/// Any bytes as the journal's file.
pub(crate) fn file(data: &[u8]) {
    let (_folder, path) = placed(data);
    salvage(&path);
    live_through(&path);
}

/// Changes of values, as a person with a database tool makes them: which column, which row, what; or a row removed.
pub(crate) fn values(data: &[u8]) {
    let (_folder, path) = placed(base::busy());
    tamper(&path, data).expect("a journal that can be changed");
    live_through(&path);
}

/// Any lines beside a sound journal. It must start whatever they are, and what is final stays as it is.
pub(crate) fn spill(data: &[u8]) {
    let (folder, path) = placed(base::busy());
    let spill = folder.path().join("fleetload.db.spill");
    fs::write(&spill, data).expect("a spill file");
    let mut journal = Journal::open(&path).expect("a sound journal");
    let before = finals(&journal);
    let recovered = journal.queue().recover(NOW).expect("a sound journal starts whatever was spilled");
    for (job, state, id) in before {
        let now = journal.work(job).expect("readable").expect("still there");
        let made = JobState::is_success(state);
        assert!(
            !made || (now.state.is_success() || now.step > 0 && now.remote_id == id),
            "{state} became {now:?}"
        );
    }
    assert!(!spill.exists(), "the lines were taken in or put away");
    let left_out = folder.path().join("fleetload.db.spill.left-out");
    assert_eq!(left_out.exists(), recovered.left_out > 0);
    let second = journal.queue().recover(NOW).expect("a journal that was recovered");
    assert_eq!(second, Recovered::default());
    drop(journal);
    live_through(&path);
}

/// How many lines of an input of [`spill`] the busy journal takes in.
pub(crate) fn taken_in(data: &[u8]) -> u64 {
    let (folder, path) = placed(base::busy());
    fs::write(folder.path().join("fleetload.db.spill"), data).expect("a spill file");
    Journal::open(&path)
        .and_then(|mut journal| journal.queue().recover(NOW))
        .expect("a sound journal")
        .spilled
}

/// The lines that a seed of [`spill`] begins with.
pub(crate) fn spilled() -> Vec<u8> {
    base::spilled()
}

/// The file of the journal that [`bytes`] and [`values`] change.
pub(crate) fn busy() -> &'static [u8] {
    base::busy()
}

fn placed(content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fleetload.db");
    fs::write(&path, content).expect("a file");
    (folder, path)
}

fn finals(journal: &Journal) -> Vec<(JobId, JobState, Option<RemoteId>)> {
    JOBS.filter_map(|job| journal.work(JobId(job)).expect("a sound journal"))
        .filter(|work| work.state.is_final())
        .map(|work| (work.job, work.state, work.remote_id))
        .collect()
}

/// The columns of the journal, and the key of each table.
fn columns(connection: &Connection) -> rusqlite::Result<Vec<(String, String, String)>> {
    connection
        .prepare(
            "SELECT t.name, c.name, (SELECT group_concat(k.name) FROM pragma_table_info(t.name) k WHERE k.pk > 0)
             FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' ORDER BY 1, c.cid",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

fn tamper(path: &Path, data: &[u8]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1;")?;
    let columns = columns(&connection)?;
    let transaction = connection.transaction()?;
    let mut input = Input::new(data);
    for _ in 0..MOST_CHANGES {
        if input.is_empty() {
            break;
        }
        let (table, column, key) = &columns[usize::from(input.byte()) % columns.len()];
        let row = input.byte();
        let chosen = format!("({key}) = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET ?1)");
        let kind = input.byte();
        let sql = match kind % 8 {
            0 => format!("DELETE FROM {table} WHERE {chosen}"),
            1 => format!(
                "UPDATE {table} SET {column} = (SELECT {column} FROM {table} ORDER BY {key} LIMIT 1 OFFSET ?2) WHERE {chosen}"
            ),
            _ => format!("UPDATE {table} SET {column} = ?2 WHERE {chosen}"),
        };
        let value = match kind % 8 {
            0 | 1 => Value::Integer(i64::from(input.byte())),
            2 => Value::Null,
            3 => Value::Integer(i64::from(input.byte().cast_signed())),
            4 => Value::Integer(input.long()),
            5 => Value::Blob(input.take(usize::from(kind / 8)).to_vec()),
            _ => {
                let length = usize::from(input.byte());
                Value::Text(String::from_utf8_lossy(input.take(length)).into_owned())
            }
        };
        // A table takes only values of its types, and a key only once: what it does not take stays as it was.
        let mut statement = transaction.prepare_cached(&sql)?;
        let changed = match statement.parameter_count() {
            1 => statement.execute([row]),
            _ => statement.execute((row, ToSqlOutput::Owned(value))),
        };
        drop(changed);
    }
    transaction.commit()
}

/// Everything a journal is asked and told in its life. What it answers does not matter, that it answers does.
fn live_through(path: &Path) {
    let Ok(mut journal) = Journal::open_existing(path) else { return };
    drop(journal.account());
    drop(journal.queue().recover(NOW));
    read(&mut journal);
    let folder = path.with_extension("reports");
    let standing = ImportEnd { end: End::Quota, exit_code: 3, resumes_at: Some(NOW), holder: None };
    let caller = Caller { again: &Again::default(), folder: &folder };
    if let Some(import) = journal.imports().unwrap_or_default().first() {
        drop(report::write(&journal, import.import, &folder, &standing, caller));
    }
    decide(&mut journal);
    work(&mut journal);
}

/// What can still be read of a damaged journal is read like a sound one.
fn salvage(path: &Path) {
    if let Ok(mut salvaged) = Salvaged::of(path) {
        read(&mut salvaged.journal);
    }
}

fn read(journal: &mut Journal) {
    drop(journal.check_pages());
    drop(journal.decided(&Selection::default()));
    drop(journal.audit_figures(None));
    drop(journal.audit_findings(None, None));
    for operation in journal.lanes().unwrap_or_default() {
        drop(journal.queue().ready(operation, NOW, 100, &[]));
    }
    drop(journal.queue().doubtful(NOW, 100, &[]));
    drop(journal.next_due());
    for kind in Kind::ALL {
        drop(journal.witness(kind, 10));
        drop(journal.by_sheet_key(kind, "top"));
        drop(journal.by_name(kind, "till 1"));
    }
    for job in JOBS {
        drop(journal.work(JobId(job)));
    }
    drop(journal.last_run());
    drop(journal.quota(NOW.day()));
    drop(journal.latest_ceiling());
    drop(journal.tally(None));
    drop(journal.held(&Selection::default()));
    for import in journal.imports().unwrap_or_default().into_iter().take(3) {
        drop(journal.attempts(import.import));
        drop(journal.causes(import.import));
        drop(journal.tally(Some(import.import)));
        for sheet in journal.sheets(import.import).unwrap_or_default() {
            drop(journal.rows(sheet.sheet, &mut |_| Ok(())));
        }
    }
}

fn decide(journal: &mut Journal) {
    drop(journal.retry(&Selection::default(), "somebody", NOW));
    let decisions = [Decision::NotCreated, Decision::Created(RemoteId::from_u128(99)), Decision::Abandon];
    for job in JOBS {
        let decision = decisions[usize::try_from(job).unwrap_or(0) % decisions.len()];
        drop(journal.resolve(JobId(job), decision, None, "somebody", NOW));
    }
}

/// Sends what may be sent, refuses every third, creates the others; then gives up the last import.
fn work(journal: &mut Journal) {
    for operation in journal.lanes().unwrap_or_default() {
        let Ok(page) = journal.queue().ready(operation, NOW, 20, &[]) else { continue };
        for work in page.work {
            let job = work.job;
            let evidence = Evidence::at(NOW);
            let claim = Write::Claim {
                job,
                operation,
                content: None,
                before: None,
                baseline: None,
                counted: Some(NOW.day()),
                at: NOW,
            };
            let id = Some(RemoteId::from_u128(0xbeef_0000 + u128::from(job.0.unsigned_abs())));
            let end = if job.0 % 3 == 0 {
                let rejection =
                    Rejection { code: "invalidData".into(), message: "no".into(), violations: Vec::new() };
                Write::Reject { job, from: Sending, rejection, evidence }
            } else {
                Write::Advance { job, from: Sending, how: How::Created, id, evidence }
            };
            drop(journal.queue().apply(&[claim, end]));
        }
    }
    let imports = journal.imports().unwrap_or_default();
    if let Some(last) = imports.last() {
        drop(journal.cancel(last.import, "somebody", NOW));
    }
    let reopened = Write::Postpone {
        job: JobId(1),
        from: Ready,
        until: NOW,
        code: "quota".into(),
        reason: "spent".into(),
    };
    drop(journal.queue().apply(&[reopened]));
}

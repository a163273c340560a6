//! The reports of a finished import beside what Python takes for the same table: `cargo bench --bench reports` (100,000
//! rows), `… -- 1000000` for another number.
//!
//! `fleetload report` writes all formats at once: the workbook with marks, the text table, JSON lines, the summary and the
//! page. Python reads the text table of that report and writes it again: with `csv`, with openpyxl in its write-only mode,
//! with XlsxWriter in constant memory. Peers that are not installed are said to be missing.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::path::Path;
use std::process::Command;

use fleetload::journal::{Evidence, How, Journal, Write};
use fleetload::model::id::RemoteId;
use fleetload::model::operation::Operation;
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;

use measured::{Took, fleetload, grouped, table, take, tell};

#[path = "../samples/make/mod.rs"]
#[expect(dead_code, reason = "only the large sheets are made here")]
mod make;
#[expect(dead_code, reason = "the time of processors is none of its figures")]
mod measured;

/// Rows, where no number is asked for.
const ROWS: u64 = 100_000;
/// Rows that are noted as done in one transaction.
const AT_ONCE: usize = 1_000;
/// Bytes of a mebibyte.
const MEBIBYTE: f64 = 1_048_576.0;

/// The peers: what each is called, the module that it needs, what it writes, and its program.
const PEERS: [(&str, &str, &str, &str); 3] = [
    (
        "Python csv",
        "csv",
        "peer.csv",
        "import csv\nwith open(SOURCE, newline='', encoding='utf-8-sig') as f, open(TARGET, 'w', newline='') as g:\n  csv.writer(g, quoting=csv.QUOTE_ALL).writerows(csv.reader(f))",
    ),
    (
        "Python openpyxl, write-only",
        "openpyxl",
        "openpyxl.xlsx",
        "import csv, openpyxl\nb = openpyxl.Workbook(write_only=True)\ns = b.create_sheet('devices')\nwith open(SOURCE, newline='', encoding='utf-8-sig') as f:\n  for r in csv.reader(f): s.append(r)\nb.save(TARGET)",
    ),
    (
        "Python XlsxWriter, constant memory",
        "xlsxwriter",
        "xlsxwriter.xlsx",
        "import csv, xlsxwriter\nb = xlsxwriter.Workbook(TARGET, {'constant_memory': True})\ns = b.add_worksheet('devices')\nwith open(SOURCE, newline='', encoding='utf-8-sig') as f:\n  for n, r in enumerate(csv.reader(f)):\n    for m, c in enumerate(r): s.write_string(n, m, c)\nb.close()",
    ),
];

fn main() {
    let rows = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(ROWS);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    make::large(rows, &folder.path().join("devices.csv"), 1).expect("a table");
    let imported = ours(folder.path(), &["import", "devices.csv"]);
    println!("{} rows, imported in {:.1} s", grouped(rows), imported.seconds);
    finish(&folder.path().join("fleetload.db"));
    let report = ours(folder.path(), &["report"]);
    let reports = folder.path().join("reports/1");
    let written = |name: &str| size(&reports.join(name));
    let sizes = format!(
        "results.xlsx {}, devices.results.csv {}, results.jsonl {}, report.html {}",
        written("results.xlsx"),
        written("devices.results.csv"),
        written("results.jsonl"),
        written("report.html")
    );
    let mut lines = vec![line("fleetload report, all formats", &report, &report, &sizes)];
    let mut missing = Vec::new();
    for (name, module, target, program) in PEERS {
        let Some(peer) = peer(folder.path(), module, target, program) else {
            missing.push(name);
            continue;
        };
        let written = format!("{target} {}", size(&folder.path().join(target)));
        lines.push(line(name, &peer, &report, &written));
    }
    let header = ["program", "time", "memory", "beside fleetload", "written"].map(str::to_owned);
    let missing = match missing.as_slice() {
        [] => String::new(),
        missing => format!("Not installed here: {}.\n\n", missing.join(", ")),
    };
    let shown = format!("{} rows.\n\n{}\n{missing}", grouped(rows), table(&header, &lines));
    tell("reports", &shown, true);
}

fn line(name: &str, took: &Took, ours: &Took, written: &str) -> Vec<String> {
    vec![
        name.to_owned(),
        format!("{:.2} s", took.seconds),
        format!("{:.0} MiB", took.memory),
        format!("{:.2}", took.seconds / ours.seconds),
        written.to_owned(),
    ]
}

fn ours(folder: &Path, arguments: &[&str]) -> Took {
    let mut command = Command::new(fleetload());
    let took = take(command.args(arguments).current_dir(folder).env("HOME", folder), |_| {});
    let took = took.expect("fleetload");
    assert_eq!(took.code, 0, "{arguments:?}");
    took
}

/// Writes the table again in Python; `None` where Python or the module is not installed.
fn peer(folder: &Path, module: &str, target: &str, program: &str) -> Option<Took> {
    let python = |program: &str| {
        let mut command = Command::new("python3");
        command.args(["-c", program]).current_dir(folder);
        command
    };
    take(&mut python(&format!("import {module}")), |_| {}).filter(|took| took.code == 0)?;
    let source = "SOURCE = 'reports/1/devices.results.csv'\n";
    let program = format!("{source}TARGET = '{target}'\n{program}");
    let took = take(&mut python(&program), |_| {})?;
    assert_eq!(took.code, 0, "{module}");
    Some(took)
}

fn size(file: &Path) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a size to one digit")]
    let size = std::fs::metadata(file).expect("a file").len() as f64 / MEBIBYTE;
    format!("{size:.1} MiB")
}

/// Notes all rows as created, as a run does after each answer: no request is sent.
fn finish(journal: &Path) {
    let mut journal = Journal::open_existing(journal).expect("a journal");
    let at = Moment::from_millis(1_772_366_400_000);
    loop {
        let page = journal.queue().ready(Operation::AddDevice, at, AT_ONCE, &[]).expect("a page");
        let jobs: Vec<_> = page.work.iter().map(|work| work.job).collect();
        if jobs.is_empty() {
            return;
        }
        let claims = jobs.iter().map(|&job| Write::Claim {
            job,
            operation: Operation::AddDevice,
            content: None,
            baseline: None,
            before: None,
            counted: Some(at.day()),
            at,
        });
        let answers = jobs.iter().map(|&job| Write::Advance {
            job,
            from: JobState::Sending,
            how: How::Created,
            id: Some(RemoteId::from_u128(
                0xa000_0000_0000_4000_8000_0000_0000_0000 + job.0.cast_unsigned() as u128,
            )),
            evidence: Evidence::at(at),
        });
        for writes in [claims.collect::<Vec<_>>(), answers.collect()] {
            for outcome in journal.queue().apply(&writes).expect("a journal that can be written") {
                outcome.expect("a row that waits");
            }
        }
    }
}

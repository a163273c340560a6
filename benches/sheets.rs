//! How long sheets take and how much memory, beside what a user would otherwise take to look at the same file:
//! `cargo bench --bench sheets` (100,000 rows), `cargo bench --bench sheets -- 1000000` for another number.
//!
//! 1. A workbook of all four kinds is checked; beside it LibreOffice turns the same file into text without looking at a
//!    cell, and Python's openpyxl walks over its cells.
//! 2. A CSV file of devices is checked, then imported; beside it `sqlite3 .import` takes the same file into a table.
//! 3. All reports of the import are written.
//!
//! Programs that are not installed are said to be missing. Memory is the most that was resident, as Linux tells it.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[path = "../samples/make/mod.rs"]
#[expect(dead_code, reason = "only the large sheets are made here")]
mod make;

/// Rows in a workbook: a part of more than 512 MB when unpacked is refused, and such sheets are sent as CSV files.
const LARGEST_WORKBOOK: u64 = 500_000;

/// What a program took.
struct Took {
    seconds: f64,
    /// Mebibytes; 0 where the system does not tell.
    memory: f64,
}

fn main() {
    let rows = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let in_workbook = rows.min(LARGEST_WORKBOOK);
    make::large(in_workbook, &at("big.xlsx"), 1).expect("a workbook");
    make::large(rows, &at("devices.csv"), 1).expect("a table");

    println!("{in_workbook} rows in a workbook");
    let check = ours(folder.path(), &["check", "big.xlsx"]);
    tell("fleetload check", &check, None);
    let profile = format!("-env:UserInstallation=file://{}", at("office").display());
    let to_text = [
        "--headless",
        "--convert-to",
        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1",
    ];
    other(
        &check,
        folder.path(),
        "soffice",
        &[&[profile.as_str()], &to_text[..], &["--outdir", "csv", "big.xlsx"]].concat(),
    );
    let walk = "import openpyxl\nfor s in openpyxl.load_workbook('big.xlsx', read_only=True):\n  for r in s.iter_rows(values_only=True): pass";
    other(&check, folder.path(), "python3", &["-c", walk]);

    println!("{rows} devices in a CSV file");
    let check = ours(folder.path(), &["check", "devices.csv"]);
    tell("fleetload check", &check, None);
    let import = ours(folder.path(), &["import", "devices.csv"]);
    tell("fleetload import", &import, None);
    other(&import, folder.path(), "sqlite3", &["table.db", ".import --csv devices.csv devices"]);
    tell("fleetload report", &ours(folder.path(), &["report"]), None);
}

fn ours(folder: &Path, arguments: &[&str]) -> Took {
    take(folder, env!("CARGO_BIN_EXE_fleetload"), arguments).expect("fleetload starts and ends well")
}

/// Tells what another program takes, and how many times as long it takes as ours.
fn other(ours: &Took, folder: &Path, program: &str, arguments: &[&str]) {
    match take(folder, program, arguments) {
        Some(took) => tell(program, &took, Some(took.seconds / ours.seconds)),
        None => println!("  {program:<18} is not installed, or does not do it"),
    }
}

fn tell(what: &str, took: &Took, ratio: Option<f64>) {
    let memory = if took.memory > 0.0 { format!("{:>8.0} MiB", took.memory) } else { String::new() };
    let ratio = ratio.map_or_else(String::new, |ratio| format!("   {ratio:.2} times as long as fleetload"));
    println!("  {what:<18} {:>8.2} s{memory}{ratio}", took.seconds);
}

/// Runs a program to its end; `None` when it is not there or fails.
fn take(folder: &Path, program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<Took> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut memory = 0.0_f64;
    loop {
        memory = memory.max(resident(child.id()));
        if let Some(status) = child.try_wait().ok()? {
            let seconds = started.elapsed().as_secs_f64();
            return status.success().then_some(Took { seconds, memory });
        }
        sleep(Duration::from_millis(5));
    }
}

/// The most memory that a process and those it has started have had resident so far, in mebibytes; 0 where the system
/// does not tell. LibreOffice is started by a script.
fn resident(process: u32) -> f64 {
    let read = |file: String| std::fs::read_to_string(file).unwrap_or_default();
    let status = read(format!("/proc/{process}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let own = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    let children = read(format!("/proc/{process}/task/{process}/children"));
    let of_children =
        children.split_whitespace().filter_map(|child| child.parse().ok()).map(resident).sum::<f64>();
    own.map_or(0.0, |kibibytes: f64| kibibytes / 1024.0) + of_children
}

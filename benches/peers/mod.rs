//! Runs programs side by side and tells what they took: seconds, memory, and the ratio to ours.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use super::measured::{self, Took};

/// Rows of the tables in `docs/performance.md`.
const USUAL: u64 = 1_000_000;

/// Times that each program is run, in turns; the fastest counts, as the machine may be busy with something else.
const ROUNDS: usize = 3;

/// A command to be measured.
pub(crate) struct Contender<'a> {
    /// What it is called in the table.
    pub(crate) name: &'a str,
    /// The program; as a path, ours.
    pub(crate) program: &'a str,
    /// Its arguments.
    pub(crate) arguments: Vec<String>,
    /// A file of its own that is removed before each run, as is everything whose name begins so.
    pub(crate) removes: Option<&'a str>,
}

impl<'a> Contender<'a> {
    /// A program with its arguments.
    pub(crate) fn new(name: &'a str, program: &'a str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        Self { name, program, arguments, removes: None }
    }

    /// The same, which makes a file each time.
    pub(crate) fn making(self, file: &'a str) -> Self {
        Self { removes: Some(file), ..self }
    }
}

/// Runs all in turns; `None` for those that are not installed or fail.
pub(crate) fn race(folder: &Path, contenders: &[Contender<'_>]) -> Vec<Option<Took>> {
    let mut best: Vec<Option<Took>> = vec![None; contenders.len()];
    for round in 0..ROUNDS {
        for (contender, best) in contenders.iter().zip(&mut best) {
            if round > 0 && best.is_none() {
                continue;
            }
            if let Some(prefix) = contender.removes {
                remove(folder, prefix);
            }
            // What the one before has written is on the disk, so that nobody pays for another.
            drop(Command::new("sync").status());
            let mut command = Command::new(contender.program);
            command
                .args(&contender.arguments)
                .current_dir(folder)
                .env("HOME", folder)
                .env_remove("FLEETLOAD_CONFIG");
            let Some(took) = measured::take(&mut command, |_| {}).filter(|took| took.code == 0) else {
                continue;
            };
            *best = Some(best.map_or(took, |known| Took {
                seconds: known.seconds.min(took.seconds),
                processors: known.processors.min(took.processors),
                memory: known.memory.max(took.memory),
                code: took.code,
            }));
        }
    }
    best
}

fn remove(folder: &Path, prefix: &str) {
    for entry in std::fs::read_dir(folder).expect("the folder").flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            std::fs::remove_file(entry.path()).expect("a file of a run before");
        }
    }
}

/// The results as a table, ours first; the ratio is how many times as long as ours the others take.
pub(crate) fn table(contenders: &[Contender<'_>], took: &[Option<Took>]) -> String {
    let ours = took.first().copied().flatten().expect("fleetload starts and ends well");
    let mut table = String::from("| | seconds | of ours | MiB |\n|---|---:|---:|---:|\n");
    for (contender, took) in contenders.iter().zip(took) {
        let _ = match took {
            Some(Took { seconds, memory, .. }) => {
                let ratio = seconds / ours.seconds;
                writeln!(table, "| {} | {seconds:.1} | {ratio:.2} | {memory:.0} |", contender.name)
            }
            None => writeln!(table, "| {} | not installed, or failed | | |", contender.name),
        };
    }
    table
}

/// Mebibytes of a file.
pub(crate) fn mebibytes(file: &Path) -> f64 {
    file.metadata().map_or(0.0, |file| file.len() as f64 / (1024.0 * 1024.0))
}

/// The number of rows that was typed, or the usual one; and whether it is the usual one.
pub(crate) fn rows() -> (u64, bool) {
    let rows = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(USUAL);
    (rows, rows == USUAL)
}

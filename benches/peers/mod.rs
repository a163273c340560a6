//! Runs programs side by side and tells what they took: seconds, memory, and the ratio to ours. Writes a section of
//! `docs/performance.md`.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Times that each program is run, in turns; the fastest counts, as the machine may be busy with something else.
const ROUNDS: usize = 2;

/// What a program took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// From start to exit.
    pub(crate) seconds: f64,
    /// The most that was resident, in mebibytes; 0 where the system does not tell.
    pub(crate) memory: f64,
}

/// A command to be measured.
pub(crate) struct Contender<'a> {
    /// What it is called in the table.
    pub(crate) name: &'a str,
    /// The program; as a path, ours.
    pub(crate) program: &'a str,
    /// What it is told.
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

    /// The same, which makes a file anew each time.
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
            let Some(took) = take(folder, contender.program, &contender.arguments) else { continue };
            *best = Some(best.map_or(took, |known| Took {
                seconds: known.seconds.min(took.seconds),
                memory: known.memory.max(took.memory),
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
            Some(Took { seconds, memory }) => {
                let ratio = seconds / ours.seconds;
                writeln!(table, "| {} | {seconds:.1} | {ratio:.2} | {memory:.0} |", contender.name)
            }
            None => writeln!(table, "| {} | not installed, or failed | | |", contender.name),
        };
    }
    table
}

/// Runs a program to its end; `None` when it is not there or fails.
fn take(folder: &Path, program: impl AsRef<OsStr>, arguments: &[String]) -> Option<Took> {
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("FLEETLOAD_CONFIG", "")
        .stdin(Stdio::null())
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
/// does not tell. A program may be started by a script.
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

/// The build of fleetload that is measured: this one, or the one that `FLEETLOAD_BUILD` names, such as that of an earlier
/// commit.
pub(crate) fn fleetload() -> String {
    std::env::var("FLEETLOAD_BUILD").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fleetload").to_owned())
}

/// Mebibytes of a file.
pub(crate) fn mebibytes(file: &Path) -> f64 {
    file.metadata().map_or(0.0, |file| file.len() as f64 / (1024.0 * 1024.0))
}

/// The number of rows that was typed, or the usual one.
pub(crate) fn rows(usual: u64) -> u64 {
    std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(usual)
}

/// Prints a result and, where it was made with the `usual` number of rows, writes it between the marks of its section in
/// `docs/performance.md`.
pub(crate) fn tell(section: &str, text: &str, is_usual: bool) {
    println!("{text}");
    if !is_usual {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let (begin, end) = (format!("<!-- {section}: begin -->\n"), format!("<!-- {section}: end -->"));
    let page = std::fs::read_to_string(&path).expect("docs/performance.md");
    let (Some(from), Some(to)) = (page.find(&begin), page.find(&end)) else {
        println!("docs/performance.md has no section {section}");
        return;
    };
    let page = format!("{}\n{}\n\n{}", &page[..from + begin.len()], text.trim(), &page[to..]);
    std::fs::write(&path, page).expect("docs/performance.md can be written");
    println!("written to docs/performance.md, section {section}");
}

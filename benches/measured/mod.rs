//! What the benches share that watch whole commands: how long one takes and how much memory, tables of that, and the sections of
//! `docs/performance.md` in which they are kept.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a command is looked at.
const LOOK: Duration = Duration::from_millis(2);

/// What a command took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) seconds: f64,
    /// Seconds that processors worked for it; 0 where the system does not tell.
    pub(crate) processors: f64,
    /// The most memory that was resident, in mebibytes; 0 where the system does not tell.
    pub(crate) memory: f64,
    /// Its exit code; -1 where a signal ended it.
    pub(crate) code: i32,
}

/// Runs a command to its end, and looks at it meanwhile; `None` where there is no such program.
pub(crate) fn take(command: &mut Command, mut look: impl FnMut(&Child)) -> Option<Took> {
    let started = Instant::now();
    let started_command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = match started_command {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        started => started.expect("a command that starts"),
    };
    let (mut memory, mut processors) = (0.0_f64, 0.0_f64);
    loop {
        memory = memory.max(resident(child.id()));
        processors = processors.max(worked(child.id()));
        look(&child);
        if let Some(status) = child.try_wait().expect("a child") {
            let seconds = started.elapsed().as_secs_f64();
            return Some(Took { seconds, processors, memory, code: status.code().unwrap_or(-1) });
        }
        sleep(LOOK);
    }
}

/// The most memory that a process and those it has started have had resident so far, in mebibytes; 0 where the system
/// does not tell. A program may be started by a script.
fn resident(process: u32) -> f64 {
    let read = |file: String| fs::read_to_string(file).unwrap_or_default();
    let status = read(format!("/proc/{process}/status"));
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let own = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    let children = read(format!("/proc/{process}/task/{process}/children"));
    let of_children =
        children.split_whitespace().filter_map(|child| child.parse().ok()).map(resident).sum::<f64>();
    own.map_or(0.0, |kibibytes: f64| kibibytes / 1024.0) + of_children
}

/// Seconds that processors have worked for a process so far; 0 where the system does not tell.
pub(crate) fn worked(process: u32) -> f64 {
    /// Ticks of a second, as Linux counts them for programs.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which may have blanks: the state, ten numbers, then what the process and the system did for it.
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

/// A table as Markdown: a header, and rows of as many cells.
pub(crate) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = header.iter().map(|_| "---".to_owned()).collect();
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{}{rows}", line(header), line(&rule))
}

/// A number with a comma after each three digits.
pub(crate) fn grouped(number: u64) -> String {
    fleetload::model::amount::count(number)
}

/// The build of fleetload that is measured: this one, or the one that `FLEETLOAD_BUILD` names, such as that of an earlier
/// commit.
pub(crate) fn fleetload() -> String {
    std::env::var("FLEETLOAD_BUILD").unwrap_or_else(|_| env!("CARGO_BIN_EXE_fleetload").to_owned())
}

/// Prints a result and, where it `is_usual`, puts it into its section of `docs/performance.md`, in the place of the one
/// before.
pub(crate) fn tell(section: &str, text: &str, is_usual: bool) {
    println!("{text}");
    if !is_usual {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance.md");
    let page = fs::read_to_string(&path).expect("docs/performance.md");
    let (begin, end) = (format!("<!-- {section}: begin -->\n"), format!("<!-- {section}: end -->"));
    let from = page.find(&begin).expect("the begin of the section") + begin.len();
    let to = page.find(&end).expect("the end of the section");
    let page = format!("{}\n{}\n\n{}", &page[..from], text.trim(), &page[to..]);
    fs::write(path, page).expect("docs/performance.md can be written");
}

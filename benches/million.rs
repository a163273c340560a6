//! How time and memory grow with the rows, command by command: `cargo bench --bench million` (10,000 and 100,000 rows),
//! `… -- 10000 100000 1000000` for other numbers.
//!
//! Devices of one company are planned, imported, sent to a simulated service on this machine that answers at once and has no
//! limit, interrupted after a third, resumed, killed after two thirds, resumed, looked at, reported and made ready again where the
//! service rejected them. The run looks up each row before it sends it and reads back what it made, as it does by default. What
//! the kill left in doubt, and never arrived, waits `settle_seconds` (60). Of each command the table has the time from start to
//! exit (of plan and import the shortest of three), the time that processors worked for it, and the most memory that was resident,
//! mapped files included, as Linux tells them. The processors' time grows with the work alone: a command also waits, for the
//! service, the disk and whoever else has the machine. The table is kept in `docs/performance.md`.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fleetload::sandbox::{Fault, FaultKind, Scenario};

use measured::{Took, fleetload, grouped, table, take, tell, worked};
use service::Service;

#[path = "../samples/make/mod.rs"]
#[expect(dead_code, reason = "only the large sheets are made here")]
mod make;
mod measured;
mod service;

/// Rows, where none are asked for.
const SIZES: [u64; 2] = [10_000, 100_000];
/// One row of so many is rejected by the service.
const REJECTED: u64 = 2_000;
/// Most mebibytes that a command may have resident.
const MEMORY: f64 = 250.0;
/// How runs end here: finished with rejected rows, or interrupted.
const FINISHED: [i32; 2] = [0, 4];
const INTERRUPTED: [i32; 1] = [5];
const KILLED: [i32; 1] = [-1];
/// What the work of the service during a run is called.
const SERVICE: &str = "processors' time of the service meanwhile";
/// How often plan and import are measured.
const TIMES: usize = 3;
/// How often the service is asked what it was asked.
const ASK: Duration = Duration::from_millis(10);

/// Seconds, or mebibytes, below which nothing is said of growth: a start takes as long.
const LEAST: f64 = 0.1;

/// What was measured of one step.
struct Step {
    what: &'static str,
    value: Value,
}

#[derive(Clone, Copy)]
enum Value {
    /// A command.
    Took(Took),
    /// Seconds from the start of a command.
    Seconds(f64),
    /// The size of a file, in mebibytes.
    Size(f64),
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::Took(took) => took.seconds,
            Self::Seconds(number) | Self::Size(number) => number,
        }
    }

    /// Seconds that processors worked for a command.
    fn processors(self) -> f64 {
        match self {
            Self::Took(took) => took.processors,
            Self::Seconds(_) | Self::Size(_) => 0.0,
        }
    }

    fn words(self) -> String {
        match self {
            Self::Took(Took { seconds, processors, memory, .. }) => {
                format!("{seconds:.2} s, {processors:.2} s, {memory:.0} MiB")
            }
            Self::Seconds(seconds) => format!("{seconds:.2} s"),
            Self::Size(size) => format!("{size:.2} MiB"),
        }
    }
}

fn main() {
    let mut sizes: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if sizes.is_empty() {
        sizes.extend(SIZES);
    }
    sizes.sort_unstable();
    let measured: Vec<Vec<Step>> = sizes
        .iter()
        .map(|rows| {
            println!("{} rows", grouped(*rows));
            steps(*rows)
        })
        .collect();
    let shown = told(&sizes, &measured);
    tell("million", &shown, true);
}

/// The table: a line for each step, a column for each number of rows, and how each grew beside the one before.
fn told(sizes: &[u64], measured: &[Vec<Step>]) -> String {
    let mut header = vec!["step".to_owned()];
    header.extend(sizes.iter().map(|rows| format!("{} rows", grouped(*rows))));
    for pair in sizes.windows(2) {
        header.push(format!("growth, of {} times the rows", grouped(pair[1] / pair[0])));
        header.push("of the processors' time".to_owned());
    }
    let rows: Vec<Vec<String>> = (0..measured[0].len())
        .map(|at| {
            let mut row = vec![measured[0][at].what.to_owned()];
            row.extend(measured.iter().map(|steps| steps[at].value.words()));
            for pair in measured.windows(2) {
                let (less, more) = (pair[0][at].value, pair[1][at].value);
                row.push(growth(less.number(), more.number()));
                row.push(growth(less.processors(), more.processors()));
            }
            row
        })
        .collect();
    let most = measured.iter().flatten().filter_map(|step| match step.value {
        Value::Took(took) => Some(took.memory),
        Value::Seconds(_) | Value::Size(_) => None,
    });
    let most = most.fold(0.0, f64::max);
    let verdict = if most <= MEMORY { "below" } else { "above" };
    format!(
        "{}\nMost memory of a command: {most:.0} MiB, {verdict} the limit of {MEMORY:.0} MiB. The \
         simulated service is a process of its own on the same machine, without limit or delay.\n\n",
        table(&header, &rows)
    )
}

/// How many times the one number is of the other, where they are large enough to tell.
fn growth(less: f64, more: f64) -> String {
    if less < LEAST { String::new() } else { format!("{:.1}", more / less) }
}

/// A folder with a profile for the service.
struct Bench {
    folder: tempfile::TempDir,
    service: Service,
    steps: Vec<Step>,
}

impl Bench {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(fleetload());
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.at("state"))
            .env("FLEETLOAD_CLIENT_SECRET", "bench-secret");
        command
    }

    /// Measures a command, whose exit code must be one of these.
    fn measure(&mut self, what: &'static str, arguments: &[&str], codes: &[i32]) {
        let took = take(&mut self.command(arguments), |_| {}).expect("fleetload");
        self.add(what, took, codes);
    }

    /// Measures a command that needs no journal several times, and keeps the shortest: it takes seconds in which a machine may
    /// be slow. The journal that is there in the end is that of the last.
    fn measure_often(&mut self, what: &'static str, arguments: &[&str]) {
        let took = (0..TIMES).map(|_| {
            for file in ["fleetload.db", "fleetload.db-wal", "fleetload.db-shm"] {
                drop(fs::remove_file(self.at(file)));
            }
            take(&mut self.command(arguments), |_| {}).expect("fleetload")
        });
        let shortest = took.min_by(|left, right| left.seconds.total_cmp(&right.seconds));
        self.add(what, shortest.expect("a measurement"), &[0]);
    }

    fn add(&mut self, what: &'static str, took: Took, codes: &[i32]) {
        assert!(codes.contains(&took.code), "{what} ended with {}", took.code);
        self.note(what, Value::Took(took));
    }

    fn note(&mut self, what: &'static str, value: Value) {
        println!("  {what:<40} {}", value.words());
        self.steps.push(Step { what, value });
    }

    /// Requests that the service got, but for those that sign in; and how many of them were to create.
    fn requests(&self) -> [u64; 2] {
        let requests = self.service.statistics().requests;
        let creations = requests.get("addDevice").copied().unwrap_or_default();
        let signing_in = requests.get("auth").copied().unwrap_or_default();
        [requests.values().sum::<u64>() - signing_in, creations]
    }

    /// A run that gets this signal after so many creations, or runs to its end without one; when its first request and its first
    /// creation arrived; and how long processors worked for the service meanwhile, for which the run waits.
    fn run(
        &mut self,
        what: &'static str,
        [request, creation]: [&'static str; 2],
        end: Option<(&str, u64)>,
        codes: &[i32],
    ) {
        let ([requests, creations], started) = (self.requests(), Instant::now());
        let of_service = worked(self.service.id());
        let (mut first_request, mut first_creation, mut end) = (None, None, end);
        let mut asked = started;
        let took = take(&mut self.command(&["run"]), |child| {
            // Until the first have arrived every look counts; after that it costs more than it shows.
            if first_creation.is_some() && (end.is_none() || asked.elapsed() < ASK) {
                return;
            }
            asked = Instant::now();
            let [all, to_create] = self.requests();
            let now = || started.elapsed().as_secs_f64();
            if first_request.is_none() && all > requests {
                first_request = Some(now());
            }
            if first_creation.is_none() && to_create > creations {
                first_creation = Some(now());
            }
            if let Some((signal, _)) = end.take_if(|(_, after)| to_create >= *after) {
                let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
                assert!(sent.expect("kill").success());
            }
        });
        self.note(request, Value::Seconds(first_request.expect("a request")));
        self.note(creation, Value::Seconds(first_creation.expect("a creation")));
        self.add(what, took.expect("fleetload"), codes);
        self.note(SERVICE, Value::Seconds(worked(self.service.id()) - of_service));
    }

    fn size(&mut self, what: &'static str, file: &Path) {
        #[expect(clippy::cast_precision_loss, reason = "a size to two digits")]
        let size = fs::metadata(file).expect("a file").len() as f64 / f64::from(1 << 20);
        self.note(what, Value::Size(size));
    }
}

/// Every step with so many rows.
fn steps(rows: u64) -> Vec<Step> {
    #[expect(clippy::cast_precision_loss, reason = "a probability")]
    let rejected = Fault::new("addDevice", FaultKind::InvalidData).probability(1.0 / REJECTED as f64);
    let scenario =
        Scenario { rate: 0, daily_quota: u64::from(u32::MAX), fault: vec![rejected], ..Scenario::default() };
    // In the target folder: a temporary folder may be in memory, and syncs cost nothing there.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    make::large(rows, &folder.path().join("devices.csv"), 1).expect("a table");
    let service = Service::start(&fleetload(), &scenario, folder.path());
    let profile = format!(
        "[profile.bench]\nbase_url = \"{}\"\nclient_id = \"bench\"\npaths = \"assumed\"\n\n\
         [profile.bench.limits]\nrate = \"unlimited\"\n\n[profile.bench.policy]\nsettle_seconds = 60\n",
        service.base_url()
    );
    fs::write(folder.path().join("fleetload.toml"), profile).expect("a profile");
    let mut bench = Bench { folder, service, steps: Vec::new() };
    bench.measure_often("plan", &["plan", "devices.csv"]);
    bench.measure_often("import", &["import", "devices.csv"]);
    bench.size("journal after import", &bench.at("fleetload.db"));
    let first = ["first request", "first creation"];
    bench.run("run of a third, interrupted, with its reports", first, Some(("-INT", rows / 3)), &INTERRUPTED);
    bench.measure("status, a third done", &["status"], &[0]);
    let first = ["first request after resuming", "first creation after resuming"];
    bench.run("run of the second third, killed", first, Some(("-KILL", rows / 3 * 2)), &KILLED);
    let first = ["first request after the kill", "first creation after the kill"];
    bench.run("run of the last third, with its reports", first, None, &FINISHED);
    bench.measure("status, finished", &["status"], &[0]);
    bench.measure("report", &["report"], &[0]);
    for (what, name) in
        [("results.xlsx", "results.xlsx"), ("report.html", "report.html"), ("results.jsonl", "results.jsonl")]
    {
        bench.size(what, &bench.at("reports/1").join(name));
    }
    bench.measure("retry of what was rejected", &["retry", "1"], &[0]);
    bench.measure("status, after retry", &["status"], &[0]);
    bench.steps
}

//! How many runs for as many accounts one machine carries, each a process with a journal of its own:
//! `cargo bench --bench accounts` (1, 10, 20 and 40 runs), `… -- 5 80` for other numbers.
//!
//! Each account has a simulated service of its own, with the limit of the real one and answers after 50 to 150 ms; all of
//! them are in this process, on the same machine, so that they take their part of its processors. The processor time of
//! the runs and that of the services are counted apart, as Linux tells them.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use fleetload::sandbox::{Running, Sandbox, Scenario, wall_clock};

#[path = "../samples/make/mod.rs"]
#[expect(dead_code, reason = "only the large sheets are made here")]
mod make;
#[expect(dead_code, reason = "no tables of commands here")]
mod measured;

/// Numbers of runs, where none are asked for.
const RUNS: [usize; 4] = [1, 10, 20, 40];
/// Devices of each run.
const DEVICES: u64 = 1_000;
/// Creations at the beginning and at the end that are not counted for the pace: the rows that wait for the first look-ups
/// and for the slowest ones.
const EDGE: usize = 100;
/// Milliseconds that an answer takes.
const LATENCY: [u64; 2] = [50, 150];

/// What was measured of one number of runs.
struct Seen {
    /// Seconds from the start of the first to the end of the last.
    seconds: f64,
    /// Devices a second of each run, the slowest first.
    paces: Vec<f64>,
    /// Mebibytes that all runs had resident, if all had their most at once.
    memory: f64,
    /// Seconds of processor time, of the runs and of the services.
    processor: [f64; 2],
    most_in_a_second: u32,
    refused: u64,
}

fn main() {
    let mut numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let is_usual = numbers.is_empty();
    if is_usual {
        numbers.extend(RUNS);
    }
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "{DEVICES} devices for each account, with `audit = \"all\"`; answers after {} to {} ms; {processors} processors:\n\n\
         | runs | seconds to the last exit | devices a second, slowest and median run | most in a second | refused | MiB, all \
         runs | processors used by the runs | by the services |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        LATENCY[0], LATENCY[1]
    );
    for number in numbers {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let seen = runs(&runtime, number);
        let [of_runs, of_services] = seen.processor.map(|seconds| seconds / seen.seconds);
        let _ = writeln!(
            text,
            "| {number} | {:.1} | {:.1}, {:.1} | {} | {} | {:.0} | {of_runs:.2} | {of_services:.2} |",
            seen.seconds,
            seen.paces[0],
            seen.paces[number / 2],
            seen.most_in_a_second,
            seen.refused,
            seen.memory,
        );
    }
    measured::tell("accounts", &text, is_usual);
}

/// Runs so many commands side by side, each against a service of its own.
fn runs(runtime: &tokio::runtime::Runtime, number: usize) -> Seen {
    let scenario = Scenario { latency_ms: LATENCY, daily_quota: u64::MAX, ..Scenario::default() };
    let services: Vec<Running> = (0..number)
        .map(|_| {
            let sandbox = Sandbox::new(scenario.clone(), wall_clock()).expect("a scenario");
            runtime.block_on(Running::start(Arc::new(sandbox))).expect("a free port")
        })
        .collect();
    // In the target folder: a temporary folder may be in memory, and syncs cost nothing there.
    let folders: Vec<tempfile::TempDir> = services
        .iter()
        .map(|service| {
            let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
            make::large(DEVICES, &folder.path().join("devices.csv"), 1).expect("a table");
            let profile = format!(
                "[profile.bench]\nbase_url = \"{}\"\nclient_id = \"bench\"\npaths = \"assumed\"\n",
                service.base_url()
            );
            fs::write(folder.path().join("fleetload.toml"), profile).expect("a profile");
            folder
        })
        .collect();
    let services_before = measured::worked(std::process::id());
    let started = Instant::now();
    let took = thread::scope(|scope| {
        let runs: Vec<_> = folders
            .iter()
            .map(|folder| {
                let mut command = Command::new(measured::fleetload());
                command
                    .args(["run", "devices.csv"])
                    .current_dir(folder.path())
                    .env("HOME", folder.path())
                    .env("XDG_STATE_HOME", folder.path().join("state"))
                    .env("FLEETLOAD_CLIENT_SECRET", "bench-secret");
                scope.spawn(move || measured::take(&mut command, |_| {}).expect("fleetload"))
            })
            .collect();
        runs.into_iter().map(|run| run.join().expect("a run")).collect::<Vec<_>>()
    });
    let seconds = started.elapsed().as_secs_f64();
    let by_services = measured::worked(std::process::id()) - services_before;
    let failed: Vec<String> = took
        .iter()
        .zip(folders)
        .filter(|(took, _)| took.code != 0)
        .map(|(took, folder)| told(took, folder))
        .collect();
    assert!(failed.is_empty(), "runs ended otherwise:\n{}", failed.join("\n"));
    let statistics: Vec<_> =
        services.iter().map(|service| service.sandbox().statistics(wall_clock())).collect();
    let mut paces: Vec<f64> = services.iter().map(pace).collect();
    paces.sort_by(f64::total_cmp);
    for service in services {
        runtime.block_on(service.stop());
    }
    Seen {
        seconds,
        paces,
        memory: took.iter().map(|took| took.memory).sum(),
        processor: [took.iter().map(|took| took.processors).sum(), by_services],
        most_in_a_second: statistics.iter().map(|one| one.most_in_a_second["addDevice"]).max().unwrap_or(0),
        refused: statistics.iter().filter_map(|one| one.answers.get("rateLimitExceeded")).sum(),
    }
}

/// How a run ended that did not end well, and what its journal tells of it; its folder is kept.
fn told(took: &measured::Took, folder: tempfile::TempDir) -> String {
    let folder = folder.keep();
    let status = Command::new(measured::fleetload()).arg("status").current_dir(&folder).output();
    let status =
        status.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    format!("{took:?}, {}:\n{status}", folder.display())
}

/// Devices a second that one service was asked for.
fn pace(service: &Running) -> f64 {
    let ledger = service.sandbox().ledger(wall_clock());
    let mut times: Vec<i64> = ledger
        .iter()
        .filter(|entry| entry.operation == "addDevice")
        .map(|entry| entry.at.as_millisecond())
        .collect();
    times.sort_unstable();
    let times = &times[EDGE..times.len() - EDGE];
    (times.len() - 1) as f64 * 1000.0 / (times[times.len() - 1] - times[0]) as f64
}

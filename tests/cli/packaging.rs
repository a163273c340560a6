//! What the package brings: units that are valid and hardened, whose command lines work, and a service that systemd can
//! follow.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fleetload::sandbox::Scenario;

use crate::bench::{self, Bench};

/// The most that `systemd-analyze security` may find a unit exposed, in tenths.
const EXPOSURE: &str = "--threshold=25";

fn units() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/systemd");
    let mut units: Vec<PathBuf> =
        fs::read_dir(folder).expect("the units").map(|entry| entry.expect("an entry").path()).collect();
    units.retain(|unit| unit.extension().is_some_and(|ending| ending == "service" || ending == "timer"));
    units.sort();
    assert!(units.len() >= 6, "{units:?}");
    units
}

/// What `systemd-analyze` says; `None` where it is not installed.
fn analyze(arguments: &[&str], unit: &Path) -> Option<Output> {
    match Command::new("systemd-analyze").args(arguments).arg(unit).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let missing = "systemd-analyze is not installed: the units were not looked at";
            writeln!(std::io::stderr(), "{missing}").expect("stderr");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The lines of a unit that set `key`, without it.
fn values(unit: &Path, key: &str) -> Vec<String> {
    let text = fs::read_to_string(unit).expect("a unit");
    let prefix = format!("{key}=");
    text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
}

#[test]
fn every_unit_is_valid() {
    for unit in units() {
        let Some(output) = analyze(&["verify", "--man=no"], &unit) else { return };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // The programs of the package are not installed here.
        let wrong: Vec<&str> = said.lines().filter(|line| !line.contains("is not executable")).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", unit.display());
    }
}

/// A command that leaves work to the next time is no failure that anybody is told of.
#[test]
fn no_unit_reports_as_a_failure_that_work_is_left() {
    let mut reported = 0;
    for unit in units().iter().filter(|unit| !values(unit, "OnFailure").is_empty()) {
        assert_eq!(values(unit, "SuccessExitStatus"), ["5"], "{}", unit.display());
        reported += 1;
    }
    assert_eq!(reported, 3);
}

#[test]
fn every_service_that_runs_fleetload_is_hardened() {
    for unit in units() {
        let runs = values(&unit, "ExecStart");
        if !runs.iter().any(|line| line.starts_with("/usr/bin/fleetload ")) {
            continue;
        }
        let Some(output) = analyze(&["security", "--offline=true", EXPOSURE], &unit) else { return };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}: {}", unit.display(), said.lines().last().unwrap_or_default());
    }
}

/// The arguments of the command lines of a unit, with the bench's folder for those of the machine.
fn command_lines(unit: &str, bench: &Bench) -> Vec<Vec<String>> {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/systemd").join(unit);
    let folder = bench.path("");
    let folder = folder.to_str().expect("a name").trim_end_matches('/');
    values(&unit, "ExecStart")
        .iter()
        .map(|line| {
            let line = line.replace("%S/fleetload", folder).replace("/etc/fleetload", folder);
            line.split(' ').skip(1).map(str::to_owned).collect()
        })
        .collect()
}

#[test]
fn the_first_night_and_the_housekeeping_are_run_by_the_command_lines_of_the_units() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    for line in command_lines("fleetload.service", &bench) {
        let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
        bench.fleetload(&arguments).expect_code(0);
    }
    bench.assert_exact(1);
    // Twice: the second backup replaces the first.
    for _ in 0..2 {
        for line in command_lines("fleetload-housekeeping.service", &bench) {
            let arguments: Vec<&str> = line.iter().map(String::as_str).collect();
            bench.fleetload(&arguments).expect_code(0);
        }
    }
    bench.fleetload(&["backup", "--check", "fleetload.backup.db"]).expect_code(0);
}

#[cfg(unix)]
#[test]
fn a_watch_reports_to_systemd_that_it_works_what_it_did_and_that_it_ends() {
    use std::os::unix::net::UnixDatagram;

    let bench = Bench::new(Scenario::default());
    fs::create_dir(bench.path("inbox")).expect("a folder");
    let socket = UnixDatagram::bind(bench.path("notify")).expect("a socket");
    let hear = || {
        let mut bytes = [0; 4096];
        let length = socket.recv(&mut bytes).expect("a message");
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    };
    let line = command_lines("fleetload-watch.service", &bench).remove(0);
    let mut arguments: Vec<&str> = line.iter().map(String::as_str).collect();
    arguments.extend(["--at-rest", "0", "--every", "1"]);
    let mut command = bench.command(&arguments);
    command.env("NOTIFY_SOCKET", bench.path("notify"));
    let watch = bench::child::UnderWay::start(command);
    let ready = hear();
    assert!(ready.starts_with("READY=1\nSTATUS=watching "), "{ready}");
    bench.write("companies.csv", &bench::companies(2));
    fs::rename(bench.path("companies.csv"), bench.path("inbox/companies.csv")).expect("a folder");
    assert_eq!(hear().trim_end(), "STATUS=companies.csv: done, import 1, 2 rows: 2 created");
    watch.signal("-TERM");
    assert_eq!(hear().trim_end(), "STOPPING=1");
    watch.ended().expect_code(5);
}

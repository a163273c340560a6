//! `watch`: sheets that are put into a folder are run once for each content, whoever writes, renames, deletes and links there,
//! and whenever it is killed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};

/// One look; files count as whole at once.
const ONCE: [&str; 5] = ["watch", "inbox", "--once", "--at-rest", "0"];

fn with_inbox(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    fs::create_dir(bench.path("inbox")).expect("a folder");
    bench
}

/// Dates a file two hours back, as one that was written elsewhere is.
fn age(file: &Path) {
    let file = fs::File::options().write(true).open(file).expect("a file");
    file.set_modified(SystemTime::now() - Duration::from_secs(7_200)).expect("a date");
}

/// What is in a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The objects about files of an output with `--json`.
fn told(stdout: &str) -> Vec<Value> {
    let objects = stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    objects.filter(|object| object["object"] == "file").collect()
}

#[test]
fn each_file_is_run_and_moved_with_its_reports_and_one_line_says_so() {
    let bench = with_inbox(Scenario::default());
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    bench.write(
        "inbox/2-bad.csv",
        &bench::companies(3).replace("Customer 2,+64 9 555 0002", "Customer 2,no number"),
    );
    bench.write("inbox/3-devices.csv", &bench::devices(4, 2));
    let outcome = bench.fleetload(&ONCE).expect_code(3);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", outcome.stdout);
    for (line, words) in lines.iter().zip([
        "1-companies.csv: done, import 1, 2 rows: 2 created; see inbox/done/1-companies.csv",
        "2-bad.csv: failed, not imported: the sheets have errors; see inbox/failed/2-bad.csv",
        "3-devices.csv: done, import 2, 4 rows: 4 created; see inbox/done/3-devices.csv",
    ]) {
        assert!(line.ends_with(words) && line.starts_with("20"), "{line}\n{words}");
    }
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (2, 4));
    assert_eq!(names(&bench.path("inbox")), [".fleetload-watch.lock", "done", "failed", "working"]);
    assert_eq!(names(&bench.path("inbox/working")), [""; 0]);
    assert_eq!(
        names(&bench.path("inbox/done/1-companies.csv")),
        ["1-companies.csv", "fleetload.log", "reports"]
    );
    let reports = names(&bench.path("inbox/done/1-companies.csv/reports"));
    for report in ["report.html", "results.xlsx", "summary.json"] {
        assert!(reports.iter().any(|name| name == report), "{reports:?}");
    }
    // The cell is named in the log of the file.
    let log = fs::read_to_string(bench.path("inbox/failed/2-bad.csv/fleetload.log")).expect("the log");
    assert!(log.contains("no number") && log.contains("nothing was imported"), "{log}");
    assert!(bench.path("inbox/failed/2-bad.csv/2-bad.csv").exists());
    assert!(!bench.path("inbox/failed/2-bad.csv/reports").exists());
    bench.assert_exact_all(&[1, 2]);

    // Nothing is there: nothing is said.
    let outcome = bench.fleetload(&ONCE).expect_code(0);
    assert_eq!(outcome.stdout, "");
}

#[test]
fn a_content_is_imported_once_under_whatever_name_it_comes() {
    let bench = with_inbox(Scenario::default());
    for name in ["companies.csv", "again.csv", "companies.csv"] {
        bench.write(&format!("inbox/{name}"), &bench::companies(2));
        let outcome = bench.fleetload(&[&ONCE[..], &["--json"]].concat()).expect_code(0);
        let told = told(&outcome.stdout);
        assert_eq!((&told[0]["import"], &told[0]["state"]), (&1.into(), &"done".into()), "{told:?}");
        assert_eq!(
            told[0]["imported_before"],
            told[0]["file"] != "companies.csv" || bench.path("inbox/done/again.csv").exists()
        );
    }
    assert_eq!(bench.created("company").len(), 2);
    assert_eq!(names(&bench.path("inbox/done")), ["again.csv", "companies.csv", "companies.csv-2"]);
    // A corrected one is another content, and continues.
    bench.write("inbox/companies.csv", &bench::companies(3));
    bench.fleetload(&ONCE).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_not_imported_and_those_after_it_are() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::Command;
    let bench = with_inbox(Scenario::default());
    let unreadable = bench.write("inbox/1-unreadable.csv", &bench::companies(1));
    fs::set_permissions(&unreadable, fs::Permissions::from_mode(0o000)).expect("own file");
    bench.write("inbox/2-companies.csv", &bench::companies(2));
    let command = bench.command(&ONCE);
    // Who may read every file is asked to do without that right.
    let outcome = if fs::File::open(&unreadable).is_err() {
        bench.fleetload(&ONCE)
    } else {
        let mut limited = Command::new("setpriv");
        limited.arg("--bounding-set=-dac_override,-dac_read_search");
        limited.arg(command.get_program()).args(command.get_args());
        limited.current_dir(command.get_current_dir().expect("a folder"));
        limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        match limited.output() {
            Ok(output) if output.status.code() != Some(127) => Outcome::of(output),
            other => {
                return eprintln!("SKIPPED: no way to do without the right to read every file: {other:?}");
            }
        }
    };
    let outcome = outcome.expect_code(3);
    assert!(outcome.stdout.contains("1-unreadable.csv: failed, not imported: the sheets"), "{outcome:?}");
    assert!(outcome.stdout.contains("2-companies.csv: done, import 1, 2 rows: 2 created"), "{outcome:?}");
    let log = fs::read_to_string(bench.path("inbox/failed/1-unreadable.csv/fleetload.log")).expect("the log");
    assert!(log.contains("file.unreadable"), "{log}");
    assert_eq!(bench.created("company").len(), 2);
}

#[test]
fn rows_that_the_service_rejects_bring_the_file_to_failed_with_the_rows_to_correct() {
    let bench = with_inbox(Scenario::default());
    let refuse = Fault::new("addCompany", FaultKind::InvalidData).after(1).times(1);
    bench.sandbox().change(|scenario| scenario.fault.push(refuse)).expect("a consistent scenario");
    bench.write("inbox/companies.csv", &bench::companies(3));
    let outcome = bench.fleetload(&ONCE).expect_code(4);
    assert!(outcome.stdout.contains("failed, import 1, 3 rows"), "{}", outcome.stdout);
    assert!(bench.path("inbox/failed/companies.csv/reports/fix.xlsx").exists());
}

#[test]
fn killed_at_any_time_it_goes_on_at_the_next_start_and_creates_nothing_twice() {
    let bench = with_inbox(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 90", "");
    bench.write("inbox/1-companies.csv", &bench::companies(3));
    bench.write("inbox/2-devices.csv", &bench::devices(120, 3));
    let silent = Fault::new("addDevice", FaultKind::StallBefore).after(60);
    bench.sandbox().change(|scenario| scenario.fault.push(silent)).expect("a consistent scenario");
    let mut watch = bench.start(&["watch", "inbox", "--every", "1", "--at-rest", "0"]);
    watch.until(|| bench.statistics().faults_fired.contains_key("stall_before"));
    assert_eq!(names(&bench.path("inbox/working")), ["2-devices.csv"]);
    watch.kill();
    bench.clear_faults();

    let outcome = bench.fleetload(&ONCE).expect_code(0);
    assert!(outcome.stdout.contains("2-devices.csv: done, import 2, 120 rows"), "{}", outcome.stdout);
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (3, 120));
    assert_eq!(names(&bench.path("inbox/done")), ["1-companies.csv", "2-devices.csv"]);
    bench.assert_exact_all(&[1, 2]);
}

/// A watch that is killed when all five rows are created, while it verifies a device.
fn kill_while_verifying(bench: &Bench) {
    let silent = Fault::new("getDevice", FaultKind::StallBefore);
    bench.sandbox().change(|scenario| scenario.fault.push(silent)).expect("a consistent scenario");
    let mut watch = bench.start(&["watch", "inbox", "--every", "1", "--at-rest", "0"]);
    watch.until(|| bench.statistics().faults_fired.contains_key("stall_before"));
    let counts = || bench.fleetload(&["status", "--json"]).summary()["counts"].clone();
    watch.until(|| counts()["created"] == 5);
    watch.kill();
}

#[test]
fn a_file_whose_rows_are_done_and_not_verified_as_the_watch_was_killed_is_verified_at_the_next_start() {
    let bench = with_inbox(Scenario { rate: 0, ..Scenario::default() });
    bench.write("inbox/1-companies.csv", &bench::companies(1));
    bench.write("inbox/2-devices.csv", &bench::devices(4, 1));
    kill_while_verifying(&bench);
    bench.clear_faults();
    assert_eq!(names(&bench.path("inbox/working")), ["2-devices.csv"]);

    let outcome = bench.fleetload(&ONCE).expect_code(0);
    assert!(outcome.stdout.contains("2-devices.csv: done, import 2, 4 rows: 4 created"), "{outcome:?}");
    assert_eq!(names(&bench.path("inbox/done/2-devices.csv")), ["2-devices.csv", "fleetload.log", "reports"]);
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(status.contains("5 records verified: all there"), "{status}");
}

#[test]
fn a_file_whose_rows_are_not_to_be_verified_any_more_after_a_kill_is_done() {
    let bench = with_inbox(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.write("inbox/devices.csv", &bench::devices(4, 1));
    kill_while_verifying(&bench);
    bench.fleetload(&["status", "--check"]).expect_code(5);

    let outcome = bench.fleetload(&[&ONCE[..], &["--audit", "none"]].concat()).expect_code(0);
    assert!(outcome.stdout.contains("devices.csv: done, import 2, 4 rows: 4 created"), "{outcome:?}");
    assert_eq!(names(&bench.path("inbox/working")), [""; 0]);
    let status = bench.fleetload(&["status", "--check"]).expect_code(0).stdout;
    assert!(status.contains("4 records are not verified yet"), "{status}");
}

#[test]
fn a_file_whose_rows_cannot_be_verified_is_done_and_not_run_again() {
    let by_id = Fault::new("getDevice", FaultKind::Error500Before);
    let by_key = Fault::new("getDeviceByMac", FaultKind::Error500Before).after(3);
    let bench = with_inbox(Scenario { rate: 0, ..Scenario::default() }.with_fault(by_id).with_fault(by_key));
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.write("inbox/devices.csv", &bench::devices(3, 1));
    bench.fleetload(&ONCE).expect_code(0);
    let asked = bench.requests("getDeviceByMac");
    assert!(bench.statistics().faults_fired["error_500_before"] >= 3);
    bench.write("inbox/again.csv", &bench::devices(3, 1));
    let outcome = bench.fleetload(&ONCE).expect_code(0);
    assert!(outcome.stdout.contains("again.csv: done, already imported as import 2"), "{outcome:?}");
    assert_eq!(bench.requests("getDeviceByMac"), asked, "nothing was to be done");
}

#[test]
fn a_signal_ends_it_in_order_while_it_waits_and_while_it_runs() {
    let bench = with_inbox(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 50", "");
    let arguments = ["watch", "inbox", "--every", "1", "--at-rest", "0"];
    let mut idle = bench.start(&arguments);
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    idle.until(|| bench.path("inbox/done/1-companies.csv").exists());
    idle.signal("-TERM");
    let outcome = idle.ended().expect_code(5);
    assert!(outcome.stdout.contains("1-companies.csv: done"), "{}", outcome.stdout);

    bench.write("inbox/2-devices.csv", &bench::devices(200, 2));
    let mut at_work = bench.start(&arguments);
    at_work.until(|| bench.requests("addDevice") > 20);
    at_work.signal("-TERM");
    at_work.ended().expect_code(5);
    assert!(bench.created("device").len() < 200, "it ended early");
    assert_eq!(names(&bench.path("inbox/working")), ["2-devices.csv"]);
    bench.fleetload(&ONCE).expect_code(0);
    assert_eq!(bench.created("device").len(), 200);
    bench.assert_exact_all(&[1, 2]);
}

#[test]
fn a_second_watch_of_the_same_folder_is_refused() {
    let bench = with_inbox(Scenario::default());
    let mut first = bench.start(&["watch", "inbox", "--every", "1"]);
    first.until(|| bench.path("inbox/done").exists());
    let outcome = bench.fleetload(&ONCE).expect_code(5);
    let holder = format!("another watch of inbox is at work (process {})", first.id());
    assert!(outcome.stdout.contains(&holder), "{}", outcome.stdout);
    first.signal("-INT");
    first.ended().expect_code(5);
    bench.fleetload(&ONCE).expect_code(0);
}

#[test]
#[cfg(unix)]
fn links_hidden_files_and_odd_names_are_left_alone_and_what_may_be_meant_is_said() {
    let bench = with_inbox(Scenario::default());
    bench.write("secret.csv", &bench::companies(2));
    std::os::unix::fs::symlink(bench.path("secret.csv"), bench.path("inbox/link.csv")).expect("a link");
    for name in [".hidden.csv", "~$a.xlsx", ".~lock.a.csv#", "notes.md", "a\u{202e}vsc.csv", "a.csv.part"] {
        bench.write(&format!("inbox/{name}"), &bench::companies(2));
    }
    let before = names(&bench.path("inbox"));
    let outcome = bench.fleetload(&ONCE).expect_code(0);
    assert!(outcome.stderr.contains("link.csv: left alone: a link"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("a\\u{202e}vsc.csv: left alone"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("hidden") && outcome.stdout.is_empty(), "{}", outcome.stderr);
    assert!(bench.ledger().is_empty() && !bench.path("fleetload.db").exists());
    let after = names(&bench.path("inbox"));
    assert!(before.iter().all(|name| after.contains(name)), "{after:?}");

    fs::remove_dir(bench.path("inbox/done")).expect("a folder");
    fs::create_dir(bench.path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink(bench.path("elsewhere"), bench.path("inbox/done")).expect("a link");
    let outcome = bench.fleetload(&ONCE).expect_code(2);
    assert!(outcome.stderr.contains("inbox/done is a link"), "{}", outcome.stderr);
}

#[test]
fn a_file_that_is_still_written_is_left_until_it_is_whole() {
    let bench = with_inbox(Scenario::default());
    bench.write("inbox/companies.csv", &bench::companies(2));
    let outcome = bench.fleetload(&["watch", "inbox", "--once", "--at-rest", "60m"]).expect_code(0);
    assert!(outcome.stderr.contains("1 file has changed lately"), "{}", outcome.stderr);
    assert!(bench.path("inbox/companies.csv").exists() && bench.ledger().is_empty());
    // Written elsewhere and renamed in, it is as old as its last change.
    age(&bench.path("inbox/companies.csv"));
    bench.fleetload(&["watch", "inbox", "--once", "--at-rest", "60m"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
}

#[test]
fn a_file_that_is_dated_ahead_of_the_clock_is_taken_when_it_does_not_change_between_two_looks() {
    let bench = with_inbox(Scenario::default());
    let path = bench.write("inbox/companies.csv", &bench::companies(2));
    let ahead = SystemTime::now() + Duration::from_secs(7_200);
    let file = fs::File::options().write(true).open(&path).expect("a file");
    file.set_modified(ahead).expect("a date");
    let outcome = bench.fleetload(&["watch", "inbox", "--once", "--at-rest", "1"]).expect_code(0);
    let words = "1 file is dated ahead of this machine's clock: looked at again after 1 s";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("companies.csv: done, import 1"), "{}", outcome.stdout);
    assert_eq!(bench.created("company").len(), 2);
}

#[test]
fn a_file_that_waits_is_told_with_the_reason_and_again_only_when_that_changes() {
    let bench = with_inbox(Scenario::default());
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    let refused = Fault::new("auth", FaultKind::InvalidClient);
    bench.sandbox().change(|scenario| scenario.fault.push(refused)).expect("a consistent scenario");
    let mut watch = bench.start(&["watch", "inbox", "--every", "1", "--at-rest", "0", "--json"]);
    let waiting = |watch: &mut UnderWay| {
        watch.news().find(|line| line.contains(r#""state":"waiting""#)).expect("a file waits")
    };
    let told_first = waiting(&mut watch);
    let refused = "the service refuses the client id, the secret or a fresh access token; to find the cause: fleetload doctor";
    assert!(told_first.contains(refused), "{told_first}");
    let tries = bench.requests("auth");
    watch.until(|| bench.requests("auth") > tries);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let told_next = waiting(&mut watch);
    assert!(
        told_next.contains("the import is paused; to let it go on: fleetload resume 1"),
        "not the same again: {told_next}"
    );
    bench.clear_faults();
    bench.fleetload(&["resume", "1"]).expect_code(0);
    watch.until(|| bench.path("inbox/done/1-companies.csv").exists());
    watch.signal("-TERM");
    let told = told(&watch.ended().expect_code(5).stdout);
    assert_eq!(told.iter().map(|told| &told["state"]).collect::<Vec<_>>(), ["done"], "{told:?}");
}

#[test]
fn while_the_quota_is_spent_the_file_waits_and_others_are_imported() {
    let bench = with_inbox(Scenario { daily_quota: 3, ..Scenario::default() });
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    bench.write("inbox/2-devices.csv", &bench::devices(4, 2));
    bench.write("inbox/3-sites.csv", &bench::sites(2, 2));
    let outcome = bench.fleetload(&ONCE).expect_code(5);
    assert!(outcome.stdout.contains("2-devices.csv: waiting, import 2, 4 rows"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("3-sites.csv: waiting, import 3, 2 rows"), "{}", outcome.stdout);
    assert_eq!(names(&bench.path("inbox/working")), ["2-devices.csv", "3-sites.csv"]);
}

#[cfg(unix)]
#[test]
fn of_rows_with_which_the_watch_goes_on_no_command_is_advised_and_each_log_says_how_its_own_file_stands() {
    let bench = with_inbox(Scenario { daily_quota: 3, ..Scenario::default() });
    bench.notify("command = [\"sh\", \"-c\", \"cat > told\"]");
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    bench.write("inbox/2-devices.csv", &bench::devices(4, 2));
    bench.write("inbox/3-sites.csv", &bench::sites(2, 2));
    bench.fleetload(&ONCE).expect_code(5);
    let log = |name: &str| fs::read_to_string(bench.path(name)).expect("the log");
    let devices = log("inbox/working/2-devices.csv/fleetload.log");
    assert!(devices.contains("today's quota is spent") && !devices.contains("fleetload run"), "{devices}");
    assert!(devices.ends_with("2-devices.csv: import 2, 4 rows: 3 waiting, 1 created\n"), "{devices}");
    let told: Value = serde_json::from_str(&log("told")).expect("JSON");
    assert_eq!((&told["event"], &told["next"]), (&"parked".into(), &Value::Null), "{told}");

    bench.sandbox().change(|scenario| scenario.daily_quota = 100).expect("a consistent scenario");
    bench.fleetload(&ONCE).expect_code(0);
    let devices = log("inbox/done/2-devices.csv/fleetload.log").split_off(devices.len());
    assert!(
        devices.starts_with("all rows that are left are run, those of every file that waits\n"),
        "{devices}"
    );
    assert!(devices.ends_with("2-devices.csv: import 2, 4 rows: 4 created\n"), "{devices}");
    let sites = log("inbox/done/3-sites.csv/fleetload.log");
    assert!(sites.ends_with("3-sites.csv: import 3, 2 rows: 2 created\n"), "{sites}");
}

#[test]
fn outside_its_window_the_file_waits_until_it_opens_and_others_are_checked() {
    for on_close in ["", "on_close = \"wait\"\n"] {
        let bench = with_inbox(Scenario::default());
        let (window, opens) = crate::windows::in_two_hours();
        let profile = fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
        let table = format!("\n[profile.bench.window]\nbetween = [\"{window}\"]\nzone = \"UTC\"\n{on_close}");
        bench.write("fleetload.toml", &(profile + &table));
        bench.write("inbox/1-companies.csv", &bench::companies(2));
        bench.write("inbox/2-companies.csv", "operation,name\n,\n");
        let outcome = bench.fleetload(&ONCE).expect_code(3);
        let goes_on = format!("goes on {}", opens.strftime("%Y-%m-%d %H:%M"));
        let told = &outcome.stdout;
        assert!(told.contains("1-companies.csv: waiting, import 1, 2 rows: 2 waiting; goes on "), "{told}");
        assert!(told.contains(&goes_on), "{goes_on}: {told}");
        assert!(told.contains("2-companies.csv: failed, not imported: "), "{told}");
        assert_eq!(bench.statistics().tokens_issued, 0, "no request left");
    }
}

#[test]
fn a_file_with_a_row_on_hold_waits_as_long_as_its_other_rows_go_on() {
    let lost = Fault::new("addDevice", FaultKind::RequestLost).times(1);
    let bench = with_inbox(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("first.csv", &bench::companies(1));
    bench.fleetload(&["run", "first.csv"]).expect_code(0);
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["pause", "2"]).expect_code(0);
    bench.write("inbox/devices.csv", &bench::devices(2, 2));
    let outcome = bench.fleetload(&ONCE).expect_code(5);
    assert!(
        outcome.stdout.contains("devices.csv: waiting, import 3, 2 rows: 1 waiting, 1 held"),
        "{outcome:?}"
    );
    bench.fleetload(&["resume", "2"]).expect_code(0);
    let outcome = bench.fleetload(&ONCE).expect_code(8);
    assert!(
        outcome.stdout.contains("devices.csv: failed, import 3, 2 rows: 1 held, 1 created"),
        "{outcome:?}"
    );
}

#[test]
fn what_is_wrong_with_the_folder_or_the_profile_is_said_before_a_file_is_taken() {
    let bench = with_inbox(Scenario::default());
    bench.write("inbox/companies.csv", &bench::companies(2));
    bench.fleetload(&["watch", "nowhere", "--once"]).expect_code(2);
    bench.fleetload(&["watch", "inbox/companies.csv", "--once"]).expect_code(2);
    bench.fleetload(&[&ONCE[..], &["--customer", "nobody"]].concat()).expect_code(2);
    bench.profile("confirm = true", "", "");
    let told = bench.fleetload(&ONCE).expect_code(2).stderr;
    assert!(told.contains("add --yes"), "{told}");
    fs::write(bench.path("secret"), "").expect("a file");
    bench.fleetload(&[&ONCE[..], &["--yes"]].concat()).expect_code(2);
    assert!(bench.path("inbox/companies.csv").exists());
}

/// The file is open in another program, which goes on writing after the watch has taken it.
#[test]
fn what_is_written_to_a_file_while_it_is_read_is_read_as_well() {
    let bench = with_inbox(Scenario::default());
    bench.write("inbox/1-companies.csv", &bench::companies(2));
    bench.fleetload(&ONCE).expect_code(0);
    let whole = bench::devices(4, 2);
    let at = whole.match_indices('\n').nth(2).expect("three lines").0 + 1;
    bench.write("inbox/devices.csv", &whole[..at]);
    let mut writer = fs::File::options().append(true).open(bench.path("inbox/devices.csv")).expect("a file");
    let late = Fault::new("addDevice", FaultKind::Latency).ms(2_000).times(1);
    bench.sandbox().change(|scenario| scenario.fault.push(late)).expect("a consistent scenario");
    let mut watch = bench.start(&ONCE);
    watch.until(|| bench.statistics().faults_fired.contains_key("latency"));
    std::io::Write::write_all(&mut writer, &whole.as_bytes()[at..]).expect("a file");
    let outcome = watch.ended().expect_code(0);
    assert!(
        outcome.stderr.contains("devices.csv: it was written to while it was read"),
        "{}",
        outcome.stderr
    );
    assert_eq!(bench.created("device").len(), 2);
    assert_eq!(fs::read_to_string(bench.path("inbox/devices.csv")).expect("the file"), whole);

    bench.fleetload(&ONCE).expect_code(0);
    assert_eq!(bench.created("device").len(), 4);
    assert!(bench.path("inbox/done/devices.csv-2/devices.csv").exists());
    bench.assert_exact_all(&[1, 3]);
}

/// The file is open in another program, which has not written all of it when the watch takes it.
#[cfg(unix)]
#[test]
fn a_file_that_is_not_imported_and_was_written_to_meanwhile_is_taken_again_and_not_reported_as_failed() {
    let bench = with_inbox(Scenario::default());
    bench.profile("metrics_file = \"metrics.prom\"", "", "");
    bench.notify("command = [\"touch\", \"told\"]");
    let (written, whole) = (bench::companies(2), bench::companies(3));
    let path = bench.write("inbox/companies.csv", &written);
    let mut writer = fs::File::options().append(true).open(path).expect("a file");
    let late = Fault::new("getCompany", FaultKind::Latency).ms(2_000).times(1);
    bench.sandbox().change(|scenario| scenario.fault.push(late)).expect("a consistent scenario");
    let mut watch = bench.start(&ONCE);
    watch.until(|| bench.statistics().faults_fired.contains_key("latency"));
    std::io::Write::write_all(&mut writer, &whole.as_bytes()[written.len()..]).expect("a file");
    let outcome = watch.ended().expect_code(0);
    assert_eq!(outcome.stdout, "", "nothing is known of it yet");
    let words = "companies.csv: it was written to while it was read; it is read again";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
    for name in ["told", "metrics.prom"] {
        assert!(!bench.path(name).exists(), "{name}");
    }
    for folder in ["working", "failed"] {
        assert_eq!(names(&bench.path("inbox").join(folder)), [""; 0], "{folder}");
    }

    let outcome = bench.fleetload(&ONCE).expect_code(0);
    let words = "companies.csv: done, import 1, 3 rows: 3 created; see inbox/done/companies.csv";
    assert!(outcome.stdout.trim_end().ends_with(words), "{}", outcome.stdout);
    assert!(bench.path("told").exists());
}

/// Files come, get other names and go while the watch looks; what stays is run once, and the watch goes on.
#[test]
fn a_writer_that_renames_and_deletes_disturbs_nothing() {
    let bench = with_inbox(Scenario::default());
    let mut watch = bench.start(&["watch", "inbox", "--every", "1", "--at-rest", "60m"]);
    for round in 0..40 {
        bench.write("inbox/fleeting.csv", &bench::companies(50 + round));
        fs::rename(bench.path("inbox/fleeting.csv"), bench.path("inbox/moved.csv")).expect("a file");
        fs::remove_file(bench.path("inbox/moved.csv")).expect("a file");
    }
    bench.write("elsewhere.csv", &bench::companies(2));
    age(&bench.path("elsewhere.csv"));
    fs::rename(bench.path("elsewhere.csv"), bench.path("inbox/companies.csv")).expect("a file");
    watch.until(|| bench.path("inbox/done/companies.csv").exists());
    watch.signal("-TERM");
    watch.ended().expect_code(5);
    assert_eq!(bench.created("company").len(), 2);
    assert_eq!(names(&bench.path("inbox/done")), ["companies.csv"]);
    assert_eq!(names(&bench.path("inbox/failed")), [""; 0]);
}

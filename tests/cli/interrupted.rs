//! A run that is asked to stop, and two commands at the same journal or account.
#![cfg(unix)]

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench};
use crate::relay::{Gate, Relay, gated};
use fleetload::sandbox::Scenario;
use serde_json::{Value, json};

/// A run that is in the middle of its work, and stays there until the gate opens.
fn under_way(bench: &Bench) -> (UnderWay, Relay, Gate) {
    let (relay, gate) = gated(bench, "addDevice", 100);
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "--json"]);
    run.until(|| gate.is_reached());
    (run, relay, gate)
}

fn paced() -> Bench {
    let bench = Bench::new(Scenario { latency_ms: [20, 60], ..Scenario::default() });
    bench.profile("", "rate = 90\nconcurrency = 32", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(250, 3));
    bench
}

#[test]
fn the_first_signal_lets_requests_come_home_and_a_later_run_finishes_without_doubt() {
    // Under `nohup` a terminal that goes away ends nothing, neither this test nor what it starts.
    let names =
        ["-INT", "-TERM", "-HUP"].into_iter().filter(|name| *name != "-HUP" || !hangups_are_ignored());
    for name in names {
        let bench = paced();
        let (mut run, _relay, gate) = under_way(&bench);
        run.signal(name);
        run.hears(&["\"draining\""]);
        if name == "-HUP" {
            // A shell passes on what the system has said already.
            run.signal(name);
        }
        gate.open();
        let ended = run.ended();
        assert_eq!(ended.code, 5, "{name}");
        assert!(!ended.stdout.contains("second request"), "{name}: {}", ended.stdout);
        let made = bench.created("device").len();
        assert!((100..=132).contains(&made), "{made} devices were made before {name}");
        let counts = bench.counts(1);
        assert!(!counts.contains_key("sending") && !counts.contains_key("in_doubt"), "{name}: {counts:?}");
        bench.fleetload(&["run"]).expect_code(0);
        assert_eq!(bench.created("device").len(), 250);
        bench.assert_exact(1);
    }
}

#[test]
fn a_run_that_is_stopped_while_it_looks_up_ids_ends_before_anything_is_sent() {
    let bench = paced();
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let (_relay, gate) = gated(&bench, "getCompany", 0);
    let mut run = bench.start(&["run"]);
    run.until(|| gate.is_reached());
    run.signal("-INT");
    let outcome = run.ended().expect_code(5);
    assert!(outcome.stdout.contains("stopped on request: 253 rows remaining"), "{}", outcome.stdout);
    assert!(bench.ledger().is_empty());
    gate.open();
    bench.fleetload(&["run"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_run_that_is_stopped_before_its_rows_are_imported_says_so_and_is_typed_again() {
    let bench = paced();
    let (_relay, gate) = gated(&bench, "getCompany", 0);
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "--json"]);
    run.until(|| gate.is_reached());
    run.signal("-INT");
    let outcome = run.ended().expect_code(5);
    assert!(outcome.stderr.contains("to go on, type the command again"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("run ended: stopped (signal), exit code 5"), "{}", outcome.stderr);
    let summary = outcome.summary();
    assert_eq!((&summary["state"], &summary["reason"]), (&json!("stopped"), &json!("signal")));
    assert!(summary["account"].is_string(), "{summary}");
    gate.open();
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_command_that_is_no_run_ends_by_a_signal_as_every_command_ends() {
    let bench = paced();
    let (_relay, gate) = gated(&bench, "findCompaniesByName", 0);
    let mut find = bench.start(&["find", "companies", "Harbour", "--json"]);
    find.until(|| gate.is_reached());
    find.signal("-TERM");
    let outcome = find.ended().expect_code(5);
    gate.open();
    assert!(outcome.stderr.contains("to do it, type the command again"), "{}", outcome.stderr);
    assert_eq!(outcome.summary()["reason"], "signal");
}

#[test]
fn a_run_that_is_stopped_while_it_verifies_names_the_command_that_verifies_the_rest() {
    let bench = paced();
    // 80 of them are verified by their ids: 20 pass, 32 are under way at most, and the rest is left.
    bench.write("devices.csv", &bench::devices(100, 3));
    let (_relay, gate) = gated(&bench, "getDevice", 20);
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "--json"]);
    run.until(|| gate.is_reached() && bench.created("device").len() == 100);
    run.signal("-INT");
    run.hears(&["\"draining\""]);
    gate.open();
    let outcome = run.ended().expect_code(5);
    assert!(outcome.stderr.contains("to verify the rest: fleetload run"), "{}", outcome.stderr);
    let summary = outcome.summary();
    let (checked, left) = (&summary["audit"]["checked"], &summary["audit"]["not_verified_yet"]);
    let counted = checked.as_u64().zip(left.as_u64()).expect("numbers");
    assert!(counted.0 + counted.1 == 103 && counted.1 >= 28, "{summary}");
    // Whoever asks later hears the same.
    for about in [&["status"][..], &["status", "1"], &["report"]] {
        let told = bench.fleetload(about).expect_code(0);
        assert!(told.stderr.contains("to verify the rest: fleetload run"), "{about:?}: {}", told.stderr);
    }
    let status = bench.fleetload(&["status", "--check"]).expect_code(5);
    assert!(status.stdout.contains("stopped on request: only verification is left"), "{}", status.stdout);
    assert_eq!((&bench.summary(1)["state"], &bench.summary(1)["exit_code"]), (&json!("stopped"), &json!(5)));
    let requests = bench.requests("addDevice");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("addDevice"), requests);
    assert_eq!(bench.summary(1)["audit"]["checked"], 103);
    bench.fleetload(&["status", "--check"]).expect_code(0);
}

/// Whether whoever started the tests has SIGHUP ignored.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn a_second_run_on_the_same_journal_leaves_its_rows_to_the_first() {
    let bench = paced();
    let (run, _relay, gate) = under_way(&bench);
    let more = bench::devices(300, 3)
        .lines()
        .enumerate()
        .filter(|(n, _)| *n == 0 || *n > 250)
        .fold(String::new(), |sheet, (_, line)| sheet + line + "\n");
    bench.write("more.csv", &more);
    let outcome = bench.fleetload(&["run", "more.csv", "--kind", "devices"]).expect_code(5);
    gate.open();
    assert!(outcome.stdout.contains("another run of this journal"), "{}{}", outcome.stdout, outcome.stderr);
    let first = run.ended().expect_code(0);
    assert_eq!(bench.created("device").len(), 300, "the first run sent the rows of the second");
    let objects: Vec<Value> =
        first.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = |name: &str| objects.iter().rfind(|object| object["object"] == name).expect(name);
    assert_eq!(last("progress")["by_kind"]["devices"]["done"], 300, "the progress counts them");
    let summary = last("summary");
    assert_eq!(summary["imports"], json!([1, 2]), "it reports both");
    assert_eq!((&summary["rows"], &summary["counts"]["created"]), (&json!(303), &json!(303)));
    assert!(bench.path("reports/2/report.html").exists());
}

#[test]
fn another_journal_on_the_same_account_is_refused_while_the_first_runs() {
    let bench = paced();
    let (run, _relay, gate) = under_way(&bench);
    let pid = run.id().to_string();
    bench.write("others.csv", &bench::companies(1));
    let outcome = bench
        .fleetload(&["run", "others.csv", "--kind", "companies", "--journal", "other.db"])
        .expect_code(6);
    gate.open();
    assert!(outcome.stderr.contains(&pid), "who holds the account is named: {}", outcome.stderr);
    run.ended().expect_code(0);
}

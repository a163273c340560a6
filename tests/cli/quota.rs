//! The daily quota: parked when it is spent, woken at the service's midnight, or left for a later run.

use crate::bench::{self, Bench};
use fleetload::sandbox::Scenario;

/// A service that allows `quota` creations a day and whose midnight is `seconds` away.
fn service(quota: u64, seconds: i64) -> Scenario {
    let midnight: jiff::Timestamp = "2026-03-02T00:00:00Z".parse().expect("a moment");
    let starts_at = midnight - jiff::SignedDuration::from_secs(seconds);
    Scenario { daily_quota: quota, clock_starts_at: Some(starts_at), ..Scenario::default() }
}

#[test]
fn an_import_larger_than_the_quota_waits_for_the_services_midnight_and_is_finished() {
    let bench = Bench::new(service(20, 5));
    bench.write("companies.csv", &bench::companies(30));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 30);
    assert!(bench.statistics().answers["quotaLimitExceeded"] >= 1, "the quota was met");
    assert!(outcome.stderr.contains("2026-03-02") || outcome.stderr.contains("quota"), "{}", outcome.stderr);
    bench.assert_exact(1);
}

#[test]
fn with_exit_the_run_ends_with_5_and_the_restart_time_and_a_later_run_finishes_it() {
    let bench = Bench::new(service(20, 3600));
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert_eq!(bench.created("company").len(), 20);
    assert!(outcome.stdout.contains("fleetload run") || outcome.stderr.contains("fleetload run"));
    assert_eq!(bench.summary(1)["state"], "parked");
    assert!(bench.summary(1)["quota"]["resets_at"].is_string(), "{}", bench.summary(1)["quota"]);

    bench.sandbox().advance_clock(3700);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 30);
    bench.assert_exact(1);
}

#[test]
fn the_picture_of_a_run_ends_with_as_many_creations_as_the_ledger_has() {
    let bench = Bench::new(Scenario { daily_quota: 20, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    let told = bench.fleetload(&["run", "companies.csv", "--json"]).expect_code(5);
    let mut objects = told.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let last = objects.rfind(|object: &serde_json::Value| object["object"] == "progress").expect("a picture");
    let shown = (&last["quota_used"], &last["quota_ceiling"], &last["quota_left"]);
    assert_eq!(shown, (&20.into(), &20.into(), &0.into()), "{last}");
    let ledger = &bench.summary(1)["quota"];
    assert_eq!((&ledger["used"], &ledger["ceiling"]), (&20.into(), &20.into()));
}

#[test]
fn a_quota_set_in_the_profile_is_kept_without_asking_the_service() {
    let bench = Bench::new(service(1000, 3600));
    bench.profile("", "rate = \"unlimited\"\ndaily_quota = 12\nreserve = 2", "on_quota = \"exit\"");
    bench.write("companies.csv", &bench::companies(30));
    bench.fleetload(&["run", "companies.csv"]).expect_code(5);
    assert_eq!(bench.created("company").len(), 10);
    assert!(!bench.statistics().answers.contains_key("quotaLimitExceeded"));
}

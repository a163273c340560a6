//! How much the service allows: refusals below the limit, the quota in the middle of things, quotas of other shapes.

use fleetload::sandbox::FaultKind;

use super::*;

/// A service that allows so many creations a day and is an hour from its midnight.
fn allowing(daily_quota: u64) -> Scenario {
    let starts_at = "2026-03-01T23:00:00Z".parse().expect("a moment");
    Scenario { daily_quota, clock_starts_at: Some(starts_at), ..service() }
}

#[test]
fn f46_a_refusal_for_the_rate_though_we_stay_below_it_costs_no_row_and_no_attempt() {
    let refused = Expected { code: 0, states: &[("created", 11)], requests: 12, devices: 10 };
    let (bench, _) = two_of_ten(Fault::new("addDevice", FaultKind::RateLimitExceeded), &refused);
    assert_eq!(bench.summary(1)["counts"]["in_doubt"], 0);
    bench.assert_exact(1);
}

#[test]
fn f48_what_is_under_way_when_the_quota_ends_comes_home_and_nothing_is_in_doubt() {
    let slow = Fault::new("addDevice", FaultKind::Latency).ms(200);
    let bench = bench_of(allowing(25).with_fault(slow), 60);
    profile_at(&bench, &bench.base_url(), "", "on_quota = \"exit\"");
    run(&bench).expect_code(5);
    assert!(bench.statistics().answers["quotaLimitExceeded"] >= 1, "the quota was met");
    assert_eq!(bench.counts(1), [("created".to_owned(), 25), ("ready".to_owned(), 36)].into());
    assert_eq!(bench.created("device").len(), 24);
    bench.assert_exact(1);
}

#[test]
fn f49_a_quota_far_below_what_was_hoped_for_is_learned_and_reckoned_with() {
    let bench = bench_of(allowing(11), 110);
    profile_at(&bench, &bench.base_url(), "", "on_quota = \"exit\"");
    let planned = bench.fleetload(&["plan", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(planned.stdout.contains("not known"), "{}", planned.stdout);
    run(&bench).expect_code(5);
    assert!(bench.statistics().answers["quotaLimitExceeded"] >= 1, "the quota was met");
    assert_eq!(bench.summary(1)["quota"]["ceiling"], 11);
    bench.alter("rate = \"unlimited\"", "rate = 98");
    let planned = bench.fleetload(&["plan", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(planned.stdout.contains("11 a day (learned from the service)"), "{}", planned.stdout);
    assert!(planned.stdout.contains("days with creations"), "{}", planned.stdout);
}

#[test]
fn f51_a_quota_for_each_operation_and_one_for_all_both_work() {
    for (quota_per_operation, code) in [(true, 0), (false, 5)] {
        let bench = bench_of(Scenario { quota_per_operation, ..allowing(8) }, 8);
        profile_at(&bench, &bench.base_url(), "", "on_quota = \"exit\"");
        run(&bench).expect_code(code);
        let met = bench.statistics().answers.contains_key("quotaLimitExceeded");
        assert_eq!(met, !quota_per_operation, "the quota was met");
        bench.sandbox().advance_clock(2 * 3600);
        run(&bench).expect_code(0);
        assert_eq!(bench.created("device").len(), 8);
        bench.assert_exact(1);
    }
}

#[test]
fn f53_a_run_that_dies_while_parked_sends_one_request_at_most_when_it_is_started_again() {
    let bench = bench_of(allowing(5), 20);
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let mut run = bench.start(&["run", "--json"]);
    run.hears(&["parked"]);
    // Until the journal knows it as well.
    run.until(|| bench.fleetload(&["status"]).stdout.contains("parked"));
    run.kill();
    let before = bench.requests("addDevice");
    profile_at(&bench, &bench.base_url(), "", "on_quota = \"exit\"");
    bench.fleetload(&["run"]).expect_code(5);
    assert!(bench.requests("addDevice") <= before + 1, "no storm");
    assert_eq!(bench.created("device").len(), 4);
    // At the service's midnight it goes on.
    bench.sandbox().advance_clock(2 * 3600);
    bench.sandbox().change(|scenario| scenario.daily_quota = 100).expect("a consistent scenario");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 20);
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);
}

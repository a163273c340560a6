//! Who we are: tokens that end, credentials that are withdrawn, journals of another account.

use std::time::Duration;

use fleetload::sandbox::FaultKind;

use super::*;
use crate::inside;
use crate::relay::gated;

fn revoked(after: u64) -> Fault {
    Fault::new("addDevice", FaultKind::TokenRevoked).after(after).times(1)
}

/// A later run finishes what the first could not, and nothing is there twice.
fn finishes(bench: &Bench, devices: usize) {
    bench.clear_faults();
    run(bench).expect_code(0);
    assert_eq!(bench.created("device").len(), devices);
}

#[test]
fn f38_a_token_that_ends_on_the_way_costs_one_refresh_and_no_row() {
    let bench = bench_of(service().with_fault(revoked(3)), 10);
    run(&bench).expect_code(0);
    assert_eq!(fired(&bench, "token_revoked"), 1, "the fault fired");
    assert_eq!(bench.statistics().tokens_issued, 2);
    assert_eq!(bench.counts(1), [("created".to_owned(), 11)].into());
    bench.assert_exact(1);
}

#[test]
fn f39_a_hundred_requests_that_are_refused_at_once_ask_for_one_token() {
    let bench = bench_of(service().with_fault(revoked(0)), 100);
    // All of them have left with the token before the first is refused.
    let (_relay, gate) = gated(&bench, "addDevice", 0);
    let mut under_way = bench.start(&["run", "companies.csv", "devices.csv"]);
    under_way.until(|| gate.requests() == 100);
    gate.open();
    under_way.ended().expect_code(0);
    assert_eq!(fired(&bench, "token_revoked"), 1, "the fault fired");
    let statistics = bench.statistics();
    assert_eq!(statistics.answers["invalid_token"], 100, "all were refused: {:?}", statistics.answers);
    assert_eq!(statistics.tokens_issued, 2, "one token for all of them");
    assert_eq!(statistics.most_sign_ins_at_once, 1);
    bench.assert_exact(1);
}

#[test]
fn f40_while_no_token_can_be_had_the_run_waits_and_no_attempt_is_charged() {
    let down = Fault::new("auth", FaultKind::Error500Before).after(1).times(2);
    let bench = bench_of(service().with_fault(down).with_fault(revoked(3)), 10);
    run(&bench).expect_code(0);
    assert_eq!(fired(&bench, "error_500_before"), 2, "the fault fired");
    assert_eq!(bench.counts(1), [("created".to_owned(), 11)].into());
    bench.assert_exact(1);
}

#[test]
fn f41_a_secret_that_is_withdrawn_in_mid_run_stops_it_with_the_journal_whole() {
    let withdrawn = Fault::new("auth", FaultKind::InvalidClient).after(1);
    let bench = bench_of(service().with_fault(withdrawn).with_fault(revoked(3)), 10);
    let outcome = run(&bench).expect_code(7);
    assert!(fired(&bench, "invalid_client") >= 1, "the fault fired");
    assert!(outcome.stderr.contains("invalid_client"), "{}", outcome.stderr);
    let counts = bench.counts(1);
    assert!(counts.keys().all(|state| state == "created" || state == "ready"), "{counts:?}");
    assert!(counts["created"] >= 2 && counts["ready"] >= 1, "{counts:?}");
    finishes(&bench, 10);
}

#[test]
fn a_run_that_is_not_let_in_is_the_last_run_of_its_journal() {
    let refused = || Fault::new("auth", FaultKind::InvalidClient);
    let bench = bench_of(service().with_fault(refused()), 2);
    for _ in 0..2 {
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(7);
        let status = bench.fleetload(&["status", "--check"]).expect_code(7);
        assert!(status.stdout.contains("refused"), "{}", status.stdout);
    }
    assert!(fired(&bench, "invalid_client") >= 2, "the fault fired");
    finishes(&bench, 2);
    bench.fleetload(&["status", "--check"]).expect_code(0);
}

#[test]
fn f42_a_source_that_is_no_longer_authorized_stops_the_run_without_a_refresh() {
    let moved = Fault::new("addDevice", FaultKind::UnauthorizedSource).after(3);
    let bench = bench_of(service().with_fault(moved), 10);
    let outcome = run(&bench).expect_code(7);
    assert!(fired(&bench, "unauthorized_source") >= 1, "the fault fired");
    assert!(outcome.stderr.contains("unauthorizedSource"), "{}", outcome.stderr);
    assert_eq!(bench.requests("auth"), 1, "a new token would not help");
    finishes(&bench, 10);
}

#[test]
fn a_look_before_sending_whose_token_is_refused_twice_stops_the_run_and_is_no_permission_to_create() {
    let bench = bench_of(service(), 1);
    run(&bench).expect_code(0);
    // Another journal knows nothing of that company: only the look before sending can tell.
    let other = ["run", "--journal", "other.db", "--reports", "other"];
    bench.fleetload(&["import", "companies.csv", "devices.csv", "--journal", "other.db"]).expect_code(0);
    let revoked = Fault::new("getChildCompanies", FaultKind::TokenRevoked).times(3);
    bench.sandbox().change(|scenario| scenario.fault.push(revoked)).expect("a consistent scenario");
    let outcome = bench.fleetload(&other).expect_code(7);
    assert_eq!(fired(&bench, "token_revoked"), 2, "the second in a row ends the run");
    assert!(outcome.stderr.contains("invalid_token"), "{}", outcome.stderr);
    assert_eq!(bench.created("company").len(), 1, "not made a second time");
    bench.clear_faults();
    bench.fleetload(&other).expect_code(0);
    assert_eq!((bench.created("company").len(), bench.created("device").len()), (1, 1));
}

#[test]
fn f43_a_life_of_a_token_that_makes_no_sense_is_not_believed() {
    // In another unit, none, negative: the token lives two seconds whatever is said.
    for answered in [14_400_000, 0, -1] {
        let scenario = Scenario { token_seconds: 2, answered_expires_in: Some(answered), ..service() };
        let bench = bench_of(scenario, 60);
        bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
        inside::finishes_virtually(
            &bench,
            Duration::from_millis(250),
            inside::options(Duration::from_secs(1)),
        );
        let statistics = bench.statistics();
        assert!(statistics.answers["invalid_token"] >= 1, "{answered}: the token ended in use");
        // No token but the first without a refusal that asked for it.
        let (issued, refused) = (statistics.tokens_issued, statistics.answers["invalid_token"]);
        assert!((2..=1 + refused).contains(&issued), "{answered}: {issued} tokens, {refused} refusals");
        bench.assert_exact(1);
    }
}

#[test]
fn f44_f100_a_journal_is_not_gone_on_with_as_somebody_else_or_at_another_service() {
    let quota = Scenario { daily_quota: 4, ..service() };
    let bench = bench_of(quota, 10);
    profile_at(&bench, &bench.base_url(), "", "on_quota = \"exit\"");
    run(&bench).expect_code(5);
    let mine = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    let before = bench.statistics().requests;
    let other = Bench::new(service());
    for (from, to) in [
        (format!("client_id = \"{}\"", bench::CLIENT), "client_id = \"somebody-else\"".to_owned()),
        (bench.base_url(), other.base_url()),
    ] {
        bench.write("fleetload.toml", &mine.replace(&from, &to));
        let outcome = bench.fleetload(&["run"]).expect_code(2);
        assert!(outcome.stderr.contains("journal"), "{}", outcome.stderr);
    }
    assert_eq!(bench.statistics().requests, before, "nothing was sent as somebody else");
    assert!(other.statistics().requests.is_empty(), "nothing was sent elsewhere");
}

#[test]
fn secrets_go_over_https_or_to_this_machine_only() {
    let bench = bench_of(service(), 1);
    for address in [
        "http://provisioning.example",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example",
        "http://localhost:80@evil.example",
        "https://user:word@provisioning.example",
        "http://0.0.0.0:8080",
        "http://[::ffff:192.0.2.1]",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "https://provisioning.example/?next=http://evil.example",
        "//evil.example",
        "",
    ] {
        profile_at(&bench, address, "", "settle_seconds = 60");
        let outcome = run(&bench).expect_code(2);
        assert!(outcome.stderr.contains("base_url"), "{address}: {}", outcome.stderr);
        assert!(!outcome.stderr.contains("word@"), "{address}: {}", outcome.stderr);
    }
    assert!(bench.statistics().requests.is_empty(), "nothing was sent");
    assert!(!bench.path("fleetload.db").exists(), "nothing was imported");
}

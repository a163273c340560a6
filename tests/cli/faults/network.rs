//! The network: no service, silence, slow and late answers, pages of others, proxies.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fleetload::sandbox::FaultKind;

use super::*;

/// Found after the doubt, nothing sent again.
const FOUND: Expected =
    Expected { code: 0, states: &[("adopted", 2), ("created", 9)], requests: 10, devices: 10 };
/// Proved absent after the doubt, and sent again.
const SENT_AGAIN: Expected = Expected { code: 0, states: &[("created", 11)], requests: 12, devices: 10 };

/// How long after a lost answer it is believed that nothing is there.
const SETTLE: Duration = Duration::from_secs(1);

#[test]
fn f01_a_name_that_cannot_be_resolved_leaves_every_row_ready() {
    let bench = bench_of(service(), 10);
    profile_at(&bench, "https://fleetload.invalid", "", "settle_seconds = 60");
    run_in_vain(bench.command(&[])).expect_code(5);
    assert_eq!(bench.counts(1), [("blocked".to_owned(), 10), ("ready".to_owned(), 1)].into());
    for row in bench.results(1) {
        assert_eq!(row["attempts"], 0, "no attempt was charged: {row}");
    }
}

#[test]
fn f02_a_refused_connection_leaves_every_row_ready_and_a_later_run_finishes() {
    let bench = bench_of(service(), 10);
    let closed = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = closed.local_addr().expect("an address");
    drop(closed);
    profile_at(&bench, &format!("http://{address}"), "", "");
    run_in_vain(bench.command(&[])).expect_code(5);
    assert_eq!(bench.counts(1), [("blocked".to_owned(), 10), ("ready".to_owned(), 1)].into());
    assert!(bench.statistics().requests.is_empty(), "nothing was sent");
}

#[test]
fn f05_a_reset_after_the_request_is_in_doubt() {
    two_of_ten(Fault::new("addDevice", FaultKind::ResetAfter), &FOUND).0.assert_exact(1);
    two_of_ten(Fault::new("addDevice", FaultKind::ResetBefore), &SENT_AGAIN).0.assert_exact(1);
}

#[test]
fn f05_a_connection_closed_without_an_answer_is_in_doubt() {
    two_of_ten(Fault::new("addDevice", FaultKind::AnswerLost), &FOUND).0.assert_exact(1);
    two_of_ten(Fault::new("addDevice", FaultKind::RequestLost), &SENT_AGAIN).0.assert_exact(1);
}

#[test]
fn f07_a_deed_that_is_done_after_the_time_limit_and_after_a_first_look_is_not_asked_for_again() {
    // The service does it after the first look and before the settle time ends.
    let late = Fault::new("addDevice", FaultKind::LateCommit).ms(20_000);
    let bench = two_of_ten_in_time(service(), late, Duration::from_secs(25), &FOUND);
    assert!(looks(&bench) > 10 + 2, "a look came too early and was not believed");
}

#[test]
fn f07_an_answer_that_comes_after_the_time_limit_is_in_doubt() {
    two_of_ten_in_time(service(), Fault::new("addDevice", FaultKind::StallAfter).ms(7_500), SETTLE, &FOUND);
}

#[test]
fn f09_an_answer_that_drips_is_cut_off_by_the_time_for_the_whole() {
    two_of_ten_in_time(service(), Fault::new("addDevice", FaultKind::AnswerDrip).ms(150), SETTLE, &FOUND);
}

#[test]
fn f10_a_connection_that_stays_silent_ends_with_the_time_limit() {
    two_of_ten_in_time(service(), Fault::new("addDevice", FaultKind::StallBefore), SETTLE, &SENT_AGAIN);
}

#[test]
fn f13_a_page_with_200_is_no_success() {
    two_of_ten(Fault::new("addDevice", FaultKind::CaptivePortal), &SENT_AGAIN).0.assert_exact(1);
    two_of_ten(Fault::new("addDevice", FaultKind::Html200), &FOUND).0.assert_exact(1);
}

/// Something that listens like a proxy and counts who comes.
fn proxy() -> (String, Arc<AtomicU64>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let came = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&came);
    std::thread::spawn(move || {
        for _refused in listener.incoming() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (format!("http://{address}"), came)
}

#[test]
fn f16_proxies_of_the_environment_are_ignored_unless_the_profile_says_otherwise_and_plan_tells() {
    let bench = bench_of(service(), 1);
    for (account, through) in [("", false), ("proxy = \"environment\"", true)] {
        let (proxy, came) = proxy();
        profile_at(&bench, "https://fleetload.invalid", account, "settle_seconds = 60");
        let with_proxy = |arguments: &[&str]| {
            let mut command = bench.command(arguments);
            command.env("HTTPS_PROXY", &proxy).env("ALL_PROXY", &proxy);
            command
        };
        let planned = with_proxy(&["plan", "companies.csv", "devices.csv"]).output();
        let planned = Outcome::of(planned.expect("the binary starts"));
        let planned = planned.stdout + &planned.stderr;
        let words = if through {
            "go through the proxy of HTTPS_PROXY"
        } else {
            "HTTPS_PROXY and ALL_PROXY is ignored"
        };
        assert!(planned.contains(words), "{planned}");
        let journal = format!("{through}.db");
        run_in_vain(with_proxy(&["--journal", &journal])).expect_code(5);
        assert_eq!(came.load(Ordering::SeqCst) > 0, through, "{account}");
    }
    // A service on this machine is never reached through a proxy.
    let (proxy, came) = proxy();
    profile_at(&bench, &bench.base_url(), "proxy = \"environment\"", "");
    let mut command = bench.command(&["run", "companies.csv", "devices.csv"]);
    let output =
        command.env("http_proxy", &proxy).env("HTTP_PROXY", &proxy).env("ALL_PROXY", &proxy).output();
    assert_eq!(output.expect("the binary starts").status.code(), Some(0));
    assert_eq!(came.load(Ordering::SeqCst), 0);
    assert_eq!(bench.created("device").len(), 1);
}

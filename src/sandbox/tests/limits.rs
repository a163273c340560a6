//! Limits, clock and visibility (specification 3, 5, 8).

use serde_json::json;

use super::{Bench, NOON, code, company, device, person, site};
use crate::sandbox::{Fault, FaultKind, Request, Scenario};

#[test]
fn more_than_a_hundred_in_a_sliding_second_are_refused_and_counted() {
    let mut bench = Bench::new(Scenario::default());
    let mut refused = 0;
    for _ in 0..130 {
        refused += usize::from(code(&bench.get("listSites")) == "rateLimitExceeded");
    }
    assert_eq!(refused, 30);
    let answer = bench.send(Request::get("/device-api/config/v1/listSites"));
    assert_eq!(answer.response.status, 429);
    bench.now += 999;
    assert_eq!(code(&bench.get("listSites")), "rateLimitExceeded");
    bench.now += 1;
    assert_eq!(code(&bench.get("listSites")), "OK");
    let statistics = bench.sandbox.statistics(bench.now);
    assert_eq!(statistics.most_in_a_second["listSites"], 132);
    assert_eq!(statistics.answers["rateLimitExceeded"], 32);
    assert_eq!(statistics.requests["listSites"], 133);
}

#[test]
fn the_quota_ends_at_the_service_s_midnight() {
    let scenario = Scenario::parse("daily_quota = 2\nclock_starts_at = \"2026-03-01T23:59:50Z\"").unwrap();
    let mut bench = Bench::new(scenario);
    bench.made("addSite", &site("1"));
    bench.made("addCompany", &company("2"));
    bench.now += 9_999;
    let answer = bench.send(Request::post("/device-api/config/v1/addPerson", person("ada").to_string()));
    assert_eq!(answer.response.status, 429);
    assert!(String::from_utf8_lossy(&answer.response.body).contains("quotaLimitExceeded"));
    assert_eq!(answer.response.header("date"), Some("Sun, 01 Mar 2026 23:59:59 GMT"));
    assert_eq!(code(&bench.get("listSites")), "OK", "look-ups go on");
    bench.now += 1;
    bench.made("addPerson", &person("ada"));
    assert_eq!(bench.sandbox.statistics(bench.now).quota_used["acme"], 1);
}

#[test]
fn a_rejected_creation_uses_up_the_quota_unless_the_scenario_says_otherwise() {
    for (counts, left) in [(true, "quotaLimitExceeded"), (false, "OK")] {
        let bench =
            Bench::new(Scenario { daily_quota: 1, quota_counts_failures: counts, ..Scenario::default() });
        bench.post("addDevice", &json!({}));
        assert_eq!(code(&bench.post("addDevice", &device("d"))), left);
    }
}

#[test]
fn the_quota_is_counted_for_each_client() {
    let mut bench = Bench::new(Scenario { daily_quota: 1, ..Scenario::default() });
    bench.made("addSite", &site("1"));
    assert_eq!(code(&bench.post("addSite", &site("2"))), "quotaLimitExceeded");
    bench.sign_in("other");
    bench.made("addSite", &site("2"));
}

#[test]
fn the_quota_is_shared_by_the_creations_unless_the_scenario_gives_each_its_own() {
    for (apart, wanted) in [(false, "quotaLimitExceeded"), (true, "OK")] {
        let bench =
            Bench::new(Scenario { daily_quota: 1, quota_per_operation: apart, ..Scenario::default() });
        bench.made("addSite", &site("1"));
        assert_eq!(code(&bench.post("addDevice", &device("2"))), wanted);
        assert_eq!(code(&bench.post("addSite", &site("3"))), "quotaLimitExceeded");
    }
}

#[test]
fn a_token_expires_and_its_life_is_told_as_the_scenario_wants() {
    let mut bench =
        Bench::new(Scenario { token_seconds: 2, answered_expires_in: Some(0), ..Scenario::default() });
    let answer = bench.sandbox.respond(&Request::sign_in("acme", "x"), NOON);
    let body: serde_json::Value = serde_json::from_slice(&answer.response.body).unwrap();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(0)));
    bench.now += 1_999;
    assert_eq!(code(&bench.get("listSites")), "OK");
    bench.now += 1;
    assert_eq!(bench.get("listSites")["error"], "invalid_token");
    bench.sign_in("acme");
    assert_eq!(code(&bench.get("listSites")), "OK");
    assert_eq!(bench.sandbox.statistics(bench.now).tokens_issued, 3);
}

#[test]
fn sign_ins_under_way_at_once_are_counted_while_their_answers_wait() {
    let fault = Fault::new("auth", FaultKind::Latency).ms(100);
    let bench = Bench::new(Scenario::default().with_fault(fault));
    for at in [1000, 1099, 1150, 1198] {
        let answer = bench.sandbox.respond(&Request::sign_in("acme", "x"), NOON + at);
        assert_eq!(answer.delay_ms, 100);
    }
    assert_eq!(bench.sandbox.statistics(bench.now).most_sign_ins_at_once, 3);
}

#[test]
fn what_is_new_is_not_found_at_first_but_can_be_got_by_id() {
    let mut bench = Bench::new(Scenario { lookup_lag_ms: 3000, ..Scenario::default() });
    let mut body = device("Till");
    body["identification"] = json!("001A2B3C4D5E");
    let id = bench.made("addDevice", &body);
    bench.made("addPerson", &person("ada"));
    bench.now += 2_999;
    assert_eq!(code(&bench.get(&format!("getDevice/{id}"))), "OK");
    assert_eq!(bench.get("findDevicesByName?name=Till")["body"], json!([]));
    assert_eq!(code(&bench.get("getDeviceByMac?macAddress=001A2B3C4D5E")), "noDataFound");
    assert_eq!(code(&bench.get("getPersonByUsername?username=ada")), "noDataFound");
    assert_eq!(code(&bench.post("addDevice", &body)), "duplicateEntity", "known all the same");
    bench.now += 1;
    assert_eq!(bench.get("findDevicesByName?name=Till")["body"][0]["id"], id.as_str());
    assert_eq!(code(&bench.get("getPersonByUsername?username=ada")), "OK");
}

#[test]
fn lists_end_at_the_page_limit() {
    let bench = Bench::new(Scenario { page_limit: 3, ..Scenario::default() });
    for number in 0..5 {
        bench.made("addSite", &site(&format!("Site {number}")));
    }
    for path in ["listSites", "findSitesByName?name=site", "listTimeZones"] {
        assert_eq!(bench.get(path)["body"].as_array().unwrap().len(), 3, "{path}");
    }
}

#[test]
fn the_same_seed_gives_the_same_ids_and_another_seed_others() {
    let ids = |seed| {
        let bench = Bench::new(Scenario { seed, ..Scenario::default() });
        [bench.made("addSite", &site("1")), bench.made("addDevice", &device("2"))]
    };
    assert_eq!(ids(5), ids(5));
    assert_ne!(ids(5), ids(6));
    assert_eq!(ids(5)[0].as_bytes()[14], b'4', "version 4");
}

#[test]
fn answers_take_between_the_least_and_the_most_latency() {
    let bench = Bench::new(Scenario { rate: 0, latency_ms: [50, 200], ..Scenario::default() });
    let delays: Vec<_> =
        (0..500).map(|_| bench.send(Request::get("/device-api/config/v1/listSites")).delay_ms).collect();
    assert!(delays.iter().all(|delay| (50..=200).contains(delay)));
    assert!(delays.iter().any(|delay| *delay < 60) && delays.iter().any(|delay| *delay > 190));
}

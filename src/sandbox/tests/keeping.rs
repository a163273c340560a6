//! The state file: what a sandbox that was killed comes back with.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use super::{Bench, NOON, code, company, device, person, site};
use crate::sandbox::{Sandbox, SandboxError, Scenario};

fn opened(state: &Path) -> Bench {
    let scenario = Scenario { daily_quota: 6, ..Scenario::default() };
    Bench::around(Sandbox::open(scenario, state, NOON).unwrap())
}

fn filled(state: &Path) -> Bench {
    let bench = opened(state);
    let customer = bench.made("addCompany", &company("Kept"));
    bench.made("addPerson", &person("ada"));
    bench.made("addSite", &site("Kept"));
    let mut body = device("Kept");
    body["companyId"] = json!(customer);
    body["identification"] = json!("001A2B3C4D5E");
    let id = bench.made("addDevice", &body);
    bench.post(&format!("putDeviceLabel/{id}"), &json!({"label": "kept"}));
    bench.post(&format!("updateDevice/{id}"), &json!({"name": "Renamed"}));
    assert_eq!(code(&bench.post("addDevice", &json!({}))), "invalidData");
    bench
}

#[test]
fn everything_answered_for_comes_back_with_the_quota_that_was_used() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.jsonl");
    let before = filled(&state);
    let ledger = before.sandbox.ledger(NOON);
    drop(before);

    let after = opened(&state);
    assert_eq!(after.sandbox.ledger(NOON), ledger);
    let found = after.get("getDeviceByMac?macAddress=001A2B3C4D5E");
    assert_eq!(found["body"]["name"], "Renamed");
    assert_eq!(found["body"]["companyName"], "Kept");
    let id = found["body"]["id"].as_str().unwrap();
    assert_eq!(after.get(&format!("listDeviceLabels/{id}"))["body"][0]["label"], "kept");
    assert_eq!(code(&after.post("addPerson", &person("ada"))), "duplicateEntity");
    assert_eq!(after.sandbox.statistics(NOON).quota_used["acme"], 6);
    assert_eq!(code(&after.post("addSite", &site("More"))), "quotaLimitExceeded");
}

#[test]
fn ids_are_not_handed_out_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.jsonl");
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(opened(&state).made("addSite", &site("s")));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

#[test]
fn a_torn_last_line_is_dropped_and_writing_goes_on_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.jsonl");
    drop(filled(&state));
    let whole = fs::read(&state).unwrap();
    for torn in [&b"{\"commit\":{\"entry\""[..], b"{\"charge\":{\"at\":1,\"client\":\"x\"}}"] {
        fs::write(&state, &whole).unwrap();
        OpenOptions::new().append(true).open(&state).unwrap().write_all(torn).unwrap();
        let bench = opened(&state);
        assert_eq!(bench.sandbox.ledger(NOON).len(), 6);
        assert_eq!(
            bench.post("updateCompany/6f1c2a3e-0000-4000-8000-000000000001", &json!({"name": "N"}))["status"],
            "OK"
        );
        drop(bench);
        assert_eq!(opened(&state).sandbox.ledger(NOON).len(), 7);
    }
}

#[test]
fn a_damaged_line_is_named_and_a_file_in_use_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.jsonl");
    let running = filled(&state);
    let second = Sandbox::open(Scenario::default(), &state, NOON);
    assert!(matches!(second, Err(SandboxError::State { .. })));
    drop(running);
    let text = fs::read_to_string(&state).unwrap();
    let damaged = text.replacen("\"kind\":\"person\"", "\"kind\":", 1);
    assert_ne!(text, damaged);
    fs::write(&state, damaged).unwrap();
    let error = Sandbox::open(Scenario::default(), &state, NOON).err().unwrap();
    assert!(matches!(error, SandboxError::DamagedState { line: 2, .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn the_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state.jsonl");
    drop(filled(&state));
    let mode = fs::metadata(&state).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

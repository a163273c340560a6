//! The client secret and the access tokens appear in no file, log, journal or output.

mod bench;

use std::path::Path;

use bench::Bench;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// How every token of the simulated service begins.
const TOKEN: &str = "sandbox-token-";

/// Every file below a folder, but for the one the secret is kept in.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.file_name().is_some_and(|name| name != "secret") {
            found.push(path);
        }
    }
    found
}

fn contains(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle.as_bytes())
}

#[test]
fn neither_secret_nor_token_is_found_in_anything_that_is_written() {
    let garbled = Fault { probability: 0.2, ..Fault::new("creations", FaultKind::Garbled) };
    let failed = Fault { probability: 0.2, ..Fault::new("creations", FaultKind::Error500After) };
    let bench = Bench::new(Scenario::default().with_fault(garbled).with_fault(failed));
    bench.write("companies.csv", &bench::companies(5));
    bench.write("devices.csv", &bench::devices(40, 5));
    let commands: [&[&str]; 5] = [
        &["doctor", "-v", "-v"],
        &["run", "companies.csv", "devices.csv", "-v", "-v"],
        &["run", "--json"],
        &["status", "-v"],
        &["report"],
    ];
    let mut written: Vec<(String, Vec<u8>)> = Vec::new();
    for arguments in commands {
        let outcome = bench.fleetload(arguments);
        written.push((format!("output of {arguments:?}"), (outcome.stdout + &outcome.stderr).into_bytes()));
    }
    for path in files(&bench.path("")) {
        written.push((path.display().to_string(), std::fs::read(&path).expect("a readable file")));
    }
    assert!(written.len() > 10, "journal, reports and outputs were read");
    for (what, bytes) in &written {
        assert!(!contains(bytes, bench::SECRET), "the secret is in {what}");
        assert!(!contains(bytes, TOKEN), "a token is in {what}");
    }
}

#[test]
fn the_search_would_see_a_token() {
    let bench = Bench::new(Scenario::default());
    let form = format!("client_id={}&client_secret={}", bench::CLIENT, bench::SECRET);
    let sign_in = fleetload::sandbox::Request::sign_in(bench::CLIENT, bench::SECRET);
    assert_eq!(sign_in.body, form.as_bytes());
    let answer = bench.sandbox().respond(&sign_in, fleetload::sandbox::wall_clock());
    assert!(contains(&answer.response.body, TOKEN));
}

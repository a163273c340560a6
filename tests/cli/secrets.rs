//! The client secret and the access tokens appear in no file, log, journal or output.

use std::path::PathBuf;

use crate::bench::{self, Bench};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// How every token of the simulated service begins.
const TOKEN: &str = "sandbox-token-";

/// Every file in the bench's folder, but for the one the secret is kept in.
fn files(bench: &Bench) -> Vec<PathBuf> {
    let all = bench::below(&bench.path("")).into_iter();
    all.filter(|path| !path.is_dir() && path.file_name().is_some_and(|name| name != "secret")).collect()
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
    for path in files(&bench) {
        written.push((path.display().to_string(), std::fs::read(&path).expect("a readable file")));
    }
    assert!(written.len() > 10, "journal, reports and outputs were read");
    for (what, bytes) in &written {
        assert!(!contains(bytes, bench::SECRET), "the secret is in {what}");
        assert!(!contains(bytes, TOKEN), "a token is in {what}");
    }
}

/// The forms in which a secret could slip out: as it is, as an address has it, and in base64 at each of its three
/// alignments, without the letters that depend on what stands beside it.
fn forms(secret: &str) -> Vec<String> {
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let mut forms = vec![secret.to_owned(), encoded];
    for shift in 0..3 {
        let padded = [vec![b'x'; shift], secret.as_bytes().to_vec()].concat();
        let whole = &padded[..padded.len() / 3 * 3];
        let text = base64(whole);
        forms.push(text[if shift == 0 { 0 } else { 4 }..].to_owned());
    }
    forms
}

/// Base64 of a whole number of threes.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = bytes.chunks_exact(3).flat_map(|three| {
        let number = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(number >> shift & 63) as usize]))
    });
    letters.collect()
}

/// Looks for secret and tokens in outputs and in every file of the bench's folder.
fn assert_kept(bench: &Bench, what: &str, outputs: &[bench::Outcome]) {
    let texts = outputs.iter().map(|outcome| (outcome.stdout.clone() + &outcome.stderr).into_bytes());
    let mut written: Vec<(String, Vec<u8>)> = texts.map(|text| ("an output".to_owned(), text)).collect();
    for path in files(bench) {
        written.push((path.display().to_string(), std::fs::read(&path).expect("a readable file")));
    }
    for (place, bytes) in &written {
        for form in forms(bench::SECRET).into_iter().chain(forms(TOKEN)) {
            assert!(!contains(bytes, &form), "{what}: {form} is in {place}");
        }
    }
}

#[test]
fn whatever_goes_wrong_neither_secret_nor_token_is_written_anywhere() {
    // Those that stop a run, one at a time; all the others together, for every operation, the sign-in among them.
    const STOPPING: [FaultKind; 7] = [
        FaultKind::InvalidClient,
        FaultKind::UnauthorizedSource,
        FaultKind::TokenRevoked,
        FaultKind::NotFound404,
        FaultKind::MethodNotAllowed405,
        FaultKind::UnsupportedMedia415,
        FaultKind::Redirect302,
    ];
    let mut cases: Vec<(String, Vec<Fault>)> = Vec::new();
    for kind in STOPPING {
        for operation in ["auth", "addDevice", "lookups"] {
            let fault = Fault::new(operation, kind).after(u64::from(operation != "auth"));
            cases.push((format!("{} at {operation}", kind.name()), vec![fault]));
        }
    }
    let others = FaultKind::ALL.iter().filter(|kind| !STOPPING.contains(kind));
    let others: Vec<_> = others.map(|kind| Fault::new("*", *kind).ms(20).probability(0.01)).collect();
    cases.push(("everything else".to_owned(), others));
    let cases = std::sync::Mutex::new(cases.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let case = cases.lock().expect("nothing panics while it is held").next();
                    let Some((what, faults)) = case else { return };
                    let all = faults.len() > 1;
                    let bench = Bench::new(Scenario { fault: faults, rate: 0, ..Scenario::default() });
                    bench.write("companies.csv", &bench::companies(2));
                    bench.write("devices.csv", &bench::devices(if all { 300 } else { 6 }, 2));
                    let kinds = if all { 15 } else { 1 };
                    // The first requests look up ids: of rows that are in the journal, the run does that, which listens for signals.
                    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
                    let mut run = bench.start(&["run", "-vvv"]);
                    run.until(|| bench.statistics().faults_fired.len() >= kinds);
                    // What is under way comes home, and what it brings is reported.
                    run.signal("-INT");
                    let outputs = [
                        run.ended(),
                        bench.fleetload(&["status", "-vvv"]),
                        bench.fleetload(&["report", "--json"]),
                        bench.fleetload(&["doctor", "-vvv"]),
                        bench.fleetload(&["doctor", "--json"]),
                    ];
                    assert_kept(&bench, &what, &outputs);
                }
            });
        }
    });
}

#[test]
fn a_service_that_repeats_secret_and_token_is_not_quoted() {
    use crate::relay::{Act, Relay, answer};

    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(12, 1));
    let form = fleetload::sandbox::Request::sign_in(bench::CLIENT, bench::SECRET);
    let token: serde_json::Value = serde_json::from_slice(
        &bench.sandbox().respond(&form, fleetload::sandbox::wall_clock()).response.body,
    )
    .expect("a token");
    let token = token["access_token"].as_str().expect("a token").to_owned();
    // Every token is this one from now on, so that the answers below can repeat the one in use.
    let granted = format!("{{\"access_token\":\"{token}\",\"token_type\":\"Bearer\",\"expires_in\":14400}}");
    let relay = Relay::before(&bench.base_url(), move |operation, nth| match operation {
        "auth" => Act::Instead(answer("200 OK", "", granted.as_bytes())),
        "addDevice" if nth % 3 == 0 => {
            let said = format!("Authorization: Bearer {token}; client_secret={}", bench::SECRET);
            Act::Instead(answer("500 Oops", "", format!("<html>{said}</html>").as_bytes()))
        }
        "addDevice" if nth % 3 == 1 => {
            let said = format!("not good: {token} {}", bench::SECRET);
            let error = serde_json::json!({"errorCode": "invalidData", "message": said,
                "errorDetails": {"violations": [{"path": said, "message": said}]}});
            let body = serde_json::json!({"status": "FAILED", "error": error}).to_string();
            Act::Instead(answer("200 OK", "", body.as_bytes()))
        }
        _ => Act::Pass,
    });
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    bench.write("fleetload.toml", &profile.replace(&bench.base_url(), &relay.base_url()));
    let mut run = bench.start(&["run", "companies.csv", "devices.csv", "-vvv"]);
    run.until(|| relay.fired() >= 8);
    run.signal("-INT");
    let outputs = [
        run.ended(),
        bench.fleetload(&["resolve", "-vvv"]),
        bench.fleetload(&["status", "--json"]),
        bench.fleetload(&["report"]),
    ];
    let results = std::fs::read_to_string(bench.path("reports/1/results.jsonl")).expect("results");
    assert!(results.contains("not good"), "its words were kept: {results}");
    assert_kept(&bench, "repeated", &outputs);
}

#[test]
fn the_search_would_see_every_form() {
    assert_eq!(base64(b"Man"), "TWFu");
    for (shift, text) in
        [b"Zq8vT1xPw0".to_vec(), b"_Zq8vT1xPw0".to_vec(), b"__Zq8vT1xPw0".to_vec()].iter().enumerate()
    {
        let whole = base64(&text[..text.len() / 3 * 3]);
        assert!(
            forms("Zq8vT1xPw0").iter().any(|form| form.len() > 4 && whole.contains(form.as_str())),
            "{shift}"
        );
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

//! A webhook, and a receiver that answers, refuses, hangs, fails or sends elsewhere.

use super::receiver::{Receiver, Reply};
use super::{IMPATIENT, KEY, notifies, notifying};
use crate::bench::{self, Bench};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// A receiver, and a bench that notifies it.
fn with_receiver(scenario: Scenario) -> (Bench, Receiver) {
    let receiver = Receiver::start();
    let bench = notifying(scenario, &format!("webhook = \"{}\"", receiver.url()));
    bench.write("companies.csv", &bench::companies(3));
    (bench, receiver)
}

#[test]
fn a_run_that_finished_is_reported_once() {
    let (bench, receiver) = with_receiver(Scenario::default());
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let got = receiver.got();
    assert_eq!(got.len(), 1, "{got:#?}");
    let told = got[0].json();
    assert_eq!(
        (&told["event"], &told["reason"], &told["exit_code"]),
        (&"finished".into(), &"done".into(), &0.into())
    );
    assert!(
        outcome.stdout.contains(told["text"].as_str().unwrap()),
        "as the terminal: {told} {}",
        outcome.stdout
    );
    assert_eq!(told["counts"]["created"], 3);
    let import = serde_json::json!({
        "import": 1, "label": "companies.csv", "round": 1, "round_of": null, "files": ["companies.csv"], "rows": 3,
    });
    assert_eq!(told["imports"], serde_json::json!([import]));
    assert_eq!(told["id"].as_str(), got[0].headers.get("x-fleetload-event").map(String::as_str));
    assert!(!got[0].headers.contains_key("x-fleetload-signature"), "without a secret");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(receiver.events(), [""; 0], "nothing has changed");
    bench.write("more.csv", &bench::companies(4));
    bench.fleetload(&["run", "more.csv"]).expect_code(0);
    assert_eq!(receiver.events(), ["finished"]);
}

#[test]
fn no_value_of_a_row_is_in_a_notification() {
    let (bench, receiver) = with_receiver(Scenario::default());
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let body = &receiver.got()[0].body;
    for value in ["Customer 1", "help@c1.example", "Queen Street", "+64"] {
        assert!(!body.contains(value), "{value}: {body}");
    }
}

#[test]
fn rows_that_fail_are_reported_again_when_others_fail() {
    let refused = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::GeneralError) };
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(refused));
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    assert_eq!(bench.statistics().faults_fired.len(), 1, "the fault fired");
    let told = receiver.next().json();
    assert_eq!((&told["event"], &told["counts"]["rejected"]), (&"failed-rows".into(), &1.into()));
    assert!(told["needs"][0]["command"].as_str().unwrap().starts_with("fleetload run "), "{told}");
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(receiver.events(), [""; 0], "nothing has changed");
    let refused = Fault::new("addCompany", FaultKind::GeneralError);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).unwrap();
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(receiver.events(), ["failed-rows"], "the row was sent again and failed again");
}

#[test]
fn the_signature_is_the_hmac_of_the_body() {
    let (bench, receiver) = with_receiver(Scenario::default());
    let run = bench.command(&["run", "companies.csv"]).env("FLEETLOAD_NOTIFY_SECRET", KEY).output().unwrap();
    assert!(run.status.success());
    let got = receiver.next();
    bench.write("body", &got.body);
    // Whoever verifies it has another implementation.
    let script = format!(
        "import hmac,hashlib;print(hmac.new(b'{KEY}', open('body','rb').read(), hashlib.sha256).hexdigest())"
    );
    let python =
        std::process::Command::new("python3").args(["-c", &script]).current_dir(bench.path("")).output();
    let digest = String::from_utf8(python.expect("python3").stdout).unwrap();
    assert_eq!(got.headers["x-fleetload-signature"], format!("sha256={}", digest.trim()));
}

#[test]
fn a_receiver_that_fails_is_tried_again() {
    for reply in [Reply::Status(500), Reply::Status(429), Reply::Close] {
        let (bench, receiver) = with_receiver(Scenario::default());
        receiver.replies([reply.clone()]);
        let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        let got = receiver.got();
        assert_eq!(got.len(), 2, "{reply:?}");
        assert_eq!(got[0].body, got[1].body, "the same notification, with the same id");
        assert!(!outcome.stderr.contains("not delivered"), "{}", outcome.stderr);
    }
}

#[test]
fn what_is_due_to_a_receiver_that_was_removed_is_not_waited_for() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies(vec![Reply::Status(500); TRIES]);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(bench.fleetload(&["status"]).expect_code(0).stdout.contains("1 notification was not delivered"));
    notifies(&bench, "command = [\"true\"]");
    let told = bench.fleetload(&["notify"]).expect_code(0);
    assert!(told.stdout.contains("nothing is due to be delivered"), "{told:?}");
    assert!(!bench.fleetload(&["status"]).expect_code(0).stdout.contains("not delivered"));
    // Named again, it gets what it has not got.
    receiver.takes_all_from_now();
    notifies(&bench, &format!("webhook = \"{}\"", receiver.url()));
    let told = bench.fleetload(&["notify"]).expect_code(0);
    assert!(told.stdout.contains("1 notification delivered"), "{told:?}");
}

/// More tries than one run makes: how many it makes depends on how long it takes to end.
const TRIES: usize = 20;

/// Runs against a receiver that takes nothing: the run ends as it would without, `status` says what is not delivered, and
/// the next run delivers it.
fn is_left_to_the_next_run(reply: Reply, why: &str) {
    let (bench, receiver) = with_receiver(Scenario::default());
    if matches!(reply, Reply::Hang) {
        notifies(&bench, &format!("webhook = \"{}\"\n{IMPATIENT}", receiver.url()));
    }
    receiver.replies(vec![reply; TRIES]);
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    receiver.takes_all_from_now();
    let words = format!("1 notification was not delivered: {why}");
    assert!(outcome.stderr.contains(&words), "{why}: {}", outcome.stderr);
    assert!(outcome.stderr.contains("fleetload notify"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("hidden-token"), "{}", outcome.stderr);
    let first = receiver.next();
    receiver.got();
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stdout.contains(&words), "{}", status.stdout);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(receiver.next().body, first.body);
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(!status.stdout.contains("not delivered"), "{}", status.stdout);
}

#[test]
fn what_a_receiver_does_not_take_is_delivered_by_the_next_run() {
    is_left_to_the_next_run(Reply::Status(500), "the receiver answered 500");
    is_left_to_the_next_run(Reply::Hang, "no answer within 1 s");
    is_left_to_the_next_run(Reply::Status(404), "the receiver answered 404");
}

#[test]
fn the_last_error_is_that_of_the_newest_try() {
    let (bench, receiver) = with_receiver(Scenario::default());
    // A run tries what is oldest first, and goes on to what is newer after a refusal only.
    let replies = [vec![404], vec![404, 410], vec![500; TRIES]];
    let mut told = String::new();
    for (number, statuses) in (1..).zip(replies) {
        receiver.replies(statuses.into_iter().map(Reply::Status));
        let sheet = format!("companies-{number}.csv");
        bench.write(&sheet, &bench::companies(number));
        told = bench.fleetload(&["run", &sheet]).expect_code(0).stderr;
    }
    let words = "3 notifications were not delivered: the receiver answered 500";
    assert!(told.contains(words), "{told}");
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stdout.contains(words), "{}", status.stdout);
}

#[test]
fn neither_the_address_nor_the_key_of_the_signature_is_written_anywhere() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies([Reply::Status(500), Reply::Close, Reply::Status(404)]);
    let mut written = Vec::new();
    for arguments in
        [&["run", "companies.csv", "-vvv"][..], &["status", "-vvv"], &["notify", "-vvv"], &["doctor"]]
    {
        let outcome =
            bench.command(arguments).env("FLEETLOAD_NOTIFY_SECRET", KEY).output().expect("it starts");
        written.extend([outcome.stdout, outcome.stderr]);
    }
    assert!(receiver.next().headers.contains_key("x-fleetload-signature"), "the key was used");
    let files = bench::below(&bench.path("")).into_iter();
    let files =
        files.filter(|path| path.is_file() && path.file_name().is_some_and(|name| name != "fleetload.toml"));
    written.extend(files.map(|path| std::fs::read(path).expect("a file")));
    assert!(written.len() > 12, "journal and reports were read");
    for bytes in &written {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(KEY) && !text.contains("hidden-token"), "{text}");
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::start();
    is_left_to_the_next_run(
        Reply::Redirect(elsewhere.url()),
        "the receiver answered 302; redirects are not followed",
    );
    assert_eq!(elsewhere.got().len(), 0);
}

#[test]
fn of_an_answer_without_an_end_only_the_beginning_is_read() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies([Reply::Flood]);
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(receiver.events(), ["finished"]);
    assert!(!outcome.stderr.contains("not delivered"), "{}", outcome.stderr);
}

#[test]
fn a_receiver_that_is_not_there_keeps_nothing_from_ending() {
    let (bench, receiver) = with_receiver(Scenario::default());
    // The discard port: nobody listens there.
    notifies(&bench, "webhook = \"http://127.0.0.1:9/\"");
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(outcome.stderr.contains("1 notification was not delivered: no connection"), "{}", outcome.stderr);
    notifies(&bench, &format!("webhook = \"{}\"", receiver.url()));
    let outcome = bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(outcome.stdout.trim(), "1 notification delivered");
    assert_eq!(receiver.events(), ["finished"]);
    let outcome = bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(outcome.stdout.trim(), "nothing is due to be delivered");
}

#[cfg(unix)]
#[test]
fn a_signal_cuts_the_wait_for_a_receiver_short_and_changes_no_exit_code() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies([Reply::Hang]);
    let run = bench.start(&["run", "companies.csv"]);
    let first = receiver.next();
    run.signal("-INT");
    let outcome = run.ended();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("1 notification was not delivered"), "{}", outcome.stderr);
    bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(receiver.next().body, first.body);
}

#[cfg(unix)]
#[test]
fn a_signal_cuts_the_wait_also_while_there_is_no_journal_and_what_is_lost_is_said() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies([Reply::Hang]);
    bench.write("broken.csv", "key,parent,name\nC0,nowhere,Acme\n");
    let run = bench.start(&["run", "broken.csv", "--kind", "companies"]);
    assert_eq!(receiver.next().json()["reason"], "sheets");
    run.signal("-INT");
    let outcome = run.ended();
    assert_eq!(outcome.code, 3, "{}", outcome.stderr);
    let lost = "1 notification was not delivered; it is not in the journal, so it is not delivered later";
    assert!(outcome.stderr.contains(lost), "{}", outcome.stderr);
    assert!(!bench.path("fleetload.db").exists());
}

#[cfg(unix)]
#[test]
fn what_was_noted_when_the_process_was_killed_is_delivered_by_the_next_run() {
    let (bench, receiver) = with_receiver(Scenario::default());
    receiver.replies([Reply::Hang]);
    let run = bench.start(&["run", "companies.csv"]);
    let first = receiver.next();
    run.kill();
    bench.fleetload(&["run"]).expect_code(0);
    let again = receiver.got();
    assert_eq!(again.len(), 1, "{again:#?}");
    assert_eq!(again[0].body, first.body, "the same notification, with the same id");
}

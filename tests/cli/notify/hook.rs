//! A command: what it gets, and one that hangs, floods, dies or is not there; and `notify --test`.

#![cfg(unix)]

use super::receiver::Receiver;
use super::{IMPATIENT, KEY, notifies, notifying};
use crate::bench::{self, Bench};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

/// A bench that notifies a shell script, started in its folder.
fn with_hook(script: &str) -> Bench {
    let bench =
        notifying(Scenario::default(), "command = [\"sh\", \"hook.sh\", \"an argument; not a shell's\"]");
    bench.write("hook.sh", script);
    bench.write("companies.csv", &bench::companies(2));
    bench
}

fn read(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn a_command_gets_json_and_facts_and_no_secret() {
    let bench = with_hook("cat > input; env > environment; printf %s \"$1\" > argument");
    bench.write("notify.secret", KEY);
    let mut run = bench.command(&["run", "companies.csv"]);
    let run = run
        .env("FLEETLOAD_NOTIFY_SECRET", KEY)
        .env("FLEETLOAD_CLIENT_SECRET", bench::SECRET)
        .output()
        .unwrap();
    assert!(run.status.success());
    let input: Value = serde_json::from_str(&read(&bench, "input")).expect("JSON");
    assert_eq!(input["event"], "finished");
    let environment = read(&bench, "environment");
    for (name, value) in [
        ("FLEETLOAD_EVENT", "finished"),
        ("FLEETLOAD_EVENT_ID", input["id"].as_str().unwrap()),
        ("FLEETLOAD_EVENT_EXIT_CODE", "0"),
        ("FLEETLOAD_EVENT_IMPORTS", "1"),
        ("FLEETLOAD_JOURNAL", input["journal"].as_str().unwrap()),
    ] {
        assert!(environment.lines().any(|line| line == format!("{name}={value}")), "{name}: {environment}");
    }
    assert!(!environment.contains(KEY) && !environment.contains(bench::SECRET), "{environment}");
    assert_eq!(read(&bench, "argument"), "an argument; not a shell's");
}

#[test]
fn a_command_that_asks_the_run_in_progress_to_try_again_says_nothing_of_its_end() {
    let bench = with_hook("cat >> input; echo >> input");
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    bench.sandbox().change(|scenario| scenario.fault = vec![stall]).expect("a consistent scenario");
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.hears(&["\"progress\""]);
    bench.fleetload(&["run", "--now"]).expect_code(0);
    assert!(!bench.path("input").exists(), "{}", read(&bench, "input"));
    run.signal("-INT");
    run.signal("-INT");
    run.ended().expect_code(5);
    let told = read(&bench, "input");
    let lines = told.lines().filter(|line| !line.is_empty());
    let events: Vec<Value> = lines.map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(events.iter().map(|event| &event["event"]).collect::<Vec<_>>(), ["stopped"]);
}

#[test]
fn a_command_may_start_a_fleetload_about_the_same_journal() {
    let bench = with_hook(&format!("{} status > said 2> complaints", env!("CARGO_BIN_EXE_fleetload")));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(read(&bench, "said").starts_with("finished: every row is done"), "{}", read(&bench, "said"));
    assert!(!read(&bench, "complaints").contains("warning"), "{}", read(&bench, "complaints"));
}

#[test]
fn a_command_that_fails_dies_or_is_not_there_changes_no_run_and_the_next_run_starts_it_again() {
    for (script, why) in [
        ("exit 3", "the command failed (exit status: 3)"),
        ("kill -9 $$", "the command failed (signal: 9 (SIGKILL))"),
    ] {
        let bench = with_hook(script);
        let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        assert!(
            outcome.stderr.contains(&format!("1 notification was not delivered: {why}")),
            "{}",
            outcome.stderr
        );
        bench.write("hook.sh", "cat > input");
        bench.fleetload(&["run"]).expect_code(0);
        assert!(read(&bench, "input").contains("\"finished\""));
    }
    let bench = with_hook("");
    notifies(&bench, "command = [\"/nowhere/notify\"]");
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(outcome.stderr.contains("not delivered: the command cannot be started"), "{}", outcome.stderr);
}

#[test]
fn a_command_that_hangs_is_killed_with_everything_that_it_started() {
    // A reader of the pipe meets its end once nobody holds it open any more: neither the command nor what it started.
    let bench = with_hook("mkfifo alive; (exec 3> alive; echo here >&3; exec tail -f /dev/null) & wait");
    notifies(&bench, &format!("command = [\"sh\", \"hook.sh\"]\n{IMPATIENT}"));
    let pipe = bench.path("alive");
    let mut run = bench.start(&["run", "companies.csv"]);
    run.until(|| pipe.exists());
    assert_eq!(std::fs::read_to_string(&pipe).expect("a pipe"), "here\n");
    let outcome = run.ended();
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let words = "not delivered: the command did not end within 1 s and was killed";
    assert!(outcome.stderr.contains(words), "{}", outcome.stderr);
}

#[test]
fn what_a_command_prints_without_end_is_bounded_and_only_logged() {
    let bench = with_hook("head -c 20000000 /dev/zero | tr '\\0' x; echo end > ended");
    let outcome = bench.fleetload(&["run", "companies.csv", "-v"]).expect_code(0);
    assert_eq!(read(&bench, "ended"), "end\n");
    let printed = outcome.stderr.matches('x').count();
    assert!((4096..8192).contains(&printed), "{printed} of it were logged");
    let outcome = bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(outcome.stdout.trim(), "nothing is due to be delivered");
}

#[test]
fn sendmail_gets_a_mail() {
    let bench = with_hook("cat > mail");
    notifies(&bench, "command = [\"sh\", \"hook.sh\"]\nmail_to = [\"ops@example.com\"]");
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let mail = read(&bench, "mail");
    let head = "To: ops@example.com\nSubject: fleetload bench: finished: every row is done\nDate: ";
    assert!(mail.starts_with(head), "{mail}");
}

#[test]
fn a_test_reaches_every_receiver_and_says_which_it_did_not() {
    let bench = with_hook("cat > input");
    let receiver = Receiver::start();
    let lines = format!("webhook = \"{}\"\ncommand = [\"sh\", \"hook.sh\"]", receiver.url());
    notifies(&bench, &lines);
    let outcome = bench.fleetload(&["notify", "--test"]).expect_code(0);
    assert_eq!(outcome.stdout, "webhook: delivered\ncommand: delivered\n");
    assert_eq!(receiver.events(), ["test"]);
    let input: Value = serde_json::from_str(&read(&bench, "input")).expect("JSON");
    let whose = |object: &Value| [&object["account"], &object["service"]].map(Value::clone);
    let ours = [Value::from(bench::CLIENT), bench.base_url().into()];
    assert_eq!((&input["event"], whose(&input)), (&"test".into(), ours.clone()));
    assert!(!bench.path("fleetload.db").exists(), "it needs no journal");
    bench.write("hook.sh", "exit 1");
    let outcome = bench.fleetload(&["notify", "--test", "--json"]).expect_code(4);
    let objects: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&objects[0]["delivered"], &objects[1]["delivered"]), (&true.into(), &false.into()));
    assert_eq!((&objects[2]["reason"], &objects[2]["exit_code"]), (&"not-delivered".into(), &4.into()));
    assert_eq!(whose(&objects[2]), ours);
}

#[test]
fn without_a_receiver_or_with_a_secret_that_others_can_read_nothing_is_tried() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["notify", "--test"]).expect_code(2);
    assert!(outcome.stderr.contains("[profile.NAME.notify]"), "{}", outcome.stderr);
    let receiver = Receiver::start();
    bench.write("notify.secret", KEY);
    std::fs::set_permissions(
        bench.path("notify.secret"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    notifies(&bench, &format!("webhook = \"{}\"\nsecret_file = \"notify.secret\"", receiver.url()));
    bench.write("companies.csv", &bench::companies(1));
    for arguments in [&["notify", "--test"][..], &["run", "companies.csv"]] {
        let outcome = bench.fleetload(arguments).expect_code(2);
        assert!(outcome.stderr.contains("secret_file: others can read"), "{}", outcome.stderr);
        assert!(!outcome.stderr.contains(KEY));
    }
    assert!(!bench.path("fleetload.db").exists(), "nothing was imported");
    assert_eq!(receiver.got().len(), 0);
}

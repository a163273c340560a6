//! Each event at its occasion, and only those that the profile lists.

use super::receiver::Receiver;
use super::{notifies, notifying};
#[cfg(unix)]
use crate::bench::disk::SmallDisk;
use crate::bench::{self, Bench, Outcome};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::{Value, json};

fn with_receiver(scenario: Scenario) -> (Bench, Receiver) {
    let receiver = Receiver::start();
    let bench = notifying(scenario, &format!("webhook = \"{}\"", receiver.url()));
    (bench, receiver)
}

/// What was reported, each with its reason.
fn told(receiver: &Receiver) -> Vec<(String, Value)> {
    let got = receiver.got().into_iter();
    got.map(|got| (got.json()["event"].as_str().expect("an event").to_owned(), got.json()["reason"].clone()))
        .collect()
}

/// A command as whoever is notified can type it in any folder.
fn command(bench: &Bench, command: &str) -> String {
    format!("fleetload {command} --journal {}", bench.path("fleetload.db").display())
}

#[test]
fn a_spent_quota_is_reported_once_a_day() {
    let (bench, receiver) = with_receiver(Scenario { daily_quota: 4, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(10));
    let outcome = bench.fleetload(&["run", "companies.csv", "--on-quota", "exit"]).expect_code(5);
    let got = receiver.got();
    assert_eq!(got.len(), 1, "{got:#?}");
    let parked = got[0].json();
    assert_eq!((&parked["event"], &parked["reason"]), (&"parked".into(), &"quota".into()));
    assert!(
        parked["resumes_at"].is_string() && parked["text"].as_str().unwrap().starts_with("parked until"),
        "{parked}"
    );
    assert_eq!(
        (&parked["next"], &parked["exit_code"]),
        (&command(&bench, "run --on-quota exit").into(), &5.into())
    );
    assert!(outcome.stdout.contains("parked until"), "{}", outcome.stdout);
    bench.fleetload(&["run", "--on-quota", "exit"]).expect_code(5);
    assert_eq!(told(&receiver), [], "the same day");
}

#[test]
fn a_run_that_waits_for_the_next_day_is_reported_as_parked_while_it_waits() {
    let (bench, receiver) = with_receiver(Scenario { daily_quota: 4, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(10));
    let run = bench.start(&["run", "companies.csv"]);
    let parked = receiver.next().json();
    assert_eq!((&parked["event"], &parked["reason"]), (&"parked".into(), &"quota".into()));
    assert_eq!((&parked["next"], &parked["exit_code"]), (&Value::Null, &Value::Null));
    let text = parked["text"].as_str().unwrap();
    // How many depends on which answers were on disk by then.
    assert!(text.starts_with("parked until") && text.ends_with(" rows remaining"), "{text}");
    run.kill();
}

#[test]
fn rows_that_were_not_imported_are_counted_as_such_during_a_run_and_at_its_end() {
    let lost = Fault::new("addCompany", FaultKind::Error500Before).times(1);
    let refused = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(lost).with_fault(refused));
    bench.write("companies.csv", &bench::companies(4).replace("+64 9 555 0003", ""));
    let run = ["run", "companies.csv", "--skip-invalid", "--in-doubt", "hold"];
    bench.fleetload(&run).expect_code(8);
    let got = receiver.got();
    assert_eq!(got.len(), 2, "{got:#?}");
    for notification in got.iter().map(|got| got.json()) {
        let counts = notification["counts"].as_object().expect("counts").values();
        let counted: u64 = counts.filter_map(Value::as_u64).sum();
        assert_eq!((counted, &notification["left_out"]), (3, &1.into()), "{notification}");
        assert_eq!(notification["imports"][0]["rows"], 4);
    }
    assert_eq!(got[1].json()["counts"]["rejected"], 1);
}

/// A journal with an import of which one row was created and one was not imported, and the sheet of another.
fn with_a_finished_import(scenario: Scenario) -> (Bench, Receiver) {
    let (bench, receiver) = with_receiver(scenario);
    bench.write("companies.csv", &bench::companies(2).replace("+64 9 555 0001", ""));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    assert_eq!(receiver.next().json()["counts"]["created"], 1);
    bench.write("sites.csv", &bench::sites(4, 1));
    (bench, receiver)
}

#[test]
fn what_names_one_import_counts_its_rows_and_no_others() {
    let about_sites = |notification: &Value| {
        let counts = notification["counts"].as_object().expect("counts").values();
        assert_eq!(counts.filter_map(Value::as_u64).sum::<u64>(), 4, "{notification}");
        assert_eq!(
            (notification["left_out"].as_u64(), &notification["imports"][0]["rows"]),
            (Some(0), &4.into())
        );
        let text = notification["text"].as_str().expect("a text");
        assert!(text.ends_with(" rows remaining"), "{text}");
    };
    // A run that ends, one that waits, and one that is killed meanwhile.
    let scenario = || Scenario { daily_quota: 3, ..Scenario::default() };
    let (bench, receiver) = with_a_finished_import(scenario());
    let outcome = bench.fleetload(&["run", "sites.csv", "--on-quota", "exit"]).expect_code(5);
    let parked = receiver.next().json();
    assert!(outcome.stdout.contains(parked["text"].as_str().expect("a text")), "{parked} {}", outcome.stdout);
    about_sites(&parked);

    let (bench, receiver) = with_a_finished_import(scenario());
    let run = bench.start(&["run", "sites.csv"]);
    about_sites(&receiver.next().json());
    run.kill();
    bench.fleetload(&["notify"]).expect_code(0);
    // What was under way is delivered again.
    let killed = receiver.got().last().expect("a notification").json();
    assert_eq!((&killed["reason"], &killed["exit_code"]), (&"killed".into(), &5.into()));
    about_sites(&killed);
}

#[test]
fn of_a_run_in_which_rows_of_an_earlier_round_are_still_to_be_corrected_all_rows_are_counted() {
    let (bench, receiver) = with_receiver(Scenario::default());
    let companies = bench::companies(3);
    let wrong =
        ["+64 9 555 0001", "+64 9 555 0002"].iter().fold(companies, |text, phone| text.replace(phone, ""));
    bench.write("companies.csv", &wrong);
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    receiver.next();
    let fix =
        std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("the rows to correct");
    let corrected = fix.replace("\"Customer 1\",\"\"", "\"Customer 1\",\"+64 9 555 0001\"");
    let without_the_other = corrected.lines().filter(|line| !line.contains("Customer 2"));
    bench.write("companies.csv", &without_the_other.collect::<Vec<_>>().join("\n"));
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    receiver.next();
    // Nothing of the earlier round is sent now.
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    let failed = receiver.next().json();
    let imports: Vec<&Value> =
        failed["imports"].as_array().expect("imports").iter().map(|import| &import["import"]).collect();
    assert_eq!(imports, [1, 3], "{failed}");
    assert_eq!((&failed["counts"]["created"], &failed["left_out"]), (&2.into(), &1.into()), "{failed}");
}

#[test]
fn rows_on_hold_are_reported_while_the_run_goes_on_and_at_its_end() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::Error500Before) };
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(lost));
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv", "--in-doubt", "hold"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired.len(), 1, "the fault fired");
    let got: Vec<Value> = receiver.got().iter().map(super::receiver::Got::json).collect();
    let words: Vec<(&str, bool)> =
        got.iter().map(|got| (got["event"].as_str().unwrap(), got["exit_code"] == 8)).collect();
    assert_eq!(words, [("needs-decision", false), ("needs-decision", true)], "{got:#?}");
    assert!(got.iter().all(|got| got["needs"][0]["command"] == command(&bench, "resolve")), "{got:#?}");
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(told(&receiver), [], "nothing has changed");
}

#[test]
fn what_is_to_be_done_next_is_the_gravest_of_what_needs_a_person() {
    let refused = Fault::new("addCompany", FaultKind::InvalidState).times(1);
    let lost = Fault::new("addCompany", FaultKind::Error500Before).times(1);
    let (bench, receiver) = with_receiver(Scenario { fault: vec![refused, lost], ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv", "--in-doubt", "hold"]).expect_code(8);
    let got = receiver.got().last().expect("a notification").json();
    let needs: Vec<&Value> =
        got["needs"].as_array().expect("needs").iter().map(|need| &need["command"]).collect();
    let correct = command(&bench, &format!("run {}", bench.path("reports/1/fix.xlsx").display()));
    assert_eq!(needs, [command(&bench, "resolve").as_str(), &correct], "{got:#}");
    assert_eq!(got["next"], command(&bench, "resolve"), "{got:#}");
}

#[test]
fn failed_rows_are_reported_once_also_when_the_next_run_is_about_fewer_imports() {
    let refused = Fault::new("addPerson", FaultKind::InvalidData).times(1);
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(refused));
    bench.write("companies.csv", &bench::companies(2));
    bench.write("people.csv", &bench::people(3, 2));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    let got = receiver.got();
    assert_eq!(got.len(), 1, "{got:#?}");
    assert_eq!(got[0].json()["imports"].as_array().map(Vec::len), Some(2), "{got:#?}");
    assert_eq!(
        got[0].json()["next"],
        command(&bench, &format!("run {}", bench.path("reports/2/fix.xlsx").display())),
        "the row is corrected first: {got:#?}"
    );
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(told(&receiver), [], "nothing has changed");
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(told(&receiver), [("finished".to_owned(), "done".into())]);
}

#[test]
fn a_paused_sheet_is_reported_without_the_words_of_the_service() {
    let refused = Fault::new("addCompany", FaultKind::GeneralError);
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(refused));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 8", "");
    notifies(&bench, &format!("webhook = \"{}\"", receiver.url()));
    bench.write("companies.csv", &bench::companies(120));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    let got = receiver.got();
    let words: Vec<String> = got.iter().map(|got| got.json()["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(got.len(), 2, "{words:?}");
    assert!(got.iter().all(|got| got.json()["event"] == "paused"), "{words:?}");
    assert!(
        words[0].contains("is paused: the service rejected 50 of its rows in a row with generalError;"),
        "{words:?}"
    );
    assert!(words[1].starts_with("finished except for a paused sheet: "), "{words:?}");
    assert!(words[1].ends_with(" rows remaining; 50 rows were rejected"), "{words:?}");
    assert_eq!(got[0].json()["needs"], serde_json::json!([]), "the text has it");
    assert_eq!(got[1].json()["next"], Value::Null, "another run costs the quota 50 creations for nothing");
    assert_eq!(got[1].json()["needs"][0]["command"], command(&bench, "run --despite-rejections"), "{got:#?}");
}

#[test]
fn a_run_that_is_stopped_or_cannot_begin_is_reported() {
    let (bench, receiver) =
        with_receiver(Scenario::default().with_fault(Fault::new("auth", FaultKind::InvalidClient)));
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(7);
    bench.fleetload(&["run"]).expect_code(7);
    assert_eq!(told(&receiver), [("stopped".to_owned(), "credentials".into())], "once a day for one reason");
    bench.write("wrong.csv", "key,company\nsecret-value,\n");
    bench.fleetload(&["run", "wrong.csv", "--kind", "devices"]).expect_code(3);
    let got = receiver.next();
    assert_eq!((&got.json()["event"], &got.json()["reason"]), (&"stopped".into(), &"sheets".into()));
    assert!(!got.body.contains("secret-value"), "{}", got.body);
}

#[test]
fn the_end_of_a_run_is_reported_without_a_record_while_another_program_has_locked_the_journal() {
    let (bench, receiver) = with_receiver(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(receiver.next().json()["event"], "finished");
    bench.write("wrong.csv", "key,company\nx,\n");
    let other = rusqlite::Connection::open(bench.path("fleetload.db")).expect("the journal");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock of another program");
    let run = bench.start(&["run", "wrong.csv", "--kind", "devices"]);
    assert_eq!(receiver.next().json()["reason"], "sheets");
    other.execute_batch("ROLLBACK").expect("the lock back");
    let outcome = run.ended().expect_code(3);
    assert!(outcome.stderr.contains("could not be kept in the journal"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("did not end in time"), "{}", outcome.stderr);
}

#[test]
fn each_run_that_began_and_failed_is_reported_also_on_the_same_day() {
    let (bench, receiver) = with_receiver(Scenario::default());
    bench.alter("[profile.bench.limits]", "[profile.bench.limits]\nconcurrency = 1");
    bench.write("companies.csv", &bench::companies(4));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    for _ in 0..2 {
        let mut run = bench.command(&["run"]);
        run.env("FLEETLOAD_PANICPOINT", "created.in-transaction");
        let outcome = Outcome::of(run.output().expect("the binary starts")).expect_code(1);
        let told = told(&receiver);
        let failed = told.iter().filter(|(event, reason)| event == "stopped" && reason == "internal");
        assert_eq!(failed.count(), 1, "{told:?} {}", outcome.stderr);
    }
    assert!(!bench.created("company").is_empty(), "something was sent");
}

#[test]
fn a_run_that_must_be_confirmed_where_nobody_can_be_asked_is_reported() {
    let (bench, receiver) = with_receiver(Scenario::default());
    bench.alter("[profile.bench.limits]", "confirm = true\n[profile.bench.limits]");
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv", "--rate", "50"]).expect_code(2);
    let got = receiver.next().json();
    assert_eq!((&got["event"], &got["reason"]), (&"stopped".into(), &"nobody-to-ask".into()), "{got}");
    let words = "a run must be confirmed (confirm = true), and nobody could be asked: companies.csv";
    assert_eq!(got["text"], words);
    let next = got["next"].as_str().expect("a command");
    assert_eq!(next, command(&bench, "run companies.csv --yes --rate 50"));
    assert_eq!(bench.ledger().len(), 0);
    let next: Vec<&str> = next.split(' ').skip(1).collect();
    bench.fleetload(&next).expect_code(0);
    assert_eq!(bench.ledger().len(), 2);
    assert_eq!(receiver.next().json()["event"], "finished");
    bench.fleetload(&["run"]).expect_code(2);
    assert_eq!(receiver.next().json()["next"], command(&bench, "run --yes"));
    bench.write("more.csv", &bench::companies(3));
    bench.fleetload(&["run", "more.csv", "--kind", "companies"]).expect_code(2);
    assert_eq!(receiver.next().json()["next"], Value::Null, "how the file is read is not told");
}

#[cfg(unix)]
#[test]
fn a_full_disk_needs_a_person_who_makes_room() {
    let (bench, receiver) = with_receiver(Scenario::default());
    let Some(disk) = SmallDisk::mount(bench.path("disk"), "64m") else {
        eprintln!("SKIPPED: only root may mount a small disk; the full disk was not tried");
        return;
    };
    let journal = disk.path().join("fleetload.db");
    let journal = ["--journal", journal.to_str().expect("UTF-8")];
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&[&["import", "companies.csv"], &journal[..]].concat()).expect_code(0);
    disk.fill(600);
    bench.fleetload(&[&["run", "--rate", "50"], &journal[..]].concat()).expect_code(6);
    let got = receiver.next().json();
    assert_eq!((&got["event"], &got["reason"]), (&"stopped".into(), &"journal-full".into()), "{got:#}");
    let command = format!("fleetload run --rate 50 {}", journal.join(" "));
    let words = "there is no disk space left for the journal: free space on its disk, then run again";
    assert_eq!(got["needs"], json!([{ "words": words, "command": command }]), "{got:#}");
    assert_eq!(got["next"], command, "{got:#}");
}

#[test]
fn a_run_that_cannot_begin_without_a_journal_is_reported_too() {
    let (bench, receiver) = with_receiver(Scenario::default());
    bench.write("wrong.csv", "key,company\nx,\n");
    bench.fleetload(&["run", "wrong.csv", "--kind", "devices"]).expect_code(3);
    let got = receiver.next().json();
    assert_eq!(
        (&got["reason"], &got["text"]),
        (&"sheets".into(), &"the sheets have errors: wrong.csv".into())
    );
    notifies(&bench, "webhook = \"http://127.0.0.1:9/\"");
    let outcome = bench.fleetload(&["run", "wrong.csv", "--kind", "devices"]).expect_code(3);
    assert!(
        outcome.stderr.contains("it is not in the journal, so it is not delivered later"),
        "{}",
        outcome.stderr
    );
    assert!(!outcome.stderr.contains("the next run delivers"), "{}", outcome.stderr);
    assert!(!bench.path("fleetload.db").exists());
}

#[cfg(unix)]
#[test]
fn a_run_that_was_killed_is_reported_by_notify_and_once() {
    let stall = Fault::new("addCompany", FaultKind::StallBefore);
    let (bench, receiver) = with_receiver(Scenario::default().with_fault(stall));
    bench.write("companies.csv", &bench::companies(2));
    let mut run = bench.start(&["run", "companies.csv"]);
    run.until(|| bench.requests("addCompany") > 0);
    run.kill();
    let outcome = bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(outcome.stdout.trim(), "1 notification delivered");
    assert_eq!(told(&receiver), [("stopped".to_owned(), "killed".into())]);
    let outcome = bench.fleetload(&["notify"]).expect_code(0);
    assert_eq!(outcome.stdout.trim(), "nothing is due to be delivered");
}

#[test]
fn only_what_the_profile_lists_is_reported_and_a_rehearsal_reports_nothing() {
    let (bench, receiver) = with_receiver(Scenario::default());
    let webhook = format!("webhook = \"{}\"", receiver.url());
    notifies(&bench, &format!("{webhook}\non = [\"stopped\"]"));
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    notifies(&bench, &webhook);
    let run = bench.command(&["run", "companies.csv", "--sandbox", "--journal", "r.db"]);
    let mut run = run;
    let output = run.env("FLEETLOAD_NOTIFY_WEBHOOK", receiver.url()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(told(&receiver), []);
}

//! A run ends by itself: whatever happens to one row, the others are not kept waiting, and no row for ever.

use std::sync::Arc;
use std::time::Duration;

use crate::bench::child::UnderWay;
use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Direct, Fate, Inside, Virtual};
use crate::relay::gated;
use fleetload::clock::Clock;
use fleetload::journal::Writing;
use fleetload::run::Ending;
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use fleetload::service::{HttpAnswer, HttpRequest, Sending, Transport};

/// Runs with an end set; a run that it stops exits with 5.
fn run_bounded(bench: &Bench, files: &[&str]) -> Outcome {
    let until = bench::at_the_latest();
    let mut arguments = vec!["run", "--until", &until];
    arguments.extend(files);
    bench.fleetload(&arguments)
}

/// Starts a run of what is in the journal, with an end set.
fn start(bench: &Bench) -> UnderWay {
    bench.start(&["run", "--json", "--until", &bench::at_the_latest()])
}

/// Lets the run notice that the journal has changed: it looks every two seconds and draws a picture every second.
fn let_it_notice(run: &mut UnderWay) {
    for _ in 0..4 {
        run.hears(&["\"object\":\"progress\""]);
    }
}

#[test]
fn a_look_up_that_turns_out_missing_keeps_no_row_whose_look_was_under_way() {
    let scenario = Scenario { rate: 0, ..Scenario::default() }
        .with_fault(Fault { times: Some(1), ..Fault::new("getDeviceByMac", FaultKind::NotFound404) })
        .with_fault(Fault { ms: 300, ..Fault::new("getDeviceByMac", FaultKind::Latency) })
        .with_fault(Fault::new("getDeviceByMac", FaultKind::Error500Before));
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(9, 1));
    run_bounded(&bench, &["companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["not_found_404"], 1);
    assert!(bench.statistics().faults_fired["error_500_before"] > 1, "others were under way");
    assert_eq!(bench.created("device").len(), 9);
}

#[test]
fn a_row_that_is_cancelled_when_it_was_to_probe_lets_another_probe() {
    let failing = Fault { times: Some(20), ..Fault::new("addDevice", FaultKind::Error500Before) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(failing));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    let sheet = bench::devices(28, 1);
    let lines: Vec<&str> = sheet.lines().collect();
    let part = |rows: &[&str]| format!("{}\n{}\n", lines[0], rows.join("\n"));
    bench.write("first.csv", &part(&lines[1..21]));
    bench.write("second.csv", &part(&lines[21..25]));
    bench.write("third.csv", &part(&lines[25..29]));
    bench.fleetload(&["import", "companies.csv", "first.csv"]).expect_code(0);
    bench.fleetload(&["import", "second.csv"]).expect_code(0);
    bench.fleetload(&["import", "third.csv"]).expect_code(0);
    let mut run = start(&bench);
    // It opens after twenty failures.
    run.hears(&["\"breaker\""]);
    bench.fleetload(&["cancel", "2"]).expect_code(0);
    let code = run.ended().code;
    assert_eq!(code, 8, "the first import's rows are held, and the run ended by itself");
    assert_eq!(bench.created("device").len(), 4, "the third import went on");
}

#[test]
fn a_step_that_always_fails_at_the_service_is_left_to_a_person_after_some_tries() {
    let failing = Fault::new("putDeviceLabels", FaultKind::Error500Before);
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(failing));
    bench.write("companies.csv", &bench::companies(1));
    let devices = bench::devices(1, 1);
    let devices: String =
        devices.lines().zip([",labels", ",north"]).map(|(line, more)| format!("{line}{more}\n")).collect();
    bench.write("devices.csv", &devices);
    run_bounded(&bench, &["companies.csv", "devices.csv"]).expect_code(8);
    assert_eq!(bench.requests("putDeviceLabels"), 8);
    assert_eq!(bench.counts(1)["held"], 1);
    bench.assert_exact(1);

    // Cancelled, it still has its record, and is not sent when it is changed.
    let held = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a held row");
    bench.fleetload(&["resolve", &held["job"].to_string(), "--abandon"]).expect_code(0);
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    let words = "\n1 cancelled row has a record in the service, created before the cancellation\n";
    assert!(status.contains(words), "{status}");
    bench.write("devices.csv", &devices.replace("Earl", "Duke"));
    let plan = bench.fleetload(&["plan", "devices.csv"]);
    assert!(plan.stdout.contains("cancelled earlier, and unchanged or with a record already"), "{plan:?}");
    let told = bench.fleetload(&["run", "devices.csv"]);
    let also = "; 1 of them has a record and stays so, also when changed";
    assert!(told.stderr.contains(also) && told.stdout.contains(words), "{told:?}");
    assert_eq!(bench.created("device").len(), 1);
}

#[test]
fn a_row_that_is_decided_while_it_is_looked_up_is_not_forgotten() {
    let lost = Fault { times: Some(1), ..Fault::new("addDevice", FaultKind::RequestLost) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    // The look before sending passes, the one after the lost answer waits.
    let (_relay, gate) = gated(&bench, "getDeviceByMac", 1);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let mut run = start(&bench);
    // The answer is lost.
    run.hears(&["\"to\":\"in_doubt\""]);
    run.until(|| gate.is_reached());
    bench.fleetload(&["resolve", "2", "--not-created", "--unchecked"]).expect_code(0);
    let_it_notice(&mut run);
    gate.open();
    run.ended().expect_code(0);
    assert_eq!(bench.created("device").len(), 1);
}

#[test]
fn a_row_that_is_corrected_while_it_waits_is_sent_as_it_is_now() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let (_relay, gate) = gated(&bench, "getDeviceByMac", 0);
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let mut run = start(&bench);
    run.until(|| gate.is_reached());
    bench.write("devices.csv", &bench::devices(1, 1).replace("Till 0", "Counter 0"));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    let_it_notice(&mut run);
    gate.open();
    run.ended().expect_code(0);
    let made = bench.created("device");
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].request["name"], "Counter 0", "{:?}", made[0]);
}

#[test]
fn rows_that_are_left_to_a_run_about_to_end_are_sent_by_it() {
    // The run is over before it looks again whether the journal has changed.
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let (_relay, gate) = gated(&bench, "addCompany", 0);
    let sheet = bench::companies(2);
    let lines: Vec<&str> = sheet.lines().collect();
    bench.write("first.csv", &format!("{}\n{}\n", lines[0], lines[1]));
    bench.write("second.csv", &format!("{}\n{}\n", lines[0], lines[2]));
    bench.fleetload(&["import", "first.csv"]).expect_code(0);
    let mut run = start(&bench);
    run.until(|| gate.is_reached());
    let left = bench.fleetload(&["run", "second.csv"]).expect_code(5);
    gate.open();
    assert!(left.stdout.contains("it sends the rows that can be sent"), "{}", left.stdout);
    run.ended().expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
}

#[test]
fn a_row_whose_look_before_sending_fails_waits_for_it_and_a_record_that_is_there_is_not_made_again() {
    // The account's own company has a child of this name already; its list of children fails at first.
    let failing = Fault { times: Some(4), ..Fault::new("getChildCompanies", FaultKind::Error500Before) };
    let scenario =
        Scenario { rate: 0, company: vec![bench::first_company_of_others()], ..Scenario::default() };
    let bench = Bench::new(scenario.with_fault(failing));
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired["error_500_before"], 4);
    assert_eq!(bench.counts(1), [("created".to_owned(), 1), ("existing".to_owned(), 1)].into());
    assert_eq!(bench.created("company").len(), 1);
}

#[test]
fn a_look_before_sending_that_the_service_refuses_is_told_and_keeps_no_row_waiting() {
    let bench = Bench::new(
        Scenario { rate: 0, ..Scenario::default() }
            .with_fault(Fault::new("findSitesByName", FaultKind::GeneralError)),
    );
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    let told = bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    assert!(bench.statistics().faults_fired["general_error"] >= 2);
    let words = "findSitesByName: the look-up before sending says nothing (The operation is not possible now): rows are sent \
                 without it";
    assert_eq!(told.stderr.matches(words).count(), 1, "{told:?}");
    assert_eq!(bench.created("site").len(), 2);
}

/// The way to a service that fails at every look-up with this word in it.
struct FailsAt(&'static str, Arc<Direct>);

impl Transport for FailsAt {
    fn send(&self, request: HttpRequest) -> Sending {
        match request.url.as_str().contains(self.0) {
            true => Box::pin(async {
                Ok(HttpAnswer { status: 500, date: None, body: "out of order".into(), flaw: None })
            }),
            false => self.1.send(request),
        }
    }
}

#[test]
fn a_row_at_whose_look_up_alone_the_service_fails_is_put_on_hold_and_keeps_no_other_waiting() {
    // A few, and so many that the look-up is paused.
    for failing in [2, 25] {
        let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
        bench.write("companies.csv", &bench::companies(1));
        let sites: String = bench::sites(30, 1)
            .lines()
            .enumerate()
            .map(|(n, line)| if n > 30 - failing { line.replace("Branch", "Poison") } else { line.to_owned() } + "\n")
            .collect();
        bench.write("sites.csv", &sites);
        bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
        inside::drive_virtually(async {
            let clock = Virtual::start();
            let way = Direct::new(bench.sandbox(), clock.clone(), |_: &str| {
                Fate::AnsweredAfter(Duration::from_millis(50))
            });
            let client = inside::client_over(&bench, clock.clone(), Arc::new(FailsAt("Poison", way)));
            let mut options = inside::options(Duration::from_secs(60));
            options.writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
            let run = Inside::start(&bench, client, clock.clone(), options);
            let (_, ending, told) = run.ends().await;
            assert_eq!(ending, Ending::Finished, "{told:#?}");
            assert!(clock.elapsed() < Duration::from_secs(3600), "{failing}: {:?}", clock.elapsed());
        });
        bench.fleetload(&["report", "1"]).expect_code(0);
        let counts = [("created".to_owned(), 31 - failing as u64), ("held".to_owned(), failing as u64)];
        assert_eq!(bench.counts(1), counts.into());
        let held: Vec<_> = bench.results(1).into_iter().filter(|row| row["status"] == "held").collect();
        for row in held {
            assert_eq!(row["code"], "lookup.failed", "{row}");
        }
    }
}

#[test]
fn what_a_look_says_of_old_values_is_not_believed_of_a_row_that_was_corrected_meanwhile() {
    // Somebody else's device has the address that the row had by mistake: it would be taken for the row's, or refuse it.
    for (theirs, otherwise) in [("Till 0", "existing"), ("Their till", "rejected")] {
        let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
        let sheet = |name: &str, mac: &str| {
            let devices = bench::devices(1, 1).replace("Till 0", name).replace("00:1a:2b:00:00:00", mac);
            let more = [("key,", ",labels"), ("D0,", ",north")];
            devices
                .lines()
                .zip(more)
                .map(|(line, (key, label))| format!("{key}{line}{label}\n"))
                .collect::<String>()
        };
        let (wrong, right) = ("00:1a:2b:00:00:01", "00:1a:2b:00:00:02");
        bench.write("companies.csv", &bench::companies(1));
        bench.write("devices.csv", &sheet(theirs, wrong));
        let others = ["--journal", "theirs.db", "--reports", "theirs", "run", "companies.csv", "devices.csv"];
        bench.fleetload(&others).expect_code(0);
        let their_id = bench.created("device")[0].id;
        let (_relay, gate) = gated(&bench, "getDeviceByMac", 0);

        let labelled = bench.requests("putDeviceLabels");
        bench.write("devices.csv", &sheet("Till 0", wrong));
        bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
        let mut run = start(&bench);
        run.until(|| gate.is_reached());
        bench.write("devices.csv", &sheet("Till 0", right));
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(5);
        let_it_notice(&mut run);
        gate.open();
        assert_eq!(run.ended().code, 0, "the row is not {otherwise}");

        let made = bench.created("device");
        assert_eq!(made.len(), 2, "the row is not {otherwise}: {made:?}");
        assert_eq!(bench.requests("putDeviceLabels"), labelled + 1);
        let counts = bench.counts(1);
        assert_eq!(counts, [("created".to_owned(), 1), ("existing".to_owned(), 1)].into(), "{counts:?}");
        let id =
            bench.results(1).into_iter().find(|row| row["status"] == "created").expect("made")["id"].clone();
        let own = made.iter().find(|entry| entry.id != their_id).expect("its own device");
        assert_eq!(id, own.id.to_string());
        assert!(own.request.to_string().to_lowercase().contains(right), "{own:?}");
    }
}

//! Nothing lost, nothing created twice: answers that never arrive, and a process that is killed.

use std::time::Duration;

use crate::bench::{self, Bench};
use crate::inside;
use fleetload::run::{RunLimits, RunOptions};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use fleetload::service::Rate;

/// Faults that spoil the answer after the deed, at 5 % each.
const SPOILT: [FaultKind; 3] = [FaultKind::AnswerLost, FaultKind::AnswerCut, FaultKind::Error500After];

fn spoiling(operation: &str, probability: f64) -> Scenario {
    SPOILT.into_iter().fold(Scenario { rate: 0, ..Scenario::default() }, |scenario, kind| {
        scenario.with_fault(Fault { probability, ..Fault::new(operation, kind) })
    })
}

#[test]
fn a_site_without_a_reference_is_another_one_than_its_namesake_with_one() {
    let header = "key,company,name,reference,phone,address1,city,country\n";
    let plain = "S0,C0,Store,,+64 9 556 0000,1 First Street,Auckland,NZ\n";
    let named = "S1,C0,Store,R2,+64 9 556 0001,2 Second Street,Auckland,NZ\n";
    for rows in [[plain, named], [named, plain]] {
        let bench = Bench::new(Scenario::default());
        bench.write("companies.csv", &bench::companies(1));
        bench.write("sites.csv", &format!("{header}{}", rows.concat()));
        bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
        assert_eq!(bench.created("site").len(), 2, "{rows:?}");
        bench.assert_exact(1);
    }
}

#[test]
fn a_row_is_not_held_for_the_record_of_another_row_whose_answer_is_still_to_come() {
    let sites = "key,company,name,reference,phone,address1,city,country\n";
    let plain = "S0,C0,Store,,+64 9 556 0000,1 First Street,Auckland,NZ\n";
    let named = "S1,C0,Store,R2,+64 9 556 0001,2 Second Street,Auckland,NZ\n";
    let devices = "company,name,device_model,mac,phone,address1,city,country\n";
    let device = |name: &str, mac: &str| {
        format!("C0,{name},Edge 100,{mac},+64 9 557 0000,1 Earl Street,Auckland,NZ\n")
    };
    let till = device("Till", "00:1a:2b:00:00:01");
    // That with the MAC address is looked up by it, so that others have to be looked up before its namesake.
    let tills = [till, device("One", ""), device("Two", ""), device("Till", "")].concat();
    let capitals = "S1,C0,STORE,,+64 9 556 0001,2 Second Street,Auckland,NZ\n";
    let table = [
        ("site", ("addSite", "findSitesByName"), 2, format!("{sites}{plain}{named}")),
        ("site", ("addSite", "findSitesByName"), 2, format!("{sites}{named}{plain}")),
        ("site", ("addSite", "findSitesByName"), 2, format!("{sites}{plain}{capitals}")),
        ("device", ("addDevice", "findDevicesByName"), 3, format!("{devices}{tills}")),
    ];
    for (kind, (creation, look), rows_by_name, sheet) in table {
        // The answers come after the look-up of the last row, or are not waited for.
        for stalls_ms in [4_000, 10_000] {
            let rows = sheet.lines().count() as u64 - 1;
            let stalled = Fault::new(creation, FaultKind::StallAfter).ms(stalls_ms).times(rows - 1);
            let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(stalled));
            bench.write("companies.csv", &bench::companies(1));
            bench.write("rows.csv", &sheet);
            bench.fleetload(&["import", "companies.csv", "rows.csv"]).expect_code(0);
            let options = inside::options(Duration::from_secs(60));
            // One look-up a second: the second one comes after the first creation.
            let limits = RunLimits { rate: Rate::PerSecond(1.0), ..options.limits };
            inside::finishes_virtually(&bench, Duration::ZERO, RunOptions { limits, ..options });
            assert_eq!(bench.statistics().faults_fired["stall_after"], rows - 1);
            let counts = bench.counts(1);
            assert!(!counts.contains_key("held"), "{kind} {stalls_ms}: {counts:?}");
            assert_eq!(bench.created(kind).len() as u64, rows, "{kind} {stalls_ms}");
            assert_eq!(bench.requests(creation), rows, "{kind} {stalls_ms}");
            let looks = bench.requests(look);
            assert!(rows_by_name < looks && looks < 12, "{kind} {stalls_ms}: {looks} look-ups");
            bench.assert_exact(1);
        }
    }
}

#[test]
fn ten_thousand_rows_with_answers_lost_cut_and_failed_after_the_deed_are_created_once_each() {
    let bench = Bench::new(spoiling("creations", 0.05));
    bench.write("companies.csv", &bench::companies(500));
    bench.write("sites.csv", &bench::sites(2500, 500));
    bench.write("people.csv", &bench::people(3000, 500));
    bench.write("devices.csv", &bench::devices(4000, 500));
    bench
        .fleetload(&["run", "companies.csv", "sites.csv", "people.csv", "devices.csv", "--quiet"])
        .expect_code(0);
    let fired = bench.statistics().faults_fired;
    for kind in SPOILT {
        assert!(fired[kind.name()] > 300, "{} fired {} times", kind.name(), fired[kind.name()]);
    }
    let counts = bench.counts(1);
    assert_eq!(counts.values().sum::<u64>(), 10_000);
    assert!(counts["adopted"] > 900, "{counts:?}");
    bench.assert_exact(1);
}

#[test]
fn a_process_killed_twenty_times_in_a_row_creates_every_row_once_in_the_end() {
    let bench = Bench::new(Scenario { rate: 0, latency_ms: [1, 8], ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 16", "");
    let faults = |faults: Vec<Fault>| {
        bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
    };
    bench.write("companies.csv", &bench::companies(40));
    bench.write("sites.csv", &bench::sites(400, 40));
    bench.write("people.csv", &bench::people(400, 40));
    bench.write("devices.csv", &bench::devices(1200, 40));
    bench.fleetload(&["import", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    let mut random = fastrand::Rng::with_seed(20);
    for kill in 0..20 {
        // One creation has no answer, so that the process cannot end; it is killed while others go on, come home and wait.
        let kind = if random.bool() { FaultKind::StallBefore } else { FaultKind::StallAfter };
        faults(vec![Fault::new("creations", kind).after(random.u64(1..60)).times(1)]);
        let stalled = || bench.statistics().faults_fired.values().sum::<u64>();
        let mut run = bench.start(&["run"]);
        run.until(|| stalled() == kill + 1);
        run.kill();
    }
    faults(Vec::new());
    let ended = bench.fleetload(&["run"]);
    if ended.code == 8 {
        // A row that was under way at three of the deaths is not sent again by itself: that is how it should be.
        decide_what_is_held(&bench);
        bench.fleetload(&["run"]).expect_code(0);
    } else {
        ended.expect_code(0);
    }
    assert_eq!(bench.created("company").len(), 40);
    assert_eq!(bench.created("site").len(), 400);
    assert_eq!(bench.created("person").len(), 400);
    assert_eq!(bench.created("device").len(), 1200);
    bench.assert_exact(1);
}

/// Decides the rows that are held after three deaths as a person does who looks in the service.
fn decide_what_is_held(bench: &Bench) {
    for row in bench.results(1).into_iter().filter(|row| row["status"] == "held") {
        assert_eq!(row["code"], "poison", "{row}");
        let field = if row["kind"] == "person" { "username" } else { "name" };
        let made =
            bench.ledger().into_iter().find(|entry| entry.created && entry.request[field] == row[field]);
        let job = row["job"].to_string();
        match made {
            Some(entry) => bench.fleetload(&["resolve", &job, "--created", &entry.id.to_string()]),
            None => bench.fleetload(&["resolve", &job, "--not-created"]),
        }
        .expect_code(0);
    }
}

#[test]
fn an_outage_before_the_deed_is_settled_and_sent_again_once_absence_is_proved() {
    let lost = Fault { probability: 0.2, ..Fault::new("addDevice", FaultKind::RequestLost) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(100, 3));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(bench.statistics().faults_fired["request_lost"] > 5);
    assert_eq!(bench.counts(1)["created"], 103);
    bench.assert_exact(1);
}

#[test]
fn with_hold_a_lost_request_is_left_to_a_person_and_exits_with_8() {
    let lost = Fault { times: Some(1), ..Fault::new("addDevice", FaultKind::RequestLost) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(20, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    assert!(outcome.stderr.contains("fleetload resolve"), "{outcome:?}");
    assert_eq!(bench.counts(1)["held"], 1);
    bench.assert_exact(1);
}

#[test]
fn without_look_ups_a_lost_answer_is_held_and_a_person_names_the_record() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::AnswerLost) };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    let results = bench.results(1);
    let held = results.iter().find(|row| row["status"] == "held").expect("a held row");
    let job = held["job"].to_string();
    let of_another = results.iter().find_map(|row| row["id"].as_str()).expect("a row with its record");
    bench.fleetload(&["resolve", &job, "--created", of_another]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--created", &bench.unowned(1, "company")]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);
}

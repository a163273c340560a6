//! The service's own list of time zones: who asks for it, when, and what sheets are held against.

use crate::bench::{self, Bench};
use calamine::{Reader as _, Xlsx, open_workbook};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::{Value, json};

/// Writes two companies that have this time zone.
fn sheet(bench: &Bench, zone: &str) {
    let mut text = String::new();
    for (at, line) in bench::companies(2).lines().enumerate() {
        text += &format!("{},{line}\n", if at == 0 { "timezone" } else { zone });
    }
    bench.write("companies.csv", &text);
}

/// The list that is kept beside the journal.
fn kept(bench: &Bench) -> Option<Value> {
    let text = std::fs::read_to_string(bench.path("fleetload.db.zones.json")).ok()?;
    Some(serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn doctor_keeps_the_list_and_sheets_are_held_against_it_offline() {
    let bench = Bench::new(Scenario::default());
    sheet(&bench, "Europe/Lummerland");
    let offline = bench.fleetload(&["check", "companies.csv"]).expect_code(0);
    assert!(offline.stdout.contains("is not in the IANA list"), "{}", offline.stdout);

    let doctor = bench.fleetload(&["doctor"]).expect_code(0);
    assert!(doctor.stdout.contains("time zones: the service lists"), "{}", doctor.stdout);
    let asked = bench.requests("listTimeZones");
    for command in ["check", "plan", "import"] {
        let outcome = bench.fleetload(&[command, "companies.csv"]).expect_code(3);
        assert!(outcome.stdout.contains("is not in the service's list of"), "{command}: {}", outcome.stdout);
    }
    assert_eq!(bench.requests("listTimeZones"), asked, "it was looked into without asking again");
    bench.fleetload(&["template", "--out", "blank.xlsx"]).expect_code(0);
    let listed = kept(&bench).expect("the list")["zones"].as_array().expect("zones").len();
    let mut blank: Xlsx<_> = open_workbook(bench.path("blank.xlsx")).expect("a workbook");
    let offered = blank.worksheet_range("lists").expect("the lists").height();
    assert_eq!(offered, listed, "a blank sheet offers what the service lists");
    // A list of this service says nothing about another one.
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    bench.write("fleetload.toml", &profile.replace(&bench.base_url(), "https://elsewhere.example"));
    bench.fleetload(&["check", "companies.csv"]).expect_code(0);
}

#[test]
fn a_run_asks_before_it_imports_time_zones_and_sends_nothing_for_a_sheet_that_is_wrong() {
    let bench = Bench::new(Scenario::default());
    sheet(&bench, "Europe/Lummerland");
    let refused = bench.fleetload(&["run", "companies.csv"]).expect_code(3);
    assert!(refused.stdout.contains("is not in the service's list of"), "{}", refused.stdout);
    assert_eq!(bench.requests("listTimeZones"), 1);
    assert!(bench.ledger().is_empty());
    assert!(!bench.path("fleetload.db").exists());

    // Once a day is enough.
    sheet(&bench, "europe/berlin");
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.requests("listTimeZones"), 1);
    assert_eq!(bench.created("company").len(), 2);
    let sent = bench.ledger();
    assert!(sent.iter().all(|entry| entry.created), "{sent:?}");

    // A list of long ago is asked for again.
    let mut old = kept(&bench).expect("the list");
    old["asked_at"] = json!(0);
    bench.write("fleetload.db.zones.json", &old.to_string());
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.requests("listTimeZones"), 2);
    assert_ne!(kept(&bench).expect("the list")["asked_at"], 0);
}

#[test]
fn sheets_without_time_zones_and_services_whose_list_has_no_known_place_are_not_asked_about_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.requests("listTimeZones"), 0);

    let bench = Bench::new(Scenario::default());
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    sheet(&bench, "Europe/Berlin");
    let doctor = bench.fleetload(&["doctor"]).expect_code(0);
    assert!(!doctor.stdout.contains("time zones"), "{}", doctor.stdout);
    bench.fleetload(&["plan", "companies.csv"]);
    assert_eq!((bench.requests("listTimeZones"), kept(&bench)), (0, None));
}

#[test]
fn an_answer_that_is_not_the_whole_list_is_said_and_proves_nothing() {
    let page = Scenario { page_limit: 50, ..Scenario::default() };
    let fault = Fault::new("listTimeZones", FaultKind::Html200);
    let html = Scenario { fault: vec![fault], ..Scenario::default() };
    for (scenario, why) in [(page, "may be a page of more"), (html, "not one that the service documents")] {
        let bench = Bench::new(scenario);
        sheet(&bench, "Europe/Lummerland");
        let ended = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
        assert!(ended.stdout.contains("is not in the IANA list"), "{}", ended.stdout);
        assert_eq!((bench.requests("listTimeZones"), kept(&bench)), (1, None));
        assert_eq!(bench.created("company").len(), 2);
        let doctor = bench.fleetload(&["doctor"]).expect_code(0);
        assert!(doctor.stdout.contains("there is no list"), "{}", doctor.stdout);
        assert_eq!(kept(&bench), None);
    }
}

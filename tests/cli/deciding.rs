//! Rows that a person decides: shown with what is there, decided many at a time, checked before they are believed,
//! and on record. And what becomes held, or must not, when answers are lost.

use std::time::Duration;

use crate::bench::{self, Bench, Outcome};
use crate::inside::{self, Virtual};
use fleetload::clock::Clock;
use fleetload::model::event::Event;
use fleetload::model::state::JobState;
use fleetload::run::{Ending, Interrupt};
use fleetload::sandbox::{CompanyEntry, Fault, FaultKind, Scenario};
use serde_json::Value;

fn unlimited() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

/// A company and so many sites of it, a request of which was lost: its row is on hold.
fn with_a_lost_site(scenario: Scenario, sites: usize) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(sites, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    bench
}

fn lost(operation: &str, kind: FaultKind) -> Fault {
    Fault { times: Some(1), ..Fault::new(operation, kind) }
}

fn objects(outcome: &Outcome, kind: &str) -> Vec<Value> {
    outcome
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|object| object["object"] == kind)
        .collect()
}

/// The job of a row.
fn number(row: &Value) -> String {
    row["job"].to_string()
}

/// The held jobs of the latest report, by their numbers.
fn held(bench: &Bench, import: u32) -> Vec<String> {
    let rows = bench.results(import);
    rows.iter().filter(|row| row["status"] == "held").map(number).collect()
}

/// A result has these words.
#[track_caller]
fn assert_says(outcome: &Outcome, words: &[&str]) {
    assert_in(&outcome.stdout, words);
}

/// What is said of it beside the result, errors and hints, has these words.
#[track_caller]
fn assert_hints(outcome: &Outcome, words: &[&str]) {
    assert_in(&outcome.stderr, words);
}

#[track_caller]
fn assert_in(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "'{words}' is missing:\n{text}");
    }
}

/// Three companies, one of them in doubt without a look-up to tell, so that it is held; then the profile gets them.
fn one_held_company(kind: FaultKind) -> (Bench, String) {
    let bench = Bench::new(unlimited().with_fault(lost("addCompany", kind)));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired[kind.name()], 1);
    bench.profile("", "rate = \"unlimited\"", "");
    let job = held(&bench, 1).pop().expect("a held row");
    (bench, job)
}

#[test]
fn of_a_job_that_the_journal_has_not_the_advice_is_about_the_same_journal() {
    let bench = Bench::new(unlimited());
    bench.write("companies.csv", &bench::companies(1));
    let other = ["--journal", "other.db"];
    bench.fleetload(&[&["import", "companies.csv"], &other[..]].concat()).expect_code(0);
    for decision in [&["--abandon"][..], &["--done", "--unchecked"]] {
        let told = bench.fleetload(&[&["resolve", "9"], decision, &other].concat()).expect_code(2);
        assert_hints(&told, &["the journal has no job 9", "type: fleetload status --journal other.db\n"]);
    }
}

/// A company that waits for its import, and an import with a company on hold, two devices below that and three below the other.
fn one_held_beside_a_paused_import() -> Bench {
    let bench = Bench::new(unlimited().with_fault(lost("addCompany", FaultKind::RequestLost)));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let own = bench::companies(2);
    let lines: Vec<&str> = own.lines().collect();
    bench.write("own.csv", &format!("{}\n{}\n", lines[0], lines[2]));
    bench.write("devices.csv", &bench::devices(5, 2));
    bench.fleetload(&["import", "own.csv", "devices.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(8);
    bench
}

#[test]
fn of_rows_beside_one_on_hold_only_those_below_it_are_said_to_wait_for_it() {
    let bench = one_held_beside_a_paused_import();
    let status = |code, words: &str| {
        let told = bench.fleetload(&["status", "2", "--check"]).expect_code(code);
        assert_eq!(told.stdout.lines().next(), Some(words));
        told
    };
    let besides = "1 row needs your decision and 2 rows wait for it";
    let paused = "3 rows remaining, waiting for 1 row of import 1, which is paused; ";
    status(5, &format!("{paused}{besides}"));
    bench.fleetload(&["resume", "1"]).expect_code(0);
    let waiting = "3 rows remaining, waiting for 1 row of import 1; no run is in progress; ";
    let told = status(5, &format!("{waiting}{besides}"));
    assert!(told.stderr.ends_with("to go on: fleetload run\n"), "{told:?}");
    bench.fleetload(&["run"]).expect_code(8);
    assert_eq!(bench.created("device").len(), 3);
    status(8, "finished except for 1 row that needs your decision; 2 rows wait for it");
    // A row of another import on hold is told apart from one of its own.
    let all = bench::devices(8, 2);
    let lines: Vec<&str> = all.lines().collect();
    bench.write("more.csv", &format!("{}\n{}\n", lines[0], lines[8]));
    bench.fleetload(&["import", "more.csv", "--kind", "devices"]).expect_code(0);
    let told = bench.fleetload(&["status", "3", "--check"]).expect_code(8);
    let words = "1 row remaining, waiting for 1 row of import 2 that needs your decision";
    assert_eq!(told.stdout.lines().next(), Some(words));
}

#[test]
fn held_rows_are_decided_together_checked_and_on_record() {
    let requests = Fault { times: Some(3), ..Fault::new("addSite", FaultKind::RequestLost) };
    let bench = Bench::new(unlimited().with_fault(requests));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(6, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["request_lost"], 3);
    assert_eq!(held(&bench, 1).len(), 3);

    let shown = bench.fleetload(&["resolve", "--code", "absent"]).expect_code(0);
    assert_says(&shown, &["findSitesByName: no record found"]);
    assert_hints(&shown, &["--not-created"]);
    let none = bench.fleetload(&["resolve", "--sheet", "companies", "--abandon"]).expect_code(0);
    assert_says(&none, &["no row on hold matches"]);
    assert_hints(&none, &["fleetload status"]);
    bench.fleetload(&["resolve", "--import", "9", "--abandon"]).expect_code(2);

    let arguments =
        ["resolve", "--import", "1", "--sheet", "sites", "--code", "absent", "--not-created", "--json"];
    let outcome = bench.fleetload(&arguments).expect_code(0);
    let summary = &objects(&outcome, "summary")[0];
    assert_eq!(
        (&summary["selected"], &summary["decided"], &summary["refused"]),
        (&3.into(), &3.into(), &0.into())
    );
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 6);
    bench.assert_exact(1);

    let decided: Vec<Value> = bench.results(1).into_iter().filter(|row| !row["decided"].is_null()).collect();
    assert_eq!(decided.len(), 3);
    for row in &decided {
        assert_eq!(row["decided"]["what"], "not created");
        assert_eq!(row["decided"]["check"], "checked by findSitesByName: no record found");
        let message = row["message"].as_str().expect("a message");
        // The environment of the bench names no user.
        assert!(message.contains("decided by ") && !message.contains("unknown"), "{message}");
    }
    let status = bench.fleetload(&["status", "1"]).expect_code(0);
    assert_says(
        &status,
        &["3 rows were decided by a person", "not created, checked by findSitesByName: no record found"],
    );
}

#[test]
fn nothing_there_is_not_believed_while_the_lost_request_may_still_be_carried_out() {
    let (bench, job) = one_held_company(FaultKind::RequestLost);
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("a profile");
    bench.write("fleetload.toml", &profile.replace("settle_seconds = 1\n", "settle_seconds = 3600\n"));
    let outcome = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    assert_hints(&outcome, &["its outcome became unknown less than 1 h ago", "wait until 20", "--unchecked"]);
    assert_eq!(held(&bench, 1), [job.as_str()], "it stays as it is");
    bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    bench.assert_exact(1);
}

#[test]
fn a_record_that_is_there_is_not_believed_to_be_missing() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    let id = bench.unowned(1, "company");
    let outcome = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    assert_hints(
        &outcome,
        &["getChildCompanies shows", &id, &format!("fleetload resolve {job} --created {id}")],
    );
    let shown = bench.fleetload(&["resolve", &job, "--json"]).expect_code(0);
    assert_eq!(objects(&shown, "held")[0]["now"]["candidates"][0]["id"], id.as_str());
    let outcome = bench.fleetload(&["resolve", &job, "--created", &id]).expect_code(0);
    assert_says(&outcome, &["checked by getCompany and getChildCompanies: the record agrees with the row"]);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);
    let row = bench.results(1).into_iter().find(|row| number(row) == job).expect("the row");
    assert_eq!((&row["status"], &row["decided"]["id"]), (&"adopted".into(), &id.as_str().into()));
}

#[test]
fn an_id_of_something_else_is_refused_with_what_differs() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    let right = bench.unowned(1, "company");
    let of_another_row =
        bench.results(1).iter().find_map(|row| row["id"].as_str().map(str::to_owned)).expect("an id");
    let unknown = "6f1c2a3e-ffff-4000-8000-000000000001";
    let table = [
        (of_another_row.as_str(), "already belongs to job"),
        (&bench::root(), "name is"),
        (unknown, "the service has no company with the id"),
    ];
    for (id, words) in table {
        let outcome = bench.fleetload(&["resolve", &job, "--created", id]).expect_code(2);
        assert_hints(&outcome, &[words]);
    }
    // An equal name below another parent is another company.
    bench.write("elsewhere.csv", &bench::companies(3).replacen(&bench::root(), &right, 4));
    bench.fleetload(&["run", "elsewhere.csv", "--journal", "other.db", "--reports", "other"]).expect_code(0);
    let namesakes: Vec<String> = bench
        .created("company")
        .iter()
        .filter(|entry| entry.parent.is_some_and(|parent| parent.to_string() == right))
        .map(|entry| entry.id.to_string())
        .collect();
    assert_eq!(namesakes.len(), 3);
    for id in namesakes {
        let outcome = bench.fleetload(&["resolve", &job, "--created", &id]).expect_code(2);
        assert_hints(&outcome, &["is not the record of this row"]);
    }
    bench.fleetload(&["resolve", &job, "--created", &right]).expect_code(0);
}

#[test]
fn without_the_service_only_a_decision_that_says_so_is_believed() {
    let (bench, job) = one_held_company(FaultKind::RequestLost);
    let refusing = Fault::new("auth", FaultKind::InvalidClient);
    bench.sandbox().change(|scenario| scenario.fault = vec![refusing]).expect("a scenario");
    let outcome = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(7);
    assert_hints(&outcome, &["invalid_client", "--unchecked"]);
    let shown = bench.fleetload(&["resolve", &job]).expect_code(0);
    assert_hints(&shown, &["the service could not be asked"]);
    assert_says(&shown, &["lookup.unavailable"]);
    bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]).expect_code(0);
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert_says(&status, &["not created, not checked"]);
    bench.clear_faults();
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
}

#[test]
fn without_a_look_up_nothing_is_checked_and_nothing_believed() {
    let (bench, job) = one_held_company(FaultKind::RequestLost);
    bench.profile("paths = \"documented\"", "", "");
    let outcome = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    assert_hints(&outcome, &["no look-up for a company is available", "--unchecked"]);
    assert_eq!(bench.requests("addCompany"), 3);
}

#[test]
fn a_row_on_hold_that_is_in_two_imports_is_listed_once() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    bench.write("more.csv", &bench::companies(4));
    let told = bench.fleetload(&["run", "more.csv"]).expect_code(8);
    assert_eq!(held(&bench, 2), [job.as_str()], "both imports have it");
    assert_eq!(told.stdout.matches("1 row is on hold and needs your decision:").count(), 1, "{told:?}");
    assert_eq!(told.stdout.matches(&format!("  job {job}  company ")).count(), 1, "{told:?}");
}

#[test]
fn a_record_that_is_taken_over_with_a_later_step_left_is_not_said_to_be_sent_again() {
    for (decision, words) in
        [("--created", "has its record (checked by "), ("--not-created", "is ready to be sent (not checked)")]
    {
        // What would find the record fails until it is on hold.
        let failing = |operation| Fault::new(operation, FaultKind::GeneralError).after(1);
        let scenario = unlimited().with_fault(lost("addDevice", FaultKind::AnswerLost));
        let scenario =
            scenario.with_fault(failing("getDeviceByMac")).with_fault(failing("findDevicesByName"));
        let bench = Bench::new(scenario);
        bench.write("companies.csv", &bench::companies(1));
        let devices = bench::devices(1, 1);
        let devices: String = devices
            .lines()
            .zip([",labels", ",north"])
            .map(|(line, more)| format!("{line}{more}\n"))
            .collect();
        bench.write("devices.csv", &devices);
        bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
        bench.clear_faults();
        let job = held(&bench, 1).pop().expect("a held row");
        let id = bench.unowned(1, "device");
        let outcome = match decision {
            "--created" => bench.fleetload(&["resolve", &job, "--created", &id]),
            _ => bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]),
        };
        let outcome = outcome.expect_code(0);
        assert_says(&outcome, &[&format!("job {job} {words}")]);
        let step = "; its next step, setting its labels, is ready to be sent";
        assert_eq!(outcome.stdout.contains(step), decision == "--created", "{outcome:?}");
        assert_hints(&outcome, &["to go on: fleetload run"]);
    }
}

#[test]
fn one_refusal_does_not_stop_the_other_decisions() {
    let scenario = unlimited()
        .with_fault(lost("addCompany", FaultKind::AnswerLost))
        .with_fault(lost("addCompany", FaultKind::RequestLost));
    let bench = Bench::new(scenario);
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(4));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.created("company").len(), 3);
    bench.profile("", "rate = \"unlimited\"", "");
    let outcome = bench.fleetload(&["resolve", "--import", "1", "--not-created", "--json"]).expect_code(8);
    assert_eq!(objects(&outcome, "decided").len(), 1);
    assert_eq!(objects(&outcome, "refused").len(), 1);
    assert_eq!(objects(&outcome, "summary")[0]["exit_code"], 8);
    let id = bench.unowned(1, "company");
    let refused = objects(&outcome, "refused")[0]["job"].to_string();
    bench.fleetload(&["resolve", "--code", "lookup.unavailable", "--created", &id]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 4);
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);
    assert!(bench.results(1).iter().any(|row| number(row) == refused && row["status"] == "adopted"));
}

#[test]
fn not_created_is_taken_back_by_a_record_that_shows_before_it_is_sent_again() {
    let bench = with_a_lost_site(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)), 2);
    let job = held(&bench, 1).pop().expect("a held row");
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(0);
    // It was carried out late after all, or a colleague made it by hand.
    let files = ["run", "companies.csv", "sites.csv", "--journal", "colleague.db", "--reports", "theirs"];
    bench.fleetload(&files).expect_code(0);
    assert_eq!(bench.created("site").len(), 2);
    let sent = bench.requests("addSite");
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("addSite"), sent, "it was found before it was sent again");
    assert_eq!(bench.created("site").len(), 2);
    assert_eq!(bench.counts(1)["adopted"], 1);
}

#[test]
fn the_rows_of_a_rehearsal_are_checked_with_its_own_service() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("bad-day.toml", "[[fault]]\noperation = \"addCompany\"\nkind = \"wrong_name\"\ntimes = 1\n");
    bench.fleetload(&["run", "companies.csv", "--sandbox", "--scenario", "bad-day.toml"]).expect_code(8);
    let job = held(&bench, 1).pop().expect("a held row");
    std::fs::remove_file(bench.path("fleetload.toml")).expect("a profile");
    let outcome = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    assert_hints(&outcome, &["getChildCompanies shows"]);
    let shown = bench.fleetload(&["resolve", &job, "--sandbox", "--json"]).expect_code(0);
    let id = objects(&shown, "held")[0]["now"]["candidates"][0]["id"].as_str().expect("an id").to_owned();
    bench.fleetload(&["resolve", &job, "--created", &id]).expect_code(0);
    assert!(bench.ledger().is_empty(), "the other service was left alone");
}

#[test]
fn a_look_up_mapped_to_the_wrong_operation_never_shows_that_a_record_is_missing() {
    let bench = Bench::new(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)));
    // Devices of the site's name: there never are any.
    let wrong = "[profile.bench.endpoints.findSitesByName]\nmethod = \"GET\"\n\
                 path = \"/device-api/config/v1/findDevicesByName?name={name}&companyId={companyId}\"";
    bench.profile(wrong, "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(4, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["request_lost"], 1);
    assert_eq!(bench.requests("addSite"), 4, "each was sent once");
    let row = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a held row");
    assert_eq!(row["code"], "lookup.inconclusive");
    let outcome = bench.fleetload(&["resolve", &row["job"].to_string(), "--not-created"]).expect_code(2);
    assert_hints(&outcome, &["findSitesByName does not find what is known to exist"]);
}

#[test]
fn a_twin_beyond_the_end_of_a_page_is_not_made_again() {
    let twins = (0..12).map(|n| CompanyEntry {
        id: format!("6f1c2a3e-aaaa-4000-8000-0000000000{n:02}").parse().expect("an id"),
        name: format!("Customer {}", 11 - n),
        parent: None,
        company_type: "CUSTOMER".to_owned(),
    });
    let scenario = Scenario { page_limit: 10, company: twins.collect(), ..unlimited() };
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.requests("addCompany"), 0);
    assert!(bench.requests("findCompaniesByName") > 0);
    let row = &bench.results(1)[0];
    assert_eq!(row["code"], "existing.unclear");
    let id = "6f1c2a3e-aaaa-4000-8000-000000000011";
    assert_eq!(row["candidates"][0]["id"], id);
    bench.fleetload(&["resolve", "1", "--not-created"]).expect_code(2);
}

#[test]
fn a_record_that_another_row_has_is_not_waited_for() {
    let bench = Bench::new(unlimited().with_fault(lost("addDevice", FaultKind::RequestLost)));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    let sheet = bench::devices(10, 1);
    let lines: Vec<&str> = sheet.lines().collect();
    bench.write("nameless.csv", &format!("{}\n{}\n", lines[0], lines[10]));
    bench.write("devices.csv", &format!("{}\n{}\n", lines[0], lines[1]));
    bench.fleetload(&["run", "companies.csv", "nameless.csv"]).expect_code(8);
    bench
        .fleetload(&["run", "companies.csv", "devices.csv", "--journal", "theirs.db", "--reports", "theirs"])
        .expect_code(0);
    // Somebody takes the colleague's device for the row without a MAC address.
    let id = bench.created("device")[0].id.to_string();
    let job = held(&bench, 1).pop().expect("a held row");
    bench.fleetload(&["resolve", &job, "--created", &id]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--created", &id, "--unchecked"]).expect_code(0);
    // Verification shows what was not checked.
    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    assert!(outcome.stdout.contains("which the service shows as 'Till 0'"), "{outcome:?}");
    let row = &bench.results(2)[0];
    assert_eq!((&row["status"], &row["code"]), (&"rejected".into(), &"duplicateEntity".into()));
    let message = row["message"].as_str().expect("a message");
    assert!(message.contains(&format!("'Till 0' (id {id}) is that of job {job};")), "{message}");
}

#[test]
fn an_id_answered_for_two_rows_belongs_to_the_first_and_the_second_is_held() {
    let wrong = Fault { after: 1, times: Some(1), ..Fault::new("addCompany", FaultKind::WrongId) };
    let bench = Bench::new(unlimited().with_fault(wrong));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["wrong_id"], 1);
    let row = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a held row");
    assert_eq!(row["code"], "id.owned");
    let job = row["job"].to_string();
    let owned = row["candidates"][0]["id"].as_str().expect("an id").to_owned();
    bench.fleetload(&["resolve", &job, "--created", &owned]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--created", &bench.unowned(1, "company")]).expect_code(0);
    bench.fleetload(&["report"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_record_that_another_row_has_is_not_advised_to_be_taken() {
    let fault = Fault { times: Some(2), ..Fault::new("addCompany", FaultKind::AnswerLost) };
    let bench = Bench::new(unlimited().with_fault(fault));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"\nconcurrency = 1", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    bench.profile("", "rate = \"unlimited\"", "");
    let held = bench.results(1).into_iter().filter(|row| row["status"] == "held");
    let [asked, owner] = &held.collect::<Vec<_>>()[..] else { panic!("two held rows") };
    let (job, owner) = (number(asked), number(owner));
    let id = bench.created("company")[0].id.to_string();
    // Somebody takes the record of the first for the second.
    bench.fleetload(&["resolve", &owner, "--created", &id, "--unchecked"]).expect_code(0);
    let ways = [
        "look at the record in the service; if this row has another one, give the id of that".to_owned(),
        format!("if this row has none, type: fleetload resolve {job} --not-created --unchecked\n"),
        format!("if it is this row's, type: fleetload resolve {job} --abandon\n"),
    ];
    let (created, recorded) = (["--created", &id], format!("it is recorded as that of job {owner}\n"));
    let owned = format!("already belongs to job {owner} ('Customer 1'");
    let table: [(&[&str], &str); 3] = [
        (&created, &owned),
        (&[created[0], created[1], "--unchecked"], &owned),
        (&["--not-created"], &recorded),
    ];
    for (decision, words) in table {
        let refused = bench.fleetload(&[&["resolve", &job], decision].concat()).expect_code(2);
        assert_hints(&refused, &[words, &ways[0], &ways[1], &ways[2]]);
        assert!(!refused.stderr.contains("--created"), "{}", refused.stderr);
    }
    bench.fleetload(&["resolve", &job, "--not-created", "--unchecked"]).expect_code(0);
}

#[test]
fn an_operation_that_only_a_held_row_needs_keeps_no_other_row_waiting() {
    let bench = Bench::new(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.created("company").len(), 3);
    bench.fleetload(&["resolve", "--import", "1", "--not-created", "--unchecked"]).expect_code(0);
    let outcome = bench.fleetload(&["run"]).expect_code(2);
    assert_hints(&outcome, &["addSite"]);
}

#[test]
fn a_device_with_a_site_of_its_own_is_never_sent_again_by_itself() {
    let bench = Bench::new(unlimited());
    bench.write("companies.csv", &bench::companies(1));
    let sheet = bench::devices(2, 1);
    let lines: Vec<&str> = sheet.lines().collect();
    let (head, row) = (lines[0], lines[1]);
    bench.write("plain.csv", &format!("{head}\n{}\n", lines[2]));
    bench.fleetload(&["run", "companies.csv", "plain.csv"]).expect_code(0);
    let orphan = lost("addDevice", FaultKind::OrphanSite);
    bench.sandbox().change(|scenario| scenario.fault = vec![orphan]).expect("a scenario");
    let devices = |of_site: &str| {
        bench
            .write("devices.csv", &format!("{head},custom_site_id,custom_site_name,site\n{row},{of_site}\n"));
    };
    devices("KIOSK-1,Kiosk,");
    bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["orphan_site"], 1);
    assert_eq!(bench.requests("addDevice"), 2);
    assert_eq!((bench.created("device").len(), bench.created("site").len()), (1, 1));
    let row = bench.results(2).into_iter().find(|row| row["status"] == "held").expect("a held row");
    let message = row["message"].as_str().expect("a message");
    assert!(message.contains("its site twice"), "{message}");
    let site = bench.created("site")[0].id.to_string();
    assert!(message.contains(&site), "the site that was made without its device is named: {message}");
    // As its code advises where only the site exists.
    assert_eq!(row["code"], "site.unclear");
    bench.fleetload(&["resolve", &row["job"].to_string(), "--abandon"]).expect_code(0);
    devices(&format!(",,{site}"));
    // That the site was left over stays to be reviewed.
    bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    bench.fleetload(&["resolve", &row["job"].to_string(), "--seen"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!((bench.created("device").len(), bench.created("site").len()), (2, 1));
}

#[test]
fn a_cancelled_import_lists_what_may_exist_and_says_so_by_its_exit_code() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    let outcome = bench.fleetload(&["cancel", "1", "--json"]).expect_code(8);
    let left = objects(&outcome, "left");
    assert_eq!(left.len(), 1);
    assert_eq!((left[0]["job"].to_string(), &left[0]["state"]), (job, &"held".into()));
    assert_eq!(objects(&outcome, "summary")[0]["exit_code"], 8);
}

#[test]
fn a_record_that_a_wrong_answer_gave_to_another_row_is_not_made_twice() {
    let bench = Bench::new(
        unlimited()
            .with_fault(lost("addSite", FaultKind::AnswerLost))
            .with_fault(lost("addSite", FaultKind::WrongId)),
    );
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(4, 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    let fired = bench.statistics().faults_fired;
    assert_eq!((fired["answer_lost"], fired["wrong_id"]), (1, 1));
    assert_eq!(bench.created("site").len(), 4, "{}", outcome.stdout);
    let rows = bench.results(1);
    let [held] = &*rows.iter().filter(|row| row["status"] == "held").collect::<Vec<_>>() else {
        panic!("{rows:?}")
    };
    assert_eq!(held["code"], "candidates.unclear");
    let said = held["candidates"][0]["difference"].as_str().expect("words");
    assert!(said.starts_with("equal; it is recorded as that of job "), "{said}");
    // Verification does not call the right one a duplicate.
    let [found] = &*rows.iter().filter(|row| row["code"] == "audit.vanished").collect::<Vec<_>>() else {
        panic!("{rows:?}")
    };
    let (message, own) = (found["message"].as_str().expect("words"), bench.unowned(1, "site"));
    assert!(message.contains(" equal to the row belongs to no row: ") && message.contains(&own), "{message}");
    // A person is shown it before anything is made.
    let job = number(held);
    assert_says(&bench.fleetload(&["resolve", &job]), &["equal; it is recorded as that of job "]);
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    assert_eq!(bench.created("site").len(), 4);
}

#[test]
fn a_row_that_was_cancelled_in_doubt_and_comes_again_corrected_is_not_sent_on_hope() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.fleetload(&["resolve", &job, "--abandon"]).expect_code(0);
    bench.write("companies.csv", &bench::companies(3).replace("Queen Street", "Quay Street"));
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.created("company").len(), 3, "{}", outcome.stdout);
    let row = bench.results(2).into_iter().find(|row| number(row) == job).expect("its row");
    assert_eq!((&row["status"], &row["code"]), (&"held".into(), &"lookup.unavailable".into()));
    // Found by a look-up, it is the row's.
    bench.profile("", "rate = \"unlimited\"", "");
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--created", &bench.unowned(2, "company")]).expect_code(0);
    bench.fleetload(&["run"]);
    assert_eq!(bench.created("company").len(), 3);
}

#[test]
fn a_run_at_work_takes_up_a_row_that_was_cancelled_in_doubt_and_comes_again_corrected() {
    let (bench, job) = one_held_company(FaultKind::AnswerLost);
    // Another row waits for the quota meanwhile.
    bench.sandbox().change(|scenario| scenario.daily_quota = 3).expect("a scenario");
    bench.write("more.csv", &bench::companies(4));
    bench.fleetload(&["import", "more.csv", "--kind", "companies"]).expect_code(0);
    inside::drive_virtually(async {
        let (clock, options) = (Virtual::start_now(), inside::options(Duration::from_secs(1)));
        let mut run = inside::start_virtually(&bench, clock, Duration::from_millis(50), options);
        run.hears("it is parked", |event| matches!(event, Event::Parked { .. })).await;
        bench.fleetload(&["resolve", &job, "--abandon"]).expect_code(0);
        bench.write("companies.csv", &bench::companies(3).replace("Queen Street", "Quay Street"));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        run.hears_of(JobState::Held).await;
        run.interrupt.send(Interrupt::Drain).await.expect("the run listens");
        run.ends().await;
    });
    assert_eq!(bench.created("company").len(), 3);
}

#[test]
fn a_look_after_a_lost_answer_says_nothing_of_values_that_came_while_it_was_under_way() {
    let bench = Bench::new(unlimited().with_fault(lost("addCompany", FaultKind::AnswerLost)));
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    inside::drive_virtually(async {
        let clock = Virtual::start_now();
        let options = inside::options(Duration::from_secs(60));
        let mut run = inside::start_virtually(&bench, clock.clone(), Duration::from_secs(3), options);
        run.hears_of(JobState::InDoubt).await;
        // The record is read in full.
        while bench.requests("getCompany") == 0 {
            clock.sleep_until(clock.elapsed() + Duration::from_millis(100)).await;
        }
        bench.fleetload(&["resolve", "1", "--abandon"]).expect_code(0);
        bench.write("companies.csv", &bench::companies(1).replace("Queen Street", "Quay Street"));
        bench.fleetload(&["import", "companies.csv"]).expect_code(0);
        let (journal, ending, told) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{told:#?}");
        let tally = journal.tally(None).expect("counts");
        assert_eq!(tally.in_state(JobState::Held), 1, "the record has the values of before: {tally:?}");
    });
    assert_eq!(bench.created("company").len(), 1);
}

#[test]
fn what_is_in_doubt_when_its_import_is_cancelled_is_sent_no_more() {
    let bench = Bench::new(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)));
    bench.profile("", "rate = \"unlimited\"", "");
    bench.alter("settle_seconds = 1", "settle_seconds = 600");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(3, 1));
    let mut run = bench.start(&["run", "companies.csv", "sites.csv", "--json"]);
    run.until(|| {
        bench.created("site").len() == 2 && bench.statistics().faults_fired.contains_key("request_lost")
    });
    run.until(|| {
        // The answers of the others are on disk as well.
        let status = bench.fleetload(&["status", "--json"]).stdout;
        status.contains("\"in_doubt\":1") && status.contains("\"created\":3")
    });
    run.kill();
    let outcome = bench.fleetload(&["cancel", "1"]).expect_code(5);
    assert_hints(
        &outcome,
        &["1 row is in doubt; the next run finds out whether it was created, and does not send it again"],
    );
    bench.profile("", "rate = \"unlimited\"", "");
    let outcome = bench.fleetload(&["run"]);
    assert_eq!(bench.created("site").len(), 2, "{outcome:?}");
    assert_eq!(bench.counts(1), [("created".to_owned(), 3), ("cancelled".to_owned(), 1)].into());
    // Corrected and imported again, it is wanted again.
    bench.write("sites.csv", &bench::sites(3, 1).replace("King Street", "Queen Street"));
    bench.fleetload(&["run", "sites.csv"]);
    assert_eq!(bench.created("site").len(), 3);
}

/// A company and a record below it whose creation lost its answer, held since no look-up worked; all work from now on.
fn one_held_record(sheet: &str, text: &str, operations: [&str; 3]) -> (Bench, String) {
    let [creation, first, second] = operations;
    let failing = |operation| Fault::new(operation, FaultKind::GeneralError);
    let bench = Bench::new(
        unlimited()
            .with_fault(lost(creation, FaultKind::AnswerLost))
            .with_fault(failing(first).after(1))
            .with_fault(failing(second)),
    );
    bench.profile("", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write(sheet, text);
    bench.fleetload(&["run", "companies.csv", sheet]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    bench.clear_faults();
    let job = held(&bench, 1).pop().expect("a held row");
    (bench, job)
}

#[test]
fn a_record_that_was_made_before_its_row_was_corrected_is_not_said_to_have_the_new_values() {
    let phone = "+64 9 555 0170";
    let person = format!(
        "company,user_type,template_scope,first_name,last_name,username,email,allow_login,phone,address1,city,country\n\
         C0,Reports Client,COMPANY_INHERIT,Ann,Own,ann@bench.example,ann@bench.example,yes,{phone},1 Duke Street,Auckland,NZ\n"
    );
    let site = bench::sites(1, 1).replace("+64 9 556 0000", phone);
    let device = bench::devices(1, 1).replace("+64 9 557 0000", phone);
    let sheets = [
        ("people.csv", person, ["addPerson", "getPersonByUsername", "listPeople"]),
        ("sites.csv", site, ["addSite", "findSitesByName", "listSites"]),
        ("devices.csv", device, ["addDevice", "getDeviceByMac", "findDevicesByName"]),
    ];
    let new = "+64 9 777 0170";
    for (sheet, text, operations) in &sheets {
        for decision in [&["--abandon"][..], &["--not-created", "--unchecked"]] {
            let (bench, job) = one_held_record(sheet, text, *operations);
            bench.fleetload(&[&["resolve", &job], decision].concat()).expect_code(0);
            bench.write(sheet, &text.replace(phone, new));
            let differs = |import| {
                let row = bench.results(import).pop().expect("its row");
                assert_eq!(
                    (&row["status"], &row["code"]),
                    (&"adopted".into(), &"row.differs".into()),
                    "{row}"
                );
                let words = format!("phone was '{phone}', is '{new}' now");
                assert!(row["message"].as_str().is_some_and(|said| said.contains(&words)), "{row}");
            };
            bench.fleetload(&["run", sheet]).expect_code(4);
            differs(2);
            assert_eq!(bench.requests(operations[0]), 1, "{sheet} {decision:?}");
            // Nor when it comes again; with the values that were sent it is as it was made.
            bench.fleetload(&["run", sheet]).expect_code(4);
            differs(3);
            bench.write(sheet, text);
            bench.fleetload(&["run", sheet]).expect_code(0);
            assert_eq!(bench.results(4)[0]["code"], "row.unchanged", "{sheet} {decision:?}");
        }
    }
}

#[test]
fn values_that_were_refused_after_a_lost_request_are_not_said_to_be_those_of_a_record_made_later() {
    let (phone, new) = ("+64 9 556 0001", "+64 9 777 0170");
    let faults = [FaultKind::RequestLost, FaultKind::InvalidData, FaultKind::AnswerLost];
    let scenario = faults
        .into_iter()
        .fold(unlimited(), |scenario, kind| scenario.with_fault(lost("addSite", kind).after(1)));
    let bench = Bench::new(scenario);
    bench.profile("", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    // One site is made, so that a look-up is known to find what is there.
    let earlier = bench::sites(2, 1);
    let (first, second) = earlier.trim_end().rsplit_once('\n').expect("two rows");
    let corrected = format!("{first}\n{}\n", second.replace(phone, new));
    bench.write("sites.csv", &earlier);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "--concurrency", "1"]).expect_code(4);
    let ending = |import| {
        let row = bench.results(import).pop().expect("its row");
        (row["status"].clone(), row["code"].clone(), row["message"].to_string())
    };
    assert_eq!(ending(1).0, "rejected");
    bench.write("sites.csv", &corrected);
    let outcome = bench.fleetload(&["run", "sites.csv"]);
    assert_eq!(bench.statistics().faults_fired.len(), 3);
    let (status, code, message) = ending(2);
    assert_eq!((status, code), ("adopted".into(), Value::Null), "{message}");
    outcome.expect_code(0);
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(ending(3).1, "row.unchanged");
    bench.write("sites.csv", &earlier);
    bench.fleetload(&["run", "sites.csv"]).expect_code(4);
    let (_, code, message) = ending(4);
    let words = format!("phone was '{new}', is '{phone}' now");
    assert!(code == "row.differs" && message.contains(&words), "{message}");
    bench.assert_exact(1);
}

#[test]
fn a_row_on_hold_that_came_again_with_other_values_says_so_when_it_is_decided() {
    let bench = with_a_lost_site(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)), 1);
    bench.write("sites.csv", &bench::sites(1, 1).replace("+64 9 556 0000", "+64 9 777 0170"));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    let decided = bench.fleetload(&["resolve", "--import", "1", "--not-created"]).expect_code(0);
    assert!(decided.stdout.contains("import 2 has other values for this row"), "{}", decided.stdout);
    // As it says.
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    assert_eq!(bench.created("site")[0].request["phoneNumber"], "+64 9 777 0170");
}

/// A site that was lost, that a person said was not created, and whose sheet was corrected since.
fn corrected_after_a_loss(scenario: Scenario) -> Bench {
    let bench = with_a_lost_site(scenario, 1);
    bench.fleetload(&["resolve", "--import", "1", "--not-created"]).expect_code(0);
    bench.write("sites.csv", &bench::sites(1, 1).replace("+64 9 556 0000", "+64 9 777 0170"));
    bench
}

#[test]
fn a_corrected_row_that_is_sent_after_all_differs_from_nothing() {
    let bench = corrected_after_a_loss(unlimited().with_fault(lost("addSite", FaultKind::RequestLost)));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.results(2)[0]["status"], "created");
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.results(3)[0]["code"], "row.unchanged");
    bench.assert_exact(1);
}

#[test]
fn a_record_of_a_second_lost_request_has_its_values_once_a_person_said_that_the_first_made_none() {
    let scenario = [FaultKind::RequestLost, FaultKind::AnswerLost]
        .into_iter()
        .fold(unlimited(), |scenario, kind| scenario.with_fault(lost("addSite", kind)));
    let bench = corrected_after_a_loss(scenario);
    let outcome = bench.fleetload(&["run", "sites.csv"]);
    assert_eq!(bench.statistics().faults_fired.len(), 2);
    let row = &bench.results(2)[0];
    assert_eq!((&row["status"], &row["code"]), (&"adopted".into(), &Value::Null), "{row}");
    outcome.expect_code(0);
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.results(3)[0]["code"], "row.unchanged");
    bench.assert_exact(1);
}

#[test]
fn a_decision_about_values_that_a_row_no_longer_has_is_not_what_is_said_of_it() {
    let (bench, job) = one_held_company(FaultKind::Redirect302);
    bench.fleetload(&["resolve", &job, "--abandon"]).expect_code(0);
    let own = |import| bench.results(import).into_iter().find(|row| number(row) == job).expect("its row");
    bench.fleetload(&["report", "1"]);
    let row = own(1);
    assert!(row["message"].as_str().is_some_and(|words| words.contains("cancelled")), "{row}");
    let name = row["name"].as_str().expect("a name");
    bench.write("companies.csv", &bench::companies(3).replace(name, "Northwind"));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.fleetload(&["report", "1"]);
    for import in [1, 2] {
        let row = own(import);
        assert_eq!(row["status"], "created");
        let told = row.to_string();
        assert!(!told.contains("cancelled") && !told.contains("decided"), "{told}");
    }
}

//! Upkeep rows that a person decides: what is looked up for them, what is said of them, and what the decision leads to.

use fleetload::sandbox::{Fault, FaultKind, Scenario, TEMPLATE_DEVICE};
use serde_json::Value;

use crate::bench::{Bench, Outcome};

const LABEL: &str = "owner_kind,owner,interface,label\ninterface,#,LAN 1,uplink\n";

/// Rows about the device that is there.
fn write(bench: &Bench, file: &str, rows: &str) {
    bench.write(file, &rows.replace('#', &TEMPLATE_DEVICE.to_string()));
}

fn break_them(bench: &Bench, faults: &[Fault]) {
    bench.sandbox().change(|scenario| scenario.fault = faults.to_vec()).expect("a consistent scenario");
}

#[track_caller]
fn says(outcome: &Outcome, words: &[&str]) {
    for words in words {
        let is_said = outcome.stdout.contains(words) || outcome.stderr.contains(words);
        assert!(is_said, "no '{words}' in:\n{}\n{}", outcome.stdout, outcome.stderr);
    }
}

/// The page of the first import.
fn on_page(bench: &Bench) -> String {
    std::fs::read_to_string(bench.path("reports/1/report.html")).expect("the page")
}

/// A label of an interface on hold: the answer to putting it was lost, and the list that would show it is refused.
fn held_label(kind: FaultKind) -> (Bench, Outcome, Value) {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let lost = Fault::new("putInterfaceLabel", kind).times(1);
    let refused = Fault::new("listInterfaceLabels", FaultKind::GeneralError).after(1);
    break_them(&bench, &[lost, refused]);
    write(&bench, "labels.csv", LABEL);
    let outcome = bench.fleetload(&["run", "labels.csv"]).expect_code(8);
    let fired = bench.statistics().faults_fired;
    assert!(fired[kind.name()] == 1 && fired["general_error"] >= 1, "{fired:?}");
    let row = bench.results(1).remove(0);
    assert_eq!((&row["status"], &row["code"]), (&"held".into(), &"lookup.inconclusive".into()), "{row}");
    break_them(&bench, &[]);
    (bench, outcome, row)
}

#[test]
fn a_held_label_of_an_interface_is_found_by_the_list_of_interfaces_and_decided_as_what_it_is() {
    let (bench, outcome, row) = held_label(FaultKind::AnswerLost);
    let job = row["job"].to_string();
    let ways = ["--done", "--not-done", "--abandon"].map(|decision| format!("resolve {job} {decision}"));
    says(&outcome, &ways.each_ref().map(String::as_str));
    let advice = row["advice"].as_str().expect("words");
    assert!(
        advice.starts_with("Look in the service whether the label is put or deleted as the row asks for"),
        "{advice}"
    );
    assert!(ways.iter().all(|way| advice.contains(way)) && !advice.contains("ID"), "{advice}");

    says(
        &bench.fleetload(&["resolve"]).expect_code(0),
        &["now: listInterfaceLabels: it is as the row asks for"],
    );
    let refused = bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(2);
    says(&refused, &["listInterfaceLabels shows that it is as the row asks for", &ways[0]]);
    let done = bench.fleetload(&["resolve", &job, "--done"]).expect_code(0);
    says(&done, &["is done (checked by listInterfaceLabels: it is as the row asks for)"]);
    says(&bench.fleetload(&["run"]).expect_code(0), &["1 change verified: as asked"]);
    assert_eq!(bench.requests("putInterfaceLabel"), 1);
}

#[test]
fn a_held_label_that_is_not_there_is_not_believed_to_be_and_is_put_when_it_is_decided() {
    let (bench, _, row) = held_label(FaultKind::RequestLost);
    let job = row["job"].to_string();
    let refused = bench.fleetload(&["resolve", &job, "--done"]).expect_code(2);
    says(
        &refused,
        &["listInterfaceLabels: it is not as the row asks for", &format!("resolve {job} --not-done")],
    );
    // The id of the device says the same.
    let device = TEMPLATE_DEVICE.to_string();
    bench.fleetload(&["resolve", &job, "--created", &device]).expect_code(2);
    bench.fleetload(&["resolve", &job, "--not-done", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.results(1)[0]["status"], "done");
    assert_eq!(bench.created("label").len(), 1);
}

#[test]
fn licence_codes_on_hold_are_decided_together_and_nobody_is_sent_to_a_look_up_that_there_is_not() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    break_them(&bench, &[Fault::new("addLicenceCode", FaultKind::AnswerLost)]);
    write(&bench, "licences.csv", "device,licence_code\n#,LIC-1\n#,LIC-2\n");
    let outcome = bench.fleetload(&["run", "licences.csv"]).expect_code(8);
    let device = TEMPLATE_DEVICE.to_string();
    says(
        &outcome,
        &[
            "no look-up shows licence codes: look at the devices in the service, then decide:",
            &format!("licence \"LIC-2\" of device \"{device}\""),
        ],
    );
    assert!(on_page(&bench).contains(&format!("<bdi>{device}, LIC-2</bdi>")), "{}", on_page(&bench));
    assert!(!outcome.stderr.contains("to see what the service has of them"), "{}", outcome.stderr);
    let rows = bench.results(1);
    assert!(rows[0]["advice"].as_str().expect("words").contains("whether the device has the licence code"));
    says(
        &bench.fleetload(&["resolve"]).expect_code(0),
        &["now: unknown: the service has no look-up for licence codes"],
    );
    let job = rows[0]["job"].to_string();
    let unknown = bench.fleetload(&["resolve", &job, "--done"]).expect_code(2);
    says(
        &unknown,
        &["cannot check whether it was carried out", &format!("resolve {job} --done --unchecked")],
    );
    // The id of what was added is not that of the device: what a person means by it is that it was carried out.
    let added = bench.fleetload(&["resolve", &job, "--created", "6f1c2a3e-0000-4000-8000-000000000099"]);
    let added = added.expect_code(2);
    says(&added, &[&format!("if it was carried out: fleetload resolve {job} --done")]);
    assert!(!added.stderr.contains("--not-done"), "{}", added.stderr);
    bench.fleetload(&["resolve", "--code", "lookup.unavailable", "--done", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.counts(1), [("done".to_owned(), 2)].into());
    assert_eq!(bench.requests("addLicenceCode"), 2);
}

#[test]
fn a_licence_code_of_a_new_device_on_hold_is_decided_as_a_change_that_no_look_up_shows() {
    let lost = Fault::new("addLicenceCode", FaultKind::AnswerLost).times(2);
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(lost));
    bench.write("companies.csv", &crate::bench::companies(1));
    let devices = crate::bench::devices(2, 1);
    let devices: Vec<String> = devices.lines().map(|line| format!("{line},LIC-1")).collect();
    bench.write("devices.csv", &devices.join("\n").replacen("LIC-1", "licence_code", 1));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    let rows: Vec<_> = bench.results(1).into_iter().filter(|row| row["status"] == "held").collect();
    let jobs: Vec<String> = rows.iter().map(|row| row["job"].to_string()).collect();
    assert_eq!(jobs.len(), 2);
    let told = [
        "no look-up shows licence codes: look at the devices in the service, then decide:",
        &format!("fleetload resolve {} --done --unchecked", jobs[0]),
        &format!("fleetload resolve {} --not-done --unchecked", jobs[0]),
        "only if none of the 2 rows with the code lookup.unavailable was carried out, as each is then sent again without a \
         look-up: fleetload resolve --import 1 --code lookup.unavailable --not-done --unchecked",
    ];
    says(&outcome, &told);
    assert!(!outcome.stderr.contains("--created"), "{}", outcome.stderr);
    let advice = rows[1]["advice"].as_str().expect("words");
    let command = format!("fleetload resolve {} --done --unchecked", jobs[1]);
    assert!(
        advice.contains("whether the device has the licence code") && advice.contains(&command),
        "{advice}"
    );
    bench.fleetload(&["resolve", &jobs[0], "--done", "--unchecked"]).expect_code(0);
    bench.fleetload(&["resolve", &jobs[1], "--not-done", "--unchecked"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("addLicenceCode"), 3);
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn a_new_device_on_hold_at_its_labels_is_not_said_to_be_a_record_that_may_exist() {
    let lost = Fault::new("putDeviceLabels", FaultKind::AnswerLost).times(1);
    let refused = Fault::new("listDeviceLabels", FaultKind::GeneralError);
    let scenario = Scenario { rate: 0, ..Scenario::default() };
    let bench = Bench::new(scenario.with_fault(lost).with_fault(refused));
    bench.write("companies.csv", &crate::bench::companies(1));
    let devices = crate::bench::devices(1, 1);
    let devices: Vec<String> = devices.lines().map(|line| format!("{line},Retail")).collect();
    bench.write("devices.csv", &devices.join("\n").replacen("Retail", "labels", 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    let row = bench.results(1).into_iter().find(|row| row["status"] == "held").expect("a row on hold");
    let (job, advice) = (row["job"].to_string(), row["advice"].as_str().expect("words"));
    assert!(
        advice.starts_with(
            "Look in the service whether this step of the device was carried out: setting its labels."
        ),
        "{advice}"
    );
    let ways = ["--done", "--not-done", "--abandon"].map(|decision| format!("resolve {job} {decision}"));
    assert!(ways.iter().all(|way| advice.contains(way)) && !advice.contains("--created"), "{advice}");
    break_them(&bench, &[]);
    says(&bench.fleetload(&["resolve", &job, "--done"]).expect_code(0), &["checked by listDeviceLabels"]);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.requests("putDeviceLabels"), 1);
}

#[test]
fn a_row_that_creates_a_record_needs_the_id_of_it() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    break_them(&bench, &[Fault::new("addCompany", FaultKind::WrongName).times(1)]);
    bench.write("companies.csv", &crate::bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    let job = bench.results(1)[0]["job"].to_string();
    let refused = bench.fleetload(&["resolve", &job, "--done"]).expect_code(2);
    says(&refused, &[&format!("resolve {job} --created ID")]);
}

#[test]
fn a_row_on_hold_that_has_no_name_is_named_by_the_records_that_it_is_about() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.profile("", "", "");
    bench.write("companies.csv", &crate::bench::companies(1));
    bench.write("sites.csv", &crate::bench::sites(1, 1));
    bench.write("devices.csv", &crate::bench::devices(1, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    let faults = [
        Fault::new("assignDeviceToSite", FaultKind::AnswerLost),
        Fault::new("listSiteDeviceOnlineStatuses", FaultKind::GeneralError),
        Fault::new("putDeviceMetadata", FaultKind::AnswerLost),
        Fault::new("listDeviceMetadata", FaultKind::GeneralError),
    ];
    break_them(&bench, &faults);
    let (device, site) = (bench.names("device").remove(0), bench.names("site").remove(0));
    bench.write("site_assignments.csv", "device,site\n#,S0\n".replace('#', &device).as_str());
    bench.write(
        "metadata.csv",
        "owner_kind,owner,key,value\ndevice,#,asset,A-1\n".replace('#', &device).as_str(),
    );
    let outcome = bench.fleetload(&["run", "site_assignments.csv", "metadata.csv"]).expect_code(8);
    let told = [
        format!("site assignment of device \"{device}\", site \"{site}\""),
        format!("metadata entry \"asset\" of device \"{device}\""),
    ];
    says(&outcome, &told.each_ref().map(String::as_str));
    let page = std::fs::read_to_string(bench.path("reports/2/report.html")).expect("the page");
    for name in [format!("<bdi>{device}, S0</bdi>"), format!("<bdi>{device}, asset</bdi>")] {
        assert!(page.contains(&name), "{page}");
    }
}

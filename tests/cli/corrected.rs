//! Rows that failed and are corrected, in the sheet or in a fix sheet: nothing asks for them any more, and correcting them
//! twice makes nothing twice.

use fleetload::sandbox::Scenario;

use crate::bench::{self, Bench};

const DEVICES: &str = "company,name,device_model,mac,phone,address1,city,country\n\
    C0,Till 1,Edge 300,00:1a:2b:3c:4d:01,+64 9 555 0300,2 Queen Street,Auckland,NZ\n\
    C0,Till 2,Edge 200,00:1a:2b:3c:4d:02,+64 9 555 0300,2 Queen Street,Auckland,NZ\n";

fn bench_of(devices: &str) -> Bench {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", devices);
    bench
}

/// The text of a fix sheet, with the command that runs it.
fn fix(bench: &Bench, import: u32, sheet: &str) -> (String, String) {
    let path = format!("reports/{import}/{sheet}.fix.csv");
    let text = std::fs::read_to_string(bench.path(&path)).expect("a sheet to fix");
    (text, path)
}

/// Nothing is left to be done or corrected.
#[track_caller]
fn assert_settled(bench: &Bench) {
    let status = bench.fleetload(&["status", "--check"]).expect_code(0);
    assert!(!status.stdout.contains("correct"), "{}", status.stdout);
    bench.fleetload(&["run"]).expect_code(0);
}

#[test]
fn a_device_whose_mac_address_is_corrected_in_the_sheet_answers_the_row_that_was_rejected() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let corrected = DEVICES.replace("Edge 300,00:1a:2b:3c:4d:01", "Edge 200,00:1a:2b:3c:4d:11");
    bench.write("devices.csv", &corrected);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_settled(&bench);
    assert!(!bench.path("reports/1/devices.fix.csv").exists());
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn a_name_and_a_mac_address_may_be_corrected_in_the_fix_sheet() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let (text, path) = fix(&bench, 1, "devices");
    let text = text.replace("Till 1", "Front desk").replace("Edge 300", "Edge 200").replace("4d:01", "4d:11");
    bench.write(&path, &text);
    // An option of the first command, which the advice repeats, may be about a sheet that needs no correction.
    let outcome = bench.fleetload(&["run", &path, "--ignore-column", "Notes"]).expect_code(0);
    assert!(!outcome.stderr.contains("changes nothing"), "{}", outcome.stderr);
    assert_settled(&bench);
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn a_row_of_another_device_at_the_place_of_a_rejected_one_corrects_nothing() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let others = DEVICES.replace("Till 1,Edge 300,00:1a:2b:3c:4d:01", "Till 9,Edge 200,00:1a:2b:3c:4d:09");
    bench.write("devices.csv", &others);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 2);
    assert!(fix(&bench, 1, "devices").0.contains("Till 1"), "it is still to be corrected");
    bench.fleetload(&["status", "--check"]).expect_code(4);

    // Nobody wants it any more.
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(told.stdout.contains("1 row of import 1 cancelled"), "{}", told.stdout);
    assert_settled(&bench);
    let row = &bench.results(1)[1];
    let message = row["message"].as_str().unwrap_or_default();
    assert!(message.contains("before that it was rejected"), "{row}");
}

/// Devices of which updates were rejected, and one that is incomplete.
fn updates() -> Bench {
    let bench = bench_of(
        &DEVICES
            .replace("Edge 300", "Edge 200")
            .replace("company,", "key,company,")
            .replace("C0,Till", "T,C0,Till"),
    );
    let keyed = std::fs::read_to_string(bench.path("devices.csv")).expect("the sheet");
    bench
        .write("devices.csv", &keyed.replacen("T,C0,Till 1", "T1,C0,Till 1", 1).replacen("T,C0", "T2,C0", 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    bench
}

const CHANGES: &str = "key,action,name,licence_code,enterprise_template\n\
    T1,update,,LIC-9,\n\
    T2,update,Desk,,Retail Standrad\n";

#[test]
fn updates_are_corrected_in_the_fix_sheet_by_clearing_a_cell_or_naming_what_is_listed() {
    let bench = updates();
    bench.write("changes.csv", CHANGES);
    bench.fleetload(&["run", "changes.csv", "--kind", "devices"]).expect_code(4);
    let (text, path) = fix(&bench, 2, "changes-devices");
    bench.write(&path, &text.replace("LIC-9", "").replace("Standrad", "Standard"));
    bench.fleetload(&["run", &path, "--kind", "devices"]).expect_code(0);
    assert_settled(&bench);
    let subscribed =
        bench.ledger().into_iter().filter(|entry| entry.operation == "subscribeTemplate").count();
    assert_eq!(subscribed, 1);
}

#[test]
fn requests_are_corrected_in_their_sheet() {
    let bench = updates();
    bench.write("changes.csv", CHANGES);
    bench.write("subscriptions.csv", "device,template\nT1,Offise Standard\n");
    bench.fleetload(&["run", "changes.csv", "--kind", "devices"]).expect_code(4);
    bench.fleetload(&["run", "subscriptions.csv"]).expect_code(4);
    bench.write("changes.csv", &CHANGES.replace("LIC-9", "").replace("Standrad", "Standard"));
    bench.write("subscriptions.csv", "device,template\nT1,Office Standard\n");
    bench.fleetload(&["run", "changes.csv", "--kind", "devices"]).expect_code(4);
    bench.fleetload(&["run", "subscriptions.csv"]).expect_code(0);
    // A row that asks for nothing any more may be one of another day: the licence stays to be corrected or cancelled.
    let left: Vec<_> = bench.results(2).into_iter().filter(|row| row["status"] == "rejected").collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["key"], "T1");
    bench.fleetload(&["cancel", "2"]).expect_code(0);
    assert_settled(&bench);
}

//! Rows that failed and are corrected, in the sheet or in a fix sheet: nothing asks for them any more, and correcting them
//! twice makes nothing twice.

use fleetload::sandbox::{Fault, FaultKind, Scenario};

use crate::bench::{self, Bench, books};

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
fn a_device_that_was_created_from_the_corrected_sheet_is_not_created_again_from_the_fix_sheet() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let corrected = DEVICES.replace("Edge 300,00:1a:2b:3c:4d:01", "Edge 200,00:1a:2b:3c:4d:11");
    bench.write("devices.csv", &corrected);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 2);

    let (text, path) = fix(&bench, 1, "devices");
    bench.write(&path, &text.replace("Edge 300", "Edge 200"));
    let refused = bench.fleetload(&["run", &path]).expect_code(3);
    assert!(refused.stdout.contains("since this row was rejected"), "{}", refused.stdout);
    assert!(refused.stdout.contains("cancel import 1"), "{}", refused.stdout);
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    std::fs::remove_file(bench.path(&path)).ok();
    assert_settled(&bench);
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn a_device_of_the_same_name_in_another_sheet_keeps_none_from_being_corrected() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let another = DEVICES.lines().take(2).collect::<Vec<_>>().join("\n");
    bench.write("more.csv", &another.replace("Edge 300", "Edge 200").replace("4d:01", "4d:21"));
    bench.fleetload(&["run", "more.csv", "--kind", "devices"]).expect_code(0);
    let (text, path) = fix(&bench, 1, "devices");
    bench.write(&path, &text.replace("Edge 300", "Edge 200"));
    let outcome = bench.fleetload(&["run", &path]).expect_code(0);
    assert!(outcome.stdout.contains("dup.row"), "{}", outcome.stdout);
    assert_settled(&bench);
    assert_eq!(bench.created("device").len(), 3);
}

#[test]
fn a_mac_address_may_be_corrected_in_the_fix_sheet() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let (text, path) = fix(&bench, 1, "devices");
    bench.write(&path, &text.replace("Edge 300", "Edge 200").replace("4d:01", "4d:11"));
    // An option of the first command, which the advice repeats, may be about a sheet that needs no correction.
    let outcome = bench.fleetload(&["run", &path, "--ignore-column", "Notes"]).expect_code(0);
    assert!(!outcome.stderr.contains("changes nothing"), "{}", outcome.stderr);
    assert_settled(&bench);
    assert_eq!(bench.created("device").len(), 2);
}

#[test]
fn the_fix_sheet_of_one_import_corrects_no_row_of_another_whose_file_has_the_same_name() {
    let bench = bench_of(DEVICES);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    std::fs::create_dir(bench.path("other")).expect("a folder");
    let others = DEVICES.replace("Till", "Desk").replace("4d:0", "5d:0");
    bench.write("other/devices.csv", &others);
    bench.fleetload(&["run", "other/devices.csv"]).expect_code(4);
    // A copy above the row is another device.
    let (text, path) = fix(&bench, 1, "devices");
    let (head, row) = text.trim_end().split_once('\n').expect("a row");
    let row = row.replace("Edge 300", "Edge 200");
    let copy = row.replace("Till 1", "Till 9").replace("4d:01", "4d:09");
    bench.write(&path, &format!("{head}\n{copy}\n{}\n", row.replace("4d:01", "4d:11")));
    bench.fleetload(&["run", &path]).expect_code(0);
    let made: Vec<String> = bench
        .created("device")
        .iter()
        .map(|entry| entry.request["name"].as_str().unwrap_or_default().to_owned())
        .collect();
    for name in ["Till 1", "Till 2", "Till 9", "Desk 2"] {
        assert_eq!(made.iter().filter(|made| *made == name).count(), 1, "{name} of {made:?}");
    }
    let status = |import: u32, row: usize| bench.results(import)[row]["status"].clone();
    assert_eq!((status(1, 1), status(2, 0)), ("created".into(), "rejected".into()));
    assert!(fix(&bench, 2, "devices").0.contains("Desk 1"), "it is still to be corrected");
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
    let left: Vec<_> = bench.results(2).iter().map(|row| row["status"].clone()).collect();
    assert_eq!(left, ["existing", "done"]);
    assert_settled(&bench);
    let subscribed =
        bench.ledger().into_iter().filter(|entry| entry.operation == "subscribeTemplate").count();
    assert_eq!(subscribed, 1);
}

#[test]
fn another_request_in_the_same_sheet_ends_no_rejected_one() {
    let bench = updates();
    bench.write("subscriptions.csv", "device,template\nT1,Offise Standard\n");
    bench.fleetload(&["run", "subscriptions.csv"]).expect_code(4);
    bench.write("subscriptions.csv", "device,template\nT1,Retail Standard\n");
    bench.fleetload(&["run", "subscriptions.csv"]).expect_code(0);
    assert_eq!(bench.results(2)[0]["status"], "rejected");
    bench.fleetload(&["cancel", "2"]).expect_code(0);
    assert_settled(&bench);
}

#[test]
fn the_report_of_the_first_import_says_whose_values_were_created_after_a_correction() {
    let refused = Fault::new("addDevice", FaultKind::InvalidData).times(1);
    let bench = Bench::new(Scenario::default().with_fault(refused));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    assert_eq!(bench.statistics().faults_fired["invalid_data"], 1);
    let sheet = bench::devices(1, 1).replace("+64 9 557", "+64 9 558");
    assert_ne!(sheet, bench::devices(1, 1));
    bench.write("devices.csv", &sheet);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    bench.fleetload(&["report", "1"]).expect_code(0);
    let report = std::fs::read_to_string(bench.path("reports/1/devices.results.csv")).expect("a report");
    let words = "import 2 has other values for this row, and this is its result";
    assert!(report.contains("\"created\"") && report.contains(words), "{report}");
    let report = std::fs::read_to_string(bench.path("reports/2/devices.results.csv")).expect("a report");
    assert!(!report.contains("other values"), "{report}");
}

#[test]
fn a_row_that_was_corrected_while_it_was_in_doubt_is_sent_from_the_fix_file_as_it_is() {
    let lost = Fault::new("addDevice", FaultKind::RequestLost).times(1);
    let bench = Bench::new(Scenario::default().with_fault(lost));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    let sheet = "key,company,name,device_model,phone,address1,city,country\n\
                 T1,C0,Till 1,Edge 999,+64 9 555 0300,2 Queen Street,Auckland,NZ\n";
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", sheet);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(8);
    bench.write("devices.csv", &sheet.replace("Edge 999", "Edge 200"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(8);
    let job = bench.results(2)[0]["job"].to_string();
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(0);
    let ended = bench.fleetload(&["run"]).expect_code(4);

    let row = &bench.results(2)[0];
    assert!(
        row["message"].as_str().unwrap_or_default().contains("the values of this row were not sent"),
        "{row}"
    );
    let command = "fleetload run reports/2/fix.xlsx";
    let advice = "Nothing to correct. This row was rejected with its earlier values. To send those that it has now, type: ";
    assert_eq!(row["advice"], format!("{advice}{command}"));
    let status = bench.fleetload(&["status"]).expect_code(0);
    let words = "its values were not sent: leave it as it is and run reports/2/fix.xlsx";
    assert!(status.stdout.contains(words), "{}", status.stdout);
    for told in [&status.stdout, &status.stderr, &ended.stderr] {
        assert!(told.contains(command) && !told.contains("retry") && !told.contains("correct"), "{told}");
    }
    let cause = &bench.summary(2)["causes"][0];
    assert_eq!(cause["code"], "noDataFound", "{cause}");
    assert_eq!(cause["advice"], format!("{advice}{command}"));
    let page = std::fs::read_to_string(bench.path("reports/2/report.html")).expect("a page");
    let book = |name: &str| {
        let sheets = books::read(&bench.path(&format!("reports/2/{name}")));
        sheets.iter().map(books::Sheet::text).collect::<String>()
    };
    for told in [page, book("results.xlsx"), book("fix.xlsx")] {
        assert!(told.contains("rejected with its earlier values") && !told.contains("retry"), "{told}");
    }
    bench.fleetload(&["run", "reports/2/fix.xlsx"]).expect_code(0);
    assert_settled(&bench);
    let made = bench.created("device");
    assert_eq!(made.len(), 1, "{made:?}");
}

#[test]
fn a_row_that_named_its_company_by_a_wrong_id_is_corrected_by_naming_the_right_one() {
    const OWN: &str = "6f1c2a3e-0000-4000-8000-000000000001";
    const NOBODY: &str = "6f1c2a3e-0000-4000-8000-0000000000ff";
    const PHONES: [&str; 2] = ["+64 9 556 0000", "+64 9 556 1111"];
    // Before anything was sent, and after the id was refused; the last with another cell as well.
    let table = [(OWN, false, 0), (NOBODY, false, 0), (NOBODY, true, 0), (NOBODY, true, 1)];
    for (id, is_sent, phone) in table {
        let bench = bench_of(DEVICES);
        let sites = bench::sites(1, 1);
        bench.write("sites.csv", &sites.replace("C0", id));
        bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
        if is_sent {
            bench.fleetload(&["run"]).expect_code(3);
        }
        bench.write("sites.csv", &sites.replace(PHONES[0], PHONES[phone]));
        bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
        assert_settled(&bench);
        assert_eq!(bench.created("site").len(), 1, "{id} {is_sent} {phone}");
    }
}

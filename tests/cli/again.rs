//! Importing the same thing again: what is done is recognised, what was corrected is sent, and nothing else.

use crate::bench::{self, Bench, books};
use calamine::Data;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

#[test]
fn the_same_sheet_again_sends_nothing() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(20, 3));
    let files = ["run", "companies.csv", "devices.csv"];
    bench.fleetload(&files).expect_code(0);
    let before = bench.statistics().requests;
    bench.fleetload(&files).expect_code(0);
    assert_eq!(bench.statistics().requests, before);
    assert_eq!(
        bench.counts(2),
        [("created".to_owned(), 23)].into(),
        "the second import shows what the first made"
    );
    bench.assert_exact(2);
}

#[test]
fn a_record_that_was_there_says_whether_its_row_put_something_on_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let devices = bench::devices(2, 1);
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let with_labels = devices
        .replacen("\n", ",labels\n", 1)
        .replacen(",NZ\n", ",NZ,north\n", 1)
        .replacen(",NZ\n", ",NZ,\n", 1);
    bench.write("devices.csv", &with_labels);
    let elsewhere = ["run", "companies.csv", "devices.csv", "--journal", "b.db", "--reports", "b"];
    bench.fleetload(&elsewhere).expect_code(0);
    let lines = std::fs::read_to_string(bench.path("b/1/results.jsonl")).expect("the report");
    let messages: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .filter(|row| row["kind"] == "device")
        .map(|row| row["message"].as_str().expect("words").to_owned())
        .collect();
    let was_there =
        "the record was in the service before anything was sent; its fields were left as they are";
    let put = format!("{was_there}, and what else the row asks for was put");
    assert_eq!(messages, [put, was_there.to_owned()]);
}

#[test]
fn a_run_without_files_names_the_import_whose_rows_are_to_be_corrected() {
    let refused = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let bench = Bench::new(Scenario::default().with_fault(refused));
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    let made = bench.names("company");
    bench.write("people.csv", &bench::people(1, 1).replace("C0,", &format!("name:{},", made[0])));
    bench.fleetload(&["run", "people.csv"]).expect_code(0);
    for command in ["run", "status"] {
        let told = bench.fleetload(&[command]);
        let expected =
            "otherwise correct the rows in reports/1/fix.xlsx, then: fleetload run reports/1/fix.xlsx\n";
        assert!(told.stderr.contains(expected), "{command}: {}", told.stderr);
    }
}

#[test]
fn a_device_is_put_into_no_site_of_another_company_whatever_sheets_come_with_it() {
    let bench = Bench::new(Scenario::default());
    let companies = bench::companies(3);
    let head = "key,company,name,device_model,mac,phone,address1,city,country,site\n";
    let device = |n: u32, company: &str, site: &str| {
        let place = "+64 9 557 0000,1 Earl Street,Auckland,NZ";
        format!("{head}T{n},{company},Till {n},Edge 100,00:1a:2b:00:00:{n:02x},{place},{site}\n")
    };
    let two: String = companies.split_inclusive('\n').take(3).collect();
    bench.write("companies.csv", &two);
    bench.write("sites.csv", &bench::sites(2, 2));
    bench.write("devices.csv", &device(0, "C0", "S0"));
    let all = ["run", "companies.csv", "sites.csv", "devices.csv"];
    bench.fleetload(&all).expect_code(0);
    let before = bench.ledger().len();
    bench.write("companies.csv", &companies);
    bench.write("site_assignments.csv", "device,site\nT0,S1\n");
    let refused = |sheets: &[&str]| {
        let told = bench.fleetload(&[&["check"], sheets].concat()).expect_code(3);
        assert!(told.stdout.contains("ref.wrong-owner"), "{sheets:?}: {}", told.stdout);
    };
    refused(&["site_assignments.csv"]);
    refused(&["companies.csv", "site_assignments.csv"]);
    for company in ["C0", "C2"] {
        bench.write("devices.csv", &device(1, company, "S1"));
        refused(&["companies.csv", "devices.csv"]);
    }
    bench.write("devices.csv", &device(1, "C0", "S1"));
    refused(&["devices.csv"]);
    bench.write("devices.csv", &device(1, "C1", "S1"));
    bench.fleetload(&all).expect_code(0);
    assert_eq!(bench.ledger().len(), before + 2);
}

#[test]
fn after_rejections_only_the_corrected_rows_are_sent() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let wrong = bench::devices(10, 2)
        .replace("Till 3,Edge 100", "Till 3,Edge 9000")
        .replace("Till 7,Edge 100", "Till 7,Edge 9000");
    bench.write("devices.csv", &wrong);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    assert_eq!(bench.counts(1), [("created".to_owned(), 10), ("rejected".to_owned(), 2)].into());
    let advice =
        bench.results(1).into_iter().find(|row| row["status"] == "rejected").expect("one")["advice"].clone();
    let change =
        "(device_model), which says 'Edge 9000'; of the rows that were accepted 8 rows say 'Edge 100'. ";
    assert!(advice.as_str().expect("words").contains(change), "{advice}");
    let sent = bench.requests("addDevice");

    // One of the two is corrected; the other is as it was.
    bench.write("devices.csv", &wrong.replace("Till 3,Edge 9000", "Till 3,Edge 200"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    assert_eq!(bench.requests("addDevice"), sent + 1, "only the corrected row was sent");
    assert_eq!(bench.counts(2), [("created".to_owned(), 11), ("rejected".to_owned(), 1)].into());

    bench.write("devices.csv", &bench::devices(10, 2).replace("Till 3,Edge 100", "Till 3,Edge 200"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    bench.assert_exact(3);
}

#[test]
fn a_row_whose_later_step_failed_is_incomplete_and_only_that_step_is_sent_again() {
    let bench = Bench::new(Scenario::default());
    let template = "6f1c2a3e-0000-4000-8000-00000000dead";
    let devices = format!(
        "key,company,name,device_model,mac,phone,address1,city,country,enterprise_template\n\
         R-1,{root},Workshop,Edge 100,58:c1:7a:00:20:02,+64 9 555 0170,82 Customs Street East,Auckland,New Zealand,\n\
         R-2,{root},Laboratory,Edge 100,58:c1:7a:00:20:06,+64 9 555 0170,82 Customs Street East,Auckland,New Zealand,\
         {template}\n",
        root = bench::root()
    );
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    assert_eq!(bench.counts(1), [("created".to_owned(), 1), ("incomplete".to_owned(), 1)].into());
    let row = bench.results(1).remove(1);
    assert_eq!((&row["status"], &row["column"]), (&"incomplete".into(), &"enterprise_template".into()));
    assert!(bench.ledger().iter().any(|entry| entry.id.to_string() == row["id"]), "its record exists: {row}");
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("1 row is incomplete (a later step failed)"), "{page}");
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(status.starts_with("finished; 1 row is incomplete (a later step failed)\n"), "{status}");

    // As it is, then corrected with another value for the record itself, then only corrected.
    let steps = bench.requests("subscribeTemplate");
    bench.fleetload(&["retry", "1"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!((bench.requests("addDevice"), bench.requests("subscribeTemplate")), (2, steps + 1));
    let corrected = devices.replace(template, "6f1c2a3e-0000-4000-8000-000000000003");
    bench.write("devices.csv", &corrected.replace("Laboratory,Edge 100", "Laboratory,Edge 200"));
    // Not imported, it is not sent either.
    bench.fleetload(&["run", "devices.csv", "--skip-invalid", "--deny", "row.differs"]).expect_code(4);
    assert_eq!(bench.requests("subscribeTemplate"), steps + 1);
    let told = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(0).stdout;
    bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    let said = "device_model was 'Edge 100', is 'Edge 200' now; the record is not changed, and what was not done \
                besides is sent as the row has it now";
    assert!(told.contains(said), "{told}");
    assert_eq!((bench.requests("addDevice"), bench.requests("subscribeTemplate")), (2, steps + 2));
    assert_eq!(bench.counts(3), [("created".to_owned(), 2)].into());
    let row = bench.results(3).remove(1);
    assert_eq!((&row["code"], &row["column"]), (&"row.differs".into(), &"device_model".into()));
    let message = row["message"].as_str().unwrap_or_default();
    assert!(message.contains("device_model was 'Edge 100', is 'Edge 200' now"), "{message}");
    assert!(!message.contains(template), "what was corrected is right: {message}");
    bench.write("devices.csv", &corrected);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.results(4)[1]["code"], "row.unchanged");
    assert_eq!((bench.requests("addDevice"), bench.requests("subscribeTemplate")), (2, steps + 2));
}

#[test]
fn the_fix_sheet_holds_only_what_to_correct_and_imports_as_it_is() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &bench::devices(10, 2).replace("Till 3,Edge 100", "Till 3,Edge 9000"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let fix = std::fs::read_to_string(bench.path("reports/1/devices.fix.csv")).expect("a sheet to fix");
    assert_eq!(fix.lines().count(), 2, "the header and the one rejected row:\n{fix}");
    assert!(!bench.path("reports/1/companies.fix.csv").exists());

    bench.write("devices.csv", &fix.replace("Edge 9000", "Edge 500"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 10);
    // Nobody shall correct the row a second time.
    assert!(!bench.path("reports/1/fix.xlsx").exists() && !bench.path("reports/1/devices.fix.csv").exists());
    assert_eq!(bench.summary(1)["to_fix"], 0);
}

#[test]
fn a_row_that_is_refused_again_is_in_the_fix_sheet_of_the_newest_import_only() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let wrong = |till: &str| format!("{till},Edge 9000");
    let devices = bench::devices(10, 2)
        .replace("Till 3,Edge 100", &wrong("Till 3"))
        .replace("Till 5,Edge 100", &wrong("Till 5"));
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let name = "reports/1/devices.fix.csv";
    let fix = std::fs::read_to_string(bench.path(name)).expect("a sheet to fix");
    // One of the two comes again, wrong in another way, from the file where it stood.
    let half: String =
        fix.lines().filter(|line| !line.contains("Till 5")).map(|line| format!("{line}\n")).collect();
    bench.write(name, &half.replace("Edge 9000", "Edge 9001"));
    let told = bench.fleetload(&["run", name]).expect_code(4);
    assert!(told.stdout.contains("1 row to correct: reports/1/fix.xlsx"), "{}", told.stdout);
    let kept = "your corrections, which were imported already, are kept in reports/1/devices.fix.edited.csv";
    assert!(told.stdout.contains(kept), "{}", told.stdout);
    for (import, has, lacks) in [(1, "Till 5", "Till 3"), (2, "Till 3", "Till 5")] {
        let fix = std::fs::read_to_string(bench.path(&format!("reports/{import}/devices.fix.csv")));
        let fix = fix.expect("a sheet to fix");
        assert!(fix.contains(has) && !fix.contains(lacks), "import {import}: {fix}");
    }
    let rows = bench.results(1);
    let row = rows.iter().find(|row| row["status"] == "rejected" && row["row"] == 5).expect("Till 3");
    let says = |key: &str, words: &str| row[key].as_str().is_some_and(|text| text.contains(words));
    assert!(says("message", "import 2 has this row again; see its result there"), "{row}");
    assert!(says("advice", "type: fleetload report 2"), "{row}");
}

#[test]
fn retry_tells_how_many_rows_below_it_are_no_longer_skipped() {
    let refused = Fault::new("addCompany", FaultKind::InvalidData).times(1);
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() }.with_fault(refused));
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(4);
    let told = bench.fleetload(&["retry", "1"]).expect_code(0);
    let words = "1 row is ready again, and 2 rows that depend on it are no longer skipped\n";
    assert!(told.stdout.contains(words), "{told:?}");
}

#[test]
fn retry_sends_a_rejected_row_unchanged() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(3, 1).replace("Till 1,Edge 100", "Till 1,Edge 9000"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    bench.sandbox().change(|scenario| scenario.models.push("Edge 9000".to_owned())).expect("a scenario");
    bench.fleetload(&["run"]).expect_code(4);
    bench.fleetload(&["retry"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 3);
    bench.assert_exact(1);
}

#[test]
fn children_of_a_rejected_company_are_skipped_and_come_back_when_it_is_corrected() {
    let bench = Bench::new(Scenario::default());
    let wrong = bench::companies(1).replace(&bench::root(), "6f1c2a3e-ffff-4000-8000-000000000001");
    bench.write("companies.csv", &wrong);
    bench.write("devices.csv", &bench::devices(5, 1));
    bench.fleetload(&["import", "companies.csv", "devices.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(3);
    assert_eq!(bench.counts(1), [("rejected".to_owned(), 1), ("skipped".to_owned(), 5)].into());

    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 1);
    assert_eq!(
        bench.created("device").len(),
        5,
        "the devices came back although their sheet was not given again"
    );
}

#[test]
fn with_a_new_journal_companies_below_one_that_was_there_are_found_as_well() {
    let bench = Bench::new(Scenario::default());
    let sheet = bench::companies(2);
    let below = sheet.replace(&format!("C1,{}", bench::root()), "C1,C0");
    bench.write("companies.csv", &below);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2);
    bench.fleetload(&["run", "companies.csv", "--journal", "new.db"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 2, "both were there");
    assert_eq!(bench.counts("1-2"), [("existing".to_owned(), 2)].into());
}

#[test]
fn a_row_that_is_not_the_similar_record_found_before_sending_is_sent_once_a_person_says_so() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    bench.write("sites.csv", &bench::sites(1, 1).replace("Branch 0,REF-0", "BRANCH 0,"));
    let files = ["run", "companies.csv", "sites.csv", "--journal", "new.db"];
    bench.fleetload(&files).expect_code(8);
    assert_eq!(bench.counts("1-2")["held"], 1);
    bench.fleetload(&["resolve", "2", "--not-created", "--journal", "new.db"]).expect_code(0);
    bench.fleetload(&["run", "--journal", "new.db"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 2);
}

#[test]
fn a_record_that_somebody_made_after_the_row_was_refused_is_not_made_again() {
    for corrected in [false, true] {
        let refused = Fault { times: Some(1), ..Fault::new("addSite", FaultKind::InvalidData) };
        let bench = Bench::new(Scenario::default().with_fault(refused));
        bench.write("companies.csv", &bench::companies(1));
        bench.write("sites.csv", &bench::sites(1, 1));
        let files = ["run", "companies.csv", "sites.csv"];
        bench.fleetload(&files).expect_code(4);
        assert_eq!(bench.statistics().faults_fired["invalid_data"], 1);
        bench.fleetload(&["run", "companies.csv", "sites.csv", "--journal", "colleague.db"]).expect_code(0);
        assert_eq!(bench.created("site").len(), 1);
        if corrected {
            bench.write("sites.csv", &bench::sites(1, 1).replace("+64 9 556 0000", "+64 9 556 0009"));
            bench.fleetload(&files).expect_code(0);
        } else {
            bench.fleetload(&["retry"]).expect_code(0);
            bench.fleetload(&["run"]).expect_code(0);
        }
        assert_eq!(bench.created("site").len(), 1, "it was looked up before it was sent again");
        assert_eq!(bench.counts(if corrected { 2 } else { 1 })["existing"], 1);
    }
}

#[test]
fn a_record_that_is_there_after_all_is_not_made_again_on_a_persons_word() {
    let lost = Fault { times: Some(1), ..Fault::new("addSite", FaultKind::RequestLost) };
    let bench = Bench::new(Scenario::default().with_fault(lost));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(8);
    // The lost request takes effect late, or a colleague makes the site by hand.
    bench.fleetload(&["run", "companies.csv", "sites.csv", "--journal", "colleague.db"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 2);
    // Only the one that is held can be decided, and the word is taken for it when the service is not asked.
    for job in ["2", "3"] {
        drop(bench.fleetload(&["resolve", job, "--not-created", "--unchecked"]));
    }
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 2, "it was found before it was sent again");
    assert_eq!(bench.counts(1)["adopted"], 1);
}

/// A workbook with two companies and ten devices, of which two have a model that the service refuses.
fn refused(bench: &Bench) -> u64 {
    let wrong = bench::devices(10, 2)
        .replace("Till 3,Edge 100", "Till 3,Edge 9000")
        .replace("Till 7,Edge 100", "Till 7,Edge 9000");
    let sheet = |name: &str, text: &str| books::Sheet {
        name: name.to_owned(),
        rows: text
            .lines()
            .map(|line| line.split(',').map(|cell| Data::String(cell.into())).collect())
            .collect(),
    };
    books::write(
        &bench.path("rollout.xlsx"),
        &[sheet("Customers companies", &bench::companies(2)), sheet("Devices", &wrong)],
    );
    bench.fleetload(&["run", "rollout.xlsx"]).expect_code(4);
    assert_eq!(bench.counts(1), [("created".to_owned(), 10), ("rejected".to_owned(), 2)].into());
    bench.requests("addDevice")
}

/// Replaces a model wherever it stands.
fn correct(sheets: &mut [books::Sheet]) -> usize {
    let wrong = Data::String("Edge 9000".into());
    let cells = sheets.iter_mut().flat_map(|sheet| &mut sheet.rows).flatten();
    cells.filter(|cell| **cell == wrong).map(|cell| *cell = Data::String("Edge 200".into())).count()
}

/// After the correction: everything is there once, each refused row was sent once more, and both imports show it.
#[track_caller]
fn finished(bench: &Bench, sent: u64, rows: u64) {
    assert_eq!(bench.created("device").len(), 10);
    assert_eq!(bench.requests("addDevice"), sent + 2, "only the two that were corrected");
    assert_eq!(bench.requests("addCompany"), 2);
    assert_eq!(bench.counts(2), [("created".to_owned(), rows)].into());
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(
        bench.counts(1),
        [("created".to_owned(), 12)].into(),
        "the earlier rows show what became of them"
    );
    assert!(!bench.path("reports/1/fix.xlsx").exists(), "nothing is left to correct");
    bench.assert_exact(1);
    let before = bench.statistics().requests;
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.statistics().requests, before, "nothing is sent twice");
}

#[test]
fn the_fix_workbook_is_corrected_and_run_as_it_is() {
    let bench = Bench::new(Scenario::default());
    let sent = refused(&bench);
    let mut fix = books::read(&bench.path("reports/1/fix.xlsx"));
    assert_eq!(correct(&mut fix), 2);
    books::write(&bench.path("fixed.xlsx"), &fix);
    bench.fleetload(&["run", "fixed.xlsx"]).expect_code(0);
    finished(&bench, sent, 2);
}

#[test]
fn the_fix_sheet_of_a_workbook_is_corrected_as_csv() {
    let bench = Bench::new(Scenario::default());
    let sent = refused(&bench);
    let fix = std::fs::read_to_string(bench.path("reports/1/Devices.fix.csv")).expect("a sheet to fix");
    bench.write("Devices.fix.csv", &fix.replace("\"Edge 9000\"", "\"Edge 200\""));
    bench.fleetload(&["run", "Devices.fix.csv"]).expect_code(0);
    finished(&bench, sent, 2);
}

#[test]
fn the_original_workbook_is_corrected_and_run_again() {
    let bench = Bench::new(Scenario::default());
    let sent = refused(&bench);
    let mut original = books::read(&bench.path("rollout.xlsx"));
    assert_eq!(correct(&mut original), 2);
    books::write(&bench.path("rollout.xlsx"), &original);
    bench.fleetload(&["run", "rollout.xlsx"]).expect_code(0);
    finished(&bench, sent, 12);
}

#[test]
fn the_results_workbook_is_corrected_and_run_as_it_is() {
    let bench = Bench::new(Scenario::default());
    let sent = refused(&bench);
    let mut results = books::read(&bench.path("reports/1/results.xlsx"));
    assert_eq!(correct(&mut results), 2);
    books::write(&bench.path("results.xlsx"), &results);
    bench.fleetload(&["run", "results.xlsx"]).expect_code(0);
    finished(&bench, sent, 12);
}

/// A sheet of one device that stands in no other sheet.
fn device(key: &str, company: &str, name: &str, mac: &str, street: &str) -> String {
    format!(
        "key,company,name,device_model,mac,phone,address1,city,country\n\
         {key},{company},{name},Edge 100,{mac},+64 9 555 0170,{street},Auckland,NZ\n"
    )
}

const MAC: &str = "00:25:96:42:bf:42";

#[test]
fn a_mac_or_username_of_another_row_is_refused_at_its_cell_and_nothing_is_sent() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("devices.csv", &device("HMI-1", "C0", "Office router", MAC, "1 Earl St"));
    bench.write("people.csv", &bench::people(1, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv", "people.csv"]).expect_code(0);
    let before = bench.statistics().requests;
    bench.write("dup.csv", &device("Z-1", "C1", "Another name", "00259642BF42", "82 Customs Street"));
    let outcome = bench.fleetload(&["run", "dup.csv", "--kind", "devices"]).expect_code(3);
    assert!(outcome.stdout.contains("dup.mac"), "{}", outcome.stdout);
    let check = bench.fleetload(&["check", "dup.csv", "--kind", "devices", "--json"]).expect_code(3).stdout;
    let finding: serde_json::Value =
        serde_json::from_str(check.lines().next().expect("a finding")).expect("JSON");
    assert_eq!((&finding["cell"], &finding["row_key"]), (&"E2".into(), &"Z-1".into()), "{check}");
    let message = "this MAC address belongs to another row: device 'Office router' of 'Customer 0', key 'hmi-1', created \
                   (import 1, devices.csv!devices!2, job 4): correct the MAC address; if this row is that device, write \
                   its key 'hmi-1'";
    assert_eq!((&finding["code"], &finding["message"]), (&"dup.mac".into(), &message.into()));
    let person = bench::people(1, 1).replace("C0,", "C1,").replace("Number0", "Walker");
    bench.write("other.csv", &person);
    let outcome = bench.fleetload(&["run", "other.csv", "--kind", "people"]).expect_code(3);
    assert!(outcome.stdout.contains("dup.username"), "{}", outcome.stdout);
    bench.fleetload(&["plan", "dup.csv", "--kind", "devices"]).expect_code(3);
    assert_eq!(bench.statistics().requests, before, "nothing was sent");

    // Without the row in collision, the others are sent.
    let both = device("Z-1", "C1", "Another name", MAC, "82 Customs Street")
        + "Z-2,C1,Till,Edge 100,00:25:96:42:bf:43,+64 9 555 0170,1 Earl St,Auckland,NZ\n";
    bench.write("dup.csv", &both);
    let skip = ["run", "dup.csv", "--kind", "devices", "--skip-invalid"];
    let outcome = bench.fleetload(&skip).expect_code(4);
    assert!(outcome.stdout.contains("2 rows of devices, 1 cannot be used"), "{}", outcome.stdout);
    assert_eq!(bench.created("device").len(), 2);
    assert_eq!(bench.counts(2), [("created".to_owned(), 1), ("rejected".to_owned(), 1)].into());
    let row = &bench.results(2)[0];
    assert_eq!((&row["code"], &row["column"], &row["id"]), (&"dup.mac".into(), &"mac".into(), &().into()));
    // Its address corrected in the fix sheet, it is made.
    let fix = std::fs::read_to_string(bench.path("reports/2/dup-devices.fix.csv")).expect("a sheet to fix");
    bench.write("fixed.csv", &fix.replace(MAC, "00:25:96:42:bf:44"));
    bench.fleetload(&["run", "fixed.csv", "--kind", "devices"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 3);
    assert!(!bench.path("reports/2/dup-devices.fix.csv").exists(), "nothing is left to correct");
}

#[test]
fn a_row_with_other_values_says_which_columns_differ_and_ends_with_4_until_they_are_put_back() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &device("D1", "C0", "Till", MAC, "1 Earl St"));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let before = bench.statistics().requests;
    let id =
        bench.results(1).into_iter().find(|row| row["kind"] == "device").expect("the device")["id"].clone();

    bench.write("devices.csv", &device("D1", "C0", "Till", MAC, "7 King St"));
    let outcome = bench.fleetload(&["run", "devices.csv"]).expect_code(4);
    assert!(outcome.stdout.contains("1 row differs from what was imported earlier"), "{}", outcome.stdout);
    assert_eq!(bench.statistics().requests, before, "nothing was sent");
    let row = &bench.results(2)[0];
    assert_eq!((&row["status"], &row["id"]), (&"created".into(), &id));
    assert_eq!((&row["code"], &row["column"]), (&"row.differs".into(), &"address1".into()));
    let message = row["message"].as_str().expect("a message");
    assert!(message.contains("address1 was '1 Earl St', is '7 King St' now"), "{message}");
    assert_eq!(row["differences"][0]["earlier"], "1 Earl St");
    let summary = bench.summary(2);
    assert_eq!((&summary["changed_since"], &summary["exit_code"]), (&1.into(), &4.into()));
    assert_eq!(summary["causes"][0]["code"], "row.differs");
    let csv = std::fs::read_to_string(bench.path("reports/2/devices.results.csv")).expect("results");
    assert!(csv.contains("row.differs") && csv.contains("is '7 King St' now"), "{csv}");
    let page = std::fs::read_to_string(bench.path("reports/2/report.html")).expect("a page");
    assert!(page.contains("Finished; 1 row differs from what was imported earlier"), "the page says so");
    assert!(page.contains("row.differs"));
    assert!(!bench.path("reports/2/fix.xlsx").exists(), "nothing is to be corrected for the service");
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(
        status.stdout.starts_with("finished; 1 row differs from what was imported earlier\n"),
        "{}",
        status.stdout
    );
    assert!(
        status.stdout.contains("1 row of import 2 differs from what was imported earlier"),
        "{}",
        status.stdout
    );
    let advice = row["advice"].as_str().expect("words");
    let update = "; if the row is another record, give it a key and a name of its own; or, if it is the same company, site or \
                  device, and the service can change its values to those of the row, write update into a column action \
                  of the row and type the command again";
    assert!(advice.ends_with(update), "{advice}");
    bench.fleetload(&["run"]).expect_code(4);
    // Of a later import all rows are done: the command to type is about the one with the row.
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let later = bench.fleetload(&["run"]).expect_code(4);
    let hint = "hint: the report lists the columns that differ: fleetload report 2\n";
    assert!(later.stderr.contains(hint), "{}", later.stderr);

    bench.write("devices.csv", &device("d1", "C0", " Till", "0025.9642.bf42", "1 Earl St"));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.results(4)[0]["code"], "row.unchanged");
    bench.fleetload(&["run"]).expect_code(0);
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(!status.stdout.contains("differ"), "{}", status.stdout);
    assert_eq!(bench.created("device").len(), 1);
}

#[test]
fn a_row_that_differs_is_answered_for_by_a_later_import_that_changes_the_record() {
    let bench = Bench::new(Scenario::default());
    let companies = bench::companies(2);
    bench.write("companies.csv", &companies);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let moved = companies.replace("1 Queen Street", "7 King Street");
    bench.write("companies.csv", &moved);
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    bench.fleetload(&["status", "--check"]).expect_code(4);
    // As the advice of its code says.
    let update =
        moved.replace("key,", "action,key,").replace("\nC0,", "\n,C0,").replace("\nC1,", "\nupdate,C1,");
    bench.write("companies.csv", &update);
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.statistics().faults_fired.len(), 0);
    assert_eq!(bench.created("company").len(), 2);
    let status = bench.fleetload(&["status", "--check"]).expect_code(0);
    assert!(!status.stdout.contains("differ"), "{}", status.stdout);
    bench.fleetload(&["report", "2"]).expect_code(0);
    let advice = bench.results(2)[1]["advice"].as_str().expect("words").to_owned();
    assert!(advice.contains("import 3 has this row again"), "{advice}");
}

#[test]
fn a_site_that_differs_is_not_answered_for_by_a_change_of_a_device_in_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let site =
        "key,company,name,phone,address1,city,country\ns,C0,Depot,+64 9 555 0100,1 High St,Auckland,NZ\n";
    let device = "key,company,site,name,device_model,phone,address1,city,country,action\n\
                  d,C0,s,Till,Edge 100,+64 9 555 0100,1 High St,Auckland,NZ,\n";
    bench.write("sites.csv", site);
    bench.write("devices.csv", device);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(0);
    bench.write("sites.csv", &site.replace("0100", "0199"));
    bench.write("devices.csv", &device.replace("Till", "Counter").replace("NZ,\n", "NZ,update\n"));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "devices.csv"]).expect_code(4);
    bench.fleetload(&["status", "--check"]).expect_code(4);
    let differing = |row: &&serde_json::Value| row["code"] == "row.differs";
    assert_eq!(bench.results(2).iter().filter(differing).count(), 1);
}

/// What every report of the first import says of its rows, by their states; the page in its headline.
#[track_caller]
fn assert_reported(bench: &Bench, counts: &[(&str, u64)], headline: &str) {
    let wanted = counts.iter().map(|(state, count)| ((*state).to_owned(), *count)).collect();
    assert_eq!(bench.counts(1), wanted, "summary.json");
    let read = |name: &str| std::fs::read_to_string(bench.path(&format!("reports/1/{name}"))).expect(name);
    let results = bench.results(1);
    let csv = read("companies.results.csv") + &read("devices.results.csv");
    let workbook = books::read(&bench.path("reports/1/results.xlsx"));
    let cells: String = workbook.iter().skip(1).map(books::Sheet::text).collect();
    for (state, count) in counts {
        let count = usize::try_from(*count).expect("a few");
        assert_eq!(results.iter().filter(|row| row["status"] == *state).count(), count, "results.jsonl");
        let rows = |text: &str, cell: String| text.lines().filter(|line| line.contains(&cell)).count();
        assert_eq!(rows(&csv, format!(",\"{state}\",")), count, "results.csv: {csv}");
        assert_eq!(rows(&cells, format!(" | {state} | ")), count, "results.xlsx: {cells}");
    }
    let page = read("report.html");
    let (_, told) = page.split_once("<h1").expect("a headline");
    let (told, _) = told.split_once("</h1>").expect("its end");
    assert!(told.ends_with(headline), "{told}");
}

#[test]
fn the_report_of_an_incomplete_row_is_written_again_when_it_is_corrected_without_a_request() {
    let bench = Bench::new(Scenario::default());
    let nobody = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0004";
    let devices = |template: &str| {
        let sheet = bench::devices(1, 1).replace("country\n", "country,enterprise_template\n");
        sheet.replace(",NZ\n", &format!(",NZ,{template}\n"))
    };
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &devices(nobody));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    assert_reported(
        &bench,
        &[("created", 1), ("incomplete", 1)],
        "Finished; 1 row is incomplete (a later step failed)",
    );
    let sent = bench.ledger().len();
    bench.write("devices.csv", &devices(""));
    let told = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert_eq!(bench.ledger().len(), sent, "nothing was created or changed");
    assert!(told.stdout.contains("report of import 1: written again"), "{}", told.stdout);
    assert_reported(&bench, &[("created", 2)], "Finished: every row is done");
    assert!(!bench.path("reports/1/fix.xlsx").exists(), "nothing is left to be corrected");
}

#[test]
fn the_report_of_an_import_that_is_cancelled_is_written_again() {
    let bench = Bench::new(Scenario { daily_quota: 1, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(2, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv", "--on-quota", "exit"]).expect_code(5);
    assert_reported(&bench, &[("created", 1), ("ready", 2)], ", 2 rows remaining");
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    let words = "report of import 1: written again, as rows of it were cancelled";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    assert_reported(&bench, &[("created", 1), ("cancelled", 2)], "Finished; 2 rows were cancelled");
    assert!(!bench.fleetload(&["run"]).expect_code(0).stdout.contains("written again"), "once");
}

#[test]
fn rows_that_were_cancelled_and_come_again_unchanged_are_said_to_stay_so() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["cancel", "1"]).expect_code(0);
    let told = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let words = "3 rows are cancelled: nothing is sent for them as long as they are unchanged";
    assert!(told.stderr.contains(words), "{told:?}");
    assert!(told.stderr.contains("how to have them sent: fleetload explain cancelled"), "{told:?}");
    bench.write("companies.csv", &bench::companies(3).replace("Queen Street", "Quay Street"));
    let told = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert!(!told.stderr.contains("cancelled"), "{told:?}");
    assert_eq!(bench.created("company").len(), 3);
}

#[test]
fn a_mac_address_that_is_left_out_of_a_corrected_row_is_a_warning_before_the_device_is_made() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let refused = device("D1", "C0", "Till", MAC, "1 Earl St").replace("Edge 100", "Edge 9000");
    bench.write("devices.csv", &refused);
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(4);
    let corrected = refused.replace("Edge 9000", "Edge 100");
    bench.write("devices.csv", &corrected.replace("mac,", "").replace(&format!("{MAC},"), ""));
    let words = "this row had the MAC address 00:25:96:42:bf:42 in an earlier import and has none now";
    let told = bench.fleetload(&["plan", "devices.csv"]).expect_code(0);
    assert!(format!("{told:?}").contains(words), "{told:?}");
    let told = bench.fleetload(&["import", "devices.csv"]).expect_code(0);
    assert!(format!("{told:?}").contains(words), "{told:?}");
    // Written again, it is no matter any more.
    bench.write("devices.csv", &corrected);
    let told = bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert!(!format!("{told:?}").contains("MAC address"), "{told:?}");
    assert_eq!(bench.created("device").len(), 1);
}

#[test]
fn an_upkeep_row_that_asks_otherwise_while_the_earlier_one_is_on_hold_is_told_and_sent_when_it_comes_again() {
    let lost = Fault::new("putCompanyMetadata", FaultKind::AnswerLost).times(1);
    let unread = Fault::new("listCompanyMetadata", FaultKind::GeneralError);
    let bench = Bench::new(Scenario { fault: vec![lost, unread], ..Scenario::default() });
    bench.profile("", "", "");
    let root = bench::root();
    let sheet = |cells: &str| format!("owner_kind,owner,key,value,action\ncompany,{root},tier,{cells}\n");
    bench.write("metadata.csv", &sheet("gold,"));
    bench.fleetload(&["run", "metadata.csv"]).expect_code(8);
    bench.write("metadata.csv", &sheet("silver,"));
    let checked = bench.fleetload(&["check", "metadata.csv", "--json"]).expect_code(0);
    let told = "job 1 is on hold, and the values of the row are not used: value was 'gold', is 'silver' now; decide the job \
                with `fleetload resolve 1`, then import the row again";
    assert!(checked.stdout.contains(told), "{}", checked.stdout);
    let run = bench.fleetload(&["run", "metadata.csv"]).expect_code(8);
    let told = "1 row differs from what was imported earlier; its values are not sent";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    bench.fleetload(&["resolve", "1", "--created", &root, "--unchecked"]).expect_code(0);
    let ending = |import| {
        let row = &bench.results(import)[0];
        (row["status"].clone(), row["code"].clone())
    };
    bench.fleetload(&["report", "2"]).expect_code(0);
    assert_eq!(ending(2), ("done".into(), "row.differs".into()));
    let advice =
        "Import the row again: the outcome of the earlier one was not known then. Type: fleetload run FILE";
    assert_eq!(bench.results(2)[0]["advice"], advice);
    bench.fleetload(&["run", "metadata.csv"]).expect_code(0);
    assert_eq!(ending(3).0, "done");
    let put = |value| bench.ledger().iter().filter(|entry| entry.request["value"] == value).count();
    assert_eq!((put("gold"), put("silver")), (1, 1));
}

#[test]
fn what_became_of_an_update_stays_in_its_report_whatever_later_imports_ask_for() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let root = bench::root();
    let update = |file: &str, column: &str, value: &str| {
        bench.write(file, &format!("action,id,{column}\nupdate,{root},{value}\n"));
    };
    let told = |import| {
        bench.fleetload(&["report", &format!("{import}")]);
        let row = bench.results(import).swap_remove(0);
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (text("status"), text("message"))
    };
    let done = |message: &str| ("done".to_owned(), message.to_owned());
    // Of two rows that are not sent yet both are, if they ask for different fields; of one field the later value is.
    update("phone.csv", "phone,sales_email", "+64 9 555 0999,desk@bench.example");
    bench.fleetload(&["import", "phone.csv", "--kind", "companies"]).expect_code(0);
    update("phone.csv", "phone", "+64 9 555 0888");
    bench.fleetload(&["import", "phone.csv", "--kind", "companies"]).expect_code(0);
    update("name.csv", "name", "Northwind");
    bench.fleetload(&["run", "name.csv", "--kind", "companies"]).expect_code(0);
    let replaced =
        "import 2 asked for something else of the same record before anything was sent for this row";
    let both = "phoneNumber was \"+61 8 5550 0100\", now \"+64 9 555 0888\"; \
                salesEmail was \"sales@northwind.example\", now \"desk@bench.example\"";
    let phone = done(both);
    let name = done("name was \"Northwind Networks\", now \"Northwind\"");
    assert_eq!([told(1), told(2), told(3)], [done(replaced), phone.clone(), name.clone()]);
    let sent = |field: &str| bench.ledger().iter().filter(|entry| !entry.request[field].is_null()).count();
    assert_eq!((sent("phoneNumber"), sent("salesEmail"), sent("name")), (1, 1, 1));

    // Neither another value, nor a refused one, nor an unchanged export changes what is said of it, or its undo.
    update("name.csv", "name", "Westwind");
    bench.fleetload(&["run", "name.csv", "--kind", "companies"]).expect_code(0);
    let refused = Fault::new("updateCompany", FaultKind::InvalidData).times(1);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).expect("a consistent scenario");
    update("phone.csv", "phone", "+64 9 555 0777");
    bench.fleetload(&["run", "phone.csv", "--kind", "companies"]).expect_code(4);
    assert_eq!(bench.statistics().faults_fired["invalid_data"], 1);
    bench.fleetload(&["export", "companies", "--out", "e.csv"]).expect_code(0);
    bench.fleetload(&["run", "e.csv", "--kind", "companies"]);
    let again = done("name was \"Northwind\", now \"Westwind\"");
    assert_eq!([told(2), told(3), told(4)], [phone, name, again]);
    assert_eq!(told(5).0, "rejected");
    bench.fleetload(&["status", "--check"]).expect_code(4);
    let undo = bench.fleetload(&["undo", "2", "--out", "undo.xlsx"]).expect_code(0);
    assert!(undo.stdout.contains("restores what import 2 changed"), "{}", undo.stdout);
    let undo = bench.fleetload(&["undo", "3", "--out", "undo3.xlsx"]).expect_code(4);
    assert!(undo.stdout.contains("import 4 asked about the same again since"), "{}", undo.stdout);

    // A row that asks for less than a rejected one is no correction of it; one that asks for the same is.
    update("phone.csv", "phone", "+64 9 555 0666");
    bench.fleetload(&["run", "phone.csv", "--kind", "companies"]).expect_code(0);
    assert_eq!((told(5).0, told(7).0), ("done".to_owned(), "done".to_owned()));
    bench.fleetload(&["status", "--check"]).expect_code(0);
}

#[test]
fn a_device_whose_mac_address_changed_in_a_row_without_a_key_is_a_warning_before_it_is_made_twice() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    let root = bench::root();
    let sheet = |rows: &[(&str, &str)]| {
        let row = |(name, mac): &(&str, &str)| {
            format!("{root},{name},Edge 100,{mac},+64 9 555 0100,1 High St,Auckland,NZ\n")
        };
        let rows: String = rows.iter().map(row).collect();
        bench.write(
            "devices.csv",
            &format!("company,name,device_model,mac,phone,address1,city,country\n{rows}"),
        );
    };
    let warned = || -> Vec<String> {
        let checked = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(0).stdout;
        checked.lines().filter(|line| line.contains("import 1 has")).map(str::to_owned).collect()
    };
    sheet(&[("Alpha", "58:c1:7b:00:00:01"), ("Bravo", ""), ("Charlie", "58:c1:7b:00:00:03")]);
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert!(warned().is_empty(), "unchanged");
    // One corrected, one filled in; the third row is there as it was, beside another device of its name.
    sheet(&[
        ("Alpha", "58:c1:7b:00:00:11"),
        ("Bravo", "58:c1:7b:00:00:02"),
        ("Charlie", "58:c1:7b:00:00:33"),
        ("Charlie", "58:c1:7b:00:00:03"),
        ("Delta", "58:c1:7b:00:00:04"),
    ]);
    let told = warned();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told.iter().all(|finding| finding.contains("dup.row")), "{told:#?}");
    let words = "import 1 has a device of this name in this company with the MAC address 58:c1:7b:00:00:01 (job 1, created): \
                 this row is another one, which will be created; if both are the same device, take this one out, as the \
                 service can change no MAC address and delete no device";
    assert!(told[0].contains(words), "{told:#?}");
    assert!(told[1].contains("with no MAC address (job 2, created)"), "{told:#?}");
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 7, "it was said, and is done");
    // However many rows of the import itself have that name.
    let macs: Vec<String> = (0x20..0x3a).map(|n| format!("58:c1:7b:00:01:{n:02x}")).collect();
    sheet(&macs.iter().map(|mac| ("Bravo", mac.as_str())).collect::<Vec<_>>());
    let checked = bench.fleetload(&["check", "devices.csv", "--json"]).expect_code(0).stdout;
    let of_bravo = checked.lines().filter(|line| line.contains("has a device of this name in this company"));
    assert_eq!(of_bravo.count(), macs.len());
}

#[test]
fn a_row_whose_company_alone_was_changed_is_a_warning_before_it_is_made_twice() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "", "");
    bench.write("companies.csv", &bench::companies(2));
    bench.write("sites.csv", &bench::sites(2, 1));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    let warned = || -> Vec<String> {
        let checked = bench.fleetload(&["check", "sites.csv", "--json"]).expect_code(0).stdout;
        let findings = checked.lines().filter(|line| line.contains("\"object\":\"finding\""));
        findings.filter(|line| line.contains("dup.row")).map(str::to_owned).collect()
    };
    assert!(warned().is_empty(), "unchanged");
    // The second row is another customer's, whose key happens to be the same.
    let sheet = bench::sites(2, 1).replace("S0,C0,", "S0,C1,").replace("S1,C0,Branch 1,", "S1,C1,Depot,");
    bench.write("sites.csv", &sheet);
    let told = warned();
    let words = "import 1 has a site of this key with the same values in 'Customer 0' (job 3, created): this row is another \
                 one, which will be created; if both are the same, write the company that it had";
    assert!(told.len() == 1 && told[0].contains(words), "{told:#?}");
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    assert_eq!(bench.created("site").len(), 4, "it was said, and is done");
}

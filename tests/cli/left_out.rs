//! Rows that `--skip-invalid` leaves out: they are answered like every other row, and come back with the fix sheet.

use calamine::Data;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook, Worksheet, XlsxError};

use crate::bench::{self, Bench, Outcome, books};
use fleetload::sandbox::{Fault, FaultKind, Scenario};

/// Three companies of which the second has no phone, and sites and devices below all of them.
fn onboarding(bench: &Bench) {
    let companies = bench::companies(3).replace("Customer 1,+64 9 555 0001", "Customer 1,");
    bench.write("companies.csv", &companies);
    bench.write("sites.csv", &bench::sites(6, 3));
    bench.write("devices.csv", &bench::devices(9, 3).replace("00:1a:2b:00:00:03", "00:1a:2b:00:00"));
}

#[test]
fn rows_that_only_came_along_are_to_be_imported_again_and_not_to_be_corrected() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "--skip-invalid"]).expect_code(4);
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    let fixed = fix.replace("\"Customer 1\",\"\"", "\"Customer 1\",\"+64 9 555 0001\"");
    bench.write("companies.csv", &fixed);
    bench.fleetload(&["run", "companies.csv"]).expect_code(4);
    let Outcome { stdout: told, stderr, .. } = bench.fleetload(&["status"]).expect_code(0);
    assert!(stderr.ends_with("to import the rows again: fleetload run reports/1/fix.xlsx\n"), "{stderr}");
    let need = "2 rows of import 1 were not imported because rows that they depend on were not: to import them again, run \
                reports/1/fix.xlsx\n    fleetload run reports/1/fix.xlsx\n";
    assert!(told.contains(need), "{told}");
    let figures =
        bench.fleetload(&["status", "1", "--json"]).expect_code(0).summary()["by_kind"]["sites"].clone();
    let of = ["rows", "done", "skipped", "not_imported"].map(|name| figures[name].clone());
    assert_eq!(of, [6, 4, 0, 2].map(serde_json::Value::from), "{figures}");
}

#[test]
fn an_import_with_rows_that_were_left_out_is_shown_beside_a_row_of_another_one_that_a_person_decided() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::AnswerLost) };
    let bench = Bench::new(Scenario::default().with_fault(lost));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    bench.fleetload(&["resolve", "1", "--abandon"]).expect_code(0);
    let second = bench::companies(3).replace("Customer 1,+64 9 555 0001", "Customer 1,");
    let lines: Vec<&str> = second.lines().collect();
    bench.write("more.csv", &format!("{}\n{}\n{}\n", lines[0], lines[2], lines[3]));
    bench.fleetload(&["run", "more.csv", "--skip-invalid"]).expect_code(4);
    let Outcome { stdout: told, .. } = bench.fleetload(&["status", "2"]).expect_code(0);
    assert!(!told.contains("decided by a person"), "{told}");
    let Outcome { stdout: told, .. } = bench.fleetload(&["status", "1"]).expect_code(0);
    assert!(told.contains("1 row was decided by a person"), "{told}");
}

const FILES: [&str; 4] = ["run", "companies.csv", "sites.csv", "devices.csv"];

#[test]
fn rows_that_are_left_out_are_in_the_report_with_their_reason_and_come_back_with_the_fix_sheet() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    bench.fleetload(&FILES).expect_code(3);
    assert_eq!(bench.ledger().len(), 0, "without a word nothing is left out, and nothing sent");

    let told = bench.fleetload(&[&FILES[..], &["--skip-invalid"]].concat()).expect_code(4);
    assert!(
        told.stdout.contains("18 rows, 11 new, 2 not imported because of errors, and 5 that come with them"),
        "{}",
        told.stdout
    );
    assert!(told.stdout.contains("rows  created  not imported"), "{}", told.stdout);
    // One company and one device have errors; two sites and three devices belong to that company.
    let counts: Vec<_> = bench.counts(1).into_iter().collect();
    assert_eq!(counts, [("created".into(), 11), ("rejected".into(), 2), ("skipped".into(), 5)]);
    bench.assert_exact(1);
    assert_eq!(bench.summary(1)["left_out"], 7);
    assert_eq!(bench.summary(1)["exit_code"], 4);
    let rows = bench.results(1);
    let wrong = rows.iter().find(|row| row["code"] == "cell.required").expect("the company without a phone");
    assert_eq!(wrong["source"], "companies.csv!companies!3");
    assert_eq!(wrong["column"], "phone");
    assert_eq!((&wrong["job"], &wrong["left_out"]), (&serde_json::Value::Null, &true.into()));
    assert!(wrong["advice"].as_str().is_some_and(|advice| advice.contains("fix.xlsx")), "{wrong}");

    let fix = |sheet: &str| {
        std::fs::read_to_string(bench.path(&format!("reports/1/{sheet}.fix.csv"))).expect("a sheet to fix")
    };
    // What belongs to the company comes along, though there is nothing to correct in it: no job was made for it.
    let lines = ["companies", "sites", "devices"].map(|sheet| fix(sheet).lines().count() - 1);
    assert_eq!(lines, [1, 2, 4]);
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("7 rows were not imported: not counted here."), "{page}");

    bench.write(
        "companies.csv",
        &fix("companies").replace("\"Customer 1\",\"\"", "\"Customer 1\",\"+64 9 555 0001\""),
    );
    bench.write("sites.csv", &fix("sites"));
    // The device is still wrong, and comes back a second time.
    bench.write("devices.csv", &fix("devices"));
    bench.fleetload(&[&FILES[..], &["--skip-invalid"]].concat()).expect_code(4);
    let again = std::fs::read_to_string(bench.path("reports/2/devices.fix.csv")).expect("a sheet to fix");
    assert_eq!(again.lines().count() - 1, 1, "{again}");
    // Of the first import nothing is left to be corrected: what is wrong still is in the second.
    assert!(!bench.path("reports/1/fix.xlsx").exists() && !bench.path("reports/1/devices.fix.csv").exists());
    assert_eq!((&bench.summary(1)["to_fix"], &bench.summary(1)["left_out"]), (&0.into(), &1.into()));
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert!(page.contains("<code>fleetload report 2</code>") && !page.contains("run FILE"));
    bench.write("devices.csv", &again.replace("00:1a:2b:00:00\"", "00:1a:2b:00:00:03\""));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    let made = ["company", "site", "device"].map(|kind| bench.created(kind).len());
    assert_eq!(made, [3, 6, 9]);

    // The first report shows what became of every row, also of the device that has neither key nor MAC address.
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.counts(1), [("created".to_owned(), 18)].into());
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    for words in ["18 rows finished in all", "3 companies", "6 sites", "9 devices"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("not counted here"), "{page}");
    assert!(
        page.contains("18 records verified: all there, none duplicated"),
        "those too that came again: {page}"
    );
    assert_eq!(bench.summary(1)["audit"]["checked"], 18);
    let again =
        bench.results(1).into_iter().find(|row| row["source"] == wrong["source"]).expect("the company");
    assert!(
        again["message"].as_str().is_some_and(|words| words.contains("another import has the row")),
        "{again}"
    );
    assert_eq!(bench.statistics().requests.get("addCompany"), Some(&3), "nothing is sent twice");
}

#[test]
fn what_verification_finds_of_a_row_that_came_again_is_in_the_report_that_left_it_out() {
    let vanished = Fault::new("addCompany", FaultKind::Vanished).after(1).times(1);
    let bench = Bench::new(Scenario::default().with_fault(vanished));
    bench.write("companies.csv", &bench::companies(2).replace("+64 9 555 0001", ""));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    bench.fleetload(&["report", "1"]).expect_code(0);
    for import in [1, 2] {
        let summary = bench.summary(import);
        let audit = &summary["audit"];
        let told = (&audit["checked"], &audit["vanished"], &summary["findings_unseen"]);
        assert_eq!(told, (&2.into(), &1.into(), &1.into()), "import {import}");
        let codes = bench.results(import).into_iter().filter(|row| row["code"] == "audit.vanished");
        assert_eq!(codes.count(), 1, "import {import}");
    }
}

#[test]
fn an_import_of_which_every_row_is_left_out_sends_nothing_and_explains_every_row() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2).replace("CUSTOMER", "CLIENT"));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    assert_eq!(bench.ledger().len(), 0);
    assert_eq!(bench.counts(1), [("rejected".to_owned(), 2)].into());
    assert!(bench.results(1).iter().all(|row| row["code"] == "cell.enum" && row["column"] == "company_type"));
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    for words in [
        "Finished; 2 rows were not imported because of errors",
        "correct them in reports/1/fix.xlsx, then run that file:",
        "<code>fleetload run reports/1/fix.xlsx</code>",
        "2 rows not imported",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("fleetload retry") && !page.contains("2 refused") && !page.contains("run FILE"));
    let cause = &bench.summary(1)["causes"][0];
    assert!(cause["meaning"].is_string(), "{cause}");
    assert!(
        cause["advice"].as_str().is_some_and(|advice| advice.ends_with("fleetload run reports/1/fix.xlsx")),
        "{cause}"
    );
}

#[test]
fn rows_that_were_left_out_are_asked_for_by_every_run_of_the_journal_until_they_are_corrected() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2).replacen("CUSTOMER", "CLIENT", 1));
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    let other = bench::companies(3).replace("C0,", "D0,").replace("Customer", "Branch");
    bench.write("others.csv", &other.replace("C1,", "D1,").replace("C2,", "D2,"));
    bench.fleetload(&["run", "others.csv", "--kind", "companies"]).expect_code(0);
    let told = bench.fleetload(&["run"]).expect_code(4);
    assert!(told.stdout.contains("1 row was not imported because of errors"), "{}", told.stdout);
    bench.fleetload(&["status", "--check"]).expect_code(4);
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 5);
}

/// Two imports of which the first has a row that did not get through: one that the service rejected, or one that was left out.
fn failed_and_good(bench: &Bench, is_left_out: bool) {
    let sheet = bench::companies(2);
    bench.write("companies.csv", &if is_left_out { sheet.replacen("CUSTOMER", "CLIENT", 1) } else { sheet });
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    bench.clear_faults();
    let others = bench::companies(3).replace("\nC", "\nD").replace("Customer", "Branch");
    bench.write("others.csv", &others);
    bench.fleetload(&["run", "others.csv", "--kind", "companies"]).expect_code(0);
}

#[test]
fn a_run_of_the_journal_names_the_imports_of_which_rows_failed_and_each_report_has_the_code_of_its_own() {
    for is_left_out in [false, true] {
        let refused = Fault::new("addCompany", FaultKind::InvalidData).times(1);
        let faults = if is_left_out { Scenario::default() } else { Scenario::default().with_fault(refused) };
        let bench = Bench::new(faults);
        failed_and_good(&bench, is_left_out);
        let run = bench.fleetload(&["run", "--json"]).expect_code(4).summary();
        assert_eq!(
            (&run["imports"], &run["failed"]),
            (&serde_json::json!([2]), &serde_json::json!([1])),
            "{run}"
        );
        let status = bench.fleetload(&["status", "--json"]).expect_code(0).summary();
        for field in ["rows", "counts", "left_out"] {
            assert_eq!(run[field], status[field], "{field}: {run}");
        }
        let failures = [&run["left_out"], &run["counts"]["rejected"]];
        assert_eq!(failures, if is_left_out { [1, 0] } else { [0, 1] }, "{run}");
        let read = |file: &str| std::fs::read_to_string(bench.path(file)).expect("a report");
        let files = || ["reports/2/report.html", "reports/2/summary.json"].map(read);
        let written = files();
        assert_eq!(
            (&bench.summary(2)["exit_code"], &bench.summary(2)["reason"]),
            (&0.into(), &"done".into())
        );
        bench.fleetload(&["report", "2"]).expect_code(0);
        assert_eq!(files(), written);
    }
}

#[test]
fn rows_that_were_left_out_are_counted_by_a_run_of_several_imports() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let others = bench::companies(3).replace("\nC", "\nD").replace("Customer", "Branch");
    bench.write("others.csv", &others.replacen("CUSTOMER", "CLIENT", 1));
    let run = ["run", "others.csv", "--kind", "companies", "--skip-invalid", "--json"];
    let run = bench.fleetload(&run).expect_code(4).summary();
    assert_eq!((&run["rows"], &run["left_out"]), (&4.into(), &1.into()), "{run}");
    assert_eq!(
        (&run["imports"], &run["failed"]),
        (&serde_json::json!([1, 2]), &serde_json::json!([2])),
        "{run}"
    );
    let told = bench.fleetload(&["run"]).expect_code(4).stdout;
    assert!(told.contains("rows  created  not imported"), "{told}");
}

#[test]
fn a_fix_sheet_without_a_row_that_is_still_to_be_corrected_ends_with_4_and_says_how_to_cancel_it() {
    let bench = Bench::new(Scenario::default());
    bench.write(
        "companies.csv",
        &bench::companies(3)
            .replace("CUSTOMER,Customer 0", "CLIENT,Customer 0")
            .replace("+64 9 555 0001", ""),
    );
    bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(4);
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    let fix = fix.replace("CLIENT", "CUSTOMER");
    let without_the_second: String = fix.lines().take(2).map(|line| line.to_owned() + "\n").collect();
    bench.write("reports/1/companies.fix.csv", &without_the_second);
    let told = bench.fleetload(&["run", "reports/1/companies.fix.csv"]).expect_code(4);
    assert!(told.stdout.contains("1 row was not imported because of errors"), "{}", told.stdout);
    assert!(told.stderr.contains("fleetload cancel 1"), "{}", told.stderr);
    assert_eq!(bench.summary(2)["exit_code"], 0);
    bench.fleetload(&["status", "--check"]).expect_code(4);

    // Without any row it is no import; it is kept, and not advised to be run.
    let header: String = fix.lines().take(1).map(|line| line.to_owned() + "\n").collect();
    bench.write("reports/1/companies.fix.csv", &header);
    let told = bench.fleetload(&["run", "reports/1/companies.fix.csv"]).expect_code(3);
    assert!(told.stdout.contains("type `fleetload cancel IMPORT`"), "{}", told.stdout);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    let words = "your fix file, which has no row left, is kept in reports/1/companies.fix.edited-2.csv\n";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    bench.fleetload(&["run"]).expect_code(0);
    bench.fleetload(&["status", "--check"]).expect_code(0);
}

#[test]
fn a_fix_sheet_of_a_table_with_semicolons_may_have_its_decimal_commas() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let row = |phone: &str| {
        format!(
            "company;name;phone;address1;city;country;latitude;longitude\nC0;Depot;{phone};1 Weg;Bonn;DE;50,73;7,1\n"
        )
    };
    bench.write("sites.csv", &row("77"));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "--skip-invalid"]).expect_code(4);
    let fix = std::fs::read_to_string(bench.path("reports/1/sites.fix.csv")).expect("the fix sheet");
    assert!(fix.contains("\"50,73\",\"7,1\""), "{fix}");
    bench.write("sites.csv", &fix.replace("77", "+49 228 555 0100"));
    bench.fleetload(&["run", "sites.csv"]).expect_code(0);
    let request = &bench.created("site")[0].request;
    assert_eq!((&request["latitude"], &request["longitude"]), (&50.73.into(), &7.1.into()), "{request}");
}

#[test]
fn a_decimal_comma_where_commas_separate_cells_is_refused_again_in_every_report() {
    let bench = Bench::new(Scenario::default());
    let row = format!("{},Depot,+49 228 555 0100,1 Weg,Bonn,DE,\"1,234\",\"7,1\"\n", bench::root());
    bench.write("sites.csv", &format!("company,name,phone,address1,city,country,latitude,longitude\n{row}"));
    bench.fleetload(&["check", "sites.csv", "--out", "out"]).expect_code(3);
    bench.fleetload(&["run", "sites.csv", "--skip-invalid"]).expect_code(4);
    for file in ["out/sites.checked.xlsx", "reports/1/fix.xlsx", "reports/1/sites.fix.csv"] {
        let told = bench.fleetload(&["check", file]).expect_code(3);
        assert_eq!(told.stdout.matches("error[cell.formula-error]").count(), 2, "{file}: {}", told.stdout);
    }
    let fix = std::fs::read_to_string(bench.path("reports/1/sites.fix.csv")).expect("the fix sheet");
    assert!(fix.contains("'1,234' has a decimal comma"), "{fix}");
}

#[test]
fn a_fix_sheet_of_which_all_rows_were_deleted_keeps_no_other_from_being_imported() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let header = "company,name,device_model,mac,phone,address1,city,country,result_source\n";
    bench.write("devices.csv", header);
    let told = bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    assert!(told.stdout.contains("devices: 0 rows of devices"), "{}", told.stdout);
    bench.fleetload(&["run", "devices.csv"]).expect_code(3);
    bench.write("devices.csv", &header.replace(",result_source", ""));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(3);
}

#[test]
fn corrections_in_a_fix_sheet_outlive_the_next_report_and_are_told_with_the_command_to_run_them() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    bench.fleetload(&[&FILES[..], &["--skip-invalid"]].concat()).expect_code(4);
    let name = "reports/1/devices.fix.csv";
    let ours = std::fs::read_to_string(bench.path(name)).expect("a sheet to fix");
    bench.write(name, &ours.replace("00:1a:2b:00:00\"", "00:1a:2b:00:00:03\""));
    let edited = "reports/1/devices.fix.edited.csv";
    let told = bench.fleetload(&["report", "1"]).expect_code(0);
    let words = format!("your corrections are kept in {edited}: fleetload run {edited}");
    assert!(told.stdout.contains(&words), "{}", told.stdout);
    assert_eq!(std::fs::read_to_string(bench.path(name)).expect("ours"), ours);
    // Of the four devices one was corrected, and three still miss their company.
    bench.fleetload(&["run", edited, "--skip-invalid"]).expect_code(4);
    assert_eq!(bench.counts(1)["created"], 12);

    let report = |n: &str| bench.fleetload(&["report", "1", "--json"]).expect_code(0).stdout.contains(n);
    bench.write(name, &std::fs::read_to_string(bench.path(edited)).expect("theirs"));
    assert!(report(r#""kept":[{"file":"reports/1/devices.fix.edited.csv","imported":true}]"#));
    assert!(report(r#""kept":[]"#));
}

#[test]
fn rows_that_are_left_out_once_more_leave_the_fix_sheets_of_the_import_before() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    bench.fleetload(&[&FILES[..], &["--skip-invalid"]].concat()).expect_code(4);
    let fix = |import: u32| std::fs::read_to_string(bench.path(&format!("reports/{import}/devices.fix.csv")));
    let first = fix(1).expect("a sheet to fix");
    let is_wrong = |line: &&str| line.contains("00:1a:2b:00:00\"");
    let wrong: Vec<&str> = first
        .lines()
        .enumerate()
        .filter(|(at, line)| *at == 0 || is_wrong(line))
        .map(|(_, line)| line)
        .collect();
    assert_eq!(wrong.len(), 2, "{first}");
    // Wrong still, in another way.
    bench.write("devices.csv", &wrong.join("\n").replace("00:1a:2b:00:00\"", "00:1a:2b:00\""));
    let told = bench.fleetload(&["run", "devices.csv", "--skip-invalid"]).expect_code(4);
    let words = "report of import 1: written again, as rows of it were imported again: 1 row to correct, and 5 that \
        come with it in reports/1/fix.xlsx";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    let (before, after) = (fix(1).expect("a sheet to fix"), fix(2).expect("a sheet to fix"));
    assert!(!before.lines().any(|line| is_wrong(&line)), "{before}");
    assert!(after.contains("00:1a:2b:00\"") && after.lines().count() == 2, "{after}");
    // Once: the next run has nothing to say of it.
    let told = bench.fleetload(&["run"]);
    assert!(!told.stdout.contains("written again"), "{}", told.stdout);
}

#[test]
fn the_original_corrected_answers_its_rows_although_they_have_no_keys() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    // Without keys, and two of them without the phone that a site needs.
    let sites: String = bench::sites(4, 2)
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            0 => format!("{line}\n"),
            _ => format!("{}\n", line.replace(&format!("S{},", at - 1), ",")),
        })
        .collect();
    let wrong = sites.replace("+64 9 556 0000", "").replace("+64 9 556 0001", "");
    bench.write("sites.csv", &wrong);
    let run = ["run", "companies.csv", "sites.csv", "--skip-invalid"];
    bench.fleetload(&run).expect_code(4);
    assert_eq!(bench.summary(1)["left_out"], 2);

    // One is corrected; a stranger stands where the other one stood.
    let half = sites.replace("+64 9 556 0001", "").replace("Branch 1,REF-1", "Branch 9,REF-9");
    assert_ne!(half, wrong);
    bench.write("sites.csv", &half);
    bench.fleetload(&run).expect_code(4);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(
        bench.counts(1)["rejected"],
        1,
        "the corrected one is answered, the other one is not by a stranger"
    );

    // The last one comes a third time, and answers for the second only, as that one did for nobody.
    bench.write("sites.csv", &sites.replace("Branch 1,REF-1", "Branch 9,REF-9"));
    bench.fleetload(&run).expect_code(4);
    for (import, rejected) in [(1, 1), (2, 0), (3, 0)] {
        bench.fleetload(&["report", &import.to_string()]);
        assert_eq!(bench.counts(import).get("rejected").copied().unwrap_or(0), rejected, "import {import}");
    }
    let sites = bench.created("site");
    assert_eq!(sites.len(), 4);
}

#[test]
fn the_original_imported_again_shows_what_became_of_the_rows_that_its_fix_sheet_has_corrected() {
    let bench = Bench::new(Scenario::default());
    let original = bench::companies(4)
        .replace("+64 9 555 0001", "")
        .replace("CUSTOMER,Customer 2", "CLIENT,Customer 2")
        .replace(&format!("C3,{}", bench::root()), "C3,C1");
    bench.write("companies.csv", &original);
    let run = ["run", "companies.csv", "--skip-invalid"];
    bench.fleetload(&run).expect_code(4);
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    let fix = fix.replace("\"Customer 1\",\"\"", "\"Customer 1\",\"+64 9 555 0001\"");
    let corrected: String =
        fix.lines().filter(|line| !line.contains("CLIENT")).map(|line| line.to_owned() + "\n").collect();
    bench.write("fix.csv", &corrected);
    bench.fleetload(&["run", "fix.csv"]).expect_code(4);
    assert_eq!(bench.created("company").len(), 3);

    // Rows may have been added above them.
    let (header, rows) = original.split_once('\n').expect("a header");
    bench.write("companies.csv", &format!("{header}\n\n{rows}"));
    let told = bench.fleetload(&run).expect_code(4);
    let words = "import 3, round 3 of import 1: 4 rows, 0 new, 2 known and unchanged, 1 not imported, as an earlier import \
        has it without errors, 1 not imported because of errors\n";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    let need = "  1 row of import 3 was not imported because of errors: correct it in reports/3/fix.xlsx, then run that file\n";
    let status = bench.fleetload(&["status"]).expect_code(0).stdout;
    assert!(status.contains(need) && !status.contains("row of import 1 was"), "{status}");
    let of = |import: u32| {
        let mut rows: Vec<_> = bench
            .results(import)
            .into_iter()
            .map(|row| (row["key"].to_string(), row["status"].to_string(), row["id"].to_string()))
            .collect();
        rows.sort();
        rows
    };
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(of(3), of(1));
    let row = bench.results(3).into_iter().find(|row| row["key"] == "C1").expect("the corrected one");
    let words = "not imported here because of errors; another import has the row, and this is its result";
    assert_eq!((&row["status"], &row["message"]), (&"created".into(), &words.into()));
    let counts: Vec<_> = bench.counts(3).into_iter().collect();
    assert_eq!(counts, [("created".into(), 3), ("rejected".into(), 1)]);

    // A row that asks for something else since is to be corrected.
    bench.write("companies.csv", &original.replace("1 Queen Street", "7 Queen Street"));
    let told = bench.fleetload(&run).expect_code(4);
    let words = "0 new, 2 known and unchanged, 2 not imported because of errors\n";
    assert!(told.stdout.contains(words), "{}", told.stdout);

    bench.write("companies.csv", &original);
    let told = bench.fleetload(&[&["plan"], &run[1..]].concat()).expect_code(0);
    for words in
        ["1 row was not imported because of errors", "1 row is not imported, as an earlier import has it"]
    {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    bench.fleetload(&run).expect_code(4);
    let told = bench.fleetload(&["cancel", "5"]).expect_code(0);
    let words = "1 row of import 5 cancelled, which was not imported because of errors\n";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    let states: Vec<_> = of(5).into_iter().map(|(_, state, _)| state).collect();
    assert_eq!(states, ["\"created\"", "\"created\"", "\"cancelled\"", "\"created\""]);
    assert_eq!(bench.statistics().requests.get("addCompany"), Some(&3), "nothing is sent twice");
}

#[test]
fn the_original_of_which_every_wrong_row_was_corrected_is_finished_when_it_comes_again() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    let run = [&FILES[..], &["--skip-invalid"]].concat();
    bench.fleetload(&run).expect_code(4);
    let mut sheets = books::read(&bench.path("reports/1/fix.xlsx"));
    for sheet in &mut sheets[1..] {
        let (wrong, right) = match sheet.name.as_str() {
            "companies" => ("phone", "+64 9 555 0001"),
            "devices" => ("mac", "00:1a:2b:00:00:03"),
            _ => continue,
        };
        let (column, result) = (sheet.column(wrong), sheet.column("result_column"));
        for row in sheet.rows.iter_mut().skip(1).filter(|row| row[result] == Data::String(wrong.into())) {
            row[column] = Data::String(right.to_owned());
        }
    }
    books::write(&bench.path("fix.xlsx"), &sheets);
    bench.fleetload(&["run", "fix.xlsx"]).expect_code(0);
    bench.fleetload(&run).expect_code(0);
    assert_eq!(bench.counts(3), [("created".to_owned(), 18)].into());
    assert!(!bench.path("reports/3/fix.xlsx").exists());
    bench.fleetload(&["status", "--check"]).expect_code(0);
}

#[test]
fn a_fix_sheet_may_refer_to_a_row_by_the_key_that_its_own_import_had_for_it() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.write("companies.csv", &bench::companies(1).replace("C0,", "K0,"));
    let sites = bench::sites(2, 1).replace(",C0,", ",K0,");
    bench.write("sites.csv", &sites.replace("+64 9 556 0001", ""));
    let told = bench.fleetload(&["run", "companies.csv", "sites.csv", "--skip-invalid"]).expect_code(4);
    let words = "unchanged since an earlier import, which knows it by the key 'c0'; its key stays that, and later sheets \
        may refer to it by either\n";
    assert!(told.stdout.contains(words), "{}", told.stdout);
    let fix = std::fs::read_to_string(bench.path("reports/2/sites.fix.csv")).expect("a sheet to fix");
    assert!(fix.contains("\"K0\""), "{fix}");
    bench.write("reports/2/sites.fix.csv", &fix.replace("\"REF-1\",\"\"", "\"REF-1\",\"+64 9 556 0001\""));
    bench.fleetload(&["run", "reports/2/sites.fix.csv"]).expect_code(0);
    let companies: Vec<_> =
        bench.created("site").iter().map(|site| site.request["companyId"].clone()).collect();
    assert!(companies.len() == 2 && companies[0] == companies[1], "{companies:?}");
}

#[test]
fn rows_that_nobody_wants_are_given_up_and_asked_for_no_more() {
    let bench = Bench::new(Scenario::default());
    onboarding(&bench);
    bench.fleetload(&[&FILES[..], &["--skip-invalid"]].concat()).expect_code(4);
    let told = bench.fleetload(&["status"]).expect_code(0);
    assert!(told.stdout.contains("fix.xlsx"), "{}", told.stdout);

    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(
        told.stdout.contains("7 rows of import 1 cancelled, 7 of them not imported because of errors"),
        "{}",
        told.stdout
    );
    let told = bench.fleetload(&["status"]).expect_code(0);
    assert!(!told.stdout.contains("fix.xlsx") && !told.stdout.contains("correct"), "{}", told.stdout);
    let told = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(
        told.stdout.contains("nothing to cancel: no row of import 1 is waiting or to be corrected"),
        "{}",
        told.stdout
    );

    bench.fleetload(&["report", "1"]).expect_code(0);
    let counts: Vec<_> = bench.counts(1).into_iter().collect();
    assert_eq!(counts, [("cancelled".into(), 7), ("created".into(), 11)], "every row is still answered");
    assert_eq!((&bench.summary(1)["left_out"], &bench.summary(1)["to_fix"]), (&0.into(), &0.into()));
    assert!(!bench.path("reports/1/fix.xlsx").exists(), "nothing is left to be corrected");
    let rows = bench.results(1);
    let wrong = rows.iter().find(|row| row["source"] == "companies.csv!companies!3").expect("the company");
    assert_eq!((&wrong["code"], &wrong["left_out"]), (&"cancelled".into(), &true.into()));
    let message = wrong["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("cancelled by ") && message.contains("it was not imported: "), "{message}");
    for row in rows.iter().filter(|row| row["status"] == "cancelled") {
        let advice = row["advice"].as_str().unwrap_or_default();
        assert!(advice.starts_with("It stays cancelled as long as it is unchanged. "), "{advice}");
    }

    // Whoever wants them after all corrects the sheet and runs it.
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(9, 3));
    bench.fleetload(&FILES).expect_code(0);
    bench.fleetload(&["report", "1"]).expect_code(0);
    assert_eq!(bench.counts(1).into_iter().collect::<Vec<_>>(), [("created".to_owned(), 18)]);
}

#[test]
fn what_is_wrong_with_a_whole_sheet_is_named_where_leaving_out_rows_does_not_help() {
    let bench = Bench::new(Scenario::default());
    bench.write(
        "companies.csv",
        &bench::companies(3).replace("phone", "telefone number").replace("Customer 1", ""),
    );
    let told = bench.fleetload(&["run", "companies.csv", "--skip-invalid"]).expect_code(3).stderr;
    let hint = "it does not help if a whole file or sheet is wrong: header.required-missing, header.unknown";
    assert!(told.contains(hint), "{told}");
    assert_eq!(bench.ledger().len(), 0);
    let told = bench.fleetload(&["run", "companies.csv"]).expect_code(3).stderr;
    assert!(!told.contains("left out"), "nobody asked for it: {told}");
}

/// Writes a cell that is refused for what it is, and not for its text.
type WriteCell = fn(&mut Worksheet, u32, u16) -> Result<&mut Worksheet, XlsxError>;

fn date(sheet: &mut Worksheet, row: u32, column: u16) -> Result<&mut Worksheet, XlsxError> {
    let date = ExcelDateTime::from_ymd(2026, 5, 2)?;
    sheet.write_datetime_with_format(row, column, date, &Format::new().set_num_format("yyyy-mm-dd"))
}

/// Such cells: the code, the column, how the cell is written, and what is meant by it.
const REFUSED_FOR_THEIR_KIND: [(&str, &str, WriteCell, &str); 10] = [
    (
        "cell.numeric-identifier",
        "mac",
        |sheet, row, at| sheet.write_number(row, at, 1e11),
        "00:1A:2B:00:01:00",
    ),
    (
        "cell.numeric-identifier",
        "mac",
        |sheet, row, at| sheet.write_number(row, at, 112_233_445_566.0),
        "00:1A:2B:00:01:01",
    ),
    (
        "cell.numeric-identifier",
        "phone",
        |sheet, row, at| sheet.write_number(row, at, 12_345),
        "+64 9 555 0101",
    ),
    ("cell.precision-lost", "postcode", |sheet, row, at| sheet.write_number(row, at, 1e17 / 3.0), "1010"),
    ("cell.date-unexpected", "phone", date, "+64 9 555 0102"),
    ("cell.date-unexpected", "meta:since", date, "May"),
    ("cell.bool-unexpected", "meta:since", |sheet, row, at| sheet.write_boolean(row, at, true), "May"),
    (
        "cell.formula-no-value",
        "labels",
        |sheet, row, at| sheet.write_formula(row, at, Formula::new("=\"till\"").set_result("")),
        "till",
    ),
    (
        "cell.formula-error",
        "city",
        |sheet, row, at| sheet.write_formula(row, at, Formula::new("=NA()").set_result("#N/A")),
        "Leeds",
    ),
    (
        "cell.merged-covered",
        "city",
        |sheet, row, at| sheet.merge_range(row, at - 1, row, at, "1 Quay St", &Format::new()),
        "Leeds",
    ),
];

const REFUSED_HEADER: [&str; 12] = [
    "key",
    "company",
    "name",
    "device_model",
    "mac",
    "phone",
    "address1",
    "city",
    "postcode",
    "country",
    "labels",
    "meta:since",
];

/// A workbook of devices with one right row and one for each of these cells.
fn refused_for_their_kind(bench: &Bench) {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("Devices").expect("a name");
    for (row, at) in (0..=REFUSED_FOR_THEIR_KIND.len()).zip(0_u32..) {
        let wrong = row.checked_sub(1).map(|row| &REFUSED_FOR_THEIR_KIND[row]);
        for (name, column) in REFUSED_HEADER.iter().zip(0_u16..) {
            if at == 0 {
                sheet.write_string(0, column, *name).expect("a cell");
            }
            if wrong.is_some_and(|(_, wrong, ..)| wrong == name) {
                continue;
            }
            let text = match *name {
                "key" => format!("D{at}"),
                "company" => bench::root(),
                "name" => format!("Device {at}"),
                "device_model" => "Edge 100".to_owned(),
                "mac" => format!("00:1A:2B:00:00:{at:02}"),
                "phone" => "+64 9 555 0100".to_owned(),
                "address1" => "1 Quay St".to_owned(),
                "city" => "Auckland".to_owned(),
                "country" => "New Zealand".to_owned(),
                _ => continue,
            };
            sheet.write_string(at + 1, column, text).expect("a cell");
        }
        if let Some((_, name, write, _)) = wrong {
            let column = REFUSED_HEADER.iter().position(|known| known == name).expect("a column");
            write(sheet, at + 1, u16::try_from(column).expect("a few columns")).expect("a cell");
        }
    }
    book.save(bench.path("devices.xlsx")).expect("a workbook");
}

/// The code and the column of every row of an import that was refused, by its key.
fn refused(bench: &Bench, import: u32) -> Vec<(String, String)> {
    let rows = bench.results(import).into_iter().filter(|row| row["status"] == "rejected");
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    rows.map(|row| (text(&row["code"]), text(&row["column"]))).collect()
}

/// Copies reports of import 1 to `again-…`, to be run as they are.
fn copy_to_run_again(bench: &Bench, reports: &[&str]) {
    for report in reports {
        let copy = bench.path(&format!("again-{report}"));
        std::fs::copy(bench.path(&format!("reports/1/{report}")), copy).expect("a copy");
    }
}

#[test]
fn a_cell_that_is_refused_for_its_kind_is_refused_in_every_report_until_it_is_corrected() {
    let bench = Bench::new(Scenario::default());
    refused_for_their_kind(&bench);
    bench.fleetload(&["run", "devices.xlsx", "--skip-invalid"]).expect_code(4);
    assert_eq!(bench.created("device").len(), 1);
    let codes: Vec<(&str, &str)> =
        REFUSED_FOR_THEIR_KIND.iter().map(|(code, column, ..)| (*code, *column)).collect();
    let first = refused(&bench, 1);
    assert_eq!(first.iter().map(|(code, column)| (&**code, &**column)).collect::<Vec<_>>(), codes);

    // Nothing was corrected: nothing is created, whichever report is run, and the same cells are refused.
    let reports = ["fix.xlsx", "results.xlsx", "Devices.fix.csv", "Devices.results.csv"];
    copy_to_run_again(&bench, &reports);
    for (import, report) in (2..).zip(reports) {
        let file = format!("again-{report}");
        bench.fleetload(&["run", &file, "--kind", "devices", "--skip-invalid"]).expect_code(4);
        let columns: Vec<String> = refused(&bench, import).into_iter().map(|(_, column)| column).collect();
        assert_eq!(columns, codes.iter().map(|(_, column)| *column).collect::<Vec<_>>(), "{report}");
        assert_eq!(bench.created("device").len(), 1, "{report}");
    }

    let mut sheets = books::read(&bench.path("again-fix.xlsx"));
    let sheet = sheets.last_mut().expect("the devices");
    for (row, (_, name, _, meant)) in REFUSED_FOR_THEIR_KIND.iter().enumerate() {
        let column = sheet.column(name);
        sheet.rows[row + 1][column] = Data::String((*meant).to_owned());
    }
    books::write(&bench.path("corrected.xlsx"), &sheets);
    bench.fleetload(&["run", "corrected.xlsx"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 1 + REFUSED_FOR_THEIR_KIND.len());
    let sent: Vec<String> = bench.ledger().iter().map(|entry| entry.request.to_string()).collect();
    for (code, _, _, meant) in &REFUSED_FOR_THEIR_KIND {
        let is_sent = sent.iter().any(|request| request.to_lowercase().contains(&meant.to_lowercase()));
        assert!(is_sent, "{code}: {sent:?}");
    }
}

#[test]
fn a_cell_whose_kind_is_denied_is_refused_in_every_report_until_it_is_corrected() {
    let bench = Bench::new(Scenario::default());
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("Companies").expect("a name");
    let companies = bench::companies(3);
    for (row, line) in (0..).zip(companies.lines()) {
        for (column, text) in (0..).zip(line.split(',')) {
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    let phone = companies.lines().next().expect("a header").split(',').position(|name| name == "phone");
    let phone = u16::try_from(phone.expect("a column")).expect("a few columns");
    // A number that may have lost a zero: a warning, unless it is denied.
    sheet.write_number(2, phone, 95_550_151).expect("a cell");
    book.save(bench.path("companies.xlsx")).expect("a workbook");
    let strictly = ["--skip-invalid", "--deny", "cell.numeric-identifier"];
    bench.fleetload(&[&["run", "companies.xlsx"], &strictly[..]].concat()).expect_code(4);
    let expected = [("cell.numeric-identifier".to_owned(), "phone".to_owned())];
    assert_eq!(refused(&bench, 1), expected);

    let reports = ["fix.xlsx", "results.xlsx", "Companies.fix.csv", "Companies.results.csv"];
    copy_to_run_again(&bench, &reports);
    for (import, report) in (2..).zip(reports) {
        let file = format!("again-{report}");
        bench.fleetload(&[&["run", &file, "--kind", "companies"], &strictly[..]].concat()).expect_code(4);
        assert_eq!(refused(&bench, import).len(), 1, "{report}");
        assert_eq!(bench.created("company").len(), 2, "{report}: nothing was corrected");
    }
    let mut sheets = books::read(&bench.path("again-fix.xlsx"));
    let sheet = sheets.last_mut().expect("the companies");
    let column = sheet.column("phone");
    sheet.rows[1][column] = Data::String("+64 9 555 0151".to_owned());
    books::write(&bench.path("corrected.xlsx"), &sheets);
    bench.fleetload(&[&["run", "corrected.xlsx"], &strictly[1..]].concat()).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
}

#[test]
fn a_phone_that_is_a_date_and_a_link_to_another_address_are_refused_until_they_are_corrected() {
    let bench = Bench::new(Scenario::default());
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("People").expect("a name");
    let people = bench::people(3, 1).replace("C0,", &format!("{},", bench::root()));
    for (row, line) in (0..).zip(people.lines()) {
        let phone = if row == 0 { "phone" } else { "+64 9 555 0100" };
        for (column, text) in (0..).zip(line.split(',').chain([phone])) {
            sheet.write_string(row, column, text).expect("a cell");
        }
    }
    date(sheet, 2, 11).expect("a date");
    sheet.write_url_with_text(3, 6, "mailto:ann@bench.example", "user2@bench.example").expect("a link");
    book.save(bench.path("people.xlsx")).expect("a workbook");
    bench.fleetload(&["run", "people.xlsx", "--skip-invalid"]).expect_code(4);
    let expected = [("cell.date-unexpected", "phone"), ("cell.email", "email")];
    assert_eq!(refused(&bench, 1), expected.map(|(code, column)| (code.to_owned(), column.to_owned())));

    bench.fleetload(&["run", "reports/1/fix.xlsx", "--skip-invalid"]).expect_code(4);
    let columns: Vec<String> = refused(&bench, 2).into_iter().map(|(_, column)| column).collect();
    assert_eq!(columns, ["phone", "email"]);
    assert_eq!(bench.created("person").len(), 1);

    let mut sheets = books::read(&bench.path("reports/2/fix.xlsx"));
    let sheet = sheets.last_mut().expect("the people");
    for (row, name, meant) in [(1, "phone", "+64 9 555 0101"), (2, "email", "user2@bench.example")] {
        let column = sheet.column(name);
        sheet.rows[row][column] = Data::String(meant.to_owned());
    }
    books::write(&bench.path("corrected.xlsx"), &sheets);
    bench.fleetload(&["run", "corrected.xlsx"]).expect_code(0);
    let created = bench.created("person");
    let is_sent =
        |field: &str, value: &str| created.iter().filter(|person| person.request[field] == value).count();
    assert_eq!((created.len(), is_sent("phoneNumber", "+64 9 555 0101")), (3, 1));
    assert_eq!(is_sent("email", "user2@bench.example"), 1);
}

#[test]
fn a_row_that_was_not_cut_into_cells_as_it_should_be_is_refused_until_each_is_in_its_column() {
    let bench = Bench::new(Scenario::default());
    let good = bench::devices(4, 1).replace("C0,", &format!("{},", bench::root()));
    let rows: Vec<&str> = good.lines().collect();
    let name = |row: usize| format!(",Till {row},");
    assert!((0..4).all(|row| rows[row + 1].contains(&name(row))), "{good}");
    let few = rows[1].rsplit_once(',').expect("cells").0.to_owned();
    let many = rows[2].replace(&name(1), ",Till, 1,");
    let stray = rows[3].replace(&name(2), ",\"Till\" 2,");
    let inside = rows[4].replace(&name(3), ",Till \"3,");
    let right: String =
        (10..16).map(|row| rows[1].replace("Till 0", &format!("Till {row}")) + "\n").collect();
    let right = right
        .lines()
        .enumerate()
        .map(|(at, line)| line.replace("00:1a:2b:00:00:00", &format!("00:1a:2b:00:01:0{at}")) + "\n")
        .collect::<String>();
    bench.write("devices.csv", &format!("{}\n{right}{few}\n{many}\n{stray}\n{inside}\n", rows[0]));
    bench.fleetload(&["run", "devices.csv", "--skip-invalid"]).expect_code(4);
    assert_eq!((refused(&bench, 1).len(), bench.created("device").len()), (4, 6));
    let reports = ["fix.xlsx", "devices.fix.csv", "results.xlsx", "devices.results.csv"];
    copy_to_run_again(&bench, &reports);
    for (import, report) in (2..).zip(reports) {
        let file = format!("again-{report}");
        bench.fleetload(&["run", &file, "--kind", "devices", "--skip-invalid"]).expect_code(4);
        assert_eq!((refused(&bench, import).len(), bench.created("device").len()), (4, 6), "{report}");
    }
    bench.write("devices.csv", &format!("{}\n{}\n", rows[0], rows[1..].join("\n")));
    bench.fleetload(&["run", "devices.csv"]).expect_code(0);
    assert_eq!(bench.created("device").len(), 10);
}

//! The commands as a person meets them: what they say, what they leave alone, and their exit codes.

use std::collections::BTreeMap;
use std::process::Stdio;

use crate::bench::{self, Bench};
use fleetload::journal::Journal;
use fleetload::sandbox::{ClientEntry, Fault, FaultKind, Scenario};
use serde_json::Value;

/// The objects of an output with `--json`.
fn objects(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).expect("one JSON object a line")).collect()
}

fn last(output: &str) -> Value {
    objects(output).pop().expect("a summary")
}

#[test]
fn doctor_shows_every_setting_with_its_origin_and_creates_nothing() {
    let bench = Bench::new(Scenario::default());
    let outcome = bench.fleetload(&["doctor"]).expect_code(0);
    for words in ["fleetload.toml, line 2", "(not shown)", "client_secret_file", "the service gave a token"] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains(bench::SECRET));
    let asked = bench.statistics().requests;
    assert!(asked.keys().all(|name| ["auth", "get", "find", "list"].iter().any(|p| name.starts_with(p))));
    assert!(asked.len() > 10, "the look-ups were tried: {asked:?}");
    assert!(bench.ledger().is_empty());
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn doctor_says_that_credentials_are_wrong_and_that_a_mapped_look_up_is_not_there() {
    let only = ClientEntry { id: "somebody".to_owned(), secret: "else".to_owned() };
    let bench = Bench::new(Scenario { client: vec![only], ..Scenario::default() });
    let outcome = bench.fleetload(&["doctor"]).expect_code(7);
    assert!(outcome.stdout.contains("wrong  credentials"), "{}", outcome.stdout);
    let told = bench.fleetload(&["doctor", "--json"]).expect_code(7);
    assert_eq!(last(&told.stdout)["reason"], "credentials");

    let bench = Bench::new(Scenario::default());
    bench.profile("[profile.bench.endpoints.getSite]\npath = \"/elsewhere/{id}\"", "", "");
    let outcome = bench.fleetload(&["doctor"]).expect_code(7);
    assert!(outcome.stdout.contains("endpoints.getSite"), "{}", outcome.stdout);
}

/// What the doctor says of each operation, by its name.
fn operations(output: &str) -> BTreeMap<String, Value> {
    let told = objects(output).into_iter().filter(|object| object["object"] == "operation");
    told.map(|object| (object["operation"].as_str().expect("a name").to_owned(), object)).collect()
}

#[test]
fn doctor_tries_every_operation_that_only_reads_with_records_that_exist() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(1, 1));
    bench.write("people.csv", &bench::people(1, 1));
    let devices =
        bench::devices(1, 1).replace("company,name,", "company,site,labels,meta:floor,vpn_clouds,name,");
    let cloud = fleetload::sandbox::VPN_CLOUDS[0];
    bench.write("devices.csv", &devices.replace("\nC0,", &format!("\nC0,S0,till,2,{cloud},")));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    let before = bench.ledger().len();
    for options in [&["doctor", "--json"][..], &["doctor", "--json", "--company", "Customer 0"]] {
        let told = bench.fleetload(options).expect_code(0);
        let operations = operations(&told.stdout);
        assert_eq!(operations.len(), 81);
        let reads = operations.values().filter(|operation| operation["method"] == "GET");
        let (mut answered, mut with_data) = (0, 0);
        for operation in reads {
            let of_company = options.len() > 2;
            assert_eq!(operation["answers"], true, "{operation}");
            answered += 1;
            with_data += u32::from(operation["tried"] == "answers");
            let nothing = ["Interface", "SiteLabel", "SiteMetadata", "CompanyMetadata"];
            let name = operation["operation"].as_str().expect("a name");
            let none = nothing.iter().any(|part| name.contains(part)) && name != "listInterfaces"
                || ["getChildCompanies", "listOwnAssignableTemplates", "listAssignedTemplates"]
                    .contains(&name);
            assert_eq!(operation["tried"] == "answers", !none, "{of_company} {operation}");
        }
        assert_eq!((answered, with_data), (48, 37));
        let changes = operations.values().filter(|operation| operation["method"] == "POST");
        assert!(
            changes.clone().count() > 30 && changes.into_iter().all(|operation| operation["tried"].is_null())
        );
    }
    assert_eq!(bench.ledger().len(), before, "nothing was changed");
    let unknown = bench.fleetload(&["doctor", "--company", "Custome"]).expect_code(2);
    assert!(unknown.stdout.contains("no company is named exactly 'Custome'"), "{}", unknown.stdout);
}

#[test]
fn doctor_says_which_look_ups_fail_about_a_record_that_is_there_and_that_a_company_is_not() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(1));
    bench.write("devices.csv", &bench::devices(1, 1));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    for kind in [FaultKind::GeneralError, FaultKind::InvalidData, FaultKind::NoDataFound] {
        let faults = vec![Fault::new("lookups", kind)];
        bench.sandbox().change(|scenario| scenario.fault = faults).expect("a consistent scenario");
        let told = bench.fleetload(&["doctor", "--json"]).expect_code(0).stdout;
        let operations = operations(&told);
        for operation in ["getCompany", "getDevice"] {
            assert_eq!(operations[operation]["answers"], false, "{kind:?} {operation}");
        }
        // A list may have no entries.
        assert_eq!(operations["listDeviceLabels"]["answers"], kind == FaultKind::NoDataFound, "{kind:?}");
        let told = bench.fleetload(&["doctor"]).expect_code(0).stdout;
        let code = match kind {
            FaultKind::GeneralError => "generalError",
            FaultKind::InvalidData => "invalidData",
            _ => "noDataFound",
        };
        let line =
            told.lines().find(|line| line.contains("       getDevice (documented): ")).expect("a line");
        assert!(line.contains(code), "{line}");
    }
    bench.clear_faults();
    let none = "6f1c2a3e-0000-4000-8000-000000000099";
    let told = bench.fleetload(&["doctor", "--company", none]).expect_code(2).stdout;
    let wrong = format!("wrong  company: --company: the service has no company with the id {none}");
    assert!(told.contains(&wrong), "{told}");
}

#[test]
fn doctor_shows_what_has_no_known_path_and_what_it_is_needed_for() {
    let bench = Bench::new(Scenario::default());
    bench.profile("paths = \"documented\"", "", "");
    let told = bench.fleetload(&["doctor"]).expect_code(0).stdout;
    for words in [
        "operations of access and companies: 5 of 8 have no known path; 1 of the 5 that only read answer",
        "listCompanyTreeDeviceFullStatuses (rollout, one request for each company)",
        "operations of licences: 1 of 1 have no known path",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let groups: Vec<&str> = told.lines().skip_while(|line| !line.contains("operations of")).collect();
    insta::assert_snapshot!(groups.join("\n"));
    let told = bench.fleetload(&["doctor", "-v"]).expect_code(0).stdout;
    let line = "getDevice (documented): answers a question about nothing; needed for verifying records";
    assert!(told.contains(line), "{told}");
    // A look-up that is mapped to the wrong place is told with its group as well.
    // One that is mapped to a method that may change something is not tried.
    bench.profile(
        "[profile.bench.endpoints.getVpnRoutes]\npath = \"/elsewhere/{deviceId}\"\n\
         [profile.bench.endpoints.getTunnelStatus]\nmethod = \"POST\"\npath = \"/tunnels/{deviceId}\"",
        "",
        "",
    );
    let told = bench.fleetload(&["doctor", "--json"]).expect_code(7);
    let operations = operations(&told.stdout);
    assert_eq!(operations["getVpnRoutes"]["tried"], "the service answers 404");
    assert_eq!(operations["getTunnelStatus"]["tried"], "not tried: mapped to POST");
    assert_eq!(bench.requests("getTunnelStatus"), 0);
}

#[test]
fn doctor_writes_the_keys_of_the_operations_that_are_not_documented_and_replaces_no_file() {
    let bench = Bench::new(Scenario::default());
    let told = bench.fleetload(&["doctor", "--write-endpoints", "endpoints.toml"]).expect_code(0).stdout;
    assert!(told.contains("75 operations to complete: endpoints.toml"), "{told}");
    let text = std::fs::read_to_string(bench.path("endpoints.toml")).expect("the file");
    assert_eq!(text.matches("\n# [profile.bench.endpoints.").count(), 75);
    let refused = bench.fleetload(&["doctor", "--write-endpoints", "endpoints.toml"]).expect_code(2);
    assert!(refused.stderr.contains("already exists and is not replaced"), "{}", refused.stderr);

    // Without the marks it is a part of a profile that works.
    let lines = text.lines().filter_map(|line| line.strip_prefix("# "));
    let keys: Vec<&str> = lines.filter(|line| line.starts_with('[') || line.contains(" = \"")).collect();
    bench.profile("paths = \"documented\"", "", "");
    let profile = std::fs::read_to_string(bench.path("fleetload.toml")).expect("the profile");
    bench.write("fleetload.toml", &format!("{profile}{}\n", keys.join("\n")));
    let told = bench.fleetload(&["doctor", "--json"]).expect_code(0).stdout;
    assert!(operations(&told).values().all(|operation| operation["origin"] != "unavailable"));
    assert!(
        operations(&told)
            .values()
            .filter(|operation| operation["method"] == "GET")
            .all(|o| o["answers"] == true)
    );
}

#[test]
fn check_tells_every_problem_as_an_object_and_sends_nothing() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3).replace("CUSTOMER,Customer 1", "PARTNER,Customer 1"));
    let outcome = bench.fleetload(&["check", "companies.csv", "--json"]).expect_code(3);
    let summary = last(&outcome.stdout);
    assert_eq!((&summary["object"], &summary["exit_code"]), (&"summary".into(), &3.into()));
    assert_eq!(summary["found"]["errors"], 1);
    assert_eq!(summary["files"][0]["name"], "companies.csv");
    let found: Vec<_> =
        objects(&outcome.stdout).into_iter().filter(|object| object["severity"] == "error").collect();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["code"], &found[0]["cell"]), (&"cell.enum".into(), &"C3".into()));
    assert!(bench.statistics().requests.is_empty());
    assert!(!bench.path("fleetload.db").exists());
    bench.fleetload(&["run", "companies.csv"]).expect_code(3);
    assert!(bench.statistics().requests.is_empty());
}

#[test]
fn plan_says_what_is_unavailable_and_how_long_the_quota_takes() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(30));
    bench.write("sites.csv", &bench::sites(20, 30));
    let arguments = ["plan", "companies.csv", "sites.csv", "--json"];
    bench.profile("", "daily_quota = 20\nrate = 50", "");
    let summary = last(&bench.fleetload(&arguments).expect_code(0).stdout);
    assert_eq!(summary["plan"]["creations"], 50);
    assert_eq!(summary["plan"]["days"], 3);
    bench.profile("paths = \"documented\"", "", "");
    let outcome = bench.fleetload(&arguments).expect_code(2);
    assert!(outcome.stderr.contains("[profile.NAME.endpoints.addSite]"), "{}", outcome.stderr);
    assert!(bench.statistics().requests.is_empty(), "a plan asks nobody");
    assert!(!bench.path("fleetload.db").exists(), "a plan leaves no journal");
}

#[cfg(unix)]
#[test]
fn a_secret_that_others_can_read_is_refused_before_anything_is_imported() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    std::fs::set_permissions(bench.path("secret"), std::fs::Permissions::from_mode(0o644)).expect("own file");
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(2);
    assert!(outcome.stderr.contains("chmod 600"), "{}", outcome.stderr);
    assert!(!bench.path("fleetload.db").exists());
}

#[test]
fn a_second_run_of_a_journal_leaves_its_rows_to_the_first() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let journal = Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    let lock = journal.lock_for_run().expect("a lock file").expect("nobody else runs it");
    bench.write("more.csv", &bench::companies(5));
    let outcome = bench.fleetload(&["run", "more.csv", "--kind", "companies"]).expect_code(5);
    assert!(outcome.stdout.contains("another run of this journal is at work"), "{}", outcome.stdout);
    assert_eq!(journal.tally(None).expect("a tally").total(), 5, "its rows are in the journal");
    drop(lock);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 5);
}

#[test]
fn a_second_run_of_an_account_with_another_journal_is_refused_and_told_who_has_it() {
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = Bench::new(Scenario::default().with_fault(stall));
    bench.write("companies.csv", &bench::companies(1));
    let mut first = bench.start(&["run", "companies.csv", "--json"]);
    first.hears(&["\"progress\""]);
    let outcome = bench.fleetload(&["run", "companies.csv", "--journal", "other.db"]).expect_code(6);
    let process = format!("(process {})", first.id());
    assert!(outcome.stderr.contains(&process), "{process}: {}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_lets_what_is_under_way_come_home_and_a_later_run_finishes() {
    let slow = Scenario { latency_ms: [20, 40], ..Scenario::default() };
    let bench = Bench::new(slow);
    // A minute's work, whatever the machine.
    bench.profile("", "rate = 1", "");
    bench.write("companies.csv", &bench::companies(60));
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.hears(&["\"created\"", "\"moved\""]);
    run.signal("-INT");
    let summary = last(&run.ended().expect_code(5).stdout);
    assert_eq!((&summary["state"], &summary["reason"]), (&"stopped".into(), &"signal".into()));
    assert_eq!(summary["counts"]["sending"], 0, "everything under way came home");
    bench.fleetload(&["run", "--rate", "unlimited"]).expect_code(0);
    bench.assert_exact(1);
}

#[test]
fn a_held_row_is_shown_with_the_commands_that_decide_it_and_goes_on_when_it_is_decided() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::RequestLost) };
    let bench = Bench::new(Scenario::default().with_fault(lost));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(8);
    let finished_at = || {
        let summary = std::fs::read_to_string(bench.path("reports/1/summary.json")).expect("a summary");
        serde_json::from_str::<serde_json::Value>(&summary).expect("JSON")["finished_at"].is_string()
    };
    assert!(!finished_at(), "an import is not finished while a row is on hold");
    let status = bench.fleetload(&["status", "--json"]).expect_code(0);
    let held: Vec<_> =
        objects(&status.stdout).into_iter().filter(|object| object["object"] == "held").collect();
    assert_eq!(held.len(), 1);
    let job = held[0]["job"].as_i64().expect("a job").to_string();
    let status = bench.fleetload(&["status"]).expect_code(0);
    assert!(status.stderr.contains(&format!("fleetload resolve {job} --not-created")), "{}", status.stderr);
    bench.fleetload(&["resolve", &job, "--not-created"]).expect_code(0);
    bench.fleetload(&["run"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    assert!(finished_at());
    bench.assert_exact(1);
}

#[test]
fn a_cancelled_import_is_not_sent() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let outcome = bench.fleetload(&["cancel", "7"]).expect_code(2);
    assert!(outcome.stderr.contains("the journal has no import 7"), "{}", outcome.stderr);
    let outcome = bench.fleetload(&["cancel", "1"]).expect_code(0);
    assert!(outcome.stdout.contains("3 rows of import 1 cancelled"), "{}", outcome.stdout);
    bench.fleetload(&["run"]).expect_code(0);
    assert!(bench.statistics().requests.is_empty());
}

#[test]
fn a_row_of_two_imports_is_counted_once_at_the_end_of_a_run() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let summary = last(&bench.fleetload(&["run", "--json"]).expect_code(0).stdout);
    assert_eq!(summary["imports"], serde_json::json!([1, 2]));
    assert_eq!((&summary["rows"], &summary["counts"]["created"]), (&3.into(), &3.into()));
}

#[test]
fn check_does_not_call_right_what_it_warns_of() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    let right = bench.fleetload(&["check", "companies.csv"]).expect_code(0);
    assert!(right.stdout.contains("nothing is wrong with 2 rows"), "{}", right.stdout);
    let mut workbook = rust_xlsxwriter::Workbook::new();
    let sheet = workbook.add_worksheet().set_name("Companies").expect("a name");
    for (row, line) in (0..).zip(bench::companies(2).lines()) {
        for (column, cell) in (0..).zip(line.split(',')) {
            sheet.write_string(row, column, cell).expect("a cell");
        }
    }
    // A phone number that Excel keeps as a number, which may have lost a zero.
    sheet.write_number(1, 4, 95_550_151).expect("a cell");
    workbook.save(bench.path("companies.xlsx")).expect("a workbook");
    let outcome = bench.fleetload(&["check", "companies.xlsx"]).expect_code(0);
    assert!(outcome.stdout.contains("no errors in 2 rows, 1 warning"), "{}", outcome.stdout);
}

#[test]
fn a_rehearsal_needs_no_profile_and_its_journal_is_never_used_with_a_real_one() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(4));
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
    bench.fleetload(&["run", "--sandbox"]).expect_code(0);
    let outcome = bench.fleetload(&["run"]).expect_code(2);
    assert!(outcome.stderr.contains("fleetload.db holds a rehearsal"), "{}", outcome.stderr);
    let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(2);
    let next = "fleetload run companies.csv --journal service.db --reports reports-service\n";
    assert!(outcome.stderr.contains(next), "{}", outcome.stderr);
    let outcome = bench.fleetload(&["run", "--profile", "bench"]).expect_code(2);
    let next = "fleetload run --journal service.db --reports reports-service --profile bench\n";
    assert!(outcome.stderr.contains(next), "{}", outcome.stderr);
    // What was typed besides is about the other journal as well.
    let typed = "--label 'first try' --kind companies --skip-invalid --rate 50";
    let arguments = ["--kind", "companies", "--skip-invalid", "--rate", "50", "--label", "first try"];
    let command = [&["run", "companies.csv", "--reports", "out/mine"][..], &arguments].concat();
    let outcome = bench.fleetload(&command).expect_code(2);
    let next =
        format!("fleetload run companies.csv {typed} --journal service.db --reports out/mine-service\n");
    assert!(outcome.stderr.contains(&next), "{}", outcome.stderr);
    let planned = bench.fleetload(&["plan", "companies.csv", "--sandbox"]).expect_code(0);
    assert!(planned.stdout.contains("Nothing is sent for these sheets"), "{}", planned.stdout);
    assert!(planned.stdout.contains("4 rows"), "{}", planned.stdout);
    // What the rehearsal used of its quota does not count for the profile.
    let planned = bench.fleetload(&["plan", "companies.csv", "--daily-quota", "10"]).expect_code(0);
    assert!(planned.stdout.contains("10 left today"), "{}", planned.stdout);
    assert!(planned.stderr.contains("belongs to another account"), "{}", planned.stderr);
    assert!(planned.stdout.contains("4 rows to create"), "{}", planned.stdout);
    assert!(bench.statistics().requests.is_empty(), "the real service was left alone");
    std::fs::remove_file(bench.path("fleetload.toml")).expect("a profile");
    bench.fleetload(&["run", "--sandbox"]).expect_code(0);
    let outcome = bench.fleetload(&["run", "--journal", "other.db", "companies.csv"]).expect_code(2);
    assert!(outcome.stderr.contains("fleetload.example.toml"), "{}", outcome.stderr);
}

#[test]
fn a_reader_that_goes_away_ends_the_talk_and_not_the_work() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(30));
    let mut child = bench
        .command(&["run", "companies.csv", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("a child").code(), Some(0));
    assert_eq!(bench.created("company").len(), 30);
}

#[test]
fn a_blank_sheet_is_never_overwritten_and_a_sandbox_listens_on_this_machine_only() {
    let bench = Bench::new(Scenario::default());
    bench.fleetload(&["template", "--out", "blank.xlsx"]).expect_code(0);
    let outcome = bench.fleetload(&["template", "--out", "blank.xlsx"]).expect_code(2);
    assert!(outcome.stderr.contains("is there already"), "{}", outcome.stderr);
    let outcome = bench.fleetload(&["sandbox", "--listen", "0.0.0.0:0"]).expect_code(2);
    assert!(outcome.stderr.contains("loopback"), "{}", outcome.stderr);
}

#[test]
fn a_command_without_a_journal_says_what_to_type() {
    let bench = Bench::new(Scenario::default());
    for command in
        [&["status"][..], &["report"], &["retry"], &["cancel", "1"], &["resolve", "1", "--abandon"]]
    {
        let outcome = bench.fleetload(command);
        assert_ne!(outcome.code, 0, "{command:?}");
        assert!(outcome.stderr.contains("hint: "), "{command:?}: {}", outcome.stderr);
    }
}

#[test]
fn what_to_type_next_is_about_the_same_rehearsal_journal_and_customer_wherever_it_stands() {
    let bench = Bench::new(Scenario::default());
    let customer = "[profile.bench.customers.northern]\nheader_row = 2\nmap = { 'Firma' = 'name' }";
    bench.profile("", "rate = \"unlimited\"", customer);
    let sheet = bench::companies(3).replace(",name,", ",Firma,").replace("+64 9 555 0001", "");
    bench.write("companies.csv", &format!("Onboarding of Northern\n{sheet}"));
    let options = ["--customer", "northern", "--journal", "trial.db", "--sandbox"];
    let told =
        bench.fleetload(&[&["run", "companies.csv", "--skip-invalid"][..], &options].concat()).expect_code(4);
    let run = format!("fleetload run reports/1/fix.xlsx {}", options.join(" "));
    assert!(told.stderr.contains(&format!("then: {run}\n")), "{}", told.stderr);
    assert!(told.stdout.contains("1 row to correct: reports/1/fix.xlsx"), "{}", told.stdout);
    let advice = format!("type: {run}");
    for name in ["companies.results.csv", "companies.fix.csv", "results.jsonl", "summary.json"] {
        let text = std::fs::read_to_string(bench.path(&format!("reports/1/{name}"))).expect("a report");
        assert!(text.contains(&advice), "{name}: {text}");
    }
    let page = std::fs::read_to_string(bench.path("reports/1/report.html")).expect("a page");
    assert_eq!(page.matches(&format!("<code>{run}</code>")).count(), 2, "at the head and at the cause");
    let summary = bench::books::read(&bench.path("reports/1/results.xlsx")).remove(0).text();
    assert!(summary.contains(&format!(" | {run}\n")), "{summary}");

    // Written again later, by somebody who has forgotten the customer, the report tells the same, and so does `status`.
    let at = ["--journal", "trial.db"];
    let later = bench.fleetload(&[&["report", "1"][..], &at].concat()).expect_code(0);
    assert!(later.stderr.contains(&format!("then: {run}\n")), "{}", later.stderr);
    for name in ["companies.results.csv", "companies.fix.csv", "results.jsonl", "summary.json"] {
        let text = std::fs::read_to_string(bench.path(&format!("reports/1/{name}"))).expect("a report");
        assert!(text.contains(&advice), "{name}: {text}");
    }
    let status = bench.fleetload(&[&["status"][..], &at].concat());
    assert!(status.stdout.contains(&run), "{status:?}");
    let nothing = bench.fleetload(&[&["run", "--sandbox"][..], &at].concat());
    assert!(nothing.stderr.contains(&format!("then: {run}\n")), "{}", nothing.stderr);

    // Typed as it is told, with the row corrected, it does what it says.
    let fix = std::fs::read_to_string(bench.path("reports/1/companies.fix.csv")).expect("a sheet to fix");
    bench.write(
        "reports/1/companies.fix.csv",
        &fix.replace("\"Customer 1\",\"\"", "\"Customer 1\",\"+64 9 555 0001\""),
    );
    bench.fleetload(&[&["run", "reports/1/companies.fix.csv"][..], &options].concat()).expect_code(0);
    assert_eq!(bench.counts(2), [("created".to_owned(), 1)].into());
}

#[test]
fn the_doctor_shows_how_the_sheets_of_the_account_and_of_its_customers_are_read() {
    let bench = Bench::new(Scenario::default());
    let reading = "[profile.bench.reading]\nhidden_rows = 'skip'\ndeny = ['cell.phone']\n\
                   [profile.bench.customers.northern]\nheader_row = 3\nmap = { 'Firma' = 'name' }";
    bench.profile("", "rate = \"unlimited\"", reading);
    let told = bench.fleetload(&["doctor"]).expect_code(0).stdout;
    let block = "how sheets are read, in fleetload.toml:\n  [profile.bench.reading]\n  deny = [\"cell.phone\"]\n  \
                 hidden_rows = \"skip\"\n  [profile.bench.customers.northern]\n  header_row = 3\n  \
                 [profile.bench.customers.northern.map]\n  Firma = \"name\"\n\n";
    assert!(told.contains(block), "{told}");
    bench.profile("", "rate = \"unlimited\"", "");
    assert!(!bench.fleetload(&["doctor"]).expect_code(0).stdout.contains("how sheets are read"));
}

#[test]
fn what_to_do_about_a_file_that_cannot_be_read_fits_the_file() {
    let bench = Bench::new(Scenario::default());
    bench.write("~$rollout.xlsx", "Ann");
    bench.write("offer.xlsx", "%PDF-1.7");
    let table = [
        ("nowhere.csv", "hint: check the path, then: fleetload check nowhere.csv\n"),
        (
            "~$rollout.xlsx",
            "hint: close the workbook and name it instead of its lock file, then: fleetload check rollout.xlsx\n",
        ),
        (
            "offer.xlsx",
            "hint: save it as an Excel workbook (.xlsx) or as CSV UTF-8 and name that file, then: fleetload check \
             offer.xlsx\n",
        ),
    ];
    for (file, hint) in table {
        let told = bench.fleetload(&["check", file]).expect_code(3).stderr;
        assert!(told.ends_with(hint), "{file}: {told}");
        let told = bench.fleetload(&["run", file, "--sandbox"]).expect_code(3).stderr;
        let (what, _) = hint.split_once(", then: ").expect("a hint");
        assert!(told.contains(&format!("\n{what}, then type the command again\n")), "{file}: {told}");
    }
}

#[test]
fn the_report_of_one_journal_is_never_put_in_the_place_of_that_of_another() {
    let bench = Bench::new(Scenario::default());
    let wrong = |name: &str| bench::companies(2).replace("Customer", name).replace("+64 9 555 0001", "");
    let mut written = Vec::new();
    for (journal, name, folder) in [("east.db", "East", "reports/1"), ("west.db", "West", "reports/1-2")] {
        bench.write("companies.csv", &wrong(name));
        let options = ["run", "companies.csv", "--skip-invalid", "--sandbox", "--journal", journal];
        let told = bench.fleetload(&options).expect_code(4);
        let warning = "reports/1 has the report of another journal, or of another copy of this one, so that this report goes to reports/1-2";
        assert_eq!(told.stderr.contains(warning), journal == "west.db", "{}", told.stderr);
        assert!(told.stdout.contains(&format!("1 row to correct: {folder}/fix.xlsx")), "{}", told.stdout);
        let run = format!("fleetload run {folder}/fix.xlsx --journal {journal} --sandbox");
        assert!(told.stderr.contains(&run), "{}", told.stderr);
        let results = std::fs::read_to_string(bench.path(&format!("{folder}/companies.results.csv")));
        assert!(results.expect("a report").contains(&format!("{name} 1")), "{journal}");
        written.push((journal, folder));
    }
    // Each is written again where it was.
    for (journal, folder) in written {
        let page = bench.path(&format!("{folder}/report.html"));
        std::fs::remove_file(&page).expect("it was there");
        let told = bench.fleetload(&["report", "1", "--journal", journal]).expect_code(0);
        assert!(page.exists() && told.stdout.contains(&format!("report of import 1: {folder}/report.html")));
        let status = bench.fleetload(&["status", "--journal", journal]);
        let run = format!("fleetload run {folder}/fix.xlsx --journal {journal} --sandbox");
        assert!(status.stdout.contains(&run), "{status:?}");
    }
}

#[test]
fn the_commands_of_an_error_are_about_the_same_journal_and_account() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.write("broken.csv", "no,header\n1,2\n");
    let own = ["--journal", "own.db", "--profile", "bench"];
    bench.fleetload(&[&["import", "companies.csv"], &own[..]].concat()).expect_code(0);
    bench.fleetload(&[&["plan", "--save", "agreed.json", "companies.csv"], &own[..]].concat()).expect_code(0);
    bench.write("companies.csv", &bench::companies(3));
    let table: [(&[&str], i32, &[&str]); 7] = [
        (&["find", "templates", "Retail"], 2, &["fleetload find templates --device DEVICE"]),
        (&["find", "sites"], 2, &["fleetload find sites NAME", "fleetload find sites --company COMPANY"]),
        (&["export", "time-zones", "--company", "Acme"], 2, &["fleetload export time-zones"]),
        (&["export", "devices", "--sheet", "broken.csv"], 3, &["fleetload check broken.csv"]),
        (&["run", "--plan", "agreed.json", "companies.csv"], 3, &["fleetload plan FILE --save PLAN"]),
        (&["resolve", "99", "--abandon"], 2, &["fleetload status"]),
        (&["resolve", "--call", "7", "--seen"], 2, &["fleetload status"]),
    ];
    for (arguments, code, commands) in table {
        let told = bench.fleetload(&[arguments, &own[..]].concat()).expect_code(code).stderr;
        for command in commands {
            let whole = format!("{command} {}", own.join(" "));
            assert!(told.contains(&whole), "{arguments:?}, {whole}: {told}");
            assert_eq!(told.matches(command).count(), 1, "{arguments:?}: {told}");
        }
    }
    let rehearsed = bench.fleetload(&["find", "templates", "Retail", "--sandbox"]).expect_code(2).stderr;
    assert!(rehearsed.contains("fleetload find templates --device DEVICE --sandbox"), "{rehearsed}");
}

#[test]
fn an_option_that_a_command_does_not_have_is_not_advised_as_a_file() {
    let bench = Bench::new(Scenario::default());
    for (typed, tip) in [
        ("--sandbox", None),
        ("--unfinishd", Some("a similar argument exists: '--unfinished'")),
        ("-x", Some("to pass '-x' as a value, use '-- -x'")),
    ] {
        let refused = bench.fleetload(&["status", typed]).expect_code(2);
        assert!(
            refused.stderr.contains(&format!("unexpected argument '{typed}' found")),
            "{}",
            refused.stderr
        );
        assert!(tip.is_none_or(|tip| refused.stderr.contains(tip)), "{}", refused.stderr);
        assert!(tip.is_some() || !refused.stderr.contains("-- --"), "{}", refused.stderr);
    }
}

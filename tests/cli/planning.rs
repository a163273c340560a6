//! What a plan says, and that the run which follows does exactly that: as many requests of each operation, as many
//! rows of each kind. And what it says when something has changed in between.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bench::{self, Bench, Outcome};
use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

/// A service without a limit of its own: a request that is refused for the pace is sent once more.
fn unlimited() -> Scenario {
    Scenario { rate: 0, ..Scenario::default() }
}

fn objects(outcome: &Outcome, kind: &str) -> Vec<Value> {
    outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("one JSON object a line"))
        .filter(|object| object["object"] == kind)
        .collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// A command with `--json` and its files.
fn with_json(bench: &Bench, command: &str, arguments: &[&str]) -> Outcome {
    bench.fleetload(&[&[command], arguments, &["--json"]].concat())
}

/// The summary of a plan.
#[track_caller]
fn planned(bench: &Bench, arguments: &[&str]) -> Value {
    let outcome = with_json(bench, "plan", arguments).expect_code(0);
    objects(&outcome, "summary").pop().expect("a summary")
}

/// Rows that have a fate, by kind.
fn rows(plan: &Value, fate: &str) -> BTreeMap<String, u64> {
    let rows = plan["plan"]["rows"].as_object().expect("rows");
    let of = rows.iter().map(|(kind, fates)| (kind.clone(), number(&fates[fate])));
    of.filter(|(_, rows)| *rows > 0).collect()
}

/// What the plan wants to send, by operation.
fn calls(plan: &Value) -> BTreeMap<String, u64> {
    let mut calls = BTreeMap::new();
    for list in ["sent", "sent_earlier"] {
        for call in plan["plan"][list].as_array().expect("calls") {
            let name = call["operation"].as_str().expect("an operation").to_owned();
            *calls.entry(name).or_default() += number(&call["calls"]);
        }
    }
    calls
}

/// Requests so far that are no look-ups and no sign-ins.
fn sent(bench: &Bench) -> BTreeMap<String, u64> {
    let reads = ["get", "find", "list", "auth"];
    let requests = bench.statistics().requests;
    requests.into_iter().filter(|(name, _)| !reads.iter().any(|read| name.starts_with(read))).collect()
}

fn minus(now: &BTreeMap<String, u64>, before: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let rest = now.iter().map(|(name, count)| (name.clone(), count - before.get(name).unwrap_or(&0)));
    rest.filter(|(_, count)| *count > 0).collect()
}

/// Plans, runs, and holds what was sent and created against what was planned.
#[track_caller]
fn runs_as_planned(bench: &Bench, arguments: &[&str], code: i32) -> Value {
    let plan = planned(bench, arguments);
    let (before, made) = (sent(bench), bench.ledger().len());
    let outcome = with_json(bench, "run", arguments).expect_code(code);
    assert_eq!(minus(&sent(bench), &before), calls(&plan), "requests by operation: {plan:#}");
    let since = objects(&outcome, "since_plan");
    assert_eq!(since.len(), 1, "{}", outcome.stdout);
    assert_eq!(since[0]["as_planned"], true, "{}", since[0]);
    let mut created = BTreeMap::new();
    for entry in bench.ledger()[made..].iter().filter(|entry| entry.created) {
        if ["company", "site", "person", "device"].contains(&entry.kind.as_str()) {
            *created.entry(entry.kind.clone()).or_default() += 1;
        }
    }
    if plan["plan"]["rows_earlier"] == 0 {
        assert_eq!(created, rows(&plan, "create"), "records by kind");
    }
    plan
}

/// Three companies, one below another, with sites, people and devices.
fn sheets(bench: &Bench) -> [&'static str; 4] {
    let companies = bench::companies(3).replace(&format!("C2,{}", bench::root()), "C2,C1");
    bench.write("companies.csv", &companies);
    bench.write("sites.csv", &bench::sites(5, 3));
    bench.write("people.csv", &bench::people(4, 3));
    bench.write("devices.csv", &bench::devices(20, 3));
    ["companies.csv", "sites.csv", "people.csv", "devices.csv"]
}

fn sample(bench: &Bench) {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/onboarding.xlsx");
    std::fs::copy(sample, bench.path("onboarding.xlsx")).expect("the sample");
}

/// Moments and lengths of time as signs: they depend on when the test runs.
fn timeless(text: &str, bench: &Bench) -> String {
    let mut result = String::new();
    let text = text.replace(&bench.base_url(), "SERVICE");
    for line in text.replace(&bench.path("").display().to_string(), "FOLDER/").lines() {
        let mut line = line.to_owned();
        for place in (0..line.len()).rev() {
            let moment = line.get(place..place + 19).is_some_and(|piece| {
                piece.char_indices().all(|(at, c)| match at {
                    4 | 7 => c == '-',
                    10 => c == ' ' || c == 'T',
                    13 | 16 => c == ':',
                    _ => c.is_ascii_digit(),
                })
            });
            if moment {
                line.replace_range(place..place + 19, "MOMENT");
            }
        }
        // A day of the table.
        let date = (0..line.len()).find(|&at| {
            line.get(at..at + 7).is_some_and(|piece| piece.starts_with("  20") && piece.ends_with('-'))
        });
        if let Some(date) = date {
            line.replace_range(date + 2.., "DAY");
        }
        if line.starts_with("done ")
            && let Some(place) = line.rfind(", in ")
        {
            line.replace_range(place + 5.., "LENGTH");
        }
        result.push_str(&line);
        result.push('\n');
    }
    result
}

#[test]
fn the_plan_of_the_sample_says_what_how_long_and_what_is_in_the_way_first() {
    let bench = Bench::new(unlimited());
    sample(&bench);
    bench.profile("", "rate = 50\ndaily_quota = 200", "");
    let outcome = bench.fleetload(&["plan", "onboarding.xlsx"]).expect_code(0);
    insta::assert_snapshot!("terminal", timeless(&outcome.stdout, &bench));
    assert!(outcome.stdout.lines().all(|line| line.chars().count() < 120), "{}", outcome.stdout);
}

#[test]
fn the_plan_of_the_sample_is_an_object_a_company_and_a_summary() {
    let bench = Bench::new(unlimited());
    sample(&bench);
    let outcome = with_json(&bench, "plan", &["onboarding.xlsx"]).expect_code(0);
    let companies = objects(&outcome, "company");
    assert_eq!(companies.iter().filter(|company| company["becomes"] == "create").count(), 23);
    let summary = objects(&outcome, "summary").pop().expect("a summary");
    let shown = serde_json::to_string_pretty(&(&companies[..3], summary)).expect("JSON");
    insta::assert_snapshot!("json", timeless(&shown, &bench));
}

#[test]
fn a_fresh_import_runs_as_planned() {
    let bench = Bench::new(unlimited());
    sample(&bench);
    let plan = runs_as_planned(&bench, &["onboarding.xlsx"], 0);
    assert_eq!(rows(&plan, "create").values().sum::<u64>(), 312);
    // Everything is there now: the same plan again sends nothing.
    let plan = runs_as_planned(&bench, &["onboarding.xlsx"], 0);
    assert_eq!((rows(&plan, "there").values().sum::<u64>(), calls(&plan).len()), (312, 0));
    assert_eq!(plan["plan"]["creations"], 0);
}

#[test]
fn an_import_that_is_half_done_runs_as_planned() {
    let starts_at = "2026-03-01T12:00:00Z".parse().expect("a moment");
    let bench = Bench::new(Scenario { daily_quota: 11, clock_starts_at: Some(starts_at), ..unlimited() });
    let files = sheets(&bench);
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(5);
    bench.sandbox().change(|scenario| scenario.daily_quota = 1_000).expect("a scenario");
    bench.sandbox().advance_clock(24 * 3_600);
    let plan = runs_as_planned(&bench, &files, 0);
    assert_eq!(rows(&plan, "there").values().sum::<u64>(), 11);
    assert_eq!(rows(&plan, "create").values().sum::<u64>(), 21);
    bench.assert_exact(2);
}

#[test]
fn rejected_rows_are_left_until_they_are_corrected_and_then_sent() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    let right = bench::devices(20, 3);
    bench.write("devices.csv", &right.replace("Till 3,Edge 100", "Till 3,Edge 9000"));
    bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(4);
    let plan = runs_as_planned(&bench, &files, 4);
    assert_eq!((rows(&plan, "rejected"), calls(&plan).len()), ([("device".to_owned(), 1)].into(), 0));
    bench.write("devices.csv", &right);
    let plan = runs_as_planned(&bench, &files, 0);
    assert_eq!(calls(&plan), [("addDevice".to_owned(), 1)].into());
    // Done, and with other values in the sheet now: it is said and not sent.
    bench.write("devices.csv", &right.replace("Till 4,Edge 100", "Till 4,Edge 200"));
    let plan = runs_as_planned(&bench, &files, 4);
    assert_eq!((rows(&plan, "changed"), calls(&plan).len()), ([("device".to_owned(), 1)].into(), 0));
}

#[test]
fn what_hangs_on_a_rejected_company_is_blocked_by_it_and_comes_with_its_correction() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    let right = std::fs::read_to_string(bench.path("companies.csv")).expect("a sheet");
    let wrong = right.replace(&format!("C1,{}", bench::root()), "C1,6f1c2a3e-ffff-4000-8000-000000000001");
    bench.write("companies.csv", &wrong);
    bench.fleetload(&[&["import"], &files[..]].concat()).expect_code(0);
    bench.fleetload(&["run"]).expect_code(3);
    bench.fleetload(&["run"]).expect_code(4);
    let plan = runs_as_planned(&bench, &files, 4);
    assert_eq!(rows(&plan, "rejected"), [("company".to_owned(), 1)].into());
    let blocked = rows(&plan, "blocked");
    assert_eq!(blocked["company"], 1, "the company below it");
    assert_eq!(number(&plan["in_the_way"][0]["rows"]), blocked.values().sum::<u64>());
    let what = plan["in_the_way"][0]["what"].as_str().expect("words");
    assert!(what.starts_with("companies.csv!companies!3 was rejected"), "{what}");
    bench.write("companies.csv", &right);
    let plan = runs_as_planned(&bench, &files, 0);
    assert_eq!(rows(&plan, "create").values().sum::<u64>(), 1 + blocked.values().sum::<u64>());
}

#[test]
fn what_hangs_on_a_held_company_is_blocked_by_it() {
    let lost = Fault { times: Some(1), ..Fault::new("addCompany", FaultKind::AnswerLost) };
    let bench = Bench::new(unlimited().with_fault(lost));
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(1));
    bench.write("people.csv", &bench::people(4, 1));
    let files = ["companies.csv", "people.csv"];
    bench.fleetload(&["run", "companies.csv", "people.csv"]).expect_code(8);
    assert_eq!(bench.statistics().faults_fired["answer_lost"], 1);
    let plan = runs_as_planned(&bench, &files, 8);
    assert_eq!(rows(&plan, "held"), [("company".to_owned(), 1)].into());
    assert_eq!(rows(&plan, "blocked"), [("person".to_owned(), 4)].into());
    let told = bench.fleetload(&["plan", "companies.csv", "people.csv"]).expect_code(0);
    assert!(told.stdout.contains("4 rows wait: companies.csv!companies!2 is on hold"), "{}", told.stdout);
}

#[test]
fn rows_with_errors_are_left_out_as_planned() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    let sheet = std::fs::read_to_string(bench.path("companies.csv")).expect("a sheet");
    bench.write("companies.csv", &sheet.replace("CUSTOMER,Customer 1", "PARTNER,Customer 1"));
    with_json(&bench, "plan", &files).expect_code(3);
    let arguments = [&files[..], &["--skip-invalid"]].concat();
    let plan = runs_as_planned(&bench, &arguments, 4);
    assert!(number(&plan["left_out"]) > 2, "{plan:#}");
    assert_eq!(rows(&plan, "create")["company"], 1);
}

#[test]
fn records_that_are_there_already_are_found_before_they_are_sent_again() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(0);
    let before = sent(&bench);
    let other = [&files[..], &["--journal", "new.db", "--reports", "other"]].concat();
    let plan = planned(&bench, &other);
    with_json(&bench, "run", &other).expect_code(0);
    assert_eq!(minus(&sent(&bench), &before).len(), 0, "all of them were there");
    let existing = std::fs::read_to_string(bench.path("other/1/summary.json")).expect("a report");
    let existing: Value = serde_json::from_str(&existing).expect("JSON");
    let to_create = rows(&plan, "create").values().sum::<u64>();
    assert_eq!(number(&existing["counts"]["existing"]), to_create);
}

#[test]
fn rows_that_earlier_imports_have_left_are_counted_apart() {
    let bench = Bench::new(unlimited());
    sheets(&bench);
    bench.fleetload(&["import", "companies.csv", "sites.csv"]).expect_code(0);
    let plan = runs_as_planned(&bench, &["companies.csv", "people.csv"], 0);
    assert_eq!(plan["plan"]["rows_earlier"], 5, "the sites");
    assert_eq!(plan["plan"]["creations"], 7);
}

/// The plan learns the key on its copy, and the sites of the same plan are below the company that is there.
#[test]
fn a_key_that_is_added_later_is_planned_as_it_is_run() {
    let bench = Bench::new(unlimited());
    let companies = bench::companies(2);
    bench.write("companies.csv", &companies.replace("\nC0,", "\n,"));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.write("companies.csv", &companies);
    bench.write("sites.csv", &bench::sites(3, 1));
    let alone = bench.fleetload(&["plan", "sites.csv"]).expect_code(3);
    assert!(alone.stdout.contains("ref.not-found"), "{}", alone.stdout);
    planned(&bench, &["companies.csv"]);
    bench.fleetload(&["plan", "sites.csv"]).expect_code(3);
    let plan = runs_as_planned(&bench, &["companies.csv", "sites.csv"], 0);
    assert_eq!(plan["plan"]["creations"], 3, "{plan:#}");
    runs_as_planned(&bench, &["sites.csv"], 0);
}

#[test]
fn a_run_says_what_has_changed_since_the_plan_and_goes_on() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    let run = [&["run"], &files[..]].concat();
    planned(&bench, &files);
    let kept = bench.path("fleetload.db.plan.json");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(kept.metadata().expect("a plan").permissions().mode() & 0o777, 0o600);
    }
    // A company more, and one device's cell.
    let sheet = std::fs::read_to_string(bench.path("companies.csv")).expect("a sheet");
    let fourth = bench::companies(4).lines().last().expect("a row").to_owned();
    bench.write("companies.csv", &format!("{sheet}{fourth}\n"));
    bench.write("devices.csv", &bench::devices(20, 3).replace("Till 4,", "Checkout 4,"));
    let outcome = bench.fleetload(&run).expect_code(0);
    for words in [
        "not as planned at ",
        "33 rows to be created; the plan has 32 rows to be created",
        "companies.csv has changed since the plan",
        "devices.csv has changed since the plan",
        "1 more company to be created: 4 instead of 3",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains("sites.csv is not"), "{}", outcome.stdout);
    assert!(!kept.exists(), "the plan was carried out");
    let outcome = bench.fleetload(&run).expect_code(0);
    assert!(!outcome.stdout.contains("planned"), "without a plan nothing is said: {}", outcome.stdout);
}

#[test]
fn what_was_done_in_another_way_since_the_plan_is_said() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    planned(&bench, &files);
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    let outcome = bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(0);
    for words in [
        "the journal has changed: 1 other import since the plan",
        "3 fewer companies to be created: 0 instead of 3",
        "3 more companies already in the service: 3 instead of 0",
        "5 more sites already in the service",
    ] {
        assert!(outcome.stdout.contains(words), "{words}: {}", outcome.stdout);
    }
    // The profile has lost an operation meanwhile: the run refuses it, as ever, before anything is imported.
    bench.write("sites.csv", &bench::sites(6, 3));
    planned(&bench, &files);
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    let outcome = bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(2);
    assert!(outcome.stderr.contains("[profile.NAME.endpoints.addSite]"), "{}", outcome.stderr);
    assert_eq!(bench.created("site").len(), 5);
}

#[test]
fn the_same_files_read_with_other_options_are_not_as_planned() {
    let bench = Bench::new(unlimited());
    let sheet = bench::companies(2).replace(",Auckland,NZ", ",Auckland,");
    bench.write("companies.csv", &sheet);
    planned(&bench, &["companies.csv"]);
    let arguments = ["run", "companies.csv", "--default", "companies.country=NZ"];
    let outcome = bench.fleetload(&arguments).expect_code(0);
    assert!(outcome.stdout.contains("companies are read differently"), "{}", outcome.stdout);
}

#[test]
fn an_operation_that_nobody_needs_any_more_need_not_be_available() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(0);
    bench.profile("paths = \"documented\"", "rate = \"unlimited\"", "");
    let plan = runs_as_planned(&bench, &files, 0);
    assert_eq!(plan["unavailable"], Value::Array(vec![]));
}

#[test]
fn r12_more_rows_than_the_daily_quota_are_warned_of_with_a_line_a_day() {
    let bench = Bench::new(unlimited());
    bench.profile("", "rate = 50\ndaily_quota = 10", "");
    let files = sheets(&bench);
    let outcome = with_json(&bench, "plan", &files).expect_code(0);
    let finding = objects(&outcome, "finding").into_iter().find(|finding| finding["code"] == "plan.quota");
    assert_eq!(finding.expect("a finding")["severity"], "warning");
    let summary = objects(&outcome, "summary").pop().expect("a summary");
    let days = summary["plan"]["by_day"].as_array().expect("days").clone();
    let creations: Vec<u64> = days.iter().map(|day| number(&day["creations"])).collect();
    assert_eq!(creations, [10, 10, 10, 2]);
    let told = bench.fleetload(&[&["plan"], &files[..]].concat()).expect_code(0);
    assert!(told.stdout.contains("4 days with creations"), "{}", told.stdout);
    assert!(told.stdout.contains("; a run waits in between, and may be stopped"), "{}", told.stdout);
    let told = bench.fleetload(&[&["plan", "--on-quota", "exit"], &files[..]].concat()).expect_code(0);
    assert!(
        told.stdout.contains("; a run ends with exit code 5 when a day's quota is spent"),
        "{}",
        told.stdout
    );
}

#[test]
fn a_plan_follows_what_the_profile_says_of_doubt() {
    let bench = Bench::new(unlimited());
    sheets(&bench);
    let planned = |options: &[&str]| {
        bench.fleetload(&[&["plan", "companies.csv"], options].concat()).expect_code(0).stdout
    };
    let held = "3 rows of companies: looked up, and adopted or put on hold: in_doubt is \"hold\"";
    assert!(planned(&[]).contains("3 rows of companies: looked up, and adopted or sent again"));
    assert!(planned(&["--in-doubt", "hold"]).contains(held));
    bench.profile("", "rate = \"unlimited\"", "in_doubt = \"hold\"");
    assert!(planned(&[]).contains(held));
}

#[test]
fn what_a_run_has_under_way_is_in_doubt_only_when_nobody_awaits_it() {
    let bench = Bench::new(unlimited().with_fault(Fault::new("addCompany", FaultKind::StallBefore).times(1)));
    bench.write("companies.csv", &bench::companies(2));
    bench.write("people.csv", &bench::people(1, 1));
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let mut run = bench.start(&["run", "companies.csv", "people.csv", "--json"]);
    run.until(|| bench.requests("addCompany") == 1);
    let beside = planned(&bench, &["companies.csv", "people.csv"]);
    run.kill();
    let of = |plan: &Value, action: &str| rows(plan, action).values().sum::<u64>();
    assert_eq!(
        (of(&beside, "create"), of(&beside, "in_doubt"), of(&beside, "blocked")),
        (3, 0, 0),
        "{beside}"
    );
    let after = planned(&bench, &["companies.csv", "people.csv"]);
    assert_eq!((of(&after, "create"), of(&after, "in_doubt"), of(&after, "blocked")), (1, 1, 1), "{after}");
}

#[test]
fn a_plan_ends_with_a_command_that_can_be_typed() {
    let bench = Bench::new(unlimited());
    sheets(&bench);
    let hint = |arguments: &[&str]| {
        let told = bench.fleetload(&[&["plan", "companies.csv"], arguments].concat()).expect_code(0);
        told.stderr.split_once("hint: ").expect("a hint").1.to_owned()
    };
    assert_eq!(hint(&[]), "to do it: fleetload run companies.csv\n");
    let limits = "--rate 5 --daily-quota 100 --on-existing fail --audit none --between 03:00-04:00 --zone UTC --on-close exit";
    let command = format!("fleetload run companies.csv {limits}");
    let mut typed: Vec<&str> = limits.split(' ').collect();
    typed.extend(["--out", "plan.html"]);
    assert_eq!(hint(&typed), format!("to do it: {command}\n"), "at the same time, within the same limits");
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("a page");
    assert!(page.contains(&command), "{page}");
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
    assert_eq!(
        hint(&[]),
        "to do it: fleetload run companies.csv --journal service.db --reports reports-service\n"
    );
    std::fs::remove_file(bench.path("fleetload.toml")).expect("the profile");
    assert!(hint(&[]).ends_with(": fleetload run companies.csv --sandbox\n"), "as the journal");
    std::fs::remove_file(bench.path("fleetload.db")).expect("the journal");
    assert_eq!(
        hint(&[]),
        "to do it, write a profile (fleetload.example.toml is one to copy) and type: fleetload run companies.csv\n      \
         to rehearse it without a profile: fleetload run companies.csv --sandbox\n"
    );
}

#[test]
fn a_plan_that_cannot_be_kept_is_warned_of_and_told_all_the_same() {
    let bench = Bench::new(unlimited());
    sheets(&bench);
    std::fs::create_dir_all(bench.path("fleetload.db.plan.json/in the way")).expect("a folder");
    let outcome = bench.fleetload(&["plan", "companies.csv"]).expect_code(0);
    assert!(
        outcome.stderr.contains("the plan cannot be kept in fleetload.db.plan.json"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.contains("3 rows to create: 3 companies"), "{}", outcome.stdout);
}

#[test]
fn the_page_names_the_run_that_was_planned_with_its_paths_and_options() {
    let bench = Bench::new(unlimited());
    std::fs::create_dir(bench.path("new sheets")).expect("a folder");
    bench.write("new sheets/companies.csv", &bench::companies(2));
    let plan = ["plan", "new sheets/companies.csv", "--skip-invalid", "--out", "plan.html"];
    let outcome = bench.fleetload(&plan).expect_code(0);
    let command = "fleetload run 'new sheets/companies.csv' --skip-invalid";
    assert!(outcome.stderr.contains(command), "{}", outcome.stderr);
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("a page");
    let shown = page.replace("&#39;", "'").replace("&#x27;", "'");
    assert!(shown.contains(command), "{shown}");
}

#[test]
fn a_plan_and_a_check_neither_wait_for_who_writes_to_the_journal_nor_hold_them_up() {
    let bench = Bench::new(unlimited());
    let files = sheets(&bench);
    bench.fleetload(&[&["run"], &files[..]].concat()).expect_code(0);
    let other = rusqlite::Connection::open(bench.path("fleetload.db")).expect("the journal");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock of the one who writes");
    let plan = planned(&bench, &files);
    assert_eq!(rows(&plan, "there").values().sum::<u64>(), 32);
    bench.fleetload(&[&["check"], &files[..]].concat()).expect_code(0);
    other.execute_batch("ROLLBACK").expect("the lock back");
}

#[test]
fn the_page_is_written_and_never_over_a_file_that_is_no_plan() {
    let bench = Bench::new(unlimited());
    sample(&bench);
    let arguments = ["plan", "onboarding.xlsx", "--out", "plan.html"];
    bench.fleetload(&arguments).expect_code(0);
    bench.fleetload(&arguments).expect_code(0);
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("a page");
    for words in ["312 rows to create", "Harbour Managed IT", "addDeviceFromTemplate", "<details"] {
        assert!(page.contains(words), "{words}");
    }
    bench.write("plan.html", "somebody's");
    let outcome = bench.fleetload(&arguments).expect_code(2);
    assert!(outcome.stderr.contains("is not a plan page"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(bench.path("plan.html")).expect("a file"), "somebody's");
}

/// Without a profile only the documented paths are known, and everything that is told agrees with that.
#[test]
fn a_plan_that_lacks_operations_says_that_nothing_can_be_sent_and_what_would_be() {
    let bench = Bench::new(unlimited());
    sample(&bench);
    std::fs::remove_file(bench.path("fleetload.toml")).ok();
    let typed = ["plan", "onboarding.xlsx", "--daily-quota", "100", "--out", "plan.html"];
    let outcome = bench.fleetload(&typed).expect_code(2);
    let all = format!("{}{}", outcome.stdout, outcome.stderr);
    let page = std::fs::read_to_string(bench.path("plan.html")).expect("a page");
    for told in [&all, &page] {
        assert!(
            told.contains("Nothing can be sent yet: 9 operations have no path (first: addSite)"),
            "{told}"
        );
        assert!(told.contains("312 creations, 4 days at 100 a day"), "{told}");
        assert!(told.contains("fleetload plan onboarding.xlsx --daily-quota 100 --sandbox"), "{told}");
    }
    for (never, text) in
        [("to create", &all), ("never", &all), ("no quota", &all), ("to be created</h1>", &page)]
    {
        assert!(!text.contains(never), "{never}: {text}");
    }
    assert!(all.contains("100 creations a day"), "{all}");
}

#[test]
fn a_run_that_was_given_a_plan_does_exactly_that_or_nothing() {
    let bench = Bench::new(unlimited());
    let [companies, sites, ..] = sheets(&bench);
    let files = [companies, sites];
    let command = |first: &str, more: &[&str], code: i32| {
        bench.fleetload(&[&[first], &files[..], more].concat()).expect_code(code)
    };
    let saved = command("plan", &["--save", "agreed.json"], 0);
    assert!(saved.stdout.contains("the plan is saved: agreed.json"), "{}", saved.stdout);
    command("plan", &["--save", "agreed.json"], 0);
    let refused = command("plan", &["--save", companies], 2);
    assert!(refused.stderr.contains("already exists and is not a saved plan"), "{}", refused.stderr);

    // What is no plan, and a plan of other files.
    let refused = command("run", &["--plan", companies], 2);
    assert!(refused.stderr.contains("is not a plan that this fleetload has saved"), "{}", refused.stderr);
    assert!(command("run", &["--plan", "none.json"], 2).stderr.contains("cannot be read"));
    let refused = bench.fleetload(&["run", companies, "--plan", "agreed.json"]).expect_code(3);
    assert!(refused.stdout.contains("the plan is about other files: "), "{}", refused.stdout);

    // A row more, and another import in between.
    let planned = std::fs::read_to_string(bench.path(sites)).expect("a sheet");
    bench.write(sites, &bench::sites(7, 2));
    let outcome = command("run", &["--plan", "agreed.json", "--json"], 3);
    let told = objects(&outcome, "since_plan").pop().expect("what has changed");
    assert_eq!(told["as_planned"], false, "{told}");
    let summary = objects(&outcome, "summary").pop().expect("a summary");
    assert_eq!((&summary["state"], &summary["reason"]), (&"failed".into(), &"not-as-planned".into()));
    assert!(outcome.stdout.contains(r#""what":"file""#) && outcome.stdout.contains(r#""what":"rows""#));
    bench.write(sites, &planned);
    bench.write("people.csv", &bench::people(1, 1).replace("\nC0,", &format!("\n{},", bench::root())));
    bench.fleetload(&["import", "people.csv"]).expect_code(0);
    let outcome = command("run", &["--plan", "agreed.json"], 3);
    let words = "the journal has changed: 1 other import since the plan";
    assert!(outcome.stdout.contains(words), "{}", outcome.stdout);
    let left = "1 request of addPerson left over from earlier imports instead of 0";
    assert!(outcome.stdout.contains(left), "{}", outcome.stdout);
    assert!(sent(&bench).is_empty(), "nothing was sent: {:?}", sent(&bench));
    let journal = fleetload::journal::Journal::open_existing(&bench.path("fleetload.db")).expect("a journal");
    assert_eq!(journal.imports().expect("imports").len(), 1, "and nothing was imported");
    drop(journal);

    command("plan", &["--save", "agreed.json"], 0);
    let ran = command("run", &["--plan", "agreed.json"], 0);
    assert!(ran.stdout.contains("as planned at "), "{}", ran.stdout);
    assert_eq!(bench.counts(2), [("created".to_owned(), 8)].into());
    // Once it is carried out, it is no plan of what would happen now.
    command("run", &["--plan", "agreed.json"], 3);
}

#[test]
fn each_row_of_a_plan_is_listed_with_what_happens_to_it_and_what_it_belongs_to() {
    let bench = Bench::new(unlimited());
    bench.write("companies.csv", &bench::companies(1));
    bench.write("sites.csv", &bench::sites(2, 1));
    let told = with_json(&bench, "plan", &["companies.csv", "sites.csv", "--rows"]).expect_code(0);
    let mut listed = objects(&told, "row");
    for row in listed.iter_mut().filter_map(Value::as_object_mut) {
        assert!(row.remove("schema").is_some() && row.remove("version").is_some(), "as each object has");
    }
    let expected = serde_json::json!([
        {
            "object": "row", "source": "companies.csv!companies!2", "kind": "companies", "name": "Customer 0",
            "action": "create", "operations": ["addCompany"],
            "belongs_to": [{"role": "parent", "id": bench::root()}], "waits_for": null,
        },
        {
            "object": "row", "source": "sites.csv!sites!2", "kind": "sites", "name": "Branch 0", "action": "create",
            "operations": ["addSite"],
            "belongs_to": [{"role": "company", "source": "companies.csv!companies!2"}], "waits_for": null,
        },
        {
            "object": "row", "source": "sites.csv!sites!3", "kind": "sites", "name": "Branch 1", "action": "create",
            "operations": ["addSite"],
            "belongs_to": [{"role": "company", "source": "companies.csv!companies!2"}], "waits_for": null,
        },
    ]);
    assert_eq!(Value::Array(listed), expected);
    let shown = bench.fleetload(&["plan", "companies.csv", "sites.csv", "--rows"]).expect_code(0).stdout;
    let line =
        "sites.csv!sites!2: site 'Branch 0': to be created (addSite); company companies.csv!companies!2\n";
    assert!(shown.contains(line), "{shown}");
    let shown = bench.fleetload(&["plan", "companies.csv", "sites.csv", "--rows", "--redact"]).expect_code(0);
    assert!(!shown.stdout.contains("Branch 0'"), "{}", shown.stdout);

    // What is done asks for nothing.
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    let told = with_json(&bench, "plan", &["companies.csv", "sites.csv", "--rows"]).expect_code(0);
    let listed = objects(&told, "row");
    assert_eq!((&listed[0]["action"], &listed[0]["operations"]), (&"there".into(), &serde_json::json!([])));
    let created = listed.iter().filter(|row| row["action"] == "create").count() as u64;
    let summary = objects(&told, "summary").pop().expect("a summary");
    assert_eq!(created, rows(&summary, "create").values().sum::<u64>(), "the list adds up to the plan");
}

#[test]
fn a_moment_is_only_said_where_the_limit_decides_and_not_how_fast_the_service_answers() {
    let bench = Bench::new(Scenario::default());
    bench.profile("", "rate = 90", "");
    for (companies, done) in [(2, "soon: the service decides by how fast it answers"), (1_200, "about ")] {
        bench.write("companies.csv", &bench::companies(companies));
        let plan = bench.fleetload(&["plan", "companies.csv"]).expect_code(0).stdout;
        assert!(plan.contains(&format!("done       {done}")), "{plan}");
    }
}

#[test]
fn the_exit_code_says_whether_anything_would_be_sent_when_it_is_asked_to() {
    let bench = Bench::new(unlimited());
    bench.write("companies.csv", &bench::companies(2));
    let plan = ["plan", "companies.csv", "--detailed-exitcode"];
    bench.fleetload(&plan[..2]).expect_code(0);
    let told = bench.fleetload(&[&plan[..], &["--json"]].concat()).expect_code(10);
    let summary = objects(&told, "summary").pop().expect("a summary");
    assert_eq!((&summary["state"], &summary["reason"]), (&"finished".into(), &"changes-planned".into()));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    bench.fleetload(&plan).expect_code(0);
    bench.write("companies.csv", "name\n");
    bench.fleetload(&plan).expect_code(3);
}

#[test]
fn a_profile_that_wants_a_run_confirmed_lets_none_begin_unasked() {
    let bench = Bench::new(unlimited());
    bench.profile("confirm = true", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(2));
    let refused = bench.fleetload(&["run", "companies.csv"]).expect_code(2);
    assert!(refused.stderr.contains("a run must be confirmed (confirm = true, "), "{}", refused.stderr);
    assert!(refused.stderr.contains("add --yes"), "{}", refused.stderr);
    assert!(!bench.path("fleetload.db").exists());
    bench
        .fleetload(&[
            "run",
            "companies.csv",
            "--sandbox",
            "--journal",
            "rehearsal.db",
            "--reports",
            "rehearsed",
        ])
        .expect_code(0);
    bench.fleetload(&["run", "companies.csv", "--yes"]).expect_code(0);
    bench.assert_exact(1);
}

/// What a person at a terminal sees who types `answer`; nothing where the machine has no `script` to make one.
#[cfg(target_os = "linux")]
fn at_a_terminal(bench: &Bench, arguments: &[&str], answer: &str) -> Option<(i32, String)> {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    let line = [&[env!("CARGO_BIN_EXE_fleetload")], arguments].concat().join(" ");
    let mut script = Command::new("script")
        .args(["-qefc", &line, "/dev/null"])
        .current_dir(bench.path("."))
        .env("HOME", bench.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    script.stdin.take().expect("a pipe").write_all(answer.as_bytes()).expect("it reads");
    let output = script.wait_with_output().expect("it ends");
    Some((output.status.code().expect("a code"), String::from_utf8_lossy(&output.stdout).into_owned()))
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_the_plan_is_shown_and_only_a_yes_begins() {
    let bench = Bench::new(unlimited());
    bench.profile("confirm = true", "rate = \"unlimited\"", "");
    bench.write("companies.csv", &bench::companies(2));
    let Some((code, shown)) = at_a_terminal(&bench, &["run", "companies.csv", "--no-color"], "n\n") else {
        return;
    };
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("2 rows to create: 2 companies"), "{shown}");
    assert!(shown.contains("carry it out? (y/N)"), "{shown}");
    assert!(shown.contains("not confirmed: nothing was imported and nothing was sent"), "{shown}");
    assert!(!bench.path("fleetload.db").exists());
    let (code, shown) =
        at_a_terminal(&bench, &["run", "companies.csv", "--no-color"], "y\n").expect("a terminal");
    assert_eq!(code, 0, "{shown}");
    bench.assert_exact(1);
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_only_the_rows_are_counted_that_the_run_can_send() {
    let bench = Bench::new(unlimited());
    bench.profile("confirm = true", "rate = \"unlimited\"", "");
    let all = bench::companies(5);
    let lines: Vec<&str> = all.lines().collect();
    bench.write("paused.csv", &bench::companies(2));
    bench.write("others.csv", &format!("{}\n{}\n", lines[0], lines[3..].join("\n")));
    bench.write("sites.csv", &bench::sites(4, 4));
    bench.fleetload(&["import", "paused.csv"]).expect_code(0);
    bench.fleetload(&["import", "others.csv", "sites.csv"]).expect_code(0);
    bench.fleetload(&["pause", "1"]).expect_code(0);
    let Some((code, shown)) = at_a_terminal(&bench, &["run", "--no-color"], "n\n") else { return };
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("\n5 rows are to be sent\r\n"), "3 companies and 2 sites below them: {shown}");
}

#[test]
fn a_plan_does_not_count_what_an_unknown_outcome_may_still_send_and_says_so() {
    let stall = Fault::new("addCompany", FaultKind::StallBefore);
    let bench = Bench::new(unlimited().with_fault(stall));
    bench.write("companies.csv", &bench::companies(1));
    let mut run = bench.start(&["run", "companies.csv", "--json"]);
    run.until(|| bench.requests("addCompany") == 1);
    run.kill();
    let plan = bench.fleetload(&["plan", "companies.csv"]).expect_code(0).stdout;
    for words in [
        "Nothing is sent before unknown outcomes are looked up",
        "not known",
        "1 row is looked up first, and sent again if not created: that is not counted here",
    ] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    bench.clear_faults();
    let run = bench.fleetload(&["run"]).expect_code(8);
    let words = "ended with 1 request under way; fleetload first looks up whether it was executed";
    assert!(run.stderr.contains(words), "{run:?}");
}

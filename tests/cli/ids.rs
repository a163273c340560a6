//! Ids of the service that sheets name: looked up once each before anything is sent, and what follows from a wrong one.

use fleetload::sandbox::{Fault, FaultKind, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE};
use serde_json::Value;

use crate::bench::{self, Bench, Outcome};

const WRONG: &str = "22222222-2222-4222-8222-222222222222";

/// Companies, the first and the third of which are below the account's own company, the second below one that is not there.
fn companies(second: &str) -> String {
    bench::companies(3).replacen(&format!("C1,{ROOT_COMPANY}"), &format!("C1,{second}"), 1)
}

/// A bench where only what a test looks at is asked for: no list of time zones, no verification.
fn bench_of(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.profile("", "", "audit = \"none\"");
    bench
}

fn failing(operation: &str, kind: FaultKind) -> Scenario {
    Scenario { fault: vec![Fault::new(operation, kind)], ..Scenario::default() }
}

fn objects(outcome: &Outcome) -> Vec<Value> {
    outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_wrong_id_is_a_finding_at_its_cell_and_nothing_is_imported_or_sent() {
    let bench = bench_of(Scenario::default());
    bench.write("companies.csv", &companies(WRONG));
    bench.write("devices.csv", &bench::devices(200, 3));
    let outcome = bench.fleetload(&["run", "companies.csv", "devices.csv", "--json"]).expect_code(3);
    let objects = objects(&outcome);
    let told: Vec<_> = objects
        .iter()
        .filter(|object| object["severity"] == "error")
        .map(|finding| {
            [&finding["code"], &finding["file"], &finding["cell"], &finding["value"]].map(Value::clone)
        })
        .collect();
    assert_eq!(told, [["ref.unknown-id", "companies.csv", "B3", WRONG].map(Value::from)]);
    assert_eq!(objects.last().expect("a summary")["reason"], "sheets");
    assert!(bench.ledger().is_empty());
    assert!(!bench.path("fleetload.db").exists());
    // Each id once, however many rows name it.
    assert_eq!(bench.requests("getCompany"), 2);

    // The rows that are right go on where that is asked for.
    let arguments = ["run", "companies.csv", "devices.csv", "--skip-invalid"];
    bench.fleetload(&arguments).expect_code(4);
    assert_eq!(bench.names("company"), ["Customer 0", "Customer 2"]);
    // Device n is in the company n % 3.
    assert_eq!(bench.created("device").len(), 133);
}

#[test]
fn ids_that_were_verified_are_not_looked_up_again() {
    let bench = bench_of(Scenario { daily_quota: 2, ..Scenario::default() });
    bench.write("companies.csv", &bench::companies(5));
    bench.fleetload(&["run", "companies.csv", "--on-quota", "exit"]).expect_code(5);
    assert_eq!(bench.requests("getCompany"), 1);
    bench.fleetload(&["run", "--on-quota", "exit"]).expect_code(5);
    bench.fleetload(&["run", "companies.csv", "--on-quota", "exit"]).expect_code(5);
    assert_eq!(bench.requests("getCompany"), 1);
}

#[test]
fn rows_that_were_imported_without_the_service_are_verified_before_the_first_request_that_changes_something()
{
    let bench = bench_of(Scenario::default());
    bench.write("companies.csv", &companies(WRONG));
    bench.fleetload(&["import", "companies.csv"]).expect_code(0);
    let outcome = bench.fleetload(&["run", "--json"]).expect_code(3);
    let objects = objects(&outcome);
    let unknown = objects.iter().find(|object| object["object"] == "unknown_id").expect("an id");
    assert_eq!(unknown["id"], WRONG);
    assert_eq!(unknown["places"], serde_json::json!(["companies.csv!B3"]));
    let summary = objects.last().expect("a summary");
    assert_eq!(
        (summary["reason"].as_str(), summary["state"].as_str()),
        (Some("unknown-ids"), Some("failed"))
    );
    assert!(bench.ledger().is_empty());
    let expected = format!("the service has no company with the id {WRONG}, which companies.csv!B3 names");
    assert!(outcome.stderr.contains(&expected), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("fleetload find companies NAME"), "{}", outcome.stderr);
    assert_eq!((bench.counts(1)["ready"], bench.counts(1)["rejected"]), (2, 1));
    let rejected = bench.results(1).into_iter().find(|row| row["row"] == 3).expect("the row");
    assert_eq!(
        (&rejected["code"], &rejected["column"]),
        (&Value::from("ref.unknown-id"), &Value::from("parent"))
    );

    // The other rows go on, and what is corrected as well. What was verified is not asked for again.
    bench.fleetload(&["run"]).expect_code(4);
    assert_eq!(bench.names("company"), ["Customer 0", "Customer 2"]);
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.created("company").len(), 3);
    assert_eq!(bench.requests("getCompany"), 2);
}

#[test]
fn a_row_and_the_row_that_it_needs_name_the_same_wrong_id() {
    let bench = bench_of(Scenario::default());
    let write = |company: &str| {
        let company = format!("{company},");
        bench.write("sites.csv", &bench::sites(1, 1).replace("C0,", &company));
        let devices = bench::devices(1, 1).replace("company,", "company,site,");
        bench.write("devices.csv", &devices.replace("C0,", &format!("{company}S0,")));
    };
    let files = ["sites.csv", "devices.csv"];
    write(WRONG);
    bench.fleetload(&["import", files[0], files[1]]).expect_code(0);
    let outcome = bench.fleetload(&["run"]).expect_code(3);
    let told = "1 id is unknown to the service; 2 rows were rejected and nothing was sent";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    let results: Vec<_> =
        bench.results(1).iter().map(|row| (row["status"].clone(), row["code"].clone())).collect();
    let expected: (Value, Value) = ("rejected".into(), "ref.unknown-id".into());
    assert_eq!(results, [expected.clone(), expected]);
    assert!(bench.ledger().is_empty());

    write(&ROOT_COMPANY.to_string());
    bench.fleetload(&["run", files[0], files[1]]).expect_code(0);
    assert_eq!((bench.created("site").len(), bench.created("device").len()), (1, 1));
}

#[test]
fn what_is_below_the_first_company_is_listed_beside_its_id_and_the_run_needs_no_other_list() {
    let bench = bench_of(Scenario { company: vec![bench::first_company_of_others()], ..Scenario::default() });
    bench.write("companies.csv", &companies(WRONG));
    bench.fleetload(&["run", "companies.csv"]).expect_code(3);
    assert_eq!(bench.requests("getChildCompanies"), 1, "before anything is imported");
    bench.write("companies.csv", &bench::companies(3));
    bench.fleetload(&["run", "companies.csv"]).expect_code(0);
    assert_eq!(bench.requests("getChildCompanies"), 2);
    assert_eq!(bench.counts(1), [("created".to_owned(), 2), ("existing".to_owned(), 1)].into());
    assert_eq!(bench.names("company"), ["Customer 1", "Customer 2"]);
}

#[test]
fn nothing_is_listed_ahead_for_an_account_that_another_run_uses() {
    let stall = Fault { ms: 3_600_000, ..Fault::new("addCompany", FaultKind::Latency) };
    let bench = bench_of(Scenario::default().with_fault(stall));
    bench.write("companies.csv", &bench::companies(1));
    let mut first = bench.start(&["run", "companies.csv", "--json"]);
    first.hears(&["\"progress\""]);
    bench.fleetload(&["run", "companies.csv", "--journal", "other.db"]).expect_code(6);
    assert_eq!((bench.requests("getCompany"), bench.requests("getChildCompanies")), (2, 1));
}

#[test]
fn a_look_up_without_an_answer_makes_no_id_wrong() {
    for (kind, why) in [
        (FaultKind::Error500Before, "getCompany: the service reported an error of its own"),
        (FaultKind::Html200, "getCompany: the answer is not one that the service documents"),
    ] {
        let bench = bench_of(failing("getCompany", kind));
        bench.write("companies.csv", &bench::companies(2));
        let outcome = bench.fleetload(&["run", "companies.csv"]).expect_code(0);
        let told = format!("1 id of a company was not verified: {why}");
        assert!(outcome.stderr.contains(&told), "{kind:?}: {}", outcome.stderr);
        assert!(bench.statistics().faults_fired[kind.name()] > 0, "the fault fired");
        assert_eq!(bench.created("company").len(), 2);
    }
}

#[test]
fn a_plan_looks_all_ids_up_when_it_is_asked_to_and_says_which_it_cannot() {
    let bench = bench_of(Scenario::default());
    bench.write("companies.csv", &companies(WRONG));
    let refused = bench.fleetload(&["plan", "companies.csv", "--refresh"]).expect_code(3);
    assert!(refused.stdout.contains("error[ref.unknown-id] companies.csv!B3"), "{}", refused.stdout);
    bench.fleetload(&["plan", "companies.csv"]).expect_code(0);
    assert_eq!(bench.requests("getCompany"), 2, "a plan asks only with --refresh");

    // Sites have no documented look-up.
    bench.profile("paths = \"documented\"", "", "");
    let header = bench::devices(0, 1).replace("company,name", "company,site,name");
    let device = "Till,Edge 100,00:1a:2b:00:00:01,+64 9 557 0000,1 Earl Street,Auckland,NZ";
    bench.write("devices.csv", &format!("{header}{ROOT_COMPANY},{WRONG},{device}\n"));
    let planned = bench.fleetload(&["plan", "devices.csv", "--refresh"]).expect_code(0).stdout;
    assert!(
        planned.contains("1 id looked up: 1 verified, 0 unknown to the service, 0 without an answer"),
        "{planned}"
    );
    let cannot = "1 id of a site cannot be verified: getSite has no known path in this profile";
    assert!(planned.contains(cannot), "{planned}");
    let summary = bench.fleetload(&["plan", "devices.csv", "--refresh", "--json"]).expect_code(0);
    let ids = &objects(&summary).pop().expect("a summary")["ids"];
    assert_eq!(*ids, serde_json::json!({"verified": 1, "unknown": 0, "not_answered": 0, "no_look_up": 1}));
}

#[test]
fn the_owners_of_upkeep_rows_are_verified_as_well() {
    let bench = bench_of(Scenario::default());
    let labels = format!("owner_kind,owner,label\ndevice,{TEMPLATE_DEVICE},a\ndevice,{WRONG},b\n");
    bench.write("labels.csv", &labels);
    let refused = bench.fleetload(&["run", "labels.csv"]).expect_code(3).stdout;
    assert!(refused.contains("error[ref.unknown-id] labels.csv!B3"), "{refused}");
    assert!(refused.contains("the service has no device with this id"), "{refused}");
    bench.write("labels.csv", &labels.replace(&format!("device,{WRONG},b\n"), ""));
    bench.fleetload(&["run", "labels.csv"]).expect_code(0);
}

#[test]
fn a_strict_rehearsal_verifies_ids_and_any_other_takes_them_as_there() {
    let bench = bench_of(Scenario::default());
    bench.write("companies.csv", &companies(WRONG));
    bench.write("strict.toml", "strict = true\n");
    let strict = ["--sandbox", "--scenario", "strict.toml"];
    let refused = bench.fleetload(&[&["run", "companies.csv"], &strict[..]].concat()).expect_code(3).stdout;
    assert!(refused.contains("error[ref.unknown-id] companies.csv!B3"), "{refused}");
    bench.fleetload(&[&["plan", "companies.csv", "--refresh"], &strict[..]].concat()).expect_code(3);
    bench.fleetload(&["import", "companies.csv", "--journal", "other.db"]).expect_code(0);
    bench.fleetload(&[&["run", "--journal", "other.db"], &strict[..]].concat()).expect_code(3);
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
}

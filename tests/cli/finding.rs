//! `fleetload find`: ids of what exists, compared with what the service has made.

use fleetload::sandbox::{ENTERPRISE_TEMPLATES, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};
use serde_json::Value;

use crate::bench::{self, Bench, Outcome};

/// A service with three companies, six sites, six people and twelve devices.
fn filled(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &bench::companies(3));
    bench.write("sites.csv", &bench::sites(6, 3));
    bench.write("people.csv", &bench::people(6, 3));
    bench.write("devices.csv", &bench::devices(12, 3));
    bench.fleetload(&["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    bench
}

/// What a search with `--json` gives: the records, and the summary.
fn found(outcome: &Outcome) -> (Vec<Value>, Value) {
    let mut objects: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let summary = objects.pop().expect("a summary");
    (objects, summary)
}

fn ids(records: &[Value]) -> Vec<String> {
    let mut ids: Vec<String> =
        records.iter().map(|record| record["id"].as_str().expect("an id").to_owned()).collect();
    ids.sort();
    ids
}

/// The ids of the records of a kind that the service has made and whose request says so.
fn made(bench: &Bench, kind: &str, is: impl Fn(&Value) -> bool) -> Vec<String> {
    let entries = bench.created(kind).into_iter().filter(|entry| is(&entry.request));
    let mut ids: Vec<String> = entries.map(|entry| entry.id.to_string()).collect();
    ids.sort();
    ids
}

fn only(mut ids: Vec<String>) -> String {
    assert_eq!(ids.len(), 1, "{ids:?}");
    ids.remove(0)
}

#[test]
fn companies_sites_devices_and_people_are_found_with_the_ids_that_the_service_gave() {
    let bench = filled(Scenario::default());
    let search = |arguments: &[&str]| {
        let outcome = bench.fleetload(&[&["find", "--json"], arguments].concat()).expect_code(0);
        found(&outcome)
    };
    let acme = only(made(&bench, "company", |request| request["name"] == "Customer 1"));
    let of_acme = |request: &Value| request["companyId"] == acme.as_str();
    let username = |request: &Value| request["username"] == "user4@bench.example";
    let table = [
        ("companies|customer".to_owned(), made(&bench, "company", |_| true)),
        ("company|Customer 1".to_owned(), vec![acme.clone()]),
        (format!("company|{acme}"), vec![acme.clone()]),
        ("companies|--company|Northwind Networks".to_owned(), made(&bench, "company", |_| true)),
        ("sites|branch".to_owned(), made(&bench, "site", |_| true)),
        ("sites|branch|--company|Customer 1".to_owned(), made(&bench, "site", of_acme)),
        (format!("sites|--company|{acme}"), made(&bench, "site", of_acme)),
        (
            "devices|Till 1".to_owned(),
            made(&bench, "device", |request| {
                request["name"].as_str().is_some_and(|name| name.starts_with("Till 1"))
            }),
        ),
        ("device|001A.2B00.0003".to_owned(), made(&bench, "device", |request| request["name"] == "Till 3")),
        ("devices|till|--company|Customer 1".to_owned(), made(&bench, "device", of_acme)),
        ("people|user4@bench.example".to_owned(), made(&bench, "person", username)),
        ("people|number4|--company|Customer 1".to_owned(), made(&bench, "person", username)),
        ("people|--company|Customer 1".to_owned(), made(&bench, "person", of_acme)),
    ];
    for (line, expected) in table {
        let arguments: Vec<&str> = line.split('|').collect();
        assert!(!expected.is_empty(), "{line}");
        let (records, summary) = search(&arguments);
        assert_eq!(ids(&records), expected, "{line}");
        assert_eq!(summary["found"], expected.len(), "{line}");
        assert_eq!((&summary["state"], &summary["exit_code"]), (&"finished".into(), &0.into()));
    }
    // `Till 1` is exactly one, and a part of the names of two others.
    let (records, summary) = search(&["devices", "Till 1"]);
    let exact: Vec<bool> = records.iter().map(|record| record["exact"] == true).collect();
    assert_eq!(exact, [true, false, false]);
    assert_eq!(summary["exact"], 1);
    let changed: Vec<_> = bench.ledger().into_iter().filter(|entry| !entry.created).collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn templates_and_clouds_are_those_of_a_device() {
    let bench = Bench::new(Scenario::default());
    for (kind, expected, words) in
        [("templates", ENTERPRISE_TEMPLATES, "can be assigned"), ("clouds", VPN_CLOUDS, "can be joined")]
    {
        let arguments = ["find", kind, "--device", "Template Edge 200"];
        let shown = bench.fleetload(&arguments).expect_code(0).stdout;
        for id in expected {
            let line = shown.lines().find(|line| line.contains(&id.to_string())).expect("a line");
            assert!(line.contains("Northwind Networks") && line.trim_end().ends_with(words), "{line}");
        }
        assert!(shown.contains(&format!("2 {kind}")), "{shown}");
    }
    let device = TEMPLATE_DEVICE.to_string();
    let outcome = bench.fleetload(&["find", "clouds", "guest", "--device", &device, "--json"]).expect_code(0);
    assert_eq!(ids(&found(&outcome).0), [VPN_CLOUDS[1].to_string()]);
    let refused = bench.fleetload(&["find", "templates", "Retail"]).expect_code(2);
    assert!(refused.stderr.contains("find templates --device DEVICE"), "{}", refused.stderr);
}

#[test]
fn nothing_found_is_said_with_what_to_try_and_exit_code_4() {
    let bench = Bench::new(Scenario::default());
    for whole in ["58:c1:7a:00:00:01", "6f1c2a3e-ffff-4000-8000-000000000001"] {
        let told = bench.fleetload(&["find", "devices", whole]).expect_code(4).stderr;
        assert!(told.contains("an id and a MAC address match only as a whole"), "{told}");
    }
    let outcome = bench.fleetload(&["find", "companies", "Lummerland"]).expect_code(4);
    assert!(outcome.stdout.contains("no company that matches 'Lummerland' was found"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("shorter part of the name"), "{}", outcome.stderr);
    let (records, summary) = found(&bench.fleetload(&["find", "devices", "00:1a:2b:00:00:09", "--json"]));
    assert!(records.is_empty());
    assert_eq!((&summary["reason"], &summary["exit_code"]), (&"nothing-found".into(), &4.into()));
    assert_eq!(summary["asked"], serde_json::json!(["getDeviceByMac", "findDevicesByName"]));
}

#[test]
fn a_name_that_several_have_or_none_is_refused_with_the_candidates() {
    let bench = filled(Scenario::default());
    let outcome = bench.fleetload(&["find", "sites", "--company", "customer"]).expect_code(2);
    assert!(outcome.stderr.contains("no company is named exactly 'customer'"), "{}", outcome.stderr);
    for id in made(&bench, "company", |_| true) {
        assert!(outcome.stderr.contains(&id), "{}", outcome.stderr);
    }
    let stranger = "0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0001";
    let outcome = bench.fleetload(&["find", "companies", "--company", stranger]).expect_code(2);
    assert!(outcome.stderr.contains("--company: noDataFound"), "{}", outcome.stderr);
}

#[test]
fn what_a_profile_cannot_reach_is_named_with_the_key_to_map_and_a_list_takes_its_place() {
    let bench = filled(Scenario::default());
    let listed = "paths = \"documented\"\n[profile.bench.endpoints.listCompanies]\npath = \"/device-api/config/v1/listCompanies\"";
    bench.profile(listed, "", "");
    let outcome = bench.fleetload(&["find", "companies", "customer 2"]).expect_code(0);
    let acme = only(made(&bench, "company", |request| request["name"] == "Customer 2"));
    assert!(
        outcome.stdout.contains(&acme) && outcome.stdout.contains("from listCompanies"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains("[profile.bench.endpoints.findCompaniesByName]"), "{}", outcome.stderr);

    bench.profile("paths = \"documented\"", "", "");
    let before = bench.statistics().requests;
    let outcome = bench.fleetload(&["find", "sites", "Branch"]).expect_code(2);
    assert!(outcome.stderr.contains("[profile.bench.endpoints.findSitesByName]"), "{}", outcome.stderr);
    assert_eq!(bench.statistics().requests, before, "nothing was asked");

    let elsewhere = "paths = \"documented\"\n[profile.bench.endpoints.getSite]\npath = \"/elsewhere/{id}\"";
    bench.profile(elsewhere, "", "");
    let outcome = bench.fleetload(&["find", "sites", &acme]).expect_code(7);
    assert!(outcome.stderr.contains("it answers 404"), "{}", outcome.stderr);
}

#[test]
fn a_list_that_ends_at_a_page_length_is_told_as_perhaps_incomplete() {
    let bench = filled(Scenario { page_limit: 10, ..Scenario::default() });
    let outcome = bench.fleetload(&["find", "devices", "Till"]).expect_code(0);
    assert!(outcome.stderr.contains("findDevicesByName gave 10 entries"), "{}", outcome.stderr);
    let (_, summary) = found(&bench.fleetload(&["find", "devices", "Till", "--json"]));
    assert_eq!(summary["perhaps_incomplete"], serde_json::json!(["findDevicesByName"]));
}

#[test]
fn names_of_the_service_cannot_steer_the_terminal() {
    let bench = Bench::new(Scenario::default());
    let scenario = format!(
        "[[company]]\nid = \"0b7a51c4-52f0-4c1e-9d1c-1f3f6f6f0001\"\nname = \"Red \\u001B[31m\"\nparent = \"{ROOT_COMPANY}\"\n"
    );
    bench.write("odd.toml", &scenario);
    let arguments = ["find", "companies", "Red", "--sandbox", "--scenario", "odd.toml"];
    let outcome = bench.fleetload(&arguments).expect_code(0);
    assert!(
        outcome.stdout.contains("Red \\u{1b}[31m") && !outcome.stdout.contains('\u{1b}'),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("REHEARSAL"), "{}", outcome.stdout);
}

#[test]
fn a_search_goes_on_with_the_records_of_the_rehearsal_before() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(2));
    bench.fleetload(&["run", "companies.csv", "--sandbox"]).expect_code(0);
    let rehearsed: Vec<String> =
        bench.results(1).iter().map(|row| row["id"].as_str().expect("an id").to_owned()).collect();
    let outcome = bench.fleetload(&["find", "companies", "customer", "--sandbox", "--json"]).expect_code(0);
    let (records, summary) = found(&outcome);
    let mut expected = rehearsed;
    expected.sort();
    assert_eq!(ids(&records), expected);
    assert_eq!(summary["rehearsal"], true);
}

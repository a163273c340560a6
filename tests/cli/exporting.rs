//! `fleetload export`: what exists, compared with what the service has made, in every form, and whole or with what is missing.

use std::collections::{BTreeMap, BTreeSet};

use calamine::Data;
use fleetload::sandbox::{Fault, FaultKind, LedgerEntry, Scenario};
use serde_json::{Value, json};

use crate::bench::{self, Bench, Outcome, books};

/// Everything that a device brings along, and labels and metadata of sites and companies.
fn filled(scenario: Scenario) -> Bench {
    let bench = Bench::new(scenario);
    bench.write("companies.csv", &with(&bench::companies(3), ["meta:tier"], |n| [format!("gold {n}")]));
    bench.write("sites.csv", &with(&bench::sites(6, 3), ["labels"], |n| [format!("north {n}; retail")]));
    bench.write("people.csv", &bench::people(7, 3));
    let devices =
        with(&bench::devices(13, 3), ["labels", "meta:rack"], |n| [format!("till {n}"), format!("=R{n}")]);
    bench.write("devices.csv", &devices);
    bench.fleetload(&["run", "companies.csv", "sites.csv", "people.csv", "devices.csv"]).expect_code(0);
    bench
}

/// A sheet with more columns.
fn with<const N: usize>(sheet: &str, headers: [&str; N], cells: impl Fn(usize) -> [String; N]) -> String {
    let mut lines = sheet.lines();
    let mut text = format!("{},{}\n", lines.next().expect("a header"), headers.join(","));
    for (n, line) in lines.enumerate() {
        text += &format!("{line},{}\n", cells(n).join(","));
    }
    text
}

/// The records of a CSV text, each by its headers, without its guards.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let headers = reader.headers().expect("headers").clone();
    let record = |record: csv::StringRecord| {
        headers.iter().zip(record.iter()).map(|(header, cell)| (header.to_owned(), cell.to_owned())).collect()
    };
    reader.records().map(|read| record(read.expect("a record"))).collect()
}

fn column(rows: &[BTreeMap<String, String>], header: &str) -> BTreeSet<String> {
    rows.iter().map(|row| row[header].clone()).collect()
}

/// The ids of what the service has made.
fn made(bench: &Bench, kind: &str) -> BTreeSet<String> {
    bench.created(kind).iter().map(|entry| entry.id.to_string()).collect()
}

/// What the service has made, one by its name.
fn record(bench: &Bench, kind: &str, name: &str) -> LedgerEntry {
    let mut records = bench.created(kind).into_iter().filter(|entry| entry.request["name"] == name);
    records.next().expect("such a record")
}

fn objects(outcome: &Outcome) -> (Vec<Value>, Value) {
    let all = outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut rows: Vec<Value> = all.filter(|object| object["object"] != "progress").collect();
    let summary = rows.pop().expect("a summary");
    (rows, summary)
}

#[test]
fn companies_people_sites_and_devices_are_those_that_the_service_has_made_with_the_columns_of_their_sheets() {
    let bench = filled(Scenario::default());
    let root = bench::root();
    for (what, kind, extra) in
        [("companies", "company", 1), ("people", "person", 0), ("sites", "site", 0), ("devices", "device", 1)]
    {
        let outcome = bench.fleetload(&["export", what, "--company", &root, "--below"]).expect_code(0);
        let rows = table(&outcome.stdout);
        let expected = made(&bench, kind);
        // The account's own company, and the device that others are copied from.
        assert_eq!(rows.len(), expected.len() + extra, "{what}");
        assert!(column(&rows, "id").is_superset(&expected), "{what}");
        assert!(rows.iter().all(|row| row["_export_note"].is_empty()), "{what}");
        for entry in bench.created(kind) {
            let row = rows.iter().find(|row| row["id"] == entry.id.to_string()).expect("a row");
            let asked = &entry.request;
            match kind {
                "company" => {
                    assert_eq!((&*row["action"], &*row["name"]), ("update", asked["name"].as_str().unwrap()));
                    assert_eq!(row["parent"], root);
                    assert_eq!(format!("'{}", asked["phoneNumber"].as_str().unwrap()), row["phone"]);
                    assert_eq!(row["address1"], asked["address"]["address1"].as_str().unwrap());
                }
                "person" => {
                    assert_eq!(row["username"], asked["username"].as_str().unwrap());
                    assert_eq!(row["company"], asked["companyId"].as_str().unwrap());
                }
                "site" => {
                    assert_eq!(row["reference"], asked["reference"].as_str().unwrap());
                    assert_eq!(row["company"], asked["companyId"].as_str().unwrap());
                }
                _ => {
                    assert_eq!(row["name"], asked["name"].as_str().unwrap());
                    assert_eq!(row["mac"], asked["identification"].as_str().unwrap_or_default());
                }
            }
        }
    }
    let changed: Vec<_> =
        bench.ledger().into_iter().filter(|entry| entry.kind == "company" && !entry.created).collect();
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn one_company_is_exported_without_its_neighbours_and_the_ways_to_its_devices_are_said() {
    let bench = filled(Scenario::default());
    let acme = record(&bench, "company", "Customer 1").id.to_string();
    let of_acme = |kind: &str| -> BTreeSet<String> {
        let entries =
            bench.created(kind).into_iter().filter(|entry| entry.request["companyId"] == acme.as_str());
        entries.map(|entry| entry.id.to_string()).collect()
    };
    for (what, kind) in [("people", "person"), ("sites", "site"), ("devices", "device")] {
        let outcome = bench.fleetload(&["export", what, "--company", "Customer 1", "--json"]).expect_code(0);
        let (rows, summary) = objects(&outcome);
        let ids: BTreeSet<String> = rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, of_acme(kind), "{what}");
        assert_eq!((&summary["rows"], &summary["failed"]), (&json!(ids.len()), &json!(0)));
        assert_eq!(summary["scope"], format!("company {acme}"));
        if what == "devices" {
            let ways = summary["ways"].to_string();
            assert!(ways.contains("4 devices from listCompanyDeviceOnlineStatuses"), "{ways}");
            assert!(ways.contains("4 of 14 devices from listDevices"), "{ways}");
        }
    }
    // What was read is what there is, whichever way is left.
    for left in ["listDevices", "listCompanyDeviceStates", "findDevicesByName"] {
        let mapped = format!(
            "paths = \"documented\"\n[profile.bench.endpoints.{left}]\npath = \"/device-api/config/v1/{left}{}\"",
            match left {
                "listCompanyDeviceStates" => "/{companyId}",
                "findDevicesByName" => "?name={name}&companyId={companyId}",
                _ => "",
            }
        );
        bench.profile(&mapped, "rate = \"unlimited\"", "");
        let outcome = bench.fleetload(&["export", "devices", "--company", &acme, "--json"]).expect_code(0);
        let (rows, summary) = objects(&outcome);
        let ids: BTreeSet<String> = rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, of_acme("device"), "{left}");
        assert!(summary["ways"].to_string().contains(left) && !summary["limits"][0].is_null(), "{summary}");
    }
    bench.profile("paths = \"documented\"", "", "");
    let outcome = bench.fleetload(&["export", "devices", "--company", &acme]).expect_code(2);
    assert!(outcome.stderr.contains("[profile.bench.endpoints.listDevices]"), "{}", outcome.stderr);
}

#[test]
fn labels_and_metadata_are_rows_of_their_sheets() {
    let bench = filled(Scenario::default());
    let outcome =
        bench.fleetload(&["export", "labels", "--company", &bench::root(), "--below"]).expect_code(0);
    let rows = table(&outcome.stdout);
    let shown: BTreeSet<(String, String, String)> = rows
        .iter()
        .map(|row| (row["owner_kind"].clone(), row["owner"].clone(), row["label"].clone()))
        .collect();
    let mut expected = BTreeSet::new();
    for n in 0..6 {
        let site = record(&bench, "site", &format!("Branch {n}")).id.to_string();
        for label in [format!("north {n}"), "retail".to_owned()] {
            expected.insert(("site".to_owned(), site.clone(), label));
        }
    }
    for n in 0..13 {
        let device = record(&bench, "device", &format!("Till {n}")).id.to_string();
        expected.insert(("device".to_owned(), device, format!("till {n}")));
    }
    assert_eq!(shown, expected);
    assert_eq!(column(&rows, "action"), ["put".to_owned()].into());

    let outcome =
        bench.fleetload(&["export", "metadata", "--company", &bench::root(), "--below"]).expect_code(0);
    let rows = table(&outcome.stdout);
    let racks: BTreeSet<String> =
        rows.iter().filter(|row| row["key"] == "rack").map(|row| row["value"].clone()).collect();
    assert_eq!(racks, (0..13).map(|n| format!("'=R{n}")).collect());
    assert_eq!(rows.iter().filter(|row| row["owner_kind"] == "company").count(), 3);
}

#[test]
fn every_export_is_read_and_has_a_row_for_what_the_service_shows() {
    let bench = filled(Scenario::default());
    let device = fleetload::sandbox::TEMPLATE_DEVICE.to_string();
    let root = bench::root();
    let table = [
        (&["interfaces", "--device", &device][..], 3),
        (&["templates", "--device", &device], 2),
        (&["subscriptions", "--device", &device], 0),
        (&["clouds", "--device", &device], 2),
        (&["vpn", "--device", &device], 0),
        (&["statuses", "--device", &device], 1),
        (&["statuses", "--full", "--device", &device], 1),
        (&["states", "--device", &device], 1),
        (&["statuses", "--company", &root, "--below"], 14),
        (&["statuses", "--full"], 14),
        (&["states"], 14),
        (&["tunnels", "--device", &device], 0),
        (&["connections", "--device", &device], 0),
        (&["routes", "--device", &device], 0),
        (&["companies"], 4),
        (&["sites"], 6),
        (&["devices"], 14),
        (&["people"], 7),
    ];
    for (arguments, rows) in table {
        let outcome = bench.fleetload(&[&["export", "--json"], arguments].concat()).expect_code(0);
        let (shown, summary) = objects(&outcome);
        assert_eq!((shown.len(), &summary["rows"]), (rows, &json!(rows)), "{arguments:?}: {shown:?}");
    }
    let (zones, _) = objects(&bench.fleetload(&["export", "time-zones", "--json"]).expect_code(0));
    assert!(zones.iter().any(|zone| zone["zone_id"] == "Pacific/Auckland" && zone["region"] == "Pacific"));
    let (states, _) = objects(&bench.fleetload(&["export", "states", "--json"]).expect_code(0));
    assert!(states.iter().all(|row| row["state"].is_object()), "as it came: {states:?}");
}

#[test]
fn an_id_that_is_not_there_is_said_with_its_option_and_how_to_search_for_it() {
    let bench = Bench::new(Scenario::default());
    let id = "6f1c2a3e-0000-4000-8000-0000000000ff";
    for (option, what) in [("--company", "companies"), ("--site", "sites"), ("--device", "devices")] {
        let told = bench.fleetload(&["export", "devices", option, id]).expect_code(2).stderr;
        assert!(told.starts_with(&format!("error: {option}: ")), "{told}");
        let find = format!("hint: to search for the id, type: fleetload find {what} NAME");
        assert!(told.contains(&find), "{told}");
    }
    let told =
        bench.fleetload(&["export", "devices", "--company", id, "--site", "Depot"]).expect_code(2).stderr;
    assert!(
        told.starts_with(&format!("error: --site: no site of the company {id} is named exactly 'Depot'\n")),
        "{told}"
    );
    // Where only the list of a company's sites can be asked for, the service says that there is no such company.
    let lacking = [("findSitesByName", FaultKind::NotFound404), ("listSites", FaultKind::NoDataFound)];
    let scenario = lacking.into_iter().fold(Scenario::default(), |scenario, (operation, kind)| {
        scenario.with_fault(Fault::new(operation, kind))
    });
    let bench = Bench::new(scenario);
    let find = "hint: to search for the id, type: fleetload find companies NAME\n";
    for command in
        [&["export", "devices", "--company", id, "--site", "Depot"][..], &["find", "sites", "--company", id]]
    {
        let told = bench.fleetload(command).expect_code(2).stderr;
        assert!(told.starts_with("error: --company: ") && told.contains(find), "{command:?}: {told}");
    }
}

#[test]
fn an_export_takes_the_place_of_an_earlier_one_and_of_nothing_else() {
    let bench = filled(Scenario::default());
    let own = bench::companies(2);
    for out in ["own.csv", "own.jsonl", "own.xlsx"] {
        // An export without rows is one as well.
        for company in [bench::root(), bench.created("company")[0].id.to_string()] {
            let arguments = ["export", "people", "--company", &company, "--out", out];
            bench.fleetload(&arguments).expect_code(0);
            bench.fleetload(&arguments).expect_code(0);
        }
        let own = bench.write(out, &own);
        let arguments = ["export", "people", "--company", &bench::root(), "--out", out];
        let told = bench.fleetload(&arguments).expect_code(2).stderr;
        assert!(told.contains(&format!("{out} already exists and is not an export")), "{told}");
        assert!(std::fs::read_to_string(own).expect("a sheet").starts_with("key,"), "it is untouched");
    }
}

#[test]
fn a_file_has_the_same_rows_in_every_form_and_is_for_its_owner_alone() {
    let bench = filled(Scenario::default());
    let root = bench::root();
    for out in ["devices.out.csv", "devices.out.jsonl", "devices.out.xlsx"] {
        let arguments = ["export", "devices", "--company", &root, "--below", "--out", out];
        let outcome = bench.fleetload(&arguments).expect_code(0);
        assert!(outcome.stdout.contains(&format!("14 rows of devices in {out}")), "{}", outcome.stdout);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(bench.path(out)).expect("the file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{out}");
        }
        assert!(!bench.path(&format!("{out}.part")).exists());
    }
    let text = std::fs::read_to_string(bench.path("devices.out.csv")).expect("the file");
    let rows = table(&text);
    assert!(column(&rows, "id").is_superset(&made(&bench, "device")));
    let lines = std::fs::read_to_string(bench.path("devices.out.jsonl")).expect("the file");
    let ids: BTreeSet<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter_map(|object| object["id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(ids, column(&rows, "id"));
    let sheets = books::read(&bench.path("devices.out.xlsx"));
    assert_eq!(sheets.iter().map(|sheet| sheet.name.as_str()).collect::<Vec<_>>(), ["About", "devices"]);
    let id = sheets[1].column("id");
    let in_book: BTreeSet<String> = sheets[1].rows.iter().skip(1).map(|row| row[id].to_string()).collect();
    assert_eq!(in_book, column(&rows, "id"));
    let cells = sheets[1].rows.iter().flatten();
    assert!(cells.clone().all(|cell| matches!(cell, Data::String(_) | Data::Empty)), "every cell is text");
    assert!(sheets[0].text().contains(&root), "{}", sheets[0].text());
}

#[test]
fn a_cell_is_exported_as_blank_only_where_its_field_would_be_shown() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(1));
    let sites = "key,company,name,phone,latitude,longitude,address1,city,country\n\
                 S0,C0,Depot,+64 9 555 0001,-36.8,174.7,1 High St,Auckland,NZ\n";
    bench.write("sites.csv", sites);
    bench.fleetload(&["run", "companies.csv", "sites.csv"]).expect_code(0);
    let [company, site] = ["company", "site"].map(|kind| bench.created(kind)[0].id.to_string());
    let blank = |what: &str, scope: &[&str]| -> BTreeSet<String> {
        let out = ["export", what, "--out", "out.csv"];
        bench.fleetload(&[&out[..], scope].concat()).expect_code(0);
        let rows = table(&std::fs::read_to_string(bench.path("out.csv")).expect("the file"));
        let row = rows.into_iter().find(|row| row["id"] == company || row["id"] == site).expect("a row");
        let seen: BTreeMap<String, String> = serde_json::from_str(&row["exported"]).expect("JSON");
        seen.into_iter().filter(|(_, cell)| cell.is_empty()).map(|(column, _)| column).collect()
    };
    let of = |columns: &[&str]| columns.iter().map(|column| (*column).to_owned()).collect::<BTreeSet<_>>();
    let of_company = of(&["fax", "address2", "suburb", "state", "postcode", "timezone"]);
    assert_eq!(blank("companies", &["--company", &company]), of_company);
    // Of a site the lists show its name and reference, and no look-up its address.
    assert_eq!(blank("sites", &["--company", &company]), of(&["reference"]));
    let of_site = of(&["reference", "phone", "fax", "latitude", "longitude"]);
    assert_eq!(blank("sites", &["--site", &site]), of_site);
}

#[test]
fn a_record_that_cannot_be_read_has_a_row_and_is_named_and_the_rest_is_there() {
    let bench = filled(Scenario::default());
    let fault =
        |fault: Fault| bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a fault");
    fault(Fault::new("getDevice", FaultKind::GeneralError).times(2));
    let arguments = ["export", "devices", "--company", &bench::root(), "--below", "--out", "devices.out.csv"];
    let outcome = bench.fleetload(&arguments).expect_code(4);
    assert!(
        outcome
            .stdout
            .contains("12 rows of devices in devices.out.csv, and 2 records that could not be read")
    );
    let rows = table(&std::fs::read_to_string(bench.path("devices.out.csv")).expect("the file"));
    assert_eq!(rows.len(), 14, "a row for each");
    assert!(column(&rows, "id").is_superset(&made(&bench, "device")));
    let unread: Vec<_> = rows.iter().filter(|row| !row["_export_note"].is_empty()).collect();
    assert_eq!(unread.len(), 2);
    for row in unread {
        let note = &row["_export_note"];
        assert!(note.starts_with(&format!("device {}: getDevice: generalError", row["id"])), "{note}");
        assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
        assert!(row["name"].is_empty());
        // Nobody knows whether a cell of it is blank.
        assert_eq!(row["exported"], format!("{{\"id\":\"{}\",\"action\":\"update\"}}", row["id"]));
    }
    // What tells nothing is asked again.
    fault(Fault::new("getDevice", FaultKind::Error500Before).times(3));
    let outcome = bench.fleetload(&["export", "devices", "--json"]).expect_code(0);
    assert_eq!(objects(&outcome).1["rows"], 14);
    fault(Fault::new("listPeople", FaultKind::RateLimitExceeded).times(3));
    let outcome = bench.fleetload(&["export", "people", "--json"]).expect_code(0);
    assert_eq!(objects(&outcome).1["rows"], 7);
    // An endpoint that is not there, and a service that refuses us, end it.
    fault(Fault::new("listPeople", FaultKind::NotFound404));
    let outcome = bench.fleetload(&["export", "people"]).expect_code(7);
    assert!(outcome.stderr.contains("[profile.bench.endpoints.listPeople]"), "{}", outcome.stderr);
    fault(Fault::new("listPeople", FaultKind::UnauthorizedSource));
    let outcome = bench.fleetload(&["export", "people", "--json"]).expect_code(7);
    assert_eq!(objects(&outcome).1["reason"], "source-address");
}

#[test]
fn of_a_list_that_is_cut_off_no_entry_is_exported() {
    let bench = filled(Scenario::default());
    let cut = |operation: &str, at: usize, times: u64| {
        let fault = Fault::new(operation, FaultKind::AnswerCut).at(at).times(times);
        bench.sandbox().change(|scenario| scenario.fault = vec![fault]).expect("a fault");
    };
    // Within the entries.
    let company = record(&bench, "company", "Customer 1").id.to_string();
    for at in [250, 300, 350] {
        let arguments = ["export", "people", "--company", &company, "--json"];
        cut("listPeople", at, 2);
        let (whole, _) = objects(&bench.fleetload(&arguments).expect_code(0));
        cut("listPeople", at, 3);
        let (rows, summary) = objects(&bench.fleetload(&arguments).expect_code(4));
        assert_eq!((rows.len(), &summary["rows"], &summary["failed"]), (1, &json!(0), &json!(1)), "{at}");
        assert!(rows[0]["_export_note"].as_str().unwrap().contains("was cut off"), "{rows:?}");
        assert!(whole.len() > 1, "{whole:?}");
    }
    cut("listSites", 400, 3);
    let outcome = bench.fleetload(&["export", "sites"]).expect_code(7);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("listSites: the answer was cut off"), "{}", outcome.stderr);
    assert_eq!(bench.statistics().faults_fired["answer_cut"], 3 * (2 + 3) + 3);
}

#[test]
fn an_interrupted_export_goes_on_and_asks_nothing_twice() {
    let bench = filled(Scenario::default());
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let arguments =
        ["export", "devices", "--company", &bench::root(), "--below", "--out", "devices.out.xlsx"];
    let refused = Fault::new("getDevice", FaultKind::UnauthorizedSource).after(8);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).expect("a fault");
    let before = bench.requests("getDevice");
    let outcome = bench.fleetload(&arguments).expect_code(7);
    assert!(outcome.stderr.contains("with --resume"), "{}", outcome.stderr);
    assert_eq!(bench.requests("getDevice") - before, 9);
    assert!(!bench.path("devices.out.xlsx").exists() && bench.path("devices.out.xlsx.part").exists());

    // One that finds nothing to ask about takes nothing away, and leaves nothing.
    let refused = Fault::new("getCompany", FaultKind::UnauthorizedSource);
    bench.sandbox().change(|scenario| scenario.fault = vec![refused]).expect("a fault");
    bench.fleetload(&arguments).expect_code(7);
    let elsewhere = ["export", "devices", "--company", &bench::root(), "--out", "other.out.csv"];
    bench.fleetload(&elsewhere).expect_code(7);
    assert!(!bench.path("other.out.csv.part").exists());

    bench.clear_faults();
    let other = bench.fleetload(&["export", "sites", "--out", "devices.out.xlsx", "--resume"]).expect_code(2);
    assert!(other.stderr.contains("is of another export: devices of company"), "{}", other.stderr);
    let outcome = bench.fleetload(&[&arguments[..], &["--resume"]].concat()).expect_code(0);
    assert!(outcome.stdout.contains("14 rows of devices"), "{}", outcome.stdout);
    assert_eq!(bench.requests("getDevice") - before, 9 + 6, "the eight that were read are not asked again");
    let sheets = books::read(&bench.path("devices.out.xlsx"));
    let id = sheets[1].column("id");
    let ids: Vec<String> = sheets[1].rows.iter().skip(1).map(|row| row[id].to_string()).collect();
    assert_eq!(ids.len(), 14);
    assert!(ids.iter().cloned().collect::<BTreeSet<_>>().is_superset(&made(&bench, "device")));
    assert!(!bench.path("devices.out.xlsx.part").exists());
    let again = bench.fleetload(&[&arguments[..], &["--resume"]].concat()).expect_code(2);
    assert!(again.stderr.contains("there is no interrupted export"), "{}", again.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_stops_an_export_and_leaves_what_was_read() {
    let bench = filled(Scenario::default());
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 1", "");
    let stalled = Fault::new("getDevice", FaultKind::StallBefore).after(5);
    bench.sandbox().change(|scenario| scenario.fault = vec![stalled]).expect("a fault");
    let before = bench.requests("getDevice");
    let mut export = bench.start(&["export", "devices", "--out", "devices.out.csv", "--json"]);
    export.until(|| bench.requests("getDevice") - before == 6);
    export.signal("-INT");
    let outcome = export.ended().expect_code(5);
    let summary = objects(&outcome).1;
    assert_eq!(
        (&summary["reason"], &summary["asked"], &summary["of"]),
        (&json!("signal"), &json!(5), &json!(14))
    );
    bench.clear_faults();
    let resumed = ["export", "devices", "--out", "devices.out.csv", "--json", "--resume"];
    let summary = objects(&bench.fleetload(&resumed).expect_code(0)).1;
    assert_eq!((&summary["rows"], &summary["asked"]), (&json!(14), &json!(14)));
    assert_eq!(bench.requests("getDevice") - before, 6 + 9);
}

#[test]
fn a_list_that_ends_at_a_page_length_is_marked() {
    let bench = filled(Scenario { page_limit: 10, ..Scenario::default() });
    let outcome = bench.fleetload(&["export", "sites", "--json"]).expect_code(0);
    assert_eq!(objects(&outcome).1["limits"], json!([]));
    let outcome = bench.fleetload(&["export", "devices", "--json"]).expect_code(0);
    let (rows, summary) = objects(&outcome);
    assert_eq!(rows.len(), 10);
    assert!(summary["limits"].to_string().contains("listDevices gave 10 entries"), "{summary}");
    let outcome = bench.fleetload(&["export", "statuses", "--company", &bench::root(), "--below", "--json"]);
    let (rows, summary) = objects(&outcome.expect_code(0));
    assert_eq!((rows.len(), &summary["perhaps_incomplete"]), (10, &json!(1)));
    assert!(rows[9]["_export_note"].as_str().unwrap().contains("may be a page of more"), "{rows:?}");
    // Three lists of ten, company by company and by the letters of their names, show all of them.
    let outcome = bench.fleetload(&["export", "devices", "--company", &bench::root(), "--below", "--json"]);
    let (rows, summary) = objects(&outcome.expect_code(0));
    assert_eq!(rows.len(), 14, "{summary}");
}

#[test]
fn a_list_of_the_devices_of_a_company_is_no_page_where_that_of_all_devices_is_whole() {
    let bench = Bench::new(Scenario::default());
    bench.write("companies.csv", &bench::companies(3));
    bench.write("devices.csv", &bench::devices(30, 3));
    bench.fleetload(&["run", "companies.csv", "devices.csv"]).expect_code(0);
    let outcome = bench.fleetload(&["export", "devices", "--company", "Customer 1", "--json"]).expect_code(0);
    let (rows, summary) = objects(&outcome);
    assert_eq!(rows.len(), 10);
    assert!(summary["ways"].to_string().contains("10 of 31 devices from listDevices"), "{summary}");
    assert!(!summary["limits"].to_string().contains("may be a page"), "{summary}");
}

#[test]
fn where_the_service_has_nothing_at_a_path_that_is_set_another_path_is_advised() {
    let bench = Bench::new(Scenario::default());
    bench.profile("[profile.bench.endpoints.listSites]\npath = \"/device-api/config/v1/nothing\"", "", "");
    let outcome = bench.fleetload(&["export", "sites"]).expect_code(7);
    let told = "set method and path in [profile.bench.endpoints.listSites]\n";
    assert!(outcome.stderr.contains("(it answers 404)") && outcome.stderr.contains(told), "{outcome:?}");
}

#[test]
fn the_rows_of_a_sheet_are_exported_as_the_records_that_exist_of_them() {
    let bench = filled(Scenario::default());
    let known = record(&bench, "device", "Till 9").id.to_string();
    let acme = record(&bench, "company", "Customer 1").id.to_string();
    let sheet = format!(
        "id,company,name,mac,phone,address1\n{known},,anything,,,\n,{acme},Till 1,00:1A:2B:00:00:01,1,1\n\
         ,{acme},Till 4,,1,1\n,{acme},Till 99,,1,1\n,{acme},Till 4,,1,1\n"
    );
    bench.write("some.csv", &sheet);
    let arguments = ["export", "devices", "--sheet", "some.csv", "--json"];
    let (rows, summary) = objects(&bench.fleetload(&arguments).expect_code(4));
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    let of = |name: &str| record(&bench, "device", name).id.to_string();
    assert_eq!(ids, [known, of("Till 1"), of("Till 4")]);
    assert_eq!((&summary["rows"], &summary["failed"]), (&json!(3), &json!(1)));
    let note = rows[3]["_export_note"].as_str().expect("a note");
    assert_eq!(note, "some row 5: findDevicesByName shows no such record");
    let (interfaces, _) =
        objects(&bench.fleetload(&["export", "interfaces", "--sheet", "some.csv", "--json"]));
    assert_eq!(interfaces.iter().filter(|row| row["id"].is_string()).count(), 9);
    let outcome = bench.fleetload(&["export", "devices", "--sheet", "missing.csv"]).expect_code(3);
    assert!(outcome.stderr.contains("missing.csv"), "{}", outcome.stderr);
}

#[test]
fn what_the_rows_of_upkeep_sheets_are_about_is_exported() {
    let bench = filled(Scenario::default());
    let id = |kind: &str, name: &str| record(&bench, kind, name).id.to_string();
    let (site, till) = (id("site", "Branch 2"), id("device", "Till 5"));
    // By a key of an earlier import, a name, an id and a MAC address; twice the same; one that nobody has.
    bench.write(
        "labels.csv",
        &format!(
            "owner_kind,owner,label\nsite,S1,x\nsite,name:Branch 0,x\nsite,{site},x\ndevice,00-1A-2B-00-00-01,x\n\
             device,{till},x\nsite,S1,\nsite,key:S99,x\n"
        ),
    );
    let arguments = ["export", "labels", "--sheet", "labels.csv", "--json"];
    let (rows, summary) = objects(&bench.fleetload(&arguments).expect_code(4));
    let shown: BTreeSet<(&str, &str)> =
        rows.iter().filter_map(|row| Some((row["owner"].as_str()?, row["label"].as_str()?))).collect();
    let sites = [("Branch 1", "north 1"), ("Branch 0", "north 0"), ("Branch 2", "north 2")]
        .map(|(name, label)| (id("site", name), label));
    let devices =
        [("Till 1", "till 1"), ("Till 5", "till 5")].map(|(name, label)| (id("device", name), label));
    let mut expected: BTreeSet<(&str, &str)> =
        sites.iter().chain(&devices).map(|(id, label)| (id.as_str(), *label)).collect();
    expected.extend(sites.iter().map(|(id, _)| (id.as_str(), "retail")));
    assert_eq!(shown, expected);
    assert_eq!((&summary["rows"], &summary["failed"]), (&json!(8), &json!(1)));
    let note = rows[8]["_export_note"].as_str().expect("a note");
    assert_eq!(note, "labels row 8: no site of this file or of the journal has the key 'S99'");
    // Devices and sites of assignments; a record of another sheet of the file is one already.
    bench.write("site_assignments.csv", &format!("device,site\n{till},S1\nTill 1,S1\n"));
    for (what, ids) in
        [("sites", vec![id("site", "Branch 1")]), ("devices", vec![till, id("device", "Till 1")])]
    {
        let arguments = ["export", what, "--sheet", "site_assignments.csv", "--json"];
        let (rows, _) = objects(&bench.fleetload(&arguments).expect_code(0));
        let shown: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        assert_eq!(shown, ids, "{what}");
    }
    let outcome = bench.fleetload(&["export", "companies", "--sheet", "site_assignments.csv"]).expect_code(3);
    assert!(outcome.stderr.contains("site_assignments.csv: no row names a company"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn a_signal_stops_an_export_that_is_still_finding_out_what_to_read() {
    let bench = Bench::new(Scenario::default().with_fault(Fault::new("listDevices", FaultKind::StallBefore)));
    let mut export = bench.start(&["export", "devices", "--json"]);
    export.until(|| bench.requests("listDevices") == 1);
    export.signal("-INT");
    let outcome = export.ended().expect_code(5);
    assert_eq!(objects(&outcome).1["reason"], "signal");
}

#[test]
fn what_an_import_made_is_exported_from_the_journal() {
    let bench = filled(Scenario::default());
    bench.write("sites.csv", &bench::sites(9, 3));
    bench.fleetload(&["run", "companies.csv", "sites.csv"]);
    for (import, expected) in [("1", 6), ("2", 9)] {
        let outcome = bench.fleetload(&["export", "sites", "--import", import, "--json"]).expect_code(0);
        let (rows, summary) = objects(&outcome);
        assert_eq!((rows.len(), &summary["scope"]), (expected, &json!(format!("import {import}"))));
    }
    let (rows, _) =
        objects(&bench.fleetload(&["export", "people", "--import", "1", "--json"]).expect_code(0));
    let ids: BTreeSet<String> = rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!((rows.len(), &ids), (ids.len(), &made(&bench, "person")));
    // What a company or a site shows of a device as well has one row.
    for subject in ["statuses", "states"] {
        let outcome = bench.fleetload(&["export", subject, "--import", "1", "--json"]).expect_code(0);
        let (rows, _) = objects(&outcome);
        let ids: BTreeSet<String> =
            rows.iter().map(|row| row["device"].as_str().unwrap().to_owned()).collect();
        assert_eq!((rows.len(), &ids), (ids.len(), &made(&bench, "device")), "{subject}");
    }
    let outcome = bench.fleetload(&["export", "sites", "--import", "7"]).expect_code(2);
    assert!(outcome.stderr.contains("the journal has no import 7"), "{}", outcome.stderr);
}

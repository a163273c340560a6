//! Upkeep rows in great numbers, with answers that never arrive: the service has what the sheets ask for, nothing is done
//! twice that may not be, and every row is explained.

use std::collections::BTreeMap;

use calamine::Data;
use fleetload::sandbox::{Fault, FaultKind, Scenario};

use crate::bench::books::{self, Sheet};
use crate::bench::upkeep::{Owners, UpkeepRows, Wishes, endings, state_of};
use crate::bench::{self, Bench};

/// Faults that spoil the answer after the deed, at 5 % each.
const SPOILT: [FaultKind; 3] = [FaultKind::AnswerLost, FaultKind::AnswerCut, FaultKind::Error500After];

/// Every operation by which an upkeep row is carried out.
const WRITES: [&str; 16] = [
    "putSiteLabel",
    "putDeviceLabel",
    "putInterfaceLabel",
    "deleteInterfaceLabel",
    "putCompanyMetadata",
    "putSiteMetadata",
    "putDeviceMetadata",
    "deleteCompanyMetadata",
    "deleteSiteMetadata",
    "deleteDeviceMetadata",
    "addLicenceCode",
    "subscribeTemplate",
    "unsubscribeTemplate",
    "assignDeviceToSite",
    "addDeviceToVpnCloud",
    "removeDeviceFromVpnCloud",
];

/// Writes sheets as one workbook.
fn write_book(bench: &Bench, name: &str, sheets: &[(&str, String)]) {
    let sheets: Vec<Sheet> = sheets
        .iter()
        .map(|(name, text)| {
            let row = |line: &str| line.split(',').map(|cell| Data::String(cell.to_owned())).collect();
            Sheet { name: (*name).to_owned(), rows: text.lines().map(row).collect() }
        })
        .collect();
    books::write(&bench.path(name), &sheets);
}

fn records(owners: Owners) -> Vec<(&'static str, String)> {
    vec![
        ("companies", bench::companies(owners.companies)),
        ("sites", bench::sites(owners.sites, owners.companies)),
        ("devices", bench::devices(owners.devices, owners.companies)),
    ]
}

#[test]
fn two_thousand_rows_with_answers_lost_cut_and_failed_after_the_deed_bring_about_what_they_ask_for() {
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    let mut wishes = Wishes::new(12);
    let before = Owners { companies: 4, sites: 40, devices: 60 };
    let (labels, metadata, licences) = (200, 200, 0);
    let rows = UpkeepRows { labels, metadata, licences, subscriptions: 60, site_assignments: 40, vpn: 60 };
    let earlier = wishes.draw(before, rows);
    write_book(&bench, "earlier.xlsx", &[records(before), earlier.sheets].concat());
    bench.fleetload(&["run", "earlier.xlsx", "--quiet"]).expect_code(0);
    assert_eq!(endings(&bench, 1), earlier.endings);
    assert_eq!(state_of(&bench), wishes.state());

    // Half of the devices are there, the other half is created by the same workbook.
    let owners = Owners { devices: 120, ..before };
    let (labels, metadata, licences) = (600, 640, 180);
    let rows = UpkeepRows { labels, metadata, licences, subscriptions: 230, site_assignments: 120, vpn: 230 };
    let now = wishes.draw(owners, rows);
    write_book(&bench, "upkeep.xlsx", &[records(owners), now.sheets].concat());
    let spoil = |operation: &&'static str| {
        SPOILT.map(|kind| Fault { probability: 0.05, ..Fault::new(operation, kind) })
    };
    bench
        .sandbox()
        .change(|scenario| scenario.fault = WRITES.iter().flat_map(spoil).collect())
        .expect("a consistent scenario");
    bench.fleetload(&["run", "upkeep.xlsx", "--quiet"]).expect_code(8);
    let fired: BTreeMap<String, u64> = bench.statistics().faults_fired;
    for kind in SPOILT {
        assert!(fired[kind.name()] > 40, "{fired:?}");
    }
    // The state is as wished; of a licence code whose answer was lost nobody can tell, and every other row is settled.
    assert_eq!(now.endings.len(), 2_000);
    assert_eq!(state_of(&bench), wishes.state());
    let held: Vec<_> = bench.results(2).into_iter().filter(|row| row["status"] == "held").collect();
    let lost = bench.results(2).iter().filter(|row| row["code"] == "lookup.unavailable").count();
    assert!(held.len() > 5 && held.len() == lost, "{} are held", held.len());
    assert!(held.iter().all(|row| row["kind"] == "licence"), "{held:#?}");
    for row in &held {
        let message = row["message"].as_str().expect("a message");
        assert!(message.contains("the service has no way to look it up"), "{row}");
    }

    // A person who sees the codes in the service says so.
    let names: BTreeMap<String, String> = bench
        .created("device")
        .into_iter()
        .map(|entry| (entry.request["name"].as_str().expect("a name").to_owned(), entry.id.to_string()))
        .collect();
    for row in &held {
        let device = row["device"].as_str().expect("a device");
        let job = row["job"].to_string();
        bench.fleetload(&["resolve", &job, "--created", &names[device], "--unchecked"]).expect_code(0);
    }
    bench.fleetload(&["run", "--quiet"]).expect_code(0);
    bench.fleetload(&["report", "2"]).expect_code(0);
    assert_eq!(endings(&bench, 2), now.endings);
    assert_eq!(state_of(&bench), wishes.state());
    assert_eq!(bench.requests("addLicenceCode"), 180, "no code was sent twice");
    assert_eq!(bench.counts(2).values().sum::<u64>(), 2_000 + 4 + 40 + 120);
    bench.assert_exact(2);

    // The same again asks for nothing.
    let ledger = bench.ledger().len();
    bench.fleetload(&["run", "upkeep.xlsx", "--quiet"]).expect_code(0);
    assert_eq!(bench.ledger().len(), ledger);
}

#[test]
fn what_the_quota_parks_waits_with_its_upkeep_rows_and_everything_else_goes_on() {
    let owners = Owners { companies: 2, sites: 4, devices: 8 };
    let bench = Bench::new(Scenario { rate: 0, ..Scenario::default() });
    bench.profile("", "rate = \"unlimited\"", "on_quota = \"exit\"");
    let before = Owners { devices: 4, ..owners };
    write_book(&bench, "records.xlsx", &records(before));
    bench.fleetload(&["run", "records.xlsx", "--quiet"]).expect_code(0);

    // Two of the four devices that are missing fit into what is left of the day.
    let left = |scenario: &mut Scenario| scenario.daily_quota = 10 + 2;
    bench.sandbox().change(left).expect("a consistent scenario");
    let mut wishes = Wishes::new(3);
    let rows =
        UpkeepRows { labels: 30, metadata: 20, licences: 12, subscriptions: 9, site_assignments: 8, vpn: 9 };
    let sheets = wishes.draw(owners, rows);
    write_book(&bench, "upkeep.xlsx", &[records(owners), sheets.sheets].concat());
    bench.fleetload(&["run", "upkeep.xlsx", "--quiet"]).expect_code(5);
    assert_eq!(bench.created("device").len(), 6);
    let created = bench.names("device");
    let is_parked = |row: &serde_json::Value| {
        let device = row["device"].as_str().or(row["owner"].as_str()).unwrap_or_default();
        device.starts_with("Till") && !created.iter().any(|name| name == device)
    };
    let mut ended: BTreeMap<bool, BTreeMap<String, usize>> = BTreeMap::new();
    for row in bench.results(2).into_iter().filter(|row| row["kind"] != "device") {
        let state = row["status"].as_str().expect("a state").to_owned();
        *ended.entry(is_parked(&row)).or_default().entry(state).or_default() += 1;
    }
    assert_eq!(ended[&true].keys().collect::<Vec<_>>(), ["blocked"], "{ended:?}");
    assert!(ended[&true]["blocked"] > 10, "{ended:?}");
    assert_eq!(ended[&false].keys().collect::<Vec<_>>(), ["created", "done", "existing"], "{ended:?}");

    // The next day brings the rest.
    bench.sandbox().advance_clock(86_500);
    bench.fleetload(&["run", "--quiet"]).expect_code(0);
    bench.fleetload(&["report", "2"]).expect_code(0);
    assert_eq!(endings(&bench, 2), sheets.endings);
    assert_eq!(state_of(&bench), wishes.state());
    bench.assert_exact(2);
}

//! Creations, and how what they made is found again (specification 2, 4).

use serde_json::json;

use super::{Bench, code, company, device, person, site, with};
use crate::sandbox::{Fault, FaultKind, ROOT_COMPANY, Scenario, TEMPLATE_DEVICE};

#[test]
fn what_was_made_is_found_by_a_part_of_its_name_in_any_case_and_by_any_spelling_of_its_mac() {
    let bench = Bench::new(Scenario::default());
    let found = |path: &str| bench.get(path)["body"].clone();
    let id = bench.made("addCompany", &company("Harbour Foods"));
    let entry = json!([{"id": id, "name": "Harbour Foods"}]);
    assert_eq!(found("findCompaniesByName?companyName=our+FOO"), entry);
    assert_eq!(found(&format!("getChildCompanies/{ROOT_COMPANY}")), entry);
    let id = bench.made("addPerson", &person("ada.lane@x"));
    assert_eq!(found("getPersonByUsername?username=ada.lane%40x")["id"], json!(id));
    let id = bench.made("addSite", &site("Fremantle"));
    assert_eq!(found("findSitesByName?name=mantle")[0]["id"], json!(id));
    let elsewhere = format!("findSitesByName?name=mantle&companyId={TEMPLATE_DEVICE}");
    assert_eq!(found(&elsewhere), json!([]));
    let body = with(device("Till 1"), "identification", json!("00:1a:2B:3c:4d:5e"));
    let id = bench.made("addDevice", &body);
    assert_eq!(found("getDeviceByMac?macAddress=001A2B3C4D5E")["id"], json!(id));
    let nobody = with(device("Copy"), "templateId", json!(ROOT_COMPANY));
    assert_eq!(code(&bench.post("addDeviceFromTemplate", &nobody)), "noDataFound");
}

#[test]
fn a_device_may_bring_its_own_site() {
    let bench = Bench::new(Scenario::default());
    let body = with(device("Till 1"), "customSiteName", json!("Kiosk"));
    bench.made("addDevice", &with(body, "customSiteId", json!("K-9")));
    let sites = bench.get("listSites");
    assert_eq!(sites["body"][0]["name"], "Kiosk");
    assert_eq!(sites["body"][0]["reference"], "K-9");
    let ledger = bench.sandbox.ledger(bench.now);
    let kinds: Vec<_> = ledger.iter().map(|e| (e.kind.as_str(), e.charged)).collect();
    assert_eq!(kinds, [("site", false), ("device", true)]);
}

#[test]
fn names_are_not_unique_and_nothing_is_idempotent() {
    let bench = Bench::new(Scenario::default());
    for (operation, body) in
        [("addCompany", company("Twin")), ("addSite", site("Twin")), ("addDevice", device("Twin"))]
    {
        assert_ne!(bench.made(operation, &body), bench.made(operation, &body));
    }
}

#[test]
fn a_deed_that_comes_late_is_done_at_its_time_and_not_before() {
    let fault = Fault::new("addSite", FaultKind::LateCommit).ms(5000).times(1);
    let mut bench = Bench::new(Scenario::default().with_fault(fault));
    bench.post("addSite", &site("Late"));
    bench.now += 4999;
    assert_eq!(bench.get("listSites")["body"], json!([]));
    bench.now += 1;
    assert_eq!(bench.get("listSites")["body"][0]["name"], "Late");
    assert_eq!(bench.sandbox.statistics(bench.now).faults_fired["late_commit"], 1);
}

#[test]
fn what_was_changed_and_is_lost_was_answered_and_is_as_before() {
    let bench = Bench::new(Scenario::default());
    let device = bench.made("addDevice", &device("Till"));
    let put = |label: &str| bench.post(&format!("putDeviceLabel/{device}"), &json!({ "label": label }));
    let labels = || {
        let listed = bench.get(&format!("listDeviceLabels/{device}"));
        let listed = listed["body"].as_array().expect("a list").clone();
        listed.iter().map(|label| label["label"].clone()).collect::<Vec<_>>()
    };
    put("north");
    let lost = Fault::new("putDeviceLabel", FaultKind::Vanished).times(1);
    bench.sandbox.change(|scenario| scenario.fault = vec![lost]).unwrap();
    assert_eq!(put("south")["body"]["label"], "south");
    assert_eq!(labels(), ["north"]);
    put("west");
    assert_eq!(labels(), ["north", "west"]);
    let ledger = bench.sandbox.ledger(bench.now);
    let operations: Vec<_> = ledger.iter().skip(1).map(|e| (e.operation.as_str(), e.created)).collect();
    let (put, lost) = (("putDeviceLabel", true), ("vanished", false));
    assert_eq!(operations, [put, put, lost, put]);
}

#[test]
fn what_vanishes_was_answered_and_is_found_nowhere() {
    let fault = Fault::new("addPerson", FaultKind::Vanished).times(1);
    let bench = Bench::new(Scenario::default().with_fault(fault));
    assert_eq!(code(&bench.post("addPerson", &json!({}))), "invalidData", "not used up by this");
    let id = bench.made("addPerson", &person("ada"));
    assert_eq!(code(&bench.get(&format!("getPerson/{id}"))), "noDataFound");
    assert_eq!(code(&bench.get("getPersonByUsername?username=ada")), "noDataFound");
    assert_eq!(bench.get(&format!("listPeople/{ROOT_COMPANY}"))["body"], json!([]));
    let ledger = bench.sandbox.ledger(bench.now);
    let operations: Vec<_> = ledger.iter().map(|e| e.operation.as_str()).collect();
    assert_eq!(operations, ["addPerson", "vanished"]);
    assert_eq!(bench.made("addPerson", &person("ada")).len(), 36);
}

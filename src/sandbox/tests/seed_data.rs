//! What is there before the first request: built in, by the scenario, or taken as present.

use serde_json::json;
use uuid::Uuid;

use super::{Bench, NOON, code, company, device, person, site, with};
use crate::sandbox::{Being, MODELS, Present, ROOT_COMPANY, Sandbox, Scenario, TEMPLATE_DEVICE, VPN_CLOUDS};

const fn id(number: u128) -> Uuid {
    Uuid::from_u128(0xabcd_0000_0000_4000_8000_0000_0000_0000 + number)
}

fn present() -> Present {
    let site = |company| Being::Site { company };
    Present {
        records: vec![
            (id(1), Being::Company),
            (id(2), Being::Company),
            (id(3), site(Some(id(2)))),
            // A company already; a site whose company is not there; a cloud already.
            (id(1), site(None)),
            (id(9), site(Some(id(99)))),
            (VPN_CLOUDS[0], Being::Template),
            (id(4), Being::Device),
            (id(5), Being::Template),
            (id(6), Being::Cloud),
        ],
        models: vec!["RX-2000".to_owned(), MODELS[0].to_owned()],
    }
}

fn taking(scenario: Scenario, present: Present) -> Bench {
    let mut next = Some(present);
    let sandbox = Sandbox::new(scenario, NOON).unwrap();
    Bench::around(sandbox.taking_as_present(move || next.take()))
}

#[test]
fn what_is_taken_as_present_is_found_listed_and_referred_to() {
    let bench = taking(Scenario::default(), present());
    let named = |rest: String| bench.get(&rest)["body"]["name"].as_str().unwrap_or_default().to_owned();
    assert_eq!(named(format!("getCompany/{}", id(1))), format!("Existing company {}", id(1)));
    assert_eq!(named(format!("getDevice/{}", id(4))), format!("Existing device {}", id(4)));
    let below = bench.get(&format!("getChildCompanies/{ROOT_COMPANY}"));
    assert_eq!(below["body"].as_array().unwrap().len(), 2, "{below}");
    let sites = bench.get("listSites");
    let owners: Vec<_> = sites["body"].as_array().unwrap().iter().map(|site| &site["companyId"]).collect();
    assert_eq!(owners, [&json!(id(2)), &json!(ROOT_COMPANY)]);

    bench.made("addCompany", &with(company("Below"), "parentCompanyId", json!(id(1))));
    bench.made("addPerson", &with(person("ada"), "companyId", json!(id(2))));
    bench.made("addSite", &with(site("In"), "companyId", json!(id(1))));
    let placed = with(with(device("Till"), "siteId", json!(id(3))), "deviceModel", json!("RX-2000"));
    let made = bench.made("addDevice", &with(placed, "companyId", json!(id(2))));
    let subscription = json!({"deviceId": made, "enterpriseTemplateId": id(5)});
    assert_eq!(bench.post("subscribeTemplate", &subscription)["status"], "OK");
    let membership = json!({"deviceId": made, "vpnCloudId": id(6)});
    assert_eq!(bench.post("addDeviceToVpnCloud", &membership)["status"], "OK");
    assert_eq!(
        bench.sandbox.ledger(NOON).iter().filter(|entry| entry.created).count(),
        4,
        "nobody made them"
    );
}

#[test]
fn an_id_is_one_record_of_one_kind_and_what_nobody_names_is_not_there() {
    let bench = taking(Scenario::default(), present());
    let refused = |rest: &str, body| assert_eq!(code(&bench.post(rest, &body)), "noDataFound", "{body}");
    refused("addSite", with(site("x"), "companyId", json!(TEMPLATE_DEVICE)));
    refused("addSite", with(site("x"), "companyId", json!(id(4))));
    refused("addSite", with(site("x"), "companyId", json!(id(50))));
    refused("addDevice", with(device("x"), "siteId", json!(id(1))));
    refused("addDevice", with(device("x"), "deviceModel", json!("RX-3000")));
    let made = bench.made("addDevice", &device("Till"));
    refused("subscribeTemplate", json!({"deviceId": made, "enterpriseTemplateId": VPN_CLOUDS[0]}));
}

#[test]
fn a_strict_sandbox_takes_nothing_as_present() {
    let strict = Scenario { strict: true, ..Scenario::default() };
    let bench = taking(strict, present());
    assert_eq!(code(&bench.post("addSite", &with(site("x"), "companyId", json!(id(1))))), "noDataFound");
    let model = with(device("x"), "deviceModel", json!("RX-2000"));
    assert_eq!(code(&bench.post("addDevice", &model)), "noDataFound");
}

#[test]
fn what_came_to_an_end_is_not_taken_as_present_again_and_models_outlive_a_change_of_the_scenario() {
    let bench = Bench::new(Scenario::default());
    let lost = bench.made("addCompany", &company("Lost"));
    let lost = Uuid::try_parse(&lost).unwrap();
    let gone = crate::sandbox::Fault::new("addCompany", crate::sandbox::FaultKind::Vanished);
    bench.sandbox.change(|scenario| scenario.fault = vec![gone]).unwrap();
    let vanished = Uuid::try_parse(&bench.made("addCompany", &company("Gone"))).unwrap();
    let mut next = Some(Present {
        records: vec![(vanished, Being::Company), (lost, Being::Company)],
        models: vec!["RX-2000".to_owned()],
    });
    let bench = Bench::around(bench.sandbox.taking_as_present(move || next.take()));
    assert_eq!(code(&bench.get(&format!("getCompany/{vanished}"))), "noDataFound");
    assert_eq!(bench.get(&format!("getCompany/{lost}"))["body"]["name"], "Lost");
    bench.sandbox.change(|scenario| scenario.fault.clear()).unwrap();
    bench.made("addDevice", &with(device("x"), "deviceModel", json!("RX-2000")));
}

#[test]
fn the_documentation_lists_what_is_there_before_the_first_request() {
    let page = include_str!("../../../docs/rehearsal.md");
    let part =
        page.split_once("<!-- built in -->").unwrap().1.split_once("<!-- end of built in -->").unwrap().0;
    let founding = Scenario::default().founding();
    let rows: Vec<&str> = part.lines().filter(|line| line.contains(" | `")).collect();
    let expected: Vec<String> = founding
        .records
        .iter()
        .map(|record| format!("| {} | `{}` | {} |", record.kind, record.id, record.name))
        .collect();
    assert_eq!(rows, expected);
    assert!(part.contains(&format!("Hardware models: {}.", founding.models.join(", "))), "{part}");
    let zones = format!("Time zones: {}, those of", founding.zones);
    assert!(part.contains(&zones), "{zones}: {part}");
    let bench = Bench::new(Scenario::default());
    for record in &founding.records[..2] {
        let rest = format!("get{}{}/{}", record.kind[..1].to_uppercase(), &record.kind[1..], record.id);
        assert_eq!(bench.get(&rest)["body"]["name"], json!(record.name), "{rest}");
    }
}

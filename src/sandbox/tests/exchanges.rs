//! Creations and what is refused, table by table (specification 2, 4, 7).

use serde_json::{Value, json};

use super::{Bench, code, company, device, person, site};
use crate::sandbox::{Fault, FaultKind, ROOT_COMPANY, Request, Scenario, TEMPLATE_DEVICE};

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

#[test]
fn a_company_comes_back_whole_and_is_found_again() {
    let bench = Bench::new(Scenario::default());
    let answer = bench.post("addCompany", &company("Harbour Foods"));
    assert_eq!(answer["status"], "OK");
    let record = &answer["body"];
    assert_eq!(record["accountsEmail"], "c@x.example");
    assert!(record.get("parentCompanyId").is_none(), "request only");
    let id = record["id"].as_str().unwrap();
    assert_eq!(bench.get(&format!("getCompany/{id}"))["body"], *record);
    let entry = json!([{"id": id, "name": "Harbour Foods"}]);
    assert_eq!(bench.get("findCompaniesByName?companyName=our+FOO")["body"], entry);
    assert_eq!(bench.get(&format!("getChildCompanies/{ROOT_COMPANY}"))["body"], entry);
    assert_eq!(bench.get("listCompanies")["body"].as_array().unwrap().len(), 2);
}

#[test]
fn a_person_is_found_by_id_by_username_and_in_its_company() {
    let bench = Bench::new(Scenario::default());
    let answer = bench.post("addPerson", &person("ada.lane@x"));
    let record = &answer["body"];
    let id = record["id"].as_str().unwrap();
    assert_eq!(record.as_object().unwrap().len(), 5, "{record}");
    assert_eq!(bench.get(&format!("getPerson/{id}"))["body"], *record);
    assert_eq!(bench.get("getPersonByUsername?username=ada.lane%40x")["body"], *record);
    assert_eq!(bench.get(&format!("listPeople/{ROOT_COMPANY}"))["body"], json!([record]));
}

#[test]
fn a_site_is_answered_short_and_read_long() {
    let bench = Bench::new(Scenario::default());
    let answer = bench.post("addSite", &site("Fremantle"));
    let id = answer["body"]["id"].as_str().unwrap();
    assert_eq!(answer["body"], json!({"id": id, "name": "Fremantle"}));
    let long = json!({
        "id": id, "companyId": ROOT_COMPANY, "name": "Fremantle", "reference": "R-1",
    });
    assert_eq!(bench.get(&format!("getSite/{id}"))["body"], long);
    assert_eq!(bench.get("listSites")["body"], json!([long]));
    assert_eq!(bench.get("findSitesByName?name=mantle")["body"], json!([long]));
    let elsewhere = format!("findSitesByName?name=mantle&companyId={TEMPLATE_DEVICE}");
    assert_eq!(bench.get(&elsewhere)["body"], json!([]));
}

#[test]
fn a_device_is_found_by_id_by_name_and_by_any_spelling_of_its_mac() {
    let bench = Bench::new(Scenario::default());
    let body = with(device("Till 1"), "identification", json!("00:1a:2B:3c:4d:5e"));
    let answer = bench.post("addDevice", &body);
    let record = &answer["body"];
    assert_eq!(record["companyName"], "Northwind Networks");
    let id = record["id"].as_str().unwrap();
    assert_eq!(bench.get(&format!("getDevice/{id}"))["body"], *record);
    assert_eq!(bench.get("getDeviceByMac?macAddress=001A2B3C4D5E")["body"], *record);
    assert_eq!(bench.get("findDevicesByName?name=till")["body"], json!([record]));
    assert_eq!(bench.get("listDevices")["body"].as_array().unwrap().len(), 2);
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
fn a_device_is_copied_from_a_template() {
    let bench = Bench::new(Scenario::default());
    let body = with(device("Copy"), "templateId", json!(TEMPLATE_DEVICE));
    let id = bench.made("addDeviceFromTemplate", &body);
    assert_eq!(bench.get(&format!("getDevice/{id}"))["body"]["name"], "Copy");
    let nobody = with(device("Copy"), "templateId", json!(ROOT_COMPANY));
    assert_eq!(code(&bench.post("addDeviceFromTemplate", &nobody)), "noDataFound");
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
fn every_missing_required_field_is_a_violation() {
    let bench = Bench::new(Scenario::default());
    for (operation, whole, entity, required) in [
        (
            "addCompany",
            company("x"),
            "company",
            vec![
                "parentCompanyId",
                "companyType",
                "name",
                "address",
                "phoneNumber",
                "supportEmail",
                "salesEmail",
                "accountsEmail",
            ],
        ),
        (
            "addPerson",
            person("x"),
            "person",
            vec![
                "companyId",
                "userType",
                "templateScope",
                "firstName",
                "lastName",
                "username",
                "email",
                "allowLogin",
                "address",
            ],
        ),
        ("addSite", site("x"), "site", vec!["companyId", "name", "address", "phoneNumber"]),
        ("addDevice", device("x"), "device", vec!["companyId", "name", "address", "phoneNumber"]),
    ] {
        let answer = bench.post(operation, &json!({}));
        assert_eq!(code(&answer), "invalidData");
        let violations = answer["error"]["errorDetails"]["violations"].as_array().unwrap();
        let paths: Vec<_> = violations.iter().map(|v| v["path"].as_str().unwrap()).collect();
        let expected: Vec<_> = required.iter().map(|field| format!("{entity}.{field}")).collect();
        assert_eq!(paths, expected);
        for field in required {
            let answer = bench.post(operation, &with(whole.clone(), field, Value::Null));
            let violation = &answer["error"]["errorDetails"]["violations"][0];
            assert_eq!(violation["path"], format!("{entity}.{field}"));
            assert_eq!(violation["message"], "must not be null");
        }
    }
    let nowhere = with(device("x"), "address", json!({"city": "Perth"}));
    assert_eq!(
        bench.post("addDevice", &nowhere)["error"]["errorDetails"]["violations"],
        json!([{"path": "device.address.address1", "message": "must not be null"}])
    );
}

#[test]
fn wrong_values_are_refused_by_their_codes() {
    let bench = Bench::new(Scenario::default());
    let mac = with(device("Till"), "identification", json!("00:1a:2b:3c:4d:5e"));
    bench.made("addDevice", &mac);
    bench.made("addPerson", &person("ada"));
    let stranger = json!(TEMPLATE_DEVICE);
    for (operation, body, wanted) in [
        ("addPerson", person("Ada Lane"), "invalidData"),
        ("addPerson", person("ada"), "duplicateEntity"),
        ("addPerson", with(person("b"), "userType", json!("King")), "invalidData"),
        ("addPerson", with(person("b"), "allowLogin", json!("yes")), "invalidData"),
        ("addPerson", with(person("b"), "companyId", stranger.clone()), "noDataFound"),
        ("addCompany", with(company("c"), "companyType", json!("client")), "invalidData"),
        ("addCompany", with(company("c"), "parentCompanyId", stranger.clone()), "noDataFound"),
        ("addCompany", with(company("c"), "parentCompanyId", json!("42")), "invalidData"),
        ("addSite", with(site("s"), "latitude", json!("north")), "invalidData"),
        ("addSite", with(site("s"), "companyId", stranger.clone()), "noDataFound"),
        ("addDevice", with(device("d"), "deviceModel", json!("Edge 9000")), "noDataFound"),
        ("addDevice", with(device("d"), "siteId", stranger), "noDataFound"),
        ("addDevice", with(mac, "identification", json!("001A.2B3C.4D5E")), "duplicateEntity"),
        ("addDevice", json!([]), "malformedJsonInput"),
    ] {
        let answer = bench.post(operation, &body);
        assert_eq!(answer["status"], "FAILED");
        assert_eq!(code(&answer), wanted, "{operation} {body}: {answer}");
    }
    assert_eq!(bench.sandbox.ledger(bench.now).len(), 2, "refusals leave nothing");
}

#[test]
fn parameters_are_checked_before_anything_is_looked_for() {
    let bench = Bench::new(Scenario::default());
    for (path, wanted) in [
        ("getDevice/not-a-uuid", "invalidParam"),
        ("getDevice/", "invalidParam"),
        ("findDevicesByName", "invalidParam"),
        ("findDevicesByName?name=x&companyId=7", "invalidParam"),
        ("getDeviceByMac?macAddress=00", "noDataFound"),
        ("getPersonByUsername?username=nobody", "noDataFound"),
        ("getSite/6f1c2a3e-0000-4000-8000-0000000000ff", "noDataFound"),
    ] {
        assert_eq!(code(&bench.get(path)), wanted, "{path}");
    }
}

#[test]
fn what_is_no_such_request_is_answered_with_a_page_or_refused_bare() {
    let bench = Bench::new(Scenario::default());
    let add = "/device-api/config/v1/addSite";
    let body = site("s").to_string();
    let typed =
        |kind: &str| Request { content_type: Some(kind.to_owned()), ..Request::post(add, body.clone()) };
    let accepting = Request { accept: Some("text/html".to_owned()), ..Request::post(add, body.clone()) };
    for (request, status, part) in [
        (Request::get("/device-api/config/v1/addNothing"), 404, "<html>"),
        (Request::get("/"), 404, "<html>"),
        (Request::get(add), 405, "<html>"),
        (typed("text/plain"), 415, "<html>"),
        (accepting, 415, "<html>"),
        (typed("application/json; charset=utf-8"), 200, "\"status\":\"OK\""),
        (Request::post(add, "{\"name\": "), 200, "malformedJsonInput"),
        (Request::post(add, "[".repeat(100_000)), 200, "malformedJsonInput"),
        (Request::post(add, vec![b'{', 0xff]), 200, "malformedJsonInput"),
    ] {
        let answer = bench.send(request);
        let text = String::from_utf8_lossy(&answer.response.body).into_owned();
        assert_eq!(answer.response.status, status, "{text}");
        assert!(text.contains(part), "{text}");
    }
    let unsigned = bench.sandbox.respond(&Request::post(add, body), bench.now);
    assert_eq!(unsigned.response.status, 401);
    assert_eq!(unsigned.response.body, br#"{"error":"invalid_token"}"#);
}

#[test]
fn credentials_are_checked_when_the_scenario_lists_them() {
    let scenario = Scenario::parse(
        "revoked_clients = [\"old\"]\n[[client]]\nid = \"acme\"\nsecret = \"open sesame\"\n\
         [[client]]\nid = \"old\"\nsecret = \"open sesame\"",
    )
    .unwrap();
    let bench = Bench::new(scenario);
    for (id, secret, status) in [
        ("acme", "open sesame", 200),
        ("acme", "closed", 401),
        ("other", "open sesame", 401),
        ("old", "open sesame", 401),
        ("", "", 401),
    ] {
        let answer = bench.sandbox.respond(&Request::sign_in(id, secret), bench.now);
        assert_eq!(answer.response.status, status, "{id}");
        if status == 401 {
            assert_eq!(answer.response.body, br#"{"error":"invalid_client"}"#);
        }
    }
    bench.sandbox.change(|s| s.revoked_clients.push("acme".to_owned())).unwrap();
    assert_eq!(bench.get("listSites")["error"], "invalid_token");
}

#[test]
fn an_unauthorized_source_is_refused_wrapped_and_errors_may_come_bare() {
    let bench = Bench::new(Scenario::default());
    bench.sandbox.change(|scenario| scenario.unauthorized = true).unwrap();
    let answer = bench.send(Request::get("/device-api/config/v1/listSites"));
    assert_eq!(answer.response.status, 401);
    assert_eq!(code(&bench.get("listSites")), "unauthorizedSource");
    bench.sandbox.change(|scenario| scenario.bare_errors = true).unwrap();
    assert_eq!(bench.get("listSites")["errorCode"], "unauthorizedSource");
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

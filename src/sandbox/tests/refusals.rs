//! What is refused, and in which shape (specification 2.1, 5, 7).

use serde_json::{Value, json};

use super::{Bench, code, company, device, person, site, with};
use crate::sandbox::{Request, Scenario, TEMPLATE_DEVICE};

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
        ("addLicenceCode", json!({ "deviceId": TEMPLATE_DEVICE }), "invalidData"),
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

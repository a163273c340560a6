//! Every operation once with a request that is right: what it answers, what it says to ids that nobody has, and what each
//! fault does to it.

use serde_json::{Value, json};

use super::{Bench, code, company, device, person, site};
use crate::sandbox::operations::routes::ROUTES;
use crate::sandbox::{ENTERPRISE_TEMPLATES, Fault, FaultKind, Request, Scenario, VPN_CLOUDS};

const STRANGER: &str = "6f1c2a3e-0000-4000-8000-0000000000ff";

/// A world in which every operation has something to work on.
struct Prepared {
    bench: Bench,
    company: String,
    person: String,
    site: String,
    device: String,
    interface: String,
    labels: [String; 3],
    metadata: [String; 3],
}

impl Prepared {
    fn new() -> Self {
        let bench = Bench::new(Scenario::default());
        let within = |mut body: Value, company: &str| {
            body["companyId"] = json!(company);
            body
        };
        let company = bench.made("addCompany", &company("Harbour"));
        let person = bench.made("addPerson", &within(person("ada"), &company));
        let site = bench.made("addSite", &within(site("Pier"), &company));
        let mut body = within(device("Till"), &company);
        body["identification"] = json!("00:1a:2b:3c:4d:5e");
        body["siteId"] = json!(site);
        let device = bench.made("addDevice", &body);
        let interfaces = bench.get(&format!("listInterfaces/{device}"));
        let interface = interfaces["body"][1]["id"].as_str().unwrap().to_owned();
        let label = |kind: &str, owner: &str| {
            bench.made(&format!("put{kind}Label/{owner}"), &json!({ "label": "till" }))
        };
        let labels = [label("Interface", &interface), label("Device", &device), label("Site", &site)];
        let entry = |kind: &str, owner: &str| {
            bench.made(&format!("put{kind}Metadata/{owner}"), &json!({ "key": "till", "value": "1" }))
        };
        let metadata = [entry("Company", &company), entry("Device", &device), entry("Site", &site)];
        let pair = json!({ "deviceId": device, "enterpriseTemplateId": ENTERPRISE_TEMPLATES[0] });
        assert_eq!(code(&bench.post("subscribeTemplate", &pair)), "OK");
        for cloud in VPN_CLOUDS {
            let pair = json!({ "deviceId": device, "vpnCloudId": cloud });
            assert_eq!(code(&bench.post("addDeviceToVpnCloud", &pair)), "OK");
        }
        Self { bench, company, person, site, device, interface, labels, metadata }
    }

    /// The parameters, by the names of the specification.
    fn parameter(&self, operation: &str, name: &str) -> String {
        let of_owner = |[first, second, third]: &[String; 3]| {
            let owners = [("Interface", first), ("Company", first), ("Device", second), ("Site", third)];
            owners.into_iter().find(|(owner, _)| operation.contains(owner)).unwrap().1.clone()
        };
        match name {
            "companyId" => self.company.clone(),
            "siteId" => self.site.clone(),
            "deviceId" => self.device.clone(),
            "interfaceDeviceId" => self.interface.clone(),
            "vpnCloudId" => VPN_CLOUDS[0].to_string(),
            "labelId" => of_owner(&self.labels),
            "metadataId" => of_owner(&self.metadata),
            "id" => match operation {
                "getCompany" => self.company.clone(),
                "getPerson" => self.person.clone(),
                "getSite" => self.site.clone(),
                _ => self.device.clone(),
            },
            _ => unreachable!("{operation} has no parameter {name}"),
        }
    }

    fn query(operation: &str) -> &'static str {
        match operation {
            "findCompaniesByName" => "?companyName=harb",
            "findDevicesByName" => "?name=til",
            "findSitesByName" => "?name=pie",
            "getDeviceByMac" => "?macAddress=00-1A-2B-3C-4D-5E",
            "getPersonByUsername" => "?username=ada",
            "deleteInterfaceLabel" | "findInterfaceLabel" | "findDeviceLabel" | "findSiteLabel" => {
                "?label=till"
            }
            "findCompanyMetadata" | "findDeviceMetadata" | "findSiteMetadata" => "?key=till",
            _ => "",
        }
    }

    fn body(&self, operation: &str) -> Option<Value> {
        let within = |mut body: Value| {
            body["companyId"] = json!(self.company);
            body
        };
        let with_template = |template| json!({ "deviceId": self.device, "enterpriseTemplateId": template });
        let in_cloud = json!({ "deviceId": self.device, "vpnCloudId": VPN_CLOUDS[1] });
        Some(match operation {
            "addCompany" => {
                let mut body = company("Wharf");
                body["parentCompanyId"] = json!(self.company);
                body
            }
            "addPerson" => within(person("bea")),
            "addSite" => within(site("Quay")),
            "addDevice" => within(device("Gate")),
            "addDeviceFromTemplate" => {
                let mut body = within(device("Copy"));
                body["templateId"] = json!(self.device);
                body["copyDhcpLeases"] = json!(true);
                body["snatMapping"] =
                    json!([{ "cloud": "Corporate", "mapping": { "LAN 1": "10.1.0.0/16" } }]);
                body
            }
            "addLicenceCode" => json!({ "deviceId": self.device, "licenceCode": "L-1" }),
            "assignDeviceToSite" => json!({ "siteId": self.site, "deviceId": self.device }),
            "subscribeTemplate" => with_template(ENTERPRISE_TEMPLATES[1]),
            "unsubscribeTemplate" => with_template(ENTERPRISE_TEMPLATES[0]),
            "addDeviceToVpnCloud" | "removeDeviceFromVpnCloud" => in_cloud,
            "updateDeviceVpnConfiguration" => json!({
                "deviceId": self.device, "vpnCloudId": VPN_CLOUDS[0], "cipherSuite": "ECDHE_ECDSA_AES256_GCM",
                "interfaceConfiguration": [
                    { "interfaceDeviceId": self.interface, "direction": "BOTH", "snat": "10.9.0.0/24", "weight": 5 },
                ],
            }),
            "updateCompany" | "updateSite" | "updateDevice" => json!({ "name": "New name" }),
            name if name.starts_with("put") && name.ends_with("Label") => json!({ "label": "kasse" }),
            name if name.starts_with("put") && name.ends_with("Labels") => {
                json!([{ "label": "kasse" }, { "label": "till" }])
            }
            name if name.starts_with("put") && name.ends_with("Metadata") => {
                json!({ "key": "floor", "value": "2" })
            }
            name if name.starts_with("put") => {
                json!([{ "key": "floor", "value": "2" }, { "key": "till", "value": "3" }])
            }
            _ => return None,
        })
    }

    fn request(&self, operation: &str) -> Request {
        let route = ROUTES.iter().find(|route| route.operation == operation).unwrap();
        if operation == "auth" {
            return Request::sign_in("acme", "open sesame");
        }
        let mut target = format!("/device-api/{}", route.path);
        for name in route.parameters() {
            target = target.replace(&format!("{{{name}}}"), &self.parameter(operation, name));
        }
        target.push_str(Self::query(operation));
        let body = self.body(operation);
        match (route.method, body) {
            ("GET", None) => Request::get(&target),
            (_, None) => Request { method: "POST".to_owned(), ..Request::get(&target) },
            (_, Some(body)) => Request::post(&target, body.to_string()),
        }
    }

    fn answer(&self, request: Request) -> Value {
        let signs_in = request.target.ends_with("/auth");
        let answer = match signs_in {
            true => self.bench.sandbox.respond(&request, self.bench.now),
            false => self.bench.send(request),
        };
        serde_json::from_slice(&answer.response.body).unwrap_or_default()
    }
}

#[test]
fn every_operation_answers_with_the_fields_of_the_specification() {
    let mut answers = String::new();
    for route in &ROUTES {
        let prepared = Prepared::new();
        let mut answer = prepared.answer(prepared.request(route.operation));
        if route.operation == "listTimeZones" {
            answer["body"].as_array_mut().unwrap().truncate(1);
        }
        answers.push_str(&format!("{} {answer}\n", route.operation));
    }
    insta::assert_snapshot!(answers);
}

/// The ids in a text, each once.
fn ids(text: &str) -> Vec<String> {
    let starts = 0..text.len().saturating_sub(35);
    let found = starts.filter_map(|start| text.get(start..start + 36)).filter(|part| {
        part.bytes().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    });
    let mut found: Vec<String> = found.map(str::to_owned).collect();
    found.dedup();
    found
}

#[test]
fn an_id_that_nobody_has_is_not_found_and_one_that_is_none_is_refused() {
    let prepared = Prepared::new();
    let mut asked = 0;
    for route in &ROUTES {
        let request = prepared.request(route.operation);
        let body = String::from_utf8(request.body.clone()).unwrap();
        for id in ids(&request.target) {
            let with = |other| Request { target: request.target.replace(&id, other), ..request.clone() };
            let name = route.operation;
            assert_eq!(code(&prepared.answer(with(STRANGER))), "noDataFound", "{name} {id}");
            assert_eq!(code(&prepared.answer(with("42"))), "invalidParam", "{name} {id}");
            asked += 1;
        }
        for id in ids(&body) {
            let with = |other| Request { body: body.replace(&id, other).into_bytes(), ..request.clone() };
            let name = route.operation;
            assert_eq!(code(&prepared.answer(with(STRANGER))), "noDataFound", "{name} {id}");
            assert_eq!(code(&prepared.answer(with("42"))), "invalidData", "{name} {id}");
            asked += 1;
        }
    }
    assert_eq!(asked, 84);
}

#[test]
fn every_fault_fires_at_every_operation_that_has_something_to_spoil() {
    for route in &ROUTES {
        let plain = Prepared::new();
        let known = plain.bench.sandbox.ledger(plain.bench.now).len();
        let answer = plain.answer(plain.request(route.operation));
        let done = plain.bench.sandbox.ledger(plain.bench.now).len() - known;
        let signs_in = route.operation == "auth";
        let names = |field: &str| answer["body"][field].is_string();
        for kind in FaultKind::ALL.iter().copied() {
            let prepared = Prepared::new();
            let fault = Fault::new(route.operation, kind);
            prepared.bench.sandbox.change(|scenario| scenario.fault = vec![fault]).unwrap();
            prepared.answer(prepared.request(route.operation));
            let now = prepared.bench.now;
            let fires = match kind {
                FaultKind::NoDataFound
                | FaultKind::InvalidData
                | FaultKind::InvalidState
                | FaultKind::GeneralError => !signs_in,
                FaultKind::IdMissing | FaultKind::WrongId => names("id"),
                FaultKind::WrongName => names("name") || names("username"),
                FaultKind::NameFolded => {
                    plain.body(route.operation).is_some_and(|body| body["name"].is_string())
                }
                FaultKind::Vanished => done > 0,
                FaultKind::OrphanSite => false,
                _ => true,
            };
            let fired = prepared.bench.sandbox.statistics(now).faults_fired;
            let name = format!("{} {}", route.operation, kind.name());
            assert_eq!(fired.get(kind.name()).copied(), fires.then_some(1), "{name}");

            let kept = prepared.bench.sandbox.ledger(now).len() - known;
            let wanted = match kind {
                FaultKind::RateLimitExceeded
                | FaultKind::QuotaExceeded
                | FaultKind::Error500Before
                | FaultKind::RequestLost
                | FaultKind::ResetBefore
                | FaultKind::StallBefore
                | FaultKind::Html503Before
                | FaultKind::CaptivePortal
                | FaultKind::NotFound404
                | FaultKind::MethodNotAllowed405
                | FaultKind::UnsupportedMedia415
                | FaultKind::TokenRevoked
                | FaultKind::InvalidClient
                | FaultKind::UnauthorizedSource
                | FaultKind::NoDataFound
                | FaultKind::InvalidData
                | FaultKind::InvalidState
                | FaultKind::GeneralError
                | FaultKind::Redirect302 => 0,
                FaultKind::Vanished => 2 * done,
                // What was put, joined or removed already is so; what creates, and a licence code, is there twice.
                FaultKind::SentTwice if route.creates && route.operation != "addPerson" => 2 * done,
                FaultKind::SentTwice if takes_a_repeat(route.operation) => 2 * done,
                _ => done,
            };
            assert_eq!(kept, wanted, "{name}");
        }
    }
}

/// Whether a request that is sent once more is kept once more.
fn takes_a_repeat(operation: &str) -> bool {
    operation.starts_with("update") || matches!(operation, "addLicenceCode" | "assignDeviceToSite")
}

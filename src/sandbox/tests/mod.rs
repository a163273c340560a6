//! Whole exchanges with the sandbox: its rules at moments of the test's choosing, its state file, and its faults over
//! real sockets.

mod device_status;
mod every_operation;
mod exchanges;
mod keeping;
mod limits;
mod operations;
mod refusals;
mod seed_data;
mod sockets;

use serde_json::{Value, json};

use super::{Answer, Millis, ROOT_COMPANY, Request, Sandbox, Scenario};

/// 2026-03-01T12:00:00Z.
const NOON: Millis = 1_772_366_400_000;

/// A sandbox with a signed-in client and a clock that stands where the test puts it.
struct Bench {
    sandbox: Sandbox,
    token: String,
    now: Millis,
}

impl Bench {
    fn new(scenario: Scenario) -> Self {
        Self::around(Sandbox::new(scenario, NOON).unwrap())
    }

    fn around(sandbox: Sandbox) -> Self {
        let mut bench = Self { sandbox, token: String::new(), now: NOON };
        bench.sign_in("acme");
        bench
    }

    fn sign_in(&mut self, client: &str) {
        let answer = self.sandbox.respond(&Request::sign_in(client, "open sesame"), self.now);
        let body: Value = serde_json::from_slice(&answer.response.body).unwrap_or_default();
        self.token = body["access_token"].as_str().unwrap_or("").to_owned();
    }

    fn send(&self, request: Request) -> Answer {
        self.sandbox.respond(&request.bearing(&self.token), self.now)
    }

    fn get(&self, rest: &str) -> Value {
        let answer = self.send(Request::get(&format!("/device-api/config/v1/{rest}")));
        serde_json::from_slice(&answer.response.body).unwrap_or_default()
    }

    fn post(&self, rest: &str, body: &Value) -> Value {
        let request = Request::post(&format!("/device-api/config/v1/{rest}"), body.to_string());
        let answer = self.send(request);
        serde_json::from_slice(&answer.response.body).unwrap_or_default()
    }

    /// The id of a record that must come into being.
    fn made(&self, rest: &str, body: &Value) -> String {
        let answer = self.post(rest, body);
        assert_eq!(answer["status"], "OK", "{answer}");
        answer["body"]["id"].as_str().unwrap().to_owned()
    }
}

fn code(answer: &Value) -> &str {
    answer["error"]["errorCode"].as_str().unwrap_or_else(|| answer["status"].as_str().unwrap_or(""))
}

fn company(name: &str) -> Value {
    json!({
        "parentCompanyId": ROOT_COMPANY, "companyType": "CUSTOMER", "name": name,
        "address": {"address1": "1 Quay"}, "phoneNumber": "1", "supportEmail": "a@x.example",
        "salesEmail": "b@x.example", "accountsEmail": "c@x.example",
    })
}

fn person(username: &str) -> Value {
    json!({
        "companyId": ROOT_COMPANY, "userType": "VPN User", "templateScope": "COMPANY_INHERIT",
        "firstName": "Ada", "lastName": "Lane", "username": username, "email": "ada@x.example",
        "allowLogin": true, "address": {"city": "Perth"},
    })
}

fn site(name: &str) -> Value {
    json!({
        "companyId": ROOT_COMPANY, "name": name, "reference": "R-1", "latitude": -31.9,
        "address": {"address1": "2 Quay"}, "phoneNumber": "2",
    })
}

fn device(name: &str) -> Value {
    json!({
        "companyId": ROOT_COMPANY, "name": name, "address": {"address1": "3 Quay"},
        "phoneNumber": "3", "deviceModel": "Edge 200",
    })
}

fn with(mut body: Value, field: &str, value: Value) -> Value {
    body[field] = value;
    body
}

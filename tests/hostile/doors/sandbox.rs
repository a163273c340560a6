//! The simulated service: scenarios, and requests of any client.

use fleetload::sandbox::{Request, Sandbox, Scenario};

use super::input::{Input, parts};

/// The moment of every request.
const NOW: i64 = 1_790_000_000_000;

/// The most requests of one input.
const MOST_REQUESTS: usize = 32;

/// Any text as a scenario; one that is accepted is lived through for a few requests.
pub(crate) fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(scenario) = Scenario::parse(text) else { return };
    let Ok(sandbox) = Sandbox::new(scenario, NOW) else { return };
    let create = "/device-api/config/v1/addCompany";
    for (later, request) in [
        Request::sign_in("onboarding", "secret"),
        Request::post(create, "{}"),
        Request::get("/device-api/config/v1/listCompanies"),
        Request::get("/sandbox/ledger"),
    ]
    .into_iter()
    .enumerate()
    {
        let now = NOW + i64::try_from(later).unwrap_or(0) * 1000;
        sandbox.respond(&request, now);
    }
    sandbox.ledger(NOW);
    sandbox.statistics(NOW);
}

/// Whether an input of [`scenario`] is one.
pub(crate) fn is_scenario(data: &[u8]) -> bool {
    Scenario::parse(&String::from_utf8_lossy(data)).is_ok()
}

/// Requests one after the other, each beginning with a line `@@@ METHOD TARGET`; what follows is the body. The
/// first byte says whether they are signed in.
pub(crate) fn requests(data: &[u8]) {
    requests_done(data);
}

/// The same, and how many of them succeeded.
pub(crate) fn requests_done(data: &[u8]) -> usize {
    let mut input = Input::new(data);
    let choice = input.byte();
    let sandbox = Sandbox::new(Scenario::default(), NOW).expect("the default scenario");
    let token = token(&sandbox);
    let mut done = 0;
    for (number, (line, body)) in parts(input.rest()).into_iter().take(MOST_REQUESTS).enumerate() {
        let (method, target) = line.split_once(' ').unwrap_or(("GET", &line));
        let mut request = Request {
            method: method.to_owned(),
            target: target.to_owned(),
            content_type: Some("application/json".to_owned()),
            body: body.to_vec(),
            ..Request::default()
        };
        if choice & 1 == 0 {
            request = request.bearing(&token);
        }
        if choice & 2 > 0 {
            request.content_type = Some(line.clone());
        }
        let answer = sandbox.respond(&request, NOW + i64::try_from(number).unwrap_or(0) * 20);
        done += usize::from(answer.response.status == 200);
        assert!((200..600).contains(&answer.response.status), "{}", answer.response.status);
        assert!(answer.response.encode().ends_with(&answer.response.body));
    }
    sandbox.ledger(NOW);
    sandbox.statistics(NOW);
    done
}

fn token(sandbox: &Sandbox) -> String {
    let answer = sandbox.respond(&Request::sign_in("onboarding", "secret"), NOW);
    let body: serde_json::Value = serde_json::from_slice(&answer.response.body).expect("JSON");
    body["access_token"].as_str().expect("a token").to_owned()
}

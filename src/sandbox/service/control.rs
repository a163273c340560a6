//! The control endpoints `/sandbox/…` for tests and people, which the service of the specification does not have. No token
//! is needed, since the server listens on loopback only.
//!
//! `GET ledger` (one JSON object a line), `GET statistics`, `POST scenario` (TOML: the keys given
//! replace the ones at work, faults as a whole), `POST clock` (`{"set": "2026-03-01T23:59:50Z"}` or
//! `{"advance_seconds": 60}`).

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::sandbox::exchange::{Answer, Effect, Millis, Request, Response};
use crate::sandbox::service::Service;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Clock {
    set: Option<Timestamp>,
    advance_seconds: Option<i64>,
}

pub(crate) fn answer(service: &mut Service, request: &Request, now: Millis) -> Answer {
    let response = match (request.method.as_str(), request.path()) {
        ("GET", "/sandbox/ledger") => ledger(service),
        ("GET", "/sandbox/statistics") => Response::json(200, &json!(service.statistics(now))),
        ("POST", "/sandbox/scenario") => scenario(service, &request.body),
        ("POST", "/sandbox/clock") => clock(service, &request.body, now),
        _ => Response::page(404, "Not Found"),
    };
    Answer { response, delay_ms: 0, effect: Effect::Deliver }
}

fn ledger(service: &Service) -> Response {
    let mut lines = String::new();
    for entry in &service.ledger {
        lines.push_str(&json!(entry).to_string());
        lines.push('\n');
    }
    Response::new(200, "application/jsonl", lines.into_bytes())
}

fn refused(why: &str) -> Response {
    Response::new(400, "text/plain;charset=utf-8", format!("{why}\n").into_bytes())
}

fn scenario(service: &mut Service, body: &[u8]) -> Response {
    let Ok(text) = std::str::from_utf8(body) else {
        return refused("the scenario is not text");
    };
    let changed = service.scenario.changed_by(text);
    match changed.and_then(|scenario| service.change(scenario)) {
        Ok(()) => Response::json(200, &json!({ "status": "OK" })),
        Err(error) => refused(&error.to_string()),
    }
}

fn clock(service: &mut Service, body: &[u8], now: Millis) -> Response {
    let wanted: Clock = match serde_json::from_slice(body) {
        Ok(wanted) => wanted,
        Err(error) => return refused(&format!("the clock cannot be set: {error}")),
    };
    if let Some(to) = wanted.set {
        service.offset = to.as_millisecond() - now;
    }
    let seconds = wanted.advance_seconds.unwrap_or(0);
    service.offset = service.offset.saturating_add(seconds.saturating_mul(1000));
    let shown = service.timestamp(now);
    Response::json(200, &json!({ "status": "OK", "clock": shown }))
}

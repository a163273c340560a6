//! Applies a fault that has fired: it refuses the request before it is carried out, or changes the answer after it.

use serde_json::Value;
use uuid::Uuid;

use super::{Fault, FaultKind};
use crate::sandbox::exchange::{Answer, Effect, Millis, Request, Response};
use crate::sandbox::operations::call::fresh_id;
use crate::sandbox::operations::routes::Route;
use crate::sandbox::service::failure::{Failure, Violation};
use crate::sandbox::service::{NO_DATE, Outcome, Service};

/// Whether a fault found something to work on.
enum FaultOutcome {
    Fired(Answer),
    NothingToSpoil(Answer),
}

impl Service {
    /// Answers a request for which `fault` has been drawn, and counts the fault when it takes effect.
    pub(in crate::sandbox) fn spoilt(
        &mut self,
        fault: &Fault,
        route: &'static Route,
        values: &[String],
        request: &Request,
        now: Millis,
    ) -> Answer {
        let refuses = matches!(
            fault.kind,
            FaultKind::NoDataFound
                | FaultKind::InvalidData
                | FaultKind::InvalidState
                | FaultKind::GeneralError
        );
        // What refuses a creation for what it says has let it in before, and counts it like any refusal.
        let client = self.limits.holder(request.authorization.as_deref(), now);
        if refuses && client.is_none() {
            self.faults.give_back(fault);
            let outcome = self.perform(route, values, request, now);
            return self.delivered(outcome.response);
        }
        if let Some(answer) = self.before(fault, request, now) {
            if let Some(client) =
                client.filter(|_| refuses && route.creates && self.scenario.quota_counts_failures)
            {
                self.charge_failure(client, route, now);
            }
            self.faults.count(fault.kind);
            return answer;
        }
        if fault.kind == FaultKind::TokenRevoked {
            self.limits.revoke_all();
        }
        let folded = (fault.kind == FaultKind::NameFolded).then(|| with_folded_name(request)).flatten();
        let known = self.ledger.len();
        self.ends_after_site = fault.kind == FaultKind::OrphanSite;
        let mut outcome = self.perform(route, values, folded.as_ref().unwrap_or(request), now);
        self.ends_after_site = false;
        if fault.kind == FaultKind::SentTwice {
            outcome = self.perform(route, values, request, now);
        }
        let in_vain = if fault.kind == FaultKind::Vanished {
            !self.lose_what_came_after(known, now)
        } else {
            fault.kind == FaultKind::NameFolded && folded.is_none()
        };
        if in_vain {
            self.faults.give_back(fault);
            return self.delivered(outcome.response);
        }
        match self.after(fault, outcome) {
            FaultOutcome::Fired(answer) => {
                self.faults.count(fault.kind);
                answer
            }
            FaultOutcome::NothingToSpoil(answer) => {
                self.faults.give_back(fault);
                answer
            }
        }
    }

    fn refusal(&mut self, failure: &Failure) -> Answer {
        self.counters.answer(failure.name());
        let bare = self.scenario.bare_errors;
        self.delivered(failure.response(bare))
    }

    fn silence(&mut self, ms: u64, effect: Effect) -> Answer {
        let mut answer = self.delivered(Response::new(200, "text/plain", Vec::new()));
        answer.delay_ms = answer.delay_ms.saturating_add(ms);
        answer.effect = effect;
        answer
    }

    /// The answer of a fault that keeps the deed from being done.
    fn before(&mut self, fault: &Fault, request: &Request, now: Millis) -> Option<Answer> {
        let answer = match fault.kind {
            FaultKind::RateLimitExceeded => self.refusal(&Failure::RateLimitExceeded(self.scenario.rate)),
            FaultKind::QuotaExceeded => self.refusal(&Failure::QuotaLimitExceeded),
            FaultKind::Error500Before => self.refusal(&Failure::InternalServerError),
            FaultKind::NotFound404 => self.refusal(&Failure::NotFoundPage),
            FaultKind::MethodNotAllowed405 => self.refusal(&Failure::MethodNotAllowedPage),
            FaultKind::UnsupportedMedia415 => self.refusal(&Failure::UnsupportedMediaPage),
            FaultKind::InvalidClient => self.refusal(&Failure::InvalidClient),
            FaultKind::UnauthorizedSource => self.refusal(&Failure::UnauthorizedSource),
            FaultKind::NoDataFound => {
                self.refusal(&Failure::NoDataFound("No data found, not yet everywhere".to_owned()))
            }
            FaultKind::InvalidData => self.refusal(&Failure::Violations(vec![Violation {
                path: "request.region".to_owned(),
                message: "must not be null".to_owned(),
            }])),
            FaultKind::InvalidState => {
                self.refusal(&Failure::InvalidState("The company is already deleted".to_owned()))
            }
            FaultKind::GeneralError => {
                self.refusal(&Failure::GeneralError("The operation is not possible now".to_owned()))
            }
            FaultKind::RequestLost => self.silence(0, Effect::Close),
            FaultKind::ResetBefore => self.silence(0, Effect::Reset),
            FaultKind::StallBefore if fault.ms == 0 => self.silence(0, Effect::Hold),
            FaultKind::StallBefore => self.silence(fault.ms, Effect::Close),
            FaultKind::LateCommit => {
                let wait = Millis::try_from(fault.ms).unwrap_or(Millis::MAX);
                self.late.push((now.saturating_add(wait), request.clone()));
                self.silence(fault.ms, Effect::Close)
            }
            FaultKind::Html503Before => self.delivered(unavailable(fault)),
            FaultKind::CaptivePortal => self.delivered(Response::page(200, "Sign in to use this network")),
            FaultKind::Redirect302 => {
                let mut response = Response::page(302, "Moved");
                let location = "/device-api/config/v1/elsewhere".to_owned();
                response.headers.push(("Location", location));
                self.delivered(response)
            }
            FaultKind::Latency
            | FaultKind::Error500After
            | FaultKind::AnswerLost
            | FaultKind::ResetAfter
            | FaultKind::AnswerCut
            | FaultKind::AnswerDrip
            | FaultKind::StallAfter
            | FaultKind::SentTwice
            | FaultKind::Html200
            | FaultKind::Html503After
            | FaultKind::TokenRevoked
            | FaultKind::UnknownCode
            | FaultKind::OrphanSite
            | FaultKind::Vanished
            | FaultKind::NameFolded
            | FaultKind::IdMissing
            | FaultKind::WrongId
            | FaultKind::WrongName
            | FaultKind::Garbled
            | FaultKind::DateMissing => return None,
        };
        Some(answer)
    }

    /// What becomes of the answer once the deed is done, or refused on its own account.
    fn after(&mut self, fault: &Fault, outcome: Outcome) -> FaultOutcome {
        let mut answer = self.delivered(outcome.response);
        let bare = self.scenario.bare_errors;
        match fault.kind {
            FaultKind::Error500After => {
                answer.response = Failure::InternalServerError.response(bare);
            }
            FaultKind::UnknownCode => answer.response = Failure::Unknown.response(bare),
            FaultKind::AnswerLost => answer.effect = Effect::Close,
            FaultKind::ResetAfter => answer.effect = Effect::Reset,
            FaultKind::AnswerDrip => answer.effect = Effect::Drip(fault.ms),
            FaultKind::StallAfter if fault.ms == 0 => answer.effect = Effect::Hold,
            FaultKind::StallAfter => answer.delay_ms = answer.delay_ms.saturating_add(fault.ms),
            FaultKind::Html200 => answer.response = Response::page(200, "Service"),
            FaultKind::Html503After => answer.response = unavailable(fault),
            FaultKind::Garbled => answer.response.body = vec![0xff, 0xfe, 0x7b, 0x00, 0xc3],
            FaultKind::DateMissing => answer.response.headers.push((NO_DATE, String::new())),
            FaultKind::AnswerCut => {
                // The date is added later; it has always the same length.
                const DATE: usize = "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n".len();
                let whole = answer.response.encode().len() + DATE;
                let at = fault.at.unwrap_or_else(|| self.chances.usize(0..whole));
                if at >= whole {
                    return FaultOutcome::NothingToSpoil(answer);
                }
                answer.effect = Effect::Cut(at);
            }
            FaultKind::IdMissing | FaultKind::WrongId | FaultKind::WrongName => {
                let other = match self.ledger.as_slice() {
                    [.., earlier, _] => earlier.id,
                    _ => fresh_id(&mut self.chances),
                };
                match altered(fault.kind, &answer.response.body, other) {
                    Some(body) if outcome.name == "OK" => answer.response.body = body,
                    _ => return FaultOutcome::NothingToSpoil(answer),
                }
            }
            FaultKind::OrphanSite if outcome.name != Failure::InternalServerError.name() => {
                return FaultOutcome::NothingToSpoil(answer);
            }
            // These work on the way to the deed; their answer is an honest one.
            FaultKind::OrphanSite
            | FaultKind::SentTwice
            | FaultKind::TokenRevoked
            | FaultKind::Vanished
            | FaultKind::NameFolded => {}
            FaultKind::Latency
            | FaultKind::RateLimitExceeded
            | FaultKind::QuotaExceeded
            | FaultKind::Error500Before
            | FaultKind::RequestLost
            | FaultKind::ResetBefore
            | FaultKind::StallBefore
            | FaultKind::LateCommit
            | FaultKind::Html503Before
            | FaultKind::CaptivePortal
            | FaultKind::NotFound404
            | FaultKind::MethodNotAllowed405
            | FaultKind::UnsupportedMedia415
            | FaultKind::InvalidClient
            | FaultKind::UnauthorizedSource
            | FaultKind::NoDataFound
            | FaultKind::InvalidData
            | FaultKind::InvalidState
            | FaultKind::GeneralError
            | FaultKind::Redirect302 => return FaultOutcome::NothingToSpoil(answer),
        }
        FaultOutcome::Fired(answer)
    }
}

fn unavailable(fault: &Fault) -> Response {
    let status = fault.status.unwrap_or(503);
    Response::page(status, &format!("{status} - The service cannot be reached"))
}

/// The request with the name in its body in capitals, when it has one.
fn with_folded_name(request: &Request) -> Option<Request> {
    let mut body: Value = serde_json::from_slice(&request.body).ok()?;
    let name = body.get_mut("name")?;
    *name = Value::String(name.as_str()?.to_uppercase());
    Some(Request { body: body.to_string().into_bytes(), ..request.clone() })
}

/// The body of an OK answer with its id or name altered, when it has one.
fn altered(kind: FaultKind, body: &[u8], other: Uuid) -> Option<Vec<u8>> {
    let mut envelope: Value = serde_json::from_slice(body).ok()?;
    let record = envelope.get_mut("body")?.as_object_mut()?;
    if kind == FaultKind::IdMissing {
        record.shift_remove("id")?;
    } else if kind == FaultKind::WrongId {
        *record.get_mut("id")? = Value::String(other.to_string());
    } else {
        let named = record.contains_key("username");
        let name = record.get_mut(if named { "username" } else { "name" })?;
        *name = Value::String(format!("{} (1)", name.as_str()?));
    }
    Some(envelope.to_string().into_bytes())
}

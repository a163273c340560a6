//! Who may do what: the checks that a request passes before its operation, and the handing out of tokens.
//!
//! The order is the one sensible order where the specification shows none: method, media type, source, token, rate,
//! quota, body.

use serde_json::{Value, json};

use super::Service;
use super::failure::Failure;
use super::limits::Client;
use crate::sandbox::exchange::{Millis, Request, Response};
use crate::sandbox::operations::call::fresh_id;
use crate::sandbox::operations::routes::{Act, Route};

impl Service {
    /// Does what is asked, if it may be done.
    pub(in crate::sandbox) fn checked(
        &mut self,
        route: &'static Route,
        values: &[String],
        request: &Request,
        now: Millis,
    ) -> Result<Response, Failure> {
        let method = self.scenario.methods.get(route.operation).map_or(route.method, String::as_str);
        if request.method != method {
            return Err(Failure::MethodNotAllowedPage);
        }
        check_media(route, request)?;
        if self.scenario.unauthorized {
            return Err(Failure::UnauthorizedSource);
        }
        let deed = match route.act {
            Act::SignIn => return self.sign_in(request, now),
            Act::Does(deed) => deed,
        };
        let client = self
            .limits
            .holder(request.authorization.as_deref(), now)
            .filter(|client| !self.is_revoked(*client))
            .ok_or(Failure::InvalidToken)?;
        let rate = self.scenario.rate;
        if !self.limits.pass(client, route.operation, rate, now) {
            return Err(Failure::RateLimitExceeded(rate));
        }
        let counted = self.scenario.quota_per_operation.then_some(route.operation);
        let used = self.limits.used(client, counted, self.own(now));
        if route.creates && used >= self.scenario.daily_quota {
            return Err(Failure::QuotaLimitExceeded);
        }
        let body = if request.body.is_empty() {
            Ok(Value::Null)
        } else {
            serde_json::from_slice(&request.body)
                .map_err(|error| Failure::MalformedJson(format!("Cannot parse the request body: {error}")))
        };
        let result = match &body {
            Ok(body) => self.carry_out(deed, route, values, request, body, client, now),
            Err(failure) => Err(failure.clone()),
        };
        if route.creates && result.is_err() && self.scenario.quota_counts_failures {
            self.charge_failure(client, route, now);
        }
        let value = result?;
        let mut envelope = json!({ "status": "OK" });
        if !value.is_null() {
            envelope["body"] = value;
        }
        Ok(Response::json(200, &envelope))
    }

    fn is_revoked(&self, client: Client) -> bool {
        let name = self.limits.name(client);
        self.scenario.revoked_clients.iter().any(|id| id == name)
    }

    /// Specification 4.1 and 5: a token for a client id and its secret, without an envelope.
    fn sign_in(&mut self, request: &Request, now: Millis) -> Result<Response, Failure> {
        let mut id = String::new();
        let mut secret = String::new();
        for (name, value) in url::form_urlencoded::parse(&request.body) {
            match name.as_ref() {
                "client_id" => id = value.into_owned(),
                "client_secret" => secret = value.into_owned(),
                _ => {}
            }
        }
        let listed = &self.scenario.client;
        let known =
            listed.is_empty() || listed.iter().any(|client| client.id == id && client.secret == secret);
        if id.is_empty() || secret.is_empty() || !known || self.scenario.revoked_clients.contains(&id) {
            return Err(Failure::InvalidClient);
        }
        let client = self.limits.client(&id);
        // Told apart from everything else, so that a token found where none belongs is seen.
        let token = format!("sandbox-token-{}", fresh_id(&mut self.tokens).simple());
        let seconds = i64::try_from(self.scenario.token_seconds).unwrap_or(i64::MAX);
        let expires = now.saturating_add(seconds.saturating_mul(1000));
        self.limits.admit(token.clone(), client, now, expires);
        self.counters.tokens_issued += 1;
        Ok(Response::json(
            200,
            &json!({
                "access_token": token,
                "token_type": "Bearer",
                "expires_in": self.scenario.answered_expires_in.unwrap_or(seconds),
            }),
        ))
    }
}

/// Bodies have the documented type, and JSON is among what the client takes (specification 7, 415).
fn check_media(route: &Route, request: &Request) -> Result<(), Failure> {
    let media = |value: &str| value.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let wanted = match route.act {
        Act::SignIn => "application/x-www-form-urlencoded",
        Act::Does(_) => "application/json",
    };
    let sent = request.content_type.as_deref().map(media);
    if !request.body.is_empty() && sent.as_deref() != Some(wanted) {
        return Err(Failure::UnsupportedMediaPage);
    }
    let taken = request.accept.as_deref().is_none_or(|accept| {
        accept
            .split(',')
            .any(|range| matches!(media(range).as_str(), "application/json" | "application/*" | "*/*"))
    });
    if taken { Ok(()) } else { Err(Failure::UnsupportedMediaPage) }
}

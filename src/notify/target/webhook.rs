//! A webhook: one request with the notification as its body. It goes over the wire of the client of the service: no redirect
//! is followed, nothing is sent again by the library, the answer is bounded.

use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::Failure;
use super::signature::signature;
use crate::error::Result as Prepared;
use crate::model::operation::Method;
use crate::model::verdict::Doubt;
use crate::notify::{Format, Notification};
use crate::service::{HttpRequest, Reach, SendFailure, Transport as _, Wire};

/// More than receivers answer; what follows is not read.
const LARGEST_ANSWER: usize = 64 * 1024;
/// The header with the id of the notification.
const EVENT: HeaderName = HeaderName::from_static("x-fleetload-event");
/// The header with the signature.
const SIGNATURE: HeaderName = HeaderName::from_static("x-fleetload-signature");

/// An address that takes notifications. It may hold a token, so it is never shown.
#[derive(Debug)]
pub struct WebhookTarget {
    address: SecretString,
    format: Format,
    secret: Option<SecretString>,
    wire: Wire,
    timeout: Duration,
}

impl WebhookTarget {
    /// Prepares requests to an address, which was checked: https, or this machine.
    ///
    /// # Errors
    /// Usage when the certificates cannot be used.
    pub(crate) fn new(
        address: &Url,
        format: Format,
        secret: Option<SecretString>,
        reach: &Reach,
    ) -> Prepared<Self> {
        let wire = Wire::new(address, reach)?;
        let address = SecretString::from(address.as_str().to_owned());
        Ok(Self { address, format, secret, wire, timeout: reach.request_timeout })
    }

    /// Sends it once.
    pub(super) async fn deliver(&self, notification: &Notification) -> Result<(), Failure> {
        let request = self
            .request(notification)
            .ok_or_else(|| Failure::Refused("the request cannot be built".to_owned()))?;
        match self.wire.send(request).await {
            Ok(answer) => judged(answer.status),
            Err(SendFailure::NotSent(why)) => {
                Err(Failure::Passing(format!("no connection: {}", why.words())))
            }
            Err(SendFailure::Doubtful(Doubt::Timeout)) => {
                Err(Failure::Late(format!("no answer within {} s", self.timeout.as_secs())))
            }
            Err(SendFailure::Doubtful(_)) => {
                Err(Failure::Passing("the connection ended before an answer".to_owned()))
            }
        }
    }

    fn request(&self, notification: &Notification) -> Option<HttpRequest> {
        let body = self.format.body(notification);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(EVENT, HeaderValue::from_str(&notification.id.to_string()).ok()?);
        if let Some(secret) = &self.secret {
            let signature = signature(secret, body.as_bytes())?;
            headers.insert(SIGNATURE, HeaderValue::from_str(&signature).ok()?);
        }
        let url = Url::parse(self.address.expose_secret()).ok()?;
        let largest_answer = LARGEST_ANSWER;
        Some(HttpRequest { method: Method::Post, url, headers, body: body.into(), largest_answer })
    }
}

/// What an answer means; its body says nothing more.
fn judged(status: u16) -> Result<(), Failure> {
    match status {
        200..=299 => Ok(()),
        300..=399 => {
            Err(Failure::Refused(format!("the receiver answered {status}; redirects are not followed")))
        }
        // Too slow, or too many at once: it asks for another try.
        408 | 429 => Err(Failure::Passing(format!("the receiver answered {status}"))),
        400..=499 => Err(Failure::Refused(format!("the receiver answered {status}"))),
        _ => Err(Failure::Passing(format!("the receiver answered {status}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_is_tried_again_soon_unless_the_receiver_refuses_it() {
        let kind = |status| match judged(status) {
            Ok(()) => "delivered",
            Err(Failure::Passing(_) | Failure::Late(_)) => "again",
            Err(Failure::Refused(_)) => "refused",
        };
        let table = [
            (200, "delivered"),
            (204, "delivered"),
            (302, "refused"),
            (400, "refused"),
            (404, "refused"),
            (408, "again"),
            (429, "again"),
            (500, "again"),
            (503, "again"),
        ];
        for (status, expected) in table {
            assert_eq!(kind(status), expected, "{status}");
        }
    }
}

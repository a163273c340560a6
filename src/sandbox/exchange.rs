//! Request and answer of the simulated service: the request as the service sees it, the response it gives, and the effect
//! on that response on its way (delivered, held back, cut, lost).
//!
//! Nothing here knows sockets. The transport in `server` and a simulation in virtual time both take an [`Answer`]
//! and do with it what its [`Effect`] says.

use std::fmt::Write as _;

/// Milliseconds since the Unix epoch, on whatever clock the caller keeps: the real one or a virtual one.
pub type Millis = i64;

/// One HTTP request, reduced to what the service looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The method in capitals, for example `POST`.
    pub method: String,
    /// Path and query string as they stand in the request line, still percent-encoded.
    pub target: String,
    /// The value of the `Authorization` header.
    pub authorization: Option<String>,
    /// The value of the `Content-Type` header.
    pub content_type: Option<String>,
    /// The value of the `Accept` header.
    pub accept: Option<String>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without a body.
    #[must_use]
    pub fn get(target: &str) -> Self {
        Self { method: "GET".to_owned(), target: target.to_owned(), ..Self::default() }
    }

    /// A request with a JSON body (specification 4).
    #[must_use]
    pub fn post(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            method: "POST".to_owned(),
            target: target.to_owned(),
            content_type: Some("application/json".to_owned()),
            body: body.into(),
            ..Self::default()
        }
    }

    /// The request for a token (specification 5).
    #[must_use]
    pub fn sign_in(client_id: &str, client_secret: &str) -> Self {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("client_id", client_id)
            .append_pair("client_secret", client_secret)
            .finish();
        Self {
            content_type: Some("application/x-www-form-urlencoded; charset=utf-8".to_owned()),
            ..Self::post("/device-api/auth/v1/auth", body)
        }
    }

    /// The same request, carrying a token.
    #[must_use]
    pub fn bearing(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bearer {token}"));
        self
    }

    pub(crate) fn path(&self) -> &str {
        self.target.split(['?', '#']).next().unwrap_or("")
    }

    pub(crate) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }
}

/// One HTTP response as the service means it. `Content-Length` is not among the headers: it follows from the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// Header names and values. `Date`, by the service's own clock, is there unless a fault took it away.
    pub headers: Vec<(&'static str, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![("Content-Type", content_type.to_owned())], body }
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json", body.to_string().into_bytes())
    }

    /// A page for people, as the service and what stands before it answer in place of JSON (specification 7).
    pub(crate) fn page(status: u16, title: &str) -> Self {
        let body = format!(
            "<!DOCTYPE html>\n<html><head><title>{title}</title></head>\
             <body><h1>{title}</h1></body></html>\n"
        );
        Self::new(status, "text/html;charset=utf-8", body.into_bytes())
    }

    /// The value of a header, its name compared without regard to case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The response as HTTP/1.1 bytes, head and body.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        for (name, value) in &self.headers {
            head.push_str(name);
            head.push_str(": ");
            head.push_str(value);
            head.push_str("\r\n");
        }
        // Writing to a string cannot fail.
        let _ = write!(head, "Content-Length: {}\r\n\r\n", self.body.len());
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        302 => "Found",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Other",
    }
}

/// What the transport does with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Send it whole.
    Deliver,
    /// Close the connection in good order without sending a byte.
    Close,
    /// Reset the connection without sending a byte.
    Reset,
    /// Send this many bytes of [`Response::encode`], counted from the status line, then close.
    Cut(usize),
    /// Send it a byte at a time with this many milliseconds between two bytes.
    Drip(u64),
    /// Send nothing and keep the connection open until the client leaves.
    Hold,
}

/// A response and its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the service answered. Where the effect delivers nothing this is what the client would have seen.
    pub response: Response,
    /// Milliseconds between the arrival of the request and the effect.
    pub delay_ms: u64,
    /// What becomes of the response after the delay.
    pub effect: Effect,
}

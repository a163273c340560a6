//! How bytes reach the service: one request out, one answer or one failure back.
//!
//! The network is one [`Transport`]: reqwest, told to do nothing by itself; a simulated service inside the process is
//! another. No redirects, no resends, no proxy unless asked for, HTTP/1.1 only, so that one lost connection is one
//! request in doubt. Answers are read under a cap. What they mean is left to [`super::judge()`].

use std::error::Error as _;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use reqwest::{Certificate, redirect, retry};
use url::Url;

use super::config::{Proxy, is_loopback};
use super::wording::{LONGEST, clean};
use crate::error::{Error, Result};
use crate::model::operation::Method;
use crate::model::time::Moment;
use crate::model::verdict::{Doubt, NotSent};

/// A request, ready to go.
pub struct HttpRequest {
    /// The method.
    pub method: Method,
    /// The whole address.
    pub url: Url,
    /// The headers; the one that carries the token is marked sensitive.
    pub headers: HeaderMap,
    /// The body, empty for none.
    pub body: Bytes,
    /// The most bytes of the answer's body that are worth reading.
    pub largest_answer: usize,
}

impl fmt::Debug for HttpRequest {
    /// Leaves the body out: that of the authentication is the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.url.as_str())
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}

/// An answer whose status line and headers arrived.
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The moment in the `Date` header: the service's own clock.
    pub date: Option<Moment>,
    /// The body, as far as it was read.
    pub body: Bytes,
    /// Why the body was not read to its end, when it was not.
    pub flaw: Option<Doubt>,
}

impl fmt::Debug for HttpAnswer {
    /// Leaves the body out: that of the authentication is the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAnswer")
            .field("status", &self.status)
            .field("date", &self.date)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("flaw", &self.flaw)
            .finish()
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendFailure {
    /// Not one byte of the request left this machine.
    NotSent(NotSent),
    /// Some of it may have left.
    Doubtful(Doubt),
}

/// The future of one request.
pub type Sending = Pin<Box<dyn Future<Output = std::result::Result<HttpAnswer, SendFailure>> + Send>>;

/// Sends one request once. It never resends, follows no redirect, and ends by itself when the time for an answer is up.
pub trait Transport: Send + Sync {
    /// Sends `request`.
    fn send(&self, request: HttpRequest) -> Sending;
}

/// How long an idle connection is kept. Short, because a request sent on one that the service is just closing ends
/// in doubt.
const KEPT_IDLE: Duration = Duration::from_secs(2);

/// How an address is reached.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// The most time for one request, from connecting to the end of the answer.
    pub(crate) request_timeout: Duration,
    /// The most time for connecting.
    pub(crate) connect_timeout: Duration,
    /// Whether the environment's proxies are used.
    pub(crate) proxy: Proxy,
    /// Certificates to trust besides the machine's, in PEM form.
    pub(crate) ca_file: Option<PathBuf>,
}

/// The network.
#[derive(Debug, Clone)]
pub(crate) struct Wire(reqwest::Client);

impl Wire {
    /// Prepares connections to an address. Nothing is connected yet.
    pub(crate) fn new(address: &Url, reach: &Reach) -> Result<Self> {
        let loopback = is_loopback(address);
        let mut builder = reqwest::Client::builder()
            .timeout(reach.request_timeout)
            // When the time for the whole request ended while connecting, it could not be told that nothing was sent.
            .connect_timeout(reach.connect_timeout.min(reach.request_timeout / 2))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .http1_only()
            .pool_idle_timeout(KEPT_IDLE)
            .user_agent(concat!("fleetload/", env!("CARGO_PKG_VERSION")));
        if loopback || reach.proxy == Proxy::Ignored {
            builder = builder.no_proxy();
        }
        if address.scheme() == "http" {
            // Without TLS no certificates are needed, and building must not fail where the machine has none.
            builder = builder.tls_certs_only([]);
        } else if let Some(file) = &reach.ca_file {
            let wrong = |why: &str| {
                Error::usage(format!("ca_file {}: {why}", file.display()))
                    .hint("name a file with one or more certificates in PEM form")
            };
            let pem = std::fs::read(file).map_err(|error| wrong("cannot be read").because(error))?;
            let certificates = Certificate::from_pem_bundle(&pem)
                .map_err(|error| wrong("is not in PEM form").because(error))?;
            if certificates.is_empty() {
                return Err(wrong("holds no certificate"));
            }
            builder = builder.tls_certs_merge(certificates);
        }
        let client = builder.build().map_err(|error| {
            Error::usage("cannot prepare a secure connection")
                .because(error)
                .hint("install the machine's root certificates (often the package ca-certificates)")
        })?;
        Ok(Self(client))
    }
}

impl Transport for Wire {
    fn send(&self, request: HttpRequest) -> Sending {
        let client = self.0.clone();
        Box::pin(async move {
            let method = match request.method {
                Method::Get => reqwest::Method::GET,
                Method::Post => reqwest::Method::POST,
                Method::Put => reqwest::Method::PUT,
                Method::Patch => reqwest::Method::PATCH,
                Method::Delete => reqwest::Method::DELETE,
            };
            let mut sending = client.request(method, request.url).headers(request.headers);
            if !request.body.is_empty() {
                sending = sending.body(request.body);
            } else if matches!(request.method, Method::Post | Method::Put | Method::Patch) {
                // The library says nothing of a body that is not there, and some servers refuse that (RFC 9110, 8.6).
                sending = sending.header(CONTENT_LENGTH, 0);
            }
            let mut response = sending.send().await.map_err(|error| failure(&error))?;
            let status = response.status().as_u16();
            let date = response
                .headers()
                .get(http::header::DATE)
                .and_then(|date| date.to_str().ok())
                .and_then(Moment::parse_http_date);
            let mut body = BytesMut::new();
            let flaw = loop {
                match response.chunk().await {
                    Ok(None) => break None,
                    Ok(Some(chunk)) if body.len() + chunk.len() > request.largest_answer => {
                        break Some(Doubt::Unreadable);
                    }
                    Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                    Err(error) if error.is_timeout() => break Some(Doubt::Timeout),
                    Err(_) => break Some(Doubt::Truncated),
                }
            };
            Ok(HttpAnswer { status, date, body: body.freeze(), flaw })
        })
    }
}

/// What an error before the first line of the answer says about the request.
fn failure(error: &reqwest::Error) -> SendFailure {
    // Only a failure to connect proves that nothing was written; a time limit that ends while connecting may be
    // reported as any other, and stays in doubt.
    if error.is_connect() || error.is_builder() {
        let words = clean(&words(error), LONGEST);
        return SendFailure::NotSent(if out_of_resources(error) {
            NotSent::NoResources(words)
        } else if words.contains("invalid peer certificate") {
            // Waiting fixes no certificate; the library tells it by these words only.
            NotSent::Untrusted(words)
        } else {
            NotSent::NoConnection(words)
        });
    }
    SendFailure::Doubtful(if error.is_timeout() {
        Doubt::Timeout
    } else if words(error).contains("invalid HTTP") {
        // Something answered, but not in HTTP; the library tells it by these words only.
        Doubt::Unreadable
    } else {
        Doubt::Disconnected
    })
}

/// The causes from the outside in, without the address: it holds names of customers.
fn words(error: &reqwest::Error) -> String {
    let mut words = Vec::new();
    let mut below = error.source();
    while let Some(cause) = below {
        let text = cause.to_string();
        // The library's own word for it says nothing that the causes below do not say better.
        if words.last() != Some(&text) && text != "client error (Connect)" {
            words.push(text);
        }
        below = cause.source();
    }
    match words.is_empty() {
        true if error.is_connect() => "no connection".to_owned(),
        true => "the request cannot be built".to_owned(),
        false => words.join(": "),
    }
}

/// Whether the machine, not the service, is why there is no connection.
fn out_of_resources(error: &(dyn std::error::Error + 'static)) -> bool {
    /// Linux: too many open files in the system, in the process; no address left; no buffer space.
    const CODES: [i32; 4] = [23, 24, 99, 105];
    let mut below = Some(error);
    while let Some(cause) = below {
        if let Some(code) = cause.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
            return CODES.contains(&code);
        }
        below = cause.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("tcp open error")]
    struct Opening(#[source] io::Error);

    #[test]
    fn a_machine_out_of_descriptors_is_told_from_a_service_that_refuses() {
        for (code, expected) in [(24, true), (23, true), (99, true), (105, true), (111, false), (113, false)]
        {
            let error = Opening(io::Error::from_raw_os_error(code));
            assert_eq!(out_of_resources(&error), expected, "{error:?}");
        }
        assert!(!out_of_resources(&Opening(io::Error::other("Too many open files"))));
    }
}

//! How bytes reach the service: one request out, one answer or one failure back.
//!
//! The network is one [`Transport`]; a simulated service inside the process is another. What an
//! answer means is left to [`super::judge()`].

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::HeaderMap;
use url::Url;

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
pub type Sending = Pin<Box<dyn Future<Output = Result<HttpAnswer, SendFailure>> + Send>>;

/// Sends one request once. It never resends, follows no redirect, and ends by itself when the time for an answer is up.
pub trait Transport: Send + Sync {
    /// Sends `request`.
    fn send(&self, request: HttpRequest) -> Sending;
}

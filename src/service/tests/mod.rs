//! What the tests of this room share: a clock that stands until it is moved, and a transport that answers from a
//! function and remembers what it was asked.

mod client;
mod judge;
mod token;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use secrecy::SecretString;
use url::Url;

use super::client::Client;
use super::config::{Config, Proxy};
use super::endpoint::{Endpoints, Paths};
use super::transport::{HttpAnswer, HttpRequest, SendFailure, Sending, Transport};
use crate::clock::{Clock, Sleep};
use crate::model::time::Moment;

/// The secret in every test.
pub(crate) const SECRET: &str = "s3cret/and+more";

/// The moment every test starts at: 2026-03-01T00:00:00Z.
const START: i64 = 1_772_323_200_000;

/// A clock that is moved by hand, and by whoever sleeps on it.
#[derive(Default)]
pub(crate) struct FakeClock {
    elapsed: Mutex<Duration>,
    /// How far the wall clock is ahead of the monotonic one.
    ahead: Mutex<Duration>,
}

impl FakeClock {
    pub(crate) fn start() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn set(&self, elapsed: Duration) {
        *self.elapsed.lock().unwrap() = elapsed;
    }

    pub(crate) fn advance(&self, by: Duration) {
        *self.elapsed.lock().unwrap() += by;
    }

    /// The machine sleeps: only the wall clock goes on.
    pub(crate) fn suspend(&self, by: Duration) {
        *self.ahead.lock().unwrap() += by;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Moment {
        Moment::from_millis(START).plus(self.elapsed()).plus(*self.ahead.lock().unwrap())
    }

    fn elapsed(&self) -> Duration {
        *self.elapsed.lock().unwrap()
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        let mut now = self.elapsed.lock().unwrap();
        *now = (*now).max(elapsed);
        Box::pin(std::future::ready(()))
    }
}

/// A request as the service would have seen it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) body: String,
    /// When it was sent, on the test's clock.
    pub(crate) at: Duration,
}

type Answering = dyn Fn(&Seen) -> Result<HttpAnswer, SendFailure> + Send + Sync;

/// A transport that answers from a function, after other tasks had their turn.
pub(crate) struct FakeTransport {
    clock: Arc<FakeClock>,
    answering: Arc<Answering>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl FakeTransport {
    pub(crate) fn new(
        clock: &Arc<FakeClock>,
        answering: impl Fn(&Seen) -> Result<HttpAnswer, SendFailure> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { clock: Arc::clone(clock), answering: Arc::new(answering), seen: Arc::default() })
    }

    /// Everything asked so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The requests for a token among it.
    pub(crate) fn logins(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path.ends_with("/auth")).collect()
    }
}

impl Transport for FakeTransport {
    fn send(&self, request: HttpRequest) -> Sending {
        let header = |name: http::HeaderName| {
            request.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let seen = Seen {
            path: request.url[url::Position::BeforePath..].to_owned(),
            authorization: header(http::header::AUTHORIZATION),
            content_type: header(http::header::CONTENT_TYPE),
            body: String::from_utf8(request.body.to_vec()).unwrap(),
            at: self.clock.elapsed(),
        };
        self.seen.lock().unwrap().push(seen.clone());
        let answering = Arc::clone(&self.answering);
        Box::pin(async move {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            answering(&seen)
        })
    }
}

/// An answer with this status and body.
pub(crate) fn answer(status: u16, body: &str) -> Result<HttpAnswer, SendFailure> {
    Ok(HttpAnswer { status, date: None, body: Bytes::from(body.to_owned()), flaw: None })
}

/// A profile with assumed paths, for the service at `base`.
pub(crate) fn config(base: &str) -> Config {
    Config {
        base_url: Url::parse(base).unwrap(),
        client_id: "tester".to_owned(),
        client_secret: SecretString::from(SECRET),
        endpoints: Endpoints::new(Paths::Assumed, BTreeMap::new()).unwrap(),
        request_timeout: Duration::from_secs(60),
        connect_timeout: Duration::from_secs(20),
        proxy: Proxy::Ignored,
        ca_file: None,
    }
}

/// A client over `transport`.
pub(crate) fn client(clock: &Arc<FakeClock>, transport: &Arc<FakeTransport>) -> Client {
    let (clock, transport): (Arc<dyn Clock>, Arc<dyn Transport>) = (clock.clone(), transport.clone());
    Client::with_transport(config("https://service.example/"), clock, transport)
}

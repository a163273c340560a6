//! The way to the service and back, in virtual time: delays, lost connections, answers that are cut or come too late,
//! and requests that arrive after the process that sent them has died.
//!
//! It is also where the process is made to die: after so many events, whatever it is doing then.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use fleetload::clock::Sleep;
use fleetload::model::operation::Operation;
use fleetload::model::time::Moment;
use fleetload::model::verdict::{Doubt, NotSent};
use fleetload::sandbox::{Effect, Request, Response, Sandbox, Scenario};
use fleetload::service::{HttpAnswer, HttpRequest, SendFailure, Sending, Transport};
use tokio::sync::Notify;

use super::time::Time;

/// The client id of whoever else uses the service.
pub(crate) const SOMEBODY_ELSE: &str = "somebody else";
/// How long after it left a request is carried out at the latest, lost on the way or put off by a fault.
pub(crate) const LATEST_ARRIVAL_MS: i64 = 130_000;
/// By how much midnight may come too early for the run: the service tells whole seconds.
const CLOCKS_DIFFER_MS: i64 = 3_000;
/// More events than any trial has: beyond it the run turns in a circle.
const MOST_EVENTS: u64 = 5_000_000;

/// How the network behaves.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    /// The time a request takes to the service, and an answer back, at most, in milliseconds.
    pub(crate) delay_ms: u64,
    /// How likely it is that no connection can be made.
    pub(crate) no_connection: f64,
    /// Between these moments of the world nothing gets through: connections fail, and whatever is under way is
    /// lost without a word.
    pub(crate) outage: Option<(Duration, Duration)>,
    /// Between these moments of the world the service is under maintenance: a page with 503 for everything.
    pub(crate) maintenance: Option<(Duration, Duration)>,
    /// How long the client waits for an answer.
    pub(crate) timeout: Duration,
    /// A look-up that never finds anything.
    pub(crate) blind: Option<&'static str>,
    /// How long the disk takes for a commit at most, in milliseconds.
    pub(crate) disk_ms: u64,
}

/// What happened on the way, for the figures.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traffic {
    /// Requests that left.
    pub(crate) sent: u64,
    /// Connections that failed, and requests and answers that an outage swallowed.
    pub(crate) swallowed: u64,
    /// Requests that met a page of maintenance.
    pub(crate) turned_away: u64,
    /// Requests whose process died before their answer came.
    pub(crate) orphaned: u64,
}

/// The network, with the service at its end.
pub(crate) struct Network {
    pub(crate) time: Arc<Time>,
    pub(crate) sandbox: Sandbox,
    weather: Mutex<Weather>,
    chance: Mutex<fastrand::Rng>,
    /// Requests of dead processes that are still on their way, with the moment they arrive.
    stray: Mutex<Vec<(Duration, Request)>>,
    traffic: Mutex<Traffic>,
    /// When creations left, by the true time.
    creations: Mutex<Vec<Moment>>,
    /// Whether pages of the journal are still to be looked at, so that nothing may be changed.
    is_unchecked: Mutex<bool>,
    /// Requests that left all the same.
    too_early: Mutex<Vec<String>>,
    /// Events until the process dies, when it shall.
    fuse: Mutex<Option<u64>>,
    events: Mutex<u64>,
    died: Notify,
}

impl Network {
    pub(crate) fn new(time: Arc<Time>, sandbox: Sandbox, weather: Weather, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            time,
            sandbox,
            weather: Mutex::new(weather),
            chance: Mutex::new(fastrand::Rng::with_seed(seed)),
            stray: Mutex::default(),
            traffic: Mutex::default(),
            creations: Mutex::default(),
            is_unchecked: Mutex::default(),
            too_early: Mutex::default(),
            fuse: Mutex::default(),
            events: Mutex::default(),
            died: Notify::new(),
        })
    }

    /// The process that lives now dies after so many events, or lives on.
    pub(crate) fn set_fuse(&self, events: Option<u64>) {
        *self.fuse.lock().expect("one thread") = events;
    }

    /// Whether pages of the journal are still to be looked at.
    pub(crate) fn set_unchecked(&self, is_unchecked: bool) {
        *self.is_unchecked.lock().expect("one thread") = is_unchecked;
    }

    pub(crate) fn is_unchecked(&self) -> bool {
        *self.is_unchecked.lock().expect("one thread")
    }

    /// The requests that left although pages of the journal were still to be looked at.
    pub(crate) fn too_early(&self) -> Vec<String> {
        self.too_early.lock().expect("one thread").clone()
    }

    /// From now on nothing goes wrong on the way.
    pub(crate) fn calm_down(&self) {
        let mut weather = self.weather.lock().expect("one thread");
        weather.no_connection = 0.0;
        weather.outage = None;
        weather.maintenance = None;
    }

    /// Somebody else makes a record, past everything that goes wrong.
    pub(crate) fn ask_as_somebody_else(&self, path: &str, body: &str) {
        let now = self.time.now().millis();
        let (mut faults, mut quota) = (Vec::new(), u64::MAX);
        let swap = |scenario: &mut Scenario| {
            faults = std::mem::take(&mut scenario.fault);
            std::mem::swap(&mut quota, &mut scenario.daily_quota);
        };
        self.sandbox.change(swap).expect("a consistent scenario");
        let granted = self.sandbox.respond(&Request::sign_in(SOMEBODY_ELSE, "their secret"), now);
        let granted: serde_json::Value = serde_json::from_slice(&granted.response.body).expect("a token");
        let token = granted["access_token"].as_str().expect("a token");
        let answer = self.sandbox.respond(&Request::post(path, body).bearing(token), now);
        assert_eq!(answer.response.status, 200, "{:?}", String::from_utf8_lossy(&answer.response.body));
        let back = |scenario: &mut Scenario| (scenario.fault, scenario.daily_quota) = (faults, quota);
        self.sandbox.change(back).expect("a consistent scenario");
    }

    /// Ends when the process has to die.
    pub(crate) async fn death(&self) {
        self.died.notified().await;
    }

    pub(crate) fn traffic(&self) -> Traffic {
        *self.traffic.lock().expect("one thread")
    }

    /// How many creations left around a moment: it may have been before or after it that the service counted them.
    pub(crate) fn creations_around(&self, moment: Moment) -> u64 {
        let near = |left: &&Moment| {
            let after = left.millis() - moment.millis();
            -LATEST_ARRIVAL_MS < after && after < CLOCKS_DIFFER_MS
        };
        self.creations.lock().expect("one thread").iter().filter(near).count() as u64
    }

    /// Everything that ever left has arrived or is lost.
    pub(crate) fn settle(&self) {
        self.deliver_strays(Duration::MAX);
    }

    /// How long the disk takes, before and after a commit. Dying is possible at both.
    pub(crate) fn disk(self: &Arc<Self>) -> Sleep {
        self.event();
        let most = self.weather.lock().expect("one thread").disk_ms;
        let wait = Duration::from_millis(self.draw(|chance| chance.u64(0..=most)));
        Box::pin(tokio::time::sleep(wait))
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        draw(&mut self.chance.lock().expect("one thread"))
    }

    /// Something happened; it may have been the last thing that this process saw.
    fn event(&self) {
        let mut events = self.events.lock().expect("one thread");
        *events += 1;
        assert!(*events < MOST_EVENTS, "the run turns in a circle");
        let mut fuse = self.fuse.lock().expect("one thread");
        if let Some(left) = fuse.as_mut() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                *fuse = None;
                self.died.notify_one();
            }
        }
    }

    fn is_out(&self, at: Duration) -> bool {
        within(self.weather.lock().expect("one thread").outage, at)
    }

    fn deliver_strays(&self, until: Duration) {
        let mut stray = self.stray.lock().expect("one thread");
        stray.sort_by_key(|(due, _)| *due);
        let due = stray.partition_point(|(due, _)| *due <= until);
        let arriving: Vec<_> = stray.drain(..due).collect();
        drop(stray);
        for (due, request) in arriving {
            // Nothing has arrived since: whatever does asks for strays first.
            self.sandbox.respond(&request, self.time.at(due).millis());
        }
    }

    async fn carry(self: Arc<Self>, request: HttpRequest) -> Result<HttpAnswer, SendFailure> {
        self.event();
        let name = request.url.path().rsplit('/').next().unwrap_or_default().to_owned();
        let changes = name.parse::<Operation>().is_ok_and(Operation::changes);
        if changes && self.is_unchecked() {
            self.too_early.lock().expect("one thread").push(format!("{:?}: {name}", self.time.elapsed()));
        }
        let weather = self.weather.lock().expect("one thread").clone();
        let (up, down, unconnected, lost_answer) = self.draw(|chance| {
            (
                Duration::from_millis(chance.u64(0..=weather.delay_ms)),
                Duration::from_millis(chance.u64(0..=weather.delay_ms)),
                chance.f64() < weather.no_connection,
                chance.bool(),
            )
        });
        let out = self.is_out(self.time.elapsed());
        if unconnected || out {
            self.traffic.lock().expect("one thread").swallowed += 1;
            tokio::time::sleep(up).await;
            return Err(SendFailure::NotSent(NotSent::NoConnection("no route to host".to_owned())));
        }
        self.traffic.lock().expect("one thread").sent += 1;
        if name.starts_with("add") {
            self.creations.lock().expect("one thread").push(self.time.now());
        }
        let largest = request.largest_answer;
        let air = InAir::launch(&self, plain(&request, weather.blind), self.time.elapsed() + up);
        tokio::time::sleep(up).await;
        if self.is_out(self.time.elapsed()) {
            self.traffic.lock().expect("one thread").swallowed += 1;
            if lost_answer {
                air.arrive();
            } else {
                air.vanish();
            }
            tokio::time::sleep(weather.timeout).await;
            return Err(SendFailure::Doubtful(Doubt::Timeout));
        }
        self.event();
        if within(weather.maintenance, self.time.elapsed()) {
            air.vanish();
            self.traffic.lock().expect("one thread").turned_away += 1;
            tokio::time::sleep(down).await;
            let body = Bytes::from_static(b"<html><body>The service is under maintenance</body></html>");
            let date = Some(Moment::from_millis(self.time.now().millis() / 1000 * 1000));
            return Ok(HttpAnswer { status: 503, date, body, flaw: None });
        }
        let answer = air.arrive();
        let way = Duration::from_millis(answer.delay_ms) + down;
        let slow = match answer.effect {
            Effect::Hold => true,
            Effect::Drip(ms) => Duration::from_millis(ms) * 64 > weather.timeout,
            Effect::Deliver | Effect::Close | Effect::Reset | Effect::Cut(_) => false,
        };
        if slow || way > weather.timeout {
            tokio::time::sleep(weather.timeout).await;
            self.event();
            return Err(SendFailure::Doubtful(Doubt::Timeout));
        }
        tokio::time::sleep(way).await;
        self.event();
        received(&answer.response, answer.effect, largest)
    }
}

fn within(span: Option<(Duration, Duration)>, at: Duration) -> bool {
    span.is_some_and(|(from, until)| from <= at && at < until)
}

/// What the client makes of it, as over a real connection.
fn received(response: &Response, effect: Effect, largest: usize) -> Result<HttpAnswer, SendFailure> {
    let cut = match effect {
        Effect::Close | Effect::Reset => Some(0),
        Effect::Cut(at) => Some(at),
        Effect::Deliver | Effect::Drip(_) | Effect::Hold => None,
    };
    let mut body = Bytes::from(response.body.clone());
    let mut flaw = None;
    if let Some(at) = cut {
        let head = response.encode().len() - response.body.len();
        if at < head {
            return Err(SendFailure::Doubtful(Doubt::Disconnected));
        }
        body.truncate(at - head);
        flaw = Some(Doubt::Truncated);
    }
    if body.len() > largest {
        flaw = Some(Doubt::Unreadable);
    }
    let date = response.header("Date").and_then(Moment::parse_http_date);
    Ok(HttpAnswer { status: response.status, date, body, flaw })
}

/// A request as the service sees it; a blind look-up asks for something that is nowhere.
fn plain(request: &HttpRequest, blind: Option<&str>) -> Request {
    let header = |name: http::HeaderName| {
        request.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let mut query = request.url.query().map(|query| format!("?{query}")).unwrap_or_default();
    if blind.is_some_and(|blind| request.url.path().ends_with(blind)) {
        query = query.replace("name=", "name=nowhere-");
    }
    Request {
        method: request.method.as_str().to_owned(),
        target: format!("{}{query}", request.url.path()),
        authorization: header(http::header::AUTHORIZATION),
        content_type: header(http::header::CONTENT_TYPE),
        accept: header(http::header::ACCEPT),
        body: request.body.to_vec(),
    }
}

/// A request on its way. When its process dies first, it may still arrive.
struct InAir {
    network: Arc<Network>,
    request: Cell<Option<Request>>,
    due: Duration,
}

impl InAir {
    fn launch(network: &Arc<Network>, request: Request, due: Duration) -> Self {
        Self { network: Arc::clone(network), request: Cell::new(Some(request)), due }
    }

    fn arrive(&self) -> fleetload::sandbox::Answer {
        let network = &self.network;
        network.deliver_strays(network.time.elapsed());
        let request = self.request.take().expect("a request arrives once");
        network.sandbox.respond(&request, network.time.now().millis())
    }

    fn vanish(&self) {
        self.request.set(None);
    }
}

impl Drop for InAir {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else { return };
        let network = &self.network;
        network.traffic.lock().expect("one thread").orphaned += 1;
        if network.draw(fastrand::Rng::bool) {
            network.stray.lock().expect("one thread").push((self.due, request));
        }
    }
}

/// The network as the client's transport.
pub(crate) struct Wire(pub(crate) Arc<Network>);

impl Transport for Wire {
    fn send(&self, request: HttpRequest) -> Sending {
        Box::pin(Arc::clone(&self.0).carry(request))
    }
}

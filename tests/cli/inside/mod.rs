//! A run inside the test's own process, over a journal that the binary has filled: its clock can be moved, and what
//! carries its requests can break. Everything else is the real thing.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fleetload::clock::{Clock, Sleep, SystemClock};
use fleetload::error::Error;
use fleetload::journal::{Journal, Writing};
use fleetload::model::event::Event;
use fleetload::model::state::JobState;
use fleetload::model::time::Moment;
use fleetload::model::verdict::Doubt;
use fleetload::model::window::SendingHours;
use fleetload::run::{
    self, Ending, InDoubt, Interrupt, OnClose, OnExisting, OnQuota, OnRejections, Pulse, RunLimits,
    RunOptions, RunPolicy,
};
use fleetload::sandbox::{Answer, Effect, Request, Sandbox};
use fleetload::service::{
    Client, Config, Endpoints, HttpAnswer, HttpRequest, Paths, Proxy, Rate, SendFailure, Sending, Transport,
};
use tokio::sync::mpsc;

use crate::bench::{Bench, CLIENT, SECRET};

/// The machine's clock, whose wall time can be set: the machine was suspended, or somebody set it.
pub(crate) struct Settable {
    machine: Arc<dyn Clock>,
    ahead_ms: AtomicI64,
}

impl Settable {
    pub(crate) fn start() -> Arc<Self> {
        Self::over(SystemClock::start())
    }

    /// The same over a clock of the test's own.
    pub(crate) fn over(machine: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { machine, ahead_ms: AtomicI64::new(0) })
    }

    /// Moves the wall clock; the time that passes stays as it is.
    pub(crate) fn jump(&self, seconds: i64) {
        self.ahead_ms.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

impl Clock for Settable {
    fn now(&self) -> Moment {
        Moment::from_millis(self.machine.now().millis() + self.ahead_ms.load(Ordering::SeqCst))
    }

    fn elapsed(&self) -> Duration {
        self.machine.elapsed()
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        self.machine.sleep_until(elapsed)
    }
}

/// Time as tokio's tests have it: it passes when everybody waits.
pub(crate) struct Virtual {
    began: tokio::time::Instant,
    at: Moment,
}

impl Virtual {
    pub(crate) fn start() -> Arc<Self> {
        Self::start_at(Moment::parse("2026-03-01T10:00:00Z").expect("a moment"))
    }

    /// From the moment that the machine's own clock shows, for a service whose day is set against it.
    pub(crate) fn start_now() -> Arc<Self> {
        Self::start_at(SystemClock::start().now())
    }

    fn start_at(at: Moment) -> Arc<Self> {
        Arc::new(Self { began: tokio::time::Instant::now(), at })
    }
}

impl Clock for Virtual {
    fn now(&self) -> Moment {
        self.at.plus(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        Box::pin(tokio::time::sleep_until(self.began + elapsed))
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is carried out and answered.
    Answered,
    /// Whatever carries it panics before it is carried out.
    PanicBefore,
    /// The same, after it was carried out.
    PanicAfter,
    /// It is carried out at once, and answered so much later.
    AnsweredAfter(Duration),
    /// It is carried out, and no answer ever comes.
    NeverAnswered,
}

/// Carries requests to the simulated service without sockets.
pub(crate) struct Direct {
    sandbox: Arc<Sandbox>,
    clock: Arc<dyn Clock>,
    fate: Box<dyn Fn(&str) -> Fate + Send + Sync>,
}

impl Direct {
    /// `fate` is asked for each request, by its path.
    pub(crate) fn new(
        sandbox: &Arc<Sandbox>,
        clock: Arc<dyn Clock>,
        fate: impl Fn(&str) -> Fate + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { sandbox: Arc::clone(sandbox), clock, fate: Box::new(fate) })
    }

    fn carry_out(&self, request: &HttpRequest) -> Answer {
        let header = |name: http::HeaderName| {
            request.headers.get(name).map(|value| value.to_str().expect("ASCII").to_owned())
        };
        let request = Request {
            method: request.method.as_str().to_owned(),
            target: request.url[url::Position::BeforePath..].to_owned(),
            authorization: header(http::header::AUTHORIZATION),
            content_type: header(http::header::CONTENT_TYPE),
            accept: header(http::header::ACCEPT),
            body: request.body.to_vec(),
        };
        self.sandbox.respond(&request, self.clock.now().millis())
    }
}

impl Transport for Direct {
    fn send(&self, request: HttpRequest) -> Sending {
        let fate = (self.fate)(request.url.path());
        assert_ne!(fate, Fate::PanicBefore, "asked to panic before the deed");
        let answer = self.carry_out(&request);
        assert_ne!(fate, Fate::PanicAfter, "asked to panic after the deed");
        Box::pin(async move {
            match fate {
                Fate::NeverAnswered => std::future::pending().await,
                Fate::AnsweredAfter(delay) => tokio::time::sleep(delay).await,
                Fate::Answered | Fate::PanicBefore | Fate::PanicAfter => {}
            }
            // What the service's faults make of the time: an answer that is not whole by then is not waited for.
            let delay = Duration::from_millis(answer.delay_ms);
            let whole_after = match answer.effect {
                Effect::Hold => Duration::MAX,
                Effect::Drip(ms) => delay + Duration::from_millis(ms * answer.response.encode().len() as u64),
                Effect::Deliver | Effect::Close | Effect::Reset | Effect::Cut(_) => delay,
            };
            if !whole_after.is_zero() {
                tokio::time::sleep(whole_after.min(REQUEST_TIMEOUT)).await;
            }
            if whole_after > REQUEST_TIMEOUT {
                return Err(SendFailure::Doubtful(Doubt::Timeout));
            }
            if !matches!(answer.effect, Effect::Deliver | Effect::Drip(_)) {
                return Err(SendFailure::Doubtful(Doubt::Disconnected));
            }
            Ok(HttpAnswer {
                status: answer.response.status,
                date: answer.response.header("Date").and_then(Moment::parse_http_date),
                body: answer.response.body.into(),
                flaw: None,
            })
        })
    }
}

/// How long an answer is waited for.
pub(crate) const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

fn config(bench: &Bench) -> Config {
    Config {
        base_url: bench.base_url().parse().expect("an address"),
        client_id: CLIENT.to_owned(),
        client_secret: SECRET.into(),
        endpoints: Endpoints::new(Paths::Assumed, BTreeMap::new()).expect("paths"),
        request_timeout: REQUEST_TIMEOUT,
        connect_timeout: Duration::from_secs(2),
        proxy: Proxy::Ignored,
        ca_file: None,
    }
}

/// A client of the bench's service over its sockets.
pub(crate) fn client(bench: &Bench, clock: Arc<dyn Clock>) -> Client {
    Client::new(config(bench), clock).expect("a client")
}

/// A client whose requests are carried by `transport`.
pub(crate) fn client_over(bench: &Bench, clock: Arc<dyn Clock>, transport: Arc<dyn Transport>) -> Client {
    Client::with_transport(config(bench), clock, transport)
}

/// What the run is told, with this settle time.
pub(crate) fn options(settle: Duration) -> RunOptions {
    RunOptions {
        policy: RunPolicy {
            audit: None,
            on_rejections: OnRejections::Leave,
            overwrite: false,
            on_quota: OnQuota::Wait,
            on_close: OnClose::Wait,
            on_existing: OnExisting::Adopt,
            in_doubt: InDoubt::Settle,
            settle,
        },
        limits: RunLimits { rate: Rate::Unlimited, concurrency: 4, daily_quota: None, reserve: 0 },
        until: None,
        hours: SendingHours::default(),
        typed: String::new(),
        begun: None,
        list_ahead: None,
        writing: Writing::default(),
    }
}

/// A run under way. Its news is kept for whoever looks later.
pub(crate) struct Inside {
    run: tokio::task::JoinHandle<(fleetload::error::Result<Journal>, fleetload::error::Result<Ending>)>,
    news: mpsc::UnboundedReceiver<Event>,
    pub(crate) told: Vec<Event>,
    pub(crate) interrupt: mpsc::Sender<Interrupt>,
    pub(crate) pulse: Pulse,
}

impl Inside {
    /// Recovers the journal of the bench and runs it. Called on a runtime.
    pub(crate) fn start(bench: &Bench, client: Client, clock: Arc<dyn Clock>, options: RunOptions) -> Self {
        Self::start_over(journal(bench), client, clock, options)
    }

    /// Recovers a journal and runs it. Called on a runtime.
    fn start_over(mut journal: Journal, client: Client, clock: Arc<dyn Clock>, options: RunOptions) -> Self {
        journal.queue().recover(clock.now()).expect("a journal that can be written");
        let (interrupt, interrupts) = mpsc::channel(2);
        let (tell, news) = mpsc::unbounded_channel();
        let pulse = Pulse::default();
        let run = run::run(journal, client, clock, options, interrupts, tell, pulse.clone());
        Self { run: tokio::spawn(run), news, told: Vec::new(), interrupt, pulse }
    }

    /// Waits for a piece of news; panics when the run ends without it.
    pub(crate) async fn hears(&mut self, what: &str, wanted: impl Fn(&Event) -> bool) {
        while let Some(event) = self.news.recv().await {
            let found = wanted(&event);
            self.told.push(event);
            if found {
                return;
            }
        }
        panic!("the run ended before it told: {what}; it told {:#?}", self.told);
    }

    /// Waits until a row is in a state.
    pub(crate) async fn hears_of(&mut self, state: JobState) {
        self.hears(state.as_str(), |event| matches!(event, Event::Moved { to, .. } if *to == state)).await;
    }

    /// Waits for the end of a run that fails.
    pub(crate) async fn fails(self) -> Error {
        let (_, ending) = self.run.await.expect("no panic");
        ending.expect_err("a failure")
    }

    /// Waits for the end.
    pub(crate) async fn ends(mut self) -> (Journal, Ending, Vec<Event>) {
        let (journal, ending) = self.run.await.expect("no panic");
        while let Ok(event) = self.news.try_recv() {
            self.told.push(event);
        }
        (journal.expect("the journal"), ending.expect("an ending"), self.told)
    }
}

/// Whether a note with these words was told.
pub(crate) fn noted(told: &[Event], words: &str) -> bool {
    told.iter().any(|event| matches!(event, Event::Note { text } if text.contains(words)))
}

/// Sees `test` through on threads of its own. A bench is made before: it has a runtime of its own.
pub(crate) fn drive(test: impl Future<Output = ()>) {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.worker_threads(2).enable_all().build().expect("a runtime").block_on(test);
}

/// The same in virtual time, on one thread.
pub(crate) fn drive_virtually(test: impl Future<Output = ()>) {
    let mut thread = tokio::runtime::Builder::new_current_thread();
    thread.enable_all().start_paused(true).build().expect("a runtime").block_on(test);
}

/// Starts what is in the journal of a bench in virtual time, every answer after `delay` and what the service's faults add.
pub(crate) fn start_virtually(
    bench: &Bench,
    clock: Arc<dyn Clock>,
    delay: Duration,
    options: RunOptions,
) -> Inside {
    start_virtually_over(journal(bench), bench, clock, delay, options)
}

/// The same with a journal of the bench that is open already.
pub(crate) fn start_virtually_over(
    journal: Journal,
    bench: &Bench,
    clock: Arc<dyn Clock>,
    delay: Duration,
    mut options: RunOptions,
) -> Inside {
    let transport =
        Direct::new(bench.sandbox(), Arc::clone(&clock), move |_: &str| Fate::AnsweredAfter(delay));
    let client = client_over(bench, Arc::clone(&clock), transport);
    options.writing = Writing::AmongTasks(Arc::new(|| Box::pin(std::future::ready(()))));
    Inside::start_over(journal, client, clock, options)
}

/// The journal of a bench.
pub(crate) fn journal(bench: &Bench) -> Journal {
    Journal::open_existing(&bench.path("fleetload.db")).expect("a journal")
}

/// Runs what is in the journal of a bench to its end in virtual time, then reports. What was told.
pub(crate) fn finishes_virtually(bench: &Bench, delay: Duration, options: RunOptions) -> Vec<Event> {
    let mut told = Vec::new();
    drive_virtually(async {
        let run = start_virtually(bench, Virtual::start(), delay, options);
        let (_, ending, news) = run.ends().await;
        assert_eq!(ending, Ending::Finished, "{news:#?}");
        told = news;
    });
    bench.fleetload(&["report", "1"]).expect_code(0);
    told
}

/// Counts how often something was asked, for fates of one request among many.
#[derive(Clone, Default)]
pub(crate) struct Nth(Arc<Mutex<u64>>);

impl Nth {
    /// The number of this time, from 1.
    pub(crate) fn next(&self) -> u64 {
        let mut count = self.0.lock().expect("no panic");
        *count += 1;
        *count
    }
}

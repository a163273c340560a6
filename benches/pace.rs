//! How fast a run is, as ratios within one run of this program: `cargo bench --features testing --bench pace`.
//!
//! 1. With the limit off, against an instant service, journal on disk: requests a second of a run beside those of a
//!    bare load generator that posts the same bodies with as many connections and keeps no journal.
//! 2. At the service's limit, answers taking 50 to 200 ms, four operations at once: the pace of each operation as a
//!    share of the 98 a second it is set to, the most arrivals in any sliding second, and the refusals.

#![expect(clippy::print_stdout, reason = "figures are what a bench is for")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleetload::clock::SystemClock;
use fleetload::journal::{
    Account, Disposition, ImportWriter, Journal, NewJob, NewRow, NewSheet, SheetId, Writing,
};
use fleetload::model::action::Action;
use fleetload::model::id::JobId;
use fleetload::model::key;
use fleetload::model::kind::Kind;
use fleetload::model::record::{Link, Person, Record, Role, Target};
use fleetload::run::{
    Ending, InDoubt, OnExisting, OnQuota, OnRejections, Pulse, RunLimits, RunOptions, RunPolicy,
};
use fleetload::sandbox::{ROOT_COMPANY, Running, Sandbox, Scenario, wall_clock};
use fleetload::service::{Client, Config, Endpoints, Paths, Proxy, Rate, request};
use fleetload::testing;

const CONNECTIONS: usize = 64;
/// Devices of the run without a limit.
const FREE: usize = 20_000;
/// Rows of each kind of the run at the limit.
const PACED: usize = 2_000;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        without_a_limit().await;
        at_the_limit().await;
    });
}

async fn without_a_limit() {
    let (_folder, journal, service) =
        prepare(Scenario { rate: 0, daily_quota: u64::MAX, ..Scenario::default() }, |filling| {
            for n in 0..FREE {
                filling.add(device(n), Target::Remote(ROOT_COMPANY));
            }
        })
        .await;
    let started = Instant::now();
    go(journal, &service, Rate::Unlimited).await;
    let took = started.elapsed().as_secs_f64();
    // Each device is looked up before it is sent: two requests a row.
    let requests: u64 = service.sandbox().statistics(wall_clock()).requests.values().sum();
    let ours = requests as f64 / took;
    service.stop().await;

    let service = serve(Scenario { rate: 0, daily_quota: u64::MAX, ..Scenario::default() }).await;
    let bare = bare(&service).await;
    service.stop().await;
    println!(
        "limit off, {FREE} devices: {ours:.0} requests/s with journal, {bare:.0} bare: ratio {:.2}",
        ours / bare
    );
}

/// Posts as many device bodies with as many connections, and does nothing else.
async fn bare(service: &Running) -> f64 {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let token: serde_json::Value = serde_json::from_slice(
        &client
            .post(format!("{}/device-api/auth/v1/auth", service.base_url()))
            .form(&[("client_id", "bench"), ("client_secret", "bench-secret")])
            .send()
            .await
            .expect("an answer")
            .bytes()
            .await
            .expect("a body"),
    )
    .expect("JSON");
    let token = Arc::new(format!("Bearer {}", token["access_token"].as_str().expect("a token")));
    let url = Arc::new(format!("{}/device-api/config/v1/addDevice", service.base_url()));
    let next = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let started = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (client, token, url, next) = (client.clone(), token.clone(), url.clone(), next.clone());
        tasks.spawn(async move {
            loop {
                let n = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if n >= FREE {
                    break;
                }
                let create = Action::Create(device(n));
                let links = [(Role::Company, ROOT_COMPANY)];
                let call = request(&create, Kind::Device, None, &links).expect("a creation");
                let answer = client
                    .post(url.as_str())
                    .header("authorization", token.as_str())
                    .header("content-type", "application/json")
                    .header("accept", "application/json")
                    .body(call.body.expect("a body").to_string())
                    .send()
                    .await
                    .expect("an answer");
                assert!(answer.bytes().await.expect("a body").len() > 10);
            }
        });
    }
    while tasks.join_next().await.is_some() {}
    FREE as f64 / started.elapsed().as_secs_f64()
}

async fn at_the_limit() {
    let scenario = Scenario { latency_ms: [50, 200], daily_quota: u64::MAX, ..Scenario::default() };
    let (_folder, journal, service) = prepare(scenario, |filling| {
        for n in 0..PACED {
            let company = filling.add(company(n), Target::Remote(ROOT_COMPANY));
            for record in [site(n), person(n), device(n)] {
                filling.add(record, Target::Job(company));
            }
        }
    })
    .await;
    go(journal, &service, Rate::PerSecond(98.5)).await;
    let statistics = service.sandbox().statistics(wall_clock());
    let ledger = service.sandbox().ledger(wall_clock());
    let creations = ["addCompany", "addSite", "addPerson", "addDevice"];
    let most: BTreeMap<_, _> =
        creations.iter().map(|name| (*name, statistics.most_in_a_second[*name])).collect();
    let refused = statistics.answers.get("rateLimitExceeded").copied().unwrap_or(0);
    println!(
        "at the limit, {PACED} rows of each of four kinds, {refused} refused, most in a sliding second {most:?}"
    );
    for name in creations {
        // From the first to the last: a chain of parents takes its time to begin, whatever the pace.
        let times: Vec<i64> = ledger
            .iter()
            .filter(|entry| entry.operation == name)
            .map(|entry| entry.at.as_millisecond())
            .collect();
        let (first, last) = (times.iter().min().expect("entries"), times.iter().max().expect("entries"));
        let pace = (times.len() - 1) as f64 * 1000.0 / (last - first) as f64;
        println!("  {name}: {pace:.1}/s, {:.3} of 98", pace / 98.0);
    }
    service.stop().await;
}

async fn serve(scenario: Scenario) -> Running {
    let sandbox = Sandbox::new(scenario, wall_clock()).expect("a scenario");
    Running::start(Arc::new(sandbox)).await.expect("a free port")
}

/// A service, and a journal on disk filled by `fill`.
async fn prepare(
    scenario: Scenario,
    fill: impl FnOnce(&mut Filling<'_>),
) -> (tempfile::TempDir, Journal, Running) {
    let service = serve(scenario).await;
    // In the target folder: a temporary folder may be in memory, and syncs cost nothing there.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let mut journal = Journal::open(&folder.path().join("bench.db")).expect("a journal");
    journal
        .bind(&Account { base_url: service.base_url(), client_id: "bench".into() })
        .expect("a new journal");
    {
        let import = journal.begin_import(SystemClock::start().now()).expect("an import");
        let mut filling = Filling::begin(import);
        fill(&mut filling);
        filling.import.finish().expect("an import");
    }
    (folder, journal, service)
}

/// An import of one sheet.
struct Filling<'a> {
    import: ImportWriter<'a>,
    sheet: SheetId,
    row: u32,
}

impl<'a> Filling<'a> {
    fn begin(mut import: ImportWriter<'a>) -> Self {
        let sheet = NewSheet {
            name: "bench".into(),
            file: "bench.csv".into(),
            worksheet: None,
            kind: Kind::Device,
            headers: vec!["name".into()],
            header_row: 1,
        };
        let sheet = import.sheet(&sheet).expect("a sheet");
        Self { import, sheet, row: 1 }
    }

    fn add(&mut self, record: Record, owner: Target) -> JobId {
        let role = if record.kind() == Kind::Company { Role::Parent } else { Role::Company };
        let links = vec![Link { role, target: owner }];
        let job = NewJob {
            sheet_key: None,
            name: key::comparable(record.name()),
            natural_key: key::natural_key(&record, &links),
            content_hash: String::new(),
            links,
            kind: record.kind(),
            steps: vec![Action::Create(record)],
        };
        let cells = vec![job.name.clone()];
        let job = self.import.add_job(&job).expect("a job");
        self.row += 1;
        let (sheet, number) = (self.sheet, self.row);
        let row = NewRow { sheet, number, line: None, cells, job, disposition: Disposition::New };
        self.import.row(&row).expect("a row");
        job
    }
}

async fn go(journal: Journal, service: &Running, rate: Rate) {
    let clock = SystemClock::start();
    let config = Config {
        base_url: service.base_url().parse().expect("an address"),
        client_id: "bench".into(),
        client_secret: "bench-secret".to_owned().into(),
        endpoints: Endpoints::new(Paths::Assumed, BTreeMap::new()).expect("the assumed paths"),
        request_timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(5),
        proxy: Proxy::Ignored,
        ca_file: None,
    };
    let client = Client::new(config, clock.clone()).expect("a client");
    let options = RunOptions {
        policy: RunPolicy {
            on_quota: OnQuota::Wait,
            on_existing: OnExisting::Adopt,
            in_doubt: InDoubt::Settle,
            settle: Duration::from_secs(600),
            // Measured is how fast records are made.
            audit: None,
            on_rejections: OnRejections::Leave,
            overwrite: false,
        },
        limits: RunLimits { rate, concurrency: 256, daily_quota: None, reserve: 0 },
        until: None,
        writing: Writing::default(),
    };
    let (_keep, interrupts) = tokio::sync::mpsc::channel(1);
    let (news, mut told) = tokio::sync::mpsc::unbounded_channel();
    let listener = tokio::spawn(async move { while told.recv().await.is_some() {} });
    let (journal, ending) =
        fleetload::run::run(journal, client, clock, options, interrupts, news, Pulse::default()).await;
    journal.expect("the journal");
    assert_eq!(ending.expect("an ending"), Ending::Finished);
    listener.await.expect("a listener");
}

fn company(n: usize) -> Record {
    Record::Company(testing::company(format!("Customer {n}")))
}

fn site(n: usize) -> Record {
    Record::Site(testing::site(format!("Branch {n}")))
}

fn person(n: usize) -> Record {
    let mail = format!("user{n}@bench.example");
    Record::Person(Person { email: mail.clone(), ..testing::person(mail) })
}

fn device(n: usize) -> Record {
    let mac = format!("00:1a:2b:{:02x}:{:02x}:{:02x}", n >> 16, (n >> 8) & 255, n & 255);
    Record::Device(testing::device(format!("Till {n}"), Some(&mac)))
}

//! A run through the library: a journal on disk filled with rows, run against a service in this process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fleetload::clock::SystemClock;
use fleetload::journal::{
    Account, Disposition, ImportWriter, Journal, NewJob, NewRow, NewSheet, SheetId, Writing,
};
use fleetload::model::action::Action;
use fleetload::model::content_hash::ContentHash;
use fleetload::model::id::JobId;
use fleetload::model::key;
use fleetload::model::kind::Kind;
use fleetload::model::record::{Link, Person, Record, Role, Target};
use fleetload::model::window::SendingHours;
use fleetload::run::{
    Ending, InDoubt, OnClose, OnExisting, OnQuota, OnRejections, Pulse, RunLimits, RunOptions, RunPolicy,
};
use fleetload::sandbox::{Running, Sandbox, Scenario, wall_clock};
use fleetload::service::{Client, Config, Endpoints, Paths, Proxy, Rate};
use fleetload::testing;
use mimalloc::MiMalloc;

/// Memory comes from where it comes from in the program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Requests under way at once: as many as without a setting.
pub(crate) const CONCURRENCY: usize = 256;

pub(crate) async fn serve(scenario: Scenario) -> Running {
    let sandbox = Sandbox::new(scenario, wall_clock()).expect("a scenario");
    Running::start(Arc::new(sandbox)).await.expect("a free port")
}

/// A service, and a journal on disk filled by `fill`.
pub(crate) async fn prepare(
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
pub(crate) struct Filling<'a> {
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

    pub(crate) fn add(&mut self, record: Record, owner: Target) -> JobId {
        let role = if record.kind() == Kind::Company { Role::Parent } else { Role::Company };
        let links = vec![Link { role, target: owner }];
        let job = NewJob {
            sheet_key: None,
            name: key::comparable(record.name()),
            natural_key: key::natural_key(&record, &links),
            content_hash: ContentHash::OF_NO_ROW,
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

pub(crate) async fn go(journal: Journal, service: &Running, rate: Rate) {
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
            on_close: OnClose::Wait,
            on_existing: OnExisting::Adopt,
            in_doubt: InDoubt::Settle,
            settle: Duration::from_secs(600),
            // Measured is how fast records are made.
            audit: None,
            on_rejections: OnRejections::Leave,
            overwrite: false,
        },
        limits: RunLimits { rate, concurrency: CONCURRENCY, daily_quota: None, reserve: 0 },
        until: None,
        hours: SendingHours::default(),
        typed: String::new(),
        begun: None,
        list_ahead: None,
        writing: Writing::default(),
    };
    let (_keep, interrupts) = tokio::sync::mpsc::channel(1);
    let (news, mut told) = tokio::sync::mpsc::unbounded_channel();
    let listener = tokio::spawn(async move { while told.recv().await.is_some() {} });
    // As a task, as the command runs it: outside the runtime each message would wake a thread.
    let run = fleetload::run::run(journal, client, clock, options, interrupts, news, Pulse::default());
    let (journal, ending) = tokio::spawn(run).await.expect("a run");
    journal.expect("the journal");
    assert_eq!(ending.expect("an ending"), Ending::Finished);
    listener.await.expect("a listener");
}

pub(crate) fn company(n: usize) -> Record {
    Record::Company(testing::company(format!("Customer {n}")))
}

pub(crate) fn site(n: usize) -> Record {
    Record::Site(testing::site(format!("Branch {n}")))
}

pub(crate) fn person(n: usize) -> Record {
    let mail = format!("user{n}@bench.example");
    Record::Person(Person { email: mail.as_str().into(), ..testing::person(mail) })
}

pub(crate) fn device(n: usize) -> Record {
    Record::Device(testing::device(format!("Till {n}"), Some(&mac(n))))
}

pub(crate) fn mac(n: usize) -> String {
    format!("00:1a:2b:{:02x}:{:02x}:{:02x}", n >> 16, (n >> 8) & 255, n & 255)
}

//! The bench every test of the binary stands on: a folder of its own, a simulated service of its own on a free
//! port, a profile for it, and the real binary in a clean environment. What the service did is read from its own
//! ledger, which is kept apart from what it answered.

#![allow(dead_code, reason = "every test file uses a part of the bench")]

pub(crate) mod books;
pub(crate) mod child;
pub(crate) mod disk;
pub(crate) mod upkeep;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use child::UnderWay;
use fleetload::sandbox::{
    CallersClock, CompanyEntry, LedgerEntry, Running, Sandbox, Scenario, Statistics, steady_clock,
};
use serde_json::Value;

/// The client secret of every bench: long and odd enough to be searched for in everything that is written.
pub(crate) const SECRET: &str = "s3cret-Zq8vT1xPw0";
/// The client id of every bench.
pub(crate) const CLIENT: &str = "onboarding";

/// See the module.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    clock: CallersClock,
    sandbox: Arc<Sandbox>,
    address: SocketAddr,
    /// Absent while the service is away.
    service: Mutex<Option<Running>>,
}

/// What a command ended with.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The outcome of a command, which must have ended by itself.
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().expect("the command ended by itself"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
        }
    }

    /// Panics with everything that was said when the exit code is another one.
    #[track_caller]
    pub(crate) fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The last object of a command with `--json`.
    #[track_caller]
    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(self.stdout.lines().last().expect("a summary")).expect("JSON")
    }
}

impl Bench {
    /// A bench with a service that follows `scenario`.
    pub(crate) fn new(scenario: Scenario) -> Self {
        Self::by_clock(scenario, steady_clock())
    }

    /// The same by another clock than the machine's.
    pub(crate) fn by_clock(scenario: Scenario, clock: CallersClock) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime for the service");
        let sandbox = Arc::new(Sandbox::new(scenario, clock()).expect("a consistent scenario"));
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let starting = Running::start_by(Arc::clone(&clock), Arc::clone(&sandbox), any_port);
        let service = runtime.block_on(starting).expect("a free port");
        let (folder, address) = (tempfile::tempdir().expect("a folder"), service.address());
        let bench = Self { folder, runtime, clock, sandbox, address, service: Mutex::new(Some(service)) };
        bench.profile("", "rate = \"unlimited\"", "");
        bench
    }

    /// Writes the profile: more lines for the account, its limits and its policy.
    pub(crate) fn profile(&self, account: &str, limits: &str, policy: &str) {
        let secret = self.write("secret", SECRET);
        private(&secret);
        let paths = if account.contains("paths") { "" } else { "paths = \"assumed\"" };
        self.write(
            "fleetload.toml",
            &format!(
                "[profile.bench]\nbase_url = \"{}\"\nclient_id = \"{CLIENT}\"\nclient_secret_file = \"secret\"\n\
                 {paths}\n{account}\n[profile.bench.limits]\n{limits}\n\
                 [profile.bench.policy]\nsettle_seconds = 1\nrequest_timeout_seconds = 60\n{policy}\n",
                self.base_url()
            ),
        );
    }

    /// Sets the lines of `[profile.bench.notify]`.
    pub(crate) fn notify(&self, lines: &str) {
        let profile = std::fs::read_to_string(self.path("fleetload.toml")).expect("the profile");
        let (rest, _) = profile.split_once("[profile.bench.notify]").unwrap_or((&profile, ""));
        self.write("fleetload.toml", &format!("{rest}[profile.bench.notify]\n{lines}\n"));
    }

    /// A file in the bench's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file in the bench's folder.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a writable folder");
        path
    }

    /// The binary with its arguments, in the bench's folder, knowing nothing of the machine.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetload"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("TZ", "UTC")
            // Messages without their time. What they are like in a log has tests of its own.
            .env("FLEETLOAD_LOG_FORMAT", "plain");
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn fleetload(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).output().expect("the binary starts"))
    }

    /// Starts the binary, for a test that watches it under way.
    pub(crate) fn start(&self, arguments: &[&str]) -> UnderWay {
        UnderWay::start(self.command(arguments))
    }

    /// The simulated service.
    pub(crate) fn sandbox(&self) -> &Arc<Sandbox> {
        &self.sandbox
    }

    /// From now on the service has no faults.
    pub(crate) fn clear_faults(&self) {
        self.sandbox.change(|scenario| scenario.fault.clear()).expect("a consistent scenario");
    }

    /// Nothing listens any more where the service was; every connection is closed.
    pub(crate) fn service_goes_away(&self) {
        let service = self.service.lock().expect("no panic").take().expect("a service");
        self.runtime.block_on(service.stop());
    }

    /// The service listens again where it was.
    pub(crate) fn service_is_back(&self) {
        let starting = Running::start_by(Arc::clone(&self.clock), Arc::clone(&self.sandbox), self.address);
        let service = self.runtime.block_on(starting).expect("its port");
        *self.service.lock().expect("no panic") = Some(service);
    }

    /// What a profile has as `base_url`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything the service has done.
    pub(crate) fn ledger(&self) -> Vec<LedgerEntry> {
        self.sandbox().ledger((self.clock)())
    }

    /// The records of one kind that the service has created.
    pub(crate) fn created(&self, kind: &str) -> Vec<LedgerEntry> {
        self.ledger().into_iter().filter(|entry| entry.created && entry.kind == kind).collect()
    }

    /// Their names, in order.
    pub(crate) fn names(&self, kind: &str) -> Vec<String> {
        let made = self.created(kind).into_iter();
        let mut names: Vec<String> =
            made.map(|entry| entry.request["name"].as_str().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    }

    /// What the service counted.
    pub(crate) fn statistics(&self) -> Statistics {
        self.sandbox().statistics((self.clock)())
    }

    /// Requests for one operation so far.
    pub(crate) fn requests(&self, operation: &str) -> u64 {
        self.statistics().requests.get(operation).copied().unwrap_or(0)
    }

    /// The `summary.json` of an import, by the name of its folder.
    pub(crate) fn summary(&self, import: impl Display) -> Value {
        let path = self.path(&format!("reports/{import}/summary.json"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        serde_json::from_str(&text).expect("JSON")
    }

    /// Changes a line of the profile.
    #[track_caller]
    pub(crate) fn alter(&self, from: &str, to: &str) {
        let profile = std::fs::read_to_string(self.path("fleetload.toml")).expect("the profile");
        assert!(profile.contains(from), "{from}: {profile}");
        self.write("fleetload.toml", &profile.replace(from, to));
    }

    /// The lines of the `results.jsonl` of an import.
    pub(crate) fn results(&self, import: u32) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("reports/{import}/results.jsonl")))
            .expect("results.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The record that the service made and no row of an import has.
    pub(crate) fn unowned(&self, import: u32, kind: &str) -> String {
        let rows = self.results(import);
        let made = self.created(kind).into_iter().map(|entry| entry.id.to_string());
        let mut lost = made.filter(|id| rows.iter().all(|row| row["id"] != id.as_str()));
        lost.next().expect("a record that no row owns")
    }

    /// How many rows of an import are in each state, empty states left out.
    pub(crate) fn counts(&self, import: impl Display) -> BTreeMap<String, u64> {
        let summary = self.summary(import);
        let counts = summary["counts"].as_object().expect("counts");
        let counts: BTreeMap<_, _> = counts
            .iter()
            .map(|(state, count)| (state.clone(), count.as_u64().expect("a number")))
            .filter(|(_, count)| *count > 0)
            .collect();
        assert_eq!(
            counts.values().sum::<u64>(),
            summary["rows"].as_u64().expect("rows"),
            "the counts add up"
        );
        counts
    }

    /// Holds the ledger against the results of an import: every row that is said to have a record has the one with
    /// its name, no record is owned by two rows, and the service has made none besides.
    #[track_caller]
    pub(crate) fn assert_exact(&self, import: u32) {
        self.assert_exact_all(&[import]);
    }

    /// The same for several imports that share no row, once their reports are written again.
    #[track_caller]
    pub(crate) fn assert_exact_all(&self, imports: &[u32]) {
        let made: BTreeMap<String, LedgerEntry> = self
            .ledger()
            .into_iter()
            .filter(|entry| entry.created && RECORDS.contains(&entry.kind.as_str()))
            .map(|entry| (entry.id.to_string(), entry))
            .collect();
        let mut owned = BTreeMap::new();
        for row in imports.iter().flat_map(|&import| self.results(import)) {
            let Some(id) = row["id"].as_str() else { continue };
            if let Some(other) = owned.insert(id.to_owned(), row.clone()) {
                panic!("two rows have the id {id}:\n{other}\n{row}");
            }
            if row["status"] != "existing" {
                assert!(made.contains_key(id), "the service has made no {id} of {row}");
            }
        }
        let strangers: Vec<_> =
            made.values().filter(|entry| !owned.contains_key(&entry.id.to_string())).collect();
        assert!(strangers.is_empty(), "records that no row owns: {strangers:#?}");
    }
}

/// An end for runs that a test waits for, far beyond what the slowest machine needs: a run that never ends by itself fails
/// then instead of hanging.
pub(crate) fn at_the_latest() -> String {
    (jiff::Timestamp::now() + jiff::SignedDuration::from_mins(10)).to_string()
}

const RECORDS: [&str; 4] = ["company", "person", "site", "device"];

/// Everything below a folder, folders too.
pub(crate) fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

/// Makes a file readable by its owner only, as secrets must be.
pub(crate) fn private(path: &Path) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("own file");
    #[cfg(not(unix))]
    let _ = path;
}

/// The id of the account's own company in the simulated service.
pub(crate) fn root() -> String {
    fleetload::sandbox::ROOT_COMPANY.to_string()
}

/// A sheet of `count` companies below the account's own.
pub(crate) fn companies(count: usize) -> String {
    let mut sheet =
        "key,parent,company_type,name,phone,support_email,sales_email,accounts_email,address1,city,country\n"
            .to_owned();
    for n in 0..count {
        sheet += &format!(
            "C{n},{},CUSTOMER,Customer {n},+64 9 555 {n:04},help@c{n}.example,sales@c{n}.example,pay@c{n}.example,{n} Queen Street,Auckland,NZ\n",
            root()
        );
    }
    sheet
}

/// A company that is there already, of the name of the first in [`companies`].
pub(crate) fn first_company_of_others() -> CompanyEntry {
    CompanyEntry {
        id: uuid::Uuid::from_u128(0x51de),
        name: "Customer 0".to_owned(),
        parent: None,
        company_type: "CUSTOMER".to_owned(),
    }
}

/// A sheet of `count` sites, spread over `companies` companies.
pub(crate) fn sites(count: usize, companies: usize) -> String {
    let mut sheet = "key,company,name,reference,phone,address1,city,country\n".to_owned();
    for n in 0..count {
        sheet += &format!(
            "S{n},C{},Branch {n},REF-{n},+64 9 556 {n:04},{n} King Street,Auckland,NZ\n",
            n % companies
        );
    }
    sheet
}

/// A sheet of `count` people, spread over `companies` companies.
pub(crate) fn people(count: usize, companies: usize) -> String {
    let mut sheet = "company,user_type,template_scope,first_name,last_name,username,email,allow_login,address1,city,country\n".to_owned();
    for n in 0..count {
        sheet += &format!(
            "C{},Reports Client,COMPANY_INHERIT,Ann,Number{n},user{n}@bench.example,user{n}@bench.example,yes,{n} Duke Street,Auckland,NZ\n",
            n % companies
        );
    }
    sheet
}

/// A sheet of `count` devices, spread over `companies` companies; every tenth has no MAC address.
pub(crate) fn devices(count: usize, companies: usize) -> String {
    let mut sheet = "company,name,device_model,mac,phone,address1,city,country\n".to_owned();
    for n in 0..count {
        let mac = if n % 10 == 9 {
            String::new()
        } else {
            format!("00:1a:2b:{:02x}:{:02x}:{:02x}", n >> 16, (n >> 8) & 255, n & 255)
        };
        sheet += &format!(
            "C{},Till {n},Edge 100,{mac},+64 9 557 {n:04},{n} Earl Street,Auckland,NZ\n",
            n % companies
        );
    }
    sheet
}

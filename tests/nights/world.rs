//! What a month takes place in: the service, a journal on a small disk, the commands, and what they told.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::sync::Arc;

use fleetload::sandbox::{Fault, FaultKind, Scenario};
use serde_json::Value;

use super::calendar::Calendar;
use crate::bench::child::look_again;
use crate::bench::disk::SmallDisk;
use crate::bench::{Bench, Outcome};
use crate::open_metrics::Metrics;
use crate::receiver::Receiver;

/// The file of metrics.
const METRICS: &str = "fleetload.prom";
/// The log that every night is appended to.
const LOG: &str = "nightly.log";
/// The command of the timer.
const NIGHTLY: [&str; 12] = [
    "run",
    "--on-quota",
    "exit",
    "--until",
    "06:00Z",
    "--metrics-file",
    METRICS,
    "--json",
    "--events",
    "rows",
    "--log-format",
    "json",
];
/// The longest that a pause of an operation counts as brief, so that nobody is told.
const BRIEF_MS: u64 = 60_000;

/// See the module.
pub(crate) struct World {
    // Goes away before the folder of the bench.
    pub(crate) disk: Option<SmallDisk>,
    pub(crate) bench: Bench,
    pub(crate) calendar: Arc<Calendar>,
    receiver: Receiver,
    notified: RefCell<Vec<Value>>,
    /// How many lines of the log are read.
    logged: RefCell<usize>,
}

/// What a night left behind.
#[derive(Debug)]
pub(crate) struct Night {
    /// The exit code; none when the process was killed.
    pub(crate) code: Option<i32>,
    /// When it began and ended, by the calendar.
    pub(crate) span: (i64, i64),
    pub(crate) told: Told,
    /// Its lines of the log.
    pub(crate) log: Vec<Value>,
    /// What was reported to the receiver.
    pub(crate) notified: Vec<Value>,
    /// The file of metrics as it is after the night.
    pub(crate) metrics: Metrics,
}

/// What a run told on its standard output.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// How many rows moved from which state into which.
    pub(crate) moves: BTreeMap<(String, String), u64>,
    /// Operations that were paused for longer than is brief.
    pub(crate) paused: BTreeSet<String>,
    pub(crate) events: u64,
    /// The last summary.
    pub(crate) summary: Value,
}

impl World {
    pub(crate) fn of(quota: u64, calendar: Arc<Calendar>) -> Self {
        let scenario = Scenario { rate: 0, daily_quota: quota, strict: true, ..Scenario::default() };
        let bench = Bench::by_clock(scenario, calendar.of_service());
        bench.profile("", "rate = \"unlimited\"\nconcurrency = 32", "");
        bench.alter("settle_seconds = 1\n", "settle_seconds = 600\n");
        let receiver = Receiver::start();
        bench.notify(&format!("webhook = \"{}\"", receiver.url()));
        // Room for twenty times as many rows, each with about a kilobyte, and for what is written before it is in its place.
        let disk = SmallDisk::mount(bench.path("disk"), &format!("{}m", 64 + quota / 10));
        std::fs::create_dir_all(bench.path("disk")).expect("a folder");
        Self { disk, bench, calendar, receiver, notified: RefCell::default(), logged: RefCell::default() }
    }

    /// A command at the present time.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bench.command(arguments);
        command
            .env("FLEETLOAD_CLOCK", self.calendar.of_process())
            .env("FLEETLOAD_JOURNAL", "disk/fleetload.db");
        command
    }

    /// Carries out a command.
    pub(crate) fn fleetload(&self, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(arguments).output().expect("the binary starts"))
    }

    /// What goes wrong from now on: what goes wrong every night, after `faults`.
    pub(crate) fn faults(&self, faults: &[Fault]) {
        let mut all = faults.to_vec();
        all.extend([
            Fault::new("creations", FaultKind::AnswerLost).probability(0.003),
            Fault::new("creations", FaultKind::RateLimitExceeded).probability(0.01),
            Fault::new("lookups", FaultKind::Error500Before).probability(0.002),
            Fault::new("creations", FaultKind::TokenRevoked).after(40).times(1),
        ]);
        self.bench.sandbox().change(|scenario| scenario.fault = all).expect("a consistent scenario");
    }

    /// How often a fault has fired.
    pub(crate) fn fired(&self, fault: &str) -> u64 {
        self.bench.statistics().faults_fired.get(fault).copied().unwrap_or(0)
    }

    /// Every notification so far.
    fn receive(&self) {
        self.notified.borrow_mut().extend(self.receiver.got().iter().map(crate::receiver::Got::json));
    }

    /// Whether an event was reported since there were so many notifications.
    fn is_reported(&self, event: &str, since: usize) -> bool {
        self.receive();
        self.notified.borrow()[since..].iter().any(|notified| notified["event"] == event)
    }

    /// Carries out the command of the timer. `during` takes part in it.
    pub(crate) fn night(&self, failpoint: Option<&str>, during: impl FnOnce(&mut Going<'_>)) -> Night {
        self.receive();
        let before = self.notified.borrow().len();
        let began = self.calendar.now();
        let (news, log) = (self.bench.path("news.jsonl"), self.bench.path(LOG));
        let mut command = self.command(&NIGHTLY);
        command
            .stdout(File::create(&news).expect("a file"))
            .stderr(File::options().append(true).create(true).open(&log).expect("a log"));
        if let Some(failpoint) = failpoint {
            command.env("FLEETLOAD_FAILPOINT", failpoint);
        }
        let child = command.spawn().expect("the binary starts");
        let mut going = Going { world: self, child, before };
        during(&mut going);
        let status = going.child.wait().expect("a child");
        self.receive();
        let metrics = std::fs::read_to_string(self.bench.path(METRICS)).expect("a metrics file");
        Night {
            code: status.code(),
            span: (began, self.calendar.now()),
            told: Told::read(&news),
            log: self.new_lines(),
            notified: self.notified.borrow()[before..].to_vec(),
            metrics: Metrics::parse(&metrics),
        }
    }

    /// The last notification of an event.
    pub(crate) fn last(&self, event: &str) -> Value {
        let notified = self.notified.borrow();
        notified.iter().rfind(|notified| notified["event"] == event).expect("a notification").clone()
    }

    /// Carries out a command as it was advised, with more arguments.
    pub(crate) fn advised(&self, command: &str, more: &[&str]) -> Outcome {
        let mut words = command.split(' ');
        assert_eq!(words.next(), Some("fleetload"), "{command}");
        let arguments: Vec<&str> = words.chain(more.iter().copied()).collect();
        self.fleetload(&arguments)
    }

    /// The lines of the log that were not read yet.
    fn new_lines(&self) -> Vec<Value> {
        let log = BufReader::new(File::open(self.bench.path(LOG)).expect("a log"));
        let read = *self.logged.borrow();
        let lines: Vec<Value> = log
            .lines()
            .skip(read)
            .map(|line| serde_json::from_str(&line.expect("UTF-8")).expect("a JSON object a line"))
            .collect();
        *self.logged.borrow_mut() += lines.len();
        lines
    }
}

/// The run of a night under way.
pub(crate) struct Going<'a> {
    world: &'a World,
    child: Child,
    before: usize,
}

impl Going<'_> {
    /// Waits until something is seen from outside.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, seen: impl Fn() -> bool) {
        while !seen() {
            let ended = self.child.try_wait().expect("a child");
            assert!(ended.is_none() || seen(), "the run ended ({ended:?}) before {what}");
            look_again();
        }
    }

    /// Waits until an event is reported to the receiver.
    #[track_caller]
    pub(crate) fn until_reported(&mut self, event: &str) {
        let (world, before) = (self.world, self.before);
        self.until(event, || world.is_reported(event, before));
    }
}

impl Told {
    /// Reads the news of a run. The last line of one that was killed may be torn.
    fn read(news: &std::path::Path) -> Self {
        let mut told = Self::default();
        for line in BufReader::new(File::open(news).expect("a file")).lines() {
            let Ok(object) = serde_json::from_str::<Value>(&line.expect("UTF-8")) else { continue };
            let word = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
            match (word("object").as_str(), word("event").as_str()) {
                ("event", "moved") => {
                    *told.moves.entry((word("from"), word("to"))).or_default() += 1;
                }
                ("event", "breaker")
                    if object["open"] == true && object["next_try_in_ms"].as_u64() >= Some(BRIEF_MS) =>
                {
                    told.paused.insert(word("operation"));
                }
                ("summary", _) => told.summary = object.clone(),
                _ => {}
            }
            told.events += u64::from(object["object"] == "event");
        }
        told
    }
}

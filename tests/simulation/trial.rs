//! One trial: rows are imported, processes live and die over them, in the end nothing disturbs any more, and then
//! the service's ledger is held against the journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleetload::import::{self, Outcome};
use fleetload::journal::{Account, AuditScope, Journal, Writing};
use fleetload::model::event::Event;
use fleetload::model::time::Moment;
use fleetload::model::window::SendingHours;
use fleetload::run::{
    Ending, Interrupt, ListAhead, OnClose, OnExisting, OnQuota, OnRejections, Pulse, RunLimits, RunOptions,
    RunPolicy,
};
use fleetload::sandbox::{ROOT_COMPANY, Sandbox};
use fleetload::service::{Client, Config, Endpoints, Paths, Proxy, Rate};
use tokio::sync::mpsc;

use super::network::{LATEST_ARRIVAL_MS, Network, Traffic, Wire};
use super::oracle::{self, Verdict};
use super::script::{End, Script};
use super::time::{ProcessClock, Time};

/// The service as the profile calls it; nothing listens there.
const BASE_URL: &str = "http://127.0.0.1:9/";
/// How long after a lost answer "not there" may be believed. What the service does later is not promised.
pub(crate) const SETTLE: Duration = Duration::from_secs(120);
/// Whose rows they are.
const CLIENT: &str = "sim";
/// Longer than any search lags behind.
pub(crate) const LONGEST_LAG: Duration = Duration::from_secs(30);
/// After it nothing that was sent is still under way.
const LATEST_ARRIVAL: Duration = Duration::from_millis(LATEST_ARRIVAL_MS.unsigned_abs());
/// Lives without disturbance after which everything must have come to an end.
const CALM_LIVES: usize = 6;
/// Longer than any quota can make a trial last.
const PATIENCE: Duration = Duration::from_secs(40 * 86_400);

/// What a trial has shown.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    /// What must never be; empty when all is well.
    pub(crate) violations: Vec<String>,
    pub(crate) figures: Figures,
    /// What happened, in short; the same for the same seed.
    pub(crate) trace: Vec<String>,
}

/// What a trial went through.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) rows: u64,
    /// Rows of a later import that gave a job other values, and those that did not, as its outcome was not known.
    pub(crate) asked_otherwise: u64,
    pub(crate) left_in_doubt: u64,
    pub(crate) crashes: u64,
    pub(crate) interrupts: u64,
    /// Lives that began to look at all pages of the journal, and those that ended before they had.
    pub(crate) page_checks: u64,
    pub(crate) page_checks_left: u64,
    /// Lives that began with a list and ended in order.
    pub(crate) listed_ahead: u64,
    /// Crashes at which a creation was under way.
    pub(crate) crashes_in_the_window: u64,
    pub(crate) midnights: u64,
    pub(crate) traffic: Traffic,
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) states: BTreeMap<String, u64>,
    pub(crate) quota: QuotaFigures,
    /// The most creations that were told to be used, by day.
    pub(crate) used: BTreeMap<i64, u64>,
}

/// What the quota ledger of a trial came to.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct QuotaFigures {
    /// Days whose midnights no creation was near, so that the service's count is known to the last one.
    pub(crate) sharp_days: u64,
    pub(crate) refused: u64,
    pub(crate) doubtful: u64,
}

/// How a life ended.
#[derive(Debug)]
enum Fate {
    Crashed,
    Ended(Ending),
}

/// Carries out the trial of a seed.
pub(crate) fn of_seed(seed: u64) -> Trial {
    carry_out(&Script::of(seed), seed)
}

/// Carries out a trial.
pub(crate) fn carry_out(script: &Script, seed: u64) -> Trial {
    let folder = folder();
    let path = folder.path().join("fleetload.db");
    let start = script.scenario.clock_starts_at.expect("every script says when it begins").to_string();
    let time = Time::starting_at(Moment::parse(&start).expect("a moment"));
    let sandbox = Sandbox::new(script.scenario.clone(), time.now().millis()).expect("a consistent scenario");
    let network = Network::new(Arc::clone(&time), sandbox, script.weather.clone(), seed);
    for (path, body) in &script.twins {
        network.ask_as_somebody_else(path, body);
    }
    // What somebody makes at the very moment we look is not promised: searches of the service lag behind.
    time.pass(LONGEST_LAG);
    let before = network.sandbox.attachments(time.now().millis());
    let mut trial = Trial::default();
    take_in(&script.sheets, script.rows, folder.path(), &path, time.now());

    let mut earlier = Vec::new();
    for (life, end) in script.lives.iter().enumerate() {
        let fate = live(script, &network, &path, Some(*end), &mut trial);
        match &fate {
            Fate::Crashed => trial.figures.crashes += 1,
            Fate::Ended(Ending::Interrupted { .. }) => trial.figures.interrupts += 1,
            Fate::Ended(_) => {}
        }
        trial.trace.push(format!("{:?}: {end:?} -> {fate:?}", time.elapsed()));
        // Whoever starts it again takes a while.
        time.pass(Duration::from_secs(3));
        if let Some(later) = script.later.as_ref().filter(|later| later.after_life == life) {
            // What is still under way now may undo what the later rows ask for: that is not promised.
            time.pass(LATEST_ARRIVAL);
            earlier = oracle::rows(&Journal::open(&path).expect("the journal opens"));
            take_in(&later.sheets, later.rows, folder.path(), &path, time.now());
        }
    }
    network.sandbox.change(|scenario| scenario.fault.clear()).expect("a consistent scenario");
    network.calm_down();
    let mut finished = false;
    for _ in 0..CALM_LIVES {
        let fate = live(script, &network, &path, None, &mut trial);
        trial.trace.push(format!("{:?}: calm -> {fate:?}", time.elapsed()));
        finished = matches!(fate, Fate::Ended(Ending::Finished));
        if finished {
            break;
        }
        time.pass(Duration::from_secs(60));
    }
    network.settle();
    let too_early = network.too_early().into_iter();
    trial.violations.extend(too_early.map(|told| format!("left before all pages were looked at: {told}")));
    if !finished {
        trial.violations.push(format!("did not finish although nothing disturbs: {:?}", trial.trace.last()));
    }
    let midnight = |moment: Moment| moment.millis() / 86_400_000;
    trial.figures.midnights =
        u64::try_from(midnight(time.now()) - midnight(Moment::parse(&start).expect("a moment"))).unwrap_or(0);
    trial.figures.traffic = network.traffic();
    let now = time.now().millis();
    let statistics = network.sandbox.statistics(now);
    trial.figures.faults = statistics.faults_fired;
    let journal = Journal::open(&path).expect("the journal opens");
    let attachments = (&before[..], &network.sandbox.attachments(now)[..]);
    let ledger = network.sandbox.ledger(now);
    let Verdict { violations, states, rows, asked_otherwise, left_in_doubt } =
        oracle::judge(&journal, &earlier, &ledger, attachments, script);
    trial.violations.extend(violations);
    let counted = statistics.quota_by_day.get(CLIENT).cloned().unwrap_or_default();
    let near = |midnight| network.creations_around(midnight);
    trial.violations.extend(oracle::judge_quota(&journal, &counted, script, near, &mut trial.figures.quota));
    (trial.figures.asked_otherwise, trial.figures.left_in_doubt) = (asked_otherwise, left_in_doubt);
    trial.figures.rows = rows;
    trial.figures.states = states;
    trial
}

/// A folder for the journal, in memory where there is such a place: what the disk forgets is another proof.
pub(super) fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => tempfile::tempdir_in(memory).expect("a folder in memory"),
        false => tempfile::tempdir().expect("a folder"),
    }
}

/// Imports the rows of some sheets.
pub(super) fn take_in(
    sheets: &[(&'static str, String)],
    rows: usize,
    folder: &Path,
    path: &Path,
    now: Moment,
) {
    let files: Vec<PathBuf> = sheets
        .iter()
        .map(|(name, text)| {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().expect("it is in the folder")).expect("a writable folder");
            std::fs::write(&file, text).expect("a writable folder");
            file
        })
        .collect();
    let mut journal = Journal::open(path).expect("a new journal");
    journal.bind(&Account { base_url: BASE_URL.into(), client_id: CLIENT.into() }).expect("a new journal");
    let examined = import::examine(&files, &Default::default(), Some(&journal)).expect("readable files");
    match import::import(&examined, &mut journal, false, now).expect("an import") {
        Outcome::Imported(imported, _) => assert_eq!(imported.rows, rows as u64),
        Outcome::Refused(findings) => panic!("the script's rows are refused: {findings:?}"),
    }
}

pub(super) fn options(script: &Script, network: &Arc<Network>) -> RunOptions {
    let network = Arc::clone(network);
    RunOptions {
        policy: RunPolicy {
            on_quota: OnQuota::Wait,
            on_close: OnClose::Wait,
            on_existing: OnExisting::Adopt,
            in_doubt: script.in_doubt,
            settle: SETTLE,
            audit: Some(AuditScope::All),
            on_rejections: OnRejections::Leave,
            overwrite: false,
        },
        limits: RunLimits {
            rate: Rate::PerSecond(98.0),
            concurrency: script.concurrency,
            daily_quota: None,
            reserve: 0,
        },
        until: None,
        hours: SendingHours::default(),
        typed: String::new(),
        begun: None,
        list_ahead: None,
        writing: Writing::AmongTasks(Arc::new(move || network.disk())),
    }
}

pub(super) fn config(timeout: Duration) -> Config {
    Config {
        base_url: BASE_URL.parse().expect("an address"),
        client_id: CLIENT.to_owned(),
        client_secret: "sim".to_owned().into(),
        endpoints: Endpoints::new(Paths::Assumed, BTreeMap::new()).expect("the assumed paths"),
        request_timeout: timeout,
        connect_timeout: timeout / 2,
        proxy: Proxy::Ignored,
        ca_file: None,
    }
}

/// One life of the process: it opens the journal, recovers and runs, until it ends or dies.
fn live(script: &Script, network: &Arc<Network>, path: &Path, end: Option<End>, trial: &mut Trial) -> Fate {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    network.set_fuse(match end {
        Some(End::Crash(events)) => Some(events),
        Some(End::Interrupt(_)) | None => None,
    });
    let (fate, under_way) = runtime.block_on(async {
        network.time.begin_life();
        let wrong = [(Duration::ZERO, script.wrong_clock_ms)].into_iter().chain(script.clock_set).collect();
        let clock = ProcessClock::start(&network.time, wrong);
        let mut journal = Journal::open(path).expect("the journal opens");
        let recovered = journal.queue().recover(clock.now()).expect("the journal recovers");
        let was_left = network.is_unchecked();
        let is_due = journal.is_page_check_due().expect("the journal opens");
        if was_left && !is_due {
            trial.violations.push("pages that nobody has looked at are not to be looked at".to_owned());
        }
        let check = script.page_check.filter(|_| is_due);
        let check = check.map(|takes| (takes, journal.begin_page_check_of_test().expect("a journal")));
        network.set_unchecked(check.is_some());
        trial.figures.page_checks += u64::from(check.is_some());
        let checking = async {
            if let Some((takes, tell)) = check {
                tokio::time::sleep(takes).await;
                network.set_unchecked(false);
                let _ended_before = tell.send(Ok(()));
            }
            std::future::pending::<()>().await;
        };
        let transport = Arc::new(Wire(Arc::clone(network)));
        let client = Client::with_transport(config(script.weather.timeout), Arc::clone(&clock), transport);
        let (interrupt, interrupts) = mpsc::channel(2);
        let (tell, mut news) = mpsc::unbounded_channel();
        let run = async {
            let mut options = options(script, network);
            if script.list_ahead {
                options.list_ahead = ListAhead::below(&client, &*clock, ROOT_COMPANY).await;
            }
            let listed = options.list_ahead.is_some();
            let pulse = Pulse::default();
            let ran = fleetload::run::run(journal, client, clock, options, interrupts, tell, pulse).await;
            (ran, listed)
        };
        let interrupting = async {
            match end {
                Some(End::Interrupt(after)) => {
                    tokio::time::sleep(after).await;
                    let _ended_before = interrupt.send(Interrupt::Drain).await;
                    std::future::pending::<()>().await;
                }
                Some(End::Crash(_)) | None => std::future::pending::<()>().await,
            }
        };
        let fate = tokio::select! {
            biased;
            () = network.death() => Fate::Crashed,
            ((journal, ending), listed) = run => {
                trial.figures.listed_ahead += u64::from(listed);
                journal.expect("the journal comes back");
                Fate::Ended(ending.expect("a run ends in order"))
            }
            () = interrupting => unreachable!("an interruption is for the run to end"),
            () = checking => unreachable!("what is found is for the run to hear"),
            () = tokio::time::sleep(PATIENCE) => panic!("the run does not end"),
        };
        while let Ok(event) = news.try_recv() {
            note(&event, trial);
        }
        network.time.end_life();
        trial.figures.page_checks_left += u64::from(network.is_unchecked());
        (fate, recovered.doubtful)
    });
    if under_way > 0 {
        trial.figures.crashes_in_the_window += 1;
    }
    fate
}

fn note(event: &Event, trial: &mut Trial) {
    match event {
        Event::QuotaUsed(day) => {
            let used = trial.figures.used.entry(day.day.number()).or_default();
            if day.used() < *used || day.ceiling.is_some_and(|ceiling| ceiling < day.used()) {
                trial.violations.push(format!("the quota runs backwards: {used} used, then {day:?}"));
            }
            *used = day.used();
        }
        Event::Sent { .. } | Event::Remaining(_) => {}
        event => trial.trace.push(format!("{event:?}")),
    }
}

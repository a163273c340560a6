//! Random kills: one import, killed again and again at random moments, then finished and compared.
//!
//! A moment is so many lines of news after the start and a random little while more, so that it does not depend on the
//! machine's speed. Where each kill landed is read from the journal that it left.

use fleetload::sandbox::{Fault, FaultKind, Scenario};

use super::{Balance, Death, Rows, ask, balance, finish, is_killed};
use crate::bench::Bench;

/// Kills in a row before the import is finished.
const KILLS: u64 = 10;
/// News that a row makes on its way, by and large.
const NEWS: usize = 4;
/// One kill in so many lands while the process is still starting.
const EARLY: u64 = 10;
/// The most turns of an empty loop between the last line and the kill.
const LITTLE_WHILE: u32 = 200_000;
/// The same for a kill during the start.
const WHILE_STARTING: u32 = 8_000_000;
/// The share of creations that each kind of fault meets besides.
const FAULTY: f64 = 0.004;
/// Faults that leave a row in doubt, or send it back.
const FAULTS: [FaultKind; 6] = [
    FaultKind::AnswerLost,
    FaultKind::AnswerCut,
    FaultKind::Error500After,
    FaultKind::RequestLost,
    FaultKind::ResetBefore,
    FaultKind::RateLimitExceeded,
];

/// What to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Kills in all.
    pub(crate) kills: u64,
    /// Rows of each import.
    pub(crate) rows: Rows,
    /// Imports side by side.
    pub(crate) at_once: usize,
    /// The first seed; each import has one of its own.
    pub(crate) seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// Kills that ended a process.
    pub(crate) kills: u64,
    /// Of these, while the journal said that a request was under way.
    pub(crate) under_way: u64,
    /// Of these, when the service had carried one out and the journal did not know.
    pub(crate) carried_out: u64,
    /// Imports, each finished in the end.
    pub(crate) imports: u64,
    /// Their rows.
    pub(crate) rows: u64,
    /// Requests that were in doubt because their process was killed.
    pub(crate) in_doubt: u64,
    /// Requests in doubt for a fault of the service.
    pub(crate) in_doubt_by_faults: u64,
    /// Rows whose record was found and adopted.
    pub(crate) adopted: u64,
    /// Requests sent again once it was certain that the one before was not carried out.
    pub(crate) sent_again: u64,
    /// Rows that a person had to decide.
    pub(crate) held: u64,
    /// Rows without a record.
    pub(crate) lost: u64,
    /// Records too many.
    pub(crate) doubled: u64,
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.kills += other.kills;
        self.under_way += other.under_way;
        self.carried_out += other.carried_out;
        self.imports += other.imports;
        self.rows += other.rows;
        self.in_doubt += other.in_doubt;
        self.in_doubt_by_faults += other.in_doubt_by_faults;
        self.adopted += other.adopted;
        self.sent_again += other.sent_again;
        self.held += other.held;
        self.lost += other.lost;
        self.doubled += other.doubled;
    }
}

/// Kills as often as planned, spread over as many imports as that takes; tells now and then how it stands.
pub(crate) fn campaigns(plan: Plan, tell: &mut dyn FnMut(&Figures)) -> Figures {
    let mut figures = Figures::default();
    let mut seed = plan.seed;
    while figures.kills < plan.kills {
        let missing = plan.kills - figures.kills;
        let lanes = missing.div_ceil(KILLS).min(u64::try_from(plan.at_once).expect("a number"));
        std::thread::scope(|scope| {
            let lanes: Vec<_> = (0..lanes)
                .map(|lane| {
                    let kills = KILLS.min(missing.saturating_sub(lane * KILLS));
                    scope.spawn(move || campaign(seed + lane, kills, plan.rows))
                })
                .collect();
            for lane in lanes {
                figures.add(lane.join().expect("a campaign that comes to its end"));
            }
        });
        seed += lanes;
        tell(&figures);
    }
    figures
}

/// One import, killed so many times.
fn campaign(seed: u64, kills: u64, rows: Rows) -> Figures {
    let scenario = Scenario { rate: 0, latency_ms: [2, 20], seed, ..Scenario::default() };
    let scenario = FAULTS.into_iter().fold(scenario, |scenario, kind| {
        scenario.with_fault(Fault { probability: FAULTY, ..Fault::new("creations", kind) })
    });
    let bench = Bench::new(scenario);
    bench.profile("", "rate = \"unlimited\"\nconcurrency = 24", "");
    let sheets = rows.write(&bench);
    let import = [&["import"], &sheets[..]].concat();
    bench.fleetload(&import).expect_code(0);

    let mut random = fastrand::Rng::with_seed(seed);
    let mut figures =
        Figures { imports: 1, rows: u64::try_from(rows.all()).expect("a number"), ..Figures::default() };
    let share = (rows.all() * NEWS / usize::try_from(kills.max(1)).expect("a number")).max(2);
    while figures.kills < kills {
        let early = random.u64(..EARLY) == 0;
        let lines = if early { 0 } else { random.usize(1..share) };
        let little = random.u32(..if early { WHILE_STARTING } else { LITTLE_WHILE });
        if !killed(&bench, lines, little) {
            // It came to its end first: every row is done, and there is nothing left to kill.
            break;
        }
        let death = Death::look(&bench);
        figures.kills += 1;
        figures.under_way += u64::from(death.under_way > 0);
        figures.carried_out += u64::from(death.carried_out > 0);
    }
    let finish = finish(&bench, &["run"], &[]);
    let Balance { lost, doubled } = balance(&bench, finish.import, rows);
    Figures {
        held: finish.held.values().sum(),
        lost,
        doubled,
        in_doubt: ask(&bench, "SELECT count(*) FROM attempt WHERE code = 'answer.process-ended'"),
        in_doubt_by_faults: ask(
            &bench,
            "SELECT count(*) FROM attempt WHERE code LIKE 'answer.%' AND code <> 'answer.process-ended'",
        ),
        adopted: ask(&bench, "SELECT count(*) FROM job WHERE outcome = 'adopted'"),
        sent_again: ask(
            &bench,
            "SELECT count(*) FROM attempt AS again JOIN attempt AS before
                ON before.job = again.job AND before.step = again.step AND before.number = again.number - 1
             WHERE before.code LIKE 'answer.%'",
        ),
        ..figures
    }
}

/// Runs and kills after so many lines of news and a little while. Whether it was killed before it came to its end.
fn killed(bench: &Bench, lines: usize, little: u32) -> bool {
    // Its news stays open until the end: a process whose news nobody reads any more takes another way.
    let mut run = bench.start(&["run", "--json"]);
    let _told = run.news().take(lines).count();
    for _ in 0..little {
        std::hint::spin_loop();
    }
    is_killed(run.kill())
}

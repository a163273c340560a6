//! Many trials, on as many threads as the machine has, and what they come to together.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[cfg(feature = "mistakes")]
use fleetload::mistake::{self, Mistake};

use super::trial::{self, QuotaFigures, Trial};

/// What many trials came to.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) trials: u64,
    pub(crate) rows: u64,
    pub(crate) asked_otherwise: u64,
    pub(crate) left_in_doubt: u64,
    pub(crate) crashes: u64,
    /// Crashes at which a request was under way.
    pub(crate) in_the_window: u64,
    pub(crate) interrupts: u64,
    pub(crate) page_checks: u64,
    /// Lives that ended before all pages were looked at.
    pub(crate) page_checks_left: u64,
    /// Lives that began with a list and ended in order.
    pub(crate) listed_ahead: u64,
    /// The most midnights of one trial.
    pub(crate) midnights: u64,
    pub(crate) requests: u64,
    pub(crate) swallowed: u64,
    pub(crate) orphaned: u64,
    /// Trials that met three kinds of fault and a crash.
    pub(crate) kinds_of_fault: u64,
    pub(crate) faults: BTreeMap<String, u64>,
    pub(crate) states: BTreeMap<String, u64>,
    pub(crate) quota: QuotaFigures,
    /// Trials that showed what must never be, by seed.
    pub(crate) failed: Vec<(u64, Trial)>,
}

impl Sums {
    fn add(&mut self, seed: u64, trial: Trial) {
        let figures = &trial.figures;
        self.trials += 1;
        self.rows += figures.rows;
        self.asked_otherwise += figures.asked_otherwise;
        self.left_in_doubt += figures.left_in_doubt;
        self.crashes += figures.crashes;
        self.in_the_window += figures.crashes_in_the_window;
        self.interrupts += figures.interrupts;
        self.page_checks += figures.page_checks;
        self.page_checks_left += figures.page_checks_left;
        self.listed_ahead += figures.listed_ahead;
        self.midnights = self.midnights.max(figures.midnights);
        self.requests += figures.traffic.sent;
        self.swallowed += figures.traffic.swallowed;
        self.orphaned += figures.traffic.orphaned;
        self.quota.sharp_days += figures.quota.sharp_days;
        self.quota.refused += figures.quota.refused;
        self.quota.doubtful += figures.quota.doubtful;
        let kinds = figures.faults.len() as u64 + u64::from(figures.traffic.swallowed > 0);
        self.kinds_of_fault += u64::from(kinds >= 3 && figures.crashes > 0);
        for (sums, counts) in [(&mut self.faults, &figures.faults), (&mut self.states, &figures.states)] {
            for (name, count) in counts {
                *sums.entry(name.clone()).or_default() += count;
            }
        }
        if !trial.violations.is_empty() {
            self.failed.push((seed, trial));
        }
    }
}

/// Carries out the trials of some seeds. `each` is told how many are done.
pub(crate) fn of_seeds(seeds: Range<u64>, each: Option<&(dyn Fn(u64) + Sync)>) -> Sums {
    let (next, sums) = (AtomicU64::new(seeds.start), Mutex::new(Sums::default()));
    on_all_threads(|| {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                break;
            }
            let trial = trial::of_seed(seed);
            let mut sums = sums.lock().expect("no trial panics here");
            sums.add(seed, trial);
            if let Some(each) = each {
                each(sums.trials);
            }
        }
    });
    let mut sums = sums.into_inner().expect("no trial panics here");
    sums.failed.sort_by_key(|(seed, _)| *seed);
    sums
}

/// The first of these seeds whose trial notices a mistake.
#[cfg(feature = "mistakes")]
pub(crate) fn first_to_fail(seeds: &[u64], made: Mistake) -> Option<u64> {
    use std::sync::atomic::AtomicUsize;

    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    on_all_threads(|| {
        mistake::make(Some(made));
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(&seed) = seeds.get(place).filter(|_| place < found.load(Ordering::Relaxed)) else {
                break;
            };
            if !trial::of_seed(seed).violations.is_empty() {
                found.fetch_min(place, Ordering::Relaxed);
            }
        }
        mistake::make(None);
    });
    seeds.get(found.into_inner()).copied()
}

fn on_all_threads(work: impl Fn() + Sync) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(&work);
        }
    });
}

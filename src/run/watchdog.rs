//! The watchdog: a thread of its own that notices a run in which nothing moves and nothing explains why.
//!
//! The loop leaves a mark at each round and shows, once a second, how much has moved, whether it waits for something
//! that will come by itself, and what it has in hand. Two things are wrong: no round for a long time (a thread that
//! is stuck, a runtime that is starved), and rounds in which nothing moves though there is work. What happens then
//! is for whoever started the watchdog to say.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock::Clock;

/// How long a run may stand still without an explanation.
pub const PATIENCE: Duration = Duration::from_secs(600);
/// How often the watchdog checks.
pub const CHECK_EVERY: Duration = Duration::from_secs(5);
/// What one check counts at most, as a multiple of the time between two: a process that was stopped for an hour has
/// not stood still for an hour.
const COUNTED_AT_MOST: u32 = 2;

/// What a run shows of itself to whoever watches it. Clones show the same run.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    rounds: AtomicU64,
    shown: Mutex<ProgressReport>,
}

/// What the loop has shown last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ProgressReport {
    /// A number that grows with everything that moves.
    moved: u64,
    /// What the run waits for and will come by itself, when it does.
    waits_for: Option<&'static str>,
    /// What is in hand, in words and numbers; nothing of what rows hold.
    in_hand: String,
}

impl Pulse {
    /// The loop has begun another round.
    fn beat(&self) {
        self.0.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows how the run stands.
    fn show(&self, shown: ProgressReport) {
        *self.shown() = shown;
    }

    fn shown(&self) -> MutexGuard<'_, ProgressReport> {
        // It holds whole values only, so what a panic left behind is whole.
        self.0.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rounds(&self) -> u64 {
        self.0.rounds.load(Ordering::Relaxed)
    }
}

/// How often the loop shows itself.
const SHOW_EVERY: Duration = Duration::from_secs(1);
/// A request that left longer ago than this and has no answer explains nothing any more: that is twice the longest
/// time for a request that a profile may set, for the token and for itself, and room besides.
const OVERDUE: Duration = Duration::from_secs(1800);

/// What has moved in the loop, and where it is shown. Numbers and names of operations only: nothing of what rows hold, no
/// addresses, no secrets.
#[derive(Debug)]
pub(super) struct LoopProgress {
    pulse: Pulse,
    moved: u64,
    shown_at: Option<Duration>,
    sent_at: Duration,
    /// Whether pace, breaker, quota or reach have held something back in this round, for a known time.
    held_back: bool,
}

impl LoopProgress {
    pub(super) fn new(pulse: Pulse) -> Self {
        Self { pulse, moved: 0, shown_at: None, sent_at: Duration::ZERO, held_back: false }
    }

    /// The loop begins another round.
    pub(super) fn begin_round(&mut self) {
        self.held_back = false;
    }

    /// A gate holds something back, until a known time.
    pub(super) fn hold_back(&mut self) {
        self.held_back = true;
    }

    /// Something moved: an answer came, a row was written or found.
    pub(super) fn moved(&mut self) {
        self.moved += 1;
    }

    /// A request left.
    pub(super) fn sent(&mut self, now: Duration) {
        self.moved += 1;
        self.sent_at = now;
    }

    /// Whether something is held back for a known time.
    pub(super) fn is_held_back(&self) -> bool {
        self.held_back
    }

    /// Whether the last request left so long ago that it explains nothing any more.
    pub(super) fn is_overdue(&self, now: Duration) -> bool {
        now >= self.sent_at + OVERDUE
    }

    /// Leaves the mark of another round. Whether it is time to [`Self::show`] how the run stands.
    pub(super) fn beat(&self, now: Duration) -> bool {
        self.pulse.beat();
        self.shown_at.is_none_or(|at| now >= at + SHOW_EVERY)
    }

    /// Shows how the run stands: what it waits for and will come by itself, and what it has in hand.
    pub(super) fn show(&mut self, waits_for: Option<&'static str>, in_hand: String, now: Duration) {
        self.shown_at = Some(now);
        self.pulse.show(ProgressReport { moved: self.moved, waits_for, in_hand });
    }
}

/// A run that stands still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// What is wrong, in words.
    pub why: String,
    /// What the run had in hand when it showed that last.
    pub in_hand: String,
}

/// The rule: how long what has stood still.
#[derive(Debug)]
struct StandstillRule {
    patience: Duration,
    check_every: Duration,
    rounds: u64,
    moved: u64,
    /// For how long there was no round.
    stuck: Duration,
    /// For how long nothing moved without an explanation.
    idle: Duration,
}

impl StandstillRule {
    fn new(patience: Duration, check_every: Duration) -> Self {
        Self { patience, check_every, rounds: 0, moved: 0, stuck: Duration::ZERO, idle: Duration::ZERO }
    }

    /// Checks once, `passed` after the last time. Says what is wrong once patience has ended.
    fn check(&mut self, passed: Duration, rounds: u64, shown: &ProgressReport) -> Option<String> {
        let passed = passed.min(self.check_every * COUNTED_AT_MOST);
        let turned = std::mem::replace(&mut self.rounds, rounds) != rounds;
        let moved = std::mem::replace(&mut self.moved, shown.moved) != shown.moved;
        self.stuck = if turned { Duration::ZERO } else { self.stuck + passed };
        // Without a round nothing new is shown, so the old explanation says nothing.
        self.idle = if moved || (turned && shown.waits_for.is_some()) {
            Duration::ZERO
        } else if turned {
            self.idle + passed
        } else {
            self.idle
        };
        let minutes = self.patience.as_secs() / 60;
        if self.stuck >= self.patience {
            Some(format!(
                "fleetload has made no progress for {minutes} minutes: it is stuck or the machine is \
                overloaded"
            ))
        } else if self.idle >= self.patience {
            Some(format!(
                "nothing has moved for {minutes} minutes although there is work, and nothing explains it"
            ))
        } else {
            None
        }
    }
}

/// Watches a run until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    /// Dropped to end the thread, which nobody waits for.
    _running: Sender<()>,
}

impl Watchdog {
    /// Watches the run that shows itself in `pulse`, on a thread of its own, checking every `check_every`. `alarm` is
    /// called there, once, when the run has stood still for `patience`.
    ///
    /// # Errors
    ///
    /// When the thread cannot be started.
    pub fn start(
        pulse: Pulse,
        clock: Arc<dyn Clock>,
        (patience, check_every): (Duration, Duration),
        alarm: impl FnOnce(Standstill) + Send + 'static,
    ) -> io::Result<Self> {
        let (running, held) = channel::<()>();
        thread::Builder::new().name("watchdog".to_owned()).spawn(move || {
            let mut watch = StandstillRule::new(patience, check_every);
            let mut last = clock.elapsed();
            while held.recv_timeout(check_every) == Err(RecvTimeoutError::Timeout) {
                let now = clock.elapsed();
                let shown = pulse.shown().clone();
                if let Some(why) = watch.check(now.saturating_sub(last), pulse.rounds(), &shown) {
                    alarm(Standstill { why, in_hand: shown.in_hand });
                    return;
                }
                last = now;
            }
        })?;
        Ok(Self { _running: running })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    const BETWEEN: Duration = Duration::from_secs(5);

    fn watch() -> StandstillRule {
        StandstillRule::new(Duration::from_secs(60), BETWEEN)
    }

    fn shown(moved: u64, waits_for: Option<&'static str>) -> ProgressReport {
        ProgressReport { moved, waits_for, in_hand: String::new() }
    }

    /// How many checks it takes until the alarm, of at most a hundred.
    fn alarms_after(mut check: impl FnMut(u64) -> Option<String>) -> Option<u64> {
        (1..=100).find(|&n| check(n).is_some())
    }

    #[test]
    fn a_loop_that_does_not_turn_is_noticed_even_if_it_said_what_it_waits_for() {
        let mut watch = watch();
        let alarmed = alarms_after(|_| watch.check(BETWEEN, 7, &shown(3, Some("an answer"))));
        // The first check sees the marks for the first time.
        assert_eq!(alarmed, Some(13));
    }

    #[test]
    fn rounds_in_which_nothing_moves_are_noticed_and_those_that_are_explained_are_not() {
        let mut idle = watch();
        assert_eq!(alarms_after(|n| idle.check(BETWEEN, n, &shown(3, None))), Some(13));
        let mut parked = watch();
        assert_eq!(
            alarms_after(|n| parked.check(BETWEEN, n, &shown(3, Some("the quota of the next day")))),
            None
        );
        let mut slow = watch();
        assert_eq!(alarms_after(|n| slow.check(BETWEEN, n, &shown(n / 10, None))), None, "something moves");
    }

    #[test]
    fn an_explanation_begins_the_count_anew() {
        let mut watch = watch();
        let explained = |n: u64| (n == 10).then_some("an answer");
        assert_eq!(alarms_after(|n| watch.check(BETWEEN, n, &shown(3, explained(n)))), Some(22));
    }

    #[test]
    fn a_process_that_was_stopped_for_hours_has_not_stood_still() {
        let mut watch = watch();
        watch.check(BETWEEN, 1, &shown(1, None));
        assert_eq!(watch.check(Duration::from_secs(7 * 3600), 1, &shown(1, None)), None);
        assert_eq!(watch.check(BETWEEN, 2, &shown(2, None)), None);
        assert_eq!(watch.idle, Duration::ZERO);
    }

    #[test]
    fn the_thread_alarms_once_with_what_was_in_hand_and_not_at_a_run_that_moves() {
        let pulse = Pulse::default();
        pulse.show(ProgressReport { moved: 1, waits_for: None, in_hand: "3 rows".to_owned() });
        let (tell, told) = channel();
        let short = (Duration::from_millis(20), Duration::from_millis(5));
        let watchdog = Watchdog::start(pulse, SystemClock::start(), short, move |standstill| {
            tell.send(standstill).unwrap();
        });
        let standstill = told.recv().expect("an alarm");
        assert_eq!(standstill.in_hand, "3 rows");
        assert!(standstill.why.contains("stuck or the machine is overloaded"), "{}", standstill.why);
        assert!(told.recv().is_err(), "once");
        drop(watchdog);
    }
}

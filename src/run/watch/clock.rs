//! The machine's clock under watch: whether it jumped since the last round, and what follows when it did.
//!
//! A machine that was suspended and a clock that was set look alike from here. Until the service has said what time
//! it is, its clock counts as having gone on evenly; it is asked at once. Waits of rows are moments of the wall
//! clock in the journal: they are brought forward when that clock goes back. What must not be believed too early is
//! measured by `settle_timers`, which no jump hastens; pace, timeouts and pauses run on time that passed while awake.

use std::time::Duration;

use tokio::task;

use crate::clock::Clock;
use crate::model::event::Event;
use crate::model::operation::Operation;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::run::dispatcher::Dispatcher;
use crate::service::{Answer, Call};

/// A difference between the wall clock and the time that passed which is reported as a jump. Less is rounding, a slow
/// round, or a clock that is being corrected.
const JUMP_MS: i64 = 5_000;
/// Two readings of the clock further apart than this, with another between, say nothing about that one: the process
/// was stopped between them.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How long after a vain try the service is asked for its time again: a network takes some seconds to come back.
const ASK_AGAIN: Duration = Duration::from_secs(5);
/// The longest that a row may wait for its moment besides the settle time; only a wrong clock makes it longer.
const LONGEST_WAIT: Duration = Duration::from_secs(900);

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    wall: Moment,
    elapsed: Duration,
}

impl ClockReading {
    /// What the wall clock shows `elapsed` later when it goes evenly.
    fn evenly(self, elapsed: Duration) -> Moment {
        self.wall.plus(elapsed.saturating_sub(self.elapsed))
    }
}

/// The clock since the run began.
#[derive(Debug)]
pub(in crate::run) struct ClockWatch {
    begun: ClockReading,
    last: ClockReading,
    /// When the service is to be asked for its time.
    ask_at: Option<Duration>,
    /// The request that asks for it.
    asking: Option<task::Id>,
    told_undated: bool,
}

impl ClockWatch {
    pub(in crate::run) fn start(clock: &dyn Clock) -> Self {
        let begun = ClockReading { elapsed: clock.elapsed(), wall: clock.now() };
        Self { begun, last: begun, ask_at: None, asking: None, told_undated: false }
    }

    /// By how many milliseconds the wall clock has jumped since the last look; `None` when it has not.
    fn look(&mut self, clock: &dyn Clock) -> Option<i64> {
        let before = clock.elapsed();
        let wall = clock.now();
        let elapsed = clock.elapsed();
        if elapsed.saturating_sub(before) > AT_ONCE {
            return None;
        }
        let jump = wall.millis().saturating_sub(self.last.evenly(elapsed).millis());
        self.last = ClockReading { wall, elapsed };
        (jump.saturating_abs() >= JUMP_MS).then_some(jump)
    }

    /// What the wall clock would show had it gone evenly since the run began.
    pub(in crate::run) fn steady(&self, elapsed: Duration) -> Moment {
        self.begun.evenly(elapsed)
    }
}

/// The latest moment that a row may wait for.
pub(in crate::run) fn latest_due(now: Moment, settle: Duration) -> Moment {
    now.plus(settle.max(LONGEST_WAIT))
}

impl Dispatcher {
    /// Compares the clocks, before anything is decided by them.
    pub(in crate::run) fn check_clock(&mut self) {
        let Some(jump) = self.clock_watch.look(&*self.clock) else { return };
        self.tell(Event::Note { text: words(jump) });
        self.gates.on_clock_jump(jump);
        if self.gates.knows_service_time() {
            self.clock_watch.ask_at = Some(self.clock.elapsed());
        }
        if jump > 0 {
            return self.in_flight.on_due_times_changed();
        }
        // The journal's moments come first: a page that was read before may still be on its way until then.
        self.rebase_due_times(Duration::from_millis(jump.unsigned_abs()));
    }

    /// Learns the service's time from an answer.
    pub(in crate::run) fn observe_date(&mut self, date: Moment) {
        self.check_clock();
        let actions = self.gates.observe_date(date);
        self.carry_out(actions);
    }

    /// Asks the service for its time where a jump has left it uncertain. A request for a token does, and takes the
    /// token's age out of question as well. Returns when to look again: at `wake`, or sooner.
    pub(in crate::run) fn request_time(&mut self, wake: Duration) -> Duration {
        if self.clock_watch.asking.is_some() || self.is_stopping() {
            return wake;
        }
        match self.clock_watch.ask_at {
            None => return wake,
            Some(at) if at > self.clock.elapsed() => return wake.min(at),
            Some(_) => {}
        }
        self.clock_watch.ask_at = None;
        let call = Call { operation: Operation::Auth, parameters: Vec::new(), body: None };
        self.clock_watch.asking = Some(self.spawn(call));
        wake
    }

    /// A request came back that no row sent: the one that asks for the time.
    pub(in crate::run) fn on_time_response(&mut self, id: task::Id, answer: &Answer) {
        if self.clock_watch.asking != Some(id) {
            return;
        }
        self.clock_watch.asking = None;
        match (answer.date, answer.status) {
            (Some(_), _) => {}
            // It no longer says: this machine's clock is all there is.
            (None, Some(_)) => self.gates.forget_service_time(),
            // Whether that ends the run is for the next row to find out.
            (None, None) if matches!(answer.verdict, Verdict::Refused(_)) => {}
            (None, None) => self.clock_watch.ask_at = Some(self.clock.elapsed() + ASK_AGAIN),
        }
    }

    /// Tells, once, that the service does not say what time it is.
    pub(in crate::run) fn note_undated(&mut self, answer: &Answer) {
        let silent = answer.status.is_some() && answer.date.is_none() && !self.gates.knows_service_time();
        if silent && !std::mem::replace(&mut self.clock_watch.told_undated, true) {
            self.tell(Event::Note {
                text: "the service does not say what time it is (its answers carry no Date): this machine's clock \
                    decides when the day's quota resets"
                    .to_owned(),
            });
        }
    }
}

/// A jump, in words.
fn words(jump_ms: i64) -> String {
    let by = rough(Duration::from_millis(jump_ms.unsigned_abs()));
    if jump_ms > 0 {
        format!("the clock jumped ahead by {by}: the machine was suspended or its clock was set")
    } else {
        format!("the clock was set back by {by}: the times of waiting rows are calculated again")
    }
}

/// A length of time in its largest unit, to the nearest.
pub(in crate::run) fn rough(length: Duration) -> String {
    let nearest = |unit: u64| (length.as_secs() + unit / 2) / unit;
    match (length + Duration::from_millis(500)).as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", nearest(60)),
        7200..172_800 => format!("{} h", nearest(3600)),
        _ => format!("{} days", nearest(86_400)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::clock::Sleep;

    /// A clock moved by hand, each hand by itself.
    struct Hands(Mutex<(Moment, Duration)>);

    impl Hands {
        fn pass(&self, seconds: u64) {
            let mut hands = self.0.lock().unwrap();
            let passed = Duration::from_secs(seconds);
            *hands = (hands.0.plus(passed), hands.1 + passed);
        }

        fn set(&self, by_ms: i64) {
            let mut hands = self.0.lock().unwrap();
            hands.0 = Moment::from_millis(hands.0.millis() + by_ms);
        }
    }

    impl Clock for Hands {
        fn now(&self) -> Moment {
            self.0.lock().unwrap().0
        }

        fn elapsed(&self) -> Duration {
            self.0.lock().unwrap().1
        }

        fn sleep_until(&self, _elapsed: Duration) -> Sleep {
            Box::pin(std::future::pending())
        }
    }

    fn hands() -> Hands {
        Hands(Mutex::new((Moment::parse("2026-03-01T23:59:00Z").unwrap(), Duration::from_secs(7))))
    }

    #[test]
    fn a_clock_that_goes_evenly_never_jumps_however_long_a_round_takes() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        for seconds in [0, 1, 2, 59, 86_400] {
            clock.pass(seconds);
            assert_eq!(time.look(&clock), None, "{seconds}");
        }
    }

    #[test]
    fn a_night_asleep_and_a_clock_that_is_set_are_seen_once_each_in_both_directions() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        for jump in [7 * 3_600_000, -3 * 3_600_000, 5_000, -5_000] {
            clock.pass(2);
            clock.set(jump);
            assert_eq!(time.look(&clock), Some(jump));
            clock.pass(2);
            assert_eq!(time.look(&clock), None, "told once");
        }
    }

    #[test]
    fn a_clock_that_is_corrected_little_by_little_does_not_jump() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        for _ in 0..100 {
            clock.pass(1);
            clock.set(-400);
            assert_eq!(time.look(&clock), None);
        }
    }

    #[test]
    fn the_steady_clock_heeds_no_jump() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        clock.pass(10);
        clock.set(3_600_000);
        time.look(&clock);
        clock.pass(10);
        assert_eq!(time.steady(clock.elapsed()).to_string(), "2026-03-01T23:59:20Z");
    }

    #[test]
    fn a_jump_is_told_in_words_that_a_person_uses() {
        assert_eq!(
            words(7 * 3_600_000 + 5_000),
            "the clock jumped ahead by 7 h: the machine was suspended or its clock was set"
        );
        assert_eq!(
            words(-90_000),
            "the clock was set back by 90 s: the times of waiting rows are calculated again"
        );
        assert_eq!(rough(Duration::from_secs(120)), "2 min");
        assert_eq!(
            rough(Duration::from_millis(10_799_990)),
            "3 h",
            "a clock does not jump to the millisecond"
        );
        assert_eq!(rough(Duration::from_secs(400_000)), "5 days");
    }
}

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
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::service::Answer;

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
pub(super) struct ClockWatch {
    last: ClockReading,
    /// When the service is to be asked for its time.
    ask_at: Option<Duration>,
    /// The request that asks for it.
    asking: Option<task::Id>,
    /// Whether the service has answered anything in this run.
    is_answered: bool,
    noted_undated: bool,
}

impl ClockWatch {
    pub(super) fn start(clock: &dyn Clock) -> Self {
        let last = ClockReading { elapsed: clock.elapsed(), wall: clock.now() };
        Self { last, ask_at: None, asking: None, is_answered: false, noted_undated: false }
    }

    /// Whether the service has answered anything in this run, and so has said what time it is, if it ever does.
    pub(super) fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// The service has answered something, by which its time is known if it ever says it.
    pub(super) fn on_answered(&mut self) {
        if !std::mem::replace(&mut self.is_answered, true) {
            self.ask_at = None;
        }
    }

    /// By how many milliseconds the wall clock has jumped since the last look; `None` when it has not.
    pub(super) fn jump(&mut self, clock: &dyn Clock) -> Option<i64> {
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

    /// The service is to be asked for its time now: it has not said yet, or a jump has left it uncertain.
    pub(super) fn ask_now(&mut self, now: Duration) {
        self.ask_at = Some(now);
    }

    /// Whether the service is to be asked for its time now; if not, when to look again. [`Self::on_asked`] follows.
    pub(super) fn wants_asking(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        match self.ask_at {
            Some(at) if self.asking.is_none() && at <= now => {
                self.ask_at = None;
                Ok(())
            }
            at => Err(at.filter(|_| self.asking.is_none())),
        }
    }

    /// The request that asks for the time is on its way.
    pub(super) fn on_asked(&mut self, request: task::Id) {
        self.asking = Some(request);
    }

    /// A request came back that no row sent. Whether the service no longer says what time it is.
    pub(super) fn on_time_response(&mut self, request: task::Id, answer: &Answer, now: Duration) -> bool {
        if self.asking != Some(request) {
            return false;
        }
        self.asking = None;
        match (answer.date, answer.status) {
            (Some(_), _) => false,
            (None, Some(_)) => true,
            // Whether that ends the run is for the next row to find out.
            (None, None) if matches!(answer.verdict, Verdict::Refused(_)) => false,
            (None, None) => {
                self.ask_at = Some(now + ASK_AGAIN);
                false
            }
        }
    }

    /// What is said, once, of a service that answers without saying what time it is.
    pub(super) fn on_undated(&mut self) -> Option<Event> {
        (!std::mem::replace(&mut self.noted_undated, true)).then(|| Event::Note {
            text:
                "the service does not say what time it is (its answers carry no Date): this machine's clock \
                   decides when the day's quota resets"
                    .to_owned(),
        })
    }
}

/// The latest moment that a row may wait for.
pub(super) fn latest_due(now: Moment, settle: Duration) -> Moment {
    now.plus(settle.max(LONGEST_WAIT))
}

/// A jump, in words.
pub(super) fn jump_words(jump_ms: i64) -> String {
    let by = rough(Duration::from_millis(jump_ms.unsigned_abs()));
    if jump_ms > 0 {
        format!("the clock jumped ahead by {by}: the machine was suspended or its clock was set")
    } else {
        format!("the clock was set back by {by}: the times of waiting rows are calculated again")
    }
}

/// A length of time in its largest unit, to the nearest.
pub(super) fn rough(length: Duration) -> String {
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
            assert_eq!(time.jump(&clock), None, "{seconds}");
        }
    }

    #[test]
    fn a_night_asleep_and_a_clock_that_is_set_are_seen_once_each_in_both_directions() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        for jump in [7 * 3_600_000, -3 * 3_600_000, 5_000, -5_000] {
            clock.pass(2);
            clock.set(jump);
            assert_eq!(time.jump(&clock), Some(jump));
            clock.pass(2);
            assert_eq!(time.jump(&clock), None, "noted once");
        }
    }

    #[test]
    fn a_clock_that_is_corrected_little_by_little_does_not_jump() {
        let clock = hands();
        let mut time = ClockWatch::start(&clock);
        for _ in 0..100 {
            clock.pass(1);
            clock.set(-400);
            assert_eq!(time.jump(&clock), None);
        }
    }

    #[test]
    fn a_jump_is_told_in_words_that_a_person_uses() {
        assert_eq!(
            jump_words(7 * 3_600_000 + 5_000),
            "the clock jumped ahead by 7 h: the machine was suspended or its clock was set"
        );
        assert_eq!(
            jump_words(-90_000),
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

//! The breaker of one operation: after too many failures in a row its requests are held back, then let through
//! one at a time until one succeeds. Opening and closing charge no row anything.

use std::time::Duration;

/// Failures in a row that open the breaker.
const STREAK: u32 = 20;
/// How long the first pause lasts; each further one doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// What passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything.
    Closed,
    /// Nothing until then.
    Open { until: Duration },
    /// One request, which is under way when `probing`.
    HalfOpen { probing: bool },
}

/// The breaker of one operation. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone)]
pub(super) struct Breaker {
    state: State,
    streak: u32,
    pause: Duration,
}

/// Whether a change is worth telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing changed.
    Same,
    /// Requests are held back now.
    Opened,
    /// Requests pass again.
    Closed,
}

impl Breaker {
    pub(super) fn new() -> Self {
        Self { state: State::Closed, streak: 0, pause: FIRST_PAUSE }
    }

    /// Whether everything passes.
    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether a request may leave now; if not, when to ask again (`None`: after the probe has come home).
    pub(super) fn permits(&mut self, now: Duration) -> Result<(), Option<Duration>> {
        match self.state {
            State::Closed => Ok(()),
            State::Open { until } if now < until => Err(Some(until)),
            State::Open { .. } => {
                self.state = State::HalfOpen { probing: false };
                Ok(())
            }
            State::HalfOpen { probing: false } => Ok(()),
            State::HalfOpen { probing: true } => Err(None),
        }
    }

    /// A request leaves.
    pub(super) fn leaves(&mut self) {
        if let State::HalfOpen { probing } = &mut self.state {
            *probing = true;
        }
    }

    /// A request came home with an answer that shows the service at work.
    pub(super) fn succeeded(&mut self) -> Change {
        self.streak = 0;
        match self.state {
            State::Closed => Change::Same,
            State::Open { .. } | State::HalfOpen { .. } => {
                self.state = State::Closed;
                self.pause = FIRST_PAUSE;
                Change::Closed
            }
        }
    }

    /// A request failed at the service, or its answer was lost.
    pub(super) fn failed(&mut self, now: Duration) -> Change {
        self.streak = self.streak.saturating_add(1);
        match self.state {
            State::Closed if self.streak < STREAK => Change::Same,
            State::Closed => {
                self.state = State::Open { until: now + self.pause };
                Change::Opened
            }
            State::HalfOpen { .. } => {
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
                self.state = State::Open { until: now + self.pause };
                Change::Same
            }
            // Answers to requests that left before it opened.
            State::Open { .. } => Change::Same,
        }
    }

    /// A request came home without telling anything about the service (not sent, token, pace, quota).
    pub(super) fn came_home(&mut self) {
        if let State::HalfOpen { probing } = &mut self.state {
            *probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> Breaker {
        let mut breaker = Breaker::new();
        for _ in 1..STREAK {
            assert_eq!(breaker.failed(Duration::ZERO), Change::Same);
        }
        assert_eq!(breaker.failed(Duration::ZERO), Change::Opened);
        breaker
    }

    #[test]
    fn twenty_failures_in_a_row_open_it_and_a_success_among_them_does_not() {
        let mut breaker = Breaker::new();
        for _ in 0..5 {
            for _ in 1..STREAK {
                assert_eq!(breaker.failed(Duration::ZERO), Change::Same);
            }
            assert_eq!(breaker.succeeded(), Change::Same);
        }
        assert_eq!(breaker.permits(Duration::ZERO), Ok(()));
        opened();
    }

    #[test]
    fn an_open_breaker_lets_one_probe_pass_after_its_pause() {
        let mut breaker = opened();
        assert_eq!(breaker.permits(Duration::from_secs(4)), Err(Some(FIRST_PAUSE)));
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
        breaker.leaves();
        assert_eq!(breaker.permits(FIRST_PAUSE), Err(None));
        assert_eq!(breaker.succeeded(), Change::Closed);
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }

    #[test]
    fn pauses_double_up_to_five_minutes_while_probes_fail() {
        let mut breaker = opened();
        let mut now = Duration::ZERO;
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let until = breaker.permits(now).expect_err("open").expect("a time");
            pauses.push((until - now).as_secs());
            now = until;
            assert_eq!(breaker.permits(now), Ok(()));
            breaker.leaves();
            breaker.failed(now);
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300]);
    }

    #[test]
    fn a_probe_that_tells_nothing_lets_another_pass() {
        let mut breaker = opened();
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
        breaker.leaves();
        breaker.came_home();
        assert_eq!(breaker.permits(FIRST_PAUSE), Ok(()));
    }
}

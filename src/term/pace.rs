//! How many a second, over the last few seconds. The time comes in with every call; no clock lives here.

use std::collections::VecDeque;
use std::time::Duration;

/// Counts over a sliding window of whole seconds.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    window: u64,
    started: u64,
    /// Second and count, oldest first; only seconds inside the window.
    seconds: VecDeque<(u64, u64)>,
}

impl Pace {
    /// A pace over the last `window` seconds, that begins at `elapsed`.
    pub(super) fn over(window: u64, elapsed: Duration) -> Self {
        Self { window: window.max(1), started: elapsed.as_secs(), seconds: VecDeque::new() }
    }

    /// Counts one at `elapsed`.
    pub(super) fn add(&mut self, elapsed: Duration) {
        let now = elapsed.as_secs();
        match self.seconds.back_mut() {
            Some((second, count)) if *second >= now => *count += 1,
            _ => self.seconds.push_back((now, 1)),
        }
        while self.seconds.front().is_some_and(|(second, _)| second + self.window < now) {
            self.seconds.pop_front();
        }
    }

    /// How many a second, over the whole seconds of the window that are past at `elapsed`.
    pub(super) fn per_second(&self, elapsed: Duration) -> f64 {
        let now = elapsed.as_secs();
        let from = now.saturating_sub(self.window).max(self.started);
        if now <= from {
            return 0.0;
        }
        let counted: u64 = self
            .seconds
            .iter()
            .filter(|(second, _)| (from..now).contains(second))
            .map(|(_, count)| count)
            .sum();
        #[expect(clippy::cast_precision_loss, reason = "a pace is shown with one digit")]
        let pace = counted as f64 / (now - from) as f64;
        pace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_pace_is_that_of_the_last_seconds_and_falls_to_nothing() {
        let mut pace = Pace::over(5, at(10_000));
        assert_eq!(pace.per_second(at(10_000)), 0.0);
        for n in 0..300 {
            pace.add(at(10_000 + n * 10));
        }
        assert_eq!(pace.per_second(at(13_000)), 100.0);
        assert_eq!(pace.per_second(at(15_000)), 60.0);
        assert_eq!(pace.per_second(at(17_000)), 20.0);
        assert_eq!(pace.per_second(at(18_000)), 0.0);
    }
}

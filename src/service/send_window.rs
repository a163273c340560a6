//! When the last requests of an operation left, so that no sliding second at the service sees more than its limit
//! (specification 8).

use std::collections::VecDeque;
use std::time::Duration;

/// Requests of one operation that the service accepts in a sliding second.
const LIMIT: usize = 100;

/// A second, and by how much the time on the way may vary between two requests.
const WINDOW: Duration = Duration::from_millis(1_015);

/// A request that was permitted leaves within this time while the process runs: its task and its connection have their turns
/// before that.
const LEAVES_WITHIN: Duration = Duration::from_millis(5);

/// The departures of the last second. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone, Default)]
pub(super) struct SendWindow {
    last: VecDeque<Duration>,
}

impl SendWindow {
    /// Whether a request may leave at `now`; if not, when.
    pub(super) fn permit(&self, now: Duration) -> Result<(), Duration> {
        match self.turn(0) {
            Some(at) if now < at => Err(at),
            _ => Ok(()),
        }
    }

    /// When the window has room for the request that leaves after so many others; `None` when it has already.
    pub(super) fn turn(&self, after: usize) -> Option<Duration> {
        let place = (self.last.len() + after).checked_sub(LIMIT)?;
        self.last.get(place).map(|left| *left + WINDOW)
    }

    /// When the last request left.
    pub(super) fn latest(&self) -> Option<Duration> {
        self.last.back().copied()
    }

    /// The process stood still from `since` until `now`: what was to leave then, or shortly before, may have left only now.
    pub(super) fn on_stall(&mut self, since: Duration, now: Duration) {
        let since = since.saturating_sub(LEAVES_WITHIN);
        self.last.iter_mut().rev().take_while(|at| **at >= since).for_each(|at| *at = now);
    }

    /// A request leaves at `now`.
    pub(super) fn on_departure(&mut self, now: Duration) {
        if self.last.len() >= LIMIT {
            self.last.pop_front();
        }
        self.last.push_back(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_that_come_from_the_disk_in_heaps_never_leave_more_than_a_hundred_a_second() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut send_window = SendWindow::default();
        let mut left: Vec<Duration> = Vec::new();
        let mut now = Duration::ZERO;
        while left.len() < 2_000 {
            // A commit brings a heap of claims after a pause of up to a third of a second.
            now += Duration::from_millis(random.u64(0..300));
            for _ in 0..random.usize(1..40) {
                if let Err(at) = send_window.permit(now) {
                    now = now.max(at);
                }
                assert_eq!(send_window.permit(now), Ok(()));
                send_window.on_departure(now);
                left.push(now);
            }
        }
        for (index, &from) in left.iter().enumerate() {
            let within = left[index..].iter().take_while(|&&at| at < from + Duration::from_secs(1)).count();
            assert!(within <= LIMIT, "{within} in the second from {from:?}");
        }
        let pace = left.len() as f64 / (now - left[0]).as_secs_f64();
        assert!(pace > 60.0, "it holds back only what it must: {pace}");
    }

    #[test]
    fn what_left_before_a_stall_may_have_left_after_it() {
        let at = Duration::from_millis;
        let mut send_window = SendWindow::default();
        for n in 0..100 {
            send_window.on_departure(at(10 * n));
        }
        send_window.on_stall(at(985), at(1_005));
        let turns = [97, 98, 99, 100].map(|after| send_window.turn(after));
        assert_eq!(turns, [Some(at(1_985)), Some(at(2_020)), Some(at(2_020)), None]);
        assert_eq!(send_window.permit(at(1_014)), Err(at(1_015)), "the first left long before");
    }
}

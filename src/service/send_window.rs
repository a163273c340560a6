//! When the last requests of an operation left, so that no sliding second at the service sees more than its limit
//! (specification 8).

use std::collections::VecDeque;
use std::time::Duration;

/// Requests of one operation that the service accepts in a sliding second.
const LIMIT: usize = 100;

/// A second, and by how much the time on the way may vary between two requests.
const WINDOW: Duration = Duration::from_millis(1_015);

/// The departures of the last second. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone, Default)]
pub(super) struct SendWindow {
    last: VecDeque<Duration>,
}

impl SendWindow {
    /// Whether a request may leave at `now`; if not, when.
    pub(super) fn permit(&self, now: Duration) -> Result<(), Duration> {
        match self.last.front() {
            Some(&earliest) if self.last.len() >= LIMIT && now < earliest + WINDOW => Err(earliest + WINDOW),
            _ => Ok(()),
        }
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
}

//! How long before it may leave a request is claimed: as long as claims take to come to disk, so that the disk costs no pace.
//!
//! What was claimed and had not left when a run was killed is in doubt without need. So where the disk is fast, next to
//! nothing is claimed ahead; where it stands still now and then, what leaves meanwhile is on disk before.

use std::time::Duration;

/// As long as a claim usually takes.
const LEAST: Duration = Duration::from_millis(5);
/// Longer stalls of a disk cost pace.
const MOST: Duration = Duration::from_millis(500);
/// How long the slowest claim counts.
const REMEMBERED: Duration = Duration::from_secs(600);

/// See the module. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClaimLead {
    slowest: Duration,
    seen_at: Duration,
}

impl ClaimLead {
    /// A claim took so long to come to disk.
    pub(super) fn on_claimed(&mut self, took: Duration, now: Duration) {
        if took >= self.slowest || now >= self.seen_at + REMEMBERED {
            *self = Self { slowest: took, seen_at: now };
        }
    }

    /// How long before it may leave a request is claimed.
    pub(super) fn get(self) -> Duration {
        self.slowest.clamp(LEAST, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_the_slowest_claim_of_ten_minutes_took_within_bounds() {
        let mut lead = ClaimLead::default();
        assert_eq!(lead.get(), LEAST);
        for (took_ms, now_s, lead_ms) in [
            (2, 0, 5),
            (120, 10, 120),
            (3, 20, 120),
            (90, 609, 120),
            (3, 610, 5),
            (4_000, 611, 500),
            (130, 1_300, 130),
        ] {
            lead.on_claimed(Duration::from_millis(took_ms), Duration::from_secs(now_s));
            assert_eq!(lead.get(), Duration::from_millis(lead_ms), "after {now_s} s");
        }
    }
}

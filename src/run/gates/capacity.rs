//! How many requests may be under way at once: what the profile says, less while this machine runs out of sockets
//! or open files.
//!
//! A request for which there was no socket has not left; its row is unchanged. The number is halved, nothing more
//! leaves for a second, and it recovers by one every ten seconds without another.

use std::time::Duration;

/// Shortages within this time of one that counted are its echo, and nothing leaves meanwhile.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the number recovers by one.
const RECOVERY: Duration = Duration::from_secs(10);

/// What a shortage led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shortage {
    /// So many may be under way from now on.
    Lowered(usize),
    /// It was counted already.
    Echo,
    /// Not even one request gets a socket.
    Nothing,
}

/// See the module. Times are those of [`crate::clock::Clock::elapsed`].
#[derive(Debug, Clone)]
pub(super) struct Capacity {
    most: usize,
    allowed: usize,
    short_at: Option<Duration>,
    calm_since: Duration,
}

impl Capacity {
    pub(super) fn new(most: usize) -> Self {
        Self { most, allowed: most, short_at: None, calm_since: Duration::ZERO }
    }

    /// Whether another request may leave while so many are under way; if not, when to ask again (`None`: after
    /// one has come back).
    pub(super) fn permits(&mut self, under_way: usize, now: Duration) -> Result<(), Option<Duration>> {
        self.recover(now);
        match self.short_at {
            Some(at) if now < at + PAUSE => Err(Some(at + PAUSE)),
            _ if under_way >= self.allowed => Err(None),
            _ => Ok(()),
        }
    }

    /// A request found no socket while so many, itself among them, were under way.
    pub(super) fn ran_short(&mut self, under_way: usize, now: Duration) -> Shortage {
        self.recover(now);
        self.calm_since = now;
        if self.short_at.is_some_and(|at| now < at + PAUSE) {
            return Shortage::Echo;
        }
        self.short_at = Some(now);
        if self.allowed == 1 {
            return Shortage::Nothing;
        }
        self.allowed = (self.allowed.min(under_way) / 2).max(1);
        Shortage::Lowered(self.allowed)
    }

    /// How many may be under way.
    pub(super) fn allowed(&self) -> usize {
        self.allowed
    }

    fn recover(&mut self, now: Duration) {
        if self.allowed >= self.most {
            return;
        }
        let periods = now.saturating_sub(self.calm_since).as_secs() / RECOVERY.as_secs();
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.calm_since = self.calm_since.saturating_add(RECOVERY.saturating_mul(periods));
        self.allowed = self.allowed.saturating_add(periods as usize).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn without_a_shortage_it_is_what_the_profile_says() {
        let mut capacity = Capacity::new(64);
        assert_eq!(capacity.permits(63, seconds(0)), Ok(()));
        assert_eq!(capacity.permits(64, seconds(0)), Err(None));
        assert_eq!(capacity.permits(63, seconds(100_000)), Ok(()));
    }

    #[test]
    fn a_shortage_halves_it_once_a_second_and_stops_what_would_leave_meanwhile() {
        let mut capacity = Capacity::new(256);
        assert_eq!(capacity.ran_short(256, seconds(5)), Shortage::Lowered(128));
        for under_way in (30..256).rev() {
            assert_eq!(capacity.ran_short(under_way, seconds(5)), Shortage::Echo);
        }
        assert_eq!(capacity.permits(3, seconds(5)), Err(Some(seconds(6))));
        assert_eq!(capacity.permits(127, seconds(6)), Ok(()));
        assert_eq!(capacity.ran_short(128, seconds(6)), Shortage::Lowered(64));
        // Fewer were under way than would have been allowed.
        assert_eq!(capacity.ran_short(20, seconds(7)), Shortage::Lowered(10));
    }

    #[test]
    fn it_recovers_by_one_every_ten_calm_seconds_up_to_what_the_profile_says() {
        let mut capacity = Capacity::new(4);
        assert_eq!(capacity.ran_short(4, seconds(0)), Shortage::Lowered(2));
        assert_eq!(capacity.permits(2, seconds(9)), Err(None));
        assert_eq!(capacity.permits(2, seconds(10)), Ok(()));
        assert_eq!(capacity.permits(3, seconds(19)), Err(None));
        assert_eq!(capacity.permits(3, seconds(20)), Ok(()));
        assert_eq!(capacity.permits(4, seconds(100_000)), Err(None));
    }

    #[test]
    fn when_not_even_one_request_gets_a_socket_that_is_said() {
        let mut capacity = Capacity::new(3);
        assert_eq!(capacity.ran_short(3, seconds(0)), Shortage::Lowered(1));
        assert_eq!(capacity.ran_short(1, seconds(1)), Shortage::Nothing);
        assert_eq!(capacity.ran_short(1, seconds(1)), Shortage::Echo);
        assert_eq!(capacity.permits(0, seconds(2)), Ok(()), "it is tried again");
    }
}

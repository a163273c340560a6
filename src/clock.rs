//! The only way to the time of day and to waiting. Everything that paces, expires or stamps takes a [`Clock`].
//!
//! Wall time and monotonic time come from one source, so that a test moves both together. Arithmetic on
//! moments is in [`crate::model::time`].

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::model::time::Moment;

/// A future that ends when the clock has reached an instant.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A source of time. `Arc<dyn Clock>` is handed to everything that needs one.
pub trait Clock: Send + Sync {
    /// The wall clock, in UTC. May jump in either direction.
    fn now(&self) -> Moment;

    /// Time since the clock was made. Never goes back; stands still while the machine is suspended.
    fn elapsed(&self) -> Duration;

    /// Ends once [`Clock::elapsed`] has reached `elapsed`.
    fn sleep_until(&self, elapsed: Duration) -> Sleep;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// A clock whose [`Clock::elapsed`] starts now.
    pub fn start() -> Arc<dyn Clock> {
        Arc::new(Self { started: Instant::now() })
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        // A machine whose clock stands before 1970 counts as 1970: no date before it makes sense here.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Moment::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        Box::pin(tokio::time::sleep_until(tokio::time::Instant::from_std(self.started + elapsed)))
    }
}

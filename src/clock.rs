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
        #[cfg(feature = "failpoints")]
        if let Some(clock) = VirtualClock::of_environment() {
            return Arc::new(clock);
        }
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

/// A clock for the proofs that shows another time than the machine's and goes faster.
///
/// `FLEETLOAD_CLOCK=MACHINE,SHOWN,SPEED`: when the machine's clock shows the first, it shows the second (both in milliseconds
/// since 1970), and from there on it goes so many times as fast. So several processes, one after another, have the same time.
#[cfg(feature = "failpoints")]
#[derive(Debug, Clone, Copy)]
struct VirtualClock {
    started: Instant,
    shown: Moment,
    speed: u32,
}

#[cfg(feature = "failpoints")]
impl VirtualClock {
    fn of_environment() -> Option<Self> {
        let text = std::env::var("FLEETLOAD_CLOCK").ok()?;
        let now = SystemClock { started: Instant::now() }.now();
        // A proof that goes by the wrong time proves nothing.
        Some(Self::parse(&text, now).expect("FLEETLOAD_CLOCK=MACHINE,SHOWN,SPEED"))
    }

    fn parse(text: &str, now: Moment) -> Option<Self> {
        let (machine, rest) = text.split_once(',')?;
        let (shown, speed) = rest.split_once(',')?;
        let (machine, shown): (i64, i64) = (machine.parse().ok()?, shown.parse().ok()?);
        let speed: u32 = speed.parse().ok().filter(|speed| *speed > 0)?;
        let shown = Moment::from_millis(shown + (now.millis() - machine) * i64::from(speed));
        Some(Self { started: Instant::now(), shown, speed })
    }
}

#[cfg(feature = "failpoints")]
impl Clock for VirtualClock {
    fn now(&self) -> Moment {
        self.shown.plus(self.elapsed())
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed() * self.speed
    }

    fn sleep_until(&self, elapsed: Duration) -> Sleep {
        let at = self.started + elapsed / self.speed;
        Box::pin(tokio::time::sleep_until(tokio::time::Instant::from_std(at)))
    }
}

#[cfg(all(test, feature = "failpoints"))]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_shows_what_it_was_told_and_goes_so_many_times_as_fast() {
        let clock = VirtualClock::parse("1000,500000,60", Moment::from_millis(1_500)).unwrap();
        assert_eq!(clock.shown, Moment::from_millis(530_000));
        let (before, machine) = (clock.elapsed(), clock.started.elapsed());
        assert!(before <= machine * 60 && clock.now() >= clock.shown);
        for wrong in ["", "1", "1,2", "1,2,0", "1,2,x"] {
            assert!(VirtualClock::parse(wrong, Moment::from_millis(0)).is_none(), "{wrong}");
        }
    }
}

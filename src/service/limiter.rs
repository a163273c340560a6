//! The pace of one operation: evenly spaced, slower after a refusal, and never a burst (specification 8).
//!
//! The arithmetic is governor's, on our clock. A request costs [`COST`] cells of a finer quota, so that a timer that
//! fires a little late loses no pace, while a stall saves up nothing. Who waits for whom is left to the run.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as PacingClock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use crate::clock::Clock;

/// Cells a request costs.
const COST: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

/// Cells that can be saved up: one request and four tenths of the time to the next. In one second at most
/// (14 + 10 x rate) / 10 requests are let go: 99 at 98 a second.
const SAVED: NonZeroU32 = NonZeroU32::new(14).expect("fourteen is not zero");

/// What a refusal leaves of the pace.
const SLOWING: f64 = 0.7;

/// The slowest pace refusals lead to, in requests a second.
const SLOWEST: f64 = 1.0;

/// Refusals within this time of one that counted are its echo.
const ONE_REFUSAL: Duration = Duration::from_secs(1);

/// How often the pace recovers.
const RECOVERY: Duration = Duration::from_secs(10);

/// By how much, in requests a second.
const RECOVERED: f64 = 2.0;

/// The pace asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rate {
    /// So many requests a second, at least one in a thousand seconds.
    PerSecond(f64),
    /// As fast as it goes; refusals do not slow it.
    Unlimited,
}

/// Lets the requests of one operation go at their pace.
pub struct Limiter {
    clock: Arc<dyn Clock>,
    pace: Option<Pace>,
}

/// A pace that changes.
struct Pace {
    configured: f64,
    current: f64,
    cells: Cells,
    /// Governor forgets when a pace is exchanged for another; this does not.
    not_before: Duration,
    last_permit: Option<Duration>,
    /// When the refusal that last counted came.
    refused: Option<Duration>,
    /// From when on the time without refusals counts.
    calm_since: Duration,
}

type Cells = RateLimiter<NotKeyed, InMemoryState, Elapsed, NoOpMiddleware<Duration>>;

/// Our clock as governor reads it.
#[derive(Clone)]
struct Elapsed(Arc<dyn Clock>);

impl PacingClock for Elapsed {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Limiter {
    /// A limiter that has let nothing go yet: the first request may leave at once.
    pub fn new(rate: Rate, clock: Arc<dyn Clock>) -> Self {
        let pace = match rate {
            Rate::Unlimited => None,
            Rate::PerSecond(rate) => {
                let rate = rate.max(0.001);
                Some(Pace {
                    configured: rate,
                    current: rate,
                    cells: cells(rate, &clock),
                    not_before: Duration::ZERO,
                    last_permit: None,
                    refused: None,
                    calm_since: clock.elapsed(),
                })
            }
        };
        Self { clock, pace }
    }

    /// Lets one request go now, or says when to ask again, as an instant of [`Clock::elapsed`].
    pub fn permit(&mut self) -> Result<(), Duration> {
        let Some(pace) = &mut self.pace else { return Ok(()) };
        let now = self.clock.elapsed();
        pace.recover(now, &self.clock);
        if now < pace.not_before {
            return Err(pace.not_before);
        }
        match pace.cells.check_n(COST) {
            Ok(Ok(())) => {
                pace.last_permit = Some(now);
                Ok(())
            }
            Ok(Err(until)) => Err(until.earliest_possible()),
            Err(_) => unreachable!("a request costs less than can be saved up"),
        }
    }

    /// Notes that the service refused a request for its pace (`rateLimitExceeded`) and returns the new pace, in
    /// requests a second. Refusals within a second of one that counted change nothing.
    pub fn refused(&mut self) -> f64 {
        let Some(pace) = &mut self.pace else { return f64::INFINITY };
        let now = self.clock.elapsed();
        pace.recover(now, &self.clock);
        pace.calm_since = now;
        if pace.refused.is_none_or(|refused| now.saturating_sub(refused) >= ONE_REFUSAL) {
            pace.refused = Some(now);
            let slower = (pace.current * SLOWING).max(SLOWEST.min(pace.configured));
            pace.change(slower, &self.clock);
        }
        pace.current
    }

    /// The pace at this moment, in requests a second; infinite when there is none.
    pub fn rate(&self) -> f64 {
        self.pace.as_ref().map_or(f64::INFINITY, |pace| pace.recovered(self.clock.elapsed()))
    }
}

impl Pace {
    /// Whole periods without refusals.
    fn calm_periods(&self, now: Duration) -> u32 {
        let periods = now.saturating_sub(self.calm_since).as_secs() / RECOVERY.as_secs();
        u32::try_from(periods).unwrap_or(u32::MAX)
    }

    /// The pace after the time without refusals that has passed.
    fn recovered(&self, now: Duration) -> f64 {
        (self.current + RECOVERED * f64::from(self.calm_periods(now))).min(self.configured)
    }

    /// Takes that pace. Counts whole periods only, so that asking often does not delay the next.
    fn recover(&mut self, now: Duration, clock: &Arc<dyn Clock>) {
        let recovered = self.recovered(now);
        let periods = self.calm_periods(now);
        self.calm_since = self.calm_since.saturating_add(RECOVERY.saturating_mul(periods));
        if recovered > self.current {
            self.change(recovered, clock);
        }
    }

    fn change(&mut self, rate: f64, clock: &Arc<dyn Clock>) {
        self.current = rate;
        self.cells = cells(rate, clock);
        if let Some(last) = self.last_permit {
            self.not_before = last.saturating_add(Duration::from_secs_f64(1.0 / rate));
        }
    }
}

fn cells(rate: f64, clock: &Arc<dyn Clock>) -> Cells {
    let cell = Duration::from_secs_f64(1.0 / (rate * f64::from(COST.get()))).max(Duration::from_nanos(1));
    let quota = Quota::with_period(cell).expect("a cell takes at least a nanosecond").allow_burst(SAVED);
    RateLimiter::direct_with_clock(quota, Elapsed(Arc::clone(clock)))
}

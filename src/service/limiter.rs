//! The rate limiter of one operation: requests are evenly spaced, and slower after a refusal (specification 8).
//!
//! The arithmetic is governor's, on our clock. A request costs ten cells of a finer quota, so that what a late timer or a
//! busy moment costs is made up for within the next requests, while a stall saves up next to nothing. Who waits for whom
//! is left to the run.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as PacingClock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use super::send_window::SendWindow;
use crate::clock::Clock;

/// Cells a request costs.
const COST: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

/// The time for which cells are saved up beside the one request: a run that is busy for so long loses no pace, and in
/// one second at most a twentieth more than the pace is let go. What leaves within a second at the service's own limit
/// is counted apart.
const SAVED: Duration = Duration::from_millis(50);

/// What a refusal leaves of the pace. A lone one comes from requests that were on the way for different times.
const SLOWING: f64 = 0.97;

/// What the refusals of one second leave of it. Many come from someone else who uses up the same limit.
const SLOWING_IN_A_SECOND: f64 = 0.7;

/// The slowest pace refusals lead to, in requests a second.
const SLOWEST: f64 = 1.0;

/// Refusals within this time of the first lead to one pace at the least.
const REFUSALS_TOGETHER: Duration = Duration::from_secs(1);

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
    pace: Option<AdaptivePace>,
}

/// A pace that changes.
struct AdaptivePace {
    configured: f64,
    current: f64,
    cells: Cells,
    /// Governor forgets when a pace is exchanged for another; this does not.
    not_before: Duration,
    departed: SendWindow,
    /// When the first of the last refusals came, and the slowest pace that those of its second lead to.
    refused: Option<(Duration, f64)>,
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
                Some(AdaptivePace {
                    configured: rate,
                    current: rate,
                    cells: cells(rate, &clock),
                    not_before: Duration::ZERO,
                    departed: SendWindow::default(),
                    refused: None,
                    calm_since: clock.elapsed(),
                })
            }
        };
        Self { clock, pace }
    }

    /// Permits one request, which leaves now, or says when to ask again, as an instant of [`Clock::elapsed`].
    pub fn permit(&mut self) -> Result<(), Duration> {
        let Some(pace) = &mut self.pace else { return Ok(()) };
        let now = self.clock.elapsed();
        pace.recover(now, &self.clock);
        if now < pace.not_before {
            return Err(pace.not_before);
        }
        pace.departed.permit(now)?;
        match pace.cells.check_n(COST) {
            Ok(Ok(())) => {
                pace.departed.on_departure(now);
                Ok(())
            }
            Ok(Err(until)) => Err(until.earliest_possible()),
            Err(_) => unreachable!("a request costs less than can be saved up"),
        }
    }

    /// Whether a request may be claimed now that leaves after so many others, which are `claimed` and have not left; if not,
    /// when: a `lead` before its turn. Takes no permission.
    pub fn may_claim(&self, claimed: usize, lead: Duration) -> Result<(), Duration> {
        let Some(pace) = &self.pace else { return Ok(()) };
        let now = self.clock.elapsed();
        let turn = pace.turn(claimed, now);
        if turn <= now + lead { Ok(()) } else { Err(turn - lead) }
    }

    /// This process stood still until now. What was to leave `since` then may have left only now.
    pub fn on_stall(&mut self, since: Duration) {
        if let Some(pace) = &mut self.pace {
            pace.departed.on_stall(since, self.clock.elapsed());
        }
    }

    /// Notes that the service refused a request for its pace (`rateLimitExceeded`) and returns the new pace, in
    /// requests a second: a little slower for each refusal, and for all of one second together no slower than 0.7 of
    /// what it was.
    pub fn refused(&mut self) -> f64 {
        let Some(pace) = &mut self.pace else { return f64::INFINITY };
        let now = self.clock.elapsed();
        pace.recover(now, &self.clock);
        pace.calm_since = now;
        let slowest = match pace.refused {
            Some((first, slowest)) if now.saturating_sub(first) < REFUSALS_TOGETHER => slowest,
            _ => {
                let slowest = (pace.current * SLOWING_IN_A_SECOND).max(SLOWEST.min(pace.configured));
                pace.refused = Some((now, slowest));
                slowest
            }
        };
        let slower = (pace.current * SLOWING).max(slowest);
        if slower < pace.current {
            pace.change(slower, &self.clock);
        }
        pace.current
    }

    /// The pace at this moment, in requests a second; infinite when there is none.
    pub fn rate(&self) -> f64 {
        self.pace.as_ref().map_or(f64::INFINITY, |pace| pace.recovered(self.clock.elapsed()))
    }
}

impl AdaptivePace {
    /// Whole periods without refusals.
    fn calm_periods(&self, now: Duration) -> u32 {
        let periods = now.saturating_sub(self.calm_since).as_secs() / RECOVERY.as_secs();
        u32::try_from(periods).unwrap_or(u32::MAX)
    }

    /// The pace after the time without refusals that has passed.
    fn recovered(&self, now: Duration) -> f64 {
        (self.current + RECOVERED * f64::from(self.calm_periods(now))).min(self.configured)
    }

    /// When the request may leave, about, that leaves after so many others.
    fn turn(&self, after: usize, now: Duration) -> Duration {
        let even = even(self.recovered(now));
        let saved = now.saturating_sub(SAVED);
        let next = self.departed.latest().map_or(now, |latest| (latest + even).max(saved));
        let evenly = next + even.saturating_mul(u32::try_from(after).unwrap_or(u32::MAX));
        evenly.max(self.departed.turn(after).unwrap_or_default())
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
        if let Some(last) = self.departed.latest() {
            self.not_before = last.saturating_add(even(rate));
        }
    }
}

/// The time between two requests that are evenly spaced.
fn even(rate: f64) -> Duration {
    Duration::from_secs_f64(1.0 / rate)
}

fn cells(rate: f64, clock: &Arc<dyn Clock>) -> Cells {
    let cell = Duration::from_secs_f64(1.0 / (rate * f64::from(COST.get()))).max(Duration::from_nanos(1));
    let saved = u32::try_from(SAVED.as_nanos() / cell.as_nanos()).unwrap_or(u32::MAX);
    let burst = COST.saturating_add(saved);
    let quota = Quota::with_period(cell).expect("a cell takes at least a nanosecond").allow_burst(burst);
    let cells = RateLimiter::direct_with_clock(quota, Elapsed(Arc::clone(clock)));
    // A new pace has nothing saved up.
    if let Some(saved) = NonZeroU32::new(saved) {
        let _ = cells.check_n(saved);
    }
    cells
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::service::tests::FakeClock;

    fn limiter(rate: f64) -> (Arc<FakeClock>, Limiter) {
        let clock = FakeClock::start();
        let shared: Arc<dyn Clock> = clock.clone();
        (clock, Limiter::new(Rate::PerSecond(rate), shared))
    }

    /// Sends whenever it may until `end`, waking up to `late` after the instant it was told.
    fn greedy(
        clock: &FakeClock,
        limiter: &mut Limiter,
        end: Duration,
        mut late: impl FnMut() -> Duration,
    ) -> Vec<Duration> {
        let mut sent = Vec::new();
        while clock.elapsed() < end {
            match limiter.permit() {
                Ok(()) => sent.push(clock.elapsed()),
                Err(until) => {
                    assert!(until > clock.elapsed(), "an instant to ask again lies ahead");
                    clock.set(until + late());
                }
            }
        }
        sent
    }

    /// The most requests in any second, both ends included.
    fn worst_second(sent: &[Duration]) -> usize {
        let mut first = 0;
        (0..sent.len())
            .map(|last| {
                while sent[last] - sent[first] > Duration::from_secs(1) {
                    first += 1;
                }
                last - first + 1
            })
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn no_second_sees_more_than_a_hundred_however_late_the_timers_are() {
        for seed in 0..8 {
            for late_us in [0, 500, 1_000, 2_000, 3_000, 10_000, 50_000] {
                let (clock, mut limiter) = limiter(98.5);
                let mut random = fastrand::Rng::with_seed(seed);
                let mut late = || Duration::from_micros(random.u64(0..=late_us));
                let mut sent = greedy(&clock, &mut limiter, Duration::from_secs(20), &mut late);
                // A stall saves nothing up.
                clock.advance(Duration::from_secs(10));
                sent.extend(greedy(&clock, &mut limiter, Duration::from_secs(50), &mut late));
                let worst = worst_second(&sent);
                assert!(
                    worst <= 100,
                    "{worst} in one second, timers late by up to {late_us} us, seed {seed}"
                );
            }
        }
    }

    #[test]
    fn the_worst_second_is_seen_by_its_measure() {
        let burst: Vec<_> = (0..101).map(|n| Duration::from_millis(n * 10)).collect();
        assert_eq!(worst_second(&burst), 101);
    }

    #[test]
    fn late_timers_cost_no_pace() {
        for (late_us, at_least) in [(0, 98.4), (1_000, 98.3), (3_000, 98.3), (10_000, 98.0), (50_000, 95.0)] {
            for seed in 0..4 {
                let (clock, mut limiter) = limiter(98.5);
                let mut random = fastrand::Rng::with_seed(seed);
                let late = || Duration::from_micros(random.u64(0..=late_us));
                let sent = greedy(&clock, &mut limiter, Duration::from_secs(60), late);
                #[expect(clippy::cast_precision_loss, reason = "some thousands")]
                let pace = sent.len() as f64 / 60.0;
                assert!(
                    pace >= at_least && pace < 98.6,
                    "{pace} a second, timers late by up to {late_us} us"
                );
            }
        }
    }

    /// Claims whenever it may and sends what is claimed, on a disk whose claims take so long each, until `end`.
    fn claiming(
        (clock, limiter): (&FakeClock, &mut Limiter),
        lead: Duration,
        end: Duration,
        mut disk: impl FnMut(Duration) -> Duration,
    ) -> (Vec<Duration>, usize) {
        let (mut sent, mut claims) = (Vec::new(), VecDeque::new());
        let (mut written, mut most_ahead) = (Duration::ZERO, 0);
        while clock.elapsed() < end {
            let now = clock.elapsed();
            let mut wake = match limiter.may_claim(claims.len(), lead) {
                Ok(()) => {
                    written = now.max(written) + disk(now);
                    claims.push_back(written);
                    most_ahead = most_ahead.max(claims.len());
                    now
                }
                Err(at) => at,
            };
            match claims.front() {
                Some(&on_disk) if on_disk <= now => match limiter.permit() {
                    Ok(()) => {
                        claims.pop_front();
                        sent.push(now);
                        wake = now;
                    }
                    Err(at) => wake = wake.min(at),
                },
                Some(&on_disk) => wake = wake.min(on_disk),
                None => {}
            }
            assert!(wake >= now, "an instant to ask again is not over");
            clock.set(wake);
        }
        (sent, most_ahead)
    }

    #[test]
    fn claims_cost_no_pace_while_the_disk_is_as_fast_as_usual() {
        for (claim_ms, lead_ms) in [(0, 5), (3, 5), (5, 5), (8, 8)] {
            let (clock, mut limiter) = limiter(98.5);
            let (lead, disk) = (Duration::from_millis(lead_ms), Duration::from_millis(claim_ms));
            let end = Duration::from_secs(60);
            let (sent, ahead) = claiming((&clock, &mut limiter), lead, end, |_| disk);
            #[expect(clippy::cast_precision_loss, reason = "some thousands")]
            let pace = sent.len() as f64 / 60.0;
            assert!((98.4..98.6).contains(&pace), "{pace} a second, claims take {claim_ms} ms");
            assert!(worst_second(&sent) <= 100, "claims take {claim_ms} ms");
            assert!(ahead <= 2, "{ahead} ahead, claims take {claim_ms} ms");
        }
    }

    #[test]
    fn with_a_lead_a_disk_that_stands_still_now_and_then_costs_its_longest_stall_once() {
        for (lead_ms, at_least, most_lost_ms) in [(5, 4_000, 10_000), (300, 0, 350)] {
            let (clock, mut limiter) = limiter(98.5);
            let mut random = fastrand::Rng::with_seed(5);
            let mut next = Duration::from_secs(3);
            let disk = |now: Duration| {
                if now < next {
                    return Duration::from_millis(2);
                }
                next = now + Duration::from_millis(random.u64(300..3_000));
                Duration::from_millis(random.u64(50..300))
            };
            let (lead, end) = (Duration::from_millis(lead_ms), Duration::from_secs(60));
            let (sent, ahead) = claiming((&clock, &mut limiter), lead, end, disk);
            assert!(worst_second(&sent) <= 100);
            #[expect(clippy::cast_precision_loss, reason = "some thousands")]
            let lost = end.saturating_sub(Duration::from_secs_f64(sent.len() as f64 / 98.5));
            let range = Duration::from_millis(at_least)..=Duration::from_millis(most_lost_ms);
            assert!(range.contains(&lost), "{lost:?} lost with a lead of {lead_ms} ms");
            assert!(ahead <= 36, "{ahead} ahead with a lead of {lead_ms} ms");
        }
    }

    #[test]
    fn the_start_lets_one_request_go_and_the_end_of_a_stall_what_fifty_milliseconds_save_up() {
        let (clock, mut limiter) = limiter(98.5);
        for at_once in [1, 5, 5] {
            for _ in 0..at_once {
                assert_eq!(limiter.permit(), Ok(()));
            }
            let again = limiter.permit().unwrap_err() - clock.elapsed();
            assert!(again >= Duration::from_micros(500), "the next one {again:?} later");
            clock.advance(Duration::from_secs(3600));
        }
    }

    #[test]
    fn a_refusal_slows_down_and_calm_speeds_up_again() {
        let (clock, mut limiter) = limiter(98.5);
        let about = |left: f64, right: f64| (left - right).abs() < 1e-6;
        assert!(about(limiter.refused(), 95.545));
        clock.advance(Duration::from_millis(999));
        assert!(about(limiter.refused(), 92.678_65), "another one in its second");
        for (after_ms, rate) in [(9_999, 92.678_65), (1, 94.678_65), (10_000, 96.678_65), (9_999, 96.678_65)]
        {
            clock.advance(Duration::from_millis(after_ms));
            // Asking often must not delay the recovery.
            let _ = limiter.permit();
            assert!(about(limiter.rate(), rate), "{} instead of {rate}", limiter.rate());
        }
        // Any refusal begins the calm again.
        limiter.refused();
        clock.advance(Duration::from_millis(9_999));
        assert!(limiter.rate() < 94.0);
        clock.advance(Duration::from_secs(3600));
        assert!(about(limiter.rate(), 98.5), "never above what was configured");
    }

    #[test]
    fn all_refusals_of_a_second_leave_seven_tenths_and_those_of_many_seconds_one_request_a_second() {
        let (clock, mut limiter) = limiter(98.5);
        let about = |left: f64, right: f64| (left - right).abs() < 1e-6;
        for (after_ms, refusals, rate) in [(0, 50, 68.95), (999, 50, 68.95), (1, 50, 48.265)] {
            clock.advance(Duration::from_millis(after_ms));
            for _ in 0..refusals {
                limiter.refused();
            }
            assert!(about(limiter.rate(), rate), "{} instead of {rate}", limiter.rate());
        }
        for _ in 0..50 {
            clock.advance(Duration::from_secs(1));
            for _ in 0..50 {
                limiter.refused();
            }
        }
        assert!(about(limiter.rate(), 1.0), "never below one a second");
    }

    #[test]
    fn the_pace_is_the_one_it_says_also_after_it_changed() {
        let (clock, mut limiter) = limiter(98.5);
        let before = greedy(&clock, &mut limiter, Duration::from_secs(2), || Duration::ZERO);
        for _ in 0..20 {
            limiter.refused();
        }
        let from = clock.elapsed();
        let sent = greedy(&clock, &mut limiter, from + Duration::from_secs(9), || Duration::ZERO);
        assert!((619..=622).contains(&sent.len()), "{} in 9 s at 68.95 a second", sent.len());
        let gap = sent[0] - before[before.len() - 1];
        assert!(gap >= Duration::from_micros(14_503), "a change lets nothing go early: {gap:?}");
    }

    #[test]
    fn recovery_keeps_every_second_within_the_limit() {
        for seed in 0..8 {
            let (clock, mut limiter) = limiter(98.5);
            let mut random = fastrand::Rng::with_seed(seed);
            let mut sent = Vec::new();
            while clock.elapsed() < Duration::from_secs(200) {
                let until = clock.elapsed() + Duration::from_millis(random.u64(1..30_000));
                sent.extend(greedy(&clock, &mut limiter, until, || {
                    Duration::from_micros(random.u64(0..3_000))
                }));
                if random.bool() {
                    limiter.refused();
                }
            }
            assert!(worst_second(&sent) <= 100, "seed {seed}");
        }
    }

    #[test]
    fn slow_paces_are_kept_and_refusals_do_not_speed_them_up() {
        let (clock, mut limiter) = limiter(0.5);
        assert!((limiter.refused() - 0.5).abs() < 1e-9);
        let sent = greedy(&clock, &mut limiter, Duration::from_secs(100), || Duration::ZERO);
        assert!((50..=51).contains(&sent.len()), "{}", sent.len());
    }

    #[test]
    fn without_a_limit_everything_goes() {
        let clock: Arc<dyn Clock> = FakeClock::start();
        let mut limiter = Limiter::new(Rate::Unlimited, clock);
        assert!((0..10_000).all(|_| limiter.permit().is_ok()));
        assert!(limiter.refused().is_infinite() && limiter.rate().is_infinite());
    }
}

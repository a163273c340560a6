//! The daily quota of creations: how many are left, when creations are held back, and when they go on.
//!
//! The service is the authority: its refusal parks creations whatever we counted, and its `Date` header is the
//! clock that decides midnight. After midnight one creation goes ahead; while it is refused, the next tries come
//! minutes later, not a day later. The ledger itself is in the journal.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::journal::Write;
use crate::model::time::{Day, Moment};

/// How long after midnight the first creation goes ahead: clocks differ by seconds.
const AFTER_MIDNIGHT: Duration = Duration::from_secs(3);
/// Waits between tries that are still refused after midnight, in minutes; the last one repeats.
const STILL_REFUSED: [u64; 5] = [1, 2, 4, 8, 15];
/// A difference between our clock and the service's that is worth telling.
const NOTABLE_SKEW_MS: i64 = 60_000;

/// The service's clock, as far as its answers tell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServiceClock {
    skew_ms: i64,
    heard: bool,
    told: bool,
}

/// What an answer's `Date` taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// Whether it was the first.
    pub(super) first: bool,
    /// The difference in seconds, when it has become worth telling.
    pub(super) notable: Option<i64>,
}

impl ServiceClock {
    /// An answer of `date` arrived at `now`.
    pub(super) fn hear(&mut self, date: Moment, now: Moment) -> Heard {
        // The header counts whole seconds; on average half of one has passed. A difference below a
        // second and a half is within that and the time on the way, and so no difference at all.
        let difference = date.millis().saturating_add(500).saturating_sub(now.millis());
        self.skew_ms = if difference.saturating_abs() < 1_500 { 0 } else { difference };
        let notable = self.skew_ms.saturating_abs() >= NOTABLE_SKEW_MS;
        let told = std::mem::replace(&mut self.told, notable);
        Heard {
            first: !std::mem::replace(&mut self.heard, true),
            notable: (notable && !told).then_some(self.skew_ms / 1000),
        }
    }

    /// Our clock has jumped by so many milliseconds: the service's goes on as it did, until it is heard again.
    /// While it has never been heard, ours is all there is.
    pub(super) fn leapt(&mut self, jump_ms: i64) {
        if self.heard {
            self.skew_ms = self.skew_ms.saturating_sub(jump_ms);
        }
    }

    /// Whether the service has ever said what time it is.
    pub(super) fn is_heard(&self) -> bool {
        self.heard
    }

    /// The service's time when ours is `now`.
    pub(super) fn at(&self, now: Moment) -> Moment {
        Moment::from_millis(now.millis().saturating_add(self.skew_ms))
    }

    /// Our time when the service's is `there`.
    pub(super) fn ours(&self, there: Moment) -> Moment {
        Moment::from_millis(there.millis().saturating_sub(self.skew_ms))
    }
}

/// Changes of the ledger in the journal that gather in one round of the dispatcher.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted(BTreeMap<Day, [i64; 3]>);

impl Counted {
    /// Adds to what was sent, confirmed and doubtful on `day`.
    pub(super) fn add(&mut self, day: Day, sent: i64, confirmed: i64, doubtful: i64) {
        let sums = self.0.entry(day).or_default();
        for (sum, change) in sums.iter_mut().zip([sent, confirmed, doubtful]) {
            *sum += change;
        }
    }

    /// What has gathered, as writes; nothing is left.
    pub(super) fn take(&mut self) -> Vec<Write> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|(day, [sent, confirmed, doubtful])| Write::Quota { day, sent, confirmed, doubtful })
            .collect()
    }
}

/// Whether creations pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    /// Freely.
    Open,
    /// Not until then, by the service's clock.
    Parked { until: Moment, refusals: usize },
    /// One creation finds out; it is under way when `probing`.
    Canary { probing: bool, refusals: usize },
}

/// What a refusal led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parking {
    /// Creations were parked already.
    Already,
    /// Creations are parked from now on, until this moment of the service's clock.
    Until(Moment),
}

/// The quota of one account. Every moment is one of the service's clock.
#[derive(Debug, Clone)]
pub(super) struct Quota {
    /// The most creations a day, as the profile sets it: kept without asking the service.
    set: Option<u64>,
    /// What a refusal has taught. Good for forecasts; it stops nothing by itself, since another tool may have
    /// used part of that day's quota, unless some of it is to be left for others.
    learned: Option<u64>,
    reserve: u64,
    day: Day,
    used: u64,
    gate: Gate,
    /// The day on which the service refused last.
    refused_on: Option<Day>,
}

impl Quota {
    /// A quota of which `used` creations were counted on `day`; `set` comes from the profile, `learned` from
    /// an earlier refusal, `reserve` is what to leave for others.
    pub(super) fn new(day: Day, used: u64, set: Option<u64>, learned: Option<u64>, reserve: u64) -> Self {
        Self { set, learned, reserve, day, used, gate: Gate::Open, refused_on: None }
    }

    /// An earlier run was refused today: one creation goes ahead of the others.
    pub(super) fn begin_cautiously(&mut self) {
        self.refused_on = Some(self.day);
        self.gate = Gate::Canary { probing: false, refusals: 0 };
    }

    /// How many creations we allow ourselves in a day.
    fn allowance(&self) -> Option<u64> {
        let ceiling = if self.reserve > 0 { self.set.or(self.learned) } else { self.set };
        ceiling.map(|ceiling| ceiling.saturating_sub(self.reserve))
    }

    /// Whether a creation may leave at `now`; if not, when to ask again (`None`: after the canary is home).
    pub(super) fn permits(&mut self, now: Moment) -> Result<(), Option<Moment>> {
        self.turn(now);
        match self.gate {
            Gate::Open => match self.allowance() {
                Some(allowance) if self.used >= allowance => {
                    let until = self.day.next().start().plus(AFTER_MIDNIGHT);
                    self.gate = Gate::Parked { until, refusals: 0 };
                    Err(Some(until))
                }
                _ => Ok(()),
            },
            Gate::Parked { until, .. } if now < until => Err(Some(until)),
            Gate::Parked { refusals, .. } => {
                self.gate = Gate::Canary { probing: false, refusals };
                Ok(())
            }
            Gate::Canary { probing: false, .. } => Ok(()),
            Gate::Canary { probing: true, .. } => Err(None),
        }
    }

    /// A creation leaves at `now`; says on which day it counts.
    pub(super) fn leaves(&mut self, now: Moment) -> Day {
        self.turn(now);
        self.used += 1;
        if let Gate::Canary { probing, .. } = &mut self.gate {
            *probing = true;
        }
        self.day
    }

    /// A creation that left on `day` was not executed and does not count.
    pub(super) fn came_home_unexecuted(&mut self, day: Day) {
        if day == self.day {
            self.used = self.used.saturating_sub(1);
        }
        self.came_home_undecided();
    }

    /// A creation came home without telling whether it was executed: it counts, and another may find out.
    pub(super) fn came_home_undecided(&mut self) {
        if let Gate::Canary { probing, .. } = &mut self.gate {
            *probing = false;
        }
    }

    /// The service accepted a creation, or refused it for a reason of its own. Says whether that ended a parking.
    pub(super) fn accepted(&mut self) -> bool {
        let woken = matches!(self.gate, Gate::Canary { .. });
        if woken {
            self.gate = Gate::Open;
        }
        woken
    }

    /// The service answered `quotaLimitExceeded` to a creation that left on `day`.
    pub(super) fn refused(&mut self, now: Moment, day: Day) -> Parking {
        self.came_home_unexecuted(day);
        self.turn(now);
        let same_day = self.refused_on.replace(self.day) == Some(self.day);
        match self.gate {
            Gate::Parked { .. } => Parking::Already,
            // The day's first refusal right after midnight is a late reset, not a spent quota.
            Gate::Canary { refusals, .. } if !same_day || refusals > 0 => {
                let minutes = STILL_REFUSED[refusals.min(STILL_REFUSED.len() - 1)];
                self.park(now.plus(Duration::from_secs(minutes * 60)), refusals + 1)
            }
            // It left before midnight: the day that was spent is over, and another creation finds that out.
            Gate::Open if day < self.day => {
                self.refused_on = None;
                self.park(now.plus(AFTER_MIDNIGHT), 0)
            }
            Gate::Open | Gate::Canary { .. } => self.park(self.day.next().start().plus(AFTER_MIDNIGHT), 0),
        }
    }

    /// The service's time is known for the first time: its day counts from now on, even if it lies before ours.
    pub(super) fn begin_day(&mut self, day: Day) -> bool {
        let other = day != self.day;
        if other {
            self.day = day;
            self.used = 0;
            self.gate = Gate::Open;
        }
        other
    }

    /// Adds what the journal knows to be counted on `day` already.
    pub(super) fn add_used(&mut self, day: Day, used: u64) {
        if day == self.day {
            self.used += used;
        }
    }

    /// Whether creations count on this day now.
    pub(super) fn is_at(&self, day: Day) -> bool {
        day == self.day
    }

    /// Creations counted today, those under way among them.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// The most a day allows, when set or learned.
    pub(super) fn ceiling(&self) -> Option<u64> {
        self.set.or(self.learned)
    }

    /// Remembers what a refusal taught: so many were counted when the service said that no more are allowed.
    pub(super) fn learn(&mut self, ceiling: u64) {
        self.learned = Some(ceiling);
    }

    /// Until when creations are parked, by the service's clock.
    pub(super) fn parked_until(&self) -> Option<Moment> {
        match self.gate {
            Gate::Parked { until, .. } => Some(until),
            Gate::Open | Gate::Canary { .. } => None,
        }
    }

    fn park(&mut self, until: Moment, refusals: usize) -> Parking {
        self.gate = Gate::Parked { until, refusals };
        Parking::Until(until)
    }

    /// Turns to the day of `now`. A clock that steps back does not bring yesterday's quota back.
    fn turn(&mut self, now: Moment) {
        if now.day() > self.day {
            self.day = now.day();
            self.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Moment {
        Moment::parse(text).unwrap()
    }

    #[test]
    fn a_refusal_parks_creations_until_shortly_after_the_services_midnight() {
        let now = at("2026-03-01T10:00:00Z");
        let mut quota = Quota::new(now.day(), 0, None, None, 0);
        assert_eq!(quota.permits(now), Ok(()));
        let day = quota.leaves(now);
        let until = at("2026-03-02T00:00:03Z");
        assert_eq!(quota.refused(now, day), Parking::Until(until));
        assert_eq!(quota.used(), 0, "a refused creation does not count");
        assert_eq!(quota.permits(now), Err(Some(until)));
        assert_eq!(quota.refused(now, day), Parking::Already, "others were under way");
    }

    #[test]
    fn one_creation_goes_ahead_after_midnight_and_the_rest_follow_when_it_is_accepted() {
        let now = at("2026-03-01T10:00:00Z");
        let mut quota = Quota::new(now.day(), 5, None, None, 0);
        let day = quota.leaves(now);
        quota.refused(now, day);
        let morning = at("2026-03-02T00:00:03Z");
        assert_eq!(quota.permits(morning), Ok(()));
        quota.leaves(morning);
        assert_eq!(quota.permits(morning), Err(None));
        assert!(quota.accepted());
        assert_eq!(quota.permits(morning), Ok(()));
        assert_eq!(quota.used(), 1);
    }

    #[test]
    fn a_run_that_begins_after_a_refusal_of_the_same_day_sends_one_and_parks_until_midnight() {
        let now = at("2026-03-01T10:00:00Z");
        let mut quota = Quota::new(now.day(), 20, None, Some(20), 0);
        quota.begin_cautiously();
        assert_eq!(quota.permits(now), Ok(()));
        let day = quota.leaves(now);
        assert_eq!(quota.permits(now), Err(None), "no storm");
        assert_eq!(quota.refused(now, day), Parking::Until(at("2026-03-02T00:00:03Z")));
    }

    #[test]
    fn still_refused_after_midnight_means_minutes_and_not_a_day() {
        let now = at("2026-03-01T10:00:00Z");
        let mut quota = Quota::new(now.day(), 5, None, None, 0);
        let day = quota.leaves(now);
        quota.refused(now, day);
        let mut time = at("2026-03-02T00:00:03Z");
        let mut waits = Vec::new();
        for _ in 0..7 {
            assert_eq!(quota.permits(time), Ok(()));
            let day = quota.leaves(time);
            let Parking::Until(until) = quota.refused(time, day) else { panic!("parked again") };
            waits.push(until.since(time).as_secs() / 60);
            time = until;
        }
        assert_eq!(waits, [1, 2, 4, 8, 15, 15, 15]);
    }

    #[test]
    fn a_refusal_of_a_creation_that_left_before_midnight_does_not_park_the_new_day() {
        let evening = at("2026-03-01T23:59:59Z");
        let mut quota = Quota::new(evening.day(), 5, None, None, 0);
        let day = quota.leaves(evening);
        let midnight = at("2026-03-02T00:00:01Z");
        let until = at("2026-03-02T00:00:04Z");
        assert_eq!(quota.refused(midnight, day), Parking::Until(until));
        assert_eq!(quota.permits(until), Ok(()));
        // Still refused: minutes, as for any late reset.
        let day = quota.leaves(until);
        assert_eq!(quota.refused(until, day), Parking::Until(at("2026-03-02T00:01:04Z")));
    }

    #[test]
    fn a_known_ceiling_and_its_reserve_are_kept_without_asking_the_service() {
        let now = at("2026-03-01T10:00:00Z");
        let mut quota = Quota::new(now.day(), 7, Some(10), None, 2);
        assert_eq!(quota.permits(now), Ok(()));
        quota.leaves(now);
        assert!(quota.permits(now).is_err());
        assert!(quota.parked_until().is_some());
    }

    #[test]
    fn a_clock_that_steps_back_over_midnight_brings_no_second_quota() {
        let midnight = at("2026-03-02T00:00:10Z");
        let mut quota = Quota::new(midnight.day(), 3, Some(4), None, 0);
        quota.leaves(midnight);
        let before = at("2026-03-01T23:59:50Z");
        assert!(quota.permits(before).is_err());
        assert_eq!(quota.used(), 4);
    }

    #[test]
    fn the_services_day_counts_even_where_it_lies_before_ours() {
        let ours = at("2026-11-21T06:00:00Z");
        let theirs = at("2026-03-01T23:59:55Z");
        let mut quota = Quota::new(ours.day(), 7, Some(3), None, 0);
        assert!(quota.begin_day(theirs.day()));
        quota.add_used(theirs.day(), 2);
        assert_eq!(quota.permits(theirs), Ok(()));
        quota.leaves(theirs);
        assert_eq!(quota.permits(theirs), Err(Some(at("2026-03-02T00:00:03Z"))));
        assert!(!quota.begin_day(theirs.day()), "the same day again changes nothing");
        assert_eq!(quota.used(), 3);
    }

    #[test]
    fn the_services_date_decides_and_a_large_difference_is_told_once() {
        let ours = at("2026-03-01T10:00:00Z");
        let mut clock = ServiceClock::default();
        assert_eq!(clock.hear(at("2026-03-01T10:00:00Z"), ours), Heard { first: true, notable: None });
        assert_eq!(clock.at(ours), ours, "a second's rounding is no skew");
        let later = |notable| Heard { first: false, notable };
        assert_eq!(clock.hear(at("2026-03-01T13:00:00Z"), ours), later(Some(10_800)));
        assert_eq!(clock.hear(at("2026-03-01T13:00:00Z"), ours), later(None));
        assert_eq!(clock.at(ours).day(), ours.day());
        assert_eq!(clock.ours(clock.at(ours)), ours);
    }

    #[test]
    fn when_our_clock_jumps_the_services_goes_on_as_it_did_until_it_is_heard_again() {
        let ours = at("2026-03-01T23:00:00Z");
        let mut clock = ServiceClock::default();
        clock.hear(at("2026-03-01T22:30:00Z"), ours);
        for jump_ms in [7 * 3_600_000, -30 * 3_600_000] {
            let mut clock = clock;
            clock.leapt(jump_ms);
            let now = Moment::from_millis(ours.millis() + jump_ms);
            assert_eq!(clock.at(now), Moment::from_millis(at("2026-03-01T22:30:00Z").millis() + 500));
            // It was the machine that slept: the service's next answer says so.
            clock.hear(at("2026-03-02T05:30:00Z"), now);
            assert_eq!(clock.at(now).day(), at("2026-03-02T05:30:00Z").day());
        }
        // Never heard: this machine's clock is all there is.
        let mut silent = ServiceClock::default();
        silent.leapt(3_600_000);
        assert_eq!(silent.at(ours), ours);
    }

    #[test]
    fn at_the_edges_of_years_and_of_time_itself_nothing_panics() {
        for edge in
            ["2026-12-31T23:59:59Z", "2028-02-29T23:59:59Z", "1970-01-01T00:00:00Z", "9999-12-30T22:00:00Z"]
        {
            let now = at(edge);
            let mut quota = Quota::new(now.day(), 5, Some(5), None, 0);
            let until = quota.permits(now).unwrap_err().expect("parked");
            assert_eq!(until, now.day().next().start().plus(AFTER_MIDNIGHT), "{edge}");
            assert_eq!(quota.permits(until), Ok(()), "{edge}");
        }
        let mut clock = ServiceClock::default();
        for there in [i64::MIN, i64::MAX] {
            for here in [i64::MIN, 0, i64::MAX] {
                clock.hear(Moment::from_millis(there), Moment::from_millis(here));
                clock.leapt(there);
                let shown = clock.at(Moment::from_millis(here)).day();
                let mut quota = Quota::new(shown, 5, Some(5), None, 0);
                let _any_answer = quota.permits(clock.ours(Moment::from_millis(here)));
            }
        }
    }
}

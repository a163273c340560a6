//! The daily quota of creations: how many are left, when creations are held back, and when they go on.
//!
//! The service is the authority: its refusal parks creations whatever we counted, and its `Date` header is the
//! clock that decides midnight. After midnight one creation goes ahead; while it is refused, the next tries come
//! minutes later, not a day later. The ledger itself is in the journal.

use std::time::Duration;

use crate::model::remaining::Allowance;
use crate::model::time::{Day, Moment};

/// How long after midnight the first creation goes ahead: clocks differ by seconds.
const AFTER_MIDNIGHT: Duration = Duration::from_secs(3);
/// Waits between tries that are still refused after midnight, in minutes; the last one repeats.
const STILL_REFUSED: [u64; 5] = [1, 2, 4, 8, 15];
/// A difference between our clock and the service's that is worth telling.
const NOTABLE_SKEW_MS: i64 = 60_000;
/// A difference below this says nothing: clocks are read at different moments.
const TOLERANCE_MS: i64 = 1_000;
/// Longer than any answer is on its way: a request may take 600 s.
const LONGEST_ANSWER_MS: i64 = 660_000;

/// The service's clock, as far as its answers tell.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ServiceClock {
    skew_ms: i64,
    heard: bool,
    notable: bool,
}

/// What an answer's `Date` taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateObserved {
    /// Whether it was the first.
    pub(super) first: bool,
    /// The difference in seconds, when it has become worth telling.
    pub(super) notable: Option<i64>,
}

impl ServiceClock {
    /// An answer of `date` to a request that was `sent` is there `now`.
    pub(super) fn observe_date_header(&mut self, date: Moment, sent: Moment, now: Moment) -> DateObserved {
        // The header counts whole seconds, and was written at any moment between the two: that may be long where this
        // process was suspended, or the clock set. What was known before stays as long as it is possible.
        let (earliest, latest) = (sent.min(now), sent.max(now));
        let took_ms = latest.millis().saturating_sub(earliest.millis());
        if !self.heard && took_ms > LONGEST_ANSWER_MS {
            // Our clock has jumped, or the machine slept: whether ours is right now, only the next answer says.
            return DateObserved { first: false, notable: None };
        }
        let least = date.millis().saturating_sub(latest.millis());
        let most = date.millis().saturating_add(1_000).saturating_sub(earliest.millis());
        let possible = least.saturating_sub(TOLERANCE_MS)..=most.saturating_add(TOLERANCE_MS);
        if !possible.contains(&self.skew_ms) {
            self.skew_ms = if possible.contains(&0) { 0 } else { least.midpoint(most) };
        }
        let is_certain = least >= NOTABLE_SKEW_MS || most <= -NOTABLE_SKEW_MS;
        let notable = self.skew_ms.saturating_abs() >= NOTABLE_SKEW_MS && (self.notable || is_certain);
        let before = std::mem::replace(&mut self.notable, notable);
        DateObserved {
            first: !std::mem::replace(&mut self.heard, true),
            notable: (notable && !before).then_some(self.skew_ms / 1000),
        }
    }

    /// Our clock has jumped by so many milliseconds: the service's goes on as it did, until it is heard again.
    /// While it has never been heard, ours is all there is.
    pub(super) fn on_clock_jump(&mut self, jump_ms: i64) {
        if self.heard {
            self.skew_ms = self.skew_ms.saturating_sub(jump_ms);
        }
    }

    /// Whether the service has ever said what time it is.
    pub(super) fn is_known(&self) -> bool {
        self.heard
    }

    /// The service's time minus ours, in milliseconds.
    pub(super) fn ahead_ms(&self) -> i64 {
        self.skew_ms
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

/// Whether creations pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuotaGate {
    /// Freely.
    Open,
    /// Not until then, by the service's clock.
    Parked { until: Moment, refusals: usize },
    /// One creation finds out; it is under way when `probing`. Where a person had it tried before its time, the others wait
    /// until then as before.
    OneAhead { probing: bool, refusals: usize, until: Option<Moment> },
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
pub(super) struct DailyQuota {
    /// The most creations a day, as the profile sets it: kept without asking the service.
    set: Option<u64>,
    /// What a refusal has taught. Good for forecasts; it stops nothing by itself, since another tool may have
    /// used part of that day's quota.
    learned: Option<u64>,
    reserve: u64,
    day: Day,
    /// Creations of the day that are not proved unexecuted, those under way among them.
    sent: u64,
    gate: QuotaGate,
    /// Whether a creation was refused in the present parking. What else is refused says nothing of how many are allowed.
    teaches: bool,
    /// What the refusals of the present parking have taught.
    new_ceiling: Option<u64>,
    /// The day on which the service refused last.
    refused_on: Option<Day>,
    /// The day of which creations may be missing in `sent`: what the service refuses on it teaches no ceiling.
    partial: Option<Day>,
}

impl DailyQuota {
    /// A quota of which `sent` creations count on `day`; `set` comes from the profile, `learned` from an earlier
    /// refusal, `reserve` is what to leave for others.
    pub(super) fn new(day: Day, sent: u64, set: Option<u64>, learned: Option<u64>, reserve: u64) -> Self {
        let gate = QuotaGate::Open;
        Self {
            set,
            learned,
            reserve,
            day,
            sent,
            gate,
            teaches: false,
            new_ceiling: None,
            refused_on: None,
            partial: None,
        }
    }

    /// The journal is an older copy: creations of the day may have been sent of which it knows nothing.
    pub(super) fn mark_partial(&mut self) {
        self.partial = Some(self.day);
    }

    /// An earlier run was refused today: one creation goes ahead of the others.
    pub(super) fn begin_with_one_ahead(&mut self) {
        self.refused_on = Some(self.day);
        self.gate = QuotaGate::OneAhead { probing: false, refusals: 0, until: None };
    }

    /// How many creations we allow ourselves in a day.
    fn allowance(&self) -> Option<u64> {
        self.set.map(|ceiling| ceiling.saturating_sub(self.reserve))
    }

    /// Whether a creation may leave at `now`; if not, when to ask again (`None`: after the one that went ahead is answered).
    pub(super) fn permits(&mut self, now: Moment) -> Result<(), Option<Moment>> {
        self.roll_over(now);
        match self.gate {
            QuotaGate::Open => match self.allowance() {
                Some(allowance) if self.sent >= allowance => {
                    let until = self.day.next().start().plus(AFTER_MIDNIGHT);
                    self.gate = QuotaGate::Parked { until, refusals: 0 };
                    Err(Some(until))
                }
                _ => Ok(()),
            },
            QuotaGate::Parked { until, .. } if now < until => Err(Some(until)),
            QuotaGate::Parked { refusals, .. } => {
                self.gate = QuotaGate::OneAhead { probing: false, refusals, until: None };
                Ok(())
            }
            QuotaGate::OneAhead { probing: false, .. } => Ok(()),
            QuotaGate::OneAhead { probing: true, .. } => Err(None),
        }
    }

    /// One creation goes ahead, to find out whether the service allows more than it did. Whether creations waited for it: not
    /// where the profile says how many a day are sent.
    pub(super) fn try_now(&mut self) -> bool {
        let is_ours = self.allowance().is_some_and(|allowance| self.sent >= allowance);
        match self.gate {
            QuotaGate::Parked { until, refusals } if !is_ours => {
                self.gate = QuotaGate::OneAhead { probing: false, refusals, until: Some(until) };
                true
            }
            QuotaGate::Open | QuotaGate::Parked { .. } | QuotaGate::OneAhead { .. } => false,
        }
    }

    /// A creation leaves at `now`; says on which day it counts.
    pub(super) fn on_send(&mut self, now: Moment) -> Day {
        self.roll_over(now);
        self.sent += 1;
        self.go_ahead();
        self.day
    }

    /// A request leaves that waits for the quota, whether it counts or not. Where one goes ahead of the others, it is this one.
    pub(super) fn go_ahead(&mut self) {
        if let QuotaGate::OneAhead { probing, .. } = &mut self.gate {
            *probing = true;
        }
    }

    /// A creation that left on `day` was not executed and does not count.
    pub(super) fn on_not_executed(&mut self, day: Day) {
        if day == self.day {
            self.sent = self.sent.saturating_sub(1);
        }
        self.on_unknown_outcome();
    }

    /// A request came back without telling whether the quota allows it, or has not left: another may find out. A creation that may
    /// have been executed counts.
    pub(super) fn on_unknown_outcome(&mut self) {
        if let QuotaGate::OneAhead { probing, .. } = &mut self.gate {
            *probing = false;
        }
    }

    /// The service accepted a creation, or refused it for a reason of its own. Says whether that ended a parking.
    pub(super) fn accepted(&mut self) -> bool {
        let was_ahead = matches!(self.gate, QuotaGate::OneAhead { .. });
        if was_ahead {
            self.gate = QuotaGate::Open;
        }
        was_ahead
    }

    /// The service answered `quotaLimitExceeded` to a request that left on `day`. A creation that was counted is taken back before
    /// ([`Self::on_not_executed`]).
    pub(super) fn refused(&mut self, now: Moment, day: Day, is_creation: bool) -> Parking {
        self.roll_over(now);
        let was_parked = matches!(self.gate, QuotaGate::Parked { .. });
        self.teaches = is_creation || (was_parked && self.teaches);
        let same_day = self.refused_on.replace(self.day) == Some(self.day);
        match self.gate {
            QuotaGate::Parked { .. } => Parking::Already,
            // The day's first refusal right after midnight is a late reset, not a spent quota.
            QuotaGate::OneAhead { refusals, .. } if !same_day || refusals > 0 => {
                let minutes = STILL_REFUSED[refusals.min(STILL_REFUSED.len() - 1)];
                self.park(now.plus(Duration::from_secs(minutes * 60)), refusals + 1)
            }
            // It left before midnight: the day that was spent is over, and another creation finds that out.
            QuotaGate::Open if day < self.day => {
                self.refused_on = None;
                self.park(now.plus(AFTER_MIDNIGHT), 0)
            }
            QuotaGate::Open | QuotaGate::OneAhead { .. } => {
                self.park(self.day.next().start().plus(AFTER_MIDNIGHT), 0)
            }
        }
    }

    /// The service's time is known for the first time: its day counts from now on, even if it lies before ours.
    pub(super) fn begin_day(&mut self, day: Day) -> bool {
        let other = day != self.day;
        if other {
            self.day = day;
            self.sent = 0;
            self.gate = QuotaGate::Open;
        }
        other
    }

    /// The day it is at the service at `now`, and what it allows beside `reserve`, where that is known: as the profile sets it,
    /// or as a refusal has taught and no day has proved wrong.
    pub(super) fn allowance_beside(&self, now: Moment, reserve: u64) -> (Day, Option<Allowance>) {
        let day = self.day.max(now.day());
        let sent = if day == self.day { self.sent } else { 0 };
        let ceiling = self.set.or(self.learned.filter(|known| sent <= *known));
        let allowance = ceiling.map(|ceiling| {
            let per_day = ceiling.saturating_sub(reserve);
            Allowance { per_day, today: per_day.saturating_sub(sent) }
        });
        (day, allowance)
    }

    /// Adds what the journal knows to be counted on `day` already.
    pub(super) fn add_sent(&mut self, day: Day, sent: u64) {
        if day == self.day {
            self.sent += sent;
        }
    }

    /// Whether creations count on this day now.
    pub(super) fn is_at(&self, day: Day) -> bool {
        day == self.day
    }

    /// The most creations a day, as the profile sets it.
    pub(super) fn set(&self) -> Option<u64> {
        self.set
    }

    /// The ceiling that the service's refusals have taught by now, when that is news: so many creations were counted when
    /// it said that no more are allowed. Those under way at that moment are among them; each one that is then proved not
    /// executed teaches a lower ceiling. 0, where all of them were: that others had spent the quota teaches nothing, and neither
    /// does a day of which creations may be missing.
    pub(super) fn new_ceiling(&mut self) -> Option<u64> {
        let counted = if self.partial == Some(self.day) { 0 } else { self.sent };
        let refused = matches!(self.gate, QuotaGate::Parked { .. }) && self.refused_on == Some(self.day);
        let news = self.new_ceiling.map_or(self.sent > 0, |known| counted < known);
        if !refused || !news || !self.teaches {
            return None;
        }
        self.new_ceiling = Some(counted);
        self.learned = self.new_ceiling.filter(|ceiling| *ceiling > 0);
        self.new_ceiling
    }

    /// Until when creations are parked, by the service's clock.
    pub(super) fn parked_until(&self) -> Option<Moment> {
        match self.gate {
            QuotaGate::Parked { until, .. } => Some(until),
            QuotaGate::OneAhead { until, .. } => until,
            QuotaGate::Open => None,
        }
    }

    fn park(&mut self, until: Moment, refusals: usize) -> Parking {
        self.new_ceiling = None;
        self.gate = QuotaGate::Parked { until, refusals };
        Parking::Until(until)
    }

    /// Turns to the day of `now`. A clock that steps back does not bring yesterday's quota back.
    fn roll_over(&mut self, now: Moment) {
        if now.day() > self.day {
            self.day = now.day();
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests;

//! The creations of one UTC day, as far as they count against the daily quota.
//!
//! The service counts what it answers, refused creations included. What it has counted is known only of answered ones, so
//! that those under way are kept apart from those used.

use serde::Serialize;

use crate::model::time::{Day, Rfc3339};

/// One day of the ledger, by the service's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline, with = "QuotaFigures"))]
#[serde(into = "QuotaFigures")]
pub struct QuotaDay {
    /// The day.
    pub day: Day,
    /// Creations that left, or are about to, and are not proved unexecuted.
    pub sent: u64,
    /// Of these, confirmed by the service, or found afterwards.
    pub confirmed: u64,
    /// Of these, refused by the service for what they say.
    pub refused: u64,
    /// Of these, not known to be counted by the service.
    pub doubtful: u64,
    /// The most that a day allows as far as it is known: as the profile sets it, or learned when the service refused. `None`
    /// also when more were used than was learned, as that is wrong then.
    pub ceiling: Option<u64>,
    /// Whether the service said on this day that no more are allowed.
    pub spent: bool,
    /// Whether creations of the day may be missing, as the journal is an older copy: what is used is at least that much.
    pub partial: bool,
}

impl QuotaDay {
    /// A day on which nothing was sent.
    pub fn unused(day: Day) -> Self {
        Self {
            day,
            sent: 0,
            confirmed: 0,
            refused: 0,
            doubtful: 0,
            ceiling: None,
            spent: false,
            partial: false,
        }
    }

    /// Creations used up: those under way are not among them, as some may be proved not executed. Never falls.
    pub fn used(&self) -> u64 {
        self.confirmed + self.refused + self.doubtful
    }

    /// Creations whose answer is awaited.
    pub fn under_way(&self) -> u64 {
        self.sent.saturating_sub(self.used())
    }

    /// The day when no run awaits an answer any more: those that were under way are doubtful, as they are from the next start
    /// on. A ceiling that was learned and that they pass is wrong.
    pub fn with_none_awaited(self) -> Self {
        Self { doubtful: self.doubtful + self.under_way(), ..self }.under(self.ceiling)
    }

    /// Creations left, where the ceiling is known.
    pub fn left(&self) -> Option<u64> {
        self.ceiling.map(|ceiling| ceiling.saturating_sub(self.used()))
    }

    /// The words before what is used, and before what is left, where that is not all: `at least `, `at most `.
    pub const fn bounds(&self) -> (&'static str, &'static str) {
        if self.partial { ("at least ", "at most ") } else { ("", "") }
    }

    /// With another ceiling, unless more were used.
    pub fn under(self, ceiling: Option<u64>) -> Self {
        Self { ceiling: ceiling.filter(|ceiling| self.used() <= *ceiling), ..self }
    }

    /// With the ceiling that a run was given, also when more were used. A lower one that the service has shown on this day
    /// stays.
    pub fn limited_to(self, set: u64) -> Self {
        match self.ceiling {
            Some(shown) if self.spent && shown < set => self,
            Some(_) | None => Self { ceiling: Some(set), ..self },
        }
    }
}

/// The day as programs read it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct QuotaFigures {
    /// The UTC day: `2026-03-01`.
    day: String,
    /// Creations that count against the quota: those confirmed, refused and doubtful.
    used: u64,
    /// Creations that the service confirmed, or that were found afterwards.
    confirmed: u64,
    /// Creations that the service rejected for their values.
    refused: u64,
    /// Creations of which it is not known whether the service counted them.
    doubtful: u64,
    /// Creations that are sent and not answered yet.
    under_way: u64,
    /// The most that a day allows: as `daily_quota` sets it, otherwise as the service has shown it.
    ceiling: Option<u64>,
    /// How many are left of that.
    left: Option<u64>,
    /// Whether creations may be missing, as the journal is an older copy: at least so many are used, at most so many left.
    partial: bool,
    /// When the next day begins.
    resets_at: Rfc3339,
}

impl From<QuotaDay> for QuotaFigures {
    fn from(quota: QuotaDay) -> Self {
        Self {
            day: quota.day.to_string(),
            used: quota.used(),
            confirmed: quota.confirmed,
            refused: quota.refused,
            doubtful: quota.doubtful,
            under_way: quota.under_way(),
            ceiling: quota.ceiling,
            left: quota.left(),
            partial: quota.partial,
            resets_at: quota.day.next().start().into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_awaits_is_used_and_disproves_a_ceiling_that_was_learned() {
        let sent = QuotaDay { sent: 10, confirmed: 4, ..QuotaDay::unused(Day::from_number(20_000)) };
        for (learned, left) in [(None, None), (Some(12), Some(2)), (Some(8), None)] {
            let ended = sent.under(learned).with_none_awaited();
            assert_eq!((ended.used(), ended.doubtful, ended.under_way(), ended.left()), (10, 6, 0, left));
        }
    }

    #[test]
    fn the_limit_that_was_set_is_shown_unless_the_service_has_stopped_below_it() {
        let used = QuotaDay { sent: 10, confirmed: 10, ..QuotaDay::unused(Day::from_number(20_000)) };
        let learned = used.under(Some(60));
        for (ledger, set, ceiling, left) in [
            (used, 12, 12, 2),
            (learned, 12, 12, 2),
            (learned, 100, 100, 90),
            (QuotaDay { spent: true, ..learned }, 100, 60, 50),
            (QuotaDay { spent: true, ..learned }, 12, 12, 2),
            (used, 8, 8, 0),
        ] {
            let shown = ledger.limited_to(set);
            assert_eq!((shown.ceiling, shown.left()), (Some(ceiling), Some(left)), "{ledger:?}, {set}");
        }
    }
}

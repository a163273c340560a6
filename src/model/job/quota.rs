//! The creations of one UTC day, as far as they count against the daily quota.
//!
//! The service counts what it answers, refused creations included. What it has counted is known only of answered ones, so
//! that those under way are kept apart from those used.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::time::Day;

/// One day of the ledger, by the service's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// The most that a day allows as far as it is known, learned when the service refused; `None` also when more than
    /// that were used, as it is wrong then.
    pub ceiling: Option<u64>,
    /// Whether the service said on this day that no more are allowed.
    pub spent: bool,
}

impl QuotaDay {
    /// A day on which nothing was sent.
    pub fn unused(day: Day) -> Self {
        Self { day, sent: 0, confirmed: 0, refused: 0, doubtful: 0, ceiling: None, spent: false }
    }

    /// Creations used up: those under way are not among them, as some may be proved not executed. Never falls.
    pub fn used(&self) -> u64 {
        self.confirmed + self.refused + self.doubtful
    }

    /// Creations whose answer is awaited, or was when the process ended.
    pub fn under_way(&self) -> u64 {
        self.sent.saturating_sub(self.used())
    }

    /// Creations left, where the ceiling is known.
    pub fn left(&self) -> Option<u64> {
        self.ceiling.map(|ceiling| ceiling.saturating_sub(self.used()))
    }

    /// With another ceiling, unless more were used.
    pub fn under(self, ceiling: Option<u64>) -> Self {
        Self { ceiling: ceiling.filter(|ceiling| self.used() <= *ceiling), ..self }
    }
}

/// The figures for programs, the same wherever they are written.
impl Serialize for QuotaDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut figures = serializer.serialize_map(None)?;
        figures.serialize_entry("day", &self.day.to_string())?;
        figures.serialize_entry("used", &self.used())?;
        figures.serialize_entry("confirmed", &self.confirmed)?;
        figures.serialize_entry("refused", &self.refused)?;
        figures.serialize_entry("doubtful", &self.doubtful)?;
        figures.serialize_entry("under_way", &self.under_way())?;
        figures.serialize_entry("ceiling", &self.ceiling)?;
        figures.serialize_entry("left", &self.left())?;
        figures.serialize_entry("resets_at", &self.day.next().start().to_string())?;
        figures.end()
    }
}

//! Creations by day against the quota, from the ledger of the account.

use crate::error::Result;
use crate::journal::Journal;
use crate::model::amount::{count, share};
use crate::model::quota::QuotaDay;
use crate::model::time::Day;
use crate::report::figures::Figures;

/// Days shown.
const DAYS: usize = 60;

/// The days of an import.
pub(super) struct QuotaView {
    pub(super) days: Vec<DayView>,
    /// Whether earlier days are left out.
    pub(super) more: bool,
}

/// One day: lengths are percentages.
pub(super) struct DayView {
    pub(super) day: Day,
    pub(super) used: String,
    pub(super) confirmed: String,
    pub(super) refused: String,
    pub(super) doubtful: String,
    pub(super) ceiling: Option<String>,
    /// Of the ceiling.
    pub(super) share: String,
    /// What the service is known to have counted.
    pub(super) sure: String,
    pub(super) unsure: String,
    /// Where the ceiling stands.
    pub(super) limit: Option<String>,
    pub(super) words: String,
}

impl QuotaView {
    /// The days on which the import was at work; `None` when it created nothing.
    pub(super) fn of(journal: &Journal, figures: &Figures) -> Result<Option<Self>> {
        let Some(started) = figures.started_at else { return Ok(None) };
        let last = figures.quota.day;
        let days = journal.quota_days(started.day(), last, DAYS)?;
        if days.is_empty() {
            return Ok(None);
        }
        let most = |day: &QuotaDay| day.used().max(day.ceiling.unwrap_or_default());
        let scale = days.iter().map(most).max().unwrap_or_default().max(1);
        let more = days.len() == DAYS && days.first().is_some_and(|first| first.day > started.day());
        Ok(Some(Self { days: days.iter().map(|day| DayView::of(day, scale)).collect(), more }))
    }
}

impl DayView {
    fn of(day: &QuotaDay, scale: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a length, drawn to a hundredth of a percent")]
        let percent = |number: u64| format!("{:.2}", number as f64 / scale as f64 * 100.0);
        let (used, ceiling) = (day.used(), day.ceiling);
        let words = match ceiling {
            Some(ceiling) => format!("{}: {} of {} creations used", day.day, count(used), count(ceiling)),
            None => format!("{}: {} creations used; the quota is not known", day.day, count(used)),
        };
        Self {
            day: day.day,
            used: count(used),
            confirmed: count(day.confirmed),
            refused: count(day.refused),
            doubtful: count(day.doubtful),
            ceiling: ceiling.map(count),
            share: ceiling.map_or_else(String::new, |ceiling| share(used, ceiling)),
            sure: percent(day.confirmed + day.refused),
            unsure: percent(day.doubtful),
            limit: ceiling.map(percent),
            words,
        }
    }
}

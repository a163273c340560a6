//! Creations by day against the quota, from the ledger of the account.

use crate::error::Result;
use crate::journal::{Journal, QuotaDay};
use crate::look::{count, share};
use crate::model::time::Day;
use crate::report::figures::Figures;

/// Days shown.
const DAYS: usize = 60;

/// The days of an import.
pub(super) struct QuotaView {
    pub(super) days: Vec<DayView>,
    /// Whether earlier days are left out.
    pub(super) more: bool,
    pub(super) doubtful: bool,
}

/// One day: lengths are percentages.
pub(super) struct DayView {
    pub(super) day: Day,
    pub(super) sent: String,
    pub(super) confirmed: String,
    pub(super) doubtful: String,
    pub(super) ceiling: Option<String>,
    /// Of the ceiling.
    pub(super) share: String,
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
        let last = figures.quota.ledger.day;
        let days = journal.quota_days(started.day(), last, DAYS)?;
        if days.is_empty() {
            return Ok(None);
        }
        let most = |day: &QuotaDay| day.sent.max(ceiling(day, figures).unwrap_or_default());
        let scale = days.iter().map(most).max().unwrap_or_default().max(1);
        let more = days.len() == DAYS && days.first().is_some_and(|first| first.day > started.day());
        Ok(Some(Self {
            doubtful: days.iter().any(|day| day.doubtful > 0),
            days: days.iter().map(|day| DayView::of(day, ceiling(day, figures), scale)).collect(),
            more,
        }))
    }
}

/// The ceiling of a day; where it was not learned on that day, as far as it is known.
fn ceiling(day: &QuotaDay, figures: &Figures) -> Option<u64> {
    day.ceiling.or(figures.quota.ceiling)
}

impl DayView {
    fn of(day: &QuotaDay, ceiling: Option<u64>, scale: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a length, drawn to a hundredth of a percent")]
        let percent = |number: u64| format!("{:.2}", number as f64 / scale as f64 * 100.0);
        let sure = day.sent.saturating_sub(day.doubtful);
        let words = match ceiling {
            Some(ceiling) => format!("{}: {} of {} creations", day.day, count(day.sent), count(ceiling)),
            None => format!("{}: {} creations; the quota is not known", day.day, count(day.sent)),
        };
        Self {
            day: day.day,
            sent: count(day.sent),
            confirmed: count(day.confirmed),
            doubtful: count(day.doubtful),
            ceiling: ceiling.map(count),
            share: ceiling.map_or_else(String::new, |ceiling| share(day.sent, ceiling)),
            sure: percent(sure),
            unsure: percent(day.sent - sure),
            limit: ceiling.map(percent),
            words,
        }
    }
}

//! The tables of numbers: rows by sheet and by the group that their state belongs to, which together are all rows; and the
//! creations of each day against the quota, from the ledger of the account.

use crate::error::Result;
use crate::journal::Journal;
use crate::model::amount::{count, share};
use crate::model::quota::QuotaDay;
use crate::model::state::{JobState, RowGroup};
use crate::model::time::Day;
use crate::report::figures::Figures;
use crate::report::layout::Layout;
use crate::report::page_assets::shown;

/// The totals of an import.
pub(super) struct Totals {
    /// The groups that have rows.
    pub(super) groups: Vec<RowGroup>,
    pub(super) lines: Vec<TotalsLine>,
    /// The sums; `None` where one sheet is all.
    pub(super) sum: Option<TotalsLine>,
}

/// A line of the table.
pub(super) struct TotalsLine {
    pub(super) sheet: String,
    /// What its rows are, and the file where it has another name.
    pub(super) note: String,
    pub(super) rows: String,
    pub(super) cells: Vec<Cell>,
}

/// Rows of a sheet in a group.
pub(super) struct Cell {
    pub(super) group: RowGroup,
    pub(super) rows: String,
    /// Their states, where a group has several.
    pub(super) states: String,
}

impl Totals {
    pub(super) fn of(figures: &Figures<'_>) -> Self {
        let groups = figures.groups();
        let cell = |group| Cell::of(group, figures.in_group(group), |state| figures.in_state(state));
        let sum = || TotalsLine {
            sheet: "All sheets".to_owned(),
            note: String::new(),
            rows: count(figures.rows),
            cells: groups.iter().copied().map(cell).collect(),
        };
        Self {
            lines: figures.layouts.iter().map(|sheet| TotalsLine::of(sheet, &groups)).collect(),
            sum: (figures.layouts.len() > 1).then(sum),
            groups,
        }
    }
}

impl TotalsLine {
    fn of(sheet: &Layout, groups: &[RowGroup]) -> Self {
        let kind = sheet.kind.plural();
        Self {
            sheet: shown(&sheet.name),
            note: match sheet.file == sheet.name {
                true => kind.to_owned(),
                false => format!("{kind} in {}", shown(&sheet.file)),
            },
            rows: count(sheet.count.rows),
            cells: groups
                .iter()
                .map(|&group| Cell::of(group, sheet.in_group(group), |state| sheet.in_state(state)))
                .collect(),
        }
    }
}

impl Cell {
    fn of(group: RowGroup, rows: u64, in_state: impl Fn(JobState) -> u64) -> Self {
        let states: Vec<String> = group
            .states()
            .map(|state| (state, in_state(state)))
            .filter(|(_, rows)| *rows > 0)
            .map(|(state, rows)| format!("{} {}", count(rows), state.as_str()))
            .collect();
        Self {
            group,
            rows: count(rows),
            states: if states.len() > 1 { states.join(", ") } else { String::new() },
        }
    }
}

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
    pub(super) fn of(journal: &Journal, figures: &Figures<'_>) -> Result<Option<Self>> {
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
        let shown = format!("{}{}", day.bounds().0, count(used));
        let words = match ceiling {
            Some(ceiling) => format!("{}: {shown} of {} creations used", day.day, count(ceiling)),
            None => format!("{}: {shown} creations used; the quota is not known", day.day),
        };
        Self {
            day: day.day,
            used: shown,
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

//! The numbers of an import.
//!
//! Rows are counted as the reports show them, so that the sheets add up to the whole; causes, requests and quota are
//! asked of the journal.

use crate::error::Result;
use crate::journal::{AuditFigures, Cause, ImportInfo, Journal, KeptRows, Whose};
use crate::model::id::ImportId;
use crate::model::quota::QuotaDay;
use crate::model::state::{JobState, RowGroup};
use crate::model::tally::Tally;
use crate::model::time::Moment;

use super::ImportEnd;
use super::layout::Layout;

/// The numbers of an import.
#[derive(Debug)]
pub(super) struct Figures<'a> {
    pub(super) info: &'a ImportInfo,
    pub(super) layouts: &'a [Layout],
    pub(super) whose: Whose,
    pub(super) end: ImportEnd,
    pub(super) rows: u64,
    pub(super) states: Tally,
    pub(super) to_fix: u64,
    /// Those of them in which nothing is to be corrected.
    pub(super) to_fix_along: u64,
    pub(super) recognised: u64,
    pub(super) changed_since: u64,
    /// Rows that were left out and have not come again.
    pub(super) left_out: Tally,
    /// Rows that did not get through and came again: how many, and the import that answers for them.
    pub(super) answered: Vec<(u64, ImportId)>,
    /// The most frequent first.
    pub(super) causes: Vec<Cause>,
    /// What verification came to.
    pub(super) audit: AuditFigures,
    /// Its findings that nobody has looked into yet.
    pub(super) findings: u64,
    /// Its rows that are not sent before a paused import is resumed.
    pub(super) paused: KeptRows,
    pub(super) requests: u64,
    /// The day on which its last creation counted.
    pub(super) quota: QuotaDay,
    /// When the first request for its rows left; `None` when none did.
    pub(super) started_at: Option<Moment>,
    /// When its last row was finished; `None` while some go on by themselves.
    pub(super) finished_at: Option<Moment>,
}

impl<'a> Figures<'a> {
    /// Rows in a group.
    pub(super) fn in_group(&self, group: RowGroup) -> u64 {
        self.layouts.iter().map(|layout| layout.in_group(group)).sum()
    }

    /// Rows in a state; those that were not imported are in none.
    pub(super) fn in_state(&self, state: JobState) -> u64 {
        self.layouts.iter().map(|layout| layout.in_state(state)).sum()
    }

    /// The groups that have rows.
    pub(super) fn groups(&self) -> Vec<RowGroup> {
        RowGroup::ALL.into_iter().filter(|&group| self.in_group(group) > 0).collect()
    }

    /// Counts an import.
    pub(super) fn of(
        journal: &Journal,
        info: &'a ImportInfo,
        layouts: &'a [Layout],
        end: ImportEnd,
    ) -> Result<Self> {
        let attempts = journal.attempts(info.import)?;
        let day = attempts.last_counted.unwrap_or_else(|| attempts.last_at.unwrap_or(info.at).day());
        let mut states = Tally::default();
        for layout in layouts {
            for &state in JobState::ALL {
                states.add(layout.kind, state, layout.count.states.in_state(state));
            }
        }
        let sum = |of: fn(&Layout) -> u64| layouts.iter().map(of).sum();
        let unfinished = states.count(|state| !state.is_final());
        Ok(Self {
            info,
            layouts,
            whose: journal.whose()?,
            end,
            rows: sum(|layout| layout.count.rows),
            states,
            to_fix: sum(|layout| layout.count.to_fix),
            to_fix_along: sum(|layout| layout.count.along),
            recognised: sum(|layout| layout.count.recognised),
            changed_since: sum(|layout| layout.count.changed_since),
            left_out: journal.left_out_tally(Some(info.import))?,
            answered: journal
                .answered_later(info.import)?
                .iter()
                .map(|later| (later.refused.total() + later.left_out.total(), later.by))
                .collect(),
            causes: journal.causes(info.import)?,
            audit: journal.audit_figures(Some(info.import))?,
            findings: journal.unseen_findings(Some(info.import))?.len() as u64,
            paused: journal.rows_kept_by_pauses(info.import, &journal.rows_below_pauses()?)?,
            requests: attempts.requests,
            quota: journal.quota(day)?,
            started_at: attempts.first_at,
            finished_at: match unfinished {
                0 => layouts.iter().filter_map(|layout| layout.count.finished_at).max(),
                _ => None,
            },
        })
    }
}

//! Rows by sheet and by the group that their state belongs to; together they are all rows.

use crate::model::amount::count;
use crate::model::state::JobState;
use crate::report::badge::Group;
use crate::report::figures::{Figures, SheetFigures};
use crate::report::page_assets::shown;

/// The totals of an import.
pub(super) struct Totals {
    /// The groups that have rows.
    pub(super) groups: Vec<Group>,
    pub(super) lines: Vec<Line>,
    /// The sums; `None` where one sheet is all.
    pub(super) sum: Option<Line>,
}

/// A line of the table.
pub(super) struct Line {
    pub(super) sheet: String,
    /// What its rows are, and the file where it has another name.
    pub(super) note: String,
    pub(super) rows: String,
    pub(super) cells: Vec<Cell>,
}

/// Rows of a sheet in a group.
pub(super) struct Cell {
    pub(super) group: Group,
    pub(super) rows: String,
    /// Their states, where a group has several.
    pub(super) states: String,
}

impl Totals {
    pub(super) fn of(figures: &Figures) -> Self {
        let groups = figures.groups();
        let cell = |group| Cell::of(group, figures.in_group(group), |state| figures.in_state(state));
        let sum = || Line {
            sheet: "All sheets".to_owned(),
            note: String::new(),
            rows: count(figures.rows),
            cells: groups.iter().copied().map(cell).collect(),
        };
        Self {
            lines: figures.sheets.iter().map(|sheet| Line::of(sheet, &groups)).collect(),
            sum: (figures.sheets.len() > 1).then(sum),
            groups,
        }
    }
}

impl Line {
    fn of(sheet: &SheetFigures, groups: &[Group]) -> Self {
        let kind = sheet.kind.plural();
        Self {
            sheet: shown(&sheet.name),
            note: match sheet.file == sheet.name {
                true => kind.to_owned(),
                false => format!("{kind} in {}", shown(&sheet.file)),
            },
            rows: count(sheet.rows),
            cells: groups
                .iter()
                .map(|&group| Cell::of(group, sheet.in_group(group), |state| sheet.in_state(state)))
                .collect(),
        }
    }
}

impl Cell {
    fn of(group: Group, rows: u64, in_state: impl Fn(JobState) -> u64) -> Self {
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

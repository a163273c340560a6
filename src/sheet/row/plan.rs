//! Which cells of a row are read, each under which column: those of the header, and for columns that have none the
//! defaults of the options.

use crate::model::kind::Kind;
use crate::sheet::cell::{Cell, CellKind};
use crate::sheet::options::Options;
use crate::sheet::table::Table;
use crate::sheet::table::column::{Column, Form, Need, columns};
use crate::sheet::table::header::Mapped;

/// The place of a column that only has a default: beyond every cell of every row, so that the default always applies.
pub(super) const NOWHERE: usize = usize::MAX;

/// One column of the table that is read.
pub(super) struct Planned {
    /// Where its cell is in the row; [`NOWHERE`] when it has none.
    pub(super) position: usize,
    /// Its place among all columns of the kind.
    pub(super) slot: usize,
    pub(super) column: &'static Column,
    /// The key of the entry, where the column holds one of many.
    pub(super) entry: Option<String>,
    /// What stands for a blank cell.
    pub(super) default: Option<Cell>,
}

impl Planned {
    /// Its cell in a row, if that has one which is not blank.
    pub(super) fn given<'c>(&self, cells: &'c [Cell]) -> Option<&'c Cell> {
        cells.get(self.position).filter(|cell| !cell.is_blank())
    }
}

/// The columns of a table that are read, those with a cell first.
pub(super) fn of(table: &Table, options: &Options) -> Vec<Planned> {
    let all = columns(table.kind);
    let default = |column: &Column| options.default_for(table.kind, column.name).map(Cell::text);
    let mut plan = Vec::new();
    for (position, mapped) in table.mapping.iter().enumerate() {
        if let Mapped::Column { column, entry } = mapped
            && let Some(slot) = all.iter().position(|known| known.name == column.name)
        {
            let default = default(column);
            let column = options.relaxed(table.kind, column);
            plan.push(Planned { position, slot, column, entry: entry.clone(), default });
        }
    }
    for (slot, column) in all.iter().enumerate() {
        if table.position(column.name).is_none()
            && let Some(value) = default(column)
        {
            plan.push(Planned { position: NOWHERE, slot, column, entry: None, default: Some(value) });
        }
    }
    plan
}

/// The columns that every creation needs and that are not read.
pub(super) fn absent(kind: Kind, plan: &[Planned]) -> Vec<&'static Column> {
    let is_read = |column: &Column| plan.iter().any(|planned| planned.column.name == column.name);
    columns(kind).iter().filter(|column| column.need == Need::Required && !is_read(column)).collect()
}

/// The country of a row, as its cell has it or by default.
pub(super) fn country<'c>(plan: &'c [Planned], cells: &'c [Cell]) -> Option<&'c str> {
    let planned = plan.iter().find(|planned| planned.column.form == Form::Country)?;
    let cell = planned.given(cells).or(planned.default.as_ref())?;
    (cell.kind == CellKind::Text).then_some(&*cell.text)
}

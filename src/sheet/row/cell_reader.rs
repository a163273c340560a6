//! The cells of a row under their columns, before anything is made of the row: half of the work of a check, on a thread of its
//! own.

use super::RawRow;
use super::plan::{self, Planned};
use super::seen_cells::SeenCells;
use crate::sheet::field::{self, CellContext, CellReading, TableSetting, Ways};
use crate::sheet::options::Options;
use crate::sheet::table::Table;

/// A row of which every cell was read.
#[derive(Default)]
pub(crate) struct ReadRow {
    pub(super) raw: RawRow,
    /// What each planned column has, in the order of the plan: `None` where there is neither a cell nor a default. Of a damaged
    /// row nothing, as nobody knows under which column a cell stands.
    pub(super) readings: Vec<Option<CellReading>>,
}

/// Reads the cells of the rows of one table.
pub(crate) struct CellReader {
    plan: Vec<Planned>,
    /// What was read under each of them.
    seen: Vec<SeenCells>,
    setting: TableSetting,
    ways: Ways,
}

impl CellReader {
    pub(crate) fn new(table: &Table, options: &Options, setting: TableSetting) -> Self {
        let plan = plan::of(table, options);
        let seen = plan.iter().map(|_| SeenCells::default()).collect();
        Self { plan, seen, setting, ways: Ways::of(options) }
    }

    /// Reads the cells of a row.
    pub(super) fn read(&mut self, raw: RawRow) -> ReadRow {
        let readings = if raw.damage.is_some() { Vec::new() } else { self.readings(&raw) };
        ReadRow { raw, readings }
    }

    fn readings(&mut self, RawRow { cells, links, .. }: &RawRow) -> Vec<Option<CellReading>> {
        let country = plan::country(&self.plan, cells);
        let reading = |(planned, seen): (&Planned, &mut SeenCells)| {
            let given = planned.given(cells);
            let cell = given.or(planned.default.as_ref())?;
            let link = given.and_then(|_| links.iter().find(|link| link.column == planned.position));
            let beside = CellContext { country, link: link.map(|link| &*link.address) };
            let read = || field::read(planned.column, cell, beside, self.setting, &self.ways);
            Some(seen.or_read(planned.column, cell, read))
        };
        self.plan.iter().zip(&mut self.seen).map(reading).collect()
    }
}

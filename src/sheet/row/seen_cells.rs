//! What was read of the texts of a column, for the rows that have them again: of a company, a model, a town or a country there
//! are few.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use smol_str::SmolStr;

use crate::sheet::cell::{Cell, CellKind};
use crate::sheet::field::{CellReading, depends_on_row};
use crate::sheet::table::column::Column;

/// Different texts of a column that are remembered.
const KEPT: usize = 3_000;
/// Texts without one that came again, after which none is remembered: the column has keys, names or addresses.
const FRUITLESS: usize = 300;
/// Bytes of a text that may come again.
const LONGEST: usize = 100;

/// What was read of the cells of one column.
#[derive(Debug, Default)]
pub(super) struct SeenCells {
    readings: HashMap<SmolStr, CellReading, RandomState>,
    /// Whether any came again.
    has_found: bool,
    is_hopeless: bool,
}

impl SeenCells {
    /// What was read of a cell with the same text before, or `read` reads now.
    pub(super) fn or_read(
        &mut self,
        column: &Column,
        cell: &Cell,
        read: impl FnOnce() -> CellReading,
    ) -> CellReading {
        let is_known_by_text = cell.kind == CellKind::Text && cell.text.len() <= LONGEST;
        if self.is_hopeless || !is_known_by_text || depends_on_row(column) {
            return read();
        }
        if let Some(known) = self.readings.get(&cell.text) {
            let known = known.clone();
            self.has_found = true;
            return known;
        }
        let reading = read();
        if self.readings.len() < KEPT {
            self.readings.insert(cell.text.clone(), reading.clone());
        }
        if !self.has_found && self.readings.len() >= FRUITLESS {
            *self = Self { is_hopeless: true, ..Self::default() };
        }
        reading
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::Kind;
    use crate::sheet::field::Value;
    use crate::sheet::table::column::column;

    /// How often cells with these texts are read.
    fn times(name: &str, texts: impl IntoIterator<Item = String>) -> usize {
        let mut seen = SeenCells::default();
        let column = column(Kind::Device, name).unwrap();
        let mut times = 0;
        for text in texts {
            let reading = seen.or_read(column, &Cell::text(&*text), || {
                times += 1;
                CellReading { value: Some(Value::Text((&*text).into())), ..CellReading::default() }
            });
            assert_eq!(reading.value, Some(Value::Text(text.into())));
        }
        times
    }

    #[test]
    fn a_text_that_comes_again_is_read_once_unless_its_row_matters() {
        let towns = || ["Auckland", "Leeds", "Auckland", "Leeds", "Auckland"].map(str::to_owned);
        assert_eq!(times("city", towns()), 2);
        for depends in ["phone", "postcode"] {
            assert_eq!(times(depends, towns()), 5, "{depends}");
        }
    }

    #[test]
    fn a_column_of_different_texts_is_given_up_and_of_others_some_are_remembered() {
        let different = |number: usize| (0..number).map(|number| format!("Device {number}"));
        let again = || different(FRUITLESS).chain(different(FRUITLESS));
        assert_eq!(times("name", again()), 2 * FRUITLESS, "none came again until too many were different");
        let some = || ["a", "a"].map(str::to_owned).into_iter().chain(different(KEPT + 5));
        assert_eq!(times("name", some().chain(different(KEPT + 5))), 1 + KEPT + 5 + 6);
    }
}

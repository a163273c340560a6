//! Values that stand in many rows (a town, a country, a model) are read once and remembered.
//!
//! Only what was read without anything to say is kept. How a cell is read depends on its column, its text and what
//! stands beside it, so that the same again means the same again.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::sheet::cell::{Cell, CellKind};
use crate::sheet::field::{Beside, Reading, Value};
use crate::sheet::text::Changes;

/// Values kept of a column, each in the place that its text says; a power of two.
const PLACES: usize = 256;
/// Bytes of the longest text that is kept.
const LONGEST: usize = 64;
/// Cells of a column after which it is known whether its values come again.
const TRIAL: u32 = 4_096;

/// See the module.
#[derive(Default)]
pub(super) struct Seen {
    columns: Vec<Values>,
}

/// What was seen in one column.
#[derive(Default)]
struct Values {
    /// Nothing as long as nothing was kept.
    places: Vec<Option<Kept>>,
    asked: u32,
    known: u32,
}

/// A value that was read.
struct Kept {
    text: String,
    country: Option<String>,
    value: Value,
}

impl Seen {
    /// What the cell of the column in this slot is: as it was when it came before, or as `read` reads it now.
    pub(super) fn read(
        &mut self,
        slot: usize,
        cell: &Cell,
        beside: Beside<'_>,
        read: impl FnOnce() -> Reading,
    ) -> Reading {
        let longest = cell.text.len().max(beside.country.map_or(0, str::len));
        if cell.kind != CellKind::Text || longest > LONGEST || beside.link.is_some() {
            return read();
        }
        if self.columns.len() <= slot {
            self.columns.resize_with(slot + 1, Values::default);
        }
        let values = &mut self.columns[slot];
        if values.come_seldom_again() {
            return read();
        }
        values.asked += 1;
        let place = place(&cell.text);
        if let Some(Some(kept)) = values.places.get(place)
            && kept.text == cell.text
            && kept.country.as_deref() == beside.country
        {
            values.known += 1;
            return Reading { value: Some(kept.value.clone()), ..Reading::default() };
        }
        let reading = read();
        if let Some(value) = plain_value(&reading) {
            values.places.resize_with(PLACES, || None);
            values.places[place] = Some(Kept {
                text: cell.text.clone(),
                country: beside.country.map(str::to_owned),
                value: value.clone(),
            });
        }
        reading
    }
}

impl Values {
    /// Whether it was tried, and most values are new: keys, names, addresses of machines.
    fn come_seldom_again(&mut self) -> bool {
        if self.asked < TRIAL {
            return false;
        }
        let seldom = self.known < TRIAL / 2;
        if seldom {
            self.places = Vec::new();
        } else {
            // Tried again: a sheet may be sorted by the column at hand.
            (self.asked, self.known) = (0, 0);
        }
        seldom
    }
}

/// The value of a reading with which nothing else is to be told.
fn plain_value(reading: &Reading) -> Option<&Value> {
    let is_plain =
        reading.problems.is_empty() && reading.restored.is_none() && reading.changes == Changes::default();
    reading.value.as_ref().filter(|_| is_plain)
}

fn place(text: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    usize::from(hasher.finish().to_le_bytes()[0]) % PLACES
}

#[cfg(test)]
mod tests {
    use std::cell::Cell as Count;

    use super::*;

    /// Reads texts in the same column and gives what came of them and how many were read anew.
    fn readings(
        seen: &mut Seen,
        cells: &[(&str, Option<&str>)],
        says: fn(&str) -> Reading,
    ) -> (Vec<Reading>, u32) {
        let anew = Count::new(0);
        let readings = cells
            .iter()
            .map(|(text, country)| {
                let beside = Beside { country: *country, link: None };
                seen.read(3, &Cell::text((*text).to_owned()), beside, || {
                    anew.set(anew.get() + 1);
                    says(text)
                })
            })
            .collect();
        (readings, anew.get())
    }

    fn plain(text: &str) -> Reading {
        Reading { value: Some(Value::Text(text.to_uppercase())), ..Reading::default() }
    }

    #[test]
    fn a_value_that_comes_again_is_read_once_and_is_the_same() {
        let cells = [("Leeds", None), ("York", None), ("Leeds", None), ("York", None), ("leeds", None)];
        let (readings, anew) = readings(&mut Seen::default(), &cells, plain);
        assert_eq!(anew, 3);
        for ((text, _), reading) in cells.iter().zip(readings) {
            assert_eq!(reading.value, plain(text).value);
        }
    }

    #[test]
    fn beside_another_country_a_value_is_read_again() {
        let cells = [("020 1", Some("GB")), ("020 1", Some("NZ")), ("020 1", None), ("020 1", None)];
        assert_eq!(readings(&mut Seen::default(), &cells, plain).1, 3);
    }

    #[test]
    fn what_has_something_to_say_says_it_every_time() {
        let trimmed =
            |text: &str| Reading { changes: Changes { trimmed: true, ..Changes::default() }, ..plain(text) };
        let (told, anew) = readings(&mut Seen::default(), &[("a", None), ("a", None)], trimmed);
        assert_eq!(anew, 2);
        assert!(told.iter().all(|reading| reading.changes.trimmed));
        let blank = |_: &str| Reading::default();
        assert_eq!(readings(&mut Seen::default(), &[("a", None), ("a", None)], blank).1, 2);
    }

    #[test]
    fn a_column_of_values_that_never_come_again_is_given_up() {
        let mut seen = Seen::default();
        let texts: Vec<String> = (0..TRIAL).map(|number| number.to_string()).collect();
        let cells: Vec<_> = texts.iter().map(|text| (text.as_str(), None)).collect();
        assert_eq!(readings(&mut seen, &cells, plain).1, TRIAL);
        assert_eq!(readings(&mut seen, &[("x", None), ("x", None)], plain).1, 2);
        assert!(seen.columns[3].places.is_empty());
    }
}

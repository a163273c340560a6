//! What was found of a value, for the rows that have it again: a column has few different countries and time zones, and
//! what is meant by a wrong one is sought among hundreds of names.

use std::cell::RefCell;
use std::collections::HashMap;

use super::{CellReading, Problem, Value};

/// Different values that are remembered.
const KEPT: usize = 2_000;
/// Different wrong values for which it is sought what they mean; a column with more holds something else.
const SOUGHT: usize = 300;

/// The values of one form.
#[derive(Debug, Clone, Default)]
pub(super) struct Remembered(RefCell<Answers>);

#[derive(Debug, Clone, Default)]
struct Answers {
    found: HashMap<String, (Result<Value, Problem>, Vec<Problem>)>,
    wrong: usize,
}

impl Remembered {
    /// What was found of a value before, or `find` finds now; it is told whether to seek what a wrong one means.
    pub(super) fn or_find(
        &self,
        text: &str,
        reading: &mut CellReading,
        find: impl FnOnce(bool, &mut CellReading) -> Result<Value, Problem>,
    ) -> Result<Value, Problem> {
        let mut known = self.0.borrow_mut();
        if let Some((result, problems)) = known.found.get(text) {
            reading.add_all(problems.iter().cloned());
            return result.clone();
        }
        let before = reading.problems().len();
        let result = find(known.wrong < SOUGHT, reading);
        let problems = reading.problems()[before..].to_vec();
        known.wrong += usize::from(result.is_err() || !problems.is_empty());
        if known.found.len() < KEPT {
            known.found.insert(text.to_owned(), (result.clone(), problems));
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::code::Code;

    #[test]
    fn a_value_is_looked_into_once_and_after_many_wrong_ones_no_meaning_is_sought() {
        let remembered = Remembered::default();
        let mut sought = Vec::new();
        let values = (0..SOUGHT + 3).map(|number| format!("zone {number}"));
        for text in values.flat_map(|text| [text.clone(), text]) {
            let mut reading = CellReading::default();
            let found = remembered.or_find(&text, &mut reading, |seeks, reading| {
                sought.push(seeks);
                reading.add(Problem::new(Code::CellTimezone, text.clone()));
                Ok(Value::Text((&*text).into()))
            });
            assert_eq!(found, Ok(Value::Text((&*text).into())));
            assert_eq!(reading.problems(), [Problem::new(Code::CellTimezone, text)]);
        }
        assert_eq!(sought.len(), SOUGHT + 3);
        assert_eq!(sought.iter().filter(|seeks| **seeks).count(), SOUGHT);
    }
}

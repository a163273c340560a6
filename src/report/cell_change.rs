//! Suggests values for a column to blame: those of other rows of the sheet that the service accepted.
//!
//! Only columns whose values are chosen from a set are looked at: in others the values of other rows mean nothing. Each such
//! column is read once, when the first row blames it.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use crate::advice::Advice;
use crate::error::Result;
use crate::journal::{Journal, RowView, SheetId};
use crate::model::amount::counted;
use crate::model::reason::Reason;
use crate::report::page_assets::{cut_short, shown};

use super::layout::{Blame, Layout};

/// Values read of a column, the most frequent first.
const VALUES: usize = 1_000;
/// Values told.
const TOLD: usize = 2;
/// Letters of a value that are reported.
const LETTERS: usize = 60;
/// How like a value must be to be told as a near one, from 0 to 1.
const NEAR: f64 = 0.6;

/// What to change in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CellChange {
    /// The cell, as a spreadsheet program shows it in the original.
    pub(super) cell: String,
    /// Its header.
    column: String,
    /// What it says; empty where it is blank.
    value: String,
    /// What accepted rows say there instead; empty where that is not known.
    others: String,
    /// Whether the value may be right, so that the row is to be removed instead: another record has it.
    may_be_right: bool,
}

impl CellChange {
    /// The whole advice about a row: what to change, and what to do then. Where the value may be right, that comes first.
    pub(super) fn around(&self, advice: &Advice) -> String {
        let words = self.words(&self.place());
        match self.may_be_right {
            true => format!("{advice}. {words}"),
            false => format!("{words}. {advice}"),
        }
    }

    /// The same where the cell has another address.
    pub(super) fn moved(&self, cell: String) -> Self {
        Self { cell, ..self.clone() }
    }

    /// What to change and nothing else; `None` where it is not certain that something is to be changed.
    pub(super) fn alone(&self) -> Option<String> {
        (!self.may_be_right).then(|| self.words(&self.place()))
    }

    fn place(&self) -> String {
        format!("cell {} ({})", self.cell, self.column)
    }

    /// What to change in one row of several; the cell is named beside it.
    pub(super) fn in_this_row(&self) -> String {
        self.words(&format!("the cell in column '{}'", self.column))
    }

    /// Whether the same is to be changed in another row.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Self { cell: String::new(), ..self.clone() } == Self { cell: String::new(), ..other.clone() }
    }

    fn words(&self, place: &str) -> String {
        match (self.may_be_right, self.value.as_str()) {
            (true, value) => format!("The value is in {place}, which says '{value}'"),
            (false, "") => format!("Fill in {place}"),
            (false, value) => format!("Change {place}, which says '{value}'{}", self.others),
        }
    }
}

/// Answers kept of a column: most rows with a wrong value have the same one as others.
const KEPT: usize = 1_000;

/// The values of a column that were accepted, each with how many rows have it, and what was told of others.
#[derive(Debug, Default)]
struct Values {
    accepted: Vec<(String, u64)>,
    told: HashMap<String, String>,
}

/// The values of other rows, read where they are needed.
#[derive(Debug)]
pub(super) struct Suggestions<'a> {
    journal: &'a Journal,
    known: RefCell<BTreeMap<(SheetId, usize), Values>>,
}

impl<'a> Suggestions<'a> {
    /// Nothing is read yet.
    pub(super) fn of(journal: &'a Journal) -> Self {
        Self { journal, known: RefCell::default() }
    }

    /// What to change in a row that was rejected, where one cell is to blame.
    pub(super) fn change(
        &self,
        layout: &Layout,
        row: &RowView,
        blames: &[Blame],
    ) -> Result<Option<CellChange>> {
        // Its cells are as somebody meant them; one that is blank may be of another row of the request, or may have to stay so.
        if row.code.as_deref() == Some(Reason::ChangedSinceExport.as_str()) {
            return Ok(None);
        }
        let [Blame { positions, .. }] = blames else { return Ok(None) };
        let [position] = positions.as_slice() else { return Ok(None) };
        let value = layout.cells(row).nth(*position).unwrap_or_default().trim().to_owned();
        let others = match layout.original_of_choice(*position).filter(|_| !value.is_empty()) {
            Some(original) => self.told(layout.sheet, original, &value)?,
            None => String::new(),
        };
        Ok(Some(CellChange {
            cell: layout.address(*position, row.number),
            column: shown(layout.headers[*position].trim()),
            value: cut_short(&value, LETTERS),
            others,
            may_be_right: row.code.as_deref() == Some("duplicateEntity"),
        }))
    }

    /// What accepted rows say in a column instead of a value.
    fn told(&self, sheet: SheetId, original: usize, value: &str) -> Result<String> {
        let mut known = self.known.borrow_mut();
        let values = match known.entry((sheet, original)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let accepted = self.journal.accepted_values(sheet, original, VALUES)?;
                unknown.insert(Values { accepted, told: HashMap::new() })
            }
        };
        if let Some(told) = values.told.get(value) {
            return Ok(told.clone());
        }
        let told: Vec<String> = nearest(&values.accepted, value)
            .into_iter()
            .map(|(other, rows)| {
                format!("{} '{}'", counted(*rows, "row says", "rows say"), cut_short(other, LETTERS))
            })
            .collect();
        let told = match told.as_slice() {
            [] => String::new(),
            told => format!("; of the rows that were accepted {}", told.join(", ")),
        };
        if values.told.len() < KEPT {
            values.told.insert(value.to_owned(), told.clone());
        }
        Ok(told)
    }
}

/// The values nearest to one, those that are like it first; without any the most frequent.
fn nearest<'v>(values: &'v [(String, u64)], value: &str) -> Vec<&'v (String, u64)> {
    let folded = value.to_lowercase();
    // One that was accepted in another row is not what is wrong with this one by itself.
    let others: Vec<&(String, u64)> = values.iter().filter(|(other, _)| other.trim() != value).collect();
    let likeness =
        |other: &str| strsim::normalized_damerau_levenshtein(&folded, &other.trim().to_lowercase());
    let mut near: Vec<(f64, &(String, u64))> = others
        .iter()
        .map(|other| (likeness(&other.0), *other))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .collect();
    // The sort is stable: of two as near, the more frequent stays first.
    near.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    if near.is_empty() {
        return others.into_iter().take(TOLD).collect();
    }
    near.into_iter().take(TOLD).map(|(_, other)| other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_values_are_told_and_else_the_most_frequent() {
        let values: Vec<(String, u64)> = [("Edge 100", 1_000), ("Branch 20", 7), ("Edge 250", 3)]
            .map(|(value, rows)| (value.to_owned(), rows))
            .to_vec();
        let told = |value: &str| -> Vec<&str> {
            nearest(&values, value).into_iter().map(|(value, _)| value.as_str()).collect()
        };
        assert_eq!(told("Edgy 100"), ["Edge 100", "Edge 250"]);
        assert_eq!(told("branch 20 "), ["Branch 20"]);
        assert_eq!(told("zz"), ["Edge 100", "Branch 20"]);
        assert_eq!(told("Edge 100"), ["Edge 250"], "what it says itself is no advice");
        assert_eq!(nearest(&[], "x"), Vec::<&(String, u64)>::new());
    }
}

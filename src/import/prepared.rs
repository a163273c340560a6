//! What can be made of a row before it is known which job anything is: done on the thread that reads, since the one that
//! writes has the longer way.

use crate::error::Result;
use crate::journal::{self, RowEncoder, StoredRow};
use crate::model::action::Action;
use crate::model::key::comparable;
use crate::sheet::cross_row::Checked;
use crate::sheet::{Row, fold_key};

/// A row on its way from the reader to the journal.
pub(super) struct Prepared {
    /// Its number among all rows of the import.
    pub(super) ordinal: usize,
    /// The row, without what is in `usable`.
    pub(super) row: Row,
    /// What is made of a row that can be imported.
    pub(super) usable: Option<Usable>,
}

/// What is made of a row that can be imported.
pub(super) struct Usable {
    /// What it asks for: of a record its creation first.
    pub(super) steps: Vec<Action>,
    /// The same as the journal keeps it.
    pub(super) written: Vec<String>,
    /// Its cells as JSON; empty in a first import.
    pub(super) cells: String,
    /// The row as the journal keeps it.
    pub(super) stored: StoredRow,
    /// Its own key, folded.
    pub(super) key: Option<String>,
    /// Its name as names are compared.
    pub(super) name: String,
}

/// Prepares a row of an import that was checked; one that can be imported keeps nothing beside what is made of it when
/// the import `is_first`, as nothing that is there can be in its way. `None` when it is not the row that was checked.
pub(super) fn prepare(
    checked: &Checked,
    ordinal: usize,
    mut row: Row,
    is_first: bool,
    encoder: &mut RowEncoder,
) -> Result<Option<Prepared>> {
    if ordinal >= checked.rows() || row.fingerprint() != checked.fingerprint(ordinal) {
        return Ok(None);
    }
    if !checked.is_usable(ordinal) {
        return Ok(Some(Prepared { ordinal, row, usable: None }));
    }
    let usable = match row.draft.take() {
        Some(draft) => {
            let key = draft.key.as_deref().map(fold_key);
            let name = comparable(&draft.name());
            let steps = draft.steps;
            let written: Vec<String> = steps.iter().map(journal::written).collect::<Result<_>>()?;
            let created = written.first().filter(|_| matches!(steps.first(), Some(Action::Create(_))));
            let (stored, mut cells) = encoder.row(&row.cells, created.map(String::as_str))?;
            if is_first {
                (row.cells, row.identity, row.findings, cells) = Default::default();
            }
            Some(Usable { steps, written, cells, stored, key, name })
        }
        None => None,
    };
    Ok(Some(Prepared { ordinal, row, usable }))
}

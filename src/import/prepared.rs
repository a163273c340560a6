//! What can be made of a row before it is known which job anything is: done on a thread of its own, since the one that writes
//! has the longer way.

use super::content_digest::StepsDigest;
use super::kept_rows::{KeptDraft, KeptRow};
use crate::error::{Error, Result};
use crate::journal::{RowEncoder, StoredRow, WrittenStep};
use crate::model::action::Action;
use crate::model::key::{OwnKey, comparable};
use crate::model::kind::Kind;
use crate::sheet::cross_row::Checked;
use crate::sheet::fold_key;

/// A row on its way into the journal.
pub(super) struct Prepared {
    /// Its number among all rows of the import.
    pub(super) ordinal: usize,
    /// The row, without what is in `usable`.
    pub(super) row: KeptRow,
    /// What is made of a row that can be imported.
    pub(super) usable: Option<Usable>,
}

/// What is made of a row that can be imported.
pub(super) struct Usable {
    /// What its job is: one of the kind of its sheet, or of the updates of those.
    pub(super) kind: Kind,
    /// What it asks for: of a record its creation first. In a first import none of a row that creates a record.
    pub(super) steps: Vec<Action>,
    /// The same as the journal keeps it.
    pub(super) written: Vec<WrittenStep>,
    /// A digest of that.
    pub(super) digest: StepsDigest,
    /// Its natural key before its owner is known, where it creates a record.
    pub(super) own_key: Option<OwnKey>,
    /// Its cells as JSON; empty in a first import.
    pub(super) cells: String,
    /// The row as the journal keeps it.
    pub(super) stored: StoredRow,
    /// Its own key, folded.
    pub(super) key: Option<String>,
    /// Its name as names are compared.
    pub(super) name: String,
}

/// Prepares a row of an import that was checked; one that can be imported keeps nothing beside what is made of it when the
/// import `is_first`, as nothing that is there can be in its way.
pub(super) fn prepare(
    (checked, ordinal): (&Checked, usize),
    mut row: KeptRow,
    is_first: bool,
    encoder: &mut RowEncoder,
) -> Result<Prepared> {
    let draft = row.draft.take().filter(|_| checked.is_usable(ordinal));
    let Some(KeptDraft { key, name, kind, own_key, steps: mut written }) = draft else {
        return Ok(Prepared { ordinal, row, usable: None });
    };
    let steps = match is_first && own_key.is_some() {
        // Nobody asks for them.
        true => Vec::new(),
        false => written.iter().map(action).collect::<Result<_>>()?,
    };
    let digest = StepsDigest::of(&written);
    let created = written.first().filter(|_| own_key.is_some()).map(|step| step.action.as_str());
    let (stored, mut cells) = encoder.row(&row.cells, created)?;
    if let (true, Some(first)) = (stored.has_shape(), written.first_mut()) {
        first.action = String::new();
    }
    if is_first {
        (row.cells, row.identity, cells) = Default::default();
    }
    let (key, name) = (key.as_deref().map(fold_key), comparable(&name));
    let usable = Usable { kind, steps, written, digest, own_key, cells, stored, key, name };
    Ok(Prepared { ordinal, row, usable: Some(usable) })
}

/// A step as it was before it was written.
fn action(step: &WrittenStep) -> Result<Action> {
    let again = |error| Error::internal("what a row asks for cannot be read again").because(error);
    serde_json::from_str(&step.action).map_err(again)
}

//! What can be made of a row before it is known which job anything is: done on the thread that reads, since the one that
//! writes has the longer way.

use std::mem;

use super::content_digest::StepsDigest;
use crate::error::Result;
use crate::journal::{self, RowEncoder, StoredRow, WrittenStep};
use crate::model::action::Action;
use crate::model::key::{OwnKey, comparable};
use crate::model::kind::Kind;
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

/// Prepares a row of a sheet of this kind, of an import that was checked; one that can be imported keeps nothing beside what
/// is made of it when the import `is_first`, as nothing that is there can be in its way. `None` when it is not the row that
/// was checked.
pub(super) fn prepare(
    (checked, ordinal): (&Checked, usize),
    mut row: Row,
    kind: Kind,
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
            let mut steps = draft.steps;
            let kind = match (steps.first(), kind.updates()) {
                (Some(Action::Update(_)), Some(updates)) => updates,
                (Some(_) | None, _) => kind,
            };
            let mut written: Vec<WrittenStep> =
                steps.iter().map(|step| journal::written_step(kind, step)).collect::<Result<_>>()?;
            let digest = StepsDigest::of(&written);
            let created = steps.first().and_then(Action::record);
            let own_key = created.map(OwnKey::of);
            let action = written.first().filter(|_| created.is_some()).map(|step| step.action.as_str());
            let (stored, mut cells) = encoder.row(&row.cells, action)?;
            if let (true, Some(first)) = (stored.has_shape(), written.first_mut()) {
                first.action = String::new();
            }
            if is_first {
                (row.cells, row.identity, row.findings, cells) = Default::default();
                if own_key.is_some() {
                    // Memory is given back fastest where it was taken.
                    drop(mem::take(&mut steps));
                }
            }
            Some(Usable { kind, steps, written, digest, own_key, cells, stored, key, name })
        }
        None => None,
    };
    Ok(Some(Prepared { ordinal, row, usable }))
}

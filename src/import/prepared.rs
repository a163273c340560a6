//! What can be made of a row before it is its turn: done on a thread of its own, since the one that writes has the longer way.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::Examined;
use super::content_digest::StepsDigest;
use super::jobs_of_rows::JobsOfRows;
use super::kept_rows::{KeptAction, KeptDraft, KeptRow, KeptStep};
use crate::error::{Error, Result};
use crate::journal::{self, ActionShapes, ImportWriter, NewJob, RowEncoder, SheetId, StoredRow, WrittenStep};
use crate::model::action::Action;
use crate::model::id::JobId;
use crate::model::key::{OwnKey, comparable, upkeep_key};
use crate::model::kind::Kind;
use crate::model::record::{Link, Record, Target};
use crate::sheet::cross_row::{Checked, To};
use crate::sheet::{Table, fold_key, formula_guard};

/// A row on its way into the journal.
pub(super) enum Prepared {
    /// All is known that it refers to: of a row that creates a record in a first import.
    Ready(Ready),
    /// It is not known yet which jobs it refers to.
    Unlinked(Unlinked),
}

impl Prepared {
    /// The row as the journal keeps it, where it can be imported.
    pub(super) fn stored(&self) -> Option<&StoredRow> {
        match self {
            Self::Ready(ready) => Some(&ready.stored),
            Self::Unlinked(unlinked) => unlinked.usable.as_ref().map(|usable| &usable.stored),
        }
    }
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    /// Its table, among those of the import.
    pub(super) table: usize,
    pub(super) sheet: SheetId,
    /// Its number among all rows of the import.
    pub(super) ordinal: usize,
}

/// A row whose references are known.
pub(super) struct Ready {
    pub(super) origin: Origin,
    /// Without its cells and what it is known by in a first import.
    pub(super) row: KeptRow,
    pub(super) values: NewJob,
    /// What it asks for, as the journal keeps it.
    pub(super) written: Vec<WrittenStep>,
    /// The row as the journal keeps it.
    pub(super) stored: StoredRow,
    /// Whether something that it refers to is not imported.
    pub(super) refers_to_left_out: bool,
}

impl Ready {
    /// Its table.
    pub(super) fn table<'e>(&self, examined: &'e Examined) -> &'e Table {
        let (book, table, _) = examined.places[self.origin.table];
        &examined.books[book].tables[table]
    }

    /// Takes what it asks for as it is now: its steps or links were changed.
    pub(super) fn write_again(&mut self) -> Result<()> {
        self.written = journal::written_steps(self.values.kind, &self.values.steps)?;
        self.values.content_hash = StepsDigest::of(&self.written).linked(&self.values.links);
        Ok(())
    }

    /// Makes its job.
    pub(super) fn add_job(&self, writer: &mut ImportWriter<'_>) -> Result<JobId> {
        let place = (self.origin.sheet, self.row.number);
        writer.add_written_job(&self.values, &self.written, &self.stored, place)
    }

    /// The record that it creates.
    pub(super) fn record(&self) -> Result<&Record> {
        self.values.record().ok_or_else(|| Error::internal("a row that creates no record"))
    }

    /// Its own key, as its cell has it where that is kept.
    pub(super) fn key_as_written(&self) -> Option<&str> {
        self.row.identity.key.as_deref().or(self.values.sheet_key.as_deref())
    }

    /// Its MAC address or username.
    pub(super) fn unique(&self) -> Result<String> {
        Ok(match self.record()? {
            Record::Device(device) => device.identification.as_deref().unwrap_or_default().to_owned(),
            record => record.name().to_owned(),
        })
    }

    /// Where it says that it comes from.
    pub(super) fn source(&self, examined: &Examined) -> Option<String> {
        formula_guard::source(&self.table(examined).headers, &self.row.cells).map(str::to_owned)
    }
}

/// A row of which it is not known yet which jobs it refers to.
pub(super) struct Unlinked {
    pub(super) origin: Origin,
    /// Without its cells and what it is known by, where it can be imported in a first import.
    pub(super) row: KeptRow,
    /// What is made of it, where it can be imported.
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
    own_key: Option<OwnKey>,
    /// The row as the journal keeps it.
    stored: StoredRow,
    /// Its own key, folded.
    key: Option<String>,
    /// Its name as names are compared.
    name: String,
}

impl Usable {
    /// The row with what it refers to.
    pub(super) fn linked(
        self,
        (origin, row): (Origin, KeptRow),
        links: Vec<Link>,
        refers_to_left_out: bool,
    ) -> Result<Ready> {
        let Self { kind, steps, written, digest, own_key, stored, key, name } = self;
        let natural_key = match (own_key, steps.first()) {
            (Some(own), _) => own.under(&links),
            (None, Some(action)) => upkeep_key(kind, action, &links),
            (None, None) => return Err(Error::internal("a row that asks for nothing")),
        };
        let content_hash = digest.linked(&links);
        let values = NewJob { kind, sheet_key: key, name, natural_key, content_hash, links, steps };
        Ok(Ready { origin, row, values, written, stored, refers_to_left_out })
    }
}

/// Prepares a row of an import that was checked; one that can be imported keeps nothing beside what is made of it when the
/// import `is_first`, as nothing that is there can be in its way.
pub(super) fn prepare(
    (checked, origin): (&Checked, Origin),
    (mut row, draft): (KeptRow, Option<KeptDraft>),
    is_first: bool,
    jobs: &JobsOfRows,
    (encoder, shapes): (&mut RowEncoder, &ActionShapes),
) -> Result<Prepared> {
    if !checked.is_usable(origin.ordinal) {
        return Ok(Prepared::Unlinked(Unlinked { origin, row, usable: None }));
    }
    let Some(KeptDraft { key, name, kind, own_key, digest, steps: kept }) = draft else {
        return Err(Error::internal(format!("row {} lost what it asks for", row.number)));
    };
    let creates = own_key.is_some();
    // Nobody asks for the steps of a record that a first import creates.
    let are_asked_for = !is_first || !creates;
    let (mut steps, mut written, mut packed) = (Vec::new(), Vec::with_capacity(kept.len()), None);
    for KeptStep { operation, action } in kept {
        if are_asked_for {
            steps.push(asked(&action, &row.cells, shapes)?);
        }
        let action = match action {
            KeptAction::Whole(action) => action,
            KeptAction::Packed(action) => {
                packed = Some((action, shapes));
                String::new()
            }
        };
        written.push(WrittenStep { operation, action });
    }
    let stored = encoder.row(&row.cells, packed)?;
    if is_first {
        (row.cells, row.identity) = Default::default();
    }
    let (key, name) = (key.as_deref().map(fold_key), comparable(&name));
    let usable = Usable { kind, steps, written, digest, own_key, stored, key, name };
    let links = if is_first && creates { links_of_first(checked, origin.ordinal, jobs) } else { None };
    Ok(match links {
        Some(links) => Prepared::Ready(usable.linked((origin, row), links, false)?),
        None => Prepared::Unlinked(Unlinked { origin, row, usable: Some(usable) }),
    })
}

/// What a row of a first import refers to, if all of that is placed: as most is, in sheets above its own. No job has a record
/// yet that a cell could name by its id.
fn links_of_first(checked: &Checked, ordinal: usize, jobs: &JobsOfRows) -> Option<Vec<Link>> {
    let target = |to| match to {
        To::Row(row) => jobs.of(row).map(Target::Job),
        To::Job(job) => Some(Target::Job(job)),
        To::Remote(id) => Some(Target::Remote(id)),
    };
    checked.links(ordinal).into_iter().map(|(role, to)| Some(Link { role, target: target(to)? })).collect()
}

/// An action as it was before it was kept.
pub(super) fn asked(action: &KeptAction, cells: &[SmolStr], shapes: &ActionShapes) -> Result<Action> {
    let written = match action {
        KeptAction::Whole(written) => Some(Cow::from(written)),
        KeptAction::Packed(action) => shapes.unpack(action, cells).map(Cow::from),
    };
    serde_json::from_str(&written.ok_or_else(damaged)?).map_err(|error| damaged().because(error))
}

fn damaged() -> Error {
    Error::internal("what a row asks for cannot be read again")
}

//! The records that exist of the rows of a sheet, and those that its upkeep rows are about: by their ids, MAC addresses and
//! usernames, by their keys where the journal knows them, else by their names.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::access::ServiceAccess;
use crate::advice::{Advice, quoted};
use crate::error::{Error, Result};
use crate::export::{NamedRecord, Owner, OwnerKind, as_id};
use crate::journal::{Journal, KnownJob};
use crate::model::id::RemoteId;
use crate::model::key::{Likeness, comparable, likeness, mac_digits};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::service::{Call, Found, ReadError, ServiceReader, found};
use crate::sheet::{Book, Options, Pointer, Reference, Row, Table, fold, fold_key, open};

/// What names the record of a row.
enum NamedBy {
    Id(RemoteId),
    /// An answer has the record.
    Answer(Call),
    /// Of the records in an answer it is the only one with this name.
    Name(Call, String),
    /// Nothing does; why.
    Nothing(String),
}

/// A record that a row is or refers to, by the place of the row, and what names it.
struct Named {
    place: String,
    kind: OwnerKind,
    named_by: NamedBy,
}

/// The records of the rows of a file, in its order, and after them those that its upkeep rows are about. A row whose record
/// is not found has one that says so. Keys are those of the file and of the journal.
///
/// # Errors
///
/// `Sheets` when the file cannot be read or names no record of the kinds that are `wanted`, and whatever keeps the service
/// from answering.
pub(super) async fn records_of_sheet(
    access: &ServiceAccess,
    reader: &ServiceReader,
    (file, wanted): (&Path, &[OwnerKind]),
    journal: Option<&Journal>,
) -> Result<Vec<NamedRecord>> {
    let mut named = records_named(file, journal)?;
    named.retain(|named| wanted.contains(&named.kind));
    if named.is_empty() {
        let kinds = wanted.iter().filter_map(|kind| record_kind(*kind));
        let wanted: Vec<&str> = kinds.map(Kind::singular).collect();
        let none = format!("{}: no row names a {}", file.display(), wanted.join(" or a "));
        return Err(Error::sheets(none).hint("name a sheet of such records, or an upkeep sheet about them"));
    }
    let calls: Vec<Call> = named.iter().filter_map(|named| named.named_by.call()).cloned().collect();
    let (mut records, mut seen) = (Vec::new(), HashSet::new());
    let mut take = |Named { place, kind, .. }: Named, id| match id {
        Ok(id) if seen.insert((kind, id)) => records.push(NamedRecord::Known(kind, id)),
        Ok(_) => {}
        Err(why) => {
            let name = Some(place);
            let owner = Owner { name, ..Owner::new(kind, RemoteId::nil()) }.troubled(why);
            records.push(NamedRecord::Unknown(Box::new(owner)));
        }
    };
    let mut named = named.into_iter();
    let mut take_answer = |answer| {
        for one in named.by_ref() {
            if let Some(id) = one.named_by.without_answer() {
                take(one, id);
            } else {
                let id = one.named_by.of_answer(answer);
                take(one, id);
                break;
            }
        }
        Ok::<(), ReadError>(())
    };
    reader.read_each(calls, &mut take_answer).await.map_err(|error| access.failed(&error))?;
    for one in named {
        if let Some(id) = one.named_by.without_answer() {
            take(one, id);
        }
    }
    Ok(records)
}

impl NamedBy {
    /// What is asked.
    fn call(&self) -> Option<&Call> {
        match self {
            Self::Answer(call) | Self::Name(call, _) => Some(call),
            Self::Id(_) | Self::Nothing(_) => None,
        }
    }

    /// What is known without asking.
    fn without_answer(&self) -> Option<std::result::Result<RemoteId, String>> {
        match self {
            Self::Id(id) => Some(Ok(*id)),
            Self::Nothing(why) => Some(Err(why.clone())),
            Self::Answer(_) | Self::Name(..) => None,
        }
    }

    /// What is known by the answer.
    fn of_answer(
        &self,
        answer: std::result::Result<Value, ReadError>,
    ) -> std::result::Result<RemoteId, String> {
        match self {
            Self::Answer(call) => only(call.operation, None, answer),
            Self::Name(call, name) => only(call.operation, Some(name), answer),
            Self::Id(id) => Ok(*id),
            Self::Nothing(why) => Err(why.clone()),
        }
    }
}

/// The only record of an answer; with a name, the only one of that name.
fn only(
    operation: Operation,
    name: Option<&str>,
    answer: std::result::Result<Value, ReadError>,
) -> std::result::Result<RemoteId, String> {
    let body = answer.map_err(|error| error.to_string())?;
    let is_meant = |record: &Found| {
        name.is_none_or(|name| {
            record.name.as_deref().is_some_and(|known| likeness(known, name) == Likeness::Equal)
        })
    };
    let records = found(operation, &body)?;
    let ids: Vec<RemoteId> = records.into_iter().filter(is_meant).filter_map(|record| record.id).collect();
    match ids.as_slice() {
        [id] => Ok(*id),
        [] => Err(format!("{operation} shows no such record")),
        [..] => Err(format!("{operation} shows {} records of this name", ids.len())),
    }
}

/// What the rows of a file are and refer to.
fn records_named(file: &Path, journal: Option<&Journal>) -> Result<Vec<Named>> {
    let book = open(file, &Options::default()).map_err(|findings| {
        let why = findings.into_iter().next().map(|finding| finding.message).unwrap_or_default();
        let check = format!("fleetload check {}", quoted(&file.to_string_lossy()));
        let hint = Advice::from("to see every problem, type: ").command(check);
        Error::sheets(format!("{}: {why}", file.display())).hint(hint)
    })?;
    let mut sheets = Sheets { journal, own: HashSet::new(), named: Vec::new() };
    let (records, upkeep): (Vec<&Table>, Vec<&Table>) =
        book.tables.iter().partition(|table| table.kind.is_record());
    for table in records {
        sheets.take_records(&book, table)?;
    }
    for table in upkeep {
        sheets.take_references(&book, table)?;
    }
    Ok(sheets.named)
}

/// What the sheets of a file name.
struct Sheets<'a> {
    journal: Option<&'a Journal>,
    /// Folded keys and comparable names of the rows that are records: what refers to one of them names nothing new.
    own: HashSet<(OwnerKind, Pointer)>,
    named: Vec<Named>,
}

impl Sheets<'_> {
    /// Takes in the rows of a sheet of records.
    fn take_records(&mut self, book: &Book, table: &Table) -> Result<()> {
        let columns = Columns::of(table);
        let Some(kind) = owner_kind(table.kind) else { return Ok(()) };
        book.read(table, &mut |row| {
            let (key, name) = (columns.cell(&row, columns.key), columns.cell(&row, columns.name));
            let pointers = [
                key.map(|key| Pointer::Key(fold_key(key))),
                name.map(|name| Pointer::Name(comparable(name))),
            ];
            self.own.extend(pointers.into_iter().flatten().map(|pointer| (kind, pointer)));
            let named_by = self.record(kind, &columns, &row)?;
            self.named.push(Named { place: place(table, &row), kind, named_by });
            Ok(())
        })?;
        Ok(())
    }

    /// Takes in what the rows of an upkeep sheet are about. The records of the file itself are there already.
    fn take_references(&mut self, book: &Book, table: &Table) -> Result<()> {
        let mut seen = HashSet::new();
        book.read(table, &mut |mut row| {
            let drafted = row.draft.take().map(|draft| draft.references);
            let references = drafted.unwrap_or_else(|| std::mem::take(&mut row.identity.references));
            for Reference { role, pointer } in references {
                let Some(kind) = owner_kind(role.target()) else { continue };
                if !self.is_own(kind, &pointer) && seen.insert((kind, pointer.clone())) {
                    let named_by = self.referred(kind, &pointer)?;
                    self.named.push(Named { place: place(table, &row), kind, named_by });
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn is_own(&self, kind: OwnerKind, pointer: &Pointer) -> bool {
        let has = |pointer: Pointer| self.own.contains(&(kind, pointer));
        let (key, name) =
            (|text: &str| Pointer::Key(fold_key(text)), |text: &str| Pointer::Name(comparable(text)));
        match pointer {
            Pointer::Id(_) => false,
            Pointer::Key(text) => has(key(text)),
            Pointer::Name(text) => has(name(text)),
            Pointer::Any(text) => has(key(text)) || has(name(text)),
        }
    }

    /// What names the record of a row.
    fn record(&self, kind: OwnerKind, columns: &Columns, row: &Row) -> Result<NamedBy> {
        if let Some(id) = columns.cell(row, columns.id).and_then(as_id) {
            return Ok(NamedBy::Id(id));
        }
        if let Some((operation, unique)) = columns.unique
            && let Some(unique) = columns.cell(row, Some(unique))
        {
            return Ok(NamedBy::Answer(Call::reading(operation, [unique.to_owned()])));
        }
        if let Some(key) = columns.cell(row, columns.key)
            && let Some(known) = self.known(kind, &Pointer::Key(key.to_owned()))?
        {
            return Ok(known);
        }
        let company = columns.cell(row, columns.company).and_then(as_id);
        let by_name = columns.cell(row, columns.name).and_then(|name| search(kind, name, company));
        Ok(by_name.unwrap_or_else(|| NamedBy::Nothing("no id, MAC address, username or name".to_owned())))
    }

    /// What names the record that a cell refers to.
    fn referred(&self, kind: OwnerKind, pointer: &Pointer) -> Result<NamedBy> {
        let (key, name) = match pointer {
            Pointer::Id(id) => return Ok(NamedBy::Id(*id)),
            Pointer::Key(key) => (Some(key), None),
            Pointer::Name(name) => (None, Some(name)),
            Pointer::Any(text) => (Some(text), Some(text)),
        };
        if let Some(known) = self.known(kind, pointer)? {
            return Ok(known);
        }
        let mac = name.filter(|name| kind == OwnerKind::Device && mac_digits(name).is_some());
        if let Some(mac) = mac {
            return Ok(NamedBy::Answer(Call::reading(Operation::GetDeviceByMac, [mac.clone()])));
        }
        let text = key.or(name).map(String::as_str).unwrap_or_default();
        let nowhere = || {
            let kind = kind.word();
            NamedBy::Nothing(format!("no {kind} of this file or of the journal has the key '{text}'"))
        };
        Ok(name.and_then(|name| search(kind, name, None)).unwrap_or_else(nowhere))
    }

    /// The record of an earlier import that has a key or a name; `None` where the journal has none that exists.
    fn known(&self, kind: OwnerKind, pointer: &Pointer) -> Result<Option<NamedBy>> {
        let (Some(journal), Some(of)) = (self.journal, record_kind(kind)) else { return Ok(None) };
        let existing = |jobs: Vec<KnownJob>| {
            let mut ids: Vec<RemoteId> = jobs.into_iter().filter_map(|job| job.remote_id).collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let by_key = |text: &str| journal.by_any_key(of, &fold_key(text)).map(existing);
        let by_name = |text: &str| journal.by_name(of, &comparable(text)).map(existing);
        let ids = match pointer {
            Pointer::Id(id) => vec![*id],
            Pointer::Key(text) => by_key(text)?,
            Pointer::Name(text) => by_name(text)?,
            Pointer::Any(text) => match by_key(text)? {
                none if none.is_empty() => by_name(text)?,
                ids => ids,
            },
        };
        Ok(match ids.as_slice() {
            [] => None,
            [id] => Some(NamedBy::Id(*id)),
            [..] => {
                let many = ids.len();
                Some(NamedBy::Nothing(format!(
                    "{many} records of the journal have this key or name: give the id of one"
                )))
            }
        })
    }
}

fn place(table: &Table, row: &Row) -> String {
    format!("{} row {}", table.name, row.number)
}

/// What an export asks about for the records of a kind.
const fn owner_kind(kind: Kind) -> Option<OwnerKind> {
    match kind {
        Kind::Company => Some(OwnerKind::Company),
        Kind::Site => Some(OwnerKind::Site),
        Kind::Person => Some(OwnerKind::Person),
        Kind::Device => Some(OwnerKind::Device),
        Kind::Upkeep(_) => None,
    }
}

/// The kind of record that an export asks about.
const fn record_kind(kind: OwnerKind) -> Option<Kind> {
    match kind {
        OwnerKind::Company => Some(Kind::Company),
        OwnerKind::Site => Some(Kind::Site),
        OwnerKind::Person => Some(Kind::Person),
        OwnerKind::Device => Some(Kind::Device),
        OwnerKind::Account | OwnerKind::CompanyTree => None,
    }
}

/// The search for a record by its name; the service has none for people.
fn search(kind: OwnerKind, name: &str, company: Option<RemoteId>) -> Option<NamedBy> {
    let operation = match kind {
        OwnerKind::Company => Operation::FindCompaniesByName,
        OwnerKind::Site => Operation::FindSitesByName,
        OwnerKind::Device => Operation::FindDevicesByName,
        OwnerKind::Person | OwnerKind::Account | OwnerKind::CompanyTree => return None,
    };
    let values = [name.to_owned()].into_iter().chain(company.map(|id| id.to_string()));
    Some(NamedBy::Name(Call::reading(operation, values), name.to_owned()))
}

/// Where a table has what names a record.
struct Columns {
    id: Option<usize>,
    unique: Option<(Operation, usize)>,
    key: Option<usize>,
    name: Option<usize>,
    company: Option<usize>,
}

impl Columns {
    fn of(table: &Table) -> Self {
        let unique = match table.kind {
            Kind::Device => Some((Operation::GetDeviceByMac, "mac")),
            Kind::Person => Some((Operation::GetPersonByUsername, "username")),
            Kind::Company | Kind::Site | Kind::Upkeep(_) => None,
        };
        Self {
            id: table.headers.iter().position(|header| fold(header) == "id"),
            unique: unique.and_then(|(operation, column)| Some((operation, table.position(column)?))),
            key: table.position("key"),
            name: table.position("name"),
            company: table.position("company"),
        }
    }

    /// What a row has in a column.
    fn cell<'r>(&self, row: &'r Row, column: Option<usize>) -> Option<&'r str> {
        column.and_then(|place| row.cells.get(place)).map(|cell| cell.trim()).filter(|cell| !cell.is_empty())
    }
}

//! The records that exist of the rows of a sheet: by their ids, MAC addresses and usernames, else by their names.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::access::ServiceAccess;
use crate::advice::{Advice, quoted};
use crate::error::{Error, Result};
use crate::export::{Owner, OwnerKind, as_id};
use crate::model::id::RemoteId;
use crate::model::key::{Likeness, likeness};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::service::{Call, Found, ReadError, ServiceReader, found};
use crate::sheet::{Options, Row, Table, fold, open};

/// What names the record of a row.
enum NamedBy {
    Id(RemoteId),
    /// An answer has the record.
    Answer(Call),
    /// Of the records in an answer it is the only one with this name.
    Name(Call, String),
    Nothing,
}

/// A row, by its place, and what names its record.
struct SheetRow {
    place: String,
    kind: OwnerKind,
    named_by: NamedBy,
}

/// The records of the rows of a file, in its order. A row whose record is not found has one that says so.
///
/// # Errors
///
/// `Sheets` when the file cannot be read, and whatever keeps the service from answering.
pub(super) async fn records_of_sheet(
    access: &ServiceAccess,
    reader: &ServiceReader,
    file: &Path,
) -> Result<Vec<Owner>> {
    let rows = rows_of(file)?;
    let calls = rows.iter().filter_map(|row| match &row.named_by {
        NamedBy::Answer(call) | NamedBy::Name(call, _) => Some(call.clone()),
        NamedBy::Id(_) | NamedBy::Nothing => None,
    });
    let answers = reader.read_all(calls.collect()).await.map_err(|error| access.failed(&error))?;
    let mut answers = answers.into_iter();
    let mut records = Vec::new();
    let mut seen = HashSet::new();
    for SheetRow { place, kind, named_by } in rows {
        let id = match named_by {
            NamedBy::Id(id) => Ok(id),
            NamedBy::Answer(call) => only(&call, None, answers.next()),
            NamedBy::Name(call, name) => only(&call, Some(&name), answers.next()),
            NamedBy::Nothing => Err("no id, MAC address, username or name".to_owned()),
        };
        match id {
            Ok(id) if seen.insert(id) => records.push(Owner::new(kind, id)),
            Ok(_) => {}
            Err(why) => {
                let name = Some(place);
                records.push(Owner { name, ..Owner::new(kind, RemoteId::nil()) }.troubled(why));
            }
        }
    }
    Ok(records)
}

/// The only record of an answer; with a name, the only one of that name.
fn only(
    call: &Call,
    name: Option<&str>,
    answer: Option<std::result::Result<Value, ReadError>>,
) -> std::result::Result<RemoteId, String> {
    let operation = call.operation;
    let body = match answer {
        Some(Ok(body)) => body,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err(format!("{operation} was not asked")),
    };
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

fn rows_of(file: &Path) -> Result<Vec<SheetRow>> {
    let book = open(file, &Options::default()).map_err(|findings| {
        let why = findings.into_iter().next().map(|finding| finding.message).unwrap_or_default();
        let check = format!("fleetload check {}", quoted(&file.to_string_lossy()));
        let hint = Advice::from("to see every problem, type: ").command(check);
        Error::sheets(format!("{}: {why}", file.display())).hint(hint)
    })?;
    let mut rows = Vec::new();
    // A row of an upkeep sheet is no record.
    for table in book.tables.iter().filter(|table| table.kind.is_record()) {
        let columns = Columns::of(table);
        book.read(table, &mut |row| {
            rows.push(columns.row(table, &row));
            Ok(())
        })?;
    }
    if rows.is_empty() {
        return Err(Error::sheets(format!("{}: no row names a record", file.display()))
            .hint("name a sheet of companies, people, sites or devices"));
    }
    Ok(rows)
}

/// Where a table has what names a record.
struct Columns {
    id: Option<usize>,
    unique: Option<(Operation, usize)>,
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
            name: table.position("name"),
            company: table.position("company"),
        }
    }

    fn row(&self, table: &Table, row: &Row) -> SheetRow {
        let cell = |place: Option<usize>| {
            place
                .and_then(|place| row.cells.get(place))
                .map(|cell| cell.trim())
                .filter(|cell| !cell.is_empty())
        };
        let (kind, search) = match table.kind {
            Kind::Company => (OwnerKind::Company, Some(Operation::FindCompaniesByName)),
            Kind::Site => (OwnerKind::Site, Some(Operation::FindSitesByName)),
            Kind::Device => (OwnerKind::Device, Some(Operation::FindDevicesByName)),
            Kind::Person => (OwnerKind::Person, None),
            Kind::Upkeep(_) => (OwnerKind::Device, None),
        };
        let unique = || {
            let (operation, place) = self.unique?;
            Some(NamedBy::Answer(Call::reading(operation, [cell(Some(place))?.to_owned()])))
        };
        let name = || {
            let (operation, name) = (search?, cell(self.name)?);
            let company = cell(self.company).and_then(as_id).map(|id| id.to_string());
            let values = [name.to_owned()].into_iter().chain(company);
            Some(NamedBy::Name(Call::reading(operation, values), name.to_owned()))
        };
        let id = cell(self.id).and_then(as_id).map(NamedBy::Id);
        let named_by = id.or_else(unique).or_else(name).unwrap_or(NamedBy::Nothing);
        SheetRow { place: format!("{} row {}", table.name, row.number), kind, named_by }
    }
}

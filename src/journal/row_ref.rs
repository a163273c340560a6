//! Places of rows: the number under which a row of a sheet is kept, and how its place is written for people; and the records
//! that an upkeep row is about.

use rusqlite::{Connection, OptionalExtension};

use crate::error::Result;
use crate::journal::SheetId;
use crate::journal::file::column::Id;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::record::Role;

/// The sheet that named a job last, in SQL; 0 where it has no row.
macro_rules! last_sheet_of_job {
    () => {
        "coalesce((SELECT max(place) >> 32 FROM sheet_row WHERE sheet_row.job = job.id), 0)"
    };
}
pub(in crate::journal) use last_sheet_of_job;

/// The import that named a job last, in SQL; the job's own word where it has no row.
macro_rules! last_import_of_job {
    () => {
        "coalesce((SELECT sheet.import FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
            WHERE sheet_row.job = job.id ORDER BY sheet_row.place DESC LIMIT 1), last_import)"
    };
}
pub(in crate::journal) use last_import_of_job;

/// The import that named a job last.
pub(in crate::journal) fn last_import_of(connection: &Connection, job: JobId) -> Result<ImportId> {
    Ok(connection
        .prepare_cached(concat!("SELECT ", last_import_of_job!(), " FROM job WHERE id = ?1"))?
        .query_row([job], |row| row.get(0))?)
}

/// Numbers of rows within a sheet take the lower 32 bits.
const ROW_BITS: u32 = 32;

/// The number under which a row is kept.
pub(in crate::journal) fn key(sheet: SheetId, number: u32) -> i64 {
    (sheet.0 << ROW_BITS) | i64::from(number)
}

/// The first and the last number that a row of the sheet can have.
pub(in crate::journal) fn range(sheet: SheetId) -> (i64, i64) {
    (key(sheet, 0), key(sheet, u32::MAX))
}

/// The first and the last number that a row of an import can have. Its sheets are made in one transaction, so that their
/// numbers follow each other.
pub(in crate::journal) fn range_of(connection: &Connection, import: ImportId) -> Result<(i64, i64)> {
    let sheets: (Option<SheetId>, Option<SheetId>) = connection
        .prepare_cached("SELECT min(id), max(id) FROM sheet WHERE import = ?1")?
        .query_row([import], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match sheets {
        (Some(first), Some(last)) => (key(first, 0), key(last, u32::MAX)),
        // Nothing lies between one and zero.
        _ => (1, 0),
    })
}

/// The same of one import, or of all.
pub(in crate::journal) fn range_of_any(
    connection: &Connection,
    import: Option<ImportId>,
) -> Result<(i64, i64)> {
    import.map_or(Ok((0, i64::MAX)), |import| range_of(connection, import))
}

/// The sheet of a row.
pub(in crate::journal) fn sheet_of(key: i64) -> SheetId {
    SheetId(key >> ROW_BITS)
}

/// The number of a row within its sheet.
pub(in crate::journal) fn number_of(key: i64) -> u32 {
    // The mask leaves exactly 32 bits.
    u32::try_from(key & i64::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// `file!sheet!row` of a row.
pub(in crate::journal) fn written(connection: &Connection, key: i64) -> Result<String> {
    let (file, name): (String, String) = connection
        .prepare_cached("SELECT file, name FROM sheet WHERE id = ?1")?
        .query_row([sheet_of(key)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(format!("{file}!{name}!{}", number_of(key)))
}

/// `file!sheet!row` of the row that named a job last; a job without a row is called by its number.
pub(in crate::journal) fn of_job(connection: &Connection, job: JobId) -> Result<String> {
    let key: Option<i64> = connection
        .prepare_cached("SELECT place FROM sheet_row WHERE job = ?1 ORDER BY place DESC LIMIT 1")?
        .query_row([job], |row| row.get(0))
        .optional()?;
    match key {
        Some(key) => written(connection, key),
        None => Ok(format!("job {job}")),
    }
}

/// The records that an upkeep row is about, by their names or, where no row has them, their ids; none for other rows.
pub(in crate::journal) fn about(
    connection: &Connection,
    job: JobId,
    kind: Kind,
) -> Result<Vec<(Role, String)>> {
    if kind.is_record() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT link.role, parent.name, coalesce(link.target_id, parent.remote_id)
         FROM link LEFT JOIN job AS parent ON parent.id = link.target_job WHERE link.job = ?1 ORDER BY link.role",
    )?;
    let links = statement.query_map([job], |row| {
        let (name, id): (Option<String>, Option<Id>) = (row.get(1)?, row.get(2)?);
        Ok((row.get(0)?, name.or(id.map(|id| id.0.to_string())).unwrap_or_default()))
    })?;
    Ok(links.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_sheet_lie_together_and_in_order() {
        let keys = [key(SheetId(1), 2), key(SheetId(1), u32::MAX), key(SheetId(2), 0), key(SheetId(2), 1)];
        assert!(keys.is_sorted());
        for (sheet, number) in [(1, 2), (7, u32::MAX), (i64::from(i32::MAX), 1)] {
            let key = key(SheetId(sheet), number);
            assert_eq!((sheet_of(key), number_of(key)), (SheetId(sheet), number));
        }
    }
}

//! What can still be read of a damaged journal: copied, row by row, into a sound one that reports are written from.
//!
//! The damaged file is not touched: a copy of it is read. Around a page that cannot be read a table is entered from
//! both ends and from the middle, so that only the rows on such pages are lost. Nothing is ever sent from what this
//! gives: it lies in a folder that goes away.

use std::fs;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::journal::file::file_watch::log_of;
use crate::journal::row_ref;
use crate::journal::{Journal, SheetId};

/// Attempts to enter a table from somewhere else before the rest of it is given up.
const ENTRIES: usize = 20_000;

/// What could be read.
#[derive(Debug)]
pub struct Salvaged {
    /// A sound journal with it, for looking at only.
    pub journal: Journal,
    /// Sheets with rows that cannot be shown.
    pub lost: Vec<Lost>,
    /// Parts of the journal that could not be read in full, by their name in it.
    pub parts: Vec<String>,
    _folder: TempDir,
}

/// Rows of a sheet that cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The sheet's import.
    pub import: crate::model::id::ImportId,
    /// The sheet.
    pub sheet: String,
    /// Rows it had.
    pub of: u64,
    /// How many of them cannot be shown.
    pub rows: u64,
    /// The numbers of those whose number could be read.
    pub numbers: Vec<u32>,
}

/// Whether an error says that a journal is damaged, so that [`Salvaged::of`] may show more.
pub fn is_damage(error: &Error) -> bool {
    let mut below: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(cause) = below {
        if let Some(failure) = cause.downcast_ref::<rusqlite::Error>() {
            return is_corrupt(failure);
        }
        below = cause.source();
    }
    false
}

fn is_corrupt(failure: &rusqlite::Error) -> bool {
    matches!(failure.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

impl Salvaged {
    /// Reads what can be read of the journal at `path`.
    ///
    /// # Errors
    ///
    /// `Journal` when not even its parts can be told, or the copy cannot be made.
    pub fn of(path: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(|error| uncopied(path, error))?;
        let damaged = folder.path().join("damaged.db");
        fs::copy(path, &damaged).map_err(|error| uncopied(path, error))?;
        if log_of(path).exists() {
            fs::copy(log_of(path), log_of(&damaged)).map_err(|error| uncopied(path, error))?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let source = Connection::open_with_flags(&damaged, flags)?;
        source.pragma_update(None, "trusted_schema", 0)?;
        source.pragma_update(None, "cell_size_check", 1)?;
        let journal = Journal::open(&folder.path().join("readable.db"))?;
        journal.connection.pragma_update(None, "foreign_keys", 0)?;
        let mut parts = Vec::new();
        for (table, by_rowid) in tables(&journal.connection)? {
            if !copy(&source, &journal.connection, &table, by_rowid)? {
                parts.push(table);
            }
        }
        forget_incomplete(&journal.connection)?;
        let lost = lost(&journal)?;
        Ok(Self { journal, lost, parts, _folder: folder })
    }
}

fn uncopied(path: &Path, error: std::io::Error) -> Error {
    Error::journal(format!("the damaged journal {} cannot be copied to look at what it holds", path.display()))
        .because(error)
        .hint("free some space in the folder for temporary files, or copy the journal to another disk and name it with --journal FILE")
}

/// The tables of a journal, and whether their rows are numbered.
fn tables(connection: &Connection) -> Result<Vec<(String, bool)>> {
    Ok(connection
        .prepare("SELECT name, NOT wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'identity' ORDER BY name")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// The columns that both have, as a list.
fn columns(source: &Connection, target: &Connection, table: &str) -> Result<Vec<String>> {
    let of = |connection: &Connection| -> rusqlite::Result<Vec<String>> {
        connection
            .prepare("SELECT name FROM pragma_table_info(?1)")?
            .query_map([table], |row| row.get(0))?
            .collect()
    };
    let there = of(target)?;
    Ok(of(source)?.into_iter().filter(|column| there.contains(column)).collect())
}

/// Copies what can be read of a table; `false` when that is not all.
fn copy(source: &Connection, target: &Connection, table: &str, by_rowid: bool) -> Result<bool> {
    let columns = match columns(source, target, table) {
        Ok(columns) if columns.is_empty() => return Ok(true),
        Ok(columns) => columns,
        Err(error) if is_damage(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    let (names, marks) = (columns.join(", "), vec!["?"; columns.len()].join(", "));
    let insert = format!("INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})");
    target.execute_batch("BEGIN")?;
    let mut sink = Sink { target, insert, whole: true };
    if by_rowid {
        numbered(source, table, &names, &mut sink)?;
    } else {
        for order in ["ASC", "DESC"] {
            let keys = key_of(source, table)?;
            let order: Vec<String> = keys.iter().map(|key| format!("{key} {order}")).collect();
            let sql = format!("SELECT {names} FROM {table} ORDER BY {}", order.join(", "));
            if read(source, &sql, &[], 0, &mut sink)?.complete {
                break;
            }
            sink.whole = false;
        }
    }
    target.execute_batch("COMMIT")?;
    Ok(sink.whole)
}

/// Removes the rows of which a text is lost, and the steps of which a part is.
fn forget_incomplete(target: &Connection) -> Result<()> {
    target.execute_batch(
        "DELETE FROM sheet_row WHERE CASE WHEN json_valid(cells) THEN EXISTS (
             SELECT 1 FROM json_each(sheet_row.cells) AS cell
             WHERE cell.type = 'integer' AND cell.value NOT IN (SELECT id FROM cell_text)) ELSE 1 END;
         DELETE FROM step WHERE shape IS NOT NULL
             AND (shape NOT IN (SELECT id FROM shape) OR place NOT IN (SELECT place FROM sheet_row));",
    )?;
    Ok(())
}

/// The columns of a table's primary key, in its order.
fn key_of(connection: &Connection, table: &str) -> Result<Vec<String>> {
    Ok(connection
        .prepare("SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk")?
        .query_map([table], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Where rows go.
struct Sink<'a> {
    target: &'a Connection,
    insert: String,
    whole: bool,
}

impl Sink<'_> {
    fn take(&mut self, values: &[Value]) -> Result<()> {
        let inserted = self.target.prepare_cached(&self.insert)?.execute(rusqlite::params_from_iter(values));
        match inserted {
            Ok(_) => Ok(()),
            // A value that fleetload never writes: the row is damaged, though its page can be read.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                self.whole = false;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// How far a scan came.
struct Scan {
    complete: bool,
    last: Option<i64>,
}

/// Reads rows until the end or a page that cannot be read; of the values the first `skip` are not handed on, and the
/// first of all is the row's number when any is skipped.
fn read(source: &Connection, sql: &str, bounds: &[i64], skip: usize, sink: &mut Sink<'_>) -> Result<Scan> {
    let mut scan = Scan { complete: false, last: None };
    let mut statement = match source.prepare(sql) {
        Ok(statement) => statement,
        Err(error) if is_corrupt(&error) => return Ok(scan),
        Err(error) => return Err(error.into()),
    };
    let count = statement.column_count();
    let mut rows = statement.query(rusqlite::params_from_iter(bounds))?;
    loop {
        match rows.next() {
            Ok(Some(row)) => {
                let values: rusqlite::Result<Vec<Value>> = (skip..count).map(|at| row.get(at)).collect();
                if skip > 0 {
                    scan.last = Some(row.get(0)?);
                }
                match values {
                    Ok(values) => sink.take(&values)?,
                    Err(_not_text) => sink.whole = false,
                }
            }
            Ok(None) => {
                scan.complete = true;
                return Ok(scan);
            }
            Err(error) if is_corrupt(&error) => return Ok(scan),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Reads a table whose rows are numbered, around the pages that cannot be read.
fn numbered(source: &Connection, table: &str, names: &str, sink: &mut Sink<'_>) -> Result<()> {
    let select = |order: &str| {
        format!(
            "SELECT rowid, {names} FROM {table} NOT INDEXED WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid {order}"
        )
    };
    let (upwards, downwards) = (select("ASC"), select("DESC"));
    let mut open = vec![(0, i64::MAX)];
    let mut entries = 0;
    while let Some((low, high)) = open.pop() {
        entries += 1;
        if entries > ENTRIES {
            sink.whole = false;
            break;
        }
        let up = read(source, &upwards, &[low, high], 1, sink)?;
        if up.complete {
            continue;
        }
        sink.whole = false;
        let low = up.last.map_or(low, |last| last.saturating_add(1));
        if low > high {
            continue;
        }
        let down = read(source, &downwards, &[low, high], 1, sink)?;
        let high = down.last.map_or(high, |last| last - 1);
        if down.complete || low >= high {
            continue;
        }
        let middle = low + (high - low) / 2;
        open.push((low, middle));
        open.push((middle + 1, high));
    }
    Ok(())
}

/// Which sheets have fewer rows that can be shown than they had.
fn lost(journal: &Journal) -> Result<Vec<Lost>> {
    let mut lost = Vec::new();
    for import in journal.imports()? {
        for sheet in journal.sheets(import.import)? {
            let (low, high) = row_ref::range(sheet.sheet);
            let shown: i64 = journal.connection.query_row(
                "SELECT count(*) FROM sheet_row JOIN job ON job.id = sheet_row.job WHERE place BETWEEN ?1 AND ?2",
                (low, high),
                |row| row.get(0),
            )?;
            let rows = sheet.rows.saturating_sub(shown.unsigned_abs());
            if rows > 0 {
                let (import, of, numbers) = (import.import, sheet.rows, orphans(journal, sheet.sheet)?);
                lost.push(Lost { import, sheet: sheet.name, of, rows, numbers });
            }
        }
    }
    Ok(lost)
}

/// The rows of a sheet whose job could not be read.
fn orphans(journal: &Journal, sheet: SheetId) -> Result<Vec<u32>> {
    Ok(journal
        .connection
        .prepare(
            "SELECT place FROM sheet_row WHERE place BETWEEN ?1 AND ?2
             AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = sheet_row.job) ORDER BY place",
        )?
        .query_map(row_ref::range(sheet), |row| row.get(0).map(row_ref::number_of))?
        .collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests;

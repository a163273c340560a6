//! Which journal this is and how far it has come: the row that says so, changed with every commit after which requests
//! leave.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::lineage::high_water_mark::{Machine, RegisterEntry};

/// The decision of a person to go on with a copy, as it is written down.
pub(in crate::journal) const ACCEPTED: &str = "accept journal";

/// The row of the table.
pub(in crate::journal) struct Identity {
    pub(in crate::journal) id: String,
    pub(in crate::journal) serial: u64,
    pub(in crate::journal) machine: Option<String>,
    pub(in crate::journal) machine_name: Option<String>,
    pub(in crate::journal) under_way: bool,
    /// Whether a look at all pages was begun and none has ended since.
    pub(in crate::journal) pages_unchecked: bool,
    /// Whether it is a backup that was not run since.
    pub(in crate::journal) is_backup: bool,
}

/// Whether somebody has gone on with a copy that may lack requests. Rows that are imported after that may have been
/// sent before it, whenever they come: what is missing is not known.
pub(in crate::journal) fn was_accepted(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM decision WHERE what = ?1)")?
        .query_row([ACCEPTED], |row| row.get(0))?)
}

/// The id of a journal, which says to whom a spilled outcome belongs.
pub(in crate::journal) fn id(connection: &Connection) -> Result<String> {
    Ok(connection.prepare_cached("SELECT id FROM identity")?.query_row([], |row| row.get(0))?)
}

/// Counts a commit after which requests leave; within its transaction.
pub(in crate::journal) fn advance(connection: &Connection) -> Result<u64> {
    let serial: i64 = connection
        .prepare_cached("UPDATE identity SET serial = serial + 1 RETURNING serial")?
        .query_row([], |row| row.get(0))?;
    Ok(natural(serial))
}

/// Notes that a run begins or has come to its end.
pub(in crate::journal) fn mark(connection: &Connection, under_way: bool) -> Result<()> {
    connection.execute("UPDATE identity SET under_way = ?1", [under_way])?;
    Ok(())
}

/// Notes that a look at all pages begins, or has found them whole.
pub(in crate::journal) fn note_pages(connection: &Connection, unchecked: bool) -> Result<()> {
    connection.execute("UPDATE identity SET pages_unchecked = ?1", [unchecked])?;
    Ok(())
}

/// Remembers how far a commit has brought the journal. That it cannot be is no reason to stop a run which is in
/// order: an older copy would be recognised less surely.
pub(in crate::journal) fn remember(entry: Option<&RegisterEntry>, serial: u64) {
    if let Some(entry) = entry
        && let Err(error) = entry.note(serial)
    {
        tracing::warn!(%error, "how far the journal has come cannot be noted in the state folder");
    }
}

/// Notes which machine runs it from now on. Run, a backup is the journal.
pub(in crate::journal) fn note_machine(connection: &Connection, machine: &Machine) -> Result<()> {
    connection.execute(
        "UPDATE identity SET machine = ?1, machine_name = ?2, taken_at = NULL",
        (&machine.digest, &machine.name),
    )?;
    Ok(())
}

/// Reads the row.
pub(in crate::journal) fn read(connection: &Connection) -> Result<Identity> {
    Ok(connection.query_row(
        "SELECT id, serial, machine, machine_name, under_way, taken_at IS NOT NULL, pages_unchecked FROM identity",
        [],
        |row| {
            Ok(Identity {
                id: row.get(0)?,
                serial: natural(row.get(1)?),
                machine: row.get(2)?,
                machine_name: row.get(3)?,
                under_way: row.get(4)?,
                is_backup: row.get(5)?,
                pages_unchecked: row.get(6)?,
            })
        },
    )?)
}

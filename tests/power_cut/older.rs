//! A journal of the present version, opened on a recorded disk by a fleetload that knows one step more: what brings it up
//! to date must survive the power's going at any moment of it.

use std::path::Path;

use fleetload::journal::Journal;
use rusqlite::Connection;

use crate::disk::Disk;
use crate::scribe::{Account, everything, reader};
use crate::script::NAME;
use crate::vfs::Recording;

/// Opens the journal, within `with_further_migration`. Gives the disk before, the account of the opening, and the version after.
pub(crate) fn open() -> (Disk, Account, i64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(NAME);
    make(&path).expect("a journal of the version before");
    let image = [(NAME.to_owned(), std::fs::read(&path).expect("one file"))];
    let recording = Recording::of(folder.path());
    let journal = Journal::open(&path).expect("a journal that was brought up to date");
    let events = recording.end();
    let reader = reader(&path).expect("the journal can be read");
    let version = reader.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version");
    let states = vec![everything(&reader).expect("the journal can be read")];
    drop(journal);
    (Disk::holding(&image), Account { events, marks: Vec::new(), states }, version)
}

fn make(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch(include_str!("../../src/journal/schema.sql"))?;
    connection.pragma_update(None, "application_id", 0x464C_4F44)?;
    connection.pragma_update(None, "user_version", 1)?;
    connection.execute(
        "INSERT INTO account (only_row, base_url, client_id) VALUES (1, 'https://service.example', 'me')",
        [],
    )?;
    connection.execute("INSERT INTO import (at) VALUES (1)", [])?;
    for number in 0..200 {
        connection.execute(
            "INSERT INTO job (kind, state, operation, first_import, last_import, natural_key, name, content_hash)
             VALUES (2, 'ready', (SELECT id FROM operation_name WHERE name = 'addSite'), 1, 1, ?1, ?1, zeroblob(12))",
            [format!("site {number}")],
        )?;
        connection.execute(
            "INSERT INTO step (id, operation, action, ended)
             SELECT max(id) << 16, max(operation), '{}', 0 FROM job",
            [],
        )?;
    }
    Ok(())
}

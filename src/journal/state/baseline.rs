//! Baselines: the ids that look-ups showed before a step was sent, until the first request that may have been carried out.
//!
//! A list of a parent's children is taken once a run and is the baseline of many jobs, so each different set is
//! kept once, known by its digest.

use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::state::job_row::JobRow;
use crate::model::digest::hexadecimal;
use crate::model::id::RemoteId;

/// Keeps a set of ids and gives the number it is kept under.
pub(in crate::journal) fn store(connection: &Connection, ids: &[RemoteId]) -> Result<i64> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut digest = Sha256::new();
    for id in &ids {
        digest.update(id.as_bytes());
    }
    let digest = hexadecimal(&digest.finalize());
    let known = connection
        .prepare_cached("SELECT id FROM baseline WHERE digest = ?1")?
        .query_row([&digest], |row| row.get(0))
        .optional()?;
    if let Some(known) = known {
        return Ok(known);
    }
    let text = serde_json::to_string(&ids).map_err(unwritable)?;
    connection
        .prepare_cached("INSERT INTO baseline (digest, ids) VALUES (?1, ?2)")?
        .insert((&digest, &text))
        .map_err(Into::into)
}

/// The number of the baseline of a job that is claimed, after a look-up that has `seen` these ids; `None` where no look-up said
/// which there are. Once a request may have been carried out its baseline stays as it is.
pub(in crate::journal) fn at_claim(
    connection: &Connection,
    standing: &JobRow,
    seen: Option<&[RemoteId]>,
) -> Result<Option<i64>> {
    match (standing.baseline, seen) {
        (Some(number), _) if standing.doubted => Ok(Some(number)),
        (_, None) => Ok(None),
        (None, Some(seen)) => store(connection, seen).map(Some),
        // What an earlier look-up showed, or a person ruled out, was there before this send as well.
        (Some(number), Some(seen)) => {
            let known = load(connection, number)?;
            store(connection, &[&known, seen].concat()).map(Some)
        }
    }
}

/// The set of ids kept under a number.
pub(in crate::journal) fn load(connection: &Connection, number: i64) -> Result<Vec<RemoteId>> {
    let text: String = connection
        .prepare_cached("SELECT ids FROM baseline WHERE id = ?1")?
        .query_row([number], |row| row.get(0))?;
    serde_json::from_str(&text).map_err(|error| damaged("a list of ids", error))
}

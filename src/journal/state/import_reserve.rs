//! The reserve of an import: creations of each day's quota that are kept for its rows. A creation counts for the import that
//! named its row last, and is counted among the attempts, so that no end of a process can lose one.

use rusqlite::Connection;

use crate::error::Result;
use crate::journal::file::column::{count, natural};
use crate::journal::queue::work::list;
use crate::journal::state::decision_log::note;
use crate::journal::state::import_turn;
use crate::journal::{Journal, View};
use crate::model::id::ImportId;
use crate::model::operation::Operation;
use crate::model::time::{Day, Moment};

/// Longer than a day of the service: no creation that counts on the day it is now left earlier by this machine's clock.
const A_DAY_AND_MORE_MS: i64 = 26 * 3_600_000;

/// An import with a reserve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportReserve {
    /// The import.
    pub import: ImportId,
    /// Creations of each day's quota that are kept for it.
    pub reserve: u64,
    /// Creations of the day that were sent for its rows.
    pub sent: u64,
    /// Creations that its rows still need; 0 where all of them wait for rows of other imports, or for a person.
    pub left: u64,
}

impl ImportReserve {
    /// How many creations of the day are kept for it.
    pub fn kept(&self) -> u64 {
        self.reserve.saturating_sub(self.sent).min(self.left)
    }
}

/// Jobs of an import whose step is an operation, at most so many. A list of states would use no index.
const LEFT: &str =
    "SELECT (SELECT count(*) FROM (SELECT 1 FROM job WHERE state = 'ready' AND operation = ?2 AND last_import = ?1 LIMIT ?3))
    + (SELECT count(*) FROM (SELECT 1 FROM job WHERE state = 'blocked' AND operation = ?2 AND last_import = ?1 LIMIT ?3))
    + (SELECT count(*) FROM (SELECT 1 FROM job WHERE state = 'deferred' AND operation = ?2 AND last_import = ?1 LIMIT ?3))";

/// Whether a row of an import that is not paused is being sent, or can be without a row of another import or a person.
const GOES_ON: &str =
    concat!("SELECT paused_at IS NULL AND ", import_turn::goes_on!(), " FROM import WHERE id = ?1");

impl Journal {
    /// Keeps so many creations of each day's quota for an import, also for a run at work; how many it was before.
    pub fn reserve(&mut self, import: ImportId, creations: u64, who: &str, at: Moment) -> Result<u64> {
        let transaction = self.begin()?;
        import_turn::require(&transaction, import)?;
        let before: i64 =
            transaction.query_row("SELECT reserve FROM import WHERE id = ?1", [import], |row| row.get(0))?;
        if before != count(creations) {
            transaction
                .execute("UPDATE import SET reserve = ?2 WHERE id = ?1", (import, count(creations)))?;
            note(&transaction, at, who, "reserve", None, Some(import), None)?;
        }
        transaction.commit()?;
        Ok(natural(before))
    }
}

impl View {
    /// The imports with a reserve, oldest first, and how they stand on `day`, which is the service's day `now`. What is left
    /// is counted up to `most`, and up to their reserve without.
    pub fn import_reserves(&self, day: Day, now: Moment, most: Option<u64>) -> Result<Vec<ImportReserve>> {
        let turns = self.import_turns()?.into_iter().filter(|turn| turn.reserve > 0);
        let mut reserves: Vec<ImportReserve> = turns
            .map(|turn| {
                let left = self.creations_left(turn.import, most.unwrap_or(turn.reserve))?;
                Ok(ImportReserve { import: turn.import, reserve: turn.reserve, sent: 0, left })
            })
            .collect::<Result<_>>()?;
        if reserves.is_empty() {
            return Ok(reserves);
        }
        let imports: Vec<ImportId> = reserves.iter().map(|reserve| reserve.import).collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT job.last_import, count(*) FROM attempt CROSS JOIN job ON job.id = attempt.job
             WHERE attempt.sent_at >= ?2 AND attempt.counted = ?1
               AND (attempt.execution IS NULL OR attempt.execution <> 'not_executed')
               AND job.last_import IN (SELECT value FROM json_each(?3)) GROUP BY 1",
        )?;
        let since = Moment::from_millis(now.millis().saturating_sub(A_DAY_AND_MORE_MS));
        let mut rows = statement.query((day, since, list(&imports)))?;
        while let Some(row) = rows.next()? {
            let (import, sent): (ImportId, i64) = (row.get(0)?, row.get(1)?);
            for reserve in reserves.iter_mut().filter(|reserve| reserve.import == import) {
                reserve.sent = natural(sent);
            }
        }
        Ok(reserves)
    }

    fn creations_left(&self, import: ImportId, most: u64) -> Result<u64> {
        let goes_on: bool = self.connection.prepare_cached(GOES_ON)?.query_row([import], |row| row.get(0))?;
        if goes_on { left(&self.connection, import, most) } else { Ok(0) }
    }
}

/// The creations that rows of an import wait for, of each operation and state up to `most`.
pub(in crate::journal) fn left(connection: &Connection, import: ImportId, most: u64) -> Result<u64> {
    let mut left = 0;
    for operation in Operation::ALL.iter().filter(|operation| operation.creates()) {
        let found: i64 = connection
            .prepare_cached(LEFT)?
            .query_row((import, *operation, count(most)), |row| row.get(0))?;
        left += natural(found);
    }
    Ok(left)
}

//! The turn of an import: whether a person paused it, and its priority. Its reserve is in `import_reserve`. A job has the turn of the import that named it last.

use rusqlite::{Connection, Transaction};

use crate::error::{Error, Result};
use crate::journal::file::column::natural;
use crate::journal::queue::remaining::{and_what_it_waits_for, and_what_waits_for};
use crate::journal::row_ref;
use crate::journal::state::decision_log::note;
use crate::journal::state::dependents::record_order::comes_before;
use crate::journal::view::later_imports::is_newest;
use crate::journal::view::paused_imports::paused_by;
use crate::journal::view::rows::not_there;
use crate::journal::{Journal, View};
use crate::model::id::{ImportId, JobId};
use crate::model::operation::Operation;
use crate::model::time::Moment;

/// The turn of an import that is not as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportTurn {
    /// The import.
    pub import: ImportId,
    /// Since when none of its rows is sent.
    pub paused_at: Option<Moment>,
    /// Its priority; 0 as usual.
    pub priority: i64,
    /// Creations of each day's quota that are kept for it; 0 as usual.
    pub reserve: u64,
}

/// Rows of an import that are not sent yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsentRows {
    /// The import.
    pub import: ImportId,
    /// Those that could be sent now.
    pub sendable: u64,
    /// All of them, those included that wait for other rows.
    pub all: u64,
}

/// What a pause, or its end, found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnChange {
    /// Since when it was paused before.
    pub was_paused: Option<Moment>,
    /// Rows of it that could be sent now.
    pub ready: u64,
    /// Rows of it that wait for other rows.
    pub blocked: u64,
    /// Rows of it whose requests are under way or whose outcome is unknown.
    pub under_way: u64,
    /// Whether a row of it is not finished. Where all are, a pause changes nothing.
    pub is_open: bool,
}

/// Rows of another import that rows wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AwaitedRows {
    /// The other import.
    pub import: ImportId,
    /// How many.
    pub rows: u64,
    /// Whether they are on hold.
    pub is_held: bool,
    /// Whether their import is paused.
    pub is_paused: bool,
}

/// Jobs of an import that could be sent and those that wait for others, and those that may have been sent. One look into each
/// partial index: a list of states would use none of them.
const UNSENT: &str = "SELECT (SELECT count(*) FROM operation_name CROSS JOIN job
        WHERE job.state = 'ready' AND job.operation = operation_name.id AND job.last_import = ?1)
    + (SELECT count(*) FROM job INDEXED BY job_deferred WHERE state = 'deferred' AND last_import = ?1),
    (SELECT count(*) FROM operation_name CROSS JOIN job
        WHERE job.state = 'blocked' AND job.operation = operation_name.id AND job.last_import = ?1)";
const UNDER_WAY: &str =
    "SELECT (SELECT count(*) FROM job INDEXED BY job_sending WHERE state = 'sending' AND last_import = ?1)
    + (SELECT count(*) FROM job INDEXED BY job_in_doubt WHERE state = 'in_doubt' AND last_import = ?1)";

/// Whether a job of the import `?1` is under way, or can be sent now or later.
macro_rules! goes_on {
    () => {
        "(EXISTS (SELECT 1 FROM operation_name CROSS JOIN job
                  WHERE job.state = 'ready' AND job.operation = operation_name.id AND job.last_import = ?1)
          OR EXISTS (SELECT 1 FROM job INDEXED BY job_deferred WHERE state = 'deferred' AND last_import = ?1)
          OR EXISTS (SELECT 1 FROM job INDEXED BY job_sending WHERE state = 'sending' AND last_import = ?1)
          OR EXISTS (SELECT 1 FROM job INDEXED BY job_in_doubt WHERE state = 'in_doubt' AND last_import = ?1))"
    };
}
pub(super) use goes_on;

/// Whether a job of an import is not finished.
const OPEN: &str = concat!(
    "SELECT ",
    goes_on!(),
    " OR EXISTS (SELECT 1 FROM operation_name CROSS JOIN job
                 WHERE job.state = 'blocked' AND job.operation = operation_name.id AND job.last_import = ?1)
      OR EXISTS (SELECT 1 FROM job INDEXED BY job_held WHERE state = 'held' AND last_import = ?1)"
);

/// Blocked rows that wait for a row on hold of the import with the rows from `?1` to `?2`.
macro_rules! with_stuck_of_import {
    ($($rest:expr),+) => {
        concat!(
            "WITH RECURSIVE stuck (id) AS (
                 SELECT job.id FROM sheet_row JOIN job ON job.id = sheet_row.job
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.state = 'held'",
            and_what_waits_for!("stuck"),
            ") ",
            $($rest),+
        )
    };
}

/// What a change of a priority found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriorityChange {
    /// The priority before.
    pub before: i64,
    /// Rows of it that could be sent now.
    pub ready: u64,
    /// Rows of it that wait for rows of an import with a lower priority, by that import.
    pub wait_for: Vec<(ImportId, u64)>,
}

impl Journal {
    /// Gives an import a priority: rows of imports with a higher one are sent first, also by a run at work.
    pub fn prioritise(
        &mut self,
        import: ImportId,
        priority: i64,
        who: &str,
        at: Moment,
    ) -> Result<PriorityChange> {
        let transaction = self.begin()?;
        require(&transaction, import)?;
        let before: i64 =
            transaction.query_row("SELECT priority FROM import WHERE id = ?1", [import], |row| row.get(0))?;
        if before != priority {
            transaction.execute("UPDATE import SET priority = ?2 WHERE id = ?1", (import, priority))?;
            note(&transaction, at, who, "priority", None, Some(import), None)?;
        }
        let ready = unsent(&transaction, import)?.sendable;
        let wait_for = transaction
            .prepare_cached(concat!(
                "WITH waiting (id, awaited) AS (
                     SELECT child.id, parent.last_import FROM job AS child
                     JOIN link ON link.job = child.id JOIN job AS parent ON parent.id = link.target_job
                     WHERE child.state = 'blocked' AND child.last_import = ?1
                       AND parent.finished_at IS NULL AND parent.remote_id IS NULL
                     UNION
                     SELECT own.job, job.last_import FROM job AS later JOIN upkeep AS own ON own.job = later.id
                     CROSS JOIN upkeep AS first CROSS JOIN job ON job.id = first.job
                     WHERE later.state = 'blocked' AND later.last_import = ?1 AND ",
                comes_before!("first", "job", "own"),
                ") SELECT import.id, count(*) FROM waiting JOIN import ON import.id = waiting.awaited
                 WHERE import.id <> ?1 AND import.priority < ?2 GROUP BY 1"
            ))?
            .query_map((import, priority), |row| Ok((row.get(0)?, natural(row.get(1)?))))?
            .collect::<rusqlite::Result<_>>()?;
        transaction.commit()?;
        Ok(PriorityChange { before, ready, wait_for })
    }

    /// Pauses an import: from now on no request of its rows is claimed, also by a run at work.
    pub fn pause(&mut self, import: ImportId, who: &str, at: Moment) -> Result<TurnChange> {
        self.change_pause(import, Some(at), ("pause", who, at))
    }

    /// Ends the pause of an import.
    pub fn resume(&mut self, import: ImportId, who: &str, at: Moment) -> Result<TurnChange> {
        self.change_pause(import, None, ("resume", who, at))
    }

    fn change_pause(
        &mut self,
        import: ImportId,
        paused_at: Option<Moment>,
        (what, who, at): (&str, &str, Moment),
    ) -> Result<TurnChange> {
        let transaction = self.begin()?;
        require(&transaction, import)?;
        let was_paused: Option<Moment> =
            transaction
                .query_row("SELECT paused_at FROM import WHERE id = ?1", [import], |row| row.get(0))?;
        let is_open: bool = transaction.prepare_cached(OPEN)?.query_row([import], |row| row.get(0))?;
        if was_paused.is_some() != paused_at.is_some() && (is_open || paused_at.is_none()) {
            transaction.execute("UPDATE import SET paused_at = ?2 WHERE id = ?1", (import, paused_at))?;
            note(&transaction, at, who, what, None, Some(import), None)?;
        }
        let UnsentRows { sendable: ready, all, .. } = unsent(&transaction, import)?;
        let under_way: i64 = transaction.prepare_cached(UNDER_WAY)?.query_row([import], |row| row.get(0))?;
        transaction.commit()?;
        Ok(TurnChange { was_paused, ready, blocked: all - ready, under_way: natural(under_way), is_open })
    }
}

impl View {
    /// The imports whose turn is not as usual, oldest first.
    pub fn import_turns(&self) -> Result<Vec<ImportTurn>> {
        self.connection
            .prepare_cached(
                "SELECT id, paused_at, priority, reserve FROM import
                 WHERE paused_at IS NOT NULL OR priority <> 0 OR reserve <> 0 ORDER BY id",
            )?
            .query_map([], |row| {
                Ok(ImportTurn {
                    import: row.get(0)?,
                    paused_at: row.get(1)?,
                    priority: row.get(2)?,
                    reserve: natural(row.get(3)?),
                })
            })?
            .collect::<rusqlite::Result<_>>()
            .map_err(Into::into)
    }

    /// Whether a job can be sent now whose step needs no quota, of an import that is not paused, and that no canary keeps back;
    /// of one import, whether one of its rows can.
    pub fn can_send_without_quota(&self, import: Option<ImportId>) -> Result<bool> {
        let range = import.map(|import| row_ref::range_of(&self.connection, import)).transpose()?;
        let (first, last) = range.unzip();
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM job JOIN import ON import.id = job.last_import
                 WHERE job.state = 'ready' AND job.operation = ?1 AND import.paused_at IS NULL
                   AND (job.id IN (SELECT job FROM canary) OR NOT EXISTS (SELECT 1 FROM canary))
                   AND (?2 IS NULL OR EXISTS (SELECT 1 FROM sheet_row
                                              WHERE sheet_row.job = job.id AND sheet_row.place BETWEEN ?2 AND ?3)))",
        )?;
        for operation in Operation::ALL.iter().filter(|operation| operation.changes() && !operation.creates())
        {
            if statement.query_row((operation, first, last), |row| row.get(0))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The rows of an import that are not finished and came again in a later one, by that: they have its turn.
    pub fn came_again(&self, import: ImportId) -> Result<Vec<(ImportId, u64)>> {
        if is_newest(&self.connection, import)? {
            return Ok(Vec::new());
        }
        let (first, last) = row_ref::range_of(&self.connection, import)?;
        Ok(self
            .connection
            .prepare_cached(
                "SELECT job.last_import, count(DISTINCT job.id) FROM sheet_row JOIN job ON job.id = sheet_row.job
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.last_import > ?3
                   AND job.state IN ('blocked', 'ready', 'deferred', 'sending', 'in_doubt', 'held') GROUP BY 1",
            )?
            .query_map((first, last, import), |row| Ok((row.get(0)?, natural(row.get(1)?))))?
            .collect::<rusqlite::Result<_>>()?)
    }

    /// How many rows of an import wait for rows of it that are on hold, directly or through others.
    pub fn stuck_rows(&self, import: ImportId) -> Result<u64> {
        let stuck = with_stuck_of_import!(
            "SELECT count(*) FROM sheet_row JOIN job ON job.id = sheet_row.job
             WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.state = 'blocked' AND job.id IN stuck"
        );
        let range = row_ref::range_of(&self.connection, import)?;
        Ok(natural(self.connection.prepare_cached(stuck)?.query_row(range, |row| row.get(0))?))
    }

    /// The rows of other imports that blocked rows of an import wait for, directly or through others, but for what waits for rows
    /// of its own that are on hold.
    pub fn awaited_rows(&self, import: ImportId) -> Result<Vec<AwaitedRows>> {
        let (first, last) = row_ref::range_of(&self.connection, import)?;
        let mut statement = self.connection.prepare_cached(with_stuck_of_import!(
            ", waiting (id) AS (
                 SELECT job.id FROM sheet_row JOIN job ON job.id = sheet_row.job
                 WHERE sheet_row.place BETWEEN ?1 AND ?2 AND job.state = 'blocked' AND job.id NOT IN stuck",
            and_what_it_waits_for!("waiting"),
            ")
             SELECT job.last_import, job.state = 'held', import.paused_at IS NOT NULL, count(*)
             FROM waiting JOIN job ON job.id = waiting.id JOIN import ON import.id = job.last_import
             WHERE job.state <> 'blocked' AND job.last_import <> ?3 GROUP BY 1, 2, 3"
        ))?;
        let awaited = |row: &rusqlite::Row<'_>| {
            let (import, is_held, is_paused) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(AwaitedRows { import, is_held, is_paused, rows: natural(row.get(3)?) })
        };
        Ok(statement.query_map((first, last, import), awaited)?.collect::<rusqlite::Result<_>>()?)
    }

    /// Whether a job can go on now or later without a person: not one of a paused import, nor one that waits for others.
    pub fn goes_on(&self) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM job WHERE state = 'sending')
                     OR EXISTS (SELECT 1 FROM job WHERE state = 'in_doubt')
                     OR EXISTS (SELECT 1 FROM import CROSS JOIN operation_name CROSS JOIN job
                                WHERE import.paused_at IS NULL AND job.state = 'ready'
                                  AND job.operation = operation_name.id AND job.last_import = import.id)
                     OR EXISTS (SELECT 1 FROM job INDEXED BY job_deferred JOIN import ON import.id = job.last_import
                                WHERE job.state = 'deferred' AND import.paused_at IS NULL)",
            )?
            .query_row([], |row| row.get(0))?)
    }
}

/// Refuses an import that there is not.
pub(in crate::journal) fn require(transaction: &Transaction<'_>, import: ImportId) -> Result<()> {
    let (known, last): (bool, Option<ImportId>) = transaction.query_row(
        "SELECT EXISTS (SELECT 1 FROM import WHERE id = ?1), (SELECT max(id) FROM import)",
        [import],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    if known { Ok(()) } else { Err(not_there(import, last)) }
}

/// Refuses a job whose import is paused.
pub(in crate::journal) fn refuse_paused(connection: &Connection, job: JobId) -> Result<()> {
    match paused_by(connection, job)? {
        Some(import) => Err(Error::usage(format!("job {job} is not sent: import {import} is paused"))),
        None => Ok(()),
    }
}

/// The rows of an import that are not sent yet.
pub(in crate::journal) fn unsent(connection: &Connection, import: ImportId) -> Result<UnsentRows> {
    let count: (i64, i64) =
        connection.prepare_cached(UNSENT)?.query_row([import], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (sendable, blocked) = (natural(count.0), natural(count.1));
    Ok(UnsentRows { import, sendable, all: sendable + blocked })
}

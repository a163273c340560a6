//! Removes what an old journal no longer needs: the sheets as they stood and the attempts of imports that are finished, and
//! records of runs, days and notifications that are as old.
//!
//! What recognises a row stays for ever: jobs with their keys, names, links, states and ids, the values that they were sent
//! with, and the newest row of each. So does what proves an outcome: what is said of a job, what people decided, what
//! verification found, calls, and the look-ups from before a first send of what is not settled and verified. Which imports
//! are finished is decided in `status`; that no row of them waits is seen to here again, in the transaction.

use rusqlite::{Connection, Transaction};

use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::journal::file::column::natural;
use crate::journal::file::open::set;
use crate::model::id::ImportId;
use crate::model::time::{Day, Moment};

/// The ledger of at least so many days stays.
const LEDGER_DAYS: i64 = 7;

/// The file is made smaller when at least one page of so many is free; fewer are filled again by the next imports.
const FREE_SHARE: u64 = 4;

/// What is to be removed.
#[derive(Debug, Clone, Copy)]
pub struct Old<'a> {
    /// The imports that are finished.
    pub imports: &'a [ImportId],
    /// Attempts, runs, days and notifications from before this moment.
    pub before: Moment,
    /// This moment.
    pub now: Moment,
}

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The imports, oldest first, each with its rows of which the cells were removed.
    pub imports: Vec<(ImportId, u64)>,
    /// Requests.
    pub attempts: u64,
    /// Runs.
    pub runs: u64,
    /// Days of the ledger of the quota.
    pub days: u64,
    /// Notifications, those included that were never delivered.
    pub notifications: u64,
    /// Deliveries that never came about.
    pub undelivered: u64,
    /// Bytes of the pages that became free.
    pub bytes: u64,
}

impl Pruned {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        let Self { imports, attempts, runs, days, notifications, undelivered, bytes: _ } = self;
        imports.is_empty() && attempts + runs + days + notifications + undelivered == 0
    }
}

impl Journal {
    /// Removes what is old, all of it or nothing; whoever does it holds the lock of the runs.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn prune(&mut self, old: &Old<'_>) -> Result<Pruned> {
        self.pruning(old, |transaction| Ok(transaction.commit()?))
    }

    /// What [`Journal::prune`] would remove.
    ///
    /// # Errors
    /// When the journal cannot be written: it is tried, and undone.
    pub fn would_prune(&mut self, old: &Old<'_>) -> Result<Pruned> {
        self.pruning(old, |transaction| Ok(transaction.rollback()?))
    }

    fn pruning(&mut self, old: &Old<'_>, end: impl FnOnce(Transaction<'_>) -> Result<()>) -> Result<Pruned> {
        // Looked up row by row, what refers to a removed row would be searched for without an index. All of it is looked
        // at below instead.
        set(&self.view.connection, "foreign_keys", 0)?;
        let pruned = self.begin().and_then(|transaction| {
            let pruned = remove(&transaction, old)?;
            refuse_dangling(&transaction)?;
            end(transaction)?;
            Ok(pruned)
        });
        set(&self.view.connection, "foreign_keys", 1)?;
        pruned
    }

    /// Makes the file smaller, if much of it is free; the bytes given back to the disk.
    ///
    /// # Errors
    /// When there is no room on the disk for the smaller copy; the journal stays as it is.
    pub fn give_back_pages(&mut self) -> Result<u64> {
        let connection = &self.view.connection;
        let (pages, free) = (pragma(connection, "page_count")?, pragma(connection, "freelist_count")?);
        if free == 0 || free < pages / FREE_SHARE {
            return Ok(0);
        }
        connection.execute_batch("VACUUM")?;
        // The smaller file is in the log until that is copied back.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_row| Ok(()))?;
        let left = pragma(connection, "page_count")?;
        Ok(pages.saturating_sub(left) * pragma(connection, "page_size")?)
    }

    /// The bytes that the journal holds, those that are free left out.
    pub fn bytes_in_use(&self) -> Result<u64> {
        let of = |name| pragma(&self.view.connection, name);
        Ok(of("page_count")?.saturating_sub(of("freelist_count")?) * of("page_size")?)
    }
}

fn pragma(connection: &Connection, name: &str) -> Result<u64> {
    Ok(natural(connection.pragma_query_value(None, name, |row| row.get(0))?))
}

/// Nothing is committed that refers to what is not there.
fn refuse_dangling(transaction: &Connection) -> Result<()> {
    let mut statement = transaction.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    match rows.next()? {
        None => Ok(()),
        Some(row) => Err(Error::internal(format!(
            "a row of {} would refer to one of {} that is not there; nothing was removed",
            row.get::<_, String>(0)?,
            row.get::<_, String>(2)?
        ))),
    }
}

/// The places of the rows of what is being removed, and those of them that stay.
///
/// A row stays from which a step was made: it is where the values are that were sent. So does the last row that gave the job
/// its values, with which later sheets are compared, and the last one of all, which names the job.
const PLACES: &str = "
    CREATE TEMP TABLE gone_sheet AS SELECT sheet.id AS id FROM sheet JOIN gone ON gone.import = sheet.import;
    CREATE TEMP TABLE kept (place INTEGER PRIMARY KEY);
    INSERT INTO kept SELECT own.place FROM gone_sheet
        JOIN sheet_row AS own ON own.place BETWEEN gone_sheet.id << 32 AND ((gone_sheet.id + 1) << 32) - 1
        WHERE EXISTS (SELECT 1 FROM step WHERE step.id BETWEEN own.job << 16 AND own.job << 16 | 65535
                AND step.place = own.place)
            OR own.place = (SELECT max(place) FROM sheet_row AS last WHERE last.job = own.job)
            OR own.place = (SELECT max(place) FROM sheet_row AS last WHERE last.job = own.job
                AND (last.disposition = 'new' OR last.disposition = 'revised'));";

/// The texts of a sheet belong to that sheet alone.
const TEXTS: &str = "
    CREATE TEMP TABLE kept_text (id INTEGER PRIMARY KEY);
    INSERT OR IGNORE INTO kept_text SELECT cell.value FROM kept
        JOIN sheet_row ON sheet_row.place = kept.place JOIN json_each(sheet_row.cells) AS cell WHERE cell.type = 'integer';
    CREATE TEMP TABLE gone_text (id INTEGER PRIMARY KEY);
    INSERT OR IGNORE INTO gone_text SELECT cell.value FROM gone_sheet
        JOIN sheet_row ON sheet_row.place BETWEEN gone_sheet.id << 32 AND ((gone_sheet.id + 1) << 32) - 1
        JOIN json_each(sheet_row.cells) AS cell WHERE cell.type = 'integer';
    INSERT OR IGNORE INTO gone_text SELECT cell.value FROM gone_sheet
        JOIN left_out ON left_out.place BETWEEN gone_sheet.id << 32 AND ((gone_sheet.id + 1) << 32) - 1
        JOIN json_each(left_out.cells) AS cell WHERE cell.type = 'integer';
    DELETE FROM cell_text WHERE id IN (SELECT id FROM gone_text) AND id NOT IN (SELECT id FROM kept_text);";

/// An import of which a row waits after all, was finished lately, or was left out and has neither come again nor been
/// cancelled.
const UNFINISHED: &str = "
    DELETE FROM gone WHERE EXISTS (
        SELECT 1 FROM sheet
        JOIN sheet_row AS own ON own.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
        JOIN job ON job.id = own.job
        WHERE sheet.import = gone.import AND (job.finished_at IS NULL OR job.finished_at >= ?1
                AND own.place = (SELECT max(place) FROM sheet_row AS last WHERE last.job = own.job
                    AND (last.disposition = 'new' OR last.disposition = 'revised'))))
    OR EXISTS (
        SELECT 1 FROM sheet
        JOIN left_out AS own ON own.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
        WHERE sheet.import = gone.import AND own.job IS NULL AND own.given_up IS NULL
            AND NOT EXISTS (SELECT 1 FROM left_out AS later WHERE later.origin = own.origin AND later.job IS NULL
                AND later.place > (SELECT max(id) + 1 << 32 FROM sheet AS last WHERE last.import = gone.import)))";

fn remove(transaction: &Connection, old: &Old<'_>) -> Result<Pruned> {
    let free = pragma(transaction, "freelist_count")?;
    transaction.execute_batch("CREATE TEMP TABLE gone (import INTEGER PRIMARY KEY)")?;
    {
        // The newest stays: its number is never given again.
        let mut add = transaction.prepare(
            "INSERT OR IGNORE INTO gone SELECT id FROM import
             WHERE id = ?1 AND pruned_at IS NULL AND id < (SELECT max(id) FROM import)",
        )?;
        for import in old.imports {
            add.execute([import])?;
        }
    }
    transaction.execute(UNFINISHED, [old.before])?;
    transaction.execute_batch(PLACES)?;
    let mut pruned = Pruned { imports: rows_that_go(transaction)?, ..Pruned::default() };
    transaction.execute_batch(TEXTS)?;
    remove_imports(transaction, old.now)?;
    pruned.attempts = remove_attempts(transaction, old.before)?;
    remove_baselines(transaction, old.before)?;
    let oldest: Option<Moment> =
        transaction.query_row("SELECT min(at) FROM import WHERE pruned_at IS NULL", [], |row| row.get(0))?;
    let before = oldest.map_or(old.before, |oldest| oldest.min(old.before));
    pruned.runs = transaction.execute(
        "DELETE FROM run WHERE started_at < ?1 AND id < (SELECT max(id) FROM run)
            AND id IS NOT (SELECT max(id) FROM run WHERE terms IS NOT NULL)
            AND id NOT IN (SELECT run FROM audit)",
        [before],
    )? as u64;
    let ledger = Day::from_number(old.now.day().number() - LEDGER_DAYS).min(before.day());
    pruned.days = transaction.execute("DELETE FROM quota WHERE day < ?1", [ledger])? as u64;
    (pruned.notifications, pruned.undelivered) = remove_notifications(transaction, old.before)?;
    transaction.execute_batch(
        "DELETE FROM shape WHERE id NOT IN (SELECT shape FROM step WHERE shape IS NOT NULL);
         DROP TABLE gone; DROP TABLE gone_sheet; DROP TABLE kept; DROP TABLE kept_text; DROP TABLE gone_text;",
    )?;
    let freed = pragma(transaction, "freelist_count")?.saturating_sub(free);
    pruned.bytes = freed * pragma(transaction, "page_size")?;
    Ok(pruned)
}

/// The imports that go, with the rows of which the cells go.
fn rows_that_go(transaction: &Connection) -> Result<Vec<(ImportId, u64)>> {
    let mut statement = transaction.prepare(
        "SELECT gone.import,
            (SELECT count(*) FROM sheet
                JOIN sheet_row ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                WHERE sheet.import = gone.import AND sheet_row.place NOT IN (SELECT place FROM kept))
            + (SELECT count(*) FROM sheet
                JOIN left_out ON left_out.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                WHERE sheet.import = gone.import)
         FROM gone ORDER BY 1",
    )?;
    let imports = statement.query_map([], |row| Ok((row.get(0)?, natural(row.get(1)?))))?;
    Ok(imports.collect::<rusqlite::Result<_>>()?)
}

/// Removes the rows, and the imports of which nothing is left; of the others the name and the number stay, and when they
/// were made.
fn remove_imports(transaction: &Connection, now: Moment) -> Result<()> {
    for table in ["sheet_row", "left_out", "difference"] {
        transaction.execute_batch(&format!(
            "DELETE FROM {table} WHERE place IN (SELECT {table}.place FROM gone_sheet
                 JOIN {table} ON {table}.place BETWEEN gone_sheet.id << 32 AND ((gone_sheet.id + 1) << 32) - 1)
             AND place NOT IN (SELECT place FROM kept)"
        ))?;
    }
    transaction.execute_batch(
        "DELETE FROM device_look WHERE import IN (SELECT import FROM gone);
         DELETE FROM look WHERE import IN (SELECT import FROM gone);
         UPDATE sheet SET row_count = (SELECT count(*) FROM sheet_row
                 WHERE sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1)
             WHERE id IN (SELECT id FROM gone_sheet);
         DELETE FROM sheet WHERE id IN (SELECT id FROM gone_sheet) AND row_count = 0;
         DELETE FROM import WHERE id IN (SELECT import FROM gone)
             AND NOT EXISTS (SELECT 1 FROM sheet WHERE sheet.import = import.id)
             AND NOT EXISTS (SELECT 1 FROM job_count WHERE first_import = import.id AND jobs > 0)
             AND NOT EXISTS (SELECT 1 FROM decision WHERE decision.import = import.id)
             AND id NOT IN (SELECT last_import FROM job)
             AND id NOT IN (SELECT round_of FROM import WHERE round_of IS NOT NULL);
         DELETE FROM import_file WHERE import IN (SELECT import FROM gone)
             AND NOT EXISTS (SELECT 1 FROM import WHERE import.id = import_file.import);",
    )?;
    transaction.execute(
        "UPDATE import SET pruned_at = ?1,
            row_count = (SELECT coalesce(sum(row_count), 0) FROM sheet WHERE sheet.import = import.id)
         WHERE id IN (SELECT import FROM gone)",
        [now],
    )?;
    Ok(())
}

/// Removes the attempts of jobs that are finished. Those stay that a report may show: an import that is there was made before
/// they were sent. So do those that tell what upkeep rows that are still to be verified changed after others, and the last
/// of each step of an upkeep row: it tells which of several rows changed something of a record last.
fn remove_attempts(transaction: &Connection, before: Moment) -> Result<u64> {
    let since: Option<Moment> = transaction.query_row(
        "SELECT min(attempt.sent_at) FROM job JOIN upkeep ON upkeep.job = job.id JOIN attempt ON attempt.job = job.id
         WHERE upkeep.turn > 0 AND job.audit = 'due'",
        [],
        |row| row.get(0),
    )?;
    let before = since.map_or(before, |since| since.min(before));
    let removed = transaction.execute(
        "DELETE FROM attempt WHERE sent_at < ?1 AND ended_at IS NOT NULL
            AND EXISTS (SELECT 1 FROM job WHERE job.id = attempt.job AND job.finished_at IS NOT NULL)
            AND NOT (attempt.execution IN ('confirmed', 'doubtful')
                AND EXISTS (SELECT 1 FROM upkeep WHERE upkeep.job = attempt.job AND upkeep.turn > 0)
                AND NOT EXISTS (SELECT 1 FROM attempt AS later WHERE later.job = attempt.job AND later.step = attempt.step
                    AND later.number > attempt.number AND later.execution IN ('confirmed', 'doubtful')))
            AND NOT EXISTS (SELECT 1 FROM sheet_row JOIN sheet ON sheet.id = sheet_row.place >> 32
                JOIN import ON import.id = sheet.import
                WHERE sheet_row.job = attempt.job AND import.pruned_at IS NULL AND import.id <= attempt.import)",
        [before],
    )?;
    Ok(removed as u64)
}

/// Removes what was there before the first send of jobs that have been finished and verified since, where no other job needs
/// it.
fn remove_baselines(transaction: &Connection, before: Moment) -> Result<()> {
    transaction.execute(
        "UPDATE job SET made_baseline = NULL
         WHERE made_baseline IS NOT NULL AND audit IS NOT NULL AND audit <> 'due' AND finished_at < ?1",
        [before],
    )?;
    transaction.execute_batch(
        "DELETE FROM baseline WHERE id NOT IN (
             SELECT baseline FROM job WHERE baseline IS NOT NULL
             UNION SELECT made_baseline FROM job WHERE made_baseline IS NOT NULL)",
    )?;
    Ok(())
}

/// Removes notifications, delivered or not. The last one of each event stays, without being due, so that what has not changed
/// since is not reported again.
fn remove_notifications(transaction: &Connection, before: Moment) -> Result<(u64, u64)> {
    let undelivered = transaction.execute(
        "DELETE FROM delivery WHERE delivered_at IS NULL
            AND notification IN (SELECT id FROM notification WHERE at < ?1)",
        [before],
    )?;
    transaction.execute_batch("CREATE TEMP TABLE last_told (id INTEGER PRIMARY KEY)")?;
    transaction.execute_batch(
        "INSERT INTO last_told SELECT max(id) FROM notification GROUP BY substr(key, 1, instr(key, ' '))",
    )?;
    transaction.execute(
        "DELETE FROM delivery WHERE notification IN (
             SELECT id FROM notification WHERE at < ?1 AND id NOT IN (SELECT id FROM last_told))",
        [before],
    )?;
    let removed = transaction.execute(
        "DELETE FROM notification WHERE at < ?1 AND id NOT IN (SELECT id FROM last_told)",
        [before],
    )?;
    transaction.execute_batch("DROP TABLE last_told")?;
    Ok((removed as u64, undelivered as u64))
}

#[cfg(test)]
mod tests;

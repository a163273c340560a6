//! What status and the reports read: imports, sheets, rows with what became of them, counts and causes.
//!
//! Rows are streamed in the order of their sheet; nothing here holds a whole sheet in memory.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::journal::file::column::{Id, count, natural};
use crate::journal::file::sqlite_error::damaged;
use crate::journal::row_ref;
use crate::journal::state::decision_log;
use crate::journal::state::dependents::record_order::comes_before;
use crate::journal::state::write::parse_candidates;
use crate::journal::stored_row::StoredTexts;
use crate::journal::view::audit;
use crate::journal::view::awaited::Awaited;
use crate::journal::view::changes::{self, DoneStep};
use crate::journal::view::differences;
use crate::journal::view::every_row::every_row;
use crate::journal::view::later_imports::{self, ReplacedBy};
use crate::journal::view::paused_imports;
use crate::journal::{Candidate, Decided, Difference, Disposition, SheetId, View};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::reason::Reason;
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::Violation;

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportInfo {
    /// Its number.
    pub import: ImportId,
    /// When it was made.
    pub at: Moment,
    /// Its files: name and SHA-256, in the order they were given.
    pub files: Vec<(String, String)>,
    /// Its rows.
    pub rows: u64,
    /// How its files were read: the options of a command, each with a space before it; absent where an older fleetload
    /// made it.
    pub reading: Option<String>,
    /// Since when none of its rows is sent, because a person paused it.
    pub paused_at: Option<Moment>,
    /// Rows of an import with a higher one are sent first.
    pub priority: i64,
    /// Creations of each day's quota that are kept for it.
    pub reserve: u64,
    /// What it was called by whoever imported it, or by whoever imported its first round.
    pub given_label: Option<String>,
    /// Which round of its rows it is, counted from 1.
    pub round: u32,
    /// The import of their first round, where this is a later one.
    pub round_of: Option<ImportId>,
}

/// A file of an import, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FileDigest {
    /// Its name.
    pub name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl FileDigest {
    /// Of each file: its name and digest.
    pub fn all(files: &[(String, String)]) -> Vec<Self> {
        let of = |(name, sha256): &(String, String)| Self { name: name.clone(), sha256: sha256.clone() };
        files.iter().map(of).collect()
    }
}

impl ImportInfo {
    /// What it is called: as it was labelled, else by its files.
    pub fn label(&self) -> String {
        let names = || self.files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        self.given_label.clone().unwrap_or_else(names)
    }

    /// Its number, with its label where it has one.
    pub fn named(&self) -> String {
        let label = self.given_label.as_ref().map_or_else(String::new, |label| format!(" '{label}'"));
        format!("{}{label}", self.import)
    }

    /// The import of the first round of its rows; itself where this is the first.
    pub fn first_round(&self) -> ImportId {
        self.round_of.unwrap_or(self.import)
    }

    /// Which round of which import it is, in words; nothing for a first one.
    pub fn round_words(&self) -> Option<String> {
        self.round_of.map(|first| format!("round {} of import {first}", self.round))
    }
}

/// A sheet of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetInfo {
    /// Its number.
    pub sheet: SheetId,
    /// The worksheet's name, or the file's without its ending.
    pub name: String,
    /// The file's name as it was given.
    pub file: String,
    /// The worksheet within a workbook.
    pub worksheet: Option<String>,
    /// What its rows are.
    pub kind: Kind,
    /// The headers, in the sheet's order.
    pub headers: Vec<String>,
    /// The row they stand in, counted from 1.
    pub header_row: u32,
    /// Its rows.
    pub rows: u64,
}

/// A row and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RowView {
    /// Its number in the sheet, as a spreadsheet counts.
    pub number: u32,
    /// The line of the file it begins at, for CSV.
    pub line: Option<u64>,
    /// Its cells, as they stood.
    pub cells: Vec<String>,
    /// What the import made of it.
    pub disposition: Disposition,
    /// Its job; none for a row that was left out and has not come again.
    pub job: Option<JobId>,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Where the job stands; for a row that was left out, whose errors it was left out for.
    pub state: JobState,
    /// The record's id.
    pub remote_id: Option<RemoteId>,
    /// The machine code of what is the matter.
    pub code: Option<String>,
    /// The same in words.
    pub message: Option<String>,
    /// What verification found, code and words, of a row with a code of its own; otherwise its code is that.
    pub finding: Option<(String, String)>,
    /// The violated fields of a rejection.
    pub violations: Vec<Violation>,
    /// The records a held job may be.
    pub candidates: Vec<Candidate>,
    /// Requests sent for the job, all steps together.
    pub attempts: u32,
    /// When the job came to its final state.
    pub finished_at: Option<Moment>,
    /// Whether it had come to it before the import, and was not opened again since.
    pub was_finished: bool,
    /// When a job that waits for its time comes due.
    pub due: Option<Moment>,
    /// The operation of the step it stands at; none for a row that was left out.
    pub operation: Option<Operation>,
    /// What its record had of what each step changed or removed, where this import carried that out and a look-up had shown it.
    pub before: Vec<DoneStep>,
    /// What a person decided about the job last, where that is about the values that it has.
    pub decided: Option<Decided>,
    /// Whether the journal was an older copy, which may lack requests of the job.
    pub unsure: bool,
    /// Whether verification could not tell whether what it made or changed is there.
    pub unverified: bool,
    /// For a blocked or skipped job: a job it waits for, with its place (`file!sheet!row`) and its state in words.
    pub blocked_by: Option<(JobId, String)>,
    /// In what it differs from what its job was made with.
    pub differences: Vec<Difference>,
    /// Of a row that did not get through, or that differs: the later import that has it again and answers for it.
    pub answered_by: Option<ImportId>,
    /// The later import that gave the job other values, whose result all of the above is.
    pub replaced_by: Option<ReplacedBy>,
    /// The paused import that has the job, where it is not sent before that is resumed.
    pub paused_by: Option<ImportId>,
    /// For a blocked job: the paused import that has a job it waits for, directly or through others.
    pub waits_for_paused: Option<ImportId>,
}

impl RowView {
    /// Whether its record is there, made with other values than the row has.
    pub fn differs(&self) -> bool {
        self.state.is_success()
            && (self.disposition == Disposition::ChangedSince || !self.differences.is_empty())
    }

    /// Whether its job was rejected with values of an earlier import, and its own were not sent.
    pub fn is_unsent(&self) -> bool {
        self.state == JobState::Rejected && self.disposition == Disposition::ChangedSince
    }

    /// Gives a row that is done the code of how it compares with the record: one that its import found done, or one that
    /// differs.
    fn compare(&mut self) {
        if self.code.is_some() || !self.state.is_success() {
            return;
        }
        if self.differs() {
            self.code = Some(Reason::RowDiffers.as_str().to_owned());
        } else if self.disposition == Disposition::Recognised && self.was_finished {
            self.code = Some(Reason::RowUnchanged.as_str().to_owned());
        }
    }

    /// Adds what reading back found: to the words of a row that is not done, as the words of one that is.
    fn add(&mut self, (code, words, found): &audit::Shown) {
        let read_back = format!("verification: {words}");
        match &mut self.message {
            Some(message) => *message = format!("{message}; {read_back}"),
            None => self.message = Some(read_back),
        }
        match &self.code {
            Some(_) => self.finding = Some((code.clone(), words.clone())),
            None => self.code = Some(code.clone()),
        }
        self.candidates.extend(found.iter().cloned());
    }
}

/// Requests sent for the jobs of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttemptFigures {
    /// All of them.
    pub requests: u64,
    /// When the first left.
    pub first_at: Option<Moment>,
    /// When the last left.
    pub last_at: Option<Moment>,
    /// The last day on whose quota one counted.
    pub last_counted: Option<Day>,
}

impl ImportInfo {
    /// The import with this number, or a usage error that says which there are.
    pub fn find(imports: &[Self], wanted: ImportId) -> Result<&Self> {
        let last = imports.last().map(|import| import.import);
        imports.iter().find(|import| import.import == wanted).ok_or_else(|| not_there(wanted, last))
    }
}

/// The usage error for an import that is not there; `last` is the newest.
pub(in crate::journal) fn not_there(wanted: ImportId, last: Option<ImportId>) -> Error {
    let error = Error::usage(format!("the journal has no import {wanted}"));
    match last {
        // Numbers are given one after the other, and the newest import is never pruned.
        Some(last) if wanted < last => Error::usage(format!(
            "import {wanted} was pruned: its sheets and reports were removed, and its rows are still recognised"
        ))
        .hint(Advice::from("to list the imports that are there, type: ").command("fleetload status --all")),
        Some(last) => error.hint(format!("its imports are numbered 1 to {last}")),
        None => error.hint("it has no imports yet"),
    }
}

impl View {
    /// The imports, oldest first; those that were pruned are none any more.
    pub fn imports(&self) -> Result<Vec<ImportInfo>> {
        let mut imports: Vec<ImportInfo> = self
            .connection
            .prepare_cached(
                "SELECT id, at, row_count, reading, paused_at, priority, label, round, round_of, reserve FROM import
                 WHERE pruned_at IS NULL ORDER BY id",
            )?
            .query_map([], |row| {
                Ok(ImportInfo {
                    import: row.get(0)?,
                    at: row.get(1)?,
                    files: Vec::new(),
                    rows: natural(row.get(2)?),
                    reading: row.get(3)?,
                    paused_at: row.get(4)?,
                    priority: row.get(5)?,
                    given_label: row.get(6)?,
                    round: row.get(7)?,
                    round_of: row.get(8)?,
                    reserve: natural(row.get(9)?),
                })
            })?
            .collect::<rusqlite::Result<_>>()?;
        let mut files = self
            .connection
            .prepare_cached("SELECT name, sha256 FROM import_file WHERE import = ?1 ORDER BY position")?;
        for import in &mut imports {
            import.files = files
                .query_map([import.import], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
        }
        Ok(imports)
    }

    /// The sheets of an import, in the order they were read.
    pub fn sheets(&self, import: ImportId) -> Result<Vec<SheetInfo>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, name, file, worksheet, kind, headers, header_row, row_count FROM sheet
             WHERE import = ?1 ORDER BY id",
        )?;
        let mut rows = statement.query([import])?;
        let mut sheets = Vec::new();
        while let Some(row) = rows.next()? {
            let headers: String = row.get(5)?;
            sheets.push(SheetInfo {
                sheet: row.get(0)?,
                name: row.get(1)?,
                file: row.get(2)?,
                worksheet: row.get(3)?,
                kind: row.get(4)?,
                headers: serde_json::from_str(&headers).map_err(|error| damaged("headers", error))?,
                header_row: row.get(6)?,
                rows: natural(row.get(7)?),
            });
        }
        Ok(sheets)
    }

    /// Hands the rows of a sheet to `each`, in order; an error of `each` ends it.
    pub fn rows(&self, sheet: SheetId, each: &mut dyn FnMut(RowView) -> Result<()>) -> Result<()> {
        self.rows_in_words(sheet, true, each)
    }

    /// The same without what is said of a row: its cells, where it stands, and whether it is to be corrected.
    pub fn rows_to_count(&self, sheet: SheetId, each: &mut dyn FnMut(RowView) -> Result<()>) -> Result<()> {
        self.rows_in_words(sheet, false, each)
    }

    fn rows_in_words(
        &self,
        sheet: SheetId,
        in_words: bool,
        each: &mut dyn FnMut(RowView) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(every_row!("", "ORDER BY 1"))?;
        let findings = audit::of_places(&self.connection, row_ref::range(sheet))?;
        let mut decisions = decision_log::standing(&self.connection)?;
        let answered = later_imports::of_sheet(&self.connection, sheet)?;
        let some_differ = differences::any(&self.connection, row_ref::range(sheet))?;
        let import: Option<ImportId> = self
            .connection
            .prepare_cached("SELECT import FROM sheet WHERE id = ?1")?
            .query_row([sheet], |row| row.get(0))
            .optional()?;
        // Several rows of an import may be one job.
        let (last, import) = match import {
            Some(import) => (row_ref::range_of(&self.connection, import)?.1, import),
            None => (row_ref::range(sheet).1, ImportId(0)),
        };
        let replaced = later_imports::replaced(&self.connection, sheet, last)?;
        let some_are_paused = self.import_turns()?.iter().any(|turn| turn.paused_at.is_some());
        let mut texts = StoredTexts::of(&self.connection);
        let awaited = self.awaited();
        let mut blockers = Blockers::of(&awaited, some_are_paused);
        let mut rows = statement.query(row_ref::range(sheet))?;
        while let Some(row) = rows.next()? {
            let violations: Option<String> = if in_words { row.get(10)? } else { None };
            let candidates: Option<String> = if in_words { row.get(11)? } else { None };
            let (job, state): (Option<JobId>, _) = (row.get(4)?, awaited.state(row.get(6)?));
            let blocker = match (job, state) {
                (Some(job), JobState::Blocked | JobState::Skipped) if in_words => {
                    blockers.first(&self.connection, job)?
                }
                _ => None,
            };
            let has_before = in_words && row.get(16)?;
            let mut view = RowView {
                number: row_ref::number_of(row.get(0)?),
                line: row.get::<_, Option<i64>>(1)?.map(natural),
                cells: texts.cells(row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?)?,
                disposition: row.get(3)?,
                job,
                kind: row.get(5)?,
                state,
                remote_id: row.get::<_, Option<Id>>(7)?.map(|id| id.0),
                code: row.get(8)?,
                message: row.get(9)?,
                finding: None,
                violations: match violations {
                    Some(text) => {
                        serde_json::from_str(&text).map_err(|error| damaged("violations", error))?
                    }
                    None => Vec::new(),
                },
                candidates: parse_candidates(candidates.as_deref())?,
                attempts: row.get(12)?,
                finished_at: row.get(13)?,
                // The import that named it while it was not.
                was_finished: row.get::<_, Option<ImportId>>(19)?.is_some_and(|named_by| named_by < import),
                due: row.get(14)?,
                operation: row.get(15)?,
                before: match job.filter(|_| has_before) {
                    Some(job) => changes::before(&self.connection, job, last, import)?,
                    None => Vec::new(),
                },
                decided: job.and_then(|job| decisions.remove(&job)),
                unsure: row.get(17)?,
                unverified: row.get(18)?,
                waits_for_paused: blocker.as_ref().and_then(|blocker| blocker.kept_by),
                blocked_by: blocker.map(|blocker| blocker.named),
                differences: match some_differ {
                    true => differences::of_place(&self.connection, row.get(0)?)?,
                    false => Vec::new(),
                },
                answered_by: answered.get(&row.get(0)?).copied(),
                replaced_by: replaced.get(&row.get(0)?).copied(),
                paused_by: match (job, state) {
                    (Some(job), JobState::Ready | JobState::Deferred | JobState::Blocked)
                        if some_are_paused =>
                    {
                        paused_imports::paused_by(&self.connection, job)?
                    }
                    _ => None,
                },
            };
            // A job stands in a sheet once, but for rows that repeat another.
            if let Some(finding) = job.and_then(|job| findings.get(&job)) {
                view.add(finding);
            }
            view.compare();
            each(view)?;
        }
        Ok(())
    }

    /// The values in a column of a sheet, counted from 0, of the rows that are done, the most frequent first, and how many
    /// rows have each; at most so many.
    pub fn accepted_values(&self, sheet: SheetId, column: usize, most: usize) -> Result<Vec<(String, u64)>> {
        let (first, last) = row_ref::range(sheet);
        let mut statement = self.connection.prepare_cached(
            "SELECT coalesce(cell_text.text, cell) AS value, sum(rows) FROM (
                 SELECT json_extract(sheet_row.cells, '$[' || ?3 || ']') AS cell, count(*) AS rows
                 FROM sheet_row JOIN job ON job.id = sheet_row.job
                 WHERE sheet_row.place BETWEEN ?1 AND ?2
                     AND job.state IN ('created', 'adopted', 'existing', 'done') AND cell <> ''
                 GROUP BY cell)
             LEFT JOIN cell_text ON cell_text.id = cell AND typeof(cell) = 'integer'
             GROUP BY value ORDER BY sum(rows) DESC, value LIMIT ?4",
        )?;
        let values = statement.query_map((first, last, count(column), count(most)), |row| {
            Ok((row.get(0)?, natural(row.get(1)?)))
        })?;
        Ok(values.collect::<rusqlite::Result<_>>()?)
    }

    /// Requests sent for the jobs of an import.
    pub fn attempts(&self, import: ImportId) -> Result<AttemptFigures> {
        let figures = self
            .connection
            .prepare_cached(
                "SELECT count(*), min(sent_at), max(sent_at), max(counted) FROM attempt
                 WHERE job IN (SELECT sheet_row.job FROM sheet JOIN sheet_row
                     ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1 WHERE sheet.import = ?1)",
            )?
            .query_row([import], |row| {
                let (requests, first_at) = (natural(row.get(0)?), row.get(1)?);
                Ok(AttemptFigures { requests, first_at, last_at: row.get(2)?, last_counted: row.get(3)? })
            })?;
        Ok(figures)
    }
}

/// What jobs wait for, looked up once each: many rows wait for few.
struct Blockers<'a> {
    awaited: &'a Awaited<'a>,
    /// Jobs without a record.
    jobs: HashMap<JobId, Option<Blocker>>,
    /// The first job before those of a turn at a record.
    turns: HashMap<(String, i64), Option<Blocker>>,
    /// Whether an import is paused.
    some_are_paused: bool,
}

/// A job that others wait for.
#[derive(Clone)]
struct Blocker {
    /// Whether it will not be made.
    is_lost: bool,
    /// Its number, and its place and state in words.
    named: (JobId, String),
    /// The paused import without which those that wait for it do not go on; of a turn, for any job before it.
    kept_by: Option<ImportId>,
}

/// What is kept of each sort; where there is more, it is looked up again.
const BLOCKERS: usize = 10_000;

impl<'a> Blockers<'a> {
    /// Nothing is looked up yet.
    fn of(awaited: &'a Awaited<'a>, some_are_paused: bool) -> Self {
        Self { awaited, jobs: HashMap::new(), turns: HashMap::new(), some_are_paused }
    }

    /// The first job that a job waits for: one that will not be made before one that is still to be made, which has the paused
    /// import of any of them.
    fn first(&mut self, connection: &Connection, job: JobId) -> Result<Option<Blocker>> {
        let (awaited, some_are_paused) = (self.awaited, self.some_are_paused);
        let mut statement = connection.prepare_cached(
            "SELECT target_job FROM link WHERE job = ?1 AND target_job IS NOT NULL ORDER BY target_job",
        )?;
        let mut rows = statement.query([job])?;
        let mut first: Option<Blocker> = None;
        while let Some(row) = rows.next()? {
            let parent = row.get(0)?;
            let find = || blocker(connection, parent, awaited, some_are_paused);
            let Some(blocker) = known(&mut self.jobs, parent, find)? else { continue };
            if blocker.is_lost {
                return Ok(Some(blocker.clone()));
            }
            let first = first.get_or_insert_with(|| blocker.clone());
            first.kept_by = first.kept_by.or(blocker.kept_by);
        }
        if first.as_ref().is_none_or(|first| some_are_paused && first.kept_by.is_none()) {
            let turn: Option<(String, i64)> = connection
                .prepare_cached("SELECT record, turn FROM upkeep WHERE job = ?1")?
                .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some(turn) = turn else { return Ok(first) };
            let find = || earlier_at_record(connection, job, awaited, some_are_paused);
            if let Some(earlier) = known(&mut self.turns, turn, find)? {
                let first = first.get_or_insert_with(|| earlier.clone());
                first.kept_by = first.kept_by.or(earlier.kept_by);
            }
        }
        Ok(first)
    }
}

/// What is known of a blocker, or else found.
fn known<K: Eq + Hash>(
    blockers: &mut HashMap<K, Option<Blocker>>,
    key: K,
    find: impl FnOnce() -> Result<Option<Blocker>>,
) -> Result<Option<&Blocker>> {
    if blockers.len() >= BLOCKERS && !blockers.contains_key(&key) {
        blockers.clear();
    }
    Ok(match blockers.entry(key) {
        Entry::Occupied(known) => known.into_mut().as_ref(),
        Entry::Vacant(unknown) => unknown.insert(find()?).as_ref(),
    })
}

/// What others wait for in a job; nothing where it has a record.
fn blocker(
    connection: &Connection,
    job: JobId,
    awaited: &Awaited<'_>,
    some_are_paused: bool,
) -> Result<Option<Blocker>> {
    let state: Option<JobState> = connection
        .prepare_cached("SELECT state FROM job WHERE id = ?1 AND remote_id IS NULL")?
        .query_row([job], |row| row.get(0))
        .optional()?;
    let Some(state) = state.map(|state| awaited.state(state)) else { return Ok(None) };
    let is_lost = matches!(state, JobState::Rejected | JobState::Skipped | JobState::Cancelled);
    let kept_by = match some_are_paused && !is_lost {
        true => paused_imports::kept_by(connection, job)?,
        false => None,
    };
    let named = (job, format!("{} ({state})", row_ref::of_job(connection, job)?));
    Ok(Some(Blocker { is_lost, named, kept_by }))
}

/// The first job that comes before an upkeep row at the same record.
fn earlier_at_record(
    connection: &Connection,
    job: JobId,
    awaited: &Awaited<'_>,
    some_are_paused: bool,
) -> Result<Option<Blocker>> {
    let first: Option<(JobId, JobState)> = connection
        .prepare_cached(concat!(
            "SELECT first.job, job.state FROM upkeep AS own CROSS JOIN upkeep AS first CROSS JOIN job ON job.id = first.job
             WHERE own.job = ?1 AND ",
            comes_before!("first", "job", "own"),
            " ORDER BY job.state = 'held' DESC, first.turn, first.job LIMIT 1"
        ))?
        .query_row([job], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((first, state)) = first else { return Ok(None) };
    let kept_by = if some_are_paused { paused_imports::earlier_kept_by(connection, job)? } else { None };
    let (place, state) = (row_ref::of_job(connection, first)?, awaited.state(state));
    let named = (first, format!("{place} ({state}; it comes before this row at the same record)"));
    Ok(Some(Blocker { is_lost: false, named, kept_by }))
}

#[cfg(test)]
mod tests;

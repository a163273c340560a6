//! Why rows of an import did not get through: the codes they have, what was said with each, how many rows that was said
//! of, and where some of them stand.
//!
//! A code alone does not say enough: forty rows with a model that nobody knows and three with a company that is not
//! there share one. So what was said most often is kept with rows of its own.

use std::cmp::Reverse;
use std::collections::HashMap;

use rusqlite::{Connection, Row};
use serde::Serialize;

use crate::error::Result;
use crate::journal::file::column::natural;
use crate::journal::file::sqlite_error::damaged;
use crate::journal::row_ref;
use crate::journal::state::dependents;
use crate::journal::view::differences::{self, differing};
use crate::journal::view::every_row::every_row;
use crate::journal::{Difference, View};
use crate::model::id::ImportId;
use crate::model::reason::Reason;
use crate::model::verdict::Violation;

/// Rows named with each cause, and with each thing said.
const SAMPLES: usize = 5;
/// Messages told with a cause; each may be of one row only, where it has an id in it.
const MESSAGES: usize = 10;

/// Why rows of an import did not get through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The machine code.
    pub code: String,
    /// Its rows.
    pub count: u64,
    /// Those of them that were rejected with values of an earlier import, while their own were not sent.
    pub unsent: u64,
    /// Rows skipped because they depend on its rows; they are not among these.
    pub consequences: u64,
    /// The places (`file!sheet!row`) of the first of them.
    pub rows: Vec<String>,
    /// What was said of them, the most frequent first; at most ten.
    pub said: Vec<Said>,
    /// How many more messages there are.
    pub unsaid: u64,
}

/// A message, and the rows that it is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Said {
    /// The message; empty where there was none.
    pub message: String,
    /// How many rows.
    pub count: u64,
    /// The first of them: `file!sheet!row`.
    pub rows: Vec<String>,
}

impl Cause {
    fn new(code: String) -> Self {
        Self { code, count: 0, unsent: 0, consequences: 0, rows: Vec::new(), said: Vec::new(), unsaid: 0 }
    }

    /// Whether its rows only follow from others: nothing is to be corrected in them.
    pub fn is_consequence(&self) -> bool {
        [dependents::PARENT_REJECTED, dependents::PARENT_CANCELLED, "ref.target-invalid"]
            .contains(&&*self.code)
    }

    /// The most frequent message; empty where nothing was said.
    pub fn message(&self) -> &str {
        self.said.first().map_or("", |said| &said.message)
    }

    /// Takes in a message and the number of its rows; where it is kept.
    fn say(&mut self, message: String, count: u64) -> Option<usize> {
        self.count += count;
        if let Some(at) = self.said.iter().position(|said| said.message == message) {
            self.said[at].count += count;
            return Some(at);
        }
        if self.said.len() == MESSAGES {
            self.unsaid += 1;
            return None;
        }
        self.said.push(Said { message, count, rows: Vec::new() });
        Some(self.said.len() - 1)
    }

    /// Takes in a row that was read back.
    fn find(&mut self, message: String, place: &str) {
        let at = self.say(message, 1);
        let lists = [Some(&mut self.rows), at.map(|at| &mut self.said[at].rows)];
        for rows in lists.into_iter().flatten().filter(|rows| rows.len() < SAMPLES && !place.is_empty()) {
            rows.push(place.to_owned());
        }
    }
}

impl View {
    /// Why rows of an import were rejected, incomplete, skipped or held, or had a finding when they were read back; the most
    /// frequent reason first, and after all of them what only follows from others.
    pub fn causes(&self, import: ImportId) -> Result<Vec<Cause>> {
        let mut causes = counted(&self.connection, import)?;
        sampled(&self.connection, import, &mut causes)?;
        for finding in self.audit_findings(Some(import), None)? {
            let at = causes.iter().position(|cause| cause.code == finding.code).unwrap_or_else(|| {
                causes.push(Cause::new(finding.code.clone()));
                causes.len() - 1
            });
            causes[at].find(finding.message, &finding.place);
        }
        self.add_differing(import, &mut causes)?;
        if causes.iter().any(Cause::is_consequence) {
            for (code, rows) in below(&self.connection, import)? {
                if let Some(cause) = causes.iter_mut().find(|cause| cause.code == code) {
                    cause.consequences = rows;
                }
            }
        }
        causes.sort_by(|left, right| {
            let order = |cause: &Cause| (cause.is_consequence(), Reverse(cause.count));
            order(left).cmp(&order(right)).then_with(|| left.code.cmp(&right.code))
        });
        Ok(causes)
    }
}

/// How many rows of an import are skipped below rows with each code; one below two of them counts once for each code.
fn below(connection: &Connection, import: ImportId) -> Result<Vec<(String, u64)>> {
    let (first, last) = row_ref::range_of(connection, import)?;
    let mut statement = connection.prepare_cached(
        "WITH RECURSIVE below (code, id) AS (
             SELECT root.code, child.id FROM job AS child
             JOIN link ON link.job = child.id JOIN job AS root ON root.id = link.target_job
             WHERE child.state = 'skipped' AND root.state IN ('rejected', 'cancelled')
             UNION
             SELECT below.code, child.id FROM below JOIN link ON link.target_job = below.id
             JOIN job AS child ON child.id = link.job WHERE child.state = 'skipped'
         )
         SELECT code, count(*) FROM below
         WHERE code IS NOT NULL AND id IN (SELECT job FROM sheet_row WHERE place BETWEEN ?1 AND ?2) GROUP BY code",
    )?;
    let rows = statement.query_map((first, last), |row| Ok((row.get(0)?, natural(row.get(1)?))))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

impl View {
    /// Adds the rows that differ from the record that was made earlier, and have not come again since.
    fn add_differing(&self, import: ImportId, causes: &mut Vec<Cause>) -> Result<()> {
        let mut statement = self.connection.prepare_cached(concat!(
            "SELECT place, columns FROM (",
            differing!(),
            ") WHERE newest = place AND place BETWEEN ?1 AND ?2 ORDER BY place"
        ))?;
        let mut rows = statement.query(row_ref::range_of(&self.connection, import)?)?;
        let mut differing = Cause::new(Reason::RowDiffers.as_str().to_owned());
        while let Some(row) = rows.next()? {
            let columns: String = row.get(1)?;
            let words: Vec<String> = differences::list(&columns)?.iter().map(Difference::words).collect();
            let place = match differing.rows.len() < SAMPLES {
                true => row_ref::written(&self.connection, row.get(0)?)?,
                false => String::new(),
            };
            differing.find(words.join("; "), &place);
        }
        if differing.count > 0 {
            causes.push(differing);
        }
        Ok(())
    }
}

/// The causes with what was said of how many rows, but not of which.
fn counted(connection: &Connection, import: ImportId) -> Result<Vec<Cause>> {
    let mut statement = connection.prepare_cached(every_row!(
        "SELECT code, message, violations, count(*), sum(state = 'rejected' AND disposition = 'changed_since'), min(place)
         FROM (",
        ") WHERE state IN ('rejected', 'incomplete', 'skipped', 'held')
         GROUP BY code, message, violations ORDER BY count(*) DESC, min(place)"
    ))?;
    let mut rows = statement.query(row_ref::range_of(connection, import)?)?;
    let mut causes: Vec<Cause> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    while let Some(row) = rows.next()? {
        let code: String = row.get(0)?;
        let message = said_of(row, 1)?;
        let at = *known.entry(code).or_insert_with_key(|code| {
            causes.push(Cause::new(code.clone()));
            causes.len() - 1
        });
        causes[at].say(message, natural(row.get(3)?));
        causes[at].unsent += natural(row.get(4)?);
    }
    // Messages that read alike were counted apart.
    for cause in &mut causes {
        cause.said.sort_by_key(|said| Reverse(said.count));
    }
    Ok(causes)
}

/// Gives the causes, and what was said most often, the first of their rows: in one pass over all of them.
fn sampled(connection: &Connection, import: ImportId, causes: &mut [Cause]) -> Result<()> {
    let mut first: Vec<Vec<Vec<i64>>> =
        causes.iter().map(|cause| vec![Vec::new(); cause.said.len() + 1]).collect();
    {
        let codes: HashMap<&str, usize> =
            causes.iter().enumerate().map(|(at, cause)| (cause.code.as_str(), at)).collect();
        let mut statement = connection.prepare_cached(every_row!(
            "SELECT place, code, message, violations FROM (",
            ") WHERE state IN ('rejected', 'incomplete', 'skipped', 'held')"
        ))?;
        let mut rows = statement.query(row_ref::range_of(connection, import)?)?;
        while let Some(row) = rows.next()? {
            let place: i64 = row.get(0)?;
            let code: String = row.get(1)?;
            let Some(&at) = codes.get(code.as_str()) else { continue };
            let message = said_of(row, 2)?;
            keep(&mut first[at][0], place);
            if let Some(said) = causes[at].said.iter().position(|said| said.message == message) {
                keep(&mut first[at][said + 1], place);
            }
        }
    }
    for (cause, mut first) in causes.iter_mut().zip(first) {
        let written = |keys: Vec<i64>| -> Result<Vec<String>> {
            keys.into_iter().map(|key| row_ref::written(connection, key)).collect()
        };
        for (said, keys) in cause.said.iter_mut().zip(first.drain(1..)) {
            said.rows = written(keys)?;
        }
        cause.rows = written(first.swap_remove(0))?;
    }
    Ok(())
}

/// What was said of a row, from two of its columns: the message, and the words about each field.
fn said_of(row: &Row<'_>, column: usize) -> Result<String> {
    let message: Option<String> = row.get(column)?;
    let message = message.unwrap_or_default();
    let violations: Option<String> = row.get(column + 1)?;
    let Some(violations) = violations else { return Ok(message) };
    let violations: Vec<Violation> =
        serde_json::from_str(&violations).map_err(|error| damaged("violations", error))?;
    let mut parts = Vec::new();
    // A single violation is often the message itself.
    if !message.is_empty() && !violations.iter().any(|violation| violation.message == message) {
        parts.push(message);
    }
    let of_fields = violations.iter().filter(|violation| !violation.message.is_empty());
    parts.extend(of_fields.map(|violation| format!("{}: {}", violation.path, violation.message)));
    Ok(parts.join("; "))
}

/// Keeps a place if it is among the first, in their order.
fn keep(first: &mut Vec<i64>, place: i64) {
    let at = first.partition_point(|&known| known < place);
    if at < SAMPLES {
        first.insert(at, place);
        first.truncate(SAMPLES);
    }
}

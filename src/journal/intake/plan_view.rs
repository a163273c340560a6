//! What a run would find after an import that is under way: the jobs of its rows and those left from earlier imports,
//! as they would stand. Read within the transaction of the import, which may be undone afterwards.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::{CachedStatement, Connection, Params};

use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::intake::job_lookup;
use crate::journal::row_ref;
use crate::journal::state::{dependents, job_row, step};
use crate::journal::stored_row::StoredTexts;
use crate::journal::view::awaited::Awaited;
use crate::journal::{Disposition, ImportWriter, SheetId};
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::{Link, Target};
use crate::model::state::JobState;

/// A job as a run would find it.
#[derive(Debug, Clone, PartialEq)]
pub struct Prospect {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Where it would stand.
    pub state: JobState,
    /// The record it made, or found.
    pub remote_id: Option<RemoteId>,
    /// Its name as names are compared.
    pub name: String,
    /// Its natural key.
    pub natural_key: String,
    /// A hash of the values it has.
    pub content_hash: ContentHash,
    /// What it refers to.
    pub links: Vec<Link>,
    /// The jobs among these that have no record yet.
    pub unmade: Vec<JobId>,
    /// What is still to be done. Of a creation the values are those of any job that gives the same fields: what a creation
    /// asks of the service depends on the fields that it has, not on their values. [`ImportWriter::steps_of`] has them.
    pub steps_by_shape: Rc<[Action]>,
    /// Where it is the same in all jobs of its kind that have this number, the number.
    pub shape: Option<i64>,
    /// Its row in the import; `None` for a job of earlier imports only.
    pub row: Option<ProspectRow>,
}

/// A row of the import under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProspectRow {
    /// Its sheet.
    pub sheet: SheetId,
    /// Its number in the sheet, as a spreadsheet counts.
    pub number: u32,
    /// What the import makes of it.
    pub disposition: Disposition,
}

/// Selects what [`read`] reads; the last two columns are a row's, where there is one.
macro_rules! prospect {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT job.id, job.kind, job.state, job.remote_id, job.name, job.natural_key, job.content_hash, ",
            $columns,
            " FROM job ",
            $rest
        )
    };
}

impl ImportWriter<'_> {
    /// Hands over the jobs of the rows of this import, sheet by sheet in the order of their rows, then the unfinished
    /// jobs that only earlier imports know. An error of `each` ends it.
    ///
    /// # Errors
    /// When the journal cannot be read, and those of `each`.
    pub fn prospects(&self, each: &mut dyn FnMut(Prospect) -> Result<()>) -> Result<()> {
        self.skip_below_the_lost()?;
        let Some(&first) = self.sheets.keys().next() else { return Ok(()) };
        let of_sheet = prospect!(
            "sheet_row.place, sheet_row.disposition",
            "JOIN sheet_row ON sheet_row.job = job.id WHERE sheet_row.place BETWEEN ?1 AND ?2 ORDER BY sheet_row.place"
        );
        let awaited = Awaited::of(self.path);
        for &sheet in self.sheets.keys() {
            read((&self.transaction, &awaited), of_sheet, row_ref::range(sheet), each)?;
        }
        let before = row_ref::range(first).0;
        for state in JobState::ALL.iter().filter(|state| !state.is_final()) {
            // One look into each partial index, which a state that is a parameter would not use.
            let unfinished = format!(
                "{} AND job.state = '{state}' ORDER BY job.id",
                prospect!(
                    "NULL, NULL",
                    "WHERE NOT EXISTS (SELECT 1 FROM sheet_row WHERE sheet_row.job = job.id AND sheet_row.place >= ?1)"
                )
            );
            read((&self.transaction, &awaited), &unfinished, [before], each)?;
        }
        Ok(())
    }

    /// The sheets of this import, in the order they were added.
    pub fn sheets(&self) -> impl Iterator<Item = SheetId> {
        self.sheets.keys().copied()
    }

    /// One job, whatever its state, without its row.
    ///
    /// # Errors
    /// When there is none, or the journal cannot be read.
    pub fn prospect(&self, job: JobId) -> Result<Prospect> {
        let mut found = None;
        let one = prospect!("NULL, NULL", "WHERE job.id = ?1");
        read((&self.transaction, &Awaited::of(self.path)), one, [job], &mut |prospect| {
            found = Some(prospect);
            Ok(())
        })?;
        found.ok_or_else(|| Error::internal(format!("the journal has no job {job}")))
    }

    /// `file!sheet!row` of the row that named a job last.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn place_of(&self, job: JobId) -> Result<String> {
        row_ref::of_job(&self.transaction, job)
    }

    /// `file!sheet!row` of a row of this import.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub fn place_of_row(&self, sheet: SheetId, number: u32) -> Result<String> {
        row_ref::written(&self.transaction, row_ref::key(sheet, number))
    }

    /// Skips what lies below jobs that will not be made, as far as no row of this import has corrected them.
    pub(in crate::journal) fn skip_below_the_lost(&self) -> Result<()> {
        for &job in &self.lost {
            let standing = job_row::of(&self.transaction, job)?;
            if dependents::is_lost(standing.state) {
                let code = dependents::parent_code(standing.state);
                dependents::skip_below(&self.transaction, &standing, code, self.now)?;
            }
        }
        Ok(())
    }
}

fn read(
    (connection, awaited): (&Connection, &Awaited<'_>),
    sql: &str,
    values: impl Params,
    each: &mut dyn FnMut(Prospect) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut beside = JobReader::of(connection)?;
    while let Some(row) = rows.next()? {
        let job: JobId = row.get(0)?;
        let links = beside.links(job)?;
        let (steps_by_shape, shape) = beside.steps(job)?;
        each(Prospect {
            job,
            kind: row.get(1)?,
            state: awaited.state(row.get(2)?),
            remote_id: row.get::<_, Option<Id>>(3)?.map(|id| id.0),
            name: row.get(4)?,
            natural_key: row.get(5)?,
            content_hash: row.get(6)?,
            unmade: beside.unmade(&links)?,
            links,
            steps_by_shape,
            shape,
            row: match row.get::<_, Option<i64>>(7)? {
                Some(place) => Some(ProspectRow {
                    sheet: row_ref::sheet_of(place),
                    number: row_ref::number_of(place),
                    disposition: row.get(8)?,
                }),
                None => None,
            },
        })?;
    }
    Ok(())
}

/// Jobs of which it is remembered whether they are made: few are referred to by many.
const REMEMBERED: usize = 10_000;

/// Reads what belongs to jobs, with statements that are prepared once, and remembers what many of them have in common.
struct JobReader<'c> {
    connection: &'c Connection,
    links: CachedStatement<'c>,
    steps: CachedStatement<'c>,
    is_unmade: CachedStatement<'c>,
    unmade: HashMap<JobId, bool>,
    texts: StoredTexts<'c>,
    /// The action of the first row that was met with each shape, alone.
    shapes: HashMap<i64, Rc<[Action]>>,
}

impl<'c> JobReader<'c> {
    fn of(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            connection,
            links: connection.prepare_cached(job_lookup::LINKS)?,
            steps: connection.prepare_cached(
                "SELECT id, shape, action FROM step
                 WHERE id BETWEEN ?1 << 16 AND (?1 << 16) + 65535 AND ended = 0 ORDER BY id",
            )?,
            is_unmade: connection.prepare_cached("SELECT remote_id IS NULL FROM job WHERE id = ?1")?,
            unmade: HashMap::new(),
            texts: StoredTexts::of(connection),
            shapes: HashMap::new(),
        })
    }

    fn links(&mut self, job: JobId) -> Result<Vec<Link>> {
        job_lookup::read_links(&mut self.links, job)
    }

    /// The jobs that links lead to and that have no record yet.
    fn unmade(&mut self, links: &[Link]) -> Result<Vec<JobId>> {
        let mut unmade = Vec::new();
        for link in links {
            let Target::Job(job) = link.target else { continue };
            let is_unmade = match self.unmade.get(&job) {
                Some(known) => *known,
                None => {
                    if self.unmade.len() >= REMEMBERED {
                        self.unmade.clear();
                    }
                    let is_unmade = self.is_unmade.query_row([job], |row| row.get(0))?;
                    self.unmade.insert(job, is_unmade);
                    is_unmade
                }
            };
            if is_unmade {
                unmade.push(job);
            }
        }
        Ok(unmade)
    }

    /// What is still to be done, and its shape where that is one step with a shape.
    fn steps(&mut self, job: JobId) -> Result<(Rc<[Action]>, Option<i64>)> {
        let mut steps: Vec<Action> = Vec::new();
        let mut alone: Option<(i64, Rc<[Action]>)> = None;
        let mut rows = self.steps.query([job])?;
        while let Some(row) = rows.next()? {
            if let Some((_, first)) = alone.take() {
                steps.extend_from_slice(&first);
            }
            let Some(shape) = row.get::<_, Option<i64>>(1)? else {
                let text = step::text(row, 2)?.unwrap_or_default();
                steps.push(step::parse_action(text)?);
                continue;
            };
            let known = match self.shapes.get(&shape) {
                Some(known) => Rc::clone(known),
                None => {
                    let action = step::action(self.connection, &mut self.texts, row.get(0)?)?;
                    let action: Rc<[Action]> = Rc::new([action]);
                    self.shapes.insert(shape, Rc::clone(&action));
                    action
                }
            };
            match steps.is_empty() {
                true => alone = Some((shape, known)),
                false => steps.extend_from_slice(&known),
            }
        }
        Ok(match alone {
            Some((shape, action)) => (action, Some(shape)),
            None => (steps.into(), None),
        })
    }
}

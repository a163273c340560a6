//! The statements that every new row of an import takes, prepared once: looked up by their text for each row, they take
//! as long as what they do.

use rusqlite::{Connection, Statement};

use crate::error::{Error, Result};
use crate::journal::NewJob;
use crate::journal::file::column::{Id, count};
use crate::journal::intake::new_rows::NewRow;
use crate::journal::row_ref;
use crate::model::id::{ImportId, JobId};
use crate::model::record::{Link, Target};
use crate::model::state::JobState;

/// See the module.
#[derive(Debug)]
pub(in crate::journal) struct Adding<'a> {
    job: Statement<'a>,
    record: Statement<'a>,
    link: Statement<'a>,
    row: Statement<'a>,
    /// The last job that was made, where all jobs are of this import and foreign keys are not looked up.
    last: Option<JobId>,
}

impl<'a> Adding<'a> {
    /// Adds to a journal; `to_nothing` when there is no job in it yet and foreign keys are not looked up.
    pub(in crate::journal) fn to(connection: &'a Connection, to_nothing: bool) -> Result<Self> {
        Ok(Self {
            job: connection.prepare(
                "INSERT INTO job (kind, state, operation, first_import, natural_key, sheet_key, name, content_hash, unsure)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
            record: connection.prepare("INSERT INTO record (job, body) VALUES (?1, ?2)")?,
            link: connection
                .prepare("INSERT INTO link (job, role, target_job, target_id) VALUES (?1, ?2, ?3, ?4)")?,
            row: connection.prepare(
                "INSERT INTO sheet_row (place, job, line, disposition, cells) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?,
            last: to_nothing.then_some(JobId(0)),
        })
    }

    /// Adds a job in `state` with what it is to create.
    pub(in crate::journal) fn job(
        &mut self,
        job: &NewJob,
        body: &str,
        state: JobState,
        (import, unsure): (ImportId, bool),
    ) -> Result<JobId> {
        let id = JobId(self.job.insert((
            job.record.kind(),
            state,
            job.record.creation(),
            import,
            &job.natural_key,
            &job.sheet_key,
            &job.name,
            &job.content_hash,
            unsure,
        ))?);
        if self.last.is_some() {
            self.last = Some(id);
        }
        self.record.execute((id, body))?;
        Ok(id)
    }

    /// Adds what a job refers to.
    pub(in crate::journal) fn links(&mut self, job: JobId, links: &[Link]) -> Result<()> {
        for link in links {
            let (target, id) = match link.target {
                Target::Job(target) => (Some(self.made(target)?), None),
                Target::Remote(id) => (None, Some(Id(id))),
            };
            self.link.execute((job, link.role, target, id))?;
        }
        Ok(())
    }

    /// Adds a row.
    pub(in crate::journal) fn row(&mut self, row: &NewRow, cells: &str) -> Result<()> {
        self.row.execute((
            row_ref::key(row.sheet, row.number),
            self.made(row.job)?,
            row.line.map(count),
            row.disposition,
            cells,
        ))?;
        Ok(())
    }

    /// The job, which must be there.
    fn made(&self, job: JobId) -> Result<JobId> {
        match self.last {
            // Jobs of a first import are numbered from 1 without a gap.
            Some(last) if !(1..=last.0).contains(&job.0) => {
                Err(Error::internal(format!("job {job} was never made")))
            }
            Some(_) | None => Ok(job),
        }
    }
}

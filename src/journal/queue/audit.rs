//! Reading back at the end of a run: which rows are due, and what came of it.
//!
//! A job keeps what its record was sent with (the baseline, whether it was ever in doubt) until it has been read
//! back, so that a later run reads what an interrupted one left, and nothing is read twice. A finding changes no
//! state; how findings are shown is in `view::audit`. What counts as one is decided in the run.

use crate::error::Result;
use crate::journal::file::column::{Id, count};
use crate::journal::queue::work::list;
use crate::journal::state::baseline;
use crate::journal::state::step::{own_steps, text};
use crate::journal::stored_row::{StoredTexts, stored_action};
use crate::journal::view::audit::due;
use crate::journal::view::changes::{self, LaterScope};
use crate::journal::{AuditScope, JobQueue, Unaudited, Work};
use crate::model::action::Action;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::record::{Device, Record, Role};

impl JobQueue<'_> {
    /// Jobs that are to be read back, oldest first, from after the job given. Their `baseline` and `doubted` are
    /// those with which their record was made. Of an upkeep row one for each step that was carried out. While there is a
    /// canary, none but its rows, all of them.
    pub fn unaudited(&self, scope: AuditScope, after: Option<JobId>, limit: usize) -> Result<Vec<Work>> {
        if self.has_canary()? {
            return self.unaudited_of_canary(after);
        }
        let after = after.unwrap_or(JobId(0));
        let mut due: Vec<(JobId, Option<i64>, bool)> = self
            .connection
            .prepare_cached(due!("id, made_baseline, made_doubted", "AND id > ?2 ORDER BY id LIMIT ?3"))?
            .query_map((scope == AuditScope::All, after, count(limit)), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        // A held job has no record and keeps its baseline where it was.
        let held = self
            .connection
            .prepare_cached(
                // Else SQLite takes the table in its order, and looks through all rows after the first to find none.
                "SELECT id, baseline, 1 FROM job INDEXED BY job_held
                 WHERE state = 'held' AND kind = ?3 AND doubted AND remote_id IS NULL AND audit IS NULL
                   AND id > ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map((after, count(limit), Kind::Device), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        due.extend(held);
        due.sort_unstable();
        due.truncate(limit);
        self.as_made(due)
    }

    /// How many rows [`Self::unaudited`] gives in all.
    pub fn count_to_read_back(&self, scope: AuditScope) -> Result<Unaudited> {
        if !self.has_canary()? {
            return self.count_unaudited(scope);
        }
        let mut rows: Vec<(JobId, Kind)> =
            self.unaudited_of_canary(None)?.into_iter().map(|work| (work.job, work.kind)).collect();
        rows.dedup();
        let mut unaudited = Unaudited::default();
        rows.into_iter().for_each(|(_, kind)| unaudited.add(kind, 1));
        Ok(unaudited)
    }

    /// Those of the jobs given whose record is to be read back, as [`Self::unaudited`] gives them.
    pub fn unaudited_among(&self, scope: AuditScope, jobs: &[JobId]) -> Result<Vec<Work>> {
        let due = self
            .connection
            .prepare_cached(due!(
                "id, made_baseline, made_doubted",
                "AND id IN (SELECT value FROM json_each(?2)) ORDER BY id"
            ))?
            .query_map((scope == AuditScope::All, list(jobs)), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
        self.as_made(due)
    }

    /// Jobs as their records were made: with the baseline of that time, and whether they were in doubt.
    fn as_made(&self, due: Vec<(JobId, Option<i64>, bool)>) -> Result<Vec<Work>> {
        let mut works = Vec::with_capacity(due.len());
        for (job, seen, doubted) in due {
            let Some(mut work) = self.journal.work(job)? else { continue };
            work.baseline =
                seen.map(|number| baseline::load(&self.journal.view.connection, number)).transpose()?;
            work.doubted = doubted;
            if work.kind.is_record() {
                works.push(work);
            } else {
                works.extend(self.carried_out(&work)?);
            }
        }
        Ok(works)
    }

    /// An upkeep row at each of its steps that a request carried out; where none is known to have, at all that are done.
    fn carried_out(&self, work: &Work) -> Result<Vec<Work>> {
        let mut statement = self.journal.view.connection.prepare_cached(concat!(
            "SELECT n, operation, ",
            stored_action!("step"),
            ",
                 EXISTS (SELECT 1 FROM attempt WHERE attempt.job = ?1 AND attempt.step = step.n
                     AND attempt.execution IN ('confirmed', 'doubtful'))
             FROM step WHERE ",
            own_steps!(),
            " AND ended = 1 ORDER BY id"
        ))?;
        let mut rows = statement.query([work.job])?;
        let mut texts = StoredTexts::of(&self.journal.view.connection);
        let mut steps = Vec::new();
        while let Some(row) = rows.next()? {
            let action = texts.action(text(row, 2)?)?;
            let step = Work { step: row.get(0)?, operation: row.get(1)?, action, ..work.clone() };
            steps.push((step, row.get::<_, bool>(3)?));
        }
        let some_sent = steps.iter().any(|(_, was_sent)| *was_sent);
        Ok(steps.into_iter().filter(|(_, was_sent)| *was_sent || !some_sent).map(|(step, _)| step).collect())
    }

    /// What other jobs changed of this record, by requests that were sent after the last one of `job` that may have been
    /// carried out, or are still to be answered.
    pub fn changed_later(&self, job: JobId, record: RemoteId) -> Result<Vec<Action>> {
        let later = changes::changed_later(&self.journal.view.connection, job, record, LaterScope::All)?;
        Ok(later.into_iter().map(|change| change.action).collect())
    }

    /// How many devices we made in this company that brought a site of this reference and name along.
    pub fn devices_with_site(&self, company: Option<RemoteId>, device: &Device) -> Result<u64> {
        let mut statement = self.journal.view.connection.prepare_cached(concat!(
            "SELECT ",
            stored_action!("step"),
            " FROM job JOIN step ON step.id = job.id << 16
             WHERE job.kind = ?3 AND job.remote_id IS NOT NULL AND job.outcome IN ('created', 'adopted')
               AND EXISTS (SELECT 1 FROM link LEFT JOIN job AS target ON target.id = link.target_job
                   WHERE link.job = job.id AND link.role = ?1
                     AND coalesce(link.target_id, target.remote_id) IS ?2)"
        ))?;
        let mut rows = statement.query((Role::Company, company.map(Id), Kind::Device))?;
        let mut texts = StoredTexts::of(&self.journal.view.connection);
        let mut devices = 0;
        while let Some(row) = rows.next()? {
            devices +=
                u64::from(matches!(texts.action(text(row, 0)?)?, Action::Create(Record::Device(other))
                if other.custom_site_id == device.custom_site_id
                    && other.custom_site_name == device.custom_site_name));
        }
        Ok(devices)
    }
}

#[cfg(test)]
mod tests;

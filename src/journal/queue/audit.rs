//! Reading back at the end of a run: which rows are due, what was noted about each, and the findings as people see
//! them.
//!
//! A job keeps what its record was sent with (the baseline, whether it was ever in doubt) until it has been read
//! back, so that a later run reads what an interrupted one left, and nothing is read twice. A finding changes no
//! state; how findings are shown is in `view::audit_findings`. What counts as one is decided in the run.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::journal::file::column::{Id, count, natural};
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::queue::work::parse_action;
use crate::journal::state::baseline;
use crate::journal::state::write::parse_candidates;
use crate::journal::state::write::{AuditFinding, ReadBy};
use crate::journal::view::audit_findings::Audited;
use crate::journal::{Candidate, JobQueue, RunId, View, Work};
use crate::model::action::Action;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::reason::Reason;
use crate::model::record::{Device, Record, Role};
use crate::model::time::Moment;

/// Which rows are read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditScope {
    /// All whose record we made or adopted.
    All,
    /// Those among them that were ever in doubt.
    Doubtful,
}

/// What reading back came to, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFigures {
    /// Records that were looked up.
    pub checked: u64,
    /// Those of them of which no look-up could tell whether they are there twice.
    pub doubles_not_checked: u64,
    /// Records that are not there any more.
    pub vanished: u64,
    /// Rows beside whose record there is a second one.
    pub doubled: u64,
    /// Rows that left a site behind which belongs to no row.
    pub orphan_sites: u64,
    /// Records that cannot be verified: no look-up is available, or none was conclusive.
    pub not_checked: u64,
    /// Records that are still to be verified.
    #[serde(default)]
    pub not_verified_yet: u64,
}

impl AuditFigures {
    /// Rows with a finding, those included that a person has looked into.
    pub fn findings(&self) -> u64 {
        self.vanished + self.doubled + self.orphan_sites
    }

    /// Takes in how a row was read back; `made` says whether it has a record of its own.
    pub fn add(&mut self, made: bool, by: ReadBy, code: Option<&str>) {
        if made {
            self.add_reading(by, 1);
        }
        if let Some(code) = code {
            self.add_findings(code, 1);
        }
    }

    /// Counts these findings instead of those noted.
    pub fn set_findings(&mut self, findings: &[Audited]) {
        (self.vanished, self.doubled, self.orphan_sites) = (0, 0, 0);
        for finding in findings {
            self.add_findings(&finding.code, 1);
        }
    }

    fn add_reading(&mut self, by: ReadBy, rows: u64) {
        match by {
            ReadBy::Key => self.checked += rows,
            ReadBy::Id => {
                self.checked += rows;
                self.doubles_not_checked += rows;
            }
            ReadBy::Nothing => self.not_checked += rows,
        }
    }

    fn add_findings(&mut self, code: &str, rows: u64) {
        match code {
            AuditFinding::VANISHED => self.vanished += rows,
            AuditFinding::DOUBLE => self.doubled += rows,
            _ => self.orphan_sites += rows,
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.checked += other.checked;
        self.doubles_not_checked += other.doubles_not_checked;
        self.vanished += other.vanished;
        self.doubled += other.doubled;
        self.orphan_sites += other.orphan_sites;
        self.not_checked += other.not_checked;
        self.not_verified_yet += other.not_verified_yet;
    }
}

impl AuditFinding {
    /// The code of a record that is not there any more.
    pub const VANISHED: &str = Reason::AuditVanished.as_str();
    /// The code of a record beside which there is a second one.
    pub const DOUBLE: &str = Reason::AuditDouble.as_str();
    /// The code of a site that belongs to no row.
    pub const ORPHAN_SITE: &str = Reason::AuditOrphanSite.as_str();
}

impl ReadBy {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "by_key",
            Self::Id => "by_id",
            Self::Nothing => "unread",
        }
    }

    /// `None` for 'due': not yet.
    fn parse(word: &str) -> Option<Self> {
        match word {
            "by_key" => Some(Self::Key),
            "by_id" => Some(Self::Id),
            "unread" => Some(Self::Nothing),
            _ => None,
        }
    }
}

/// The jobs whose record is due; `?1` says whether all of them.
macro_rules! due {
    ($select:literal, $rest:literal) => {
        concat!("SELECT ", $select, " FROM job WHERE audit = 'due' AND (?1 OR made_doubted) ", $rest)
    };
}

impl JobQueue<'_> {
    /// Jobs that are to be read back, oldest first, from after the job given. Their `baseline` and `doubted` are
    /// those with which their record was made.
    pub fn unaudited(&self, scope: AuditScope, after: Option<JobId>, limit: usize) -> Result<Vec<Work>> {
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
                "SELECT id, baseline, 1 FROM job
                 WHERE state = 'held' AND kind = 'device' AND doubted AND remote_id IS NULL AND audit IS NULL
                   AND id > ?1 ORDER BY id LIMIT ?2",
            )?
            .query_map((after, count(limit)), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        due.extend(held);
        due.sort_unstable();
        due.truncate(limit);
        let mut works = Vec::with_capacity(due.len());
        for (job, seen, doubted) in due {
            let Some(mut work) = self.journal.work(job)? else { continue };
            work.baseline =
                seen.map(|number| baseline::load(&self.journal.view.connection, number)).transpose()?;
            work.doubted = doubted;
            works.push(work);
        }
        Ok(works)
    }

    /// How many devices we made in this company that brought a site of this reference and name along.
    pub fn devices_with_site(&self, company: Option<RemoteId>, device: &Device) -> Result<u64> {
        let mut statement = self.journal.view.connection.prepare_cached(
            "SELECT step.action FROM job JOIN step ON step.id = job.id << 16
             WHERE job.kind = 'device' AND job.remote_id IS NOT NULL AND job.outcome IN ('created', 'adopted')
               AND EXISTS (SELECT 1 FROM link LEFT JOIN job AS target ON target.id = link.target_job
                   WHERE link.job = job.id AND link.role = ?1
                     AND coalesce(link.target_id, target.remote_id) IS ?2)",
        )?;
        let mut rows = statement.query((Role::Company, company.map(Id)))?;
        let mut devices = 0;
        while let Some(row) = rows.next()? {
            let body = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            devices += u64::from(matches!(parse_action(body)?, Action::Create(Record::Device(other))
                if other.custom_site_id == device.custom_site_id
                    && other.custom_site_name == device.custom_site_name));
        }
        Ok(devices)
    }

    /// Notes what a run read back.
    pub fn note_audit(&mut self, run: RunId, figures: &AuditFigures) -> Result<()> {
        let text = serde_json::to_string(figures).map_err(unwritable)?;
        self.journal.view.connection.execute("UPDATE run SET audit = ?2 WHERE id = ?1", (run, text))?;
        Ok(())
    }
}

impl View {
    /// How many records are to be read back.
    pub fn count_unaudited(&self, scope: AuditScope) -> Result<u64> {
        let due: i64 = self
            .connection
            .prepare_cached(due!("count(*)", ""))?
            .query_row([scope == AuditScope::All], |row| row.get(0))?;
        Ok(natural(due))
    }

    /// What reading back came to for the rows of an import, or for all jobs.
    pub fn audit_figures(&self, import: Option<ImportId>) -> Result<AuditFigures> {
        let connection = &self.connection;
        match import {
            Some(import) => figures(
                connection,
                "SELECT job.audit, NULL, count(*) FROM sheet
                 JOIN sheet_row ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                 JOIN job ON job.id = sheet_row.job
                 WHERE sheet.import = ?1 AND job.remote_id IS NOT NULL AND job.audit IS NOT NULL GROUP BY 1
                 UNION ALL
                 SELECT NULL, audit.code, count(*) FROM sheet
                 JOIN sheet_row ON sheet_row.place BETWEEN sheet.id << 32 AND ((sheet.id + 1) << 32) - 1
                 JOIN audit ON audit.job = sheet_row.job WHERE sheet.import = ?1 GROUP BY 2",
                [import],
            ),
            None => figures(
                connection,
                "SELECT audit, NULL, count(*) FROM job WHERE remote_id IS NOT NULL AND audit IS NOT NULL GROUP BY 1
                 UNION ALL SELECT NULL, code, count(*) FROM audit GROUP BY 2",
                [],
            ),
        }
    }

    /// What the runs after the one given read back; `None` when none of them did.
    pub fn audited_after(&self, run: Option<RunId>) -> Result<Option<AuditFigures>> {
        let texts: Vec<String> = self
            .connection
            .prepare_cached("SELECT audit FROM run WHERE id > ?1 AND audit IS NOT NULL ORDER BY id")?
            .query_map([run.unwrap_or(RunId(0))], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut sum: Option<AuditFigures> = None;
        for text in texts {
            let figures =
                serde_json::from_str(&text).map_err(|error| damaged("counts of an audit", error))?;
            sum.get_or_insert_default().add_all(&figures);
        }
        Ok(sum)
    }
}

/// Adds up rows of a word of `job.audit` or a code of `audit`, and how many.
fn figures(connection: &Connection, sql: &str, values: impl Params) -> Result<AuditFigures> {
    let mut figures = AuditFigures::default();
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        let (word, code): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
        let many = natural(row.get(2)?);
        if let Some(word) = word {
            match ReadBy::parse(&word) {
                Some(by) => figures.add_reading(by, many),
                None => figures.not_verified_yet += many,
            }
        }
        if let Some(code) = code {
            figures.add_findings(&code, many);
        }
    }
    Ok(figures)
}

/// Notes how a job was read back, unless it has another record by now than the one that was read.
pub(in crate::journal) fn note(
    connection: &Connection,
    (job, id): (JobId, Option<RemoteId>),
    run: RunId,
    by: ReadBy,
    finding: Option<&AuditFinding>,
    at: Moment,
) -> Result<()> {
    let noted = connection
        .prepare_cached("UPDATE job SET audit = ?3 WHERE id = ?1 AND remote_id IS ?2")?
        .execute((job, id.map(Id), by.as_str()))?;
    if noted == 0 {
        return Ok(());
    }
    if let Some(finding) = finding {
        let found = serde_json::to_string(&finding.found).map_err(unwritable)?;
        connection
            .prepare_cached(
                "INSERT INTO audit (job, run, at, code, message, found) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (job) DO UPDATE SET run = ?2, at = ?3, code = ?4, message = ?5, found = ?6",
            )?
            .execute((job, run, at, &finding.code, &finding.message, found))?;
    } else {
        // What was found once and is in order by now. A look by id alone shows no second record; no look, nothing.
        let (all, vanished) = (by == ReadBy::Key, by == ReadBy::Id);
        connection
            .prepare_cached("DELETE FROM audit WHERE job = ?1 AND (?2 OR (?3 AND code = ?4))")?
            .execute((job, all, vanished, AuditFinding::VANISHED))?;
    }
    Ok(())
}

/// The finding about a job, as its row is shown: code, words, records.
pub(in crate::journal) type Shown = (String, String, Vec<Candidate>);

/// The findings about the jobs of a sheet, by job. There are few.
pub(in crate::journal) fn of_places(
    connection: &Connection,
    range: (i64, i64),
) -> Result<BTreeMap<JobId, Shown>> {
    let any: bool =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM audit)")?.query_row([], |row| row.get(0))?;
    if !any {
        return Ok(BTreeMap::new());
    }
    let mut statement = connection.prepare_cached(
        "SELECT audit.job, code, message, found FROM audit
         WHERE EXISTS (SELECT 1 FROM sheet_row WHERE sheet_row.job = audit.job AND place BETWEEN ?1 AND ?2)",
    )?;
    let mut rows = statement.query(range)?;
    let mut shown = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let found: String = row.get(3)?;
        shown.insert(row.get(0)?, (row.get(1)?, row.get(2)?, parse_candidates(Some(&found))?));
    }
    Ok(shown)
}

#[cfg(test)]
mod tests;

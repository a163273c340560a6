//! What reading back came to: its figures, the findings as people see them, and who has looked into which.
//!
//! A finding is told by every run until a person says that it has been looked into; then it stays in the reports only.
//! That a person did is a decision about the finding of one run: what a later run finds is another one. Writing
//! findings down is left to `state::audit`.

use std::collections::BTreeMap;

use rusqlite::{Connection, Params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::journal::file::column::{Id, count, natural};
use crate::journal::file::sqlite_error::damaged;
use crate::journal::row_ref;
use crate::journal::state::decision_log;
use crate::journal::state::selection::{Selection, is_selected};
use crate::journal::state::write::{AuditFinding, ReadBy, parse_candidates};
use crate::journal::view::every_row::rows_with_job;
use crate::journal::{Candidate, Journal, RunId, View};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::Role;
use crate::model::time::Moment;
use crate::model::words::words;

words! {
    /// Which rows are read back.
    pub enum AuditScope: word, parse {
        /// All whose record we made or adopted, and all that changed a record.
        All = "all",
        /// Those among them that were ever in doubt.
        Doubtful = "doubtful",
    }
}

/// The verification, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
    /// Upkeep rows of which was looked up whether what they changed is so.
    #[serde(default)]
    pub changes_checked: u64,
    /// Upkeep rows that were carried out, and of which that is not so any more.
    #[serde(default)]
    pub reverted: u64,
    /// Upkeep rows that cannot be verified: no look-up is available, or none was conclusive.
    #[serde(default)]
    pub changes_not_checked: u64,
    /// Rows that added a licence code: the service has no operation that shows one.
    #[serde(default)]
    pub licences_not_shown: u64,
    /// Upkeep rows that are still to be verified.
    #[serde(default)]
    pub changes_not_verified_yet: u64,
}

/// What is read back of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditSubject {
    /// The record that it made.
    Record,
    /// What it changed of a record that exists.
    Change,
    /// The licence code that it added, which no look-up shows.
    Licence,
    /// What a row on hold may have left behind.
    Leftover,
}

impl AuditSubject {
    /// Of a row of this kind; `made` says whether it has a record of its own.
    pub fn of(kind: Kind, made: bool) -> Self {
        match kind {
            Kind::Upkeep(Upkeep::Licences) => Self::Licence,
            Kind::Upkeep(_) => Self::Change,
            Kind::Company | Kind::Site | Kind::Person | Kind::Device if made => Self::Record,
            Kind::Company | Kind::Site | Kind::Person | Kind::Device => Self::Leftover,
        }
    }
}

/// How many rows are to be read back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Unaudited {
    /// Those that made a record.
    pub records: u64,
    /// Upkeep rows, but those that added a licence code.
    pub changes: u64,
    /// Rows that added a licence code, which no look-up shows.
    pub licences: u64,
}

impl Unaudited {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.records + self.changes + self.licences
    }

    /// Takes in rows of a kind.
    pub(in crate::journal) fn add(&mut self, kind: Kind, rows: u64) {
        match kind {
            Kind::Upkeep(Upkeep::Licences) => self.licences += rows,
            Kind::Upkeep(_) => self.changes += rows,
            Kind::Company | Kind::Site | Kind::Person | Kind::Device => self.records += rows,
        }
    }
}

impl AuditFigures {
    /// Rows with a finding, those included that a person has looked into.
    pub fn findings(&self) -> u64 {
        self.vanished + self.doubled + self.orphan_sites + self.reverted
    }

    /// Rows that are still to be verified.
    pub const fn unread(&self) -> u64 {
        self.not_verified_yet + self.changes_not_verified_yet
    }

    /// Takes in how a row was read back.
    pub fn add(&mut self, subject: AuditSubject, by: ReadBy, code: Option<&str>) {
        self.add_reading(subject, by, 1);
        if let Some(code) = code {
            self.add_finding(code);
        }
    }

    /// Counts these findings instead of those noted.
    pub fn set_findings(&mut self, findings: &[Audited]) {
        (self.vanished, self.doubled, self.orphan_sites, self.reverted) = (0, 0, 0, 0);
        for finding in findings {
            self.add_finding(&finding.code);
        }
    }

    /// Counts these rows as left to the next run, instead of those noted.
    pub fn set_unread(&mut self, due: Unaudited) {
        (self.not_verified_yet, self.changes_not_verified_yet) = (due.records, due.changes + due.licences);
    }

    /// Takes in rows that are left to the next run.
    pub fn add_unread(&mut self, subject: AuditSubject, rows: u64) {
        match subject {
            AuditSubject::Change | AuditSubject::Licence => self.changes_not_verified_yet += rows,
            AuditSubject::Record | AuditSubject::Leftover => self.not_verified_yet += rows,
        }
    }

    fn add_reading(&mut self, subject: AuditSubject, by: ReadBy, rows: u64) {
        match (subject, by) {
            (AuditSubject::Record, ReadBy::Key) => self.checked += rows,
            (AuditSubject::Record, ReadBy::Id) => {
                self.checked += rows;
                self.doubles_not_checked += rows;
            }
            (AuditSubject::Record, ReadBy::Nothing) => self.not_checked += rows,
            (AuditSubject::Change | AuditSubject::Licence, ReadBy::Key | ReadBy::Id) => {
                self.changes_checked += rows;
            }
            (AuditSubject::Change, ReadBy::Nothing) => self.changes_not_checked += rows,
            (AuditSubject::Licence, ReadBy::Nothing) => self.licences_not_shown += rows,
            (AuditSubject::Leftover, _) => {}
        }
    }

    fn add_finding(&mut self, code: &str) {
        match code {
            AuditFinding::VANISHED => self.vanished += 1,
            AuditFinding::DOUBLE => self.doubled += 1,
            AuditFinding::REVERTED => self.reverted += 1,
            _ => self.orphan_sites += 1,
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
        self.changes_checked += other.changes_checked;
        self.reverted += other.reverted;
        self.changes_not_checked += other.changes_not_checked;
        self.licences_not_shown += other.licences_not_shown;
        self.changes_not_verified_yet += other.changes_not_verified_yet;
    }
}

/// The jobs whose record is due; `?1` says whether all of them.
macro_rules! due {
    ($select:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $select,
            " FROM job WHERE audit = 'due' AND outcome IS NOT NULL AND (?1 OR made_doubted) ",
            $rest
        )
    };
}
pub(in crate::journal) use due;

/// A finding, for the person who looks into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// The records that an upkeep row is about, by their names or ids.
    pub about: Vec<(Role, String)>,
    /// Its place, `file!sheet!row`.
    pub place: String,
    /// The import of that row.
    pub import: ImportId,
    /// The record it made.
    pub id: Option<RemoteId>,
    /// The machine code.
    pub code: String,
    /// The same in words.
    pub message: String,
    /// The records it speaks of.
    pub found: Vec<Candidate>,
    /// When it was found.
    pub at: Moment,
    /// The run that found it.
    pub run: RunId,
    /// Who has looked into it, and when; `None` while a person must.
    pub seen: Option<(String, Moment)>,
}

impl Journal {
    /// Notes that a person has looked into the findings that `jobs` or, without any, `selection` means; returns those
    /// nobody had looked into before. A finding of a later run is another one.
    pub fn acknowledge(
        &mut self,
        jobs: &[JobId],
        selection: &Selection,
        who: &str,
        at: Moment,
    ) -> Result<Vec<Audited>> {
        let transaction = self.begin()?;
        let unseen = findings(&transaction, selection.import, None)?.into_iter().filter(|f| f.seen.is_none());
        let mut acknowledged = Vec::new();
        for finding in unseen {
            let meant = if jobs.is_empty() {
                selection.code.as_ref().is_none_or(|code| *code == finding.code)
                    && is_selected(&transaction, finding.job, selection)?
            } else {
                jobs.contains(&finding.job)
            };
            if meant {
                let run = finding.run.0.to_string();
                decision_log::note(&transaction, at, who, "seen", Some(finding.job), None, Some(&run))?;
                acknowledged.push(finding);
            }
        }
        transaction.commit()?;
        Ok(acknowledged)
    }
}

impl View {
    /// The findings about the rows of an import, or about all jobs, in the order of the jobs; only those of runs
    /// after the one given, when one is.
    pub fn audit_findings(&self, import: Option<ImportId>, after: Option<RunId>) -> Result<Vec<Audited>> {
        findings(&self.connection, import, after)
    }

    /// The findings about the rows of an import, or about all jobs, that nobody has looked into yet.
    pub fn unseen_findings(&self, import: Option<ImportId>) -> Result<Vec<Audited>> {
        let mut findings = self.audit_findings(import, None)?;
        findings.retain(|finding| finding.seen.is_none());
        Ok(findings)
    }
}

/// Findings about rows of the import `?1`, those included that it left out and that came again; where there is no `?1`, all.
// CROSS JOIN: the few findings are looked up among all jobs, and not the other way round.
const FINDINGS: &str =
    "SELECT job.id, job.kind, job.name, job.remote_id, audit.code, audit.message, audit.found,
         audit.at, audit.run, decision.who, decision.at
     FROM audit CROSS JOIN job ON job.id = audit.job
     LEFT JOIN decision ON decision.id = (SELECT max(id) FROM decision AS seen
         WHERE seen.job = audit.job AND seen.what = 'seen' AND seen.details = CAST(audit.run AS TEXT))
     WHERE audit.run > ?2 AND (?1 IS NULL
         OR EXISTS (SELECT 1 FROM sheet_row AS own JOIN sheet ON sheet.id = own.place >> 32
             WHERE own.job = audit.job AND sheet.import = ?1)
         OR EXISTS (SELECT 1 FROM left_out AS own JOIN sheet ON sheet.id = own.place >> 32
             WHERE own.job = audit.job AND sheet.import = ?1))
     ORDER BY audit.job";

fn findings(connection: &Connection, import: Option<ImportId>, after: Option<RunId>) -> Result<Vec<Audited>> {
    let mut statement = connection.prepare_cached(FINDINGS)?;
    let mut rows = statement.query((import, after.unwrap_or(RunId(0))))?;
    let mut findings = Vec::new();
    while let Some(row) = rows.next()? {
        let (job, kind) = (row.get(0)?, row.get(1)?);
        let found: String = row.get(6)?;
        findings.push(Audited {
            job,
            kind,
            name: row.get(2)?,
            about: row_ref::about(connection, job, kind)?,
            place: row_ref::of_job(connection, job)?,
            import: row_ref::last_import_of(connection, job)?,
            id: row.get::<_, Option<Id>>(3)?.map(|id| id.0),
            code: row.get(4)?,
            message: row.get(5)?,
            found: parse_candidates(Some(&found))?,
            at: row.get(7)?,
            run: row.get(8)?,
            seen: match (row.get(9)?, row.get(10)?) {
                (Some(who), Some(at)) => Some((who, at)),
                _ => None,
            },
        });
    }
    Ok(findings)
}

impl View {
    /// How many rows are to be read back.
    pub fn count_unaudited(&self, scope: AuditScope) -> Result<Unaudited> {
        let mut unaudited = Unaudited::default();
        for (kind, rows) in due_by_kind(&self.connection, scope, None)? {
            unaudited.add(kind, rows);
        }
        Ok(unaudited)
    }

    /// How many rows the last run was to read back and has not, of those that an import brought first, or of all.
    pub fn left_to_verify(&self, import: Option<ImportId>) -> Result<u64> {
        let terms: Option<Value> = self.last_terms()?.and_then(|terms| serde_json::from_str(&terms).ok());
        let word = terms.as_ref().and_then(|terms| terms.pointer("/policy/audit")?.as_str());
        let Some(scope) = word.and_then(AuditScope::parse) else { return Ok(0) };
        Ok(due_by_kind(&self.connection, scope, import)?.values().sum())
    }

    /// What reading back came to for the rows of an import, or for all jobs.
    pub fn audit_figures(&self, import: Option<ImportId>) -> Result<AuditFigures> {
        let connection = &self.connection;
        let mut figures = AuditFigures::default();
        match import {
            // Several rows may be one job, and that of an earlier import.
            Some(import) if !self.makes_each(import)? => add_read_back(
                connection,
                rows_with_job!(
                    "SELECT job.audit, job.kind, job.first_import, count(DISTINCT job.id) FROM ",
                    " AS rows JOIN job ON job.id = rows.job
                     WHERE job.outcome IS NOT NULL AND job.audit IS NOT NULL GROUP BY 1, 2, 3"
                ),
                [import],
                |_| true,
                &mut figures,
            )?,
            _ => add_read_back(
                connection,
                READ_BACK,
                [],
                |made_by| import.is_none_or(|import| import == made_by),
                &mut figures,
            )?,
        }
        figures.set_findings(&self.audit_findings(import, None)?);
        Ok(figures)
    }

    /// Where the rows are that could not be verified, of an import or of all: the first of them, `file!sheet!row` each. Those
    /// that added a licence code are not among them, as none of these can be.
    pub fn places_not_verified(&self, import: Option<ImportId>, most: usize) -> Result<Vec<String>> {
        let jobs: Vec<JobId> = self
            .connection
            .prepare_cached(
                "SELECT job.id FROM job INDEXED BY job_unread
                 WHERE audit = 'unread' AND outcome IS NOT NULL AND kind <> ?2 AND (?1 IS NULL
                     OR EXISTS (SELECT 1 FROM sheet_row AS own JOIN sheet ON sheet.id = own.place >> 32
                         WHERE own.job = job.id AND sheet.import = ?1)
                     OR EXISTS (SELECT 1 FROM left_out AS own JOIN sheet ON sheet.id = own.place >> 32
                         WHERE own.job = job.id AND sheet.import = ?1))
                 ORDER BY job.id LIMIT ?3",
            )?
            .query_map((import, Kind::Upkeep(Upkeep::Licences), count(most)), |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        jobs.into_iter().map(|job| row_ref::of_job(&self.connection, job)).collect()
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

/// The jobs that made or changed something, by how they were read back.
const READ_BACK: &str = "SELECT audit, kind, first_import, jobs FROM job_count WHERE audit <> ''";

/// Adds the jobs of a statement that were made by an import that is `wanted`: how they were read back, their kind, their
/// import, how many they are.
fn add_read_back(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    wanted: impl Fn(ImportId) -> bool,
    figures: &mut AuditFigures,
) -> Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        if !wanted(row.get(2)?) {
            continue;
        }
        let (subject, jobs) = (AuditSubject::of(row.get(1)?, true), natural(row.get(3)?));
        match ReadBy::parse(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?) {
            Some(by) => figures.add_reading(subject, by, jobs),
            None => figures.add_unread(subject, jobs),
        }
    }
    Ok(())
}

/// The rows that are to be read back, by kind: of those that an import brought first, or of all.
pub(in crate::journal) fn due_by_kind(
    connection: &Connection,
    scope: AuditScope,
    import: Option<ImportId>,
) -> Result<BTreeMap<Kind, u64>> {
    let due = connection
        .prepare_cached(
            "SELECT kind, sum(jobs) FROM job_count
             WHERE audit = 'due' AND jobs > 0 AND (?1 OR made_doubted) AND (?2 IS NULL OR first_import = ?2) GROUP BY kind",
        )?
        .query_map((scope == AuditScope::All, import), |row| Ok((row.get(0)?, natural(row.get(1)?))))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(due)
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
         WHERE EXISTS (SELECT 1 FROM sheet_row WHERE sheet_row.job = audit.job AND place BETWEEN ?1 AND ?2)
             OR audit.job IN (SELECT job FROM left_out WHERE place BETWEEN ?1 AND ?2)",
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
mod tests {
    use super::*;
    use crate::journal::Write;
    use crate::journal::fixture::*;
    use crate::journal::state::audit::{REVERTED_JOBS, REVERTED_OF_RECORD};
    use crate::journal::state::write::{AuditFinding, ReadBy};
    use crate::model::operation::Operation::AddCompany;
    use crate::model::state::JobState::Sending;

    #[test]
    fn findings_are_not_sought_among_all_jobs() {
        let bench = bench();
        for sql in [FINDINGS, REVERTED_JOBS, REVERTED_OF_RECORD] {
            let plan = plan(&bench.journal, sql);
            assert!(plan.contains(&"SCAN audit".to_owned()), "{sql}: {plan:?}");
        }
    }

    fn vanished(bench: &mut Bench, run: RunId, job: JobId, number: u128) {
        let content = bench.journal.work(job).unwrap().expect("a job").content_hash;
        let finding = Some(AuditFinding {
            code: AuditFinding::VANISHED.to_owned(),
            message: "gone".to_owned(),
            found: vec![],
        });
        let audited = Write::Audited {
            job,
            id: Some(id(number)),
            content,
            run,
            by: ReadBy::Key,
            finding,
            site: None,
            at: at(9_000),
        };
        apply(&mut bench.journal, audited).unwrap();
    }

    #[test]
    fn a_finding_is_open_until_a_person_has_looked_into_it_and_one_of_a_later_run_is_another() {
        let mut bench = bench();
        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt", "Coil"], false);
        let run = bench.journal.queue().begin_run(at(1)).unwrap();
        for (job, number) in jobs.iter().zip(1_u128..) {
            apply(&mut bench.journal, claim(*job, AddCompany)).unwrap();
            apply(&mut bench.journal, created(*job, Sending, id(number))).unwrap();
            vanished(&mut bench, run, *job, number);
        }
        let open = |bench: &Bench| -> Vec<JobId> {
            bench.journal.unseen_findings(None).unwrap().iter().map(|finding| finding.job).collect()
        };
        assert_eq!(open(&bench), jobs);
        let all = Selection::default();
        let see = |bench: &mut Bench, jobs: &[JobId], selection: &Selection| {
            bench.journal.acknowledge(jobs, selection, "kim", at(9_500)).unwrap().len()
        };
        assert_eq!(see(&mut bench, &jobs[..1], &all), 1);
        assert_eq!(see(&mut bench, &jobs[..1], &all), 0, "once");
        assert_eq!(open(&bench), jobs[1..]);
        let findings = bench.journal.audit_findings(Some(imported.import), None).unwrap();
        assert_eq!(findings.len(), 3, "they stay in the reports");
        assert_eq!(findings[0].seen, Some(("kim".to_owned(), at(9_500))));

        let elsewhere = Selection { import: Some(ImportId(9)), ..Selection::default() };
        let double = Selection { code: Some(AuditFinding::DOUBLE.into()), ..Selection::default() };
        assert_eq!(see(&mut bench, &[], &elsewhere) + see(&mut bench, &[], &double), 0);
        let here = Selection {
            import: Some(imported.import),
            code: Some(AuditFinding::VANISHED.into()),
            ..Selection::default()
        };
        assert_eq!(see(&mut bench, &[], &here), 2);
        assert_eq!(open(&bench), []);

        let later = bench.journal.queue().begin_run(at(10_000)).unwrap();
        vanished(&mut bench, later, jobs[0], 1);
        assert_eq!(open(&bench), jobs[..1]);
    }
}

//! Imports: all rows of the sheets read together, in one transaction, or none of them.
//!
//! Which row is new, revised or recognised is decided by the importer; here the jobs are made or changed and stand
//! ready or blocked by what they link to.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Transaction};

use super::column::{Id, count};
use super::failure::unwritable;
use super::release::{self, Ground};
use super::standing::{self, Standing};
use super::transition::next_step;
use super::{Disposition, Imported, Journal, NewJob, NewRow, NewSheet, SheetId, place, view};
use crate::error::{Error, Result};
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::record::{Extra, Link, Target};
use crate::model::state::JobState::{self, Blocked, Cancelled, Deferred, Ready, Rejected, Skipped};
use crate::model::time::Moment;

impl Journal {
    /// Begins an import. Nothing of it is seen by others before [`ImportWriter::finish`]; dropped, it never was.
    pub fn begin_import(&mut self, now: Moment) -> Result<ImportWriter<'_>> {
        let transaction = self.begin()?;
        let import =
            ImportId(transaction.prepare_cached("INSERT INTO import (at) VALUES (?1)")?.insert([now])?);
        Ok(ImportWriter {
            transaction,
            import,
            now,
            files: 0,
            sheets: BTreeMap::new(),
            lost: BTreeSet::new(),
            dispositions: [0; 4],
        })
    }
}

/// An import under way.
#[derive(Debug)]
pub struct ImportWriter<'a> {
    pub(super) transaction: Transaction<'a>,
    import: ImportId,
    now: Moment,
    files: i64,
    /// Rows so far of each sheet.
    sheets: BTreeMap<SheetId, u64>,
    /// Jobs that will not be made, and that jobs of this import link to. Looked at again at the end, since a later
    /// row may yet correct them.
    lost: BTreeSet<JobId>,
    /// Rows so far, by disposition.
    dispositions: [u64; 4],
}

impl ImportWriter<'_> {
    /// The number of this import.
    pub fn import(&self) -> ImportId {
        self.import
    }

    /// Notes a file that was read.
    pub fn file(&mut self, name: &str, sha256: &str) -> Result<()> {
        self.files += 1;
        self.transaction
            .prepare_cached(
                "INSERT INTO import_file (import, position, name, sha256) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute((self.import, self.files, name, sha256))?;
        Ok(())
    }

    /// Adds a sheet; its rows follow.
    pub fn sheet(&mut self, sheet: &NewSheet) -> Result<SheetId> {
        let headers = serde_json::to_string(&sheet.headers).map_err(unwritable)?;
        let id = self
            .transaction
            .prepare_cached(
                "INSERT INTO sheet (import, name, file, worksheet, kind, headers, header_row)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .insert((
                self.import,
                &sheet.name,
                &sheet.file,
                &sheet.worksheet,
                sheet.kind,
                &headers,
                sheet.header_row,
            ))?;
        let id = SheetId(id);
        self.sheets.insert(id, 0);
        Ok(id)
    }

    /// Makes a job. It stands ready, or blocked while a job it links to has no record yet; below a job that
    /// will not be made it is skipped when the import ends.
    pub fn add_job(&mut self, job: &NewJob) -> Result<JobId> {
        let body = serde_json::to_string(&job.record).map_err(unwritable)?;
        let state = self.footing(&job.links)?;
        let id = self
            .transaction
            .prepare_cached(
                "INSERT INTO job (kind, state, operation, first_import, natural_key, sheet_key, name, content_hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .insert((
                job.record.kind(),
                state,
                job.record.creation(),
                self.import,
                &job.natural_key,
                &job.sheet_key,
                &job.name,
                &job.content_hash,
            ))?;
        let id = JobId(id);
        self.transaction
            .prepare_cached("INSERT INTO record (job, body) VALUES (?1, ?2)")?
            .execute((id, &body))?;
        add_links(&self.transaction, id, &job.links)?;
        for (extra, n) in job.extras.iter().zip(1_u32..) {
            add_step(&self.transaction, id, job.record.kind(), n, extra, "waiting")?;
        }
        Ok(id)
    }

    /// Gives a job new values, and another chance. Allowed from blocked, ready, deferred, rejected, skipped and
    /// cancelled; a creation that was done stays done, and so do the steps after it that have not changed.
    pub fn revise_job(&mut self, job: JobId, values: &NewJob) -> Result<()> {
        let standing = standing::of(&self.transaction, job)?;
        standing.leaves(&[Blocked, Ready, Deferred, Rejected, Skipped, Cancelled], "revised")?;
        let kind = values.record.kind();
        if kind != standing.kind {
            return Err(Error::internal(format!(
                "job {job} is a {}, not a {}",
                standing.kind.singular(),
                kind.singular()
            )));
        }
        let body = serde_json::to_string(&values.record).map_err(unwritable)?;
        self.transaction
            .prepare_cached("UPDATE record SET body = ?2 WHERE job = ?1")?
            .execute((job, &body))?;
        self.transaction.prepare_cached("DELETE FROM link WHERE job = ?1")?.execute([job])?;
        add_links(&self.transaction, job, &values.links)?;
        revise_steps(&self.transaction, &standing, &values.extras)?;

        let footing = self.footing(&values.links)?;
        let (state, step, operation) = match (standing.remote_id, next_step(&self.transaction, job)?) {
            (None, _) => (footing, 0, values.record.creation()),
            (Some(_), Some((step, operation))) => (Ready, step, operation),
            // Nothing is left to do: the job is what its creation made of it.
            (Some(_), None) => (standing.outcome.unwrap_or(Ready), standing.step, standing.operation),
        };
        let finished_at = state.is_final().then_some(self.now);
        standing.change(
            &self.transaction,
            // What is known of earlier sends is about the old natural key and is worth nothing for another one.
            "UPDATE job SET state = ?3, step = ?4, operation = ?5, finished_at = ?6,
                natural_key = ?7, sheet_key = ?8, name = ?9, content_hash = ?10,
                doubted = iif(natural_key = ?7 AND step = ?4, doubted, 0),
                first_sent_at = iif(natural_key = ?7 AND step = ?4, first_sent_at, NULL),
                baseline = iif(natural_key = ?7 AND step = ?4, baseline, NULL),
                step_attempts = 0, deferrals = 0, deaths = 0, executed = 0, due = NULL,
                doubt = NULL, doubt_since = NULL, absent_reads = 0, looks = 0, held_since = NULL,
                code = NULL, message = NULL, violations = NULL, candidates = NULL
             WHERE id = ?1 AND state = ?2",
            &[
                &state,
                &step,
                &operation,
                &finished_at,
                &values.natural_key,
                &values.sheet_key,
                &values.name,
                &values.content_hash,
            ],
        )?;
        release::revive_below(&self.transaction, job)?;
        Ok(())
    }

    /// Adds a row.
    pub fn row(&mut self, row: &NewRow) -> Result<()> {
        let Some(rows) = self.sheets.get_mut(&row.sheet) else {
            return Err(Error::internal(format!("sheet {} is not of this import", row.sheet)));
        };
        *rows += 1;
        let cells = serde_json::to_string(&row.cells).map_err(unwritable)?;
        self.transaction
            .prepare_cached(
                "INSERT INTO sheet_row (place, job, line, disposition, cells) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((
                place::key(row.sheet, row.number),
                row.job,
                row.line.map(count),
                row.disposition,
                &cells,
            ))?;
        self.dispositions[row.disposition as usize] += 1;
        Ok(())
    }

    /// Commits the import: when this returns, all of it is on disk.
    pub fn finish(self) -> Result<Imported> {
        for &job in &self.lost {
            let standing = standing::of(&self.transaction, job)?;
            if release::is_lost(standing.state) {
                let code = match standing.state {
                    Cancelled => release::PARENT_CANCELLED,
                    _ => release::PARENT_REJECTED,
                };
                release::skip_below(&self.transaction, &standing, code, self.now)?;
            }
        }
        let mut rows = 0;
        for (&sheet, &count_of_sheet) in &self.sheets {
            rows += count_of_sheet;
            self.transaction
                .prepare_cached("UPDATE sheet SET row_count = ?2 WHERE id = ?1")?
                .execute((sheet, count(count_of_sheet)))?;
        }
        self.transaction
            .prepare_cached("UPDATE import SET row_count = ?2 WHERE id = ?1")?
            .execute((self.import, count(rows)))?;
        let tally = view::tally_of(&self.transaction, self.import)?;
        self.transaction.commit()?;
        let of = |disposition: Disposition| self.dispositions[disposition as usize];
        Ok(Imported {
            import: self.import,
            rows,
            tally,
            added: of(Disposition::New),
            revised: of(Disposition::Revised),
            recognised: of(Disposition::Recognised),
            changed_since: of(Disposition::ChangedSince),
        })
    }

    /// Where a job with these links stands before anything is sent.
    fn footing(&mut self, links: &[Link]) -> Result<JobState> {
        let mut state = Ready;
        for link in links {
            let Target::Job(target) = link.target else { continue };
            let mut statement =
                self.transaction.prepare_cached("SELECT state, remote_id IS NULL FROM job WHERE id = ?1")?;
            let (parent, unmade): (JobState, bool) =
                statement.query_row([target], |row| Ok((row.get(0)?, row.get(1)?)))?;
            if unmade {
                state = Blocked;
                if release::is_lost(parent) {
                    self.lost.insert(target);
                }
            }
        }
        Ok(state)
    }
}

fn add_links(connection: &Connection, job: JobId, links: &[Link]) -> Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT INTO link (job, role, target_job, target_id) VALUES (?1, ?2, ?3, ?4)")?;
    for link in links {
        let (target, id) = match link.target {
            Target::Job(target) => (Some(target), None),
            Target::Remote(id) => (None, Some(Id(id))),
        };
        statement.execute((job, link.role, target, id))?;
    }
    Ok(())
}

fn add_step(
    connection: &Connection,
    job: JobId,
    kind: Kind,
    n: u32,
    extra: &Extra,
    state: &str,
) -> Result<()> {
    let operation = extra.operation(kind).ok_or_else(|| {
        Error::internal(format!("the service has no operation for this of a {}: {extra:?}", kind.singular()))
    })?;
    let action = serde_json::to_string(extra).map_err(unwritable)?;
    connection
        .prepare_cached("INSERT INTO step (job, n, operation, action, state) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute((job, n, operation, &action, state))?;
    Ok(())
}

/// Replaces the steps after the creation; one that was done and is asked for unchanged stays done.
fn revise_steps(connection: &Connection, standing: &Standing, extras: &[Extra]) -> Result<()> {
    let mut done: Vec<String> = connection
        .prepare_cached("SELECT action FROM step WHERE job = ?1 AND state = 'done'")?
        .query_map([standing.job], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    connection.prepare_cached("DELETE FROM step WHERE job = ?1")?.execute([standing.job])?;
    for (extra, n) in extras.iter().zip(1_u32..) {
        let action = serde_json::to_string(extra).map_err(unwritable)?;
        let state = match done.iter().position(|known| *known == action) {
            Some(found) => {
                done.swap_remove(found);
                "done"
            }
            None => "waiting",
        };
        add_step(connection, standing.job, standing.kind, n, extra, state)?;
    }
    Ok(())
}

/// Where a job that is given another chance stands, with its creation not done.
pub(super) fn footing_of(connection: &Connection, standing: &Standing) -> Result<JobState> {
    if standing.remote_id.is_some() {
        return Ok(Ready);
    }
    Ok(match release::ground(connection, standing.job)? {
        Ground::Firm => Ready,
        Ground::Waiting | Ground::Lost(_) => Blocked,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::fixture::*;
    use crate::journal::{Evidence, How, Write};
    use crate::model::operation::Operation;
    use crate::model::record::Role;
    use crate::model::state::JobState::{Adopted, Created, Done, Existing, Held, InDoubt, Sending};

    #[test]
    fn an_import_is_there_whole_or_not_at_all() {
        let mut bench = bench();
        {
            let mut import = bench.journal.begin_import(at(1)).unwrap();
            let sheet = import.sheet(&sheet("customers", Kind::Company)).unwrap();
            let job = import.add_job(&company("Acme", vec![])).unwrap();
            import.row(&row(sheet, 2, job, Disposition::New)).unwrap();
        }
        assert!(bench.journal.imports().unwrap().is_empty());
        assert!(bench.journal.by_natural_key(Kind::Company, "Acme").unwrap().is_none());

        let (imported, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], true);
        assert_eq!((imported.rows, imported.added, imported.recognised), (2, 2, 0));
        assert_eq!(imported.tally.of(Kind::Company, Ready), 1);
        assert_eq!(imported.tally.of(Kind::Company, Blocked), 1);
        let known = bench.journal.by_natural_key(Kind::Company, "Bolt").unwrap().unwrap();
        assert_eq!((known.job, known.state, known.first_import), (jobs[1], Blocked, imported.import));
        assert_eq!(known.links, [link(Role::Parent, jobs[0])]);
        assert!(bench.journal.by_natural_key(Kind::Site, "Bolt").unwrap().is_none());
    }

    #[test]
    fn jobs_are_found_by_key_name_and_id_newest_first_while_the_import_goes_on() {
        let mut bench = bench();
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let first = import.add_job(&company("Acme", vec![])).unwrap();
        let second = import
            .add_job(&NewJob {
                natural_key: "other".into(),
                ..company("Acme", vec![link(Role::Parent, first)])
            })
            .unwrap();
        let jobs = |known: Vec<crate::journal::KnownJob>| -> Vec<JobId> {
            known.iter().map(|known| known.job).collect()
        };
        assert_eq!(jobs(import.by_sheet_key(Kind::Company, "acme").unwrap()), [second, first]);
        assert_eq!(jobs(import.by_name(Kind::Company, "Acme").unwrap()), [second, first]);
        assert!(import.by_name(Kind::Company, "ACME").unwrap().is_empty());
        import.finish().unwrap();
        apply(&mut bench.journal, created(first, Ready, id(1))).unwrap();
        assert_eq!(bench.journal.by_remote_id(Kind::Company, id(1)).unwrap().unwrap().job, first);
        assert!(bench.journal.by_remote_id(Kind::Site, id(1)).unwrap().is_none());
    }

    #[test]
    fn a_job_is_revised_only_from_states_in_which_nothing_is_under_way_or_done() {
        let mut bench = bench();
        for (&from, number) in JobState::ALL.iter().zip(0..) {
            let name = format!("Acme {number}");
            let (_, jobs) = import_companies(&mut bench.journal, &[name.as_str()], false);
            force(&bench.journal, jobs[0], from);
            let allowed = match from {
                Blocked | Ready | Deferred | Rejected | Skipped | Cancelled => true,
                Sending | InDoubt | Held | Created | Adopted | Existing | Done => false,
            };
            let mut import = bench.journal.begin_import(at(2)).unwrap();
            let revised = import.revise_job(jobs[0], &company(&name, vec![]));
            assert_eq!(revised.is_ok(), allowed, "{from}");
            import.finish().unwrap();
            assert_eq!(state(&bench.journal, jobs[0]), if allowed { Ready } else { from });
        }
    }

    #[test]
    fn a_corrected_parent_brings_its_skipped_descendants_back() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Top", "Middle", "Low"], true);
        apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
        assert_eq!(state(&bench.journal, jobs[2]), Skipped);
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        let mut values = company("Top", vec![]);
        values.content_hash = "corrected".into();
        import.revise_job(jobs[0], &values).unwrap();
        import.finish().unwrap();
        assert_eq!(
            jobs.iter().map(|&job| state(&bench.journal, job)).collect::<Vec<_>>(),
            [Ready, Blocked, Blocked]
        );
        assert_eq!((code(&bench.journal, jobs[0]), message(&bench.journal, jobs[1])), (None, None));
        let known = bench.journal.by_natural_key(Kind::Company, "Top").unwrap().unwrap();
        assert_eq!(known.content_hash, "corrected");
    }

    #[test]
    fn what_is_below_two_rejected_ones_comes_back_when_both_are_corrected() {
        let mut bench = bench();
        let (_, jobs) = import_companies(&mut bench.journal, &["Acme", "Bolt"], false);
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        let links = vec![link(Role::Company, jobs[0]), link(Role::Parent, jobs[1])];
        let child = import.add_job(&site("Depot", links, vec![])).unwrap();
        import.finish().unwrap();
        apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
        apply(&mut bench.journal, rejected(jobs[1], Ready)).unwrap();
        for (job, expected) in [(jobs[0], Skipped), (jobs[1], Blocked)] {
            let known = bench.journal.work(job).unwrap().unwrap();
            let mut import = bench.journal.begin_import(at(3)).unwrap();
            import.revise_job(job, &company(known.record.name(), vec![])).unwrap();
            import.finish().unwrap();
            assert_eq!(state(&bench.journal, child), expected);
        }
    }

    #[test]
    fn a_new_row_below_a_rejected_one_is_skipped_unless_the_same_import_corrects_it() {
        for corrected in [false, true] {
            let mut bench = bench();
            let (_, jobs) = import_companies(&mut bench.journal, &["Top"], false);
            apply(&mut bench.journal, rejected(jobs[0], Ready)).unwrap();
            let mut import = bench.journal.begin_import(at(2)).unwrap();
            let child = import.add_job(&site("Depot", vec![link(Role::Company, jobs[0])], vec![])).unwrap();
            if corrected {
                import.revise_job(jobs[0], &company("Top", vec![])).unwrap();
            }
            import.finish().unwrap();
            assert_eq!(state(&bench.journal, child), if corrected { Blocked } else { Skipped });
        }
    }

    #[test]
    fn a_step_rejected_after_the_creation_is_revised_without_creating_again() {
        let mut bench = bench();
        let labels = Extra::Labels(vec!["north".into()]);
        let mut import = bench.journal.begin_import(at(1)).unwrap();
        let wrong = vec![labels.clone(), Extra::Metadata(vec![])];
        let job = import.add_job(&site("Depot", vec![], wrong)).unwrap();
        import.finish().unwrap();
        apply(&mut bench.journal, created(job, Ready, id(1))).unwrap();
        let done =
            Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: Evidence::at(at(4_000)) };
        apply(&mut bench.journal, done).unwrap();
        apply(&mut bench.journal, rejected(job, Ready)).unwrap();

        let right = vec![
            labels,
            Extra::Metadata(vec![crate::model::record::Metadata {
                key: "region".into(),
                value: "north".into(),
            }]),
        ];
        let mut import = bench.journal.begin_import(at(5)).unwrap();
        import.revise_job(job, &site("Depot", vec![], right)).unwrap();
        import.finish().unwrap();
        let work = bench.journal.work(job).unwrap().unwrap();
        assert_eq!((work.state, work.step, work.operation), (Ready, 2, Operation::PutSiteMetadataList));
        assert_eq!(work.remote_id, Some(id(1)));
        let done =
            Write::Advance { job, from: Ready, how: How::Done, id: None, evidence: Evidence::at(at(4_000)) };
        apply(&mut bench.journal, done).unwrap();
        assert_eq!(state(&bench.journal, job), Created);
    }

    #[test]
    fn two_jobs_of_a_kind_never_have_the_same_natural_key() {
        let mut bench = bench();
        import_companies(&mut bench.journal, &["Acme"], false);
        let mut import = bench.journal.begin_import(at(2)).unwrap();
        assert!(import.add_job(&company("Acme", vec![])).is_err());
    }
}

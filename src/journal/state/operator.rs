//! What a person decides: retry, resolve, cancel. Each in one transaction, with who and when in the journal.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, OptionalExtension, Transaction};
use serde::Serialize;

use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::journal::file::column::Id;
use crate::journal::row_ref::{self, last_import_of_job};
use crate::journal::state::decision_log::{self, Decision, note};
use crate::journal::state::hold::owner_of;
use crate::journal::state::job_row::{self, JobRow};
use crate::journal::state::selection::{Selection, selected};
use crate::journal::state::transition::finish_step;
use crate::journal::state::write::{AuditFinding, Candidate, Evidence, How, Moved, parse_candidates};
use crate::journal::state::{audit, baseline, cancellation, dependents, import_turn, step};
use crate::journal::{Journal, View};
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::Role;
use crate::model::state::JobState::{
    self, Blocked, Deferred, Done, Held, InDoubt, Incomplete, Ready, Rejected, Skipped,
};
use crate::model::time::Moment;

/// Rows that are sent again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Retried {
    /// Rows that were rejected or incomplete and are ready again.
    pub retried: u64,
    /// Rows that depend on them and are no longer skipped.
    pub released: u64,
    /// Rows that were rejected and are skipped instead, since rows that they depend on failed or were cancelled.
    pub skipped: u64,
    /// The codes of those that are ready again.
    #[serde(skip)]
    pub codes: BTreeSet<String>,
}

/// What a cancellation did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cancelled {
    /// Jobs given up.
    pub cancelled: u64,
    /// Rows given up that had been left out, and so have no job.
    pub left_out: u64,
    /// Jobs of other imports skipped, since they belong to one given up.
    pub skipped: u64,
    /// Jobs under way or in doubt: they may exist. They are sent no more, and cancelled if they turn out not to exist.
    pub left_in_doubt: u64,
    /// Jobs held, left for a decision.
    pub left_held: u64,
    /// Jobs that other imports have, left to those, by import.
    pub left_to: BTreeMap<ImportId, u64>,
}

/// A job that a person must decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldJob {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// The operation whose outcome is to be decided.
    pub operation: Operation,
    /// Its name.
    pub name: String,
    /// The records that an upkeep row is about, by their names or ids.
    pub about: Vec<(Role, String)>,
    /// `file!sheet!row` of the row that named it last.
    pub place: String,
    /// The machine code of the reason.
    pub code: String,
    /// The reason in words.
    pub reason: String,
    /// The records it may be.
    pub candidates: Vec<Candidate>,
    /// Since when it is held.
    pub since: Moment,
}

impl HeldJob {
    /// Whether it is about a change of a record that is there, and not about the creation of one.
    pub const fn is_change(&self) -> bool {
        !self.operation.creates()
    }

    /// Whether the service has no look-up that shows it: licence codes.
    pub fn is_unseen(&self) -> bool {
        self.operation == Operation::AddLicenceCode
    }
}

impl Journal {
    /// Gives rejected and incomplete jobs another chance at the step that was rejected, and opens what was skipped below
    /// them. By its code, what upkeep rows changed and was found to be undone is changed again.
    pub fn retry(&mut self, selection: &Selection, who: &str, at: Moment) -> Result<Retried> {
        let transaction = self.begin()?;
        let mut retried = Retried::default();
        for state in [Rejected, Incomplete] {
            for job in selected(&transaction, state, selection)? {
                let standing = job_row::of(&transaction, job)?;
                standing.leaves(&[Rejected, Incomplete], "retried")?;
                let code: Option<String> = transaction
                    .prepare_cached("SELECT code FROM job WHERE id = ?1")?
                    .query_row([job], |row| row.get(0))?;
                cancellation::forget(&transaction, job)?;
                let moved = reopen(&transaction, &standing, at)?;
                dependents::record_order::keep_after(&transaction, [job])?;
                note(&transaction, at, who, "retry", Some(job), None, None)?;
                match moved.first().map(|moved| moved.to) {
                    Some(Skipped) => retried.skipped += 1,
                    Some(_) | None => {
                        retried.retried += 1;
                        retried.codes.insert(code.unwrap_or_default());
                    }
                }
                retried.released += dependents::revive_below(&transaction, job)?.len() as u64;
            }
        }
        if selection.code.as_deref() == Some(AuditFinding::REVERTED) {
            for job in audit::reverted(&transaction, selection)? {
                do_again(&transaction, &job_row::of(&transaction, job)?, at)?;
                dependents::record_order::keep_after(&transaction, [job])?;
                note(&transaction, at, who, "retry", Some(job), None, None)?;
                retried.retried += 1;
                retried.codes.insert(AuditFinding::REVERTED.to_owned());
            }
        }
        transaction.commit()?;
        Ok(retried)
    }

    /// Carries out what a person decided about a job that is held or in doubt; `check` says how it was checked.
    pub fn resolve(
        &mut self,
        job: JobId,
        decision: Decision,
        check: Option<&str>,
        who: &str,
        at: Moment,
    ) -> Result<Vec<Moved>> {
        let transaction = self.begin()?;
        let standing = job_row::find(&transaction, job)?.ok_or_else(|| {
            Error::usage(format!("the journal has no job {job}"))
                .hint(Advice::from("to list the rows on hold, type: ").command("fleetload status"))
        })?;
        if ![Held, InDoubt].contains(&standing.state) {
            return Err(Error::usage(format!(
                "job {job} ('{}') is {}; only a job that is on hold or in doubt can be decided",
                standing.name, standing.state
            ))
            .hint(Advice::from("to list the rows on hold, type: ").command("fleetload status")));
        }
        let of_step = !standing.kind.is_record() || standing.remote_id.is_some();
        let details = decision_log::Details::of(decision, check, of_step).written()?;
        note(&transaction, at, who, decision_log::word(decision), Some(job), None, details.as_deref())?;
        let moved = match decision {
            // It makes no record: the id is that of the record that it is about.
            Decision::Created(id) if !standing.kind.is_record() => {
                refuse_other_owner(&transaction, &standing, id)?;
                let moved = finish_step(&transaction, &standing, How::Done, None, &Evidence::at(at))?;
                cancellation::instead_of_sending(&transaction, moved, at)?
            }
            Decision::Created(id) => {
                refuse_foreign_id(&transaction, &standing, id)?;
                let moved = finish_step(&transaction, &standing, How::Adopted, Some(id), &Evidence::at(at))?;
                cancellation::instead_of_sending(&transaction, moved, at)?
            }
            Decision::NotCreated => {
                rule_out(&transaction, &standing)?;
                be_sure(&transaction, &standing)?;
                let moved = reopen(&transaction, &standing, at)?;
                cancellation::instead_of_sending(&transaction, moved, at)?
            }
            Decision::Abandon => cancellation::abandon(&transaction, &standing, who, at)?,
        };
        transaction.commit()?;
        Ok(moved)
    }

    /// Cancels what an import has still to send, or somebody to correct: blocked, ready and deferred jobs, those that were
    /// rejected, are incomplete or were skipped, and rows that it left out. What is under way or in doubt is sent no more. Others
    /// stay as they are, and so do those that came again in a later import: they are rows of that one.
    pub fn cancel(&mut self, import: ImportId, who: &str, at: Moment) -> Result<Cancelled> {
        let transaction = self.begin()?;
        import_turn::require(&transaction, import)?;
        note(&transaction, at, who, "cancel", None, Some(import), None)?;
        let selection = Selection { import: Some(import), ..Selection::default() };
        let mut cancelled = Cancelled::default();
        let (mut given_up, mut left) = (Vec::new(), BTreeMap::new());
        for state in [Blocked, Ready, Deferred, Rejected, Incomplete, Skipped] {
            for job in selected(&transaction, state, &selection)? {
                let last = row_ref::last_import_of(&transaction, job)?;
                if last != import {
                    left.insert(job, last);
                    continue;
                }
                let standing = job_row::of(&transaction, job)?;
                cancellation::give_up(&transaction, &standing, who, at)?;
                given_up.push(standing);
            }
        }
        // After all of them: what is blocked below is the import's own no longer.
        for standing in &given_up {
            let below = dependents::skip_below(&transaction, standing, dependents::PARENT_CANCELLED, at)?;
            for moved in below.iter().filter(|moved| moved.to == Skipped) {
                cancelled.skipped += 1;
                left.remove(&moved.job);
            }
        }
        for last in left.into_values() {
            *cancelled.left_to.entry(last).or_default() += 1;
        }
        dependents::record_order::keep_after(&transaction, given_up.iter().map(|standing| standing.job))?;
        cancelled.cancelled = given_up.len() as u64;
        cancelled.left_out = cancel_left_out(&transaction, import, who)?;
        for state in [InDoubt, JobState::Sending] {
            for job in selected(&transaction, state, &selection)? {
                cancelled.left_in_doubt += 1;
                if row_ref::last_import_of(&transaction, job)? == import {
                    cancellation::ask(&transaction, job, who)?;
                }
            }
        }
        cancelled.left_held = selected(&transaction, Held, &selection)?.len() as u64;
        transaction.commit()?;
        Ok(cancelled)
    }
}

impl View {
    /// The jobs that a person must decide, oldest first.
    pub fn held(&self, selection: &Selection) -> Result<Vec<HeldJob>> {
        let mut held = Vec::new();
        for job in selected(&self.connection, Held, selection)? {
            let found = self
                .connection
                .prepare_cached(
                    "SELECT kind, name, code, message, candidates, held_since, operation FROM job WHERE id = ?1",
                )?
                .query_row([job], |row| {
                    let held = HeldJob {
                        job,
                        kind: row.get(0)?,
                        operation: row.get(6)?,
                        name: row.get(1)?,
                        about: Vec::new(),
                        place: String::new(),
                        code: row.get(2)?,
                        reason: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                        candidates: Vec::new(),
                        since: row.get(5)?,
                    };
                    Ok((held, row.get::<_, Option<String>>(4)?))
                })
                .optional()?;
            let Some((mut job, candidates)) = found else { continue };
            job.candidates = parse_candidates(candidates.as_deref())?;
            job.place = row_ref::of_job(&self.connection, job.job)?;
            job.about = row_ref::about(&self.connection, job.job, job.kind)?;
            held.push(job);
        }
        Ok(held)
    }
}

/// The candidates that a person was shown and did not take are not the job's record: they join its baseline, so
/// that neither a look before sending nor one after a lost answer takes them for it.
fn rule_out(connection: &Connection, standing: &JobRow) -> Result<()> {
    let (candidates, known): (Option<String>, Option<i64>) = connection
        .prepare_cached("SELECT candidates, baseline FROM job WHERE id = ?1")?
        .query_row([standing.job], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let candidates = parse_candidates(candidates.as_deref())?;
    if candidates.is_empty() {
        return Ok(());
    }
    let mut ids = match known {
        Some(number) => baseline::load(connection, number)?,
        None => Vec::new(),
    };
    ids.extend(candidates.iter().filter_map(|candidate| candidate.id));
    let number = baseline::store(connection, &ids)?;
    standing.change(connection, "UPDATE job SET baseline = ?3 WHERE id = ?1 AND state = ?2", &[&number])
}

/// A person has looked: nothing was sent of which the journal does not know. A change that is not there was not carried
/// out either, so that a refusal counts from now on; of a record, a request that arrives late could still make one.
fn be_sure(connection: &Connection, standing: &JobRow) -> Result<()> {
    standing.change(
        connection,
        "UPDATE job SET unsure = 0, doubted = doubted AND ?3 WHERE id = ?1 AND state = ?2",
        &[&standing.kind.is_record()],
    )
}

/// → ready at the step the job stands at, blocked while something it needs is not made, or skipped with what is below it if
/// that will not be made. The job itself comes first.
fn reopen(connection: &Connection, standing: &JobRow, at: Moment) -> Result<Vec<Moved>> {
    let to = dependents::initial_state(connection, standing)?;
    standing.change(
        connection,
        concat!(
            "UPDATE job SET state = ?3, due = NULL, deaths = 0, doubted = doubted OR executed, executed = 0, doubt = NULL,
                doubt_since = NULL, absent_reads = 0, looks = 0, held_since = NULL, finished_at = NULL,
                code = NULL, message = NULL, violations = NULL, candidates = NULL, last_import = ",
            last_import_of_job!(),
            " WHERE id = ?1 AND state = ?2"
        ),
        &[&to],
    )?;
    skip_if_lost(connection, standing.moved(to), at)
}

/// blocked → skipped for a job that was `moved` there and what is below it, if something that it needs will not be made.
fn skip_if_lost(connection: &Connection, mut moved: Moved, at: Moment) -> Result<Vec<Moved>> {
    let mut below = match moved.to {
        Blocked => dependents::skip_below_lost(connection, moved.job, at)?,
        _ => Vec::new(),
    };
    if below.iter().any(|other| other.job == moved.job && other.to == Skipped) {
        moved.to = Skipped;
    }
    below.retain(|skipped| skipped.job != moved.job);
    below.insert(0, moved);
    Ok(below)
}

/// done or incomplete → ready, blocked or skipped, at the first step of an upkeep row. What was sent for the step that it leaves
/// says nothing of that one.
fn do_again(connection: &Connection, standing: &JobRow, at: Moment) -> Result<()> {
    standing.leaves(&[Done, Incomplete], "carried out again")?;
    cancellation::forget(connection, standing.job)?;
    let to = dependents::initial_state(connection, standing)?;
    let (first, operation) = step::restart(connection, standing.job)?;
    standing.change(
        connection,
        concat!(
            "UPDATE job SET state = ?3, step = ?4, operation = ?5, outcome = NULL, finished_at = NULL, audit = NULL,
                deaths = 0, first_sent_at = NULL, baseline = NULL, doubted = 0, doubts = 0, executed = 0,
                doubt = NULL, doubt_since = NULL, absent_reads = 0, looks = 0, made_doubted = 0,
                code = NULL, message = NULL, violations = NULL, candidates = NULL, last_import = ",
            last_import_of_job!(),
            " WHERE id = ?1 AND state = ?2"
        ),
        &[&to, &first, &operation],
    )?;
    skip_if_lost(connection, standing.moved(to), at)?;
    audit::forget(connection, standing.job)
}

/// Refuses an id that is not that of the record which an upkeep job is about.
fn refuse_other_owner(connection: &Connection, standing: &JobRow, id: RemoteId) -> Result<()> {
    let actions = step::actions(connection, standing.job)?;
    let about = actions.first().map_or(standing.kind, |action| action.about(standing.kind));
    let owner: Option<Id> = connection
        .prepare_cached(
            "SELECT coalesce(link.target_id, parent.remote_id) FROM link
             LEFT JOIN job AS parent ON parent.id = link.target_job WHERE link.job = ?1 AND link.role = ?2",
        )?
        .query_row((standing.job, Role::owner(about)), |row| row.get(0))
        .optional()?
        .flatten();
    match owner {
        Some(Id(owner)) if owner != id => {
            let job = standing.job;
            let (kind, is_about) =
                (about.singular(), format!("job {job} is about the {} {owner}, not {id}", about.singular()));
            Err(Error::usage(is_about).hint(
                Advice::from(format!("if it was carried out, give the id of that {kind}: "))
                    .command(format!("fleetload resolve {job} --created {owner}")),
            ))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses an id that cannot be that of the job's record.
fn refuse_foreign_id(connection: &Connection, standing: &JobRow, id: RemoteId) -> Result<()> {
    if let Some(known) = standing.remote_id
        && known != id
    {
        return Err(Error::usage(format!("job {} made the record {known}, not {id}", standing.job)).hint(
            Advice::from("if its step was carried out: ")
                .command(format!("fleetload resolve {} --created {known}", standing.job)),
        ));
    }
    let owner = owner_of(connection, id)?.filter(|&owner| owner != standing.job);
    if let Some(owner) = owner {
        let owner = job_row::of(connection, owner)?;
        return Err(Error::usage(format!(
            "the record {id} already belongs to job {} ('{}', {}); one record cannot belong to two rows",
            owner.job,
            owner.name,
            row_ref::of_job(connection, owner.job)?
        ))
        .hint(beside_another_row(standing.job)));
    }
    Ok(())
}

/// What to do about a row whose record another row may have.
pub fn beside_another_row(job: JobId) -> Advice {
    Advice::from("look at the record in the service; if this row has another one, give the id of that\n")
        .words("if this row has none, type: ")
        .command(format!("fleetload resolve {job} --not-created --unchecked"))
        .words("\nif it is this row's, type: ")
        .command(format!("fleetload resolve {job} --abandon"))
}

/// Cancels the rows that an import left out and that have not come again; how many they are.
fn cancel_left_out(transaction: &Transaction<'_>, import: ImportId, who: &str) -> Result<u64> {
    let (first, last) = row_ref::range_of(transaction, import)?;
    let cancelled = transaction
        .prepare_cached(
            "UPDATE left_out SET given_up = ?3
             WHERE job IS NULL AND given_up IS NULL AND place BETWEEN ?1 AND ?2",
        )?
        .execute((first, last, who))?;
    Ok(cancelled as u64)
}

#[cfg(test)]
mod tests;

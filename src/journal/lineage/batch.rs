//! Writes carried out: many in one transaction, each of them whole or not at all, each by the function of its
//! transition.
//!
//! A write that does not fit is undone by itself and told; a journal that cannot be written undoes the whole batch. What
//! a write does to its job is in `transition`, `doubt` and `audit`.

use rusqlite::Connection;

use crate::error::{Error, ErrorKind, Result};
use crate::failpoint;
use crate::journal::JobQueue;
use crate::journal::lineage::identity;
use crate::journal::state::write::{How, Moved, Write};
use crate::journal::state::{audit, cancellation, doubt, hold, job_row, quota, transition};

/// The jobs that a write moved, or why it did not fit.
type Applied = std::result::Result<Vec<Moved>, Error>;

impl JobQueue<'_> {
    /// Carries out the writes in one transaction and commits it: when this returns `Ok`, they are on disk.
    ///
    /// A write that does not fit the state of its job changes nothing and is reported in its place; the others are
    /// carried out anyway. An `Err` means that the journal cannot be written, and that none of them was.
    pub fn apply(&mut self, writes: &[Write]) -> Result<Vec<Applied>> {
        // Hardly ever does one not fit. To undo it by itself, SQLite would copy each page that a write changes, so that is
        // left to a second try.
        match self.commit(writes, |connection, write| carry_out(connection, write).map(Ok)) {
            Err(error) if error.kind() != ErrorKind::Journal => self.commit(writes, alone),
            outcomes => outcomes,
        }
    }

    fn commit(
        &mut self,
        writes: &[Write],
        carry_out: impl Fn(&Connection, &Write) -> Result<Applied>,
    ) -> Result<Vec<Applied>> {
        let transaction = self.journal.begin()?;
        let mut outcomes = Vec::with_capacity(writes.len());
        for write in writes {
            outcomes.push(carry_out(&transaction, write)?);
            failpoint::reach(step(write));
        }
        let claims = writes.iter().any(|write| !write.is_settlement());
        let serial = if claims { Some(identity::advance(&transaction)?) } else { None };
        transaction.commit()?;
        if let Some(serial) = serial {
            identity::remember(self.journal.entry.as_ref(), serial);
        }
        Ok(outcomes)
    }
}

/// The step of the proofs that a write is, after it was carried out and before it is committed.
fn step(write: &Write) -> &'static str {
    match write {
        Write::Claim { .. } => "claim.in-transaction",
        Write::Advance { how, .. } => match how {
            How::Created => "created.in-transaction",
            How::Adopted => "adopted.in-transaction",
            How::Existing => "existing.in-transaction",
            How::Done => "done.in-transaction",
        },
        Write::Leave { .. } => "existing.in-transaction",
        Write::Reject { .. } => "rejected.in-transaction",
        Write::Defer { .. } => "deferred.in-transaction",
        Write::Return { .. } => "returned.in-transaction",
        Write::Postpone { .. } => "postponed.in-transaction",
        Write::Doubt { .. } | Write::Suspect { .. } => "doubt.in-transaction",
        Write::KeepDoubting { .. } => "still-in-doubt.in-transaction",
        Write::Release { .. } => "released.in-transaction",
        Write::Hold { .. } => "held.in-transaction",
        Write::Audited { .. } => "audited.in-transaction",
        Write::IfUnchanged { then, .. } => step(then),
        Write::Ceiling { .. } => "ceiling.in-transaction",
    }
}

/// Carries out one write so that it happens whole or not at all.
pub(in crate::journal) fn alone(connection: &Connection, write: &Write) -> Result<Applied> {
    connection.prepare_cached("SAVEPOINT one_write")?.execute([])?;
    match carry_out(connection, write) {
        Ok(moved) => {
            connection.prepare_cached("RELEASE one_write")?.execute([])?;
            Ok(Ok(moved))
        }
        Err(error) if error.kind() == ErrorKind::Journal => Err(error),
        Err(error) => {
            connection.prepare_cached("ROLLBACK TO one_write")?.execute([])?;
            connection.prepare_cached("RELEASE one_write")?.execute([])?;
            Ok(Err(error))
        }
    }
}

/// Hands a write to the function of its transition.
fn carry_out(connection: &Connection, write: &Write) -> Result<Vec<Moved>> {
    match write {
        Write::Claim { job, operation, content, baseline, before, counted, at } => transition::claim(
            connection,
            *job,
            (*operation, *content),
            (baseline.as_deref(), before.as_ref()),
            *counted,
            *at,
        ),
        Write::Advance { job, from, how, id, evidence } => {
            let moved = transition::advance(connection, *job, *from, *how, *id, evidence)?;
            cancellation::instead_of_sending(connection, moved, evidence.at)
        }
        Write::Reject { job, from, rejection, evidence } => {
            transition::reject(connection, *job, *from, rejection, evidence)
        }
        Write::Defer { job, until, code, reason, evidence } => {
            let moved = transition::defer(connection, *job, *until, (code, reason), evidence)?;
            cancellation::instead_of_sending(connection, moved, evidence.at)
        }
        Write::Return { job, code, reason, evidence } => {
            let moved = transition::give_back(connection, *job, (code, reason), evidence)?;
            cancellation::instead_of_sending(connection, moved, evidence.at)
        }
        Write::Leave { job, from, id, evidence } => transition::leave(connection, *job, *from, *id, evidence),
        Write::Postpone { job, from, until, code, reason } => {
            transition::postpone(connection, *job, *from, *until, (code, reason))
        }
        Write::Doubt { job, doubt, executed, charged, until, evidence } => {
            doubt::begin(connection, *job, *doubt, (*executed, *charged), *until, evidence)
        }
        Write::Suspect { job, from, doubt, at } => doubt::suspect(connection, *job, *from, *doubt, *at),
        Write::KeepDoubting { job, until, absent_reads, note } => {
            doubt::keep(connection, *job, *until, *absent_reads, note)
        }
        Write::Release { job, note, at } => {
            cancellation::instead_of_sending(connection, doubt::release(connection, *job, note)?, *at)
        }
        Write::Hold { job, from, code, reason, candidates, evidence } => {
            hold::hold(connection, *job, *from, (code, reason), candidates, evidence)
        }
        Write::Audited { job, id, content, run, by, finding, site, at } => {
            let read = (*job, *id, *content);
            let by = (*by, site.as_deref());
            audit::note(connection, read, *run, by, finding.as_ref(), *at).map(|()| Vec::new())
        }
        Write::IfUnchanged { content, then } => {
            job_row::has_values(connection, then.job(), *content)?;
            carry_out(connection, then)
        }
        Write::Ceiling { day, ceiling } => quota::learn(connection, *day, *ceiling).map(|()| Vec::new()),
    }
}

//! The writes of a run: one variant per transition of a job, and what is learned of the quota.
//!
//! Serialised, they are also the lines of the spill file. How each is carried out is in `batch`.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::journal::RunId;
use crate::journal::file::sqlite_error::damaged;
use crate::model::action::before::Before;
use crate::model::content_hash::ContentHash;
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::{Day, Moment};
use crate::model::verdict::{Doubt, Execution, Rejection};
use crate::model::words::words;

/// One change of the journal. Each is guarded by the state it leaves; one that does not fit is refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "write", rename_all = "snake_case")]
pub enum Write {
    /// ready or deferred → sending: the request may leave once this is on disk.
    Claim {
        /// The job.
        job: JobId,
        /// The operation about to be sent; must be the one the job stands at.
        operation: Operation,
        /// The digest of the values about to be sent, which must be those the job has now; `None` asks for nothing.
        #[serde(default)]
        content: Option<ContentHash>,
        /// The ids that the look-up before this send showed. They join those of earlier ones, until a request may have been
        /// carried out.
        baseline: Option<Vec<RemoteId>>,
        /// What the record had of what the step changes, as a look-up showed it.
        #[serde(default)]
        before: Option<Before>,
        /// The day on whose quota the request counts.
        counted: Option<Day>,
        /// When.
        at: Moment,
    },
    /// The step is done: sending, in doubt, ready, deferred or held → ready at the next step, or the final state.
    Advance {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// How it was done; kept for the creation, where it is the final state once all steps are done.
        how: How,
        /// The record's id; needed at the creation, and at later steps only to be checked.
        id: Option<RemoteId>,
        /// What was seen.
        evidence: Evidence,
    },
    /// ready or deferred → existing: the record was there, and nothing besides is carried out for the row.
    Leave {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// The record.
        id: RemoteId,
        /// What showed it.
        evidence: Evidence,
    },
    /// sending, ready, deferred or in doubt → rejected; what is blocked below it → skipped. Once the record is there →
    /// incomplete.
    Reject {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// Why.
        rejection: Rejection,
        /// What was seen.
        evidence: Evidence,
    },
    /// sending → deferred: proved not executed.
    Defer {
        /// The job.
        job: JobId,
        /// When it may be sent again.
        until: Moment,
        /// The machine code of the reason.
        code: String,
        /// The reason in words.
        reason: String,
        /// What was seen.
        evidence: Evidence,
    },
    /// sending → ready: proved not executed, and nothing to wait for.
    Return {
        /// The job.
        job: JobId,
        /// Why, as a code.
        code: String,
        /// Why, in words.
        reason: String,
        /// What the attempt came to.
        evidence: Evidence,
    },
    /// ready or deferred → deferred: nothing was sent.
    Postpone {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// When it may be sent.
        until: Moment,
        /// The machine code of the reason.
        code: String,
        /// The reason in words.
        reason: String,
    },
    /// sending → in doubt.
    Doubt {
        /// The job.
        job: JobId,
        /// Why it is not known whether it was executed.
        doubt: Doubt,
        /// The service said OK without an id: it must never be sent again.
        executed: bool,
        /// Whether it counts among the doubts that a row may have; not when it found out about a failing service.
        charged: bool,
        /// When to look for the first time.
        until: Moment,
        /// What was seen.
        evidence: Evidence,
    },
    /// ready or deferred → in doubt: a request of it may have been carried out, or may still be.
    Suspect {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// Why that is not known.
        doubt: Doubt,
        /// When.
        at: Moment,
    },
    /// in doubt → in doubt: looked, not decided.
    KeepDoubting {
        /// The job.
        job: JobId,
        /// When to look again.
        until: Moment,
        /// Agreeing admissible look-ups so far that found nothing.
        absent_reads: u32,
        /// What was found, in words.
        note: String,
    },
    /// in doubt → ready: proved absent; may be sent again.
    Release {
        /// The job.
        job: JobId,
        /// Why that is certain, in words.
        note: String,
        /// When.
        at: Moment,
    },
    /// ready, deferred, sending or in doubt → held.
    Hold {
        /// The job.
        job: JobId,
        /// The state it leaves.
        from: JobState,
        /// The machine code of the reason.
        code: String,
        /// The reason in words.
        reason: String,
        /// The records it may be.
        candidates: Vec<Candidate>,
        /// What was seen.
        evidence: Evidence,
    },
    /// The write within, provided that the job still has the values it is about: an import may have corrected the row
    /// meanwhile. What a look concludes is written like this, however long it was held back.
    IfUnchanged {
        /// The digest of those values.
        content: ContentHash,
        /// The write.
        then: Box<Write>,
    },
    /// The service refused a creation for its quota with this many counted.
    Ceiling {
        /// The day by the service's clock.
        day: Day,
        /// Creations counted then.
        ceiling: u64,
    },
    /// The record of a job was read back at the end of a run; its state stays as it is.
    Audited {
        /// The job.
        job: JobId,
        /// The record it had when it was read back; nothing is noted when it has another one by now.
        id: Option<RemoteId>,
        /// The digest of the values it had; nothing is noted when it has others by now.
        content: ContentHash,
        /// The run that read it back.
        run: RunId,
        /// How.
        by: ReadBy,
        /// What is not as it should be.
        finding: Option<AuditFinding>,
        /// The name of the site that its device brings along, where the sites of that name were looked up.
        #[serde(default)]
        site: Option<String>,
        /// When.
        at: Moment,
    },
}

impl Write {
    /// The job it is about; `None` for the quota ledger.
    pub fn job(&self) -> Option<JobId> {
        match self {
            Self::Claim { job, .. }
            | Self::Advance { job, .. }
            | Self::Reject { job, .. }
            | Self::Leave { job, .. }
            | Self::Return { job, .. }
            | Self::Defer { job, .. }
            | Self::Postpone { job, .. }
            | Self::Doubt { job, .. }
            | Self::Suspect { job, .. }
            | Self::KeepDoubting { job, .. }
            | Self::Release { job, .. }
            | Self::Hold { job, .. }
            | Self::Audited { job, .. } => Some(*job),
            Self::IfUnchanged { then, .. } => then.job(),
            Self::Ceiling { .. } => None,
        }
    }

    /// The write itself, without the condition it may be under.
    pub fn bare(&self) -> &Self {
        match self {
            Self::IfUnchanged { then, .. } => then.bare(),
            other => other,
        }
    }

    /// Whether it says what became of something: lost, it would have to be found out again. Everything but a claim.
    pub fn is_settlement(&self) -> bool {
        match self {
            Self::Claim { .. } => false,
            Self::IfUnchanged { then, .. } => then.is_settlement(),
            Self::Advance { .. }
            | Self::Reject { .. }
            | Self::Leave { .. }
            | Self::Return { .. }
            | Self::Defer { .. }
            | Self::Postpone { .. }
            | Self::Doubt { .. }
            | Self::Suspect { .. }
            | Self::KeepDoubting { .. }
            | Self::Release { .. }
            | Self::Hold { .. }
            | Self::Audited { .. }
            | Self::Ceiling { .. } => true,
        }
    }
}

words! {
    /// How a record was read back; the word of one that is still to be read, `due`, is none of these.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReadBy: as_str, parse {
        /// By a look-up that would show a second one with the same key as well.
        Key = "by_key",
        /// By its id: that it is there, not whether it is there twice.
        Id = "by_id",
        /// Not at all: no look-up is available, or none could be relied on.
        Nothing = "unread",
    }
}

/// What reading back found that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFinding {
    /// The machine code: `audit.vanished`, `audit.double` or `audit.orphan-site`.
    pub code: String,
    /// The same in words, with the ids.
    pub message: String,
    /// The records it speaks of.
    pub found: Vec<Candidate>,
}

/// How a step was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The service confirmed the creation.
    Created,
    /// Ours, found after a lost answer.
    Adopted,
    /// Was there before we sent.
    Existing,
    /// A step after the creation.
    Done,
}

impl How {
    /// The final state of a job whose creation was done this way.
    pub const fn outcome(self) -> JobState {
        match self {
            Self::Created => JobState::Created,
            Self::Adopted => JobState::Adopted,
            Self::Existing => JobState::Existing,
            Self::Done => JobState::Done,
        }
    }
}

/// What was seen of a request; ends the attempt under way when there is one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// When.
    pub at: Moment,
    /// Whether the request was executed; of no account where none was under way.
    #[serde(default)]
    pub execution: Execution,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The code in the answer, or of the doubt.
    pub code: Option<String>,
    /// The beginning of the answer, cleaned and bounded.
    pub excerpt: Option<String>,
    /// Of a step for which nothing was sent, what others have changed and was left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<Before>,
}

impl Evidence {
    /// Nothing but the moment.
    pub fn at(at: Moment) -> Self {
        Self { at, ..Self::default() }
    }
}

/// A record that a held job may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// Its id, where the look-up showed one.
    pub id: Option<RemoteId>,
    /// Its name.
    pub name: Option<String>,
    /// What else is known of it, in words.
    pub details: String,
    /// How it differs from the row, in words.
    pub difference: String,
}

/// A job that changed its state, or its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// The job.
    pub job: JobId,
    /// What kind of record it is about.
    pub kind: Kind,
    /// The state it left.
    pub from: JobState,
    /// The state it is in.
    pub to: JobState,
    /// The operation of the step it stands at now.
    pub operation: Operation,
}

/// The candidates of a held job from their form in the journal.
pub(in crate::journal) fn parse_candidates(text: Option<&str>) -> Result<Vec<Candidate>> {
    match text {
        Some(text) => serde_json::from_str(text).map_err(|error| damaged("a list of candidates", error)),
        None => Ok(Vec::new()),
    }
}

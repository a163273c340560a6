//! What programs read of rows that a person looks at: those on hold, those decided, and what verification found.

use serde::Serialize;

use crate::journal::{Candidate, Decided, HeldJob};
use crate::model::id::{JobId, RemoteId};
use crate::model::kind::Kind;
use crate::model::time::Rfc3339;
use crate::run::RecordSearch;

/// A row that is on hold until a person decides.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct HeldObject<'a> {
    job: JobId,
    kind: Kind,
    /// Its name.
    name: &'a str,
    /// `file!sheet!row` of the row.
    place: &'a str,
    /// Why it is on hold; docs/codes.md explains the codes.
    code: &'a str,
    /// The same in words.
    reason: &'a str,
    /// Since when it is on hold.
    since: Rfc3339,
    /// Records that may be the row's, as they were when it was put on hold.
    candidates: &'a [Candidate],
    /// What the service shows now; `null` where it could not be asked, and absent where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Option<&'a RecordSearch>>,
}

impl<'a> HeldObject<'a> {
    /// Of a row, with what the service shows of it now, if it was to be asked.
    pub(in crate::cli) fn of(job: &'a HeldJob, now: Option<Option<&'a RecordSearch>>) -> Self {
        Self {
            job: job.job,
            kind: job.kind,
            name: &job.name,
            place: &job.place,
            code: &job.code,
            reason: &job.reason,
            since: job.since.into(),
            candidates: &job.candidates,
            now,
        }
    }
}

/// A row that a person decided, of which `status` reports.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct DecidedRowObject<'a> {
    pub(super) job: JobId,
    pub(super) kind: Kind,
    /// Its name.
    pub(super) name: &'a str,
    /// `file!sheet!row` of the row.
    pub(super) place: &'a str,
    #[serde(flatten)]
    pub(super) decided: &'a Decided,
}

/// A problem that verification found.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct VerificationFindingObject<'a> {
    pub(super) job: JobId,
    pub(super) kind: Kind,
    /// The name of the row.
    pub(super) name: &'a str,
    /// `file!sheet!row` of the row.
    pub(super) place: &'a str,
    /// The id of its record.
    pub(super) id: Option<RemoteId>,
    /// The code of the finding; docs/codes.md explains it.
    pub(super) code: &'a str,
    /// The same in words.
    pub(super) message: &'a str,
    /// When it was found.
    pub(super) at: Rfc3339,
    /// Who has reviewed it; `null` while nobody has.
    pub(super) seen: Option<ReviewedBy<'a>>,
    /// The records that it is about.
    pub(super) found: Vec<FoundRecord<'a>>,
}

/// Who has reviewed a finding.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReviewedBy<'a> {
    /// The person.
    pub(super) who: &'a str,
    /// When.
    pub(super) at: Rfc3339,
}

/// A record that verification found.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FoundRecord<'a> {
    /// Its id, where the look-up showed one.
    id: Option<RemoteId>,
    /// Its name.
    name: Option<&'a str>,
    /// What else is known of it, in words.
    details: &'a str,
}

impl<'a> FoundRecord<'a> {
    pub(super) fn of(found: &'a Candidate) -> Self {
        Self { id: found.id, name: found.name.as_deref(), details: &found.details }
    }
}

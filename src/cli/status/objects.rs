//! What programs read of `status`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::counts::GlanceCounts;
use crate::ending::RunEnd;
use crate::journal::{AuditFigures, FileDigest};
use crate::model::forecast::Next;
use crate::model::id::ImportId;
use crate::model::kind::Plural;
use crate::model::operation::Operation;
use crate::model::quota::QuotaDay;
use crate::model::state::JobState;
use crate::model::time::Rfc3339;
use crate::status::Need;

/// An import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ImportObject {
    pub(super) import: ImportId,
    /// What it is called: its label, else its files.
    pub(super) label: String,
    /// Which round of its rows it is, counted from 1.
    pub(super) round: u32,
    /// The import of the first round, where it is a later one.
    pub(super) round_of: Option<ImportId>,
    /// When it was imported.
    pub(super) at: Rfc3339,
    /// Its rows.
    pub(super) rows: u64,
    /// Its files.
    pub(super) files: Vec<FileDigest>,
    /// Its rows in each state.
    pub(super) counts: BTreeMap<JobState, u64>,
    /// Rows that differ from what was imported earlier.
    pub(super) changed_since: u64,
    /// Since when it is paused.
    pub(super) paused_at: Option<Rfc3339>,
    /// Its priority; rows of a higher one are sent first.
    pub(super) priority: i64,
    /// Creations of each day's quota that are kept for it.
    pub(super) reserve: u64,
    /// How many of them are kept today.
    pub(super) reserve_kept: u64,
    /// Rows that failed and came again, by the import that answers for them.
    pub(super) answered: Vec<AnsweredRows>,
}

/// Rows that failed and came again in a later import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct AnsweredRows {
    /// How many.
    pub(super) rows: u64,
    /// The later import.
    pub(super) by: ImportId,
}

/// The quota of the day.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct QuotaObject(pub(super) QuotaDay);

/// The last run.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RunObject<'a> {
    /// When it began.
    pub(super) started_at: Rfc3339,
    /// When it ended; `null` while it goes on, or when it was killed.
    pub(super) ended_at: Option<Rfc3339>,
    /// `finished`, or the reason for which it ended early.
    pub(super) ending: Option<RunEnd>,
    /// The reason in words.
    pub(super) details: Option<&'a str>,
    /// The operations that are paused because the service fails at them, in words.
    pub(super) held_back: Option<&'a str>,
    /// When the rows go on.
    pub(super) resumes_at: Option<Rfc3339>,
    /// Requests sent, by operation.
    pub(super) requests: &'a BTreeMap<Operation, u64>,
}

/// Notifications that are not delivered yet.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct NotificationsObject<'a> {
    /// How many.
    pub(super) not_delivered: u64,
    /// Why the last try failed.
    pub(super) last_error: Option<&'a str>,
}

/// Where an import, or the whole journal, stands.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct StatusSummary {
    /// The import that was asked for; `null` for the whole journal.
    pub(super) import: Option<ImportId>,
    /// All rows.
    pub(super) rows: u64,
    /// The rows in each state. Of one import those that were not imported are among them, as `rejected` or `skipped`; of the
    /// whole journal they are not. They are in `left_out`.
    pub(super) counts: BTreeMap<JobState, u64>,
    /// Rows that differ from what was imported earlier.
    pub(super) changed_since: u64,
    /// What verification came to, in all runs.
    pub(super) audit: AuditFigures,
    /// When the next row comes due that waits for its time.
    pub(super) next_due: Option<Rfc3339>,
    /// Rows of a canary that must be right before any other row is sent.
    pub(super) canary: u64,
    #[serde(flatten)]
    pub(super) overview: OverviewFigures,
}

/// What the first screen shows.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct OverviewFigures {
    /// The status in one sentence.
    pub(super) headline: String,
    /// The rows of each kind.
    pub(super) by_kind: BTreeMap<Plural, GlanceCounts>,
    /// Rows that were not imported because of errors, or with what they belong to, and that did not come again.
    pub(super) left_out: u64,
    /// Whether a run is in progress.
    pub(super) run_at_work: bool,
    /// The pace of the run in progress.
    pub(super) pace: Option<RecentPace>,
    /// When everything is expected to be done, where that can be known.
    pub(super) finish_estimate: Option<Rfc3339>,
    /// What is waited for.
    pub(super) next_events: Vec<Next>,
    /// The quota of the day.
    pub(super) quota: QuotaDay,
    /// Until when creations wait for the quota.
    pub(super) parked_until: Option<Rfc3339>,
    /// Until when the window is closed in which requests may leave.
    pub(super) paused_until: Option<Rfc3339>,
    /// What needs a person, the gravest first.
    pub(super) needs_person: Vec<Need>,
}

/// The pace of a run over its last seconds.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RecentPace {
    /// Over how many seconds.
    pub(super) seconds: u64,
    /// Requests that were sent for rows.
    pub(super) requests: u64,
    /// Rows that came to an end by what the service did; not those that were cancelled or skipped.
    pub(super) rows_finished: u64,
}

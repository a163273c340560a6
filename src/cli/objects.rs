//! The list of everything that programs read of fleetload, for its JSON Schemas: each object that `--json` prints, a line
//! of `results.jsonl`, `summary.json`, and the facts of a notification.
//!
//! What is printed and is not in this list has no schema; `tests/cli/schemas.rs` notices.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::summary::{HeldBySummary, StateWord, SummaryFields};
use super::{call, decide, doctor, documents, findings, housekeeping, ids, import, notify, plan, reading};
use super::{rollout, run, sandbox, settings, status, undo, watch};
use crate::ending::End;
use crate::json_schema::Schemas;
use crate::model::state::JobState;
use crate::notify::Notification;
use crate::report::export_file::ExportRow;
use crate::report::{ImportFigures, RowResult};
use crate::term::{
    ErrorObject, EventObject, Object, ProgressObject, ReadProgressObject, RowEventObject, added,
};

/// The schemas by their names.
pub fn schemas() -> BTreeMap<&'static str, Value> {
    of_files(of_summaries(of_objects(Schemas::default()))).all()
}

/// What is written or delivered, without the fields that the printing adds: a line of `results.jsonl`, `summary.json`, and
/// the facts of a notification.
fn of_files(schemas: Schemas) -> Schemas {
    schemas
        .with::<RowResult<'_>>("results_line", Default::default())
        .with::<ImportFigures<'_>>("report_summary", Default::default())
        .with::<Notification>("notification", Default::default())
}

/// With an object; several types may go by one name.
fn with<T: Object + JsonSchema>(schemas: Schemas) -> Schemas {
    schemas.with::<T>(T::NAME, added(T::NAME))
}

/// Adds each of the types as `$with` does.
macro_rules! with_all {
    ($schemas:expr, $with:ident, $($type:ty),+ $(,)?) => {{
        let schemas = $schemas;
        $(let schemas = $with::<$type>(schemas);)+
        schemas
    }};
}

fn of_objects(schemas: Schemas) -> Schemas {
    with_all!(
        schemas,
        with,
        call::answer::CallObject<'_>,
        call::list::OperationObject<'_>,
        decide::LeftObject<'_>,
        decide::resolve::DecidedObject<'_>,
        decide::resolve::MovedObject,
        decide::resolve::RefusedObject<'_>,
        decide::resolve::ReviewedCallObject,
        decide::resolve::ReviewedFindingObject<'_>,
        doctor::AbilityObject<'_>,
        doctor::CheckObject<'_>,
        doctor::EndpointsObject<'_>,
        doctor::SettingObject<'_>,
        doctor::operations::TriedOperationObject<'_>,
        documents::explain::CodeObject<'_>,
        findings::FindingObject<'_>,
        ids::UnknownIdObject<'_>,
        import::objects::ImportedObject,
        notify::DeliveryObject,
        plan::output::CompanyObject<'_>,
        plan::rows::PlannedRowObject<'_>,
        plan::saved::SincePlanObject<'_>,
        reading::find::FoundObject<'_>,
        ExportRow,
        rollout::tell::DeviceObject<'_>,
        rollout::tell::GroupObject<'_>,
        rollout::tell::RolloutLookObject,
        run::ending::CanaryRowObject<'_>,
        sandbox::SandboxObject<'_>,
        settings::reading::ReadingObject<'_>,
        status::objects::ImportObject,
        status::objects::NotificationsObject<'_>,
        status::objects::QuotaObject,
        status::objects::RunObject<'_>,
        status::objects::UnknownCallObject<'_>,
        status::review_objects::DecidedRowObject<'_>,
        status::review_objects::HeldObject<'_>,
        status::review_objects::VerificationFindingObject<'_>,
        undo::NotRestoredObject<'_>,
        undo::RestoresObject<'_>,
        watch::FileObject<'_>,
        ErrorObject,
        EventObject<'_>,
        RowEventObject<'_>,
        ProgressObject,
        ReadProgressObject,
    )
}

// The last object of a command: what all have, and what is the command's own, which says what it is.
#[derive(Serialize, JsonSchema)]
struct SummaryOf<T> {
    state: StateWord,
    /// Why the command ended, or why the rows stand as they do; `null` where nothing ended.
    reason: Option<End>,
    /// The exit code of the command.
    exit_code: u8,
    #[serde(flatten)]
    fields: T,
    /// The client id of the account; `null` where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<Option<String>>,
    /// The base address of the service; `null` where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<Option<String>>,
    /// Whether it was a rehearsal.
    #[serde(skip_serializing_if = "Option::is_none")]
    rehearsal: Option<bool>,
    /// The rows in each state. Of one import those that were not imported are among them, as `rejected` or `skipped`; of the
    /// whole journal they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<JobState, u64>>,
}

/// A command that has no fields of its own, or that ended with an error.
#[derive(Serialize, JsonSchema)]
struct NoFields {}

impl SummaryFields for NoFields {}

fn with_summary<T: SummaryFields + JsonSchema>(schemas: Schemas) -> Schemas {
    with_summary_by::<T>(schemas, "summary")
}

/// The same by another name than that of other commands.
fn with_summary_by<T: SummaryFields + JsonSchema>(schemas: Schemas, name: &'static str) -> Schemas {
    schemas.with::<SummaryOf<T>>(name, added(name))
}

fn of_summaries(schemas: Schemas) -> Schemas {
    let schemas = with_all!(
        schemas,
        with_summary,
        NoFields,
        HeldBySummary,
        call::answer::CallSummary,
        call::list::OperationsSummary,
        decide::CancelSummary,
        decide::RetrySummary,
        decide::resolve::HeldSummary,
        decide::resolve::ResolveSummary,
        decide::resolve::ReviewSummary,
        decide::turn::PauseSummary,
        decide::turn::PrioritySummary,
        decide::turn::ReserveSummary,
        doctor::DoctorSummary,
        documents::TemplateSummary,
        documents::completions::PagesSummary<'_>,
        documents::explain::CodesSummary,
        housekeeping::backup::BackupSummary<'_>,
        housekeeping::prune::PruneSummary<'_>,
        import::objects::CheckSummary,
        import::objects::ImportSummary,
        import::objects::RefusedSheetsSummary,
        notify::DeliverySummary,
        plan::PlanSummary<'_>,
        reading::export_output::ExportSummary<'_>,
        reading::export_output::StoppedExportSummary,
        reading::find::FindSummary<'_>,
        rollout::RolloutSummary<'_>,
        run::ending::RunSummary,
        run::now::TriedNowSummary,
        run::reports::ReportSummary,
        status::objects::StatusSummary,
        undo::UndoSummary<'_>,
        watch::WatchSummary,
    );
    with_summary_by::<status::objects::StatusSummary>(schemas, "look")
}

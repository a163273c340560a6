//! The list of everything that programs read of fleetload. It names each object that `--json` prints: what is not in it is
//! not printed. The JSON Schemas are made from it: those of the objects, of a line of `results.jsonl`, of `summary.json`,
//! and of the facts of a notification.

use super::summary::{HeldBySummary, SummaryFields};
use super::{call, decide, doctor, documents, findings, housekeeping, ids, import, notify, plan, reading};
use super::{rollout, run, sandbox, settings, status, undo, watch};
use crate::journal::{Retried, UnknownCall};
use crate::report::export_file::ExportRow;
use crate::term::Object;

/// Makes each of these types an object of this name, with its schema. Several types may go by one name.
macro_rules! objects {
    ($($type:ty = $name:literal),+ $(,)?) => {
        $(impl Object for $type {
            const NAME: &'static str = $name;
        })+

        #[cfg(feature = "schemas")]
        fn of_objects(schemas: of_types::Schemas) -> of_types::Schemas {
            $(let schemas = of_types::with::<$type>(schemas);)+
            schemas
        }
    };
}

/// Makes each of these types what a summary has of its own, with the schema of the summary.
macro_rules! summaries {
    ($($type:ty),+ $(,)?) => {
        $(impl SummaryFields for $type {})+

        #[cfg(feature = "schemas")]
        fn of_summaries(schemas: of_types::Schemas) -> of_types::Schemas {
            $(let schemas = of_types::with_summary::<$type>(schemas, "summary");)+
            schemas
        }
    };
}

objects! {
    call::answer::CallObject<'_> = "call",
    call::list::OperationObject<'_> = "operation",
    decide::LeftObject<'_> = "left",
    decide::resolve::DecidedObject<'_> = "decided",
    decide::resolve::MovedObject = "moved",
    decide::resolve::RefusedObject<'_> = "refused",
    decide::resolve::ReviewedCallObject = "seen",
    decide::resolve::ReviewedFindingObject<'_> = "seen",
    doctor::AbilityObject<'_> = "ability",
    doctor::CheckObject<'_> = "check",
    doctor::EndpointsObject<'_> = "endpoints",
    doctor::SettingObject<'_> = "setting",
    doctor::operations::TriedOperationObject<'_> = "operation",
    documents::explain::CodeObject<'_> = "code",
    findings::FindingObject<'_> = "finding",
    ids::UnknownIdObject<'_> = "unknown_id",
    import::objects::ImportedObject = "imported",
    notify::DeliveryObject = "delivery",
    plan::output::CompanyObject<'_> = "company",
    plan::rows::PlannedRowObject<'_> = "row",
    plan::saved::SincePlanObject<'_> = "since_plan",
    reading::find::FoundObject<'_> = "found",
    ExportRow = "row",
    rollout::tell::DeviceObject<'_> = "device",
    rollout::tell::GroupObject<'_> = "group",
    rollout::tell::RolloutLookObject = "look",
    run::ending::CanaryRowObject<'_> = "canary_row",
    sandbox::SandboxObject<'_> = "sandbox",
    settings::reading::ReadingObject<'_> = "reading",
    status::objects::ImportObject = "import",
    status::objects::NotificationsObject<'_> = "notifications",
    status::objects::QuotaObject = "quota",
    status::objects::RunObject<'_> = "run",
    UnknownCall = "unknown_call",
    status::review_objects::DecidedRowObject<'_> = "decided",
    status::review_objects::HeldObject<'_> = "held",
    status::review_objects::VerificationFindingObject<'_> = "finding",
    undo::NotRestoredObject<'_> = "not_restored",
    undo::RestoresObject<'_> = "restores",
    watch::FileObject<'_> = "file",
}

summaries! {
    HeldBySummary,
    call::answer::CallSummary,
    call::list::OperationsSummary,
    decide::CancelSummary,
    Retried,
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
}

#[cfg(feature = "schemas")]
mod of_types {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;
    use serde::Serialize;
    use serde_json::Value;

    use super::status::objects::StatusSummary;
    use crate::cli::summary::StateWord;
    use crate::ending::End;
    pub(super) use crate::json_schema::Schemas;
    use crate::model::state::JobState;
    use crate::notify::Notification;
    use crate::report::{ImportFigures, RowResult};
    use crate::term::{ErrorObject, EventObject, Object, ProgressObject, ReadProgressObject};
    use crate::term::{RowEventObject, added};

    /// The schemas by their names. What is written or delivered has none of the fields that the printing adds.
    pub fn schemas() -> BTreeMap<&'static str, Value> {
        let schemas = super::of_objects(Schemas::default());
        let schemas = with::<ErrorObject>(schemas);
        let schemas = with::<EventObject<'_>>(schemas);
        let schemas = with::<RowEventObject<'_>>(schemas);
        let schemas = with::<ProgressObject>(schemas);
        let schemas = with::<ReadProgressObject>(schemas);
        let schemas = with_summary::<NoFields>(schemas, "summary");
        let schemas = super::of_summaries(schemas);
        with_summary::<StatusSummary>(schemas, "look")
            .with::<RowResult<'_>>("results_line", Default::default())
            .with::<ImportFigures<'_>>("report_summary", Default::default())
            .with::<Notification>("notification", Default::default())
            .all()
    }

    /// With an object.
    pub(super) fn with<T: Object + JsonSchema>(schemas: Schemas) -> Schemas {
        schemas.with::<T>(T::NAME, added(T::NAME))
    }

    /// With the last object of a command, or a look of one that goes on.
    pub(super) fn with_summary<T: Serialize + JsonSchema>(schemas: Schemas, name: &'static str) -> Schemas {
        schemas.with::<SummaryOf<T>>(name, added(name))
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
}

#[cfg(feature = "schemas")]
pub use self::of_types::schemas;

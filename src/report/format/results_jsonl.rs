//! `results.jsonl`: one object a row, for programs.

use std::io::Write;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::journal::{Candidate, Decided, Difference, Disposition, RowView, WhoseFacts};
use crate::model::action::before::Before;
use crate::model::id::{ImportId, JobId, RemoteId};
use crate::model::kind::{Kind, Upkeep};
use crate::model::operation::Operation;
use crate::model::state::JobState;
use crate::model::time::Rfc3339;
use crate::model::verdict::Violation;

use crate::report::atomic_write::{Beside, FileChange, Folder};
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::layout::Layout;
use crate::report::result_line::ResultLine;

/// The file's name.
pub(in crate::report) const NAME: &str = "results.jsonl";

/// The file under way.
pub(in crate::report) struct JsonlFile<'a> {
    folder: &'a Folder,
    import: ImportId,
    file: Beside,
    /// Whose records they are.
    whose: WhoseFacts,
}

impl<'a> JsonlFile<'a> {
    /// Begins the file.
    pub(in crate::report) fn begin(facts: &ReportFacts<'a>) -> Result<Self> {
        let file = facts.folder.begin(NAME)?;
        Ok(Self {
            folder: facts.folder,
            import: facts.figures.info.import,
            file,
            whose: facts.figures.whose.facts(),
        })
    }
}

impl FormatWriter for JsonlFile<'_> {
    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let object = json!(RowResult::of(layout, self.import, line, &self.whose));
        writeln!(self.file, "{object}").map_err(|error| self.folder.failed_file(NAME, error))
    }

    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        changes.push(FileChange::Put(self.file));
        Ok(())
    }
}

/// One line: a row with its result.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct RowResult<'a> {
    import: ImportId,
    /// The name of its sheet.
    sheet: &'a str,
    /// Its number in the sheet, as a spreadsheet counts.
    row: u32,
    /// Of CSV: the line of the file that it begins at.
    line: Option<u64>,
    kind: Kind,
    #[serde(flatten)]
    known_by: KnownBy<'a>,
    /// Its cells by their headers, as they are in the sheet.
    #[cfg_attr(feature = "schemas", schemars(with = "std::collections::BTreeMap<String, String>"))]
    values: Map<String, Value>,
    /// Its job; `null` for a row that was not imported.
    job: Option<JobId>,
    status: JobState,
    /// The id of its record.
    id: Option<RemoteId>,
    /// What is the matter; docs/codes.md explains the codes.
    code: Option<&'a str>,
    /// The same in words.
    message: Option<&'a str>,
    /// The headers of the cells that are to blame, separated by semicolons.
    column: Option<String>,
    /// What to do next.
    advice: Option<String>,
    /// Requests sent for it.
    attempts: u32,
    /// When it came to its final state.
    finished_at: Option<Rfc3339>,
    /// When it is tried again.
    due: Option<Rfc3339>,
    /// `file!sheet!row` of the row.
    source: &'a str,
    /// Whether it was known from an earlier import.
    recognised: bool,
    /// Whether it differs from what was created or sent earlier.
    changed_since: bool,
    /// The row that it waits for, or was skipped with.
    blocked_by: Option<BlockedBy<'a>>,
    /// The violated fields of a rejection.
    violations: &'a [Violation],
    /// Records that may be its own, of a row on hold.
    candidates: Vec<PossibleRecord<'a>>,
    /// In what it differs from what was created or sent earlier; absent where it does not.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    differences: &'a [Difference],
    /// What the record had of what the row changed or removed, as it was read before sending; absent where nothing was read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<BeforeStep<'a>>,
    /// True for a row that was not imported because of errors; otherwise absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<bool>,
    /// What a person decided about it; absent where nobody did.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<&'a Decided>,
    #[serde(flatten)]
    whose: &'a WhoseFacts,
}

/// What a row is known by, under the names of the columns; always the same fields for a kind.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct KnownBy<'a> {
    /// The record that a label or an entry belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<Option<&'a str>>,
    /// The device.
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<Option<&'a str>>,
    /// The id of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Option<RemoteId>>,
    /// The key of the row, or of a metadata entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Option<&'a str>>,
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Option<&'a str>>,
    /// The reference of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<Option<&'a str>>,
    /// The username of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<Option<&'a str>>,
    /// The MAC address of a device.
    #[serde(skip_serializing_if = "Option::is_none")]
    mac: Option<Option<&'a str>>,
    /// The interface that a label belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<Option<&'a str>>,
    /// The label.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<Option<&'a str>>,
    /// The licence code.
    #[serde(skip_serializing_if = "Option::is_none")]
    licence_code: Option<Option<&'a str>>,
    /// The enterprise template.
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<Option<&'a str>>,
    /// The site that a device is assigned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<Option<&'a str>>,
    /// The VPN cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    cloud: Option<Option<&'a str>>,
}

/// A row that another one waits for.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct BlockedBy<'a> {
    job: JobId,
    /// `file!sheet!row` of the row.
    place: &'a str,
}

/// A record that may be that of a row on hold.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PossibleRecord<'a> {
    /// Its id, where the look-up showed one.
    id: Option<RemoteId>,
    /// Its name.
    name: Option<&'a str>,
    /// What else is known of it, in words.
    details: Option<&'a str>,
    /// How it differs from the row, in words.
    difference: Option<&'a str>,
}

/// What a record had of what one step changed or removed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct BeforeStep<'a> {
    operation: Operation,
    #[serde(flatten)]
    before: &'a Before,
}

impl<'a> RowResult<'a> {
    fn of(layout: &'a Layout, import: ImportId, line: &'a ResultLine, whose: &'a WhoseFacts) -> Self {
        let row = &line.row;
        Self {
            import,
            sheet: &layout.name,
            row: row.number,
            line: row.line,
            kind: layout.kind,
            known_by: KnownBy::of(layout, row),
            values: values(layout, row),
            job: row.job,
            status: row.state,
            id: row.remote_id,
            code: row.code.as_deref(),
            message: some(&line.message),
            column: Some(line.columns()).filter(|columns| !columns.is_empty()),
            advice: Some(line.advice()).filter(|advice| !advice.is_empty()),
            attempts: row.attempts,
            finished_at: row.finished_at.map(Rfc3339),
            due: row.due.map(Rfc3339),
            source: &line.source,
            recognised: matches!(row.disposition, Disposition::Recognised | Disposition::ChangedSince),
            changed_since: row.differs(),
            blocked_by: row.blocked_by.as_ref().map(|(job, place)| BlockedBy { job: *job, place }),
            violations: &row.violations,
            candidates: row.candidates.iter().map(PossibleRecord::of).collect(),
            // What follows is rarely there: most rows differ from nothing, create, are imported and never decided.
            differences: &row.differences,
            before: row
                .before
                .iter()
                .filter_map(|step| {
                    Some(BeforeStep { operation: step.operation, before: step.before.as_ref()? })
                })
                .collect(),
            left_out: (row.disposition == Disposition::LeftOut).then_some(true),
            decided: row.decided.as_ref(),
            whose,
        }
    }
}

impl<'a> KnownBy<'a> {
    fn of(layout: &Layout, row: &'a RowView) -> Self {
        let names = known_by(layout.kind);
        let cell = |name| names.contains(&name).then(|| layout.cell(row, name));
        Self {
            owner: cell("owner"),
            device: cell("device"),
            id: names.contains(&"id").then_some(row.remote_id),
            key: cell("key"),
            name: cell("name"),
            reference: cell("reference"),
            username: cell("username"),
            mac: cell("mac"),
            interface: cell("interface"),
            label: cell("label"),
            licence_code: cell("licence_code"),
            template: cell("template"),
            site: cell("site"),
            cloud: cell("cloud"),
        }
    }
}

impl<'a> PossibleRecord<'a> {
    fn of(candidate: &'a Candidate) -> Self {
        Self {
            id: candidate.id,
            name: candidate.name.as_deref(),
            details: some(&candidate.details),
            difference: some(&candidate.difference),
        }
    }
}

/// The cells of a row by their headers, as they stood in the sheet. A header that comes again is numbered.
fn values(layout: &Layout, row: &RowView) -> Map<String, Value> {
    let mut values = Map::new();
    for (header, cell) in layout.headers.iter().zip(layout.cells(row)) {
        let mut name = header.clone();
        let mut number = 1;
        while values.contains_key(&name) {
            number += 1;
            name = format!("{header} ({number})");
        }
        values.insert(name, json!(cell));
    }
    values
}

/// The fields by which a row of a kind is known.
pub(in crate::report) fn known_by(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Company => &["key", "name"],
        Kind::Site => &["key", "name", "reference"],
        Kind::Person => &["key", "username"],
        Kind::Device => &["key", "name", "mac"],
        Kind::Upkeep(Upkeep::Labels) => &["owner", "interface", "label"],
        Kind::Upkeep(Upkeep::Metadata) => &["owner", "key"],
        Kind::Upkeep(Upkeep::Licences) => &["device", "licence_code"],
        Kind::Upkeep(Upkeep::Subscriptions) => &["device", "template"],
        Kind::Upkeep(Upkeep::SiteAssignments) => &["device", "site"],
        Kind::Upkeep(Upkeep::Vpn) => &["device", "cloud"],
        Kind::Upkeep(Upkeep::CompanyUpdates | Upkeep::SiteUpdates) => &["id", "key", "name"],
        Kind::Upkeep(Upkeep::DeviceUpdates) => &["id", "key", "name", "mac"],
    }
}

/// Nothing instead of an empty text.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

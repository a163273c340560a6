//! `results.jsonl`: one object a row, for programs.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::journal::{Candidate, Decided, Disposition, RowView};
use crate::model::action::before::Before;
use crate::model::id::ImportId;
use crate::model::kind::{Kind, Upkeep};
use crate::model::operation::Operation;

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
    /// The fields that every row has in common: whose record it is.
    whose: Map<String, Value>,
}

impl<'a> JsonlFile<'a> {
    /// Begins the file.
    pub(in crate::report) fn begin(facts: &ReportFacts<'a>) -> Result<Self> {
        let file = facts.folder.begin(NAME)?;
        Ok(Self {
            folder: facts.folder,
            import: facts.info.import,
            file,
            whose: facts.figures.whose.fields(),
        })
    }
}

impl FormatWriter for JsonlFile<'_> {
    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let mut object = object(layout, self.import, line);
        object.extend(self.whose.clone());
        let object = Value::Object(object);
        writeln!(self.file, "{object}").map_err(|error| self.folder.failed_file(NAME, error))
    }

    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        changes.push(FileChange::Put(self.file));
        Ok(())
    }
}

fn object(layout: &Layout, import: ImportId, line: &ResultLine) -> Map<String, Value> {
    let row = &line.row;
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    put("import", json!(import));
    put("sheet", json!(layout.name));
    put("row", json!(row.number));
    put("line", json!(row.line));
    put("kind", json!(layout.kind));
    // What the row is known by, under the names of the columns; always the same fields for a kind.
    for name in known_by(layout.kind) {
        put(name, json!(layout.cell(row, name)));
    }
    put("values", Value::Object(values(layout, row)));
    put("job", json!(row.job));
    put("status", json!(row.state));
    put("id", json!(row.remote_id));
    put("code", json!(row.code));
    put("message", json!(some(&line.message)));
    put("column", json!(some(&line.columns())));
    put("advice", json!(some(&line.advice())));
    put("attempts", json!(row.attempts));
    put("finished_at", json!(row.finished_at.map(|at| at.to_string())));
    put("due", json!(row.due.map(|at| at.to_string())));
    put("source", json!(line.source));
    put("recognised", json!(matches!(row.disposition, Disposition::Recognised | Disposition::ChangedSince)));
    put("changed_since", json!(row.differs()));
    put("blocked_by", json!(row.blocked_by.as_ref().map(|(job, place)| json!({"job": job, "place": place}))));
    put("violations", json!(row.violations));
    put("candidates", Value::Array(row.candidates.iter().map(candidate).collect()));
    // Only where there are some: most rows differ from nothing.
    if !row.differences.is_empty() {
        put("differences", json!(row.differences));
    }
    // Only where a look-up showed what the row changed: most rows create.
    if !row.before.is_empty() {
        put(
            "before",
            row.before.iter().map(|(operation, before)| self::before(*operation, before)).collect(),
        );
    }
    // Only where it was: most imports have every row.
    if row.disposition == Disposition::LeftOut {
        put("left_out", json!(true));
    }
    // Only where a person did: most rows are never decided.
    if let Some(decided) = &row.decided {
        put("decided", self::decided(decided));
    }
    object
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

fn known_by(kind: Kind) -> &'static [&'static str] {
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

fn candidate(candidate: &Candidate) -> Value {
    json!({
        "id": candidate.id,
        "name": candidate.name,
        "details": some(&candidate.details),
        "difference": some(&candidate.difference),
    })
}

fn decided(decided: &Decided) -> Value {
    json!({
        "who": decided.who,
        "at": decided.at.to_string(),
        "what": decided.what,
        "id": decided.id,
        "check": decided.check,
    })
}

fn before(operation: Operation, before: &Before) -> Value {
    let mut object = Map::from_iter([("operation".to_owned(), json!(operation.name()))]);
    if let Value::Object(fields) = json!(before) {
        object.extend(fields);
    }
    Value::Object(object)
}

/// Nothing instead of an empty text.
fn some(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

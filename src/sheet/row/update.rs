//! Rows that change records which exist: how a row names its record, and which of its cells it asks to change
//! (specification 4.2, 4.5 and 4.8).
//!
//! A blank cell leaves its field as it is. A cell that an export filled in and nobody changed asks for nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::draft::{Reference, RowValues};
use super::row_rules::RowProblem;
use crate::model::action::Action;
use crate::model::action::record_update::{FieldValues, RecordUpdate};
use crate::model::kind::Kind;
use crate::model::record::Role;
use crate::sheet::field::{Pointer, Problem, Value};
use crate::sheet::finding::code::Code;
use crate::sheet::table::column::{Column, Form, columns};
use crate::sheet::text::is_blank;

/// The place of `update` among the actions.
pub(super) const UPDATE: usize = 1;

/// Columns that only a creation has a use for: a device is copied once.
const CREATION_ONLY: [&str; 3] = ["template", "copy_dhcp_leases", "copy_internet_passwords"];

/// What an export saw of a row: its cells, by column.
#[derive(Debug, Clone, Default)]
pub(super) struct ExportedCells {
    cells: BTreeMap<String, String>,
    /// The columns whose cells are as they were exported.
    unchanged: BTreeSet<&'static str>,
    /// Whether a cell is filled in that the export does not show.
    has_more: bool,
}

impl ExportedCells {
    /// Reads what an export wrote; `None` where the cell holds something else.
    pub(super) fn read(text: &str) -> Option<Self> {
        Some(Self { cells: serde_json::from_str(text).ok()?, ..Self::default() })
    }

    /// A cell as it was exported.
    pub(super) fn cell(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    /// A cell as it was exported, where it is so still.
    pub(super) fn unchanged_cell(&self, column: &str) -> Option<&str> {
        self.cell(column).filter(|_| self.has_unchanged(column))
    }

    /// The same of a row whose cells in these columns, which say what the row is about, are as they were exported: with others
    /// in them it is another row.
    pub(super) fn about(&self, columns: &[&str]) -> Option<&Self> {
        let is_same = |column: &&str| self.cell(column).is_none() || self.unchanged.contains(column);
        (!self.cells.is_empty() && columns.iter().all(is_same)).then_some(self)
    }

    /// Whether the cell of a column is as it was exported.
    pub(super) fn has_unchanged(&self, column: &str) -> bool {
        self.unchanged.contains(column)
    }

    /// Whether the row is from an export, and no cell was changed or filled in since.
    pub(super) fn is_unchanged(&self) -> bool {
        let is_same = |column: &String| self.unchanged.contains(column.as_str());
        !self.cells.is_empty() && !self.has_more && self.cells.keys().all(is_same)
    }

    /// Notes whether a cell is as it was exported: such a cell asks for nothing.
    pub(super) fn compare(&mut self, column: &'static str, text: &str) {
        let Some(exported) = self.cells.get(column) else {
            self.has_more |= !is_blank(text);
            return;
        };
        let (exported, text) = (exported.trim(), text.trim());
        // A spreadsheet program writes truths in capitals.
        let is_truth = matches!(exported, "true" | "false");
        if exported == text || (is_truth && exported.eq_ignore_ascii_case(text)) {
            self.unchanged.insert(column);
        }
    }
}

impl RowValues {
    /// Whether the row changes a record that exists.
    pub(in crate::sheet) fn is_update(&self) -> bool {
        matches!(self.get("action"), Some(Value::Choice(UPDATE))) && self.kind().updates().is_some()
    }

    /// What is wrong between the cells of a row that changes a record, or of one that creates a record and has cells of one
    /// that changes it.
    pub(super) fn update_problems(&self, problems: &mut Vec<RowProblem>) {
        let mut wrong = |column: &'static str, code: Code, text: &str| {
            problems.push(RowProblem {
                column,
                others: if column == "action" { Vec::new() } else { vec!["action"] },
                problem: Problem::new(code, text.to_owned()),
            });
        };
        if !self.is_update() {
            if self.has("id") {
                let text = "only an update has an id: write update as action, or clear this cell";
                wrong("id", Code::RowConflict, text);
            }
            return;
        }
        let names = |column: &str| self.is_given(column);
        let has_name = names("id") || names("key") || (self.kind() == Kind::Device && names("mac"));
        if !has_name {
            let text = "an update does not say of which record: enter its id, or its key";
            wrong("action", Code::CellRequired, text);
        }
        for column in CREATION_ONLY {
            if self.has(column) && !matches!(self.get(column), Some(Value::Bool(false))) {
                let text = "a device is copied when it is created: clear this cell";
                wrong(column, Code::CellUnsupportedAction, text);
            }
        }
        for column in ["parent", "company"] {
            let exported = self.exported();
            if exported.cell(column).is_some() && !exported.unchanged.contains(column) && names(column) {
                let text = "the service cannot move a record to another company: write what was exported here, or clear this cell";
                wrong(column, Code::CellUnsupportedAction, text);
            }
        }
    }

    /// What an export saw in a cell that was cleared since, and whose field stays as it is for all that.
    pub(super) fn cleared(&self, column: &Column) -> Option<&str> {
        let (exported, name) = (self.exported(), column.name);
        let was = exported.cell(name).map(str::trim).filter(|was| !was.is_empty())?;
        let is_blank = !self.is_given(name) && !exported.has_unchanged(name);
        let is_setting = self.is_update()
            && (name == "site"
                || column.api.is_some_and(|field| RecordUpdate::can_change(self.kind(), field)));
        (is_blank && (is_setting || self.is_vpn_setting(name))).then_some(was)
    }

    /// The record that the row changes, and the site that a device is put in.
    pub(super) fn update_references(&self) -> Vec<Reference> {
        let text = |column: &str| self.peek(column).map(str::to_owned);
        let by_mac = || text("mac").filter(|_| self.kind() == Kind::Device).map(Pointer::Any);
        let pointer = match self.get("id") {
            Some(Value::Pointer(pointer)) => Some(pointer.clone()),
            _ => text("key").map(Pointer::Key).or_else(by_mac),
        };
        let role = Role::owner(self.kind());
        let mut references: Vec<Reference> =
            pointer.into_iter().map(|pointer| Reference { role, pointer }).collect();
        if let (Kind::Device, Some(Value::Pointer(pointer))) = (self.kind(), self.get("site")) {
            references.push(Reference { role: Role::Site, pointer: pointer.clone() });
        }
        references
    }

    /// The change that the row asks for.
    pub(super) fn update(&self) -> Action {
        let kind = self.kind();
        let mut update = RecordUpdate::default();
        for column in columns(kind) {
            let Some(field) = column.api else { continue };
            if let Some(exported) = self.exported().cell(column.name)
                && RecordUpdate::can_change(kind, field)
            {
                update.exported.insert(field.to_owned(), exported.to_owned());
            }
            if self.exported().unchanged.contains(column.name) {
                continue;
            }
            let Some(value) = self.get(column.name).and_then(|value| sent(column.form, value)) else {
                continue;
            };
            let fields: &mut FieldValues = match RecordUpdate::can_change(kind, field) {
                true => &mut update.fields,
                false => &mut update.fixed,
            };
            fields.insert(field.to_owned(), value);
        }
        // A place has both coordinates: the one that was not changed goes with the other, and is sent where it is another one now.
        for prefix in ["", "address."] {
            for (changed, other) in [("latitude", "longitude"), ("longitude", "latitude")] {
                let (changed, other) = (format!("{prefix}{changed}"), format!("{prefix}{other}"));
                if update.fields.contains_key(&changed)
                    && !update.fields.contains_key(&other)
                    && let Some(there) = update.exported.get(&other).and_then(|text| text.parse::<f64>().ok())
                {
                    update.fields.insert(other, Json::from(there));
                }
            }
        }
        // Where a device is put is an assignment of its own; nothing shows the parent of a company.
        for not_compared in ["siteId", "parentCompanyId"] {
            update.fixed.remove(not_compared);
        }
        let called = ["name", "key"].into_iter().find_map(|column| self.peek(column).map(str::to_owned));
        update.called = called.unwrap_or_else(|| match self.get("id") {
            Some(Value::Pointer(Pointer::Id(id))) => id.to_string(),
            _ => self.peek("mac").unwrap_or_default().to_owned(),
        });
        Action::Update(update)
    }
}

/// A value as the body of a request has it; `None` for what is no field of the record, or says nothing.
fn sent(form: Form, value: &Value) -> Option<Json> {
    match (form, value) {
        (_, Value::Text(text)) => Some(Json::from(text.as_str())),
        (_, Value::Number(number)) => Some(Json::from(*number)),
        (_, Value::Integer(number)) => Some(Json::from(*number)),
        (Form::Enum(values), Value::Choice(position)) => values.get(*position).map(|word| Json::from(*word)),
        (_, Value::Pointer(Pointer::Id(id))) => Some(Json::from(id.to_string())),
        (_, Value::Bool(_) | Value::Choice(_) | Value::Offers(_) | Value::Labels(_) | Value::Pointer(_)) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::sheet::finding::Finding;
    use crate::sheet::{Options, open};

    #[test]
    fn one_coordinate_of_an_export_can_be_changed_alone_and_is_sent_where_the_other_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sites.csv");
        let update = |latitude: &str, longitude: &str| {
            let exported =
                r#""{""key"":""S0"",""latitude"":""-36.8"",""longitude"":""174.7"",""name"":""HQ""}""#;
            let sheet = format!(
                "action,key,name,latitude,longitude,exported\nupdate,S0,HQ,{latitude},{longitude},{exported}\n"
            );
            std::fs::write(&path, sheet).unwrap();
            let book = open(&path, &Options::default()).unwrap_or_else(|findings| panic!("{findings:?}"));
            let mut rows = Vec::new();
            let keep = &mut |row| {
                rows.push(row);
                Ok(())
            };
            book.read(&book.tables[0], keep).unwrap();
            let row = rows.remove(0);
            let errors: Vec<Code> = row
                .findings
                .iter()
                .filter(|finding| Finding::is_error(finding))
                .map(|error| error.code)
                .collect();
            (errors, row.draft.map(|draft| draft.steps[0].clone()))
        };
        let (as_it_was, moved) = (json!({"name": "HQ", "latitude": -36.8, "longitude": 174.7}), 175.1);
        let by_others = json!({"name": "HQ", "latitude": -36.8, "longitude": moved});
        for (latitude, longitude, field) in [("-36.9", "174.7", "latitude"), ("-36.8", "174.9", "longitude")]
        {
            let (errors, step) = update(latitude, longitude);
            let Some(Action::Update(update)) = step else { panic!("{errors:?}") };
            assert_eq!(errors, []);
            let compared = update.compare(&as_it_was, false);
            assert_eq!(compared.send.keys().collect::<Vec<_>>(), [field]);
            assert!(compared.conflicts.is_empty());
            let conflicts = update.compare(&by_others, false).conflicts;
            assert_eq!(conflicts.iter().map(|one| one.field.as_str()).collect::<Vec<_>>(), ["longitude"]);
        }
        let Some(Action::Update(nothing)) = update("-36.8", "174.7").1 else { panic!("an update") };
        assert!(nothing.fields.is_empty(), "what nobody changed is not asked for");
        assert_eq!(update("-36.9", "").0, [Code::RowIncompleteGroup]);
    }
}

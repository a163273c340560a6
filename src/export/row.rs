//! A row of an export: the values of its columns, as the service gave them, and whatever else came with them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::column::Column;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Row {
    /// The values, in the order of the columns; `null` where there is none.
    pub values: Vec<Value>,
    /// What came besides.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub other: Map<String, Value>,
    /// Why the record could not be read, or what may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the note says.
    #[serde(default)]
    pub standing: Standing,
}

/// How far a row can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is what the service answered.
    #[default]
    Read,
    /// The last of a list that may be one page of a longer one.
    PerhapsPage,
    /// A record that could not be read.
    Failed,
}

impl Row {
    /// The row of an entry, with what was asked about under names that begin with `@`.
    pub(super) fn of(columns: &[Column], given: &[(&str, Value)], entry: Value) -> Self {
        let mut fields = match entry {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            // Not documented; passed on as it came.
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        for (name, value) in given {
            fields.insert((*name).to_owned(), value.clone());
        }
        let mut values: Vec<Value> = columns.iter().map(|column| column.take(&mut fields)).collect();
        if let Some(at) = columns.iter().position(|column| column.name == EXPORTED) {
            values[at] = exported(columns, &values, &|_| false);
        }
        let other = fields
            .into_iter()
            .filter(|(_, value)| !is_empty(value))
            .filter(|(name, value)| !name.starts_with('@') || value.is_object())
            .map(|(name, value)| (name.trim_start_matches('@').to_owned(), value))
            .collect();
        Self { values, other, ..Self::default() }
    }

    /// The same with the reason why the record could not be read.
    pub(super) fn failing(self, why: String) -> Self {
        Self { note: Some(why), standing: Standing::Failed, ..self }
    }

    /// The same of a record whose fields without a value are known to have none where `is_known` says so: the export saw them
    /// blank.
    pub(super) fn with_blanks(mut self, columns: &[Column], is_known: &dyn Fn(&str) -> bool) -> Self {
        if let Some(at) = columns.iter().position(|column| column.name == EXPORTED) {
            self.values[at] = exported(columns, &self.values, is_known);
        }
        self
    }

    /// A value as a cell shows it: text as it is, everything else as JSON; nothing for `null`.
    pub fn text(value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// The column of what the export saw of a row, for the sheet that it may become.
const EXPORTED: &str = "exported";

/// The cells of a row that a sheet reads, as they are written: what shows a change when the sheet comes back. A cell without
/// a value is there, and blank, if its field is known to have none.
fn exported(columns: &[Column], values: &[Value], is_blank: &dyn Fn(&str) -> bool) -> Value {
    let is_read = |name: &str| name != EXPORTED && !name.starts_with('_');
    let cells: Map<String, Value> = columns
        .iter()
        .zip(values)
        .filter(|(column, _)| is_read(&column.name))
        .filter(|(column, value)| !is_empty(value) || is_blank(&column.field()))
        .map(|(column, value)| (column.name.clone(), Value::String(Row::text(value))))
        .collect();
    Value::String(Value::Object(cells).to_string())
}

/// Whether a value says nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::Subject;
    use serde_json::json;

    #[test]
    fn what_no_column_has_is_kept_and_what_says_nothing_is_not() {
        let columns = Subject::Subscriptions.columns();
        let entry = json!({
            "id": "t", "name": "Retail", "pciTemplate": true, "empty": null, "nested": {"a": null}, "list": [],
        });
        let row = Row::of(
            columns,
            &[("@device", json!("d")), ("@action", json!("subscribe")), ("@odd", json!(1))],
            entry,
        );
        let texts: Vec<String> = row.values.iter().map(Row::text).collect();
        let exported = r#"{"device":"d","template":"t","action":"subscribe"}"#;
        assert_eq!(texts, ["d", "t", "subscribe", "Retail", exported, ""]);
        assert_eq!(Value::Object(row.other), json!({"pciTemplate": true, "list": []}));
        let odd = Row::of(columns, &[], json!("a text in the place of a record"));
        assert_eq!(Value::Object(odd.other), json!({"value": "a text in the place of a record"}));
    }
}

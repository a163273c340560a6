//! What is wrong, or worth saying, about a file, a sheet, a row or a cell, as data.
//!
//! One list of findings feeds the terminal, the JSON lines and the annotated workbook. A finding names the place as
//! the spreadsheet program shows it, the value, the rule and what to do. The list of them is in `list`; how they are
//! printed is left to the layers above.

pub(super) mod code;
pub(super) mod list;
pub(super) mod ranges;
pub(super) mod severity_policy;

use std::fmt;

use serde::Serialize;

use crate::json_schema::serialize_as_word;
use crate::model::kind::Kind;
use crate::model::unseen::is_unseen;
use crate::sheet::field::AT_THE_RANGE;

pub use code::{Code, Severity};
pub use list::{Findings, Group, GroupKey};

/// Characters of a value that a finding keeps.
const VALUE_LENGTH: usize = 200;

/// What a cell held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// Text.
    Text,
    /// A number.
    Number,
    /// A date, time or duration.
    Date,
    /// True or false.
    Bool,
    /// The error of a formula.
    Error,
    /// A formula without a result.
    Formula,
    /// Nothing.
    Blank,
}

/// Another place that belongs to a finding: the first use of a key, a step of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Related {
    /// The file, by its name.
    pub file: String,
    /// The worksheet; absent for text tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The cell, as `F9`; absent when the whole row is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The row, as the spreadsheet program shows it.
    pub row: u32,
    /// What it has to do with the finding.
    pub note: String,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The code of the finding; it never changes its meaning.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file, by its name as given.
    pub file: String,
    /// The worksheet; absent for text tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The cell, as `F14`, also for text tables: the address a spreadsheet program would show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The row, as the spreadsheet program shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Text tables only: the physical line where the row starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The header of the column, as it is in the file; of a very long one its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The column by its canonical name, with the sheet's kind: `devices.mac`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The field of the service: `identification`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<&'static str>,
    /// The key of the row, so that it is found after sorting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_key: Option<String>,
    /// The value as stored, escaped and cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What kind of value it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_kind: Option<ValueKind>,
    /// The rule, as one sentence; a list of findings puts the one of the code where a finding has none of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether that is the rule of the code: it says in general what the message says of this place.
    #[serde(skip)]
    pub rule_is_general: bool,
    /// What is wrong and what to do.
    pub message: String,
    /// The right value, when it is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Other places that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Related>,
    /// What the rows of its table are, where that is known.
    #[serde(skip)]
    pub kind: Option<Kind>,
}

/// Why a file or a sheet cannot be used, as an error that is cheap to pass on.
pub(crate) type Refusal = Box<Finding>;

impl Finding {
    /// The refusal of a whole file.
    pub(crate) fn refusal(code: Code, file: &str, message: impl Into<String>) -> Refusal {
        Box::new(Self::of_file(code, file, message))
    }

    /// A finding about a whole file.
    pub fn of_file(code: Code, file: &str, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            file: file.to_owned(),
            sheet: None,
            cell: None,
            row: None,
            line: None,
            header: None,
            column: None,
            api: None,
            row_key: None,
            value: None,
            value_kind: None,
            rule: None,
            rule_is_general: false,
            message: message.into(),
            suggestion: None,
            related: Vec::new(),
            kind: None,
        }
    }

    /// The same about rows of this kind.
    #[must_use]
    pub(super) fn about(mut self, kind: Option<Kind>) -> Self {
        self.kind = kind;
        self
    }

    /// The same in a worksheet.
    #[must_use]
    pub fn in_sheet(mut self, sheet: Option<&str>) -> Self {
        self.sheet = sheet.map(str::to_owned);
        self
    }

    /// The same in a row.
    #[must_use]
    pub fn in_row(mut self, row: u32, line: Option<u64>) -> Self {
        self.row = Some(row);
        self.line = line;
        self
    }

    /// The same in a cell of the row already named; `column` counts from 0.
    #[must_use]
    pub fn in_column(mut self, column: usize) -> Self {
        self.cell = self.row.map(|row| super::address::address(column, row));
        self
    }

    /// The same with the value that was found.
    #[must_use]
    pub fn showing(mut self, value: &str, kind: ValueKind) -> Self {
        self.value = Some(shown(value));
        self.value_kind = Some(kind);
        self
    }

    /// The same with another severity, where the code allows two.
    #[must_use]
    pub fn as_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Gives it the rule of its code, unless it has one of its own or is a mere note.
    pub(super) fn complete(&mut self) {
        if self.rule.is_none() && self.severity != Severity::Info {
            self.rule = self.code.rule().map(str::to_owned);
            self.rule_is_general = true;
        }
    }

    /// How much memory it takes, about.
    pub(super) fn size(&self) -> usize {
        let texts =
            [&self.sheet, &self.cell, &self.header, &self.column, &self.row_key, &self.value, &self.rule];
        let related = self.related.iter().map(|related| {
            size_of::<Related>()
                + related.file.len()
                + related.sheet.as_ref().map_or(0, String::len)
                + related.note.len()
        });
        size_of::<Self>()
            + self.file.len()
            + self.message.len()
            + self.suggestion.as_ref().map_or(0, String::len)
            + texts.into_iter().flatten().map(String::len).sum::<usize>()
            + related.sum::<usize>()
    }

    /// What is wrong and what to do beside the row in another workbook, where no range is merged.
    pub fn message_beside_row(&self) -> &str {
        match (self.code, self.message.split_once(AT_THE_RANGE)) {
            (Code::CellMergedCovered, Some((message, _))) => message,
            (_, _) => &self.message,
        }
    }

    /// Its rule, where that says more than its message does.
    pub fn rule_of_its_own(&self) -> Option<&str> {
        self.rule.as_deref().filter(|rule| !self.rule_is_general && !self.message.contains(rule))
    }

    /// Whether the row, or the whole file, cannot be used.
    pub fn is_error(&self) -> bool {
        matches!(self.severity, Severity::Fatal | Severity::Error)
    }
}

/// A value with control and direction characters as `\u{…}`, cut after 200 characters.
pub fn shown(value: &str) -> String {
    let mut result = String::with_capacity(value.len().min(VALUE_LENGTH + 4));
    for (count, c) in value.chars().enumerate() {
        if count == VALUE_LENGTH {
            result.push('…');
            break;
        }
        if c.is_control() || is_unseen(c) {
            result.extend(c.escape_unicode());
        } else {
            result.push(c);
        }
    }
    result
}

serialize_as_word!(
    Code,
    Code::as_str,
    "FindingCode",
    "The code of a finding; docs/codes.md explains it.",
    Code::ALL
);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_without_control_characters_and_cut() {
        assert_eq!(shown("a\u{7}b\u{202e}c\u{200b}"), "a\\u{7}b\\u{202e}c\\u{200b}");
        assert_eq!(shown(&"x".repeat(500)).chars().count(), 201);
        assert_eq!(shown("a\u{2028}b"), "a\\u{2028}b");
    }

    #[test]
    fn a_finding_is_written_with_its_stable_code_and_without_empty_fields() {
        let finding =
            Finding::of_file(Code::CellRequired, "a.csv", "fill it").in_row(14, Some(17)).in_column(5);
        let value = serde_json::to_value(&finding).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "code": "cell.required", "severity": "error", "file": "a.csv", "cell": "F14", "row": 14,
                "line": 17, "message": "fill it",
            })
        );
    }
}

//! Redacted findings (`--redact`), for logs that are shared: where and what, and nothing of what the sheets hold.
//!
//! A message may quote any cell, so it is replaced by what its code means, which is ours; values are told by kind and
//! length. File, sheet, header and place stay: without them nothing could be corrected.

use crate::sheet::finding::{Finding, ValueKind};
use crate::status::catalogue;

/// The same finding without anything from a cell.
pub(super) fn redacted(finding: &Finding) -> Finding {
    let mut finding = finding.clone();
    let kind = finding.value_kind.map_or("text", word);
    finding.message = catalogue::of_finding(finding.code).words.to_owned();
    finding.value = finding.value.as_deref().map(|value| length(kind, value));
    finding.suggestion = finding.suggestion.as_deref().map(|suggestion| length("text", suggestion));
    finding.row_key = finding.row_key.as_deref().map(|key| length("text", key));
    for related in &mut finding.related {
        "belongs to it".clone_into(&mut related.note);
    }
    finding
}

/// `(text, 14 characters)`.
pub(in crate::cli) fn length(kind: &str, value: &str) -> String {
    match value.chars().count() {
        1 => format!("({kind}, 1 character)"),
        // What was cut when it was found ends in one character more.
        201.. => format!("({kind}, more than 200 characters)"),
        count => format!("({kind}, {count} characters)"),
    }
}

fn word(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Text => "text",
        ValueKind::Number => "number",
        ValueKind::Date => "date",
        ValueKind::Bool => "true or false",
        ValueKind::Error => "error",
        ValueKind::Formula => "formula",
        ValueKind::Blank => "blank",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::{Code, Related};

    #[test]
    fn nothing_of_a_cell_stays() {
        const SECRET: &str = "jane@acme.example";
        let mut finding =
            Finding::of_file(Code::CellEmail, "a.csv", format!("'{SECRET}' is none; use {SECRET}"))
                .in_row(14, Some(17))
                .in_column(5)
                .showing(SECRET, ValueKind::Text);
        finding.suggestion = Some(SECRET.to_owned());
        finding.row_key = Some(SECRET.to_owned());
        let note = format!("first use of {SECRET}");
        finding.related.push(Related { file: "a.csv".into(), sheet: None, cell: None, row: 9, note });
        let told = serde_json::to_string(&redacted(&finding)).unwrap();
        assert!(!told.contains("jane"), "{told}");
        assert!(told.contains("(text, 17 characters)") && told.contains("F14"), "{told}");
        assert_eq!(length("number", "7"), "(number, 1 character)");
        let cut = Finding::of_file(Code::CellTooLong, "a.csv", "").showing(&"x".repeat(900), ValueKind::Text);
        assert_eq!(redacted(&cut).value.as_deref(), Some("(text, more than 200 characters)"));
    }
}

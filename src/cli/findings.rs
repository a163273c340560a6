//! The findings about sheets, told: one block a finding, grouped by sheet, then by code and column.
//!
//! A wrong column gives ten thousand equal findings; after the first few the rest is one line with their range.

use std::collections::BTreeMap;

use serde::Serialize;

use super::context::Context;
use crate::sheet::finding::{Code, Finding, Findings, Severity, cut};
use crate::term::{Ink, Line, Terminal, count, counted};

/// Equal findings of one column told one by one.
const TOLD: usize = 5;

/// A finding as one JSON object.
#[derive(Serialize)]
struct Told<'a> {
    object: &'static str,
    #[serde(flatten)]
    finding: &'a Finding,
}

/// What was found, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Found {
    pub(super) errors: u64,
    pub(super) warnings: u64,
    pub(super) notes: u64,
}

impl Found {
    /// Counts findings, those too that are not kept for being many.
    pub(super) fn of(findings: &Findings) -> Self {
        let count = |severity| u64::try_from(findings.count(severity)).unwrap_or(u64::MAX);
        Self {
            errors: count(Severity::Fatal) + count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Info),
        }
    }

    /// The sum of two counts.
    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            errors: self.errors + other.errors,
            warnings: self.warnings + other.warnings,
            notes: self.notes + other.notes,
        }
    }

    /// `2 errors, 1 warning`; notes only when asked for.
    pub(super) fn words(self) -> String {
        format!(
            "{}, {}, {}",
            counted(self.errors, "error", "errors"),
            counted(self.warnings, "warning", "warnings"),
            counted(self.notes, "note", "notes")
        )
    }
}

/// Tells all findings. Notes, which ask for nothing, are told with `-v` and in JSON.
pub(super) fn tell(context: &Context<'_>, findings: &[Finding]) {
    for finding in findings {
        context.terminal.object(&Told { object: "finding", finding });
    }
    tell_grouped(context.terminal, findings, context.common.verbose > 0);
}

fn tell_grouped(terminal: &Terminal, findings: &[Finding], notes: bool) {
    let mut before = None;
    for group in grouped(findings, notes) {
        let Some(first) = group.first() else { continue };
        let place = (&first.file, &first.sheet);
        if before != Some(place) {
            if before.is_some() {
                terminal.result("");
            }
            let heading = match &first.sheet {
                Some(sheet) => format!("{}, sheet {sheet}:", first.file),
                None => format!("{}:", first.file),
            };
            terminal.result(Line::new().ink(Ink::Strong, heading));
            before = Some(place);
        }
        for finding in group.iter().take(TOLD) {
            tell_one(terminal, finding);
        }
        if let Some(rest) = group.get(TOLD..).filter(|rest| !rest.is_empty()) {
            let more = u64::try_from(rest.len()).unwrap_or(u64::MAX);
            terminal.result(format!("  and {} more{}", count(more), range(rest)));
        }
    }
    if before.is_some() {
        terminal.result("");
    }
}

/// Equal findings of one column together; files and sheets in the order they come up, then by severity and code.
fn grouped(findings: &[Finding], notes: bool) -> Vec<Vec<&Finding>> {
    // That the list is shortened is no idle note.
    let told = findings
        .iter()
        .filter(|finding| notes || finding.severity != Severity::Info || finding.code == Code::LimitFindings);
    let (mut files, mut sheets) = (Vec::new(), Vec::new());
    let mut groups: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
    for finding in told {
        let file = place_in(&mut files, &finding.file);
        let sheet = place_in(&mut sheets, &finding.sheet);
        let key = (file, sheet, finding.severity, finding.code, &finding.column, &finding.header);
        groups.entry(key).or_default().push(finding);
    }
    groups.into_values().collect()
}

/// The place of a value in a list, to which it is added when it is new.
fn place_in<'a, T: PartialEq>(list: &mut Vec<&'a T>, value: &'a T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn tell_one(terminal: &Terminal, finding: &Finding) {
    let (ink, word) = match finding.severity {
        Severity::Fatal | Severity::Error => (Ink::Error, "error"),
        Severity::Warning => (Ink::Warning, "warning"),
        Severity::Info => (Ink::Faint, "note"),
    };
    let mut line =
        Line::new().ink(ink, format!("{word}[{}]", finding.code)).text(" ").ink(Ink::Strong, place(finding));
    if let Some(header) = &finding.header {
        line = line.text(format!("  \"{header}\""));
        if let Some(value) = &finding.value {
            line = line.text(format!(" = {}", cut(value)));
        }
    } else if let Some(value) = &finding.value {
        line = line.text(format!("  {}", cut(value)));
    }
    if let Some(key) = &finding.row_key {
        line = line.text(format!("  (row key {key})"));
    }
    terminal.result(line);
    terminal.result(Line::plain("  ").text(&finding.message));
    if let Some(rule) = finding.rule.as_ref().filter(|rule| **rule != finding.message) {
        terminal.result(Line::plain("  ").ink(Ink::Faint, rule));
    }
    for related in &finding.related {
        let sheet = related.sheet.as_deref().unwrap_or(&related.file);
        let at = related.cell.clone().unwrap_or_else(|| format!("row {}", related.row));
        terminal.result(Line::plain("  see ").text(format!("{sheet}!{at}: {}", related.note)));
    }
    if let Some(suggestion) = &finding.suggestion {
        terminal.result(Line::plain("  ").ink(Ink::Hint, "fix:").text(" ").text(suggestion));
    }
}

/// `Devices!F14`, `devices.csv!F14 (line 17)`, or the file where nothing smaller is meant.
fn place(finding: &Finding) -> String {
    let table = finding.sheet.as_deref().unwrap_or(&finding.file);
    let line = match finding.line {
        Some(line) if finding.row.is_some_and(|row| u64::from(row) != line) => format!(" (line {line})"),
        Some(_) | None => String::new(),
    };
    match (&finding.cell, finding.row) {
        (Some(cell), _) => format!("{table}!{cell}{line}"),
        (None, Some(row)) => format!("{table}, row {row}{line}"),
        (None, None) => table.to_owned(),
    }
}

/// ` in F19:F230`, from the first to the last of these findings.
fn range(rest: &[&Finding]) -> String {
    match (rest.first(), rest.last()) {
        (Some(first), Some(last)) => match (&first.cell, &last.cell, first.row, last.row) {
            (Some(first), Some(last), ..) if first == last => format!(" in {first}"),
            (Some(first), Some(last), ..) => format!(" in {first}:{last}"),
            (_, _, Some(first), Some(last)) => format!(" in rows {first} to {last}"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::ValueKind;
    use crate::term::{Manner, testing::terminal};

    fn told(findings: &[Finding], notes: bool) -> String {
        let (terminal, results, _) = terminal(Manner::default());
        tell_grouped(&terminal, findings, notes);
        results.text()
    }

    fn mac(row: u32) -> Finding {
        let mut finding =
            Finding::of_file(Code::CellMacLength, "onboarding.xlsx", "this has 10 hexadecimal digits")
                .in_sheet(Some("Devices"))
                .in_row(row, None)
                .in_column(5)
                .showing("1122334455", ValueKind::Text)
                .suggesting("00:11:22:33:44:55");
        finding.header = Some("MAC Address".to_owned());
        finding.column = Some("devices.mac".to_owned());
        finding
    }

    #[test]
    fn findings_that_are_too_many_to_be_kept_are_counted_and_the_shortening_is_told() {
        let mut list = Findings::default();
        list.extend((2..=2_001).map(mac));
        assert_eq!(Found::of(&list).errors, 2_000);
        let told = told(&list.into_vec(), false);
        assert!(told.contains("  and 995 more in F7:F1001\n"), "{told}");
        assert!(told.contains("1000 more findings cell.mac-length"), "{told}");
    }

    #[test]
    fn equal_findings_of_a_column_are_told_a_few_times_and_then_counted() {
        let findings: Vec<_> = (2..=10).map(mac).collect();
        let told = told(&findings, false);
        assert_eq!(told.matches("error[cell.mac-length]").count(), 5);
        assert!(told.starts_with(
            "onboarding.xlsx, sheet Devices:\n\
             error[cell.mac-length] Devices!F2  \"MAC Address\" = 1122334455\n\
             \x20 this has 10 hexadecimal digits\n\
             \x20 fix: 00:11:22:33:44:55\n"
        ));
        assert!(told.ends_with("  and 4 more in F7:F10\n\n"), "{told}");
    }

    #[test]
    fn findings_come_by_file_and_sheet_and_notes_only_when_asked_for() {
        let csv = Finding::of_file(Code::CellRequired, "sites.csv", "fill it").in_row(3, Some(7));
        let note = Finding::of_file(Code::RowBlank, "sites.csv", "blank rows are not read");
        let findings = [csv.clone(), mac(2), csv, note];
        let without = told(&findings, false);
        let places: Vec<_> = without.lines().filter(|line| line.ends_with(':')).collect();
        assert_eq!(places, ["sites.csv:", "onboarding.xlsx, sheet Devices:"]);
        assert!(without.contains("error[cell.required] sites.csv, row 3 (line 7)\n  fill it\n"), "{without}");
        assert!(!without.contains("note["));
        assert!(told(&findings, true).contains("note[row.blank] sites.csv\n"));
        let mut list = Findings::default();
        list.extend(findings);
        assert_eq!(Found::of(&list).words(), "3 errors, 0 warnings, 1 note");
    }
}

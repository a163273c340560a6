//! What was found in one table, row by row, and the words about a row.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::error::Result;
use crate::sheet::finding::{Code, Finding, Findings, GroupKey, Severity, shown};
use crate::sheet::{Book, Table};

use crate::report::layout::Widths;

/// The result columns of a checked sheet, always last and in this order.
pub(super) const COLUMNS: [&str; 5] =
    ["result_status", "result_code", "result_message", "result_column", "result_advice"];

/// How a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum CheckStatus {
    /// It is no row of data.
    #[default]
    None,
    /// Nothing is wrong with it.
    Ok,
    /// It would be imported, but something in it is worth a look.
    Warning,
    /// It cannot be imported.
    Error,
}

impl CheckStatus {
    /// The word in the column.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }

    /// How bad a finding makes a row.
    pub(super) const fn of(severity: Severity) -> Self {
        match severity {
            Severity::Fatal | Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Ok,
        }
    }
}

/// The findings of a table that are in some row, in the order of the rows.
#[derive(Debug, Default)]
pub(super) struct ByRow<'f> {
    rows: BTreeMap<u32, Vec<&'f Finding>>,
}

impl<'f> ByRow<'f> {
    /// Those of a table, of the findings of its file.
    pub(super) fn of(found: &[&'f Finding], table: &Table) -> Self {
        let mut rows: BTreeMap<u32, Vec<&Finding>> = BTreeMap::new();
        for finding in found.iter().filter(|finding| finding.sheet == table.worksheet) {
            if let Some(row) = finding.row {
                rows.entry(row).or_default().push(finding);
            }
        }
        for findings in rows.values_mut() {
            findings.sort_by_key(|finding| finding.severity);
        }
        Self { rows }
    }

    /// Those of a row, the worst first.
    pub(super) fn row(&self, number: u32) -> &[&'f Finding] {
        self.rows.get(&number).map_or(&[], Vec::as_slice)
    }

    /// The rows from `first` to before `end` in which something was found.
    pub(super) fn between(&self, first: u32, end: u32) -> Vec<u32> {
        if first >= end { Vec::new() } else { self.rows.range(first..end).map(|(row, _)| *row).collect() }
    }
}

/// Cells below each other of which the same was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct RepeatedFinding<'f> {
    pub(super) column: usize,
    first: u32,
    last: u32,
    /// What was found.
    pub(super) key: &'f GroupKey,
}

/// The cells of a table whose findings are not all kept for being too many.
#[derive(Debug, Default)]
pub(super) struct RepeatedFindings<'f> {
    /// Those that begin further down, the next one last.
    waiting: Vec<RepeatedFinding<'f>>,
    open: Vec<RepeatedFinding<'f>>,
}

impl<'f> RepeatedFindings<'f> {
    /// Those of a table.
    pub(super) fn of(findings: &'f Findings, book: &Book, table: &Table) -> Self {
        let groups = findings.groups().iter().filter(|group| {
            let is_here = group.key.file == book.file.name && group.key.sheet == table.worksheet;
            is_here && group.is_shortened() && CheckStatus::of(group.key.severity) > CheckStatus::Ok
        });
        let mut waiting: Vec<RepeatedFinding<'_>> = groups
            .flat_map(|group| {
                let span = |(column, first, last)| RepeatedFinding { column, first, last, key: &group.key };
                group.places.cells().map(span)
            })
            .collect();
        waiting.sort_by_key(|span| std::cmp::Reverse(span.first));
        Self { waiting, open: Vec::new() }
    }

    /// Those that reach a row; rows are asked for from the first on.
    pub(super) fn row(&mut self, number: u32) -> &[RepeatedFinding<'f>] {
        while let Some(span) = self.waiting.pop_if(|span| span.first <= number) {
            self.open.push(span);
        }
        self.open.retain(|span| span.last >= number);
        &self.open
    }
}

/// How the rows of a table stand, those included whose findings are not kept for being too many: a byte for each row.
#[derive(Debug, Default)]
pub(super) struct CheckedRows {
    statuses: Vec<CheckStatus>,
    /// How wide the cells of its columns are.
    pub(super) widths: Widths,
    /// Rows of data.
    pub(super) rows: u64,
    /// Those without an error that are no records as long as nobody says what becomes of hidden rows.
    hidden: BTreeSet<u32>,
}

impl CheckedRows {
    /// Reads a table; `first` is the number of its first row among all rows of the check, and is moved on.
    pub(super) fn of(
        book: &Book,
        table: &Table,
        first: &mut usize,
        usable: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let mut survey = Self::default();
        book.read(table, &mut |row| {
            let found = row.findings.iter().map(|finding| CheckStatus::of(finding.severity)).max();
            let status = found.unwrap_or(CheckStatus::Ok).max(CheckStatus::Ok);
            let waits = !usable(*first);
            if row.draft.is_none() && status < CheckStatus::Error {
                survey.hidden.insert(row.number);
            }
            *first += 1;
            survey.rows += 1;
            if row.findings.iter().any(|finding| is_cut_wrongly(finding, table)) {
                // It has a cell behind the header; those of a row whose quotation marks are wrong stand in one.
                let is_whole = !row.findings.iter().any(is_damage);
                let mut cells = if is_whole { row.cells } else { Vec::new() };
                cells.resize(cells.len().max(table.width() + 1), SmolStr::default());
                cells[table.width()] = format!("{}#", cells[table.width()]).into();
                survey.widths.add(&cells);
            } else {
                survey.widths.add(&row.cells);
            }
            let at = usize::try_from(row.number).unwrap_or(usize::MAX);
            if survey.statuses.len() <= at {
                survey.statuses.resize(at.saturating_add(1), CheckStatus::None);
            }
            survey.statuses[at] = if waits { CheckStatus::Error } else { status };
            Ok(())
        })?;
        Ok(survey)
    }

    /// How a row stands by itself.
    fn status(&self, row: u32) -> CheckStatus {
        usize::try_from(row).ok().and_then(|row| self.statuses.get(row)).copied().unwrap_or_default()
    }

    /// How a row stands, and the values of its result columns; `spans` are those that reach it.
    pub(super) fn verdict(
        &self,
        row: u32,
        findings: &[&Finding],
        spans: &[RepeatedFinding<'_>],
    ) -> (CheckStatus, [String; COLUMNS.len()]) {
        let told: Vec<&&Finding> = findings
            .iter()
            .filter(|finding| finding.severity != Severity::Info || finding.code == Code::RefTargetInvalid)
            .collect();
        let listed = told.iter().map(|finding| CheckStatus::of(finding.severity)).max().unwrap_or_default();
        let is_told = |key: &GroupKey| {
            told.iter().any(|finding| finding.code == key.code && finding.header == key.header)
        };
        let untold: Vec<&GroupKey> = spans.iter().map(|span| span.key).filter(|key| !is_told(key)).collect();
        let counted = untold.iter().map(|key| CheckStatus::of(key.severity)).max().unwrap_or_default();
        let status = listed.max(counted).max(self.status(row));
        // A row that only waits for another needs no correction of its own, but it cannot be imported either.
        let mut messages: Vec<String> = told.iter().map(|finding| worded(finding)).collect();
        messages.extend(untold.iter().map(|key| {
            let header = key.header.as_ref().map(|header| format!("{}: ", shown(header))).unwrap_or_default();
            format!("{header}the same as in the first rows with {}", key.code)
        }));
        if messages.is_empty() && self.hidden.contains(&row) {
            messages.push(HIDDEN.to_owned());
        } else if messages.is_empty() && status > CheckStatus::Ok {
            messages.push(
                "it, or a row that it refers to, has a problem that is too frequent to be listed for every row: see the first \
                 rows with one"
                    .to_owned(),
            );
        }
        let codes = told.iter().map(|finding| finding.code).chain(untold.iter().map(|key| key.code));
        let headers = told.iter().filter_map(|finding| finding.header.as_ref());
        let headers = headers.chain(untold.iter().filter_map(|key| key.header.as_ref()));
        let values = [
            status.as_str().to_owned(),
            distinct(codes.map(|code| code.to_string())).join("; "),
            messages.join("\n"),
            distinct(headers.map(|header| shown(header))).join("; "),
            distinct(told.iter().filter_map(|finding| advice(finding))).join("\n"),
        ];
        (status, values)
    }
}

/// Whether a finding says that a row of a text table was not cut into cells as it should be. In a workbook that would not
/// be seen any more.
pub(super) fn is_cut_wrongly(finding: &Finding, table: &Table) -> bool {
    let is_of_width = matches!(finding.code, Code::RowTooFewCells | Code::RowTooManyCells)
        && finding.is_error()
        && finding.cell.is_some();
    table.worksheet.is_none() && (is_of_width || is_damage(finding))
}

/// Whether nobody knows which cells a row has.
fn is_damage(finding: &Finding) -> bool {
    let is_quote = matches!(finding.code, Code::RowQuoteStray | Code::RowQuoteUnterminated);
    is_quote || (finding.code == Code::CellTooLong && finding.cell.is_none())
}

/// What is said of a hidden row.
const HIDDEN: &str =
    "the row is hidden: choose --hidden-rows=import to import it or --hidden-rows=skip to leave it out";

/// What is said of a row whose quotation marks are wrong: what helps in the text table does not help in a workbook.
const DAMAGED: &str = "a quotation mark in the file is in the wrong place, so the cells from here on could not be \
             separated: enter each of them in its column";

/// The message of a finding as it holds in a workbook.
fn message(finding: &Finding) -> &str {
    if matches!(finding.code, Code::RowQuoteStray | Code::RowQuoteUnterminated) {
        DAMAGED
    } else {
        finding.message_beside_row()
    }
}

/// The same with its column where it has one.
fn worded(finding: &Finding) -> String {
    match &finding.header {
        Some(header) => format!("{}: {}", shown(header), message(finding)),
        None => message(finding).to_owned(),
    }
}

/// What to enter where that is known, the rule where it is not, and the other places to look at.
fn advice(finding: &Finding) -> Option<String> {
    let mut parts = Vec::new();
    match (&finding.suggestion, &finding.rule) {
        (Some(suggestion), _) => parts.push(format!("enter: {suggestion}")),
        (None, Some(rule)) if *rule != finding.message => parts.push(format!("rule: {rule}")),
        (None, Some(_) | None) => {}
    }
    parts.extend(places(finding));
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The other places that belong to a finding.
pub(super) fn places(finding: &Finding) -> impl Iterator<Item = String> {
    finding.related.iter().map(|related| {
        let sheet = related.sheet.as_deref().unwrap_or(&related.file);
        let at = related.cell.clone().unwrap_or_else(|| format!("row {}", related.row));
        format!("see {sheet}!{at} ({})", related.note)
    })
}

/// The words of the note on a cell.
pub(super) fn note(findings: &[&Finding]) -> String {
    let words = |finding: &&Finding| {
        let mut lines = vec![message(finding).to_owned()];
        lines.extend(
            finding.rule.iter().filter(|rule| **rule != finding.message).map(|rule| format!("Rule: {rule}")),
        );
        lines.extend(finding.suggestion.iter().map(|suggestion| format!("Enter: {suggestion}")));
        lines.extend(places(finding));
        lines.push(format!("[{}]", finding.code));
        lines.join("\n")
    };
    findings.iter().map(words).collect::<Vec<_>>().join("\n\n")
}

/// The texts in their order, each once.
fn distinct(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for text in texts {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

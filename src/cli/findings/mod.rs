//! Prints the findings about sheets: one block a finding, grouped by sheet, then by severity, code and column.
//!
//! A wrong column gives ten thousand equal findings; after the first few that differ the rest is one line with their range.
//! Where there are more than a handful, a table says first what is wrong, by column.

pub(super) mod mapping;
pub(super) mod redact;
pub(super) mod remedy;

use serde::Serialize;

use self::redact::redacted;
use crate::advice::Advice;
use crate::cli::context::Context;
use crate::sheet::finding::{Code, Finding, Findings, Group, GroupKey, Severity, ValueKind, shown};
use crate::term::{Ink, Line, Table, Terminal, count, counted};

/// Findings that are seen at a glance, without a table of them.
const HANDFUL: usize = 5;
/// Lines of that table.
const LINES: usize = 30;
/// Characters of a value on the screen.
pub(super) const VALUE: usize = 60;
/// Characters of a header in the table.
const HEADER: usize = 24;
/// Ranges told of one group.
const RANGES: usize = 3;
/// Ranges of one group in JSON.
const RANGES_OF_OBJECT: usize = 100;

/// A finding as one JSON object.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FindingObject<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    /// The command that explains the code: `explain CODE`.
    doc: String,
}

/// Equal findings of one column, for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FindingGroup {
    /// The file, by its name as given.
    file: String,
    /// The worksheet; `null` for text tables.
    sheet: Option<String>,
    severity: Severity,
    code: Code,
    /// The column by its canonical name, with the sheet's kind: `devices.mac`.
    column: Option<String>,
    /// The header of the column, as it is in the file.
    header: Option<String>,
    /// How many findings.
    count: usize,
    /// The first cells or rows: `F2:F10`.
    ranges: Vec<String>,
    /// How many more ranges there are.
    more_ranges: u64,
}

/// The findings, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct FindingCounts {
    /// Errors, those included because of which a file or sheet cannot be used.
    pub(super) errors: u64,
    /// Warnings.
    pub(super) warnings: u64,
    /// Notes.
    pub(super) notes: u64,
    /// Errors because of which a file or sheet cannot be used.
    pub(super) fatal: u64,
}

impl FindingCounts {
    /// Counts findings, those too that are not kept for being many.
    pub(super) fn of(findings: &Findings) -> Self {
        let count = |severity| number(findings.count(severity));
        Self {
            errors: count(Severity::Fatal) + count(Severity::Error),
            warnings: count(Severity::Warning),
            notes: count(Severity::Info),
            fatal: count(Severity::Fatal),
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

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Tells all findings; with `redact` without the values of the sheets. Notes, which ask for nothing, are reported with
/// `-v` and in JSON.
pub(super) fn tell(context: &Context<'_>, findings: &Findings, redact: bool) {
    if context.terminal.json() {
        for finding in findings.iter().chain(&findings.shortened()) {
            let doc = format!("explain {}", finding.code);
            let unseen = redact.then(|| redacted(finding));
            let finding = unseen.as_ref().unwrap_or(finding);
            context.terminal.object(&FindingObject { finding, doc });
        }
    }
    tell_grouped(context.terminal, findings, context.common.verbose > 0, redact);
}

/// The groups as programs read them.
pub(super) fn finding_groups(findings: &Findings) -> Vec<FindingGroup> {
    let of = |group: &Group| {
        let GroupKey { file, sheet, severity, code, column, header } = group.key.clone();
        let ranges = group.places.ranges(RANGES_OF_OBJECT);
        let more_ranges = group.places.ranges_beyond(RANGES_OF_OBJECT);
        FindingGroup { file, sheet, severity, code, column, header, count: group.count, ranges, more_ranges }
    };
    grouped(findings, true).into_iter().map(of).collect()
}

/// How to have a code explained, when anything was told that has one.
pub(super) fn tell_explain(context: &Context<'_>, findings: &Findings) {
    let groups = grouped(findings, context.common.verbose > 0);
    let Some(first) = groups.first() else { return };
    let others = groups.iter().any(|group| group.key.code != first.key.code);
    let or = if others { ", or any other code in square brackets" } else { "" };
    let advice = Advice::from("what a finding means and how to fix it: ")
        .command(format!("fleetload explain {}", first.key.code));
    context.terminal.hint(advice.words(or));
}

fn tell_grouped(terminal: &Terminal, findings: &Findings, notes: bool, redact: bool) {
    let groups = grouped(findings, notes);
    if groups.iter().map(|group| group.count).sum::<usize>() > HANDFUL {
        tell_table(terminal, groups.clone(), terminal.result_columns());
    }
    let mut before = None;
    for group in &groups {
        let place = (&group.key.file, &group.key.sheet);
        if before != Some(place) {
            if before.is_some() {
                terminal.result("");
            }
            let heading = match &group.key.sheet {
                Some(sheet) => format!("{}, sheet {sheet}:", group.key.file),
                None => format!("{}:", group.key.file),
            };
            terminal.result(Line::new().ink(Ink::Strong, heading));
            before = Some(place);
        }
        let mut told = 0;
        for finding in findings.first_of(group) {
            if redact {
                tell_one(terminal, &redacted(finding))
            } else {
                tell_one(terminal, finding)
            }
            told += 1;
        }
        if group.count > told {
            let rest = group.places.without(findings.first_of(group));
            let place = if rest.is_empty() { String::new() } else { format!(" in {}", range(&rest)) };
            terminal.result(format!(
                "  and {} more {}{place}",
                count(number(group.count - told)),
                group.key.code
            ));
        }
    }
    if before.is_some() {
        terminal.result("");
    }
}

/// What is wrong or worth a look, by column: the worst first. Where the table is wider than the terminal, each of its
/// rows has two lines.
fn tell_table(terminal: &Terminal, mut groups: Vec<&Group>, columns: Option<usize>) {
    groups.sort_by(|left, right| {
        left.key.severity.cmp(&right.key.severity).then_with(|| right.count.cmp(&left.count))
    });
    let is_wrong = |group: &&Group| matches!(group.key.severity, Severity::Fatal | Severity::Error);
    let heading =
        if groups.iter().any(is_wrong) { "What is wrong, by column:" } else { "Worth a look, by column:" };
    terminal.result(Line::new().ink(Ink::Strong, heading));
    let rows: Vec<[String; 5]> = groups.iter().take(LINES).map(|group| cells(group)).collect();
    let mut table = Table::new(&["sheet", "column", "code", "count", "where"], &[3]);
    rows.iter().for_each(|row| table.row(row));
    if columns.is_some_and(|columns| !table.fits(columns)) {
        for [sheet, column, code, count, places] in rows {
            let place = if column.is_empty() { sheet } else { format!("{sheet}, {column}") };
            terminal.result(Line::plain(" ").ink(Ink::Strong, count).text(format!(" x {code}")));
            terminal.result(format!("   {place}: {places}"));
        }
    } else {
        table.lines().into_iter().for_each(|line| terminal.result(line));
    }
    if groups.len() > LINES {
        terminal.result(format!(" and {} more kinds of findings", groups.len() - LINES));
    }
    terminal.result("");
}

/// The cells of the table's row for a group.
fn cells(group: &Group) -> [String; 5] {
    let key = &group.key;
    let sheet = key.sheet.as_ref().unwrap_or(&key.file);
    let letter = group.places.letter().unwrap_or_default();
    let header = key.header.as_deref().map(shown).or_else(|| key.column.clone()).unwrap_or_default();
    let column = format!("{letter} {}", cut(&header, HEADER)).trim().to_owned();
    let code = match key.severity {
        Severity::Fatal | Severity::Error => key.code.to_string(),
        Severity::Warning => format!("{} (warning)", key.code),
        Severity::Info => format!("{} (note)", key.code),
    };
    let places = match group.places.words(1) {
        (told, 0) => told,
        (told, more) => format!("{told} and {} more", count(more)),
    };
    [cut(sheet, HEADER), column, code, count(number(group.count)), places]
}

/// The groups to be told: sheets in the order of the files, then the worst first, then by code and column. A guessed
/// encoding comes before what may come of it.
fn grouped(findings: &Findings, notes: bool) -> Vec<&Group> {
    let sheets = findings.sheets();
    let mut groups: Vec<_> = findings
        .groups()
        .iter()
        .filter(|group| notes || !is_quiet(group))
        .map(|group| {
            let place = (group.key.file.as_str(), group.key.sheet.as_deref());
            (sheets.iter().position(|known| *known == place), group)
        })
        .collect();
    groups.sort_by(|(left_place, left), (right_place, right)| {
        let order = |group: &Group| {
            let key = &group.key;
            (key.code != Code::FileEncodingGuessed, key.severity, key.code)
        };
        left_place
            .cmp(right_place)
            .then_with(|| order(left).cmp(&order(right)))
            .then_with(|| letters(left).cmp(&letters(right)))
    });
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Whether a group is reported only when asked for: notes, but for what was read as the identity of a device.
fn is_quiet(group: &Group) -> bool {
    let is_identity =
        group.key.code == Code::CellZeroPaddedFormat && group.key.column.as_deref() == Some("devices.mac");
    group.key.severity == Severity::Info && !is_identity
}

/// How many findings are reported only when asked for.
pub(super) fn quiet(findings: &Findings) -> u64 {
    number(findings.groups().iter().filter(|group| is_quiet(group)).map(|group| group.count).sum())
}

/// The letters of a group's column so that they sort as the columns do.
fn letters(group: &Group) -> (usize, String) {
    let letter = group.places.letter().unwrap_or_default();
    (letter.len(), letter)
}

fn tell_one(terminal: &Terminal, finding: &Finding) {
    let (ink, word) = match finding.severity {
        Severity::Fatal | Severity::Error => (Ink::Error, "error"),
        Severity::Warning => (Ink::Warning, "warning"),
        Severity::Info => (Ink::Faint, "note"),
    };
    // A cell may be wrong though it shows nothing.
    let value = finding.value.as_ref().filter(|value| !value.is_empty());
    let mut line =
        Line::new().ink(ink, format!("{word}[{}]", finding.code)).text(" ").ink(Ink::Strong, place(finding));
    if let Some(header) = &finding.header {
        line = line.text(format!("  \"{}\"", cut(&shown(header), VALUE)));
        if let Some(value) = value {
            line = line.text(format!(" = {}", cut(value, VALUE)));
        }
    } else if let Some(value) = value {
        line = line.text(format!("  {}", cut(value, VALUE)));
    }
    if let Some(key) = &finding.row_key {
        line = line.text(format!("  (row key {})", cut(key, VALUE)));
    }
    terminal.result(line);
    terminal.result(Line::plain("  ").text(&finding.message));
    for related in &finding.related {
        let sheet = related.sheet.as_deref().unwrap_or(&related.file);
        let at = related.cell.clone().unwrap_or_else(|| format!("row {}", related.row));
        terminal.result(Line::plain("  see ").text(format!("{sheet}!{at}: {}", related.note)));
    }
    let rule = finding.rule_of_its_own();
    match (fix(finding), rule) {
        (Some(fix), _) => terminal.result(Line::plain("  ").ink(Ink::Hint, "fix:").text(" ").text(fix)),
        (None, Some(rule)) => terminal.result(Line::plain("  rule: ").text(rule)),
        (None, None) => {}
    }
}

/// What to enter, where that is known; the message itself says what to do.
fn fix(finding: &Finding) -> Option<String> {
    let rule = finding.rule_of_its_own();
    let suggestion = finding.suggestion.as_ref()?;
    let suggestion = cut(suggestion, 2 * VALUE);
    let scope = finding.code.as_str().split('.').next().unwrap_or_default();
    Some(match (scope, finding.value_kind) {
        _ if finding.code == Code::HeaderRequiredMissing => {
            format!("add a column with the header {suggestion}")
        }
        ("header", _) => format!("write {suggestion} as the header, if that is meant"),
        ("file" | "sheet", _) => suggestion,
        (_, Some(ValueKind::Number | ValueKind::Date | ValueKind::Bool)) => {
            let letter =
                finding.cell.as_deref().map(|cell| cell.trim_end_matches(|c: char| c.is_ascii_digit()));
            let column = letter.map_or_else(|| "the column".to_owned(), |letter| format!("column {letter}"));
            format!("format {column} as Text and enter {suggestion}, if that is right")
        }
        (_, _) => match rule {
            Some(rule) => format!("enter {suggestion} ({rule})"),
            None => format!("enter {suggestion}"),
        },
    })
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

/// `F2:F10001`, `F2:F10, F14 and 37 more places`.
fn range(places: &crate::sheet::Places) -> String {
    match places.words(RANGES) {
        (told, 0) => told,
        (told, more) => format!("{told} and {}", counted(more, "more place", "more places")),
    }
}

/// A text with its middle left out when it has more than `limit` characters.
pub(super) fn cut(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let end = limit / 2;
    let start = limit - end - 1;
    let first: String = text.chars().take(start).collect();
    let last: String = text.chars().skip(length - end).collect();
    format!("{first}…{last}")
}

#[cfg(test)]
mod tests;

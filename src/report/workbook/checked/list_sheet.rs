//! The first sheet of a checked workbook: how to use it, what was found by number, and each finding with its place.

use rust_xlsxwriter::{Worksheet, XlsxError};

use crate::model::amount::counted;
use crate::model::state::JobState;
use crate::report::workbook::annotated_sheet::NOTES;
use crate::report::workbook::height;
use crate::report::workbook::own_sheet::OwnSheet;
use crate::report::workbook::styles::Styles;
use crate::sheet::Book;
use crate::sheet::finding::{Code, Finding, Findings, Group, GroupKey, Severity, shown};

use super::by_row::{CheckedRows, places};
use super::unreadable_sheets;

/// The name of the sheet.
pub(super) const NAME: &str = "Findings";

/// Findings that are listed with their places; the cells are marked anyway.
const LISTED: usize = 5_000;
/// Ranges told of what was found in a column.
const RANGES: usize = 3;
/// Widths of the columns.
const WIDTHS: [f64; 8] = [26.0, 11.0, 28.0, 22.0, 26.0, 70.0, 36.0, 30.0];
/// Characters of a line in the columns of values, messages, rules and suggestions: a little less than they are wide.
const LINES: [usize; 4] = [22, 62, 30, 25];

/// What the sheet tells.
pub(super) struct List<'a> {
    pub(super) book: &'a Book,
    /// All that was found, in all files, with its number.
    pub(super) findings: &'a Findings,
    /// What of it is kept and in this file.
    pub(super) found: &'a [&'a Finding],
    /// How the rows of its tables stand.
    pub(super) surveys: &'a [CheckedRows],
    /// The names of the worksheets, in the order of the tables.
    pub(super) worksheets: &'a [String],
    /// The command that checks the workbook.
    pub(super) again: &'a str,
}

/// Fills the sheet.
pub(super) fn fill(sheet: &mut Worksheet, styles: &Styles, list: &List<'_>) -> Result<(), XlsxError> {
    sheet.set_screen_gridlines(false);
    let title = format!("Check of {}", list.book.file.name);
    let mut page = OwnSheet::begin(sheet, styles, NAME, WIDTHS, &title)?;
    for line in list.introduction() {
        page.sentence(&line)?;
    }
    page.row += 1;
    list.counted(&mut page)?;
    page.row += 1;
    list.each(&mut page)
}

impl List<'_> {
    /// How the workbook is used, and what is not in it.
    fn introduction(&self) -> Vec<String> {
        let count = |wanted: &[Severity]| -> usize {
            self.groups().filter(|group| wanted.contains(&group.key.severity)).map(|group| group.count).sum()
        };
        let rows: u64 = self.surveys.iter().map(|survey| survey.rows).sum();
        let mut lines = vec![format!(
            "Rows read: {rows}. Errors: {}. Warnings: {}.",
            count(&[Severity::Fatal, Severity::Error]),
            count(&[Severity::Warning])
        )];
        lines.push(
            "A red cell holds an error, an amber one is worth a look. The note on it says what is wrong and what to enter."
                .to_owned(),
        );
        lines.push(
            "The columns result_… at the right of each sheet say the same row by row: filter result_status for error."
                .to_owned(),
        );
        let unreadable: Vec<String> = unreadable_sheets(self.book, self.findings)
            .into_iter()
            .map(|name| format!("\u{201c}{}\u{201d}", shown(name)))
            .collect();
        lines.push(match unreadable.as_slice() {
            [] => format!(
                "Correct the red cells in this workbook, save it, and check it again: {} (this sheet and the columns result_… are not read).",
                self.again
            ),
            _ => format!(
                "Sheets that cannot be read as they are, and are not in this workbook: {}. Correct everything in {} itself, and check that again.",
                unreadable.join(", "),
                self.book.file.name
            ),
        });
        if !self.book.ignored.is_empty() {
            let names: Vec<String> = self
                .book
                .ignored
                .iter()
                .map(|(name, why)| format!("\u{201c}{}\u{201d} ({why})", crate::sheet::finding::shown(name)))
                .collect();
            lines.push(format!("Sheets that are not read and not shown here: {}.", names.join(", ")));
        }
        if self.groups().any(Group::is_shortened) {
            lines.push(
                "Some problems are so frequent that only the first of each are listed one by one and have notes. By number all of them are counted; their cells are coloured too, and where not all places fit, result_status still says error."
                    .to_owned(),
            );
        }
        if count(&[Severity::Fatal, Severity::Error, Severity::Warning]) > NOTES {
            lines.push(format!(
                "Each sheet has notes on its first {NOTES} cells; further cells are coloured, and result_message says what is wrong."
            ));
        }
        lines
    }

    /// What was found in the file, by what it has in common.
    fn groups(&self) -> impl Iterator<Item = &Group> {
        // That the example rows of a template are not read is no finding about the sheets.
        let is_of_example = |key: &GroupKey| key.code == Code::RowTemplate && key.severity == Severity::Info;
        let groups = self.findings.groups().iter();
        groups.filter(move |group| group.key.file == self.book.file.name && !is_of_example(&group.key))
    }

    /// The table of a worksheet of the file.
    fn table(&self, sheet: Option<&String>) -> Option<usize> {
        self.book.tables.iter().position(|table| table.worksheet.as_ref() == sheet)
    }

    /// What a sheet is called in this workbook; `None` for one that is not in it.
    fn worksheet(&self, sheet: Option<&String>) -> Option<&str> {
        self.worksheets.get(self.table(sheet)?).map(String::as_str)
    }

    /// What the place of a finding is called: the sheet where it has one.
    fn sheet_name<'s>(&'s self, sheet: Option<&'s String>) -> &'s str {
        self.worksheet(sheet).or(sheet.map(String::as_str)).unwrap_or(&self.book.file.name)
    }

    /// How often each thing was found in each column.
    fn counted(&self, page: &mut OwnSheet<'_>) -> Result<(), XlsxError> {
        let mut groups: Vec<&Group> = self.groups().collect();
        groups.sort_by_key(|group| {
            let key = &group.key;
            (key.severity, self.table(key.sheet.as_ref()), key.code, key.header.as_deref())
        });
        page.part("By number")?;
        page.headers(&["Sheet", "Severity", "Code", "Column", "Found", "Where"])?;
        if groups.is_empty() {
            page.sentence("Nothing was found.")?;
        }
        for group in groups {
            let (styles, key) = (page.styles, &group.key);
            page.text(0, self.sheet_name(key.sheet.as_ref()), &styles.result)?;
            page.text(1, word(key.severity), styles.status(colour(key.severity)))?;
            page.text(2, key.code.as_str(), &styles.result)?;
            page.text_if_any(3, &key.header.as_deref().map(shown).unwrap_or_default(), &styles.result)?;
            page.number(4, group.count as u64, &styles.count)?;
            let places = match group.places.words(RANGES) {
                (told, 0) => told,
                (told, more) => format!("{told} and {}", counted(more, "more place", "more places")),
            };
            page.text_if_any(5, &places, &styles.indented)?;
            page.row += 1;
        }
        Ok(())
    }

    /// Each finding, the worst first, then by sheet and row.
    fn each(&self, page: &mut OwnSheet<'_>) -> Result<(), XlsxError> {
        let is_of_example =
            |finding: &&Finding| finding.code == Code::RowTemplate && finding.severity == Severity::Info;
        let mut found: Vec<&Finding> =
            self.found.iter().copied().filter(|finding| !is_of_example(finding)).collect();
        // That a list is shortened comes before the list.
        found.sort_by_key(|finding| {
            let sheet = self.table(finding.sheet.as_ref());
            (finding.code != Code::LimitFindings, finding.severity, sheet, finding.row)
        });
        page.part("One by one")?;
        page.headers(&[
            "Place",
            "Severity",
            "Code",
            "Column",
            "Holds",
            "What is wrong, and what to do",
            "Rule",
            "Enter instead",
        ])?;
        for finding in found.iter().take(LISTED) {
            self.one(page, finding)?;
        }
        if found.len() > LISTED {
            let more = format!(
                "and {} more: their cells are marked, and fleetload check --json lists every one",
                found.len() - LISTED
            );
            page.sentence(&more)?;
        }
        Ok(())
    }

    fn one(&self, page: &mut OwnSheet<'_>, finding: &Finding) -> Result<(), XlsxError> {
        let styles = page.styles;
        let name = self.sheet_name(finding.sheet.as_ref());
        let place = match at(finding) {
            place if place.is_empty() => name.to_owned(),
            place => format!("{name}!{place}"),
        };
        match (self.worksheet(finding.sheet.as_ref()), finding.row) {
            (Some(worksheet), Some(row)) => {
                let cell = finding.cell.clone().unwrap_or_else(|| format!("A{row}"));
                page.link(0, &place, worksheet, &cell)?;
            }
            (Some(_), None) | (None, _) => page.text(0, &place, &styles.result)?,
        }
        page.text(1, word(finding.severity), styles.status(colour(finding.severity)))?;
        page.text(2, finding.code.as_str(), &styles.result)?;
        page.text_if_any(3, &finding.header.as_deref().map(shown).unwrap_or_default(), &styles.result)?;
        let mut message = finding.message_beside_row().to_owned();
        for place in places(finding) {
            message.push('\n');
            message.push_str(&place);
        }
        let [value, rule, suggestion] = [&finding.value, &finding.rule, &finding.suggestion]
            .map(|text| text.as_deref().unwrap_or_default());
        let mut tallest = 0.0_f64;
        for (column, (text, line)) in (4..).zip([value, &message, rule, suggestion].into_iter().zip(LINES)) {
            page.text_if_any(column, text, &styles.sentence)?;
            tallest = tallest.max(height(&[text], line));
        }
        page.sheet.set_row_height(page.row, tallest)?;
        page.row += 1;
        Ok(())
    }
}

/// The cell or row of a finding; empty when it speaks of a whole sheet.
fn at(finding: &Finding) -> String {
    match (&finding.cell, finding.row) {
        (Some(cell), _) => cell.clone(),
        (None, Some(row)) => format!("row {row}"),
        (None, None) => String::new(),
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Fatal | Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn colour(severity: Severity) -> JobState {
    match severity {
        Severity::Fatal | Severity::Error => JobState::Rejected,
        Severity::Warning => JobState::Held,
        Severity::Info => JobState::Skipped,
    }
}

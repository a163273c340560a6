//! The first sheet of a checked workbook: how to use it, what was found by number, and each finding with its place.

use std::collections::BTreeMap;

use rust_xlsxwriter::{Format, Url, Worksheet, XlsxError};

use crate::model::state::JobState;
use crate::report::paint::Paint;
use crate::report::workbook::{NOTES, fitting, height};
use crate::sheet::Book;
use crate::sheet::finding::{Code, Finding, Severity};

use super::by_row::{Survey, places};

/// The name of the sheet.
pub(super) const NAME: &str = "Findings";

/// Findings that are listed with their places; the cells are marked all the same.
const LISTED: usize = 5_000;
/// Widths of the columns.
const WIDTHS: [f64; 8] = [26.0, 11.0, 28.0, 22.0, 26.0, 70.0, 36.0, 30.0];
/// Characters of a line in the column of messages.
const LINE: usize = 64;

/// What the sheet tells.
pub(super) struct List<'a> {
    pub(super) book: &'a Book,
    /// What was found in the file.
    pub(super) found: &'a [&'a Finding],
    /// How the rows of its tables stand.
    pub(super) surveys: &'a [Survey],
    /// The names of the worksheets, in the order of the tables.
    pub(super) worksheets: &'a [String],
    /// The workbook itself, as it is typed in a command.
    pub(super) name: &'a str,
}

/// Fills the sheet.
pub(super) fn fill(sheet: &mut Worksheet, paint: &Paint, list: &List<'_>) -> Result<(), XlsxError> {
    sheet.set_name(NAME)?;
    for (column, width) in (0..).zip(WIDTHS) {
        sheet.set_column_width(column, width)?;
    }
    sheet.set_screen_gridlines(false).set_landscape().set_print_fit_to_pages(1, 0);
    let mut page = Page { sheet, paint, row: 0 };
    page.text(0, &format!("Check of {}", list.book.file.name), &paint.title)?;
    page.row += 2;
    for line in list.introduction() {
        page.text(0, &line, &paint.result)?;
        page.row += 1;
    }
    page.row += 1;
    list.counted(&mut page)?;
    page.row += 1;
    list.each(&mut page)
}

struct Page<'a> {
    sheet: &'a mut Worksheet,
    paint: &'a Paint,
    row: u32,
}

impl Page<'_> {
    fn text(&mut self, column: u16, text: &str, format: &Format) -> Result<(), XlsxError> {
        if text.is_empty() {
            return Ok(());
        }
        self.sheet.write_string_with_format(self.row, column, fitting(text), format).map(|_| ())
    }

    fn headers(&mut self, title: &str, headers: &[&str]) -> Result<(), XlsxError> {
        let paint = self.paint;
        self.text(0, title, &paint.part)?;
        self.row += 1;
        for (column, header) in (0..).zip(headers) {
            self.text(column, header, &paint.own_header)?;
        }
        self.row += 1;
        Ok(())
    }
}

impl List<'_> {
    /// How the workbook is used, and what is not in it.
    fn introduction(&self) -> Vec<String> {
        let count = |wanted: &[Severity]| {
            self.found.iter().filter(|finding| wanted.contains(&finding.severity)).count()
        };
        let rows: u64 = self.surveys.iter().map(|survey| survey.rows).sum();
        let mut lines = vec![format!(
            "Rows read: {rows}. Errors listed: {}. Warnings listed: {}.",
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
        lines.push(format!(
            "Correct the red cells in this workbook, save it, and check it again: fleetload check {}. This sheet and the columns result_… are not read.",
            self.name
        ));
        if !self.book.ignored.is_empty() {
            let names: Vec<String> = self
                .book
                .ignored
                .iter()
                .map(|(name, why)| format!("\u{201c}{}\u{201d} ({why})", crate::sheet::finding::shown(name)))
                .collect();
            lines.push(format!("Sheets that are not read and not shown here: {}.", names.join(", ")));
        }
        if self.found.iter().filter(|finding| finding.severity != Severity::Info).count() > NOTES {
            lines.push(format!(
                "Each sheet has notes on its first {NOTES} cells; further cells are coloured, and result_message says what is wrong."
            ));
        }
        lines
    }

    /// The worksheet of a finding: its name in this workbook.
    fn worksheet(&self, finding: &Finding) -> Option<&str> {
        let at = self.book.tables.iter().position(|table| table.worksheet == finding.sheet)?;
        self.worksheets.get(at).map(String::as_str)
    }

    /// What the place of a finding is called: the sheet where it has one.
    fn sheet_name<'a>(&'a self, finding: &'a Finding) -> &'a str {
        self.worksheet(finding).or(finding.sheet.as_deref()).unwrap_or(&finding.file)
    }

    /// How often each thing was found in each column.
    fn counted(&self, page: &mut Page<'_>) -> Result<(), XlsxError> {
        let mut groups: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
        for &finding in self.found {
            let sheet = self.book.tables.iter().position(|table| table.worksheet == finding.sheet);
            let key = (finding.severity, sheet, finding.code, finding.header.as_deref());
            groups.entry(key).or_default().push(finding);
        }
        page.headers("By number", &["Sheet", "Severity", "Code", "Column", "Found", "Where"])?;
        if groups.is_empty() {
            page.text(0, "Nothing was found.", &page.paint.result)?;
            page.row += 1;
        }
        for ((severity, _, code, header), group) in groups {
            let paint = page.paint;
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            page.text(0, self.sheet_name(first), &paint.result)?;
            page.text(1, word(severity), paint.status(colour(severity)))?;
            page.text(2, code.as_str(), &paint.result)?;
            page.text(3, header.unwrap_or_default(), &paint.result)?;
            #[expect(clippy::cast_precision_loss, reason = "a count of what is held in memory")]
            let number = group.len() as f64;
            page.sheet.write_number_with_format(page.row, 4, number, &paint.number)?;
            let range = match (at(first), at(last)) {
                (first, last) if first == last => first,
                (first, last) => format!("{first} to {last}"),
            };
            page.text(5, &range, &paint.indented)?;
            page.row += 1;
        }
        Ok(())
    }

    /// Each finding, the worst first, then by sheet and row.
    fn each(&self, page: &mut Page<'_>) -> Result<(), XlsxError> {
        let mut found: Vec<&Finding> = self.found.to_vec();
        // That a list is shortened comes before the list.
        found.sort_by_key(|finding| {
            let sheet = self.book.tables.iter().position(|table| table.worksheet == finding.sheet);
            (finding.code != Code::LimitFindings, finding.severity, sheet, finding.row)
        });
        page.headers(
            "One by one",
            &[
                "Place",
                "Severity",
                "Code",
                "Column",
                "Holds",
                "What is wrong, and what to do",
                "Rule",
                "Enter instead",
            ],
        )?;
        for finding in found.iter().take(LISTED) {
            self.one(page, finding)?;
        }
        if found.len() > LISTED {
            let more = format!(
                "and {} more: their cells are marked, and every one is told by fleetload check with --json",
                found.len() - LISTED
            );
            page.text(0, &more, &page.paint.result)?;
            page.row += 1;
        }
        Ok(())
    }

    fn one(&self, page: &mut Page<'_>, finding: &Finding) -> Result<(), XlsxError> {
        let paint = page.paint;
        let name = self.sheet_name(finding);
        let place = match at(finding) {
            place if place.is_empty() => name.to_owned(),
            place => format!("{name}!{place}"),
        };
        match (self.worksheet(finding), finding.row) {
            (Some(worksheet), Some(row)) => {
                let cell = finding.cell.clone().unwrap_or_else(|| format!("A{row}"));
                let target = format!("internal:'{}'!{cell}", worksheet.replace('\'', "''"));
                let url = Url::new(target).set_text(fitting(&place));
                page.sheet.write_url_with_format(page.row, 0, url, &paint.link)?;
            }
            (Some(_), None) | (None, _) => page.text(0, &place, &paint.result)?,
        }
        page.text(1, word(finding.severity), paint.status(colour(finding.severity)))?;
        page.text(2, finding.code.as_str(), &paint.result)?;
        page.text(3, finding.header.as_deref().unwrap_or_default(), &paint.result)?;
        page.text(4, finding.value.as_deref().unwrap_or_default(), &paint.result)?;
        let mut message = finding.message.clone();
        for place in places(finding) {
            message.push('\n');
            message.push_str(&place);
        }
        page.text(5, &message, &paint.sentence)?;
        page.text(6, finding.rule.as_deref().unwrap_or_default(), &paint.sentence)?;
        page.text(7, finding.suggestion.as_deref().unwrap_or_default(), &paint.sentence)?;
        page.sheet.set_row_height(page.row, height(&[&message], LINE))?;
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

//! The first sheet of `results.xlsx`: how the import stands, totals that add up, top causes, quota and times.

use std::collections::VecDeque;

use rust_xlsxwriter::{FormatAlign, Worksheet, XlsxError};

use crate::journal::{Cause, Said};
use crate::model::amount::{count, counted};
use crate::model::state::{JobState, RowGroup};
use crate::model::time::Moment;

use super::own_sheet::OwnSheet;
use super::styles::Styles;
use crate::report::figures::Figures;
use crate::report::format::ReportFacts;
use crate::report::page::headline::Headline;
use crate::status::row_advice::{self, Advisor};

/// The name of the sheet.
pub(in crate::report) const NAME: &str = "Summary";

/// Causes shown; all of them are in `summary.json`.
const CAUSES: usize = 20;

/// Messages shown of a cause.
const SAID: usize = 5;

/// Columns behind the first two that the colour of the state reaches over.
const SENTENCE: u16 = 4;

/// Columns before the groups in the table of sheets.
const LEAD: u16 = 3;
/// Their widths.
const LEAD_WIDTHS: [f64; 3] = [26.0, 30.0, 12.0];
/// The width of the column of a group.
const GROUP_WIDTH: f64 = 17.0;

/// The columns that sentences reach over, and the characters of a line in them, a little less than they are wide.
const SENTENCES: (u16, u16) = (2, 7);
const SENTENCE_CHARS: usize = 88;

/// What the sheet tells.
pub(in crate::report) struct SummarySheet<'a> {
    pub(in crate::report) facts: &'a ReportFacts<'a>,
    /// The worksheets of each sheet, to lead to them.
    pub(in crate::report) worksheets: &'a VecDeque<VecDeque<String>>,
}

impl SummarySheet<'_> {
    /// Fills the sheet: first what must be known in a moment, then the figures behind it.
    pub(super) fn fill(&self, sheet: &mut Worksheet, styles: &Styles) -> Result<(), XlsxError> {
        let ReportFacts { figures, headline, advisor, .. } = *self.facts;
        let widths = LEAD_WIDTHS.into_iter().chain(RowGroup::ALL.iter().map(|_| GROUP_WIDTH));
        let title = format!("Import {}", figures.info.import);
        let mut page = OwnSheet::begin(sheet, styles, NAME, widths, &title)?;
        if let Some(banner) = figures.whose.banner() {
            let colour = styles.status(JobState::Held);
            page.text(0, banner, colour)?;
            for column in 1..LEAD + SENTENCE {
                page.blank(column, colour)?;
            }
            page.row += 1;
        }
        page.line("Account", figures.whose.account().unwrap_or(&figures.whose.words()))?;
        if let Some(service) = figures.whose.service() {
            page.line("Service", service)?;
        }
        standing(&mut page, headline)?;
        page.row += 1;
        self.sheets(&mut page)?;
        self.continued(&mut page)?;
        page.row += 1;
        causes(&mut page, figures, advisor)?;
        details(&mut page, figures)
    }

    /// One line a sheet, one column a group that has rows, and sums in both directions.
    fn sheets(&self, page: &mut OwnSheet<'_>) -> Result<(), XlsxError> {
        let (styles, figures) = (page.styles, self.facts.figures);
        let groups = figures.groups();
        page.part("Rows by sheet")?;
        page.text(0, "Sheet", &styles.own_header)?;
        page.text(1, "File", &styles.own_header)?;
        page.text(2, "Rows", &styles.number_header)?;
        for (column, &group) in (LEAD..).zip(&groups) {
            // Above its numbers.
            let format = styles.status(of_group(group)).clone().set_align(FormatAlign::Right);
            page.text(column, group.words(), &format)?;
        }
        page.row += 1;
        for (sheet, worksheets) in figures.layouts.iter().zip(self.worksheets) {
            let worksheet = worksheets.front().map_or("", String::as_str);
            page.link(0, &sheet.name, worksheet, "A1")?;
            page.text(1, &sheet.file, &styles.result)?;
            page.number(2, sheet.count.rows, &styles.number)?;
            for (column, &group) in (LEAD..).zip(&groups) {
                page.number(column, sheet.in_group(group), &styles.number)?;
            }
            page.row += 1;
        }
        page.text(0, "All sheets", &styles.total)?;
        page.text(1, "", &styles.total)?;
        page.number(2, figures.rows, &styles.total)?;
        for (column, &group) in (LEAD..).zip(&groups) {
            page.number(column, figures.in_group(group), &styles.total)?;
        }
        page.row += 1;
        Ok(())
    }

    /// The worksheets in which the rows of a sheet go on that has more of them than a worksheet.
    fn continued(&self, page: &mut OwnSheet<'_>) -> Result<(), XlsxError> {
        let styles = page.styles;
        for (sheet, worksheets) in self.facts.figures.layouts.iter().zip(self.worksheets) {
            for (worksheet, before) in worksheets.iter().skip(1).zip(1_u64..) {
                page.link(0, worksheet, worksheet, "A1")?;
                let rows = count(before * u64::from(self.facts.last_row - 1));
                let words = format!("the rows of {} after the first {rows}", sheet.name);
                page.text(1, &words, &styles.result)?;
                page.row += 1;
            }
        }
        Ok(())
    }
}

/// A moment as people write it; the label beside it says that it is UTC.
fn readable(at: Moment) -> String {
    at.to_string().replace('T', " ").trim_end_matches('Z').to_owned()
}

/// How the import stands, in the words of the page, and what to do next.
fn standing(page: &mut OwnSheet<'_>, headline: &Headline) -> Result<(), XlsxError> {
    let styles = page.styles;
    let colour = styles.status(of_group(headline.badge.group));
    page.text(0, "State", &styles.label)?;
    page.text(1, &headline.sentence, colour)?;
    // As far as the sentence reaches; cells without a text let it through.
    for column in LEAD - 1..LEAD + SENTENCE {
        page.blank(column, colour)?;
    }
    page.row += 1;
    if !headline.besides.is_empty() {
        page.line("", &headline.besides)?;
    }
    for (at, next) in headline.next.iter().enumerate() {
        page.line(if at == 0 { "What to do next" } else { "" }, next.words.as_str())?;
        page.text(1, &next.command, &styles.command)?;
        page.row += 1;
    }
    Ok(())
}

/// The state whose colour a group has.
const fn of_group(group: RowGroup) -> JobState {
    match group {
        RowGroup::Done => JobState::Done,
        RowGroup::Failed | RowGroup::NotImported => JobState::Rejected,
        RowGroup::Held | RowGroup::InDoubt => JobState::Held,
        RowGroup::Waiting => JobState::Ready,
        RowGroup::Skipped => JobState::Skipped,
        RowGroup::Cancelled => JobState::Cancelled,
    }
}

/// Files, times, what was known before, requests and quota.
fn details(page: &mut OwnSheet<'_>, figures: &Figures<'_>) -> Result<(), XlsxError> {
    page.row += 1;
    page.part("Files, times and quota")?;
    let shown = |at: Option<Moment>| at.map_or_else(|| "-".to_owned(), readable);
    if let Some(label) = &figures.info.given_label {
        page.line("Label", label)?;
    }
    if let Some(first) = figures.info.round_of {
        page.line("Round", &format!("{} of import {first}", figures.info.round))?;
    }
    for (name, _) in &figures.info.files {
        page.line("File", name)?;
    }
    page.line("Imported (UTC)", &readable(figures.info.at))?;
    page.line("First request (UTC)", &shown(figures.started_at))?;
    page.line("Finished (UTC)", &shown(figures.finished_at))?;
    if let Some(at) = figures.end.resumes_at {
        page.line("Goes on at (UTC)", &readable(at))?;
    }
    page.count("Rows to correct", figures.to_fix.saturating_sub(figures.to_fix_along))?;
    if figures.to_fix_along > 0 {
        page.count("Rows that come with them", figures.to_fix_along)?;
    }
    if figures.left_out.total() > 0 {
        page.count("Not imported (errors)", figures.left_out.total())?;
    }
    for (number, by) in &figures.answered {
        page.count(&format!("Answered by import {by}"), *number)?;
    }
    page.count("Known from before", figures.recognised + figures.changed_since)?;
    page.count("Differ from what was created", figures.changed_since)?;
    page.count("Requests without look-ups", figures.requests)?;
    page.count("Records verified", figures.audit.checked)?;
    for (label, number) in [
        ("Not verified yet", figures.audit.not_verified_yet),
        ("Could not be verified", figures.audit.not_checked),
        ("Missing", figures.audit.vanished),
        ("Duplicated", figures.audit.doubled),
        ("Sites of no row", figures.audit.orphan_sites),
        ("Changes verified", figures.audit.changes_checked),
        ("Changes not verified yet", figures.audit.changes_not_verified_yet),
        ("Changes that could not be verified", figures.audit.changes_not_checked),
        ("Licence codes that no look-up shows", figures.audit.licences_not_shown),
        ("Changes that are undone", figures.audit.reverted),
        ("Findings to review", figures.findings),
    ] {
        if number > 0 {
            page.count(label, number)?;
        }
    }
    let quota = &figures.quota;
    let of = quota.ceiling.map_or_else(|| "limit not known".to_owned(), |most| format!("of {most} a day"));
    page.text(0, "Quota", &page.styles.label)?;
    page.over(
        (1, SENTENCES.1),
        &format!(
            "{} creations used on {}, {of}: {} confirmed, {} refused, {} not known to be counted; counted again from {} UTC",
            quota.used(),
            quota.day,
            quota.confirmed,
            quota.refused,
            quota.doubtful,
            readable(quota.day.next().start())
        ),
        SENTENCE_CHARS,
    )
}

fn causes(page: &mut OwnSheet<'_>, figures: &Figures<'_>, advisor: &Advisor<'_>) -> Result<(), XlsxError> {
    if figures.causes.is_empty() {
        return Ok(());
    }
    let styles = page.styles;
    page.part("Why rows failed")?;
    page.headers(&["Code", "Rows", "What it means, what was said, and what to do"])?;
    for cause in figures.causes.iter().take(CAUSES) {
        page.text(0, &cause.code, &styles.label)?;
        page.number(1, cause.count, &styles.count)?;
        let mut texts = vec![row_advice::words(&cause.code).unwrap_or_default().to_owned()];
        texts.extend(said(cause));
        if cause.consequences > 0 {
            texts.push(counted(cause.consequences, "row below was skipped", "rows below were skipped"));
        }
        texts.push(advisor.of_cause(cause.into(), figures.info.import).to_string());
        for text in texts.iter().filter(|text| !text.is_empty()) {
            page.over(SENTENCES, text, SENTENCE_CHARS)?;
        }
    }
    if figures.causes.len() > CAUSES {
        let more = figures.causes.len() - CAUSES;
        page.sentence(&format!("and {more} more, in summary.json"))?;
    }
    Ok(())
}

/// What was said of the rows with a cause, each with some of its rows.
fn said(cause: &Cause) -> Vec<String> {
    let mut lines: Vec<String> = cause.said.iter().take(SAID).map(told).collect();
    let more = cause.unsaid + cause.said.len().saturating_sub(SAID) as u64;
    if more > 0 {
        lines.push(format!("and {}", counted(more, "other message", "other messages")));
    }
    lines
}

fn told(said: &Said) -> String {
    let rows = said.rows.join(", ");
    let more = match said.count.saturating_sub(said.rows.len() as u64) {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more row", "more rows")),
    };
    match said.message.as_str() {
        "" => format!("{rows}{more}"),
        message => format!("\u{201c}{message}\u{201d}: {rows}{more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_of_a_cause_stands_with_its_own_rows_and_the_rest_is_counted() {
        let said_of = |number: u64, count| Said {
            message: format!("no model {number}"),
            count,
            rows: vec![format!("a.csv!a!{number}"), format!("a.csv!a!{}", number + 10)],
        };
        let mut cause = Cause {
            code: "noDataFound".into(),
            count: 9,
            unsent: 0,
            consequences: 0,
            rows: Vec::new(),
            said: vec![said_of(2, 7), said_of(3, 2)],
            unsaid: 0,
        };
        let lines = [
            "\u{201c}no model 2\u{201d}: a.csv!a!2, a.csv!a!12 and 5 more rows",
            "\u{201c}no model 3\u{201d}: a.csv!a!3, a.csv!a!13",
        ];
        assert_eq!(said(&cause), lines);
        cause.said.extend((4..9).map(|number| said_of(number, 2)));
        cause.unsaid = 30;
        let told = said(&cause);
        assert_eq!((told.len(), told[5].as_str()), (6, "and 32 other messages"));
        // Where nothing was said, the rows are reported anyway.
        cause.said = vec![Said { message: String::new(), ..said_of(2, 2) }];
        cause.unsaid = 0;
        assert_eq!(said(&cause), ["a.csv!a!2, a.csv!a!12"]);
    }
}

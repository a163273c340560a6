//! The first sheet of `results.xlsx`: how the import stands, totals that add up, top causes, quota and times.

use rust_xlsxwriter::{FormatAlign, Worksheet, XlsxError};

use crate::command;
use crate::model::state::JobState;
use crate::model::time::Moment;

use super::RunState;
use super::advice::{self, Advisor};
use super::figures::Figures;
use super::own_sheet::OwnSheet;
use super::paint::Paint;

/// The name of the sheet.
pub(super) const NAME: &str = "Summary";

/// Causes shown; all of them are in `summary.json`.
const CAUSES: usize = 20;

/// Columns before the states in the table of sheets.
const LEAD: u16 = 3;
/// Their widths.
const LEAD_WIDTHS: [f64; 3] = [26.0, 30.0, 12.0];
/// The width of the column of a state.
const STATE_WIDTH: f64 = 11.0;

/// Fills the sheet.
pub(super) fn fill(
    sheet: &mut Worksheet,
    paint: &Paint,
    figures: &Figures,
    advisor: &Advisor<'_>,
) -> Result<(), XlsxError> {
    let widths = LEAD_WIDTHS.into_iter().chain(JobState::ALL.iter().map(|_| STATE_WIDTH));
    let mut page = OwnSheet::begin(sheet, paint, NAME, widths, &format!("Import {}", figures.import))?;
    standing(&mut page, figures, advisor)?;
    page.row += 1;
    sheets(&mut page, figures)?;
    page.row += 1;
    causes(&mut page, figures, advisor)
}

/// A moment as people write it; the label beside it says that it is UTC.
fn readable(at: Moment) -> String {
    at.to_string().replace('T', " ").trim_end_matches('Z').to_owned()
}

fn standing(page: &mut OwnSheet<'_>, figures: &Figures, advisor: &Advisor<'_>) -> Result<(), XlsxError> {
    let state = match figures.standing.state {
        RunState::Finished => "finished: nothing is left to be sent",
        RunState::Parked => "parked: rows are left that go on by themselves later",
        RunState::Stopped => "stopped: rows are left, and the service refuses us or cannot be reached",
        RunState::Held => "held: a person must decide about some rows",
    };
    let shown = |at: Option<Moment>| at.map_or_else(|| "-".to_owned(), readable);
    page.line("State", state)?;
    if let Some(at) = figures.standing.resumes_at {
        page.line("Goes on at (UTC)", &readable(at))?;
    }
    for (name, _) in &figures.files {
        page.line("File", name)?;
    }
    page.line("Imported (UTC)", &readable(figures.imported_at))?;
    page.line("First request (UTC)", &shown(figures.started_at))?;
    page.line("Finished (UTC)", &shown(figures.finished_at))?;
    page.count("Rows", figures.rows)?;
    page.count("Rows to correct", figures.to_fix.saturating_sub(figures.to_fix_along))?;
    if figures.to_fix_along > 0 {
        page.count("Rows that come with them", figures.to_fix_along)?;
    }
    if figures.to_fix > 0 {
        let how = format!("they are in fix.xlsx: correct them there, then type: {}", advisor.run_corrected());
        page.line("", &how)?;
    }
    if figures.left_out.total() > 0 {
        page.count("Left out for errors", figures.left_out.total())?;
    }
    for (number, by) in &figures.answered {
        page.count(&format!("Answered by import {by}"), *number)?;
    }
    page.count("Known from before", figures.recognised + figures.changed_since)?;
    page.count("Changed since creation", figures.changed_since)?;
    page.count("Requests without look-ups", figures.requests)?;
    page.count("Records read back", figures.audit.checked)?;
    if figures.audit.findings() > 0 {
        page.count("Not there any more", figures.audit.vanished)?;
        page.count("There twice", figures.audit.doubled)?;
        page.count("Sites of no row", figures.audit.orphan_sites)?;
    }
    let quota = &figures.quota;
    let of =
        quota.ceiling.map_or_else(|| "limit not known yet".to_owned(), |most| format!("of {most} a day"));
    page.line(
        "Quota",
        &format!(
            "{} creations on {}, {of}; counted anew at {} UTC",
            quota.ledger.sent,
            quota.ledger.day,
            readable(quota.resets_at)
        ),
    )
}

/// One line a sheet, one column a state that occurs, and sums in both directions.
fn sheets(page: &mut OwnSheet<'_>, figures: &Figures) -> Result<(), XlsxError> {
    let paint = page.paint;
    let states: Vec<JobState> =
        JobState::ALL.iter().copied().filter(|&state| figures.states.in_state(state) > 0).collect();
    page.part("Rows by sheet and status")?;
    page.text(0, "Sheet", &paint.own_header)?;
    page.text(1, "File", &paint.own_header)?;
    page.text(2, "Rows", &paint.number_header)?;
    for (column, &state) in (LEAD..).zip(&states) {
        // Above its numbers.
        let format = paint.status(state).clone().set_align(FormatAlign::Right);
        page.text(column, state.as_str(), &format)?;
    }
    page.row += 1;
    for sheet in &figures.sheets {
        page.text(0, &sheet.name, &paint.result)?;
        page.text(1, &sheet.file, &paint.result)?;
        page.number(2, sheet.rows, &paint.number)?;
        for (column, &state) in (LEAD..).zip(&states) {
            page.number(column, sheet.states.in_state(state), &paint.number)?;
        }
        page.row += 1;
    }
    page.text(0, "All sheets", &paint.total)?;
    page.text(1, "", &paint.total)?;
    page.number(2, figures.rows, &paint.total)?;
    for (column, &state) in (LEAD..).zip(&states) {
        page.number(column, figures.states.in_state(state), &paint.total)?;
    }
    page.row += 1;
    Ok(())
}

fn causes(page: &mut OwnSheet<'_>, figures: &Figures, advisor: &Advisor<'_>) -> Result<(), XlsxError> {
    if figures.causes.is_empty() {
        return Ok(());
    }
    let paint = page.paint;
    page.part("Why rows did not get through")?;
    page.headers(&["Code", "Rows", "What it means, what was said, and what to do"])?;
    for cause in figures.causes.iter().take(CAUSES) {
        page.text(0, &cause.code, &paint.label)?;
        page.number(1, cause.count, &paint.count)?;
        let meaning = advice::words(&cause.code).unwrap_or_default().to_owned();
        let said = match (cause.message.as_str(), cause.rows.join(", ")) {
            ("", rows) => rows,
            (message, rows) => format!("\u{201c}{message}\u{201d}: {rows}"),
        };
        for text in [meaning, said, command::text(&advisor.of_cause(&cause.code, figures.import))] {
            if !text.is_empty() {
                // No neighbour to the right, so that the text is shown whole.
                page.text(2, &text, &paint.indented)?;
                page.row += 1;
            }
        }
    }
    if figures.causes.len() > CAUSES {
        let more = figures.causes.len() - CAUSES;
        page.sentence(&format!("and {more} more, in summary.json"))?;
    }
    Ok(())
}

//! One sheet of the input as it was checked: every cell where it stood, and what was found in it.
//!
//! A value keeps its kind, so that what is not corrected is found again: a number stays a number, a date a date, a link that
//! leads elsewhere than its text says a link. Text is written as text and never as a formula.

use rust_xlsxwriter::{ExcelDateTime, Format, Url, Worksheet, XlsxError};

use crate::model::state::JobState;
use crate::report::layout::{BETWEEN, columns_shown, is_result_column};
use crate::report::workbook::styles::{Paint, printed_table};
use crate::report::workbook::{
    LAST_ROW, LINE_HEIGHT, NOTES, TALL, after_the_last_row, attempt, fitting, height, sized_note,
};
use crate::sheet::finding::{Code, Finding};
use crate::sheet::{Cell, CellKind, Damage, Link, Raw, TEXT_LIMIT, Table, column_of_address, unwrapped};

use super::by_row::{ByRow, COLUMNS, Span, Spans, Status, Survey, is_cut_wrongly, note};

/// Widths of the result columns.
const WIDTHS: [f64; COLUMNS.len()] = [13.0, 26.0, 60.0, 22.0, 46.0];
/// Characters of a line in the columns of sentences, a little less than they are wide.
const LINE: usize = 44;
/// Links of one sheet, as many as Excel writes.
const LINKS: usize = 65_530;
/// What stands in a blank cell whose value could not be read, so that it is not taken for a cell left blank.
const NOT_THERE: &str = "#N/A";

/// The note behind a row that was not cut into cells as it should be.
const GAP: &str = "See that each value of this row is in its column, then clear this cell.";

/// Why something cannot be written.
type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A sheet under way.
pub(in crate::report) struct Annotated<'a> {
    sheet: &'a mut Worksheet,
    worksheet: &'a str,
    paint: &'a Paint,
    table: &'a Table,
    survey: &'a Survey,
    found: &'a ByRow<'a>,
    spans: Spans<'a>,
    /// How many columns of the input are shown in every row; the result columns follow.
    width: usize,
    /// The first row that is not written yet, as shown.
    next: u32,
    notes: usize,
    links: usize,
}

/// One row under way.
struct Row<'r> {
    /// As shown.
    number: u32,
    cells: &'r [Cell],
    /// The links behind them, of those that should hold an e-mail address.
    links: &'r [Link],
    /// The findings of its cells, by column.
    marks: Vec<(usize, &'r Finding)>,
    /// What was found in its cells too often to be kept for each of them.
    spans: Vec<Span<'r>>,
    /// The column behind the header, of a row of a text table that was not cut into cells as it should be: it has a value
    /// there until it is corrected.
    gap: Option<usize>,
}

impl<'a> Annotated<'a> {
    /// Begins a sheet; nothing is written yet.
    pub(in crate::report) fn begin(
        sheet: &'a mut Worksheet,
        worksheet: &'a str,
        paint: &'a Paint,
        table: &'a Table,
        survey: &'a Survey,
        (found, spans): (&'a ByRow<'a>, Spans<'a>),
    ) -> Self {
        let (mut width, together) = columns_shown(table.headers.len(), survey.widths.columns());
        // The result columns of an earlier check or run are written anew.
        if together.is_none() && width <= table.headers.len() {
            width =
                table.headers.iter().rposition(|header| !is_result_column(header)).map_or(0, |last| last + 1);
        }
        Self { sheet, worksheet, paint, table, survey, found, spans, width, next: 1, notes: 0, links: 0 }
    }

    /// Writes a row, and before it what was found in rows that have no cell.
    pub(in crate::report) fn row(&mut self, raw: &Raw) -> Result<(), Cause> {
        if raw.number > LAST_ROW {
            return Ok(());
        }
        for number in self.found.between(self.next, raw.number) {
            self.write(number, &[], &[])?;
        }
        match &raw.damage {
            // Where the quotation marks are wrong nobody knows which cells there are from there on.
            Some(damage @ (Damage::Stray { .. } | Damage::Unterminated { .. } | Damage::TooLong)) => {
                self.write(raw.number, &self.as_far_as_whole(damage, &raw.cells), &[])
            }
            Some(Damage::Encoding { .. }) | None => {
                let cells = unwrapped(self.table, &raw.cells);
                match self.together(&cells) {
                    Some(cells) => self.write(raw.number, &cells, &raw.links),
                    None => self.write(raw.number, &cells, &raw.links),
                }
            }
        }?;
        let is_wrong = |finding: &&Finding| finding.cell.is_some() && finding.is_error();
        if raw.is_hidden && !self.found.row(raw.number).iter().any(is_wrong) {
            // Hidden as it was, so that it is not imported unseen from this workbook either; one with a cell to correct is
            // shown.
            self.sheet.set_row_hidden(raw.number - 1)?;
        }
        Ok(())
    }

    /// Writes what was found below the last row, and what holds for the whole sheet.
    pub(in crate::report) fn finish(mut self) -> Result<(), Cause> {
        for number in self.found.between(self.next, LAST_ROW + 1) {
            self.write(number, &[], &[])?;
        }
        let (header, last) = (self.table.header_row, self.next - 1);
        let columns = column(self.width + COLUMNS.len());
        attempt(|| {
            after_the_last_row(self.sheet, last, &self.paint.text)?;
            self.sheet.set_name(self.worksheet)?;
            self.sheet.set_freeze_panes(header, 0)?;
            let header_of = |at: usize| self.table.headers.get(at).map_or("", String::as_str);
            let widths = (0..self.width).map(|at| self.survey.widths.of(at, header_of(at)));
            printed_table(self.sheet, header - 1, widths.chain(WIDTHS), 0)?;
            if last > header {
                self.sheet.autofilter(header - 1, 0, last - 1, columns - 1)?;
            }
            for at in 0..self.width {
                self.sheet.set_column_width(column(at), self.survey.widths.of(at, header_of(at)))?;
                self.sheet.set_column_format(column(at), &self.paint.text)?;
            }
            for (at, width) in WIDTHS.into_iter().enumerate() {
                self.sheet.set_column_width(column(self.width + at), width)?;
            }
            Ok(())
        })
    }

    /// The cells of a damaged row before the damage, and what follows in one: a cell behind the header keeps the row from
    /// being taken for a whole one.
    fn as_far_as_whole(&self, damage: &Damage, cells: &[Cell]) -> Vec<Cell> {
        let last = self.table.headers.len().saturating_sub(1);
        let (whole, rest) = cells.split_at(damage.first_cell().min(last).min(cells.len()));
        let pieces: Vec<&str> = rest.iter().map(|cell| cell.text.as_str()).collect();
        let mut row = whole.to_vec();
        row.push(Cell::text(pieces.join(",")));
        row
    }

    /// The cells of a row that has more than there are columns for it, with the rest in the last of them.
    fn together(&self, cells: &[Cell]) -> Option<Vec<Cell>> {
        let (columns, together) = columns_shown(self.table.headers.len(), cells.len());
        let (first, rest) = cells.split_at_checked(together?)?;
        let mut rest: Vec<&str> = rest.iter().map(|cell| cell.text.as_str()).collect();
        rest.truncate(rest.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1));
        let mut row = first.to_vec();
        if !rest.is_empty() {
            row.push(Cell::text(rest.join(BETWEEN)));
        }
        debug_assert!(row.len() <= columns, "no more than there are columns");
        Some(row)
    }

    fn write(&mut self, number: u32, cells: &[Cell], links: &[Link]) -> Result<(), Cause> {
        if number < self.next || number > LAST_ROW {
            return Ok(());
        }
        self.next = number + 1;
        let findings = self.found.row(number);
        let marks = findings
            .iter()
            .filter_map(|finding| Some((column_of_address(finding.cell.as_deref()?)?, *finding)))
            .filter(|(column, _)| *column < 16_384)
            .collect();
        let spans = self.spans.row(number).to_vec();
        let gap =
            findings.iter().any(|finding| is_cut_wrongly(finding, self.table)).then(|| self.table.width());
        let row = Row { number, cells, links, marks, spans, gap };
        if number == self.table.header_row {
            attempt(|| self.header(&row))
        } else {
            attempt(|| self.data(&row, findings))
        }
    }

    fn header(&mut self, row: &Row<'_>) -> Result<(), XlsxError> {
        for at in 0..self.width {
            let format = if row.has_marks(at) { &self.paint.marked_header } else { &self.paint.header };
            let text = row.cells.get(at).map_or("", |cell| cell.text.as_str());
            // A stray value beside the table of a workbook is worth a look and no error, here as there.
            let beyond = self.table.worksheet.is_some() && at >= self.table.width() && text.is_empty();
            let name = if beyond { format!("x-column-{}", at + 1) } else { text.to_owned() };
            let text = name.as_str();
            self.sheet.write_string_with_format(row.number - 1, column(at), fitting(text), format)?;
            self.note(row, at)?;
        }
        for (at, name) in COLUMNS.into_iter().enumerate() {
            let at = column(self.width + at);
            self.sheet.write_string_with_format(row.number - 1, at, name, &self.paint.own_header)?;
        }
        Ok(())
    }

    fn data(&mut self, row: &Row<'_>, findings: &[&Finding]) -> Result<(), XlsxError> {
        let (status, results) = self.survey.verdict(row.number, findings, &row.spans);
        let results = if row.number > self.table.header_row { Some(results) } else { None };
        let shown = match (status, &results) {
            (Status::None, _) | (_, None) => row.cells.len().max(self.width),
            (Status::Ok | Status::Warning | Status::Error, Some(_)) => self.width,
        };
        let columns =
            row.marks.iter().map(|(column, _)| *column).chain(row.spans.iter().map(|span| span.column));
        let marked = columns.chain(row.gap).map(|column| column + 1).max().unwrap_or_default();
        for at in 0..shown.max(marked.min(self.width)) {
            self.cell(row, at)?;
            self.note(row, at)?;
        }
        let Some(results) = results.filter(|_| status != Status::None) else { return Ok(()) };
        let lines = height(&[&results[2], &results[4]], LINE);
        if lines > LINE_HEIGHT && row.number <= TALL {
            self.sheet.set_row_height(row.number - 1, lines)?;
        }
        for (at, (name, value)) in COLUMNS.into_iter().zip(&results).enumerate() {
            if value.is_empty() {
                continue;
            }
            let format = match name {
                "result_status" => self.paint.status(colour(status)),
                "result_message" | "result_advice" => &self.paint.sentence,
                _ => &self.paint.result,
            };
            let at = column(self.width + at);
            self.sheet.write_string_with_format(row.number - 1, at, fitting(value), format)?;
        }
        // What speaks of no cell stands on the status.
        let whole: Vec<&Finding> =
            findings.iter().filter(|finding| finding.cell.is_none()).copied().collect();
        if !whole.is_empty() && self.notes < NOTES {
            self.notes += 1;
            self.sheet.insert_note(row.number - 1, column(self.width), &sized_note(&note(&whole)))?;
        }
        Ok(())
    }

    fn cell(&mut self, row: &Row<'_>, at: usize) -> Result<(), XlsxError> {
        let (number, place) = (row.number - 1, column(at));
        let worst = row.worst(at);
        let format = match worst {
            Status::Error => &self.paint.marked,
            Status::Warning => &self.paint.doubtful,
            Status::Ok | Status::None => &self.paint.text,
        };
        let Some(cell) = row.cells.get(at).filter(|cell| has_value(cell)) else {
            if row.lost(at).is_some() || row.is_gap(at) {
                let format = &self.paint.marked;
                self.sheet.write_string_with_format(number, place, NOT_THERE, format)?;
            } else if worst > Status::Ok {
                self.sheet.write_blank(number, place, format)?;
            }
            return Ok(());
        };
        if row.lost(at).is_some() && cell.text.chars().nth(TEXT_LIMIT).is_some() {
            self.sheet.write_string_with_format(number, place, NOT_THERE, format)?;
            return Ok(());
        }
        // One that leads to the address in the cell is not needed; the library holds them all in memory.
        let is_wanted = worst == Status::Error && cell.kind == CellKind::Text && self.links < LINKS;
        if let Some(link) = row.links.iter().find(|link| is_wanted && link.column == at) {
            self.links += 1;
            let url = Url::new(link.target()).set_text(fitting(&cell.text));
            return self.sheet.write_url_with_format(number, place, url, format).map(|_| ());
        }
        self.value(number, place, cell, format)
    }

    fn value(&mut self, row: u32, column: u16, cell: &Cell, format: &Format) -> Result<(), XlsxError> {
        match cell.kind {
            CellKind::Number { value, padded: false } => {
                self.sheet.write_number_with_format(row, column, value, format)?;
            }
            CellKind::Bool(truth) => {
                self.sheet.write_boolean_with_format(row, column, truth, format)?;
            }
            CellKind::Date => match ExcelDateTime::parse_from_str(&cell.text) {
                Ok(date) => {
                    self.sheet.write_datetime_with_format(row, column, &date, &self.paint.marked_date)?;
                }
                Err(_) => {
                    self.sheet.write_string_with_format(row, column, fitting(&cell.text), format)?;
                }
            },
            // The error of a formula is known again by its text.
            CellKind::Text | CellKind::Error | CellKind::Number { padded: true, .. } => {
                self.sheet.write_string_with_format(row, column, fitting(&cell.text), format)?;
            }
            CellKind::Blank | CellKind::Unsaved | CellKind::Covered(_) => {}
        }
        Ok(())
    }

    /// A note on a cell with all that was found in it.
    fn note(&mut self, row: &Row<'_>, at: usize) -> Result<(), XlsxError> {
        let findings: Vec<&Finding> = row
            .marks
            .iter()
            .filter(|(column, finding)| *column == at && Status::of(finding.severity) > Status::Ok)
            .map(|(_, finding)| *finding)
            .collect();
        if (findings.is_empty() && !row.is_gap(at)) || self.notes >= NOTES {
            return Ok(());
        }
        self.notes += 1;
        let mut words = if findings.is_empty() { GAP.to_owned() } else { note(&findings) };
        let is_there = |cell: &Cell| has_value(cell) && cell.text.chars().nth(TEXT_LIMIT).is_none();
        if !row.cells.get(at).is_some_and(is_there)
            && let Some(lost) = row.lost(at)
        {
            words = format!("{words}\n(this copy has no {lost} any more: enter the value here)");
        }
        self.sheet.insert_note(row.number - 1, column(at), &sized_note(&words)).map(|_| ())
    }
}

/// What a cell with this finding stood on in the input, and no longer does in the copy.
fn lost_in_copy(code: Code) -> Option<&'static str> {
    let of = [
        (Code::CellFormulaNoValue, "formula"),
        (Code::CellMergedCovered, "merged cells"),
        (Code::CellTooLong, "room for the value"),
    ];
    of.into_iter().find(|(known, _)| *known == code).map(|(_, lost)| lost)
}

/// Whether a cell holds something that can be written.
fn has_value(cell: &Cell) -> bool {
    match cell.kind {
        CellKind::Blank | CellKind::Unsaved | CellKind::Covered(_) => false,
        CellKind::Text | CellKind::Number { .. } | CellKind::Date | CellKind::Bool(_) | CellKind::Error => {
            true
        }
    }
}

impl Row<'_> {
    /// The worst of what was found in a cell.
    fn worst(&self, at: usize) -> Status {
        let marks = self.marks.iter().map(|(column, finding)| (*column, finding.severity));
        let all = marks.chain(self.spans.iter().map(|span| (span.column, span.key.severity)));
        let here = all.filter(|(column, _)| *column == at);
        here.map(|(_, severity)| Status::of(severity)).max().unwrap_or_default()
    }

    /// Whether this is the cell behind the header that keeps the row wrong until it is corrected.
    fn is_gap(&self, at: usize) -> bool {
        self.gap == Some(at)
    }

    /// What a wrong cell stood on in the input and no longer does in the copy, if anything.
    fn lost(&self, at: usize) -> Option<&'static str> {
        let here = self.marks.iter().filter(|(column, finding)| *column == at && finding.is_error());
        here.map(|(_, finding)| finding).find_map(|finding| lost_in_copy(finding.code))
    }

    fn has_marks(&self, at: usize) -> bool {
        self.worst(at) > Status::Ok
    }
}

/// The colour of a status is that of the rows that ended so in `results.xlsx`.
fn colour(status: Status) -> JobState {
    match status {
        Status::Error => JobState::Rejected,
        Status::Warning => JobState::Held,
        Status::Ok | Status::None => JobState::Created,
    }
}

/// The column of a worksheet; one beyond its end is refused by the library.
fn column(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

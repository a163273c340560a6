//! One sheet of the input as it was checked: every cell where it stood, and what was found in it.
//!
//! A value keeps its kind, so that what is not corrected is found again: a number stays a number, a date a date, a link that
//! leads elsewhere than its text says a link. Text is written as text and never as a formula.

use std::borrow::Cow;
use std::ops::ControlFlow;

use rust_xlsxwriter::ExcelDateTime;

use crate::error::Result;
use crate::model::state::JobState;
use crate::report::layout::{BETWEEN, columns_shown, is_result_column};
use crate::report::workbook::WorkbookFile;
use crate::report::workbook::annotated_sheet::{
    AnnotatedCell, AnnotatedSheet, Frame, LAST_ROW, ResultColumns, RowResult, Value,
};
use crate::report::workbook::styles::Mark;
use crate::sheet::finding::{Code, Finding};
use crate::sheet::{
    Book, Cell, CellKind, Damage, MailLink, NumberShown, RawRow, TEXT_LIMIT, Table, column_of_address, unwrap,
};

use super::by_row::{
    ByRow, COLUMNS, CheckStatus, CheckedRows, RepeatedFinding, RepeatedFindings, is_cut_wrongly, note,
};

/// The result columns, all behind those of the input.
const BEHIND: ResultColumns = ResultColumns {
    names: &COLUMNS,
    left: &[],
    right: &[
        ("result_status", 13.0),
        ("result_code", 26.0),
        ("result_message", 60.0),
        ("result_column", 22.0),
        ("result_advice", 46.0),
    ],
    line_chars: 44,
};
/// What stands in a blank cell whose value could not be read, so that it is not taken for a cell left blank.
const NOT_THERE: &str = "#N/A";

/// The note behind a row that was not cut into cells as it should be.
const GAP: &str = "See that each value of this row is in its column, then clear this cell.";

/// A sheet under way.
struct CheckedSheet<'a> {
    sheet: AnnotatedSheet,
    table: &'a Table,
    survey: &'a CheckedRows,
    found: &'a ByRow<'a>,
    spans: RepeatedFindings<'a>,
    /// Whether commas separate the cells of the input.
    has_commas_between: bool,
    /// How many columns of the input are shown in every row; the result columns follow.
    width: usize,
}

/// One row under way.
struct CheckedRow<'r> {
    /// As shown.
    number: u32,
    cells: &'r [Cell],
    /// The links behind them, of those that should hold an e-mail address.
    links: &'r [MailLink],
    /// Whether it is hidden in the input: nothing is found in a hidden row that is not imported.
    is_hidden: bool,
    /// The findings of its cells, by column.
    marks: Vec<(usize, &'r Finding)>,
    /// What was found in its cells too often to be kept for each of them.
    spans: Vec<RepeatedFinding<'r>>,
    /// The column behind the header, of a row of a text table that was not cut into cells as it should be: it has a value
    /// there until it is corrected.
    gap: Option<usize>,
    /// Whether commas separate the cells of the input.
    has_commas_between: bool,
}

/// Writes a table as a sheet of a workbook.
pub(super) fn write(
    file: &mut WorkbookFile<'_>,
    worksheet: &str,
    (book, table): (&Book, &Table),
    survey: &CheckedRows,
    (found, spans): (&ByRow<'_>, RepeatedFindings<'_>),
) -> Result<()> {
    let (mut width, together) = columns_shown(table.headers.len(), survey.widths.columns());
    // The result columns of an earlier check or run are written again.
    if together.is_none() && width <= table.headers.len() {
        width = table.headers.iter().rposition(|header| !is_result_column(header)).map_or(0, |last| last + 1);
    }
    let sheet = AnnotatedSheet::begin(file, &BEHIND, width)?;
    let setting = book.setting(table);
    let has_commas_between = !setting.comma_is_free;
    let mut this = CheckedSheet { sheet, table, survey, found, spans, has_commas_between, width };
    let ended = book.raw(table, &mut |mut raw| {
        unwrap(table, setting, &mut raw.cells);
        this.row(file, &raw)?;
        Ok(ControlFlow::Continue(()))
    })?;
    // Why a sheet cannot be read to its end is among the findings; what could be read of it is shown.
    let _told = ended;
    this.finish(file, worksheet)
}

impl CheckedSheet<'_> {
    /// Writes a row, and before it what was found in rows that have no cell.
    fn row(&mut self, file: &mut WorkbookFile<'_>, raw: &RawRow) -> Result<()> {
        if raw.number > LAST_ROW {
            return Ok(());
        }
        for number in self.found.between(self.next(), raw.number) {
            self.write(file, number, &[], &[], false)?;
        }
        match &raw.damage {
            // Where the quotation marks are wrong nobody knows which cells there are from there on.
            Some(damage @ (Damage::Stray { .. } | Damage::Unterminated { .. } | Damage::TooLong)) => {
                self.write(file, raw.number, &self.as_far_as_whole(damage, &raw.cells), &[], raw.is_hidden)
            }
            Some(Damage::Encoding { .. }) | None => {
                let cells = self.together(&raw.cells).map_or(Cow::Borrowed(&*raw.cells), Cow::Owned);
                self.write(file, raw.number, &cells, &raw.links, raw.is_hidden)
            }
        }?;
        let is_wrong = |finding: &&Finding| finding.cell.is_some() && finding.is_error();
        if raw.is_hidden && !self.found.row(raw.number).iter().any(is_wrong) {
            // Hidden as it was, so that it is not imported unseen from this workbook either; one with a cell to correct is
            // shown.
            self.sheet.hide(file)?;
        }
        Ok(())
    }

    /// Writes what was found below the last row, and what holds for the whole sheet.
    fn finish(mut self, file: &mut WorkbookFile<'_>, worksheet: &str) -> Result<()> {
        for number in self.found.between(self.next(), LAST_ROW + 1) {
            self.write(file, number, &[], &[], false)?;
        }
        let header_of = |at: usize| self.table.headers.get(at).map_or("", String::as_str);
        let frame = Frame {
            name: worksheet.to_owned(),
            header: self.table.header_row - 1,
            frozen: 0,
            repeated: 0,
            widths: (0..self.width).map(|at| self.survey.widths.of(at, header_of(at))).collect(),
        };
        self.sheet.finish(file, &frame)
    }

    /// The first row that is not written yet, as shown.
    fn next(&self) -> u32 {
        self.sheet.next() + 1
    }

    /// The cells of a damaged row before the damage, and what follows in one: a cell behind the header keeps the row from
    /// being taken for a whole one.
    fn as_far_as_whole(&self, damage: &Damage, cells: &[Cell]) -> Vec<Cell> {
        let last = self.table.headers.len().saturating_sub(1);
        let (whole, rest) = cells.split_at(damage.first_cell().min(last).min(cells.len()));
        let pieces: Vec<&str> = rest.iter().map(|cell| cell.text.as_str()).collect();
        let mut row = whole.to_vec();
        row.push(Cell::text(pieces.join(BETWEEN)));
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

    fn write(
        &mut self,
        file: &mut WorkbookFile<'_>,
        number: u32,
        cells: &[Cell],
        links: &[MailLink],
        is_hidden: bool,
    ) -> Result<()> {
        if number < self.next() || number > LAST_ROW {
            return Ok(());
        }
        let findings = self.found.row(number);
        let marks = findings
            .iter()
            .filter_map(|finding| Some((column_of_address(finding.cell.as_deref()?)?, *finding)))
            .filter(|(column, _)| *column < 16_384)
            .collect();
        let spans = self.spans.row(number).to_vec();
        let gap =
            findings.iter().any(|finding| is_cut_wrongly(finding, self.table)).then(|| self.table.width());
        let has_commas_between = self.has_commas_between;
        let row = CheckedRow { number, cells, links, is_hidden, marks, spans, gap, has_commas_between };
        if number == self.table.header_row {
            self.header(file, &row)
        } else {
            self.data(file, &row, findings)
        }
    }

    fn header(&mut self, file: &mut WorkbookFile<'_>, row: &CheckedRow<'_>) -> Result<()> {
        let name = |at: usize| {
            let text = row.cells.get(at).map_or("", |cell| cell.text.as_str());
            // A stray value beside the table of a workbook is worth a look and no error, here as there.
            let beyond = self.table.worksheet.is_some() && at >= self.table.width() && text.is_empty();
            if beyond { format!("x-column-{}", at + 1) } else { text.to_owned() }
        };
        let names: Vec<String> = (0..self.width).map(name).collect();
        let cell = |(at, name)| {
            let mark = if row.worst(at) > CheckStatus::Ok { Mark::Wrong } else { Mark::None };
            AnnotatedCell { value: Value::Text(name), mark, note: row.note(at) }
        };
        let cells: Vec<AnnotatedCell<'_>> = names.iter().map(String::as_str).enumerate().map(cell).collect();
        self.sheet.header(file, row.number - 1, &cells)
    }

    fn data(
        &mut self,
        file: &mut WorkbookFile<'_>,
        row: &CheckedRow<'_>,
        findings: &[&Finding],
    ) -> Result<()> {
        let (status, values) = self.survey.verdict(row.number, findings, &row.spans);
        let has_result = row.number > self.table.header_row && status != CheckStatus::None;
        let shown = if has_result { self.width } else { row.cells.len().max(self.width) };
        let columns =
            row.marks.iter().map(|(column, _)| *column).chain(row.spans.iter().map(|span| span.column));
        let marked = columns.chain(row.gap).map(|column| column + 1).max().unwrap_or_default();
        let cells: Vec<AnnotatedCell<'_>> =
            (0..shown.max(marked.min(self.width))).map(|at| row.cell(at)).collect();
        // What speaks of no cell stands on the status.
        let whole: Vec<&Finding> =
            findings.iter().filter(|finding| finding.cell.is_none()).copied().collect();
        let note = (!whole.is_empty()).then(|| note(&whole));
        let result = has_result.then(|| RowResult { colour: colour(status), values: &values, note });
        self.sheet.row(file, row.number - 1, &cells, result.as_ref())
    }
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

/// Whether a cell holds more than any field takes.
fn is_too_long(cell: &Cell) -> bool {
    cell.text.chars().nth(TEXT_LIMIT).is_some()
}

/// Whether the sheet shows the number of a cell with words, which the copy does not.
fn is_in_words(cell: &Cell) -> bool {
    matches!(cell.kind, CellKind::Number { shown: NumberShown::InWords, .. })
}

impl CheckStatus {
    /// How a cell is coloured in which this is the worst that was found.
    const fn mark(self) -> Mark {
        match self {
            Self::Error => Mark::Wrong,
            Self::Warning => Mark::Doubtful,
            Self::Ok | Self::None => Mark::None,
        }
    }
}

impl CheckedRow<'_> {
    /// A cell as it is shown.
    fn cell(&self, at: usize) -> AnnotatedCell<'_> {
        let worst = self.worst(at);
        let cell = self.cells.get(at).filter(|cell| has_value(cell));
        let is_lost = self.lost(at).is_some() || (self.is_hidden && cell.is_none() && !self.is_blank(at));
        let (value, mark) = match cell {
            None if is_lost || self.is_gap(at) => (Value::Text(NOT_THERE), Mark::Wrong),
            None => (Value::Blank, worst.mark()),
            Some(cell) if is_lost && !self.is_whole(at, cell) => (Value::Text(NOT_THERE), worst.mark()),
            Some(cell) => (self.value(at, cell, worst), worst.mark()),
        };
        AnnotatedCell { value, mark, note: self.note(at) }
    }

    /// What a cell holds, of its kind.
    fn value<'c>(&self, at: usize, cell: &'c Cell, worst: CheckStatus) -> Value<'c> {
        // A link that leads to the address in the cell is not needed.
        let is_linked = worst == CheckStatus::Error && cell.kind == CellKind::Text;
        match cell.kind {
            CellKind::Number { value, shown: NumberShown::Plain | NumberShown::InWords } => {
                Value::Number(value)
            }
            CellKind::Bool(truth) => Value::Bool(truth),
            CellKind::Date => {
                ExcelDateTime::parse_from_str(&cell.text).map_or(Value::Text(&cell.text), Value::Date)
            }
            // The error of a formula is known again by its text.
            CellKind::Text | CellKind::Error | CellKind::Number { shown: NumberShown::Padded, .. } => {
                match self.links.iter().find(|link| is_linked && link.column == at) {
                    Some(link) => Value::Link(link.target(), &cell.text),
                    None => Value::Text(&cell.text),
                }
            }
            CellKind::Blank | CellKind::Unsaved | CellKind::Covered(_) => Value::Blank,
        }
    }

    /// A note on a cell with all that was found in it.
    fn note(&self, at: usize) -> Option<String> {
        let findings: Vec<&Finding> = self
            .marks
            .iter()
            .filter(|(column, finding)| *column == at && CheckStatus::of(finding.severity) > CheckStatus::Ok)
            .map(|(_, finding)| *finding)
            .collect();
        let words = match (findings.is_empty(), self.is_gap(at)) {
            (true, false) => return None,
            (true, true) => GAP.to_owned(),
            (false, _) => note(&findings),
        };
        let is_there = self.cells.get(at).is_some_and(|cell| self.is_whole(at, cell));
        match self.lost(at).filter(|_| !is_there) {
            Some(lost) => Some(format!("{words}\n(this copy has no {lost} any more: enter the value here)")),
            None => Some(words),
        }
    }

    /// The worst of what was found in a cell.
    fn worst(&self, at: usize) -> CheckStatus {
        let marks = self.marks.iter().map(|(column, finding)| (*column, finding.severity));
        let all = marks.chain(self.spans.iter().map(|span| (span.column, span.key.severity)));
        let here = all.filter(|(column, _)| *column == at);
        here.map(|(_, severity)| CheckStatus::of(severity)).max().unwrap_or_default()
    }

    /// Whether a cell means in the copy what it does in the input.
    fn is_whole(&self, at: usize, cell: &Cell) -> bool {
        let is_lost = |code| self.has_commas_between && code == Code::CellDecimalComma;
        has_value(cell) && !is_too_long(cell) && !is_in_words(cell) && !self.errors(at).any(is_lost)
    }

    /// Whether a cell was left blank.
    fn is_blank(&self, at: usize) -> bool {
        self.cells.get(at).is_none_or(|cell| cell.kind == CellKind::Blank)
    }

    /// Whether this is the cell behind the header that keeps the row wrong until it is corrected.
    fn is_gap(&self, at: usize) -> bool {
        self.gap == Some(at)
    }

    /// What a wrong cell stood on in the input and no longer does in the copy, if anything.
    fn lost(&self, at: usize) -> Option<&'static str> {
        let of_format = self.cells.get(at).filter(|cell| is_in_words(cell)).map(|_| "number format");
        let lost = |code| match code {
            Code::CellFormulaNoValue => Some("formula"),
            Code::CellMergedCovered => Some("merged cells"),
            Code::CellTooLong => Some("room for the value"),
            Code::CellDecimalComma if self.has_commas_between => Some("commas between cells"),
            _ => of_format,
        };
        self.errors(at).find_map(lost)
    }

    /// The errors that were found in a cell.
    fn errors(&self, at: usize) -> impl Iterator<Item = Code> {
        let marks = self.marks.iter().map(|(column, finding)| (*column, finding.severity, finding.code));
        let spans = self.spans.iter().map(|span| (span.column, span.key.severity, span.key.code));
        let is_error = |severity| CheckStatus::of(severity) == CheckStatus::Error;
        let here = move |(column, severity, _): &(usize, _, _)| *column == at && is_error(*severity);
        marks.chain(spans).filter(here).map(|(.., code)| code)
    }
}

/// The colour of a status is that of the rows that ended so in `results.xlsx`.
fn colour(status: CheckStatus) -> JobState {
    match status {
        CheckStatus::Error => JobState::Rejected,
        CheckStatus::Warning => JobState::Held,
        CheckStatus::Ok | CheckStatus::None => JobState::Created,
    }
}

//! Writes a sheet of the input back: its cells where they stood, marks and notes on those that were found wrong, and
//! result columns beside them. Both `results.xlsx` with `fix.xlsx` and `<file>.checked.xlsx` are made of such sheets.
//!
//! Rows are streamed. Only notes and links are kept in memory, so their number is bounded; beyond it cells are only
//! coloured.

use rust_xlsxwriter::{ExcelDateTime, Url, Worksheet, XlsxError};

use crate::error::Result;
use crate::model::state::JobState;

use super::styles::{Mark, Styles, printed_table};
use super::{LINE_HEIGHT, WorkbookFile, column, fitting, height, sized_note};

/// The last row of an Excel worksheet, as it shows it.
pub(in crate::report) const LAST_ROW: u32 = 1_048_576;
/// Notes of one sheet.
pub(super) const NOTES: usize = 2_000;
/// Links of one sheet, as many as Excel writes.
const LINKS: usize = 65_530;
/// Rows of one sheet that are made as high as their text; the library keeps each of them in memory.
const TALL: u32 = 5_000;

/// The result columns beside those of the input, with their widths.
#[derive(Debug)]
pub(super) struct ResultColumns {
    /// All of them, in the order in which a row gives their values.
    pub(super) names: &'static [&'static str],
    /// Those before the input.
    pub(super) left: &'static [(&'static str, f64)],
    /// Those behind it.
    pub(super) right: &'static [(&'static str, f64)],
    /// Characters of a line in the columns of sentences, a little less than they are wide.
    pub(super) line_chars: usize,
}

impl ResultColumns {
    /// The column of a worksheet in which a column of the input stands.
    pub(super) fn of_input(&self, position: usize) -> u16 {
        column(self.left.len() + position)
    }

    /// Each with its column, name and width, where the input has so many columns.
    fn placed(&self, inputs: usize) -> impl Iterator<Item = (u16, &'static str, f64)> {
        let right = self.of_input(inputs);
        let left = (0..).zip(self.left);
        left.chain((right..).zip(self.right)).map(|(column, &(name, width))| (column, name, width))
    }
}

/// What a cell of the input holds.
pub(super) enum Value<'v> {
    /// Nothing.
    Blank,
    /// A text, never a formula.
    Text(&'v str),
    /// A number.
    Number(f64),
    /// A truth value.
    Bool(bool),
    /// A date, a time, or both.
    Date(ExcelDateTime),
    /// A text with a link behind it.
    Link(String, &'v str),
}

/// A cell of the input.
pub(super) struct AnnotatedCell<'v> {
    pub(super) value: Value<'v>,
    pub(super) mark: Mark,
    /// What is said of it.
    pub(super) note: Option<String>,
}

/// The results of a row.
#[derive(Debug)]
pub(super) struct RowResult<'v> {
    /// The state whose colour the status has.
    pub(super) colour: JobState,
    /// The values of the result columns.
    pub(super) values: &'v [String],
    /// What is said of the row as a whole, on its status.
    pub(super) note: Option<String>,
}

/// How the header and the columns of a sheet stay in view.
#[derive(Debug)]
pub(super) struct Frame {
    /// The name of the worksheet.
    pub(super) name: String,
    /// The row of the header, counted from 0.
    pub(super) header: u32,
    /// Columns that stay in view.
    pub(super) frozen: u16,
    /// The last of the columns that every printed page repeats.
    pub(super) repeated: u16,
    /// The widths of the columns of the input.
    pub(super) widths: Vec<f64>,
}

/// A sheet under way: the last of its workbook.
#[derive(Debug)]
pub(super) struct AnnotatedSheet {
    columns: &'static ResultColumns,
    /// How many columns the input has in every row.
    inputs: usize,
    /// The next row, counted from 0.
    next: u32,
    notes: usize,
    links: usize,
}

impl AnnotatedSheet {
    /// Begins a sheet; nothing is written yet.
    pub(super) fn begin(
        file: &mut WorkbookFile<'_>,
        columns: &'static ResultColumns,
        inputs: usize,
    ) -> Result<Self> {
        file.attempt(|workbook, styles| {
            let sheet = workbook.add_worksheet_with_constant_memory()?;
            for position in 0..inputs {
                sheet.set_column_format(columns.of_input(position), &styles.text)?;
            }
            Ok(())
        })?;
        Ok(Self { columns, inputs, next: 0, notes: 0, links: 0 })
    }

    /// The next row, counted from 0.
    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Writes the header: that of the input with what was found in it, and that of the result columns.
    pub(super) fn header(
        &mut self,
        file: &mut WorkbookFile<'_>,
        row: u32,
        cells: &[AnnotatedCell<'_>],
    ) -> Result<()> {
        self.next = row + 1;
        file.on_last(|sheet, styles| {
            for (position, cell) in cells.iter().enumerate() {
                let place = (row, self.columns.of_input(position));
                let text = match cell.value {
                    Value::Text(text) | Value::Link(_, text) => text,
                    Value::Blank | Value::Number(_) | Value::Bool(_) | Value::Date(_) => "",
                };
                let format = styles.header_cell(cell.mark);
                sheet.write_string_with_format(place.0, place.1, fitting(text), format)?;
                self.note(sheet, place, cell.note.as_deref())?;
            }
            for (column, name, _) in self.columns.placed(self.inputs) {
                sheet.write_string_with_format(row, column, name, &styles.own_header)?;
            }
            Ok(())
        })
    }

    /// Writes a row, counted from 0; one of no record has no result.
    pub(super) fn row(
        &mut self,
        file: &mut WorkbookFile<'_>,
        row: u32,
        cells: &[AnnotatedCell<'_>],
        result: Option<&RowResult<'_>>,
    ) -> Result<()> {
        self.next = row + 1;
        file.on_last(|sheet, styles| {
            for (position, cell) in cells.iter().enumerate() {
                let place = (row, self.columns.of_input(position));
                self.cell(sheet, styles, place, cell)?;
                self.note(sheet, place, cell.note.as_deref())?;
            }
            result.map_or(Ok(()), |result| self.result(sheet, styles, row, result))
        })
    }

    /// Hides the row written last.
    pub(super) fn hide(&self, file: &mut WorkbookFile<'_>) -> Result<()> {
        file.on_last(|sheet, _| sheet.set_row_hidden(self.next - 1).map(|_| ()))
    }

    /// Ends the sheet: its name, its columns, and what stays in view.
    pub(super) fn finish(self, file: &mut WorkbookFile<'_>, frame: &Frame) -> Result<()> {
        file.on_last(|sheet, styles| {
            // The library writes a last row that is hidden or has a height a second time, which Excel takes for damage: a
            // blank cell below makes it any other row.
            if self.next < LAST_ROW {
                sheet.write_blank(self.next, 0, &styles.text)?;
            }
            sheet.set_name(&frame.name)?;
            sheet.set_freeze_panes(frame.header + 1, frame.frozen)?;
            let (left, right) = (self.columns.left.iter(), self.columns.right.iter());
            let widths = left.map(|(_, width)| *width).chain(frame.widths.iter().copied());
            printed_table(sheet, frame.header, widths.chain(right.map(|(_, width)| *width)), frame.repeated)?;
            for (position, width) in frame.widths.iter().enumerate() {
                let column = self.columns.of_input(position);
                sheet.set_column_width(column, *width)?;
            }
            let mut last = 0;
            for (column, _, width) in self.columns.placed(self.inputs) {
                sheet.set_column_width(column, width)?;
                last = last.max(column);
            }
            if self.next > frame.header + 1 {
                sheet.autofilter(frame.header, 0, self.next - 1, last)?;
            }
            Ok(())
        })
    }

    fn cell(
        &mut self,
        sheet: &mut Worksheet,
        styles: &Styles,
        (row, column): (u32, u16),
        cell: &AnnotatedCell<'_>,
    ) -> std::result::Result<(), XlsxError> {
        let format = styles.cell(cell.mark);
        match &cell.value {
            Value::Blank => match cell.mark {
                Mark::Doubtful | Mark::Wrong => sheet.write_blank(row, column, format)?,
                Mark::None | Mark::Along => sheet,
            },
            // One that leads nowhere is written where there are more than the library can hold.
            Value::Link(target, text) if self.links < LINKS => {
                self.links += 1;
                let url = Url::new(target).set_text(fitting(text));
                sheet.write_url_with_format(row, column, url, format)?
            }
            // The column has the format already: the library is quicker without one for each cell.
            Value::Text(text) if cell.mark == Mark::None => sheet.write_string(row, column, fitting(text))?,
            Value::Text(text) | Value::Link(_, text) => {
                sheet.write_string_with_format(row, column, fitting(text), format)?
            }
            Value::Number(number) => sheet.write_number_with_format(row, column, *number, format)?,
            Value::Bool(truth) => sheet.write_boolean_with_format(row, column, *truth, format)?,
            Value::Date(date) => {
                sheet.write_datetime_with_format(row, column, date, styles.date_cell(cell.mark, date))?
            }
        };
        Ok(())
    }

    fn result(
        &mut self,
        sheet: &mut Worksheet,
        styles: &Styles,
        row: u32,
        result: &RowResult<'_>,
    ) -> std::result::Result<(), XlsxError> {
        let value = |name: &str| {
            let at = self.columns.names.iter().position(|known| *known == name);
            at.and_then(|at| result.values.get(at)).map_or("", String::as_str)
        };
        let height = height(&[value("result_message"), value("result_advice")], self.columns.line_chars);
        if height > LINE_HEIGHT && row <= TALL {
            sheet.set_row_height(row, height)?;
        }
        let mut status = 0;
        for (column, name, _) in self.columns.placed(self.inputs) {
            let text = value(name);
            let format = match name {
                "result_status" => {
                    status = column;
                    styles.status(result.colour)
                }
                "result_message" | "result_advice" => &styles.sentence,
                "result_attempts" => &styles.number,
                _ => &styles.result,
            };
            match text.parse::<u32>() {
                Ok(number) if name == "result_attempts" => {
                    sheet.write_number_with_format(row, column, number, format)?;
                }
                Ok(_) | Err(_) if text.is_empty() => {}
                Ok(_) | Err(_) => {
                    sheet.write_string_with_format(row, column, fitting(text), format)?;
                }
            }
        }
        self.note(sheet, (row, status), result.note.as_deref())
    }

    fn note(
        &mut self,
        sheet: &mut Worksheet,
        (row, column): (u32, u16),
        words: Option<&str>,
    ) -> std::result::Result<(), XlsxError> {
        let Some(words) = words.filter(|_| self.notes < NOTES) else { return Ok(()) };
        self.notes += 1;
        if words.is_empty() { Ok(()) } else { sheet.insert_note(row, column, &sized_note(words)).map(|_| ()) }
    }
}

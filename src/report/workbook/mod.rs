//! `results.xlsx` and `fix.xlsx`: the sheets of the input with the result columns, streamed row by row. In `fix.xlsx` what
//! is wrong and what to enter come first.
//!
//! Cells are written as text and formatted as text, so that nothing is a formula and zeros survive editing. The
//! cells to blame are coloured and carry a note.

pub(super) mod checked;
pub(super) mod own_sheet;
pub(super) mod styles;
pub(super) mod summary_sheet;
pub(super) mod to_do_sheet;

use std::borrow::Cow;
use std::io::Write;

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Format, Note, Worksheet, XlsxError};

use crate::error::{Error, Result, without_panic};
use crate::journal::{ImportInfo, Whose};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::sheet::template;

use self::styles::{Paint, headed, printed, printed_table};
use self::summary_sheet::Summary;
use self::to_do_sheet::ToDo;
use super::files::atomic_write::{Beside, Folder};
use super::files::names::{Names, cut, naming_kind};
use super::layout::Layout;
use super::line::{RESULT_COLUMNS, ResultLine};
use crate::status::row_advice::Advisor;

/// The workbook of all rows.
pub const RESULTS: &str = "results.xlsx";
/// The workbook of the rows to correct.
pub const FIX: &str = "fix.xlsx";

/// The last row of an Excel worksheet, as it shows it.
pub(super) const LAST_ROW: u32 = 1_048_576;
/// Most UTF-16 units in a cell, as Excel has it.
const CELL_UNITS: usize = 32_767;
/// What stands at the end of a cell that was cut.
const CUT: &str = " … (cut: the whole text is in the CSV report)";
/// Most characters of a note.
const NOTE_CHARS: usize = 500;
/// Characters of a note on one of its lines, to find the height it needs.
const NOTE_LINE: usize = 44;
/// Who made the workbooks.
pub(super) const AUTHOR: &str = "fleetload";
/// Notes of one sheet. They are the only part of a workbook kept in memory; beyond them cells are only coloured.
pub(super) const NOTES: usize = 2_000;
/// Height of one line of text, in points.
pub(super) const LINE_HEIGHT: f64 = 15.0;
/// Rows of one sheet that are made as high as their text; the library keeps each of them in memory.
pub(super) const TALL: u32 = 5_000;
/// Most lines that a row shows at once.
const LINES: usize = 8;
/// Widths of the result columns.
const RESULT_WIDTHS: [f64; RESULT_COLUMNS.len()] = [13.0, 38.0, 22.0, 60.0, 20.0, 60.0, 16.0, 22.0, 36.0];

/// Where the result columns stand beside those of the input, by their places in [`RESULT_COLUMNS`].
#[derive(Debug, Clone, Copy)]
struct Order {
    left: &'static [usize],
    right: &'static [usize],
    /// Width of the columns of sentences.
    sentences: f64,
    /// Characters of a line in them, a little less than they are wide.
    line_chars: usize,
}

impl Order {
    /// All of them behind the columns of the input.
    const BEHIND: Self =
        Self { left: &[], right: &[0, 1, 2, 3, 4, 5, 6, 7, 8], sentences: 60.0, line_chars: 55 };
    /// The status, what is wrong and what to do first; the frozen part leaves room for the rest of a screen.
    const REASON_FIRST: Self =
        Self { left: &[0, 3, 5], right: &[4, 1, 2, 6, 7, 8], sentences: 42.0, line_chars: 38 };

    fn width(&self, result: usize) -> f64 {
        if RESULT_WIDTHS[result] > 50.0 { self.sentences } else { RESULT_WIDTHS[result] }
    }

    fn widths(&self, results: &'static [usize]) -> impl Iterator<Item = f64> {
        results.iter().map(|&result| self.width(result))
    }

    fn column(&self, position: usize) -> u16 {
        u16::try_from(self.left.len() + position).unwrap_or(u16::MAX)
    }
}

/// A workbook under way.
pub(super) struct Workbook<'a> {
    folder: &'a Folder,
    file: Beside,
    workbook: rust_xlsxwriter::Workbook,
    paint: Paint,
    /// The next row of the sheet being written.
    row: u32,
    /// Its notes so far.
    notes: usize,
    /// What is to be known of it, told on the first of our own headers.
    banner: Option<String>,
    whose: Whose,
    order: Order,
    /// What the rows of `fix.xlsx` have in common, for its first sheet.
    to_do: Option<ToDo>,
}

/// The names of the worksheets of `results.xlsx` and of `fix.xlsx`.
pub(super) fn worksheet_names(layouts: &[Layout]) -> (Vec<String>, Vec<String>) {
    let mut results = Names::without(&[summary_sheet::NAME]);
    let mut fix = Names::without(&[to_do_sheet::NAME]);
    layouts
        .iter()
        .map(|layout| {
            (results.worksheet(&layout.name), fix.worksheet(&naming_kind(&layout.name, layout.kind)))
        })
        .unzip()
}

impl<'a> Workbook<'a> {
    /// Begins `results.xlsx` with its summary.
    pub(super) fn results(folder: &'a Folder, info: &ImportInfo, summary: &Summary<'_>) -> Result<Self> {
        let whose = &summary.figures.whose;
        let mut this =
            Self { banner: whose.banner().map(str::to_owned), ..Self::new(folder, RESULTS, info, whose)? };
        this.attempt(|this| {
            let sheet = this.workbook.add_worksheet();
            summary.fill(sheet, &this.paint)?;
            printed(sheet);
            headed(sheet, &this.whose);
            Ok(())
        })?;
        Ok(this)
    }

    /// Begins `fix.xlsx`; its first sheet is filled when all rows have gone by.
    pub(super) fn fix(folder: &'a Folder, info: &ImportInfo, whose: &Whose) -> Result<Self> {
        let mut this = Self {
            order: Order::REASON_FIRST,
            to_do: Some(ToDo::default()),
            ..Self::new(folder, FIX, info, whose)?
        };
        this.workbook.add_worksheet();
        Ok(this)
    }

    fn new(folder: &'a Folder, name: &'static str, info: &ImportInfo, whose: &Whose) -> Result<Self> {
        let mut this = Self {
            folder,
            file: folder.begin(name)?,
            workbook: rust_xlsxwriter::Workbook::new(),
            paint: Paint::new(),
            row: 0,
            notes: 0,
            banner: None,
            whose: whose.clone(),
            order: Order::BEHIND,
            to_do: None,
        };
        // The moment of the import: the only one that stays the same.
        let at = info.at.to_string();
        let title = format!("fleetload, import {}; {}", info.import, whose.line());
        this.attempt(|this| describe(&mut this.workbook, this.folder, &title, at.trim_end_matches('Z')))?;
        Ok(this)
    }

    /// Begins the worksheet of a sheet with its header; `rows` will follow.
    pub(super) fn begin(&mut self, name: &str, layout: &Layout, rows: u64) -> Result<()> {
        self.end()?;
        self.attempt(|this| {
            let (paint, order) = (&this.paint, this.order);
            let sheet = this.workbook.add_worksheet_with_constant_memory()?;
            sheet.set_name(name)?;
            let columns = (0..layout.headers.len()).map(|position| layout.width(position));
            let widths = order.widths(order.left).chain(columns).chain(order.widths(order.right));
            match order.column(0) {
                0 => {
                    sheet.set_freeze_panes(1, layout.identifying())?;
                    printed_table(sheet, 0, widths, 0)?;
                }
                own => {
                    sheet.set_freeze_panes(1, own)?;
                    printed_table(sheet, 0, widths, own - 1)?;
                }
            }
            headed(sheet, &this.whose);
            for (at, &result) in order.left.iter().enumerate() {
                own_header(sheet, paint, (u16::try_from(at).unwrap_or_default(), order, result))?;
            }
            for (position, header) in layout.headers.iter().enumerate() {
                let column = order.column(position);
                sheet.set_column_width(column, layout.width(position))?;
                sheet.set_column_format(column, &paint.text)?;
                sheet.write_string_with_format(0, column, fitting(header), &paint.header)?;
                if let (Some(_), Ok(rows @ 1..), Some(form)) =
                    (&this.to_do, u32::try_from(rows), layout.form(position))
                    && let Some(choices) = template::choices(form)?
                {
                    sheet.add_data_validation(1, column, rows, column, &choices)?;
                }
            }
            let mut column = order.column(layout.headers.len());
            if let Some(banner) = &this.banner {
                sheet.insert_note(0, column, &sized_note(banner))?;
            }
            for &result in order.right {
                own_header(sheet, paint, (column, order, result))?;
                column += 1;
            }
            if let Ok(rows @ 1..) = u32::try_from(rows) {
                sheet.autofilter(0, 0, rows, column - 1)?;
            }
            Ok(())
        })?;
        self.row = 1;
        self.notes = 0;
        Ok(())
    }

    /// Writes a row.
    pub(super) fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let current = self.sheet_under_way();
        self.attempt(|this| {
            let (paint, order) = (&this.paint, this.order);
            let sheet = this.workbook.worksheet_from_index(current)?;
            let comes_along = this.to_do.is_some() && line.row.state == JobState::Skipped;
            for (position, cell) in layout.cells(&line.row).enumerate() {
                let column = order.column(position);
                let blamed = line.blames.iter().any(|blame| blame.positions.contains(&position));
                let format = match blamed {
                    true => &paint.marked,
                    false if comes_along => &paint.along,
                    false => &paint.text,
                };
                if !cell.is_empty() {
                    sheet.write_string_with_format(this.row, column, fitting(&cell), format)?;
                } else if blamed {
                    sheet.write_blank(this.row, column, format)?;
                }
                if blamed && this.notes < NOTES {
                    note(sheet, this.row, column, line, position)?;
                    this.notes += 1;
                }
            }
            let mut results = line.results();
            if let Some(to_do) = &mut this.to_do {
                results[ADVICE] = advice_here(line, order, this.row);
                to_do.add(sheet.name(), this.row, line);
            }
            let height = height(&[&line.message, &results[ADVICE]], order.line_chars);
            if height > LINE_HEIGHT && this.row <= TALL {
                sheet.set_row_height(this.row, height)?;
            }
            let right = order.column(layout.headers.len());
            for (column, &result) in (0..).zip(order.left).chain((right..).zip(order.right)) {
                let value = &results[result];
                match RESULT_COLUMNS[result] {
                    "result_status" => {
                        let format = paint.status(line.row.state);
                        sheet.write_string_with_format(this.row, column, value, format)?;
                    }
                    "result_attempts" => {
                        sheet.write_number_with_format(this.row, column, line.row.attempts, &paint.number)?;
                    }
                    _ if value.is_empty() => {}
                    "result_message" | "result_advice" => {
                        sheet.write_string_with_format(this.row, column, fitting(value), &paint.sentence)?;
                    }
                    _ => {
                        sheet.write_string_with_format(this.row, column, fitting(value), &paint.result)?;
                    }
                }
            }
            Ok(())
        })?;
        self.row += 1;
        Ok(())
    }

    /// Fills the first sheet of `fix.xlsx`.
    pub(super) fn tell_what_to_do(&mut self, advisor: &Advisor<'_>, import: ImportId) -> Result<()> {
        self.attempt(|this| {
            let Some(to_do) = &this.to_do else { return Ok(()) };
            let sheet = this.workbook.worksheet_from_index(0)?;
            to_do.fill(sheet, &this.paint, &this.whose, (advisor, import))?;
            printed(sheet);
            headed(sheet, &this.whose);
            Ok(())
        })
    }

    /// The file, all of it written.
    pub(super) fn finish(mut self) -> Result<Beside> {
        self.end()?;
        self.attempt(|this| {
            this.workbook.save_to_writer(&mut this.file)?;
            Ok(())
        })?;
        self.file.flush().map_err(|error| failed(self.folder, &self.file, error))?;
        Ok(self.file)
    }

    /// Ends the worksheet under way, if there is one.
    fn end(&mut self) -> Result<()> {
        if self.row == 0 {
            return Ok(());
        }
        let current = self.sheet_under_way();
        self.attempt(|this| {
            after_the_last_row(this.workbook.worksheet_from_index(current)?, this.row, &this.paint.text)
        })
    }

    /// The last worksheet added.
    fn sheet_under_way(&mut self) -> usize {
        self.workbook.worksheets().len().saturating_sub(1)
    }

    /// Does something with the workbook, as [`attempt`] does.
    fn attempt(&mut self, what: impl FnOnce(&mut Self) -> std::result::Result<(), XlsxError>) -> Result<()> {
        let done = attempt(|| what(self));
        done.map_err(|cause| failed(self.folder, &self.file, cause))
    }
}

/// Ends the rows of a worksheet that is written as it goes; `row` is the one behind the last, from 0. The library writes a last
/// row that is hidden or has a height a second time, which Excel takes for damage: a blank cell below makes it any other row.
pub(super) fn after_the_last_row(
    sheet: &mut Worksheet,
    row: u32,
    format: &Format,
) -> std::result::Result<(), XlsxError> {
    if row < LAST_ROW {
        sheet.write_blank(row, 0, format)?;
    }
    Ok(())
}

/// Does something with a workbook. The library panics when its own files cannot be written, as on a full disk; the
/// workbook is thrown away then, so that nothing half done is ever seen.
pub(super) fn attempt<T>(
    what: impl FnOnce() -> std::result::Result<T, XlsxError>,
) -> std::result::Result<T, Box<dyn std::error::Error + Send + Sync>> {
    match without_panic(what) {
        Some(done) => done.map_err(Into::into),
        None => Err("a temporary file could not be written; the disk may be full".into()),
    }
}

/// The error of a workbook that cannot be written.
pub(super) fn failed(
    folder: &Folder,
    file: &Beside,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Error {
    folder.failed("the workbook", &folder.path().join(file.name()), cause)
}

/// Says what a workbook is and when it was made, and has the library keep its own files beside it.
pub(super) fn describe(
    workbook: &mut rust_xlsxwriter::Workbook,
    folder: &Folder,
    title: &str,
    made: &str,
) -> std::result::Result<(), XlsxError> {
    let at = ExcelDateTime::parse_from_str(made)?;
    let properties = DocProperties::new().set_title(title).set_author(AUTHOR).set_creation_datetime(&at);
    workbook.set_properties(&properties);
    workbook.set_tempdir(folder.path()).map(|_| ())
}

/// Where the advice is among the result columns.
const ADVICE: usize = 5;

/// The advice about a row, with the cell to change where it is in this workbook. What to do then is on the first sheet.
fn advice_here(line: &ResultLine, order: Order, row: u32) -> String {
    let position = line.blames.first().and_then(|blame| blame.positions.first());
    let (Some(change), Some(&position)) = (&line.change, position) else { return line.advice() };
    let here = change.moved(crate::sheet::address(usize::from(order.column(position)), row + 1));
    here.alone().unwrap_or_else(|| crate::advice::text(&here.around(line.advice.clone())))
}

/// Writes the header of a result column.
fn own_header(
    sheet: &mut Worksheet,
    paint: &Paint,
    (column, order, result): (u16, Order, usize),
) -> std::result::Result<(), XlsxError> {
    sheet.set_column_width(column, order.width(result))?;
    sheet.write_string_with_format(0, column, RESULT_COLUMNS[result], &paint.own_header).map(|_| ())
}

/// The height of a row whose longest text is broken into lines of `width` characters. No program measures that by
/// itself when it opens a file.
pub(super) fn height(texts: &[&str], width: usize) -> f64 {
    let lines = |text: &&str| text.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    let lines: usize = texts.iter().map(lines).fold(1, usize::max).min(LINES);
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let height = LINE_HEIGHT * lines as f64;
    height
}

/// A note as large as its text.
pub(super) fn sized_note(text: &str) -> Note {
    let text = cut(text, NOTE_CHARS, |_| 1);
    let lines: usize = text.lines().map(|line| line.chars().count() / NOTE_LINE + 1).sum();
    Note::new(text)
        .set_author(AUTHOR)
        .add_author_prefix(false)
        .set_width(290)
        .set_height(u32::try_from(lines * 17 + 14).unwrap_or(u32::MAX))
}

/// A note on a cell to blame: the words about the field, or else those about the row.
fn note(
    sheet: &mut Worksheet,
    row: u32,
    column: u16,
    line: &ResultLine,
    position: usize,
) -> std::result::Result<(), XlsxError> {
    let mut words: Vec<&str> = line
        .blames
        .iter()
        .filter(|blame| blame.positions.contains(&position) && !blame.words.is_empty())
        .map(|blame| blame.words.as_str())
        .collect();
    if words.is_empty() {
        words.push(&line.message);
    }
    let words = words.join("; ");
    if words.is_empty() {
        return Ok(());
    }
    sheet.insert_note(row, column, &sized_note(&words)).map(|_| ())
}

/// A text as far as a cell holds it, with a word on what is missing.
pub(super) fn fitting(text: &str) -> Cow<'_, str> {
    // No text has more UTF-16 units than bytes.
    if text.len() <= CELL_UNITS || text.encode_utf16().count() <= CELL_UNITS {
        return text.into();
    }
    let room = CELL_UNITS - CUT.encode_utf16().count();
    format!("{}{CUT}", cut(text, room, char::len_utf16)).into()
}

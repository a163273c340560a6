//! Workbooks (.xlsx, .xlsm): looked through before they are opened, then streamed cell by cell.
//!
//! The library underneath trusts what a file declares, so that two kilobytes can ask for gigabytes; [`super::preflight`]
//! looks first. Which worksheet holds what is left to the book.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::path::Path;

use calamine::{DataRef, ExcelDateTime, Font, NumberFormat, Reader, SheetType, Style, Xlsx, XlsxError};
use smol_str::SmolStr;

use super::preflight::{
    COLUMN_LIMIT, Covers, Listed, Preflight, Sources, WorkbookFault, WorksheetSurvey, unreadable,
};
use crate::error::{Result, without_panic};
use crate::sheet::cell::{Cell, CellKind, NumberShown, TEXT_LIMIT};
use crate::sheet::finding::{Refusal, shown};

/// Values that are put in order in memory, of a worksheet whose rows are not.
const DISORDER_LIMIT: usize = 1_000_000;
/// The same in bytes of their texts.
const DISORDER_BYTES: usize = 64 << 20;

/// A row of a worksheet that has some value.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SheetRow {
    /// As shown, counted from 1.
    pub(crate) number: u32,
    pub(crate) cells: Vec<Cell>,
    /// Whether it is hidden.
    pub(crate) is_hidden: bool,
    /// Whether each cell that has a value is struck through.
    pub(crate) is_struck_out: bool,
}

/// Why a worksheet cannot be read to its end.
#[derive(Debug)]
pub(crate) struct Broken {
    /// What is wrong, and after which cell.
    pub(crate) why: String,
    /// The row before, or in which, it breaks off, as far as it could be read.
    pub(crate) begun: Option<SheetRow>,
}

impl Broken {
    /// Broken after this cell; rows as shown, columns from 0.
    fn at(last: Option<(u32, u16)>, what: &str) -> Self {
        Self { why: unreadable(last, what), begun: None }
    }

    /// The same with the row that was being read, if there is anything in it.
    fn with(self, row: SheetRow) -> Self {
        Self { begun: Some(row).filter(|row| !row.cells.is_empty()), ..self }
    }
}

/// How the rows of a worksheet are handed over.
pub(crate) struct MergeReading<'a> {
    /// The row of the header.
    pub(crate) header_row: u32,
    /// Whether the value of a merge down one column counts for all its rows.
    pub(crate) fill_merged: bool,
    /// Whether a column is read.
    pub(crate) is_read: &'a dyn Fn(usize) -> bool,
}

/// An open workbook.
pub(crate) struct Workbook {
    xlsx: Xlsx<BufReader<File>>,
    preflight: Preflight,
}

/// Looks through the parts of a zip file and refuses what is no workbook, or one that is not safe to open.
pub(crate) fn look_through(path: &Path, name: &str) -> std::result::Result<(), Refusal> {
    let looked = Preflight::open(path).and_then(|mut preflight| preflight.must_be_safe_to_open());
    looked.map_err(|fault| fault.refusal(name))
}

impl Workbook {
    /// Opens a workbook that was looked through.
    pub(crate) fn open(path: &Path, name: &str) -> std::result::Result<Self, Refusal> {
        let corrupt = |what: &str| WorkbookFault::corrupt(what).refusal(name);
        let preflight = Preflight::open(path).map_err(|fault| fault.refusal(name))?;
        let repaired = preflight.repaired(path).map_err(|_| corrupt("its list of sheets cannot be read"))?;
        let file = match repaired {
            Some(repaired) => repaired,
            None => File::open(path).map_err(|_| corrupt("it can no longer be read"))?,
        };
        let xlsx = without_panic(|| Xlsx::new(BufReader::new(file)))
            .ok_or_else(|| corrupt("its structure is broken"))?
            .map_err(|error| corrupt(&said(&error)))?;
        let sheets =
            xlsx.sheets_metadata().iter().map(|sheet| (&sheet.name, sheet.typ == SheetType::WorkSheet));
        let there = preflight.listed().iter().filter(|listed| listed.is_there());
        if !sheets.eq(there.map(|listed| (&listed.name, listed.has_cells))) {
            return Err(corrupt("its list of sheets can be read in two ways"));
        }
        Ok(Self { xlsx, preflight })
    }

    /// The sheets in their order.
    pub(crate) fn listed(&self) -> &[Listed] {
        self.preflight.listed()
    }

    /// Where values can come from besides from whoever typed them.
    pub(crate) fn sources(&self) -> Sources {
        self.preflight.sources()
    }

    /// Looks through these worksheets, of which [`Self::survey`] is asked next.
    pub(crate) fn survey_ahead(&mut self, sheets: &[usize]) {
        self.preflight.survey_ahead(sheets);
    }

    /// Looks through the worksheet in this place of the list, before its rows are read.
    pub(crate) fn survey(&mut self, sheet: usize) -> std::result::Result<WorksheetSurvey, WorkbookFault> {
        self.preflight.survey(sheet)
    }

    /// Hands over each row that has some value until `each` breaks; with `below`, cells under merged ranges are marked.
    /// The inner error says why the sheet cannot be read on, and after which cell.
    pub(crate) fn rows(
        &mut self,
        sheet: usize,
        survey: &WorksheetSurvey,
        below: Option<&MergeReading<'_>>,
        each: &mut dyn FnMut(SheetRow) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), Broken>> {
        let mut covers = below.map(|below| Covers::new(&survey.merges, below.header_row, below.fill_merged));
        let mut laid = |mut row: SheetRow| {
            if let (Some(covers), Some(below)) = (&mut covers, below) {
                covers.lay_over(row.number, &mut row.cells, below.is_read);
            }
            each(row)
        };
        if survey.is_ordered {
            return self.stream(sheet, survey, &mut laid);
        }
        let mut sorted = BTreeMap::new();
        let mut size = (0, 0);
        let mut is_too_large = false;
        let streamed = self.stream(sheet, survey, &mut |row| {
            size.0 += row.cells.len();
            size.1 += row.cells.iter().map(|cell| cell.text.len()).sum::<usize>();
            is_too_large |= size.0 > DISORDER_LIMIT || size.1 > DISORDER_BYTES;
            is_too_large |= sorted.insert(row.number, row).is_some();
            Ok(if is_too_large { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if is_too_large {
            return Ok(Err(Broken::at(None, "its rows are out of order")));
        }
        for row in sorted.into_values() {
            if laid(row)?.is_break() {
                break;
            }
        }
        Ok(streamed)
    }

    /// The rows as they stand in the file.
    fn stream(
        &mut self,
        sheet: usize,
        survey: &WorksheetSurvey,
        each: &mut dyn FnMut(SheetRow) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), Broken>> {
        let Some(name) = self.preflight.listed().get(sheet).map(|listed| listed.name.clone()) else {
            return Ok(Err(Broken::at(None, "it is not there")));
        };
        let xlsx = &mut self.xlsx;
        let opened = without_panic(move || xlsx.worksheet_cells_reader(&name));
        let mut cells = match opened {
            Some(Ok(cells)) => cells,
            Some(Err(error)) => return Ok(Err(Broken::at(None, &said(&error)))),
            None => return Ok(Err(Broken::at(None, "its structure is broken"))),
        };
        let is_struck = |style: &Style| style.font.as_ref().is_some_and(Font::has_strikethrough);
        let formats: Vec<(CellFormat, bool)> = cells
            .styles()
            .iter()
            .map(|style| (cell_format(style.number_format.as_ref()), is_struck(style)))
            .collect();
        let mut unknown_errors = survey.unknown_errors.iter();
        let mut last: Option<(u32, u16)> = None;
        let mut row = SheetRow::default();
        loop {
            let next = without_panic(|| {
                let next = cells.next_cell_with_style_id();
                next.map(|next| {
                    next.map(|(cell, style)| {
                        let (format, is_struck) = formats.get(style).copied().unwrap_or_default();
                        (cell.get_position(), value(cell.get_value(), format), is_struck)
                    })
                })
            });
            let ((at_row, at_column), value, is_struck) = match next {
                Some(Ok(Some(next))) => next,
                Some(Ok(None)) => break,
                // The reader stops at the cell and has not lost its place: the next one is the one behind it.
                Some(Err(XlsxError::CellError(text))) => match unknown_errors.next() {
                    Some((number, column)) => {
                        let place = (number.saturating_sub(1), u32::from(*column));
                        (place, Some(Cell { kind: CellKind::Error, text: error_text(&text).into() }), false)
                    }
                    None => {
                        let error = XlsxError::CellError(text);
                        return Ok(Err(Broken::at(last, &said(&error)).with(row)));
                    }
                },
                Some(Err(error)) => return Ok(Err(Broken::at(last, &said(&error)).with(row))),
                None => return Ok(Err(Broken::at(last, "its structure is broken").with(row))),
            };
            let (number, column) = (at_row.saturating_add(1), at_column as usize);
            let value = if survey.is_unsaved(column, number) {
                Some(Cell { kind: CellKind::Unsaved, text: SmolStr::default() })
            } else {
                value
            };
            last = Some((number, u16::try_from(column).unwrap_or(u16::MAX)));
            let Some(value) = value else { continue };
            if row.number != number {
                let is_hidden = survey.hidden_rows.contains(number);
                let next = SheetRow { number, cells: Vec::new(), is_hidden, is_struck_out: true };
                let done = std::mem::replace(&mut row, next);
                if !done.cells.is_empty() && each(done)?.is_break() {
                    return Ok(Ok(()));
                }
            }
            row.is_struck_out &= is_struck || value.is_blank();
            // What is too far out is kept as one surplus cell, the first, so that the row is reported as too wide without
            // growing with it; a header with such a cell is refused.
            let column = column.min(COLUMN_LIMIT);
            if row.cells.len() <= column {
                row.cells.resize(column + 1, Cell::default());
            } else if column == COLUMN_LIMIT {
                continue;
            }
            row.cells[column] = value;
        }
        if unknown_errors.next().is_some() {
            return Ok(Err(Broken::at(last, "its structure is broken").with(row)));
        }
        if !row.cells.is_empty() {
            let _the_last_row_ends_either_way = each(row)?;
        }
        Ok(Ok(()))
    }
}

/// What the library says is wrong, in the words of the person who has the file.
fn said(error: &XlsxError) -> String {
    match error {
        XlsxError::CellTAttribute(kind) => {
            format!("the next cell is of a kind that is not known, '{}'", shown(kind))
        }
        XlsxError::CellError(text) => {
            format!("the next cell has an error that is not known, '{}'", shown(text))
        }
        XlsxError::Unexpected("Cell string index not found in shared strings table") => {
            "the text of the next cell is missing from the workbook".to_owned()
        }
        XlsxError::ParseFloat(_) => "the next cell has a number that is none".to_owned(),
        // The library has many more, which all come to the same.
        _ => "its structure is broken".to_owned(),
    }
}

/// The sign of degrees.
const DEGREE: char = '\u{b0}';

/// What a number format makes of a number, as far as it matters.
#[derive(Debug, Clone, Copy, Default)]
enum CellFormat {
    #[default]
    Plain,
    /// So many digits.
    Zeros(usize),
    InWords,
}

fn cell_format(format: Option<&NumberFormat>) -> CellFormat {
    let code = format.map_or("", |format| format.format_code.as_str());
    match code.len() {
        2..=20 if code.bytes().all(|byte| byte == b'0') => CellFormat::Zeros(code.len()),
        _ if has_words(code) => CellFormat::InWords,
        _ => CellFormat::Plain,
    }
}

/// Whether a number format writes a per cent sign, a degree sign or letters beside a number above zero. In brackets it has
/// colours, conditions and currencies.
fn has_words(code: &str) -> bool {
    let is_word = |sign: char| sign.is_alphabetic() || sign == DEGREE;
    let mut signs = code.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ';' => return false,
            '%' | DEGREE => return true,
            '\\' if signs.next().is_some_and(is_word) => return true,
            '"' if signs.by_ref().take_while(|sign| *sign != '"').filter(|sign| is_word(*sign)).count()
                > 0 =>
            {
                return true;
            }
            '[' => drop(signs.by_ref().find(|sign| *sign == ']')),
            // As wide as the next sign, or filled with it.
            '_' | '*' => drop(signs.next()),
            _ => {}
        }
    }
    false
}

/// The value of a cell; `None` when it has none.
fn value(data: &DataRef<'_>, format: CellFormat) -> Option<Cell> {
    let cell = match data {
        DataRef::Empty => return None,
        DataRef::String(text) => text_cell(text)?,
        DataRef::SharedString(text) => text_cell(text)?,
        #[expect(clippy::cast_precision_loss, reason = "a workbook stores every number as a double")]
        DataRef::Int(number) => number_cell(*number as f64, format),
        DataRef::Float(number) => number_cell(*number, format),
        DataRef::Bool(truth) => {
            Cell { kind: CellKind::Bool(*truth), text: if *truth { "TRUE" } else { "FALSE" }.into() }
        }
        DataRef::DateTime(date) => Cell { kind: CellKind::Date, text: date_text(date).into() },
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            Cell { kind: CellKind::Date, text: cut(text, TEXT_LIMIT).into() }
        }
        DataRef::Error(error) => Cell { kind: CellKind::Error, text: error.to_string().into() },
    };
    Some(cell)
}

/// The name of an error that the library does not know, as it stands in the cell.
fn error_text(text: &str) -> String {
    cut(text, TEXT_LIMIT).into_owned()
}

/// A text; CR LF inside is written as LF. One text can be that of a million cells, so that of a longer one than a cell
/// may hold only so much is copied that it is still too long.
fn text_cell(text: &str) -> Option<Cell> {
    if text.is_empty() {
        return None;
    }
    // Twice as much, as each line end may become one character of two.
    let text = cut(text, 2 * (TEXT_LIMIT + 1));
    let text = if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text };
    Some(Cell::text(cut(&text, TEXT_LIMIT)))
}

/// A text of more than `most` characters cut, with a mark in place of the rest, so that it neither is blank nor fits.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) if text.len() > most => Cow::Owned(format!("{}…", &text[..end])),
        _ => Cow::Borrowed(text),
    }
}

/// A number with its shortest digits, zeros of the format in front.
fn number_cell(number: f64, format: CellFormat) -> Cell {
    // The digits of a number that is larger than any are gone.
    let plain = match (number.is_infinite(), number > 0.0) {
        (true, true) => ">1.79E+308".to_owned(),
        (true, false) => "<-1.79E+308".to_owned(),
        (false, _) => format!("{number}"),
    };
    let (text, shown) = match format {
        CellFormat::Zeros(width) if number >= 0.0 && number.fract() == 0.0 && plain.len() <= width => {
            (format!("{plain:0>width$}"), NumberShown::Padded)
        }
        CellFormat::InWords => (plain, NumberShown::InWords),
        CellFormat::Zeros(_) | CellFormat::Plain => (plain, NumberShown::Plain),
    };
    Cell { kind: CellKind::Number { value: number, shown }, text: text.into() }
}

/// A date as people write dates for machines; a time of day alone without a date.
fn date_text(date: &ExcelDateTime) -> String {
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let whole = date.as_f64().fract() == 0.0;
    if date.as_f64() < 1.0 {
        format!("{hour:02}:{minute:02}:{second:02}")
    } else if whole {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

#[cfg(test)]
mod tests;

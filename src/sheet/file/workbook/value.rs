//! Values of a workbook as cells: what the library says a cell holds, in the words of the sheets.

use std::borrow::Cow;

use calamine::{DataRef, ExcelDateTime, NumberFormat};

use crate::sheet::cell::{Cell, CellKind, TEXT_LIMIT};

/// The digits a number format of nothing but zeros asks for.
pub(super) fn zero_format(format: Option<&NumberFormat>) -> Option<usize> {
    let code = format?.format_code.as_str();
    (code.len() >= 2 && code.len() <= 20 && code.bytes().all(|byte| byte == b'0')).then_some(code.len())
}

/// The value of a cell; `None` when it has none.
pub(super) fn value(data: &DataRef<'_>, zeros: Option<usize>) -> Option<Cell> {
    let cell = match data {
        DataRef::Empty => return None,
        DataRef::String(text) => text_cell(text)?,
        DataRef::SharedString(text) => text_cell(text)?,
        #[expect(clippy::cast_precision_loss, reason = "a workbook stores every number as a double")]
        DataRef::Int(number) => number_cell(*number as f64, zeros),
        DataRef::Float(number) => number_cell(*number, zeros),
        DataRef::Bool(truth) => {
            Cell { kind: CellKind::Bool(*truth), text: if *truth { "TRUE" } else { "FALSE" }.into() }
        }
        DataRef::DateTime(date) => Cell { kind: CellKind::Date, text: date_text(date) },
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            Cell { kind: CellKind::Date, text: cut(text, TEXT_LIMIT).into_owned() }
        }
        DataRef::Error(error) => Cell { kind: CellKind::Error, text: error.to_string() },
    };
    Some(cell)
}

/// The name of an error that the library does not know, as it stands in the cell.
pub(super) fn error_text(text: &str) -> String {
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
    Some(Cell::text(cut(&text, TEXT_LIMIT).into_owned()))
}

/// A text of more than `most` characters cut, with a mark in place of the rest, so that it neither is blank nor fits.
fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) if text.len() > most => Cow::Owned(format!("{}…", &text[..end])),
        _ => Cow::Borrowed(text),
    }
}

/// A number with its shortest digits, zeros of the format in front.
fn number_cell(number: f64, zeros: Option<usize>) -> Cell {
    // The digits of a number that is larger than any are gone.
    let plain = match (number.is_infinite(), number > 0.0) {
        (true, true) => ">1.79E+308".to_owned(),
        (true, false) => "<-1.79E+308".to_owned(),
        (false, _) => format!("{number}"),
    };
    match zeros {
        Some(width) if number >= 0.0 && number.fract() == 0.0 && plain.len() <= width => {
            Cell { kind: CellKind::Number { value: number, padded: true }, text: format!("{plain:0>width$}") }
        }
        _ => Cell { kind: CellKind::Number { value: number, padded: false }, text: plain },
    }
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

//! Workbooks (.xlsx, .xlsm): looked through before they are opened, then streamed cell by cell.
//!
//! The library underneath trusts what a file declares, so that two kilobytes can ask for gigabytes; the sizes of the
//! parts and the longest text are checked first. Which worksheet holds what is left to the book.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use calamine::{DataRef, Reader, SheetType, SheetVisible, Xlsx};
use zip::ZipArchive;

use crate::error::{Result, without_panic};

use super::cell::{Cell, CellKind, address};
use super::code::Code;
use super::finding::{Finding, Refusal};

/// Parts of a workbook.
const PARTS_LIMIT: usize = 10_000;
/// Bytes of one part, unpacked.
const PART_LIMIT: u64 = 512 << 20;
/// Bytes of all parts, unpacked.
const SUM_LIMIT: u64 = 1 << 30;
/// Bytes of the shared strings, unpacked: they are held in memory as a whole.
const STRINGS_LIMIT: u64 = 64 << 20;
/// Bytes between two tags.
const TEXT_RUN_LIMIT: usize = 1 << 20;
/// Columns that are read.
const COLUMN_LIMIT: usize = 256;

/// A worksheet as the workbook lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) hidden: bool,
}

/// A row of a worksheet that has some value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SheetRow {
    /// As shown, counted from 1.
    pub(crate) number: u32,
    pub(crate) cells: Vec<Cell>,
}

/// An open workbook.
pub(crate) struct Workbook {
    xlsx: Xlsx<BufReader<File>>,
    listed: Vec<Listed>,
}

/// Looks through the parts of a zip file and refuses what is no workbook, or one that is not safe to open.
pub(crate) fn what_is_inside(path: &Path, name: &str) -> std::result::Result<(), Refusal> {
    let refuse = |code: Code, message: String| Err(Finding::refusal(code, name, message));
    let corrupt = |what: &str| {
        Finding::refusal(
            Code::FileCorrupt,
            name,
            format!(
                "the file is incomplete or damaged ({what}): export it again, or open it in Excel and save it"
            ),
        )
    };
    let file = File::open(path).map_err(|error| corrupt(&error.to_string()))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| corrupt(&error.to_string()))?;
    if archive.len() > PARTS_LIMIT {
        return refuse(Code::FileTooLarge, format!("the workbook has more than {PARTS_LIMIT} parts"));
    }
    let names: Vec<String> =
        archive.file_names().map(|name| name.map(std::borrow::Cow::into_owned).unwrap_or_default()).collect();
    let has = |part: &str| names.iter().any(|name| name.eq_ignore_ascii_case(part));
    let unsupported = |what: &str| {
        Finding::refusal(Code::FileFormatUnsupported, name, format!("the file is {what}: save it as .xlsx"))
    };
    if has("xl/workbook.bin") {
        return Err(unsupported("a binary workbook (.xlsb)"));
    }
    if has("Index/Document.iwa") || has("Index.zip") {
        return Err(unsupported("a Numbers document"));
    }
    if has("mimetype") && has("content.xml") {
        return Err(unsupported("an OpenDocument spreadsheet (.ods)"));
    }
    if names.iter().any(|name| name.starts_with("xl/macrosheets/")) {
        return Err(unsupported("a workbook with an Excel 4 macro sheet"));
    }
    if !names.iter().any(|name| name.to_ascii_lowercase().ends_with("workbook.xml")) {
        return refuse(
            Code::FileFormatUnsupported,
            "the file is an archive and not a workbook: unpack it, then use the files inside".into(),
        );
    }
    let mut sum = 0_u64;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| corrupt(&error.to_string()))?;
        let part_name = part.name().map_err(|error| corrupt(&error.to_string()))?.into_owned();
        let lower = part_name.to_ascii_lowercase();
        let limit = if lower.ends_with("sharedstrings.xml") { STRINGS_LIMIT } else { PART_LIMIT };
        sum = sum.saturating_add(part.size());
        if part.size() > limit || sum > SUM_LIMIT {
            return refuse(
                Code::FileTooLarge,
                format!(
                    "the part {} has {} bytes when unpacked, more than is read: split the workbook, or save it as .csv",
                    super::finding::shown(&part_name),
                    part.size()
                ),
            );
        }
        if lower.ends_with(".xml") {
            let size = part.size();
            look_through(part, &lower, size, name).map_err(|fault| match fault {
                Fault::Found(finding) => finding,
                Fault::Unreadable(error) => corrupt(&error.to_string()),
            })?;
        }
    }
    Ok(())
}

/// Why a part cannot be used.
enum Fault {
    Found(Refusal),
    Unreadable(std::io::Error),
}

/// One walk over a part in constant memory: no document type, no endless text, no absurd count of strings.
fn look_through(part: impl Read, part_name: &str, size: u64, name: &str) -> std::result::Result<(), Fault> {
    let mut reader = part.take(PART_LIMIT + 1);
    let mut chunk = vec![0; 1 << 16];
    let mut first = true;
    let mut run = 0;
    loop {
        let length = reader.read(&mut chunk).map_err(Fault::Unreadable)?;
        if length == 0 {
            return Ok(());
        }
        let bytes = &chunk[..length];
        if first {
            let head = String::from_utf8_lossy(&bytes[..length.min(4096)]);
            if head.contains("<!DOCTYPE") || head.contains("<!ENTITY") {
                return Err(Fault::Found(Finding::refusal(
                    Code::FileXmlEntity,
                    name,
                    "the workbook declares XML entities, which no spreadsheet program writes: save it again in Excel",
                )));
            }
            if part_name.ends_with("sharedstrings.xml")
                && let Some(count) = unique_count(&head)
                && count > size / 5 + 1
            {
                return Err(Fault::Found(Finding::refusal(
                    Code::FileCorrupt,
                    name,
                    format!(
                        "the workbook claims {count} texts, more than fit in it: open it in Excel and save it"
                    ),
                )));
            }
            first = false;
        }
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'<' | b'>')) {
            run += piece.len();
            if run > TEXT_RUN_LIMIT {
                return Err(Fault::Found(Finding::refusal(
                    Code::FileTooLarge,
                    name,
                    "a cell holds more than a million characters: remove its content",
                )));
            }
            if piece.ends_with(b"<") || piece.ends_with(b">") {
                run = 0;
            }
        }
    }
}

/// The number after `uniqueCount=`, as far as it can be read.
fn unique_count(head: &str) -> Option<u64> {
    let after = head.split_once("uniqueCount=")?.1;
    let digits: String = after.chars().skip(1).take_while(char::is_ascii_digit).collect();
    Some(digits.parse().unwrap_or(u64::MAX))
}

impl Workbook {
    /// Opens a workbook that was looked through.
    pub(crate) fn open(path: &Path, name: &str) -> std::result::Result<Self, Refusal> {
        let corrupt = |what: String| {
            Finding::refusal(
                Code::FileCorrupt,
                name,
                format!("the workbook cannot be read ({what}): open it in Excel and save it again"),
            )
        };
        let file = File::open(path).map_err(|error| corrupt(error.to_string()))?;
        let xlsx = without_panic(|| Xlsx::new(BufReader::new(file)))
            .ok_or_else(|| corrupt("its structure is damaged".into()))?
            .map_err(|error| corrupt(error.to_string()))?;
        let listed = xlsx
            .sheets_metadata()
            .iter()
            .filter(|sheet| sheet.typ == SheetType::WorkSheet)
            .map(|sheet| Listed { name: sheet.name.clone(), hidden: sheet.visible != SheetVisible::Visible })
            .collect();
        Ok(Self { xlsx, listed })
    }

    /// The worksheets in their order.
    pub(crate) fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// Hands over each row that has some value until `each` breaks. The inner error says why the sheet cannot be
    /// read on, and after which cell.
    pub(crate) fn rows(
        &mut self,
        sheet: &str,
        each: &mut dyn FnMut(SheetRow) -> Result<ControlFlow<()>>,
    ) -> Result<std::result::Result<(), String>> {
        let unreadable = |last: Option<(u32, u32)>, what: &str| {
            let place = last.map_or_else(
                || "at its start".to_owned(),
                |(row, column)| format!("after {}", address(column as usize, row + 1)),
            );
            format!("the sheet is damaged {place} ({what}): open it in Excel and save it")
        };
        let xlsx = &mut self.xlsx;
        let opened = without_panic(move || xlsx.worksheet_cells_reader(sheet));
        let mut cells = match opened {
            Some(Ok(cells)) => cells,
            Some(Err(error)) => return Ok(Err(unreadable(None, &error.to_string()))),
            None => return Ok(Err(unreadable(None, "its structure"))),
        };
        let zeros: Vec<Option<usize>> =
            cells.styles().iter().map(|style| zero_format(style.number_format.as_ref())).collect();
        let mut last: Option<(u32, u32)> = None;
        let mut row = SheetRow { number: 0, cells: Vec::new() };
        let mut filled: Vec<bool> = Vec::new();
        loop {
            let next = match without_panic(|| cells.next_cell_with_style_id()) {
                Some(Ok(next)) => next,
                Some(Err(error)) => return Ok(Err(unreadable(last, &error.to_string()))),
                None => return Ok(Err(unreadable(last, "its structure"))),
            };
            let Some((cell, style)) = next else { break };
            let (at_row, at_column) = cell.get_position();
            let column = at_column as usize;
            let Some(value) = value(cell.get_value(), zeros.get(style).copied().flatten()) else { continue };
            if row.number != at_row + 1 {
                if !row.cells.is_empty() && each(std::mem::replace(&mut row, empty_row()))?.is_break() {
                    return Ok(Ok(()));
                }
                if last.is_some_and(|(before, _)| before > at_row) {
                    return Ok(Err(unreadable(last, "its rows are out of order")));
                }
                row.number = at_row + 1;
                filled.clear();
            }
            if column >= COLUMN_LIMIT {
                // Kept as one surplus cell, so that the row is reported as too wide without growing with it.
                row.cells.resize(COLUMN_LIMIT + 1, Cell::default());
                row.cells[COLUMN_LIMIT] = value;
                last = Some((at_row, at_column));
                continue;
            }
            if row.cells.len() <= column {
                row.cells.resize(column + 1, Cell::default());
            }
            filled.resize(row.cells.len().max(filled.len()), false);
            if filled[column] {
                return Ok(Err(unreadable(last, &format!("{} is there twice", address(column, at_row + 1)))));
            }
            filled[column] = true;
            row.cells[column] = value;
            last = Some((at_row, at_column));
        }
        if !row.cells.is_empty() {
            let _the_last_row_ends_either_way = each(row)?;
        }
        Ok(Ok(()))
    }
}

/// A row not begun.
fn empty_row() -> SheetRow {
    SheetRow { number: 0, cells: Vec::new() }
}

/// The digits a number format of nothing but zeros asks for.
fn zero_format(format: Option<&calamine::NumberFormat>) -> Option<usize> {
    let code = format?.format_code.as_str();
    (code.len() >= 2 && code.len() <= 20 && code.bytes().all(|byte| byte == b'0')).then_some(code.len())
}

/// The value of a cell; `None` when it has none.
fn value(data: &DataRef<'_>, zeros: Option<usize>) -> Option<Cell> {
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
            Cell { kind: CellKind::Date, text: text.clone() }
        }
        DataRef::Error(error) => Cell { kind: CellKind::Error, text: error.to_string() },
    };
    Some(cell)
}

/// A text; CR LF inside is written as LF.
fn text_cell(text: &str) -> Option<Cell> {
    if text.is_empty() {
        return None;
    }
    let text =
        if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() };
    Some(Cell::text(text))
}

/// A number with its shortest digits, zeros of the format in front.
fn number_cell(number: f64, zeros: Option<usize>) -> Cell {
    let plain = format!("{number}");
    match zeros {
        Some(width) if number >= 0.0 && number.fract() == 0.0 && plain.len() < width => {
            Cell { kind: CellKind::Number { value: number, padded: true }, text: format!("{plain:0>width$}") }
        }
        _ => Cell { kind: CellKind::Number { value: number, padded: false }, text: plain },
    }
}

/// A date as people write dates for machines; a time of day alone without a date.
fn date_text(date: &calamine::ExcelDateTime) -> String {
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

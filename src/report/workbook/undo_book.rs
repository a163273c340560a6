//! The workbook of an undo: a sheet that says what it restores and what it does not, and the upkeep sheets that do.

use rust_xlsxwriter::{DocProperties, Workbook, Worksheet, XlsxError};

use crate::error::{Error, Result, without_panic};
use crate::journal::Whose;
use crate::model::amount::counted;
use crate::model::id::ImportId;
use crate::model::kind::Kind;
use crate::sheet::column;
use crate::status::undo::{Undo, UndoRow};

use super::own_sheet::OwnSheet;
use super::styles::{Mark, Styles, headed, printed};
use super::{column as at, fitting};

/// The name of the first sheet; no word of it is the name of a kind.
const NAME: &str = "About";
/// The column that says which row is undone; columns that begin with an underscore are not read.
const UNDOES: &str = "_undoes";
/// Rows of a worksheet, its header left out.
const MOST_ROWS: usize = 1_048_575;
/// What is not restored is listed one by one up to so many.
const LISTED: usize = 5_000;
/// Widths of the columns of the first sheet, and of ids and other cells in the others.
const WIDTHS: [f64; 4] = [34.0, 20.0, 34.0, 70.0];
const CELL_WIDTHS: (f64, f64) = (38.0, 22.0);

/// The workbook that restores an import.
///
/// # Errors
/// Internal when it cannot be made.
pub fn undo_workbook(undo: &Undo, import: ImportId, whose: &Whose) -> Result<Vec<u8>> {
    let failed = || Error::internal("the workbook of the undo cannot be made");
    match without_panic(|| workbook(undo, import, whose)) {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(error)) => Err(failed().because(error)),
        None => Err(failed()),
    }
}

fn workbook(undo: &Undo, import: ImportId, whose: &Whose) -> std::result::Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let title = format!("fleetload, undo of import {import}");
    book.set_properties(&DocProperties::new().set_title(&title).set_author(super::AUTHOR));
    let styles = Styles::new();
    about(book.add_worksheet(), &styles, undo, import, whose)?;
    for (&kind, rows) in &undo.rows {
        for (part, rows) in rows.chunks(MOST_ROWS).enumerate() {
            let name = match part {
                0 => kind.plural().to_owned(),
                more => format!("{} {}", kind.plural(), more + 1),
            };
            restoring(book.add_worksheet(), &styles, (&name, kind), rows)?;
        }
    }
    for sheet in book.worksheets_mut() {
        printed(sheet);
        headed(sheet, whose);
    }
    book.save_to_buffer()
}

fn about(
    sheet: &mut Worksheet,
    styles: &Styles,
    undo: &Undo,
    import: ImportId,
    whose: &Whose,
) -> std::result::Result<(), XlsxError> {
    let mut page = OwnSheet::begin(sheet, styles, NAME, WIDTHS, &format!("Undo of import {import}"))?;
    page.sentence(&whose.line())?;
    for sentence in [
        "The other sheets restore what the import changed, as it was read before it was sent. Nothing was sent.",
        "Check, plan and run this workbook like any other.",
    ] {
        page.sentence(sentence)?;
    }
    page.row += 1;
    page.part("Restored")?;
    for (kind, rows) in &undo.rows {
        page.count(kind.plural(), rows.len() as u64)?;
    }
    if undo.left.is_empty() {
        return Ok(());
    }
    page.row += 1;
    page.part("Not restored")?;
    page.headers(&["row", "what", "of it", "why"])?;
    for left in undo.left.iter().take(LISTED) {
        let texts = [&left.source, left.kind.singular(), &left.subject, &left.reason.words()];
        for (column, text) in (0..).zip(texts) {
            page.text_if_any(column, text, &styles.text)?;
        }
        page.row += 1;
    }
    let more = undo.left.len().saturating_sub(LISTED);
    if more > 0 {
        let rows = counted(more as u64, "more is not restored", "more are not restored");
        page.sentence(&format!("{rows}; fleetload undo {import} --json lists all"))?;
    }
    Ok(())
}

fn restoring(
    sheet: &mut Worksheet,
    styles: &Styles,
    (name, kind): (&str, Kind),
    rows: &[UndoRow],
) -> std::result::Result<(), XlsxError> {
    let is_used =
        |name: &str| rows.iter().any(|row| row.cells.get(name).is_some_and(|cell| !cell.is_empty()));
    let headers: Vec<&str> =
        column::columns(kind).iter().map(|column| column.name).filter(|name| is_used(name)).collect();
    sheet.set_name(name)?;
    sheet.set_freeze_panes(1, 0)?;
    for (place, header) in headers.iter().chain(&[UNDOES]).enumerate() {
        let is_id = ["id", "owner", "device", "site", "template", "cloud", UNDOES].contains(header);
        sheet.set_column_width(at(place), if is_id { CELL_WIDTHS.0 } else { CELL_WIDTHS.1 })?;
        sheet.write_string_with_format(0, at(place), *header, styles.header_cell(Mark::None))?;
    }
    for (row, number) in rows.iter().zip(1_u32..) {
        for (place, header) in headers.iter().enumerate() {
            let text = row.cells.get(header).map(String::as_str).unwrap_or_default();
            sheet.write_string_with_format(number, at(place), fitting(text), styles.cell(Mark::None))?;
        }
        let source = fitting(&row.source);
        sheet.write_string_with_format(number, at(headers.len()), source, styles.cell(Mark::Along))?;
    }
    Ok(())
}

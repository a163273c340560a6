//! The first sheet of a blank workbook: how it is filled, and every column with what its cells hold.

use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder, Worksheet, XlsxError};

use super::sheet_name;
use crate::model::kind::Kind;
use crate::sheet::table::column::{Column, Need, columns};

/// What the first worksheet is called; no word of it is the name of a kind.
pub(super) const READ_ME: &str = "Read me";

/// How the sheets are filled.
const INTRODUCTION: [&str; 9] = [
    "Fill the sheets that you need and leave the others as they are. One row is one record.",
    "Every row needs the columns with a star. The note on each header says what its cells hold.",
    "The grey row below each header is an example. It is not read. In a sheet that you fill it may stay or go.",
    "Give a row a key when other rows refer to it: a short name of your own, kept when you import again. A cell that \
     refers to another record holds its key, its name when only one has it, or its id in the service.",
    "Rows may be in any order: a company below its subsidiaries, a device above its site.",
    "The columns are formatted as Text, so that leading zeros, plus signs and MAC addresses stay as they are typed. \
     When you paste, paste values only.",
    "Where a cell has a list, it opens with the arrow beside the cell. The lists of companies, sites and templates show the \
     keys that you have entered in this workbook.",
    "Leave a cell blank when there is nothing to say. Columns may be moved or removed. The short names are read, too. A column \
     whose name starts with x- is yours alone.",
    "Then type: fleetload check FILE, and when it finds nothing wrong: fleetload run FILE",
];

/// Widths of the columns: sheet, column, needed, holds, what it is, short name.
const WIDTHS: [f64; 6] = [13.0, 24.0, 12.0, 44.0, 70.0, 24.0];
/// Characters of a line in the widest columns, a little less than they are wide.
const LINE: usize = 62;
/// Characters of a line over all columns.
const WHOLE_LINE: usize = 150;
/// Height of one line of text, in points.
const LINE_HEIGHT: f64 = 15.0;

/// Fills the sheet; `notes` come after the introduction.
pub(super) fn fill(page: &mut Worksheet, kinds: &[Kind], notes: &[String]) -> Result<(), XlsxError> {
    let title = Format::new().set_bold().set_font_size(16);
    let line = Format::new().set_text_wrap().set_align(FormatAlign::Top);
    let header = Format::new()
        .set_bold()
        .set_background_color(Color::RGB(0x00DD_E7F3))
        .set_border_bottom(FormatBorder::Thin);
    page.set_name(READ_ME)?;
    for (column, width) in (0..).zip(WIDTHS) {
        page.set_column_width(column, width)?;
    }
    page.set_screen_gridlines(false).set_landscape().set_print_fit_to_pages(1, 0);
    page.write_string_with_format(0, 0, "Blank sheets for fleetload", &title)?;
    let mut row = 2;
    for text in INTRODUCTION.into_iter().chain(notes.iter().map(String::as_str)) {
        page.merge_range(row, 0, row, 4, text, &line)?;
        page.set_row_height(row, height(text, WHOLE_LINE))?;
        row += 1;
    }
    row += 1;
    for (column, text) in (0..).zip(["Sheet", "Column", "Needed", "Holds", "What it is", "Short name"]) {
        page.write_string_with_format(row, column, text, &header)?;
    }
    row += 1;
    for &kind in kinds {
        for column in columns(kind) {
            let name =
                if column.family().is_some() { format!("{}…", column.name) } else { column.header() };
            let holds = column.form.describe();
            let texts = [sheet_name(kind), &name, needed(column), &holds, column.help, column.name];
            for (at, text) in (0..).zip(texts) {
                page.write_string_with_format(row, at, text, &line)?;
            }
            page.set_row_height(row, height(column.help, LINE).max(height(&holds, LINE / 2)))?;
            row += 1;
        }
    }
    Ok(())
}

/// Whether a row needs the column, in a word or two.
fn needed(column: &Column) -> &'static str {
    if column.family().is_some() {
        return "can be added";
    }
    match column.need {
        Need::Required => "always",
        Need::Wanted => "should be",
        Need::Conditional => "sometimes",
        Need::Optional => "no",
    }
}

fn height(text: &str, width: usize) -> f64 {
    let lines = u32::try_from(text.chars().count().div_ceil(width).max(1)).unwrap_or(u32::MAX);
    LINE_HEIGHT * f64::from(lines)
}

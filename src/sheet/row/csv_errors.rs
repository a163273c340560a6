//! What is reported of records of text tables that could not be cut properly.

use crate::sheet::cell::Cell;
use crate::sheet::file::csv::{Damage, Stray};
use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::Code;
use crate::sheet::table::Table;
use crate::sheet::table::header_name;

/// The findings of a damaged record.
pub(in crate::sheet) fn findings(
    table: &Table,
    damage: &Damage,
    cells: &[Cell],
    row: u32,
    line: Option<u64>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = |code: Code, message: String, cell: Option<usize>| {
        let finding = table.finding(code, message).in_row(row, line);
        match cell {
            Some(cell) => {
                let mut finding = finding.in_column(cell);
                finding.header = table.headers.get(cell).map(|header| header_name::cut(header));
                if let Some(cell) = cells.get(cell) {
                    finding = finding.showing(&cell.text, cell.value_kind());
                }
                finding
            }
            None => finding,
        }
    };
    for (code, message, cell) in told(damage) {
        findings.push(place(code, message, cell));
    }
    findings
}

/// The code, the words and the cell of each thing that is wrong.
pub(in crate::sheet) fn told(damage: &Damage) -> Vec<(Code, String, Option<usize>)> {
    match damage {
        Damage::Stray { cell, how } => {
            let (code, message) = stray(*how);
            vec![(code, message, Some(*cell))]
        }
        Damage::Unterminated { cell, lines } => {
            let swallowed = match lines {
                0 => "it would swallow the rest of the line".to_owned(),
                1 => "it would swallow the next line".to_owned(),
                lines => format!("it would swallow the next {lines} lines"),
            };
            let message = format!(
                "a quotation mark opens here and is never closed; {swallowed}: close it at the end of the cell"
            );
            vec![(Code::RowQuoteUnterminated, message, Some(*cell))]
        }
        Damage::Encoding { cells } => {
            let message = "some letters have another encoding than the rest of the file: retype the cell and save as \
                CSV UTF-8";
            // What is further out is kept as one cell, whose column is no longer known.
            let column = |cell: usize| (cell < COLUMN_LIMIT).then_some(cell);
            cells.iter().map(|cell| (Code::FileEncodingInvalid, message.to_owned(), column(*cell))).collect()
        }
        Damage::TooLong => {
            let message = "the line has more than a million characters: look for a missing line break or quotation mark";
            vec![(Code::CellTooLong, message.to_owned(), None)]
        }
    }
}

/// What a quotation mark in the wrong place comes to.
fn stray(how: Stray) -> (Code, String) {
    let stray = |message: &str| (Code::RowQuoteStray, message.to_owned());
    match how {
        Stray::AfterClosing => stray(
            "text follows a closing quotation mark: write each mark inside the cell twice, and one at each end of it",
        ),
        Stray::SpaceBefore => stray("there is a space before the quotation mark: remove the space"),
        Stray::SpaceAfter => stray("there is a space after the closing quotation mark: remove the space"),
        Stray::WrittenOnce => stray(
            "there is a quotation mark inside the cell, so the one after it does not end the cell: write each mark \
             inside the cell twice, and one at each end of it",
        ),
        Stray::Inside => stray(
            "there is a quotation mark inside the cell: put the whole cell in quotation marks and write this one twice",
        ),
        Stray::Backslash => stray(
            "there is a backslash before the quotation mark: write the mark twice instead, or, if the whole file does \
             this, read it with --escape '\\'",
        ),
        Stray::LinesBelow(lines) => {
            let swallowed = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            (
                Code::RowQuoteUnterminated,
                format!(
                    "a quotation mark opens here and is not closed at the end of its cell; the next one is \
                     {swallowed} further down: close the mark in this row"
                ),
            )
        }
    }
}

//! What is told of records of text tables that could not be cut properly.

use super::cell::Cell;
use super::code::Code;
use super::csv::{Damage, Stray};
use super::finding::{Finding, shown};
use super::table::Table;

/// The findings of a damaged record.
pub(super) fn findings(
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
                finding.header = table.headers.get(cell).map(|header| shown(header));
                if let Some(cell) = cells.get(cell) {
                    finding = finding.showing(&cell.text, cell.value_kind());
                }
                finding
            }
            None => finding,
        }
    };
    match damage {
            Damage::Stray { cell, how } => {
                let what = match how {
                    Stray::AfterClosing => "text follows a closing quotation mark: double the marks inside the cell",
                    Stray::SpaceBefore => "a space stands before the quotation mark: remove the space",
                    Stray::Inside => "a quotation mark stands inside the cell: put the whole cell in quotation marks and double this one",
                    Stray::Backslash => "a backslash stands before the quotation mark, which has no meaning here: double the mark instead",
                };
                findings.push(place(Code::RowQuoteStray, what.to_owned(), Some(*cell)));
            }
            Damage::Unterminated { cell, lines } => findings.push(place(
                Code::RowQuoteUnterminated,
                format!("a quotation mark opens here and is never closed; it would swallow the next {lines} lines: close it"),
                Some(*cell),
            )),
            Damage::Encoding { cells: bad } => {
                for cell in bad {
                    findings.push(place(
                        Code::FileEncodingInvalid,
                        "some letters are stored in another encoding than the rest of the file: retype the cell and save as CSV UTF-8".to_owned(),
                        Some(*cell),
                    ));
                }
            }
            Damage::TooLong => findings.push(place(
                Code::CellTooLong,
                "the line has more than a million characters: look for a missing line break or quotation mark".to_owned(),
                None,
            )),
        }
    findings
}

//! What spreadsheet programs leave in a cell in the place of text or around it: results of formulas, dates, yes and no,
//! merged ranges, and the wrapping of values that are to stay text.
//!
//! Numbers are left to `number`.

use super::{Problem, TableSetting, number};
use crate::sheet::address::address;
use crate::sheet::cell::Cover;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::table::column::{Column, Form};
use crate::sheet::text::{Changes, is_formula_error, is_too_narrow, unwrap_excel};

/// Takes off what exporters and Excel users wrap around values in text tables to keep them text. In a workbook, which
/// says itself what is text, it was typed.
pub(super) fn unwrap<'a>(
    column: &Column,
    text: &'a str,
    setting: TableSetting,
    changes: &mut Changes,
) -> &'a str {
    if !setting.wraps_text || !text.trim_start().starts_with(['=', '\'']) {
        return text;
    }
    let inner = unwrap_excel(text).or_else(|| {
        let may_look_like_a_number =
            matches!(column.form, Form::Key | Form::Phone | Form::Mac) || column.name == number::POSTCODE;
        text.trim_start().strip_prefix('\'').filter(|_| may_look_like_a_number)
    });
    changes.unwrapped |= inner.is_some();
    inner.unwrap_or(text)
}

/// What the text says of the formula that it is the result of, or of the column it was shown in.
pub(super) fn result_of_a_formula(text: &str) -> Option<Problem> {
    if !text.trim_start().starts_with(['#', 'e', 'E']) {
        return None;
    }
    let text = text.trim();
    if is_formula_error(text) {
        return Some(formula_error(text));
    }
    is_too_narrow(text).then(|| {
        Problem::new(
            Code::CellFormulaError,
            "the column was too narrow to show the value when the sheet was saved or copied: make it wider and save the \
             sheet again, or enter the value",
        )
        .rule("a value, not a row of # signs")
    })
}

/// An error, as formulas have it for a result; it may also have been pasted without its formula.
pub(super) fn formula_error(text: &str) -> Problem {
    Problem::new(
        Code::CellFormulaError,
        format!(
            "the cell holds the error {} and no value: enter the value, or correct the formula if there is one",
            shown(text)
        ),
    )
    .rule("a value, or a formula with a result")
}

/// A formula without a result.
pub(super) fn formula_without_result() -> Problem {
    Problem::new(
        Code::CellFormulaNoValue,
        "the cell has a formula whose result was never saved: open the workbook in Excel and save it, or enter the value",
    )
    .rule("a value, or a formula with a saved result")
}

/// What the message about a blank cell of a merged range goes on with for those who have the file with the range.
pub(in crate::sheet) const AT_THE_RANGE: &str = "; in the file with that range, ";

/// A blank cell under a merged range.
pub(super) fn covered(cover: &Cover) -> Problem {
    let (row, at) = cover.at;
    let merge = cover.merge;
    let mut message = format!(
        "{} is blank inside the merged range {}: enter its value{AT_THE_RANGE}unmerge it first",
        address(usize::from(at), row),
        merge.address()
    );
    if merge.is_vertical() {
        let anchor = merge.anchor();
        message
            .push_str(&format!(", or choose --fill-merged if the value of {anchor} holds for all of them"));
    }
    Problem::new(Code::CellMergedCovered, message).rule("a value in each cell, none of them merged")
}

/// A date or time where text belongs.
pub(super) fn date(column: &Column, text: &str) -> Problem {
    let hint = match column.form {
        Form::Mac => "; a MAC address of digits and colons looks like a time to it",
        Form::Phone => "; a phone number with dashes can look like a date to it",
        _ => "",
    };
    Problem::new(
        Code::CellDateUnexpected,
        format!(
            "Excel stores a date or time here ({}){hint}: format the column as Text and enter the value again",
            shown(text)
        ),
    )
    .rule("a cell that holds text")
}

/// Yes or no where text belongs.
pub(super) fn truth(truth: bool) -> Problem {
    Problem::new(
        Code::CellBoolUnexpected,
        format!(
            "Excel stores {} here, not text: format the column as Text and enter the value again",
            if truth { "TRUE" } else { "FALSE" }
        ),
    )
    .rule("a cell that holds text")
}

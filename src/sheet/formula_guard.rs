//! Text that a spreadsheet program would take for a formula, written so that it is not, and read back unchanged.
//!
//! A guard is one apostrophe in front. Only text tables need it: the cells of a workbook say themselves that they are
//! text. A text table is ours, and its guards are taken off, when it has the last of our result columns or that of an export.

use std::borrow::Cow;

/// The last result column of our reports; a text table that has it was written by us.
const OURS: &str = "result_source";

/// The last column of an export of the service; a text table that has it was written by us as well.
pub const EXPORT_NOTE: &str = "_export_note";

/// The guard.
const GUARD: char = '\'';

/// The text with a guard in front where a spreadsheet program would take it for a formula, or the guard for its own.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if needs_guard(text) { format!("{GUARD}{text}").into() } else { text.into() }
}

/// The text without its guard. The inverse of [`guarded`] on all text, and harmless to what was typed by hand.
pub fn unguarded(text: &str) -> &str {
    match text.strip_prefix(GUARD) {
        Some(rest) if needs_guard(rest) => rest,
        _ => text,
    }
}

/// Whether a table with these headers was written by our reports.
pub fn is_ours(headers: &[impl AsRef<str>]) -> bool {
    let is_one = |header: &_| {
        let header = AsRef::<str>::as_ref(header).trim();
        [OURS, EXPORT_NOTE].iter().any(|ours| header.eq_ignore_ascii_case(ours))
    };
    headers.iter().any(is_one)
}

/// Where a row of a table of our reports says it comes from, as `file!sheet!row`; `None` for other tables.
pub fn source<'a>(headers: &[String], cells: &'a [impl AsRef<str>]) -> Option<&'a str> {
    let column = headers.iter().position(|header| header.trim().eq_ignore_ascii_case(OURS))?;
    cells.get(column).map(|cell| cell.as_ref().trim()).filter(|source| !source.is_empty())
}

/// Whether text begins, white space apart, with what starts a formula (also in full width), with a control
/// character, or with the guard itself.
fn needs_guard(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    matches!(first, '\t' | '\r' | '\n' | '\0' | GUARD)
        || matches!(
            text.trim_start().chars().next(),
            Some('=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}' | '\u{ff07}')
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_a_formula_is_guarded_and_reads_back_unchanged() {
        let dangerous = [
            "=1+1",
            "+64 9 555 0100",
            "-",
            "@cmd",
            "\tx",
            "\rx",
            "\nx",
            "\0",
            "\u{ff1d}1",
            "\u{ff0b}1",
            "\u{ff0d}1",
            "\u{ff20}x",
            " =1",
            "\u{a0}=1",
            "'=1",
            "'",
            "''",
            "'x",
        ];
        for text in dangerous {
            let written = guarded(text);
            assert!(written.starts_with('\''), "{text:?}");
            assert_eq!(unguarded(&written), text, "{text:?}");
        }
        for text in ["", "Acme", "O'Brien", "1-800", "a=b", "\u{e9}", " x"] {
            assert_eq!(guarded(text), text);
            assert_eq!(unguarded(text), text);
        }
    }

    #[test]
    fn an_apostrophe_typed_by_hand_before_plain_text_stays() {
        assert_eq!(unguarded("'t Hooft"), "'t Hooft");
        assert_eq!(unguarded(&guarded("'t Hooft")), "'t Hooft");
    }

    #[test]
    fn a_table_is_ours_when_it_has_our_last_column() {
        let headers = |names: [&str; 2]| names.map(str::to_owned);
        assert!(is_ours(&headers(["name", " Result_Source"])));
        assert!(is_ours(&headers(["name", EXPORT_NOTE])));
        assert!(!is_ours(&headers(["result_status", "source"])));
    }
}

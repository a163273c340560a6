//! One cell: what it holds, as text, and the address a spreadsheet program shows for it.

use super::file::preflight::Merge;
use super::finding::ValueKind;

/// Characters that a cell holds at most, as in Excel.
pub(crate) const TEXT_LIMIT: usize = 32_767;

/// What a cell holds. The text is what the reports show again.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    /// What kind of value it is.
    pub(crate) kind: CellKind,
    /// The value as text: of a number its shortest digits, of a date its ISO form.
    pub(crate) text: String,
}

/// The kind of value, with what only that kind has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum CellKind {
    /// Nothing, or an empty text.
    #[default]
    Blank,
    /// Text.
    Text,
    /// A number; `padded` when its number format shows a fixed number of digits and the text has as many.
    Number {
        /// The number.
        value: f64,
        /// Whether the text is what the format shows, with its zeros in front: no digit can be lost.
        padded: bool,
    },
    /// A date, time or duration.
    Date,
    /// True or false.
    Bool(bool),
    /// The error of a formula.
    Error,
    /// Nothing, because the result of its formula was never saved.
    Unsaved,
    /// Nothing, because it lies under a merged range.
    Covered(Cover),
}

/// A cell under a merged range that has a value in its first cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cover {
    /// Its own row, as shown, and its column, counted from 0.
    pub(crate) at: (u32, u16),
    /// The merged range.
    pub(crate) merge: Merge,
}

impl Cell {
    /// A cell of text; blank when there is none.
    pub(crate) fn text(text: String) -> Self {
        let kind = if text.is_empty() { CellKind::Blank } else { CellKind::Text };
        Self { kind, text }
    }

    /// Whether it holds nothing one could see.
    pub(crate) fn is_blank(&self) -> bool {
        match self.kind {
            CellKind::Blank => true,
            CellKind::Text => super::text::is_blank(&self.text),
            CellKind::Number { .. }
            | CellKind::Date
            | CellKind::Bool(_)
            | CellKind::Error
            | CellKind::Unsaved
            | CellKind::Covered(_) => false,
        }
    }

    /// Whether it has no value of its own because a merged range lies over it.
    pub(crate) fn is_covered(&self) -> bool {
        matches!(self.kind, CellKind::Covered(_))
    }

    /// The kind as a finding names it.
    pub(crate) fn value_kind(&self) -> ValueKind {
        match self.kind {
            CellKind::Blank | CellKind::Covered(_) => ValueKind::Blank,
            CellKind::Unsaved => ValueKind::Formula,
            CellKind::Text => ValueKind::Text,
            CellKind::Number { .. } => ValueKind::Number,
            CellKind::Date => ValueKind::Date,
            CellKind::Bool(_) => ValueKind::Bool,
            CellKind::Error => ValueKind::Error,
        }
    }
}

/// The address of a cell: `F14`. `column` counts from 0, `row` is as shown.
pub(crate) fn address(column: usize, row: u32) -> String {
    format!("{}{row}", letters(column))
}

/// The letters of a column that counts from 0: `A`, `Z`, `AA`.
pub(crate) fn letters(column: usize) -> String {
    let mut result = Vec::new();
    let mut rest = column;
    loop {
        // The remainder of a division by 26 fits a byte.
        result.push(b'A' + u8::try_from(rest % 26).unwrap_or(0));
        if rest < 26 {
            break;
        }
        rest = rest / 26 - 1;
    }
    result.reverse();
    result.into_iter().map(char::from).collect()
}

/// The column of an address, counted from 0: of `F14` 5. `None` for what is no address.
pub(crate) fn column_of_address(address: &str) -> Option<usize> {
    let letters = address.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = letters.bytes().try_fold(0_usize, |number, letter| match letter {
        b'A'..=b'Z' if number < 1 << 16 => Some(number * 26 + usize::from(letter - b'A') + 1),
        _ => None,
    })?;
    number.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_a_spreadsheet_program_shows() {
        for (column, row, expected) in
            [(0, 1, "A1"), (25, 2, "Z2"), (26, 3, "AA3"), (701, 4, "ZZ4"), (702, 5, "AAA5")]
        {
            assert_eq!(address(column, row), expected);
            assert_eq!(column_of_address(expected), Some(column));
        }
    }

    #[test]
    fn what_is_no_address_has_no_column() {
        for text in ["", "14", "f14", "F-14", "ZZZZZZZZ1"] {
            assert_eq!(column_of_address(text), None, "{text}");
        }
    }

    #[test]
    fn a_cell_of_spaces_is_blank_and_a_cell_of_zero_is_not() {
        assert!(Cell::text(" \u{a0}\u{200b}".into()).is_blank());
        assert!(!Cell { kind: CellKind::Number { value: 0.0, padded: false }, text: "0".into() }.is_blank());
    }
}

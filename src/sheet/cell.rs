//! One cell: what it holds, as text.

use smol_str::SmolStr;

use super::address::CellRange;
use super::finding::ValueKind;

/// Characters that a cell holds at most, as in Excel.
pub(crate) const TEXT_LIMIT: usize = 32_767;

/// What a cell holds. The text is what the reports show again. Most are so short that they need no memory of their own.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Cell {
    /// What kind of value it is.
    pub(crate) kind: CellKind,
    /// The value as text: of a number its shortest digits, of a date its ISO form.
    pub(crate) text: SmolStr,
}

/// The kind of value, with what only that kind has.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum CellKind {
    /// Nothing, or an empty text.
    #[default]
    Blank,
    /// Text.
    Text,
    /// A number.
    Number {
        /// The number.
        value: f64,
        /// How its sheet shows it.
        shown: NumberShown,
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

/// How a number format shows a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberShown {
    /// By its digits.
    Plain,
    /// With a fixed number of digits, and the text of the cell has as many: no digit can be lost.
    Padded,
    /// With letters or signs that are no part of it, as "15%" and "36.8 S", so that a person reads another value.
    InWords,
}

/// A cell under a merged range that has a value in its first cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cover {
    /// Its own row, as shown, and its column, counted from 0.
    pub(crate) at: (u32, u16),
    /// The merged range.
    pub(crate) merge: CellRange,
}

impl AsRef<str> for Cell {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl Cell {
    /// A cell of text; blank when there is none.
    pub(crate) fn text(text: impl Into<SmolStr>) -> Self {
        let text = text.into();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_spaces_is_blank_and_a_cell_of_zero_is_not() {
        assert!(Cell::text(" \u{a0}\u{200b}").is_blank());
        assert!(
            !Cell { kind: CellKind::Number { value: 0.0, shown: NumberShown::Plain }, text: "0".into() }
                .is_blank()
        );
    }
}

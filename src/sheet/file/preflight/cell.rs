//! The cell at hand in the pass over a worksheet: what it has so far, what the reader would make of it, and what it comes
//! to when it ends.
//!
//! What is wrong with it is said in words only; where it stands, and that the worksheet is refused, is left to
//! `worksheet`.

use calamine::CellErrorType;

use super::formula::Formula;

/// What is said of a value that the reader would take for another one.
pub(super) const BROKEN: &str = "the value of a cell is broken";

/// The type of a cell, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
enum Type {
    #[default]
    Number,
    Shared,
    Text,
    Inline,
    /// The error of a formula.
    Error,
    Other,
}

/// A cell, or the space between cells as long as there is none.
#[derive(Debug, Default)]
pub(super) struct Cell {
    /// As a spreadsheet program shows it; 0 between cells.
    pub(super) row: u32,
    pub(super) column: u16,
    of: Type,
    /// What its formula says, if it has one.
    pub(super) formula: Formula,
    pub(super) has_formula: bool,
    has_value: bool,
    has_inline: bool,
    /// The pieces and the bytes of the value.
    pieces: u32,
    value: usize,
    /// Whether the value is nothing but zeros.
    is_zero: bool,
    /// Whether its value is an error whose name the reader does not know.
    pub(super) is_unknown_error: bool,
    /// Bytes of everything in the cell.
    bytes: usize,
}

/// Digits of the number of a shared text; the reader takes a number beyond all it can hold for the first text.
const LONGEST_INDEX: usize = 18;

impl Cell {
    /// A cell begins, of the type that the file gives.
    pub(super) fn at((row, column): (u32, u16), of: Option<&str>) -> Self {
        let of = match of {
            None | Some("n") => Type::Number,
            Some("s") => Type::Shared,
            Some("str") => Type::Text,
            Some("inlineStr") => Type::Inline,
            Some("e") => Type::Error,
            Some(_) => Type::Other,
        };
        Self { row, column, of, is_zero: true, ..Self::default() }
    }

    /// Whether this is a cell, and not the space between two.
    pub(super) fn is_there(&self) -> bool {
        self.row > 0
    }

    /// Its formula begins.
    pub(super) fn begin_formula(&mut self) -> Result<(), &'static str> {
        self.has_formula = true;
        if self.has_value { Err("a formula comes after its result") } else { Ok(()) }
    }

    /// Its value begins.
    pub(super) fn begin_value(&mut self) -> Result<(), &'static str> {
        if std::mem::replace(&mut self.has_value, true) { Err("a cell has two values") } else { Ok(()) }
    }

    /// A text that stands in the cell itself begins.
    pub(super) fn begin_inline(&mut self) -> Result<(), &'static str> {
        if std::mem::replace(&mut self.has_inline, true) { Err("a cell has two values") } else { Ok(()) }
    }

    /// So many bytes more are in it; how many there are now.
    pub(super) fn grow(&mut self, bytes: usize) -> usize {
        self.bytes += bytes;
        self.bytes
    }

    /// A piece of its value: text, or a reference such as `&amp;`, which is not plain.
    pub(super) fn take_value(&mut self, text: &str, is_plain: bool) -> Result<(), &'static str> {
        self.pieces += 1;
        self.value += text.len();
        self.is_zero &= text == "0";
        let is_first = is_plain && self.pieces == 1;
        // The reader looks at the first piece only.
        if self.of == Type::Error && is_first {
            self.is_unknown_error = text.parse::<CellErrorType>().is_err();
        }
        // The reader takes only the first piece of a number, and an index that is none for the first text.
        let takes_all = matches!(self.of, Type::Text | Type::Error | Type::Other);
        let is_index = self.of != Type::Shared
            || (text.len() <= LONGEST_INDEX && text.bytes().all(|byte| byte.is_ascii_digit()));
        if is_index && (is_first || takes_all) { Ok(()) } else { Err(BROKEN) }
    }

    /// It ends.
    pub(super) fn end(&self) -> Result<(), &'static str> {
        if self.of == Type::Inline && self.value > 0 && !self.has_inline { Err(BROKEN) } else { Ok(()) }
    }

    /// Whether it holds a value.
    fn is_filled(&self) -> bool {
        self.value > 0 || self.has_inline
    }

    /// Whether it holds anything.
    pub(super) fn holds_anything(&self) -> bool {
        self.is_filled() || self.has_formula
    }

    /// Whether the result of its formula was not saved. A workbook that nobody has calculated has zeros for results.
    pub(super) fn is_unsaved(&self, is_uncalculated: bool) -> bool {
        // A formula may well come to an empty text; a number is never empty.
        let is_empty_text = self.of == Type::Text && self.has_value;
        let is_placeholder = is_uncalculated && self.of == Type::Number && self.is_zero;
        self.has_formula && ((!self.is_filled() && !is_empty_text) || is_placeholder)
    }
}

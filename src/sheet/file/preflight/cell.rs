//! The cell at hand in the pass over a worksheet: what the reader would make of its value, and what its formula does.
//!
//! What is wrong with it is said in words only; where it stands, and that the worksheet is refused, is left to
//! `worksheet`.

use calamine::CellErrorType;

/// What is said of a value that the reader would take for another one.
pub(super) const BROKEN: &str = "the value of a cell is broken";
/// What is said of a second value.
const TWO_VALUES: &str = "a cell has two values";

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

/// A cell, as far as it was read.
#[derive(Debug)]
pub(super) struct ScannedCell {
    /// Its row, as shown, and its column, counted from 0.
    pub(super) place: (u32, u16),
    of: Type,
    /// What its formula says, if it has one.
    pub(super) formula: Option<Formula>,
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
    pub(super) bytes: u64,
}

/// Digits of the number of a shared text; the reader takes a number beyond all it can hold for the first text.
const LONGEST_INDEX: usize = 18;

impl ScannedCell {
    /// A cell begins, of the type that the file gives.
    pub(super) fn at(place: (u32, u16), of: Option<&str>) -> Self {
        let of = match of {
            None | Some("n") => Type::Number,
            Some("s") => Type::Shared,
            Some("str") => Type::Text,
            Some("inlineStr") => Type::Inline,
            Some("e") => Type::Error,
            Some(_) => Type::Other,
        };
        Self {
            place,
            of,
            formula: None,
            has_value: false,
            has_inline: false,
            pieces: 0,
            value: 0,
            is_zero: true,
            is_unknown_error: false,
            bytes: 0,
        }
    }

    /// A part of it begins.
    pub(super) fn begin(&mut self, part: &str) -> Result<(), String> {
        let wrong = match part {
            "f" => {
                self.formula = Some(Formula::default());
                self.has_value.then_some("a formula comes after its result")
            }
            "v" => std::mem::replace(&mut self.has_value, true).then_some(TWO_VALUES),
            "is" => std::mem::replace(&mut self.has_inline, true).then_some(TWO_VALUES),
            _ => {
                let part = crate::sheet::finding::shown(part);
                return Err(format!("a cell has a part called {part}, which is not known"));
            }
        };
        wrong.map_or(Ok(()), |wrong| Err(wrong.to_owned()))
    }

    /// A piece of its value: text, or a reference such as `&amp;`, which is not plain.
    pub(super) fn take_value(&mut self, text: &str, is_plain: bool) -> Result<(), String> {
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
        if is_index && (is_first || takes_all) { Ok(()) } else { Err(BROKEN.to_owned()) }
    }

    /// It ends; the reader passes over a value beside a text in the cell.
    pub(super) fn end(&self) -> Result<(), String> {
        let is_lost = self.of == Type::Inline && self.value > 0 && !self.has_inline;
        if is_lost { Err(BROKEN.to_owned()) } else { Ok(()) }
    }

    /// Whether it holds a value.
    fn is_filled(&self) -> bool {
        self.value > 0 || self.has_inline
    }

    /// Whether it holds anything.
    pub(super) fn holds_anything(&self) -> bool {
        self.is_filled() || self.formula.is_some()
    }

    /// Whether the result of its formula was not saved. A workbook that nobody has calculated has zeros for results.
    pub(super) fn is_unsaved(&self, is_uncalculated: bool) -> bool {
        // A formula may well come to an empty text; a number is never empty.
        let is_empty_text = self.of == Type::Text && self.has_value;
        let is_placeholder = is_uncalculated && self.of == Type::Number && self.is_zero;
        self.formula.is_some() && ((!self.is_filled() && !is_empty_text) || is_placeholder)
    }
}

/// Functions whose result changes without anybody entering something.
const VOLATILE: [&str; 7] = ["NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT"];

/// What is gathered of a formula while it is read piece by piece.
#[derive(Debug, Default)]
pub(super) struct Formula {
    /// Whether its result changes by itself.
    pub(super) is_volatile: bool,
    /// Whether it refers to another workbook.
    pub(super) is_external: bool,
    /// Whether a text between double marks is open at its end.
    is_in_text: bool,
}

impl Formula {
    /// Takes in the next piece: plain text, or what stands between `&` and `;`.
    pub(super) fn take(&mut self, piece: &str, is_plain: bool) {
        if !is_plain {
            self.is_in_text ^= piece == "quot";
            return;
        }
        for (at, part) in piece.split('"').enumerate() {
            self.is_in_text ^= at > 0;
            if !self.is_in_text {
                self.is_volatile |= is_volatile(part);
                self.is_external |= is_external(part);
            }
        }
    }
}

/// Whether the result changes by itself, by the functions that are called.
fn is_volatile(calls: &str) -> bool {
    calls.match_indices('(').any(|(at, _)| {
        let before = &calls[..at];
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        VOLATILE.contains(&name.unwrap_or_default().to_ascii_uppercase().as_str())
    })
}

/// Whether it refers to another workbook: `[1]Sheet1!A1`, `'[2]My sheet'!B7`.
fn is_external(formula: &str) -> bool {
    formula.match_indices('[').any(|(at, _)| {
        let inner = &formula[at + 1..];
        let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
        // Columns of tables stand in such brackets too: behind the name of a table, or inside another bracket.
        let is_alone = formula[..at]
            .chars()
            .next_back()
            .is_none_or(|before| !before.is_alphanumeric() && !matches!(before, '_' | '.' | '[' | ':' | ']'));
        let rest = inner[digits..].strip_prefix(']');
        let is_followed =
            rest.and_then(|rest| rest.chars().next()).is_some_and(|next| next != ']' && next != ',');
        digits > 0 && is_alone && is_followed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_text_of_a_formula_is_neither_a_call_nor_a_reference() {
        let mut formula = Formula::default();
        let pieces = [
            ("\"TODAY() \"\"[1]x\"\" \"", true),
            ("amp", false),
            ("quot", false),
            ("[1]x", true),
            ("quot", false),
        ];
        pieces.iter().for_each(|(piece, is_plain)| formula.take(piece, *is_plain));
        assert_eq!((formula.is_volatile, formula.is_external), (false, false));
        formula.take("+NOW()+[1]x!A1", true);
        assert_eq!((formula.is_volatile, formula.is_external), (true, true));
    }

    #[test]
    fn a_formula_that_changes_by_itself_is_known_by_its_functions() {
        let table = [
            ("TODAY()", true),
            ("1+now( )", true),
            ("IF(A1,RAND(),0)", true),
            ("_xlfn.RANDARRAY(2)", true),
            ("INDIRECT(\"A1\")", true),
            ("MYTODAY()", false),
            ("TODAY", false),
            ("VLOOKUP(A2,B:C,2,0)", false),
        ];
        for (formula, expected) in table {
            assert_eq!(is_volatile(formula), expected, "{formula}");
        }
    }

    #[test]
    fn another_workbook_is_told_from_the_column_of_a_table() {
        let table = [
            ("[1]Sheet1!A1", true),
            ("VLOOKUP(A2,'[12]Price list'!$A$1:$B$9,2,0)", true),
            ("[1]!Rate", true),
            ("Sites[1]", false),
            ("Sites[[#This Row],[1]]", false),
            ("SUM(Sites[[1]:[2]])+Other!A1", false),
            ("Sheet2!A1", false),
        ];
        for (formula, expected) in table {
            assert_eq!(is_external(formula), expected, "{formula}");
        }
    }
}

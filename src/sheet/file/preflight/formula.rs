//! What a formula says about its result, as far as its text shows it.

use std::borrow::Cow;

/// Functions whose result changes without anybody entering something.
const VOLATILE: [&str; 7] = ["NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT"];

/// What is gathered of a formula while it is read piece by piece.
#[derive(Debug, Default)]
pub(super) struct Formula {
    place: Place,
    /// Open brackets.
    depth: usize,
    /// Whether its result changes by itself.
    pub(super) is_volatile: bool,
    /// Whether it refers to another workbook.
    pub(super) is_external: bool,
}

/// Where in a formula a piece of it ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    Calculation,
    /// In a text, between double marks.
    Text,
    /// In the name of a sheet, between single ones.
    Name,
}

impl Formula {
    /// Takes in the next piece: plain text, or what stands between `&` and `;`.
    pub(super) fn take(&mut self, piece: &str, is_plain: bool) {
        let calculation = if is_plain {
            self.without_texts(piece)
        } else {
            // What is written as a reference matters only where it opens or closes something.
            let mark = quick_xml::escape::unescape(&format!("&{piece};")).map(Cow::into_owned);
            self.without_texts(mark.as_deref().unwrap_or_default());
            return;
        };
        self.is_volatile |= is_volatile(&calculation);
        self.is_external |= is_external(&calculation);
    }

    /// The piece with its texts left out.
    fn without_texts(&mut self, piece: &str) -> String {
        let mut kept = String::with_capacity(piece.len());
        let mut characters = piece.chars();
        while let Some(c) = characters.next() {
            let was = self.place;
            match (was, c) {
                (Place::Calculation, '[') => self.depth += 1,
                (Place::Calculation, ']') => self.depth = self.depth.saturating_sub(1),
                // Inside brackets, in the name of a column, a single mark stands before a sign that is meant as it is.
                (Place::Calculation, '\'') if self.depth > 0 => {
                    characters.next();
                }
                (Place::Calculation, '"') if self.depth == 0 => self.place = Place::Text,
                (Place::Calculation, '\'') => self.place = Place::Name,
                (Place::Text, '"') | (Place::Name, '\'') => self.place = Place::Calculation,
                (Place::Calculation | Place::Text | Place::Name, _) => {}
            }
            if was != Place::Text {
                kept.push(c);
            }
        }
        kept
    }
}

/// Whether the result changes by itself, by the functions that are called outside texts.
fn is_volatile(calls: &str) -> bool {
    calls.match_indices('(').any(|(at, _)| {
        let before = &calls[..at];
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        VOLATILE.contains(&name.unwrap_or_default().to_ascii_uppercase().as_str())
    })
}

/// Whether it refers to another workbook outside texts: `[1]Sheet1!A1`, `'[2]My sheet'!B7`.
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

    /// A formula as it stands in a workbook, taken in piece by piece.
    fn taken(written: &str) -> Formula {
        let mut formula = Formula::default();
        let mut pieces = written.split('&');
        formula.take(pieces.next().unwrap_or_default(), true);
        for piece in pieces {
            let (reference, text) = piece.split_once(';').expect("a reference ends");
            formula.take(reference, false);
            formula.take(text, true);
        }
        formula
    }

    #[test]
    fn a_formula_that_changes_by_itself_is_known_by_its_functions() {
        let table = [
            ("TODAY()", true),
            ("1+now( )", true),
            ("IF(A1,RAND(),0)", true),
            ("_xlfn.RANDARRAY(2)", true),
            ("INDIRECT(\"A1\")", true),
            ("\"TODAY()\"", false),
            ("&quot;TODAY()&quot;", false),
            ("&quot;a&quot;&amp;TODAY()", true),
            ("MYTODAY()", false),
            ("TODAY", false),
            ("VLOOKUP(A2,B:C,2,0)", false),
        ];
        for (formula, expected) in table {
            assert_eq!(taken(formula).is_volatile, expected, "{formula}");
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
            ("'a[1]b'!A1", false),
            ("\"[1]x\"", false),
            ("&quot;[1]x&quot;", false),
            ("\"see \"\"[1]x\"\" \"&amp;A1", false),
            ("\"[1]x\"&amp;[2]Sheet1!A1", true),
            ("&quot;a&quot;&amp;&apos;[2]My sheet&apos;!A1", true),
            ("'5\" pipe'!A1&amp;'[2]My \" sheet'!A1", true),
            ("Sites['[x'']]&amp;\"[1]x\"", false),
        ];
        for (formula, expected) in table {
            assert_eq!(taken(formula).is_external, expected, "{formula}");
        }
    }
}

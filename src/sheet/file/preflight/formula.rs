//! What a formula says about its result, as far as its text shows it.

/// Functions whose result changes without anybody entering something.
const VOLATILE: [&str; 7] = ["NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT"];

/// What is gathered of a formula while it is read piece by piece.
#[derive(Debug, Default)]
pub(super) struct Formula {
    /// Whether its result changes by itself.
    pub(super) is_volatile: bool,
    /// Whether it refers to another workbook.
    pub(super) is_external: bool,
}

impl Formula {
    /// Takes in the next piece of its text.
    pub(super) fn take(&mut self, piece: &str) {
        self.is_volatile |= is_volatile(piece);
        self.is_external |= is_external(piece);
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

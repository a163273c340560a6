//! What a formula says about its result, as far as its text shows it.

use std::borrow::Cow;

/// Functions whose result changes without anybody entering something.
const VOLATILE: [&str; 7] = ["NOW", "TODAY", "RAND", "RANDBETWEEN", "RANDARRAY", "OFFSET", "INDIRECT"];

/// Whether the result changes by itself.
pub(super) fn is_volatile(formula: &str) -> bool {
    let calls = outside_quotes(formula);
    calls.match_indices('(').any(|(at, _)| {
        let before = &calls[..at];
        let name = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        VOLATILE.contains(&name.unwrap_or_default().to_ascii_uppercase().as_str())
    })
}

/// Whether it refers to another workbook: `[1]Sheet1!A1`, `'[2]My sheet'!B7`.
pub(super) fn is_external(formula: &str) -> bool {
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

/// The formula with its texts left out.
fn outside_quotes(formula: &str) -> Cow<'_, str> {
    if formula.contains('"') {
        Cow::Owned(formula.split('"').step_by(2).collect::<Vec<_>>().join("\""))
    } else {
        Cow::Borrowed(formula)
    }
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
            ("\"TODAY()\"", false),
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
            ("'a[1]b'!A1", false),
        ];
        for (formula, expected) in table {
            assert_eq!(is_external(formula), expected, "{formula}");
        }
    }
}

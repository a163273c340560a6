//! Texts that stand for no value: the errors of formulas, and the words people and programs write instead of leaving a
//! cell blank.

use std::sync::LazyLock;

use crate::sheet::data::{FORMULA_ERRORS, PLACEHOLDERS};

/// The words by their length: asked of nearly every cell.
static BY_LENGTH: LazyLock<Vec<Vec<[String; 2]>>> = LazyLock::new(|| {
    let longest = PLACEHOLDERS.iter().map(|[word, _]| word.len()).max().unwrap_or_default();
    let mut by_length = vec![Vec::new(); longest + 1];
    for placeholder in PLACEHOLDERS.iter() {
        by_length[placeholder[0].len()].push(placeholder.clone());
    }
    by_length
});

/// The error of a formula as text, in the languages Excel writes it in. What LibreOffice numbers is one too.
pub(crate) fn is_formula_error(text: &str) -> bool {
    if let Some(number) = text.get(..4).filter(|name| name.eq_ignore_ascii_case("err:")).map(|_| &text[4..]) {
        return number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    if !text.starts_with('#') || text.len() > 40 {
        return false;
    }
    FORMULA_ERRORS.contains(&text.to_lowercase())
}

/// What Excel shows of a number or date in a column that is too narrow for it.
pub(crate) fn is_too_narrow(text: &str) -> bool {
    text.len() > 2 && text.bytes().all(|byte| byte == b'#')
}

/// A word people write instead of leaving a cell blank, or programs where they have no value.
pub(crate) fn is_placeholder(text: &str) -> bool {
    if text.len() > 12 || text.is_empty() {
        return false;
    }
    if text.chars().all(|c| matches!(c, '-' | '.' | '_' | '\u{2010}'..='\u{2015}' | '\u{2212}')) {
        return true;
    }
    // As pandas writes it; Nan is a place in Thailand, and a name.
    if matches!(text, "nan" | "NaN") {
        return true;
    }
    let word = text.strip_suffix('.').unwrap_or(text);
    if word.contains(' ') {
        return word.starts_with(['n', 'N'])
            && word.replace(" /", "/").replace("/ ", "/").eq_ignore_ascii_case("n/a");
    }
    (word.len() > 2 && word.bytes().all(|byte| byte.eq_ignore_ascii_case(&b'x')))
        || is_listed(word, "nothing")
}

/// What people write instead of repeating the cell above.
pub(crate) fn is_ditto(text: &str) -> bool {
    text.len() <= 16 && is_listed(text, "ditto")
}

fn is_listed(word: &str, meaning: &str) -> bool {
    let of_its_length = BY_LENGTH.get(word.len()).map_or(&[][..], Vec::as_slice);
    of_its_length.iter().any(|[known, means]| word.eq_ignore_ascii_case(known) && means == meaning)
}

/// Nothing but zeros, as spreadsheets write them that have no blank cells.
pub(crate) fn is_zero(text: &str) -> bool {
    matches!(text, "0" | "0.0" | "00")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_errors_of_formulas_are_known_in_any_case_and_nothing_else_is_one() {
        for error in
            ["#n/a", "#BEZUG!", "#н/д", "#Název?", "#ZÉRÓOSZTÓ!", "Err:502", "ERR:504", "#PYTHON!", "#Ad?"]
        {
            assert!(is_formula_error(error), "{error}");
        }
        for text in ["#1 Store", "Err:or", "Err:5", "Err:5022", "#", "Error 502", "#North", "é:502"] {
            assert!(!is_formula_error(text), "{text}");
        }
        assert!(is_too_narrow("########") && is_too_narrow("###"));
        assert!(!is_too_narrow("#") && !is_too_narrow("##") && !is_too_narrow("#1#"));
    }

    #[test]
    fn words_for_nothing_are_known_and_names_are_none() {
        for word in [
            "N/A",
            "n / a",
            "n/a.",
            "N.A.",
            "-",
            "---",
            "—",
            "–",
            ".",
            "...",
            "_",
            "none",
            "None.",
            "TBA",
            "tbc",
            "xxx",
            "XXXX",
            "undefined",
            "nan",
            "NaN",
            "<NA>",
            "?",
            "??",
            "???",
            "null",
        ] {
            assert!(is_placeholder(word), "{word}");
        }
        for name in
            ["", "Nona", "Nan", "NAN", "X", "xx", "NA", "Tbilisi", "N A", "A.", "xx-x", "Unknown Ltd", "????"]
        {
            assert!(!is_placeholder(name), "{name}");
        }
    }
}

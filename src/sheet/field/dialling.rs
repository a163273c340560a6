//! Phone numbers that begin with what is dialled before the code of a country, where a + means the same everywhere.
//!
//! They are sent as they stand: what was meant is told, and nothing is rewritten.

use super::{Problem, country};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Countries where 011 is dialled, and where no number of their own begins so.
const NORTH_AMERICA: [&str; 2] = ["US", "CA"];
/// Digits of a number with the code of its country.
const WHOLE_NUMBER: std::ops::RangeInclusive<usize> = 7..=15;

/// The note on a number that begins with 00 or the like; `country` is that of the row, as its cell has it.
pub(super) fn prefix_for_plus(text: &str, country: Option<&str>) -> Option<Problem> {
    let end = text.find(char::is_alphabetic).unwrap_or(text.len());
    let (number, extension) = text.split_at(end);
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    let prefix = prefix(&digits, country).filter(|_| !number.contains('+'))?;
    let rest = &digits[prefix.len()..];
    if rest.starts_with('0') || !WHOLE_NUMBER.contains(&rest.len()) {
        return None;
    }
    let meant = if number.replace(' ', "").contains("(0") {
        // The zero that is not dialled from abroad.
        None
    } else if number.contains('(') {
        Some(format!("+{rest}{}", extension.trim_end_matches(')')))
    } else {
        Some(format!("+{}{extension}", after(number, prefix.len())))
    };
    let advice = meant.as_ref().map_or_else(
        || format!("write + and the country code instead of {prefix}"),
        |meant| format!("write {}, if that is right", shown(meant)),
    );
    let problem = Problem::new(
        Code::CellPhone,
        format!(
            "the number begins with {prefix}, an international prefix of some countries only, and is sent as it is; \
             the service may reject it: {advice}"
        ),
    )
    .rule("a number with + and its country code")
    .note();
    Some(match meant {
        Some(meant) => problem.suggest(meant),
        None => problem,
    })
}

/// What a number begins with in place of a +.
fn prefix(digits: &str, country: Option<&str>) -> Option<&'static str> {
    if digits.starts_with("0011") {
        // As Australia dials; no number of a country begins with 11.
        return Some("0011");
    }
    if digits.starts_with("00") {
        return Some("00");
    }
    let is_american = || {
        let code = country.and_then(country::known);
        code.is_some_and(|country| NORTH_AMERICA.contains(&country.alpha2.as_str()))
    };
    (digits.starts_with("011") && is_american()).then_some("011")
}

/// What stands behind so many digits, without the separators before it.
fn after(number: &str, digits: usize) -> &str {
    let digit = number.char_indices().filter(|(_, c)| c.is_ascii_digit()).nth(digits);
    digit.map_or("", |(at, _)| number[at..].trim_end_matches(|c: char| c != ' ' && !c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::code::Severity;

    #[test]
    fn a_number_that_begins_with_a_prefix_for_abroad_is_told_with_its_plus() {
        let table = [
            ("0064 9 555 0100", None, Some(Some("+64 9 555 0100"))),
            ("0064-9-555-0100 ext 5", Some("NZ"), Some(Some("+64-9-555-0100 ext 5"))),
            ("00.64.9.555.0100", None, Some(Some("+64.9.555.0100"))),
            ("00 (64) 9 555 0100", None, Some(Some("+6495550100"))),
            ("0044 (0)20 7946 0000", None, Some(None)),
            ("0011 64 9 555 0100", Some("AU"), Some(Some("+64 9 555 0100"))),
            ("011 64 9 555 0100", Some("United States"), Some(Some("+64 9 555 0100"))),
            ("011 64 9 555 0100", Some("India"), None),
            ("011 64 9 555 0100", None, None),
            ("021 123 4567", Some("NZ"), None),
            ("+64 9 555 0100", None, None),
            ("+0064 9 555 0100", None, None),
            ("0012", None, None),
            ("000 123 4567", None, None),
            ("00", None, None),
            ("0064 9 555 0100 555 0101", None, None),
        ];
        for (text, country, expected) in table {
            let problem = prefix_for_plus(text, country);
            let found = problem.as_ref().map(|problem| problem.suggestion.as_deref());
            assert_eq!(found, expected, "{text} {country:?}");
            assert!(problem.is_none_or(|problem| problem.severity == Severity::Info));
        }
    }
}

//! Phone numbers: what cannot be one is reported, and none is rewritten.

use super::{CellReading, Problem, Value, country};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Digits of the longest number in the world.
const MOST_DIGITS: usize = 15;
/// Digits from which on a part of a cell may be a phone number of its own.
const OWN_DIGITS: usize = 6;
/// Digits of a number with the code of its country.
const WHOLE_NUMBER: std::ops::RangeInclusive<usize> = 7..=MOST_DIGITS;
/// What is written before an extension.
const EXTENSION: [&str; 4] = ["x", "ext", "extn", "extension"];
/// Countries where 011 is dialled for another country, and where no number of their own begins so.
const NORTH_AMERICA: [&str; 2] = ["US", "CA"];

const RULE: &str = "digits, spaces and + ( ) - . /, with an extension as x5 or ext 5";

/// A phone number stays text; only what cannot be one, or cannot be dialled everywhere, is told. `country` is that of the
/// row.
pub(super) fn phone(text: &str, country: Option<&str>, reading: &mut CellReading) -> Result<Value, Problem> {
    if is_plain(text) {
        return Ok(Value::Text(text.into()));
    }
    if holds_several(text) {
        return Err(Problem::new(
            Code::CellMultipleValues,
            "the cell seems to hold several phone numbers: keep one",
        )
        .rule("one phone number"));
    }
    let digits = digits(text);
    if digits < 3 {
        return Err(Problem::new(
            Code::CellPhone,
            format!("a phone number has at least 3 digits and this has {digits}: enter the number"),
        )
        .rule(RULE)
        .error());
    }
    let told = oddity(text).map(|message| Problem::new(Code::CellPhone, message).rule(RULE));
    reading.add_all(told.or_else(|| prefix_for_plus(text, country)));
    Ok(Value::Text(text.into()))
}

/// Whether a number is written in digits and spaces, after a + or not, and is none of which anything is to be said: by far
/// the most are.
fn is_plain(text: &str) -> bool {
    let number = text.strip_prefix('+').unwrap_or(text);
    (3..=MOST_DIGITS).contains(&digits(number))
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ')
        && !text.starts_with("00")
        && !text.starts_with("011")
}

fn digits(text: &str) -> usize {
    text.bytes().filter(u8::is_ascii_digit).count()
}

/// The digits of a number that count: without the 00 that is dialled for another country, and the zero that is not dialled
/// then.
fn significant(number: &str) -> usize {
    let bare: String = number.chars().filter(char::is_ascii_digit).collect();
    let is_doubled = number.replace(' ', "").contains("(0)");
    bare.strip_prefix("00").unwrap_or(&bare).len() - usize::from(is_doubled)
}

/// Whether parts of a text are phone numbers of their own: between words or signs that no number has, before a second +,
/// or because there are more digits than one number has.
fn holds_several(text: &str) -> bool {
    let numbers: Vec<&str> = numbers(text).flat_map(|number| number.split([';', '|', ',', '&'])).collect();
    let before_a_plus = |number: &str| {
        number
            .match_indices('+')
            .any(|(at, _)| digits(&number[..at]) >= OWN_DIGITS && digits(&number[at..]) >= OWN_DIGITS)
    };
    let too_long = |number: &str| {
        let runs = number.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).count();
        runs > 1 && significant(number) > MOST_DIGITS
    };
    numbers.iter().filter(|number| digits(number) >= OWN_DIGITS).count() > 1
        || numbers.iter().any(|number| before_a_plus(number) || too_long(number))
}

/// What stands between the words of a text, extensions left out.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut is_extension = false;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (number, after) = rest.split_at(rest.find(char::is_alphabetic).unwrap_or(rest.len()));
            let (word, after) =
                after.split_at(after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len()));
            let was_extension = std::mem::replace(&mut is_extension, is_extension_word(word));
            rest = after;
            if !was_extension {
                return Some(number);
            }
        }
        None
    })
}

fn is_extension_word(word: &str) -> bool {
    EXTENSION.iter().any(|extension| extension.eq_ignore_ascii_case(word))
}

/// What is unusual in a phone number, and what to do about it.
fn oddity(text: &str) -> Option<String> {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let letters: String = words.filter(|word| !is_extension_word(word)).collect();
    if !letters.is_empty() {
        return Some(format!(
            "the phone number has letters ('{}') and is sent as it is: write it in digits",
            shown(&letters.to_lowercase())
        ));
    }
    let is_usual = |c: char| c.is_ascii_digit() || c.is_alphabetic() || " +().-/".contains(c);
    if let Some(odd) = text.chars().find(|c| !is_usual(*c)) {
        return Some(format!(
            "'{}' is unusual in a phone number, which is sent as it is: correct it",
            shown(odd.encode_utf8(&mut [0; 4]))
        ));
    }
    let (number, extension) = text.split_at(text.find(char::is_alphabetic).unwrap_or(text.len()));
    let extension = extension.trim_start_matches(char::is_alphabetic);
    let has_extension = number.len() < text.len();
    let is_extension =
        digits(extension) > 0 && !extension.contains(|c: char| c.is_alphabetic() || "+/".contains(c));
    if digits(number) == 0 || (has_extension && !is_extension) {
        return Some(
            "an extension must come after its number, and this is sent as it is: write it as 555 1234 x5"
                .into(),
        );
    }
    if number.trim_start_matches(['(', ' ']).get(1..).is_some_and(|rest| rest.contains('+')) {
        return Some(
            "a + is allowed only once, at the start, and this is sent as it is: correct the number".into(),
        );
    }
    (significant(number) > MOST_DIGITS).then(|| {
        format!(
            "a phone number has at most {MOST_DIGITS} digits, and this one has more and is sent as it is: correct it"
        )
    })
}

/// The note on a number that begins with what is dialled before the code of a country, where a + means the same
/// everywhere: 00, 0011 in Australia, 011 in North America.
fn prefix_for_plus(text: &str, country: Option<&str>) -> Option<Problem> {
    let is_american = || {
        let country = country.and_then(country::known);
        country.is_some_and(|country| NORTH_AMERICA.contains(&country.alpha2.as_str()))
    };
    // No number of a country begins with 11.
    let prefix = ["0011", "00", "011"].into_iter().find(|prefix| text.starts_with(prefix))?;
    let rest = text[prefix.len()..].trim_start_matches(|c: char| !c.is_ascii_digit());
    let number = rest.split(char::is_alphabetic).next().unwrap_or_default();
    let is_one = !rest.starts_with('0') && WHOLE_NUMBER.contains(&digits(number));
    if !is_one || text.contains('+') || (prefix == "011" && !is_american()) {
        return None;
    }
    // Inside brackets there may be a zero that is not dialled from abroad.
    let meant = (!text.contains('(')).then(|| format!("+{rest}"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::code::Severity;

    /// The code and how bad it is, notes left out.
    fn told(text: &str) -> Option<(Code, Severity)> {
        let mut reading = CellReading::default();
        let told = phone(text, None, &mut reading).err().or_else(|| reading.problems().last().cloned());
        told.map(|problem| (problem.code, problem.severity))
            .filter(|(_, severity)| *severity != Severity::Info)
    }

    /// As they stand on letterheads, in directories and in CRMs.
    #[test]
    fn numbers_of_many_countries_are_right_as_they_are() {
        for text in [
            "+64 9 555 0100",
            "09 555 0100",
            "(09) 555-0100",
            "+64 (0)9 555 0100",
            "0800 123 456",
            "111",
            "+1 (555) 010-0199",
            "1-800-555-0199",
            "555.010.0199",
            "+1.555.010.0199 ext. 12345",
            "(555) 010-0199 x123",
            "(555) 010-0199 (ext 5)",
            "555-0199 Extension 7",
            "+44 20 7946 0000",
            "+44 (0)20 7946 0000",
            "0044 (0) 20 7946 0000",
            "+49 (0)89 123456-0",
            "089/123456",
            "0211 / 123456-78",
            "0211 123 - 4567890",
            "089 1234 - 567890",
            "+49 40 123 - 4567890",
            "+49 2236/123456",
            "+49 33056 / 123456",
            "0049 2236 / 123456",
            "(02236) 1234/0",
            "0664/123 45 67/89",
            "+43 1 5880/13500",
            "+43 (0)5 1766-1000",
            "0041 44 668 18 00",
            "+41 44 668 18 00",
            "01 23 45 67 89",
            "01.23.45.67.89",
            "+33 1 23 45 67 89",
            "+33 (0)1 23 45 67 89",
            "+39 06 1234 5678",
            "06/12345678",
            "+34 912 34 56 78",
            "+351 21 123 4567",
            "+31 (0)20 123 4567",
            "020-1234567",
            "+32 2 123 45 67",
            "02/123.45.67",
            "+45 12 34 56 78",
            "+46 (0)8-123 456 78",
            "08-123 456 78",
            "+47 22 12 34 56",
            "+358 40 123 4567",
            "+358 40 123/456789",
            "+48 22 123 45 67",
            "+420 123 456 789",
            "+36 1 123 4567",
            "+7 (495) 123-45-67",
            "8 (495) 123-45-67",
            "+90 (212) 123 45 67",
            "+91 22 1234 5678",
            "+91-22-12345678",
            "022-12345678",
            "+86 10 1234 5678",
            "+86 138 0013 8000",
            "+81-3-1234-5678",
            "03-1234-5678",
            "+82 2-1234-5678",
            "+65 6123 4567",
            "+852 2123 4567",
            "+61 2 9123 4567",
            "0011 61 2 9123 4567",
            "1300 123 456",
            "13 12 34",
            "+55 (11) 91234-5678",
            "0055 11 91234-5678",
            "+54 9 11 1234-5678",
            "+52 55 1234 5678",
            "+27 11 123 4567",
            "+234 803 123 4567",
            "+971 4 123 4567",
            "+972-3-123-4567",
            "+20 2 1234 5678",
            "+1 876 123 4567 x 12",
            "+123456789012345",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_that_begins_with_a_prefix_for_abroad_is_told_with_its_plus() {
        let table = [
            ("0064 9 555 0100", None, Some(Some("+64 9 555 0100"))),
            ("0064-9-555-0100 ext 5", Some("NZ"), Some(Some("+64-9-555-0100 ext 5"))),
            ("0044 (0)20 7946 0000", None, Some(None)),
            ("0011 64 9 555 0100", Some("AU"), Some(Some("+64 9 555 0100"))),
            ("011 64 9 555 0100", Some("United States"), Some(Some("+64 9 555 0100"))),
            ("011 64 9 555 0100", Some("India"), None),
            ("011 64 9 555 0100", None, None),
            ("021 123 4567", Some("NZ"), None),
            ("+64 9 555 0100", None, None),
            ("0012", None, None),
            ("000 123 4567", None, None),
            ("00", None, None),
        ];
        for (text, country, expected) in table {
            let problem = prefix_for_plus(text, country);
            let found = problem.as_ref().map(|problem| problem.suggestion.as_deref());
            assert_eq!(found, expected, "{text} {country:?}");
            assert!(problem.is_none_or(|problem| problem.severity == Severity::Info));
        }
    }
}

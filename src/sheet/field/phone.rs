//! Phone numbers: what cannot be one is told, and none is rewritten.
//!
//! Whether a cell holds several is left to `phones`, how numbers abroad are dialled to `dialling`.

use super::{Problem, Reading, Value, dialling, phones};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Digits of the longest number in the world.
const MOST_DIGITS: usize = 15;

const RULE: &str = "digits, spaces and + ( ) - . /, with an extension as x5 or ext 5";

/// A phone number stays text; only what cannot be one, or cannot be dialled everywhere, is told. `country` is that of the
/// row.
pub(super) fn phone(text: &str, country: Option<&str>, reading: &mut Reading) -> Result<Value, Problem> {
    if phones::are_in(text) {
        return Err(Problem::new(
            Code::CellMultipleValues,
            "the cell seems to hold several phone numbers: keep one",
        )
        .rule("one phone number"));
    }
    let digits = phones::digits(text);
    if digits < 3 {
        return Err(Problem::new(
            Code::CellPhone,
            format!("a phone number has at least 3 digits and this has {digits}: enter the number"),
        )
        .rule(RULE)
        .error());
    }
    let told = oddity(text).map(|message| Problem::new(Code::CellPhone, message).rule(RULE));
    reading.problems.extend(told.or_else(|| dialling::prefix_for_plus(text, country)));
    Ok(Value::Text(text.to_owned()))
}

/// What is unusual in a phone number, and what to do about it.
fn oddity(text: &str) -> Option<String> {
    let lower = text.to_lowercase().replace("extension", "x").replace("ext.", "x").replace("ext", "x");
    let letters: String = lower.chars().filter(|c| c.is_alphabetic() && *c != 'x').collect();
    if !letters.is_empty() {
        return Some(format!(
            "the phone number has letters ('{}') and is sent as it is: write it in digits",
            shown(&letters)
        ));
    }
    if let Some(odd) = lower.chars().find(|c| !c.is_ascii_digit() && !" +().-/x".contains(*c)) {
        return Some(format!(
            "'{}' is unusual in a phone number, which is sent as it is: correct it",
            shown(odd.encode_utf8(&mut [0; 4]))
        ));
    }
    let (number, extension) = lower.split_once('x').map_or((lower.as_str(), None), |(a, b)| (a, Some(b)));
    let is_extension = |part: &str| phones::digits(part) > 0 && !part.contains(['x', '+', '/']);
    if phones::digits(number) == 0 || extension.is_some_and(|part| !is_extension(part)) {
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
    if phones::significant(number) > MOST_DIGITS {
        return Some(format!(
            "a phone number has at most {MOST_DIGITS} digits, and this one has more and is sent as it is: correct it"
        ));
    }
    ends_in_a_list(number).then(|| {
        "the digits after the slash may be an extension or the end of another number, and are sent as they are: keep \
         one number, and write an extension as x101"
            .into()
    })
}

/// Whether a few digits follow a whole number and a stroke: `09 555 0100 / 101`.
fn ends_in_a_list(number: &str) -> bool {
    let mut parts = number.split(" / ");
    match (parts.next(), parts.next(), parts.next()) {
        (Some(whole), Some(end), None) => {
            phones::is_whole(whole) && (2..=4).contains(&phones::digits(end)) && !whole.contains('/')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::finding::code::Severity;

    /// The code and how bad it is, notes left out.
    fn told(text: &str) -> Option<(Code, Severity)> {
        let mut reading = Reading::default();
        let told = phone(text, None, &mut reading).err().or_else(|| reading.problems.pop());
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
    fn several_numbers_in_a_cell_are_an_error() {
        for text in [
            "+64 9 555 0100 +64 9 555 0101",
            "+64 9 555 0100/+64 9 555 0101",
            "09 555 0100 +64 9 555 0101",
            "09 555 0100 - 09 555 0101",
            "(09) 555 0100 (09) 555 0101",
            "(09) 55501 (09) 55502",
            "091234567 091234568",
            "5550100 5550101",
            "5550100 - 5550101",
            "5550100 / 5550101",
            "09 555 0100 / 09 555 0101",
            "09 555 0100 / 555 0101",
            "021 1234567/7654321",
            "+64 9 555 0100 / 555 0101",
            "09 555 0100 & 09 555 0101",
            "09 555 0100, 09 555 0101",
            "09 555 0100; 101",
            "09 555 0100 | 09 555 0101",
            "5550100 oder 5550101",
            "5550100 or 101",
            "+64 9 555 0100 (office) 021 555 0101",
            "0064 9 555 0100 555 0101",
        ] {
            assert_eq!(told(text), Some((Code::CellMultipleValues, Severity::Error)), "{text}");
        }
    }

    #[test]
    fn what_is_unusual_in_a_number_is_a_warning() {
        for text in [
            "1-800-FLOWERS",
            "5,551,234",
            "5551234;",
            "++64 9 555 0100",
            "64+9 5550",
            "xx5551234xx",
            "x500",
            "555-1234 x",
            "555-1234 x5 x6",
            "555-1234#12",
            "*555 1234",
            "09 555 0100 & 101",
            "09 555 0100 / 101",
            "1234567890123456",
        ] {
            assert_eq!(told(text), Some((Code::CellPhone, Severity::Warning)), "{text}");
        }
        for text in ["5", "call me", "+"] {
            assert_eq!(told(text), Some((Code::CellPhone, Severity::Error)), "{text}");
        }
    }
}

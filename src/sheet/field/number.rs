//! Numbers that stand where text belongs, and what spreadsheet programs and scripts make of digits.

use super::{CellReading, Problem, Value, country};
use crate::sheet::cell::NumberShown;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;
use crate::sheet::table::column::{Column, Form};

/// Digits Excel keeps of a number.
const EXACT_DIGITS: usize = 15;
/// A phone number that is stored as a number has lost too much when it has fewer digits.
const PHONE_DIGITS: usize = 7;
/// Digits from which on a number in a MAC column is likely to have lost nothing but zeros in front.
const LIKELY_DIGITS: usize = 9;
/// The column of codes by which no record is recognised.
pub(super) const POSTCODE: &str = "postcode";
/// Models are named by numbers without zeros in front.
const MODEL: &str = "device_model";
const IDENTIFIER: &str = "store phone numbers, codes, keys and names as text, not as numbers";

/// A whole number.
pub(super) fn integer(text: &str) -> Result<Value, Problem> {
    let whole = text.split_once('.').map_or(text, |(whole, zeros)| {
        if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') { whole } else { text }
    });
    whole.parse().map(Value::Integer).map_err(|_| {
        Problem::new(
            Code::CellNumber,
            format!("'{}' is not a whole number: enter one such as 10", shown(text)),
        )
        .rule("a whole number")
    })
}

/// A cell that holds a number: the text to go on with, or none when all is said. `country` is that of the row.
pub(super) fn read_cell(
    column: &Column,
    text: &str,
    (value, shown): (f64, NumberShown),
    country: Option<&str>,
    reading: &mut CellReading,
) -> Option<String> {
    match column.form {
        Form::Bool => return Some(text.to_owned()),
        _ if shown == NumberShown::InWords && value.is_finite() => {
            reading.add(in_words(column.form, text));
            return None;
        }
        Form::Latitude | Form::Longitude | Form::Integer => return Some(text.to_owned()),
        _ if !value.is_finite() => {
            reading.add(beyond_all());
            return None;
        }
        Form::Mac => {
            reading.add(mac(text, value));
            return None;
        }
        _ => {}
    }
    let digits = text.trim_start_matches('-').trim_start_matches("0.").trim_start_matches('0');
    let significant = digits.chars().filter(char::is_ascii_digit).count();
    let is_whole = value.fract() == 0.0;
    if significant > EXACT_DIGITS {
        reading.add(cut_off(text, significant, is_whole));
        return None;
    }
    if shown == NumberShown::Padded {
        reading.changes.padded = text.starts_with('0');
        return Some(text.to_owned());
    }
    if column.form == Form::Phone && significant < PHONE_DIGITS {
        reading.add(too_short(text, significant));
        return None;
    }
    if !is_whole {
        return fraction(column.form, text, reading);
    }
    if let Some(whole) = whole_postcode(column, text, country) {
        reading.add(without_its_zeros(text, &whole));
        reading.restore(whole.code.clone());
        return Some(whole.code);
    }
    let is_whole = column.name == POSTCODE && country::is_whole(text, country);
    if is_whole || column.name == MODEL {
        return Some(text.to_owned());
    }
    reading.add(
        Problem::new(
            Code::CellNumericIdentifier,
            "the cell holds a number, so a leading 0 or + may be lost: format the column as Text and compare",
        )
        .rule(IDENTIFIER),
    );
    Some(text.to_owned())
}

/// A number that the sheet shows with letters or signs which are no part of it: what a person reads there is not sent.
fn in_words(form: Form, text: &str) -> Problem {
    let is_number = matches!(form, Form::Latitude | Form::Longitude | Form::Integer);
    let (code, rule, enter) = match is_number {
        true => (Code::CellNumber, "a number as it is sent", "General and enter the number"),
        false => (Code::CellNumericIdentifier, IDENTIFIER, "Text and enter the value"),
    };
    let message = format!(
        "the cell holds the number {}, and its number format shows letters or signs beside it, which would not be sent: \
         format the cell as {enter} that is to be sent",
        shown(text)
    );
    Problem::new(code, message).rule(rule).error()
}

fn beyond_all() -> Problem {
    Problem::new(
        Code::CellPrecisionLost,
        "the cell holds a number that is too large for Excel: format the column as Text and enter the value again",
    )
    .rule(IDENTIFIER)
}

fn cut_off(number: &str, digits: usize, is_whole: bool) -> Problem {
    let rest = if is_whole { " and replaces the others by zeros" } else { "" };
    Problem::new(
        Code::CellPrecisionLost,
        format!(
            "the number {} has {digits} digits, but Excel keeps only {EXACT_DIGITS}{rest}: format the column as Text and \
             enter the value again",
            shown(number)
        ),
    )
    .rule(IDENTIFIER)
}

fn too_short(number: &str, digits: usize) -> Problem {
    Problem::new(
        Code::CellNumericIdentifier,
        format!(
            "the cell holds the number {number}, with {digits} digits too short for a phone number: format the column as \
             Text and enter the number again"
        ),
    )
    .rule(IDENTIFIER)
    .error()
}

fn without_its_zeros(text: &str, whole: &country::Whole) -> Problem {
    Problem::new(
        Code::CellZeroPaddedFormat,
        format!(
            "the cell holds a number, which has no leading zeros, but the postcodes of the row's country ({}) have {} \
             digits: {text} is sent as {}. Compare it, and format the column as Text",
            whole.country, whole.digits, whole.code
        ),
    )
    .rule(IDENTIFIER)
    .warning()
    .suggest(&whole.code)
}

/// A number with a fraction: 1.10 and 1.1 are one number, and two versions, shelves or keys. Where the text says which
/// record is meant, nobody knows which.
fn fraction(form: Form, text: &str, reading: &mut CellReading) -> Option<String> {
    let is_identity = matches!(form, Form::Key | Form::Reference(_) | Form::Owner);
    let advice = if is_identity { "enter the value again" } else { "compare" };
    let problem = Problem::new(
        Code::CellNumericIdentifier,
        format!(
            "the cell holds the number {text}, so leading and trailing zeros may be lost: format the column as Text \
             and {advice}"
        ),
    )
    .rule(IDENTIFIER);
    reading.add(if is_identity { problem.error() } else { problem });
    (!is_identity).then(|| text.to_owned())
}

/// A text as it was before a program that knows only decimals wrote `.0` after it; an error when digits are gone, and
/// where the text says which record is meant: `1.0` and `1` may be two, and nobody knows whether zeros stood in front.
pub(super) fn repaired<'a>(
    column: &Column,
    text: &'a str,
    country: Option<&str>,
    reading: &mut CellReading,
) -> Result<&'a str, Problem> {
    let form = column.form;
    if !is_identifier(form) || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Ok(text);
    }
    if is_scientific(text, form == Form::Phone) {
        return Err(Problem::new(
            Code::CellScientific,
            "digits were lost when the sheet was saved as text: format the column as Text, enter the value again and \
             save the sheet once more",
        )
        .rule("all digits of the value"));
    }
    let is_passed_on = form == Form::Phone || column.name == POSTCODE;
    let Some(whole) = before_the_point(text, is_passed_on) else { return Ok(text) };
    if form == Form::Mac {
        return Err(mac(whole, whole.parse().unwrap_or_default()));
    }
    if form == Form::Name {
        return Ok(text);
    }
    if !is_passed_on {
        return Err(Problem::new(
            Code::CellNumericIdentifier,
            format!(
                "a program has written the value as the number {text}, so it may have been {whole}, with or without \
                 leading zeros: enter the right value, and save the column as text"
            ),
        )
        .rule(IDENTIFIER)
        .error()
        .suggest(whole));
    }
    if let Some(likely) = whole_postcode(column, whole, country) {
        reading.add(
            Problem::new(
                Code::CellNumericIdentifier,
                format!(
                    "a program has written the value as the number {text}, and it is sent as {whole}; the postcodes \
                     of the row's country ({}) have {} digits, so it was probably {}: enter the right value, and save \
                     the column as text",
                    likely.country, likely.digits, likely.code
                ),
            )
            .rule(IDENTIFIER)
            .suggest(likely.code),
        );
        return Ok(whole);
    }
    reading.add(
        Problem::new(
            Code::CellNumericIdentifier,
            format!(
                "a program has written the value as the number {text}; it is read as {whole}, and a leading 0 or + \
                 may be lost: save the column as text"
            ),
        )
        .rule(IDENTIFIER),
    );
    Ok(whole)
}

/// The postcode that these digits are but for zeros in front; `None` in other columns, and where that is not certain.
fn whole_postcode(column: &Column, digits: &str, country: Option<&str>) -> Option<country::Whole> {
    if column.name == POSTCODE { country::whole(digits, country) } else { None }
}

/// Forms in which digits are not a quantity.
fn is_identifier(form: Form) -> bool {
    matches!(
        form,
        Form::Name | Form::Phone | Form::Code | Form::Key | Form::Reference(_) | Form::Owner | Form::Mac
    )
}

/// The digits before a point and zero; where that was asked for, also before a comma and two zeros, as money is written.
/// Three are a thousand.
fn before_the_point(text: &str, two_zeros: bool) -> Option<&str> {
    let whole = if two_zeros {
        let (whole, zeros) = text.rsplit_once(['.', ','])?;
        matches!(zeros, "0" | "00").then_some(whole)?
    } else {
        text.strip_suffix(".0")?
    };
    all_digits(whole).then_some(whole)
}

/// Whether digits were replaced by a power of ten: `4.41235E+11`; of phones also `4.4E11`, `4.4 E+11` and `44E-1`.
fn is_scientific(text: &str, is_phone: bool) -> bool {
    let Some((mantissa, exponent)) = text.split_once(['E', 'e']) else { return false };
    let (mantissa, exponent) =
        if is_phone { (mantissa.trim_end(), exponent.trim_start()) } else { (mantissa, exponent) };
    let exponent = match exponent.strip_prefix('+') {
        Some(exponent) => exponent,
        None if is_phone => exponent.strip_prefix('-').unwrap_or(exponent),
        None => return false,
    };
    let whole_or_decimal = match mantissa.split_once(['.', ',']) {
        Some((whole, rest)) => all_digits(whole) && all_digits(rest),
        None => all_digits(mantissa),
    };
    whole_or_decimal && all_digits(exponent)
}

fn all_digits(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number where a MAC belongs. Zeros in front are gone; so are digits where Excel took an E for a power of ten, which
/// leaves zeros at the end, and then nobody knows what was there.
fn mac(text: &str, value: f64) -> Problem {
    let count = text.chars().filter(char::is_ascii_digit).count();
    let lost = if count == 12 {
        format!("Excel stored the number {text} here, so leading zeros or an exponent may be lost")
    } else {
        format!(
            "the cell holds the number {}, so leading zeros and any digits after an E are lost; a MAC address has 12 \
             hexadecimal digits and this has {count}",
            shown(text)
        )
    };
    let message = format!("{lost}: format the column as Text and enter the address again");
    let problem = Problem::new(Code::CellNumericIdentifier, message).rule(super::mac::RULE).error();
    let whole = value.fract() == 0.0 && (1.0..1e12).contains(&value) && all_digits(text);
    if !whole || text.len() < LIKELY_DIGITS || text.ends_with('0') {
        return problem;
    }
    let digits = format!("{text:0>12}");
    let pairs: Vec<&str> = (0..6).map(|pair| &digits[2 * pair..2 * pair + 2]).collect();
    let likely = pairs.join(":");
    if super::mac::is_of_a_device(&likely) { problem.suggest(likely) } else { problem }
}

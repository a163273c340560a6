//! Coordinates, and numbers that stand where text belongs.

use super::super::code::Code;
use super::super::column::{Column, Form};
use super::{Problem, Reading, Value};

/// Digits Excel keeps of a number.
const EXACT_DIGITS: usize = 15;
/// Decimal places of a coordinate: about a centimetre.
const PLACES: i32 = 7;

/// A cell that holds a number: the text to go on with, or none when all is said.
pub(super) fn read_cell(
    column: &Column,
    text: &str,
    value: f64,
    padded: bool,
    reading: &mut Reading,
) -> Option<String> {
    match column.form {
        Form::Bool | Form::Latitude | Form::Longitude => return Some(text.to_owned()),
        Form::Mac => {
            let mut problem = Problem::new(
                Code::CellNumericIdentifier,
                format!(
                    "the cell holds a number, so leading zeros and letters are lost; a MAC address has 12 hexadecimal \
                     digits, this has {}: format the column as Text and enter the address again",
                    text.len()
                ),
            )
            .rule("12 hexadecimal digits")
            .error();
            if value.fract() == 0.0 && (1.0..1e12).contains(&value) && text.len() >= 9 {
                let digits = format!("{text:0>12}");
                let pairs: Vec<&str> = (0..6).map(|pair| &digits[2 * pair..2 * pair + 2]).collect();
                problem = problem.suggest(pairs.join(":"));
            }
            reading.problems.push(problem);
            return None;
        }
        _ => {}
    }
    let digits = text.trim_start_matches('-').trim_start_matches("0.").trim_start_matches('0');
    let significant = digits.chars().filter(char::is_ascii_digit).count();
    if value.fract() == 0.0 && significant > EXACT_DIGITS {
        reading.problems.push(Problem::new(
            Code::CellPrecisionLost,
            format!("the number has {significant} digits and Excel keeps {EXACT_DIGITS}: format the column as Text and enter it again"),
        ));
        return None;
    }
    if value.fract() != 0.0 {
        reading.problems.push(
            Problem::new(
                Code::CellNumericIdentifier,
                format!("the cell holds the number {text} where text belongs: format the column as Text and enter the value again"),
            )
            .error(),
        );
        return None;
    }
    if padded {
        reading.changes.padded = true;
        return Some(text.to_owned());
    }
    let problem = Problem::new(
        Code::CellNumericIdentifier,
        "the cell holds a number; a leading 0 or + would be lost: format the column as Text",
    );
    if column.form == Form::Phone && significant < 7 {
        reading.problems.push(problem.error());
        return None;
    }
    reading.problems.push(problem);
    Some(text.to_owned())
}

/// Digits that were lost when a sheet was saved as text: `4.41235E+11`, and the `.0` of programs that know only decimals.
pub(super) fn lost_digits(form: Form, text: &str) -> Option<Problem> {
    if !matches!(form, Form::Phone | Form::Code | Form::Key | Form::Mac) {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['E', 'e'])?;
    let exponent = exponent.strip_prefix('+')?;
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let scientific =
        mantissa.split_once(['.', ',']).is_some_and(|(whole, rest)| all_digits(whole) && all_digits(rest))
            || all_digits(mantissa);
    (scientific && all_digits(exponent)).then(|| {
        Problem::new(
            Code::CellScientific,
            "digits were lost when the sheet was saved as text: format the column as Text and enter the value again",
        )
    })
}

/// Decimal degrees.
pub(super) fn degrees(text: &str, is_latitude: bool, comma_is_free: bool) -> Result<Value, Problem> {
    let rule =
        if is_latitude { "decimal degrees from -90 to 90" } else { "decimal degrees from -180 to 180" };
    if let Some((left, right)) = text.split_once([',', ';', ' ']) {
        let (left, right) = (left.trim(), right.trim_matches([' ', ',', ';']));
        if left.contains('.')
            && let (Some(latitude), Some(longitude)) = (decimal(left), decimal(right))
        {
            let own = if is_latitude { latitude } else { longitude };
            return Err(Problem::new(
                Code::CellCoordsPair,
                "the cell holds both coordinates: put latitude and longitude in columns of their own",
            )
            .rule(rule)
            .suggest(own.to_string()));
        }
    }
    let text = if text.contains(',') {
        let dotted = text.replacen(',', ".", 1);
        match decimal(&dotted) {
            Some(_) if comma_is_free && !text.contains('.') => dotted,
            Some(value) => {
                return Err(Problem::new(Code::CellDecimalComma, "write the number with a dot, not a comma")
                    .rule(rule)
                    .suggest(value.to_string()));
            }
            None => text.to_owned(),
        }
    } else {
        text.to_owned()
    };
    let Some(value) = decimal(&text) else {
        if let Some(value) = sexagesimal(&text) {
            return Err(Problem::new(Code::CellDms, "write the coordinate in decimal degrees")
                .rule(rule)
                .suggest(round(value).to_string()));
        }
        return Err(Problem::new(Code::CellNumber, "this is not a number in decimal degrees").rule(rule));
    };
    let limit = if is_latitude { 90.0 } else { 180.0 };
    if value.abs() <= limit {
        return Ok(Value::Number(round(value)));
    }
    if is_latitude && value.abs() <= 180.0 {
        return Err(Problem::new(
            Code::CellCoordsSwapped,
            "a latitude lies between -90 and 90; this fits a longitude: are the two columns swapped?",
        )
        .rule(rule));
    }
    Err(Problem::new(Code::CellRange, format!("the value must lie between -{limit} and {limit}")).rule(rule))
}

/// A decimal number as people write it: `51.5`, `.5`, `5.`, `+5`, and nothing more clever.
fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let good = all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && text.len() <= 40;
    if good { text.parse().ok() } else { None }
}

/// Degrees, minutes and seconds, or degrees with a compass letter.
fn sexagesimal(text: &str) -> Option<f64> {
    let upper = text.to_uppercase();
    let south_or_west = upper.contains(['S', 'W']);
    let letters: String = upper.chars().filter(|c| c.is_alphabetic()).collect();
    let compass = |c: char| "NSEWO".contains(c);
    let at_an_end = upper.starts_with(compass) || upper.ends_with(compass);
    if letters.chars().count() > 1 || !(letters.is_empty() || at_an_end) {
        return None;
    }
    let parts: Option<Vec<f64>> = upper
        .split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
        .filter(|part| !part.is_empty())
        .map(decimal)
        .collect();
    let parts = parts?;
    let (degrees, minutes, seconds) = match parts.as_slice() {
        [degrees] if !letters.is_empty() || text.contains('°') => (*degrees, 0.0, 0.0),
        [degrees, minutes] => (*degrees, *minutes, 0.0),
        [degrees, minutes, seconds] => (*degrees, *minutes, *seconds),
        _ => return None,
    };
    if !(0.0..60.0).contains(&minutes) || !(0.0..60.0).contains(&seconds) {
        return None;
    }
    let value = degrees.abs() + minutes / 60.0 + seconds / 3600.0;
    Some(if south_or_west || degrees.is_sign_negative() { -value } else { value })
}

/// At most seven decimal places; a float of Excel such as 51.507400000000004 becomes what was typed.
fn round(value: f64) -> f64 {
    let factor = 10_f64.powi(PLACES);
    let rounded = (value * factor).round() / factor;
    if rounded == 0.0 { 0.0 } else { rounded }
}

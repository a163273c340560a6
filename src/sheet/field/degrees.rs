//! Coordinates in decimal degrees, and the other ways in which people write them.

use super::super::code::Code;
use super::super::finding::shown;
use super::{Problem, Value};

/// Decimal places of a coordinate: about a centimetre.
const PLACES: i32 = 7;

/// Decimal degrees.
pub(super) fn degrees(text: &str, is_latitude: bool, comma_is_free: bool) -> Result<Value, Problem> {
    let rule =
        if is_latitude { "decimal degrees from -90 to 90" } else { "decimal degrees from -180 to 180" };
    if let Some((latitude, longitude)) = pair(text) {
        let own = if is_latitude { latitude } else { longitude };
        return Err(Problem::new(
            Code::CellCoordsPair,
            "the cell holds both coordinates: put latitude and longitude in columns of their own",
        )
        .rule(rule)
        .suggest(round(own).to_string()));
    }
    let text = if text.contains(',') {
        let dotted = text.replacen(',', ".", 1);
        match decimal(&dotted) {
            Some(_) if comma_is_free && !text.contains('.') => dotted,
            Some(value) => {
                return Err(Problem::new(
                    Code::CellDecimalComma,
                    "the number has a decimal comma: write it with a dot",
                )
                .rule(rule)
                .suggest(value.to_string()));
            }
            // With separators between the thousands there is no saying which sign is which.
            None if text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '-' | '+')) => {
                return Err(Problem::new(
                    Code::CellDecimalComma,
                    "the number has a comma and other separators: write it with one dot and nothing else",
                )
                .rule(rule));
            }
            None => text.to_owned(),
        }
    } else {
        text.to_owned()
    };
    let Some(value) = decimal(&text) else {
        if let Some(value) = sexagesimal(&text) {
            return Err(Problem::new(Code::CellDms, "the coordinate is in degrees and minutes, or has a compass letter: write it in decimal degrees")
                .rule(rule)
                .suggest(round(value).to_string()));
        }
        return Err(Problem::new(
            Code::CellNumber,
            format!(
                "'{}' is not a number in decimal degrees: enter one such as -36.8485",
                shown(text.as_str())
            ),
        )
        .rule(rule));
    };
    let limit = if is_latitude { 90.0 } else { 180.0 };
    if value.abs() <= limit {
        return Ok(Value::Number(round(value)));
    }
    if is_latitude && value.abs() <= 180.0 {
        return Err(Problem::new(
            Code::CellCoordsSwapped,
            "a latitude lies between -90 and 90, and this fits a longitude: swap the two columns if they are swapped",
        )
        .rule(rule));
    }
    let advice = if value.fract() == 0.0 {
        "perhaps its decimal point was lost; enter it again"
    } else {
        "correct it"
    };
    Err(Problem::new(
        Code::CellRange,
        format!("the value does not lie between -{limit} and {limit}: {advice}"),
    )
    .rule(rule))
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

/// Both coordinates in one cell, latitude first: `51.5, -0.12`, `51°30'26"N 0°7'39"W`.
fn pair(text: &str) -> Option<(f64, f64)> {
    if let Some((left, right)) = text.split_once([',', ';', ' ']) {
        let spaced = right.starts_with(' ') || text.contains(';');
        let (left, right) = (left.trim(), right.trim_matches([' ', ',', ';']));
        if (spaced || (left.contains('.') && right.contains('.')))
            && let (Some(latitude), Some(longitude)) = (decimal(left), decimal(right))
        {
            return Some((latitude, longitude));
        }
    }
    let end = text.find(['N', 'S', 'n', 's'])? + 1;
    let (left, right) = text.split_at(end);
    let right = right.trim_start_matches([' ', ',', ';']);
    right
        .ends_with(['E', 'W', 'e', 'w', 'O'])
        .then(|| Some((sexagesimal(left.trim())?, sexagesimal(right.trim())?)))?
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

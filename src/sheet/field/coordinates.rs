//! Coordinates in decimal degrees, and what is reported of those that are written in another way.
//!
//! Degrees and minutes, compass letters and both coordinates in one cell are errors with the decimal value as suggestion,
//! where the text can be read in one way only. What is suggested can be pasted: it is a value of its axis.

use super::{Problem, Value};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Characters of the longest coordinate that is looked at.
const LONGEST: usize = 80;
/// Decimal places of a coordinate: about a centimetre.
const PLACES: i32 = 7;

/// Which of the two coordinates a column holds.
#[derive(Debug, Clone, Copy)]
struct Axis {
    is_latitude: bool,
    limit: f64,
    rule: &'static str,
}

impl Axis {
    fn of(is_latitude: bool) -> Self {
        if is_latitude {
            Self { is_latitude, limit: 90.0, rule: "decimal degrees from -90 to 90" }
        } else {
            Self { is_latitude, limit: 180.0, rule: "decimal degrees from -180 to 180" }
        }
    }

    fn has(self, value: f64) -> bool {
        value.abs() <= self.limit
    }

    fn problem(self, code: Code, message: impl Into<String>) -> Problem {
        Problem::new(code, message).rule(self.rule)
    }

    /// The same with the value that is meant, unless that is not known or cannot be one.
    fn meant(self, problem: Problem, value: Option<f64>) -> Problem {
        match value.filter(|value| self.has(*value)) {
            Some(value) => problem.suggest(round(value).to_string()),
            None => problem,
        }
    }
}

/// Decimal degrees.
pub(super) fn degrees(text: &str, is_latitude: bool, comma_is_free: bool) -> Result<Value, Problem> {
    let axis = Axis::of(is_latitude);
    let plain = plain(text);
    if let Some((latitude, longitude)) = pair(&plain) {
        return Err(both(axis, latitude, longitude));
    }
    let dotted = if text.contains(',') { with_point(axis, text, comma_is_free)? } else { None };
    let Some(value) = decimal(dotted.as_deref().unwrap_or(text)) else {
        return Err(match angle(&plain) {
            Some(angle) => in_other_form(axis, angle),
            None => axis.problem(
                Code::CellNumber,
                format!("'{}' is not a number in decimal degrees: enter one such as -36.8485", shown(text)),
            ),
        });
    };
    if axis.has(value) { Ok(Value::Number(round(value))) } else { Err(beyond(axis, value)) }
}

/// The text with a point for its decimal comma, where commas are free to be one; `None` where its comma is none.
fn with_point(axis: Axis, text: &str, comma_is_free: bool) -> Result<Option<String>, Problem> {
    let dotted = text.replacen(',', ".", 1);
    match decimal(&dotted) {
        Some(_) if comma_is_free => Ok(Some(dotted)),
        Some(value) => {
            let message = format!("'{}' has a decimal comma: write it with a dot", shown(text));
            let problem = axis.problem(Code::CellDecimalComma, message);
            Err(axis.meant(problem, Some(value)))
        }
        // With separators between the thousands there is no saying which sign is which.
        None if text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | ' ' | '-' | '+')) => {
            Err(axis.problem(
                Code::CellDecimalComma,
                format!(
                    "'{}' has a comma and other separators: write it with one dot and nothing else",
                    shown(text)
                ),
            ))
        }
        None => Ok(None),
    }
}

/// The finding for a cell that holds both coordinates.
fn both(axis: Axis, latitude: Angle, longitude: Angle) -> Problem {
    let (own, other) = if axis.is_latitude { (latitude, longitude) } else { (longitude, latitude) };
    // Where one cannot be what it should be, they may stand in another order.
    let fits = other.value.is_none_or(|value| Axis::of(!axis.is_latitude).has(value));
    let advice = match (latitude.value, longitude.value) {
        (Some(latitude), Some(longitude)) if fits && own.value.is_some_and(|value| axis.has(value)) => {
            format!(
                "enter {} in the column latitude and {} in the column longitude",
                round(latitude),
                round(longitude)
            )
        }
        _ => "put latitude and longitude into separate columns".to_owned(),
    };
    let problem = axis.problem(Code::CellCoordsPair, format!("the cell holds both coordinates: {advice}"));
    axis.meant(problem, own.value.filter(|_| fits))
}

/// The finding for degrees and minutes, or a compass letter.
fn in_other_form(axis: Axis, angle: Angle) -> Problem {
    if angle.is_of_latitude().is_some_and(|is_of_latitude| is_of_latitude != axis.is_latitude) {
        let (found, wanted) = if axis.is_latitude {
            ("east or west is a longitude", "latitudes")
        } else {
            ("north or south is a latitude", "longitudes")
        };
        return axis.problem(
            Code::CellCoordsSwapped,
            format!("{found}, but this is the {wanted} column: if the two columns are swapped, correct them"),
        );
    }
    let message = match angle.value {
        Some(value) if !axis.has(value) => return beyond(axis, value),
        Some(_) => {
            "the coordinate is in degrees and minutes, or has a compass letter: write it in decimal degrees"
        }
        None if angle.compass == Some(Compass::EastOrWest) => {
            "the letter O is east in one language and west in another: write decimal degrees, west as a negative number"
        }
        None => {
            "the coordinate can be read in more than one way: write it in decimal degrees, south and west as negative \
             numbers"
        }
    };
    axis.meant(axis.problem(Code::CellDms, message), angle.value)
}

/// The finding for a number that no such coordinate has.
fn beyond(axis: Axis, value: f64) -> Problem {
    if axis.is_latitude && Axis::of(false).has(value) {
        return axis.problem(
            Code::CellCoordsSwapped,
            "a latitude is between -90 and 90, and this value looks like a longitude: if the two columns are swapped, \
             correct them",
        );
    }
    let advice = if value.fract() == 0.0 {
        "perhaps its decimal point was lost; enter it again"
    } else {
        "correct it"
    };
    let limit = axis.limit;
    axis.problem(Code::CellRange, format!("the value is not between -{limit} and {limit}: {advice}"))
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

/// At most seven decimal places; a float of Excel such as 51.507400000000004 becomes what was typed.
fn round(value: f64) -> f64 {
    let factor = 10_f64.powi(PLACES);
    let rounded = (value * factor).round() / factor;
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// One coordinate with degrees, minutes and seconds, or with a compass letter.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Angle {
    /// In decimal degrees; absent where the text can be read in more than one way.
    value: Option<f64>,
    compass: Option<Compass>,
}

/// Which way a compass letter points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compass {
    North,
    South,
    East,
    West,
    /// The O that is east in German (Ost) and west in French, Italian and Spanish (ouest, ovest, oeste).
    EastOrWest,
}

/// Compass letters and words in small letters, those before others that they contain.
const COMPASS: [(&str, Compass); 9] = [
    ("north", Compass::North),
    ("south", Compass::South),
    ("east", Compass::East),
    ("west", Compass::West),
    ("n", Compass::North),
    ("s", Compass::South),
    ("e", Compass::East),
    ("w", Compass::West),
    ("o", Compass::EastOrWest),
];

impl Angle {
    fn is_of_latitude(&self) -> Option<bool> {
        self.compass.map(|compass| match compass {
            Compass::North | Compass::South => true,
            Compass::East | Compass::West | Compass::EastOrWest => false,
        })
    }
}

/// The text in small letters with one sign each for degrees, minutes and seconds.
fn plain(text: &str) -> String {
    let lower = text.to_lowercase().replace("degrees", "°").replace("deg", "°").replace("''", "\"");
    let is_digit = |c: char| c.is_ascii_digit();
    let mut plain = String::with_capacity(lower.len());
    for (at, c) in lower.char_indices() {
        plain.push(match c {
            // The raised o that many keyboards have in place of the sign of degrees.
            'o' if plain.ends_with(is_digit) && lower[at..].contains(is_digit) => '°',
            // What normalisation leaves of a ring and of an acute accent: a mark above a space.
            '\u{30a}' => '°',
            '’' | '′' | '\u{301}' => '\'',
            '”' | '″' => '"',
            c if c.is_whitespace() => ' ',
            c => c,
        });
    }
    plain
}

/// Reads one coordinate out of a plain text: a sign or a compass letter, and up to three numbers with their signs.
fn angle(text: &str) -> Option<Angle> {
    let text = text.trim();
    if text.chars().count() > LONGEST {
        return None;
    }
    let at_an_end = |(word, compass): &(&str, Compass)| {
        let rest = text.strip_suffix(word).or_else(|| text.strip_prefix(word))?;
        Some((*compass, rest.trim()))
    };
    let (compass, rest) =
        COMPASS.iter().find_map(at_an_end).map_or((None, text), |(compass, rest)| (Some(compass), rest));
    let sign = rest.chars().next().filter(|c| matches!(c, '-' | '+'));
    let mut rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let (mut size, mut count, mut is_marked, mut is_fraction) = (0.0, 0, false, false);
    for (share, mark) in [(1.0, '°'), (60.0, '\''), (3600.0, '"')] {
        if rest.is_empty() {
            break;
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let dotted = if digits.contains('.') { digits.to_owned() } else { digits.replacen(',', ".", 1) };
        let value = decimal(&dotted)?;
        let whole = dotted.find('.').unwrap_or(dotted.len());
        let is_part = count > 0;
        if whole > 3 || is_fraction || (is_part && (whole > 2 || value >= 60.0)) {
            return None;
        }
        is_fraction = dotted.contains('.');
        size += value / share;
        count += 1;
        rest = after.trim_start();
        if let Some(after) =
            rest.strip_prefix(mark).or_else(|| rest.strip_prefix(':').filter(|rest| !rest.is_empty()))
        {
            is_marked = true;
            rest = after.trim_start();
        } else if !rest.is_empty() && rest.len() == after.len() {
            return None;
        }
    }
    if !rest.is_empty() || count == 0 {
        return None;
    }
    // Two bare numbers may be both coordinates.
    let is_certain = count != 2 || is_marked || compass.is_some();
    let minus = match (sign.map(|sign| sign == '-'), compass) {
        (sign, None) => Some(sign.unwrap_or(false)),
        (_, Some(Compass::EastOrWest)) => None,
        (sign, Some(compass)) => {
            let minus = matches!(compass, Compass::South | Compass::West);
            sign.is_none_or(|sign| sign == minus).then_some(minus)
        }
    };
    let value = minus.filter(|_| is_certain).map(|minus| if minus { -size } else { size });
    Some(Angle { value, compass })
}

/// Both coordinates in one plain text, latitude first unless letters say otherwise: `51.5, -0.12`, `51°30'26"n 0°7'39"w`.
fn pair(text: &str) -> Option<(Angle, Angle)> {
    if text.chars().count() > 2 * LONGEST {
        return None;
    }
    let inner = text.strip_prefix(['(', '[']).and_then(|text| text.strip_suffix([')', ']']));
    let text = inner.unwrap_or(text).trim();
    let separates = |c: char| matches!(c, ' ' | ',' | ';' | '/' | '|');
    text.match_indices(separates).find_map(|(at, _)| {
        let left = text[..at].trim_end_matches(separates);
        let right = text[at..].trim_start_matches(separates);
        let between = &text[left.len()..text.len() - right.len()];
        let (first, second) = (angle(left)?, angle(right)?);
        let have = |sign: char| left.contains(sign) && right.contains(sign);
        let are_two = between.contains([';', '|'])
            || (between.starts_with(',') && between.len() > 1)
            || have('.')
            || have('°')
            || (have(',') && between != ",");
        match (first.is_of_latitude(), second.is_of_latitude()) {
            (Some(true), Some(false)) => Some((first, second)),
            (Some(false), Some(true)) => Some((second, first)),
            (None, None) if are_two => Some((first, second)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The code that is reported, and what is suggested.
    fn told(text: &str, is_latitude: bool, comma_is_free: bool) -> (Option<Code>, Option<String>) {
        match degrees(text, is_latitude, comma_is_free) {
            Ok(_) => (None, None),
            Err(problem) => (Some(problem.code), problem.suggestion),
        }
    }

    #[test]
    fn a_longitude_has_letters_and_limits_of_its_own() {
        let table = [
            ("0,12 W", Code::CellDms, Some("-0.12")),
            ("174.7 E", Code::CellDms, Some("174.7")),
            ("12.5 O", Code::CellDms, None),
            ("36.8 S", Code::CellCoordsSwapped, None),
            ("180.5 E", Code::CellRange, None),
            ("51.5, -0.12", Code::CellCoordsPair, Some("-0.12")),
            ("51.5 N, 12.5 O", Code::CellCoordsPair, None),
            ("51°30'0\" 0°30'0\"", Code::CellCoordsPair, Some("0.5")),
            ("(51,5; -0,12)", Code::CellCoordsPair, Some("-0.12")),
            ("51 30 N 0 7 30 W", Code::CellCoordsPair, Some("-0.125")),
        ];
        for (text, code, suggestion) in table {
            assert_eq!(told(text, false, true), (Some(code), suggestion.map(str::to_owned)), "{text:?}");
        }
        assert_eq!(told("1747645,5", false, false), (Some(Code::CellDecimalComma), None));
        assert_eq!(told("174,7645", true, false), (Some(Code::CellDecimalComma), None));
        assert_eq!(told("174,7645", false, false).1.as_deref(), Some("174.7645"));
    }

    #[test]
    fn the_message_about_a_pair_has_both_values_where_they_are_known() {
        let words = |text: &str, is_latitude| degrees(text, is_latitude, true).expect_err("a pair").message;
        for is_latitude in [true, false] {
            assert_eq!(
                words("51.5 N, 0.12 W", is_latitude),
                "the cell holds both coordinates: enter 51.5 in the column latitude and -0.12 in the column longitude"
            );
            assert_eq!(
                words("51.5 N, 12.5 O", is_latitude),
                "the cell holds both coordinates: put latitude and longitude into separate columns"
            );
        }
    }

    #[test]
    fn a_coordinate_is_read_by_its_marks_and_letters_and_never_by_guess() {
        let table = [
            ("51.5 N", Some(Some(51.5))),
            ("36.8 degrees south", Some(Some(-36.8))),
            ("S 36.8", Some(Some(-36.8))),
            ("-36.8 S", Some(Some(-36.8))),
            ("51°30", Some(Some(51.5))),
            ("51° 30′ 0″ N", Some(Some(51.5))),
            ("51°30'0''N", Some(Some(51.5))),
            ("51o30'0\"S", Some(Some(-51.5))),
            ("51:30:00", Some(Some(51.5))),
            ("51 30 00", Some(Some(51.5))),
            ("51 30 N", Some(Some(51.5))),
            ("51 30", Some(None)),
            ("12.5 O", Some(None)),
            ("-36.8 N", Some(None)),
            ("1 000", None),
            ("51°60'", None),
            ("51.5°30'", None),
            ("51'30\"", None),
            ("51:", None),
            ("N 51.5 N", None),
            ("1e2", None),
            ("N", None),
            ("", None),
            ("51 30 26 10", None),
            ("--5", None),
            ("1234.5 N", None),
        ];
        for (text, expected) in table {
            assert_eq!(angle(&plain(text)).map(|angle| angle.value), expected, "{text:?}");
        }
    }

    proptest! {
        /// Whatever is suggested for a coordinate is one, and there is nothing more to say of it.
        #[test]
        fn a_suggestion_reads_back(
            pieces in prop::collection::vec(
                prop_oneof![
                    "[0-9]{1,4}", "[0-9]{1,3}[.,][0-9]{1,9}",
                    prop::sample::select(vec![
                        " ", "", "°", "'", "\"", "''", "′", ":", "-", "+", ",", ", ", ";", "/", "N", "S", "E", "W", "O",
                        " s", "north", "deg", "o", "(", ")",
                    ]).prop_map(str::to_owned),
                ],
                0..9,
            ),
            is_latitude: bool,
            comma_is_free: bool,
        ) {
            let text = pieces.concat();
            if let Some(suggestion) = told(text.trim(), is_latitude, comma_is_free).1 {
                prop_assert_eq!(told(&suggestion, is_latitude, false), (None, None), "{} of {}", suggestion, text);
            }
        }

        /// A coordinate written in degrees, minutes and seconds is suggested as it was.
        #[test]
        fn degrees_minutes_and_seconds_come_back(
            whole in 0_u32..180, minutes in 0_u32..60, tenths in 0_u32..600, is_minus: bool, form in 0..4
        ) {
            let (letter, sign) = if is_minus { ("W", "-") } else { ("E", "") };
            let seconds = f64::from(tenths) / 10.0;
            let text = match form {
                0 => format!("{whole}°{minutes}'{seconds}\"{letter}"),
                1 => format!("{letter} {whole}° {minutes}′ {seconds}″"),
                2 => format!("{sign}{whole}:{minutes:02}:{seconds}"),
                _ => format!("{whole} {minutes} {seconds} {letter}").replace('.', ","),
            };
            let size = f64::from(whole) + f64::from(minutes) / 60.0 + seconds / 3600.0;
            let meant: f64 = told(&text, false, true).1.expect("a suggestion").parse().expect("a number");
            prop_assert!((meant - if is_minus { -size } else { size }).abs() < 1e-6, "{}: {}", text, meant);
        }
    }
}

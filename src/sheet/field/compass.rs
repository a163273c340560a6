//! A coordinate as maps and instruments write it: degrees, minutes and seconds, compass letters.
//!
//! A text that can be meant in two ways has no value here. Two coordinates in one text are left to `pair`, and whether a
//! value fits its column to `degrees`.

use super::degrees::decimal;

/// Characters of the longest text that is looked at.
pub(super) const LONGEST: usize = 80;

/// Which way a compass letter points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compass {
    North,
    South,
    East,
    West,
    /// The O that is east in German (Ost) and west in French, Italian and Spanish (ouest, ovest, oeste).
    EastOrWest,
}

impl Compass {
    fn of(word: &str) -> Option<Self> {
        Some(match word.to_lowercase().as_str() {
            "n" | "north" => Self::North,
            "s" | "south" => Self::South,
            "e" | "east" => Self::East,
            "w" | "west" => Self::West,
            "o" => Self::EastOrWest,
            _ => return None,
        })
    }

    pub(super) fn is_of_latitude(self) -> bool {
        match self {
            Self::North | Self::South => true,
            Self::East | Self::West | Self::EastOrWest => false,
        }
    }

    /// Whether it makes the value negative, where that is certain.
    fn is_minus(self) -> Option<bool> {
        match self {
            Self::North | Self::East => Some(false),
            Self::South | Self::West => Some(true),
            Self::EastOrWest => None,
        }
    }
}

/// One coordinate as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Angle {
    /// Degrees without the sign.
    size: f64,
    /// The sign in front of the digits: whether it is a minus.
    sign: Option<bool>,
    pub(super) compass: Option<Compass>,
    /// Whether a sign for degrees stands behind the first number.
    pub(super) has_degrees: bool,
    /// Whether the text can be meant in one way only.
    is_certain: bool,
}

impl Angle {
    /// The same where something beside it makes it uncertain.
    pub(super) fn doubted(self) -> Self {
        Self { is_certain: false, ..self }
    }

    /// Decimal degrees; `None` where there is more than one way to read the text.
    pub(super) fn value(&self) -> Option<f64> {
        let minus = match (self.sign, self.compass) {
            (sign, None) => sign.unwrap_or(false),
            (None, Some(compass)) => compass.is_minus()?,
            (Some(sign), Some(compass)) => compass.is_minus().filter(|minus| *minus == sign)?,
        };
        self.is_certain.then_some(if minus { -self.size } else { self.size })
    }
}

/// A sign between or behind numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Degrees,
    Minutes,
    Seconds,
    Colon,
}

/// A piece of a coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
    Mark(Mark),
    /// Whether it is a minus.
    Sign(bool),
    Space,
}

/// A number and the sign behind it.
#[derive(Debug, Clone, Copy)]
struct Group<'a> {
    digits: &'a str,
    mark: Option<Mark>,
}

/// The pieces of a text; `None` when it has others than coordinates have.
fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = |of: fn(char) -> bool| rest.find(|c: char| !of(c)).unwrap_or(rest.len());
        let (token, length) = match c {
            '0'..='9' | '.' | ',' => {
                let length = run(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
                (Token::Number(&rest[..length]), length)
            }
            '-' | '+' => (Token::Sign(c == '-'), 1),
            // The ring above a space is what is left of a ring that is no sign of degrees, and the acute of one of minutes.
            '°' | '\u{30a}' => (Token::Mark(Mark::Degrees), c.len_utf8()),
            '\'' | '’' | '′' | '\u{301}' => (Token::Mark(Mark::Minutes), c.len_utf8()),
            '"' | '”' | '″' => (Token::Mark(Mark::Seconds), c.len_utf8()),
            ':' => (Token::Mark(Mark::Colon), 1),
            c if c.is_whitespace() => (Token::Space, run(char::is_whitespace)),
            c if c.is_alphabetic() => {
                let length = run(char::is_alphabetic);
                (Token::Word(&rest[..length]), length)
            }
            _ => return None,
        };
        let is_second = token == Token::Mark(Mark::Minutes) && tokens.last() == Some(&token);
        if is_second {
            tokens.pop();
            tokens.push(Token::Mark(Mark::Seconds));
        } else {
            tokens.push(token);
        }
        rest = &rest[length..];
    }
    Some(tokens)
}

/// What the pieces are in their order: numbers with their signs, and what stands around them.
#[derive(Debug, Default)]
struct Pieces<'a> {
    groups: Vec<Group<'a>>,
    sign: Option<bool>,
    compass: Option<Compass>,
    /// Whether the letter stands in front and touches the digits: `N5` may be a name of something else.
    is_prefixed: bool,
    /// Whether the letter is a small s, which may stand for seconds.
    is_small_s: bool,
}

fn pieces(text: &str) -> Option<Pieces<'_>> {
    let tokens = tokens(text)?;
    let mut pieces = Pieces::default();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        match *token {
            Token::Space => {}
            Token::Number(digits) => pieces.groups.push(Group { digits, mark: None }),
            Token::Sign(minus) => {
                let is_first = pieces.groups.is_empty() && pieces.sign.is_none();
                if !is_first || !matches!(next, Some(Token::Number(_))) {
                    return None;
                }
                pieces.sign = Some(minus);
            }
            Token::Mark(mark) => {
                let group = pieces.groups.last_mut().filter(|group| group.mark.is_none())?;
                group.mark = Some(mark);
            }
            Token::Word(word) => {
                let after_number = at > 0 && matches!(tokens[at - 1], Token::Number(_));
                // An o between numbers is the raised one that many keyboards have in place of the sign of degrees.
                let is_ring = word == "o" && after_number && tokens[at + 1..].iter().any(is_number);
                if is_ring || matches!(word.to_lowercase().as_str(), "deg" | "degrees") {
                    let group = pieces.groups.last_mut().filter(|group| group.mark.is_none())?;
                    group.mark = Some(Mark::Degrees);
                    continue;
                }
                let is_at_an_end = at == 0 || at + 1 == tokens.len();
                if !is_at_an_end || pieces.compass.is_some() {
                    return None;
                }
                pieces.compass = Some(Compass::of(word)?);
                pieces.is_prefixed = at == 0 && next.is_some_and(is_number);
                pieces.is_small_s = word == "s" && at > 0;
            }
        }
    }
    Some(pieces)
}

fn is_number(token: &Token<'_>) -> bool {
    matches!(token, Token::Number(_))
}

/// Reads one coordinate.
pub(super) fn angle(text: &str) -> Option<Angle> {
    if text.chars().count() > LONGEST {
        return None;
    }
    let pieces = pieces(text)?;
    let (last, before) = pieces.groups.split_last()?;
    if !before.iter().all(|group| group.digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let expected = [Mark::Degrees, Mark::Minutes, Mark::Seconds];
    let colons = pieces.groups.iter().filter(|group| group.mark == Some(Mark::Colon)).count();
    let is_in_order = pieces.groups.len() <= 3
        && pieces
            .groups
            .iter()
            .zip(expected)
            .all(|(group, own)| group.mark.is_none_or(|mark| mark == own || mark == Mark::Colon));
    if !is_in_order || last.mark == Some(Mark::Colon) || (colons > 0 && colons != before.len()) {
        return None;
    }
    let mut size = 0.0;
    for (at, (group, share)) in pieces.groups.iter().zip([1.0, 60.0, 3600.0]).enumerate() {
        let (whole, value) = number(group.digits)?;
        let is_part = whole <= 2 && value < 60.0;
        if at > 0 && !is_part || whole > 3 {
            return None;
        }
        size += value / share;
    }
    Some(Angle {
        size,
        sign: pieces.sign,
        compass: pieces.compass,
        has_degrees: pieces.groups[0].mark == Some(Mark::Degrees),
        is_certain: is_certain(&pieces),
    })
}

/// The digits before the point, and the value, of a number with a point or a decimal comma.
fn number(digits: &str) -> Option<(usize, f64)> {
    let dotted = match digits.matches(',').count() {
        0 => digits.to_owned(),
        1 if !digits.contains('.') => digits.replace(',', "."),
        _ => return None,
    };
    let value = decimal(&dotted)?;
    Some((dotted.find('.').unwrap_or(dotted.len()), value))
}

/// Whether the pieces can be meant in one way only.
fn is_certain(pieces: &Pieces<'_>) -> bool {
    let whole = |group: &Group<'_>| group.digits.split(['.', ',']).next().map_or(0, str::len);
    match pieces.groups.as_slice() {
        [one] => !pieces.is_prefixed || one.mark.is_some() || one.digits.contains(['.', ',']),
        // Two bare numbers may be both coordinates, and a single digit a fraction.
        [first, second] => {
            let is_told = first.mark.is_some() || second.mark.is_some() || pieces.compass.is_some();
            let is_minutes = second.mark.is_some() || whole(second) == 2;
            is_told && is_minutes && !(pieces.is_small_s && second.mark.is_none())
        }
        groups => !(pieces.is_small_s && groups.last().is_some_and(|last| last.mark.is_none())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coordinate_is_read_by_its_marks_and_letters_and_never_by_guess() {
        let table = [
            ("51.5 N", Some(Some(51.5))),
            ("51,5N", Some(Some(51.5))),
            ("0,12 W", Some(Some(-0.12))),
            ("36.8 South", Some(Some(-36.8))),
            ("36.8 degrees south", Some(Some(-36.8))),
            ("S 36.8", Some(Some(-36.8))),
            ("N51.5", Some(Some(51.5))),
            ("-36.8 S", Some(Some(-36.8))),
            ("51°", Some(Some(51.0))),
            ("51°30'", Some(Some(51.5))),
            ("51°30", Some(Some(51.5))),
            ("51° 30′ 0″ N", Some(Some(51.5))),
            ("51°30’0”N", Some(Some(51.5))),
            ("51°30'0''N", Some(Some(51.5))),
            ("51o30'0\"S", Some(Some(-51.5))),
            ("51 \u{30a} 30' N", Some(Some(51.5))),
            ("51:30:00", Some(Some(51.5))),
            ("51:30'", Some(Some(51.5))),
            ("51 30 00", Some(Some(51.5))),
            ("51 30 N", Some(Some(51.5))),
            ("51 30' N", Some(Some(51.5))),
            ("W 0 7 30", Some(Some(-0.125))),
            ("51 30,0 N", Some(Some(51.5))),
            // What can be meant in two ways.
            ("51 30", Some(None)),
            ("51°3", Some(None)),
            ("51 3 N", Some(None)),
            ("51 30 26 s", Some(None)),
            ("12.5 O", Some(None)),
            ("O 12.5", Some(None)),
            ("-36.8 N", Some(None)),
            ("+36.8 S", Some(None)),
            ("S1", Some(None)),
            ("E10", Some(None)),
            // What is none.
            ("1 000", None),
            ("1'000", None),
            ("1.234,5", None),
            ("1/2", None),
            ("1\u{2044}2", None),
            ("51·5", None),
            ("51°60'", None),
            ("51°30'60\"", None),
            ("51.5°30'", None),
            ("51'30\"", None),
            ("51:30 26", None),
            ("51:", None),
            ("51°30'26\"5", None),
            ("51-30-26 N", None),
            ("N 51.5 N", None),
            ("N 51.5 W", None),
            ("1e2", None),
            ("NaN", None),
            ("N", None),
            ("", None),
            ("51.5 Nord", None),
            ("51 30 26 10", None),
            ("--5", None),
            ("- 5", None),
            ("1234.5 N", None),
            ("51,507,4 N", None),
        ];
        for (text, expected) in table {
            assert_eq!(angle(text).map(|angle| angle.value()), expected, "{text:?}");
        }
    }
}

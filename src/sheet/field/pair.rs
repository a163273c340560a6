//! Both coordinates in one cell, as maps copy them.

use super::compass::{Angle, Compass, LONGEST, angle};

/// Both coordinates in one text, latitude first unless letters say otherwise: `51.5, -0.12`, `51°30'26"N 0°7'39"W`.
pub(super) fn pair(text: &str) -> Option<(Angle, Angle)> {
    if text.chars().count() > 2 * LONGEST {
        return None;
    }
    let inner = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| {
        let inner = text.strip_prefix(open)?.strip_suffix(close)?;
        Some(inner.trim())
    });
    let text = inner.unwrap_or(text);
    let separates = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '/' | '|');
    let places = text.char_indices().map(|(at, _)| at).skip(1);
    places
        .filter_map(|at| {
            let left = text[..at].trim_end_matches(separates);
            let right = text[at..].trim_start_matches(separates);
            let between = &text[left.len()..text.len() - right.len()];
            both((angle(left)?, left), between, (angle(right)?, right))
        })
        .next()
}

/// Two coordinates with this between them, where they are a latitude and a longitude.
fn both(
    (first, left): (Angle, &str),
    between: &str,
    (second, right): (Angle, &str),
) -> Option<(Angle, Angle)> {
    let is_strong = between.contains([';', '|']) || (between.starts_with(',') && between.len() > 1);
    match (first.compass.map(Compass::is_of_latitude), second.compass.map(Compass::is_of_latitude)) {
        (Some(true), Some(false)) => Some((first, second)),
        (Some(false), Some(true)) => Some((second, first)),
        (Some(_), Some(_)) => None,
        // One letter of two: what the other sign is was left out or forgotten.
        (Some(true), None) => is_strong.then_some((first, second.doubted())),
        (None, Some(false)) => is_strong.then_some((first.doubted(), second)),
        (Some(false), None) => is_strong.then_some((second.doubted(), first)),
        (None, Some(true)) => is_strong.then_some((second, first.doubted())),
        (None, None) => {
            let have = |sign: char| left.contains(sign) && right.contains(sign);
            let have_fractions = if between == "," {
                have('.') && !left.contains(',') && !right.contains(',')
            } else {
                !between.is_empty() && (have('.') || have(','))
            };
            let are_degrees = first.has_degrees && second.has_degrees && !between.is_empty();
            (is_strong || have_fractions || are_degrees).then_some((first, second))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_coordinates_are_told_from_one() {
        let (east, west) = (Some(0.12), Some(-0.12));
        let table = [
            ("51.5, -0.12", Some((Some(51.5), west))),
            ("51.5,-0.12", Some((Some(51.5), west))),
            ("51.5;0.12", Some((Some(51.5), east))),
            ("51,5; -0,12", Some((Some(51.5), west))),
            ("51,5 -0,12", Some((Some(51.5), west))),
            ("51.5 / -0.12", Some((Some(51.5), west))),
            ("(51.5, -0.12)", Some((Some(51.5), west))),
            ("51.5 -0.12", Some((Some(51.5), west))),
            ("51.5 N 0.12 W", Some((Some(51.5), west))),
            ("0.12W, 51.5N", Some((Some(51.5), west))),
            ("N51.5 W0.12", Some((Some(51.5), west))),
            ("51°30'N0°30'W", Some((Some(51.5), Some(-0.5)))),
            ("51°30'0\" 0°30'0\"", Some((Some(51.5), Some(0.5)))),
            ("51, 0", Some((Some(51.0), Some(0.0)))),
            ("51.5 N, 0.12", Some((Some(51.5), None))),
            ("51.5 N, 12.5 O", Some((Some(51.5), None))),
            ("51.5 N 12.5 N", None),
            ("51,5", None),
            ("51,-0", None),
            ("1/2", None),
            ("1 234,5", None),
            ("51 30", None),
            ("51.5", None),
            ("51°30'26\"", None),
            ("1, 2, 3", None),
            ("51.5,", None),
            ("a, b", None),
        ];
        for (text, expected) in table {
            let found = pair(text).map(|(latitude, longitude)| (latitude.value(), longitude.value()));
            assert_eq!(found, expected, "{text:?}");
        }
    }
}

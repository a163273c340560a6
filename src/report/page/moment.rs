//! Moments and lengths of time as the page writes them: UTC, for machines and for people.

use std::time::Duration;

use crate::model::time::Moment;

/// A length of time in its two largest units.
pub(super) fn length(millis: i64) -> String {
    let seconds = Duration::from_millis(u64::try_from(millis).unwrap_or_default()).as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let first = units.iter().position(|(unit, _)| seconds >= *unit).unwrap_or(units.len() - 1);
    let (unit, name) = units[first];
    let mut words = format!("{} {name}", seconds / unit);
    if let Some(&(next, name)) = units.get(first + 1)
        && seconds % unit / next > 0
    {
        words.push_str(&format!(" {} {name}", seconds % unit / next));
    }
    words
}

/// A moment for machines and for people.
pub(super) struct When {
    pub(super) iso: String,
    pub(super) text: String,
}

impl When {
    pub(super) fn of(at: Moment) -> Self {
        Self { iso: at.to_string(), text: stamp(at) }
    }
}

/// A moment to the minute, for a sentence.
pub(super) fn minute(at: Moment) -> String {
    at.civil().strftime("%-d %b %Y, %H:%M UTC").to_string()
}

/// A moment as the page writes it.
pub(super) fn stamp(at: Moment) -> String {
    at.civil().strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_told_in_its_two_largest_units() {
        let table = [
            (0, "0 s"),
            (59_000, "59 s"),
            (90_000, "1 min 30 s"),
            (3_600_000, "1 h"),
            (90_000_000, "1 d 1 h"),
        ];
        for (millis, expected) in table {
            assert_eq!(length(millis), expected);
        }
    }
}

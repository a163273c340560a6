//! Amounts and words as a person reads them, wherever they are read: on the terminal, on pages and in sheets.

use std::time::Duration;

/// A count with its thousands apart: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut groups: Vec<&str> = Vec::with_capacity(digits.len() / 3 + 1);
    groups.extend(digits.get(..first).filter(|group| !group.is_empty()));
    groups.extend((first..digits.len()).step_by(3).filter_map(|at| digits.get(at..at + 3)));
    groups.join(",")
}

/// A count with its noun: `1 row`, `2 rows`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// Words with a capital at their beginning.
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Parts of a sentence as a list: `a`, `a and b`, `a, b and c`; nothing where there are none.
pub fn listed(parts: &[impl AsRef<str>]) -> Option<String> {
    let (last, before) = parts.split_last()?;
    let before: Vec<&str> = before.iter().map(AsRef::as_ref).collect();
    Some(match before.as_slice() {
        [] => last.as_ref().to_owned(),
        before => format!("{} and {}", before.join(", "), last.as_ref()),
    })
}

/// Shares of a whole in percent, as they are shown together: they add up to 100, the largest remainders are rounded up.
/// What is there never shows as nothing, and what is not all never as all. Nothing for zero.
pub fn shares(parts: &[u64]) -> Vec<String> {
    let whole: u128 = parts.iter().copied().map(u128::from).sum();
    if whole == 0 {
        return parts.iter().map(|_| String::new()).collect();
    }
    let mut percents: Vec<u128> = parts.iter().map(|&part| u128::from(part) * 100 / whole).collect();
    let remainder = |at: usize| u128::from(parts[at]) * 100 % whole;
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(remainder(at)));
    let missing = usize::try_from(100 - percents.iter().sum::<u128>()).unwrap_or_default();
    for &at in order.iter().take(missing) {
        percents[at] += 1;
    }
    let words = parts.iter().zip(percents).map(|(&part, percent)| match percent {
        _ if part == 0 => String::new(),
        0 => "<1 %".to_owned(),
        100 if u128::from(part) < whole => ">99 %".to_owned(),
        percent => format!("{percent} %"),
    });
    words.collect()
}

/// How much of a whole is there, in percent: `0 %` and `100 %` only when nothing and all of it is, and more where it is
/// exceeded; nothing where there is no whole.
pub fn share(part: u64, whole: u64) -> String {
    let (wide_part, wide_whole) = (u128::from(part), u128::from(whole));
    match (wide_part * 100).checked_div(wide_whole) {
        None => String::new(),
        Some(_) if part == 0 => "0 %".to_owned(),
        Some(over) if part >= whole => format!("{over} %"),
        Some(_) => shares(&[part, whole - part]).swap_remove(0),
    }
}

/// A length of time in its two largest units: `3 min 20 s`.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => two(minutes, "min", seconds % 60, "s"),
        (0, _, _) => two(hours, "h", minutes, "min"),
        _ => two(days, "d", hours, "h"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 {
        format!("{large} {large_unit}")
    } else {
        format!("{large} {large_unit} {small} {small_unit}")
    }
}

/// A number of bytes as people read it, with one digit after the point: `312 bytes`, `1.4 MiB`.
pub fn size(bytes: u64) -> String {
    const STEP: u64 = 1024;
    let (mut unit, mut units) = (1, ["KiB", "MiB", "GiB", "TiB"].into_iter());
    let mut name = None;
    while bytes / unit >= STEP {
        let Some(next) = units.next() else { break };
        unit *= STEP;
        name = Some(next);
    }
    match name {
        None => counted(bytes, "byte", "bytes"),
        Some(name) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_sentence_are_listed_with_an_and_before_the_last() {
        assert_eq!(listed(&[""; 0]), None);
        for (parts, expected) in
            [(&["a"][..], "a"), (&["a", "b"], "a and b"), (&["a", "b", "c"], "a, b and c")]
        {
            assert_eq!(listed(parts).as_deref(), Some(expected));
        }
    }

    #[test]
    fn lengths_of_time_show_their_two_largest_units() {
        let table = [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (200, "3 min 20 s"),
            (3_600, "1 h"),
            (7_500, "2 h 5 min"),
            (100_000, "1 d 3 h"),
        ];
        for (seconds, expected) in table {
            assert_eq!(span(Duration::from_secs(seconds)), expected);
        }
    }

    #[test]
    fn bytes_are_shown_in_the_unit_that_has_few_digits() {
        let table = [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1.0 KiB"),
            (1_500_000, "1.4 MiB"),
            (u64::MAX, "16777215.9 TiB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn counts_have_their_thousands_apart() {
        let table = [(0, "0"), (12, "12"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in table {
            assert_eq!(count(number), expected);
        }
    }

    #[test]
    fn a_count_has_its_noun_in_the_right_number() {
        let table = [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (12_000, "12,000 rows")];
        for (number, expected) in table {
            assert_eq!(counted(number, "row", "rows"), expected);
        }
    }

    #[test]
    fn shares_add_up_to_a_hundred_and_neither_hide_what_is_there_nor_claim_what_is_not() {
        let table: [(&[u64], &[&str]); 8] = [
            (&[1, 1, 1], &["34 %", "33 %", "33 %"]),
            (&[38, 2], &["95 %", "5 %"]),
            (&[2, 1, 0], &["67 %", "33 %", ""]),
            (&[999_999, 1], &[">99 %", "<1 %"]),
            (&[995, 3, 2], &[">99 %", "<1 %", "<1 %"]),
            (&[7], &["100 %"]),
            (&[0, 0], &["", ""]),
            (&[u64::MAX, u64::MAX], &["50 %", "50 %"]),
        ];
        for (parts, expected) in table {
            assert_eq!(shares(parts), expected, "{parts:?}");
        }
        // Whatever the parts: the figures that are shown add up, where each of them is one.
        for first in 1..60_u64 {
            let parts = [first, 17, 60 - first, 3];
            let shown = shares(&parts);
            let sum: u64 = shown.iter().map(|text| text.trim_end_matches(" %").parse::<u64>().unwrap()).sum();
            assert_eq!(sum, 100, "{parts:?}: {shown:?}");
        }
    }

    #[test]
    fn a_share_is_all_only_when_it_is_and_may_be_more() {
        let table = [
            (0, 9, "0 %"),
            (1, 1_000, "<1 %"),
            (1, 3, "33 %"),
            (2, 3, "67 %"),
            (999, 1_000, ">99 %"),
            (9, 9, "100 %"),
            (10, 9, "111 %"),
            (3, 0, ""),
        ];
        for (part, whole, expected) in table {
            assert_eq!(share(part, whole), expected, "{part} of {whole}");
        }
    }
}

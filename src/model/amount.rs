//! Amounts as a person reads them, wherever they are read: on the terminal, on pages and in sheets.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}

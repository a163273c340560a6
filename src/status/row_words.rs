//! Rows in words, as every surface counts them: to correct, not imported, incomplete, and those that come along.

use crate::model::amount::{count, counted};

/// Rows that a person corrects, with those that only come along: `1 row to correct, and 37 that come with it`.
pub fn to_correct(own: u64, along: u64) -> String {
    match (own, along) {
        (0, 1..) => counted(along, "row to import again", "rows to import again"),
        _ => with_along(counted(own, "row to correct", "rows to correct"), own, along),
    }
}

/// Rows that were not imported because of their errors, with those that belong to them.
pub fn not_imported(own: u64, along: u64) -> String {
    match (own, along) {
        (0, 1) => "1 row was not imported because a row that it depends on was not".to_owned(),
        (0, 2..) => {
            format!("{} rows were not imported because rows that they depend on were not", count(along))
        }
        _ => with_along(
            counted(
                own,
                "row was not imported because of errors",
                "rows were not imported because of errors",
            ),
            own,
            along,
        ),
    }
}

/// Rows whose record exists and of which a later step failed.
pub fn incomplete(rows: u64) -> String {
    format!("{} (created, a later step failed)", counted(rows, "row is incomplete", "rows are incomplete"))
}

/// Words about some rows, with those that only come along with them.
pub fn with_along(words: String, own: u64, along: u64) -> String {
    let them = if own == 1 { "it" } else { "them" };
    match along {
        0 => words,
        1 => format!("{words}, and 1 that comes with {them}"),
        _ => format!("{words}, and {} that come with {them}", count(along)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_only_come_along_are_told_apart_from_those_to_correct() {
        let table = [
            (1, 37, "1 row to correct, and 37 that come with it"),
            (2, 1, "2 rows to correct, and 1 that comes with them"),
            (3, 0, "3 rows to correct"),
            (0, 0, "0 rows to correct"),
            (0, 2, "2 rows to import again"),
        ];
        for (own, along, expected) in table {
            assert_eq!(to_correct(own, along), expected);
        }
        assert_eq!(
            not_imported(1, 1_200),
            "1 row was not imported because of errors, and 1,200 that come with it"
        );
        assert_eq!(not_imported(0, 2), "2 rows were not imported because rows that they depend on were not");
    }
}

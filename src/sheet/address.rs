//! Addresses of cells and ranges as a spreadsheet program shows them: `F14`, `C4:C8`.

/// Rows of a worksheet.
const ROWS: u32 = 1_048_576;
/// Columns of a worksheet.
pub(crate) const COLUMNS: u16 = 16_384;

/// The address of a cell: `F14`. `column` counts from 0, `row` is as shown.
pub(crate) fn address(column: usize, row: u32) -> String {
    format!("{}{row}", letters(column))
}

/// The letters of a column that counts from 0: `A`, `Z`, `AA`.
pub(crate) fn letters(column: usize) -> String {
    let mut result = Vec::new();
    let mut rest = column;
    loop {
        // The remainder of a division by 26 fits a byte.
        result.push(b'A' + u8::try_from(rest % 26).unwrap_or(0));
        if rest < 26 {
            break;
        }
        rest = rest / 26 - 1;
    }
    result.reverse();
    result.into_iter().map(char::from).collect()
}

/// The column of an address, counted from 0: of `F14` 5. `None` for what is no address.
pub(crate) fn column_of_address(address: &str) -> Option<usize> {
    column(address.trim_end_matches(|c: char| c.is_ascii_digit()))
}

/// The column of these letters, counted from 0.
fn column(letters: &str) -> Option<usize> {
    let number = letters.bytes().try_fold(0_usize, |number, letter| match letter {
        b'A'..=b'Z' if number < 1 << 16 => Some(number * 26 + usize::from(letter - b'A') + 1),
        _ => None,
    })?;
    number.checked_sub(1)
}

/// The row, as shown, and the column, counted from 0, of the address of a cell that a worksheet can have.
pub(crate) fn place(address: &str) -> Option<(u32, u16)> {
    let letters = address.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = address.split_at(letters);
    let column = column(&letters.to_ascii_uppercase())?;
    let column = u16::try_from(column).ok().filter(|column| *column < COLUMNS)?;
    Some((row(digits)?, column))
}

/// A row that a worksheet can have, as shown.
pub(crate) fn row(digits: &str) -> Option<u32> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|row| is_number && (1..=ROWS).contains(row))
}

/// A range of cells. Rows as shown, columns from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellRange {
    pub(crate) first_row: u32,
    pub(crate) last_row: u32,
    pub(crate) first_column: u16,
    pub(crate) last_column: u16,
}

impl CellRange {
    /// The range of an address such as `A2:B7`, or that of a single cell.
    pub(crate) fn of(address: &str) -> Option<Self> {
        let (one, other) = address.split_once(':').unwrap_or((address, address));
        let ((row, column), (other_row, other_column)) = (place(one)?, place(other)?);
        Some(Self {
            first_row: row.min(other_row),
            last_row: row.max(other_row),
            first_column: column.min(other_column),
            last_column: column.max(other_column),
        })
    }

    /// Whether it runs down one column.
    pub(crate) fn is_vertical(&self) -> bool {
        self.first_column == self.last_column
    }

    /// Whether it runs along one row.
    pub(crate) fn is_horizontal(&self) -> bool {
        self.first_row == self.last_row
    }

    /// Its address: `C4:C8`.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.anchor(), address(usize::from(self.last_column), self.last_row))
    }

    /// The address of its first cell, which has the value when the range is merged.
    pub(crate) fn anchor(&self) -> String {
        address(usize::from(self.first_column), self.first_row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_a_spreadsheet_program_shows() {
        for (column, row, expected) in
            [(0, 1, "A1"), (25, 2, "Z2"), (26, 3, "AA3"), (701, 4, "ZZ4"), (702, 5, "AAA5")]
        {
            assert_eq!(address(column, row), expected);
            assert_eq!(column_of_address(expected), Some(column));
        }
    }

    #[test]
    fn what_is_no_address_has_no_column() {
        for text in ["", "14", "f14", "F-14", "ZZZZZZZZ1"] {
            assert_eq!(column_of_address(text), None, "{text}");
        }
    }

    #[test]
    fn places_outside_a_worksheet_are_none() {
        let table = [
            ("A1", Some((1, 0))),
            ("xfd1048576", Some((1_048_576, 16_383))),
            ("XFE1", None),
            ("A1048577", None),
            ("A4294967298", None),
            ("AAAAAAAA1", None),
            ("A0", None),
            ("A", None),
            ("1", None),
            ("A+1", None),
            ("$A$1", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(place(text), expected, "{text}");
        }
        assert_eq!(CellRange::of("C8:A4").map(|range| range.address()), Some("A4:C8".to_owned()));
        assert_eq!(CellRange::of("1:4"), None);
    }
}

//! Addresses of cells and ranges as a worksheet writes them.

/// Rows and columns of a worksheet.
pub(super) const ROWS: u32 = 1_048_576;
pub(super) const COLUMNS: u32 = 16_384;

/// The row, as shown, and the column, counted from 0, of an address such as `B7`. None when it is outside a worksheet.
pub(super) fn cell(text: &str) -> Option<(u32, u16)> {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, digits) = text.split_at(letters);
    if letters.is_empty() || letters.len() > 3 {
        return None;
    }
    let column = letters
        .bytes()
        .fold(0_u32, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let column = u16::try_from(column - 1).ok().filter(|column| u32::from(*column) < COLUMNS)?;
    Some((row(digits)?, column))
}

/// The number of a row.
pub(super) fn row(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.len() <= 7 && text.bytes().all(|byte| byte.is_ascii_digit());
    let row = text.parse().ok().filter(|_| is_number)?;
    (1..=ROWS).contains(&row).then_some(row)
}

/// Both corners of a range such as `A2:B7`, or of a single cell.
pub(super) fn range(text: &str) -> Option<[(u32, u16); 2]> {
    let (one, other) = text.split_once(':').unwrap_or((text, text));
    let ((row, column), (other_row, other_column)) = (cell(one)?, cell(other)?);
    Some([(row.min(other_row), column.min(other_column)), (row.max(other_row), column.max(other_column))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_outside_a_worksheet_are_none() {
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
            assert_eq!(cell(text), expected, "{text}");
        }
        assert_eq!(range("C8:A4"), Some([(4, 0), (8, 2)]));
        assert_eq!(range("1:4"), None);
    }
}

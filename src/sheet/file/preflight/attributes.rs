//! The attributes of an element of a worksheet, as they are written, and the addresses of cells and ranges in them:
//! nothing is guessed, and one that is broken or there twice is an error.

use quick_xml::events::BytesStart;

use super::Fault;
use super::worksheet::unreadable;
use crate::sheet::finding::code::Code;

/// The values of these attributes; one that is there twice is an error.
pub(super) fn attributes<'a, const N: usize>(
    element: &'a BytesStart<'_>,
    names: [&str; N],
) -> Result<[Option<&'a str>; N], Fault> {
    let broken = || Fault::new(Code::SheetUnreadable, unreadable(None, "an attribute is broken"));
    let mut found = [None; N];
    let raw = element.attributes_raw();
    for pair in (RawAttributes { rest: raw }) {
        let (key, value) = pair.ok_or_else(broken)?;
        if let Some(place) = names.iter().position(|name| *name == key)
            && found[place].replace(value).is_some()
        {
            return Err(broken());
        }
    }
    Ok(found)
}

/// The attributes of an element, as they are written.
struct RawAttributes<'a> {
    rest: &'a str,
}

impl<'a> Iterator for RawAttributes<'a> {
    /// A name and its value; `None` when there is no such pair.
    type Item = Option<(&'a str, &'a str)>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.trim_ascii_start().trim_end_matches('/');
        self.rest = "";
        if rest.is_empty() {
            return None;
        }
        let pair = || {
            let (key, rest) = rest.split_once('=')?;
            let rest = rest.trim_ascii_start();
            let mark = rest.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
            let (value, rest) = rest[1..].split_once(mark)?;
            Some(((key.trim_ascii_end(), value), rest))
        };
        Some(pair().map(|(pair, rest)| {
            self.rest = rest;
            pair
        }))
    }
}

pub(super) fn is_true(value: Option<&str>) -> bool {
    matches!(value, Some("1" | "true"))
}

/// Whether a height or width is none.
pub(super) fn is_nothing(value: &str) -> bool {
    value.parse::<f64>().is_ok_and(|size| size == 0.0)
}

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

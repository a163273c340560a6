//! Sheets that are not one header over its rows: two header rows, a second table beside or below the first, totals.
//!
//! Only says what is there; whether anything is read of it is decided in the book and in the reading.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::HeaderCandidate;
use super::column::columns;
use super::header::Mapped;
use super::{header, header_name};
use crate::model::kind::Kind;
use crate::sheet::cell::Cell;
use crate::sheet::text::is_blank;

/// Known names that make a row, or the right part of a header, a header of its own.
const NAMES: usize = 3;
/// Filled cells of a row that may be a total or a remark.
const FOOTER_CELLS: usize = 2;
/// Longest text that can be a name of a column.
const NAME_LENGTH: usize = 60;

/// The row beside the header that holds a part of the column names, as "Street" and "City" under "Address": names of
/// columns where the header is blank.
pub(crate) fn other_header_row(
    candidates: &[HeaderCandidate],
    chosen: usize,
    kind: Kind,
) -> Option<&HeaderCandidate> {
    let header = &candidates[chosen];
    let above = chosen.checked_sub(1).map(|index| &candidates[index]);
    let below = candidates.get(chosen + 1);
    [above, below].into_iter().flatten().find(|other| {
        let is_next = other.row.abs_diff(header.row) == 1;
        let filled = other.cells.iter().filter(|cell| !is_blank(cell)).count();
        let named = header::score(kind, &other.cells, &[]);
        let adds = other.cells.iter().enumerate().any(|(column, cell)| {
            !is_blank(cell)
                && header.cells.get(column).is_none_or(|cell| is_blank(cell))
                && header::score(kind, std::slice::from_ref(cell), &[]) == 1
        });
        is_next && named >= 2 && named * 2 >= filled && adds
    })
}

/// Where another table begins beside this one: after a blank column, with names of columns that are there already, or
/// that another kind of record has.
pub(crate) fn beside(kind: Kind, headers: &[String], mapping: &[Mapped]) -> Option<usize> {
    (1..headers.len()).filter(|&at| is_blank(&headers[at - 1]) && !is_blank(&headers[at])).find(|&at| {
        let right = &headers[at..];
        let filled = right.iter().filter(|header| !is_blank(header)).count();
        let own = header::score(kind, right, &[]);
        let other = Kind::SHEETS.into_iter().map(|kind| header::score(kind, right, &[])).max().unwrap_or(0);
        let repeats = mapping[at..].iter().any(|mapped| match mapped {
            Mapped::Column { .. } => mapping[..at].contains(mapped),
            Mapped::Ignored | Mapped::Blank | Mapped::Unknown => false,
        });
        // Between two tables all cells of the column are blank, which only the rows can tell; the header has to do.
        other >= NAMES && other * 2 >= filled && (other > own || repeats)
    })
}

/// Whether the cells of a row are the header of another table: names of columns, and not those of this one.
pub(crate) fn is_other_header(cells: &[Cell]) -> bool {
    let filled = cells.iter().filter(|cell| !cell.is_blank() && !cell.is_covered());
    are_names(filled.map(|cell| cell.text.as_str()))
}

/// The header of a table that ends above the one that was chosen, with rows between the two.
pub(crate) fn header_above(above: &[HeaderCandidate]) -> Option<&HeaderCandidate> {
    let is_header = |candidate: &HeaderCandidate| {
        are_names(candidate.cells.iter().map(String::as_str).filter(|cell| !is_blank(cell)))
    };
    let last = above.iter().rposition(|candidate| candidate.filled() > 0)?;
    above[..last].iter().find(|candidate| is_header(candidate))
}

/// Whether filled cells are mostly names of columns, and none of them a value.
fn are_names<'c>(mut filled: impl Iterator<Item = &'c str> + Clone) -> bool {
    // Asked of every row, so that the first cells have to give a reason to look at the others.
    if !filled.clone().take(2).any(is_name) {
        return false;
    }
    let named = filled.clone().filter(|text| is_name(text)).count();
    named >= NAMES && named * 2 >= filled.clone().count() && !filled.any(is_value)
}

/// Whether a row without any cell that every row needs may be a total or a remark: few of its cells are filled, or all
/// after the first filled one are figures.
pub(crate) fn is_total_or_remark(cells: &[Cell]) -> bool {
    let filled = || cells.iter().filter(|cell| !cell.is_blank() && !cell.is_covered());
    filled().count() <= FOOTER_CELLS || filled().skip(1).all(|cell| is_figure(&cell.text))
}

fn is_figure(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || " .,%-+$\u{20ac}".contains(c))
}

/// Whether a text is none that a header has: an address of e-mail, or figures.
fn is_value(text: &str) -> bool {
    text.contains('@') || (is_figure(text) && text.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether a text is the name of a column of any kind.
fn is_name(text: &str) -> bool {
    static NAMES: LazyLock<(HashSet<String>, usize)> = LazyLock::new(|| {
        let all = Kind::SHEETS.into_iter().flat_map(|kind| columns(kind).iter());
        let names: HashSet<String> = all
            .filter(|column| column.family().is_none())
            .flat_map(|column| column.aliases.iter().copied().chain([column.name]))
            .map(header_name::fold)
            .collect();
        let digits = names.iter().map(|name| header_name::digits(name)).max().unwrap_or_default();
        (names, digits)
    });
    let (names, digits) = &*NAMES;
    text.len() <= NAME_LENGTH
        && !header_name::has_more_digits(text, *digits)
        && names.contains(&header_name::fold(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(row: u32, cells: &[&str]) -> HeaderCandidate {
        HeaderCandidate { row, line: None, cells: cells.iter().map(|&cell| cell.to_owned()).collect() }
    }

    #[test]
    fn a_row_of_names_under_blank_headers_is_a_second_header_row() {
        let over = candidate(1, &["key", "company", "name", "phone", "Address", "", ""]);
        let under = candidate(2, &["", "", "", "", "Street", "City", "Country"]);
        let data = candidate(2, &["a", "acme", "A", "+64 9 557 0000", "1 Earl Street", "Auckland", "NZ"]);
        let again = candidate(2, &["key", "company", "name", "phone", "Address", "", ""]);
        let kind = Kind::Site;
        assert_eq!(other_header_row(&[over.clone(), under.clone()], 0, kind).map(|row| row.row), Some(2));
        assert_eq!(other_header_row(&[over.clone(), under.clone()], 1, kind).map(|row| row.row), Some(1));
        assert!(other_header_row(&[over.clone(), data], 0, kind).is_none());
        assert!(other_header_row(&[over.clone(), again], 0, kind).is_none());
        let far = HeaderCandidate { row: 3, ..under };
        assert!(other_header_row(&[over, far], 0, kind).is_none());
    }

    #[test]
    fn a_table_beside_another_begins_after_a_blank_column_and_repeats_its_names_or_has_others() {
        let begins = |headers: &[&str]| {
            let headers: Vec<String> = headers.iter().map(|&header| header.to_owned()).collect();
            beside(Kind::Site, &headers, &header::meaning(Kind::Site, &headers))
        };
        assert_eq!(begins(&["key", "name", "phone", "", "key", "name", "phone"]), Some(4));
        assert_eq!(begins(&["key", "name", "", "username", "first_name", "email"]), Some(3));
        assert_eq!(begins(&["key", "name", "", "address1", "city", "country"]), None);
        assert_eq!(begins(&["key", "name", "phone", "key", "name", "phone"]), None);
    }

    #[test]
    fn a_header_is_known_among_rows_of_data() {
        let row = |cells: &[&str]| -> Vec<Cell> { cells.iter().map(|&cell| Cell::text(cell)).collect() };
        assert!(is_other_header(&row(&["Key", "Company", "Site Name", "notes"])));
        assert!(!is_other_header(&row(&["S1", "acme", "Name", "phone", "1 Earl Street"])));
        assert!(!is_other_header(&row(&["city", "Branch", "acme", "5551234", "Street"])));
        assert!(!is_other_header(&row(&["company", "Name", "a@b.example", "Street"])));
    }
}

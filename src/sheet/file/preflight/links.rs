//! Links of a worksheet to e-mail addresses: which cells have one, and which address it leads to.
//!
//! A link stands in two parts: the worksheet says which cells have it, the list of its relations where it leads. Only the
//! addresses are kept, and not more of them than Excel writes. Whether an address is that of the cell is left to the
//! fields.

use std::collections::HashMap;
use std::sync::Arc;

use quick_xml::events::BytesStart;

use super::COLUMN_LIMIT;
use super::elements::{attribute, id};
use super::listing::{relations, relations_of};
use super::package::Package;
use crate::sheet::address::CellRange;

/// What the target of a link to an address begins with.
const SCHEME: &str = "mailto:";
/// Characters that an address has at most: 64 before the @ and 255 after it. What is longer is cut, and is none.
const LONGEST_ADDRESS: usize = 320;
/// Bytes that the name of a relation has at most.
const LONGEST_ID: usize = 64;

/// The link behind a cell to an e-mail address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MailLink {
    /// The column of the cell, counted from 0.
    pub(crate) column: usize,
    /// The address that it leads to.
    pub(crate) address: Arc<str>,
}

/// The links of a worksheet to addresses.
#[derive(Debug, Default)]
pub(crate) struct MailLinks {
    /// Where they lead, by the names that the worksheet has for it.
    targets: HashMap<String, Arc<str>>,
    /// Whether there are more targets than these.
    has_other_targets: bool,
    /// By row as shown and column from 0. Where two links lie over each other, that which the file names first counts.
    cells: HashMap<(u32, u16), Arc<str>>,
    /// The first and last column with links of which nobody knows where they lead.
    unread: Option<(u16, u16)>,
    /// Targets that are kept, and cells of links that are looked at.
    most: usize,
    seen: usize,
}

impl MailLinks {
    /// Those of the worksheet in a part, as far as its relations tell, and whether one of these is a pivot table. Nothing
    /// else depends on them, so that broken ones are no reason to refuse the worksheet.
    pub(super) fn of(package: &mut Package, part: &str) -> (Self, bool) {
        let mut links = Self { most: package.limits.links, ..Self::default() };
        let mut has_pivot = false;
        let part = relations_of(part);
        let read = package.has(&part).then(|| {
            relations(package, &part, &mut |relation| {
                has_pivot |= relation.what == "pivotTable";
                if let Some(address) = address_of(&relation.target) {
                    if links.targets.len() == links.most || relation.id.len() > LONGEST_ID {
                        links.has_other_targets = true;
                    } else {
                        links.targets.insert(relation.id, address);
                    }
                }
                Ok(())
            })
        });
        links.has_other_targets |= read.is_some_and(|read| read.is_err());
        (links, has_pivot)
    }

    /// Takes in what the worksheet says of a link.
    pub(super) fn add(&mut self, element: &BytesStart<'_>) {
        let cells = attribute(element, "ref").and_then(|range| CellRange::of(&range));
        let (Some(id), Some(cells)) = (id(element), cells) else { return };
        match self.targets.get(&id).cloned() {
            _ if usize::from(cells.first_column) >= COLUMN_LIMIT => {}
            Some(address) => self.put(cells, &address),
            None if self.has_other_targets => self.pass_over(cells),
            // It leads to a web page or to another cell.
            None => {}
        }
    }

    fn put(&mut self, cells: CellRange, address: &Arc<str>) {
        for row in cells.first_row..=cells.last_row {
            for column in cells.first_column..=cells.last_column {
                if self.seen == self.most {
                    self.pass_over(cells);
                    return;
                }
                self.seen += 1;
                self.cells.entry((row, column)).or_insert_with(|| Arc::clone(address));
            }
        }
    }

    fn pass_over(&mut self, CellRange { first_column: first, last_column: last, .. }: CellRange) {
        let (least, most) = self.unread.unwrap_or((first, last));
        self.unread = Some((least.min(first), most.max(last)));
    }

    /// Forgets what is needed only while the worksheet is read.
    pub(super) fn settle(&mut self) {
        self.targets = HashMap::new();
    }

    /// Whether a column, counted from 0, may have links of which nobody knows where they lead.
    pub(crate) fn may_lack(&self, column: usize) -> bool {
        self.unread.is_some_and(|(first, last)| (usize::from(first)..=usize::from(last)).contains(&column))
    }

    /// The links of a row in these columns.
    pub(crate) fn in_row(&self, row: u32, columns: &[usize]) -> Vec<MailLink> {
        if self.cells.is_empty() {
            return Vec::new();
        }
        let at = |column: &usize| {
            let address = self.cells.get(&(row, u16::try_from(*column).ok()?))?;
            Some(MailLink { column: *column, address: Arc::clone(address) })
        };
        columns.iter().filter_map(at).collect()
    }
}

impl MailLink {
    /// The target of a link to its address, as a workbook has it.
    pub(crate) fn target(&self) -> String {
        let mut target = SCHEME.to_owned();
        for byte in self.address.bytes() {
            if byte.is_ascii_alphanumeric() || b"@.-_+~!$&'*=,;".contains(&byte) {
                target.push(char::from(byte));
            } else {
                target.push_str(&format!("%{byte:02X}"));
            }
        }
        target
    }
}

/// The address in the target of a link, without its subject; `None` for a link to something else.
fn address_of(target: &str) -> Option<Arc<str>> {
    let target = target.trim_start();
    let scheme = target.get(..SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let written = target[SCHEME.len()..].split('?').next().unwrap_or_default();
    let address: String = decoded(written).trim().chars().take(LONGEST_ADDRESS).collect();
    (!address.is_empty()).then(|| address.into())
}

/// A text whose letters may be written as `%41`. Only as much of it as an address may have.
fn decoded(written: &str) -> String {
    // A letter has four bytes at most, and each of them may be written as three.
    let written = &written.as_bytes()[..written.len().min(LONGEST_ADDRESS * 4 * 3)];
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written;
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| byte == b'%');
        let code = code.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_what_a_link_to_it_leads_to_and_no_more() {
        let table = [
            ("mailto:jane@acme.example", Some("jane@acme.example")),
            ("MailTo: jane@acme.example ?subject=Hello%20you", Some("jane@acme.example")),
            ("mailto:jane%40acme.example", Some("jane@acme.example")),
            ("mailto:j%C3%BCrgen@acme.example", Some("j\u{fc}rgen@acme.example")),
            ("mailto:100%@acme.example", Some("100%@acme.example")),
            ("mailto:%ff%+1@acme.example", Some("\u{fffd}%+1@acme.example")),
            ("mailto:?subject=Hello", None),
            ("mailto:", None),
            ("https://acme.example/mailto:jane@acme.example", None),
            ("m\u{e4}ilto:jane@acme.example", None),
            ("", None),
        ];
        for (target, expected) in table {
            assert_eq!(address_of(target).as_deref(), expected, "{target}");
        }
        let long = address_of(&format!("mailto:{}", "%41".repeat(100_000))).expect("an address");
        assert_eq!(long.len(), LONGEST_ADDRESS);
    }

    #[test]
    fn a_link_is_written_so_that_it_is_read_as_it_was() {
        for address in ["jane@acme.example", "a b\"<>\u{1}%41@\u{fc}.example", "a@x.example,b@y.example"] {
            let link = MailLink { column: 0, address: address.into() };
            let target = link.target();
            assert!(target.bytes().all(|byte| byte.is_ascii_graphic()), "{target}");
            assert_eq!(address_of(&target).as_deref(), Some(address), "{target}");
        }
    }

    #[test]
    fn of_links_over_each_other_the_first_counts_and_more_cells_than_are_kept_are_known_by_their_columns() {
        let mut links = MailLinks { most: 6, ..MailLinks::default() };
        links.put(CellRange::of("B2:C3").expect("a range"), &"a@x.example".into());
        links.put(CellRange::of("C3:E3").expect("a range"), &"b@x.example".into());
        let told = |row| {
            let links = links.in_row(row, &[1, 2, 3, 4]).into_iter();
            links.map(|link| format!("{}{}", link.column, &link.address[..1])).collect::<Vec<_>>().concat()
        };
        assert_eq!((told(2).as_str(), told(3).as_str(), told(4).as_str()), ("1a2a", "1a2a3b", ""));
        let lacking: Vec<usize> = (0..6).filter(|column| links.may_lack(*column)).collect();
        assert_eq!(lacking, [2, 3, 4]);
    }
}

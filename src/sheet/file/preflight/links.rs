//! Links of a worksheet to e-mail addresses: which cells have one, and which address it leads to.
//!
//! A link stands in two parts: the worksheet says which cells have it, the list of its relations where it leads. Only the
//! addresses are kept, and not more of them than Excel writes. Whether an address is that of the cell is left to the
//! fields.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use quick_xml::events::{BytesStart, Event};

use super::package::Archive;
use super::tokens;
use super::tokens::elements;
use super::{COLUMN_LIMIT, Fault, listing, place};

/// What the target of a link to an address begins with.
const SCHEME: &str = "mailto:";
/// Characters that an address has at most: 64 before the @ and 255 after it. What is longer is cut, and is none.
const LONGEST_ADDRESS: usize = 320;
/// Bytes that the name of a relation has at most.
const LONGEST_ID: usize = 64;

/// The link behind a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The column of the cell, counted from 0.
    pub(crate) column: usize,
    /// The address that it leads to.
    pub(crate) address: Arc<str>,
}

/// The links of a worksheet to addresses.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// Where they lead, by the names that the worksheet has for it.
    targets: HashMap<String, Arc<str>>,
    /// Whether there are more targets than these.
    has_other_targets: bool,
    places: Vec<Place>,
    /// The first and last column with links of which nobody knows where they lead.
    unread: Option<(u16, u16)>,
    most: usize,
}

/// Cells with one link. Rows as shown, columns from 0.
#[derive(Debug)]
struct Place {
    rows: (u32, u32),
    columns: (u16, u16),
    address: Arc<str>,
}

impl Links {
    /// Those of the worksheet in a part, as far as its relations tell. Nothing else depends on them, so that broken ones
    /// are no reason to refuse the worksheet.
    pub(super) fn of(archive: &mut Archive, part: &str) -> Self {
        let mut links = Self { most: archive.limits.links, ..Self::default() };
        let relations = listing::relations_of(part);
        if archive.has(&relations) && links.read_targets(archive, &relations).is_err() {
            links.has_other_targets = true;
        }
        links
    }

    fn read_targets(&mut self, archive: &mut Archive, part: &str) -> Result<(), Fault> {
        let longest = archive.limits.run;
        let mut reader = elements(archive.small_part(part, longest)?);
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|error| tokens::fault(&error, part))? {
                Event::Start(element) if element.local_name().as_ref() == "Relationship" => {
                    let target = listing::attribute(&element, "Target").unwrap_or_default();
                    let (Some(id), Some(address)) = (listing::attribute(&element, "Id"), address_of(&target))
                    else {
                        continue;
                    };
                    if self.targets.len() == self.most || id.len() > LONGEST_ID {
                        self.has_other_targets = true;
                    } else {
                        self.targets.insert(id, address);
                    }
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// Takes in what the worksheet says of a link.
    pub(super) fn add(&mut self, element: &BytesStart<'_>) {
        let id = listing::attribute_named(element, |key| key == "id" || key.ends_with(":id"));
        let cells = listing::attribute(element, "ref").and_then(|range| place::range(&range));
        let (Some(id), Some([(first_row, first), (last_row, last)])) = (id, cells) else { return };
        if usize::from(first) >= COLUMN_LIMIT {
            return;
        }
        match self.targets.get(&id) {
            Some(address) => {
                let address = Arc::clone(address);
                self.put(Place { rows: (first_row, last_row), columns: (first, last), address });
            }
            None if self.has_other_targets => self.pass_over((first, last)),
            // It leads to a web page or to another cell.
            None => {}
        }
    }

    fn put(&mut self, place: Place) {
        if self.places.len() == self.most {
            self.pass_over(place.columns);
        } else {
            self.places.push(place);
        }
    }

    fn pass_over(&mut self, (first, last): (u16, u16)) {
        let (least, most) = self.unread.unwrap_or((first, last));
        self.unread = Some((least.min(first), most.max(last)));
    }

    /// Forgets what is needed only while the worksheet is read.
    pub(super) fn settle(&mut self) {
        self.targets = HashMap::new();
        self.places.shrink_to_fit();
    }

    /// Whether a column, counted from 0, may have links of which nobody knows where they lead.
    pub(crate) fn may_lack(&self, column: usize) -> bool {
        self.unread.is_some_and(|(first, last)| (usize::from(first)..=usize::from(last)).contains(&column))
    }

    /// The links in a column, counted from 0. Where two lie over each other, that which the file names first counts.
    pub(crate) fn in_column(&self, column: usize) -> ColumnLinks {
        let is_here =
            |place: &&Place| (usize::from(place.columns.0)..=usize::from(place.columns.1)).contains(&column);
        let places: Vec<&Place> = self.places.iter().filter(is_here).collect();
        let mut starts: Vec<usize> = (0..places.len()).collect();
        starts.sort_by_key(|at| places[*at].rows.0);
        let mut borders: Vec<u32> =
            places.iter().flat_map(|place| [place.rows.0, place.rows.1 + 1]).collect();
        borders.sort_unstable();
        borders.dedup();
        let mut links = ColumnLinks::default();
        let mut begun = starts.into_iter().peekable();
        // Those that reach the row at hand, that which is named first on top.
        let mut open = BinaryHeap::new();
        for (at, &first) in borders.iter().enumerate() {
            while let Some(place) = begun.next_if(|place| places[*place].rows.0 == first) {
                open.push(Reverse(place));
            }
            while open.peek().is_some_and(|Reverse(place)| places[*place].rows.1 < first) {
                open.pop();
            }
            if let (Some(Reverse(place)), Some(next)) = (open.peek(), borders.get(at + 1)) {
                links.0.push((first, next - 1, Arc::clone(&places[*place].address)));
            }
        }
        links
    }
}

/// The links in one column: first row, last row and address, in the order of the rows, none over another.
#[derive(Debug, Default)]
pub(crate) struct ColumnLinks(Vec<(u32, u32, Arc<str>)>);

impl ColumnLinks {
    /// The address that the link in a row leads to.
    pub(crate) fn at(&self, row: u32) -> Option<Arc<str>> {
        let after = self.0.partition_point(|(first, ..)| *first <= row);
        let (_, last, address) = self.0.get(after.checked_sub(1)?)?;
        (*last >= row).then(|| Arc::clone(address))
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Link {
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
            let link = Link { column: 0, address: address.into() };
            let target = link.target();
            assert!(target.bytes().all(|byte| byte.is_ascii_graphic()), "{target}");
            assert_eq!(address_of(&target).as_deref(), Some(address), "{target}");
        }
    }

    /// Rows and columns.
    type Cells = ((u32, u32), (u16, u16));

    /// Links of these cells, in the order of the file; each is named after its place in it.
    fn links(places: &[Cells]) -> Links {
        let mut links = Links { most: usize::MAX, ..Links::default() };
        for (at, (rows, columns)) in places.iter().enumerate() {
            links.put(Place { rows: *rows, columns: *columns, address: at.to_string().into() });
        }
        links
    }

    #[test]
    fn of_links_over_each_other_the_first_counts_in_every_row() {
        let links = links(&[
            ((5, 5), (3, 3)),
            ((2, 9), (0, 255)),
            ((4, 20), (3, 4)),
            ((30, 1_048_576), (3, 3)),
            ((5, 5), (3, 3)),
        ]);
        let told = |column: usize| {
            let column = links.in_column(column);
            let rows = [1, 2, 4, 5, 6, 9, 10, 20, 21, 29, 30, 1_048_576];
            rows.map(|row| column.at(row).map_or_else(|| "-".into(), |address| address.to_string())).concat()
        };
        assert_eq!(told(3), "-1101122--33");
        assert_eq!(told(4), "-1111122----");
        assert_eq!(told(0), "-11111------");
        assert!(links.in_column(256).is_empty());
    }

    #[test]
    fn links_that_are_not_kept_are_known_by_their_columns() {
        let mut links = Links { most: 1, ..Links::default() };
        let mut add = |row, column| {
            links.put(Place { rows: (row, row), columns: (column, column), address: "a@x.example".into() });
        };
        add(2, 1);
        add(3, 3);
        add(3, 5);
        let lacking: Vec<usize> = (0..12).filter(|column| links.may_lack(*column)).collect();
        assert_eq!(lacking, [3, 4, 5]);
    }
}

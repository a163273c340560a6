//! The elements of a part, read one after the other by `quick-xml` in memory that no part can make grow: no document type,
//! no endless text or tag, no endless nesting, no other encoding than UTF-8.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Error, ErrorKind, Read};

use quick_xml::errors::SyntaxError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error as XmlError, Reader};

use super::WorkbookFault;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Elements within elements; a worksheet has seven.
const DEPTH: u32 = 250;
/// Bytes read at once.
const CHUNK: usize = 1 << 16;

/// Why the next element of a part cannot be had.
#[derive(Debug, PartialEq)]
pub(super) enum Stop {
    /// The file is refused because of it.
    Refused(WorkbookFault),
    /// Some of its letters are none.
    Letters,
    /// Its elements do not fit together.
    Structure,
}

impl Stop {
    /// The refusal of a workbook that needs the part.
    pub(super) fn in_part(self, part: &str) -> WorkbookFault {
        match self {
            Self::Refused(fault) => fault,
            Self::Letters => WorkbookFault::corrupt(&format!(
                "the part {} has characters that cannot be read",
                shown(part)
            )),
            Self::Structure => {
                WorkbookFault::corrupt(&format!("the structure of the part {} is broken", shown(part)))
            }
        }
    }
}

/// The elements of a part; empty ones begin and end as the others do.
pub(super) struct Elements<R: Read> {
    reader: Reader<BufReader<Bounded<R>>>,
    buffer: Vec<u8>,
    part: String,
    longest: u64,
    depth: u32,
}

impl<R: Read> Elements<R> {
    /// Those of the part of this name, each text and tag of which has at most so many bytes.
    pub(super) fn of(part: &str, inner: R, longest: u64) -> Result<Self, WorkbookFault> {
        let mut bytes = BufReader::with_capacity(CHUNK, Bounded { inner, left: longest });
        let head = bytes.fill_buf().map_err(|error| unreadable(&error, part))?;
        if matches!(head, [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0, _, ..] | [_, 0, ..]) {
            let what = format!("the part {} is stored as UTF-16, and only UTF-8 is read", shown(part));
            return Err(WorkbookFault::corrupt(&what));
        }
        let mut reader = Reader::from_reader(bytes);
        reader.config_mut().expand_empty_elements = true;
        Ok(Self { reader, buffer: Vec::new(), part: part.to_owned(), longest, depth: 0 })
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Result<Event<'_>, Stop> {
        self.buffer.clear();
        self.reader.get_mut().get_mut().left = self.longest;
        let begins = self.reader.buffer_position();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => return Err(stop(&error, &self.part)),
        };
        if self.reader.buffer_position() - begins > self.longest {
            return Err(Stop::Refused(too_long(&self.part)));
        }
        match &event {
            Event::Start(_) if self.depth == DEPTH => {
                let what = format!("the part {} is nested without end", shown(&self.part));
                return Err(Stop::Refused(WorkbookFault::corrupt(&what)));
            }
            Event::Start(_) => self.depth += 1,
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::DocType(_) => return Err(Stop::Refused(entities())),
            Event::Decl(_)
            | Event::Empty(_)
            | Event::Text(_)
            | Event::CData(_)
            | Event::Comment(_)
            | Event::PI(_)
            | Event::GeneralRef(_)
            | Event::Eof => {}
        }
        Ok(event)
    }

    /// Hands over where each element begins, until there are no more.
    pub(super) fn each(
        mut self,
        take: &mut dyn FnMut(&BytesStart<'_>, u64) -> Result<(), WorkbookFault>,
    ) -> Result<(), WorkbookFault> {
        let part = self.part.clone();
        loop {
            let at = self.reader.buffer_position();
            match self.next().map_err(|stop| stop.in_part(&part))? {
                Event::Start(element) => take(&element, at)?,
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }
}

/// A part, of which so many bytes may be read until the next element is complete.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let length = self.inner.read(buffer)?;
        self.left = self.left.saturating_sub(length as u64);
        Ok(length)
    }
}

fn stop(error: &XmlError, part: &str) -> Stop {
    match error {
        XmlError::Io(error) => Stop::Refused(unreadable(error, part)),
        XmlError::Encoding(_) => Stop::Letters,
        XmlError::Syntax(SyntaxError::InvalidBangMarkup | SyntaxError::UnclosedDoctype) => {
            Stop::Refused(entities())
        }
        XmlError::Syntax(_)
        | XmlError::IllFormed(_)
        | XmlError::InvalidAttr(_)
        | XmlError::Escape(_)
        | XmlError::Namespace(_) => Stop::Structure,
    }
}

fn unreadable(error: &Error, part: &str) -> WorkbookFault {
    match error.kind() {
        ErrorKind::FileTooLarge => too_long(part),
        _ => WorkbookFault::corrupt(&format!("the part {} cannot be unpacked", shown(part))),
    }
}

fn too_long(part: &str) -> WorkbookFault {
    WorkbookFault::new(
        Code::FileTooLarge,
        format!(
            "something in the part {} is longer than a million characters, and a cell holds at most 32,767: remove it, \
             and save the workbook again",
            shown(part)
        ),
    )
}

fn entities() -> WorkbookFault {
    WorkbookFault::new(
        Code::FileXmlEntity,
        "the workbook declares XML entities, which no spreadsheet program writes: save it again in Excel",
    )
}

/// The values of these attributes as they are written; `None` when one is broken or there twice.
pub(super) fn attributes<'a, const N: usize>(
    element: &'a BytesStart<'_>,
    names: [&str; N],
) -> Option<[Option<Cow<'a, str>>; N]> {
    let mut found = [const { None }; N];
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.ok()?;
        if let Some(place) = names.iter().position(|name| *name == attribute.key.as_ref())
            && found[place].replace(attribute.value).is_some()
        {
            return None;
        }
    }
    Some(found)
}

/// The value of an attribute, without its entities.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    attribute_where(element, |key| key == name)
}

/// The id of another part that an element names, whatever the prefix of that attribute.
pub(super) fn id(element: &BytesStart<'_>) -> Option<String> {
    attribute_where(element, |key| key == "id" || key.ends_with(":id"))
}

fn attribute_where(element: &BytesStart<'_>, is_it: impl Fn(&str) -> bool) -> Option<String> {
    let mut attributes = element.attributes();
    let found = attributes.with_checks(false).flatten().find(|attribute| is_it(attribute.key.as_ref()))?;
    let text = quick_xml::escape::unescape(&found.value).map(Cow::into_owned);
    Some(text.unwrap_or_else(|_| found.value.to_string()))
}

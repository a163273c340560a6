//! The bytes of a part on their way to a parser: stopped before anything could make it collect without end.
//!
//! Follows the outline of XML only: text, tags, comments, instructions. What they mean is left to the readers.

use std::fmt;
use std::io::{Error, Read, Result};

use quick_xml::Reader;

use super::Fault;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::shown;

/// Bytes at the start that say how the letters are stored.
const HEAD: usize = 256;

/// Elements within elements; a worksheet has seven.
const DEPTH: u32 = 250;

/// Why reading was stopped.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stop {
    /// A document type or an entity.
    Entity,
    /// A text or a tag without end.
    Long,
    /// Elements within elements without end.
    Deep,
    /// Letters that are stored in another encoding than UTF-8.
    Encoding(String),
    /// More bytes than the part says it has.
    Size,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Stop {}

/// What the last byte was part of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    Text,
    /// After `<`.
    Open,
    Tag,
    /// In a value of a tag, until this mark.
    Quoted(u8),
    /// After `<!`, and after `<!-`.
    Bang,
    BangDash,
    /// In a comment, a CDATA section or an instruction: how many bytes of its end were just seen.
    Comment(u8),
    CData(u8),
    Instruction(u8),
}

/// A part that is read through.
pub(super) struct Tokens<R> {
    inner: R,
    longest: usize,
    left: u64,
    state: State,
    run: usize,
    depth: u32,
    /// Whether the tag at hand ends an element, and whether its last byte was a slash.
    is_end: bool,
    is_slashed: bool,
    head: Option<Vec<u8>>,
}

impl<R: Read> Tokens<R> {
    /// Reads a part of at most `size` bytes whose texts and tags have at most `longest`.
    pub(super) fn new(inner: R, longest: usize, size: u64) -> Self {
        Self {
            inner,
            longest,
            left: size,
            state: State::Text,
            run: 0,
            depth: 0,
            is_end: false,
            is_slashed: false,
            head: Some(Vec::new()),
        }
    }

    fn see(&mut self, bytes: &[u8]) -> std::result::Result<(), Stop> {
        self.see_head(bytes)?;
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Text {
                let text = rest.iter().position(|byte| *byte == b'<').unwrap_or(rest.len());
                self.run += text;
                if text < rest.len() {
                    self.state = State::Open;
                    self.run += 1;
                }
                rest = &rest[(text + 1).min(rest.len())..];
            } else {
                self.step(byte)?;
                rest = after;
            }
            if self.run > self.longest {
                return Err(Stop::Long);
            }
        }
        Ok(())
    }

    /// Takes a byte that is not plain text.
    fn step(&mut self, byte: u8) -> std::result::Result<(), Stop> {
        self.run += 1;
        self.state = match (self.state, byte) {
            (State::Open, b'!') => State::Bang,
            (State::Open, b'?') => State::Instruction(0),
            (State::Open | State::Tag, b'>') => {
                self.end_tag()?;
                State::Text
            }
            // A tag ends the text before it; comments and the like do not.
            (State::Open, _) => {
                self.run = 1;
                self.is_end = byte == b'/';
                State::Tag
            }
            (State::Tag, b'"' | b'\'') => State::Quoted(byte),
            (State::Tag, _) => State::Tag,
            (State::Quoted(mark), _) if mark == byte => State::Tag,
            (State::Quoted(mark), _) => State::Quoted(mark),
            (State::Bang, b'-') => State::BangDash,
            (State::Bang, b'[') => State::CData(0),
            (State::BangDash, b'-') => State::Comment(0),
            (State::Bang | State::BangDash, _) => return Err(Stop::Entity),
            (State::Comment(2), b'>') | (State::CData(2), b'>') | (State::Instruction(1), b'>') => {
                State::Text
            }
            (State::Comment(seen), b'-') => State::Comment((seen + 1).min(2)),
            (State::Comment(_), _) => State::Comment(0),
            (State::CData(seen), b']') => State::CData((seen + 1).min(2)),
            (State::CData(_), _) => State::CData(0),
            (State::Instruction(_), b'?') => State::Instruction(1),
            (State::Instruction(_), _) => State::Instruction(0),
            (State::Text, _) => State::Text,
        };
        self.is_slashed = byte == b'/';
        Ok(())
    }

    /// A tag is complete: an element begins, or ends, or does both.
    fn end_tag(&mut self) -> std::result::Result<(), Stop> {
        self.run = 0;
        if self.is_end {
            self.depth = self.depth.saturating_sub(1);
        } else if !self.is_slashed {
            self.depth += 1;
        }
        if self.depth > DEPTH { Err(Stop::Deep) } else { Ok(()) }
    }

    /// Looks at the first bytes for another encoding than UTF-8.
    fn see_head(&mut self, bytes: &[u8]) -> std::result::Result<(), Stop> {
        let Some(head) = &mut self.head else { return Ok(()) };
        head.extend(&bytes[..bytes.len().min(HEAD - head.len())]);
        if head.len() < HEAD && !bytes.is_empty() && !head.windows(2).any(|two| two == b"?>") {
            if head.len() >= 2 {
                wide(head)?;
            }
            return Ok(());
        }
        wide(head)?;
        if let Some(name) = declared(head)
            && !["utf-8", "utf8", "us-ascii", "ascii"].contains(&name.to_ascii_lowercase().as_str())
        {
            return Err(Stop::Encoding(name));
        }
        self.head = None;
        Ok(())
    }
}

/// Letters of two bytes.
fn wide(head: &[u8]) -> std::result::Result<(), Stop> {
    let is_wide = matches!(head, [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0, _, ..] | [_, 0, ..]);
    if is_wide { Err(Stop::Encoding("UTF-16".into())) } else { Ok(()) }
}

/// The encoding that the first line of a part names.
fn declared(head: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let declaration = head.trim_start_matches('\u{feff}').strip_prefix("<?xml")?.split("?>").next()?;
    let value = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let mark = value.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
    Some(value[1..].split(mark).next()?.to_owned())
}

impl<R: Read> Read for Tokens<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let length = self.inner.read(buffer)?;
        self.left = match self.left.checked_sub(length as u64) {
            Some(left) => left,
            None => return Err(Error::other(Stop::Size)),
        };
        self.see(&buffer[..length]).map_err(Error::other)?;
        Ok(length)
    }
}

/// A reader of the elements of a part.
pub(super) type Elements<R> = Reader<std::io::BufReader<Tokens<R>>>;

/// Reads the elements of a part; empty ones begin and end as the others do.
pub(super) fn elements<R: Read>(tokens: Tokens<R>) -> Elements<R> {
    let mut reader = Reader::from_reader(std::io::BufReader::with_capacity(1 << 16, tokens));
    reader.config_mut().expand_empty_elements = true;
    reader
}

/// Why a part cannot be read, in words of the person who has the file.
pub(super) fn fault(error: &quick_xml::Error, part: &str) -> Fault {
    match error {
        quick_xml::Error::Io(error) => io_fault(error, part),
        quick_xml::Error::Encoding(_) => {
            Fault::corrupt(&format!("the part {} has characters that cannot be read", shown(part)))
        }
        quick_xml::Error::Syntax(_)
        | quick_xml::Error::IllFormed(_)
        | quick_xml::Error::InvalidAttr(_)
        | quick_xml::Error::Escape(_)
        | quick_xml::Error::Namespace(_) => {
            Fault::corrupt(&format!("the structure of the part {} is broken", shown(part)))
        }
    }
}

/// The same for an error of reading.
pub(super) fn io_fault(error: &Error, part: &str) -> Fault {
    let stop = error.get_ref().and_then(|inner| inner.downcast_ref::<Stop>());
    match stop {
        Some(Stop::Entity) => Fault::new(
            Code::FileXmlEntity,
            "the workbook declares XML entities, which no spreadsheet program writes: save it again in Excel",
        ),
        Some(Stop::Long) => Fault::new(
            Code::FileTooLarge,
            format!(
                "something in the part {} is longer than a million characters, and a cell holds at most 32,767: \
                 remove it, and save the workbook again",
                shown(part)
            ),
        ),
        Some(Stop::Deep) => Fault::corrupt(&format!("the part {} is nested without end", shown(part))),
        Some(Stop::Encoding(name)) => Fault::corrupt(&format!(
            "the part {} is stored as {}, and only UTF-8 is read",
            shown(part),
            shown(name)
        )),
        Some(Stop::Size) => Fault::corrupt(&format!("the part {} is larger than the file says", shown(part))),
        None => Fault::corrupt(&format!("the part {} cannot be unpacked", shown(part))),
    }
}

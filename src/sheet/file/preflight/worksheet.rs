//! One pass over a worksheet, in constant memory: where its cells are and what they compute, not what they hold.
//!
//! It is stricter than the reader that comes after it: where that one would pass over something, or take one cell for
//! another, the worksheet is refused with the last cell that was right.

use std::io::Read;

use quick_xml::events::{BytesStart, Event};

use super::attributes::{attributes, is_nothing, is_true};
use super::cell;
use super::cell::ScannedCell;
use super::links::Links;
use super::package::Archive;
use super::survey;
use super::survey::Merge;
use super::survey::Survey;
use super::tokens;
use super::tokens::{Elements, elements};
use super::{Fault, Limits, attributes};
use crate::sheet::cell::address;
use crate::sheet::finding::code::Code;

/// Surveys the worksheet in a part.
pub(super) fn survey(archive: &mut Archive, part: &str, is_uncalculated: bool) -> Result<Survey, Fault> {
    let limits = archive.limits;
    let links = Links::of(archive, part);
    let reader = elements(archive.part(part, limits.run)?);
    let walk = Walk {
        limits,
        is_uncalculated,
        survey: Survey::new(links),
        path: Vec::new(),
        data: Data::Before,
        row: 0,
        row_is_hidden: false,
        row_is_filled: false,
        columns: 0,
        is_behind_an_error: false,
        cell: ScannedCell::default(),
        last: None,
        seen: Vec::new(),
        merges: Vec::new(),
        ranges: 0,
    };
    walk.through(reader, part)
}

/// Where the rows are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Data {
    Before,
    Within,
    After,
}

/// The elements that matter, and any other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Element {
    Data,
    Row,
    Cell,
    Formula,
    Value,
    Inline,
    Other,
}

/// A pass under way.
struct Walk {
    limits: Limits,
    is_uncalculated: bool,
    survey: Survey,
    path: Vec<Element>,
    data: Data,
    row: u32,
    row_is_hidden: bool,
    row_is_filled: bool,
    /// The column that a cell without address has.
    columns: u32,
    /// Whether the reader passes over the cell before this one of the row without counting it.
    is_behind_an_error: bool,
    cell: ScannedCell,
    last: Option<(u32, u16)>,
    /// The columns of the row at hand that have a cell.
    seen: Vec<u64>,
    merges: Vec<Merge>,
    ranges: usize,
}

impl Walk {
    fn through<R: Read>(mut self, mut reader: Elements<R>, part: &str) -> Result<Survey, Fault> {
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            let event = reader.read_event_into(&mut buffer).map_err(|error| self.broken(&error, part))?;
            match event {
                Event::Start(element) => self.begin(&element)?,
                Event::End(_) => self.end()?,
                Event::Text(text) => self.text(&text, true)?,
                Event::GeneralRef(reference) => self.text(&reference, false)?,
                Event::CData(text) => self.section(&text)?,
                Event::Comment(_) | Event::PI(_) => self.section("")?,
                Event::Empty(_) | Event::Decl(_) | Event::DocType(_) => {}
                Event::Eof => break,
            }
        }
        if self.data != Data::After || !self.path.is_empty() {
            return Err(self.unreadable("its end is missing"));
        }
        self.survey.order();
        self.survey.merges = survey::ordered(std::mem::take(&mut self.merges)).map_err(|merge| {
            self.unreadable(&format!("the merged range {} lies over another one", merge.range()))
        })?;
        Ok(self.survey)
    }

    /// An element begins.
    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), Fault> {
        let name = element.local_name();
        let found = match name.as_ref() {
            "sheetData" => Element::Data,
            "row" => Element::Row,
            "c" => Element::Cell,
            "f" => Element::Formula,
            "v" => Element::Value,
            "is" => Element::Inline,
            _ => Element::Other,
        };
        let within = self.path.last().copied();
        let is_inside = self.data == Data::Within;
        match (within, found) {
            (_, Element::Data) => {
                if self.data != Data::Before {
                    return Err(self.unreadable("it has two sets of rows"));
                }
                self.data = Data::Within;
            }
            (Some(Element::Data), Element::Row) => self.begin_row(element)?,
            (Some(Element::Row), Element::Cell) => self.begin_cell(element)?,
            (Some(Element::Cell), Element::Formula) => {
                self.cell.begin_formula().map_err(|what| self.unreadable(what))?;
            }
            (Some(Element::Cell), Element::Value) => {
                self.cell.begin_value().map_err(|what| self.unreadable(what))?;
            }
            (Some(Element::Cell), Element::Inline) => {
                self.cell.begin_inline().map_err(|what| self.unreadable(what))?;
            }
            (Some(Element::Cell), Element::Other) => {
                return Err(self.unreadable(&format!(
                    "a cell has a part called {}, which is not known",
                    crate::sheet::finding::shown(name.as_ref())
                )));
            }
            (_, Element::Row | Element::Cell | Element::Formula | Element::Value | Element::Inline)
                if is_inside =>
            {
                return Err(self.unreadable("its cells are inside each other"));
            }
            // Elements of other names, and of these names outside of the rows.
            (_, _) if !is_inside => self.begin_aside(name.as_ref(), element)?,
            (_, _) => {}
        }
        let kept = if is_inside || found == Element::Data { found } else { Element::Other };
        self.path.push(kept);
        Ok(())
    }

    /// An element before or after the rows.
    fn begin_aside(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), Fault> {
        match name {
            "col" => self.hide_columns(element),
            "autoFilter" => {
                self.survey.has_filter = true;
                Ok(())
            }
            "hyperlink" => {
                self.survey.links.add(element);
                Ok(())
            }
            "mergeCell" => {
                let range = attributes(element, ["ref"])?;
                let corners = range[0].and_then(attributes::range);
                let corners = corners.ok_or_else(|| self.unreadable("a merged range has no place"))?;
                if self.merges.len() == self.limits.merges {
                    return Err(self.unreadable("it has more merged ranges than are read"));
                }
                self.merges.extend(Merge::between(corners));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn hide_columns(&mut self, element: &BytesStart<'_>) -> Result<(), Fault> {
        let [min, max, hidden, width] = attributes(element, ["min", "max", "hidden", "width"])?;
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
        if is_true(hidden) || width.is_some_and(is_nothing) {
            let last = number(max).unwrap_or(0).min(super::COLUMN_LIMIT);
            for column in number(min).unwrap_or(1).max(1)..=last {
                if let Some(column) = self.survey.column_mut(column - 1) {
                    column.is_hidden = true;
                }
            }
        }
        Ok(())
    }

    fn begin_row(&mut self, element: &BytesStart<'_>) -> Result<(), Fault> {
        let [number, hidden, height] = attributes(element, ["r", "hidden", "ht"])?;
        let next = self.row + 1;
        let number = match number {
            Some(text) => attributes::row(text),
            None => Some(next).filter(|row| *row <= attributes::ROWS),
        };
        let Some(number) = number else {
            return Err(self.unreadable("a row has no number that a worksheet can have"));
        };
        if number != self.row {
            self.survey.is_ordered &= number > self.row;
            self.seen.clear();
        }
        self.row = number;
        self.columns = 0;
        self.is_behind_an_error = false;
        self.row_is_hidden = is_true(hidden) || height.is_some_and(is_nothing);
        self.row_is_filled = false;
        Ok(())
    }

    fn begin_cell(&mut self, element: &BytesStart<'_>) -> Result<(), Fault> {
        let [at, of] = attributes(element, ["r", "t"])?;
        if at.is_none() && self.is_behind_an_error {
            return Err(self.unreadable("its formula has an error, and the next cell has no address"));
        }
        let at = match at {
            Some(text) => attributes::cell(text),
            None => u16::try_from(self.columns)
                .ok()
                .filter(|column| u32::from(*column) < attributes::COLUMNS)
                .map(|column| (self.row, column)),
        };
        let Some((row, column)) = at else {
            return Err(self.unreadable("a cell has no address that a worksheet can have"));
        };
        if row != self.row {
            let what = format!("{} is in row {}", address(usize::from(column), row), self.row);
            return Err(self.unreadable(&what));
        }
        let (word, bit) = (usize::from(column) / 64, 1_u64 << (column % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            return Err(self.unreadable(&format!("{} occurs twice", address(usize::from(column), row))));
        }
        self.seen[word] |= bit;
        self.cell = ScannedCell::at((row, column), of);
        self.columns = u32::from(column) + 1;
        Ok(())
    }

    /// Text, or a reference in it such as `&amp;`.
    fn text(&mut self, text: &str, is_plain: bool) -> Result<(), Fault> {
        if self.data != Data::Within {
            return Ok(());
        }
        if !self.cell.is_there() {
            // White space between cells.
            return Ok(());
        }
        if self.cell.grow(text.len()) > self.limits.run {
            let at = address(usize::from(self.cell.column), self.cell.row);
            return Err(Fault::new(
                Code::FileTooLarge,
                format!("{at} holds more than a million characters: remove its content"),
            ));
        }
        match self.path.last() {
            Some(Element::Formula) => self.cell.formula.take(text, is_plain),
            Some(Element::Value) => {
                self.cell.take_value(text, is_plain).map_err(|what| self.unreadable(what))?;
            }
            Some(Element::Data | Element::Row | Element::Cell | Element::Inline | Element::Other) | None => {}
        }
        Ok(())
    }

    /// What the reader passes over inside a value.
    fn section(&mut self, text: &str) -> Result<(), Fault> {
        if self.path.last() == Some(&Element::Value) {
            return Err(self.unreadable(cell::BROKEN));
        }
        self.text(text, false)
    }

    /// An element ends.
    fn end(&mut self) -> Result<(), Fault> {
        match self.path.pop() {
            Some(Element::Cell) => self.end_cell(),
            Some(Element::Row) => {
                if self.row_is_hidden && self.row_is_filled {
                    let is_new = self.survey.hidden_rows.add(self.row);
                    self.remember(is_new)?;
                }
                Ok(())
            }
            Some(Element::Data) => {
                self.data = Data::After;
                Ok(())
            }
            Some(Element::Formula | Element::Value | Element::Inline | Element::Other) | None => Ok(()),
        }
    }

    fn end_cell(&mut self) -> Result<(), Fault> {
        let cell = std::mem::take(&mut self.cell);
        cell.end().map_err(|what| self.unreadable(what))?;
        if cell.holds_anything() {
            self.row_is_filled = true;
            self.survey.values += 1;
            if self.survey.values > self.limits.values {
                return Err(Fault::new(
                    Code::FileTooLarge,
                    format!("the sheet has more than {} values: split it", self.limits.values),
                ));
            }
        }
        if cell.has_formula {
            let is_unsaved = cell.is_unsaved(self.is_uncalculated);
            let mut is_new = false;
            if let Some(column) = self.survey.column_mut(usize::from(cell.column)) {
                if !is_unsaved {
                    column.formulas.add(cell.row);
                }
                if cell.formula.is_volatile {
                    column.volatile.add(cell.row);
                }
                if cell.formula.is_external {
                    column.external.add(cell.row);
                }
                is_new = is_unsaved && column.unsaved.add(cell.row);
            }
            self.remember(is_new)?;
        }
        self.is_behind_an_error = cell.is_unknown_error;
        if cell.is_unknown_error {
            self.survey.unknown_errors.push((cell.row, cell.column));
            self.remember(true)?;
        }
        self.last = Some((cell.row, cell.column));
        Ok(())
    }

    /// Counts the ranges that are kept.
    fn remember(&mut self, is_new: bool) -> Result<(), Fault> {
        self.ranges += usize::from(is_new);
        if self.ranges > self.limits.ranges {
            return Err(self.unreadable(
                "too many of its rows are hidden or have formulas without a result, or with an error",
            ));
        }
        Ok(())
    }

    fn unreadable(&self, what: &str) -> Fault {
        Fault::new(Code::SheetUnreadable, unreadable(self.last, what))
    }

    /// Why the next element cannot be had.
    fn broken(&self, error: &quick_xml::Error, part: &str) -> Fault {
        match error {
            quick_xml::Error::Io(_) => tokens::fault(error, part),
            quick_xml::Error::Encoding(_) => self.unreadable("it has letters that cannot be read"),
            quick_xml::Error::Syntax(_)
            | quick_xml::Error::IllFormed(_)
            | quick_xml::Error::InvalidAttr(_)
            | quick_xml::Error::Escape(_)
            | quick_xml::Error::Namespace(_) => self.unreadable("its structure is broken"),
        }
    }
}

/// Says after which cell a worksheet cannot be read; rows as shown, columns from 0.
pub(crate) fn unreadable(last: Option<(u32, u16)>, what: &str) -> String {
    let place = last.map_or_else(
        || "at its start".to_owned(),
        |(row, column)| format!("after {}", address(usize::from(column), row)),
    );
    format!("the sheet is damaged {place} ({what}): open it in Excel and save it")
}

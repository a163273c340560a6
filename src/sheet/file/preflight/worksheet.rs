//! One pass over a worksheet, in constant memory: where its cells are and what they compute, not what they hold.
//!
//! It is stricter than the reader that comes after it: where that one would pass over something, or take one cell for
//! another, the worksheet is refused with the last cell that was right.

use std::borrow::Cow;

use quick_xml::events::{BytesStart, Event};

use super::cell::{BROKEN, ScannedCell};
use super::elements::{Stop, attributes};
use super::links::MailLinks;
use super::package::Package;
use super::survey::WorksheetSurvey;
use super::{COLUMN_LIMIT, WorkbookFault, WorkbookLimits, merges};
use crate::sheet::address::{COLUMNS, CellRange, address, place, row};
use crate::sheet::finding::code::Code;

/// Surveys the worksheet in a part.
pub(super) fn survey(
    package: &mut Package,
    part: &str,
    is_uncalculated: bool,
) -> Result<WorksheetSurvey, WorkbookFault> {
    let (links, has_pivot) = MailLinks::of(package, part);
    let mut walk = Walk {
        limits: package.limits,
        is_uncalculated,
        survey: WorksheetSurvey::new(links, has_pivot),
        path: Vec::new(),
        data: Data::Before,
        row: ScannedRow::default(),
        cell: None,
        last: None,
        ranges: 0,
    };
    let mut elements = package.elements(part)?;
    loop {
        let event = match elements.next() {
            Ok(event) => event,
            Err(Stop::Refused(fault)) => return Err(fault),
            Err(Stop::Letters) => return Err(walk.unreadable("it has letters that cannot be read")),
            Err(Stop::Structure) => return Err(walk.unreadable("its structure is broken")),
        };
        match event {
            Event::Start(element) => walk.begin(&element)?,
            Event::End(_) => walk.end()?,
            Event::Text(text) => walk.text(&text, true)?,
            Event::GeneralRef(reference) => walk.text(&reference, false)?,
            Event::CData(text) => walk.section(&text)?,
            Event::Comment(_) | Event::PI(_) => walk.section("")?,
            Event::Empty(_) | Event::Decl(_) | Event::DocType(_) => {}
            Event::Eof => return walk.finish(),
        }
    }
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
    Other,
}

/// The row at hand.
#[derive(Debug, Default)]
struct ScannedRow {
    number: u32,
    is_hidden: bool,
    is_filled: bool,
    /// The column that a cell without address has.
    next: u16,
    /// Whether the reader passes over the cell before this one without counting it.
    is_behind_an_error: bool,
    /// The columns that have a cell.
    seen: Vec<u64>,
}

/// A pass under way.
struct Walk {
    limits: WorkbookLimits,
    is_uncalculated: bool,
    survey: WorksheetSurvey,
    path: Vec<Element>,
    data: Data,
    row: ScannedRow,
    cell: Option<ScannedCell>,
    last: Option<(u32, u16)>,
    /// Ranges that are kept.
    ranges: usize,
}

impl Walk {
    fn finish(mut self) -> Result<WorksheetSurvey, WorkbookFault> {
        if self.data != Data::After || !self.path.is_empty() {
            return Err(self.unreadable("its end is missing"));
        }
        self.survey.order();
        self.survey.merges = merges::ordered(std::mem::take(&mut self.survey.merges)).map_err(|merge| {
            self.unreadable(&format!("the merged range {} lies over another one", merge.address()))
        })?;
        Ok(self.survey)
    }

    /// An element begins.
    fn begin(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookFault> {
        let name = element.local_name();
        let found = match name.as_ref() {
            "sheetData" => Element::Data,
            "row" => Element::Row,
            "c" => Element::Cell,
            "f" => Element::Formula,
            "v" => Element::Value,
            _ => Element::Other,
        };
        let is_inside = self.data == Data::Within;
        match (self.path.last(), found) {
            (_, Element::Data) if self.data != Data::Before => {
                return Err(self.unreadable("it has two sets of rows"));
            }
            (_, Element::Data) => self.data = Data::Within,
            (Some(Element::Data), Element::Row) => self.begin_row(element)?,
            (Some(Element::Row), Element::Cell) => self.begin_cell(element)?,
            (Some(Element::Cell), Element::Formula | Element::Value | Element::Other) => {
                let begun = self.cell.as_mut().map_or(Ok(()), |cell| cell.begin(name.as_ref()));
                begun.map_err(|what| self.unreadable(&what))?;
            }
            (_, Element::Row | Element::Cell | Element::Formula | Element::Value) if is_inside => {
                return Err(self.unreadable("its cells are inside each other"));
            }
            // Elements of other names, and of these names outside of the rows.
            (_, _) if !is_inside => self.begin_aside(name.as_ref(), element)?,
            (_, _) => {}
        }
        self.path.push(if is_inside || found == Element::Data { found } else { Element::Other });
        Ok(())
    }

    /// An element before or after the rows.
    fn begin_aside(&mut self, name: &str, element: &BytesStart<'_>) -> Result<(), WorkbookFault> {
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
                let [range] = self.attributes(element, ["ref"])?;
                let Some(range) = range.and_then(|range| CellRange::of(&range)) else {
                    return Err(self.unreadable("a merged range has no place"));
                };
                let is_one = range.is_vertical() && range.is_horizontal();
                if is_one || usize::from(range.first_column) >= COLUMN_LIMIT {
                    return Ok(());
                }
                self.survey.merges.push(range);
                self.remember(true)
            }
            _ => Ok(()),
        }
    }

    fn hide_columns(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookFault> {
        let [min, max, hidden, width] = self.attributes(element, ["min", "max", "hidden", "width"])?;
        if is_hidden(hidden.as_deref(), width.as_deref()) {
            let number = |text: Option<Cow<'_, str>>| text.and_then(|text| text.parse::<usize>().ok());
            let last = number(max).unwrap_or(0).min(COLUMN_LIMIT);
            for column in number(min).unwrap_or(1).max(1)..=last {
                if let Some(column) = self.survey.column_mut(column - 1) {
                    column.is_hidden = true;
                }
            }
        }
        Ok(())
    }

    fn begin_row(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookFault> {
        let [number, hidden, height] = self.attributes(element, ["r", "hidden", "ht"])?;
        let before = self.row.number;
        let number = match number {
            Some(text) => row(&text),
            None => row(&(before + 1).to_string()),
        };
        let Some(number) = number else {
            return Err(self.unreadable("a row has no number that a worksheet can have"));
        };
        let mut seen = std::mem::take(&mut self.row.seen);
        if number != before {
            self.survey.is_ordered &= number > before;
            seen.clear();
        }
        self.row = ScannedRow {
            number,
            is_hidden: is_hidden(hidden.as_deref(), height.as_deref()),
            seen,
            ..ScannedRow::default()
        };
        Ok(())
    }

    fn begin_cell(&mut self, element: &BytesStart<'_>) -> Result<(), WorkbookFault> {
        let [at, of] = self.attributes(element, ["r", "t"])?;
        if at.is_none() && self.row.is_behind_an_error {
            return Err(self.unreadable("its formula has an error, and the next cell has no address"));
        }
        let found = match at {
            Some(text) => place(&text),
            None => Some((self.row.number, self.row.next)).filter(|(_, next)| *next < COLUMNS),
        };
        let Some((row, column)) = found else {
            return Err(self.unreadable("a cell has no address that a worksheet can have"));
        };
        let told = || address(usize::from(column), row);
        if row != self.row.number {
            return Err(self.unreadable(&format!("{} is in row {}", told(), self.row.number)));
        }
        let (word, bit) = (usize::from(column) / 64, 1_u64 << (column % 64));
        let seen = &mut self.row.seen;
        if seen.len() <= word {
            seen.resize(word + 1, 0);
        }
        if seen[word] & bit != 0 {
            return Err(self.unreadable(&format!("{} occurs twice", told())));
        }
        seen[word] |= bit;
        self.row.next = column + 1;
        self.cell = Some(ScannedCell::at((row, column), of.as_deref()));
        Ok(())
    }

    /// Text, or a reference in it such as `&amp;`; between cells it is white space.
    fn text(&mut self, text: &str, is_plain: bool) -> Result<(), WorkbookFault> {
        let Some(cell) = &mut self.cell else { return Ok(()) };
        // A reference stands between `&` and `;`.
        cell.bytes += text.len() as u64 + if is_plain { 0 } else { 2 };
        if cell.bytes > self.limits.run {
            let at = address(usize::from(cell.place.1), cell.place.0);
            return Err(WorkbookFault::too_large(format!(
                "{at} holds more than a million characters: remove its content"
            )));
        }
        match self.path.last() {
            Some(Element::Formula) => {
                if let Some(formula) = &mut cell.formula {
                    formula.take(text, is_plain);
                }
                Ok(())
            }
            Some(Element::Value) => cell.take_value(text, is_plain).map_err(|what| self.unreadable(&what)),
            Some(Element::Data | Element::Row | Element::Cell | Element::Other) | None => Ok(()),
        }
    }

    /// What the reader passes over inside a value.
    fn section(&mut self, text: &str) -> Result<(), WorkbookFault> {
        if self.path.last() == Some(&Element::Value) {
            return Err(self.unreadable(BROKEN));
        }
        self.text(text, false)
    }

    /// An element ends.
    fn end(&mut self) -> Result<(), WorkbookFault> {
        match self.path.pop() {
            Some(Element::Cell) => self.end_cell(),
            Some(Element::Row) => {
                let is_kept = self.row.is_hidden && self.row.is_filled;
                let is_new = is_kept && self.survey.hidden_rows.add(self.row.number);
                self.remember(is_new)
            }
            Some(Element::Data) => {
                self.data = Data::After;
                Ok(())
            }
            Some(Element::Formula | Element::Value | Element::Other) | None => Ok(()),
        }
    }

    fn end_cell(&mut self) -> Result<(), WorkbookFault> {
        let Some(cell) = self.cell.take() else { return Ok(()) };
        cell.end().map_err(|what| self.unreadable(&what))?;
        let (row, column) = cell.place;
        if cell.holds_anything() {
            self.row.is_filled = true;
            self.survey.values += 1;
            if self.survey.values > self.limits.values {
                let most = self.limits.values;
                return Err(WorkbookFault::too_large(format!(
                    "the sheet has more than {most} values: split it"
                )));
            }
        }
        if let (Some(formula), Some(survey)) = (&cell.formula, self.survey.column_mut(usize::from(column))) {
            let is_unsaved = cell.is_unsaved(self.is_uncalculated);
            survey.formulas.add_if(!is_unsaved, row);
            survey.volatile.add_if(formula.is_volatile, row);
            survey.external.add_if(formula.is_external, row);
            let is_new = is_unsaved && survey.unsaved.add(row);
            self.remember(is_new)?;
        }
        self.row.is_behind_an_error = cell.is_unknown_error;
        if cell.is_unknown_error {
            self.survey.unknown_errors.push(cell.place);
            self.remember(true)?;
        }
        self.last = Some(cell.place);
        Ok(())
    }

    /// Counts the ranges that are kept.
    fn remember(&mut self, is_new: bool) -> Result<(), WorkbookFault> {
        self.ranges += usize::from(is_new);
        if self.ranges > self.limits.ranges {
            return Err(self.unreadable(
                "too many of its cells are merged, or of its rows hidden, or with formulas without a result or with an \
                 error",
            ));
        }
        Ok(())
    }

    fn attributes<'a, const N: usize>(
        &self,
        element: &'a BytesStart<'_>,
        names: [&str; N],
    ) -> Result<[Option<Cow<'a, str>>; N], WorkbookFault> {
        attributes(element, names).ok_or_else(|| self.unreadable("an attribute is broken"))
    }

    fn unreadable(&self, what: &str) -> WorkbookFault {
        WorkbookFault::new(Code::SheetUnreadable, unreadable(self.last, what))
    }
}

/// Whether a row or column is hidden: it is said to be, or has no size.
fn is_hidden(hidden: Option<&str>, size: Option<&str>) -> bool {
    matches!(hidden, Some("1" | "true"))
        || size.is_some_and(|size| size.parse::<f64>().is_ok_and(|size| size == 0.0))
}

/// Says after which cell a worksheet cannot be read; rows as shown, columns from 0.
pub(crate) fn unreadable(last: Option<(u32, u16)>, what: &str) -> String {
    let place = last.map_or_else(
        || "at its start".to_owned(),
        |(row, column)| format!("after {}", address(usize::from(column), row)),
    );
    format!("the sheet is damaged {place} ({what}): open it in Excel and save it")
}

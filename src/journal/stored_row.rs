//! The cells and the action of a row as the journal keeps them: every text once.
//!
//! A value that a column has again and again (a company, a town, a model) is a text of its own, in `cell_text`, and its number
//! stands in the cells. An action that creates a record is a shape, which many rows share, with places for what stands in
//! the cells: `$3` in a shape is the text of cell 3, counted from 0, `#3` the number that its text is. `?` is a value that no
//! cell has, such as an address that is sent in another form than it was written: those stand in the step, in their order.
//!
//! What is read again is, byte for byte, the JSON that was written: the digest of a row's values does not change.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;
use smol_str::{SmolStr, format_smolstr};

use crate::error::{Error, Result};
use crate::journal::file::sqlite_error::{damaged, unwritable};
use crate::journal::state::step::parse_action;
use crate::model::action::Action;
use crate::model::json::string_end;

/// Different values of a column among which those are found that come again. A column with more has keys, names or addresses.
const DIFFERENT: usize = 1_000;
/// Values of a column without one that came again, after which none is looked for.
const FRUITLESS: usize = 300;
/// Bytes of a text that is worth a number: shorter ones take no more room, longer ones hardly come again.
const WORTH_A_NUMBER: std::ops::RangeInclusive<usize> = 3..=200;
/// Shapes of the rows of a sheet. Rows beyond are kept with their action as it is.
const SHAPES: usize = 500;
/// The fields of an action that say what it is: they stand in the shape whatever the cells have.
const TAGS: [&str; 2] = ["\"action\"", "\"kind\""];

/// A row as it is kept.
#[derive(Debug, Default)]
pub struct StoredRow {
    /// Its cells: texts, and the numbers of texts.
    pub(in crate::journal) cells: String,
    /// The texts that no row before had twice, with their numbers.
    pub(in crate::journal) texts: Vec<(i64, String)>,
    /// Its first action, where that has a shape.
    pub(in crate::journal) shaped: Option<Shaped>,
}

/// An action by its shape.
#[derive(Debug)]
pub(in crate::journal) struct Shaped {
    /// The number of its shape.
    pub(in crate::journal) shape: i64,
    /// The shape itself, in the row that has it first.
    pub(in crate::journal) text: Option<Arc<str>>,
    /// What stands for `?`.
    pub(in crate::journal) values: Option<String>,
}

/// Writes the rows of one sheet after the other; may be sent to the thread that reads them.
#[derive(Debug)]
pub struct RowEncoder {
    next_text: i64,
    columns: Vec<ColumnTexts>,
    next_shape: i64,
    /// The number in the journal of each shape that a row had, by its number among the shapes of the import.
    shapes: Vec<Option<i64>>,
}

/// The shapes of the actions that came so far, by which an action that creates a record takes a few bytes beside the cells of
/// its row.
#[derive(Debug, Default)]
pub struct ActionShapes {
    shapes: Vec<ShapeParts>,
    numbers: HashMap<Arc<str>, usize>,
    /// The shape of the row before: that of most rows.
    last: usize,
}

/// An action by its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedAction {
    /// The number of the shape among [`ActionShapes`].
    pub shape: usize,
    /// What stands for its `?`.
    pub values: Option<String>,
}

/// A shape as its parts.
#[derive(Debug)]
struct ShapeParts {
    shape: Arc<str>,
    parts: Vec<ShapePart>,
}

/// A part of a shape.
#[derive(Debug)]
enum ShapePart {
    /// What stands there as it is.
    Fixed(Range<usize>),
    /// What stands for something of a row.
    Mark(Mark),
}

/// What stands for something of a row in a shape.
#[derive(Debug, Clone, Copy)]
enum Mark {
    /// The text of a cell, as JSON has it.
    Cell(usize),
    /// The number that the text of a cell is.
    CellNumber(usize),
    /// A value that no cell has.
    Value,
}

/// The texts of one column that came so far.
#[derive(Debug, Default)]
struct ColumnTexts {
    /// Each with its number as it is written, from its second time on.
    seen: HashMap<String, Option<SmolStr>, RandomState>,
    /// How many came again.
    found: usize,
    is_hopeless: bool,
}

impl RowEncoder {
    /// Goes on after the texts and shapes that the journal has.
    pub(in crate::journal) fn after(connection: &Connection) -> Result<Self> {
        let last = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        Ok(Self {
            next_text: last("SELECT coalesce(max(id), 0) + 1 FROM cell_text")?,
            columns: Vec::new(),
            next_shape: last("SELECT coalesce(max(id), 0) + 1 FROM shape")?,
            shapes: Vec::new(),
        })
    }

    /// Begins a sheet: its columns are others.
    pub fn begin_sheet(&mut self) {
        self.columns.clear();
    }

    /// A row with these cells, which creates a record by the action that was packed with them where that is given.
    ///
    /// # Errors
    /// When a cell cannot be written as JSON, or the action has none of these shapes: mistakes of ours.
    pub fn row(
        &mut self,
        cells: &[impl AsRef<str>],
        action: Option<(PackedAction, &ActionShapes)>,
    ) -> Result<StoredRow> {
        if self.columns.len() < cells.len() {
            self.columns.resize_with(cells.len(), ColumnTexts::default);
        }
        let room = cells.iter().map(|cell| cell.as_ref().len() + 3).sum::<usize>() + 2;
        let mut stored = StoredRow { cells: String::with_capacity(room), ..StoredRow::default() };
        stored.cells.push('[');
        for (cell, column) in cells.iter().map(AsRef::as_ref).zip(&mut self.columns) {
            if stored.cells.len() > 1 {
                stored.cells.push(',');
            }
            match column.number_of(cell, &mut self.next_text, &mut stored.texts) {
                Some(number) => stored.cells.push_str(&number),
                None => push_json(&mut stored.cells, cell)?,
            }
        }
        stored.cells.push(']');
        stored.shaped = action.map(|(action, shapes)| self.shaped(action, shapes)).transpose()?;
        Ok(stored)
    }

    /// An action by the number that its shape has in the journal.
    fn shaped(&mut self, action: PackedAction, shapes: &ActionShapes) -> Result<Shaped> {
        let PackedAction { shape, values } = action;
        if let Some(&Some(number)) = self.shapes.get(shape) {
            return Ok(Shaped { shape: number, text: None, values });
        }
        let text = shapes.shapes.get(shape).map(|parts| Arc::clone(&parts.shape));
        let text = text.ok_or_else(|| Error::internal("an action of an unknown shape"))?;
        if self.shapes.len() <= shape {
            self.shapes.resize(shape + 1, None);
        }
        let number = self.next_shape;
        self.next_shape += 1;
        self.shapes[shape] = Some(number);
        Ok(Shaped { shape: number, text: Some(text), values })
    }
}

impl ActionShapes {
    /// An action by its shape for a row with these cells; `None` where it is to be kept as it is.
    ///
    /// # Errors
    /// When a cell cannot be written as JSON, which is a mistake of ours.
    pub fn pack(&mut self, action: &str, cells: &[impl AsRef<str>]) -> Result<Option<PackedAction>> {
        if let Some(last) = self.shapes.get(self.last)
            && let Some(values) = last.fit(action, cells)
        {
            return Ok(Some(PackedAction { shape: self.last, values }));
        }
        let literals: Vec<String> = cells.iter().map(|cell| json(cell.as_ref())).collect::<Result<_>>()?;
        let (shape, values) = shape_of(action, &literals);
        self.last = match self.numbers.get(&*shape) {
            Some(&known) => known,
            None if self.shapes.len() >= SHAPES => return Ok(None),
            None => {
                let shape = Arc::<str>::from(shape);
                self.numbers.insert(Arc::clone(&shape), self.shapes.len());
                self.shapes.push(ShapeParts::of(shape));
                self.shapes.len() - 1
            }
        };
        Ok(Some(PackedAction { shape: self.last, values }))
    }

    /// The action that was packed with these cells; `None` where it is none of these.
    pub fn unpack(&self, action: &PackedAction, cells: &[impl AsRef<str>]) -> Option<String> {
        self.shapes.get(action.shape)?.fill(cells, action.values.as_deref())
    }
}

impl ShapeParts {
    fn of(shape: impl Into<Arc<str>>) -> Self {
        let shape = shape.into();
        let (mut parts, mut fixed) = (Vec::new(), 0);
        for (place, mark) in marks(&shape) {
            parts.extend([ShapePart::Fixed(fixed..place.start), ShapePart::Mark(mark)]);
            fixed = place.end;
        }
        parts.push(ShapePart::Fixed(fixed..shape.len()));
        Self { shape, parts }
    }

    /// The action with the cells of its row and the values that they do not have; `None` when they do not fit.
    fn fill(&self, cells: &[impl AsRef<str>], values: Option<&str>) -> Option<String> {
        let mut values = values.unwrap_or_default();
        let mut action = String::with_capacity(self.shape.len() + 128);
        for part in &self.parts {
            match part {
                ShapePart::Fixed(range) => action.push_str(&self.shape[range.clone()]),
                ShapePart::Mark(Mark::Cell(cell)) => {
                    push_json(&mut action, cells.get(*cell)?.as_ref()).ok()?
                }
                ShapePart::Mark(Mark::CellNumber(cell)) => action.push_str(cells.get(*cell)?.as_ref()),
                ShapePart::Mark(Mark::Value) => {
                    let end = match values.as_bytes().first()? {
                        b'"' => string_end(values.as_bytes(), 0),
                        _ => end_of_number(values.as_bytes(), 0),
                    };
                    action.push_str(&values[..end]);
                    values = values[end..].strip_prefix(',').unwrap_or(&values[end..]);
                }
            }
        }
        values.is_empty().then_some(action)
    }

    /// The values that stand for `?` if an action has this shape for a row with these cells.
    fn fit(&self, action: &str, cells: &[impl AsRef<str>]) -> Option<Option<String>> {
        let (mut rest, mut values) = (action, None::<String>);
        for part in &self.parts {
            rest = match part {
                ShapePart::Fixed(range) => rest.strip_prefix(&self.shape[range.clone()])?,
                ShapePart::Mark(Mark::Cell(cell)) => {
                    let text = cells.get(*cell)?.as_ref();
                    match is_plain(text) {
                        true => rest.strip_prefix('"')?.strip_prefix(text)?.strip_prefix('"')?,
                        false => rest.strip_prefix(json(text).ok()?.as_str())?,
                    }
                }
                ShapePart::Mark(Mark::CellNumber(cell)) => rest.strip_prefix(cells.get(*cell)?.as_ref())?,
                ShapePart::Mark(Mark::Value) => {
                    let json = rest.as_bytes();
                    let end = match json.first()? {
                        b'"' => string_end(json, 0),
                        byte if *byte == b'-' || byte.is_ascii_digit() => end_of_number(json, 0),
                        _ => return None,
                    };
                    add_value(&mut values, &rest[..end]);
                    &rest[end..]
                }
            };
        }
        rest.is_empty().then_some(values)
    }
}

impl ColumnTexts {
    /// The number of a text that came before; it is noted otherwise.
    fn number_of(&mut self, text: &str, next: &mut i64, added: &mut Vec<(i64, String)>) -> Option<SmolStr> {
        if self.is_hopeless || !WORTH_A_NUMBER.contains(&text.len()) {
            return None;
        }
        if let Some(number) = self.seen.get_mut(text) {
            self.found += 1;
            let number = number.get_or_insert_with(|| {
                let number = *next;
                added.push((number, text.to_owned()));
                *next += 1;
                format_smolstr!("{number}")
            });
            return Some(number.clone());
        }
        if self.seen.len() < DIFFERENT {
            self.seen.insert(text.to_owned(), None);
            if self.found == 0 && self.seen.len() >= FRUITLESS {
                self.is_hopeless = true;
                self.seen = HashMap::default();
            }
        }
        None
    }
}

/// A text as JSON has it.
fn json(text: &str) -> Result<String> {
    let mut written = String::with_capacity(text.len() + 2);
    push_json(&mut written, text)?;
    Ok(written)
}

fn push_json(to: &mut String, text: &str) -> Result<()> {
    if is_plain(text) {
        to.push('"');
        to.push_str(text);
        to.push('"');
        return Ok(());
    }
    to.push_str(&serde_json::to_string(text).map_err(unwritable)?);
    Ok(())
}

/// Whether JSON has a text as it is, between quotes. Every byte is looked at, which takes less than to stop at the first.
fn is_plain(text: &str) -> bool {
    let is_escaped = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    !text.bytes().fold(false, |found, byte| found | is_escaped(byte))
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Where the number at `start` ends.
fn end_of_number(json: &[u8], start: usize) -> usize {
    json[start..].iter().position(|byte| !is_of_number(*byte)).map_or(json.len(), |length| start + length)
}

/// The marks of a shape in their order, each with its place.
fn marks(shape: &str) -> impl Iterator<Item = (Range<usize>, Mark)> {
    let (json, mut at) = (shape.as_bytes(), 0);
    std::iter::from_fn(move || {
        while at < json.len() {
            let (start, mark) = (at, json[at]);
            at = match mark {
                b'"' => string_end(json, at),
                b'$' | b'#' => end_of_number(json, at + 1),
                _ => at + 1,
            };
            // What follows a mark is the number of a cell; no row has a cell of this one.
            let cell = || shape[start + 1..at].parse().unwrap_or(usize::MAX);
            match mark {
                b'$' => return Some((start..at, Mark::Cell(cell()))),
                b'#' => return Some((start..at, Mark::CellNumber(cell()))),
                b'?' => return Some((start..at, Mark::Value)),
                _ => {}
            }
        }
        None
    })
}

/// Adds a value that no cell has.
fn add_value(values: &mut Option<String>, value: &str) {
    let values = values.get_or_insert_default();
    if !values.is_empty() {
        values.push(',');
    }
    values.push_str(value);
}

/// The shape of an action for a row with these cells, as JSON has them, and the values that none of them has.
fn shape_of(action: &str, cells: &[String]) -> (String, Option<String>) {
    let json = action.as_bytes();
    let (mut shape, mut values) = (String::with_capacity(action.len()), None::<String>);
    let (mut at, mut copied) = (0, 0);
    let mut name = "";
    while at < json.len() {
        let (end, mark) = match json[at] {
            b'"' => (string_end(json, at), '$'),
            byte if byte == b'-' || byte.is_ascii_digit() => (end_of_number(json, at), '#'),
            _ => {
                at += 1;
                continue;
            }
        };
        let literal = &action[at..end];
        if json.get(end) == Some(&b':') {
            name = literal;
        } else if !TAGS.contains(&name) {
            shape.push_str(&action[copied..at]);
            let same = |cell: &str| match mark {
                '$' => cell == literal,
                _ => &cell[1..cell.len() - 1] == literal,
            };
            match cells.iter().position(|cell| same(cell)) {
                Some(cell) => {
                    shape.push(mark);
                    shape.push_str(&cell.to_string());
                }
                None => {
                    shape.push('?');
                    add_value(&mut values, literal);
                }
            }
            copied = end;
        }
        at = end;
    }
    shape.push_str(&action[copied..]);
    (shape, values)
}

/// One column of a query for the action of the step with this name, as [`StoredTexts::action`] takes it: its JSON, or its
/// shape, the cells of its row and its values, a line each.
macro_rules! stored_action {
    ($step:literal) => {
        concat!(
            "iif(",
            $step,
            ".shape IS NULL, ",
            $step,
            ".action, (
                SELECT shape.text || char(10) || source.cells || char(10) || coalesce(",
            $step,
            ".action, '')
                FROM shape JOIN sheet_row AS source ON source.place = ",
            $step,
            ".place
                WHERE shape.id = ",
            $step,
            ".shape))"
        )
    };
}

pub(in crate::journal) use stored_action;

/// Reads what is kept; it remembers the texts that it met.
#[derive(Debug)]
pub(in crate::journal) struct StoredTexts<'c> {
    connection: &'c Connection,
    known: HashMap<i64, String>,
    /// The shape of the action before: that of most.
    shape: Option<ShapeParts>,
}

impl<'c> StoredTexts<'c> {
    /// Of this journal.
    pub(in crate::journal) fn of(connection: &'c Connection) -> Self {
        Self { connection, known: HashMap::new(), shape: None }
    }

    /// The cells of a row.
    pub(in crate::journal) fn cells(&mut self, stored: &str) -> Result<Vec<String>> {
        let what = "the cells of a row";
        let stored: Vec<Value> = serde_json::from_str(stored).map_err(|error| damaged(what, error))?;
        stored
            .into_iter()
            .map(|cell| match cell {
                Value::String(text) => Ok(text),
                cell => {
                    let number = cell.as_i64();
                    self.text(
                        number
                            .ok_or_else(|| damaged(what, "a cell is neither a text nor the number of one"))?,
                    )
                }
            })
            .collect()
    }

    /// A text by its number.
    pub(in crate::journal) fn text(&mut self, number: i64) -> Result<String> {
        if let Some(known) = self.known.get(&number) {
            return Ok(known.clone());
        }
        let text: Option<String> = self
            .connection
            .prepare_cached("SELECT text FROM cell_text WHERE id = ?1")?
            .query_row([number], |row| row.get(0))
            .optional()?;
        let text = text.ok_or_else(|| damaged("the cells of a row", format!("there is no text {number}")))?;
        self.known.insert(number, text.clone());
        Ok(text)
    }

    /// The action of a step, as `stored_action!` selects it.
    pub(in crate::journal) fn action(&mut self, stored: Option<&str>) -> Result<Action> {
        parse_action(&self.action_json(stored)?)
    }

    /// The same as JSON.
    pub(in crate::journal) fn action_json<'t>(&mut self, stored: Option<&'t str>) -> Result<Cow<'t, str>> {
        let stored = stored.ok_or_else(|| damaged("a step", "its row or its shape is not there"))?;
        // No line end is in what is written.
        let mut lines = stored.splitn(3, '\n');
        let first = lines.next().unwrap_or_default();
        let (Some(cells), Some(values)) = (lines.next(), lines.next()) else { return Ok(first.into()) };
        let cells = self.cells(cells)?;
        let shape = match self.shape.take() {
            Some(last) if *last.shape == *first => last,
            Some(_) | None => ShapeParts::of(first),
        };
        let action = self.shape.insert(shape).fill(&cells, Some(values));
        Ok(action.ok_or_else(|| damaged("a step", "its values do not fit its shape"))?.into())
    }
}

#[cfg(test)]
mod tests;

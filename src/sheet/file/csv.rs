//! Text tables cut into records, strictly: every quotation mark is where it may be, or the record is damaged.
//!
//! Rows are numbered as a spreadsheet program would (blank lines count, a leading `sep=` line does not) and lines as
//! a text editor would. The cutting is our own because no reader at hand reports damaged quotes or counts lines in
//! every mix of line ends; it is tested against the csv crate on clean input.

mod cut;

use std::borrow::Cow;
use std::io::{self, Read};

use smol_str::SmolStr;

use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::options::is_mark;
use crate::sheet::text::is_blank;
use cut::{CellSpan, Cut, Cutter, is_end, line_end, may_be_end};

/// Longest record in bytes; a quotation mark that is never closed swallows no more than this.
const RECORD_LIMIT: usize = 1 << 20;
/// Bytes asked of the file at once.
const CHUNK: usize = 1 << 16;
/// Records with a quotation mark never closed, after which reading stops: each costs a walk over a record's limit.
const UNTERMINATED_LIMIT: usize = 1_000;

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CsvRecord {
    /// As a spreadsheet program shows it.
    pub(crate) row: u32,
    /// The physical line where it starts.
    pub(crate) line: u64,
    /// Its cells; none for an empty line. Of those beyond [`COLUMN_LIMIT`] one surplus cell is kept, with what they have in it, so
    /// that a finding can say that the record is too wide, and it is shown without growing with its separators.
    pub(crate) cells: Vec<SmolStr>,
    /// What is wrong with it.
    pub(crate) damage: Option<Damage>,
}

/// What is wrong with a record. Cells count from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Damage {
    /// A quotation mark where none may be.
    Stray {
        /// The cell.
        cell: usize,
        /// What exactly.
        how: Stray,
    },
    /// A quotation mark that is never closed.
    Unterminated {
        /// The cell.
        cell: usize,
        /// The lines it would have swallowed.
        lines: u64,
    },
    /// Bytes that are no text in the file's encoding, in these cells.
    Encoding {
        /// The cells.
        cells: Vec<usize>,
    },
    /// A line longer than any record may be.
    TooLong,
}

impl Damage {
    /// The first cell that is wrong; those before it stand where they belong.
    pub(crate) fn first_cell(&self) -> usize {
        match self {
            Self::Stray { cell, .. } | Self::Unterminated { cell, .. } => *cell,
            Self::Encoding { cells } => cells.first().copied().unwrap_or(0),
            Self::TooLong => 0,
        }
    }
}

/// Where the quotation mark stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stray {
    /// Text follows the closing one.
    AfterClosing,
    /// A space stands before the opening one.
    SpaceBefore,
    /// A space stands after the closing one.
    SpaceAfter,
    /// Inside a quoted cell, at its end, so that the two are taken for one.
    WrittenOnce,
    /// Within a cell that is not quoted.
    Inside,
    /// After a backslash.
    Backslash,
    /// After a closing one, so many lines below the opening one.
    LinesBelow(u64),
}

/// The records of a text table, in order.
pub(crate) struct Records<R> {
    reader: R,
    delimiter: u8,
    escape: Option<u8>,
    width: Option<usize>,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    row: u32,
    line: u64,
    unterminated: usize,
    spans: Vec<CellSpan>,
}

impl<R: Read> Records<R> {
    /// Reads records from UTF-8 text. Byte order marks at its start are skipped, and a `sep=` line is obeyed.
    pub(crate) fn new(reader: R, delimiter: char) -> io::Result<Self> {
        let mut records = Self {
            reader,
            delimiter: u8::try_from(delimiter).ok().filter(u8::is_ascii).unwrap_or(b','),
            escape: None,
            width: None,
            buffer: Vec::new(),
            start: 0,
            ended: false,
            row: 0,
            line: 1,
            unterminated: 0,
            spans: Vec::new(),
        };
        while records.buffer.len() < 64 && records.refill()? {}
        for _ in 0..2 {
            if records.buffer[records.start..].starts_with(b"\xef\xbb\xbf") {
                records.start += 3;
            }
        }
        if let Some((delimiter, length)) = separator_line(&records.buffer[records.start..]) {
            records.delimiter = delimiter;
            records.start += length;
            records.line += 1;
        }
        Ok(records)
    }

    /// The same, for tables that write this character before a quotation mark inside a cell.
    pub(crate) fn escaping(mut self, escape: Option<char>) -> Self {
        self.escape = escape.and_then(|escape| u8::try_from(escape).ok()).filter(u8::is_ascii);
        self
    }

    /// The same, for tables whose rows have so many cells: a quotation mark left open is told by the rows behind it, also
    /// where a mark of another row closes it.
    pub(crate) fn of_width(mut self, width: usize) -> Self {
        self.width = Some(width);
        self
    }

    /// What stands between the cells: as given, or as a `sep=` line says.
    pub(crate) fn delimiter(&self) -> char {
        char::from(self.delimiter)
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<CsvRecord>> {
        loop {
            let rest = &self.buffer[self.start..];
            if (self.ended && rest.is_empty()) || is_end(rest, self.ended) {
                return Ok(None);
            }
            if !self.ended && (rest.is_empty() || may_be_end(rest)) {
                self.refill()?;
                continue;
            }
            match self.cut() {
                Cut::More => {
                    self.refill()?;
                }
                Cut::Whole { end, lines } => return Ok(Some(self.take(end, lines))),
                Cut::Damaged(damage) => return self.skip_line(damage).map(Some),
                Cut::Open(damage) => {
                    self.unterminated += 1;
                    return self.skip_line(damage).map(Some);
                }
            }
        }
    }

    /// Whether so many quotation marks were never closed that going on makes no sense.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.unterminated >= UNTERMINATED_LIMIT
    }

    /// Reads more; whether there was any.
    fn refill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let length = self.buffer.len();
        // A record over several chunks is walked again after each; doubling keeps that cheap.
        self.buffer.resize(length + CHUNK.max(length), 0);
        let more = loop {
            match self.reader.read(&mut self.buffer[length..]) {
                Ok(more) => break more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        self.buffer.truncate(length + more);
        self.ended = more == 0;
        Ok(more > 0)
    }

    /// Finds the cells of the record at the start of the buffer.
    fn cut(&mut self) -> Cut {
        self.spans.clear();
        let cutter = Cutter {
            buffer: &self.buffer,
            start: self.start,
            ended: self.ended,
            delimiter: self.delimiter,
            escape: self.escape,
            width: self.width,
        };
        cutter.cut(&mut self.spans)
    }

    /// Makes the record of the cells found.
    fn take(&mut self, end: usize, lines: u64) -> CsvRecord {
        let bytes = &self.buffer[..end];
        // Cells start and end at ASCII characters, so that slicing the checked text never splits a character.
        let text = std::str::from_utf8(&bytes[self.start..]).ok();
        let mut bad = Vec::new();
        let mut cells = Cells::of(self.spans.len());
        for (index, span) in self.spans.iter().enumerate() {
            let cell = match text {
                Some(text) => Cow::Borrowed(&text[span.start - self.start..span.end - self.start]),
                None => {
                    let cell = &bytes[span.start..span.end];
                    if std::str::from_utf8(cell).is_err()
                        && bad.last().is_none_or(|last| *last < COLUMN_LIMIT)
                    {
                        bad.push(index);
                    }
                    String::from_utf8_lossy(cell)
                }
            };
            cells.push(match span.rewrite {
                true => cut::plainly(&cell, self.escape).into(),
                false => SmolStr::from(cell),
            });
        }
        let mut cells = cells.finish();
        if self.ended
            && end == self.buffer.len()
            && let Some(last) = cells.last_mut()
        {
            *last = last.trim_end_matches('\u{1a}').into();
        }
        self.row = self.row.saturating_add(1);
        let line = self.line;
        self.line += lines;
        self.start = end;
        let damage = (!bad.is_empty()).then_some(Damage::Encoding { cells: bad });
        CsvRecord { row: self.row, line, cells, damage }
    }

    /// Gives up the line at the start of the buffer and goes on with the one after it.
    fn skip_line(&mut self, damage: Damage) -> io::Result<CsvRecord> {
        let mut line = Vec::new();
        loop {
            let rest = &self.buffer[self.start..];
            let length = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let kept = RECORD_LIMIT.saturating_sub(line.len()).min(length.unwrap_or(rest.len()));
            line.extend_from_slice(&rest[..kept]);
            match length.and_then(|at| line_end(rest, at, self.ended).map(|length| at + length)) {
                Some(length) => {
                    self.start += length;
                    break;
                }
                None if self.ended => {
                    self.start = self.buffer.len();
                    break;
                }
                None => {
                    // What is kept of the line is kept above; only an undecided line end must stay in the buffer.
                    self.start += length.unwrap_or(rest.len());
                    self.refill()?;
                }
            }
        }
        let delimiter = char::from(self.delimiter);
        let mut cells = Cells::of(0);
        String::from_utf8_lossy(&line).split(delimiter).for_each(|cell| cells.push(SmolStr::new(cell)));
        let cells = cells.finish();
        self.row = self.row.saturating_add(1);
        let number = self.line;
        self.line += 1;
        Ok(CsvRecord { row: self.row, line: number, cells, damage: Some(damage) })
    }
}

/// The cells of one record.
struct Cells {
    kept: Vec<SmolStr>,
    /// What stands beyond the columns that are read.
    surplus: Option<String>,
}

impl Cells {
    /// Room for so many.
    fn of(count: usize) -> Self {
        Self { kept: Vec::with_capacity(count.min(COLUMN_LIMIT + 1)), surplus: None }
    }

    fn push(&mut self, cell: SmolStr) {
        if self.kept.len() < COLUMN_LIMIT {
            self.kept.push(cell);
            return;
        }
        let surplus = self.surplus.get_or_insert_default();
        if !is_blank(&cell) {
            if !surplus.is_empty() {
                surplus.push_str("; ");
            }
            surplus.push_str(&cell);
        }
    }

    fn finish(mut self) -> Vec<SmolStr> {
        self.kept.extend(self.surplus.map(SmolStr::from));
        self.kept
    }
}

/// The separator that a first line `sep=;` names, perhaps in quotation marks, and the length of that line.
fn separator_line(head: &[u8]) -> Option<(u8, usize)> {
    let mark = usize::from(head.first() == Some(&b'"'));
    let name = head.get(mark..mark + 4)?;
    let separator = *head.get(mark + 4)?;
    let is_closed = mark == 0 || head.get(mark + 5) == Some(&b'"');
    let end = 5 + 2 * mark;
    let is_alone = matches!(head.get(end), None | Some(b'\r' | b'\n'));
    (name.eq_ignore_ascii_case(b"sep=") && is_mark(char::from(separator)) && is_closed && is_alone)
        .then(|| (separator, end + line_end(head, end, true).unwrap_or(0)))
}

#[cfg(test)]
mod tests;

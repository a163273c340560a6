//! Text tables cut into records, strictly: every quotation mark is where it may be, or the record is damaged.
//!
//! Rows are numbered as a spreadsheet program would (blank lines count, a leading `sep=` line does not) and lines as
//! a text editor would. The cutting is our own because no reader at hand reports damaged quotes or counts lines in
//! every mix of line ends; it is tested against the csv crate on clean input.

use std::io::{self, Read};

/// Longest record in bytes; a quotation mark that is never closed swallows no more than this.
const RECORD_LIMIT: usize = 1 << 20;
/// Bytes asked of the file at once.
const CHUNK: usize = 1 << 16;
/// Records with a quotation mark never closed, after which reading stops: each costs a walk over a record's limit.
const UNTERMINATED_LIMIT: usize = 1_000;

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// As a spreadsheet program shows it.
    pub(crate) row: u32,
    /// The physical line where it starts.
    pub(crate) line: u64,
    /// Its cells; none for an empty line.
    pub(crate) cells: Vec<String>,
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

/// Where the quotation mark stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stray {
    /// Text follows the closing one.
    AfterClosing,
    /// A space stands before the opening one.
    SpaceBefore,
    /// Within a cell that is not quoted.
    Inside,
    /// After a backslash.
    Backslash,
}

/// The records of a text table, in order.
pub(crate) struct Records<R> {
    reader: R,
    delimiter: u8,
    buffer: Vec<u8>,
    start: usize,
    ended: bool,
    row: u32,
    line: u64,
    unterminated: usize,
    spans: Vec<Span>,
}

/// One cell within the buffer.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    /// Whether it has doubled quotation marks or line ends to be written plainly.
    rewrite: bool,
}

/// How far one record goes.
enum Cut {
    /// To here, with the line ends inside it.
    Whole { end: usize, lines: u64 },
    /// The buffer ends first.
    More,
    /// Something is wrong in it.
    Damaged(Damage),
}

impl<R: Read> Records<R> {
    /// Reads records from UTF-8 text. Byte order marks at its start are skipped, and a `sep=` line is obeyed.
    pub(crate) fn new(reader: R, delimiter: char) -> io::Result<Self> {
        let mut records = Self {
            reader,
            delimiter: u8::try_from(delimiter).unwrap_or(b','),
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
        let head = &records.buffer[records.start..];
        if head.len() >= 5
            && head[..4].eq_ignore_ascii_case(b"sep=")
            && matches!(head.get(5), None | Some(b'\r' | b'\n'))
            && head[4].is_ascii()
        {
            records.delimiter = head[4];
            let length = 5 + line_end(head, 5, true).unwrap_or(0);
            records.start += length;
            records.line += 1;
        }
        Ok(records)
    }

    /// What stands between the cells: as given, or as a `sep=` line says.
    pub(crate) fn delimiter(&self) -> char {
        char::from(self.delimiter)
    }

    /// The next record; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            let rest = &self.buffer[self.start..];
            if self.ended && (rest.is_empty() || rest == b"\x1a") {
                return Ok(None);
            }
            if rest.is_empty() {
                self.refill()?;
                continue;
            }
            match self.cut() {
                Cut::More => {
                    self.refill()?;
                }
                Cut::Whole { end, lines } => return Ok(Some(self.take(end, lines))),
                Cut::Damaged(damage) => return self.skip_line(damage).map(Some),
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
        let buffer = &self.buffer;
        let mut lines = 0;
        let mut at = self.start;
        if let Some(length) = line_end(buffer, at, self.ended) {
            return Cut::Whole { end: at + length, lines: 1 };
        }
        loop {
            let cell = self.spans.len();
            if at - self.start > RECORD_LIMIT {
                return Cut::Damaged(Damage::TooLong);
            }
            let span;
            if buffer.get(at) == Some(&b'"') {
                let start = at + 1;
                let mut rewrite = false;
                at = start;
                loop {
                    let Some(length) =
                        buffer[at..].iter().position(|byte| matches!(byte, b'"' | b'\n' | b'\r'))
                    else {
                        at = buffer.len();
                        if self.ended || at - self.start > RECORD_LIMIT {
                            return Cut::Damaged(Damage::Unterminated { cell, lines });
                        }
                        return Cut::More;
                    };
                    at += length;
                    if at - self.start > RECORD_LIMIT {
                        return Cut::Damaged(Damage::Unterminated { cell, lines });
                    }
                    if buffer[at] != b'"' {
                        let Some(length) = line_end(buffer, at, self.ended) else { return Cut::More };
                        rewrite |= buffer[at] == b'\r';
                        at += length;
                        lines += 1;
                    } else if buffer.get(at + 1) == Some(&b'"') {
                        rewrite = true;
                        at += 2;
                    } else {
                        break;
                    }
                }
                span = Span { start, end: at, rewrite };
                at += 1;
                match buffer.get(at) {
                    None if !self.ended => return Cut::More,
                    None | Some(b'\r' | b'\n') => {}
                    Some(b'\x1a') if self.ended && at + 1 == buffer.len() => {}
                    Some(&byte) if byte == self.delimiter => {}
                    Some(_) => {
                        let backslash = buffer[start..span.end].ends_with(b"\\");
                        let how = if backslash { Stray::Backslash } else { Stray::AfterClosing };
                        return Cut::Damaged(Damage::Stray { cell, how });
                    }
                }
            } else {
                let start = at;
                let delimiter = self.delimiter;
                let length = buffer[at..]
                    .iter()
                    .position(|&byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
                match length {
                    None if !self.ended && buffer.len() - self.start <= RECORD_LIMIT => return Cut::More,
                    None if !self.ended => return Cut::Damaged(Damage::TooLong),
                    None => at = buffer.len(),
                    Some(length) => at += length,
                }
                if buffer.get(at) == Some(&b'"') && &buffer[start..at] == b"=" {
                    // `="00123"`, unquoted: how exporters keep Excel from making a number of it.
                    let inside = &buffer[at + 1..];
                    let length = inside
                        .iter()
                        .position(|&byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
                    match length {
                        None if !self.ended => return Cut::More,
                        Some(length) if inside[length] == b'"' => match inside.get(length + 1) {
                            None if !self.ended => return Cut::More,
                            None | Some(b'\n' | b'\r') => at += length + 2,
                            Some(&byte) if byte == delimiter => at += length + 2,
                            Some(_) => return Cut::Damaged(Damage::Stray { cell, how: Stray::AfterClosing }),
                        },
                        None | Some(_) => return Cut::Damaged(Damage::Stray { cell, how: Stray::Inside }),
                    }
                } else if buffer.get(at) == Some(&b'"') {
                    let before = &buffer[start..at];
                    let how = if before.iter().all(u8::is_ascii_whitespace) {
                        Stray::SpaceBefore
                    } else if before.ends_with(b"\\") {
                        Stray::Backslash
                    } else {
                        Stray::Inside
                    };
                    return Cut::Damaged(Damage::Stray { cell, how });
                }
                span = Span { start, end: at, rewrite: false };
            }
            self.spans.push(span);
            match buffer.get(at) {
                Some(&byte) if byte == self.delimiter => at += 1,
                None | Some(b'\x1a') => return Cut::Whole { end: buffer.len(), lines: lines + 1 },
                Some(_) => {
                    let Some(length) = line_end(buffer, at, self.ended) else { return Cut::More };
                    return Cut::Whole { end: at + length, lines: lines + 1 };
                }
            }
        }
    }

    /// Makes the record of the cells found.
    fn take(&mut self, end: usize, lines: u64) -> Record {
        let bytes = &self.buffer[..end];
        // Cells start and end at ASCII characters, so that slicing the checked text never splits a character.
        let text = std::str::from_utf8(&bytes[self.start..]).ok();
        let mut bad = Vec::new();
        let mut cells = Vec::with_capacity(self.spans.len());
        for (index, span) in self.spans.iter().enumerate() {
            let cell = match text {
                Some(text) => text[span.start - self.start..span.end - self.start].to_owned(),
                None => {
                    let cell = &bytes[span.start..span.end];
                    if std::str::from_utf8(cell).is_err() {
                        bad.push(index);
                    }
                    String::from_utf8_lossy(cell).into_owned()
                }
            };
            cells.push(if span.rewrite {
                cell.replace("\"\"", "\"").replace("\r\r\n", "\n").replace("\r\n", "\n").replace('\r', "\n")
            } else {
                cell
            });
        }
        if self.ended
            && end == self.buffer.len()
            && let Some(last) = cells.last_mut()
            && last.ends_with('\u{1a}')
        {
            last.pop();
        }
        self.row = self.row.saturating_add(1);
        let line = self.line;
        self.line += lines;
        self.start = end;
        let damage = (!bad.is_empty()).then_some(Damage::Encoding { cells: bad });
        Record { row: self.row, line, cells, damage }
    }

    /// Gives up the line at the start of the buffer and goes on with the one after it.
    fn skip_line(&mut self, damage: Damage) -> io::Result<Record> {
        if matches!(damage, Damage::Unterminated { .. }) {
            self.unterminated += 1;
        }
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
        let cells = String::from_utf8_lossy(&line).split(delimiter).map(str::to_owned).collect();
        self.row = self.row.saturating_add(1);
        let number = self.line;
        self.line += 1;
        Ok(Record { row: self.row, line: number, cells, damage: Some(damage) })
    }
}

/// The length of the line end at `at`: LF, CR LF, CR CR LF or CR. `None` when there is none, or it is not yet known.
fn line_end(buffer: &[u8], at: usize, ended: bool) -> Option<usize> {
    match buffer.get(at)? {
        b'\n' => Some(1),
        b'\r' => match (buffer.get(at + 1), buffer.get(at + 2)) {
            (Some(b'\n'), _) => Some(2),
            (Some(b'\r'), Some(b'\n')) => Some(3),
            (Some(b'\r'), None) | (None, _) if !ended => None,
            _ => Some(1),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests;

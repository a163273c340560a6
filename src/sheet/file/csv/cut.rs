//! Where one record of a text table ends, where its cells are, and what is wrong with its quotation marks.
//!
//! Looks at bytes only; reading more of them and numbering the records is left to the module above.

use super::{Damage, RECORD_LIMIT, Stray};

/// One cell within the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellSpan {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it has marks or line ends to be written plainly.
    pub(super) rewrite: bool,
}

/// How far one record goes.
pub(super) enum Cut {
    /// To here, with the line ends inside it.
    Whole { end: usize, lines: u64 },
    /// The buffer ends first.
    More,
    /// Something is wrong in it.
    Damaged(Damage),
    /// The same, and a quotation mark is not closed as far as a record may go.
    Open(Damage),
}

/// The bytes a record is cut from.
pub(super) struct Cutter<'a> {
    pub(super) buffer: &'a [u8],
    /// Where the record begins.
    pub(super) start: usize,
    /// Whether nothing comes after the buffer.
    pub(super) ended: bool,
    pub(super) delimiter: u8,
    pub(super) escape: Option<u8>,
    /// How many cells a row has, where that is known.
    pub(super) width: Option<usize>,
}

/// Fewest cells of a row that is reported from the lines of a text.
const NARROWEST: usize = 3;
/// Spaces after a closing mark that are looked past.
const SPACES: usize = 1024;

/// A cell and where it ends, or what the whole record comes to instead.
type CutResult = Result<(CellSpan, usize), Cut>;

impl Cutter<'_> {
    /// Finds the cells of the record and adds them to `spans`.
    pub(super) fn cut(&self, spans: &mut Vec<CellSpan>) -> Cut {
        let buffer = self.buffer;
        let mut lines = 0;
        let mut at = self.start;
        if let Some(length) = line_end(buffer, at, self.ended) {
            return Cut::Whole { end: at + length, lines: 1 };
        }
        loop {
            if at - self.start > RECORD_LIMIT {
                return Cut::Damaged(Damage::TooLong);
            }
            let found = if buffer.get(at) == Some(&b'"') {
                self.quoted(at, spans.len(), &mut lines)
            } else {
                self.plain(at, spans.len())
            };
            match found {
                Ok((span, end)) => {
                    spans.push(span);
                    at = end;
                }
                Err(cut) => return cut,
            }
            match buffer.get(at) {
                Some(&byte) if byte == self.delimiter => at += 1,
                None | Some(b'\x1a') => return self.whole(buffer.len(), lines + 1, spans),
                Some(_) => {
                    let Some(length) = line_end(buffer, at, self.ended) else { return Cut::More };
                    return self.whole(at + length, lines + 1, spans);
                }
            }
        }
    }

    /// The record to its end, unless one of its cells holds rows of the table.
    fn whole(&self, end: usize, lines: u64, spans: &[CellSpan]) -> Cut {
        let swallowed = || {
            let mut cells = spans.iter().enumerate();
            cells.find_map(|(cell, span)| {
                Some((cell, span.start, self.rows_inside(cell, *span, spans.len())?))
            })
        };
        match (lines > 1).then(swallowed).flatten() {
            Some((cell, start, lines)) => Cut::Damaged(self.left_open(
                start,
                cell,
                Damage::Stray { cell, how: Stray::LinesBelow(lines) },
            )),
            None => Cut::Whole { end, lines },
        }
    }

    /// How many line ends a cell has that holds whole rows: its opening mark was left open, and what closes it is a mark
    /// of another row. The lines in the middle have as many cells as a row, or the first and the last one have with what
    /// stands beside the cell.
    fn rows_inside(&self, cell: usize, span: CellSpan, cells: usize) -> Option<u64> {
        let width = self.width.filter(|width| *width >= NARROWEST)?;
        let text = &self.buffer[span.start..span.end];
        let count = |line: &[u8]| line.iter().filter(|byte| **byte == self.delimiter).count() + 1;
        let mut rest = text;
        let mut counts = std::iter::from_fn(|| {
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
            let found = count(&rest[..length]);
            rest = &rest[length + line_end(rest, length, true).unwrap_or(1)..];
            Some((found, rest))
        });
        let (first, mut below) = counts.next()?;
        let (mut lines, mut has_row) = (1, false);
        for (middle, after) in counts {
            (lines, has_row, below) = (lines + 1, has_row || middle == width, after);
        }
        let (above, below) = (cell + first, count(below) + cells - cell - 1);
        (has_row || (above >= width && below >= width)).then_some(lines)
    }

    /// What a mark comes to that opens a cell and is not closed in its line: another one that ends the cell may be
    /// doubled because the first of the two was meant to stand inside.
    fn left_open(&self, start: usize, cell: usize, otherwise: Damage) -> Damage {
        let rest = &self.buffer[start..];
        let mut at = 0;
        while let Some(length) = rest[at..].iter().position(|byte| matches!(byte, b'"' | b'\n' | b'\r')) {
            at += length;
            if rest[at] != b'"' || rest.get(at + 1) != Some(&b'"') {
                break;
            }
            at += 2;
            match rest.get(at) {
                None | Some(b'\n' | b'\r') => return Damage::Stray { cell, how: Stray::WrittenOnce },
                Some(&byte) if byte == self.delimiter => {
                    return Damage::Stray { cell, how: Stray::WrittenOnce };
                }
                Some(_) => {}
            }
        }
        otherwise
    }

    /// The cell whose opening quotation mark is at `open`.
    fn quoted(&self, open: usize, cell: usize, lines: &mut u64) -> CutResult {
        let buffer = self.buffer;
        let start = open + 1;
        let before = *lines;
        let mut rewrite = false;
        let mut at = start;
        loop {
            let is_special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || Some(*byte) == self.escape;
            let length = buffer[at..].iter().position(is_special);
            at += length.unwrap_or(buffer.len() - at);
            let is_long = at - self.start > RECORD_LIMIT;
            if is_long || (length.is_none() && self.ended) {
                let open = Damage::Unterminated { cell, lines: *lines - before };
                return Err(Cut::Open(self.left_open(start, cell, open)));
            }
            if length.is_none() {
                return Err(Cut::More);
            }
            if Some(buffer[at]) == self.escape && buffer[at] != b'"' {
                match buffer.get(at + 1) {
                    None if !self.ended => return Err(Cut::More),
                    Some(&next) if next == b'"' || Some(next) == self.escape => {
                        rewrite = true;
                        at += 2;
                    }
                    None | Some(_) => at += 1,
                }
            } else if buffer[at] != b'"' {
                let Some(length) = line_end(buffer, at, self.ended) else { return Err(Cut::More) };
                rewrite |= buffer[at] == b'\r';
                at += length;
                *lines += 1;
            } else if buffer.get(at + 1) == Some(&b'"') {
                rewrite = true;
                at += 2;
            } else {
                break;
            }
        }
        let span = CellSpan { start, end: at, rewrite };
        at += 1;
        match buffer.get(at) {
            None if !self.ended => Err(Cut::More),
            None | Some(b'\r' | b'\n') => Ok((span, at)),
            Some(b'\x1a') if is_end(&buffer[at..], self.ended) => Ok((span, at)),
            Some(&byte) if byte == self.delimiter => Ok((span, at)),
            Some(_) => {
                let backslash = buffer[start..span.end].ends_with(b"\\");
                let how = match *lines - before {
                    0 if backslash => Stray::Backslash,
                    0 if self.only_spaces(at)? => Stray::SpaceAfter,
                    0 => Stray::AfterClosing,
                    lines => {
                        let below = Damage::Stray { cell, how: Stray::LinesBelow(lines) };
                        return Err(Cut::Damaged(self.left_open(start, cell, below)));
                    }
                };
                Err(Cut::Damaged(Damage::Stray { cell, how }))
            }
        }
    }

    /// Whether nothing but spaces stands between a closing mark and the end of its cell.
    fn only_spaces(&self, at: usize) -> Result<bool, Cut> {
        let rest = &self.buffer[at..];
        match rest.iter().position(|byte| *byte != b' ') {
            Some(length) if length > SPACES => Ok(false),
            None if rest.len() > SPACES => Ok(false),
            None if self.ended => Ok(true),
            None => Err(Cut::More),
            Some(length) => Ok(rest[length] == self.delimiter || matches!(rest[length], b'\n' | b'\r')),
        }
    }

    /// The cell without quotation marks that begins at `start`.
    fn plain(&self, start: usize, cell: usize) -> CutResult {
        let buffer = self.buffer;
        let mut at = start;
        let mut rewrite = false;
        loop {
            let is_end = |byte: &u8| *byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
            match buffer[at..].iter().position(is_end) {
                None if !self.ended && buffer.len() - self.start <= RECORD_LIMIT => return Err(Cut::More),
                None if !self.ended => return Err(Cut::Damaged(Damage::TooLong)),
                None => at = buffer.len(),
                Some(length) => at += length,
            }
            let is_mark = buffer.get(at) == Some(&b'"');
            if is_mark && at > start && self.escape == Some(buffer[at - 1]) {
                rewrite = true;
                at += 1;
                continue;
            }
            if is_mark {
                at = self.marked(start, at, cell)?;
            }
            return Ok((CellSpan { start, end: at, rewrite }, at));
        }
    }

    /// The end of an unquoted cell with a quotation mark in it: right only as `="00123"`, which is how exporters keep
    /// Excel from making a number of it.
    fn marked(&self, start: usize, mark: usize, cell: usize) -> Result<usize, Cut> {
        let stray = |how| Err(Cut::Damaged(Damage::Stray { cell, how }));
        let before = &self.buffer[start..mark];
        if before != b"=" {
            return stray(if before.iter().all(u8::is_ascii_whitespace) {
                Stray::SpaceBefore
            } else if before.ends_with(b"\\") {
                Stray::Backslash
            } else {
                Stray::Inside
            });
        }
        let inside = &self.buffer[mark + 1..];
        let is_end = |byte: &u8| *byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        match inside.iter().position(is_end) {
            None if !self.ended => Err(Cut::More),
            Some(length) if inside[length] == b'"' => match inside.get(length + 1) {
                None if !self.ended => Err(Cut::More),
                None | Some(b'\n' | b'\r') => Ok(mark + length + 2),
                Some(&byte) if byte == self.delimiter => Ok(mark + length + 2),
                Some(_) => stray(Stray::AfterClosing),
            },
            None | Some(_) => stray(Stray::Inside),
        }
    }
}

/// Whether nothing follows but the marks with which old systems end a file: Ctrl-Z, perhaps many, perhaps a line end.
pub(super) fn is_end(rest: &[u8], ended: bool) -> bool {
    ended && may_be_end(rest)
}

/// Whether these are such marks, no more of them than anybody writes.
pub(super) fn may_be_end(rest: &[u8]) -> bool {
    const LONGEST: usize = 1024;
    rest.len() <= LONGEST
        && rest.first() == Some(&b'\x1a')
        && rest.iter().all(|byte| matches!(byte, b'\x1a' | b'\r' | b'\n'))
}

/// The length of the line end at `at`: LF, CR LF, CR CR LF or CR. `None` when there is none, or it is not yet known.
pub(super) fn line_end(buffer: &[u8], at: usize, ended: bool) -> Option<usize> {
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

/// The text of a cell without what its marks and line ends are written with.
pub(super) fn plainly(text: &str, escape: Option<u8>) -> String {
    let escape = escape.map(char::from);
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        let is_written_twice = c == '"' && next == Some('"');
        let is_escaped = Some(c) == escape && next.is_some_and(|next| next == '"' || Some(next) == escape);
        if is_written_twice || is_escaped {
            result.extend(rest.next());
        } else {
            result.push(c);
        }
    }
    if result.contains('\r') {
        result = result.replace("\r\r\n", "\n").replace("\r\n", "\n").replace('\r', "\n");
    }
    result
}

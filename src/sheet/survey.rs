//! One pass over the bytes of a text table: what speaks for one encoding or another.
//!
//! Nothing is decided here; that is left to `encoding`.

/// What one pass over a file has seen of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    first: Vec<u8>,
    /// Bytes of a character that goes on in the next chunk.
    carry: Vec<u8>,
    line: Line,
    /// Lines with letters outside ASCII that are all UTF-8.
    whole_lines: u64,
    /// Lines with bytes that are not UTF-8.
    broken_lines: u64,
    zeros: [u64; 2],
    length: u64,
}

/// What has been seen of a line.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Line {
    multibyte: bool,
    broken: bool,
}

impl Survey {
    /// Takes in the next bytes of the file.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if self.first.len() < 4 {
            self.first.extend(chunk.iter().take(4));
        }
        for (index, _) in chunk.iter().enumerate().filter(|(_, byte)| **byte == 0) {
            self.zeros[usize::from((self.length + index as u64) % 2 == 1)] += 1;
        }
        self.length += chunk.len() as u64;
        let joined;
        let mut rest = if self.carry.is_empty() {
            chunk
        } else {
            joined = [std::mem::take(&mut self.carry).as_slice(), chunk].concat();
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.note(text);
                    return;
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.note(std::str::from_utf8(valid).unwrap_or_default());
                    match error.error_len() {
                        Some(length) => {
                            self.line.broken = true;
                            rest = &bad[length..];
                        }
                        None => {
                            self.carry = bad.to_vec();
                            return;
                        }
                    }
                }
            }
        }
    }

    /// Notes the lines of a piece that is UTF-8.
    fn note(&mut self, text: &str) {
        if self.line == Line::default() && text.is_ascii() {
            return;
        }
        for byte in text.bytes() {
            match byte {
                b'\n' | b'\r' => {
                    self.whole_lines += u64::from(self.line.multibyte && !self.line.broken);
                    self.broken_lines += u64::from(self.line.broken);
                    self.line = Line::default();
                }
                0x80.. => self.line.multibyte = true,
                _ => {}
            }
        }
    }

    /// The first bytes of the file.
    pub(super) fn first(&self) -> &[u8] {
        &self.first
    }

    /// How many bytes there are.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// How many zero bytes there are in even and in odd places.
    pub(super) fn zeros(&self) -> [u64; 2] {
        self.zeros
    }

    /// How many lines have letters outside ASCII and are UTF-8 throughout, and how many are not UTF-8.
    pub(super) fn lines(&self) -> (u64, u64) {
        let broken = self.line.broken || !self.carry.is_empty();
        let whole = self.line.multibyte && !broken;
        (self.whole_lines + u64::from(whole), self.broken_lines + u64::from(broken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_utf_8_and_others_are_counted_however_the_file_is_read() {
        let bytes = b"name\nM\xc3\xbcller\r\nM\xfcller\nCaf\xc3\xa9 M\xfcller\nplain\nZ\xc3\xbcrich\xc3";
        for size in 1..bytes.len() {
            let mut survey = Survey::default();
            for chunk in bytes.chunks(size) {
                survey.feed(chunk);
            }
            assert_eq!(survey.lines(), (1, 3), "in chunks of {size}");
            assert_eq!(survey.length(), bytes.len() as u64);
        }
    }
}

//! One pass over the bytes of a text table: what speaks for one encoding or another.
//!
//! Nothing is decided here; that is left to `encoding`.

/// Bytes outside ASCII from which an encoding is guessed: more of them change nothing, and each byte takes its time.
const SAMPLE_LETTERS: usize = 10_000;
/// Bytes of the file that they are sought in, from the first that is no UTF-8.
const SAMPLE: usize = 4 << 20;

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
    /// What follows the first bytes that are not UTF-8, with what was read together with them.
    sample: Vec<u8>,
    /// How many of its bytes are outside ASCII.
    sampled: usize,
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
        let bytes = if self.carry.is_empty() {
            chunk
        } else {
            joined = [std::mem::take(&mut self.carry).as_slice(), chunk].concat();
            joined.as_slice()
        };
        self.look(bytes);
        if self.line.broken || self.broken_lines > 0 {
            self.keep(if self.sample.is_empty() { bytes } else { chunk });
        } else if self.carry.is_empty() {
            self.sample.clear();
        } else {
            // Whether these are UTF-8 is seen in the next bytes, if there are any.
            self.sample = bytes.to_vec();
        }
    }

    /// Keeps bytes to guess an encoding from.
    fn keep(&mut self, bytes: &[u8]) {
        if self.sampled < SAMPLE_LETTERS && self.sample.len() < SAMPLE {
            self.sampled += bytes.iter().filter(|byte| !byte.is_ascii()).count();
            self.sample.extend_from_slice(bytes);
        }
    }

    /// Sees which bytes are UTF-8.
    fn look(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
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
    pub(in crate::sheet) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Bytes to guess the encoding from; blank where all are UTF-8.
    pub(in crate::sheet) fn sample(&self) -> &[u8] {
        &self.sample
    }

    /// How many bytes there are.
    pub(in crate::sheet) fn length(&self) -> u64 {
        self.length
    }

    /// How many zero bytes there are in even and in odd places.
    pub(in crate::sheet) fn zeros(&self) -> [u64; 2] {
        self.zeros
    }

    /// How many lines have letters outside ASCII and are UTF-8 throughout, and how many are not UTF-8.
    pub(in crate::sheet) fn lines(&self) -> (u64, u64) {
        let broken = self.line.broken || !self.carry.is_empty();
        let whole = self.line.multibyte && !broken;
        (self.whole_lines + u64::from(whole), self.broken_lines + u64::from(broken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_encoding_is_guessed_from_begins_where_utf_8_ends_and_is_no_larger_than_it_need_be() {
        let mut survey = Survey::default();
        let chunk = "Zürich, Auckland\n".repeat(4_000);
        survey.feed(chunk.as_bytes());
        assert!(survey.sample().is_empty());
        for _ in 0..1_000 {
            survey.feed(&b"Z\xfcrich, Auckland\n".repeat(4_000));
        }
        let letters = survey.sample().iter().filter(|byte| !byte.is_ascii()).count();
        assert!((SAMPLE_LETTERS..SAMPLE_LETTERS + 4_000).contains(&letters), "{letters}");
        let mut survey = Survey::default();
        for _ in 0..1_000 {
            survey.feed(&[b"Z\xfcrich, Auckland\n".as_slice(), &b"Auckland\n".repeat(2_000)].concat());
        }
        assert!(survey.sample().len() < SAMPLE + (1 << 16), "{}", survey.sample().len());
        let mut survey = Survey::default();
        survey.feed(b"name\nCaf\xe9");
        assert_eq!(survey.sample(), b"name\nCaf\xe9", "a letter at the very end is one too");
    }

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

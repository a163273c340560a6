//! How the letters of a text table are stored: by byte order mark, else UTF-8, else a guess that is reported.
//!
//! The guess is chardetng's. Rows are cut by [`super::csv`], which also finds the bytes that do not fit.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, Encoding, MACINTOSH, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal, shown};

/// Stands for bytes that do not fit the encoding of a file.
const NO_UTF_8: u8 = 0xff;

/// The encoding of a text table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextEncoding {
    encoding: &'static Encoding,
    /// Whether it was guessed.
    pub guessed: bool,
}

impl TextEncoding {
    /// Its name: `UTF-8`, `windows-1252`.
    pub fn name(&self) -> &'static str {
        self.encoding.name()
    }
}

/// Decides the encoding of a surveyed file; a guess adds a warning with a sample.
pub(crate) fn decide(
    path: &Path,
    name: &str,
    survey: &EncodingSurvey,
    given: Option<&'static Encoding>,
    findings: &mut Vec<Finding>,
) -> Result<TextEncoding, Refusal> {
    let known = |encoding| Ok(TextEncoding { encoding, guessed: false });
    let mark = Encoding::for_bom(survey.first()).map(|(encoding, _)| encoding);
    match (mark, given) {
        (Some(mark), Some(given)) if mark != given => {
            findings.push(Finding::of_file(
                Code::FileEncodingGuessed,
                name,
                format!(
                    "the file begins with the mark of {}, so it is read as that and not as {}: omit --encoding",
                    mark.name(),
                    given.name()
                ),
            ));
            return known(mark);
        }
        (_, Some(encoding)) | (Some(encoding), None) => return known(encoding),
        (None, None) => {}
    }
    let failed =
        |error: io::Error| Finding::refusal(Code::FileUnreadable, name, format!("reading failed: {error}"));
    if survey.zeros() != [0, 0] {
        return zeros(path, name, survey, findings).map_err(failed)?;
    }
    let (whole, broken) = survey.lines();
    if broken == 0 {
        return known(UTF_8);
    }
    let guess = EncodingGuess::of(survey.sample());
    // Lines in UTF-8 beside others: the file was put together from two, and the rows that do not fit are errors. In
    // the scripts of East Asia a short line looks like UTF-8 by chance, so that a few of them are no sign of it.
    if whole > 0 && (guess.encoding.is_single_byte() || whole >= broken) {
        return known(UTF_8);
    }
    findings.push(Finding::of_file(Code::FileEncodingGuessed, name, guess.told()));
    Ok(TextEncoding { encoding: guess.encoding, guessed: true })
}

/// Decides for a file without mark in which zero bytes occur: UTF-16 when they all stand on one side.
fn zeros(
    path: &Path,
    name: &str,
    survey: &EncodingSurvey,
    findings: &mut Vec<Finding>,
) -> io::Result<Result<TextEncoding, Refusal>> {
    let [even, odd] = survey.zeros();
    let length = survey.length();
    let encoding = if odd > length / 20 && even <= odd / 20 {
        UTF_16LE
    } else if even > length / 20 && odd <= even / 20 {
        UTF_16BE
    } else if even + odd > length / 10 {
        return Ok(Err(Finding::refusal(
            Code::FileFormatMismatch,
            name,
            "the content is not text: export it as .xlsx or .csv",
        )));
    } else {
        return Ok(Ok(TextEncoding { encoding: UTF_8, guessed: false }));
    };
    let decided = TextEncoding { encoding, guessed: true };
    let mut start = Vec::new();
    reader(path, &decided)?.take(4096).read_to_end(&mut start)?;
    let start = String::from_utf8_lossy(&start);
    let cells = start.split([',', ';', '\t', '|', '\n', '\r', '"']).map(str::trim);
    let shows: Vec<String> =
        cells.filter(|cell| !cell.is_empty()).take(3).map(|cell| format!("'{}'", shown(cell))).collect();
    findings.push(Finding::of_file(
        Code::FileEncodingGuessed,
        name,
        format!(
            "the file does not say which encoding it has; it is read as {}, which gives {}. If that is wrong, save \
             the file as CSV UTF-8 or name its encoding with --encoding",
            encoding.name(),
            shows.join(", ")
        ),
    ));
    Ok(Ok(decided))
}

/// What the bytes outside ASCII are taken for.
struct EncodingGuess {
    encoding: &'static Encoding,
    sample: Vec<Vec<u8>>,
    /// Cells that look like those of an old Mac.
    macintosh: Vec<Vec<u8>>,
}

impl EncodingGuess {
    fn of(bytes: &[u8]) -> Self {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        // What is left of a letter at the end may go on behind it.
        let _is_ascii = detector.feed(bytes, false);
        Self {
            encoding: detector.guess(None, Utf8Detection::Deny),
            sample: cells(bytes, |cell| !cell.is_ascii()),
            macintosh: cells(bytes, is_like_macintosh),
        }
    }

    fn told(&self) -> String {
        let mut told = format!(
            "the encoding is not UTF-8; the file is read as {}, which gives {}. If that is wrong, save the file as \
             CSV UTF-8 or name its encoding with --encoding",
            self.encoding.name(),
            decoded(self.encoding, &self.sample)
        );
        if self.encoding == WINDOWS_1252 && !self.macintosh.is_empty() {
            told.push_str(&format!(
                ". If it was saved by Excel for Mac, use --encoding macintosh, which gives {}",
                decoded(MACINTOSH, &self.macintosh)
            ));
        }
        told
    }
}

/// Cells as an encoding reads them.
fn decoded(encoding: &'static Encoding, cells: &[Vec<u8>]) -> String {
    let cells: Vec<String> = cells
        .iter()
        .map(|bytes| format!("'{}'", shown(encoding.decode_without_bom_handling(bytes).0.trim())))
        .collect();
    cells.join(", ")
}

/// Cells of a kind, at most three, to show what a guess makes of them.
fn cells(bytes: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for cell in bytes.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b'"')) {
        if found.len() == 3 {
            break;
        }
        if cell.len() <= 80 && is_wanted(cell) && !found.iter().any(|one| one == cell) {
            found.push(cell.to_vec());
        }
    }
    found
}

/// Whether bytes that windows-1252 has for marks stand inside words, where an old Mac has letters. The apostrophe of
/// windows-1252 is no sign of it, nor is what often ends a word there.
fn is_like_macintosh(cell: &[u8]) -> bool {
    const ENDS: [u8; 10] = [0x81, 0x83, 0x87, 0x88, 0x8d, 0x8e, 0x8f, 0x90, 0x98, 0x9d];
    cell.windows(2).enumerate().any(|(at, pair)| {
        let [before, byte] = [pair[0], pair[1]];
        let inside = cell.get(at + 2).is_some_and(u8::is_ascii_lowercase);
        let ends = cell.get(at + 2).is_none_or(u8::is_ascii_whitespace);
        before.is_ascii_alphabetic()
            && (0x80..=0x9f).contains(&byte)
            && byte != 0x92
            && (inside || (ends && ENDS.contains(&byte)))
    })
}

/// The file as UTF-8 with its byte order marks. Bytes of a UTF-8 file are handed on as they are; where those of another
/// do not fit its encoding, a byte that is no UTF-8 stands for them, so that the cell is found.
pub(crate) fn reader(path: &Path, encoding: &TextEncoding) -> io::Result<Box<dyn Read + Send>> {
    let file = File::open(path)?;
    if encoding.encoding == UTF_8 {
        return Ok(Box::new(file));
    }
    Ok(Box::new(Decoded {
        file,
        decoder: encoding.encoding.new_decoder_without_bom_handling(),
        input: Vec::new(),
        at: 0,
        ended: false,
        finished: false,
        output: Vec::new(),
        given: 0,
    }))
}

/// Decodes while reading.
struct Decoded {
    file: File,
    decoder: Decoder,
    input: Vec<u8>,
    at: usize,
    ended: bool,
    finished: bool,
    output: Vec<u8>,
    given: usize,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            if self.at == self.input.len() {
                if self.finished {
                    return Ok(0);
                }
                if !self.ended {
                    self.input.resize(1 << 16, 0);
                    let length = self.file.read(&mut self.input)?;
                    self.input.truncate(length);
                    self.at = 0;
                    self.ended = length == 0;
                }
            }
            self.output.resize(1 << 17, 0);
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(
                &self.input[self.at..],
                &mut self.output,
                self.ended,
            );
            self.at += read;
            self.output.truncate(written);
            match result {
                DecoderResult::InputEmpty => self.finished = self.ended,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => self.output.push(NO_UTF_8),
            }
            self.given = 0;
        }
        let length = buffer.len().min(self.output.len() - self.given);
        buffer[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

/// Bytes outside ASCII from which an encoding is guessed: more of them change nothing, and each byte takes its time.
const SAMPLE_LETTERS: usize = 10_000;
/// Bytes of the file that they are sought in, from the first that is no UTF-8.
const SAMPLE: usize = 4 << 20;

/// Bytes that are looked at together for one outside ASCII.
const ASCII_BLOCK: usize = 32;

/// What one pass over a file has seen of its bytes.
#[derive(Debug, Default)]
pub(crate) struct EncodingSurvey {
    first: Vec<u8>,
    /// Bytes of a character that goes on in the next chunk.
    carry: Vec<u8>,
    line: LineSurvey,
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
struct LineSurvey {
    multibyte: bool,
    broken: bool,
}

impl EncodingSurvey {
    /// Takes in the next bytes of the file.
    pub(crate) fn feed(&mut self, chunk: &[u8]) {
        if self.first.len() < 4 {
            self.first.extend(chunk.iter().take(4));
        }
        // Hardly any file has one.
        if chunk.contains(&0) {
            for (index, _) in chunk.iter().enumerate().filter(|(_, byte)| **byte == 0) {
                self.zeros[usize::from((self.length + index as u64) % 2 == 1)] += 1;
            }
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
        let mut rest = text.as_bytes();
        loop {
            if self.line == LineSurvey::default() {
                // Of lines in ASCII nothing is noted.
                while let Some((block, behind)) = rest.split_first_chunk::<ASCII_BLOCK>()
                    && block.is_ascii()
                {
                    rest = behind;
                }
            }
            let Some((byte, behind)) = rest.split_first() else { return };
            rest = behind;
            match byte {
                b'\n' | b'\r' => {
                    self.whole_lines += u64::from(self.line.multibyte && !self.line.broken);
                    self.broken_lines += u64::from(self.line.broken);
                    self.line = LineSurvey::default();
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

    fn decided(bytes: &[u8]) -> (Result<&'static str, Code>, Vec<Finding>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, bytes).unwrap();
        let mut survey = EncodingSurvey::default();
        for chunk in bytes.chunks(7) {
            survey.feed(chunk);
        }
        let mut findings = Vec::new();
        let result = decide(&path, "a.csv", &survey, None, &mut findings);
        let mut text = Vec::new();
        if let Ok(encoding) = &result {
            reader(&path, encoding).unwrap().read_to_end(&mut text).unwrap();
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        (result.map(|encoding| encoding.name()).map_err(|finding| finding.code), findings, text)
    }

    #[test]
    fn letters_that_do_not_fit_the_encoding_are_left_to_be_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        for (encoding, bytes) in
            [(encoding_rs::SHIFT_JIS, &b"ab\x81\nc\x81"[..]), (UTF_16LE, b"a\0\0\xd8b\0c")]
        {
            std::fs::write(&path, bytes).unwrap();
            let mut text = Vec::new();
            let encoding = TextEncoding { encoding, guessed: false };
            reader(&path, &encoding).unwrap().read_to_end(&mut text).unwrap();
            assert!(text.contains(&NO_UTF_8), "{} {text:?}", encoding.name());
            assert_eq!(text.last(), Some(&NO_UTF_8), "{} {text:?}", encoding.name());
        }
    }

    #[test]
    fn a_short_line_that_looks_like_utf_8_by_chance_leaves_the_guess_as_it_is() {
        // Names of cities in the encoding of mainland China; the second one is UTF-8 by chance.
        let mut text = b"name\n\xc1\xaa\xcd\xa8\n".to_vec();
        for name in ["\u{5317}\u{4eac}\u{5e02}", "\u{4e0a}\u{6d77}\u{5e02}", "\u{5e7f}\u{5dde}\u{5e02}"] {
            text.extend_from_slice(&encoding_rs::GBK.encode(name).0);
            text.push(b'\n');
        }
        assert_eq!(decided(&text).0, Ok("GBK"));
    }

    #[test]
    fn what_is_not_text_is_refused() {
        assert_eq!(decided(&[0, 1, 2, 0, 0, 3, 0, 0]).0, Err(Code::FileFormatMismatch));
    }

    #[test]
    fn what_an_encoding_is_guessed_from_begins_where_utf_8_ends_and_is_no_larger_than_it_need_be() {
        let mut survey = EncodingSurvey::default();
        let chunk = "Zürich, Auckland\n".repeat(4_000);
        survey.feed(chunk.as_bytes());
        assert!(survey.sample().is_empty());
        for _ in 0..1_000 {
            survey.feed(&b"Z\xfcrich, Auckland\n".repeat(4_000));
        }
        let letters = survey.sample().iter().filter(|byte| !byte.is_ascii()).count();
        assert!((SAMPLE_LETTERS..SAMPLE_LETTERS + 4_000).contains(&letters), "{letters}");
        let mut survey = EncodingSurvey::default();
        for _ in 0..1_000 {
            survey.feed(&[b"Z\xfcrich, Auckland\n".as_slice(), &b"Auckland\n".repeat(2_000)].concat());
        }
        assert!(survey.sample().len() < SAMPLE + (1 << 16), "{}", survey.sample().len());
        let mut survey = EncodingSurvey::default();
        survey.feed(b"name\nCaf\xe9");
        assert_eq!(survey.sample(), b"name\nCaf\xe9", "a letter at the very end is one too");
    }

    #[test]
    fn lines_in_utf_8_and_others_are_counted_however_the_file_is_read() {
        let bytes = b"name\nM\xc3\xbcller\r\nM\xfcller\nCaf\xc3\xa9 M\xfcller\nplain\nZ\xc3\xbcrich\xc3";
        for size in 1..bytes.len() {
            let mut survey = EncodingSurvey::default();
            for chunk in bytes.chunks(size) {
                survey.feed(chunk);
            }
            assert_eq!(survey.lines(), (1, 3), "in chunks of {size}");
            assert_eq!(survey.length(), bytes.len() as u64);
        }
    }
}

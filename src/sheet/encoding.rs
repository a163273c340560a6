//! How the letters of a text table are stored: by byte order mark, else UTF-8, else a guess that is told.
//!
//! The guess is chardetng's. Rows are cut by [`super::csv`], which also finds the bytes that do not fit.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::code::Code;
use super::finding::{Finding, Refusal, shown};

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

/// What one pass over a file has seen of its bytes.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    first: Vec<u8>,
    /// Bytes of a character that goes on in the next chunk.
    carry: Vec<u8>,
    invalid: bool,
    multibyte: bool,
    zeros: [u64; 2],
    length: u64,
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
                    self.multibyte |= !text.is_ascii();
                    return;
                }
                Err(error) => {
                    let (valid, bad) = rest.split_at(error.valid_up_to());
                    self.multibyte |= !valid.is_ascii();
                    match error.error_len() {
                        Some(length) => {
                            self.invalid = true;
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
}

/// Decides the encoding of a surveyed file; a guess adds a warning with a sample.
pub(crate) fn decide(
    path: &Path,
    name: &str,
    survey: &Survey,
    given: Option<&'static Encoding>,
    findings: &mut Vec<Finding>,
) -> Result<TextEncoding, Refusal> {
    if let Some(encoding) = given {
        return Ok(TextEncoding { encoding, guessed: false });
    }
    if let Some((encoding, _)) = Encoding::for_bom(&survey.first) {
        return Ok(TextEncoding { encoding, guessed: false });
    }
    if survey.zeros != [0, 0] {
        return zeros(name, survey, findings);
    }
    let invalid = survey.invalid || !survey.carry.is_empty();
    // A file with letters in UTF-8 and other bytes too was put together from two: the rows that do not fit are errors.
    if !invalid || survey.multibyte {
        return Ok(TextEncoding { encoding: UTF_8, guessed: false });
    }
    let failed =
        |error: io::Error| Finding::refusal(Code::FileUnreadable, name, format!("reading failed: {error}"));
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut sample = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        let length = reader.read(&mut chunk).map_err(failed)?;
        detector.feed(&chunk[..length], length == 0);
        if length == 0 {
            break;
        }
        if sample.len() < 3 {
            take_samples(&chunk[..length], &mut sample);
        }
    }
    let encoding = detector.guess(None, Utf8Detection::Deny);
    let decoded: Vec<String> = sample
        .iter()
        .map(|bytes| format!("'{}'", shown(encoding.decode_without_bom_handling(bytes).0.trim())))
        .collect();
    findings.push(Finding::of_file(
        Code::FileEncodingGuessed,
        name,
        format!(
            "the letters are not stored as UTF-8; taken for {}, so that it reads {}. If that is wrong, save the file \
             as CSV UTF-8 or name its encoding",
            encoding.name(),
            decoded.join(", ")
        ),
    ));
    Ok(TextEncoding { encoding, guessed: true })
}

/// Decides for a file without mark in which zero bytes occur: UTF-16 when they all stand on one side.
fn zeros(name: &str, survey: &Survey, findings: &mut Vec<Finding>) -> Result<TextEncoding, Refusal> {
    let [even, odd] = survey.zeros;
    let encoding = if odd > survey.length / 4 && even <= odd / 10 {
        UTF_16LE
    } else if even > survey.length / 4 && odd <= even / 10 {
        UTF_16BE
    } else if even + odd > survey.length / 100 {
        return Err(Finding::refusal(
            Code::FileFormatMismatch,
            name,
            "the content is not text: export it as .xlsx or .csv",
        ));
    } else {
        return Ok(TextEncoding { encoding: UTF_8, guessed: false });
    };
    findings.push(Finding::of_file(
        Code::FileEncodingGuessed,
        name,
        format!("the file does not name its encoding; taken for {}", encoding.name()),
    ));
    Ok(TextEncoding { encoding, guessed: true })
}

/// Cells with a byte outside ASCII, at most three, to show what a guess makes of them.
fn take_samples(chunk: &[u8], sample: &mut Vec<Vec<u8>>) {
    for cell in chunk.split(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r' | b'"')) {
        if sample.len() < 3 && cell.len() <= 80 && !cell.is_ascii() {
            sample.push(cell.to_vec());
        }
    }
}

/// The file as UTF-8 without its byte order marks. Bytes of a UTF-8 file are handed on as they are.
pub(crate) fn reader(path: &Path, encoding: &TextEncoding) -> io::Result<Box<dyn Read>> {
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
    output: Vec<u8>,
    given: usize,
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.output.len() {
            if self.at == self.input.len() {
                if self.ended {
                    return Ok(0);
                }
                self.input.resize(1 << 16, 0);
                let length = self.file.read(&mut self.input)?;
                self.input.truncate(length);
                self.at = 0;
                self.ended = length == 0;
            }
            self.output.resize(1 << 17, 0);
            let (_, read, written, _) =
                self.decoder.decode_to_utf8(&self.input[self.at..], &mut self.output, self.ended);
            self.at += read;
            self.output.truncate(written);
            self.given = 0;
        }
        let length = buffer.len().min(self.output.len() - self.given);
        buffer[..length].copy_from_slice(&self.output[self.given..self.given + length]);
        self.given += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(bytes: &[u8]) -> (Result<&'static str, Code>, Vec<Finding>, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, bytes).unwrap();
        let mut survey = Survey::default();
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
    fn utf_16_with_and_without_its_mark_is_decoded() {
        let units = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let (name, findings, text) = decided(&[b"\xff\xfe".to_vec(), units("name\tCafé\r\n")].concat());
        assert_eq!((name, findings.len()), (Ok("UTF-16LE"), 0));
        assert!(text.ends_with("name\tCafé\r\n"));
        let (name, findings, text) = decided(&units("name\tphone\r\n"));
        assert_eq!((name, findings[0].code), (Ok("UTF-16LE"), Code::FileEncodingGuessed));
        assert_eq!(text, "name\tphone\r\n");
    }

    #[test]
    fn a_legacy_code_page_is_guessed_and_the_guess_is_shown() {
        let (name, findings, text) =
            decided(b"name;city\nM\xfcller und S\xf6hne;K\xf6ln\nCaf\xe9;Z\xfcrich\n");
        assert_eq!(name, Ok("windows-1252"));
        assert_eq!(findings[0].code, Code::FileEncodingGuessed);
        assert!(findings[0].message.contains("'Müller und Söhne', 'Köln'"), "{}", findings[0].message);
        assert!(text.contains("Zürich"));
    }

    #[test]
    fn two_encodings_in_one_file_leave_the_bad_bytes_to_be_found() {
        let (name, findings, _) = decided(b"name\nM\xc3\xbcller\nM\xfcller\n");
        assert_eq!((name, findings.len()), (Ok("UTF-8"), 0));
    }

    #[test]
    fn what_is_not_text_is_refused() {
        assert_eq!(decided(&[0, 1, 2, 0, 0, 3, 0, 0]).0, Err(Code::FileFormatMismatch));
    }
}

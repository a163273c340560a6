//! What a file is: by its first bytes, not by its name.
//!
//! Text tables and Excel workbooks are read; everything else is refused with the way out. Decoding text is left to
//! [`super::encoding`], opening workbooks to [`super::workbook`].

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::{panic, thread};

use encoding_rs::Encoding;
use sha2::{Digest, Sha256};

use super::encoding::{EncodingSurvey, TextEncoding};
use crate::error::{self, Error};
use crate::model::digest::hexadecimal;
use crate::sheet::data::FILE_SIGNS;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal};

/// Largest text table in bytes.
const TEXT_LIMIT: u64 = 2 << 30;
/// Largest workbook in bytes, as it lies on the disk.
const WORKBOOK_LIMIT: u64 = 100 << 20;
/// What other files than text tables are called.
const OTHER_ENDINGS: [&str; 20] = [
    "xlsx", "xlsm", "xls", "xlsb", "xltx", "xltm", "ods", "fods", "numbers", "json", "xml", "html", "htm",
    "pdf", "doc", "docx", "rtf", "zip", "gz", "db",
];
/// Bytes looked at to tell what a file is.
const HEAD: usize = 4096;
/// Bytes read at once after that.
const CHUNK: usize = 1 << 16;
/// Chunks that wait for their part of the digest.
const AHEAD: usize = 8;

/// A file that can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its name, as findings show it.
    pub name: String,
    /// The digest of its bytes, in hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// What it is.
    pub format: Format,
}

impl SourceFile {
    /// Refuses the file when its bytes are not those that it had when it was opened.
    ///
    /// # Errors
    /// When it has changed, or can no longer be read.
    pub fn refuse_changed(&self) -> error::Result<()> {
        let digest = || {
            let (mut file, mut digest, mut chunk) = (open(&self.path)?, Sha256::new(), vec![0; CHUNK]);
            loop {
                match fill(&mut file, &mut chunk)? {
                    0 => return Ok(hexadecimal(&digest.finalize())),
                    length => digest.update(&chunk[..length]),
                }
            }
        };
        if digest().map_err(|error| self.unreadable(error))? == self.sha256 {
            return Ok(());
        }
        Err(Error::sheets(format!("{} has changed while it was read", self.name))
            .hint("close it in other programs and run the command again"))
    }

    /// The error where it cannot be read any more.
    pub(in crate::sheet) fn unreadable(&self, error: std::io::Error) -> Error {
        Error::sheets(format!("{} can no longer be read", self.name))
            .because(error)
            .hint("see whether the file is still there, then type the same command again")
    }
}

/// What a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum Format {
    /// A workbook (.xlsx or .xlsm).
    Workbook,
    /// A text table.
    Text {
        /// How its letters are stored.
        encoding: TextEncoding,
        /// What stands between cells; known once the header row is.
        delimiter: char,
    },
}

/// Opens a file far enough to know what it is; findings that are no refusal are added to `findings`.
pub(crate) fn inspect(
    path: &Path,
    name: &str,
    encoding: Option<&'static encoding_rs::Encoding>,
    findings: &mut Vec<Finding>,
) -> Result<SourceFile, Refusal> {
    let name = name.to_owned();
    let refuse = |code: Code, message: String| Err(Finding::refusal(code, &name, message));
    if let Some((program, real)) = lock_file(&name) {
        return refuse(Code::FileLock, format!("this is the lock file of {program}: use '{real}' instead"));
    }
    let mut file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return refuse(
                Code::FileNotFound,
                format!("there is no file '{}': check the path", path.display()),
            );
        }
        Err(error) => {
            return refuse(Code::FileUnreadable, cannot_open(path, &error));
        }
    };
    let unreadable = |error: std::io::Error| {
        Finding::refusal(
            Code::FileUnreadable,
            &name,
            format!("reading failed ({error}): save a copy and use that"),
        )
    };
    let bytes = file.metadata().map_err(unreadable)?.len();
    if bytes == 0 {
        return refuse(Code::FileEmpty, "the file has no content: export it again".into());
    }
    let mut head = vec![0; HEAD];
    let length = fill(&mut file, &mut head).map_err(unreadable)?;
    head.truncate(length);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    if is_lock_file(&head, bytes) {
        let message = "this is a lock file with another name, which Excel keeps beside an open workbook: use the \
            workbook itself";
        return refuse(Code::FileLock, message.into());
    }
    let content = of(&head, &ending);
    let limit = if matches!(content, ContentKind::Zip) { WORKBOOK_LIMIT } else { TEXT_LIMIT };
    if bytes > limit {
        return refuse(
            Code::FileTooLarge,
            format!("the file has {bytes} bytes and at most {limit} are read: split it into several files"),
        );
    }
    let contents = read_through(&mut file, head, &content).map_err(unreadable)?;
    let refusal = |code, message: &str| Finding::refusal(code, &name, message.to_owned());
    let format = match content {
        ContentKind::Foreign(code, what) => return refuse(code, format!("the content is {what}")),
        ContentKind::Ole => return Err(of_old_workbook(contents.is_encrypted, &ending, refusal)),
        ContentKind::Zip => {
            super::workbook::look_through(path, &name)?;
            let is_other = !matches!(ending.as_str(), "xlsx" | "xlsm");
            mismatch(is_other, ("an Excel workbook", ".xlsx"), &name, findings);
            Format::Workbook
        }
        ContentKind::Text => {
            let mut told = Vec::new();
            let encoding = super::encoding::decide(path, &name, &contents.survey, encoding, &mut told)?;
            mismatch(OTHER_ENDINGS.contains(&ending.as_str()), ("a text table", ".csv"), &name, findings);
            findings.extend(told);
            Format::Text { encoding, delimiter: ',' }
        }
    };
    Ok(SourceFile { path: path.to_owned(), name, sha256: contents.sha256, bytes, format })
}

/// What reading a file to its end tells.
struct Contents {
    /// In hexadecimal.
    sha256: String,
    /// The letters of a text.
    survey: EncodingSurvey,
    /// Whether a workbook of Excel 97-2003, or what looks like one, has a password.
    is_encrypted: bool,
}

/// Reads what follows the head of a file. The digest is made on a thread of its own.
fn read_through(file: &mut File, head: Vec<u8>, content: &ContentKind) -> std::io::Result<Contents> {
    thread::scope(|scope| {
        let (sender, chunks) = sync_channel::<Arc<Vec<u8>>>(AHEAD);
        let digest = scope.spawn(move || {
            let mut digest = Sha256::new();
            chunks.iter().for_each(|chunk| digest.update(&*chunk));
            hexadecimal(&digest.finalize())
        });
        let mut survey = EncodingSurvey::default();
        let mut is_encrypted = false;
        let mut chunk = Arc::new(head);
        while !chunk.is_empty() {
            // Taken until the sender is gone; a panic of the other side is told where it is joined.
            drop(sender.send(Arc::clone(&chunk)));
            match content {
                ContentKind::Text => survey.feed(&chunk),
                ContentKind::Ole => is_encrypted |= contains_utf16(&chunk, ENCRYPTED),
                ContentKind::Zip | ContentKind::Foreign(..) => {}
            }
            let mut next = vec![0; CHUNK];
            let length = fill(file, &mut next)?;
            next.truncate(length);
            chunk = Arc::new(next);
        }
        drop(sender);
        let sha256 = digest.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked));
        Ok(Contents { sha256, survey, is_encrypted })
    })
}

/// The refusal of a workbook in the form of Excel 97-2003, which is also that of one with a password.
fn of_old_workbook(is_encrypted: bool, ending: &str, refusal: impl FnOnce(Code, &str) -> Refusal) -> Refusal {
    if is_encrypted {
        return refusal(
            Code::FileEncrypted,
            "the workbook has a password: open it in Excel, clear it under File > Info > Protect Workbook > Encrypt with \
             Password, and save",
        );
    }
    let code = if ending == "xls" { Code::FileFormatUnsupported } else { Code::FileFormatMismatch };
    refusal(code, "the content is a workbook of Excel 97-2003 (.xls): open it in Excel and save as .xlsx")
}

/// The file that is locked by one of this name; `None` for any other name.
pub fn locked(name: &str) -> Option<&str> {
    lock_file(name).map(|(_, real)| real)
}

/// The program whose lock file has this name, and the file that is locked.
fn lock_file(name: &str) -> Option<(&'static str, &str)> {
    let excel = name.strip_prefix("~$").map(|real| ("Excel", real));
    let libreoffice = || name.strip_prefix(".~lock.")?.strip_suffix('#').map(|real| ("LibreOffice", real));
    excel.or_else(libreoffice)
}

/// Opens a regular file. Whatever else has a name is an error: a folder, and what gives its content only once.
fn open(path: &Path) -> std::io::Result<File> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(std::io::Error::new(ErrorKind::IsADirectory, "it is a folder"));
    }
    if !metadata.is_file() {
        return Err(std::io::Error::new(ErrorKind::Unsupported, "it is not a file"));
    }
    File::open(path)
}

/// Why a file cannot be opened, and what to do about it.
fn cannot_open(path: &Path, error: &std::io::Error) -> String {
    /// Windows: another program has the file, or a part of it, for itself.
    const SHARING: [i32; 2] = [32, 33];
    let path = path.display();
    if cfg!(windows) && error.raw_os_error().is_some_and(|code| SHARING.contains(&code)) {
        return format!(
            "'{path}' is open in another program: close it in Excel, or save a copy and use that"
        );
    }
    match error.kind() {
        ErrorKind::IsADirectory => format!("'{path}' is a folder: name the files in it"),
        ErrorKind::Unsupported => {
            format!(
                "'{path}' is a device or a pipe, and a file is read more than once: save it to a file first"
            )
        }
        ErrorKind::PermissionDenied => format!(
            "you are not allowed to read '{path}': close it in Excel, ask for permission to read it, or save a copy \
             and use that"
        ),
        _ => format!(
            "'{path}' cannot be read ({error}): check the path, close it in Excel, or save a copy and use that"
        ),
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut File, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// A warning that the name says something else than the content; the content is unambiguous and decides.
fn mismatch(is: bool, (what, ending): (&str, &str), name: &str, findings: &mut Vec<Finding>) {
    if is {
        findings.push(
            Finding::of_file(
                Code::FileFormatMismatch,
                name,
                format!(
                    "the content is {what}, although the name differs, and is read as one: give the file the ending \
                     {ending}"
                ),
            )
            .as_severity(crate::sheet::finding::code::Severity::Warning),
        );
    }
}

/// Where an encrypted workbook says so: the name of a stream, in UTF-16.
pub(in crate::sheet) const ENCRYPTED: &str = "EncryptedPackage";

/// What the first bytes of a file say.
pub(in crate::sheet) enum ContentKind {
    /// A zip file: a workbook, or an archive.
    Zip,
    /// The container of Office before 2007, and of encrypted workbooks.
    Ole,
    /// Nothing else, so text.
    Text,
    /// Something that is never read: the code, and what it is with what to do.
    Foreign(Code, &'static str),
}

/// Looks at the first bytes of a file; `ending` is that of its name, in small letters.
pub(in crate::sheet) fn of(head: &[u8], ending: &str) -> ContentKind {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return ContentKind::Zip;
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return ContentKind::Ole;
    }
    if let Some((_, code, what)) = FILE_SIGNS.iter().find(|(sign, ..)| head.starts_with(sign)) {
        return ContentKind::Foreign(*code, what);
    }
    match markup(&opening(head), ending) {
        Some((code, what)) => ContentKind::Foreign(code, what),
        None => ContentKind::Text,
    }
}

/// The beginning of a text in small letters, without its byte order mark and the white space before it.
fn opening(head: &[u8]) -> String {
    let text = match Encoding::for_bom(head) {
        Some((encoding, length)) => encoding.decode_without_bom_handling(&head[length..]).0,
        None => String::from_utf8_lossy(head),
    };
    text.trim_start().to_ascii_lowercase()
}

/// What text in a language for machines is: a web page, a document in XML, data in JSON.
fn markup(start: &str, ending: &str) -> Option<(Code, &'static str)> {
    const PAGES: [&str; 10] =
        ["<!doctype", "<html", "<head", "<body", "<table", "<meta", "<style", "<script", "<div", "<!--"];
    let is_workbook_name = matches!(ending, "xls" | "xlsx" | "xlsm");
    let page = if is_workbook_name {
        "a web page (HTML), not a workbook, as some reporting tools and sign-in pages produce it: open it in Excel, \
         check that it is the right table, and save it as .xlsx"
    } else {
        "a web page, perhaps a sign-in page, not the export: sign in and export the table again"
    };
    let is_archived_page = start.starts_with("mime-version:") && start.contains("text/html");
    if is_archived_page || PAGES.iter().any(|tag| start.starts_with(tag)) {
        return Some((Code::FileFormatMismatch, page));
    }
    // The first element of a workbook may have a prefix: <ss:workbook
    let first = start.strip_prefix('<').and_then(|tag| tag.split([' ', '>', '/', '\t', '\r', '\n']).next());
    let is_workbook = first.is_some_and(|name| name.rsplit(':').next() == Some("workbook"));
    if start.starts_with("<?xml") || start.starts_with("<?mso") || is_workbook {
        if start.contains("office:spreadsheet") || start.contains("excel.sheet") {
            let code = if ending == "xml" { Code::FileFormatUnsupported } else { Code::FileFormatMismatch };
            return Some((
                code,
                "a workbook in the XML of Excel 2003 (SpreadsheetML): open it in Excel and save it as .xlsx",
            ));
        }
        if start.contains("<html") {
            return Some((Code::FileFormatMismatch, page));
        }
        if start.contains("<office:document") {
            return Some((
                Code::FileFormatUnsupported,
                "an OpenDocument spreadsheet in one piece of XML (.fods): open it and save it as .xlsx",
            ));
        }
        return Some((Code::FileFormatMismatch, "an XML document, not a table: export it as .xlsx or .csv"));
    }
    let data = start.strip_prefix('{').map(str::trim_start).is_some_and(|rest| rest.starts_with(['"', '}']))
        || start.strip_prefix('[').map(str::trim_start).is_some_and(|rest| rest.starts_with('{'));
    data.then_some((
        Code::FileFormatMismatch,
        "data for programs (JSON), perhaps an error message, not a table: export it as .xlsx or .csv",
    ))
}

/// Whether this is the lock file of a workbook that is open in Excel: 165 bytes, first how long a name is, then the name and
/// spaces behind it.
pub(in crate::sheet) fn is_lock_file(head: &[u8], length: u64) -> bool {
    const NAME: usize = 54;
    let [count, rest @ ..] = head else { return false };
    let (count, name) = (usize::from(*count), rest.get(..NAME));
    let is_name = |name: &[u8]| {
        name.split_at_checked(count).is_some_and(|(name, behind)| {
            !name.iter().any(u8::is_ascii_control) && behind.iter().all(|byte| *byte == b' ')
        })
    };
    length == 165 && count > 0 && name.is_some_and(is_name)
}

/// Whether the bytes contain a text as UTF-16 (little endian).
pub(in crate::sheet) fn contains_utf16(bytes: &[u8], text: &str) -> bool {
    let wanted: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let bytes = b"name,phone\n".repeat(10_000);
        std::fs::write(&path, &bytes).unwrap();
        let source = inspect(&path, "a.csv", None, &mut Vec::new()).unwrap();
        assert_eq!(source.bytes, 110_000);
        let expected: String = hexadecimal(&Sha256::digest(bytes));
        assert_eq!(source.sha256, expected);
    }

    fn told(head: &[u8], ending: &str) -> &'static str {
        match of(head, ending) {
            ContentKind::Zip => "zip",
            ContentKind::Ole => "ole",
            ContentKind::Text => "text",
            ContentKind::Foreign(_, what) => what.split([' ', ',']).nth(1).expect("two words"),
        }
    }

    #[test]
    fn what_is_no_table_is_known_by_its_first_bytes() {
        let utf_16: Vec<u8> =
            b"\xff\xfe".iter().copied().chain("<HTML>".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let table: [(&[u8], &str, &str); 17] = [
            (b"\xff\xfe\0\0k\0\0\0", "csv", "in"),
            (b"<ss:Workbook xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\">", "xls", "workbook"),
            (b"<ss:Workbooks>,x", "csv", "text"),
            (b"PK\x03\x04", "csv", "zip"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "xls", "ole"),
            (b"%PDF-1.7", "csv", "PDF"),
            (b"\r\n <!DOCTYPE html>", "csv", "web"),
            (b"\xef\xbb\xbf<table border=1>", "xls", "web"),
            (&utf_16, "xls", "web"),
            (b"MIME-Version: 1.0\r\nContent-Type: text/html", "xls", "web"),
            (b"<?xml version=\"1.0\"?><html xmlns=\"x\">", "xls", "web"),
            (b"<?xml version=\"1.0\"?>\n<?mso-application progid=\"Excel.Sheet\"?>", "xls", "workbook"),
            (b"<?xml version=\"1.0\"?><office:document>", "fods", "OpenDocument"),
            (b"<?xml version=\"1.0\"?><rss>", "csv", "XML"),
            (b"{\"error\": \"expired\"}", "csv", "for"),
            (b"[ {\"a\": 1} ]", "csv", "for"),
            (b"{name},[phone]", "csv", "text"),
        ];
        for (head, ending, expected) in table {
            assert_eq!(told(head, ending), expected, "{:?}", String::from_utf8_lossy(head));
        }
    }
}

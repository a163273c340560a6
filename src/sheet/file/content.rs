//! What the first bytes of a file say it is, and the way out for what is no table.
//!
//! Whether the name fits and whether the file is read after all is decided in `source`.

use encoding_rs::Encoding;

use crate::sheet::finding::code::Code;

/// Where an encrypted workbook says so: the name of a stream, in UTF-16.
pub(in crate::sheet) const ENCRYPTED: &str = "EncryptedPackage";

/// What the first bytes of a file say.
pub(in crate::sheet) enum Content {
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
pub(in crate::sheet) fn of(head: &[u8], ending: &str) -> Content {
    const UTF_32: &str = "text in UTF-32, which is not read: save it as CSV UTF-8";
    const SIGNS: [(&[u8], Code, &str); 14] = [
        (b"\xff\xfe\0\0", Code::FileFormatUnsupported, UTF_32),
        (b"\0\0\xfe\xff", Code::FileFormatUnsupported, UTF_32),
        (b"%PDF", Code::FileFormatMismatch, "a PDF document, not a table: export it as .xlsx or .csv"),
        (
            b"{\\rtf",
            Code::FileFormatMismatch,
            "a text document (RTF), not a table: export it as .xlsx or .csv",
        ),
        (
            b"\x1f\x8b",
            Code::FileFormatUnsupported,
            "compressed (gzip): unpack it first, then use the file inside",
        ),
        (
            b"BZh",
            Code::FileFormatUnsupported,
            "compressed (bzip2): unpack it first, then use the file inside",
        ),
        (
            b"\xfd7zXZ\0",
            Code::FileFormatUnsupported,
            "compressed (xz): unpack it first, then use the file inside",
        ),
        (
            b"\x28\xb5\x2f\xfd",
            Code::FileFormatUnsupported,
            "compressed (zstd): unpack it first, then use the file inside",
        ),
        (
            b"7z\xbc\xaf",
            Code::FileFormatUnsupported,
            "an archive (7z): unpack it first, then use the files inside",
        ),
        (
            b"Rar!",
            Code::FileFormatUnsupported,
            "an archive (RAR): unpack it first, then use the files inside",
        ),
        (b"\x89PNG", Code::FileFormatMismatch, "a picture, not a table: export it as .xlsx or .csv"),
        (b"\xff\xd8\xff", Code::FileFormatMismatch, "a picture, not a table: export it as .xlsx or .csv"),
        (b"GIF8", Code::FileFormatMismatch, "a picture, not a table: export it as .xlsx or .csv"),
        (b"SQLite format 3", Code::FileFormatMismatch, "a database, not a table: export it as .xlsx or .csv"),
    ];
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Content::Zip;
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Content::Ole;
    }
    if let Some(&(_, code, what)) = SIGNS.iter().find(|(sign, ..)| head.starts_with(sign)) {
        return Content::Foreign(code, what);
    }
    match markup(&opening(head), ending) {
        Some((code, what)) => Content::Foreign(code, what),
        None => Content::Text,
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

    fn told(head: &[u8], ending: &str) -> &'static str {
        match of(head, ending) {
            Content::Zip => "zip",
            Content::Ole => "ole",
            Content::Text => "text",
            Content::Foreign(_, what) => what.split([' ', ',']).nth(1).expect("two words"),
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

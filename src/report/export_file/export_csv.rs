//! An export as CSV: the dialect of the reports, so that Excel opens it rightly and it is read again unchanged.

use std::io::Write as _;

use super::{ExportWriter, headers, texts};
use crate::error::Result;
use crate::export::{Row, Subject};
use crate::report::atomic_write::{Beside, Folder};
use crate::sheet::formula_guard::guarded;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A CSV file under way.
pub(super) struct CsvExport<'a> {
    folder: &'a Folder,
    file: Beside,
}

impl<'a> CsvExport<'a> {
    /// Begins the file with its header.
    pub(super) fn begin(folder: &'a Folder, name: &str, subject: Subject) -> Result<Self> {
        let mut this = Self { folder, file: folder.begin(name)? };
        let mut begin = MARK.to_vec();
        begin.extend(csv_line(headers(subject)).into_bytes());
        this.write(&begin)?;
        Ok(this)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| self.folder.failed_file(self.file.name(), error))
    }
}

impl ExportWriter for CsvExport<'_> {
    fn row(&mut self, row: &Row) -> Result<()> {
        self.write(csv_line(texts(row)).as_bytes())
    }

    fn finish(self: Box<Self>) -> Result<Beside> {
        Ok(self.file)
    }
}

/// A line of CSV: every field in quotes, and text that would be a formula guarded.
pub fn csv_line<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for cell in cells {
        let before = if line.is_empty() { "\"" } else { ",\"" };
        line.push_str(before);
        line.push_str(&guarded(cell.as_ref()).replace('"', "\"\""));
        line.push('"');
    }
    line.push_str("\r\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_back_by_any_reader_of_csv() {
        let cells = ["plain", "", "a \"quoted\" one", "two\nlines", "+64 9", "=1+1", "a,b"];
        let line = csv_line(cells);
        assert!(line.ends_with("\"a,b\"\r\n"));
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
        let read = reader.records().next().unwrap().unwrap();
        let expected = ["plain", "", "a \"quoted\" one", "two\nlines", "'+64 9", "'=1+1", "a,b"];
        assert_eq!(read.iter().collect::<Vec<_>>(), expected);
    }
}

//! The dialect of our CSV files: UTF-8 with byte order mark and CRLF, because that is what Excel opens rightly; every field
//! in quotes, and text that would be a formula guarded, so that it reads back unchanged.

use std::io::Write;

use super::atomic_write::{Beside, Folder};
use crate::error::Result;
use crate::sheet::formula_guard::guarded;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A CSV file under way.
pub(super) struct CsvFile<'a> {
    folder: &'a Folder,
    name: String,
    writer: csv::Writer<Beside>,
}

impl<'a> CsvFile<'a> {
    /// Begins a file with its header.
    pub(super) fn begin<T: AsRef<str>>(
        folder: &'a Folder,
        name: String,
        header: impl IntoIterator<Item = T>,
    ) -> Result<Self> {
        let mut file = folder.begin(&*name)?;
        file.write_all(MARK).map_err(|error| folder.failed_file(&name, error))?;
        let writer = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .terminator(csv::Terminator::CRLF)
            .from_writer(file);
        let mut table = Self { folder, name, writer };
        table.record(header)?;
        Ok(table)
    }

    /// Writes a line.
    pub(super) fn record<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) -> Result<()> {
        let written = cells
            .into_iter()
            .try_for_each(|cell| self.writer.write_field(guarded(cell.as_ref()).as_bytes()))
            .and_then(|()| self.writer.write_record(None::<&[u8]>));
        written.map_err(|error| self.folder.failed_file(&self.name, error))
    }

    /// The file, all of it written.
    pub(super) fn finish(self) -> Result<Beside> {
        let Self { folder, name, writer } = self;
        writer.into_inner().map_err(|error| folder.failed_file(&name, error.into_error()))
    }
}

/// A line of such a file, for standard output.
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

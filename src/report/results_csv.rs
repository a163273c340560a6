//! `<sheet>.results.csv` and `<sheet>.fix.csv`: every original cell, then the result columns.
//!
//! UTF-8 with byte order mark and CRLF, because that is what Excel opens rightly; every field in quotes, and text
//! that would be a formula guarded, so that it reads back unchanged.

use std::borrow::Cow;
use std::io::Write;

use crate::error::Result;
use crate::sheet::formula_guard::guarded;

use super::atomic_write::{Beside, Folder};
use super::layout::Layout;
use super::layout::RESULT_COLUMNS;
use super::result_line::ResultLine;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A CSV file under way.
pub(super) struct Delimited<'a> {
    folder: &'a Folder,
    name: String,
    writer: csv::Writer<Beside>,
}

impl<'a> Delimited<'a> {
    /// Begins the file of a sheet with its header.
    pub(super) fn begin(folder: &'a Folder, name: String, layout: &Layout) -> Result<Self> {
        let mut file = folder.begin(&*name)?;
        file.write_all(MARK).map_err(|error| folder.failed("the file", &folder.path().join(&name), error))?;
        let writer = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .terminator(csv::Terminator::CRLF)
            .from_writer(file);
        let mut table = Self { folder, name, writer };
        table.record(layout.headers.iter().map(Cow::from), &RESULT_COLUMNS)?;
        Ok(table)
    }

    /// Writes a row.
    pub(super) fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let results = line.results();
        self.record(layout.cells(&line.row), &results.each_ref().map(String::as_str))
    }

    /// The file, all of it written.
    pub(super) fn finish(self) -> Result<Beside> {
        let Self { folder, name, writer } = self;
        writer
            .into_inner()
            .map_err(|error| folder.failed("the file", &folder.path().join(name), error.into_error()))
    }

    fn record<'c>(&mut self, cells: impl Iterator<Item = Cow<'c, str>>, results: &[&'c str]) -> Result<()> {
        let fields = cells.chain(results.iter().copied().map(Cow::from));
        let written = fields
            .into_iter()
            .try_for_each(|field| self.writer.write_field(guarded(&field).as_bytes()))
            .and_then(|()| self.writer.write_record(None::<&[u8]>));
        written.map_err(|error| self.folder.failed("the file", &self.folder.path().join(&self.name), error))
    }
}

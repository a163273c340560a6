//! `<sheet>.results.csv` and `<sheet>.fix.csv`: every original cell, then the result columns.
//!
//! UTF-8 with byte order mark and CRLF, because that is what Excel opens rightly; every field in quotes, and text
//! that would be a formula guarded, so that it reads back unchanged.

use std::borrow::Cow;
use std::io::Write;

use crate::error::Result;
use crate::sheet::formula_guard::guarded;

use crate::report::atomic_write::{Beside, FileChange, Folder};
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::layout::{Layout, RESULT_COLUMNS, must_be_corrected};
use crate::report::names::{FIX_ENDING, Names, naming_kind};
use crate::report::result_line::ResultLine;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The files of all sheets, or of the rows to correct.
pub(in crate::report) struct CsvFiles<'a> {
    folder: &'a Folder,
    only_to_correct: bool,
    stems: Names,
    under_way: Option<CsvFile<'a>>,
    files: Vec<FileChange>,
}

impl<'a> CsvFiles<'a> {
    /// The files of every row.
    pub(in crate::report) fn of_all(facts: &ReportFacts<'a>) -> Self {
        let stems = Names::default();
        Self { folder: facts.folder, only_to_correct: false, stems, under_way: None, files: Vec::new() }
    }

    /// The files of the rows to correct; a sheet without such rows has none.
    pub(in crate::report) fn to_correct(facts: &ReportFacts<'a>) -> Self {
        Self { only_to_correct: true, ..Self::of_all(facts) }
    }

    fn end(&mut self) -> Result<()> {
        if let Some(file) = self.under_way.take() {
            self.files.push(FileChange::Put(file.finish()?));
        }
        Ok(())
    }
}

impl FormatWriter for CsvFiles<'_> {
    fn begin(&mut self, layout: &Layout) -> Result<()> {
        self.end()?;
        let stem = self.stems.stem(&layout.name);
        if !self.only_to_correct {
            self.under_way = Some(CsvFile::begin(self.folder, format!("{stem}.results.csv"), layout)?);
            return Ok(());
        }
        let name = format!("{}{FIX_ENDING}", naming_kind(&stem, layout.kind));
        match layout.count.to_fix {
            0 => self.files.push(FileChange::Remove(name)),
            _ => self.under_way = Some(CsvFile::begin(self.folder, name, layout)?),
        }
        Ok(())
    }

    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        match &mut self.under_way {
            Some(file) if !self.only_to_correct || must_be_corrected(&line.row) => file.line(layout, line),
            Some(_) | None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        self.end()?;
        changes.append(&mut self.files);
        Ok(())
    }
}

/// A CSV file under way.
struct CsvFile<'a> {
    folder: &'a Folder,
    name: String,
    writer: csv::Writer<Beside>,
}

impl<'a> CsvFile<'a> {
    /// Begins the file of a sheet with its header.
    fn begin(folder: &'a Folder, name: String, layout: &Layout) -> Result<Self> {
        let mut file = folder.begin(&*name)?;
        file.write_all(MARK).map_err(|error| folder.failed_file(&name, error))?;
        let writer = csv::WriterBuilder::new()
            .quote_style(csv::QuoteStyle::Always)
            .terminator(csv::Terminator::CRLF)
            .from_writer(file);
        let mut table = Self { folder, name, writer };
        table.record(layout.headers.iter().map(Cow::from), &RESULT_COLUMNS)?;
        Ok(table)
    }

    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        let results = line.results();
        self.record(layout.cells(&line.row), &results.each_ref().map(String::as_str))
    }

    fn finish(self) -> Result<Beside> {
        let Self { folder, name, writer } = self;
        writer.into_inner().map_err(|error| folder.failed_file(&name, error.into_error()))
    }

    fn record<'c>(&mut self, cells: impl Iterator<Item = Cow<'c, str>>, results: &[&'c str]) -> Result<()> {
        let mut fields = cells.chain(results.iter().copied().map(Cow::from));
        let written = fields
            .try_for_each(|field| self.writer.write_field(guarded(&field).as_bytes()))
            .and_then(|()| self.writer.write_record(None::<&[u8]>));
        written.map_err(|error| self.folder.failed_file(&self.name, error))
    }
}

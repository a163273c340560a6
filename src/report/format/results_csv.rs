//! `<sheet>.results.csv` and `<sheet>.fix.csv`: every original cell, then the result columns.

use std::borrow::Cow;

use crate::error::Result;

use crate::report::atomic_write::{FileChange, Folder};
use crate::report::csv_file::CsvFile;
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::layout::{Layout, RESULT_COLUMNS, must_be_corrected};
use crate::report::names::{FIX_ENDING, Names, naming_kind};
use crate::report::result_line::ResultLine;

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
        let begin = |name| {
            CsvFile::begin(self.folder, name, layout.headers.iter().map(String::as_str).chain(RESULT_COLUMNS))
        };
        if !self.only_to_correct {
            self.under_way = Some(begin(format!("{stem}.results.csv"))?);
            return Ok(());
        }
        let name = format!("{}{FIX_ENDING}", naming_kind(&stem, layout.kind));
        match layout.count.to_fix {
            0 => self.files.push(FileChange::Remove(name)),
            _ => self.under_way = Some(begin(name)?),
        }
        Ok(())
    }

    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        match &mut self.under_way {
            Some(file) if !self.only_to_correct || must_be_corrected(&line.row) => {
                file.record(layout.cells(&line.row).chain(line.results().map(Cow::from)))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        self.end()?;
        changes.append(&mut self.files);
        Ok(())
    }
}

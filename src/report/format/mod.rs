//! What a format of the reports is given, and what it answers with: it is told of every sheet and every row, and hands over
//! its files at the end.

pub(super) mod results_csv;
pub(super) mod results_jsonl;
pub(super) mod summary_json;

use crate::error::Result;
use crate::status::row_advice::Advisor;

use super::atomic_write::{FileChange, Folder};
use super::figures::Figures;
use super::layout::Layout;
use super::page::headline::Headline;
use super::result_line::ResultLine;

/// What all formats share of one import.
pub(super) struct ReportFacts<'a> {
    pub(super) folder: &'a Folder,
    pub(super) figures: &'a Figures<'a>,
    pub(super) headline: &'a Headline,
    pub(super) advisor: &'a Advisor<'a>,
    /// The row that a worksheet ends at, as a spreadsheet program shows it.
    pub(super) last_row: u32,
}

/// A format under way.
pub(super) trait FormatWriter {
    /// The rows of a sheet follow.
    fn begin(&mut self, _layout: &Layout) -> Result<()> {
        Ok(())
    }

    /// A row of the sheet that was begun last.
    fn line(&mut self, _layout: &Layout, _line: &ResultLine) -> Result<()> {
        Ok(())
    }

    /// All rows went by: adds its files to those of the formats before it.
    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()>;
}

/// A file that this report does not have: that of an earlier one no longer applies.
pub(super) struct Outdated(pub(super) &'static str);

impl FormatWriter for Outdated {
    fn finish(self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        changes.push(FileChange::Remove(self.0.to_owned()));
        Ok(())
    }
}

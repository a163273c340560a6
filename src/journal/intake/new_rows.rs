//! What an import hands to the journal: sheets, jobs and rows; and what it gets back.
//!
//! Putting them in is a matter of `intake`.

use crate::journal::SheetId;
use crate::model::action::Action;
use crate::model::content_hash::ContentHash;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::model::operation::Operation;
use crate::model::record::{Link, Record};
use crate::model::tally::Tally;
use crate::model::words::words;

/// A sheet of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSheet {
    /// The worksheet's name, or the file's without its ending.
    pub name: String,
    /// The file's name as it was given.
    pub file: String,
    /// The worksheet within a workbook.
    pub worksheet: Option<String>,
    /// What its rows are.
    pub kind: Kind,
    /// The headers, in the sheet's order.
    pub headers: Vec<String>,
    /// The row they stand in, counted from 1.
    pub header_row: u32,
}

/// A job to be made, or the new values of one.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// What its row is.
    pub kind: Kind,
    /// The key other rows refer to it by, folded.
    pub sheet_key: Option<String>,
    /// Its name as names are compared.
    pub name: String,
    /// Its natural key; no other job of its kind has it.
    pub natural_key: String,
    /// A hash of all its values.
    pub content_hash: ContentHash,
    /// What it refers to, each role at most once.
    pub links: Vec<Link>,
    /// What is to be brought about, in this order; at least one action.
    pub steps: Vec<Action>,
}

impl NewJob {
    /// The record that it creates; `None` for a job that creates none.
    pub fn record(&self) -> Option<&Record> {
        self.steps.iter().find_map(Action::record)
    }
}

/// A step of a new job, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenStep {
    /// The operation that carries it out.
    pub operation: Operation,
    /// The action as JSON; not asked for where the row has its shape.
    pub action: String,
}

/// One row of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// Its sheet.
    pub sheet: SheetId,
    /// Its number in the sheet, as a spreadsheet counts.
    pub number: u32,
    /// The line of the file it begins at, for CSV.
    pub line: Option<u64>,
    /// Its cells, as they stood.
    pub cells: Vec<String>,
    /// The job it is about.
    pub job: JobId,
    /// What the import made of it.
    pub disposition: Disposition,
}

words! {
    /// What an import made of a row.
    pub enum Disposition: as_str, parse {
        /// A job was made for it.
        New = "new",
        /// Its job got new values.
        Revised = "revised",
        /// Its job was there, with the same values.
        Recognised = "recognised",
        /// Its job is done, with other values than the row has now.
        ChangedSince = "changed_since",
        /// It was left out, for its errors or those of what it belongs to; it has a job once it has come again.
        LeftOut = "left_out",
    }
}

/// What an import brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its number.
    pub import: ImportId,
    /// Its rows.
    pub rows: u64,
    /// Where the jobs of its rows stand.
    pub tally: Tally,
    /// Rows that made a job.
    pub added: u64,
    /// Rows that gave their job new values.
    pub revised: u64,
    /// Rows whose job was there with the same values.
    pub recognised: u64,
    /// Rows whose job is done with other values.
    pub changed_since: u64,
    /// Rows that were left out and have no answer, by kind and by the state that reports show.
    pub left_out: Tally,
    /// Rows that were left out as they were before, and that an earlier import has without errors.
    pub answered: u64,
}

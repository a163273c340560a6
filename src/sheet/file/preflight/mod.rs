//! Looking through a workbook before the library that reads it sees it: what it is made of, how large that is, and what
//! its worksheets hide, merge and compute.
//!
//! ```text
//! package     the archive: its parts, their names and sizes, and parts that are kept in memory as a whole
//! elements    the elements of a part: no document type, no endless text, no other encoding
//! listing     the worksheets, in which part each is, and a copy with a list that the reader takes
//! worksheet   one pass over a worksheet                     survey    what it comes to
//! cell        the cell at hand in that pass and its formula  links     links to e-mail addresses
//! merges      merged ranges, then and while rows go by
//! ```
//!
//! Everything is read in one direction and in memory that no file can make grow. Values are left to
//! [`super::workbook`].
//!
//! What the reader guards by itself is left to it: the sizes and checksums of parts, dimensions, kinds of cells, numbers
//! that are none, texts that are missing. What it takes as it comes is refused here first: counts and parts that ask for
//! more memory than the file is worth, document types, cells that are there twice, and values of which it takes a piece.

mod cell;
mod elements;
mod links;
mod listing;
mod merges;
mod package;
mod survey;
mod worksheet;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal};

pub(crate) use links::MailLink;
use listing::Listing;
pub(crate) use listing::{Listed, Sources};
pub(super) use merges::Covers;
use package::Package;
pub(crate) use survey::{CellCount, ColumnSurvey, RowSet, WorksheetSurvey};
pub(super) use worksheet::unreadable;

/// Columns that are read, of workbooks and text tables alike; no record has a tenth of them.
pub(crate) const COLUMN_LIMIT: usize = 1_000;

/// A workbook that was looked through as far as the list of its worksheets.
pub(crate) struct Preflight {
    path: PathBuf,
    package: Package,
    listing: Listing,
    /// Worksheets that were surveyed ahead.
    ahead: HashMap<usize, Surveyed>,
}

/// What a survey of a worksheet came to.
type Surveyed = Result<WorksheetSurvey, WorkbookFault>;

/// Bytes of worksheets, unpacked, from which on a second thread pays.
const MANY: u64 = 4 << 20;

impl Preflight {
    /// Opens a workbook.
    pub(crate) fn open(path: &Path) -> Result<Self, WorkbookFault> {
        Self::open_within(path, LIMITS)
    }

    /// The same within limits of one's own.
    fn open_within(path: &Path, limits: WorkbookLimits) -> Result<Self, WorkbookFault> {
        let mut package = Package::open(path, limits)?;
        let listing = listing::read(&mut package)?;
        Ok(Self { path: path.to_owned(), package, listing, ahead: HashMap::new() })
    }

    /// The worksheets, charts and dialogs, in their order.
    pub(crate) fn listed(&self) -> &[Listed] {
        &self.listing.sheets
    }

    /// Where values can come from besides from whoever typed them.
    pub(crate) fn sources(&self) -> Sources {
        self.listing.sources
    }

    /// What the reader is to open in place of the workbook at `path`, where it would not take that as it is.
    pub(crate) fn repaired(&self, path: &Path) -> std::io::Result<Option<File>> {
        let repair = self.listing.repair.as_ref();
        repair.map(|(part, list)| listing::copy(path, part, list)).transpose()
    }

    /// Refuses parts that would make the reader ask for more memory than the file is worth.
    pub(crate) fn must_be_safe_to_open(&mut self) -> Result<(), WorkbookFault> {
        self.package.must_be_safe_to_open(&self.listing.folder)
    }

    /// Surveys the worksheet in this place of the list.
    pub(crate) fn survey(&mut self, sheet: usize) -> Surveyed {
        let ahead = self.ahead.remove(&sheet);
        ahead.unwrap_or_else(|| survey(&mut self.package, &self.listing, sheet))
    }

    /// Surveys these worksheets, of which [`Self::survey`] is asked next, two at a time where they are large.
    pub(crate) fn survey_ahead(&mut self, sheets: &[usize]) {
        self.survey_ahead_from(sheets, MANY);
    }

    fn survey_ahead_from(&mut self, sheets: &[usize], many: u64) {
        let Self { package, listing, .. } = self;
        let size = |sheet: &usize| listing.sheets.get(*sheet).map_or(0, |listed| package.size_of(listed));
        let mut sheets: Vec<(u64, usize)> = sheets.iter().map(|sheet| (size(sheet), *sheet)).collect();
        let bytes: u64 = sheets.iter().map(|(size, _)| size).sum();
        if sheets.len() < 2 || bytes < many {
            return;
        }
        // What cannot be opened again is surveyed when it is asked for.
        let Ok(mut second) = Package::open(&self.path, package.limits) else { return };
        // The largest first, so that both end at about the same time.
        sheets.sort_unstable_by(|left, right| right.cmp(left));
        let next = AtomicUsize::new(0);
        let work = |package: &mut Package| {
            let mut done = Vec::new();
            while let Some((_, sheet)) = sheets.get(next.fetch_add(1, Ordering::Relaxed)) {
                done.push((*sheet, survey(package, listing, *sheet)));
            }
            done
        };
        let done = thread::scope(|scope| {
            let second = scope.spawn(|| work(&mut second));
            let mut done = work(package);
            done.extend(second.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)));
            done
        });
        self.ahead.extend(done);
    }
}

/// Surveys the worksheet in this place of the list.
fn survey(package: &mut Package, listing: &Listing, sheet: usize) -> Surveyed {
    let Some(listed) = listing.sheets.get(sheet) else {
        return Err(WorkbookFault::corrupt("a worksheet is missing"));
    };
    let Some(part) = &listed.part else {
        let what = "the sheet is damaged: the workbook does not say where its cells are. Open it in Excel and save it";
        return Err(WorkbookFault::new(Code::SheetUnreadable, what));
    };
    worksheet::survey(package, part, listing.is_uncalculated)
}

/// How much of a workbook is read at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkbookLimits {
    /// Parts of the archive.
    parts: usize,
    /// Bytes read to find the parts.
    directory: u64,
    /// Bytes of one part, unpacked.
    part: u64,
    /// Bytes of all parts, unpacked.
    sum: u64,
    /// Bytes of the shared texts, unpacked: they are held in memory as a whole.
    strings: u64,
    /// Bytes of any other part that is held in memory as a whole.
    small: u64,
    /// Shared texts.
    texts: u64,
    /// Formats of cells; Excel knows 65,490.
    formats: u64,
    /// Bytes of one text, or of one tag.
    run: u64,
    /// The same among the formats, each of which is held as often as it is used.
    format_run: u64,
    /// Values of one worksheet.
    values: u64,
    /// Merged ranges, and ranges of rows, that are remembered of one worksheet.
    ranges: usize,
    /// Links of one worksheet to e-mail addresses; Excel writes 65,530.
    links: usize,
}

/// The limits that hold.
pub(crate) const LIMITS: WorkbookLimits = WorkbookLimits {
    parts: 10_000,
    directory: 8 << 20,
    part: 512 << 20,
    sum: 1 << 30,
    strings: 64 << 20,
    small: 32 << 20,
    texts: 4_000_000,
    formats: 66_000,
    run: 1 << 20,
    format_run: 2 << 10,
    values: 20_000_000,
    ranges: 1_000_000,
    links: 65_530,
};

/// Why a workbook, or one of its worksheets, is not read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkbookFault {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl WorkbookFault {
    /// A fault with this code.
    fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// There is more than is read.
    fn too_large(message: impl Into<String>) -> Self {
        Self::new(Code::FileTooLarge, message)
    }

    /// The package is broken.
    pub(crate) fn corrupt(what: &str) -> Self {
        Self::new(
            Code::FileCorrupt,
            format!(
                "the file is incomplete or damaged ({what}): export it again, or open it in Excel and save it"
            ),
        )
    }

    /// The refusal of the file.
    pub(crate) fn refusal(self, file: &str) -> Refusal {
        Finding::refusal(self.code, file, self.message)
    }
}

#[cfg(test)]
mod tests;

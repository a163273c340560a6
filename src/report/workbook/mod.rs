//! Workbooks for people: `results.xlsx`, `fix.xlsx` and `<file>.checked.xlsx`.
//!
//! ```text
//! results          results.xlsx and fix.xlsx      summary_sheet, to_do_sheet  their first sheets
//! checked/         <file>.checked.xlsx            rollout                     the workbook of `fleetload rollout`
//! export_book      an export of the service       undo_book                   what restores an import
//! annotated_sheet  a sheet of the input written back with marks, notes and result columns
//! own_sheet        a sheet of our own, filled from above
//! styles           colours, fonts, and how sheets are printed
//! ```
//!
//! Cells are written as text and formatted as text, so that nothing is a formula and zeros survive editing.

pub(super) mod annotated_sheet;
pub(super) mod checked;
pub(super) mod export_book;
mod own_sheet;
pub(super) mod results;
pub(super) mod rollout;
mod styles;
pub(super) mod summary_sheet;
mod to_do_sheet;
pub(super) mod undo_book;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read as _, Write};
use std::path::Path;

use rust_xlsxwriter::{DocProperties, ExcelDateTime, Note, Worksheet, XlsxError};
use zip::ZipArchive;

use crate::error::{Result, without_panic};

use self::styles::{Styles, printed};
use super::atomic_write::{Beside, Folder};
use super::names::cut;

/// Most UTF-16 units in a cell, as Excel has it.
const CELL_UNITS: usize = 32_767;
/// What stands at the end of a cell that was cut.
const CUT: &str = " … (cut: the whole text is in the CSV report)";
/// Most characters of a note.
const NOTE_CHARS: usize = 500;
/// Characters of a note on one of its lines, to find the height it needs.
const NOTE_LINE: usize = 44;
/// Who made the workbooks.
const AUTHOR: &str = "fleetload";
/// Height of one line of text, in points.
const LINE_HEIGHT: f64 = 15.0;
/// Most lines that a row shows at once.
const LINES: usize = 8;
/// Most bytes of the part of a workbook that says what it is.
const PROPERTIES: u64 = 1 << 16;

/// What a workbook says of itself; nothing where it cannot be read.
fn properties(path: &Path) -> Option<String> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path).ok()?)).ok()?;
    let mut text = String::new();
    archive.by_name("docProps/core.xml").ok()?.take(PROPERTIES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// A workbook under way, written beside its target.
struct WorkbookFile<'a> {
    folder: &'a Folder,
    file: Beside,
    workbook: rust_xlsxwriter::Workbook,
    styles: Styles,
}

impl<'a> WorkbookFile<'a> {
    /// Begins a workbook that says what it is and when it was made.
    fn begin(folder: &'a Folder, name: &str, title: &str, made: &str) -> Result<Self> {
        let file = folder.begin(name)?;
        let mut this =
            Self { folder, file, workbook: rust_xlsxwriter::Workbook::new(), styles: Styles::new() };
        this.attempt(|workbook, _| {
            let at = ExcelDateTime::parse_from_str(made)?;
            let properties =
                DocProperties::new().set_title(title).set_author(AUTHOR).set_creation_datetime(&at);
            workbook.set_properties(&properties);
            // The library keeps its own files beside the workbook.
            workbook.set_tempdir(folder.path()).map(|_| ())
        })?;
        Ok(this)
    }

    /// Adds a sheet of our own, to be filled at any time.
    fn add_own_sheet(&mut self) -> Result<()> {
        self.attempt(|workbook, _| {
            workbook.add_worksheet();
            Ok(())
        })
    }

    /// Fills the first sheet.
    fn fill_first(
        &mut self,
        fill: impl FnOnce(&mut Worksheet, &Styles) -> std::result::Result<(), XlsxError>,
    ) -> Result<()> {
        self.attempt(|workbook, styles| {
            let sheet = workbook.worksheet_from_index(0)?;
            fill(sheet, styles)?;
            printed(sheet);
            Ok(())
        })
    }

    /// Does something with the last sheet.
    fn on_last<T>(
        &mut self,
        what: impl FnOnce(&mut Worksheet, &Styles) -> std::result::Result<T, XlsxError>,
    ) -> Result<T> {
        self.attempt(|workbook, styles| {
            let last = workbook.worksheets().len().saturating_sub(1);
            what(workbook.worksheet_from_index(last)?, styles)
        })
    }

    /// Does something with the workbook. The library panics when its own files cannot be written, as on a full disk; the
    /// workbook is thrown away then, so that nothing half done is ever seen.
    fn attempt<T>(
        &mut self,
        what: impl FnOnce(&mut rust_xlsxwriter::Workbook, &Styles) -> std::result::Result<T, XlsxError>,
    ) -> Result<T> {
        match without_panic(|| what(&mut self.workbook, &self.styles)) {
            Some(Ok(done)) => Ok(done),
            Some(Err(error)) => Err(self.failed(error)),
            None => Err(self.failed("a temporary file could not be written; the disk may be full")),
        }
    }

    /// The file, all of it written.
    fn finish(mut self) -> Result<Beside> {
        let Self { workbook, file, .. } = &mut self;
        match without_panic(|| workbook.save_to_writer(&mut *file)) {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(self.failed(error)),
            None => return Err(self.failed("a temporary file could not be written; the disk may be full")),
        }
        self.file.flush().map_err(|error| self.failed(error))?;
        Ok(self.file)
    }

    fn failed(&self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> crate::error::Error {
        self.folder.failed("the workbook", &self.folder.path().join(self.file.name()), cause)
    }
}

/// The height of a row whose longest text is broken into lines of `width` characters. No program measures that by
/// itself when it opens a file.
fn height(texts: &[&str], width: usize) -> f64 {
    let lines = |text: &&str| text.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum();
    let lines: usize = texts.iter().map(lines).fold(1, usize::max).min(LINES);
    #[expect(clippy::cast_precision_loss, reason = "a handful of lines")]
    let height = LINE_HEIGHT * lines as f64;
    height
}

/// A note as large as its text.
fn sized_note(text: &str) -> Note {
    let text = cut(text, NOTE_CHARS, |_| 1);
    let lines: usize = text.lines().map(|line| line.chars().count() / NOTE_LINE + 1).sum();
    Note::new(text)
        .set_author(AUTHOR)
        .add_author_prefix(false)
        .set_width(290)
        .set_height(u32::try_from(lines * 17 + 14).unwrap_or(u32::MAX))
}

/// A text as far as a cell holds it, with a word on what is missing.
fn fitting(text: &str) -> Cow<'_, str> {
    // No text has more UTF-16 units than bytes.
    if text.len() <= CELL_UNITS || text.encode_utf16().count() <= CELL_UNITS {
        return text.into();
    }
    let room = CELL_UNITS - CUT.encode_utf16().count();
    format!("{}{CUT}", cut(text, room, char::len_utf16)).into()
}

/// The column of a worksheet; one beyond its end is refused by the library.
fn column(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

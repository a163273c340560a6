//! An export as a workbook: a sheet that says what it is, and the rows, written as they come. Every cell is text.

use std::path::Path;

use crate::error::Result;
use crate::export::{Row, Standing, Subject};
use crate::report::atomic_write::{Beside, Folder};
use crate::report::export_file::{ExportFacts, ExportWriter, headers, texts};

use super::own_sheet::OwnSheet;
use super::styles::Mark;
use super::{WorkbookFile, column, fitting, properties};

/// The most rows of a worksheet, its header included.
const MOST_ROWS: u32 = 1_048_576;

/// Widths of columns, in characters: of ids, and of anything else.
const WIDTHS: (f64, f64) = (38.0, 20.0);

/// How the title of the workbook begins, to be known again.
const TITLE: &str = "fleetload, export of";

/// Whether a file is the workbook of an export.
pub(in crate::report) fn is_export_workbook(file: &Path) -> bool {
    properties(file).is_some_and(|text| text.contains(&format!(">{TITLE} ")))
}

/// A workbook under way.
pub(in crate::report) struct ExportBook<'a> {
    file: WorkbookFile<'a>,
    subject: Subject,
    /// Worksheets begun.
    sheets: u32,
    /// The next row of the worksheet, counted from 0.
    next: u32,
}

impl<'a> ExportBook<'a> {
    /// Begins the workbook with the sheet that says what it is.
    pub(in crate::report) fn begin(folder: &'a Folder, name: &str, facts: &ExportFacts<'_>) -> Result<Self> {
        let title = format!("{TITLE} {}; {}", facts.subject.words(), facts.whose.line());
        let at = facts.at.to_string();
        let mut file = WorkbookFile::begin(folder, name, &title, at.trim_end_matches('Z'))?;
        file.add_own_sheet()?;
        file.fill_first(|sheet, styles| {
            let mut page = OwnSheet::begin(sheet, styles, "About", [16.0, 100.0], &title)?;
            page.line("Records", facts.scope)?;
            page.line("Read at", &at)?;
            for sentence in facts.said {
                page.line("", sentence)?;
            }
            Ok(())
        })?;
        let mut this = Self { file, subject: facts.subject, sheets: 0, next: 0 };
        this.begin_sheet()?;
        Ok(this)
    }

    fn begin_sheet(&mut self) -> Result<()> {
        self.file.attempt(|workbook, _| workbook.add_worksheet_with_constant_memory().map(|_| ()))?;
        self.sheets += 1;
        self.next = 1;
        let name = match self.sheets {
            1 => self.subject.word().to_owned(),
            more => format!("{} {more}", self.subject.word()),
        };
        let headers = headers(self.subject);
        self.file.on_last(|sheet, styles| {
            sheet.set_name(name)?;
            sheet.set_freeze_panes(1, 0)?;
            for (place, header) in headers.iter().enumerate() {
                let is_id = ["id", "owner", "device", "company", "parent", "site", "template", "cloud"]
                    .contains(header);
                sheet.set_column_width(column(place), if is_id { WIDTHS.0 } else { WIDTHS.1 })?;
                sheet.write_string_with_format(0, column(place), *header, styles.header_cell(Mark::None))?;
            }
            Ok(())
        })
    }

    /// Lets the rows of the sheet be filtered.
    fn end_sheet(&mut self) -> Result<()> {
        let (last, width) = (self.next.saturating_sub(1), headers(self.subject).len());
        self.file
            .on_last(|sheet, _| sheet.autofilter(0, 0, last, column(width.saturating_sub(1))).map(|_| ()))
    }
}

impl ExportWriter for ExportBook<'_> {
    fn row(&mut self, row: &Row) -> Result<()> {
        if self.next == MOST_ROWS {
            self.end_sheet()?;
            self.begin_sheet()?;
        }
        let at = self.next;
        self.next += 1;
        let mark = if row.standing == Standing::Read { Mark::None } else { Mark::Doubtful };
        self.file.on_last(|sheet, styles| {
            for (place, text) in texts(row).iter().enumerate() {
                sheet.write_string_with_format(at, column(place), fitting(text), styles.cell(mark))?;
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> Result<Beside> {
        self.end_sheet()?;
        self.file.finish()
    }
}

//! Reports: views of the journal, one small file a format, over one projection of a row.
//!
//! ```text
//! layout       which columns a sheet shows, and which one a problem speaks of
//! result_line  one row in words               cell_change    what to change in the cell to blame
//! row_group    states as groups, with signs   figures        the numbers of an import
//! names        of files and worksheets        atomic_write   all files at once, each whole or not at all
//! csv_file     the dialect of CSV files
//! row_pass     every row to every format      edited_fix_files   fix files that somebody has edited
//!
//! format/      what a format answers with: results_csv (<sheet>.results.csv, <sheet>.fix.csv), results_jsonl, summary_json
//! page         report.html                    plan_page      the page of a plan
//! old_folder   what of an old report is removed
//! export_file/ exports of the service
//! workbook/    results.xlsx, fix.xlsx; checked/ is <file>.checked.xlsx, what a check has found, in its cells; rollout, undo
//! ```
//!
//! Everything comes from the journal and from what the caller says of the run and of how fleetload is called, nothing
//! from a clock: the same journal gives the same bytes.

mod atomic_write;
mod cell_change;
mod csv_file;
mod edited_fix_files;
pub mod export_file;
mod figures;
mod format;
mod layout;
mod names;
mod old_folder;
mod page;
pub mod page_assets;
mod plan_page;
mod result_line;
mod row_group;
mod row_pass;
mod workbook;

use std::path::{Path, PathBuf};

use crate::ending::End;
use crate::error::Result;
use crate::journal::{Holder, ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::model::time::Moment;
use crate::status::Status;
use crate::status::next_command::Again;
use crate::status::row_advice::Advisor;

use self::atomic_write::Folder;
pub use self::atomic_write::digest;
use self::cell_change::Suggestions;
pub use self::edited_fix_files::KeptFix;
use self::figures::Figures;
use self::format::results_csv::CsvFiles;
use self::format::results_jsonl::JsonlFile;
pub use self::format::results_jsonl::RowResult;
use self::format::summary_json::SummaryFile;
pub use self::format::summary_json::{ImportFigures, ReportedCounts, folder, reported_counts};
use self::format::{FormatWriter, Outdated, ReportFacts};
use self::layout::Layout;
pub use self::layout::RESULT_COLUMNS;
pub use self::names::{FIX, RESULTS};
pub use self::old_folder::OldFolder;
pub use self::page::NAME as PAGE;
use self::page::PageFile;
use self::page::headline::Headline;
pub use self::plan_page::{MARK, Outlook, PlanPage, page as plan_page};
use self::result_line::ResultLine;
use self::row_pass::Formats;
use self::workbook::annotated_sheet::LAST_ROW;
pub use self::workbook::checked::{Checked, unreadable_sheets};
use self::workbook::results::ResultsWorkbook;
pub use self::workbook::rollout::{is_rollout_workbook, rollout_workbook};
pub use self::workbook::undo_book::undo_workbook;

/// What the run knows of an import and the journal does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportEnd {
    /// How the run ended, or how its rows wait.
    pub end: End,
    /// The exit code of the command.
    pub exit_code: u8,
    /// When a parked run may go on.
    pub resumes_at: Option<Moment>,
    /// The run that is at work on the journal.
    pub holder: Option<Holder>,
}

/// The formats of the reports, in the order in which their files are told; what notes digests of others comes behind these.
fn formats<'a>(journal: &'a Journal, facts: &'a ReportFacts<'a>) -> Result<Formats<'a>> {
    let fix: Box<dyn FormatWriter + Send> = match facts.figures.to_fix {
        0 => Box::new(Outdated(FIX)),
        _ => Box::new(ResultsWorkbook::to_correct(facts)?),
    };
    Ok(Formats {
        workbooks: vec![Box::new(ResultsWorkbook::of_all(facts)?), fix],
        others: vec![
            Box::new(CsvFiles::to_correct(facts)),
            Box::new(CsvFiles::of_all(facts)),
            Box::new(JsonlFile::begin(facts)?),
            Box::new(SummaryFile::of(facts)),
            Box::new(PageFile::of(journal, facts)),
        ],
    })
}

/// Who has a report written, and how fleetload is called from there.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// How the commands that the report advises are typed.
    pub again: &'a Again,
    /// What the folder of the report is called from there.
    pub folder: &'a Path,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The folder.
    pub folder: PathBuf,
    /// The files written, `results.xlsx` first.
    pub files: Vec<PathBuf>,
    /// Files of an earlier report that no longer apply.
    pub removed: Vec<PathBuf>,
    /// The workbook of rows to correct, when there are any.
    pub fix: Option<PathBuf>,
    /// Rows that a person must correct, or that come along with them.
    pub to_fix: u64,
    /// Those of them that only come along.
    pub along: u64,
    /// Fix files that somebody has changed, where they are now.
    pub kept: Vec<KeptFix>,
}

/// Writes all reports of an import to `folder`, replacing those of before. Fix files that somebody has changed are kept
/// under another name.
///
/// # Errors
/// Usage when the journal has no such import; journal when it cannot be read; internal when a file cannot be
/// written or replaced. No file is replaced unless all of them could be written.
pub fn write(
    journal: &Journal,
    import: ImportId,
    folder: &Path,
    end: &ImportEnd,
    caller: Caller<'_>,
) -> Result<Written> {
    write_within(journal, import, folder, end, caller, LAST_ROW)
}

/// The same with worksheets that end at `last_row`.
fn write_within(
    journal: &Journal,
    import: ImportId,
    folder: &Path,
    end: &ImportEnd,
    caller: Caller<'_>,
    last_row: u32,
) -> Result<Written> {
    let info = ImportInfo::find(&journal.imports()?, import)?.clone();
    let layouts: Vec<Layout> =
        journal.sheets(import)?.into_iter().map(|sheet| Layout::of(journal, sheet)).collect::<Result<_>>()?;
    let figures = Figures::of(journal, &info, &layouts, *end)?;
    let folder = Folder::open(folder, import)?;

    let has_fix = figures.to_fix > 0;
    let answered_by = figures.answered.last().map(|(_, by)| *by).filter(|_| !has_fix);
    let fix = has_fix.then(|| caller.folder.join(FIX));
    let advisor = Advisor::new(caller.again, fix).answered_by(answered_by);
    let status = Status::after(journal, Some(import), end.end, end.resumes_at)?.under(end.holder);
    let headline = Headline::of(&figures, &status, &advisor);
    let facts =
        ReportFacts { folder: &folder, figures: &figures, headline: &headline, advisor: &advisor, last_row };
    let suggestions = Suggestions::of(journal);
    let mut changes = formats(journal, &facts)?.write(&layouts, &|layout, each| {
        journal.rows(layout.sheet, &mut |row| {
            each(ResultLine::of(layout, &info, (&advisor, &suggestions), row)?)
        })
    })?;
    let imported = journal.imports()?;
    let is_imported =
        |digest: &str| imported.iter().flat_map(|info| &info.files).any(|(_, sha256)| sha256 == digest);
    let kept = edited_fix_files::keep(&folder, &mut changes, &is_imported)?;
    let (files, removed) = folder.commit(changes)?;
    let fix = files.iter().find(|file| file.ends_with(FIX)).cloned();
    Ok(Written {
        folder: folder.path().to_owned(),
        files,
        removed,
        fix,
        to_fix: figures.to_fix,
        along: figures.to_fix_along,
        kept,
    })
}

#[cfg(test)]
mod tests;

//! Reports: views of the journal, one small file a format, over one projection of a row.
//!
//! ```text
//! layout       which columns a sheet shows, and which one a problem speaks of
//! result_line  one row in words              cell_change         what to change in the cell to blame
//! row_group    states as groups, with signs  figures             the numbers of an import; summary.json
//! names        of files, worksheets, folders atomic_write        all files at once, each whole or not at all
//!                                            edited_fix_files    fix files that somebody has edited
//!
//! results_csv    <sheet>.results.csv, <sheet>.fix.csv
//! results_jsonl  results.jsonl
//! page           report.html                 plan_page           the page of a plan
//! workbook/      results.xlsx, fix.xlsx; checked/ is <file>.checked.xlsx, what a check has found, in its cells
//! ```
//!
//! Everything comes from the journal and from what the caller says of the run and of how fleetload is called, nothing
//! from a clock: the same journal gives the same bytes.

mod atomic_write;
mod cell_change;
mod edited_fix_files;
mod figures;
mod layout;
mod names;
mod page;
pub mod page_assets;
mod plan_page;
mod result_line;
mod results_csv;
mod results_jsonl;
mod row_group;
mod workbook;

use std::path::{Path, PathBuf};

use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::model::time::Moment;
use crate::status::Status;
use crate::status::next_command::Again;
use crate::status::row_advice::Advisor;

use self::atomic_write::{Change, Folder};
pub use self::edited_fix_files::Kept;
use self::names::Names;
pub use self::names::folder;
pub use self::workbook::checked::Checked;
use self::workbook::summary_sheet::Summary;
use cell_change::Elsewhere;
use figures::Figures;
pub use figures::{Told, told};
pub use layout::RESULT_COLUMNS;
use layout::{Layout, must_be_corrected};
pub use page::NAME as PAGE;
use page::Page;
use page::headline::Headline;
pub use plan_page::{MARK, Page as PlanPage, page as plan_page};
use result_line::ResultLine;
use results_csv::Delimited;
use results_jsonl::Objects;
pub use workbook::results::{FIX, RESULTS};
use workbook::results::{Workbook, worksheet_names};

/// What the run knows of an import and the journal does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// How the run ended, or how its rows wait.
    pub end: End,
    /// The exit code of the command.
    pub exit_code: u8,
    /// When a parked run may go on.
    pub resumes_at: Option<Moment>,
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
    pub kept: Vec<Kept>,
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
    standing: &Standing,
    caller: Caller<'_>,
) -> Result<Written> {
    let info = find(journal, import)?;
    let layouts: Vec<Layout> =
        journal.sheets(import)?.into_iter().map(|sheet| Layout::of(journal, sheet)).collect::<Result<_>>()?;
    let figures = Figures::of(journal, &info, &layouts, *standing)?;
    let folder = Folder::open(folder, import)?;

    let (for_results, for_fix) = worksheet_names(&layouts);
    let has_fix = figures.to_fix > 0;
    let answered_by = figures.answered.last().map(|(_, by)| *by).filter(|_| !has_fix);
    let fix = has_fix.then(|| caller.folder.join(FIX));
    let advisor = Advisor::new(caller.again, fix).answered_by(answered_by);
    let status = Status::after(journal, Some(import), standing.end, standing.resumes_at)?;
    let headline = Headline::of(&figures, &status, &advisor);
    let summary =
        Summary { figures: &figures, headline: &headline, advisor: &advisor, worksheets: &for_results };
    let elsewhere = Elsewhere::of(journal);
    let mut results = Workbook::results(&folder, &info, &summary)?;
    let mut fix = has_fix.then(|| Workbook::fix(&folder, &info, &figures.whose)).transpose()?;
    let mut objects = Objects::begin(&folder, &figures.whose)?;
    let mut page = Page::default();
    let (mut tables, mut fixes) = (Vec::new(), Vec::new());
    let mut stems = Names::default();
    for (at, layout) in layouts.iter().enumerate() {
        let stem = stems.stem(&layout.name);
        let mut all = Delimited::begin(&folder, format!("{stem}.results.csv"), layout)?;
        let fix_name = format!("{}.fix.csv", names::naming_kind(&stem, layout.kind));
        let has_fixes = layout.count.to_fix > 0;
        let mut to_fix =
            has_fixes.then(|| Delimited::begin(&folder, fix_name.clone(), layout)).transpose()?;
        results.begin(&for_results[at], layout, layout.count.rows)?;
        if let (Some(fix), true) = (&mut fix, has_fixes) {
            fix.begin(&for_fix[at], layout, layout.count.to_fix)?;
        }
        journal.rows(layout.sheet, &mut |row| {
            let line = ResultLine::of(layout, &info, (&advisor, &elsewhere), row)?;
            all.line(layout, &line)?;
            results.line(layout, &line)?;
            objects.line(layout, import, &line)?;
            page.line(layout, &line);
            // A row refused since the sheet was looked through belongs to the next report.
            if must_be_corrected(&line.row)
                && let (Some(table), Some(workbook)) = (&mut to_fix, &mut fix)
            {
                table.line(layout, &line)?;
                workbook.line(layout, &line)?;
            }
            Ok(())
        })?;
        tables.push(Change::Put(all.finish()?));
        fixes.push(match to_fix {
            Some(table) => Change::Put(table.finish()?),
            None => Change::Remove(fix_name),
        });
    }
    fixes.push(match fix {
        Some(mut fix) => {
            fix.tell_what_to_do(&advisor, import)?;
            Change::Put(fix.finish()?)
        }
        None => Change::Remove(FIX.to_owned()),
    });
    // The workbook stands before the tables.
    fixes.rotate_right(1);
    let digests = edited_fix_files::digests(&folder, &mut fixes)?;
    let mut changes = vec![Change::Put(results.finish()?)];
    changes.extend(tables);
    changes.push(Change::Put(objects.finish()));
    changes.push(Change::Put(figures.write(&folder, &advisor, &digests)?));
    changes.push(Change::Put(page.write(journal, &info, &figures, &headline, &advisor, &folder)?));

    let imported = journal.imports()?;
    let is_imported =
        |digest: &str| imported.iter().flat_map(|info| &info.files).any(|(_, sha256)| sha256 == digest);
    let kept = edited_fix_files::keep(&folder, &fixes, &digests, &is_imported)?;
    changes.splice(1..1, fixes);
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

fn find(journal: &Journal, import: ImportId) -> Result<ImportInfo> {
    let imports = journal.imports()?;
    let last = imports.last().map(|info| info.import);
    imports.into_iter().find(|info| info.import == import).ok_or_else(|| {
        let error = Error::usage(format!("the journal has no import {import}"));
        match last {
            Some(last) => {
                error.hint(format!("the latest one is {last}; to see it, type: fleetload status {last}"))
            }
            None => error.hint("nothing was imported yet; type: fleetload import FILE"),
        }
    })
}

#[cfg(test)]
mod tests;

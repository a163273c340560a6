//! `fleetload check`: every problem of the sheets at once, offline, without credentials; with `--out` also in workbooks.

use std::path::{Path, PathBuf};

use super::objects::CheckSummary;
use crate::advice::{Advice, quoted, quoted_files};
use crate::cli::args::commands::Check as Typed;
use crate::cli::context::Context;
use crate::cli::findings::remedy::{meant, remedy};
use crate::cli::findings::{self, FindingCounts};
use crate::cli::import::{self, files};
use crate::cli::plan::dry_run::TempJournal;
use crate::cli::settings::reading::ReadingSettings;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Exit, Result};
use crate::import::{Examined, rehearse};
use crate::report::{Checked, unreadable_sheets};
use crate::sheet::finding::{Code, Findings, shown};
use crate::sheet::{Options, RowUse, typed};
use crate::term::{Ink, Line, counted};

/// Checks the sheets and tells what was found.
pub(in crate::cli) fn check(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let typed = &Typed { files: files::expand(context, &typed.files)?, ..typed.clone() };
    let workbooks = prepare_workbooks(typed)?;
    let manner = typed.reading.settle(context)?;
    let journal = import::existing(context)?;
    let row_use = if journal.is_some() { RowUse::Import } else { RowUse::Check };
    let mut examined = import::read(context, row_use, &typed.files, &manner, journal.as_ref())?;
    let manner = manner.without(&import::idle(&examined, &manner));
    if !examined.findings.forbid_import(true)
        && let Some(journal) = journal
    {
        // Rows without errors are compared with what is in the journal; nothing of that is kept, and nobody waits for it.
        let mut scratch = TempJournal::of(Some(&journal))?;
        let placed = rehearse(&examined, &mut scratch.journal, context.now())?;
        examined.take(placed);
    }
    context.tell_compared();
    let found = FindingCounts::of(&examined.findings);
    findings::tell(context, &examined.findings, manner.redact);
    import::tell_sheets(context, &examined, &manner);
    let end = if found.errors > 0 { End::Sheets } else { End::Done };
    let written = write_workbooks(context, typed, (workbooks.as_ref(), &manner), &examined)?;
    tell_end(context, &examined, found);
    findings::tell_explain(context, &examined.findings);
    tell_next(context, typed, &manner, (&examined, end.exit(), &written))?;
    summary(&examined, &manner, &written, end)
}

/// Sees that the workbooks can go where they shall, before anything is read.
fn prepare_workbooks(typed: &Typed) -> Result<Option<Checked>> {
    typed.out.as_ref().map(|folder| Checked::prepare(&typed.files, folder)).transpose()
}

/// Writes the workbooks and says where they are.
fn write_workbooks(
    context: &Context<'_>,
    typed: &Typed,
    (workbooks, manner): (Option<&Checked>, &ReadingSettings),
    examined: &Examined,
) -> Result<Vec<PathBuf>> {
    let Some(workbooks) = workbooks else { return Ok(Vec::new()) };
    let checked = examined.checked();
    let again = |file: &Path| {
        context.again(&format!("check {}{}", quoted(&file.to_string_lossy()), manner.command_line()))
    };
    let usable = |row| checked.is_usable(row);
    let written = workbooks.write(examined.books(), &examined.findings, &usable, &again)?;
    for (file, book) in written.iter().zip(examined.books()) {
        let words = match unreadable_sheets(book, &examined.findings).as_slice() {
            [] => "every problem in its cell: ".to_owned(),
            [sheet] => format!(
                "every problem in its cell, without the sheet {}, which cannot be read as it is: ",
                shown(sheet)
            ),
            sheets => {
                let names: Vec<String> = sheets.iter().map(|sheet| shown(sheet)).collect();
                format!(
                    "every problem in its cell, without the sheets {}, which cannot be read as they are: ",
                    names.join(" and ")
                )
            }
        };
        context.terminal.result(Line::plain(words).ink(Ink::Strong, file.display().to_string()));
    }
    for file in typed.files.iter().filter(|file| !examined.files().any(|known| known.path == **file)) {
        context.terminal.result(format!(
            "{}: none of its sheets can be shown, because no table was found",
            file.display()
        ));
    }
    Ok(written)
}

/// The last line of the result.
fn tell_end(context: &Context<'_>, examined: &Examined, found: FindingCounts) {
    let of = counted(rows(examined), "row", "rows");
    let notes = match (found.notes, findings::quiet(&examined.findings)) {
        (0, _) => String::new(),
        (notes, quiet) if quiet == 0 || context.common.verbose > 0 => {
            format!("; {}", counted(notes, "note", "notes"))
        }
        (notes, quiet) if notes == quiet => format!("; {} (shown with -v)", counted(notes, "note", "notes")),
        (notes, quiet) => format!("; {}, {quiet} of them shown with -v", counted(notes, "note", "notes")),
    };
    context.terminal.result(match (found.errors, found.warnings) {
        (0, 0) => Line::new().ink(Ink::Good, "nothing is wrong").text(format!(" with {of}{notes}")),
        (0, warnings) => Line::new()
            .ink(Ink::Good, "no errors")
            .text(format!(" in {of}, {}{notes}", counted(warnings, "warning", "warnings"))),
        (_, _) => Line::new().ink(Ink::Error, found.words()).text(format!(" in {of}; nothing was imported")),
    });
}

fn rows(examined: &Examined) -> u64 {
    examined.sheets.iter().map(|sheet| sheet.rows).sum()
}

/// The last object for programs.
fn summary(examined: &Examined, manner: &ReadingSettings, written: &[PathBuf], end: End) -> Result<Summary> {
    Ok(Summary::new(end).with(&CheckSummary {
        read: import::read_sheets(examined, manner),
        rows: rows(examined),
        found: FindingCounts::of(&examined.findings),
        groups: findings::finding_groups(&examined.findings),
        written: written.to_vec(),
        to_keep: manner.to_keep()?.map(|(_, text)| text),
    }))
}

/// What to type next, and what to write down so that it need not be typed again.
fn tell_next(
    context: &Context<'_>,
    typed: &Typed,
    manner: &ReadingSettings,
    (examined, exit, written): (&Examined, Exit, &[PathBuf]),
) -> Result<()> {
    let findings = &examined.findings;
    // What stands beside a workbook is not in it: only where there is one for every file, with every sheet, they are checked
    // instead.
    let has_all = examined.books().iter().all(|book| unreadable_sheets(book, findings).is_empty());
    let corrected = exit != Exit::Done && written.len() == typed.files.len() && has_all;
    let meant: Vec<PathBuf> = typed.files.iter().map(|file| meant(file, findings)).collect();
    let files = quoted_files(if corrected { written } else { &meant });
    let options = manner.without(&mistaken(findings)).command_line();
    let of_headers = of_headers(findings);
    let again = |command: &str| context.again(&format!("{command}{files}{options}"));
    match exit {
        Exit::Done => {
            context.terminal.hint(Advice::from("to see what would happen: ").command(again("plan")))
        }
        _ if corrected => {
            let names: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
            let names = names.join(" and ");
            let words = format!("correct the red cells in {names}, then: ");
            context.terminal.hint(Advice::from(words).command(again("check")));
        }
        _ => {
            let what = if of_headers.is_empty() {
                remedy(findings)
            } else if of_headers.contains(UNNAMED) {
                "replace each COLUMN by the column that the header means, or ignore the header with --ignore-column".to_owned()
            } else {
                "check that each --map and --ignore-column is what you mean".to_owned()
            };
            let command = format!("{}{of_headers}{}", again("check"), of_sheets(findings, &manner.options));
            context.terminal.hint(Advice::from(format!("{what}, then: ")).command(command));
            let is_in_cells = findings.iter().any(|finding| {
                finding.is_error() && finding.row.is_some() && !finding.code.as_str().starts_with("header.")
            });
            if typed.out.is_none() && is_in_cells && !examined.sheets.is_empty() {
                let command = format!("{} --out checked", again("check"));
                context.terminal.hint(Advice::from("to mark every problem in its cell: ").command(command));
            }
        }
    }
    if exit == Exit::Done
        && let Some((what, text)) = manner.to_keep()?
    {
        let text = text.trim_end().replace("\n\n", "\n");
        context.terminal.hint(Advice::from(format!("{what}\n")).command(text));
    }
    Ok(())
}

/// The options that may be why no table was found: what is to be typed next is another value of them, or none.
fn mistaken(findings: &Findings) -> Vec<&'static str> {
    let options = findings.iter().filter(|finding| finding.is_error()).map(|finding| match finding.code {
        Code::SheetNotFound => &["--worksheet"][..],
        Code::HeaderMissing => &["--header-row", "--delimiter"],
        _ => &[],
    });
    options.flatten().copied().collect()
}

/// The options that say which sheet is meant and what its rows are, for a person to fill in, where none was found.
fn of_sheets(findings: &Findings, options: &Options) -> &'static str {
    let was_found = !findings.iter().any(|finding| finding.code == Code::SheetNotFound);
    match options.kind {
        _ if was_found || !options.sheets.is_empty() => "",
        None => " --worksheet NAME --kind KIND",
        Some(_) => " --worksheet NAME",
    }
}

/// What stands for the name of a column that only a person knows.
const UNNAMED: &str = "=COLUMN";

/// The options that say of each header that is not known what it means, where that is suggested, and leave out the others;
/// where columns are missing that every row needs, the others may be those.
fn of_headers(findings: &Findings) -> String {
    let mut options: Vec<String> = Vec::new();
    let lacks_some = findings.iter().any(|finding| finding.code == Code::HeaderRequiredMissing);
    for finding in findings.iter().filter(|finding| finding.code == Code::HeaderUnknown) {
        let Some(header) = finding.header.as_deref().map(typed) else { continue };
        let option = match &finding.suggestion {
            Some(column) => format!(" --map {}", quoted(&format!("{header}={column}"))),
            None if lacks_some => format!(" --map {}", quoted(&format!("{header}{UNNAMED}"))),
            None => format!(" --ignore-column {}", quoted(&header)),
        };
        if !options.contains(&option) {
            options.push(option);
        }
    }
    options.concat()
}

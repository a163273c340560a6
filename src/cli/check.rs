//! `fleetload check`: every problem of the sheets at once, offline, without credentials.

use std::path::PathBuf;

use super::checked;
use super::commands::Check as Typed;
use super::context::Context;
use super::findings::{self, Found};
use super::intake;
use super::reading::Manner;
use super::remedy::{meant, remedy};
use super::scratch::Scratch;
use super::summary::Summary;
use crate::command::quoted;
use crate::ending::End;
use crate::error::{Exit, Result};
use crate::import::{Examined, rehearse};
use crate::sheet::finding::Findings;
use crate::term::{Ink, Line, counted};

/// Checks the sheets and tells what was found.
pub(super) fn check(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    let workbooks = checked::prepare(typed)?;
    let manner = typed.reading.settle(context)?;
    let mut examined = intake::read(context, &typed.files, &manner)?;
    if examined.is_clean()
        && let Some(journal) = intake::existing(context)?
    {
        // What is in the journal is compared with; nothing of the comparison is kept, and nobody waits for it.
        let mut scratch = Scratch::of(Some(&journal))?;
        let against_journal = rehearse(&examined, &mut scratch.journal, context.now())?;
        examined.findings.append(against_journal);
    }
    let found = Found::of(&examined.findings);
    findings::tell(context, &examined.findings, manner.redact);
    intake::tell_sheets(context, &examined, &manner);
    let end = if found.errors > 0 { End::Sheets } else { End::Done };
    let written = checked::write(context, typed, (workbooks.as_ref(), &manner), &examined)?;
    tell_end(context, &examined, found);
    findings::tell_explain(context, &examined.findings);
    tell_next(context, typed, &manner, (&examined.findings, end.exit(), &written))?;
    summary(&examined, &manner, &written, end)
}

/// The last line of the result.
fn tell_end(context: &Context<'_>, examined: &Examined, found: Found) {
    let of = counted(rows(examined), "row", "rows");
    let notes = match (found.notes, findings::quiet(&examined.findings)) {
        (0, _) => String::new(),
        (notes, quiet) if quiet == 0 || context.common.verbose > 0 => {
            format!("; {}", counted(notes, "note", "notes"))
        }
        (notes, quiet) if notes == quiet => format!("; {} (told with -v)", counted(notes, "note", "notes")),
        (notes, quiet) => format!("; {}, {quiet} of them told with -v", counted(notes, "note", "notes")),
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
fn summary(examined: &Examined, manner: &Manner, written: &[PathBuf], end: End) -> Result<Summary> {
    let summary = Summary::new(end)
        .with_all(intake::sheets_object(examined, manner))
        .with("rows", rows(examined))
        .with("found", Found::of(&examined.findings))
        .with("groups", findings::groups_object(&examined.findings))
        .with("written", written);
    Ok(match manner.to_keep()? {
        Some((_, text)) => summary.with("to_keep", text),
        None => summary,
    })
}

/// What to type next, and what to write down so that it need not be typed again.
fn tell_next(
    context: &Context<'_>,
    typed: &Typed,
    manner: &Manner,
    (findings, exit, written): (&Findings, Exit, &[PathBuf]),
) -> Result<()> {
    // What stands beside a workbook is not in it: only where there is one for every file, they are checked instead.
    let corrected = exit != Exit::Done && written.len() == typed.files.len();
    let meant: Vec<PathBuf> = typed.files.iter().map(|file| meant(file, findings)).collect();
    let files = command_files(if corrected { written } else { &meant });
    let (what, command) = match exit {
        Exit::Done => ("what would happen".to_owned(), "plan"),
        _ if corrected => {
            let names: Vec<String> = written.iter().map(|file| file.display().to_string()).collect();
            (format!("correct the red cells in {}, then", names.join(" and ")), "check")
        }
        _ => (format!("{}, then", remedy(findings)), "check"),
    };
    let again = context.again(&format!("{command} {files}{}", manner.command_line()));
    context.terminal.hint(format!("{what}: {again}"));
    if exit == Exit::Done
        && let Some((what, text)) = manner.to_keep()?
    {
        context.terminal.hint(format!("{what}\n{}", text.trim_end().replace("\n\n", "\n")));
    }
    Ok(())
}

/// Files as they are typed in a command.
fn command_files(files: &[PathBuf]) -> String {
    let files: Vec<String> = files.iter().map(|file| quoted(&file.to_string_lossy())).collect();
    files.join(" ")
}

//! `fleetload check`: every problem of the sheets at once, offline, without credentials.

use serde_json::json;

use super::checked;
use super::commands::Check as Typed;
use super::context::{Context, quoted};
use super::findings::{self, Found};
use super::intake;
use crate::error::{Exit, Result};
use crate::import::rehearse;
use crate::sheet::finding::Findings;
use crate::term::{Ink, Line, counted};

/// Checks the sheets and tells what was found.
pub(super) fn check(context: &Context<'_>, typed: &Typed) -> Result<Exit> {
    let workbooks = checked::prepare(typed)?;
    let mut examined = intake::read(context, &typed.files, &typed.reading)?;
    let against_journal = match intake::existing(context)? {
        // What is in the journal is compared with; nothing of the comparison is kept.
        Some(mut journal) if examined.is_clean() => rehearse(&examined, &mut journal, context.now())?,
        Some(_) | None => Findings::default(),
    };
    let of_sheets = std::mem::take(&mut examined.findings);
    let found = Found::of(&of_sheets).plus(Found::of(&against_journal));
    let mut all = of_sheets.into_vec();
    all.extend(against_journal.into_vec());
    findings::tell(context, &all);
    let exit = if found.errors > 0 { Exit::Sheets } else { Exit::Done };
    intake::tell_sheets(context, &examined);
    let written = checked::write(context, typed, workbooks.as_ref(), &examined, &all)?;
    let terminal = context.terminal;
    let rows = examined.sheets.iter().map(|sheet| sheet.rows).sum();
    if exit == Exit::Done {
        let of = counted(rows, "row", "rows");
        let notes = match found.notes {
            0 => String::new(),
            notes => format!("; {} (told with -v)", counted(notes, "note", "notes")),
        };
        terminal.result(match found.warnings {
            0 => Line::new().ink(Ink::Good, "nothing is wrong").text(format!(" with {of}{notes}")),
            warnings => Line::new()
                .ink(Ink::Good, "no errors")
                .text(format!(" in {of}, {}{notes}", counted(warnings, "warning", "warnings"))),
        });
    } else {
        terminal.result(
            Line::new()
                .ink(Ink::Error, found.words())
                .text(format!(" in {}; nothing was imported", counted(rows, "row", "rows"))),
        );
    }
    let mut summary = intake::sheets_object(&examined);
    if let Some(summary) = summary.as_object_mut() {
        summary.insert("object".to_owned(), json!("summary"));
        summary.insert("rows".to_owned(), json!(rows));
        summary.insert("found".to_owned(), json!(found));
        summary.insert("written".to_owned(), json!(written));
        summary.insert("exit_code".to_owned(), json!(exit.code()));
    }
    terminal.object(&summary);
    let files: Vec<String> = typed.files.iter().map(|file| quoted(&file.to_string_lossy())).collect();
    terminal.hint(if exit == Exit::Done {
        format!("what would happen: {}", context.again(&format!("plan {}", files.join(" "))))
    } else {
        format!("correct the sheet, then: {}", context.again(&format!("check {}", files.join(" "))))
    });
    Ok(exit)
}

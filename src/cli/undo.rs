//! `fleetload undo`: the workbook that restores what an import changed, as it was read before it was sent. Nothing is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::commands::Undo as Typed;
use super::context::Context;
use super::findings::{VALUE, cut};
use super::summary::Summary;
use crate::cli::output_file::{refuse_other_names, unwritable};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::ImportInfo;
use crate::model::id::{ImportId, JobId};
use crate::model::kind::Kind;
use crate::private_file;
use crate::report::undo_workbook;
use crate::status::undo::{LeftReason, NotUndone, Undo};
use crate::term::{Ink, Line, count, counted};

/// Rows that are listed of each reason; the workbook and `--json` have more.
const LISTED: usize = 5;

/// Writes the workbook, and lists what it does not restore.
pub(super) fn undo(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    refuse_others(&typed.out)?;
    let journal = context.journal()?;
    let whose = journal.whose()?;
    context.tell_whose(&whose);
    let imports = journal.imports()?;
    let import = ImportInfo::find(&imports, typed.import)?.import;
    let undo = Undo::of(&journal, import)?;
    let restores = undo.count();
    if restores > 0 {
        write(&typed.out, &undo_workbook(&undo, import, &whose)?)?;
    }
    tell(context, typed, &undo);
    for (kind, rows) in &undo.rows {
        for row in rows {
            context.terminal.object(&RestoresObject {
                sheet: *kind,
                source: &row.source,
                job: row.job,
                cells: &row.cells,
            });
        }
    }
    for left in &undo.left {
        context.terminal.object(&NotRestoredObject {
            source: &left.source,
            job: left.job,
            kind: left.kind,
            subject: &left.subject,
            reason: left.reason.as_str(),
            words: left.reason.words(),
        });
    }
    let end = if undo.left.is_empty() { End::Done } else { End::NotUndone };
    Ok(Summary::new(end).with(&UndoSummary {
        import,
        restores,
        not_restored: rows_of(&undo.left),
        workbook: (restores > 0).then_some(&typed.out),
    }))
}

fn tell(context: &Context<'_>, typed: &Typed, undo: &Undo) {
    let (terminal, import) = (context.terminal, typed.import);
    if undo.count() == 0 {
        let words = match undo.left.is_empty() {
            true => format!("nothing to undo: import {import} changed nothing"),
            false => format!("import {import} changed nothing that can be restored; no workbook was written"),
        };
        terminal.result(words);
    } else {
        terminal.result(
            Line::plain("restores what ").ink(Ink::Strong, format!("import {import}")).text(" changed:"),
        );
        for (kind, rows) in &undo.rows {
            terminal.result(format!("  {:<18}{}", kind.plural(), counted(rows.len() as u64, "row", "rows")));
        }
    }
    let mut by_reason: BTreeMap<LeftReason, Vec<&NotUndone>> = BTreeMap::new();
    for left in &undo.left {
        by_reason.entry(left.reason).or_default().push(left);
    }
    if !by_reason.is_empty() {
        terminal.result(Line::new().ink(Ink::Warning, "not restored:"));
    }
    for (reason, left) in by_reason {
        let rows = rows_of(left.iter().copied());
        // Several fields of one row may be left.
        let of_them = if rows == left.len() {
            String::new()
        } else {
            format!(" with {} values", count(left.len() as u64))
        };
        let rows = counted(rows as u64, "row", "rows");
        terminal.result(format!("  {rows}{of_them}: {}", reason.words()));
        for left in left.iter().take(LISTED) {
            let subject = match left.subject.as_str() {
                "" => String::new(),
                subject => format!(" '{}'", cut(subject, VALUE)),
            };
            terminal.result(
                Line::new()
                    .ink(Ink::Faint, format!("    {}  {}{subject}", left.source, left.kind.singular())),
            );
        }
        let more = left.len().saturating_sub(LISTED);
        if more > 0 {
            terminal.result(Line::new().ink(Ink::Faint, format!("    and {more} more")));
        }
    }
    if undo.count() > 0 {
        let file = typed.out.display().to_string();
        terminal.result(Line::plain("wrote ").ink(Ink::Strong, file).text("; nothing was sent"));
        let command = context.commands().with_file("plan", &typed.out);
        terminal.hint(crate::advice::Advice::from("to see what it would do: ").command(command));
    }
}

/// How many rows these are of: several fields of one row may be left.
fn rows_of<'a>(left: impl IntoIterator<Item = &'a NotUndone>) -> usize {
    left.into_iter().map(|left| left.job).collect::<BTreeSet<JobId>>().len()
}

/// Refuses a name that is not that of a new workbook, before anything is read.
fn refuse_others(out: &Path) -> Result<()> {
    refuse_other_names(out)?;
    if out.exists() { Err(taken(out)) } else { Ok(()) }
}

fn taken(out: &Path) -> Error {
    Error::usage(format!("{} already exists", out.display()))
        .hint("name another file with --out; a sheet is never overwritten")
}

/// Writes a file that does not exist yet, for its owner alone.
fn write(out: &Path, bytes: &[u8]) -> Result<()> {
    private_file::create(out, bytes).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            return taken(out);
        }
        unwritable(format_args!("the workbook {}", out.display()), error)
    })
}

/// A row of the workbook that restores something.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RestoresObject<'a> {
    /// The sheet that it is in.
    sheet: Kind,
    /// `file!sheet!row` of the row that changed it.
    source: &'a str,
    job: JobId,
    /// Its cells, by the names of the columns.
    cells: &'a BTreeMap<&'static str, String>,
}

/// Something that the workbook does not restore.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct NotRestoredObject<'a> {
    /// `file!sheet!row` of the row that changed it, or may have.
    source: &'a str,
    job: JobId,
    kind: Kind,
    /// What of its record: the text of a label, the key of an entry, the column of a field, an id; empty where there is nothing to name.
    subject: &'a str,
    /// Why, in a word.
    reason: &'static str,
    /// Why.
    words: String,
}

/// What can be restored of an import.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct UndoSummary<'a> {
    import: ImportId,
    /// Rows that restore something.
    restores: usize,
    /// Rows of which something is not restored.
    not_restored: usize,
    /// The workbook; `null` where there is nothing to restore.
    workbook: Option<&'a PathBuf>,
}

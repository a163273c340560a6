//! `fleetload backup`: a copy of the journal in one file, or a look at such a copy.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::advice::quoted;
use crate::cli::args::housekeeping::Backup as Typed;
use crate::cli::context::Context;
use crate::cli::status::counts;
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::Result;
use crate::journal::Backup;
use crate::model::state::JobState;
use crate::model::tally::Tally;
use crate::model::time::Rfc3339;
use crate::term::{Ink, Line, counted, size};

/// Writes a backup, or checks one.
pub(in crate::cli) fn backup(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    if typed.check {
        return check(context, &typed.file);
    }
    let journal = context.journal()?;
    let backup = journal.back_up(&typed.file, typed.force, context.now())?;
    let words = format!(", {}, every page checked", size(backup.bytes));
    context.terminal.result(
        Line::plain("backup of the journal: ").ink(Ink::Strong, typed.file.display().to_string()).text(words),
    );
    let command = format!("backup --check {}", quoted(&typed.file.to_string_lossy()));
    context.terminal.hint(context.advice("to check it later, where it is kept: ", &command));
    summary(&typed.file, &backup)
}

/// Opens a backup, looks at every page and tells what it holds. The journal is not needed for it.
fn check(context: &Context<'_>, file: &Path) -> Result<Summary> {
    let backup = Backup::open(file)?;
    backup.check_pages()?;
    let terminal = context.terminal;
    let whose = backup.whose()?;
    context.tell_whose(&whose);
    terminal.result(
        Line::plain("backup ")
            .ink(Ink::Strong, file.display().to_string())
            .text(format!(", {}: ", size(backup.bytes)))
            .ink(Ink::Good, "every page is in order"),
    );
    terminal.result(match backup.taken_at()? {
        Some(at) => format!("taken {}", context.moment(at)),
        None => "it is a journal that `fleetload backup` did not write, or one that was run since".to_owned(),
    });
    let imports = backup.imports()?;
    let tally = backup.tally(None)?;
    let last =
        imports.last().map_or_else(String::new, |last| format!(", the last of {}", context.moment(last.at)));
    terminal.result(format!(
        "{}{last}; {}{}",
        counted(imports.len() as u64, "import", "imports"),
        counted(tally.total(), "row", "rows"),
        match counts::states(&tally, &Tally::default()) {
            states if states.is_empty() => states,
            states => format!(": {states}"),
        }
    ));
    summary(file, &backup)
}

fn summary(file: &Path, backup: &Backup) -> Result<Summary> {
    let tally = backup.tally(None)?;
    Ok(Summary::new(End::Done).with(&BackupSummary {
        file,
        bytes: backup.bytes,
        taken_at: backup.taken_at()?.map(Rfc3339),
        imports: backup.imports()?.len(),
        rows: tally.total(),
        counts: tally.by_state(),
    }))
}

/// A backup that was written or checked.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct BackupSummary<'a> {
    /// The file.
    file: &'a Path,
    /// Its size in bytes.
    bytes: u64,
    /// When it was taken, where the file says so.
    taken_at: Option<Rfc3339>,
    /// Imports in it.
    imports: usize,
    /// Rows in it.
    rows: u64,
    /// These rows in each state.
    counts: BTreeMap<JobState, u64>,
}

//! `fleetload report`, and the reports at the end of a run: written from the journal, and said where.

use serde_json::json;

use super::commands::OfImport;
use super::context::Context;
use super::{counts, status};
use crate::error::{Error, Exit, Result};
use crate::journal::Journal;
use crate::model::id::ImportId;
use crate::report::{self, RunState, Standing, Written};
use crate::term::{Ink, Line, counted};

/// Writes the reports of an import again.
pub(super) fn report(context: &Context<'_>, typed: &OfImport) -> Result<Exit> {
    let journal = context.journal()?;
    let imports = journal.imports()?;
    let import = match (typed.import, imports.last()) {
        (Some(wanted), _) => status::require(&imports, wanted)?.import,
        (None, Some(last)) => last.import,
        (None, None) => {
            return Err(Error::usage("the journal has no imports yet")
                .hint(format!("import a sheet first: {}", context.again("import SHEET.xlsx"))));
        }
    };
    let tally = journal.tally(Some(import))?;
    let exit = counts::exit(&tally);
    let resumes_at = match exit {
        Exit::Parked => journal.last_run()?.and_then(|run| run.resumes_at),
        _ => None,
    };
    let state = match exit {
        Exit::Parked => RunState::Parked,
        Exit::Held => RunState::Held,
        _ => RunState::Finished,
    };
    let standing = Standing { state, exit_code: exit.code(), resumes_at };
    let written = write(context, &journal, import, &standing)?;
    context.terminal.object(&json!({
        "object": "summary", "import": import, "state": state.as_str(), "folder": written.folder,
        "files": written.files, "to_fix": written.to_fix,
    }));
    status::next(context, &tally, Some(import));
    Ok(Exit::Done)
}

/// Writes the reports of an import and says where they are.
pub(super) fn write(
    context: &Context<'_>,
    journal: &Journal,
    import: ImportId,
    standing: &Standing,
) -> Result<Written> {
    let folder = context.common.reports.join(import.to_string());
    let written = report::write(journal, import, &folder, standing)?;
    let first = written.files.first().unwrap_or(&written.folder);
    context.terminal.result(
        Line::plain(format!("report of import {import}: ")).ink(Ink::Strong, first.display().to_string()),
    );
    if let Some(fix) = &written.fix {
        context.terminal.result(format!(
            "{} to correct: {}",
            counted(written.to_fix, "row", "rows"),
            fix.display()
        ));
    }
    Ok(written)
}

//! `check --out`: where the workbooks with the findings go, and what is told of them. What is in them is the report's
//! business.

use std::path::{Path, PathBuf};

use crate::advice::quoted;
use crate::cli::args::commands::Check as Typed;
use crate::cli::context::Context;
use crate::cli::settings::reading::Manner;
use crate::error::Result;
use crate::import::Examined;
use crate::report::Checked;
use crate::term::{Ink, Line};

/// Sees that the workbooks can go where they shall, before anything is read.
pub(in crate::cli) fn prepare(typed: &Typed) -> Result<Option<Checked>> {
    typed.out.as_ref().map(|folder| Checked::prepare(&typed.files, folder)).transpose()
}

/// Writes the workbooks and says where they are.
pub(in crate::cli) fn write(
    context: &Context<'_>,
    typed: &Typed,
    (workbooks, manner): (Option<&Checked>, &Manner),
    examined: &Examined,
) -> Result<Vec<PathBuf>> {
    let Some(workbooks) = workbooks else { return Ok(Vec::new()) };
    let checked = examined.checked();
    let again = |file: &Path| {
        context.again(&format!("check {}{}", quoted(&file.to_string_lossy()), manner.command_line()))
    };
    let usable = |row| checked.is_usable(row);
    let written = workbooks.write(examined.books(), &examined.findings, &usable, &again)?;
    for file in &written {
        context
            .terminal
            .result(Line::plain("every problem in its cell: ").ink(Ink::Strong, file.display().to_string()));
    }
    for file in typed.files.iter().filter(|file| !examined.files().any(|known| known.path == **file)) {
        context.terminal.result(format!(
            "{}: none of its sheets can be shown, because no table was found",
            file.display()
        ));
    }
    Ok(written)
}

//! Where the reports of an import go, and how the rows of it that were corrected are run: read as its files were,
//! whatever was typed for the command at hand.

use std::path::{Path, PathBuf};

use crate::cli::context::Context;
use crate::cli::status;
use crate::error::Result;
use crate::journal::{ImportInfo, Journal};
use crate::model::id::ImportId;
use crate::report;
use crate::status::next_command::Again;

/// The folder of the reports of an import.
pub(in crate::cli) fn folder(context: &Context<'_>, info: &ImportInfo) -> PathBuf {
    report::folder(&context.common.reports, &info.import.to_string(), info)
}

/// The workbook of the rows of an import to correct.
pub(in crate::cli) fn fix(context: &Context<'_>, info: &ImportInfo) -> PathBuf {
    folder(context, info).join(report::FIX)
}

/// The commands that are told of an import: what is corrected is read as its files were.
pub(in crate::cli) fn commands(context: &Context<'_>, info: &ImportInfo) -> Again {
    let again = context.commands();
    match &info.reading {
        Some(reading) => again.reading(reading.clone()),
        None => again,
    }
}

/// The command that takes a file of rows of an import that were corrected.
pub(in crate::cli) fn run(context: &Context<'_>, info: &ImportInfo, file: &Path) -> String {
    commands(context, info).with_file("run", file)
}

/// An import by its number.
pub(in crate::cli) fn import(journal: &Journal, import: ImportId) -> Result<ImportInfo> {
    status::require(&journal.imports()?, import).cloned()
}

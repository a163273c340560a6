//! What programs read of sheets that were read, checked and imported.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::findings::mapping::{ColumnDefault, ReadColumn, SheetNotRead};
use crate::cli::findings::{FindingCounts, FindingGroup};
use crate::model::id::ImportId;
use crate::model::kind::Plural;

/// What an import has brought into the journal.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ImportedObject {
    pub(super) import: ImportId,
    /// What it is called: its label, else its files.
    pub(super) label: String,
    /// Which round of its rows it is, counted from 1.
    pub(super) round: u32,
    /// The import of the first round, where it is a later one.
    pub(super) round_of: Option<ImportId>,
    /// Its rows.
    pub(super) rows: u64,
    /// Rows that are new.
    pub(super) added: u64,
    /// Rows that correct earlier ones.
    pub(super) revised: u64,
    /// Rows that are known and unchanged.
    pub(super) recognised: u64,
    /// Rows that differ from what was imported earlier; nothing is sent for them.
    pub(super) changed_since: u64,
}

/// What was imported.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ImportSummary {
    pub(super) import: ImportId,
    /// Its rows.
    pub(super) rows: u64,
}

/// Sheets that have problems, so that nothing was imported or planned.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct RefusedSheetsSummary {
    /// The findings, in numbers.
    pub(in crate::cli) found: FindingCounts,
}

/// What a check came to.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct CheckSummary {
    #[serde(flatten)]
    pub(super) read: ReadSheets,
    /// Rows of all sheets.
    pub(super) rows: u64,
    /// The findings, in numbers.
    pub(super) found: FindingCounts,
    /// Equal findings of one column, counted.
    pub(super) groups: Vec<FindingGroup>,
    /// Workbooks with every problem in its cell.
    pub(super) written: Vec<PathBuf>,
    /// Lines for the settings file that keep how the sheets were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to_keep: Option<String>,
}

/// The files and sheets of a command.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReadSheets {
    /// The files.
    pub(super) files: Vec<ReadFile>,
    /// Their sheets.
    pub(super) sheets: Vec<ReadSheet>,
    /// Worksheets that were not read.
    pub(super) not_read: Vec<SheetNotRead>,
}

/// A file that was read.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReadFile {
    /// Its name as it was given.
    pub(super) name: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub(super) sha256: String,
    /// Its size in bytes.
    pub(super) bytes: u64,
    pub(super) format: FileFormat,
    /// Of text: its encoding.
    pub(super) encoding: Option<&'static str>,
    /// Of text: what separates the cells.
    pub(super) delimiter: Option<String>,
}

/// What the bytes of a file are.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(in crate::cli) enum FileFormat {
    /// A workbook.
    Workbook,
    /// A table of text, such as CSV.
    Text,
}

/// A sheet that was read.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReadSheet {
    /// The name of the worksheet; of CSV that of the file.
    pub(super) name: String,
    /// Its file.
    pub(super) file: String,
    pub(super) kind: Plural,
    /// Its rows.
    pub(super) rows: u64,
    /// Rows that can be imported.
    pub(super) usable: u64,
    /// The row of its header, as a spreadsheet counts.
    pub(super) header_row: u32,
    /// Its columns.
    pub(super) columns: Vec<ReadColumn>,
    /// Values for blank cells.
    pub(super) defaults: Vec<ColumnDefault>,
}

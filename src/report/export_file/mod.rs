//! Files of an export of the service: CSV, JSON lines, or a workbook; a row as it is read, written beside the target first.
//!
//! ```text
//! spool    what has been read so far, beside the target, so that an interrupted export can go on
//! ```

mod spool;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::atomic_write::{Beside, FileChange, Folder};
use super::csv_file::CsvFile;
use super::workbook::export_book::{ExportBook, is_export_workbook};
use crate::error::{Error, Result};
use crate::export::{NOTE, OTHER, Row, Standing, Subject};
use crate::journal::Whose;
use crate::model::time::Moment;
use crate::private_file;

pub use self::spool::{Owners, Resumed, Spool, SpoolHead};
pub use super::csv_file::csv_line;

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// A text table.
    Csv,
    /// One JSON object a line.
    JsonLines,
    /// A workbook.
    Workbook,
}

impl ExportFormat {
    /// The form that the ending of a file's name asks for.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_lowercase().as_str() {
            "csv" => Some(Self::Csv),
            "jsonl" => Some(Self::JsonLines),
            "xlsx" => Some(Self::Workbook),
            _ => None,
        }
    }
}

/// What an export says of itself.
#[derive(Debug, Clone)]
pub struct ExportFacts<'a> {
    /// What it has.
    pub subject: Subject,
    /// Whose records they are.
    pub whose: &'a Whose,
    /// Which records, in words.
    pub scope: &'a str,
    /// When it was begun.
    pub at: Moment,
    /// How the records were found, and what the export cannot know, a sentence each.
    pub said: &'a [String],
}

/// A writer of one form.
pub(super) trait ExportWriter {
    /// Writes the next row.
    fn row(&mut self, row: &Row) -> Result<()>;

    /// The file, all of it written.
    fn finish(self: Box<Self>) -> Result<Beside>;
}

/// Writes a file of an export; `rows` gives one after the other.
///
/// # Errors
///
/// Usage when the file cannot be written, and whatever `rows` fails with.
pub fn write_export(
    (file, format): (&Path, ExportFormat),
    facts: &ExportFacts<'_>,
    rows: &mut dyn FnMut() -> Result<Option<Row>>,
) -> Result<()> {
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        Error::usage(format!("{} does not name a file", file.display())).hint("name a file with --out")
    })?;
    let folder = Folder::of_export(private_file::folder_of(file))?;
    let mut writer: Box<dyn ExportWriter + '_> = match format {
        ExportFormat::Csv => Box::new(CsvFile::begin(&folder, name.to_owned(), headers(facts.subject))?),
        ExportFormat::JsonLines => Box::new(JsonExport { file: folder.begin(name)?, folder: &folder, facts }),
        ExportFormat::Workbook => Box::new(ExportBook::begin(&folder, name, facts)?),
    };
    while let Some(row) = rows()? {
        writer.row(&row)?;
    }
    let beside = writer.finish()?;
    folder.commit(vec![FileChange::Put(beside)]).map(drop)
}

/// Most bytes of the first line of a text file that are looked at.
const FIRST_LINE: u64 = 1 << 16;

/// Whether a file is an export that was written earlier, by what it has and by the ending of its name.
pub fn is_export(file: &Path) -> bool {
    let first_line = || {
        let mut line = Vec::new();
        let read = File::open(file).and_then(|file| {
            BufReader::new(file.take(FIRST_LINE)).read_until(b'\n', &mut line).map(|_count| ())
        });
        read.map_or_else(|_error| String::new(), |()| String::from_utf8_lossy(&line).into_owned())
    };
    match ExportFormat::of(file) {
        None => false,
        Some(ExportFormat::Workbook) => is_export_workbook(file),
        Some(ExportFormat::Csv) => first_line().contains(NOTE),
        Some(ExportFormat::JsonLines) => serde_json::from_str::<Value>(&first_line()).is_ok_and(|line| {
            line["export"].is_string() && (line["object"] == "row" || line["object"] == "export")
        }),
    }
}

/// The headers of an export.
pub fn headers(subject: Subject) -> Vec<&'static str> {
    let columns = subject.columns().iter().map(|column| column.name.as_str());
    columns.chain([OTHER, NOTE]).collect()
}

/// The texts of a row, in the order of the headers.
pub fn texts(row: &Row) -> Vec<String> {
    let other = if row.other.is_empty() { String::new() } else { json!(row.other).to_string() };
    let values = row.values.iter().map(Row::text);
    values.chain([other, row.note.clone().unwrap_or_default()]).collect()
}

/// A row for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExportRow {
    /// What is exported.
    export: &'static str,
    standing: Standing,
    /// The values as they came, under the names of the columns; what has no value is not in it.
    #[serde(flatten)]
    values: Map<String, Value>,
}

impl ExportRow {
    /// A row of an export.
    pub fn of(subject: Subject, row: &Row) -> Self {
        let columns = subject.columns().iter().zip(&row.values).filter(|(_, value)| !value.is_null());
        let mut values: Map<String, Value> =
            columns.map(|(column, value)| (column.name.clone(), value.clone())).collect();
        if !row.other.is_empty() {
            values.insert(OTHER.to_owned(), json!(row.other));
        }
        if let Some(note) = &row.note {
            values.insert(NOTE.to_owned(), json!(note));
        }
        Self { export: subject.word(), standing: row.standing, values }
    }
}

/// A row in a file of JSON lines.
#[derive(Serialize)]
struct ExportLine {
    object: &'static str,
    #[serde(flatten)]
    row: ExportRow,
}

impl ExportWriter for CsvFile<'_> {
    fn row(&mut self, row: &Row) -> Result<()> {
        self.record(texts(row))
    }

    fn finish(self: Box<Self>) -> Result<Beside> {
        (*self).finish()
    }
}

/// One JSON object a line; the last says what the export is.
struct JsonExport<'a> {
    folder: &'a Folder,
    file: Beside,
    facts: &'a ExportFacts<'a>,
}

impl ExportWriter for JsonExport<'_> {
    fn row(&mut self, row: &Row) -> Result<()> {
        let line = ExportLine { object: "row", row: ExportRow::of(self.facts.subject, row) };
        writeln!(self.file, "{}", json!(line))
            .map_err(|error| self.folder.failed_file(self.file.name(), error))
    }

    fn finish(self: Box<Self>) -> Result<Beside> {
        let Self { folder, mut file, facts } = *self;
        let mut last = facts.whose.fields();
        last.insert("object".to_owned(), json!("export"));
        last.insert("export".to_owned(), json!(facts.subject.word()));
        last.insert("scope".to_owned(), json!(facts.scope));
        last.insert("at".to_owned(), json!(facts.at.to_string()));
        last.insert("said".to_owned(), json!(facts.said));
        let written = writeln!(file, "{}", Value::Object(last));
        written.map_err(|error| folder.failed_file(file.name(), error))?;
        Ok(file)
    }
}

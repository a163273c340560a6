//! How columns were matched, and how a file was read: told where it was not plain from the sheet itself, and always in
//! JSON. And the headers that were typed and that no sheet has.

use serde::Serialize;

use super::cut;
use super::redact;
use crate::cli::context::Context;
use crate::cli::settings::reading::ReadingSettings;
use crate::cli::settings::reading_options::ReadingOptions;
use crate::import::Examined;
use crate::model::kind::Kind;
use crate::sheet::finding::{Severity, shown};
use crate::sheet::formula_guard;
use crate::sheet::rename::{concerns, is_name_of, renamed, scope};
use crate::sheet::text::{did_you_mean, nearest};
use crate::sheet::{Book, Format, Mapped, Options, Table, fold};

/// Characters of a line that tells columns.
const WIDTH: usize = 96;
/// Characters of a header on the screen.
const HEADER: usize = 40;
/// What our own reports call their columns, in front.
const OF_REPORTS: &str = "result";

/// How a column came to its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum How {
    /// Its header is the name of the column.
    Exact,
    /// Its header is another known name for it.
    Alias,
    /// A person said so.
    Map,
    /// It is not read, because a person said so.
    Ignored,
    /// It is not read, because its header says so: `x-`, `_`, and the columns of our reports.
    Own,
    /// It has no header.
    Blank,
    /// It is not understood; a finding says so.
    Unknown,
}

fn how(kind: Kind, header: &str, headers: &[String], mapped: &Mapped, options: &Options) -> How {
    let folded = fold(header);
    let is_named = |name: &String| is_name_of(name, header, headers);
    match mapped {
        Mapped::Column { .. } if renamed(kind, header, headers, &options.rename).is_some() => How::Map,
        Mapped::Column { entry: Some(_), .. } => How::Exact,
        Mapped::Column { column, entry: None } if fold(column.name) == folded => How::Exact,
        Mapped::Column { entry: None, .. } => How::Alias,
        Mapped::Ignored if options.ignore_columns.iter().any(is_named) => How::Ignored,
        Mapped::Ignored => How::Own,
        Mapped::Blank => How::Blank,
        Mapped::Unknown => How::Unknown,
    }
}

/// The column as the tables of the documentation name it.
fn name(mapped: &Mapped) -> Option<String> {
    match mapped {
        Mapped::Column { column, entry: None } => Some(column.name.to_owned()),
        Mapped::Column { column, entry: Some(entry) } => Some(format!("{}{entry}", column.name)),
        Mapped::Ignored | Mapped::Blank | Mapped::Unknown => None,
    }
}

/// Values for blank cells of the table, by the names of their columns.
fn defaults(table: &Table, manner: &ReadingSettings) -> Vec<(&'static str, String)> {
    let columns = crate::sheet::column::columns(table.kind).iter();
    columns
        .filter_map(|column| {
            let value = manner.options.default_for(table.kind, column.name)?;
            let told = if manner.redact { redact::length("text", value) } else { value.to_owned() };
            Some((column.name, told))
        })
        .collect()
}

/// A column of a sheet for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ReadColumn {
    /// Its header in the sheet.
    header: String,
    /// The column that it is read as, by its name in docs/sheets.md; `null` where it is not read.
    column: Option<String>,
    how: How,
}

/// The columns of a sheet for programs.
pub(in crate::cli) fn read_columns(table: &Table, options: &Options) -> Vec<ReadColumn> {
    let columns = table.headers.iter().zip(&table.mapping).map(|(header, mapped)| {
        let how = how(table.kind, header, &table.headers, mapped, options);
        ReadColumn { header: header.clone(), column: name(mapped), how }
    });
    columns.collect()
}

/// A value for the blank cells of a column, for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct ColumnDefault {
    /// The column, by its name in docs/sheets.md.
    column: &'static str,
    /// The value.
    value: String,
}

/// The values for blank cells for programs.
pub(in crate::cli) fn column_defaults(table: &Table, manner: &ReadingSettings) -> Vec<ColumnDefault> {
    defaults(table, manner).into_iter().map(|(column, value)| ColumnDefault { column, value }).collect()
}

/// What a person should know of how a sheet was read; nothing where it is as anybody would expect.
pub(in crate::cli) fn told(table: &Table, manner: &ReadingSettings) -> Vec<String> {
    let mut parts = Vec::new();
    for (header, mapped) in table.headers.iter().zip(&table.mapping) {
        let shown = cut(header.trim(), HEADER);
        let meant = name(mapped).unwrap_or_default();
        match how(table.kind, header, &table.headers, mapped, &manner.options) {
            How::Map => parts.push(format!("\"{shown}\" -> {meant} (as given)")),
            How::Alias => parts.push(format!("\"{shown}\" -> {meant}")),
            How::Ignored => parts.push(format!("\"{shown}\" not read (as given)")),
            How::Own if !fold(header).starts_with(OF_REPORTS) => parts.push(format!("\"{shown}\" not read")),
            How::Own | How::Exact | How::Blank | How::Unknown => {}
        }
    }
    for (column, value) in defaults(table, manner) {
        parts.push(format!("blank {column} = {}", cut(&value, HEADER)));
    }
    lines(&parts)
}

/// The parts in lines that fit a terminal.
fn lines(parts: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() < WIDTH => {
                line.push_str(", ");
                line.push_str(part);
            }
            Some(line) => {
                line.push(',');
                lines.push(part.clone());
            }
            None => lines.push(part.clone()),
        }
    }
    lines
}

/// How a file was read, where it was not in the usual way.
pub(in crate::cli) fn reading_of(examined: &Examined, table: &Table) -> Option<String> {
    let file = examined.files().find(|file| file.name == table.file)?;
    let mut parts = Vec::new();
    if let Format::Text { encoding, delimiter } = &file.format {
        if encoding.name() != "UTF-8" {
            let guessed = if encoding.guessed { " (guessed)" } else { "" };
            parts.push(format!("encoding {}{guessed}", encoding.name()));
        }
        match delimiter {
            ',' => {}
            '\t' => parts.push("cells separated by tabs".to_owned()),
            other => parts.push(format!("cells separated by {other}")),
        }
    }
    if table.header_row != 1 {
        parts.push(format!("header in row {}", table.header_row));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The worksheets of a workbook that are not read, each with the reason.
pub(in crate::cli) fn not_read(book: &Book) -> Vec<String> {
    let sheets = book.ignored.iter().map(|(name, why)| format!("\"{}\" ({why})", cut(name, HEADER)));
    lines(&sheets.collect::<Vec<_>>())
}

/// A worksheet that is not read, for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct SheetNotRead {
    /// Its workbook.
    file: String,
    /// Its name.
    name: String,
    /// Why it is not read.
    why: &'static str,
}

/// The same of all files for programs.
pub(in crate::cli) fn sheets_not_read(examined: &Examined) -> Vec<SheetNotRead> {
    let of = |book: &Book| {
        let file = &book.file.name;
        let sheet = |(name, why): &(String, &'static str)| SheetNotRead {
            file: file.clone(),
            name: name.clone(),
            why,
        };
        book.ignored.iter().map(sheet).collect::<Vec<_>>()
    };
    examined.books().iter().flat_map(of).collect()
}

/// Warns of each header that was typed and that no sheet has: a mistyped one would otherwise have no effect and nobody would
/// know. Only what was typed is looked at: what a profile keeps serves many sheets. So does what we advise for a fix sheet, which
/// has only some of the sheets that it was typed for.
pub(in crate::cli) fn tell_unmatched(context: &Context<'_>, examined: &Examined, typed: &ReadingOptions) {
    if examined.findings.count(Severity::Fatal) > 0 {
        // Headers of sheets that cannot be used are not known.
        return;
    }
    let tables = || examined.books().iter().flat_map(|book| &book.tables);
    if tables().all(|table| formula_guard::is_ours(&table.headers)) {
        return;
    }
    let headers: Vec<(Kind, &str)> = tables()
        .flat_map(|table| table.headers.iter().map(|header| (table.kind, header.trim())))
        .filter(|(_, header)| !header.is_empty())
        .collect();
    let maps = typed.map.iter().map(|(from, to)| (from, format!("--map {from}={to}")));
    let ignored = typed.ignore_columns.iter().map(|from| (from, format!("--ignore-column {from}")));
    for (from, option) in maps.filter(|(from, _)| !is_there(from, &headers)) {
        context.terminal.warn(warning(&option, from, &headers));
    }
    // Columns without a name have none to compare.
    for (from, option) in ignored.filter(|(from, _)| !from.trim().is_empty()) {
        if !headers.iter().any(|(_, header)| fold(header) == fold(from)) {
            context.terminal.warn(warning(&option, from, &headers));
        }
    }
}

fn is_there(from: &str, headers: &[(Kind, &str)]) -> bool {
    headers.iter().any(|(kind, header)| concerns(from, *kind, header, &[]))
}

fn warning(option: &str, from: &str, headers: &[(Kind, &str)]) -> String {
    let (kind, wanted) = scope(from);
    let candidates = headers.iter().filter(|(of, _)| kind.is_none_or(|kind| kind == *of));
    let mut names: Vec<&str> = candidates.map(|(_, header)| *header).collect();
    names.sort_unstable();
    names.dedup();
    let sheets = kind.map_or_else(|| "no sheet has".to_owned(), |kind| format!("no sheet of {kind} has"));
    let hint = did_you_mean(&nearest(wanted, names));
    format!("{}: {sheets} the header '{}', so it changes nothing.{hint}", shown(option), shown(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::meaning;

    #[test]
    fn a_column_is_exact_another_name_or_as_a_person_said() {
        let mut options = Options { ignore_columns: vec!["notes".into()], ..Options::default() };
        options.rename.push(("Ort".into(), "city".into()));
        let headers =
            ["Name *", "Store Number", "ORT", "Notes", "x-colour", "result_id", "", "meta:a", "Colour"];
        let mut as_meant: Vec<String> = headers.iter().map(|header| (*header).to_owned()).collect();
        as_meant[2] = "city".to_owned();
        as_meant[3] = "x-notes".to_owned();
        let found: Vec<_> = headers
            .iter()
            .zip(meaning(Kind::Site, &as_meant))
            .map(|(header, mapped)| how(Kind::Site, header, &[], &mapped, &options))
            .collect();
        let expected = [
            How::Exact,
            How::Alias,
            How::Map,
            How::Ignored,
            How::Own,
            How::Own,
            How::Blank,
            How::Exact,
            How::Unknown,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_header_that_no_sheet_has_is_told_with_the_nearest() {
        let headers = [(Kind::Site, "Ort"), (Kind::Company, "Firma")];
        assert!(is_there("ort", &headers) && is_there("companies.Firma", &headers));
        assert!(!is_there("sites.Firma", &headers) && !is_there("Orrt", &headers));
        assert_eq!(
            warning("--map Firmma=name", "Firmma", &headers),
            "--map Firmma=name: no sheet has the header 'Firmma', so it changes nothing. Did you mean 'Firma'?"
        );
        assert_eq!(
            warning("--map sites.Firma=name", "sites.Firma", &headers),
            "--map sites.Firma=name: no sheet of sites has the header 'Firma', so it changes nothing."
        );
    }
}

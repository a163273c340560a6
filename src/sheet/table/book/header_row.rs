//! The header of a table: which rows may be it, what is reported of those above it, and what is said where none is.
//!
//! Which worksheet or separator is taken is decided in `worksheet_search` and `separators`, which row is likeliest in
//! [`crate::sheet::table`].

use std::collections::BTreeSet;

use super::Book;
use crate::model::kind::Kind;
use crate::sheet::file::source::Format;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Severity, shown};
use crate::sheet::formula_guard;
use crate::sheet::options::Options;
use crate::sheet::table::column::{Need, columns};
use crate::sheet::table::header::{self, Mapped};
use crate::sheet::table::{HEADER_ROWS, HeaderCandidate, HeaderGuess, Table, guess, is_transposed};
use crate::sheet::table::{header_name, layout};
use crate::sheet::text;

/// Headers, as headers are compared, of a column that says what each row is.
const OF_KINDS: [&str; 5] = ["kind", "type", "recordtype", "recordkind", "rowtype"];
/// Rows that are looked at in search of a header whose row a person has named.
const FURTHEST_HEADER: usize = 10_000;

impl Book {
    /// Whether the header may stand below the rows looked at so far, the last of which has the number `last`.
    pub(super) fn wants_more(&self, rows: usize, last: Option<u32>) -> bool {
        match self.options.header_row {
            Some(row) => last.is_none_or(|last| last < row) && rows < FURTHEST_HEADER,
            None => rows < HEADER_ROWS,
        }
    }

    /// Takes a candidate for the header; where a person has named the row, those above it are not kept.
    pub(super) fn consider(&self, candidate: HeaderCandidate, candidates: &mut Vec<HeaderCandidate>) {
        if self.options.header_row.is_some() {
            if candidates.first().is_some_and(is_report) {
                return;
            }
            candidates.clear();
        }
        candidates.push(candidate);
    }

    /// The candidates for the header: all, or the one a person named.
    pub(super) fn chosen(&self, candidates: Vec<HeaderCandidate>) -> Vec<HeaderCandidate> {
        match self.options.header_row {
            Some(row) => candidates
                .into_iter()
                .filter(|candidate| candidate.row == row || is_report(candidate))
                .collect(),
            None => candidates,
        }
    }

    /// The best header among the candidates that were chosen, for one kind or for any.
    pub(super) fn guess(&self, candidates: &[HeaderCandidate], kind: Option<Kind>) -> Option<HeaderGuess> {
        guess(candidates, kind, &self.options.rename, self.options.header_row.is_some())
    }

    /// Takes a table with its header, the candidate of this number; the rows above it are reported as not read.
    pub(super) fn add_table(
        &mut self,
        name: String,
        worksheet: Option<String>,
        kind: Kind,
        candidates: &[HeaderCandidate],
        header: usize,
    ) {
        if let Some(other) = layout::other_header_row(candidates, header, kind) {
            let (first, second) =
                (candidates[header].row.min(other.row), candidates[header].row.max(other.row));
            let names = header_names(other);
            // Without its other half the header says of some columns nothing, or something else than they hold.
            self.findings.push(
                Finding::of_file(
                    Code::HeaderMultiRow,
                    &self.file.name,
                    format!(
                        "the column names are in two rows, {first} and {second} (row {} has {names}): use one header \
                         row, with a name above every column",
                        other.row
                    ),
                )
                .as_severity(Severity::Fatal)
                .about(Some(kind))
                .in_sheet(worksheet.as_deref())
                .in_row(other.row, other.line),
            );
            return;
        }
        let (above, below) = (&candidates[..header], &candidates[header + 1..]);
        let header = &candidates[header];
        if let Some(finding) = self.mixed_kinds(kind, header, below) {
            self.findings.push(finding.in_sheet(worksheet.as_deref()));
            return;
        }
        let of_all = if worksheet.is_some() { ", which counts for every sheet that is read" } else { "" };
        if let Some(other) = layout::header_above(above) {
            self.findings.push(
                Finding::of_file(
                    Code::SheetExtraTable,
                    &self.file.name,
                    format!(
                        "a table begins here that is not read, as row {row} is read as the header: move the rows from {row} \
                         on into a sheet of their own or, if those above are no records, name the header with \
                         --header-row {row}{of_all}",
                        row = header.row
                    ),
                )
                .about(Some(kind))
                .in_sheet(worksheet.as_deref())
                .in_row(other.row, other.line),
            );
        } else if !above.is_empty() {
            self.findings.push(
                Finding::of_file(
                    Code::SheetPreamble,
                    &self.file.name,
                    format!(
                        "row {} is read as the header; the rows above it are not read: if it is not the header, name \
                         the right row with --header-row{of_all}",
                        header.row
                    ),
                )
                .in_sheet(worksheet.as_deref())
                .in_row(header.row, header.line),
            );
        }
        let table =
            Table::new(name, &self.file.name, worksheet, kind, header, &self.options, &mut self.findings);
        self.tables.extend(table);
    }

    /// The finding for a table of which a column says of every row what it is, where that is not the same for all of them: a
    /// table without that column would have all rows as records of one kind.
    fn mixed_kinds(
        &self,
        kind: Kind,
        header: &HeaderCandidate,
        below: &[HeaderCandidate],
    ) -> Option<Finding> {
        let Options { rename, ignore_columns, .. } = &self.options;
        let (mapping, _) = header::map(kind, &header.cells, rename, ignore_columns, &|_| true);
        let (column, name) = header.cells.iter().enumerate().find(|(column, name)| {
            mapping[*column] == Mapped::Unknown && OF_KINDS.contains(&&*header_name::fold(name))
        })?;
        let values =
            below.iter().filter_map(|row| row.cells.get(column)).filter(|cell| !text::is_blank(cell));
        let kinds: Option<BTreeSet<Kind>> = values.map(|value| header::kind_of_name(value)).collect();
        let names: Vec<String> = kinds?.iter().map(ToString::to_string).collect();
        if names.len() < 2 {
            return None;
        }
        let message = format!(
            "this table mixes kinds of rows, as '{}' says: {}. Put the rows of each kind into a {} of their own, without \
             this column",
            shown(name),
            names.join(", "),
            if self.file.format == Format::Workbook { "sheet" } else { "file" }
        );
        let finding = Finding::of_file(Code::SheetExtraTable, &self.file.name, message)
            .as_severity(Severity::Fatal)
            .in_row(header.row, header.line)
            .in_column(column);
        Some(Finding { header: Some(header_name::cut(name)), ..finding })
    }

    /// The finding for a table without a header.
    pub(super) fn no_header(
        &self,
        sheet: Option<&str>,
        candidates: &[HeaderCandidate],
        kind: Option<Kind>,
    ) -> Finding {
        let file = &self.file.name;
        let Some(first) = candidates.first() else {
            return match self.options.header_row {
                Some(row) => Finding::of_file(
                    Code::HeaderMissing,
                    file,
                    format!(
                        "row {row}, which was named as the header, is blank or missing: name the row of the \
                        column names"
                    ),
                )
                .in_row(row, None),
                None => Finding::of_file(Code::FileEmpty, file, "every row is blank: export the sheet again"),
            }
            .in_sheet(sheet);
        };
        if is_transposed(candidates, kind) {
            return Finding::of_file(
                Code::HeaderTransposed,
                file,
                "the column names run down the first column: turn the sheet so that each record has a row",
            )
            .as_severity(Severity::Fatal)
            .in_sheet(sheet)
            .in_row(first.row, first.line);
        }
        let expected: Vec<&str> = kind.map_or_else(
            || vec!["key", "company", "name", "phone", "address1"],
            |kind| {
                columns(kind)
                    .iter()
                    .filter(|column| column.need == Need::Required)
                    .map(|column| column.name)
                    .collect()
            },
        );
        let first = likeliest_header(candidates).unwrap_or(first);
        Finding::of_file(
            Code::HeaderMissing,
            file,
            format!(
                "no row looks like a header; row {} has {}, expected are names such as {}: put the column names into \
                 the first row, name their row with --header-row, or say what your own names mean with --map",
                first.row,
                header_names(first),
                expected.join(", ")
            ),
        )
        .in_sheet(sheet)
        .in_row(first.row, first.line)
    }
}

/// Whether this is the header of one of our reports: it is the first row, whatever was said of the sheets that the rows
/// come from.
fn is_report(candidate: &HeaderCandidate) -> bool {
    candidate.row == 1 && formula_guard::is_ours(&candidate.cells)
}

/// The row that a person would take for the header: the first with more than half as many cells as the fullest, so that
/// titles above it are passed over.
fn likeliest_header(candidates: &[HeaderCandidate]) -> Option<&HeaderCandidate> {
    let fullest = candidates.iter().map(HeaderCandidate::filled).max()?;
    candidates.iter().find(|candidate| candidate.filled() * 2 > fullest)
}

/// What a row has, as a message shows it.
fn header_names(row: &HeaderCandidate) -> String {
    let filled = row.cells.iter().filter(|cell| !text::is_blank(cell));
    let shows: Vec<String> = filled.take(6).map(|cell| format!("'{}'", shown(cell))).collect();
    shows.join(", ")
}

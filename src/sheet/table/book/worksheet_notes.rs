//! What a worksheet hides, merges, computes and links to, told of the table that is read from it.

use std::mem;
use std::ops::ControlFlow;

use std::collections::HashMap;

use crate::error::Result;
use crate::sheet::Mapped;
use crate::sheet::address::{address, letters};
use crate::sheet::cell::Cell;
use crate::sheet::file::preflight::{CellCount, ColumnSurvey, RowSet, Sources, WorksheetSurvey};
use crate::sheet::file::workbook::{MergeReading, SheetRow, Workbook};
use crate::sheet::finding::Finding;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::options::HiddenRows;
use crate::sheet::read_ahead::{read_ahead, weight};
use crate::sheet::row::RawRow;
use crate::sheet::row::cell_reader::CellReader;
use crate::sheet::row::reading::{TableReading, TableSummary};
use crate::sheet::table::Table;
use crate::sheet::table::column::Form;

/// The worksheets that are read, by their names: their place in the workbook, and what was seen in them.
#[derive(Debug, Default)]
pub(super) struct Worksheets(HashMap<String, (usize, WorksheetSurvey)>);

impl Worksheets {
    pub(super) fn keep(&mut self, name: &str, place: usize, survey: WorksheetSurvey) {
        self.0.insert(name.to_owned(), (place, survey));
    }

    pub(super) fn get(&self, name: &str) -> Option<&(usize, WorksheetSurvey)> {
        self.0.get(name)
    }
}

/// Hidden rows that were met in a reading.
#[derive(Debug, Default)]
struct Hidden(RowSet);

/// Reads the rows of a table from its worksheet.
pub(super) fn read(
    workbook: &mut Workbook,
    (place, survey): &(usize, WorksheetSurvey),
    table: &Table,
    (hidden_rows, fill_merged): (Option<HiddenRows>, bool),
    (cells, mut reading): (CellReader, TableReading<'_, '_>),
) -> Result<TableSummary> {
    // The cells are taken out of the file while the rows before are read.
    let take_out = |give: &mut dyn FnMut(SheetRow, usize) -> ControlFlow<()>| {
        let is_read = |column: usize| is_read(table, column);
        let below = MergeReading { header_row: table.header_row, fill_merged, is_read: &is_read };
        workbook.rows(*place, survey, Some(&below), &mut |row| {
            let bytes = weight(&row.cells);
            Ok(give(row, bytes))
        })
    };
    let mut hidden = Hidden::default();
    let emails = email_columns(table);
    let ended = reading.take_all(cells, |each| {
        let ended = read_ahead(take_out, &mut |row| {
            let is_hidden = hidden.note(row, table);
            if is_hidden && hidden_rows == Some(HiddenRows::Skip) {
                return Ok(ControlFlow::Continue(()));
            }
            each(raw_row(mem::take(row), survey, &emails))
        })?;
        ended.transpose()
    })?;
    let ended = ended.flatten().unwrap_or(Ok(()));
    // A row that may go on where the worksheet breaks off is not judged.
    let mut summary = reading.finish(ended.map_err(|broken| broken.why))?;
    summary.findings.extend(hidden.told(survey, table, hidden_rows));
    Ok(summary)
}

/// A row of a worksheet as rows of every file are, with the links behind cells of these columns.
pub(super) fn raw_row(row: SheetRow, survey: &WorksheetSurvey, emails: &[usize]) -> RawRow {
    let SheetRow { number, cells, is_hidden, is_struck_out } = row;
    let links = survey.links.in_row(number, emails);
    RawRow { number, line: None, cells, links, damage: None, is_hidden, is_struck_out }
}

/// Whether a column of a table is read.
pub(super) fn is_read(table: &Table, column: usize) -> bool {
    matches!(table.mapping.get(column), Some(Mapped::Column { .. }))
}

impl Hidden {
    /// Notes a row of data that is hidden; whether it is one.
    fn note(&mut self, row: &SheetRow, table: &Table) -> bool {
        let is_one = row.is_hidden && row.number > table.header_row && !row.cells.iter().all(Cell::is_blank);
        if is_one {
            self.0.add(row.number);
        }
        is_one
    }

    /// What is reported of them.
    fn told(&self, survey: &WorksheetSurvey, table: &Table, choice: Option<HiddenRows>) -> Option<Finding> {
        let first = self.0.first()?;
        let (count, rows) = (self.0.count(), self.0.words());
        let are = if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") };
        let by = if survey.has_filter { " by a filter" } else { "" };
        let (severity, message) = match choice {
            None => (
                Severity::Error,
                format!(
                    "{are} hidden{by} ({rows}). Choose --hidden-rows=import to import them or --hidden-rows=skip to \
                     ignore them"
                ),
            ),
            Some(HiddenRows::Import) => {
                (Severity::Info, format!("{are} hidden{by} ({rows}) and imported like the others, as chosen"))
            }
            Some(HiddenRows::Skip) => (
                Severity::Warning,
                format!(
                    "{are} hidden{by} ({rows}) and not imported, as chosen: check that none of them is needed"
                ),
            ),
        };
        let finding = table.finding(Code::SheetHiddenRows, message).in_row(first, None);
        Some(finding.as_severity(severity))
    }
}

/// What is reported of the columns of a table before its rows are read.
pub(super) fn tell(table: &Table, survey: &WorksheetSurvey, findings: &mut Vec<Finding>) {
    let read = (0..table.headers.len()).filter(|column| is_read(table, *column));
    let columns: Vec<_> = read.filter_map(|column| Some((column, survey.column(column)?))).collect();
    let at_header = |code: Code, message: String| table.finding(code, message).in_row(table.header_row, None);
    let hidden: Vec<usize> =
        columns.iter().filter(|(_, survey)| survey.is_hidden).map(|(column, _)| *column).collect();
    if let Some(first) = hidden.first() {
        let names: Vec<String> = hidden.iter().map(|column| letters(*column)).collect();
        let message = match names.as_slice() {
            [one] => {
                format!("column {one} is hidden, but it is read: show it and check that its values are right")
            }
            names => format!(
                "columns {} are hidden, but they are read: show them and check that their values are right",
                names.join(", ")
            ),
        };
        findings.push(at_header(Code::SheetHiddenColumns, message).in_column(*first));
    }
    tell_formulas(table, &columns, findings);
    tell_links(table, survey, findings);
}

/// The columns of a table that hold e-mail addresses.
pub(super) fn email_columns(table: &Table) -> Vec<usize> {
    let is_email =
        |mapped: &Mapped| matches!(mapped, Mapped::Column { column, .. } if column.form == Form::Email);
    (0..table.mapping.len()).filter(|at| is_email(&table.mapping[*at])).collect()
}

/// Tells the columns with links that could not all be compared with their cells.
fn tell_links(table: &Table, survey: &WorksheetSurvey, findings: &mut Vec<Finding>) {
    for at in email_columns(table).into_iter().filter(|at| survey.links.may_lack(*at)) {
        let Mapped::Column { column, .. } = &table.mapping[at] else { continue };
        let message = "some links behind the cells of this column could not be read, so they may lead to other \
            addresses than their cells say: check the links, or remove them";
        let finding = table.finding(Code::CellEmail, message).in_row(table.header_row, None);
        findings.push(table.name_column(finding, Some(at), column).as_severity(Severity::Warning));
    }
}

/// What is reported of formulas: how many there are, and whose results may be out of date.
fn tell_formulas(table: &Table, columns: &[(usize, &ColumnSurvey)], findings: &mut Vec<Finding>) {
    let sum = |of: fn(&ColumnSurvey) -> CellCount| {
        let tallies = columns.iter().map(|(column, survey)| (*column, of(survey)));
        let tallies: Vec<_> = tallies.filter(|(_, tally)| tally.count > 0).collect();
        let (column, first) = tallies.iter().min_by_key(|(column, tally)| (tally.first, *column)).copied()?;
        Some((tallies.iter().map(|(_, tally)| tally.count).sum::<u64>(), column, first.first))
    };
    let cells = |count: u64, one: &str, many: &str| {
        if count == 1 { format!("1 cell {one}") } else { format!("{count} cells {many}") }
    };
    if let Some((count, column, row)) = sum(|survey| survey.external) {
        let message = format!(
            "{}, first {}; the values are as old as the last save of this workbook: open it in Excel together with \
             the other one and save it, or replace them by values",
            cells(count, "takes its value from another workbook", "take their values from another workbook"),
            address(column, row)
        );
        findings.push(table.finding(Code::FileExternalLinks, message).in_row(row, None).in_column(column));
    }
    if let Some((count, column, row)) = sum(|survey| survey.volatile) {
        let changes = cells(
            count,
            "has a formula whose result changes over time",
            "have formulas whose results change over time",
        );
        let message = format!(
            "{changes}, such as TODAY() or RAND(), first {}; the result of the last save is read: replace them by values",
            address(column, row)
        );
        let finding = table.finding(Code::SheetFormulas, message).in_row(row, None).in_column(column);
        findings.push(finding.as_severity(Severity::Warning));
    }
    if let Some((count, ..)) = sum(|survey| survey.formulas) {
        let message = cells(
            count,
            "has a formula; the last saved result is read",
            "have formulas; the last saved results are read",
        );
        findings.push(table.finding(Code::SheetFormulas, message).in_row(table.header_row, None));
    }
}

/// What is told once of a file whose values may be older than where they come from: pivot tables, databases, and other
/// workbooks that formulas can lead to by way of a name or of a sheet that is not read.
pub(super) fn tell_sources(
    tables: &[Table],
    worksheets: &Worksheets,
    sources: Sources,
    findings: &mut Vec<Finding>,
) {
    let Some(first) = tables.first() else { return };
    let survey = |table: &Table| worksheets.get(&table.name).map(|(_, survey)| survey);
    for table in tables.iter().filter(|table| survey(table).is_some_and(|survey| survey.has_pivot)) {
        let message = "the sheet has a pivot table, whose cells are as old as its last refresh: refresh it in Excel \
            and save, or import the sheet that it is made from";
        findings.push(table.finding(Code::FileExternalLinks, message));
    }
    if sources.has_connections {
        let message = "the workbook gets data from outside (a query or a data connection), and its values are as old \
            as its last refresh: refresh it in Excel and save it, or paste the rows as values";
        findings.push(Finding::of_file(Code::FileExternalLinks, &first.file, message));
    }
    let has_formulas = |table: &Table| {
        let of = |column: usize| survey(table).and_then(|survey| survey.column(column));
        let read = (0..table.headers.len()).filter(|column| is_read(table, *column));
        read.filter_map(of).any(|column| column.formulas.count > 0)
    };
    let is_told =
        findings.iter().any(|finding| finding.code == Code::FileExternalLinks && finding.cell.is_some());
    if sources.has_workbooks && !is_told && tables.iter().any(has_formulas) {
        let message = "the workbook takes values from other workbooks, and formulas of the sheets that are read may \
            depend on them; these values are as old as the last save: open it in Excel together with the others and \
            save it, or replace the formulas by values";
        findings.push(Finding::of_file(Code::FileExternalLinks, &first.file, message));
    }
}

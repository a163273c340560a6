//! What is counted over the rows of a table and told once: example rows of our templates, devices of which nothing says what
//! they are, missing columns; and in each column changed values, blanks, values without a header.

use crate::model::kind::Kind;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::finding::{Finding, shown};
use crate::sheet::table::Table;
use crate::sheet::table::column::Column;
use crate::sheet::table::header::Mapped;
use crate::sheet::text::Changes;

/// What stands in the key cell of the example row of our own templates.
pub(crate) const EXAMPLE_KEY: &str = "#example";

/// Counts of one table.
#[derive(Debug, Default)]
pub(in crate::sheet) struct TableCounts {
    has_rows: bool,
    templates: u64,
    without_model: u64,
    /// Row and line.
    first_without_model: (u32, Option<u64>),
}

impl TableCounts {
    /// Counts a row of data.
    pub(in crate::sheet) fn row(&mut self) {
        self.has_rows = true;
    }

    /// Counts the example row of a template.
    pub(in crate::sheet) fn template(&mut self) {
        self.templates += 1;
    }

    /// Whether the example row of a template was met.
    pub(in crate::sheet) fn has_met_a_template(&self) -> bool {
        self.templates > 0
    }

    /// Counts a device that has neither a model nor a template.
    pub(in crate::sheet) fn without_model(&mut self, row: u32, line: Option<u64>) {
        if self.without_model == 0 {
            self.first_without_model = (row, line);
        }
        self.without_model += 1;
    }

    /// Tells the counts, and which columns that every record should have are not there.
    pub(in crate::sheet) fn tell(
        &self,
        table: &Table,
        absent: impl Iterator<Item = &'static Column>,
        findings: &mut Vec<Finding>,
    ) {
        findings.extend(absent.filter(|_| self.has_rows).map(|column| without(table, column)));
        if self.without_model > 0 {
            findings.push(self.devices_without_model(table));
        }
        if self.templates > 0 {
            findings.push(table.finding(
                Code::RowTemplate,
                match self.templates {
                    1 => format!("the example row of the template, whose key is {EXAMPLE_KEY}, is not read"),
                    rows => format!(
                        "{rows} example rows of the template, whose key is {EXAMPLE_KEY}, are not read"
                    ),
                },
            ));
        }
    }

    /// It is allowed, and often a whole column.
    fn devices_without_model(&self, table: &Table) -> Finding {
        let what = match self.without_model {
            1 => "this device has neither device_model nor template".to_owned(),
            count => format!("{count} devices have neither device_model nor template, first this one"),
        };
        let mut finding = table
            .finding_at(
                Code::RowIncompleteGroup,
                format!("{what}: enter one of them, so that the service knows what the device is"),
                self.first_without_model.0,
                self.first_without_model.1,
                crate::sheet::table::column::column(Kind::Device, "device_model"),
            )
            .as_severity(Severity::Warning);
        finding.rule = Some("device_model or template, one of the two".to_owned());
        finding
    }
}

/// Once for the table, where a blank cell is reported once for its column.
fn without(table: &Table, column: &'static Column) -> Finding {
    let name = column.name;
    table
        .finding_at(
            Code::CellRequired,
            format!("there is no column {name}: we recommend adding it"),
            table.header_row,
            table.header_line,
            Some(column),
        )
        .as_severity(Severity::Warning)
}

/// Counts of one column.
#[derive(Debug, Default, Clone)]
pub(in crate::sheet) struct ColumnCounts {
    trimmed: u64,
    invisible: u64,
    unwrapped: u64,
    padded: u64,
    blank: u64,
    /// Row and line.
    first_blank: (u32, Option<u64>),
    sample_without_header: Option<(u32, String)>,
}

impl ColumnCounts {
    /// Counts what was changed in a cell.
    pub(in crate::sheet) fn changed(&mut self, changes: Changes) {
        self.trimmed += u64::from(changes.trimmed);
        self.invisible += u64::from(changes.invisible);
        self.unwrapped += u64::from(changes.unwrapped);
        self.padded += u64::from(changes.padded);
    }

    /// Counts a blank cell that should not be.
    pub(in crate::sheet) fn blank(&mut self, row: u32, line: Option<u64>) {
        self.blank += 1;
        if self.blank == 1 {
            self.first_blank = (row, line);
        }
    }

    /// Keeps the first value of a column that has no header.
    pub(in crate::sheet) fn without_header(&mut self, row: u32, text: &str) {
        if self.sample_without_header.is_none() {
            self.sample_without_header = Some((row, text.to_owned()));
        }
    }

    /// Tells the counts of the column in this position.
    pub(in crate::sheet) fn tell(self, table: &Table, position: usize, findings: &mut Vec<Finding>) {
        let at = |code: Code, message: String, (row, line): (u32, Option<u64>)| {
            let finding = table.finding(code, message).in_row(row, line);
            match table.mapping.get(position) {
                Some(Mapped::Column { column, .. }) => table.name_column(finding, Some(position), column),
                Some(Mapped::Ignored | Mapped::Blank | Mapped::Unknown) | None => finding.in_column(position),
            }
        };
        let header = (table.header_row, table.header_line);
        if let Some((row, sample)) = self.sample_without_header {
            findings.push(at(
                Code::HeaderBlank,
                format!(
                    "column {} has values (row {row}: '{}') but no header: name it, or ignore it with --ignore-column \
                     ''",
                    crate::sheet::address::letters(position),
                    shown(&sample)
                ),
                header,
            ));
        }
        let changes = [
            (self.trimmed, Code::CellTrimmed, "spaces around the value, or doubled inside it, were removed"),
            (self.invisible, Code::CellInvisibleRemoved, "invisible or look-alike characters were replaced"),
            (self.unwrapped, Code::CellExcelTextWrapper, "the wrapping that keeps a value text was removed"),
            (self.padded, Code::CellZeroPaddedFormat, "leading zeros were restored as shown"),
        ];
        for (count, code, what) in changes {
            if count > 0 {
                let cells = if count == 1 { "cell" } else { "cells" };
                findings.push(at(code, format!("{what} in {count} {cells}"), header));
            }
        }
        if self.blank > 0 {
            findings.push(
                at(
                    Code::CellRequired,
                    match self.blank {
                        1 => "blank: we recommend filling this in".to_owned(),
                        rows => {
                            format!("blank in {rows} rows, first here: we recommend filling this in")
                        }
                    },
                    self.first_blank,
                )
                .as_severity(Severity::Warning),
            );
        }
    }
}

//! What is counted over all rows of a table and told once: example rows of our templates, devices of which nothing says
//! what they are, columns that records should have and that are not there.

use crate::model::kind::Kind;

use crate::sheet::finding::Finding;
use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::table::Table;
use crate::sheet::table::column::Column;

/// What stands in the key cell of the example row of our own templates.
pub(crate) const EXAMPLE_KEY: &str = "#example";

/// Counts of one table.
#[derive(Debug, Default)]
pub(in crate::sheet) struct Tally {
    has_rows: bool,
    templates: u64,
    without_model: u64,
    /// Row and line.
    first_without_model: (u32, Option<u64>),
}

impl Tally {
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

/// Once for the table, where a blank cell is told once for its column.
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

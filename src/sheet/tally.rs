//! What is counted over all rows of a table and told once: example rows of our templates, devices of which nothing says
//! what they are.

use crate::model::kind::Kind;

use super::code::{Code, Severity};
use super::finding::Finding;
use super::table::Table;

/// What stands in the key cell of the example row of our own templates.
pub(crate) const EXAMPLE_KEY: &str = "#example";

/// Counts of one table.
#[derive(Debug, Default)]
pub(super) struct Tally {
    templates: u64,
    without_model: u64,
    /// Row and line.
    first_without_model: (u32, Option<u64>),
}

impl Tally {
    /// Counts the example row of a template.
    pub(super) fn template(&mut self) {
        self.templates += 1;
    }

    /// Whether the example row of a template was met.
    pub(super) fn has_met_a_template(&self) -> bool {
        self.templates > 0
    }

    /// Counts a device that has neither a model nor a template.
    pub(super) fn without_model(&mut self, row: u32, line: Option<u64>) {
        if self.without_model == 0 {
            self.first_without_model = (row, line);
        }
        self.without_model += 1;
    }

    /// Tells the counts.
    pub(super) fn tell(&self, table: &Table, findings: &mut Vec<Finding>) {
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
                super::column::column(Kind::Device, "device_model"),
            )
            .as_severity(Severity::Warning);
        finding.rule = Some("device_model or template, one of the two".to_owned());
        finding
    }
}

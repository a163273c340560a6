//! What is counted in each column of a table and told once: changed values, blanks, values without a header.

use crate::sheet::finding::code::{Code, Severity};
use crate::sheet::finding::{Finding, shown};
use crate::sheet::table::Table;
use crate::sheet::table::header::Mapped;
use crate::sheet::text::Changes;

/// Counts of one column.
#[derive(Debug, Default, Clone)]
pub(in crate::sheet) struct Counts {
    trimmed: u64,
    invisible: u64,
    unwrapped: u64,
    padded: u64,
    blank: u64,
    /// Row and line.
    first_blank: (u32, Option<u64>),
    sample_without_header: Option<(u32, String)>,
}

impl Counts {
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
                    crate::sheet::cell::letters(position),
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

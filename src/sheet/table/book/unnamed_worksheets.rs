//! Worksheets whose names do not say what they hold: which of them is meant, and what is told when none is known.
//!
//! Which worksheets are looked into, and what their headers say, is left to `search`.

use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal, shown};
use crate::sheet::table::Candidate;
use crate::sheet::table::header;

/// Names that a message shows.
const TOLD: usize = 6;

/// The worksheets that were looked into and have rows.
#[derive(Debug, Default)]
pub(super) struct WithRows {
    /// The one that is meant, where that is known already.
    meant: Option<String>,
    /// Those whose name does not say what they hold, and which nobody has asked for.
    nameless: Vec<String>,
    /// Those of them that have a column of our results: they were read before.
    with_results: Vec<String>,
    /// How many others there are.
    named: usize,
}

impl WithRows {
    /// None yet; and the one that is meant, where that is known.
    pub(super) fn meaning(meant: Option<&str>) -> Self {
        Self { meant: meant.map(str::to_owned), ..Self::default() }
    }

    /// Whether a worksheet is the one that is meant.
    pub(super) fn is_meant(&self, name: &str) -> bool {
        self.meant.as_deref() == Some(name)
    }

    /// Notes a worksheet by its first rows.
    pub(super) fn add(&mut self, name: &str, is_named: bool, rows: &[Candidate]) {
        match (rows.is_empty(), is_named) {
            (true, _) => {}
            (false, true) => self.named += 1,
            (false, false) => {
                let mut cells = rows.iter().flat_map(|row| &row.cells);
                if cells.any(|cell| header::is_result(cell)) {
                    self.with_results.push(name.to_owned());
                }
                self.nameless.push(name.to_owned());
            }
        }
    }

    /// The one worksheet that has rows, where its name does not say of which kind. Whoever says the kind means this one. In
    /// a workbook of ours, which has a sheet about the others in front, it is the one with results.
    pub(super) fn only(&self) -> Option<&str> {
        match (self.named, self.nameless.as_slice(), self.with_results.as_slice()) {
            (0, [only], _) | (0, _, [only]) => Some(only),
            _ => None,
        }
    }

    /// The refusal of a workbook in which no worksheet holds a known kind of row.
    pub(super) fn refusal(&self, file: &str, ignored: &[(String, &'static str)]) -> Refusal {
        let Some(first) = self.nameless.first().map(|name| shown(name)) else {
            let (code, message) = match ignored.iter().any(|(_, why)| *why == "hidden") {
                true => (
                    Code::SheetNotFound,
                    "every sheet of the workbook that may have rows is hidden: show the sheet to import, or choose \
                     --include-hidden",
                ),
                false => (Code::FileEmpty, "every sheet of the workbook is blank: export it again"),
            };
            return Finding::refusal(code, file, message);
        };
        let mut names: Vec<String> =
            self.nameless.iter().take(TOLD).map(|name| format!("'{}'", shown(name))).collect();
        if let Some(more @ 1..) = self.nameless.len().checked_sub(TOLD) {
            names.push(format!("{more} more"));
        }
        Finding::refusal(
            Code::SheetNotFound,
            file,
            format!(
                "no sheet of the workbook holds companies, people, sites or devices by its name or its column names; it has \
                 {}: rename the one with the rows after what they are, as in '{first} devices', or name it with \
                 --worksheet and what it holds with --kind, and say with --map what its own column names mean",
                names.join(", ")
            ),
        )
    }
}

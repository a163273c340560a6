//! Values that stand only in the first row of a block, as people write a site above its devices, with the cells below
//! left blank.
//!
//! A blank cell says that there is no value, and is read so. Where a whole column looks like that, it is doubted once;
//! what a cell means is never taken from the row above it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::model::kind::Kind;

use super::cell::Cell;
use super::code::{Code, Severity};
use super::column::column;
use super::finding::{Finding, shown};
use super::options::Options;
use super::table::Table;

/// The column that is looked at.
const SITE: &str = "site";
/// Those of a site that is made with a device.
const MADE_WITH: [&str; 2] = ["custom_site_id", "custom_site_name"];

/// Different sites that are remembered; where there are more and none stands twice, nothing is said.
const REMEMBERED: usize = 10_000;
/// Blank cells below values that make a block.
const BLANKS: u64 = 2;

/// What was seen of the column of sites, from the top.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    position: usize,
    /// Columns of a site that is made with the device, which has no other then.
    made_with: Vec<usize>,
    seen: HashSet<u64>,
    first_value: Option<String>,
    values: u64,
    /// Values with a blank cell right below.
    above_blanks: u64,
    last_is_blank: bool,
    blanks: u64,
    first_blank: (u32, Option<u64>),
    /// Whether it was found to be no column of blocks.
    is_other: bool,
}

impl Blocks {
    /// Of the sites that the devices of a table stand in, where it has such a column and nothing was said of its blanks.
    pub(super) fn of_sites(table: &Table, options: &Options) -> Option<Self> {
        let is_meant = table.kind == Kind::Device && options.default_for(table.kind, SITE).is_none();
        let position = table.position(SITE).filter(|_| is_meant)?;
        let made_with = MADE_WITH.iter().filter_map(|name| table.position(name)).collect();
        Some(Self { position, made_with, ..Self::default() })
    }

    /// Notes a row.
    pub(super) fn note(&mut self, cells: &[Cell], row: u32, line: Option<u64>) {
        let value = |position: usize| cells.get(position).filter(|cell| !cell.is_blank());
        match value(self.position) {
            _ if self.is_other => {}
            Some(cell) => self.value(&cell.text),
            None if self.made_with.iter().any(|position| value(*position).is_some()) => {}
            None => self.blank(row, line),
        }
    }

    fn value(&mut self, text: &str) {
        self.last_is_blank = false;
        self.values += 1;
        self.first_value.get_or_insert_with(|| text.to_owned());
        let mut hasher = DefaultHasher::new();
        text.trim().to_lowercase().hash(&mut hasher);
        // Whoever repeats a value in the rows that it is meant for leaves a cell blank on purpose.
        self.is_other = !self.seen.insert(hasher.finish()) || self.seen.len() > REMEMBERED;
        if self.is_other {
            self.seen = HashSet::new();
        }
    }

    fn blank(&mut self, row: u32, line: Option<u64>) {
        // A block begins with its value.
        self.is_other = self.values == 0;
        self.above_blanks += u64::from(!self.last_is_blank);
        self.last_is_blank = true;
        self.blanks += 1;
        if self.blanks == 1 {
            self.first_blank = (row, line);
        }
    }

    /// The doubt, where the column looks like one of blocks.
    pub(super) fn told(self, table: &Table) -> Option<Finding> {
        let in_blocks = self.above_blanks >= 2 || self.values == 1;
        if self.is_other || !in_blocks || self.blanks < BLANKS {
            return None;
        }
        let message = format!(
            "blank in {} rows, first here, and every site stands in one row only, as '{}' does: a blank cell means no site, \
             whatever stands above it. If the site above is meant for these rows, too, fill it down",
            self.blanks,
            shown(&self.first_value?)
        );
        let (row, line) = self.first_blank;
        let finding =
            table.finding(Code::CellRequired, message).as_severity(Severity::Warning).in_row(row, line);
        let column = column(table.kind, SITE)?;
        Some(table.name_column(finding, Some(self.position), column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::table::Candidate;

    /// Whether a column of devices' sites is doubted; `-` is a blank cell.
    fn is_doubted(sites: &str) -> bool {
        let names = ["company", "name", "site"].map(str::to_owned);
        let candidate = Candidate::new(1, None, names.iter().map(String::as_str));
        let mut options = Options::default();
        options.set_default("devices.phone=1234567").unwrap();
        options.set_default("devices.address1=1 High St").unwrap();
        let table =
            Table::new("d".into(), "d.csv", None, Kind::Device, &candidate, &options, &mut Vec::new())
                .unwrap();
        let mut blocks = Blocks::of_sites(&table, &options).unwrap();
        for (row, site) in (2..).zip(sites.split(' ')) {
            let site = if site == "-" { "" } else { site };
            let cells = ["acme", "till", site].map(|text| Cell::text(text.to_owned()));
            blocks.note(&cells, row, None);
        }
        blocks.told(&table).is_some()
    }

    #[test]
    fn a_column_is_doubted_where_each_site_stands_above_blanks_and_never_twice() {
        let table = [
            ("north - - south - -", true),
            ("north - -", true),
            ("north - south - - east west", true),
            ("north north - south south -", false),
            ("north - NORTH - -", false),
            ("- north - south -", false),
            ("north south east - - -", false),
            ("north -", false),
            ("north south", false),
        ];
        for (sites, expected) in table {
            assert_eq!(is_doubted(sites), expected, "{sites}");
        }
    }

    #[test]
    fn more_sites_than_are_remembered_are_no_blocks() {
        let sites: Vec<String> = (0..=REMEMBERED).map(|n| format!("s{n} -")).collect();
        assert!(is_doubted(&sites[1..].join(" ")));
        assert!(!is_doubted(&sites.join(" ")));
    }
}

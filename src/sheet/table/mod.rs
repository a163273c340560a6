//! One table of a file: where its header is, what its rows are, and what each of its columns means.

pub(super) mod book;
pub mod column;
pub(super) mod header;
pub(super) mod header_name;
pub(super) mod layout;
pub mod rename;
pub(super) mod widths;

use std::collections::BTreeSet;

use super::finding::code::Code;
use super::finding::{Finding, Related};
use super::options::Options;
use crate::model::kind::Kind;
use column::Column;
use header::Mapped;
use widths::RowWidths;

/// Rows among which the header is looked for.
pub(crate) const HEADER_ROWS: usize = 20;

/// Column names down the first column that leave no doubt.
const TRANSPOSED_NAMES: usize = 4;
/// Column names along a row that leave no doubt, however many other columns there are.
const CERTAIN_NAMES: usize = 4;

/// A table whose rows can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The name of the worksheet, or of the file without its ending.
    pub name: String,
    /// The name of the file.
    pub file: String,
    /// The worksheet; `None` for text tables.
    pub worksheet: Option<String>,
    /// What its rows are.
    pub kind: Kind,
    /// The row of the header, as a spreadsheet program shows it.
    pub header_row: u32,
    /// Text tables only: the physical line where the header starts.
    pub header_line: Option<u64>,
    /// The headers as written, of all columns up to the last that has one.
    pub headers: Vec<String>,
    /// The blank headers after the last one.
    pub blank_headers: usize,
    /// What each column is taken for, in the same order.
    pub mapping: Vec<Mapped>,
    /// Rows that look like totals or remarks and are none, as other rows refer to their keys.
    pub referred: BTreeSet<u32>,
    /// Text tables only: how many cells its rows have.
    pub widths: RowWidths,
}

/// A row looked at in search of the header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderCandidate {
    pub(crate) row: u32,
    /// Text tables only: the physical line where it starts.
    pub(crate) line: Option<u64>,
    pub(crate) cells: Vec<String>,
}

impl HeaderCandidate {
    /// Of each cell as much is kept as a name of a column may have, and one character more.
    pub(crate) fn new<'a>(row: u32, line: Option<u64>, cells: impl Iterator<Item = &'a str>) -> Self {
        Self {
            row,
            line,
            cells: cells.map(|cell| cell.chars().take(header_name::LONGEST + 1).collect()).collect(),
        }
    }

    /// How many of its cells hold something.
    pub(super) fn filled(&self) -> usize {
        self.cells.iter().filter(|cell| !super::text::is_blank(cell)).count()
    }

    /// How many of its cells may name a column: those of our reports stand beside them, and there are many.
    fn asked(&self) -> usize {
        let may_name = |cell: &&String| !super::text::is_blank(cell) && !header_name::is_ignored(cell);
        self.cells.iter().filter(may_name).count()
    }
}

/// What the rows at the top of a table say about it.
pub(crate) struct HeaderGuess {
    pub(crate) kind: Kind,
    /// Which candidate is the header.
    pub(crate) header: usize,
    /// How many columns of the kind it names.
    pub(crate) score: usize,
    /// How many cells of it may name a column.
    pub(crate) filled: usize,
    /// Another kind that fits as well.
    pub(crate) rival: Option<Kind>,
}

impl HeaderGuess {
    /// Whether the names leave no doubt that this is a table of ours, whatever it is called.
    pub(crate) fn is_certain(&self) -> bool {
        self.score >= 3 && self.score * 2 >= self.filled
    }
}

/// The best header among the candidates, for one kind or for any. `None` when in every row fewer than four cells, and
/// fewer than a third of them, are known; unless a person has named the row, which is the header then.
pub(crate) fn guess(
    candidates: &[HeaderCandidate],
    kind: Option<Kind>,
    renamed: &[(String, String)],
    is_named: bool,
) -> Option<HeaderGuess> {
    let is_header = |score: usize, filled: usize| {
        if is_named {
            score > 0 || kind.is_some()
        } else {
            score > 0 && (score * 3 >= filled || score >= CERTAIN_NAMES)
        }
    };
    let mut best: Option<HeaderGuess> = None;
    for (index, candidate) in candidates.iter().enumerate() {
        let filled = candidate.asked();
        for considered in
            Kind::SHEETS.into_iter().filter(|considered| kind.is_none_or(|kind| kind == *considered))
        {
            let score = header::score(considered, &candidate.cells, renamed);
            if !is_header(score, filled) {
                continue;
            }
            match &mut best {
                Some(best) if best.score > score => {}
                Some(best) if best.score == score => {
                    if best.header == index && best.rival.is_none() {
                        best.rival = Some(considered);
                    }
                }
                best => {
                    *best = Some(HeaderGuess { kind: considered, header: index, score, filled, rival: None })
                }
            }
        }
    }
    best.filter(|best| is_named || best.score > 2 || !is_transposed(candidates, kind))
}

/// Whether the column names run down the first column instead of along a row.
pub(crate) fn is_transposed(candidates: &[HeaderCandidate], kind: Option<Kind>) -> bool {
    let down: Vec<String> =
        candidates.iter().filter_map(|candidate| candidate.cells.first().cloned()).collect();
    Kind::SHEETS
        .into_iter()
        .filter(|of| kind.is_none_or(|kind| kind == *of))
        .any(|of| header::score(of, &down, &[]) >= TRANSPOSED_NAMES)
}

impl Table {
    /// A table whose header is found; what is wrong with its headers is added to the findings. `None` when a column
    /// that every row needs is missing.
    pub(crate) fn new(
        name: String,
        file: &str,
        worksheet: Option<String>,
        kind: Kind,
        header: &HeaderCandidate,
        options: &Options,
        findings: &mut Vec<Finding>,
    ) -> Option<Self> {
        let mut headers = header.cells.clone();
        while headers.last().is_some_and(|last| super::text::is_blank(last)) {
            headers.pop();
        }
        let (mapping, problems) =
            header::map(kind, &headers, &options.rename, &options.ignore_columns, &|name| {
                options.can_do_without(kind, name)
            });
        let mut table = Self {
            name,
            file: file.to_owned(),
            worksheet,
            kind,
            header_row: header.row,
            header_line: header.line,
            blank_headers: header.cells.len() - headers.len(),
            headers,
            mapping,
            referred: BTreeSet::new(),
            widths: RowWidths::default(),
        };
        let beside = layout::beside(kind, &table.headers, &table.mapping);
        if let Some(at) = beside {
            findings.push(table.table_beside(at));
            table.mapping[at..].fill(Mapped::Ignored);
        }
        let mut usable = true;
        for problem in problems {
            if problem.column.is_some_and(|column| beside.is_some_and(|at| column >= at)) {
                continue;
            }
            usable &= problem.code != Code::HeaderRequiredMissing;
            let mut finding = Finding::of_file(problem.code, file, problem.message)
                .about(Some(kind))
                .in_sheet(table.worksheet.as_deref())
                .in_row(table.header_row, table.header_line);
            if let Some(column) = problem.column {
                finding = finding.in_column(column);
                finding.header = table.headers.get(column).map(|header| header_name::cut(header));
            } else {
                finding.column = problem.suggestion.as_deref().map(|name| format!("{kind}.{name}"));
            }
            finding.suggestion = problem.suggestion;
            if let (Some(column), Some(other)) = (problem.column, problem.other) {
                // The cells of the first of two equal ones are those that are looked into.
                table.mapping[column] = Mapped::Unknown;
                finding.related.push(table.related(table.header_row, Some(other), "first use"));
            }
            findings.push(finding);
        }
        usable.then_some(table)
    }

    /// The finding for another table beside this one, whose first header is `at`.
    fn table_beside(&self, at: usize) -> Finding {
        let mut finding = self
            .finding(
                Code::SheetExtraTable,
                format!(
                    "another table begins here, beside the one in the columns before it: put it into a {} of its own",
                    if self.worksheet.is_some() { "sheet" } else { "file" }
                ),
            )
            .in_row(self.header_row, self.header_line)
            .in_column(at);
        finding.header = Some(header_name::cut(&self.headers[at]));
        finding
    }

    /// Where a column of the table of columns stands, counted from 0.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.mapping
            .iter()
            .position(|mapped| matches!(mapped, Mapped::Column { column: found, .. } if found.name == column))
    }

    /// Where the column of a family stands whose header has this after the colon.
    pub(crate) fn position_in_family(&self, family: &str, entry: &str) -> Option<usize> {
        let is_it = |mapped: &Mapped| matches!(mapped, Mapped::Column { column, entry: Some(own) } if column.name == family && own == entry);
        self.mapping.iter().position(is_it)
    }

    /// A finding in this table.
    pub(crate) fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        Finding::of_file(code, &self.file, message).about(Some(self.kind)).in_sheet(self.worksheet.as_deref())
    }

    /// A finding in a row of this table, at a column that need not be there.
    pub(crate) fn finding_at(
        &self,
        code: Code,
        message: impl Into<String>,
        row: u32,
        line: Option<u64>,
        column: Option<&Column>,
    ) -> Finding {
        let finding = self.finding(code, message).in_row(row, line);
        let Some(column) = column else { return finding };
        self.name_column(finding, self.position(column.name), column)
    }

    /// How many cells the header has, blank ones at its end included.
    pub(crate) fn width(&self) -> usize {
        self.headers.len() + self.blank_headers
    }

    /// The columns that are a row's own: those before the result columns of our workbooks, or between them where some of
    /// these are first.
    pub(crate) fn own_columns(&self) -> std::ops::Range<usize> {
        let is_result = |header: &String| header_name::is_result(header);
        let first = self.headers.iter().position(|header| !is_result(header)).unwrap_or_default();
        let own = self.headers[first..].iter().position(is_result);
        first..own.map_or(usize::MAX, |own| first + own)
    }

    /// Adds the cell, the header and the field of the service.
    pub(crate) fn name_column(
        &self,
        mut finding: Finding,
        position: Option<usize>,
        column: &Column,
    ) -> Finding {
        if let Some(position) = position {
            finding = finding.in_column(position);
            finding.header = self.headers.get(position).map(|header| header_name::cut(header));
        }
        finding.column = Some(format!("{}.{}", self.kind, column.name));
        finding.api = column.api;
        finding
    }

    /// A place of this table that belongs to a finding.
    pub(crate) fn related(&self, row: u32, column: Option<usize>, note: impl Into<String>) -> Related {
        Related {
            file: self.file.clone(),
            sheet: self.worksheet.clone(),
            cell: column.map(|column| super::address::address(column, row)),
            row,
            note: note.into(),
        }
    }
}

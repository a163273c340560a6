//! Finding the tables of a workbook: which worksheets, which row is the header, what kind of rows.
//!
//! Whatever leaves a doubt is refused with the words that end it. The one table of a text file is found in `separators`;
//! reading the rows is left to the book.

use std::ops::ControlFlow;

use super::nameless::WithRows;
use super::{Book, worksheets};
use crate::model::kind::Kind;
use crate::sheet::code::Code;
use crate::sheet::column::{Need, columns};
use crate::sheet::finding::{Finding, Refusal, Severity, shown};
use crate::sheet::guard;
use crate::sheet::header;
use crate::sheet::layout;
use crate::sheet::table::{Candidate, HEADER_ROWS, Table, guess, is_transposed};
use crate::sheet::template;
use crate::sheet::text;
use crate::sheet::workbook::Workbook;

/// Rows that are looked at in search of a header whose row a person has named.
const FURTHEST_HEADER: usize = 10_000;

/// Whether this is the header of one of our reports: it is the first row, whatever was said of the sheets that the rows
/// come from.
fn is_report(candidate: &Candidate) -> bool {
    candidate.row == 1 && guard::is_ours(&candidate.cells)
}

impl Book {
    /// Finds the tables of a workbook. `meant` is the only worksheet with rows, once that is known, when the kind of its
    /// rows was said: it can be no other one that was meant.
    pub(super) fn find_worksheets(&mut self, meant: Option<&str>) -> std::result::Result<(), Refusal> {
        let before = (self.findings.len(), self.ignored.len());
        let mut workbook = Workbook::open(&self.file.path, &self.file.name)?;
        let listed = workbook.listed().to_vec();
        for wanted in &self.options.sheets {
            if !listed.iter().any(|sheet| header::fold(&sheet.name) == header::fold(wanted)) {
                let names: Vec<String> =
                    listed.iter().map(|sheet| format!("'{}'", shown(&sheet.name))).collect();
                return Err(Finding::refusal(
                    Code::SheetNotFound,
                    &self.file.name,
                    format!(
                        "the workbook has no sheet '{}': name one of those it has, {}",
                        shown(wanted),
                        names.join(", ")
                    ),
                ));
            }
        }
        let mut found: Vec<(String, Kind, Vec<Candidate>, usize)> = Vec::new();
        let mut with_rows = WithRows::default();
        for (place, sheet) in listed.into_iter().enumerate().filter(|(_, sheet)| sheet.has_cells) {
            let wanted =
                self.options.sheets.iter().any(|wanted| header::fold(wanted) == header::fold(&sheet.name));
            if !wanted && !self.options.sheets.is_empty() {
                self.ignored.push((sheet.name, "not asked for"));
                continue;
            }
            if sheet.hidden && !wanted && sheet.name == template::LISTS {
                // The lists of our own templates are nobody's rows.
                self.ignored.push((sheet.name, "lists of the template"));
                continue;
            }
            if sheet.hidden && !wanted && !self.options.include_hidden {
                self.findings.push(
                    Finding::of_file(
                        Code::SheetHidden,
                        &self.file.name,
                        format!(
                            "the sheet '{}' is hidden and not read: show it, or choose --include-hidden, if it is to be \
                             imported",
                            shown(&sheet.name)
                        ),
                    )
                    .in_sheet(Some(&sheet.name)),
                );
                self.ignored.push((sheet.name, "hidden"));
                continue;
            }
            let wanted = wanted || meant == Some(&*sheet.name);
            let named = header::kind_of_name(&sheet.name).or(if wanted { self.options.kind } else { None });
            let mut candidates = Vec::new();
            let survey = match workbook.survey(place) {
                Ok(survey) => Ok(survey),
                Err(fault) if fault.code == Code::SheetUnreadable => Err(fault.message),
                Err(fault) => {
                    let refusal = fault.refusal(&self.file.name).in_sheet(Some(&sheet.name));
                    return Err(Box::new(refusal));
                }
            };
            let survey = survey.and_then(|survey| {
                let mut looked = 0;
                let read = workbook.rows(place, &survey, None, &mut |row| {
                    let cells = row.cells.iter().map(|cell| cell.text.as_str());
                    self.consider(Candidate::new(row.number, None, cells), &mut candidates);
                    looked += 1;
                    Ok(if self.wants_more(looked, candidates.last()) {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    })
                });
                let ended = read.map_err(|error| error.to_string())?;
                // Names of columns tell what the sheet was even where the row below them is damaged.
                ended.map(|()| survey).map_err(|broken| {
                    if let Some(row) = broken.begun {
                        let cells = row.cells.iter().map(|cell| cell.text.as_str());
                        self.consider(Candidate::new(row.number, None, cells), &mut candidates);
                    }
                    broken.why
                })
            });
            let unreadable = match survey {
                Ok(survey) => {
                    self.worksheets.keep(&sheet.name, place, survey);
                    None
                }
                Err(message) => Some(message),
            };
            if let Some(message) = unreadable {
                let has_known = guess(&candidates, None, &self.options.rename);
                let is_ours = named.is_some() || wanted || has_known.is_some_and(|guess| guess.is_certain());
                let finding = Finding::of_file(Code::SheetUnreadable, &self.file.name, message);
                // What a damaged sheet with another name holds may be a remark or a thousand rows: it is told either way.
                let severity = if is_ours { Severity::Fatal } else { Severity::Warning };
                self.findings.push(finding.as_severity(severity).in_sheet(Some(&sheet.name)));
                self.ignored.push((sheet.name, "cannot be read"));
                continue;
            }
            with_rows.add(&sheet.name, named.is_some(), &candidates);
            let candidates = self.chosen(candidates);
            let guess = guess(&candidates, named, &self.options.rename);
            match (named, guess) {
                (Some(kind), Some(guess)) => found.push((sheet.name, kind, candidates, guess.header)),
                (Some(_), None) if candidates.is_empty() => self.ignored.push((sheet.name, "empty")),
                (Some(kind), None) => {
                    let finding = self.no_header(Some(&sheet.name), &candidates, Some(kind));
                    self.findings.push(finding);
                }
                // A sheet with another name is taken only when its header leaves no doubt.
                (None, Some(guess)) if guess.is_certain() => match guess.rival {
                    None => found.push((sheet.name, guess.kind, candidates, guess.header)),
                    Some(rival) => {
                        let finding = self.either_kind(&sheet.name, guess.kind, rival);
                        self.findings.push(finding);
                        self.ignored.push((sheet.name, "fits two kinds of row equally well"));
                    }
                },
                (None, _) if wanted => {
                    let finding = self.no_header(Some(&sheet.name), &candidates, None);
                    self.findings.push(finding);
                }
                (None, _) => self.ignored.push((sheet.name, "holds no known kind of row")),
            }
        }
        if let (None, Some(_), Some(only)) = (meant, self.options.kind, with_rows.only()) {
            self.findings.truncate(before.0);
            self.ignored.truncate(before.1);
            return self.find_worksheets(Some(only));
        }
        let (sources, pivots) = (workbook.sources(), worksheets::with_pivots(workbook.listed()));
        *self.workbook() = Some(workbook);
        for kind in Kind::ALL {
            let names: Vec<String> = found
                .iter()
                .filter(|(_, of, ..)| *of == kind)
                .map(|(name, ..)| format!("'{}'", shown(name)))
                .collect();
            // Our own reports keep the sheets apart that several files brought together.
            let ours = found
                .iter()
                .filter(|(_, of, ..)| *of == kind)
                .all(|(.., candidates, header)| guard::is_ours(&candidates[*header].cells));
            if names.len() > 1 && self.options.sheets.is_empty() && !ours {
                return Err(Finding::refusal(
                    Code::SheetAmbiguous,
                    &self.file.name,
                    format!(
                        "the sheets {} all hold {kind}: rename the ones not meant, or name each one to read \
                         with --worksheet",
                        names.join(" and ")
                    ),
                ));
            }
        }
        if found.is_empty() && !self.findings.iter().any(|finding| finding.severity == Severity::Fatal) {
            return Err(with_rows.refusal(&self.file.name, &self.ignored));
        }
        for (name, kind, candidates, header) in found {
            self.add_table(name.clone(), Some(name.clone()), kind, &candidates, header);
            if let (Some(table), Some((_, survey))) = (self.tables.last(), self.worksheets.get(&name))
                && table.worksheet.as_ref() == Some(&name)
            {
                worksheets::tell(table, survey, &mut self.findings);
            }
        }
        worksheets::tell_sources(&self.tables, &self.worksheets, sources, &pivots, &mut self.findings);
        Ok(())
    }

    /// The finding for a worksheet whose rows may be of either kind.
    fn either_kind(&self, sheet: &str, kind: Kind, rival: Kind) -> Finding {
        let told = shown(sheet);
        Finding::of_file(
            Code::SheetAmbiguous,
            &self.file.name,
            format!(
                "the columns of the sheet '{told}' fit {kind} and {rival} equally well: rename the sheet after what it \
                 holds, as in '{told} {rival}', or name it with --worksheet and what it holds with --kind; where it is not \
                 meant, name only the others with --worksheet"
            ),
        )
        .in_sheet(Some(sheet))
    }

    /// Whether the header may stand below the rows looked at so far.
    pub(super) fn wants_more(&self, rows: usize, last: Option<&Candidate>) -> bool {
        match self.options.header_row {
            Some(row) => last.is_none_or(|last| last.row < row) && rows < FURTHEST_HEADER,
            None => rows < HEADER_ROWS,
        }
    }

    /// Takes a candidate for the header; where a person has named the row, those above it are not kept.
    pub(super) fn consider(&self, candidate: Candidate, candidates: &mut Vec<Candidate>) {
        if self.options.header_row.is_some() {
            if candidates.first().is_some_and(is_report) {
                return;
            }
            candidates.clear();
        }
        candidates.push(candidate);
    }

    /// The candidates for the header: all, or the one a person named.
    pub(super) fn chosen(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        match self.options.header_row {
            Some(row) => candidates
                .into_iter()
                .filter(|candidate| candidate.row == row || is_report(candidate))
                .collect(),
            None => candidates,
        }
    }

    pub(super) fn add_table(
        &mut self,
        name: String,
        worksheet: Option<String>,
        kind: Kind,
        candidates: &[Candidate],
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
                        "the column names stand in two rows, {first} and {second} (row {} has {names}): use one header \
                         row, with a name above every column",
                        other.row
                    ),
                )
                .as_severity(Severity::Fatal)
                .in_sheet(worksheet.as_deref())
                .in_row(other.row, other.line),
            );
            return;
        }
        let above = &candidates[..header];
        let header = &candidates[header];
        if !above.is_empty() {
            self.findings.push(
                Finding::of_file(
                    Code::SheetPreamble,
                    &self.file.name,
                    format!(
                        "the header is taken from row {}; the rows above it are not read: name the right row with \
                         --header-row if that is another",
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

    /// The finding for a table without a header.
    pub(super) fn no_header(
        &self,
        sheet: Option<&str>,
        candidates: &[Candidate],
        kind: Option<Kind>,
    ) -> Finding {
        let file = &self.file.name;
        let Some(first) = candidates.first() else {
            return match self.options.header_row {
                Some(row) => Finding::of_file(
                    Code::HeaderMissing,
                    file,
                    format!("row {row}, named as the header's, is blank or not there: name the row of the column names"),
                )
                .in_row(row, None),
                None => Finding::of_file(
                    Code::FileEmpty,
                    file,
                    "there is no row with anything in it: export the sheet again",
                ),
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
                "no row looks like a header; row {} has {}, expected are names such as {}: put the column names into the \
                 first row, name the row they stand in with --header-row, or say what your own names mean with --map",
                first.row,
                header_names(first),
                expected.join(", ")
            ),
        )
        .in_sheet(sheet)
        .in_row(first.row, first.line)
    }
}

/// The row that a person would take for the header: the first with more than half as many cells as the fullest, so that
/// titles above it are passed over.
fn likeliest_header(candidates: &[Candidate]) -> Option<&Candidate> {
    let fullest = candidates.iter().map(Candidate::filled).max()?;
    candidates.iter().find(|candidate| candidate.filled() * 2 > fullest)
}

/// What a row has, as a message shows it.
fn header_names(row: &Candidate) -> String {
    let filled = row.cells.iter().filter(|cell| !text::is_blank(cell));
    let shows: Vec<String> = filled.take(6).map(|cell| format!("'{}'", shown(cell))).collect();
    shows.join(", ")
}

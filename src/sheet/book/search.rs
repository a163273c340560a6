//! Finding the tables of a file: which separator, which row is the header, what kind of rows, which worksheets.
//!
//! Whatever leaves a doubt is refused with the words that end it; reading the rows is left to the book.

use std::io::Read;
use std::ops::ControlFlow;

use super::{Book, plain};
use crate::model::kind::Kind;
use crate::sheet::code::Code;
use crate::sheet::column::{Need, columns};
use crate::sheet::csv::Records;
use crate::sheet::encoding;
use crate::sheet::finding::{Finding, Refusal, Severity, shown};
use crate::sheet::guard;
use crate::sheet::header;
use crate::sheet::source::Format;
use crate::sheet::table::{Candidate, Guess, HEADER_ROWS, Table, guess, is_transposed};
use crate::sheet::template;
use crate::sheet::text;
use crate::sheet::workbook::Workbook;

/// What may stand between cells.
pub(super) const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

impl Book {
    /// Finds the one table of a text file.
    pub(super) fn find_text_table(&mut self) -> std::result::Result<(), Refusal> {
        let Format::Text { encoding, .. } = self.file.format else { return Ok(()) };
        let name = self.file.name.clone();
        let stem = self
            .file
            .path
            .file_stem()
            .map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
        let unreadable = |error: std::io::Error| {
            Finding::refusal(Code::FileUnreadable, &name, format!("reading failed: {error}"))
        };
        let kind = self.options.kind.or_else(|| header::kind_of_name(&stem));
        let mut tried: Vec<(char, Vec<Candidate>, Option<Guess>)> = Vec::new();
        for delimiter in self.options.delimiter.map_or(DELIMITERS.to_vec(), |given| vec![given]) {
            let reader = encoding::reader(&self.file.path, &encoding).map_err(unreadable)?;
            let (said, candidates) = top(reader, delimiter).map_err(unreadable)?;
            if tried.iter().any(|(before, ..)| *before == said) {
                continue;
            }
            let candidates = self.chosen(candidates);
            let guess = guess(&candidates, kind);
            tried.push((said, candidates, guess));
        }
        let weight =
            |guess: &Option<Guess>| guess.as_ref().map_or((0, 0), |guess| (guess.score, guess.filled));
        tried.sort_by_key(|(.., guess)| std::cmp::Reverse(weight(guess)));
        let mut tried = tried.into_iter();
        let Some((delimiter, candidates, best)) = tried.next() else { return Ok(()) };
        if let (Some(best), Some((other, .., rival))) = (&best, tried.next())
            && best.filled > 1
            && weight(&rival) == (best.score, best.filled)
        {
            return Err(Finding::refusal(
                Code::FileDelimiterAmbiguous,
                &name,
                format!(
                    "'{}' and '{}' separate the header row equally well: name the right one",
                    shown(&delimiter.to_string()),
                    shown(&other.to_string())
                ),
            ));
        }
        self.file.format = Format::Text { encoding, delimiter };
        let guess = best.ok_or_else(|| Box::new(self.no_header(None, &candidates, kind)))?;
        let kind = match (kind, guess.rival) {
            (Some(kind), _) => kind,
            (None, None) => guess.kind,
            (None, Some(rival)) => {
                return Err(Finding::refusal(
                    Code::SheetAmbiguous,
                    &name,
                    format!(
                        "the columns fit {} and {rival} equally well: name the file after what it holds, as in \
                         {rival}.csv, or give its kind",
                        guess.kind
                    ),
                ));
            }
        };
        self.add_table(stem, None, kind, &candidates, guess.header);
        Ok(())
    }

    /// Finds the tables of a workbook.
    pub(super) fn find_worksheets(&mut self) -> std::result::Result<(), Refusal> {
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
                        "the workbook has no sheet '{}'; its sheets are {}",
                        shown(wanted),
                        names.join(", ")
                    ),
                ));
            }
        }
        let mut found: Vec<(String, Kind, Vec<Candidate>, usize)> = Vec::new();
        for sheet in listed {
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
            if sheet.hidden && !wanted {
                self.findings.push(
                    Finding::of_file(
                        Code::SheetHidden,
                        &self.file.name,
                        format!("the sheet '{}' is hidden and not read", shown(&sheet.name)),
                    )
                    .in_sheet(Some(&sheet.name)),
                );
                self.ignored.push((sheet.name, "hidden"));
                continue;
            }
            let named = header::kind_of_name(&sheet.name).or(if wanted { self.options.kind } else { None });
            let mut candidates = Vec::new();
            let read = workbook.rows(&sheet.name, &mut |row| {
                candidates.push(Candidate::new(row.number, &row.cells));
                Ok(if candidates.len() < HEADER_ROWS {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            });
            let unreadable = match read {
                Ok(Ok(())) => None,
                Ok(Err(message)) => Some(message),
                Err(error) => Some(error.to_string()),
            };
            if let Some(message) = unreadable {
                if named.is_some() || wanted {
                    self.findings.push(
                        Finding::of_file(Code::SheetUnreadable, &self.file.name, message)
                            .in_sheet(Some(&sheet.name)),
                    );
                }
                self.ignored.push((sheet.name, "cannot be read"));
                continue;
            }
            let candidates = self.chosen(candidates);
            let guess = guess(&candidates, named);
            match (named, guess) {
                (Some(kind), Some(guess)) => found.push((sheet.name, kind, candidates, guess.header)),
                (Some(_), None) if candidates.is_empty() => self.ignored.push((sheet.name, "empty")),
                (Some(kind), None) => {
                    let finding = self.no_header(Some(&sheet.name), &candidates, Some(kind));
                    self.findings.push(finding);
                }
                // A sheet with another name is taken only when its header leaves no doubt.
                (None, Some(guess))
                    if guess.score >= 3 && guess.score * 2 >= guess.filled && guess.rival.is_none() =>
                {
                    found.push((sheet.name, guess.kind, candidates, guess.header));
                }
                (None, _) if wanted => {
                    let finding = self.no_header(Some(&sheet.name), &candidates, None);
                    self.findings.push(finding);
                }
                (None, _) => self.ignored.push((sheet.name, "holds no known kind of row")),
            }
        }
        *self.workbook.borrow_mut() = Some(workbook);
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
                        "the sheets {} all hold {kind}: rename the ones not meant, or name those to read",
                        names.join(" and ")
                    ),
                ));
            }
        }
        if found.is_empty() && !self.findings.iter().any(|finding| finding.severity == Severity::Fatal) {
            return Err(Finding::refusal(
                Code::SheetNotFound,
                &self.file.name,
                "no sheet of the workbook holds companies, people, sites or devices: name the sheet after what it holds",
            ));
        }
        for (name, kind, candidates, header) in found {
            self.add_table(name.clone(), Some(name), kind, &candidates, header);
        }
        Ok(())
    }

    /// The candidates for the header: all, or the one a person named.
    fn chosen(&self, candidates: Vec<Candidate>) -> Vec<Candidate> {
        match self.options.header_row {
            Some(row) => candidates.into_iter().filter(|candidate| candidate.row == row).collect(),
            None => candidates,
        }
    }

    fn add_table(
        &mut self,
        name: String,
        worksheet: Option<String>,
        kind: Kind,
        candidates: &[Candidate],
        header: usize,
    ) {
        let above = &candidates[..header];
        let header = &candidates[header];
        if !above.is_empty() {
            self.findings.push(
                Finding::of_file(
                    Code::SheetPreamble,
                    &self.file.name,
                    format!("the header is taken from row {}; the rows above it are not read", header.row),
                )
                .in_sheet(worksheet.as_deref())
                .in_row(header.row, None),
            );
        }
        let table =
            Table::new(name, &self.file.name, worksheet, kind, header, &self.options, &mut self.findings);
        self.tables.extend(table);
    }

    /// The finding for a table without a header.
    fn no_header(&self, sheet: Option<&str>, candidates: &[Candidate], kind: Option<Kind>) -> Finding {
        let file = &self.file.name;
        let Some(first) = candidates.first() else {
            return Finding::of_file(Code::FileEmpty, file, "there is no row at all: export the sheet again")
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
            .in_row(first.row, None);
        }
        let shows: Vec<String> =
            first.cells.iter().take(6).map(|cell| format!("'{}'", shown(cell))).collect();
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
        Finding::of_file(
            Code::HeaderMissing,
            file,
            format!(
                "no row looks like a header; row {} has {}, expected are names such as {}",
                first.row,
                shows.join(", "),
                expected.join(", ")
            ),
        )
        .in_sheet(sheet)
        .in_row(first.row, None)
    }
}

/// The first rows of a text table that are not blank, and its separator.
fn top(reader: Box<dyn Read>, delimiter: char) -> std::io::Result<(char, Vec<Candidate>)> {
    let mut records = Records::new(reader, delimiter)?;
    let mut candidates = Vec::new();
    while candidates.len() < HEADER_ROWS {
        let Some(record) = records.next()? else { break };
        if record.damage.is_none() && record.cells.iter().any(|cell| !text::is_blank(cell)) {
            let ours = guard::is_ours(&record.cells);
            let cells = record.cells.into_iter().map(|text| plain(text, ours)).collect();
            candidates.push(Candidate { row: record.row, cells });
        }
    }
    Ok((records.delimiter(), candidates))
}

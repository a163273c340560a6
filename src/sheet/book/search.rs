//! Finding the tables of a file: which separator, which row is the header, what kind of rows, which worksheets.
//!
//! Whatever leaves a doubt is refused with the words that end it; reading the rows is left to the book.

use std::io::Read;
use std::ops::ControlFlow;

use super::{Book, plain};
use crate::model::kind::Kind;
use crate::sheet::code::Code;
use crate::sheet::column::{Need, columns};
use crate::sheet::csv::{Damage, Records};
use crate::sheet::damage;
use crate::sheet::encoding;
use crate::sheet::finding::{Finding, Refusal, Severity, shown};
use crate::sheet::guard;
use crate::sheet::header;
use crate::sheet::layout;
use crate::sheet::source::Format;
use crate::sheet::table::{Candidate, Guess, HEADER_ROWS, Table, guess, is_transposed};
use crate::sheet::text;
use crate::sheet::workbook::Workbook;

/// Rows that are kept in search of a header whose row a person has named.
const FURTHEST_HEADER: usize = 10_000;

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
        let mut tried: Vec<Trial> = Vec::new();
        for delimiter in self.options.delimiter.map_or(DELIMITERS.to_vec(), |given| vec![given]) {
            let reader = encoding::reader(&self.file.path, &encoding).map_err(unreadable)?;
            let records = Records::new(reader, delimiter).map_err(unreadable)?.escaping(self.options.escape);
            if tried.iter().any(|before| before.delimiter == records.delimiter()) {
                continue;
            }
            tried.push(self.trial(records, kind).map_err(unreadable)?);
        }
        // A file of nothing but one separator is blank with that one.
        tried.sort_by_key(|trial| std::cmp::Reverse((trial.weight(), trial.is_blank(), trial.width())));
        let mut others = tried.iter();
        let Some(first) = others.next() else { return Ok(()) };
        if let (Some(best), Some(second)) = (&first.guess, others.next())
            && best.filled > 1
            && second.weight() == first.weight()
        {
            return Err(Finding::refusal(
                Code::FileDelimiterAmbiguous,
                &name,
                format!(
                    "'{}' and '{}' separate the header row equally well: name the right one with --delimiter",
                    shown(&first.delimiter.to_string()),
                    shown(&second.delimiter.to_string())
                ),
            ));
        }
        let best = first.guess.as_ref().map(|guess| (guess.kind, guess.rival, guess.header));
        if best.is_none()
            && let Some(finding) = self.damaged_header(&tried, kind)
        {
            return Err(finding);
        }
        let Some(Trial { delimiter, candidates, .. }) = tried.into_iter().next() else { return Ok(()) };
        self.file.format = Format::Text { encoding, delimiter };
        let (fitting, rival, header) =
            best.ok_or_else(|| Box::new(self.no_header(None, &candidates, kind)))?;
        let kind = match (kind, rival) {
            (Some(kind), _) => kind,
            (None, None) => fitting,
            (None, Some(rival)) => {
                return Err(Finding::refusal(
                    Code::SheetAmbiguous,
                    &name,
                    format!(
                        "the columns fit {fitting} and {rival} equally well: name the file after what it holds, as in \
                         {rival}.csv, or name its kind with --kind"
                    ),
                ));
            }
        };
        self.add_table(stem, None, kind, &candidates, header);
        Ok(())
    }

    /// The first rows of a text table as one separator cuts them, and what they say.
    fn trial(&self, mut records: Records<Box<dyn Read>>, kind: Option<Kind>) -> std::io::Result<Trial> {
        let mut candidates = Vec::new();
        let mut damaged = Vec::new();
        while self.wants_more(candidates.len(), candidates.last()) && damaged.len() < HEADER_ROWS {
            let Some(record) = records.next()? else { break };
            if record.cells.iter().all(|cell| text::is_blank(cell)) {
                continue;
            }
            let ours = guard::is_ours(&record.cells);
            let cells = record.cells.into_iter().map(|text| plain(text, ours)).collect();
            let candidate = Candidate { row: record.row, line: Some(record.line), cells };
            match record.damage {
                // A header with a letter that does not fit is a header all the same; the letter is found in its name.
                None | Some(Damage::Encoding { .. }) => candidates.push(candidate),
                Some(damage @ (Damage::Stray { .. } | Damage::Unterminated { .. } | Damage::TooLong)) => {
                    damaged.push((candidate, damage));
                }
            }
        }
        let candidates = self.chosen(candidates);
        let guess = guess(&candidates, kind, &self.options.rename);
        Ok(Trial { delimiter: records.delimiter(), candidates, damaged, guess })
    }

    /// Whether the header may stand below the rows looked at so far.
    fn wants_more(&self, rows: usize, last: Option<&Candidate>) -> bool {
        match self.options.header_row {
            Some(row) => last.is_none_or(|last| last.row < row) && rows < FURTHEST_HEADER,
            None => rows < HEADER_ROWS,
        }
    }

    /// The refusal of a table whose header is there but cannot be cut into cells.
    fn damaged_header(&self, tried: &[Trial], kind: Option<Kind>) -> Option<Refusal> {
        let all = tried.iter().flat_map(|trial| &trial.damaged).map(|(candidate, damage)| {
            let found = guess(std::slice::from_ref(candidate), kind, &self.options.rename);
            (found.map_or(0, |guess| guess.score), candidate, damage)
        });
        let (score, candidate, damage) = all.max_by_key(|(score, ..)| *score)?;
        let (code, message, cell) = damage::told(damage).into_iter().next().filter(|_| score > 0)?;
        let mut finding = Finding::refusal(code, &self.file.name, format!("in the header, {message}"));
        *finding = finding.as_severity(Severity::Fatal).in_row(candidate.row, candidate.line);
        if let Some(cell) = cell {
            *finding = finding.in_column(cell);
        }
        Some(finding)
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
                Ok(if self.wants_more(candidates.len(), candidates.last()) {
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
            let guess = guess(&candidates, named, &self.options.rename);
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
                    format!("the header is taken from row {}; the rows above it are not read", header.row),
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
    fn no_header(&self, sheet: Option<&str>, candidates: &[Candidate], kind: Option<Kind>) -> Finding {
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
        Finding::of_file(
            Code::HeaderMissing,
            file,
            format!(
                "no row looks like a header; row {} has {}, expected are names such as {}: put the column names into the \
                 first row, or say what your own names mean with --map",
                first.row,
                header_names(first),
                expected.join(", ")
            ),
        )
        .in_sheet(sheet)
        .in_row(first.row, first.line)
    }
}

/// What a row has, as a message shows it.
fn header_names(row: &Candidate) -> String {
    let filled = row.cells.iter().filter(|cell| !text::is_blank(cell));
    let shows: Vec<String> = filled.take(6).map(|cell| format!("'{}'", shown(cell))).collect();
    shows.join(", ")
}

/// The first rows of a text table as one separator cuts them.
struct Trial {
    delimiter: char,
    candidates: Vec<Candidate>,
    /// Rows whose quotation marks are wrong.
    damaged: Vec<(Candidate, Damage)>,
    guess: Option<Guess>,
}

impl Trial {
    /// How well the separator fits: names of columns that are known, then cells of the header.
    fn weight(&self) -> (usize, usize) {
        self.guess.as_ref().map_or((0, 0), |guess| (guess.score, guess.filled))
    }

    /// Whether nothing stands between the separators.
    fn is_blank(&self) -> bool {
        self.candidates.is_empty() && self.damaged.is_empty()
    }

    /// How many cells the first row has.
    fn width(&self) -> usize {
        self.candidates.first().map_or(0, |first| first.cells.len())
    }
}

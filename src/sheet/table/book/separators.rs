//! Finding the one table of a text file: which separator, which row is the header, what kind of rows.
//!
//! What headers of text tables and worksheets have in common is in `header_row`.

use std::io::Read;

use smol_str::SmolStr;

use super::{Book, plain};
use crate::model::kind::Kind;
use crate::sheet::file::csv::{Damage, Records};
use crate::sheet::file::encoding;
use crate::sheet::file::preflight::COLUMN_LIMIT;
use crate::sheet::file::source::Format;
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal, Severity, shown};
use crate::sheet::formula_guard;
use crate::sheet::row::csv_errors;
use crate::sheet::table::header;
use crate::sheet::table::{HEADER_ROWS, HeaderCandidate, HeaderGuess};
use crate::sheet::text;

/// Below so many rows, blank ones included, no header is sought.
const LAST_LOOKED_AT: u32 = 20_000;

/// What may stand between cells.
pub(super) const DELIMITERS: [char; 4] = [',', ';', '\t', '|'];

/// The first rows of a text table as one separator cuts them.
struct Trial {
    delimiter: char,
    candidates: Vec<HeaderCandidate>,
    /// Rows whose quotation marks are wrong.
    damaged: Vec<(HeaderCandidate, Damage)>,
    guess: Option<HeaderGuess>,
    /// Rows with more columns than a table may have.
    wide: Vec<u32>,
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

    /// The row that has too many columns, if it is the header or all there is in its place.
    fn too_wide(&self) -> Option<&HeaderCandidate> {
        let header = self.candidates.get(self.guess.as_ref().map_or(0, |guess| guess.header))?;
        self.wide.contains(&header.row).then_some(header)
    }

    /// How many cells the first row has.
    fn width(&self) -> usize {
        self.candidates.first().map_or(0, |first| first.cells.len())
    }
}

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
        let kind = self.options.kind.or_else(|| header::kind_of_name(&stem));
        let (tried, is_named) = self.trials(kind).map_err(|error| {
            Finding::refusal(Code::FileUnreadable, &name, format!("reading failed: {error}"))
        })?;
        let Some(first) = tried.first() else { return Ok(()) };
        self.refuse_doubtful(first, tried.get(1))?;
        let best = first.guess.as_ref().map(|guess| (guess.kind, guess.rival, guess.header));
        if best.is_none()
            && let Some(finding) = self.damaged_header(&tried, kind)
        {
            return Err(finding);
        }
        let Some(trial) = tried.into_iter().next() else { return Ok(()) };
        let Trial { delimiter, mut candidates, damaged, .. } = trial;
        self.file.format = Format::Text { encoding, delimiter };
        let Some((fitting, rival, mut header)) = best else {
            return Err(self.no_header_of_text(&candidates, &damaged, (kind, is_named)));
        };
        if let Some(finding) = self.open_header(&candidates[header], delimiter) {
            return Err(finding);
        }
        // Whatever stands above the header is reported as passed over, also what cannot be cut into cells.
        let row = candidates[header].row;
        let above: Vec<HeaderCandidate> =
            damaged.into_iter().map(|(title, _)| title).filter(|title| title.row < row).collect();
        header += above.len();
        candidates.splice(0..0, above);
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

    /// What each separator makes of the first rows, the likeliest first; and whether a first line `sep=` names one.
    fn trials(&self, kind: Option<Kind>) -> std::io::Result<(Vec<Trial>, bool)> {
        let mut tried: Vec<Trial> = Vec::new();
        let mut is_named = false;
        let Format::Text { encoding, .. } = &self.file.format else { return Ok((tried, is_named)) };
        for delimiter in self.options.delimiter.map_or(DELIMITERS.to_vec(), |given| vec![given]) {
            let reader = encoding::reader(&self.file.path, encoding)?;
            let records = Records::new(reader, delimiter)?.escaping(self.options.escape);
            if tried.iter().any(|before| before.delimiter == records.delimiter()) {
                continue;
            }
            is_named |= records.delimiter() != delimiter;
            tried.push(self.trial(records, kind)?);
        }
        // A file of nothing but one separator is blank with that one.
        tried.sort_by_key(|trial| std::cmp::Reverse((trial.weight(), trial.is_blank(), trial.width())));
        Ok((tried, is_named))
    }

    /// Refuses a text table of which the likeliest separator is not the only one, or gives too many columns.
    fn refuse_doubtful(&self, first: &Trial, second: Option<&Trial>) -> std::result::Result<(), Refusal> {
        let name = &self.file.name;
        if let (Some(best), Some(second)) = (&first.guess, second)
            && best.filled > 1
            && second.weight() == first.weight()
        {
            return Err(Finding::refusal(
                Code::FileDelimiterAmbiguous,
                name,
                format!(
                    "'{}' and '{}' separate the header row equally well: name the right one with --delimiter",
                    shown(&first.delimiter.to_string()),
                    shown(&second.delimiter.to_string())
                ),
            ));
        }
        if let Some(header) = first.too_wide() {
            let message = format!(
                "row {} has more than {COLUMN_LIMIT} columns, and no more are read: delete the columns that hold nothing to \
                 import, or name the character between the columns with --delimiter",
                header.row
            );
            let finding = Finding::of_file(Code::FileTooLarge, name, message);
            return Err(Box::new(finding.in_row(header.row, header.line)));
        }
        Ok(())
    }

    /// The first rows of a text table as one separator cuts them, and what they say.
    fn trial(
        &self,
        mut records: Records<Box<dyn Read + Send>>,
        kind: Option<Kind>,
    ) -> std::io::Result<Trial> {
        let mut candidates = Vec::new();
        let mut damaged = Vec::new();
        let mut wide = Vec::new();
        let mut looked = 0;
        let last = self.options.header_row.map_or(LAST_LOOKED_AT, |row| row.max(LAST_LOOKED_AT));
        while self.wants_more(looked, candidates.last().map(|last: &HeaderCandidate| last.row))
            && damaged.len() < HEADER_ROWS
        {
            let Some(record) = records.next()?.filter(|record| record.row <= last) else { break };
            if record.cells.iter().all(|cell| text::is_blank(cell)) {
                continue;
            }
            if record.cells.iter().skip(COLUMN_LIMIT).any(|cell| !text::is_blank(cell)) {
                wide.push(record.row);
            }
            let ours = formula_guard::is_ours(&record.cells);
            let cells: Vec<SmolStr> = record.cells.into_iter().map(|text| plain(text, ours)).collect();
            let candidate =
                HeaderCandidate::new(record.row, Some(record.line), cells.iter().map(SmolStr::as_str));
            match record.damage {
                // A header with a letter that does not fit is a header anyway; the letter is found in its name.
                None | Some(Damage::Encoding { .. }) => {
                    self.consider(candidate, &mut candidates);
                    looked += 1;
                }
                Some(damage @ (Damage::Stray { .. } | Damage::Unterminated { .. } | Damage::TooLong)) => {
                    damaged.push((candidate, damage));
                }
            }
        }
        let candidates = self.chosen(candidates);
        // One name below the first row, of a kind nobody has named, is a value that happens to be one.
        let guess = self
            .guess(&candidates, kind)
            .filter(|guess| kind.is_some() || guess.score > 1 || guess.header == 0);
        Ok(Trial { delimiter: records.delimiter(), candidates, damaged, guess, wide })
    }

    /// The refusal of a table without a header, which says of rows that cannot be cut into cells that they cannot.
    fn no_header_of_text(
        &mut self,
        candidates: &[HeaderCandidate],
        damaged: &[(HeaderCandidate, Damage)],
        (kind, is_named): (Option<Kind>, bool),
    ) -> Refusal {
        let is_meant = |row: u32| self.options.header_row.is_none_or(|named| named == row);
        let first = damaged.iter().find(|(candidate, _)| is_meant(candidate.row));
        let told = first.and_then(|(candidate, damage)| {
            let (code, message, cell) = csv_errors::told(damage).into_iter().next()?;
            let finding = Finding::of_file(code, &self.file.name, message).as_severity(Severity::Fatal);
            let finding = finding.in_row(candidate.row, candidate.line);
            Some(match cell {
                Some(cell) => finding.in_column(cell),
                None => finding,
            })
        });
        match told {
            Some(told) if candidates.is_empty() => return Box::new(told),
            told => self.findings.extend(told),
        }
        let mut finding = self.no_header(None, candidates, kind);
        if finding.code == Code::HeaderMissing && self.options.header_row.is_none() {
            finding.message.push_str(if is_named {
                ". The line sep= at the top names the field separator: remove it if it is wrong"
            } else {
                ". If another character separates the cells, name it with --delimiter"
            });
        }
        Box::new(finding)
    }

    /// The refusal of a header with a quotation mark left open, so that rows are a part of it.
    fn open_header(&self, header: &HeaderCandidate, delimiter: char) -> Option<Refusal> {
        let least = (header.cells.len() / 2).max(2);
        let is_row = |line: &str| line.matches(delimiter).count() >= least;
        let cell = header.cells.iter().position(|cell| cell.lines().skip(1).any(is_row))?;
        let message = "in the header, a quotation mark opens here and is not closed at the end of its cell, so the \
            rows below would be part of the cell: close the mark in this row";
        let finding = Finding::refusal(Code::RowQuoteUnterminated, &self.file.name, message);
        Some(Box::new(finding.as_severity(Severity::Fatal).in_row(header.row, header.line).in_column(cell)))
    }

    /// The refusal of a table whose header is there but cannot be cut into cells.
    fn damaged_header(&self, tried: &[Trial], kind: Option<Kind>) -> Option<Refusal> {
        let all = tried.iter().flat_map(|trial| &trial.damaged).map(|(candidate, damage)| {
            let found = self.guess(std::slice::from_ref(candidate), kind);
            (found.map_or(0, |guess| guess.score), candidate, damage)
        });
        let (score, candidate, damage) = all.max_by_key(|(score, ..)| *score)?;
        let (code, message, cell) = csv_errors::told(damage).into_iter().next().filter(|_| score > 0)?;
        let mut finding = Finding::refusal(code, &self.file.name, format!("in the header, {message}"));
        *finding = finding.as_severity(Severity::Fatal).in_row(candidate.row, candidate.line);
        if let Some(cell) = cell {
            *finding = finding.in_column(cell);
        }
        Some(finding)
    }
}

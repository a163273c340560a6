//! Finding the tables of a workbook: which worksheets, and what kind of rows each holds.
//!
//! Whatever leaves a doubt is refused with the words that end it. Which row of a worksheet is the header is left to
//! `header_row`, the one table of a text file to `separators`; reading the rows is left to the book.

use std::ops::ControlFlow;

use super::{Book, worksheet_notes};
use crate::model::kind::Kind;
use crate::sheet::address::letters;
use crate::sheet::file::preflight::{COLUMN_LIMIT, Listed, WorksheetSurvey};
use crate::sheet::file::workbook::{SheetRow, Workbook};
use crate::sheet::finding::code::Code;
use crate::sheet::finding::{Finding, Refusal, Severity, shown};
use crate::sheet::table::{HeaderCandidate, guess, header, header_name};
use crate::sheet::{formula_guard, template, text};

/// A worksheet that holds rows of a kind.
struct FoundSheet {
    name: String,
    kind: Kind,
    /// The rows that may be its header, and which of them is.
    candidates: Vec<HeaderCandidate>,
    header: usize,
}

/// The first rows of a worksheet: what may be its header, and what was seen in it, or why it cannot be read.
struct SheetOpening {
    candidates: Vec<HeaderCandidate>,
    survey: std::result::Result<WorksheetSurvey, String>,
}

/// The row, if it is a header with a name beyond the columns that are read.
fn too_wide(header: &HeaderCandidate) -> Option<&HeaderCandidate> {
    header.cells.get(COLUMN_LIMIT).filter(|name| !text::is_blank(name)).map(|_| header)
}

/// Why a worksheet is not read that nobody sees.
const HIDDEN: &str = "hidden";

/// What can be done besides about a damaged sheet of which nobody knows whether it holds rows.
const LEAVE_OUT: &str = ", or, if it holds none of the rows, name the sheets to read with --worksheet";

impl Book {
    /// Finds the tables of a workbook. `meant` is the only worksheet with rows, once that is known, when the kind of its
    /// rows was said: it can be no other one that was meant.
    pub(super) fn find_worksheets(&mut self, meant: Option<&str>) -> std::result::Result<(), Refusal> {
        let before = (self.findings.len(), self.ignored.len());
        let mut workbook = Workbook::open(&self.file.path, &self.file.name)?;
        let listed = workbook.listed().to_vec();
        let wanted = self.wanted(&listed)?;
        let mut found = Vec::new();
        let mut with_rows = WithRows::meaning(meant);
        let with_cells = || listed.iter().enumerate().filter(|(_, sheet)| sheet.has_cells);
        let is_wanted = |sheet: &Listed| wanted.contains(&sheet.name);
        let looked_into =
            with_cells().filter(|(_, sheet)| self.reason_against(sheet, is_wanted(sheet)).is_none());
        workbook.survey_ahead(&looked_into.map(|(place, _)| place).collect::<Vec<_>>());
        for (place, sheet) in with_cells() {
            let is_wanted = is_wanted(sheet);
            match self.reason_against(sheet, is_wanted) {
                Some(why) => {
                    if why == HIDDEN {
                        self.tell_hidden(sheet);
                    }
                    self.ignored.push((sheet.name.clone(), why));
                }
                None => {
                    found.extend(self.look_into(&mut workbook, place, (sheet, is_wanted), &mut with_rows)?)
                }
            }
        }
        if let (None, Some(_), Some(only)) = (meant, self.options.kind, with_rows.only()) {
            self.findings.truncate(before.0);
            self.ignored.truncate(before.1);
            return self.find_worksheets(Some(only));
        }
        let sources = workbook.sources();
        *self.workbook() = Some(workbook);
        self.refuse_rivals(&found)?;
        if found.is_empty() && !self.findings.iter().any(|finding| finding.severity == Severity::Fatal) {
            return Err(with_rows.refusal(&self.file.name, &self.ignored, self.options.header_row));
        }
        for FoundSheet { name, kind, candidates, header } in found {
            self.add_table(name.clone(), Some(name.clone()), kind, &candidates, header);
            if let (Some(table), Some((_, survey))) = (self.tables.last(), self.worksheets.get(&name))
                && table.worksheet.as_ref() == Some(&name)
            {
                worksheet_notes::tell(table, survey, &mut self.findings);
            }
        }
        worksheet_notes::tell_sources(&self.tables, &self.worksheets, sources, &mut self.findings);
        Ok(())
    }

    /// The worksheets that were asked for by their names: as they stand, without regard to capitals where none is written
    /// so, and as headers are compared where there is none at all.
    fn wanted(&self, listed: &[Listed]) -> std::result::Result<Vec<String>, Refusal> {
        let mut found = Vec::new();
        for wanted in &self.options.sheets {
            let ways: [&dyn Fn(&str) -> bool; 3] = [
                &|name| name.trim() == wanted.trim(),
                &|name| name.trim().to_lowercase() == wanted.trim().to_lowercase(),
                &|name| header_name::fold(name) == header_name::fold(wanted),
            ];
            let called = |way: &&dyn Fn(&str) -> bool| -> Vec<&str> {
                listed.iter().map(|sheet| &*sheet.name).filter(|name| way(name)).collect()
            };
            let names = ways.iter().map(called).find(|names| !names.is_empty()).unwrap_or_default();
            let told = |names: &[&str]| -> String {
                names.iter().map(|name| format!("'{}'", shown(name))).collect::<Vec<_>>().join(", ")
            };
            let (code, message) = match names.as_slice() {
                [one] => {
                    found.push((*one).to_owned());
                    continue;
                }
                [] => {
                    let all: Vec<&str> = listed.iter().map(|sheet| &*sheet.name).collect();
                    let has = told(&all);
                    let what = format!("has no sheet '{}': name one of those it has, {has}", shown(wanted));
                    (Code::SheetNotFound, what)
                }
                several => {
                    let has = told(several);
                    let what = format!(
                        "has no sheet '{}', and each of {has} may be meant: name the sheet exactly",
                        shown(wanted)
                    );
                    (Code::SheetAmbiguous, what)
                }
            };
            return Err(Finding::refusal(code, &self.file.name, format!("the workbook {message}")));
        }
        Ok(found)
    }

    /// Why a worksheet is not even looked into, if it is not.
    fn reason_against(&self, sheet: &Listed, is_wanted: bool) -> Option<&'static str> {
        if is_wanted {
            return None;
        }
        if !self.options.sheets.is_empty() {
            return Some("not asked for");
        }
        if sheet.hidden && sheet.name == template::LISTS {
            // The lists of our own templates are nobody's rows.
            return Some("lists of the template");
        }
        (sheet.hidden && !self.options.include_hidden).then_some(HIDDEN)
    }

    /// Reports a worksheet that is hidden.
    fn tell_hidden(&mut self, sheet: &Listed) {
        let message = format!(
            "the sheet '{}' is hidden and not read: to import it, show it or choose --include-hidden",
            shown(&sheet.name)
        );
        let finding = Finding::of_file(Code::SheetHidden, &self.file.name, message);
        self.findings.push(finding.in_sheet(Some(&sheet.name)));
    }

    /// Looks into a worksheet for rows of a kind; where there are none, that is reported or noted.
    fn look_into(
        &mut self,
        workbook: &mut Workbook,
        place: usize,
        (sheet, is_wanted): (&Listed, bool),
        with_rows: &mut WithRows,
    ) -> std::result::Result<Option<FoundSheet>, Refusal> {
        let wanted = is_wanted || with_rows.is_meant(&sheet.name);
        let named = header::kind_of_name(&sheet.name).or(if wanted { self.options.kind } else { None });
        let SheetOpening { candidates, survey } = self.opening(workbook, place, sheet)?;
        match survey {
            Ok(survey) => self.worksheets.keep(&sheet.name, place, survey),
            Err(message) => {
                let has_known = guess(&candidates, None, &self.options.rename, false);
                let is_ours = named.is_some() || wanted || has_known.is_some_and(|guess| guess.is_certain());
                // What a damaged sheet with another name holds may be a remark or a thousand rows: only a person knows.
                let left_out = if is_ours { "" } else { LEAVE_OUT };
                let message = format!("{message}{left_out}");
                let finding = Finding::of_file(Code::SheetUnreadable, &self.file.name, message);
                self.findings.push(finding.in_sheet(Some(&sheet.name)));
                self.ignored.push((sheet.name.clone(), "cannot be read"));
                return Ok(None);
            }
        }
        with_rows.add(&sheet.name, named.is_some(), &candidates);
        let candidates = self.chosen(candidates);
        let guessed = self.guess(&candidates, named);
        if let Some(header) = guessed.as_ref().and_then(|guess| too_wide(&candidates[guess.header])) {
            let message = format!(
                "row {} has a column name beyond column {}, and no more columns are read: delete the columns that hold \
                 nothing to import",
                header.row,
                letters(COLUMN_LIMIT - 1)
            );
            let finding = Finding::refusal(Code::FileTooLarge, &self.file.name, message);
            return Err(Box::new(finding.in_sheet(Some(&sheet.name)).in_row(header.row, None)));
        }
        let ignored = match (named, guessed) {
            (Some(kind), Some(guess)) => {
                return Ok(Some(FoundSheet {
                    name: sheet.name.clone(),
                    kind,
                    candidates,
                    header: guess.header,
                }));
            }
            // A sheet with another name is taken only when its header leaves no doubt.
            (None, Some(guess)) if guess.is_certain() => match guess.rival {
                None => {
                    let (name, kind, header) = (sheet.name.clone(), guess.kind, guess.header);
                    return Ok(Some(FoundSheet { name, kind, candidates, header }));
                }
                Some(rival) => {
                    let finding = self.either_kind(&sheet.name, guess.kind, rival);
                    self.findings.push(finding);
                    "fits two kinds of row equally well"
                }
            },
            (Some(_), None) if candidates.is_empty() => "empty",
            (None, _) if !wanted => "holds no known kind of row",
            (kind, _) => {
                let finding = self.no_header(Some(&sheet.name), &candidates, kind);
                self.findings.push(finding);
                return Ok(None);
            }
        };
        self.ignored.push((sheet.name.clone(), ignored));
        Ok(None)
    }

    /// Reads the first rows of a worksheet, in search of its header.
    fn opening(
        &self,
        workbook: &mut Workbook,
        place: usize,
        sheet: &Listed,
    ) -> std::result::Result<SheetOpening, Refusal> {
        let mut candidates = Vec::new();
        let survey = match workbook.survey(place) {
            Ok(survey) => survey,
            Err(fault) if fault.code == Code::SheetUnreadable => {
                return Ok(SheetOpening { candidates, survey: Err(fault.message) });
            }
            Err(fault) => {
                let refusal = fault.refusal(&self.file.name).in_sheet(Some(&sheet.name));
                return Err(Box::new(refusal));
            }
        };
        let mut consider = |row: &SheetRow| {
            let cells = row.cells.iter().map(|cell| cell.text.as_str());
            self.consider(HeaderCandidate::new(row.number, None, cells), &mut candidates);
            candidates.last().map(|last| last.row)
        };
        let mut looked = 0;
        let read = workbook.rows(place, &survey, None, &mut |row| {
            let last = consider(&row);
            looked += 1;
            Ok(if self.wants_more(looked, last) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        let why = match read {
            Ok(Ok(())) => return Ok(SheetOpening { candidates, survey: Ok(survey) }),
            Ok(Err(broken)) => {
                // Names of columns tell what the sheet was even where the row below them is damaged.
                if let Some(row) = &broken.begun {
                    consider(row);
                }
                broken.why
            }
            Err(error) => error.to_string(),
        };
        Ok(SheetOpening { candidates, survey: Err(why) })
    }

    /// Refuses worksheets that hold rows of one kind where nobody has said which are meant.
    fn refuse_rivals(&self, found: &[FoundSheet]) -> std::result::Result<(), Refusal> {
        let mut rivals = Vec::new();
        for kind in Kind::SHEETS {
            let of_kind: Vec<&FoundSheet> = found.iter().filter(|found| found.kind == kind).collect();
            // Our own reports keep the sheets apart that several files brought together.
            let ours =
                of_kind.iter().all(|found| formula_guard::is_ours(&found.candidates[found.header].cells));
            if of_kind.len() > 1 && self.options.sheets.is_empty() && !ours {
                let names: Vec<String> =
                    of_kind.iter().map(|found| format!("'{}'", shown(&found.name))).collect();
                rivals.push(format!("the sheets {} all hold {kind}", names.join(" and ")));
            }
        }
        if !rivals.is_empty() {
            let message = format!(
                "{}: rename the wrong ones, or name with --worksheet every sheet to read, those that hold other rows among \
                 them",
                rivals.join(", and ")
            );
            return Err(Finding::refusal(Code::SheetAmbiguous, &self.file.name, message));
        }
        Ok(())
    }

    /// The finding for a worksheet whose rows may be of either kind.
    fn either_kind(&self, sheet: &str, kind: Kind, rival: Kind) -> Finding {
        let told = shown(sheet);
        Finding::of_file(
            Code::SheetAmbiguous,
            &self.file.name,
            format!(
                "the columns of the sheet '{told}' fit {kind} and {rival} equally well: rename the sheet after what \
                 it holds, as in '{told} {rival}', or name it alone with --worksheet and what it holds with --kind; to \
                 ignore it, name only the others with --worksheet"
            ),
        )
        .in_sheet(Some(sheet))
    }
}

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
    pub(super) fn add(&mut self, name: &str, is_named: bool, rows: &[HeaderCandidate]) {
        match (rows.is_empty(), is_named) {
            (true, _) => {}
            (false, true) => self.named += 1,
            (false, false) => {
                let mut cells = rows.iter().flat_map(|row| &row.cells);
                if cells.any(|cell| header_name::is_result(cell)) {
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

    /// The refusal of a workbook in which no worksheet holds a known kind of row; `header_row` is the row that was named.
    pub(super) fn refusal(
        &self,
        file: &str,
        ignored: &[(String, &'static str)],
        header_row: Option<u32>,
    ) -> Refusal {
        let Some(first) = self.nameless.first().map(|name| shown(name)) else {
            let is_hidden = ignored.iter().any(|(_, why)| *why == HIDDEN);
            if let Some(row) = header_row.filter(|_| !is_hidden) {
                let message = format!(
                    "row {row} of every sheet is blank: name the row of the column names with --header-row"
                );
                return Finding::refusal(Code::HeaderMissing, file, message);
            }
            let (code, message) = match is_hidden {
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
                 {}: rename the one with the rows after what they are, as in '{first} devices', or name it alone with \
                 --worksheet and what it holds with --kind, and say with --map what its own column names mean",
                names.join(", ")
            ),
        )
    }
}

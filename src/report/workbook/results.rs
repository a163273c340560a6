//! `results.xlsx` and `fix.xlsx`: the sheets of the input with the result columns, streamed row by row. In `fix.xlsx` what
//! is wrong and what to enter come first. The cells to blame are coloured and carry a note.

use std::collections::VecDeque;

use crate::error::Result;
use crate::model::state::JobState;
use crate::report::atomic_write::FileChange;
use crate::report::figures::Figures;
use crate::report::format::{FormatWriter, ReportFacts};
use crate::report::layout::{Layout, RESULT_COLUMNS, must_be_corrected};
use crate::report::names::{FIX, Names, RESULTS, naming_kind};
use crate::report::result_line::ResultLine;
use crate::sheet::template;

use super::annotated_sheet::{AnnotatedCell, AnnotatedSheet, Frame, ResultColumns, RowResult, Value};
use super::styles::{Mark, headed};
use super::summary_sheet::{self, SummarySheet};
use super::to_do_sheet::{self, ToDo};
use super::{WorkbookFile, sized_note};

/// All of them behind the columns of the input.
const BEHIND: ResultColumns = ResultColumns {
    names: &RESULT_COLUMNS,
    left: &[],
    right: &[
        ("result_status", 13.0),
        ("result_id", 38.0),
        ("result_code", 22.0),
        ("result_message", 60.0),
        ("result_column", 20.0),
        ("result_advice", 60.0),
        ("result_attempts", 16.0),
        ("result_finished_at", 22.0),
        ("result_source", 36.0),
    ],
    line_chars: 55,
};

/// The status, what is wrong and what to do first; the frozen part leaves room for the rest of a screen.
const REASON_FIRST: ResultColumns = ResultColumns {
    names: &RESULT_COLUMNS,
    left: &[("result_status", 13.0), ("result_message", 42.0), ("result_advice", 42.0)],
    right: &[
        ("result_column", 20.0),
        ("result_id", 38.0),
        ("result_code", 22.0),
        ("result_attempts", 16.0),
        ("result_finished_at", 22.0),
        ("result_source", 36.0),
    ],
    line_chars: 38,
};

/// Where the advice is among the result columns.
const ADVICE: usize = 5;

/// A workbook of results under way.
pub(in crate::report) struct ResultsWorkbook<'a> {
    facts: &'a ReportFacts<'a>,
    file: WorkbookFile<'a>,
    columns: &'static ResultColumns,
    names: Names,
    /// The names of the worksheets of each sheet that follows; more than one where a sheet has more rows than a worksheet.
    worksheets: VecDeque<VecDeque<String>>,
    /// The names of the worksheets in which the sheet under way goes on.
    further: VecDeque<String>,
    sheet: Option<(AnnotatedSheet, Frame)>,
    /// What the rows of `fix.xlsx` have in common, for its first sheet.
    to_do: Option<ToDo>,
}

impl<'a> ResultsWorkbook<'a> {
    /// Begins `results.xlsx` with its summary.
    pub(in crate::report) fn of_all(facts: &'a ReportFacts<'a>) -> Result<Self> {
        let mut names = Names::without(&[summary_sheet::NAME]);
        let sheets = facts.figures.layouts.iter().map(|layout| (layout.name.clone(), layout.count.rows));
        let worksheets = worksheets(&mut names, &sheets.collect::<Vec<_>>(), facts.last_row);
        let mut this = Self::new(facts, RESULTS, &BEHIND, (names, worksheets.clone()))?;
        let summary = SummarySheet { facts, worksheets: &worksheets };
        this.file.fill_first(|sheet, styles| {
            summary.fill(sheet, styles)?;
            headed(sheet, &facts.figures.whose);
            Ok(())
        })?;
        Ok(this)
    }

    /// Begins `fix.xlsx`; its first sheet is filled when all rows have gone by.
    pub(in crate::report) fn to_correct(facts: &'a ReportFacts<'a>) -> Result<Self> {
        let mut names = Names::without(&[to_do_sheet::NAME]);
        let sheets = facts.figures.layouts.iter();
        let sheets = sheets.map(|layout| (naming_kind(&layout.name, layout.kind), layout.count.to_fix));
        let worksheets = worksheets(&mut names, &sheets.collect::<Vec<_>>(), facts.last_row);
        let this = Self::new(facts, FIX, &REASON_FIRST, (names, worksheets))?;
        Ok(Self { to_do: Some(ToDo::default()), ..this })
    }

    fn new(
        facts: &'a ReportFacts<'a>,
        name: &'static str,
        columns: &'static ResultColumns,
        (names, worksheets): (Names, VecDeque<VecDeque<String>>),
    ) -> Result<Self> {
        let Figures { info, whose, .. } = facts.figures;
        let title = format!("fleetload, import {}; {}", info.import, whose.line());
        // The moment of the import: the only one that stays the same.
        let at = info.at.to_string();
        let mut file = WorkbookFile::begin(facts.folder, name, &title, at.trim_end_matches('Z'))?;
        file.add_own_sheet()?;
        let further = VecDeque::new();
        Ok(Self { facts, file, columns, names, worksheets, further, sheet: None, to_do: None })
    }

    /// Begins a worksheet for the rows of a sheet, or for those of them that the one before has no room for.
    fn begin_worksheet(&mut self, layout: &Layout) -> Result<()> {
        self.end()?;
        // Rows of a run that is under way fail while they are written.
        let name = self.further.pop_front().unwrap_or_else(|| self.names.worksheet(&layout.name));
        let inputs = layout.headers.len();
        let mut sheet = AnnotatedSheet::begin(&mut self.file, self.columns, inputs)?;
        let header: Vec<AnnotatedCell<'_>> = layout
            .headers
            .iter()
            .map(|header| AnnotatedCell { value: Value::Text(header), mark: Mark::None, note: None })
            .collect();
        sheet.header(&mut self.file, 0, &header)?;
        let (columns, whose, is_fix) = (self.columns, &self.facts.figures.whose, self.to_do.is_some());
        let rows = layout.count.to_fix.min(u64::from(self.facts.last_row - 1));
        self.file.on_last(|sheet, _| {
            headed(sheet, whose);
            if let (Some(banner), false) = (whose.banner(), is_fix) {
                sheet.insert_note(0, columns.of_input(inputs), &sized_note(banner))?;
            }
            let Some(rows) = u32::try_from(rows).ok().filter(|rows| is_fix && *rows > 0) else {
                return Ok(());
            };
            for position in 0..inputs {
                let column = columns.of_input(position);
                if let Some(form) = layout.form(position)
                    && let Some(choices) = template::choices(form)?
                {
                    sheet.add_data_validation(1, column, rows, column, &choices)?;
                }
            }
            Ok(())
        })?;
        let (frozen, repeated) = match columns.of_input(0) {
            0 => (layout.identifying(), 0),
            own => (own, own - 1),
        };
        let widths = (0..inputs).map(|position| layout.width(position)).collect();
        self.sheet = Some((sheet, Frame { name, header: 0, frozen, repeated, widths }));
        Ok(())
    }

    /// Ends the worksheet under way, if there is one.
    fn end(&mut self) -> Result<()> {
        match self.sheet.take() {
            Some((sheet, frame)) => sheet.finish(&mut self.file, &frame),
            None => Ok(()),
        }
    }
}

impl FormatWriter for ResultsWorkbook<'_> {
    fn begin(&mut self, layout: &Layout) -> Result<()> {
        self.end()?;
        self.further = self.worksheets.pop_front().unwrap_or_default();
        if self.to_do.is_some() && layout.count.to_fix == 0 {
            return Ok(());
        }
        self.begin_worksheet(layout)
    }

    fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
        // A row refused since the sheet was looked through belongs to the next report.
        if self.to_do.is_some() && !must_be_corrected(&line.row) {
            return Ok(());
        }
        if self.sheet.as_ref().is_some_and(|(sheet, _)| sheet.next() == self.facts.last_row) {
            self.begin_worksheet(layout)?;
        }
        let Some((sheet, frame)) = &mut self.sheet else { return Ok(()) };
        let row = sheet.next();
        let comes_along = self.to_do.is_some() && line.row.state == JobState::Skipped;
        let texts: Vec<_> = layout.cells(&line.row).collect();
        let cells: Vec<AnnotatedCell<'_>> = texts
            .iter()
            .enumerate()
            .map(|(position, text)| {
                let is_blamed = line.blames.iter().any(|blame| blame.positions.contains(&position));
                AnnotatedCell {
                    value: if text.is_empty() { Value::Blank } else { Value::Text(text) },
                    mark: match is_blamed {
                        true => Mark::Wrong,
                        false if comes_along => Mark::Along,
                        false => Mark::None,
                    },
                    note: is_blamed.then(|| note(line, position)),
                }
            })
            .collect();
        let mut results = line.results();
        if let Some(to_do) = &mut self.to_do {
            results[ADVICE] = advice_here(line, self.columns, row);
            to_do.add(frame.name.clone(), row, line);
        }
        let result = RowResult { colour: line.row.state, values: &results, note: None };
        sheet.row(&mut self.file, row, &cells, Some(&result))
    }

    fn finish(mut self: Box<Self>, changes: &mut Vec<FileChange>) -> Result<()> {
        self.end()?;
        let ReportFacts { figures, advisor, .. } = *self.facts;
        if let Some(to_do) = &self.to_do {
            self.file.fill_first(|sheet, styles| {
                to_do.fill(sheet, styles, &figures.whose, (advisor, figures.info.import))?;
                headed(sheet, &figures.whose);
                Ok(())
            })?;
        }
        changes.push(FileChange::Put(self.file.finish()?));
        Ok(())
    }
}

/// The names of the worksheets of sheets, each with its name and how many rows it has. The first has the name of the sheet;
/// those in which its rows go on, where a worksheet ends at `last_row`, have a number as well.
fn worksheets(names: &mut Names, sheets: &[(String, u64)], last_row: u32) -> VecDeque<VecDeque<String>> {
    let below_header = u64::from(last_row - 1);
    let mut worksheets: VecDeque<VecDeque<String>> =
        sheets.iter().map(|(name, _)| VecDeque::from([names.worksheet(name)])).collect();
    for ((name, rows), of_sheet) in sheets.iter().zip(&mut worksheets) {
        of_sheet.extend((1..rows.div_ceil(below_header)).map(|_| names.worksheet(name)));
    }
    worksheets
}

/// The advice about a row, with the cell to change where it is in this workbook. What to do then is on the first sheet.
fn advice_here(line: &ResultLine, columns: &ResultColumns, row: u32) -> String {
    let position = line.blames.first().and_then(|blame| blame.positions.first());
    let (Some(change), Some(&position)) = (&line.change, position) else { return line.advice() };
    let here = change.moved(crate::sheet::address(usize::from(columns.of_input(position)), row + 1));
    here.alone().unwrap_or_else(|| here.around(&line.advice))
}

/// The note on a cell to blame: the words about the field, or else those about the row.
fn note(line: &ResultLine, position: usize) -> String {
    let blames = line.blames.iter().filter(|blame| blame.positions.contains(&position));
    let words: Vec<&str> =
        blames.map(|blame| blame.words.as_str()).filter(|words| !words.is_empty()).collect();
    if words.is_empty() { line.message.clone() } else { words.join("; ") }
}

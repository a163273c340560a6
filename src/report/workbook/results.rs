//! `results.xlsx` and `fix.xlsx`: the sheets of the input with the result columns, streamed row by row. In `fix.xlsx` what
//! is wrong and what to enter come first. The cells to blame are coloured and carry a note.

use crate::error::Result;
use crate::journal::{ImportInfo, Whose};
use crate::model::id::ImportId;
use crate::model::state::JobState;
use crate::report::atomic_write::{Beside, Folder};
use crate::report::layout::Layout;
use crate::report::layout::RESULT_COLUMNS;
use crate::report::names::{Names, naming_kind};
use crate::report::result_line::ResultLine;
use crate::sheet::template;
use crate::status::row_advice::Advisor;

use super::annotated_sheet::{AnnotatedCell, AnnotatedSheet, Frame, ResultColumns, RowResult, Value};
use super::styles::{Mark, headed};
use super::summary_sheet::{self, Summary};
use super::to_do_sheet::{self, ToDo};
use super::{WorkbookFile, sized_note};

/// The workbook of all rows.
pub const RESULTS: &str = "results.xlsx";
/// The workbook of the rows to correct.
pub const FIX: &str = "fix.xlsx";

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
pub(in crate::report) struct Workbook<'a> {
    file: WorkbookFile<'a>,
    columns: &'static ResultColumns,
    sheet: Option<(AnnotatedSheet, Frame)>,
    whose: Whose,
    /// What the rows of `fix.xlsx` have in common, for its first sheet.
    to_do: Option<ToDo>,
}

/// The names of the worksheets of `results.xlsx` and of `fix.xlsx`.
pub(in crate::report) fn worksheet_names(layouts: &[Layout]) -> (Vec<String>, Vec<String>) {
    let mut results = Names::without(&[summary_sheet::NAME]);
    let mut fix = Names::without(&[to_do_sheet::NAME]);
    layouts
        .iter()
        .map(|layout| {
            (results.worksheet(&layout.name), fix.worksheet(&naming_kind(&layout.name, layout.kind)))
        })
        .unzip()
}

impl<'a> Workbook<'a> {
    /// Begins `results.xlsx` with its summary.
    pub(in crate::report) fn results(
        folder: &'a Folder,
        info: &ImportInfo,
        summary: &Summary<'_>,
    ) -> Result<Self> {
        let whose = &summary.figures.whose;
        let mut this = Self::new(folder, RESULTS, &BEHIND, info, whose)?;
        this.file.fill_first(|sheet, styles| {
            summary.fill(sheet, styles)?;
            headed(sheet, whose);
            Ok(())
        })?;
        Ok(this)
    }

    /// Begins `fix.xlsx`; its first sheet is filled when all rows have gone by.
    pub(in crate::report) fn fix(folder: &'a Folder, info: &ImportInfo, whose: &Whose) -> Result<Self> {
        Ok(Self { to_do: Some(ToDo::default()), ..Self::new(folder, FIX, &REASON_FIRST, info, whose)? })
    }

    fn new(
        folder: &'a Folder,
        name: &'static str,
        columns: &'static ResultColumns,
        info: &ImportInfo,
        whose: &Whose,
    ) -> Result<Self> {
        let title = format!("fleetload, import {}; {}", info.import, whose.line());
        // The moment of the import: the only one that stays the same.
        let at = info.at.to_string();
        let mut file = WorkbookFile::begin(folder, name, &title, at.trim_end_matches('Z'))?;
        file.add_own_sheet()?;
        Ok(Self { file, columns, sheet: None, whose: whose.clone(), to_do: None })
    }

    /// Begins the worksheet of a sheet with its header; `rows` will follow.
    pub(in crate::report) fn begin(&mut self, name: &str, layout: &Layout, rows: u64) -> Result<()> {
        self.end()?;
        let inputs = layout.headers.len();
        let mut sheet = AnnotatedSheet::begin(&mut self.file, self.columns, inputs)?;
        let header: Vec<AnnotatedCell<'_>> = layout
            .headers
            .iter()
            .map(|header| AnnotatedCell { value: Value::Text(header), mark: Mark::None, note: None })
            .collect();
        sheet.header(&mut self.file, 0, &header)?;
        let (columns, whose, is_fix) = (self.columns, &self.whose, self.to_do.is_some());
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
        self.sheet = Some((sheet, Frame { name: name.to_owned(), header: 0, frozen, repeated, widths }));
        Ok(())
    }

    /// Writes a row.
    pub(in crate::report) fn line(&mut self, layout: &Layout, line: &ResultLine) -> Result<()> {
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

    /// Fills the first sheet of `fix.xlsx`.
    pub(in crate::report) fn tell_what_to_do(
        &mut self,
        advisor: &Advisor<'_>,
        import: ImportId,
    ) -> Result<()> {
        let (Some(to_do), whose) = (&self.to_do, &self.whose) else { return Ok(()) };
        self.file.fill_first(|sheet, styles| {
            to_do.fill(sheet, styles, whose, (advisor, import))?;
            headed(sheet, whose);
            Ok(())
        })
    }

    /// The file, all of it written.
    pub(in crate::report) fn finish(mut self) -> Result<Beside> {
        self.end()?;
        self.file.finish()
    }

    /// Ends the worksheet under way, if there is one.
    fn end(&mut self) -> Result<()> {
        match self.sheet.take() {
            Some((sheet, frame)) => sheet.finish(&mut self.file, &frame),
            None => Ok(()),
        }
    }
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

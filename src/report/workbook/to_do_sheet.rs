//! The first sheet of `fix.xlsx`, "What to do": how the workbook is used, and the causes of its rows, each with how many
//! rows it has, the columns to look at and what to enter.

use std::collections::BTreeMap;

use rust_xlsxwriter::{Worksheet, XlsxError};

use crate::journal::Whose;
use crate::model::amount::counted;
use crate::model::id::ImportId;
use crate::model::state::JobState;

use super::height;
use super::own_sheet::OwnSheet;
use super::styles::Styles;
use crate::report::result_line::ResultLine;
use crate::status::row_advice::{self, Advisor, RowsOfCode};

/// The name of the sheet; no word of it is the name of a kind.
pub(super) const NAME: &str = "What to do";

/// Causes that are counted one by one.
const CAUSES: usize = 100;
/// Columns named of a cause.
const COLUMNS: usize = 5;
/// Widths of the columns: rows, what is wrong, columns, what to enter, first row.
const WIDTHS: [f64; 5] = [10.0, 46.0, 24.0, 70.0, 26.0];
/// Characters of a line in the columns of sentences, a little less than they are wide.
const LINES: [usize; 3] = [42, 21, 64];

/// What the rows of the workbook have in common.
#[derive(Debug, Default)]
pub(super) struct ToDo {
    causes: BTreeMap<String, RowsOfCause>,
    /// Rows of causes beyond those that are counted one by one.
    others: u64,
    /// Rows in which nothing is to be corrected.
    along: u64,
}

/// Rows with one cause.
#[derive(Debug, Default)]
struct RowsOfCause {
    rows: u64,
    /// Those of them whose own values were not sent.
    unsent: u64,
    /// The headers to blame, in the order of the rows.
    columns: Vec<String>,
    /// The worksheet and the cell of the first row.
    first: (String, String),
}

impl ToDo {
    /// Takes in a row, which is row `row` of a worksheet, counted from 0.
    pub(super) fn add(&mut self, worksheet: String, row: u32, line: &ResultLine) {
        if line.row.state == JobState::Skipped {
            self.along += 1;
            return;
        }
        let code = line.row.code.as_deref().unwrap_or_default();
        if self.causes.len() == CAUSES && !self.causes.contains_key(code) {
            self.others += 1;
            return;
        }
        let common = self.causes.entry(code.to_owned()).or_default();
        if common.rows == 0 {
            common.first = (worksheet, format!("A{}", row + 1));
        }
        common.rows += 1;
        common.unsent += u64::from(line.row.is_unsent());
        for header in line.blames.iter().filter_map(|blame| blame.header.as_ref()) {
            if common.columns.len() < COLUMNS && !common.columns.contains(header) {
                common.columns.push(header.clone());
            }
        }
    }

    /// Fills the sheet.
    pub(super) fn fill(
        &self,
        sheet: &mut Worksheet,
        styles: &Styles,
        whose: &Whose,
        (advisor, import): (&Advisor<'_>, ImportId),
    ) -> Result<(), XlsxError> {
        sheet.set_screen_gridlines(false);
        let mut page = OwnSheet::begin(sheet, styles, NAME, WIDTHS, NAME)?;
        if let Some(banner) = whose.banner() {
            page.text(0, banner, styles.status(JobState::Held))?;
            page.row += 1;
        }
        page.sentence(&whose.words())?;
        page.row += 1;
        let failed = self.others + self.causes.values().map(|common| common.rows).sum::<u64>();
        let mut sentences = vec![
            format!("This workbook has {} to correct.", counted(failed, "row", "rows")),
            "1. Open each of the other sheets. The columns at the left say what is wrong and what to enter."
                .to_owned(),
            "2. Correct the row. A red cell is one that was found wrong; the note on it says why.".to_owned(),
            "A message that names another row means its number in the sheet that was imported (result_source)."
                .to_owned(),
            "3. Save this workbook, then type:".to_owned(),
        ];
        if self.along > 0 {
            sentences.insert(1, format!(
                "{} grey: nothing is to be corrected there. They belong to a row above or in another sheet, and are imported with it.",
                counted(self.along, "row is", "rows are")
            ));
        }
        for sentence in sentences {
            page.sentence(&sentence)?;
        }
        page.text(0, &advisor.run_corrected(), &styles.command)?;
        page.row += 1;
        page.sentence("The columns result_\u{2026} and this sheet are not read. Leave the other columns and the names of the sheets as they are.")?;
        page.row += 1;
        self.table(&mut page, advisor, import)
    }

    /// The causes, the most frequent first.
    fn table(
        &self,
        page: &mut OwnSheet<'_>,
        advisor: &Advisor<'_>,
        import: ImportId,
    ) -> Result<(), XlsxError> {
        let styles = page.styles;
        page.part("What is wrong")?;
        page.headers(&["Rows", "What is wrong", "Columns", "What to do", "First row"])?;
        let mut causes: Vec<_> = self.causes.iter().collect();
        causes.sort_by_key(|(_, common)| std::cmp::Reverse(common.rows));
        for (code, common) in causes {
            let wrong = match row_advice::words(code) {
                Some(words) => format!("{words} ({code})"),
                None => code.clone(),
            };
            let columns = common.columns.join(", ");
            let rows = RowsOfCode { code, rows: common.rows, unsent: common.unsent };
            let next = advisor.of_cause(rows, import).to_string();
            page.number(0, common.rows, &styles.count)?;
            page.text(1, &wrong, &styles.sentence)?;
            page.text(2, &columns, &styles.sentence)?;
            page.text(3, &next, &styles.sentence)?;
            let (worksheet, cell) = &common.first;
            page.link(4, &format!("{worksheet}, row {}", &cell[1..]), worksheet, cell)?;
            let high = [(&wrong, LINES[0]), (&columns, LINES[1]), (&next, LINES[2])];
            let high = high.map(|(text, width)| height(&[text], width));
            page.sheet.set_row_height(page.row, high.into_iter().fold(0.0, f64::max))?;
            page.row += 1;
        }
        if self.others > 0 {
            page.sentence(&format!("and {} with other causes", counted(self.others, "row", "rows")))?;
        }
        Ok(())
    }
}

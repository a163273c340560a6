//! A sheet of our own in a workbook, filled from above: its title, its parts with their headers, its lines.
//!
//! What stands in it is the affair of whoever fills it. The sheets of the input are streamed row by row instead and do
//! not come here.

use rust_xlsxwriter::{Format, Url, Worksheet, XlsxError};

use super::styles::Styles;
use super::{fitting, height};

/// A sheet under way.
pub(super) struct OwnSheet<'a> {
    pub(super) sheet: &'a mut Worksheet,
    pub(super) styles: &'a Styles,
    /// The next row to fill.
    pub(super) row: u32,
}

impl<'a> OwnSheet<'a> {
    /// Begins a sheet with its name, the widths of its columns and its title.
    pub(super) fn begin(
        sheet: &'a mut Worksheet,
        styles: &'a Styles,
        name: &str,
        widths: impl IntoIterator<Item = f64>,
        title: &str,
    ) -> Result<Self, XlsxError> {
        sheet.set_name(name)?;
        for (column, width) in (0..).zip(widths) {
            sheet.set_column_width(column, width)?;
        }
        sheet.set_landscape().set_print_fit_to_pages(1, 0);
        let mut this = Self { sheet, styles, row: 0 };
        this.text(0, title, &styles.title)?;
        this.row += 2;
        Ok(this)
    }

    /// Writes a cell of the row; an empty one has its format anyway.
    pub(super) fn text(&mut self, column: u16, text: &str, format: &Format) -> Result<(), XlsxError> {
        self.sheet.write_string_with_format(self.row, column, fitting(text), format).map(|_| ())
    }

    /// Writes a text over several cells of the row, on as many lines as it needs, and goes to the next row.
    pub(super) fn over(
        &mut self,
        (first, last): (u16, u16),
        text: &str,
        line_chars: usize,
    ) -> Result<(), XlsxError> {
        self.sheet.merge_range(self.row, first, self.row, last, &fitting(text), &self.styles.sentence)?;
        self.sheet.set_row_height(self.row, height(&[text], line_chars))?;
        self.row += 1;
        Ok(())
    }

    /// Gives a cell of the row its format and nothing else, so that a text beside it may reach over it.
    pub(super) fn blank(&mut self, column: u16, format: &Format) -> Result<(), XlsxError> {
        self.sheet.write_blank(self.row, column, format).map(|_| ())
    }

    /// Writes a cell of the row that leads to a cell of another worksheet.
    pub(super) fn link(
        &mut self,
        column: u16,
        text: &str,
        worksheet: &str,
        cell: &str,
    ) -> Result<(), XlsxError> {
        let target = format!("internal:'{}'!{cell}", worksheet.replace('\'', "''"));
        let url = Url::new(target).set_text(fitting(text));
        self.sheet.write_url_with_format(self.row, column, url, &self.styles.link).map(|_| ())
    }

    /// Writes a cell of the row, where there is something to write.
    pub(super) fn text_if_any(&mut self, column: u16, text: &str, format: &Format) -> Result<(), XlsxError> {
        if text.is_empty() { Ok(()) } else { self.text(column, text, format) }
    }

    /// Writes a number into a cell of the row.
    pub(super) fn number(&mut self, column: u16, number: u64, format: &Format) -> Result<(), XlsxError> {
        // Counts of rows are far below the 2^53 that a cell holds exactly.
        #[expect(clippy::cast_precision_loss, reason = "see above")]
        self.sheet.write_number_with_format(self.row, column, number as f64, format).map(|_| ())
    }

    /// A row of one sentence.
    pub(super) fn sentence(&mut self, text: &str) -> Result<(), XlsxError> {
        let styles = self.styles;
        self.text(0, text, &styles.result)?;
        self.row += 1;
        Ok(())
    }

    /// The title of a part.
    pub(super) fn part(&mut self, title: &str) -> Result<(), XlsxError> {
        let styles = self.styles;
        self.text(0, title, &styles.part)?;
        self.row += 1;
        Ok(())
    }

    /// The headers of the lines that follow.
    pub(super) fn headers(&mut self, headers: &[&str]) -> Result<(), XlsxError> {
        let styles = self.styles;
        for (column, header) in (0..).zip(headers) {
            self.text(column, header, &styles.own_header)?;
        }
        self.row += 1;
        Ok(())
    }

    /// A row of a label and a text.
    pub(super) fn line(&mut self, label: &str, value: &str) -> Result<(), XlsxError> {
        let styles = self.styles;
        self.text(0, label, &styles.label)?;
        self.text(1, value, &styles.result)?;
        self.row += 1;
        Ok(())
    }

    /// A row of a label and a number.
    pub(super) fn count(&mut self, label: &str, count: u64) -> Result<(), XlsxError> {
        let styles = self.styles;
        self.text(0, label, &styles.label)?;
        self.number(1, count, &styles.count)?;
        self.row += 1;
        Ok(())
    }
}

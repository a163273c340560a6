//! A sheet as a person fills it: headers, cells of the types a spreadsheet program knows, widths; written as XLSX or CSV.

use rust_xlsxwriter::{
    Color, DocProperties, ExcelDateTime, Format, FormatAlign, FormatBorder, Formula, Workbook, Worksheet,
};

use super::Result;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Blank,
    Text(String),
    /// A number where one belongs, or where Excel made one of a text.
    Number(f64),
    /// Day, month and year of a date that Excel made of a text.
    Date(u8, u8, u16),
    /// A formula and the error it shows.
    Broken(&'static str, &'static str),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Blank } else { Self::Text(text.to_owned()) }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// One column: its header, its width in characters, and whether it holds numbers.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) header: &'static str,
    pub(crate) width: f64,
    pub(crate) numeric: bool,
}

/// A text column.
pub(crate) const fn text(header: &'static str, width: f64) -> Column {
    Column { header, width, numeric: false }
}

/// A column of numbers.
pub(crate) const fn number(header: &'static str, width: f64) -> Column {
    Column { header, width, numeric: true }
}

/// One sheet.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// The sheet as Excel saves "CSV UTF-8": byte order mark, CR LF.
    pub(crate) fn csv(&self) -> Result<Vec<u8>> {
        let mut bytes = b"\xef\xbb\xbf".to_vec();
        let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(&mut bytes);
        writer.write_record(self.columns.iter().map(|column| column.header))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|cell| match cell {
                Cell::Blank => String::new(),
                Cell::Text(text) => text.clone(),
                Cell::Number(number) => number.to_string(),
                Cell::Date(day, month, year) => format!("{day:02}/{month:02}/{year}"),
                Cell::Broken(_, shown) => (*shown).to_owned(),
            }))?;
        }
        writer.flush()?;
        drop(writer);
        Ok(bytes)
    }
}

/// The formats of a workbook.
pub(crate) struct Look {
    header: Format,
    text: Format,
    plain: Format,
    date: Format,
}

impl Look {
    pub(crate) fn new() -> Self {
        let font = Format::new().set_font_name("Calibri").set_font_size(11);
        Self {
            header: font
                .clone()
                .set_bold()
                .set_num_format("@")
                .set_background_color(Color::RGB(0x00DD_E7F3))
                .set_border_bottom(FormatBorder::Thin)
                .set_align(FormatAlign::VerticalCenter),
            text: font.clone().set_num_format("@"),
            plain: font.clone(),
            date: font.set_num_format("d-mmm"),
        }
    }

    /// Header, widths and column formats; rows follow by [`Look::row`], in order.
    pub(crate) fn head(&self, worksheet: &mut Worksheet, name: &str, columns: &[Column]) -> Result<()> {
        worksheet.set_name(name)?;
        worksheet.set_freeze_panes(1, 0)?;
        worksheet.set_landscape().set_paper_size(9).set_print_fit_to_pages(1, 0).set_repeat_rows(0, 0)?;
        for (index, column) in (0u16..).zip(columns) {
            worksheet.set_column_width(index, column.width)?;
            worksheet.set_column_format(index, if column.numeric { &self.plain } else { &self.text })?;
        }
        for (index, column) in (0u16..).zip(columns) {
            worksheet.write_string_with_format(0, index, column.header, &self.header)?;
        }
        Ok(())
    }

    /// One row of cells.
    pub(crate) fn row(&self, worksheet: &mut Worksheet, row: u32, cells: &[Cell]) -> Result<()> {
        for (index, cell) in (0u16..).zip(cells) {
            match cell {
                Cell::Blank => continue,
                Cell::Text(text) => worksheet.write_string_with_format(row, index, text, &self.text)?,
                Cell::Number(number) => {
                    worksheet.write_number_with_format(row, index, *number, &self.plain)?
                }
                Cell::Date(day, month, year) => {
                    let date = ExcelDateTime::from_ymd(*year, *month, *day)?;
                    worksheet.write_datetime_with_format(row, index, &date, &self.date)?
                }
                Cell::Broken(formula, shown) => worksheet.write_formula_with_format(
                    row,
                    index,
                    Formula::new(formula).set_result(*shown),
                    &self.plain,
                )?,
            };
        }
        Ok(())
    }
}

/// An empty workbook whose properties say the same at every making.
pub(crate) fn empty_workbook(title: &str, author: &str) -> Result<Workbook> {
    let mut workbook = Workbook::new();
    let made = ExcelDateTime::from_ymd(2026, 3, 2)?.and_hms(9, 15, 0)?;
    workbook.set_properties(
        &DocProperties::new().set_title(title).set_author(author).set_creation_datetime(&made),
    );
    Ok(workbook)
}

/// What stands in the first worksheet: a title and lines of text.
#[derive(Debug)]
pub(crate) struct Notes {
    pub(crate) author: &'static str,
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<&'static str>,
}

/// A workbook of notes and sheets.
pub(crate) fn workbook(notes: &Notes, sheets: &[Sheet]) -> Result<Vec<u8>> {
    let mut workbook = empty_workbook(notes.title, notes.author)?;
    let look = Look::new();
    let page = workbook.add_worksheet();
    page.set_name("Read me")?;
    page.set_column_width(0, 100)?;
    page.set_screen_gridlines(false).set_print_fit_to_pages(1, 0);
    let title = Format::new().set_font_name("Calibri").set_font_size(16).set_bold();
    let line = Format::new().set_font_name("Calibri").set_font_size(11).set_text_wrap();
    page.write_string_with_format(0, 0, notes.title, &title)?;
    for (row, text) in (2u32..).zip(&notes.lines) {
        page.write_string_with_format(row, 0, *text, &line)?;
    }
    for sheet in sheets {
        let worksheet = workbook.add_worksheet();
        look.head(worksheet, sheet.name, &sheet.columns)?;
        for (row, cells) in (1u32..).zip(&sheet.rows) {
            look.row(worksheet, row, cells)?;
        }
        let last = u16::try_from(sheet.columns.len().saturating_sub(1))?;
        worksheet.autofilter(0, 0, u32::try_from(sheet.rows.len())?, last)?;
    }
    Ok(workbook.save_to_buffer()?)
}

//! Workbooks as a person works with them: read as a whole, a few cells changed, saved by another program.

use std::path::Path;

use calamine::{Data, Reader, Xlsx, open_workbook};
use rust_xlsxwriter::{Workbook, XlsxError};

/// One sheet: its name, and its rows from the first on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sheet {
    pub(crate) name: String,
    pub(crate) rows: Vec<Vec<Data>>,
}

impl Sheet {
    /// The cell at a row and a column as a spreadsheet program counts and names them: `B2`.
    pub(crate) fn cell(&mut self, address: &str) -> &mut Data {
        let (letter, row) = address.split_at(1);
        let column = usize::from(letter.as_bytes()[0] - b'A');
        let row = row.parse::<usize>().expect("a row") - 1;
        &mut self.rows[row][column]
    }

    /// The column with a header, in the first row that has it.
    pub(crate) fn column(&self, header: &str) -> usize {
        let header = Data::String(header.into());
        self.rows.iter().find_map(|row| row.iter().position(|cell| *cell == header)).expect("such a column")
    }

    /// Every row as text, cells between bars, without empty cells at its end.
    pub(crate) fn text(&self) -> String {
        let line = |row: &Vec<Data>| {
            let cells: Vec<String> = row.iter().map(|cell| cell.to_string().replace('\n', "\\n")).collect();
            cells.join(" | ").trim_end_matches([' ', '|']).to_owned()
        };
        format!("[{}]\n{}\n", self.name, self.rows.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// All sheets of a workbook.
pub(crate) fn read(path: &Path) -> Vec<Sheet> {
    let mut book: Xlsx<_> = open_workbook(path).expect("a workbook");
    let names = book.sheet_names();
    names
        .into_iter()
        .map(|name| {
            let range = book.worksheet_range(&name).expect("a sheet");
            let (height, width) = range.end().map_or((0, 0), |(row, column)| (row + 1, column + 1));
            let cell = |row, column| range.get_value((row, column)).cloned().unwrap_or(Data::Empty);
            let rows = (0..height).map(|row| (0..width).map(|column| cell(row, column)).collect()).collect();
            Sheet { name, rows }
        })
        .collect()
}

/// Writes sheets as another program would: without our colours, notes and widths.
pub(crate) fn write(path: &Path, sheets: &[Sheet]) {
    let mut book = Workbook::new();
    let mut fill = || -> Result<(), XlsxError> {
        for sheet in sheets {
            let page = book.add_worksheet();
            page.set_name(&sheet.name)?;
            for (row, cells) in (0..).zip(&sheet.rows) {
                for (column, cell) in (0..).zip(cells) {
                    match cell {
                        Data::Empty => {}
                        Data::String(text) => {
                            page.write_string(row, column, text)?;
                        }
                        Data::Float(number) => {
                            page.write_number(row, column, *number)?;
                        }
                        Data::Bool(truth) => {
                            page.write_boolean(row, column, *truth)?;
                        }
                        other => panic!("{other:?} is nothing that a person types"),
                    }
                }
            }
        }
        book.save(path).map(|_| ())
    };
    fill().expect("a workbook");
}

/// The text of the worksheet at this place in the archive, each of whose rows is there once.
pub(crate) fn worksheet(path: &Path, number: usize) -> String {
    let file = std::fs::File::open(path).expect("the workbook");
    let mut archive = zip::ZipArchive::new(file).expect("a workbook");
    let mut part = archive.by_name(&format!("xl/worksheets/sheet{number}.xml")).expect("the sheet");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut part, &mut text).expect("text");
    let rows: Vec<u32> = text
        .split("<row r=\"")
        .skip(1)
        .map(|row| row.split('"').next().and_then(|number| number.parse().ok()).expect("a number"))
        .collect();
    assert!(rows.is_sorted_by(|row, next| row < next), "{}: {rows:?}", path.display());
    text
}

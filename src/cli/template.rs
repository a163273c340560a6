//! `fleetload template`: blank sheets to fill in, generated from the table of columns that the reader uses.
//!
//! Each has a header, an example row that an import leaves out, and, in a workbook, the text format that keeps
//! leading zeros, lists to choose from, and a note at each header.

use std::path::{Path, PathBuf};

use rust_xlsxwriter::{Color, DataValidation, Format, Note, Workbook, Worksheet, XlsxError};

use super::commands::Template as Typed;
use super::context::Context;
use crate::error::{Error, Exit, Result};
use crate::model::kind::Kind;
use crate::sheet::column::{Column, Family, Form, Need, columns};
use crate::term::{Ink, Line};

/// What stands in the key cell of an example row, so that it is not imported.
const EXAMPLE_KEY: &str = "#example";
/// Rows of a blank sheet that are formatted and have lists to choose from.
const PREPARED_ROWS: u32 = 5_000;
/// The longest list that a spreadsheet program takes in a cell's choices, in characters.
const LONGEST_LIST: usize = 255;

/// Writes the blank sheets.
pub(super) fn template(context: &Context<'_>, typed: &Typed) -> Result<Exit> {
    let kinds: Vec<Kind> = if typed.kinds.is_empty() {
        Kind::ALL.to_vec()
    } else {
        Kind::ALL.into_iter().filter(|kind| typed.kinds.contains(kind)).collect()
    };
    let workbook = typed.out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xlsx"));
    let files = if workbook {
        refuse_existing(&typed.out)?;
        let bytes = self::workbook(&kinds)?;
        write(&typed.out, &bytes)?;
        vec![typed.out.clone()]
    } else {
        folder(&typed.out, &kinds)?
    };
    for file in &files {
        context.terminal.result(Line::plain("wrote ").ink(Ink::Strong, file.display().to_string()));
    }
    context.terminal.object(&serde_json::json!({"object": "summary", "files": files}));
    let named: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    context
        .terminal
        .hint(format!("fill them in, then: {}", context.again(&format!("check {}", named.join(" ")))));
    Ok(Exit::Done)
}

fn folder(folder: &Path, kinds: &[Kind]) -> Result<Vec<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::usage(format!("cannot make the folder {}", folder.display())).because(error)
    })?;
    let files: Vec<PathBuf> =
        kinds.iter().map(|kind| folder.join(format!("{}.csv", kind.plural()))).collect();
    // None is written when one cannot be.
    for file in &files {
        refuse_existing(file)?;
    }
    for (file, &kind) in files.iter().zip(kinds) {
        write(file, csv(kind)?.as_bytes())?;
    }
    Ok(files)
}

fn refuse_existing(file: &Path) -> Result<()> {
    if file.exists() {
        return Err(Error::usage(format!("{} is there already", file.display()))
            .hint("name another place with --out; a sheet that is filled in is never overwritten"));
    }
    Ok(())
}

fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(file, bytes)
        .map_err(|error| Error::usage(format!("cannot write {}", file.display())).because(error))
}

/// The header of a column: families get a number, key or cloud to show how they are named.
fn header(column: &Column) -> String {
    match column.family() {
        Some(Family::Label) => format!("{}1", column.name),
        Some(Family::Meta) => format!("{}owner", column.name),
        Some(Family::Snat) => format!("{}Corporate:LAN1", column.name),
        None => column.name.to_owned(),
    }
}

/// The example of a column, with the key that keeps the row from being imported.
fn example(column: &Column) -> &'static str {
    match column.form {
        Form::Key => EXAMPLE_KEY,
        _ => column.example,
    }
}

/// A blank CSV file: UTF-8 with the mark that Excel needs to read it as such.
fn csv(kind: Kind) -> Result<String> {
    let failed = |why: String| Error::internal(format!("cannot write a blank sheet of {kind}: {why}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: Vec<String>| writer.write_record(cells);
    row(columns(kind).iter().map(header).collect()).map_err(|error| failed(error.to_string()))?;
    row(columns(kind).iter().map(|column| example(column).to_owned()).collect())
        .map_err(|error| failed(error.to_string()))?;
    let bytes = writer.into_inner().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
    Ok(format!("\u{feff}{text}"))
}

/// A workbook with a worksheet for each kind.
fn workbook(kinds: &[Kind]) -> Result<Vec<u8>> {
    let failed = |error: XlsxError| Error::internal("cannot write the blank workbook").because(error);
    let mut workbook = Workbook::new();
    for &kind in kinds {
        let sheet = workbook.add_worksheet();
        fill(sheet, kind).map_err(failed)?;
    }
    workbook.save_to_buffer().map_err(failed)
}

fn fill(sheet: &mut Worksheet, kind: Kind) -> std::result::Result<(), XlsxError> {
    let mut name = kind.plural().to_owned();
    name[..1].make_ascii_uppercase();
    sheet.set_name(&name)?;
    let text = Format::new().set_num_format("@");
    let faint = Format::new().set_num_format("@").set_italic().set_font_color(Color::Gray);
    for (at, column) in (0u16..).zip(columns(kind)) {
        let head = header(column);
        sheet.write_string_with_format(0, at, &head, &head_format(column.need))?;
        sheet.insert_note(0, at, &Note::new(note(column)).add_author_prefix(false))?;
        let width = u32::try_from(head.len().max(column.example.len()).clamp(10, 32)).unwrap_or(32);
        sheet.set_column_width(at, f64::from(width) + 2.0)?;
        if column.form.wants_text_format() {
            sheet.set_column_format(at, &text)?;
        }
        if !example(column).is_empty() {
            sheet.write_string_with_format(1, at, example(column), &faint)?;
        }
        if let Some(choices) = choices(column.form) {
            let validation = DataValidation::new()
                .allow_list_strings(choices)?
                .set_error_title("Not one of the choices")?
                .set_error_message("Choose one of the values of the list.")?;
            sheet.add_data_validation(1, at, PREPARED_ROWS, at, &validation)?;
        }
    }
    sheet.set_freeze_panes(1, 0)?;
    Ok(())
}

fn head_format(need: Need) -> Format {
    let format = Format::new().set_bold().set_num_format("@");
    match need {
        Need::Required => format.set_background_color(Color::RGB(0xF8_CB_AD)),
        Need::Wanted => format.set_background_color(Color::RGB(0xFF_E6_99)),
        Need::Conditional => format.set_background_color(Color::RGB(0xDD_EB_F7)),
        Need::Optional => format.set_background_color(Color::RGB(0xED_ED_ED)),
    }
}

/// What a column is, in the words of the table.
fn note(column: &Column) -> String {
    let need = match column.need {
        Need::Required => "needed in every row",
        Need::Wanted => "should be filled in",
        Need::Conditional => "needed in some rows",
        Need::Optional => "may be left blank",
    };
    format!("{}\n{}; {need}.", column.help, column.form.describe())
}

/// The values to choose from, where there are few.
fn choices(form: Form) -> Option<&'static [&'static str]> {
    let choices = match form {
        Form::Enum(values) => values,
        Form::Bool => &["yes", "no"],
        _ => return None,
    };
    let length = choices.iter().map(|choice| choice.len() + 1).sum::<usize>();
    (length <= LONGEST_LIST).then_some(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::examine;
    use crate::sheet::Options;
    use crate::sheet::finding::{Code, Severity};

    /// A blank sheet is understood by the reader, to the last column, and its example row is not imported.
    fn assert_is_understood(files: &[PathBuf], sheets: usize) {
        let examined = examine(files, &Options::default(), None).unwrap();
        assert_eq!(examined.sheets.len(), sheets);
        for finding in examined.findings.iter() {
            let expected = [Code::RowTemplate, Code::SheetEmpty].contains(&finding.code);
            assert!(expected || finding.severity == Severity::Info, "{finding:?}");
        }
        for sheet in &examined.sheets {
            assert_eq!(sheet.rows, 0, "{sheet:?}");
        }
        for table in examined.books().iter().flat_map(|book| &book.tables) {
            assert_eq!(table.headers.len(), columns(table.kind).len(), "{}", table.name);
            for mapped in &table.mapping {
                assert!(matches!(mapped, crate::sheet::Mapped::Column { .. }), "{mapped:?}");
            }
        }
    }

    #[test]
    fn a_blank_workbook_is_understood_by_the_reader() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("blank.xlsx");
        write(&file, &workbook(&Kind::ALL).unwrap()).unwrap();
        assert_is_understood(&[file], 4);
    }

    #[test]
    fn blank_csv_files_are_understood_by_the_reader_and_never_overwrite() {
        let place = tempfile::tempdir().unwrap();
        let files = folder(place.path(), &Kind::ALL).unwrap();
        assert_is_understood(&files, 4);
        assert!(folder(place.path(), &[Kind::Site]).unwrap_err().what().ends_with("is there already"));
    }
}

//! Blank sheets to be filled, made from the table of columns: a workbook with a worksheet for each kind, or CSV files.
//!
//! Every blank sheet reads back as it is: its headers find their columns, and its example row is skipped by its key.
//! The same columns give the same bytes. Where the files are put is left to the caller, but nothing is overwritten.

mod guide;
mod lists;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rust_xlsxwriter::{
    Color, DataValidation, DataValidationErrorStyle, DocProperties, ExcelDateTime, Format, FormatAlign,
    FormatBorder, Note, Workbook, Worksheet, XlsxError,
};

use super::field::ACTIONS;
use super::row::notes::EXAMPLE_KEY;
use super::row::upkeep::example_column;
use super::table::column::{Column, Form, Need, columns};
use crate::error::{Error, Result};
use crate::model::kind::{Kind, Upkeep};
use crate::model::record::Role;
use crate::model::zone::ZoneList;
pub use lists::KnownRecords;
use lists::{Lists, Zones};

pub(crate) use lists::NAME as LISTS;

/// The last row of an Excel worksheet, counted from 0.
const LAST_ROW: u32 = 1_048_575;
/// Width of a column in characters.
const WIDTHS: std::ops::RangeInclusive<usize> = 11..=40;
/// How wide frozen columns may be together, in characters.
const FROZEN: usize = 70;
/// Characters of a note on one of its lines, to find the height it needs.
const NOTE_LINE: usize = 44;

/// Writes a workbook with a blank sheet of each kind; the time zones to choose from are those the service lists, where it
/// has been asked, and `known` is what it has of a company.
///
/// # Errors
/// When no kind is named, the file exists, or it cannot be written.
pub fn workbook(kinds: &[Kind], zones: Option<&ZoneList>, known: &KnownRecords, out: &Path) -> Result<()> {
    put(out, &workbook_of(kinds, zones, known)?)
}

/// Writes a blank CSV file of each kind into a folder, which is made when there is none; hands back their paths.
///
/// # Errors
/// When no kind is named, one of the files exists, or they cannot be written.
pub fn csv(kinds: &[Kind], folder: &Path) -> Result<Vec<PathBuf>> {
    let paths: Vec<(Kind, PathBuf)> =
        distinct(kinds)?.into_iter().map(|kind| (kind, folder.join(format!("{kind}.csv")))).collect();
    // All or none: half a set of blank sheets is of no use.
    if let Some((_, path)) = paths.iter().find(|(_, path)| path.exists()) {
        return Err(taken(path));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        Error::usage(format!("the folder {} cannot be made", folder.display())).because(error).hint(ELSEWHERE)
    })?;
    for (kind, path) in &paths {
        put(path, &csv_bytes(*kind)?)?;
    }
    Ok(paths.into_iter().map(|(_, path)| path).collect())
}

/// The bytes of a workbook with a blank sheet of each kind.
///
/// # Errors
/// When no kind is named, or the library that writes workbooks fails.
pub fn workbook_bytes(kinds: &[Kind], zones: Option<&ZoneList>) -> Result<Vec<u8>> {
    workbook_of(kinds, zones, &KnownRecords::default())
}

fn workbook_of(kinds: &[Kind], zones: Option<&ZoneList>, known: &KnownRecords) -> Result<Vec<u8>> {
    let kinds = distinct(kinds)?;
    build(&kinds, &Zones::of(zones), known)
        .map_err(|error| Error::internal("the blank workbook cannot be made").because(error))
}

/// The bytes of a blank CSV file: byte order mark, header and example row, as Excel saves "CSV UTF-8".
///
/// # Errors
/// When the library that writes CSV fails.
pub fn csv_bytes(kind: Kind) -> Result<Vec<u8>> {
    let columns = || shown(kind);
    let mut writer =
        ::csv::WriterBuilder::new().terminator(::csv::Terminator::CRLF).from_writer(b"\xef\xbb\xbf".to_vec());
    writer
        .write_record(columns().map(Column::header))
        .and_then(|()| writer.write_record(columns().map(|column| example(kind, column))))
        .map_err(|error| Error::internal("the blank CSV file cannot be made").because(error))?;
    writer
        .into_inner()
        .map_err(|error| Error::internal("the blank CSV file cannot be made").because(error.into_error()))
}

/// The kinds in the order given, each once.
fn distinct(kinds: &[Kind]) -> Result<Vec<Kind>> {
    let mut distinct: Vec<Kind> = Vec::new();
    for &kind in kinds {
        if !distinct.contains(&kind) {
            distinct.push(kind);
        }
    }
    if distinct.is_empty() {
        return Err(Error::usage("no kind of sheet is named")
            .hint("name some of companies, sites, people and devices"));
    }
    Ok(distinct)
}

/// What to do when a blank sheet cannot be put where it was to go.
const ELSEWHERE: &str = "name another place with --out";

fn taken(path: &Path) -> Error {
    Error::usage(format!("{} is there already", path.display()))
        .hint("name another place with --out; a sheet is never overwritten")
}

/// Writes a file that does not exist yet: a blank sheet must not replace one that somebody has filled.
fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::AlreadyExists {
            taken(path)
        } else {
            Error::usage(format!("{} cannot be written", path.display())).because(error).hint(ELSEWHERE)
        }
    })?;
    file.write_all(bytes)
        .map_err(|error| Error::internal(format!("writing {} failed", path.display())).because(error))
}

/// The columns of a blank sheet; those of which there can be many are reported on the first page instead.
fn shown(kind: Kind) -> impl Iterator<Item = &'static Column> {
    columns(kind).iter().filter(|column| column.family().is_none() && column.form != Form::Exported)
}

/// What the example row holds.
fn example(kind: Kind, column: &Column) -> &'static str {
    if column.name == example_column(kind) { EXAMPLE_KEY } else { column.example }
}

fn sheet_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Company | Kind::Upkeep(Upkeep::CompanyUpdates) => "Companies",
        Kind::Site | Kind::Upkeep(Upkeep::SiteUpdates) => "Sites",
        Kind::Person => "People",
        Kind::Device | Kind::Upkeep(Upkeep::DeviceUpdates) => "Devices",
        Kind::Upkeep(Upkeep::Labels) => "Labels",
        Kind::Upkeep(Upkeep::Metadata) => "Metadata",
        Kind::Upkeep(Upkeep::Licences) => "Licences",
        Kind::Upkeep(Upkeep::Subscriptions) => "Subscriptions",
        Kind::Upkeep(Upkeep::SiteAssignments) => "Site assignments",
        Kind::Upkeep(Upkeep::Vpn) => "VPN",
    }
}

/// How the cells look.
struct Look {
    required: Format,
    optional: Format,
    text: Format,
    example: Format,
}

impl Look {
    fn new() -> Self {
        let header = Format::new()
            .set_bold()
            .set_num_format("@")
            .set_align(FormatAlign::VerticalCenter)
            .set_border_bottom(FormatBorder::Thin);
        Self {
            required: header.clone().set_background_color(Color::RGB(0x00F8_CBAD)),
            optional: header.set_background_color(Color::RGB(0x00DD_E7F3)),
            text: Format::new().set_num_format("@"),
            example: Format::new().set_italic().set_font_color(Color::RGB(0x0080_8080)).set_num_format("@"),
        }
    }
}

fn build(kinds: &[Kind], zones: &Zones, known: &KnownRecords) -> std::result::Result<Vec<u8>, XlsxError> {
    let mut workbook = Workbook::new();
    // A fixed day, so that the same columns give the same bytes.
    let made = ExcelDateTime::from_ymd(2026, 1, 1)?;
    workbook.set_properties(
        &DocProperties::new()
            .set_title("Blank sheets for fleetload")
            .set_author("fleetload")
            .set_creation_datetime(&made),
    );
    guide::fill(workbook.add_worksheet(), kinds, &known.notes)?;
    let look = Look::new();
    for &kind in kinds {
        blank_sheet(workbook.add_worksheet(), kind, &Lists { kinds, zones, known }, &look)?;
    }
    zones.fill(&mut workbook, known)?;
    workbook.save_to_buffer()
}

fn blank_sheet(
    worksheet: &mut Worksheet,
    kind: Kind,
    lists: &Lists<'_>,
    look: &Look,
) -> std::result::Result<(), XlsxError> {
    worksheet.set_name(sheet_name(kind))?;
    worksheet.set_freeze_panes(1, identifying(kind))?;
    worksheet.set_row_height(0, 20)?;
    worksheet.set_landscape().set_print_fit_to_pages(1, 0);
    worksheet.set_repeat_rows(0, 0)?;
    for (index, column) in (0u16..).zip(shown(kind)) {
        let required = column.need == Need::Required;
        let header = header(column);
        worksheet
            .set_column_width(index, f64::from(u32::try_from(width(kind, column)).unwrap_or(u32::MAX)))?;
        worksheet.set_column_format(index, &look.text)?;
        let format = if required { &look.required } else { &look.optional };
        worksheet.write_string_with_format(0, index, &header, format)?;
        worksheet.insert_note(0, index, &note(column))?;
        if !example(kind, column).is_empty() {
            worksheet.write_string_with_format(1, index, example(kind, column), &look.example)?;
        }
        let validation = match lists.known.range(kind, column) {
            Some(range) => Some(of_records(&range)?),
            None => validation(column.form, index, lists)?,
        };
        if let Some(validation) = validation {
            worksheet.add_data_validation(1, index, LAST_ROW, index, &validation)?;
        }
    }
    Ok(())
}

/// The header of a column, with a star where every row needs it.
fn header(column: &Column) -> String {
    let star = if column.need == Need::Required { " *" } else { "" };
    format!("{}{star}", column.header())
}

fn width(kind: Kind, column: &Column) -> usize {
    (header(column).len() + 3).max(example(kind, column).len() + 2).clamp(*WIDTHS.start(), *WIDTHS.end())
}

/// How many columns from the left say what a row is known by, where these leave room on a screen for others.
fn identifying(kind: Kind) -> u16 {
    let mut wide = 0;
    let near = shown(kind).take_while(|column| {
        wide += width(kind, column);
        wide <= FROZEN
    });
    let known_by = |column: &Column| {
        matches!(column.form, Form::Key | Form::Reference(Role::Company)) || column.name == "name"
    };
    (1..).zip(near).filter(|(_, column)| known_by(column)).last().map_or(0, |(columns, _)| columns)
}

/// Help, rule and example of a column.
fn note(column: &Column) -> Note {
    let mut lines = vec![column.help.to_owned(), format!("Holds: {}", column.form.describe())];
    lines.push(
        match column.need {
            Need::Required => "Every row needs it.",
            Need::Wanted => "Every row should have it.",
            Need::Conditional => "Some rows need it, or may not have it.",
            Need::Optional => "May be blank.",
        }
        .to_owned(),
    );
    if !column.example.is_empty() {
        lines.push(format!("Example: {}", column.example));
    }
    lines.push(format!("Short name: {}", column.name));
    let height: usize = lines.iter().map(|line| line.chars().count() / NOTE_LINE + 1).sum();
    Note::new(lines.join("\n"))
        .add_author_prefix(false)
        .set_width(290)
        .set_height(u32::try_from(height * 17 + 14).unwrap_or(u32::MAX))
}

/// The drop-down of cells whose values come from a short list; other words that are accepted only raise a question.
///
/// # Errors
/// When the library that writes workbooks fails.
pub(crate) fn choices(form: Form) -> std::result::Result<Option<DataValidation>, XlsxError> {
    let values: &[&str] = match form {
        Form::Enum(values) => values,
        Form::Bool => &["yes", "no"],
        _ => return Ok(None),
    };
    let choices = DataValidation::new()
        .allow_list_strings(values)?
        .set_error_style(DataValidationErrorStyle::Warning)
        .set_error_title("Not in the list")?
        .set_error_message("Choose one of the values of the list.")?;
    Ok(Some(choices))
}

/// The drop-down of cells that name a record, filled in with those that the service has. What is not in the list raises no
/// question.
fn of_records(range: &str) -> std::result::Result<DataValidation, XlsxError> {
    DataValidation::new()
        .allow_list_formula(range.into())
        .show_error_message(false)
        .set_input_title("Choose, or enter another")?
        .set_input_message(
            "The list shows what the service has. A key of this workbook, or an id, is accepted, too.",
        )
}

/// The drop-down or rule of a column's cells. Words that are accepted but not listed only raise a question.
fn validation(
    form: Form,
    column: u16,
    lists: &Lists<'_>,
) -> std::result::Result<Option<DataValidation>, XlsxError> {
    let choice = |values: &[&str], style, message: &str| {
        DataValidation::new()
            .allow_list_strings(values)?
            .set_error_style(style)
            .set_error_title("Not in the list")?
            .set_error_message(message)
    };
    // The cells hold text; a point is the decimal sign whatever the language of the program is.
    let degrees = |limit: u8, message: &str| {
        let cell = rust_xlsxwriter::utility::row_col_to_cell(1, column);
        let rule = format!("=ABS(_xlfn.NUMBERVALUE({cell},\".\",\",\"))<={limit}");
        DataValidation::new()
            .allow_custom(rule.as_str().into())
            .set_error_style(DataValidationErrorStyle::Warning)
            .set_error_title("Not decimal degrees")?
            .set_error_message(message)
    };
    Ok(match form {
        Form::Enum(values) => {
            Some(choice(values, DataValidationErrorStyle::Stop, "Choose one of the values of the list.")?)
        }
        Form::Bool => Some(choice(&["yes", "no"], DataValidationErrorStyle::Warning, "Choose yes or no.")?),
        Form::Action => Some(choice(
            &ACTIONS,
            DataValidationErrorStyle::Warning,
            "Choose create or update. Blank means create.",
        )?),
        Form::Latitude => Some(degrees(90, "A latitude lies between -90 and 90, with a point: -36.8485")?),
        Form::Longitude => {
            Some(degrees(180, "A longitude lies between -180 and 180, with a point: 174.7633")?)
        }
        Form::Timezone => Some(
            DataValidation::new()
                .allow_list_formula(lists.zones.range().as_str().into())
                .set_error_style(DataValidationErrorStyle::Warning)
                .set_error_title("Not in the list")?
                .set_error_message("Choose a time zone of the list, such as Pacific/Auckland.")?,
        ),
        // A name or an id is as good as a key, so what is not in the list raises no question.
        Form::Reference(role) => match lists.keys(role.target()) {
            Some(range) => Some(
                DataValidation::new()
                    .allow_list_formula(range.as_str().into())
                    .show_error_message(false)
                    .set_input_title("Key, name or id")?
                    .set_input_message(
                        "The list shows the keys of this workbook. A name or an id is accepted, too.",
                    )?,
            ),
            None => None,
        },
        Form::Name
        | Form::Text
        | Form::Owner
        | Form::Id
        | Form::Exported
        | Form::Code
        | Form::Key
        | Form::Email
        | Form::Username
        | Form::Phone
        | Form::Mac
        | Form::Integer
        | Form::Country
        | Form::Offers
        | Form::Labels
        | Form::Family(_) => None,
    })
}

#[cfg(test)]
mod tests;

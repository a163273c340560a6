//! What was typed about how files are to be read: the same flags for every command that reads some. What they come to,
//! together with what the profile keeps, is settled in `reading`.

use clap::Args as ClapArgs;

use crate::model::kind::Kind;
use crate::sheet::rename;
use crate::sheet::{CountryForm, HiddenRows, MacForm};

/// How files are read.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(in crate::cli) struct Reading {
    /// The kind of the rows, if sheet name, file name and headers do not show it
    #[arg(long, value_name = "KIND", help_heading = "Which sheets and rows")]
    pub(in crate::cli) kind: Option<Kind>,

    /// Read only this worksheet of workbooks; may be given several times
    #[arg(long = "worksheet", value_name = "NAME", help_heading = "Which sheets and rows")]
    pub(in crate::cli) worksheets: Vec<String>,

    /// The row of the header, if it is not detected
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(in crate::cli) header_row: Option<u32>,

    /// Map a header of your sheet to a fleetload column: `--map "Department=name"`, or in the sheets of one kind only:
    /// `--map "companies.Firma=name"`; may be given several times
    #[arg(long, alias = "rename", value_name = "[KIND.]HEADER=COLUMN", value_parser = assignment, help_heading = "Columns")]
    pub(in crate::cli) map: Vec<(String, String)>,

    /// The header of a column to ignore; may be given several times
    #[arg(long, value_name = "HEADER", help_heading = "Columns")]
    pub(in crate::cli) ignore_column: Vec<String>,

    /// The value for blank cells of a column: `--default companies.parent=ID`; may be given several times
    #[arg(long, value_name = "KIND.COLUMN=VALUE", help_heading = "Columns")]
    pub(in crate::cli) default: Vec<String>,

    /// The field separator of CSV files, if it is not detected
    #[arg(long, value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    pub(in crate::cli) delimiter: Option<char>,

    /// Whether to import rows that are hidden, by a filter or by hand: `import` or `skip`
    #[arg(long, value_name = "WHAT", help_heading = "Which sheets and rows")]
    pub(in crate::cli) hidden_rows: Option<HiddenRows>,

    /// Read hidden worksheets as well
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(in crate::cli) include_hidden: bool,

    /// Use the value of cells merged down one column for each of their rows
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(in crate::cli) fill_merged: bool,

    /// Accept a sheet with a header and no rows
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(in crate::cli) allow_empty: bool,

    /// The character before a quotation mark inside a CSV cell, if such marks are not doubled: `\`
    #[arg(long, value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    pub(in crate::cli) escape: Option<char>,

    /// Accept companies, people and sites without address1
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) allow_missing_address1: bool,

    /// Also use the coordinates of a site for its address
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) copy_coordinates: bool,

    /// Treat placeholders such as n/a as blank cells
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) placeholders_blank: bool,

    /// How countries are sent: `as-is`, `alpha2` (NZ) or `name` (New Zealand)
    #[arg(long, value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) country: Option<CountryForm>,

    /// How MAC addresses are sent: `colon`, `dash`, `dot` or `bare`
    #[arg(long, value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) mac_form: Option<MacForm>,

    /// Warn about texts with more characters than this [default: 255]
    #[arg(long, value_name = "N", help_heading = "Values", hide_short_help = true)]
    pub(in crate::cli) longest_text: Option<usize>,

    /// Import the other rows when some have errors; rows with errors, and rows that depend on them, are not imported
    #[arg(long, help_heading = "Which sheets and rows")]
    pub(in crate::cli) skip_invalid: bool,

    /// The encoding of CSV files, if it is not detected: windows-1252, macintosh …
    #[arg(long, value_name = "NAME", help_heading = "CSV files", hide_short_help = true)]
    pub(in crate::cli) encoding: Option<String>,

    /// Use the reading options that the profile keeps for this customer: [profile.NAME.customers.CUSTOMER]
    #[arg(long, value_name = "CUSTOMER", env = "FLEETLOAD_CUSTOMER", help_heading = "Which sheets and rows")]
    pub(in crate::cli) customer: Option<String>,

    /// Treat a warning as an error: its code, or `warnings` for all; may be given several times
    #[arg(long, value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    pub(in crate::cli) deny: Vec<String>,

    /// Treat a warning as a note, by its code; may be given several times
    #[arg(long, value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    pub(in crate::cli) allow: Vec<String>,

    /// Hide the values of the sheets in findings and show only their kind and length, for logs that are shared
    #[arg(long, help_heading = "Findings", hide_short_help = true)]
    pub(in crate::cli) redact: bool,
}

/// A header and what it means. Either may have an equals sign, so that the last one that leaves a column behind it parts
/// them.
fn assignment(text: &str) -> Result<(String, String), String> {
    let parts = |at: usize| (text[..at].trim(), text[at + 1..].trim());
    let mut signs = text.rmatch_indices('=').map(|(at, _)| at);
    let meant = signs.find(|at| rename::check(parts(*at).0, parts(*at).1).is_ok());
    match meant.or_else(|| text.find('=')).map(parts) {
        Some((header, column)) if !header.is_empty() && !column.is_empty() => {
            Ok((header.to_owned(), column.to_owned()))
        }
        Some(_) | None => Err("write it as HEADER=COLUMN".to_owned()),
    }
}

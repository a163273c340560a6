//! What was typed about how files are to be read: the same flags for every command that reads some. What they come to,
//! together with what the profile keeps, is settled in `reading`.

use clap::Args as ClapArgs;

use crate::model::kind::Kind;
use crate::sheet::rename;
use crate::sheet::{CountryForm, HiddenRows, MacForm};

/// How files are read.
#[derive(Debug, Clone, Default, ClapArgs)]
pub(super) struct Reading {
    /// What the rows of the files are, where neither sheet name, file name nor headers tell
    #[arg(long, value_name = "KIND", help_heading = "Which sheets and rows")]
    pub(super) kind: Option<Kind>,

    /// Read only this worksheet of workbooks; may be given several times
    #[arg(long = "worksheet", value_name = "NAME", help_heading = "Which sheets and rows")]
    pub(super) worksheets: Vec<String>,

    /// The row of the header, where it is not found by itself
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(super) header_row: Option<u32>,

    /// A header that means a column of ours: `--map "Department=name"`, or in the sheets of one kind only: `--map
    /// "companies.Firma=name"`; may be given several times
    #[arg(long, alias = "rename", value_name = "[KIND.]HEADER=COLUMN", value_parser = assignment, help_heading = "Columns")]
    pub(super) map: Vec<(String, String)>,

    /// A column that is not to be read, by its header; may be given several times
    #[arg(long, value_name = "HEADER", help_heading = "Columns")]
    pub(super) ignore_column: Vec<String>,

    /// A value for blank cells of a column: `--default companies.parent=ID`; may be given several times
    #[arg(long, value_name = "KIND.COLUMN=VALUE", help_heading = "Columns")]
    pub(super) default: Vec<String>,

    /// What stands between the cells of CSV files, where it is not recognised
    #[arg(long, value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    pub(super) delimiter: Option<char>,

    /// What to do with rows that are hidden, by a filter or by hand: `import` or `skip`
    #[arg(long, value_name = "WHAT", help_heading = "Which sheets and rows")]
    pub(super) hidden_rows: Option<HiddenRows>,

    /// Read hidden worksheets as well
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(super) include_hidden: bool,

    /// Let the value of cells merged down one column count for each of their rows
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(super) fill_merged: bool,

    /// Let a sheet have a header and no rows
    #[arg(long, help_heading = "Which sheets and rows", hide_short_help = true)]
    pub(super) allow_empty: bool,

    /// What CSV files write before a quotation mark inside a cell, where they do not double it: `\`
    #[arg(long, value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    pub(super) escape: Option<char>,

    /// Let companies, people and sites be without address1
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(super) allow_missing_address1: bool,

    /// Use the coordinates of a site for its address, too
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(super) copy_coordinates: bool,

    /// Let placeholders such as n/a count as blank cells
    #[arg(long, help_heading = "Values", hide_short_help = true)]
    pub(super) placeholders_blank: bool,

    /// How countries are sent: `as-is`, `alpha2` (NZ) or `name` (New Zealand)
    #[arg(long, value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    pub(super) country: Option<CountryForm>,

    /// How MAC addresses are sent: `colon`, `dash`, `dot` or `bare`
    #[arg(long, value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    pub(super) mac_form: Option<MacForm>,

    /// Warn of texts with more characters than this [default: 255]
    #[arg(long, value_name = "N", help_heading = "Values", hide_short_help = true)]
    pub(super) longest_text: Option<usize>,

    /// Leave out rows with errors, and those that depend on them, instead of refusing everything
    #[arg(long, help_heading = "Which sheets and rows")]
    pub(super) skip_invalid: bool,

    /// The encoding of CSV files, where it is not recognised: windows-1252, macintosh …
    #[arg(long, value_name = "NAME", help_heading = "CSV files", hide_short_help = true)]
    pub(super) encoding: Option<String>,

    /// Read as the profile keeps it for this customer: [profile.NAME.customers.CUSTOMER]
    #[arg(long, value_name = "CUSTOMER", env = "FLEETLOAD_CUSTOMER", help_heading = "Which sheets and rows")]
    pub(super) customer: Option<String>,

    /// Let a warning count as an error: its code, or `warnings` for all; may be given several times
    #[arg(long, value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    pub(super) deny: Vec<String>,

    /// Let a warning count as a note, by its code; may be given several times
    #[arg(long, value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    pub(super) allow: Vec<String>,

    /// Show no values of the sheets in what is found, only their kind and length: for logs that are shared
    #[arg(long, help_heading = "Findings", hide_short_help = true)]
    pub(super) redact: bool,
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

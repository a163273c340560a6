//! The options of reading sheets: each declared once, as a flag of the command line and as a key of a profile, for the account
//! or for one of its customers.
//!
//! One [`ReadingOptions`] is one layer of what is said; a higher layer counts before a lower one, lists and tables add up.
//! Which layers there are is decided in [`crate::cli::settings::reading`].

use clap::Args as ClapArgs;
use toml::{Table, Value};

use super::option_value::OptionValue;
use super::section::Section;
use crate::advice::quoted;
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::rename::{self, is_one_name, scope};
use crate::sheet::{CountryForm, HiddenRows, MacForm, Options};

/// Declares the options. The name of a field is the key of the profile; behind the type stands the option of the command line.
macro_rules! reading_options {
    ($($(#[$attribute:meta])* $field:ident: $type:ty = $option:literal,)+) => {
        /// What one layer says about reading sheets; absent where it says nothing.
        #[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
        pub(in crate::cli) struct ReadingOptions {
            $($(#[$attribute])* #[arg(long = $option)] pub(in crate::cli) $field: $type,)+
        }

        /// The keys, as a table of the settings file has them.
        pub(super) const KEYS: &[&str] = &[$(stringify!($field),)+];

        impl ReadingOptions {
            /// Reads one table of a profile; every value is checked here, so that complaints name its line.
            pub(super) fn read(
                mut section: Section<'_>,
                elsewhere: impl Fn(&str) -> Option<String>,
            ) -> Result<Self> {
                let read = Self {
                    $($field: OptionValue::read(&mut section, stringify!($field), &|value: $type| {
                        Self { $field: value, ..Self::default() }.options().map(drop)
                    })?,)+
                };
                section.finish(elsewhere)?;
                Ok(read)
            }

            /// What a table of a profile holds for the same.
            fn table(&self) -> Table {
                let values = [$((stringify!($field), self.$field.written()),)+];
                let said = values.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
                said.collect()
            }

            /// What to type for the same: each option with its value, if it takes one.
            fn typed(&self) -> Vec<(&'static str, Option<String>)> {
                let mut typed = Vec::new();
                $(typed.extend(self.$field.typed().into_iter().map(|value| (<$type>::RANK, $option, value)));)+
                typed.sort_by_key(|(rank, ..)| *rank);
                typed.into_iter().map(|(_, option, value)| (option, value)).collect()
            }

            /// Each value of this layer over that of a lower one.
            fn each_over(self, lower: Self) -> Self {
                Self { $($field: self.$field.over(lower.$field),)+ }
            }
        }
    };
}

reading_options! {
    /// The kind of the rows, if sheet name, file name and headers do not show it
    #[arg(value_name = "KIND", help_heading = "Which sheets and rows")]
    kind: Option<Kind> = "kind",

    /// Read only this worksheet of workbooks; may be given several times
    #[arg(value_name = "NAME", help_heading = "Which sheets and rows")]
    worksheets: Vec<String> = "worksheet",

    /// Map a header of your sheet to a fleetload column: `--map "Department=name"`, or in the sheets of one kind only:
    /// `--map "companies.Firma=name"`; may be given several times
    #[arg(alias = "rename", value_name = "[KIND.]HEADER=COLUMN", value_parser = assignment, help_heading = "Columns")]
    map: Vec<(String, String)> = "map",

    /// The header of a column to ignore; may be given several times
    #[arg(value_name = "HEADER", help_heading = "Columns")]
    ignore_columns: Vec<String> = "ignore-column",

    /// The value for blank cells of a column: `--default companies.parent=ID`; may be given several times
    #[arg(value_name = "KIND.COLUMN=VALUE", value_parser = default_value, help_heading = "Columns")]
    defaults: Vec<(String, String)> = "default",

    /// The encoding of CSV files, if it is not detected: windows-1252, macintosh …
    #[arg(value_name = "NAME", help_heading = "CSV files", hide_short_help = true, display_order = 900)]
    encoding: Option<String> = "encoding",

    /// The field separator of CSV files, if it is not detected
    #[arg(value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    delimiter: Option<char> = "delimiter",

    /// The row of the header, if it is not detected
    #[arg(value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Which sheets and rows", hide_short_help = true)]
    header_row: Option<u32> = "header-row",

    /// Whether to import rows that are hidden, by a filter or by hand: `import` or `skip`
    #[arg(value_name = "WHAT", help_heading = "Which sheets and rows")]
    hidden_rows: Option<HiddenRows> = "hidden-rows",

    /// Read hidden worksheets as well
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Which sheets and rows", hide_short_help = true)]
    include_hidden: Option<bool> = "include-hidden",

    /// Use the value of cells merged down one column for each of their rows
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Which sheets and rows", hide_short_help = true)]
    fill_merged: Option<bool> = "fill-merged",

    /// Accept a sheet with a header and no rows
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Which sheets and rows", hide_short_help = true)]
    allow_empty: Option<bool> = "allow-empty",

    /// The character before a quotation mark inside a CSV cell, if such marks are not doubled: `\`
    #[arg(value_name = "CHARACTER", help_heading = "CSV files", hide_short_help = true)]
    escape: Option<char> = "escape",

    /// Accept companies, people and sites without address1
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Values", hide_short_help = true)]
    allow_missing_address1: Option<bool> = "allow-missing-address1",

    /// Also use the coordinates of a site for its address
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Values", hide_short_help = true)]
    copy_coordinates: Option<bool> = "copy-coordinates",

    /// Treat placeholders such as n/a as blank cells
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Values", hide_short_help = true)]
    placeholders_blank: Option<bool> = "placeholders-blank",

    /// How countries are sent: `as-is`, `alpha2` (NZ) or `name` (New Zealand)
    #[arg(value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    country: Option<CountryForm> = "country",

    /// How MAC addresses are sent: `colon`, `dash`, `dot` or `bare`
    #[arg(value_name = "FORM", help_heading = "Values", hide_short_help = true)]
    mac_form: Option<MacForm> = "mac-form",

    /// Warn about texts with more characters than this [default: 255]
    #[arg(value_name = "N", help_heading = "Values", hide_short_help = true)]
    longest_text: Option<usize> = "longest-text",

    /// Import the other rows when some have errors; rows with errors, and rows that depend on them, are not imported
    #[arg(num_args = 0, default_missing_value = "true", help_heading = "Which sheets and rows")]
    skip_invalid: Option<bool> = "skip-invalid",

    /// Treat a warning as an error: its code, or `warnings` for all; may be given several times
    #[arg(value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    deny: Vec<String> = "deny",

    /// Treat a warning as a note, by its code; may be given several times
    #[arg(value_name = "CODE", help_heading = "Findings", hide_short_help = true)]
    allow: Vec<String> = "allow",
}

/// A header and what it means. Either may have an equals sign, so that the last one that leaves a column behind it parts
/// them.
fn assignment(text: &str) -> std::result::Result<(String, String), String> {
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

/// A column of a kind and the value for its blank cells.
fn default_value(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((place, value)) => Ok((place.trim().to_owned(), value.trim().to_owned())),
        None => Err("it has no equals sign; write it as --default companies.parent=VALUE".to_owned()),
    }
}

impl ReadingOptions {
    /// Whether it says nothing.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This layer before a lower one: of the same header, column or code this one counts.
    #[must_use]
    pub(super) fn over(self, mut lower: Self) -> Self {
        // What is said for all sheets counts before what a lower layer says for those of one kind.
        let mapped = |header: &str| {
            let is_same = |from: &String| is_one_name(from, header) || is_one_name(from, scope(header).1);
            self.map.iter().any(|(from, _)| is_same(from))
        };
        let ignored = |header: &str| self.ignore_columns.iter().any(|name| is_one_name(name, header));
        let filled = |place: &str| self.defaults.iter().any(|(known, _)| known == place);
        let judged = |code: &String| self.deny.contains(code) || self.allow.contains(code);
        lower.map.retain(|(header, _)| !mapped(header) && !ignored(header));
        lower.ignore_columns.retain(|header| !mapped(header) && !ignored(header));
        lower.defaults.retain(|(place, _)| !filled(place));
        lower.worksheets.retain(|name| !self.worksheets.contains(name));
        lower.deny.retain(|code| !judged(code));
        lower.allow.retain(|code| !judged(code));
        self.each_over(lower)
    }

    /// What it says of columns and values. The form of files, and where in them rows stand, is another matter; and whether
    /// rows may be left out is asked again.
    #[must_use]
    pub(super) fn of_columns(self) -> Self {
        Self {
            kind: None,
            worksheets: Vec::new(),
            encoding: None,
            delimiter: None,
            header_row: None,
            hidden_rows: None,
            include_hidden: None,
            escape: None,
            skip_invalid: None,
            ..self
        }
    }

    /// The options of the reader.
    pub(super) fn options(&self) -> Result<Options> {
        let on = |flag: Option<bool>| flag == Some(true);
        let mut options = Options {
            kind: self.kind,
            sheets: self.worksheets.clone(),
            delimiter: self.delimiter,
            rename: self.map.clone(),
            ignore_columns: self.ignore_columns.clone(),
            header_row: self.header_row,
            hidden_rows: self.hidden_rows,
            include_hidden: on(self.include_hidden),
            fill_merged: on(self.fill_merged),
            allow_empty: on(self.allow_empty),
            escape: self.escape,
            allow_missing_address1: on(self.allow_missing_address1),
            copy_coordinates: on(self.copy_coordinates),
            placeholders_blank: on(self.placeholders_blank),
            country: self.country,
            mac_form: self.mac_form,
            longest_text: self.longest_text,
            ..Options::default()
        };
        options.check()?;
        for (header, column) in &self.map {
            rename::check(header, column)?;
        }
        for (place, value) in &self.defaults {
            options.set_default(&format!("{place}={value}"))?;
        }
        if let Some(encoding) = &self.encoding {
            options.set_encoding(encoding)?;
        }
        for word in &self.deny {
            options.policy.deny(word)?;
        }
        for code in &self.allow {
            options.policy.allow(code)?;
            if self.deny.contains(code) {
                return Err(Error::usage(format!("{code} is denied and allowed: choose one")));
            }
        }
        Ok(options)
    }

    /// The options to type for the same, each with a space before it.
    pub(super) fn command_line(&self) -> String {
        let words = self.typed().into_iter().map(|(option, value)| match value {
            Some(value) => format!(" --{option} {}", quoted(&value)),
            None => format!(" --{option}"),
        });
        words.collect()
    }

    /// The text of one table as it would stand in a settings file, with its name: `profile`, `acme`, `reading`.
    pub(super) fn written(&self, path: &[&str]) -> Result<String> {
        let mut table = Value::Table(self.table());
        for name in path.iter().rev() {
            table = Value::Table(Table::from_iter([((*name).to_owned(), table)]));
        }
        toml::to_string(&table)
            .map_err(|error| Error::internal("the options cannot be written as settings").because(error))
    }
}

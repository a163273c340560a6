//! One layer of what is said about reading sheets: the command line, a customer, or the whole account.
//!
//! A higher layer counts before a lower one; lists and tables add up. What a settings file says becomes a layer in
//! [`crate::cli::settings::reading_profile`]; which layers there are is decided in [`crate::cli::settings::reading`].

use crate::advice::quoted;
use crate::cli::args::reading_flags::Reading;
use crate::error::{Error, Result};
use crate::model::kind::Kind;
use crate::sheet::rename::{self, is_one_name, scope};
use crate::sheet::{CountryForm, HiddenRows, MacForm, Options};

/// What one layer says; absent where it says nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::cli) struct Layer {
    pub(in crate::cli) kind: Option<Kind>,
    pub(in crate::cli) worksheets: Vec<String>,
    pub(in crate::cli) map: Vec<(String, String)>,
    pub(in crate::cli) ignore_columns: Vec<String>,
    /// `companies.parent` and the value for its blank cells.
    pub(in crate::cli) defaults: Vec<(String, String)>,
    pub(in crate::cli) encoding: Option<String>,
    pub(in crate::cli) delimiter: Option<char>,
    pub(in crate::cli) header_row: Option<u32>,
    pub(in crate::cli) hidden_rows: Option<HiddenRows>,
    pub(in crate::cli) include_hidden: Option<bool>,
    pub(in crate::cli) fill_merged: Option<bool>,
    pub(in crate::cli) allow_empty: Option<bool>,
    pub(in crate::cli) escape: Option<char>,
    pub(in crate::cli) allow_missing_address1: Option<bool>,
    pub(in crate::cli) copy_coordinates: Option<bool>,
    pub(in crate::cli) placeholders_blank: Option<bool>,
    pub(in crate::cli) country: Option<CountryForm>,
    pub(in crate::cli) mac_form: Option<MacForm>,
    pub(in crate::cli) longest_text: Option<usize>,
    pub(in crate::cli) skip_invalid: Option<bool>,
    pub(in crate::cli) deny: Vec<String>,
    pub(in crate::cli) allow: Vec<String>,
}

impl Layer {
    /// What was typed.
    pub(in crate::cli) fn typed(reading: &Reading) -> Result<Self> {
        let given = |flag: bool| flag.then_some(true);
        let default = |assignment: &String| match assignment.split_once('=') {
            Some((place, value)) => Ok((place.trim().to_owned(), value.trim().to_owned())),
            None => Err(Error::usage(format!("--default '{assignment}' has no equals sign"))
                .hint("write it as --default companies.parent=VALUE")),
        };
        Ok(Self {
            kind: reading.kind,
            worksheets: reading.worksheets.clone(),
            map: reading.map.clone(),
            ignore_columns: reading.ignore_column.clone(),
            defaults: reading.default.iter().map(default).collect::<Result<_>>()?,
            encoding: reading.encoding.clone(),
            delimiter: reading.delimiter,
            header_row: reading.header_row,
            hidden_rows: reading.hidden_rows,
            include_hidden: given(reading.include_hidden),
            fill_merged: given(reading.fill_merged),
            allow_empty: given(reading.allow_empty),
            escape: reading.escape,
            allow_missing_address1: given(reading.allow_missing_address1),
            copy_coordinates: given(reading.copy_coordinates),
            placeholders_blank: given(reading.placeholders_blank),
            country: reading.country,
            mac_form: reading.mac_form,
            longest_text: reading.longest_text,
            skip_invalid: given(reading.skip_invalid),
            deny: reading.deny.clone(),
            allow: reading.allow.clone(),
        })
    }

    /// Whether it says nothing.
    pub(in crate::cli) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// This layer before a lower one: of the same header, column or code this one counts.
    #[must_use]
    pub(in crate::cli) fn over(self, lower: Self) -> Self {
        // What is said for all sheets counts before what a lower layer says for those of one kind.
        let mapped = |header: &str| {
            let is_same = |from: &String| is_one_name(from, header) || is_one_name(from, scope(header).1);
            self.map.iter().any(|(from, _)| is_same(from))
        };
        let ignored = |header: &str| self.ignore_columns.iter().any(|name| is_one_name(name, header));
        let filled = |place: &str| self.defaults.iter().any(|(known, _)| known == place);
        let judged = |code: &String| self.deny.contains(code) || self.allow.contains(code);
        let lower_map = lower.map.into_iter().filter(|(header, _)| !mapped(header) && !ignored(header));
        let lower_ignored =
            lower.ignore_columns.into_iter().filter(|header| !mapped(header) && !ignored(header));
        let lower_defaults = lower.defaults.into_iter().filter(|(place, _)| !filled(place));
        let lower_sheets = lower.worksheets.into_iter().filter(|name| !self.worksheets.contains(name));
        let lower_deny = lower.deny.into_iter().filter(|code| !judged(code));
        let lower_allow = lower.allow.into_iter().filter(|code| !judged(code));
        Self {
            map: self.map.iter().cloned().chain(lower_map).collect(),
            ignore_columns: self.ignore_columns.iter().cloned().chain(lower_ignored).collect(),
            defaults: self.defaults.iter().cloned().chain(lower_defaults).collect(),
            worksheets: self.worksheets.iter().cloned().chain(lower_sheets).collect(),
            deny: self.deny.iter().cloned().chain(lower_deny).collect(),
            allow: self.allow.iter().cloned().chain(lower_allow).collect(),
            kind: self.kind.or(lower.kind),
            encoding: self.encoding.or(lower.encoding),
            delimiter: self.delimiter.or(lower.delimiter),
            header_row: self.header_row.or(lower.header_row),
            hidden_rows: self.hidden_rows.or(lower.hidden_rows),
            include_hidden: self.include_hidden.or(lower.include_hidden),
            fill_merged: self.fill_merged.or(lower.fill_merged),
            allow_empty: self.allow_empty.or(lower.allow_empty),
            escape: self.escape.or(lower.escape),
            allow_missing_address1: self.allow_missing_address1.or(lower.allow_missing_address1),
            copy_coordinates: self.copy_coordinates.or(lower.copy_coordinates),
            placeholders_blank: self.placeholders_blank.or(lower.placeholders_blank),
            country: self.country.or(lower.country),
            mac_form: self.mac_form.or(lower.mac_form),
            longest_text: self.longest_text.or(lower.longest_text),
            skip_invalid: self.skip_invalid.or(lower.skip_invalid),
        }
    }

    /// What it says of columns and values. The form of files, and where in them rows stand, is another matter; and whether
    /// rows may be left out is asked anew.
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
    pub(in crate::cli) fn options(&self) -> Result<Options> {
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
    pub(in crate::cli) fn command_line(&self) -> String {
        let mut line = String::new();
        let mut add = |option: &str, value: &str| {
            line.push_str(&format!(" --{option} {}", quoted(value)));
        };
        let single = [
            ("kind", self.kind.map(|kind| kind.to_string())),
            ("encoding", self.encoding.clone()),
            ("delimiter", self.delimiter.map(String::from)),
            ("header-row", self.header_row.map(|row| row.to_string())),
            ("hidden-rows", self.hidden_rows.map(|choice| choice.word().to_owned())),
            ("escape", self.escape.map(String::from)),
            ("country", self.country.map(|form| form.word().to_owned())),
            ("mac-form", self.mac_form.map(|form| form.word().to_owned())),
            ("longest-text", self.longest_text.map(|length| length.to_string())),
        ];
        for (option, value) in single {
            value.iter().for_each(|value| add(option, value));
        }
        self.worksheets.iter().for_each(|name| add("worksheet", name));
        self.map.iter().for_each(|(header, column)| add("map", &format!("{header}={column}")));
        self.ignore_columns.iter().for_each(|header| add("ignore-column", header));
        self.defaults.iter().for_each(|(place, value)| add("default", &format!("{place}={value}")));
        self.deny.iter().for_each(|word| add("deny", word));
        self.allow.iter().for_each(|code| add("allow", code));
        for (option, given) in [
            ("include-hidden", self.include_hidden),
            ("fill-merged", self.fill_merged),
            ("allow-empty", self.allow_empty),
            ("allow-missing-address1", self.allow_missing_address1),
            ("copy-coordinates", self.copy_coordinates),
            ("placeholders-blank", self.placeholders_blank),
            ("skip-invalid", self.skip_invalid),
        ] {
            if given == Some(true) {
                line.push_str(&format!(" --{option}"));
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(left: &str, right: &str) -> (String, String) {
        (left.to_owned(), right.to_owned())
    }

    #[test]
    fn a_higher_layer_counts_for_the_same_header_column_and_code_and_the_rest_adds_up() {
        let high = Layer {
            map: vec![pair("Store No.", "key"), pair("Remark", "name")],
            ignore_columns: vec!["Notes".into()],
            defaults: vec![pair("sites.company", "C1")],
            encoding: Some("macintosh".into()),
            fill_merged: Some(false),
            allow: vec!["cell.phone".into()],
            ..Layer::default()
        };
        let low = Layer {
            map: vec![
                pair("store no", "reference"),
                pair("Ort", "city"),
                pair("notes", "suburb"),
                pair("Remark (old)", "suburb"),
            ],
            ignore_columns: vec!["remark".into(), "Notes (ours)".into(), "Colour".into()],
            defaults: vec![pair("sites.company", "C2"), pair("sites.country", "NZ")],
            encoding: Some("utf-8".into()),
            fill_merged: Some(true),
            header_row: Some(3),
            deny: vec!["cell.phone".into(), "warnings".into()],
            ..Layer::default()
        };
        let both = high.over(low);
        assert_eq!(
            both,
            Layer {
                map: vec![
                    pair("Store No.", "key"),
                    pair("Remark", "name"),
                    pair("Ort", "city"),
                    pair("Remark (old)", "suburb"),
                ],
                ignore_columns: vec!["Notes".into(), "Notes (ours)".into(), "Colour".into()],
                defaults: vec![pair("sites.company", "C1"), pair("sites.country", "NZ")],
                encoding: Some("macintosh".into()),
                fill_merged: Some(false),
                header_row: Some(3),
                deny: vec!["warnings".into()],
                allow: vec!["cell.phone".into()],
                ..Layer::default()
            }
        );
        let options = both.options().unwrap();
        assert!(!options.fill_merged);
        assert_eq!(options.header_row, Some(3));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let denied =
            Layer { deny: vec!["cell.phone".into()], allow: vec!["cell.phone".into()], ..Layer::default() };
        assert_eq!(denied.options().unwrap_err().what(), "cell.phone is denied and allowed: choose one");
        let wrong = Layer { defaults: vec![pair("sites.colour", "red")], ..Layer::default() };
        assert_eq!(wrong.options().unwrap_err().what(), "sites have no column 'colour'");
    }

    #[test]
    fn what_was_typed_can_be_typed_again() {
        let layer = Layer {
            kind: Some(Kind::Site),
            map: vec![pair("Store No.", "key")],
            delimiter: Some(';'),
            hidden_rows: Some(HiddenRows::Skip),
            skip_invalid: Some(true),
            ..Layer::default()
        };
        assert_eq!(
            layer.command_line(),
            " --kind sites --delimiter ';' --hidden-rows skip --map 'Store No.=key' --skip-invalid"
        );
    }
}

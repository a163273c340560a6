//! What a person can say about sheets that the sheets do not say themselves.

use std::sync::Arc;

use encoding_rs::Encoding;

use super::finding::severity_policy::SeverityPolicy;
use super::table::column;
use super::table::column::{Column, Family, Need};
use super::text;
use crate::error::{Error, Result};
use crate::model::id::check::IdCheck;
use crate::model::kind::Kind;
use crate::model::policy::choice;
use crate::model::zone::ZoneList;

choice! {
    /// What becomes of rows that a filter or a person has hidden.
    HiddenRows {
        /// They are imported as the others are.
        Import = "import",
        /// They are left out.
        Skip = "skip",
    }
}
choice! {
    /// How countries are sent (the specification shows no form).
    CountryForm {
        /// As they stand in the sheet.
        AsIs = "as-is",
        /// As a code of two letters: NZ.
        Alpha2 = "alpha2",
        /// As a name: New Zealand.
        Name = "name",
    }
}
choice! {
    /// How MAC addresses are sent (the specification shows no form).
    MacForm {
        /// 00:1a:2b:3c:4d:5e
        Colon = "colon",
        /// 00-1a-2b-3c-4d-5e
        Dash = "dash",
        /// 001a.2b3c.4d5e
        Dot = "dot",
        /// 001a2b3c4d5e
        Bare = "bare",
    }
}

/// How sheets are to be read. The default reads them as they are.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the rows are, for files whose name and headers do not say it.
    pub kind: Option<Kind>,
    /// The worksheets to read; all that fit when there are none.
    pub sheets: Vec<String>,
    /// What stands between the cells of text tables.
    pub delimiter: Option<char>,
    /// Headers that mean a column: as written, and as in the table of columns.
    pub rename: Vec<(String, String)>,
    /// Headers of columns that are not read.
    pub ignore_columns: Vec<String>,
    /// The row of the header, where it is not found by itself.
    pub header_row: Option<u32>,
    /// What becomes of hidden rows; with neither choice they are an error.
    pub hidden_rows: Option<HiddenRows>,
    /// Whether hidden worksheets are read as well.
    pub include_hidden: bool,
    /// Whether the value of a merge down one column counts for all its rows.
    pub fill_merged: bool,
    /// Whether a header without rows is right.
    pub allow_empty: bool,
    /// The character that text tables write before a quotation mark inside a cell, where they do not double it.
    pub escape: Option<char>,
    /// Whether companies, people and sites may be without a first line of address.
    pub allow_missing_address1: bool,
    /// Whether the coordinates of a site are its address's too.
    pub copy_coordinates: bool,
    /// Whether a placeholder such as `n/a` counts as blank.
    pub placeholders_blank: bool,
    /// How countries are sent; as they stand when nothing is said.
    pub country: Option<CountryForm>,
    /// How MAC addresses are sent; with colons when nothing is said.
    pub mac_form: Option<MacForm>,
    /// From how many characters on a text draws a warning; 255 when nothing is said.
    pub longest_text: Option<usize>,
    /// Which warnings count as errors, and which as notes.
    pub policy: SeverityPolicy,
    /// What the rows are read for.
    pub row_use: RowUse,
    /// Whether every finding is to be listed, and not only the first of many equal ones.
    pub list_all: bool,
    /// The time zones that the service lists, where it has been asked; the IANA list is looked into otherwise.
    pub zones: Option<Arc<ZoneList>>,
    /// What look-ups have shown of the ids that the sheets name, where the service has been asked.
    pub ids: Option<Arc<IdCheck>>,
    pub(crate) defaults: Vec<(Kind, &'static str, String)>,
    pub(crate) encoding: Option<&'static Encoding>,
}

/// What rows are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowUse {
    /// To import them, or to see what would come of that.
    #[default]
    Import,
    /// To find what is wrong with them: what a record would be is not worked out.
    Check,
}

/// Whether a character can stand between the cells of text tables, or before a quotation mark inside one: a character of
/// one byte that can be typed, and no quotation mark itself.
pub(crate) fn is_mark(character: char) -> bool {
    character == '\t' || (matches!(character, ' '..='~') && character != '"')
}

impl Options {
    /// Sees that text tables can be cut as it is said.
    ///
    /// # Errors
    /// Usage, when a character was named that cannot do what it is named for.
    pub fn check(&self) -> Result<()> {
        for (character, what) in
            [(self.delimiter, "be the field separator"), (self.escape, "be the escape character")]
        {
            if let Some(character) = character.filter(|character| !is_mark(*character)) {
                return Err(Error::usage(format!(
                    "'{}' cannot {what}",
                    super::finding::shown(&character.to_string())
                ))
                .hint("name a tab, or a character of a plain keyboard other than the quotation mark, such as ; or \\"));
            }
        }
        Ok(())
    }

    /// Fills blank cells of a column: `companies.parent=<value>`.
    ///
    /// # Errors
    /// When the kind or the column does not exist.
    pub fn set_default(&mut self, assignment: &str) -> Result<()> {
        let wrong = |what: String| Error::usage(what).hint("write it as companies.parent=VALUE");
        let (place, value) =
            assignment.split_once('=').ok_or_else(|| wrong(format!("'{assignment}' has no equals sign")))?;
        let (kind, name) =
            place.split_once('.').ok_or_else(|| wrong(format!("'{place}' names no column of a kind")))?;
        let kind: Kind = kind.trim().parse().map_err(|error| wrong(format!("{error}")))?;
        let column = column::column(kind, name.trim())
            .filter(|column| !matches!(column.family(), Some(Family::Label | Family::Meta | Family::Snat)))
            .ok_or_else(|| {
                let error = Error::usage(format!("{kind} have no column '{}'", name.trim()));
                let names = column::columns(kind).iter().filter(|column| column.family().is_none());
                match text::nearest(name.trim(), names.map(|column| column.name)).first() {
                    Some(known) => error.hint(format!("did you mean {kind}.{known}=VALUE?")),
                    None => {
                        error.hint(format!("name a column that {kind} have, as in companies.parent=VALUE"))
                    }
                }
            })?;
        self.defaults.push((kind, column.name, value.trim().to_owned()));
        Ok(())
    }

    /// Names the encoding of text tables: `windows-1252`, `macintosh`.
    ///
    /// # Errors
    /// When no such encoding is known.
    pub fn set_encoding(&mut self, label: &str) -> Result<()> {
        let encoding = Encoding::for_label(label.trim().as_bytes()).ok_or_else(|| {
            Error::usage(format!("'{label}' is not a known encoding"))
                .hint("try utf-8, windows-1252 or macintosh")
        })?;
        self.encoding = Some(encoding);
        Ok(())
    }

    /// The value for blank cells of a column.
    pub(crate) fn default_for(&self, kind: Kind, column: &str) -> Option<&str> {
        self.defaults
            .iter()
            .rev()
            .find(|(of, name, _)| *of == kind && *name == column)
            .map(|(.., value)| value.as_str())
    }

    /// The column of a kind as it is to be read: where it was said that records may be without a first line of address,
    /// no row but a device's needs one.
    pub(crate) fn relaxed(&self, kind: Kind, column: &'static Column) -> &'static Column {
        let may_lack = self.allow_missing_address1 && kind != Kind::Device;
        let address1 =
            column::address1_that_may_lack().filter(|address1| may_lack && address1.name == column.name);
        address1.unwrap_or(column)
    }

    /// Whether a column that every row needs need not be there: it has a default, or was said to be dispensable.
    pub(crate) fn can_do_without(&self, kind: Kind, name: &str) -> bool {
        self.default_for(kind, name).is_some()
            || column::column(kind, name)
                .is_some_and(|column| self.relaxed(kind, column).need != Need::Required)
    }

    pub(crate) fn encoding(&self) -> Option<&'static Encoding> {
        self.encoding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_names_a_column_that_exists() {
        let mut options = Options::default();
        options.set_default("Companies.parent=acme").unwrap();
        assert_eq!(options.default_for(Kind::Company, "parent"), Some("acme"));
        assert_eq!(options.default_for(Kind::Site, "parent"), None);
        for wrong in ["parent=acme", "companies.parent", "companies.mac=1", "firms.parent=1", "sites.meta:=1"]
        {
            assert!(options.set_default(wrong).is_err(), "{wrong}");
        }
        assert!(options.set_encoding("latin1").is_ok());
        assert!(options.set_encoding("klingon").is_err());
    }
}

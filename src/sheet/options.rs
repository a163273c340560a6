//! What a person can say about sheets that the sheets do not say themselves.

use encoding_rs::Encoding;

use crate::error::{Error, Result};
use crate::model::kind::Kind;

use super::column::{self, Family};

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
    pub(crate) defaults: Vec<(Kind, &'static str, String)>,
    pub(crate) encoding: Option<&'static Encoding>,
}

impl Options {
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
            .ok_or_else(|| wrong(format!("{kind} have no column '{}'", name.trim())))?;
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
        options.set_default("companies.parent=acme").unwrap();
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

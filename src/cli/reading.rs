//! How files are to be read: the options of the command line as [`crate::sheet`] takes them.

use super::commands::Reading;
use crate::error::Result;
use crate::sheet::Options;

impl Reading {
    /// The options of the reader.
    pub(super) fn options(&self) -> Result<Options> {
        let mut options = Options {
            kind: self.kind,
            sheets: self.worksheets.clone(),
            delimiter: self.delimiter,
            rename: self.map.clone(),
            ignore_columns: self.ignore_column.clone(),
            header_row: self.header_row,
            hidden_rows: self.hidden_rows,
            include_hidden: self.include_hidden,
            fill_merged: self.fill_merged,
            allow_empty: self.allow_empty,
            escape: self.escape,
            allow_missing_address1: self.allow_missing_address1,
            copy_coordinates: self.copy_coordinates,
            placeholders_blank: self.placeholders_blank,
            country: self.country,
            mac_form: self.mac_form,
            longest_text: self.longest_text,
            ..Options::default()
        };
        for assignment in &self.default {
            options.set_default(assignment)?;
        }
        if let Some(encoding) = &self.encoding {
            options.set_encoding(encoding)?;
        }
        Ok(options)
    }
}

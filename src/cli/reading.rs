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
            rename: self.rename.clone(),
            ignore_columns: self.ignore_column.clone(),
            header_row: self.header_row,
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

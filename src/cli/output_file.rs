//! What is said of a file that a command is to write: that it may not replace what is there, or cannot be written.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Refuses a file that `option` names and that is there already, unless it is one that may be replaced: `a plan page`.
pub(super) fn refuse_unless(may_be_replaced: bool, file: &Path, what: &str, option: &str) -> Result<()> {
    if may_be_replaced || !file.exists() {
        return Ok(());
    }
    Err(Error::usage(format!("{} already exists and is not {what}", file.display()))
        .hint(format!("name another file with {option}, or remove this one first")))
}

/// Refuses a name that is not that of a workbook.
pub(super) fn refuse_other_names(out: &Path) -> Result<()> {
    if out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xlsx")) {
        return Ok(());
    }
    Err(Error::usage(format!("--out: {} is not a name for a workbook", out.display()))
        .hint("name a file that ends in .xlsx"))
}

/// The error of a file that cannot be written.
pub(super) fn unwritable(what: impl Display, error: io::Error) -> Error {
    Error::usage(format!("{what} cannot be written"))
        .because(error)
        .hint("name a file in an existing folder that you may write to")
}

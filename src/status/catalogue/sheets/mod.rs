//! The findings in sheets: what each means, what would happen if it were accepted, what to do in the spreadsheet or
//! which option to use, and a cell before and after.

mod cells;
mod files;
mod identity;
mod structure;
mod text;

use super::{Entry, Scope};
use crate::advice::Parts;

/// Every finding, by what it is about.
pub(super) const ALL: &[&[Entry]] =
    &[files::ENTRIES, structure::ENTRIES, cells::ENTRIES, text::ENTRIES, identity::ENTRIES];

const fn found(code: &'static str, words: &'static str, matters: &'static str, advice: Parts) -> Entry {
    Entry::new(Scope::Sheets, code, words, matters, advice)
}

/// How a column is made text, in the two programs that people have.
macro_rules! as_text {
    ($and:literal) => {
        concat!(
            "Select the column and make it text: in Excel with Format Cells (Ctrl+1), Number, Text; in LibreOffice \
             with Format, Cells, Numbers, Text. The format alone does not restore the values: ",
            $and
        )
    };
}
use as_text;

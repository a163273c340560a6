//! Spreadsheets in: from a file to drafts of records, and every problem on the way with its place.
//!
//! ```text
//! file/        what the bytes are: format, encoding, the cells of text tables and workbooks
//! table/       where the tables, their headers and their columns are, and what each column is called
//! row/         a table read row by row: cells under their columns, rules within a row, the draft of its record
//! field/       one cell under the form of its column, one file a form
//! text/        normalisation, and signs that text was damaged
//! cross_row/   what holds between rows: duplicates, references, order
//! finding/     what is wrong, with its code, its place and its severity
//! data/        tables of countries, time zones and words
//! template/    blank sheets to fill in
//! ```
//!
//! Rows are streamed: nothing here keeps a whole sheet. What is done with drafts is left to the layers above.

mod address;
mod cell;
pub mod cross_row;
mod data;
mod field;
mod file;
pub mod finding;
pub mod formula_guard;
mod options;
mod read_ahead;
mod row;
mod table;
pub mod template;
pub(crate) mod text;

pub(crate) use address::{address, column_of_address};
pub(crate) use cell::{Cell, CellKind, NumberShown, TEXT_LIMIT};
pub use field::{Pointer, fold_key};
pub(crate) use field::{keeps, unwrap};
pub(crate) use file::csv::Damage;
pub use file::encoding::TextEncoding;
pub(crate) use file::preflight::MailLink;
pub use file::source::{Format, SourceFile, locked};
pub use finding::ranges::Places;
pub use finding::severity_policy::SeverityPolicy;
pub use options::{CountryForm, HiddenRows, MacForm, Options, RowUse};
#[cfg(test)]
pub(crate) use read_ahead::{AHEAD, BATCH};
pub(crate) use read_ahead::{read_ahead, weight};
pub(crate) use row::RawRow;
pub use row::draft::{Draft, Reference, column_of_role};
pub use row::reading::TableSummary;
pub(crate) use row::upkeep::subject_column;
pub use row::{Row, RowIdentity};
pub use table::book::{Book, open, open_as};
pub use table::header::{Mapped, kind_of_name, meaning};
pub(crate) use table::header_name::is_result;
pub use table::header_name::{fold, typed};
pub use table::widths::RowWidths;
pub use table::{Table, column, rename};
pub(crate) use text::{did_you_mean, nearest};

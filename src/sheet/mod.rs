//! Spreadsheets in: from a file to drafts of records, and every problem on the way with its place.
//!
//! ```text
//! source      what a file is, by its first bytes          encoding, csv, workbook   its rows and cells
//! table       its header, its kind, its columns           column, columns/          the one table of columns
//! field/      one cell under the form of its column       draft                     one row to one record
//! book        opens a file, reads its tables row by row   between                   what holds between rows
//! ```
//!
//! Rows are streamed: nothing here keeps a whole sheet. What is done with drafts is left to the floors above.

pub mod between;
mod book;
mod cell;
mod code;
pub mod column;
mod columns;
mod counts;
mod csv;
mod damage;
mod draft;
mod encoding;
mod field;
pub mod finding;
pub mod guard;
mod header;
mod options;
mod reading;
mod row;
mod source;
mod table;
pub mod template;
mod text;
mod workbook;

pub use book::{Book, open};
pub(crate) use cell::address;
pub use draft::{Draft, Reference, column_of_role};
pub use encoding::TextEncoding;
pub use field::{Pointer, fold_key};
pub use header::{Mapped, fold, kind_of_name, meaning};
pub use options::{CountryForm, HiddenRows, MacForm, Options};
pub use reading::Summary;
pub use row::{Identity, Row};
pub use source::{Format, SourceFile};
pub use table::Table;

//! Spreadsheets in: from a file to drafts of records, and every problem on the way with its place.
//!
//! ```text
//! source      what a file is, by its first bytes           encoding, csv, workbook   its rows and cells
//! preflight/  a workbook, before anything of it is believed
//! book        opens a file and finds its tables            table     where a header is, what its columns mean
//! columns     the one table of columns                     header    which column a name in a header means
//! reading     a table, row by row                          row       its cells, each under its column
//! field/      one cell under the form of its column        draft     the record that a row asks for
//! between/    what holds between rows                      options   what a person says about sheets
//! finding     what is wrong, with its place                findings  all of them (code, places, policy)
//! template    blank sheets to fill in
//! ```
//!
//! Rows are streamed: nothing here keeps a whole sheet. What is done with drafts is left to the floors above.

pub mod between;
mod book;
mod cell;
mod code;
pub mod column;
mod columns;
mod content;
mod counts;
mod csv;
mod damage;
mod draft;
mod encoding;
mod exclusion;
mod field;
pub mod finding;
mod findings;
pub mod guard;
mod header;
mod layout;
mod options;
mod places;
mod policy;
mod preflight;
mod reading;
pub mod rename;
mod row;
mod source;
mod survey;
mod table;
mod tally;
pub mod template;
pub(crate) mod text;
mod widths;
mod workbook;

pub use book::{Book, open, open_as};
pub(crate) use cell::{Cell, CellKind, TEXT_LIMIT, address, column_of_address};
pub(crate) use csv::Damage;
pub use draft::{Draft, Reference, column_of_role};
pub use encoding::TextEncoding;
pub(crate) use field::unwrapped;
pub use field::{Pointer, fold_key};
pub use header::{Mapped, fold, kind_of_name, meaning, typed};
pub use options::{CountryForm, HiddenRows, MacForm, Options};
pub use places::Places;
pub use policy::Policy;
pub(crate) use preflight::Link;
pub use reading::Summary;
pub(crate) use row::Raw;
pub use row::{Identity, Row};
pub use source::{Format, SourceFile, locked};
pub use table::Table;
pub use widths::Widths;

//! Cells: text, numbers and the fields of the service.
//!
//! `record` makes one row that is right of each kind, in which a test spoils one cell.

mod fields;
mod numbers;
mod phones;
mod places;
mod record;
mod text;

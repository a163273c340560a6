//! Reads what exists at the service, and changes nothing: searches for ids, and exports.
//!
//! ```text
//! search     finds records by name, MAC address, username or id
//!
//! subject    what can be exported           column   the columns of each, from columns.csv
//! scope      which records an export is about, and the ways to find them
//! owner      one of them                    row      a row about it
//! answers    the rows of an owner           rows     these, each made when it is asked for
//! exporter   the rows of all, many owners side by side
//! ```

mod answers;
mod column;
mod exporter;
mod owner;
mod row;
mod rows;
mod scope;
mod search;
mod subject;

pub use column::{Column, NOTE, OTHER};
pub use exporter::{Exporter, SIDE_BY_SIDE};
pub use owner::{NamedRecord, Owner};
pub use row::{Row, Standing};
pub use rows::Rows;
pub use scope::{Scope, Survey, SurveyError, survey};
pub use search::{Hit, Query, SearchResult, Sought, as_id, is_username, search, shown_name};
pub use subject::{OwnerKind, Subject};

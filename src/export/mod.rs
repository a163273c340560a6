//! Reads what exists at the service, and changes nothing: searches for ids, and exports.
//!
//! ```text
//! reader   asks the service, at the pace of the limiter of each operation
//! search   finds records by name, MAC address, username or id
//! ```

mod reader;
mod search;

pub use reader::{ReadError, ServiceReader};
pub use search::{Hit, Query, SearchResult, Sought, as_id, is_username, search, shown_name};

//! The journal file: opening, migration, locking, copies, and what an error of SQLite means.

pub(super) mod backup;
pub(super) mod column;
pub(super) mod db_file;
pub(super) mod file_watch;
pub(super) mod location;
pub(super) mod lock;
pub(super) mod migrate;
pub(super) mod open;
pub(super) mod page_check;
pub(super) mod salvage;
pub(super) mod snapshot;
pub(super) mod sqlite_error;

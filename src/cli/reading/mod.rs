//! Commands that read what exists in the service: `find` and `export`; and the access to the service of whatever asks it outside of a run.

pub(super) mod access;
pub(super) mod export;
pub(super) mod export_output;
pub(super) mod find;
pub(super) mod reference;
mod sheet_records;

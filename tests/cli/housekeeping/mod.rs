//! Looking after the journal for a year of nights: backups, and what is removed when it is old.

mod backup;
mod prune;

//! The files of a report: their folder, their names, and how they take the place of earlier ones.

pub(super) mod atomic_write;
pub(super) mod edited_fix_files;
pub(super) mod folder;
pub(super) mod names;

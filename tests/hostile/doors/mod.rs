//! The doors through which things come in that others wrote: one function for each, which takes bytes, makes of them
//! what the door lets in, and asserts what must hold whatever they are. Shared by the tests beside it and by `fuzz/`.

#![allow(dead_code, reason = "a fuzz target knocks at one door, the tests at all of them")]

pub(crate) mod answers;
mod base;
mod input;
pub(crate) mod journal;
pub(crate) mod sandbox;
pub(crate) mod settings;
pub(crate) mod sheets;

/// Takes any bytes in.
pub(crate) type Door = fn(&[u8]);

/// The doors by name.
pub(crate) const ALL: [(&str, Door); 12] = [
    ("csv", sheets::csv),
    ("import", sheets::import),
    ("xlsx_archive", sheets::archive),
    ("xlsx_parts", sheets::workbook),
    ("answers", answers::answer),
    ("profile", settings::profile),
    ("journal_file", journal::file),
    ("journal_bytes", journal::bytes),
    ("journal_values", journal::values),
    ("spill", journal::spill),
    ("scenario", sandbox::scenario),
    ("requests", sandbox::requests),
];

/// The door of a name.
pub(crate) fn by_name(name: &str) -> Option<Door> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, door)| *door)
}

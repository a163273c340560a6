//! Spreadsheets as people, programs and villains make them: every hazard with a small file made for it, and what is
//! found in it. Each test says what its file imitates; the letter and number before its name are those of `docs/hazards.md`; a test of hazard F7 is called `f07_…`.
//!
//! `desk` makes the files and reads what is found.

mod books;
mod cells;
mod damage;
mod desk;
mod files;
mod fixed;
mod headers;
mod listing;
mod others;
mod records;
mod rows;
mod structure;
mod trial;

//! Where things stand and what to do next: the words for every code, and the commands to type.
//!
//! Every surface takes them from here: the terminal, JSON, the page and the workbooks.

pub mod catalogue;
pub mod next_command;
pub mod row_advice;
pub mod row_words;

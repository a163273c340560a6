//! Sheets that are not named one by one: folders of them, a sheet from standard input, and a folder that is watched.

mod folders;
mod stdin;
mod watch;

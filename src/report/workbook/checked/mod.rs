//! `check --out`: the user's workbook written back with every finding in its cell.
//!
//! ```text
//! by_row      what was found in a table, row by row, and the words about a row
//! list_sheet  the first sheet: everything that was found, counted and each with a link to its cell
//! sheet       one sheet of the input, every cell where it stood, red and amber cells with notes
//! ```
//!
//! One workbook for each file whose tables were found, also when nothing of it can be imported. Rows are read once more
//! and streamed. What stands in the folder is replaced only while it is as we wrote it: a workbook that somebody has
//! corrected since is theirs.
//!
//! Whether it is as we wrote it, the workbook itself tells: a check keeps no journal, and its folder may be any, so that
//! no note of ours lies beside it. The files of rows to correct are known by their digests instead (`kept`): a CSV file
//! tells nothing of itself, and by the same digest it is known whether some import has read it.

mod by_row;
mod list_sheet;
mod sheet;

use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::sheet::finding::{Finding, Findings, Group, Severity};
use crate::sheet::{Book, Table};

use self::by_row::{ByRow, CheckedRows, RepeatedFindings};

use super::{WorkbookFile, properties};
use crate::report::atomic_write::{Beside, FileChange, Folder};
use crate::report::names::{Names, naming_kind};

/// How the names of the workbooks end.
const ENDING: &str = ".checked.xlsx";
/// What the workbooks call themselves, to be known again.
const TITLE: &str = "fleetload, checked sheets";
/// Always the same moment, so that the same sheets give the same bytes.
const MADE: &str = "2026-01-01T00:00:00";

/// Where the checked workbooks of some files go.
#[derive(Debug)]
pub struct Checked {
    folder: PathBuf,
    /// Of each file the path it was given by and the name of its workbook.
    names: Vec<(PathBuf, String)>,
}

impl Checked {
    /// Names the workbooks, and sees that nothing of the user's stands in their place.
    ///
    /// # Errors
    /// Usage when a workbook of such a name is there that is not as we wrote it, or a file is named twice, so that the
    /// findings do not say which of them is meant.
    pub fn prepare(files: &[PathBuf], folder: &Path) -> Result<Self> {
        let mut names: Vec<(PathBuf, String)> = Vec::new();
        let mut stems = Names::default();
        for file in files {
            if names.iter().any(|(other, _)| other == file || is_same(other, file)) {
                return Err(
                    Error::usage(format!("{} is named twice", file.display())).hint("name every file once")
                );
            }
            let stem = told_apart(file, files);
            // A workbook that is read is never written over: it is the one that somebody has corrected.
            let name = loop {
                let name = format!("{}{ENDING}", stems.stem(&stem));
                let target = folder.join(&name);
                if !files.iter().any(|file| is_same(file, &target)) {
                    break name;
                }
            };
            names.push((file.clone(), name));
        }
        let checked = Self { folder: folder.to_owned(), names };
        for (_, name) in &checked.names {
            let target = checked.folder.join(name);
            if target.exists() && !is_as_written(&target) {
                return Err(Error::usage(format!(
                    "{} is there already and was changed since",
                    target.display()
                ))
                .hint("check that workbook instead, or name another folder with --out"));
            }
        }
        Ok(checked)
    }

    /// Writes a workbook for each of the books, with what was found in them; `usable` says of a row, counted over all
    /// tables of all books, whether it and everything it depends on is free of errors; `again` is the command that checks
    /// a workbook. Hands back what was written.
    ///
    /// # Errors
    /// When a file can no longer be read, or a workbook cannot be written. Nothing is replaced then.
    pub fn write(
        &self,
        books: &[Book],
        findings: &Findings,
        usable: &dyn Fn(usize) -> bool,
        again: &dyn Fn(&Path) -> String,
    ) -> Result<Vec<PathBuf>> {
        let folder = Folder::of_check(&self.folder)?;
        let mut changes = Vec::new();
        let mut first = 0;
        let shortened = findings.shortened();
        for book in books {
            let found: Vec<&Finding> =
                findings.iter().chain(&shortened).filter(|finding| finding.file == book.file.name).collect();
            let surveys = book
                .tables
                .iter()
                .map(|table| CheckedRows::of(book, table, &mut first, usable))
                .collect::<Result<Vec<_>>>()?;
            if let Some((_, name)) = self.names.iter().find(|(path, _)| *path == book.file.path) {
                let again = again(&self.folder.join(name));
                changes.push(FileChange::Put(workbook(
                    &folder,
                    (name, &again),
                    (book, &surveys),
                    (findings, &found),
                )?));
            }
        }
        folder.commit(changes).map(|(written, _)| written)
    }
}

/// The worksheets of a book that cannot be read as they are, so that they are not in its checked workbook.
pub fn unreadable_sheets<'f>(book: &Book, findings: &'f Findings) -> Vec<&'f str> {
    let mut names: Vec<&str> = Vec::new();
    for Group { key, .. } in findings.groups() {
        let is_here = key.file == book.file.name && key.severity == Severity::Fatal;
        let is_shown = || book.tables.iter().any(|table| table.worksheet == key.sheet);
        if let Some(sheet) = key.sheet.as_deref().filter(|_| is_here && !is_shown())
            && !names.contains(&sheet)
        {
            names.push(sheet);
        }
    }
    names
}

/// Writes the workbook of a book.
fn workbook(
    folder: &Folder,
    (name, again): (&str, &str),
    (book, surveys): (&Book, &[CheckedRows]),
    (findings, found): (&Findings, &[&Finding]),
) -> Result<Beside> {
    let mut file = WorkbookFile::begin(folder, name, TITLE, MADE)?;
    let worksheets = worksheet_names(&book.tables);
    let list = list_sheet::List { book, findings, found, surveys, worksheets: &worksheets, again };
    file.add_own_sheet()?;
    file.fill_first(|sheet, styles| list_sheet::fill(sheet, styles, &list))?;
    for ((table, worksheet), survey) in book.tables.iter().zip(&worksheets).zip(surveys) {
        let by_row = ByRow::of(found, table);
        let spans = RepeatedFindings::of(findings, book, table);
        sheet::write(&mut file, worksheet, (book, table), survey, (&by_row, spans))?;
    }
    file.finish()
}

/// The names of the worksheets: as they were; a text table is named so that its name says what its rows are.
fn worksheet_names(tables: &[Table]) -> Vec<String> {
    let mut names = Names::without(&[list_sheet::NAME]);
    tables
        .iter()
        .map(|table| match &table.worksheet {
            Some(worksheet) => names.worksheet(worksheet),
            None => names.worksheet(&naming_kind(&table.name, table.kind)),
        })
        .collect()
}

/// The name of a file without its ending; where others of the same name are checked with it, with as many of its folders
/// before it as tell them apart.
fn told_apart(file: &Path, files: &[PathBuf]) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let above = folders(file);
    let same_name = files.iter().filter(|other| *other != file && other.file_name() == file.file_name());
    let others: Vec<Vec<String>> = same_name.map(|other| folders(other)).collect();
    let is_told =
        |count: &usize| others.iter().all(|other| other.iter().take(*count).ne(above.iter().take(*count)));
    let count = (0..=above.len()).find(is_told).unwrap_or(above.len());
    let mut parts: Vec<&str> = above.iter().take(count).map(String::as_str).rev().collect();
    parts.push(&stem);
    parts.join("-")
}

/// The names of the folders above a file as it was given, the nearest first.
fn folders(file: &Path) -> Vec<String> {
    let parts = file.parent().into_iter().flat_map(Path::components).rev();
    parts
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

/// Whether two paths lead to the same file that is there.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Whether a workbook is one of ours that nobody has saved since: every program that saves it notes when.
fn is_as_written(path: &Path) -> bool {
    let Some(properties) = properties(path) else { return false };
    let between = |open: &str, close: &str| {
        let start = properties.find(open)? + open.len();
        let length = properties[start..].find(close)?;
        Some(&properties[start..start + length])
    };
    let moment = |tag: &str| {
        let text = between(&format!("<dcterms:{tag}"), "</")?;
        Some(text.split_once('>')?.1.to_owned())
    };
    between("<dc:title>", "</") == Some(TITLE)
        && moment("created").is_some_and(|made| made.starts_with(MADE) && Some(made) == moment("modified"))
}

#[cfg(test)]
mod tests;

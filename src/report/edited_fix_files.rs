//! Keeps fix files of an earlier report that somebody has edited: they are known by the digest that report noted, and get
//! another name before the file is written again or removed.
//!
//! A file that nothing is known of is taken for corrected: a copy too many does no harm. What is written in its place
//! is left to [`crate::report::atomic_write`]. Workbooks of a check have no report beside them that could note a digest: they tell by
//! themselves whether somebody has saved them since (`checked`).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Result;

use crate::report::atomic_write::{FileChange, Folder, digest};
use crate::report::format::summary_json::{self, fix_digests, is_fix};
use crate::sheet::{self, Options};

/// What is put into the name of a file that somebody has changed.
const EDITED: &str = "edited";

/// A fix file that somebody has changed, where it is kept now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFix {
    /// Under its new name.
    pub path: PathBuf,
    /// Whether some import has read it as it is.
    pub is_imported: bool,
    /// Whether it has a row that could be imported; what cannot be read may have some.
    pub has_rows: bool,
}

/// Keeps what was changed in the fix files that are replaced or removed. `is_imported` says whether a file of this digest was
/// imported.
pub(super) fn keep(
    folder: &Folder,
    changes: &mut [FileChange],
    is_imported: &dyn Fn(&str) -> bool,
) -> Result<Vec<KeptFix>> {
    let before = before(folder.path());
    let written = fix_digests(folder, changes)?;
    let mut kept = Vec::new();
    for change in changes {
        let name = match change {
            FileChange::Put(beside) => beside.name(),
            FileChange::Remove(name) => name,
        };
        if !is_fix(name) {
            continue;
        }
        let path = folder.path().join(name);
        let found = match File::open(&path).and_then(digest) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(|error| folder.failed("the file", &path, error))?,
        };
        if [before.get(name), written.get(name)].contains(&Some(&found)) {
            continue;
        }
        let path = put_aside(&path, &found).map_err(|error| folder.failed("the file", &path, error))?;
        let has_rows = has_rows(&path);
        kept.push(KeptFix { path, is_imported: is_imported(&found), has_rows });
    }
    Ok(kept)
}

/// See [`KeptFix::has_rows`].
fn has_rows(path: &Path) -> bool {
    let Ok(book) = sheet::open(path, &Options::default()) else { return true };
    book.tables
        .iter()
        .any(|table| book.read(table, &mut |_row| Ok(())).map_or(true, |summary| summary.rows > 0))
}

/// The digests that the report of before noted.
pub(super) fn before(folder: &Path) -> BTreeMap<String, String> {
    let summary = summary_json::before(folder).unwrap_or_default();
    let digests = summary.get(summary_json::WRITTEN).and_then(Value::as_object).into_iter().flatten();
    digests.filter_map(|(name, digest)| Some((name.clone(), digest.as_str()?.to_owned()))).collect()
}

/// Gives the content of a file a second name that is free, or already its own; that name.
fn put_aside(path: &Path, found: &str) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let target = edited(path, number);
        match fs::hard_link(path, &target) {
            Ok(()) => return Ok(target),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if File::open(&target).and_then(digest).is_ok_and(|there| there == found) {
                    return Ok(target);
                }
            }
            // Not every disk lets a file have two names.
            Err(_) => match File::create_new(&target) {
                Ok(mut copy) => {
                    io::copy(&mut File::open(path)?, &mut copy)?;
                    copy.sync_all()?;
                    return Ok(target);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            },
        }
        number += 1;
    }
}

/// `fix.xlsx` as `fix.edited.xlsx`, `fix.edited-2.xlsx`, ….
fn edited(path: &Path, number: u32) -> PathBuf {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let again = if number > 1 { format!("-{number}") } else { String::new() };
    path.with_extension(format!("{EDITED}{again}.{ending}"))
}

//! Keeps fix files of an earlier report that somebody has edited: they are known by the digest that report noted, and get
//! another name before the file is written again or removed.
//!
//! A file that nothing is known of is taken for corrected: a copy too many does no harm. What is written in its place
//! is left to [`crate::report::atomic_write`]. Workbooks of a check have no report beside them that could note a digest: they tell by
//! themselves whether somebody has saved them since (`checked`).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::Result;
use crate::model::digest::hexadecimal;

use crate::report::atomic_write::{Beside, Change, Folder};
use crate::report::figures;

/// What is put into the name of a file that somebody has changed.
const EDITED: &str = "edited";

/// A fix file that somebody has changed, where it is kept now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Under its new name.
    pub path: PathBuf,
    /// Whether some import has read it as it is.
    pub is_imported: bool,
}

/// The digests of the fix files among the changes, by their names.
pub(super) fn digests(folder: &Folder, fixes: &mut [Change]) -> Result<BTreeMap<String, String>> {
    let mut digests = BTreeMap::new();
    for change in fixes {
        if let Change::Put(beside) = change {
            digests.insert(beside.name().to_owned(), digest_beside(folder, beside)?);
        }
    }
    Ok(digests)
}

/// Keeps what was changed in the files that are replaced or removed. `written` are the digests of what takes their
/// place, `is_imported` says whether a file of this digest was imported.
pub(super) fn keep(
    folder: &Folder,
    fixes: &[Change],
    written: &BTreeMap<String, String>,
    is_imported: &dyn Fn(&str) -> bool,
) -> Result<Vec<Kept>> {
    let before = before(folder.path());
    let mut kept = Vec::new();
    for change in fixes {
        let name = match change {
            Change::Put(beside) => beside.name(),
            Change::Remove(name) => name,
        };
        let path = folder.path().join(name);
        let found = match File::open(&path).and_then(digest) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            found => found.map_err(|error| folder.failed("the file", &path, error))?,
        };
        if [before.get(name), written.get(name)].contains(&Some(&found)) {
            continue;
        }
        let path = put_aside(&path, &found).map_err(|error| folder.failed("the file", &path, error))?;
        kept.push(Kept { path, is_imported: is_imported(&found) });
    }
    Ok(kept)
}

/// The digests that the report of before noted.
fn before(folder: &Path) -> BTreeMap<String, String> {
    let summary = figures::before(folder).unwrap_or_default();
    let digests = summary.get(figures::WRITTEN).and_then(Value::as_object).into_iter().flatten();
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

fn digest_beside(folder: &Folder, beside: &mut Beside) -> Result<String> {
    let path = folder.path().join(beside.name());
    beside.reopen().and_then(digest).map_err(|error| folder.failed("a file beside", &path, error))
}

/// The SHA-256 of what is read, in hexadecimal digits.
fn digest(mut file: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            length => digest.update(&piece[..length]),
        }
    }
}

//! What is removed of the reports of an old import: the files that fleetload wrote, and nothing else that is in their folder.
//!
//! Fix files that somebody has edited stay, and so does the folder while anything is in it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::{Error, Result};
use crate::journal::ImportInfo;
use crate::report::atomic_write::digest;
use crate::report::edited_fix_files::before as noted_digests;
use crate::report::format::results_jsonl;
use crate::report::format::summary_json::{self, is_fix, is_of};
use crate::report::{PAGE, RESULTS};

/// The folder of the report of an old import: it can be made again from the journal as long as the import is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OldFolder {
    /// The folder.
    #[serde(rename = "folder")]
    pub path: PathBuf,
    /// The files, the summary last: while it is there, the report is known as that of its import.
    #[serde(skip)]
    files: Vec<PathBuf>,
    /// The size of the report in bytes.
    pub bytes: u64,
    /// Files in it that are not the report's, and that stay.
    pub others: u64,
}

impl OldFolder {
    /// The folder of the reports of an import below `reports`, where there is one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(reports: &Path, info: &ImportInfo) -> Result<Option<Self>> {
        let path = summary_json::folder(reports, &info.import.to_string(), info);
        if !summary_json::before(&path).is_some_and(|summary| is_of(&summary, info)) {
            return Ok(None);
        }
        let unreadable = |error| {
            Error::usage(format!("the reports in {} cannot be read", path.display()))
                .because(error)
                .hint("make the folder readable and writable for you, or name the right one with --reports")
        };
        let noted = noted_digests(&path);
        let mut folder = Self { path: path.clone(), files: Vec::new(), bytes: 0, others: 0 };
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let metadata = entry.metadata().map_err(unreadable)?;
            let name = entry.file_name();
            if metadata.is_file() && name.to_str().is_some_and(|name| is_ours(&entry.path(), name, &noted)) {
                folder.files.push(entry.path());
                folder.bytes += metadata.len();
            } else {
                folder.others += 1;
            }
        }
        folder.files.sort_by_key(|file| (file.ends_with(summary_json::NAME), file.clone()));
        Ok(Some(folder))
    }

    /// Removes the files, and the folder when nothing else is in it.
    ///
    /// # Errors
    /// When one cannot be removed: those that were stay so.
    pub fn remove(&self) -> Result<()> {
        for file in &self.files {
            fs::remove_file(file).map_err(|error| {
                Error::usage(format!("the old report {} cannot be removed", file.display()))
                    .because(error)
                    .hint("close it if another program has it open, make its folder writable for you, then type the command again")
            })?;
        }
        if self.others == 0 {
            // Something may have come in meanwhile.
            let _not_empty = fs::remove_dir(&self.path);
        }
        Ok(())
    }
}

/// Whether fleetload wrote a file of a report, and nobody has edited it since.
fn is_ours(path: &Path, name: &str, noted: &BTreeMap<String, String>) -> bool {
    if is_fix(name) {
        return File::open(path).and_then(digest).is_ok_and(|found| noted.get(name) == Some(&found));
    }
    [PAGE, RESULTS, summary_json::NAME, results_jsonl::NAME].contains(&name)
        || name.ends_with(".results.csv")
        || (name.starts_with(".fleetload-") && name.ends_with(".part"))
}

//! A temporary copy of the journal, in which a plan or a check places its rows; it is removed afterwards.
//!
//! Placing the rows of a large sheet takes long, and whoever does it holds the journal so that nobody else can write to it.
//! A run that is at work meanwhile must not wait for that.

use tempfile::TempDir;

use crate::error::{Error, Result};
use crate::journal::Journal;

/// A journal in a folder of its own that goes with it.
pub(in crate::cli) struct TempJournal {
    // Closed before its folder is removed.
    pub(in crate::cli) journal: Journal,
    _folder: TempDir,
}

impl TempJournal {
    /// Copies a journal as it is now, or begins an empty one where there is none.
    pub(in crate::cli) fn of(live: Option<&Journal>) -> Result<Self> {
        let folder = private_folder().map_err(|error| {
            Error::internal("there is no room for a temporary copy of the journal")
                .because(error)
                .hint("free some space in the folder for temporary files, or name another one in TMPDIR")
        })?;
        let path = folder.path().join("scratch.db");
        let journal = match live {
            Some(live) => live.snapshot(&path)?,
            None => Journal::open(&path)?,
        };
        Ok(Self { journal, _folder: folder })
    }
}

fn private_folder() -> std::io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("fleetload-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_is_another_file_for_its_owner_alone_and_goes_with_its_folder() {
        let place = tempfile::tempdir().unwrap();
        let live = Journal::open(&place.path().join("live.db")).unwrap();
        let scratch = TempJournal::of(Some(&live)).unwrap();
        let path = scratch.journal.path().to_owned();
        assert!(path.exists() && path != live.path());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        drop(scratch);
        assert!(!path.parent().unwrap().exists());
    }
}

//! Files written beside their targets and put in their place only when all of them are whole.
//!
//! The folder is for its owner alone, and so are the files. What is written is left to the formats.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::advice::Advice;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::digest::hexadecimal;
use crate::model::id::ImportId;
use crate::private_file::private_folder;

/// How the name of a file under way ends.
const PART: &str = ".part";

/// A folder of reports.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    purpose: FolderPurpose,
}

/// What is written to a folder.
#[derive(Debug, Clone, Copy)]
enum FolderPurpose {
    /// The reports of an import; the folder is ours.
    Import(ImportId),
    /// Something else: the folder is the user's, and other things may be in it.
    Users {
        /// What is not written when it fails.
        what: &'static str,
        /// Whether another file or another folder may be named with `--out`.
        other: &'static str,
        /// How the names of its files under way begin.
        prefix: &'static str,
    },
}

impl FolderPurpose {
    /// How the names of its files under way begin. In a folder of the user others of ours write files as well.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Import(_) => ".fleetload-",
            Self::Users { prefix, .. } => prefix,
        }
    }
}

/// A file under way: its target and what is written of it so far.
#[derive(Debug)]
pub(super) struct Beside {
    name: String,
    file: BufWriter<NamedTempFile>,
    /// The digest of all of it, once somebody has asked.
    digest: Option<String>,
}

/// What becomes of a file of the folder.
#[derive(Debug)]
pub(super) enum FileChange {
    /// It is replaced, or made.
    Put(Beside),
    /// It is removed, if it is there.
    Remove(String),
}

impl Folder {
    /// Makes the folder, or takes one that is there, closes it to others and clears it of what a report that was ended
    /// from outside has left.
    pub(super) fn open(path: &Path, import: ImportId) -> Result<Self> {
        let folder = Self { path: path.to_owned(), purpose: FolderPurpose::Import(import) };
        private_folder(path)
            .and_then(|()| keep_from_others(path))
            .map_err(|error| folder.failed("the folder", path, error))?;
        folder.sweep();
        failpoint::reach("report.begun");
        Ok(folder)
    }

    /// Makes a folder for what a check has found, or takes one that is there, as it is.
    pub(super) fn of_check(path: &Path) -> Result<Self> {
        let what = "the findings are not written to a workbook";
        Self::of_user(path, FolderPurpose::Users { what, other: "folder", prefix: ".fleetload-checked-" })
    }

    /// Takes the folder of an export, as it is.
    pub(super) fn of_export(path: &Path) -> Result<Self> {
        let what = "the export is not written";
        Self::of_user(path, FolderPurpose::Users { what, other: "file", prefix: ".fleetload-export-" })
    }

    fn of_user(path: &Path, purpose: FolderPurpose) -> Result<Self> {
        let folder = Self { path: path.to_owned(), purpose };
        private_folder(path).map_err(|error| folder.failed("the folder", path, error))?;
        folder.sweep();
        Ok(folder)
    }

    /// Removes files under way whose process has ended: those that nobody holds a lock of. What cannot be removed is only
    /// in the way of tidiness.
    fn sweep(&self) {
        let prefix = self.purpose.prefix();
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(PART));
            if ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
                drop(fs::remove_file(entry.path()));
            }
        }
    }

    /// The folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a file.
    pub(super) fn begin(&self, name: impl Into<String>) -> Result<Beside> {
        let name = name.into();
        // Made readable by its owner only.
        let file = tempfile::Builder::new()
            .prefix(self.purpose.prefix())
            .suffix(PART)
            .tempfile_in(&self.path)
            .map_err(|error| self.failed("a file beside", &self.path.join(&name), error))?;
        // Tells another report of the import that somebody still writes it; the lock ends with the process. Where there
        // are no locks, nothing is swept either.
        let _unlockable = file.as_file().try_lock();
        Ok(Beside { name, file: BufWriter::new(file), digest: None })
    }

    /// Puts all files in their place, once each is on disk; the names of those put and of those removed.
    pub(super) fn commit(&self, changes: Vec<FileChange>) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let mut whole = Vec::new();
        let mut removed = Vec::new();
        for change in changes {
            match change {
                FileChange::Put(beside) => {
                    let target = self.path.join(&beside.name);
                    let file = beside
                        .file
                        .into_inner()
                        .map_err(io::IntoInnerError::into_error)
                        .and_then(|file| file.as_file().sync_all().map(|()| file))
                        .map_err(|error| self.failed("a file beside", &target, error))?;
                    whole.push((target, file));
                }
                FileChange::Remove(name) => removed.push(self.path.join(name)),
            }
        }
        failpoint::reach("report.beside");
        let mut put = Vec::new();
        for (target, file) in whole {
            file.persist(&target).map_err(|error| self.failed("the file", &target, error.error))?;
            put.push(target);
            failpoint::reach("report.between-files");
        }
        failpoint::reach("report.in-place");
        let mut gone = Vec::new();
        for target in removed {
            match fs::remove_file(&target) {
                Ok(()) => gone.push(target),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.failed("the outdated file", &target, error)),
            }
        }
        failpoint::reach("report.outdated-removed");
        // The names are on disk only when the folder is; not every system lets a folder be opened for that.
        if let Ok(folder) = File::open(&self.path) {
            let _best_effort = folder.sync_all();
        }
        Ok((put, gone))
    }

    /// The same of one of its files.
    pub(super) fn failed_file(
        &self,
        name: &str,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        self.failed("the file", &self.path.join(name), cause)
    }

    /// The error of a report that could not be written.
    pub(super) fn failed(
        &self,
        what: &str,
        path: &Path,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        let place = path.display();
        match self.purpose {
            FolderPurpose::Import(import) => Error::internal(format!(
                "the report of import {import} is not written: {what} {place} cannot be written or replaced"
            ))
            .because(cause)
            .hint(
                Advice::from(
                    "the jobs are not affected. Close the file if another program has it open, see that the disk has \
                     room, then type: ",
                )
                .command(format!("fleetload report {import}")),
            ),
            FolderPurpose::Users { what: purpose, other, prefix: _ } => {
                Error::usage(format!("{purpose}: {what} {place} cannot be written or replaced"))
                    .because(cause)
                    .hint(format!(
                        "close the file if another program has it open, see that the disk has room, or name another \
                         {other} with --out"
                    ))
            }
        }
    }
}

impl Beside {
    /// The file's name within its folder.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The SHA-256 of the file, all of which is written, in hexadecimal digits.
    pub(super) fn digest(&mut self) -> io::Result<String> {
        if self.digest.is_none() {
            self.file.flush()?;
            self.digest = Some(digest(self.file.get_ref().reopen()?)?);
        }
        Ok(self.digest.clone().unwrap_or_default())
    }
}

/// The SHA-256 of what is read, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub fn digest(mut file: impl Read) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&digest.finalize())),
            length => digest.update(&piece[..length]),
        }
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(unix)]
fn keep_from_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn keep_from_others(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open(&place.path().join("reports").join("3"), ImportId(3)).unwrap();
        (place, folder)
    }

    fn put(folder: &Folder, name: &str, text: &str) -> Result<()> {
        let mut beside = folder.begin(name)?;
        beside.write_all(text.as_bytes()).unwrap();
        folder.commit(vec![FileChange::Put(beside)]).map(|_| ())
    }

    #[cfg(unix)]
    #[test]
    fn folder_and_files_are_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (_place, folder) = folder();
        put(&folder, "a.csv", "a").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(folder.path()), 0o700);
        assert_eq!(mode(&folder.path().join("a.csv")), 0o600);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let again = Folder::open(folder.path(), ImportId(3)).unwrap();
        assert_eq!(mode(again.path()), 0o700);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_of_the_user_stays_as_open_as_it_is() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Folder::of_check(place.path()).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let (_place, folder) = folder();
        put(&folder, "a.csv", "old").unwrap();
        put(&folder, "a.csv", "new").unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["a.csv"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.csv")).unwrap(), "new");
    }

    #[test]
    fn what_a_killed_report_has_left_is_swept_and_what_is_being_written_is_not() {
        let (_place, folder) = folder();
        let mut under_way = folder.begin("a.csv").unwrap();
        under_way.write_all(b"a").unwrap();
        let left = folder.path().join(".fleetload-Qx3f9a.part");
        let other = folder.path().join(".fleetload-notes.txt");
        fs::write(&left, "half a rep").unwrap();
        fs::write(&other, "somebody's").unwrap();
        Folder::open(folder.path(), ImportId(3)).unwrap();
        assert!(!left.exists() && other.exists());
        folder.commit(vec![FileChange::Put(under_way)]).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.csv")).unwrap(), "a");
    }

    #[test]
    fn in_a_folder_of_the_user_only_what_a_check_has_left_is_swept() {
        let place = tempfile::tempdir().unwrap();
        let under_way = Folder::of_check(place.path()).unwrap().begin("a.checked.xlsx").unwrap();
        let left = place.path().join(".fleetload-checked-Qx3f9a.part");
        let other = place.path().join(".fleetload-Qx3f9a.part");
        fs::write(&left, "half a workbook").unwrap();
        fs::write(&other, "half the page of a plan that is being written").unwrap();
        let folder = Folder::of_check(place.path()).unwrap();
        assert!(!left.exists() && other.exists());
        folder.commit(vec![FileChange::Put(under_way)]).unwrap();
    }

    #[test]
    fn an_outdated_file_is_removed_and_a_missing_one_is_no_error() {
        let (_place, folder) = folder();
        put(&folder, "a.csv", "old").unwrap();
        let changes = || vec![FileChange::Remove("a.csv".into()), FileChange::Remove("b.csv".into())];
        assert_eq!(folder.commit(changes()).unwrap().1, [folder.path().join("a.csv")]);
        assert!(folder.commit(changes()).unwrap().1.is_empty());
    }

    #[test]
    fn a_target_that_cannot_be_replaced_is_told_with_what_to_type() {
        let (_place, folder) = folder();
        fs::create_dir(folder.path().join("a.csv")).unwrap();
        fs::write(folder.path().join("a.csv").join("in the way"), "").unwrap();
        let error = put(&folder, "a.csv", "new").unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Internal);
        assert!(error.what().contains("a.csv"), "{}", error.what());
        let hint = error.next_step().unwrap();
        assert!(hint.contains("jobs are not affected") && hint.ends_with("fleetload report 3"), "{hint}");
    }
}

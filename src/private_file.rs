//! Files that only their owner may read and write, and how a file gets its name only when it is whole.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

/// Options to open a file with: one that is created is its owner's alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a file to read and to write it, and makes it where it is missing.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Makes a folder, and those above it that are missing, for its owner alone.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The folder that a file is in.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// A new file in a folder, for what gets its name there when it is whole; it is removed unless it is put in its place.
pub(crate) fn part_in(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".fleetload-").suffix(".part").tempfile_in(folder)
}

/// Makes the name of a new file as durable as what is in it: not every disk does that together.
#[cfg(unix)]
pub(crate) fn sync_folder_of(file: &Path) -> io::Result<()> {
    match std::fs::File::open(folder_of(file))?.sync_all() {
        // A disk on which folders cannot be synced at all.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Elsewhere folders cannot be opened, and names are kept with their files.
#[cfg(not(unix))]
pub(crate) fn sync_folder_of(_file: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes a file that does not exist yet; one that exists is never replaced.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = options().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

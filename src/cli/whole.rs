//! A file that appears whole or not at all: written beside its place, on disk, then put there. Readable by its owner only.

use std::io::Write as _;
use std::path::Path;

/// Puts a file in its place; what stood there before is replaced.
pub(super) fn put(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let mut beside = tempfile::Builder::new().prefix(".fleetload-").suffix(".part").tempfile_in(folder)?;
    beside.write_all(content)?;
    beside.as_file().sync_all()?;
    beside.persist(file).map(drop).map_err(|error| error.error)
}

//! Small files written whole or not at all (atomically), readable by their owner only, kept beside the journal, and read
//! within bounds.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::private_file::{folder_of, part_in};

/// A file beside the journal, named after it.
pub(super) fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// What a file holds, up to so many bytes; nothing for what is no regular file.
pub(super) fn read(file: &Path, longest: u64) -> std::io::Result<Option<Vec<u8>>> {
    // A pipe, for one, may never end, or never begin.
    if !fs::metadata(file)?.is_file() {
        return Ok(None);
    }
    let mut content = Vec::new();
    File::open(file)?.take(longest).read_to_end(&mut content)?;
    Ok(Some(content))
}

/// Puts a file in its place, written beside it first; what stood there before is replaced.
pub(super) fn put(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut beside = part_in(folder_of(file))?;
    beside.write_all(content)?;
    beside.as_file().sync_all()?;
    beside.persist(file).map(drop).map_err(|error| error.error)
}

/// The same, readable by every user of the machine. It need not survive a power cut.
pub(super) fn put_for_everybody(file: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut beside = part_in(folder_of(file))?;
    beside.write_all(content)?;
    #[cfg(unix)]
    beside.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    beside.persist(file).map(drop).map_err(|error| error.error)
}

/// Whether a file can be put there; nothing is changed.
pub(super) fn probe(file: &Path) -> std::io::Result<()> {
    if file.is_dir() {
        return Err(std::io::Error::from(std::io::ErrorKind::IsADirectory));
    }
    part_in(folder_of(file)).map(drop)
}

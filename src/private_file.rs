//! Files that only their owner may read and write.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Options to open a file with: one that is created is its owner's alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Writes a file that does not exist yet; one that exists is never replaced.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = options().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

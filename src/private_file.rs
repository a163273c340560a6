//! Files that only their owner may read and write.

use std::fs::OpenOptions;

/// Options to open a file with: one that is created is its owner's alone.
pub(crate) fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

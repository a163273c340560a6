//! Settings files: any text is one that can be used or one that is refused in words.

use std::path::Path;

/// Any bytes as `fleetload.toml`.
pub(crate) fn profile(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = fleetload::cli::check_settings(Path::new("fleetload.toml"), text) {
        assert!(!error.what().is_empty());
    }
}

/// Whether an input of [`profile`] is a settings file that can be used.
pub(crate) fn is_usable(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    fleetload::cli::check_settings(Path::new("fleetload.toml"), &text).is_ok()
}

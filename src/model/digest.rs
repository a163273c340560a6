//! How digests are written.

/// Bytes as hexadecimal digits in lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

//! How digests are made of several texts, and how they are written.

use sha2::{Digest, Sha256};

/// Takes in a text with its length: no two lists of texts give the same bytes.
pub fn add_text(digest: &mut Sha256, text: &str) {
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text);
}

/// Bytes as hexadecimal digits in lower case.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

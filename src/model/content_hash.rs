//! A digest of all that a row asks for and belongs to, by which it is known again as unchanged.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The first 12 bytes of a SHA-256: 96 bits tell any two contents apart that one row has after each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ContentHash([u8; ContentHash::BYTES]);

impl ContentHash {
    const BYTES: usize = 12;

    /// That of no row.
    pub const OF_NO_ROW: Self = Self([0; Self::BYTES]);

    /// That of a content as bytes.
    pub fn of(content: impl AsRef<[u8]>) -> Self {
        Sha256::new_with_prefix(content).into()
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Sha256> for ContentHash {
    fn from(digest: Sha256) -> Self {
        let mut kept = [0; Self::BYTES];
        kept.copy_from_slice(&digest.finalize()[..Self::BYTES]);
        Self(kept)
    }
}

/// Bytes that are no digest.
#[derive(Debug, thiserror::Error)]
#[error("a digest of a row's content has {bytes} bytes", bytes = ContentHash::BYTES)]
pub struct NotContentHash;

impl TryFrom<&[u8]> for ContentHash {
    type Error = NotContentHash;

    fn try_from(bytes: &[u8]) -> Result<Self, NotContentHash> {
        bytes.try_into().map(Self).map_err(|_| NotContentHash)
    }
}

impl TryFrom<String> for ContentHash {
    type Error = NotContentHash;

    fn try_from(text: String) -> Result<Self, NotContentHash> {
        let bytes = BASE64.decode(text).map_err(|_| NotContentHash)?;
        Self::try_from(bytes.as_slice())
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        BASE64.encode(hash.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_was_written_and_anything_else_is_none() {
        let hash = ContentHash::of("a row");
        assert_ne!(hash, ContentHash::of("another row"));
        let written = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&written).unwrap(), hash);
        assert_eq!(ContentHash::try_from(hash.as_bytes()).unwrap(), hash);
        for wrong in ["\"\"", "\"AAAA\"", "\"not base64!\"", "7"] {
            assert!(serde_json::from_str::<ContentHash>(wrong).is_err(), "{wrong}");
        }
        assert!(ContentHash::try_from([0; 11].as_slice()).is_err());
    }
}

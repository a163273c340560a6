//! Advice: words to read and commands to type, as pieces.

/// A part of an advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// To be read.
    Words(String),
    /// To be typed.
    Command(String),
}

impl Piece {
    /// The text, whatever it is for.
    pub fn text(&self) -> &str {
        match self {
            Self::Words(text) | Self::Command(text) => text,
        }
    }
}

/// Pieces as one text.
pub fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(Piece::text).collect()
}

/// A value as a shell takes it for one word.
pub fn quoted(value: &str) -> String {
    if !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c)) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

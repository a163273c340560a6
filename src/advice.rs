//! Advice: words to read and commands to type, as pieces.

/// A part of an advice as it is written down: of texts that are known before any row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// To be read.
    Words(&'static str),
    /// To be typed behind the name of the program: `retry 3`.
    Command(&'static str),
}

/// An advice as it is written down.
pub type Parts = &'static [Part];

/// A part of an advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// To be read.
    Words(String),
    /// To be typed.
    Command(String),
}

impl Piece {
    /// A command without the options of the journal and the account: `retry 3`.
    pub fn command(command: &str) -> Self {
        Self::Command(format!("fleetload {command}"))
    }

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

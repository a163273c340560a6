//! Advice: words to read and commands to type. Which part of the text is which is kept with it, so that nobody has to find
//! commands in prose.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// A part of an advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// To be read.
    Words(&'a str),
    /// To be typed or copied as it stands.
    Command(&'a str),
}

/// An advice as it is written down before any row is known; its commands stand without the name of the program: `retry 3`.
pub type Parts = &'static [Piece<'static>];

/// What to do next: a text, and which parts of it are to be typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Advice {
    text: String,
    commands: Vec<Range<usize>>,
}

impl Advice {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words.
    #[must_use]
    pub fn words(mut self, words: impl AsRef<str>) -> Self {
        self.text.push_str(words.as_ref());
        self
    }

    /// Adds what is to be typed or copied as it stands.
    #[must_use]
    pub fn command(mut self, line: impl AsRef<str>) -> Self {
        let start = self.text.len();
        self.text.push_str(line.as_ref());
        self.commands.push(start..self.text.len());
        self
    }

    /// Adds another advice.
    #[must_use]
    pub fn join(self, other: &Self) -> Self {
        other.pieces().into_iter().fold(self, |advice, piece| match piece {
            Piece::Words(words) => advice.words(words),
            Piece::Command(line) => advice.command(line),
        })
    }

    /// The same with each of its texts changed.
    #[must_use]
    pub fn map(&self, change: impl Fn(Piece<'_>) -> String) -> Self {
        self.pieces().into_iter().fold(Self::new(), |advice, piece| match piece {
            Piece::Words(_) => advice.words(change(piece)),
            Piece::Command(_) => advice.command(change(piece)),
        })
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// What is to be typed.
    pub fn commands(&self) -> impl Iterator<Item = &str> {
        self.commands.iter().map(|range| &self.text[range.clone()])
    }

    /// Its parts in their order.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        let mut pieces = Vec::with_capacity(2 * self.commands.len() + 1);
        let mut from = 0;
        for command in &self.commands {
            pieces.push(Piece::Words(&self.text[from..command.start]));
            pieces.push(Piece::Command(&self.text[command.clone()]));
            from = command.end;
        }
        pieces.push(Piece::Words(&self.text[from..]));
        pieces.retain(|piece| *piece != Piece::Words(""));
        pieces
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&str> for Advice {
    fn from(words: &str) -> Self {
        Self::new().words(words)
    }
}

impl From<String> for Advice {
    fn from(words: String) -> Self {
        Self { text: words, commands: Vec::new() }
    }
}

/// Files as words of a command, with a space before each.
pub fn quoted_files(files: &[PathBuf]) -> String {
    files.iter().map(|file| format!(" {}", quoted(&file.to_string_lossy()))).collect()
}

/// A value as a shell takes it for one word.
pub fn quoted(value: &str) -> String {
    if !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c)) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

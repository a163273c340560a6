//! One line of output: pieces of text, each with its ink. Every piece is cleaned as it is added.
//!
//! A [`Line`] is the only thing the terminal prints as text, so no caller can forget to clean what others wrote,
//! and colour is decided once, where it is printed.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Effects, Style};

use super::clean::clean;
use super::wrap::folded;

/// What a piece of text means, and so how it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Ordinary text.
    Plain,
    /// Names and numbers that matter.
    Strong,
    /// Less important text.
    Faint,
    /// Went well.
    Good,
    /// Needs a look.
    Warning,
    /// Went wrong.
    Error,
    /// What to do next.
    Hint,
}

impl Ink {
    fn style(self) -> Style {
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Faint => Style::new().effects(Effects::DIMMED),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Warning => AnsiColor::Yellow.on_default().bold(),
            Self::Error => AnsiColor::Red.on_default().bold(),
            Self::Hint => AnsiColor::Cyan.on_default().bold(),
        }
    }
}

/// One line of output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Ink, String)>,
    /// Whether it is never broken.
    is_whole: bool,
}

impl Line {
    /// An empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// A line of ordinary text.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::new().text(text)
    }

    /// Adds ordinary text.
    #[must_use]
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.ink(Ink::Plain, text)
    }

    /// Adds text with a meaning.
    #[must_use]
    pub fn ink(mut self, ink: Ink, text: impl AsRef<str>) -> Self {
        self.pieces.push((ink, clean(text.as_ref())));
        self
    }

    /// Adds another line to the end of this one.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// A line of a table, or something to be copied as it stands: never broken, however narrow the terminal is.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.is_whole = true;
        self
    }

    /// The line as written, with colour or without, broken where it has more than `columns`; no line end.
    pub(super) fn render(&self, colour: bool, columns: Option<usize>) -> String {
        let lines = match columns {
            Some(columns) if !self.is_whole => folded(&self.pieces, columns),
            Some(_) | None => return rendered(&self.pieces, colour),
        };
        let lines: Vec<String> = lines.iter().map(|pieces| rendered(pieces, colour)).collect();
        lines.join("\n")
    }
}

fn rendered(pieces: &[(Ink, String)], colour: bool) -> String {
    let mut result = String::new();
    for (ink, text) in pieces {
        if colour && *ink != Ink::Plain && !text.is_empty() {
            let style = ink.style();
            let _infallible = write!(result, "{style}{text}{style:#}");
        } else {
            result.push_str(text);
        }
    }
    result
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::plain(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_ours_and_escapes_in_the_text_are_not() {
        let line = Line::new().ink(Ink::Error, "error").text(": \u{1b}[2J");
        assert_eq!(line.render(false, None), "error: \\u{1b}[2J");
        assert_eq!(line.render(true, None), "\u{1b}[1m\u{1b}[31merror\u{1b}[0m: \\u{1b}[2J");
    }
}

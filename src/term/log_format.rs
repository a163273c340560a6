//! How talk is written: plainly for a person who watches, or each line with its time and level for a log.
//!
//! In the journal of systemd a line begins with its priority (sd-daemon(3)); the journal adds the time itself.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::str::FromStr;

use serde_json::json;

use super::clean::escape_json;
use super::{Ink, Line};
use crate::model::time::Moment;

/// How grave a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Info,
    Debug,
}

impl Level {
    /// Its word in a log, and before a line for a person.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Debug => "debug",
        }
    }

    pub(super) const fn ink(self) -> Ink {
        match self {
            Self::Error => Ink::Error,
            Self::Warning => Ink::Warning,
            Self::Info | Self::Debug => Ink::Plain,
        }
    }

    /// Its number in syslog.
    const fn priority(self) -> u8 {
        match self {
            Self::Error => 3,
            Self::Warning => 4,
            Self::Info => 6,
            Self::Debug => 7,
        }
    }
}

/// The form of a line of talk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// As a person reads it.
    #[default]
    Plain,
    /// With its time and its level.
    Text,
    /// One JSON object with `time`, `level` and `message`.
    Json,
    /// With its priority, for the journal of systemd.
    Journal,
}

impl LogFormat {
    /// The words that can be asked for.
    pub const WORDS: &'static [&'static str] = &["plain", "text", "json"];
    /// What they mean.
    pub const MEANINGS: &'static [&'static str] = &[
        "as at a terminal; only lines of progress and the end of a run have their time.",
        "each line with its time (UTC) and its level.",
        "one JSON object a line, with time, level and message.",
    ];

    /// The form that is asked for; else plain at a terminal, with priorities for systemd, with time and level elsewhere.
    pub fn or_usual(asked: Option<Self>) -> Self {
        asked.unwrap_or_else(|| match std::env::var("JOURNAL_STREAM") {
            _ if io::stderr().is_terminal() => Self::Plain,
            Ok(stream) if is_stderr(&stream) => Self::Journal,
            Ok(_) | Err(_) => Self::Text,
        })
    }

    /// A line as it is written.
    pub(super) fn line(self, level: Level, at: Moment, line: &Line) -> Line {
        match self {
            Self::Plain => line.clone(),
            Self::Text => Line::plain(format!("{at} {:<7} ", level.as_str())).join(line.clone()).whole(),
            Self::Journal => Line::plain(format!("<{}>", level.priority())).join(line.clone()).whole(),
            Self::Json => {
                let message = line.render(false, None);
                Line::plain(record(level, at, &message)).whole()
            }
        }
    }
}

/// One record of the log.
fn record(level: Level, at: Moment, message: &str) -> String {
    let record = json!({"time": at.to_string(), "level": level.as_str(), "message": message});
    escape_json(&record.to_string())
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "plain" => Ok(Self::Plain),
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(format!("'{other}' is not one of {}", Self::WORDS.join(", "))),
        }
    }
}

/// Whether standard error is the stream that systemd names: device and inode.
#[cfg(unix)]
fn is_stderr(stream: &str) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let own = io::stderr().as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    own.is_ok_and(|own| stream == format!("{}:{}", own.dev(), own.ino()))
}

#[cfg(not(unix))]
fn is_stderr(_stream: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_time_and_level_or_its_priority_or_is_a_record() {
        let at = Moment::parse("2026-03-01T12:00:00Z").unwrap();
        let line = Line::plain("name \u{1b}[2J \"a\"");
        let table = [
            (LogFormat::Plain, "name \\u{1b}[2J \"a\""),
            (LogFormat::Text, "2026-03-01T12:00:00Z warning name \\u{1b}[2J \"a\""),
            (LogFormat::Journal, "<4>name \\u{1b}[2J \"a\""),
            (
                LogFormat::Json,
                "{\"time\":\"2026-03-01T12:00:00Z\",\"level\":\"warning\",\"message\":\"name \\\\u{1b}[2J \\\"a\\\"\"}",
            ),
        ];
        for (format, expected) in table {
            assert_eq!(format.line(Level::Warning, at, &line).render(false, None), expected, "{format:?}");
        }
    }

    #[test]
    fn every_word_is_read() {
        let read: Vec<LogFormat> = LogFormat::WORDS.iter().map(|word| word.parse().unwrap()).collect();
        assert_eq!(read, [LogFormat::Plain, LogFormat::Text, LogFormat::Json]);
        assert!("journal".parse::<LogFormat>().is_err());
    }
}

//! The diagnostic log of `-v`: to standard error, past the bars, never anything else.

use std::io;

use tracing::Metadata;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::log_format::Level;
use super::{Line, Terminal};

/// Starts the log: warnings, `-v` what is done, `-vv` every decision. `FLEETLOAD_LOG` overrides with a filter; one that
/// cannot be read is reported and not used.
pub fn start_log(terminal: &Terminal, verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let usual = Targets::new().with_target("fleetload", level);
    let named = std::env::var("FLEETLOAD_LOG").ok().filter(|text| !text.is_empty());
    let filter = match named.map(|text| text.parse::<Targets>()) {
        None => usual,
        Some(Ok(filter)) => filter,
        Some(Err(error)) => {
            terminal.warn(format!("FLEETLOAD_LOG is not used: {error}; write it as fleetload=debug"));
            usual
        }
    };
    let lines = fmt::layer().with_ansi(false).with_writer(Lines(terminal.clone()));
    // Where the lines of talk have their time and level, these need none of their own.
    let lines = match terminal.dates_lines() {
        true => lines.without_time().with_level(false).boxed(),
        false => lines.boxed(),
    };
    // A second start in one process (tests) keeps the first log.
    drop(tracing_subscriber::registry().with(lines).with(filter).try_init());
}

/// Hands each record of the log to the terminal as one line.
struct Lines(Terminal);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { terminal: &self.0, level: Level::Info, text: Vec::new() }
    }

    fn make_writer_for(&'a self, record: &Metadata<'_>) -> LogLine<'a> {
        let level = match *record.level() {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warning,
            tracing::Level::INFO => Level::Info,
            tracing::Level::DEBUG | tracing::Level::TRACE => Level::Debug,
        };
        LogLine { terminal: &self.0, level, text: Vec::new() }
    }
}

/// One record, gathered until it is dropped.
struct LogLine<'a> {
    terminal: &'a Terminal,
    level: Level,
    text: Vec<u8>,
}

impl io::Write for LogLine<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine<'_> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.text);
        if !text.trim_end().is_empty() {
            self.terminal.write_talk(self.level, &Line::plain(text.trim_end()).whole());
        }
    }
}

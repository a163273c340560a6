//! The diagnostic log of `-v`: to standard error, past the bars, never anything else.

use std::io;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

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
    let filter = match std::env::var("FLEETLOAD_LOG").ok().map(|text| text.parse::<Targets>()) {
        None => usual,
        Some(Ok(filter)) => filter,
        Some(Err(error)) => {
            terminal.warn(format!("FLEETLOAD_LOG is not used: {error}; write it as fleetload=debug"));
            usual
        }
    };
    let lines = fmt::layer().with_ansi(false).with_writer(Lines(terminal.clone()));
    // A second start in one process (tests) keeps the first log.
    drop(tracing_subscriber::registry().with(lines).with(filter).try_init());
}

/// Hands each record of the log to the terminal as one line.
struct Lines(Terminal);

impl<'a> MakeWriter<'a> for Lines {
    type Writer = LogLine<'a>;

    fn make_writer(&'a self) -> LogLine<'a> {
        LogLine { terminal: &self.0, text: Vec::new() }
    }
}

/// One record, gathered until it is dropped.
struct LogLine<'a> {
    terminal: &'a Terminal,
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
            self.terminal.write_talk(&Line::plain(text.trim_end()).whole());
        }
    }
}

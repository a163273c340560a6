//! The diagnostic log of `-v`: to standard error, past the bars, never anything else.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::{Line, Terminal};

/// Starts the log: warnings, `-v` what is done, `-vv` every decision. `FLEETLOAD_LOG` overrides with a filter.
pub fn start_log(terminal: &Terminal, verbose: u8) {
    let level = match verbose {
        0 => "fleetload=warn",
        1 => "fleetload=info",
        2 => "fleetload=debug",
        _ => "fleetload=trace",
    };
    let filter = EnvFilter::try_from_env("FLEETLOAD_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Lines(terminal.clone()))
        .try_init();
    // A second start in one process (tests) keeps the first log.
    drop(started);
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

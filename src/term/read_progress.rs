//! Shows how an export goes: one line at the bottom of a terminal, a line now and then elsewhere, objects for programs.

use std::time::Duration;

use jiff::tz::TimeZone;
use serde::Serialize;

use super::figures::{count, counted, expected};
use super::progress_model::Tick;
use super::{Line, Object, Terminal};
use crate::model::time::{Moment, Rfc3339};

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// How often an object is written.
const OBJECT_EVERY: Duration = Duration::from_secs(1);

/// How far an export has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadFigures {
    /// How many records are to be asked about; `None` while they are being found.
    pub total: Option<u64>,
    /// How many were.
    pub done: u64,
    /// How many of them were done before this process began.
    pub before: u64,
    /// Rows so far.
    pub rows: u64,
    /// Rows of records that could not be read.
    pub failed: u64,
    /// Lists that may be one page of a longer one.
    pub perhaps: u64,
    /// Requests sent by this process.
    pub requests: u64,
}

/// How far an export has come, as one JSON object.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ReadProgressObject {
    /// When it was so.
    at: Rfc3339,
    /// What is exported.
    export: &'static str,
    /// How many records are to be asked about; `null` while they are being found.
    total: Option<u64>,
    /// How many were.
    done: u64,
    /// Rows so far.
    rows: u64,
    /// Records that could not be read.
    failed: u64,
    /// Requests sent so far.
    requests: u64,
    /// When all will be read, from the pace so far.
    finishes_at: Option<Rfc3339>,
}

impl Object for ReadProgressObject {
    const NAME: &'static str = "progress";
}

/// The display of one export.
pub struct ReadProgress {
    terminal: Terminal,
    what: &'static str,
    /// Since when records are read.
    begun: Option<Duration>,
    here: TimeZone,
    display: Display,
}

enum Display {
    Live,
    Lines { next: Duration },
    Objects { next: Duration },
    Nothing,
}

impl ReadProgress {
    /// Begins to show an export of `what`; `here` is the time zone of the reader.
    pub fn start(terminal: &Terminal, what: &'static str, tick: Tick, here: TimeZone) -> Self {
        let display = if terminal.manner.quiet {
            Display::Nothing
        } else if terminal.manner.json {
            Display::Objects { next: tick.elapsed + OBJECT_EVERY }
        } else if terminal.interactive {
            Display::Live
        } else {
            Display::Lines { next: tick.elapsed + LINE_EVERY }
        };
        Self { terminal: terminal.clone(), what, begun: None, here, display }
    }

    /// Brings the display up to date; call it a few times a second.
    pub fn tick(&mut self, figures: ReadFigures, tick: Tick) {
        if figures.total.is_some() {
            self.begun.get_or_insert(tick.elapsed);
        }
        let text = self.line(figures, tick);
        let finish = self.finish_at(figures, tick).map(Rfc3339);
        match &mut self.display {
            Display::Live => self.terminal.show(vec![Line::plain(text)]),
            Display::Lines { next } if tick.elapsed >= *next => {
                *next = tick.elapsed + LINE_EVERY;
                self.terminal.say_at(tick.now, &text);
            }
            Display::Objects { next } if tick.elapsed >= *next => {
                *next = tick.elapsed + OBJECT_EVERY;
                self.terminal.object(&ReadProgressObject {
                    at: tick.now.into(),
                    export: self.what,
                    total: figures.total,
                    done: figures.done,
                    rows: figures.rows,
                    failed: figures.failed,
                    requests: figures.requests,
                    finishes_at: finish,
                });
            }
            Display::Lines { .. } | Display::Objects { .. } | Display::Nothing => {}
        }
    }

    /// Takes the display away.
    pub fn finish(self) {
        if let Display::Live = self.display {
            self.terminal.show(Vec::new());
        }
    }

    /// When all will be read, from the pace so far; `None` before the first answer and after the last.
    fn finish_at(&self, figures: ReadFigures, tick: Tick) -> Option<Moment> {
        let read = figures.done.saturating_sub(figures.before);
        let left = figures.total?.saturating_sub(figures.done);
        if read == 0 || left == 0 {
            return None;
        }
        let spent = tick.elapsed.saturating_sub(self.begun?);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let ahead = spent.mul_f64(left as f64 / read as f64);
        Some(tick.now.plus(ahead))
    }

    fn line(&self, figures: ReadFigures, tick: Tick) -> String {
        let Some(total) = figures.total else {
            let requests = counted(figures.requests, "request", "requests");
            return format!("{}: finding the records, {requests} so far", self.what);
        };
        let mut parts = vec![
            format!("{} of {} asked", count(figures.done), count(total)),
            counted(figures.rows, "row", "rows"),
        ];
        if figures.failed > 0 {
            parts.push(format!("{} not read", count(figures.failed)));
        }
        if let Some(finish) = self.finish_at(figures, tick) {
            parts.push(expected(finish, tick.now, &self.here));
        }
        format!("{}: {}", self.what, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Manner;
    use crate::term::testing::{interactive, terminal};

    fn tick(seconds: u64) -> Tick {
        let now = Moment::parse("2026-03-02T12:00:00Z").unwrap().plus(Duration::from_secs(seconds));
        Tick { now, elapsed: Duration::from_secs(seconds) }
    }

    const HALF: ReadFigures = ReadFigures {
        total: Some(2_000),
        done: 1_000,
        before: 500,
        rows: 990,
        failed: 10,
        perhaps: 0,
        requests: 501,
    };

    #[test]
    fn a_terminal_shows_a_line_with_the_time_to_finish_and_takes_it_away() {
        let (shown, talk) = interactive(100);
        let mut progress = ReadProgress::start(&shown, "devices", tick(0), TimeZone::UTC);
        progress.tick(ReadFigures { requests: 3, ..ReadFigures::default() }, tick(0));
        assert_eq!(talk.screen(100), "devices: finding the records, 3 requests so far");
        progress.tick(ReadFigures { total: Some(2_000), ..ReadFigures::default() }, tick(0));
        progress.tick(HALF, tick(10));
        let line = "devices: 1,000 of 2,000 asked, 990 rows, 10 not read, done about 12:00:30 UTC, in 20 s";
        assert_eq!(talk.screen(100), line);
        progress.finish();
        assert_eq!(talk.screen(100), "");
    }

    #[test]
    fn programs_read_the_same_as_objects_and_quiet_says_nothing() {
        let (shown, results, talk) = terminal(Manner { json: true, ..Manner::default() });
        let mut progress = ReadProgress::start(&shown, "devices", tick(0), TimeZone::UTC);
        progress.tick(HALF, tick(0));
        progress.tick(HALF, tick(10));
        progress.finish();
        assert_eq!(
            results.text().replace(env!("CARGO_PKG_VERSION"), "0.0.0"),
            "{\"object\":\"progress\",\"at\":\"2026-03-02T12:00:10Z\",\"export\":\"devices\",\"total\":2000,\
             \"done\":1000,\"rows\":990,\"failed\":10,\"requests\":501,\"finishes_at\":\"2026-03-02T12:00:30Z\",\
             \"schema\":1,\"version\":\"0.0.0\"}\n"
        );
        assert_eq!(talk.text(), "");
        let (shown, results, talk) = terminal(Manner { quiet: true, ..Manner::default() });
        ReadProgress::start(&shown, "devices", tick(0), TimeZone::UTC).tick(HALF, tick(60));
        assert_eq!((results.text(), talk.text()), (String::new(), String::new()));
    }
}

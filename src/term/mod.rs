//! The only place that prints. Results go to standard output, talk to standard error.
//!
//! A pipe that the reader closed is a quiet end: what is said after that is dropped and the work goes on. Any
//! other failure to write a result is remembered and ends the command with a failure of its own. Text is printed
//! as [`Line`]s, which are cleaned of whatever could steer a terminal. What to say is left to [`crate::cli`].

mod ask;
mod clean;
mod counts;
mod figures;
mod line;
mod live;
mod log;
mod log_format;
mod objects;
mod progress;
mod progress_model;
mod read_progress;
mod width;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use serde::Serialize;
use serde_json::Value;

use self::live::{Drawn, Live, Size};
use self::log_format::Level;
use crate::advice::Advice;
use crate::clock::{Clock, SystemClock};
use crate::ending::End;
use crate::error::{Error, Exit};

pub use self::progress_model::{Tick, operation_paused, unreachable};
pub use clean::clean;
pub use figures::{awaited, count, counted, expected, moment, size, span, upcoming};
pub use line::Table;
pub use line::{Ink, Line, wrap};
pub use log::start_log;
pub use log_format::LogFormat;
pub use objects::Object;
#[cfg(feature = "schemas")]
pub(crate) use objects::added;
pub use progress::{EventDetail, EventObject, Progress, RowEventObject};
#[cfg(feature = "schemas")]
pub(crate) use progress_model::ProgressObject;
pub use read_progress::{ReadFigures, ReadProgress, ReadProgressObject};
pub use width::width;

/// How much is said, and in which form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manner {
    /// Standard output carries JSON, one object a line, and nothing else.
    pub json: bool,
    /// Nothing is said but results, warnings, errors and the next step.
    pub quiet: bool,
    /// No colour, whatever the terminal can do.
    pub no_color: bool,
    /// The form of what is said on standard error.
    pub log_format: LogFormat,
}

/// One of the two ways out.
struct Stream {
    to: Box<dyn Write + Send>,
    colour: bool,
    /// How many columns lines may have: what a terminal shows at this moment, and `None` for a file or a pipe.
    columns: fn() -> Option<usize>,
    /// Why nothing is written any more; a closed pipe is no failure.
    ended: Option<io::Error>,
}

impl Stream {
    fn line(&mut self, line: &Line) {
        let text = line.render(self.colour, (self.columns)()) + "\n";
        self.write(&text);
    }

    fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes());
    }

    /// The stream, in place of which nothing is written any more.
    fn take(&mut self) -> Self {
        let ended = Some(io::ErrorKind::BrokenPipe.into());
        mem::replace(self, Self { to: Box::new(io::sink()), colour: false, columns: || None, ended })
    }

    fn write_bytes(&mut self, bytes: &[u8]) {
        if self.ended.is_some() {
            return;
        }
        let written = self.to.write_all(bytes).and_then(|()| self.to.flush());
        self.ended = written.err();
    }
}

struct Streams {
    results: Stream,
    talk: Stream,
    /// What is on the screen of the lines at the bottom.
    drawn: Drawn,
    /// Whether last words are said elsewhere, after which the process ends.
    is_taken: bool,
}

impl Streams {
    fn new(results: Stream, talk: Stream) -> Self {
        Self { results, talk, drawn: Drawn::default(), is_taken: false }
    }
}

/// What a person, or a program, sees. Clones write to the same place.
#[derive(Clone)]
pub struct Terminal {
    manner: Manner,
    streams: Arc<Mutex<Streams>>,
    /// The lines at the bottom of the terminal.
    live: Live,
    /// The columns and rows of the terminal at this moment.
    size: Size,
    interactive: bool,
    /// Whose time the lines of a log have.
    clock: Arc<dyn Clock>,
}

impl Terminal {
    /// The terminal of this process. Colour follows the streams, `NO_COLOR` and `CLICOLOR`.
    pub fn of_process(manner: Manner) -> Self {
        let colour = |choice| !manner.no_color && choice != anstream::ColorChoice::Never;
        let results = Stream {
            colour: colour(anstream::AutoStream::choice(&io::stdout())),
            columns: width::of_results,
            to: Box::new(io::stdout()),
            ended: None,
        };
        let talk = Stream {
            colour: colour(anstream::AutoStream::choice(&io::stderr())),
            columns: width::of_messages,
            to: Box::new(io::stderr()),
            ended: None,
        };
        let streams = Arc::new(Mutex::new(Streams::new(results, talk)));
        let size: Size = Arc::new(width::of_screen);
        let live = Live::new(&streams, &size, true);
        // A log is a list of lines, wherever it is shown.
        let interactive = io::stderr().is_terminal() && manner.log_format == LogFormat::Plain;
        Self { manner, streams, live, size, interactive, clock: SystemClock::start() }
    }

    /// A log: everything that is said, with the time of this clock, and every result, as lines of a file.
    ///
    /// # Errors
    /// When the file cannot be shared by the two.
    pub fn of_file(file: &File, clock: Arc<dyn Clock>) -> io::Result<Self> {
        let stream = || {
            let to = Box::new(file.try_clone()?);
            Ok::<_, io::Error>(Stream { to, colour: false, columns: || None, ended: None })
        };
        let streams = Arc::new(Mutex::new(Streams::new(stream()?, stream()?)));
        let size: Size = Arc::new(width::of_screen);
        let live = Live::new(&streams, &size, false);
        let manner = Manner { log_format: LogFormat::Text, ..Manner::default() };
        Ok(Self { manner, streams, live, size, interactive: false, clock })
    }

    /// The terminal for last words, after which the process ends: what is said to any other clone from now on is dropped, so
    /// that nothing follows them.
    pub fn for_last_words(&self) -> Self {
        let mut streams = self.lock();
        streams.is_taken = true;
        let mut last = Streams::new(streams.results.take(), streams.talk.take());
        // The lines at the bottom say nothing that still holds.
        last.talk.write(&streams.drawn.erased((self.size)().0));
        drop(streams);
        let streams = Arc::new(Mutex::new(last));
        let live = Live::new(&streams, &self.size, false);
        Self { streams, live, ..self.clone() }
    }

    /// Whether standard output carries JSON.
    pub fn json(&self) -> bool {
        self.manner.json
    }

    /// The columns of what results are printed to; `None` where it is no terminal.
    pub fn result_columns(&self) -> Option<usize> {
        (self.lock().results.columns)()
    }

    /// Prints one line of the result. With JSON wanted, results are [`Terminal::object`]s and this says nothing.
    pub fn result(&self, line: impl Into<Line>) {
        if !self.manner.json {
            self.write_result(&line.into());
        }
    }

    /// Prints one object of the result on a line of its own, when JSON is wanted.
    pub fn object(&self, object: &impl Object) {
        if !self.manner.json {
            return;
        }
        match objects::line(object) {
            Ok(value) => {
                let mut line = clean::escape_json(&value.to_string());
                line.push('\n');
                self.print(|streams| streams.results.write(&line));
            }
            Err(error) => self.fail_result(io::Error::other(error)),
        }
    }

    /// Begins at the top of an empty screen, where results are printed to a terminal.
    pub fn clear(&self) {
        if self.result_columns().is_some() && !self.manner.json {
            self.print(|streams| streams.results.write("\x1b[2J\x1b[H"));
        }
    }

    /// Prints a document that fleetload generated itself, byte for byte: a completion script, a manual page.
    pub fn document(&self, text: &str) {
        self.print(|streams| streams.results.write(text));
    }

    /// Prints a JSON value of others over several lines, with what could steer a terminal escaped as JSON escapes it.
    pub fn pretty(&self, value: &Value) {
        // A value has no part that cannot be written.
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        let lines: String = text.lines().map(|line| clean::escape_json(line) + "\n").collect();
        self.print(|streams| streams.results.write(&lines));
    }

    /// Prints bytes of others as they are; on a terminal as text, with what could steer it escaped.
    pub fn bytes(&self, bytes: &[u8]) {
        if self.result_columns().is_none() {
            self.print(|streams| streams.results.write_bytes(bytes));
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let lines: String = text.lines().map(|line| clean(line) + "\n").collect();
        self.print(|streams| streams.results.write(&lines));
    }

    /// Says something that is not a result. Quiet keeps it back.
    pub fn say(&self, line: impl Into<Line>) {
        if !self.manner.quiet {
            self.write_talk(Level::Info, &line.into());
        }
    }

    /// Writes a line for whoever reads the log of an unattended run later; a terminal that is watched needs none.
    pub fn log(&self, line: impl Into<Line>) {
        if !self.interactive {
            self.write_talk(Level::Info, &line.into());
        }
    }

    /// Says a line with this time, unless every line has its time.
    fn say_at(&self, time: impl Display, text: &str) {
        match self.dates_lines() {
            true => self.say(text),
            false => self.say(format!("{time} {text}")),
        }
    }

    /// Warns of something that happens while others are at work, with this time, unless every line has its time. Quiet does
    /// not keep it back.
    fn warn_at(&self, time: impl Display, text: &str) {
        let line = match self.dates_lines() {
            true => Line::plain(text),
            false => Line::plain(format!("{time} {text}")),
        };
        self.write_talk(Level::Warning, &line);
    }

    /// Whether each line of talk has its time.
    pub fn dates_lines(&self) -> bool {
        self.manner.log_format != LogFormat::Plain
    }

    /// Says something that a person should know before relying on the result.
    pub fn warn(&self, text: impl AsRef<str>) {
        self.write_marked(Level::Warning, text.as_ref());
    }

    /// Tells what to do or type next. Part of every end, so quiet does not keep it back.
    pub fn hint(&self, advice: impl Into<Advice>) {
        for (number, line) in Line::of_advice(&advice.into()).into_iter().enumerate() {
            let before = match number {
                0 => Line::new().ink(Ink::Hint, "hint:").text(" "),
                _ => Line::plain("      "),
            };
            self.write_talk(Level::Info, &before.join(line));
        }
    }

    /// Tells an error that ends the command: what happened, why, and what to do next.
    pub fn error(&self, error: &Error) {
        self.write_marked(Level::Error, &error.to_string());
        if let Some(advice) = error.advice() {
            self.hint(advice.clone());
        }
        self.error_object(error);
    }

    /// Tells an error to programs only, where people were told already.
    pub fn error_object(&self, error: &Error) {
        self.object(&ErrorObject {
            message: clean(&error.to_string()),
            hint: error.next_step().map(str::to_owned),
            reason: error.end(),
            exit_code: error.end().exit().code(),
        });
    }

    /// The exit code after everything was printed: a result that could not be written is a failure of ours. Where last words
    /// are said, whoever says them ends the process.
    pub fn finish(&self, exit: Exit) -> Exit {
        while self.lock().is_taken {
            thread::park();
        }
        let failure = self.lock().results.ended.take();
        match failure {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let error = Error::internal("cannot write the result to standard output").because(error);
                self.write_marked(Level::Error, &error.to_string());
                if exit == Exit::Done { Exit::Failed } else { exit }
            }
            Some(_) | None => exit,
        }
    }

    /// Whether results are printed no more: the reader has gone, or one could not be written.
    pub fn has_ended(&self) -> bool {
        self.lock().results.ended.is_some()
    }

    fn write_result(&self, line: &Line) {
        self.print(|streams| streams.results.line(line));
    }

    /// Writes what is graver than talk; where the lines of a log have their level, no word says it again.
    fn write_marked(&self, level: Level, text: &str) {
        let mark = match self.dates_lines() {
            true => Line::new(),
            false => Line::new().ink(level.ink(), format!("{}:", level.as_str())).text(" "),
        };
        let mut lines = text.lines();
        self.write_talk(level, &mark.text(lines.next().unwrap_or_default()));
        for more in lines {
            self.write_talk(level, &Line::new().text("  ").text(more));
        }
    }

    fn write_talk(&self, level: Level, line: &Line) {
        let line = self.manner.log_format.line(level, self.clock.now(), line);
        self.print(|streams| streams.talk.line(&line));
    }

    /// Notes that a result could not be written; [`Self::finish`] says it.
    pub fn fail_result(&self, error: io::Error) {
        self.lock().results.ended.get_or_insert(error);
    }

    /// Everything that is written passes here, so that the lines at the bottom make room for it.
    fn print(&self, write: impl FnOnce(&mut Streams)) {
        if self.interactive {
            self.live.above(write);
        } else {
            write(&mut self.lock());
        }
    }

    /// The columns of the terminal at this moment.
    fn columns(&self) -> usize {
        (self.size)().0
    }

    /// Shows these lines at the bottom of the terminal, in place of those shown before.
    fn show(&self, lines: Vec<Line>) {
        self.live.show(lines);
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }
}

fn lock(streams: &Mutex<Streams>) -> MutexGuard<'_, Streams> {
    // A panic elsewhere must not silence the message about it.
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error as programs read it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct ErrorObject {
    /// What happened, where and why.
    message: String,
    /// What to do or type next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    reason: End,
    /// The exit code that the error stands for.
    exit_code: u8,
}

impl Object for ErrorObject {
    const NAME: &'static str = "error";
}

#[cfg(test)]
pub(crate) mod testing {
    //! A terminal whose two streams are kept in memory.

    use super::*;

    #[derive(Clone, Default)]
    pub(crate) struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Kept {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) struct Ends(pub(crate) io::ErrorKind);

    impl Write for Ends {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn terminal(manner: Manner) -> (Terminal, Kept, Kept) {
        let (results, talk) = (Kept::default(), Kept::default());
        (of_size(manner, Arc::new(|| (80, 24)), (&results, &talk)), results, talk)
    }

    fn of_size(manner: Manner, size: Size, (results, talk): (&Kept, &Kept)) -> Terminal {
        let (results, talk) = (stream(results.clone()), stream(talk.clone()));
        let streams = Arc::new(Mutex::new(Streams::new(results, talk)));
        let live = Live::new(&streams, &size, false);
        Terminal { manner, streams, live, size, interactive: false, clock: SystemClock::start() }
    }

    /// A terminal of so many columns, and what is written to it.
    pub(crate) fn interactive(columns: u16) -> (Terminal, Kept) {
        let (terminal, _, talk) = resizable((usize::from(columns), 24));
        (terminal, talk)
    }

    /// A terminal whose columns and rows can be changed, and what is written to it.
    pub(crate) fn resizable(size: (usize, usize)) -> (Terminal, Arc<Mutex<(usize, usize)>>, Kept) {
        let (now, talk) = (Arc::new(Mutex::new(size)), Kept::default());
        let at_this_moment = Arc::clone(&now);
        let size: Size = Arc::new(move || *at_this_moment.lock().unwrap());
        let terminal = of_size(Manner::default(), size, (&Kept::default(), &talk));
        (Terminal { interactive: true, ..terminal }, now, talk)
    }

    impl Kept {
        /// What a screen of so many columns shows of it.
        pub(crate) fn screen(&self, columns: u16) -> String {
            let mut parser = vt100::Parser::new(24, columns, 0);
            parser.process(self.text().replace("\r\n", "\n").replace('\n', "\r\n").as_bytes());
            parser.screen().contents().trim_end().to_owned()
        }
    }

    pub(super) fn stream(to: impl Write + Send + 'static) -> Stream {
        Stream { to: Box::new(to), colour: false, columns: || None, ended: None }
    }
}

#[cfg(test)]
mod tests;

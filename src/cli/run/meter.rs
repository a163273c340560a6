//! The metrics file of a run: its figures, written again every 15 seconds, at once when something is paused or goes on, and at
//! the end.
//!
//! A thread with its own connection to the journal writes it, so that a slow disk holds up nothing but the figures. The file is
//! readable by everybody, as the collector that reads it is another user: no secret and no value of a row is in it.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::cli::args::commands::Run;
use crate::cli::atomic_file;
use crate::cli::context::Context;
use crate::cli::output_file::refuse_unless;
use crate::cli::settings::Settings;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{CommandEnd, Journal, refuse_own};
use crate::metrics::{BEGINNING, JournalFigures, RunFigures, Source, exposition};
use crate::model::event::Event;
use crate::model::time::Moment;
use crate::term::{Terminal, Tick};

/// How often the file is written while a run goes on: as often as Prometheus reads it.
const EVERY: Duration = Duration::from_secs(15);
/// How long the last writing of the file may take.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// The figures of a run, and the file that they are written to where one is wanted.
#[derive(Default)]
pub(in crate::cli) struct Meter {
    file: RefCell<Option<MetricsFile>>,
    /// Whether the command has had the lock of the journal.
    has_begun: Cell<bool>,
}

/// See [`Meter`].
struct MetricsFile {
    path: PathBuf,
    profile: Option<String>,
    terminal: Terminal,
    figures: RunFigures,
    schedule: Schedule,
    writer: Option<Writer>,
    has_ended: bool,
    /// Whether it was said that it cannot be written.
    is_failure_told: bool,
}

/// When the file is written next; nothing for at once.
#[derive(Debug, Default)]
struct Schedule(Option<Duration>);

impl Schedule {
    /// At once, whenever it was to be.
    fn hasten(&mut self) {
        self.0 = None;
    }

    /// Whether it is now. The next time is a while later.
    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = self.0.is_none_or(|due| due <= now);
        if is_due {
            self.0 = Some(now + EVERY);
        }
        is_due
    }
}

/// The thread that writes.
struct Writer {
    orders: mpsc::Sender<Order>,
    results: mpsc::Receiver<Result<()>>,
    /// How many orders have no result yet.
    outstanding: usize,
}

/// What is to be written.
struct Order {
    figures: RunFigures,
    now: Moment,
    ended: Option<CommandEnd>,
}

/// Finds out whether the file of metrics can be written, beside this journal.
///
/// # Errors
/// Usage when it cannot, or may not be replaced.
pub(in crate::cli) fn probe(path: &Path, journal: &Path) -> Result<()> {
    atomic_file::probe(path).map_err(|error| {
        Error::usage(format!("the metrics file {} cannot be written", path.display()))
            .because(error)
            .hint("create its folder and make it writable, or name another file with --metrics-file FILE")
    })?;
    refuse_others(path, journal)
}

/// Refuses to write over a file that is neither empty nor metrics, and over the journal and what belongs to it.
fn refuse_others(path: &Path, journal: &Path) -> Result<()> {
    // Before it is opened: a process that closes the file of a journal loses its locks on it.
    refuse_own(journal, path).map_err(|error| error.hint("name another file with --metrics-file FILE"))?;
    let ours = match atomic_file::read(path, BEGINNING.len() as u64) {
        Ok(Some(beginning)) => beginning.is_empty() || beginning == BEGINNING.as_bytes(),
        Ok(None) | Err(_) => false,
    };
    refuse_unless(ours, path, "a metrics file", "--metrics-file")
}

impl Meter {
    /// Takes the file that the command line or the profile names, before anything can keep the run from beginning. It is not
    /// written yet.
    pub(super) fn take(&self, context: &Context<'_>, typed: &Run) {
        // The settings report why a profile cannot be read.
        let profile = if typed.rehearsal.sandbox { None } else { context.profile().ok().flatten() };
        let named = || match typed.rehearsal.sandbox {
            // A rehearsal does not replace the figures of the work itself.
            true => None,
            false => Settings::metrics_file(context.environment, profile.as_ref()),
        };
        let Some(path) = typed.metrics_file.clone().or_else(named) else { return };
        self.file.replace(Some(MetricsFile {
            path,
            profile: profile.map(|profile| profile.name),
            terminal: context.terminal.clone(),
            figures: RunFigures::default(),
            schedule: Schedule::default(),
            writer: None,
            has_ended: false,
            is_failure_told: false,
        }));
    }

    /// Finds out whether the file can be written.
    ///
    /// # Errors
    /// Usage when no file can be written there, or the one that is there may not be replaced.
    pub(super) fn probe(&self, journal: &Path) -> Result<()> {
        let mut file = self.file.borrow_mut();
        let Some(path) = file.as_ref().map(|file| file.path.clone()) else { return Ok(()) };
        probe(&path, journal).inspect_err(|_| {
            // The error says so.
            *file = None;
        })
    }

    /// The journal is locked for this run: the file is written from now on.
    pub(super) fn begin(&self, context: &Context<'_>) -> Result<()> {
        self.has_begun.set(true);
        if let Some(file) = self.file.borrow_mut().as_mut() {
            file.begin(&context.common.journal)?;
            file.order(context.now(), None);
        }
        Ok(())
    }

    /// Takes in a piece of news of the run.
    pub(super) fn news(&self, event: &Event, tick: Tick) {
        if let Some(file) = self.file.borrow_mut().as_mut()
            && file.figures.take(event, tick.now)
        {
            file.schedule.hasten();
        }
    }

    /// Writes the file when that is due.
    pub(super) fn tick(&self, tick: Tick) {
        if let Some(file) = self.file.borrow_mut().as_mut() {
            file.take_results();
            let is_idle = file.writer.as_ref().is_some_and(|writer| writer.outstanding == 0);
            if is_idle && file.schedule.is_due(tick.elapsed) {
                file.order(tick.now, None);
            }
        }
    }

    /// The command has ended like this: notes it in the journal that it ran, and writes the file once more.
    pub(in crate::cli) fn finish(&self, context: &Context<'_>, end: End) {
        // How it ends, and the figures, are those of the other run.
        if end == End::AnotherRun {
            return;
        }
        let (now, exit_code) = (context.now(), end.exit().code());
        let (path, has_begun) = (&context.common.journal, self.has_begun.get());
        if !has_begun && Journal::open_existing(path).is_ok_and(|other| other.is_run_at_work()) {
            return;
        }
        if end.exit() != Exit::Journal || end == End::AccountLocked {
            let noted = note_end(path, now, exit_code);
            // Before a command has begun there may be no journal.
            if has_begun && let Err(error) = noted {
                let words = format!("how the run ended could not be noted in the journal: {error}");
                context.terminal.warn(words);
            }
        }
        if end == End::AccountLocked {
            return;
        }
        let Some(mut file) = self.file.take() else { return };
        file.has_ended = true;
        let succeeded_at = (end.exit() == Exit::Done).then_some(now);
        if let Err(error) = file.begin(&context.common.journal) {
            return file.tell_failure(&error);
        }
        file.order(now, Some(CommandEnd { at: now, exit_code, succeeded_at }));
        file.close();
    }
}

fn note_end(journal: &Path, at: Moment, exit_code: u8) -> Result<()> {
    let mut journal = Journal::open_existing(journal)?;
    journal.wait_for_lock(LAST_WAIT)?;
    journal.note_command_end(at, exit_code)
}

impl MetricsFile {
    /// Starts the thread, where it does not work yet.
    fn begin(&mut self, journal: &Path) -> Result<()> {
        if self.writer.is_some() {
            return Ok(());
        }
        let (orders, inbox) = mpsc::channel::<Order>();
        let (told, results) = mpsc::channel();
        let (path, profile, journal) = (self.path.clone(), self.profile.clone(), journal.to_owned());
        thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || {
                let mut open = None;
                for order in inbox {
                    let written = write(&path, profile.as_deref(), (&journal, &mut open), &order);
                    // Whoever waited may have ended.
                    let _gone = told.send(written);
                }
            })
            .map_err(|error| Error::internal("cannot start the thread that writes metrics").because(error))?;
        self.writer = Some(Writer { orders, results, outstanding: 0 });
        Ok(())
    }

    fn order(&mut self, now: Moment, ended: Option<CommandEnd>) {
        if let Some(writer) = &mut self.writer
            && writer.orders.send(Order { figures: self.figures.clone(), now, ended }).is_ok()
        {
            writer.outstanding += 1;
        }
    }

    /// Takes what came of earlier orders.
    fn take_results(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        let results: Vec<Result<()>> = writer.results.try_iter().collect();
        writer.outstanding = writer.outstanding.saturating_sub(results.len());
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            self.tell_failure(error);
        }
    }

    /// Waits for the last order.
    fn close(mut self) {
        while let Some(writer) = self.writer.as_mut().filter(|writer| writer.outstanding > 0) {
            let Ok(result) = writer.results.recv_timeout(LAST_WAIT) else {
                return self.tell_failure(&Error::internal("the disk did not answer in time"));
            };
            writer.outstanding -= 1;
            if let Err(error) = result {
                self.tell_failure(&error);
            }
        }
    }

    /// Says once that the file cannot be written; a run goes on.
    fn tell_failure(&mut self, error: &Error) {
        if !std::mem::replace(&mut self.is_failure_told, true) {
            let (path, goes_on) =
                (self.path.display(), if self.has_ended { "" } else { "; the run goes on" });
            self.terminal.warn(format!("the metrics file {path} was not written: {error}{goes_on}"));
        }
    }
}

/// Writes the file; the journal is opened once it is there.
fn write(
    path: &Path,
    profile: Option<&str>,
    (journal, open): (&Path, &mut Option<Journal>),
    order: &Order,
) -> Result<()> {
    refuse_others(path, journal)?;
    if open.is_none() && journal.exists() {
        *open = Some(Journal::open_existing(journal)?);
    }
    // The run has noted the quota that it was given.
    let figures = open.as_ref().map(|journal| JournalFigures::read(journal, order.now, None)).transpose()?;
    let source = Source { profile, now: order.now, ended: order.ended };
    let text = exposition(source, figures.as_ref(), Some(&order.figures));
    atomic_file::put_for_everybody(path, text.as_bytes())
        .map_err(|error| Error::internal("a file beside it cannot be written or renamed").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_written_at_once_every_15_seconds_and_when_something_is_paused() {
        let mut schedule = Schedule::default();
        let seconds: Vec<u64> = (0..60)
            .filter(|second| {
                if *second == 21 {
                    schedule.hasten();
                }
                schedule.is_due(Duration::from_secs(*second))
            })
            .collect();
        assert_eq!(seconds, [0, 15, 21, 36, 51]);
    }
}

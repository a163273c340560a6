//! The signals that end a command: Ctrl-C, `kill`, and the terminal going away.
//!
//! A terminal that goes away ends nothing where its signal is ignored, as under `nohup`. One listener for the whole life of
//! the process: once it listens, the system no longer ends us by itself. So a run listens on a thread of its own
//! ([`Watch`]), which nothing that hangs can keep from ending the process: a sync of the journal, a report on a slow disk.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc as std_mpsc};
use std::thread;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::advice::Advice;
use crate::cli::context::Context;
use crate::cli::summary::{Summary, end_process};
use crate::clock::Clock;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{Journal, Whose};
use crate::model::tally::Tally;
use crate::notify::Delivering;
use crate::run::Interrupt;
use crate::term::{Ink, Line, Terminal};

/// How long a run may take to end in order after the second signal: as long as a healthy disk takes, and no longer than
/// a person waits.
const AT_ONCE: Duration = Duration::from_secs(2);

/// What a signal means at this moment.
#[derive(Debug, Clone)]
enum Doing {
    /// Nothing is sent yet: it ends the process.
    Preparing,
    /// It asks the run to begin nothing more.
    Sending(mpsc::Sender<Interrupt>),
    /// The run was asked: it is to end at once.
    Stopping(mpsc::Sender<Interrupt>),
    /// The run was asked to end at once: the process ends.
    Aborting,
    /// The run has ended and is in the journal, whose rows are counted for `--json`; reports are written: it ends the process.
    Reporting(Option<Tally>),
    /// A command that is no run is at work: it ends the process.
    Other,
    /// Everything is done; notifications are delivered: it cuts that short.
    Delivering(Delivering),
    /// Nothing is going on, and whoever waits for what comes next is told.
    Idle(mpsc::Sender<()>),
}

/// Listens for the signals that end a run, from before it until the process ends.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Watch {
    doing: Arc<Mutex<Doing>>,
    /// How it goes on after it was ended.
    again: Arc<Mutex<Advice>>,
    /// Whether it is the watch of one run, which sets that.
    is_of_run: bool,
}

impl Watch {
    /// Begins to listen for a run about the records of `whose`, before it has brought its files in; a command that has
    /// several runs listens once for all of them.
    pub(in crate::cli) fn start(context: &Context<'_>, whose: Whose) -> Result<Self> {
        if let Some(watch) = &context.signals {
            watch.preparing();
            return Ok(watch.clone());
        }
        let again = Advice::from("to go on, type the command again");
        Ok(Self { is_of_run: true, ..Self::listen(context, Doing::Preparing, again, whose)? })
    }

    /// Begins to listen for a command, which goes on with what was begun when it is typed again.
    pub(in crate::cli) fn start_for(context: &Context<'_>, command: &str) -> Result<Self> {
        let whose = context.whose.borrow().clone().unwrap_or_default();
        let again = context.advice("to go on: ", command);
        Self::listen(context, Doing::Preparing, again, whose)
    }

    /// Begins to listen for a command that is no run; `advice` is what to do after it was ended.
    pub(in crate::cli) fn start_beside(context: &Context<'_>, advice: Advice) -> Result<()> {
        Self::listen(context, Doing::Other, advice, Whose::default()).map(|_watch| ())
    }

    /// Begins to listen, on a thread of its own.
    fn listen(context: &Context<'_>, doing: Doing, again: Advice, whose: Whose) -> Result<Self> {
        let failed = |error: io::Error| Error::internal("cannot listen for signals").because(error);
        let (doing, again) = (Arc::new(Mutex::new(doing)), Arc::new(Mutex::new(again)));
        let listener = Listener {
            doing: doing.clone(),
            terminal: context.terminal.clone(),
            clock: context.clock.clone(),
            again: again.clone(),
            report: context.again("report"),
            whose,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (ready, is_ready) = std_mpsc::channel();
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    match Signals::listen() {
                        Ok(signals) => {
                            // Whoever started us waits for it.
                            let _heard = ready.send(Ok(()));
                            listener.listen(signals).await;
                        }
                        Err(error) => drop(ready.send(Err(error))),
                    }
                });
            })
            .map_err(failed)?;
        is_ready.recv().map_err(|error| failed(io::Error::other(error)))?.map_err(failed)?;
        Ok(Self { doing, again, is_of_run: false })
    }

    /// From now on the rows of the run are in the journal: the files are not typed again.
    pub(in crate::cli) fn imported(&self, context: &Context<'_>) {
        if self.is_of_run {
            *lock(&self.again) = context.advice("to go on: ", "run");
        }
    }

    /// From now on a run is at work that can be asked to stop.
    pub(in crate::cli) fn sending(&self, interrupt: mpsc::Sender<Interrupt>) {
        *lock(&self.doing) = Doing::Sending(interrupt);
    }

    /// From now on something is prepared that may be ended at any moment.
    pub(in crate::cli) fn preparing(&self) {
        *lock(&self.doing) = Doing::Preparing;
    }

    /// From now on nothing goes on; a signal is passed on to whoever waits.
    pub(in crate::cli) fn idle(&self, tell: mpsc::Sender<()>) {
        *lock(&self.doing) = Doing::Idle(tell);
    }

    /// From now on reports are written.
    pub(in crate::cli) fn reporting(&self, context: &Context<'_>, journal: &Journal) {
        // A signal may find the disk stuck.
        let rows = if context.terminal.json() { journal.tally(None).ok() } else { None };
        *lock(&self.doing) = Doing::Reporting(rows);
    }

    /// From now on notifications are delivered.
    pub(in crate::cli) fn delivering(&self, delivering: Delivering) {
        *lock(&self.doing) = Doing::Delivering(delivering);
    }
}

fn lock<T>(told: &Mutex<T>) -> MutexGuard<'_, T> {
    // It is replaced as a whole, so that a panic elsewhere leaves it whole.
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread's side.
struct Listener {
    doing: Arc<Mutex<Doing>>,
    terminal: Terminal,
    clock: Arc<dyn Clock>,
    again: Arc<Mutex<Advice>>,
    /// The command that writes the reports.
    report: String,
    /// Whose records the run is about.
    whose: Whose,
}

impl Listener {
    async fn listen(&self, mut signals: Signals) {
        loop {
            signals.next().await;
            self.heard();
            if matches!(*lock(&self.doing), Doing::Aborting) {
                let another = tokio::select! {
                    () = signals.next() => true,
                    () = tokio::time::sleep(AT_ONCE) => false,
                };
                if matches!(*lock(&self.doing), Doing::Aborting) {
                    let why = "at once, before the journal answered; requests that were under way are looked up \
                        before anything is sent again";
                    self.end(why, Advice::new());
                }
                if another {
                    self.heard();
                }
            }
        }
    }

    /// What follows from a signal.
    fn heard(&self) {
        let mut doing = lock(&self.doing);
        let (interrupt, next) = match &*doing {
            Doing::Sending(run) => (Interrupt::Drain, Doing::Stopping(run.clone())),
            Doing::Stopping(_) => (Interrupt::Abort, Doing::Aborting),
            Doing::Preparing | Doing::Aborting => {
                drop(doing);
                self.end("before anything was sent", Advice::new());
            }
            Doing::Other => {
                drop(doing);
                self.end("by a signal", Advice::new());
            }
            Doing::Delivering(delivering) => return delivering.cut(),
            Doing::Idle(tell) => {
                // One is enough.
                let _told_already = tell.try_send(());
                return;
            }
            Doing::Reporting(_) => {
                drop(doing);
                let reports = Advice::from("to write the reports: ").command(&self.report).words("\n");
                self.end("while the reports were written", reports);
            }
        };
        if let Doing::Sending(run) | Doing::Stopping(run) = &*doing {
            // A run that has just ended takes nothing more: its reports are next.
            let _ended_meanwhile = run.try_send(interrupt);
        }
        *doing = next;
    }

    /// Ends the process, with how it goes on after the `advice`. That is safe at any moment: it is what the journal is for, and
    /// reports are replaced as a whole.
    fn end(&self, why: &str, advice: Advice) -> ! {
        let (now, advice) = (self.clock.now(), advice.join(&lock(&self.again)));
        let (is_run, rows) = match &*lock(&self.doing) {
            Doing::Other => (false, None),
            Doing::Reporting(rows) => (true, rows.clone()),
            _ => (true, None),
        };
        let (why, whose) = (why.to_owned(), self.whose.clone());
        end_process(End::Signal, self.terminal.clone(), move |terminal| {
            terminal.result(Line::new().ink(Ink::Warning, "stopped").text(format!(" {why}")));
            terminal.hint(advice);
            let mut summary = Summary::new(End::Signal).of_account(&whose, whose.banner().is_some());
            if let Some(rows) = rows {
                summary = summary.counting(|| Ok(rows));
            }
            if is_run {
                summary.date(terminal, now);
            }
            summary.tell(terminal);
        })
    }
}

/// Listens for SIGINT, SIGTERM and SIGHUP, or Ctrl-C where there are no such signals.
#[cfg(unix)]
pub(in crate::cli) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where whoever started us has it ignored (`nohup`), so that the run outlives its terminal, and once it has come.
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: match ignores_hang_up() {
                true => None,
                false => Some(signal(SignalKind::hangup())?),
            },
        })
    }

    /// Waits for the next signal.
    pub(in crate::cli) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            // A terminal goes away once; its shell and the system may both say so.
            () = hung_up(self.hang_up.as_mut()) => self.hang_up = None,
        }
    }
}

#[cfg(unix)]
async fn hung_up(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether SIGHUP was being ignored when this process began. To listen for it would undo that.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    // Where the system does not tell in this way, it is listened for.
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| hang_up_is_ignored_in(&status))
}

#[cfg(unix)]
fn hang_up_is_ignored_in(status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        // Bit 0 stands for signal 1, which is SIGHUP everywhere.
        .is_some_and(|mask| mask & 1 == 1)
}

/// Listens for Ctrl-C.
#[cfg(not(unix))]
pub(in crate::cli) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub(in crate::cli) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next Ctrl-C.
    pub(in crate::cli) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_of_the_ignored_signals_is_the_hang_up() {
        for (mask, ignored) in [
            ("0000000000000001", true),
            ("0000000000001003", true),
            ("0000000000001002", false),
            ("0000000000000000", false),
            ("not a mask", false),
        ] {
            let status = format!("Name:\tfleetload\nSigIgn:\t{mask}\nSigCgt:\t0000000000000001\n");
            assert_eq!(hang_up_is_ignored_in(&status), ignored, "{mask}");
        }
        assert!(!hang_up_is_ignored_in(""));
    }
}

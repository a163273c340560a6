//! `fleetload watch`: a folder whose sheets are checked, imported and run as they come, until a signal.
//!
//! ```text
//! inbox     which files are whole, and how they are moved; what a restart finds
//! process   one file: the command `run` in a context of its own, and what follows from how its rows stand
//! ```
//!
//! This file is the loop: a look, the files that are whole one after the other, then those whose rows wait, when it is time.

mod inbox;
mod process;

use std::time::Duration;

use serde::Serialize;
use tokio::sync::mpsc;

use self::inbox::{Entry, Found, Inbox, Now};
use self::process::{Next, Outcome, process, stopped};
use crate::advice::quoted;
use crate::cli::args::watch::Watch as Typed;
use crate::cli::context::Context;
use crate::cli::lock_holder;
use crate::cli::run::preconditions::refuse_unsafe_storage;
use crate::cli::run::signals::Watch;
use crate::cli::run::unborn_rehearsal;
use crate::cli::service_manager;
use crate::cli::settings::Purpose;
use crate::cli::summary::{HeldBySummary, Summary};
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::model::id::ImportId;
use crate::model::time::{Moment, Rfc3339};
use crate::status::run_state::worse;
use crate::term::{Ink, Line, clean, counted};

/// The longest pause between two tries of files that wait, where nobody has said when they go on.
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

/// And where somebody has said: a run that was started by hand may have finished them before.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Watches a folder until a signal, or looks at it once.
pub(super) fn watch(context: &Context<'_>, typed: &Typed) -> Result<Summary> {
    context.rehearse(&typed.rehearsal);
    // What is wrong with the profile or the options is found before any file is taken.
    let sandbox = typed.rehearsal.sandbox;
    let purpose = if sandbox { unborn_rehearsal(&typed.rehearsal)? } else { Purpose::Service };
    let settings = context.settings(&purpose, &typed.overrides)?;
    if settings.confirm.value && !typed.yes {
        return Err(Error::usage(format!(
            "a run must be confirmed (confirm = true, {}), and nobody can be asked here; no file was taken",
            settings.confirm.origin
        ))
        .ending(End::NobodyToAsk)
        .hint("to run the files without being asked, add --yes"));
    }
    if !sandbox {
        drop(settings.client(context.clock.clone())?);
    }
    typed.reading.settle(context)?;
    refuse_unsafe_storage(context)?;
    let folder = typed.folder.display();
    let inbox = match Inbox::open(&typed.folder, typed.at_rest)? {
        Ok(inbox) => inbox,
        Err(holder) => {
            let process = lock_holder::process(holder.pid);
            context.terminal.result(format!("another watch of {folder} is at work{process}"));
            return Ok(Summary::new(End::AnotherRun).with(&HeldBySummary::from(holder)));
        }
    };
    let command = format!("watch {}", quoted(&typed.folder.to_string_lossy()));
    let signals = Watch::start_for(context, &command)?;
    let (tell, stop) = mpsc::channel(1);
    signals.idle(tell.clone());
    let waiting = inbox.left()?;
    let mut watching = Watching {
        context,
        typed,
        inbox,
        signals,
        tell,
        stop,
        waiting,
        due: None,
        pause: typed.every,
        figures: Figures::default(),
        has_looked: false,
        looks_again: false,
    };
    let summary = watching.go_on();
    service_manager::stopping();
    let summary = summary?;
    let Figures { done, failed, .. } = watching.figures;
    if context.common.journal.exists() {
        context.journal()?;
    }
    Ok(summary.with(&WatchSummary { done, failed, waiting: watching.waiting.len() }))
}

/// How many files went where, and the worst of how they stand.
struct Figures {
    done: u64,
    failed: u64,
    worst: End,
}

impl Default for Figures {
    fn default() -> Self {
        Self { done: 0, failed: 0, worst: End::Done }
    }
}

struct Watching<'a> {
    context: &'a Context<'a>,
    typed: &'a Typed,
    inbox: Inbox,
    signals: Watch,
    tell: mpsc::Sender<()>,
    stop: mpsc::Receiver<()>,
    /// Files that were taken and are not settled.
    waiting: Vec<Entry>,
    /// When they are tried again, by the clock that only goes forward.
    due: Option<Duration>,
    pause: Duration,
    figures: Figures,
    /// Whether there was a look, and whether it takes another one to tell which files are whole.
    has_looked: bool,
    looks_again: bool,
}

/// Why the loop ends.
type Ended = Option<Result<Summary>>;

impl Watching<'_> {
    fn go_on(&mut self) -> Result<Summary> {
        let failed = |error| Error::internal("cannot wait for the next look").because(error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        if !self.typed.once {
            let folder = self.typed.folder.display();
            self.context.terminal.say(format!("watching {folder} (Ctrl-C ends it)"));
            service_manager::ready(&format!("watching {folder}"));
        }
        loop {
            if let Some(ended) = self.look()? {
                return ended;
            }
            let again = std::mem::take(&mut self.looks_again);
            if self.typed.once && !again {
                let waits = if self.waiting.is_empty() { End::Done } else { End::RowsWaiting };
                return Ok(Summary::new(worse(self.figures.worst, waits)));
            }
            let pause = if again { self.typed.at_rest } else { self.typed.every };
            let is_stopped = runtime.block_on(async {
                let clock = &self.context.clock;
                tokio::select! {
                    () = clock.sleep_until(clock.elapsed() + pause) => false,
                    _ = self.stop.recv() => true,
                }
            });
            if is_stopped {
                return Ok(Summary::new(End::Signal));
            }
        }
    }

    /// Looks once: files that are whole, then those that wait.
    fn look(&mut self) -> Result<Ended> {
        let now = Now { moment: self.context.now(), elapsed: self.context.clock.elapsed() };
        // What was left by the watch before goes first: later files may refer to it.
        let is_second = self.typed.once && self.has_looked;
        if !is_second
            && self.due.is_none_or(|due| now.elapsed >= due)
            && let Some(ended) = self.try_waiting(true)?
        {
            return Ok(Some(ended));
        }
        let found = self.inbox.look(now)?;
        for (path, why) in &found.passed_over {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.context.terminal.warn(format!("{}: left alone: {}", clean(&name), why.words()));
        }
        if self.typed.once {
            self.tell_growing(&found);
        }
        for path in found.whole {
            if self.is_stopped() {
                return Ok(Some(Ok(Summary::new(End::Signal))));
            }
            let Some(entry) = self.inbox.take(&path)? else { continue };
            let outcome = self.process(&entry, true)?;
            let ran = outcome.ran;
            if let Some(ended) = self.conclude(entry, outcome)? {
                return Ok(Some(ended));
            }
            // That run was about every row of the journal.
            if ran && let Some(ended) = self.try_waiting(false)? {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Says which files are not whole, where there is one look. Those whose date is ahead of the clock are looked at once more,
    /// as the date does not tell how long they have been at rest: not whole is what has changed by then.
    fn tell_growing(&mut self, found: &Found) {
        let ahead = if self.has_looked { 0 } else { found.ahead };
        self.looks_again = ahead > 0;
        self.has_looked = true;
        if ahead > 0 {
            let files = counted(ahead as u64, "file is", "files are");
            let seconds = self.typed.at_rest.as_secs();
            self.context.terminal.say(format!(
                "{files} dated ahead of this machine's clock: looked at again after {seconds} s"
            ));
        }
        if found.growing > ahead {
            let files = counted((found.growing - ahead) as u64, "file has", "files have");
            self.context.terminal.say(format!("{files} changed lately: left to the next look"));
        }
    }

    /// Looks whether files that waited are finished; when it is time, one run is made for all of them.
    fn try_waiting(&mut self, mut may_run: bool) -> Result<Ended> {
        if may_run {
            self.due = None;
        }
        for entry in std::mem::take(&mut self.waiting) {
            if self.is_stopped() {
                self.waiting.push(entry);
                return Ok(Some(Ok(Summary::new(End::Signal))));
            }
            let outcome = self.process(&entry, may_run)?;
            // One that was not imported yet is imported by a run of its own.
            may_run = may_run
                && !(outcome.ran && outcome.import.is_some() && matches!(outcome.next, Next::Wait(_)));
            if let Some(ended) = self.conclude(entry, outcome)? {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    fn process(&self, entry: &Entry, may_run: bool) -> Result<Outcome> {
        let outcome = process(self.context, self.typed, entry, (&self.signals, may_run));
        self.signals.idle(self.tell.clone());
        outcome
    }

    fn is_stopped(&mut self) -> bool {
        self.stop.try_recv().is_ok()
    }

    /// Puts a file where it belongs, and says so.
    fn conclude(&mut self, mut entry: Entry, outcome: Outcome) -> Result<Ended> {
        let now = self.context.now();
        let place = match outcome.next {
            Next::Stop => {
                self.tell(now, &entry, &outcome, "stopped", None);
                self.waiting.push(entry);
                return Ok(Some(stopped(outcome)));
            }
            Next::Wait(until) => {
                if outcome.ran || outcome.import.is_some() {
                    let why = self.why_it_waits(&outcome, until);
                    let told = Some(format!("{} {}", outcome.words, why.as_deref().unwrap_or_default()));
                    if entry.told != told {
                        self.tell(now, &entry, &outcome, "waiting", why.as_deref());
                        entry.told = told;
                    }
                }
                if outcome.ran {
                    let wait = until
                        .map_or(Duration::ZERO, |until| until.since(now).min(LONGEST_WAIT))
                        .max(self.pause);
                    let due = self.context.clock.elapsed() + wait;
                    self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
                    self.pause =
                        (self.pause * 2).clamp(self.typed.every, LONGEST_PAUSE.max(self.typed.every));
                    self.figures.worst = worse(self.figures.worst, outcome.end);
                }
                entry.is_new = false;
                self.waiting.push(entry);
                return Ok(None);
            }
            Next::TakeAgain => {
                self.read_again(&entry)?;
                self.inbox.forget(&entry);
                return Ok(None);
            }
            Next::Settle(place) => place,
        };
        if entry.has_changed() {
            self.read_again(&entry)?;
        }
        let folder = self.inbox.settle(&entry, place)?;
        self.pause = self.typed.every;
        match place {
            inbox::Place::Done => self.figures.done += 1,
            inbox::Place::Failed => self.figures.failed += 1,
        }
        self.figures.worst = worse(self.figures.worst, outcome.end);
        self.tell(now, &entry, &outcome, place.name(), Some(&format!("see {}", folder.display())));
        Ok((outcome.ended == End::Signal).then(|| Ok(Summary::new(End::Signal))))
    }

    /// Puts a file that was written to back into the inbox, and says so.
    fn read_again(&self, entry: &Entry) -> Result<()> {
        self.inbox.put_back(&entry.sheet)?;
        let words = format!("{}: it was written to while it was read; it is read again", entry.name);
        self.context.terminal.warn(words);
        Ok(())
    }

    /// When a file goes on, or else why its rows wait and what to type. Of one that was not imported its words say that.
    fn why_it_waits(&self, outcome: &Outcome, until: Option<Moment>) -> Option<String> {
        if let Some(until) = until {
            return Some(format!("goes on {}", self.context.moment(until)));
        }
        let import = outcome.import.as_ref()?.import;
        let again = |command: &str| self.context.again(command);
        Some(match (outcome.end, outcome.end.exit()) {
            (End::ImportPaused, _) => {
                format!("the import is paused; to let it go on: {}", again(&format!("resume {import}")))
            }
            (end, Exit::Service) => {
                format!("{}; to find the cause: {}", end.entry().words, again("doctor"))
            }
            (end, _) => end.entry().words.to_owned(),
        })
    }

    /// The line about a file.
    fn tell(&self, now: Moment, entry: &Entry, outcome: &Outcome, state: &str, more: Option<&str>) {
        let ink = match state {
            "done" => Ink::Good,
            "failed" | "stopped" => Ink::Error,
            _ => Ink::Strong,
        };
        service_manager::status(&format!("{}: {state}, {}", clean(&entry.name), outcome.words));
        let import = outcome.import.as_ref().map(|info| info.import);
        let line = Line::plain(format!("{now} {}: ", entry.name))
            .ink(ink, state)
            .text(format!(", {}", outcome.words));
        self.context.terminal.result(match more {
            Some(more) => line.text(format!("; {more}")),
            None => line,
        });
        self.context.terminal.object(&FileObject {
            at: now.into(),
            file: &entry.name,
            state,
            reason: outcome.end,
            import,
            imported_before: outcome.again,
            words: &outcome.words,
            more,
        });
    }
}

/// A file of the folder, and its result.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct FileObject<'a> {
    /// When it was looked at.
    at: Rfc3339,
    /// Its name.
    file: &'a str,
    /// `done`, `failed`, `waiting` or `stopped`.
    state: &'a str,
    reason: End,
    /// Its import, where it has one.
    import: Option<ImportId>,
    /// Whether a file with the same content was imported before.
    imported_before: bool,
    /// How it stands, in words.
    words: &'a str,
    /// Where it is now, when it goes on, or why it waits.
    more: Option<&'a str>,
}

/// The files of a watch, in numbers.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(in crate::cli) struct WatchSummary {
    /// Files that are done.
    done: u64,
    /// Files that failed.
    failed: u64,
    /// Files whose rows wait.
    waiting: usize,
}

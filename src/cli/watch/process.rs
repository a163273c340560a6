//! One file of a watched folder: checked, imported and run as `fleetload run FILE` does, each content once; what came of it
//! follows from its import as the journal has it, so that a restart comes to the same.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::inbox::{Entry, Place};
use crate::cli::args::commands::{OfImport, Run};
use crate::cli::args::options::WindowArgs;
use crate::cli::args::watch::Watch as Typed;
use crate::cli::context::Context;
use crate::cli::run::meter::Meter;
use crate::cli::run::signals::Watch;
use crate::cli::run::{reports, run_unless_outdated};
use crate::cli::status::{counts, next_commands};
use crate::cli::summary::Summary;
use crate::ending::End;
use crate::error::{Error, Exit, Result};
use crate::journal::{ImportInfo, Journal};
use crate::model::policy::{OnClose, OnQuota};
use crate::model::time::Moment;
use crate::private_file;
use crate::report;
use crate::status::Status;
use crate::status::run_state::moving;
use crate::term::{Terminal, counted};

/// The log of a file, in its folder.
const LOG: &str = "fleetload.log";

/// The reports of a file, in its folder.
const REPORTS: &str = "reports";

/// What comes next for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// It is finished with.
    Settle(Place),
    /// Its rows wait, or it could not be imported now; the moment at which it goes on, where that is known.
    Wait(Option<Moment>),
    /// It was not imported and has changed since it was taken: it is taken again.
    TakeAgain,
    /// The watch ends: it would be no better with another file.
    Stop,
}

/// What came of a file.
pub(super) struct Outcome {
    pub(super) next: Next,
    /// How its rows stand; of one that was not imported, how the command ended.
    pub(super) end: End,
    /// How the command ended, where one was needed.
    pub(super) ended: End,
    /// Its import.
    pub(super) import: Option<ImportInfo>,
    /// In words, for the line about it.
    pub(super) words: String,
    /// Whether its content was imported before it came.
    pub(super) again: bool,
    /// Whether a run was made.
    pub(super) ran: bool,
    /// Why the watch ends.
    pub(super) error: Option<Error>,
}

/// Checks, imports and runs a file, unless its content is in the journal; then only what waits is run. Without `may_run` it is
/// only looked at.
pub(super) fn process(
    outer: &Context<'_>,
    typed: &Typed,
    entry: &Entry,
    (signals, may_run): (&Watch, bool),
) -> Result<Outcome> {
    let unusable = |error: io::Error| {
        Error::internal(format!("the file {} cannot be worked on", entry.sheet.display()))
            .because(error)
            .hint("see that the disk has room and that you may write to the watched folder")
    };
    let mut options = private_file::options();
    let log = options.append(true).create(true).open(entry.folder.join(LOG)).map_err(unusable)?;
    let terminal = Terminal::of_file(&log, outer.clock.clone()).map_err(unusable)?;
    let context = inside(outer, &terminal, signals);
    // Of a file that cannot be read there is none: the run says that, as for other files that are not imported.
    let digest = File::open(&entry.sheet).and_then(report::digest).ok();
    let before = imported(&context, digest.as_deref())?;
    let again = before.is_some();
    let waits = match &before {
        Some((journal, info)) => {
            let status = Status::now(journal, Some(info.import), context.now())?;
            // Those of a paused sheet may go through now; done rows may be left to verify.
            moving(status.tally()) > 0 || matches!(of_rows(status.end_to_check(), None), Next::Wait(_))
        }
        None => true,
    };
    drop(before);
    let ran = waits && may_run;
    let (mut ended, mut error) = (End::Done, None);
    let has_changed = Cell::new(!ran && entry.has_changed());
    if ran {
        signals.preparing();
        if again {
            terminal.result("all rows that are left are run, those of every file that waits");
        }
        let files = if again { Vec::new() } else { vec![entry.sheet.clone()] };
        // Whoever had it open may have gone on writing.
        let is_outdated = |end| {
            has_changed.set(of_end(end) != Next::Stop && entry.has_changed());
            has_changed.get()
        };
        match run_unless_outdated(&context, &typed.as_run(files), &is_outdated) {
            Ok(summary) => ended = summary.end(),
            Err(failure) => {
                let failure = context.with_commands(failure);
                terminal.error(&failure);
                ended = failure.end();
                error = Some(failure);
            }
        }
    }
    let imported = imported(&context, digest.as_deref())?;
    let is_outdated = imported.is_none() && has_changed.get();
    if ran && !is_outdated {
        context.meter.finish(&context, ended);
    }
    let Some((journal, info)) = imported else {
        let next = match ran {
            _ if is_outdated => Next::TakeAgain,
            true => of_end(ended),
            false => Next::Wait(None),
        };
        let words = match next {
            Next::Wait(_) | Next::TakeAgain => format!("not imported yet: {}", ended.entry().words),
            Next::Settle(_) | Next::Stop => format!("not imported: {}", ended.entry().words),
        };
        return Ok(Outcome { next, end: ended, ended, import: None, words, again: false, ran, error });
    };
    let status = Status::now(&journal, Some(info.import), context.now())?;
    let end = status.end_to_check();
    let next = match of_rows(end, status.resumes_at()) {
        Next::Wait(_) if of_end(ended) == Next::Stop => Next::Stop,
        next => next,
    };
    if let Next::Settle(_) = next {
        let folder = next_commands::folder(&context, &info);
        if !ran || !folder.join(report::RESULTS).exists() {
            reports::report(&context, &OfImport { import: Some(info.import) })?;
        }
        copy(&next_commands::folder(&context, &info), &entry.folder.join(REPORTS)).map_err(unusable)?;
    }
    let again = again && entry.is_new;
    let known = if again { "already imported as " } else { "" };
    let rows = counted(info.rows, "row", "rows");
    let states = counts::states(&status.all_rows(), status.left_out());
    let words = format!("{known}import {}, {rows}: {states}", info.import);
    if ran || matches!(next, Next::Settle(_)) {
        // A run is about the rows of other files as well.
        terminal.result(format!("{}: {words}", entry.name));
    }
    Ok(Outcome { next, end, ended, import: Some(info), words, again, ran, error })
}

/// What a command works with that says everything to the log of a file.
fn inside<'a>(outer: &'a Context<'_>, terminal: &'a Terminal, signals: &Watch) -> Context<'a> {
    Context {
        terminal,
        environment: outer.environment,
        common: outer.common,
        clock: outer.clock.clone(),
        here: outer.here.clone(),
        rehearsing: Cell::new(false),
        scenario: RefCell::new(None),
        whose: RefCell::new(None),
        reading: RefCell::new(String::new()),
        at_journal: Cell::new(false),
        signals: Some(signals.clone()),
        meter: Meter::default(),
    }
}

impl Typed {
    /// The run of these files. It waits neither for the next day nor for its window: other files may come meanwhile.
    pub(super) fn as_run(&self, files: Vec<std::path::PathBuf>) -> Run {
        let mut overrides = self.overrides.clone();
        overrides.on_quota.get_or_insert(OnQuota::Exit);
        let window = WindowArgs { on_close: Some(OnClose::Exit), ..WindowArgs::default() };
        Run {
            files,
            yes: self.yes,
            reading: self.reading.clone(),
            rehearsal: self.rehearsal.clone(),
            overrides,
            window,
            ..Run::default()
        }
    }
}

/// The import that has a file of this content, with its journal.
fn imported(context: &Context<'_>, digest: Option<&str>) -> Result<Option<(Journal, ImportInfo)>> {
    let Some(digest) = digest.filter(|_| context.common.journal.exists()) else { return Ok(None) };
    let journal = context.journal()?;
    let found =
        journal.imports()?.into_iter().rev().find(|info| info.files.iter().any(|(_, known)| known == digest));
    Ok(found.map(|info| (journal, info)))
}

/// What follows for a file whose rows stand like this.
fn of_rows(end: End, resumes_at: Option<Moment>) -> Next {
    match end.exit() {
        Exit::Done => Next::Settle(Place::Done),
        Exit::Rejections | Exit::Held => Next::Settle(Place::Failed),
        Exit::Parked
        | Exit::Service
        | Exit::Failed
        | Exit::Usage
        | Exit::Sheets
        | Exit::Journal
        | Exit::Changes => Next::Wait(resumes_at),
    }
}

/// What follows for a file that is not in the journal after a command that ended like this.
fn of_end(end: End) -> Next {
    match (end, end.exit()) {
        // It is the sheet that needs the operation.
        (End::EndpointUnknown, _) | (_, Exit::Sheets) => Next::Settle(Place::Failed),
        // Another program ends some time.
        (End::JournalLocked | End::AccountLocked, _)
        | (_, Exit::Service | Exit::Done | Exit::Rejections | Exit::Held) => Next::Wait(None),
        (End::Signal, _) | (_, Exit::Failed | Exit::Usage | Exit::Journal | Exit::Changes) => Next::Stop,
        (_, Exit::Parked) => Next::Wait(None),
    }
}

/// Copies the reports of an import to the folder of its file; those of an earlier look are replaced.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    private_file::private_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.metadata()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The summary of a watch that ends with an end of a file.
pub(super) fn stopped(outcome: Outcome) -> Result<Summary> {
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(Summary::new(outcome.ended)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_file_goes_follows_from_its_rows_or_from_why_it_was_not_imported() {
        let (done, failed) = (Next::Settle(Place::Done), Next::Settle(Place::Failed));
        for (end, expected) in [
            (End::Done, done),
            (End::RowsFailed, failed),
            (End::RowsHeld, failed),
            (End::Verification, failed),
            (End::SheetPaused, failed),
            (End::RowsWaiting, Next::Wait(None)),
            (End::Quota, Next::Wait(None)),
            (End::Unreachable, Next::Wait(None)),
            (End::Killed, Next::Wait(None)),
        ] {
            assert_eq!(of_rows(end, None), expected, "{end:?}");
        }
        for (end, expected) in [
            (End::Sheets, failed),
            (End::UnknownIds, failed),
            (End::EndpointUnknown, failed),
            (End::Unreachable, Next::Wait(None)),
            (End::Credentials, Next::Wait(None)),
            (End::AnotherRun, Next::Wait(None)),
            (End::AccountLocked, Next::Wait(None)),
            (End::JournalLocked, Next::Wait(None)),
            (End::Usage, Next::Stop),
            (End::JournalFull, Next::Stop),
            (End::JournalOlder, Next::Stop),
            (End::Internal, Next::Stop),
            (End::Signal, Next::Stop),
        ] {
            assert_eq!(of_end(end), expected, "{end:?}");
        }
    }
}

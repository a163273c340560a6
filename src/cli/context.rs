//! The context of a command: the terminal, the environment, the common options, the clock and the reader's time zone.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::advice::Advice;
use crate::cli::args::Common;
use crate::cli::args::options::{Overrides, RehearsalArgs};
use crate::cli::run::meter::Meter;
use crate::cli::run::signals::Watch;
use crate::cli::settings::environment::Environment;
use crate::cli::settings::profile::{self, Profile};
use crate::cli::settings::{Purpose, Settings};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal::{Journal, Whose};
use crate::model::time::Moment;
use crate::status::next_command::Again;
use crate::term::{Ink, Line, Terminal, moment};

/// A path with its folder.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What a command works with.
pub(super) struct Context<'a> {
    pub(super) terminal: &'a Terminal,
    pub(super) environment: &'a Environment,
    pub(super) common: &'a Common,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) here: TimeZone,
    /// Whether the journal is that of a rehearsal, so that the next command is told as one.
    pub(super) rehearsing: Cell<bool>,
    /// What the simulated service was told to do wrong, so that the next command meets the same.
    pub(super) scenario: RefCell<Option<PathBuf>>,
    /// Whose records the command speaks of, as far as it knows.
    pub(super) whose: RefCell<Option<Whose>>,
    /// How files were read, so that what is corrected is read the same: options, each with a space before it.
    pub(super) reading: RefCell<String>,
    /// Whether the command is about the journal, so that its summary counts the rows there.
    pub(super) at_journal: Cell<bool>,
    /// Who listens for signals, of a command that has several runs.
    pub(super) signals: Option<Watch>,
    /// The figures of a run.
    pub(super) meter: Meter,
}

impl Context<'_> {
    /// The settings of this command. A profile is looked for unless it is a rehearsal.
    pub(super) fn settings(&self, purpose: &Purpose, flags: &Overrides) -> Result<Settings> {
        let profile = match purpose {
            Purpose::Rehearsal(_) => None,
            Purpose::Service | Purpose::Reckoning => self.profile()?,
        };
        Settings::settle(purpose, flags, self.environment, profile.as_ref())
    }

    /// The profile, when there is one.
    pub(super) fn profile(&self) -> Result<Option<Profile>> {
        let wanted = self.common.profile.as_deref().filter(|name| !name.is_empty());
        match profile::locate(self.common.config.as_deref(), Path::new("."), self.environment)? {
            Some(file) => profile::read(&file, wanted).map(Some),
            None => match wanted {
                Some(name) => Err(Error::usage(format!(
                    "there is no settings file, so there is no profile '{name}'"
                ))
                .hint("name the file with --config FILE, or copy fleetload.example.toml to fleetload.toml")),
                None => Ok(None),
            },
        }
    }

    /// The profile that says how sheets are read, when there is one. It needs no account, and a rehearsal reads the
    /// sheets as the work itself does.
    pub(super) fn profile_for_sheets(&self) -> Result<Option<Profile>> {
        let wanted = self.common.profile.as_deref().filter(|name| !name.is_empty());
        match profile::locate(self.common.config.as_deref(), Path::new("."), self.environment)? {
            Some(file) => profile::read_for_sheets(&file, wanted),
            None => Ok(None),
        }
    }

    /// The wall clock.
    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// A moment as the reader's clock and UTC show it.
    pub(super) fn moment(&self, at: Moment) -> String {
        moment(at, &self.here)
    }

    /// Who decides, for the record in the journal. Service managers and containers set neither variable.
    pub(super) fn who(&self) -> String {
        let named = self.environment.get("USER").or_else(|| self.environment.get("LOGNAME"));
        named.filter(|name| !name.is_empty()).map_or_else(user_of_the_system, str::to_owned)
    }

    /// How to call fleetload again with the options that matter for the same journal and profile.
    pub(super) fn again(&self, command: &str) -> String {
        self.commands().command(command)
    }

    /// Words and the command behind them, with the same options.
    pub(super) fn advice(&self, words: impl AsRef<str>, command: &str) -> Advice {
        Advice::new().words(words).command(self.again(command))
    }

    /// An error whose commands are about the same journal, account and rehearsal.
    pub(super) fn with_commands(&self, error: Error) -> Error {
        error.map_hint(|hint| self.commands().said(hint, None))
    }

    /// The commands that are told: about the same journal, account and rehearsal, with files read as they were.
    pub(super) fn commands(&self) -> Again {
        self.commands_by(Path::to_path_buf)
    }

    /// The same for somebody who may read them in another folder.
    pub(super) fn commands_elsewhere(&self) -> Again {
        self.commands_by(absolute)
    }

    fn commands_by(&self, path: impl Fn(&Path) -> PathBuf) -> Again {
        let common = self.common;
        let (journal, reports) = (path(&common.journal), &common.reports);
        // A program that starts this one names the profile itself.
        let program = self.environment.get("FLEETLOAD_COMMAND");
        let config = common.config.as_deref().filter(|_| program.is_none()).map(&path);
        let reports = Some(reports).filter(|reports| *reports != Path::new("reports"));
        let written = |path: PathBuf| path.to_string_lossy().into_owned();
        let options = [
            ("--journal", Some(journal).filter(|journal| journal != Path::new("fleetload.db")).map(written)),
            ("--config", config.map(written)),
            ("--profile", common.profile.clone()),
            ("--reports", reports.map(|reports| written(path(reports)))),
            ("--any-storage", common.any_storage.then(String::new)),
        ];
        let given = options.into_iter().filter_map(|(option, value)| Some((option, value?)));
        let again = given.fold(Again::default(), |again, (option, value)| again.with(option, &value));
        let again = program.into_iter().fold(again, Again::through);
        let again = again.reading(self.reading.borrow().clone());
        if self.rehearsing.get() { again.rehearsing(self.scenario.borrow().as_deref()) } else { again }
    }

    /// Notes what was typed about a rehearsal, for the commands that are told.
    pub(super) fn rehearse(&self, typed: &RehearsalArgs) {
        self.rehearsing.set(typed.sandbox);
        self.scenario.borrow_mut().clone_from(&typed.scenario);
    }

    /// Opens the journal that must be there, and notes whether it is that of a rehearsal.
    pub(super) fn journal(&self) -> Result<Journal> {
        let journal = Journal::open_existing(&self.common.journal)?;
        self.at_journal.set(true);
        self.note_whose(&journal)?;
        Ok(journal)
    }

    /// Notes whose a journal is, and whether it is that of a rehearsal.
    pub(super) fn note_whose(&self, journal: &Journal) -> Result<()> {
        let whose = journal.whose()?;
        // Where nothing was typed of a rehearsal, the next is like the last, as long as its scenario is there.
        if whose.banner().is_some() && !self.rehearsing.replace(true) {
            let scenario = journal.scenario()?.filter(|file| file.is_file());
            self.scenario.replace(scenario.map(|file| seen_from_here(&file)));
        }
        self.whose.replace(Some(whose));
        Ok(())
    }

    /// Tells whose records the result speaks of, and that it is that of a rehearsal.
    pub(super) fn tell_whose(&self, whose: &Whose) {
        let ink = if whose.banner().is_some() { Ink::Warning } else { Ink::Faint };
        self.terminal.result(Line::new().ink(ink, whose.line()));
        self.whose.replace(Some(whose.clone()));
    }

    /// Tells whose records sheets are compared with, where there are any, and that they are those of a rehearsal.
    pub(super) fn tell_compared(&self) {
        let whose = self.whose.borrow().clone();
        if let Some(whose) = whose.filter(|whose| whose.account().is_some()) {
            self.tell_whose(&whose);
        }
    }

    /// The runtime that requests, timers and signals live on.
    pub(super) fn runtime(&self) -> Result<tokio::runtime::Runtime> {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
            Error::internal("cannot start the threads that talk to the service").because(error)
        })
    }
}

/// A path as it is typed in the current folder.
fn seen_from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).to_owned()
}

/// The user that the system knows this process by: its name, or its number where it has none.
#[cfg(unix)]
fn user_of_the_system() -> String {
    let number = rustix::process::getuid().as_raw();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    named_in(&users, number).map_or_else(|| format!("uid {number}"), str::to_owned)
}

/// The name of a user in the system's list of users.
#[cfg(unix)]
fn named_in(users: &str, number: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next().filter(|name| !name.is_empty())?;
        (fields.nth(1)?.parse() == Ok(number)).then_some(name)
    })
}

/// The system sets a variable for it, which was asked for before.
#[cfg(not(unix))]
fn user_of_the_system() -> String {
    "unknown".to_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_by_its_number_in_the_list_of_the_system() {
        let users = "root:x:0:0:root:/root:/bin/bash\nkim:x:1000:1000::/home/kim:/bin/sh\nbroken\n";
        assert_eq!(named_in(users, 1000), Some("kim"));
        assert_eq!(named_in(users, 0), Some("root"));
        assert_eq!(named_in(users, 7), None);
    }
}

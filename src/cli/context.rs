//! What every command has at hand: the terminal, the environment, the common options, the clock and the reader's
//! time zone.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::args::{Common, Overrides, Rehearsal};
use super::environment::Environment;
use super::profile::{self, Profile};
use super::rehearsal;
use super::settings::{Purpose, Settings};
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::journal::Journal;
use crate::model::time::Moment;
use crate::term::{Terminal, moment};

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

    fn profile(&self) -> Result<Option<Profile>> {
        let wanted = self.common.profile.as_deref().filter(|name| !name.is_empty());
        match profile::locate(self.common.config.as_deref(), Path::new("."), self.environment)? {
            Some(file) => profile::read(&file, wanted).map(Some),
            None => match wanted {
                Some(name) => Err(Error::usage(format!(
                    "there is no settings file to find the profile '{name}' in"
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

    /// Who decides, for the record in the journal.
    pub(super) fn who(&self) -> String {
        self.environment
            .get("USER")
            .or_else(|| self.environment.get("LOGNAME"))
            .unwrap_or("unknown")
            .to_owned()
    }

    /// The same for a command that takes a file.
    pub(super) fn again_with(&self, command: &str, file: &Path) -> String {
        self.again(&format!("{command} {}", quoted(&file.to_string_lossy())))
    }

    /// How to call fleetload again with the options that matter for the same journal and profile.
    pub(super) fn again(&self, command: &str) -> String {
        let mut line = format!("fleetload {command}");
        let mut add = |option: &str, value: &str| {
            line.push_str(&format!(" {option} {}", quoted(value)));
        };
        let takes_sandbox =
            ["run", "plan", "doctor"].iter().any(|name| command.split(' ').next() == Some(name));
        let journal = self.common.journal.to_string_lossy();
        if journal != "fleetload.db" {
            add("--journal", &journal);
        }
        if let Some(config) = &self.common.config {
            add("--config", &config.to_string_lossy());
        }
        if let Some(profile) = &self.common.profile {
            add("--profile", profile);
        }
        let reports = self.common.reports.to_string_lossy();
        if reports != "reports" {
            add("--reports", &reports);
        }
        if self.common.any_storage {
            line.push_str(" --any-storage");
        }
        if takes_sandbox && self.rehearsing.get() {
            line.push_str(" --sandbox");
            if let Some(scenario) = self.scenario.borrow().as_deref() {
                line.push_str(&format!(" --scenario {}", quoted(&scenario.to_string_lossy())));
            }
        }
        line
    }

    /// Notes what was typed about a rehearsal, for the commands that are told.
    pub(super) fn rehearse(&self, typed: &Rehearsal) {
        self.rehearsing.set(typed.sandbox);
        self.scenario.borrow_mut().clone_from(&typed.scenario);
    }

    /// Opens the journal that must be there, and notes whether it is that of a rehearsal.
    pub(super) fn journal(&self) -> Result<Journal> {
        let journal = Journal::open_existing(&self.common.journal)?;
        self.note_rehearsal(&journal)?;
        Ok(journal)
    }

    /// Notes whether a journal is that of a rehearsal.
    pub(super) fn note_rehearsal(&self, journal: &Journal) -> Result<()> {
        if journal.account()?.is_some_and(|account| account.base_url == rehearsal::BASE_URL) {
            self.rehearsing.set(true);
        }
        Ok(())
    }

    /// The runtime that requests, timers and signals live on.
    pub(super) fn runtime(&self) -> Result<tokio::runtime::Runtime> {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(|error| {
            Error::internal("cannot start the threads that talk to the service").because(error)
        })
    }
}

/// A value as a shell takes it for one word.
pub(super) fn quoted(value: &str) -> String {
    if !value.is_empty() && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c)) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

//! Whether an open journal is the newest there is, or an older copy.
//!
//! A copy that lacks requests which were sent would send them again. So a run compares the journal with what the
//! machine remembers of it (`high_water_mark`) before anything leaves; who goes on anyway has every row looked into
//! that is not known to be done (`unsure`), by the rules that hold for a lost answer.

use std::path::PathBuf;

use crate::advice::Advice;
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::file::column::{count, natural};
use crate::journal::file::file_watch::{go_on_with, saved_copy_of};
use crate::journal::lineage::high_water_mark::{Memory, Register};
use crate::journal::lineage::identity::{self, Identity};
use crate::journal::lineage::spill;
use crate::journal::{Journal, View};
use crate::model::time::Moment;

/// How far an accepted copy is put ahead of what is remembered: the copy that it leaves behind may have come further
/// than that, by a commit when its process was killed, by those of some seconds when the machine stopped.
const LEAP: u64 = 1_000_000;

/// Why a journal may lack requests that were sent with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Regression {
    /// It was run last on another machine, which may go on with it.
    OtherMachine {
        /// That machine's name, where it has one.
        name: String,
    },
    /// It had come further than it says now.
    Older {
        /// Where it was when it was run last by this user; `None` of a backup of which this machine remembers nothing.
        place: Option<PathBuf>,
        /// Its run did not come to an end, and the file that holds the last changes is not there.
        without_log: bool,
    },
    /// Its run did not come to an end, the file that holds the last changes is not there, and nothing is remembered.
    WithoutLog,
    /// What is remembered of it cannot be read.
    Forgotten {
        /// The file.
        file: PathBuf,
    },
}

/// What came of going on with a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Jobs that go on, and are looked into before they are sent.
    pub unsure: u64,
    /// Jobs that failed, or were skipped: they are looked into if they are sent again.
    pub failed: u64,
    /// Where the answers that lay beside the copy are now, if some did: they may be those to a newer one.
    pub spilled: Option<PathBuf>,
}

impl Journal {
    /// Whether requests may have been sent with this journal of which it knows nothing. Needs no lock.
    ///
    /// A journal that is whole, and of which nothing is remembered yet, is remembered from now on.
    pub fn regression(&self, register: &Register) -> Result<Option<Regression>> {
        let (found, unknown) = self.compare(register)?;
        if let Some(identity) = unknown {
            drop(register.remember(&identity.id, identity.serial, &self.view.path)?);
        }
        Ok(found)
    }

    /// The same for whoever only looks: nothing is remembered.
    pub fn look_for_regression(&self, register: &Register) -> Result<Option<Regression>> {
        Ok(self.compare(register)?.0)
    }

    /// What is the matter with it, or what is to be remembered of it.
    fn compare(&self, register: &Register) -> Result<(Option<Regression>, Option<Identity>)> {
        // What is remembered is read first: a run that goes on meanwhile brings the journal ahead of it, never behind.
        let memory = register.recall(&identity::id(&self.view.connection)?)?;
        let identity = identity::read(&self.view.connection)?;
        // A backup is whole without a log.
        let without_log = identity.under_way && !self.had_log && !identity.is_backup;
        match &memory {
            Memory::Known { serial, path } if identity.serial < *serial => {
                return Ok((Some(Regression::Older { place: Some(path.clone()), without_log }), None));
            }
            Memory::Unreadable(file) => {
                return Ok((Some(Regression::Forgotten { file: file.clone() }), None));
            }
            Memory::Known { .. } | Memory::None => {}
        }
        let never_run = identity.serial == 0 && !identity.under_way;
        if never_run {
            return Ok((None, None));
        }
        if identity.machine.as_ref().is_some_and(|machine| *machine != register.machine.digest) {
            let name = identity.machine_name.unwrap_or_default();
            return Ok((Some(Regression::OtherMachine { name }), None));
        }
        if memory == Memory::None && identity.is_backup && identity.under_way {
            // Its run went on after it was taken.
            return Ok((Some(Regression::Older { place: None, without_log }), None));
        }
        Ok(match (memory == Memory::None, without_log) {
            (true, true) => (Some(Regression::WithoutLog), None),
            (true, false) => (None, Some(identity)),
            (false, _) => (None, None),
        })
    }

    /// Notes that this machine runs the journal from now on. Each claim is remembered as it is committed, and room is
    /// kept on the disk for outcomes that cannot be written.
    pub fn enter(&mut self, register: &Register) -> Result<()> {
        self.keep_room()?;
        let transaction = self.begin()?;
        identity::note_machine(&transaction, &register.machine)?;
        let identity = identity::read(&transaction)?;
        transaction.commit()?;
        self.entry = Some(register.remember(&identity.id, identity.serial, &self.view.path)?);
        Ok(())
    }

    /// Goes on with a journal that may lack requests, on somebody's word: whatever is not known to be done is looked
    /// into before it is sent. From now on this copy is the newest.
    pub fn accept(
        &mut self,
        register: &Register,
        regression: &Regression,
        who: &str,
        at: Moment,
    ) -> Result<Accepted> {
        self.keep_room()?;
        let known = match register.recall(&identity::id(&self.view.connection)?)? {
            Memory::Known { serial, .. } => serial,
            Memory::None | Memory::Unreadable(_) => 0,
        };
        // Before the copy is the newest, since the next start would take them in then. The numbers of jobs in it may
        // be those of other rows here.
        let spilled = spill::set_aside(&self.view.path)?;
        let transaction = self.begin()?;
        transaction.execute(
            "UPDATE job SET unsure = 1 WHERE state NOT IN ('created', 'adopted', 'existing', 'done')",
            [],
        )?;
        let (unsure, failed) = transaction.query_row(
            "SELECT count(*) FILTER (WHERE state IN ('blocked', 'ready', 'deferred', 'sending', 'in_doubt')),
                count(*) FILTER (WHERE state IN ('rejected', 'incomplete', 'skipped'))
             FROM job",
            [],
            |row| Ok((natural(row.get(0)?), natural(row.get(1)?))),
        )?;
        identity::note_machine(&transaction, &register.machine)?;
        transaction.execute(
            "UPDATE identity SET serial = max(serial, ?1) + ?2, under_way = 0, pages_unchecked = 0",
            (count(known), count(LEAP)),
        )?;
        transaction.execute(
            "INSERT INTO decision (at, who, what, details) VALUES (?1, ?2, ?3, ?4)",
            (at, who, identity::ACCEPTED, regression.words()),
        )?;
        let identity = identity::read(&transaction)?;
        transaction.commit()?;
        self.entry = Some(register.remember(&identity.id, identity.serial, &self.view.path)?);
        Ok(Accepted { unsure, failed, spilled })
    }

    /// Keeps room for a spill file until the run or this journal ends.
    fn keep_room(&mut self) -> Result<()> {
        // What was kept before goes first, since dropping it later would remove the new file.
        self.reserve = None;
        self.reserve = Some(spill::reserve(&self.view.path)?);
        Ok(())
    }
}

impl View {
    /// Whether all pages are to be looked at: the last run did not come to its end, or a later one did before it had seen all.
    pub fn is_page_check_due(&self) -> Result<bool> {
        let identity = identity::read(&self.connection)?;
        Ok(identity.under_way || identity.pages_unchecked)
    }
}

impl Regression {
    /// What is the matter, in words that go on from "the journal …".
    pub fn words(&self) -> &'static str {
        match self {
            Self::OtherMachine { .. } => "was run last on another machine",
            Self::Older { without_log: true, .. } | Self::WithoutLog => {
                "is incomplete: its last run did not end in order, and the file beside it that holds the last changes \
                is missing"
            }
            Self::Older { without_log: false, .. } => {
                "is an older copy: it does not know of requests that were sent with it later"
            }
            Self::Forgotten { .. } => {
                "may be an older copy: the file that remembers its progress cannot be read"
            }
        }
    }

    /// The error that stops a command; `undone` is what it has not done, and `accept` the command by which a person goes on
    /// anyway.
    pub fn error(&self, journal: &std::path::Path, undone: &str, accept: &str) -> Error {
        let path = journal.display();
        let container = ".\nIf that was here, in a container whose own files are not kept: have XDG_STATE_HOME name the \
                         folder it named then, on the volume of the journal";
        let (more, instead) = match self {
            Self::OtherMachine { name } if name.is_empty() => {
                (String::new(), format!("go on where it was run last{container}"))
            }
            Self::OtherMachine { name } => {
                (format!(" ({name})"), format!("go on where it was run last, on {name}{container}"))
            }
            Self::Older { place, without_log } => (
                if *without_log { format!(" ({path}-wal)") } else { String::new() },
                format!(
                    "use the newest copy of it, together with the file of the same name that ends in -wal{}",
                    match place {
                        Some(place) => format!("; it was last run as {}", place.display()),
                        None => container.to_owned(),
                    }
                ),
            ),
            Self::WithoutLog => (
                format!(" ({path}-wal)"),
                format!(
                    "copy the journal again, together with the file of the same name that ends in -wal{container}"
                ),
            ),
            Self::Forgotten { file } => {
                (format!(" ({})", file.display()), "if in doubt, ask who used this journal".to_owned())
            }
        };
        let error =
            Error::journal(format!("the journal {path} {}{more}; nothing was {undone}", self.words()))
                .ending(End::JournalOlder);
        if let Some(copy) = saved_copy_of(journal) {
            return error.hint(go_on_with(&copy));
        }
        error
            .hint(
                Advice::from(format!(
                    "{instead}.\nIf this copy is the best there is, every row that is not known to be done can be \
                     looked up before it is sent, and is put on hold if the look-up is inconclusive:\n"
                ))
                .command(accept),
            )
    }
}

#[cfg(test)]
mod tests;

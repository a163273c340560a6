//! The service that a command asks outside of a run: the real one, or that of a rehearsal.

use std::path::Path;
use std::time::Duration;

use tokio::runtime::Runtime;

use crate::advice::Advice;
use crate::cli::args::options::{Overrides, RehearsalArgs};
use crate::cli::call::answer::words;
use crate::cli::context::Context;
use crate::cli::sandbox::rehearsal::Rehearsal;
use crate::cli::settings::{Purpose, Settings};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{Journal, Whose};
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::run::end_of;
use crate::service::{ReadError, ServiceReader};

/// See the module.
pub(in crate::cli) struct ServiceAccess {
    pub(in crate::cli) runtime: Runtime,
    pub(in crate::cli) settings: Settings,
    rehearsal: Option<Rehearsal>,
}

impl ServiceAccess {
    /// Gets ready to ask the real service, or, where `rehearsing`, the simulated one with the records beside `journal`.
    pub(in crate::cli) fn reach(
        context: &Context<'_>,
        rehearsing: bool,
        scenario: Option<&Path>,
        journal: Option<&Path>,
        overrides: &Overrides,
    ) -> Result<Self> {
        let runtime = context.runtime()?;
        let (rehearsal, purpose) = if rehearsing {
            let rehearsal = runtime.block_on(Rehearsal::start(scenario, journal))?;
            let purpose = Purpose::Rehearsal(rehearsal.account.clone());
            (Some(rehearsal), purpose)
        } else {
            (None, Purpose::Service)
        };
        let settings = context.settings(&purpose, overrides)?;
        Ok(Self { runtime, settings, rehearsal })
    }

    /// The same for a command about the rows of a journal. A rehearsal goes on as the journal notes it.
    ///
    /// # Errors
    /// Usage when the profile is that of another account than the journal's: what another account shows says nothing
    /// about the rows of this one.
    pub(in crate::cli) fn of_journal(
        context: &Context<'_>,
        typed: &RehearsalArgs,
        overrides: &Overrides,
        journal: &Journal,
    ) -> Result<Self> {
        let rehearsing = typed.sandbox || context.rehearsing.get();
        let noted = context.scenario.borrow().clone();
        let scenario = typed.scenario.clone().or(noted);
        let access = Self::reach(context, rehearsing, scenario.as_deref(), Some(journal.path()), overrides)?;
        let account = access.settings.identity();
        let account = account.ok_or_else(|| Error::internal("a look-up without an account"))?;
        if let Some(bound) = journal.account()?.filter(|bound| *bound != account) {
            return Err(Error::usage(format!(
                "the rows were sent as {} to {}, and the profile is that of {} at {}",
                bound.client_id, bound.base_url, account.client_id, account.base_url
            ))
            .hint("choose the profile this journal belongs to with --profile NAME"));
        }
        Ok(access)
    }

    /// The same for a command that reads: a rehearsal goes on with the records of the one that the journal is about.
    pub(in crate::cli) fn to_read(
        context: &Context<'_>,
        typed: &RehearsalArgs,
        overrides: &Overrides,
    ) -> Result<Self> {
        context.rehearse(typed);
        let journal = context.common.journal.as_path();
        let rehearsed = typed.sandbox && journal.exists() && {
            let whose = Journal::open_existing(journal)?.whose()?;
            whose.banner().is_some()
        };
        let journal = rehearsed.then_some(journal);
        Self::reach(context, typed.sandbox, typed.scenario.as_deref(), journal, overrides)
    }

    /// The journal, where there is one and its rows are those of this account.
    pub(super) fn own_journal(&self, context: &Context<'_>) -> Result<Option<Journal>> {
        let path = context.common.journal.as_path();
        if !path.exists() {
            return Ok(None);
        }
        let journal = Journal::open_existing(path)?;
        let bound = journal.account()?;
        Ok((bound.is_some() && bound == self.settings.identity()).then_some(journal))
    }

    /// Whose records are read.
    pub(in crate::cli) fn whose(&self) -> Whose {
        Whose::from(self.settings.identity())
    }

    /// A reader at the pace of the settings, which waits so long for a service that cannot be reached.
    pub(in crate::cli) fn reader(&self, context: &Context<'_>, patience: Duration) -> Result<ServiceReader> {
        let client = self.settings.client(context.clock.clone())?;
        Ok(ServiceReader::new(client, context.clock.clone(), self.settings.rate.value, patience))
    }

    /// The error that ends a command because a question has no answer.
    pub(in crate::cli) fn failed(&self, error: &ReadError) -> Error {
        match error {
            ReadError::Unavailable(operation, status) => self.unavailable(&[*operation], *status),
            ReadError::NotFound(operation, words) | ReadError::Failed(operation, words) => {
                Error::service(format!("{operation}: {words}"))
            }
            ReadError::Stopped(verdict) => stopped(verdict),
        }
    }

    /// The error of operations that cannot be reached.
    pub(super) fn unavailable(&self, operations: &[Operation], status: u16) -> Error {
        let names: Vec<&str> = operations.iter().map(|operation| operation.name()).collect();
        let names = names.join(", ");
        let hint = self.settings.to_map(operations);
        if status == 0 {
            let has = if operations.len() == 1 { "has" } else { "have" };
            Error::usage(format!("{names} {has} no known path in this profile"))
                .ending(End::EndpointUnknown)
                .hint(hint)
        } else {
            Error::service(format!("{names}: the service has no endpoint there (it answers {status})"))
                .ending(End::EndpointMissing)
                .hint(hint)
        }
    }

    /// Ends the sandbox of a rehearsal.
    pub(in crate::cli) fn leave(self) {
        if let Some(rehearsal) = self.rehearsal {
            self.runtime.block_on(rehearsal.running.stop());
        }
    }
}

/// The error of a service that refuses us or cannot be reached.
fn stopped(verdict: &Verdict) -> Error {
    let advice = Advice::from("to find the cause, type: ").command("fleetload doctor");
    Error::service(words(verdict)).ending(end_of(verdict)).hint(advice)
}

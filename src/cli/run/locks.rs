//! The locks of a run: one run at a time for a journal, and for an account on this machine.

use crate::cli::context::Context;
use crate::cli::settings::Settings;
use crate::cli::summary::{Summary, held_by_account, held_by_run};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{Holder, Journal, RunLock};
use crate::model::time::Moment;
use crate::run::{AccountHolder, AccountLock, lock_account};

/// The right to send: for the journal, and for the account on this machine.
pub(super) struct Locks {
    _journal: RunLock,
    /// Each rehearsal has a service of its own.
    _account: Option<AccountLock>,
}

/// Another run has one of the locks.
pub(super) enum Taken {
    /// That of the journal: it goes on with our rows.
    Journal(Holder),
    /// That of the account, with another journal.
    Account { client_id: String, holder: AccountHolder },
}

impl Taken {
    /// What the other run is, in words.
    pub(in crate::cli) fn words(&self, context: &Context<'_>) -> String {
        let who = |pid: Option<u32>, since: Option<Moment>| {
            let pid = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
            let since = since.map_or_else(String::new, |since| format!(", since {}", context.moment(since)));
            format!("{pid}{since}")
        };
        match self {
            Self::Journal(holder) => format!(
                "another run of this journal is at work{}; it also sends these rows",
                who(holder.pid, holder.since)
            ),
            Self::Account { client_id, holder } => {
                let journal = holder.journal.as_deref();
                let with = journal
                    .map_or_else(String::new, |journal| format!(" with the journal {}", journal.display()));
                format!(
                    "another run uses the account {client_id}{with}{}; two at once would exceed its limits",
                    who(holder.pid, holder.since)
                )
            }
        }
    }

    /// Tells it as the end of this command.
    pub(in crate::cli) fn tell(&self, context: &Context<'_>) -> Summary {
        match self {
            Self::Journal(holder) => {
                context.terminal.result(self.words(context));
                context.terminal.hint(context.advice("to see its progress: ", "status"));
                Summary::new(End::AnotherRun).with("held_by", held_by_run(*holder))
            }
            Self::Account { holder, .. } => {
                let error = Error::journal(self.words(context))
                    .ending(End::AccountLocked)
                    .hint(context.advice("wait for it to end, then: ", "run"));
                context.terminal.error(&error);
                Summary::of_error(&error).with("held_by", held_by_account(holder))
            }
        }
    }
}

impl Locks {
    /// Takes both, or says who has one of them.
    pub(in crate::cli) fn take(
        context: &Context<'_>,
        journal: &Journal,
        settings: &Settings,
        rehearsal: bool,
    ) -> Result<std::result::Result<Self, Taken>> {
        let lock = match journal.lock_for_run()? {
            Ok(lock) => lock,
            Err(holder) => return Ok(Err(Taken::Journal(holder))),
        };
        if rehearsal {
            return Ok(Ok(Self { _journal: lock, _account: None }));
        }
        let account = settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
        let path = std::path::absolute(journal.path()).unwrap_or_else(|_| journal.path().to_owned());
        Ok(match lock_account(&account.base_url, &account.client_id, &path, context.now())? {
            Ok(held) => Ok(Self { _journal: lock, _account: Some(held) }),
            Err(holder) => Err(Taken::Account { client_id: account.client_id, holder }),
        })
    }
}

//! The right to send: one run at a time for a journal, and for an account on this machine.

use serde_json::json;

use super::context::Context;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::journal::{Journal, RunLock};
use crate::model::time::Moment;
use crate::run::{AccountLock, lock_account};

/// The right to send: for the journal, and for the account on this machine.
pub(super) struct Locks {
    _journal: RunLock,
    /// Each rehearsal has a service of its own.
    _account: Option<AccountLock>,
}

impl Locks {
    /// Takes both; `None` when a run of the same journal is under way, which goes on with our rows: that is told as
    /// the end of this command.
    pub(super) fn take(
        context: &Context<'_>,
        journal: &Journal,
        settings: &Settings,
        rehearsal: bool,
    ) -> Result<Option<Self>> {
        match Self::take_quietly(context, journal, settings, rehearsal)? {
            Ok(locks) => Ok(Some(locks)),
            Err(other) => {
                context.terminal.result(other);
                context.terminal.hint(format!("to see how far it is: {}", context.again("status")));
                context.terminal.object(&json!({"object": "summary", "state": "parked", "exit_code": 5}));
                Ok(None)
            }
        }
    }

    /// The same, with the words about the other run instead of telling them.
    pub(super) fn take_quietly(
        context: &Context<'_>,
        journal: &Journal,
        settings: &Settings,
        rehearsal: bool,
    ) -> Result<std::result::Result<Self, String>> {
        let since = |pid: Option<u32>, since: Option<Moment>| {
            let pid = pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
            let since = since.map_or_else(String::new, |since| format!(", since {}", context.moment(since)));
            format!("{pid}{since}")
        };
        let lock = match journal.lock_for_run()? {
            Ok(lock) => lock,
            Err(holder) => {
                return Ok(Err(format!(
                    "another run of this journal is under way{}; it goes on with these rows",
                    since(holder.pid, holder.since)
                )));
            }
        };
        if rehearsal {
            return Ok(Ok(Self { _journal: lock, _account: None }));
        }
        let account = settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
        let path = std::path::absolute(journal.path()).unwrap_or_else(|_| journal.path().to_owned());
        match lock_account(&account.base_url, &account.client_id, &path, context.now())? {
            Ok(held) => Ok(Ok(Self { _journal: lock, _account: Some(held) })),
            Err(holder) => {
                let with = holder
                    .journal
                    .map_or_else(String::new, |journal| format!(" with the journal {}", journal.display()));
                Err(Error::journal(format!(
                    "another run uses the account {}{with}{}; two at once would exceed its limits",
                    account.client_id,
                    since(holder.pid, holder.since)
                ))
                .hint(format!("wait for it to end, then: {}", context.again("run"))))
            }
        }
    }
}

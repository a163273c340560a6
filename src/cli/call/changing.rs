//! A call that changes something: asked about, written to the journal, sent once, and its outcome written down before
//! anything is told.
//!
//! It needs no lock of the journal: it changes no row, and each of its two entries is a transaction of its own. A creation
//! takes the lock of the account, since a run counts the day's creations by itself, and might take a record that a call
//! makes meanwhile for its own. Everything else is one request more beside a run, and counts for nothing.

use std::sync::mpsc::channel;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{answer, place, settings as settings_of};
use crate::cli::args::commands::Call as Typed;
use crate::cli::context::Context;
use crate::cli::run::preconditions::{account_taken, refuse_unsafe_storage};
use crate::cli::run::unborn_rehearsal;
use crate::cli::sandbox::rehearsal::Rehearsal;
use crate::cli::settings::Purpose;
use crate::cli::summary::{HeldBySummary, Summary};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{Account, Evidence, Journal, NewCall, Whose};
use crate::model::digest::hexadecimal;
use crate::model::operation::Operation;
use crate::model::verdict::Verdict;
use crate::run::{AccountHolder, lock_account};
use crate::service::{Answer, Call, Client};

/// Asks, notes, sends, notes, tells.
pub(super) fn send(context: &Context<'_>, typed: &Typed, call: Call) -> Result<Summary> {
    let rehearses = typed.rehearsal.sandbox;
    let purpose = if rehearses { unborn_rehearsal(&typed.rehearsal)? } else { Purpose::Service };
    let settings = settings_of(context, &purpose)?;
    let place = place(&settings, &call)?;
    let account = settings.identity().ok_or_else(|| Error::internal("a call without an account"))?;
    // That the secret cannot be read is found out before anybody is asked.
    let client = if rehearses { None } else { Some(settings.client(context.clock.clone())?) };
    confirm(context, typed, &call, &place, &account)?;
    refuse_unsafe_storage(context)?;
    let mut journal = Journal::open(&context.common.journal)?;
    journal.bind(&account)?;
    let _lock = match call.operation.creates() && !rehearses {
        true => match lock_account(&account.base_url, &account.client_id, journal.path(), context.now())? {
            Ok(lock) => Some(lock),
            Err(holder) => return Ok(tell_taken(context, &account, &holder)),
        },
        false => None,
    };
    let daily_quota = settings.daily_quota.value.filter(|_| call.operation.creates());
    let runtime = context.runtime()?;
    if let Some(client) = client {
        return runtime.block_on(exchange(context, typed, &mut journal, &client, call, daily_quota));
    }
    runtime.block_on(async {
        let scenario = typed.rehearsal.scenario.as_deref();
        let rehearsal = Rehearsal::start(scenario, Some(&context.common.journal)).await?;
        let purpose = Purpose::Rehearsal(rehearsal.account.clone());
        let client =
            settings_of(context, &purpose).and_then(|settings| settings.client(context.clock.clone()));
        let summary = match client {
            Ok(client) => exchange(context, typed, &mut journal, &client, call, daily_quota).await,
            Err(error) => Err(error),
        };
        rehearsal.running.stop().await;
        summary
    })
}

/// Asks whoever sits at the terminal, unless `--yes` was typed.
///
/// # Errors
/// Usage when nobody can be asked, and when the answer is no.
fn confirm(context: &Context<'_>, typed: &Typed, call: &Call, place: &str, account: &Account) -> Result<()> {
    if typed.yes {
        return Ok(());
    }
    let operation = call.operation;
    if !context.terminal.can_ask() {
        return Err(Error::usage(format!(
            "{operation} changes something in the service, and nobody can be asked here; nothing was sent"
        ))
        .hint("to send it without being asked, add --yes"));
    }
    let whose = Whose::from(Some(account.clone())).words();
    let effect = effect(operation);
    let (answered, answer) = channel();
    let question = format!("{operation} {effect}: {place}, {whose}. Send it? [y/N]");
    context.terminal.ask(&question, move |yes| {
        let _listening = answered.send(yes);
    });
    // Nobody is left to answer when the question could not be asked.
    match answer.recv() {
        Ok(true) => Ok(()),
        Ok(false) | Err(_) => Err(Error::usage("nothing was sent").hint("answer y to send it")),
    }
}

/// What an operation does, for whoever is asked about it.
pub(super) fn effect(operation: Operation) -> &'static str {
    if operation.creates() {
        "creates a record, which cannot be removed"
    } else if ["delete", "remove", "unsubscribe"].iter().any(|word| operation.name().starts_with(word)) {
        "removes something"
    } else {
        "changes something"
    }
}

/// Tells that a creation must wait for a run.
fn tell_taken(context: &Context<'_>, account: &Account, holder: &AccountHolder) -> Summary {
    let held_by = HeldBySummary::from(holder);
    let taken = account_taken(context, &account.client_id, holder);
    let error = Error::journal(format!("{taken}; nothing was sent"))
        .ending(End::AccountLocked)
        .hint("a creation waits for the end of the run: send it again then");
    context.terminal.error(&error);
    Summary::of_error(&error).with(&held_by)
}

/// Signs in, notes the call, sends it once, notes its outcome, and only then tells it.
async fn exchange(
    context: &Context<'_>,
    typed: &Typed,
    journal: &mut Journal,
    client: &Client,
    call: Call,
    daily_quota: Option<u64>,
) -> Result<Summary> {
    let operation = call.operation;
    // The first answer tells the service's time, by whose day creations are counted.
    let signed_in = match client.authenticate().await {
        Ok(token) => token,
        Err(verdict) => return answer::tell(context, operation, &Answer::unsent(verdict), None),
    };
    let today = signed_in.date.unwrap_or_else(|| context.now()).day();
    if let Some(most) = daily_quota
        && journal.quota(today)?.sent >= most
    {
        // The profile says how many a day allows, so the service need not be asked.
        let spent = Answer { date: signed_in.date, ..Answer::unsent(Verdict::QuotaSpent) };
        return answer::tell(context, operation, &spent, None);
    }
    let noted = NewCall {
        operation,
        parameters: &call.parameters,
        body_sha256: call.body.as_ref().map(digest),
        who: context.who(),
        counted: operation.creates().then_some(today),
    };
    let id = journal.begin_call(&noted, context.now())?;
    let (answered, bytes) = client.send_and_show(call).await;
    let made = match &answered.verdict {
        Verdict::Succeeded(success) => success.id.filter(|_| operation.creates()),
        _ => None,
    };
    let settled = journal.end_call(id, &evidence(context, &answered), made);
    // An answer that cannot be written down is told all the same: nobody else has it.
    let summary = answer::tell(context, operation, &answered, typed.raw.then_some(&bytes));
    settled.and(summary)
}

fn evidence(context: &Context<'_>, answer: &Answer) -> Evidence {
    Evidence {
        execution: answer.verdict.execution(),
        status: answer.status,
        code: answer::code(&answer.verdict),
        ..Evidence::at(context.now())
    }
}

/// The digest of a body, as it is sent.
fn digest(body: &Value) -> String {
    hexadecimal(&Sha256::digest(body.to_string()))
}

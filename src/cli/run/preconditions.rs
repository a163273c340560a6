//! The preconditions of an import and of a run: that the journal lies where it is safe, that it is whole, and that it is
//! the newest copy there is; and the locks: one run at a time for a journal, and for an account on this machine.

use crate::advice::{Advice, quoted_files};
use crate::cli::args::commands::Run;
use crate::cli::context::Context;
use crate::cli::lock_holder;
use crate::cli::settings::Settings;
use crate::cli::summary::{HeldBySummary, Summary};
use crate::ending::End;
use crate::error::{Error, Result};
use crate::journal::{
    Accepted, Account, Holder, Journal, Register, Regression, RunLock, Storage, state_folder,
};
use crate::model::remaining::SheetPause;
use crate::model::time::Moment;
use crate::run::{AccountHolder, AccountLock, ListAhead, lock_account};
use crate::status::sheet_pauses;
use crate::term::counted;

/// Refuses to keep a journal where locks and synced writes cannot be relied on, and warns of memory.
pub(in crate::cli) fn refuse_unsafe_storage(context: &Context<'_>) -> Result<()> {
    let path = &context.common.journal;
    let shown = path.display();
    let (what, why) = match Storage::of(path) {
        Storage::Local => return Ok(()),
        Storage::Memory(kind) => {
            context.terminal.warn(format!(
                "the journal {shown} is in memory ({kind}): if this machine stops, the record of what was created is \
                lost"
            ));
            return Ok(());
        }
        Storage::Network(kind) => (
            format!("the journal {shown} is on a network drive or in a shared folder ({kind})"),
            "locks and synced writes are not reliable there",
        ),
        Storage::Synced(name) => (
            format!("the journal {shown} is in a synced folder ({name})"),
            "another program copies it while fleetload writes it",
        ),
    };
    if context.common.any_storage {
        context.terminal.warn(format!("{what}: {why}"));
        return Ok(());
    }
    Err(Error::journal(format!("{what}, where {why}; nothing was imported and nothing was sent")).hint(
        "keep it on a disk of this machine: name a file there with --journal FILE, or work in another folder.\n\
         If you know that it is safe there, say so with --any-storage",
    ))
}

/// Before rows are imported: stops at an older copy, unless it is to be accepted, and where there is none to accept.
pub(in crate::cli) fn examine(context: &Context<'_>, typed: &Run) -> Result<()> {
    if !context.common.journal.exists() {
        let accepts = typed.accept_journal && !typed.files.is_empty();
        return if accepts { Err(nothing_to_accept(context, typed)) } else { Ok(()) };
    }
    let journal = context.journal()?;
    match journal.regression(&Register::open(&state_folder())?)? {
        Some(regression) if !typed.accept_journal => {
            Err(regression.error(journal.path(), "sent", &accepting(context, typed)))
        }
        None if typed.accept_journal => Err(nothing_to_accept(context, typed)),
        Some(_) | None => Ok(()),
    }
}

/// The error of a run that is to accept a journal that is no older copy.
fn nothing_to_accept(context: &Context<'_>, typed: &Run) -> Error {
    let path = context.common.journal.display();
    let why = if context.common.journal.exists() {
        format!("the journal {path} is in order")
    } else {
        format!("there is no journal at {path}")
    };
    Error::usage(format!("{why}, so there is nothing to accept; nothing was imported and nothing was sent"))
        .hint(Advice::from("without --accept-journal: ").command(again(context, typed, "")))
}

/// Why a run would refuse the journal as an older copy, for a command that only looks. What cannot be found out is left to
/// the run.
pub(in crate::cli) fn would_refuse(journal: &Journal) -> Option<Regression> {
    let register = Register::open(&state_folder()).ok()?;
    journal.look_for_regression(&register).ok().flatten()
}

/// Why a run would refuse a journal, and what to do, in words before the command that accepts it.
pub(in crate::cli) fn older_words(regression: &Regression) -> String {
    format!(
        "the journal {}, so a run refuses it: use the newest copy; if there is none, accept this one",
        regression.words()
    )
}

/// What to type at an older copy, in place of what would be typed next; `None` where a run would not refuse the journal.
pub(in crate::cli) fn older_advice(context: &Context<'_>, journal: &Journal) -> Option<Advice> {
    let regression = would_refuse(journal).filter(|_| !journal.is_run_at_work())?;
    Some(context.advice(format!("{}: ", older_words(&regression)), "run --accept-journal"))
}

/// Before a person decides what becomes of rows: stops at an older copy, which may not know that they were sent.
pub(in crate::cli) fn refuse_older(context: &Context<'_>, journal: &Journal) -> Result<()> {
    match would_refuse(journal).filter(|_| !journal.is_run_at_work()) {
        Some(regression) => {
            Err(regression.error(journal.path(), "changed", &context.again("run --accept-journal")))
        }
        None => Ok(()),
    }
}

/// Under the lock, before anything is sent: the journal is the newest, or accepted, and whether it is whole is known or being
/// found out; from now on this machine remembers how far it comes.
pub(in crate::cli) fn enter(context: &Context<'_>, typed: &Run, journal: &mut Journal) -> Result<()> {
    let register = Register::open(&state_folder())?;
    let regression = journal.regression(&register)?;
    if regression.is_some() {
        journal.check_pages()?;
    } else if journal.is_page_check_due()? {
        journal.begin_page_check()?;
    }
    match regression {
        Some(regression) if typed.accept_journal => {
            let accepted = journal.accept(&register, &regression, &context.who(), context.now())?;
            context.terminal.warn(format!(
                "the journal {}; accepted as it is{}",
                regression.words(),
                looked_up(&accepted)
            ));
            if let Some(spilled) = accepted.spilled {
                context.terminal.warn(format!(
                    "the answers saved beside it may belong to a newer copy: they were not used, and are kept as {}",
                    spilled.display()
                ));
            }
            Ok(())
        }
        Some(regression) => Err(regression.error(journal.path(), "sent", &accepting(context, typed))),
        None if typed.accept_journal => Err(nothing_to_accept(context, typed)),
        None => journal.enter(&register),
    }
}

/// Which rows of an accepted journal are looked up, and when, in words that go on from "accepted as it is".
fn looked_up(accepted: &Accepted) -> String {
    let (is, are) = ("row that is not known to be done is", "rows that are not known to be done are");
    let open = format!("{} looked up before anything is sent", counted(accepted.unsure, is, are));
    let (is, are) = (
        "row that failed or was skipped is looked up if it is",
        "rows that failed or were skipped are looked up if they are",
    );
    let failed = format!("{} sent again", counted(accepted.failed, is, are));
    match (accepted.unsure, accepted.failed) {
        (0, 0) => String::new(),
        (_, 0) => format!(": {open}"),
        (0, _) => format!(": {failed}"),
        (_, _) => format!(": {open}; {failed}"),
    }
}

/// The same for a run that begins again in one go: nothing has happened to the journal between.
pub(super) fn enter_again(journal: &mut Journal) -> Result<()> {
    journal.enter(&Register::open(&state_folder())?)
}

/// The command that goes on anyway, with the files that were to be run and what their rows are.
fn accepting(context: &Context<'_>, typed: &Run) -> String {
    again(context, typed, " --accept-journal")
}

/// The command once more, with what its rows are and `option`.
fn again(context: &Context<'_>, typed: &Run, option: &str) -> String {
    let files = quoted_files(&typed.files);
    let kind = typed.reading.typed.kind.map_or_else(String::new, |kind| format!(" --kind {kind}"));
    context.again(&format!("run{files}{kind}{option}"))
}

/// The right to send: for the journal, and for the account on this machine.
pub(super) struct Locks {
    _journal: RunLock,
    /// Each rehearsal has a service of its own.
    account: Option<HeldAccount>,
}

/// The right to send for the account, which may be taken before rows are imported.
pub(super) struct HeldAccount {
    _lock: AccountLock,
    /// What was listed since.
    pub(super) list: Option<ListAhead>,
}

impl HeldAccount {
    /// Takes it, or says who has it.
    pub(super) fn take(
        context: &Context<'_>,
        settings: &Settings,
    ) -> Result<std::result::Result<Self, Taken>> {
        let Account { base_url, client_id } =
            settings.identity().ok_or_else(|| Error::internal("a run without an account"))?;
        let locked = lock_account(&base_url, &client_id, &context.common.journal, context.now())?;
        Ok(match locked {
            Ok(lock) => Ok(Self { _lock: lock, list: None }),
            Err(holder) => Err(Taken::Account { client_id, holder }),
        })
    }
}

/// Another run has one of the locks.
pub(in crate::cli) enum Taken {
    /// That of the journal: it sends the rows that can be sent, but not those of these sheets, and none before its hours.
    Journal { holder: Holder, sheet_pauses: Vec<SheetPause>, closed_until: Option<Moment> },
    /// That of the account, with another journal.
    Account { client_id: String, holder: AccountHolder },
}

impl Taken {
    /// Another run has the journal.
    pub(super) fn journal(context: &Context<'_>, journal: &Journal, holder: Holder) -> Result<Self> {
        let run = journal.last_run()?.filter(|run| run.ended_at.is_none());
        let closed_until = run.and_then(|run| run.waits_until(End::Window, context.now()));
        Ok(Self::Journal { holder, sheet_pauses: sheet_pauses(journal)?, closed_until })
    }

    /// What the other run is, in words.
    pub(super) fn words(&self, context: &Context<'_>) -> String {
        match self {
            Self::Journal { holder, sheet_pauses, closed_until } => {
                let suspended = lock_holder::suspended(holder.pid);
                journal_taken(context, holder, (suspended, *closed_until), sheet_pauses)
            }
            Self::Account { client_id, holder } => account_taken(context, client_id, holder),
        }
    }

    /// Tells it as the end of this command.
    pub(in crate::cli) fn tell(&self, context: &Context<'_>) -> Summary {
        match self {
            Self::Journal { holder, sheet_pauses, closed_until } => {
                let suspended = lock_holder::suspended(holder.pid);
                let stands = (suspended, *closed_until);
                context.terminal.result(journal_taken(context, holder, stands, sheet_pauses));
                let advice = lock_holder::progress_advice(context, suspended);
                context.terminal.hint(despite_rejections(context, advice, sheet_pauses));
                Summary::new(End::AnotherRun).with(&HeldBySummary::from(*holder))
            }
            Self::Account { client_id, holder } => {
                let wait = context.advice("wait for it to end, then: ", "run");
                let advice = match lock_holder::suspended(holder.pid) {
                    Some(pid) => Advice::new()
                        .words("it is suspended; ")
                        .join(&lock_holder::continue_advice(pid))
                        .words("\n")
                        .join(&wait),
                    None => wait,
                };
                let error = Error::journal(account_taken(context, client_id, holder))
                    .ending(End::AccountLocked)
                    .hint(advice);
                context.terminal.error(&error);
                Summary::of_error(&error).with(&HeldBySummary::from(holder))
            }
        }
    }
}

/// That another run has the journal, in words; its process may be `suspended`, it may be outside its hours, and sheets may be
/// paused in it.
fn journal_taken(
    context: &Context<'_>,
    holder: &Holder,
    (suspended, closed_until): (Option<u32>, Option<Moment>),
    sheet_pauses: &[SheetPause],
) -> String {
    let (stands, when) = match (suspended, closed_until) {
        (Some(_), _) => ("suspended", " once it is continued".to_owned()),
        (None, Some(until)) => ("outside its hours", format!(" from {} on", context.moment(until))),
        (None, None) => ("at work", String::new()),
    };
    format!(
        "another run of this journal is {stands}{}; it sends the rows that can be sent{when}{}",
        who(context, holder.pid, holder.since),
        but_for(sheet_pauses)
    )
}

/// What a run in progress does not send, in words; empty where no sheet is paused in it.
fn but_for(sheet_pauses: &[SheetPause]) -> String {
    let titles: Vec<&str> = sheet_pauses.iter().map(|pause| pause.title.as_str()).collect();
    match titles.as_slice() {
        [] => String::new(),
        titles => {
            format!(", but not the rest of {}, as the service rejected its rows", titles.join(" and of "))
        }
    }
}

/// How rows go on that were made ready while a run is in progress; `None` where none is.
pub(in crate::cli) fn goes_on_in_run(context: &Context<'_>, journal: &Journal) -> Result<Option<Advice>> {
    let Some(holder) = journal.run_at_work() else { return Ok(None) };
    let sheet_pauses = sheet_pauses(journal)?;
    let words = format!("the run in progress sends the rows that can be sent{}; ", but_for(&sheet_pauses));
    let progress = lock_holder::progress_advice(context, lock_holder::suspended(holder.pid));
    Ok(Some(despite_rejections(context, Advice::from(words).join(&progress), &sheet_pauses)))
}

/// Adds how the rest of paused sheets is sent.
fn despite_rejections(context: &Context<'_>, advice: Advice, sheet_pauses: &[SheetPause]) -> Advice {
    match sheet_pauses.is_empty() {
        true => advice,
        false => advice
            .words("\nto send the rest anyway, when that run has ended: ")
            .command(context.again("run --despite-rejections")),
    }
}

/// That another run uses the account, in words.
pub(in crate::cli) fn account_taken(
    context: &Context<'_>,
    client_id: &str,
    holder: &AccountHolder,
) -> String {
    let journal = holder.journal.as_deref();
    let with = journal.map_or_else(String::new, |journal| format!(" with the journal {}", journal.display()));
    format!(
        "another run uses the account {client_id}{with}{}; two at once would exceed its limits",
        who(context, holder.pid, holder.since)
    )
}

/// Which process another run is, and since when, as far as it could be read.
fn who(context: &Context<'_>, pid: Option<u32>, since: Option<Moment>) -> String {
    let since = since.map_or_else(String::new, |since| format!(", since {}", context.moment(since)));
    format!("{}{since}", lock_holder::process(pid))
}

impl Locks {
    /// Takes both, or says who has one of them; that of the account may have been taken ahead.
    pub(in crate::cli) fn take(
        context: &Context<'_>,
        journal: &Journal,
        settings: &Settings,
        rehearsal: bool,
        ahead: Option<HeldAccount>,
    ) -> Result<std::result::Result<Self, Taken>> {
        let lock = match journal.lock_for_run()? {
            Ok(lock) => lock,
            Err(holder) => return Ok(Err(Taken::journal(context, journal, holder)?)),
        };
        if rehearsal {
            return Ok(Ok(Self { _journal: lock, account: None }));
        }
        let account = match ahead {
            Some(held) => Ok(held),
            None => HeldAccount::take(context, settings)?,
        };
        Ok(account.map(|held| Self { _journal: lock, account: Some(held) }))
    }

    /// What was listed since the account is held, once.
    pub(super) fn take_list(&mut self) -> Option<ListAhead> {
        self.account.as_mut()?.list.take()
    }
}

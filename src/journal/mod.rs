//! The journal: imports, jobs, steps, attempts and the quota ledger of one service account, in one SQLite file.
//!
//! The only SQL of the crate. Intake puts rows in, one named write per transition moves jobs, work and views read;
//! what should happen to a job is decided elsewhere and only guarded and written down here. Moments are handed
//! in; nothing here asks a clock.

mod account;
#[cfg(test)]
mod conformance;
mod file;
#[cfg(test)]
mod fixture;
mod intake;
mod lineage;
mod notifications;
mod prune;
mod queue;
mod row_ref;
mod state;
mod stored_row;
mod view;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::failpoint;
use crate::journal::file::db_file::OpenFile;
use crate::journal::intake::job_lookup::JobIndexes;

pub use crate::model::id::{CallId, SheetId};
pub use account::{Account, Whose, WhoseFacts};
pub use file::backup::Backup;
pub(crate) use file::db_file::{refuse_own, was_there};
pub use file::location::Storage;
pub use file::lock::{Holder, RunLock, lock_file};
pub use file::page_check::PageCheck;
pub use file::salvage::{Lost, Salvaged, is_damage};
pub use intake::difference::{EarlierRow, SamePlace};
pub use intake::import_writer::{ImportWriter, written, written_step, written_steps};
pub use intake::job_lookup::KnownJob;
pub use intake::left_out::{Because, LeftOut, Provenance};
pub use intake::named_id::{Named, NamingRow};
pub use intake::new_rows::{Disposition, Imported, NewJob, NewRow, NewSheet, WrittenStep};
pub use intake::plan_view::{Prospect, ProspectRow};
pub use lineage::high_water_mark::{Register, state_folder};
pub use lineage::recovery::Recovered;
pub use lineage::regression::{Accepted, Regression};
pub use notifications::{Undelivered, UndeliveredFigures};
pub use prune::{Old, Pruned};
pub use queue::calls::{NewCall, UnknownCall};
pub use queue::canary::{CanaryCandidate, CanaryRow, CanaryVerification};
pub use queue::paused_sheets::PausedSheetName;
pub use queue::remaining::Unfinished;
pub use queue::runs::{EndOfRun, RunInfo, Waiting};
pub use queue::work::{Work, WorkPage};
pub use queue::writer::{Ownership, Reply, Writer, Writing};
pub use state::decision_log::{Decided, DecidedJob, Decision};
pub use state::import_reserve::ImportReserve;
pub use state::import_turn::{AwaitedRows, ImportTurn, PriorityChange, TurnChange, UnsentRows};
pub use state::licence::SameLicence;
pub use state::operator::{Cancelled, HeldJob, Retried, beside_another_row};
pub use state::selection::Selection;
pub use state::write::{AuditFinding, Candidate, Evidence, How, Moved, ReadBy, Write};
pub use stored_row::{ActionShapes, PackedAction, RowEncoder, StoredRow};
pub use view::activity::{Activity, Recent, Span};
pub use view::audit::{AuditFigures, AuditScope, AuditSubject, Audited, Unaudited};
pub use view::causes::{Cause, Said};
pub use view::changes::{ChangedRow, DoneStep, LaterChange, LaterScope};
pub use view::company_tree::{Above, CompanyNode, CompanyTree};
pub use view::device_look::{DeviceLook, SeenDevice};
pub use view::devices::{DeviceRow, Place};
pub use view::differences::Difference;
pub use view::later_imports::{Answered, ReplacedBy, UnansweredRows};
pub use view::measures::{CommandEnd, RowTimes};
pub use view::paused_imports::KeptRows;
pub use view::referenced::{Noun, Referenced};
pub use view::row_identity::RowIdentity;
pub use view::rows::{AttemptFigures, FileDigest, ImportInfo, RowView, SheetInfo};
pub use view::tallies::JobTallies;

/// A run of the jobs of a journal, numbered from 1 within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An open journal: one connection to its file. What a run does with it is [`Journal::queue`], what an import does
/// [`Journal::begin_import`]; what is read of it, by these and by everybody else, is [`View`], to which it derefs.
#[derive(Debug)]
pub struct Journal {
    view: View,
    /// Whether a write-ahead log lay beside it when it was opened.
    had_log: bool,
    file_watch: file::file_watch::FileWatch,
    /// Where this machine remembers how far it has come, while it is run.
    entry: Option<lineage::high_water_mark::RegisterEntry>,
    /// Room on the disk for outcomes that cannot be written, while it is run.
    reserve: Option<lineage::spill::Reserve>,
    /// The file beside which outcomes are spilled: its own, or the copy saved when that was gone.
    spill_beside: PathBuf,
    /// Sheets whose rows are not handed out.
    paused_sheets: BTreeSet<SheetId>,
    /// The share of so many devices that have a MAC address, once it was counted.
    with_mac: Option<(u64, f64)>,
    /// The requests that pauses keep back.
    of_paused: Option<queue::remaining::OfPaused>,
    /// The look at every page that goes on beside.
    page_check: Option<PageCheck>,
}

/// The view of a journal: what status, plan and reports read. Nothing here changes it, beside indexes that a look-up makes.
#[derive(Debug)]
pub struct View {
    connection: Connection,
    job_indexes: JobIndexes,
    path: PathBuf,
    /// Given back after the connection is closed.
    _open_file: OpenFile,
}

/// The queue of a journal: what a run needs besides the [`View`]. Rows are handed out, each change of a job is a
/// [`Write`], and the run notes how it goes on.
#[derive(Debug)]
pub struct JobQueue<'j> {
    journal: &'j mut Journal,
}

impl Deref for Journal {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

impl Deref for JobQueue<'_> {
    type Target = View;

    fn deref(&self) -> &View {
        &self.journal.view
    }
}

impl Journal {
    /// The queue, for the run that holds the journal's lock.
    pub fn queue(&mut self) -> JobQueue<'_> {
        JobQueue { journal: self }
    }
}

impl Journal {
    /// Notes the scenario of a rehearsal. The journal is bound to its account already.
    pub fn note_scenario(&mut self, file: Option<&Path>) -> Result<()> {
        let file = file.map(|file| file.to_string_lossy());
        self.view.connection.execute("UPDATE account SET scenario = ?1", [file])?;
        Ok(())
    }

    /// Binds the journal to an account; a journal bound to another one is refused with both named.
    pub fn bind(&mut self, account: &Account) -> Result<()> {
        if self.account()?.as_ref() == Some(account) {
            return Ok(());
        }
        let path = self.view.path.clone();
        let transaction = self.begin()?;
        bind_in(&transaction, &path, account)?;
        transaction.commit()?;
        Ok(())
    }

    /// How long each write waits from now on while another program has locked the journal.
    ///
    /// # Errors
    /// When SQLite does not take it.
    pub fn wait_for_lock(&self, at_most: Duration) -> Result<()> {
        Ok(self.view.connection.busy_timeout(at_most)?)
    }

    /// Begins a transaction that may write. Never a deferred one: those fail at once, without waiting, when another
    /// connection has committed since their first read.
    fn begin(&mut self) -> Result<Transaction<'_>> {
        Ok(self.view.connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }
}

impl View {
    /// That of an open file.
    fn of(connection: Connection, path: &Path, open_file: OpenFile) -> Self {
        Self { connection, job_indexes: JobIndexes::default(), path: path.to_owned(), _open_file: open_file }
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The account the journal is bound to; `None` until [`Journal::bind`].
    pub fn account(&self) -> Result<Option<Account>> {
        account_in(&self.connection)
    }

    /// Whose records it speaks of, for every output.
    pub fn whose(&self) -> Result<Whose> {
        self.account().map(Whose::from)
    }

    /// The file of what the simulated service does wrong, where the last run was a rehearsal with one.
    pub fn scenario(&self) -> Result<Option<PathBuf>> {
        let found =
            self.connection.query_row("SELECT scenario FROM account", [], |row| row.get(0)).optional()?;
        Ok(found.flatten().map(|file: String| PathBuf::from(file)))
    }
}

fn account_in(connection: &Connection) -> Result<Option<Account>> {
    Ok(connection
        .query_row("SELECT base_url, client_id FROM account", [], |row| {
            Ok(Account { base_url: row.get(0)?, client_id: row.get(1)? })
        })
        .optional()?)
}

/// Binds the journal to an account in a transaction under way; one that is bound to another is refused with both named.
fn bind_in(transaction: &Connection, path: &Path, account: &Account) -> Result<()> {
    transaction.execute(
        "INSERT INTO account (only_row, base_url, client_id) VALUES (1, ?1, ?2) ON CONFLICT DO NOTHING",
        (&account.base_url, &account.client_id),
    )?;
    failpoint::reach("account.bound");
    match account_in(transaction)? {
        Some(bound) if bound == *account => Ok(()),
        Some(bound) => Err(Error::usage(format!(
            "the journal {} belongs to the account {} at {}, not to {} at {}",
            path.display(),
            bound.client_id,
            bound.base_url,
            account.client_id,
            account.base_url
        ))
        .hint(
            "choose the profile this journal belongs to with --profile NAME, or keep one journal for each account: name \
             another file with --journal FILE; if the profile was wrong when this one was begun, import the sheets again \
             into that file",
        )),
        None => Err(Error::internal("the journal did not keep the account it was bound to")),
    }
}
